/** Feet planted on the ground, frame by frame. */

import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, floats, number, optional, putRotation, putVector, type Rotation, type Vector } from "./exchange.js";
import { Body } from "./body.js";
import { Clip } from "./clip.js";
import { checkNames } from "./goal.js";
import { Ground } from "./ground.js";
import { Pose } from "./pose.js";
import type { Skeleton } from "./skeleton.js";
import { wholeGlue, type Glue } from "./whole_glue.js";

/**
 * Vertices of a mesh in the bind pose: the joint of largest weight of each, and its position in model space. They tell where the soles
 * are.
 */
export interface FigureSkin {
  joints: ArrayLike<number>;
  positions: ArrayLike<number>;
}

/** How a leg is planted. */
export interface LegOptions {
  /** Height of the planted sole above the ground, in metres; 0 by default. */
  soleHeight?: number;
  /** Turn of the planted foot outwards, in radians; 0 by default. */
  toeOut?: number;
  /** Influence of planting on the leg, 0 to 1; 1 by default. */
  influence?: number;
  /** Whether the foot lies along the ground (the default) or stays level. */
  followsSlope?: boolean;
}

/**
 * Options of planting. Lengths are shares of the leg's, or in metres for a figure of 1.8 m, and scale with the figure; angles are in
 * radians, rates in hertz, times in seconds.
 */
export interface PlantOptions {
  /** Greatest height and speed at which a heel or ball comes into contact: a share of the leg, 0.05; m/s, 0.3. */
  contactHeight?: number;
  contactSpeed?: number;
  /** Factor on both beyond which a contact ends; 1.2. */
  release?: number;
  /** Highest step up, where casts start, and deepest step down, as shares of the leg; 0.6 and 0.8. */
  castAbove?: number;
  castBelow?: number;
  /** Steepest slope that a foot lies along; 45 degrees. */
  maxSlope?: number;
  /** Greatest distance by which a foothold over an edge is moved, in metres; 0.145. */
  maxShift?: number;
  /** Share of the sole that a foothold should support; 0.6. */
  support?: number;
  /** Clearance of a swinging foot, in metres; 0.02. */
  clearance?: number;
  /** Knee flexion that planting keeps; 15 degrees. */
  minFlexion?: number;
  /** Rates at which the pelvis follows, and a foot settles; 1.5 and 4. */
  pelvisRate?: number;
  footRate?: number;
  /** Times in which planting fades out and in when the figure leaves the ground and returns; 0.2 and 0.15. */
  leavingTime?: number;
  landingTime?: number;
}

/** Where a figure stands in the world. */
export interface FigurePlacement {
  /** In metres; 0 by default. Its height comes from the ground. */
  position?: Vector;
  rotation?: Rotation;
  /** World metres per metre of model space; 1 by default. */
  scale?: number;
}

/** The report of a planted frame. */
export interface FootPlanterReport {
  /** Vertical offset of the pelvis from the animation, in metres. */
  raise: number;
  /** Greatest distance of an ankle from where it should be, in metres. */
  outOfReach: number;
  /** Count of feet that stand. */
  standing: number;
}

/** A foot in the air, one that stands, or one that is in contact in the animation and has no foothold. */
export type FootState = "air" | "standing" | "refused";

/** In the order of the engine's numbers. */
const OPTIONS: readonly (keyof PlantOptions)[] = [
  ...(["contactHeight", "contactSpeed", "release", "castAbove", "castBelow", "maxSlope", "maxShift", "support"] as const),
  ...(["clearance", "minFlexion", "pelvisRate", "footRate", "leavingTime", "landingTime"] as const),
];
const SIDES = ["left", "right"] as const;
const FEET: readonly FootState[] = ["air", "standing", "refused"];

/** Joints and positions of a skin, for the engine. @internal */
export function skinned(skin: FigureSkin): [Uint32Array, Float32Array] {
  checkNames("the skin", skin, ["joints", "positions"]);
  const joints = Uint32Array.from(skin.joints ?? []);
  const positions = floats("the skin's positions", skin.positions, 3);
  if (positions.length !== 3 * joints.length) {
    throw new SinewError("type", `the skin has ${joints.length} joints for ${positions.length / 3} positions`);
  }
  return [joints, positions];
}

/** Writes the options of planting. @internal */
export function putPlantOptions(n: Float64Array, options: PlantOptions): void {
  checkNames("options of planting", options, OPTIONS);
  OPTIONS.forEach((name, i) => (n[OTHER + i] = optional(name, options[name])));
}

