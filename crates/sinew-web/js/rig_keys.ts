/** Keys of a rig: its goals and joints over time, edits with undo, recording, mirroring. */

import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, number, putRotation, putVector, type Rotation, type Vector } from "./exchange.js";
import { Body } from "./body.js";
import { type FigurePlacement, putPlacement, sampler } from "./foot_planter.js";
import { checkNames } from "./goal.js";
import { Pose } from "./pose.js";
import { type GoalSpace, Rig, type RigGoal, type RigGoals, putSpace, takeSpace } from "./rig.js";
import type { JointRef } from "./skeleton.js";
import { wholeGlue, type Glue } from "./whole_glue.js";

/** In the order of the engine's numbers. */
const CHANNELS = [
  ...(["space", "poleSpace", "position", "rotation", "swivel", "pole", "roll", "bank", "pivot", "upperTurn", "middleTurn"] as const),
  ...(["positionInfluence", "rotationInfluence", "localTranslation", "localRotation"] as const),
] as const;
const INTERPOLATIONS = ["step", "linear", "smooth"] as const;

/** A part of a goal that has keys of its own, or of a joint: `localTranslation` and `localRotation`. */
export type KeyChannel = (typeof CHANNELS)[number];

/** The curve from a key to the next one: held, linear (of rotations along the shorter arc), or smooth (the default). */
export type KeyInterpolation = (typeof INTERPOLATIONS)[number];

/** Value of a key: three numbers, a unit quaternion, an angle in radians or an influence, or a space. */
export type KeyValue = Vector | Rotation | number | GoalSpace;

/** Where a key is. */
export interface KeyAddress {
  /** Name of the goal; a joint has its keys instead. */
  goal?: string;
  joint?: JointRef;
  channel: KeyChannel;
  /** Space of a position, a rotation, a swivel or a pole; that of the goal at the time by default. */
  space?: GoalSpace;
  /** Number of the stay in that space; 0 by default. */
  stay?: number;
  /** Time in seconds. */
  time: number;
}

/** A key that is set, or deleted where the value is null. */
export interface KeyChange extends KeyAddress {
  value: KeyValue | null;
  /** Stay of a value that is a space; 0 by default. */
  valueStay?: number;
  interpolation?: KeyInterpolation;
  /** Rates of change per second into and out of the key; automatic by default. */
  slopes?: readonly [KeyValue, KeyValue];
}

/** How {@link RigKeys.record} decides what has changed. */
export interface RecorderOptions {
  /** Thresholds in metres, in radians, and of influences; 1e-4, 1e-4 and 1e-3. */
  distance?: number;
  angle?: number;
  influence?: number;
  /** Time at which parts without keys keep their values; 0 by default. */
  start?: number;
  /** Of new keys; `smooth` by default. */
  interpolation?: KeyInterpolation;
}

const CHANGE_NAMES = ["goal", "joint", "channel", "space", "stay", "time", "value", "valueStay", "interpolation", "slopes"];
const VECTORS: readonly KeyChannel[] = ["position", "pole", "localTranslation"];
const ROTATIONS: readonly KeyChannel[] = ["rotation", "upperTurn", "middleTurn", "localRotation"];
const SPACES: readonly KeyChannel[] = ["space", "poleSpace"];
/** Places of a change, as `src/rig_keys.rs` has them. */
const [OWNER, CHANNEL, SPACE, TIME, KIND, VALUE, INTERPOLATION, SLOPES] = [0, 2, 3, 6, 7, 8, 12, 13].map((at) => OTHER + at) as [
  ...[number, number, number, number],
  ...[number, number, number, number],
];

/**
 * Keys of a rig's goals, and of joints that are animated by themselves. They change by {@link edit}, which applies any number of changes,
 * all or none of them, and returns the changes that undo it.
 *
 * ```ts
 * const keys = new RigKeys(rig);
 * const undo = keys.edit([
 *   { goal: "left hand", channel: "position", time: 0, value: [0.3, 1.2, 0.2] },
 *   { goal: "left hand", channel: "position", time: 1, value: [0.3, 1.6, 0.3] },
 * ]);
 * keys.edit(keys.retime(() => true, { scale: 2 })); // twice as long
 * // Each frame:
 * keys.samplePose(time, pose);
 * rig.apply(state, pose, dt, keys.sample(time));
 * ```
 */
