/** `sinew/core`: limbs and chains. */

import { glue } from "./core.glue.js";
import { classes, type Core } from "./core_parts.js";
import { loader, type WasmSource } from "./load.js";

export * from "./core_parts.js";

/**
 * Loads the engine and returns its classes. By default the WebAssembly comes from `core.wasm` beside this module, and all calls
 * return the same classes. With a source, each call returns classes of an instance of its own: objects of one instance are of
 * no use to another.
 *
 * Throws a {@link SinewError} of kind `load` that says what could not be loaded from where.
 */
export const load: (source?: WasmSource | Promise<WasmSource>) => Promise<Core> = loader(
  { name: "sinew/core", glue, source: () => new URL("./core.wasm", import.meta.url) },
  classes,
);
