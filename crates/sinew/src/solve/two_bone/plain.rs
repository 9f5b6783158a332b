//! The two-bone limb in the common case, by the shortest computation: three positions in, two rotations out.

use core::f32::consts::PI;

use glam::{Quat, Vec3, Vec4, Vec4Swizzles};

use super::{
    BendSide, TwoBone, UNCERTAIN, general,
    points::{LimbBend, LimbPoints, LimbTurns, distance, jumped},
};
use crate::{
    Goal, Pole, Pose, Report, math,
    solve::{
        LimbOptions, Tolerance,
        arc::{FADE, distance as far_apart, max},
        options::ROTATION_TOLERANCE,
    },
};

/// Range of the bones' lengths, in metres, in the common case: none of its products overflows or underflows in f32. The
/// longest products have eight lengths and are squared.
pub(super) const SMALL: f32 = 0.03;
pub(super) const LARGE: f32 = 100.0;
/// Squared distance of the goal or end, as a share of the squared straight length, below which the general case rounds less:
/// a tenth of the length. The rounding of the cosine rule grows as the length over the distance.
pub(super) const NEAR: f32 = 1e-2;
/// Squared distance, as that share, above which it no longer tells whether the goal is in reach: ten lengths.
const FAR: f32 = 100.0;
/// Ratio of the bones' lengths below which the general case applies.
pub(super) const UNEQUAL: f32 = 1e-3;
/// Sine of the flexion below which the bend axis is uncertain in its last digits: two degrees.
const BENT: f32 = 0.03;
/// 1 + cos of the middle joint's turn below which that turn magnifies the uncertainty of its axis: 135 degrees.
pub(super) const TURNED: f32 = 0.3;
/// 1 + cos of the root's turns below which they do: 155 degrees, as their axes are as accurate as their vectors.
pub(super) const CARRIED: f32 = 0.1;
/// Squared distance from end to goal, as a share of the squared straight length, that counts as near: 0.003 of the length.
const CLOSE: f32 = 1e-5;
/// Bound of 1 less the product of the cosines of half the turns, up to which no branch changes, per squared share of the
/// limb's length that the end moves. A turn in radians is at most pi times the sine of its half, and the branch stays the
/// same up to eight radians per limb length. The value is half the square of that ratio, less a tenth for rounding.
pub(super) const UNNOTICED: f32 = 0.9 * 32.0 / (PI * PI);

/// Turns that bring the end of the limb `at` to `goal`, both in model space; see [`TwoBone`](super::TwoBone) for the
/// mathematics. All inputs must be finite; then all outputs are.
#[inline]
pub fn solve_points(at: &LimbPoints, goal: Vec3, pole: Pole, bend: &LimbBend) -> LimbTurns {
    let solved = common(at, goal, pole, bend);
    solved.map_or_else(|| general::solve(at, goal, pole, bend), |(turns, _)| turns)
}

/// [`solve_points`], compiled once for all limbs in poses.
pub(super) fn solve_points_once(at: &LimbPoints, goal: Vec3, pole: Pole, bend: &LimbBend) -> LimbTurns {
    let solved = common_once(at, goal, pole, bend);
    solved.map_or_else(|| general::solve(at, goal, pole, bend), |(turns, _)| turns)
}

/// [`common`], compiled once: a call costs less than a fiftieth of a solve, and a copy 2 kB.
#[inline(never)]
fn common_once(at: &LimbPoints, goal: Vec3, pole: Pole, bend: &LimbBend) -> Option<(LimbTurns, f32)> {
    common(at, goal, pole, bend)
}

/// The solution in the common case, and the sum of the bones' lengths. `None` in all other cases.
#[inline(always)]
fn common(at: &LimbPoints, goal: Vec3, pole: Pole, bend: &LimbBend) -> Option<(LimbTurns, f32)> {
    if bend.swivel != 0.0 {
        return None;
    }
    let plain = plain(at, goal, bend)?;
    let turns = match pole {
        Pole::Keep => Some(kept(at, &plain)),
        Pole::Point(p) => poled(p - at.root, &plain),
        Pole::Direction(d) => poled(d, &plain),
    };
    Some((turns?, math::sqrt(plain.aa) + math::sqrt(plain.bb)))
}

