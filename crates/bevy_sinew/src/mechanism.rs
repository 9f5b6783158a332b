//! Mechanisms in joint space.

use std::sync::{Mutex, PoisonError};

use bevy_ecs::{component::Component, entity::Entity, reflect::ReflectComponent};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use bevy_transform::components::Transform;
use sinew::{
    JointId, Pose, Report, Skeleton, Workspace,
    glam::Affine3,
    joint::Joint,
    math,
    mechanism::{
        JointSpaceError, JointSpaceOptions, JointSpaceReport, JointSpaceSolver, LinkGoal, LinkTarget,
        NamedDof, SkeletonMechanism,
    },
};

use crate::{
    IkBone, IkLayer, IkReport,
    binding::{Bound, Kit, Part},
    slot::{Action, Components, Frame, Handle},
    template::template,
};

/// Drives a machine to a target: an excavator, a robot's arm, a turret. Its bones move as their [`IkLimits`](crate::IkLimits) allow,
/// no faster than their speeds; bones without limits do not move at all.
///
/// It starts from the pose that the bones have, and goes on from its own last values. Values at which the tip is at its target are
/// found from any start; all joints then move so that they arrive together. [`IkValues`] has the values of the frame, for
/// what an app drives with them: sounds of motors, gauges, physics.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// use bevy_sinew::{IkLimits, IkSkeleton, MechanismIk};
/// # use bevy_math::Vec3;
/// # fn system(mut commands: Commands, [cabin, boom, stick]: [Entity; 3], digger: Entity, target: Entity) {
/// commands.entity(cabin).insert(IkLimits::hinge(Vec3::Y, -3.1, 3.1).with_speed(0.6));
/// commands.entity(boom).insert(IkLimits::hinge(Vec3::X, -0.5, 1.0).with_speed(0.4));
/// commands.entity(stick).insert(IkLimits::hinge(Vec3::X, -2.2, 0.2).with_speed(0.5));
/// commands.entity(digger).insert((IkSkeleton::default(), MechanismIk::new("bucket").at(target)));
/// # }
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(IkReport, IkLayer, IkValues)]
pub struct MechanismIk {
    /// The bone that goes to the target.
    #[entities]
    pub tip: IkBone,
    /// The entity that it goes to; `None` for no goal, which gives the bones back. Its place is that of this frame, as for
    /// [`LimbIk::target`](crate::LimbIk::target).
    #[entities]
    pub target: Option<Entity>,
    /// Whether the tip takes the target's rotation too; by default it does not.
    pub rotation: bool,
    /// The point of the tip that goes to the target, in the tip's space: the teeth of a bucket. Its scale does not count.
    pub tool: Transform,
    /// Greatest speed in radians or units a second, above 0, of joints whose limits name none; 1 by default.
    pub speed: f32,
}

/// The values of a [`MechanismIk`], in the order of its bones: angles in radians, slides in the units of the bone's parent.
#[derive(Component, Clone, Debug, PartialEq, Default, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
pub struct IkValues(pub Vec<f64>);

template! {
    /// The template of a [`MechanismIk`]. In `bsn!`, `target: OptionTemplate::Some(#Heap)` names an entity of the scene.
    MechanismIkTemplate for MechanismIk {
        target, ;
        tip: IkBone,
        rotation: bool,
        tool: Transform,
        speed: f32,
    }
}

impl Default for MechanismIk {
    fn default() -> Self {
        let (tip, tool) = (IkBone::default(), Transform::IDENTITY);
        Self { tip, target: None, rotation: false, tool, speed: 1.0 }
    }
}

impl MechanismIk {
    /// A mechanism without a target yet.
    pub fn new(tip: impl Into<IkBone>) -> Self {
        Self { tip: tip.into(), ..Self::default() }
    }

    /// Sets [`target`](Self::target).
    #[must_use]
    pub fn at(self, target: Entity) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Sets [`rotation`](Self::rotation).
    #[must_use]
    pub fn with_rotation(self) -> Self {
        Self { rotation: true, ..self }
    }

    /// Sets [`tool`](Self::tool).
    #[must_use]
    pub fn with_tool(self, tool: Transform) -> Self {
        Self { tool, ..self }
    }
}

