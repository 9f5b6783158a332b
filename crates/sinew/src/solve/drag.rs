//! Interactive dragging of one joint of a figure, with other joints pinned.

use alloc::vec::Vec;

use glam::Quat;

use super::{
    arc::distance,
    check,
    full_body::{Effector, FullBody, FullBodyError, FullBodyOptions, RootMode},
};
use crate::{Goal, JointId, Outcome, Pose, Report, Skeleton, SolveError, Workspace, math};

/// An effector that keeps its position while another is dragged.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pin {
    /// The pinned joint, or a point fixed to it. Its priority is ignored: pins have priority 0.
    pub effector: Effector,
    /// Whether the pin holds the joint's rotation as well as its position.
    pub turned: bool,
}

impl Pin {
    /// Pins the position of an effector.
    pub const fn new(effector: Effector) -> Self {
        Self { effector, turned: false }
    }

    /// Sets [`turned`](Self::turned).
    #[must_use]
    pub const fn with_turned(self, turned: bool) -> Self {
        Self { turned, ..self }
    }

    /// Pins the position of a joint's origin.
    pub const fn place(joint: JointId) -> Self {
        Self::new(Effector::new(joint))
    }

    /// Pins the position and the rotation of a joint.
    pub const fn pose(joint: JointId) -> Self {
        Self::place(joint).with_turned(true)
    }
}

/// Stateful solver of one drag, from the grab of an effector to its release.
///
/// Joints above the grabbed one follow by inverse kinematics; joints below it follow by forward kinematics. Pins have
/// priority over the drag: they stay within the tolerance wherever they can be held.
///
/// Each frame solves from the pose of the last frame, without restarts. No joint rotates by more than
/// [`rate`](Self::rate) times the displacement of the goal since the last frame, in figure sizes. Where a limb would have
/// to snap straight or flip, the grabbed joint lags behind instead. The report's residuals tell by how much.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, JointTransform, Workspace, glam::Vec3};
/// use sinew::solve::{Drag, Effector, Pin};
///
/// let mut builder = Skeleton::builder();
/// let at = |x: f32, y: f32| JointTransform::from_translation(Vec3::new(x, y, 0.0));
/// let hips = builder.add("hips", None, at(0.0, 0.9));
/// let chest = builder.add("chest", Some(hips), at(0.0, 0.5));
/// let elbow = builder.add("elbow", Some(chest), at(0.3, 0.0));
/// builder.add("hand", Some(elbow), at(0.3, 0.05));
/// let knee = builder.add("knee", Some(hips), JointTransform::from_translation(Vec3::new(0.1, -0.42, 0.03)));
/// builder.add("foot", Some(knee), at(0.0, -0.42));
/// let (skeleton, _) = builder.build()?;
/// let skeleton = Arc::new(skeleton);
/// let [hips, hand, foot] = ["hips", "hand", "foot"].map(|name| skeleton.find(name).unwrap());
///
/// let mut pose = Pose::rest(&skeleton);
/// let stood = pose.position(foot);
/// let mut drag = Drag::new(&pose, hips, Effector::new(hand), &[Pin::place(foot)])?;
/// let mut workspace = Workspace::new();
/// for frame in 0..60 {
///     let mouse = Vec3::new(0.6, 1.45, 0.0) + Vec3::new(0.003, -0.008, 0.004) * frame as f32;
///     drag.to(&mut workspace, &mut pose, &Goal::position(mouse), &Drag::OPTIONS)?;
///     assert!(pose.position(foot).distance(stood) < 1e-3);
/// }
/// assert!(pose.position(hand).distance(Vec3::new(0.777, 0.978, 0.236)) < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Drag {
    full_body: FullBody,
    goals: Vec<Goal>,
    /// Whether the last effector holds the root's rotation, softly.
    steady: bool,
    /// Pose of the last frame.
    before: Pose,
    last: Goal,
    /// [`Steady::speed`].
    speed: f32,
    /// Maximum displacement of a joint in the last frame, in metres.
    max_move: f32,
    /// Maximum rotation of a joint per frame, in radians per figure size of goal displacement since the last frame. A
    /// radian of goal rotation counts as one figure size. 0 or more, 7.9 by default; infinity for no bound.
    pub rate: f32,
}

/// Bounds that keep a figure steady in a drag.
pub(crate) struct Steady<'a> {
    /// The pose's skeleton; joints without dofs in it stay.
    pub skeleton: &'a Skeleton,
    /// Weight of a goal that the root keeps its rotation, beside the grabbed effector's; 0 for none.
    pub weight: f32,
    /// Maximum displacement of a joint per frame, per displacement of the goal since the last frame. A radian of goal rotation
    /// counts as one figure size.
    pub speed: f32,
}

