//! Whole bodies.

use std::sync::{Mutex, PoisonError};

use bevy_ecs::{
    component::Component,
    entity::{Entity, EntityMapper, MapEntities},
    reflect::ReflectComponent,
};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use bevy_transform::components::Transform;
use sinew::{
    Goal, JointId, JointTransform, Pose, Report, SolveError, Workspace,
    body::{Role, Trackers, TrackersState},
    glam::Affine3,
    solve::{Effector, FullBody, FullBodyOptions, IterativeOptions, RootMode},
};

use crate::{
    IkBone, IkLayer, IkReport,
    aim::Aim,
    binding::{Bound, Kit, Part},
    draw::Led,
    person::Person,
    slot::{Action, Components, Frame, Handle},
};

/// Brings several bones of a body to targets at once: a head and two hands for a headset and its controllers, both hands and a
/// hip for a climber.
///
/// A two-legged body moves as a person's would: joints keep human limits, feet without a goal stay where they stand, and the body
/// keeps its balance over them. Where that is not possible, the feet slide after it. Other bodies keep the
/// [`IkLimits`](crate::IkLimits) of their bones alone.
///
/// Each frame starts from the animation's pose; a body that nothing animates goes on from its last one, and a person begins at
/// ease. After the first frame it stays on its branch: elbows and knees do not leap to the other side.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// use bevy_sinew::{FullBodyIk, IkGoal, IkSkeleton};
/// use sinew::body::{Role, Side};
/// # fn system(mut commands: Commands, headset: Entity, left: Entity, right: Entity) {
/// commands.spawn((IkSkeleton::default(), FullBodyIk::new([
///     IkGoal::new(Role::Head, headset).with_rotation(1.0),
///     IkGoal::new(Role::Hand(Side::Left), left).with_rotation(1.0),
///     IkGoal::new(Role::Hand(Side::Right), right).with_rotation(1.0),
/// ])));
/// # }
/// ```
///
/// In `bsn!`, whose lists cannot name entities of the scene, the goals are an expression: `goals: {IkGoals(vec![goal])}`.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(IkReport, IkLayer)]
pub struct FullBodyIk {
    /// What goes where. The report is that of the goal that is furthest off.
    #[entities]
    pub goals: IkGoals,
    /// Share of all goals that shows, 0 to 1 (the default).
    pub influence: f32,
    /// The bone from which the body moves; the hips by default.
    #[entities]
    pub root: IkBone,
    /// How the root moves.
    pub root_mode: IkRoot,
    /// Whether a two-legged body moves as a person's, as by default.
    pub person: bool,
    /// Length of the soft zone before full extension of a limb, as a share of its reach, 0 (the default) to 1: within it elbows and
    /// knees slow down, so that they do not snap straight, and goals are missed by a little.
    pub soft: f32,
}

/// How the root of a body moves. It turns in each of them.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub enum IkRoot {
    /// It stays where the animation has it.
    Pinned,
    /// It moves freely.
    Free,
    /// It moves against a spring to where the animation has it, of this strength, 0 to 1e6; 10 by default. At 1, a way as long as
    /// the body is costs as much as a turn of one radian. With less than 10, the hips of a body led by head and hands wander, and leap
    /// at times; with more, the trunk bends where knees should.
    Spring(f32),
}

impl Default for IkRoot {
    fn default() -> Self {
        Self::Spring(10.0)
    }
}

/// A bone that goes to a target.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub struct IkGoal {
    /// The bone.
    pub bone: IkBone,
    /// The entity that it goes to; `None` for no goal. Its place is that of this frame, as for
    /// [`LimbIk::target`](crate::LimbIk::target).
    pub target: Option<Entity>,
    /// Share of the target's position that applies, 0 to 1 (the default).
    pub position_influence: f32,
    /// Share of the target's rotation that applies, 0 (the default) to 1.
    pub rotation_influence: f32,
    /// The goal in the target's space: for a controller, where the wrist is in a hand that holds it.
    pub offset: Transform,
    /// Goals of priority 0 (the default) come first, then those of 1 and 2.
    pub priority: u8,
}

impl Default for IkGoal {
    fn default() -> Self {
        Self {
            bone: IkBone::default(),
            target: None,
            position_influence: 1.0,
            rotation_influence: 0.0,
            offset: Transform::IDENTITY,
            priority: 0,
        }
    }
}

impl IkGoal {
    /// A bone that goes to the position of a target.
    pub fn new(bone: impl Into<IkBone>, target: Entity) -> Self {
        Self { bone: bone.into(), target: Some(target), ..Self::default() }
    }

    /// Sets [`rotation_influence`](Self::rotation_influence).
    #[must_use]
    pub fn with_rotation(self, influence: f32) -> Self {
        Self { rotation_influence: influence, ..self }
    }

