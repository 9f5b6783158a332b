//! The limb whose joints may turn only so far in one solve.

use glam::{Quat, Vec3};

use super::{
    BendSide, TwoBone, Wish,
    general::{BLUR, TINY},
    plain::solve_points,
    points::{LimbBend, LimbPoints},
};
use crate::{
    Goal, Pole, Pose, math,
    solve::{
        arc::{direction, distance},
        partial::{no_further, partial},
    },
};

/// The share of the root's turn that is left to a pole or swivel: a goal that keeps moving would leave it none.
const TWIST: f32 = 0.25;

/// Halvings of a share: f32 tells no finer turns.
const HALVINGS: u32 = 20;

/// Attempts with smaller turns where a rotation that is asked for, too, would leave the residual larger.
const ATTEMPTS: i32 = 8;

/// The limb as it came in.
pub(super) struct Input {
    /// Its places, of the tip joint where `by_joint`.
    pub at: LimbPoints,
    /// Local rotations of root, middle and tip.
    pub before: [Quat; 3],
    pub uncertain: f32,
    pub stretched: bool,
    /// Whether the tip joint, and not the end, is brought to its place.
    pub by_joint: bool,
}

/// The way on which the end comes nearer all the time.
struct Path {
    input: [Quat; 2],
    root: Vec3,
    /// Direction of the end as it came in, distances at both ends, and the lengths of the bones.
    from: Vec3,
    reach: [f32; 2],
    bones: [f32; 2],
    /// Turn from there to the direction of the goal, and its angle.
    carry: Quat,
    angle: f32,
    /// Turn of the middle joint in its parent's space, and flexions at both ends.
    bend: Quat,
    flexion: [f32; 2],
    normal: Vec3,
    by_joint: bool,
}

impl TwoBone {
    /// The largest turn in radians of a joint since it came in.
    pub(super) fn turned(&self, pose: &Pose, before: [Quat; 3]) -> f32 {
        let turn = |(joint, q)| math::angle_between(pose.local(joint).rotation, q);
        self.turning().into_iter().zip(before).map(turn).fold(0.0, f32::max)
    }

    /// Puts the limb, which a solve turned too far, where it may go.
    ///
    /// Let the end be at the distance r from the root, the goal at R (drawn into the reach), with the angle phi between their
    /// directions. Once the end's direction has turned by a share s of phi, the goal is nearest at the distance
    /// R cos(phi (1 - s)), held between r and R. On the way to s, and from r to that distance at any s, the end comes nearer;
    /// so the middle joint bends as far as it may, and s is the largest share for which the root may turn.
    #[cold]
    #[inline(never)]
    pub(super) fn hold_back(&self, pose: &mut Pose, wish: &Wish, input: &Input, [weight, spin]: [f32; 2]) {
        let (tip, bound) = (self.chain.tip(), wish.options.max_turn);
        let full = self.chain.end(pose);
        let last = wish.goal.rotation.filter(|_| spin > 0.0).map(|_| pose.model_rotation(tip));
        self.restore(pose, input.before);
        let softened = weight < 1.0 || wish.options.soft > 0.0 || wish.options.min_flexion > 0.0;
        let place = if softened { full } else { wish.goal.position.unwrap_or(self.chain.end(pose)) };
        let (a, b) = self.lengths(pose);
        let residual = |pose: &Pose| {
            let turn = last.map_or(0.0, |q| math::angle_between(pose.model_rotation(tip), q));
            let (off, turn) = (distance(self.chain.end(pose), place), 0.5 * (a + b) * turn);
            math::sqrt(off * off + turn * turn)
        };
        let most = residual(pose) + 5e-7 * (a + b) + 2.0 * input.uncertain;

        let now = pose.model_rotation(tip);
        let arm = self.chain.end(pose) - pose.position(tip);
        for attempt in 0..ATTEMPTS {
            // The tip turns first, and the limb brings it to where that needs it. Where both together would leave more missing,
            // one turns less and then the other.
            let halved = |times: i32| bound * (0..times).fold(1.0, |part, _| 0.5 * part);
            let (by_tip, by_limb) = match input.by_joint {
                true => (halved((attempt + 1) / 2), halved(attempt / 2)),
                false => (bound, halved(attempt)),
            };
            let mut wish = *wish;
            let mut aim = last;
            if let Some(last) = last.filter(|_| input.by_joint) {
                let turned = no_further(now, last, by_tip);
                let placed = wish.goal.position.unwrap_or(self.chain.end(pose));
                wish.to = placed - math::rotate(math::mul(turned, math::conjugate(now)), arm);
                aim = Some(turned);
            }
            self.go(pose, &wish, input, weight, by_limb);
            if let Some(aim) = aim {
                let now = pose.model_rotation(tip);
                pose.turn(tip, math::mul(no_further(now, aim, bound), math::conjugate(now)));
                pose.update();
            }
            if residual(pose) <= most {
                return;
            }
            self.restore(pose, input.before);
        }
    }

