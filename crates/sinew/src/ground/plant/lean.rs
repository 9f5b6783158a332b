//! Lean of the trunk: forwards up steps and slopes, as people climb.

use alloc::{borrow::ToOwned, vec::Vec};

use glam::{Quat, Vec3};

use super::{ClipAnalysis, Figure, FigureError, Foothold, Plan, Planted, figure::facing};
use crate::{JointId, Pose, Skeleton, math};

/// Joints by which a figure leans. The trunk turns about its lowest joint as a whole: people lean from the hips, and a lean
/// spread over the spine would be a stoop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trunk {
    /// Lowest joint of the spine, below the pelvis and above no leg.
    pub base: JointId,
    /// Head, which keeps its direction in model space.
    pub head: Option<JointId>,
    /// Upper arms, which keep their rotations in model space.
    pub arms: [Option<JointId>; 2],
}

/// Lean per inclination of the way, for small ones.
// At 0.5 a run leans by less than 3 degrees up steps of 10 cm over hills (`lab/plant`, terrain).
const SHARE: f32 = 0.8;

/// Largest lean, which a vertical way would have, in radians. People lean by up to about 15 degrees on stairs.
const MAX_LEAN: f32 = 14f32.to_radians();

/// Inclination up to which a way counts as level, in radians: rounding on a level floor, and the camber of a street.
const LEVEL: f32 = 1f32.to_radians();

/// Least and most length of a step that its rise is divided by, in lengths of the leg. A figure that hardly moves is on no
/// slope; one that runs lifts its body over a step no less than one that walks, whose steps are 0.8 of the leg.
const RUN: [f32; 2] = [0.3, 0.8];

/// Time to either side over which the lean is averaged, twice, in seconds.
const SMOOTH: f32 = 0.15;

/// Time to either side over which the direction of the walk is measured, in seconds: about a step.
const STEP: f32 = 0.5;

/// Cosine of the largest angle between the walk and the hips' front at which a figure walks forwards: 60 degrees.
const FORWARDS: f32 = 0.5;

impl Figure {
    /// Sets the trunk, which then leans up steps and slopes. `rest` is a pose of the figure's skeleton.
    ///
    /// # Errors
    ///
    /// The base is not below the pelvis, a leg is below it, or the head or an arm is not below it.
    pub fn with_trunk(mut self, rest: &Pose, trunk: Trunk) -> Result<Self, FigureError> {
        self.check_trunk(rest.skeleton(), &trunk)?;
        self.trunk = Some(trunk);
        Ok(self)
    }

    pub(super) fn check_trunk(&self, skeleton: &Skeleton, trunk: &Trunk) -> Result<(), FigureError> {
        let Trunk { base, head, arms } = *trunk;
        let fault =
            |joint: JointId, what| Err(FigureError::Trunk { joint: skeleton.name(joint).to_owned(), what });
        if base == self.pelvis || !skeleton.is_below(base, self.pelvis) {
            return fault(base, "it must be below the pelvis");
        }
        if self.legs.iter().any(|leg| skeleton.is_below(leg.thigh, base)) {
            return fault(base, "no leg may be below it");
        }
        let outside = |j: &JointId| *j == base || !skeleton.is_below(*j, base);
        match [head, arms[0], arms[1]].into_iter().flatten().find(outside) {
            Some(joint) => fault(joint, "it must be below the trunk's base"),
            None => Ok(()),
        }
    }
}

impl Trunk {
    /// Turns the trunk about its base by a rotation in model space. Head and upper arms keep their rotations.
    pub(super) fn lean(&self, pose: &mut Pose, by: Quat) {
        let kept = [self.head, self.arms[0], self.arms[1]].map(|j| j.map(|j| (j, pose.model_rotation(j))));
        pose.turn(self.base, by);
        pose.update();
        for (joint, rotation) in kept.into_iter().flatten() {
            pose.set_model_rotation(joint, rotation);
        }
        pose.update();
    }
}

impl Plan {
    /// Trunk of a figure that leans in this plan.
    pub(super) fn leaning<'a>(&self, figure: &'a Figure) -> Option<&'a Trunk> {
        let leans = figure.influence() > 0.0 && self.lean.iter().any(|&angle| angle != 0.0);
        figure.trunk.as_ref().filter(|_| leans)
    }

    /// Leans the trunk of an updated pose at a sample.
    pub(super) fn lean_trunk(&self, figure: &Figure, sample: usize, pose: &mut Pose) {
        let angle = self.lean.get(sample).copied().unwrap_or(0.0) * figure.influence();
        let Some(trunk) = figure.trunk.as_ref().filter(|_| angle != 0.0) else { return };
        // From up towards the direction of the walk.
        let axis = Vec3::Y.cross(way(&self.analysis, sample).normalize_or(Vec3::Z));
        trunk.lean(pose, math::axis_angle(axis, angle));
    }
}

/// Number of samples in a time, at least one.
fn samples(analysis: &ClipAnalysis, seconds: f32) -> usize {
    (math::floor(seconds / analysis.step + 0.5) as usize).max(1)
}

