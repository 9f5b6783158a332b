/** Skeletons: trees of joints. */

import type { Glue } from "./core.glue.js";
import { type Engine, Owned, describe, engineOf } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, putRotation, putVector, type Rotation, type Vector } from "./exchange.js";
import { checkNames } from "./goal.js";
import { type JointLimits, putJoint } from "./joint.js";
import { Pose } from "./pose.js";

/** A joint of a skeleton that is made from plain data. */
export interface JointInput {
  /** Name of the joint. */
  name: string;
  /** Parent: its index in the list, or its name. A root has none. */
  parent?: number | string | null;
  /** Translation from the parent in the rest pose, in the parent's units; 0 by default. */
  position?: Vector;
  /** Rotation to the parent in the rest pose; none by default. */
  rotation?: Rotation;
  /** Scale in the rest pose; 1 by default. */
  scale?: Vector;
  /** How the joint may move; freely by default. */
  limits?: JointLimits;
}

/** A node of a scene, as three.js's `Object3D`, `Bone` and `SkinnedMesh` are. */
export interface SceneNode {
  readonly isObject3D: true;
  readonly isBone?: boolean;
  readonly name: string;
  readonly parent: SceneNode | null;
  readonly children: readonly SceneNode[];
  readonly skeleton?: { readonly bones: readonly SceneNode[] };
  readonly position: SceneVector;
  readonly quaternion: SceneVector & { readonly w: number };
  readonly scale: SceneVector;
  worldToLocal(point: SceneVector): unknown;
}

const JOINT_NAMES = ["name", "parent", "position", "rotation", "scale", "limits"];

interface SceneVector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  fromArray(array: ArrayLike<number>, offset?: number): unknown;
}

/** A joint: its index, its name (or path of names, such as `left/foot`), or the node that it was made from. */
export type JointRef = number | string | SceneNode;

/** Options of {@link Skeleton.from}. */
export interface SkeletonOptions {
  /** How joints may move, by name or path; those that are not listed turn freely. */
  limits?: Record<string, JointLimits>;
}

/**
 * A tree of joints with its rest pose. Every solver is made for one, and every pose belongs to one.
 *
 * Joints have indices, parents before children: those of {@link Pose.rotations} and its like.
 */
export class Skeleton extends Owned<Glue.RawSkeleton> {
  /** @internal */
  static engine: Engine | undefined;
  /** Names of the joints. */
  readonly names: readonly string[];
  /** Index of each joint's parent; -1 for a root. */
  readonly parents: Int32Array;
  /** The nodes that the joints were made from; empty for plain data. */
  readonly nodes: readonly SceneNode[];
  /**
   * The node whose space is the skeleton's model space, in which goals are: `skeleton.space?.worldToLocal(goal)` takes a goal there from
   * the world. Undefined for plain data, and null where the bones have no parent, so that model space is world space.
   */
  readonly space: SceneNode | null | undefined;
  readonly #byNode: Map<SceneNode, number>;

