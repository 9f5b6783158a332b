//! The limb within limits in the common case: where no limit binds, by the mathematics of `limited` in f32.
//!
//! With h the hinge's axis in model space, u and v the bones and w the part of v across h, the end is at the distance d where
//!
//! ```text
//! X cos t + Y sin t = K,   X = u . w,   Y = h . (v x u),   K = (d^2 - u^2 - v^2) / 2 - (h . u) (h . v).
//! ```
//!
//! Of the two solutions, that on the side of the pose has sin(t - t0) of the sign of -Y, so that with S^2 = X^2 + Y^2 - K^2, cos t
//! and sin t are K X + S Y and K Y - S X, times one length. No angle is computed. The middle joint is put on its hinge anew, so
//! that rounding does not add up from frame to frame.

use glam::{Quat, Vec3};

use super::{
    BendSide, LimbTurns, TwoBone, UNCERTAIN,
    plain::{CARRIED, LARGE, NEAR, SMALL, TURNED, UNEQUAL, UNNOTICED},
    points::jumped,
};
use crate::{
    Goal, Pole, Pose, Report, math,
    solve::{
        LimbOptions, Tolerance,
        arc::{distance, twist_towards},
        branch,
        options::ROTATION_TOLERANCE,
    },
};

/// Sine of the angle from straight below which the side is uncertain: two degrees, as for a limb without limits.
const BENT: f32 = 0.03;

/// A limb in a pose, with its hinge.
struct Hinged {
    u: Vec3,
    v: Vec3,
    h: Vec3,
    x: f32,
    y: f32,
    /// X^2 + Y^2.
    all: f32,
    /// K for the distance 0.
    k0: f32,
}

impl Hinged {
    /// Sine and cosine of half the angle that leads the end to the squared distance `d2`, on the side of the pose. `None` where
    /// none does, or it is a large turn.
    #[inline(always)]
    fn turn(&self, d2: f32) -> Option<[f32; 2]> {
        let Self { x, y, all, k0, .. } = *self;
        let k = 0.5 * d2 + k0;
        let s2 = all - k * k;
        let s = (s2 > 0.0).then(|| if y < 0.0 { -math::sqrt(s2) } else { math::sqrt(s2) })?;
        // The sine, and one more than the cosine, times one length.
        let (sin, w) = (k * y - s * x, all + (k * x + s * y));
        let l = 1.0 / math::sqrt(sin * sin + w * w);
        (w > TURNED * all).then_some([sin * l, w * l])
    }
}

