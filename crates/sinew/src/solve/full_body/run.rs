//! Descent by damped least squares, and restarts.

use alloc::{sync::Arc, vec::Vec};

use glam::{Quat, Vec2, Vec3};

use super::{
    balance::BalanceTask,
    bend::Bend,
    bias::Bias,
    column::Column,
    cost::{chord, wide},
    figure_state::{FigureState, Kept, NONE, Node, empty, fill},
    soft_zone::{Barrier, SoftZones},
    step::{Body, Recursion, StepInput},
    tasks::{Bodies, Residual, Row, Task, residuals},
};
use crate::{
    math,
    solve::{
        branch,
        chain_state::{IN_ALL, NO_MORE, PIECES},
        descent::{Descent, Measured, Patience},
    },
};

/// State of one solve. In a workspace it keeps its memory between solves.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// The solver that it is prepared for.
    start: Option<Arc<Start>>,
    pub figure: FigureState,
    pub tasks: Vec<Task>,
    /// Limb of each task; `None` without a middle joint.
    pub bends: Vec<Option<Bend>>,
    /// Highest priority number that takes part.
    pub priority: u8,
    pub balance: BalanceTask,
    pub zones: SoftZones,
    /// Whether [`RootMode::At`](super::RootMode::At) holds the root, its own slides included.
    pub placed: bool,
    /// Residual of balance, in figure sizes.
    imbalance: Vec2,
    previous_imbalance: Vec2,
    recursion: Recursion,
    residuals: Vec<Residual>,
    previous: Vec<Residual>,
    /// Blended residuals of the answers so far, for goals of increasing influence.
    mixed: Vec<Residual>,
    rows: Vec<Row>,
    /// Goals before [`Run::shift_goals`].
    goals: Vec<(Option<Vec3>, Option<Quat>)>,
    /// Initial position and rotation of each effector, and whether it has a rotation goal.
    initial_effectors: Vec<(Vec3, Quat, bool)>,
    /// [`Bend::shape`] of limbs with a pole or swivel.
    initial_bends: Vec<Option<(Vec3, Vec3)>>,
}

impl Patience {
    /// For a descent before a restart.
    pub const SHORT: Self = Self { share: 0.8, steps: 3, until_met: true };
    /// For a bounded move, whose residuals must not grow within their tolerances from frame to frame.
    pub const EXACT: Self = Self { until_met: false, ..Self::SHORT };
    /// For tasks against secondary objectives.
    pub const BIASED: Self = Self { share: 0.98, steps: 1, until_met: false };
    /// For the last descent, which distributes the remaining error by weight.
    pub const LONG: Self = Self { share: 0.9999, steps: 6, until_met: true };
    /// For a repeated descent after a small change of goals.
    pub const AGAIN: Self = Self { share: 1.0 - 1e-7, steps: 3, until_met: true };
}

/// A candidate answer among restarts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer {
    /// Residual of each priority, in figure sizes.
    residuals: [f64; 3],
    /// Maximum rotation of a joint from its initial one, in radians.
    turn: f32,
}

impl Answer {
    /// Whether the residual is smaller, at the first priority where both differ by more than `margin`.
    pub fn is_closer(&self, other: &Self, margin: f64) -> bool {
        let apart = |(a, b): &(f64, f64)| (a - b).abs() > margin;
        self.residuals.into_iter().zip(other.residuals).find(apart).is_some_and(|(own, theirs)| own < theirs)
    }

    /// Whether it replaces `other`, where `best` has the smallest residual so far: its residual is smaller by [`MARGIN`], or
    /// its rotations are smaller and its residual is within [`MARGIN`] of the best.
    pub fn is_better(&self, other: &Self, best: &Self) -> bool {
        self.is_closer(other, MARGIN)
            || (self.turn + TURN_MARGIN < other.turn && !best.is_closer(self, MARGIN))
    }
}

/// Residual in figure sizes by which a restart must improve on the first answer.
const MARGIN: f64 = 0.01;

/// Random difference in rotation between converged answers, in radians. A restart must rotate joints by this much less.
const TURN_MARGIN: f32 = 0.05;

