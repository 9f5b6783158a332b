//! Handles of a two-legged figure, by its roles.

use alloc::vec::Vec;
use core::fmt;

use super::{EffectorSpec, FootSpec, GoalSpec, HandleSolver, HandleSpec, RigSpec, StartFrom, spec::named};
use crate::{body::BodyRoles, solve::RootMode};

named! {
    /// How the limbs of a humanoid are solved.
    Limbs {
        /// Each limb by itself. The trunk moves where the goals of body and look ask for it.
        #[default]
        TwoBone = "two-bone",
        /// All together: the trunk helps a hand that does not reach, and what has no goal stays where the animation has it.
        FullBody = "full-body",
    }
}

/// Weight of the feet of a full body beside hands and hips, so that a hand out of reach does not drag them off the ground:
/// beyond reach by 2 m, they give way by a centimetre. (As priorities, unreachable goals converge too slowly.)
const FEET: f32 = 100.0;

/// A rig of a two-legged figure whose goals have the same names on every figure ([`HumanoidSpec::GOALS`]).
///
/// The handles of limbs by themselves are, in this order: `body`, which places the hips; `look`, which turns spine, neck and
/// head; `left hand`, `right hand`, `left foot` and `right foot`, each from its shoulder or hip. Feet whose goals are unset
/// stand where the animation has them when the body moves. A full body has `look` first, and then one handle, `limbs`, with
/// an effector of each name; feet weigh most. Elbows and knees are poles: a goal of that name is the pole of the goal of its
/// hand or foot.
///
/// Without goals it changes nothing.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Workspace, body::{BodyRoles, Role}, glam::Vec3};
/// use sinew::rig::{HumanoidSpec, Rig, RigFrame, RigGoal, Space};
/// # use sinew::{JointTransform, Skeleton};
/// # let mut builder = Skeleton::builder();
/// # let mut add = |name: &str, parent, x, y, z| {
/// #     builder.add(name, parent, JointTransform::from_translation(Vec3::new(x, y, z)))
/// # };
/// # let hips = add("Hips", None, 0.0, 0.95, 0.0);
/// # let spine = add("Spine", Some(hips), 0.0, 0.2, 0.0);
/// # let neck = add("Neck", Some(spine), 0.0, 0.35, 0.0);
/// # add("Head", Some(neck), 0.0, 0.1, 0.0);
/// # for (side, x) in [("Left", 1.0), ("Right", -1.0)] {
/// #     let upper = add(&format!("{side}Arm"), Some(spine), 0.2 * x, 0.3, 0.0);
/// #     let fore = add(&format!("{side}ForeArm"), Some(upper), 0.28 * x, 0.0, -0.01);
/// #     add(&format!("{side}Hand"), Some(fore), 0.26 * x, 0.0, 0.01);
/// #     let thigh = add(&format!("{side}UpLeg"), Some(hips), 0.1 * x, -0.05, 0.0);
/// #     let shin = add(&format!("{side}Leg"), Some(thigh), 0.0, -0.42, 0.01);
/// #     let foot = add(&format!("{side}Foot"), Some(shin), 0.0, -0.4, -0.01);
/// #     add(&format!("{side}ToeBase"), Some(foot), 0.0, -0.06, 0.13);
/// # }
/// # let bind = Pose::rest(&Arc::new(builder.build()?.0));
/// let body = BodyRoles::find(&bind, &[])?;
/// let rig = Rig::new(&bind, Some(&body), &HumanoidSpec::new().rig(&body))?;
/// let mut goals = vec![RigGoal::new(); rig.goal_count()];
/// // The right hand at the brow, on any figure: 15 cm to the right of the head's joint, a little below and 35 cm ahead.
/// let salute = Goal::position(Vec3::new(-0.15, -0.1, 0.35));
/// let hand = rig.find_goal("right hand", None).unwrap();
/// goals[hand] = RigGoal::from(salute).with_space(Space::Role(Role::Head));
///
/// let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), bind.clone());
/// let report = rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(1.0 / 60.0).with_goals(&goals))?;
/// assert!(report.handles.iter().all(|h| h.was_off() || h.report.reached()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct HumanoidSpec {
    /// How limbs are solved.
    pub limbs: Limbs,
    /// The pose from which limbs start. `None` (the default): arms start from preferred values, so that elbows bend as people's do
    /// wherever a hand goes; legs and full bodies start from the animation's pose, and keep its bends.
    pub from: Option<StartFrom>,
}

