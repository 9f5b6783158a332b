/** Where the creature walks. */

import type { Terrain } from "../terrain.ts";

export const PLACES = ["flat", "rough", "steps", "slope"] as const;
export type Place = (typeof PLACES)[number];

export const TERRAINS: Record<Place, Terrain> = {
  flat: { kind: "level" },
  rough: { kind: "rough", options: { amplitude: 0.12, wavelength: 0.9, seed: 11, level: 0.3, cell: 0.1, size: [6, 6] } },
  steps: {
    kind: "stairs",
    options: { origin: [0, 0, -0.2], rise: 0.07, going: 0.3, lead: 0.5, before: 2, landing: 1.2, width: 2.4, steps: 4, flight: "up and down" },
  },
  slope: { kind: "slope", options: { origin: [0, 0, -0.2], angle: 0.3, length: 1.8, lead: 0.3, before: 2, landing: 1.4, width: 4 } },
};
