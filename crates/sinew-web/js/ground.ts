/** Grounds to stand on. */

import { type Engine, Owned, describe, engineOf } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, floats, number, optional, putVector, type Vector } from "./exchange.js";
import { checkNames } from "./goal.js";
import { wholeGlue, type Glue } from "./whole_glue.js";

/** Stairs, for a walk that starts at `origin`. Lengths are in metres. */
export interface Stairs {
  origin?: Vector;
  /** Direction of the walk in radians about y from z, positive towards x. */
  heading?: number;
  /** Height and depth of a step; 0.17 and 0.29 by default. */
  rise?: number;
  going?: number;
  /** Count of steps; 8 by default. */
  steps?: number;
  width?: number;
  /** Floor from the start to the first step, behind the start, and after the last step. */
  lead?: number;
  before?: number;
  landing?: number;
  flight?: "up" | "down" | "up and down";
}

/** A ramp, for a walk that starts at `origin`. Lengths are in metres. */
export interface Slope extends Pick<Stairs, "origin" | "heading" | "width" | "lead" | "before" | "landing"> {
  /** Slope in radians, positive up; 20 degrees by default. */
  angle?: number;
  /** Horizontal length; 4 by default. */
  length?: number;
}

/** Rough ground around `origin`. Lengths are in metres. */
export interface Rough {
  origin?: Vector;
  /** Extents along x and z; 16 by default. */
  size?: [number, number];
  seed?: number;
  /** Largest height above the origin's, and depth below it; 0.06 by default. */
  amplitude?: number;
  /** Distance between bumps; 1.5 by default. */
  wavelength?: number;
  /** Edge of the squares of the mesh; 0.125 by default. */
  cell?: number;
  /** Radius of the level spot around the origin; 0.4 by default. */
  level?: number;
}

/** Where a ray meets the ground, in world space. */
export interface GroundHit {
  /** Distance from the ray's origin, in metres. */
  distance: number;
  point: [number, number, number];
  /** Unit normal on the side from which the ray came. */
  normal: [number, number, number];
}

/** Ground to stand on, in world space: metres, y up. */
export class Ground extends Owned<Glue.RawGround> {
  /** @internal */
  static engine: Engine | undefined;

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawGround) {
    super(engine, raw);
  }

  /** A level plane without end. */
  static level(height = 0): Ground {
    const engine = engineOf(this);
    const at = number("the height", height);
    if (!Number.isFinite(at)) throw new SinewError("input", `the height of a ground must be finite, not ${at}`);
    return new Ground(engine, wholeGlue(engine).RawGround.level(at));
  }

  /**
   * Triangles: positions of vertices, x, y, z each, and three indices of vertices for each triangle; without indices, each three
   * vertices make one. Corners are counter-clockwise seen from above.
   */
  static mesh(positions: ArrayLike<number>, indices?: ArrayLike<number> | null): Ground {
    const engine = engineOf(this);
    const places = floats("the positions", positions, 3);
    const corners = indices ?? Uint32Array.from({ length: places.length / 3 }, (_, i) => i);
    if (typeof corners !== "object" || corners.length % 3 !== 0) {
      throw new SinewError("type", `a mesh must have three indices a triangle, not ${describe(corners)}`);
    }
    const triangles = corners instanceof Uint32Array ? corners : Uint32Array.from(corners);
    return new Ground(engine, engine.run(() => wholeGlue(engine).RawGround.mesh(places, triangles)));
  }

  /** Stairs. */
  static stairs(options: Stairs = {}): Ground {
    const flight = ["up", "down", "up and down"].indexOf(options?.flight ?? "up");
    if (flight < 0) throw new SinewError("type", `the flight must be "up", "down" or "up and down", not ${describe(options.flight)}`);
    const names = ["heading", "rise", "going", "steps", "width", "lead", "before", "landing"] as const;
    return terrain(engineOf(this), "stairs", options, names, { flight });
  }

  /** A ramp. */
  static slope(options: Slope = {}): Ground {
    return terrain(engineOf(this), "slope", options, ["heading", "angle", "length", "width", "lead", "before", "landing"]);
  }

  /** Rough ground. */
  static rough(options: Rough = {}): Ground {
    const { size, ...rest } = options ?? {};
    const given = { ...rest, x: size?.[0], z: size?.[1] };
    return terrain(engineOf(this), "rough", given, ["x", "z", "seed", "amplitude", "wavelength", "cell", "level"]);
  }

  /** Positions of its vertices, x, y, z each; empty for a plane. */
  get positions(): Float32Array {
    return this.raw.positions();
  }

  /** Indices of the vertices of its triangles, three each; empty for a plane. */
  get indices(): Uint32Array {
    return this.raw.indices();
  }

  /** Casts a ray; null if it meets nothing within its reach, in metres. */
  cast(origin: Vector, direction: Vector, reach: number): GroundHit | null {
    const { raw } = this;
    const n = this.engine.exchange.numbers;
    putVector(n, OTHER, "the ray's origin", origin);
    putVector(n, OTHER + 3, "the ray's direction", direction);
    const [x, y, z] = [n[OTHER + 3]!, n[OTHER + 4]!, n[OTHER + 5]!];
    const length = Math.hypot(x, y, z);
    if (!(length > 0 && length < Infinity)) throw new SinewError("input", `the ray's direction has no length: ${x}, ${y}, ${z}`);
    [n[OTHER + 3], n[OTHER + 4], n[OTHER + 5]] = [x / length, y / length, z / length];
    n[OTHER + 6] = number("the ray's reach", reach);
    if (!this.engine.run(() => raw.cast())) return null;
    const hit = this.engine.exchange.numbers.subarray(OTHER, OTHER + 7);
    return { distance: hit[0]!, point: [hit[1]!, hit[2]!, hit[3]!], normal: [hit[4]!, hit[5]!, hit[6]!] };
  }

  /** Keeps the rays that are cast from now on, for {@link Ground.rays}, or keeps none, as at first. Forgets earlier ones. */
  keepRays(keep = true): void {
    this.raw.keepRays(Boolean(keep));
  }

  /** The rays that have been kept: origin and end of each, x, y, z, and 1 for a hit or 0 for none; seven numbers. */
  get rays(): Float32Array {
    return this.raw.rays();
  }
}

function terrain<N extends string>(
  engine: Engine,
  what: "stairs" | "slope" | "rough",
  options: { [name in N]?: number | undefined } & { origin?: Vector; flight?: unknown },
  names: readonly N[],
  more: { flight?: number } = {},
): Ground {
  checkNames(`the ${what}`, options, ["origin", ...names, ...Object.keys(more), ...(what === "rough" ? ["size"] : [])]);
  const n = engine.exchange.numbers;
  putVector(n, OTHER, "the origin", options.origin ?? [0, 0, 0]);
  names.forEach((name, i) => (n[OTHER + 3 + i] = optional(name, options[name])));
  for (const whole of ["steps", "seed"] as N[]) {
    const given = options[whole];
    if (given !== undefined && !(Number.isInteger(given) && given >= 0 && given < 2 ** 32)) {
      throw new SinewError("type", `${whole} must be a whole number from 0 on, not ${describe(given)}`);
    }
  }
  if (more.flight !== undefined) n[OTHER + 3 + names.length] = more.flight;
  return new Ground(engine, engine.run(() => wholeGlue(engine).RawGround[what]()));
}
