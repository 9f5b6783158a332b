/** Errors of the package. */

/**
 * Cause of an error:
 *
 * - `type`: an argument of the wrong type or length, or an option that does not exist.
 * - `input`: a skeleton, a chain or a description that the engine refuses.
 * - `solve`: a goal, an option or a pose that a solver refuses, such as NaN. The pose is as it was.
 * - `file`: a file that is damaged, or of a format that is not read.
 * - `freed`: an object that has been freed.
 * - `instance`: an object of another instance of the engine, or of none.
 * - `load`: the engine cannot be loaded.
 * - `internal`: the engine has stopped in the middle of a call, by a fault of its own or for want of memory.
 */
export type SinewErrorKind = "type" | "input" | "solve" | "file" | "freed" | "instance" | "load" | "internal";

/** An error of the package; the message says what was given and what is allowed. */
export class SinewError extends Error {
  /** Cause of the error. */
  readonly kind: SinewErrorKind;

  /** @internal */
  constructor(kind: SinewErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SinewError";
    this.kind = kind;
  }
}
