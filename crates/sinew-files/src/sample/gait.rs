//! Keys of the walk's legs and pelvis: when each foot lifts and lands, and how it rolls over heel and ball in between.

use std::f32::consts::{FRAC_PI_2, PI};

use glam::{Quat, Vec3};
use sinew::{
    math,
    motion::{Track, TrackError},
};

use super::{
    body::{ANKLE, BALL, HEEL, STANCE},
    curve::curve,
};

/// Time between landings, in seconds: 116 steps per minute, an adult's easy walk.
const STEP: f32 = 0.515;
/// Duration of a swing, in seconds: two fifths of a foot's cycle, so that both feet stand for a tenth of it.
const SWING: f32 = 0.41;
/// Time of the first landing, in seconds; the character stands until that foot lifts.
const FIRST: f32 = 1.05;
/// Distance of each landing from the start, in metres, the right foot first. The middle steps are 0.69 m in 0.515 s: 1.34
/// m/s.
const LANDINGS: [f32; 8] = [0.40, 1.07, 1.76, 2.45, 3.13, 3.82, 4.36, 4.36];
/// Half the lateral distance of the feet while walking, in metres; less than that of the hips, as people walk.
const TRACK: f32 = 0.068;
/// Outward rotation of the feet, in radians.
const TOE_OUT: f32 = 6.0 * DEGREE;
/// End of the clip, in seconds.
pub(super) const END: f32 = 5.4;

/// A degree in radians.
pub(super) const DEGREE: f32 = PI / 180.0;

/// Step of one foot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Side of the foot: 0 is left, 1 right.
    pub side: usize,
    /// Time at which the toes leave the floor, in seconds.
    pub lift: f32,
    /// Time at which the heel lands, in seconds.
    pub land: f32,
    /// Distance of the landing from the start, in metres.
    pub to: f32,
    /// Distance of the landing past the other foot, in metres; 0 for a step that closes up.
    pub past: f32,
}

impl Step {
    /// Time of the middle of the swing, in seconds: the pelvis is over the other leg, which carries it.
    pub fn middle(&self) -> f32 {
        0.5 * (self.lift + self.land)
    }

    /// +1 if the left leg carries the pelvis, -1 if the right leg does.
    pub fn carrier(&self) -> f32 {
        if self.side == 1 { 1.0 } else { -1.0 }
    }
}

/// All steps of the walk, in order.
pub(super) fn steps() -> Vec<Step> {
    let mut steps = Vec::with_capacity(LANDINGS.len());
    let mut other = 0.0;
    for (k, &to) in LANDINGS.iter().enumerate() {
        let land = FIRST + STEP * k as f32;
        steps.push(Step { side: (k + 1) % 2, lift: land - SWING, land, to, past: to - other });
        other = to;
    }
    steps
}

/// Keys of one foot, as of an animator's foot rig: the position of the flat foot in metres, and roll angles about heel and
/// ball in radians.
pub(super) struct FootKeys {
    side: f32,
    across: Track<f32>,
    ahead: Track<f32>,
    height: Track<f32>,
    /// Roll about the heel, toes up.
    heel: Track<f32>,
    /// Roll about the toe joint, heel up.
    ball: Track<f32>,
    /// Rotation of the toes upwards, relative to flat toes.
    toes: Track<f32>,
}

/// Goal of a leg at one time, in model space.
pub(super) struct FootGoal {
    /// Position of the ankle, in metres.
    pub ankle: Vec3,
    /// Rotation of the foot.
    pub rotation: Quat,
    /// Rotation of the toes relative to the foot.
    pub toes: Quat,
    /// Direction of the knee.
    pub knee: Vec3,
}

impl FootKeys {
    pub fn new(side: usize) -> Result<Self, TrackError> {
        let sign = if side == 0 { 1.0 } else { -1.0 };
        let (mut across, mut ahead) = (vec![(0.0, sign * STANCE.x)], vec![(0.0, 0.0)]);
        let mut height = vec![(0.0, 0.0)];
        let (mut heel, mut ball, mut toes) = (vec![(0.0, 0.0)], vec![(0.0, 0.0)], vec![(0.0, 0.0)]);
        let mut from = 0.0;
        let steps: Vec<Step> = steps().into_iter().filter(|s| s.side == side).collect();
        for (k, step) in steps.iter().enumerate() {
            let (lift, land) = (step.lift, step.land);
            let last = k + 1 == steps.len();
            let at = |part: f32| lift + part * SWING;
            // Short steps at the start and the end roll less.
            let long = ((step.to - from) / 1.38).clamp(0.0, 1.0);
            let push = 0.5 + 0.5 * long;
            let half = if last { STANCE.x } else { TRACK };
            across.push((lift, across.last().map_or(0.0, |k| k.1)));
            across.push((land, sign * half));
            ahead.push((lift, from));
            ahead.push((land, step.to));
            height.extend([(lift, 0.0), (at(0.30), 0.052 * push), (at(0.62), 0.032 * push), (land, 0.0)]);
            let strike = 21.0 * DEGREE * (step.past / 0.69).clamp(0.0, 1.0);
            heel.extend([(at(0.42), 0.0), (land - 0.02, strike), (land + 0.10, 0.0)]);
            // The heel rises before the ankle bends further than people's do in a walk.
            ball.extend([
                (lift - 0.27, 0.0),
                (lift - 0.19, 4.0 * DEGREE * push),
                (lift - 0.12, 13.5 * DEGREE * push),
                (lift - 0.055, 33.0 * DEGREE * push),
                (lift, 53.0 * DEGREE * push),
                (lift + 0.055, 62.0 * DEGREE * push),
                (at(0.72), 0.0),
            ]);
            toes.extend([
                (lift, 0.0),
                (at(0.25), -26.0 * DEGREE * push),
                (at(0.72), 0.0),
                (land - 0.03, 0.5 * strike),
                (land + 0.09, 0.0),
            ]);
            from = step.to;
        }
        Ok(Self {
            side: sign,
            across: curve(&across)?,
            ahead: curve(&ahead)?,
            height: curve(&height)?,
            heel: curve(&heel)?,
            ball: curve(&ball)?,
            toes: curve(&toes)?,
        })
    }

