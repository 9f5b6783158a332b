//! The limits of a joint, prepared for solvers in pose space.

mod axes;
mod blend;
mod contact;
mod parts;
mod relax;
mod resist;
mod slide;
mod socket;

use core::f32::consts::{PI, TAU};

use glam::{DMat3, DVec3, Mat3, Quat, Vec3};

use super::{
    Joint, Range, Turning, direction,
    dof::{Resistance, eased},
    ellipse::Ellipse,
    euler,
    span::{Span, wrap},
};
use crate::{JointTransform, math, math64};
pub(crate) use axes::around;
pub(crate) use contact::Contact;
use parts::{Split, angles, clamp_angles, clamp_ball, clamp_parts, hinge_angle, join, split, within};
pub(crate) use relax::{in_f64, turn};
pub(crate) use socket::{Pivot, Socket};

/// Excess up to which a rotation or slide counts as within its limits, in radians or metres. A rotation that was just
/// clamped is then not clamped again: f32 rotations keep 3e-7 after the few products between a limit and a pose. The
/// promise is 1e-5.
pub const TOLERANCE: f32 = 2e-6;

/// The limits of a [`Joint`], in f32 and in the frame of the joint's parent, for solvers in pose space.
///
/// Arguments and results are local rotations: unit quaternions relative to the parent, as in a pose. A skeleton stores
/// one `Limits` per joint: [`Skeleton::limits`](crate::Skeleton::limits). No method allocates. Each is a pure function
/// of its arguments with the same bits on every build; with the feature `libm`, on every platform.
///
/// # Starts outside the limits
///
/// An input pose may hold a joint outside its limits. [`Limits::relaxed`] widens the limits just enough to contain the
/// input:
/// - A range is widened to one side, an ellipse by the distance of the swing from it.
/// - A tilted hinge keeps its tilt.
/// - Turns about single axes keep the smallest turn by which the input exceeded them, applied after the three turns. The
///   excess then never grows beyond the length of that turn.
///
/// With relaxed limits, no method moves a joint further outside. The limits of a joint that starts inside do not change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The rest rotation; of a ball, followed by the swing to its centre.
    rest: Quat,
    /// The axes of the slides in the parent's frame.
    slide_frame: Quat,
    origin: Vec3,
    turn: Turn,
    resist: [Resistance; 3],
    preferred: [Option<f32>; 3],
    slide: [Slide; 3],
    slides: bool,
    resists: bool,
    /// Whether a stiffness of 1 holds any coordinate.
    holds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Slide {
    /// `None` if the joint does not slide along this axis.
    span: Option<Span>,
    resist: Resistance,
    preferred: Option<f32>,
}

/// The allowed rotations, in terms of the joint's own rotation: the local rotation relative to the rest rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    Free,
    /// Held at this local rotation.
    Fixed(Quat),
    /// Own rotation = off * (turn about axis). `exact` is the axis in f64, from which the input's tilt is measured (see
    /// `relax`).
    Hinge {
        axis: Vec3,
        exact: DVec3,
        span: Span,
        off: Quat,
    },
    /// Own rotation = swing * twist, both seen from the swing's centre. The frame's columns are the axes of the first
    /// swing, the second swing and the twist.
    Ball {
        frame: Mat3,
        swing: Option<Ellipse>,
        slack: f32,
        twist: Span,
        centre: [f32; 2],
    },
    /// Own rotation = turn * turn * turn * off.
    Axes {
        axes: [usize; 3],
        spans: [Span; 3],
        off: Quat,
    },
}

/// The coordinates of a joint's rotation, in radians. Their meaning depends on the joint:
///
/// | joint | coordinates |
/// |---|---|
/// | free | rotation vector (axis times angle) in the rest frame |
/// | fixed | zeros |
/// | hinge | angle about the axis, 0, 0 |
/// | ball | swing s about the first and the second swing axis (a rotation vector across the twist axis), twist; about a centre c, the rotation is exp(c) exp(s - c) twist |
/// | axes | angles in the order of the joint's [`RotationOrder`](super::RotationOrder) |
///
/// Limits are convex in these coordinates: intervals, and an ellipse for swing.
pub type Coordinates = [f32; 3];

impl Limits {
    /// The limits of a joint that turns freely and does not slide.
    pub const FREE: Self = Self {
        rest: Quat::IDENTITY,
        slide_frame: Quat::IDENTITY,
        origin: Vec3::ZERO,
        turn: Turn::Free,
        resist: [Resistance::NONE; 3],
        preferred: [None; 3],
        slide: [Slide { span: None, resist: Resistance::NONE, preferred: None }; 3],
        slides: false,
        resists: false,
        holds: false,
    };

