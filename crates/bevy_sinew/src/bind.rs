//! Finds the bones of characters.

use std::{
    hash::{Hash, Hasher},
    sync::{Arc, Weak},
};

use bevy_animation::{AnimatedBy, AnimationTargetId};
use bevy_asset::{AssetEvent, AssetId, Assets};
use bevy_ecs::{
    change_detection::{DetectChanges, DetectChangesMut},
    entity::{Entity, EntityHashMap, EntityHashSet},
    hierarchy::{ChildOf, Children},
    lifecycle::{Discard, Insert, Remove},
    message::MessageReader,
    name::Name,
    observer::On,
    query::{Or, With},
    resource::Resource,
    system::{Commands, Query, Res, ResMut, SystemParam},
    world::EntityWorldMut,
};
use bevy_mesh::{
    Mesh, Mesh3d, VertexAttributeValues,
    skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
};
use bevy_transform::components::Transform;
use sinew::{
    JointId, JointTransform, Skeleton,
    body::{Skin, bind_locals},
    glam::{Affine3, DAffine3, Vec3},
    ground::plant::{Figure, Leg},
    math,
};
use tracing::warn;

use crate::{
    IkJoint, IkLayer, IkLimits, IkSkeleton,
    binding::{Bound, IkBinding, Kept, Kit},
    slot::{self, HasSlots, Kind, Slots, WithSlots},
    transform::{from_bevy, to_bevy},
};

/// Skeletons that characters share, by fingerprint.
#[derive(Resource, Default)]
pub(crate) struct Kits {
    known: std::collections::HashMap<u64, Vec<Weak<Kit>>>,
}

impl Kits {
    /// The kit of a skeleton, whose rest pose is the bind pose.
    fn share(
        &mut self,
        skeleton: Skeleton,
        declared: Vec<(String, JointId)>,
        meshes: Vec<AssetId<Mesh>>,
    ) -> Arc<Kit> {
        let known = self.known.entry(fingerprint(&skeleton)).or_default();
        known.retain(|kit| kit.strong_count() > 0);
        let same = |kit: &Arc<Kit>| {
            kit.declared == declared && kit.meshes == meshes && alike(&kit.skeleton, &skeleton)
        };
        if let Some(kit) = known.iter().filter_map(Weak::upgrade).find(same) {
            return kit;
        }
        let kit = Arc::new(Kit::new(skeleton, declared, meshes));
        known.push(Arc::downgrade(&kit));
        kit
    }
}

/// A hash of names and parents.
fn fingerprint(skeleton: &Skeleton) -> u64 {
    let mut hash = std::hash::DefaultHasher::new();
    for joint in skeleton.joints() {
        skeleton.name(joint).hash(&mut hash);
        skeleton.parent(joint).map(JointId::index).hash(&mut hash);
    }
    hash.finish()
}

/// Whether two skeletons differ by rounding only: a character that is bound while an animation plays has its bind pose from
/// matrices, another one has it from the same numbers as they were loaded.
fn alike(a: &Skeleton, b: &Skeleton) -> bool {
    const ROUNDING: f32 = 1e-5;
    let near =
        |a: Vec3, b: Vec3| (a - b).abs().max_element() <= ROUNDING * a.abs().max_element().max(ROUNDING);
    a.len() == b.len()
        && a.joints().all(|joint| {
            let (x, y) = (a.rest(joint), b.rest(joint));
            a.name(joint) == b.name(joint)
                && a.joint(joint) == b.joint(joint)
                && a.parent(joint) == b.parent(joint)
                && near(x.translation, y.translation)
                && near(x.scale, y.scale)
                && math::angle_between(x.rotation, y.rotation) <= 100.0 * ROUNDING
        })
}

/// The entities below a character.
#[derive(SystemParam)]
pub(crate) struct Below<'w, 's> {
    children: Query<'w, 's, &'static Children>,
    parents: Query<'w, 's, &'static ChildOf>,
    characters: Query<'w, 's, (), With<IkSkeleton>>,
    transforms: Query<'w, 's, &'static Transform>,
    names: Query<'w, 's, &'static Name>,
    skins: Query<'w, 's, &'static SkinnedMesh>,
    targets: Query<'w, 's, (), With<AnimationTargetId>>,
    handles: Query<'w, 's, (Option<&'static IkLayer>, HasSlots), WithSlots>,
    meshes: Query<'w, 's, (&'static SkinnedMesh, &'static Mesh3d)>,
    limits: Query<'w, 's, &'static IkLimits>,
}

impl Below<'_, '_> {
    /// All entities below, depth first, without those of other characters.
    fn all(&self, character: Entity) -> Vec<Entity> {
        let mut found = Vec::new();
        let mut stack = vec![character];
        while let Some(entity) = stack.pop() {
            if entity != character {
                if self.characters.contains(entity) {
                    continue;
                }
                found.push(entity);
            }
            if let Ok(children) = self.children.get(entity) {
                stack.extend(children.iter().rev());
            }
        }
        found
    }

