//! Null-space objectives: the use of redundant degrees of freedom.

use alloc::vec::Vec;

use thiserror::Error;

use super::{
    DofKind, Mechanism, ValuesError, ball,
    model::{Frames, gram_determinant},
    plan::{Aim, Plan, Var},
};
use crate::math64;

/// Function that an [`Objective`] optimises in the null space of the goals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ObjectiveKind {
    /// Squared distance from these values, one per degree of freedom of the mechanism. Each radian counts alike, and sliders
    /// count in units of the radian's length.
    Posture(Vec<f64>),
    /// Squared distance of the degrees of freedom that have a [preferred value](crate::joint::Dof::preferred) from it, in the
    /// units of a posture. Solvers of goals that such degrees of freedom move have this objective by default, with weight 1.
    Preferred,
    /// Squared distances of the values from the middles of their ranges, as shares of half the ranges. Degrees of freedom
    /// without limits at both ends are free.
    OffLimits,
    /// Yoshikawa's manipulability of a goal's frame, which is maximised. The number is the goal's index in the list. It is
    /// meaningless for fewer than six degrees of freedom.
    Manipulability(usize),
}

/// A null-space objective and its weight relative to others.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Objective {
    /// Function that is optimised.
    pub kind: ObjectiveKind,
    /// Weight relative to other objectives, finite and at least 0; 1 by default.
    pub weight: f64,
}

impl Objective {
    /// Returns an objective of weight 1.
    pub const fn new(kind: ObjectiveKind) -> Self {
        Self { kind, weight: 1.0 }
    }

    /// Sets [`weight`](Self::weight).
    #[must_use]
    pub fn with_weight(self, weight: f64) -> Self {
        Self { weight, ..self }
    }
}

/// Reason why an objective was refused.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// A weight is negative, NaN or infinite.
    #[error("the weight of an objective must be finite and at least 0, not {weight}")]
    Weight {
        /// Its value.
        weight: f64,
    },
    /// A posture's values do not fit the mechanism.
    #[error("the posture of an objective: {0}")]
    Posture(#[from] ValuesError),
    /// The goal of a manipulability does not exist.
    #[error("the manipulability of an objective names goal {goal}, which must be below {goals}")]
    NoGoal {
        /// Index of the goal, from 0.
        goal: usize,
        /// Number of goals.
        goals: usize,
    },
}

pub(super) fn check(
    mechanism: &Mechanism,
    goals: usize,
    objective: &Objective,
) -> Result<(), ObjectiveError> {
    if !(objective.weight.is_finite() && objective.weight >= 0.0) {
        return Err(ObjectiveError::Weight { weight: objective.weight });
    }
    match &objective.kind {
        ObjectiveKind::Posture(values) => Ok(mechanism.check(values)?),
        ObjectiveKind::OffLimits | ObjectiveKind::Preferred => Ok(()),
        &ObjectiveKind::Manipulability(goal) if goal < goals => Ok(()),
        &ObjectiveKind::Manipulability(goal) => Err(ObjectiveError::NoGoal { goal, goals }),
    }
}

/// Weighted sum of a plan's objectives and its derivatives, with its scratch memory.
#[derive(Default)]
pub(super) struct ObjectiveSum {
    frames: Frames,
    columns: Vec<[f64; 6]>,
    values: Vec<f64>,
}

/// Step of the central difference of the manipulability, in units of the variables: a quarter of the digits of `f64`,
/// because the error grows with the step's square.
const STEP: f64 = 1e-5;

impl ObjectiveSum {
    /// Allocates for a plan.
    pub fn fit(&mut self, plan: &Plan) {
        plan.fit(&mut self.frames);
        self.columns.resize(plan.vars.len(), [0.0; 6]);
        self.values.resize(plan.vars.len(), 0.0);
    }

    /// Returns the weighted sum at values.
    pub fn at(&mut self, plan: &Plan, aims: &[Aim], values: &[f64]) -> f64 {
        let mut sum = 0.0;
        for objective in &plan.objectives {
            let part = match objective.kind {
                ObjectiveKind::Manipulability(goal) => self.measure(plan, aims, values, goal),
                _ => pulls(&objective.kind, plan, values)
                    .map(|Pull { off, unit, .. }| 0.5 * (off / unit) * (off / unit))
                    .sum(),
            };
            sum += objective.weight * part;
        }
        sum
    }

