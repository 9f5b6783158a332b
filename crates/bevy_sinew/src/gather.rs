//! Reads poses, targets and settings at the beginning of the solves of a frame.

use bevy_ecs::{
    change_detection::{DetectChanges, DetectChangesMut, Ref},
    entity::Entity,
    hierarchy::ChildOf,
    system::{Query, SystemParam},
};
use bevy_transform::components::Transform;
use sinew::{Skeleton, glam::Affine3, math};

use crate::{
    FootPlanting, IkJoint, IkSkeleton, IkStatus, LimbIk, LookAtIk,
    binding::{Bound, IkBinding},
    slot::{Kind, Slot, Source},
    transform::from_bevy,
};

/// An entity: its transform, what it hangs from, and the bone that it is. One search finds all of them.
type Node<'a> = (Option<Ref<'a, Transform>>, Option<&'a ChildOf>, Option<&'a IkJoint>);

/// The components of inverse kinematics on an entity, and when they changed.
type Handle<'a> = (Option<Ref<'a, LimbIk>>, Option<Ref<'a, LookAtIk>>, Option<Ref<'a, FootPlanting>>);

/// Transforms as they are now: those that are propagated are of the frame before.
#[derive(SystemParam)]
pub(crate) struct Places<'w, 's> {
    nodes: Query<'w, 's, Node<'static>>,
    bones: Query<'w, 's, Ref<'static, Transform>>,
    handles: Query<'w, 's, Handle<'static>>,
}

/// Why an entity has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoPlace {
    Gone(Entity),
    NoTransform(Entity),
}

impl core::fmt::Display for NoPlace {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Gone(entity) => write!(f, "its target {entity} is gone"),
            Self::NoTransform(entity) => write!(f, "the entity {entity}, of its target, has no Transform"),
        }
    }
}

impl Places<'_, '_> {
    /// An entity's local transform, what it hangs from, and the bone that it is.
    fn node(&self, entity: Entity) -> Result<(Affine3, Option<Entity>, Option<&IkJoint>), NoPlace> {
        let (transform, above, joint) = self.nodes.get(entity).map_err(|_| NoPlace::Gone(entity))?;
        let transform = transform.ok_or(NoPlace::NoTransform(entity))?;
        Ok((from_bevy(&transform).to_affine(), above.map(ChildOf::parent), joint))
    }

    fn world(&self, entity: Entity) -> Result<Affine3, NoPlace> {
        let (mut place, mut above, _) = self.node(entity)?;
        while let Some(entity) = above {
            let (local, next, _) = self.node(entity)?;
            (place, above) = (local * place, next);
        }
        Ok(place)
    }

    /// The place of an entity in a character's model space, or on the character's bone that is nearest above it.
    fn source(
        &self,
        target: Entity,
        character: Entity,
        skeleton: &Skeleton,
        model_from_world: &Affine3,
    ) -> Result<Source, NoPlace> {
        let (mut at, mut place) = (target, None);
        let then = |local: Affine3, place: Option<Affine3>| place.map_or(local, |place| local * place);
        loop {
            if at == character {
                return Ok(Source::Model(place.unwrap_or(Affine3::IDENTITY)));
            }
            let (local, above, joint) = self.node(at)?;
            let joint = joint.filter(|joint| joint.character == character);
            if let Some(joint) = joint.and_then(|joint| skeleton.joint_at(joint.index as usize)) {
                return Ok(Source::Bone(joint, place.unwrap_or(Affine3::IDENTITY)));
            }
            let local = then(local, place);
            match above {
                Some(above) => (at, place) = (above, Some(local)),
                None => return Ok(Source::Model(*model_from_world * local)),
            }
        }
    }
}

impl Places<'_, '_> {
    /// The place of an entity in the world; `None` if it has none.
    pub fn world_of(&self, entity: Entity) -> Option<Affine3> {
        self.world(entity).ok()
    }
}

pub(crate) fn gather(mut characters: Query<(Entity, &IkSkeleton, &mut IkBinding)>, places: Places) {
    characters.par_iter_mut().for_each(|(character, settings, mut binding)| {
        if let Some(bound) = binding.bypass_change_detection().bound.as_deref_mut() {
            bound.gather(character, settings.influence, &places);
        }
    });
}

impl Bound {
    fn gather(&mut self, character: Entity, influence: f32, places: &Places) {
        // Only what applies is placed.
        self.model_from_world = None;
        let mut slots = std::mem::take(&mut self.slots);
        let mut changed = self.unplanned;
        for slot in &mut slots {
            let was = (slot.active, slot.bones());
            changed |= self.gather_slot(slot, character, influence, places);
            changed |= was != (slot.active, slot.bones());
        }
        self.slots = slots;
        self.awake = self.held || self.slots.iter().any(|slot| slot.active);
        if !self.awake && !changed {
            return;
        }
        if changed {
            self.plan();
        }
        for (index, (bone, kept)) in self.joints.iter_mut().enumerate() {
            // A bone that was despawned in this frame keeps its last transform.
            if let Ok(transform) = places.bones.get(*bone) {
                kept.now = from_bevy(&transform);
                if kept.written != Some(transform.last_changed()) {
                    (kept.base, kept.written) = (kept.now, None);
                }
            }
            let Some(joint) = self.part.skeleton.joint_at(index) else { break };
            if *self.pose.local(joint) != kept.base {
                self.pose.set_local(joint, kept.base);
            }
        }
    }

