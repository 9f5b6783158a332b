//! The interface that all solvers of chains share.

use core::ops::ControlFlow;

use super::{
    Auto, Ccd, ChainSolverError, DampedLeastSquares, Fabrik, Fold, FreeChain, IterativeOptions, LimbOptions,
    TraceStep, TwoBone, iterate::Watch,
};
use crate::{Chain, Goal, JointId, Pose, Report, Skeleton, SolveError, Workspace};

/// A solver that brings the end of a chain to a goal. It is built once for a skeleton; threads and characters share it. The
/// trait is sealed: only this crate implements it.
///
/// ```
/// use sinew::{Goal, Pose, Workspace, glam::Vec3};
/// use sinew::solve::{Auto, Ccd, ChainSolver, Fabrik, IterativeOptions};
/// # use std::sync::Arc;
/// # use sinew::{JointTransform, Skeleton};
/// # let mut builder = Skeleton::builder();
/// # let mut joint = builder.add("base", None, JointTransform::IDENTITY);
/// # for name in ["middle", "end"] {
/// #     joint = builder.add(name, Some(joint), JointTransform::from_translation(Vec3::Y));
/// # }
/// # let (skeleton, ids) = builder.build()?;
/// # let skeleton = Arc::new(skeleton);
/// # let (base, tip) = (ids[0], ids[2]);
/// let solvers: [Box<dyn ChainSolver>; 3] = [
///     Box::new(Auto::new(&skeleton, base, tip)?),
///     Box::new(Ccd::new(&skeleton, base, tip)?),
///     Box::new(Fabrik::new(&skeleton, base, tip)?),
/// ];
/// let mut workspace = Workspace::new();
/// let options = IterativeOptions::new().with_max_iterations(100);
/// for solver in &solvers {
///     let mut pose = Pose::rest(&skeleton);
///     let report = solver.solve(&mut workspace, &mut pose, &Goal::position(Vec3::new(0.5, 1.5, 0.0)), &options)?;
///     assert!(report.reached());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ChainSolver: Send + Sync {
    /// The solver's chain, from root to tip.
    fn chain(&self) -> &Chain;

    /// Brings the chain's end to the goal's position, and the tip to the goal's rotation if it names one. Updates the pose.
    ///
    /// Every joint ends within its limits, or no further out than the input pose has it. Where the goal names no position,
    /// the end stays where it is. After an error the pose is unchanged.
    ///
    /// A pole or a swivel angle turns the whole chain about the axis from its root to its end, as far as the root's limits
    /// allow: the mean position of the joints between them faces the pole. Influences blend in the joints' coordinates.
    ///
    /// # Errors
    ///
    /// A number of the goal or a frame of the pose is not finite, the rotation is no unit quaternion, an influence or an
    /// option is out of range, or a frame inside the chain is sheared.
    fn solve(
        &self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goal: &Goal,
        options: &IterativeOptions,
    ) -> Result<Report, SolveError> {
        self.run(workspace, Request { pose, goal, options, watch: None })
    }

    /// Solves as [`solve`](Self::solve) does, and calls `watch` after each step: for [`Ccd`] and [`Fold`] after each joint that turns,
    /// for [`Fabrik`] after each point that moves, for least squares after each step of the whole chain, for [`Auto`] after
    /// each of the steps that it uses. [`FreeChain`], which makes a few passes over all bones, and [`TwoBone`], a closed
    /// form, never call it.
    ///
    /// Where `watch` breaks, the solve ends and keeps the nearest pose so far, with the outcome
    /// [`OutOfIterations`](crate::Outcome::OutOfIterations). Pulling a chain straight, poles, restarts and stretching call
    /// nothing. With a rotation goal and an influence of rotation or position between 0 and 1, the parts of the goal are
    /// solved one by one. Each part starts from the input pose and from iteration 0; a break ends all parts that remain.
    fn solve_traced(
        &self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goal: &Goal,
        options: &IterativeOptions,
        watch: &mut dyn FnMut(TraceStep<'_>) -> ControlFlow<()>,
    ) -> Result<Report, SolveError> {
        self.run(workspace, Request { pose, goal, options, watch: Some(watch) })
    }

    /// [`solve`](Self::solve) and [`solve_traced`](Self::solve_traced) in one; hidden, so that the trait stays sealed.
    #[doc(hidden)]
    fn run(&self, workspace: &mut Workspace, request: Request<'_>) -> Result<Report, SolveError>;

    /// Reserves memory in a workspace, so that the first solve with it does not allocate either.
    fn reserve(&self, workspace: &mut Workspace);
}

/// The input of one solve.
pub struct Request<'a> {
    pub(super) pose: &'a mut Pose,
    pub(super) goal: &'a Goal,
    pub(super) options: &'a IterativeOptions,
    pub(super) watch: Watch<'a>,
}

/// Defines the trait's methods as inherent ones, so that callers need no import of the trait.
macro_rules! own_methods {
    ($($solver:ident),*) => {
        $(impl $solver {
            /// The solver for the chain from `root` down to `tip`.
            pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainSolverError> {
                Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?)
            }

            /// The solver's chain, from root to tip.
            pub fn chain(&self) -> &Chain {
                ChainSolver::chain(self)
            }

            /// See [`ChainSolver::solve`].
            pub fn solve(
                &self,
                workspace: &mut Workspace,
                pose: &mut Pose,
                goal: &Goal,
                options: &IterativeOptions,
            ) -> Result<Report, SolveError> {
                ChainSolver::solve(self, workspace, pose, goal, options)
            }

            /// See [`ChainSolver::reserve`].
            pub fn reserve(&self, workspace: &mut Workspace) {
                ChainSolver::reserve(self, workspace);
            }
        })*
    };
}

own_methods!(Auto, Ccd, DampedLeastSquares, Fabrik, Fold, FreeChain);

/// Solves in closed form, and ignores iterations and restarts. Tolerances only decide what counts as
/// [`reached`](Report::reached): a pose within them still moves as near to the goal as f32 allows.
impl ChainSolver for TwoBone {
    fn chain(&self) -> &Chain {
        self.chain()
    }

    fn run(&self, _: &mut Workspace, request: Request) -> Result<Report, SolveError> {
        let Request { pose, goal, options, .. } = request;
        options.check()?;
        let IterativeOptions { influence, max_turn, soft, .. } = *options;
        let limb = LimbOptions { influence, max_turn, soft, ..LimbOptions::new() };
        let report = self.solve_within(pose, goal, &limb, options.position_tolerance)?;
        Ok(Report { rotation_tolerance: options.rotation_tolerance, ..report })
    }

    fn reserve(&self, _: &mut Workspace) {}
}
