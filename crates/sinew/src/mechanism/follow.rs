//! Following a path at a fixed rate.

use alloc::vec::Vec;

use super::{
    DofKind, JointSpaceError, JointSpaceOptions, JointSpaceReport, JointSpaceSolver, LinkGoal, Mechanism,
    Objective, ball,
    descent::{End, own_bounds},
    report::positive,
};
use crate::{Workspace, solve::options::option_type};

/// Iterations of one step. A path is near, so that two or three are needed; where it is not, the next frame goes on.
const ITERATIONS: u32 = 12;
/// Steps for lower priorities and objectives: they go along from frame to frame.
const REFINE: u32 = 2;

option_type! {
    /// How a step along a path is done.
    PathOptions {
        /// How near the position must be, in metres; 1e-6 by default.
        position_tolerance, with_position_tolerance: f64 = 1e-6;
        /// How near the rotation must be, in radians; 1e-6 by default.
        rotation_tolerance, with_rotation_tolerance: f64 = 1e-6;
        /// The largest number of iterations of a step. By default, and at most, 14: 12 for the goals of the first priority
        /// and 2 for the others and for objectives.
        max_iterations, with_max_iterations: u32 = ITERATIONS + REFINE;
    }
}

/// Five iterations that leave more than this share of the squared residual change nothing any more.
const SETTLED: f64 = 1.0 - 1e-6;

/// From this level on a swing is on its ellipse: what is taken there ends a hair inside.
const ON_LIMIT: f64 = 1.0 - 1e-12;

/// Whether the mechanism is where the path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PathStatus {
    /// Within the tolerances.
    #[default]
    OnPath,
    /// Behind: joints go as fast as they may. With a slower path, or time, it may catch up.
    Behind,
    /// The path has left what can be reached from here: no joint is at its greatest speed, and none can bring the goals
    /// nearer. A limit or a stretched arm stands in the way, or another configuration is needed.
    OffPath,
}

/// How one step along a path went.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct PathReport {
    /// Where it is.
    pub status: PathStatus,
    /// Degrees of freedom that moved as fast as they may.
    pub at_speed: usize,
    /// Degrees of freedom that are at a limit; the two swings of a ball joint, which share theirs, count as one.
    pub at_limit: usize,
    /// What the step's solve did and left.
    pub solve: JointSpaceReport,
}

/// Follows goals that move, frame by frame: the differential mode.
///
/// Each step may move a degree of freedom by its greatest speed times the time that has passed and no further, so that there
/// are no jumps, whatever the goals do. Within that box, cut by the limits, it solves as [`JointSpaceSolver`] does, damped where the
/// arm is near a singular pose, and never restarts. What comes in outside its limits goes back at its greatest speed. All
/// state is in the values: there is nothing to reset.
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
    /// Greatest speed of each variable.
    speeds: Vec<f64>,
}

impl PathFollower {
    /// A follower of goals for these links. `speed` (radians or metres a second) is for degrees of freedom that have no
    /// greatest speed of their own.
    pub fn new(mechanism: &Mechanism, goals: &[LinkGoal], speed: f64) -> Result<Self, JointSpaceError> {
        positive("the speed", speed)?;
        let solver = JointSpaceSolver::new(mechanism, goals)?;
        let own = |v: &super::plan::Var| if v.velocity.is_finite() { v.velocity } else { speed };
        let speeds = solver.plan.vars.iter().map(own).collect();
        Ok(Self { solver, speeds })
    }

    /// Sets objectives for what the goals leave free. A posture or the middle of the limits keeps an arm with joints to
    /// spare from drifting as paths repeat.
    pub fn with_objectives(self, objectives: &[Objective]) -> Result<Self, JointSpaceError> {
        Ok(Self { solver: self.solver.with_objectives(objectives)?, ..self })
    }

    /// Sets the metres that a radian counts; see [`JointSpaceSolver::with_radian_length`].
    pub fn with_radian_length(self, metres: f64) -> Result<Self, JointSpaceError> {
        Ok(Self { solver: self.solver.with_radian_length(metres)?, ..self })
    }

    /// Makes room in a workspace, so that no step allocates.
    pub fn reserve(&self, workspace: &mut Workspace) {
        self.solver.reserve(workspace);
    }

    /// Moves towards the goals for `seconds`. `values` is where the mechanism is before, and after.
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
            // What is past a limit has that much to go before the box is within the limits.
            descent.lower[i] = (at - way).max(lower).min(at + way);
            descent.upper[i] = (at + way).min(upper).max(at - way);
            descent.values[i] = at.max(descent.lower[i]).min(descent.upper[i]);
        }
        for &(at, swing) in &solver.plan.swings {
            let start = [0, 1].map(|k| values[solver.plan.vars[at + k].dof]);
            let way = [0, 1].map(|k| self.speeds[at + k] * seconds);
            let to = swing.nearest(start);
            // As far of the way back as the slower of the two lets it go.
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
        // Rotation vectors are bounded around the one within half a turn that they come in as.
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
        // The two swings of a ball have one limit.
        let now = &descent.values;
        at_limit +=
            solver.plan.swings.iter().filter(|(at, s)| s.level([now[*at], now[at + 1]]) >= ON_LIMIT).count();
        let status = match end {
            End::Reached => PathStatus::OnPath,
            // Out of iterations, it is still coming nearer.
            End::OutOfIterations => PathStatus::Behind,
            End::Stalled if at_speed > 0 => PathStatus::Behind,
            End::Stalled => PathStatus::OffPath,
        };
        let solve = solver.finish(s, end, 0, values, options);
        Ok(PathReport { status, at_speed, at_limit, solve })
    }
}