    /// Returns minus the logarithm of the manipulability. It grows without bound near a singular pose, and its gradient does
    /// not depend on the arm's size.
    fn measure(&mut self, plan: &Plan, aims: &[Aim], values: &[f64], goal: usize) -> f64 {
        plan.place(values, &mut self.frames);
        let aim = aims[goal].whole(plan.length);
        let sight = plan.look(goal, &aim, &self.frames);
        plan.columns(goal, &aim, &self.frames, &sight, &mut self.columns);
        // Half the logarithm of the determinant is the logarithm of its root.
        -0.5 * math64::ln(gram_determinant(&self.columns).max(1e-300))
    }

    /// Computes minus the gradient of the sum and its diagonal curvature, by each variable in its unit.
    pub fn descent(
        &mut self,
        plan: &Plan,
        aims: &[Aim],
        values: &[f64],
        slope: &mut [f64],
        curve: &mut [f64],
    ) {
        let scale = &plan.scale;
        slope.fill(0.0);
        curve.fill(0.0);
        for objective in &plan.objectives {
            let w = objective.weight;
            match objective.kind {
                ObjectiveKind::Posture(_) | ObjectiveKind::OffLimits | ObjectiveKind::Preferred => {
                    for Pull { var, off, unit } in pulls(&objective.kind, plan, values) {
                        let share = scale[var] / unit;
                        slope[var] -= w * off / unit * share;
                        curve[var] += w * share * share;
                    }
                }
                ObjectiveKind::Manipulability(goal) => {
                    for i in 0..values.len() {
                        let mut at = |by: f64| {
                            let mut moved = core::mem::take(&mut self.values);
                            moved.copy_from_slice(values);
                            moved[i] += by * scale[i];
                            let m = self.measure(plan, aims, &moved, goal);
                            self.values = moved;
                            m
                        };
                        slope[i] -= w * (at(STEP) - at(-STEP)) / (2.0 * STEP);
                        // The second derivative of the logarithm is of the order of the first.
                        curve[i] += w;
                    }
                }
            }
        }
    }
}

/// Quadratic cost `0.5 (off / unit)^2` of one variable.
struct Pull {
    var: usize,
    off: f64,
    unit: f64,
}

/// Returns the quadratic costs of a posture, or of the distances from the middles of the ranges.
fn pulls(kind: &ObjectiveKind, plan: &Plan, values: &[f64]) -> impl Iterator<Item = Pull> {
    plan.vars.iter().enumerate().filter_map(move |(var, v)| {
        let (to, unit) = match kind {
            ObjectiveKind::Posture(wanted) => (near(plan, |v| wanted[v.dof], values, var, v), plan.unit(v)),
            ObjectiveKind::Preferred => {
                v.preferred?;
                (near(plan, |v| v.preferred.unwrap_or_default(), values, var, v), plan.unit(v))
            }
            _ => half(v.lower, v.upper)?,
        };
        Some(Pull { var, off: values[var] - to, unit })
    })
}

/// Returns a posture's value of a variable. A rotation vector's is on the turn nearest to the present values.
fn near(plan: &Plan, wanted: impl Fn(&Var) -> f64, values: &[f64], i: usize, var: &Var) -> f64 {
    let at = (var.kind == DofKind::Vector).then(|| plan.vectors.iter().rev().find(|at| **at <= i)).flatten();
    let Some(&at) = at else { return wanted(var) };
    let vector = [0, 1, 2].map(|k| wanted(&plan.vars[at + k]));
    ball::nearest_vector(vector, [values[at], values[at + 1], values[at + 2]])[i - at]
}

/// Returns the middle and half the width of a range with two ends; none for other ranges.
fn half(lower: f64, upper: f64) -> Option<(f64, f64)> {
    (lower.is_finite() && upper.is_finite() && upper > lower)
        .then_some((0.5 * (lower + upper), 0.5 * (upper - lower)))
}
