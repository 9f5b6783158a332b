//! What is asked of the tree, and how much of it is missing.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{
    branches::{Branches, Frame, NONE},
    cost::{QuadraticCost, Twist, chord, dot, sub, wide},
};
use crate::math;

/// What a lower priority weighs beside the next higher one. Far less, and steps along the curved set of poses in which the
/// higher one is met become too short; what it then gives way by, a hundredth of what the lower one draws, is made good when
/// the higher one is brought home by itself.
const LOWER: f64 = 1e-2;

/// What a tip is asked for in one solve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub node: usize,
    /// The joint that the goal moves with; [`NONE`] for goals in model space.
    pub other: usize,
    /// The point that is led, in the joint's orientation, in figure sizes.
    pub lever: Vec3,
    /// Where to: from the origin of the tree, or in the other joint's orientation from that joint.
    pub place: Option<Vec3>,
    /// Which rotation, in model space or seen from the other joint.
    pub turn: Option<Quat>,
    pub place_weight: f64,
    pub turn_weight: f64,
    pub priority: u8,
    /// The longest way along the bones to the point, from the root; infinite where something slides.
    pub reach: f32,
    /// Within which it is met, in figure sizes and (as a chord) radians.
    pub near: f32,
    pub near_turn: f32,
    /// Of a goal that is so far away that a place in its direction was put for it.
    pub far: Option<Far>,
    /// What may stay missing, on the way to an answer: a way and a turn that do not count.
    pub spared: (Vec3, Vec3),
}

/// What is known of a goal that is far away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Far {
    /// How much further away it is than the place that was put for it, in figure sizes, and how many times as far.
    pub beyond: f32,
    pub times: f64,
    /// The square of what any pose misses that place by, in figure sizes.
    pub least: f64,
}

/// Lets goals of one priority, balance among them, count beside each other as if none had been brought near: what is missed
/// draws as it is far. All of them together count no more than where the furthest was put.
pub(super) fn weigh(asks: &mut [Task], balance: Option<(u8, &mut f64)>) {
    let mut most = [1.0f64; 3];
    for ask in asks.iter() {
        let level = usize::from(ask.priority);
        most[level] = most[level].max(ask.far.map_or(1.0, |f| f.times));
    }
    if most == [1.0; 3] {
        return;
    }
    for ask in asks {
        let most = most[usize::from(ask.priority)];
        ask.place_weight *= ask.far.map_or(1.0, |f| f.times) / most;
        ask.turn_weight /= most;
    }
    if let Some((priority, weight)) = balance {
        *weight /= most[usize::from(priority)];
    }
}

impl Task {
    pub const NOTHING: Self = Self {
        node: 0,
        other: NONE,
        lever: Vec3::ZERO,
        place: None,
        turn: None,
        place_weight: 0.0,
        turn_weight: 0.0,
        priority: 0,
        reach: f32::INFINITY,
        near: 0.0,
        near_turn: 0.0,
        far: None,
        spared: (Vec3::ZERO, Vec3::ZERO),
    };

    /// The weight of a priority.
    pub fn level(priority: u8) -> f64 {
        (0..priority).fold(1.0, |w, _| w * LOWER)
    }

    /// From the joint to the point that is led.
    pub fn arm(&self, frames: &[Frame]) -> Vec3 {
        if self.lever == Vec3::ZERO { Vec3::ZERO } else { math::rotate(frames[self.node].turn, self.lever) }
    }

    /// The point that is led, and how its joint is turned.
    pub fn tip(&self, frames: &[Frame]) -> (Vec3, Quat) {
        (frames[self.node].at + self.arm(frames), frames[self.node].turn)
    }

    /// From the other joint to where the point should be.
    fn other_arm(&self, frames: &[Frame]) -> Vec3 {
        let place = self.place.unwrap_or(Vec3::ZERO);
        if self.other == NONE { place } else { math::rotate(frames[self.other].turn, place) }
    }

