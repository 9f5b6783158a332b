/** Bones, joints, limits, goals and more as shapes to draw, and as arrays of vertices for a graphics card. */

import type { Glue } from "./core.glue.js";
import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, floats, number, putRotation, putVector, type Rotation, type Vector } from "./exchange.js";
import { type Goal, type Report, checkNames, putGoal } from "./goal.js";
import { Chain2d } from "./plane.js";
import { Pose } from "./pose.js";
import type { JointRef } from "./skeleton.js";
import { Curve } from "./spline.js";

/** The background that colours are for: each has a contrast of at least 3 to it. */
export type Theme = "light" | "dark";

const ROLES = [
  ...(["bone", "joint", "goal", "pole", "ray", "hit", "ground", "limit", "reference", "handle", "swivel", "needle"] as const),
  ...(["preferred", "residual", "axis-x", "axis-y", "axis-z", "path", "angle"] as const),
] as const;

/** The meaning of a shape, which sets its colour. */
export type ShapeRole = (typeof ROLES)[number];

const KINDS = ["segments", "polyline", "triangles", "area", "discs"] as const;

/**
 * The arrangement of a shape's points: separate lines of two points each, one line through all, opaque or translucent triangles of three
 * points each, or discs that face the viewer.
 */
export type ShapeKind = (typeof KINDS)[number];

/** The look of the shapes that a call adds. */
export interface ShapeStyle {
  /** The side of the body that they belong to: left and right have colours of their own. None by default. */
  side?: "left" | "right" | undefined;
  /** Their sRGB colour as a number, such as `0x0072b2`; by default that of the theme, by role, side and state. */
  color?: number | undefined;
}

/** The look of joints' shapes. */
export interface JointsStyle extends ShapeStyle {
  /** The joints; all of the pose by default. */
  joints?: readonly JointRef[] | undefined;
}

/** Vertices of one kind of primitive. */
export interface Vertices {
  /** x, y, z of each vertex, in metres. */
  readonly positions: Float32Array;
  /**
   * Red, green, blue and opacity of each vertex, 0 to 1, in linear light, as shaders and three.js's vertex colours have them. Colour is not
   * multiplied by opacity.
   */
  readonly colors: Float32Array;
}

/** A {@link DrawList} as arrays of vertices: four draw calls show all of it. */
export interface Batches {
  /** Lines: two vertices each. */
  readonly lines: Vertices;
  /** Opaque triangles: three vertices each, counter-clockwise as seen from their front. */
  readonly solids: Vertices;
  /** Translucent triangles, seen from both sides: drawn after what is opaque, without writing depth. */
  readonly areas: Vertices;
  /** Discs that face the viewer: the centre of each, and its radius in metres; of radius 0, a dot of any size. */
  readonly discs: Vertices & { readonly radii: Float32Array };
}

/** A text at a position. */
export interface Label {
  readonly text: string;
  /** x, y, z of the position that the text belongs to. */
  readonly at: readonly [number, number, number];
  /** Unit direction from the position in which the text hides least; zeros for none. */
  readonly away: readonly [number, number, number];
  readonly role: ShapeRole;
  /** The theme's sRGB colour for it, as a number. */
  readonly color: number;
}

/** First number of the style. */
const STYLE = OTHER + 16;
const SIDES = ["left", "right"] as const;
const NAMES = ["side", "color"];

function choice<T extends string>(what: string, names: readonly T[], given: unknown): number {
  const index = names.indexOf(given as T);
  if (index < 0) throw new SinewError("type", `${what} must be one of ${names.join(", ")}, not ${describe(given)}`);
  return index;
}

function isDark(theme: Theme): boolean {
  return choice("the theme", ["light", "dark"], theme) === 1;
}

function triple(n: Float64Array, at: number): [number, number, number] {
  return [n[at]!, n[at + 1]!, n[at + 2]!];
}

/** A style that is an object. */
function given<T extends object>(style: T): T {
  if (typeof style !== "object" || style === null) throw new SinewError("type", `a style must be an object, not ${describe(style)}`);
  return style;
}

/**
 * A list of shapes and labels. Clear it and fill it again each frame: it keeps its memory.
 *
 * ```ts
 * const list = new DrawList();
 * list.bones(pose).limits(pose, 0.1).solvedGoal(goal, pose.model("hand").position, report, 0.05);
 * const { lines, solids, areas, discs } = list.batches("dark");
 * ```
 */
export class DrawList extends Owned<Glue.RawDrawList> {
  /** @internal */
  static engine: Engine | undefined;

  /** An empty list. */
  constructor() {
    const engine = engineOf(new.target);
    super(engine, new engine.glue.RawDrawList());
  }

