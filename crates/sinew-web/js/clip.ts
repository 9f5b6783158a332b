/** Clips: motions of a skeleton's joints. */

import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, floats, number } from "./exchange.js";
import { checkNames } from "./goal.js";
import { Pose } from "./pose.js";
import { type JointRef, Skeleton } from "./skeleton.js";
import { wholeGlue, type Glue } from "./whole_glue.js";

/** Keys of one joint, over time. */
export interface ClipTrack {
  joint: JointRef;
  /** What the keys are: local positions (three numbers each), rotations (four) or scales (three). */
  part: "position" | "rotation" | "scale";
  /** Times in seconds, rising. */
  times: ArrayLike<number>;
  /** The value of each key; with `cubic` three of them: the tangent before it, the value, and the tangent after it, as in glTF. */
  values: ArrayLike<number>;
  /** How values follow between keys: in lines (the default), in steps, or along splines. */
  interpolation?: "linear" | "step" | "cubic";
}

const PARTS = ["position", "rotation", "scale"] as const;
const INTERPOLATIONS = ["step", "linear", "cubic"] as const;

/** A motion of a skeleton's joints. Times are in seconds. */
export class Clip extends Owned<Glue.RawClip> {
  /** @internal */
  static engine: Engine | undefined;
  readonly skeleton: Skeleton;
  readonly name: string;
  /** Times of the first and the last key. */
  readonly start: number;
  readonly end: number;

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawClip, skeleton: Skeleton) {
    super(engine, raw);
    this.skeleton = skeleton;
    this.name = raw.name;
    this.start = raw.start;
    this.end = raw.end;
  }

  /** A clip of tracks. */
  static from(skeleton: Skeleton, name: string, tracks: readonly ClipTrack[]): Clip {
    const engine = engineOf(this);
    const of = own(engine, "the skeleton", Skeleton, skeleton);
    if (typeof name !== "string") throw new SinewError("type", `a clip's name must be a text, not ${describe(name)}`);
    if (!Array.isArray(tracks)) throw new SinewError("type", `a clip is made of a list of tracks, not of ${describe(tracks)}`);
    return engine.run(() => {
      const builder = new (wholeGlue(engine).RawClipBuilder)(of);
      try {
        for (const track of tracks as readonly ClipTrack[]) {
          checkNames("tracks of a Clip", track, ["joint", "part", "times", "values", "interpolation"]);
          const { joint, part, times, values, interpolation = "linear" } = track;
          const [which, kind] = [PARTS.indexOf(part), INTERPOLATIONS.indexOf(interpolation)];
          if (which < 0) throw new SinewError("type", `a track's part must be "position", "rotation" or "scale", not ${describe(part)}`);
          if (kind < 0) throw new SinewError("type", `a track's interpolation must be "linear", "step" or "cubic", not ${describe(interpolation)}`);
          builder.track(skeleton.index(joint), which, floats("a track's times", times, 1), floats("a track's values", values, which === 1 ? 4 : 3), kind);
        }
      } catch (thrown) {
        builder.free();
        throw thrown;
      }
      return new Clip(engine, builder.build(name), skeleton);
    });
  }

  /** Time from its first to its last key. */
  get duration(): number {
    return this.end - this.start;
  }

  /** Brings a pose to a time. Joints without tracks are left alone. Past its end a looped clip goes on from its start. */
  sample(time: number, pose: Pose, options: { looped?: boolean } = {}): void {
    checkNames("options of a sample", options, ["looped"]);
    const { looped = false } = options;
    const { raw } = this;
    const to = own(this.engine, "the pose", Pose, pose);
    number("the time", time);
    this.engine.run(() => raw.sample(time, to, looped));
  }

  /**
   * Its tracks, as {@link Clip.from} takes them, with the joints' indices: for a three.js `AnimationClip`, for another instance of the
   * engine, or for a clip of another name.
   */
  tracks(): (ClipTrack & { joint: number; times: Float32Array; values: Float32Array })[] {
    const tracks = [];
    for (let i = 0; ; i++) {
      const numbers = this.raw.track(i);
      if (numbers === undefined) return tracks;
      const [joint, part, kind, count] = this.engine.exchange.numbers.subarray(OTHER, OTHER + 4) as unknown as [number, number, number, number];
      tracks.push({
        ...{ joint, part: PARTS[part]!, times: numbers.slice(0, count), values: numbers.slice(count) },
        interpolation: INTERPOLATIONS[kind]!,
      });
    }
  }

  /**
   * The clip without the keys that it does not need: every joint stays within a tolerance, in metres in model space, of where this clip has
   * it. One for all, or one for each joint of the skeleton. `rest` has the joints without tracks.
   */
  reduced(rest: Pose, tolerance: number | ArrayLike<number>): Clip {
    const { engine, raw, skeleton } = this;
    const given = own(engine, "the pose", Pose, rest);
    const each = typeof tolerance === "number" ? new Float32Array(skeleton.length).fill(tolerance) : floats("the tolerances", tolerance, 1);
    if (each.length !== skeleton.length) {
      throw new SinewError("type", `the tolerances must be one for each of ${skeleton.length} joints, not ${each.length}`);
    }
    return new Clip(engine, engine.run(() => raw.reduced(given, each)), skeleton);
  }

  /**
   * Takes the horizontal travel of a joint, the root or the pelvis, out of the clip, with its yaw unless that is false: a clip on the spot,
   * and the motion to put on the placement of the character.
   *
   * ```ts
   * const { clip: onTheSpot, motion } = walk.takeRootMotion(skeleton.rest(), "hips");
   * onTheSpot.sample(time, pose, { looped: true });
   * const { position, rotation } = motion.at(time, { looped: true });
   * ```
   */
  takeRootMotion(rest: Pose, joint: JointRef, options: { yaw?: boolean } = {}): { clip: Clip; motion: RootMotion } {
    checkNames("options of root motion", options, ["yaw"]);
    const { yaw = true } = options;
    const { engine, raw, skeleton } = this;
    const given = own(engine, "the pose", Pose, rest);
    const index = skeleton.index(joint);
    const taken = engine.run(() => raw.takeRootMotion(given, index, yaw));
    return { clip: new Clip(engine, taken.clip()!, skeleton), motion: new RootMotion(engine, taken) };
  }
}

/** The motion that was taken out of a clip, since its start: a displacement in the horizontal plane and a turn about y, in model space. */
export class RootMotion extends Owned<Glue.RawRootMotion> {
  /** @internal */
  constructor(engine: Engine, raw: Glue.RawRootMotion) {
    super(engine, raw);
  }

  /**
   * The motion from the clip's start to a time in seconds: a displacement in metres and a unit quaternion. Past its end a looped clip continues
   * from where it ended; others stay there.
   */
  at(time: number, options: { looped?: boolean } = {}): { position: Float32Array; rotation: Float32Array } {
    checkNames("options of root motion", options, ["looped"]);
    const { looped = false } = options;
    const { raw, engine } = this;
    number("the time", time);
    engine.run(() => raw.at(time, looped));
    const n = engine.exchange.numbers;
    return { position: Float32Array.from(n.subarray(OTHER, OTHER + 3)), rotation: Float32Array.from(n.subarray(OTHER + 3, OTHER + 7)) };
  }
}