impl TwoBone {
    /// The positions of the limb in an updated pose, and that of the goal, in the common case.
    #[inline(always)]
    pub(super) fn places_plain(
        &self,
        pose: &mut Pose,
        goal: &Goal,
        options: &LimbOptions,
    ) -> Option<(LimbPoints, Vec3)> {
        let ([root, middle, tip], to) = (self.turning(), goal.position?);
        let pole = match goal.pole {
            Pole::Keep => Vec3::ZERO,
            Pole::Point(p) | Pole::Direction(p) => p,
        };
        // The sum is not finite where a number is not.
        let sum = to + pole + self.hinge.unwrap_or_default();
        let common = goal.position_influence == 1.0
            && options.influence == 1.0
            && options.max_turn == f32::INFINITY
            && goal.rotation.is_none()
            && self.chain.tip_offset() == Vec3::ZERO
            && (0.0..=1.0).contains(&goal.rotation_influence)
            && (0.0..=1.0).contains(&options.soft)
            && (0.0..=PI).contains(&options.min_flexion)
            && (sum.x + sum.y + sum.z + goal.swivel).abs() < f32::INFINITY;
        if !common {
            return None;
        }
        pose.update();
        if !pose.is_plain(tip) {
            return None;
        }
        let (frames, _) = pose.parts();
        let [r, m, t] = [root, middle, tip].map(|joint| frames[joint.index()].at.truncate());
        Some((LimbPoints { root: r, middle: m, tip: t }, to))
    }

    /// A solve in the common case: of a position alone, applied in full, without a bound on turns, below even scales. `None`
    /// in all other cases and for arguments that are not allowed; the pose is then updated at most.
    #[inline(always)]
    pub(super) fn solve_plain(
        &self,
        pose: &mut Pose,
        goal: &Goal,
        options: &LimbOptions,
        tolerance: Tolerance,
    ) -> Option<Report> {
        let (at, to) = self.places_plain(pose, goal, options)?;
        let [root, middle, tip] = self.turning();
        // The kernel reads the hinge for a side alone.
        let hinge = if self.side == BendSide::Keep { None } else { self.hinge_in(pose) };
        let (side, LimbOptions { soft, min_flexion, .. }) = (self.side, *options);
        let bend = LimbBend { hinge, side, swivel: goal.swivel, soft, min_flexion, uncertain: 0.0 };
        let (turns, length) = common_once(&at, to, goal.pole, &bend)?;
        // The soft zone lies within the reach, which must be measured without it.
        if soft > 0.0 && turns.out_of_reach > 0.0 {
            return None;
        }
        let uncertain = UNCERTAIN * pose.extent(tip);
        pose.turn_plain([root, middle], [turns.root, turns.middle]);
        Some(Report {
            out_of_reach: turns.out_of_reach,
            iterations: 1,
            position_residual: far_apart(pose.parts().0[tip.index()].at.truncate(), to),
            position_tolerance: tolerance.metres(length) + 2.0 * uncertain,
            rotation_tolerance: ROTATION_TOLERANCE,
            branch_changed: turns.branch_changed,
            ..Report::default()
        })
    }
}

/// The solution that keeps the bend plane of the pose.
#[inline(always)]
fn kept(at: &LimbPoints, plain: &Plain) -> LimbTurns {
    let [x, y, z, w] = plain.root;
    let l = 1.0 / math::sqrt(x * x + y * y + z * z + w * w);
    let root = Quat::from_xyzw(x * l, y * l, z * l, w * l);
    let mut turns = LimbTurns { middle: plain.middle, root, out_of_reach: plain.by, branch_changed: false };
    // The squared sines of half the turns add up to no more than 2 less twice the product of the cosines.
    if 1.0 - root.w * plain.middle.w > plain.unnoticed {
        // Copies, as what is passed by reference stays in memory.
        turns.branch_changed = jumped(&{ *at }, &{ turns });
    }
    turns
}

