/** Chains that lie along curves. */

import type { Core, Curve, Pose, Skeleton, Spline, SplineOptions, SplineReport } from "sinew/core";

import { points, type Xyz } from "../shapes.ts";

/** A chain of equal bones along x, the curve, and how the chain lies on it. */
export interface Laid {
  bones: number;
  /** Length of the chain in metres. */
  length: number;
  /** Points of the curve, x, y, z each. */
  curve: readonly number[];
  closed: boolean;
  options: Pick<SplineOptions, "offset" | "reversed" | "stretch" | "roll">;
}

/** The chain in the engine. */
export class LaidChain {
  readonly #core: Core;
  #made: { bones: number; length: number; skeleton: Skeleton; pose: Pose; spline: Spline } | undefined;
  #along: { closed: boolean; count: number; curve: Curve } | undefined;
  report: SplineReport | undefined;

  constructor(core: Core) {
    this.#core = core;
  }

  get pose(): Pose {
    return this.#made!.pose;
  }

  get curve(): Curve {
    return this.#along!.curve;
  }

  /** Root, joints and tip. */
  get points(): Xyz[] {
    return points(this.pose.modelPositions());
  }

  solve({ bones, length, curve, closed, options }: Laid): void {
    if (this.#made?.bones !== bones || this.#made.length !== length) this.#make(bones, length);
    if (this.#along?.closed !== closed || this.#along.count !== curve.length) {
      this.#along?.curve.free();
      this.#along = undefined;
      this.#along = { closed, count: curve.length, curve: new this.#core.Curve(curve, { closed }) };
    }
    this.curve.setPoints(curve);
    this.report = this.#made!.spline.solve(this.pose.reset(), this.curve, options);
  }

  #make(bones: number, length: number): void {
    const old = this.#made;
    for (const one of [old?.spline, old?.pose, old?.skeleton]) one?.free();
    const joints = Array.from({ length: bones + 1 }, (_, n) => n);
    const skeleton = this.#core.Skeleton.from(
      joints.map((n) => ({ name: String(n), ...(n > 0 ? { parent: n - 1, position: [length / bones, 0, 0] } : {}) })),
    );
    this.#made = { bones, length, skeleton, pose: skeleton.rest(), spline: new this.#core.Spline(skeleton, 0, bones) };
  }

  /** The place on the curve that is nearest to a point, in metres from the curve's start. */
  nearest(at: Xyz): number {
    const { length } = this.curve;
    const away = (along: number) => {
      const { position } = this.curve.at(along);
      return Math.hypot(position[0]! - at[0], position[1]! - at[1], position[2]! - at[2]);
    };
    const steps = 256;
    let [best, step] = [0, length / steps];
    for (let n = 1; n <= steps; n++) if (away(n * step) < away(best)) best = n * step;
    for (; step > 1e-4; step /= 2) for (const to of [best - step, best + step]) if (to >= 0 && to <= length && away(to) < away(best)) best = to;
    return best;
  }

  /** Points along the curve, to draw. */
  drawn(): number[] {
    const { length } = this.curve;
    return Array.from({ length: 201 }, (_, n) => [...this.curve.at((length * n) / 200).position]).flat();
  }
}