/// Fractions of the maximum rotation for repeated solves, where a frame rotates joints too far or loses a pin. After the
/// last one, the frame keeps the pose of the last frame.
const HALF: [f32; 4] = [1.0, 0.5, 0.25, 0.125];

impl Drag {
    /// Options with a root that translates freely.
    pub const OPTIONS: FullBodyOptions<'static> = FullBodyOptions::new().with_root(RootMode::Free);

    /// Grabs an effector at or below `root`. Pins keep their positions in `pose`, which must be up to date.
    pub fn new(pose: &Pose, root: JointId, grabbed: Effector, pins: &[Pin]) -> Result<Self, FullBodyError> {
        let steady = Steady { skeleton: pose.skeleton(), weight: 0.0, speed: f32::INFINITY };
        Self::steadied(pose, root, grabbed, pins, steady)
    }

    /// [`new`](Self::new), within bounds.
    pub(crate) fn steadied(
        pose: &Pose,
        root: JointId,
        grabbed: Effector,
        pins: &[Pin],
        Steady { skeleton, weight, speed }: Steady,
    ) -> Result<Self, FullBodyError> {
        let mut effectors = alloc::vec![Effector { priority: 1, ..grabbed }];
        effectors.extend(pins.iter().map(|p| Effector { priority: 0, ..p.effector }));
        let own = pins.iter().filter(|pin| pin.turned).map(|pin| pin.effector.joint);
        let steady = weight > 0.0 && !own.chain([grabbed.joint]).any(|joint| joint == root);
        if steady {
            effectors.push(Effector { priority: 1, rotation_weight: weight, ..Effector::new(root) });
        }
        let mut new = Self {
            full_body: FullBody::new(skeleton, root, &effectors)?,
            goals: alloc::vec![Goal::NONE; effectors.len()],
            steady,
            before: pose.clone(),
            last: Goal::NONE,
            speed,
            max_move: 0.0,
            rate: RATE,
        };
        for (goal, pin) in new.goals[1..].iter_mut().zip(pins) {
            goal.rotation = pin.turned.then_some(Quat::IDENTITY);
        }
        new.reset(pose);
        Ok(new)
    }

    /// Restarts the drag at `pose`, which must be up to date: the goals of pins and the grabbed effector are their
    /// current positions and rotations.
    pub fn reset(&mut self, pose: &Pose) {
        for (effector, goal) in self.full_body.effectors().iter().zip(&mut self.goals) {
            let mut position = pose.model(effector.joint).transform_point3(effector.offset);
            let mut turn = pose.model_rotation(effector.joint);
            if let Some(other) = effector.relative_to {
                position = pose.model(other).inverse().transform_point3(position);
                turn = math::mul(math::conjugate(pose.model_rotation(other)), turn);
            }
            (goal.position, goal.rotation) = (Some(position), goal.rotation.map(|_| turn));
        }
        if self.steady
            && let (Some(goal), Some(root)) = (self.goals.last_mut(), self.full_body.joints().next())
        {
            *goal = Goal { rotation: Some(pose.model_rotation(root)), ..Goal::NONE };
        }
        let grabbed = self.full_body.effectors()[0];
        let end = pose.model(grabbed.joint).transform_point3(grabbed.offset);
        self.last = Goal::position(end).with_rotation(pose.model_rotation(grabbed.joint));
    }

    /// The full-body solver. Its effectors are the grabbed one, then the pins. In a drag of a rig, the last one keeps the rotation
    /// of a root that follows.
    pub fn full_body(&self) -> &FullBody {
        &self.full_body
    }

    /// Maximum displacement of a joint in the last frame, in metres.
    pub(crate) fn max_move(&self) -> f32 {
        self.max_move
    }

    /// The pinned effectors.
    pub fn pins(&self) -> &[Effector] {
        let effectors = self.full_body.effectors();
        &effectors[1..effectors.len() - usize::from(self.steady)]
    }