/// Initial data of all solves of a solver.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub nodes: Vec<Node>,
    pub bodies: (Vec<Column>, Vec<Body>),
    pub tasks: Vec<Task>,
    /// Limb of each task; `None` without a middle joint.
    pub bends: Vec<Option<Bend>>,
}

impl Run {
    /// Copies the initial data of a solver and reserves memory for its solves.
    pub fn begin(&mut self, start: &Arc<Start>) {
        self.priority = u8::MAX;
        // Each solve loads or resets the data that change.
        if self.start.as_ref().is_some_and(|own| Arc::ptr_eq(own, start)) {
            return;
        }
        self.start = Some(start.clone());
        let Start { nodes, bodies, tasks, bends } = &**start;
        let loops = tasks.iter().filter(|a| a.other != NONE).count();
        let (joints, count) = (nodes.len(), tasks.len());
        // Two rows are for balance, and one for the soft zone of each limb.
        let max_rows = 6 * loops + 2 + count;
        self.figure.begin(nodes);
        self.tasks.clear();
        self.tasks.extend_from_slice(tasks);
        self.bends.clear();
        self.bends.extend_from_slice(bends);
        self.recursion.fit(bodies, count, max_rows);
        self.zones.fit(joints, count);
        fill(&mut self.balance.masses, joints, (0.0, Vec3::ZERO));
        empty(&mut self.rows, max_rows);
        for list in [&mut self.residuals, &mut self.previous, &mut self.mixed] {
            empty(list, count);
        }
        empty(&mut self.goals, count);
        empty(&mut self.initial_effectors, count);
        empty(&mut self.initial_bends, count);
    }

    /// Runs forward kinematics and measures the residuals.
    pub fn measure(&mut self, bias: Bias) -> Measured {
        self.figure.forward();
        let (mut cost, mut met) = residuals(&self.tasks, self.priority, &self.figure, &mut self.residuals);
        self.imbalance = Vec2::ZERO;
        if self.balance.is_active(self.priority) {
            self.imbalance = self.balance.residual(&self.figure);
            cost += self.balance.cost(self.imbalance);
            met &= self.balance.met(self.imbalance);
        }
        if !self.zones.limbs().is_empty() {
            cost += self.zones.cost(&self.tasks, &self.figure.frames, self.priority);
            met &= !self.zones.in_zone(&self.tasks, &self.figure.frames);
        }
        Measured { cost: cost + self.bias_cost(bias), met }
    }

    /// Whether all tasks are met, or are as close as soft zones allow. Frames must be up to date.
    pub fn is_softened(&self) -> bool {
        let frames = &self.figure.frames;
        let mut met = self.tasks.iter().enumerate().map(|(n, task)| {
            let (position, rotation) = task.residual(frames);
            match self.zones.shortfall(n, &self.tasks, frames) {
                Some(short) => Task { far: None, ..*task }.met((position - short, rotation)),
                None => task.met((position, rotation)),
            }
        });
        let balance = &self.balance;
        met.all(|met| met) && (!balance.is_active(u8::MAX) || balance.met(balance.residual(&self.figure)))
    }

    /// Whether any limb is off its pole. Frames must be up to date.
    pub fn is_off_pole(&self) -> bool {
        self.bends.iter().flatten().any(|b| b.is_off(&self.figure.frames))
    }

    /// Cost of the secondary objectives.
    fn bias_cost(&self, bias: Bias) -> f64 {
        let mut sum = 0.0;
        if bias.posture > 0.0 {
            for node in &self.figure.nodes {
                let off = chord(math::mul(node.rest, math::conjugate(node.rotation)));
                sum += bias.posture * node.motion_weight * f64::from(off.length_squared());
            }
        }
        if bias.pole > 0.0 {
            for bend in self.bends.iter().flatten() {
                sum += bias.pole * bend.cost(&self.figure.frames);
            }
        }
        if let Some(strength) = bias.root.filter(|s| *s > 0.0) {
            sum += strength * f64::from(self.figure.root_moved().length_squared());
        }
        sum
    }

