//! The turn of a chain about the line from its root to its end, towards its pole.

use glam::Vec3;

use super::{Asked, Method, Run};
use crate::{
    Outcome, Pole, Report, math,
    solve::{arc::twist_towards, chain_state::IN_ALL},
};

/// The side that the middle of the chain turns to.
#[derive(Clone, Copy)]
pub(super) struct Side {
    pub pole: Pole,
    pub swivel: f32,
}

impl Side {
    pub const KEPT: Self = Self { pole: Pole::Keep, swivel: 0.0 };

    pub fn is_kept(self) -> bool {
        self.pole == Pole::Keep && self.swivel == 0.0
    }
}

impl Run<'_, '_> {
    /// Turns the chain to its side. With a rotation goal, the chain takes the tip along, which then turns back; `status` is
    /// that of the search before, and `initial` the residual of the input pose in metres. Returns the new status.
    pub(super) fn turn_to_side(
        &mut self,
        asked: &Asked,
        mut side: Side,
        initial: f32,
        mut status: Outcome,
        report: &mut Report,
    ) -> Outcome {
        let Asked { ask, seen, .. } = asked;
        // With a rotation goal, the chain turned about its axis takes the tip along, which then turns back. Where limits
        // or a bound on turns prevent that, the pole yields: it may not increase the residual above the initial one, nor
        // above that without the pole by more than the tolerance.
        let allowed = initial.min(self.judge(ask, self.on.links.measure(ask)) + ask.near);
        for _ in 0..4 {
            // The bound is reduced by what the rounding of turning back would take: it would not turn back about the
            // same axis.
            let left = (IN_ALL * self.max_turn - self.on.links.turned()).max(0.0);
            let angle = self.to_side(&mut side).clamp(-left, left);
            self.on.links.keep(&mut self.on.unturned);
            // A smaller angle is rounding of the mean position.
            if angle.abs() < 2e-5 || !self.on.links.swivel(angle) {
                break;
            }
            // Where sweeps or steps are the whole method, only they count as iterations.
            report.iterations += u32::from(self.plan.method == Method::Both);
            if ask.turn.is_none() {
                break;
            }
            let before = status;
            let left = self.on.links.measure(ask);
            status = self.descend(ask, *seen, left, report);
            let left = self.on.links.measure(ask);
            if !ask.met(left) && self.judge(ask, left) > allowed {
                self.on.links.put(&self.on.unturned);
                status = before;
                break;
            }
        }
        status
    }

    /// The angle in radians about the axis from root to end that turns the mean of the joints between to its side. A kept
    /// bend plane with a swivel angle becomes a direction in `side`, so that the next round repeats it.
    fn to_side(&self, side: &mut Side) -> f32 {
        let (root, end) = (self.on.links.place(0), self.on.links.end());
        let Some(axis) = (end - root).try_normalize() else { return 0.0 };
        let count = self.on.links.links.len();
        if count < 2 {
            return 0.0;
        }
        let mut middle = Vec3::ZERO;
        for i in 1..count {
            middle += self.on.links.place(i) - root;
        }
        let middle = middle / (count - 1) as f32;
        let across = middle - axis * middle.dot(axis);
        // A straight chain has no side; below this distance its bend is rounding.
        if math::sqrt(across.length_squared()) < 1e-4 * self.on.links.length() + self.on.links.rounding {
            return 0.0;
        }
        let wanted = side.pole.direction(root, across, axis, side.swivel);
        if side.pole == Pole::Keep {
            *side = Side { pole: Pole::Direction(wanted), swivel: 0.0 };
        }
        let (q, _) = twist_towards(axis, middle, wanted);
        2.0 * math::atan2(Vec3::new(q.x, q.y, q.z).dot(axis), q.w)
    }
}
