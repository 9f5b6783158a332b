/** A figure of a person's proportions, 1.7 m tall: its joints with a person's ranges, and poses as numbers. */

import type { Core, JointLimits, Pose } from "sinew/core";

import type { Xyz } from "../shapes.ts";

/** A joint: its parent, and its place on it while the figure stands with its arms spread, facing z. */
export interface BodyJoint {
  name: string;
  parent: string | null;
  at: Xyz;
  limits?: JointLimits;
  /** The rotation of the figure at ease, as a rotation vector. */
  ease?: Xyz;
}

const range = (min: number, max: number) => ({ min: (min * Math.PI) / 180, max: (max * Math.PI) / 180 });
const ball = (twistAxis: Xyz, swingAxis: Xyz, [a, b, c]: readonly (readonly [number, number])[]): JointLimits => ({
  ball: { twistAxis: [...twistAxis], swingAxis: [...swingAxis], swing: [range(...a!), range(...b!)], twist: range(...c!) },
});
const hinge = (axis: Xyz, min: number, max: number): JointLimits => ({ hinge: { axis: [...axis], ...range(min, max) } });
/** Forward, to the side, and twist of a part of the trunk, in degrees. */
const trunk = (forward: number, back: number, side: number, twist: number): JointLimits =>
  ball([0, 1, 0], [1, 0, 0], [[-back, forward], [-side, side], [-twist, twist]]);

// Ranges of motion are those of the American Academy of Orthopaedic Surgeons ("Joint Motion", 1965), rounded.
type Side = "left" | "right";

function arm(side: Side): BodyJoint[] {
  const s = side === "left" ? 1 : -1;
  const of = (part: string) => `${side} ${part}`;
  return [
    { name: of("collar"), parent: "chest", at: [0.03 * s, 0.2, 0], limits: ball([1, 0, 0], [0, -s, 0], [[-20, 20], [-35, 10], [-1, 1]]) },
    {
      ...{ name: of("shoulder"), parent: of("collar"), at: [0.145 * s, 0.01, 0] },
      limits: ball([1, 0, 0], [0, -s, 0], [[-45, 130], [-60, 95], [-80, 70]]),
      ease: [0, -0.12 * s, -1.2 * s],
    },
    { name: of("elbow"), parent: of("shoulder"), at: [0.28 * s, 0, 0], limits: hinge([0, -s, 0], 0, 148), ease: [0, -0.35 * s, 0] },
    { name: of("hand"), parent: of("elbow"), at: [0.25 * s, 0, 0], limits: ball([1, 0, 0], [0, 0, -s], [[-70, 75], [-25, 25], [-80, 80]]) },
    { name: of("fingers"), parent: of("hand"), at: [0.17 * s, 0, 0], limits: { fixed: true } },
  ];
}

function leg(side: Side): BodyJoint[] {
  const s = side === "left" ? 1 : -1;
  const of = (part: string) => `${side} ${part}`;
  return [
    {
      ...{ name: of("hip"), parent: "hips", at: [0.095 * s, -0.06, 0] },
      limits: ball([0, -s, 0], [-1, 0, 0], [[-25, 115], [-40, 30], [-40, 40]]),
      ease: [-0.1, 0, 0.04 * s],
    },
    { name: of("knee"), parent: of("hip"), at: [0, -0.42, 0], limits: hinge([1, 0, 0], 0, 145), ease: [0.18, 0, 0] },
    {
      ...{ name: of("foot"), parent: of("knee"), at: [0, -0.41, 0] },
      limits: ball([0, -s, 0], [-1, 0, 0], [[-45, 30], [-15, 20], [-15, 15]]),
      ease: [-0.08, 0, -0.04 * s],
    },
    { name: of("toes"), parent: of("foot"), at: [0, -0.06, 0.15], limits: { fixed: true } },
  ];
}

/** In the order of the engine: all that is below a joint follows it. */
export const JOINTS: readonly BodyJoint[] = [
  { name: "hips", parent: null, at: [0, 0.945, 0] },
  { name: "waist", parent: "hips", at: [0, 0.1, 0], limits: trunk(40, 15, 18, 25) },
  { name: "chest", parent: "waist", at: [0, 0.16, 0], limits: trunk(35, 15, 15, 25) },
  { name: "neck", parent: "chest", at: [0, 0.27, 0], limits: trunk(30, 35, 25, 40) },
  { name: "head", parent: "neck", at: [0, 0.09, 0.01], limits: trunk(25, 30, 20, 35) },
  { name: "crown", parent: "head", at: [0, 0.2, 0.01], limits: { fixed: true } },
  ...arm("left"),
  ...arm("right"),
  ...leg("left"),
  ...leg("right"),
];
export const NAMES = JOINTS.map(({ name }) => name);
export const index = (name: string): number => NAMES.indexOf(name);
export const parentOf = (name: string): string | null => JOINTS[index(name)]!.parent;

export function bodySkeleton(core: Core): InstanceType<Core["Skeleton"]> {
  return core.Skeleton.from(JOINTS.map(({ name, parent, at, limits }) => ({ name, parent, position: at, ...(limits ? { limits } : {}) })));
}

/** A pose as numbers: the hips' place, then the rotation vector of each joint. */
export type Numbers = readonly number[];

export function numbersOf(pose: Pose): number[] {
  const { rotations, positions } = pose;
  const vectors = NAMES.flatMap((_, n) => {
    const [x, y, z, w] = rotations.subarray(4 * n, 4 * n + 4);
    const size = Math.hypot(x!, y!, z!);
    const angle = 2 * Math.atan2(size, w!);
    const by = size > 0 ? (angle > Math.PI ? angle - 2 * Math.PI : angle) / size : 0;
    return [x! * by, y! * by, z! * by];
  });
  return [...positions.subarray(0, 3), ...vectors];
}

/** Writes numbers into a pose. */
export function place(pose: Pose, numbers: Numbers): Pose {
  pose.positions.set(numbers.slice(0, 3));
  NAMES.forEach((_, n) => {
    const [x, y, z] = numbers.slice(3 + 3 * n) as [number, number, number];
    const angle = Math.hypot(x, y, z);
    const by = angle > 0 ? Math.sin(angle / 2) / angle : 0.5;
    pose.rotations.set([x * by, y * by, z * by, Math.cos(angle / 2)], 4 * n);
  });
  return pose;
}

/** The figure at ease: arms hang, elbows and knees are a little bent. */
export const EASE: Numbers = [...JOINTS[0]!.at.map((value, axis) => (axis === 1 ? value - 0.006 : value)), ...JOINTS.flatMap(({ ease }) => ease ?? [0, 0, 0])];
