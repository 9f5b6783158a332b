/** The methods that the page Solvers compares, each with a chain of its own. */

import { Bone, BufferGeometry, Skeleton as ThreeSkeleton, SkinnedMesh, Vector3, type Quaternion } from "three";
import { CCDIKSolver } from "three/addons/animation/CCDIKSolver.js";

import type { Chain, Core, Pose, Skeleton } from "sinew/core";

import { apart } from "../figure/format.ts";
import { points, type Color, type Xy, type Xyz } from "../shapes.ts";

/** Displacements of a chain's joints, each from the one before, in the rest pose: a straight bone up, then a slight bend. */
export function offsets(count: number, length: number, bend: number): Xyz[] {
  return Array.from({ length: count + 1 }, (_, n) => {
    const angle = Math.PI / 2 - bend * (n - 1);
    return n === 0 ? [0, 0, 0] : [length * Math.cos(angle), length * Math.sin(angle), 0];
  });
}

/** A skeleton of joints that are named by their numbers. */
export function chainSkeleton(core: Core, joints: readonly Xyz[]): Skeleton {
  return core.Skeleton.from(joints.map((position, n) => ({ name: String(n), position, ...(n > 0 ? { parent: n - 1 } : {}) })));
}

/** What a method is asked for. */
export interface Task {
  target: Xy;
  base: Xy;
  sweeps: number;
  /** Whether it starts from its last pose instead of the rest pose. */
  continuing: boolean;
}

/** A method with its chain. */
export interface Method {
  readonly name: string;
  readonly color: Color;
  /** Moves the chain. */
  solve(task: Task): void;
  /** Goes back to the rest pose. */
  reset(): void;
  /** Root, joints and tip. */
  readonly points: Xyz[];
  /** Distances of the tip from the target: before the first sweep of the last solve, and after each. Sweeps once more to tell them. */
  residuals(): readonly number[];
}

/** Sweeps that are plotted. */
export const SWEEPS = 10;

type Solver = "ccd" | "fabrik" | "dls";

/** A method of the engine's chains. */
export class ChainMethod implements Method {
  readonly name: string;
  readonly color: Color;
  readonly #pose: Pose;
  /** The pose before the last solve, and its goal. */
  readonly #start: Pose;
  #goal = { position: [0, 0, 0] };
  readonly #chain: Chain;
  readonly #tip: number;

