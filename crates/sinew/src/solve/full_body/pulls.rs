//! What draws joints where goals do not.

/// What draws joints where goals do not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pulls {
    /// How strongly joints are drawn to their rest.
    pub posture: f64,
    /// How strongly limbs are drawn to their poles.
    pub pole: f64,
    /// How strongly the root is drawn to where it came in; none: it stays there.
    pub root: Option<f64>,
}

impl Pulls {
    /// The same so much as strong.
    pub fn times(self, k: f64) -> Self {
        Self { posture: k * self.posture, pole: k * self.pole, root: self.root.map(|s| k * s) }
    }

    /// Whether anything is drawn at all.
    pub fn draw(self) -> bool {
        self.posture > 0.0 || self.pole > 0.0 || self.root.is_some_and(|s| s > 0.0)
    }
}
