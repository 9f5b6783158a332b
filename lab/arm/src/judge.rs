//! The judge: independent forward kinematics from the URDF, with textbook quaternions and vectors, from the tip to the root.
//! It shares only the XML parser with the engine.

use std::collections::HashMap;

use urdf_rs::{JointType, Robot};

#[derive(Clone, Copy)]
pub struct Rigid {
    /// x y z w.
    pub q: [f64; 4],
    pub p: [f64; 3],
}

fn product([ax, ay, az, aw]: [f64; 4], [bx, by, bz, bw]: [f64; 4]) -> [f64; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn turn(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let [x, y, z, _] = product(product(q, [v[0], v[1], v[2], 0.0]), [-q[0], -q[1], -q[2], q[3]]);
    [x, y, z]
}

pub fn about(axis: [f64; 3], angle: f64) -> [f64; 4] {
    let n = axis.iter().map(|c| c * c).sum::<f64>().sqrt();
    let (s, c) = (angle / 2.0).sin_cos();
    [axis[0] / n * s, axis[1] / n * s, axis[2] / n * s, c]
}

impl Rigid {
    pub const IDENTITY: Self = Self { q: [0.0, 0.0, 0.0, 1.0], p: [0.0; 3] };

    pub fn then(self, o: Rigid) -> Rigid {
        let p = turn(self.q, o.p);
        Rigid { q: product(self.q, o.q), p: [self.p[0] + p[0], self.p[1] + p[1], self.p[2] + p[2]] }
    }

    /// Metres and radians from another.
    pub fn from(&self, o: &Rigid) -> (f64, f64) {
        let d = |i: usize| self.p[i] - o.p[i];
        let metres = (d(0) * d(0) + d(1) * d(1) + d(2) * d(2)).sqrt();
        let [x, y, z, w] = product([-o.q[0], -o.q[1], -o.q[2], o.q[3]], self.q);
        (metres, 2.0 * (x * x + y * y + z * z).sqrt().atan2(w.abs()))
    }
}

struct Joint {
    name: String,
    kind: JointType,
    origin: Rigid,
    axis: [f64; 3],
    /// The joint that it follows, multiplier and offset.
    mimic: Option<(String, f64, f64)>,
}

/// A chain of a URDF, root first.
pub struct Judge {
    joints: Vec<Joint>,
}

impl Judge {
    pub fn new(robot: &Robot, root: &str, tip: &str) -> Self {
        let mut joints = Vec::new();
        let mut at = tip.to_owned();
        while at != root {
            let joint =
                robot.joints.iter().find(|j| j.child.link == at).expect("the tip hangs below the root");
            let [r, p, y] = *joint.origin.rpy;
            let q = product(
                about([0.0, 0.0, 1.0], y),
                product(about([0.0, 1.0, 0.0], p), about([1.0, 0.0, 0.0], r)),
            );
            let origin = Rigid { q, p: *joint.origin.xyz };
            let mimic = joint
                .mimic
                .as_ref()
                .map(|m| (m.joint.clone(), m.multiplier.unwrap_or(1.0), m.offset.unwrap_or(0.0)));
            let (name, kind) = (joint.name.clone(), joint.joint_type.clone());
            joints.push(Joint { name, kind, origin, axis: *joint.axis.xyz, mimic });
            at = joint.parent.link.clone();
        }
        joints.reverse();
        Self { joints }
    }

    /// Where the tip is, as seen from the root.
    pub fn tip(&self, values: &HashMap<&str, f64>) -> Rigid {
        self.joints.iter().fold(Rigid::IDENTITY, |at, Joint { name, kind, origin, axis, mimic }| {
            let value = match mimic {
                Some((joint, multiplier, offset)) => multiplier * values[joint.as_str()] + offset,
                None => values.get(name.as_str()).copied().unwrap_or(0.0),
            };
            let n = axis.iter().map(|c| c * c).sum::<f64>().sqrt();
            let motion = match kind {
                JointType::Prismatic => Rigid { p: axis.map(|c| c / n * value), ..Rigid::IDENTITY },
                JointType::Fixed => Rigid::IDENTITY,
                _ => Rigid { q: about(*axis, value), ..Rigid::IDENTITY },
            };
            at.then(*origin).then(motion)
        })
    }
}
