//! Finds footholds on a ground.

use glam::Vec3;

use super::{
    Foothold, PlantOptions, Unplanted,
    candidate::{Candidate, Judge, Stance},
    profile::Profile,
};
use crate::{
    ground::{Filter, Ground},
    math,
};

/// Finds footholds on a ground.
#[derive(Clone, Copy)]
pub struct FootholdSearch<'a> {
    /// The ground.
    pub ground: &'a dyn Ground,
    /// The settings.
    pub settings: &'a PlantOptions,
    /// Length of the leg in metres.
    pub leg: f32,
    /// Height of the figure in metres over 1.8.
    pub scale: f32,
}

/// How far to the side a place is looked for where there is none along the sole, as shares of the largest shift.
const SIDES: [f32; 5] = [0.0, 0.25, -0.25, 0.5, -0.5];

/// Distance of the casts under a sole, as a share of it from heel to ball: 2.2 cm for a grown figure. Edges between casts
/// are looked for, so that they do not depend on it.
const SPACING: f32 = 0.125;
/// Most casts under a sole and around it: where the largest shift is long.
const CASTS: f32 = 40.0;

/// The ground that a sole may come down on: a profile along it, where it is in the middle or to the side.
#[derive(Clone, Copy, Debug)]
pub struct Landing {
    /// The ground.
    pub profile: Profile,
    /// How far it lies to the side.
    pub aside: f32,
    /// Whether there is any ground, here or to the side.
    pub ground: bool,
    /// The sole that it was looked for.
    pub sole: Stance,
    /// Where its heel would be.
    pub middle: Vec3,
}

impl FootholdSearch<'_> {
    /// The ground below (x, z), between the casts' limits around the height `base`.
    pub fn height(&self, at: Vec3, base: f32) -> Option<(f32, Vec3)> {
        let above = self.settings.cast_above * self.leg;
        let below = self.settings.cast_below * self.leg;
        let from = Vec3::new(at.x, base + above, at.z);
        let filter = Filter { ..self.settings.filter };
        let hit = self.ground.cast_ray(from, Vec3::NEG_Y, above + below, &filter)?;
        Some((from.y - hit.distance, hit.normal))
    }

    /// The height to cast around for a foot whose ankle is at `ankle`: it may be steps above the body or below it, and a
    /// cast begins at the higher of the two.
    pub(super) fn base_near(&self, base: f32, ankle: f32) -> f32 {
        base.max(ankle - self.settings.cast_above * self.leg)
    }

    /// The ground below or above (x, z), within a thousand legs of the height `around`.
    pub(super) fn anywhere(&self, at: Vec3, around: f32) -> Option<f32> {
        let reach = 1000.0 * self.leg;
        let from = Vec3::new(at.x, around + reach, at.z);
        let hit = self.ground.cast_ray(from, Vec3::NEG_Y, 2.0 * reach, &self.settings.filter)?;
        Some(from.y - hit.distance)
    }

    /// A foothold for a sole whose heel and ball would be at `heel` and `ball` (only x and z count; `length` is the sole's,
    /// `tip` how far the toes reach beyond the ball), around the height `base`. It is moved along the sole where it would
    /// hang over an edge, and then sideways.
    pub fn find(
        &self,
        heel: Vec3,
        ball: Vec3,
        length: f32,
        tip: f32,
        base: f32,
    ) -> Result<Foothold, Unplanted> {
        let sole = Stance { length, tip, leg: self.leg, scale: self.scale };
        let (landing, found) = self.land(heel, ball, sole, 0.0, base);
        let found = found.ok_or(landing.missing())?;
        let foothold = landing.foothold(&found, self.settings);
        Ok(self.settled(&foothold, found.on_ball, length, base))
    }

    /// The ground that a sole may come down on with its heel within `slack` metres of `heel` along it, and the best place
    /// for it there.
    pub(super) fn land(
        &self,
        heel: Vec3,
        ball: Vec3,
        sole: Stance,
        slack: f32,
        base: f32,
    ) -> (Landing, Option<Candidate>) {
        let along = Vec3::new(ball.x - heel.x, 0.0, ball.z - heel.z).normalize_or(Vec3::Z);
        let across = Vec3::new(along.z, 0.0, -along.x);
        let [from, to] = Judge::range(&sole, self.settings);
        let line = |aside: f32| {
            let ends = [from - slack, to + slack];
            let profile =
                Profile::cast(self, heel + across * aside, along, ends, (SPACING * sole.length, CASTS), base);
            let ground = profile.found();
            Landing { profile, aside, ground, sole, middle: heel }
        };
        let mut first = line(0.0);
        let found = first.best(heel, self.settings);
        if found.is_some() {
            return (first, found);
        }
        let largest = self.settings.largest_shift * self.scale;
        for side in &SIDES[1..] {
            let landing = line(side * largest);
            let found = landing.best(heel, self.settings);
            if found.is_some() {
                return (landing, found);
            }
            first.ground |= landing.ground;
        }
        (first, None)
    }

    /// A foothold with the heights that casts at its very points find: between the casts of a profile the ground is taken for
    /// straight.
    pub(super) fn settled(&self, foothold: &Foothold, on_ball: bool, length: f32, base: f32) -> Foothold {
        let level = (foothold.ball - foothold.heel).with_y(0.0);
        let along = level.normalize_or(Vec3::Z);
        let heel = foothold.heel;
        let right = Vec3::new(along.z, 0.0, -along.x);
        let under = |p: Vec3| self.height(p, base).map(|(y, normal)| (p.with_y(y), normal));
        let line = if on_ball {
            // The slope stays: the heel was found to be in the air with it.
            under(foothold.ball).map(|(ball, normal)| (heel + (ball - foothold.ball), ball, normal))
        } else {
            // On ground so uneven that the rounds do not settle, the points stay where they are.
            self.on_heel_and_ball(heel, along, length, base).or_else(|| {
                let (ball, normal) = under(foothold.ball)?;
                Some((under(heel)?.0, ball, normal))
            })
        };
        // What differs by more is another place: across an edge, where a millimetre decides.
        let near = 0.07 * length;
        match line {
            Some((heel, ball, normal))
                if (heel - foothold.heel).length() <= near && (ball - foothold.ball).length() <= near =>
            {
                let roll = roll(normal.dot(right), normal.y, self.settings);
                Foothold { heel, ball, roll, ..*foothold }
            }
            _ => *foothold,
        }
    }

    /// The sole as a stick on two supports, as [`Judge`] has it on a profile: heel, ball, and the normal under the ball.
    fn on_heel_and_ball(
        &self,
        heel: Vec3,
        along: Vec3,
        length: f32,
        base: f32,
    ) -> Option<(Vec3, Vec3, Vec3)> {
        let (heel_y, _) = self.height(heel, base)?;
        let heel = heel.with_y(heel_y);
        let (mut run, mut ball, mut normal) = (length, heel, Vec3::Y);
        for _ in 0..4 {
            let at = heel + along * run;
            let (y, n) = self.height(at, base)?;
            (ball, normal) = (at.with_y(y), n);
            let rise = (y - heel_y).clamp(-0.99 * length, 0.99 * length);
            let next = math::sqrt(length * length - rise * rise);
            if next == run {
                break;
            }
            run = next;
        }
        (((ball - heel).length() - length).abs() <= 1e-3 * length).then_some((heel, ball, normal))
    }
}

