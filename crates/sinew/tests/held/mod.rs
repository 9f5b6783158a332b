//! A solver with its options and a workspace, for tests that solve one thing after the other.
#![allow(dead_code)]

use std::ops::{ControlFlow, Deref, DerefMut};

use sinew::{
    Goal, Pose, Report, SolveError, Workspace,
    glam::Vec3,
    solve::{
        Auto, Ccd, ChainSolver, DampedLeastSquares, Fabrik, Fold, Follow, FollowOptions, FreeChain,
        IterativeOptions, PointChain, PointChainOptions, Spline, SplineOptions, TraceStep,
        spline::{Curve, SplineReport},
    },
};

/// Options that a solver takes.
pub trait Takes {
    type Options: Copy + Default + std::fmt::Debug;
    fn make_room(&self, workspace: &mut Workspace);
}

macro_rules! take {
    ($options:ty: $($solver:ty),*) => {
        $(impl Takes for $solver {
            type Options = $options;
            fn make_room(&self, workspace: &mut Workspace) {
                self.reserve(workspace);
            }
        })*
    };
}

take!(IterativeOptions: Auto, Ccd, DampedLeastSquares, Fabrik, Fold, FreeChain);
take!(FollowOptions: Follow);
take!(SplineOptions: Spline);
take!(PointChainOptions: PointChain);

#[derive(Debug)]
pub struct Held<S: Takes> {
    pub solver: S,
    pub options: S::Options,
    pub workspace: Workspace,
}

/// With the options' defaults, and a workspace that has made room.
pub fn reserved<S: Takes>(solver: S) -> Held<S> {
    let mut held = held(solver);
    held.solver.make_room(&mut held.workspace);
    held
}

/// With the options' defaults.
pub fn held<S: Takes>(solver: S) -> Held<S> {
    Held { solver, options: Default::default(), workspace: Workspace::new() }
}

impl<S: Takes + Clone> Clone for Held<S> {
    fn clone(&self) -> Self {
        Self { solver: self.solver.clone(), options: self.options, workspace: Workspace::new() }
    }
}

impl<S: Takes> Deref for Held<S> {
    type Target = S;
    fn deref(&self) -> &S {
        &self.solver
    }
}

impl<S: Takes> DerefMut for Held<S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.solver
    }
}

impl<S: ChainSolver + Takes<Options = IterativeOptions>> Held<S> {
    pub fn solve(&mut self, pose: &mut Pose, goal: &Goal) -> Result<Report, SolveError> {
        self.solver.solve(&mut self.workspace, pose, goal, &self.options)
    }

    pub fn solve_traced(
        &mut self,
        pose: &mut Pose,
        goal: &Goal,
        watch: &mut dyn FnMut(TraceStep<'_>) -> ControlFlow<()>,
    ) -> Result<Report, SolveError> {
        self.solver.solve_traced(&mut self.workspace, pose, goal, &self.options, watch)
    }
}

impl Held<Follow> {
    pub fn solve(&mut self, pose: &mut Pose, place: Vec3) -> Result<Report, SolveError> {
        self.solver.solve(&mut self.workspace, pose, place, &self.options)
    }
}

impl Held<Spline> {
    pub fn solve(&mut self, pose: &mut Pose, curve: &Curve) -> Result<SplineReport, SolveError> {
        self.solver.solve(&mut self.workspace, pose, curve, &self.options)
    }
}

impl Held<PointChain> {
    pub fn solve(&mut self, points: &mut [Vec3], goal: Vec3) -> Result<Report, SolveError> {
        self.solver.solve(&mut self.workspace, points, goal, &self.options)
    }
}