    /// Returns whether it needs other joints than before.
    fn gather_slot(&mut self, slot: &mut Slot, character: Entity, influence: f32, places: &Places) -> bool {
        let entity = slot.entity;
        let (limb, look, feet) = places.handles.get(entity).unwrap_or_default();
        if matches!(slot.kind, Kind::Feet(_)) {
            return self.gather_feet(slot, feet, character, influence, places);
        }
        let limb = limb.filter(|_| matches!(slot.kind, Kind::Limb(_)));
        let look = look.filter(|_| matches!(slot.kind, Kind::Look(_)));
        // NaN and what is out of range go on, to the solver that refuses them.
        let (target, none, changed) = match (&limb, &look) {
            (Some(limb), _) => {
                let pole = if limb.pole.is_some() { limb.pole_influence } else { 0.0 };
                let none = [limb.position_influence, limb.rotation_influence, pole] == [0.0; 3];
                (limb.target, none, Some(limb.last_changed()))
            }
            (_, Some(look)) => (look.target, look.influence == 0.0, Some(look.last_changed())),
            // Removed since the slots were made.
            _ => (None, true, None),
        };
        let Some(target) = target else {
            slot.idle();
            return false;
        };
        if influence == 0.0 || none {
            slot.idle();
            return false;
        }
        let seen = (changed, influence);
        let mut found = false;
        if slot.seen != seen {
            slot.seen = seen;
            let now = match (&mut slot.kind, &limb, &look) {
                (Kind::Limb(kept), Some(limb), _) => kept.read(limb, influence, self),
                (Kind::Look(kept), _, Some(look)) => kept.read(look, influence, self),
                _ => Ok(false),
            };
            (found, slot.wrong) = now.map_or_else(|wrong| (false, wrong), |found| (found, String::new()));
        }
        if !slot.wrong.is_empty() {
            if slot.report.status != IkStatus::Failed || slot.report.problem != slot.wrong {
                let wrong = slot.wrong.clone();
                slot.fail(IkStatus::Failed, || wrong);
            }
            slot.active = false;
            return false;
        }
        let place = |bound: &mut Self, entity: Entity| {
            let world = bound.place(character, places)?;
            places.source(entity, character, &bound.kit.skeleton, &world)
        };
        let sources = place(self, target).and_then(|target| {
            let pole = limb.and_then(|limb| limb.pole).map(|pole| place(self, pole)).transpose()?;
            Ok((target, pole))
        });
        match sources {
            Ok((target, pole)) => {
                match &mut slot.kind {
                    Kind::Limb(kept) => (kept.target, kept.pole) = (Some(target), pole),
                    Kind::Look(kept) => kept.target = Some(target),
                    Kind::Feet(_) => {}
                }
                (slot.active, slot.missing) = (true, None);
            }
            Err(missing) => {
                slot.stop();
                let (NoPlace::Gone(entity) | NoPlace::NoTransform(entity)) = missing;
                // Told once, and then again if another one is missing.
                if slot.missing.replace(entity) != Some(entity) || slot.report.status != IkStatus::TargetLost
                {
                    slot.lost = Some(target);
                    slot.fail(IkStatus::TargetLost, || missing.to_string());
                }
            }
        }
        found
    }

    /// The same for feet, which have no target.
    fn gather_feet(
        &mut self,
        slot: &mut Slot,
        given: Option<Ref<FootPlanting>>,
        character: Entity,
        influence: f32,
        places: &Places,
    ) -> bool {
        let Some(given) = given.filter(|given| influence != 0.0 && given.influence != 0.0) else {
            slot.idle();
            return false;
        };
        let Kind::Feet(feet) = &mut slot.kind else { return false };
        (feet.influence, feet.grounded, feet.jump) =
            (influence * given.influence, given.grounded, given.jump);
        let found = match feet.find(self) {
            Ok(found) => found,
            Err(wrong) => {
                slot.fail(IkStatus::Failed, || wrong.to_owned());
                return false;
            }
        };
        let carried = |entity: Entity| places.world(entity).map(|place| (entity, place));
        let carrier = given.platform.map(carried).transpose();
        match (places.world(character), carrier) {
            (Ok(world), Ok(carrier)) => {
                feet.carried_now = feet.carried.and_then(|(entity, _)| places.world(entity).ok());
                (feet.world, feet.carrier) = (world, carrier);
                self.scale = math::uniform_scale(&world.matrix3).abs();
                (slot.active, slot.missing) = (true, None);
            }
            (Err(missing), _) | (_, Err(missing)) => slot.fail(IkStatus::Failed, || missing.to_string()),
        }
        found
    }

    /// From world to model space. A character that has no place of its own is its own world.
    fn place(&mut self, character: Entity, places: &Places) -> Result<Affine3, NoPlace> {
        if let Some(place) = self.model_from_world {
            return Ok(place);
        }
        let world = places.world(character)?;
        let place = world.inverse();
        self.scale = math::uniform_scale(&world.matrix3).abs();
        self.model_from_world = Some(place);
        Ok(place)
    }
}
