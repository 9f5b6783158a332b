//! The descent: linearisations, their steps, and which of these are taken.

use alloc::vec::Vec;

use super::{
    Problem, State,
    banded::Banded,
    clearance::Plane,
    constants::{CORRECTIONS, CURVATURE, DAMPING, GAIN, LOOSE, ROUNDS, TRIES},
    terms::{Model, Pull},
};

/// What the descent works on.
struct Descent<'a> {
    problem: &'a Problem<'a>,
    /// The clip moved with the ground.
    target: Vec<f64>,
    system: Banded,
    factors: Vec<f64>,
    /// Diagonal by which steps are damped.
    scales: Vec<f64>,
    planes: Vec<Plane>,
    pulls: Vec<Pull>,
    state: State,
    /// A state on trial, and the best of those tried from `state`.
    trial: State,
    next: State,
    step: Vec<f64>,
}

impl Problem<'_> {
    /// The state of least cost that the descent finds from the clip.
    pub fn minimise(&self) -> State {
        let target = self.start();
        let mut state = State { x: target.clone(), posed: Vec::new() };
        self.pose(&mut state);
        let scale = |j: usize| {
            let (_, distance) = self.tolerances(j % self.width);
            1.0 / (distance * distance)
        };
        let mut descent = Descent {
            problem: self,
            system: Banded::new(target.len(), 2 * self.width + 1),
            factors: Vec::new(),
            scales: (0..target.len()).map(scale).collect(),
            planes: Vec::new(),
            pulls: Vec::new(),
            trial: state.clone(),
            next: state.clone(),
            state,
            step: Vec::new(),
            target,
        };
        for loose in LOOSE {
            descent.descend(loose);
        }
        descent.state
    }
}

impl Descent<'_> {
    fn descend(&mut self, loose: f64) {
        let mut damping = DAMPING[0];
        let mut share = 1.0;
        for _ in 0..ROUNDS {
            // A half-space beside a state is one of those that it had before or a nearer one, so that the cost falls.
            self.problem.planes(&self.state, &mut self.planes);
            let mut cost = self.linearise(loose, share);
            let mut taken = None;
            for attempt in 0..TRIES {
                if self.system.factor(damping, &self.scales, &mut self.factors) {
                    let after = self.advance(loose, cost);
                    if after < cost {
                        taken = Some(after);
                        share = if attempt == 0 { (0.5 * share).max(CURVATURE) } else { 1.0 };
                        break;
                    }
                }
                if share < 1.0 {
                    // The absolute values' own curvature led too far.
                    share = 1.0;
                    cost = self.linearise(loose, share);
                } else {
                    damping *= 10.0;
                }
            }
            let Some(after) = taken else { break };
            damping = (0.2 * damping).max(DAMPING[1]);
            core::mem::swap(&mut self.state, &mut self.next);
            if cost - after <= GAIN * loose * cost {
                break;
            }
        }
    }

    /// Assembles the system at the state; returns the cost.
    fn linearise(&mut self, loose: f64, share: f64) -> f64 {
        self.problem.pulls(&self.state, loose, share, &mut self.pulls);
        let model = Model { target: &self.target, planes: &self.planes, pulls: &self.pulls, loose };
        self.system.clear();
        let (system, mut cost) = (&mut self.system, 0.0);
        self.problem.terms(&self.state, &model, &mut |row, residual, weight, part| {
            system.add(row, residual, weight);
            cost += part;
        });
        cost
    }

    /// Takes the damped step from the state, and corrects it with the same factors while that lowers the cost: contacts move
    /// on curves, whose bend a single step ignores. Keeps the best in `next`; returns its cost, `cost` if none is lower.
    fn advance(&mut self, loose: f64, cost: f64) -> f64 {
        let model = Model { target: &self.target, planes: &self.planes, pulls: &self.pulls, loose };
        self.system.solve(&self.factors, None, &mut self.step);
        self.trial.x.clone_from(&self.state.x);
        let mut best = cost;
        let mut right = Vec::new();
        for correction in 0..=CORRECTIONS {
            for (x, s) in self.trial.x.iter_mut().zip(&self.step) {
                *x += s;
            }
            self.problem.pose(&mut self.trial);
            right.clear();
            right.resize(self.step.len(), 0.0);
            let mut after = 0.0;
            self.problem.terms(&self.trial, &model, &mut |row, residual, weight, part| {
                for (i, a) in row {
                    right[*i] -= a * weight * residual;
                }
                after += part;
            });
            if after < best {
                best = after;
                self.next.clone_from(&self.trial);
            } else if correction > 0 {
                break;
            }
            self.system.solve(&self.factors, Some(&right), &mut self.step);
        }
        best
    }
}
