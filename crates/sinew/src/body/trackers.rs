//! Solving a human-like body from few trackers.

use alloc::vec::Vec;

use glam::Vec3;

use super::{BodyRoles, Side};
use crate::{
    Goal, JointId, Outcome, Pose, Report, Skeleton, SolveError, Workspace,
    solve::{Balance, Effector, FullBody, FullBodyError, FullBodyOptions, IterativeOptions, RootMode},
};

/// Extent of the soles behind and in front of the ankle, as fractions of the leg's length: a foot of 26 cm on a leg of 90
/// cm.
const SOLE: (f32, f32) = (-0.08, 0.2);

/// Mass of each joint as a fraction of the body's, from tables of segment masses (Winter, "Biomechanics and Motor Control of
/// Human Movement", 1990). Joints without a role (capes, weapons, helpers) have none.
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

/// Combines the reports of two searches, one after the other.
fn both(first: Report, second: Report) -> Report {
    Report {
        iterations: first.iterations + second.iterations,
        restarts: first.restarts + second.restarts,
        ..second
    }
}

/// Default numbers of steps and restarts of a search. With those of a full body (200 and 6) the search misses one believable
/// pose in 60, with these one in 200 (`lab/full_body`).
const SEARCH: (u32, u32) = (500, 12);

/// Maximum distance of the centre of mass from the support for which the feet stay, as a fraction of the leg's length.
const TOPPLES: f32 = 0.02;

/// Solver for a whole body from few goals: for head and hands (a headset and two controllers), for these with hips and feet,
/// or for any other effectors.
///
/// Goals of trackers come first. Feet without a tracker stay where they [`stand`](Self::stand), as far as the trackers
/// allow. The centre of mass stays over the feet. Then joints move towards their preferred values, and the hips move little.
/// Where the centre of mass cannot stay over the feet, both feet slide after it, so that a body that walks away does not
/// tilt over. (To make steps instead, call `stand` with the feet at their new positions.)
///
/// Joints need limits, preferred values and stiffness, as from [`HumanLimits`](super::HumanLimits).
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
/// # Method
///
/// First, trackers and feet have equal weights: the legs then bend as in a squat, and the hips are not pulled towards the
/// hands. If residuals remain, a second solve continues from there, with feet at a lower priority than trackers.
#[derive(Clone, Debug)]
pub struct Trackers {
    /// Solver with feet and trackers of equal priority.
    alike: FullBody,
    /// Solver with feet at a lower priority than trackers.
    after: FullBody,
    /// Mode of the hips' translation. By default [`RootMode::Free`] where an effector is on the hips, else a spring of
    /// strength 1.
    pub root: RootMode,
    /// Strength of the pull of joints to their preferred values, 0 to 1; 0.5 by default.
    pub posture: f32,
    count: usize,
    hips: JointId,
    body: [Foot; 2],
    /// Mass of each joint; `None` where an effector is on the hips.
    masses: Option<Vec<f32>>,
    front: Vec3,
}

/// State of one character that [`Trackers`] solve: its standing feet, and its pose before the frame.
#[derive(Clone, Debug)]
pub struct TrackersState {
    /// Effectors of the trackers that it belongs to.
    effectors: Vec<Effector>,
    /// Goals of this frame's trackers, then of standing feet.
    goals: Vec<Goal>,
    front: Vec3,
    /// Pose before this frame.
    initial: Pose,
}

/// A leg's foot and its effector.
#[derive(Clone, Copy, Debug)]
struct Foot {
    foot: JointId,
    length: f32,
    /// Index of the effector that tells the foot's position.
    effector: usize,
}

impl Trackers {
    /// Creates a solver with these effectors. The lengths of the legs and the direction of the front come from `stands`. Its
    /// skeleton must be that of the poses to solve. Fails as [`FullBody::new`] does with the hips as the root.
    pub fn new(body: &BodyRoles, effectors: &[Effector], stands: &Pose) -> Result<Self, FullBodyError> {
        let skeleton: &Skeleton = stands.skeleton();
        let count = effectors.len();
        let mut effectors = effectors.to_vec();
        let hips_led = effectors.iter().any(|t| t.joint == body.hips);
        let legs = Side::BOTH.map(|side| {
            let leg = body.leg(side);
            let at = |j| stands.position(j);
            let length = at(leg.thigh).distance(at(leg.shin)) + at(leg.shin).distance(at(leg.foot));
            // A tracker on the foot tells where it stands, else a tracker anywhere on the leg does.
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
            body: legs,
            masses: (!hips_led).then(|| masses(body, skeleton.len())),
            front: body.front(stands),
        })
    }

