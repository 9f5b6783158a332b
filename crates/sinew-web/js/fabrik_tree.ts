/** FABRIK on trees, whose chains meet at sub-bases. */

import type { Glue } from "./core.glue.js";
import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER } from "./exchange.js";
import { type Effector, listEffectors, putGoals } from "./full_body.js";
import { type Goal, Report, type SolveOptions, checkNames, count, putOptions } from "./goal.js";
import { Pose } from "./pose.js";
import { type JointRef, Skeleton } from "./skeleton.js";
import { MAX_STEPS, type Trace, readTrace } from "./trace.js";

/** Effector of a {@link FabrikTree}. A joint alone, by index, name or node, has the defaults. */
export type TreeEffector = Pick<Effector, "joint" | "offset" | "positionWeight">;

/** Goal of a {@link FabrikTree}: a position alone. */
export type TreeGoal = Pick<Goal, "position" | "positionInfluence">;

/** Options of a {@link FabrikTree}; a tolerance is by default a ten-thousandth of the longest path from the root to an effector. */
export type TreeOptions = Pick<SolveOptions, "influence" | "maxTurn" | "tolerance" | "iterations">;

/** Options of {@link FabrikTree.trace}. */
export interface TreeTraceOptions extends TreeOptions {
  /** Count of steps that are kept; 1000 by default. The solve goes on beyond them. */
  maxSteps?: number;
}

const NAMES = ["influence", "maxTurn", "tolerance", "iterations"];
const EFFECTOR_NAMES = ["joint", "offset", "positionWeight"];

/**
 * Forward and backward reaching (FABRIK) with several effectors, as textbooks have it: a joint where chains meet is a sub-base, and moves
 * to the centroid of what its chains ask for. It is here to study the method; `FullBody` brings a figure to its goals.
 *
 * ```ts
 * const tree = new FabrikTree(skeleton, "hips", ["hand.l", "hand.r"]);
 * const { report, steps } = tree.trace(pose, [{ position: left }, { position: right }]);
 * ```
 */
export class FabrikTree extends Owned<Glue.RawFabrikTree> {
  /** @internal */
  static engine: Engine | undefined;
  /** The tree's skeleton. */
  readonly skeleton: Skeleton;
  /** Indices of the tree's joints, parents before children. */
  readonly joints: Uint32Array;
  /** Count of effectors. */
  readonly length: number;
  readonly #options: TreeOptions;

  /** The joints at and below `root` that lead to the effectors. Joints may have limits of turning. */
  constructor(skeleton: Skeleton, root: JointRef, effectors: readonly (TreeEffector | JointRef)[], options: TreeOptions = {}) {
    const engine = engineOf(new.target);
    const raw = own(engine, "the skeleton", Skeleton, skeleton);
    checkNames("options of a FabrikTree", options, NAMES);
    const from = skeleton.index(root);
    const listed = listEffectors(skeleton, "effectors", effectors, EFFECTOR_NAMES);
    let made;
    try {
      made = engine.run(() => new engine.glue.RawFabrikTree(raw, from, listed));
    } finally {
      listed.free();
    }
    super(engine, made);
    this.skeleton = skeleton;
    this.joints = Uint32Array.from({ length: made.length }, (_, n) => made.joint(n));
    this.length = effectors.length;
    this.#options = { ...options };
  }

  /**
   * Moves the effectors to their goals: one for each, null for those that have none now. The root stays. The report has the largest
   * residual. After an error the pose is as it was.
   */
  solve(pose: Pose, goals: readonly (TreeGoal | null)[], options?: TreeOptions): Report {
    const { engine, raw } = this;
    const given = this.#put(pose, goals, options, NAMES);
    engine.run(() => raw.solve(given));
    return new Report(engine.exchange.numbers);
  }

  /** Solves as {@link FabrikTree.solve} does, and gives the steps: each point that moves, and what chains ask for their sub-bases. */
  trace(pose: Pose, goals: readonly (TreeGoal | null)[], options?: TreeTraceOptions): Trace {
    const { engine, raw } = this;
    const most = count("maxSteps", options?.maxSteps ?? MAX_STEPS);
    const given = this.#put(pose, goals, options, [...NAMES, "maxSteps"]);
    const numbers = engine.run(() => raw.trace(given, most));
    return readTrace(new Report(engine.exchange.numbers), numbers, this.joints.length + this.length);
  }

  #put(pose: Pose, goals: readonly (TreeGoal | null)[], options: TreeOptions | undefined, names: readonly string[]): Glue.RawPose {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose);
    putGoals(engine, raw, goals, this.length);
    putOptions(engine.exchange.numbers, this.#options, options, 1e-4, names);
    return given;
  }

  /** Distance of one effector from its goal after the last solve, in metres. */
  residual(effector: number): number {
    if (!Number.isInteger(effector) || effector < 0 || effector >= this.length) {
      throw new SinewError("input", `there is no effector ${describe(effector)}: the tree has ${this.length}`);
    }
    this.raw.residual(effector);
    return this.engine.exchange.numbers[OTHER]!;
  }
}
