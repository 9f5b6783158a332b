/** `sinew/files`: the whole engine, and files. */

import { loader, type WasmSource } from "./load.js";
import { glue } from "./files.glue.js";
import { filesClasses, type Files } from "./files_parts.js";

export * from "./files_parts.js";

/** Loads the engine as that of `sinew/core` does, by default from `files.wasm` beside this module. */
export const load: (source?: WasmSource | Promise<WasmSource>) => Promise<Files> = loader(
  { name: "sinew/files", glue, source: () => new URL("./files.wasm", import.meta.url) },
  filesClasses,
);
