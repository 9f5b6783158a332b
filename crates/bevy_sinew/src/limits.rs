//! Limits of joints.

use bevy_ecs::{component::Component, reflect::ReflectComponent};
use bevy_math::Vec3;
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::joint::{Dof, Joint};

/// How far a bone may turn or slide, from where it is in the bind pose; on the bone. Bones without it turn freely.
///
/// Angles are in radians and right-handed, slides in the units of the bone's parent, and axes in the bone's own space. Solvers keep
/// limits; a pose of the animation that is beyond them is brought no further out.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// use bevy_sinew::IkLimits;
/// use bevy_math::Vec3;
/// # fn system(mut commands: Commands, boom: Entity) {
/// commands.entity(boom).insert(IkLimits::hinge(Vec3::X, -0.4, 1.2).with_speed(0.8));
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Default, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
pub struct IkLimits {
    /// The motion that is allowed.
    pub freedom: IkFreedom,
    /// Greatest speed in radians or units a second, above 0, for [`MechanismIk`](crate::MechanismIk); 0 (the default) for that of
    /// the component.
    pub speed: f32,
}

/// The motion that a joint allows.
#[derive(Clone, Copy, Debug, PartialEq, Default, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub enum IkFreedom {
    /// None: the joint stays as it is.
    #[default]
    Fixed,
    /// A turn about one axis.
    Hinge {
        /// The axis.
        axis: Vec3,
        /// The smallest angle.
        min: f32,
        /// The greatest angle.
        max: f32,
    },
    /// A swing within a cone, and a twist.
    Cone {
        /// The axis of the cone and of the twist: along the bone, for most joints.
        axis: Vec3,
        /// The greatest swing to any side.
        swing: f32,
        /// The greatest twist to either side.
        twist: f32,
    },
    /// A slide along one axis.
    Slider {
        /// The axis.
        axis: Vec3,
        /// The smallest slide.
        min: f32,
        /// The greatest slide.
        max: f32,
    },
}

impl IkLimits {
    /// A joint that does not move.
    pub const FIXED: Self = Self::new(IkFreedom::Fixed);

    /// A joint with this freedom.
    pub const fn new(freedom: IkFreedom) -> Self {
        Self { freedom, speed: 0.0 }
    }

    /// A turn about one axis, from `min` to `max` radians.
    pub const fn hinge(axis: Vec3, min: f32, max: f32) -> Self {
        Self::new(IkFreedom::Hinge { axis, min, max })
    }

    /// A swing within a cone of `swing` radians about an axis, and a twist by up to `twist` to either side.
    pub const fn cone(axis: Vec3, swing: f32, twist: f32) -> Self {
        Self::new(IkFreedom::Cone { axis, swing, twist })
    }

    /// A slide along one axis, from `min` to `max`.
    pub const fn slider(axis: Vec3, min: f32, max: f32) -> Self {
        Self::new(IkFreedom::Slider { axis, min, max })
    }

    /// Sets [`speed`](Self::speed).
    #[must_use]
    pub const fn with_speed(self, speed: f32) -> Self {
        Self { speed, ..self }
    }

    /// The engine's description of the joint.
    pub(crate) fn joint(&self) -> Joint {
        let range = |min: f32, max: f32| Dof::range(min.into(), max.into());
        let joint = match self.freedom {
            IkFreedom::Fixed => Joint::FIXED,
            IkFreedom::Hinge { axis, min, max } => Joint::hinge(axis, range(min, max)),
            IkFreedom::Cone { axis, swing, twist } => Joint::cone(axis, swing.into(), twist.into()),
            IkFreedom::Slider { axis, min, max } => Joint::slider(axis, range(min, max)),
        };
        if self.speed == 0.0 { joint } else { joint.with_speed(self.speed.into()) }
    }
}