    pub fn goal(&self, time: f32) -> FootGoal {
        let pitch = |down: f32| math::axis_angle(Vec3::X, down);
        let yaw = math::axis_angle(Vec3::Y, self.side * TOE_OUT);
        let position = Vec3::new(
            self.across.sample(time),
            ANKLE + self.height.sample(time),
            self.ahead.sample(time) + STANCE.z,
        );
        let (heel, ball) = (self.heel.sample(time), self.ball.sample(time));
        // The roll is applied from the heel, which is at the position, over the toe joint to the ankle.
        let from_ball = math::rotate(pitch(ball), -BALL);
        let from_heel = math::rotate(pitch(-heel), BALL - HEEL + from_ball);
        FootGoal {
            ankle: position + math::rotate(yaw, HEEL + from_heel),
            rotation: math::mul(yaw, pitch(ball - heel)),
            toes: pitch(-(ball + self.toes.sample(time)).clamp(-FRAC_PI_2, FRAC_PI_2)),
            knee: math::rotate(yaw, Vec3::Z),
        }
    }
}

/// Keys of the pelvis, in model space, in metres and radians.
pub(super) struct PelvisKeys {
    across: Track<f32>,
    height: Track<f32>,
    ahead: Track<f32>,
    /// Yaw, left hip backwards.
    yaw: Track<f32>,
    /// Lateral tilt, left hip upwards.
    list: Track<f32>,
    /// Forward tilt.
    tilt: Track<f32>,
}

/// Values of the pelvis's keys at one time.
pub(super) struct Pelvis {
    /// Displacement of the hips from the rest pose, in metres.
    pub offset: Vec3,
    pub yaw: f32,
    pub list: f32,
    pub tilt: f32,
}

impl PelvisKeys {
    pub fn new() -> Result<Self, TrackError> {
        let steps = steps();
        let start = FIRST - SWING;
        let (mut across, mut ahead) = (vec![(0.0, 0.0), (0.2, 0.0)], vec![(0.0, 0.0), (0.25, 0.0)]);
        // Height of the standing pelvis, in metres, with slightly bent knees.
        const STAND: f32 = -0.003;
        let mut height = vec![(0.0, STAND), (0.3, STAND), (start, -0.010)];
        let (mut yaw, mut list) = (vec![(0.0, 0.0), (0.4, 0.0)], vec![(0.0, 0.0), (0.4, 0.0)]);
        let mut under = 0.0;
        for (k, step) in steps.iter().enumerate() {
            let (middle, land) = (step.middle(), step.land);
            let last = k + 1 == steps.len();
            // The trunk leads the foot that carries it, so that the next foot lands below it.
            let lead = match k {
                0 | 1 => 0.08,
                _ if last => -0.02,
                _ => 0.052,
            };
            ahead.push((middle, under + lead));
            across.push((middle - 0.03, step.carrier() * 0.022));
            height.push((middle, if k + 2 == steps.len() { -0.028 } else { -0.016 }));
            if !last {
                // Just after the landing the legs are farthest apart, and the pelvis is lowest.
                let wide = step.past / 0.69;
                height.push((land + 0.03, -0.016 - 0.040 * wide * wide));
            }
            let forward = if step.side == 0 { -1.0 } else { 1.0 };
            let swing = if last { 0.0 } else { forward * 6.0 * DEGREE };
            yaw.push((land, swing));
            list.push((middle - 0.06, step.carrier() * 3.5 * DEGREE));
            under = step.to;
        }
        let rest = END - 0.3;
        ahead.push((rest, under));
        across.push((rest, 0.0));
        height.push((rest, STAND));
        list.push((rest - 0.2, 0.0));
        let cruise = FIRST + STEP;
        let slow = FIRST + STEP * (LANDINGS.len() - 2) as f32;
        Ok(Self {
            across: curve(&across)?,
            height: curve(&height)?,
            ahead: curve(&ahead)?,
            yaw: curve(&yaw)?,
            list: curve(&list)?,
            tilt: curve(&[
                (0.0, 0.0),
                (0.3, 0.0),
                (cruise, 4.0 * DEGREE),
                (slow, 3.0 * DEGREE),
                (rest, 0.0),
            ])?,
        })
    }

    pub fn at(&self, time: f32) -> Pelvis {
        Pelvis {
            offset: Vec3::new(self.across.sample(time), self.height.sample(time), self.ahead.sample(time)),
            yaw: self.yaw.sample(time),
            list: self.list.sample(time),
            tilt: self.tilt.sample(time),
        }
    }
}
