//! Chains of any length.

use std::sync::{Mutex, PoisonError};

use bevy_ecs::{component::Component, entity::Entity, reflect::ReflectComponent};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use bevy_transform::components::Transform;
use sinew::{
    Chain, JointId, Pole, Pose, Report, Workspace,
    glam::Affine3,
    solve::{
        Auto, Ccd, ChainSolver, ChainSolverError, DampedLeastSquares, Fabrik, Fold, Follow, FollowOptions,
        IterativeOptions,
    },
};

use crate::{
    IkBone, IkLayer, IkReport,
    aim::Aim,
    binding::{Bound, Kit, Part},
    draw::Led,
    slot::{Action, Components, Frame, Handle},
    template::template,
};

/// Brings the end of a chain of bones to a target: a tail, a tentacle, a crane, a spine. Bones keep their
/// [`IkLimits`](crate::IkLimits).
///
/// It may be on the character or on any entity below it, as [`LimbIk`](crate::LimbIk) may.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// use bevy_sinew::{ChainIk, IkSkeleton};
/// # fn system(mut commands: Commands, apple: Entity) {
/// commands.spawn((IkSkeleton::default(), ChainIk::new("trunk.001", "trunk.012").at(apple)));
/// # }
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(IkReport, IkLayer)]
pub struct ChainIk {
    /// The chain's first bone, which turns.
    #[entities]
    pub root: IkBone,
    /// The bone at the chain's end.
    #[entities]
    pub tip: IkBone,
    /// The entity that the tip goes to; `None` for no goal. Its place is that of this frame, as for
    /// [`LimbIk::target`](crate::LimbIk::target).
    #[entities]
    pub target: Option<Entity>,
    /// The entity towards which the chain bends; `None` keeps the bend of the animation. It does not count for
    /// [`IkSolver::Follow`].
    #[entities]
    pub pole: Option<Entity>,
    /// How it is solved.
    pub solver: IkSolver,
    /// Share of the target's position that applies, 0 to 1 (the default).
    pub position_influence: f32,
    /// Share of the target's rotation that applies, 0 (the default) to 1. It does not count for [`IkSolver::Follow`].
    pub rotation_influence: f32,
    /// The goal in the target's space.
    pub offset: Transform,
    /// Length of the soft zone before full extension, as a share of the reach, 0 (the default) to 1. It does not count for
    /// [`IkSolver::Follow`].
    pub soft: f32,
}

/// How a [`ChainIk`] is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum IkSolver {
    /// The engine's choice by the chain's joints: [`Auto`].
    #[default]
    Auto,
    /// Cyclic coordinate descent: [`Ccd`]. The tip's end curls first.
    Ccd,
    /// Forward and backward reaching: [`Fabrik`].
    Fabrik,
    /// All bends change by one factor, as in an animal's leg: [`Fold`].
    Fold,
    /// Damped least squares: [`DampedLeastSquares`]. All bones turn a little.
    DampedLeastSquares,
    /// The tip leads, and each bone is pulled after it, the root too, as in a rope: [`Follow`].
    Follow,
}

template! {
    /// The template of a [`ChainIk`]. In `bsn!`, `target: OptionTemplate::Some(#Apple)` names an entity of the scene.
    ChainIkTemplate for ChainIk {
        target, pole, ;
        root: IkBone,
        tip: IkBone,
        solver: IkSolver,
        position_influence: f32,
        rotation_influence: f32,
        offset: Transform,
        soft: f32,
    }
}

impl Default for ChainIk {
    fn default() -> Self {
        Self {
            root: IkBone::default(),
            tip: IkBone::default(),
            target: None,
            pole: None,
            solver: IkSolver::Auto,
            position_influence: 1.0,
            rotation_influence: 0.0,
            offset: Transform::IDENTITY,
            soft: 0.0,
        }
    }
}

impl ChainIk {
    /// A chain without a target yet.
    pub fn new(root: impl Into<IkBone>, tip: impl Into<IkBone>) -> Self {
        Self { root: root.into(), tip: tip.into(), ..Self::default() }
    }

    /// Sets [`target`](Self::target).
    #[must_use]
    pub fn at(self, target: Entity) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Sets [`pole`](Self::pole).
    #[must_use]
    pub fn with_pole(self, pole: Entity) -> Self {
        Self { pole: Some(pole), ..self }
    }

    /// Sets [`solver`](Self::solver).
    #[must_use]
    pub fn with_solver(self, solver: IkSolver) -> Self {
        Self { solver, ..self }
    }

    /// Sets [`rotation_influence`](Self::rotation_influence).
    #[must_use]
    pub fn with_rotation(self, influence: f32) -> Self {
        Self { rotation_influence: influence, ..self }
    }
}

enum Solver {
    Chain(Box<dyn ChainSolver>),
    Follow(Follow),
}