    /// The limits of a checked joint with its local rest transform.
    pub(crate) fn new(joint: &Joint, rest: &JointTransform) -> Self {
        let turn = match &joint.turning {
            Turning::Free => Turn::Free,
            Turning::Fixed => Turn::Fixed(rest.rotation),
            Turning::Hinge { axis, dof } => {
                let span = Span::of_angle(dof.range);
                Turn::Hinge { axis: unit(*axis), exact: unit64(*axis), span, off: Quat::IDENTITY }
            }
            Turning::Ball { twist_axis, swing_axis, swing, twist, centre } => {
                let z = unit(*twist_axis);
                let x = math::perpendicular(z, unit(*swing_axis));
                let half = |n: usize| {
                    let (range, centre): (Range, f64) = (swing[n].range, centre[n]);
                    range.is_bounded().then_some([(range.max - centre) as f32, (centre - range.min) as f32])
                };
                let swing = half(0).zip(half(1)).map(|(x, y)| Ellipse { half: [x, y] });
                let frame = Mat3::from_cols(x, z.cross(x), z);
                let twist = Span::of_angle(twist.range);
                Turn::Ball { frame, swing, slack: 0.0, twist, centre: centre.map(|c| c as f32) }
            }
            Turning::Axes { order, angles } => {
                let axes = order.axes();
                let spans = axes.map(|i| angles[i].map_or(Span::ZERO, |d| Span::of_angle(d.range)));
                Turn::Axes { axes, spans, off: Quat::IDENTITY }
            }
        };
        let resist = joint.turning.coordinates().map(|d| d.map_or(Resistance::NONE, Resistance::of));
        let slide = joint.slide.map(|d| Slide {
            span: d.map(|d| Span::of_slide(d.range)),
            resist: d.map_or(Resistance::NONE, Resistance::of),
            preferred: d.and_then(|d| d.preferred).map(|p| p as f32),
        });
        let unit_rest = unit_rotation(rest.rotation);
        Self {
            rest: match &turn {
                Turn::Ball { frame, centre, .. } if *centre != [0.0; 2] => swung(unit_rest, frame, *centre),
                _ => unit_rest,
            },
            slide_frame: slide_frame(unit_rest, &joint.slide_axes),
            origin: rest.translation,
            turn,
            resist,
            preferred: joint.turning.coordinates().map(|d| d.and_then(|d| d.preferred).map(|p| p as f32)),
            slide,
            slides: joint.slide.iter().any(Option::is_some),
            resists: resist.iter().any(|r| *r != Resistance::NONE),
            holds: joint.dofs().any(|dof| dof.stiffness >= 1.0),
        }
    }

    /// Whether the joint may take every rotation.
    #[inline]
    pub fn turns_freely(&self) -> bool {
        match &self.turn {
            Turn::Free => true,
            Turn::Ball { swing, twist, .. } => swing.is_none() && twist.is_free(),
            Turn::Axes { spans, .. } => spans.iter().all(Span::is_free),
            Turn::Fixed(_) | Turn::Hinge { .. } => false,
        }
    }

    /// Whether the joint turns at all.
    #[inline]
    pub fn turns(&self) -> bool {
        match &self.turn {
            Turn::Fixed(_) => false,
            Turn::Axes { spans, .. } => spans.iter().any(|s| s.low < s.high),
            _ => true,
        }
    }

    /// Whether the joint slides along any axis.
    #[inline]
    pub fn slides(&self) -> bool {
        self.slides
    }

    /// The axis of a hinge, a unit vector in the rest frame. Turning keeps it, so it is the same in the joint's frame.
    /// `None` for other joints; turns about single axes with only one moving axis count as a hinge.
    pub fn hinge_axis(&self) -> Option<Vec3> {
        match &self.turn {
            Turn::Hinge { axis, .. } => Some(*axis),
            Turn::Axes { spans, axes, .. } => {
                let mut moving = (0..3).filter(|&n| spans[n].low < spans[n].high);
                let only = moving.next()?;
                let still = |n: usize| n == only || (spans[n].low == 0.0 && spans[n].centre == 0.0);
                (moving.next().is_none() && (0..3).all(still)).then(|| euler::unit(axes[only]))
            }
            _ => None,
        }
    }

    /// The twist axis of a ball, a unit vector in the rest frame; `None` for other joints.
    pub fn twist_axis(&self) -> Option<Vec3> {
        match &self.turn {
            Turn::Ball { frame, .. } => Some(frame.z_axis),
            _ => None,
        }
    }

    /// Converts a local rotation to the joint's own, relative to the rest rotation or to that at a swing's centre.
    #[inline]
    pub fn own(&self, local: Quat) -> Quat {
        math::mul(math::conjugate(self.rest), local)
    }

    /// Converts the joint's own rotation to a local rotation, normalised. The inverse of [`Limits::own`].
    #[inline]
    pub fn local(&self, own: Quat) -> Quat {
        math::normalize(math::mul(self.rest, own))
    }

