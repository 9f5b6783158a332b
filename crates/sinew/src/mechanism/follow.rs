//! Path following at a fixed rate.

use alloc::vec::Vec;

use super::{
    DofKind, JointSpaceError, JointSpaceOptions, JointSpaceReport, JointSpaceSolver, LinkGoal, Mechanism,
    Objective, ball,
    descent::{End, own_bounds},
    report::positive,
};
use crate::{Workspace, option_type::option_type};

/// Maximum iterations of one step. The goal is near on a path, so that two or three suffice; otherwise the next step
/// continues.
const ITERATIONS: u32 = 12;
/// Steps for lower priorities and objectives in one call. They converge over several frames.
const REFINE: u32 = 2;

option_type! {
    /// Options of a step along a path.
    PathOptions {
        /// Largest distance from a goal's position that counts as on the path, in metres, above 0; 1e-6 by default.
        position_tolerance, with_position_tolerance: f64 = 1e-6;
        /// Largest angle from a goal's rotation that counts as on the path, in radians, above 0; 1e-6 by default.
        rotation_tolerance, with_rotation_tolerance: f64 = 1e-6;
        /// Maximum number of iterations of a step. By default, and at most, 14: 12 for the goals of the first priority and 2
        /// for lower priorities and objectives.
        max_iterations, with_max_iterations: u32 = ITERATIONS + REFINE;
    }
}

/// Share of the squared residual. A run ends where five iterations leave more than this.
const SETTLED: f64 = 1.0 - 1e-6;

/// Smallest level at which a swing counts as on its ellipse: projected points lie slightly inside.
const ON_LIMIT: f64 = 1.0 - 1e-12;

/// Position of the mechanism relative to the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PathStatus {
    /// The goals are within the tolerances.
    #[default]
    OnPath,
    /// The mechanism is behind: joints are at their maximum speed. With a slower path, or time, it may catch up.
    Behind,
    /// The goals are out of reach from here: no joint is at its maximum speed, and none can reduce the residual. A limit or
    /// a stretched arm stops it, or another configuration is needed.
    OffPath,
}

/// Report of one step along a path.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct PathReport {
    /// Position relative to the path.
    pub status: PathStatus,
    /// Number of degrees of freedom at their maximum speed.
    pub at_speed: usize,
    /// Number of degrees of freedom at a limit. The two swings of a ball joint share a limit and count as one.
    pub at_limit: usize,
    /// Report of the step's solve.
    pub solve: JointSpaceReport,
}

/// Follows moving goals frame by frame (differential inverse kinematics).
///
/// Each step moves a degree of freedom by at most its maximum speed times the time, so that no goal causes a jump. Within
/// these bounds and the limits it solves as [`JointSpaceSolver`] does, damped near singular poses, and never restarts.
/// Values outside their limits return at maximum speed. All state is in the values, so there is nothing to reset.
///
/// ```
/// use sinew::{Workspace, glam::DVec3, joint::{Dof, Joint}};
/// use sinew::mechanism::{JointSpec, LinkGoal, LinkTarget, Mechanism, PathFollower, PathOptions, PathStatus};
/// let mut builder = Mechanism::builder("rail");
/// builder.link("base");
/// builder.link("cart");
/// let slide = Joint::slider(DVec3::X, Dof::range(-1.0, 1.0).with_speed(0.5));
/// builder.joint(JointSpec::new("slide", "base", "cart", slide));
/// let rail = builder.build()?;
/// let cart = rail.find_link("cart").unwrap();
/// let goal = |x| LinkGoal::new(&rail, cart, LinkTarget::Position(DVec3::X * x));
///
/// let follower = PathFollower::new(&rail, &[goal(0.0)], 3.0)?;
/// let (mut workspace, options) = (Workspace::new(), PathOptions::new());
/// let mut values = [0.0];
/// let report = follower.step(&mut workspace, &[goal(0.004)], &mut values, 0.01, &options)?;
/// assert_eq!(report.status, PathStatus::OnPath);
/// // A goal that jumps is followed at half a metre a second.
/// let before = values[0];
/// let report = follower.step(&mut workspace, &[goal(0.9)], &mut values, 0.01, &options)?;
/// assert_eq!(report.status, PathStatus::Behind);
/// assert!((values[0] - before - 0.005).abs() < 1e-12);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PathFollower {
    solver: JointSpaceSolver,
    /// Maximum speed of each variable, in radians or metres a second.
    speeds: Vec<f64>,
}

impl PathFollower {
    /// Makes a follower for the links of these goals. `speed` (radians or metres a second, finite and above 0) applies to
    /// degrees of freedom without a maximum speed of their own.
    pub fn new(mechanism: &Mechanism, goals: &[LinkGoal], speed: f64) -> Result<Self, JointSpaceError> {
        positive("the speed", speed)?;
        let solver = JointSpaceSolver::new(mechanism, goals)?;
        let own = |v: &super::plan::Var| if v.velocity.is_finite() { v.velocity } else { speed };
        let speeds = solver.plan.vars.iter().map(own).collect();
        Ok(Self { solver, speeds })
    }

