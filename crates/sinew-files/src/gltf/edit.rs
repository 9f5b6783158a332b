//! Changes to a document: animations, meshes and poses.

use std::{collections::HashMap, sync::Arc};

use glam::{Quat, Vec3};
use serde_json::{Map, Value, json};
use sinew::{
    Pose,
    ground::TriangleMesh,
    motion::{Clip, Interpolation, Track},
};

use crate::FileError;

use super::{
    Document,
    buffer::{Buffer, Origin},
    placement,
};

const FLOAT: u32 = 5126;

impl Document {
    /// Adds a clip as the last animation, and returns its index. The clip must be for the skeleton that was read from this
    /// document. `extras` becomes the animation's `extras`.
    ///
    /// A `matrix` of a node that the clip moves is replaced by translation, rotation and scale, as glTF requires for
    /// animated nodes.
    ///
    /// # Errors
    /// A clip that moves a joint that the document does not have, or that begins before 0 s, as glTF has no such times; and a document
    /// whose lists are no arrays.
    pub fn add_animation(&mut self, clip: &Clip, extras: Option<Value>) -> Result<usize, FileError> {
        let (mut bytes, mut channels) = (Packer::default(), Vec::new());
        self.clip_channels(clip, &mut bytes, &mut channels)?;
        self.push_animation(clip.name(), bytes, channels, extras)
    }