/// The solution whose middle joint turns towards `p`, relative to the root. `None` where `p` is in line with the goal.
#[inline(always)]
fn poled(p: Vec3, plain: &Plain) -> Option<LimbTurns> {
    let Plain { c, e, g, carry, .. } = *plain;
    // The pole turns the bend plane about the vector g to the goal. Let n be the unit vector along c, carried along to n'.
    // The middle joint points to g x n', and the sine and cosine of the angle from there to p are -p . n' and p . (g x n') /
    // |g|, times one length. As n lies across e, n' = n - (n . g) (e + g |e| / |g|) / cw.
    let (pp, gp) = (p.length_squared(), p.dot(g));
    // A pole in line with the goal is undefined; the general case fades it out near there.
    if !(pp > SMALL * SMALL * 1e-6
        && pp < LARGE * LARGE * 1e6
        && plain.x2 * pp * (1.0 - FADE * FADE) > gp * gp)
    {
        return None;
    }
    let ix = 1.0 / math::sqrt(plain.x2);
    let q = c.dot(g) / plain.cw;
    let sin = q * (e.dot(p) + gp * (plain.product * (ix * ix))) - c.dot(p);
    let cos = (q * carry.dot(p) - g.cross(p).dot(c)) * ix;
    let length = math::sqrt(sin * sin + cos * cos);
    // Half the angle, in the form without cancellation.
    let (s, w) = if cos >= 0.0 { (sin, length + cos) } else { (length - cos, sin) };
    let t = g * (s * ix);
    let [x, y, z, rw] = plain.root;
    let v = Vec3::new(x, y, z);
    let (v, w) = (v * w + t * rw + t.cross(v), w * rw - t.dot(v));
    let l = 1.0 / math::sqrt(v.length_squared() + w * w);
    let root = Quat::from_xyzw(v.x * l, v.y * l, v.z * l, w * l);
    Some(LimbTurns { middle: plain.middle, root, out_of_reach: plain.by, branch_changed: cos < 0.0 })
}

/// Results of the common case, before a pole is followed.
struct Plain {
    /// The middle joint's turn.
    middle: Quat,
    /// The root's turn as x, y, z, w, of no particular length.
    root: [f32; 4],
    /// See [`LimbTurns::out_of_reach`].
    by: f32,
    /// u x e, the bend axis.
    c: Vec3,
    /// Vector from the root to the end.
    e: Vec3,
    /// Vector from the root to the goal.
    g: Vec3,
    /// e x g.
    carry: Vec3,
    /// |e| |g| + e . g.
    cw: f32,
    /// |e| |g|.
    product: f32,
    /// |g|^2.
    x2: f32,
    /// Squared lengths of the bones.
    aa: f32,
    bb: f32,
    /// Bound of 1 less the product of the cosines of half the turns, up to which no branch changed.
    unnoticed: f32,
}