    /// Sets objectives for the null space of the goals. A posture, or the middle of the limits, keeps a redundant arm from
    /// drifting as paths repeat.
    pub fn with_objectives(self, objectives: &[Objective]) -> Result<Self, JointSpaceError> {
        Ok(Self { solver: self.solver.with_objectives(objectives)?, ..self })
    }

    /// Sets the length of a radian in metres; see [`JointSpaceSolver::with_radian_length`].
    pub fn with_radian_length(self, metres: f64) -> Result<Self, JointSpaceError> {
        Ok(Self { solver: self.solver.with_radian_length(metres)?, ..self })
    }

    /// Allocates in a workspace, so that no step does.
    pub fn reserve(&self, workspace: &mut Workspace) {
        self.solver.reserve(workspace);
    }

    /// Moves towards the goals for `seconds`, finite and at least 0. `values` holds the input values and receives the output
    /// values, one per degree of freedom of the mechanism.
    pub fn step(
        &self,
        workspace: &mut Workspace,
        goals: &[LinkGoal],
        values: &mut [f64],
        seconds: f64,
        options: &PathOptions,
    ) -> Result<PathReport, JointSpaceError> {
        if !(seconds.is_finite() && seconds >= 0.0) {
            let range = "finite and at least 0";
            return Err(JointSpaceError::Setting { what: "the time", range, value: seconds });
        }
        let &PathOptions { position_tolerance, rotation_tolerance, max_iterations } = options;
        let options = &JointSpaceOptions {
            position_tolerance,
            rotation_tolerance,
            max_iterations,
            ..JointSpaceOptions::new()
        };
        let (solver, s) = (&self.solver, workspace.scratch());
        solver.begin(s, goals, values, options)?;
        let descent = &mut s.descent;
        for (i, var) in solver.plan.vars.iter().enumerate() {
            let (at, way) = (values[var.dof], self.speeds[i] * seconds);
            let (lower, upper) = own_bounds(var);
            // A value past a limit returns by at most one step.
            descent.lower[i] = (at - way).max(lower).min(at + way);
            descent.upper[i] = (at + way).min(upper).max(at - way);
            descent.values[i] = at.max(descent.lower[i]).min(descent.upper[i]);
        }
        for &(at, swing) in &solver.plan.swings {
            let start = [0, 1].map(|k| values[solver.plan.vars[at + k].dof]);
            let way = [0, 1].map(|k| self.speeds[at + k] * seconds);
            let to = swing.nearest(start);
            // The slower of the two swings limits the share of the return.
            let share = [0, 1].map(|k| {
                let far = (to[k] - start[k]).abs();
                if far > way[k] { way[k] / far } else { 1.0 }
            });
            let share = share[0].min(share[1]);
            let there = if share < 1.0 { [0, 1].map(|k| start[k] + share * (to[k] - start[k])) } else { to };
            for k in 0..2 {
                let bounds = if share < 1.0 { [there[k]; 2] } else { [start[k] - way[k], start[k] + way[k]] };
                [descent.lower[at + k], descent.upper[at + k]] = bounds;
                descent.values[at + k] = there[k];
            }
        }
        // Bounds of a rotation vector are around the equivalent of the input within half a turn.
        for &at in &solver.plan.vectors {
            let start = [0, 1, 2].map(|k| values[solver.plan.vars[at + k].dof]);
            for (k, start) in (at..).zip(ball::within_half_turn(start)) {
                let way = self.speeds[k] * seconds;
                (descent.lower[k], descent.upper[k]) = (start - way, start + way);
                descent.values[k] = start;
            }
        }
        let end = descent.run(&solver.plan, &s.aims, &descent.until(options, (ITERATIONS, SETTLED)));
        solver.lower_levels(s, REFINE, options);
        let descent = &s.descent;
        let (mut at_speed, mut at_limit) = (0, 0);
        for (i, var) in solver.plan.vars.iter().enumerate() {
            let v = descent.values[i];
            if var.kind != DofKind::Swing && (v <= var.lower || v >= var.upper) {
                at_limit += 1;
            } else if v <= descent.lower[i] || v >= descent.upper[i] {
                at_speed += 1;
            }
        }
        // The two swings of a ball share one limit.
        let now = &descent.values;
        at_limit +=
            solver.plan.swings.iter().filter(|(at, s)| s.level([now[*at], now[at + 1]]) >= ON_LIMIT).count();
        let status = match end {
            End::Reached => PathStatus::OnPath,
            // A run out of iterations still converges.
            End::OutOfIterations => PathStatus::Behind,
            End::Stalled if at_speed > 0 => PathStatus::Behind,
            End::Stalled => PathStatus::OffPath,
        };
        let solve = solver.finish(s, end, 0, values, options);
        Ok(PathReport { status, at_speed, at_limit, solve })
    }
}
