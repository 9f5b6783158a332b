//! Goals, and the start of each solve.

use std::{collections::HashMap, f64::consts::PI};

use sinew::mechanism::NamedDof;

use crate::{
    chains::Chain,
    judge::{Judge, Rigid},
    random::Random,
};

/// Where the starts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Anywhere within limits.
    Any,
    /// Within 0.1 rad and 0.02 m of a solution, in each joint.
    Near,
}

pub struct Task {
    /// A solution, for every degree of freedom of the mechanism.
    pub solution: Vec<f64>,
    pub start: Vec<f64>,
    /// Where that solution's tip is, by the judge.
    pub goal: Rigid,
}

/// The limits; continuous joints are drawn within half a turn.
pub fn range(dof: &NamedDof) -> (f64, f64) {
    if dof.is_continuous() { (-PI, PI) } else { (dof.dof.range.min, dof.dof.range.max) }
}

pub fn named<'a>(chain: &'a Chain, values: &[f64]) -> HashMap<&'a str, f64> {
    chain.mechanism.dofs().iter().map(|d| d.name.as_str()).zip(values.iter().copied()).collect()
}

pub fn tasks(chain: &Chain, judge: &Judge, start: Start, count: usize, seed: u64) -> Vec<Task> {
    let mut random = Random(seed);
    let draw = |random: &mut Random| {
        let mut task =
            Task { solution: chain.mechanism.rest(), start: chain.mechanism.rest(), goal: Rigid::IDENTITY };
        for &d in &chain.dofs {
            let dof = &chain.mechanism.dofs()[d];
            let (low, high) = range(dof);
            task.solution[d] = random.within(low, high);
            task.start[d] = match start {
                Start::Any => random.within(low, high),
                Start::Near => {
                    let off = if dof.slides() { 0.02 } else { 0.1 };
                    (task.solution[d] + random.within(-off, off)).clamp(dof.dof.range.min, dof.dof.range.max)
                }
            };
        }
        task.goal = judge.tip(&named(chain, &task.solution));
        task
    };
    (0..count).map(|_| draw(&mut random)).collect()
}
