/** Descriptions of joints: how they turn and slide, and within which limits. */

import { describe } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, number, optional, putVector, type Vector } from "./exchange.js";
import { checkNames } from "./goal.js";

/** One degree of freedom: an angle in radians or a displacement in metres, 0 in the rest pose. All parts may be left out. */
export interface Dof {
  /** Lower limit; none by default. */
  min?: number;
  /** Upper limit; none by default. */
  max?: number;
  /** Largest speed, in radians or metres per second; it bounds motion over time, not a single solve. */
  speed?: number;
  /** Size of the zone before each limit in which the joint stiffens, as a share of half the range, 0 to 1. */
  ease?: number;
  /** Share of each wanted step that the joint leaves out, 0 to 1. */
  stiffness?: number;
  /** Resistance to fast motion, in 1/radians or 1/metres, from 0 on. */
  damping?: number;
  /** Pull towards a value. */
  spring?: { rest: number; strength: number };
  /** Order of motion: higher ones move first. */
  precedence?: number;
  /** Value to bend towards where a goal decides no direction. */
  preferred?: number;
}

/** The order of turns about a joint's own axes; each turn carries the axes of the later ones. */
export type RotationOrder = "xyz" | "xzy" | "yxz" | "yzx" | "zxy" | "zyx";

/**
 * How a joint may move. Axes are in the joint's own frame in the rest pose, of any length. At most one of `fixed`, `hinge`,
 * `ball`, `cone` and `axes`; without one the joint turns freely. Without `slide` it does not slide.
 */
export interface JointLimits {
  /** The joint keeps its rest rotation. */
  fixed?: true;
  /** A turn about one axis. */
  hinge?: Dof & { axis: Vector };
  /**
   * A twist about an axis, then a swing of that axis. Swings are about `swingAxis` and about `twistAxis x swingAxis`; their
   * ranges end the half-axes of four quarters of ellipses.
   */
  ball?: { twistAxis: Vector; swingAxis: Vector; swing?: [Dof, Dof]; twist?: Dof; centre?: [number, number] };
  /** A swing within a cone about an axis, and a twist to either side of rest; angles in radians. */
  cone?: { axis: Vector; halfAngle: number; twist: number };
  /** Turns about the joint's own axes in order; an axis that is left out does not turn. */
  axes?: { order?: RotationOrder; x?: Dof; y?: Dof; z?: Dof };
  /** Displacements along the rest frame's axes, in metres, or along three unit vectors at right angles. */
  slide?: { x?: Dof; y?: Dof; z?: Dof; axes?: [Vector, Vector, Vector] };
}

const ORDERS: readonly RotationOrder[] = ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"];
const KINDS = ["fixed", "hinge", "ball", "cone", "axes"] as const;
const DOF_NAMES = ["min", "max", "speed", "ease", "stiffness", "damping", "spring", "precedence", "preferred"];
const PARTS = {
  hinge: [...DOF_NAMES, "axis"],
  ball: ["twistAxis", "swingAxis", "swing", "twist", "centre"],
  cone: ["axis", "halfAngle", "twist"],
  axes: ["order", "x", "y", "z"],
  slide: ["x", "y", "z", "axes"],
};
const SLIDE_AXES = OTHER + 10;
const DOFS = SLIDE_AXES + 9;

function putDof(n: Float64Array, index: number, what: string, dof: Dof | undefined): void {
  const at = DOFS + index * 11;
  n[at] = dof === undefined ? 0 : 1;
  if (dof === undefined) return;
  checkNames(what, dof, DOF_NAMES);
  if (dof.spring !== undefined) checkNames(`the spring of ${what}`, dof.spring, ["rest", "strength"]);
  const { min = -Infinity, max = Infinity, speed = Infinity, ease = 0, stiffness = 0, damping = 0 } = dof;
  const { spring = { rest: 0, strength: 0 }, precedence = 0 } = dof;
  const values = [min, max, speed, ease, stiffness, damping, spring.rest, spring.strength, precedence];
  values.forEach((value, i) => (n[at + 1 + i] = number(what, value)));
  n[at + 10] = optional(`the preferred value of ${what}`, dof.preferred);
}

/** Writes a joint's description. @internal */
export function putJoint(n: Float64Array, limits: JointLimits): void {
  checkNames("limits", limits, [...KINDS, "slide"]);
  for (const [name, names] of Object.entries(PARTS)) {
    const part = limits[name as keyof typeof PARTS];
    if (part !== undefined) checkNames(`the ${name}`, part, names);
  }
  const given = KINDS.filter((kind) => limits[kind] !== undefined);
  if (given.length > 1) throw new SinewError("type", `a joint is ${given.join(" or ")}, not both`);
  n.fill(0, OTHER, DOFS + 66);
  const { hinge, ball, cone, axes, slide } = limits;
  if (limits.fixed !== undefined) n[OTHER] = 1;
  if (hinge !== undefined) {
    n[OTHER] = 2;
    putVector(n, OTHER + 1, "the hinge's axis", hinge.axis);
    const { axis, ...dof } = hinge;
    putDof(n, 0, "the hinge", dof);
  }
  if (ball !== undefined) {
    n[OTHER] = 3;
    putVector(n, OTHER + 1, "the ball's twistAxis", ball.twistAxis);
    putVector(n, OTHER + 4, "the ball's swingAxis", ball.swingAxis);
    [n[OTHER + 7], n[OTHER + 8]] = (ball.centre ?? [0, 0]).map((c) => number("the ball's centre", c)) as [number, number];
    putDof(n, 0, "the ball's first swing", ball.swing?.[0]);
    putDof(n, 1, "the ball's second swing", ball.swing?.[1]);
    putDof(n, 2, "the ball's twist", ball.twist);
  }
  if (cone !== undefined) {
    n[OTHER] = 3;
    putVector(n, OTHER + 1, "the cone's axis", cone.axis);
    // Any axis across serves a circle; that of the smallest component is well defined. As the engine has it.
    const [x, y, z] = [1, 2, 3].map((i) => Math.abs(n[OTHER + i]!)) as [number, number, number];
    n[OTHER + 4 + (x <= y && x <= z ? 0 : y <= z ? 1 : 2)] = 1;
    const { halfAngle, twist } = cone;
    const range = (half: number) => ({ min: -half, max: half });
    putDof(n, 0, "the cone's halfAngle", range(number("the cone's halfAngle", halfAngle)));
    putDof(n, 1, "the cone's halfAngle", range(halfAngle));
    putDof(n, 2, "the cone's twist", range(number("the cone's twist", twist)));
  }
  if (axes !== undefined) {
    n[OTHER] = 4;
    const order = ORDERS.indexOf(axes.order ?? "xyz");
    if (order < 0) throw new SinewError("type", `the order of axes must be one of ${ORDERS.join(", ")}, not ${describe(axes.order)}`);
    n[OTHER + 9] = order;
    (["x", "y", "z"] as const).forEach((axis, i) => putDof(n, i, `the turn about ${axis}`, axes[axis]));
  }
  for (let i = 0; i < 3; i++) {
    const axis = slide?.axes?.[i];
    if (axis === undefined) n[SLIDE_AXES + 4 * i] = 1;
    else putVector(n, SLIDE_AXES + 3 * i, "an axis of the slide", axis);
  }
  (["x", "y", "z"] as const).forEach((axis, i) => putDof(n, 3 + i, `the slide along ${axis}`, slide?.[axis]));
}
