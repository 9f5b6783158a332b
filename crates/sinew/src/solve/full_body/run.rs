//! Steps until goals are met, and fresh starts where they are not.

use alloc::vec::Vec;

use glam::{Quat, Vec2, Vec3};

use super::{
    balance::Held,
    bend::Bend,
    branches::{Branches, NONE},
    cost::{chord, wide},
    pulls::Pulls,
    reach::{Press, Reach},
    step::{Asked, Stepper},
    tasks::{Pushed, Row, Task, missing},
};
use crate::{
    Pole, math,
    solve::{
        branch,
        chain_state::{IN_ALL, NO_MORE, PIECES},
    },
};

/// All that one solve works on.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub branches: Branches,
    pub asks: Vec<Task>,
    /// Of each ask, its limb, where it has a middle.
    pub bends: Vec<Option<Bend>>,
    /// What comes after this priority is left out.
    pub priority: u8,
    pub held: Held,
    pub reach: Reach,
    /// Whether the root was put where it is, so that its own slides stay.
    pub placed: bool,
    /// How far the centre of mass is from over its support.
    off: Vec2,
    stepper: Stepper,
    missing: Vec<(Vec3, Vec3)>,
    before: Vec<(Vec3, Vec3)>,
    rows: Vec<Row>,
    best: Vec<(Quat, Vec3)>,
    /// The first answer, while fresh starts are tried.
    answer: Vec<(Quat, Vec3)>,
    /// What is asked for, while goals are moved on.
    goals: Vec<(Option<Vec3>, Option<Quat>)>,
    /// Where the solve began.
    first: Vec<(Quat, Vec3)>,
    /// The answer without a bound on turns.
    unbounded: Vec<(Quat, Vec3)>,
    /// Where tips were then, how they were turned, and how limbs stood.
    tips: Vec<(Vec3, Quat)>,
    stood: Vec<(Vec3, Vec3)>,
}

/// When a run is given up: where so many steps in a row have each left more than a share of what was missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub share: f64,
    pub steps: u32,
}

impl Patience {
    /// There are other places to start from.
    pub const SHORT: Self = Self { share: 0.8, steps: 3 };
    /// Goals and what draws besides come to rest between them.
    pub const DRAWN: Self = Self { share: 0.98, steps: 1 };
    /// What is missing is all that will be: it is shared out well.
    pub const LONG: Self = Self { share: 0.9999, steps: 6 };
    /// The same from near by.
    pub const AGAIN: Self = Self { share: 1.0 - 1e-7, steps: 3 };
}

/// How far a run came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    /// Weighted squares of what is missing, in figure sizes and half radians.
    pub cost: f64,
    pub met: bool,
}

/// An answer among those of fresh starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// What each priority misses, in figure sizes.
    left: [f64; 3],
    /// The largest turn from where the joints came in.
    turn: f32,
}

impl Answer {
    /// Whether it misses less by a margin, of the first priority that tells the two apart.
    pub fn misses_less(&self, other: &Self, margin: f64) -> bool {
        let apart = |(a, b): &(f64, f64)| (a - b).abs() > margin;
        self.left.into_iter().zip(other.left).find(apart).is_some_and(|(own, theirs)| own < theirs)
    }

    /// Whether it is to be left instead of another where the least was missed by a third: where it misses less by a
    /// hundredth of the figure's size; and among answers that miss as little, where its joints turn less.
    pub fn goes_before(&self, other: &Self, least: &Self) -> bool {
        self.misses_less(other, MARGIN) || (self.turn + OPEN < other.turn && !least.misses_less(self, MARGIN))
    }
}

/// Figure sizes by which a fresh start must be nearer than the first answer.
const MARGIN: f64 = 0.01;

/// Radians of turn that steps which come to rest leave open: an answer that turns less by no more is not the nearer one.
const OPEN: f32 = 0.05;

