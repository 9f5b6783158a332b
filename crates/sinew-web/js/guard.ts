/** What happens when the engine stops in the middle of a call: a fault of its own, or no memory. */

import { SinewError } from "./error.js";

type Call = (...given: unknown[]) => unknown;

/**
 * Stands between the glue and an instance's exports. After a call that WebAssembly itself ended, the instance's memory is as it was
 * in the middle of the call: no later call reaches it.
 * @internal
 */
export class Guard {
  /** Message of the end. */
  stopped: string | undefined;

  /** The exports, guarded. */
  wrap<T extends object>(exports: T): T {
    const guarded = Object.entries(exports).map(([name, value]) => {
      if (typeof value !== "function") return [name, value];
      // Objects are freed by finalizers too, which have nobody to throw to; the memory goes as a whole.
      return [name, /^__wbg_.*_free$/.test(name) ? this.#freeing(value as Call) : this.#calling(value as Call)];
    });
    return Object.fromEntries(guarded) as T;
  }

  #calling(call: Call): Call {
    return (...given) => {
      if (this.stopped !== undefined) {
        throw new SinewError("internal", `the engine has stopped in an earlier call (${this.stopped}): load() makes another`);
      }
      try {
        return call(...given);
      } catch (thrown) {
        throw this.#end(thrown);
      }
    };
  }

  #freeing(call: Call): Call {
    return (...given) => {
      if (this.stopped !== undefined) return;
      try {
        call(...given);
      } catch (thrown) {
        this.#end(thrown);
      }
    };
  }

  /**
   * The error for what a call has thrown: Rust throws errors of its own, of which only those of its panics end it; WebAssembly throws these
   * (RangeError: its stack is full).
   */
  #end(thrown: unknown): unknown {
    const panicked = thrown instanceof Error && thrown.name === "panic";
    if (!(panicked || thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError)) return thrown;
    this.stopped = thrown.message.replaceAll("\n", " ");
    return new SinewError(
      "internal",
      `the engine stopped in the middle of a call (${this.stopped}): load() makes another; please report how it came about`,
      { cause: thrown },
    );
  }
}
