/** A walk that is planted frame by frame, and written down. */

import type { Clip, Figure, Files, FootPlanterState, Ground, Model, Pose } from "sinew/files";

import { triple, type Xyz } from "../shapes.ts";

export const SIDES = ["left", "right"] as const;
/** Frames a second. */
export const RATE = 60;
/** Seconds by which the planter knows the walk in advance. */
export const AHEAD = 0.3;

/** What a reader can set. */
export interface Settings {
  castAbove: number;
  castBelow: number;
  offset: number;
  toeOut: number;
  pelvisRate: number;
  footRate: number;
  influence: number;
}

/** What is written down of a planted walk. */
export interface Planted {
  /** Rotations and positions of all joints, frame by frame. */
  rotations: Float32Array;
  positions: Float32Array;
  /** By side: whether the foot stands, and the height of its ball, frame by frame. */
  stands: readonly [Uint8Array, Uint8Array];
  heights: readonly [Float32Array, Float32Array];
  /** Vertical offset of the pelvis, frame by frame, in metres. */
  raise: Float32Array;
  /** Rays that were cast for each frame, seven numbers each. */
  rays: Float32Array[];
}

/** The built-in walk. */
export class Walk {
  readonly model: Model;
  readonly clip: Clip;
  readonly figure: Figure;
  readonly frames: number;
  readonly #pose: Pose;
  readonly #files: Files;

  constructor(files: Files) {
    this.#files = files;
    this.model = files.Model.mannequin();
    this.clip = this.model.clips[0]!;
    this.figure = this.model.figure();
    this.frames = Math.floor(this.clip.duration * RATE) + 1;
    this.#pose = this.model.skeleton.rest();
  }

  /** The joint of a role. */
  joint(role: string): number {
    return this.figure.body.joint(role);
  }

  /** Plants the walk on a ground. */
  plant(ground: Ground, settings: Settings): Planted {
    const { clip, figure, frames } = this;
    const pose = this.#pose;
    const { castAbove, castBelow, offset, toeOut, pelvisRate, footRate, influence } = settings;
    for (const side of SIDES) figure.setLeg(side, { soleHeight: offset, toeOut });
    const planter = new this.#files.FootPlanter(figure, { castAbove, castBelow, pelvisRate, footRate });
    let feet: FootPlanterState | undefined;
    const joints = this.model.skeleton.length;
    const made: Planted = {
      rotations: new Float32Array(4 * joints * frames),
      positions: new Float32Array(3 * joints * frames),
      stands: [new Uint8Array(frames), new Uint8Array(frames)],
      heights: [new Float32Array(frames), new Float32Array(frames)],
      raise: new Float32Array(frames),
      rays: [],
    };
    try {
      planter.learnFloor(clip).setLookAhead(AHEAD);
      feet = planter.state();
      feet.setInfluence(influence);
      const balls = SIDES.map((side) => this.joint(`${side} toes`));
      for (let frame = 0; frame < frames; frame++) {
        ground.keepRays();
        const { raise } = planter.stepWith(feet, ground, pose, 1 / RATE, (later, sampled) => clip.sample(frame / RATE + later, sampled));
        made.rays.push(ground.rays);
        made.rotations.set(pose.rotations, 4 * joints * frame);
        made.positions.set(pose.positions, 3 * joints * frame);
        made.raise[frame] = raise;
        for (const n of [0, 1] as const) {
          made.stands[n][frame] = feet.foot(SIDES[n]) === "standing" ? 1 : 0;
          made.heights[n][frame] = pose.model(balls[n]!).position[1]!;
        }
      }
    } finally {
      ground.keepRays(false);
      feet?.free();
      planter.free();
    }
    return made;
  }

  /** Brings a pose to a frame of a planted walk, or of the walk as it is. */
  show(pose: Pose, frame: number, planted: Planted | undefined): void {
    const joints = this.model.skeleton.length;
    if (planted === undefined) return this.clip.sample(frame / RATE, pose);
    pose.rotations.set(planted.rotations.subarray(4 * joints * frame, 4 * joints * (frame + 1)));
    pose.positions.set(planted.positions.subarray(3 * joints * frame, 3 * joints * (frame + 1)));
  }

  /** Where a joint of a pose is. */
  at(pose: Pose, role: string): Xyz {
    return triple(pose.model(this.joint(role)).position);
  }
}