    /// Goes as far along the path as a bound on turns allows, and then follows the pole or swivel.
    fn go(&self, pose: &mut Pose, wish: &Wish, input: &Input, weight: f32, bound: f32) {
        let path = self.path(pose, wish, input, weight);
        let room = bound * if wish.is_poled() { 1.0 - TWIST } else { 1.0 };
        let whole = math::angle_between(Quat::IDENTITY, path.bend);
        let bends = if whole > bound { bound / whole } else { 1.0 };
        let bends = bends * furthest(&mut |part| self.follow(pose, &path, 0.0, part * bends) <= room);
        let share = furthest(&mut |share| self.follow(pose, &path, share, bends) <= room);
        self.follow(pose, &path, share, bends);
        if !wish.is_poled() {
            return;
        }
        let at = self.places(pose, input.by_joint);
        let bend = LimbBend {
            hinge: self.hinge_in(pose),
            swivel: wish.goal.swivel,
            uncertain: input.uncertain,
            ..LimbBend::FREE
        };
        let turn = solve_points(&at, at.tip, wish.goal.pole, &bend).root;
        let twist = partial(math::swing_twist(turn, direction(at.tip - at.root)).1, weight);
        let root = self.chain.root();
        let held = pose.local(root).rotation;
        let mut spin = |share| {
            pose.set_rotation(root, held);
            pose.turn(root, partial(twist, share));
            math::angle_between(pose.local(root).rotation, input.before[0]) <= bound
        };
        let share = furthest(&mut spin);
        spin(share);
        pose.update();
    }

    fn restore(&self, pose: &mut Pose, before: [Quat; 3]) {
        for (joint, rotation) in self.turning().into_iter().zip(before) {
            pose.set_rotation(joint, rotation);
        }
        pose.update();
    }

    /// The path to where the limb goes without a bound, pole or swivel.
    fn path(&self, pose: &mut Pose, wish: &Wish, input: &Input, weight: f32) -> Path {
        let at = &input.at;
        let (u, v) = (at.middle - at.root, at.tip - at.middle);
        // A limb that is bent to the other side would have to leave its goal to come round.
        let c = u.cross(v);
        let across = self.hinge_in(pose).map_or(0.0, |h| c.dot(h));
        let wrong = match wish.side {
            BendSide::Keep => false,
            BendSide::Positive => across < 0.0,
            BendSide::Negative => across > 0.0,
        };
        let wrong = wrong && c.length_squared() > BLUR * BLUR * u.length_squared() * v.length_squared();
        let side = if wrong { BendSide::Keep } else { wish.side };
        let goal = Goal { pole: Pole::Keep, swivel: 0.0, ..*wish.goal };
        let plain = Wish { goal: &goal, side, ..*wish };
        let part = if input.stretched { 1.0 } else { weight };
        let turns = self.turns(pose, at, &plain, part, input.uncertain);
        if self.turn(pose, &turns) && input.stretched {
            self.settle_in_part(pose, &plain, input.by_joint, at, input.before, weight);
        }
        let bent = pose.local(self.middle).rotation;
        let to = self.places(pose, input.by_joint);
        let (e, g, n) = (at.tip - at.root, to.tip - to.root, (to.middle - to.root).cross(to.tip - to.middle));
        let bones = [distance(at.middle, at.root), distance(at.tip, at.middle)];
        let reach = [distance(at.tip, at.root), distance(to.tip, to.root)];
        // A limb that is folded onto its root has no direction yet, and one that will be keeps its own.
        let tiny = TINY * (bones[0] + bones[1]);
        let from = direction(if reach[0] > tiny { e } else { g });
        let normal = math::perpendicular(from, n);
        let carry = math::shortest_arc(from, if reach[1] > tiny { direction(g) } else { from }, normal);
        let flexion = |at: &LimbPoints| {
            let (u, v) = (direction(at.middle - at.root), direction(at.tip - at.middle));
            math::atan2(math::sqrt(u.cross(v).length_squared()), u.dot(v))
        };
        Path {
            input: [input.before[0], input.before[1]],
            root: at.root,
            from,
            reach,
            bones,
            carry,
            angle: math::angle_between(Quat::IDENTITY, carry),
            bend: math::mul(bent, math::conjugate(input.before[1])),
            flexion: [flexion(at), flexion(&to)],
            normal,
            by_joint: input.by_joint,
        }
    }

    /// Turns the end's direction by a share of the path, and bends the middle joint as is best there, at most by the part
    /// `bends`. Gives the root's turn in radians.
    fn follow(&self, pose: &mut Pose, path: &Path, share: f32, bends: f32) -> f32 {
        let [from, to] = path.reach;
        // (Not `clamp`, which panics where both are no numbers.)
        let best = (to * math::cos(path.angle * (1.0 - share))).max(from.min(to)).min(from.max(to));
        let [a, b] = path.bones;
        let flexion = math::acos(((best * best - a * a - b * b) / (2.0 * a * b)).clamp(-1.0, 1.0));
        let whole = path.flexion[1] - path.flexion[0];
        // (Next to straight, a distance says little of the flexion. Bones without length say nothing.)
        let bend = if best == to || whole == 0.0 || flexion.is_nan() {
            1.0
        } else {
            ((flexion - path.flexion[0]) / whole).clamp(0.0, 1.0)
        };
        let (root, bend) = (self.chain.root(), partial(path.bend, bend.min(bends)));
        pose.set_rotation(root, path.input[0]);
        pose.set_rotation(self.middle, math::normalize(math::mul(bend, path.input[1])));
        pose.update();
        let now = direction(self.places(pose, path.by_joint).tip - path.root);
        let lift =
            math::shortest_arc(if now == Vec3::ZERO { path.from } else { now }, path.from, path.normal);
        pose.turn(root, math::mul(partial(path.carry, share), lift));
        pose.update();
        math::angle_between(pose.local(root).rotation, path.input[0])
    }
}

/// The largest share, 0 to 1, that fits, where smaller ones fit too.
fn furthest(fits: &mut dyn FnMut(f32) -> bool) -> f32 {
    if fits(1.0) {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        *(if fits(middle) { &mut low } else { &mut high }) = middle;
    }
    low
}
