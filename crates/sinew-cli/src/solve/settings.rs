//! What is asked of all solves in pose space.

use sinew::solve::{IterativeOptions, Tolerance};

use super::look::LookSettings;
use crate::args::SolverName;

/// What is asked of all solves. None: as the solver has it.
#[derive(Clone, Debug)]
pub struct Settings {
    pub solver: SolverName,
    /// Metres; else a part of the chain's length.
    pub position_tolerance: Option<f64>,
    /// Radians.
    pub rotation_tolerance: Option<f64>,
    pub max_iterations: Option<u32>,
    pub max_restarts: Option<u32>,
    /// Of a look-at.
    pub look: LookSettings,
    /// Whether a figure's joints move as people's do.
    pub human: bool,
}

impl Settings {
    /// For solvers that iterate on a chain.
    pub fn iterative(&self) -> IterativeOptions {
        // (What f32 cannot hold is as near as it holds.)
        let narrow = |x: f64| (x as f32).clamp(f32::MIN_POSITIVE, f32::MAX);
        let mut options = IterativeOptions::new();
        if let Some(metres) = self.position_tolerance {
            options.position_tolerance = Tolerance::Metres(narrow(metres));
        }
        if let Some(radians) = self.rotation_tolerance {
            options.rotation_tolerance = narrow(radians);
        }
        (options.max_iterations, options.max_restarts) = (self.max_iterations, self.max_restarts);
        options
    }
}