    /// Descends until all tasks are met, `max_steps` steps are made or the cost stalls. Never increases the cost. Returns
    /// the number of steps and the last measure.
    pub fn descend(&mut self, max_steps: u32, bias: Bias, patience: Patience) -> (u32, Measured) {
        let all = bias.posture > 0.0 || self.balance.is_active(self.priority);
        // A limb with a pole is in the joint-by-joint recursion, so its soft zone is a row.
        let coupled = self.balance.is_active(self.priority)
            || self.tasks.iter().any(|a| a.other != NONE)
            || (bias.pole > 0.0 && !self.zones.limbs().is_empty());
        self.recursion.begin(&self.figure, &self.tasks, self.priority, all, coupled);
        if bias.pole > 0.0 {
            self.recursion.include_poles(&self.figure, &self.bends);
        }
        if self.placed {
            self.recursion.hold_root();
        }
        self.balance.engaged = false;
        let mut descent = Descent::new(self.measure(bias), INITIAL_DAMPING);
        let step = |run: &mut Self, factor, cost| run.step(factor * cost + MIN_DAMPING, bias);
        let steps = descent.run(self, max_steps, patience, step, Self::undo);
        (steps, descent.now)
    }

    /// Makes a step and measures where it leads. `None`, and the state before, where the step is not finite.
    fn step(&mut self, damping: f64, bias: Bias) -> Option<Measured> {
        let Self { figure, tasks, bends, balance, zones, rows, recursion, residuals, .. } = self;
        let priority = self.priority;
        self.previous_imbalance = self.imbalance;
        figure.keep(Kept::Step);
        rows.clear();
        for (task, residual) in tasks.iter().zip(&*residuals) {
            if task.other != NONE && task.priority <= priority {
                task.rows(&figure.frames, *residual, rows);
            }
        }
        // After the centre of mass was outside, its rows also hold it inside, so that the next step does not move it out
        // again.
        balance.engaged |= self.imbalance != Vec2::ZERO;
        if balance.is_active(priority) && balance.engaged {
            let w = crate::math64::sqrt(balance.weight);
            for (axis, e) in balance.across().into_iter().zip(self.imbalance.to_array()) {
                let force = wide(axis).map(|c| w * c);
                rows.push(Row { on: Bodies::All(force), other: None, residual: w * f64::from(e) });
            }
        }
        zones.update_barriers(tasks, &figure.frames, priority);
        let apart = |b: &&Barrier| !recursion.in_limb(b.limb.to);
        rows.extend(zones.barriers.iter().filter(apart).map(Barrier::row));
        let input = StepInput {
            tasks,
            priority,
            residuals,
            bends,
            barriers: &zones.barriers,
            rows,
            masses: &balance.masses,
        };
        if !recursion.step(figure, input, damping, bias) {
            figure.restore(Kept::Step);
            return None;
        }
        core::mem::swap(&mut self.previous, &mut self.residuals);
        Some(self.measure(bias))
    }

    fn undo(&mut self) {
        self.figure.restore(Kept::Step);
        self.figure.forward();
        core::mem::swap(&mut self.previous, &mut self.residuals);
        self.imbalance = self.previous_imbalance;
    }

    /// Cost of each priority including the higher ones, and whether all their tasks are met.
    fn priority_costs(&mut self) -> [(f64, bool); 3] {
        let mut last = (0.0, true);
        let costs = [0, 1, 2].map(|priority| {
            if priority == 0
                || self.tasks.iter().any(|a| a.priority == priority)
                || self.balance.priority == priority
            {
                self.priority = priority;
                let outcome = self.measure(Bias::default());
                last = (outcome.cost, outcome.met);
            }
            last
        });
        self.priority = u8::MAX;
        costs
    }