    /// What is missing: a way and a turn.
    pub fn missing(&self, frames: &[Frame]) -> (Vec3, Vec3) {
        let frame = &frames[self.node];
        let way = if self.place.is_some() {
            let from = if self.other == NONE { Vec3::ZERO } else { frames[self.other].at };
            (from - frame.at) + self.other_arm(frames) - self.arm(frames)
        } else {
            Vec3::ZERO
        };
        let turn = self.turn.map_or(Vec3::ZERO, |turn| {
            let wanted = if self.other == NONE { turn } else { math::mul(frames[self.other].turn, turn) };
            chord(math::mul(wanted, math::conjugate(frame.turn)))
        });
        (way - self.spared.0, turn - self.spared.1)
    }

    pub fn cost(&self, (way, turn): (Vec3, Vec3)) -> f64 {
        self.place_weight * f64::from(way.length_squared())
            + self.turn_weight * f64::from(turn.length_squared())
    }

    /// The cost of a goal that is far away, over what any pose misses it by. The squares are large and differ by little.
    #[cold]
    fn cost_of_far(&self, frames: &[Frame], turn: Vec3, least: f64) -> f64 {
        let (at, _) = self.tip(frames);
        let way = sub(wide(self.place.unwrap_or(at)), wide(at));
        self.place_weight * (dot(way, way) - least).max(0.0)
            + self.turn_weight * f64::from(turn.length_squared())
    }

    pub fn met(&self, (way, turn): (Vec3, Vec3)) -> bool {
        self.far.is_none()
            && way.length_squared() <= self.near * self.near
            && turn.length_squared() <= self.near_turn * self.near_turn
    }

    /// Adds what is asked in model space to what the joint is asked.
    pub fn add_to(&self, form: &mut QuadraticCost, frames: &[Frame], (way, turn): (Vec3, Vec3)) {
        if self.place.is_some() {
            form.ask_place(self.arm(frames), way, self.place_weight);
        }
        if self.turn.is_some() {
            form.ask_turn(turn, self.turn_weight);
        }
    }

    /// The rows of a goal that moves with another joint: the push on either joint, at its place, and what is missing, all
    /// times the root of the weight.
    pub fn rows(&self, frames: &[Frame], (way, turn): (Vec3, Vec3), rows: &mut Vec<Row>) {
        let root = |w: f64| crate::math64::sqrt(w);
        let (arm, other_arm) = (wide(self.arm(frames)), wide(self.other_arm(frames)));
        let (way, turn) = (wide(way), wide(turn));
        for k in 0..3 {
            if self.place.is_some() {
                let w = root(self.place_weight);
                let mut push = Twist::ZERO;
                push.v[k] = w;
                let on = push.acts_at(arm);
                let back = push.times(-1.0).acts_at(other_arm);
                let other = Some((self.other, back));
                rows.push(Row { on: Pushed::One(self.node, on), other, missing: w * way[k] });
            }
            if self.turn.is_some() {
                let w = root(self.turn_weight);
                let mut push = Twist::ZERO;
                push.t[k] = w;
                let back = push.times(-1.0);
                let other = Some((self.other, back));
                rows.push(Row { on: Pushed::One(self.node, push), other, missing: w * turn[k] });
            }
        }
    }
}

/// What a number asks of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pushed {
    /// A joint, with the push on it at its place.
    One(usize, Twist),
    /// Every joint, by its mass: a force on the centre of mass.
    All([f64; 3]),
}

/// One number that is asked of several joints at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub on: Pushed,
    pub other: Option<(usize, Twist)>,
    pub missing: f64,
}

/// All that is missing of what has at most this priority: costs and whether everything is met.
pub(super) fn missing(
    asks: &[Task],
    priority: u8,
    branches: &Branches,
    into: &mut Vec<(Vec3, Vec3)>,
) -> (f64, bool) {
    into.clear();
    let (mut cost, mut met) = (0.0, true);
    for ask in asks {
        if ask.priority > priority {
            into.push((Vec3::ZERO, Vec3::ZERO));
            continue;
        }
        let missing = ask.missing(&branches.frames);
        cost += match ask.far {
            Some(far) if ask.other == NONE => ask.cost_of_far(&branches.frames, missing.1, far.least),
            _ => ask.cost(missing),
        };
        met &= ask.met(missing);
        into.push(missing);
    }
    (cost, met)
}
