//! Terms of the cost with their derivatives.

use glam::DVec3;

use super::{
    Problem, State,
    clearance::Spot,
    constants::{
        BALL, DEPTH, HEEL, HIPS, HIPS_ACCELERATION, LEG_ACCELERATION, LEG_TURN, RANGE, ROUND, SOLE_TURN,
        STRAIN, WAY,
    },
    leg::{ANGLES, PITCH, PosedLeg, SHANK, THIGH, TILT, YAW},
};
use crate::math64 as math;

impl Problem<'_> {
    /// Calls `sink` with the derivatives, residual and weight of each term, and its cost. `target` is the clip moved with the
    /// ground, `loose` the factor of the tolerances of contact, range and depth.
    pub fn terms(
        &self,
        state: &State,
        target: &[f64],
        spots: &[Spot],
        loose: f64,
        sink: &mut impl FnMut(&[(usize, f64)], f64, f64, f64),
    ) {
        let w = self.width;
        let rate = 1.0 / f64::from(self.planner.analysis.step);
        let rate = rate * rate;
        // The displacement from the moved clip.
        let d = |j: usize| state.x[j] - target[j];
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
            for leg in 0..self.legs.len() {
                self.strays(state, i, leg, sink);
                self.ranges(state, i, leg, loose, sink);
                self.contacts(state, i, leg, loose, sink);
            }
        }
        self.depths(state, spots, loose, sink);
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
        let tolerance = self.stray(i, leg);
        let weight = 1.0 / (tolerance * tolerance);
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let off = off.dot(axis);
            sink(&self.row(i, leg, axis, &by, 1.0), off, weight, 0.5 * weight * off * off);
        }
    }

    /// Tolerance of the distance of a sole from the clip's moved with the ground, in metres.
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

    /// Distances of points in contact from their places, by their absolute values: as squares that are reweighted at the state.
    fn contacts(
        &self,
        state: &State,
        i: usize,
        leg: usize,
        loose: f64,
        sink: &mut impl FnMut(&[(usize, f64)], f64, f64, f64),
    ) {
        let (round, scale) = (ROUND * loose * self.size, loose * self.size);
        let mut held = |axis: DVec3, by: &[DVec3; ANGLES], off: f64, tolerance: f64| {
            let size = math::sqrt(off * off + round * round);
            let tolerance = tolerance * scale;
            let weight = 1.0 / (size * tolerance);
            sink(&self.row(i, leg, axis, by, 1.0), off, weight, (size - round) / tolerance);
        };
        let clip = &self.legs[leg][i];
        let [heel, ball] = self.references[leg][i].holds;
        let along = DVec3::Y.cross(self.posed(state, i, leg).turn * clip.across).normalize_or(DVec3::Z);
        let aside = DVec3::new(along.z, 0.0, -along.x);
        if let Some(hold) = ball {
            let (place, by) = self.place(state, i, leg, clip.sole[1]);
            for axis in [DVec3::Y, aside, along] {
                held(axis, &by, (place - hold).dot(axis), BALL);
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
                held(*axis, &by, (place - hold).dot(*axis), tolerance);
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

    /// Depths of points beyond the half-spaces in which they must stay.
    fn depths(
        &self,
        state: &State,
        spots: &[Spot],
        loose: f64,
        sink: &mut impl FnMut(&[(usize, f64)], f64, f64, f64),
    ) {
        let tolerance = DEPTH * loose * self.size;
        let weight = 1.0 / (tolerance * tolerance);
        // Those far from all ground need no place.
        for spot in spots.iter().filter(|s| !s.faces().is_empty()) {
            let place = self.spot(state, spot);
            let share = if spot.half { 0.5 } else { 1.0 };
            for face in spot.faces() {
                let off = place.dot(face.normal) - face.least;
                if off >= 0.0 {
                    continue;
                }
                let mut row = [(0, 0.0); 2 * (3 + ANGLES)];
                let points = 1 + usize::from(spot.half);
                for (k, row) in row.chunks_exact_mut(3 + ANGLES).take(points).enumerate() {
                    let (_, by) = self.place(state, spot.sample + k, spot.leg, spot.offset[k]);
                    row.copy_from_slice(&self.row(spot.sample + k, spot.leg, face.normal, &by, share));
                }
                sink(&row[..points * (3 + ANGLES)], off, weight, 0.5 * weight * off * off);
            }
        }
    }
}
