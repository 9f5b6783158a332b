//! Solver for values that reach goals: from the input values, and where that fails from restarts within the limits.

use alloc::{borrow::ToOwned, vec::Vec};
use core::f64::consts::TAU;

use super::{
    DofKind, LinkGoal, Mechanism, Objective, ball,
    descent::{Descent, End, own_bounds},
    goal, objective,
    plan::{Aim, Miss, Plan},
    refine::Refine,
    report::{History, JointSpaceError, JointSpaceOptions, JointSpaceReport, positive},
    seeds::{Cursor, KNOWN, Seeds},
};
use crate::{Outcome, Workspace, math64};

/// Maximum iterations and stall share of the run from the start. It ends when five iterations leave more than half of the
/// squared residual. It is patient, because its answer is the nearest.
const FIRST: (u32, f64) = (40, 0.5);
/// Maximum iterations and stall share of a run without restarts. It continues while progress is measurable: towards a goal
/// out of reach, the squared residual tends to a minimum above 0, and gains below a billionth of it are ignored.
const ONLY: (u32, f64) = (300, 1.0 - 1e-9);
/// Maximum steps for lower priorities and objectives. Objectives are followed along their gradient without their full
/// curvature, so that convergence is slow at the end.
const REFINE: u32 = 100;
/// Maximum iterations and stall share of restarts. They are short and end sooner: on all arms of `lab/arm` these values need
/// the fewest iterations in all.
pub(super) const LATER: (u32, f64) = (25, 0.3);

/// Solves for the values at which links of a mechanism reach their goals, within all limits.
///
/// The solver is made for the links of a list of goals, and solves for any targets of those. It uses Levenberg-Marquardt
/// with limits inside the step (see `descent.rs`). It runs first from the input values, so that the nearest answer wins, and
/// then, if restarts are allowed, from a fixed sequence of other points. Input values outside their limits are clamped
/// first. Those that the goals do not depend on stay as they are. Angles, and rotation vectors of joints that turn freely,
/// are returned on the turn nearest to their input.
///
/// Solves keep no state. Threads share one solver, each with a [`Workspace`] of its own, which allocates on the first solve
/// only.
///
/// ```
/// use sinew::{Workspace, glam::{DQuat, DVec3}, joint::{Dof, Joint}};
/// use sinew::mechanism::{JointSpaceOptions, JointSpaceSolver, JointSpec, LinkGoal, LinkTarget, Mechanism};
/// let mut builder = Mechanism::builder("arm");
/// for link in ["base", "upper", "fore", "hand"] {
///     builder.link(link);
/// }
/// builder.joint(JointSpec::new("shoulder", "base", "upper", Joint::hinge(DVec3::Z, Dof::range(-2.0, 2.0))));
/// let elbow = JointSpec::new("elbow", "upper", "fore", Joint::hinge(DVec3::Z, Dof::range(0.0, 2.5)));
/// builder.joint(JointSpec { translation: DVec3::X * 0.4, ..elbow });
/// let wrist = JointSpec::new("wrist", "fore", "hand", Joint::FIXED);
/// builder.joint(JointSpec { translation: DVec3::X * 0.3, ..wrist });
/// let arm = builder.build()?;
///
/// let hand = arm.find_link("hand").unwrap();
/// let goal = LinkGoal::new(&arm, hand, LinkTarget::Position(DVec3::new(0.5, 0.2, 0.0)));
/// let solver = JointSpaceSolver::new(&arm, &[goal])?;
/// let mut workspace = Workspace::new();
/// let mut values = arm.rest();
/// let report = solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new())?;
/// assert!(report.reached());
/// assert!(report.position_residual < 1e-6);
/// assert!((0.0..=2.5).contains(&values[1]));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[doc(alias("Jacobian", "Levenberg-Marquardt"))]
#[derive(Clone, Debug)]
pub struct JointSpaceSolver {
    pub(super) mechanism: Mechanism,
    pub(super) plan: Plan,
    pub(super) seeds: Seeds,
}

