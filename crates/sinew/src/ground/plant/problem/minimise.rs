//! The descent: linearisations, their steps, and which of these are taken.

use alloc::vec::Vec;

use super::{
    Problem, State,
    banded::Banded,
    clearance::Spot,
    constants::{DAMPING, GAIN, LOOSE, MOVED, ROUNDS, TRIES},
};

/// What the descent works on.
struct Descent<'a> {
    problem: &'a Problem<'a>,
    /// The clip moved with the ground.
    target: Vec<f64>,
    system: Banded,
    factors: Vec<f64>,
    /// Diagonal by which steps are damped, without and with the damping.
    scales: Vec<f64>,
    damped: Vec<f64>,
    damping: f64,
    /// Points that must clear the ground, with the half-spaces beside the state and beside the next.
    spots: Vec<Spot>,
    ahead: Vec<Spot>,
    state: State,
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
            damping: 0.0,
            spots: self.spots(),
            ahead: Vec::new(),
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
        self.damping = DAMPING[0];
        self.problem.look(&self.state, self.moved(loose), &mut self.spots);
        for _ in 0..ROUNDS {
            let cost = self.linearise(loose);
            let mut after = self.advance(loose);
            for _ in 1..TRIES {
                if after < cost {
                    break;
                }
                self.damping *= 10.0;
                after = self.advance(loose);
            }
            if after >= cost {
                break;
            }
            self.damping = (0.2 * self.damping).max(DAMPING[1]);
            core::mem::swap(&mut self.state, &mut self.next);
            core::mem::swap(&mut self.spots, &mut self.ahead);
            if cost - after <= GAIN * cost {
                break;
            }
        }
    }

    /// Displacement beyond which the ground is cast anew, in metres.
    fn moved(&self, loose: f64) -> f64 {
        MOVED * loose * self.problem.size
    }

    /// Assembles the system at the state; returns the cost.
    fn linearise(&mut self, loose: f64) -> f64 {
        self.system.clear();
        let (system, mut cost) = (&mut self.system, 0.0);
        self.problem.terms(
            &self.state,
            &self.target,
            &self.spots,
            loose,
            &mut |row, residual, weight, part| {
                system.add(row, residual, weight);
                cost += part;
            },
        );
        cost
    }

    /// Takes the damped step from the state to `next`, and looks for the ground there. Returns the cost.
    fn advance(&mut self, loose: f64) -> f64 {
        self.damped.clear();
        self.damped.extend(self.scales.iter().map(|scale| self.damping * scale));
        if !self.system.factor(&self.damped, &mut self.factors) {
            return f64::INFINITY;
        }
        self.system.solve(&self.factors, &mut self.step);
        self.next.x.clear();
        self.next.x.extend(self.state.x.iter().zip(&self.step).map(|(x, by)| x + by));
        self.problem.pose(&mut self.next);
        self.ahead.clone_from(&self.spots);
        self.problem.look(&self.next, self.moved(loose), &mut self.ahead);
        let mut cost = 0.0;
        self.problem.terms(&self.next, &self.target, &self.ahead, loose, &mut |_, _, _, part| cost += part);
        cost
    }
}
