//! Joints: degrees of freedom, their limits, and their resistance to motion.
//!
//! A [`Joint`] describes one joint in plain data, in f64, for pose space, joint space and URDF.
//! [`Skeleton::set_joint`](crate::Skeleton::set_joint) checks it and sets it on a skeleton. Joints that were not set
//! turn freely and do not slide, as in character files. [`Skeleton::clamp_rotation`](crate::Skeleton::clamp_rotation)
//! clamps a rotation to a joint's limits.
//!
//! **The rest pose is the zero of every coordinate.** A joint's local rotation is `rest * own`, where `own` is the
//! joint's own rotation. Axes are given in the rest frame: the joint's own frame in the rest pose. Slides follow axes of
//! the rest frame too ([`Joint::slide_axes`]), before the joint turns. The local translation, in the parent's units, is
//! `rest.translation + rest.rotation * slide_axes * slide`. Angles are right-handed: a positive angle about an axis that
//! points at the viewer turns counter-clockwise.
//!
//! # Support by solver
//!
//! A solver rejects an attribute that it does not support at construction: [`UnsupportedAttribute`] names the joint, the
//! attribute and the solver. No attribute is silently ignored.
//!
#![doc = include_str!("joint/support.md")]
//!
//! "Kept": the limb keeps the joints between its root, its middle and its tip as they are in the input pose, so their
//! attributes do not matter; of the joints that it moves it does not honour the attribute. "Some": a limb honours it of some of
//! these joints if made for that ([`TwoBone::within_limits`](crate::solve::TwoBone::within_limits)), and keeps others; an aim
//! honours turns about single axes if only one of them moves. The limb's tip turns only if a goal has a rotation; the solve then
//! reports unsupported attributes. `Aim` is built without a skeleton and also reports them in the solve.
//!
//! Ease and stiffness slow joints. [`Ccd`](crate::solve::Ccd) and [`Auto`](crate::solve::Auto) reduce each step of a joint.
//! [`DampedLeastSquares`](crate::solve::DampedLeastSquares), [`FullBody`](crate::solve::FullBody) and joint space take them
//! as weights of a step of all joints: they decide which joints move, and cost no goal. A degree of freedom of stiffness s
//! has the weight (1 - s)^2. Ease multiplies the weight of a motion towards a limit by the square of its speed; see
//! [`eased`]. In pose space, a ball moves as its stiffest degree of freedom, and in a [`FullBody`](crate::solve::FullBody)
//! every joint does. A stiffness of 1 holds the value, whatever the solver.
//!
//! Preferred values are fresh starts of every solver that honours them. In joint space and for
//! [`DampedLeastSquares`](crate::solve::DampedLeastSquares) they are an objective in the null space of the goals, too: the
//! joints approach them as far as the goals leave them free. A [`FullBody`](crate::solve::FullBody) approaches them by
//! [`posture`](crate::solve::FullBodyOptions::posture). In joint space, the preferred value is the value at rest
//! ([`Dof::rest`]).
//!
//! A [`Rig`](crate::rig) knows the last frame and the time. In its handles `dls` and joint space honour precedence and damping
//! too, and joint space springs.
//!
//! The table is that of [`solve::capabilities`](crate::solve::capabilities) and of joint space
//! ([`mechanism::CAPABILITY`](crate::mechanism::CAPABILITY)).

mod attribute;
mod dof;
mod ellipse;
mod euler;
mod limits;
mod span;

pub use attribute::{Attribute, Attributes, Capability, UnsupportedAttribute, check_honoured};
pub(crate) use dof::ease_weight;
pub use dof::{Dof, Range, Spring, eased};
pub use euler::RotationOrder;
pub use limits::{Coordinates, TOLERANCE};
pub(crate) use {
    ellipse::nearest_of_quarter,
    limits::{Contact, Limits, Pivot, Socket, around, in_f64, turn},
};

use alloc::string::String;

use glam::{DMat3, DVec3};
use thiserror::Error;

use crate::math64;

