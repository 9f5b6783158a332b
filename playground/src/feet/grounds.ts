/** The grounds of the page. */

import { BufferAttribute, BufferGeometry } from "three";

import type { Files, Ground } from "sinew/files";

export const KINDS = ["flat", "stairs", "down", "slope", "rough"] as const;
export type Kind = (typeof KINDS)[number];

/** Measures of each ground, as both languages have them. */
export const SHAPES = {
  stairs: { rise: 0.12, going: 0.4, lead: 0.9, before: 1, landing: 2.5, width: 1.6, steps: 7 },
  slope: { angle: 0.28, length: 2.6, lead: 0.6, before: 1, landing: 3, width: 1.6 },
  rough: { amplitude: 0.12, wavelength: 1, seed: 4 },
} as const;

/** Makes a ground. */
export function groundOf(files: Files, kind: Kind): Ground {
  if (kind === "flat") return files.Ground.level(0);
  if (kind === "slope") return files.Ground.slope(SHAPES.slope);
  if (kind === "rough") return files.Ground.rough({ ...SHAPES.rough, size: [8, 14] });
  return files.Ground.stairs({ ...SHAPES.stairs, flight: kind === "down" ? "down" : "up" });
}

/** The program text that makes it, in TypeScript and in Rust. */
export function groundCode(kind: Kind): { typescript: string; rust: string; imports: string } {
  const listed = (shape: Record<string, number>) => Object.entries(shape).map(([name, value]) => `${name}: ${value}`).join(", ");
  const real = (value: number) => (Number.isInteger(value) ? `${value}.0` : String(value));
  const set = (shape: Record<string, number>, whole: readonly string[] = []) =>
    Object.entries(shape).map(([name, value]) => `\n        .with_${name}(${whole.includes(name) ? value : real(value)})`).join("");
  const mesh = (made: string) => `MeshGround::new(${made}\n        .mesh()?)?`;
  if (kind === "flat") return { typescript: "Ground.level(0)", rust: "Plane::level(0.0)", imports: "Plane" };
  if (kind === "slope") {
    return { typescript: `Ground.slope({ ${listed(SHAPES.slope)} })`, rust: mesh(`Slope::new()${set(SHAPES.slope)}`), imports: "MeshGround, terrain::Slope" };
  }
  if (kind === "rough") {
    return {
      typescript: `Ground.rough({ ${listed(SHAPES.rough)}, size: [8, 14] })`,
      rust: mesh(`Rough::new()${set(SHAPES.rough, ["seed"])}\n        .with_size(Vec2::new(8.0, 14.0))`),
      imports: "MeshGround, terrain::Rough",
    };
  }
  const down = kind === "down";
  return {
    typescript: `Ground.stairs({ ${listed(SHAPES.stairs)}, flight: "${down ? "down" : "up"}" })`,
    rust: mesh(`Stairs::new()${set(SHAPES.stairs, ["steps"])}${down ? "\n        .with_flight(Flight::Down)" : ""}`),
    imports: `MeshGround, terrain::{${down ? "Flight, " : ""}Stairs}`,
  };
}

/** The triangles of a ground, with a normal each; undefined for a plane. */
export function geometryOf(ground: Ground): BufferGeometry | undefined {
  const { positions, indices } = ground;
  if (positions.length === 0) return undefined;
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(positions, 3));
  geometry.setIndex(new BufferAttribute(indices, 1));
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  geometry.dispose();
  return flat;
}

