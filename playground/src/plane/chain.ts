/** Chains in the plane as plain numbers, and the engine's chains that they are set to. */

import type { Chain2d, Core } from "sinew/core";

import { numbers, point2 } from "../figure/fields.ts";

export type Lead = "tip" | "root";
export type Xy = readonly [number, number];

/** Where a chain is, and how long its segments are. */
export interface Shape {
  /** Position of the root. */
  root: Xy;
  /** Lengths of the segments, from the root on. */
  lengths: readonly number[];
  /** Angle of each segment from the one before it, of the first from x, in radians. */
  angles: readonly number[];
}

/** Limits of the joints between segments, in radians: those of the n-th are between the segments n and n + 1. */
export interface Limits {
  min: readonly number[];
  max: readonly number[];
}

export const MAX_SEGMENTS = 12;
export const LENGTH = { min: 0.15, max: 2 };
/** Bounds of positions. Chains may trail off the figure, not out of sight. */
const FAR = 30;

/** Fields of a chain, with at most `max` segments. */
export function chainFields({ root, lengths, angles }: Shape, max = MAX_SEGMENTS) {
  return {
    root: point2(root, FAR),
    lengths: numbers(lengths, LENGTH, { min: 1, max }),
    angles: numbers(angles, { min: -3.2, max: 3.2 }, { min: 1, max }),
  };
}

/** Whether a chain that was read from an address has one angle for each segment. */
export function fits({ lengths, angles }: Shape): boolean {
  return lengths.length === angles.length;
}

/** The shape through points: root, joints, tip. */
export function through(points: readonly Xy[]): Shape {
  const [root] = points as [Xy];
  const bones = points.slice(1).map(([x, y], n) => [x - points[n]![0], y - points[n]![1]] as const);
  let before = 0;
  const angles = bones.map(([x, y]) => {
    const direction = Math.atan2(y, x);
    const angle = Math.atan2(Math.sin(direction - before), Math.cos(direction - before));
    before = direction;
    return angle;
  });
  return { root, lengths: bones.map(([x, y]) => Math.hypot(x, y)), angles };
}

/** A chain of the engine that takes shapes of any count of segments. */
export class Chain {
  readonly #core: Core;
  #chain: Chain2d | undefined;
  #lengths: readonly number[] = [];

  constructor(core: Core) {
    this.#core = core;
  }

  /** Takes a shape. Angles outside limits go to the nearest limit. */
  place({ root, lengths, angles }: Shape, limits?: Limits): this {
    const inside = clamped(angles, limits);
    const bones = lengths.map((length, n) => {
      const range = n > 0 && limits ? ([limits.min[n - 1]!, limits.max[n - 1]!] as const) : null;
      return { length, angle: inside[n]!, limits: range };
    });
    if (this.#chain?.length !== bones.length) {
      this.#chain?.free();
      this.#chain = new this.#core.Chain2d(root, bones);
    } else {
      this.#chain.setBase(root);
      bones.forEach((bone, n) => this.#chain!.setBone(n, bone));
    }
    this.#lengths = lengths;
    return this;
  }

  /** Takes a shape, and follows a target. */
  follow(shape: Shape, target: Xy, lead: Lead, limits?: Limits): this {
    this.place(shape, limits).raw.follow(target, lead);
    return this;
  }

  get raw(): Chain2d {
    if (this.#chain === undefined) throw new Error("the chain has no shape yet");
    return this.#chain;
  }

  /** Where the chain is now. */
  get shape(): Shape {
    const [x, y] = this.raw.positions;
    return { root: [x!, y!], lengths: this.#lengths, angles: [...this.raw.angles] };
  }

  /** Root, joints and tip. */
  get points(): Xy[] {
    const numbers = this.raw.positions;
    return Array.from({ length: numbers.length / 2 }, (_, n) => [numbers[2 * n]!, numbers[2 * n + 1]!] as const);
  }

  /** What tests read. */
  probe() {
    const { points } = this;
    return { points, tip: points.at(-1), root: points[0], angles: [...this.raw.angles] };
  }
}

/** Angles within limits. */
export function clamped(angles: readonly number[], limits?: Limits): number[] {
  return angles.map((angle, n) => (n > 0 && limits ? Math.min(Math.max(angle, limits.min[n - 1]!), limits.max[n - 1]!) : angle));
}
