//! Moving platforms on which figures stand: lifts, walkways, ships, turntables.

use glam::{Affine3, Mat3, Quat, Vec3};

use super::{Ground, PlacedGround};
use crate::{AffineError, Placement, math};

/// A moving platform at one time.
///
/// Feet are planted in the frame of the platform that the figure stands on, where planting is the same as on a floor at rest.
/// The game passes the platform's ground and relative placements to
/// [`FootPlanter::step_with`](super::plant::FootPlanter::step_with), or to its parts. A placement of a later time is relative
/// to the platform of that time, so nobody has to predict the platform's motion. The planted pose is in the figure's model
/// space, as ever.
///
/// ```
/// # use sinew::{Placement, Pose, ground::{Ground, Platform, plant::{FootPlanter, FootPlanterError, FootPlanterState}}};
/// # fn frame(
/// #     planter: &FootPlanter, feet: &mut FootPlanterState, world: &dyn Ground, pose: &mut Pose, dt: f32,
/// #     lift: &Platform, on_lift: impl Fn(f32, &mut Pose) -> Placement, steps_onto_it: bool,
/// # ) -> Result<(), FootPlanterError> {
/// if steps_onto_it {
///     feet.change_platform(&Platform::WORLD, lift);
/// }
/// // `on_lift` samples the animation and returns the figure's placement relative to the lift. Where the game knows the
/// // figure's placement in the world, that is `lift.relative(&placement)?`.
/// planter.step_with(feet, &lift.ground(world), pose, dt, on_lift)?;
/// # Ok(())
/// # }
/// ```
#[doc(alias("elevator", "conveyor", "moving ground"))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platform {
    placement: Placement,
    linear: Vec3,
    angular: Vec3,
}

impl Platform {
    /// The world at rest.
    pub const WORLD: Self = Self { placement: Placement::IDENTITY, linear: Vec3::ZERO, angular: Vec3::ZERO };

    /// A platform at rest with its placement in the world, whose scale does not count.
    pub fn new(placement: Placement) -> Self {
        Self { placement: placement.rigid(), ..Self::WORLD }
    }

    /// Sets the velocity of the platform's origin in m/s and the angular velocity in rad/s, both in world space. They count
    /// where a figure changes its platform
    /// ([`FootPlanterState::change_platform`](super::plant::FootPlanterState::change_platform)), or a creature
    /// ([`Walker::change_platform`](super::walk::Walker::change_platform)).
    #[must_use]
    pub fn with_velocity(self, linear: Vec3, angular: Vec3) -> Self {
        Self { linear, angular, ..self }
    }

    /// Placement of the platform in the world, without scale.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Returns the world's ground in the frame of the platform.
    pub fn ground<'a, G: Ground + ?Sized>(&self, world: &'a G) -> PlacedGround<'a, G> {
        self.placement.ground(world)
    }

    /// Returns the placement of a figure relative to the platform, from its placement in the world.
    ///
    /// # Errors
    ///
    /// The numbers are too large for their product to be a placement.
    pub fn relative(&self, figure: &Placement) -> Result<Placement, AffineError> {
        figure.relative_to(&self.placement)
    }

    /// Returns the placement of a figure in the world, from its placement relative to the platform.
    ///
    /// # Errors
    ///
    /// The numbers are too large for their product to be a placement.
    pub fn in_world(&self, figure: &Placement) -> Result<Placement, AffineError> {
        Placement::new(self.placement.world_from_model() * figure.world_from_model())
    }

    /// Velocity at a point of world space, in m/s.
    pub(crate) fn velocity(&self, at: Vec3) -> Vec3 {
        self.linear + self.angular.cross(at - self.placement.to_world(Vec3::ZERO))
    }

    /// Angular velocity in world space, in rad/s.
    pub(crate) fn angular(&self) -> Vec3 {
        self.angular
    }
}

impl Placement {
    /// This placement relative to another.
    pub(crate) fn relative_to(&self, other: &Self) -> Result<Self, AffineError> {
        Self::new(other.model_from_world() * self.world_from_model())
    }

    /// This placement without its scale. Numbers too large for that stay.
    fn rigid(&self) -> Self {
        let world = self.world_from_model();
        if self.scale() == 1.0 {
            return *self;
        }
        let rotation = math::rotation_of(&world.matrix3);
        Self::new(Affine3::from_rotation_translation(rotation, world.translation)).unwrap_or(*self)
    }

    /// The rotation about Y nearest to this placement's, with a translation that takes `fixed` where this placement does.
    pub(crate) fn upright(&self, fixed: Vec3) -> Result<Self, AffineError> {
        let (_, yaw) = math::swing_twist(self.rotation_to_world(Quat::IDENTITY), Vec3::Y);
        let turn = Mat3::from_quat(yaw);
        Self::new(Affine3 { matrix3: turn, translation: self.to_world(fixed) - turn * fixed })
    }
}