  /** Removes all shapes and labels. */
  clear(): this {
    this.raw.clear();
    return this;
  }

  /** Adds a shape of points, x, y, z each. `radius`, in metres, is that of discs. */
  push(kind: ShapeKind, role: ShapeRole, points: ArrayLike<number>, style: ShapeStyle & { radius?: number } = {}): this {
    const { radius = 0, ...rest } = given(style);
    const [which, what] = [choice("the kind", KINDS, kind), choice("the role", ROLES, role)];
    const numbers = floats("points", points, 3);
    return this.#add(rest, (raw) => raw.push(which, what, number("the radius", radius), numbers));
  }

  /**
   * Adds the bones of a pose, in model space: an octahedron from each joint's parent to the joint, and a disc at the joint. `thickness` is
   * the largest half width of an octahedron as a share of its bone's length, 0.08 by default; 0 gives lines.
   */
  bones(pose: Pose, style: JointsStyle & { thickness?: number } = {}): this {
    const { thickness = 0.08, ...rest } = given(style);
    return this.#joints(pose, rest, (raw, of, joints) => raw.bones(of, joints, number("the thickness", thickness)));
  }

  /** Adds the limits of a pose's joints as wedges and cones of a radius in metres, with the present values. */
  limits(pose: Pose, radius: number, style: JointsStyle = {}): this {
    return this.#joints(pose, style, (raw, of, joints) => raw.limits(of, joints, number("the radius", radius)));
  }

  /** Adds the names of a pose's joints as labels. */
  names(pose: Pose, style: JointsStyle = {}): this {
    return this.#joints(pose, style, (raw, of, joints) => raw.names(of, joints));
  }

  /** Adds one bone from a position to another. */
  bone(from: Vector, to: Vector, style: ShapeStyle & { thickness?: number } = {}): this {
    const { thickness = 0.08, ...rest } = given(style);
    this.#put("the bone's start", from, 0);
    this.#put("the bone's end", to, 3);
    return this.#add(rest, (raw) => raw.bone(number("the thickness", thickness)));
  }

  /** Adds a goal: a cross of this size in metres. */
  goal(position: Vector, size: number, style: ShapeStyle = {}): this {
    this.#put("the position", position, 0);
    return this.#add(style, (raw) => raw.goal(number("the size", size)));
  }

  /**
   * Adds a goal after a solve: a cross and the axes of its rotation, and a dashed line to it from `end`, the position of the chain's end,
   * where the solve has missed it. A goal out of reach has a colour of its own.
   */
  solvedGoal(goal: Goal, end: Vector, report: Report, size: number, style: ShapeStyle = {}): this {
    const n = this.engine.exchange.numbers;
    putGoal(n, goal);
    this.#put("the end", end, 0);
    if (typeof report !== "object" || report === null) throw new SinewError("type", `the report must be a Report, not ${describe(report)}`);
    n[OTHER + 3] = number("the report's outOfReach", report.outOfReach);
    n[OTHER + 4] = number("the report's positionResidual", report.positionResidual);
    n[OTHER + 5] = number("the report's positionTolerance", report.positionTolerance);
    return this.#add(style, (raw) => raw.solvedGoal(number("the size", size)));
  }

  /** Adds the axes of a frame: x red, y green, z blue, of a length in metres. */
  axes(position: Vector, rotation: Rotation, length: number): this {
    this.#put("the position", position, 0);
    putRotation(this.engine.exchange.numbers, OTHER + 3, "the rotation", rotation);
    return this.#add({}, (raw) => raw.axes(number("the length", length)));
  }

  /** Adds a curve as a count of lines of equal length. */
  curve(curve: Curve, steps = 60, style: ShapeStyle = {}): this {
    const of = own(this.engine, "the curve", Curve, curve);
    if (!Number.isInteger(steps) || steps < 1 || steps > 1e5) {
      throw new SinewError("type", `the steps must be a whole number from 1 to 100000, not ${describe(steps)}`);
    }
    return this.#add(style, (raw) => raw.curve(of, steps));
  }

  /** Adds the angle between two directions at a position: a sector of a radius in metres, with a text beside its arc. */
  angle(position: Vector, directions: readonly [Vector, Vector], radius: number, text: string, style: ShapeStyle = {}): this {
    this.#put("the position", position, 0);
    this.#put("the first direction", directions?.[0], 3);
    this.#put("the second direction", directions?.[1], 6);
    return this.#add(style, (raw) => raw.angle(number("the radius", radius), String(text)));
  }

  /** Adds a pole: a line from the middle joint, and a disc of a radius in metres. */
  pole(middle: Vector, pole: Vector, radius: number, style: ShapeStyle = {}): this {
    this.#put("the middle", middle, 0);
    this.#put("the pole", pole, 3);
    return this.#add(style, (raw) => raw.pole(number("the radius", radius)));
  }