/// A mechanism as a character keeps it ready.
#[derive(Debug, Default)]
pub(crate) struct MechanismSlot {
    /// What `tip` was looked up for.
    wanted: (IkBone, bool, Transform, f32),
    /// Of the whole skeleton; none if it was not found.
    tip: Vec<JointId>,
    solver: Option<(SkeletonMechanism, JointSpaceSolver, LinkGoal)>,
    values: Vec<f64>,
    /// Greatest speed of each value.
    speeds: Vec<f64>,
    /// The values that it moves to, and the target and the report for which they were found.
    found: Vec<f64>,
    last: Option<(LinkTarget, JointSpaceReport)>,
    /// The joints that it moves.
    moves: Vec<JointId>,
    /// The values are those of the last frame.
    runs: bool,
    workspace: Mutex<Workspace>,
}

impl Handle for MechanismSlot {
    fn read(
        &mut self,
        (components, entity): (&Components, Entity),
        _: f32,
        bound: &Bound,
        targets: &mut Vec<Entity>,
    ) -> Result<Action, String> {
        let Ok(given) = components.mechanism.get(entity) else { return Ok(Action::Nothing) };
        let Some(target) = given.target else { return Ok(Action::Nothing) };
        targets.push(target);
        let (tip, rest) = (&self.wanted.0, (self.wanted.1, self.wanted.2, self.wanted.3));
        if !self.tip.is_empty() && *tip == given.tip && rest == (given.rotation, given.tool, given.speed) {
            return Ok(Action::Solve { fresh: false });
        }
        self.wanted = (given.tip.clone(), given.rotation, given.tool, given.speed);
        self.forget();
        self.tip.clear();
        self.tip.push(bound.find(&given.tip).map_err(|error| error.to_string())?);
        Ok(Action::Solve { fresh: true })
    }

    fn joints(&self) -> &[JointId] {
        &self.tip
    }

    fn needs_all(&self) -> bool {
        !self.tip.is_empty()
    }

    fn turns(&self, visit: &mut dyn FnMut(JointId)) {
        self.moves.iter().for_each(|&joint| visit(joint));
    }

    fn forget(&mut self) {
        (self.solver, self.runs) = (None, false);
    }

    fn build(&mut self, part: &Part, _: &Kit) -> Result<(), String> {
        let (None, &[tip]) = (&self.solver, self.tip.as_slice()) else { return Ok(()) };
        let mut skeleton = Skeleton::clone(&part.skeleton);
        for joint in part.skeleton.joints().filter(|&joint| *part.skeleton.joint(joint) == Joint::FREE) {
            skeleton.set_joint(joint, Joint::FIXED).map_err(|error| error.to_string())?;
        }
        let machine =
            SkeletonMechanism::compile(&Pose::rest(&skeleton.into())).map_err(|error| error.to_string())?;
        let mechanism = machine.mechanism();
        let (_, rotation, tool, speed) = &self.wanted;
        let target = match rotation {
            true => LinkTarget::Pose(Default::default(), Default::default()),
            false => LinkTarget::Position(Default::default()),
        };
        let frame = sinew::glam::DAffine3::from_rotation_translation(
            math::normalize(tool.rotation).as_dquat(),
            tool.translation.as_dvec3(),
        );
        let goal = LinkGoal::new(mechanism, machine.link(tip), target).with_frame(frame);
        if !(*speed > 0.0 && speed.is_finite()) {
            return Err(format!("its speed must be finite and above 0, not {speed}"));
        }
        let solver = JointSpaceSolver::new(mechanism, &[goal]).map_err(|error| error.to_string())?;
        solver.reserve(self.workspace.get_mut().unwrap_or_else(PoisonError::into_inner));
        self.values = mechanism.rest();
        self.found = mechanism.rest();
        let own = |named: &NamedDof| Some(named.dof.speed).filter(|speed| speed.is_finite());
        self.speeds = mechanism.dofs().iter().map(|dof| own(dof).unwrap_or(f64::from(*speed))).collect();
        self.moves = part.skeleton.joints().filter(|&joint| !machine.dofs(joint).is_empty()).collect();
        self.solver = Some((machine, solver, goal));
        Ok(())
    }

