//! Rotation keys of the walk's trunk, head and arms. The left arm swings; the right arm is raised and waves.

use glam::{Quat, Vec3};
use sinew::{
    Pose, math,
    motion::{Track, TrackError},
};

use super::{
    body::{ARM, Body, SIDES},
    curve::curve,
    gait::{DEGREE, END, Pelvis, steps},
};

/// Times at which the right hand begins to rise, is up, begins to fall and is down, in seconds.
const WAVE: [f32; 4] = [1.35, 2.15, 4.05, 4.95];
/// Time of the hand from one side of a wave to the other, in seconds.
const HALF_WAVE: f32 = 0.27;
/// Lag of the arms behind the legs, in seconds.
const LAG: f32 = 0.05;

/// Keys of one arm, in radians.
struct ArmKeys {
    /// Abduction, from the hanging arm.
    raise: Track<f32>,
    /// Flexion, forward.
    swing: Track<f32>,
    /// Twist about the upper arm, outwards.
    turn: Track<f32>,
    elbow: Track<f32>,
    /// Rotation of the wrist towards the thumb.
    wrist: Track<f32>,
    clavicle: Track<f32>,
}

/// Keys of all joints above the pelvis.
pub(super) struct GestureKeys {
    arms: [ArmKeys; 2],
    /// Yaw of the head to the right, in radians.
    look: Track<f32>,
}

impl GestureKeys {
    pub fn new() -> Result<Self, TrackError> {
        Ok(Self {
            arms: [ArmKeys::swinging(0)?, ArmKeys::waving()?],
            look: curve(&[
                (0.0, 0.0),
                (WAVE[0], 0.0),
                (WAVE[1], 16.0 * DEGREE),
                (WAVE[2], 16.0 * DEGREE),
                (WAVE[3], 0.0),
            ])?,
        })
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
        // The head keeps facing forward, except for the look to the side of the waving hand.
        let look = -0.5 * self.look.sample(time);
        for (joint, lean) in [(body.neck, -0.3), (body.head, -0.5)] {
            pose.set_rotation(joint, turn(0.35 * pelvis.yaw + look, lean * pelvis.tilt, 0.08 * pelvis.list));
        }
        for (side, arm) in self.arms.iter().enumerate() {
            arm.apply(time, side, body, pose);
        }
    }
}

impl ArmKeys {
    /// Keys of an arm that hangs and swings against the leg of its side.
    fn swinging(side: usize) -> Result<Self, TrackError> {
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
        Ok(Self {
            raise: curve(&[(0.0, 9.0 * DEGREE)])?,
            swing: curve(&swing)?,
            turn: curve(&[(0.0, -8.0 * DEGREE)])?,
            elbow: curve(&elbow)?,
            wrist: curve(&[(0.0, 0.0)])?,
            clavicle: curve(&[(0.0, 0.0)])?,
        })
    }

    /// Keys of an arm that swings, is raised, waves, and is lowered.
    fn waving() -> Result<Self, TrackError> {
        let hanging = Self::swinging(1)?;
        let [start, up, down, end] = WAVE;
        let keys = |track: &Track<f32>, wave: &[(f32, f32)]| {
            let own = track.times().iter().map(|&t| (t, track.sample(t)));
            let mut keys: Vec<_> = own.clone().filter(|k| k.0 < start).collect();
            keys.extend_from_slice(wave);
            keys.extend(own.filter(|k| k.0 > end));
            curve(&keys)
        };
        let (mut elbow, mut wrist) = (Vec::new(), vec![(0.0, 0.0), (up - HALF_WAVE, 0.0)]);
        elbow.push((start, 20.0 * DEGREE));
        let mut out = false;
        let mut time = up - 0.05;
        while time < down + 0.1 {
            elbow.push((time, DEGREE * if out { 68.0 } else { 108.0 }));
            // The hand trails the forearm.
            wrist.push((time + 0.07, DEGREE * if out { 14.0 } else { -14.0 }));
            out = !out;
            time += HALF_WAVE;
        }
        elbow.push((end, 22.0 * DEGREE));
        wrist.push((end, 0.0));
        let hang = 9.0 * DEGREE;
        Ok(Self {
            raise: curve(&[
                (0.0, hang),
                (start, hang),
                (up, 88.0 * DEGREE),
                (down, 86.0 * DEGREE),
                (end, hang),
            ])?,
            swing: keys(
                &hanging.swing,
                &[(start, -6.0 * DEGREE), (up, 14.0 * DEGREE), (down, 14.0 * DEGREE), (end, -4.0 * DEGREE)],
            )?,
            turn: curve(&[
                (0.0, -8.0 * DEGREE),
                (start, -8.0 * DEGREE),
                (up - 0.1, 82.0 * DEGREE),
                (down + 0.1, 82.0 * DEGREE),
                (end, -8.0 * DEGREE),
            ])?,
            elbow: keys(&hanging.elbow, &elbow)?,
            wrist: curve(&wrist)?,
            clavicle: curve(&[
                (0.0, 0.0),
                (start, 0.0),
                (up, 14.0 * DEGREE),
                (down, 14.0 * DEGREE),
                (end, 0.0),
            ])?,
        })
    }

    fn apply(&self, time: f32, side: usize, body: &Body, pose: &mut Pose) {
        let x = SIDES[side].1;
        let along = Vec3::new(ARM.x * x, ARM.y, 0.0);
        // In the rest pose the arms are 45 degrees from hanging.
        let raise = math::axis_angle(Vec3::Z, x * (self.raise.sample(time) - 45.0 * DEGREE));
        let swing = math::axis_angle(Vec3::X, -self.swing.sample(time));
        let turn = math::axis_angle(along, -x * self.turn.sample(time));
        pose.set_rotation(body.upper_arm[side], math::mul(swing, math::mul(raise, turn)));
        // The elbow bends the hand forward; the palm faces the body.
        let hinge = along.cross(Vec3::Z);
        pose.set_rotation(body.forearm[side], math::axis_angle(hinge, self.elbow.sample(time)));
        let wrist = math::axis_angle(hinge, self.wrist.sample(time));
        pose.set_rotation(body.hand[side], wrist);
        let lift: Quat = math::axis_angle(Vec3::Z, x * self.clavicle.sample(time));
        pose.set_rotation(body.clavicle[side], lift);
    }
}
