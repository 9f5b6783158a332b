/** `sinew/inline`: `sinew` with its WebAssembly inside, for pages and bundlers that lose the file beside it. */

import { inlined, loader, type WasmSource } from "./load.js";
import { glue } from "./whole.glue.js";
import { wholeClasses, type Whole } from "./whole_parts.js";
import { text } from "./whole.text.js";

export * from "./whole_parts.js";

/** Loads the engine as that of `sinew` does, by default from this module itself: nothing is fetched. */
export const load: (source?: WasmSource | Promise<WasmSource>) => Promise<Whole> = loader(
  { name: "sinew/inline", glue, source: () => inlined(text) },
  wholeClasses,
);