/// Scratch memory of joint space in a [`Workspace`]. Solvers of any size share it: a solve writes before it reads.
#[derive(Default)]
pub(super) struct Scratch {
    /// Goals of runs: all goals, or those of the first priority where there are several.
    pub aims: Vec<Aim>,
    /// Goals of every priority, where there are several or objectives.
    all_aims: Vec<Aim>,
    pub descent: Descent,
    pub cursor: Cursor,
    refine: Refine,
    /// Best values of all runs.
    best: Vec<f64>,
    /// Values of the variables at the start, within their limits.
    pub start: Vec<f64>,
}

impl JointSpaceSolver {
    /// Makes a solver for goals of these links and priorities. The mechanism is copied.
    pub fn new(mechanism: &Mechanism, goals: &[LinkGoal]) -> Result<Self, JointSpaceError> {
        let plan = plan_for(mechanism, goals)?;
        let seeds = Seeds::new(&plan, 0);
        Ok(Self { mechanism: mechanism.clone(), plan, seeds })
    }

    /// Sets objectives for the null space of the goals, beside that of
    /// [preferred values](crate::mechanism::ObjectiveKind::Preferred). They act once the goals are reached, or their residual is minimal. A
    /// solve then takes tens of microseconds more.
    pub fn with_objectives(mut self, objectives: &[Objective]) -> Result<Self, JointSpaceError> {
        for objective in objectives {
            objective::check(&self.mechanism, self.plan.goals(), objective)?;
        }
        self.plan.objectives.truncate(usize::from(self.plan.vars.iter().any(|v| v.preferred.is_some())));
        self.plan.objectives.extend_from_slice(objectives);
        Ok(self)
    }