    /// Sets [`offset`](Self::offset).
    #[must_use]
    pub fn with_offset(self, offset: Transform) -> Self {
        Self { offset, ..self }
    }

    /// Sets [`priority`](Self::priority).
    #[must_use]
    pub fn with_priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }

    fn aim(&self) -> Aim {
        Aim::new(self.position_influence, self.rotation_influence, &self.offset)
    }

    /// The entity that it goes to, if a share of it applies.
    fn wanted(&self) -> Option<Entity> {
        self.target.filter(|_| self.aim().applies())
    }
}

/// The goals of a [`FullBodyIk`].
#[derive(Clone, Debug, PartialEq, Default, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub struct IkGoals(pub Vec<IkGoal>);

impl MapEntities for IkGoals {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        for goal in &mut self.0 {
            goal.bone.map_entities(mapper);
            goal.target = goal.target.map(|target| mapper.get_mapped(target));
        }
    }
}

impl Default for FullBodyIk {
    fn default() -> Self {
        Self {
            goals: IkGoals::default(),
            influence: 1.0,
            root: Role::Hips.into(),
            root_mode: IkRoot::default(),
            person: true,
            soft: 0.0,
        }
    }
}

impl FullBodyIk {
    /// Bones that go to targets.
    pub fn new(goals: impl IntoIterator<Item = IkGoal>) -> Self {
        Self { goals: IkGoals(goals.into_iter().collect()), ..Self::default() }
    }

    /// Sets [`root`](Self::root).
    #[must_use]
    pub fn with_root(self, root: impl Into<IkBone>) -> Self {
        Self { root: root.into(), ..self }
    }

    /// Sets [`root_mode`](Self::root_mode).
    #[must_use]
    pub fn with_root_mode(self, root_mode: IkRoot) -> Self {
        Self { root_mode, ..self }
    }
}

/// A pose that nothing animates, from frame to frame.
#[derive(Debug, Default)]
struct Resumed {
    /// What it was before the last solve and after it.
    before: Vec<JointTransform>,
    after: Vec<JointTransform>,
    goals: Vec<Goal>,
    report: Option<Report>,
}

impl Resumed {
    /// Solves a pose, and goes on from the last solve if the pose is what it was before it. Where the goals are the same too, nothing
    /// is left to do. Else the root starts where it is without the solve: its spring brings it back there.
    fn solve(
        &mut self,
        pose: &mut Pose,
        root: JointId,
        goals: &[Goal],
        solve: impl FnOnce(&mut Pose) -> Result<Report, SolveError>,
    ) -> Result<Report, SolveError> {
        let goes_on = self.before == pose.locals() && pose.set_locals(&self.after).is_ok();
        if !goes_on {
            self.before.clear();
            self.before.extend_from_slice(pose.locals());
        } else if let Some(report) = self.report.filter(|_| self.goals == goals) {
            return Ok(report);
        } else {
            pose.set_translation(root, self.before[root.index()].translation);
        }
        pose.update();
        let report = solve(pose);
        self.report = report.as_ref().ok().copied();
        self.after.clear();
        self.after.extend_from_slice(pose.locals());
        self.goals.clear();
        self.goals.extend_from_slice(goals);
        report
    }
}

/// Steps of a solve in a frame that follows another: what is within reach takes fewer.
const STEPS: u32 = 60;

#[derive(Debug)]
enum Solver {
    Person(Box<(Trackers, TrackersState, Person)>),
    Plain(FullBody),
}

/// A body as a character keeps it ready.
#[derive(Debug, Default)]
pub(crate) struct BodySlot {
    /// What `effectors` were looked up for.
    wanted: (Vec<(IkBone, u8)>, IkBone, bool),
    root: Option<JointId>,
    effectors: Vec<Effector>,
    /// The joints of effectors and root.
    joints: Vec<JointId>,
    /// Of the whole skeleton.
    solver: Option<Solver>,
    aims: Vec<Aim>,
    goals: Vec<Goal>,
    options: IterativeOptions,
    root_mode: RootMode,
    /// Feet stand anew, and the search is a full one.
    reset: bool,
    resumed: Resumed,
    workspace: Mutex<Workspace>,
}

