/** Whole bodies with several effectors, and drags by hand. */

import type { Glue } from "./core.glue.js";
import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, floats, number, putVector, type Vector } from "./exchange.js";
import { type Goal, OPTION_NAMES, Report, type SolveOptions, checkNames, putGoal, putOptions } from "./goal.js";
import { Pose } from "./pose.js";
import { type JointRef, Skeleton } from "./skeleton.js";

/** A joint that goals move. A joint alone, by index, name or node, has the defaults. */
export interface Effector {
  /** The joint. */
  joint: JointRef;
  /** The point that positions are for, in the joint's own frame and its units; the joint's position by default. */
  offset?: Vector;
  /** 0 (the highest, and the default) to 2: lower ones are given up first. */
  priority?: 0 | 1 | 2;
  /** Joint in whose frame the goals are; model space by default. */
  relativeTo?: JointRef;
  /** Strength of positions where goals compete, 0 to 1e6; 1 by default. */
  positionWeight?: number;
  /** Strength of rotations where goals compete, 0 to 1e6; 1 by default. */
  rotationWeight?: number;
}

/**
 * The root's translation: `pinned` where it is, `free`, held by a spring to where it is (0 to 1e6; at 1 a displacement by the figure's
 * size costs as much as a turn of one radian), or moved to a position in model space. It turns as its joint allows.
 */
export type RootMode = "pinned" | "free" | { spring: number } | { at: Vector };

/** Options of bodies and drags. */
export interface FullBodyOptions extends SolveOptions {
  /** The root's translation; `pinned` by default, in drags `free`. */
  root?: RootMode;
  /** Pull of joints to their preferred values or the rest pose, where goals leave them free: 0 (none, the default) to 1. */
  posture?: number;
  /** Keeps the centre of mass over a support; no by default. */
  balance?: Balance;
}

/**
 * A goal for the centre of mass: it stays over a support. It is met while the centre, along `up`, lies in the convex hull of the points,
 * shrunk by the margin. Of `sinew`; `sinew/core` has none.
 */
export interface Balance {
  /** Points that the figure stands on, in model space, 1 to 16 in any order: heels and toes, for example. */
  support: readonly Vector[];
  /** Part by which the hull shrinks towards its middle, 0 to 1 (to a point); 0.2 by default. */
  margin?: number;
  /** Mass of the bones of each joint of the skeleton, in any unit; by default bones weigh as much as they are long. */
  masses?: ArrayLike<number>;
  /** Direction along which the centre is projected; y by default. */
  up?: Vector;
  /** Weight beside other goals, above 0 to 1 (the default). */
  weight?: number;
  /** 0 (the highest, and the default) to 2: lower ones are given up first. */
  priority?: 0 | 1 | 2;
}

/** A joint that stays where it is while another is dragged. */
export interface Pin extends Effector {
  /** Whether it keeps its rotation too; false by default. */
  turned?: boolean;
}

const NAMES = [...OPTION_NAMES, "root", "posture", "balance"];
/** First place of a balance, and how many points it takes, as `src/balance.rs` has them. */
const BALANCE = OTHER + 8;
const MAX_SUPPORT = 16;
const NO_MASSES = new Float32Array(0);
/** @internal */
export const EFFECTOR_NAMES: readonly string[] = ["joint", "offset", "priority", "relativeTo", "positionWeight", "rotationWeight"];

type EffectorLike = Effector | JointRef;

function isJoint(given: unknown): given is JointRef {
  return typeof given !== "object" || given === null || "isObject3D" in given;
}

/** Lists effectors for the engine, which have these names; to be freed. @internal */
export function listEffectors(skeleton: Skeleton, what: string, given: readonly EffectorLike[], names: readonly string[]): Glue.RawEffectors {
  if (!Array.isArray(given)) throw new SinewError("type", `${what} must be a list, not ${describe(given)}`);
  const { engine } = skeleton;
  const effectors = new engine.glue.RawEffectors(skeleton.raw);
  try {
    for (const one of given as readonly EffectorLike[]) {
      const effector: Effector = isJoint(one) ? { joint: one } : one;
      checkNames(what, effector, names);
      const { joint, offset = [0, 0, 0], priority = 0, relativeTo, positionWeight = 1, rotationWeight = 1 } = effector;
      const index = skeleton.index(joint);
      const relative = relativeTo === undefined ? -1 : skeleton.index(relativeTo);
      const n = engine.exchange.numbers;
      n[OTHER] = index;
      putVector(n, OTHER + 1, "the effector's offset", offset);
      if (priority !== 0 && priority !== 1 && priority !== 2) {
        throw new SinewError("type", `the effector's priority must be 0, 1 or 2, not ${describe(priority)}`);
      }
      n[OTHER + 4] = priority;
      n[OTHER + 5] = relative;
      n[OTHER + 6] = number("the effector's positionWeight", positionWeight);
      n[OTHER + 7] = number("the effector's rotationWeight", rotationWeight);
      effectors.add();
    }
    return effectors;
  } catch (thrown) {
    effectors.free();
    throw engine.error(thrown);
  }
}