    /// The coordinates of a local rotation; see [`Coordinates`]. A limited angle is given on the same turn as the middle
    /// of its range. A rotation that the joint cannot make gets the coordinates of the nearest one that it can make,
    /// limits aside.
    pub fn coordinates(&self, local: Quat) -> Coordinates {
        let own = self.own(local);
        match &self.turn {
            Turn::Free => math::rotation_vector(own).to_array(),
            Turn::Fixed(_) => [0.0; 3],
            Turn::Hinge { axis, span, off, .. } => {
                [span.centre + hinge_angle(own, *axis, *off, span), 0.0, 0.0]
            }
            Turn::Ball { frame, twist, centre, .. } => {
                let Split { swing, twist: angle, .. } = split(own, frame);
                let [x, y] = from_rest(swing, *centre);
                [x, y, twist.centre + wrap(angle - twist.centre)]
            }
            Turn::Axes { axes, spans, off } => {
                let own = undo(own, *off);
                let d = angles(own, *axes, spans);
                if (0..3).all(|n| spans[n].excess(d[n]) <= 0.0) {
                    return [0, 1, 2].map(|n| spans[n].centre + d[n]);
                }
                // Near a pole of the middle axis the rotation may be within limits although these angles are not.
                let near = self.nearest(local);
                if near.excess <= TOLERANCE { near.at } else { [0, 1, 2].map(|n| spans[n].centre + d[n]) }
            }
        }
    }

    /// The local rotation with these coordinates.
    pub fn rotation(&self, c: Coordinates) -> Quat {
        let own = match &self.turn {
            Turn::Free => of_vector(Vec3::from_array(c)),
            Turn::Fixed(local) => return *local,
            Turn::Hinge { axis, off, .. } => math::mul(*off, math::axis_angle(*axis, c[0])),
            Turn::Ball { frame, centre, .. } => join(from_centre([c[0], c[1]], *centre), c[2], frame),
            Turn::Axes { axes, off, .. } => redo(euler::rotation(*axes, c), *off),
        };
        self.local(own)
    }

    /// The nearest allowed rotation to a local rotation, in coordinates, with the excess.
    fn nearest(&self, local: Quat) -> Nearest {
        let own = self.own(local);
        let (at, excess) = match &self.turn {
            Turn::Free => (self.coordinates(local), 0.0),
            Turn::Fixed(held) => ([0.0; 3], math::angle_between(*held, local)),
            Turn::Hinge { axis, span, off, .. } => {
                let d = hinge_angle(own, *axis, *off, span);
                let turned = math::mul(*off, math::axis_angle(*axis, span.centre + d));
                let excess = math::angle_between(turned, own).max(span.excess(d));
                ([span.centre + span.clamp_angle(d), 0.0, 0.0], excess)
            }
            Turn::Ball { frame, swing, slack, twist, centre } => {
                let parts = split(own, frame);
                let ([x, y, t], excess) = clamp_ball(&parts, swing, *slack, twist);
                let [x, y] = from_rest([x, y], *centre);
                return Nearest { at: [x, y, t], excess, tolerance: parts.tolerance() };
            }
            // Near the poles of the middle axis rounding changes the outer two angles without bound, but not the turn
            // between the two rotations.
            Turn::Axes { axes, spans, off } => {
                let own = undo(own, *off);
                let d = clamp_angles(own, *axes, spans);
                let at = [0, 1, 2].map(|n| spans[n].centre + d[n]);
                (at, math::angle_between(euler::rotation(*axes, at), own))
            }
        };
        Nearest { at, excess, tolerance: TOLERANCE }
    }

    /// Angle in radians by which a local rotation exceeds the limits; 0 within. It is the maximum excess of the
    /// coordinates (for a swing, the distance from the ellipse), or the turn about an axis that is not free. For turns
    /// about single axes, it is the smallest turn back into the limits, which is well defined even at a pole of the
    /// middle axis.
    pub fn excess(&self, local: Quat) -> f32 {
        match &self.turn {
            Turn::Free => 0.0,
            _ => self.nearest(local).excess,
        }
    }

    /// Whether a local rotation is within the limits, to [`TOLERANCE`].
    pub fn is_within(&self, local: Quat) -> bool {
        matches!(self.turn, Turn::Free) || self.nearest(local).is_within()
    }

    /// Clamps a local rotation: returns the nearest allowed rotation in the joint's coordinates. An angle moves to the
    /// end of its range, a swing to the nearest point of its ellipse; the twist is clamped separately. For turns about
    /// single axes, the nearest of all allowed rotations is returned. A rotation within the limits keeps its bits.
    pub fn clamp(&self, local: Quat) -> Quat {
        match &self.turn {
            Turn::Free => return local,
            Turn::Ball { frame, swing, slack, twist, .. } => {
                return match clamp_parts(self.own(local), frame, swing, *slack, twist) {
                    Some(own) => self.local(own),
                    None => local,
                };
            }
            _ if self.is_well_within(local) => return local,
            _ => {}
        }
        let nearest = self.nearest(local);
        if nearest.is_within() { local } else { self.rotation(nearest.at) }
    }

