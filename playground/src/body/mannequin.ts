/** The solids of a figure: a lay figure of wood. */

import type { Pose } from "sinew/core";
import { Quaternion, Vector3, type Group } from "three";

import { barrel, solid, sphere, type Solids } from "../figure/solids.ts";
import type { Xyz } from "../shapes.ts";
import { index, JOINTS, NAMES } from "./joints.ts";

const UP = new Vector3(0, 1, 0);

export class Mannequin {
  readonly #groups: readonly Group[];

  constructor(solids: Solids) {
    const wood = solids.material({ light: 0xe9d3b0, dark: 0xc7ab80 }, 0.6);
    const joint = solids.material({ light: 0xb98d5c, dark: 0x9a7448 }, 0.6);
    const groups = NAMES.map(() => solids.group());
    this.#groups = groups;
    const group = (name: string) => groups[index(name)]!;
    const bead = (name: string, radius: number, at: Xyz = [0, 0, 0]) => solid(group(name), sphere(radius), joint).position.set(...(at as [number, number, number]));
    const egg = (name: string, [x, y, z]: Xyz, at: Xyz) => {
      const mesh = solid(group(name), sphere(1), wood);
      mesh.scale.set(x, y, z);
      mesh.position.set(...(at as [number, number, number]));
    };
    /** From a joint towards another one's place: radii, the gaps at both ends, and how flat it is. */
    const limb = (name: string, to: string, radii: readonly [number, number], gap: number, flat = 1) => {
      const end = new Vector3(...(JOINTS[index(to)]!.at as [number, number, number]));
      const length = end.length();
      const mesh = solid(group(name), barrel("y", radii, length - 2 * gap, 0.9 * Math.min(...radii)), wood);
      mesh.quaternion.copy(new Quaternion().setFromUnitVectors(UP, end.clone().normalize()));
      mesh.position.copy(end.multiplyScalar(gap / length));
      mesh.scale.z = flat;
    };
    egg("hips", [0.15, 0.1, 0.105], [0, -0.01, 0]);
    bead("waist", 0.075);
    egg("waist", [0.128, 0.085, 0.09], [0, 0.07, 0]);
    bead("chest", 0.07);
    egg("chest", [0.16, 0.155, 0.108], [0, 0.125, 0]);
    bead("neck", 0.045, [0, -0.01, 0]);
    limb("neck", "head", [0.04, 0.036], 0.0);
    bead("head", 0.035);
    egg("head", [0.078, 0.115, 0.095], [0, 0.1, 0.015]);
    egg("head", [0.013, 0.024, 0.02], [0, 0.088, 0.106]);
    for (const side of ["left", "right"]) {
      const of = (part: string) => `${side} ${part}`;
      bead(of("shoulder"), 0.054);
      limb(of("shoulder"), of("elbow"), [0.047, 0.037], 0.03);
      bead(of("elbow"), 0.038);
      limb(of("elbow"), of("hand"), [0.038, 0.026], 0.024);
      bead(of("hand"), 0.025);
      limb(of("hand"), of("fingers"), [0.036, 0.026], 0.012, 0.55);
      bead(of("hip"), 0.07);
      limb(of("hip"), of("knee"), [0.074, 0.05], 0.035);
      bead(of("knee"), 0.05);
      limb(of("knee"), of("foot"), [0.052, 0.034], 0.034);
      bead(of("foot"), 0.036);
      // The foot, along the floor.
      const foot = solid(group(of("foot")), barrel("z", [0.042, 0.038], 0.25, 0.034), wood);
      foot.position.set(0, -0.052, -0.075);
      foot.scale.set(1.05, 0.8, 1);
    }
  }

  /** Shows a pose. */
  show(pose: Pose): void {
    this.#groups.forEach((group, n) => {
      const { position, rotation } = pose.model(n);
      group.position.fromArray(position);
      group.quaternion.fromArray(rotation);
    });
  }
}