/// A chain as a character keeps it ready.
#[derive(Default)]
pub(crate) struct ChainSlot {
    /// What `ends` were looked up for.
    wanted: (IkBone, IkBone, IkSolver),
    /// Root and tip, of the whole skeleton; empty if they were not found.
    ends: Vec<JointId>,
    /// On the part.
    solver: Option<Solver>,
    aim: Aim,
    position_influence: f32,
    options: IterativeOptions,
    /// Locked by nobody: it makes the memory shareable.
    workspace: Mutex<Workspace>,
}

impl core::fmt::Debug for ChainSlot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ChainSlot")
            .field("wanted", &self.wanted)
            .field("ends", &self.ends)
            .finish_non_exhaustive()
    }
}

impl ChainSlot {
    fn chain(&self) -> Option<&Chain> {
        match self.solver.as_ref()? {
            Solver::Chain(solver) => Some(solver.chain()),
            Solver::Follow(follow) => Some(follow.chain()),
        }
    }
}

impl Handle for ChainSlot {
    fn read(
        &mut self,
        (components, entity): (&Components, Entity),
        influence: f32,
        bound: &Bound,
        targets: &mut Vec<Entity>,
    ) -> Result<Action, String> {
        let Ok(chain) = components.chain.get(entity) else { return Ok(Action::Nothing) };
        self.aim = Aim::new(chain.position_influence, chain.rotation_influence, &chain.offset);
        self.position_influence = influence * chain.position_influence;
        self.options = IterativeOptions::new().with_influence(influence).with_soft(chain.soft);
        let Some(target) = chain.target.filter(|_| self.aim.applies()) else { return Ok(Action::Nothing) };
        targets.extend([Some(target), chain.pole].into_iter().flatten());
        let (root, tip, solver) = &self.wanted;
        if !self.ends.is_empty() && (root, tip, *solver) == (&chain.root, &chain.tip, chain.solver) {
            return Ok(Action::Solve { fresh: false });
        }
        self.wanted = (chain.root.clone(), chain.tip.clone(), chain.solver);
        self.solver = None;
        self.ends.clear();
        let ends = [&chain.root, &chain.tip].map(|bone| bound.find(bone).map_err(|error| error.to_string()));
        let [root, tip] = ends;
        self.ends.extend([root?, tip?]);
        Ok(Action::Solve { fresh: true })
    }

    fn joints(&self) -> &[JointId] {
        &self.ends
    }

    fn turns(&self, visit: &mut dyn FnMut(JointId)) {
        self.chain().into_iter().flat_map(Chain::joints).for_each(|&joint| visit(joint));
    }

    fn goal(&self, target: usize, place: Affine3) -> Led {
        let tip = self.chain().filter(|_| target == 0)?.tip();
        Some((tip, self.aim.goal(place)))
    }

    fn forget(&mut self) {
        self.solver = None;
    }

    fn build(&mut self, part: &Part, _: &Kit) -> Result<(), String> {
        let (None, &[root, tip]) = (&self.solver, self.ends.as_slice()) else { return Ok(()) };
        let [Some(root), Some(tip)] = [root, tip].map(|joint| part.joint(joint)) else { return Ok(()) };
        let workspace = self.workspace.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut made = || -> Result<Solver, ChainSolverError> {
            let skeleton = &part.skeleton;
            let solver: Box<dyn ChainSolver> = match self.wanted.2 {
                IkSolver::Auto => Box::new(Auto::new(skeleton, root, tip)?),
                IkSolver::Ccd => Box::new(Ccd::new(skeleton, root, tip)?),
                IkSolver::Fabrik => Box::new(Fabrik::new(skeleton, root, tip)?),
                IkSolver::Fold => Box::new(Fold::new(skeleton, root, tip)?),
                IkSolver::DampedLeastSquares => Box::new(DampedLeastSquares::new(skeleton, root, tip)?),
                IkSolver::Follow => {
                    let follow = Follow::new(skeleton, root, tip)?;
                    follow.reserve(workspace);
                    return Ok(Solver::Follow(follow));
                }
            };
            solver.reserve(workspace);
            Ok(Solver::Chain(solver))
        };
        self.solver = Some(made().map_err(|error| error.to_string())?);
        Ok(())
    }

    fn solve(&mut self, pose: &mut Pose, frame: &Frame) -> Option<Result<Report, String>> {
        let mut goal = self.aim.goal(frame.targets.first()?.place(frame.part, pose));
        if let Some(pole) = frame.targets.get(1) {
            goal = goal.with_pole(Pole::Point(pole.position(frame.part, pose)));
        }
        let workspace = self.workspace.get_mut().unwrap_or_else(PoisonError::into_inner);
        let report = match self.solver.as_ref()? {
            Solver::Chain(solver) => solver.solve(workspace, pose, &goal, &self.options),
            Solver::Follow(follow) => {
                let options = FollowOptions::new().with_influence(self.position_influence);
                follow.solve(workspace, pose, goal.position?, &options)
            }
        };
        Some(report.map_err(|error| error.to_string()))
    }
}
