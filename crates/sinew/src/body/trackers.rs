//! A whole body led by few goals.

use alloc::vec::Vec;

use glam::Vec3;

use super::{BodyRoles, Side};
use crate::{
    Goal, JointId, Pose, Report, Skeleton, SolveError, Status, math,
    solve::{Balance, Effector, EffectorReport, FullBody, FullBodyError, RootMode, check},
};

/// How far soles reach behind and before the ankle, as parts of the leg's length: a foot of 26 cm on a leg of 90.
const SOLE: (f32, f32) = (-0.08, 0.2);

/// Each joint's share of the body's mass, as Winter's tables have the parts of it ("Biomechanics and Motor Control of
/// Human Movement", 1990). What hangs on the body besides (capes, weapons, helpers) has none.
fn masses(body: &BodyRoles, count: usize) -> Vec<f32> {
    let mut all = alloc::vec![0.0; count];
    let mut add = |joint: JointId, share: f32| {
        if let Some(m) = all.get_mut(joint.index()) {
            *m += share;
        }
    };
    let (pelvis, trunk, head) = (0.142, 0.355, 0.081);
    add(body.hips, pelvis);
    let spine = if body.spine.is_empty() { &[body.hips][..] } else { &body.spine };
    for &joint in spine {
        add(joint, trunk / spine.len() as f32);
    }
    if let Some(joint) = body.head.or(body.neck) {
        add(joint, head);
    }
    for leg in &body.legs {
        for (joint, share) in [(leg.thigh, 0.1), (leg.shin, 0.0465), (leg.foot, 0.0145)] {
            add(joint, share);
        }
    }
    for arm in body.arms.iter().flatten() {
        for (joint, share) in [(arm.upper_arm, 0.028), (arm.forearm, 0.016), (arm.hand, 0.006)] {
            add(joint, share);
        }
    }
    all
}

/// One search after the other.
fn both(first: Report, second: Report) -> Report {
    Report {
        iterations: first.iterations + second.iterations,
        restarts: first.restarts + second.restarts,
        ..second
    }
}

/// Steps and fresh starts of a search: with those of a full body, 200 and 6, one believable pose in 60 is not found, with these
/// one in 200 (`lab/full_body`).
const SEARCH: (u32, u32) = (500, 12);

/// What is out of balance by less, in parts of the leg's length, stands as it is.
const TOPPLES: f32 = 0.02;

