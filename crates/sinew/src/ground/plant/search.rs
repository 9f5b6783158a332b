//! Search for footholds on a ground.

use glam::Vec3;

pub use super::candidate::Landing;
use super::{
    Figure, Foothold, PlantOptions, Unplanted,
    candidate::{Candidate, GIVE, Lies, Stance, lay},
    profile::Profile,
};
use crate::{
    ground::{Filter, Ground, Hit},
    math,
};

/// Finds footholds on a ground.
#[derive(Clone, Copy)]
pub struct FootholdSearch<'a> {
    /// Ground to search.
    pub ground: &'a dyn Ground,
    /// Options of planting.
    pub settings: &'a PlantOptions,
    /// Length of the leg, in metres.
    pub leg: f32,
    /// Height of the figure divided by 1.8 m.
    pub scale: f32,
}

/// Distance of the casts under a sole, as a fraction of its length from heel to ball: 2.2 cm for a figure of 1.8 m. Edges
/// are refined between casts and do not depend on it.
const SPACING: f32 = 0.125;
/// Limit of casts along a sole, for options with a long shift.
const CASTS: f32 = 40.0;

impl<'a> FootholdSearch<'a> {
    /// A search on a ground for a figure's feet.
    pub fn new(figure: &Figure, ground: &'a dyn Ground, settings: &'a PlantOptions) -> Self {
        Self { ground, settings, leg: figure.leg_length(), scale: figure.scale() }
    }
}

impl FootholdSearch<'_> {
    /// Casts a ray at the x and z of `at`, between `cast_above` and `cast_below` around the height `base`. Returns the
    /// height and the normal of the ground, or `None` if there is none.
    pub fn height(&self, at: Vec3, base: f32) -> Option<(f32, Vec3)> {
        self.below(at, base).map(|(y, hit)| (y, hit.normal))
    }

    /// The same with the hit.
    pub(in crate::ground) fn below(&self, at: Vec3, base: f32) -> Option<(f32, Hit)> {
        let above = self.settings.cast_above * self.leg;
        let below = self.settings.cast_below * self.leg;
        let from = Vec3::new(at.x, base + above, at.z);
        let filter = Filter { ..self.settings.filter };
        let hit = self.ground.cast_ray(from, Vec3::NEG_Y, above + below, &filter)?;
        Some((from.y - hit.distance, hit))
    }

    /// Height around which to cast for a foot with its ankle at the height `ankle`: that of the body, or a larger one so
    /// that casts start no lower than the ankle.
    pub(super) fn base_near(&self, base: f32, ankle: f32) -> f32 {
        base.max(ankle - self.settings.cast_above * self.leg)
    }

    /// Height of the highest ground at the x and z of `at`, within a thousand legs of the height `around`, and its hit.
    pub(in crate::ground) fn anywhere(&self, at: Vec3, around: f32) -> Option<(f32, Hit)> {
        let reach = 1000.0 * self.leg;
        let from = Vec3::new(at.x, around + reach, at.z);
        let hit = self.ground.cast_ray(from, Vec3::NEG_Y, 2.0 * reach, &self.settings.filter)?;
        Some((from.y - hit.distance, hit))
    }

    /// Finds a foothold for a sole near `heel` and `ball` (x and z alone count), around the height `base`. `length` is the
    /// distance of heel and ball, `tip` that of ball and toe tip, all in metres.
    ///
    /// Over an edge the foothold is moved along the sole.
    ///
    /// # Errors
    ///
    /// [`Unplanted::NoGround`] if the casts hit no ground, [`Unplanted::Unsupported`] if no position within the largest
    /// shift supports the sole.
    pub fn find(
        &self,
        heel: Vec3,
        ball: Vec3,
        length: f32,
        tip: f32,
        base: f32,
    ) -> Result<Foothold, Unplanted> {
        let sole = Stance { length, tip, ankle: [0.0; 2], leg: self.leg, scale: self.scale };
        let (landing, found) = self.land(heel, ball, sole, base);
        let found = found.ok_or(landing.missing())?;
        Ok(self.settled(&found.foothold, found.lies, length, base))
    }

    /// Casts the ground for a sole with its heel within `slack` metres of `heel` along it.
    pub(super) fn landing(&self, heel: Vec3, ball: Vec3, sole: Stance, slack: f32, base: f32) -> Landing {
        let along = Vec3::new(ball.x - heel.x, 0.0, ball.z - heel.z).normalize_or(Vec3::Z);
        let [from, to] = Landing::range(&sole, self.settings);
        let (ends, casts) = ([from - slack, to + slack], (SPACING * sole.length, CASTS));
        Landing { profile: Profile::cast(self, heel, along, ends, casts, base), sole, middle: heel }
    }

    /// The best position of a sole near `heel`, and the ground that was cast for it.
    pub(super) fn land(
        &self,
        heel: Vec3,
        ball: Vec3,
        sole: Stance,
        base: f32,
    ) -> (Landing, Option<Candidate>) {
        let landing = self.landing(heel, ball, sole, 0.0, base);
        let found = landing.best(heel, self.settings, None);
        (landing, found)
    }

    /// Returns the foothold with a level sole, with heights re-cast at heel, ball and toe tip.
    pub(super) fn level(&self, foothold: &Foothold, tip: f32, base: f32) -> Foothold {
        let flat = foothold.level(tip);
        let line = flat.ball - flat.heel;
        let ahead = flat.ball + line.normalize_or_zero() * tip;
        let points = [flat.heel, flat.ball, ahead];
        let highest = points.iter().filter_map(|p| Some(self.height(*p, base)?.0)).reduce(f32::max);
        // A larger difference means the other side of an edge.
        let near = |y: &f32| (y - flat.ball.y).abs() <= GIVE * line.length();
        let y = highest.filter(near).unwrap_or(flat.ball.y);
        Foothold { heel: flat.heel.with_y(y), ball: flat.ball.with_y(y), ..flat }
    }

    /// Returns the foothold with heights re-cast at heel and ball. A profile is linear between its casts, the ground is not.
    pub(super) fn settled(&self, foothold: &Foothold, lies: Lies, length: f32, base: f32) -> Foothold {
        let recast = || {
            let along = (foothold.ball - foothold.heel).with_y(0.0).normalize_or(Vec3::Z);
            let under = |p: Vec3| self.height(p, base).map(|(y, normal)| (p.with_y(y), normal));
            let (mut heel, mut ball) = (foothold.heel, foothold.ball);
            if lies == Lies::Level {
                heel = under(heel)?.0;
                let rise = |run: f32| Some(under(heel + along * run)?.0.y - heel.y);
                // On ground too uneven for the rounds to converge, x and z stay.
                ball = lay(length, rise).map_or(ball, |(run, _)| heel + along * run);
            }
            let (ball, normal) = under(ball)?;
            if lies == Lies::Ball {
                // The slope stays, as it keeps the heel in the air.
                heel += ball - foothold.ball;
            }
            // A larger difference means the other side of an edge.
            let near = |a: Vec3, b: Vec3| a.distance(b) <= GIVE * length;
            let right = Vec3::new(along.z, 0.0, -along.x);
            let roll = math::atan2(-normal.dot(right), normal.y);
            let roll = roll.clamp(-self.settings.max_slope, self.settings.max_slope);
            let kept = lies != Lies::Edges && near(heel, foothold.heel) && near(ball, foothold.ball);
            kept.then_some(Foothold { heel, ball, roll, ..*foothold })
        };
        recast().unwrap_or(*foothold)
    }
}