  readonly #scenes = new WeakMap<SceneNode, readonly SceneNode[]>();

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawSkeleton, nodes: readonly SceneNode[], space: SceneNode | null | undefined) {
    super(engine, raw);
    const count = raw.length;
    this.names = Array.from({ length: count }, (_, i) => raw.name(i));
    this.parents = Int32Array.from({ length: count }, (_, i) => raw.parent(i));
    this.nodes = nodes;
    this.space = space;
    this.#byNode = new Map(nodes.map((node, i) => [node, i]));
  }

  /**
   * A skeleton from plain data, or from a scene of three.js.
   *
   * A scene: a `SkinnedMesh`, or any node above bones. Its bones, the nodes between them, and those below them become joints. Their
   * present transforms are the rest pose. Model space is that of the nearest node above all of them, the mesh included.
   */
  static from(source: readonly JointInput[] | SceneNode, options: SkeletonOptions = {}): Skeleton {
    const engine = engineOf(this);
    checkNames("options of a Skeleton", options, ["limits"]);
    if (Array.isArray(source)) {
      source.forEach((joint) => checkNames("joints of a Skeleton", joint, JOINT_NAMES));
      return build(engine, source as readonly JointInput[], [], undefined, options);
    }
    if (isNode(source)) {
      const { joints, nodes, space } = fromScene(source);
      const skeleton = build(engine, joints, nodes, space, options);
      skeleton.#scenes.set(source, skeleton.nodes);
      return skeleton;
    }
    throw new SinewError("type", `a skeleton is made from a list of joints or from a node of a scene, not from ${describe(source)}`);
  }

  /** Count of joints. */
  get length(): number {
    return this.names.length;
  }

  /** A new pose: the rest pose. */
  rest(): Pose {
    return new Pose(this);
  }

  /** Another skeleton of the same joints and nodes. @internal */
  copy(raw: Glue.RawSkeleton): Skeleton {
    return new Skeleton(this.engine, raw, this.nodes, this.space);
  }

  /** The nodes of the joints in the scene that the skeleton was made from, or in a copy of it. @internal */
  nodesIn(scene: SceneNode): readonly SceneNode[] {
    let found = this.#scenes.get(scene);
    if (found === undefined) {
      if (this.nodes.length === 0) throw new SinewError("input", "the skeleton was made from plain data: it has no nodes");
      if (!isNode(scene)) throw new SinewError("type", `the scene must be a node, not ${describe(scene)}`);
      found = this.#copy(scene);
      this.#scenes.set(scene, found);
    }
    return found;
  }

  #copy(scene: SceneNode): readonly SceneNode[] {
    const { nodes } = fromScene(scene);
    const index = new Map(nodes.map((node, i) => [node, i]));
    for (let i = 0; i < Math.max(nodes.length, this.length); i++) {
      const [node, name] = [nodes[i], this.names[i]];
      const parent = node?.parent ? (index.get(node.parent) ?? -1) : -1;
      if (node === undefined || node.name !== name || parent !== this.parents[i]) {
        const [there, here] = [node?.name, name].map((name) => (name === undefined ? "absent" : `\`${name}\``));
        throw new SinewError(
          "input",
          `\`${scene.name}\` is neither the scene that the skeleton was made from nor a copy of it: joint ${i} is ${there} there, ${here} here`,
        );
      }
    }
    return nodes;
  }

  /** Index of a joint. Names that several joints have need a path, such as `left/foot`. */
  index(joint: JointRef): number {
    if (typeof joint === "number") {
      if (Number.isInteger(joint) && joint >= 0 && joint < this.names.length) return joint;
      throw new SinewError("input", `there is no joint ${joint}: the skeleton has ${this.names.length} joints`);
    }
    if (typeof joint === "string") {
      return this.engine.run(() => this.raw.find(joint));
    }
    const found = this.#byNode.get(joint);
    if (found === undefined) {
      const name = (joint as SceneNode | null)?.name;
      throw new SinewError("input", `the skeleton was not made from ${name ? `the node \`${name}\`` : describe(joint)}`);
    }
    return found;
  }
}

function isNode(given: unknown): given is SceneNode {
  return typeof given === "object" && given !== null && (given as SceneNode).isObject3D === true;
}

interface Scene {
  joints: JointInput[];
  nodes: SceneNode[];
  space: SceneNode | null;
}

function ancestors(node: SceneNode): SceneNode[] {
  const list = [];
  for (let at: SceneNode | null = node; at !== null; at = at.parent) list.push(at);
  return list.reverse();
}

/** The joints of a scene: all nodes from the nearest common ancestor of mesh and bones down to the bones, and what is below bones. */
function fromScene(source: SceneNode): Scene {
  const bones = new Set<SceneNode>();
  const visit = [source];
  while (visit.length > 0) {
    const node = visit.pop()!;
    if (node.isBone) bones.add(node);
    node.skeleton?.bones.forEach((bone) => bones.add(bone));
    visit.push(...node.children);
  }
  if (bones.size === 0) {
    throw new SinewError("input", `there are no bones in the node \`${source.name}\` and below it`);
  }
  // The nearest node that is strictly above every bone, and is the source or above it unless the source is a bone itself.
  let above: SceneNode[] | undefined;
  for (const node of source.isBone ? bones : [source, ...bones]) {
    const line = ancestors(node);
    if (node.isBone) line.pop();
    if (above === undefined) above = line;
    else {
      let same = 0;
      while (same < above.length && above[same] === line[same]) same++;
      above.length = same;
    }
  }
  const space = above!.at(-1) ?? null;
  // Nodes on the way from there to a bone, and all that hangs on bones.
  const wanted = new Set<SceneNode>();
  for (const bone of bones) {
    for (let at: SceneNode | null = bone; at !== null && at !== space && !wanted.has(at); at = at.parent) wanted.add(at);
  }
  const nodes: SceneNode[] = [];
  const roots = [...wanted].filter((node) => node.parent === null || !wanted.has(node.parent));
  const stack = roots.reverse();
  while (stack.length > 0) {
    const node = stack.pop()!;
    nodes.push(node);
    stack.push(...node.children.filter((child) => wanted.has(child)).reverse());
  }
  const index = new Map(nodes.map((node, i) => [node, i]));
  const joints = nodes.map(
    (node): JointInput => ({
      name: node.name,
      parent: node.parent === null ? null : (index.get(node.parent) ?? null),
      position: node.position,
      rotation: node.quaternion,
      scale: node.scale,
    }),
  );
  return { joints, nodes, space };
}

