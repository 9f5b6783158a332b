//! Secondary objectives, for the dofs that tasks leave free.

/// Weights of the secondary objectives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bias {
    /// Weight of the pull of joints to their rest.
    pub posture: f64,
    /// Weight of the pull of limbs to their poles.
    pub pole: f64,
    /// Weight of the spring from the root to its initial position; `None` where the root does not translate.
    pub root: Option<f64>,
}

impl Bias {
    /// Scales all weights by k.
    pub fn times(self, k: f64) -> Self {
        Self { posture: k * self.posture, pole: k * self.pole, root: self.root.map(|s| k * s) }
    }

    /// Whether any weight is above zero.
    pub fn any(self) -> bool {
        self.posture > 0.0 || self.pole > 0.0 || self.root.is_some_and(|s| s > 0.0)
    }
}
