//! The placement of a figure in the world.

use glam::{Affine3, Quat, Vec3};

use crate::{AffineError, Goal, Pole, Report, math, transform::SHEAR};

/// The transform of a figure's model space to the world: a rotation, a uniform scale and a translation.
///
/// Solvers work in model space. A placement converts goals, points and grounds from the world to model space, and points
/// and reports back. A negative scale mirrors the figure through its origin; a reflection in a plane is such a mirroring
/// with a half turn. Mirrored rotations follow [`Pose::model_rotation`](crate::Pose::model_rotation): a mirrored frame
/// is read as one with negative uniform scale.
///
/// ```
/// use sinew::{Goal, Placement, glam::{Affine3, Quat, Vec3}};
///
/// let world = Affine3::from_scale_rotation_translation(
///     Vec3::splat(2.0), Quat::from_rotation_y(1.0), Vec3::new(5.0, 0.0, -3.0),
/// );
/// let placement = Placement::new(world)?;
/// let lever = Vec3::new(5.2, 1.4, -2.5); // in world space
/// let goal = placement.goal(Goal::position(lever)); // in model space
/// assert!(placement.to_world(goal.position.unwrap()).distance(lever) < 1e-6);
///
/// // A non-uniform scale is an error.
/// assert!(Placement::new(Affine3::from_scale(Vec3::new(1.0, 2.0, 1.0))).is_err());
/// # Ok::<(), sinew::AffineError>(())
/// ```
#[doc(alias("root transform", "world transform", "actor transform"))]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Affine3", into = "Affine3"))]
pub struct Placement {
    world: Affine3,
    model: Affine3,
    rotation: Quat,
    scale: f32,
}

impl Placement {
    /// The identity: model space equals world space.
    pub const IDENTITY: Self =
        Self { world: Affine3::IDENTITY, model: Affine3::IDENTITY, rotation: Quat::IDENTITY, scale: 1.0 };

    /// A placement from the matrix that takes model space to the world.
    ///
    /// # Errors
    ///
    /// - [`AffineError::NotFinite`] if the matrix or its inverse is not finite.
    /// - [`AffineError::Scale`] if the scale's absolute value is outside 1e-12 to 1e12.
    /// - [`AffineError::Sheared`] if the matrix shears or scales its axes unequally, by a thousandth or more.
    pub fn new(world_from_model: Affine3) -> Result<Self, AffineError> {
        let what = "a placement";
        let (linear, model) = (world_from_model.matrix3, world_from_model.inverse());
        if !world_from_model.is_finite() {
            return Err(AffineError::NotFinite { what, given: world_from_model });
        }
        let (scale, shear) = (math::uniform_scale(&linear), math::shear(&linear));
        // The inverse is computed with the scale's cube, which must fit f32.
        if !(1e-12..=1e12).contains(&scale.abs()) {
            let range = "a scale from 1e-12 to 1e12 (negative where it mirrors)";
            return Err(AffineError::Scale { what, range, scale });
        }
        if shear >= SHEAR {
            return Err(AffineError::Sheared { what, must: "rotate and scale uniformly", shear });
        }
        if !model.is_finite() {
            return Err(AffineError::NotFinite { what, given: model });
        }
        Ok(Self { world: world_from_model, model, rotation: math::rotation_of(&linear), scale })
    }

    /// The matrix that takes model space to world space.
    pub fn world_from_model(&self) -> Affine3 {
        self.world
    }

    /// The matrix that takes world space to model space.
    pub fn model_from_world(&self) -> Affine3 {
        self.model
    }

    /// World metres per metre of model space; negative if the figure is mirrored.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// Converts a point from world to model space.
    pub fn to_model(&self, point: Vec3) -> Vec3 {
        self.model.transform_point3(point)
    }

    /// Converts a point from model to world space.
    pub fn to_world(&self, point: Vec3) -> Vec3 {
        self.world.transform_point3(point)
    }

    /// Rotates a direction from world to model space. Its length is kept.
    pub fn direction_to_model(&self, direction: Vec3) -> Vec3 {
        math::rotate(math::conjugate(self.rotation), direction) * self.scale.signum()
    }

    /// Rotates a direction from model to world space. Its length is kept.
    pub fn direction_to_world(&self, direction: Vec3) -> Vec3 {
        math::rotate(self.rotation, direction) * self.scale.signum()
    }

    /// Converts a joint's rotation from world to model space.
    pub fn rotation_to_model(&self, rotation: Quat) -> Quat {
        math::mul(math::conjugate(self.rotation), rotation)
    }

    /// Converts a joint's rotation from model to world space.
    pub fn rotation_to_world(&self, rotation: Quat) -> Quat {
        math::mul(self.rotation, rotation)
    }

    /// Converts a goal from world to model space. Influences are kept; a mirrored placement negates the swivel angle.
    pub fn goal(&self, goal: Goal) -> Goal {
        Goal {
            position: goal.position.map(|p| self.to_model(p)),
            rotation: goal.rotation.map(|q| self.rotation_to_model(q)),
            pole: match goal.pole {
                Pole::Keep => Pole::Keep,
                Pole::Point(p) => Pole::Point(self.to_model(p)),
                Pole::Direction(d) => Pole::Direction(self.direction_to_model(d)),
            },
            swivel: goal.swivel * self.scale.signum(),
            ..goal
        }
    }

    /// Converts the distances of a report from model to world metres.
    pub fn report(&self, report: Report) -> Report {
        let metres = |value: f32| (value * self.scale.abs()).min(f32::MAX);
        Report {
            out_of_reach: metres(report.out_of_reach),
            position_residual: metres(report.position_residual),
            position_tolerance: metres(report.position_tolerance),
            ..report
        }
    }
}

impl TryFrom<Affine3> for Placement {
    type Error = AffineError;

    fn try_from(world_from_model: Affine3) -> Result<Self, AffineError> {
        Self::new(world_from_model)
    }
}

impl From<Placement> for Affine3 {
    fn from(placement: Placement) -> Self {
        placement.world
    }
}
