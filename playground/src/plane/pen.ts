/** Drawing chains in the plane. */

import type { DrawList } from "sinew/core";

import type { Theme } from "../figure/theme.ts";
import { PALE } from "../shapes.ts";
import type { Xy } from "./chain.ts";

/** Colours of the root's and of the tip's segment: the engine's left side, and its goals. */
const ENDS = {
  light: [0x0072b2, 0x8a1a78],
  dark: [0x4f94ff, 0xc878c4],
} as const;

/** The colour of a segment, between those of the root's and the tip's: `share` from 0 to 1. */
export function shade(share: number, theme: Theme): number {
  const [from, to] = ENDS[theme];
  const mix = (shift: number) => Math.round(((from >> shift) & 255) * (1 - share) + ((to >> shift) & 255) * share) << shift;
  return mix(16) | mix(8) | mix(0);
}

/** Half the width of segments, and the radii of their joints and of the tip: in units, but no less than so many pixels. */
const HALF_WIDTH = { units: 0.07, pixels: 6 };
const JOINT = { units: 0.055, pixels: 5.5 };
const TIP = { units: 0.03, pixels: 3.5 };
/** Half the size of crosses, and the distance that dashes keep from a target, in pixels: within the ring, and around it. */
const CROSS = 8;
const RING = 17;

/** Draws chains in a pane. */
export class Pen {
  readonly #list: DrawList;
  readonly #theme: Theme;
  readonly #pixel: number;

  /** With the length of a pixel. */
  constructor(list: DrawList, theme: Theme, pixel: number) {
    [this.#list, this.#theme, this.#pixel] = [list, theme, pixel];
  }

  #size({ units, pixels }: { units: number; pixels: number }): number {
    return Math.max(units, pixels * this.#pixel);
  }

  /** Segments of a chain through points: those from `from` to before `to`. */
  segments(points: readonly Xy[], [from, to] = [0, points.length - 1]): void {
    const last = points.length - 2;
    for (let n = from; n < to; n++) {
      const [a, b] = [points[n]!, points[n + 1]!];
      const color = shade(last > 0 ? n / last : 0, this.#theme);
      const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
      if (length > 0) this.#list.bone([...a, 0], [...b, 0], { thickness: this.#size(HALF_WIDTH) / length, color });
      this.#list.push("discs", "joint", [...a, 0], { radius: this.#size(JOINT), color });
      if (n === to - 1) this.#list.push("discs", "joint", [...b, 0], { radius: this.#size(n === last ? TIP : JOINT), color });
    }
  }

  /** A target: a cross within the ring of its handle. */
  target(at: Xy): void {
    this.#list.goal([...at, 0], CROSS * this.#pixel);
  }

  /** A grey line: where something has been. */
  trace(points: readonly Xy[]): void {
    if (points.length > 1) this.#list.push("polyline", "path", points.flatMap(([x, y]) => [x, y, 0]), { color: PALE[this.#theme] });
  }

  /** A dashed line to a point, or to the ring of a target. */
  dashes([ax, ay]: Xy, [bx, by]: Xy, ring: boolean): void {
    const whole = Math.hypot(bx - ax, by - ay);
    const length = whole - (ring ? RING * this.#pixel : 0);
    const count = Math.round(length / (12 * this.#pixel));
    if (count < 1) return;
    const at = (share: number) => [ax + ((bx - ax) * share * length) / whole, ay + ((by - ay) * share * length) / whole, 0];
    const points = Array.from({ length: count }, (_, n) => [...at((n + 0.4) / count), ...at((n + 1) / count)]).flat();
    this.#list.push("segments", "residual", points);
  }
}
