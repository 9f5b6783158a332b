//! Where a foot stands, and how it lies there while heel and ball come down and lift.

use glam::{Quat, Vec3};

use super::Settings;
use crate::{
    ground::{Filter, Ground},
    math,
};

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
pub struct Footing {
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
pub struct Twist {
    /// Turn in model space about the ankle.
    pub turn: Quat,
    /// Where the ankle goes.
    pub ankle: Vec3,
}

/// Heading as a unit vector: `yaw` 0 is +Z, a quarter turn +X.
pub fn heading(yaw: f32) -> Vec3 {
    Vec3::new(math::sin(yaw), 0.0, math::cos(yaw))
}

impl Footing {
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

    /// The foot with its heel and ball at these heights over the ground (metres, 0 or more) on this footing.
    ///
    /// The sole is a stick of fixed length. On a level floor the heights of its ends give its pitch; the ground's own pitch is
    /// added to it, as the whole scene were tilted. The end that is on the ground stays where it is: with both up, the pivot
    /// lies between them, nearer to the lower one.
    pub fn stand(&self, foot: &FootSample, heel_height: f32, ball_height: f32) -> Twist {
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
        Twist { turn, ankle: heel - math::rotate(turn, foot.heel) }
    }
}

/// Finds footings on a ground.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// The ground.
    pub ground: &'a dyn Ground,
    /// The settings.
    pub settings: &'a Settings,
    /// Length of the leg in metres.
    pub leg: f32,
    /// Height of the figure in metres over 1.8.
    pub scale: f32,
}

/// Why a foot does not stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unplanted {
    /// No ground within the cast.
    NoGround,
    /// No place within the largest shift supports the ball and enough of the sole.
    Unsupported,
    /// The contact was too short to be one.
    TooShort,
}

impl core::fmt::Display for Unplanted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NoGround => "no ground within the cast",
            Self::Unsupported => "no place near supports the ball and enough of the sole",
            Self::TooShort => "too short",
        })
    }
}

/// Toes bend up to 35 degrees without effort: on tiptoe they bend more.
const TOES_BEND: f32 = 0.61;
const TOES_BEND_TAN: f32 = 0.7;

/// A foothold is moved without effort by this share of the leg.
const EASY_SHIFT: f32 = 0.25;

/// A straight line under a sole.
#[derive(Clone, Copy)]
struct Line {
    heel: Vec3,
    ball: Vec3,
    /// Of the ground under the ball.
    normal: Vec3,
}

/// A place that was looked at.
#[derive(Clone, Copy)]
struct Candidate {
    footing: Footing,
    cost: f32,
    allowed: bool,
    heel_sunk: bool,
}

