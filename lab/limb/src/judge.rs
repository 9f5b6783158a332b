//! The judge: in f64, from rotations alone, independent of the contenders.

use std::fmt;

use sinew::{Pose, glam::Vec3};

use crate::legs::Leg;

type V = [f64; 3];

/// A unit quaternion x y z w.
#[derive(Clone, Copy)]
pub struct Rotation([f64; 4]);

pub fn rotation(x: f32, y: f32, z: f32, w: f32) -> Rotation {
    let q = [x, y, z, w].map(f64::from);
    let n = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    Rotation(q.map(|c| c / n))
}

/// First `b`, then `a`.
pub fn after(Rotation(a): Rotation, Rotation(b): Rotation) -> Rotation {
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (a, b);
    Rotation([
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ])
}

fn turn(Rotation([x, y, z, w]): Rotation, [a, b, c]: V) -> V {
    [
        a * (1.0 - 2.0 * (y * y + z * z)) + b * 2.0 * (x * y - w * z) + c * 2.0 * (x * z + w * y),
        a * 2.0 * (x * y + w * z) + b * (1.0 - 2.0 * (x * x + z * z)) + c * 2.0 * (y * z - w * x),
        a * 2.0 * (x * z - w * y) + b * 2.0 * (y * z + w * x) + c * (1.0 - 2.0 * (x * x + y * y)),
    ]
}

fn v(p: Vec3) -> V {
    [p.x as f64, p.y as f64, p.z as f64]
}

fn minus(a: V, b: V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn plus(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn length(a: V) -> f64 {
    (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]).sqrt()
}

/// Distance from the end to the goal, or to the point nearest to it that is in reach, as a part of the leg's length.
fn miss(l: &Leg, upper: V, lower: V) -> f64 {
    let reach = length(minus(v(l.middle), v(l.root))) + length(minus(v(l.tip), v(l.middle)));
    let way = minus(v(l.goal), v(l.root));
    let k = (reach / length(way)).min(1.0);
    length(minus(plus(upper, lower), way.map(|c| c * k))) / reach
}

/// The error of a leg whose bones turn by these rotations.
pub fn limb(l: &Leg, upper: Rotation, lower: Rotation) -> f64 {
    miss(l, turn(upper, minus(v(l.middle), v(l.root))), turn(lower, minus(v(l.tip), v(l.middle))))
}

/// The error of a leg as a pose of three joints, by forward kinematics from its local transforms.
pub fn posed(l: &Leg, pose: &Pose) -> f64 {
    let q = |i: usize| {
        let q = pose.locals()[i].rotation;
        rotation(q.x, q.y, q.z, q.w)
    };
    let offset = |i: usize| v(pose.locals()[i].translation);
    miss(l, turn(q(0), offset(1)), turn(after(q(0), q(1)), offset(2)))
}

pub struct Errors {
    worst: f64,
    mean: f64,
}

pub fn errors(all: impl ExactSizeIterator<Item = f64>) -> Errors {
    let count = all.len() as f64;
    let (worst, sum) = all.fold((0.0f64, 0.0), |(w, s), e| (w.max(e), s + e));
    Errors { worst, mean: sum / count }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "worst {:.1e} mean {:.1e}", self.worst, self.mean)
    }
}