    /// Sets the seed of the restarts' points: each seed, 0 by default, has its own fixed sequence.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seeds = Seeds::new(&self.plan, seed);
        self
    }

    /// Sets the length of a radian in metres, finite and above 0, which weighs rotations against positions and angles
    /// against slides. By default it is a quarter of the chain's length from its first joint to the tip, sliders fully
    /// extended.
    pub fn with_radian_length(mut self, metres: f64) -> Result<Self, JointSpaceError> {
        positive("the length of a radian", metres)?;
        self.plan.set_length(metres);
        self.seeds = Seeds::new(&self.plan, self.seeds.seed);
        Ok(self)
    }

    /// Returns the degrees of freedom on which the goals depend. Only their values change.
    pub fn dofs(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.plan.vars.iter().map(|v| v.dof)
    }

    /// Allocates in a workspace, so that no solve does.
    pub fn reserve(&self, workspace: &mut Workspace) {
        self.fit(workspace.scratch());
    }

    /// Solves for the goals. `values` holds the input values and receives the output values, one per degree of freedom of
    /// the mechanism. Where the goals are out of reach, the answer is the nearest that was found, by the squared residual
    /// (metres, and radians times [their length](Self::with_radian_length)). Its residual is at most that of the clamped
    /// input values.
    pub fn solve(
        &self,
        workspace: &mut Workspace,
        goals: &[LinkGoal],
        values: &mut [f64],
        options: &JointSpaceOptions,
    ) -> Result<JointSpaceReport, JointSpaceError> {
        let s = workspace.scratch();
        self.begin(s, goals, values, options)?;
        let (end, restarts) = self.reach(s, options);
        self.lower_levels(s, REFINE, options);
        Ok(self.finish(s, end, restarts, values, options))
    }

    /// Improves lower priorities and objectives, in at most so many steps.
    pub(super) fn lower_levels(&self, s: &mut Scratch, steps: u32, options: &JointSpaceOptions) {
        if !self.plan.has_lower_levels() {
            return;
        }
        let until = s.descent.until(options, (steps, 1.0));
        s.refine.run(&self.plan, &s.all_aims, &s.aims, &mut s.descent, &until);
        // The report is that of the first priority.
        s.descent.measure(&self.plan, &s.aims);
    }

    /// Runs from the start, and where that fails from restarts. Returns the end of the last run and the number of restarts.
    fn reach(&self, s: &mut Scratch, options: &JointSpaceOptions) -> (End, u32) {
        let Scratch { aims, descent, cursor, best, start, .. } = s;
        // Without restarts, this run decides.
        let first = descent.until(options, if options.max_restarts > 0 { FIRST } else { ONLY });
        let mut end = descent.run(&self.plan, aims, &first);
        let mut restarts = 0;
        if end != End::Reached && options.max_restarts > 0 {
            self.seeds.begin(&self.plan, aims, cursor);
            let mut cost = descent.cost;
            best.copy_from_slice(&descent.values);
            while restarts < options.max_restarts && descent.iterations < options.max_iterations {
                restarts += 1;
                self.seeds.take(&self.plan, cursor, &mut descent.values);
                self.plan.lock(start, &mut descent.values);
                end = descent.run(&self.plan, aims, &descent.until(options, LATER));
                if end == End::Reached {
                    break;
                }
                if descent.cost < cost {
                    cost = descent.cost;
                    best.copy_from_slice(&descent.values);
                }
            }
            if end != End::Reached {
                // Converges from the best values found.
                descent.values.copy_from_slice(best);
                end = descent.run(&self.plan, aims, &descent.until(options, ONLY));
            }
        }
        if end != End::Reached && descent.iterations < options.max_iterations {
            end = End::Stalled;
        }
        (end, restarts)
    }

    fn fit(&self, s: &mut Scratch) {
        let goals = self.plan.goals();
        for aims in [&mut s.aims, &mut s.all_aims] {
            aims.clear();
            aims.reserve(goals);
        }
        s.descent.fit(&self.plan);
        s.refine.fit(&self.plan);
        s.cursor.far.resize(KNOWN, 0.0);
        s.best.resize(self.plan.vars.len(), 0.0);
        s.start.resize(self.plan.vars.len(), 0.0);
    }

    /// Returns the value whose nearest turn an answer should be on.
    fn wanted(&self, options: &JointSpaceOptions, values: &[f64], dof: usize) -> f64 {
        match options.history {
            History::Last => values[dof],
            History::None => self.mechanism.dofs[dof].dof.rest(),
        }
    }

    /// Checks the input, and prepares goals and starting values.
    pub(super) fn begin(
        &self,
        s: &mut Scratch,
        goals: &[LinkGoal],
        values: &[f64],
        options: &JointSpaceOptions,
    ) -> Result<(), JointSpaceError> {
        options.check()?;
        if !self.plan.fits(goals) {
            return Err(JointSpaceError::OtherLinks);
        }
        self.mechanism.check(values)?;
        goals.iter().try_for_each(|g| goal::check(&self.mechanism, g))?;
        self.fit(s);
        if self.plan.has_lower_levels() {
            s.all_aims.extend(goals.iter().map(|goal| self.plan.aim(goal)));
        }
        // Goals of lower priorities are measured without weight.
        s.aims.extend(goals.iter().enumerate().map(|(i, goal)| {
            let aim = self.plan.aim(goal);
            if self.plan.levels[0].contains(&i) { aim } else { aim.weightless() }
        }));
        let descent = &mut s.descent;
        descent.iterations = 0;
        for (i, var) in self.plan.vars.iter().enumerate() {
            let (lower, upper) = own_bounds(var);
            (descent.lower[i], descent.upper[i]) = (lower, upper);
            descent.values[i] = self.wanted(options, values, var.dof).max(lower).min(upper);
        }
        let values = &mut descent.values;
        for &(at, swing) in &self.plan.swings {
            [values[at], values[at + 1]] = swing.nearest([values[at], values[at + 1]]);
        }
        self.plan.shorten(values);
        s.start.copy_from_slice(values);
        Ok(())
    }

    /// Writes the end of a run to the mechanism's values, on the nearest turn, and returns whether that changed a variable.
    pub(super) fn hand_out(&self, ends: &mut [f64], values: &mut [f64], options: &JointSpaceOptions) -> bool {
        let mut turned = false;
        for (v, var) in ends.iter_mut().zip(&self.plan.vars) {
            if var.periodic {
                let (lower, upper) = own_bounds(var);
                let by = nearest_turn(*v, self.wanted(options, values, var.dof), lower, upper);
                turned |= by != *v;
                *v = by;
            }
            if var.kind != DofKind::Vector {
                values[var.dof] = *v;
            }
        }
        for &at in &self.plan.vectors {
            let dofs = [0, 1, 2].map(|k| self.plan.vars[at + k].dof);
            let found = [0, 1, 2].map(|k| ends[at + k]);
            let wanted = dofs.map(|d| self.wanted(options, values, d));
            // An unmoved rotation vector keeps its bits, on whatever turn it is.
            let moved = ball::within_half_turn(wanted) != found;
            let near = if moved { ball::nearest_vector(found, wanted) } else { wanted };
            turned |= near != found;
            for k in 0..3 {
                ends[at + k] = near[k];
                values[dofs[k]] = near[k];
            }
        }
        turned
    }

    /// Writes the answer and returns its report, measured again where needed.
    pub(super) fn finish(
        &self,
        s: &mut Scratch,
        end: End,
        restarts: u32,
        values: &mut [f64],
        options: &JointSpaceOptions,
    ) -> JointSpaceReport {
        let descent = &mut s.descent;
        if self.hand_out(&mut descent.values, values, options) || end != End::Reached {
            descent.measure(&self.plan, &s.aims);
        }
        let max = |f: fn(&Miss) -> f64| descent.misses.iter().map(f).fold(0.0, f64::max);
        let past = if end == End::Reached { 0.0 } else { self.plan.out_of_reach(&s.aims) };
        let &JointSpaceOptions { position_tolerance, rotation_tolerance, .. } = options;
        JointSpaceReport {
            outcome: match end {
                End::Reached => Outcome::Converged,
                End::Stalled => Outcome::Stalled,
                End::OutOfIterations => Outcome::OutOfIterations,
            },
            out_of_reach: if past > position_tolerance { past } else { 0.0 },
            iterations: descent.iterations,
            restarts,
            position_residual: max(|m| m.position),
            rotation_residual: max(|m| m.rotation),
            position_tolerance,
            rotation_tolerance,
        }
    }
}

