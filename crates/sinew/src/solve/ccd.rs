//! Cyclic coordinate descent: one joint after the other brings the chain's end nearest to the goal.

mod brake;
mod turn;

use super::{
    ChainSettings, ChainSolverError,
    iterate::{Iteration, admit},
    linkage::parts,
};
use crate::{
    Chain, Goal, JointId, Pose, Report, Skeleton, SolveError,
    joint::{Attribute, Attributes},
};
use brake::Brake;
use turn::Sweeps;

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
/// - On a straight chain with the goal on its line nothing turns. Joints with preferred values go there first; if none
///   do, or that does not help, the whole chain is bent a little, in a plane that is always the same for the same chain.
/// - Where sweeps become slow, steps of damped least squares finish the work ([`LeastSquares`](super::LeastSquares)).
/// - In a knot of limits it starts anew, at most [`max_restarts`](ChainSettings::max_restarts) times, from poses within
///   the limits that are always the same. One that meets the goal ends the search; else the first answer stays, unless
///   another comes nearer by a hundredth of the chain's length.
///
/// Drawn by the example `ccd`:
///
#[doc = include_str!("../../pictures/ccd.svg")]
#[derive(Clone, Debug)]
pub struct Ccd {
    iteration: Iteration,
    sweeps: Sweeps,
    /// What it is told.
    pub settings: ChainSettings,
    /// The share of each turn and each slide that is withheld, 0 (none) to below 1.
    pub damping: f32,
    /// The largest turn of a joint in a sweep, in radians; infinite for none.
    pub max_step: f32,
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

impl Ccd {
    /// The chain from `root` down to `tip`.
    pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainSolverError> {
        Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?)
    }

    /// The solver for a chain, which may have an offset at its tip (then the tip turns, too).
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        admit(skeleton, &chain, "ccd", HONOURED)?;
        let parts = parts(skeleton, &chain);
        let inward = parts.windows(2).all(|w| w[0].link >= w[1].link);
        Ok(Self {
            iteration: Iteration::new(skeleton, chain, &parts),
            sweeps: Sweeps { parts, inward, brake: Brake::NONE },
            settings: ChainSettings::default(),
            damping: 0.0,
            max_step: f32::INFINITY,
        })
    }

    /// Root to tip.
    pub fn chain(&self) -> &Chain {
        self.iteration.links.chain()
    }

    /// Brings the chain's end to the goal, and the tip's rotation to that of the goal if it names one. The pose is left
    /// updated, with every joint within its limits, or no further out than it came in. Where the goal names no position,
    /// the end stays where it is.
    ///
    /// With a pole, the whole chain turns about the axis from its root to its end, so that the mean of the joints between
    /// faces the pole, as far as the root's limits let it. Weights go straight in the joints' coordinates.
    pub fn solve(&mut self, pose: &mut Pose, goal: &Goal) -> Result<Report, SolveError> {
        self.sweeps.brake = Brake { damping: self.damping, max_step: self.max_step };
        self.sweeps.brake.check()?;
        self.iteration.solve(&mut self.sweeps, &self.settings, pose, goal)
    }
}