/// A whole body that follows few goals: head and hands, as a headset and two controllers give them, those with hips and
/// feet, or any others.
///
/// What is asked for goes first. Feet that have no goal stay where they [`stand`](Self::stand), as far as goals let
/// them; then the body's weight comes over the feet; and among all that is left, joints go near to what they prefer,
/// and hips move little. Where the weight cannot come over the feet, both follow it: who walks away does not lean until
/// he falls. (A program that wants steps makes them, and says so by `stand`.)
/// Joints need limits, preferred values and stiffness, such as [`HumanLimits`](super::HumanLimits) gives.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, JointTransform, glam::Vec3, body::{BodyRoles, HumanLimits, Side, Trackers}, solve::Effector};
/// # let mut builder = Skeleton::builder();
/// # let mut add = |name: &str, parent, x, y, z| {
/// #     builder.add(name, parent, JointTransform::from_translation(Vec3::new(x, y, z)))
/// # };
/// # let hips = add("Hips", None, 0.0, 0.9, 0.0);
/// # let spine = add("Spine", Some(hips), 0.0, 0.15, 0.0);
/// # let chest = add("Spine1", Some(spine), 0.0, 0.2, 0.0);
/// # let neck = add("Neck", Some(chest), 0.0, 0.22, 0.0);
/// # add("Head", Some(neck), 0.0, 0.1, 0.0);
/// # for (side, x) in [("Left", 1.0), ("Right", -1.0)] {
/// #     let arm = add(&format!("{side}Arm"), Some(chest), 0.18 * x, 0.15, 0.0);
/// #     let fore = add(&format!("{side}ForeArm"), Some(arm), 0.28 * x, 0.0, 0.0);
/// #     add(&format!("{side}Hand"), Some(fore), 0.25 * x, 0.0, 0.0);
/// #     let thigh = add(&format!("{side}UpLeg"), Some(hips), 0.1 * x, -0.05, 0.0);
/// #     let shin = add(&format!("{side}Leg"), Some(thigh), 0.0, -0.4, 0.0);
/// #     add(&format!("{side}Foot"), Some(shin), 0.0, -0.4, 0.0);
/// # }
/// # let mut skeleton = builder.build()?.0;
/// let bind = Pose::rest(&Arc::new(skeleton.clone())); // a figure with arms aside
/// let body = BodyRoles::find(&bind, &[])?;
/// let human = HumanLimits::of(&bind, &body);
/// human.apply(&mut skeleton)?;
/// let skeleton = Arc::new(skeleton);
///
/// let hand = |side| body.arm(side).ok_or("no arm").map(|arm| arm.hand);
/// let effectors = [hand(Side::Left)?, hand(Side::Right)?, body.head.ok_or("no head")?].map(Effector::new);
/// let mut pose = Pose::rest(&skeleton);
/// human.stand_at_ease(&bind, &body, &mut pose);
/// let mut trackers = Trackers::new(&body, &effectors, &pose)?;
/// let foot = body.leg(Side::Left).foot;
/// let stood = pose.position(foot);
///
/// // Both hands forward, and the head lower: knees bend, and the feet stay.
/// let goals = [Vec3::new(0.2, 1.0, 0.4), Vec3::new(-0.2, 1.0, 0.4), Vec3::new(0.0, 1.25, 0.05)];
/// let report = trackers.solve(&mut pose, &goals.map(Goal::at))?;
/// assert!(report.position_residual < 1e-3);
/// assert!(pose.position(body.hips).y < bind.position(body.hips).y - 0.05);
/// assert!(pose.position(foot).distance(stood) < 1e-3);
/// # Ok(())
/// # }
/// ```
/// # How it is found
///
/// Trackers and feet are asked for alike at first: so hips go where legs bend as in a squat, and are not pulled after
/// the hands. Only where that leaves something open are feet asked for less than trackers, from there.
#[derive(Clone, Debug)]
pub struct Trackers {
    /// Feet count as trackers do.
    alike: FullBody,
    /// Feet come after trackers.
    after: FullBody,
    /// How near each position must come, as a part of the figure's size; see [`FullBody::tolerance`].
    pub tolerance: f32,
    /// How near each rotation must come, in radians.
    pub rotation_tolerance: f32,
    /// Steps after which a search gives up, fresh starts included.
    pub max_iterations: u32,
    /// Fresh starts of a search after it has stalled.
    pub max_restarts: u32,
    /// What the hips' place does; see [`RootMode`].
    pub root: RootMode,
    /// How strongly joints are drawn to their preferred values, 0 to 1.
    pub posture: f32,
    /// The most that a joint turns in one solve, in radians; infinite for no bound. See [`FullBody::max_turn`].
    pub max_turn: f32,
    /// The pose that came in.
    came: Pose,
    count: usize,
    hips: JointId,
    body: [Foot; 2],
    front: Vec3,
    goals: Vec<Goal>,
}

/// What is known of a leg.
#[derive(Clone, Copy, Debug)]
struct Foot {
    foot: JointId,
    length: f32,
    /// Which effector's goal says where it is.
    effector: usize,
}

