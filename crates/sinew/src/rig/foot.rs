//! Feet that pivot about heel, ball and tip of the sole.

use alloc::sync::Arc;

use glam::{Affine3, Quat, Vec3};

use super::{FootSpec, HandleFault, HandleSolver, RigGoal};
use crate::{Chain, Goal, JointId, Pose, ground::plant::Sole, math, solve::ChainSolver};

/// Breadth of a person's foot as a share of its length: 0.055 and 0.152 of the height (Drillis and Contini, "Body Segment
/// Parameters", 1966).
const BREADTH: f32 = 0.055 / 0.152;

/// A leg and its sole.
#[derive(Clone)]
pub(super) struct Foot {
    pub limb: Arc<dyn ChainSolver>,
    pub toes: Option<JointId>,
    foot: JointId,
    /// Heel, ball and tip in the foot's local space.
    heel: Vec3,
    ball: Vec3,
    tip: Vec3,
    /// Unit vectors to the left and up at bind, in the foot's local space.
    left: Vec3,
    up: Vec3,
    break_angle: f32,
}

/// The frame of a foot in model space.
#[derive(Clone, Copy)]
struct Placed {
    at: Vec3,
    /// Rotation.
    turned: Quat,
}

impl Placed {
    fn point(&self, arm: Vec3) -> Vec3 {
        self.at + math::rotate(self.turned, arm)
    }

    /// Turns by an angle about an axis through a point, both given in the frame.
    fn turn(self, axis: Vec3, angle: f32, arm: Vec3) -> Self {
        if angle == 0.0 {
            return self;
        }
        let by = math::axis_angle(math::rotate(self.turned, axis), angle);
        let pivot = self.point(arm);
        let turned = math::normalize(math::mul(by, self.turned));
        Self { at: pivot - math::rotate(turned, arm), turned }
    }
}

impl Foot {
    pub fn new(
        bind: &Pose,
        chain: &Chain,
        limb: Arc<dyn ChainSolver>,
        spec: &FootSpec,
        front: Vec3,
    ) -> Result<Self, HandleFault> {
        let foot = chain.tip();
        if !(0.0..=core::f32::consts::PI).contains(&spec.break_angle) {
            let (what, range, value) = ("the break angle", "0 to pi", spec.break_angle);
            return Err(HandleFault::OutOfRange { what, range, value });
        }
        if let Some(toes) = spec.toes.filter(|&t| t == foot || !bind.skeleton().is_below(t, foot)) {
            let name = |j| bind.skeleton().name(j).into();
            return Err(HandleFault::NotBelow { joint: name(toes), above: name(foot) });
        }
        let ankle = bind.position(foot);
        let flat = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
        let by_toes = spec.toes.and_then(|t| flat(bind.position(t) - ankle).try_normalize());
        let forward = by_toes.unwrap_or(front);
        let none =
            HandleFault::Setting { solver: HandleSolver::Foot, rule: "needs a leg with a length, or a sole" };
        let given = spec.sole.map(|sole| {
            let tip = spec.toes.map_or(sole.tip, |t| {
                bind.model(foot).inverse().transform_point3(bind.model(t).transform_point3(sole.tip))
            });
            Sole { tip, ..sole }
        });
        let sole = given.or_else(|| Sole::from_proportions(bind, foot, chain.length(bind), forward));
        let Sole { heel, ball, tip } = sole.ok_or(none.clone())?;
        if !(heel.is_finite() && ball.is_finite() && tip.is_finite()) {
            return Err(none);
        }
        let into = |v| math::rotate(math::conjugate(bind.model_rotation(foot)), v);
        let (left, up) = (into(Vec3::Y.cross(forward)), into(Vec3::Y));
        let (toes, break_angle) = (spec.toes, spec.break_angle);
        Ok(Self { limb, toes, foot, heel, ball, tip, left, up, break_angle })
    }

    /// The goal of the ankle, and the rotation of the toes in model space where they bend, in a pose that is not yet solved.
    pub fn pivot(&self, pose: &Pose, goal: &RigGoal) -> (Goal, Option<Quat>) {
        let frame = pose.model(self.foot);
        let scale = if pose.unscaled(self.foot) { 1.0 } else { math::uniform_scale(&frame.matrix3) };
        let start = Placed {
            at: goal.goal.position.unwrap_or(frame.translation),
            turned: goal.goal.rotation.map_or_else(|| math::rotation_of(&frame.matrix3), math::normalize),
        };
        let toes = self.toes.map(|t| seen_from(pose, t, self.foot));
        let [heel, sole, tip] = [self.heel, self.ball, self.tip].map(|p| p * scale);
        let ball = toes.map_or(sole, |(at, _)| at * scale);
        let (left, up, forward) = (self.left, self.up, self.left.cross(self.up));
        let edge = 0.5 * BREADTH * (tip - heel).length() * -goal.bank.signum();
        let whole = start
            .turn(up, goal.pivot, ball)
            .turn(forward, goal.bank, sole + left * edge)
            .turn(left, goal.roll.min(0.0), heel)
            .turn(left, (goal.roll - self.break_angle).max(0.0), tip);
        let foot = whole.turn(left, goal.roll.clamp(0.0, self.break_angle), ball);
        let ankle = Goal { position: Some(foot.at), rotation: Some(foot.turned), ..goal.goal };
        // Elsewhere they go with the foot, and keep their bits.
        let bends = toes.filter(|_| goal.roll > 0.0);
        (ankle, bends.map(|(_, q)| math::mul(whole.turned, q)))
    }
}

/// Position and rotation of a joint in the frame of one above it.
fn seen_from(pose: &Pose, joint: JointId, above: JointId) -> (Vec3, Quat) {
    let mut all = Affine3::IDENTITY;
    let mut rotation = Quat::IDENTITY;
    let mut at = Some(joint);
    while let Some(j) = at.filter(|&j| j != above) {
        let local = pose.local(j);
        all = local.to_affine() * all;
        rotation = math::mul(local.rotation, rotation);
        at = pose.skeleton().parent(j);
    }
    (all.translation, rotation)
}