    /// Whether the rotation of a ball or a hinge is within its limits by a margin. Uses no trigonometry; false where it
    /// cannot tell. See [`surely_within`].
    #[inline]
    pub(crate) fn is_well_within(&self, local: Quat) -> bool {
        let (frame, swing, twist) = match &self.turn {
            Turn::Ball { frame, swing, twist, .. } => (frame, swing, twist),
            Turn::Hinge { axis, span, off, .. } => {
                let q = math::mul(math::conjugate(*off), self.own(local));
                let v = Vec3::new(q.x, q.y, q.z);
                let along = v.dot(*axis);
                // Half the angle of the tilt off the axis.
                let tilt = (v - *axis * along).length_squared();
                return tilt <= (0.25 * TOLERANCE) * (0.25 * TOLERANCE)
                    && surely_within(along, q.w, 1.0, span);
            }
            _ => return false,
        };
        let own = self.own(local);
        let v = Vec3::new(own.x, own.y, own.z);
        let (x, y, z, w) = (v.dot(frame.x_axis), v.dot(frame.y_axis), v.dot(frame.z_axis), own.w);
        let n = math::sqrt(z * z + w * w);
        // At a half turn of swing the twist is undefined; keep well away from it.
        if n.is_nan() || n < 0.1 {
            return false;
        }
        if let Some(e) = swing {
            // The swing's vector part times n: own * conjugate(twist).
            let k = TAU / ((2.0 + n) * n);
            if e.level([k * (x * w - y * z), k * (y * w + x * z)]) > 1.0 {
                return false;
            }
        }
        surely_within(z, w, n, twist)
    }

    /// The local rotation after a step from `from`, which is within the limits, towards `wanted`. Each coordinate is
    /// stiffened and damped, eased near its limits, and clamped separately.
    pub fn step(&self, from: Quat, wanted: Quat) -> Quat {
        if !self.resists || matches!(self.turn, Turn::Free | Turn::Fixed(_)) {
            return self.clamp(wanted);
        }
        let c = self.step_coordinates(self.inside(from), self.coordinates(wanted));
        self.clamp(self.rotation(c))
    }

    /// [`Limits::step`] in coordinates. A swing follows a straight line; an angle takes the shorter arc and stops at its
    /// limits.
    pub fn step_coordinates(&self, from: Coordinates, wanted: Coordinates) -> Coordinates {
        self.resisted(from, wanted, &self.resist)
    }

    /// [`Limits::step_coordinates`] without resistance, for solvers that weigh it in the choice of a step.
    pub(crate) fn plain_coordinates(&self, from: Coordinates, wanted: Coordinates) -> Coordinates {
        self.resisted(from, wanted, &[Resistance::NONE; 3])
    }

    fn resisted(&self, from: Coordinates, wanted: Coordinates, resist: &[Resistance; 3]) -> Coordinates {
        let mut c = from;
        for n in 0..3 {
            let displacement = wanted[n] - from[n];
            c[n] += resist[n].step(if self.is_swing(n) { displacement } else { wrap(displacement) });
            if let Some(span) = self.span(n) {
                c[n] = ease_into(span, &resist[n], from[n], c[n]);
            }
        }
        if let Turn::Ball { swing: Some(e), slack, centre, .. } = &self.turn {
            let [from, to] = [from, c].map(|c| from_centre([c[0], c[1]], *centre));
            let s = ease_swing(e, resist[0].ease, from, to);
            [c[0], c[1]] = from_rest(within(e, *slack, s), *centre);
        }
        c
    }

    /// The range of coordinate `n` if it is a single angle.
    fn span(&self, n: usize) -> Option<&Span> {
        match &self.turn {
            Turn::Hinge { span, .. } if n == 0 => Some(span),
            Turn::Ball { twist, .. } if n == 2 => Some(twist),
            Turn::Axes { spans, .. } => Some(&spans[n]),
            _ => None,
        }
    }

    /// Maximum change downwards and upwards of coordinate `n`, in radians, from the value `at` within its range, for a
    /// joint that turns about single axes. The coordinate also stays within `max_change` of its input value `input`.
    pub(crate) fn angle_room(&self, n: usize, at: f32, input: f32, max_change: f32) -> [f32; 2] {
        let Some(span) = self.span(n) else { return [0.0; 2] };
        let [down, up] = span.room(at - span.centre);
        if max_change == f32::INFINITY {
            return [down, up];
        }
        let back = wrap(input - at);
        [down.max(back - max_change).min(0.0), up.min(back + max_change).max(0.0)]
    }

    /// The coordinates of a rotation ([`Limits::coordinates`]), each clamped to its range, for a joint that turns about
    /// single axes: those of an input outside of its limits may be outside as well.
    pub(crate) fn coordinates_within(&self, local: Quat) -> Coordinates {
        let at = self.coordinates(local);
        [0, 1, 2].map(|n| self.stepped(n, at[n], 0.0))
    }

