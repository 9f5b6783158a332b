/** Two-legged bodies: which joint is which, people's ranges of motion, and solving from few trackers. */

import { type Engine, Owned, describe, engineOf, own } from "./engine.js";
import { SinewError } from "./error.js";
import { OTHER } from "./exchange.js";
import { type Effector, EFFECTOR_NAMES, listEffectors, putGoals } from "./full_body.js";
import { checkNames, type Goal, OPTION_NAMES, putOptions, Report, type SolveOptions } from "./goal.js";
import { Pose } from "./pose.js";
import { type JointRef, Skeleton } from "./skeleton.js";
import { wholeGlue, type Glue } from "./whole_glue.js";

/** What is known of a body. */
export interface BodyInput {
  /** Joints of known roles, by VRM's names (`hips`, `leftUpperLeg`, ...); the others are found by names and shape. */
  roles?: Record<string, JointRef>;
  /** The left and the right ankle, where they are not found. */
  feet?: readonly [JointRef, JointRef];
}

/** The joints of known roles, and the ankles, for the engine. @internal */
export function known(skeleton: Skeleton, { roles = {}, feet }: BodyInput): [string[], Uint32Array, Uint32Array] {
  checkNames("roles", roles, Object.keys(roles ?? {}));
  const ankles: readonly JointRef[] = feet ?? [];
  if (!Array.isArray(ankles) || ![0, 2].includes(ankles.length)) {
    throw new SinewError("type", `feet must be the left and the right ankle, not ${describe(feet)}`);
  }
  const index = (joint: JointRef) => skeleton.index(joint);
  return [Object.keys(roles), Uint32Array.from(Object.values(roles), index), Uint32Array.from(ankles, index)];
}

/**
 * A person's body on two legs: which joint has which role. They are found by what is declared, by names, and by the shape of the bind
 * pose.
 *
 * ```ts
 * const body = Body.find(Skeleton.from(avatar).rest());
 * const skeleton = body.limited(); // with people's ranges of motion
 * const pose = body.standAtEase(skeleton.rest());
 * const trackers = new Trackers(body, ["head", "left hand", "right hand"].map((role) => body.joint(role)), pose);
 * // Each frame:
 * trackers.solve(pose, [{ position: headset, rotation }, { position: left }, { position: right }]);
 * pose.applyTo(avatar);
 * ```
 */
export class Body extends Owned<Glue.RawBody> {
  /** @internal */
  static engine: Engine | undefined;
  readonly skeleton: Skeleton;
  /** The joint of each role that was found, such as `left upper arm`; `spine 1` is the lowest joint of the spine. */
  readonly roles: ReadonlyMap<string, number>;
  /** Why roles of the spine, neck, head, arms and toes have no joint. */
  readonly doubts: readonly string[];
  /** Horizontal unit vector in model space to where it faces in the bind pose. */
  readonly front: readonly [number, number, number];

  /** @internal */
  constructor(engine: Engine, raw: Glue.RawBody, skeleton: Skeleton) {
    super(engine, raw);
    this.skeleton = skeleton;
    const joints = raw.joints();
    this.roles = new Map(raw.roles().map((role, i) => [role, joints[i]!]));
    this.doubts = raw.doubts();
    raw.front();
    const [x, y, z] = engine.exchange.numbers.subarray(OTHER, OTHER + 3);
    this.front = [x!, y!, z!];
  }

  /** The body of a bind pose, or of the rest pose, with y up. */
  static find(bind: Pose, input: BodyInput = {}): Body {
    const engine = engineOf(this);
    const pose = own(engine, "the pose", Pose, bind);
    checkNames("what is known of a Body", input, ["roles", "feet"]);
    const given = known(bind.skeleton, input);
    return new Body(engine, engine.run(() => new (wholeGlue(engine).RawBody)(pose, ...given)), bind.skeleton);
  }

