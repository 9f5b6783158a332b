//! A chain solver with its options and its workspace.

use sinew::{
    Goal, Pose, Report, SolveError, Workspace,
    solve::{ChainSolver, IterativeOptions},
};

/// A chain solver with what each solve of a program takes.
pub struct Solving {
    solver: Box<dyn ChainSolver>,
    options: IterativeOptions,
    workspace: Workspace,
}

impl Solving {
    /// With room made, so that no solve allocates.
    pub fn new(solver: impl ChainSolver + 'static, options: IterativeOptions) -> Self {
        let mut workspace = Workspace::new();
        solver.reserve(&mut workspace);
        Self { solver: Box::new(solver), options, workspace }
    }

    /// See [`ChainSolver::solve`].
    pub fn solve(&mut self, pose: &mut Pose, goal: &Goal) -> Result<Report, SolveError> {
        self.solver.solve(&mut self.workspace, pose, goal, &self.options)
    }
}