function build(
  engine: Engine,
  joints: readonly JointInput[],
  nodes: readonly SceneNode[],
  space: SceneNode | null | undefined,
  options: SkeletonOptions,
): Skeleton {
  const byName = new Map<string, number>();
  joints.forEach((joint, i) => {
    if (typeof joint !== "object" || joint === null || typeof joint.name !== "string") {
      throw new SinewError("type", `joint ${i} must be an object with a name, not ${describe(joint?.name ?? joint)}`);
    }
    if (!byName.has(joint.name)) byName.set(joint.name, i);
  });
  const limits = new Map<number, JointLimits>();
  for (const [name, limit] of Object.entries(options.limits ?? {})) {
    const at = byName.get(name);
    if (at === undefined) throw new SinewError("input", `limits are given for \`${name}\`, but there is no joint of this name`);
    if (joints.filter((joint) => joint.name === name).length > 1) {
      throw new SinewError("input", `limits are given for \`${name}\`, but several joints have this name`);
    }
    limits.set(at, limit);
  }
  const builder = new engine.glue.RawSkeletonBuilder();
  try {
    joints.forEach(({ name, parent, position, rotation, scale, limits: own }, i) => {
      const what = `joint \`${name}\``;
      let above = -1;
      if (typeof parent === "string") {
        const found = byName.get(parent);
        if (found === undefined) throw new SinewError("input", `${what} has the parent \`${parent}\`, but no joint has this name`);
        above = found;
      } else if (typeof parent === "number") {
        if (!Number.isInteger(parent) || parent < 0 || parent >= joints.length) {
          throw new SinewError("input", `${what} has the parent ${parent}, but there are joints 0 to ${joints.length - 1}`);
        }
        above = parent;
      } else if (parent !== null && parent !== undefined) {
        throw new SinewError("type", `the parent of ${what} must be an index or a name, not ${describe(parent)}`);
      }
      const n = engine.exchange.numbers;
      putVector(n, OTHER, `the position of ${what}`, position ?? [0, 0, 0]);
      putRotation(n, OTHER + 3, `the rotation of ${what}`, rotation ?? [0, 0, 0, 1]);
      putVector(n, OTHER + 7, `the scale of ${what}`, scale ?? [1, 1, 1]);
      builder.add(name, above);
      const limit = limits.get(i) ?? own;
      if (limit !== undefined) {
        putJoint(engine.exchange.numbers, limit);
        builder.joint();
      }
    });
    const order = new Uint32Array(joints.length);
    const raw = builder.build(order);
    const ordered: SceneNode[] = [];
    nodes.forEach((node, i) => (ordered[order[i]!] = node));
    return new Skeleton(engine, raw, ordered, space);
  } catch (thrown) {
    throw engine.error(thrown);
  } finally {
    builder.free();
  }
}

/** The ends of a chain of a skeleton: their indices; the offset of its tip goes to the exchange. @internal */
export function putEnds(skeleton: Skeleton, root: JointRef, tip: JointRef, tipOffset: Vector): [number, number] {
  const ends: [number, number] = [skeleton.index(root), skeleton.index(tip)];
  putVector(skeleton.engine.exchange.numbers, OTHER, "the tipOffset", tipOffset);
  return ends;
}
