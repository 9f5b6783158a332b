/** Numbers as readers see them. */

import type { Point } from "./view.ts";

/** A number with two decimals or another count, and no minus before a 0. */
export function fixed(value: number, decimals = 2): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** The coordinates of a point. */
export function coordinates(point: Point): string {
  return point.map((value) => fixed(value)).join(", ");
}

/** Radians as whole degrees. */
export function degrees(angle: number): string {
  return `${fixed((angle * 180) / Math.PI, 0)}°`;
}

/** Distance of two points. */
export function apart(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Math.hypot(...Array.from(a, (value, axis) => value - (b[axis] ?? 0)));
}
