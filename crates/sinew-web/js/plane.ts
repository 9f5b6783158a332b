/** Chains in the plane. Angles are in radians, counter-clockwise, and 0 where a bone points as the one before it. */

import type { Glue } from "./core.glue.js";
import { type Engine, Owned, describe, engineOf } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, number, optional } from "./exchange.js";
import { Report, type SolveOptions, checkNames, putOptions } from "./goal.js";

/** Two numbers: an array, or an object with x and y, such as three.js's `Vector2`. */
export type Vector2 = ArrayLike<number> | { readonly x: number; readonly y: number };

/** A bone, with the joint at its start. */
export interface Bone2d {
  /** Length, in the unit of positions. */
  length: number;
  /** Angle from the bone before it, of the first from the chain's base; 0 by default. */
  angle?: number;
  /** Lower and upper limit of the angle, between -pi and pi; none by default. */
  limits?: readonly [number, number] | null;
  /** Angle to bend towards where nothing else decides; none by default. */
  preferred?: number | null;
}

/** Options of {@link Chain2d.solve}. */
export interface Chain2dOptions extends Pick<SolveOptions, "influence" | "soft" | "tolerance" | "iterations" | "restarts"> {
  /** `auto` (the default), or a method as textbooks have it. */
  method?: "auto" | "ccd" | "fabrik";
  /** Share of each turn that CCD leaves out, 0 to below 1; 0 by default. */
  damping?: number;
  /** Largest turn of a joint in a sweep of CCD, in radians; no bound by default. */
  maxStep?: number;
  /** Side of the line from root to end that the chain bends to; by default the one that it bends to now. */
  side?: "left" | "right";
  /** Largest factor by which bones grow for a goal out of reach, from 1 (the default) on. */
  stretch?: number;
  /** Direction of the last bone, in radians from x; free by default. */
  direction?: number;
}

const NAMES = [
  ...["influence", "soft", "tolerance", "iterations", "restarts", "method", "damping", "maxStep", "side", "stretch", "direction"],
];
const METHODS = ["auto", "ccd", "fabrik"] as const;

/** The result of {@link Chain2d.twoBone}. */
export interface TwoBone2d {
  /** Direction of the upper bone from x. */
  upper: number;
  /** Angle from the upper bone to the lower one: negative where the limb bends left. */
  lower: number;
  /** Position of the middle joint. */
  middle: [number, number];
  /** Position of the end: at the goal, or as near as the bones reach. */
  end: [number, number];
  /** Distance of the goal from the reach; 0 within it. */
  outOfReach: number;
}

function putPoint(n: Float64Array, at: number, what: string, given: Vector2): void {
  if (typeof given !== "object" || given === null) throw new SinewError("type", `${what} must be 2 numbers, not ${describe(given)}`);
  const point = given as { x?: unknown; y?: unknown; length?: number } & Record<number, unknown>;
  const [x, y] = point.x !== undefined ? [point.x, point.y] : [point[0], point[1]];
  if (point.x === undefined && point.length !== 2) throw new SinewError("type", `${what} must be 2 numbers, not ${describe(given)}`);
  n[at] = number(`${what}'s x`, x);
  n[at + 1] = number(`${what}'s y`, y);
}

function putBone(n: Float64Array, bone: Bone2d): void {
  checkNames("bones", bone, ["length", "angle", "limits", "preferred"]);
  const { length, angle = 0, limits, preferred } = bone;
  n[OTHER] = number("a bone's length", length);
  n[OTHER + 1] = number("a bone's angle", angle);
  n[OTHER + 2] = limits ? 1 : 0;
  if (limits) {
    n[OTHER + 3] = number("a lower limit", limits[0]);
    n[OTHER + 4] = number("an upper limit", limits[1]);
  }
  n[OTHER + 5] = optional("a preferred angle", preferred);
}

/**
 * A chain in the plane.
 *
 * ```ts
 * const chain = new Chain2d([0, 0], [{ length: 1 }, { length: 0.8, limits: [-2, 2] }, { length: 0.6 }]);
 * chain.solve([1.2, 1.1], { method: "fabrik" });
 * console.log(chain.positions); // x, y of each joint and of the end
 * ```
 */
export class Chain2d extends Owned<Glue.RawChain2d> {
  /** @internal */
  static engine: Engine | undefined;
  /** Count of bones. */
  readonly length: number;

