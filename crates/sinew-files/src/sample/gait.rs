//! The walk's legs: when each foot lifts and lands, and how it rolls over heel and ball in between, as keys.

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

/// Seconds between one landing and the next: 116 steps a minute, an adult's easy walk.
const STEP: f32 = 0.515;
/// Seconds that a foot is in the air: two fifths of its cycle, so that both feet stand for a tenth of it.
const SWING: f32 = 0.41;
/// When the first foot lands, in seconds; the character stands until it lifts.
const FIRST: f32 = 1.05;
/// Where each step lands ahead of the start, in metres, the right foot first. In the middle 0.69 m in 0.515 s: 1.34 m/s.
const PLACES: [f32; 8] = [0.40, 1.07, 1.76, 2.45, 3.13, 3.82, 4.36, 4.36];
/// Half the distance between the feet across while walking, in metres; less than the hips', so that each knee passes the
/// other's line.
const TRACK: f32 = 0.068;
/// How far the toes point outwards.
const TOE_OUT: f32 = 6.0 * DEGREE;
/// When the clip ends, in seconds.
pub(super) const END: f32 = 5.4;

pub(super) const DEGREE: f32 = PI / 180.0;

/// One step of one foot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// 0 is the left foot, 1 the right.
    pub side: usize,
    /// When the toes leave the floor, in seconds.
    pub lift: f32,
    /// When the heel meets it again.
    pub land: f32,
    /// How far ahead of the start it lands, in metres.
    pub to: f32,
    /// Metres past the other foot, 0 for a step that closes up.
    pub past: f32,
}

impl Step {
    /// The middle of the swing: the other leg carries, and the pelvis is over it.
    pub fn middle(&self) -> f32 {
        0.5 * (self.lift + self.land)
    }

    /// +1 where the left leg carries, -1 where the right one does.
    pub fn carrier(&self) -> f32 {
        if self.side == 1 { 1.0 } else { -1.0 }
    }
}

/// Every step of the walk in order.
pub(super) fn steps() -> Vec<Step> {
    let mut steps = Vec::with_capacity(PLACES.len());
    let mut other = 0.0;
    for (k, &to) in PLACES.iter().enumerate() {
        let land = FIRST + STEP * k as f32;
        steps.push(Step { side: (k + 1) % 2, lift: land - SWING, land, to, past: to - other });
        other = to;
    }
    steps
}

/// The keys of one foot: a foot that lies flat at a place, rolled up over its heel and up over its ball, as animators' rigs
/// have it. Angles in radians.
pub(super) struct FootKeys {
    side: f32,
    across: Track<f32>,
    ahead: Track<f32>,
    height: Track<f32>,
    /// Toes up, about the heel.
    heel: Track<f32>,
    /// Heel up, about the toe joint.
    ball: Track<f32>,
    /// Toes up against the foot, beyond what keeps them flat.
    toes: Track<f32>,
}

/// What the keys ask of a leg at one time, in model space.
pub(super) struct FootGoal {
    /// Where the ankle is to be.
    pub ankle: Vec3,
    /// How the foot is to be turned.
    pub rotation: Quat,
    /// How the toes are to be turned against the foot.
    pub toes: Quat,
    /// Where the knee is to point.
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
            ball.extend([
                (lift - 0.27, 0.0),
                (lift - 0.17, 2.5 * DEGREE * push),
                (lift - 0.105, 10.0 * DEGREE * push),
                (lift - 0.05, 29.0 * DEGREE * push),
                (lift, 51.0 * DEGREE * push),
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
        let place = Vec3::new(
            self.across.sample(time),
            ANKLE + self.height.sample(time),
            self.ahead.sample(time) + STANCE.z,
        );
        let (heel, ball) = (self.heel.sample(time), self.ball.sample(time));
        // The ankle hangs on the toe joint, which hangs on the heel, which stands at the place.
        let from_ball = math::rotate(pitch(ball), -BALL);
        let from_heel = math::rotate(pitch(-heel), BALL - HEEL + from_ball);
        FootGoal {
            ankle: place + math::rotate(yaw, HEEL + from_heel),
            rotation: math::mul(yaw, pitch(ball - heel)),
            toes: pitch(-(ball + self.toes.sample(time)).clamp(-FRAC_PI_2, FRAC_PI_2)),
            knee: math::rotate(yaw, Vec3::Z),
        }
    }
}

/// The keys of the pelvis, in model space: metres, radians.
pub(super) struct PelvisKeys {
    across: Track<f32>,
    height: Track<f32>,
    ahead: Track<f32>,
    /// Left hip back.
    yaw: Track<f32>,
    /// Left hip up.
    list: Track<f32>,
    /// Forward.
    tilt: Track<f32>,
}

/// What the keys of the pelvis are at one time.
pub(super) struct Pelvis {
    /// From where the hips are in the rest pose.
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
        // Standing a little soft in the knees.
        const STAND: f32 = -0.003;
        let mut height = vec![(0.0, STAND), (0.3, STAND), (start, -0.010)];
        let (mut yaw, mut list) = (vec![(0.0, 0.0), (0.4, 0.0)], vec![(0.0, 0.0), (0.4, 0.0)]);
        let mut under = 0.0;
        for (k, step) in steps.iter().enumerate() {
            let (middle, land) = (step.middle(), step.land);
            let last = k + 1 == steps.len();
            // The trunk falls ahead of the foot that carries it, so that the next one lands under it.
            let lead = match k {
                0 | 1 => 0.08,
                _ if last => -0.02,
                _ => 0.052,
            };
            ahead.push((middle, under + lead));
            across.push((middle - 0.03, step.carrier() * 0.022));
            height.push((middle, if k + 2 == steps.len() { -0.046 } else { -0.016 }));
            if !last {
                // The legs are furthest apart just after the landing, and the pelvis lowest.
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
        let slow = FIRST + STEP * (PLACES.len() - 2) as f32;
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
