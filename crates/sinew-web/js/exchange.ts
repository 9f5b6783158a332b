/** Numbers in and out of calls, at the places of `src/exchange.rs`. */

import { describe } from "./engine.js";
import { SinewError } from "./error.js";

/** Three numbers: an array, a typed array, or an object with x, y and z, such as three.js's `Vector3`. */
export type Vector = ArrayLike<number> | { readonly x: number; readonly y: number; readonly z: number };

/** A unit quaternion x, y, z, w: an array, a typed array, or an object, such as three.js's `Quaternion`. */
export type Rotation =
  | ArrayLike<number>
  | { readonly x: number; readonly y: number; readonly z: number; readonly w: number };

/** First number of goals, options, reports and all else. @internal */
export const GOAL = 0;
/** @internal */
export const OPTIONS = 16;
/** @internal */
export const REPORT = 32;
/** @internal */
export const OTHER = 48;
const LENGTH = 256;

/** @internal */
export class Exchange {
  readonly #memory: WebAssembly.Memory;
  readonly #address: number;
  #numbers: Float64Array;

  constructor(memory: WebAssembly.Memory, address: number) {
    this.#memory = memory;
    this.#address = address;
    this.#numbers = new Float64Array(memory.buffer, address, LENGTH);
  }

  /** The numbers. Growing memory detaches the array: take it anew for each call. */
  get numbers(): Float64Array {
    if (this.#numbers.length === 0) this.#numbers = new Float64Array(this.#memory.buffer, this.#address, LENGTH);
    return this.#numbers;
  }
}

/** Checks a number; NaN and infinities are left to the engine, which names them. @internal */
export function number(what: string, given: unknown): number {
  if (typeof given !== "number") throw new SinewError("type", `${what} must be a number, not ${describe(given)}`);
  return given;
}

/** A number that may be left out, as NaN. @internal */
export function optional(what: string, given: unknown): number {
  if (given === undefined || given === null) return NaN;
  if (Number.isNaN(given)) throw new SinewError("type", `${what} must be a number, not NaN`);
  return number(what, given);
}

/** Writes three numbers. @internal */
export function putVector(to: Float64Array, at: number, what: string, given: Vector): void {
  putNumbers(to, at, what, given as Numbers, 3);
}

/** Writes a quaternion. @internal */
export function putRotation(to: Float64Array, at: number, what: string, given: Rotation): void {
  putNumbers(to, at, what, given as Numbers, 4);
}

interface Numbers {
  readonly x?: number;
  readonly y?: number;
  readonly z?: number;
  readonly w?: number;
  readonly length?: number | (() => number);
  readonly [n: number]: number;
}

function putNumbers(to: Float64Array, at: number, what: string, given: Numbers, count: 3 | 4): void {
  if (typeof given !== "object" || given === null) {
    throw new SinewError("type", `${what} must be ${count} numbers, not ${describe(given)}`);
  }
  let a, b, c, d;
  if (given.x !== undefined) {
    ({ x: a, y: b, z: c, w: d } = given);
  } else {
    if (given.length !== count) throw new SinewError("type", `${what} must be ${count} numbers, not ${describe(given)}`);
    a = given[0];
    b = given[1];
    c = given[2];
    d = given[3];
  }
  if (typeof a !== "number" || typeof b !== "number" || typeof c !== "number" || (count === 4 && typeof d !== "number")) {
    const shown = (count === 3 ? [a, b, c] : [a, b, c, d]).map(describe).join(", ");
    throw new SinewError("type", `${what} must be ${count} numbers, not ${shown}`);
  }
  to[at] = a;
  to[at + 1] = b;
  to[at + 2] = c;
  if (count === 4) to[at + 3] = d as number;
}

/** The numbers of an array, checked for their count. @internal */
export function floats(what: string, given: ArrayLike<number>, each: number): Float32Array {
  if (typeof given !== "object" || given === null || typeof given.length !== "number") {
    throw new SinewError("type", `${what} must be an array of numbers, not ${describe(given)}`);
  }
  if (given.length % each !== 0) {
    throw new SinewError("type", `${what} must have ${each} numbers each, not ${given.length} in all`);
  }
  return given instanceof Float32Array ? given : Float32Array.from(given);
}

/** Checks an array that is written to. @internal */
export function room(what: string, given: Float32Array, length: number): Float32Array {
  if (!(given instanceof Float32Array) || given.length !== length) {
    throw new SinewError("type", `${what} must be a Float32Array of ${length} numbers, not ${describe(given)}`);
  }
  return given;
}
