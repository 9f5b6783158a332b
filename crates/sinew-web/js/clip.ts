/** Clips: motions of a skeleton's joints. */

import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { floats, number } from "./exchange.js";
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
  values: ArrayLike<number>;
  /** How values follow between keys: in lines (the default) or in steps. */
  interpolation?: "linear" | "step";
}

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
          const [which, kind] = [["position", "rotation", "scale"].indexOf(part), ["step", "linear"].indexOf(interpolation)];
          if (which < 0) throw new SinewError("type", `a track's part must be "position", "rotation" or "scale", not ${describe(part)}`);
          if (kind < 0) throw new SinewError("type", `a track's interpolation must be "linear" or "step", not ${describe(interpolation)}`);
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
  sample(time: number, pose: Pose, { looped = false }: { looped?: boolean } = {}): void {
    const { raw } = this;
    const to = own(this.engine, "the pose", Pose, pose);
    number("the time", time);
    this.engine.run(() => raw.sample(time, to, looped));
  }
}
