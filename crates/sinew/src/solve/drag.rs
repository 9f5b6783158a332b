//! Dragging any joint of a figure, as an animator poses it.

use alloc::vec::Vec;

use super::{
    arc::distance,
    check,
    full_body::{Effector, EffectorReport, FullBody, FullBodyError, RootMode},
};
use crate::{Goal, JointId, Pose, Report, SolveError, Status, math};

/// A joint that stays where it is while another is dragged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pin {
    /// The joint, or the point of it.
    pub effector: Effector,
    /// Whether its rotation stays as well as its place.
    pub turned: bool,
}

impl Pin {
    /// Keeps a joint's place.
    pub const fn place(joint: JointId) -> Self {
        Self { effector: Effector::new(joint), turned: false }
    }

    /// Keeps a joint's place and rotation.
    pub const fn pose(joint: JointId) -> Self {
        Self { effector: Effector::new(joint), turned: true }
    }
}

/// One drag, from the moment that a joint is grabbed until it is let go.
///
/// Joints above the grabbed one follow by inverse kinematics, joints below go with it by forward kinematics, and what is
/// pinned goes first: it stays within the tolerance as long as it can be held, however far the drag goes. The pose that
/// comes in is that of the last frame; the drag never starts anew elsewhere, and never turns a joint by more than
/// [`rate`](Self::rate) times what the goal has gone since the last frame, in sizes of the figure. Where a limb would
/// have to snap straight or over, the grabbed joint lags behind instead, and the report says by how much.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, JointTransform, glam::Vec3, solve::{Drag, Pin, Effector}};
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
/// for frame in 0..60 {
///     let mouse = Vec3::new(0.6, 1.45, 0.0) + Vec3::new(0.003, -0.008, 0.004) * frame as f32;
///     drag.to(&mut pose, Goal::at(mouse))?;
///     assert!(pose.position(foot).distance(stood) < 1e-3);
/// }
/// assert!(pose.position(hand).distance(Vec3::new(0.777, 0.978, 0.236)) < 1e-2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Drag {
    full_body: FullBody,
    goals: Vec<Goal>,
    /// The pose of the last frame.
    before: Pose,
    last: Goal,
    /// The most that a joint turns in a frame, in radians, for each size of the figure that the goal has gone since the
    /// last frame (and for each radian that it has turned); infinite for no bound.
    pub rate: f32,
}

/// A frame that turns joints too far, or lets a pin go, is tried again with these shares of
/// what joints may turn; then it goes nowhere.
const HALF: [f32; 4] = [1.0, 0.5, 0.25, 0.125];

impl Drag {
    /// Grabs an effector below `root`. Pins stay where they are in this pose, which must be up to date. The
    /// root follows freely; see [`Drag::root`].
    pub fn new(pose: &Pose, root: JointId, grabbed: Effector, pins: &[Pin]) -> Result<Self, FullBodyError> {
        let mut effectors = alloc::vec![Effector { priority: 1, ..grabbed }];
        effectors.extend(pins.iter().map(|p| Effector { priority: 0, ..p.effector }));
        let mut full_body = FullBody::new(pose.skeleton(), root, &effectors)?;
        full_body.root = RootMode::Free;
        full_body.max_restarts = 0;
        // Pins are held to a part in ten thousand of the figure, and the mouse is no finer.
        full_body.max_iterations = 60;
        let mut goals = alloc::vec![Goal::NONE];
        for Pin { effector, turned } in pins {
            let frame = pose.model(effector.joint);
            let (mut place, mut turn) =
                (frame.transform_point3(effector.offset), pose.model_rotation(effector.joint));
            if let Some(other) = effector.relative_to {
                place = pose.model(other).inverse().transform_point3(place);
                turn = math::mul(math::conjugate(pose.model_rotation(other)), turn);
            }
            let goal = Goal::at(place);
            goals.push(if *turned { goal.with_rotation(turn) } else { goal });
        }
        let end = pose.model(grabbed.joint).transform_point3(grabbed.offset);
        let last = Goal::at(end).with_rotation(pose.model_rotation(grabbed.joint));
        Ok(Self { full_body, goals, before: pose.clone(), last, rate: RATE })
    }

