//! Levenberg-Marquardt within limits: one run from one start.
//!
//! A step solves `min |J d - e|^2 + damping |d|^2` over the free variables. The damping is [`DAMPING`] times the squared
//! residual (Chan & Lawrence 1988; Sugihara 2011). Far from the goal, where the linearisation is poor, steps are short. Near
//! it they become Newton steps, so that convergence is quadratic, at singular poses too. A variable that would pass its
//! limit is held on it: its column is removed, the effect of its step is subtracted from the residual, and the rest is
//! solved again. The other variables then take over its share, and the arm moves along the limit. Each step starts with
//! every variable free. A step that increases the residual is rejected and repeated with more damping.
//!
//! A variable that moves unwillingly (stiffness, ease) has a larger weight w in |d|^2. With d = S u and S = w^(-1/2), the
//! problem is the same in u, with columns J S: weights are units of variables ([`Plan::scale`], [`Plan::eased`]). They decide
//! who moves, not whether the goal is reached: a zero of the residual is a zero in any units. Ease depends on the direction
//! of motion; the residual's gradient stands for that of the step.
//!
//! The two swings of a ball joint share one limit, an ellipse. Where their step would leave it, they are set on its nearest
//! point. Their part along the ellipse's normal there is held, and the part along its tangent stays free. The next step ends
//! on that tangent and is projected to the ellipse again. So a swing moves along its limit as other joints do along theirs.

use alloc::vec::Vec;

use super::{
    JointSpaceOptions,
    dof::DofKind,
    goal::FARTHEST,
    model::Frames,
    normal::{Many, Normal, ROWS, Six, along, dot},
    plan::{Aim, Miss, Plan, Sight, Var},
    swing::Swing,
};
use crate::math64;

/// Ratio of the damping to the squared residual. Of 0.01 to 3, about this value needs the fewest iterations on all nine arms
/// of `lab/arm`. A tenth of it leads nearby starts astray five times as often.
const DAMPING: f64 = 0.1;
/// Minimum damping, in units of the squared length of a radian, so that the matrix stays positive definite beside rounding
/// (1e-16). Values from 1e-12 to 1e-8 measure the same.
const FLOOR: f64 = 1e-10;
/// Factor of the damping after a rejected step.
const HARDER: f64 = 4.0;
/// Largest factor of the damping: where six steps, each damped harder, all fail, rounding hides any descent.
const HARDEST: f64 = 4096.0;
/// Solves of one step. A second and third variable may meet its limit once the first is held. Later ones are clamped alone.
const PASSES: u32 = 4;
/// Squared share of a step. A swing whose step along a tangent ends further outside its ellipse than a tenth of the step is
/// solved again with the tangent there.
const ROUND: f64 = 0.01;
/// Iterations between two checks of progress.
const WINDOW: u32 = 5;

/// Conditions that end a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    /// Position tolerance, in metres.
    pub position: f64,
    /// Rotation tolerance, in radians.
    pub rotation: f64,
    /// Maximum number of iterations.
    pub iterations: u32,
    /// Largest share of the squared residual that [`WINDOW`] iterations may leave for the run to continue.
    pub stall: f64,
}

/// Reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Reached,
    Stalled,
    OutOfIterations,
}

/// State and scratch memory of runs.
#[derive(Default)]
pub(super) struct Descent {
    /// Values of the variables: the start before a run, the best found after it.
    pub values: Vec<f64>,
    /// Bounds of this run, within the limits. Swings have their ellipses in addition.
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Squared residual at `values`.
    pub cost: f64,
    /// Residual of each goal at `values`.
    pub misses: Vec<Miss>,
    /// Iterations of all runs since this was set to 0.
    pub iterations: u32,
    many: Many,
    state: State,
}

/// Scratch memory of steps.
#[derive(Default)]
struct State {
    frames: Frames,
    sights: Vec<Sight>,
    columns: Vec<[f64; ROWS]>,
    residual: Vec<[f64; ROWS]>,
    trial: Vec<f64>,
    held: Vec<Held>,
    walls: Vec<Wall>,
    /// Units of the variables in this step: those of the plan, less what ease withholds.
    scale: Vec<f64>,
}

