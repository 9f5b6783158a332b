//! Checks of a solver's input, before anything is changed.

use glam::{Affine3, Quat, Vec3};

use crate::{ChainError, Goal, JointId, Pole, Pose, SolveError, math};

pub(crate) fn finite(what: &'static str, value: Vec3) -> Result<(), SolveError> {
    if value.is_finite() { Ok(()) } else { Err(SolveError::NotFinite { what, value }) }
}

/// Returns an error unless `value` lies in `low..=high`; NaN is an error.
pub(crate) fn within(
    what: &'static str,
    range: &'static str,
    value: f32,
    low: f32,
    high: f32,
) -> Result<(), SolveError> {
    if value >= low && value <= high { Ok(()) } else { Err(SolveError::OutOfRange { what, range, value }) }
}

/// Returns an error unless `value` is above 0 and at most `high`; NaN is an error.
pub(crate) fn above_zero(
    what: &'static str,
    range: &'static str,
    value: f32,
    high: f32,
) -> Result<(), SolveError> {
    // The smallest number above 0.
    within(what, range, value, f32::from_bits(1), high)
}

/// Returns the quaternion at unit length, or an error where its squared length is not near 1.
pub(crate) fn rotation(what: &'static str, q: Quat) -> Result<Quat, SolveError> {
    let value = math::dot(q, q);
    // A squared length near 1 is rounding; one far from 1 is no rotation.
    if value > 0.25 && value < 4.0 {
        Ok(math::normalize(q))
    } else {
        Err(SolveError::OutOfRange { what, range: "a unit quaternion (squared length 1)", value })
    }
}

/// Checks every number of a goal with a position and a rotation. Returns the rotation at unit length.
pub(crate) fn goal(goal: &Goal) -> Result<Option<Quat>, SolveError> {
    finite("the goal's position", goal.position.unwrap_or_default())?;
    match goal.pole {
        Pole::Keep => {}
        Pole::Point(p) => finite("the pole's point", p)?,
        Pole::Direction(d) => finite("the pole's direction", d)?,
    }
    within("the goal's swivel angle", "finite", goal.swivel, f32::MIN, f32::MAX)?;
    within("the goal's position influence", "0 to 1", goal.position_influence, 0.0, 1.0)?;
    within("the goal's rotation influence", "0 to 1", goal.rotation_influence, 0.0, 1.0)?;
    goal.rotation.map(|q| rotation("the goal's rotation", q)).transpose()
}

/// Shear up to which a frame counts as a similarity: f32 products down a hundred joints keep one to 1e-5.
pub(crate) const SIMILAR: f32 = 1e-4;

/// Maximum stretch along one axis that a closed form corrects by repetition; each pass leaves about this share of the error.
/// Clips that squash and stretch a limb along its bone stay well within it.
const STRETCHED: f32 = 0.25;

/// Returns the shear of the frame in which a joint turns: 0 for a rotation with a uniform scale (mirrored or not), see
/// [`math::shear`]. Turning inside a sheared frame changes lengths; above [`STRETCHED`] that is an error.
#[inline]
pub(crate) fn turnable(pose: &Pose, joint: JointId) -> Result<f32, SolveError> {
    let skeleton = pose.skeleton();
    let Some(parent) = skeleton.parent(joint) else { return Ok(0.0) };
    let shear = math::shear(&pose.model(parent).matrix3);
    if shear <= STRETCHED {
        return Ok(shear);
    }
    Err(ChainError::Sheared { joint: skeleton.name(parent).into(), shear }.into())
}

/// Returns an error unless the joint's frame in an updated pose is finite, and the joint and every joint above it have a
/// rotation and no scale of zero. The joint's own scale counts where `scaled`.
#[inline]
pub(crate) fn frame(pose: &Pose, joint: JointId, what: &'static str, scaled: bool) -> Result<(), SolveError> {
    if pose.is_sound(joint) { Ok(()) } else { unsound(pose, joint, what, scaled) }
}

#[cold]
fn unsound(pose: &Pose, joint: JointId, what: &'static str, scaled: bool) -> Result<(), SolveError> {
    pose.check_above(joint, scaled)?;
    finite_frame(what, &pose.model(joint))
}

/// Returns an error with the first of the frame's translation and axes that is not finite.
#[cold]
pub(crate) fn finite_frame(what: &'static str, frame: &Affine3) -> Result<(), SolveError> {
    let axes = frame.matrix3;
    [frame.translation, axes.x_axis, axes.y_axis, axes.z_axis].into_iter().try_for_each(|v| finite(what, v))
}
