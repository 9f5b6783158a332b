//! Cyclic coordinate descent: one joint after the other brings the chain's end nearest to the goal.

mod turn;

use alloc::vec::Vec;

use glam::{Quat, Vec3};
use thiserror::Error;

use super::{
    arc::twist_towards,
    check,
    linkage::{Ask, Linkage, Newton, Part, parts},
    soften,
};
use crate::{
    Chain, ChainError, Goal, JointId, Pole, Pose, Report, Skeleton, SolveError, Status,
    joint::{Attribute, Attributes, Unsupported, check_honoured},
    math,
};

/// Why joints do not make a chain for a solver.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ChainSolverError {
    /// Root and tip do not make a chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// Root and tip are one joint, which has no offset to bring anywhere.
    #[error("joint `{joint}` alone is no chain: it needs a joint below it, or an offset at the tip")]
    Single {
        /// Name of the joint.
        joint: alloc::string::String,
    },
    /// A joint asks for what the solver cannot honour.
    #[error(transparent)]
    Joint(#[from] Unsupported),
}

/// When a [`Ccd`] makes steps of damped least squares (Wampler 1986) on the whole chain, within its limits, beside sweeps.
///
/// Sweeps alone come near in every pose and then creep, next to full stretch above all; steps are Newton's where they are near. Chains
/// whose joints have ease, stiffness, damping or precedence, and solves with damping or a largest step, get sweeps alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LeastSquares {
    /// Sweeps alone: the method as it is taught.
    Never,
    /// Steps where a sweep leaves more than a third.
    #[default]
    WhenSlow,
    /// Steps from the start, and sweeps where they stall. The chain moves as a whole, each joint as little as can be, and not
    /// the outer joints most; it is the fastest way for chains with limits.
    First,
}

/// Cyclic coordinate descent (Wang & Chen 1991), in 3D, on a chain of joints with any limits.
///
/// Sweep by sweep, from the tip inward, each joint turns its line to the chain's end onto its line to the goal, and
/// slides along its sliders to where the end is nearest, within its limits and as far as its ease, stiffness and damping
/// let it. It is simple, takes every kind of joint, and bends the outer joints most.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, Transform, glam::Vec3, joint::{Dof, Joint}, solve::Ccd};
///
/// let mut builder = Skeleton::builder();
/// let mut joint = builder.add("finger", None, Transform::from_translation(Vec3::Y));
/// for name in ["middle", "end", "nail"] {
///     joint = builder.add(name, Some(joint), Transform::from_translation(Vec3::new(0.03, 0.0, 0.0)));
/// }
/// let (mut skeleton, ids) = builder.build()?;
/// for id in &ids[..3] {
///     skeleton.set_joint(*id, Joint::hinge(-Vec3::Z, Dof::range(0.0, 1.6).with_preferred(0.3)))?;
/// }
/// let skeleton = Arc::new(skeleton);
///
/// let mut finger = Ccd::new(&skeleton, ids[0], ids[3])?;
/// let mut pose = Pose::rest(&skeleton);
/// let button = Vec3::new(0.06, 0.95, 0.0);
/// let report = finger.solve(&mut pose, &Goal::at(button))?;
/// assert!(report.position_residual < 1e-5);
/// assert!(skeleton.joints().all(|j| skeleton.limits(j).is_within(pose.local(j).rotation)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The mathematics
///
/// With e the way from a joint to the end and g the way to the goal, a joint that turns by R leaves |R e - g|, least where
/// R e . g is largest. For a free joint that is the shortest arc from e to g. About an axis a it is the angle with
///
/// ```text
/// tan(angle) = a . (e x g) / (e . g - (a . e) (a . g))
/// ```
///
/// and for a slider along a the step is a . (g - e). A ball takes the arc and is then put to the nearest place within
/// its limits, some times over, so that it glides along them. Where a rotation is asked for, too, with D the turn that would
/// give it, the joint takes the R for which |R e - g|^2 plus s^2 times the square of the angle between R and D (for small
/// angles) is least: the trace of R^T (g e^T + s^2 / 2 D) is then largest, which is Wahba's problem, and for an axis
/// again one arc tangent. The length s, half of the chain's, makes a radian of rotation comparable with a way.
///
/// # Where it would stop
///
/// - On a straight chain with the goal on its line nothing turns. Joints with preferred values go there first; if none do, or
///   that does not help, the whole chain is bent a little, in a plane that is always the same for the same chain.
/// - Where sweeps become slow, steps of damped least squares finish the work ([`least_squares`](Self::least_squares)).
/// - In a knot of limits it starts anew, at most [`max_restarts`](Self::max_restarts) times, from poses within the limits
///   that are always the same; the best is kept. The report then says that the branch changed.
#[derive(Clone, Debug)]
pub struct Ccd {
    links: Linkage,
    /// What moves, in the order of a sweep.
    parts: Vec<Part>,
    /// Whether that is from the tip inward, without precedences.
    inward: bool,
    /// Whether no joint resists or goes before others.
    plain: bool,
    newton: Newton,
    best: Vec<(Quat, Vec3)>,
    other: Vec<(Quat, Vec3)>,
    /// How near the end must come, as a part of the chain's length. A chain that is this near stays as it is.
    pub tolerance: f32,
    /// How near the tip's rotation must come, in radians.
    pub rotation_tolerance: f32,
    /// Sweeps after which it gives up, restarts included.
    pub max_iterations: u32,
    /// Fresh starts after it has stalled.
    pub max_restarts: u32,
    /// When steps of damped least squares are made beside sweeps.
    pub least_squares: LeastSquares,
    /// The share of each turn and each slide that is withheld, 0 (none) to below 1.
    pub damping: f32,
    /// The largest turn of a joint in a sweep, in radians; infinite for none.
    pub max_step: f32,
    /// The direction in model space in which the first bone is put; the root then turns for nothing else.
    pub base_direction: Option<Vec3>,
    /// Where in model space the root is put; without it, it stays.
    pub root_position: Option<Vec3>,
    /// The soft zone at the end of the reach, as a part of the reach, 0 (none) to 1; see [`soften`].
    pub soft: f32,
    /// By what factor bones (that do not slide) may become longer where the goal is too far or in the soft zone, 1 (none)
    /// or more.
    pub stretch: f32,
    /// How much of the goal is carried out, 0 to 1; it multiplies the goal's own weights.
    pub weight: f32,
}

