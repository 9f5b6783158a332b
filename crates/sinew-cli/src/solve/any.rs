//! The chain solvers of pose space under one roof, as `--solver` names them.

use glam::Vec3;
use sinew::{
    Chain, Goal, JointId, Pole, Pose, Report, Skeleton, Workspace,
    solve::{
        Auto, Ccd, ChainSolver, DampedLeastSquares, Fabrik, Follow, FollowOptions, IterativeOptions, LookAt,
        Options, Spline, SplineOptions, TwoBone,
        spline::{Curve, CurveKind, CurveUp, Fit, Roll},
    },
};

use super::{goal::narrow, look::look_at, request::CurveRequest, settings::Settings};
use crate::{
    args::SolverName,
    lookup::{label, shown},
};

/// A solver of pose space.
pub enum AnySolver {
    Follow(Follow),
    Chain(Box<dyn ChainSolver>),
    Spline(Spline),
    LookAt(LookAt),
}

/// The curve that is asked for, and how the chain lies on it.
fn along(asked: &CurveRequest) -> Result<(Curve, SplineOptions), String> {
    let points: Vec<_> = asked.points.iter().map(|p| narrow("curve", *p)).collect::<Result<_, _>>()?;
    let kind = if asked.bezier { CurveKind::Bezier } else { CurveKind::CatmullRom };
    let curve =
        Curve::new(kind, &points, asked.closed, CurveUp::Direction(Vec3::Y)).map_err(|e| e.to_string())?;
    let mut options = SplineOptions::new().with_offset(asked.offset as f32).with_reversed(asked.reversed);
    if asked.stretched {
        options.fit = Fit::Stretched { shortest: f32::MIN_POSITIVE, longest: f32::MAX };
    }
    if let Some(axis) = asked.back {
        options.roll = Roll::Frames { axis: narrow("back", axis)?, twist: [0.0; 2] };
    }
    Ok((curve, options))
}

/// A solver behind the trait, or why it has not been made.
fn boxed<S: ChainSolver + 'static, E: ToString>(made: Result<S, E>) -> Result<AnySolver, String> {
    Ok(AnySolver::Chain(Box::new(made.map_err(|e| e.to_string())?)))
}

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
                boxed(TwoBone::from_chain(skeleton, chain, middle))?
            }
            SolverName::Follow => {
                Self::Follow(Follow::from_chain(skeleton, chain).map_err(|e| e.to_string())?)
            }
            SolverName::Ccd => boxed(Ccd::from_chain(skeleton, chain))?,
            SolverName::Fabrik => boxed(Fabrik::from_chain(skeleton, chain))?,
            SolverName::Dls => boxed(DampedLeastSquares::from_chain(skeleton, chain))?,
            SolverName::Spline => {
                Self::Spline(Spline::from_chain(skeleton, chain).map_err(|e| e.to_string())?)
            }
            SolverName::LookAt => Self::LookAt(look_at(skeleton, &chain, &settings.look)?),
            // Goals bring their own joints.
            SolverName::FullBody => return Err("full-body works on goals that name their joints".into()),
            SolverName::Auto | SolverName::Lm => boxed(Auto::from_chain(skeleton, chain))?,
        })
    }

    /// Makes room, so that solves alone are timed.
    pub fn reserve(&self, workspace: &mut Workspace) {
        match self {
            Self::Chain(s) => s.reserve(workspace),
            Self::Follow(s) => s.reserve(workspace),
            Self::Spline(s) => s.reserve(workspace),
            Self::LookAt(_) => {}
        }
    }

    /// Joints beside the chain's that it turns.
    pub fn others(&self, chain: &Chain) -> Vec<JointId> {
        let Self::LookAt(look) = self else { return Vec::new() };
        look.joints().filter(|j| !chain.joints().contains(j)).collect()
    }

    /// Whether its own report says how far it is off, as the place of the chain's end does not.
    pub fn knows_best(&self) -> bool {
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
            return Err("only the solver spline lays a chain along a curve".into());
        }
        match self {
            Self::Spline(s) => {
                let Some(asked) = curve else {
                    return Err("there is no curve to lay the chain along".into());
                };
                if goal.position.is_some() || goal.rotation.is_some() || goal.pole != Pole::Keep {
                    return Err("a chain along a curve has no position, rotation or pole".into());
                }
                let (curve, options) = along(asked)?;
                let options = options.with_influence(goal.position_influence);
                s.solve(workspace, pose, &curve, &options).map(|r| r.report)
            }
            Self::LookAt(s) => {
                let place = match (goal.position, goal.rotation, goal.pole) {
                    (Some(place), None, Pole::Keep) => place,
                    (None, ..) => return Err("there is no position to look at".into()),
                    _ => return Err("look-at takes positions, and no rotations or poles".into()),
                };
                let options = Options::new().with_influence(goal.position_influence);
                s.solve(&mut s.state(), pose, place, &options).map(|r| r.report)
            }
            Self::Chain(s) => s.solve(workspace, pose, goal, options),
            Self::Follow(s) => {
                let place = match (goal.position, goal.rotation, goal.pole) {
                    (Some(place), None, Pole::Keep) => place,
                    (_, Some(_), _) => return Err("follow takes positions, and no rotations".into()),
                    (None, _, Pole::Keep) => return Err("there is no position".into()),
                    _ => return Err("follow has no pole".into()),
                };
                let options = FollowOptions::new().with_influence(goal.position_influence);
                s.solve(workspace, pose, place, &options)
            }
        }
        .map_err(|e| e.to_string())
    }
}
