/** The path that a point has taken lately. */

import type { Xy } from "./chain.ts";

const MOST = 240;
/** Distance between two points that are kept. */
const APART = 0.02;

export class Path {
  readonly #points: Xy[] = [];

  add(at: Xy): void {
    const last = this.#points.at(-1);
    if (last && Math.hypot(at[0] - last[0], at[1] - last[1]) < APART) return;
    this.#points.push(at);
    if (this.#points.length > MOST) this.#points.shift();
  }

  clear(): void {
    this.#points.length = 0;
  }

  get points(): readonly Xy[] {
    return this.#points;
  }
}
