/** Goals, options and reports of solves. */

import { describe } from "./engine.js";
import { SinewError } from "./error.js";
import { GOAL, OPTIONS, REPORT, number, putRotation, putVector, type Rotation, type Vector } from "./exchange.js";

/** What the end of a chain is to reach, in model space. */
export interface Goal {
  /** Position of the chain's end, in metres. Without it the end stays where the pose has it. */
  position?: Vector;
  /** Rotation of the tip joint. Without it the rotation is free. */
  rotation?: Rotation;
  /** Point that the middle of the chain turns towards, in metres. */
  pole?: Vector;
  /** Direction that the middle of the chain turns towards, of any length; not together with `pole`. */
  poleDirection?: Vector;
  /** Turn of the chain about the line from its root to the goal, in radians, added to the pole's or to the pose's; 0 by default. */
  swivel?: number;
  /** Share of the position that is applied, 0 to 1; 1 by default. */
  positionInfluence?: number;
  /** Share of the rotation that is applied, 0 to 1; 1 by default. */
  rotationInfluence?: number;
}

/** Options of solves. */
export interface SolveOptions {
  /** Share of the result that is applied, 0 to 1; 1 by default. */
  influence?: number;
  /** Largest turn of a joint in this solve, in radians; no bound by default. Speed times the frame's time bounds speed. */
  maxTurn?: number;
  /** Length of the zone before full extension in which the chain falls behind the goal, as a share of the reach, 0 to 1; 0 by default. */
  soft?: number;
  /** Distance in metres within which a goal counts as reached; by default a ten-thousandth of the chain's length. */
  tolerance?: number;
  /** Angle in radians within which a rotation counts as reached; 0.001 by default. */
  rotationTolerance?: number;
  /** Largest count of iterations; by default the solver's own. */
  iterations?: number;
  /** Largest count of fresh starts; by default the solver's own. */
  restarts?: number;
}

/** Options of solves of two-bone limbs. */
export interface LimbSolveOptions extends Pick<SolveOptions, "influence" | "maxTurn" | "soft"> {
  /** Smallest flexion of the limb, in radians; 0 by default. */
  minFlexion?: number;
}

/** How a solve ended: at its target, without a step that helps, or at the bound of iterations. */
export type Outcome = "converged" | "stalled" | "out of iterations";

const OUTCOMES: readonly Outcome[] = ["converged", "stalled", "out of iterations"];

/** The result of a solve, measured on the pose that it left. */
export class Report {
  /** How the solve ended. A closed form converges at the nearest position to a goal out of reach. */
  readonly outcome: Outcome;
  /** Distance of the goal from the chain's reach, in metres; 0 within it. */
  readonly outOfReach: number;
  /** Count of updates of the whole chain. */
  readonly iterations: number;
  /** Count of fresh starts. */
  readonly restarts: number;
  /** Distance from the chain's end to the goal, in metres. */
  readonly positionResidual: number;
  /** Angle from the tip's rotation to the goal's, in radians. */
  readonly rotationResidual: number;
  /** Largest position residual that counts as reached, in metres. */
  readonly positionTolerance: number;
  /** Largest rotation residual that counts as reached, in radians. */
  readonly rotationTolerance: number;
  /** Whether the pose has jumped to another branch, such as the other side of a bend. */
  readonly branchChanged: boolean;

  /** @internal */
  constructor(n: Float64Array) {
    this.outcome = OUTCOMES[n[REPORT]!]!;
    this.outOfReach = n[REPORT + 1]!;
    this.iterations = n[REPORT + 2]!;
    this.restarts = n[REPORT + 3]!;
    this.positionResidual = n[REPORT + 4]!;
    this.rotationResidual = n[REPORT + 5]!;
    this.positionTolerance = n[REPORT + 6]!;
    this.rotationTolerance = n[REPORT + 7]!;
    this.branchChanged = n[REPORT + 8] !== 0;
  }

  /** Whether both residuals are within their tolerances. */
  get reached(): boolean {
    return this.positionResidual <= this.positionTolerance && this.rotationResidual <= this.rotationTolerance;
  }
}

