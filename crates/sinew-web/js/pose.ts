/** Poses: where the joints of a skeleton are. */

import type { Glue } from "./core.glue.js";
import { Owned, own } from "./engine.js";
import { OTHER, room } from "./exchange.js";
import { type JointRef, type SceneNode, Skeleton } from "./skeleton.js";

/** A position and a rotation in model space. */
export interface Placement {
  /** x, y, z in metres. */
  position: Float32Array;
  /** Unit quaternion x, y, z, w. */
  rotation: Float32Array;
}

/**
 * A placement of a skeleton: the local transform of each joint, in arrays that may be read and written at any time. A solve takes
 * what they hold.
 *
 * The arrays lie in the engine's memory. When that grows, arrays that were taken before have no length any more: take them from the
 * pose each time instead of keeping them.
 */
export class Pose extends Owned<Glue.RawPose> {
  /** The pose's skeleton. */
  readonly skeleton: Skeleton;
  readonly #addresses: readonly [number, number, number];
  #rotations: Float32Array;
  #positions: Float32Array;
  #scales: Float32Array;

  /** The rest pose of a skeleton. */
  constructor(skeleton: Skeleton) {
    const engine = skeleton?.engine;
    const of = own(engine, "the skeleton", Skeleton, skeleton);
    const raw = engine.run(() => new engine.glue.RawPose(of));
    super(engine, raw);
    this.skeleton = skeleton;
    this.#addresses = [raw.rotationsAddress(), raw.positionsAddress(), raw.scalesAddress()];
    this.#rotations = this.#view(0, 4);
    this.#positions = this.#view(1, 3);
    this.#scales = this.#view(2, 3);
  }

  #view(which: 0 | 1 | 2, each: number): Float32Array {
    return new Float32Array(this.engine.memory.buffer, this.#addresses[which], this.skeleton.length * each);
  }

  /** Local rotations: x, y, z, w of each joint. */
  get rotations(): Float32Array {
    void this.raw;
    if (this.#rotations.length === 0) this.#rotations = this.#view(0, 4);
    return this.#rotations;
  }

  /** Local translations from the parent, in the parent's units: x, y, z of each joint. */
  get positions(): Float32Array {
    void this.raw;
    if (this.#positions.length === 0) this.#positions = this.#view(1, 3);
    return this.#positions;
  }

  /** Local scales: x, y, z of each joint. */
  get scales(): Float32Array {
    void this.raw;
    if (this.#scales.length === 0) this.#scales = this.#view(2, 3);
    return this.#scales;
  }

  /** Frees the pose's memory. Arrays that were taken from it must not be used any more. */
  override free(): void {
    super.free();
    this.#rotations = this.#positions = this.#scales = new Float32Array(0);
  }

  /** Returns to the rest pose. */
  reset(): this {
    this.raw.reset();
    return this;
  }

  /** A copy, to be freed by itself. */
  clone(): Pose {
    return new Pose(this.skeleton).copy(this);
  }

  /** Takes over another pose of the same skeleton. */
  copy(other: Pose): this {
    this.#other(other, (raw) => this.raw.copyFrom(raw));
    return this;
  }

  /**
   * Blends every joint towards another pose of the same skeleton by an influence of 0 to 1. Limited joints stay within their limits
   * where both poses are.
   */
  blend(other: Pose, influence: number): this {
    this.#other(other, (raw) => this.raw.blend(raw, influence));
    return this;
  }

  #other(other: Pose, action: (raw: Glue.RawPose) => void): void {
    const raw = own(this.engine, "the other pose", Pose, other);
    if (other === this) return;
    this.engine.run(() => action(raw));
  }

  /** Position and rotation of a joint in model space. */
  model(joint: JointRef): Placement {
    const index = this.skeleton.index(joint);
    this.engine.run(() => this.raw.model(index));
    const n = this.engine.exchange.numbers;
    return { position: Float32Array.from(n.subarray(OTHER, OTHER + 3)), rotation: Float32Array.from(n.subarray(OTHER + 3, OTHER + 7)) };
  }

  /** Positions of all joints in model space, x, y, z each, in metres. */
  modelPositions(out: Float32Array = new Float32Array(3 * this.skeleton.length)): Float32Array {
    this.raw.modelPositions(room("the array of positions", out, 3 * this.skeleton.length));
    return out;
  }

  /**
   * Takes over the present transforms of a scene's nodes, such as those of the animation's frame. The scene is the one that the skeleton
   * was made from, or a copy of it.
   */
  readFrom(scene: SceneNode): this {
    const { rotations, positions, scales } = this;
    this.skeleton.nodesIn(scene).forEach(({ position, quaternion, scale }, i) => {
      rotations[4 * i] = quaternion.x;
      rotations[4 * i + 1] = quaternion.y;
      rotations[4 * i + 2] = quaternion.z;
      rotations[4 * i + 3] = quaternion.w;
      positions[3 * i] = position.x;
      positions[3 * i + 1] = position.y;
      positions[3 * i + 2] = position.z;
      scales[3 * i] = scale.x;
      scales[3 * i + 1] = scale.y;
      scales[3 * i + 2] = scale.z;
    });
    return this;
  }

  /**
   * Writes rotations and positions to the nodes of a scene: the one that the skeleton was made from, or a copy of it. Nodes that have them
   * already are left alone, so that nothing is computed anew for them. Scales are not written, as no solver changes them.
   */
  applyTo(scene: SceneNode): this {
    const { rotations, positions } = this;
    this.skeleton.nodesIn(scene).forEach(({ position, quaternion }, i) => {
      const [r, p] = [4 * i, 3 * i];
      if (
        quaternion.x !== rotations[r] ||
        quaternion.y !== rotations[r + 1] ||
        quaternion.z !== rotations[r + 2] ||
        quaternion.w !== rotations[r + 3]
      ) {
        quaternion.fromArray(rotations, r);
      }
      if (position.x !== positions[p] || position.y !== positions[p + 1] || position.z !== positions[p + 2]) {
        position.fromArray(positions, p);
      }
    });
    return this;
  }
}
