// Points and numbers of tests.

import assert from "node:assert/strict";

/** Two numbers are equal within `by`. */
export const near = (a, b, by, what) => assert.ok(Math.abs(a - b) <= by, `${what}: ${a}, not ${b}`);
export const minus = (a, b) => a.map((value, axis) => value - b[axis]);
export const dot = (a, b) => a.reduce((sum, value, axis) => sum + value * b[axis], 0);
export const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const size = (a) => Math.hypot(...a);
/** Points of the plane are at a depth of 0. */
export const distance = (a, b) => Math.hypot(...[0, 1, 2].map((axis) => (a[axis] ?? 0) - (b[axis] ?? 0)));
/** Lengths of a chain's bones. */
export const lengths = (points) => points.slice(1).map((at, n) => distance(at, points[n]));
