//! Judges limits in f64, by its own mathematics: rotation matrices, arc functions, search. It shares nothing with what it
//! judges but the plain data of a joint.

// Every test file that uses it uses a part.
#![allow(dead_code)]

mod axes;

use axes::Arc;
use sinew::{
    JointTransform,
    glam::Quat,
    joint::{Dof, Joint, Turning},
};

pub type V = [f64; 3];
/// Rows.
pub type M = [V; 3];

pub fn dot(a: V, b: V) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn unit(a: V) -> V {
    let l = dot(a, a).sqrt();
    a.map(|x| x / l)
}

fn apply(m: &M, v: V) -> V {
    [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
}

fn transposed(m: &M) -> M {
    [0, 1, 2].map(|i| [m[0][i], m[1][i], m[2][i]])
}

fn product(a: &M, b: &M) -> M {
    let t = transposed(b);
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| dot(a[i], t[j])))
}

/// Rodrigues.
pub fn about(axis: V, angle: f64) -> M {
    let a = unit(axis);
    let (s, c) = angle.sin_cos();
    let col = |e: V| {
        let (p, q) = (cross(a, e), dot(a, e) * (1.0 - c));
        [0, 1, 2].map(|i| e[i] * c + p[i] * s + a[i] * q)
    };
    transposed(&[col([1.0, 0.0, 0.0]), col([0.0, 1.0, 0.0]), col([0.0, 0.0, 1.0])])
}

pub fn matrix(q: Quat) -> M {
    let [x, y, z, w] = [q.x as f64, q.y as f64, q.z as f64, q.w as f64];
    let angle = 2.0 * (x * x + y * y + z * z).sqrt().atan2(w);
    if x == 0.0 && y == 0.0 && z == 0.0 { about([1.0, 0.0, 0.0], 0.0) } else { about([x, y, z], angle) }
}

/// Angle of `a^-1 b`: from the sine (the skew part) and the cosine (the trace).
pub fn angle(a: &M, b: &M) -> f64 {
    let m = product(&transposed(a), b);
    let skew = [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]];
    (0.5 * dot(skew, skew).sqrt()).atan2(0.5 * (m[0][0] + m[1][1] + m[2][2] - 1.0))
}

/// Excess of each part of a joint's rotation over its limits, in radians.
pub fn excess(joint: &Joint, rest: &JointTransform, local: &JointTransform) -> Vec<f64> {
    let own = product(&transposed(&matrix(rest.rotation)), &matrix(local.rotation));
    let v = |d: sinew::glam::DVec3| d.to_array();
    match &joint.turning {
        Turning::Free => vec![],
        Turning::Fixed => vec![angle(&own, &about([1.0, 0.0, 0.0], 0.0))],
        Turning::Hinge { axis, dof } => {
            let axis = unit(v(*axis));
            let turned = apply(&own, axis);
            let tilt = dot(cross(axis, turned), cross(axis, turned)).sqrt().atan2(dot(axis, turned));
            // The tilt taken back by its own shortest way, the rest is a turn about the axis.
            let back = if tilt > 1e-14 { product(&about(cross(turned, axis), tilt), &own) } else { own };
            vec![tilt, on_circle(angle_about(&back, axis), Some(*dof))]
        }
        Turning::Ball { twist_axis, swing_axis, swing, twist, .. } => {
            let (axis, angle) = to_centre(joint);
            let own = product(&about(axis, -angle), &own);
            let z = unit(v(*twist_axis));
            let x = unit(cross(cross(z, v(*swing_axis)), z));
            let y = cross(z, x);
            let to = apply(&own, z);
            let tilt = dot(cross(z, to), cross(z, to)).sqrt().atan2(dot(z, to));
            let (mut s, mut back) = ([0.0; 2], own);
            if tilt > 1e-14 {
                let axis = unit(cross(z, to));
                s = [tilt * dot(axis, x), tilt * dot(axis, y)];
                back = product(&about(axis, -tilt), &own);
            }
            let out = match swing[0].range.is_free() {
                false => from_ellipse(s, half_axis(joint, 0, s[0]), half_axis(joint, 1, s[1])),
                true => 0.0,
            };
            vec![out, on_circle(angle_about(&back, z), Some(*twist))]
        }
        Turning::Axes { order, angles } => {
            let own = own_rotation(joint, rest, local);
            vec![axes::outside(own, order.axes(), order.axes().map(|n| Arc::of(angles[n])))]
        }
        _ => unreachable!("a kind of joint that nothing judges"),
    }
}

