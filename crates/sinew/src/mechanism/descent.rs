//! Levenberg-Marquardt within limits: one run from one start.
//!
//! A step solves `min |J d - e|^2 + damping |d|^2` over the variables that are free. The damping is the squared residual
//! times [`DAMPING`] (Chan & Lawrence 1988; Sugihara 2011): far from the goal, where the linear picture is poor, steps are
//! careful; near it they become Newton's, so that convergence is quadratic there, at singular poses too. A variable that
//! would pass its limit is set on it, its column is taken out, what its step does is taken from the residual, and the rest
//! is solved again: so the others take over its share, and the arm goes on along the boundary. Each step starts with every
//! variable free. A step that makes the residual larger is not taken, and damped more.

use alloc::{vec, vec::Vec};

use super::{
    normal::{Many, Normal, ROWS, Six, dot},
    plan::{Aim, Frames, Miss, Plan, Sight},
};

/// Damping for a residual of one: of 0.01 to 3, about this much needs the fewest iterations on all nine arms of
/// `lab/arm`; a tenth of it leads nearby starts astray five times as often.
const DAMPING: f64 = 0.1;
/// Never less damping than this times the square of a radian's length, so that the sum stays positive definite beside
/// rounding (1e-16). Anything from 1e-12 to 1e-8 measures the same.
const FLOOR: f64 = 1e-10;
/// How much more damping after a step that did not help.
const HARDER: f64 = 4.0;
/// Where six steps, each damped harder, all fail, there is no way down that arithmetic can see.
const HARDEST: f64 = 4096.0;
/// A second and third variable may meet its limit once the first is held; later ones are clamped by the projection alone.
const PASSES: u32 = 4;
/// Progress is looked at once in so many iterations.
const WINDOW: u32 = 5;

/// When a run ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    /// Metres.
    pub position: f64,
    /// Radians.
    pub rotation: f64,
    /// Most iterations.
    pub iterations: u32,
    /// It goes on as long as every five iterations leave less than this share of the squared residual.
    pub stall: f64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Reached,
    Stalled,
    OutOfIterations,
}

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // One stands in a solver; a box would cost each step a look-up.
enum Form {
    Six(Six),
    Many(Many),
}

/// The room that runs need.
#[derive(Clone, Debug)]
pub(super) struct Descent {
    /// Where the run is: the start before it, the best that it found after it.
    pub values: Vec<f64>,
    /// Bounds of this run, within the limits.
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// The squared residual at `values`.
    pub cost: f64,
    /// Residual at each goal at `values`.
    pub misses: Vec<Miss>,
    /// All iterations since this was set to 0.
    pub iterations: u32,
    form: Form,
    state: State,
}

/// What the steps work on.
#[derive(Clone, Debug)]
struct State {
    frames: Frames,
    sights: Vec<Sight>,
    columns: Vec<[f64; ROWS]>,
    residual: Vec<[f64; ROWS]>,
    /// Metres or radians in a unit of each variable: a slider's unit is what a radian counts in metres.
    scale: Vec<f64>,
    trial: Vec<f64>,
    held: Vec<bool>,
}

impl Descent {
    pub fn new(plan: &Plan) -> Self {
        let (n, goals) = (plan.vars.len(), plan.goals());
        let form = if goals == 1 { Form::Six(Six::default()) } else { Form::Many(Many::new(goals, n)) };
        Self {
            values: vec![0.0; n],
            lower: plan.vars.iter().map(|v| v.lower).collect(),
            upper: plan.vars.iter().map(|v| v.upper).collect(),
            cost: f64::INFINITY,
            misses: vec![Miss::default(); goals],
            iterations: 0,
            form,
            state: State {
                frames: plan.frames(),
                sights: vec![Sight::default(); goals],
                columns: vec![[0.0; ROWS]; goals * n],
                residual: vec![[0.0; ROWS]; goals],
                scale: plan.vars.iter().map(|v| if v.slides { plan.length } else { 1.0 }).collect(),
                trial: vec![0.0; n],
                held: vec![false; n],
            },
        }
    }