/// Makes a plan. Returns an error for a goal that no joint can move.
pub(super) fn plan_for(mechanism: &Mechanism, goals: &[LinkGoal]) -> Result<Plan, JointSpaceError> {
    if goals.is_empty() {
        return Err(JointSpaceError::NoGoal);
    }
    for g in goals {
        goal::check(mechanism, g)?;
        if mechanism.path(g.relative_to, g.link).next().is_none() {
            return Err(JointSpaceError::NoJoint {
                link: mechanism.link_name(g.link).to_owned(),
                relative_to: mechanism.link_name(g.relative_to).to_owned(),
            });
        }
    }
    Ok(Plan::new(mechanism, goals))
}

/// Returns the angle that differs from `angle` by whole turns, is nearest to `wanted` and is within limits; `angle` itself
/// where none of the nearest two is.
pub(super) fn nearest_turn(angle: f64, wanted: f64, lower: f64, upper: f64) -> f64 {
    let turns = math64::round((wanted - angle) / TAU);
    // Past a limit, the turn before it is tried, down to none.
    let toward = if turns < 0.0 { -1.0 } else { 1.0 };
    let mut k = turns;
    for _ in 0..2 {
        let moved = angle + k * TAU;
        if k == 0.0 || (moved >= lower && moved <= upper) {
            return moved;
        }
        k -= toward;
    }
    angle
}
