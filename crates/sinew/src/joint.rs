//! Joints: what may turn and slide, how far, and how willingly.
//!
//! A [`Joint`] says it in plain data, in f64, for both layers and for URDF. [`Skeleton::set_joint`](crate::Skeleton::set_joint)
//! checks a joint and takes it; joints that were not set turn freely and do not slide, as those of character files do.
//! [`Skeleton::clamp_rotation`](crate::Skeleton::clamp_rotation) takes a rotation to a joint's limits.
//!
//! **Everything is measured from the rest pose.** A joint's local rotation is `rest * own`, with `own` the rotation that
//! the joint makes, and axes are given in the rest frame (the joint's own frame in the rest pose). A slide goes along
//! axes of the rest frame too ([`Joint::slide_axes`]), before the joint turns: its local translation is
//! `rest.translation + rest.rotation * slide_axes * slide`, in the parent's units. Every coordinate is 0 in the rest pose, and right-handed: a positive angle about an axis that
//! points at you turns counter-clockwise.
//!
//! # Which solver honours what
//!
//! A solver that is asked for what it cannot honour refuses at construction ([`UnsupportedAttribute`] names joint, attribute and
//! solver); nothing is passed over in silence.
//!
//! | | two-bone | aim | free chain | follow | look-at | spline | ccd | fabrik | tree | joint space |
//! |---|---|---|---|---|---|---|---|---|---|---|
//! | free | yes | yes | yes | yes | yes | yes | yes | yes | yes | yes |
//! | fixed | between the two that turn | no | no | yes | yes | yes | yes | yes | yes | yes |
//! | hinge, range | between | no | no | yes | yes | yes | yes | yes | yes | yes |
//! | ball, ellipse, twist | between | no | no | yes | yes | yes | yes | yes | yes | yes |
//! | single axes | between | no | no | yes | yes | yes | yes | yes | yes | yes |
//! | slider | between | no | no | no | no | no | yes | no | yes | yes |
//! | ease | between | no | no | no | no | no | yes | no | no | no |
//! | stiffness | between | no | no | no | no | no | yes | no | yes | no |
//! | damping | between | no | no | no | no | no | yes | no | no | no |
//! | spring | between | no | no | no | no | no | no | no | no | no |
//! | precedence | between | no | no | no | no | no | yes | no | no | no |
//! | preferred value | between | no | no | no | no | no | yes | yes | yes | at rest |
//!
//! "Between": the limb holds the joints between its root, its middle and its tip as they come, so that nothing of them is
//! asked. Its tip turns only where a goal names a rotation, and is then refused in the solve, as is what `Aim` cannot
//! honour, which has no skeleton before.

mod attribute;
mod dof;
mod ellipse;
mod euler;
mod limits;
mod span;

pub use attribute::{Attribute, Attributes, UnsupportedAttribute, check_honoured};
pub use dof::{Dof, Range, Spring, eased};
pub use euler::RotationOrder;
pub use limits::{Coordinates, TOLERANCE};
pub(crate) use {
    ellipse::nearest_of_quarter,
    limits::{Contact, Limits},
};

use alloc::string::String;

use glam::{DMat3, DVec3};
use thiserror::Error;

use crate::math64;

/// How a joint turns. Axes are in the rest frame and of any length but zero.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Turning {
    /// Every rotation.
    #[default]
    Free,
    /// Not at all.
    Fixed,
    /// About one axis.
    Hinge {
        /// The axis.
        axis: DVec3,
        /// The angle about it.
        dof: Dof,
    },
    /// A swing of the twist axis, after a twist about it: `own = swing * twist`.
    ///
    /// The swing is a rotation vector across the twist axis (the way over which the axis tips, as an axis times an angle),
    /// with its coordinates along `swing_axis` and along `twist_axis x swing_axis`. The ranges of the two are the
    /// half-axes of four quarters of ellipses, and a swing is allowed inside those: forward further than back, to the side
    /// further than across. In these coordinates every limit is convex, without corners, and without a place (but a half
    /// turn) where angles jump (Baerlocher & Boulic 2001).
    Ball {
        /// The axis of twist: along the bone, for most joints.
        twist_axis: DVec3,
        /// The axis of the first swing; its part across the twist axis counts.
        swing_axis: DVec3,
        /// The two coordinates of swing: both limited (`min < 0 < max`, no further than 3 radians
        /// either way) or neither. Ease is one for both.
        swing: [Dof; 2],
        /// The angle of twist.
        twist: Dof,
    },
    /// About its own axes X, Y and Z, one after the other, each by itself free, limited or (`None`) not at all.
    Axes {
        /// Which is first.
        order: RotationOrder,
        /// The angles about X, Y and Z, in this order whatever `order` is.
        angles: [Option<Dof>; 3],
    },
}