impl Run {
    pub fn new(branches: Branches, asks: Vec<Task>, bends: Vec<Option<Bend>>) -> Self {
        let loops = asks.iter().filter(|a| a.other != NONE).count();
        let count = asks.len();
        // Two rows for balance, and one a limb in its soft zone.
        let most = 6 * loops + 2 + count;
        Self {
            stepper: Stepper::new(&branches, count, most),
            reach: Reach::new(branches.nodes.len(), count),
            held: Held::new(branches.nodes.len()),
            off: Vec2::ZERO,
            placed: false,
            missing: Vec::with_capacity(count),
            before: Vec::with_capacity(count),
            rows: Vec::with_capacity(most),
            best: Vec::with_capacity(branches.nodes.len()),
            answer: Vec::with_capacity(branches.nodes.len()),
            goals: Vec::with_capacity(count),
            first: Vec::with_capacity(branches.nodes.len()),
            unbounded: Vec::with_capacity(branches.nodes.len()),
            tips: Vec::with_capacity(count),
            stood: Vec::with_capacity(count),
            branches,
            asks,
            bends,
            priority: u8::MAX,
        }
    }

    /// What is missing now.
    pub fn measure(&mut self, pulls: Pulls) -> Left {
        self.branches.forward();
        let (mut cost, mut met) = missing(&self.asks, self.priority, &self.branches, &mut self.missing);
        self.off = Vec2::ZERO;
        if self.held.asks(self.priority) {
            self.off = self.held.missing(&self.branches);
            cost += self.held.cost(self.off);
            met &= self.held.met(self.off);
        }
        if !self.reach.limbs().is_empty() {
            cost += self.reach.cost(&self.asks, &self.branches.frames, self.priority);
            met &= !self.reach.presses(&self.asks, &self.branches.frames);
        }
        Left { cost: cost + self.pulled(pulls), met }
    }

    /// Whether a limb's soft zone keeps it from its goal, where the joints are.
    pub fn softened(&self) -> bool {
        self.reach.keeps_short(&self.asks, &self.branches.frames)
    }

    /// What posture and the root's spring count for.
    fn pulled(&self, pulls: Pulls) -> f64 {
        let mut sum = 0.0;
        if pulls.posture > 0.0 {
            for node in &self.branches.nodes {
                let off = chord(math::mul(node.rest, math::conjugate(node.rotation)));
                sum += pulls.posture * node.reluctance * f64::from(off.length_squared());
            }
        }
        if pulls.pole > 0.0 {
            for bend in self.bends.iter().flatten() {
                sum += pulls.pole * bend.cost(&self.branches.frames);
            }
        }
        if let Some(strength) = pulls.root.filter(|s| *s > 0.0) {
            sum += strength * f64::from(self.branches.root_moved().length_squared());
        }
        sum
    }

    /// Goes on until everything is met, `most` steps are made or no step leads nearer. Never leaves more missing than it
    /// found. Gives the number of steps and what is left.
    pub fn descend(&mut self, most: u32, pulls: Pulls, patience: Patience) -> (u32, Left) {
        let drawn = pulls.draw();
        let all = pulls.posture > 0.0 || self.held.asks(self.priority);
        // A limb that is drawn to its pole is gathered joint by joint, and so must be all of its soft zone.
        let coupled = self.held.asks(self.priority)
            || self.asks.iter().any(|a| a.other != NONE)
            || (pulls.pole > 0.0 && !self.reach.limbs().is_empty());
        self.stepper.begin(&self.branches, &self.asks, self.priority, all, coupled);
        if pulls.pole > 0.0 {
            self.stepper.bend(&self.branches, &self.bends);
        }
        if self.placed {
            self.stepper.hold_root();
        }
        self.held.stopped = false;
        let mut factor = FACTOR;
        let mut left = self.measure(pulls);
        let (mut steps, mut slow) = (0, 0);
        while steps < most && (drawn || !left.met) {
            self.branches.keep();
            self.rows.clear();
            for (ask, missing) in self.asks.iter().zip(&self.missing) {
                if ask.other != NONE && ask.priority <= self.priority {
                    ask.rows(&self.branches.frames, *missing, &mut self.rows);
                }
            }
            // A centre of mass that has come in is held there, so that it does not go out again in the next step.
            self.held.stopped |= self.off != Vec2::ZERO;
            if self.held.asks(self.priority) && self.held.stopped {
                let w = crate::math64::sqrt(self.held.weight);
                for (axis, off) in self.held.across.into_iter().zip(self.off.to_array()) {
                    let force = wide(axis).map(|c| w * c);
                    self.rows.push(Row { on: Pushed::All(force), other: None, missing: w * f64::from(off) });
                }
            }
            self.reach.press(&self.asks, &self.branches.frames, self.priority);
            let apart = |p: &&Press| !self.stepper.in_limb(p.limb.to);
            self.rows.extend(self.reach.presses.iter().filter(apart).map(Press::row));
            let damping = factor * left.cost + FLOOR;
            let on = Asked {
                asks: &self.asks,
                priority: self.priority,
                missing: &self.missing,
                bends: &self.bends,
                presses: &self.reach.presses,
                rows: &self.rows,
                masses: &self.held.masses,
            };
            if !self.stepper.step(&mut self.branches, on, damping, pulls) {
                self.branches.put_back();
                break;
            }
            steps += 1;
            core::mem::swap(&mut self.before, &mut self.missing);
            let before_off = self.off;
            let now = self.measure(pulls);
            if now.cost < left.cost {
                slow = if now.cost > patience.share * left.cost { slow + 1 } else { 0 };
                left = now;
                factor *= 0.25;
            } else {
                self.branches.put_back();
                self.branches.forward();
                core::mem::swap(&mut self.before, &mut self.missing);
                self.off = before_off;
                factor = (factor * 8.0).max(1e-3);
                slow += 1;
            }
            if slow > patience.steps {
                break;
            }
        }
        (steps, left)
    }

