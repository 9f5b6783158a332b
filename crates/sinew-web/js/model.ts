/** Files: characters, arms and grounds, read and written. */

import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, number } from "./exchange.js";
import { Body, known } from "./body.js";
import { Clip } from "./clip.js";
import type { Glue } from "./files.glue.js";
import { Figure, type PlantOptions, putPlantOptions } from "./foot_planter.js";
import { checkNames } from "./goal.js";
import { Ground } from "./ground.js";
import { Mechanism } from "./mechanism.js";
import { Pose } from "./pose.js";
import { Rig } from "./rig.js";
import { RigKeys } from "./rig_keys.js";
import { type JointRef, Skeleton } from "./skeleton.js";
import { Creature, type CreatureInput, ends } from "./walker.js";

/** Units and axes of a file that does not declare them (BVH, OBJ). */
export interface FileUnits {
  /** Metres per unit; 1 by default. */
  scale?: number;
  /** The axis that points up; "y" by default. */
  up?: "y" | "z";
}

/** Bytes of a file. */
export type FileBytes = ArrayBuffer | ArrayBufferView;

/** How a clip is planted. */
export interface ClipPlantOptions extends PlantOptions {
  /** Count of rounds of a clip that walks on the spot; by default as many as walk some four metres. */
  rounds?: number;
  /** Length of steps on stairs: the clip's own, one tread, or a count of treads. By default walks on the spot fit theirs. */
  stride?: "keep" | "fit" | number;
}

/** A contact of a planted clip. */
export interface PlantedContact {
  side: "left" | "right";
  point: "heel" | "ball";
  /** Times in seconds. */
  from: number;
  to: number;
  /** Why it is not planted; undefined where it is. */
  unplanted: string | undefined;
}

/** Keys of a rig as an animation of a file. */
export interface KeyedAnimation {
  name: string;
  keys: RigKeys;
  /** Tracks of joints that the keys do not show. */
  clip?: Clip;
}

/** A planted clip. */
export interface PlantedClip {
  /** The clip, to be freed like every other. */
  clip: Clip;
  /** The model with the clip and the ground, as a GLB. */
  glb: Uint8Array<ArrayBuffer>;
  /** Share of the time in contact that is planted, 0 to 1. */
  plantedShare: number;
  /** Length of a step divided by the clip's; undefined where steps keep it. */
  stride: number | undefined;
  contacts: PlantedContact[];
}

function files(engine: Engine): typeof Glue {
  return engine.glue as unknown as typeof Glue;
}

function bytes(given: FileBytes): Uint8Array {
  if (given instanceof ArrayBuffer) return new Uint8Array(given);
  if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  throw new SinewError("type", `a file's content must be an ArrayBuffer or a view of one, not ${describe(given)}`);
}

function named(name: string): string {
  if (typeof name !== "string") throw new SinewError("type", `a file's name must be a text, not ${describe(name)}`);
  return name;
}

function units(given: FileUnits): [number, boolean] {
  checkNames("options of a file", given, ["scale", "up"]);
  const { scale = 1, up = "y" } = given;
  if (up !== "y" && up !== "z") throw new SinewError("type", `up must be "y" or "z", not ${describe(up)}`);
  return [number("the scale", scale), up === "z"];
}

/** Reads the text of a URDF file; its name is for messages. Only what moves is read: no meshes, no masses. */
export function readUrdf(this: { Mechanism: typeof Mechanism }, text: string, name = "arm.urdf"): Mechanism {
  const engine = engineOf(this.Mechanism);
  if (typeof text !== "string") throw new SinewError("type", `a URDF is a text, not ${describe(text)}`);
  return new Mechanism(engine, engine.run(() => files(engine).RawMechanism.fromUrdf(text, named(name))));
}

/** Reads the text of a rig file for a figure: a body, or a bind pose where roles are unknown. Its name is for messages. */
export function readRig(this: { Rig: typeof Rig }, text: string, of: Body | Pose, name = "rig.toml"): Rig {
  const engine = engineOf(this.Rig);
  if (typeof text !== "string") throw new SinewError("type", `a rig file is a text, not ${describe(text)}`);
  const { RawRig } = files(engine);
  const raw = engine.run(() =>
    of instanceof Body
      ? RawRig.fromFileOf(text, named(name), own(engine, "the body", Body, of) as unknown as Glue.RawBody)
      : RawRig.fromFile(text, named(name), own(engine, "the pose", Pose, of) as unknown as Glue.RawPose),
  );
  return this.Rig.of(engine, raw, of.skeleton);
}

/** Reads the triangles of a GLB, glTF or OBJ file, which the ending of its name tells. */
export function readGround(this: { Ground: typeof Ground }, content: FileBytes, name: string, given: FileUnits = {}): Ground {
  const engine = engineOf(this.Ground);
  const [scale, zUp] = units(given);
  return new Ground(engine, engine.run(() => files(engine).RawGround.fromFile(bytes(content), named(name), scale, zUp)));
}