  /** A chain of bones from a root. */
  constructor(root: Vector2, bones: readonly Bone2d[]) {
    const engine = engineOf(new.target);
    if (!Array.isArray(bones)) throw new SinewError("type", `bones must be a list, not ${describe(bones)}`);
    const raw = new engine.glue.RawChain2d();
    try {
      const n = engine.exchange.numbers;
      for (const bone of bones as readonly Bone2d[]) {
        putBone(n, bone);
        raw.add();
      }
      putPoint(engine.exchange.numbers, OTHER, "the root", root);
      raw.build();
    } catch (thrown) {
      raw.free();
      throw engine.error(thrown);
    }
    super(engine, raw);
    this.length = bones.length;
  }

  /** Angles of the bones. */
  get angles(): Float32Array {
    const out = new Float32Array(this.length);
    this.raw.angles(out);
    return out;
  }

  /** Positions of the joints, and of the end: x, y each. */
  get positions(): Float32Array {
    const out = new Float32Array(2 * (this.length + 1));
    this.raw.positions(out);
    return out;
  }

  /** Replaces a bone. */
  setBone(index: number, bone: Bone2d): void {
    if (!Number.isInteger(index) || index < 0 || index >= this.length) {
      throw new SinewError("input", `there is no bone ${describe(index)}: the chain has ${this.length}`);
    }
    const { engine, raw } = this;
    putBone(engine.exchange.numbers, bone);
    engine.run(() => raw.setBone(index));
  }

  /** Moves the root, and turns the direction that the first bone's angle counts from (radians from x; 0 by default). */
  setBase(root: Vector2, direction = 0): void {
    const { engine, raw } = this;
    putPoint(engine.exchange.numbers, OTHER, "the root", root);
    engine.run(() => raw.setBase(number("the direction", direction)));
  }

  /** Brings the end to a position, within the limits. */
  solve(goal: Vector2, options: Chain2dOptions = {}): Report {
    const { engine, raw } = this;
    checkNames("options of a Chain2d", options, NAMES);
    const { method = "auto", damping = 0, maxStep = Infinity, side, stretch = 1, direction } = options;
    const chosen = METHODS.indexOf(method);
    if (chosen < 0) throw new SinewError("type", `the method must be one of ${METHODS.join(", ")}, not ${describe(method)}`);
    const n = engine.exchange.numbers;
    putOptions(n, options, undefined, 1e-4);
    putPoint(n, OTHER, "the goal", goal);
    n[OTHER + 2] = chosen;
    n[OTHER + 3] = number("damping", damping);
    n[OTHER + 4] = number("maxStep", maxStep);
    n[OTHER + 5] = side === undefined ? 0 : side === "left" ? 1 : 2;
    n[OTHER + 6] = number("stretch", stretch);
    n[OTHER + 7] = direction === undefined ? 0 : 1;
    n[OTHER + 8] = direction === undefined ? 0 : number("direction", direction);
    engine.run(() => raw.solve());
    return new Report(engine.exchange.numbers);
  }

  /** Moves the tip (the default) or the root to a position and pulls the rest along; both ends move. */
  follow(position: Vector2, lead: "tip" | "root" = "tip"): void {
    const { engine, raw } = this;
    putPoint(engine.exchange.numbers, OTHER, "the position", position);
    engine.run(() => raw.follow(lead === "root"));
  }

  /** Two bones of lengths `a` and `b` from a root to a goal, by the cosine rule. */
  static twoBone(root: Vector2, a: number, b: number, goal: Vector2, side: "left" | "right" = "left"): TwoBone2d {
    const engine = engineOf(this);
    const n = engine.exchange.numbers;
    putPoint(n, OTHER, "the root", root);
    n[OTHER + 2] = number("the upper bone's length", a);
    n[OTHER + 3] = number("the lower bone's length", b);
    putPoint(n, OTHER + 4, "the goal", goal);
    n[OTHER + 6] = side === "left" ? 0 : 1;
    engine.run(() => engine.glue.solveTwoBone2d());
    const [upper, lower, x, y, endX, endY, outOfReach] = engine.exchange.numbers.subarray(OTHER, OTHER + 7);
    return { upper: upper!, lower: lower!, middle: [x!, y!], end: [endX!, endY!], outOfReach: outOfReach! };
  }
}