    /// The value of coordinate `n` after a change from `at` by `by` radians, clamped to its range, for a joint that turns
    /// about single axes without resistance.
    #[inline]
    pub(crate) fn stepped(&self, n: usize, at: f32, by: f32) -> f32 {
        let Some(span) = self.span(n) else { return at };
        if span.is_free() { wrap(at + by) } else { span.centre + span.clamp(at + by - span.centre) }
    }

    /// The local rotation with these coordinates ([`Limits::rotation`]) of a joint that turns about single axes. Updates
    /// the axes that [`Limits::turn_axes`] has returned.
    pub(crate) fn turned(&self, c: Coordinates, about: &mut [Vec3; 3]) -> Quat {
        if let Turn::Hinge { axis, off, .. } = &self.turn {
            let turn = math::axis_angle(*axis, c[0]);
            let own = if *off == Quat::IDENTITY { turn } else { math::mul(*off, turn) };
            return if self.rest == Quat::IDENTITY { own } else { self.local(own) };
        }
        let rotation;
        (rotation, *about) = self.about_axes(c);
        rotation
    }

    /// The axis of each coordinate at `c` ([`Limits::turn_axis`]), zero where there is none.
    pub(crate) fn turn_axes(&self, c: Coordinates) -> [Vec3; 3] {
        if let Turn::Hinge { .. } = &self.turn {
            return [self.turn_axis(0, c).unwrap_or(Vec3::ZERO), Vec3::ZERO, Vec3::ZERO];
        }
        [0, 1, 2].map(|n| self.turn_axis(n, c).unwrap_or(Vec3::ZERO))
    }

    /// The axis in the parent's frame, a unit vector, about which the joint turns as coordinate `n` alone increases from
    /// `at`. `None` if the coordinate is no single turn (swing and twist of a ball, a free joint) or does not move.
    pub fn turn_axis(&self, n: usize, at: Coordinates) -> Option<Vec3> {
        let own = match &self.turn {
            Turn::Hinge { axis, off, .. } if n == 0 => math::rotate(*off, *axis),
            Turn::Axes { axes, spans, .. } if n < 3 && spans[n].low < spans[n].high => {
                let mut before = at;
                before[n..].fill(0.0);
                math::rotate(euler::rotation(*axes, before), euler::unit(axes[n]))
            }
            _ => return None,
        };
        Some(math::rotate(self.rest, own))
    }

    /// The local rotation with these coordinates ([`Limits::rotation`]) and the axis of each ([`Limits::turn_axis`]),
    /// zero where there is none.
    pub(crate) fn about_axes(&self, c: Coordinates) -> (Quat, [Vec3; 3]) {
        let Turn::Axes { axes, spans, off } = &self.turn else {
            let axis = self.turn_axis(0, c).unwrap_or(Vec3::ZERO);
            return (self.rotation(c), [axis, Vec3::ZERO, Vec3::ZERO]);
        };
        let mut own = Quat::IDENTITY;
        let mut about = [Vec3::ZERO; 3];
        for n in 0..3 {
            let axis = euler::unit(axes[n]);
            if spans[n].low < spans[n].high {
                about[n] = math::rotate(self.rest, math::rotate(own, axis));
            }
            if c[n] != 0.0 {
                own = math::mul(own, math::axis_angle(axis, c[n]));
            }
        }
        (self.local(redo(own, *off)), about)
    }

    /// Whether each coordinate is a turn about one axis: for a hinge or turns about single axes.
    pub fn turns_about_axes(&self) -> bool {
        matches!(self.turn, Turn::Hinge { .. } | Turn::Axes { .. })
    }

    fn is_swing(&self, n: usize) -> bool {
        matches!(self.turn, Turn::Ball { .. }) && n < 2
    }

    /// The local rotation to bend towards where the goal decides no direction: preferred values where given, elsewhere
    /// the allowed value nearest to 0. `None` if no coordinate has a preferred value.
    pub fn preferred(&self) -> Option<Quat> {
        if self.preferred == [None; 3] {
            return None;
        }
        let rest = match &self.turn {
            Turn::Ball { centre, .. } if *centre != [0.0; 2] => self.rotation([0.0; 3]),
            _ => self.rest,
        };
        let at = self.coordinates(self.clamp(rest));
        Some(self.clamp(self.rotation([0, 1, 2].map(|n| self.preferred[n].unwrap_or(at[n])))))
    }

    /// The coordinates of a rotation that is within the limits up to rounding.
    fn inside(&self, local: Quat) -> Coordinates {
        match &self.turn {
            Turn::Axes { .. } => self.nearest(local).at,
            _ => self.coordinates(local),
        }
    }
}

/// The nearest allowed rotation.
struct Nearest {
    at: Coordinates,
    /// Angle between the two rotations, in radians.
    excess: f32,
    /// Excess that rounding alone may cause, in radians.
    tolerance: f32,
}

impl Nearest {
    fn is_within(&self) -> bool {
        self.excess <= self.tolerance
    }
}