impl TwoBone {
    /// A solve within limits in the common case, where none binds, as [`TwoBone::solve_plain`]. `None` in all other cases.
    #[inline(always)]
    pub(super) fn solve_plain_within(
        &self,
        pose: &mut Pose,
        goal: &Goal,
        options: &LimbOptions,
        tolerance: Tolerance,
    ) -> Option<Report> {
        let (at, to) = self.places_plain(pose, goal, options)?;
        if goal.swivel != 0.0 || self.side != BendSide::Keep {
            return None;
        }
        let [root, middle, tip] = self.turning();
        let above = pose.parent_frame(middle);
        let across = above.linear() * self.within?.across;
        // The last lane counts joints with a scale.
        let h = if above.at.w == 0.0 { across } else { across * (1.0 / math::sqrt(across.length_squared())) };
        let (u, v, e, g) = (at.middle - at.root, at.tip - at.middle, at.tip - at.root, to - at.root);
        let (aa, bb, ee, x2) =
            (u.length_squared(), v.length_squared(), e.length_squared(), g.length_squared());
        let (small, large) = (SMALL * SMALL, LARGE * LARGE);
        let (a, b) = (math::sqrt(aa), math::sqrt(bb));
        let (length, ab) = (a + b, a * b);
        let straight2 = length * length;
        let sizes = aa > small && aa < large && bb > small && bb < large && ab > UNEQUAL * straight2;
        if !(sizes && x2 > NEAR * straight2 && ee > NEAR * straight2) {
            return None;
        }
        let (hu, hv) = (h.dot(u), h.dot(v));
        let (x, y) = (u.dot(v) - hu * hv, h.dot(v.cross(u)));
        let limb = Hinged { u, v, h, x, y, all: x * x + y * y, k0: -0.5 * (aa + bb) - hu * hv };
        if y * y <= BENT * BENT * limb.all {
            return None;
        }
        let uncertain = UNCERTAIN * pose.extent(tip);
        let moved2 = (g - e).length_squared();
        let met = 1e-6 * length + 2.0 * uncertain;
        if moved2 < met * met {
            return None;
        }
        let turn = limb.turn(x2)?;
        let limits = pose.skeleton().limits(middle);
        let now = pose.local(middle).rotation;
        let bent = limits.pivoted(now, turn)?;
        let (soft, min) = (options.soft, options.min_flexion);
        if soft > 0.0 || min > 0.0 {
            // Neither the soft zone nor the minimum flexion begins before this distance.
            let share = 1.0 - soft;
            let far = x2 / (share * share);
            // cos m >= 1 - m^2 / 2.
            let bent = far < straight2 - ab * min * min;
            bent.then(|| limb.turn(far)).flatten().and_then(|turn| limits.pivoted(now, turn))?;
        }
        let turns = limb.root_turn(e, g, turn, [ee, x2])?;
        let turns = match goal.pole {
            Pole::Keep => LimbTurns {
                branch_changed: 1.0 - turns.root.w * turns.middle.w > UNNOTICED * moved2 / straight2
                    && jumped(&{ at }, &{ turns }),
                ..turns
            },
            pole => {
                limb.poled(pole.direction(at.root, Vec3::ZERO, Vec3::ZERO, 0.0), [e, g], x2, aa, turns)?
            }
        };
        let turned = pose.turned_plain(root, turns.root);
        let limits = pose.skeleton().limits(root);
        if !(limits.is_well_within(turned) || limits.is_within(turned)) {
            return None;
        }
        pose.set_plain([root, middle], [turned, bent]);
        Some(Report {
            iterations: 1,
            position_residual: distance(pose.parts().0[tip.index()].at.truncate(), to),
            position_tolerance: tolerance.metres(length) + 2.0 * uncertain,
            rotation_tolerance: ROTATION_TOLERANCE,
            branch_changed: turns.branch_changed,
            ..Report::default()
        })
    }
}

impl Hinged {
    /// The turns of middle joint and root that lead the end `e` to `g` by shortest arcs, from the turn of the middle joint.
    #[inline(always)]
    fn root_turn(&self, e: Vec3, g: Vec3, [s, c]: [f32; 2], [ee, x2]: [f32; 2]) -> Option<LimbTurns> {
        let Self { v, h, .. } = *self;
        // The end after the middle joint's turn.
        let e1 = e + ((h * h.dot(v) - v) * s + h.cross(v) * c) * (2.0 * s);
        let product = math::sqrt(ee * x2);
        let (lift, lw) = (e1.cross(e), product + e1.dot(e));
        let (carry, cw) = (e.cross(g), product + e.dot(g));
        if !(lw > CARRIED * product && cw > CARRIED * product) {
            return None;
        }
        let t = lift * cw + carry * lw + carry.cross(lift);
        let w = cw * lw - carry.dot(lift);
        let l = 1.0 / math::sqrt(t.length_squared() + w * w);
        let root = Quat::from_vec4((t * l).extend(w * l));
        let middle = Quat::from_vec4((h * s).extend(c));
        Some(LimbTurns { middle, root, out_of_reach: 0.0, branch_changed: false })
    }

    /// The turns followed by one about the goal's direction, that faces the pole `p` as seen from the root.
    #[inline(always)]
    fn poled(&self, p: Vec3, [e, g]: [Vec3; 2], x2: f32, aa: f32, turns: LimbTurns) -> Option<LimbTurns> {
        let own = math::rotate(turns.root, self.u);
        let axis = g * (1.0 / math::sqrt(x2));
        let along = own.dot(axis);
        if aa - along * along <= BENT * BENT * aa {
            return None;
        }
        let (twist, _) = twist_towards(axis, own, p);
        // The bend after that turn, across the axis, times one length.
        let (s, w) = (Vec3::new(twist.x, twist.y, twist.z).dot(axis), twist.w);
        let bend = own * (w * w - s * s) + axis.cross(own) * (2.0 * s * w);
        // Of any length: the root's rotation is normalised in its local space.
        let root = math::mul(twist, turns.root);
        let branch_changed = branch::flipped_onto(e, self.u, axis, bend);
        Some(LimbTurns { root, branch_changed, ..turns })
    }
}