// On triangle meshes, which take parry.
#[cfg(all(test, feature = "parry"))]
mod tests {
    use super::*;
    use crate::ground::{
        MeshGround, Plane,
        plant::foothold::foot,
        terrain::{Flight, Stairs},
    };

    #[test]
    fn a_foothold_moves_no_faster_than_the_foot_but_where_it_changes_sides() {
        let stairs = Stairs::new()
            .with_rise(0.12)
            .with_going(0.4)
            .with_lead(0.72)
            .with_flight(Flight::Up)
            .with_steps(6);
        let ground = MeshGround::new(stairs.mesh().unwrap()).unwrap();
        let settings = PlantOptions::default();
        let search = FootholdSearch { ground: &ground, settings: &settings, leg: 0.9, scale: 1.0 };
        let at = |z: f32| {
            let base = 0.12 * ((z - 0.6) / 0.4).clamp(0.0, 6.0);
            search.find(Vec3::Z * z, Vec3::Z * (z + 0.18), 0.18, 0.07, base).unwrap()
        };
        let (mut before, mut leaps) = (at(0.9), 0);
        for i in 1..=1600 {
            let now = at(0.9 + 0.0005 * i as f32);
            let moved = (now.heel - before.heel).length();
            if moved > 0.1 {
                leaps += 1;
            } else {
                // Half a millimetre, and a tenth that closing in leaves.
                assert!(moved < 1.2e-3, "{moved} at {i}: {before:?} {now:?}");
            }
            before = now;
        }
        // Two edges are passed.
        assert_eq!(leaps, 2);
    }