    /// The outcome of the grabbed effector, then of each pin: `report` with the residuals of that effector, measured on
    /// `pose`. `pose` and `report` must be those of the last [`Drag::to`].
    pub fn effector_reports<'a>(
        &'a self,
        pose: &'a Pose,
        report: &Report,
    ) -> impl Iterator<Item = Report> + use<'a> {
        self.full_body.effector_reports(pose, &self.goals, report).take(1 + self.pins().len())
    }

    /// Moves the grabbed effector to a goal and leaves the pose updated. The report's residuals are those of the grabbed
    /// effector, relative to the goal. On an error the pose stays as it was.
    ///
    /// For a root that follows, pass [`Drag::OPTIONS`]. By default a solve makes at most 60 steps and no restarts, and pins
    /// hold within a ten-thousandth of the figure's size.
    ///
    /// # Errors
    /// [`SolveError`] where `rate` is negative or NaN, or where the goal, the options or the pose hold values that a
    /// [`FullBody`] rejects.
    pub fn to<'a>(
        &mut self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goal: &Goal,
        options: &(impl Into<FullBodyOptions<'a>> + Copy),
    ) -> Result<Report, SolveError> {
        check::within("the drag's rate", "0 or more", self.rate, 0.0, f32::INFINITY)?;
        pose.update();
        self.before.copy_from(pose);
        let report = self.follow(workspace, pose, goal, (*options).into());
        if report.is_err() {
            pose.copy_from(&self.before);
        }
        report
    }

    fn follow(
        &mut self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goal: &Goal,
        mut options: FullBodyOptions,
    ) -> Result<Report, SolveError> {
        self.goals[0] = *goal;
        options.iterative.max_iterations = options.iterative.max_iterations.or(Some(60));
        options.iterative.max_restarts = options.iterative.max_restarts.or(Some(0));
        let mut report = self.full_body.solve(workspace, pose, &self.goals, &options)?;
        let (size, _) = FullBody::last_size_and_imbalance(workspace);
        let displacement = self.goal_displacement(goal, size);
        let max_turn = self.rate * displacement;
        let bounds = self.speed < f32::INFINITY;
        self.max_move = if bounds { self.speed * displacement * size } else { f32::INFINITY };
        let own = options.iterative.max_turn;
        let mut bound = 0.9 * max_turn;
        let shares = HALF.iter().map(|h| Some(*h)).chain([None]);
        for share in shares {
            let turned = self.full_body.turned(&self.before, pose);
            let moved = if bounds { furthest(&self.before, pose) } else { 0.0 };
            if self.holds(pose, &report) && turned <= max_turn && moved <= self.max_move {
                break;
            }
            if moved > self.max_move {
                // Displacements are nearly proportional to rotations.
                bound = bound.min(0.9 * turned * self.max_move / moved);
            }
            // Solves again with a smaller bound, then for the pins alone where one has lost its position.
            pose.copy_from(&self.before);
            let Some(share) = share.filter(|_| max_turn > 0.0) else {
                report = Report { outcome: Outcome::Stalled, iterations: 0, restarts: 0, ..report };
                break;
            };
            let bounded = options.with_max_turn(own.min(bound * share).max(f32::MIN_POSITIVE));
            report = self.full_body.solve(workspace, pose, &self.goals, &bounded)?;
            if !self.holds(pose, &report) {
                self.goals[0] = Goal::NONE;
                let pinned = self.full_body.solve(workspace, pose, &self.goals, &options);
                self.goals[0] = *goal;
                report.iterations += pinned?.iterations;
            }
        }
        self.last = Goal {
            position: goal.position.or(self.last.position),
            rotation: goal.rotation.or(self.last.rotation),
            ..*goal
        };
        report.branch_changed = self.full_body.branch_changed(workspace, &self.before, pose, &self.goals)?;
        Ok(self.full_body.with_residuals(pose, &self.goals[..1], report))
    }

    /// Whether every pin meets its goal.
    fn holds(&self, pose: &Pose, report: &Report) -> bool {
        self.effector_reports(pose, report).skip(1).all(|pin| pin.reached())
    }

    /// Displacement of the goal since the last frame, in figure sizes; a radian of rotation counts as one figure size.
    fn goal_displacement(&self, goal: &Goal, size: f32) -> f32 {
        let displacement = goal.position.zip(self.last.position).map_or(0.0, |(a, b)| distance(a, b));
        let turn = goal.rotation.zip(self.last.rotation);
        let turn = turn.map_or(0.0, |(a, b)| math::angle_between(math::normalize(a), b));
        displacement / size + turn
    }
}

/// Maximum displacement of a joint between two poses, in metres.
pub(crate) fn furthest(from: &Pose, to: &Pose) -> f32 {
    from.skeleton().joints().map(|j| distance(from.position(j), to.position(j))).fold(0.0, f32::max)
}

/// Default of [`Drag::rate`], in radians per figure size: the documented bound of 8, less a margin for rounding.
const RATE: f32 = 7.9;