/** A body whose feet can be planted: where its soles are, and how its legs are planted. */
export class Figure extends Owned<Glue.RawFigure> {
  /** @internal */
  static engine: Engine | undefined;
  /** The body. */
  readonly body: Body;
  /** Length of a leg from hip to ankle, and height of the figure, in metres. */
  readonly legLength: number;
  readonly height: number;

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawFigure, body: Body) {
    super(engine, raw);
    this.body = body;
    this.legLength = raw.legLength;
    this.height = raw.height;
  }

  /** The figure of a body. Without a skin its soles have a person's proportions, or come from the joints of its feet. */
  static of(body: Body, skin: FigureSkin = { joints: [], positions: [] }): Figure {
    const engine = engineOf(this);
    const of = own(engine, "the body", Body, body);
    const [joints, positions] = skinned(skin);
    return new Figure(engine, engine.run(() => new (wholeGlue(engine).RawFigure)(of, joints, positions)), body);
  }

  /** Sets how a leg is planted. A {@link FootPlanter} takes what is set when it is made. */
  setLeg(side: "left" | "right", options: LegOptions): this {
    const { raw } = this;
    checkNames("options of a leg", options, ["soleHeight", "toeOut", "influence", "followsSlope"]);
    const { soleHeight = 0, toeOut = 0, influence = 1, followsSlope = true } = options;
    const finite = (what: string, given: number, least: number, most: number): number => {
      const value = number(what, given);
      if (!(value >= least && value <= most)) throw new SinewError("input", `${what} must be from ${least} to ${most}, not ${value}`);
      return value;
    };
    const n = this.engine.exchange.numbers;
    n[OTHER] = finite("soleHeight", soleHeight, -this.legLength, this.legLength);
    n[OTHER + 1] = finite("toeOut", toeOut, -Math.PI, Math.PI);
    n[OTHER + 2] = finite("influence", influence, 0, 1);
    n[OTHER + 3] = followsSlope ? 1 : 0;
    raw.setLeg(leg(side));
    return this;
  }
}

/** Index of a leg. @internal */
export function leg(side: "left" | "right"): number {
  const index = SIDES.indexOf(side);
  if (index < 0) throw new SinewError("type", `the side must be "left" or "right", not ${describe(side)}`);
  return index;
}

/** The memory of one figure's feet, of {@link FootPlanter.state}. */
export class FootPlanterState extends Owned<Glue.RawFootPlanterState> {
  /** @internal */
  static engine: Engine | undefined;
  /** What a sampler brings to a time. */
  readonly #sampled: Pose;

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawFootPlanterState, sampled: Pose) {
    super(engine, raw);
    this.#sampled = sampled;
  }

  /** @internal */
  get sampled(): Pose {
    return this.#sampled;
  }

  override free(): void {
    super.free();
    this.#sampled.free();
  }

  /** Sets how much of planting shows, 0 (the animation) to 1. It applies at once. */
  setInfluence(influence: number): void {
    const { raw } = this;
    number("the influence", influence);
    this.engine.run(() => raw.setInfluence(influence));
  }

  /** Tells whether the figure is on the ground: false in jumps, falls and ragdolls. */
  setGrounded(grounded: boolean): void {
    this.raw.setGrounded(Boolean(grounded));
  }

  /** Sets the contact of a foot from now on, 0 (in the air) to 1 (standing); undefined detects it again. */
  setContact(side: "left" | "right", contact: number | undefined): void {
    const { raw } = this;
    const [index, value] = [leg(side), optional("the contact", contact)];
    this.engine.run(() => raw.setContact(index, value));
  }

  /** State of a foot. */
  foot(side: "left" | "right"): FootState {
    return FEET[this.raw.foot(leg(side))]!;
  }

  /** Why a foot is refused; undefined for others. */
  why(side: "left" | "right"): string | undefined {
    return this.raw.why(leg(side));
  }

  /** Forgets the past motion, as after a teleport. */
  reset(): void {
    this.raw.reset();
  }
}

/** Brings a pose to the time of the animation that is `later` seconds after the frame, and says where the figure stands then. */
export type FrameSampler = (later: number, pose: Pose) => FigurePlacement | void;

/**
 * Plants feet frame by frame: standing feet are held on the ground, and the pelvis follows.
 *
 * ```ts
 * const figure = Figure.of(Body.find(skeleton.rest()));
 * const planter = new FootPlanter(figure);
 * planter.learnFloor(walk);
 * const feet = planter.state(); // one for each character
 * // Each frame:
 * planter.stepWith(feet, ground, pose, dt, (later, pose) => {
 *   walk.sample(time + later, pose, { looped: true });
 *   return { position };
 * });
 * ```
 */
export class FootPlanter extends Owned<Glue.RawFootPlanter> {
  /** @internal */
  static engine: Engine | undefined;
  readonly skeleton: Skeleton;

