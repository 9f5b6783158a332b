/** The grounds of the page. */

import type { Terrain } from "../terrain.ts";

export const KINDS = ["flat", "stairs", "down", "slope", "rough"] as const;
export type Kind = (typeof KINDS)[number];

const STAIRS = { rise: 0.12, going: 0.4, lead: 0.9, before: 1, landing: 2.5, width: 1.6, steps: 7 };

export const TERRAINS: Record<Kind, Terrain> = {
  flat: { kind: "level" },
  stairs: { kind: "stairs", options: STAIRS },
  down: { kind: "stairs", options: { ...STAIRS, flight: "down" } },
  slope: { kind: "slope", options: { angle: 0.28, length: 2.6, lead: 0.6, before: 1, landing: 3, width: 1.6 } },
  rough: { kind: "rough", options: { amplitude: 0.12, wavelength: 1, seed: 4, size: [8, 14] } },
};
