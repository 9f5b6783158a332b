/** Grounds of options, as both languages have them. */

import { BufferAttribute, BufferGeometry } from "three";

import type { Files, Ground } from "sinew/files";

type Options<Kind extends "slope" | "rough" | "stairs"> = NonNullable<Parameters<Files["Ground"][Kind]>[0]>;
export type Terrain =
  | { kind: "level" }
  | { kind: "slope"; options: Options<"slope"> }
  | { kind: "rough"; options: Options<"rough"> }
  | { kind: "stairs"; options: Options<"stairs"> };

/** Makes the ground. */
export function groundOf(files: Files, terrain: Terrain): Ground {
  switch (terrain.kind) {
    case "level":
      return files.Ground.level(0);
    case "slope":
      return files.Ground.slope(terrain.options);
    case "rough":
      return files.Ground.rough(terrain.options);
    case "stairs":
      return files.Ground.stairs(terrain.options);
  }
}

const FLIGHTS: Record<string, string> = { up: "Up", down: "Down", "up and down": "UpAndDown" };
/** Options that are whole numbers. */
const WHOLE = ["steps", "seed"];

/** The program text that makes it, in TypeScript and in Rust, and the imports of that. */
export function groundCode(terrain: Terrain): { typescript: string; rust: string; imports: string } {
  if (terrain.kind === "level") return { typescript: "Ground.level(0)", rust: "Plane::level(0.0)", imports: "Plane" };
  const options = Object.entries(terrain.options) as [string, number | string | readonly number[]][];
  const real = (value: number) => (Number.isInteger(value) ? `${value}.0` : String(value));
  const typescript = options.map(([name, value]) => {
    const written = Array.isArray(value) ? `[${value.join(", ")}]` : JSON.stringify(value);
    return `${name}: ${written}`;
  });
  const rust = options.map(([name, value]) => {
    const written = () => {
      if (typeof value === "string") return `Flight::${FLIGHTS[value]}`;
      if (typeof value !== "number") return `Vec${value.length}::new(${value.map(real).join(", ")})`;
      return WHOLE.includes(name) ? String(value) : real(value);
    };
    return `\n        .with_${name}(${written()})`;
  });
  const type = { slope: "Slope", rough: "Rough", stairs: "Stairs" }[terrain.kind];
  const flies = options.some(([name]) => name === "flight");
  return {
    typescript: `Ground.${terrain.kind}({ ${typescript.join(", ")} })`,
    rust: `MeshGround::new(${type}::new()${rust.join("")}\n        .mesh()?)?`,
    imports: `MeshGround, terrain::${flies ? `{Flight, ${type}}` : type}`,
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
