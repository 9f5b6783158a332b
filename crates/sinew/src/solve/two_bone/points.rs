//! The limb on bare points: three places in, two rotations out.

use glam::{Quat, Vec3};

use super::{
    BendSide,
    general::{self, BLUR, TINY},
};
use crate::{
    Pole, math,
    solve::{
        arc::{largest, max, min, to_unit, twist_towards},
        soften,
    },
};

/// Where a limb is, in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Points {
    /// The root (hip, shoulder).
    pub root: Vec3,
    /// The middle joint (knee, elbow).
    pub middle: Vec3,
    /// The end.
    pub tip: Vec3,
}

/// How a limb may bend; see the fields of the same names of [`TwoBone`](super::TwoBone).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// The hinge axis of the middle joint as a unit vector in *model* space, where it is known.
    pub hinge: Option<Vec3>,
    /// Which side of the hinge the limb bends to.
    pub side: BendSide,
    /// Radians about the axis from the root to the goal, added to the bend plane.
    pub swivel: f32,
    /// The soft zone as a fraction of the limb's reach, 0 to 1.
    pub soft: f32,
    /// Radians of flexion that remain, 0 to pi.
    pub min_flexion: f32,
}

impl Bend {
    /// Nothing is known and nothing asked for.
    pub const FREE: Self =
        Self { hinge: None, side: BendSide::Keep, swivel: 0.0, soft: 0.0, min_flexion: 0.0 };
}

/// What [`solve_points`] found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turns {
    /// Turn of the middle joint about its own place, in model space, made first.
    pub middle: Quat,
    /// Turn of the whole limb about the root, in model space, made after it. The lower bone so turns by
    /// `root * middle`.
    pub root: Quat,
    /// How far the goal lies outside what the limb can or may reach, in metres; 0 where it is in reach.
    pub by: f32,
    /// Whether the limb bends to the other side than it came.
    pub branch_changed: bool,
}

/// Turns that bring the end of the limb `at` to `goal`, in model space; see [`TwoBone`](super::TwoBone) for the mathematics. Every number
/// given must be finite; then every number that comes back is.
#[inline]
pub fn solve_points(at: &Points, goal: Vec3, pole: Pole, bend: &Bend) -> Turns {
    let (u, v, g) = (at.middle - at.root, at.tip - at.middle, goal - at.root);
    let size = max(largest(u), largest(v));
    // Lengths near 1, so that products of eight lengths neither overflow nor vanish at any scale.
    let k = to_unit(size);
    let (u, v) = (u * k, v * k);
    let (g, gl, x) = near(g, k, goal, at.root);
    let e = u + v;
    // u x e is u x v, but rounds with the end's distance and not with the bones' lengths.
    let c = u.cross(e);
    let (aa, bb, ue, uv) = (u.length_squared(), v.length_squared(), u.dot(e), u.dot(v));
    let (a, b, cl, el) =
        (math::sqrt(aa), math::sqrt(bb), math::sqrt(c.length_squared()), math::sqrt(e.length_squared()));
    let (ab, straight, shortest) = (a * b, a + b, a - b);
    let held = bend.min_flexion > 0.0 || bend.soft > 0.0;
    let d = if held { distance(a, b, x, bend) } else { max(min(x, straight), shortest.abs()) };
    // Cosine and sine of the flexion there shall be, times ab (the cosine rule; the sine by Heron's formula).
    let c1 = 0.5 * (d * d - (aa + bb));
    let s1 = 0.5 * math::sqrt(max((straight - d) * (straight + d) * ((d - shortest) * (d + shortest)), 0.0));
    let flipped = match (bend.side, bend.hinge) {
        (BendSide::Keep, _) | (_, None) => false,
        (BendSide::Positive, Some(h)) => c.dot(h) < 0.0,
        (BendSide::Negative, Some(h)) => c.dot(h) > 0.0,
    };
    // On the wrong side the axis turns round, and the flexion that is there counts as negative.
    let (c, s0) = if flipped { (-c, -cl) } else { (c, cl) };
    // The middle joint's turn: 1 + cos and sin of the difference of the two flexions, times (ab)^2.
    let mw = ab * ab + (c1 * uv + s1 * s0);
    let ms = s1 * uv - c1 * s0;
    // The turn in the bend plane that brings the end back onto its direction: 1 + cos and sin of the difference of the
    // angles at the root, times a^2 el d.
    let ue1 = aa + c1;
    let lw = aa * el * d + (ue * ue1 + s0 * s1);
    let ls = s0 * ue1 - ue * s1;
    // And the shortest arc to the goal, times el gl.
    let cw = el * gl + e.dot(g);
    let carry = e.cross(g);
    let clear = cl > BLUR * ab
        && x > TINY * straight
        && mw > 0.1 * ab * ab
        && lw > 0.1 * (aa * el * d)
        && cw > 0.1 * (el * gl)
        && min(min(d, el), min(a, b)) > 1e-3 * straight;
    if !clear {
        return general::solve(at, goal, pole, bend);
    }

    let turned = bend.swivel != 0.0 || pole != Pole::Keep;
    let by = (x - d).abs();
    let by = if by > 1e-6 * straight { (by / k).min(f32::MAX) } else { 0.0 };
    let still = Turns { middle: Quat::IDENTITY, root: Quat::IDENTITY, by, branch_changed: false };
    let off = (e * gl - g * d).length_squared();
    let there = off <= 1e-4 * gl * gl && !flipped && off <= square(rounding(at, goal, straight, k) * gl);
    if there && !turned {
        return still;
    }

    // Quaternions with their lengths still on them: one division each, at the end.
    let ml = 1.0 / (cl * math::sqrt(mw * mw + ms * ms));
    let mv = c * (ms * ml);
    let middle = Quat::from_xyzw(mv.x, mv.y, mv.z, mw * (cl * ml));
    // carry * lift, where lift is (n ls, lw) with n = c / cl.
    let (lv, lw) = (c * ls, lw * cl);
    let rv = carry * lw + lv * cw + carry.cross(lv);
    let root = math::normalize(Quat::from_xyzw(rv.x, rv.y, rv.z, cw * lw - carry.dot(lv)));
    if !turned {
        return Turns { middle, root, by, branch_changed: flipped };
    }
    let (twist, changed) = about_goal(g * (1.0 / gl), math::rotate(root, c), pole, at.root, bend.swivel);
    if there && Vec3::new(twist.x, twist.y, twist.z).length_squared() < 1e-12 * twist.w * twist.w {
        return still;
    }
    let root = math::normalize(math::mul(twist, root));
    Turns { middle, root, by, branch_changed: flipped != changed }
}

