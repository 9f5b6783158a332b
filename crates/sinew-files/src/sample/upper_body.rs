//! Rotation keys of the walk's trunk, head and arms. Each arm swings against the leg of its side.

use glam::Vec3;
use sinew::{
    Pose, math,
    motion::{Track, TrackError},
};

use super::{
    body::{ARM, Body, SIDES},
    curve::curve,
    gait::{DEGREE, END, Pelvis, steps},
};

/// Abduction of the hanging arms, in radians.
const RAISE: f32 = 9.0 * DEGREE;
/// Twist of the upper arms inwards, in radians.
const TURN: f32 = 8.0 * DEGREE;
/// Lag of the arms behind the legs, in seconds.
const LAG: f32 = 0.05;

/// Keys of one arm, in radians.
struct ArmKeys {
    /// Flexion, forward.
    swing: Track<f32>,
    elbow: Track<f32>,
}

/// Keys of all joints above the pelvis.
pub(super) struct UpperBodyKeys {
    arms: [ArmKeys; 2],
}

impl UpperBodyKeys {
    pub fn new() -> Result<Self, TrackError> {
        Ok(Self { arms: [ArmKeys::new(0)?, ArmKeys::new(1)?] })
    }

    /// Sets all joints above the pelvis.
    pub fn apply(&self, time: f32, pelvis: &Pelvis, body: &Body, pose: &mut Pose) {
        let turn = |yaw: f32, lean: f32, bend: f32| {
            let q = math::mul(math::axis_angle(Vec3::X, lean), math::axis_angle(Vec3::Z, bend));
            math::mul(math::axis_angle(Vec3::Y, yaw), q)
        };
        // The shoulders turn against the hips and stay level; the trunk's three joints share this rotation.
        let (yaw, bend) = (-1.7 * pelvis.yaw / 3.0, -1.15 * pelvis.list / 3.0);
        for (joint, lean) in [(body.spine, 0.35), (body.chest, 0.1), (body.upper_chest, -0.15)] {
            pose.set_rotation(joint, turn(yaw, lean * pelvis.tilt, bend));
        }
        // The head keeps facing forward.
        for (joint, lean) in [(body.neck, -0.3), (body.head, -0.5)] {
            pose.set_rotation(joint, turn(0.35 * pelvis.yaw, lean * pelvis.tilt, 0.08 * pelvis.list));
        }
        for (side, arm) in self.arms.iter().enumerate() {
            arm.apply(time, side, body, pose);
        }
    }
}

impl ArmKeys {
    /// Keys of an arm that hangs and swings against the leg of its side.
    fn new(side: usize) -> Result<Self, TrackError> {
        let (mut swing, mut elbow) = (vec![(0.0, 2.0 * DEGREE)], vec![(0.0, 14.0 * DEGREE)]);
        swing.push((0.5, 2.0 * DEGREE));
        elbow.push((0.5, 14.0 * DEGREE));
        for step in steps() {
            let wide = step.past / 0.69;
            let ahead = step.side != side;
            swing.push((step.land + LAG, wide * DEGREE * if ahead { 21.0 } else { -17.0 }));
            elbow.push((step.land + 2.0 * LAG, DEGREE * (14.0 + wide * if ahead { 18.0 } else { 0.0 })));
        }
        swing.push((END - 0.15, 2.0 * DEGREE));
        elbow.push((END - 0.1, 14.0 * DEGREE));
        Ok(Self { swing: curve(&swing)?, elbow: curve(&elbow)? })
    }

    fn apply(&self, time: f32, side: usize, body: &Body, pose: &mut Pose) {
        let x = SIDES[side].1;
        let along = Vec3::new(ARM.x * x, ARM.y, 0.0);
        // In the rest pose the arms are 45 degrees from hanging.
        let raise = math::axis_angle(Vec3::Z, x * (RAISE - 45.0 * DEGREE));
        let swing = math::axis_angle(Vec3::X, -self.swing.sample(time));
        let turn = math::axis_angle(along, x * TURN);
        pose.set_rotation(body.upper_arm[side], math::mul(swing, math::mul(raise, turn)));
        // The elbow bends the hand forward; the palm faces the body.
        let hinge = along.cross(Vec3::Z);
        pose.set_rotation(body.forearm[side], math::axis_angle(hinge, self.elbow.sample(time)));
    }
}