impl HumanoidSpec {
    /// Names of goals. A figure without a neck or head has no `look`, and one whose arms are not known no hands and elbows.
    pub const GOALS: [&'static str; 10] = [
        "body",
        "look",
        "left hand",
        "right hand",
        "left foot",
        "right foot",
        "left elbow",
        "right elbow",
        "left knee",
        "right knee",
    ];

    /// Limbs by themselves: arms from preferred values, legs from the pose.
    pub const fn new() -> Self {
        Self { limbs: Limbs::TwoBone, from: None }
    }

    /// The rig of a figure with these roles.
    pub fn rig(&self, body: &BodyRoles) -> RigSpec {
        let handle = |goal: usize, root, tip, solver| HandleSpec {
            solver,
            ..HandleSpec::new(Self::GOALS[goal], root, tip)
        };
        let look = body.head.or(body.neck).map(|tip| {
            let root = body.spine.first().copied().or(body.neck).unwrap_or(tip);
            handle(1, root, tip, HandleSolver::LookAt)
        });
        // With the indices of their goals.
        let arms = (2..).zip(&body.arms).filter_map(|(goal, arm)| Some((goal, arm.as_ref()?)));
        let legs = (4..).zip(&body.legs);
        let mut handles = Vec::new();
        match self.limbs {
            Limbs::TwoBone => {
                handles.push(handle(0, body.hips, body.hips, HandleSolver::Place));
                handles.extend(look);
                handles.extend(arms.map(|(n, arm)| HandleSpec {
                    from: self.from.unwrap_or(StartFrom::Preferred),
                    ..handle(n, arm.upper_arm, arm.hand, HandleSolver::TwoBone)
                }));
                handles.extend(legs.map(|(n, leg)| HandleSpec {
                    from: self.from.unwrap_or(StartFrom::Pose),
                    holds: true,
                    foot: FootSpec { toes: leg.toes, ..FootSpec::default() },
                    ..handle(n, leg.thigh, leg.foot, HandleSolver::Foot)
                }));
            }
            Limbs::FullBody => {
                let effector = |goal: usize, joint, weight| EffectorSpec {
                    name: Some(Self::GOALS[goal].into()),
                    weights: [weight; 2],
                    ..EffectorSpec::new(joint)
                };
                let mut limbs = HandleSpec::new("limbs", body.hips, body.legs[0].foot);
                limbs.solver = HandleSolver::FullBody;
                limbs.from = self.from.unwrap_or(StartFrom::Pose);
                // Hips without a goal give way, but not far.
                limbs.root_mode = RootMode::Spring(1.0);
                limbs.effectors.push(effector(0, body.hips, 1.0));
                limbs.effectors.extend(arms.map(|(n, arm)| effector(n, arm.hand, 1.0)));
                limbs
                    .effectors
                    .extend(legs.map(|(n, leg)| EffectorSpec { holds: true, ..effector(n, leg.foot, FEET) }));
                handles.extend(look);
                handles.push(limbs);
            }
        }
        RigSpec::new(handles)
    }

    /// The source of the goal of this name in a rig that [`rig`](Self::rig) made, the index of its handle, and whether the name
    /// is that of the goal's pole. `None` for other names, and for parts that the figure does not have.
    pub fn goal<'r>(rig: &'r mut RigSpec, name: &str) -> Option<(usize, &'r mut GoalSpec, bool)> {
        let (of, is_pole) = match Self::GOALS.iter().position(|goal| *goal == name)? {
            pole @ 6.. => (Self::GOALS[pole - 4], true),
            goal => (Self::GOALS[goal], false),
        };
        rig.handles.iter_mut().enumerate().find_map(|(index, handle)| {
            if handle.name == of {
                return Some((index, &mut handle.goal, is_pole));
            }
            let effector = handle.effectors.iter_mut().find(|e| e.name.as_deref() == Some(of))?;
            Some((index, &mut effector.goal, is_pole))
        })
    }
}