/// The rotations that a joint allows. Axes are in the rest frame, finite, and of any length but zero.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum Turning {
    /// Every rotation.
    #[default]
    Free,
    /// No rotation: the joint keeps its rest rotation.
    Fixed,
    /// A turn about one axis.
    Hinge {
        /// The axis.
        axis: DVec3,
        /// The angle about the axis, in radians.
        dof: Dof,
    },
    /// A twist about an axis, then a swing of that axis: `own = swing * twist`.
    ///
    /// The swing is a rotation vector perpendicular to the twist axis (the axis of the tilt times its angle, in
    /// radians). Its coordinates are along `swing_axis` and along `twist_axis x swing_axis`. The two ranges end the
    /// half-axes of four quarters of ellipses, which bound the swing: the joint may swing further forward than back, and
    /// further to one side than to the other. In these coordinates every limit is convex and smooth, and angles are
    /// continuous except at a half turn (Baerlocher & Boulic 2001).
    ///
    /// The quarters meet at `centre`, c, by default at rest. The rotation with the swing s is then `own = exp(c) exp(s -
    /// c) twist`, where exp is the rotation of a rotation vector: the joint swings from where it points at c as it would
    /// from rest. The limits stay convex in s; the coordinates of rest stay 0; and a swing about the axis of c keeps its
    /// angle. The ranges count from rest, which may lie outside them.
    Ball {
        /// The axis of twist; along the bone for most joints.
        twist_axis: DVec3,
        /// The axis of the first swing. Only its part perpendicular to the twist axis counts.
        swing_axis: DVec3,
        /// The two coordinates of swing, in radians. Either both are limited, with `min < centre < max` and at most 3
        /// radians to each side of the centre, or neither is. Both must have the same ease.
        swing: [Dof; 2],
        /// The angle of twist, in radians.
        twist: Dof,
        /// The coordinates of swing at which the quarters meet, in radians: at most 3 from rest, and 0 without ranges.
        #[cfg_attr(feature = "serde", serde(default))]
        centre: [f64; 2],
    },
    /// Turns about the joint's own axes X, Y and Z in sequence. Each is free, limited or, if `None`, fixed.
    Axes {
        /// The order of the turns.
        order: RotationOrder,
        /// The angles about X, Y and Z, in radians, listed in this order for every `order`.
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

/// The description of a joint: its turns and slides. Plain data, checked by
/// [`Skeleton::set_joint`](crate::Skeleton::set_joint).
///
/// ```
/// use sinew::{glam::Vec3, joint::{Dof, Joint}};
///
/// let ankle = Joint::FIXED;
/// let knee = Joint::hinge(Vec3::X, Dof::range(0.0, 2.5).with_ease(0.2).with_preferred(0.3));
/// // A shoulder whose bone points along X: half-axes of its swing about Y and Z, and the range of its twist.
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
    /// The rotations that the joint allows.
    pub turning: Turning,
    /// The slides along each of [`slide_axes`](Self::slide_axes), in the parent's units (metres where scales are 1).
    /// `None`: no slide along this axis.
    pub slide: [Option<Dof>; 3],
    /// The directions of the slides in the rest frame: orthonormal, right-handed columns. The default is X, Y and Z.
    pub slide_axes: DMat3,
}

impl Joint {
    /// A joint that turns freely and does not slide.
    pub const FREE: Self = Self { turning: Turning::Free, slide: [None; 3], slide_axes: DMat3::IDENTITY };
    /// A joint that neither turns nor slides.
    pub const FIXED: Self = Self { turning: Turning::Fixed, ..Self::FREE };

    /// A joint that turns about one axis.
    pub fn hinge(axis: impl Into<DVec3>, dof: Dof) -> Self {
        Turning::Hinge { axis: axis.into(), dof }.into()
    }

