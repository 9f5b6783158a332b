//! A whole body led by few goals.

use alloc::vec::Vec;

use glam::Vec3;

use super::{BodyRoles, Side};
use crate::{
    Goal, JointId, Outcome, Pose, Report, Skeleton, SolveError, Workspace,
    solve::{Balance, Effector, FullBody, FullBodyError, FullBodyOptions, IterativeOptions, RootMode},
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
/// use sinew::{Goal, Pose, Skeleton, JointTransform, Workspace, glam::Vec3};
/// use sinew::{body::{BodyRoles, HumanLimits, Side, Trackers}, solve::{Effector, IterativeOptions}};
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
/// let trackers = Trackers::new(&body, &effectors, &pose)?;
/// let (mut state, mut workspace) = (trackers.state(&pose), Workspace::new());
/// let foot = body.leg(Side::Left).foot;
/// let stood = pose.position(foot);
///
/// // Both hands forward, and the head lower: knees bend, and the feet stay.
/// let goals = [Vec3::new(0.2, 1.0, 0.4), Vec3::new(-0.2, 1.0, 0.4), Vec3::new(0.0, 1.25, 0.05)];
/// let options = IterativeOptions::new();
/// let report = trackers.solve(&mut state, &mut workspace, &mut pose, &goals.map(Goal::position), &options)?;
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
    /// How the hips translate; see [`RootMode`]. Free where an effector leads them, else a spring of strength 1.
    pub root: RootMode,
    /// Strength of the pull of joints to their preferred values, 0 to 1; 0.5 by default.
    pub posture: f32,
    count: usize,
    hips: JointId,
    body: [Foot; 2],
    /// Mass of each joint; none where an effector leads the hips.
    masses: Option<Vec<f32>>,
    front: Vec3,
}