    /// The bones among `below`, in the same order.
    fn bones(&self, character: Entity, below: &[Entity]) -> Vec<Entity> {
        let inside: EntityHashSet = below.iter().copied().collect();
        let mut marked = EntityHashSet::default();
        let skinned = below.iter().filter_map(|&entity| self.skins.get(entity).ok());
        marked.extend(
            skinned.flat_map(|skin| skin.joints.iter().copied()).filter(|joint| inside.contains(joint)),
        );
        if marked.is_empty() {
            marked.extend(below.iter().copied().filter(|&entity| self.targets.contains(entity)));
        }
        if marked.is_empty() {
            marked.extend(below.iter().copied().filter(|&entity| self.names.contains(entity)));
        }
        for bone in marked.iter().copied().collect::<Vec<_>>() {
            for above in self.parents.iter_ancestors(bone).take_while(|&above| above != character) {
                if !marked.insert(above) {
                    break;
                }
            }
        }
        // Transforms are not propagated through entities that have none.
        let mut bones: Vec<Entity> = Vec::new();
        let mut kept = EntityHashSet::default();
        for &bone in below.iter().filter(|bone| marked.contains(*bone)) {
            let Ok(above) = self.parents.get(bone) else { continue };
            if self.transforms.contains(bone)
                && (above.parent() == character || kept.contains(&above.parent()))
            {
                kept.insert(bone);
                bones.push(bone);
            }
        }
        bones
    }

