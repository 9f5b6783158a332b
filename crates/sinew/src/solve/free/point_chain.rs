//! A free chain on bare points.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::bones::{Ask, Bones};
use crate::{
    Report, SolveError, Status, math,
    solve::{arc::distance, branch, check},
};

/// A free chain of bare points: a rope, a tentacle, a cable. Nothing turns here, points move. Bones keep the lengths that
/// they had when the point chain was made, so that rounding does not add up over the frames.
///
/// ```
/// use sinew::{glam::Vec3, solve::PointChain};
///
/// let mut points: Vec<Vec3> = (0..=20).map(|i| Vec3::new(0.0, 0.1 * i as f32, 0.0)).collect();
/// let mut rope = PointChain::new(&points)?;
/// let report = rope.solve(&mut points, Vec3::new(0.8, 0.5, 0.3))?;
/// assert!(points[20].distance(Vec3::new(0.8, 0.5, 0.3)) < 1e-4);
/// assert!((points[7].distance(points[8]) - 0.1).abs() < 1e-6);
/// # Ok::<(), sinew::SolveError>(())
/// ```
///
/// Drawn by the example `point_chain`:
///
#[doc = include_str!("../../../pictures/point_chain.svg")]
#[derive(Clone, Debug)]
pub struct PointChain {
    /// How near the last point must come to its goal, as a part of the length. A point chain that is this near stays as it is.
    pub tolerance: f32,
    /// Updates of the whole point chain after which it gives up.
    pub max_iterations: u32,
    /// The soft zone at the end of the reach, as a part of the reach, 0 (none) to 1; see [`soften`](super::super::soften).
    pub soft: f32,
    /// The axis about which a straight point chain bends; the part across it counts. Zero: always the same for the same point chain.
    pub bend: Vec3,
    lengths: Vec<f32>,
    bones: Bones,
}

impl PointChain {
    /// The point chain through a row of points, two at least, with the lengths that it has there. This allocates; solving does
    /// not.
    pub fn new(points: &[Vec3]) -> Result<Self, SolveError> {
        check_count(points.len(), 2)?;
        check_points(points)?;
        let lengths: Vec<f32> = points.windows(2).map(|w| (w[1] - w[0]).length()).collect();
        for &length in &lengths {
            check::within("the length of a bone", "finite", length, 0.0, f32::MAX)?;
        }
        let bones = Bones::new(lengths.len());
        Ok(Self { tolerance: 1e-5, max_iterations: 64, soft: 0.0, bend: Vec3::ZERO, lengths, bones })
    }

    /// The lengths of the bones, first to last.
    pub fn lengths(&self) -> &[f32] {
        &self.lengths
    }

    /// Moves the points so that the last of them comes to the goal. The first stays where it is; to give the point chain a new
    /// root, set it beforehand: only the directions from point to point are read.
    pub fn solve(&mut self, points: &mut [Vec3], goal: Vec3) -> Result<Report, SolveError> {
        check_count(points.len(), self.lengths.len() + 1)?;
        check_points(points)?;
        check::finite("the goal's position", goal)?;
        check::finite("the bend axis", self.bend)?;
        check::within("the tolerance", "0 to 1", self.tolerance, 0.0, 1.0)?;
        check::within("the soft zone", "0 to 1", self.soft, 0.0, 1.0)?;
        let root = points[0];
        let end = points[self.lengths.len()];
        let mut report = Report { position_residual: distance(end, goal), ..Report::default() };
        if !self.bones.load_lengths(|i| points[i].extend(0.0), &self.lengths) {
            if report.position_residual > 0.0 {
                report.status = Status::Unreachable { by: report.position_residual };
            }
            return Ok(report);
        }
        let ask = Ask {
            root,
            goal,
            tolerance: self.tolerance,
            uncertain: 1e-7 * (root.abs().max_element() + end.abs().max_element()),
            soft: self.soft,
            stretch: 1.0,
            passes: self.max_iterations,
            bend: self.bend.normalize_or_zero(),
        };
        let found = self.bones.reach(&ask);
        report.iterations = found.passes;
        if found.passes > 0 {
            let (mut at, turn) = (root, math::normalize(found.turn));
            if self.bones.has_gap() {
                self.fill_gaps(points, turn);
            }
            for (i, &length) in self.lengths.iter().enumerate() {
                // Maps in f32 leave directions unit vectors to some 2e-6.
                let way = math::rotate(turn, self.bones.direction(i));
                at += way * (length / math::sqrt(way.length_squared()));
                points[i + 1] = at;
            }
            let moved = math::sqrt(((at - end) / self.bones.total()).length_squared());
            report.branch_changed = branch::changed(self.bones.most_turned(turn), moved, 0.0)
                && branch::changed_by_sine(self.bones.sine(turn), moved, || 0.0);
            report.position_residual = distance(at, goal);
        }
        if found.by > 0.0 {
            report.status = Status::Unreachable { by: found.by };
        } else if found.passes >= self.max_iterations {
            let near = self.tolerance * self.bones.total() + ask.uncertain;
            let missed = (points[self.lengths.len()] - root - found.ahead * found.distance).length();
            if missed > 2.0 * near {
                report.status = Status::OutOfIterations;
            }
        }
        Ok(report)
    }
}

impl PointChain {
    /// Points that coincide have no direction: their bones count as turned by nothing.
    #[cold]
    fn fill_gaps(&mut self, points: &[Vec3], turn: Quat) {
        for i in (0..self.lengths.len()).filter(|&i| points[i + 1] == points[i]) {
            let way = math::rotate(turn, self.bones.direction(i));
            self.bones.set_came(i, way / math::sqrt(way.length_squared()));
        }
    }
}

fn check_count(count: usize, wanted: usize) -> Result<(), SolveError> {
    if count >= wanted {
        return Ok(());
    }
    let range = "as many as the point chain has (2 at least)";
    Err(SolveError::OutOfRange { what: "the number of points", range, value: count as f32 })
}

fn check_points(points: &[Vec3]) -> Result<(), SolveError> {
    points.iter().try_for_each(|&p| check::finite("a point", p))
}
