//! What soles keep off: half-spaces beside the ground, chosen anew for each linearisation.

use alloc::vec::Vec;

use glam::{DVec3, Vec3};

use super::{
    Problem, State,
    constants::{GIVE, LEG, NEAR},
    landing::Landing,
    leg::{ClipLeg, POINTS},
    reference::planned,
};
use crate::ground::plant::{Planted, planner::Planner};

/// Height over a point from which casts start at least, in lengths of the leg: about that of an ankle that is bent.
const OVER: f32 = 0.25;

/// A point of a sole at a sample, or half-way to the next, and the half-spaces beside the ground in which it must stay.
#[derive(Clone, Debug)]
pub struct Spot {
    pub sample: usize,
    pub leg: usize,
    /// Whether the point is that half-way to the next sample.
    pub half: bool,
    /// The point from the ankle in the clip, at this and the next sample.
    pub offset: [DVec3; 2],
    /// Height that it keeps over the ground, in metres.
    keep: f64,
    /// Place for which the half-spaces were found; NaN at first.
    at: DVec3,
    faces: [Face; FACES],
    count: usize,
}

/// Largest number of half-spaces of a point: the ground below, forward and back.
const FACES: usize = 3;

/// A half-space.
#[derive(Clone, Copy, Debug, Default)]
pub struct Face {
    pub normal: DVec3,
    /// Least distance along the normal from the origin.
    pub least: f64,
}

impl Spot {
    pub fn faces(&self) -> &[Face] {
        &self.faces[..self.count]
    }
}

impl Problem<'_> {
    /// All points that must clear the ground.
    pub fn spots(&self) -> Vec<Spot> {
        let mut spots = Vec::new();
        for leg in 0..self.legs.len() {
            for i in 0..self.count() {
                let Some(keep) = self.keep[leg][i] else { continue };
                let next = (i + 1 < self.count()).then(|| self.keep[leg][i + 1]).flatten();
                for point in (0..POINTS).filter(|p| !self.stands(leg, i, *p)) {
                    let here = self.legs[leg][i].point(point);
                    let spot = |half: bool, there: DVec3, keep: f64| Spot {
                        sample: i,
                        leg,
                        half,
                        offset: [here, there],
                        keep,
                        at: DVec3::NAN,
                        faces: [Face::default(); FACES],
                        count: 0,
                    };
                    spots.push(spot(false, here, keep[point]));
                    if let Some(next) = next
                        && !self.stands(leg, i + 1, point)
                    {
                        let there = self.legs[leg][i + 1].point(point);
                        spots.push(spot(true, there, 0.5 * (keep[point] + next[point])));
                    }
                }
            }
        }
        spots
    }

    /// Finds the half-spaces anew of all points that are more than `moved` metres from where they were found last.
    pub fn look(&self, state: &State, moved: f64, spots: &mut [Spot]) {
        for spot in spots {
            let at = self.spot(state, spot);
            // Not so for NaN.
            if (at - spot.at).length() <= moved {
                continue;
            }
            spot.at = at;
            spot.count = 0;
            self.faces(spot);
        }
    }

    /// Place of a point.
    pub fn spot(&self, state: &State, spot: &Spot) -> DVec3 {
        let at = |k: usize| {
            let (i, posed) = (spot.sample + k, self.posed(state, spot.sample + k, spot.leg));
            let hip = self.legs[spot.leg][i].hip + self.hips_at(state, i);
            hip + posed.ankle + posed.turn * spot.offset[k]
        };
        if spot.half { 0.5 * (at(0) + at(1)) } else { at(0) }
    }

    /// Whether the ground under a point is that of a contact, and the point is held there.
    fn stands(&self, leg: usize, i: usize, point: usize) -> bool {
        let [heel, ball] = self.references[leg][i].holds.map(|h| h.is_some());
        match point {
            0 => heel,
            p if p + 2 < POINTS => heel && ball,
            _ => ball,
        }
    }

    /// Finds the half-spaces of a point: all faces of the ground that it could reach, or, in the ground, the nearest.
    fn faces(&self, spot: &mut Spot) {
        let (leg, sample, keep) = (spot.leg, spot.sample, spot.keep);
        // What a point keeps over the ground is added to the ground, its sides included.
        let at = spot.at - DVec3::Y * keep;
        let point = at.as_vec3();
        let search = &self.planner.search;
        // From above the point, also where that is in the ground.
        let base = search.base_near(self.planner.base[sample], point.y + OVER * search.leg);
        let Some((ground, normal)) = search.height(point, base) else { return };
        let over = at.y - f64::from(ground);
        let mut add = |normal: Vec3, on: DVec3| {
            let normal = normal.as_dvec3();
            spot.faces[spot.count] = Face { normal, least: (on + DVec3::Y * keep).dot(normal) };
            spot.count += 1;
        };
        let up = (normal, at.with_y(f64::from(ground)));
        // What is far from the ground does not come to it in a step.
        let near = 0.1 * self.size;
        if over < 0.0 {
            let (normal, on) = self.side(sample, leg, point, base, (-over) as f32).unwrap_or(up);
            add(normal, on);
            return;
        }
        if over < near {
            add(up.0, up.1);
        }
        let way = self.way(sample, leg);
        for out in [way, -way] {
            let hit = search.ground.cast_ray(point, out, near as f32, &search.settings.filter);
            if let Some(hit) = hit.filter(|h| h.normal.y.abs() < 0.5 && h.normal.dot(out) < 0.0) {
                add(hit.normal, hit.point.as_dvec3());
            }
        }
    }

    /// Direction in which a foot may come to the side of a step: that of its own step, or of the sole where it takes none.
    fn way(&self, i: usize, leg: usize) -> Vec3 {
        let sole = || DVec3::Y.cross(self.legs[leg][i].across).normalize_or(DVec3::Z);
        self.references[leg][i].along.unwrap_or_else(sole).as_vec3()
    }

    /// Normal and point of a surface beside a point in the ground that is nearer than `depth` metres, forward or back along
    /// the way.
    fn side(&self, i: usize, leg: usize, at: Vec3, base: f32, depth: f32) -> Option<(Vec3, DVec3)> {
        let way = self.way(i, leg);
        let search = &self.planner.search;
        let mut nearest: Option<(f32, Vec3, Vec3)> = None;
        for out in [way, -way] {
            let from = at + out * depth;
            let free = search.height(from, base).is_none_or(|(y, _)| y < at.y);
            let hit =
                free.then(|| search.ground.cast_ray(from, -out, depth, &search.settings.filter)).flatten();
            if let Some(hit) = hit {
                let inside = depth - hit.distance;
                // A slope is left upwards.
                if hit.normal.y.abs() < 0.5 && nearest.is_none_or(|n| inside < n.0) {
                    nearest = Some((inside, hit.normal, hit.point));
                }
            }
        }
        nearest.map(|(_, normal, point)| (normal, point.as_dvec3()))
    }
}

