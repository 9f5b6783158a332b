/** `sinew/files/inline`: `sinew/files` with its WebAssembly inside, for pages and bundlers that lose the file beside it. */

import { inlined, loader, type WasmSource } from "./load.js";
import { glue } from "./files.glue.js";
import { filesClasses, type Files } from "./files_parts.js";
import { text } from "./files.text.js";

export * from "./files_parts.js";

/** Loads the engine as that of `sinew/files` does, by default from this module itself: nothing is fetched. */
export const load: (source?: WasmSource | Promise<WasmSource>) => Promise<Files> = loader(
  { name: "sinew/files/inline", glue, source: () => inlined(text) },
  filesClasses,
);
