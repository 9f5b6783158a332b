//! What all solvers of chains have in common.

use core::ops::ControlFlow;

use super::{
    Auto, Ccd, ChainSolverError, DampedLeastSquares, Fabrik, FreeChain, IterativeOptions, LimbOptions,
    TraceStep, TwoBone, iterate::Watch,
};
use crate::{Chain, Goal, JointId, Pose, Report, Skeleton, SolveError, Workspace};

/// A solver that brings the end of a chain to a goal. It is built once for a skeleton, and shared by threads and characters.
/// Solvers of other crates cannot implement it.
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
    /// Root to tip.
    fn chain(&self) -> &Chain;

    /// Brings the chain's end to the goal, and the tip's rotation to that of the goal if it names one. The pose is left
    /// updated, with every joint within its limits, or no further out than it came in. Where the goal names no position,
    /// the end stays where it is. After an error the pose is as it was.
    ///
    /// With a pole or a swivel angle, the whole chain turns about the axis from its root to its end, as far as the root's
    /// limits let it: the mean of the joints between faces the pole. Influences blend in the joints' coordinates.
    fn solve(
        &self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goal: &Goal,
        options: &IterativeOptions,
    ) -> Result<Report, SolveError> {
        self.run(workspace, Request { pose, goal, options, watch: None })
    }

    /// [`solve`](Self::solve), and tells of each step in the order in which it is made: [`Ccd`] of each joint that it turns,
    /// [`Fabrik`] of each point that it moves, least squares of each step of the whole chain, [`Auto`] of what it does of
    /// these. [`FreeChain`], which makes a few passes over all bones, and [`TwoBone`], which is a closed form, tell of nothing.
    ///
    /// Where `watch` breaks, it ends there and leaves the nearest that it came; the outcome is
    /// [`OutOfIterations`](crate::Outcome::OutOfIterations). A chain pulled straight, poles, restarts and stretching are not
    /// told. Where a rotation is asked for, and its influence or the position's is between 0 and 1, the goal's parts are
    /// solved one by one, each from where the chain came in and each told from iteration 0; who breaks one off breaks off
    /// those to come.
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

    /// Both of these; only solvers of this crate can be asked.
    #[doc(hidden)]
    fn run(&self, workspace: &mut Workspace, request: Request<'_>) -> Result<Report, SolveError>;

    /// Makes room in a workspace, so that the first solve with it allocates nothing either.
    fn reserve(&self, workspace: &mut Workspace);
}

/// What one solve is given.
pub struct Request<'a> {
    pub(super) pose: &'a mut Pose,
    pub(super) goal: &'a Goal,
    pub(super) options: &'a IterativeOptions,
    pub(super) watch: Watch<'a>,
}

/// What is called on a solver without an import of the trait.
macro_rules! own_methods {
    ($($solver:ident),*) => {
        $(impl $solver {
            /// The chain from `root` down to `tip`.
            pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainSolverError> {
                Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?)
            }

            /// Root to tip.
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

own_methods!(Auto, Ccd, DampedLeastSquares, Fabrik, FreeChain);

/// In closed form: there is nothing to repeat, so that iterations and restarts are not read. Tolerances say what counts as
/// [`reached`](Report::reached); a pose within them comes nearer still, as near as f32 can tell.
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
