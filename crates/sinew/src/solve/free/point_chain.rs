//! A free chain on bare points.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::bones::{Ask, Bones};
use crate::{
    Outcome, Report, SolveError, Workspace, math,
    solve::{
        arc::distance,
        branch, check,
        options::{Tolerance, check_soft, option_type},
    },
};

/// A free chain of bare points: a rope, a tentacle, a cable. Nothing turns here, points move. Bones keep the lengths that
/// they had when the point chain was made, so that rounding does not add up over the frames.
///
/// ```
/// use sinew::{Workspace, glam::Vec3, solve::{PointChain, PointChainOptions}};
///
/// let mut points: Vec<Vec3> = (0..=20).map(|i| Vec3::new(0.0, 0.1 * i as f32, 0.0)).collect();
/// let rope = PointChain::new(&points)?;
/// let (goal, options) = (Vec3::new(0.8, 0.5, 0.3), PointChainOptions::new());
/// let report = rope.solve(&mut Workspace::new(), &mut points, goal, &options)?;
/// assert!(report.reached());
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
    /// The axis about which a straight point chain bends; the part across it counts. Zero: always the same for the same point chain.
    pub bend: Vec3,
    lengths: Vec<f32>,
}

option_type! {
    /// Options of [`PointChain`].
    PointChainOptions {
        /// How near the last point must come to its goal; a hundred-thousandth of the length by default. A point chain that is
        /// this near stays as it is.
        position_tolerance, with_position_tolerance: Tolerance = Tolerance::Share(1e-5);
        /// Updates of the whole point chain after which it gives up; 64 by default.
        max_iterations, with_max_iterations: u32 = 64;
        /// The soft zone at the end of the reach, as a share of the reach, 0 (none, the default) to 1; see
        /// [`soften`](super::super::soften).
        soft, with_soft: f32 = 0.0;
    }
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
        Ok(Self { bend: Vec3::ZERO, lengths })
    }

    /// The lengths of the bones, first to last.
    pub fn lengths(&self) -> &[f32] {
        &self.lengths
    }

    /// Makes room in a workspace, so that the first solve with it allocates nothing either.
    pub fn reserve(&self, workspace: &mut Workspace) {
        workspace.scratch::<Bones>().fit(self.lengths.len());
    }

    /// Moves the points so that the last of them comes to the goal. The first stays where it is; to give the point chain a new
    /// root, set it beforehand: only the directions from point to point are read.
    pub fn solve(
        &self,
        workspace: &mut Workspace,
        points: &mut [Vec3],
        goal: Vec3,
        options: &PointChainOptions,
    ) -> Result<Report, SolveError> {
        check_count(points.len(), self.lengths.len() + 1)?;
        check_points(points)?;
        check::finite("the goal's position", goal)?;
        check::finite("the bend axis", self.bend)?;
        options.position_tolerance.check()?;
        check_soft(options.soft)?;
        self.reserve(workspace);
        let bones = workspace.scratch::<Bones>();
        let root = points[0];
        let end = points[self.lengths.len()];
        let mut report = Report { position_residual: distance(end, goal), ..Report::default() };
        if !bones.load_lengths(|i| points[i].extend(0.0), &self.lengths) {
            report.out_of_reach = report.position_residual;
            return Ok(report);
        }
        let ask = Ask {
            root,
            goal,
            tolerance: options.position_tolerance.share(bones.total()),
            uncertain: 1e-7 * (root.abs().max_element() + end.abs().max_element()),
            soft: options.soft,
            stretch: 1.0,
            passes: options.max_iterations,
            bend: self.bend.normalize_or_zero(),
        };
        let found = bones.reach(&ask);
        report.iterations = found.passes;
        if found.passes > 0 {
            let (mut at, turn) = (root, math::normalize(found.turn));
            if bones.has_gap() {
                self.fill_gaps(bones, points, turn);
            }
            for (i, &length) in self.lengths.iter().enumerate() {
                // Maps in f32 leave directions unit vectors to some 2e-6.
                let way = math::rotate(turn, bones.direction(i));
                at += way * (length / math::sqrt(way.length_squared()));
                points[i + 1] = at;
            }
            let moved = math::sqrt(((at - end) / bones.total()).length_squared());
            // (Past a half turn's worth of way no turn is a change, and none is looked for.)
            report.branch_changed = branch::changed(core::f32::consts::PI, moved, 0.0)
                && branch::changed_by_sine(bones.sine(turn), moved, || 0.0);
            report.position_residual = distance(at, goal);
        }
        report.out_of_reach = found.by;
        let near = ask.tolerance * bones.total() + ask.uncertain;
        report.position_tolerance = 2.0 * near;
        if found.by <= 0.0 && found.passes >= options.max_iterations {
            let missed = (points[self.lengths.len()] - root - found.ahead * found.distance).length();
            if missed > 2.0 * near {
                report.outcome = Outcome::OutOfIterations;
            }
        }
        Ok(report)
    }
}

impl PointChain {
    /// Points that coincide have no direction: their bones count as turned by nothing.
    #[cold]
    fn fill_gaps(&self, bones: &mut Bones, points: &[Vec3], turn: Quat) {
        for i in (0..self.lengths.len()).filter(|&i| points[i + 1] == points[i]) {
            let way = math::rotate(turn, bones.direction(i));
            bones.set_came(i, way / math::sqrt(way.length_squared()));
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