export class RigKeys extends Owned<Glue.RawRigKeys> {
  /** @internal */
  static engine: Engine | undefined;
  readonly rig: Rig;

  /** No keys. */
  constructor(rig: Rig) {
    // Those that a model reads are of the base class, as what others of the package make.
    const engine = new.target === RigKeys && rig instanceof Rig ? rig.engine : engineOf(new.target);
    const of = own(engine, "the rig", Rig, rig);
    super(engine, new (wholeGlue(engine).RawRigKeys)(of));
    this.rig = rig;
  }

  /** Sets and deletes keys, all or none. Returns the changes that undo it. */
  edit(changes: readonly KeyChange[]): KeyChange[] {
    const { engine, raw } = this;
    const rig = own(engine, "the rig", Rig, this.rig);
    if (!Array.isArray(changes)) throw new SinewError("type", `an edit must be a list of changes, not ${describe(changes)}`);
    raw.begin();
    for (const change of changes as readonly KeyChange[]) {
      this.#put(change);
      engine.run(() => raw.change(rig));
    }
    engine.run(() => raw.edit());
    return this.#take();
  }

  /** All keys. */
  keys(): KeyChange[] {
    this.raw.all();
    return this.#take();
  }

  /** The changes that move the selected keys to `time * scale + shift`, all at once. Others at their new times are replaced. */
  retime(select: (key: KeyChange) => boolean, to: { scale?: number; shift?: number }): KeyChange[] {
    const { engine, raw } = this;
    checkNames("new times", to, ["scale", "shift"]);
    const { scale = 1, shift = 0 } = to;
    const moved = this.#selected(select);
    number("the scale", scale);
    number("the shift", shift);
    engine.run(() => raw.retime(moved, scale, shift));
    return this.#take();
  }

  /** The changes that move the selected keys to the nearest frames of a rate, in frames per second. */
  snap(select: (key: KeyChange) => boolean, fps: number): KeyChange[] {
    const { engine, raw } = this;
    const moved = this.#selected(select);
    number("the rate", fps);
    engine.run(() => raw.snap(moved, fps));
    return this.#take();
  }

  /**
   * The changes that key at a time what an interaction has changed in the goals (auto key). A part without keys gets a key at
   * {@link RecorderOptions.start} too, with its value before.
   */
  record(time: number, before: RigGoals, after: RigGoals, options: RecorderOptions = {}): KeyChange[] {
    const { engine, raw, rig } = this;
    number("the time", time);
    raw.setBefore(rig.put(before));
    const to = rig.put(after);
    this.#putRecorder(options);
    engine.run(() => raw.record(to, time));
    return this.#take();
  }

  /** The changes that key at a time what an interaction has changed in local translations and rotations of joints. */
  recordJoints(time: number, before: Pose, after: Pose, options: RecorderOptions = {}): KeyChange[] {
    const { engine, raw } = this;
    number("the time", time);
    const [from, to] = [own(engine, "the pose before", Pose, before), own(engine, "the pose after", Pose, after)] as unknown as [Glue.RawPose, Glue.RawPose];
    if (from === to) return [];
    this.#putRecorder(options);
    engine.run(() => raw.recordJoints(from, to, time));
    return this.#take();
  }