impl Search<'_> {
    /// The ground below (x, z), between the casts' limits around the height `base`.
    pub fn height(&self, at: Vec3, base: f32) -> Option<(f32, Vec3)> {
        let above = self.settings.cast_above * self.leg;
        let below = self.settings.cast_below * self.leg;
        let from = Vec3::new(at.x, base + above, at.z);
        let filter = Filter { ..self.settings.filter };
        let hit = self.ground.cast_ray(from, Vec3::NEG_Y, above + below, &filter)?;
        Some((from.y - hit.distance, hit.normal))
    }

    /// The ground below or above (x, z), within a thousand legs of the height `around`.
    pub(super) fn anywhere(&self, at: Vec3, around: f32) -> Option<f32> {
        let reach = 1000.0 * self.leg;
        let from = Vec3::new(at.x, around + reach, at.z);
        let hit = self.ground.cast_ray(from, Vec3::NEG_Y, 2.0 * reach, &self.settings.filter)?;
        Some(from.y - hit.distance)
    }

    /// A footing for a sole whose heel and ball would be at `heel` and `ball` (only x and z count; `length` is the sole's,
    /// `tip` how far the toes reach beyond the ball), around the height `base`. It is moved along the sole where it would
    /// hang over an edge, and then sideways.
    pub fn find(
        &self,
        heel: Vec3,
        ball: Vec3,
        length: f32,
        tip: f32,
        base: f32,
    ) -> Result<Footing, Unplanted> {
        let along = Vec3::new(ball.x - heel.x, 0.0, ball.z - heel.z).normalize_or(Vec3::Z);
        let across = Vec3::new(along.z, 0.0, -along.x);
        let largest = self.settings.largest_shift * self.scale;
        // Steps of 2.5 % of the range: 7 mm for a grown figure and half a stair's tread, finer than an edge is rounded.
        const STEPS: i32 = 20;
        let mut best: Option<Candidate> = None;
        let mut any_ground = false;
        for sideways in [0.0, 0.25, -0.25, 0.5, -0.5] {
            for k in 0..=2 * STEPS {
                // 0, 1, -1, 2, -2, ...: the nearest place of equal worth wins.
                let step = if k % 2 == 1 { (k + 1) / 2 } else { -k / 2 };
                let shift = largest * step as f32 / STEPS as f32;
                let offset = along * shift + across * (sideways * largest);
                // A place that could not beat the best even with perfect support need not be looked at.
                let distance = offset.length() / (EASY_SHIFT * self.leg);
                if best.is_some_and(|b| b.allowed && b.cost <= distance * distance) {
                    continue;
                }
                let Some(mut c) = self.look(heel + offset, along, length, tip, base) else { continue };
                any_ground = true;
                c.cost += distance * distance;
                c.footing.shift = shift;
                if best.is_none_or(|b| (c.allowed, -c.cost) > (b.allowed, -b.cost)) {
                    best = Some(c);
                }
            }
            if best.is_some_and(|b| b.allowed) {
                break;
            }
        }
        match best {
            Some(c) if c.allowed => Ok(c.footing),
            _ if any_ground => Err(Unplanted::Unsupported),
            _ => Err(Unplanted::NoGround),
        }
    }

    /// How well one place serves: lying from the ground under the heel to that under the ball, or along the ground under
    /// the ball alone with the heel in the air where there is no other way.
    fn look(&self, heel: Vec3, along: Vec3, length: f32, tip: f32, base: f32) -> Option<Candidate> {
        let both = self.on_heel_and_ball(heel, along, length, base);
        let ball = self.on_ball(heel, along, length, base);
        let [both, ball] = [both, ball].map(|line| line.map(|l| self.judge(&l, along, length, tip, base)));
        // With the heel in the air it must be in the air.
        let ball = ball.filter(|b| !b.heel_sunk);
        match (both, ball) {
            (Some(a), Some(b)) => Some(if b.allowed && !a.allowed { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    /// The sole as a stick on two supports: where the ball comes down depends on the pitch, which depends on the ground
    /// there. Four rounds settle it to a fraction of a millimetre on any slope that a foot can stand on.
    fn on_heel_and_ball(&self, heel: Vec3, along: Vec3, length: f32, base: f32) -> Option<Line> {
        let (heel_y, _) = self.height(heel, base)?;
        let heel = heel.with_y(heel_y);
        let (mut run, mut ball, mut normal) = (length, heel, Vec3::Y);
        for _ in 0..4 {
            let at = heel + along * run;
            let (y, n) = self.height(at, base)?;
            (ball, normal) = (at.with_y(y), n);
            let rise = (y - heel_y).clamp(-0.99 * length, 0.99 * length);
            run = math::sqrt(length * length - rise * rise);
        }
        // Where the ball falls to and fro over an edge there is no such line. (A thousandth of the sole: what the rounds
        // above leave on smooth ground is far less.)
        (((ball - heel).length() - length).abs() <= 1e-3 * length).then_some(Line { heel, ball, normal })
    }

    /// The sole along the ground under the ball.
    fn on_ball(&self, heel: Vec3, along: Vec3, length: f32, base: f32) -> Option<Line> {
        let (mut run, mut slope, mut ball, mut normal) = (length, 0.0, heel, Vec3::Y);
        for _ in 0..2 {
            let at = heel + along * run;
            let (y, n) = self.height(at, base)?;
            (ball, normal) = (at.with_y(y), n);
            slope = if n.y > 0.05 { -n.dot(along) / n.y } else { 0.0 };
            run = length / math::sqrt(1.0 + slope * slope);
        }
        Some(Line { heel: heel.with_y(ball.y - slope * run), ball, normal })
    }

    fn judge(&self, line: &Line, along: Vec3, length: f32, tip: f32, base: f32) -> Candidate {
        let Line { heel, ball, normal } = *line;
        let run = (ball - heel).with_y(0.0).length();
        let slope = (ball.y - heel.y) / run.max(f32::MIN_POSITIVE);
        // Supported is what has ground within this of the sole: a fourteenth of it from heel to ball (13 mm for a grown
        // figure), what a shoe and a foot give way by.
        let give = 0.07 * length;
        let over = |s: f32| Some(self.height(heel + along * s, base)?.0 - heel.y - slope * s);
        let near = |s: f32| over(s).is_some_and(|o| o.abs() <= give);
        // A margin beyond both ends keeps the points themselves off the edges.
        let margin = 0.012 * self.scale;
        const POINTS: usize = 12;
        let (mut supported, mut pierced) = (0, 0.0f32);
        let reach = run + tip * run / length;
        for i in 0..=POINTS {
            let s = -margin + (reach + 2.0 * margin) * i as f32 / POINTS as f32;
            if let Some(over) = over(s) {
                supported += usize::from(over.abs() <= give);
                // Toes bend up by themselves; what rises more steeply than they bend is in their way.
                pierced = pierced.max(over - TOES_BEND_TAN * (s - run).max(0.0));
            }
        }
        let toe_reach = (reach - run).max(f32::MIN_POSITIVE);
        let toes = over(reach).map_or(0.0, |o| math::atan2(o, toe_reach));
        // Over an edge they stay straight.
        let toes = if toes.abs() <= TOES_BEND { toes } else { 0.0 };
        let firm = near(run - margin) && near(run + margin);
        let heel_firm = near(-margin) && near(margin);
        let support = supported as f32 / (POINTS + 1) as f32;
        let side = Vec3::new(along.z, 0.0, -along.x);
        let roll = self.roll(normal, along, side);
        let steep = slope.abs() > math::tan(self.settings.largest_slope);
        let allowed = firm && support >= self.settings.support && pierced <= 2.0 * give && !steep;
        let cost = 0.5 * (1.0 - support) + if heel_firm { 0.0 } else { 3.0 } + pierced / (0.1 * self.leg);
        // A heel this close to the ground is on it: two millimetres for a grown figure.
        let touch = 0.002 * self.scale;
        let heel_over = over(0.0);
        let heel_supported = heel_over.is_some_and(|o| o.abs() <= touch);
        let heel_sunk = heel_over.is_some_and(|o| o > touch);
        let footing = Footing { heel, ball, roll, toes, shift: 0.0, support, heel_supported };
        Candidate { footing, cost, allowed, heel_sunk }
    }

    /// Sideways tilt of the ground about the sole's axis, held to the largest slope.
    fn roll(&self, normal: Vec3, along: Vec3, side: Vec3) -> f32 {
        let n = normal - along * normal.dot(along);
        // A right-handed turn about `along` carries Y away from `side`: along x Y = -side.
        let limit = self.settings.largest_slope;
        math::atan2(-n.dot(side), n.y).clamp(-limit, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::Plane;

    fn foot() -> FootSample {
        FootSample {
            ankle: Vec3::new(0.0, 0.1, 0.0),
            heel: Vec3::new(0.0, -0.1, -0.05),
            ball: Vec3::new(0.0, -0.1, 0.13),
            tip: Vec3::new(0.0, -0.1, 0.2),
            ..FootSample::default()
        }
    }

    #[test]
    fn a_level_foot_on_a_level_floor_only_moves() {
        let footing = Footing {
            heel: Vec3::new(1.0, 2.0, 3.0),
            ball: Vec3::new(1.0, 2.0, 3.18),
            roll: 0.0,
            toes: 0.0,
            shift: 0.0,
            support: 1.0,
            heel_supported: true,
        };
        let twist = footing.stand(&foot(), 0.0, 0.0);
        assert!(math::angle_between(twist.turn, Quat::IDENTITY) < 1e-5);
        assert!((twist.ankle - Vec3::new(1.0, 2.1, 3.05)).length() < 1e-6);
    }

    #[test]
    fn rolling_over_the_ball_keeps_the_ball_in_place() {
        let footing = Footing {
            heel: Vec3::ZERO,
            ball: Vec3::new(0.0, 0.0, 0.18),
            roll: 0.0,
            toes: 0.0,
            shift: 0.0,
            support: 1.0,
            heel_supported: true,
        };
        for lift in [0.0, 0.02, 0.08, 0.15] {
            let twist = footing.stand(&foot(), lift, 0.0);
            let ball = twist.ankle + math::rotate(twist.turn, foot().ball);
            let heel = twist.ankle + math::rotate(twist.turn, foot().heel);
            assert!((ball - footing.ball).length() < 1e-5, "{ball}");
            assert!((heel.y - lift).abs() < 1e-5, "{heel}");
            let twist = footing.stand(&foot(), 0.0, lift);
            let heel = twist.ankle + math::rotate(twist.turn, foot().heel);
            assert!((heel - footing.heel).length() < 1e-5, "{heel}");
        }
    }

    #[test]
    fn a_roll_to_the_side_follows_the_ground() {
        // Ground that rises towards +X: its normal leans to -X, and walking along +Z the foot's up must lean so too.
        let normal = Vec3::new(-0.3, 1.0, 0.0).normalize();
        let plane = Plane { point: Vec3::ZERO, normal };
        let settings = Settings::default();
        let search = Search { ground: &plane, settings: &settings, leg: 0.9, scale: 1.0 };
        let footing = search.find(Vec3::ZERO, Vec3::new(0.0, 0.0, 0.18), 0.18, 0.07, 0.0).unwrap();
        let up = math::rotate(footing.stand(&foot(), 0.0, 0.0).turn, Vec3::Y);
        assert!(up.x < -0.1, "{up}");
        assert!((footing.ball.z - 0.18).abs() < 1e-4 && footing.ball.y.abs() < 1e-4);
    }

    #[test]
    fn nothing_below_is_no_ground() {
        let plane = Plane::level(-50.0);
        let settings = Settings::default();
        let search = Search { ground: &plane, settings: &settings, leg: 0.9, scale: 1.0 };
        let found = search.find(Vec3::ZERO, Vec3::Z, 0.2, 0.05, 0.0);
        assert_eq!(found, Err(Unplanted::NoGround));
    }
}