    /// Moves from the initial state towards the current answer, straight in joint coordinates, until one joint has rotated
    /// by `max_turn`.
    ///
    /// Where residuals would grow, steps within the same bound lead to a state near that line where they do not. If that
    /// fails, a fraction of the bound is tried. If that fails too, descends from the initial state. Makes at most
    /// `max_steps` steps for each piece of the line. Returns the number of steps.
    pub fn move_bounded(&mut self, max_turn: f32, max_steps: u32, bias: Bias) -> u32 {
        self.figure.keep(Kept::Unbounded);
        self.figure.restore(Kept::Initial);
        self.figure.limit_turn(max_turn);
        let allowed = self.priority_costs();
        let mut steps = 0;
        let held = PARTS.iter().all(|part| {
            steps += self.move_along(IN_ALL * part * max_turn, &allowed, max_steps, bias);
            self.restore_initial_if_worse()
        });
        if held {
            steps += self.descend_first_unmet(max_steps, bias);
        }
        steps
    }

    /// Moves towards the unbounded answer until one joint has rotated by `turn`. Where costs would exceed `allowed`, moves
    /// beside the straight line. Returns the number of steps.
    fn move_along(&mut self, turn: f32, allowed: &[(f64, bool); 3], max_steps: u32, bias: Bias) -> u32 {
        // The first priority whose cost differs, if its cost is larger.
        let worse = |run: &mut Self| {
            let now = run.priority_costs();
            let p = (0..3).find(|&p| now[p].0 != allowed[p].0)?;
            (now[p].0 > allowed[p].0).then_some((p, allowed[p].0 / now[p].0))
        };
        let remaining = self.figure.turn_to(Kept::Unbounded);
        self.figure.blend_to(Kept::Unbounded, (turn / remaining).min(1.0));
        if worse(self).is_none() {
            return 0;
        }
        self.figure.restore(Kept::Initial);
        let mut steps = 0;
        for _ in 0..PIECES {
            let remaining = self.figure.turn_to(Kept::Unbounded);
            if remaining <= 0.0 {
                self.figure.restore(Kept::Unbounded);
                break;
            }
            self.figure.blend_to(Kept::Unbounded, (turn / (PIECES as f32 * remaining)).min(1.0));
            let Some((worse, share)) = worse(self) else { continue };
            self.priority = worse as u8;
            let part = NO_MORE * math::sqrt(share as f32);
            for task in &mut self.tasks {
                let (position, rotation) = task.residual(&self.figure.frames);
                task.allowance = (position * part, rotation * part);
            }
            steps += self.descend(max_steps, bias, Patience::EXACT).0;
            self.tasks.iter_mut().for_each(|task| task.allowance = (Vec3::ZERO, Vec3::ZERO));
            self.priority = u8::MAX;
        }
        steps
    }

    /// Descends for the first priority with a residual, whose cost never grows. Returns the number of steps.
    pub fn descend_first_unmet(&mut self, max_steps: u32, bias: Bias) -> u32 {
        let mut steps = 0;
        for priority in 0..=2 {
            self.priority = priority;
            if self.measure(bias).cost > 0.0 {
                steps = self.descend(max_steps, bias, Patience::SHORT).0;
                break;
            }
        }
        self.priority = u8::MAX;
        steps
    }

    /// Saves the positions and rotations of effectors, and the shapes of limbs. Frames must be up to date.
    pub fn save_effectors(&mut self) {
        let Self { initial_effectors, initial_bends, tasks, bends, figure, .. } = self;
        initial_effectors.clear();
        initial_effectors.extend(tasks.iter().map(|a| {
            let (at, turn) = a.effector(&figure.frames);
            (at, turn, a.rotation.is_some())
        }));
        initial_bends.clear();
        let led = |b: &Option<Bend>| b.filter(Bend::is_led).map(|b| b.shape(&figure.frames));
        initial_bends.extend(bends.iter().map(led));
    }

    /// Whether the branch changed since [`Run::save_effectors`]; see [`branch`].
    pub fn branch_changed(&mut self) -> bool {
        self.figure.forward();
        let frames = &self.figure.frames;
        let led = |(bend, shape): (&Option<Bend>, &Option<(Vec3, Vec3)>)| {
            let ((line, out), (line_now, out_now)) = ((*shape)?, (*bend)?.shape(frames));
            Some(branch::flipped(line, out, line_now, out_now))
        };
        let mut poles = self.bends.iter().zip(&self.initial_bends).filter_map(led).peekable();
        if poles.peek().is_some() {
            return poles.any(|flipped| flipped);
        }
        let (mut moved, mut turned) = (0.0f32, 0.0f32);
        for (task, was) in self.tasks.iter().zip(&self.initial_effectors) {
            let (at, turn) = task.effector(frames);
            moved = moved.max((at - was.0).length_squared());
            // Without a rotation goal the effector rotates as freely as any joint.
            if was.2 {
                turned = turned.max(math::angle_between(was.1, turn));
            }
        }
        branch::changed(self.figure.turned(), math::sqrt(moved), turned)
    }

