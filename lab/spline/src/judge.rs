//! Kinematics and curves in f64, independent of the engine's.

use sinew::{JointId, Pose};

pub type V = [f64; 3];
/// x, y, z, w.
pub type Q = [f64; 4];

pub fn add(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub fn sub(a: V, b: V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub fn scale(a: V, k: f64) -> V {
    a.map(|c| c * k)
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

pub fn mul(a: Q, b: Q) -> Q {
    let ([av, bv], [aw, bw]) = ([a, b].map(|q| [q[0], q[1], q[2]]), [a[3], b[3]]);
    let v = add(add(scale(bv, aw), scale(av, bw)), cross(av, bv));
    [v[0], v[1], v[2], aw * bw - dot(av, bv)]
}

pub fn back(q: Q) -> Q {
    [-q[0], -q[1], -q[2], q[3]]
}

/// A vector turned (Rodrigues' formula).
pub fn turn(q: Q, p: V) -> V {
    let (a, w) = ([q[0], q[1], q[2]], q[3]);
    add(add(scale(p, w * w - dot(a, a)), scale(a, 2.0 * dot(a, p))), scale(cross(a, p), 2.0 * w))
}

/// The angle of a rotation, 0 to pi.
pub fn angle(q: Q) -> f64 {
    2.0 * length([q[0], q[1], q[2]]).atan2(q[3].abs())
}

/// The shortest turn from one unit vector to another that is not opposite.
pub fn arc(a: V, b: V) -> Q {
    let c = cross(a, b);
    let w = 1.0 + dot(a, b);
    let n = (dot(c, c) + w * w).sqrt();
    [c[0] / n, c[1] / n, c[2] / n, w / n]
}

/// A joint's place, orientation and (uniform) size in model space, through all joints above.
pub fn frame(pose: &Pose, joint: JointId) -> (V, Q, f64) {
    let above = pose.skeleton().parent(joint).map(|j| frame(pose, j));
    let (p, q, s) = above.unwrap_or(([0.0; 3], [0.0, 0.0, 0.0, 1.0], 1.0));
    let t = pose.local(joint);
    let r = t.rotation.to_array().map(f64::from);
    let n = r.iter().map(|c| c * c).sum::<f64>().sqrt();
    let offset = t.translation.to_array().map(f64::from);
    (add(p, turn(q, scale(offset, s))), mul(q, r.map(|c| c / n)), s * f64::from(t.scale.x))
}

/// Catmull and Rom's closed curve through points, by Barry and Goldman's pyramid with the square roots of distances as
/// knots: the piece from one point to the next.
pub fn point(points: &[V], piece: usize, t: f64) -> V {
    let n = points.len();
    let p = [n - 1, 0, 1, 2].map(|k| points[(piece + k) % n]);
    let mut knot = [0.0; 4];
    for i in 1..4 {
        knot[i] = knot[i - 1] + length(sub(p[i], p[i - 1])).sqrt();
    }
    let u = knot[1] + t * (knot[2] - knot[1]);
    let mix = |a: V, b: V, i: usize, k: usize| {
        let w = (u - knot[i]) / (knot[k] - knot[i]);
        add(scale(a, 1.0 - w), scale(b, w))
    };
    let a = [mix(p[0], p[1], 0, 1), mix(p[1], p[2], 1, 2), mix(p[2], p[3], 2, 3)];
    let b = [mix(a[0], a[1], 0, 2), mix(a[1], a[2], 1, 3)];
    mix(b[0], b[1], 1, 2)
}

/// Distance of a point from the curve.
pub fn off(points: &[V], place: V) -> f64 {
    const STEPS: usize = 40;
    let far = |u: f64| {
        let u = u.rem_euclid(points.len() as f64);
        length(sub(point(points, u as usize % points.len(), u.fract()), place))
    };
    let steps = STEPS * points.len();
    let at = |k: usize| far(k as f64 / STEPS as f64);
    let nearest = (0..steps).min_by(|&a, &b| at(a).total_cmp(&at(b))).unwrap_or(0);
    let (mut low, mut high) = ((nearest as f64 - 1.0) / STEPS as f64, (nearest as f64 + 1.0) / STEPS as f64);
    for _ in 0..80 {
        let third = (high - low) / 3.0;
        match far(low + third) < far(high - third) {
            true => high -= third,
            false => low += third,
        }
    }
    far(0.5 * (low + high))
}
