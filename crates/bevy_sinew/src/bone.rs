//! Names of bones.

use bevy_ecs::entity::{Entity, EntityMapper, MapEntities};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::{JointId, JointPathError, body::Role};
use thiserror::Error;

use crate::binding::Bound;

/// A bone of a character, by role, name or entity.
///
/// ```
/// use bevy_sinew::IkBone;
/// use sinew::body::{Role, Side};
/// assert_eq!(IkBone::from(Role::Hand(Side::Left)), IkBone::Role("left hand".into()));
/// assert_eq!(IkBone::from("hand.L"), IkBone::Name("hand.L".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub enum IkBone {
    /// The role's name, such as `left hand`; see [`Role`]. The engine finds the roles of two-legged figures by names and
    /// shape.
    Role(String),
    /// The bone's [`Name`](bevy_ecs::name::Name). Where several have it, the end of its path: `arm.L/hand`.
    Name(String),
    /// The bone's entity.
    Entity(Entity),
}

impl Default for IkBone {
    /// An empty name, which no bone has.
    fn default() -> Self {
        Self::Name(String::new())
    }
}

impl From<Role> for IkBone {
    fn from(role: Role) -> Self {
        Self::Role(role.to_string())
    }
}

impl From<&str> for IkBone {
    fn from(name: &str) -> Self {
        Self::Name(name.into())
    }
}

impl From<Entity> for IkBone {
    fn from(entity: Entity) -> Self {
        Self::Entity(entity)
    }
}

impl MapEntities for IkBone {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        if let Self::Entity(entity) = self {
            *entity = mapper.get_mapped(*entity);
        }
    }
}

/// Bones of a character, from the root downwards.
#[derive(Clone, Debug, PartialEq, Eq, Default, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub struct IkBones(pub Vec<IkBone>);

impl MapEntities for IkBones {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.0.iter_mut().for_each(|bone| bone.map_entities(mapper));
    }
}

impl core::fmt::Display for IkBone {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Role(role) => write!(f, "the {role}"),
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Entity(entity) => write!(f, "the entity {entity}"),
        }
    }
}

/// Reasons why a bone is not found.
#[derive(Clone, Debug, PartialEq, Error)]
pub(crate) enum BoneError {
    #[error("there is no role `{given}`; near: {near}")]
    NoSuchRole { given: String, near: String },
    #[error("the {role} was not found: {why}")]
    NoRole { role: Role, why: String },
    #[error("{error}{near}")]
    NoSuchName { error: JointPathError, near: String },
    #[error("the entity {0} is not a bone of this character")]
    NotABone(Entity),
}

/// The names that are nearest to what was asked for, at most three.
fn nearest<'a>(given: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(&given.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(score, _)| *score > 0.7)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.dedup_by_key(|(_, name)| *name);
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

impl Bound {
    /// The joints of bones.
    pub fn find_all(&self, bones: &IkBones) -> Result<Vec<JointId>, String> {
        bones.0.iter().map(|bone| self.find(bone).map_err(|error| error.to_string())).collect()
    }

    /// The joint of a bone.
    pub fn find(&self, bone: &IkBone) -> Result<JointId, BoneError> {
        let skeleton = &self.kit.skeleton;
        match bone {
            IkBone::Entity(entity) => self
                .bones
                .iter()
                .position(|joint| joint == entity)
                .and_then(|index| skeleton.joint_at(index))
                .ok_or(BoneError::NotABone(*entity)),
            IkBone::Role(name) => {
                let Some(role) = Role::from_name(name) else {
                    let names: Vec<String> = Role::FIXED.iter().map(Role::to_string).collect();
                    let near = nearest(name, names.iter().map(String::as_str)).join(", ");
                    return Err(BoneError::NoSuchRole { given: name.clone(), near });
                };
                let body = self.kit.body.as_ref();
                let body = body.map_err(|error| BoneError::NoRole { role, why: error.to_string() })?;
                body.joint(role).ok_or_else(|| {
                    let doubts: Vec<String> = body.doubts.iter().map(ToString::to_string).collect();
                    let why =
                        if doubts.is_empty() { "no bone looks like it".into() } else { doubts.join("; ") };
                    BoneError::NoRole { role, why }
                })
            }
            IkBone::Name(name) => skeleton.joint_by_path(name).map_err(|error| {
                let near = nearest(name, skeleton.joints().map(|joint| skeleton.name(joint)));
                let near =
                    if near.is_empty() { String::new() } else { format!("; near: {}", near.join(", ")) };
                BoneError::NoSuchName { error, near }
            }),
        }
    }
}
