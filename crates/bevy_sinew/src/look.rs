//! Looking at things.

use bevy_ecs::{component::Component, entity::Entity, reflect::ReflectComponent};
use bevy_math::Vec3;
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::{
    JointId, Pose, Report,
    solve::{LookAt, LookJoint, LookState, Options},
};

use crate::{
    IkBone, IkBones, IkLayer, IkReport,
    binding::{Bound, Kit, Part},
    slot::{Action, Components, Frame, Handle},
    template::template,
};

/// Turns a character's spine, head and eyes towards a target: each joint of the spine a little, the head most.
///
/// A target behind the character is not followed round: the look fades, and comes back on the other side.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// use bevy_sinew::{IkSkeleton, LookAtIk};
/// # fn system(mut commands: Commands, player: Entity) {
/// commands.spawn((IkSkeleton::default(), LookAtIk::at(player)));
/// # }
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(IkReport, IkLayer)]
pub struct LookAtIk {
    /// The entity that is looked at; `None` for nothing. Its place is that of this frame, as for
    /// [`LimbIk::target`](crate::LimbIk::target).
    #[entities]
    pub target: Option<Entity>,
    /// The point that is looked at in the target's space, such as a player's eyes.
    pub offset: Vec3,
    /// Share of the look that shows, 0 to 1 (the default).
    pub influence: f32,
    /// Angle in radians about the gaze within which the target moves the eyes alone, 0 (the default) to pi / 2.
    pub dead_zone: f32,
    /// The bones that turn, from the spine to the head. Empty (the default) for a two-legged body: all bones above the hips
    /// up to the head, and the eyes.
    #[entities]
    pub bones: IkBones,
    /// Direction in which the figure looks in its bind pose, in the character's space. It counts only with
    /// [`bones`](Self::bones); +Z (the default) is glTF's front.
    pub front: Vec3,
}

template! {
    /// The template of a [`LookAtIk`]. In `bsn!`, `target: OptionTemplate::Some(#Lever)` names an entity of the scene.
    LookAtIkTemplate for LookAtIk {
        target, ;
        offset: Vec3,
        influence: f32,
        dead_zone: f32,
        bones: IkBones,
        front: Vec3,
    }
}

impl Default for LookAtIk {
    fn default() -> Self {
        Self {
            target: None,
            offset: Vec3::ZERO,
            influence: 1.0,
            dead_zone: 0.0,
            bones: IkBones::default(),
            front: Vec3::Z,
        }
    }
}

impl LookAtIk {
    /// Looks at the origin of an entity.
    pub fn at(target: Entity) -> Self {
        Self { target: Some(target), ..Self::default() }
    }

    /// Sets [`offset`](Self::offset).
    #[must_use]
    pub fn with_offset(self, offset: Vec3) -> Self {
        Self { offset, ..self }
    }

    /// Sets [`bones`](Self::bones).
    #[must_use]
    pub fn with_bones<B: Into<IkBone>>(self, bones: impl IntoIterator<Item = B>) -> Self {
        Self { bones: IkBones(bones.into_iter().map(Into::into).collect()), ..self }
    }
}

/// A look-at as a character keeps it ready.
#[derive(Debug, Default)]
pub(crate) struct LookSlot {
    /// The bones and the front for which `whole` was made.
    bones: IkBones,
    front: Vec3,
    /// On the whole skeleton.
    whole: Option<LookAt>,
    /// All joints that it turns, of the whole skeleton.
    joints: Vec<JointId>,
    /// On the part.
    solver: Option<(LookAt, LookState)>,
    offset: Vec3,
    dead_zone: f32,
    influence: f32,
}

impl Handle for LookSlot {
    fn read(
        &mut self,
        (components, entity): (&Components, Entity),
        influence: f32,
        bound: &Bound,
        targets: &mut Vec<Entity>,
    ) -> Result<Action, String> {
        let Ok(look) = components.look.get(entity) else { return Ok(Action::Nothing) };
        let Some(target) = look.target.filter(|_| look.influence != 0.0) else { return Ok(Action::Nothing) };
        targets.push(target);
        (self.offset, self.dead_zone, self.influence) =
            (look.offset, look.dead_zone, influence * look.influence);
        if self.whole.is_some() && self.bones == look.bones && self.front == look.front {
            return Ok(Action::Solve { fresh: false });
        }
        (self.bones, self.front) = (look.bones.clone(), look.front);
        (self.whole, self.solver) = (None, None);
        self.joints.clear();
        let bind = &bound.kit.bind;
        let whole = if look.bones.0.is_empty() {
            let body = bound.kit.body.as_ref().map_err(|error| format!("it has no head: {error}"))?;
            body.look_at(bind)
        } else {
            LookAt::of_figure(bind, &LookJoint::in_line(&bound.find_all(&look.bones)?), &[], look.front)
        };
        let whole = whole.map_err(|error| error.to_string())?;
        self.joints.extend(whole.joints());
        self.whole = Some(whole);
        Ok(Action::Solve { fresh: true })
    }

    fn joints(&self) -> &[JointId] {
        &self.joints
    }

    fn turns(&self, visit: &mut dyn FnMut(JointId)) {
        self.solver.iter().flat_map(|(solver, _)| solver.joints()).for_each(visit);
    }

    fn forget(&mut self) {
        self.solver = None;
    }

    fn build(&mut self, part: &Part, _: &Kit) -> Result<(), String> {
        let (None, Some(whole)) = (&self.solver, &self.whole) else { return Ok(()) };
        let solver =
            whole.on(&part.skeleton, |joint| part.joint(joint)).map_err(|error| error.to_string())?;
        let state = solver.state();
        self.solver = Some((solver, state));
        Ok(())
    }

    fn rest(&mut self) {
        self.solver.iter_mut().for_each(|(_, state)| state.reset());
    }

    fn solve(&mut self, pose: &mut Pose, frame: &Frame) -> Option<Result<Report, String>> {
        let (solver, state) = self.solver.as_mut()?;
        solver.dead_zone = self.dead_zone;
        let at = frame.targets.first()?.place(frame.part, pose).transform_point3(self.offset);
        let report = solver.solve(state, pose, at, &Options::new().with_influence(self.influence));
        Some(report.map(|report| report.report).map_err(|error| error.to_string()))
    }
}
