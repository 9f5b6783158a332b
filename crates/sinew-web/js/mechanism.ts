/** Arms in joint space: values of joints instead of poses. */

import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, number, putRotation, putVector, type Rotation, type Vector } from "./exchange.js";
import { checkNames, count, Report } from "./goal.js";
import { type JointLimits, putJoint } from "./joint.js";
import { wholeGlue, type Glue } from "./whole_glue.js";

/** A joint between two links. */
export interface MechanismJoint {
  name: string;
  /** Name of the link above, and of the link that the joint moves. */
  parent: string;
  child: string;
  /** Position of the joint in the link above, in metres; 0 by default. */
  position?: Vector;
  /** Rotation of the joint in the link above; none by default. */
  rotation?: Rotation;
  /** How the joint moves; `{ fixed: true }` joins two links. */
  limits: JointLimits;
  /** The value of another joint that this one follows: times `multiplier` (1 by default) plus `offset` (0 by default). */
  mimic?: { joint: string; multiplier?: number; offset?: number };
}

/** A degree of freedom of a mechanism. */
export interface MechanismDof {
  /** Name of its joint; with a suffix such as `.slide x` where that has several. */
  readonly name: string;
  /** Limits, in radians or metres; infinite where there are none. */
  readonly min: number;
  readonly max: number;
  /** Largest speed, in radians or metres per second. */
  readonly speed: number;
  /** Whether it slides (metres) rather than turns (radians). */
  readonly slides: boolean;
}

/** A link of a mechanism. */
export interface MechanismLink {
  readonly name: string;
  /** Index of the link above; -1 for the root. */
  readonly parent: number;
  /** Name of the joint that moves it; undefined for the root. */
  readonly joint: string | undefined;
  /** Axis of that joint in the link's own space, of length 1: of a hinge, or of the first slide; undefined for other joints. */
  readonly axis: readonly [number, number, number] | undefined;
  /** Indices of the joint's degrees of freedom. */
  readonly dofs: readonly number[];
}

/** A link: its index or its name. */
export type LinkRef = number | string;

/** A link that is to reach goals. */
export interface LinkGoalInput {
  link: LinkRef;
  /** Link in whose space its goals are; the root by default. */
  relativeTo?: LinkRef;
  /** Point of the link that is to reach them, such as a tool's tip, in its own space; 0 by default. */
  offset?: Vector;
  /** Rotation of the frame at that point; none by default. */
  offsetRotation?: Rotation;
  /** 0, the default, comes first; goals of a higher number give way. */
  priority?: number;
}

/** Where a link is to be: a position, a rotation, both, or a point to look at. */
export interface LinkGoal {
  /** In metres. */
  position?: Vector;
  rotation?: Rotation;
  /** An axis of the link's frame, and the point that it is to point to; not with position or rotation. */
  lookAt?: { axis: Vector; point: Vector };
  /** Weights along x, y and z, then about x, y and z; 1 by default. 0 leaves a direction free, such as the turn about a tool's axis. */
  weights?: ArrayLike<number>;
}

/** Options of solves in joint space. */
export interface JointSpaceOptions {
  /** Largest distance that counts as reached, in metres; 1e-6 by default. */
  tolerance?: number;
  /** Largest angle that counts as reached, in radians; 1e-6 by default. */
  rotationTolerance?: number;
  /** Largest count of iterations, over all starts; 10000 by default. */
  iterations?: number;
  /** Largest count of fresh starts; 400 by default. 0 keeps the arm on its branch. */
  restarts?: number;
  /** Whether the answer is near the values that are given ("last", the default), or depends on the goals alone ("none"). */
  history?: "last" | "none";
}

const JOINT_NAMES = ["name", "parent", "child", "position", "rotation", "limits", "mimic"];
const GOAL_NAMES = ["link", "relativeTo", "offset", "offsetRotation", "priority"];
const TARGET_NAMES = ["position", "rotation", "lookAt", "weights"];
const OPTION_NAMES = ["tolerance", "rotationTolerance", "iterations", "restarts", "history"];
const PLACE = OTHER + 100;

/**
 * A tree of links and joints, such as a robot's arm, with one value for each degree of freedom: radians or metres. Poses are in the
 * space of the root link, with the axes of the file that it came from (robots mostly have z up).
 *
 * ```ts
 * const crane = Mechanism.from("crane", [
 *   { name: "slew", parent: "base", child: "mast", limits: { hinge: { axis: [0, 0, 1], min: -3, max: 3 } } },
 *   { name: "luff", parent: "mast", child: "jib", position: [0, 0, 2], limits: { hinge: { axis: [0, -1, 0], min: 0, max: 1.4 } } },
 *   { name: "trolley", parent: "jib", child: "hook", limits: { slide: { x: { min: 1, max: 4 } }, fixed: true } },
 * ]);
 * const solver = new JointSpaceSolver(crane, ["hook"]);
 * const values = crane.rest();
 * const report = solver.solve(values, [{ position: [1, 1.5, 3] }]);
 * ```
 */
