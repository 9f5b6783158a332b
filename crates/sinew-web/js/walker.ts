/** Creatures with any number of legs that walk over ground by themselves. */

import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, number, optional, putVector, type Vector } from "./exchange.js";
import { putPlacement, skinned, type FigurePlacement, type FigureSkin } from "./foot_planter.js";
import { checkNames } from "./goal.js";
import { Ground } from "./ground.js";
import { Pose } from "./pose.js";
import type { JointRef, Skeleton } from "./skeleton.js";
import { wholeGlue, type Glue } from "./whole_glue.js";

/** What is known of a creature. */
export interface CreatureInput {
  /** First and last joint of each leg; without it, legs are found by the shape of the bind pose. */
  legs?: readonly (readonly [root: JointRef, tip: JointRef])[];
  /** Vertices of its mesh in the bind pose: they tell where its soles and its belly are. */
  skin?: FigureSkin;
}

/** A leg of a creature: joints by their indices. */
export interface CreatureLeg {
  /** The first joint, which the trunk carries. */
  root: number;
  /** The joint that is placed: its bone stands on the ground. */
  foot: number;
  /** The last joint. */
  tip: number;
  side: "left" | "right" | undefined;
}

/**
 * A gait: which leg lifts when. `walk` and `trot` are for four legs, `tripod` for six, `tetrapod` for eight, `wave` and `ripple` for any
 * number.
 */
export type Gait = "wave" | "ripple" | "tripod" | "tetrapod" | "walk" | "trot";

/** Options of a walk. Lengths are shares of the mean length of the legs. */
export interface WalkOptions {
  /** The gait; by default it is chosen by the number of legs and the speed. */
  gait?: Gait;
  /** Height of the trunk, times that at rest: 0.2 to 2; 1. */
  ride?: number;
  /** Height of a swing on level ground: 0 to 1; 0.12. */
  lift?: number;
  /** Amplitudes of the trunk's motion up and down, and from side to side on two legs a side: 0 to 0.2; 0.01 and 0.015. */
  bob?: number;
  sway?: number;
  /** Share of the ground's slope by which the trunk tilts: 0 to 1; 1. */
  tilt?: number;
  /** Steepest slope for a foot, in radians; 45 degrees. */
  maxSlope?: number;
  /** Rate at which the ground under the trunk is cast anew, per second: 1 to 30; 30. */
  castRate?: number;
  /**
   * Time constant in seconds with which trailing tails return to the pose. The moving trunk pulls them along. A third of a second looks
   * natural. 0 to 10; 0, at which tails stay with the trunk.
   */
  trail?: number;
}

/** Where a creature goes. */
export interface WalkCommand {
  /** In m/s in its own frame: x to its left, z ahead; y does not count. Standing by default. */
  velocity?: Vector;
  /** In rad/s about y: positive to the left; 0 by default. */
  turn?: number;
}

/** The report of a frame of a walk. */
export interface WalkReport {
  /** Where the creature is in the world: give it to the object that shows the pose. */
  placement: { position: [number, number, number]; rotation: [number, number, number, number]; scale: number };
  gait: Gait;
  /** Count of feet that stand. */
  standing: number;
  /** Share of the commanded velocity at which the trunk moves to stay in reach of its standing feet; 1 if it does not wait. */
  pace: number;
  /** The leg that the trunk waits for, by its index, and why its foot has found no place, if it has not. */
  waits: { leg: number; why: string | undefined } | undefined;
  /** The largest speed that the legs can step, in m/s, where the command was faster. */
  maxSpeed: number | undefined;
  /** Greatest distance of a foot from where it should be, in metres. */
  outOfReach: number;
}

/** A foot of a creature in the present frame. */
export interface WalkFoot {
  /** The middle of its sole, in world space. */
  position: [number, number, number];
  stands: boolean;
  /** Why it has found no place to step to, if it has not. */
  refused: string | undefined;
}

/** In the order of the engine's numbers. */
const OPTIONS = ["ride", "lift", "bob", "sway", "tilt", "maxSlope", "castRate", "trail"] as const;
const SIDES = ["left", "right", undefined] as const;

/** The first and last joints of legs, for the engine. @internal */
export function ends(skeleton: Skeleton, legs: CreatureInput["legs"] = []): Uint32Array {
  if (!Array.isArray(legs)) throw new SinewError("type", `the legs must be a list, not ${describe(legs)}`);
  return Uint32Array.from(
    (legs as readonly unknown[]).flatMap((leg) => {
      if (!Array.isArray(leg) || leg.length !== 2) throw new SinewError("type", `a leg must be its first and its last joint, not ${describe(leg)}`);
      return leg.map((joint: JointRef) => skeleton.index(joint));
    }),
  );
}

/** A creature on legs, as its bind pose shows it. */
export class Creature extends Owned<Glue.RawCreature> {
  /** @internal */
  static engine: Engine | undefined;
  readonly skeleton: Skeleton;
  /** Its legs, from front to rear. */
  readonly legs: readonly CreatureLeg[];
  /** Mean length of the legs, in metres. */
  readonly legLength: number;
  /** Heading of its front in the bind pose, in radians about y from z. */
  readonly heading: number;
  /** What was decided without certainty, in words. */
  readonly doubts: readonly string[];

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawCreature, skeleton: Skeleton) {
    super(engine, raw);
    this.skeleton = skeleton;
    this.legLength = raw.length;
    this.heading = raw.heading;
    this.doubts = raw.doubts();
    const numbers = raw.legs();
    this.legs = Array.from({ length: numbers.length / 4 }, (_, n) => {
      const [root, foot, tip, side] = numbers.subarray(4 * n, 4 * n + 4) as unknown as [number, number, number, 0 | 1 | 2];
      return { root, foot, tip, side: SIDES[side] };
    });
  }

  /** The creature in its bind pose. */
  static of(bind: Pose, input: CreatureInput = {}): Creature {
    const engine = engineOf(this);
    const pose = own(engine, "the bind pose", Pose, bind) as unknown as Glue.RawPose;
    checkNames("what is known of a creature", input, ["legs", "skin"]);
    const [joints, positions] = skinned(input.skin ?? { joints: [], positions: [] });
    const legs = ends(bind.skeleton, input.legs);
    return new Creature(engine, engine.run(() => new (wholeGlue(engine).RawCreature)(pose, legs, joints, positions)), bind.skeleton);
  }
}

