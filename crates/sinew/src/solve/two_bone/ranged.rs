//! The limb within ranges that are not those of its skeleton, such as a person's arm.

use glam::{DQuat, DVec3};

use super::limited::{Limb, ROUNDING, STILL, led};
use crate::{
    joint::{Limits, Pivot, Socket, around},
    math64::atan2,
};

/// Sine of the bend below which a limb has no plane.
const STRAIGHT: f64 = 1e-6;

/// Ranges of a limb: of its root, a ball, and of the angle between its bones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranged {
    root: Socket,
    flexion: [f64; 2],
}

impl Ranged {
    /// A root within `root`, and a flexion between two angles in radians, 0 where the limb is straight.
    pub fn new(root: &Limits, flexion: [f64; 2]) -> Self {
        Self { root: root.socket(), flexion }
    }

    /// Where a limb without limits must go instead of to its goal (`None`: nowhere else), and with which swivel in radians, to be in
    /// the pose within the ranges whose end is nearest to the goal, and of these the nearest to the limb's own plane.
    ///
    /// In the space of the root's parent, from the root: `middle` and `end` of the limb in the pose from which it starts, and its
    /// root's rotation there. `frame` is that space's rotation in the frame in which the root's range counts.
    pub fn lead(
        &self,
        [middle, end]: [DVec3; 2],
        frame: DQuat,
        root: DQuat,
        goal: DVec3,
    ) -> (Option<DVec3>, f64) {
        let (u, v) = (middle, end - middle);
        let (normal, along) = (u.cross(v), u.dot(v));
        let (sine, size, x) = (normal.length(), u.length() + v.length(), goal.length());
        // Not for NaN either.
        if !(sine > STRAIGHT * u.length() * v.length() && x < f64::INFINITY) {
            return (None, 0.0);
        }
        let socket = self.root.below(frame);
        let (before, after, axis) = (DQuat::IDENTITY, DQuat::IDENTITY, DVec3::X);
        let pivot = Pivot { before, axis, after, now: atan2(sine, along), ends: self.flexion };
        let limb = Limb::of([DVec3::ZERO, middle, end], normal / sine, root, pivot);
        let [nearest, reach] = limb.reach();
        let d = x.min(reach).max(nearest);
        let aim = if x > ROUNDING * size { goal / x } else { end / end.length().max(f64::MIN_POSITIVE) };
        let (ts, count) = limb.flexions(d, 1.0);
        let [a, b, c] = socket.coordinates(root);
        let now = [a, b, c, limb.pivot.now];
        let free = |aim: DVec3, t: f64| limb.carried(root, end, aim, t);
        let nearby = limb.nearby(&socket, aim, x);
        let (to, t) = led(&nearby, now, aim, [&ts[..count], &ts[..1]], |t| free(aim, t));
        let reached = to * limb.arm.end(t);
        let length = reached.length();
        let by = to * free(reached / length.max(f64::MIN_POSITIVE), t).conjugate();
        let swivel = around(2.0 * atan2(by.xyz().dot(reached), by.w * length));
        // Beyond its reach a limb that points at the goal is as the free one.
        let met = d <= x && (reached - aim * d).length() <= 2.0 * ROUNDING * size;
        (Some(reached).filter(|_| !met), if swivel.abs() > STILL { swivel } else { 0.0 })
    }
}
