/** Limbs of two bones, in closed form. */

import type { Glue } from "./core.glue.js";
import { type Engine, Owned, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, floats, putVector, room, type Vector } from "./exchange.js";
import { type Goal, LIMB_OPTION_NAMES, Report, type LimbSolveOptions, checkNames, putGoal, putOptions } from "./goal.js";
import { Pose } from "./pose.js";
import { type JointRef, Skeleton } from "./skeleton.js";

/** Options of a {@link TwoBone}; those of {@link LimbSolveOptions} are the defaults of its solves. */
export interface TwoBoneOptions extends LimbSolveOptions {
  /** Axis of the middle joint, in its own frame in the rest pose; by default that of its bend at rest. */
  hinge?: Vector;
  /** Side of the axis that the limb bends to; by default the one that the pose bends to. */
  side?: "positive" | "negative";
  /** Keeps the limits of root and middle joint; the middle joint must then turn about one axis. */
  withinLimits?: boolean;
}

const NAMES = [...LIMB_OPTION_NAMES, "hinge", "side", "withinLimits"];
/** Share of the limb's length that counts as reached. */
const SHARE = 1e-4;

/**
 * A limb of two bones, such as an arm or a leg, solved in closed form: exactly, in one step.
 *
 * ```ts
 * const leg = new TwoBone(skeleton, "hip", "knee", "ankle");
 * const report = leg.solve(pose, { position: [0.1, 0.2, 0.3], poleDirection: [0, 0, 1] });
 * ```
 */
export class TwoBone extends Owned<Glue.RawTwoBone> {
  /** @internal */
  static engine: Engine | undefined;
  /** The limb's skeleton. */
  readonly skeleton: Skeleton;
  readonly #options: LimbSolveOptions;

  /** The limb from `root` (hip) over `middle` (knee) to `tip` (ankle). Joints between them are held rigid. */
  constructor(skeleton: Skeleton, root: JointRef, middle: JointRef, tip: JointRef, options: TwoBoneOptions = {}) {
    const engine = engineOf(new.target);
    const raw = own(engine, "the skeleton", Skeleton, skeleton);
    checkNames("options of a TwoBone", options, NAMES);
    const { hinge, side, withinLimits = false } = options;
    const joints = [root, middle, tip].map((joint) => skeleton.index(joint)) as [number, number, number];
    const n = engine.exchange.numbers;
    n[OTHER] = hinge === undefined ? 0 : 1;
    if (hinge !== undefined) putVector(n, OTHER + 1, "the hinge", hinge);
    n[OTHER + 4] = side === undefined ? 0 : side === "positive" ? 1 : -1;
    super(engine, engine.run(() => new engine.glue.RawTwoBone(raw, ...joints, withinLimits)));
    this.skeleton = skeleton;
    this.#options = { ...options };
  }

  /** Moves the limb so that its tip reaches the goal. After an error the pose is as it was. */
  solve(pose: Pose, goal: Goal, options?: LimbSolveOptions): Report {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose);
    const n = engine.exchange.numbers;
    putGoal(n, goal);
    putOptions(n, this.#options, options, SHARE, LIMB_OPTION_NAMES);
    engine.run(() => raw.solve(given));
    return new Report(engine.exchange.numbers);
  }

  /**
   * Solves for many positions (x, y, z each), each from the given pose, which stays as it is. Writes the local rotations of root and
   * middle joint (eight numbers) for each, and returns how many positions were reached. `goal` holds what all of them share, such as
   * a pole.
   */
  solveMany(pose: Pose, positions: Float32Array, out: Float32Array, goal?: Goal, options?: LimbSolveOptions): number {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose);
    const numbers = floats("positions", positions, 3);
    room("the array of rotations", out, (8 * numbers.length) / 3);
    const n = engine.exchange.numbers;
    putGoal(n, goal ?? { swivel: 0 });
    putOptions(n, this.#options, options, SHARE, LIMB_OPTION_NAMES);
    return engine.run(() => raw.solveMany(given, numbers, out));
  }

  /**
   * Turns of limbs on bare points, without a skeleton: for each limb, twelve numbers in (positions of root, middle joint and tip, and
   * the goal's), and eight out (turns of root and middle joint, as quaternions in the points' space). The middle joint's turn is
   * applied first, about its own position; the root's then turns both bones about the root.
   */
  static solvePoints(limbs: Float32Array, out: Float32Array): void {
    const engine = engineOf(this);
    const numbers = floats("limbs", limbs, 12);
    room("the array of turns", out, (8 * numbers.length) / 12);
    // A finite number less itself is 0. `every` with a function takes longer than the solve.
    let sum = 0;
    for (let n = 0; n < numbers.length; n++) sum += numbers[n]! - numbers[n]!;
    if (sum !== 0) throw new SinewError("solve", "limbs have a number that is not finite");
    engine.glue.solveManyLimbPoints(numbers, out);
  }
}
