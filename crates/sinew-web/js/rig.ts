/** Rigs: named handles, solved in order, with goals by their names. */

import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { GOAL, OTHER, number, putRotation, putVector, type Rotation, type Vector } from "./exchange.js";
import { Body } from "./body.js";
import { Clip } from "./clip.js";
import { type FigurePlacement, type FootPlanterReport, type FrameSampler, Figure, FootPlanter, leg, planted, putPlacement, sampler } from "./foot_planter.js";
import { type Effector, EFFECTOR_NAMES, type RootMode, listEffectors, putRoot } from "./full_body.js";
import { type Goal, OPTION_NAMES, Report, type SolveOptions, checkNames, putGoal, putOptions } from "./goal.js";
import { Ground } from "./ground.js";
import { Pose } from "./pose.js";
import { type JointRef, Skeleton } from "./skeleton.js";
import { wholeGlue, type Glue } from "./whole_glue.js";

/**
 * The space of a goal or of its pole: model space, the world, the frame of a joint, or that of a role such as `head`. In the frame of a
 * role x is the figure's left, y up and z its front at bind, and 1.8 is its height, so that the same numbers fit figures of other sizes.
 */
export type GoalSpace = "model" | "world" | { readonly joint: JointRef } | { readonly role: string };

/** A goal of a rig in one frame. Parts that are left out are the animation's; without any, the handle changes nothing. */
export interface RigGoal extends Goal {
  /** Roll of a foot in radians: positive lifts the heel, negative the toes. */
  roll?: number;
  /** Bank of a foot in radians: positive lifts its left edge. */
  bank?: number;
  /** Turn of a foot about the ball in radians: positive turns the toes to the left. */
  pivot?: number;
  /** Turns of the root and of the middle joint of a limb beside its solved pose, each in the joint's own space. */
  turns?: readonly [Rotation, Rotation];
  /** Space of position, rotation and swivel; that of the handle by default. */
  space?: GoalSpace;
  /** Space of the pole; that of the goal by default. */
  poleSpace?: GoalSpace;
}

/** Goals by their names ({@link Rig.goals}); those that are left out, undefined or null are unset. */
export interface RigGoals {
  readonly [name: string]: RigGoal | null | undefined;
}

/** Solver of a handle. */
export type HandleSolver =
  | ("auto" | "two-bone" | "follow" | "ccd" | "fabrik" | "fold" | "dls" | "spline" | "look-at" | "full-body" | "aim" | "joint-space")
  | ("foot" | "twist" | "place");

/**
 * The pose from which a handle starts: the animation's; preferred values, so that the result depends on its goal alone (as 3ds Max's
 * history-independent solver and Maya's rotate-plane handle); or its last frame (as the history-dependent solver).
 */
export type StartFrom = "pose" | "preferred" | "last";

/** Where a goal comes from when the frame sets none. */
export interface GoalSource {
  /** Space of goals that the caller gives; model space by default. */
  space?: GoalSpace;
  /** Space of poles that the caller gives; that of the goal by default. */
  poleSpace?: GoalSpace;
  /** Joint whose position is the goal, with the offset that the tip has from it at bind. */
  node?: JointRef;
  /** Whether the node's rotation is the goal too; not by default. */
  followsRotation?: boolean;
  /** The goal where the caller's is unset. */
  value?: RigGoal;
}

/** One of several goals of a handle: of a full body, or a point of a spline. */
export interface EffectorSource {
  joint: JointRef;
  /** Its name among the goals; `HANDLE/JOINT` by default. */
  name?: string;
  goal?: GoalSource;
  /** Strength of positions and rotations where goals compete, 0 to 1e6; 1 by default. */
  positionWeight?: number;
  rotationWeight?: number;
  /** 0 (the highest, and the default) to 2. */
  priority?: 0 | 1 | 2;
  /** Whether the joint keeps its rotation in model space where the goal gives none; not by default. */
  holds?: boolean;
}

/** Sole of a handle with the solver `foot`. */
export interface FootSource {
  /** Joint at the ball of the foot, below the ankle. */
  toes?: JointRef;
  /** Heel and ball in the frame of the ankle, tip in that of the toes; a person's proportions by default. */
  sole?: { heel: Vector; ball: Vector; tip: Vector };
  /** Roll at which the foot goes from its ball to its tip, in radians; 0.5 by default. */
  breakAngle?: number;
}