    /// Packs the tracks of a clip.
    pub(super) fn clip_channels(
        &mut self,
        clip: &Clip,
        bytes: &mut Packer,
        channels: &mut Vec<(usize, &'static str, Value)>,
    ) -> Result<(), FileError> {
        let at = self.json.get("animations").and_then(Value::as_array).map_or(0, Vec::len);
        if clip.start() < 0.0 {
            let what = format!("the clip begins at {} s: glTF has no times below 0", clip.start());
            return Err(self.error(format!("animations[{at}]"), what));
        }
        let mut joints = Vec::with_capacity(clip.tracks().len());
        for tracks in clip.tracks() {
            let node = self.node(tracks.joint).ok_or_else(|| {
                self.error(
                    format!("animations[{at}]"),
                    format!(
                        "the clip moves joint {}, but the document has {}",
                        tracks.joint,
                        self.tree.nodes.len()
                    ),
                )
            })?;
            joints.push((node, tracks));
        }
        for &(node, _) in &joints {
            self.decompose_matrix(node)?;
        }
        for (node, tracks) in joints {
            let mut add =
                |path, sampler: Option<Value>| channels.extend(sampler.map(|sampler| (node, path, sampler)));
            add("translation", tracks.translation.as_ref().map(|t| bytes.vectors(t)));
            add("rotation", tracks.rotation.as_ref().map(|t| bytes.rotations(t)));
            add("scale", tracks.scale.as_ref().map(|t| bytes.vectors(t)));
        }
        Ok(())
    }

    /// Appends an animation of these channels: node, path and sampler, whose accessors count from 0.
    pub(super) fn push_animation(
        &mut self,
        name: &str,
        bytes: Packer,
        list: Vec<(usize, &str, Value)>,
        extras: Option<Value>,
    ) -> Result<usize, FileError> {
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        // The packer counts accessors from 0; the document appends them to its own.
        let first = self.push_packed(bytes, None)?;
        for (node, path, mut sampler) in list {
            for key in ["input", "output"] {
                let index = sampler.get(key).and_then(Value::as_u64).unwrap_or_default();
                sampler[key] = json!(first as u64 + index);
            }
            channels.push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
            samplers.push(sampler);
        }
        let mut animation = json!({"name": name, "samplers": samplers, "channels": channels});
        if let Some(extras) = extras {
            animation["extras"] = extras;
        }
        self.push("animations", animation)
    }

    /// Adds a mesh with flat faces of one colour (linear RGBA) as a root node of the default scene, and returns the node's
    /// index. Positions are in the scene's space, in metres, Y up. Triangles without an area are left out.
    ///
    /// # Errors
    /// A mesh that is invalid or has no triangle, and a document whose lists are no arrays.
    pub fn add_mesh_node(
        &mut self,
        name: &str,
        mesh: &TriangleMesh,
        color: [f32; 4],
    ) -> Result<usize, FileError> {
        mesh.check().map_err(|error| self.error(format!("meshes `{name}`"), error.to_string()))?;
        let (mut positions, mut normals) = (Vec::new(), Vec::new());
        for corners in &mesh.triangles {
            let [Some(a), Some(b), Some(c)] = corners.map(|i| mesh.positions.get(i as usize)) else {
                continue;
            };
            let (ab, ac) = ((*b - *a).as_dvec3(), (*c - *a).as_dvec3());
            let Some(normal) = ab.cross(ac).try_normalize() else { continue };
            positions.extend([a, b, c].map(Vec3::to_array));
            normals.extend([normal.as_vec3().to_array(); 3]);
        }
        let mut bytes = Packer::default();
        bytes.floats(&positions, "VEC3", true);
        bytes.floats(&normals, "VEC3", false);
        const ARRAY_BUFFER: u32 = 34962;
        let first = self.push_packed(bytes, Some(ARRAY_BUFFER))?;
        let material = self.push(
            "materials",
            json!({
                "name": name,
                "pbrMetallicRoughness": {
                    "baseColorFactor": color.map(|c| f64::from(c.clamp(0.0, 1.0))),
                    "metallicFactor": 0,
                    // Matt, so that the ground does not outshine the figure.
                    "roughnessFactor": 0.9,
                },
                "doubleSided": true,
            }),
        )?;
        let attributes = json!({"POSITION": first, "NORMAL": first + 1});
        let mesh = json!({"name": name, "primitives": [{"attributes": attributes, "material": material}]});
        let mesh = self.push("meshes", mesh)?;
        let node = self.push("nodes", json!({"name": name, "mesh": mesh}))?;
        self.tree.places.resize(node + 1, None);
        self.add_root(node)?;
        Ok(node)
    }

    /// Adds a new node to the default scene. Without a scene, one of all roots is made.
    pub(super) fn add_root(&mut self, node: usize) -> Result<(), FileError> {
        let count = self.json.get("scenes").and_then(Value::as_array).map_or(0, Vec::len);
        let scene = match self.json.get("scene").and_then(Value::as_u64) {
            Some(scene) => scene as usize,
            None if count > 0 => 0,
            None => {
                let roots = self.tree.nodes.iter().zip(&self.tree.parents);
                let roots: Vec<_> =
                    roots.filter(|(_, parent)| parent.is_none()).map(|(node, _)| *node).collect();
                let scene = self.push("scenes", json!({"nodes": roots}))?;
                self.json["scene"] = json!(scene);
                scene
            }
        };
        let object =
            self.json.get_mut("scenes").and_then(|s| s.get_mut(scene)).and_then(Value::as_object_mut);
        let nodes = object.map(|scene| scene.entry("nodes").or_insert_with(|| json!([])));
        match nodes.and_then(Value::as_array_mut) {
            Some(nodes) => nodes.push(json!(node)),
            None => {
                return Err(
                    self.error(format!("scenes[{scene}]"), "it must be a scene with an array of nodes")
                );
            }
        }
        Ok(())
    }

    /// Sets the nodes' transforms to those of a pose of the skeleton that was read from this document. Nodes in their rest
    /// pose stay unchanged.
    ///
    /// # Errors
    /// A pose with joints that the document does not have.
    pub fn set_pose(&mut self, pose: &Pose) -> Result<(), FileError> {
        for joint in pose.skeleton().joints() {
            let (local, rest) = (pose.local(joint), pose.skeleton().rest(joint));
            if local == rest {
                continue;
            }
            let Some(node) = self.node(joint) else {
                let what =
                    format!("the pose has joint {joint}, but the document has {}", self.tree.nodes.len());
                return Err(self.error("nodes", what));
            };
            self.decompose_matrix(node)?;
            let object =
                self.json.get_mut("nodes").and_then(|n| n.get_mut(node)).and_then(Value::as_object_mut);
            let Some(object) = object else { continue };
            if local.translation != rest.translation {
                object.insert("translation".into(), numbers(&local.translation.to_array()));
            }
            if local.rotation != rest.rotation {
                object.insert("rotation".into(), numbers(&local.rotation.to_array()));
            }
            if local.scale != rest.scale {
                object.insert("scale".into(), numbers(&local.scale.to_array()));
            }
        }
        Ok(())
    }

    /// Replaces a node's `matrix` by translation, rotation and scale.
    pub(super) fn decompose_matrix(&mut self, node: usize) -> Result<(), FileError> {
        let Some(place) = self.root().get("nodes").and_then(|list| list.element(node)) else { return Ok(()) };
        if place.get("matrix").is_none() {
            return Ok(());
        }
        let parts = placement::transform(&place)?;
        let object = self.json.get_mut("nodes").and_then(|n| n.get_mut(node)).and_then(Value::as_object_mut);
        if let Some(object) = object {
            object.shift_remove("matrix");
            object.insert("translation".into(), numbers(&parts.translation.to_array()));
            object.insert("rotation".into(), numbers(&parts.rotation.to_array()));
            object.insert("scale".into(), numbers(&parts.scale.to_array()));
        }
        Ok(())
    }

    pub(super) fn error(&self, at: impl Into<String>, what: impl Into<String>) -> FileError {
        FileError::At { path: self.path.clone(), at: at.into(), what: what.into() }
    }

    /// Appends a value to one of the document's lists, and returns its index.
    pub(super) fn push(&mut self, list: &str, value: Value) -> Result<usize, FileError> {
        let entry = match self.json.as_object_mut() {
            Some(root) => root.entry(list).or_insert_with(|| json!([])),
            None => return Err(self.error("JSON", "it must be an object")),
        };
        match entry.as_array_mut() {
            Some(array) => {
                array.push(value);
                Ok(array.len() - 1)
            }
            None => Err(self.error(list, "it must be an array")),
        }
    }

    /// Appends packed data, in a buffer view of its own, with its accessors. Returns the index of the first accessor.
    fn push_packed(&mut self, packed: Packer, target: Option<u32>) -> Result<usize, FileError> {
        let length = packed.bytes.len();
        let (buffer, offset) = self.append(packed.bytes)?;
        let mut view = json!({"buffer": buffer, "byteOffset": offset, "byteLength": length});
        if let Some(target) = target {
            view["target"] = json!(target);
            // Vertex attributes that share a view must have a stride.
            view["byteStride"] = json!(12);
        }
        let view = self.push("bufferViews", view)?;
        let first = self.json.get("accessors").and_then(Value::as_array).map_or(0, Vec::len);
        for mut accessor in packed.accessors {
            accessor.insert("bufferView".into(), json!(view));
            self.push("accessors", Value::Object(accessor))?;
        }
        Ok(first)
    }

    /// Appends bytes to the document's own buffer (that of a GLB), or to a new one. Returns the buffer's index and the
    /// offset. Buffers in files and data URIs stay unchanged.
    fn append(&mut self, bytes: Vec<u8>) -> Result<(usize, usize), FileError> {
        let own = self.buffers.iter().position(|b| b.origin == Origin::Chunk && b.bytes.is_some());
        let Some(index) = own else {
            let index = self.push("buffers", json!({"byteLength": bytes.len()}))?;
            self.buffers.push(Buffer { bytes: Some(Arc::new(bytes)), origin: Origin::Chunk });
            return Ok((index, 0));
        };
        let Some(held) = self.buffers.get_mut(index).and_then(|b| b.bytes.as_mut()) else {
            return Ok((index, 0));
        };
        let held = Arc::make_mut(held);
        let offset = held.len().next_multiple_of(4);
        held.resize(offset, 0);
        held.extend(bytes);
        let length = held.len();
        if let Some(buffer) = self.json.get_mut("buffers").and_then(|b| b.get_mut(index)) {
            buffer["byteLength"] = json!(length);
        }
        Ok((index, offset))
    }
}

/// The values as JSON numbers that read back as the same f32.
pub(super) fn numbers(values: &[f32]) -> Value {
    values.iter().map(|&x| Value::from(f64::from(x))).collect()
}

/// Packed floats, with their accessors, which count from 0.
#[derive(Default)]
pub(super) struct Packer {
    bytes: Vec<u8>,
    accessors: Vec<Map<String, Value>>,
    /// Accessors of key times, by the bits of the times.
    times: HashMap<Vec<u32>, usize>,
}

impl Packer {
    fn floats<const N: usize>(&mut self, values: &[[f32; N]], kind: &str, bounds: bool) -> usize {
        let mut accessor = Map::new();
        accessor.insert("byteOffset".into(), json!(self.bytes.len()));
        accessor.insert("componentType".into(), json!(FLOAT));
        accessor.insert("count".into(), json!(values.len()));
        accessor.insert("type".into(), json!(kind));
        if bounds {
            let fold = |start: f32, pick: fn(f32, f32) -> f32| {
                numbers(&std::array::from_fn::<f32, N, _>(|i| {
                    values.iter().fold(start, |m, v| pick(m, v[i]))
                }))
            };
            accessor.insert("min".into(), fold(f32::INFINITY, f32::min));
            accessor.insert("max".into(), fold(f32::NEG_INFINITY, f32::max));
        }
        self.bytes.extend(values.iter().flatten().flat_map(|x| x.to_le_bytes()));
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// A sampler of a track of vectors.
    pub(super) fn vectors(&mut self, track: &Track<Vec3>) -> Value {
        self.sampler(track, "VEC3", |v: Vec3| v.to_array())
    }

    /// A sampler of a track of rotations.
    pub(super) fn rotations(&mut self, track: &Track<Quat>) -> Value {
        self.sampler(track, "VEC4", |q: Quat| q.to_array())
    }

    fn sampler<T: sinew::motion::TrackValue, const N: usize>(
        &mut self,
        track: &Track<T>,
        kind: &str,
        array: impl Fn(T) -> [f32; N],
    ) -> Value {
        let bits: Vec<u32> = track.times().iter().map(|t| t.to_bits()).collect();
        let input = match self.times.get(&bits) {
            Some(&input) => input,
            None => {
                let times: Vec<[f32; 1]> = track.times().iter().map(|&t| [t]).collect();
                let input = self.floats(&times, "SCALAR", true);
                self.times.insert(bits, input);
                input
            }
        };
        let values: Vec<[f32; N]> = track.values().iter().map(|&v| array(v)).collect();
        let output = self.floats(&values, kind, false);
        let interpolation = match track.interpolation() {
            Interpolation::Step => "STEP",
            Interpolation::Linear => "LINEAR",
            Interpolation::Cubic => "CUBICSPLINE",
        };
        json!({"input": input, "interpolation": interpolation, "output": output})
    }
}