impl Turning {
    /// The degrees of freedom in the order of [`Coordinates`].
    pub(crate) fn coordinates(&self) -> [Option<Dof>; 3] {
        match *self {
            Self::Free | Self::Fixed => [None; 3],
            Self::Hinge { dof, .. } => [Some(dof), None, None],
            Self::Ball { swing: [x, y], twist, .. } => [Some(x), Some(y), Some(twist)],
            Self::Axes { order, angles } => order.axes().map(|i| angles[i]),
        }
    }
}

/// What a joint may do. Plain data, checked by [`Skeleton::set_joint`](crate::Skeleton::set_joint).
///
/// ```
/// use sinew::{glam::Vec3, joint::{Dof, Joint}};
///
/// let ankle = Joint::FIXED;
/// let knee = Joint::hinge(Vec3::X, Dof::range(0.0, 2.5).with_ease(0.2).with_preferred(0.3));
/// // A shoulder whose bone points along X: half-axes of its swing about Y and Z, and its twist.
/// let shoulder = Joint::ball(Vec3::X, Vec3::Y, [(-1.2, 2.0), (-0.6, 1.4)], (-1.0, 1.0));
/// let wrist = Joint::axes([None, Some(Dof::range(-0.5, 0.5)), Some(Dof::range(-1.2, 1.2))]);
/// let piston = Joint::FIXED.with_slide([None, Some(Dof::range(0.0, 0.4)), None]);
/// assert!([ankle, knee, shoulder, wrist, piston].iter().all(|j| j.check().is_ok()));
/// assert!(Joint::hinge(Vec3::ZERO, Dof::FREE).check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Joint {
    /// How it turns.
    pub turning: Turning,
    /// How far it slides along each of [`slide_axes`](Self::slide_axes), in the parent's units (metres where scales are
    /// 1); `None`: not at all.
    pub slide: [Option<Dof>; 3],
    /// The directions of the slides in the rest frame: three unit vectors at right angles,
    /// right-handed. By default X, Y and Z.
    pub slide_axes: DMat3,
}

impl Joint {
    /// Turns freely and does not slide.
    pub const FREE: Self = Self { turning: Turning::Free, slide: [None; 3], slide_axes: DMat3::IDENTITY };
    /// Neither turns nor slides.
    pub const FIXED: Self = Self { turning: Turning::Fixed, ..Self::FREE };

    /// Turns about one axis.
    pub fn hinge(axis: impl Into<DVec3>, dof: Dof) -> Self {
        Turning::Hinge { axis: axis.into(), dof }.into()
    }

    /// Swings within an ellipse and twists within a range: from and to of the swing about `swing_axis`, of the swing
    /// about `twist_axis x swing_axis`, and of the twist, in radians.
    pub fn ball(
        twist_axis: impl Into<DVec3>,
        swing_axis: impl Into<DVec3>,
        swing: [(f64, f64); 2],
        twist: (f64, f64),
    ) -> Self {
        let range = |(min, max)| Dof::range(min, max);
        Turning::Ball {
            twist_axis: twist_axis.into(),
            swing_axis: swing_axis.into(),
            swing: swing.map(range),
            twist: range(twist),
        }
        .into()
    }

