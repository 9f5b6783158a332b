//! Terms of the cost with their derivatives.

use alloc::vec::Vec;

use glam::DVec3;

use super::{
    Problem, State,
    clearance::Spot,
    constants::{
        ASIDE, BALL, DEPTH, HEEL, HIPS, HIPS_ACCELERATION, HIPS_EXCESS, LEG_ACCELERATION, LEG_TURN, RANGE,
        ROUND, SOLE_TURN, STRAIN, WAY,
    },
    leg::{ANGLES, PITCH, PosedLeg, SHANK, THIGH, TILT, YAW},
};
use crate::math64 as math;

/// What the terms are measured by.
pub struct Model<'a> {
    /// The clip moved with the ground.
    pub target: &'a [f64],
    pub spots: &'a [Spot],
    pub pulls: &'a [Pull],
    /// Factor of the tolerances of contact, range and depth.
    pub loose: f64,
}

/// A quadratic model of a rounded absolute value around the residual `from`, without its tolerance.
#[derive(Clone, Copy, Debug)]
pub struct Pull {
    from: f64,
    slope: f64,
    curvature: f64,
}

/// Number of pulls of a leg at a sample: three coordinates of heel and ball.
const PULLS: usize = 6;

impl Pull {
    /// The model with the curvature of a reweighted square, which never underestimates the absolute value, times a share.
    /// Where the value is rounded, its own curvature is the least.
    fn new(residual: f64, round: f64, share: f64) -> Self {
        let size = math::sqrt(residual * residual + round * round);
        let own = round * round / (size * size);
        Self { from: residual, slope: residual / size, curvature: own.max(share) / size }
    }
}