  /** For a figure as it is set now. Characters of one kind share a planter. */
  constructor(figure: Figure, options: PlantOptions = {}) {
    const engine = engineOf(new.target);
    const of = own(engine, "the figure", Figure, figure);
    putPlantOptions(engine.exchange.numbers, options);
    super(engine, engine.run(() => new (wholeGlue(engine).RawFootPlanter)(of)));
    this.skeleton = figure.body.skeleton;
  }

  /** Finds the floor for which a clip was made, as some float and others sink. `rest` has the joints that the clip does not move. */
  learnFloor(clip: Clip, rest?: Pose): this {
    const { engine, raw } = this;
    const of = own(engine, "the clip", Clip, clip);
    const pose = rest ?? this.skeleton.rest();
    try {
      const given = own(engine, "the pose", Pose, pose);
      engine.run(() => raw.learnFloor(of, given));
    } finally {
      if (rest === undefined) pose.free();
    }
    return this;
  }

  /** Sets the seconds by which {@link FootPlanter.stepWith} knows the animation in advance; 0 at first. */
  setLookAhead(seconds: number): this {
    const { raw } = this;
    number("the seconds", seconds);
    this.engine.run(() => raw.setLookAhead(seconds));
    return this;
  }

  /** Memory for one character's feet. */
  state(): FootPlanterState {
    const { engine, raw } = this;
    const sampled = this.skeleton.rest();
    return new FootPlanterState(engine, raw.state(sampled.raw), sampled);
  }

  /** Plants a pose that holds the animation's frame, `dt` seconds after the last one. */
  step(feet: FootPlanterState, ground: Ground, pose: Pose, dt: number, placement?: FigurePlacement): FootPlanterReport {
    const { engine, raw } = this;
    const [state, floor, to] = this.#given(feet, ground, pose, dt);
    putPlacement(engine.exchange.numbers, placement ?? {});
    engine.run(() => raw.step(state, floor, to, dt));
    return planted(engine);
  }

  /**
   * Plants the frame that the sampler gives at 0. The sampler is asked for other times too, those of a clock of 30 ticks a second, so
   * that the same numbers decide at every frame rate, and for later ones where there is look-ahead. The pose that it is given is not
   * `pose`.
   */
  stepWith(feet: FootPlanterState, ground: Ground, pose: Pose, dt: number, sample: FrameSampler): FootPlanterReport {
    const { engine, raw } = this;
    const [state, floor, to] = this.#given(feet, ground, pose, dt);
    if (typeof sample !== "function") throw new SinewError("type", `the sampler must be a function, not ${describe(sample)}`);
    const { sampled } = feet;
    const at = (later: number) => sample(later, sampled);
    sampler(engine, at, (sampler) => raw.stepWith(state, floor, to, dt, sampler));
    return planted(engine);
  }

  #given(feet: FootPlanterState, ground: Ground, pose: Pose, dt: number): [Glue.RawFootPlanterState, Glue.RawGround, Glue.RawPose] {
    const { engine } = this;
    number("dt", dt);
    return [
      own(engine, "the state", FootPlanterState, feet),
      own(engine, "the ground", Ground, ground),
      own(engine, "the pose", Pose, pose) as unknown as Glue.RawPose,
    ];
  }
}

/**
 * Runs a call into the module that samples an animation. What the caller's function returns is the placement; what it throws is the
 * caller's, and comes out as it is.
 * @internal
 */
export function sampler<T>(engine: Engine, sample: (time: number) => FigurePlacement | void, call: (sampler: { at(time: number): void }) => T): T {
  let thrown: unknown;
  let failed = false;
  const guarded = {
    at: (time: number): void => {
      try {
        if (!failed) {
          const placement = sample(time) ?? {};
          putPlacement(engine.exchange.numbers, placement);
        }
      } catch (error) {
        [failed, thrown] = [true, error];
      }
      if (failed) throw new Error("the sampler failed");
    },
  };
  try {
    return engine.run(() => call(guarded));
  } catch (error) {
    throw failed ? thrown : error;
  }
}

const ORIGIN = [0, 0, 0];
const UPRIGHT = [0, 0, 0, 1];

/** Writes a placement. @internal */
export function putPlacement(n: Float64Array, { position = ORIGIN, rotation = UPRIGHT, scale = 1 }: FigurePlacement): void {
  putVector(n, OTHER, "the placement's position", position);
  putRotation(n, OTHER + 3, "the placement's rotation", rotation);
  n[OTHER + 7] = n[OTHER + 8] = n[OTHER + 9] = number("the placement's scale", scale);
}

/** Reads a report. @internal */
export function planted(engine: Engine): FootPlanterReport {
  const n = engine.exchange.numbers;
  return { raise: n[OTHER]!, outOfReach: n[OTHER + 1]!, standing: n[OTHER + 2]! };
}