#[inline(always)]
fn square(x: f32) -> f32 {
    x * x
}

/// What the places' own rounding amounts to (in lengths scaled by `k`): nearer to a goal than this is not nearer.
#[inline]
pub(super) fn rounding(at: &Points, goal: Vec3, straight: f32, k: f32) -> f32 {
    let places = largest(at.root).max(largest(at.tip)).max(largest(goal).min(1e6 / k));
    7e-7 * straight + 3e-7 * k * places
}

/// The distance that a limb with the bones `a` and `b` goes to for a goal at `x`.
#[cold]
pub(super) fn distance(a: f32, b: f32, x: f32, bend: &Bend) -> f32 {
    let reach = if bend.min_flexion > 0.0 {
        math::sqrt((a * a + b * b + 2.0 * (a * b) * math::cos(bend.min_flexion)).max(0.0))
    } else {
        a + b
    };
    soften(x, reach, bend.soft).max((a - b).abs())
}

/// The way to the goal scaled by `k`, its length, and the goal's distance, all safe from overflow. The way to a goal a
/// million limbs off is shortened; it is out of reach in either place.
#[inline(always)]
pub(super) fn near(g: Vec3, k: f32, goal: Vec3, root: Vec3) -> (Vec3, f32, f32) {
    let scaled = g * k;
    let x2 = scaled.length_squared();
    // Not so for an overflow either.
    if x2 < 1e12 {
        let x = math::sqrt(x2);
        return (scaled, x, x);
    }
    far(k, goal, root)
}

#[cold]
fn far(k: f32, goal: Vec3, root: Vec3) -> (Vec3, f32, f32) {
    // Halves, since the difference of two large places may overflow.
    let half = goal * 0.5 - root * 0.5;
    let unit = to_unit(largest(half));
    let way = half * unit;
    let length = math::sqrt(way.length_squared());
    (way, length, (length / unit * k * 2.0).min(f32::MAX))
}

/// Turn, of no particular length, about the unit vector `axis` (root to goal) that brings the bend plane with the normal `n` to the pole, and
/// then by `swivel` on; and whether the middle joint so comes to point the other way.
pub(super) fn about_goal(axis: Vec3, n: Vec3, pole: Pole, root: Vec3, swivel: f32) -> (Quat, bool) {
    // The way that the middle joint points, across the limb.
    let own = axis.cross(n);
    let wanted = match pole {
        Pole::Keep => Vec3::ZERO,
        // Halves, since the difference of two large places may overflow.
        Pole::Point(p) => p * 0.5 - root * 0.5,
        Pole::Direction(p) => p,
    };
    let (twist, changed) = twist_towards(axis, own, wanted);
    if swivel == 0.0 {
        return (twist, changed);
    }
    (math::mul(math::axis_angle(axis, swivel), twist), changed)
}