function putBodyOptions(engine: Engine, raw: Weighed, own: FullBodyOptions, given: FullBodyOptions | undefined, mode: RootMode): void {
  const n = engine.exchange.numbers;
  putOptions(n, own, given, 1e-4, NAMES);
  const root = given?.root ?? own.root ?? mode;
  n[OTHER + 4] = number("posture", given?.posture ?? own.posture ?? 0);
  putRoot(n, OTHER, root);
  putBalance(engine, raw, given?.balance ?? own.balance);
}

/** A solver that takes up a balance; those of `sinew/core` do not. */
interface Weighed {
  free(): void;
  masses?(masses: Float32Array): void;
  outOfBalance?(pose: Glue.RawPose): number;
}

/** Writes a balance, and gives the solver its masses. */
function putBalance(engine: Engine, raw: Weighed, balance: Balance | undefined): void {
  engine.exchange.numbers[BALANCE] = 0;
  if (balance === undefined) return;
  if (raw.masses === undefined) throw new SinewError("input", "balance takes the build `sinew`: `sinew/core` has none");
  checkNames("a balance", balance, ["support", "margin", "masses", "up", "weight", "priority"]);
  const { support, margin = 0.2, masses, up = [0, 1, 0], weight = 1, priority = 0 } = balance;
  if (!Array.isArray(support) || support.length < 1 || support.length > MAX_SUPPORT) {
    throw new SinewError("type", `the support must be a list of 1 to ${MAX_SUPPORT} points, not ${describe(support)}`);
  }
  if (priority !== 0 && priority !== 1 && priority !== 2) {
    throw new SinewError("type", `the balance's priority must be 0, 1 or 2, not ${describe(priority)}`);
  }
  // Memory that grows for them detaches the numbers that were there.
  raw.masses(masses === undefined ? NO_MASSES : floats("the masses", masses, 1));
  const n = engine.exchange.numbers;
  n[BALANCE + 1] = number("the balance's margin", margin);
  putVector(n, BALANCE + 2, "the balance's up", up);
  n[BALANCE + 5] = number("the balance's weight", weight);
  n[BALANCE + 6] = priority;
  support.forEach((point: Vector, i) => putVector(n, BALANCE + 7 + 3 * i, "a point of the support", point));
  n[BALANCE] = support.length;
}

/** Writes how a root moves. @internal */
export function putRoot(n: Float64Array, at: number, root: RootMode): void {
  if (root === "pinned" || root === "free") n[at] = root === "free" ? 1 : 0;
  else if (typeof root === "object" && root !== null && "spring" in root) {
    n[at] = 2;
    n[at + 1] = number("the root's spring", root.spring);
  } else if (typeof root === "object" && root !== null && "at" in root) {
    n[at] = 3;
    putVector(n, at + 1, "the root's position", root.at);
  } else throw new SinewError("type", `the root must be "pinned", "free", { spring } or { at }, not ${describe(root)}`);
}

/**
 * A skeleton with several effectors, solved together: hands, feet and head at once.
 *
 * ```ts
 * const body = new FullBody(skeleton, "hips", ["hand.l", "hand.r", { joint: "head", priority: 1 }]);
 * const report = body.solve(pose, [{ position: left }, { position: right }, null], { root: "free" });
 * ```
 */
export class FullBody extends Owned<Glue.RawFullBody> {
  /** @internal */
  static engine: Engine | undefined;
  /** The body's skeleton. */
  readonly skeleton: Skeleton;
  /** Count of effectors. */
  readonly length: number;
  readonly #options: FullBodyOptions;

  /** The joints at and below `root` that lead to the effectors. */
  constructor(skeleton: Skeleton, root: JointRef, effectors: readonly EffectorLike[], options: FullBodyOptions = {}) {
    const engine = engineOf(new.target);
    const raw = own(engine, "the skeleton", Skeleton, skeleton);
    checkNames("options of a FullBody", options, NAMES);
    const from = skeleton.index(root);
    const listed = listEffectors(skeleton, "effectors", effectors, EFFECTOR_NAMES);
    try {
      super(engine, engine.run(() => new engine.glue.RawFullBody(raw, from, listed)));
    } finally {
      listed.free();
    }
    this.skeleton = skeleton;
    this.length = effectors.length;
    this.#options = { ...options };
  }

