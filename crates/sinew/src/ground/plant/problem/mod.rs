//! The motion of hips and legs over a whole clip, as one least-squares problem.
//!
//! # Unknowns
//!
//! At each sample the displacement of the hips (x, y, z), and for each leg five angles ([`leg`]): turns of thigh and shank
//! about the knee's axis, a tilt of the leg's plane, and pitch and yaw of the sole. All are differences from the clip, so
//! that 0 is the clip. Angles of bones, unlike places of ankles, keep their meaning where a leg is straight.
//!
//! # Cost
//!
//! Sums over all samples, each residual divided by the tolerance that stands with its constant:
//! - second differences of all unknowns, their distances from the clip moved with the ground ([`reference`]), and those of
//!   soles, which hips that move for one foot else take the other along with. A sole may be as far from the clip's as the
//!   ground changes from stance to stance: where it changes nothing, a foot that leaves a contact returns to the clip's way
//!   at once. Across its step it stays near the clip's: people lift their feet over steps. On lower treads it is
//!   pitched down before it lands ([`landing`]);
//! - distances of heels and balls in contact from their places, by their absolute values: a point is either held, or given
//!   up where a range forbids it;
//! - excesses of joints over their ranges, and of the vertical acceleration of the hips over its range, squared;
//! - depths of soles below the ground, squared, at samples and half-way between them.
//!
//! # Solution
//!
//! Levenberg's and Marquardt's method on the normal equations, whose band is 27 entries wide for two legs: the time grows
//! with the length of the clip, no faster. Tolerances of contact, range and depth start [`constants::LOOSE`] times as large,
//! as stiff ones hardly move from a bad start. Three things let it converge:
//! - The half-spaces beside a point are all faces of the ground that it could reach, or, in the ground, the nearest: depth is
//!   the distance to the nearest face, which is continuous past edges. A step that leads points into ground which the
//!   linearisation did not know is judged by that ground, and taken again with those samples alone held back.
//! - Steps are damped by the tolerances of distances. A share of the whole diagonal would hold back what contacts leave
//!   free, as theirs are a million times as stiff.
//! - Absolute values are reweighted squares, whose curvature never is too small but often a hundred times too large: it is
//!   halved from step to step, down to a share, and whole again where that led too far.

mod banded;
mod clearance;
mod constants;
mod landing;
mod leg;
mod minimise;
mod ranges;
mod reference;
mod result;
mod terms;

use alloc::vec::Vec;

use glam::{DVec3, Vec3};

use super::{FootFrame, Planted, planner::Planner};
use constants::{HIPS_RANGE, LEG, WALK};
pub(super) use constants::{LEAP, ROLL_RATE};
use leg::{ANGLES, ClipLeg, PITCH, POINTS, PosedLeg, YAW};
use ranges::Ranges;
use reference::Reference;

pub(super) use ranges::Own;

/// The solution: displacement of the pelvis at each sample, and the feet.
pub(super) struct Solution {
    pub hips: Vec<Vec3>,
    pub feet: Vec<Vec<FootFrame>>,
}

/// Values of the unknowns, and the legs that they pose, by sample and leg.
#[derive(Clone, Debug, Default)]
struct State {
    x: Vec<f64>,
    posed: Vec<PosedLeg>,
}

struct Problem<'a> {
    planner: &'a Planner<'a>,
    /// Legs of the clip by foot and sample.
    legs: Vec<Vec<ClipLeg>>,
    references: Vec<Vec<Reference>>,
    hips: Vec<DVec3>,
    ranges: Ranges,
    /// Heights that the points of each sole keep over the ground at each sample, in metres; `None` without ground.
    keep: Vec<Vec<Option<[f64; POINTS]>>>,
    /// Unknowns of a sample.
    width: usize,
    /// Length of the leg over [`LEG`].
    size: f64,
    /// Factors of the tolerances of accelerations of hips and legs, for clips that accelerate more than a walk.
    agility: [f64; 2],
    /// Range of the vertical acceleration of the hips, in m/s2. At samples where the clip's is larger, that counts.
    hips_range: f64,
}