impl Trackers {
    /// A body led by these effectors, whose feet stand where `stands` has them. Its skeleton is the one that solves will have.
    pub fn new(body: &BodyRoles, effectors: &[Effector], stands: &Pose) -> Result<Self, FullBodyError> {
        let skeleton: &Skeleton = stands.skeleton();
        let count = effectors.len();
        let mut effectors = effectors.to_vec();
        let hips_led = effectors.iter().any(|t| t.joint == body.hips);
        let place = Side::BOTH.map(|side| {
            let leg = body.leg(side);
            let at = |j| stands.position(j);
            let length = at(leg.thigh).distance(at(leg.shin)) + at(leg.shin).distance(at(leg.foot));
            // A tracker anywhere on the leg says where it is; one on the foot where it stands.
            let on = |t: &Effector| skeleton.is_below(t.joint, leg.thigh);
            let effector = effectors[..count].iter().position(|t| t.joint == leg.foot);
            let effector = effector.or_else(|| effectors[..count].iter().position(on)).unwrap_or_else(|| {
                effectors.push(Effector::new(leg.foot));
                effectors.len() - 1
            });
            Foot { foot: leg.foot, length, effector }
        });
        let mut alike = FullBody::new(skeleton, body.hips, &effectors)?;
        for effector in &mut effectors[count..] {
            effector.priority = 1;
        }
        let mut after = FullBody::new(skeleton, body.hips, &effectors)?;
        if !hips_led {
            let masses = masses(body, skeleton.len());
            let over = Balance { masses, ..Balance::over(alloc::vec![Vec3::ZERO; 4]) };
            alike.balance = Some(Balance { priority: 1, ..over.clone() });
            after.balance = Some(Balance { priority: 2, ..over });
        }
        let mut new = Self {
            tolerance: after.tolerance,
            rotation_tolerance: after.rotation_tolerance,
            max_iterations: SEARCH.0,
            max_restarts: SEARCH.1,
            root: if hips_led { RootMode::Free } else { RootMode::Spring(1.0) },
            posture: 0.5,
            max_turn: f32::INFINITY,
            came: stands.clone(),
            alike,
            after,
            count,
            hips: body.hips,
            body: place,
            front: body.front(stands),
            goals: alloc::vec![Goal::NONE; effectors.len()],
        };
        new.stand(stands);
        Ok(new)
    }

    /// What leads it: the trackers' effectors, then those of feet that have none.
    pub fn effectors(&self) -> &[Effector] {
        self.after.effectors()
    }

