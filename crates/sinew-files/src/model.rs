//! What a file of a character holds, whatever its format.

use std::{path::Path, sync::Arc};

use glam::Vec3;
use sinew::{AffineError, JointId, JointTransform, Pose, Skeleton, motion::Clip};
use thiserror::Error;

use crate::{
    FileError,
    text::{shorten, tidy},
};

/// A character, creature or arm as read from a file.
#[derive(Clone, Debug)]
pub struct Model {
    /// Name of the file without its folder and ending.
    pub name: String,
    /// Every node of the file's scene, or every joint of a BVH, in metres and Y up. The rest pose is as the file has it.
    pub skeleton: Arc<Skeleton>,
    /// Every clip, in the file's order.
    pub clips: Vec<Clip>,
    /// Clips that the file holds but that cannot be played, in the file's order; empty for most files.
    pub problems: Vec<ClipProblem>,
    /// Local transforms in the bind pose, in the skeleton's order: where a skin's inverse bind matrices differ from the
    /// rest pose, theirs; elsewhere the rest pose.
    pub bind: Vec<JointTransform>,
    /// What skins say of the bind pose that it cannot have, in the file's order; empty for most files.
    pub bind_problems: Vec<BindProblem>,
    /// The skinned mesh's vertices, each in the space of the joint that moves it most (in bind space, so that the bind
    /// pose's model transform of the joint takes it to where the mesh was made).
    pub skin: Vec<SkinVertex>,
    /// Humanoid roles that the file itself declares (VRM), under VRM 1.0's bone names (`hips`, `leftUpperLeg`, ...).
    pub declared_roles: Vec<(String, JointId)>,
    /// The document itself, for writing it back.
    pub source: Source,
}

/// A clip that cannot be played. The rest of the file is sound, so that this is an error only for whom the clip is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipProblem {
    /// The clip's name.
    pub clip: String,
    /// The place in the file (a JSON path such as `animations[2].channels[0]`, or a line).
    pub at: String,
    /// What is wrong.
    pub what: String,
}

impl std::fmt::Display for ClipProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: clip `{}`: {}", tidy(&self.at), shorten(&self.clip), tidy(&self.what))
    }
}

/// What a skin's inverse bind matrix says of a joint that the bind pose cannot have. The rest of the bind pose is sound.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("skins[{skin}]: joint {joint} `{name}`: {fault}")]
pub struct BindProblem {
    /// Index of the skin.
    pub skin: usize,
    /// The joint.
    pub joint: JointId,
    /// Its name, of which a long one is cut.
    pub name: String,
    /// What is wrong.
    pub fault: BindFault,
}

/// What is wrong with an inverse bind matrix.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BindFault {
    /// The joint is bound as the rest pose has it.
    #[error("the inverse bind matrix has no inverse (its determinant is {determinant})")]
    Singular {
        /// Its determinant.
        determinant: f64,
    },
    /// The joint is bound by the nearest rotation and scale.
    #[error("bound by no translation, rotation and scale: {0}")]
    Sheared(AffineError),
    /// The skin that comes first counts.
    #[error("bound {distance} m and {angle} rad from where skins[{first}] has it")]
    Disagrees {
        /// The skin that counts.
        first: usize,
        /// Distance between the two places, in metres.
        distance: f32,
        /// Angle between the two rotations, in radians.
        angle: f32,
    },
}

/// One vertex of a skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinVertex {
    /// The joint with the largest weight.
    pub joint: JointId,
    /// That weight, 0 to 1.
    pub weight: f32,
    /// Place in the joint's own space.
    pub position: Vec3,
}

/// The document that a model was read from.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // One stands in a whole model; a box would save nothing.
pub enum Source {
    /// glTF, GLB or VRM.
    Gltf(crate::gltf::Document),
    /// BVH.
    Bvh(crate::bvh::Bvh),
}

/// Which axis of a file points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum UpAxis {
    /// As glTF has it.
    #[default]
    Y,
    /// As many modelling programs have it: (x, y, z) becomes (x, z, -y).
    Z,
}

/// How a file is read: what it does not say of itself, how much it may hold, and what it may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadOptions {
    /// Metres a unit, for formats that do not say (BVH, OBJ).
    pub scale: f32,
    /// Which axis points up, for formats that do not say.
    pub up: UpAxis,
    /// Bytes of memory that the file's content may take. By default (none) 16 times the bytes of all files that are read,
    /// and 256 MiB at least. A file that asks for more is an error: a few bytes of a file can stand for any amount of
    /// content.
    pub memory_budget: Option<u64>,
    /// Lets a glTF name buffers and images outside of its own folder: by `..`, by links, by absolute paths and `file:`
    /// URIs. False by default, as a file of unknown origin could otherwise take any file of the machine into what is
    /// written.
    pub allow_outside: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { scale: 1.0, up: UpAxis::Y, memory_budget: None, allow_outside: false }
    }
}

impl Model {
    /// Reads .glb, .gltf, .vrm or .bvh, told apart by ending.
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Self, FileError> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        match ending.as_str() {
            "glb" | "gltf" | "vrm" => crate::gltf::read(path, options),
            "bvh" => crate::bvh::read(path, options),
            _ => Err(FileError::Ending { path: path.into(), wanted: ".glb, .gltf, .vrm or .bvh" }),
        }
    }

    /// The bind pose: where the mesh was made. It is the rest pose where the file has no skin; see
    /// [`bind_problems`](Self::bind_problems) for what skins say that it cannot have.
    pub fn bind_pose(&self) -> Pose {
        let mut pose = Pose::rest(&self.skeleton);
        // (Readers give as many as there are joints; who changed the list by hand gets the rest pose.)
        let _ = pose.set_locals(&self.bind);
        pose
    }

    /// The skinned mesh's vertices in model space as a pose has them, each carried by the joint that moves it most.
    pub fn skin_points(&self, pose: &Pose) -> Vec<(JointId, Vec3)> {
        self.skin.iter().map(|v| (v.joint, pose.model(v.joint).transform_point3(v.position))).collect()
    }
}
