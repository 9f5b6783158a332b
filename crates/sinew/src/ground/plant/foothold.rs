//! A foothold, and the pose of a foot on it while heel and ball come down and lift.

use glam::{Quat, Vec3};

use crate::math;

/// Leg and foot of a clip at one time: joints in model space, sole points relative to the ankle (along the axes of model
/// space), all in metres.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct FootSample {
    /// Position of the hip joint.
    pub hip: Vec3,
    /// Position of the knee.
    pub knee: Vec3,
    /// Position of the ankle.
    pub ankle: Vec3,
    /// Vector from ankle to heel.
    pub heel: Vec3,
    /// Vector from ankle to ball.
    pub ball: Vec3,
    /// Vector from ankle to the tip of the toes.
    pub tip: Vec3,
    /// Rotation of the thigh in model space.
    pub thigh: Quat,
    /// Direction in which the knee points in the clip, in model space: a unit vector perpendicular to the line from hip to
    /// ankle.
    pub knee_way: Vec3,
}

/// A position on which a foot stands flat: ground points under heel and ball, one sole's length apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foothold {
    /// Ground point under the heel, in model space.
    pub heel: Vec3,
    /// Ground point under the ball, in model space.
    pub ball: Vec3,
    /// Sideways tilt of the ground about the line from heel to ball, in radians, right-handed.
    pub roll: f32,
    /// Angle by which the ground bends the toes up from the line of the sole, in radians (down is negative).
    pub toes: f32,
    /// Distance by which the foothold was moved along the sole, in metres (forwards is positive).
    pub shift: f32,
    /// Fraction of the sole that is supported, from 0 to 1.
    pub support: f32,
    /// Whether the heel has ground under it. Without, the foot stands on its ball.
    pub heel_supported: bool,
}

/// Displacement of a foot from the clip: a rotation about the ankle, then a translation, in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootDisplacement {
    /// Rotation about the ankle.
    pub turn: Quat,
    /// New position of the ankle.
    pub ankle: Vec3,
}

/// Horizontal unit vector of a heading: +Z for a `yaw` of 0, +X for a quarter turn.
pub fn heading(yaw: f32) -> Vec3 {
    Vec3::new(math::sin(yaw), 0.0, math::cos(yaw))
}

/// Pitch of a line from heel to ball in radians, toes up.
pub(super) fn pitch(line: Vec3) -> f32 {
    math::atan2(line.y, line.with_y(0.0).length())
}

/// Rise of a line per horizontal distance.
pub(super) fn slope(line: Vec3) -> f32 {
    line.y / line.with_y(0.0).length().max(f32::MIN_POSITIVE)
}

impl Foothold {
    /// Horizontal unit vector from heel to ball.
    fn direction(&self) -> Vec3 {
        let d = self.ball - self.heel;
        Vec3::new(d.x, 0.0, d.z).normalize_or(Vec3::Z)
    }

    /// The same position with a level sole, on the highest ground under heel, ball and toe tip. The higher end of the sole keeps its
    /// place. `tip` is the distance from ball to toe tip in metres.
    pub(super) fn level(&self, tip: f32) -> Self {
        let line = self.ball - self.heel;
        let (length, along) = (line.length(), self.direction());
        let pitch = pitch(line) + self.toes;
        let y = self.heel.y.max(self.ball.y).max(self.ball.y + tip * math::sin(pitch));
        let heel = if self.heel.y > self.ball.y { self.heel } else { self.ball - along * length };
        let heel = heel.with_y(y);
        Self { heel, ball: heel + along * length, roll: 0.0, toes: 0.0, ..*self }
    }

    /// Height by which another foothold is below this one, beyond what the slope of both explains, in metres.
    pub(super) fn drop_to(&self, next: &Self) -> f32 {
        let middle = |f: &Self| 0.5 * (f.heel + f.ball);
        let slope = |f: &Self| slope(f.ball - f.heel);
        let way = middle(next) - middle(self);
        slope(self).min(slope(next)) * way.with_y(0.0).length() - way.y
    }

    /// Rotation in model space that tilts a level foot of the same heading onto the ground: roll, then pitch.
    pub fn tilt(&self) -> Quat {
        let along = (self.ball - self.heel).normalize_or(Vec3::Z);
        let level = self.direction();
        math::mul(math::shortest_arc(level, along, Vec3::Y), math::axis_angle(level, self.roll))
    }

    /// Rotation in model space that tilts level toes of the same heading onto the ground.
    pub fn toe_tilt(&self) -> Quat {
        let level = self.direction();
        // A positive turn about `across` carries the heading down.
        let across = Vec3::new(level.z, 0.0, -level.x);
        math::mul(math::axis_angle(across, -self.toes), self.tilt())
    }

    /// Places `foot` on this foothold with heel and ball at the given heights above the ground (metres, 0 or more).
    ///
    /// The sole is a line of fixed length. Its pitch is that of a sole on a level floor with these heights, plus the pitch
    /// of the ground. An end on the ground stays at its point of the foothold. With both ends in the air, the pivot lies
    /// between them, nearer to the lower one.
    pub fn stand(&self, foot: &FootSample, heel_height: f32, ball_height: f32) -> FootDisplacement {
        let stick = foot.ball - foot.heel;
        let length = stick.length();
        let direction = self.direction();
        let ground = (self.ball - self.heel).normalize_or(direction);
        // At a quarter turn the heading would be lost.
        let sin = ((ball_height - heel_height) / length).clamp(-0.99, 0.99);
        let cos = math::sqrt(1.0 - sin * sin);
        // Sum of the two pitches, by the addition theorem.
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

/// Reason for which a contact is not planted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Unplanted {
    /// The ray casts hit no ground.
    NoGround,
    /// No position within the largest shift supports the ball without ground above the sole.
    Unsupported,
    /// The heel has no ground under it: the foot stands on its ball.
    HeelInAir,
    /// The foot moves in the clip while it is in contact, by more than half a leg.
    Moves {
        /// Distance that it moves, in metres.
        distance: f32,
    },
    /// The leg's influences are 0: its motion is the clip's.
    NoInfluence,
    /// The contact has a foothold, but the planted pose stays above the ground, for example beyond the leg's reach.
    Gap {
        /// Largest height above the ground, in metres.
        height: f32,
    },
    /// The contact has a foothold, but the planted pose is below the ground.
    Sinks {
        /// Largest depth below the ground, in metres.
        depth: f32,
    },
    /// The contact has a foothold, but the planted pose slides on it.
    Slide {
        /// Largest distance from the place of the contact, in metres.
        distance: f32,
        /// Largest speed, in m/s.
        speed: f32,
    },
}

impl core::fmt::Display for Unplanted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NoGround => f.write_str("the ray casts hit no ground"),
            Self::Unsupported => {
                f.write_str("no position nearby supports the ball without ground above the sole")
            }
            Self::HeelInAir => f.write_str("the heel hangs over an edge"),
            Self::NoInfluence => f.write_str("its influence is 0"),
            Self::Moves { distance } => write!(f, "it moves by {distance:.2} m while in contact"),
            Self::Gap { height } => write!(f, "it stays up to {:.1} mm above the ground", 1e3 * height),
            Self::Sinks { depth } => write!(f, "it is up to {:.1} mm below the ground", 1e3 * depth),
            Self::Slide { distance, speed } => {
                write!(f, "it slides by {:.1} mm, at up to {:.0} mm/s", 1e3 * distance, 1e3 * speed)
            }
        }
    }
}

/// A level foot, for tests.
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