    /// The components of inverse kinematics, the character's own too, in their order.
    fn slots(&self, character: Entity, below: &[Entity]) -> Vec<(IkLayer, Entity, Kind)> {
        let mut found = Vec::new();
        for entity in std::iter::once(character).chain(below.iter().copied()) {
            let Ok((layer, has)) = self.handles.get(entity) else { continue };
            let layer = layer.copied().unwrap_or_default();
            found.extend(slot::kinds_of(has).map(|kind| (layer, entity, kind)));
        }
        // Stable: those of one layer in the order of the tree.
        found.sort_by_key(|(layer, ..)| *layer);
        found
    }
}

pub(crate) fn bind(
    mut commands: Commands,
    mut characters: Query<(Entity, &IkSkeleton, &mut IkBinding)>,
    below: Below,
    joints: Query<&IkJoint>,
    inverse: Option<Res<Assets<SkinnedMeshInverseBindposes>>>,
    meshes: Option<Res<Assets<Mesh>>>,
    mut kits: ResMut<Kits>,
) {
    for (character, settings, mut binding) in &mut characters {
        let binding = binding.bypass_change_detection();
        if !binding.stale && !binding.stale_slots {
            continue;
        }
        let entities = below.all(character);
        if std::mem::take(&mut binding.stale) {
            let bones = below.bones(character, &entities);
            let fresh =
                fresh(&below, character, &entities, &bones, settings, binding, inverse.as_deref(), &mut kits);
            let old = binding.bound.take();
            for (&bone, index) in fresh.iter().flat_map(|bound| &bound.bones).zip(0..) {
                let joint = IkJoint { character, index };
                if joints.get(bone) != Ok(&joint) {
                    commands.entity(bone).try_insert(joint);
                }
            }
            let now: EntityHashSet = fresh.iter().flat_map(|bound| bound.bones.iter().copied()).collect();
            for &bone in old.iter().flat_map(|bound| &bound.bones).filter(|bone| !now.contains(*bone)) {
                if joints.get(bone).is_ok_and(|joint| joint.character == character) {
                    commands.entity(bone).try_remove::<IkJoint>();
                }
            }
            let gone = old.iter().flat_map(|bound| &bound.joints).filter(|(bone, _)| !now.contains(bone));
            gone.for_each(|&(bone, kept)| give_back(&mut commands, bone, kept));
            binding.bound = fresh.map(Box::new);
            binding.stale_slots = true;
        }
        if std::mem::take(&mut binding.stale_slots)
            && let Some(bound) = binding.bound.as_deref_mut()
        {
            let slots = below.slots(character, &entities);
            if slots.iter().any(|(.., kind)| *kind == Kind::Feet) {
                let measure =
                    || below.figure(character, &entities, bound, inverse.as_deref(), meshes.as_deref());
                bound.kit.figure.get_or_init(measure);
            }
            if slots.iter().any(|(.., kind)| *kind == Kind::Walk) {
                let measure = || below.skin(&entities, bound, inverse.as_deref(), meshes.as_deref()).0;
                bound.kit.skin.get_or_init(measure);
            }
            bound.set_slots(&slots);
        }
    }
}

/// The character's bones as they are now; `None` if there are none.
#[expect(clippy::too_many_arguments, reason = "all that a character is bound by")]
fn fresh(
    below: &Below,
    character: Entity,
    entities: &[Entity],
    bones: &[Entity],
    settings: &IkSkeleton,
    binding: &IkBinding,
    inverse: Option<&Assets<SkinnedMeshInverseBindposes>>,
    kits: &mut Kits,
) -> Option<Bound> {
    // What was written is not the animation's.
    let old: EntityHashMap<Kept> = (binding.bound.iter())
        .flat_map(|bound| bound.joints.iter().copied())
        .filter(|(_, kept)| kept.written.is_some())
        .collect();
    let mut builder = Skeleton::builder();
    let mut index = EntityHashMap::default();
    for &bone in bones {
        let local = old.get(&bone).map(|kept| kept.base);
        let local = local.or_else(|| Some(from_bevy(below.transforms.get(bone).ok()?)))?;
        let name =
            below.names.get(bone).map_or_else(|_| format!("bone {}", index.len()), |name| name.to_string());
        let parent = below.parents.get(bone).ok().and_then(|parent| index.get(&parent.parent()).copied());
        index.insert(bone, builder.add(name, parent, local));
    }
    if bones.is_empty() {
        return None;
    }
    let (skeleton, ids) = match builder.build() {
        Ok(built) => built,
        Err(error) => {
            warn!("the character {character} has no skeleton: {error}");
            return None;
        }
    };
    let id = |bone: &Entity| index.get(bone).and_then(|&at| ids.get(at).copied());

    let rest: Vec<JointTransform> = skeleton.joints().map(|joint| *skeleton.rest(joint)).collect();
    let mut frames: Vec<DAffine3> = Vec::with_capacity(rest.len());
    for (joint, local) in skeleton.joints().zip(&rest) {
        let above = skeleton.parent(joint).map_or(DAffine3::IDENTITY, |parent| frames[parent.index()]);
        frames.push(above * local.to_affine64());
    }
    let skins: Vec<Skin> = (entities.iter())
        .filter_map(|&mesh| {
            let skin = below.skins.get(mesh).ok()?;
            let matrices = inverse?.get(&skin.inverse_bindposes)?;
            Some(Skin {
                joints: skin.joints.iter().map(id).collect(),
                inverse_bind: matrices.iter().map(|m| DAffine3::from_mat4(m.as_dmat4())).collect(),
                nodes: vec![below.node(mesh, character)?],
            })
        })
        .collect();
    let (locals, _) = bind_locals(&skeleton, &frames, &skins);

    let declared = (settings.roles.iter())
        .filter_map(|given| match skeleton.joint_by_path(&given.bone) {
            Ok(joint) => Some((given.role.clone(), joint)),
            Err(error) => {
                warn!("the character {character} has no bone for the role {}: {error}", given.role);
                None
            }
        })
        .collect();
    let mut joints = vec![Entity::PLACEHOLDER; bones.len()];
    for bone in bones {
        joints[id(bone)?.index()] = *bone;
    }
    let kept: Vec<Kept> = (joints.iter().zip(&rest))
        .map(|(bone, &base)| old.get(bone).copied().unwrap_or_else(|| Kept::new(base)))
        .collect();
    // Characters that differ only by what plays at this moment share a skeleton: their rest pose is the bind pose.
    let mut shared = Skeleton::builder();
    for joint in skeleton.joints() {
        shared.add(skeleton.name(joint), skeleton.parent(joint).map(JointId::index), locals[joint.index()]);
    }
    let mut skeleton = shared.build().map_or(skeleton, |(shared, _)| shared);
    for (bone, index) in joints.iter().zip(0..) {
        let Some((limits, joint)) = below.limits.get(*bone).ok().zip(skeleton.joint_at(index)) else {
            continue;
        };
        if let Err(error) = skeleton.set_joint(joint, limits.joint()) {
            warn!("the IkLimits of the bone {bone} of the character {character} do not count: {error}");
        }
    }
    let skinned = entities.iter().filter_map(|&entity| below.meshes.get(entity).ok());
    let mut meshes: Vec<AssetId<Mesh>> = skinned.map(|(_, mesh)| mesh.id()).collect();
    meshes.sort_unstable();
    Some(Bound::new(kits.share(skeleton, declared, meshes), joints, &kept))
}

impl Below<'_, '_> {
    /// The transform of an entity below a character, in the character's space.
    fn node(&self, entity: Entity, character: Entity) -> Option<DAffine3> {
        let local = |entity| Some(from_bevy(self.transforms.get(entity).ok()?).to_affine64());
        let mut frame = local(entity)?;
        for above in self.parents.iter_ancestors(entity).take_while(|&above| above != character) {
            frame = local(above)? * frame;
        }
        Some(frame)
    }
}

impl Below<'_, '_> {
    /// The body's pelvis, legs and soles.
    fn figure(
        &self,
        character: Entity,
        entities: &[Entity],
        bound: &Bound,
        inverse: Option<&Assets<SkinnedMeshInverseBindposes>>,
        meshes: Option<&Assets<Mesh>>,
    ) -> Result<Figure, String> {
        let body = bound.kit.body.as_ref().map_err(|error| format!("it has no legs: {error}"))?;
        let (skin, absent) = self.skin(entities, bound, inverse, meshes);
        let figure = Figure::of_body(&bound.kit.bind, body, &skin).map_err(|error| error.to_string())?;
        let bare = |leg: &Leg| !skin.iter().any(|(joint, _)| bound.kit.skeleton.is_below(*joint, leg.foot));
        if absent && figure.legs().iter().any(bare) {
            warn!(
                "the soles of the character {character} follow from its bones, as a mesh is not kept in main memory; `FootPlanting::sole` sets them"
            );
        }
        Ok(figure)
    }