    /// On treads of half a sole no position supports as much as is asked for. Upwards the heel hangs over the tread behind,
    /// downwards the sole lies on edges; the ball is on the ground, and no edge is above the sole.
    #[test]
    fn a_sole_longer_than_the_treads_stands_on_its_ball() {
        let (length, tip) = (0.5, 0.1);
        for (flight, up) in [(Flight::Up, 1.0), (Flight::Down, -1.0)] {
            let stairs = Stairs::new()
                .with_rise(0.17)
                .with_going(0.29)
                .with_lead(0.29)
                .with_steps(20)
                .with_flight(flight);
            let ground = MeshGround::new(stairs.mesh().unwrap()).unwrap();
            let settings = PlantOptions::default();
            let search = FootholdSearch { ground: &ground, settings: &settings, leg: 0.93, scale: 3.0 };
            for i in 0..20 {
                let z = 1.5 + 0.029 * i as f32;
                let base = up * 0.17 * (z / 0.29);
                let found = search.find(Vec3::Z * z, Vec3::Z * (z + length), length, tip, base).unwrap();
                assert!(((found.ball - found.heel).length() - length).abs() < 1e-3, "{found:?}");
                let over = |share: f32| {
                    let at = found.heel.lerp(found.ball, share);
                    at.y - search.height(at, base).unwrap().0
                };
                assert!(over(1.0).abs() < 0.01, "{up}, {i}: the ball is {} m over the ground", over(1.0));
                let deepest = (0..=100).map(|k| over(0.01 * k as f32)).fold(f32::MAX, f32::min);
                assert!(deepest > -0.06 * length, "{up}, {i}: {deepest}");
                assert!(
                    found.support < settings.support && (found.ball.y - found.heel.y) * up >= -1e-3,
                    "{found:?}"
                );
            }
        }
    }

    #[test]
    fn a_roll_to_the_side_follows_the_ground() {
        // Ground that rises towards +X: its normal leans to -X, and walking along +Z the foot's up must lean so too.
        let normal = Vec3::new(-0.3, 1.0, 0.0).normalize();
        let plane = Plane { point: Vec3::ZERO, normal };
        let settings = PlantOptions::default();
        let search = FootholdSearch { ground: &plane, settings: &settings, leg: 0.9, scale: 1.0 };
        let foothold = search.find(Vec3::ZERO, Vec3::new(0.0, 0.0, 0.18), 0.18, 0.07, 0.0).unwrap();
        let up = math::rotate(foothold.stand(&foot(), 0.0, 0.0).turn, Vec3::Y);
        assert!(up.x < -0.1, "{up}");
        assert!((foothold.ball.z - 0.18).abs() < 1e-4 && foothold.ball.y.abs() < 1e-4);
    }

    #[test]
    fn a_tilt_of_the_sole_does_not_take_the_ankle_along() {
        // A hill of 20 degrees down tilts an ankle 0.3 m over its sole by 0.1 m ahead.
        let normal = Vec3::new(0.0, 1.0, 0.36).normalize();
        let plane = Plane { point: Vec3::ZERO, normal };
        let settings = PlantOptions::default();
        let search = FootholdSearch { ground: &plane, settings: &settings, leg: 0.9, scale: 1.0 };
        let along = |ankle: [f32; 2]| {
            let sole = Stance { length: 0.2, tip: 0.07, ankle, leg: 0.9, scale: 1.0 };
            let found = search.land(Vec3::ZERO, Vec3::Z * 0.2, sole, 0.0).1.unwrap().foothold;
            let slope = (found.ball - found.heel).normalize();
            found.heel.z + slope.z * ankle[0] - slope.y * ankle[1] - ankle[0]
        };
        assert!(along([0.1, 0.3]).abs() < 1e-3, "{}", along([0.1, 0.3]));
        assert!(along([0.0; 2]).abs() < 1e-6);
    }

    #[test]
    fn a_foothold_out_of_reach_serves_less_than_an_edge_within_it() {
        // Stairs down whose treads are shorter than the sole, and the floor below them from z = 1 on.
        let stairs = Stairs::new().with_rise(0.17).with_going(0.25).with_lead(0.25).with_steps(4);
        let mesh = stairs.with_flight(Flight::Down).mesh().unwrap();
        let ground = MeshGround::new(mesh).unwrap();
        let settings = PlantOptions::default();
        let search = FootholdSearch { ground: &ground, settings: &settings, leg: 0.93, scale: 2.0 };
        let sole = Stance { length: 0.4, tip: 0.1, ankle: [0.1, 0.2], leg: 0.93, scale: 2.0 };
        let heel = Vec3::Z * 0.75;
        let (landing, floor) = search.land(heel, heel + Vec3::Z * 0.4, sole, -0.5);
        let floor = floor.unwrap().foothold;
        let near = |high: f32| {
            let hip = Vec3::new(0.0, floor.ball.y + 0.2 + high, 0.7);
            landing.best(heel, &settings, Some(hip)).unwrap().foothold
        };
        // The whole sole on the floor, as long as the leg reaches it.
        assert!(floor.heel.z > 0.99 && floor.support > 0.9 && near(0.8) == floor, "{floor:?}");
        let edge = near(1.2);
        assert!(edge.heel.z < 0.95 && edge.heel.y > floor.heel.y + 0.1, "{edge:?}");
    }

    #[test]
    fn nothing_below_is_no_ground() {
        let plane = Plane::level(-50.0);
        let settings = PlantOptions::default();
        let search = FootholdSearch { ground: &plane, settings: &settings, leg: 0.9, scale: 1.0 };
        let found = search.find(Vec3::ZERO, Vec3::Z, 0.2, 0.05, 0.0);
        assert_eq!(found, Err(Unplanted::NoGround));
    }
}