  /** Adds a cast as a line, with a disc of a radius in metres where it hit something. */
  ray(from: Vector, to: Vector, hit: boolean, radius: number, style: ShapeStyle = {}): this {
    this.#put("the ray's start", from, 0);
    this.#put("the ray's end", to, 3);
    return this.#add(style, (raw) => raw.ray(Boolean(hit), number("the radius", radius)));
  }

  /** Adds the bones of a chain in the plane, at z = 0. `thickness` is as for {@link DrawList.bones}. */
  chain2d(chain: Chain2d, style: ShapeStyle & { thickness?: number } = {}): this {
    const { thickness = 0.08, ...rest } = given(style);
    const of = own(this.engine, "the chain", Chain2d, chain);
    return this.#add(rest, (raw) => raw.chain2d(of, number("the thickness", thickness)));
  }

  /** Adds the limits of a chain in the plane as wedges of a radius in the plane's unit. */
  chain2dLimits(chain: Chain2d, radius: number, style: ShapeStyle = {}): this {
    const of = own(this.engine, "the chain", Chain2d, chain);
    return this.#add(style, (raw) => raw.chain2dLimits(of, number("the radius", radius)));
  }

  /** Adds a text at a position. `away` is the direction in which it hides least. */
  label(role: ShapeRole, position: Vector, text: string, away: Vector = [0, 0, 0]): this {
    const index = choice("the role", ROLES, role);
    this.#put("the position", position, 0);
    this.#put("the direction", away, 3);
    return this.#add({}, (raw) => raw.label(index, String(text)));
  }

  /**
   * The arrays of vertices, in the colours of a theme. They are views of the engine's memory, valid until the next call of anything in it:
   * upload or copy them at once.
   */
  batches(theme: Theme = "light"): Batches {
    const dark = isDark(theme);
    this.engine.run(() => this.raw.fill(dark));
    const { buffer } = this.engine.memory;
    const n = this.engine.exchange.numbers;
    const vertices = (at: number): Vertices => ({
      positions: new Float32Array(buffer, n[at], 3 * n[at + 2]!),
      colors: new Float32Array(buffer, n[at + 1], 4 * n[at + 2]!),
    });
    const radii = new Float32Array(buffer, n[OTHER + 12], n[OTHER + 11]);
    const [lines, solids, areas, discs] = [vertices(OTHER), vertices(OTHER + 3), vertices(OTHER + 6), vertices(OTHER + 9)];
    return { lines, solids, areas, discs: { ...discs, radii } };
  }

  /** The texts, with the colours of a theme. */
  labels(theme: Theme = "light"): Label[] {
    const { engine, raw } = this;
    const dark = isDark(theme);
    return Array.from({ length: raw.labelCount() }, (_, index) => {
      const text = engine.run(() => raw.labelAt(index, dark));
      const n = engine.exchange.numbers;
      const [at, away] = [triple(n, OTHER), triple(n, OTHER + 3)];
      return { text, at, away, role: ROLES[n[OTHER + 6]!]!, color: n[OTHER + 7]! };
    });
  }

  #put(what: string, given: Vector, at: number): void {
    putVector(this.engine.exchange.numbers, OTHER + at, what, given);
  }

  #add(style: ShapeStyle, call: (raw: Glue.RawDrawList) => void): this {
    const { engine, raw } = this;
    checkNames("a style", style, NAMES);
    const { side, color } = style;
    if (color !== undefined && !(Number.isInteger(color) && color >= 0 && color <= 0xffffff)) {
      throw new SinewError("type", `a colour must be a whole number from 0 to 0xffffff, not ${describe(color)}`);
    }
    const n = engine.exchange.numbers;
    n[STYLE] = side === undefined ? 0 : 1 + choice("the side", SIDES, side);
    n[STYLE + 1] = color ?? -1;
    engine.run(() => call(raw));
    return this;
  }

  #joints(pose: Pose, style: JointsStyle, call: (raw: Glue.RawDrawList, pose: Glue.RawPose, joints?: Uint32Array) => void): this {
    const of = own(this.engine, "the pose", Pose, pose);
    checkNames("a style", style, [...NAMES, "joints"]);
    const { joints, ...rest } = style;
    if (joints !== undefined && !Array.isArray(joints)) {
      throw new SinewError("type", `the joints must be a list, not ${describe(joints)}`);
    }
    const indices = joints && Uint32Array.from(joints as readonly JointRef[], (joint) => pose.skeleton.index(joint));
    return this.#add(rest, (raw) => call(raw, of, indices));
  }
}
