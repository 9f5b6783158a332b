//! Writes poses to bones, and reports to entities.

use bevy_ecs::{
    change_detection::{CheckChangeTicks, DetectChangesMut, Tick},
    entity::Entity,
    event::EntityEvent,
    message::{Message, MessageWriter},
    observer::On,
    system::{Commands, Query, SystemChangeTick, SystemParam},
};
use bevy_transform::components::Transform;
use tracing::warn;

use sinew::math;

use crate::{
    CreatureReport, FootLanded, FootLifted, IkReport, IkValues,
    binding::{Bound, IkBinding},
    ground::split,
    lod::Difference,
    transform::{from_bevy, to_bevy},
};

/// The target or the platform of a component of inverse kinematics was despawned, or lost its `Transform`. Sent once, as a message,
/// and as an event for observers of the character.
#[derive(Message, EntityEvent, Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetLost {
    /// The character.
    #[event_target]
    pub character: Entity,
    /// The entity with the component.
    pub handle: Entity,
    /// The target or the platform that it names.
    pub target: Entity,
}

/// Messages to an app.
#[derive(SystemParam)]
pub(crate) struct Told<'w> {
    lost: MessageWriter<'w, TargetLost>,
    landed: MessageWriter<'w, FootLanded>,
    lifted: MessageWriter<'w, FootLifted>,
}

/// One character after the other: what is written is a few bones of each, found by entity.
pub(crate) fn write(
    mut characters: Query<(Entity, &mut IkBinding)>,
    mut transforms: Query<&mut Transform>,
    mut reports: Query<&mut IkReport>,
    (mut values_of, mut walks): (Query<&mut IkValues>, Query<&mut CreatureReport>),
    mut messages: Told,
    mut commands: Commands,
    tick: SystemChangeTick,
) {
    for (character, mut binding) in &mut characters {
        let Some(bound) = binding.bypass_change_detection().bound.as_deref_mut() else { continue };
        if bound.awake {
            bound.write(&mut transforms, tick.this_run());
        }
        for at in 0..bound.slots.len() {
            if !std::mem::take(&mut bound.slots[at].news) {
                continue;
            }
            let entity = bound.slots[at].entity;
            if let Ok(mut report) = reports.get_mut(entity) {
                // Those of one entity share a report: what went wrong counts, else the last one.
                let mine = bound.slots.iter().filter(|slot| slot.entity == entity);
                let told = mine.clone().map(|slot| &slot.report).max_by_key(|report| report.status.rank());
                let ahead = mine.map(|slot| slot.report.look_ahead).fold(0.0, f32::max);
                if let Some(told) = told.filter(|told| *report != **told || report.look_ahead != ahead) {
                    report.clone_from(told);
                    report.look_ahead = ahead;
                }
            }
            let slot = &mut bound.slots[at];
            if let Some((world, placed)) = slot.handle.placed().filter(|_| slot.active)
                && let Ok(mut transform) = transforms.get_mut(character)
            {
                // An entity above stays where it is: by it the place in the world is made a local one.
                let local = from_bevy(&transform).to_affine() * world.inverse() * placed;
                transform.translation = local.translation;
                transform.rotation = math::rotation_of(&split(&local).0.matrix3);
            }
            if let Some(walked) = slot.handle.walked()
                && let Ok(mut known) = walks.get_mut(slot.entity)
                && *known != *walked
            {
                known.clone_from(walked);
            }
            if let Some(values) = slot.handle.values()
                && let Ok(mut known) = values_of.get_mut(slot.entity)
                && known.0 != values
            {
                known.0.clear();
                known.0.extend_from_slice(values);
            }
            if let Some(target) = slot.lost.take() {
                let lost = TargetLost { character, handle: slot.entity, target };
                messages.lost.write(lost);
                commands.trigger(lost);
            }
            for (landed, contact) in
                slot.handle.contacts().into_iter().flat_map(|contacts| contacts.drain(..))
            {
                if landed {
                    let event = FootLanded { character, contact };
                    messages.landed.write(event);
                    commands.trigger(event);
                } else {
                    let event = FootLifted { character, contact };
                    messages.lifted.write(event);
                    commands.trigger(event);
                }
            }
            let problem = &slot.report.problem;
            if !problem.is_empty() && slot.warned != *problem {
                warn!("inverse kinematics of {} on the character {character}: {problem}", slot.entity);
                slot.warned.clone_from(problem);
            }
        }
    }
}

impl Bound {
    fn write(&mut self, transforms: &mut Query<&mut Transform>, tick: Tick) {
        self.held = false;
        let keeps = self.waiting.waits() && !self.holds;
        if !self.holds {
            self.differences.clear();
        }
        for (at, &joint) in self.turned.iter().enumerate() {
            let (bone, kept) = &mut self.joints[joint.index()];
            let solved = self.solved[joint.index()];
            // Bones that nothing turns any more get back what they had, to the bit.
            let local = match self.differences.get(at).filter(|_| self.holds) {
                Some(difference) => difference.of(&kept.base),
                None if solved => *self.pose.local(joint),
                None => kept.base,
            };
            if self.holds {
                self.pose.set_local(joint, local);
            }
            if keeps {
                self.differences.push(Difference { before: kept.base, after: local });
            }
            // What a solver refuses stays as it is.
            if (local != kept.base || kept.written.is_some()) && local.is_finite() {
                let Ok(mut transform) = transforms.get_mut(*bone) else { continue };
                if from_bevy(&transform) != local {
                    *transform = to_bevy(&local);
                    kept.written = Some(tick);
                }
            }
            if local == kept.base {
                kept.written = None;
            }
            self.held |= kept.written.is_some();
            // What was held for the last time need not be read again.
            self.unplanned |= !solved;
        }
    }
}

/// Ticks that grow too old would wrap around.
pub(crate) fn check_ticks(check: On<CheckChangeTicks>, mut characters: Query<&mut IkBinding>) {
    for mut binding in &mut characters {
        let kept = binding.bypass_change_detection().bound.as_deref_mut();
        for tick in
            kept.into_iter().flat_map(|bound| &mut bound.joints).filter_map(|(_, kept)| kept.written.as_mut())
        {
            tick.check_tick(*check);
        }
    }
}