    /// The joints that it may move, parents before children.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        self.after.joints()
    }

    /// How far, in metres, the weight was from over the feet after the last solve.
    pub fn out_of_balance(&self) -> f32 {
        self.after.out_of_balance()
    }

    /// Feet without a tracker stand from now on where this pose has them.
    pub fn stand(&mut self, pose: &Pose) {
        for foot in self.body.iter().filter(|f| f.effector >= self.count) {
            let at = pose.position(foot.foot);
            self.goals[foot.effector] = Goal::at(at).with_rotation(pose.model_rotation(foot.foot));
        }
        let across = self.body.map(|f| pose.position(f.foot));
        let left = Vec3::new(across[0].x - across[1].x, 0.0, across[0].z - across[1].z);
        // Feet one before the other say nothing of the front.
        let front = left.cross(Vec3::Y).normalize_or_zero();
        if front.dot(self.front) > 0.5 {
            self.front = front;
        }
    }

    /// Brings every tracker to its goal, given in the order of the effectors. The pose is left updated. The report's
    /// residuals are the trackers'; it has reached where these are met, wherever the feet went.
    pub fn solve(&mut self, pose: &mut Pose, goals: &[Goal]) -> Result<Report, SolveError> {
        if goals.len() != self.count {
            return Err(SolveError::GoalCount { given: goals.len(), wanted: self.count });
        }
        check::within("the largest turn", "above 0", self.max_turn, f32::MIN_POSITIVE, f32::INFINITY)?;
        self.goals[..self.count].copy_from_slice(goals);
        let bounded = self.max_turn < f32::INFINITY;
        pose.update();
        self.came.copy_from(pose);
        for full_body in [&mut self.alike, &mut self.after] {
            (full_body.tolerance, full_body.rotation_tolerance) = (self.tolerance, self.rotation_tolerance);
            (full_body.max_iterations, full_body.max_restarts) = (self.max_iterations, self.max_restarts);
            (full_body.root, full_body.posture) = (self.root, self.posture);
        }
        self.support(pose);
        let mut report = self.search(pose)?;
        let out = self.out_of_balance();
        if self.body.iter().all(|f| f.effector >= self.count) && out > TOPPLES * self.body[0].length {
            let stand = self.body.map(|f| self.goals[f.effector].position);
            let middle = stand.iter().copied().flatten().sum::<Vec3>() * 0.5;
            let way = self.weight(pose) - middle;
            let way = Vec3::new(way.x, 0.0, way.z);
            // So far that the weight comes from the edge of the feet as far inside as it was outside, or to their middle.
            let inside = (way.length() - out).max(0.0);
            let way = way.normalize_or_zero() * (out + out.min(inside));
            for foot in self.body {
                let goal = &mut self.goals[foot.effector];
                goal.position = goal.position.map(|p| p + way);
            }
            self.support(pose);
            let again = self.search(pose);
            for (foot, at) in self.body.into_iter().zip(stand) {
                self.goals[foot.effector].position = at;
            }
            report = both(report, again?);
        }
        if bounded && self.turned(pose) > self.max_turn {
            pose.copy_from(&self.came);
            self.after.max_turn = self.max_turn;
            let held = self.after.solve(pose, &self.goals);
            self.after.max_turn = f32::INFINITY;
            report = Report { status: Status::Stalled, ..both(report, held?) };
        }
        report.branch_changed = self.after.branch_changed(&self.came, pose, &self.goals);
        let outcomes = self.effector_reports();
        let worst = |f: fn(&EffectorReport) -> f32| outcomes.iter().map(f).fold(0.0, f32::max);
        report.position_residual = worst(|o| o.position_residual);
        report.rotation_residual = worst(|o| o.rotation_residual);
        if outcomes.iter().all(|o| o.met) {
            report.status = Status::Reached;
        }
        Ok(report)
    }

    /// Meets trackers and feet, or else trackers first.
    fn search(&mut self, pose: &mut Pose) -> Result<Report, SolveError> {
        let first = self.alike.solve(pose, &self.goals)?;
        // Where all is met there is nothing left to do, and the second only measures.
        Ok(both(first, self.after.solve(pose, &self.goals)?))
    }

    /// The furthest that a joint has turned, in radians.
    fn turned(&self, pose: &Pose) -> f32 {
        let turned = |j| math::angle_between(self.came.local(j).rotation, pose.local(j).rotation);
        self.after.joints().map(turned).fold(0.0, f32::max)
    }

    /// Puts the support under the feet.
    fn support(&mut self, pose: &Pose) {
        for balance in [&mut self.alike, &mut self.after].into_iter().filter_map(|t| t.balance.as_mut()) {
            for (foot, corners) in self.body.iter().zip(balance.support.chunks_exact_mut(2)) {
                let at = self.goals[foot.effector].position.unwrap_or_else(|| pose.position(foot.foot));
                corners.copy_from_slice(&[SOLE.0, SOLE.1].map(|part| at + self.front * (part * foot.length)));
            }
        }
    }

    /// The centre of mass as [`Balance`] has it: that of a joint is half-way to the middle of its children.
    fn weight(&self, pose: &Pose) -> Vec3 {
        let masses = self.after.balance.as_ref().map_or(&[][..], |b| &b.masses);
        let (mut sum, mut all) = (Vec3::ZERO, 0.0);
        for (joint, &mass) in pose.skeleton().joints().zip(masses).filter(|(_, m)| **m > 0.0) {
            let from = pose.position(joint);
            let (mut ends, mut count) = (Vec3::ZERO, 0);
            for child in pose.skeleton().children(joint) {
                (ends, count) = (ends + pose.position(child), count + 1);
            }
            let at = if count > 0 { 0.5 * (from + ends / count as f32) } else { from };
            (sum, all) = (sum + at * mass, all + mass);
        }
        if all > 0.0 { sum / all } else { pose.position(self.hips) }
    }

    /// How each tracker came out in the last solve.
    pub fn effector_reports(&self) -> &[EffectorReport] {
        &self.after.effector_reports()[..self.count]
    }
}
