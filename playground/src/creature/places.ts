/** Where the creature walks. */

import type { Files, Ground } from "sinew/files";

export const PLACES = ["flat", "rough", "steps", "slope"] as const;
export type Place = (typeof PLACES)[number];

/** Measures of each place, as both languages have them. */
const SHAPES = {
  rough: { amplitude: 0.12, wavelength: 0.9, seed: 11, level: 0.3, cell: 0.1 },
  steps: { origin: [0, 0, -0.2], rise: 0.07, going: 0.3, lead: 0.5, before: 2, landing: 1.2, width: 2.4, steps: 4 },
  slope: { origin: [0, 0, -0.2], angle: 0.3, length: 1.8, lead: 0.3, before: 2, landing: 1.4, width: 4 },
} as const;
const SIZE = 6;

/** Makes the ground of a place. */
export function groundOf(files: Files, place: Place): Ground {
  if (place === "flat") return files.Ground.level(0);
  if (place === "rough") return files.Ground.rough({ ...SHAPES.rough, size: [SIZE, SIZE] });
  if (place === "slope") return files.Ground.slope({ ...SHAPES.slope, origin: [...SHAPES.slope.origin] });
  return files.Ground.stairs({ ...SHAPES.steps, origin: [...SHAPES.steps.origin], flight: "up and down" });
}

/** The program text that makes it, in TypeScript and in Rust. */
export function groundCode(place: Place): { typescript: string; rust: string; imports: string } {
  if (place === "flat") return { typescript: "Ground.level(0)", rust: "Plane::level(0.0)", imports: "Plane" };
  const shape: Record<string, number | readonly number[]> = SHAPES[place];
  const real = (value: number) => (Number.isInteger(value) ? `${value}.0` : String(value));
  const typescript = Object.entries(shape).map(([name, value]) => `${name}: ${typeof value === "number" ? value : `[${value.join(", ")}]`}`);
  const rust = Object.entries(shape).map(([name, value]) => {
    const written = typeof value !== "number" ? `Vec3::new(${value.map(real).join(", ")})` : name === "steps" || name === "seed" ? `${value}` : real(value);
    return `\n        .with_${name}(${written})`;
  });
  const [type, more] = { rough: ["Rough", [`size: [${SIZE}, ${SIZE}]`]], steps: ["Stairs", ['flight: "up and down"']], slope: ["Slope", []] }[place] as [string, string[]];
  const set = { rough: `\n        .with_size(Vec2::splat(${SIZE}.0))`, steps: "\n        .with_flight(Flight::UpAndDown)", slope: "" }[place];
  return {
    typescript: `Ground.${type.toLowerCase()}({ ${[...typescript, ...more].join(", ")} })`,
    rust: `MeshGround::new(${type}::new()${rust.join("")}${set}\n        .mesh()?)?`,
    imports: place === "steps" ? "MeshGround, terrain::{Flight, Stairs}" : `MeshGround, terrain::${type}`,
  };
}
