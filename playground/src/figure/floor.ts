/** The floor of figures in space, at y = 0. */

import type { DrawList } from "sinew/core";

import type { Theme } from "./theme.ts";
import type { Point } from "./view.ts";

const GRID = { light: 0xe3e6ea, dark: 0x2b3038 } as const;
const LINES = 4;

/** Adds a grid around 0, at least as wide as `radius` to each side. Quiet: it is no part of what a figure says. */
export function drawFloor(list: DrawList, theme: Theme, radius: number): void {
  const points: number[] = [];
  for (let n = -LINES; n <= LINES; n++) {
    const at = (n * radius) / LINES;
    points.push(at, 0, -radius, at, 0, radius, -radius, 0, at, radius, 0, at);
  }
  list.push("segments", "ground", points, { color: GRID[theme] });
}

/** Adds the line from a point down to the floor, by which its depth is seen. */
export function drawDrop(list: DrawList, [x, y, z]: Point): void {
  list.push("segments", "ground", [x!, y!, z!, x!, 0, z!]);
  list.push("discs", "ground", [x!, 0, z!]);
}