impl Handle for BodySlot {
    fn read(
        &mut self,
        (components, entity): (&Components, Entity),
        influence: f32,
        bound: &Bound,
        targets: &mut Vec<Entity>,
    ) -> Result<Action, String> {
        let Some(body) = components.body.get(entity).ok().filter(|body| body.influence != 0.0) else {
            return Ok(Action::Nothing);
        };
        self.options =
            IterativeOptions::new().with_influence(influence * body.influence).with_soft(body.soft);
        self.root_mode = match body.root_mode {
            IkRoot::Pinned => RootMode::Pinned,
            IkRoot::Free => RootMode::Free,
            IkRoot::Spring(strength) => RootMode::Spring(strength),
        };
        let led = || body.goals.0.iter().filter_map(|goal| Some((goal, goal.wanted()?)));
        targets.extend(led().map(|(_, target)| target));
        if targets.is_empty() {
            return Ok(Action::Nothing);
        }
        self.aims.clear();
        self.aims.extend(led().map(|(goal, _)| goal.aim()));
        let (bones, root, person) = &self.wanted;
        let same = !self.effectors.is_empty()
            && (root, *person) == (&body.root, body.person)
            && bones
                .iter()
                .map(|(bone, priority)| (bone, *priority))
                .eq(led().map(|(goal, _)| (&goal.bone, goal.priority)));
        if same {
            return Ok(Action::Solve { fresh: false });
        }
        self.wanted = (
            led().map(|(goal, _)| (goal.bone.clone(), goal.priority)).collect(),
            body.root.clone(),
            body.person,
        );
        (self.solver, self.root) = (None, None);
        self.effectors.clear();
        self.joints.clear();
        for (bone, priority) in &self.wanted.0 {
            let joint = bound.find(bone).map_err(|error| error.to_string())?;
            self.joints.push(joint);
            self.effectors.push(Effector::new(joint).with_priority(*priority));
        }
        let root = bound.find(&body.root).map_err(|error| error.to_string())?;
        self.joints.push(root);
        self.root = Some(root);
        Ok(Action::Solve { fresh: true })
    }

    fn joints(&self) -> &[JointId] {
        &self.joints
    }

    fn needs_all(&self) -> bool {
        !self.joints.is_empty()
    }

    fn turns(&self, visit: &mut dyn FnMut(JointId)) {
        match &self.solver {
            Some(Solver::Person(person)) => person.0.joints().for_each(visit),
            Some(Solver::Plain(body)) => body.joints().for_each(visit),
            None => {}
        }
    }

    fn goal(&self, target: usize, place: Affine3) -> Led {
        Some((self.effectors.get(target)?.joint, self.aims.get(target)?.goal(place)))
    }

    fn forget(&mut self) {
        self.solver = None;
    }

    fn build(&mut self, part: &Part, kit: &Kit) -> Result<(), String> {
        let (None, Some(root)) = (&self.solver, self.root) else { return Ok(()) };
        let workspace = self.workspace.get_mut().unwrap_or_else(PoisonError::into_inner);
        let person = kit.person().filter(|_| self.wanted.2);
        let solver = match (person, &kit.body) {
            (Some(person), Ok(body)) if root == body.hips => {
                let made = Trackers::new(body, &self.effectors, person.stance())
                    .map_err(|error| error.to_string())?;
                made.reserve(workspace);
                let state = made.state(person.stance());
                self.reset = true;
                Solver::Person(Box::new((made, state, person)))
            }
            _ => {
                let made = FullBody::new(&part.skeleton, root, &self.effectors);
                let made = made.map_err(|error| error.to_string())?;
                made.reserve(workspace);
                Solver::Plain(made)
            }
        };
        self.goals = Vec::with_capacity(self.effectors.len());
        self.solver = Some(solver);
        Ok(())
    }

    fn rest(&mut self) {
        self.reset = true;
    }

    fn solve(&mut self, pose: &mut Pose, frame: &Frame) -> Option<Result<Report, String>> {
        self.goals.clear();
        for (aim, target) in self.aims.iter().zip(frame.targets) {
            self.goals.push(aim.goal(target.place(frame.part, pose)));
        }
        let workspace = self.workspace.get_mut().unwrap_or_else(PoisonError::into_inner);
        let fresh = std::mem::take(&mut self.reset);
        // From the second frame on the body stays on its branch, so that it does not leap, and takes its time.
        let later = self.options.with_max_restarts(0).with_max_iterations(STEPS);
        let options = if fresh { self.options } else { later };
        let (root, resumed) = (self.root?, &mut self.resumed);
        if fresh {
            *resumed = Resumed::default();
        }
        let report = match self.solver.as_mut()? {
            Solver::Plain(body) => {
                let options = FullBodyOptions::new().with_iterative(options).with_root(self.root_mode);
                resumed
                    .solve(pose, root, &self.goals, |pose| body.solve(workspace, pose, &self.goals, &options))
            }
            Solver::Person(boxed) => {
                let (trackers, state, person) = &mut **boxed;
                if trackers.root != RootMode::Free {
                    trackers.root = self.root_mode;
                }
                // Feet stand where they are without it.
                let stood = if fresh { trackers.stand(state, person.load(pose)) } else { Ok(()) };
                stood.and_then(|()| {
                    person.solve(pose, |person| {
                        resumed.solve(person, root, &self.goals, |person| {
                            trackers.solve(state, workspace, person, &self.goals, &options)
                        })
                    })
                })
            }
        };
        Some(report.map_err(|error| error.to_string()))
    }
}
