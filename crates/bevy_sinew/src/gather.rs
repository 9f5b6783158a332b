//! Reads poses, targets and settings at the beginning of the solves of a frame.

use bevy_ecs::{
    change_detection::{DetectChanges, DetectChangesMut, Ref},
    entity::Entity,
    hierarchy::ChildOf,
    query::With,
    system::{Local, Query, Res, SystemParam},
};
use bevy_math::Vec3;
use bevy_time::Time;
use bevy_transform::components::{GlobalTransform, Transform};
use sinew::{JointTransform, Skeleton, glam::Affine3};

use crate::{
    IkJoint, IkLod, IkSkeleton, IkViewer,
    ahead::Players,
    binding::{Bound, IkBinding, Kept, Place},
    lod::{self, Detail},
    slot::{Components, Slot, Source},
    transform::from_bevy,
};

/// An entity: its transform, what it hangs from, and the bone that it is. One search finds all of them.
type Node<'a> = (Option<Ref<'a, Transform>>, Option<&'a ChildOf>, Option<&'a IkJoint>);

/// Transforms as they are now: those that are propagated are of the frame before.
#[derive(SystemParam)]
pub(crate) struct Places<'w, 's> {
    nodes: Query<'w, 's, Node<'static>>,
    bones: Query<'w, 's, Ref<'static, Transform>>,
    /// Components of inverse kinematics.
    pub components: Components<'w, 's>,
    /// What plays.
    pub players: Players<'w, 's>,
}

/// Why an entity has no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    Gone(Entity),
    NoTransform(Entity),
    /// The character's transform has no inverse.
    NoSpace(Entity),
}

impl core::fmt::Display for NoPlace {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Gone(entity) => write!(f, "its target or platform {entity} is gone"),
            Self::NoTransform(entity) => {
                write!(f, "its target or platform, or an entity above that, has no Transform: {entity}")
            }
            Self::NoSpace(character) => {
                write!(
                    f,
                    "the character {character}, or an entity above it, has a scale of 0, or a Transform that is not finite"
                )
            }
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

    /// The place of an entity in the world.
    pub fn world(&self, entity: Entity) -> Result<Affine3, NoPlace> {
        let (mut place, mut above, _) = self.node(entity)?;
        while let Some(entity) = above {
            let (local, next, _) = self.node(entity)?;
            (place, above) = (local * place, next);
        }
        Ok(place)
    }

    /// The place of an entity in a character's model space, or on the character's bone that is nearest above it. `animated` is asked
    /// for the animation's transforms of bones of other characters, which may hold what was written.
    pub fn source(
        &self,
        target: Entity,
        character: Entity,
        skeleton: &Skeleton,
        model_from_world: &Affine3,
        animated: &dyn Fn(Entity, &IkJoint) -> Option<JointTransform>,
    ) -> Result<Source, NoPlace> {
        let (mut at, mut place) = (target, None);
        let then = |local: Affine3, place: Option<Affine3>| place.map_or(local, |place| local * place);
        loop {
            if at == character {
                return Ok(Source::Model(place.unwrap_or(Affine3::IDENTITY)));
            }
            let (local, above, joint) = self.node(at)?;
            let (own, other) = match joint {
                Some(joint) if joint.character == character => {
                    (skeleton.joint_at(joint.index as usize), None)
                }
                Some(joint) => (None, animated(at, joint)),
                None => (None, None),
            };
            if let Some(joint) = own {
                return Ok(Source::Bone(joint, place.unwrap_or(Affine3::IDENTITY)));
            }
            let local = then(other.map_or(local, |other| other.to_affine()), place);
            match above {
                Some(above) => (at, place) = (above, Some(local)),
                None => return Ok(Source::World(*model_from_world * local)),
            }
        }
    }
}

/// A character, its level of detail, and where it was drawn last.
type Character<'a> =
    (Entity, &'a IkSkeleton, &'a mut IkBinding, Option<&'a IkLod>, Option<&'a GlobalTransform>);

pub(crate) fn gather(
    mut characters: Query<Character>,
    places: Places,
    viewers: Query<&GlobalTransform, With<IkViewer>>,
    mut seen_from: Local<Vec<Vec3>>,
    time: Option<Res<Time>>,
) {
    let dt = time.map_or(0.0, |time| time.delta_secs());
    seen_from.clear();
    seen_from.extend(viewers.iter().map(GlobalTransform::translation));
    characters.par_iter_mut().for_each(|(character, settings, mut binding, lod, drawn)| {
        let Some(bound) = binding.bypass_change_detection().bound.as_deref_mut() else { return };
        let far = |drawn: &GlobalTransform| lod::distance(&seen_from, drawn.translation());
        let (detail, dt) = match lod {
            Some(lod) => bound.waiting.step(lod, drawn.map_or(f32::NEG_INFINITY, far), character, dt),
            None => (Detail::Solve(1.0), dt),
        };
        bound.dt = dt;
        // The differences of the last solve apply only to the bones that it turned, and not at an influence of 0.
        bound.holds = detail == Detail::Hold
            && settings.influence != 0.0
            && !bound.unplanned
            && bound.differences.len() == bound.turned.len();
        match detail {
            Detail::Hold if bound.holds => bound.hold(&places),
            Detail::Hold => bound.gather(character, settings.influence, &places),
            Detail::Solve(share) => bound.gather(character, share * settings.influence, &places),
        }
    });
}

