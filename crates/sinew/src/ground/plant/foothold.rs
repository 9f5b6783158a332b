//! Where a foot stands, and how it lies there while heel and ball come down and lift.

use glam::{Quat, Vec3};

use crate::math;

/// A foot of the clip at one time: the ankle in model space, the sole's points relative to it (model axes).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct FootSample {
    /// The hip joint.
    pub hip: Vec3,
    /// The knee.
    pub knee: Vec3,
    /// The ankle.
    pub ankle: Vec3,
    /// From ankle to heel.
    pub heel: Vec3,
    /// From ankle to ball.
    pub ball: Vec3,
    /// From ankle to the tip of the toes.
    pub tip: Vec3,
    /// The rotation of the thigh in model space.
    pub thigh: Quat,
    /// The way the knee points from the line between hip and ankle, as the animation has it: a unit vector across that line.
    pub knee_way: Vec3,
}

impl FootSample {
    /// Heading of the sole, heel to ball, seen from above: 0 along +Z, a quarter turn along +X.
    pub fn yaw(&self) -> f32 {
        let d = self.ball - self.heel;
        math::atan2(d.x, d.z)
    }
}

/// A place where a foot stands flat: the ground under heel and ball, one sole's length apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foothold {
    /// Ground under the heel, in model space.
    pub heel: Vec3,
    /// Ground under the ball.
    pub ball: Vec3,
    /// Sideways tilt of the ground about the sole's axis, in radians, right-handed about heel to ball.
    pub roll: f32,
    /// How far the ground makes the toes bend up from the sole's line, in radians (down is negative).
    pub toes: f32,
    /// How far the foothold was moved along the sole, in metres.
    pub shift: f32,
    /// Share of the sole that is supported.
    pub support: f32,
    /// Whether there is ground under the heel.
    pub heel_supported: bool,
}

/// How a foot of the clip is moved: turned about the ankle, then carried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootDisplacement {
    /// Turn in model space about the ankle.
    pub turn: Quat,
    /// Where the ankle goes.
    pub ankle: Vec3,
}

/// Heading as a unit vector: `yaw` 0 is +Z, a quarter turn +X.
pub fn heading(yaw: f32) -> Vec3 {
    Vec3::new(math::sin(yaw), 0.0, math::cos(yaw))
}

impl Foothold {
    /// Unit vector along the sole, seen from above.
    fn direction(&self) -> Vec3 {
        let d = self.ball - self.heel;
        Vec3::new(d.x, 0.0, d.z).normalize_or(Vec3::Z)
    }

    /// How the ground tilts a foot that would lie level along the same heading: pitch, then roll.
    pub fn tilt(&self) -> Quat {
        let along = (self.ball - self.heel).normalize_or(Vec3::Z);
        let level = self.direction();
        math::mul(math::shortest_arc(level, along, Vec3::Y), math::axis_angle(level, self.roll))
    }

    /// The same for the toes.
    pub fn toe_tilt(&self) -> Quat {
        let level = self.direction();
        // A right-handed turn about `across` carries the heading down, so up is its negative.
        let across = Vec3::new(level.z, 0.0, -level.x);
        math::mul(math::axis_angle(across, -self.toes), self.tilt())
    }

    /// The foot with its heel and ball at these heights over the ground (metres, 0 or more) on this foothold.
    ///
    /// The sole is a stick of fixed length. On a level floor the heights of its ends give its pitch; the ground's own
    /// pitch is added to it, as the whole scene were tilted. The end that is on the ground stays where it is: with both
    /// up, the pivot lies between them, nearer to the lower one.
    pub fn stand(&self, foot: &FootSample, heel_height: f32, ball_height: f32) -> FootDisplacement {
        let stick = foot.ball - foot.heel;
        let length = stick.length();
        let direction = self.direction();
        let ground = (self.ball - self.heel).normalize_or(direction);
        // Short of a quarter turn, where the heading would be lost.
        let sin = ((ball_height - heel_height) / length).clamp(-0.99, 0.99);
        let cos = math::sqrt(1.0 - sin * sin);
        // The sum of the two pitches, by the sum of angles.
        let (ground_sin, ground_cos) = (ground.y, ground.dot(direction));
        let along = direction * (cos * ground_cos - sin * ground_sin)
            + Vec3::Y * (sin * ground_cos + cos * ground_sin);
        let sum = heel_height + ball_height;
        let to_ball = if sum > 0.0 { heel_height / sum } else { 0.5 };
        let by_heel = self.heel + Vec3::Y * heel_height;
        let by_ball = self.ball + Vec3::Y * ball_height - along * length;
        let heel = by_heel + (by_ball - by_heel) * to_ball;
        let roll = math::axis_angle(direction, self.roll);
        let rolled = math::rotate(roll, stick / length);
        let turn = math::mul(math::shortest_arc(rolled, along, Vec3::Y), roll);
        FootDisplacement { turn, ankle: heel - math::rotate(turn, foot.heel) }
    }
}