/** Writes a goal. @internal */
export function putGoal(n: Float64Array, goal: Goal): void {
  if (typeof goal !== "object" || goal === null) {
    throw new SinewError("type", `the goal must be an object such as { position }, not ${describe(goal)}`);
  }
  const { position, rotation, pole, poleDirection, swivel, positionInfluence, rotationInfluence } = goal;
  let flags = 0;
  if (position !== undefined) {
    putVector(n, GOAL + 1, "the goal's position", position);
    flags |= 1;
  }
  if (rotation !== undefined) {
    putRotation(n, GOAL + 4, "the goal's rotation", rotation);
    flags |= 2;
  }
  if (pole !== undefined) {
    putVector(n, GOAL + 8, "the goal's pole", pole);
    flags |= 4;
  }
  if (poleDirection !== undefined) {
    if (pole !== undefined) throw new SinewError("type", "the goal has both a pole and a poleDirection: leave one out");
    putVector(n, GOAL + 8, "the goal's poleDirection", poleDirection);
    flags |= 8;
  }
  if (flags === 0 && swivel === undefined) {
    const names = Object.keys(goal).map((name) => `\`${name}\``);
    throw new SinewError(
      "type",
      `the goal must have a position, a rotation, a pole, a poleDirection or a swivel; it has ${names.join(", ") || "nothing"}`,
    );
  }
  n[GOAL] = flags;
  n[GOAL + 11] = swivel === undefined ? 0 : number("the goal's swivel", swivel);
  n[GOAL + 12] = positionInfluence === undefined ? 1 : number("the goal's positionInfluence", positionInfluence);
  n[GOAL + 13] = rotationInfluence === undefined ? 1 : number("the goal's rotationInfluence", rotationInfluence);
}

/** Checks names of options, once for options that are given to a constructor. @internal */
export function checkNames(what: string, given: object, known: readonly string[]): void {
  if (typeof given !== "object" || given === null) {
    throw new SinewError("type", `${what} must be an object, not ${describe(given)}`);
  }
  for (const name of Object.keys(given)) {
    if (!known.includes(name)) {
      throw new SinewError("type", `there is no \`${name}\` in ${what}: there are ${known.map((name) => `\`${name}\``).join(", ")}`);
    }
  }
}

/** @internal */
export const OPTION_NAMES: readonly (keyof SolveOptions)[] = [
  ...(["influence", "maxTurn", "soft", "tolerance", "rotationTolerance", "iterations", "restarts"] as const),
];

/** @internal */
export const LIMB_OPTION_NAMES: readonly (keyof LimbSolveOptions)[] = ["influence", "maxTurn", "soft", "minFlexion"];

type AnyOptions = SolveOptions & LimbSolveOptions;

const NONE: AnyOptions = {};

/** A count from 0 on; -1 for the solver's own. @internal */
export function count(what: string, given: number | undefined): number {
  if (given === undefined) return -1;
  if (!Number.isInteger(given) || given < 0 || given > 1e6) {
    throw new SinewError("type", `${what} must be a whole number from 0 to 1000000, not ${describe(given)}`);
  }
  return given;
}

/** Writes options: those of a call, which have `names`, else those of the solver, else the defaults. @internal */
export function putOptions(
  n: Float64Array,
  own: AnyOptions,
  given: AnyOptions | undefined,
  share: number,
  names: readonly string[] = OPTION_NAMES,
): void {
  if (given !== undefined) checkNames("options", given, names);
  const { influence, maxTurn, soft, tolerance, rotationTolerance, iterations, restarts, minFlexion } = given ?? NONE;
  const pick = (what: string, given: number | undefined, own: number | undefined, other: number): number => {
    const value = given ?? own;
    return value === undefined ? other : number(what, value);
  };
  n[OPTIONS] = pick("influence", influence, own.influence, 1);
  n[OPTIONS + 1] = pick("maxTurn", maxTurn, own.maxTurn, Infinity);
  n[OPTIONS + 2] = pick("soft", soft, own.soft, 0);
  const metres = tolerance ?? own.tolerance;
  n[OPTIONS + 3] = metres === undefined ? share : number("tolerance", metres);
  n[OPTIONS + 4] = metres === undefined ? 0 : 1;
  n[OPTIONS + 5] = pick("rotationTolerance", rotationTolerance, own.rotationTolerance, Math.fround(1e-3));
  n[OPTIONS + 6] = count("iterations", iterations ?? own.iterations);
  n[OPTIONS + 7] = count("restarts", restarts ?? own.restarts);
  n[OPTIONS + 8] = pick("minFlexion", minFlexion, own.minFlexion, 0);
}