    /// A joint that swings within an ellipse and twists within a range. `swing` holds the ranges of the swing about
    /// `swing_axis` and about `twist_axis x swing_axis`, each from minimum to maximum in radians; `twist` is the range
    /// of the twist.
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
            centre: [0.0; 2],
        }
        .into()
    }

    /// A joint that swings within a circular cone of `half_angle` and twists by up to `twist` to either side, in radians.
    pub fn cone(twist_axis: impl Into<DVec3>, half_angle: f64, twist: f64) -> Self {
        let axis: DVec3 = twist_axis.into();
        let a = axis.abs();
        // Any perpendicular serves a circle; the coordinate axis furthest from the twist axis is well defined.
        let across = if a.x <= a.y && a.x <= a.z {
            DVec3::X
        } else if a.y <= a.z {
            DVec3::Y
        } else {
            DVec3::Z
        };
        Self::ball(axis, across, [(-half_angle, half_angle); 2], (-twist, twist))
    }

    /// A joint that turns about X, then Y, then Z; each turn is free, limited or, if `None`, fixed.
    pub fn axes(angles: [Option<Dof>; 3]) -> Self {
        Turning::Axes { order: RotationOrder::Xyz, angles }.into()
    }

    /// A prismatic joint: slides along an axis, of any length but zero, and does not turn.
    pub fn slider(axis: impl Into<DVec3>, dof: Dof) -> Self {
        Self { slide: [None, None, Some(dof)], slide_axes: frame_along(axis.into()), ..Self::FIXED }
    }

    /// A joint that slides in the plane perpendicular to `normal` and turns about `normal`, without limits. `normal` has
    /// any length but zero.
    pub fn planar(normal: impl Into<DVec3>) -> Self {
        let normal = normal.into();
        let slide = [Some(Dof::FREE), Some(Dof::FREE), None];
        Self { slide, slide_axes: frame_along(normal), ..Self::hinge(normal, Dof::FREE) }
    }

    /// A joint that slides along X, Y and Z and turns about Z, then Y, then X (yaw, pitch, roll), without limits. At a
    /// pitch of a quarter turn, yaw and roll turn about the same axis.
    pub fn floating() -> Self {
        let turning = Turning::Axes { order: RotationOrder::Zyx, angles: [Some(Dof::FREE); 3] };
        Self { slide: [Some(Dof::FREE); 3], ..turning.into() }
    }

    /// Returns the joint with these slides along X, Y and Z of the rest frame.
    pub const fn with_slide(self, slide: [Option<Dof>; 3]) -> Self {
        Self { slide, slide_axes: DMat3::IDENTITY, ..self }
    }

    /// Returns the joint with this [`speed`](Dof::speed) for every degree of freedom.
    pub fn with_speed(mut self, speed: f64) -> Self {
        self.each_dof(|dof| dof.speed = speed);
        self
    }

    /// Every degree of freedom: turns in the order of [`Coordinates`], then slides. The turns of a free joint are not
    /// included: they have no coordinates of their own.
    pub fn dofs(&self) -> impl Iterator<Item = Dof> {
        self.turning.coordinates().into_iter().chain(self.slide).flatten()
    }

    /// Applies `change` to every degree of freedom: slides first, then turns in the order of [`Coordinates`].
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

    /// Checks every number of the joint; the error names the first one that is invalid.
    pub fn check(&self) -> Result<(), JointFault> {
        match &self.turning {
            Turning::Free | Turning::Fixed => {}
            Turning::Hinge { axis, dof } => {
                check_axis("the hinge axis", *axis)?;
                check_dof("the hinge's angle", dof)?;
            }
            Turning::Ball { twist_axis, swing_axis, swing, twist, centre } => {
                check_axis("the twist axis", *twist_axis)?;
                check_axis("the swing axis", *swing_axis)?;
                let sine = direction(*twist_axis).cross(direction(*swing_axis)).length();
                // At one degree, f32 keeps five digits of the perpendicular direction.
                if sine < 0.0175 {
                    return Err(JointFault::Parallel { twist: *twist_axis, swing: *swing_axis });
                }
                let names = ["the first swing", "the second swing"];
                let far = math64::sqrt(centre[0] * centre[0] + centre[1] * centre[1]);
                for ((what, dof), &centre) in names.into_iter().zip(swing).zip(centre) {
                    check_dof(what, dof)?;
                    let (free, Range { min, max }) = (dof.range.is_free(), dof.range);
                    // A centre at rest is that of ranges without one: their half-axes are at fault.
                    let range = match centre == 0.0 {
                        true => None,
                        false if free => Some("0, as it has no range"),
                        false if !dof.range.contains(centre) => Some("inside its range"),
                        false => {
                            (far > limits::WIDEST).then_some("at most 3 radians from rest, with the other's")
                        }
                    };
                    if let Some(range) = range {
                        return Err(JointFault::OutOfRange {
                            what,
                            attribute: "a centre of",
                            range,
                            value: centre,
                        });
                    }
                    if free {
                        continue;
                    }
                    // Also as f32, since limits use the ellipse in f32.
                    for half in [-(min - centre), max - centre] {
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
        // Axes converted from f32 deviate by less.
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

/// Invalid numbers of a [`Joint`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum JointFault {
    /// An axis is zero, subnormal, or not finite.
    #[error("{what} has no direction: {axis}")]
    Axis {
        /// Name of the axis.
        what: &'static str,
        /// The given axis.
        axis: DVec3,
    },
    /// The axes of the slides are not orthonormal, or are left-handed.
    #[error("the slide axes must be three right-handed unit vectors at right angles, not {axes}")]
    SlideAxes {
        /// The axes, as columns.
        axes: DMat3,
    },
    /// The axes of swing and twist are parallel to within a degree.
    #[error("the swing axis {swing} is parallel to the twist axis {twist}")]
    Parallel {
        /// The twist axis.
        twist: DVec3,
        /// The swing axis.
        swing: DVec3,
    },
    /// A range has `min > max`, holds NaN, or lies at infinity.
    #[error(
        "{what} goes from {min} to {max}: the lower limit must be at most the upper, with a finite value between"
    )]
    Range {
        /// Name of the degree of freedom.
        what: &'static str,
        /// The lower limit.
        min: f64,
        /// The upper limit.
        max: f64,
    },
    /// A half-axis of a swing's ellipse is not above 0.
    #[error("{what} has a half-axis of {half}: it must be above 0")]
    NoWidth {
        /// Name of the swing.
        what: &'static str,
        /// The half-axis.
        half: f64,
    },
    /// A half-axis exceeds 3 radians. The twist is undefined at a half turn of swing; beyond 3 radians, f32 resolves it
    /// no better than the 1e-5 to which limits hold. A swing without a range may go further.
    #[error(
        "{what} has a half-axis of {half}: at most 3 radians are allowed; a wider swing must have no range"
    )]
    TooWide {
        /// Name of the swing.
        what: &'static str,
        /// The half-axis.
        half: f64,
    },
    /// One swing of a ball has a range and the other has none; or only the twist has one, which a free swing would undo.
    #[error("both swings of a ball must have a range or neither; its twist may have one only if they do")]
    HalfLimited,
    /// The two swings of a ball have different eases. They share one ellipse and therefore one ease.
    #[error("the two swings of a ball must have the same ease, not {first} and {second}")]
    Eases {
        /// Ease of the first swing.
        first: f64,
        /// Ease of the second swing.
        second: f64,
    },
    /// A number of a degree of freedom is outside its range.
    #[error("{what} has {attribute} {value}, which must be {range}")]
    OutOfRange {
        /// Name of the degree of freedom.
        what: &'static str,
        /// Name of the number.
        attribute: &'static str,
        /// The allowed range.
        range: &'static str,
        /// The given value.
        value: f64,
    },
}

