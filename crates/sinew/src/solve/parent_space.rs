//! Solves chains below parents with a non-uniform scale, in the space of the root's parent, where the chain itself is not
//! sheared. That space is an affine map of model space: lines stay lines, and points in one plane with root, goal and pole
//! stay in one plane. Lengths, angles and the nearest point to an unreachable goal are those of the parent's space.

use glam::{Affine3, Mat3, Vec3};

use super::{
    arc::{direction, distance, max},
    check,
    options::Tolerance,
};
use crate::{ChainError, Goal, JointId, Pole, Pose, Report, SolveError, math};

/// The map between the space of a joint's parent and model space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParentSpace {
    linear: Mat3,
    inverse: Mat3,
    origin: Vec3,
}

/// Root and tip of a chain, and the position of its end in the tip's frame.
pub(crate) type Ends = (JointId, JointId, Vec3);

impl ParentSpace {
    fn of(pose: &Pose, root: JointId) -> Result<Self, SolveError> {
        let frame = pose.parent_model(root);
        let (linear, inverse) = (frame.matrix3, frame.matrix3.inverse());
        if inverse.is_finite() {
            return Ok(Self { linear, inverse, origin: frame.translation });
        }
        let skeleton = pose.skeleton();
        let joint = skeleton.name(skeleton.parent(root).unwrap_or(root)).into();
        Err(ChainError::Sheared { joint, shear: math::shear(&linear) }.into())
    }

    /// The point `p` of model space, in the parent's space; an error named `what` where it is not finite.
    pub fn point(&self, what: &'static str, p: Vec3) -> Result<Vec3, SolveError> {
        let p = self.inverse * (p - self.origin);
        check::finite(what, p)?;
        Ok(p)
    }

    /// The map from the parent's space to model space.
    pub fn model(&self) -> Affine3 {
        Affine3 { matrix3: self.linear, translation: self.origin }
    }

    /// The direction `d` of model space, in the parent's space, of any length; an error named `what` where it is not finite.
    pub fn direction(&self, what: &'static str, d: Vec3) -> Result<Vec3, SolveError> {
        let d = self.inverse * d.normalize_or_zero();
        check::finite(what, d)?;
        Ok(d)
    }

    fn goal(&self, goal: &Goal) -> Result<Goal, SolveError> {
        let seen = |p| self.point("the goal's position, seen from the root's parent,", p);
        let position = goal.position.map(seen).transpose()?;
        let pole = match goal.pole {
            Pole::Keep => Pole::Keep,
            Pole::Point(p) => Pole::Point(self.point("the pole's point, seen from the root's parent,", p)?),
            Pole::Direction(d) => {
                Pole::Direction(self.direction("the pole's direction, seen from the root's parent,", d)?)
            }
        };
        // A mirrored space turns the other way round.
        let swivel = if self.linear.determinant() < 0.0 { -goal.swivel } else { goal.swivel };
        Ok(Goal { position, pole, swivel, ..*goal })
    }

    /// Lengths in model space of the parent's shortest and longest axis.
    #[inline(never)]
    fn axes(&self) -> (f32, f32) {
        let Mat3 { x_axis, y_axis, z_axis } = self.linear;
        let (x, y, z) = (x_axis.length_squared(), y_axis.length_squared(), z_axis.length_squared());
        (math::sqrt(-max(max(-x, -y), -z)), math::sqrt(max(max(x, y), z)))
    }

    /// The tolerance in the parent's space that allows no larger residual in model space.
    pub fn tolerance(&self, tolerance: Tolerance) -> Tolerance {
        let (least, most) = self.axes();
        match tolerance {
            Tolerance::Metres(metres) => Tolerance::Metres((metres / most).max(f32::MIN_POSITIVE)),
            // A chain along the shortest axis may miss its goal along the longest.
            Tolerance::Share(share) => Tolerance::Share((share * (least / most)).max(f32::MIN_POSITIVE)),
        }
    }

    /// The report with its distances in model space. `to_goal` is the vector from root to goal, in the parent's space.
    pub fn report(&self, report: Report, to_goal: Vec3) -> Report {
        let length = |v: Vec3| math::sqrt((self.linear * v).length_squared());
        let (_, grown) = self.axes();
        // A goal on the root has no direction.
        let along = if to_goal == Vec3::ZERO { grown } else { length(direction(to_goal)) };
        Report {
            out_of_reach: (report.out_of_reach * along).min(f32::MAX),
            position_tolerance: (report.position_tolerance * grown).min(f32::MAX),
            ..report
        }
    }
}

/// Whether the frame of the joint's parent is sheared, in an updated pose.
#[inline]
pub(crate) fn is_sheared(pose: &Pose, joint: JointId) -> bool {
    // Without scales, all frames are rotations.
    if pose.unscaled(joint) {
        return false;
    }
    let shear = |parent| math::shear(&pose.model(parent).matrix3);
    pose.skeleton().parent(joint).is_some_and(|parent| shear(parent) > check::SIMILAR)
}

/// Runs a solver in the space of the parent of `root`. The pose must be updated before, and is updated after.
#[cold]
pub(crate) fn within<R>(
    pose: &mut Pose,
    root: JointId,
    solve: impl FnOnce(&mut Pose, &ParentSpace) -> Result<R, SolveError>,
) -> Result<R, SolveError> {
    let space = ParentSpace::of(pose, root)?;
    pose.seen_from_parent(root, &space.inverse, |pose| solve(pose, &space))
}

/// Runs a solver for a chain's goal in the space of the parent of `root`. A rotation goal is an error, as a sheared frame
/// has no rotation.
#[cold]
pub(crate) fn solve(
    pose: &mut Pose,
    (root, tip, offset): Ends,
    goal: &Goal,
    solve: impl FnOnce(&mut Pose, &Goal, &ParentSpace) -> Result<Report, SolveError>,
) -> Result<Report, SolveError> {
    if goal.rotation.is_some() {
        check::turnable(pose, root)?;
    }
    let end = |pose: &Pose| pose.model(tip).transform_point3(offset);
    let asked = goal.position.unwrap_or_else(|| end(pose));
    let report = within(pose, root, |pose, space| {
        let goal = space.goal(goal)?;
        let report = solve(pose, &goal, space)?;
        let to_goal = goal.position.unwrap_or_default() - pose.local(root).translation;
        Ok(space.report(report, to_goal))
    })?;
    Ok(Report { position_residual: distance(end(pose), asked), ..report })
}