/// Constraint of a variable in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Held {
    No,
    AtBound,
    /// Constrained together with its swing; see [`Wall`].
    BySwing,
}

/// Constraint of a swing in a step.
#[derive(Clone, Copy, Debug, Default)]
enum Wall {
    #[default]
    No,
    /// The part of its step along this unit normal of its ellipse has this length.
    Along([f64; 2], f64),
    /// Both of its variables have these steps, because bounds narrower than its ellipse limit them.
    Whole([f64; 2]),
}

/// Largest value of a variable, in radians or metres: the number below [`FARTHEST`].
const LARGEST: f64 = FARTHEST.next_down();

/// Returns the limits of a variable. A swing has none of its own, only its ellipse. A variable without limits ends at the
/// largest accepted value, so that a step of rounding alone cannot lead to values that a next solve refuses.
pub(super) fn own_bounds(var: &Var) -> (f64, f64) {
    match var.kind {
        DofKind::Swing => (f64::NEG_INFINITY, f64::INFINITY),
        _ => (var.lower.max(-LARGEST), var.upper.min(LARGEST)),
    }
}

impl Descent {
    /// Allocates for runs of a plan.
    pub fn fit(&mut self, plan: &Plan) {
        let (n, goals) = (plan.vars.len(), plan.goals());
        let Self { values, lower, upper, state, .. } = self;
        [values, lower, upper, &mut state.trial].into_iter().for_each(|line| line.resize(n, 0.0));
        self.misses.resize(goals, Miss::default());
        if goals > 1 {
            self.many.fit(goals, n);
        }
        plan.fit(&mut state.frames);
        state.sights.resize(goals, Sight::default());
        state.columns.resize(goals * n, [0.0; ROWS]);
        state.residual.resize(goals, [0.0; ROWS]);
        state.held.resize(n, Held::No);
        state.scale.resize(n, 1.0);
        state.walls.resize(plan.swings.len(), Wall::No);
    }

    /// Descends from `values`, which must be within the bounds.
    pub fn run(&mut self, plan: &Plan, aims: &[Aim], until: &Until) -> End {
        if plan.goals() == 1 {
            return self.descend(&mut Six::default(), plan, aims, until);
        }
        let mut many = core::mem::take(&mut self.many);
        let end = self.descend(&mut many, plan, aims, until);
        self.many = many;
        end
    }

    /// Returns the conditions for a run of at most so many iterations with this stall share, within the options.
    pub fn until(&self, options: &JointSpaceOptions, (iterations, stall): (u32, f64)) -> Until {
        Until {
            position: options.position_tolerance,
            rotation: options.rotation_tolerance,
            iterations: iterations.min(options.max_iterations.saturating_sub(self.iterations)),
            stall,
        }
    }

