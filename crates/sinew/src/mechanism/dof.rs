//! Degrees of freedom of a joint in joint space, and the motion of each.

use alloc::{string::String, vec::Vec};

use glam::{DMat3, DVec3};

use super::ball::{coordinates, turned};
use crate::joint::{Dof, Joint, Turning, direction, frame_along};

/// Kind of a degree of freedom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DofKind {
    /// Rotation about an axis, in radians.
    #[default]
    Turn,
    /// Translation along an axis, in metres.
    Slide,
    /// One of a ball joint's two swings, in radians. They are adjacent and together form a rotation vector across the twist
    /// axis. Their four range ends are those of the half-axes of the ellipse that limits both, about its
    /// [`centre`](NamedDof::centre).
    Swing,
    /// Twist of a ball joint, in radians.
    Twist,
    /// One of the three coordinates of a joint that rotates freely, in radians. They are adjacent and together form a
    /// rotation vector.
    Vector,
}

/// A degree of freedom of a [`Mechanism`](super::Mechanism): one value that positions a joint and the joints that mimic it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NamedDof {
    /// Name of the degree of freedom: the joint's name where it is the joint's only one. Otherwise a suffix follows: `.slide
    /// x`, `.slide y`, `.slide z`; `.turn` of a hinge; `.x`, `.y`, `.z` of rotations about axes and of rotation vectors;
    /// `.swing1`, `.swing2`, `.twist` of a ball.
    pub name: String,
    /// Kind of motion.
    pub kind: DofKind,
    /// Range, speed, ease, stiffness and preferred value, in radians or metres. The range is the part in which the joints that
    /// mimic this one are within their limits too; the stiffness is that of the stiffest of them. A ball without limits has
    /// the largest of its three.
    pub dof: Dof,
    /// The value of a swing at which the quarters of its ellipse meet, in radians; 0 for other kinds.
    pub centre: f64,
    /// Joints that mimic this one and whose limits leave no range in common with it. Those limits are ignored.
    pub contradicted_by: Vec<String>,
}

impl NamedDof {
    /// Whether it slides (values in metres) rather than turns (radians).
    pub fn slides(&self) -> bool {
        self.kind == DofKind::Slide
    }

    /// Whether it turns without limits, so that values a whole turn apart are the same pose.
    pub fn is_continuous(&self) -> bool {
        matches!(self.kind, DofKind::Turn | DofKind::Twist) && self.dof.range.is_free()
    }
}

/// One degree of freedom of a joint.
pub(super) struct Part {
    /// Suffix of the joint's name; empty where it is the only one.
    pub suffix: &'static str,
    pub kind: DofKind,
    /// Whether it is single or the first of three at one point: the first computes the frames of all three.
    pub leads: bool,
    pub dof: Dof,
    /// See [`NamedDof::centre`].
    pub centre: f64,
    /// Rotation from the joint's frame to the frame of this motion, and its inverse.
    pub frame: DMat3,
    pub back: DMat3,
}

/// Returns the degrees of freedom of a joint in the order of their values: slides, then turns.
pub(super) fn parts(joint: &Joint) -> Vec<Part> {
    let single = |suffix, kind, axis, dof| {
        let frame = frame_along(axis);
        Part { suffix, kind, leads: true, dof, centre: 0.0, frame, back: frame.transpose() }
    };
    // Three at one point: the first enters their frame, the last leaves it.
    let three = |frame: DMat3, of: [(&'static str, DofKind, Dof); 3]| {
        let one = move |(k, (suffix, kind, dof))| Part {
            suffix,
            kind,
            leads: k == 0,
            dof,
            centre: 0.0,
            frame: if k == 0 { frame } else { DMat3::IDENTITY },
            back: if k == 2 { frame.transpose() } else { DMat3::IDENTITY },
        };
        of.into_iter().enumerate().map(one)
    };
    let mut parts = Vec::new();
    for (k, suffix) in [".slide x", ".slide y", ".slide z"].into_iter().enumerate() {
        parts.extend(joint.slide[k].map(|dof| single(suffix, DofKind::Slide, joint.slide_axes.col(k), dof)));
    }
    let suffixes = [".x", ".y", ".z"];
    match joint.turning {
        Turning::Fixed => {}
        Turning::Hinge { axis, dof } => parts.push(single(".turn", DofKind::Turn, axis, dof)),
        Turning::Axes { order, angles } => {
            for n in order.axes() {
                parts.extend(angles[n].map(|dof| single(suffixes[n], DofKind::Turn, DVec3::AXES[n], dof)));
            }
        }
        Turning::Ball { twist_axis, swing_axis, swing: [x, y], twist, centre } => {
            let frame = frame_of(twist_axis, swing_axis);
            if x.range.is_free() {
                // A ball without limits rotates freely, and a rotation vector loses no direction anywhere.
                let preferred = [x.preferred, y.preferred, twist.preferred];
                let some = preferred.iter().any(Option::is_some).then(|| {
                    let (r, _) = turned(DofKind::Swing, preferred.map(|p| p.unwrap_or(0.0)));
                    coordinates(DofKind::Vector, &(frame * r * frame.transpose()))
                });
                // Its three coordinates have one weight.
                let stiffness = x.stiffness.max(y.stiffness).max(twist.stiffness);
                let [x, y, z] =
                    [0, 1, 2].map(|k| Dof { preferred: some.map(|p| p[k]), stiffness, ..Dof::FREE });
                parts.extend(three(DMat3::IDENTITY, vectors([x, y, z])));
            } else {
                let all = [
                    (".swing1", DofKind::Swing, x),
                    (".swing2", DofKind::Swing, y),
                    (".twist", DofKind::Twist, twist),
                ];
                let first = parts.len();
                parts.extend(three(frame, all));
                parts[first].frame = swung(frame, centre);
                for (part, centre) in parts[first..].iter_mut().zip(centre) {
                    part.centre = centre;
                }
            }
        }
        Turning::Free => parts.extend(three(DMat3::IDENTITY, vectors([Dof::FREE; 3]))),
    }
    if let [only] = parts.as_mut_slice() {
        only.suffix = "";
    }
    parts
}

fn vectors([x, y, z]: [Dof; 3]) -> [(&'static str, DofKind, Dof); 3] {
    [(".x", DofKind::Vector, x), (".y", DofKind::Vector, y), (".z", DofKind::Vector, z)]
}

/// Returns a ball's frame at the centre of its swing: the rotation before its motion, which counts from there.
pub(super) fn swung(frame: DMat3, [x, y]: [f64; 2]) -> DMat3 {
    if [x, y] == [0.0; 2] { frame } else { frame * turned(DofKind::Swing, [x, y, 0.0]).0 }
}

/// Returns the frame of a ball: z is the twist axis, x the axis of the first swing.
pub(super) fn frame_of(twist_axis: DVec3, swing_axis: DVec3) -> DMat3 {
    let z = direction(twist_axis);
    let x = direction(swing_axis);
    let x = direction(x - z * z.dot(x));
    DMat3::from_cols(x, z.cross(x), z)
}