    /// Descends from `values`, which must be within the bounds.
    pub fn run(&mut self, plan: &Plan, aims: &[Aim], until: &Until) -> End {
        let Self { values, lower, upper, cost, misses, iterations, form, state } = self;
        let bounds = (lower.as_slice(), upper.as_slice());
        let mut run = Run { values, bounds, cost, misses, iterations, state };
        match form {
            Form::Six(six) => run.descend(six, plan, aims, until),
            Form::Many(many) => run.descend(many, plan, aims, until),
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

/// Looks at every goal; gives the squared residual.
#[inline(always)]
fn look(plan: &Plan, aims: &[Aim], frames: &Frames, sights: &mut [Sight]) -> f64 {
    let mut cost = 0.0;
    for (goal, (aim, sight)) in aims.iter().zip(sights).enumerate() {
        *sight = plan.look(goal, aim, frames);
        cost += dot(&sight.miss.residual, &sight.miss.residual);
    }
    cost
}

struct Run<'a> {
    values: &'a mut Vec<f64>,
    bounds: (&'a [f64], &'a [f64]),
    cost: &'a mut f64,
    misses: &'a mut [Miss],
    iterations: &'a mut u32,
    state: &'a mut State,
}

impl Run<'_> {
    #[inline]
    fn descend<N: Normal>(&mut self, normal: &mut N, plan: &Plan, aims: &[Aim], until: &Until) -> End {
        let floor = FLOOR * plan.length * plan.length;
        plan.place(self.values, &mut self.state.frames);
        *self.cost = look(plan, aims, &self.state.frames, &mut self.state.sights);
        let mut harder = 1.0;
        let mut done = 0;
        let mut before = *self.cost;
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
                if *self.cost > before * until.stall {
                    return End::Stalled;
                }
                before = *self.cost;
            }
            let n = self.values.len();
            let State { frames, sights, columns, residual, scale, .. } = &mut *self.state;
            for (goal, (aim, sight)) in aims.iter().zip(sights.iter()).enumerate() {
                let part = &mut columns[goal * n..][..n];
                plan.columns(goal, aim, frames, sight, scale, part);
                residual[goal] = sight.miss.residual;
            }
            normal.form(columns, residual);
            loop {
                done += 1;
                *self.iterations += 1;
                step(normal, self.values, self.bounds, self.state, DAMPING * *self.cost * harder + floor);
                let State { frames, sights, trial, .. } = &mut *self.state;
                plan.place(trial, frames);
                let cost = look(plan, aims, frames, sights);
                // NaN is not less than anything.
                if cost < *self.cost {
                    core::mem::swap(self.values, trial);
                    *self.cost = cost;
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
}

/// Solves for a step within the bounds and leaves `values` plus the step in `state.trial`.
#[inline(always)]
fn step<N: Normal>(
    normal: &mut N,
    values: &[f64],
    (lower, upper): (&[f64], &[f64]),
    state: &mut State,
    damping: f64,
) {
    let n = values.len();
    let State { columns, scale, trial, held, .. } = state;
    let (lower, upper, scale) = (&lower[..n], &upper[..n], &scale[..n]);
    let (trial, held) = (&mut trial[..n], &mut held[..n]);
    held.fill(false);
    normal.release();
    for _ in 0..PASSES {
        normal.solve(damping);
        let mut met = false;
        for i in 0..n {
            if held[i] {
                continue;
            }
            let to = values[i] + normal.step(columns, i) * scale[i];
            let inside = to.max(lower[i]).min(upper[i]);
            trial[i] = inside;
            // Exactly on a limit counts as inside.
            if inside != to {
                held[i] = true;
                met = true;
            }
        }
        if !met {
            break;
        }
        // Those that were held before are held already.
        normal.release();
        for i in 0..n {
            if held[i] {
                normal.hold(columns, i, (trial[i] - values[i]) / scale[i]);
            }
        }
    }
}