/// Computes again the positions of targets on bones of other characters. Those bones may hold what was written; the animation's
/// transforms are known once all characters have been read.
pub(crate) fn gather_others(
    mut characters: Query<(Entity, &mut IkBinding)>,
    places: Places,
    mut found: Local<Vec<(Entity, usize, usize, Source)>>,
) {
    let animated = |bone: Entity, joint: &IkJoint| {
        let (_, binding) = characters.get(joint.character).ok()?;
        binding.bound.as_deref()?.animated(bone, joint)
    };
    found.clear();
    for (character, binding) in &characters {
        let Some(bound) = binding.bound.as_deref().filter(|bound| !bound.holds) else { continue };
        let Some(place) = bound.place else { continue };
        for (at, slot) in bound.slots.iter().enumerate().filter(|(_, slot)| slot.active && slot.others) {
            for (n, &target) in slot.wanted().iter().enumerate() {
                let (skeleton, from_world) = (&bound.kit.skeleton, &place.model_from_world);
                if let Ok(source) = places.source(target, character, skeleton, from_world, &animated) {
                    found.push((character, at, n, source));
                }
            }
        }
    }
    for (character, at, n, source) in found.drain(..) {
        let Ok((_, mut binding)) = characters.get_mut(character) else { continue };
        let slot = binding.bypass_change_detection().bound.as_deref_mut().map(|bound| &mut bound.slots[at]);
        if let Some(target) = slot.and_then(|slot| slot.targets.get_mut(n)) {
            *target = source;
        }
    }
}

impl Kept {
    /// Reads the bone. `drawn` is the transform that was written last. A bone that was despawned in this frame keeps its last transform.
    fn read(&mut self, bone: Entity, drawn: &JointTransform, places: &Places) {
        let Ok(transform) = places.bones.get(bone) else { return };
        let (changed, now) = (transform.last_changed(), from_bevy(&transform));
        match self.written {
            Some(tick) if tick == changed => {}
            // A system marked the transform as changed without changing it.
            Some(_) if now == *drawn => self.written = Some(changed),
            _ => (self.base, self.written) = (now, None),
        }
    }
}

impl Bound {
    /// Reads the bones that keep what the last solve did.
    fn hold(&mut self, places: &Places) {
        self.awake = self.held;
        if self.awake {
            for &joint in &self.turned {
                let (bone, kept) = &mut self.joints[joint.index()];
                kept.read(*bone, self.pose.local(joint), places);
            }
        }
    }

    /// Reads all bones.
    fn read(&mut self, places: &Places) {
        for (joint, (bone, kept)) in self.part.skeleton.joints().zip(&mut self.joints) {
            kept.read(*bone, self.pose.local(joint), places);
            if *self.pose.local(joint) != kept.base {
                self.pose.set_local(joint, kept.base);
            }
        }
    }

    fn gather(&mut self, character: Entity, influence: f32, places: &Places) {
        // Only what applies is placed.
        self.place = None;
        let mut slots = std::mem::take(&mut self.slots);
        let mut changed = self.unplanned;
        for slot in &mut slots {
            let was = slot.active;
            changed |= slot.gather(character, influence, places, self);
            if was && !slot.active {
                self.leave(slot);
            }
        }
        self.slots = slots;
        self.awake = self.held || self.slots.iter().any(|slot| slot.active);
        if !self.awake && !changed {
            return;
        }
        self.read(places);
        if changed && self.plan() {
            self.read(places);
        }
    }

    /// The animation's transform of a bone that holds what was written.
    fn animated(&self, bone: Entity, joint: &IkJoint) -> Option<JointTransform> {
        let joint = self.part.joint(self.kit.skeleton.joint_at(joint.index as usize)?)?;
        let (entity, kept) = self.joints.get(joint.index())?;
        (*entity == bone && kept.written.is_some()).then_some(kept.base)
    }

    /// Leaves the bones of a slot that ends as it has them, if that is its way.
    pub fn leave(&mut self, slot: &Slot) {
        if slot.handle.leaves() {
            slot.handle.turns(&mut |joint| {
                if let Some((_, kept)) = self.joints.get_mut(joint.index()) {
                    kept.written = None;
                }
            });
        }
    }

    /// Where the character is. One that has no place of its own is its own world.
    pub fn place(&mut self, character: Entity, places: &Places) -> Result<Place, NoPlace> {
        if let Some(place) = self.place {
            return Ok(place);
        }
        let world = places.world(character)?;
        let model_from_world = world.inverse();
        if !model_from_world.is_finite() {
            return Err(NoPlace::NoSpace(character));
        }
        let place = Place { world, model_from_world };
        self.place = Some(place);
        Ok(place)
    }
}
