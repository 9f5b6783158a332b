//! Figures at rest: legs, named by hand, and soles, from the mesh.

use crate::{
    accessor,
    maths::{V3, v3},
    scene::Scene,
};

/// A joint as the table below names it.
#[derive(Clone, Copy, Debug)]
pub enum Joint {
    /// By name.
    Name(&'static str),
    /// By node index, where nodes have no names.
    Index(usize),
}

impl Joint {
    /// Its node in a written file.
    pub fn find(self, scene: &Scene) -> Result<usize, String> {
        match self {
            Self::Name(n) => scene.named(n).ok_or_else(|| format!("no joint {n:?} in the written file")),
            Self::Index(i) if i < scene.names.len() => Ok(i),
            Self::Index(i) => Err(format!("no node {i} in the written file")),
        }
    }
}

/// The joints of one leg: thigh, shin, foot, toes.
#[derive(Clone, Debug)]
pub struct Leg {
    /// `left` or `right`.
    pub side: &'static str,
    /// Thigh (hip), shin (knee), foot (ankle).
    pub joints: [usize; 3],
    /// Toes, where there are any.
    pub toe: Option<usize>,
    /// Metres a unit of the offsets of thigh, shin, foot and toes, by the rest pose.
    pub units: Vec<f64>,
    /// Length of thigh and shin in the rest pose, metres.
    pub length: f64,
    /// Where the sole meets the floor, in the foot joint's space.
    pub heel: V3,
    /// The same under the ball, in the foot joint's space.
    pub ball: V3,
    /// The foremost point of the sole, in the space of the toes (of the foot, without toes).
    pub tip: V3,
}

/// A figure's legs and size.
pub struct Figure {
    /// Left and right.
    pub legs: [Leg; 2],
    /// Height in metres.
    pub height: f64,
}

/// Legs as the table names them: left then right, thigh to toes.
pub type Names = [[Joint; 4]; 2];

/// A skin's vertex: the joint that moves it most, and where it is in the rest pose.
struct Vertex {
    joint: usize,
    place: V3,
}

impl Figure {
    /// Measures a figure in its rest pose. `bare` says that what was given had no mesh: one in the file is only for show.
    pub fn new(scene: &Scene, names: &Names, bare: bool) -> Result<Self, String> {
        let worlds = scene.worlds(&scene.rest);
        let at = |n: usize| worlds[n].translation;
        let find = |j: Joint| j.find(scene);
        let skin = if bare { Vec::new() } else { skin(scene)? };
        let mut found = Vec::new();
        for leg in names {
            found.push((find(leg[0])?, find(leg[1])?, find(leg[2])?, find(leg[3]).ok()));
        }
        let below = |joint: usize, foot: usize| scene.below(joint, foot);
        // Without a mesh both feet stand on one floor: the lowest of their toe joints and ends.
        let bare_floor = found
            .iter()
            .flat_map(|f| (0..worlds.len()).filter(|n| *n != f.2 && below(*n, f.2)))
            .map(|n| at(n).y)
            .fold(f64::MAX, f64::min);
        let mut legs = Vec::new();
        for (i, &(hip, knee, foot, toe)) in found.iter().enumerate() {
            let length = (at(knee) - at(hip)).length() + (at(foot) - at(knee)).length();
            let own: Vec<V3> = skin.iter().filter(|v| below(v.joint, foot)).map(|v| v.place).collect();
            let sole = if own.is_empty() {
                if bare_floor == f64::MAX {
                    return Err("a foot with neither mesh nor toes".into());
                }
                let reach = |n: &usize| (at(*n) - at(foot)).flat().length();
                let ends = (0..worlds.len()).filter(|n| below(*n, toe.unwrap_or(foot)));
                let end = ends.max_by(|a, b| reach(a).total_cmp(&reach(b))).unwrap_or(foot);
                bare_sole(at(foot), toe.map(at), at(end), bare_floor)
            } else {
                mesh_sole(&own, at(foot), toe.map(at), length)?
            };
            let into = |n: usize, p: V3| worlds[n].inverse().point(p);
            let unit = |n: usize| {
                scene.parents[n]
                    .map_or(1.0, |p| worlds[p].columns.map(V3::length).into_iter().fold(0.0, f64::max))
            };
            legs.push(Leg {
                side: if i == 0 { "left" } else { "right" },
                joints: [hip, knee, foot],
                toe,
                units: [hip, knee, foot].into_iter().chain(toe).map(unit).collect(),
                length,
                heel: into(foot, sole[0]),
                ball: into(foot, sole[1]),
                tip: into(toe.unwrap_or(foot), sole[2]),
            });
        }
        let heights: Vec<f64> = if skin.is_empty() {
            let hips = found[0].0;
            let root = std::iter::successors(Some(hips), |n| scene.parents[*n])
                .take(worlds.len())
                .last()
                .unwrap_or(hips);
            (0..worlds.len()).filter(|n| below(*n, root) && *n != root).map(|n| at(n).y).collect()
        } else {
            skin.iter().map(|v| v.place.y).collect()
        };
        let height = heights.iter().copied().fold(f64::MIN, f64::max)
            - heights.iter().copied().fold(f64::MAX, f64::min);
        let legs = <[Leg; 2]>::try_from(legs).map_err(|_| "two legs are wanted".to_owned())?;
        Ok(Self { legs, height })
    }
}

/// Heel, ball and tip from the vertices of a foot, in the space of the rest pose's world.
///
/// The sole is what lies within 2 % of the leg's length above the lowest vertex. A toe joint tells forward, and where the
/// ball is, if it is at least a fifth of the sole's length before the ankle (CesiumMan's toe joints are all but below its
/// ankles); else the middle of the sole and 70 % of its length do.
fn mesh_sole(vertices: &[V3], ankle: V3, toe: Option<V3>, leg: f64) -> Result<[V3; 3], String> {
    let floor = vertices.iter().map(|v| v.y).fold(f64::MAX, f64::min);
    let sole: Vec<V3> = vertices.iter().copied().filter(|v| v.y <= floor + 0.02 * leg).collect();
    let reach = |forward: V3| {
        let along = || sole.iter().map(|v| (*v - ankle).dot(forward));
        (along().fold(f64::MAX, f64::min), along().fold(f64::MIN, f64::max))
    };
    let by_toe = toe.and_then(|t| {
        let forward = (t - ankle).flat().unit()?;
        let (rear, front) = reach(forward);
        ((t - ankle).dot(forward) >= 0.2 * (front - rear)).then_some((forward, t))
    });
    let middle = sole.iter().fold(V3::ZERO, |a, v| a + *v) * (1.0 / sole.len() as f64);
    let forward = match by_toe {
        Some((forward, _)) => forward,
        None => (middle - ankle).flat().unit().ok_or("a foot that points nowhere")?,
    };
    let (rear, front) = reach(forward);
    let on_line = |s: f64| {
        let p = ankle + forward * s;
        v3(p.x, floor, p.z)
    };
    let ball = by_toe.map_or_else(|| on_line(rear + 0.7 * (front - rear)), |(_, t)| v3(t.x, floor, t.z));
    Ok([on_line(rear), ball, on_line(front)])
}

/// Heel, ball and tip of a foot without a mesh: below the ankle, the toe joint and the end of the toes.
fn bare_sole(ankle: V3, toe: Option<V3>, end: V3, floor: f64) -> [V3; 3] {
    let down = |p: V3| v3(p.x, floor, p.z);
    [down(ankle), down(toe.unwrap_or(ankle)), down(end)]
}

/// Every vertex of every skin in the rest pose.
fn skin(scene: &Scene) -> Result<Vec<Vertex>, String> {
    let worlds = scene.worlds(&scene.rest);
    let mut vertices = Vec::new();
    for node in scene.document.nodes() {
        let (Some(mesh), Some(skin)) = (node.mesh(), node.skin()) else { continue };
        let joints: Vec<usize> = skin.joints().map(|j| j.index()).collect();
        let inverse: Vec<_> = match skin.inverse_bind_matrices() {
            Some(a) => {
                let numbers = accessor::numbers(&a, &scene.buffers)?;
                numbers.chunks_exact(16).map(crate::maths::Affine::from_columns).collect()
            }
            None => vec![crate::maths::Affine::IDENTITY; joints.len()],
        };
        for primitive in mesh.primitives() {
            let read = |semantic| match primitive.get(&semantic) {
                Some(a) => accessor::numbers(&a, &scene.buffers),
                None => Ok(Vec::new()),
            };
            let positions = read(gltf::Semantic::Positions)?;
            let sets = [0, 1].map(|s| (read(gltf::Semantic::Joints(s)), read(gltf::Semantic::Weights(s))));
            for (i, p) in positions.chunks_exact(3).enumerate() {
                let mut best = (0.0, None);
                for (j, w) in &sets {
                    let (j, w) = (j.as_ref()?, w.as_ref()?);
                    for k in 4 * i..(4 * i + 4).min(w.len()).min(j.len()) {
                        if w[k] > best.0 {
                            best = (w[k], Some(j[k] as usize));
                        }
                    }
                }
                if let Some(j) = best.1
                    && let (Some(joint), Some(bind)) = (joints.get(j), inverse.get(j))
                {
                    let place = worlds[*joint].after(bind).point(v3(p[0], p[1], p[2]));
                    vertices.push(Vertex { joint: *joint, place });
                }
            }
        }
    }
    Ok(vertices)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box of a foot: floor at 0.01, heel 5 cm behind the ankle, 25 cm long, with a top at 0.12.
    fn box_foot() -> Vec<V3> {
        let mut v = Vec::new();
        for y in [0.01, 0.015, 0.12] {
            for (x, z) in [(0.05, -0.05), (0.15, -0.05), (0.05, 0.2), (0.15, 0.2)] {
                v.push(v3(x, y, z));
            }
        }
        v
    }

    #[test]
    fn soles_from_a_mesh() {
        let ankle = v3(0.1, 0.1, 0.0);
        let [heel, ball, tip] = mesh_sole(&box_foot(), ankle, Some(v3(0.11, 0.03, 0.12)), 0.9).unwrap();
        // The foot points from the ankle to the toe joint, a little outwards.
        let forward = v3(0.01, 0.0, 0.12).unit().unwrap();
        let rear = v3(-0.05, 0.0, -0.05).dot(forward);
        assert!(heel.apart(v3(0.1 + rear * forward.x, 0.01, rear * forward.z)) < 1e-12, "{heel:?}");
        assert!(ball.apart(v3(0.11, 0.01, 0.12)) < 1e-12);
        assert!(tip.z > 0.19);
        // A toe joint all but below the ankle is none: 70 % of the sole.
        let [_, ball, _] = mesh_sole(&box_foot(), ankle, Some(v3(0.12, 0.03, 0.04)), 0.9).unwrap();
        assert!(ball.apart(v3(0.1, 0.01, -0.05 + 0.7 * 0.25)) < 1e-12, "{ball:?}");
        let [_, ball, _] = mesh_sole(&box_foot(), ankle, None, 0.9).unwrap();
        assert!(ball.apart(v3(0.1, 0.01, 0.125)) < 1e-12, "{ball:?}");
    }

    #[test]
    fn soles_without_a_mesh() {
        let sole = bare_sole(v3(0.1, 0.1, 0.0), Some(v3(0.1, 0.04, 0.15)), v3(0.1, 0.03, 0.2), 0.02);
        assert_eq!(sole, [v3(0.1, 0.02, 0.0), v3(0.1, 0.02, 0.15), v3(0.1, 0.02, 0.2)]);
    }
}
