//! The two-bone limb where a direction is undefined or rounding is magnified: straight and folded starts, goals on the root,
//! directions next to opposite. [`solve`] has a solution for every finite input.

use glam::{Quat, Vec3};

use super::{
    BendSide,
    points::{LimbBend, LimbPoints, LimbTurns, distance, flipped, jumped, rounding},
};
use crate::{
    Pole, math,
    solve::arc::{arc, distance as far_apart, largest, near, to_unit, twist_towards},
};

/// Sine of the flexion below which the hinge, if there is one, shares in the bend plane, up to all of it at 0. It is half a
/// degree: clips with compressed rotations no longer know their own plane there.
pub(super) const BLUR: f32 = 1e-2;
/// Sines of the flexion between which, with a pole, the pose's own plane fades in beside the hinge's: a nearly straight limb
/// turns its hinge's side towards the pole, wherever the goal is. With lower sines, rounding (or the compression of a clip)
/// would choose the side; with higher ones, a bent limb would turn without need.
const OWN: [f32; 2] = [0.4 * BLUR, 0.9 * BLUR];
/// Sine of the flexion below which f32 positions define no plane: some ten roundings.
const STRAIGHT: f32 = 1e-6;
/// Sine within which a folded limb unfolds about any axis: its length is right to the square of this.
const FLAT: f32 = 1e-4;
/// Share of the limb's length below which a distance has no direction in f32.
pub(super) const TINY: f32 = 1e-6;

