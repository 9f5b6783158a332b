/** Solves step by step. */

import type { Report } from "./goal.js";

/** What every step of a trace has. */
interface Step {
  /** Number of the sweep (for least squares: of the step), from 0. */
  readonly iteration: number;
  /**
   * Positions in model space after the step, x, y, z each in metres: of the solver's joints in its order, and after them of the end of a
   * chain, or of the points of a tree's effectors.
   */
  readonly positions: Float32Array;
}

/** A joint turned or slid (`ccd`). */
export interface JointStep extends Step {
  readonly kind: "joint";
  /** Index of the joint in the skeleton. */
  readonly joint: number;
}

/** A point moved, before joints turn to it (`fabrik`, trees). Joints turn in the forward pass; `positions` are those of the joints. */
export interface PointStep extends Step {
  readonly kind: "point";
  /** The pass: `backward`, from tips to the root, or `forward`, from the root to tips. */
  readonly pass: "backward" | "forward";
  /** Index of the point, as in `positions`. */
  readonly point: number;
  /** New position in model space, x, y, z in metres. */
  readonly position: Float32Array;
}

/** A chain asked for a position of its sub-base, in the backward pass of a tree. A {@link PointStep} with their centroid follows. */
export interface SubBaseStep extends Step {
  readonly kind: "sub-base";
  /** Index of the sub-base, as in `positions`. */
  readonly point: number;
  /** Index of the next point on the chain that asks. */
  readonly from: number;
  /** Position that it asks for, in model space, x, y, z in metres. */
  readonly position: Float32Array;
}

/** All joints moved at once (`dls`). */
export interface LeastSquaresStep extends Step {
  readonly kind: "step";
  /** Damping of the step, as a share of the squared residual. */
  readonly damping: number;
  /** Whether the step reduced the residual. One that did not is taken back, and the next one is damped more. */
  readonly taken: boolean;
}

/** A step of a solve. */
export type TraceStep = JointStep | PointStep | SubBaseStep | LeastSquaresStep;

/** A solve step by step. */
export interface Trace {
  /** The report, as of a solve without a trace. */
  readonly report: Report;
  /** The steps, at most `maxSteps` of them. */
  readonly steps: readonly TraceStep[];
  /** Count of all steps, with those beyond `maxSteps`. */
  readonly count: number;
}

/** Steps that are kept by default. @internal */
export const MAX_STEPS = 1000;

/** Numbers of a step before its positions. */
const HEAD = 7;

/** Reads the numbers of `src/trace.rs`, for a solver of so many points. @internal */
export function readTrace(report: Report, numbers: Float32Array, points: number): Trace {
  const steps: TraceStep[] = [];
  const each = HEAD + 3 * points;
  for (let at = 1; at + each <= numbers.length; at += each) {
    const [iteration, kind, what, other, x] = numbers.subarray(at) as unknown as [number, number, number, number, number];
    const positions = numbers.slice(at + HEAD, at + each);
    const position = () => numbers.slice(at + 4, at + HEAD);
    if (kind === 0) steps.push({ iteration, kind: "joint", joint: what, positions });
    else if (kind === 1) {
      steps.push({ iteration, kind: "point", pass: other === 1 ? "forward" : "backward", point: what, position: position(), positions });
    } else if (kind === 2) steps.push({ iteration, kind: "sub-base", point: what, from: other, position: position(), positions });
    else if (kind === 3) steps.push({ iteration, kind: "step", damping: x, taken: what === 1, positions });
  }
  return { report, steps, count: numbers[0]! };
}
