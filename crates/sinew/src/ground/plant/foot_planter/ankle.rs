//! The end of an ankle: beyond it the heel lifts over the ball, or the ball comes down.

use glam::Vec3;

use crate::{
    ground::plant::{FootFrame, FootSample, foothold::pitch},
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

/// Angle before half a turn, where the sign of an ankle's bend changes, over which the turn fades, in radians: 19 degrees. Ankles
/// of feet that trail at the height of their hip down stairs would bend by 110 to 180 degrees. Over a radian, as before, the
/// Knight's exceed their bound in 80 frames instead of 17 (`lab/step`, walk down).
const FADES: f32 = 0.333;

/// Distance from ankle to ball as a fraction of the shin, up to which a heel lifts fully, and from which on the ball comes down
/// instead: the knee of a leg with a longer foot folds more than the ankle gains.
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

/// An excess over a limit, or 0 below it, rounded within `ease` to both sides.
pub fn rounded(excess: f32, ease: f32) -> f32 {
    match excess {
        e if e > ease => e,
        e if e > -ease => (e + ease) * (e + ease) / (4.0 * ease),
        _ => 0.0,
    }
}

/// How a foot touches the ground, from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Whether it is near the ground.
    pub near: f32,
    /// Whether the heel stands.
    pub heel: f32,
    /// Whether the ball stands, or keeps to the animation.
    pub ball: f32,
}

/// Turns a foot whose ankle would bend beyond its end, for a leg with its hip at `hip`. `clip` is the animation's leg; all are in
/// model space. A heel near the ground lifts over the ball. What a long foot's lift would leave is taken by lowering a ball that
/// does not stand, about a heel that stands, as far as the animation's ball is raised, or else about the ankle. Toes stay as they
/// are.
pub fn relieve(clip: &FootSample, hip: Vec3, touch: Touch, frame: &mut FootFrame) {
    use core::f32::consts::FRAC_PI_2;
    let bones = [(clip.knee - clip.hip).length(), (clip.ankle - clip.knee).length()];
    let foot = clip.ball.length() / bones[1].max(f32::MIN_POSITIVE);
    let lifts = ((FEET[1] - foot) / (FEET[1] - FEET[0])).clamp(0.0, 1.0);
    turn(clip, hip, bones, clip.ball * touch.near, [lifts, FRAC_PI_2], frame);
    let sole = clip.ball - clip.heel;
    let raised = pitch(sole).max(0.0);
    let most = FRAC_PI_2 + (raised - FRAC_PI_2) * touch.heel;
    let before = math::rotate(frame.turn, clip.ball).y;
    let lowers = (1.0 - lifts) * (1.0 - touch.ball);
    turn(clip, hip, bones, clip.heel * touch.heel, [lowers, most], frame);
    // A ball near the ground takes its ankle up instead of sinking.
    let sinks = (before - math::rotate(frame.turn, clip.ball).y).max(0.0);
    frame.ankle.y += sinks * touch.near * (1.0 - touch.heel);
}