fn unit(v: DVec3) -> Vec3 {
    unit64(v).as_vec3()
}

/// The unit vector along an axis that passed its check.
fn unit64(v: DVec3) -> DVec3 {
    // Squares of shorter axes underflow, and of longer ones overflow.
    if (1e-200..1e200).contains(&v.length_squared()) { v.normalize() } else { direction(v) }
}

/// The axes of the slides in the parent's frame. Keeps the bits of the rest rotation if the axes are X, Y and Z.
fn slide_frame(rest: Quat, axes: &DMat3) -> Quat {
    if *axes == DMat3::IDENTITY {
        return rest;
    }
    let q = math64::quaternion(axes);
    math::mul(rest, Quat::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32))
}

/// The normalised rotation. Keeps the bits of a quaternion that is a unit one up to rounding: another rounding would
/// show where the input is tilted by nearly half a turn (see `relax`).
fn unit_rotation(q: Quat) -> Quat {
    if (math::dot(q, q) - 1.0).abs() <= 4.0 * f32::EPSILON { q } else { math::normalize(q) }
}

/// The swing seen from the ellipse's centre. Without a centre, keeps the bits.
fn from_centre(swing: [f32; 2], centre: [f32; 2]) -> [f32; 2] {
    [swing[0] - centre[0], swing[1] - centre[1]]
}

/// The swing seen from rest; the inverse of [`from_centre`].
fn from_rest(swing: [f32; 2], centre: [f32; 2]) -> [f32; 2] {
    // Not `+ centre`, which would lose the sign of a zero.
    [swing[0] - (0.0 - centre[0]), swing[1] - (0.0 - centre[1])]
}

/// The rotation followed by a swing, a rotation vector in the plane of the frame's first two axes.
fn swung(rotation: Quat, frame: &Mat3, swing: [f32; 2]) -> Quat {
    let v = frame.x_axis.as_dvec3() * f64::from(swing[0]) + frame.y_axis.as_dvec3() * f64::from(swing[1]);
    let angle = math64::sqrt(v.length_squared());
    (in_f64(rotation) * turn(v / angle, angle)).normalize().as_quat()
}

fn length([x, y]: [f32; 2]) -> f32 {
    math::sqrt(x * x + y * y)
}

/// Removes the input's excess from a rotation; the inverse of [`redo`].
fn undo(own: Quat, off: Quat) -> Quat {
    if off == Quat::IDENTITY { own } else { math::mul(own, math::conjugate(off)) }
}

/// Applies the input's excess to a rotation.
fn redo(own: Quat, off: Quat) -> Quat {
    if off == Quat::IDENTITY { own } else { math::mul(own, off) }
}

/// The rotation with rotation vector `v`.
fn of_vector(v: Vec3) -> Quat {
    let angle = math::sqrt(v.length_squared());
    if angle > 0.0 { math::axis_angle(v / angle, angle) } else { Quat::IDENTITY }
}

/// Eases a coordinate that moves from `a` to `b` and clamps it to its range.
fn ease_into(span: &Span, resist: &Resistance, a: f32, b: f32) -> f32 {
    if span.is_free() {
        return b;
    }
    let (from, to) = (a - span.centre, b - span.centre);
    let zone = resist.ease * span.half;
    // Ease acts towards a limit, not away from it.
    let d = if to > from && from < span.high {
        eased(from, to - from, span.high, zone)
    } else if to < from && from > span.low {
        -eased(-from, from - to, -span.low, zone)
    } else {
        to
    };
    span.centre + span.clamp(d)
}

/// Eases a swing that approaches its ellipse. The measure is the root of the level: 0 at the centre, 1 on the outline.
fn ease_swing(e: &Ellipse, ease: f32, a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
    let (from, to) = (math::sqrt(e.level(a)), math::sqrt(e.level(b)));
    if ease <= 0.0 || to <= from || from >= 1.0 {
        return b;
    }
    let k = eased(from, to - from, 1.0, ease) / to;
    [b[0] * k, b[1] * k]
}

/// Whether the angle with half its sine and cosine along `x : y`, of length `n`, is surely within a range. Uses no
/// trigonometry. With x and y the sine and cosine of half an angle, the angle is between 6 x / (2 + y) and 2 pi x / (2 + y)
/// (Shafer). The bounds differ by 5 %.
#[inline]
fn surely_within(x: f32, y: f32, n: f32, span: &Span) -> bool {
    if span.is_free() {
        return true;
    }
    // Negating the quaternion keeps the angle.
    let x = if y < 0.0 { -x } else { x };
    let k = x / (2.0 * n + y.abs());
    let (near, far) = (6.0 * k, TAU * k);
    near.min(far) >= span.centre + span.low && near.max(far) <= span.centre + span.high
}

