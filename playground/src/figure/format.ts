/** Numbers as readers see them. */

import type { Point } from "./view.ts";

/** A number with two decimals, and no minus before a 0. */
export function fixed(value: number): string {
  return (Math.abs(value) < 0.005 ? 0 : value).toFixed(2);
}

/** The coordinates of a point. */
export function coordinates(point: Point): string {
  return point.map(fixed).join(", ");
}

/** Radians as whole degrees. */
export function degrees(angle: number): string {
  return `${Math.round((angle * 180) / Math.PI)}°`;
}

/** Distance of two points. */
export function apart(a: Point, b: Point): number {
  return Math.hypot(...a.map((value, axis) => value - (b[axis] ?? 0)));
}