/// The swing from rest to where a ball's ellipse has its centre: an axis of any length and an angle.
fn to_centre(joint: &Joint) -> (V, f64) {
    let Turning::Ball { twist_axis, swing_axis, centre: [a, b], .. } = joint.turning else {
        return ([1.0, 0.0, 0.0], 0.0);
    };
    let z = unit(twist_axis.to_array());
    let x = unit(cross(cross(z, swing_axis.to_array()), z));
    let y = cross(z, x);
    let angle = a.hypot(b);
    (if angle == 0.0 { x } else { [0, 1, 2].map(|k| a * x[k] + b * y[k]) }, angle)
}

/// The half-axis of a ball's swing on the side of a coordinate that is seen from the centre.
fn half_axis(joint: &Joint, n: usize, at: f64) -> f64 {
    let Turning::Ball { swing, centre, .. } = joint.turning else { return f64::NAN };
    let range = swing[n].range;
    if at < 0.0 { centre[n] - range.min } else { range.max - centre[n] }
}

/// The joint's own rotation, seen from the rest pose; of a ball, from the centre of its swing.
fn own_rotation(joint: &Joint, rest: &JointTransform, local: &JointTransform) -> axes::Q {
    let of = |q: Quat| {
        let q = q.to_array().map(f64::from);
        let l = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        q.map(|x| x / l)
    };
    let (axis, angle) = to_centre(joint);
    let (axis, (s, c)) = (unit(axis), (0.5 * angle).sin_cos());
    let centre = [axis[0] * s, axis[1] * s, axis[2] * s, c];
    axes::times(axes::back(centre), axes::times(axes::back(of(rest.rotation)), of(local.rotation)))
}

/// By how much a rotation breaks the promise for what came in: within the limits where that was, and no further out where
/// it was not. Radians of turn; 0 or less where it is kept.
///
/// A turn is what is measured wherever an angle is hardly there. With t the angle of a swing, u its direction
/// and v the twist, the square of a small turn is dt^2 + cos^2(t/2) dv^2 + sin^2(t/2) (2 du - dv)^2: a rotation
/// that is rounded by r, as f32 stores it, has a twist that is off by r / cos(t/2), and one in which a twist is
/// off by d can be had by a turn of d cos(t/2).
pub fn further(joint: &Joint, rest: &JointTransform, came: &JointTransform, local: &JointTransform) -> f64 {
    let after = excess(joint, rest, local);
    if after.iter().all(|out| *out <= 0.0) {
        return 0.0;
    }
    let before = excess(joint, rest, came);
    let more = |n: usize| after[n] - before[n];
    let (was, is) = (own_rotation(joint, rest, came), own_rotation(joint, rest, local));
    match &joint.turning {
        Turning::Free => 0.0,
        Turning::Fixed => more(0),
        Turning::Hinge { axis, dof } => {
            // What was tilted keeps its tilt and turns about the axis within the range, widened to hold the
            // angle that came in: no further from that in a straight way than the rotation `came^-1 local`
            // is from turns about the axis by as much.
            let axis = unit(axis.to_array());
            let along = |q: axes::Q| 2.0 * dot([q[0], q[1], q[2]], axis).atan2(q[3]);
            let arc = Arc::of(Some(*dof)).widened(along(was));
            let between = axes::times(axes::back(was), is);
            let d = axes::on_turn(along(was) + along(between) - arc.middle);
            let turn = arc.middle + d.clamp(-arc.half, arc.half) - along(was);
            let (s, c) = (0.5 * turn).sin_cos();
            let nearest = [axis[0] * s, axis[1] * s, axis[2] * s, c];
            more(0).max(more(1).min(axes::apart(nearest, between)))
        }
        Turning::Ball { twist_axis, .. } => {
            // cos(t/2) of the wider swing, beside that of the widest that limits allow.
            let z = unit(twist_axis.to_array());
            let half = |q: axes::Q| dot([q[0], q[1], q[2]], z).hypot(q[3]);
            let known = (half(was).min(half(is)) / 1.5f64.cos()).clamp(1e-6, 1.0);
            more(0).max(more(1)) * known
        }
        Turning::Axes { .. } => more(0),
        _ => unreachable!("a kind of joint that nothing judges"),
    }
}

