//! A free chain on bare points.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::bones::{Bones, Task};
use crate::{
    Outcome, Report, SolveError, Workspace, math,
    option_type::option_type,
    solve::{
        arc::distance,
        branch, check,
        options::{Tolerance, check_soft},
    },
};

/// Solver for a free chain of bare points: a rope, tentacle or cable. It moves points and has no rotations. Bones keep
/// the lengths that they had at construction, so that rounding does not accumulate over frames.
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
    /// Axis about which a straight point chain bends, in the space of the points. Only its part perpendicular to the
    /// chain counts. Zero chooses an axis that is always the same for the same point chain.
    pub bend: Vec3,
    lengths: Vec<f32>,
}

option_type! {
    /// Options of [`PointChain`].
    PointChainOptions {
        /// Permitted distance of the last point from its goal; 1e-5 of the length by default. A point chain within the
        /// tolerance does not move.
        position_tolerance, with_position_tolerance: Tolerance = Tolerance::Share(1e-5);
        /// Maximum number of updates of the whole point chain; 64 by default.
        max_iterations, with_max_iterations: u32 = 64;
        /// Distance before full extension over which the chain gradually falls behind the goal, as a share of the
        /// reach, 0 (none, the default) to 1; see [`soften`](super::super::soften).
        soft, with_soft: f32 = 0.0;
    }
}

impl PointChain {
    /// Returns the point chain through two or more points, with the lengths between them. Allocates; solving does not.
    ///
    /// # Errors
    ///
    /// Returns [`SolveError::OutOfRange`] for fewer than two points or a bone length that overflows f32, and an error
    /// for a point that is not finite.
    pub fn new(points: &[Vec3]) -> Result<Self, SolveError> {
        check_count(points.len(), 2)?;
        check_points(points)?;
        let lengths: Vec<f32> = points.windows(2).map(|w| (w[1] - w[0]).length()).collect();
        for &length in &lengths {
            check::within("the length of a bone", "finite", length, 0.0, f32::MAX)?;
        }
        Ok(Self { bend: Vec3::ZERO, lengths })
    }

    /// Lengths of the bones, first to last.
    pub fn lengths(&self) -> &[f32] {
        &self.lengths
    }

    /// Makes room in a workspace, so that the first solve with it does not allocate either.
    pub fn reserve(&self, workspace: &mut Workspace) {
        workspace.scratch::<Bones>().fit(self.lengths.len());
    }

    /// Moves the points so that the last one comes to the goal. The first point stays. To move the root, set it
    /// beforehand: the solver reads only the directions from point to point.
    ///
    /// # Errors
    ///
    /// Returns an error for fewer points than the point chain has, for a point, goal or [`bend`](Self::bend) that is
    /// not finite, and for options outside their ranges.
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
        let ask = Task {
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
                // Maps in f32 keep directions of unit length to about 2e-6 only.
                let way = math::rotate(turn, bones.direction(i));
                at += way * (length / math::sqrt(way.length_squared()));
                points[i + 1] = at;
            }
            let moved = math::sqrt(((at - end) / bones.total()).length_squared());
            // A tip that moves far enough explains a half turn; then no branch change is possible and none is computed.
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
    /// Sets the input direction of each bone of zero length to its final one, so that it counts as not turned.
    #[cold]
    fn fill_gaps(&self, bones: &mut Bones, points: &[Vec3], turn: Quat) {
        for i in (0..self.lengths.len()).filter(|&i| points[i + 1] == points[i]) {
            let way = math::rotate(turn, bones.direction(i));
            bones.set_initial(i, way / math::sqrt(way.length_squared()));
        }
    }
}

fn check_count(count: usize, wanted: usize) -> Result<(), SolveError> {
    if count >= wanted {
        return Ok(());
    }
    let range = "at least 2, and at least as many as at construction";
    Err(SolveError::OutOfRange { what: "the number of points", range, value: count as f32 })
}

fn check_points(points: &[Vec3]) -> Result<(), SolveError> {
    points.iter().try_for_each(|&p| check::finite("a point", p))
}
