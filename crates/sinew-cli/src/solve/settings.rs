//! Settings of all solves in pose space.

use sinew::solve::{IterativeOptions, Tolerance};

use super::look::LookSettings;
use crate::args::SolverName;

/// Settings of all solves. `None` is the solver's default.
#[derive(Clone, Debug)]
pub struct Settings {
    pub solver: SolverName,
    /// In metres. `None` is a share of the chain's length.
    pub position_tolerance: Option<f64>,
    /// In radians.
    pub rotation_tolerance: Option<f64>,
    pub max_iterations: Option<u32>,
    pub max_restarts: Option<u32>,
    /// Settings of a look-at.
    pub look: LookSettings,
    /// Whether a figure's joints have human limits.
    pub human: bool,
}

impl Settings {
    /// Options of iterative solvers.
    pub fn iterative(&self) -> IterativeOptions {
        // A tolerance out of f32's range becomes the nearest that f32 holds.
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
