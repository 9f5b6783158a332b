/** `sinew/core/inline`: `sinew/core` with its WebAssembly inside, for pages and bundlers that lose the file beside it. */

import { glue } from "./core.glue.js";
import { classes, type Core } from "./core_parts.js";
import { text } from "./core.text.js";
import { inlined, loader, type WasmSource } from "./load.js";

export * from "./core_parts.js";

/** Loads the engine as that of `sinew/core` does, by default from this module itself: nothing is fetched. */
export const load: (source?: WasmSource | Promise<WasmSource>) => Promise<Core> = loader(
  { name: "sinew/core/inline", glue, source: () => inlined(text) },
  classes,
);