impl Landing {
    fn judge<'a>(&'a self, settings: &'a PlantOptions) -> Judge<'a> {
        Judge { profile: &self.profile, sole: self.sole, settings }
    }

    /// The best place for a sole whose heel would be at `heel`.
    pub fn best(&self, heel: Vec3, settings: &PlantOptions) -> Option<Candidate> {
        self.judge(settings).best(self.profile.way(heel), self.aside)
    }

    /// Whether it was cast for a heel within `slack` metres of here and along this way.
    pub fn serves(&self, heel: Vec3, along: Vec3, slack: f32) -> bool {
        // Fifteen degrees: the tip of the toes is then astray by a third of a foot's width.
        const SAME_WAY: f32 = 0.966;
        let off = (heel - self.middle).with_y(0.0);
        off.length() <= slack && self.profile.along().dot(along) >= SAME_WAY
    }

    /// The way from the line on which a heel here would be, seen from above.
    pub fn beside(&self, heel: Vec3) -> Vec3 {
        let off = (heel - self.middle).with_y(0.0);
        off - self.profile.along() * off.dot(self.profile.along())
    }

    /// Why there is no place.
    pub fn missing(&self) -> Unplanted {
        if self.ground { Unplanted::Unsupported } else { Unplanted::NoGround }
    }

    /// A place as a foothold.
    pub fn foothold(&self, found: &Candidate, settings: &PlantOptions) -> Foothold {
        let at = |(s, y): (f32, f32)| self.profile.point(s).with_y(y);
        Foothold {
            heel: at(found.heel),
            ball: at(found.ball),
            roll: roll(found.lean, 1.0, settings),
            toes: found.toes,
            shift: found.shift,
            support: found.support,
            heel_supported: found.heel_supported,
        }
    }
}

/// Sideways tilt of the ground about the sole's axis, held to the largest slope. `right` and `up` are parts of its normal.
fn roll(right: f32, up: f32, settings: &PlantOptions) -> f32 {
    // A right-handed turn about the heading carries Y away from the right: along x Y = -right.
    let limit = settings.largest_slope;
    math::atan2(-right, up).clamp(-limit, limit)
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
    fn nothing_below_is_no_ground() {
        let plane = Plane::level(-50.0);
        let settings = PlantOptions::default();
        let search = FootholdSearch { ground: &plane, settings: &settings, leg: 0.9, scale: 1.0 };
        let found = search.find(Vec3::ZERO, Vec3::Z, 0.2, 0.05, 0.0);
        assert_eq!(found, Err(Unplanted::NoGround));
    }
}
