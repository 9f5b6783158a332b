//! The outer loop of damped least-squares steps: which are kept, how the next ones are damped, and when they end.

/// A state's measure.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// Cost that no step increases.
    pub cost: f64,
    /// Whether all tasks are met.
    pub met: bool,
}

/// Stopping rule: a descent ends after more than `steps` consecutive steps that each leave more than `share` of the cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub share: f64,
    pub steps: u32,
    /// Whether the descent ends where all tasks are met.
    pub until_met: bool,
}

impl Patience {
    /// For a single chain: a step that gains less than a hundredth is not worth its time.
    pub const CHAIN: Self = Self { share: 0.99, steps: 4, until_met: true };
}

/// State of a descent between steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Descent {
    pub now: Measured,
    factor: f64,
    /// Number of consecutive steps that gained too little.
    slow: u32,
    moved: bool,
}

impl Descent {
    /// A descent from a state, whose first step has this factor of damping.
    pub fn new(now: Measured, factor: f64) -> Self {
        Self { now, factor, slow: 0, moved: false }
    }

    /// Makes at most `max_steps` steps. Never increases the cost. Returns the number of steps.
    ///
    /// `step` makes a step of a model from its current state, with the damping `factor` times the squared residual, and
    /// measures where it leads. It gets the factor and the current cost. Where there is no step, it returns `None` and leaves
    /// the state as it was. `undo` undoes the last step.
    #[inline]
    pub fn run<M>(
        &mut self,
        model: &mut M,
        max_steps: u32,
        patience: Patience,
        mut step: impl FnMut(&mut M, f64, f64) -> Option<Measured>,
        undo: impl Fn(&mut M),
    ) -> u32 {
        let mut steps = 0;
        while steps < max_steps && !self.ends(patience) {
            let Some(next) = step(model, self.factor, self.now.cost) else { break };
            steps += 1;
            // NaN fails too.
            if next.cost < self.now.cost {
                self.slow = if next.cost > patience.share * self.now.cost { self.slow + 1 } else { 0 };
                (self.now, self.moved) = (next, true);
                self.factor *= 0.25;
            } else {
                undo(model);
                self.factor = (self.factor * 8.0).max(1e-3);
                self.slow += 1;
            }
        }
        steps
    }

    fn ends(&self, patience: Patience) -> bool {
        if patience.until_met && self.now.met {
            return true;
        }
        self.slow > patience.steps && (self.moved || patience.until_met || self.factor > 10.0)
    }
}
