//! Model of a character, creature or arm, independent of the file's format.

use std::{path::Path, sync::Arc};

use glam::Vec3;
use sinew::{JointId, JointTransform, Pose, Skeleton, body::BindProblem, motion::Clip};

use crate::{
    FileError,
    text::{shorten, tidy},
};

/// Character, creature or arm that was read from a file.
#[derive(Clone, Debug)]
pub struct Model {
    /// Name of the file, without folder and extension.
    pub name: String,
    /// Skeleton of all nodes of the file's default scene, or of all joints of a BVH, in metres and Y up. Its rest pose is
    /// that of the file.
    pub skeleton: Arc<Skeleton>,
    /// Clips, in the file's order.
    pub clips: Vec<Clip>,
    /// Clips of the file that cannot be played, in the file's order; empty for most files.
    pub problems: Vec<ClipProblem>,
    /// Local transforms in the bind pose, in the skeleton's order: those of the skins' inverse bind matrices, or of the rest
    /// pose for joints without one.
    pub bind: Vec<JointTransform>,
    /// Values of skins that the bind pose cannot represent, in the file's order; empty for most files.
    pub bind_problems: Vec<BindProblem>,
    /// Vertices of the meshes, each in the local space of its joint of largest weight: the joint's model transform in the
    /// bind pose takes it to its position in the mesh as modelled.
    pub skin: Vec<SkinVertex>,
    /// Humanoid roles that the file declares (VRM), by VRM 1.0's bone names (`hips`, `leftUpperLeg`, ...).
    pub declared_roles: Vec<(String, JointId)>,
    /// The document that the model was read from, for writing it back.
    pub source: Source,
}

/// Clip that cannot be played. It is an error only if the clip is used, as the rest of the file is valid.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipProblem {
    /// Name of the clip.
    pub clip: String,
    /// Position in the file: a JSON path such as `animations[2].channels[0]`, or a line.
    pub at: String,
    /// Description of the error.
    pub what: String,
}

impl std::fmt::Display for ClipProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: clip `{}`: {}", tidy(&self.at), shorten(&self.clip), tidy(&self.what))
    }
}

/// Vertex of a skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinVertex {
    /// Joint with the largest weight.
    pub joint: JointId,
    /// Weight of that joint, 0 to 1.
    pub weight: f32,
    /// Position in the joint's local space, in metres.
    pub position: Vec3,
}

/// Document that a model was read from.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // A model has one; a box would save nothing.
pub enum Source {
    /// glTF, GLB or VRM.
    Gltf(crate::gltf::Document),
    /// BVH.
    Bvh(crate::bvh::Bvh),
}

/// Up axis of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum UpAxis {
    /// Y, as in glTF.
    #[default]
    Y,
    /// Z, as in many modelling programs: (x, y, z) becomes (x, z, -y).
    Z,
}

/// Options for reading a file: units and axes that it does not declare, and limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadOptions {
    /// Metres per unit, for formats that do not declare it (BVH, OBJ); greater than 0, 1 by default.
    pub scale: f32,
    /// Up axis, for formats that do not declare it (BVH, OBJ); Y by default.
    pub up: UpAxis,
    /// Bytes of memory that the file's content may take. `None`, the default, is 16 times the size of all files that are
    /// read, and at least 256 MiB. A file whose content takes more is an error, as a few bytes can stand for any amount of
    /// content.
    pub memory_budget: Option<u64>,
    /// Whether a glTF may read buffers and images outside of its folder, through `..`, links, absolute paths and `file:`
    /// URIs. False by default, as a file of unknown origin could otherwise copy any file of the machine into the output.
    pub allow_outside: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { scale: 1.0, up: UpAxis::Y, memory_budget: None, allow_outside: false }
    }
}

impl Model {
    /// Reads a .glb, .gltf, .vrm or .bvh file. The extension tells the format.
    ///
    /// # Errors
    /// Another extension, a path that is no readable regular file, a damaged file, a scale that is not positive, and content
    /// over the memory budget.
    pub fn read(path: &Path, options: &ReadOptions) -> Result<Self, FileError> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        match ending.as_str() {
            "glb" | "gltf" | "vrm" => crate::gltf::read(path, options),
            "bvh" => crate::bvh::read(path, options),
            _ => Err(FileError::Ending { path: path.into(), wanted: ".glb, .gltf, .vrm or .bvh" }),
        }
    }

    /// The bind pose, in which the mesh was modelled; the rest pose if the file has no skin. See
    /// [`bind_problems`](Self::bind_problems) for values of skins that it cannot represent.
    pub fn bind_pose(&self) -> Pose {
        let mut pose = Pose::rest(&self.skeleton);
        // Readers give one transform per joint; a list of another length leaves the rest pose.
        let _ = pose.set_locals(&self.bind);
        pose
    }

    /// Positions of the skin's vertices in a pose, in model space in metres. Each follows its joint of largest weight alone.
    pub fn skin_points(&self, pose: &Pose) -> Vec<(JointId, Vec3)> {
        self.skin.iter().map(|v| (v.joint, pose.model(v.joint).transform_point3(v.position))).collect()
    }
}
