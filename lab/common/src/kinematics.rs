//! Forward kinematics in f64.

use sinew::{JointId, Pose};

use crate::judge::{self, V};

/// The place of a joint in model space.
pub fn end(pose: &Pose, joint: JointId) -> V {
    let mut at = [0.0; 3];
    let mut here = Some(joint);
    while let Some(j) = here {
        let t = pose.local(j);
        // The joint's own rotation turns what hangs below it, not itself.
        let m = judge::matrix(t.rotation);
        let s = t.scale;
        let scaled = [at[0] * s.x as f64, at[1] * s.y as f64, at[2] * s.z as f64];
        let o = t.translation;
        at = [
            judge::dot(m[0], scaled) + o.x as f64,
            judge::dot(m[1], scaled) + o.y as f64,
            judge::dot(m[2], scaled) + o.z as f64,
        ];
        here = pose.skeleton().parent(j);
    }
    at
}