/// Turns a foot about a point, given from the ankle in the animation, to take a `share` of what its ankle bends beyond the end,
/// by `most` radians.
fn turn(
    clip: &FootSample,
    hip: Vec3,
    bones: [f32; 2],
    about: Vec3,
    [share, most]: [f32; 2],
    frame: &mut FootFrame,
) {
    if frame.knee_way == Vec3::ZERO || share <= 0.0 {
        return;
    }
    let (shin, sole) = (clip.knee - clip.ankle, clip.ball - clip.heel);
    let own = dorsiflexion(shin, sole, shin.cross(sole));
    let leg = Lifting {
        frame,
        hip,
        bones,
        pivot: frame.ankle + math::rotate(frame.turn, about),
        sole: math::rotate(frame.turn, sole),
        // Knees of birds point back.
        side: if shin.cross(sole).dot(frame.knee_way.cross(frame.clip_line)) < 0.0 { -1.0 } else { 1.0 },
    };
    let end = END.max(own + BEYOND);
    let (_, axis) = leg.shin(frame.ankle);
    let bent = leg.bend(axis, 0.0);
    let excess = rounded(bent - end, EASE);
    if excess <= 0.0 {
        return;
    }
    let excess = excess * share * ((core::f32::consts::PI - bent) / FADES).clamp(0.0, 1.0);
    // The lift that a shin at rest would need. From none, the knee of a straight leg would lead astray: it folds fast at first.
    let mut angle = excess;
    for _ in 0..STEPS {
        const SMALL: f32 = 1e-2;
        let (now, next) = (leg.bend(axis, angle), leg.bend(axis, angle + SMALL));
        let helps = (now - next) / SMALL;
        let by = (now - bent + excess) * helps / (helps * helps + HELPS * HELPS);
        angle = (angle + by).clamp(0.0, most);
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

    /// A leg of half a metre on a foot as long as its shin, with its ankle at a position under a hip 0.86 m high, and its ankle's
    /// bend.
    fn folded_at(ankle: Vec3, touch: Touch) -> (FootSample, FootFrame, f32) {
        let clip = FootSample {
            hip: Vec3::new(0.0, 0.86, 0.0),
            knee: Vec3::new(0.0, 0.56, 0.1),
            ankle: Vec3::new(0.0, 0.3, 0.0),
            heel: Vec3::new(0.0, -0.2, -0.1),
            ball: Vec3::new(0.0, -0.2, 0.2),
            tip: Vec3::new(0.0, -0.2, 0.3),
            knee_way: Vec3::Z,
            ..FootSample::default()
        };
        let mut frame = FootFrame {
            ankle,
            knee_way: Vec3::Z,
            clip_line: Vec3::NEG_Y,
            weight: 1.0,
            influence: 1.0,
            turn: glam::Quat::IDENTITY,
            toes: glam::Quat::IDENTITY,
        };
        relieve(&clip, clip.hip, touch, &mut frame);
        let leg = Lifting {
            frame: &frame,
            hip: clip.hip,
            bones: [(clip.knee - clip.hip).length(), (clip.ankle - clip.knee).length()],
            pivot: frame.ankle,
            sole: math::rotate(frame.turn, clip.ball - clip.heel),
            side: 1.0,
        };
        let (_, axis) = leg.shin(frame.ankle);
        let bent = leg.bend(axis, 0.0);
        (clip, frame, bent)
    }

    fn folded(touch: Touch) -> (FootSample, FootFrame, f32) {
        folded_at(Vec3::new(0.0, 0.55, -0.3), touch)
    }

    #[test]
    fn a_foot_that_trails_beside_its_hip_turns_to_the_end_of_its_ankle_or_by_a_quarter_turn() {
        // Its knee points down, so that the ankle would bend by more than 123 degrees.
        for height in [0.84, 0.88, 0.9] {
            let at = |ball| folded_at(Vec3::new(0.0, height, -0.4), Touch { near: 0.0, heel: 0.0, ball }).2;
            let (kept, turned) = (at(1.0), at(0.0));
            let least = (END + EASE).max(kept - core::f32::consts::FRAC_PI_2 + 1e-3);
            assert!(kept > 2.15 && turned <= least, "{height}: {kept}, {turned}");
        }
    }

    #[test]
    fn a_long_foot_in_the_air_stays_within_the_end_of_its_ankle() {
        let (_, kept, far) = folded(Touch { near: 0.0, heel: 0.0, ball: 1.0 });
        assert!(kept == folded(Touch { near: 0.0, heel: 1.0, ball: 1.0 }).1 && far > END + 0.3, "{far}");
        let (_, turned, bent) = folded(Touch { near: 0.0, heel: 0.0, ball: 0.0 });
        assert!(bent <= END + EASE && turned.ankle.distance(kept.ankle) < 1e-6, "{bent}");
    }

    #[test]
    fn a_long_foot_lowers_its_ball_about_a_heel_that_stands_only_to_the_floor() {
        // The animation's sole is level, so nothing is left to lower.
        let (clip, frame, _) = folded(Touch { near: 1.0, heel: 1.0, ball: 0.0 });
        let heel = frame.ankle + math::rotate(frame.turn, clip.heel);
        assert!(heel.distance(Vec3::new(0.0, 0.35, -0.4)) < 1e-5, "{heel}");
        assert!(math::rotate(frame.turn, clip.ball - clip.heel).y.abs() < 1e-5);
    }
}
