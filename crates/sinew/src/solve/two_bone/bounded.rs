//! Two-bone solves with a bound on the turn of each joint.

use glam::{Quat, Vec3};

use super::{BendSide, Input, Task, TwoBone, general::TINY, towards};
use crate::{
    Goal, Pole, Pose, math,
    solve::{
        LimbOptions,
        arc::{direction, distance},
        partial::{largest_share, partial},
    },
};

/// Share of the bound on the root's turn reserved for a pole or swivel angle: a goal that keeps moving would leave none.
const TWIST: f32 = 0.25;

/// Halvings of a share: f32 resolves no smaller turns.
const HALVINGS: u32 = 20;

impl TwoBone {
    /// Replaces a solution that turned a joint too far by one within the bound, on a path of the end towards that solution.
    ///
    /// Let r be the initial distance of the end from the root, R its distance after the solve, and phi the angle between the
    /// two directions. Once the end's direction has turned by a share s of phi, the solution is nearest at the distance R
    /// cos(phi (1 - s)), clamped between r and R. That distance is monotonic in s, and the end comes nearer all the way from
    /// r to it. It does so too on the path used here, which covers the share s of that difference. The tip's rotation
    /// follows by the same share; where one of the two can go no further, the other continues. The pole or swivel angle
    /// comes last.
    #[cold]
    #[inline(never)]
    pub(super) fn hold_back(&self, pose: &mut Pose, task: &Task, input: &Input, [weight, spin]: [f32; 2]) {
        let (tip, bound) = (self.chain.tip(), task.options.max_turn);
        // With a rotation goal and an offset at the tip, the tip joint is led.
        let by_joint = task.goal.rotation.is_some() && spin > 0.0;
        let (end, to) = (self.chain.end(pose), self.places(pose, by_joint));
        let last = task.goal.rotation.filter(|_| spin > 0.0).map(|_| pose.model_rotation(tip));
        self.restore(pose, input.before);
        let now = pose.model_rotation(tip);
        let softened = weight < 1.0 || task.options.soft > 0.0 || task.options.min_flexion > 0.0;
        let place = if softened { end } else { task.to };
        let start = self.places(pose, by_joint);
        let arm = input.start.tip - start.tip;
        let length = distance(start.middle, start.root) + distance(start.tip, start.middle);

        let [e, g] = [start.tip, to.tip].map(|end| end - start.root);
        let [from, far] = [e, g].map(|v| math::sqrt(v.length_squared()));
        // A limb folded onto its root has no direction yet; one that will be folded keeps its own.
        let along = direction(if from > TINY * length { e } else { g });
        let towards_goal = if far > TINY * length { direction(g) } else { along };
        // Opposite directions are joined within the limb's final plane.
        let carry = math::shortest_arc(along, towards_goal, (to.middle - start.root).cross(g));
        let angle = math::angle_between(Quat::IDENTITY, carry);
        let options = LimbOptions::new();
        // Applies shares of the end's path (x) and of the tip's turn (y), and a swivel in radians (z). Returns the largest
        // turn of a joint in radians, and the residual in metres, with a radian as half a length.
        let go = |pose: &mut Pose, side, shares: Vec3| {
            self.restore(pose, input.before);
            let best = (far * math::cos(angle * (1.0 - shares.x))).max(from.min(far)).min(from.max(far));
            let v = math::rotate(partial(carry, shares.x), along) * (from + (best - from) * shares.x);
            let rotation = last.map(|q| towards(now, q, shares.y));
            let turn = math::mul(rotation.unwrap_or(now), math::conjugate(now));
            let to = start.root + v + math::rotate(turn, arm);
            let goal = Goal { rotation, swivel: shares.z, pole: Pole::Keep, ..*task.goal };
            let task = Task { to, goal: &goal, side, options: &options };
            self.bring(pose, &task, input, [1.0; 2]);
            let turn = last.map_or(0.0, |q| math::angle_between(pose.model_rotation(tip), q));
            let off = Vec3::new(distance(self.chain.end(pose), place), 0.5 * length * turn, 0.0);
            (self.turned(pose, input.before), math::sqrt(off.length_squared()))
        };
        let mut room = bound * if task.is_poled() { 1.0 - TWIST } else { 1.0 };
        // A limb that cannot change its side within the bound keeps it.
        let changes = go(pose, task.side, Vec3::ZERO).0 <= room;
        let side = if changes { task.side } else { BendSide::Keep };
        let mut shares = Vec3::ZERO;
        for to in [Vec3::new(1.0, 1.0, 0.0), Vec3::Y, Vec3::X, Vec3::Z] {
            let max_residual = go(pose, side, shares).1 + 5e-7 * length + 2.0 * input.uncertain;
            let mut to = shares.max(to);
            if to.z > 0.0 {
                let at = self.places(pose, by_joint);
                let still = Task { to: at.tip, side: BendSide::Keep, options: &options, ..*task };
                let twist = self.turns(pose, &at, &still, 1.0, input.uncertain).root;
                to.z = weight * math::rotation_vector(twist).dot(direction(at.tip - at.root));
                room = bound;
            }
            let share = largest_share(HALVINGS, |share| {
                let (turned, left) = go(pose, side, shares.lerp(to, share));
                turned <= room && left <= max_residual
            });
            shares = shares.lerp(to, share);
        }
        go(pose, side, shares);
        if shares == Vec3::ZERO {
            self.restore(pose, input.before);
        }
    }

    pub(super) fn restore(&self, pose: &mut Pose, before: [Quat; 3]) {
        for (joint, rotation) in self.turning().into_iter().zip(before) {
            pose.set_rotation(joint, rotation);
        }
        pose.update();
    }
}
