//! Lean of the trunk: forwards up steps and slopes, as people climb.

use alloc::{borrow::ToOwned, vec::Vec};

use glam::{DVec3, Quat, Vec3};

use super::{ClipAnalysis, Figure, FigureError, Plan};
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
const SHARE: f32 = 0.85;

/// Largest lean, which a vertical way would have, in radians. People lean by up to about 15 degrees on stairs.
const MAX_LEAN: f32 = 14f32.to_radians();

/// Inclination up to which a way counts as level, in radians: rounding on a level floor, and the camber of a street.
const LEVEL: f32 = 1f32.to_radians();

/// Least and most length of a step that its rise is divided by, in lengths of the leg. A figure that hardly moves is on no
/// slope; one that runs lifts its body over a step no less than one that walks, whose steps are 0.8 of the leg.
const RUN: [f32; 2] = [0.3, 0.8];

/// Time to either side over which rise and way are measured, and the lean averaged, in seconds: about half a step.
const STEP: f32 = 0.3;

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

/// Samples within [`STEP`] of a sample, the first and the last.
fn around(analysis: &ClipAnalysis, sample: usize) -> [usize; 2] {
    let reach = (math::floor(STEP / analysis.step + 0.5) as usize).max(1);
    [sample.saturating_sub(reach), (sample + reach).min(analysis.len() - 1)]
}

/// Horizontal displacement of the pelvis around a sample.
fn way(analysis: &ClipAnalysis, sample: usize) -> Vec3 {
    let [from, to] = around(analysis, sample);
    (analysis.pelvis[to] - analysis.pelvis[from]).with_y(0.0)
}

/// Lean of the trunk at each sample, in radians, forwards: from the rise of the ground under the feet. It is 0 on level ground,
/// downwards, and where the figure does not walk forwards. `ground` is its displacement.
pub(super) fn lean(analysis: &ClipAnalysis, figure: &Figure, ground: &[DVec3]) -> Vec<f32> {
    let raw = |i: usize| {
        let ([from, to], way) = (around(analysis, i), way(analysis, i));
        let front = math::rotate(analysis.upright[i], figure.front).with_y(0.0);
        if front.dot(way) <= FORWARDS * front.length() * way.length() {
            return 0.0;
        }
        let run = (way.length() / figure.leg_length()).clamp(RUN[0], RUN[1]) * figure.leg_length();
        let incline = math::atan2((ground[to].y - ground[from].y) as f32, run) - LEVEL;
        let lean = SHARE * incline.max(0.0) / MAX_LEAN;
        MAX_LEAN * lean / math::sqrt(1.0 + lean * lean)
    };
    let windows = |values: &[f32], of: fn(&[f32]) -> f32| -> Vec<f32> {
        let window = |i: usize| around(analysis, i);
        (0..values.len()).map(window).map(|[from, to]| of(&values[from..=to])).collect()
    };
    // A single step counts from before it until the next foot has left.
    let raw: Vec<f32> = (0..analysis.len()).map(raw).collect();
    let largest = windows(&raw, |w| w.iter().copied().fold(0.0, f32::max));
    windows(&largest, |w| w.iter().sum::<f32>() / w.len() as f32)
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;
    use crate::ground::plant::{Interval, Leg, Sole};

    /// A rest pose with a leg and a spine, its joints from the hips to the head, and the figure of it.
    fn figure() -> (Pose, [JointId; 6], Figure) {
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
        let joints = [hips, thigh, shin, foot, spine, head].map(|k| ids[k]);
        let sole = Sole {
            heel: Vec3::new(0.0, -0.1, -0.05),
            ball: Vec3::new(0.0, -0.1, 0.1),
            tip: Vec3::new(0.0, -0.1, 0.2),
        };
        let leg = Leg::new(joints[1], joints[2], joints[3], None, sole);
        let figure = Figure::new(&rest, joints[0], vec![leg], 1.8).unwrap();
        (rest, joints, figure)
    }

    /// Lean in a walk of 5 s along +Z at 1.2 m/s, which faces `facing` and rises by `rise` metres each half second between 1
    /// and 4 s.
    fn walk(facing: Vec3, rise: f32) -> Vec<f32> {
        let turn = math::shortest_arc(Vec3::Z, facing, Vec3::Y);
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
            upright: vec![turn; 301],
            own: Default::default(),
            feet: Vec::new(),
            notes: Vec::new(),
        };
        let height = |i: usize| 2.0 * rise * (i as f32 / 60.0 - 1.0).clamp(0.0, 3.0);
        let ground: Vec<DVec3> = (0..301).map(|i| DVec3::Y * f64::from(height(i))).collect();
        lean(&analysis, &figure().2, &ground)
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
        let (rest, [hips, thigh, shin, _, spine, head], figure) = figure();
        let with = |base, head| figure.clone().with_trunk(&rest, Trunk { base, head, arms: [None; 2] });
        assert!(with(spine, Some(head)).is_ok());
        for (base, over) in [(hips, None), (thigh, None), (head, Some(spine)), (spine, Some(shin))] {
            assert!(matches!(with(base, over), Err(FigureError::Trunk { .. })));
        }
    }
}