    pub fn keep_best(&mut self) {
        self.branches.keep_in(&mut self.best);
    }

    pub fn put_best(&mut self) {
        self.branches.put(&self.best);
    }

    /// What each priority misses, with those before it.
    fn missed(&mut self) -> [(f64, bool); 3] {
        let mut last = (0.0, true);
        let missed = [0, 1, 2].map(|priority| {
            if priority == 0
                || self.asks.iter().any(|a| a.priority == priority)
                || self.held.priority == priority
            {
                self.priority = priority;
                let left = self.measure(Pulls::default());
                last = (left.cost, left.met);
            }
            last
        });
        self.priority = u8::MAX;
        missed
    }

    /// Writes down where the solve begins.
    pub fn keep_first(&mut self) {
        self.branches.keep_in(&mut self.first);
    }

    /// Goes from where the solve began on the way to the answer that is here, straight in the joints' coordinates, until one
    /// joint has turned as far as any may. Where more would be missing than before, steps within the same bound bring the
    /// joints to the nearest place where it is not; where there is none they lead from where the solve began towards the
    /// goals. Gives the number of steps, of at most this many for each piece of the way, and what is left.
    pub fn part_way(&mut self, bound: f32, most: u32, pulls: Pulls) -> (u32, Left) {
        self.branches.keep_in(&mut self.unbounded);
        self.branches.put(&self.first);
        self.branches.turn_at_most(bound);
        let allowed = self.missed();
        let answer = core::mem::take(&mut self.unbounded);
        // The first priority that misses more, and none after one that misses less.
        let worse = |run: &mut Self| {
            let now = run.missed();
            let p = (0..3).find(|&p| now[p].0 != allowed[p].0)?;
            (now[p].0 > allowed[p].0).then_some((p, allowed[p].0 / now[p].0))
        };
        let left = self.branches.turn_to(&answer);
        self.branches.blend_to(&answer, (IN_ALL * bound / left).min(1.0));
        let mut steps = 0;
        let pieces = if worse(self).is_some() { PIECES } else { 0 };
        if pieces > 0 {
            self.branches.put(&self.first);
        }
        for _ in 0..pieces {
            let left = self.branches.turn_to(&answer);
            if left <= 0.0 {
                self.branches.put(&answer);
                break;
            }
            self.branches.blend_to(&answer, (IN_ALL * bound / (PIECES as f32 * left)).min(1.0));
            let Some((worse, share)) = worse(self) else { continue };
            self.priority = worse as u8;
            let part = NO_MORE * math::sqrt(share as f32);
            for ask in &mut self.asks {
                let (way, turn) = ask.missing(&self.branches.frames);
                ask.spared = (way * part, turn * part);
            }
            steps += self.descend(most, pulls, Patience::SHORT).0;
            self.asks.iter_mut().for_each(|ask| ask.spared = (Vec3::ZERO, Vec3::ZERO));
            self.priority = u8::MAX;
        }
        self.unbounded = answer;
        if self.put_first_if_worse() {
            steps += self.descend_first(most, pulls);
        }
        let left = self.measure(pulls);
        (steps, left)
    }