/** A handle: a chain, a solver, and the source of its goal. */
export interface HandleSpec extends Omit<SolveOptions, "influence"> {
  /** Unique in the rig. */
  name: string;
  /** First and last joint of the chain; one joint for `aim`, `place` and `look-at` of a joint alone. */
  chain: readonly [JointRef, JointRef] | readonly [JointRef];
  /** `auto` by default. */
  solver?: HandleSolver;
  /** `pose` by default. */
  from?: StartFrom;
  goal?: GoalSource;
  /** Joint that is the pole where the caller gives none. */
  pole?: JointRef;
  /** Shares of the result that are applied, 0 to 1; 1 by default. */
  positionInfluence?: number;
  rotationInfluence?: number;
  /** Whether it is on at first (the default). */
  on?: boolean;
  /** Duration of switching it on and off, in seconds; 0 by default. */
  fade?: number;
  /** sRGB colour, such as 0xff8800. */
  color?: number;
  /** Axis of an aim or a look-at, in the tip's frame; by default the figure's front at bind. */
  axis?: Vector;
  /** Whether an unset goal holds the tip where the animation has it when a handle before has moved the joints above; not by default. */
  holds?: boolean;
  /** Goals of `full-body` and `spline`, which need them. */
  effectors?: readonly EffectorSource[];
  foot?: FootSource;
  /** How the root of `full-body` moves; `pinned` by default. */
  root?: RootMode;
}

/** What a rig knows of its figure. */
export interface RigInput {
  /** Roles of the joints: the figure's front, and the bends of knees and elbows; needed by spaces of roles. */
  body?: Body;
  /** Height of the figure in metres, for spaces of roles; that of its joints by default. */
  height?: number;
}

/** The handles of a figure on two legs. */
export interface HumanoidInput extends Omit<RigInput, "body"> {
  /** Each limb by itself (the default), or all as one body whose goals compete. */
  limbs?: "two-bone" | "full-body";
  /** Where limbs start; by default arms from preferred values, legs and full bodies from the pose. */
  from?: StartFrom;
  /** Further handles, after those. */
  handles?: readonly HandleSpec[];
}

/** A frame of a rig. */
export interface RigFrame {
  /** Where the figure stands in the world. */
  placement?: FigurePlacement;
  /** Ground on which the rig's planter ({@link Rig.plantWith}) plants the animation before the handles. */
  ground?: Ground;
  /** The animation at times of the planter's own clock and later ones, as {@link FootPlanter.stepWith} asks for it. */
  lookAhead?: FrameSampler;
}

/** The result of one handle in a frame. */
export interface HandleReport {
  readonly name: string;
  /** Report of its solver: the residuals are those of the full goal. */
  readonly report: Report;
  /** Whether a goal was set. */
  readonly isSet: boolean;
  /** What switching leaves of it: 0 off, 1 on. */
  readonly fade: number;
  /** Shares of position and rotation that were applied; both 0 where it changed nothing. */
  readonly influence: readonly [position: number, rotation: number];
  /** Largest local turn beside the solved pose, in radians, and the largest part of one that limits refused. */
  readonly residualTurn: number;
  readonly residualRefused: number;
}

/** The result of a frame. */
export interface RigReport {
  /** In the order of the handles. */
  readonly handles: readonly HandleReport[];
  /** The report of planting, where there is a ground. */
  readonly planted: FootPlanterReport | undefined;
}

const UPRIGHT = [0, 0, 0, 1];
const NONE: RigGoals = {};
const GOAL_NAMES = [
  ...["position", "rotation", "pole", "poleDirection", "swivel", "positionInfluence", "rotationInfluence"],
  ...["roll", "bank", "pivot", "turns", "space", "poleSpace"],
];
const HANDLE_NAMES = [
  ...["name", "chain", "solver", "from", "goal", "pole", "positionInfluence", "rotationInfluence", "on", "fade", "color", "axis", "holds"],
  ...["effectors", "foot", "root", ...OPTION_NAMES.filter((name) => name !== "influence")],
];
/** Numbers of a goal's own parts, from {@link OTHER} on. */
const PARTS = 15;
const FRAME_NAMES = ["placement", "ground", "lookAhead"];

