/** Chains that follow an end, or lie along a curve. */

import type { Glue } from "./core.glue.js";
import { type Engine, Owned, engineOf, own } from "./engine.js";
import { OTHER, floats, number, putVector, type Vector } from "./exchange.js";
import { Report, type SolveOptions, checkNames, putOptions } from "./goal.js";
import { Pose } from "./pose.js";
import { type JointRef, Skeleton, putEnds } from "./skeleton.js";

/** A chain that is pulled by one end, as a rope or a train is: every position is in reach. */
export class Follow extends Owned<Glue.RawFollow> {
  /** @internal */
  static engine: Engine | undefined;

  /** The chain from `root` down to `tip`, whose end may lie off the tip joint, in its own frame. */
  constructor(skeleton: Skeleton, root: JointRef, tip: JointRef, tipOffset: Vector = [0, 0, 0]) {
    const engine = engineOf(new.target);
    const raw = own(engine, "the skeleton", Skeleton, skeleton);
    const [from, to] = putEnds(skeleton, root, tip, tipOffset);
    super(engine, engine.run(() => new engine.glue.RawFollow(raw, from, to)));
  }

  /** Moves the leading end (the tip by default) to a position in model space, and pulls the rest along. */
  solve(pose: Pose, position: Vector, options: { lead?: "tip" | "root"; influence?: number } = {}): Report {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose);
    checkNames("options of a Follow", options, ["lead", "influence"]);
    const { lead = "tip" } = options;
    const n = engine.exchange.numbers;
    putOptions(n, options, undefined, 1e-4);
    putVector(n, OTHER, "the position", position);
    engine.run(() => raw.solve(given, lead === "root"));
    return new Report(engine.exchange.numbers);
  }
}

/** Options of a {@link Curve}. */
export interface CurveOptions {
  /**
   * `catmull-rom` (the default) goes through every point; `bezier` has point, handle, handle, point, and so on: 3 n + 1 points, or 3 n of a
   * closed curve.
   */
  kind?: "catmull-rom" | "bezier";
  /** Whether the end leads back to the start; false by default. */
  closed?: boolean;
  /** Direction of the normal at the start, across the curve, in model space; y by default. */
  up?: Vector;
  /** Whether frames follow the curve's motion from frame to frame instead of the points alone; false by default. */
  carried?: boolean;
}

/** A point of a curve. */
export interface CurveFrame {
  /** Position in metres. */
  position: Float32Array;
  /** Unit vector along the curve. */
  tangent: Float32Array;
  /** Unit vector across the curve. */
  normal: Float32Array;
}

/** A smooth curve through points, in model space. */
export class Curve extends Owned<Glue.RawCurve> {
  /** @internal */
  static engine: Engine | undefined;

  /** The curve of points, x, y, z each in metres. */
  constructor(points: ArrayLike<number>, options: CurveOptions = {}) {
    const engine = engineOf(new.target);
    checkNames("options of a Curve", options, ["kind", "closed", "up", "carried"]);
    const { kind = "catmull-rom", closed = false, up = [0, 1, 0], carried = false } = options;
    const numbers = floats("points", points, 3);
    putVector(engine.exchange.numbers, OTHER, "the up direction", up);
    super(engine, engine.run(() => new engine.glue.RawCurve(numbers, kind === "bezier", closed, carried)));
  }

  /** Length in metres. */
  get length(): number {
    return this.raw.length;
  }

  /** Moves the points. */
  setPoints(points: ArrayLike<number>): void {
    this.engine.run(() => this.raw.setPoints(floats("points", points, 3)));
  }

  /** The point at a distance from the start along the curve, in metres; beyond its ends, on the straight line. */
  at(distance: number): CurveFrame {
    this.raw.at(number("the distance", distance));
    const n = this.engine.exchange.numbers;
    const vector = (i: number) => Float32Array.from(n.subarray(OTHER + i, OTHER + i + 3));
    return { position: vector(0), tangent: vector(3), normal: vector(6) };
  }
}

/** Options of a {@link Spline}. */
export interface SplineOptions extends Pick<SolveOptions, "influence" | "tolerance"> {
  /** Position of the root along the curve, in metres from its start; 0 by default. */
  offset?: number;
  /** Whether the chain lies against the curve's direction; false by default. */
  reversed?: boolean;
  /** Factors of the chain's length at rest within which bones stretch to fit the curve; by default they keep their lengths. */
  stretch?: { shortest: number; longest: number };
  /**
   * Makes the roll follow the curve's normals: the direction in the root joint's own frame that points along them, and twists about the
   * first and the last bone, in radians. By default the pose's roll stays.
   */
  roll?: { axis: Vector; twist?: [number, number] };
  /** Whether the root stays where it is; false by default. */
  keepsRoot?: boolean;
}

const SPLINE_NAMES = ["influence", "tolerance", "offset", "reversed", "stretch", "roll", "keepsRoot"];

/** The report of a chain on a curve. */
export class SplineReport extends Report {
  /** Distance of the chain's end beyond an end of the curve, in metres. */
  readonly beyond: number;
  /** Count of bones for which the curve has no place. */
  readonly missed: number;
  /** Largest ratio of the curve between two joints to the bone between them. */
  readonly longestWay: number;

  /** @internal */
  constructor(n: Float64Array) {
    super(n);
    [this.beyond, this.missed, this.longestWay] = n.subarray(OTHER, OTHER + 3) as unknown as [number, number, number];
  }
}

/** A chain that lies along a curve, every joint on it: a snake, a tail, a rope. */
export class Spline extends Owned<Glue.RawSpline> {
  /** @internal */
  static engine: Engine | undefined;

  /** The chain from `root` down to `tip`, whose end may lie off the tip joint, in its own frame. */
  constructor(skeleton: Skeleton, root: JointRef, tip: JointRef, tipOffset: Vector = [0, 0, 0]) {
    const engine = engineOf(new.target);
    const raw = own(engine, "the skeleton", Skeleton, skeleton);
    const [from, to] = putEnds(skeleton, root, tip, tipOffset);
    super(engine, engine.run(() => new engine.glue.RawSpline(raw, from, to)));
  }

  /** Lays the chain along a curve. */
  solve(pose: Pose, curve: Curve, options: SplineOptions = {}): SplineReport {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose);
    const along = own(engine, "the curve", Curve, curve);
    checkNames("options of a Spline", options, SPLINE_NAMES);
    const { offset = 0, reversed = false, stretch, roll, keepsRoot = false } = options;
    const n = engine.exchange.numbers;
    putOptions(n, options, undefined, 1e-5);
    n.fill(0, OTHER, OTHER + 12);
    n[OTHER] = number("the offset", offset);
    n[OTHER + 1] = reversed ? 1 : 0;
    if (stretch !== undefined) {
      n[OTHER + 2] = 1;
      n[OTHER + 3] = number("the shortest stretch", stretch.shortest);
      n[OTHER + 4] = number("the longest stretch", stretch.longest);
    }
    if (roll !== undefined) {
      n[OTHER + 5] = 1;
      putVector(n, OTHER + 6, "the roll's axis", roll.axis);
      n[OTHER + 9] = number("the first twist", roll.twist?.[0] ?? 0);
      n[OTHER + 10] = number("the last twist", roll.twist?.[1] ?? 0);
    }
    n[OTHER + 11] = keepsRoot ? 1 : 0;
    engine.run(() => raw.solve(given, along));
    return new SplineReport(engine.exchange.numbers);
  }
}
