//! Building of a document from a skeleton, a mesh and clips.

use std::sync::Arc;

use glam::{Mat3, Quat, Vec3};
use serde_json::{Value, json};
use sinew::{
    JointId, Pose, Skeleton, SkeletonError, SolveError,
    motion::{BakeError, Clip, ClipError, JointTracks, TrackError},
    solve::TwoBoneError,
};
use thiserror::Error;

use super::{Mesh, Vertex};
use crate::{FileError, gltf::Document};

/// Failure to build a document.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The skeleton has more joints than a skin's 16-bit indices count.
    #[error("{count} joints are more than the 65,536 that a glTF skin can name")]
    TooManyJoints {
        /// Number of joints.
        count: usize,
    },
    /// A joint's transform in the rest pose has no inverse.
    #[error("joint {joint} `{name}` has scale 0 in the rest pose, so that it cannot carry a skin")]
    Flat {
        /// Joint.
        joint: JointId,
        /// Name of the joint.
        name: String,
    },
    /// The mesh has no triangle.
    #[error("the mesh has no triangle")]
    NoTriangles,
    /// The clip cannot be added to the document.
    #[error(transparent)]
    File(#[from] FileError),
    /// The skeleton is invalid.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// A track is invalid.
    #[error(transparent)]
    Track(#[from] TrackError),
    /// A clip is invalid.
    #[error(transparent)]
    Clip(#[from] ClipError),
    /// The frames cannot be baked into a clip.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// The joints of a leg are no limb.
    #[error(transparent)]
    Limb(#[from] TwoBoneError),
    /// A leg cannot be solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// Binary buffer with its views and accessors.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

impl Buffer {
    /// Adds bytes with an accessor, alone in its view, and returns the accessor's index.
    fn add(&mut self, bytes: &[u8], target: Option<u32>, accessor: Value) -> usize {
        let mut view = json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()});
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.bytes.extend_from_slice(bytes);
        // Accessors start at multiples of their component's size.
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut accessor = accessor;
        accessor["bufferView"] = self.views.len().into();
        self.views.push(view);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn floats<const N: usize>(&mut self, rows: &[[f32; N]], kind: &str, target: Option<u32>) -> usize {
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        self.add(&bytes, target, json!({"componentType": FLOAT, "count": rows.len(), "type": kind}))
    }

    /// Adds floats as [`Self::floats`], with the minimum and maximum that positions must have.
    fn bounded<const N: usize>(&mut self, rows: &[[f32; N]], kind: &str, target: Option<u32>) -> usize {
        let index = self.floats(rows, kind, target);
        let fold = |start: f32, f: fn(f32, f32) -> f32| -> Vec<f32> {
            (0..N).map(|i| rows.iter().map(|r| r[i]).fold(start, f)).collect()
        };
        self.accessors[index]["min"] = json!(fold(f32::INFINITY, f32::min));
        self.accessors[index]["max"] = json!(fold(f32::NEG_INFINITY, f32::max));
        index
    }
}

/// Builds a document with the skeleton as its nodes, the mesh skinned to its joints, and the clips as its animations. The
/// scene and the mesh are called `name`.
///
/// # Errors
/// More than 65,536 joints, a joint of scale 0 in the rest pose, a mesh without triangles, and clips of another skeleton.
pub fn document(
    name: &str,
    skeleton: &Arc<Skeleton>,
    mesh: &Mesh,
    clips: &[Clip],
) -> Result<Document, BuildError> {
    let count = skeleton.len();
    if count > 1 << 16 {
        return Err(BuildError::TooManyJoints { count });
    }
    if mesh.parts.iter().all(|p| p.triangles.is_empty()) {
        return Err(BuildError::NoTriangles);
    }
    let mut buffer = Buffer::default();
    let mut nodes: Vec<Value> = skeleton.joints().map(|j| node(skeleton, j)).collect();
    let mut roots: Vec<usize> =
        skeleton.joints().filter(|&j| skeleton.parent(j).is_none()).map(JointId::index).collect();
    if roots.len() > 1 {
        // The joints of a skin must have one root in common.
        nodes.push(json!({"name": "armature", "children": roots}));
        roots = vec![nodes.len() - 1];
    }
    let skeleton_root = roots[0];
    nodes.push(json!({"name": name, "mesh": 0, "skin": 0}));
    roots.push(nodes.len() - 1);

    let inverse = inverse_binds(skeleton)?;
    let inverse = buffer.floats(&inverse, "MAT4", None);
    let parts: Vec<_> = mesh.parts.iter().filter(|p| !p.triangles.is_empty()).collect();
    let primitives: Vec<Value> = parts
        .iter()
        .enumerate()
        .map(|(material, part)| {
            let attributes = attributes(&mut buffer, &part.vertices);
            let indices = indices(&mut buffer, &part.triangles);
            json!({"attributes": attributes, "indices": indices, "material": material})
        })
        .collect();
    let materials: Vec<Value> = parts
        .iter()
        .map(|p| {
            let [r, g, b] = p.color.rgb;
            json!({
                "name": p.color.name,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [r, g, b, 1.0],
                    "metallicFactor": 0.0,
                    "roughnessFactor": p.color.roughness,
                },
            })
        })
        .collect();
    let json = json!({
        "asset": {"version": "2.0", "generator": "sinew"},
        "scene": 0,
        "scenes": [{"name": name, "nodes": roots}],
        "nodes": nodes,
        "skins": [{
            "name": name,
            "inverseBindMatrices": inverse,
            "skeleton": skeleton_root,
            "joints": (0..count).collect::<Vec<_>>(),
        }],
        "meshes": [{"name": name, "primitives": primitives}],
        "materials": materials,
        "accessors": buffer.accessors,
        "bufferViews": buffer.views,
        "buffers": [{"byteLength": buffer.bytes.len()}],
    });
    let mut document = Document::from_json(json, Some(&buffer.bytes), name)?;
    for clip in clips {
        document.add_animation(&clip_of_nodes(&document, skeleton, clip)?, None)?;
    }
    Ok(document)
}

/// The clip for the skeleton that a reader finds in the document, in which joints may have other indices: a common root is
/// added above several roots.
fn clip_of_nodes(document: &Document, skeleton: &Skeleton, clip: &Clip) -> Result<Clip, BuildError> {
    let same = |joint: JointId| document.joint_of_node(joint.index()) == Some(joint.index());
    if skeleton.joints().all(same) {
        return Ok(clip.clone());
    }
    let read = document.clone().into_model()?.skeleton;
    let tracks = clip.tracks().iter().map(|tracks| {
        let index = document.joint_of_node(tracks.joint.index());
        let joint = index.and_then(|i| read.joint_at(i)).ok_or_else(|| ClipError::NoSuchJoint {
            clip: clip.name().into(),
            joint: tracks.joint,
            count: skeleton.len(),
        })?;
        Ok(JointTracks { joint, ..tracks.clone() })
    });
    let tracks = tracks.collect::<Result<Vec<_>, ClipError>>()?;
    Ok(Clip::new(clip.name(), &read, tracks)?)
}

/// A joint as a node. Values that are glTF's defaults are left out.
fn node(skeleton: &Skeleton, joint: JointId) -> Value {
    let rest = skeleton.rest(joint);
    let mut node = json!({});
    if !skeleton.name(joint).is_empty() {
        node["name"] = skeleton.name(joint).into();
    }
    let children: Vec<usize> = skeleton.children(joint).map(JointId::index).collect();
    if !children.is_empty() {
        node["children"] = json!(children);
    }
    if rest.translation != Vec3::ZERO {
        node["translation"] = json!(rest.translation.to_array());
    }
    if rest.rotation != Quat::IDENTITY {
        node["rotation"] = json!(rest.rotation.to_array());
    }
    if rest.scale != Vec3::ONE {
        node["scale"] = json!(rest.scale.to_array());
    }
    node
}

/// For each joint, the matrix from model space in the rest pose to the joint's local space, by columns.
fn inverse_binds(skeleton: &Arc<Skeleton>) -> Result<Vec<[f32; 16]>, BuildError> {
    let pose = Pose::rest(skeleton);
    skeleton
        .joints()
        .map(|joint| {
            let model = pose.model(joint);
            let flat = || BuildError::Flat { joint, name: skeleton.name(joint).into() };
            let m: Mat3 = model.matrix3;
            if !m.determinant().is_normal() {
                return Err(flat());
            }
            let inverse = model.inverse();
            let (x, y, z, t) =
                (inverse.matrix3.x_axis, inverse.matrix3.y_axis, inverse.matrix3.z_axis, inverse.translation);
            let columns = [x.x, x.y, x.z, 0.0, y.x, y.y, y.z, 0.0, z.x, z.y, z.z, 0.0, t.x, t.y, t.z, 1.0];
            if columns.iter().all(|c| c.is_finite()) { Ok(columns) } else { Err(flat()) }
        })
        .collect()
}

fn attributes(buffer: &mut Buffer, vertices: &[Vertex]) -> Value {
    let target = Some(ARRAY_BUFFER);
    let positions: Vec<_> = vertices.iter().map(|v| v.position.to_array()).collect();
    let normals: Vec<_> = vertices.iter().map(|v| v.normal.to_array()).collect();
    let weights: Vec<_> = vertices.iter().map(|v| v.joints.map(|j| j.1)).collect();
    // A joint without weight is written as 0, as the specification requires.
    let joints: Vec<u8> = vertices
        .iter()
        .flat_map(|v| v.joints.map(|(j, w)| if w > 0.0 { j.index() as u16 } else { 0 }))
        .flat_map(u16::to_le_bytes)
        .collect();
    json!({
        "POSITION": buffer.bounded(&positions, "VEC3", target),
        "NORMAL": buffer.floats(&normals, "VEC3", target),
        "JOINTS_0": buffer.add(&joints, target,
            json!({"componentType": UNSIGNED_SHORT, "count": vertices.len(), "type": "VEC4"})),
        "WEIGHTS_0": buffer.floats(&weights, "VEC4", target),
    })
}

fn indices(buffer: &mut Buffer, triangles: &[[u32; 3]]) -> usize {
    let flat = triangles.iter().flatten();
    let count = 3 * triangles.len();
    // 65,535 is the primitive restart value.
    let small = flat.clone().all(|&i| i < u16::MAX.into());
    let (bytes, component): (Vec<u8>, _) = if small {
        (flat.flat_map(|&i| (i as u16).to_le_bytes()).collect(), UNSIGNED_SHORT)
    } else {
        (flat.flat_map(|i| i.to_le_bytes()).collect(), UNSIGNED_INT)
    };
    let accessor = json!({"componentType": component, "count": count, "type": "SCALAR"});
    buffer.add(&bytes, Some(ELEMENT_ARRAY_BUFFER), accessor)
}