  constructor(core: Core, joints: readonly Xyz[], solver: Solver, name: string, color: Color) {
    const skeleton = chainSkeleton(core, joints);
    [this.name, this.color, this.#tip] = [name, color, joints.length - 1];
    [this.#pose, this.#start] = [skeleton.rest(), skeleton.rest()];
    this.#chain = new core.Chain(skeleton, "0", String(this.#tip), { solver, tolerance: 1e-5 });
  }

  solve({ target, base, sweeps, continuing }: Task): void {
    if (!continuing) this.#pose.reset();
    this.#pose.positions.set(base, 0);
    this.#start.copy(this.#pose);
    this.#goal = { position: [...target, 0] };
    this.#chain.solve(this.#pose, this.#goal, { iterations: sweeps });
  }

  residuals(): number[] {
    const { position } = this.#goal;
    const pose = this.#start.clone();
    const found = [apart(pose.model(this.#tip).position, position)];
    for (const step of this.#chain.trace(pose, this.#goal, { iterations: SWEEPS }).steps) {
      if (step.kind === "step" && !step.taken) continue;
      found[step.iteration + 1] = apart(step.positions.subarray(-3), position);
    }
    pose.free();
    // A step of least squares that was taken back leaves the residual as it was.
    for (let n = 1; n < found.length; n++) found[n] ??= found[n - 1]!;
    return found;
  }

  reset(): void {
    this.#pose.reset();
  }

  get points(): Xyz[] {
    return points(this.#pose.modelPositions());
  }
}

/** Segments that follow: the tip goes to the target, and the root trails. */
export class FollowMethod implements Method {
  readonly name = "Follow";
  readonly color = "gray";
  #residuals: number[] = [];
  readonly #pose: Pose;
  readonly #follow: InstanceType<Core["Follow"]>;
  readonly #tip: number;

  constructor(core: Core, joints: readonly Xyz[]) {
    const skeleton = chainSkeleton(core, joints);
    this.#tip = joints.length - 1;
    this.#pose = skeleton.rest();
    this.#follow = new core.Follow(skeleton, "0", String(this.#tip));
  }

  solve({ target, base, continuing }: Task): void {
    if (!continuing) {
      this.#pose.reset();
      this.#pose.positions.set(base, 0);
    }
    const to = [...target, 0];
    const before = apart(this.#pose.model(this.#tip).position, to);
    const { positionResidual } = this.#follow.solve(this.#pose, to);
    this.#residuals = [before, positionResidual];
  }

  residuals(): number[] {
    return this.#residuals;
  }

  reset(): void {
    this.#pose.reset();
  }

  get points(): Xyz[] {
    return points(this.#pose.modelPositions());
  }
}

/** three.js's CCDIKSolver. */
export class ThreeMethod implements Method {
  readonly name = "CCDIKSolver of three.js";
  readonly color = "yellow";
  readonly #bones: Bone[];
  /** The rotations before the last solve. */
  #start: Quaternion[] = [];
  readonly #target = new Bone();
  readonly #mesh = new SkinnedMesh(new BufferGeometry());
  readonly #solver: CCDIKSolver;
  readonly #tip = new Vector3();

  constructor(joints: readonly Xyz[]) {
    this.#bones = joints.map((at) => {
      const bone = new Bone();
      bone.position.set(...at);
      return bone;
    });
    this.#bones.slice(1).forEach((bone, n) => this.#bones[n]!.add(bone));
    this.#mesh.add(this.#bones[0]!, this.#target);
    this.#mesh.bind(new ThreeSkeleton([...this.#bones, this.#target]));
    const last = joints.length - 1;
    const links = Array.from({ length: last }, (_, n) => ({ index: last - 1 - n }));
    this.#solver = new CCDIKSolver(this.#mesh, [{ target: joints.length, effector: last, links, iteration: 1 }]);
  }

  solve({ target, base, sweeps, continuing }: Task): void {
    if (!continuing) this.reset();
    this.#bones[0]!.position.set(...base, 0);
    this.#target.position.set(...target, 0);
    this.#mesh.updateMatrixWorld(true);
    this.#start = this.#rotations();
    this.#sweep(sweeps);
  }

  residuals(): number[] {
    const end = this.#rotations();
    this.#take(this.#start);
    const found = [this.#residual()];
    // A sweep knows nothing of the one before it, so that ten of one are one of ten.
    while (found.length <= SWEEPS) {
      this.#sweep(1);
      found.push(this.#residual());
    }
    this.#take(end);
    return found;
  }

  #sweep(count: number): void {
    for (let n = 0; n < count; n++) this.#solver.update();
    this.#mesh.updateMatrixWorld(true);
  }

  #rotations(): Quaternion[] {
    return this.#bones.map(({ quaternion }) => quaternion.clone());
  }

  #take(rotations: readonly Quaternion[]): void {
    this.#bones.forEach(({ quaternion }, n) => quaternion.copy(rotations[n]!));
    this.#mesh.updateMatrixWorld(true);
  }

  reset(): void {
    for (const { quaternion } of this.#bones) quaternion.identity();
  }

  get points(): Xyz[] {
    return this.#bones.map((bone) => {
      const { x, y, z } = this.#tip.setFromMatrixPosition(bone.matrixWorld);
      return [x, y, z];
    });
  }

  #residual(): number {
    return this.#tip.setFromMatrixPosition(this.#bones.at(-1)!.matrixWorld).distanceTo(this.#target.position);
  }
}
