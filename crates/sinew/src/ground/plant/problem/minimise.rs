//! The descent: linearisations, their steps, and which of these are taken.

use alloc::vec::Vec;

use super::{
    Problem, State,
    banded::Banded,
    clearance::Spot,
    constants::{CORRECTIONS, CURVATURE, DAMPING, GAIN, LOOSE, MOVED, REFUSED, ROUNDS, TRIES},
    terms::{Model, Pull},
};

/// What the descent works on.
struct Descent<'a> {
    problem: &'a Problem<'a>,
    /// The clip moved with the ground.
    target: Vec<f64>,
    system: Banded,
    factors: Vec<f64>,
    /// Diagonal by which steps are damped, without and with the damping of each sample.
    scales: Vec<f64>,
    damped: Vec<f64>,
    damping: Vec<f64>,
    /// What the costs of samples rise by on ground that the linearisation did not know.
    unforeseen: Vec<f64>,
    /// Points that must clear the ground, with the half-spaces beside the state and beside the next.
    spots: Vec<Spot>,
    ahead: Vec<Spot>,
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
            let (_, distance) = self.tolerances(j / self.width, j % self.width);
            1.0 / (distance * distance)
        };
        let mut descent = Descent {
            problem: self,
            system: Banded::new(target.len(), 2 * self.width + 1),
            factors: Vec::new(),
            scales: (0..target.len()).map(scale).collect(),
            damped: Vec::new(),
            damping: alloc::vec![0.0; self.count()],
            unforeseen: alloc::vec![0.0; self.count()],
            spots: self.spots(),
            ahead: Vec::new(),
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
        self.damping.fill(DAMPING[0]);
        let moved = MOVED * loose * self.problem.size;
        let mut share = 1.0;
        self.problem.look(&self.state, moved, &mut self.spots);
        for _ in 0..ROUNDS {
            let mut cost = self.linearise(loose, share);
            let mut taken = None;
            for attempt in 0..TRIES {
                let after = self.advance(loose, cost);
                if after < cost {
                    let truth = after + self.unforeseen(loose, moved);
                    if truth < cost {
                        taken = Some(truth);
                        share = if attempt == 0 { (0.5 * share).max(CURVATURE) } else { share };
                        break;
                    }
                    // The share, or the largest loss where many samples lose less each.
                    let most = self.unforeseen.iter().copied().fold(0.0, f64::max);
                    let most = (REFUSED[0] * (cost - after)).min(0.5 * most);
                    for (damping, more) in self.damping.iter_mut().zip(&self.unforeseen) {
                        *damping *= if *more > most { REFUSED[1] } else { 1.0 };
                    }
                } else if share < 1.0 {
                    // The absolute values' own curvature led too far.
                    share = 1.0;
                    cost = self.linearise(loose, share);
                } else {
                    self.damping.iter_mut().for_each(|d| *d *= 10.0);
                }
            }
            let Some(after) = taken else { break };
            self.damping.iter_mut().for_each(|d| *d = (0.2 * *d).max(DAMPING[1]));
            core::mem::swap(&mut self.state, &mut self.next);
            core::mem::swap(&mut self.spots, &mut self.ahead);
            if cost - after <= GAIN * cost {
                break;
            }
        }
    }

    /// Looks for the ground beside the next state. Returns what the cost rises by on it, and keeps that for each sample.
    fn unforeseen(&mut self, loose: f64, moved: f64) -> f64 {
        self.ahead.clone_from(&self.spots);
        self.problem.look(&self.next, moved, &mut self.ahead);
        self.unforeseen.fill(0.0);
        [(&self.ahead, 1.0), (&self.spots, -1.0)]
            .into_iter()
            .map(|(spots, sign)| {
                sign * self.problem.depth_costs(&self.next, spots, loose, |sample, cost| {
                    self.unforeseen[sample] += sign * cost;
                })
            })
            .sum()
    }

    /// Assembles the system at the state; returns the cost.
    fn linearise(&mut self, loose: f64, share: f64) -> f64 {
        self.problem.pulls(&self.state, loose, share, &mut self.pulls);
        let model = Model { target: &self.target, spots: &self.spots, pulls: &self.pulls, loose };
        self.system.clear();
        let (system, mut cost) = (&mut self.system, 0.0);
        self.problem.terms(&self.state, &model, &mut |row, residual, weight, part| {
            system.add(row, residual, weight);
            cost += part;
        });
        cost
    }

    /// Takes the damped step from the state, and corrects it with the same factors while that lowers the cost: contacts move
    /// on curves, whose bend a single step ignores. Keeps the best in `next`; returns its cost beside the ground that the
    /// state has, `cost` if none is lower.
    fn advance(&mut self, loose: f64, cost: f64) -> f64 {
        let width = self.problem.width;
        self.damped.clear();
        self.damped.extend(self.scales.iter().enumerate().map(|(j, s)| self.damping[j / width] * s));
        if !self.system.factor(&self.damped, &mut self.factors) {
            return cost;
        }
        let model = Model { target: &self.target, spots: &self.spots, pulls: &self.pulls, loose };
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
