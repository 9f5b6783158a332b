/** Smooth solids with light and soft shadows. */

import {
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  LatheGeometry,
  Mesh,
  MeshStandardMaterial,
  PlaneGeometry,
  Scene,
  ShadowMaterial,
  SphereGeometry,
  Vector2,
  type BufferGeometry,
  type Object3D,
} from "three";
import { RoundedBoxGeometry } from "three/addons/geometries/RoundedBoxGeometry.js";

import type { Theme } from "./theme.ts";
import type { Point } from "./view.ts";

/** Steps around a lathed solid, and along its rounded edges. */
const AROUND = 48;
const EDGE = 6;

/** A scene of solids on a floor at y = 0, in light from above. */
export class Solids {
  readonly scene = new Scene();
  readonly #sky = new HemisphereLight(0xffffff, 0x8a8f98, 1.7);
  readonly #sun = new DirectionalLight(0xffffff, 2);
  readonly #shadow = new ShadowMaterial();
  readonly #materials: { material: MeshStandardMaterial; colors: Readonly<Record<Theme, number>> }[] = [];

  /** `radius` is the size of what casts shadows around 0. */
  constructor(radius: number) {
    const sun = this.#sun;
    sun.position.set(-0.9, 2.4, 1.3).multiplyScalar(2 * radius);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    sun.shadow.radius = 6;
    sun.shadow.normalBias = 0.02 * radius;
    const { camera } = sun.shadow;
    [camera.left, camera.right, camera.bottom, camera.top] = [-1.6 * radius, 1.6 * radius, -1.6 * radius, 1.6 * radius];
    [camera.near, camera.far] = [radius, 10 * radius];
    const floor = new Mesh(new PlaneGeometry(20 * radius, 20 * radius).rotateX(-Math.PI / 2), this.#shadow);
    floor.receiveShadow = true;
    this.scene.add(this.#sky, sun, floor);
  }

  /** A material with a colour for each theme. */
  material(colors: Readonly<Record<Theme, number>>, roughness = 0.45): MeshStandardMaterial {
    const material = new MeshStandardMaterial({ roughness, metalness: 0.05 });
    this.#materials.push({ material, colors });
    return material;
  }

  /** Adds a group to move. */
  group(): Group {
    const group = new Group();
    this.scene.add(group);
    return group;
  }

  /** Takes a group away, with all that it has on the graphics card but materials. */
  drop(group: Group): void {
    group.removeFromParent();
    group.traverse((node) => (node as Mesh).geometry?.dispose());
  }

  /** Sets colours and light for a theme. */
  show(theme: Theme): void {
    for (const { material, colors } of this.#materials) material.color = new Color(colors[theme]);
    this.#shadow.opacity = { light: 0.2, dark: 0.55 }[theme];
    this.#sky.intensity = { light: 1.7, dark: 1.1 }[theme];
  }
}

/** A mesh that casts and takes shadows, in a group. */
export function solid(group: Object3D, geometry: BufferGeometry, material: MeshStandardMaterial): Mesh {
  const mesh = new Mesh(geometry, material);
  [mesh.castShadow, mesh.receiveShadow] = [true, true];
  group.add(mesh);
  return mesh;
}

/** A barrel along an axis from 0: radii at its ends, its length, and the radius of its rounded edges. */
export function barrel(axis: "x" | "y" | "z", [start, end]: readonly [number, number], length: number, edge: number): BufferGeometry {
  const corner = (radius: number, y: number, from: number) =>
    Array.from({ length: EDGE + 1 }, (_, n) => {
      const angle = from + (n * Math.PI) / 2 / EDGE;
      return new Vector2(radius - edge + edge * Math.cos(angle), y + edge * Math.sin(angle));
    });
  const profile = [new Vector2(0, 0), ...corner(start, edge, -Math.PI / 2), ...corner(end, length - edge, 0), new Vector2(0, length)];
  const made = new LatheGeometry(profile, AROUND);
  if (axis === "x") made.rotateZ(-Math.PI / 2);
  if (axis === "z") made.rotateX(Math.PI / 2);
  return made;
}

/** A box around a point, with rounded edges. */
export function box(size: Point, center: Point, edge: number): BufferGeometry {
  return new RoundedBoxGeometry(size[0], size[1], size[2], 4, edge).translate(center[0]!, center[1]!, center[2]!);
}

/** A sphere around 0. */
export function sphere(radius: number): BufferGeometry {
  return new SphereGeometry(radius, AROUND, AROUND / 2);
}
