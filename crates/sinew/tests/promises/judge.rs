//! The judge: forward kinematics in f64 from local transforms, written apart from the engine's.

use sinew::{JointId, Pose, glam::Vec3};

pub type V = [f64; 3];
pub type M = [V; 3];

pub fn v(a: Vec3) -> V {
    [a.x as f64, a.y as f64, a.z as f64]
}

pub fn sub(a: V, b: V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn add(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub fn scale(a: V, s: f64) -> V {
    [a[0] * s, a[1] * s, a[2] * s]
}

pub fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn length(a: V) -> f64 {
    dot(a, a).sqrt()
}

pub fn unit(a: V) -> V {
    scale(a, 1.0 / length(a))
}

/// A frame: columns of the linear part, and the origin.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub columns: M,
    pub origin: V,
}

impl Frame {
    const IDENTITY: Self =
        Self { columns: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], origin: [0.0; 3] };

    pub fn vector(&self, a: V) -> V {
        let c = &self.columns;
        add(add(scale(c[0], a[0]), scale(c[1], a[1])), scale(c[2], a[2]))
    }

    pub fn point(&self, a: V) -> V {
        add(self.vector(a), self.origin)
    }
}

/// The frame of a joint in model space.
pub fn frame(pose: &Pose, joint: JointId) -> Frame {
    let skeleton = pose.skeleton();
    let mut path: Vec<JointId> = core::iter::once(joint).chain(skeleton.ancestors(joint)).collect();
    path.reverse();
    let mut frame = Frame::IDENTITY;
    for j in path {
        let t = pose.local(j);
        // Rodrigues' rotation formula on the quaternion's axis, with its length divided out.
        let q = [t.rotation.x as f64, t.rotation.y as f64, t.rotation.z as f64, t.rotation.w as f64];
        let n = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
        let (a, w) = ([q[0] / n, q[1] / n, q[2] / n], q[3] / n);
        let turn = |p: V| {
            add(add(scale(p, w * w - dot(a, a)), scale(a, 2.0 * dot(a, p))), scale(cross(a, p), 2.0 * w))
        };
        let s = v(t.scale);
        let columns = [
            frame.vector(turn([s[0], 0.0, 0.0])),
            frame.vector(turn([0.0, s[1], 0.0])),
            frame.vector(turn([0.0, 0.0, s[2]])),
        ];
        frame = Frame { origin: frame.point(v(t.translation)), columns };
    }
    frame
}

pub fn position(pose: &Pose, joint: JointId) -> V {
    frame(pose, joint).origin
}