    #[inline]
    fn descend<N: Normal>(&mut self, normal: &mut N, plan: &Plan, aims: &[Aim], until: &Until) -> End {
        let floor = FLOOR * plan.length * plan.length;
        self.state.scale.copy_from_slice(&plan.scale);
        plan.place(&self.values, &mut self.state.frames);
        self.cost = look(plan, aims, &self.state.frames, &mut self.state.sights);
        let mut harder = 1.0;
        let mut done = 0;
        let mut before = self.cost;
        loop {
            let mut reached = true;
            for (m, s) in self.misses.iter_mut().zip(&self.state.sights) {
                *m = s.miss;
                reached &= m.position <= until.position && m.rotation <= until.rotation;
            }
            if reached {
                return End::Reached;
            }
            if done >= until.iterations {
                return End::OutOfIterations;
            }
            if done > 0 && done.is_multiple_of(WINDOW) {
                if self.cost > before * until.stall {
                    return End::Stalled;
                }
                before = self.cost;
            }
            let n = self.values.len();
            let State { frames, sights, columns, residual, scale, .. } = &mut self.state;
            for (goal, (aim, sight)) in aims.iter().zip(sights.iter()).enumerate() {
                let part = &mut columns[goal * n..][..n];
                plan.columns(goal, aim, frames, sight, part);
                residual[goal] = sight.miss.residual;
            }
            if plan.eases {
                scale.copy_from_slice(&plan.scale);
                // The step of a gradient descent.
                let slope = |i: usize| -> f64 {
                    let all = residual.iter().enumerate();
                    plan.scale[i] * all.map(|(goal, r)| dot(&columns[goal * n + i], r)).sum::<f64>()
                };
                plan.eased(&self.values, slope, |i, share| scale[i] *= share);
                for part in columns.chunks_exact_mut(n) {
                    for (i, column) in
                        part.iter_mut().enumerate().filter(|(i, _)| scale[*i] != plan.scale[*i])
                    {
                        *column = column.map(|c| c * (scale[i] / plan.scale[i]));
                    }
                }
            }
            normal.form(columns, residual);
            loop {
                done += 1;
                self.iterations += 1;
                let damping = DAMPING * self.cost * harder + floor;
                let Self { values, lower, upper, state, .. } = &mut *self;
                step(normal, plan, values, (lower, upper), state, damping);
                let State { frames, sights, trial, .. } = &mut self.state;
                plan.place(trial, frames);
                let cost = look(plan, aims, frames, sights);
                // NaN fails too.
                if cost < self.cost {
                    core::mem::swap(&mut self.values, trial);
                    self.cost = cost;
                    // Values with bounds must not jump by whole turns.
                    if plan.vectors.first().is_some_and(|v| self.lower[*v] <= -LARGEST)
                        && plan.shorten(&mut self.values)
                    {
                        // The frames are the same, but the axes differ.
                        plan.place(&self.values, frames);
                    }
                    harder = (harder / HARDER).max(1.0);
                    break;
                }
                harder *= HARDER;
                if harder > HARDEST {
                    return End::Stalled;
                }
                if done >= until.iterations {
                    return End::OutOfIterations;
                }
            }
        }
    }

    /// Measures the residual at `values`.
    pub fn measure(&mut self, plan: &Plan, aims: &[Aim]) {
        plan.place(&self.values, &mut self.state.frames);
        self.cost = look(plan, aims, &self.state.frames, &mut self.state.sights);
        for (m, s) in self.misses.iter_mut().zip(&self.state.sights) {
            *m = s.miss;
        }
    }
}

/// Measures every goal and returns the squared residual.
#[inline(always)]
pub(super) fn look(plan: &Plan, aims: &[Aim], frames: &Frames, sights: &mut [Sight]) -> f64 {
    let mut cost = 0.0;
    for (goal, (aim, sight)) in aims.iter().zip(sights).enumerate() {
        *sight = plan.look(goal, aim, frames);
        cost += dot(&sight.miss.residual, &sight.miss.residual);
    }
    cost
}

/// Solves for a step within the bounds, and leaves `values` plus the step in `state.trial`.
#[inline(always)]
fn step<N: Normal>(
    normal: &mut N,
    Plan { swings, .. }: &Plan,
    values: &[f64],
    (lower, upper): (&[f64], &[f64]),
    state: &mut State,
    damping: f64,
) {
    let n = values.len();
    let State { columns, trial, held, walls, scale, .. } = state;
    let (lower, upper, scale) = (&lower[..n], &upper[..n], &scale[..n]);
    let (trial, held) = (&mut trial[..n], &mut held[..n]);
    held.fill(Held::No);
    for &(at, _) in swings {
        held[at..at + 2].fill(Held::BySwing);
    }
    walls.fill(Wall::No);
    normal.release();
    for _ in 0..PASSES {
        normal.solve(damping);
        let mut met = false;
        for i in 0..n {
            if held[i] != Held::No {
                continue;
            }
            let to = values[i] + normal.step(columns, i) * scale[i];
            let inside = to.max(lower[i]).min(upper[i]);
            trial[i] = inside;
            // Values exactly on a limit count as inside.
            if inside != to {
                held[i] = Held::AtBound;
                met = true;
            }
        }
        for (&(at, swing), wall) in swings.iter().zip(walls.iter_mut()) {
            let wanted = [normal.step(columns, at), normal.step(columns, at + 1)];
            let units = [scale[at], scale[at + 1]];
            met |= swung(&swing, at, wanted, units, values, (lower, upper), trial, wall);
        }
        if !met {
            break;
        }
        // Restores every variable, then holds all that are at a limit now.
        normal.release();
        for i in 0..n {
            if held[i] == Held::AtBound {
                normal.hold(|goal| columns[goal * n + i], (trial[i] - values[i]) / scale[i]);
            }
        }
        for (&(at, _), wall) in swings.iter().zip(walls.iter()) {
            match *wall {
                Wall::No => {}
                Wall::Along(direction, step) => {
                    normal.hold(|g| along(&columns[g * n + at], &columns[g * n + at + 1], direction), step)
                }
                Wall::Whole(steps) => {
                    (at..).zip(steps).for_each(|(i, step)| normal.hold(|goal| columns[goal * n + i], step));
                }
            }
        }
    }
}

