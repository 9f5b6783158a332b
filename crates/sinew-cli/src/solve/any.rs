//! The chain solvers of pose space under one roof, as `--solver` names them.

use glam::Vec3;
use sinew::{
    Chain, Goal, JointId, Pole, Pose, Report, Skeleton,
    solve::{
        Auto, Ccd, DampedLeastSquares, Fabrik, Follow, LookAt, LookState, Spline, TwoBone,
        spline::{Curve, CurveKind, CurveUp, Fit, Roll},
    },
};

use super::{
    goal::narrow,
    look::look_at,
    request::CurveRequest,
    settings::{Settings, TOLERANCES},
};
use crate::{
    args::SolverName,
    lookup::{label, shown},
};

/// A solver of pose space.
pub enum AnySolver {
    TwoBone(TwoBone),
    Follow(Follow),
    Ccd(Ccd),
    Fabrik(Fabrik),
    Dls(DampedLeastSquares),
    Auto(Auto),
    Spline(Spline),
    LookAt(LookAt),
}

/// The curve that is asked for, and how the chain lies on it.
fn along(spline: &mut Spline, asked: &CurveRequest) -> Result<Curve, String> {
    let points: Vec<_> = asked.points.iter().map(|p| narrow("curve", *p)).collect::<Result<_, _>>()?;
    let kind = if asked.bezier { CurveKind::Bezier } else { CurveKind::CatmullRom };
    let curve =
        Curve::new(kind, &points, asked.closed, CurveUp::Direction(Vec3::Y)).map_err(|e| e.to_string())?;
    (spline.offset, spline.reversed) = (asked.offset as f32, asked.reversed);
    spline.fit = match asked.stretched {
        true => Fit::Stretched { shortest: f32::MIN_POSITIVE, longest: f32::MAX },
        false => Fit::Whole,
    };
    spline.roll = match asked.back {
        Some(axis) => Roll::Frames { axis: narrow("back", axis)?, twist: [0.0; 2] },
        None => Roll::Keep,
    };
    Ok(curve)
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
                Self::TwoBone(TwoBone::from_chain(skeleton, chain, middle).map_err(|e| e.to_string())?)
            }
            SolverName::Follow => {
                Self::Follow(Follow::from_chain(skeleton, chain).map_err(|e| e.to_string())?)
            }
            SolverName::Ccd => Self::Ccd(Ccd::from_chain(skeleton, chain).map_err(|e| e.to_string())?),
            SolverName::Fabrik => {
                Self::Fabrik(Fabrik::from_chain(skeleton, chain).map_err(|e| e.to_string())?)
            }
            SolverName::Dls => {
                Self::Dls(DampedLeastSquares::from_chain(skeleton, chain).map_err(|e| e.to_string())?)
            }
            SolverName::Spline => {
                Self::Spline(Spline::from_chain(skeleton, chain).map_err(|e| e.to_string())?)
            }
            SolverName::LookAt => Self::LookAt(look_at(skeleton, &chain, &settings.look)?),
            // Goals bring their own joints.
            SolverName::FullBody => return Err("full-body works on goals that name their joints".into()),
            SolverName::Auto | SolverName::Lm => {
                Self::Auto(Auto::from_chain(skeleton, chain).map_err(|e| e.to_string())?)
            }
        })
    }

    pub fn set(&mut self, settings: &Settings, length: f32) {
        // A chain without length has its end where it is, whatever the tolerance.
        let part = match settings.position_tolerance {
            Some(metres) if length > 0.0 => metres / f64::from(length),
            _ => TOLERANCES.0,
        };
        // (No tolerance is more than the chain's length.)
        let near = (part as f32).clamp(f32::MIN_POSITIVE, 1.0);
        let turned = (settings.rotation_tolerance.unwrap_or(TOLERANCES.1) as f32).max(f32::MIN_POSITIVE);
        macro_rules! set {
            ($place:expr) => {{
                ($place.tolerance, $place.rotation_tolerance) = (near, turned);
                $place.max_iterations = settings.max_iterations.unwrap_or($place.max_iterations);
                $place.max_restarts = settings.max_restarts.unwrap_or($place.max_restarts);
            }};
        }
        match self {
            Self::TwoBone(_) | Self::Follow(_) | Self::Spline(_) | Self::LookAt(_) => {}
            Self::Ccd(s) => set!(s.settings),
            Self::Fabrik(s) => set!(s.settings),
            Self::Dls(s) => set!(s.settings),
            Self::Auto(s) => set!(s),
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
        pose: &mut Pose,
        goal: &Goal,
        curve: Option<&CurveRequest>,
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
                let curve = along(s, asked)?;
                s.weight = goal.position_weight;
                s.solve(pose, &curve).map(|r| r.report)
            }
            Self::LookAt(s) => {
                s.weight = goal.position_weight;
                let place = match (goal.position, goal.rotation, goal.pole) {
                    (Some(place), None, Pole::Keep) => place,
                    (None, ..) => return Err("there is no position to look at".into()),
                    _ => return Err("look-at takes positions, and no rotations or poles".into()),
                };
                s.solve(pose, place, &mut LookState::default()).map(|r| r.report)
            }
            Self::TwoBone(s) => s.solve(pose, goal),
            Self::Ccd(s) => s.solve(pose, goal),
            Self::Fabrik(s) => s.solve(pose, goal),
            Self::Dls(s) => s.solve(pose, goal),
            Self::Auto(s) => s.solve(pose, goal),
            Self::Follow(s) => {
                s.weight = goal.position_weight;
                let place = match (goal.position, goal.rotation, goal.pole) {
                    (Some(place), None, Pole::Keep) => place,
                    (_, Some(_), _) => return Err("follow takes positions, and no rotations".into()),
                    (None, _, Pole::Keep) => return Err("there is no position".into()),
                    _ => return Err("follow has no pole".into()),
                };
                s.solve(pose, place)
            }
        }
        .map_err(|e| e.to_string())
    }
}
