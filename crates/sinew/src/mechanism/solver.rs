//! Values for goals: from the start, and where that fails from points all over the limits.

use alloc::{borrow::ToOwned, vec::Vec};
use core::f64::consts::TAU;

use super::{
    DofKind, LinkGoal, Mechanism, Objective, ball,
    descent::{Descent, End, Until, own_bounds},
    goal,
    objective::{self, ObjectiveSum},
    plan::{Aim, Plan},
    refine::Refine,
    report::{History, JointSpaceError, JointSpaceOptions, JointSpaceReport},
    seeds::Seeds,
};
use crate::{Status, math64};

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
/// unless that is forbidden, from a fixed sequence of other points. Nothing is remembered between solves and nothing is
/// allocated. Values that come in outside their limits are brought inside first; those that the goals do not depend on
/// stay as they are. Angles, and rotation vectors of joints that turn freely, come back at the turn that is nearest to the
/// one that came in.
///
/// ```
/// use sinew::{Status, glam::{DQuat, DVec3}, joint::{Dof, Joint}};
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
/// let mut solver = JointSpaceSolver::new(&arm, &[goal], JointSpaceOptions::default())?;
/// let mut values = arm.rest();
/// let report = solver.solve(&[goal], &mut values)?;
/// assert_eq!(report.status, Status::Reached);
/// assert!(report.position_residual < 1e-6);
/// assert!((0.0..=2.5).contains(&values[1]));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[doc(alias("Jacobian", "Levenberg-Marquardt"))]
#[derive(Clone, Debug)]
pub struct JointSpaceSolver {
    pub(super) mechanism: Mechanism,
    pub(super) settings: JointSpaceOptions,
    pub(super) plan: Plan,
    /// What runs aim at: the goals, or where there are several priorities those of the first.
    pub(super) aims: Vec<Aim>,
    /// Every goal, whatever its priority.
    all_aims: Vec<Aim>,
    pub(super) descent: Descent,
    pub(super) seeds: Seeds,
    /// What is below the first priority.
    refine: Refine,
    /// The best end of a run.
    best: Vec<f64>,
}

impl JointSpaceSolver {
    /// A solver for goals of these links. The mechanism is copied: threads that each have a solver share nothing.
    pub fn new(
        mechanism: &Mechanism,
        goals: &[LinkGoal],
        settings: JointSpaceOptions,
    ) -> Result<Self, JointSpaceError> {
        Self::with_objectives(mechanism, goals, settings, &[])
    }

    /// The same, with objectives for what the goals leave free. They are served once the goals are reached, or as near as they
    /// come: a solve then takes tens of microseconds more.
    pub fn with_objectives(
        mechanism: &Mechanism,
        goals: &[LinkGoal],
        settings: JointSpaceOptions,
        objectives: &[Objective],
    ) -> Result<Self, JointSpaceError> {
        settings.check()?;
        for objective in objectives {
            objective::check(mechanism, goals.len(), objective)?;
        }
        let mut plan = plan_for(mechanism, goals)?;
        plan.length = settings.length.unwrap_or(plan.length);
        let aims: Vec<Aim> = goals.iter().map(|g| plan.aim(g)).collect();
        let seeds = Seeds::new(&plan, &aims, &mut plan.frames(), settings.seed);
        let descent = Descent::new(&plan);
        let best = descent.values.clone();
        let priorities: Vec<u8> = goals.iter().map(|g| g.priority).collect();
        let refine = Refine::new(&plan, &aims, &priorities, ObjectiveSum::new(&plan, objectives.to_vec()));
        let mechanism = mechanism.clone();
        let all_aims = aims.clone();
        Ok(Self { mechanism, settings, plan, aims, all_aims, descent, seeds, refine, best })
    }

    /// What it was told.
    pub fn settings(&self) -> &JointSpaceOptions {
        &self.settings
    }

    /// The degrees of freedom that the goals depend on; only their values change.
    pub fn dofs(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.plan.vars.iter().map(|v| v.dof)
    }

    /// Solves. `values` is one number a degree of freedom of the mechanism: the start before, the answer after. Where the
    /// goals are out of reach, the answer is the nearest that was found, by the squared residual (metres, and radians times
    /// [`JointSpaceOptions::length`]); it is never farther than the start was.
    pub fn solve(
        &mut self,
        goals: &[LinkGoal],
        values: &mut [f64],
    ) -> Result<JointSpaceReport, JointSpaceError> {
        self.check(goals, values)?;
        self.begin(goals, values);
        let (end, restarts) = self.reach();
        self.lower_levels(REFINE);
        Ok(self.finish(end, restarts, values))
    }

    /// Serves what is below the first priority, in at most so many steps.
    pub(super) fn lower_levels(&mut self, steps: u32) {
        if self.refine.is_empty() {
            return;
        }
        let until = self.until((steps, 1.0));
        self.refine.run(&self.plan, &self.all_aims, &mut self.descent, &until);
        // What is reported is the first priority's.
        self.descent.measure(&self.plan, &self.aims);
    }

