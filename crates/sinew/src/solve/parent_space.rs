//! Chains below parents that are scaled by unequal factors: solved in the space of the root's parent, where the chain itself
//! is not sheared. The space is an affine map of model space, so lines stay lines, and what lies in one plane with root, goal
//! and pole does so in both; lengths and angles, and with them the nearest point of an unreachable goal, are the parent's.

use glam::{Affine3, Mat3, Vec3};

use super::{
    arc::{direction, distance},
    check,
    options::Tolerance,
};
use crate::{ChainError, Goal, JointId, Pole, Pose, Report, SolveError, math};

/// The map from the space of a joint's parent to model space, and back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParentSpace {
    linear: Mat3,
    inverse: Mat3,
    origin: Vec3,
}

/// A chain's root, its tip, and the point of the tip that a goal is for.
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

    /// A point of model space, as the parent sees it.
    pub fn point(&self, what: &'static str, p: Vec3) -> Result<Vec3, SolveError> {
        let p = self.inverse * (p - self.origin);
        check::finite(what, p)?;
        Ok(p)
    }

    /// Model space from this one.
    pub fn model(&self) -> Affine3 {
        Affine3 { matrix3: self.linear, translation: self.origin }
    }

    /// A direction of model space, of another length.
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
        // (A space that mirrors turns the other way round.)
        let swivel = if self.linear.determinant() < 0.0 { -goal.swivel } else { goal.swivel };
        Ok(Goal { position, pole, swivel, ..*goal })
    }

    /// The length in model space of the longest axis.
    fn grown(&self) -> f32 {
        let length = |v: Vec3| math::sqrt(v.length_squared());
        length(self.linear.x_axis).max(length(self.linear.y_axis)).max(length(self.linear.z_axis))
    }

    /// A tolerance that leaves no more in model space.
    pub fn tolerance(&self, tolerance: Tolerance) -> Tolerance {
        match tolerance {
            Tolerance::Metres(metres) => Tolerance::Metres((metres / self.grown()).max(f32::MIN_POSITIVE)),
            share => share,
        }
    }

    /// The report with its distances in model space: `way` leads from the root to the goal, as the parent sees it.
    pub fn report(&self, report: Report, way: Vec3) -> Report {
        let length = |v: Vec3| math::sqrt((self.linear * v).length_squared());
        let grown = self.grown();
        // (A goal on the root lies in no direction.)
        let along = if way == Vec3::ZERO { grown } else { length(direction(way)) };
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
    // (Where nothing is scaled, all frames are rotations.)
    if pose.unscaled(joint) {
        return false;
    }
    let shear = |parent| math::shear(&pose.model(parent).matrix3);
    pose.skeleton().parent(joint).is_some_and(|parent| shear(parent) > check::SIMILAR)
}

/// Runs a solver in the space of the parent of `root`. The pose must be up to date, and is so afterwards.
#[cold]
pub(crate) fn within<R>(
    pose: &mut Pose,
    root: JointId,
    solve: impl FnOnce(&mut Pose, &ParentSpace) -> Result<R, SolveError>,
) -> Result<R, SolveError> {
    let space = ParentSpace::of(pose, root)?;
    pose.seen_from_parent(root, &space.inverse, |pose| solve(pose, &space))
}

/// The same for a chain's goal, which may name no rotation: that is an error, as a sheared frame has none.
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
        let way = goal.position.unwrap_or_default() - pose.local(root).translation;
        Ok(space.report(report, way))
    })?;
    Ok(Report { position_residual: distance(end(pose), asked), ..report })
}
