//! The limb whose joints may turn only so far in one solve.

use glam::{Quat, Vec3};

use super::{BendSide, Input, TwoBone, Wish, general::TINY, towards};
use crate::{
    Goal, Pole, Pose, math,
    solve::{
        LimbOptions,
        arc::{direction, distance},
        partial::{largest_share, partial},
    },
};

/// The share of the root's turn that is left to a pole or swivel: a goal that keeps moving would leave it none.
const TWIST: f32 = 0.25;

/// Halvings of a share: f32 tells no finer turns.
const HALVINGS: u32 = 20;

impl TwoBone {
    /// Puts the limb, which a solve turned too far, where it may go: to a goal on the way to where the solve brought it.
    ///
    /// Let the end be at the distance r from the root, its place after the solve at R, with the angle phi between their
    /// directions. Once the end's direction has turned by a share s of phi, R is nearest at the distance R cos(phi (1 - s)),
    /// held between r and R. That never goes back as s grows, and on the way from r to there the end comes nearer too. So it
    /// does on the path that has come by the share s of that way. The tip's rotation follows by the same share; where one of
    /// the two can go no further, the other does. The pole or swivel comes last.
    #[cold]
    #[inline(never)]
    pub(super) fn hold_back(&self, pose: &mut Pose, wish: &Wish, input: &Input, [weight, spin]: [f32; 2]) {
        let (tip, bound) = (self.chain.tip(), wish.options.max_turn);
        // With a rotation asked of a tip that has an offset, the tip joint is led.
        let by_joint = wish.goal.rotation.is_some() && spin > 0.0;
        let (end, to) = (self.chain.end(pose), self.places(pose, by_joint));
        let last = wish.goal.rotation.filter(|_| spin > 0.0).map(|_| pose.model_rotation(tip));
        self.restore(pose, input.before);
        let now = pose.model_rotation(tip);
        let softened = weight < 1.0 || wish.options.soft > 0.0 || wish.options.min_flexion > 0.0;
        let place = if softened { end } else { wish.to };
        let start = self.places(pose, by_joint);
        let arm = input.start.tip - start.tip;
        let length = distance(start.middle, start.root) + distance(start.tip, start.middle);

        let [e, g] = [start.tip, to.tip].map(|end| end - start.root);
        let [from, far] = [e, g].map(|way| math::sqrt(way.length_squared()));
        // A limb that is folded onto its root has no direction yet, and one that will be keeps its own.
        let along = direction(if from > TINY * length { e } else { g });
        let towards_goal = if far > TINY * length { direction(g) } else { along };
        // Opposite directions are joined within the plane that the limb will lie in.
        let carry = math::shortest_arc(along, towards_goal, (to.middle - start.root).cross(g));
        let angle = math::angle_between(Quat::IDENTITY, carry);
        let options = LimbOptions::new();
        // Goes by these shares of the end's path and the tip's turn, and by a swivel in radians. Returns the largest turn of a
        // joint, and the residual, a radian as half a length.
        let go = |pose: &mut Pose, side, shares: Vec3| {
            self.restore(pose, input.before);
            let best = (far * math::cos(angle * (1.0 - shares.x))).max(from.min(far)).min(from.max(far));
            let way = math::rotate(partial(carry, shares.x), along) * (from + (best - from) * shares.x);
            let rotation = last.map(|q| towards(now, q, shares.y));
            let turn = math::mul(rotation.unwrap_or(now), math::conjugate(now));
            let to = start.root + way + math::rotate(turn, arm);
            let goal = Goal { rotation, swivel: shares.z, pole: Pole::Keep, ..*wish.goal };
            let wish = Wish { to, goal: &goal, side, options: &options };
            self.bring(pose, &wish, input, [1.0; 2]);
            let turn = last.map_or(0.0, |q| math::angle_between(pose.model_rotation(tip), q));
            let off = Vec3::new(distance(self.chain.end(pose), place), 0.5 * length * turn, 0.0);
            (self.turned(pose, input.before), math::sqrt(off.length_squared()))
        };
        let mut room = bound * if wish.is_poled() { 1.0 - TWIST } else { 1.0 };
        // A limb that cannot change its side within the bound keeps it.
        let changes = go(pose, wish.side, Vec3::ZERO).0 <= room;
        let side = if changes { wish.side } else { BendSide::Keep };
        let mut shares = Vec3::ZERO;
        for to in [Vec3::new(1.0, 1.0, 0.0), Vec3::Y, Vec3::X, Vec3::Z] {
            let most = go(pose, side, shares).1 + 5e-7 * length + 2.0 * input.uncertain;
            let mut to = shares.max(to);
            if to.z > 0.0 {
                let at = self.points(pose);
                let still = Wish { to: at.tip, side: BendSide::Keep, options: &options, ..*wish };
                let twist = self.turns(pose, &at, &still, 1.0, input.uncertain).root;
                to.z = weight * math::rotation_vector(twist).dot(direction(at.tip - at.root));
                room = bound;
            }
            let share = largest_share(HALVINGS, |share| {
                let (turned, left) = go(pose, side, shares.lerp(to, share));
                turned <= room && left <= most
            });
            shares = shares.lerp(to, share);
        }
        go(pose, side, shares);
        if shares == Vec3::ZERO {
            self.restore(pose, input.before);
        }
    }

    fn restore(&self, pose: &mut Pose, before: [Quat; 3]) {
        for (joint, rotation) in self.turning().into_iter().zip(before) {
            pose.set_rotation(joint, rotation);
        }
        pose.update();
    }
}