    /// Steps towards the goals of the first priority that misses anything, which never leave more of it missing. Gives their
    /// number.
    pub fn descend_first(&mut self, most: u32, pulls: Pulls) -> u32 {
        let mut steps = 0;
        for priority in 0..=2 {
            self.priority = priority;
            if self.measure(pulls).cost > 0.0 {
                steps = self.descend(most, pulls, Patience::SHORT).0;
                break;
            }
        }
        self.priority = u8::MAX;
        steps
    }

    /// Writes down where the tips are and how limbs stand, for frames that are up to date.
    pub fn note_start(&mut self) {
        let Self { tips, stood, asks, bends, branches, .. } = self;
        tips.clear();
        tips.extend(asks.iter().map(|a| a.tip(&branches.frames)));
        stood.clear();
        stood
            .extend(bends.iter().map(|b| b.map_or((Vec3::ZERO, Vec3::ZERO), |b| b.stands(&branches.frames))));
    }

    /// Whether the branch changed from there to where the joints are; see [`branch`].
    pub fn branch_changed(&mut self) -> bool {
        self.branches.forward();
        let frames = &self.branches.frames;
        let poled = |(bend, (line, out)): (&Option<Bend>, &(Vec3, Vec3))| {
            let (line_now, out_now) = bend.filter(|b| b.pole != Pole::Keep)?.stands(frames);
            Some(branch::flipped(*line, *out, line_now, out_now))
        };
        let mut poles = self.bends.iter().zip(&self.stood).filter_map(poled).peekable();
        if poles.peek().is_some() {
            return poles.any(|flipped| flipped);
        }
        let (mut moved, mut turned) = (0.0f32, 0.0f32);
        for (ask, was) in self.asks.iter().zip(&self.tips) {
            let (at, turn) = ask.tip(frames);
            moved = moved.max((at - was.0).length_squared());
            // (Where no rotation is asked for, the tip's is as free as any joint's.)
            if ask.turn.is_some() {
                turned = turned.max(math::angle_between(was.1, turn));
            }
        }
        branch::changed(self.branches.turned(), math::sqrt(moved), turned)
    }

    /// Writes down where the joints are as the first answer.
    pub fn keep_answer(&mut self) {
        self.branches.keep_in(&mut self.answer);
    }

    /// Puts them there again.
    pub fn put_answer(&mut self) {
        self.branches.put(&self.answer);
    }

    /// Where the joints are as an answer.
    pub fn answer(&mut self) -> Answer {
        let missed = self.missed();
        let mut before = 0.0;
        let mut level = 0;
        let left = missed.map(|(cost, _)| {
            let own = (cost - before).max(0.0) / Task::level(level);
            (before, level) = (cost, level + 1);
            crate::math64::sqrt(own)
        });
        Answer { left, turn: self.branches.turned() }
    }

    /// Goes back to where the solve began if more is missing here: of the first priority that misses more or less.
    pub fn put_first_if_worse(&mut self) -> bool {
        let now = self.missed();
        self.keep_best();
        self.branches.put(&self.first);
        for (now, was) in now.into_iter().zip(self.missed()) {
            // A millionth of the figure's size is what f32 makes of places.
            let more = crate::math64::sqrt(now.0) - crate::math64::sqrt(was.0);
            if more.abs() > 1e-6 && !(now.1 && was.1) {
                if more > 0.0 {
                    return true;
                }
                break;
            }
        }
        self.put_best();
        false
    }

