//! The end of an ankle: beyond it the heel lifts over the ball.

use glam::Vec3;

use crate::{
    ground::plant::{FootFrame, FootSample},
    math,
};

/// Dorsiflexion at which an ankle ends, in radians, for an animation that bends less: 34 degrees, as in whole clips.
const END: f32 = 0.593;
/// What an ankle may bend more than the animation's does, in radians: 8 degrees.
const BEYOND: f32 = 0.14;
/// Angle from the end within which an ankle eases into it, in radians: 3 degrees.
const EASE: f32 = 0.05;
/// Steps of the search, a fixed number so that the result is continuous.
const STEPS: usize = 4;
/// Change of an ankle per lift of the heel, both in radians, below which a lift helps less and less: the knee folds as the ankle
/// rises, and a foot as long as its shin bends no less on its ball.
const HELPS: f32 = 0.5;

/// Distance from ankle to ball as a fraction of the shin, up to which a heel lifts fully, and from which on it does not: the knee
/// of a leg with a longer foot folds more than the ankle gains.
const FEET: [f32; 2] = [0.4, 0.5];

/// A leg whose sole turns about a point.
struct Lifting<'a> {
    frame: &'a FootFrame,
    hip: Vec3,
    /// Lengths of thigh and shin.
    bones: [f32; 2],
    pivot: Vec3,
    /// Vector from heel to ball.
    sole: Vec3,
    /// 1 if the toes point where the knee does in the animation, -1 if they point back.
    side: f32,
}

impl Lifting<'_> {
    /// Direction from ankle to knee as the leg is solved, and axis about which the heel lifts, for an ankle.
    fn shin(&self, ankle: Vec3) -> (Vec3, Vec3) {
        let [a, b] = self.bones;
        let line = ankle - self.hip;
        let (along, d) = (line.normalize_or(Vec3::NEG_Y), line.length().clamp((a - b).abs(), a + b));
        let from = self.frame.clip_line.normalize_or(Vec3::NEG_Y);
        let way = math::rotate(math::shortest_arc(from, along, self.frame.knee_way), self.frame.knee_way);
        let cos = ((b * b + d * d - a * a) / (2.0 * b * d).max(f32::MIN_POSITIVE)).clamp(-1.0, 1.0);
        (way * math::sqrt(1.0 - cos * cos) - along * cos, way.cross(along) * self.side)
    }

    /// Ankle's position with the heel lifted by an angle about an axis.
    fn ankle(&self, axis: Vec3, angle: f32) -> Vec3 {
        self.pivot + math::rotate(math::axis_angle(axis, angle), self.frame.ankle - self.pivot)
    }

    fn bend(&self, axis: Vec3, angle: f32) -> f32 {
        let (shin, across) = self.shin(self.ankle(axis, angle));
        dorsiflexion(shin, math::rotate(math::axis_angle(axis, angle), self.sole), across)
    }
}

/// Dorsiflexion in radians: a right angle less the angle from the shin, towards the knee, to the sole, from heel to ball,
/// about the axis `across`. It continues beyond a right angle to both sides, up to half a turn.
fn dorsiflexion(shin: Vec3, sole: Vec3, across: Vec3) -> f32 {
    let cross = shin.cross(sole);
    let (sin, cos) = (cross.length(), shin.dot(sole));
    // Turned by a right angle, so that a foot which is pointed beyond one does not count as bent by three.
    math::atan2(cos, if cross.dot(across) < 0.0 { -sin } else { sin })
}

/// Lifts the heel of a frame over its ball where its ankle would bend beyond its end, for a leg with its hip at `hip`.
/// `clip` is the animation's leg; all are in model space. `near` is 1 for a foot near the ground and 0 for one in the air, which
/// turns about its ankle instead. Toes stay as they are.
pub fn relieve(clip: &FootSample, hip: Vec3, near: f32, frame: &mut FootFrame) {
    if frame.knee_way == Vec3::ZERO {
        return;
    }
    let (shin, sole) = (clip.knee - clip.ankle, clip.ball - clip.heel);
    let own = dorsiflexion(shin, sole, shin.cross(sole));
    let leg = Lifting {
        frame,
        hip,
        bones: [(clip.knee - clip.hip).length(), (clip.ankle - clip.knee).length()],
        pivot: frame.ankle + math::rotate(frame.turn, clip.ball) * near,
        sole: math::rotate(frame.turn, clip.ball - clip.heel),
        // Knees of birds point back.
        side: if shin.cross(sole).dot(frame.knee_way.cross(frame.clip_line)) < 0.0 { -1.0 } else { 1.0 },
    };
    let end = END.max(own + BEYOND);
    let (_, axis) = leg.shin(frame.ankle);
    let bent = leg.bend(axis, 0.0);
    let foot = clip.ball.length() / leg.bones[1].max(f32::MIN_POSITIVE);
    let share = ((FEET[1] - foot) / (FEET[1] - FEET[0])).clamp(0.0, 1.0);
    // The excess over the end, rounded to both sides of it.
    let excess = match bent - end {
        e if e > EASE => e,
        e if e > -EASE => (e + EASE) * (e + EASE) / (4.0 * EASE),
        _ => return,
    };
    let wanted = bent - excess * share;
    // The lift that a shin at rest would need. From none, the knee of a straight leg would lead astray: it folds fast at first.
    let mut angle = excess * share;
    for _ in 0..STEPS {
        const SMALL: f32 = 1e-2;
        let (now, next) = (leg.bend(axis, angle), leg.bend(axis, angle + SMALL));
        let helps = (now - next) / SMALL;
        let by = (now - wanted) * helps / (helps * helps + HELPS * HELPS);
        angle = (angle + by).clamp(0.0, core::f32::consts::FRAC_PI_2);
    }
    let (turn, ankle) = (math::axis_angle(axis, angle), leg.ankle(axis, angle));
    let toes = math::mul(frame.turn, frame.toes);
    frame.turn = math::mul(turn, frame.turn);
    frame.toes = math::mul(math::conjugate(frame.turn), toes);
    frame.ankle = ankle;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dorsiflexion_is_measured_to_half_a_turn_both_ways() {
        for degrees in [-170.0f32, -100.0, -80.0, 0.0, 30.0, 80.0, 100.0, 170.0] {
            // Seen from the right, with the shin up and the toes ahead along -Z at 0.
            let (sin, cos) = degrees.to_radians().sin_cos();
            let found = dorsiflexion(Vec3::Y, Vec3::new(0.0, sin, -cos), Vec3::NEG_X);
            assert!((found.to_degrees() - degrees).abs() < 1e-3, "{degrees}: {found}");
        }
    }
}