/// Turns that bring the end of the limb to the goal, for every finite input.
#[cold]
#[inline(never)]
pub(super) fn solve(at: &LimbPoints, goal: Vec3, pole: Pole, bend: &LimbBend) -> LimbTurns {
    let (u, v, g) = (at.middle - at.root, at.tip - at.middle, goal - at.root);
    let size = largest(u).max(largest(v));
    let still =
        LimbTurns { middle: Quat::IDENTITY, root: Quat::IDENTITY, out_of_reach: 0.0, branch_changed: false };
    if size <= 0.0 {
        return LimbTurns { out_of_reach: far_apart(goal, at.root), ..still };
    }
    // Scales lengths to near 1, so that products of four lengths neither overflow nor underflow at any scale.
    let k = to_unit(size);
    let (u, v) = (u * k, v * k);
    let (g, gl, x) = near(g, k, goal, at.root);

    let (c, uv) = (u.cross(v), u.dot(v));
    let (a, b) = (math::sqrt(u.length_squared()), math::sqrt(v.length_squared()));
    let (ab, cl) = (a * b, math::sqrt(c.length_squared()));

    let straight = a + b;
    let d = distance(a, b, x, bend);
    let by = (x - d).abs();
    // In units of the limb, the furthest goals are all at the same distance.
    let by = match by {
        _ if x == f32::MAX => far_apart(goal, at.root),
        by if by > 1e-6 * straight => (by / k).min(f32::MAX),
        _ => 0.0,
    };

    let e = u + v;
    let el = math::sqrt(e.length_squared());
    let (aim, al) = if x > TINY * straight { (g, gl) } else { (e, el) };
    let rounding = rounding(at, goal, straight, k, bend);
    let there = al > 0.0 && (e - aim * (d / al)).length_squared() <= rounding * rounding;

    // Half the flexion that gives d, as a cosine and a sine times one common length (cosine rule, factored).
    let c1 = math::sqrt(((d - (a - b)) * (d + (a - b))).max(0.0));
    let s1 = math::sqrt(((straight - d) * (straight + d)).max(0.0));

    let (middle, n, other_side) = if c1 + s1 <= 0.0 && ab > 0.0 {
        // One bone vanishes in the other's rounding: any flexion gives this distance, and the limb keeps its own.
        let long = if a >= b { u / a } else { v / b };
        let n = if cl > BLUR * ab { c / cl } else { bend.hinge.unwrap_or(Vec3::ZERO) };
        (Quat::IDENTITY, math::perpendicular(long, n), false)
    } else if cl > BLUR * ab && ab > 0.0 {
        let n = c / cl;
        let other_side = match (bend.side, bend.hinge) {
            (BendSide::Keep, _) | (_, None) => false,
            (BendSide::Positive, Some(h)) => n.dot(h) < 0.0,
            (BendSide::Negative, Some(h)) => n.dot(h) > 0.0,
        };
        // Half the initial flexion, in the form without cancellation.
        let (s0, c0) = if uv >= 0.0 { (cl, ab + uv) } else { (ab - uv, cl) };
        let (n, s0) = if other_side { (-n, -s0) } else { (n, s0) };
        let (s, w) = (s1 * c0 - c1 * s0, c1 * c0 + s1 * s0);
        let l = 1.0 / math::sqrt(s * s + w * w);
        let t = n * (s * l);
        (Quat::from_xyzw(t.x, t.y, t.z, w * l), n, other_side)
    } else {
        let poled = (pole != Pole::Keep).then(|| facing(pole, at.root, u + v, g));
        bend_straight(u, v, a, b, c, cl, bend, (c1, s1), poled)
    };

    let turned = bend.swivel != 0.0 || pole != Pole::Keep;
    if there && !other_side && !turned {
        return LimbTurns { out_of_reach: by, ..still };
    }

    // The end after the middle joint's turn: aiming this at the goal corrects that turn's rounding too.
    let e1 = u + math::rotate(middle, v);
    let e1l = math::sqrt(e1.length_squared());
    let (e1, e1l) = if e1l > 1e-4 * straight { (e1, e1l) } else { (folded_direction(u, n, a, b, d), 1.0) };
    let (e, el) = if el > TINY * straight { (e, el) } else { (e1, e1l) };
    let (g, gl) = if x > TINY * straight { (g, gl) } else { (e, el) };

    let (carry, weak) = arc(e, g, el * gl, n);
    let (lift, weak_lift) = arc(e1, e, e1l * el, n);
    let mut root = math::normalize(math::mul(carry, lift));
    if turned {
        let axis = g / gl;
        let twist = about_goal(axis, math::rotate(root, n), pole, at.root, bend.swivel);
        let v = Vec3::new(twist.x, twist.y, twist.z);
        if there && !other_side && v.length_squared() < 1e-12 * twist.w * twist.w {
            return LimbTurns { out_of_reach: by, ..still };
        }
        root = math::normalize(math::mul(twist, root));
    }
    if weak || weak_lift || turned {
        let e2 = math::rotate(root, e1);
        let (fix, _) = arc(e2, g, e1l * gl, n);
        root = math::normalize(math::mul(fix, root));
    }
    // Relative to the root, with lengths near 1.
    let from = LimbPoints { root: Vec3::ZERO, middle: u, tip: u + v };
    let mut turns = LimbTurns { middle, root, out_of_reach: by, branch_changed: false };
    turns.branch_changed = if turned {
        let end = math::rotate(root, u + math::rotate(middle, v));
        flipped(&from, &LimbPoints { root: Vec3::ZERO, middle: math::rotate(root, u), tip: end })
    } else {
        jumped(&from, &turns)
    };
    turns
}

