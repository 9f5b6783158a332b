/** A character of a file: its scene, its skeleton, and the ends that goals can take. */

import { Box3, Group, Vector3, type Object3D } from "three";

import type { Body, Files, Model, Pose, Skeleton } from "sinew/files";

import { triple, type Xyz } from "../shapes.ts";
import { Puppet } from "./puppet.ts";

/** Height of a two-legged figure in the scene, and largest extent of others. */
const HEIGHT = 1.7;
const EXTENT = 2.2;
/** Largest count of ends that get a goal. */
const ENDS = 14;
/** Largest count of joints that are shown. */
const JOINTS = 2000;
const HUMAN = ["hips", "head", "left hand", "right hand", "left foot", "right foot"];

/** An end of a character: its name, and its joint. */
export interface End {
  name: string;
  joint: number;
}

/** A character that is shown. */
export class Character {
  readonly model: Model;
  /** The pose at first: at ease for a person, else at rest. */
  readonly ease: Pose;
  readonly ends: readonly End[];
  /** The joint above all that moves. */
  readonly root: number;
  /** That of the model, with a person's ranges where it is one. */
  readonly skeleton: Skeleton;
  readonly #body: Body | undefined;
  readonly container = new Group();
  readonly #puppet: Puppet;

  private constructor(model: Model, puppet: Puppet, body: Body | undefined) {
    [this.model, this.#puppet, this.#body] = [model, puppet, body];
    this.skeleton = body?.limited() ?? model.skeleton;
    const rest = this.skeleton.rest();
    this.ease = body?.standAtEase(rest) ?? rest;
    if (body) {
      this.ends = HUMAN.flatMap((name) => (body.roles.has(name) ? [{ name, joint: body.joint(name) }] : []));
      this.root = body.joint("hips");
    } else [this.root, this.ends] = extremities(model);
    this.#fit(puppet.scene);
  }

  /**
   * Reads a file. A two-legged figure gets people's ranges of motion; of other creatures all joints are free. Throws what the readers say.
   */
  static async read(files: Files, bytes: Uint8Array<ArrayBuffer>, name: string): Promise<Character> {
    const model = files.Model.read(bytes, name);
    try {
      const { length } = model.skeleton;
      if (length > JOINTS) throw new Error(`${name} has ${length} joints; at most ${JOINTS} are shown here`);
      let body: Body | undefined;
      try {
        body = model.body();
      } catch {
        // It has no two legs.
      }
      // A BVH has no mesh: a built one takes its place.
      const puppet = await Puppet.of(model, /\.bvh$/i.test(name) ? model.toGlb() : bytes);
      return new Character(model, puppet, body);
    } catch (error) {
      model.free();
      throw error;
    }
  }

  /** Puts the scene on the floor, at the size of a person, facing the reader. */
  #fit(scene: Object3D): void {
    const { container, model } = this;
    container.add(scene);
    this.show(this.ease);
    const box = new Box3();
    container.updateMatrixWorld(true);
    box.setFromObject(scene, true);
    if (box.isEmpty()) for (const at of points(this.ease.modelPositions())) box.expandByPoint(new Vector3(...at));
    const size = box.getSize(new Vector3());
    const scale = this.human ? HEIGHT / size.y : EXTENT / Math.max(size.x, size.y, size.z);
    if (!Number.isFinite(scale) || scale <= 0) throw new Error(`the model ${model.name} has no size`);
    container.scale.setScalar(scale);
    if (this.#body) {
      // VRM 0 faces -z, VRM 1 and glTF z, others anywhere.
      const [x, , z] = this.#body.front;
      container.rotation.y = -Math.atan2(x, z);
    }
    const center = box.getCenter(new Vector3()).multiplyScalar(scale).applyEuler(container.rotation);
    container.position.set(-center.x, -box.min.y * scale, -center.z);
    container.updateMatrixWorld(true);
  }

  /** Whether it is a person on two legs. */
  get human(): boolean {
    return this.#body !== undefined;
  }

  /** Where a joint of a pose is in the scene. */
  at(pose: Pose, joint: number): Xyz {
    return triple(new Vector3(...triple(pose.model(joint).position)).applyMatrix4(this.container.matrixWorld).toArray());
  }

  /** A point of the scene in model space. */
  meant(at: Xyz): Xyz {
    return triple(this.container.worldToLocal(new Vector3(...at)).toArray());
  }

  /** Shows a pose. */
  show(pose: Pose): void {
    this.#puppet.show(pose);
  }

  free(): void {
    this.container.removeFromParent();
    this.#puppet.free();
    this.ease.free();
    if (this.#body) this.skeleton.free();
    this.#body?.free();
    this.model.free();
  }
}

function points(numbers: Float32Array): Xyz[] {
  return Array.from({ length: numbers.length / 3 }, (_, n) => triple(numbers.subarray(3 * n)));
}

/** The ends of a creature's limbs, and the joint above them all. */
function extremities(model: Model): [number, End[]] {
  const { skeleton } = model;
  const { parents, names } = skeleton;
  const children = names.map((_, joint) => [...parents.keys()].filter((other) => parents[other] === joint));
  const line = (joint: number): number[] => (joint < 0 ? [] : [joint, ...line(parents[joint]!)]);
  const rest = skeleton.rest().modelPositions();
  const length = (a: number, b: number) => (b < 0 ? 0 : Math.hypot(...[0, 1, 2].map((n) => rest[3 * a + n]! - rest[3 * b + n]!)));
  // How much of the creature hangs on a chain without forks.
  const limb = (leaf: number) => {
    let sum = 0;
    for (let at = leaf; at >= 0 && children[at]!.length < 2; at = parents[at]!) sum += length(at, parents[at]!);
    return sum;
  };
  const leaves = [...parents.keys()].filter((joint) => children[joint]!.length === 0 && line(joint).length > 2 && limb(joint) > 0);
  const chosen = leaves.sort((a, b) => limb(b) - limb(a)).slice(0, ENDS);
  if (chosen.length === 0) throw new Error(`the model ${model.name} has no limbs that could be moved`);
  const lines = chosen.map((leaf) => line(leaf).reverse());
  let depth = 0;
  while (lines.every((above) => depth + 1 < above.length && above[depth + 1] === lines[0]![depth + 1])) depth++;
  return [lines[0]![depth]!, chosen.map((joint) => ({ name: names[joint] || `joint ${joint}`, joint }))];
}
