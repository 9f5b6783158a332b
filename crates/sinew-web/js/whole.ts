/** `sinew`: the whole engine. */

import { loader, type WasmSource } from "./load.js";
import { glue } from "./whole.glue.js";
import { wholeClasses, type Whole } from "./whole_parts.js";

export * from "./whole_parts.js";

/** Loads the engine as that of `sinew/core` does, by default from `whole.wasm` beside this module. */
export const load: (source?: WasmSource | Promise<WasmSource>) => Promise<Whole> = loader(
  { name: "sinew", glue, source: () => new URL("./whole.wasm", import.meta.url) },
  wholeClasses,
);