    /// Vertices of the skinned meshes in the bind pose, each with its joint of largest weight; and whether some are missing.
    fn skin(
        &self,
        entities: &[Entity],
        bound: &Bound,
        inverse: Option<&Assets<SkinnedMeshInverseBindposes>>,
        meshes: Option<&Assets<Mesh>>,
    ) -> (Vec<(JointId, Vec3)>, bool) {
        let mut skin = Vec::new();
        let mut absent = false;
        for (skinned, mesh) in entities.iter().filter_map(|&entity| self.meshes.get(entity).ok()) {
            let matrices = inverse.and_then(|inverse| inverse.get(&skinned.inverse_bindposes));
            let Some((matrices, mesh)) = matrices.zip(meshes.and_then(|meshes| meshes.get(&mesh.0))) else {
                absent = true;
                continue;
            };
            let joints: Vec<Option<(JointId, Affine3)>> = (skinned.joints.iter().zip(matrices.iter()))
                .map(|(bone, inverse)| {
                    let index = bound.bones.iter().position(|joint| joint == bone)?;
                    let joint = bound.kit.skeleton.joint_at(index)?;
                    Some((joint, bound.kit.bind.model(joint) * Affine3::from_mat4(*inverse)))
                })
                .collect();
            absent |= vertices(mesh, &joints, &mut skin).is_none();
        }
        (skin, absent)
    }
}

/// Adds the vertices of a skinned mesh, each with its joint of largest weight and its place in the bind pose. `None` if the
/// mesh is not kept in main memory, or has none of the usual formats.
fn vertices(
    mesh: &Mesh,
    joints: &[Option<(JointId, Affine3)>],
    skin: &mut Vec<(JointId, Vec3)>,
) -> Option<()> {
    use VertexAttributeValues::{Float32x3, Float32x4, Uint8x4, Uint16x4, Unorm8x4, Unorm16x4};
    let Float32x3(positions) = mesh.try_attribute(Mesh::ATTRIBUTE_POSITION).ok()? else { return None };
    let indices: Vec<[u16; 4]> = match mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_INDEX).ok()? {
        Uint16x4(indices) => indices.clone(),
        Uint8x4(indices) => indices.iter().map(|four| four.map(u16::from)).collect(),
        _ => return None,
    };
    let weights: Vec<[f32; 4]> = match mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT).ok()? {
        Float32x4(weights) => weights.clone(),
        Unorm8x4(weights) => weights.iter().map(|four| four.map(f32::from)).collect(),
        Unorm16x4(weights) => weights.iter().map(|four| four.map(f32::from)).collect(),
        _ => return None,
    };
    for ((position, indices), weights) in positions.iter().zip(&indices).zip(&weights) {
        let most =
            (0..4).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).filter(|&most| weights[most] > 0.0);
        let joint = most.and_then(|most| joints.get(usize::from(indices[most])).copied().flatten());
        if let Some((joint, place)) = joint {
            skin.push((joint, place.transform_point3(Vec3::from_array(*position))));
        }
    }
    Some(())
}

