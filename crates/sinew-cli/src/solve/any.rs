//! The chain solvers of pose space that `--solver` names, behind one type.

use glam::Vec3;
use sinew::{
    Chain, Goal, JointId, Pole, Pose, Report, Skeleton, Workspace,
    joint::Attributes,
    solve::{
        Auto, Ccd, ChainSolver, DampedLeastSquares, Fabrik, Fold, Follow, FollowOptions, IterativeOptions,
        LookAt, Options, Spline, SplineOptions, TwoBone,
        spline::{Curve, CurveKind, CurveUp, Fit, Roll},
    },
};

use super::{goal::narrow, look::look_at, request::CurveRequest, settings::Settings};
use crate::{
    args::SolverName,
    lookup::{label, shown},
};

/// Chain solver of pose space.
pub enum AnySolver {
    Follow(Follow),
    Chain(Box<dyn ChainSolver>),
    Spline(Spline),
    LookAt(LookAt),
}

/// The curve of a request, and the options of laying the chain along it.
fn curve_and_options(request: &CurveRequest) -> Result<(Curve, SplineOptions), String> {
    let points: Vec<_> = request.points.iter().map(|p| narrow("curve", *p)).collect::<Result<_, _>>()?;
    let kind = if request.bezier { CurveKind::Bezier } else { CurveKind::CatmullRom };
    let curve =
        Curve::new(kind, &points, request.closed, CurveUp::Direction(Vec3::Y)).map_err(|e| e.to_string())?;
    let mut options = SplineOptions::new().with_offset(request.offset as f32).with_reversed(request.reversed);
    if request.stretched {
        options.fit = Fit::Stretched { shortest: f32::MIN_POSITIVE, longest: f32::MAX };
    }
    if let Some(axis) = request.back {
        options.roll = Roll::Frames { axis: narrow("back", axis)?, twist: [0.0; 2] };
    }
    Ok((curve, options))
}

/// Boxes a solver that was made; an error becomes text.
fn boxed<S: ChainSolver + 'static, E: ToString>(made: Result<S, E>) -> Result<AnySolver, String> {
    Ok(AnySolver::Chain(Box::new(made.map_err(|e| e.to_string())?)))
}

/// The error for a goal without a joint on a whole figure.
pub const FULL_BODY_NEEDS_JOINTS: &str = "full-body needs goals that name their joints";

impl AnySolver {
    pub fn new(skeleton: &Skeleton, chain: Chain, settings: &Settings) -> Result<Self, String> {
        Ok(match settings.solver {
            SolverName::TwoBone => {
                let joints = chain.joints();
                let &[_, middle, _] = joints else {
                    let names: Vec<_> = joints.iter().map(|&j| shown(&label(skeleton, j))).collect();
                    let all =
                        if names.len() > 8 { String::new() } else { format!(" ({})", names.join(", ")) };
                    return Err(format!(
                        "two-bone needs a chain of 3 joints, root, middle and tip; {}..{} has {}{all}",
                        shown(skeleton.name(chain.root())),
                        shown(skeleton.name(chain.tip())),
                        names.len()
                    ));
                };
                let limited = [chain.root(), middle]
                    .iter()
                    .any(|&j| skeleton.joint(j).attributes() != Attributes::NONE);
                let limb = if limited { TwoBone::within_limits } else { TwoBone::from_chain };
                boxed(limb(skeleton, chain, middle))?
            }
            SolverName::Follow => {
                Self::Follow(Follow::from_chain(skeleton, chain).map_err(|e| e.to_string())?)
            }
            SolverName::Ccd => boxed(Ccd::from_chain(skeleton, chain))?,
            SolverName::Fabrik => boxed(Fabrik::from_chain(skeleton, chain))?,
            SolverName::Fold => boxed(Fold::from_chain(skeleton, chain))?,
            SolverName::Dls => boxed(DampedLeastSquares::from_chain(skeleton, chain))?,
            SolverName::Spline => {
                Self::Spline(Spline::from_chain(skeleton, chain).map_err(|e| e.to_string())?)
            }
            SolverName::LookAt => Self::LookAt(look_at(skeleton, &chain, &settings.look)?),
            // A full body has no chain: its goals name joints.
            SolverName::FullBody => return Err(FULL_BODY_NEEDS_JOINTS.into()),
            SolverName::Auto | SolverName::Lm => boxed(Auto::from_chain(skeleton, chain))?,
        })
    }

    /// Grows the workspace, so that the first solve's duration includes no allocation.
    pub fn reserve(&self, workspace: &mut Workspace) {
        match self {
            Self::Chain(s) => s.reserve(workspace),
            Self::Follow(s) => s.reserve(workspace),
            Self::Spline(s) => s.reserve(workspace),
            Self::LookAt(_) => {}
        }
    }

    /// Joints off the chain that the solver turns: the eyes of a look-at.
    pub fn others(&self, chain: &Chain) -> Vec<JointId> {
        let Self::LookAt(look) = self else { return Vec::new() };
        look.joints().filter(|j| !chain.joints().contains(j)).collect()
    }

    /// Whether the residual is that of the solver's report. For other solvers it is measured at the chain's tip.
    pub fn reports_residual(&self) -> bool {
        matches!(self, Self::Spline(_) | Self::LookAt(_))
    }

    pub fn solve(
        &mut self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goal: &Goal,
        curve: Option<&CurveRequest>,
        options: &IterativeOptions,
    ) -> Result<Report, String> {
        if curve.is_some() && !matches!(self, Self::Spline(_)) {
            return Err("a curve needs --solver spline".into());
        }
        match self {
            Self::Spline(s) => {
                let Some(curve) = curve else {
                    return Err("spline needs a curve".into());
                };
                if goal.position.is_some() || goal.rotation.is_some() || goal.pole != Pole::Keep {
                    return Err("spline takes a curve, and no position, rotation or pole".into());
                }
                let (curve, options) = curve_and_options(curve)?;
                let options = options.with_influence(goal.position_influence);
                s.solve(workspace, pose, &curve, &options).map(|r| r.report)
            }
            Self::LookAt(s) => {
                let target = match (goal.position, goal.rotation, goal.pole) {
                    (Some(target), None, Pole::Keep) => target,
                    (None, ..) => return Err("look-at needs a position".into()),
                    _ => return Err("look-at takes a position, and no rotation or pole".into()),
                };
                let options = Options::new().with_influence(goal.position_influence);
                s.solve(&mut s.state(), pose, target, &options).map(|r| r.report)
            }
            Self::Chain(s) => s.solve(workspace, pose, goal, options),
            Self::Follow(s) => {
                let target = match (goal.position, goal.rotation, goal.pole) {
                    (Some(target), None, Pole::Keep) => target,
                    (None, None, Pole::Keep) => return Err("follow needs a position".into()),
                    _ => return Err("follow takes a position, and no rotation or pole".into()),
                };
                let options = FollowOptions::new().with_influence(goal.position_influence);
                s.solve(workspace, pose, target, &options)
            }
        }
        .map_err(|e| e.to_string())
    }
}