  /**
   * Moves the body so that the effectors reach their goals: one for each, null for those that have none now. The report has the
   * largest residuals. After an error the pose is as it was.
   */
  solve(pose: Pose, goals: readonly (Goal | null)[], options?: FullBodyOptions): Report {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose);
    putGoals(engine, raw, goals, this.length);
    putBodyOptions(engine, raw, this.#options, options, "pinned");
    engine.run(() => raw.solve(given));
    return new Report(engine.exchange.numbers);
  }

  /** Distance of the centre of mass in a pose from the support of a balance, shrunk by its margin, in metres; 0 over it. Of `sinew`. */
  outOfBalance(pose: Pose, balance: Balance): number {
    const { engine } = this;
    const raw: Weighed = this.raw;
    const given = own(engine, "the pose", Pose, pose);
    if (balance === undefined) throw new SinewError("type", "the balance must be an object, not undefined");
    putBalance(engine, raw, balance);
    return engine.run(() => raw.outOfBalance!(given));
  }

  /** Residuals of one effector after the last solve: metres and radians. */
  residuals(effector: number): { position: number; rotation: number } {
    if (!Number.isInteger(effector) || effector < 0 || effector >= this.length) {
      throw new SinewError("input", `there is no effector ${describe(effector)}: the body has ${this.length}`);
    }
    this.raw.residuals(effector);
    const n = this.engine.exchange.numbers;
    return { position: n[OTHER]!, rotation: n[OTHER + 1]! };
  }
}

/** A goal that asks for nothing: a position that is not there would be refused. */
const NONE: Goal = { swivel: 0 };

/** Gives a solver the goals of its effectors. @internal */
export function putGoals(engine: Engine, raw: { goal(effector: number): void }, goals: readonly (Goal | null)[], length: number): void {
  if (!Array.isArray(goals) || goals.length !== length) {
    throw new SinewError("type", `the goals must be a list of ${length}, one for each effector, not ${describe(goals)}`);
  }
  for (let i = 0; i < length; i++) {
    putGoal(engine.exchange.numbers, goals[i] ?? NONE);
    raw.goal(i);
  }
}

/**
 * A drag by hand: one joint follows the cursor, others are pinned, and all joints between give way. No frame jumps.
 *
 * ```ts
 * const drag = new Drag(pose, "hips", "hand.r", ["foot.l", "foot.r"]);
 * onpointermove = () => drag.to(pose, { position: cursor });
 * ```
 */
export class Drag extends Owned<Glue.RawDrag> {
  /** @internal */
  static engine: Engine | undefined;
  /** The skeleton. */
  readonly skeleton: Skeleton;

  /** Grabs a joint at or below `root`. Pins keep the positions that they have in the pose. */
  constructor(pose: Pose, root: JointRef, grabbed: EffectorLike, pins: readonly (Pin | JointRef)[] = []) {
    const engine = engineOf(new.target);
    const raw = own(engine, "the pose", Pose, pose);
    const { skeleton } = pose;
    const from = skeleton.index(root);
    if (!Array.isArray(pins)) throw new SinewError("type", `pins must be a list, not ${describe(pins)}`);
    const listed = listEffectors(skeleton, "effectors of a drag", [grabbed, ...pins], [...EFFECTOR_NAMES, "turned"]);
    const turned = Uint8Array.from((pins as readonly (Pin | JointRef)[]).map((pin) => (!isJoint(pin) && pin.turned ? 1 : 0)));
    try {
      super(engine, engine.run(() => new engine.glue.RawDrag(raw, from, listed, turned)));
    } finally {
      listed.free();
    }
    this.skeleton = skeleton;
  }

  /** Moves the grabbed joint to a goal. After an error the pose is as it was. */
  to(pose: Pose, goal: Goal, options?: FullBodyOptions): Report {
    const { engine, raw } = this;
    const given = this.#pose(pose);
    const n = engine.exchange.numbers;
    putGoal(n, goal);
    putBodyOptions(engine, raw, {}, options, "free");
    engine.run(() => raw.to(given));
    return new Report(engine.exchange.numbers);
  }

  /** Starts anew: pins and the grabbed joint are where the pose has them. */
  reset(pose: Pose): void {
    const { raw } = this;
    raw.reset(this.#pose(pose));
  }

  #pose(pose: Pose): Glue.RawPose {
    const given = own(this.engine, "the pose", Pose, pose);
    if (pose.skeleton !== this.skeleton) throw new SinewError("input", "the pose belongs to another skeleton than the drag");
    return given;
  }
}