    /// Creates the state of a character whose feet stand where they are in `pose`.
    pub fn state(&self, pose: &Pose) -> TrackersState {
        let effectors = self.effectors().to_vec();
        let goals = alloc::vec![Goal::NONE; effectors.len()];
        let mut state = TrackersState { effectors, goals, front: self.front, initial: pose.clone() };
        self.put_feet(&mut state, pose);
        state
    }

    /// Reserves memory in a workspace, so that no solve allocates.
    pub fn reserve(&self, workspace: &mut Workspace) {
        self.after.reserve(workspace);
    }

    /// All effectors: those of the trackers, then those of feet without a tracker.
    pub fn effectors(&self) -> &[Effector] {
        self.after.effectors()
    }

    /// The joints that the solver may move, parents before children.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        self.after.joints()
    }

    /// Horizontal distance of the centre of mass from the feet in a pose, in metres. 0 over the feet, and where an effector
    /// is on the hips.
    pub fn out_of_balance(&self, state: &TrackersState, pose: &Pose) -> f32 {
        let support = self.support(state.front, self.body.map(|f| pose.position(f.foot)));
        self.balance(&support, 0).map_or(0.0, |balance| self.after.out_of_balance(pose, &balance))
    }

    /// Makes feet without a tracker stand where they are in `pose`, after a teleport or a step. Returns
    /// [`SolveError::State`] where the state is that of other trackers or of another skeleton.
    pub fn stand(&self, state: &mut TrackersState, pose: &Pose) -> Result<(), SolveError> {
        self.fits(state, pose)?;
        self.put_feet(state, pose);
        Ok(())
    }

    /// Returns an error unless the state belongs to these trackers and the pose's skeleton.
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
        // Feet in line, one before the other, do not tell the front.
        let front = left.cross(Vec3::Y).normalize_or_zero();
        if front.dot(state.front) > 0.5 {
            state.front = front;
        }
    }

    /// Moves every tracker to its goal and leaves the pose updated. `goals` has one goal for each tracker, in the order of
    /// the effectors; [`Goal::NONE`](crate::Goal::NONE) skips one. The report's residuals are the trackers'. Feet do not
    /// affect whether it is reached.
    ///
    /// By default each search makes at most 500 steps and 12 restarts.
    ///
    /// # Errors
    /// - [`SolveError::GoalCount`] for a wrong number of goals.
    /// - [`SolveError::State`] for a state of other trackers or of another skeleton.
    /// - The errors of [`FullBody::solve`] for goals, options and poses that it rejects.
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
            let offset = centre.unwrap_or_else(|| pose.position(self.hips)) - middle;
            let offset = Vec3::new(offset.x, 0.0, offset.z);
            // The feet move until the centre of mass is as far inside their edge as it was outside, or is at their middle.
            let inside = (offset.length() - out).max(0.0);
            let shift = offset.normalize_or_zero() * (out + out.min(inside));
            let set_feet = |goals: &mut [Goal], stand: [Option<Vec3>; 2]| {
                (0..2).for_each(|k| goals[self.body[k].effector].position = stand[k]);
            };
            let stood = stand;
            stand = stand.map(|at| at.map(|p| p + shift));
            set_feet(&mut state.goals, stand);
            support = self.support(state.front, feet(pose, &stand));
            let again = self.search(workspace, pose, &state.goals, &support, iterative);
            set_feet(&mut state.goals, stood);
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

    /// Solves for trackers and feet alike, then for trackers first. Also returns the distance of the centre of mass from the
    /// support, in metres.
    fn search(
        &self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goals: &[Goal],
        support: &[Vec3; 4],
        options: IterativeOptions,
    ) -> Result<(Report, f32), SolveError> {
        let first = self.alike.solve(workspace, pose, goals, &self.options(options, support, 1))?;
        // Where the first solve meets all goals, the second only measures.
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

    /// Corners of the support, for feet at these positions in model space.
    fn support(&self, front: Vec3, feet: [Vec3; 2]) -> [Vec3; 4] {
        [(0, SOLE.0), (0, SOLE.1), (1, SOLE.0), (1, SOLE.1)]
            .map(|(k, part)| feet[k] + front * (part * self.body[k].length))
    }

    /// The outcome of each tracker by itself, in the order of the effectors: `report` with the residuals of that tracker,
    /// measured on `pose`. Both must be those of the last solve.
    pub fn effector_reports<'a>(
        &'a self,
        pose: &'a Pose,
        goals: &'a [Goal],
        report: &Report,
    ) -> impl Iterator<Item = Report> + use<'a> {
        self.after.effector_reports(pose, goals, report)
    }
}