/// Returns the unit normal of a swing's ellipse at a point of it, in the variables' units, and the step along it from
/// another point. `None` for a swing that does not move.
pub(super) fn along_normal(
    swing: &Swing,
    from: [f64; 2],
    on: [f64; 2],
    units: [f64; 2],
) -> Option<([f64; 2], f64)> {
    let normal = swing.normal(on);
    let along = normal[0] * (on[0] - from[0]) + normal[1] * (on[1] - from[1]);
    if units == [1.0; 2] {
        return Some((normal, along));
    }
    // n . (S u) = along, for steps u in units S.
    let scaled = [normal[0] * units[0], normal[1] * units[1]];
    let length = math64::sqrt(scaled[0] * scaled[0] + scaled[1] * scaled[1]);
    (length > 0.0).then(|| (scaled.map(|c| c / length), along / length))
}

/// Sets the trial of a swing for the unconstrained step of its two variables, in their units, and returns whether its constraint changed.
#[allow(clippy::too_many_arguments)]
fn swung(
    swing: &Swing,
    at: usize,
    wanted: [f64; 2],
    units: [f64; 2],
    values: &[f64],
    (lower, upper): (&[f64], &[f64]),
    trial: &mut [f64],
    wall: &mut Wall,
) -> bool {
    let from = [values[at], values[at + 1]];
    let step = match *wall {
        Wall::No => wanted,
        Wall::Along([x, y], along) => {
            let across = wanted[1] * x - wanted[0] * y;
            [x * along - y * across, y * along + x * across]
        }
        Wall::Whole(_) => return false,
    };
    let step = [step[0] * units[0], step[1] * units[1]];
    let to = [from[0] + step[0], from[1] + step[1]];
    let put = |trial: &mut [f64], [x, y]: [f64; 2]| (trial[at], trial[at + 1]) = (x, y);
    let boxed = [0, 1].map(|k| to[k].max(lower[at + k]).min(upper[at + k]));
    if boxed != to {
        // Narrow bounds may begin outside the ellipse, which is ignored then; otherwise both limit the step.
        let on = if swing.holds(from) { swing.on_the_way(from, boxed) } else { boxed };
        put(trial, on);
        let in_units = |k: usize| if units[k] > 0.0 { (on[k] - from[k]) / units[k] } else { 0.0 };
        *wall = Wall::Whole([in_units(0), in_units(1)]);
        return true;
    }
    let mut on = swing.nearest(to);
    if on == to {
        put(trial, to);
        return false;
    }
    if [0, 1].iter().any(|&k| on[k] < lower[at + k] || on[k] > upper[at + k]) {
        on = swing.on_the_way(from, to);
    }
    put(trial, on);
    let Some((normal, along)) = along_normal(swing, from, on, units) else { return false };
    let again = matches!(wall, Wall::Along(..));
    *wall = Wall::Along(normal, along);
    // A step along the held tangent leaves the ellipse by the square of its length. The next step corrects that, unless it
    // is large.
    let off = [to[0] - on[0], to[1] - on[1]];
    let much = off[0] * off[0] + off[1] * off[1] > ROUND * (step[0] * step[0] + step[1] * step[1]);
    !again || much
}