  /** The joint of a role. */
  joint(role: string): number {
    const joint = this.roles.get(role);
    if (joint === undefined) {
      throw new SinewError("input", `no joint has the role ${describe(role)}: there are ${[...this.roles.keys()].join(", ")}`);
    }
    return joint;
  }

  /** A copy of the pose in which the roles were found. */
  bindPose(): Pose {
    const { engine, raw, skeleton } = this;
    const pose = skeleton.rest();
    engine.run(() => raw.bindPose(pose.raw as unknown as Glue.RawPose));
    return pose;
  }

  /** A copy of the skeleton, whose joints have people's ranges, preferred values and stiffness. It is made from the same nodes. */
  limited(): Skeleton {
    const { engine, raw, skeleton } = this;
    return skeleton.copy(engine.run(() => raw.limited()));
  }

  /** Brings a pose of a skeleton with these joints to standing at ease: arms hang, elbows and knees are slightly bent. */
  standAtEase(pose: Pose): Pose {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose) as unknown as Glue.RawPose;
    engine.run(() => raw.standAtEase(given));
    return pose;
  }
}

/**
 * A whole body that few goals lead, such as those of a headset and two controllers. Feet without a goal of their own stay where they
 * stand, the body keeps its balance over them, and joints move towards their preferred values. For skeletons of {@link Body.limited}.
 */
export class Trackers extends Owned<Glue.RawTrackers> {
  /** @internal */
  static engine: Engine | undefined;
  readonly skeleton: Skeleton;
  /** Count of effectors. */
  readonly length: number;

  /** Leads these effectors. The feet stand where they do in the pose, whose skeleton is that of the poses to solve. */
  constructor(body: Body, effectors: readonly (Effector | JointRef)[], stands: Pose) {
    const engine = engineOf(new.target);
    const of = own(engine, "the body", Body, body);
    const pose = own(engine, "the pose", Pose, stands) as unknown as Glue.RawPose;
    const listed = listEffectors(stands.skeleton, "effectors", effectors, EFFECTOR_NAMES);
    try {
      super(engine, engine.run(() => new (wholeGlue(engine).RawTrackers)(of, listed as unknown as Glue.RawEffectors, pose)));
    } finally {
      listed.free();
    }
    this.skeleton = stands.skeleton;
    this.length = effectors.length;
  }

  /**
   * Moves the body so that the effectors reach their goals: one for each, null for those that have none now. The pose is where the last
   * frame left it. After an error it is as it was.
   */
  solve(pose: Pose, goals: readonly (Goal | null)[], options?: SolveOptions): Report {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose) as unknown as Glue.RawPose;
    putGoals(engine, raw, goals, this.length);
    putOptions(engine.exchange.numbers, {}, options, 1e-4, OPTION_NAMES);
    engine.run(() => raw.solve(given));
    return new Report(engine.exchange.numbers);
  }

  /** Makes feet without a goal stand where they are in a pose, after a teleport or a step. */
  stand(pose: Pose): void {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose) as unknown as Glue.RawPose;
    engine.run(() => raw.stand(given));
  }

  /** Horizontal distance of the centre of mass from the feet in a pose, in metres; 0 over the feet, and where an effector is on the hips. */
  outOfBalance(pose: Pose): number {
    const { engine, raw } = this;
    const given = own(engine, "the pose", Pose, pose) as unknown as Glue.RawPose;
    return engine.run(() => raw.outOfBalance(given));
  }

  /** Residuals of one effector after the last solve: metres and radians. */
  residuals(effector: number): { position: number; rotation: number } {
    if (!Number.isInteger(effector) || effector < 0 || effector >= this.length) {
      throw new SinewError("input", `there is no effector ${describe(effector)}: there are ${this.length}`);
    }
    this.raw.residuals(effector);
    const n = this.engine.exchange.numbers;
    return { position: n[OTHER]!, rotation: n[OTHER + 1]! };
  }
}