/// Where the feet of one character that [`Trackers`] lead stand.
#[derive(Clone, Debug)]
pub struct TrackersState {
    /// Which trackers it was made for.
    effectors: Vec<Effector>,
    /// Goals of trackers in this frame, and of feet that stand.
    goals: Vec<Goal>,
    front: Vec3,
    /// The pose before this frame.
    initial: Pose,
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
    /// A body led by these effectors, whose legs are as long as in the pose `stands`. Its skeleton is the one that solves will
    /// have.
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
        let alike = FullBody::new(skeleton, body.hips, &effectors)?;
        for effector in &mut effectors[count..] {
            effector.priority = 1;
        }
        Ok(Self {
            alike,
            after: FullBody::new(skeleton, body.hips, &effectors)?,
            root: if hips_led { RootMode::Free } else { RootMode::Spring(1.0) },
            posture: 0.5,
            count,
            hips: body.hips,
            body: place,
            masses: (!hips_led).then(|| masses(body, skeleton.len())),
            front: body.front(stands),
        })
    }

    /// The state of a character whose feet stand where this pose has them.
    pub fn state(&self, pose: &Pose) -> TrackersState {
        let effectors = self.effectors().to_vec();
        let goals = alloc::vec![Goal::NONE; effectors.len()];
        let mut state = TrackersState { effectors, goals, front: self.front, initial: pose.clone() };
        self.put_feet(&mut state, pose);
        state
    }

    /// Makes room in a workspace, so that no solve allocates.
    pub fn reserve(&self, workspace: &mut Workspace) {
        self.after.reserve(workspace);
    }

    /// What leads it: the trackers' effectors, then those of feet that have none.
    pub fn effectors(&self) -> &[Effector] {
        self.after.effectors()
    }

    /// The joints that it may move, parents before children.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        self.after.joints()
    }

    /// Distance of the centre of mass from the feet in a pose, in metres; 0 where an effector leads the hips.
    pub fn out_of_balance(&self, state: &TrackersState, pose: &Pose) -> f32 {
        let support = self.support(state.front, self.body.map(|f| pose.position(f.foot)));
        self.balance(&support, 0).map_or(0.0, |balance| self.after.out_of_balance(pose, &balance))
    }

    /// Feet without a tracker stand from now on where this pose has them: after a teleport, or a step.
    pub fn stand(&self, state: &mut TrackersState, pose: &Pose) -> Result<(), SolveError> {
        self.fits(state, pose)?;
        self.put_feet(state, pose);
        Ok(())
    }

    /// An error where a state is that of other trackers.
    fn fits(&self, state: &TrackersState, pose: &Pose) -> Result<(), SolveError> {
        let (given, wanted) = (state.goals.len(), self.effectors().len());
        if state.effectors != self.effectors() {
            return Err(SolveError::State { solver: "trackers", what: "effectors", given, wanted });
        }
        let (given, wanted) = (state.initial.locals().len(), pose.locals().len());
        if given != wanted {
            return Err(SolveError::State { solver: "trackers", what: "joints", given, wanted });
        }
        Ok(())
    }

    fn put_feet(&self, state: &mut TrackersState, pose: &Pose) {
        for foot in self.body.iter().filter(|f| f.effector >= self.count) {
            let at = pose.position(foot.foot);
            state.goals[foot.effector] = Goal::position(at).with_rotation(pose.model_rotation(foot.foot));
        }
        let across = self.body.map(|f| pose.position(f.foot));
        let left = Vec3::new(across[0].x - across[1].x, 0.0, across[0].z - across[1].z);
        // Feet one before the other say nothing of the front.
        let front = left.cross(Vec3::Y).normalize_or_zero();
        if front.dot(state.front) > 0.5 {
            state.front = front;
        }
    }

    /// Brings every tracker to its goal, given in the order of the effectors. The pose is left updated. The report's
    /// residuals are the trackers'; it has reached where these are met, wherever the feet went.
    ///
    /// By default a search makes 500 steps and 12 restarts at most.
    pub fn solve(
        &self,
        state: &mut TrackersState,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goals: &[Goal],
        options: &IterativeOptions,
    ) -> Result<Report, SolveError> {
        if goals.len() != self.count {
            return Err(SolveError::GoalCount { given: goals.len(), wanted: self.count });
        }
        self.fits(state, pose)?;
        options.check()?;
        let IterativeOptions { influence, max_turn, max_iterations, max_restarts, .. } = *options;
        let iterative = IterativeOptions {
            max_iterations: max_iterations.or(Some(SEARCH.0)),
            max_restarts: max_restarts.or(Some(SEARCH.1)),
            influence: if influence > 0.0 { 1.0 } else { 0.0 },
            max_turn: f32::INFINITY,
            ..*options
        };
        state.goals[..self.count].copy_from_slice(goals);
        pose.update();
        state.initial.copy_from(pose);
        let mut stand = self.body.map(|f| state.goals[f.effector].position);
        let feet = |pose: &Pose, stand: &[Option<Vec3>; 2]| {
            [0, 1].map(|k| stand[k].unwrap_or_else(|| pose.position(self.body[k].foot)))
        };
        let mut support = self.support(state.front, feet(pose, &stand));
        let (mut report, out) = self.search(workspace, pose, &state.goals, &support, iterative)?;
        if self.body.iter().all(|f| f.effector >= self.count) && out > TOPPLES * self.body[0].length {
            let middle = stand.iter().copied().flatten().sum::<Vec3>() * 0.5;
            let centre = self.balance(&support, 0).and_then(|b| b.centre(pose, self.hips));
            let way = centre.unwrap_or_else(|| pose.position(self.hips)) - middle;
            let way = Vec3::new(way.x, 0.0, way.z);
            // So far that the weight comes from the edge of the feet as far inside as it was outside, or to their middle.
            let inside = (way.length() - out).max(0.0);
            let way = way.normalize_or_zero() * (out + out.min(inside));
            let place = |goals: &mut [Goal], stand: [Option<Vec3>; 2]| {
                (0..2).for_each(|k| goals[self.body[k].effector].position = stand[k]);
            };
            let stood = stand;
            stand = stand.map(|at| at.map(|p| p + way));
            place(&mut state.goals, stand);
            support = self.support(state.front, feet(pose, &stand));
            let again = self.search(workspace, pose, &state.goals, &support, iterative);
            place(&mut state.goals, stood);
            report = both(report, again?.0);
        }
        if influence > 0.0 && influence < 1.0 {
            for joint in self.joints() {
                let (from, to) = (*state.initial.local(joint), *pose.local(joint));
                let limits = pose.skeleton().limits(joint).relaxed_beyond(&from, 0.0);
                pose.set_rotation(joint, limits.blend(from.rotation, to.rotation, influence));
                pose.set_translation(joint, from.translation.lerp(to.translation, influence));
            }
            pose.update();
        }
        if self.after.turned(&state.initial, pose) > max_turn {
            pose.copy_from(&state.initial);
            let bounded = IterativeOptions { influence, max_turn, ..iterative };
            let held =
                self.after.solve(workspace, pose, &state.goals, &self.options(bounded, &support, 2))?;
            report = Report { outcome: Outcome::Stalled, ..both(report, held) };
        }
        report.branch_changed = self.after.branch_changed(workspace, &state.initial, pose, &state.goals)?;
        report = self.after.with_residuals(pose, goals, report);
        if report.reached() {
            report.outcome = Outcome::Converged;
        }
        Ok(report)
    }

    /// Meets trackers and feet, or else trackers first. Returns how far the weight is from the support, too.
    fn search(
        &self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goals: &[Goal],
        support: &[Vec3; 4],
        options: IterativeOptions,
    ) -> Result<(Report, f32), SolveError> {
        let first = self.alike.solve(workspace, pose, goals, &self.options(options, support, 1))?;
        // Where all is met there is nothing left to do, and the second only measures.
        let second = self.after.solve(workspace, pose, goals, &self.options(options, support, 2))?;
        Ok((both(first, second), FullBody::last_size_and_imbalance(workspace).1))
    }

    fn options<'a>(
        &'a self,
        options: IterativeOptions,
        support: &'a [Vec3; 4],
        priority: u8,
    ) -> FullBodyOptions<'a> {
        let options = FullBodyOptions::from(options).with_root(self.root).with_posture(self.posture);
        FullBodyOptions { balance: self.balance(support, priority), ..options }
    }

    fn balance<'a>(&'a self, support: &'a [Vec3; 4], priority: u8) -> Option<Balance<'a>> {
        let masses = self.masses.as_deref()?;
        Some(Balance::over(support).with_masses(masses).with_priority(priority))
    }

    /// The support under the feet at these positions.
    fn support(&self, front: Vec3, feet: [Vec3; 2]) -> [Vec3; 4] {
        [(0, SOLE.0), (0, SOLE.1), (1, SOLE.0), (1, SOLE.1)]
            .map(|(k, part)| feet[k] + front * (part * self.body[k].length))
    }

    /// The outcome of each tracker by itself, in the pose that a solve left with this report.
    pub fn effector_reports<'a>(
        &'a self,
        pose: &'a Pose,
        goals: &'a [Goal],
        report: &Report,
    ) -> impl Iterator<Item = Report> + use<'a> {
        self.after.effector_reports(pose, goals, report)
    }
}