/// By how much f32's rounding of a rotation grows in a joint's coordinates: 1 / cos(t/2) for the twist at a swing (or a
/// tilt) by t, as [`further`] derives it. The limits of a ball end at 3 radians of swing, where this is put to 1; only
/// what comes in beyond is further.
pub fn lost(joint: &Joint, rest: &JointTransform, local: &JointTransform) -> f64 {
    let (axis, known) = match joint.turning {
        Turning::Ball { twist_axis, .. } => (unit(twist_axis.to_array()), 1.5f64.cos()),
        Turning::Hinge { axis, .. } => (unit(axis.to_array()), 1.0),
        _ => return 1.0,
    };
    let q = own_rotation(joint, rest, local);
    (known / dot([q[0], q[1], q[2]], axis).hypot(q[3]).max(1e-6)).max(1.0)
}

/// The nearest angle in a range, on the circle; an axis that does not turn is at 0.
fn into(x: f64, dof: Option<Dof>) -> f64 {
    let Some(dof) = dof else { return 0.0 };
    let r = dof.range;
    if !r.is_bounded() {
        return x;
    }
    let d = axes::on_turn(x - 0.5 * (r.min + r.max));
    0.5 * (r.min + r.max) + d.clamp(-0.5 * (r.max - r.min), 0.5 * (r.max - r.min))
}

fn on_circle(x: f64, dof: Option<Dof>) -> f64 {
    axes::on_turn(x - into(x, dof)).abs()
}

/// The angle of a rotation that leaves `axis` where it is.
fn angle_about(m: &M, axis: V) -> f64 {
    let a = axis.map(f64::abs);
    let e = if a[0] <= a[1] && a[0] <= a[2] {
        [1.0, 0.0, 0.0]
    } else if a[1] <= a[2] {
        [0.0, 1.0, 0.0]
    } else {
        [0.0, 0.0, 1.0]
    };
    let x = unit(cross(axis, e));
    let to = apply(m, x);
    dot(cross(x, to), axis).atan2(dot(x, to))
}

/// Distance of a point from the ellipse with these half-axes, 0 inside: the nearest of its outline, by golden section in
/// the quarter.
pub fn from_ellipse(p: [f64; 2], a: f64, b: f64) -> f64 {
    let (x, y) = (p[0].abs(), p[1].abs());
    if (x / a).powi(2) + (y / b).powi(2) <= 1.0 {
        return 0.0;
    }
    let at = |t: f64| (x - a * t.cos()).hypot(y - b * t.sin());
    // The distance along the quarter of an outside point has one minimum. A round keeps 0.618
    // of the way; 2 in 10^16 of it is left.
    const SECTION: f64 = 0.618_033_988_749_894_9;
    let (mut lo, mut hi) = (0.0, std::f64::consts::FRAC_PI_2);
    let (mut m, mut n) = (hi - SECTION * (hi - lo), lo + SECTION * (hi - lo));
    let (mut near, mut far) = (at(m), at(n));
    for _ in 0..75 {
        if near < far {
            (hi, n, far) = (n, m, near);
            m = hi - SECTION * (hi - lo);
            near = at(m);
        } else {
            (lo, m, near) = (m, n, far);
            n = lo + SECTION * (hi - lo);
            far = at(n);
        }
    }
    at(0.5 * (lo + hi)).min(near).min(far)
}
