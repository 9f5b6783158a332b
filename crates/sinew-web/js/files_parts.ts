/** What `sinew/files` and `sinew/files/inline` have in common: `sinew`, and files. */

import type { Engine } from "./engine.js";
import { bind } from "./load.js";
import { Model, readGround, readRig, readUrdf } from "./model.js";
import { wholeClasses, type Whole } from "./whole_parts.js";

export * from "./whole_parts.js";
export { Model } from "./model.js";
export type { ClipPlantOptions, FileBytes, FileUnits, KeyedAnimation, PlantedClip, PlantedContact } from "./model.js";

/** The classes and functions of `sinew/files`, of one instance of the engine. */
export interface Files extends Whole {
  readonly Model: typeof Model;
  /** Reads the text of a URDF file; its name is for messages. Only what moves is read: no meshes, no masses. */
  readonly readUrdf: OmitThisParameter<typeof readUrdf>;
  /** Reads the text of a rig file for a figure: a body, or a bind pose where roles are unknown. Its name is for messages. */
  readonly readRig: OmitThisParameter<typeof readRig>;
  /** Reads the triangles of a GLB, glTF or OBJ file, which the ending of its name tells. */
  readonly readGround: OmitThisParameter<typeof readGround>;
}

/** @internal */
export function filesClasses(engine: Engine): Files {
  const whole = wholeClasses(engine);
  return { ...whole, ...bind(engine, { Model }), readUrdf: readUrdf.bind(whole), readRig: readRig.bind(whole), readGround: readGround.bind(whole) };
}
