/** What the figures of several pages draw. */

import type { DrawList } from "sinew/core";

import { apart } from "./figure/format.ts";


export type Xy = readonly [number, number];
export type Xyz = readonly [number, number, number];

/** Half the size of the crosses of targets, in pixels: within the rings of their handles. */
export const CROSS = 8;

/** Colours of bones that are told apart. Each has a contrast of 3 to the background. */
export const COLORS = {
  light: { blue: 0x0072b2, orange: 0xd55e00, green: 0x2f8f3f, yellow: 0x8f7a10, gray: 0x7b838d },
  dark: { blue: 0x4f94ff, orange: 0xff7a1f, green: 0x7fd88c, yellow: 0xd0a83a, gray: 0x9aa3af },
} as const;
export type Color = keyof (typeof COLORS)["light"];

/** The colour of what has been, or might have been. */
export const PALE = { light: 0xc9ced6, dark: 0x454c57 } as const;

export const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);

export const flat = ([x, y]: readonly number[]): Xyz => [x!, y!, 0];
export const middle = (a: Xyz, b: Xyz): Xyz => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2];
export const polar = ([x, y]: Xy, angle: number, radius: number): Xyz => [x + Math.cos(angle) * radius, y + Math.sin(angle) * radius, 0];

/** A point of three numbers. */
export function triple(numbers: Iterable<number>): Xyz {
  const [x = 0, y = 0, z = 0] = numbers;
  return [x, y, z];
}

/** Points of x, y, z each. */
export function points(numbers: ArrayLike<number>): Xyz[] {
  return Array.from({ length: numbers.length / 3 }, (_, n) => [numbers[3 * n]!, numbers[3 * n + 1]!, numbers[3 * n + 2]!] as const);
}

/** Draws a bone of the same half width whatever its length. */
export function bone(list: DrawList, from: Xyz, to: Xyz, color: number, width: number): void {
  const length = apart(from, to);
  if (length > 0) list.bone(from, to, { thickness: width / length, color });
}

/** Draws bones through points, with their joints. */
export function bones(list: DrawList, at: readonly Xyz[], color: number, width: number): void {
  at.slice(1).forEach((to, n) => bone(list, at[n]!, to, color, width));
  list.push("discs", "joint", at.flat(), { radius: 0.8 * width, color });
}

/** Points around a circle. */
export function circle(on: (angle: number) => Xyz, steps = 96): number[] {
  return Array.from({ length: steps + 1 }, (_, n) => on((2 * Math.PI * n) / steps)).flat();
}

/** Draws a dashed line. */
export function dashed(list: DrawList, from: Xyz, to: Xyz, role: "residual" | "reference" | "path", color?: number): void {
  const count = clamp(Math.floor(apart(from, to) / 0.1), 1, 60);
  const at = (share: number) => from.map((value, n) => value + (to[n]! - value) * share);
  const numbers = Array.from({ length: count }, (_, n) => [...at(n / count), ...at((n + 0.5) / count)]).flat();
  list.push("segments", role, numbers, { color });
}

/** Draws a line with a point at its end, in the plane. */
export function arrow(list: DrawList, from: Xyz, to: Xyz, color: number): void {
  const length = apart(from, to);
  if (length < 1e-3) return;
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  const size = Math.min(0.09, 0.4 * length);
  const barb = (turn: number) => polar([to[0], to[1]], angle + turn, size);
  list.push("segments", "path", [...from, ...to], { color });
  list.push("triangles", "path", [...to, ...barb(2.7), ...barb(-2.7)], { color });
}
