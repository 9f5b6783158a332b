/** A robot arm of six joints on a column, with a gripper of two jaws: its joints, and the solids that show it. */

import type { Core, Pose } from "sinew/core";
import type { Group } from "three";

import { barrel, box, solid, sphere, type Solids } from "../figure/solids.ts";
import { triple, type Xyz } from "../shapes.ts";

/** A joint: its place on the one before at rest, its axis there, and its range in radians. */
export interface RobotJoint {
  name: string;
  at: Xyz;
  axis: Xyz;
  min: number;
  max: number;
}

/** From the column to the tool. At rest the arm is straight along x. */
export const JOINTS: readonly RobotJoint[] = [
  { name: "turn", at: [0, 0.56, 0], axis: [0, 1, 0], min: -2.95, max: 2.95 },
  { name: "shoulder", at: [0, 0.13, 0], axis: [0, 0, 1], min: -0.7, max: 2.3 },
  { name: "elbow", at: [0.52, 0, 0], axis: [0, 0, 1], min: -2.6, max: 0.3 },
  { name: "forearm", at: [0.16, 0, 0], axis: [1, 0, 0], min: -2.95, max: 2.95 },
  { name: "wrist", at: [0.3, 0, 0], axis: [0, 0, 1], min: -2, max: 2 },
  { name: "tool", at: [0.09, 0, 0], axis: [1, 0, 0], min: -3.05, max: 3.05 },
];
/** The point between the jaws, on the last joint. */
export const GRIP: Xyz = [0.15, 0, 0];
export const BALL = 0.045;
/** Largest distance of a jaw from the middle. */
const OPEN = 0.062;

export function skeletonOf(core: Core): InstanceType<Core["Skeleton"]> {
  const last = JOINTS.length;
  return core.Skeleton.from([
    { name: "column", limits: { fixed: true } },
    ...JOINTS.map(({ name, at, axis, min, max }, n) => ({ name, parent: n, position: at, limits: { hinge: { axis, min, max } } })),
    { name: "grip", parent: last, position: GRIP, limits: { fixed: true as const } },
  ]);
}

/** Writes the angles of the joints into a pose at rest. */
export function bend(pose: Pose, angles: readonly number[]): void {
  JOINTS.forEach(({ axis }, n) => {
    const sine = Math.sin(angles[n]! / 2);
    pose.rotations.set([...axis.map((value) => value * sine), Math.cos(angles[n]! / 2)], 4 * (n + 1));
  });
}

/** The angles of the joints. */
export function anglesOf({ rotations }: Pose): number[] {
  return JOINTS.map(({ axis }, n) => {
    const [x, y, z, w] = rotations.subarray(4 * (n + 1), 4 * (n + 2));
    const angle = 2 * Math.atan2(axis[0] * x! + axis[1] * y! + axis[2] * z!, w!);
    return Math.atan2(Math.sin(angle), Math.cos(angle));
  });
}

/** The solids of the arm and of the ball. */
export class Robot {
  readonly #parts: readonly Group[];
  readonly #jaws: readonly Group[];
  readonly #ball: Group;

  constructor(solids: Solids) {
    const shell = solids.material({ light: 0xf3f4f6, dark: 0xc9ced6 });
    const dark = solids.material({ light: 0x59616c, dark: 0x4a525d }, 0.6);
    const band = solids.material({ light: 0x2f7fc0, dark: 0x4f94ff });
    const rubber = solids.material({ light: 0x33383f, dark: 0x2a2f36 }, 0.85);
    const ball = solids.material({ light: 0x8a1a78, dark: 0xc878c4 }, 0.35);
    const parts = Array.from({ length: JOINTS.length + 1 }, () => solids.group());
    const [column, turn, shoulder, elbow, forearm, wrist, tool] = parts as [Group, Group, Group, Group, Group, Group, Group];
    /** A joint's drum across the arm, of the given length along z. */
    const drum = (group: Group, radius: number, length: number, material = shell) => {
      solid(group, barrel("z", [radius, radius], length, 0.016).translate(0, 0, -length / 2), material);
      solid(group, barrel("z", [0.62 * radius, 0.62 * radius], length + 0.012, 0.005).translate(0, 0, -length / 2 - 0.006), band);
    };
    solid(column, barrel("y", [0.17, 0.17], 0.035, 0.012), dark);
    solid(column, barrel("y", [0.11, 0.085], 0.5, 0.02).translate(0, 0.03, 0), shell);
    solid(turn, barrel("y", [0.088, 0.088], 0.018, 0.005).translate(0, -0.03, 0), band);
    solid(turn, barrel("y", [0.098, 0.092], 0.14, 0.03).translate(0, -0.012, 0), shell);
    drum(shoulder, 0.085, 0.2);
    solid(shoulder, barrel("x", [0.066, 0.052], JOINTS[2]!.at[0] - 0.02, 0.03).translate(0.02, 0, 0), shell);
    drum(elbow, 0.068, 0.16);
    solid(elbow, barrel("x", [0.054, 0.05], JOINTS[3]!.at[0], 0.02), shell);
    solid(forearm, barrel("x", [0.051, 0.051], 0.016, 0.004), band);
    solid(forearm, barrel("x", [0.05, 0.036], JOINTS[4]!.at[0] - 0.016, 0.02).translate(0.016, 0, 0), shell);
    drum(wrist, 0.047, 0.11);
    solid(wrist, barrel("x", [0.034, 0.034], JOINTS[5]!.at[0], 0.01), shell);
    solid(tool, barrel("x", [0.036, 0.036], 0.014, 0.004), band);
    solid(tool, barrel("x", [0.034, 0.03], 0.03, 0.006).translate(0.012, 0, 0), shell);
    solid(tool, box([0.03, 0.05, 0.17], [0.055, 0, 0], 0.012), dark);
    const jaws = [solids.group(), solids.group()];
    for (const jaw of jaws) {
      tool.add(jaw);
      solid(jaw, box([0.1, 0.036, 0.018], [GRIP[0] - 0.035, 0, 0], 0.007), shell);
      solid(jaw, box([0.05, 0.03, 0.006], [GRIP[0], 0, 0], 0.003), rubber);
    }
    [this.#parts, this.#jaws, this.#ball] = [parts, jaws, solids.group()];
    solid(this.#ball, sphere(BALL), ball);
  }

  /** Shows a pose, with the jaws apart by a share of what they open to, and the ball. */
  show(pose: Pose, open: number, ball: Xyz): void {
    this.#parts.forEach((part, n) => {
      const { position, rotation } = pose.model(n);
      part.position.fromArray(position);
      part.quaternion.fromArray(rotation);
    });
    const out = BALL + (OPEN - BALL) * open;
    this.#jaws.forEach((jaw, n) => {
      const side = n === 0 ? 1 : -1;
      jaw.position.set(0, 0, side * (out + 0.012));
      // The pad is inside.
      jaw.children[1]!.position.z = -side * 0.009;
    });
    this.#ball.position.set(...(triple(ball) as [number, number, number]));
  }
}
