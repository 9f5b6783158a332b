/** Solids along a chain: a snake's skin, and the plates of a ribbon. */

import type { Group } from "three";

import type { Pose } from "sinew/core";

import { barrel, box, solid, sphere, type Solids } from "../figure/solids.ts";
import type { Laid } from "./laid.ts";

/** Parts that stand at the joints of a chain, one for each bone, which points along x. */
class Parts {
  readonly #solids: Solids;
  #made: { bones: number; length: number; groups: readonly Group[] } | undefined;

  constructor(solids: Solids) {
    this.#solids = solids;
  }

  show({ bones, length }: Laid, pose: Pose, make: (group: Group, n: number) => void): void {
    if (this.#made?.bones !== bones || this.#made.length !== length) {
      for (const group of this.#made?.groups ?? []) this.#solids.drop(group);
      this.#made = { bones, length, groups: Array.from({ length: bones }, () => this.#solids.group()) };
      this.#made.groups.forEach(make);
    }
    this.#made.groups.forEach((group, n) => {
      const { position, rotation } = pose.model(n);
      group.position.fromArray(position);
      group.quaternion.fromArray(rotation);
    });
  }

  set visible(visible: boolean) {
    for (const group of this.#made?.groups ?? []) group.visible = visible;
  }
}

/** Radius of a snake at its thickest, in metres. */
export const THICK = 0.075;

/** Radius at a share of the length from head to tail. */
function radius(share: number): number {
  return THICK * Math.min(0.72 + 1.4 * share, 1) * (share < 0.55 ? 1 : 1 - 0.86 * ((share - 0.55) / 0.45) ** 1.4);
}

/** A snake, whose head is at the root. */
export class Snake {
  readonly #parts: Parts;
  readonly #skins;

  constructor(solids: Solids) {
    this.#parts = new Parts(solids);
    this.#skins = {
      bands: [solids.material({ light: 0x3f9a55, dark: 0x63b873 }), solids.material({ light: 0x2c6f43, dark: 0x3f8a55 })],
      eye: solids.material({ light: 0x17191d, dark: 0x101216 }, 0.2),
    };
  }

  show(laid: Laid, pose: Pose, visible: boolean): void {
    const { bones, length } = laid;
    const { bands, eye } = this.#skins;
    this.#parts.show(laid, pose, (group, n) => {
      const [from, to] = [radius(n / bones), radius((n + 1) / bones)];
      const skin = bands[n % 2]!;
      solid(group, sphere(from), skin);
      solid(group, barrel("x", [from, to], length / bones, 0.0005), skin);
      if (n === bones - 1) solid(group, sphere(to), skin).position.x = length / bones;
      if (n > 0) return;
      const head = solid(group, sphere(1), skin);
      head.scale.set(1.75 * THICK, 0.8 * THICK, 1.15 * THICK);
      head.position.x = -0.6 * THICK;
      for (const side of [-1, 1]) {
        solid(group, sphere(0.2 * THICK), eye).position.set(-1.25 * THICK, 0.52 * THICK, side * 0.66 * THICK);
      }
    });
    this.#parts.visible = visible;
  }
}

/** A ribbon of plates, with a light upper side and a dark lower side. */
export class Ribbon {
  readonly #parts: Parts;
  readonly #sides;

  constructor(solids: Solids) {
    this.#parts = new Parts(solids);
    this.#sides = [solids.material({ light: 0xe8a33d, dark: 0xf0b65a }), solids.material({ light: 0x4a6fa5, dark: 0x4f78b8 })];
  }

  show(laid: Laid, pose: Pose): void {
    this.#parts.show(laid, pose, (group) => {
      const long = 0.8 * (laid.length / laid.bones);
      for (const [side, material] of this.#sides.entries()) {
        solid(group, box([long, 0.012, 0.2], [laid.length / laid.bones / 2, side === 0 ? 0.006 : -0.006, 0], 0.004), material);
      }
    });
  }
}
