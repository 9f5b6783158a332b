//! What iterative solvers of chains are told.

use glam::Vec3;

use crate::{SolveError, solve::check};

/// When a solver that sweeps makes steps of damped least squares (Wampler 1986) on the whole chain, within its limits,
/// beside sweeps.
///
/// Sweeps alone come near in every pose and then creep, next to full stretch above all; steps are Newton's where they are
/// near. Chains whose joints have ease, stiffness, damping or precedence, and solves with damping or a largest step, get
/// sweeps alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LeastSquares {
    /// Sweeps alone: the method as it is taught.
    Never,
    /// Steps where a sweep leaves more than a third.
    #[default]
    WhenSlow,
    /// Steps from the start, and sweeps where they stall. The chain moves as a whole, each joint as little as can be, and
    /// not the outer joints most; it is the fastest way for chains with limits. A chain that cannot meet its goal comes to rest
    /// where the residual and, by far less, its joints' turns are least together: one pose, that moves with the goal. It may be
    /// further from the goal than another by up to a hundredth of the chain's length. The steps that lead there are not
    /// counted as iterations.
    First,
    /// Steps alone, from where the chain is, and neither sweeps nor fresh starts unless no step moves it at all. It stays
    /// with the nearest answer, or in the nearest place where limits let it come no nearer: for goals that move on smoothly.
    Alone,
}

/// What [`Ccd`](crate::solve::Ccd) and [`Fabrik`](crate::solve::Fabrik) are told alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainSettings {
    /// How near the end must come, as a part of the chain's length, above 0 to 1. A chain that is this near stays as it is.
    pub tolerance: f32,
    /// How near the tip's rotation must come, in radians.
    pub rotation_tolerance: f32,
    /// Sweeps after which it gives up, restarts included.
    pub max_iterations: u32,
    /// Fresh starts after it has stalled, besides the first way out: preferred values, or a bend.
    pub max_restarts: u32,
    /// When steps of damped least squares are made beside sweeps.
    pub least_squares: LeastSquares,
    /// The direction in model space in which the first bone is put; the root then turns for nothing else.
    pub base_direction: Option<Vec3>,
    /// Where in model space the root is put; without it, it stays.
    pub root_position: Option<Vec3>,
    /// The soft zone at the end of the reach, as a part of the reach, 0 (none) to 1; see [`soften`](crate::solve::soften).
    pub soft: f32,
    /// By what factor bones (that do not slide) may become longer where the goal is too far or in the soft zone, 1 (none)
    /// or more. No chain becomes longer than 1e15 m.
    pub stretch: f32,
    /// The furthest that a joint may turn in one solve from where it came in, in radians; infinite (the default) for no
    /// bound. In a game, the speed of its joints times the time of a frame: with some eight radians a second a chain follows
    /// a goal that crosses its length in a second, and where the goal passes its pole, the end of what its limits reach, or
    /// a fold, it comes round in some frames instead of one. Steps do what can be done within the bound; where that does not
    /// meet the goal, the chain goes on the way to the answer without a bound, as far as it may. No frame leaves more missing
    /// than it found, and the report says how much is left. A frame that is on its way makes up to two solves' updates.
    pub max_turn: f32,
    /// How much of the goal is carried out, 0 to 1; it multiplies the goal's own weights.
    pub weight: f32,
}

impl Default for ChainSettings {
    /// A ten-thousandth of the length and a thousandth of a radian, in 200 sweeps and 4 fresh starts; nothing else is asked.
    fn default() -> Self {
        Self {
            tolerance: 1e-4,
            rotation_tolerance: 1e-3,
            max_iterations: 200,
            max_restarts: 4,
            least_squares: LeastSquares::default(),
            base_direction: None,
            root_position: None,
            soft: 0.0,
            stretch: 1.0,
            max_turn: f32::INFINITY,
            weight: 1.0,
        }
    }
}

impl ChainSettings {
    /// How often a chain that stalls starts afresh, the first way out included.
    pub(super) fn starts(&self) -> u32 {
        self.max_restarts.saturating_add(1)
    }

    pub(super) fn check(&self) -> Result<(), SolveError> {
        check::within("the tolerance", "above 0 to 1", self.tolerance, f32::MIN_POSITIVE, 1.0)?;
        check::within(
            "the rotation's tolerance",
            "above 0",
            self.rotation_tolerance,
            f32::MIN_POSITIVE,
            f32::MAX,
        )?;
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
        check::within("the largest turn", "above 0", self.max_turn, f32::MIN_POSITIVE, f32::INFINITY)?;
        check::within("the chain's weight", "0 to 1", self.weight, 0.0, 1.0)
    }
}