/// The common case: bones of ordinary size, bent, with a goal within a few lengths that is not opposite. `None` in all other
/// cases; each test stands where its numbers become known.
///
/// Four vectors lie side by side in the lanes of x, y and z: the bones u and v, the vector g to the goal and the vector e to
/// the end. One row of products makes four dot or cross products. (Without this, LLVM packs the components of single
/// products, and shuffles more than it saves.) Lanes never mix in a sum: the bits are those of scalar code.
#[inline(always)]
fn plain(at: &LimbPoints, goal: Vec3, bend: &LimbBend) -> Option<Plain> {
    let (r, m, t) = (at.root, at.middle, at.tip);
    let x = Vec4::new(m.x, t.x, goal.x, t.x) - Vec4::new(r.x, m.x, r.x, r.x);
    let y = Vec4::new(m.y, t.y, goal.y, t.y) - Vec4::new(r.y, m.y, r.y, r.y);
    let z = Vec4::new(m.z, t.z, goal.z, t.z) - Vec4::new(r.z, m.z, r.z, r.z);
    let [aa, bb, x2, ee] = (x * x + y * y + z * z).to_array();
    // Written so that NaN, the result of overflow, fails.
    let (small, large) = (SMALL * SMALL, LARGE * LARGE);
    if !(aa > small && aa < large && bb > small && bb < large) {
        return None;
    }
    let ab = math::sqrt(aa * bb);
    let sum = aa + bb;
    // The square of the straight limb's length. The folded one's is sum - 2 ab.
    let straight2 = sum + 2.0 * ab;
    let (near, far) = (NEAR * straight2, FAR * straight2);
    if !(x2 > near && x2 < far && x2 > sum - (2.0 - NEAR) * ab && ab > UNEQUAL * sum && ee > near) {
        return None;
    }
    // Cosine of the final flexion, times ab (the cosine rule), and the share of the distance to the goal that is in reach.
    let (mut c1, mut part) = (0.5 * (x2 - sum), 1.0);
    // cos m >= 1 - m^2 / 2 saves the cosine of the minimum flexion where it does not matter.
    let (min, onset) = (bend.min_flexion, 1.0 - bend.soft);
    if x2 > (straight2 - ab * (min * min)) * (onset * onset) {
        (c1, part) = at_the_end(aa, bb, x2, bend);
    }
    let s1 = math::sqrt(max((ab - c1) * (ab + c1), 0.0));

    // Components along and across e. u x e is u x v, but rounds with the end's distance and not with the bones' lengths.
    let (ex, ey, ez) = (x.wwww(), y.wwww(), z.wwww());
    let along = x * ex + y * ey + z * ez;
    let (cx, cy, cz) = (y * ez - z * ey, z * ex - x * ez, x * ey - y * ex);
    let cc = (cx * cx + cy * cy + cz * cz).x;
    if cc <= (BENT * BENT) * (aa * bb) {
        return None;
    }
    let c = Vec3::new(cx.x, cy.x, cz.x);
    if bend.side != BendSide::Keep && flips(c, bend) {
        return None;
    }
    let s0 = math::sqrt(cc);
    let ue = along.x;
    let uv = ue - aa;
    // The middle joint's turn: 1 + cos and sin of the difference of the two flexions, times (ab)^2.
    let mw = aa * bb + (c1 * uv + s1 * s0);
    let ms = s1 * uv - c1 * s0;
    // The turn in the bend plane that returns the end to its direction: 1 + cos and sin of the difference of the angles at
    // the root, times a^2 |e| d.
    let product = math::sqrt(ee * x2);
    let ue1 = aa + c1;
    let all = aa * (product * part);
    let lw = all + (ue * ue1 + s0 * s1);
    // The shortest arc to the goal, times |e| |g|.
    let cw = product + along.z;
    if !(mw > TURNED * (aa * bb) && lw > CARRIED * all && cw > CARRIED * product) {
        return None;
    }
    // A limb this near to its goal may have met it already. The sum cancels, and is exact to a thousandth of the limb.
    let moved2 = ee + part * (part * x2 - 2.0 * along.z);
    if moved2 < CLOSE * straight2 {
        return None;
    }
    let unnoticed = UNNOTICED * moved2 / straight2;
    let by = if part < 1.0 { out_by(part, x2, straight2) } else { 0.0 };

    // The root's turn, carry * lift, not normalised: carry = (w, cw) with w = e x g, lift = (c k, lw).
    let inverse = 1.0 / s0;
    let k = (s0 * ue1 - ue * s1) * inverse;
    let (wx, wy, wz) = (-cx.zzzz(), -cy.zzzz(), -cz.zzzz());
    let wc = (wx * cx + wy * cy + wz * cz).x;
    let (l, f, h) = (Vec4::splat(lw), Vec4::splat(k * cw), Vec4::splat(k));
    let root = [
        (wx * l + cx * f + (wy * cz - wz * cy) * h).x,
        (wy * l + cy * f + (wz * cx - wx * cz) * h).x,
        (wz * l + cz * f + (wx * cy - wy * cx) * h).x,
        cw * lw - wc * k,
    ];
    let ml = 1.0 / math::sqrt(ms * ms + mw * mw);
    let (mv, mw) = (ms * (ml * inverse), mw * ml);
    let middle = Quat::from_xyzw(c.x * mv, c.y * mv, c.z * mv, mw);
    let (e, g) = (Vec3::new(ex.x, ey.x, ez.x), Vec3::new(x.z, y.z, z.z));
    let (carry, c) = (Vec3::new(wx.x, wy.x, wz.x), c * inverse);
    Some(Plain { middle, root, by, c, e, g, carry, cw, product, x2, aa, bb, unnoticed })
}

/// Cosine of the flexion (times ab) and the share of the distance to the goal that is in reach, for a goal at the end of the
/// reach or beyond. `x2` is the square of its distance.
#[inline(never)]
fn at_the_end(aa: f32, bb: f32, x2: f32, bend: &LimbBend) -> (f32, f32) {
    let (a, b, x) = (math::sqrt(aa), math::sqrt(bb), math::sqrt(x2));
    let straight = a + b;
    if bend.min_flexion > 0.0 || bend.soft > 0.0 {
        let d = distance(a, b, x, bend);
        return (0.5 * (d * d - (aa + bb)), d / x);
    }
    // Exactly straight; the cosine rule would miss that by the root of its rounding.
    if x > straight { (a * b, straight / x) } else { (0.5 * (x2 - (aa + bb)), 1.0) }
}

/// Distance by which the goal is out of reach, where `part` of the distance to it is in reach.
#[inline]
fn out_by(part: f32, x2: f32, straight2: f32) -> f32 {
    let by = math::sqrt(x2) * (1.0 - part);
    if by * by > 1e-12 * straight2 { by } else { 0.0 }
}

/// Whether a limb with the bend axis `c` bends to the wrong side.
fn flips(c: Vec3, bend: &LimbBend) -> bool {
    match (bend.side, bend.hinge) {
        (BendSide::Keep, _) | (_, None) => false,
        (BendSide::Positive, Some(h)) => c.dot(h) < 0.0,
        (BendSide::Negative, Some(h)) => c.dot(h) > 0.0,
    }
}
