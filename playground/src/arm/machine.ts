/** Any robot of a URDF: where its links are, and solids that show them. */

import { Group, Quaternion, Vector3, type Mesh } from "three";

import type { Mechanism } from "sinew/files";

import { barrel, solid, sphere, type Solids } from "../figure/solids.ts";
import { clamp, type Xyz } from "../shapes.ts";

/** Smallest reach, in metres, of a robot that can be shown. */
const LEAST = 1e-6;

/** A robot in the scene, where it reaches 1 from its root, with y up. Robots' files have z up. */
export class Machine {
  readonly mechanism: Mechanism;
  /** The link whose origin is to be at the target. */
  readonly tip: number;
  /** Scene lengths for a metre. */
  readonly scale: number;
  /** Height of the root over the floor, in the scene. */
  readonly rise: number;
  readonly #frames: Float64Array;

  constructor(mechanism: Mechanism, tip: number) {
    [this.mechanism, this.tip] = [mechanism, tip];
    this.#frames = mechanism.forward(mechanism.rest());
    const line = ancestors(mechanism, tip);
    const slides = line.flatMap((link) => mechanism.links[link]!.dofs.map((dof) => mechanism.dofs[dof]!).filter((dof) => dof.slides));
    const slack = slides.reduce((sum, { min, max }) => sum + (Number.isFinite(max - min) ? (max - min) / 2 : 1), 0);
    const bones = line.reduce((sum, link) => sum + this.#apart(link, mechanism.links[link]!.parent), 0);
    const reach = Math.max(bones, slack);
    if (!(reach > LEAST && reach < 1 / LEAST)) throw new Error(`the robot ${mechanism.name} has a reach of ${reach} m, which cannot be shown`);
    this.scale = 1 / reach;
    const lowest = Math.min(...mechanism.links.map((_, link) => this.#frames[7 * link + 2]!));
    // Links far below belong to something else than the arm.
    this.rise = clamp(-lowest * this.scale, 0, 1);
  }

  #apart(a: number, b: number): number {
    if (b < 0) return 0;
    return Math.hypot(...[0, 1, 2].map((axis) => this.#frames[7 * a + axis]! - this.#frames[7 * b + axis]!));
  }

  /** A point of the robot's space in the scene. */
  shown([x, y, z]: Xyz): Xyz {
    return [x * this.scale, z * this.scale + this.rise, -y * this.scale];
  }

  /** A point of the scene in the robot's space, in metres. */
  meant([x, y, z]: Xyz): Xyz {
    return [x / this.scale, -z / this.scale, (y - this.rise) / this.scale];
  }

  /** Links where some values put them: a position and a quaternion each. */
  at(values: Float64Array): Float64Array {
    return this.mechanism.forward(values, this.#frames);
  }
}

/** Links from below the root to a link. */
export function ancestors({ links }: Mechanism, link: number): number[] {
  const line = [];
  for (let at = link; at > 0 && links[at]; at = links[at]!.parent) line.unshift(at);
  return line;
}

/** The links that an arm may end with, that which most joints move first. */
export function tips(mechanism: Mechanism): number[] {
  const { links } = mechanism;
  const moved = (link: number) => ancestors(mechanism, link).reduce((sum, at) => sum + links[at]!.dofs.length, 0);
  const deep = (link: number) => ancestors(mechanism, link).length;
  const moving = links.map((_, link) => link).filter((link) => moved(link) > 0);
  if (moving.length === 0) throw new Error(`no joint of the robot ${mechanism.name} moves`);
  // Fingers are moved by one joint more than the hand: prefer what a fixed joint puts there for tools.
  const tool = (link: number) => (/tool|tcp|ee_|_ee|end_?effector|grasp/i.test(links[link]!.name) ? 1 : 0);
  return moving.sort((a, b) => tool(b) - tool(a) || moved(b) - moved(a) || deep(b) - deep(a));
}

const X = new Vector3(1, 0, 0);
const Z = new Vector3(0, 0, 1);

/**
 * The rail of a joint that slides across the way from the link above: where it starts, its axis and length, in the axes of the root.
 * Nothing for one that slides along that way, as telescopes do, or without end.
 */
function railOf({ links, dofs }: Mechanism, link: number, turn: Quaternion, way: Vector3) {
  const { axis, dofs: own } = links[link]!;
  const [dof] = own;
  const { min, max } = dofs[dof!]!;
  if (axis === undefined || !Number.isFinite(max - min)) return undefined;
  const along = new Vector3(...axis).applyQuaternion(turn);
  if (Math.abs(along.dot(way)) > 0.5 * way.length()) return undefined;
  return { axis: along, length: max - min, start: way.clone().addScaledVector(along, min) };
}

/** The solids of a robot. */
export class MachineSolids {
  readonly #root: Group;
  readonly #links: Group[];
  /** Rods along joints that slide: from the link above to the link. */
  readonly #rods: { from: number; to: number; mesh: Mesh }[] = [];
  readonly #ball: Group;
  readonly #solids: Solids;

  constructor(solids: Solids, machine: Machine) {
    this.#solids = solids;
    const { mechanism, scale } = machine;
    const { links } = mechanism;
    const shell = solids.material({ light: 0xf3f4f6, dark: 0xc9ced6 });
    const band = solids.material({ light: 0x2f7fc0, dark: 0x4f94ff });
    const dark = solids.material({ light: 0x59616c, dark: 0x4a525d }, 0.6);
    const ball = solids.material({ light: 0x8a1a78, dark: 0xc878c4 }, 0.35);
    this.#root = solids.group();
    this.#root.rotation.x = -Math.PI / 2;
    this.#root.scale.setScalar(scale);
    this.#root.position.y = machine.rise;
    const frames = machine.at(mechanism.rest());
    const place = (link: number) => new Vector3().fromArray(frames, 7 * link);
    const turn = (link: number) => new Quaternion().fromArray(frames, 7 * link + 3);
    const line = ancestors(mechanism, machine.tip);
    // In metres: slimmer towards the tip.
    const width = links.map((_, link) => {
      const after = ancestors(mechanism, link).length;
      return clamp(0.052 - (0.034 * after) / Math.max(line.length, 1), 0.014, 0.052) / scale;
    });
    this.#links = links.map(() => {
      const group = new Group();
      this.#root.add(group);
      return group;
    });
    links.forEach(({ parent, axis, dofs }, link) => {
      if (parent < 0) return;
      const [above, r] = [this.#links[parent]!, width[link]!];
      const slides = dofs.some((dof) => mechanism.dofs[dof]!.slides);
      const rail = slides ? railOf(mechanism, link, turn(link), place(link).sub(place(parent))) : undefined;
      if (rail) {
        // What it slides along, in the frame of the link above.
        const back = turn(parent).invert();
        const mesh = solid(above, barrel("x", [0.4 * r, 0.4 * r], rail.length, 0.15 * r), dark);
        mesh.quaternion.setFromUnitVectors(X, rail.axis.applyQuaternion(back));
        mesh.position.copy(rail.start.applyQuaternion(back));
      }
      if (slides && !rail) {
        const mesh = solid(this.#root, barrel("x", [0.45 * r, 0.45 * r], 1, 0.2 * r), dark);
        this.#rods.push({ from: parent, to: link, mesh });
      } else {
        // From the joint above to this one, in the frame of the link above.
        const to = place(link).sub(place(parent)).applyQuaternion(turn(parent).invert());
        const length = to.length();
        if (length > 1.2 * r) {
          const mesh = solid(above, barrel("x", [0.85 * width[parent]!, 0.85 * r], length, 0.3 * r), shell);
          mesh.quaternion.setFromUnitVectors(X, to.divideScalar(length));
        }
      }
      const own = this.#links[link]!;
      if (axis && !slides) {
        for (const [radius, long, material] of [[1.25, 2.3, shell], [0.8, 2.45, band]] as const) {
          const mesh = solid(own, barrel("z", [radius * r, radius * r], long * r, 0.15 * r).translate(0, 0, (-long * r) / 2), material);
          mesh.quaternion.setFromUnitVectors(Z, new Vector3(...axis));
        }
      } else if (dofs.length > 0) solid(own, sphere(1.3 * r), slides ? dark : band);
    });
    solid(this.#root, barrel("z", [1.9 * width[0]!, 1.7 * width[0]!], 0.5 * width[0]!, 0.2 * width[0]!).translate(0, 0, -0.25 * width[0]!), dark);
    this.#ball = solids.group();
    solid(this.#ball, sphere(0.03), ball);
  }

  /** Shows the robot at frames, and the target. */
  show(frames: Float64Array, target: Xyz): void {
    this.#links.forEach((group, link) => {
      group.position.fromArray(frames, 7 * link);
      group.quaternion.fromArray(frames, 7 * link + 3);
    });
    for (const { from, to, mesh } of this.#rods) {
      mesh.position.fromArray(frames, 7 * from);
      const way = new Vector3().fromArray(frames, 7 * to).sub(mesh.position);
      const length = way.length();
      mesh.visible = length > 0;
      if (length === 0) continue;
      mesh.scale.x = length;
      mesh.quaternion.setFromUnitVectors(X, way.divideScalar(length));
    }
    this.#ball.position.set(target[0], target[1], target[2]);
  }

  /** Takes the solids away. */
  remove(): void {
    this.#solids.drop(this.#root);
    this.#solids.drop(this.#ball);
  }
}