    /// Runs from the start, and where that fails from other points; gives how it ended and how many those were.
    fn reach(&mut self) -> (End, u32) {
        // Where no other point may be tried, this run is all there is.
        let first = self.until(if self.settings.max_restarts > 0 { FIRST } else { ONLY });
        let mut end = self.descent.run(&self.plan, &self.aims, &first);
        let mut restarts = 0;
        if end != End::Reached && self.settings.max_restarts > 0 {
            self.seeds.begin(&self.plan, &self.aims);
            let mut cost = self.descent.cost;
            self.best.copy_from_slice(&self.descent.values);
            while restarts < self.settings.max_restarts
                && self.descent.iterations < self.settings.max_iterations
            {
                restarts += 1;
                self.seeds.take(&mut self.descent.values);
                let later = self.until(LATER);
                end = self.descent.run(&self.plan, &self.aims, &later);
                if end == End::Reached {
                    break;
                }
                if self.descent.cost < cost {
                    cost = self.descent.cost;
                    self.best.copy_from_slice(&self.descent.values);
                }
            }
            if end != End::Reached {
                // The nearest of what was found, as near as it can be.
                self.descent.values.copy_from_slice(&self.best);
                let last = self.until(ONLY);
                end = self.descent.run(&self.plan, &self.aims, &last);
            }
        }
        if end != End::Reached && self.descent.iterations < self.settings.max_iterations {
            end = End::Stalled;
        }
        (end, restarts)
    }

    /// How far a goal of the last solve was left, in metres and radians.
    pub fn residual(&self, goal: usize) -> (f64, f64) {
        let miss = &self.descent.misses[goal];
        (miss.position, miss.rotation)
    }

    pub(super) fn check(&self, goals: &[LinkGoal], values: &[f64]) -> Result<(), JointSpaceError> {
        if !self.plan.fits(goals) {
            return Err(JointSpaceError::OtherLinks);
        }
        self.mechanism.check(values)?;
        goals.iter().try_for_each(|g| Ok(goal::check(&self.mechanism, g)?))
    }

    /// Takes goals and start in.
    pub(super) fn begin(&mut self, goals: &[LinkGoal], values: &[f64]) {
        for (aim, goal) in self.all_aims.iter_mut().zip(goals) {
            *aim = self.plan.aim(goal);
        }
        self.refine.first_level(&self.all_aims, &mut self.aims);
        self.descent.iterations = 0;
        for (v, var) in self.descent.values.iter_mut().zip(&self.plan.vars) {
            let start = match self.settings.history {
                History::Last => values[var.dof],
                History::None => self.mechanism.dofs[var.dof].dof.rest(),
            };
            let (lower, upper) = own_bounds(var);
            *v = start.max(lower).min(upper);
        }
        let values = &mut self.descent.values;
        for &(at, swing) in &self.plan.swings {
            [values[at], values[at + 1]] = swing.nearest([values[at], values[at + 1]]);
        }
        self.plan.shorten(values);
    }

    pub(super) fn until(&self, (iterations, stall): (u32, f64)) -> Until {
        let left = self.settings.max_iterations.saturating_sub(self.descent.iterations);
        Until {
            position: self.settings.position_tolerance,
            rotation: self.settings.rotation_tolerance,
            iterations: iterations.min(left),
            stall,
        }
    }

    /// Hands the answer out: at the nearest turn, and measured again.
    pub(super) fn finish(&mut self, end: End, restarts: u32, values: &mut [f64]) -> JointSpaceReport {
        let mut turned = false;
        for (v, var) in self.descent.values.iter_mut().zip(&self.plan.vars) {
            let wanted = match self.settings.history {
                History::Last => values[var.dof],
                History::None => self.mechanism.dofs[var.dof].dof.rest(),
            };
            if var.periodic {
                let (lower, upper) = own_bounds(var);
                let by = nearest_turn(*v, wanted, lower, upper);
                turned |= by != *v;
                *v = by;
            }
            if var.part != DofKind::Vector {
                values[var.dof] = *v;
            }
        }
        for &at in &self.plan.vectors {
            let dofs = [0, 1, 2].map(|k| self.plan.vars[at + k].dof);
            let found = [0, 1, 2].map(|k| self.descent.values[at + k]);
            let wanted = dofs.map(|d| match self.settings.history {
                History::Last => values[d],
                History::None => self.mechanism.dofs[d].dof.rest(),
            });
            // What was not moved keeps its bits, on whatever turn it came.
            let moved = ball::within_half_turn(wanted) != found;
            let near = if moved { ball::nearest_vector(found, wanted) } else { wanted };
            turned |= near != found;
            for k in 0..3 {
                self.descent.values[at + k] = near[k];
                values[dofs[k]] = near[k];
            }
        }
        if turned || end != End::Reached {
            self.descent.measure(&self.plan, &self.aims);
        }
        let largest =
            |f: fn(&super::plan::Miss) -> f64| self.descent.misses.iter().map(f).fold(0.0, f64::max);
        let status = match end {
            End::Reached => Status::Reached,
            _ => match self.plan.out_of_reach(&self.aims) {
                by if by > self.settings.position_tolerance => {
                    Status::Unreachable { by: (by as f32).min(f32::MAX) }
                }
                _ if end == End::Stalled => Status::Stalled,
                _ => Status::OutOfIterations,
            },
        };
        JointSpaceReport {
            status,
            iterations: self.descent.iterations,
            restarts,
            position_residual: largest(|m| m.position),
            rotation_residual: largest(|m| m.rotation),
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