/// Solves the motion of all legs. `planted` holds the stances of each.
pub(super) fn solve(planner: &Planner<'_>, planted: &[Vec<Planted>]) -> Solution {
    let problem = Problem::new(planner, planted);
    problem.solution(&problem.minimise(), planted)
}

impl<'a> Problem<'a> {
    fn new(planner: &'a Planner<'a>, planted: &[Vec<Planted>]) -> Self {
        let analysis = planner.analysis;
        let count = analysis.len();
        let landings: Vec<_> =
            (0..planted.len()).map(|foot| landing::landings(planner, planted, foot)).collect();
        let found: Vec<_> = (0..planted.len())
            .map(|foot| reference::references(planner, foot, &planted[foot], &landings[foot]))
            .collect();
        let hips = reference::hips(planner, &found);
        // A foot that never stands follows the hips.
        let change = reference::passed(&planner.base);
        let follow = || hips.iter().map(|by| Reference { by: *by, change, ..Reference::default() }).collect();
        let references: Vec<Vec<Reference>> = found.into_iter().map(|f| f.unwrap_or_else(follow)).collect();
        let legs: Vec<Vec<ClipLeg>> = (0..references.len())
            .map(|foot| {
                let leg = |i: usize| {
                    let leg = ClipLeg::new(planner.figure, analysis, foot, i);
                    let along = DVec3::Y.cross(leg.across).normalize_or(DVec3::Z);
                    ClipLeg { roll: references[foot][i].lean(along), ..leg }
                };
                (0..count).map(leg).collect()
            })
            .collect();
        let size = (f64::from(planner.search.leg) / LEG).max(1e-9);
        let ranges = Ranges::new(&analysis.own);
        let keep = (0..legs.len())
            .map(|foot| clearance::keep(planner, &planted[foot], &landings[foot], &legs[foot]))
            .collect();
        let width = 3 + ANGLES * legs.len();
        let [hips_own, knees_own] = analysis.own.accelerations;
        let agility = [(hips_own / (WALK[0] * size)).max(1.0), (knees_own / WALK[1]).max(1.0)];
        let hips_range = (HIPS_RANGE[0] * size).max(HIPS_RANGE[1] * hips_own);
        Self { planner, legs, references, hips, ranges, keep, width, size, agility, hips_range }
    }

    fn count(&self) -> usize {
        self.hips.len()
    }

    /// Index of the first angle of a leg.
    fn at(&self, sample: usize, leg: usize) -> usize {
        sample * self.width + 3 + ANGLES * leg
    }

    /// The clip moved with the ground.
    fn start(&self) -> Vec<f64> {
        let mut x = alloc::vec![0.0; self.count() * self.width];
        for i in 0..self.count() {
            x[i * self.width..][..3].copy_from_slice(&self.hips[i].to_array());
            for (leg, references) in self.references.iter().enumerate() {
                x[self.at(i, leg) + PITCH] = references[i].pitch;
                x[self.at(i, leg) + YAW] = references[i].yaw;
            }
        }
        x
    }

    /// Poses all legs by the unknowns.
    fn pose(&self, state: &mut State) {
        state.posed.clear();
        for i in 0..self.count() {
            for (leg, samples) in self.legs.iter().enumerate() {
                let at = self.at(i, leg);
                state.posed.push(samples[i].pose(&state.x[at..at + ANGLES]));
            }
        }
    }

    /// Displacement of the hips at a sample.
    fn hips_at(&self, state: &State, i: usize) -> DVec3 {
        DVec3::from_slice(&state.x[i * self.width..i * self.width + 3])
    }

    fn posed<'s>(&self, state: &'s State, i: usize, leg: usize) -> &'s PosedLeg {
        &state.posed[i * self.legs.len() + leg]
    }

    /// Place of a point that a foot carries, in model space, with its derivatives by the leg's angles. `offset` is from the
    /// ankle in the clip.
    fn place(&self, state: &State, i: usize, leg: usize, offset: DVec3) -> (DVec3, [DVec3; ANGLES]) {
        let (place, by) = self.posed(state, i, leg).point(offset);
        (self.legs[leg][i].hip + self.hips_at(state, i) + place, by)
    }
}