/** Writes a space. @internal */
export function putSpace(engine: Engine, skeleton: Skeleton, at: number, what: string, space: GoalSpace | undefined): void {
  let [kind, index] = [0, 0];
  if (space === "model") kind = 1;
  else if (space === "world") kind = 2;
  else if (typeof space === "object" && space !== null && "joint" in space) [kind, index] = [3, skeleton.index(space.joint)];
  else if (typeof space === "object" && space !== null && "role" in space) {
    if (typeof space.role !== "string") throw new SinewError("type", `the role of ${what} must be a text, not ${describe(space.role)}`);
    [kind, index] = [4, wholeGlue(engine).roleNumber(space.role)];
    if (index < 0) throw new SinewError("input", `there is no role ${describe(space.role)}, in which ${what} is`);
  } else if (space !== undefined) {
    throw new SinewError("type", `${what} must be "model", "world", { joint } or { role }, not ${describe(space)}`);
  }
  const n = engine.exchange.numbers;
  [n[at], n[at + 1]] = [kind, index];
}

/** Reads a space. @internal */
export function takeSpace(engine: Engine, at: number): GoalSpace | undefined {
  const n = engine.exchange.numbers;
  const index = n[at + 1]!;
  switch (n[at]) {
    case 1:
      return "model";
    case 2:
      return "world";
    case 3:
      return { joint: index };
    case 4:
      return { role: wholeGlue(engine).roleName(index) };
    default:
      return undefined;
  }
}

/** Writes a goal of a rig. */
function putRigGoal(engine: Engine, skeleton: Skeleton, name: string, goal: RigGoal): void {
  checkNames(`goal \`${name}\``, goal, GOAL_NAMES);
  const { roll = 0, bank = 0, pivot = 0, turns, space, poleSpace } = goal;
  let n = engine.exchange.numbers;
  // Only a part of a foot may be set.
  putGoal(n, goal.swivel === undefined ? { ...goal, swivel: 0 } : goal);
  n[OTHER] = number("the goal's roll", roll);
  n[OTHER + 1] = number("the goal's bank", bank);
  n[OTHER + 2] = number("the goal's pivot", pivot);
  putRotation(n, OTHER + 3, "the goal's turn of the root", turns?.[0] ?? UPRIGHT);
  putRotation(n, OTHER + 7, "the goal's turn of the middle", turns?.[1] ?? UPRIGHT);
  putSpace(engine, skeleton, OTHER + 11, "the goal's space", space);
  putSpace(engine, skeleton, OTHER + 13, "the goal's poleSpace", poleSpace);
}

/** Reads a goal of a rig; undefined for one that asks for nothing. */
function takeRigGoal(engine: Engine): RigGoal | undefined {
  const n = engine.exchange.numbers;
  const list = (at: number, count: number) => Array.from(n.subarray(at, at + count));
  const flags = n[GOAL]!;
  const goal: RigGoal = {};
  if (flags & 1) goal.position = list(GOAL + 1, 3);
  if (flags & 2) goal.rotation = list(GOAL + 4, 4);
  if (flags & 4) goal.pole = list(GOAL + 8, 3);
  if (flags & 8) goal.poleDirection = list(GOAL + 8, 3);
  const put = (name: "swivel" | "positionInfluence" | "rotationInfluence" | "roll" | "bank" | "pivot", at: number, unset: number) => {
    if (n[at] !== unset) goal[name] = n[at]!;
  };
  put("swivel", GOAL + 11, 0);
  put("positionInfluence", GOAL + 12, 1);
  put("rotationInfluence", GOAL + 13, 1);
  put("roll", OTHER, 0);
  put("bank", OTHER + 1, 0);
  put("pivot", OTHER + 2, 0);
  const turns = [list(OTHER + 3, 4), list(OTHER + 7, 4)] as const;
  if (turns.some((turn) => turn.some((x, i) => x !== UPRIGHT[i]))) goal.turns = turns;
  const [space, poleSpace] = [takeSpace(engine, OTHER + 11), takeSpace(engine, OTHER + 13)];
  if (space !== undefined) goal.space = space;
  if (poleSpace !== undefined) goal.poleSpace = poleSpace;
  return Object.keys(goal).length > 0 ? goal : undefined;
}