  /**
   * The changes that bring a goal (or its pole) to a space from a time on, so that it stays where it is. `at` brings the pose to a time, as
   * {@link Rig.apply} leaves it then, and says where the figure stands.
   */
  changeSpace(
    goal: string,
    time: number,
    to: GoalSpace,
    at: (time: number, pose: Pose) => FigurePlacement | void,
    options: { pole?: boolean } = {},
  ): KeyChange[] {
    const { engine, raw, rig } = this;
    checkNames("options of a change of space", options, ["pole"]);
    const { pole = false } = options;
    const [of, index] = [own(engine, "the rig", Rig, rig), rig.goal(goal)];
    number("the time", time);
    if (typeof at !== "function") throw new SinewError("type", `what samples must be a function, not ${describe(at)}`);
    const state = rig.state();
    try {
      putSpace(engine, rig.skeleton, OTHER + 10, "the space", to);
      const own = state.raw;
      sampler(engine, (later) => at(later, state.sampled), (sampler) => raw.changeSpace(of, index, time, pole, own, sampler));
      return this.#take();
    } finally {
      state.free();
    }
  }

  /** Time of the first and of the last key; undefined without keys. */
  get span(): readonly [number, number] | undefined {
    this.raw.span();
    const n = this.engine.exchange.numbers;
    const [from, to] = [n[OTHER]!, n[OTHER + 1]!];
    return Number.isNaN(from) ? undefined : [from, to];
  }

  /** The goals at a time: parts with keys, and what `goals` has of the others. */
  sample(time: number, goals: RigGoals = {}): Record<string, RigGoal> {
    const { engine, raw, rig } = this;
    number("the time", time);
    const to = rig.put(goals);
    engine.run(() => raw.sample(to, time));
    return rig.take();
  }

  /** Brings the joints that have keys to a time. */
  samplePose(time: number, pose: Pose): void {
    const { engine, raw } = this;
    number("the time", time);
    const to = own(engine, "the pose", Pose, pose) as unknown as Glue.RawPose;
    engine.run(() => raw.samplePose(to, time));
  }

  #selected(select: (key: KeyChange) => boolean): Uint8Array {
    if (typeof select !== "function") throw new SinewError("type", `what selects keys must be a function, not ${describe(select)}`);
    return Uint8Array.from(this.keys(), (key) => (select(key) ? 1 : 0));
  }

  #putRecorder(options: RecorderOptions): void {
    checkNames("options of recording", options, ["distance", "angle", "influence", "start", "interpolation"]);
    const { distance = 1e-4, angle = 1e-4, influence = 1e-3, start = 0, interpolation = "smooth" } = options;
    const n = this.engine.exchange.numbers;
    n[OTHER] = number("distance", distance);
    n[OTHER + 1] = number("angle", angle);
    n[OTHER + 2] = number("influence", influence);
    n[OTHER + 3] = number("start", start);
    n[OTHER + 4] = numbered("the interpolation", INTERPOLATIONS, interpolation);
  }

  #put(change: KeyChange): void {
    const { engine, rig } = this;
    checkNames("a key", change, CHANGE_NAMES);
    const { goal, joint, channel, space, stay = 0, time, value, valueStay = 0, interpolation = "smooth", slopes } = change;
    if ((goal === undefined) === (joint === undefined)) throw new SinewError("type", "a key must have either a goal or a joint");
    const index = goal === undefined ? rig.skeleton.index(joint!) : rig.goal(goal);
    const number_ = numbered("the channel of a key", CHANNELS, channel);
    const put = (at: number, value: KeyValue) => {
      const n = engine.exchange.numbers;
      if (VECTORS.includes(channel)) putVector(n, at, `the ${channel}`, value as Vector);
      else if (ROTATIONS.includes(channel)) putRotation(n, at, `the ${channel}`, value as Rotation);
      else if (SPACES.includes(channel)) {
        putSpace(engine, rig.skeleton, at, `the ${channel}`, (value ?? undefined) as GoalSpace);
        n[at + 2] = number("valueStay", valueStay);
      } else n[at] = number(`the ${channel}`, value);
    };
    putSpace(engine, rig.skeleton, SPACE, "the space of a key", space);
    const n = engine.exchange.numbers;
    n[OWNER] = goal === undefined ? 1 : 0;
    n[OWNER + 1] = index;
    n[CHANNEL] = number_;
    n[SPACE + 2] = number("the stay of a key", stay);
    n[TIME] = number("the time of a key", time);
    n[KIND] = value === null ? -1 : VECTORS.includes(channel) ? 0 : ROTATIONS.includes(channel) ? 1 : SPACES.includes(channel) ? 3 : 2;
    if (value === null) return;
    put(VALUE, value);
    n[INTERPOLATION] = numbered("the interpolation", INTERPOLATIONS, interpolation);
    n[SLOPES] = slopes === undefined ? 0 : 1;
    if (slopes !== undefined) {
      put(SLOPES + 1, slopes[0]);
      put(SLOPES + 5, slopes[1]);
    }
  }

  /** The engine's result. */
  #take(): KeyChange[] {
    const { engine, raw, rig } = this;
    return Array.from({ length: raw.count() }, (_, index): KeyChange => {
      raw.leave(index);
      const n = engine.exchange.numbers;
      const take = (at: number): KeyValue => {
        if (n[KIND] === 2) return n[at]!;
        if (n[KIND] === 3) return takeSpace(engine, at)!;
        return Array.from(n.subarray(at, at + (n[KIND] === 0 ? 3 : 4)));
      };
      const owner = n[OWNER] === 1 ? { joint: n[OWNER + 1]! } : { goal: rig.goals[n[OWNER + 1]!]! };
      const change: KeyChange = { ...owner, channel: CHANNELS[n[CHANNEL]!]!, time: n[TIME]!, value: null };
      const space = takeSpace(engine, SPACE);
      if (space !== undefined) change.space = space;
      if (n[SPACE + 2] !== 0) change.stay = n[SPACE + 2]!;
      if (n[KIND]! < 0) return change;
      change.value = take(VALUE);
      if (n[KIND] === 3 && n[VALUE + 2] !== 0) change.valueStay = n[VALUE + 2]!;
      change.interpolation = INTERPOLATIONS[n[INTERPOLATION]!]!;
      if (n[SLOPES] !== 0) change.slopes = [take(SLOPES + 1), take(SLOPES + 5)];
      return change;
    });
  }

  /** @internal */
  mirrored(mirror: Glue.RawMirror, side: number): KeyChange[] {
    const { engine, raw } = this;
    engine.run(() => raw.mirror(mirror, side));
    return this.#take();
  }
}