/// Maximum half-axis of a swing in radians: see [`super::JointFault::TooWide`].
pub(crate) const WIDEST: f64 = 3.0;
const _: () = assert!(WIDEST < PI as f64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::{Dof, RotationOrder};

    /// Random numbers in [-1, 1).
    fn random(mut seed: u32) -> impl FnMut() -> f32 {
        move || {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 8) as f32 / 8388608.0 - 1.0
        }
    }

    fn any_rotation(r: &mut impl FnMut() -> f32) -> Quat {
        math::normalize(Quat::from_xyzw(r(), r(), r(), r() + 1e-3))
    }

    fn of(joint: &Joint, rest: Quat) -> Limits {
        Limits::new(joint, &JointTransform { rotation: rest, ..JointTransform::IDENTITY })
    }

    /// A range of any kind: wide, tiny, off 0, beyond half a turn and beyond a turn.
    fn range(r: &mut impl FnMut() -> f32, kind: usize) -> Dof {
        let from = f64::from(r()) * 3.3;
        let width = f64::from(r() * 0.5 + 0.5) * [1.0, 1e-4, 4.0, 6.2, 9.0][kind % 5];
        Dof::range(from, from + width)
    }

    /// The distance on the circle of an angle from a range, in f64.
    fn outside(angle: f64, dof: &Dof) -> f64 {
        let (middle, half) = (0.5 * (dof.range.min + dof.range.max), 0.5 * (dof.range.max - dof.range.min));
        let turn = core::f64::consts::TAU;
        let d = angle - middle;
        (d - turn * math64::round(d / turn)).abs() - half
    }

    /// Checks against half angles in f64, with angles anywhere and next to the ends of ranges.
    #[test]
    fn what_is_well_within_is_never_outside() {
        let mut r = random(7);
        let (mut hinges, mut balls) = (0, 0);
        for round in 0..200_000 {
            let dof = range(&mut r, round);
            let end = if r() < 0.0 { dof.range.min } else { dof.range.max };
            let angle = match round / 5 % 3 {
                0 => r() * 3.2,
                1 => end as f32 + 1e-5 * r(),
                _ => end as f32 + 1e-2 * r(),
            };
            let sign = if r() < 0.0 { -1.0 } else { 1.0 };
            let axis = Vec3::new(r(), r(), r() + 1e-3).normalize();
            let turn = math::axis_angle(axis, angle) * sign;

            let limits = of(&Joint::hinge(axis.as_dvec3(), dof), Quat::IDENTITY);
            if limits.is_well_within(turn) {
                let q = in_f64(turn);
                let along = q.xyz().dot(axis.as_dvec3().normalize());
                let out = outside(2.0 * math64::atan2(along, q.w), &dof);
                assert!(out <= 1e-6, "{dof:?} {angle}: {out:e}");
                // Off its axis it is outside: a turn there is not well within.
                let tilt = math::axis_angle(math::perpendicular(axis, Vec3::ZERO), 3e-6);
                assert!(!limits.is_well_within(math::mul(turn, tilt)));
                hinges += 1;
            }

            // A ball: the swing by an angle next to its cone's half-angle or anywhere, and the twist as above.
            let half = (r() * 0.5 + 0.5) * if round % 2 == 0 { 2.99 } else { 0.05 } + 1e-3;
            let across = math::perpendicular(axis, Vec3::new(r(), r(), r()));
            let swing = Dof::range(-f64::from(half), f64::from(half));
            let joint = Joint::from(Turning::Ball {
                twist_axis: axis.as_dvec3(),
                swing_axis: across.as_dvec3(),
                swing: [swing, swing],
                twist: dof,
                centre: [0.0; 2],
            });
            let by = if round % 3 == 0 { half + 1e-5 * r() } else { 3.1 * r().abs() };
            let about = math::rotate(math::axis_angle(axis, 3.0 * r()), across);
            let turn = math::mul(math::axis_angle(about, by), turn);
            if of(&joint, Quat::IDENTITY).is_well_within(turn) {
                let q = in_f64(turn);
                let z = axis.as_dvec3().normalize();
                let along = q.xyz().dot(z);
                let (off, on) = ((q.xyz() - z * along).length(), math64::sqrt(along * along + q.w * q.w));
                assert!(2.0 * math64::atan2(off, on) <= f64::from(half) + 1e-6);
                // A rounding of the rotation grows in the twist: see `relax`.
                let out = outside(2.0 * math64::atan2(along, q.w), &dof);
                assert!(out * on <= 1e-6, "{dof:?} {angle} {by}: {out:e}");
                balls += 1;
            }
        }
        assert!(hinges > 20_000 && balls > 3_000, "{hinges} {balls}");
    }

    /// Clamping a ball part by part gives the nearest rotation in coordinates.
    #[test]
    fn a_clamped_ball_is_the_nearest_in_coordinates() {
        let mut r = random(13);
        let (mut moved, mut kept) = (0, 0);
        for round in 0..50_000 {
            let (x, y) = (1.5 * f64::from(r()), 1.5 * f64::from(r()));
            let centre = if round % 2 == 0 { [0.0; 2] } else { [x, y] };
            let mut half = || 1e-3 + 1.2 * f64::from(r().abs());
            let swing = centre.map(|c| Dof::range(c - half(), c + half()));
            let (twist_axis, swing_axis) = (DVec3::new(0.2, 1.0, -0.4), DVec3::X);
            let twist = range(&mut r, round);
            let joint = Joint::from(Turning::Ball { twist_axis, swing_axis, swing, twist, centre });
            joint.check().unwrap();
            let mut limits = of(&joint, any_rotation(&mut r));
            if round % 5 == 4 {
                let rotation = any_rotation(&mut r);
                limits = limits.relaxed(&JointTransform { rotation, ..JointTransform::IDENTITY });
            }
            let local = any_rotation(&mut r);
            let (nearest, clamped) = (limits.nearest(local), limits.clamp(local));
            if nearest.is_within() {
                assert_eq!(clamped, local);
                kept += 1;
            } else {
                let apart = math::angle_between(clamped, limits.rotation(nearest.at));
                assert!(apart < 5e-6, "{apart:e} {limits:?} {local}");
                moved += 1;
            }
        }
        assert!(moved > 10_000 && kept > 1_000, "{moved} {kept}");
    }

    /// Compares the coordinates that chains step in with those of single rotations.
    #[test]
    fn steps_in_coordinates_are_those_of_rotations() {
        use RotationOrder::{Xyz, Xzy, Yxz, Yzx, Zxy, Zyx};
        let mut r = random(9);
        for round in 0..20_000usize {
            let rest = if round % 4 == 0 { Quat::IDENTITY } else { any_rotation(&mut r) };
            let mut dof = |k: usize| range(&mut r, round / 7 + k);
            let joint = match round % 3 {
                0 => Joint::hinge(DVec3::new(0.3, -0.5, 0.2), dof(0)),
                kind => {
                    let order = [Xyz, Xzy, Yxz, Yzx, Zxy, Zyx][round % 6];
                    let held = (kind == 2).then_some(round / 3 % 3);
                    let angles = [0, 1, 2].map(|n| (held != Some(n)).then(|| dof(n)));
                    Turning::Axes { order, angles }.into()
                }
            };
            let mut limits = of(&joint, rest);
            if round % 5 == 4 {
                let rotation = any_rotation(&mut r);
                limits = limits.relaxed(&JointTransform { rotation, ..JointTransform::IDENTITY });
            }
            let mut local = any_rotation(&mut r);
            if round % 2 == 0 {
                // Next to a pole of the middle axis.
                let pole = core::f32::consts::FRAC_PI_2 + 1e-4 * r();
                local = limits.rotation([3.0 * r(), pole, 3.0 * r()]);
            }
            // Within the limits at the rotation's own coordinates where these are within, else clamped.
            let (slow, at) = (limits.coordinates(local), limits.coordinates_within(local));
            for n in 0..3 {
                let Some(span) = limits.span(n) else {
                    assert_eq!(at[n], slow[n]);
                    continue;
                };
                let d = at[n] - span.centre;
                assert!(span.excess(d) <= 5e-7, "{span:?} {}", at[n]);
                let clamped =
                    if span.is_free() { slow[n] } else { span.centre + span.clamp(slow[n] - span.centre) };
                assert!(wrap(at[n] - clamped).abs() <= 1e-6, "{at:?} {slow:?}");
            }
            if limits.is_within(local) && limits.rotation(slow) == limits.rotation(at) {
                assert!(math::angle_between(limits.rotation(at), local) < 5e-6);
            }
            // A step changes a coordinate by what it says, up to an end.
            let by = 0.8 * r();
            let n = round % 3;
            let mut c = at;
            c[n] = limits.stepped(n, at[n], by);
            if let Some(span) = limits.span(n) {
                let room = limits.angle_room(n, at[n], 0.0, f32::INFINITY);
                assert!((wrap(c[n] - at[n]) - by.clamp(room[0], room[1])).abs() < 1e-6, "{span:?} {by}");
            } else {
                assert_eq!(c[n], at[n]);
            }
            // The rotation and the axes there, also with axes of an earlier state.
            let mut axes = limits.turn_axes(at);
            let rotation = limits.turned(c, &mut axes);
            assert!(math::angle_between(rotation, limits.rotation(c)) < 1e-6);
            for (n, axis) in axes.iter().enumerate() {
                let slow = limits.turn_axis(n, c).unwrap_or(Vec3::ZERO);
                assert!((*axis - slow).length() < 2e-6, "{axis} {slow}");
                // What the axis means: a small change of the coordinate turns about it.
                if slow != Vec3::ZERO {
                    let mut next = c;
                    next[n] += 1e-2;
                    let moved = math::mul(limits.rotation(next), math::conjugate(limits.rotation(c)));
                    assert!((math::rotation_vector(moved) - *axis * 1e-2).length() < 2e-6);
                }
            }
        }
    }
}