/** Reads the goals of a raw object by their names. */
function takeGoals(engine: Engine, names: readonly string[], raw: { leaveGoal(index: number): void }): Record<string, RigGoal> {
  const goals: Record<string, RigGoal> = {};
  names.forEach((name, index) => {
    raw.leaveGoal(index);
    const goal = takeRigGoal(engine);
    if (goal !== undefined) goals[name] = goal;
  });
  return goals;
}

/** Puts handles into a builder. */
function describeHandles(engine: Engine, skeleton: Skeleton, builder: Glue.RawRigBuilder, handles: readonly HandleSpec[]): void {
  if (!Array.isArray(handles)) throw new SinewError("type", `the handles of a rig must be a list, not ${describe(handles)}`);
  const joint = (given: JointRef | undefined) => (given === undefined ? -1 : skeleton.index(given));
  const source = ({ space, poleSpace, node, followsRotation = false, value }: GoalSource) => {
    putRigGoal(engine, skeleton, "value", { ...value, space: space ?? "model", ...(poleSpace === undefined ? {} : { poleSpace }) });
    const n = engine.exchange.numbers;
    n[OTHER + PARTS] = joint(node);
    n[OTHER + PARTS + 1] = followsRotation ? 1 : 0;
    builder.source(value !== undefined);
  };
  const text = (what: string, given: string) => {
    if (typeof given !== "string") throw new SinewError("type", `${what} must be a text, not ${describe(given)}`);
    return given;
  };
  for (const handle of handles as readonly HandleSpec[]) {
    checkNames("a handle", handle, HANDLE_NAMES);
    const { name, chain, solver = "auto", from = "pose", goal = {}, pole, on = true, fade = 0, color, axis, holds = false } = handle;
    const { positionInfluence = 1, rotationInfluence = 1, effectors = [], foot = {}, root = "pinned", ...rest } = handle;
    if (!Array.isArray(chain) || chain.length < 1 || chain.length > 2) {
      throw new SinewError("type", `the chain of a handle must be its first and its last joint, not ${describe(chain)}`);
    }
    checkNames("a foot", foot, ["toes", "sole", "breakAngle"]);
    const { toes, sole, breakAngle = 0.5 } = foot;
    const options: Record<string, unknown> = {};
    for (const option of OPTION_NAMES) if (option in rest) options[option] = (rest as Record<string, unknown>)[option];
    const n = engine.exchange.numbers;
    putOptions(n, options, undefined, 1e-4);
    n[OTHER] = joint(chain[0]);
    n[OTHER + 1] = joint(chain.at(-1));
    n[OTHER + 2] = joint(pole);
    n[OTHER + 3] = number("positionInfluence", positionInfluence);
    n[OTHER + 4] = number("rotationInfluence", rotationInfluence);
    n[OTHER + 5] = on ? 1 : 0;
    n[OTHER + 6] = number("fade", fade);
    n[OTHER + 7] = holds ? 1 : 0;
    n[OTHER + 8] = NaN;
    if (axis !== undefined) putVector(n, OTHER + 8, "the axis", axis);
    n[OTHER + 11] = joint(toes);
    n[OTHER + 12] = number("breakAngle", breakAngle);
    n[OTHER + 13] = NaN;
    if (sole !== undefined) {
      checkNames("a sole", sole, ["heel", "ball", "tip"]);
      [sole.heel, sole.ball, sole.tip].forEach((point, i) => putVector(n, OTHER + 13 + 3 * i, "a point of the sole", point));
    }
    putRoot(n, OTHER + 22, root);
    builder.handle(text("a handle's name", name), text("a handle's solver", solver), text("a handle's start", from));
    if (color !== undefined) {
      const rgb = number("color", color);
      builder.color((rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255);
    }
    checkNames("the goal of a handle", goal, ["space", "poleSpace", "node", "followsRotation", "value"]);
    source(goal);
    if (!Array.isArray(effectors)) throw new SinewError("type", `the effectors of a handle must be a list, not ${describe(effectors)}`);
    for (const effector of effectors as readonly EffectorSource[]) {
      checkNames("an effector", effector, ["joint", "name", "goal", "positionWeight", "rotationWeight", "priority", "holds"]);
      const { joint, name, goal, positionWeight = 1, rotationWeight = 1, priority = 0, holds = false } = effector;
      const n = engine.exchange.numbers;
      n[OTHER] = skeleton.index(joint);
      n[OTHER + 1] = number("positionWeight", positionWeight);
      n[OTHER + 2] = number("rotationWeight", rotationWeight);
      if (priority !== 0 && priority !== 1 && priority !== 2) {
        throw new SinewError("type", `the effector's priority must be 0, 1 or 2, not ${describe(priority)}`);
      }
      n[OTHER + 3] = priority;
      n[OTHER + 4] = holds ? 1 : 0;
      builder.effector(name === undefined ? undefined : text("an effector's name", name));
      if (goal !== undefined) source(goal);
    }
  }
}

/** What one figure remembers from frame to frame, of {@link Rig.state}. */
export class RigState extends Owned<Glue.RawRigState> {
  /** @internal */
  static engine: Engine | undefined;
  readonly rig: Rig;
  /** What samplers bring to a time. @internal */
  readonly sampled: Pose;

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawRigState, rig: Rig, sampled: Pose) {
    super(engine, raw);
    this.rig = rig;
    this.sampled = sampled;
  }

  override free(): void {
    super.free();
    this.sampled.free();
  }

  /** Switches a handle on or off, over its duration. */
  setOn(handle: string, on: boolean): void {
    this.raw.setOn(this.rig.handle(handle), Boolean(on));
  }

  /** Whether a handle is switched on. */
  isOn(handle: string): boolean {
    return this.raw.isOn(this.rig.handle(handle));
  }

  /** Sets the contact of a planted foot from now on, 0 (in the air) to 1 (standing); undefined detects it again. */
  setContact(side: "left" | "right", contact: number | undefined): void {
    const { raw } = this;
    const value = contact === undefined ? NaN : number("the contact", contact);
    this.engine.run(() => raw.setContact(leg(side), value));
  }

  /** Forgets the last frame, what matches left and the motion of the feet, and completes every fade: after a teleport or a cut. */
  reset(): void {
    this.raw.reset();
  }
}

