//! Ranges of joints: people's and the clip's own.

use alloc::vec::Vec;

use super::{
    constants::{BEYOND_CLIP, DORSIFLEXION, HIP, KNEE, KNEE_BEYOND},
    leg::{ANGLES, ClipLeg, PosedLeg},
};
use crate::{
    ground::plant::{ClipAnalysis, Figure, apply::STRAIGHT},
    math64,
};

/// Ranges of the joints of all legs, in radians.
#[derive(Clone, Debug)]
pub struct Ranges {
    /// Dorsiflexion without strain, and its end.
    pub ankle: [f64; 2],
    /// Flexion of the knee.
    pub knee: [f64; 2],
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
    /// The union of people's ranges and the clip's.
    pub fn new(own: &Own) -> Self {
        Self {
            ankle: [DORSIFLEXION[0].max(own.ankle), DORSIFLEXION[1].max(own.ankle + BEYOND_CLIP)],
            knee: [own.knee[0].clamp(f64::from(STRAIGHT), KNEE[0]), KNEE[1].max(own.knee[1] + KNEE_BEYOND)],
            hip: [0, 1, 2].map(|k| [own.hip[k][0].min(HIP[k][0]), own.hip[k][1].max(HIP[k][1])]),
        }
    }
}