/// What is kept of a joint: all but springs.
const HONOURED: Attributes = Attributes::of(&[
    Attribute::Fixed,
    Attribute::Hinge,
    Attribute::Ball,
    Attribute::Axes,
    Attribute::Slider,
    Attribute::Ease,
    Attribute::Stiffness,
    Attribute::Damping,
    Attribute::Precedence,
    Attribute::Preferred,
]);

/// A sweep that takes off less than this part of what is missing has stalled. Next to full stretch a chain still gains some
/// parts in a thousand.
const STALLED: f32 = 2e-4;

/// A sweep that leaves more than this part of what is missing is slow.
const SLOW: f32 = 0.3;

/// Whether no joint of the chain resists or goes before others.
fn plain(skeleton: &Skeleton, chain: &Chain) -> bool {
    let resist = [Attribute::Ease, Attribute::Stiffness, Attribute::Damping, Attribute::Precedence];
    let has = |joint: &JointId| resist.iter().any(|a| skeleton.freedom(*joint).attributes().has(*a));
    !chain.joints().iter().any(has)
}

impl Ccd {
    /// The chain from `root` down to `tip`.
    pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainSolverError> {
        Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?)
    }

    /// The solver for a chain, which may have an offset at its tip (then the tip turns, too).
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        if chain.joints().len() == 1 && chain.tip_offset() == Vec3::ZERO {
            return Err(ChainSolverError::Single { joint: skeleton.name(chain.root()).into() });
        }
        check_honoured(skeleton, chain.joints().iter().copied(), "ccd", HONOURED)?;
        let parts = parts(skeleton, &chain);
        let inward = parts.windows(2).all(|w| w[0].link >= w[1].link);
        let count = chain.joints().len();
        Ok(Self {
            plain: plain(skeleton, &chain),
            newton: Newton::new(&parts, count),
            links: Linkage::new(skeleton, chain),
            parts,
            inward,
            best: Vec::with_capacity(count),
            other: Vec::with_capacity(count),
            tolerance: 1e-4,
            rotation_tolerance: 1e-3,
            max_iterations: 200,
            max_restarts: 4,
            least_squares: LeastSquares::WhenSlow,
            damping: 0.0,
            max_step: f32::INFINITY,
            base_direction: None,
            root_position: None,
            soft: 0.0,
            stretch: 1.0,
            weight: 1.0,
        })
    }

    /// Root to tip.
    pub fn chain(&self) -> &Chain {
        self.links.chain()
    }

    /// Brings the chain's end to the goal, and the tip's rotation to that of the goal if it names one. The pose is left
    /// updated, with every joint within its limits, or no further out than it came in. Where the goal names no position,
    /// the end stays where it is.
    ///
    /// With a pole, the whole chain turns about the axis from its root to its end, so that the mean of the joints between
    /// faces the pole, as far as the root's limits let it. Weights go straight in the joints' coordinates.
    pub fn solve(&mut self, pose: &mut Pose, goal: &Goal) -> Result<Report, SolveError> {
        let rotation = check::goal(goal)?;
        self.check()?;
        pose.update();
        self.links.load(pose)?;
        let chain = self.links.chain();
        let asked = goal.position.unwrap_or_else(|| chain.end(pose));
        let weight = self.weight;
        let (by_place, by_turn) = (goal.position_weight, goal.rotation_weight);
        let turn = rotation.filter(|_| by_turn > 0.0);
        let mut report = Report::default();
        if weight > 0.0 && (by_place > 0.0 || turn.is_some()) {
            let held = chain.end(pose);
            let place = if by_place > 0.0 { asked } else { held };
            report = self.run(place, turn, goal.pole);
            // In between, each goal's own part is blended by itself: without the rotation and with it, without the place
            // and with it.
            let partly = |w: f32| w > 0.0 && w < 1.0;
            if turn.is_some() && partly(by_turn) {
                self.apart(place, None, goal.pole, by_turn);
            }
            if turn.is_some() && partly(by_place) {
                self.with(held, turn, goal.pole, by_turn, by_place);
            } else if by_place < 1.0 && turn.is_none() {
                self.links.blend(by_place);
            }
            if weight < 1.0 {
                self.links.blend(weight);
            }
            self.links.store(pose);
        }
        let end = self.links.chain().end(pose);
        report.position_residual = math::sqrt((end - asked).length_squared()).min(f32::MAX);
        if let Some(rotation) = rotation {
            report.rotation_residual =
                math::angle_between(pose.model_rotation(self.links.chain().tip()), rotation);
        }
        Ok(report)
    }

    /// Blends from the solution of another goal to the one that is here: `weight` of this one.
    fn apart(&mut self, place: Vec3, turn: Option<Quat>, pole: Pole, weight: f32) {
        self.links.keep(&mut self.other);
        self.links.reset();
        let kept = core::mem::take(&mut self.other);
        self.run(place, turn, pole);
        self.links.blend_to(&kept, weight);
        self.other = kept;
    }

    /// The same for the rotation goal with the end held, itself weighted.
    fn with(&mut self, held: Vec3, turn: Option<Quat>, pole: Pole, by_turn: f32, weight: f32) {
        self.links.keep(&mut self.other);
        self.links.reset();
        let kept = core::mem::take(&mut self.other);
        self.run(held, turn, pole);
        self.links.blend(by_turn);
        self.links.blend_to(&kept, weight);
        self.other = kept;
    }

    fn check(&self) -> Result<(), SolveError> {
        check::within("the tolerance", "above 0", self.tolerance, f32::MIN_POSITIVE, f32::MAX)?;
        check::within(
            "the rotation's tolerance",
            "above 0",
            self.rotation_tolerance,
            f32::MIN_POSITIVE,
            f32::MAX,
        )?;
        check::within("the damping", "0 to below 1", self.damping, 0.0, 1.0 - f32::EPSILON)?;
        check::within("the largest step", "above 0", self.max_step, f32::MIN_POSITIVE, f32::INFINITY)?;
        check::finite("the base's direction", self.base_direction.unwrap_or_default())?;
        if let Some(direction) = self.base_direction {
            let l = direction.length_squared();
            check::within(
                "the square of the base direction's length",
                "above 0",
                l,
                f32::MIN_POSITIVE,
                f32::MAX,
            )?;
        }
        check::finite("the root's position", self.root_position.unwrap_or_default())?;
        check::within("the soft zone", "0 to 1", self.soft, 0.0, 1.0)?;
        check::within("the stretch", "1 or more", self.stretch, 1.0, f32::MAX)?;
        check::within("the chain's weight", "0 to 1", self.weight, 0.0, 1.0)
    }

    /// Solves in full, from what is loaded.
    fn run(&mut self, place: Vec3, turn: Option<Quat>, pole: Pole) -> Report {
        let mut report = Report::default();
        let length = self.links.length();
        if let Some(root) = self.root_position {
            self.links.move_root(root);
        }
        if let Some(direction) = self.base_direction {
            self.links.point_base(direction);
        }
        let by = self.links.out_of_reach(place);
        let target = self.reachable(place);
        let mut ask = Ask {
            place: target,
            turn,
            radian: 0.5 * length,
            near: (self.tolerance * length).max(self.links.rounding),
            near_turn: self.rotation_tolerance,
            damping: self.damping,
            max_step: self.max_step,
            first: usize::from(self.base_direction.is_some()),
        };
        let (mut left, mut status) = (self.links.measure(&ask), Status::Reached);
        // Where the goal is too far nothing is met, and a chain that is already straight shows by not moving.
        if !ask.met(left) {
            if by > 0.0 && turn.is_none() {
                self.links.pull_straight(&ask, left, &mut self.best);
            }
            left = self.links.measure(&ask);
            status = self.descend(&mut ask, left, &mut report);
        }
        if pole != Pole::Keep && self.base_direction.is_none() {
            // With a rotation asked for, the chain turned about its axis takes the tip along, which then goes back.
            for _ in 0..4 {
                let angle = self.to_pole(pole);
                // A smaller one is rounding of the means.
                if angle.abs() < 2e-5 || !self.links.swivel(angle) {
                    break;
                }
                report.iterations += 1;
                if turn.is_none() {
                    break;
                }
                let left = self.links.measure(&ask);
                status = self.descend(&mut ask, left, &mut report);
            }
        }
        report.status = if by > ask.near { Status::Unreachable { by } } else { status };
        report
    }

    /// Sweeps until the goal is met, nothing moves or the iterations are used up; leaves the best that was found.
    fn descend(&mut self, ask: &mut Ask, start: (f32, f32), report: &mut Report) -> Status {
        let mut left = start;
        let mut best = ask.cost(left);
        self.links.keep(&mut self.best);
        let (mut restarts, mut changed, mut slow) = (0, false, 0);
        let finish = self.least_squares != LeastSquares::Never
            && self.plain
            && self.damping <= 0.0
            && self.max_step == f32::INFINITY;
        let (mut next, mut pause) = (0, 2);
        // After a fresh start the steps go first, as they stay on the side that it was put to.
        let mut fresh = finish && self.least_squares == LeastSquares::First;
        let status = loop {
            if ask.met(left) {
                break Status::Reached;
            }
            if report.iterations >= self.max_iterations {
                break Status::OutOfIterations;
            }
            let before = ask.cost(left);
            if !fresh {
                self.sweep(ask);
                report.iterations += 1;
                left = self.links.measure(ask);
            }
            let now = ask.cost(left);
            if finish && (fresh || !ask.met(left) && now > SLOW * before && report.iterations >= next) {
                report.iterations +=
                    self.newton.run(&mut self.links, ask, (self.max_iterations - report.iterations).min(20));
                left = self.links.measure(ask);
                // If it did not help here, it is tried again when twice as many sweeps are made.
                next = report.iterations + pause;
                pause *= 2;
            }
            fresh = false;
            let now = ask.cost(left);
            if now < best {
                best = now;
                self.links.keep(&mut self.best);
                report.branch_changed |= changed;
            }
            slow = if now > before * (1.0 - STALLED) { slow + 1 } else { 0 };
            if slow >= 2 || (slow == 1 && now == before) {
                if restarts > self.max_restarts
                    || matches!(self.links.out_of_reach(ask.place), by if by > ask.near)
                {
                    break Status::Stalled;
                }
                self.links.restart(restarts);
                (restarts, changed, slow) = (restarts + 1, true, 0);
                (fresh, pause) = (finish, 2);
                left = self.links.measure(ask);
            }
        };
        if status != Status::Reached || ask.cost(left) > best {
            self.links.put(&self.best);
        }
        status
    }

    /// The place to go to for a goal: drawn in by the soft zone, and the bones drawn out for it.
    fn reachable(&mut self, place: Vec3) -> Vec3 {
        if self.soft <= 0.0 && self.stretch <= 1.0 {
            return place;
        }
        let (root, reach) = (self.links.place(0), self.links.length());
        let way = place - root;
        let distance = math::sqrt(way.length_squared());
        if distance <= reach * (1.0 - self.soft) || distance <= 0.0 {
            return place;
        }
        let drawn = soften(distance, reach, self.soft);
        let longer = (distance / drawn).clamp(1.0, self.stretch);
        if longer > 1.0 {
            self.links.stretch(longer);
        }
        if self.soft > 0.0 { root + way * (drawn * longer / distance) } else { place }
    }

    /// The angle about the axis from root to end that turns the mean of the joints between towards the pole.
    fn to_pole(&self, pole: Pole) -> f32 {
        let (root, end) = (self.links.place(0), self.links.end());
        let Some(axis) = (end - root).try_normalize() else { return 0.0 };
        let count = self.links.links.len();
        if count < 2 {
            return 0.0;
        }
        let mut middle = Vec3::ZERO;
        for i in 1..count {
            middle += self.links.place(i) - root;
        }
        let middle = middle / (count - 1) as f32;
        let across = middle - axis * middle.dot(axis);
        // A straight chain has no side; below this its bend is rounding.
        if math::sqrt(across.length_squared()) < 1e-4 * self.links.length() + self.links.rounding {
            return 0.0;
        }
        let wanted = match pole {
            Pole::Keep => return 0.0,
            Pole::Point(p) => p - root,
            Pole::Direction(d) => d,
        };
        let (q, _) = twist_towards(axis, middle, wanted);
        2.0 * math::atan2(Vec3::new(q.x, q.y, q.z).dot(axis), q.w)
    }
}
