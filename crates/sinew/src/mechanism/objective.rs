//! What an arm with joints to spare does with them.

use alloc::vec::Vec;

use thiserror::Error;

use super::{
    DofKind, Mechanism, ValuesError, ball,
    model::{Frames, gram_determinant},
    plan::{Aim, Plan, Var},
};
use crate::math64;

/// What an [`Objective`] asks for, in the null space of the goals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ObjectiveKind {
    /// Stay near these values (one a degree of freedom of the mechanism), each unit counting alike: a radian, or for
    /// sliders the length that a radian counts.
    Posture(Vec<f64>),
    /// Stay off the limits, near the middle between them: the squares of the ways from the middles, as shares of half the
    /// ranges, are to be small. What has no limits is free.
    OffLimits,
    /// Be able to move and turn the frame of a goal (by its place in the list) in every direction: Yoshikawa's measure is to
    /// be large. It means nothing for fewer than six degrees of freedom.
    Manipulability(usize),
}

/// A null-space objective, and its weight beside others.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Objective {
    /// What it asks for.
    pub kind: ObjectiveKind,
    /// Its weight, 0 or more; 1 by default.
    pub weight: f64,
}

impl Objective {
    /// An objective of weight 1.
    pub const fn new(kind: ObjectiveKind) -> Self {
        Self { kind, weight: 1.0 }
    }

    /// Sets [`weight`](Self::weight).
    #[must_use]
    pub fn with_weight(self, weight: f64) -> Self {
        Self { weight, ..self }
    }
}

/// What is wrong with an objective.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// A weight is negative, NaN or infinite.
    #[error("the weight of an objective must be finite and at least 0, not {weight}")]
    Weight {
        /// Its value.
        weight: f64,
    },
    /// A posture does not fit the mechanism.
    #[error("the posture of an objective: {0}")]
    Posture(#[from] ValuesError),
    /// There is no such goal.
    #[error("an objective names goal {goal} of {goals} for its manipulability")]
    NoGoal {
        /// Which was asked for.
        goal: usize,
        /// How many there are.
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
        ObjectiveKind::OffLimits => Ok(()),
        &ObjectiveKind::Manipulability(goal) if goal < goals => Ok(()),
        &ObjectiveKind::Manipulability(goal) => Err(ObjectiveError::NoGoal { goal, goals }),
    }
}

/// The room in which the objectives of a plan are one number to be made small, with its slopes.
#[derive(Default)]
pub(super) struct ObjectiveSum {
    frames: Frames,
    columns: Vec<[f64; 6]>,
    values: Vec<f64>,
}

/// A step for differences of the manipulability: a quarter of the digits, as the middle difference errs by its square.
const STEP: f64 = 1e-5;

impl ObjectiveSum {
    /// Makes room for a plan.
    pub fn fit(&mut self, plan: &Plan) {
        plan.fit(&mut self.frames);
        self.columns.resize(plan.vars.len(), [0.0; 6]);
        self.values.resize(plan.vars.len(), 0.0);
    }

    /// The number itself.
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

    /// Minus the logarithm of the manipulability: near a singular pose it grows without bound, and its slope does not depend
    /// on the arm's size.
    fn measure(&mut self, plan: &Plan, aims: &[Aim], values: &[f64], goal: usize) -> f64 {
        plan.place(values, &mut self.frames);
        let aim = aims[goal].whole(plan.length);
        let sight = plan.look(goal, &aim, &self.frames);
        plan.columns(goal, &aim, &self.frames, &sight, &mut self.columns);
        // Half the logarithm is that of the root.
        -0.5 * math64::ln(gram_determinant(&self.columns).max(1e-300))
    }

    /// Where each variable (in its units) should go: down the slope, as far as the curvature of the squares says.
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
                ObjectiveKind::Posture(_) | ObjectiveKind::OffLimits => {
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
                        // A logarithm bends as fast as its slope is steep.
                        curve[i] += w;
                    }
                }
            }
        }
    }
}

/// What draws a variable to a value: the square of `off / unit` is to be small.
struct Pull {
    var: usize,
    off: f64,
    unit: f64,
}

/// The pulls of a posture, or off the limits.
fn pulls(kind: &ObjectiveKind, plan: &Plan, values: &[f64]) -> impl Iterator<Item = Pull> {
    plan.vars.iter().enumerate().filter_map(move |(var, v)| {
        let (to, unit) = match kind {
            ObjectiveKind::Posture(wanted) => (near(plan, wanted, values, var, v), plan.scale[var]),
            _ => half(v.lower, v.upper)?,
        };
        Some(Pull { var, off: values[var] - to, unit })
    })
}

/// What a posture wants of a variable: of a rotation vector's, at the turn that is nearest to where it is.
fn near(plan: &Plan, wanted: &[f64], values: &[f64], i: usize, var: &Var) -> f64 {
    let at = (var.kind == DofKind::Vector).then(|| plan.vectors.iter().rev().find(|at| **at <= i)).flatten();
    let Some(&at) = at else { return wanted[var.dof] };
    let vector = [0, 1, 2].map(|k| wanted[plan.vars[at + k].dof]);
    ball::nearest_vector(vector, [values[at], values[at + 1], values[at + 2]])[i - at]
}

/// Middle and half width of limits that there are.
fn half(lower: f64, upper: f64) -> Option<(f64, f64)> {
    (lower.is_finite() && upper.is_finite() && upper > lower)
        .then_some((0.5 * (lower + upper), 0.5 * (upper - lower)))
}