/// Why a foot does not stand.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unplanted {
    /// No ground within the cast.
    NoGround,
    /// No place within the largest shift supports the ball and enough of the sole.
    Unsupported,
    /// The contact was too short to be one.
    TooShort,
    /// The heel has no ground under it: the foot stands on its ball.
    HeelInAir,
    /// It got a foothold, but the planted pose stays above the ground there, as where the leg does not reach it.
    Gap {
        /// Largest height above the ground in the middle half of the contact, in metres.
        height: f32,
    },
    /// It got a foothold, but the planted pose slides there.
    Slide {
        /// Mean speed in the middle half of the contact, in m/s.
        speed: f32,
    },
}

impl core::fmt::Display for Unplanted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoGround => f.write_str("no ground within the cast"),
            Self::Unsupported => f.write_str("no place near supports the ball and enough of the sole"),
            Self::TooShort => f.write_str("too short"),
            Self::HeelInAir => f.write_str("it hangs over an edge"),
            Self::Gap { height } => write!(f, "it stays up to {height:.3} m above the ground"),
            Self::Slide { speed } => write!(f, "it slides at {speed:.3} m/s"),
        }
    }
}

/// A foot that lies level, for tests.
#[cfg(test)]
pub fn foot() -> FootSample {
    FootSample {
        ankle: Vec3::new(0.0, 0.1, 0.0),
        heel: Vec3::new(0.0, -0.1, -0.05),
        ball: Vec3::new(0.0, -0.1, 0.13),
        tip: Vec3::new(0.0, -0.1, 0.2),
        ..FootSample::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_foot_on_a_level_floor_only_moves() {
        let foothold = Foothold {
            heel: Vec3::new(1.0, 2.0, 3.0),
            ball: Vec3::new(1.0, 2.0, 3.18),
            roll: 0.0,
            toes: 0.0,
            shift: 0.0,
            support: 1.0,
            heel_supported: true,
        };
        let twist = foothold.stand(&foot(), 0.0, 0.0);
        assert!(math::angle_between(twist.turn, Quat::IDENTITY) < 1e-5);
        assert!((twist.ankle - Vec3::new(1.0, 2.1, 3.05)).length() < 1e-6);
    }

    #[test]
    fn rolling_over_the_ball_keeps_the_ball_in_place() {
        let foothold = Foothold {
            heel: Vec3::ZERO,
            ball: Vec3::new(0.0, 0.0, 0.18),
            roll: 0.0,
            toes: 0.0,
            shift: 0.0,
            support: 1.0,
            heel_supported: true,
        };
        for lift in [0.0, 0.02, 0.08, 0.15] {
            let twist = foothold.stand(&foot(), lift, 0.0);
            let ball = twist.ankle + math::rotate(twist.turn, foot().ball);
            let heel = twist.ankle + math::rotate(twist.turn, foot().heel);
            assert!((ball - foothold.ball).length() < 1e-5, "{ball}");
            assert!((heel.y - lift).abs() < 1e-5, "{heel}");
            let twist = foothold.stand(&foot(), 0.0, lift);
            let heel = twist.ankle + math::rotate(twist.turn, foot().heel);
            assert!((heel - foothold.heel).length() < 1e-5, "{heel}");
        }
    }
}