    /// Blends the current answer with the saved blend, which has the weight `share`, and their residuals alike. Where
    /// residuals then exceed the blended ones, descends to those, so that the pose is continuous at an influence of 1.
    /// Returns the number of steps.
    pub fn blend_answers(&mut self, share: f32, max_steps: u32, bias: Bias) -> u32 {
        self.measure(bias);
        if share <= 0.0 {
            self.mixed.clone_from(&self.residuals);
            return 0;
        }
        for (mixed, own) in self.mixed.iter_mut().zip(&self.residuals) {
            *mixed = (own.0.lerp(mixed.0, share), own.1.lerp(mixed.1, share));
        }
        self.figure.blend_to(Kept::Blended, share);
        if max_steps == 0 {
            return 0;
        }
        for (task, (position, rotation)) in self.tasks.iter_mut().zip(&self.mixed) {
            let mixed = (
                task.position.map_or(Vec3::ZERO, |_| *position),
                task.rotation.map_or(Vec3::ZERO, |_| *rotation),
            );
            if !task.met(mixed) {
                task.allowance = mixed;
            }
        }
        let met = self.measure(bias).met;
        let steps = if met { 0 } else { self.descend(max_steps, bias, Patience::SHORT).0 };
        self.tasks.iter_mut().for_each(|task| task.allowance = (Vec3::ZERO, Vec3::ZERO));
        steps
    }

    /// The current state as a candidate answer.
    pub fn answer(&mut self) -> Answer {
        let costs = self.priority_costs();
        let mut previous = 0.0;
        let mut level = 0;
        let residuals = costs.map(|(cost, _)| {
            let own = (cost - previous).max(0.0) / Task::level(level);
            (previous, level) = (cost, level + 1);
            crate::math64::sqrt(own)
        });
        Answer { residuals, turn: self.figure.turned() }
    }

    /// Restores the initial state if the result is lexicographically worse. Returns whether it did.
    pub fn restore_initial_if_worse(&mut self) -> bool {
        let now = self.priority_costs();
        self.figure.keep(Kept::Best);
        self.figure.restore(Kept::Initial);
        for (now, was) in now.into_iter().zip(self.priority_costs()) {
            // Positions in f32 are accurate to a millionth of the figure's size.
            let more = crate::math64::sqrt(now.0) - crate::math64::sqrt(was.0);
            if more.abs() > 1e-6 && !(now.1 && was.1) {
                if more > 0.0 {
                    return true;
                }
                break;
            }
        }
        self.figure.restore(Kept::Best);
        false
    }

    /// Restores the initial state if its residuals exceed the current ones by at most the tolerance, and no effector is more
    /// than four tolerances away from it. Returns whether it did.
    ///
    /// Converged states differ by that much at random, and a pose at rest should not move.
    pub fn restore_initial_if_near(&mut self) -> bool {
        let now = self.priority_costs();
        let frames = &self.figure.frames;
        let near = |(t, was): (&Task, &(Vec3, Quat, bool))| {
            let (at, turn) = t.effector(frames);
            (t.position.is_none() || (at - was.0).length_squared() <= 16.0 * t.tolerance * t.tolerance)
                && (t.rotation.is_none() || math::angle_between(turn, was.1) <= 4.0 * t.rotation_tolerance)
        };
        if !self.tasks.iter().zip(&self.initial_effectors).all(near) {
            return false;
        }
        self.figure.keep(Kept::Best);
        self.figure.restore(Kept::Initial);
        let tolerance = self.tasks.first().map_or(0.0, |a| f64::from(a.tolerance));
        let root = crate::math64::sqrt;
        let as_near = |(now, was): (&(f64, bool), (f64, bool))| {
            (!now.1 || was.1) && root(was.0) - root(now.0) <= tolerance
        };
        if now.iter().zip(self.priority_costs()).all(as_near) {
            return true;
        }
        self.figure.restore(Kept::Best);
        false
    }