/**
 * Named handles in order, each solved on the pose that the one before left.
 *
 * ```ts
 * const rig = Rig.humanoid(body, { handles: [{ name: "tail", chain: ["tail1", "tail5"], from: "last" }] });
 * const state = rig.state(); // one for each figure
 * // Each frame, on the animation's pose:
 * rig.apply(state, pose, dt, { "left hand": { position: lever, space: "world" }, body: { position: hips } }, { placement });
 * ```
 *
 * `sinew/files` reads rig files: `readRig(text, model.body())`.
 */
export class Rig extends Owned<Glue.RawRig> {
  /** @internal */
  static engine: Engine | undefined;
  readonly skeleton: Skeleton;
  /** Names of the handles, in order. */
  readonly handles: readonly string[];
  /** Solvers of the handles, in order. */
  readonly solvers: readonly HandleSolver[];
  /** Names of the goals, in order: the handles', and of handles with several goals those of their effectors. */
  readonly goals: readonly string[];
  readonly #index: ReadonlyMap<string, number>;

  /** A rig of these handles, for figures with this bind pose (or rest pose). */
  constructor(bind: Pose, handles: readonly HandleSpec[], input: RigInput = {}) {
    const engine = engineOf(new.target);
    // Of `Rig.of`: what has been built elsewhere, and its skeleton.
    const built = (bind as unknown) instanceof wholeGlue(engine).RawRig ? (bind as unknown as Glue.RawRig) : undefined;
    super(engine, built ?? build(engine, bind, input, handles));
    this.skeleton = built ? (handles as unknown as Skeleton) : bind.skeleton;
    const { raw } = this;
    this.handles = raw.handles();
    this.solvers = raw.solvers() as HandleSolver[];
    this.goals = raw.goalNames();
    // Of goals of one name, the first.
    this.#index = new Map([...this.goals.entries()].reverse().map(([index, name]) => [name, index]));
  }

  /** @internal */
  static of(engine: Engine, raw: Glue.RawRig, skeleton: Skeleton): Rig {
    return new (engineOf(this) === engine ? this : Rig)(raw as unknown as Pose, skeleton as unknown as HandleSpec[]);
  }

