/** A creature that walks towards a point. */

import type { Creature, Files, Ground, Model, Pose, WalkCommand, Walker, WalkReport, WalkState } from "sinew/files";

/** Frames a second. */
export const RATE = 60;
/** Frames that the programs of the page walk. */
export const FRAMES = 240;
/** Time in which what trails behind its legs comes back, in seconds, and the time after which it is seen no more to move. */
export const TRAIL = 0.3;
const SETTLES = 5 * TRAIL;
/** Footprints that are kept. */
const PRINTS = 120;

/** What a reader can set. */
export interface Settings {
  legs: "4" | "6" | "8";
  ride: number;
  lift: number;
}

/** The velocity and the turn that lead to a point: slower and slower within half a metre of it, and turning towards it meanwhile. */
export function towards({ position, rotation: [i, j, k, w] }: WalkReport["placement"], [x, z]: readonly [number, number], speed: number): Required<WalkCommand> {
  // The creature's front on the ground.
  const [fx, fz] = [2 * (i * k + w * j), 1 - 2 * (i * i + j * j)];
  const front = Math.hypot(fx, fz);
  const [dx, dz] = [x - position[0], z - position[2]];
  const [ahead, left] = [(dx * fx + dz * fz) / front, (dx * fz - dz * fx) / front];
  const distance = Math.hypot(ahead, left);
  const share = distance > 0 ? Math.min(speed, 2 * distance * speed) / distance : 0;
  const turn = Math.min(Math.max(2 * Math.atan2(left, ahead), -0.9), 0.9) * Math.min(1, distance / 0.3);
  // It stands where it has arrived.
  const near = distance < 0.02;
  return { velocity: near ? [0, 0, 0] : [share * left, 0, share * ahead], turn: near ? 0 : turn };
}

/** Where a foot came down. */
export interface Print {
  at: [number, number, number];
  left: boolean;
}

/** A creature on a ground, from its start on. */
export class Crawl {
  readonly model: Model;
  readonly pose: Pose;
  readonly prints: Print[] = [];
  readonly creature: Creature;
  readonly ground: Ground;
  report: WalkReport;
  feet: ReturnType<WalkState["feet"]>;
  #walker: Walker;
  readonly #files: Files;
  readonly #state: WalkState;
  /** Seconds for which it has stood. */
  #stood = 0;

  constructor(files: Files, { legs, ride, lift }: Settings, ground: Ground) {
    this.#files = files;
    this.model = files.Model.crawler(Number(legs));
    this.creature = this.model.creature();
    this.ground = ground;
    this.pose = this.model.skeleton.rest();
    this.#walker = new files.Walker(this.creature, { ride, lift, trail: TRAIL });
    this.#state = this.#walker.state();
    this.report = this.#walker.step(this.#state, this.pose, ground, 0);
    this.feet = this.#state.feet();
  }

  /** Sets how it walks from now on. */
  set({ ride, lift }: Pick<Settings, "ride" | "lift">): void {
    const before = this.#walker;
    this.#walker = new this.#files.Walker(this.creature, { ride, lift, trail: TRAIL });
    before.free();
  }

  /** Walks on towards a point for some seconds. */
  step(seconds: number, target: readonly [number, number], speed: number): void {
    this.report = this.#walker.step(this.#state, this.pose, this.ground, seconds, towards(this.report.placement, target, speed));
    const feet = this.#state.feet();
    this.#stood = feet.every(({ stands }) => stands) ? this.#stood + seconds : 0;
    feet.forEach(({ stands, position }, n) => {
      if (stands && !this.feet[n]!.stands) this.prints.push({ at: position, left: this.creature.legs[n]!.side === "left" });
    });
    this.prints.splice(0, this.prints.length - PRINTS);
    this.feet = feet;
  }

  /** Whether it has arrived and stands. */
  rests(target: readonly [number, number]): boolean {
    const { velocity, turn } = towards(this.report.placement, target, 1);
    return turn === 0 && [...(velocity as number[])].every((v) => v === 0) && this.#stood >= SETTLES;
  }

  free(): void {
    for (const object of [this.#state, this.#walker, this.creature, this.pose, this.model]) object.free();
  }
}