/** A character or creature from a file: its skeleton, clips and skin. */
export class Model extends Owned<Glue.RawModel> {
  /** @internal */
  static engine: Engine | undefined;
  readonly name: string;
  /** Its skeleton: all nodes of the file, in metres, y up. Freed with the model. */
  readonly skeleton: Skeleton;
  /** Its clips, in the file's order. Freed with the model. */
  readonly clips: readonly Clip[];
  /** Clips that cannot be played, and what is wrong in the file; empty for most files. */
  readonly problems: readonly string[];

  /**
   * Index of each joint's node in the glTF: three.js's `GLTFLoader` has the objects of nodes in `parser.associations`. -1 for joints of a
   * BVH.
   */
  readonly nodes: Int32Array;

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawModel) {
    super(engine, raw);
    this.name = raw.name;
    this.nodes = raw.nodes();
    this.skeleton = new Skeleton(engine, raw.skeleton(), [], undefined);
    this.clips = Array.from({ length: raw.clips }, (_, i) => new Clip(engine, raw.clip(i), this.skeleton));
    this.problems = raw.problems();
  }

  /**
   * Reads a GLB, glTF, VRM or BVH file, which the ending of its name tells. A glTF must have its buffers inside. Throws a
   * {@link SinewError} of kind `file` that says where the file is damaged.
   */
  static read(content: FileBytes, name: string, given: FileUnits = {}): Model {
    const engine = engineOf(this);
    const [scale, zUp] = units(given);
    return new Model(engine, engine.run(() => new (files(engine).RawModel)(bytes(content), named(name), scale, zUp)));
  }

  /** The built-in mannequin, whose clip `walk` goes some steps forwards. */
  static mannequin(): Model {
    const engine = engineOf(this);
    return new Model(engine, engine.run(() => files(engine).RawModel.sample()));
  }

  /** The built-in creature: a crawler with an even number of legs, 4 to 40. */
  static crawler(legs = 8): Model {
    const engine = engineOf(this);
    if (!(Number.isInteger(legs) && legs >= 4 && legs <= 40 && legs % 2 === 0)) {
      throw new SinewError("input", `the count of legs must be even and from 4 to 40, not ${describe(legs)}`);
    }
    return new Model(engine, engine.run(() => files(engine).RawModel.crawler(legs)));
  }

  /**
   * The model as a GLB, as three.js's `GLTFLoader` takes it, with more animations: clips of its skeleton, and keys of rigs, which
   * {@link Model.keys} reads again. That of a BVH has a built figure as its mesh.
   */
  toGlb(added: readonly (Clip | KeyedAnimation)[] = []): Uint8Array<ArrayBuffer> {
    const { engine, raw } = this;
    if (!Array.isArray(added)) throw new SinewError("type", `animations to add must be a list, not ${describe(added)}`);
    const document = engine.run(() => raw.opened());
    const put = (clip: Clip) => {
      const of = own(engine, "the clip", Clip, clip) as unknown as Glue.RawClip;
      if (clip.skeleton !== this.skeleton) throw new SinewError("input", `the clip ${describe(clip.name)} is of another skeleton`);
      return of;
    };
    try {
      for (const one of added as readonly (Clip | KeyedAnimation)[]) {
        if (one instanceof Clip) {
          const clip = put(one);
          engine.run(() => document.addClip(clip));
          continue;
        }
        checkNames("animations to add", one, ["name", "keys", "clip"]);
        const { name, keys, clip } = one;
        if (typeof name !== "string") throw new SinewError("type", `the animation's name must be a text, not ${describe(name)}`);
        const of = own(engine, "the keys", RigKeys, keys) as unknown as Glue.RawRigKeys;
        const rig = own(engine, "the rig", Rig, keys.rig) as unknown as Glue.RawRig;
        if (keys.rig.skeleton !== this.skeleton) throw new SinewError("input", "the keys are of a rig of another skeleton");
        const other = clip === undefined ? undefined : put(clip);
        engine.run(() => (other ? document.addKeyedClip(name, rig, of, other) : document.addKeys(name, rig, of)));
      }
      return engine.run(() => document.glb()) as Uint8Array<ArrayBuffer>;
    } finally {
      document.free();
    }
  }

  /** The keys of a rig of this model's skeleton, from one of {@link Model.clips} that was written from keys, by index or by name. */
  keys(clip: number | string, rig: Rig): RigKeys {
    const { engine, raw } = this;
    const index = this.#clip(clip);
    const of = own(engine, "the rig", Rig, rig) as unknown as Glue.RawRig;
    if (rig.skeleton !== this.skeleton) throw new SinewError("input", "the rig is of another skeleton");
    const keys = new RigKeys(rig);
    try {
      engine.run(() => raw.keys(index, of, keys.raw as unknown as Glue.RawRigKeys));
    } catch (thrown) {
      keys.free();
      throw thrown;
    }
    return keys;
  }

  /** The index of a clip, by itself or by name. */
  #clip(clip: number | string): number {
    const index = typeof clip === "number" ? clip : this.clips.findIndex(({ name }) => name === clip);
    if (this.clips[index] !== undefined) return index;
    const names = this.clips.slice(0, 12).map(({ name }) => `\`${name}\``);
    throw new SinewError("input", `there is no clip ${describe(clip)}: there are ${names.join(", ") || "none"}`);
  }

  /** The pose in which the mesh was modelled; the rest pose if there is no skin. */
  bindPose(): Pose {
    const { engine, raw } = this;
    const pose = this.skeleton.rest();
    engine.run(() => raw.bind(pose.raw as unknown as Glue.RawPose));
    return pose;
  }

  /** Vertices of the meshes in the bind pose: the joint of largest weight, and the position in model space; four numbers each. */
  skin(): Float32Array {
    return this.raw.skin();
  }

  /** The body on two legs, by declared roles, names and shape; the ankles may be given. */
  body(feet?: readonly [JointRef, JointRef]): Body {
    const { engine, raw } = this;
    const [, , ankles] = known(this.skeleton, feet === undefined ? {} : { feet });
    return new Body(engine, engine.run(() => raw.body(ankles)), this.skeleton);
  }

  /** The figure of a body of this model, with the soles of its mesh. */
  figure(body: Body = this.body()): Figure {
    const { engine, raw } = this;
    const of = own(engine, "the body", Body, body) as unknown as Glue.RawBody;
    if (body.skeleton !== this.skeleton) throw new SinewError("input", "the body is that of another model");
    return new Figure(engine, engine.run(() => raw.figure(of)), body);
  }

  /** The creature of this model, with the soles and the belly of its mesh; the first and last joints of its legs may be given. */
  creature(legs?: CreatureInput["legs"]): Creature {
    const { engine, raw, skeleton } = this;
    const of = ends(skeleton, legs);
    return new Creature(engine, engine.run(() => raw.creature(of)), skeleton);
  }

  /**
   * Plants a clip on a ground as a whole, which takes some seconds: call it in a worker. The clip is one of {@link Model.clips}, by index
   * or by name.
   */
  plant(clip: number | string, figure: Figure, ground: Ground, options: ClipPlantOptions = {}): PlantedClip {
    const { engine, raw } = this;
    const index = this.#clip(clip);
    const [of, on] = [own(engine, "the figure", Figure, figure), own(engine, "the ground", Ground, ground)];
    const { rounds, stride, ...rest } = options;
    let n = engine.exchange.numbers;
    putPlantOptions(n, rest);
    for (const [what, given, most] of [["rounds", rounds, 1000], ["the stride", typeof stride === "number" ? stride : undefined, 100]] as const) {
      if (given !== undefined && !(Number.isInteger(given) && given >= 1 && given <= most)) {
        throw new SinewError("type", `${what} must be a whole number from 1 to ${most}, not ${describe(given)}`);
      }
    }
    n[OTHER + 14] = rounds ?? NaN;
    if (typeof stride === "string" && stride !== "keep" && stride !== "fit") {
      throw new SinewError("type", `the stride must be "keep", "fit" or a count of treads, not ${describe(stride)}`);
    }
    n[OTHER + 15] = stride === undefined ? NaN : stride === "keep" ? -1 : stride === "fit" ? 0 : stride;
    const planting = engine.run(() => raw.plant(index, of as unknown as Glue.RawFigure, on as unknown as Glue.RawGround));
    try {
      planting.report();
      n = engine.exchange.numbers;
      const [plantedShare, scaled, count] = [n[OTHER]!, n[OTHER + 1]!, n[OTHER + 2]!];
      const contacts = Array.from({ length: count }, (_, i): PlantedContact => {
        const why = planting.contact(i);
        const [leg, heel, from, to] = engine.exchange.numbers.subarray(OTHER, OTHER + 4) as unknown as [number, number, number, number];
        return { side: leg === 0 ? "left" : "right", point: heel === 0 ? "ball" : "heel", from, to, unplanted: why === "" ? undefined : why };
      });
      const planted = new Clip(engine, planting.clip()!, this.skeleton);
      const glb = planting.glb() as Uint8Array<ArrayBuffer>;
      return { clip: planted, glb, plantedShare, stride: Number.isNaN(scaled) ? undefined : scaled, contacts };
    } finally {
      planting.free();
    }
  }
}