  /**
   * The rig of a figure on two legs: `body` (the hips' place), `look`, `left hand`, `right hand`, `left foot`, `right foot`. Alone it changes
   * nothing; feet stay where the animation has them when the body is moved.
   */
  static humanoid(body: Body, input: HumanoidInput = {}): Rig {
    const engine = engineOf(this);
    own(engine, "the body", Body, body);
    checkNames("the input of a humanoid", input, ["limbs", "from", "handles", "height"]);
    const { limbs = "two-bone", from, handles = [], height } = input;
    if (limbs !== "two-bone" && limbs !== "full-body") {
      throw new SinewError("type", `limbs must be "two-bone" or "full-body", not ${describe(limbs)}`);
    }
    const bind = body.bindPose();
    try {
      const raw = build(engine, bind, { body, ...(height === undefined ? {} : { height }) }, handles, (builder) => builder.humanoid(limbs === "full-body", from));
      return this.of(engine, raw, body.skeleton);
    } finally {
      bind.free();
    }
  }

  /** Index of a handle. */
  handle(name: string): number {
    const index = this.handles.indexOf(name);
    if (index < 0) throw new SinewError("input", `there is no handle ${describe(name)}: there are ${this.handles.join(", ") || "none"}`);
    return index;
  }

  /** Index of a goal. */
  goal(name: string): number {
    const index = this.#index.get(name);
    if (index === undefined) {
      throw new SinewError("input", `there is no goal ${describe(name)}: there are ${this.goals.join(", ") || "none"}`);
    }
    return index;
  }

  /** Memory for one figure. */
  state(): RigState {
    const { engine, raw } = this;
    const sampled = this.skeleton.rest();
    return new RigState(engine, raw.state(sampled.raw as unknown as Glue.RawPose), this, sampled);
  }

  /** Makes the feet of a figure as a rig file has them. {@link FootPlanter} takes what is set when it is made. */
  setLegs(figure: Figure): void {
    this.raw.setLegs(own(this.engine, "the figure", Figure, figure));
  }

  /** Plants the animation before the handles in frames that have a ground. States that were made before are refused. */
  plantWith(planter: FootPlanter): this {
    const { engine, raw } = this;
    const with_ = own(engine, "the planter", FootPlanter, planter);
    engine.run(() => raw.setPlanter(with_));
    return this;
  }

  /**
   * Solves the handles on the animation's pose, `dt` seconds after the last frame: a goal that is unset is where the animation has it.
   * After an error pose and state are as they were.
   */
  apply(state: RigState, pose: Pose, dt: number, goals: RigGoals = NONE, frame: RigFrame = {}): RigReport {
    const { engine } = this;
    const [of, to] = this.#given(state, pose);
    checkNames("a frame of a rig", frame, FRAME_NAMES);
    const { placement = {}, ground, lookAhead } = frame;
    number("dt", dt);
    const on = ground === undefined ? undefined : own(engine, "the ground", Ground, ground);
    const raw = this.put(goals);
    putPlacement(engine.exchange.numbers, placement);
    let standing: FootPlanterReport | undefined;
    if (on === undefined) engine.run(() => raw.apply(of, to, dt));
    else {
      if (lookAhead === undefined) engine.run(() => raw.applyOn(of, to, dt, on));
      else sampler(engine, (later) => lookAhead(later, state.sampled), (sampler) => raw.applyWith(of, to, dt, on, sampler));
      standing = planted(engine);
    }
    const handles = this.handles.map((name, index): HandleReport => {
      of.report(index);
      const n = engine.exchange.numbers;
      const [isSet, fade, position, rotation, turn, refused] = n.subarray(OTHER, OTHER + 6) as unknown as [number, number, number, number, number, number];
      const report = new Report(n);
      return { name, report, isSet: isSet !== 0, fade, influence: [position, rotation], residualTurn: turn, residualRefused: refused };
    });
    return { handles, planted: standing };
  }

  /**
   * Where a pose has the goals. `goals` say in which spaces and with which kind of pole they are wanted; the rest of them is not used.
   */
  read(pose: Pose, goals: RigGoals = NONE, placement: FigurePlacement = {}): Record<string, RigGoal> {
    const { engine } = this;
    const from = own(engine, "the pose", Pose, pose) as unknown as Glue.RawPose;
    const raw = this.put(goals);
    putPlacement(engine.exchange.numbers, placement);
    engine.run(() => raw.read(from));
    return takeGoals(engine, this.goals, raw);
  }