    /// Swings within a circular cone of this half angle and twists as far to either side, in radians.
    pub fn cone(twist_axis: impl Into<DVec3>, half_angle: f64, twist: f64) -> Self {
        let axis: DVec3 = twist_axis.into();
        let a = axis.abs();
        // The coordinate axis furthest from it: any axis across serves a circle.
        let across = if a.x <= a.y && a.x <= a.z {
            DVec3::X
        } else if a.y <= a.z {
            DVec3::Y
        } else {
            DVec3::Z
        };
        Self::ball(axis, across, [(-half_angle, half_angle); 2], (-twist, twist))
    }

    /// Turns about X, then Y, then Z, each free, limited or not at all.
    pub fn axes(angles: [Option<Dof>; 3]) -> Self {
        Turning::Axes { order: RotationOrder::Xyz, angles }.into()
    }

    /// Slides along an axis, of any length but zero, and does not turn: a prismatic joint.
    pub fn slider(axis: impl Into<DVec3>, dof: Dof) -> Self {
        Self { slide: [None, None, Some(dof)], slide_axes: frame_along(axis.into()), ..Self::FIXED }
    }

    /// Slides in the plane across an axis, of any length but zero, and turns about it, all without limits.
    pub fn planar(normal: impl Into<DVec3>) -> Self {
        let normal = normal.into();
        let slide = [Some(Dof::FREE), Some(Dof::FREE), None];
        Self { slide, slide_axes: frame_along(normal), ..Self::hinge(normal, Dof::FREE) }
    }

    /// Slides along X, Y and Z and turns about Z, then Y, then X (yaw, pitch, roll), all without limits. At a pitch of a
    /// quarter turn yaw and roll do the same.
    pub fn floating() -> Self {
        let turning = Turning::Axes { order: RotationOrder::Zyx, angles: [Some(Dof::FREE); 3] };
        Self { slide: [Some(Dof::FREE); 3], ..turning.into() }
    }

    /// The same with slides along X, Y and Z of the rest frame.
    pub const fn with_slide(self, slide: [Option<Dof>; 3]) -> Self {
        Self { slide, slide_axes: DMat3::IDENTITY, ..self }
    }

    /// The same with one [`speed`](Dof::speed) for every degree of freedom.
    pub fn with_speed(mut self, speed: f64) -> Self {
        self.each_dof(|dof| dof.speed = speed);
        self
    }

    /// Every degree of freedom: turns in the order of [`Coordinates`], then slides. A free joint's three turns are not
    /// among them, as it has no coordinates to say anything about.
    pub fn dofs(&self) -> impl Iterator<Item = Dof> {
        self.turning.coordinates().into_iter().chain(self.slide).flatten()
    }

    /// Changes every degree of freedom, in the order of [`dofs`](Self::dofs) but slides before turns.
    pub(crate) fn each_dof(&mut self, mut change: impl FnMut(&mut Dof)) {
        self.slide.iter_mut().flatten().for_each(&mut change);
        match &mut self.turning {
            Turning::Free | Turning::Fixed => {}
            Turning::Hinge { dof, .. } => change(dof),
            Turning::Ball { swing: [x, y], twist, .. } => [x, y, twist].into_iter().for_each(change),
            Turning::Axes { order, angles } => order.axes().into_iter().for_each(|n| {
                if let Some(dof) = &mut angles[n] {
                    change(dof);
                }
            }),
        }
    }