    /// Saves the goals before [`Run::shift_goals`].
    pub fn save_goals(&mut self) {
        self.goals.clear();
        self.goals.extend(self.tasks.iter().map(|a| (a.position, a.rotation)));
    }

    /// Restores the saved goals.
    pub fn restore_goals(&mut self) {
        for (task, saved) in self.tasks.iter_mut().zip(&self.goals) {
            (task.position, task.rotation) = *saved;
        }
    }

    /// Shifts the goals of priorities higher than `last` by their residuals, so that the weighted minimum meets the original
    /// goals (method of multipliers: Hestenes 1969, Powell 1969). False where every residual is negligible or too large.
    pub fn shift_goals(&mut self, last: u8) -> bool {
        self.figure.forward();
        let frames = &self.figure.frames;
        let mut any = false;
        for (t, (position, rotation)) in self.tasks.iter_mut().zip(&self.goals) {
            if t.priority >= last || t.other != NONE || t.far.is_some() {
                continue;
            }
            let (at, turned) = t.effector(frames);
            let shift = position.map_or(Vec3::ZERO, |p| p - at);
            let turn = rotation.map_or(Vec3::ZERO, |q| chord(math::mul(q, math::conjugate(turned))));
            let share = (shift.length_squared() / (t.tolerance * t.tolerance))
                .max(turn.length_squared() / (t.rotation_tolerance * t.rotation_tolerance));
            // Below a tenth of the tolerance another descent changes nothing.
            if share <= 0.01 || shift.length_squared().max(turn.length_squared()) > MAX_SHIFT * MAX_SHIFT {
                continue;
            }
            any = true;
            t.position = t.position.map(|p| p + shift);
            t.rotation = t.rotation.map(|q| math::normalize(math::mul(super::cost::cayley(turn), q)));
        }
        any
    }

    /// Moves to the n-th restart state: the rest, or the preferred values of joints that have some, plus a random offset
    /// that grows with n. Deterministic.
    pub fn restart(&mut self, n: u32) {
        let mut x = 0x9E37_79B9u32.wrapping_mul(n + 1);
        let mut noise = || {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            (x >> 8) as f32 / (1u32 << 23) as f32 - 1.0
        };
        let spread = 0.3 + 0.2 * n.min(6) as f32;
        self.figure.moved = true;
        for (i, node) in self.figure.nodes.iter_mut().enumerate() {
            let away = Vec3::new(noise(), noise(), noise()) * spread;
            let q = math::mul(node.rest, super::cost::cayley(away));
            if node.limits.turns() {
                node.rotation = node.limits.clamp(math::normalize(q));
            }
            let slides = if self.placed && i == 0 { 0..0 } else { 0..3 };
            for axis in slides {
                let Some((from, to)) = node.limits.slide_range(axis) else { continue };
                let preferred = node.limits.slide_preferred(axis);
                let wide = if (to - from).is_finite() { 0.5 * (to - from) } else { 0.0 };
                let middle = if (to - from).is_finite() { 0.5 * (from + to) } else { 0.0 };
                let at = preferred.unwrap_or(middle) + wide * noise() * (spread - 0.3);
                node.slide_to(axis, at.clamp(from, to));
            }
        }
    }
}

/// Maximum residual, in figure sizes and half radians, that counts as caused by lower priorities. A larger one is out of
/// reach.
const MAX_SHIFT: f32 = 0.05;

/// Fractions of the bound that are tried in a bounded move. With the whole alone, twice as many hinge limbs at rest stay
/// short of their goals.
const PARTS: [f32; 2] = [1.0, 0.25];

/// Initial damping, as a fraction of the cost.
const INITIAL_DAMPING: f64 = 0.1;

/// Lower bound of damping, which f64 needs where the figure cannot move in some direction.
const MIN_DAMPING: f64 = 1e-9;