  /** A goal in other spaces, where it stays where it is in the world. The pose has the joints of the spaces. */
  convert(name: string, goal: RigGoal, to: { space: GoalSpace; poleSpace?: GoalSpace }, pose: Pose, placement: FigurePlacement = {}): RigGoal {
    const { engine } = this;
    const from = own(engine, "the pose", Pose, pose) as unknown as Glue.RawPose;
    const index = this.goal(name);
    const raw = this.put({ [name]: goal });
    checkNames("the spaces", to, ["space", "poleSpace"]);
    putPlacement(engine.exchange.numbers, placement);
    putSpace(engine, this.skeleton, OTHER + 10, "the space", to.space);
    putSpace(engine, this.skeleton, OTHER + 12, "the space of the pole", to.poleSpace ?? to.space);
    engine.run(() => raw.convert(index, from));
    raw.leaveGoal(index);
    return takeRigGoal(engine) ?? {};
  }

  /**
   * Goals for the switch from FK to IK: with them the rig leaves the animation's pose as it is. What goals cannot show, such as the roll
   * of a forearm, stays in the state and fades over `seconds`. The goals of other handles are as given.
   */
  matchGoals(state: RigState, pose: Pose, goals: RigGoals = NONE, to: RigMatch = {}): Record<string, RigGoal> {
    this.#match(state, pose, goals, to, true);
    return takeGoals(this.engine, this.goals, this.raw);
  }

  /** The way back, from IK to FK: brings the pose to what the handles make of it, and keeps what the animation has not in the state. */
  matchPose(state: RigState, pose: Pose, goals: RigGoals = NONE, to: RigMatch = {}): void {
    this.#match(state, pose, goals, to, false);
  }

  #match(state: RigState, pose: Pose, goals: RigGoals, to: RigMatch, read: boolean): void {
    const { engine } = this;
    const [of, given] = this.#given(state, pose);
    checkNames("a match", to, ["handle", "seconds", "placement"]);
    const { handle, seconds = 0, placement = {} } = to;
    number("seconds", seconds);
    const index = handle === undefined ? undefined : this.handle(handle);
    const raw = this.put(goals);
    putPlacement(engine.exchange.numbers, placement);
    engine.run(() => raw.matchUp(of, given, seconds, index, read));
  }

  /**
   * What the rig shows of a clip, as a clip: a frame at each key, and in between at most 1/30 s apart. `goals` gives those of a frame, by
   * its time and the animation's pose then.
   */
  bake(rest: Pose, clip: Clip, goals: (time: number, pose: Pose) => RigGoals | void): Clip {
    const { engine, raw } = this;
    const [from, of] = [own(engine, "the pose", Pose, rest) as unknown as Glue.RawPose, own(engine, "the clip", Clip, clip)];
    if (typeof goals !== "function") throw new SinewError("type", `the goals of a baked clip must be a function, not ${describe(goals)}`);
    const state = this.state();
    try {
      const own = state.raw;
      const baked = sampler(
        engine,
        (time) => void this.put(goals(time, state.sampled) ?? NONE),
        (sampler) => raw.bake(own, from, of, sampler),
      );
      return new Clip(engine, baked, this.skeleton);
    } finally {
      state.free();
    }
  }

  /**
   * Grabs a joint in what the rig shows of an animation's pose and its goals: joints above it follow, those below go along. Goals that are
   * set stay where they are, and so do feet of a humanoid.
   */
  grab(state: RigState, animation: Pose, grabbed: Effector | JointRef, goals: RigGoals = NONE, options: { root?: JointRef; placement?: FigurePlacement } = {}): RigDrag {
    const { engine } = this;
    const [of, from] = this.#given(state, animation);
    checkNames("options of a grab", options, ["root", "placement"]);
    const root = options.root === undefined ? undefined : this.skeleton.index(options.root);
    const listed = listEffectors(this.skeleton, "the grabbed effector", [grabbed], EFFECTOR_NAMES) as unknown as Glue.RawEffectors;
    try {
      const raw = this.put(goals);
      putPlacement(engine.exchange.numbers, options.placement ?? {});
      const drag = engine.run(() => new (wholeGlue(engine).RawRigDrag)(raw, of, from, listed, root));
      return new RigDrag(engine, drag, state);
    } finally {
      listed.free();
    }
  }

  /** Describes goals to the engine. @internal */
  put(goals: RigGoals): Glue.RawRig {
    const { engine, raw, skeleton } = this;
    if (typeof goals !== "object" || goals === null || Array.isArray(goals)) {
      throw new SinewError("type", `the goals of a rig must be an object by their names, not ${describe(goals)}`);
    }
    raw.clear();
    for (const name in goals) {
      const goal = goals[name];
      if (goal === undefined || goal === null) continue;
      const index = this.goal(name);
      if (typeof goal !== "object") throw new SinewError("type", `goal \`${name}\` must be an object, not ${describe(goal)}`);
      putRigGoal(engine, skeleton, name, goal);
      raw.goal(index);
    }
    return raw;
  }

  /** The goals that are described, by their names. @internal */
  take(): Record<string, RigGoal> {
    return takeGoals(this.engine, this.goals, this.raw);
  }

  #given(state: RigState, pose: Pose): [Glue.RawRigState, Glue.RawPose] {
    const { engine } = this;
    if (state instanceof RigState && state.rig !== this) throw new SinewError("input", "the state is that of another rig");
    return [own(engine, "the state", RigState, state), own(engine, "the pose", Pose, pose) as unknown as Glue.RawPose];
  }
}

