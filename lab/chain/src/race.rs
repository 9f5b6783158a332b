//! Times and judges contenders on the same cases, one solve at a time.

use std::time::Instant;

use crate::{cases::Case, contender::Contender, judge};

/// Result of a contender on a set of cases.
pub struct Result {
    pub name: &'static str,
    /// Share of the cases that are solved: end within the tolerance by the judge, no bone longer or shorter.
    pub solved: f64,
    pub median: f64,
    pub p99: f64,
    pub sweeps_p99: u32,
    pub sweeps_median: u32,
}

/// Rounds, interleaved; each case counts by the middle one of its times, so that what disturbs the machine now and then is
/// not taken for a hard case.
const ROUNDS: usize = 7;

pub fn race(cases: &[Case], tolerance: f32, contenders: &mut [Box<dyn Contender>]) -> Vec<Result> {
    let mut times = vec![vec![[0.0f64; ROUNDS]; cases.len()]; contenders.len()];
    let mut sweeps = vec![vec![0u32; cases.len()]; contenders.len()];
    let mut solved = vec![0usize; contenders.len()];
    (0..ROUNDS).for_each(|round| {
        for (c, contender) in contenders.iter_mut().enumerate() {
            for (i, case) in cases.iter().enumerate() {
                contender.set(case);
                let before = (round == 0).then(|| contender.locals());
                let start = Instant::now();
                sweeps[c][i] = contender.solve();
                times[c][i][round] = start.elapsed().as_secs_f64() * 1e6;
                if let Some(before) = before {
                    let after = contender.locals();
                    // Half a thousandth more than asked: what a solver takes for the tolerance, f32 may round.
                    let near =
                        judge::miss(&after, case.goal.to_array()) <= f64::from(tolerance) * 1.0005 + 1e-7;
                    solved[c] += usize::from(near && judge::longer(&before, &after) < 1e-5);
                }
            }
        }
    });
    let mut of = |c: usize, contender: &dyn Contender| {
        let mut middles: Vec<f64> = times[c]
            .iter_mut()
            .map(|t| {
                t.sort_by(f64::total_cmp);
                t[ROUNDS / 2]
            })
            .collect();
        middles.sort_by(f64::total_cmp);
        let mut sweeps = std::mem::take(&mut sweeps[c]);
        sweeps.sort_unstable();
        let (half, most) = (cases.len() / 2, cases.len() * 99 / 100);
        Result {
            name: contender.name(),
            solved: solved[c] as f64 / cases.len() as f64,
            median: middles[half],
            p99: middles[most],
            sweeps_p99: sweeps[most],
            sweeps_median: sweeps[half],
        }
    };
    contenders.iter().enumerate().map(|(c, contender)| of(c, contender.as_ref())).collect()
}
