/** Fields of a figure's state, and their text in the address: `target:1.2,0.4;lead:root`. */

/** A field: its value at first, and its text. A text that is not valid reads as undefined. */
export interface Field<T> {
  readonly initial: T;
  write(value: T): string;
  read(text: string): T | undefined;
}

/** Fields by their names. */
export type Fields = Readonly<Record<string, Field<any>>>;

/** The state of a figure with these fields. */
export type StateOf<F extends Fields> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };

/** Decimals of numbers in the address and in copied code. */
const DECIMALS = 4;

/** A number, rounded as the address has it. */
export function rounded(value: number): number {
  return Number(value.toFixed(DECIMALS)) || 0;
}

interface Bounds {
  min: number;
  max: number;
  /** Whether only whole numbers are valid; false by default. */
  whole?: boolean;
}

function parse(text: string, { min, max, whole }: Bounds): number | undefined {
  const value = text.trim() === "" ? NaN : Number(text);
  return value >= min && value <= max && (!whole || Number.isInteger(value)) ? value : undefined;
}

/** A number within bounds. */
export function number(initial: number, bounds: Bounds): Field<number> {
  return { initial, write: (value) => String(rounded(value)), read: (text) => parse(text, bounds) };
}

/** A list of numbers within bounds. */
export function numbers(initial: readonly number[], bounds: Bounds, count: { min: number; max: number }): Field<readonly number[]> {
  return {
    initial,
    write: (values) => values.map(rounded).join(","),
    read(text) {
      const values = text.split(",").map((part) => parse(part, bounds));
      const valid = values.length >= count.min && values.length <= count.max && !values.includes(undefined);
      return valid ? (values as number[]) : undefined;
    },
  };
}

/** A point in the plane, at most `within` from 0 along each axis. */
export function point2(initial: readonly [number, number], within: number): Field<readonly [number, number]> {
  return numbers(initial, { min: -within, max: within }, { min: 2, max: 2 }) as unknown as Field<readonly [number, number]>;
}

/** A point in space, at most `within` from 0 along each axis. */
export function point3(initial: readonly [number, number, number], within: number): Field<readonly [number, number, number]> {
  return numbers(initial, { min: -within, max: within }, { min: 3, max: 3 }) as unknown as Field<readonly [number, number, number]>;
}

/** One of some words. */
export function choice<T extends string>(initial: T, options: readonly T[]): Field<T> {
  return { initial, write: (value) => value, read: (text) => options.find((option) => option === text) };
}

/** On or off. */
export function flag(initial: boolean): Field<boolean> {
  return { initial, write: (value) => (value ? "on" : "off"), read: (text) => (text === "on" ? true : text === "off" ? false : undefined) };
}

/** The state that all fields have at first. */
export function initialState<F extends Fields>(fields: F): StateOf<F> {
  return Object.fromEntries(Object.entries(fields).map(([name, { initial }]) => [name, initial])) as StateOf<F>;
}

/** The text of those fields that differ from their value at first. */
export function writeState<F extends Fields>(fields: F, state: StateOf<F>): string {
  const parts = Object.entries(fields).map(([name, field]) => {
    const text = field.write(state[name]);
    return text === field.write(field.initial) ? "" : `${name}:${text}`;
  });
  return parts.filter(Boolean).join(";");
}

/** The state of a text. Parts that are not valid are left out: those fields have their value at first. */
export function readState<F extends Fields>(fields: F, text: string): StateOf<F> {
  const state: Record<string, unknown> = initialState(fields);
  for (const part of text.split(";")) {
    const at = part.indexOf(":");
    const name = part.slice(0, at);
    const value = Object.hasOwn(fields, name) ? fields[name]!.read(part.slice(at + 1)) : undefined;
    if (value !== undefined) state[name] = value;
  }
  return state as StateOf<F>;
}