/// Horizontal displacement of the pelvis around a sample.
fn way(analysis: &ClipAnalysis, sample: usize) -> Vec3 {
    let reach = samples(analysis, STEP);
    let at = |i: usize| analysis.pelvis.get(i.min(analysis.pelvis.len().saturating_sub(1))).copied();
    let (from, to) = (at(sample.saturating_sub(reach)), at(sample + reach));
    (to.unwrap_or_default() - from.unwrap_or_default()).with_y(0.0)
}

/// Lean of the trunk at each sample, in radians, forwards: from the inclination of the line through the footholds over one
/// step. It is 0 on level ground, downwards, and where the figure does not walk forwards.
pub(super) fn lean(analysis: &ClipAnalysis, leg: f32, stances: &[Vec<Planted>]) -> Vec<f32> {
    let mut footholds: Vec<(f32, f32)> = stances.iter().flatten().filter_map(foothold).collect();
    footholds.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut steps: Vec<f32> = footholds.windows(2).map(|w| w[1].0 - w[0].0).collect();
    steps.sort_by(f32::total_cmp);
    let Some(step) = steps.get(steps.len() / 2) else { return alloc::vec![0.0; analysis.len()] };
    let half = samples(analysis, 0.5 * step.clamp(0.2, 1.0));
    let heights = heights(&footholds, analysis);
    let last = analysis.len() - 1;
    let soles: Vec<Vec3> = (0..=last).map(|i| soles(analysis, i)).collect();
    let soles = mean(&soles, half);
    let front: Vec<Vec3> =
        (0..=last).map(|i| facing(hips(analysis, i), soles[i].normalize_or_zero())).collect();
    let front = mean(&front, half);
    let raw: Vec<f32> = (0..=last)
        .map(|i| {
            let (from, to) = (i.saturating_sub(half), (i + half).min(last));
            let ahead = way(analysis, i).normalize_or_zero();
            if front[i].normalize_or_zero().dot(ahead) < FORWARDS {
                return 0.0;
            }
            let run = (analysis.pelvis[to] - analysis.pelvis[from]).with_y(0.0).length();
            let run = run.clamp(RUN[0] * leg, RUN[1] * leg);
            let incline = math::atan2(heights[to] - heights[from], run) - LEVEL;
            let lean = SHARE * incline.max(0.0) / MAX_LEAN;
            MAX_LEAN * lean / math::sqrt(1.0 + lean * lean)
        })
        .collect();
    // A single step counts from before it until the next foot has left.
    let raw: Vec<f32> = (0..=last)
        .map(|i| {
            raw[i.saturating_sub(half)..(i + half + 1).min(raw.len())].iter().copied().fold(0.0, f32::max)
        })
        .collect();
    let reach = samples(analysis, SMOOTH);
    mean(&mean(&raw, reach), reach)
}

/// Middle time of a stance and the height of its foothold; `None` without one.
fn foothold(planted: &Planted) -> Option<(f32, f32)> {
    let Foothold { heel, ball, heel_supported, .. } = planted.foothold.as_ref().ok()?;
    let height = if *heel_supported { 0.5 * (heel.y + ball.y) } else { ball.y };
    Some((0.5 * (planted.stance.time.from + planted.stance.time.to), height))
}

/// Height of the line through footholds in order of time, at each sample.
fn heights(footholds: &[(f32, f32)], analysis: &ClipAnalysis) -> Vec<f32> {
    let mut next = 0;
    (0..analysis.len())
        .map(|i| {
            let time = i as f32 * analysis.step;
            while footholds.get(next).is_some_and(|f| f.0 <= time) {
                next += 1;
            }
            match (next.checked_sub(1).map(|k| footholds[k]), footholds.get(next)) {
                (Some((t, a)), Some((u, b))) => a + (b - a) * ((time - t) / (u - t)),
                (Some((_, height)), None) => height,
                (None, Some((_, height))) => *height,
                (None, None) => 0.0,
            }
        })
        .collect()
}

/// Sum of the soles at a sample, from heel to ball without height.
fn soles(analysis: &ClipAnalysis, sample: usize) -> Vec3 {
    let feet = analysis.feet.iter().filter_map(|f| f.samples.get(sample));
    feet.map(|s| (s.ball - s.heel).with_y(0.0)).sum()
}

/// Positions of the hip joints at a sample.
fn hips(analysis: &ClipAnalysis, sample: usize) -> impl Iterator<Item = Vec3> {
    analysis.feet.iter().filter_map(move |f| Some(f.samples.get(sample)?.hip))
}