function numbered<T extends string>(what: string, known: readonly T[], given: T): number {
  const index = known.indexOf(given);
  if (index < 0) throw new SinewError("type", `${what} must be one of ${known.map((name) => `"${name}"`).join(", ")}, not ${describe(given)}`);
  return index;
}

/** Mirrors goals and keys of a rig from one side of a figure to the other. Mirroring twice gives what was there. */
export class Mirror extends Owned<Glue.RawMirror> {
  /** @internal */
  static engine: Engine | undefined;
  readonly rig: Rig;

  /** By the roles of a body; by words for left and right in names, where there is only the bind pose. */
  constructor(rig: Rig, of: Body | Pose) {
    const engine = engineOf(new.target);
    const { RawMirror } = wholeGlue(engine);
    const raw = own(engine, "the rig", Rig, rig);
    const made = () =>
      of instanceof Body
        ? RawMirror.ofBody(raw, own(engine, "the body", Body, of))
        : new RawMirror(raw, own(engine, "the pose", Pose, of) as unknown as Glue.RawPose);
    super(engine, engine.run(made));
    this.rig = rig;
  }

  /** The goals of a frame on the other side. */
  goals(goals: RigGoals, placement: FigurePlacement = {}): Record<string, RigGoal> {
    const { engine, raw, rig } = this;
    const put = rig.put(goals);
    putPlacement(engine.exchange.numbers, placement);
    engine.run(() => raw.goals(put));
    return rig.take();
  }

  /** The changes that mirror all keys: both sides change places, or those of one are copied to the other. */
  keys(keys: RigKeys, from?: "left" | "right", placement: FigurePlacement = {}): KeyChange[] {
    own(this.engine, "the keys", RigKeys, keys);
    const side = from === undefined ? 0 : 1 + numbered("the side", ["left", "right"], from);
    putPlacement(this.engine.exchange.numbers, placement);
    return keys.mirrored(this.raw, side);
  }
}
