/** Chains of any length. */

import type { Glue } from "./core.glue.js";
import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { floats, room, type Vector } from "./exchange.js";
import { type Goal, OPTION_NAMES, Report, type SolveOptions, checkNames, count, putGoal, putOptions } from "./goal.js";
import { Pose } from "./pose.js";
import { type JointRef, Skeleton, putEnds } from "./skeleton.js";
import { MAX_STEPS, type Trace, readTrace } from "./trace.js";

/**
 * A solver of chains: `auto` chooses by the chain's joints and is the one to use; `ccd` (cyclic coordinate descent), `fabrik` and `dls`
 * (damped least squares) are the methods as textbooks have them; `free` is the one that `auto` takes for joints without limits; `fold` changes all bends by one
 * factor, as an animal's leg does (not in `sinew/core`).
 */
export type ChainMethod = "auto" | "ccd" | "fabrik" | "fold" | "dls" | "free";

const METHODS: readonly ChainMethod[] = ["auto", "ccd", "fabrik", "fold", "dls", "free"];

/** Options of a {@link Chain}; those of {@link SolveOptions} are the defaults of its solves. */
export interface ChainOptions extends SolveOptions {
  /** The solver; `auto` by default. */
  solver?: ChainMethod;
  /** The chain's end in the tip joint's own frame; the joint's position by default. */
  tipOffset?: Vector;
}

/** Options of {@link Chain.solveMany}. */
export interface ManyOptions extends SolveOptions {
  /** Whether each solve starts from the given pose (the default), or from the one that the last solve has left. */
  from?: "given" | "last";
}

/** Options of {@link Chain.trace}. */
export interface TraceOptions extends SolveOptions {
  /** Count of steps that are kept; 1000 by default. The solve goes on beyond them. */
  maxSteps?: number;
}

const NAMES = [...OPTION_NAMES, "solver", "tipOffset"];

/**
 * A chain of joints from a root to a tip.
 *
 * ```ts
 * const arm = new Chain(skeleton, "shoulder", "hand", { solver: "ccd", iterations: 3 });
 * const report = arm.solve(pose, { position: [0.3, 1.2, 0.4] });
 * if (!report.reached) console.log(`${report.positionResidual} m are left`);
 * ```
 */
export class Chain extends Owned<Glue.RawChain> {
  /** @internal */
  static engine: Engine | undefined;
  /** The chain's skeleton. */
  readonly skeleton: Skeleton;
  /** Indices of the chain's joints, from the root to the tip. */
  readonly joints: Uint32Array;
  readonly #method: ChainMethod;
  readonly #options: SolveOptions;

  /** The chain from `root` down to `tip`. */
  constructor(skeleton: Skeleton, root: JointRef, tip: JointRef, options: ChainOptions = {}) {
    const engine = engineOf(new.target);
    const raw = own(engine, "the skeleton", Skeleton, skeleton);
    checkNames("options of a Chain", options, NAMES);
    const { solver = "auto", tipOffset = [0, 0, 0] } = options;
    if (!METHODS.includes(solver)) {
      throw new SinewError("type", `the solver must be one of ${METHODS.join(", ")}, not ${describe(solver)}`);
    }
    const [from, to] = putEnds(skeleton, root, tip, tipOffset);
    const made = engine.run(() => new engine.glue.RawChain(raw, from, to, solver));
    super(engine, made);
    this.skeleton = skeleton;
    this.joints = Uint32Array.from({ length: made.length }, (_, n) => made.joint(n));
    this.#method = solver;
    this.#options = { ...options };
  }

  /** Moves the chain so that its end reaches the goal, within the limits of its joints. After an error the pose is as it was. */
  solve(pose: Pose, goal: Goal, options?: SolveOptions): Report {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose);
    const n = engine.exchange.numbers;
    putGoal(n, goal);
    putOptions(n, this.#options, options, 1e-4);
    engine.run(() => raw.solve(given));
    return new Report(engine.exchange.numbers);
  }

  /**
   * Solves as {@link Chain.solve} does, and gives the steps: for `ccd` and `fold` each joint that turns, for `fabrik` each point that moves, for
   * `dls` each step of all joints, for `auto` those of the methods that it uses. The solver `free` has no trace.
   */
  trace(pose: Pose, goal: Goal, options?: TraceOptions): Trace {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose);
    if (this.#method === "free") throw new SinewError("input", "the solver free has no trace: take ccd, fabrik, fold, dls or auto");
    const most = count("maxSteps", options?.maxSteps ?? MAX_STEPS);
    const n = engine.exchange.numbers;
    putGoal(n, goal);
    putOptions(n, this.#options, options, 1e-4, [...OPTION_NAMES, "maxSteps"]);
    const numbers = engine.run(() => raw.trace(given, most));
    return readTrace(new Report(engine.exchange.numbers), numbers, this.joints.length + 1);
  }

  /**
   * Solves for many goals: x, y, z each, or x, y, z and a rotation x, y, z, w each. Writes the local rotations of the chain's joints
   * (four numbers a joint) for each goal, and returns how many were reached. The pose is then as given, or as the last solve left it.
   */
  solveMany(pose: Pose, goals: Float32Array, out: Float32Array, options?: ManyOptions): number {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose);
    // Goals of seven numbers are those for which the array of rotations has room.
    const each = goals?.length / 7 === out?.length / (4 * this.joints.length) ? 7 : 3;
    const numbers = floats("goals", goals, each);
    room("the array of rotations", out, (4 * this.joints.length * numbers.length) / each);
    const n = engine.exchange.numbers;
    putGoal(n, { swivel: 0 });
    putOptions(n, this.#options, options, 1e-4, [...OPTION_NAMES, "from"]);
    return engine.run(() => raw.solveMany(given, numbers, each, options?.from === "last", out));
  }
}

/** Options of a {@link PointChain}; its tolerance is a hundred-thousandth of its length by default. */
export type PointChainOptions = Pick<SolveOptions, "soft" | "tolerance" | "iterations">;

/** A chain of free bones on bare points, without a skeleton: ropes, tails, tentacles. */
export class PointChain extends Owned<Glue.RawPointChain> {
  /** @internal */
  static engine: Engine | undefined;
  readonly #count: number;

  /** The chain through two or more points, x, y, z each in metres; its bones have the lengths between them. */
  constructor(points: ArrayLike<number>) {
    const engine = engineOf(new.target);
    const numbers = floats("points", points, 3);
    super(engine, engine.run(() => new engine.glue.RawPointChain(numbers)));
    this.#count = numbers.length;
  }

  /** Moves the points so that the last one comes to the goal. The first stays. */
  solve(points: Float32Array, goal: Vector, options: PointChainOptions = {}): Report {
    const { engine, raw } = this;
    checkNames("options of a PointChain", options, ["soft", "tolerance", "iterations"]);
    const n = engine.exchange.numbers;
    putGoal(n, { position: goal });
    putOptions(n, options, undefined, 1e-5);
    engine.run(() => raw.solve(room("the array of points", points, this.#count)));
    return new Report(engine.exchange.numbers);
  }
}
