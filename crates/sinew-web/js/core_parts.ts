/** What `sinew/core` and `sinew/core/inline` have in common: all but where the WebAssembly comes from. */

import type { Engine } from "./engine.js";
import { Chain, PointChain } from "./chain.js";
import { DrawList } from "./draw.js";
import { FabrikTree } from "./fabrik_tree.js";
import { Drag, FullBody } from "./full_body.js";
import { Aim, LookAt } from "./look.js";
import { Chain2d } from "./plane.js";
import { Pose } from "./pose.js";
import { Skeleton } from "./skeleton.js";
import { Curve, Follow, Spline } from "./spline.js";
import { TwoBone } from "./two_bone.js";
import { bind } from "./load.js";

export * from "./chain.js";
export * from "./draw.js";
export * from "./error.js";
export * from "./fabrik_tree.js";
export * from "./full_body.js";
export * from "./look.js";
export * from "./plane.js";
export * from "./pose.js";
export * from "./skeleton.js";
export * from "./spline.js";
export * from "./two_bone.js";
export type { JointStep, LeastSquaresStep, PointStep, SubBaseStep, Trace, TraceStep } from "./trace.js";
export type { Vector, Rotation } from "./exchange.js";
export type { Dof, JointLimits, RotationOrder } from "./joint.js";
export type { Goal, Outcome, Report, SolveOptions } from "./goal.js";
export type { WasmSource } from "./load.js";

/** The classes of `sinew/core`, of one instance of the engine. */
export interface Core {
  readonly Aim: typeof Aim;
  readonly Chain: typeof Chain;
  readonly Chain2d: typeof Chain2d;
  readonly Curve: typeof Curve;
  readonly Drag: typeof Drag;
  readonly DrawList: typeof DrawList;
  readonly FabrikTree: typeof FabrikTree;
  readonly Follow: typeof Follow;
  readonly FullBody: typeof FullBody;
  readonly LookAt: typeof LookAt;
  readonly PointChain: typeof PointChain;
  readonly Pose: typeof Pose;
  readonly Skeleton: typeof Skeleton;
  readonly Spline: typeof Spline;
  readonly TwoBone: typeof TwoBone;
}

/** @internal */
export function classes(engine: Engine): Core {
  return bind(engine, { Aim, Chain, Chain2d, Curve, Drag, DrawList, FabrikTree, Follow, FullBody, LookAt, PointChain, Pose, Skeleton, Spline, TwoBone });
}