export class Mechanism extends Owned<Glue.RawMechanism> {
  /** @internal */
  static engine: Engine | undefined;
  readonly name: string;
  readonly links: readonly MechanismLink[];
  readonly dofs: readonly MechanismDof[];

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawMechanism) {
    super(engine, raw);
    this.name = raw.name;
    this.links = Array.from({ length: raw.links }, (_, i) => {
      const axis = [...raw.axis(i)] as [number, number, number] | [];
      const dofs = [...raw.dofsOf(i)];
      return { name: raw.linkName(i)!, parent: raw.linkParent(i), joint: raw.jointName(i), axis: axis.length === 3 ? axis : undefined, dofs };
    });
    this.dofs = Array.from({ length: raw.dofs }, (_, i) => {
      const name = raw.dofName(i)!;
      const n = engine.exchange.numbers;
      return { name, min: n[OTHER]!, max: n[OTHER + 1]!, speed: n[OTHER + 2]!, slides: n[OTHER + 3] !== 0 };
    });
  }

  /** A mechanism of joints; its links are those that they name. */
  static from(name: string, joints: readonly MechanismJoint[]): Mechanism {
    const engine = engineOf(this);
    if (typeof name !== "string") throw new SinewError("type", `a mechanism's name must be a text, not ${describe(name)}`);
    if (!Array.isArray(joints)) throw new SinewError("type", `a mechanism is made of a list of joints, not of ${describe(joints)}`);
    return engine.run(() => {
      const builder = new (wholeGlue(engine).RawMechanismBuilder)(name);
      try {
        const links = new Set<string>();
        for (const joint of joints as readonly MechanismJoint[]) {
          checkNames("joints of a Mechanism", joint, JOINT_NAMES);
          for (const part of ["name", "parent", "child"] as const) {
            if (typeof joint[part] !== "string") throw new SinewError("type", `a joint's ${part} must be a text, not ${describe(joint[part])}`);
          }
          links.add(joint.parent).add(joint.child);
        }
        links.forEach((link) => builder.link(link));
        for (const { name, parent, child, position, rotation, limits, mimic } of joints as readonly MechanismJoint[]) {
          const n = engine.exchange.numbers;
          putJoint(n, limits);
          putVector(n, PLACE, `the position of \`${name}\``, position ?? [0, 0, 0]);
          putRotation(n, PLACE + 3, `the rotation of \`${name}\``, rotation ?? [0, 0, 0, 1]);
          n[PLACE + 7] = number(`the multiplier of \`${name}\``, mimic?.multiplier ?? 1);
          n[PLACE + 8] = number(`the offset of \`${name}\``, mimic?.offset ?? 0);
          builder.joint(name, parent, child, mimic?.joint);
        }
      } catch (thrown) {
        builder.free();
        throw thrown;
      }
      return new Mechanism(engine, builder.build());
    });
  }

  /** Index of a link. */
  link(link: LinkRef): number {
    const index = typeof link === "number" ? link : this.links.findIndex(({ name }) => name === link);
    if (this.links[index] === undefined) {
      const names = this.links.slice(0, 12).map(({ name }) => `\`${name}\``);
      throw new SinewError("input", `there is no link ${describe(link)}: there are ${names.join(", ")}${this.links.length > 12 ? " and more" : ""}`);
    }
    return index;
  }

  /** Values at rest: 0, or the middle of a range that does not have it. */
  rest(): Float64Array {
    const values = new Float64Array(this.dofs.length);
    this.raw.rest(values);
    return values;
  }

  /** Brings values into their limits. */
  clamp(values: Float64Array): Float64Array {
    const { raw } = this;
    this.engine.run(() => raw.clamp(checked(values, this.dofs.length)));
    return values;
  }

  /** Position and rotation of each link at some values, in the space of the root link: x, y, z, then a quaternion x, y, z, w. */
  forward(values: Float64Array, out: Float64Array = new Float64Array(7 * this.links.length)): Float64Array {
    const { raw } = this;
    checked(values, this.dofs.length);
    if (!(out instanceof Float64Array) || out.length !== 7 * this.links.length) {
      throw new SinewError("type", `the array of links must be a Float64Array of ${7 * this.links.length} numbers, not ${describe(out)}`);
    }
    this.engine.run(() => raw.forward(values, out));
    return out;
  }
}