/// Means over `reach` values to either side, fewer at the ends.
fn mean<T>(values: &[T], reach: usize) -> Vec<T>
where
    T: Copy
        + Default
        + core::ops::Add<Output = T>
        + core::ops::Sub<Output = T>
        + core::ops::Mul<f32, Output = T>,
{
    let window = |i: usize| &values[i.saturating_sub(reach)..(i + reach + 1).min(values.len())];
    let of = |w: &[T]| w.iter().fold(T::default(), |sum, v| sum + *v) * (1.0 / w.len() as f32);
    (0..values.len()).map(|i| of(window(i))).collect()
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;
    use crate::ground::plant::{FootCurve, FootSample, Interval, Stance};

    /// A walk along +Z at 1.2 m/s with a step each half second, and soles along `facing`; `rise` metres a step.
    fn walk(facing: Vec3, rise: f32) -> Vec<f32> {
        let sample = FootSample { ball: facing * 0.2, ..FootSample::default() };
        let foot = FootCurve { samples: vec![sample; 301], ..FootCurve::default() };
        let analysis = ClipAnalysis {
            step: 1.0 / 60.0,
            per_key: 1,
            clip: Interval { from: 0.0, to: 5.0 },
            start: 0.0,
            cycle: 5.0,
            cycles: 1,
            travel: Vec3::ZERO,
            pelvis: (0..301).map(|i| Vec3::new(0.0, 0.9, 0.02 * i as f32)).collect(),
            carry: vec![Vec3::ZERO; 301],
            upright: vec![Quat::IDENTITY; 301],
            own: Default::default(),
            feet: vec![foot.clone(), foot],
            notes: Vec::new(),
        };
        let planted = |k: usize| {
            let time = Interval { from: 0.5 * k as f32, to: 0.5 * k as f32 + 0.6 };
            // Two steps on the level at either end.
            let at = Vec3::Y * rise * (k as f32 - 2.0).clamp(0.0, 5.0);
            let foothold = Foothold {
                heel: at,
                ball: at,
                roll: 0.0,
                toes: 0.0,
                shift: 0.0,
                support: 1.0,
                heel_supported: true,
            };
            Planted { stance: Stance { time, heel: vec![time], ball: vec![time] }, foothold: Ok(foothold) }
        };
        let feet = [0, 1].map(|foot| (foot..10).step_by(2).map(planted).collect());
        lean(&analysis, 0.9, &feet)
    }

    #[test]
    fn a_trunk_leans_up_steps_without_a_jump() {
        let lean = walk(Vec3::Z, 0.17);
        let most = lean.iter().copied().fold(0.0, f32::max).to_degrees();
        assert!((5.0..14.0).contains(&most), "{most}");
        assert_eq!((lean[0], lean[300]), (0.0, 0.0));
        for (a, b) in lean.iter().zip(&lean[1..]) {
            // 60 degrees a second.
            assert!((a - b).abs().to_degrees() < 1.0);
        }
        // Steeper steps lean further, without end.
        let steep = walk(Vec3::Z, 2.0).into_iter().fold(0.0, f32::max);
        assert!(most < steep.to_degrees() && steep < MAX_LEAN, "{steep}");
        assert!(walk(Vec3::Z, 0.1)[150].to_degrees() > 3.0);
    }

    #[test]
    fn no_lean_on_the_level_downwards_backwards_or_sideways() {
        for (facing, rise) in [(Vec3::Z, 0.0), (Vec3::Z, -0.17), (Vec3::NEG_Z, 0.17), (Vec3::X, 0.17)] {
            assert!(walk(facing, rise).iter().all(|a| *a == 0.0), "{facing} {rise}");
        }
    }

    #[test]
    fn a_trunk_above_a_leg_is_refused() {
        let mut b = Skeleton::builder();
        let at = |x, y, z| crate::JointTransform::from_translation(Vec3::new(x, y, z));
        let hips = b.add("hips", None, at(0.0, 0.9, 0.0));
        let thigh = b.add("thigh", Some(hips), at(0.0, 0.0, 0.0));
        let shin = b.add("shin", Some(thigh), at(0.0, -0.4, 0.0));
        let foot = b.add("foot", Some(shin), at(0.0, -0.4, 0.0));
        let spine = b.add("spine", Some(hips), at(0.0, 0.1, 0.0));
        let head = b.add("head", Some(spine), at(0.0, 0.5, 0.0));
        let (skeleton, ids) = b.build().unwrap();
        let rest = Pose::rest(&alloc::sync::Arc::new(skeleton));
        let [hips, thigh, shin, foot, spine, head] = [hips, thigh, shin, foot, spine, head].map(|k| ids[k]);
        let sole = crate::ground::plant::Sole {
            heel: Vec3::new(0.0, -0.1, -0.05),
            ball: Vec3::new(0.0, -0.1, 0.1),
            tip: Vec3::new(0.0, -0.1, 0.2),
        };
        let leg = crate::ground::plant::Leg::new(thigh, shin, foot, None, sole);
        let figure = Figure::new(&rest, hips, vec![leg], 1.8).unwrap();
        let with = |base, head| figure.clone().with_trunk(&rest, Trunk { base, head, arms: [None; 2] });
        assert!(with(spine, Some(head)).is_ok());
        for (base, over) in [(hips, None), (thigh, None), (head, Some(spine)), (spine, Some(shin))] {
            assert!(matches!(with(base, over), Err(FigureError::Trunk { .. })));
        }
    }
}
