/** Chains in the plane that handles of a rig lead. */

import type { Curve, Files, HandleSolver, KeyChange, Pose, Rig, RigKeys, RigState, Skeleton, StartFrom } from "sinew/files";

import { apart } from "../figure/format.ts";
import { chainSkeleton, offsets } from "../solvers/methods.ts";
import { points, type Xy, type Xyz } from "../shapes.ts";

/** A key of the goal: its time in seconds, and where. */
export type GoalKey = readonly [time: number, x: number, y: number];

/** Name of the handle, and of its goal. */
export const NAME = "tail";

/** How a chain is led. */
export interface Led {
  joints: readonly Xyz[];
  solver: HandleSolver;
  from: StartFrom;
}

/** Six bones, in a bow. */
export const SIX: readonly Xyz[] = offsets(6, 0.25, 0.24);
/** Two bones of the same length together, which bend to the same side. */
export const TWO: readonly Xyz[] = [[0, 0, 0], [0.4, 0.63, 0], [0.62, -0.42, 0]];

/** A chain, its rig, and the figure's memory. */
export class LedChain {
  readonly led: Led;
  readonly rig: Rig;
  readonly #skeleton: Skeleton;
  readonly #state: RigState;
  readonly #pose: Pose;
  /** The curve that a spline handle lays its chain along: through the base, the middle and the goal. */
  readonly curve: Curve | undefined;
  points: readonly Xyz[];

  constructor(files: Files, led: Led) {
    this.led = led;
    const { joints, solver, from } = led;
    this.#skeleton = chainSkeleton(files, joints);
    const bind = this.#skeleton.rest();
    const tip = joints.length - 1;
    const effectors = solver === "spline" ? [{ joint: 0 }, { joint: Math.ceil(tip / 2), name: "middle" }, { joint: tip, name: NAME }] : [];
    this.rig = new files.Rig(bind, [{ name: solver === "spline" ? "spline" : NAME, solver, from, chain: [0, tip], effectors }]);
    this.#state = this.rig.state();
    this.#pose = bind;
    if (solver === "spline") this.curve = new files.Curve([joints[0]!, joints[Math.ceil(tip / 2)]!, joints[tip]!].flat());
    this.points = points(bind.modelPositions());
  }

  /** Angles of the joints in the plane, from rest. */
  get angles(): number[] {
    const { rotations } = this.#pose;
    return this.led.joints.map((_, n) => 2 * Math.atan2(rotations[4 * n + 2]!, rotations[4 * n + 3]!)).slice(0, -1);
  }

  get tip(): Xyz {
    return this.points.at(-1)!;
  }

  /** Leads the chain to a goal, from angles of the frame before if they are given, else from rest; without a goal they are shown. */
  solve(goal: Xy | undefined, past?: readonly number[], middle?: Xy): void {
    this.#pose.reset();
    past?.forEach((angle, n) => this.#pose.rotations.set([0, 0, Math.sin(angle / 2), Math.cos(angle / 2)], 4 * n));
    // What counts is in the state of the figure: the frame before is the pose that comes in.
    this.#state.reset();
    const at = (of: Xy) => ({ position: [...of, 0] });
    const goals = goal && { [NAME]: at(goal), ...(middle ? { middle: at(middle) } : {}) };
    if (goal && middle) this.curve?.setPoints([...this.led.joints[0]!, ...middle, 0, ...goal, 0]);
    this.rig.apply(this.#state, this.#pose, 0, goals ?? {});
    this.points = points(this.#pose.modelPositions());
  }
}

/** The keys of the goal, in the engine. */
export class GoalKeys {
  readonly #keys: RigKeys;
  #text = "";

  constructor(files: Files, rig: Rig) {
    this.#keys = new files.RigKeys(rig);
  }

  /** Takes over keys. */
  set(all: readonly GoalKey[]): void {
    const text = JSON.stringify(all);
    if (text === this.#text) return;
    this.#text = text;
    const key = ([time, x, y]: GoalKey): KeyChange => ({ goal: NAME, channel: "position", time, value: [x, y, 0] });
    this.#keys.edit([...this.#keys.keys().map((key) => ({ ...key, value: null })), ...all.map(key)]);
  }

  /** Where the goal is at a time. */
  at(time: number): Xy {
    const [x, y] = this.#keys.sample(time)[NAME]!.position as number[];
    return [x!, y!];
  }

  /** Keys a goal that was moved, as auto key does. */
  record(time: number, to: Xy): GoalKey[] {
    const goal = (position: Xy) => ({ [NAME]: { position: [...position, 0] } });
    return this.#edit(this.#keys.record(time, goal(this.at(time)), goal(to)));
  }

  /** Moves one key in time. */
  move(from: number, to: number): GoalKey[] {
    return this.#edit(this.#keys.retime(({ time }) => Math.abs(time - from) < 1e-4, { shift: to - from }));
  }

  /** Deletes one key. */
  remove(at: number): GoalKey[] {
    return this.#edit(this.#keys.keys().filter(({ time }) => Math.abs(time - at) < 1e-4).map((key) => ({ ...key, value: null })));
  }

  #edit(changes: KeyChange[]): GoalKey[] {
    this.#keys.edit(changes);
    this.#text = "";
    return this.#keys.keys().map(({ time, value }) => [time, (value as number[])[0]!, (value as number[])[1]!]);
  }
}

/** Largest distance between the same joints of two chains. */
export function farthest(a: readonly Xyz[], b: readonly Xyz[]): number {
  return Math.max(...a.map((at, n) => apart(at, b[n]!)));
}