/// Marks the character at or above an entity.
#[derive(SystemParam)]
pub(crate) struct Marker<'w, 's> {
    parents: Query<'w, 's, &'static ChildOf>,
    bindings: Query<'w, 's, &'static mut IkBinding>,
}

impl Marker<'_, '_> {
    fn mark(&mut self, entity: Entity, change: impl FnOnce(&mut IkBinding)) {
        let character = std::iter::once(entity)
            .chain(self.parents.iter_ancestors(entity))
            .find(|&above| self.bindings.contains(above));
        if let Some(mut binding) = character.and_then(|character| self.bindings.get_mut(character).ok()) {
            change(binding.bypass_change_detection());
        }
    }

    /// Marks the character above an entity that becomes a character, or is one no more.
    fn mark_above(&mut self, entity: Entity) {
        if let Ok(above) = self.parents.get(entity).map(ChildOf::parent) {
            self.mark(above, |binding| (binding.stale, binding.stale_slots) = (true, true));
        }
    }
}

/// Components by which an entity is a bone.
type Bones = (ChildOf, SkinnedMesh, AnimationTargetId, AnimatedBy, Name, IkLimits, IkSkeleton);

/// Components without which it is none, or another one.
type Lost = (SkinnedMesh, AnimationTargetId, AnimatedBy, IkLimits, IkJoint);

/// Components that matter when an entity is moved or despawned.
type Carried = Or<(With<IkJoint>, With<SkinnedMesh>, WithSlots)>;

pub(crate) fn bones_came(on: On<Insert<Bones>>, mut marker: Marker) {
    marker.mark(on.event().entity, |binding| (binding.stale, binding.stale_slots) = (true, true));
}

/// A bone of a character may become a character.
pub(crate) fn character_came(on: On<Insert<IkSkeleton>>, mut marker: Marker) {
    marker.mark_above(on.event().entity);
}

/// Also when entities are despawned.
pub(crate) fn bones_went(on: On<Remove<Lost>>, mut marker: Marker) {
    marker.mark(on.event().entity, |binding| binding.stale = true);
}

/// An entity that goes elsewhere, or is despawned.
pub(crate) fn moved_away(on: On<Discard<ChildOf>>, relevant: Query<(), Carried>, mut marker: Marker) {
    if relevant.contains(on.event().entity) {
        marker.mark(on.event().entity, |binding| (binding.stale, binding.stale_slots) = (true, true));
    }
}

pub(crate) fn slots_came(on: On<Insert<(Slots, IkLayer)>>, mut marker: Marker) {
    marker.mark(on.event().entity, |binding| binding.stale_slots = true);
}

pub(crate) fn slots_went(on: On<Remove<(Slots, IkLayer)>>, mut marker: Marker) {
    marker.mark(on.event().entity, |binding| binding.stale_slots = true);
}

/// Gives a bone that nothing has written since what it had before inverse kinematics.
fn give_back(commands: &mut Commands, bone: Entity, kept: Kept) {
    let (Some(tick), Ok(mut bone)) = (kept.written, commands.get_entity(bone)) else { return };
    bone.queue_silenced(move |mut bone: EntityWorldMut| {
        if let Some(mut transform) = bone.get_mut::<Transform>()
            && transform.last_changed() == tick
        {
            *transform = to_bevy(&kept.base);
        }
    });
}

/// Gives the bones back as the animation has them.
pub(crate) fn character_went(on: On<Remove<IkSkeleton>>, mut commands: Commands, mut marker: Marker) {
    let character = on.event().entity;
    marker.mark_above(character);
    if let Some(bound) = marker.bindings.get(character).ok().and_then(|binding| binding.bound.as_deref()) {
        for &(bone, kept) in &bound.joints {
            give_back(&mut commands, bone, kept);
        }
        for &bone in &bound.bones {
            commands.entity(bone).try_remove::<IkJoint>();
        }
    }
    commands.entity(character).try_remove::<IkBinding>();
}

/// Inverse bind matrices that come later than the bones, or are reloaded.
pub(crate) fn skins_changed(
    mut events: MessageReader<AssetEvent<SkinnedMeshInverseBindposes>>,
    skins: Query<(Entity, &SkinnedMesh)>,
    mut marker: Marker,
) {
    for event in events.read() {
        let (AssetEvent::Added { id } | AssetEvent::Modified { id }) = event else { continue };
        for (mesh, _) in skins.iter().filter(|(_, skin)| skin.inverse_bindposes.id() == *id) {
            marker.mark(mesh, |binding| binding.stale = true);
        }
    }
}
