//! Judges limits in f64, by its own mathematics: rotation matrices, arc functions, search. It shares nothing with what it
//! judges but the plain data of a joint.

// Every test file that uses it uses a part.
#![allow(dead_code)]

use sinew::{
    Transform,
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

/// How far each part of a joint's rotation is out of its limits, in radians.
pub fn excess(joint: &Joint, rest: &Transform, local: &Transform) -> Vec<f64> {
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
        Turning::Ball { twist_axis, swing_axis, swing, twist } => {
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
            let out = match (swing[0].range, swing[1].range) {
                (Some(a), Some(b)) => from_ellipse(
                    s,
                    if s[0] < 0.0 { -a.from } else { a.to },
                    if s[1] < 0.0 { -b.from } else { b.to },
                ),
                _ => 0.0,
            };
            vec![out, on_circle(angle_about(&back, z), Some(*twist))]
        }
        Turning::Axes { order, angles } => {
            let order = order.axes();
            let e = |i: usize| [0, 1, 2].map(|k| if k == i { 1.0 } else { 0.0 });
            let build = |c: V| {
                let [a, b, c] = [0, 1, 2].map(|n| about(e(order[n]), c[n]));
                product(&product(&a, &b), &c)
            };
            let [i, j, k] = order;
            let sign = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
            let b = (sign * own[i][k]).clamp(-1.0, 1.0).asin();
            let a = (-sign * own[j][k]).atan2(own[k][k]);
            let c = (-sign * own[i][j]).atan2(own[i][i]);
            use std::f64::consts::PI;
            // Next to a pole of the middle axis what a limit takes from the outer angle the inner one makes up for.
            let near = [[a, b, c], [a + PI, PI - b, c + PI]].into_iter().flat_map(|all| {
                let taken = all[0] - into(all[0], angles[order[0]]);
                [0.0, taken, -taken].map(|t| {
                    let all = [all[0], all[1], all[2] + t];
                    refined(&own, [0, 1, 2].map(|n| into(all[n], angles[order[n]])), &build, &order, angles)
                })
            });
            vec![near.fold(f64::INFINITY, f64::min)]
        }
    }
}

/// By how much f32's rounding of a rotation grows in a joint's coordinates: next to a half turn of swing (of a hinge, of a
/// tilt that came in) the twist is hardly there. The limits of a ball end at 3 radians of swing, where this is 1; only what
/// comes in beyond is further.
pub fn lost(joint: &Joint, rest: &Transform, local: &Transform) -> f64 {
    let (axis, known) = match joint.turning {
        Turning::Ball { twist_axis, .. } => (unit(twist_axis.to_array()), 1.5f64.cos()),
        Turning::Hinge { axis, .. } => (unit(axis.to_array()), 1.0),
        _ => return 1.0,
    };
    let own = product(&transposed(&matrix(rest.rotation)), &matrix(local.rotation));
    let to = apply(&own, axis);
    // cos(half the tilt), from the cosine of the tilt.
    let half = (0.5 * (1.0 + dot(axis, to))).max(1e-12).sqrt();
    (known / half).max(1.0)
}

/// The least angle to a rotation within limits that coordinates can be walked to.
fn refined(own: &M, mut c: V, build: &dyn Fn(V) -> M, order: &[usize; 3], angles: &[Option<Dof>; 3]) -> f64 {
    let mut best = angle(own, &build(c));
    let mut step = 0.3f64;
    // Only what is near the limits has to be told from what is within them.
    if best > 1e-2 {
        return best;
    }
    step = step.min(best);
    for _ in 0..400 {
        if best < 2e-6 || step < 1e-8 {
            break;
        }
        let mut better = false;
        // Next to a pole of the middle axis only the outer two together lead on.
        for way in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0]] {
            for s in [step, -step] {
                let t = [0, 1, 2].map(|n| into(c[n] + s * way[n], angles[order[n]]));
                let d = angle(own, &build(t));
                if d < best {
                    (best, c, better) = (d, t, true);
                }
            }
        }
        if !better {
            step *= 0.5;
        }
    }
    best
}

/// The nearest angle in a range, on the circle; an axis that does not turn is at 0.
fn into(x: f64, dof: Option<Dof>) -> f64 {
    let Some(dof) = dof else { return 0.0 };
    let Some(r) = dof.range else { return x };
    let d = on_turn(x - 0.5 * (r.from + r.to));
    0.5 * (r.from + r.to) + d.clamp(-0.5 * (r.to - r.from), 0.5 * (r.to - r.from))
}

fn on_turn(x: f64) -> f64 {
    x - std::f64::consts::TAU * (x / std::f64::consts::TAU).round()
}

fn on_circle(x: f64, dof: Option<Dof>) -> f64 {
    on_turn(x - into(x, dof)).abs()
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
    // The distance along the quarter of an outside point has one minimum.
    let (mut lo, mut hi) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..200 {
        let (m, n) = (lo + 0.381966 * (hi - lo), hi - 0.381966 * (hi - lo));
        if at(m) < at(n) { hi = n } else { lo = m }
    }
    at(0.5 * (lo + hi))
}