    /// Goes back to where the solve began where that is as near to what is asked by the tolerance, and no tip has gone
    /// further from there than four times as much: steps that come to rest leave that much open, and would only stir the pose.
    pub fn put_first_if_near(&mut self) -> bool {
        let now = self.missed();
        let frames = &self.branches.frames;
        let near = |(ask, was): (&Task, &(Vec3, Quat))| {
            let (at, turn) = ask.tip(frames);
            (ask.place.is_none() || (at - was.0).length_squared() <= 16.0 * ask.near * ask.near)
                && (ask.turn.is_none() || math::angle_between(turn, was.1) <= 4.0 * ask.near_turn)
        };
        if !self.asks.iter().zip(&self.tips).all(near) {
            return false;
        }
        self.keep_best();
        self.branches.put(&self.first);
        let near = self.asks.first().map_or(0.0, |a| f64::from(a.near));
        let root = crate::math64::sqrt;
        let as_near =
            |(now, was): (&(f64, bool), (f64, bool))| (!now.1 || was.1) && root(was.0) - root(now.0) <= near;
        if now.iter().zip(self.missed()).all(as_near) {
            return true;
        }
        self.put_best();
        false
    }

    /// Notes what is asked for, to be moved on by [`Run::lean`].
    pub fn keep_goals(&mut self) {
        self.goals.clear();
        self.goals.extend(self.asks.iter().map(|a| (a.place, a.turn)));
    }

    /// Takes that back.
    pub fn put_goals(&mut self) {
        for (ask, kept) in self.asks.iter_mut().zip(&self.goals) {
            (ask.place, ask.turn) = *kept;
        }
    }

    /// Moves the goals of priorities before `last` on by what they miss, so that steps which weigh all goals lead to where
    /// these are met (multipliers: Hestenes 1969, Powell 1969). False where none misses anything, or too much for it.
    pub fn lean(&mut self, last: u8) -> bool {
        self.branches.forward();
        let frames = &self.branches.frames;
        let mut any = false;
        for (ask, (place, turn)) in self.asks.iter_mut().zip(&self.goals) {
            if ask.priority >= last || ask.other != NONE || ask.far.is_some() {
                continue;
            }
            let (at, turned) = ask.tip(frames);
            let way = place.map_or(Vec3::ZERO, |p| p - at);
            let missed = turn.map_or(Vec3::ZERO, |q| chord(math::mul(q, math::conjugate(turned))));
            let share = (way.length_squared() / (ask.near * ask.near))
                .max(missed.length_squared() / (ask.near_turn * ask.near_turn));
            // (Nearer than a tenth, solving again finds the same.)
            if share <= 0.01 || way.length_squared().max(missed.length_squared()) > DRAWN * DRAWN {
                continue;
            }
            any = true;
            ask.place = ask.place.map(|p| p + way);
            ask.turn = ask.turn.map(|q| math::normalize(math::mul(super::cost::turn(missed), q)));
        }
        any
    }

    /// The `n`-th fresh start: the rest (preferred values where joints have any), then places around it, further and
    /// further away. Always the same for the same tree.
    pub fn restart(&mut self, n: u32) {
        let mut x = 0x9E37_79B9u32.wrapping_mul(n + 1);
        let mut noise = || {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            (x >> 8) as f32 / (1u32 << 23) as f32 - 1.0
        };
        let spread = 0.3 + 0.2 * n.min(6) as f32;
        for i in 0..self.branches.nodes.len() {
            let node = &mut self.branches.nodes[i];
            let away = Vec3::new(noise(), noise(), noise()) * spread;
            let q = math::mul(node.rest, super::cost::turn(away));
            if node.limits.turns() {
                node.rotation = node.limits.clamp(math::normalize(q));
            }
            let slides = if self.placed && i == 0 { 0..0 } else { 0..3 };
            for axis in slides {
                let Some((from, to)) = self.branches.nodes[i].limits.slide_range(axis) else { continue };
                let preferred = self.branches.nodes[i].limits.slide_preferred(axis);
                let wide = if (to - from).is_finite() { 0.5 * (to - from) } else { 0.0 };
                let middle = if (to - from).is_finite() { 0.5 * (from + to) } else { 0.0 };
                let at = preferred.unwrap_or(middle) + wide * noise() * (spread - 0.3);
                self.branches.slide_to(i, axis, at.clamp(from, to));
            }
        }
    }
}

/// Figure sizes (and half radians) that lower priorities draw higher ones away by at most. What is missed by more is out of
/// reach.
const DRAWN: f32 = 0.05;

/// The first damping, as a part of what is missing.
const FACTOR: f64 = 0.1;

/// A floor of the damping, that f64 needs where the tree cannot move in some direction at all.
const FLOOR: f64 = 1e-9;
