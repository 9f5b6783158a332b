//! The choice among the answers of a search: the first one's, and those of fresh starts; and among sweeps, of methods that
//! make nothing else.

/// A fresh start's answer takes the first one's place where it is nearer to the goal by more than this part of the chain's
/// length, and of two fresh starts' answers that are less apart the one that turns joints less is taken.
const MARGIN: f32 = 0.01;

/// Of two sweeps that leave as much missing, but for this part of the chain's length, the later one counts: f32 does not tell
/// which of them is nearer.
pub(crate) const AS_NEAR: f32 = 1e-7;

/// Radians that a joint of a chain which is not at rest turns in a sweep: twenty sweeps that turn less come to 1e-5.
pub(crate) const AT_REST: f32 = 5e-7;

/// What is chosen so far. Answers that meet the goal are none of its business: the first of them ends a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    /// What the first answer leaves missing, in lengths of the chain.
    first: f32,
    /// The least that any leaves missing.
    least: f32,
    /// The largest turn of a joint in the fresh start's answer that is chosen; none where the first answer is.
    fresh: Option<f32>,
}

impl Choice {
    /// The first answer.
    pub fn new(first: f32) -> Self {
        Self { first, least: first, fresh: None }
    }

    /// Whether a fresh start's answer is chosen.
    pub fn is_fresh(&self) -> bool {
        self.fresh.is_some()
    }

    /// Whether a fresh start's answer is to be taken for what is chosen: what it leaves missing, in lengths of the chain,
    /// and the largest turn of a joint in radians from where it came in.
    pub fn takes(&mut self, missing: f32, turn: f32) -> bool {
        let better = missing < self.least - MARGIN;
        let nearer = missing < self.first - MARGIN;
        let calmer = missing <= self.least + MARGIN && self.fresh.is_none_or(|fresh| turn < fresh);
        let takes = better || nearer && calmer;
        self.least = self.least.min(missing);
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
