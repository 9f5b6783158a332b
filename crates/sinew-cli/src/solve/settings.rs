//! What is asked of all solves in pose space.

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

/// The default tolerances: a part of the chain's length, and radians.
pub const TOLERANCES: (f64, f64) = (1e-4, 1e-3);
