//! A written or given scene: nodes, clips, and forward kinematics, read with the crate `gltf`.

use std::{fmt::Display, path::Path};

use gltf::{Document, animation::Property, buffer};

use crate::{
    accessor,
    maths::{Affine, Quat, V3, v3},
    track::{Channel, Values},
};

/// Local transform of a node.
#[derive(Clone, Copy, Debug)]
pub enum Local {
    /// Three parts, which clips may move.
    Trs(V3, Quat, V3),
    /// A matrix, which stays as it is.
    Matrix(Affine),
}

impl Local {
    /// As a map.
    pub fn affine(&self) -> Affine {
        match self {
            Self::Trs(t, r, s) => Affine::trs(*t, *r, *s),
            Self::Matrix(m) => *m,
        }
    }
}

/// A clip: channels that move nodes.
#[derive(Clone, Debug)]
pub struct Clip {
    /// Its name, empty where it has none.
    pub name: String,
    /// Tracks of single properties.
    pub channels: Vec<Channel>,
    /// The writer's note.
    pub extras: Option<serde_json::Value>,
}

/// A glTF file with its nodes and clips in `f64`.
pub struct Scene {
    /// The document.
    pub document: Document,
    /// Its buffers' bytes.
    pub buffers: Vec<buffer::Data>,
    /// Node names, empty where there is none.
    pub names: Vec<String>,
    /// Parents.
    pub parents: Vec<Option<usize>>,
    /// The rest pose.
    pub rest: Vec<Local>,
    /// Every clip, in the file's order.
    pub clips: Vec<Clip>,
    /// Nodes so that parents come before their children.
    order: Vec<usize>,
}

impl Scene {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let says = |e: &dyn Display| format!("{}: {e}", path.display());
        let bytes = std::fs::read(path).map_err(|e| says(&e))?;
        Self::from_slice(&bytes, path.parent()).map_err(|e| says(&e))
    }

    /// Reads bytes; what they refer to lies in `folder`.
    pub fn from_slice(bytes: &[u8], folder: Option<&Path>) -> Result<Self, String> {
        let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(bytes).map_err(|e| e.to_string())?;
        let buffers = gltf::import_buffers(&document, folder, blob).map_err(|e| e.to_string())?;
        Self::new(document, buffers)
    }

    fn new(document: Document, buffers: Vec<buffer::Data>) -> Result<Self, String> {
        let count = document.nodes().len();
        let mut parents = vec![None; count];
        let (mut names, mut rest) = (Vec::new(), Vec::new());
        for node in document.nodes() {
            node.children().for_each(|c| parents[c.index()] = Some(node.index()));
            names.push(node.name().unwrap_or_default().to_owned());
            rest.push(match node.transform() {
                gltf::scene::Transform::Matrix { matrix } => Local::Matrix(Affine::from_columns(
                    &matrix.as_flattened().iter().map(|c| f64::from(*c)).collect::<Vec<_>>(),
                )),
                gltf::scene::Transform::Decomposed { translation, rotation, scale } => {
                    Local::Trs(vector(&translation), rotation.map(f64::from), vector(&scale))
                }
            });
        }
        let mut order: Vec<usize> = (0..count).filter(|i| parents[*i].is_none()).collect();
        let mut next = 0;
        while let Some(&i) = order.get(next) {
            order.extend(
                document
                    .nodes()
                    .nth(i)
                    .into_iter()
                    .flat_map(|n| n.children().map(|c| c.index()).collect::<Vec<_>>()),
            );
            next += 1;
        }
        let clips = document.animations().map(|a| clip(&a, &buffers)).collect::<Result<_, _>>()?;
        Ok(Self { names, parents, rest, clips, order, buffers, document })
    }

    /// The pose of a clip at a time, as local transforms.
    pub fn sample(&self, clip: &Clip, t: f64) -> Vec<Local> {
        let mut pose = self.rest.clone();
        for c in &clip.channels {
            let Some(Local::Trs(translation, rotation, scale)) = pose.get_mut(c.node) else { continue };
            match &c.values {
                Values::Translation(_) => *translation = c.vector(t),
                Values::Scale(_) => *scale = c.vector(t),
                Values::Rotation(_) => *rotation = c.rotation(t),
                Values::Weights => {}
            }
        }
        pose
    }

    /// World transforms of a pose.
    pub fn worlds(&self, pose: &[Local]) -> Vec<Affine> {
        let mut worlds = vec![Affine::IDENTITY; pose.len()];
        for &i in &self.order {
            let local = pose[i].affine();
            worlds[i] = self.parents[i].map_or(local, |p| worlds[p].after(&local));
        }
        worlds
    }

    /// Whether `node` is `ancestor` or hangs below it.
    pub fn below(&self, node: usize, ancestor: usize) -> bool {
        std::iter::successors(Some(node), |n| self.parents[*n])
            .take(self.parents.len())
            .any(|n| n == ancestor)
    }

    /// The first node of a name.
    pub fn named(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    /// Triangles in world space (rest pose) of a node's mesh and of the meshes below it.
    pub fn triangles(&self, root: usize) -> Result<Vec<[V3; 3]>, String> {
        let worlds = self.worlds(&self.rest);
        let mut triangles = Vec::new();
        for node in self.document.nodes().filter(|n| self.below(n.index(), root)) {
            let Some(mesh) = node.mesh() else { continue };
            for primitive in mesh.primitives() {
                if primitive.mode() != gltf::mesh::Mode::Triangles {
                    return Err(format!("mesh of {:?}: mode {:?}", node.name(), primitive.mode()));
                }
                let Some(positions) = primitive.get(&gltf::Semantic::Positions) else { continue };
                let points: Vec<V3> = accessor::numbers(&positions, &self.buffers)?
                    .chunks_exact(3)
                    .map(|c| worlds[node.index()].point(v3(c[0], c[1], c[2])))
                    .collect();
                let indices: Vec<usize> = match primitive.indices() {
                    Some(i) => {
                        accessor::numbers(&i, &self.buffers)?.into_iter().map(|i| i as usize).collect()
                    }
                    None => (0..points.len()).collect(),
                };
                for t in indices.chunks_exact(3) {
                    if t.iter().any(|i| *i >= points.len()) {
                        return Err(format!("mesh of {:?}: an index past the vertices", node.name()));
                    }
                    triangles.push([points[t[0]], points[t[1]], points[t[2]]]);
                }
            }
        }
        Ok(triangles)
    }
}

fn vector(v: &[f32; 3]) -> V3 {
    v3(v[0].into(), v[1].into(), v[2].into())
}

fn clip(animation: &gltf::Animation, buffers: &[buffer::Data]) -> Result<Clip, String> {
    let mut channels = Vec::new();
    for c in animation.channels() {
        let times = accessor::numbers(&c.sampler().input(), buffers)?;
        let flat = accessor::numbers(&c.sampler().output(), buffers)?;
        let vectors = || flat.chunks_exact(3).map(|c| v3(c[0], c[1], c[2])).collect::<Vec<_>>();
        let values = match c.target().property() {
            Property::Translation => Values::Translation(vectors()),
            Property::Scale => Values::Scale(vectors()),
            Property::Rotation => {
                Values::Rotation(flat.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect())
            }
            Property::MorphTargetWeights => Values::Weights,
        };
        channels.push(Channel::new(c.target().node().index(), c.sampler().interpolation(), times, values)?);
    }
    let extras = animation.extras().as_ref().and_then(|raw| serde_json::from_str(raw.get()).ok());
    Ok(Clip { name: animation.name().unwrap_or_default().to_owned(), channels, extras })
}