    /// The full-body solver, for its settings. Its effectors are the grabbed one, then the pins.
    pub fn full_body(&mut self) -> &mut FullBody {
        &mut self.full_body
    }

    /// What the root does; see [`RootMode`].
    pub fn root(&mut self, root: RootMode) -> &mut Self {
        self.full_body.root = root;
        self
    }

    /// How the grabbed effector and then each pin came out in the last frame. (Where the grabbed one lags behind, its own is
    /// that of the last try: the report has how far it is off.)
    pub fn effector_reports(&self) -> &[EffectorReport] {
        self.full_body.effector_reports()
    }

    /// Drags the grabbed effector to a goal. Residuals of the report are those of the grabbed effector, from the goal itself.
    pub fn to(&mut self, pose: &mut Pose, goal: Goal) -> Result<Report, SolveError> {
        check::within("the drag's rate", "0 or more", self.rate, 0.0, f32::INFINITY)?;
        pose.update();
        self.before.copy_from(pose);
        let report = self.follow(pose, goal);
        if report.is_err() {
            pose.copy_from(&self.before);
        }
        report
    }

    fn follow(&mut self, pose: &mut Pose, goal: Goal) -> Result<Report, SolveError> {
        let effector = self.full_body.effectors()[0];
        self.goals[0] = goal;
        let mut report = self.full_body.solve(pose, &self.goals)?;
        let most = self.rate * self.went(&goal);
        let own = self.full_body.max_turn;
        let shares = HALF.iter().map(|h| Some(*h)).chain([None]);
        for share in shares {
            if self.holds() && self.turned(pose) <= most {
                break;
            }
            // A share of the way in the joints' own coordinates, and what pins lose by that made good.
            pose.copy_from(&self.before);
            let Some(share) = share.filter(|_| most > 0.0) else {
                report = Report { status: Status::Stalled, ..Report::default() };
                break;
            };
            self.full_body.max_turn = own.min(0.9 * most * share).max(f32::MIN_POSITIVE);
            let solved = self.full_body.solve(pose, &self.goals);
            self.full_body.max_turn = own;
            report = solved?;
            if !self.holds() {
                self.goals[0] = Goal::NONE;
                let pinned = self.full_body.solve(pose, &self.goals);
                self.goals[0] = goal;
                report.iterations += pinned?.iterations;
            }
        }
        self.last = Goal {
            position: goal.position.or(self.last.position),
            rotation: goal.rotation.or(self.last.rotation),
            ..goal
        };
        report.branch_changed = self.full_body.branch_changed(&self.before, pose, &self.goals);
        let end = pose.model(effector.joint).transform_point3(effector.offset);
        report.position_residual = goal.position.map_or(0.0, |p| distance(p, end));
        report.rotation_residual = goal
            .rotation
            .map_or(0.0, |q| math::angle_between(math::normalize(q), pose.model_rotation(effector.joint)));
        Ok(report)
    }

    /// Whether every pin is met.
    fn holds(&self) -> bool {
        self.full_body.effector_reports()[1..].iter().all(|pin| pin.met)
    }

    /// How far the goal has gone since the last frame, in sizes of the figure and radians.
    fn went(&self, goal: &Goal) -> f32 {
        let way = goal.position.zip(self.last.position).map_or(0.0, |(a, b)| distance(a, b));
        let turn = goal.rotation.zip(self.last.rotation);
        let turn = turn.map_or(0.0, |(a, b)| math::angle_between(math::normalize(a), b));
        way / self.full_body.size() + turn
    }

    /// The largest turn of a joint in this frame, in radians.
    fn turned(&self, pose: &Pose) -> f32 {
        let turn = |j| math::angle_between(self.before.local(j).rotation, pose.local(j).rotation);
        self.full_body.joints().map(turn).fold(0.0, f32::max)
    }
}

/// The engine's promise is 8; the rest is for rounding.
const RATE: f32 = 7.9;