impl Problem<'_> {
    /// Calls `sink` with the derivatives, residual and weight of each term, and its cost.
    pub fn terms(
        &self,
        state: &State,
        model: &Model<'_>,
        sink: &mut impl FnMut(&[(usize, f64)], f64, f64, f64),
    ) {
        let w = self.width;
        let rate = 1.0 / f64::from(self.planner.analysis.step);
        let rate = rate * rate;
        // The displacement from the moved clip.
        let d = |j: usize| state.x[j] - model.target[j];
        for i in 0..self.count() {
            for k in 0..w {
                let (acceleration, distance) = self.tolerances(i, k);
                let j = i * w + k;
                let weight = 1.0 / (distance * distance);
                sink(&[(j, 1.0)], d(j), weight, 0.5 * weight * d(j) * d(j));
                if i > 0 && i + 1 < self.count() {
                    let a = (d(j - w) - 2.0 * d(j) + d(j + w)) * rate;
                    let weight = 1.0 / (acceleration * acceleration);
                    let row = [(j - w, rate), (j, -2.0 * rate), (j + w, rate)];
                    sink(&row, a, weight, 0.5 * weight * a * a);
                }
            }
            self.hips_excess(state, i, model.loose, sink);
            for leg in 0..self.legs.len() {
                self.strays(state, i, leg, sink);
                self.ranges(state, i, leg, model.loose, sink);
                self.contacts(state, i, leg, model, sink);
            }
        }
        self.depths(state, model, sink);
    }

    /// Excess of the vertical acceleration of the hips over its range.
    fn hips_excess(
        &self,
        state: &State,
        i: usize,
        loose: f64,
        sink: &mut impl FnMut(&[(usize, f64)], f64, f64, f64),
    ) {
        if i == 0 || i + 1 == self.count() {
            return;
        }
        let step = f64::from(self.planner.analysis.step);
        let rate = 1.0 / (step * step);
        let of = |[a, b, c]: [f64; 3]| (a - 2.0 * b + c) * rate;
        let at = [i - 1, i, i + 1];
        let clip = of(at.map(|i| f64::from(self.planner.analysis.pelvis[i].y)));
        let row = at.map(|i| i * self.width + 1);
        let planted = clip + of(row.map(|j| state.x[j]));
        let most = self.hips_range.max(clip.abs());
        let off = planted - planted.clamp(-most, most);
        if off != 0.0 {
            let tolerance = HIPS_EXCESS * loose * self.size;
            let weight = 1.0 / (tolerance * tolerance);
            let [a, b, c] = row;
            sink(&[(a, rate), (b, -2.0 * rate), (c, rate)], off, weight, 0.5 * weight * off * off);
        }
    }

    /// Distance of the middle of a sole from the clip's, moved with the ground.
    fn strays(
        &self,
        state: &State,
        i: usize,
        leg: usize,
        sink: &mut impl FnMut(&[(usize, f64)], f64, f64, f64),
    ) {
        let clip = &self.legs[leg][i];
        let middle = 0.5 * (clip.sole[0] + clip.sole[1]);
        let (place, by) = self.place(state, i, leg, middle);
        let off = place - (clip.hip + clip.thigh + clip.shank + middle + self.references[leg][i].by);
        let stray = self.stray(i, leg);
        let (along, aside) = match self.references[leg][i].along {
            Some(along) => (along, ASIDE * self.size),
            None => (DVec3::Z, stray),
        };
        for (axis, tolerance) in [(along, stray), (DVec3::Y, stray), (along.cross(DVec3::Y), aside)] {
            let weight = 1.0 / (tolerance * tolerance);
            let off = off.dot(axis);
            sink(&self.row(i, leg, axis, &by, 1.0), off, weight, 0.5 * weight * off * off);
        }
    }

    /// Tolerance of the distance of a sole from the clip's moved with the ground, up and along its step, in metres.
    fn stray(&self, i: usize, leg: usize) -> f64 {
        (WAY[0] * self.size + self.references[leg][i].change).min(WAY[1] * self.size)
    }

    /// Tolerances of acceleration and distance of an unknown of a sample.
    pub fn tolerances(&self, i: usize, k: usize) -> (f64, f64) {
        match k.checked_sub(3).map(|k| (k / ANGLES, k % ANGLES)) {
            None => (HIPS_ACCELERATION * self.size * self.agility[0], HIPS * self.size),
            Some((leg, PITCH | YAW)) => {
                // Heel and ball that both stand turn the sole themselves.
                let held = self.references[leg][i].holds.iter().all(Option::is_some);
                let way = if held { WAY[1] } else { self.stray(i, leg) / self.size };
                (LEG_ACCELERATION * self.agility[1], SOLE_TURN * way)
            }
            Some(_) => (LEG_ACCELERATION * self.agility[1], LEG_TURN),
        }
    }

    fn ranges(
        &self,
        state: &State,
        i: usize,
        leg: usize,
        loose: f64,
        sink: &mut impl FnMut(&[(usize, f64)], f64, f64, f64),
    ) {
        let at = self.at(i, leg);
        let (clip, posed) = (&self.legs[leg][i], self.posed(state, i, leg));
        let allowed = &self.ranges;
        let mut beyond = |row: &[(usize, f64)], value: f64, [low, high]: [f64; 2], tolerance: f64| {
            let off = (value - high).max(0.0) + (value - low).min(0.0);
            if off != 0.0 {
                let weight = 1.0 / (tolerance * tolerance);
                sink(row, off, weight, 0.5 * weight * off * off);
            }
        };
        // Looser by the root, so that legs do not fold through themselves first.
        let range = RANGE * math::sqrt(loose);
        let flexion = clip.flexion + state.x[at + THIGH] - state.x[at + SHANK];
        let row = [(at + THIGH, 1.0), (at + SHANK, -1.0)];
        beyond(&row, flexion, allowed.knee, range);
        let (bend, by) = posed.dorsiflexion(clip.along(), clip.across);
        let row = [0, 1, 2, 3, 4].map(|k| (at + k, by[k]));
        beyond(&row, bend, [f64::NEG_INFINITY, allowed.ankle[1]], range);
        beyond(&row, bend, [f64::NEG_INFINITY, allowed.ankle[0]], STRAIN * loose);
        let (twist, by) = clip.twist(&state.x[at..at + ANGLES]);
        beyond(&[(at + THIGH, by[0]), (at + TILT, by[1])], twist, allowed.hip[2], range);
        let hip = PosedLeg::hip(clip.hips, posed.thigh, &posed.thigh_by);
        for ((value, by), allowed) in hip.into_iter().zip(allowed.hip) {
            let row = [THIGH, SHANK, TILT].map(|k| (at + k, by[k]));
            beyond(&row, value, allowed, range);
        }
    }

    fn contacts(
        &self,
        state: &State,
        i: usize,
        leg: usize,
        model: &Model<'_>,
        sink: &mut impl FnMut(&[(usize, f64)], f64, f64, f64),
    ) {
        let (round, scale) = (ROUND * model.loose * self.size, model.loose * self.size);
        let mut pulls = model.pulls[PULLS * (i * self.legs.len() + leg)..].iter();
        self.offs(state, i, leg, |axis, by, off, tolerance| {
            let Some(pull) = pulls.next() else { return };
            let slope = pull.slope + pull.curvature * (off - pull.from);
            let tolerance = tolerance * scale;
            let cost = (math::sqrt(off * off + round * round) - round) / tolerance;
            sink(&self.row(i, leg, axis, by, 1.0), slope / pull.curvature, pull.curvature / tolerance, cost);
        });
    }

    /// Models of the distances of all contacts.
    pub fn pulls(&self, state: &State, loose: f64, share: f64, pulls: &mut Vec<Pull>) {
        pulls.clear();
        let round = ROUND * loose * self.size;
        for i in 0..self.count() {
            for leg in 0..self.legs.len() {
                self.offs(state, i, leg, |_, _, off, _| pulls.push(Pull::new(off, round, share)));
                pulls.resize(PULLS * (i * self.legs.len() + leg + 1), Pull::new(0.0, round, share));
            }
        }
    }

    /// Calls `sink` for each coordinate in which a point in contact is held, with the axis, the derivatives of the place, the
    /// distance and its tolerance.
    fn offs(
        &self,
        state: &State,
        i: usize,
        leg: usize,
        mut sink: impl FnMut(DVec3, &[DVec3; ANGLES], f64, f64),
    ) {
        let clip = &self.legs[leg][i];
        let [heel, ball] = self.references[leg][i].holds;
        let along = DVec3::Y.cross(self.posed(state, i, leg).turn * clip.across).normalize_or(DVec3::Z);
        let aside = DVec3::new(along.z, 0.0, -along.x);
        if let Some(hold) = ball {
            let (place, by) = self.place(state, i, leg, clip.sole[1]);
            for axis in [DVec3::Y, aside, along] {
                sink(axis, &by, (place - hold).dot(axis), BALL);
            }
        }
        if let Some(hold) = heel {
            let (place, by) = self.place(state, i, leg, clip.sole[0]);
            let (sin, cos) = math::sin_cos(self.references[leg][i].pitch);
            let normal = DVec3::Y * cos - along * sin;
            // The sole has a fixed length: where the ball stands, the heel is free along the ground.
            let (axes, tolerance) = match ball {
                Some(_) => (&[normal, aside][..], HEEL),
                None => (&[DVec3::Y, aside, along][..], BALL),
            };
            for axis in axes {
                sink(*axis, &by, (place - hold).dot(*axis), tolerance);
            }
        }
    }

    /// Derivatives of a point's place along an axis.
    fn row(
        &self,
        i: usize,
        leg: usize,
        axis: DVec3,
        by: &[DVec3; ANGLES],
        share: f64,
    ) -> [(usize, f64); 3 + ANGLES] {
        let (hips, at) = (i * self.width, self.at(i, leg));
        let mut row = [(0, 0.0); 3 + ANGLES];
        for k in 0..3 {
            row[k] = (hips + k, share * axis[k]);
        }
        for k in 0..ANGLES {
            row[3 + k] = (at + k, share * axis.dot(by[k]));
        }
        row
    }

    fn depths(
        &self,
        state: &State,
        model: &Model<'_>,
        sink: &mut impl FnMut(&[(usize, f64)], f64, f64, f64),
    ) {
        let tolerance = DEPTH * model.loose * self.size;
        let weight = 1.0 / (tolerance * tolerance);
        self.deep(state, model.spots, |spot, normal, off| {
            let (i, leg) = (spot.sample, spot.leg);
            let share = if spot.half { 0.5 } else { 1.0 };
            let mut row = [(0, 0.0); 2 * (3 + ANGLES)];
            let (this, next) = row.split_at_mut(3 + ANGLES);
            let (_, by) = self.place(state, i, leg, spot.offset[0]);
            this.copy_from_slice(&self.row(i, leg, normal, &by, share));
            if spot.half {
                let (_, by) = self.place(state, i + 1, leg, spot.offset[1]);
                next.copy_from_slice(&self.row(i + 1, leg, normal, &by, share));
            }
            let row = if spot.half { &row[..] } else { &row[..3 + ANGLES] };
            sink(row, off, weight, 0.5 * weight * off * off);
        });
    }

    /// Cost of all depths. Calls `each` with the samples of each and its cost.
    pub fn depth_costs(
        &self,
        state: &State,
        spots: &[Spot],
        loose: f64,
        mut each: impl FnMut(usize, f64),
    ) -> f64 {
        let tolerance = DEPTH * loose * self.size;
        let mut sum = 0.0;
        self.deep(state, spots, |spot, _, off| {
            let cost = 0.5 * off * off / (tolerance * tolerance);
            sum += cost;
            each(spot.sample, cost);
            if spot.half {
                each(spot.sample + 1, cost);
            }
        });
        sum
    }

    /// Calls `each` for the half-spaces that points have left, with their normals and the (negative) distances from them.
    fn deep(&self, state: &State, spots: &[Spot], mut each: impl FnMut(&Spot, DVec3, f64)) {
        // Those far from all ground need no place.
        for spot in spots.iter().filter(|s| !s.faces().is_empty()) {
            let place = self.spot(state, spot);
            for face in spot.faces() {
                let off = place.dot(face.normal) - face.least;
                if off < 0.0 {
                    each(spot, face.normal, off);
                }
            }
        }
    }
}