    /// Whether every number makes sense; the error says which does not.
    pub fn check(&self) -> Result<(), JointFault> {
        match &self.turning {
            Turning::Free | Turning::Fixed => {}
            Turning::Hinge { axis, dof } => {
                check_axis("the hinge axis", *axis)?;
                check_dof("the hinge's angle", dof)?;
            }
            Turning::Ball { twist_axis, swing_axis, swing, twist } => {
                check_axis("the twist axis", *twist_axis)?;
                check_axis("the swing axis", *swing_axis)?;
                let sine = direction(*twist_axis).cross(direction(*swing_axis)).length();
                // A degree leaves five digits of f32 for the direction across.
                if sine < 0.0175 {
                    return Err(JointFault::Parallel { twist: *twist_axis, swing: *swing_axis });
                }
                let names = ["the first swing", "the second swing"];
                for (what, dof) in names.into_iter().zip(swing) {
                    check_dof(what, dof)?;
                    if dof.range.is_free() {
                        continue;
                    }
                    let Range { min, max } = dof.range;
                    // As f32 too, in which an ellipse is used.
                    for half in [-min, max] {
                        if (half as f32) < f32::MIN_POSITIVE {
                            return Err(JointFault::NoWidth { what, half });
                        }
                        if half > limits::WIDEST {
                            return Err(JointFault::TooWide { what, half });
                        }
                    }
                }
                check_dof("the twist", twist)?;
                let limited = [swing[0], swing[1]].map(|d| !d.range.is_free());
                if limited[0] != limited[1] || (!twist.range.is_free() && !limited[0]) {
                    return Err(JointFault::HalfLimited);
                }
                if swing[0].ease != swing[1].ease {
                    return Err(JointFault::Eases { first: swing[0].ease, second: swing[1].ease });
                }
            }
            Turning::Axes { angles, .. } => {
                check_dofs(["the turn about X", "the turn about Y", "the turn about Z"], angles)?;
            }
        }
        let gram = self.slide_axes.transpose() * self.slide_axes;
        // What comes from f32 is off by less.
        if !gram.abs_diff_eq(DMat3::IDENTITY, 1e-5) || self.slide_axes.determinant() < 0.0 {
            return Err(JointFault::SlideAxes { axes: self.slide_axes });
        }
        check_dofs(["the slide along X", "the slide along Y", "the slide along Z"], &self.slide)
    }
}

impl From<Turning> for Joint {
    fn from(turning: Turning) -> Self {
        Self { turning, ..Self::FREE }
    }
}

/// What is wrong with the numbers of a joint.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum JointFault {
    /// An axis is zero, subnormal, or not finite.
    #[error("{what} has no direction: {axis}")]
    Axis {
        /// Which axis.
        what: &'static str,
        /// Its value.
        axis: DVec3,
    },
    /// The axes of the slides are not unit vectors at right angles, or left-handed.
    #[error("the axes of its slides are not three unit vectors at right angles, right-handed: {axes}")]
    SlideAxes {
        /// The axes, as columns.
        axes: DMat3,
    },
    /// The axes of swing and twist are within a degree of one line.
    #[error("the swing axis {swing} is parallel to the twist axis {twist}")]
    Parallel {
        /// The twist axis.
        twist: DVec3,
        /// The swing axis.
        swing: DVec3,
    },
    /// A range ends before it starts, holds NaN, or lies at infinity.
    #[error(
        "{what} goes from {min} to {max}: its lower limit must not be above its upper one, and neither NaN"
    )]
    Range {
        /// Which degree of freedom.
        what: &'static str,
        /// Where it starts.
        min: f64,
        /// Where it ends.
        max: f64,
    },
    /// An ellipse of swing must go some way to each side of the rest pose.
    #[error("{what} has a half-axis of {half}: an ellipse must have some width to each side")]
    NoWidth {
        /// Which swing.
        what: &'static str,
        /// The half-axis.
        half: f64,
    },
    /// A half-axis of more than 3 radians. At a half turn of swing the twist is undefined, and beyond 3 radians f32 holds
    /// it no better than the 1e-5 that limits are kept to. Swing that goes further is free.
    #[error(
        "{what} has a half-axis of {half}: beyond 3 radians the twist is lost; leave the swing without range"
    )]
    TooWide {
        /// Which swing.
        what: &'static str,
        /// The half-axis.
        half: f64,
    },
    /// One swing of a ball has a range and the other has none, or the twist alone has one (which a free swing undoes).
    #[error("a ball's swings have both a range or neither, and its twist has one only where they do")]
    HalfLimited,
    /// The two swings of a ball share one ellipse and so one ease.
    #[error("a ball's two swings have one ease, not {first} and {second}")]
    Eases {
        /// Of the first swing.
        first: f64,
        /// Of the second swing.
        second: f64,
    },
    /// A number is outside of what it may be.
    #[error("{what} has {attribute} {value}, which must be {range}")]
    OutOfRange {
        /// Which degree of freedom.
        what: &'static str,
        /// Which of its numbers.
        attribute: &'static str,
        /// What is allowed.
        range: &'static str,
        /// Its value.
        value: f64,
    },
}

