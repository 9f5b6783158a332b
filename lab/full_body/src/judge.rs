//! Forward kinematics in f64 from local transforms, independent of the engine's.

use sinew::{
    JointId, Pose,
    glam::{Quat, Vec3},
};

pub type V = [f64; 3];

pub fn v(a: Vec3) -> V {
    [f64::from(a.x), f64::from(a.y), f64::from(a.z)]
}

pub fn add(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub fn sub(a: V, b: V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn length(a: V) -> f64 {
    dot(a, a).sqrt()
}

/// A quaternion as its vector and its number, of length one.
fn unit(q: Quat) -> (V, f64) {
    let (a, w) = ([f64::from(q.x), f64::from(q.y), f64::from(q.z)], f64::from(q.w));
    let n = (dot(a, a) + w * w).sqrt();
    (a.map(|c| c / n), w / n)
}

/// The image of a vector under a rotation: p + 2 w (a x p) + 2 a x (a x p).
fn turned(q: (V, f64), p: V) -> V {
    let cross =
        |a: V, b: V| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let t = cross(q.0, p).map(|c| 2.0 * c);
    add(add(p, t.map(|c| c * q.1)), cross(q.0, t))
}

fn path(pose: &Pose, joint: JointId) -> impl Iterator<Item = JointId> {
    let mut here = Some(joint);
    let skeleton = pose.skeleton().clone();
    std::iter::from_fn(move || {
        let j = here?;
        here = skeleton.parent(j);
        Some(j)
    })
}

/// The place in model space of a point of a joint's own frame.
pub fn point(pose: &Pose, joint: JointId, offset: Vec3) -> V {
    path(pose, joint).fold(v(offset), |p, j| {
        let t = pose.local(j);
        let s = v(t.scale);
        add(turned(unit(t.rotation), [p[0] * s[0], p[1] * s[1], p[2] * s[2]]), v(t.translation))
    })
}

/// The place of a joint in model space.
pub fn place(pose: &Pose, joint: JointId) -> V {
    point(pose, joint, Vec3::ZERO)
}

/// The directions of a joint's axes in model space, of length one.
pub fn axes(pose: &Pose, joint: JointId) -> [V; 3] {
    let origin = place(pose, joint);
    [Vec3::X, Vec3::Y, Vec3::Z].map(|e| {
        let d = sub(point(pose, joint, e), origin);
        let l = length(d);
        d.map(|c| c / l)
    })
}

/// The directions of the axes of a rotation.
pub fn axes_of(q: Quat) -> [V; 3] {
    [Vec3::X, Vec3::Y, Vec3::Z].map(|e| turned(unit(q), v(e)))
}

/// The angle between two orientations given as axes: from the trace of the rotation between them, by the sum of squared
/// chords, which keeps its digits where the angle is small.
pub fn angle(a: &[V; 3], b: &[V; 3]) -> f64 {
    let chords: f64 = a.iter().zip(b).map(|(a, b)| dot(sub(*a, *b), sub(*a, *b))).sum();
    2.0 * (chords / 8.0).sqrt().min(1.0).asin()
}
