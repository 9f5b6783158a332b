//! Where a figure stands in the world.

use glam::{Affine3, Quat, Vec3};

use crate::{AffineError, Goal, Pole, Report, math, transform::SHEAR};

/// The placement of a figure's model space in the world: a rotation, a uniform scale and a translation.
///
/// Solvers know model space only. A placement takes goals, points and grounds from the world to model space, and poses'
/// points and reports back. The scale may be negative: the figure is then mirrored through its origin, and a reflection in a
/// plane is that with a half turn. A mirrored rotation is read as [`Pose::model_rotation`](crate::Pose::model_rotation) reads
/// it, with all axes turned round.
///
/// ```
/// use sinew::{Goal, Placement, glam::{Affine3, Quat, Vec3}};
///
/// let world = Affine3::from_scale_rotation_translation(
///     Vec3::splat(2.0), Quat::from_rotation_y(1.0), Vec3::new(5.0, 0.0, -3.0),
/// );
/// let placement = Placement::new(world)?;
/// let lever = Vec3::new(5.2, 1.4, -2.5); // in the world
/// let goal = placement.goal(Goal::position(lever)); // for a solver
/// assert!(placement.to_world(goal.position.unwrap()).distance(lever) < 1e-6);
///
/// // A skewed placement is none.
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
    /// Model space is the world.
    pub const IDENTITY: Self =
        Self { world: Affine3::IDENTITY, model: Affine3::IDENTITY, rotation: Quat::IDENTITY, scale: 1.0 };

    /// The placement with this transform to the world from model space.
    pub fn new(world_from_model: Affine3) -> Result<Self, AffineError> {
        let what = "a placement";
        let (linear, model) = (world_from_model.matrix3, world_from_model.inverse());
        if !world_from_model.is_finite() {
            return Err(AffineError::NotFinite { what, given: world_from_model });
        }
        let (scale, shear) = (math::uniform_scale(&linear), math::shear(&linear));
        // (The inverse goes by the scale's cube, which f32 holds in between.)
        if !(1e-12..=1e12).contains(&scale.abs()) {
            let range = "a scale from 1e-12 to 1e12 (negative where it mirrors)";
            return Err(AffineError::Scale { what, range, scale });
        }
        if shear >= SHEAR {
            return Err(AffineError::Sheared { what, must: "turn and scale evenly", shear });
        }
        if !model.is_finite() {
            return Err(AffineError::NotFinite { what, given: model });
        }
        Ok(Self { world: world_from_model, model, rotation: math::rotation_of(&linear), scale })
    }

    /// The transform to the world from model space.
    pub fn world_from_model(&self) -> Affine3 {
        self.world
    }

    /// The transform to model space from the world.
    pub fn model_from_world(&self) -> Affine3 {
        self.model
    }

    /// Metres of the world for a metre of model space; negative where the figure is mirrored.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// A point of the world, in model space.
    pub fn to_model(&self, point: Vec3) -> Vec3 {
        self.model.transform_point3(point)
    }

    /// A point of model space, in the world.
    pub fn to_world(&self, point: Vec3) -> Vec3 {
        self.world.transform_point3(point)
    }

    /// A direction of the world, in model space; its length stays.
    pub fn direction_to_model(&self, direction: Vec3) -> Vec3 {
        math::rotate(math::conjugate(self.rotation), direction) * self.scale.signum()
    }

    /// A direction of model space, in the world; its length stays.
    pub fn direction_to_world(&self, direction: Vec3) -> Vec3 {
        math::rotate(self.rotation, direction) * self.scale.signum()
    }

    /// A rotation of a joint in the world, in model space.
    pub fn rotation_to_model(&self, rotation: Quat) -> Quat {
        math::mul(math::conjugate(self.rotation), rotation)
    }

    /// A rotation of a joint in model space, in the world.
    pub fn rotation_to_world(&self, rotation: Quat) -> Quat {
        math::mul(self.rotation, rotation)
    }

    /// A goal that is given in the world, in model space. Influences stay; a mirrored placement turns the swivel's sense.
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

    /// A report with its distances in metres of the world.
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