/// A joint of a skeleton cannot be what it was asked to be.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("joint `{joint}`: {fault}")]
pub struct JointError {
    /// Name of the joint.
    pub joint: String,
    /// What is wrong.
    #[source]
    pub fault: JointFault,
}

fn check_axis(what: &'static str, axis: DVec3) -> Result<(), JointFault> {
    let ok = axis.is_finite() && axis.abs().max_element().is_normal();
    if ok { Ok(()) } else { Err(JointFault::Axis { what, axis }) }
}

/// The unit vector along an axis: scaled first, so that squares of very long or short axes stay in range.
pub(crate) fn direction(axis: DVec3) -> DVec3 {
    let d = axis / axis.abs().max_element();
    d / math64::sqrt(d.length_squared())
}

/// A rotation whose z axis points along a direction. Along a coordinate axis it only exchanges coordinates, exactly.
pub(crate) fn frame_along(axis: DVec3) -> DMat3 {
    // What is no direction makes no frame, and is refused by name.
    if check_axis("", axis).is_err() {
        return DMat3::NAN;
    }
    let z = direction(axis);
    let a = z.abs();
    let e = if a.z >= a.x && a.z >= a.y {
        DVec3::X
    } else if a.x >= a.y {
        DVec3::Y
    } else {
        DVec3::Z
    };
    let x = e - z * e.dot(z);
    let x = x / math64::sqrt(x.length_squared());
    DMat3::from_cols(x, z.cross(x), z)
}

fn check_dofs(what: [&'static str; 3], dofs: &[Option<Dof>; 3]) -> Result<(), JointFault> {
    what.into_iter().zip(dofs).try_for_each(|(what, dof)| dof.as_ref().map_or(Ok(()), |d| check_dof(what, d)))
}

fn check_dof(what: &'static str, dof: &Dof) -> Result<(), JointFault> {
    let number = |attribute, range, value: f64, ok: bool| {
        if ok { Ok(()) } else { Err(JointFault::OutOfRange { what, attribute, range, value }) }
    };
    let Range { min, max } = dof.range;
    // NaN is not at most anything; and a range lies somewhere.
    if !(min <= max && min < f64::INFINITY && max > f64::NEG_INFINITY) {
        return Err(JointFault::Range { what, min, max });
    }
    let (ease_range, most) = match dof.range.is_bounded() {
        true => ("0 to 1", 1.0),
        false => ("0, as its range has no two ends", 0.0),
    };
    number("a speed of", "0 or more", dof.speed, dof.speed >= 0.0)?;
    number("an ease of", ease_range, dof.ease, (0.0..=most).contains(&dof.ease))?;
    number("a stiffness of", "0 to 1", dof.stiffness, (0.0..=1.0).contains(&dof.stiffness))?;
    number("a damping of", "0 or more", dof.damping, (0.0..=f32::MAX as f64).contains(&dof.damping))?;
    if let Some(spring) = dof.spring {
        number("a spring's rest value of", "finite", spring.rest, spring.rest.is_finite())?;
        let ok = spring.strength >= 0.0 && spring.strength.is_finite();
        number("a spring's strength of", "0 or more", spring.strength, ok)?;
    }
    if let Some(preferred) = dof.preferred {
        number("a preferred value of", "finite", preferred, (preferred as f32).is_finite())?;
        let inside = dof.range.contains(preferred);
        number("a preferred value of", "inside its range", preferred, inside)?;
    }
    Ok(())
}