    /// The next frame starts from the pose that the bones have then.
    fn rest(&mut self) {
        self.runs = false;
    }

    /// Values are relative to the machine.
    fn teleport(&mut self) {}

    fn solve(&mut self, pose: &mut Pose, frame: &Frame) -> Option<Result<Report, String>> {
        let place = frame.targets.first()?.place(frame.part, pose);
        let (position, rotation) = (place.translation, math::rotation_of(&place.matrix3));
        let target = match self.wanted.1 {
            true => LinkTarget::Pose(position.as_dvec3(), rotation.as_dquat().normalize()),
            false => LinkTarget::Position(position.as_dvec3()),
        };
        let report = self.step(pose, target, frame.dt)?.map_err(|error| error.to_string());
        Some(report.map(|(solve, arrived)| {
            let mut told = Report::default();
            (told.outcome, told.iterations) = (solve.outcome, solve.iterations);
            (told.position_residual, told.rotation_residual) =
                (solve.position_residual as f32, solve.rotation_residual as f32);
            (told.position_tolerance, told.rotation_tolerance) =
                (solve.position_tolerance as f32, solve.rotation_tolerance as f32);
            told.out_of_reach = solve.out_of_reach as f32;
            if !arrived {
                // What is on its way is as far off as its bones are.
                let tip = part_joint(frame.part, &self.tip).map(|tip| pose.model(tip) * self.tool());
                let (at, turn) = tip
                    .map_or((position, rotation), |tip| (tip.translation, math::rotation_of(&tip.matrix3)));
                told.position_residual = at.distance(position);
                told.rotation_residual =
                    if self.wanted.1 { math::angle_between(turn, rotation) } else { 0.0 };
                told.position_tolerance = 0.0;
            }
            told
        }))
    }

    fn values(&self) -> Option<&[f64]> {
        self.runs.then_some(&self.values)
    }
}

/// Bounds of a search: a target that is out of reach and moves costs half a millisecond a frame.
const SEARCH: JointSpaceOptions = JointSpaceOptions::new().with_max_iterations(500);

fn part_joint(part: &Part, tip: &[JointId]) -> Option<JointId> {
    part.joint(*tip.first()?)
}

impl MechanismSlot {
    /// The point of the tip that goes to the target, in the tip's space.
    fn tool(&self) -> Affine3 {
        Affine3::from_rotation_translation(math::normalize(self.wanted.2.rotation), self.wanted.2.translation)
    }

    /// Moves towards a target for `dt` seconds. Returns the report of the values that it moves to, and whether it is there.
    fn step(
        &mut self,
        pose: &mut Pose,
        target: LinkTarget,
        dt: f32,
    ) -> Option<Result<(JointSpaceReport, bool), JointSpaceError>> {
        let (machine, solver, goal) = self.solver.as_ref()?;
        let mut step = || {
            if !self.runs {
                machine.read(pose, &mut self.values)?;
                self.found.copy_from_slice(&self.values);
                (self.runs, self.last) = (true, None);
            }
            let report = match self.last {
                Some((last, report)) if last == target => report,
                _ => {
                    let workspace = self.workspace.get_mut().unwrap_or_else(PoisonError::into_inner);
                    // From the last ones, so that a target that moves does not make it change its mind.
                    let goals = [goal.with_target(target)];
                    let report = solver.solve(workspace, &goals, &mut self.found, &SEARCH)?;
                    self.last = Some((target, report));
                    report
                }
            };
            // The slowest joint decides when all arrive.
            let ways = self.values.iter().zip(&self.found).zip(&self.speeds);
            let most = ways.map(|((from, to), speed)| (to - from).abs() / speed).fold(0.0, f64::max);
            let arrives = most <= f64::from(dt);
            let share = if arrives { 1.0 } else { f64::from(dt) / most };
            for (value, to) in self.values.iter_mut().zip(&self.found) {
                *value = if arrives { *to } else { *value + share * (to - *value) };
            }
            machine.write(&self.values, pose)?;
            pose.update();
            Ok((report, arrives))
        };
        Some(step())
    }
}
