/** Joints that point at targets. */

import type { Glue } from "./core.glue.js";
import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER, number, optional, putVector, type Vector } from "./exchange.js";
import { Report, type SolveOptions, checkNames, putOptions } from "./goal.js";
import { Pose } from "./pose.js";
import { type JointRef, Skeleton } from "./skeleton.js";

/** Options of a solve that turns joints to a target. */
export type LookOptions = Pick<SolveOptions, "influence" | "maxTurn">;

const LOOK_NAMES = ["influence", "maxTurn"];

/** Options of a solve of {@link Aim}. */
export interface AimOptions extends LookOptions {
  /** A direction of the joint (in its own frame) that is to face a direction in model space, as far as the aim leaves it free. */
  up?: { axis: Vector; direction: Vector };
}

/** One joint, turned so that a ray fixed to it passes through a target: a turret, a lamp, a camera. */
export class Aim extends Owned<Glue.RawAim> {
  /** @internal */
  static engine: Engine | undefined;

  /** `axis` is the ray's direction in the joint's own frame, `offset` its start there, in the joint's units. */
  constructor(skeleton: Skeleton, joint: JointRef, axis: Vector, offset: Vector = [0, 0, 0]) {
    const engine = engineOf(new.target);
    const raw = own(engine, "the skeleton", Skeleton, skeleton);
    const index = skeleton.index(joint);
    const n = engine.exchange.numbers;
    putVector(n, OTHER, "the axis", axis);
    putVector(n, OTHER + 3, "the offset", offset);
    super(engine, engine.run(() => new engine.glue.RawAim(raw, index)));
  }

  /** Turns the joint to a target in model space. The residuals are the ray's distance from the target, and the angle. */
  solve(pose: Pose, target: Vector, options: AimOptions = {}): Report {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose);
    const n = engine.exchange.numbers;
    putOptions(n, {}, options, 1e-4, [...LOOK_NAMES, "up"]);
    putVector(n, OTHER, "the target", target);
    const { up } = options;
    n[OTHER + 3] = up === undefined ? 0 : 1;
    if (up !== undefined) {
      putVector(n, OTHER + 4, "the up axis", up.axis);
      putVector(n, OTHER + 7, "the up direction", up.direction);
    }
    engine.run(() => raw.solve(given));
    return new Report(engine.exchange.numbers);
  }
}

/** A joint of a look, from the spine to the head. */
export interface LookJoint {
  /** The joint. */
  joint: JointRef;
  /** Share of the turn that is left when its turn comes, 0 to 1; 1 by default. The last joint takes all that is left. */
  share?: number;
  /** Largest turn from the pose that comes in, in radians; no bound by default. */
  cone?: number;
}

/** An eye, which looks at the target itself. */
export interface Eye {
  /** The joint, below the head. */
  joint: JointRef;
  /** The looking direction in the joint's own frame. */
  axis: Vector;
  /** Largest turn from the pose that comes in, in radians; no bound by default. */
  cone?: number;
}

/** Settings of a {@link LookAt}. */
export interface LookAtSettings {
  /** The looking direction of the face, in the last joint's own frame. */
  axis: Vector;
  /** The point between the eyes, in the last joint's own frame and its units. */
  offset?: Vector;
  /** Eyes; none by default. */
  eyes?: readonly Eye[];
  /** Angle within which only the eyes move, in radians. */
  deadZone?: number;
  /** Angle from the front beyond which the look fades, in radians. */
  behind?: number;
  /** Distance of the target below which the look fades, as a share of the distance from the first joint to the face. */
  near?: number;
}

const SETTING_NAMES = ["axis", "offset", "eyes", "deadZone", "behind", "near"];

/** Spine, neck, head and eyes that look at a target, each by its share and within its cone. */
export class LookAt extends Owned<Glue.RawLookAt> {
  /** @internal */
  static engine: Engine | undefined;

  /** `line` has the joints from the spine to the head. */
  constructor(skeleton: Skeleton, line: readonly LookJoint[], settings: LookAtSettings) {
    const engine = engineOf(new.target);
    const raw = own(engine, "the skeleton", Skeleton, skeleton);
    checkNames("settings of a LookAt", settings, SETTING_NAMES);
    const { axis, offset = [0, 0, 0], eyes = [] } = settings;
    if (!Array.isArray(line) || !Array.isArray(eyes)) throw new SinewError("type", `joints and eyes are lists, not ${describe(line)}`);
    const parts = (line as readonly LookJoint[]).flatMap(({ joint, share = 1, cone = Math.PI }) => [
      skeleton.index(joint),
      number("a joint's share", share),
      number("a joint's cone", cone),
    ]);
    const n = engine.exchange.numbers;
    const balls = (eyes as readonly Eye[]).flatMap(({ joint, axis, cone = Math.PI }) => {
      putVector(n, OTHER, "an eye's axis", axis);
      return [skeleton.index(joint), n[OTHER]!, n[OTHER + 1]!, n[OTHER + 2]!, number("an eye's cone", cone)];
    });
    putVector(n, OTHER, "the axis", axis);
    putVector(n, OTHER + 3, "the offset", offset);
    n[OTHER + 6] = optional("deadZone", settings.deadZone);
    n[OTHER + 7] = optional("behind", settings.behind);
    n[OTHER + 8] = optional("near", settings.near);
    super(engine, engine.run(() => new engine.glue.RawLookAt(raw, Float32Array.from(parts), Float32Array.from(balls))));
  }

  /** Looks at a target in model space. The pose is that of the animation's frame: cones are measured from it. */
  solve(pose: Pose, target: Vector, options?: LookOptions): Report {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose);
    const n = engine.exchange.numbers;
    putOptions(n, {}, options, 1e-4, LOOK_NAMES);
    putVector(n, OTHER, "the target", target);
    engine.run(() => raw.solve(given));
    return new Report(engine.exchange.numbers);
  }

  /** Forgets where earlier frames looked, after a teleport. */
  reset(): void {
    this.raw.reset();
  }
}
