//! Looking at things.

use bevy_ecs::{component::Component, entity::Entity, reflect::ReflectComponent};
use bevy_math::Vec3;
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::{
    JointId, Pose,
    solve::{LookAt, LookJoint, LookState, Options},
};

use crate::{
    IkBone, IkLayer, IkReport, IkStatus,
    binding::{Bound, Part},
    slot::{Kind, Slot, Source},
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

/// Bones of a character, from the root downwards.
#[derive(Clone, Debug, PartialEq, Eq, Default, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub struct IkBones(pub Vec<IkBone>);

impl bevy_ecs::entity::MapEntities for IkBones {
    fn map_entities<M: bevy_ecs::entity::EntityMapper>(&mut self, mapper: &mut M) {
        self.0.iter_mut().for_each(|bone| bone.map_entities(mapper));
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
    pub joints: Vec<JointId>,
    /// On the part.
    pub solver: Option<(LookAt, LookState)>,
    pub target: Option<Source>,
    offset: Vec3,
    dead_zone: f32,
    influence: f32,
}

impl LookSlot {
    pub fn turns(&self) -> impl Iterator<Item = JointId> + '_ {
        self.solver.iter().flat_map(|(solver, _)| solver.joints())
    }

    /// Reads the component. Returns whether it has other joints than before.
    pub fn read(&mut self, look: &LookAtIk, influence: f32, bound: &Bound) -> Result<bool, String> {
        (self.offset, self.dead_zone, self.influence) =
            (look.offset, look.dead_zone, influence * look.influence);
        if self.whole.is_some() && self.bones == look.bones && self.front == look.front {
            return Ok(false);
        }
        (self.bones, self.front) = (look.bones.clone(), look.front);
        (self.whole, self.solver) = (None, None);
        self.joints.clear();
        let bind = &bound.kit.bind;
        let whole = if look.bones.0.is_empty() {
            let body = bound.kit.body.as_ref().map_err(|error| format!("it has no head: {error}"))?;
            body.look_at(bind)
        } else {
            let joints: Result<Vec<JointId>, _> = look.bones.0.iter().map(|bone| bound.find(bone)).collect();
            let joints = joints.map_err(|error| error.to_string())?;
            LookAt::of_figure(bind, &LookJoint::in_line(&joints), &[], look.front)
        };
        let whole = whole.map_err(|error| error.to_string())?;
        self.joints.extend(whole.joints());
        self.whole = Some(whole);
        Ok(true)
    }

    pub fn build(&mut self, part: &Part) -> Result<(), String> {
        let (None, Some(whole)) = (&self.solver, &self.whole) else { return Ok(()) };
        let solver =
            whole.on(&part.skeleton, |joint| part.joint(joint)).map_err(|error| error.to_string())?;
        let state = solver.state();
        self.solver = Some((solver, state));
        Ok(())
    }
}

/// Solves one slot, if it is a look-at that applies.
pub(crate) fn apply(slot: &mut Slot, part: &Part, pose: &mut Pose, scale: f32) {
    let Kind::Look(look) = &mut slot.kind else { return };
    if !slot.active {
        return;
    }
    let (Some((solver, state)), Some(target)) = (&mut look.solver, look.target) else { return };
    solver.dead_zone = look.dead_zone;
    let at = target.place(part, pose).transform_point3(look.offset);
    match solver.solve(state, pose, at, &Options::new().with_influence(look.influence)) {
        Ok(report) => slot.solved(&report.report, scale),
        Err(error) => slot.fail(IkStatus::Failed, || error.to_string()),
    }
}
