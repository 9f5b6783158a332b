//! Ranges of joints: people's, the clip's own, and what steps ask.

use alloc::vec::Vec;

use super::{
    constants::{BEYOND_CLIP, DORSIFLEXION, HIP, KNEE, KNEE_BEYOND, KNEE_END, LEG, STANDING},
    leg::{ANGLES, ClipLeg, PosedLeg},
};
use crate::{
    ground::plant::{ClipAnalysis, Figure, Planted, apply::STRAIGHT, planner::Planner},
    math64,
};

/// Ranges of the joints of all legs, in radians.
#[derive(Clone, Debug)]
pub struct Ranges {
    /// Dorsiflexion without strain, and its end.
    pub ankle: [f64; 2],
    /// Least flexion of the knee.
    pub straight: f64,
    /// Most flexion of the knees at each sample.
    pub bent: Vec<f64>,
    /// Flexion, abduction and turn of a hip.
    pub hip: [[f64; 2]; 3],
}

/// Ranges and largest accelerations of a clip's joints.
#[derive(Clone, Copy, Debug, Default)]
pub struct Own {
    /// Largest dorsiflexion, in radians.
    ankle: f64,
    /// Least and largest flexion of a knee, in radians.
    knee: [f64; 2],
    /// Least and largest flexion, abduction and turn of a hip, in radians.
    hip: [[f64; 2]; 3],
    /// 99th percentiles of accelerations of the hips' height, in m/s2, and of knees, in rad/s2.
    pub accelerations: [f64; 2],
}

impl Own {
    /// Measures a sampled clip.
    pub fn of(figure: &Figure, analysis: &ClipAnalysis) -> Self {
        let step = f64::from(analysis.step);
        let legs: Vec<Vec<ClipLeg>> = (0..analysis.feet.len())
            .map(|foot| (0..analysis.len()).map(|i| ClipLeg::new(figure, analysis, foot, i)).collect())
            .collect();
        let span = |value: &dyn Fn(&ClipLeg) -> f64| {
            let all = legs.iter().flatten().map(value);
            all.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)])
        };
        let ankle = |l: &ClipLeg| l.pose(&[0.0; ANGLES]).dorsiflexion(l.along(), l.across).0;
        let hip = |axis: usize| {
            span(&|l| {
                let posed = l.pose(&[0.0; ANGLES]);
                PosedLeg::hip(l.hips, posed.thigh, &posed.thigh_by)[axis].0
            })
        };
        let largest = |signals: Vec<Vec<f64>>, seconds: f64| {
            let apart = (math64::round(seconds / step) as usize).max(1);
            let h = apart as f64 * step;
            let of = |w: &[f64]| ((w[0] - 2.0 * w[apart] + w[2 * apart]) / (h * h)).abs();
            let mut all: Vec<f64> = signals.iter().flat_map(|v| v.windows(2 * apart + 1).map(of)).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() * 99 / 100).copied().unwrap_or(0.0)
        };
        let heights = analysis.pelvis.iter().map(|p| f64::from(p.y)).collect();
        let flexions = legs.iter().map(|leg| leg.iter().map(|l| l.flexion).collect()).collect();
        Self {
            ankle: span(&ankle)[1],
            knee: span(&|l| l.flexion),
            hip: [hip(0), hip(1), span(&|l| l.twist(&[0.0; ANGLES]).0)],
            accelerations: [largest(alloc::vec![heights], 1.0 / 30.0), largest(flexions, 1.0 / 60.0)],
        }
    }
}

impl Ranges {
    /// The union of people's ranges, the clip's, and what the steps of its stances ask. `size` is the length of the leg over
    /// [`LEG`].
    pub fn new(planner: &Planner<'_>, planted: &[Vec<Planted>], size: f64) -> Self {
        let own = &planner.analysis.own;
        let most = KNEE[1].max(own.knee[1] + KNEE_BEYOND[0]);
        let mut bent = asked(planner, planted, size);
        bent.iter_mut().for_each(|asked| *asked = asked.max(most));
        Self {
            ankle: [DORSIFLEXION[0].max(own.ankle), DORSIFLEXION[1].max(own.ankle + BEYOND_CLIP)],
            straight: own.knee[0].clamp(f64::from(STRAIGHT), KNEE[0]),
            bent,
            hip: [0, 1, 2].map(|k| [own.hip[k][0].min(HIP[k][0]), own.hip[k][1].max(HIP[k][1])]),
        }
    }
}

/// Flexion that steps ask of both knees at each sample, in radians: from the start of a stance to the end of the next foot's,
/// what two equal bones bend with hip and ankle nearer by the step.
fn asked(planner: &Planner<'_>, planted: &[Vec<Planted>], size: f64) -> Vec<f64> {
    let mut asked = alloc::vec![0.0; planner.analysis.len()];
    let mut stances: Vec<(usize, f32, f32, f32)> = planted
        .iter()
        .enumerate()
        .flat_map(|(foot, list)| {
            list.iter().filter_map(move |p| {
                Some((foot, p.stance.time.from, p.stance.time.to, p.foothold.as_ref().ok()?.ball.y))
            })
        })
        .collect();
    stances.sort_by(|a, b| a.1.total_cmp(&b.1));
    for pair in stances.windows(2) {
        let [a, b] = [pair[0], pair[1]];
        if a.0 == b.0 {
            continue;
        }
        let apart = (STANDING - f64::from((b.3 - a.3).abs()) / size).clamp(0.0, LEG) / LEG;
        // The arc sine.
        let half = math64::atan2(apart, math64::sqrt(1.0 - apart * apart));
        let flexion = (core::f64::consts::PI - 2.0 * half + KNEE_BEYOND[1]).min(KNEE_END);
        let step = planner.analysis.step;
        let span = (a.1 / step) as usize..((b.2 / step) as usize + 2).min(asked.len());
        for most in &mut asked[span.start.min(span.end)..span.end] {
            *most = flexion.max(*most);
        }
    }
    asked
}
