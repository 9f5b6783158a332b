//! How a joint of a mechanism moves, and the degrees of freedom that makes.

use alloc::vec::Vec;

use glam::{DMat3, DVec3};

use super::dof::{Kind, Part};
use crate::math64;

/// How a joint moves. Axes are in the joint's own frame (after its translation and rotation) and of any length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// Not at all.
    Fixed,
    /// It turns about an axis (right-handed), within limits in radians; infinite ones make it continuous.
    Turn {
        /// The axis.
        axis: DVec3,
        /// The least angle.
        lower: f64,
        /// The greatest.
        upper: f64,
    },
    /// It slides along an axis, within limits in metres.
    Slide {
        /// The axis.
        axis: DVec3,
        /// The least way.
        lower: f64,
        /// The greatest.
        upper: f64,
    },
    /// It slides and turns in a plane: two sliders `NAME.x` and `NAME.y` and a turn `NAME.turn`, all without limits.
    Planar {
        /// Stands on the plane.
        normal: DVec3,
    },
    /// It is free: sliders `NAME.x`, `NAME.y`, `NAME.z`, then turns `NAME.yaw` (z), `NAME.pitch` (y), `NAME.roll` (x).
    /// At a pitch of a quarter turn yaw and roll do the same.
    Floating,
    /// A ball in its socket: it swings within an ellipse and twists within a range, `own = swing * twist`. Three degrees of
    /// freedom: the swings `NAME.swing1` and `NAME.swing2`, a rotation vector across the twist axis with its coordinates
    /// along the swing axis and along `twist_axis x swing_axis`, and `NAME.twist`. The ends of the swings are the
    /// half-axes of four quarters of ellipses. See [`Turning::Ball`](crate::joint::Turning::Ball).
    Ball {
        /// What it twists about: along the bone, for most.
        twist_axis: DVec3,
        /// The axis of the first swing; its part across the twist axis counts.
        swing_axis: DVec3,
        /// Least and greatest value of the two swings: below and above 0, no further than 3 radians.
        swing: [(f64, f64); 2],
        /// Least and greatest twist; infinite ones leave it free.
        twist: (f64, f64),
    },
    /// It turns freely: the three coordinates `NAME.x`, `NAME.y` and `NAME.z` of a rotation vector.
    Spherical,
}

impl Motion {
    /// A turn within limits.
    pub const fn turn(axis: DVec3, lower: f64, upper: f64) -> Self {
        Self::Turn { axis, lower, upper }
    }

    /// A turn without end.
    pub const fn continuous(axis: DVec3) -> Self {
        Self::Turn { axis, lower: f64::NEG_INFINITY, upper: f64::INFINITY }
    }

    /// A slider within limits.
    pub const fn slide(axis: DVec3, lower: f64, upper: f64) -> Self {
        Self::Slide { axis, lower, upper }
    }
}

/// One degree of freedom of a joint: planar, floating and ball joints have several.
pub(super) struct Freedom {
    pub suffix: &'static str,
    pub kind: Kind,
    pub part: Part,
    pub lower: f64,
    pub upper: f64,
    /// From the joint's frame to the one in which this moves, and back.
    pub frame: DMat3,
    pub back: DMat3,
}

pub(super) fn freedoms(motion: Motion) -> Vec<Freedom> {
    const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    let single = |suffix, kind, axis, (lower, upper)| {
        let frame = z_along(axis);
        Freedom { suffix, kind, part: Part::Alone, lower, upper, frame, back: frame.transpose() }
    };
    // Three at one place: into their frame before the first, out of it after the last.
    let three = |kind, frame: DMat3, of: [(&'static str, Part, (f64, f64)); 3]| -> Vec<Freedom> {
        let one = |(k, (suffix, part, (lower, upper)))| Freedom {
            suffix,
            kind: if k == 0 { kind } else { Kind::Rest },
            part,
            lower,
            upper,
            frame: if k == 0 { frame } else { DMat3::IDENTITY },
            back: if k == 2 { frame.transpose() } else { DMat3::IDENTITY },
        };
        of.into_iter().enumerate().map(one).collect()
    };
    match motion {
        Motion::Fixed => Vec::new(),
        Motion::Turn { axis, lower, upper } => [single("", Kind::Turn, axis, (lower, upper))].into(),
        Motion::Slide { axis, lower, upper } => [single("", Kind::Slide, axis, (lower, upper))].into(),
        Motion::Planar { normal } => {
            let m = z_along(normal);
            [
                single(".x", Kind::Slide, m.x_axis, FREE),
                single(".y", Kind::Slide, m.y_axis, FREE),
                single(".turn", Kind::Turn, m.z_axis, FREE),
            ]
            .into()
        }
        Motion::Floating => [
            single(".x", Kind::Slide, DVec3::X, FREE),
            single(".y", Kind::Slide, DVec3::Y, FREE),
            single(".z", Kind::Slide, DVec3::Z, FREE),
            single(".yaw", Kind::Turn, DVec3::Z, FREE),
            single(".pitch", Kind::Turn, DVec3::Y, FREE),
            single(".roll", Kind::Turn, DVec3::X, FREE),
        ]
        .into(),
        Motion::Ball { twist_axis, swing_axis, swing: [first, second], twist } => {
            let all = [
                (".swing1", Part::Swing, first),
                (".swing2", Part::Swing, second),
                (".twist", Part::Twist, twist),
            ];
            three(Kind::Ball, frame_of(twist_axis, swing_axis), all)
        }
        Motion::Spherical => {
            three(Kind::Vector, DMat3::IDENTITY, [".x", ".y", ".z"].map(|s| (s, Part::Vector, FREE)))
        }
    }
}

/// The unit vector along an axis: scaled first, so that squares of very long or short axes stay in range.
pub(super) fn direction(axis: DVec3) -> DVec3 {
    let d = axis / axis.abs().max_element();
    d / math64::sqrt(d.length_squared())
}

/// The frame of a ball: z the axis of twist, x that of the first swing.
pub(super) fn frame_of(twist_axis: DVec3, swing_axis: DVec3) -> DMat3 {
    let z = direction(twist_axis);
    let x = direction(swing_axis);
    let x = direction(x - z * z.dot(x));
    DMat3::from_cols(x, z.cross(x), z)
}

/// A rotation whose z axis points along a direction. Along a coordinate axis it only exchanges coordinates, exactly.
fn z_along(axis: DVec3) -> DMat3 {
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
