//! Values for goals: from the start, and where that fails from points all over the limits.

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

/// The run from the start gets this many iterations and is given up when five of them leave more than half of the squared
/// residual: patient, as its answer is the nearest.
const FIRST: (u32, f64) = (40, 0.5);
/// A run without a second chance goes on as long as there is progress worth having: towards a goal out of reach the
/// squared residual tends to what must remain, and a billionth of that is nothing to wait for.
const ONLY: (u32, f64) = (300, 1.0 - 1e-9);
/// Most steps for lower priorities and objectives: the slopes of objectives are followed without their curvature, so that the last
/// of the way takes longest.
const REFINE: u32 = 100;
/// Runs from other points are short and given up sooner: on all arms of `lab/arm` this needs the fewest iterations in all.
pub(super) const LATER: (u32, f64) = (25, 0.3);

/// Solves for the values at which links of a mechanism are where goals want them, within all limits.
///
/// It is made for the links of a list of goals and solves for any targets of those. It works by Levenberg-Marquardt with
/// limits inside the step (see `descent.rs`), first from the values that it is given, so that the nearest answer wins, then,
/// unless that is forbidden, from a fixed sequence of other points. Values that come in outside their limits are brought
/// inside first; those that the goals do not depend on stay as they are. Angles, and rotation vectors of joints that turn
/// freely, come back at the turn that is nearest to the one that came in.
///
/// Nothing is remembered between solves. Threads share one solver, each with a [`Workspace`] of its own, which grows on the
/// first solve and never after.
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

/// What joint space keeps in a [`Workspace`], for solvers of any size in turn: a solve writes what it reads.
#[derive(Default)]
pub(super) struct Scratch {
    /// What runs aim at: the goals, or where there are several priorities those of the first.
    pub aims: Vec<Aim>,
    /// Every goal, whatever its priority, where there is anything below the first.
    all_aims: Vec<Aim>,
    pub descent: Descent,
    pub cursor: Cursor,
    refine: Refine,
    /// The best end of a run.
    best: Vec<f64>,
}

impl JointSpaceSolver {
    /// A solver for goals of these links, of these priorities. The mechanism is copied.
    pub fn new(mechanism: &Mechanism, goals: &[LinkGoal]) -> Result<Self, JointSpaceError> {
        let plan = plan_for(mechanism, goals)?;
        let seeds = Seeds::new(&plan, 0);
        Ok(Self { mechanism: mechanism.clone(), plan, seeds })
    }

    /// Sets objectives for what the goals leave free. They are served once the goals are reached, or as near as they come: a
    /// solve then takes tens of microseconds more.
    pub fn with_objectives(mut self, objectives: &[Objective]) -> Result<Self, JointSpaceError> {
        for objective in objectives {
            objective::check(&self.mechanism, self.plan.goals(), objective)?;
        }
        self.plan.objectives = objectives.to_vec();
        Ok(self)
    }

    /// Sets which points restarts begin at: each seed, 0 by default, has its own fixed sequence.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seeds = Seeds::new(&self.plan, seed);
        self
    }

    /// Sets the metres that a radian counts, where positions are weighed against rotations and a slider's way against
    /// angles: finite and above 0; by default a quarter of the chain's length from its first joint to the tip, sliders
    /// drawn out.
    pub fn with_radian_length(mut self, metres: f64) -> Result<Self, JointSpaceError> {
        positive("the length of a radian", metres)?;
        self.plan.set_length(metres);
        self.seeds = Seeds::new(&self.plan, self.seeds.seed);
        Ok(self)
    }

    /// The degrees of freedom that the goals depend on; only their values change.
    pub fn dofs(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.plan.vars.iter().map(|v| v.dof)
    }

    /// Makes room in a workspace, so that no solve allocates.
    pub fn reserve(&self, workspace: &mut Workspace) {
        self.fit(workspace.scratch());
    }

    /// Solves. `values` is one number a degree of freedom of the mechanism: the start before, the answer after. Where the
    /// goals are out of reach, the answer is the nearest that was found, by the squared residual (metres, and radians times
    /// [their length](Self::with_radian_length)); it is never farther than the start was.
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

    /// Serves what is below the first priority, in at most so many steps.
    pub(super) fn lower_levels(&self, s: &mut Scratch, steps: u32, options: &JointSpaceOptions) {
        if !self.plan.has_lower_levels() {
            return;
        }
        let until = s.descent.until(options, (steps, 1.0));
        s.refine.run(&self.plan, &s.all_aims, &s.aims, &mut s.descent, &until);
        // What is reported is the first priority's.
        s.descent.measure(&self.plan, &s.aims);
    }

    /// Runs from the start, and where that fails from other points; gives how it ended and how many those were.
    fn reach(&self, s: &mut Scratch, options: &JointSpaceOptions) -> (End, u32) {
        let Scratch { aims, descent, cursor, best, .. } = s;
        // Where no other point may be tried, this run is all there is.
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
                // The nearest of what was found, as near as it can be.
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
    }

    /// The value that an answer should be near, of several turns.
    fn wanted(&self, options: &JointSpaceOptions, values: &[f64], dof: usize) -> f64 {
        match options.history {
            History::Last => values[dof],
            History::None => self.mechanism.dofs[dof].dof.rest(),
        }
    }

    /// Takes goals and start in.
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
        // Goals of lower priorities are no more than seen.
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
        Ok(())
    }

    /// Takes the end of a run to the nearest turn, and into the mechanism's values; whether that moved it.
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
            // What was not moved keeps its bits, on whatever turn it came.
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

    /// Hands the answer out, measured again.
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

/// A plan, or which goal no joint can serve.
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

/// The angle a whole number of turns from `angle` that is nearest to `wanted` and within limits.
pub(super) fn nearest_turn(angle: f64, wanted: f64, lower: f64, upper: f64) -> f64 {
    let turns = math64::round((wanted - angle) / TAU);
    // The nearest may be past a limit; then the next one on this side is tried, down to none.
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
