/** The glue of `sinew` and `sinew/files`, which has classes that the glue of `sinew/core` has not. */

import type { Engine } from "./engine.js";
import type { Glue } from "./whole.glue.js";

export type { Glue };

/** The classes in the module of an instance. @internal */
export function wholeGlue(engine: Engine): typeof Glue {
  return engine.glue as unknown as typeof Glue;
}
