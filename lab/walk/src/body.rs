//! A creature in a written file: legs, soles and the vertices of its trunk, by the judge's own names.

use gltf::Semantic;
use plant::{
    accessor,
    maths::{Affine, V3, v3},
    scene::Scene,
};

use crate::cases::Creature;

/// A leg.
pub struct Leg {
    /// 0 on the left, 1 on the right.
    pub side: usize,
    /// Place from the front on its side.
    pub order: usize,
    /// Nodes from the first to the last joint.
    pub nodes: Vec<usize>,
    /// Points of the sole in the space of the last joint.
    pub sole: Vec<V3>,
    /// Length of the bones.
    pub length: f64,
    /// Bend of each inner joint in the rest pose, as an axis in its parent's space with the length of the angle.
    pub bends: Vec<V3>,
}

/// A creature.
pub struct Body {
    /// Its legs.
    pub legs: Vec<Leg>,
    /// Node of the trunk.
    pub trunk: usize,
    /// Vertices of joints off the legs, each in the space of its joint.
    pub belly: Vec<(usize, V3)>,
}

impl Body {
    /// Finds a creature's legs by their names.
    pub fn new(scene: &Scene, creature: &Creature) -> Result<Self, String> {
        let worlds = scene.worlds(&scene.rest);
        let skin = skin(scene)?;
        let node = |pattern: &str, side: usize| {
            let name = pattern.replace('*', creature.sides[side]);
            let found = scene.names.iter().position(|n| *n == name);
            // The fox's names end in numbers.
            found
                .or_else(|| scene.names.iter().position(|n| n.starts_with(&format!("{name}_"))))
                .ok_or(format!("no joint {name}"))
        };
        let mut legs = Vec::new();
        for (order, (first, last)) in creature.legs.iter().enumerate() {
            for side in 0..2 {
                let (first, last) = (node(first, side)?, node(last, side)?);
                let mut nodes: Vec<usize> = std::iter::successors(Some(last), |n| scene.parents[*n])
                    .take_while(|n| *n != first)
                    .collect();
                nodes.push(first);
                nodes.reverse();
                let own: Vec<V3> = skin.iter().filter(|(j, _)| *j == last).map(|(_, p)| *p).collect();
                let height = |p: &V3| worlds[last].point(*p).y;
                let low = own.iter().map(height).fold(f64::MAX, f64::min);
                let mut sole: Vec<V3> =
                    own.iter().filter(|p| height(p) <= low + 1e-3 * creature.leg).copied().collect();
                if sole.is_empty() {
                    sole.push(v3(0.0, 0.0, 0.0));
                }
                let at = |n: usize| worlds[n].translation;
                let length = nodes.windows(2).map(|w| (at(w[1]) - at(w[0])).length()).sum();
                let bends =
                    (1..nodes.len().saturating_sub(1)).map(|k| bend(scene, &worlds, &nodes, k)).collect();
                legs.push(Leg { side, order, nodes, sole, length, bends });
            }
        }
        let trunk = scene.named(creature.trunk).ok_or(format!("no joint {}", creature.trunk))?;
        let roots: Vec<usize> = legs.iter().map(|l| l.nodes[0]).collect();
        let off = |j: usize| !roots.iter().any(|r| scene.below(j, *r));
        let belly = skin.into_iter().filter(|(j, _)| off(*j)).collect();
        Ok(Self { legs, trunk, belly })
    }
}

/// The bend of the k-th joint of a leg, as an axis in the space of the joint before it with the length of the angle.
pub fn bend(scene: &Scene, worlds: &[Affine], nodes: &[usize], k: usize) -> V3 {
    let at = |n: usize| worlds[n].translation;
    let u = (at(nodes[k]) - at(nodes[k - 1])).unit();
    let v = (at(nodes[k + 1]) - at(nodes[k])).unit();
    let (Some(u), Some(v)) = (u, v) else { return v3(0.0, 0.0, 0.0) };
    let angle = u.cross(v).length().atan2(u.dot(v));
    let axis = u.cross(v).unit().unwrap_or(v3(0.0, 0.0, 0.0)) * angle;
    let above = scene.parents[nodes[k]].map_or(Affine::IDENTITY, |p| worlds[p]);
    let local = above.inverse().vector(axis);
    local.unit().map_or(v3(0.0, 0.0, 0.0), |d| d * angle)
}

/// Vertices of all skins, each with its joint of largest weight, in that joint's space.
fn skin(scene: &Scene) -> Result<Vec<(usize, V3)>, String> {
    let mut found = Vec::new();
    for node in scene.document.nodes() {
        let (Some(mesh), Some(skin)) = (node.mesh(), node.skin()) else { continue };
        let joints: Vec<usize> = skin.joints().map(|j| j.index()).collect();
        let inverse = match skin.inverse_bind_matrices() {
            Some(a) => accessor::numbers(&a, &scene.buffers)?,
            None => Vec::new(),
        };
        for primitive in mesh.primitives() {
            let numbers = |s: Semantic| primitive.get(&s).map(|a| accessor::numbers(&a, &scene.buffers));
            let (Some(positions), Some(sets), Some(weights)) =
                (numbers(Semantic::Positions), numbers(Semantic::Joints(0)), numbers(Semantic::Weights(0)))
            else {
                continue;
            };
            let (positions, sets, weights) = (positions?, sets?, weights?);
            for (n, p) in positions.chunks_exact(3).enumerate() {
                let most =
                    (0..4).max_by(|a, b| weights[4 * n + a].total_cmp(&weights[4 * n + b])).unwrap_or(0);
                let joint = sets[4 * n + most] as usize;
                let p = v3(p[0], p[1], p[2]);
                let p = match inverse.get(16 * joint..16 * joint + 16) {
                    Some(m) => Affine::from_columns(m).point(p),
                    None => p,
                };
                found.push((joints[joint], p));
            }
        }
    }
    Ok(found)
}