/// Heights that points of a sole keep over the ground at each sample: the clearance in the middle of a swing, no more than
/// in the clip, and a little below none next to a stance. `None` where the foot has no ground.
pub fn keep(
    planner: &Planner<'_>,
    planted: &[Planted],
    landings: &[Landing],
    legs: &[ClipLeg],
) -> Vec<Option<[f64; POINTS]>> {
    let step = planner.analysis.step;
    let size = f64::from(planner.search.leg) / LEG;
    let clearance = f64::from(planner.search.settings.clearance) * size;
    let floor = f64::from(planner.floor);
    let give = GIVE * size;
    (0..planner.analysis.len())
        .map(|i| {
            let time = i as f32 * step;
            if planner.presence(planted, time) <= 0.0 {
                return None;
            }
            let standing =
                planned(planted).zip(landings).map(|((s, _), l)| (s.time.from - l.lead, s.time.to));
            let away = standing.map(|(from, to)| (from - time).max(time - to)).fold(f32::INFINITY, f32::min);
            let ramp = f64::from((away / NEAR).clamp(0.0, 1.0));
            let leg = &legs[i];
            let ankle = leg.hip + leg.thigh + leg.shank;
            Some(core::array::from_fn(|point| {
                // What drags over the clip's floor, or toes in it, may do so on the ground.
                let own = (ankle + leg.point(point)).y - floor;
                let own = if point == POINTS - 1 { own } else { own.max(-give) };
                (clearance * ramp).min(own) - give * (1.0 - ramp)
            }))
        })
        .collect()
}
