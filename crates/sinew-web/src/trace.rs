//! Steps of solves, as numbers for JavaScript.

use core::ops::ControlFlow;

use sinew::{
    JointId, Pose,
    glam::Vec3,
    solve::{TraceChange, TracePass, TraceStep},
};

/// Records the steps of a solve. `js/trace.ts` reads them at these places.
///
/// The first number is the count of all steps. Each step that is recorded has seven numbers: its iteration, its kind (0 joint, 1
/// point, 2 sub-base, 3 step), the joint or point (or whether the step was taken), the pass (1 forward) or the point that asks, and
/// a position (or the damping). After them come the positions of joints and ends, three numbers each.
pub(crate) struct Recorder<'a> {
    pose: Pose,
    joints: &'a [JointId],
    ends: Vec<(JointId, Vec3)>,
    numbers: Vec<f32>,
    /// Count of steps that are recorded at most.
    most: u32,
    count: u32,
}

impl<'a> Recorder<'a> {
    /// For a solve of these joints and ends of a pose.
    pub fn new(pose: &Pose, joints: &'a [JointId], ends: Vec<(JointId, Vec3)>, most: u32) -> Self {
        Self { pose: pose.clone(), joints, ends, numbers: vec![0.0], most, count: 0 }
    }

    /// Records a step.
    pub fn record(&mut self, step: TraceStep<'_>) -> ControlFlow<()> {
        self.count += 1;
        if self.count > self.most {
            return ControlFlow::Continue(());
        }
        let [kind, what, other, x, y, z] = match step.change {
            TraceChange::Joint { joint } => [0.0, joint.index() as f32, 0.0, 0.0, 0.0, 0.0],
            TraceChange::Point { pass, point, position: Vec3 { x, y, z } } => {
                [1.0, point as f32, f32::from(u8::from(pass == TracePass::Forward)), x, y, z]
            }
            TraceChange::SubBase { point, from, position: Vec3 { x, y, z } } => {
                [2.0, point as f32, from as f32, x, y, z]
            }
            TraceChange::Step { damping, taken } => [3.0, f32::from(u8::from(taken)), 0.0, damping, 0.0, 0.0],
            // A change that this package does not know.
            _ => [-1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        };
        step.write_to(&mut self.pose);
        let pose = &self.pose;
        self.numbers.extend([step.iteration as f32, kind, what, other, x, y, z]);
        let joints = self.joints.iter().map(|&joint| pose.position(joint));
        let ends = self.ends.iter().map(|&(joint, offset)| pose.model(joint).transform_point3(offset));
        self.numbers.extend(joints.chain(ends).flat_map(|position| position.to_array()));
        ControlFlow::Continue(())
    }

    /// The numbers.
    pub fn finish(mut self) -> Vec<f32> {
        self.numbers[0] = self.count as f32;
        self.numbers
    }
}
