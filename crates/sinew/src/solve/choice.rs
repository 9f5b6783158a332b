//! The choice among the solutions of a search: of the first start and fresh starts, and of sweeps. Also holds the limits at
//! which a sweep counts as stalled.

/// A fresh start's solution replaces the first one's where its residual is smaller by more than this share of the chain's
/// length. Of two fresh starts' solutions within this share of each other, the one with the smaller turns is taken.
const MARGIN: f32 = 0.01;

/// Share of the chain's length within which the residuals of two sweeps count as equal, as f32 does not resolve them; the
/// later sweep is then taken.
pub(crate) const AS_NEAR: f32 = 1e-7;

/// Radians per sweep above which a joint of a chain is not at rest: twenty sweeps of smaller turns add up to 1e-5.
pub(crate) const AT_REST: f32 = 5e-7;

/// The best solution so far. Solutions that meet the goal do not come here: the first of them ends a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// Residual of the first solution, in chain lengths.
    first: f32,
    /// Minimum residual of all solutions, in chain lengths.
    min: f32,
    /// Largest turn of a joint in the chosen fresh start's solution, in radians; `None` while the first solution is chosen.
    fresh: Option<f32>,
}

impl Choice {
    /// Starts with the first solution, of residual `first` in chain lengths.
    pub fn new(first: f32) -> Self {
        Self { first, min: first, fresh: None }
    }

    /// Whether a fresh start's solution is chosen.
    pub fn is_fresh(&self) -> bool {
        self.fresh.is_some()
    }

    /// Offers a fresh start's solution, and returns whether it replaces the chosen one. `residual` is in chain lengths,
    /// `turn` the largest turn of a joint from the input pose, in radians.
    pub fn takes(&mut self, residual: f32, turn: f32) -> bool {
        let better = residual < self.min - MARGIN;
        let nearer = residual < self.first - MARGIN;
        let calmer = residual <= self.min + MARGIN && self.fresh.is_none_or(|fresh| turn < fresh);
        let takes = better || nearer && calmer;
        self.min = self.min.min(residual);
        if takes {
            self.fresh = Some(turn);
        }
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_better_stays_and_among_equals_the_calmest_is_taken() {
        let mut choice = Choice::new(0.3);
        assert!(!choice.takes(0.295, 0.1));
        assert!(choice.takes(0.28, 1.0));
        assert!(!choice.takes(0.275, 1.2));
        assert!(choice.takes(0.285, 0.5));
        assert!(!choice.takes(0.2895, 0.1));
        assert!(choice.takes(0.2, 3.0));
        assert!(!choice.takes(0.28, 0.1));
    }
}