/// Error of setting a joint with invalid numbers.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("joint `{joint}`: {fault}")]
pub struct JointError {
    /// Name of the joint.
    pub joint: String,
    /// The fault.
    #[source]
    pub fault: JointFault,
}

fn check_axis(what: &'static str, axis: DVec3) -> Result<(), JointFault> {
    let ok = axis.is_finite() && axis.abs().max_element().is_normal();
    if ok { Ok(()) } else { Err(JointFault::Axis { what, axis }) }
}

/// The unit vector along an axis. Scales first, so that the squares of very long or short axes stay in range.
pub(crate) fn direction(axis: DVec3) -> DVec3 {
    let d = axis / axis.abs().max_element();
    d / math64::sqrt(d.length_squared())
}

/// A rotation whose z axis points along `axis`. For a coordinate axis, it permutes coordinates exactly. NaN if `axis`
/// has no direction; the joint's check then rejects it.
pub(crate) fn frame_along(axis: DVec3) -> DMat3 {
    // NaN axes fail the joint's check, which names them.
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
    // The comparisons are false for NaN. The range must contain a finite number.
    if !(min <= max && min < f64::INFINITY && max > f64::NEG_INFINITY) {
        return Err(JointFault::Range { what, min, max });
    }
    let (ease_range, max_ease) = match dof.range.is_bounded() {
        true => ("0 to 1", 1.0),
        false => ("0, as its range has no two ends", 0.0),
    };
    number("a speed of", "0 or more", dof.speed, dof.speed >= 0.0)?;
    number("an ease of", ease_range, dof.ease, (0.0..=max_ease).contains(&dof.ease))?;
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
