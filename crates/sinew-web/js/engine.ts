/** An instance of the engine, and the memory of its objects. */

import type { Glue } from "./core.glue.js";
import { SinewError, type SinewErrorKind } from "./error.js";
import { Exchange } from "./exchange.js";
import type { Guard } from "./guard.js";

/** Kinds that the module names its errors by. */
const KINDS: readonly SinewErrorKind[] = ["input", "solve", "file"];

/** One instance of the module: what wasm-bindgen wrote, and its memory. */
export class Engine {
  /** @internal */
  readonly glue: typeof Glue;
  /** @internal */
  readonly memory: WebAssembly.Memory;
  /** @internal */
  readonly exchange: Exchange;
  readonly #guard: Guard;

  /** @internal */
  constructor(glue: typeof Glue, memory: WebAssembly.Memory, guard: Guard) {
    this.glue = glue;
    this.memory = memory;
    this.#guard = guard;
    this.exchange = new Exchange(memory, glue.exchangeAddress());
  }

  /**
   * The error to throw for one that a call into the module threw.
   * @internal
   */
  error(thrown: unknown): SinewError {
    if (thrown instanceof SinewError) return thrown;
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const kind = KINDS.find((kind) => kind === error.name) ?? "internal";
    return new SinewError(kind, error.message);
  }

  /** Runs a call into the module; what it throws becomes a {@link SinewError}. @internal */
  run<T>(call: () => T): T {
    try {
      return call();
    } catch (thrown) {
      throw this.error(thrown);
    }
  }

  /** Whether the engine has stopped in the middle of a call. @internal */
  get broken(): boolean {
    return this.#guard.stopped !== undefined;
  }
}

/** An object of the module. */
interface Raw {
  free(): void;
}

/**
 * Base of all classes whose data lies in the module's memory, which the garbage collector does not see filling up: call
 * {@link Owned.free | free}, or declare the object with `using`, when it is not needed any more. A forgotten object is freed
 * some time after the last reference to it is gone.
 */
export abstract class Owned<R extends Raw> {
  /** @internal */
  readonly engine: Engine;
  #raw: R | undefined;

  /** @internal */
  protected constructor(engine: Engine, raw: R) {
    this.engine = engine;
    this.#raw = raw;
  }

  /** The object in the module's memory. @internal */
  get raw(): R {
    const raw = this.#raw;
    if (raw === undefined) throw new SinewError("freed", `this ${this.constructor.name} has been freed`);
    return raw;
  }

  /** Whether the object's memory has been freed. */
  get freed(): boolean {
    return this.#raw === undefined;
  }

  /** Frees the object's memory. Later calls throw; freeing twice does nothing. */
  free(): void {
    this.#raw?.free();
    this.#raw = undefined;
  }

  /** Frees the object at the end of the block that declares it with `using`. */
  [Symbol.dispose](): void {
    this.free();
  }
}


/** The instance that a class was loaded with. @internal */
export function engineOf(type: { engine?: Engine | undefined; name: string }): Engine {
  if (type.engine === undefined) {
    throw new SinewError("instance", `take ${type.name} from what load() returns: this one belongs to no instance of the engine`);
  }
  return type.engine;
}

/** Checks that an argument is an object of a class, of this instance, and not freed. @internal */
export function own<R extends Raw>(
  engine: Engine,
  what: string,
  type: abstract new (...given: never[]) => Owned<R>,
  given: Owned<R>,
): R {
  if (!(given instanceof type)) throw new SinewError("type", `${what} must be a ${type.name}, not ${describe(given)}`);
  if (given.engine !== engine) throw new SinewError("instance", `${what} belongs to another instance of the engine`);
  return given.raw;
}

/** A value as an error message shows it. @internal */
export function describe(given: unknown): string {
  if (given === null || given === undefined) return String(given);
  if (typeof given === "string") return JSON.stringify(given.length > 60 ? `${given.slice(0, 60)}...` : given);
  if (typeof given === "number" || typeof given === "boolean" || typeof given === "bigint") return String(given);
  if (typeof given === "function") return "a function";
  if (Array.isArray(given)) return `an array of ${given.length}`;
  if (ArrayBuffer.isView(given)) return `a ${given.constructor.name} of ${(given as Float32Array).length ?? given.byteLength}`;
  return `a ${(given as object).constructor?.name ?? "object"}`;
}