/** The memory of one walking creature, of {@link Walker.state}. */
export class WalkState extends Owned<Glue.RawWalkState> {
  /** @internal */
  static engine: Engine | undefined;
  readonly #legs: number;

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawWalkState, legs: number) {
    super(engine, raw);
    this.#legs = legs;
  }

  /**
   * Sets how far the legs walk instead of moving as the pose has them: 0 (as the pose) to 1 (the walk; at first). Below 1, set the pose
   * from the clip before each frame.
   */
  setInfluence(influence: number): void {
    const { raw } = this;
    number("the influence", influence);
    this.engine.run(() => raw.setInfluence(influence));
  }

  /** The feet in the present frame, in the order of {@link Creature.legs}. */
  feet(): WalkFoot[] {
    const { raw, engine } = this;
    return Array.from({ length: this.#legs }, (_, leg) => {
      const refused = raw.why(leg);
      raw.foot(leg);
      const [x, y, z, stands] = engine.exchange.numbers.subarray(OTHER, OTHER + 4) as unknown as [number, number, number, number];
      return { position: [x, y, z], stands: stands === 1, refused };
    });
  }
}

/**
 * Moves a creature over ground on its legs, without a clip: feet step by a gait, stand where they land, and the trunk follows.
 *
 * ```ts
 * const walker = new Walker(Creature.of(bind));
 * const state = walker.state(); // one for each creature
 * // Each frame:
 * const { placement } = walker.step(state, pose, ground, dt, { velocity: [0, 0, 0.4], turn: 0.2 });
 * pose.applyTo(skinnedMesh);
 * skinnedMesh.position.fromArray(placement.position);
 * skinnedMesh.quaternion.fromArray(placement.rotation);
 * ```
 */
export class Walker extends Owned<Glue.RawWalker> {
  /** @internal */
  static engine: Engine | undefined;
  readonly creature: Creature;
  /** The largest speed straight ahead, in m/s at a scale of 1. */
  readonly maxSpeed: number;

  /** Creatures of one kind share a walker. */
  constructor(creature: Creature, options: WalkOptions = {}) {
    const engine = engineOf(new.target);
    const of = own(engine, "the creature", Creature, creature);
    checkNames("options of a walk", options, ["gait", ...OPTIONS]);
    const { gait } = options;
    if (gait !== undefined && typeof gait !== "string") throw new SinewError("type", `the gait must be a name, not ${describe(gait)}`);
    const n = engine.exchange.numbers;
    OPTIONS.forEach((name, i) => (n[OTHER + i] = optional(name, options[name])));
    super(engine, engine.run(() => new (wholeGlue(engine).RawWalker)(of, gait)));
    this.creature = creature;
    this.maxSpeed = this.raw.maxSpeed();
  }

  /** Memory for a creature that stands at a placement. */
  state(placement: FigurePlacement = {}): WalkState {
    const { engine, raw } = this;
    putPlacement(engine.exchange.numbers, placement);
    return new WalkState(engine, engine.run(() => raw.state()), this.creature.legs.length);
  }

  /** Puts a creature at another placement, where it stands: after a teleport. */
  reset(state: WalkState, placement: FigurePlacement = {}): void {
    const { engine, raw } = this;
    const of = own(engine, "the state", WalkState, state);
    putPlacement(engine.exchange.numbers, placement);
    engine.run(() => raw.reset(of));
  }

  /**
   * Walks for `dt` seconds. The pose receives the legs; its other joints stay as they are. The first frame stands the creature on the
   * ground, whatever `dt` is.
   */
  step(state: WalkState, pose: Pose, ground: Ground, dt: number, command: WalkCommand = {}): WalkReport {
    const { engine, raw } = this;
    const of = own(engine, "the state", WalkState, state);
    const to = own(engine, "the pose", Pose, pose) as unknown as Glue.RawPose;
    const floor = own(engine, "the ground", Ground, ground);
    number("dt", dt);
    checkNames("a command", command, ["velocity", "turn"]);
    const given = engine.exchange.numbers;
    putVector(given, OTHER, "the velocity", command.velocity ?? [0, 0, 0]);
    given[OTHER + 3] = number("the turn", command.turn ?? 0);
    const gait = engine.run(() => raw.step(of, to, floor, dt)) as Gait;
    const [x, y, z, i, j, k, w, scale, standing, pace, outOfReach, maxSpeed, leg] = engine.exchange.numbers.subarray(OTHER, OTHER + 13) as unknown as number[] as [
      number, number, number, number, number, number, number, number, number, number, number, number, number,
    ];
    return {
      placement: { position: [x, y, z], rotation: [i, j, k, w], scale },
      ...{ gait, standing, pace, outOfReach },
      waits: leg < 0 ? undefined : { leg, why: of.why(leg) },
      maxSpeed: Number.isNaN(maxSpeed) ? undefined : maxSpeed,
    };
  }
}