/// The middle joint's turn from a nearly straight or folded start, where the hinge shares in the bend plane or defines it:
/// it straightens exactly, then bends about the chosen axis. `poled` is the axis that bends a limb with a pole towards it
/// without a roll. Returns the turn, the axis, and whether the side changed.
#[cold]
#[allow(clippy::too_many_arguments)]
fn bend_straight(
    u: Vec3,
    v: Vec3,
    a: f32,
    b: f32,
    c: Vec3,
    cl: f32,
    bend: &LimbBend,
    (c1, s1): (f32, f32),
    poled: Option<Vec3>,
) -> (Quat, Vec3, bool) {
    let ab = a * b;
    let long = if a >= b { u / a } else { v / b };
    if ab <= 0.0 {
        // A limb with one bone only turns at its root.
        return (Quat::IDENTITY, math::perpendicular(long, bend.hinge.unwrap_or(Vec3::ZERO)), false);
    }
    let along = u / a;
    let mut n = c / ab;
    let mut flipped = false;
    let near = (BLUR - cl / ab).max(0.0);
    // With a pole, the pose's own share of the axis.
    let own = ((cl / ab - OWN[0]) / (OWN[1] - OWN[0])).clamp(0.0, 1.0);
    // A hinge along the bone defines no side.
    let hinge = bend.hinge.filter(|h| poled.is_none() || h.cross(along).length_squared() > 1e-8);
    if let Some(h) = hinge {
        let across = math::perpendicular(along, h);
        // The hinge fades in as the flexion changes, so that a goal next to the end hardly moves the knee.
        let change = (c1 * s1 / (2.0 * ab) - cl / ab).abs();
        let part = (change / BLUR).min(1.0);
        let mut h = across * (near * part);
        let side = n.dot(h);
        if poled.is_some() {
            n *= own;
            h = across * (near * part.max(1.0 - own));
        }
        match bend.side {
            BendSide::Keep => n += h,
            BendSide::Positive | BendSide::Negative => {
                let sign = if bend.side == BendSide::Positive { 1.0 } else { -1.0 };
                flipped = side * sign < -STRAIGHT;
                n = if flipped { -n } else { n } + h * sign;
            }
        }
    } else if let Some(facing) = poled {
        n = n * own + facing * (near * (1.0 - own));
    } else if cl <= STRAIGHT * ab {
        n = Vec3::ZERO;
    }
    let n = math::perpendicular(along, n);
    let back = if u.dot(v) >= 0.0 {
        Quat::from_xyzw(-c.x, -c.y, -c.z, ab + u.dot(v))
    } else {
        // A hinge that must face the pole takes part only where the limb unfolds about it.
        let flat = if poled.is_some() { FLAT } else { STRAIGHT };
        // Exactly across the lower bone: a part of the axis along the bone would not turn it, and this is half a turn.
        let axis = if cl > flat * ab { math::perpendicular(v / b, c) } else { n };
        let axis = -axis * (ab - u.dot(v));
        Quat::from_xyzw(axis.x, axis.y, axis.z, cl)
    };
    let turn = math::mul(Quat::from_xyzw(n.x * s1, n.y * s1, n.z * s1, c1), back);
    (math::normalize(turn), n, flipped)
}

/// The axis, across the vector `e` to the end, about which a straight limb bends towards the pole once the shortest arc
/// takes `e` to the vector `g` to the goal. No roll turns to the pole, as without a hinge no side can face it.
#[cold]
fn facing(pole: Pole, root: Vec3, e: Vec3, g: Vec3) -> Vec3 {
    let (Some(from), Some(to)) = (e.try_normalize(), g.try_normalize()) else { return Vec3::ZERO };
    let n = pole.direction(root, Vec3::ZERO, Vec3::ZERO, 0.0).normalize_or_zero().cross(to);
    math::rotate(math::conjugate(math::shortest_arc(from, to, n)), n)
}

/// Direction from the root to the end of a limb folded so far that its end lies on the root. It follows from the triangle:
/// the upper bone turned by the angle at the root.
#[cold]
fn folded_direction(u: Vec3, n: Vec3, a: f32, b: f32, d: f32) -> Vec3 {
    if a <= 0.0 {
        return math::perpendicular(n, u);
    }
    let u = u / a;
    let cos = if d > 0.0 { ((a - b) * (a + b) + d * d) / (2.0 * a * d) } else { 0.0 };
    let cos = cos.clamp(-1.0, 1.0);
    u * cos + n.cross(u) * math::sqrt(1.0 - cos * cos)
}

/// Rotation, of no particular length, about the unit vector `axis` (root to goal) that brings the bend plane with the normal
/// `n` to the pole, and then turns it by `swivel` radians.
fn about_goal(axis: Vec3, n: Vec3, pole: Pole, root: Vec3, swivel: f32) -> Quat {
    // Direction of the middle joint, across the limb.
    let own = axis.cross(n);
    let (twist, _) = twist_towards(axis, own, pole.direction(root, Vec3::ZERO, Vec3::ZERO, 0.0));
    if swivel == 0.0 { twist } else { math::mul(math::axis_angle(axis, swivel), twist) }
}