/** What a match is for. */
export interface RigMatch {
  /** Name of the handle; all by default. */
  handle?: string;
  /** Seconds until what the match cannot show has faded: 0 (the default) keeps nothing, Infinity keeps it. */
  seconds?: number;
  placement?: FigurePlacement;
}

function build(engine: Engine, bind: Pose, input: RigInput, handles: readonly HandleSpec[], first?: (builder: Glue.RawRigBuilder) => void): Glue.RawRig {
  const pose = own(engine, "the pose", Pose, bind) as unknown as Glue.RawPose;
  const { skeleton } = bind;
  checkNames("what is known of a rig", input, ["body", "height"]);
  return engine.run(() => {
    const builder = new (wholeGlue(engine).RawRigBuilder)(skeleton.raw as unknown as Glue.RawSkeleton);
    try {
      if (input.body !== undefined) builder.setBody(own(engine, "the body", Body, input.body));
      if (input.height !== undefined) builder.setHeight(number("the height", input.height));
      first?.(builder);
      describeHandles(engine, skeleton, builder, handles);
    } catch (thrown) {
      builder.free();
      throw thrown;
    }
    return builder.build(pose);
  });
}

/** A drag of a joint of a rigged figure, of {@link Rig.grab}. What an animator keeps of it are {@link goals} and {@link animation}. */
export class RigDrag extends Owned<Glue.RawRigDrag> {
  /** @internal */
  static engine: Engine | undefined;
  /** What the rig shows. Freed with the drag, as is the animation. */
  readonly pose: Pose;
  /** The animation, with the joints that the drag has moved and that no handle does. */
  readonly animation: Pose;
  readonly #state: RigState;

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawRigDrag, state: RigState) {
    super(engine, raw);
    this.#state = state;
    [this.pose, this.animation] = [state.rig.skeleton.rest(), state.rig.skeleton.rest()];
    raw.show(this.pose.raw as unknown as Glue.RawPose, this.animation.raw as unknown as Glue.RawPose);
  }

  override free(): void {
    super.free();
    this.pose.free();
    this.animation.free();
  }

  /** Moves what is grabbed to a goal in model space, `dt` seconds after the last frame. The report is that of the grabbed joint. */
  to(goal: Goal, dt: number): Report {
    const { engine, raw } = this;
    const state = own(engine, "the state", RigState, this.#state);
    number("dt", dt);
    putGoal(engine.exchange.numbers, goal);
    engine.run(() => raw.to(state, dt));
    const report = new Report(engine.exchange.numbers);
    raw.show(this.pose.raw as unknown as Glue.RawPose, this.animation.raw as unknown as Glue.RawPose);
    return report;
  }

  /** The goals of the rig, moved by the drag. */
  get goals(): Record<string, RigGoal> {
    return takeGoals(this.engine, this.#state.rig.goals, this.raw);
  }
}
