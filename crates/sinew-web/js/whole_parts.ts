/** What `sinew` and `sinew/inline` have in common: `sinew/core`, and what goes beyond it. */

import type { Engine } from "./engine.js";
import { Body, Trackers } from "./body.js";
import { Clip } from "./clip.js";
import { classes as coreClasses, type Core } from "./core_parts.js";
import { Figure, FootPlanter, FootPlanterState } from "./foot_planter.js";
import { Ground } from "./ground.js";
import { bind } from "./load.js";
import { JointSpaceSolver, Mechanism } from "./mechanism.js";
import { Rig, RigDrag, RigState } from "./rig.js";
import { Mirror, RigKeys } from "./rig_keys.js";
import { Creature, WalkState, Walker } from "./walker.js";

export * from "./core_parts.js";
export { Body, Trackers } from "./body.js";
export type { BodyInput } from "./body.js";
export * from "./clip.js";
export { Figure, FootPlanter, FootPlanterState } from "./foot_planter.js";
export type { FigurePlacement, FigureSkin, FootPlanterReport, FootState, FrameSampler, LegOptions, PlantOptions } from "./foot_planter.js";
export * from "./ground.js";
export * from "./mechanism.js";
export { Rig, RigDrag, RigState } from "./rig.js";
export type {
  EffectorSource, FootSource, GoalSource, GoalSpace, HandleReport, HandleSolver, HandleSpec, HumanoidInput, RigFrame, RigGoal,
  RigGoals, RigInput, RigMatch, RigReport, StartFrom,
} from "./rig.js";
export { Mirror, RigKeys } from "./rig_keys.js";
export type { KeyAddress, KeyChange, KeyChannel, KeyInterpolation, KeyValue, RecorderOptions } from "./rig_keys.js";
export { Creature, WalkState, Walker } from "./walker.js";
export type { CreatureInput, CreatureLeg, Gait, WalkCommand, WalkFoot, WalkOptions, WalkReport } from "./walker.js";

/** The classes of `sinew`, of one instance of the engine. */
export interface Whole extends Core {
  readonly Body: typeof Body;
  readonly Clip: typeof Clip;
  readonly Creature: typeof Creature;
  readonly Figure: typeof Figure;
  readonly FootPlanter: typeof FootPlanter;
  readonly FootPlanterState: typeof FootPlanterState;
  readonly Ground: typeof Ground;
  readonly JointSpaceSolver: typeof JointSpaceSolver;
  readonly Mechanism: typeof Mechanism;
  readonly Mirror: typeof Mirror;
  readonly Rig: typeof Rig;
  readonly RigDrag: typeof RigDrag;
  readonly RigKeys: typeof RigKeys;
  readonly RigState: typeof RigState;
  readonly Trackers: typeof Trackers;
  readonly WalkState: typeof WalkState;
  readonly Walker: typeof Walker;
}

/** @internal */
export function wholeClasses(engine: Engine): Whole {
  const own = {
    ...{ Body, Clip, Creature, Figure, FootPlanter, FootPlanterState, Ground, JointSpaceSolver, Mechanism, Mirror, Rig, RigDrag, RigKeys },
    ...{ RigState, Trackers, WalkState, Walker },
  };
  return { ...coreClasses(engine), ...bind(engine, own) };
}