function checked(values: Float64Array, length: number): Float64Array {
  if (!(values instanceof Float64Array) || values.length !== length) {
    throw new SinewError("type", `the values must be a Float64Array of ${length} numbers, not ${describe(values)}`);
  }
  return values;
}

/** Finds the values at which links are at their goals, within all limits. */
export class JointSpaceSolver extends Owned<Glue.RawJointSpaceSolver> {
  /** @internal */
  static engine: Engine | undefined;
  readonly mechanism: Mechanism;
  /** Count of goals. */
  readonly length: number;

  /** For goals of some links. */
  constructor(mechanism: Mechanism, goals: readonly (LinkRef | LinkGoalInput)[]) {
    const engine = engineOf(new.target);
    const of = own(engine, "the mechanism", Mechanism, mechanism);
    if (!Array.isArray(goals)) throw new SinewError("type", `the goals must be a list of links, not ${describe(goals)}`);
    const links: number[] = [];
    const frames: number[] = [];
    const frame = new Float64Array(7);
    for (const given of goals as readonly (LinkRef | LinkGoalInput)[]) {
      const goal = typeof given === "object" ? given : { link: given };
      checkNames("goals of a JointSpaceSolver", goal, GOAL_NAMES);
      links.push(mechanism.link(goal.link), mechanism.link(goal.relativeTo ?? 0), count("the priority", goal.priority ?? 0));
      putVector(frame, 0, "the offset", goal.offset ?? [0, 0, 0]);
      putRotation(frame, 3, "the offsetRotation", goal.offsetRotation ?? [0, 0, 0, 1]);
      frames.push(...frame);
    }
    super(engine, engine.run(() => new (wholeGlue(engine).RawJointSpaceSolver)(of, Uint32Array.from(links), Float64Array.from(frames))));
    this.mechanism = mechanism;
    this.length = goals.length;
  }

  /**
   * Solves for the goals, one for each link, from the values that are given, which receive the answer. Goals out of reach are met as nearly
   * as can be. After an error the values are as they were.
   */
  solve(values: Float64Array, goals: readonly LinkGoal[], options: JointSpaceOptions = {}): Report {
    const { engine, raw } = this;
    checked(values, this.mechanism.dofs.length);
    checkNames("options", options, OPTION_NAMES);
    if (!Array.isArray(goals) || goals.length !== this.length) {
      throw new SinewError("type", `the goals must be a list of ${this.length}, not ${describe(goals)}`);
    }
    let n = engine.exchange.numbers;
    (goals as readonly LinkGoal[]).forEach((goal, i) => {
      putTarget(n, goal);
      raw.goal(i);
    });
    const { tolerance = 1e-6, rotationTolerance = 1e-6, iterations, restarts, history = "last" } = options;
    if (history !== "last" && history !== "none") throw new SinewError("type", `history must be "last" or "none", not ${describe(history)}`);
    n[OTHER] = number("tolerance", tolerance);
    n[OTHER + 1] = number("rotationTolerance", rotationTolerance);
    n[OTHER + 2] = count("iterations", iterations);
    n[OTHER + 3] = count("restarts", restarts);
    n[OTHER + 4] = history === "last" ? 1 : 0;
    engine.run(() => raw.solve(values));
    n = engine.exchange.numbers;
    return new Report(n);
  }
}

function putTarget(n: Float64Array, goal: LinkGoal): void {
  checkNames("a goal", goal, TARGET_NAMES);
  const { position, rotation, lookAt, weights } = goal;
  if (position !== undefined) putVector(n, OTHER + 1, "the goal's position", position);
  if (rotation !== undefined) putRotation(n, OTHER + 4, "the goal's rotation", rotation);
  n[OTHER] = (position === undefined ? 0 : 1) + (rotation === undefined ? 0 : 2);
  if (lookAt !== undefined) {
    if (n[OTHER] !== 0) throw new SinewError("type", "a goal to look at has neither position nor rotation");
    checkNames("lookAt", lookAt, ["axis", "point"]);
    n[OTHER] = 4;
    putVector(n, OTHER + 1, "the point to look at", lookAt.point);
    putVector(n, OTHER + 4, "the axis that looks", lookAt.axis);
  }
  if (n[OTHER] === 0) throw new SinewError("type", "the goal must have a position, a rotation or lookAt");
  if (weights !== undefined && weights?.length !== 6) throw new SinewError("type", `the weights must be 6 numbers, not ${describe(weights)}`);
  for (let i = 0; i < 6; i++) n[OTHER + 8 + i] = number("a weight", weights?.[i] ?? 1);
}
