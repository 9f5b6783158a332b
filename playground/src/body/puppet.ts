/** The scene of a model's file, whose nodes follow poses. */

import type { Material, Mesh, Object3D } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import type { Model, Pose } from "sinew/files";

/** A scene that shows a model. */
export class Puppet {
  readonly scene: Object3D;
  readonly #objects: readonly (Object3D | undefined)[];

  private constructor(scene: Object3D, objects: readonly (Object3D | undefined)[]) {
    [this.scene, this.#objects] = [scene, objects];
    scene.traverse((node) => {
      node.castShadow = node.receiveShadow = true;
      // Bounds would be those of the file's pose.
      node.frustumCulled = false;
    });
  }

  /** Makes the scene of a GLB or glTF that a model was read from. */
  static async of(model: Model, glb: Uint8Array<ArrayBuffer>): Promise<Puppet> {
    const { scene, parser } = await new GLTFLoader().parseAsync(glb.buffer.slice(glb.byteOffset, glb.byteOffset + glb.byteLength), "");
    const byNode = new Map<number, Object3D>();
    for (const [object, of] of parser.associations as Map<Object3D, { nodes?: number } | undefined>) {
      const nodes = of?.nodes;
      // Parts of a mesh belong to the node of their group.
      if (nodes !== undefined && object.isObject3D && !byNode.has(nodes)) byNode.set(nodes, object);
    }
    // A built file has its joints as its first nodes, in their order.
    return new Puppet(scene, Array.from(model.nodes, (node, joint) => byNode.get(node < 0 ? joint : node)));
  }

  /** Shows a pose. */
  show({ rotations, positions }: Pose): void {
    this.#objects.forEach((object, joint) => {
      object?.quaternion.fromArray(rotations, 4 * joint);
      object?.position.fromArray(positions, 3 * joint);
    });
    this.scene.updateWorldMatrix(true, true);
  }

  /** Takes it away, with all that it has on the graphics card. */
  free(): void {
    this.scene.removeFromParent();
    this.scene.traverse((node) => {
      const { geometry, material } = node as Mesh;
      geometry?.dispose();
      for (const one of [material].flat() as Material[]) {
        for (const value of Object.values(one ?? {})) if ((value as { isTexture?: boolean })?.isTexture) (value as { dispose(): void }).dispose();
        one?.dispose();
      }
    });
  }
}
