//! A joint made ready for pose space.

mod axes;
mod blend;
mod contact;
mod parts;
mod relax;
mod slide;

use core::f32::consts::{PI, TAU};

use glam::{DMat3, DVec3, Mat3, Quat, Vec3};

use super::{
    Dof, Joint, Turning, direction,
    dof::{Resistance, eased},
    ellipse::Ellipse,
    euler,
    span::{Span, wrap},
};
use crate::{JointTransform, math, math64};
pub(crate) use contact::Contact;
use parts::{Split, angles, clamp_angles, clamp_ball, hinge_angle, join, split, within};

/// Excess in radians (metres for a slide of a metre) up to which a rotation counts as within its limits, so that a
/// rotation that was just clamped is not clamped again. f32 rotations are good to 3e-7 after the handful of products
/// between a limit and a pose; the promise is 1e-5.
pub const TOLERANCE: f32 = 2e-6;

/// What a [`Joint`] allows, in f32 and in the joint's parent's frame: what a solver in pose space asks.
///
/// Rotations given and returned are local ones (the joint's in its parent's frame, as a pose has them), unit
/// quaternions. A skeleton keeps one a joint: [`Skeleton::limits`](crate::Skeleton::limits). No function allocates, and
/// each is a plain function of its arguments with the same bits on every build (with the feature `libm`, on every
/// platform).
///
/// # A start that is outside
///
/// A clip may bring a joint in outside its limits. [`Limits::relaxed`] widens limits just so far that they hold what came
/// in: a range to one side, an ellipse by the distance that the swing is from it, and a hinge that is tilted keeps its tilt.
/// Of turns about single axes the least turn by which they were outside is kept, after the three: wherever they go with it,
/// they are no further from their limits than it is long. All functions of the relaxed limits then keep the promise that
/// nothing moves further out. A joint that comes in inside gets the same limits back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
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
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Slide {
    /// None: it does not slide along this axis.
    span: Option<Span>,
    resist: Resistance,
    preferred: Option<f32>,
}

/// How it turns. Rotations inside are the joint's own: the local one seen from the rest rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    Free,
    /// Held at this local rotation.
    Fixed(Quat),
    /// Own rotation = off * (turn about axis). `exact` is the axis in f64: the tilt of what comes in is seen from it (see
    /// `relax`).
    Hinge {
        axis: Vec3,
        exact: DVec3,
        span: Span,
        off: Quat,
    },
    /// Own rotation = swing * twist. The columns of the frame: axis of the first swing, of the second, of the twist.
    Ball {
        frame: Mat3,
        swing: Option<Ellipse>,
        slack: f32,
        twist: Span,
    },
    /// Own rotation = turn * turn * turn * off.
    Axes {
        axes: [usize; 3],
        spans: [Span; 3],
        off: Quat,
    },
}

/// The coordinates of a joint's rotation, in radians; which they are depends on the joint:
///
/// | joint | coordinates |
/// |---|---|
/// | free | rotation vector (axis times angle) in the rest frame |
/// | fixed | zeros |
/// | hinge | angle about the axis, 0, 0 |
/// | ball | swing about the first and the second swing axis (a rotation vector across the twist axis), twist |
/// | axes | angles in the order of the joint's [`RotationOrder`](super::RotationOrder) |
///
/// Limits are convex in them: intervals, and an ellipse for swing.
pub type Coordinates = [f32; 3];

impl Limits {
    /// Of a joint that turns freely and does not slide.
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
    };

    /// The limits of a joint that has passed its check, with its rest transform.
    pub(crate) fn new(joint: &Joint, rest: &JointTransform) -> Self {
        let turn = match &joint.turning {
            Turning::Free => Turn::Free,
            Turning::Fixed => Turn::Fixed(rest.rotation),
            Turning::Hinge { axis, dof } => {
                let span = Span::of_angle(dof.range);
                Turn::Hinge { axis: unit(*axis), exact: unit64(*axis), span, off: Quat::IDENTITY }
            }
            Turning::Ball { twist_axis, swing_axis, swing, twist } => {
                let z = unit(*twist_axis);
                let x = math::perpendicular(z, unit(*swing_axis));
                let half =
                    |dof: &Dof| dof.range.is_bounded().then(|| [dof.range.max as f32, -dof.range.min as f32]);
                let swing = half(&swing[0]).zip(half(&swing[1])).map(|(x, y)| Ellipse { half: [x, y] });
                let frame = Mat3::from_cols(x, z.cross(x), z);
                Turn::Ball { frame, swing, slack: 0.0, twist: Span::of_angle(twist.range) }
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
            rest: unit_rest,
            slide_frame: slide_frame(unit_rest, &joint.slide_axes),
            origin: rest.translation,
            turn,
            resist,
            preferred: joint.turning.coordinates().map(|d| d.and_then(|d| d.preferred).map(|p| p as f32)),
            slide,
            slides: joint.slide.iter().any(Option::is_some),
            resists: resist.iter().any(|r| *r != Resistance::NONE),
        }
    }

    /// The same ranges, for a solver that weighs what joints resist by itself.
    pub(crate) fn without_resistance(mut self) -> Self {
        (self.resist, self.resists) = ([Resistance::NONE; 3], false);
        for slide in &mut self.slide {
            slide.resist = Resistance::NONE;
        }
        self
    }

    /// Whether every rotation is allowed.
    #[inline]
    pub fn turns_freely(&self) -> bool {
        match &self.turn {
            Turn::Free => true,
            Turn::Ball { swing, twist, .. } => swing.is_none() && twist.is_free(),
            Turn::Axes { spans, .. } => spans.iter().all(Span::is_free),
            Turn::Fixed(_) | Turn::Hinge { .. } => false,
        }
    }

    /// Whether it turns at all.
    #[inline]
    pub fn turns(&self) -> bool {
        match &self.turn {
            Turn::Fixed(_) => false,
            Turn::Axes { spans, .. } => spans.iter().any(|s| s.low < s.high),
            _ => true,
        }
    }

    /// Whether it slides along any axis.
    #[inline]
    pub fn slides(&self) -> bool {
        self.slides
    }

    /// The axis of a hinge, a unit vector in the rest frame (and in the joint's own local frame: turning keeps it).
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

    /// The axis about which a ball twists, a unit vector in the rest frame.
    pub fn twist_axis(&self) -> Option<Vec3> {
        match &self.turn {
            Turn::Ball { frame, .. } => Some(frame.z_axis),
            _ => None,
        }
    }

    /// The joint's own rotation of a local one: seen from the rest rotation.
    #[inline]
    pub fn own(&self, local: Quat) -> Quat {
        math::mul(math::conjugate(self.rest), local)
    }

    /// The local rotation of the joint's own.
    #[inline]
    pub fn local(&self, own: Quat) -> Quat {
        math::normalize(math::mul(self.rest, own))
    }

    /// The coordinates of a local rotation; see [`Coordinates`]. Where an angle has a range, the value is given on the
    /// turn that the range's middle is on. A rotation that the joint cannot make has the coordinates of the nearest that
    /// it can, but for limits.
    pub fn coordinates(&self, local: Quat) -> Coordinates {
        let own = self.own(local);
        match &self.turn {
            Turn::Free => math::rotation_vector(own).to_array(),
            Turn::Fixed(_) => [0.0; 3],
            Turn::Hinge { axis, span, off, .. } => {
                [span.centre + hinge_angle(own, *axis, *off, span), 0.0, 0.0]
            }
            Turn::Ball { frame, twist, .. } => {
                let Split { swing, twist: angle, .. } = split(own, frame);
                [swing[0], swing[1], twist.centre + wrap(angle - twist.centre)]
            }
            Turn::Axes { axes, spans, off } => {
                let own = undo(own, *off);
                let d = angles(own, *axes, spans);
                if (0..3).all(|n| spans[n].excess(d[n]) <= 0.0) {
                    return [0, 1, 2].map(|n| spans[n].centre + d[n]);
                }
                // Next to a pole of the middle axis it may be within its limits, though these angles are not.
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
            Turn::Ball { frame, .. } => join([c[0], c[1]], c[2], frame),
            Turn::Axes { axes, off, .. } => redo(euler::rotation(*axes, c), *off),
        };
        self.local(own)
    }

    /// The coordinates within the limits of the nearest rotation that the joint may have, and how far off that is.
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
            Turn::Ball { frame, swing, slack, twist } => {
                let parts = split(own, frame);
                let (at, excess) = clamp_ball(&parts, swing, *slack, twist);
                return Nearest { at, excess, tolerance: parts.tolerance() };
            }
            // Near the poles of the middle axis the outer two angles grow without bound from rounding; the turn that is
            // missing does not.
            Turn::Axes { axes, spans, off } => {
                let own = undo(own, *off);
                let d = clamp_angles(own, *axes, spans);
                let at = [0, 1, 2].map(|n| spans[n].centre + d[n]);
                (at, math::angle_between(euler::rotation(*axes, at), own))
            }
        };
        Nearest { at, excess, tolerance: TOLERANCE }
    }

    /// How far a local rotation is outside, in radians, 0 within: the largest excess of its coordinates (of a swing, its
    /// distance from the ellipse), or the turn about an axis that should not turn; for turns about single axes, the least
    /// turn that brings it within, which is well known where the angles are not (next to a pole of the middle axis).
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

    /// The rotation within the limits that is nearest in the joint's coordinates: an angle at the end of its range, a swing
    /// at the nearest point of its ellipse, the twist by itself; for turns about single axes the nearest rotation of all
    /// that they make. Within the limits, the bits are kept.
    pub fn clamp(&self, local: Quat) -> Quat {
        if matches!(self.turn, Turn::Free) || self.is_well_within(local) {
            return local;
        }
        let nearest = self.nearest(local);
        if nearest.is_within() { local } else { self.rotation(nearest.at) }
    }

    /// Whether a ball's rotation is within its limits by a margin: true is sure, and takes no trigonometry.
    ///
    /// With x and y the sine and cosine of half an angle, 2 pi x / (2 + y) is no less than the angle and 6 x / (2 + y) no
    /// more (Shafer), and the two are five parts in a hundred apart.
    #[inline]
    fn is_well_within(&self, local: Quat) -> bool {
        let Turn::Ball { frame, swing, twist, .. } = &self.turn else { return false };
        let own = self.own(local);
        let v = Vec3::new(own.x, own.y, own.z);
        let (x, y, z, w) = (v.dot(frame.x_axis), v.dot(frame.y_axis), v.dot(frame.z_axis), own.w);
        let n = math::sqrt(z * z + w * w);
        // Far from the half turn of swing, where no twist is.
        if n.is_nan() || n < 0.1 {
            return false;
        }
        if let Some(e) = swing {
            // The swing's vector part, n times: own * conjugate(twist).
            let k = TAU / ((2.0 + n) * n);
            if e.level([k * (x * w - y * z), k * (y * w + x * z)]) > 1.0 {
                return false;
            }
        }
        if twist.is_free() {
            return true;
        }
        // The angle of twist is the same with both signs changed.
        let z = if w < 0.0 { -z } else { z };
        let k = z / (2.0 * n + w.abs());
        let (near, far) = (6.0 * k, TAU * k);
        near.min(far) >= twist.centre + twist.low && near.max(far) <= twist.centre + twist.high
    }

    /// Where the joint gets from one local rotation (within the limits) when a step to another is wanted (anywhere): each
    /// coordinate by itself withholds what stiffness and damping withhold, eases near its end, and stays within.
    pub fn step(&self, from: Quat, wanted: Quat) -> Quat {
        if !self.resists || matches!(self.turn, Turn::Free | Turn::Fixed(_)) {
            return self.clamp(wanted);
        }
        let c = self.step_coordinates(self.inside(from), self.coordinates(wanted));
        self.clamp(self.rotation(c))
    }

    /// The same in coordinates, for a `from` that is within the limits. A swing goes straight, an angle the shorter way
    /// round (and not past its ends).
    pub fn step_coordinates(&self, from: Coordinates, wanted: Coordinates) -> Coordinates {
        let mut c = from;
        for n in 0..3 {
            let way = wanted[n] - from[n];
            c[n] += self.resist[n].step(if self.is_swing(n) { way } else { wrap(way) });
            if let Some(span) = self.span(n) {
                c[n] = ease_into(span, &self.resist[n], from[n], c[n]);
            }
        }
        if let Turn::Ball { swing: Some(e), slack, .. } = &self.turn {
            let s = ease_swing(e, self.resist[0].ease, [from[0], from[1]], [c[0], c[1]]);
            [c[0], c[1]] = within(e, *slack, s);
        }
        c
    }

    /// The range of a coordinate that is an angle by itself.
    fn span(&self, n: usize) -> Option<&Span> {
        match &self.turn {
            Turn::Hinge { span, .. } if n == 0 => Some(span),
            Turn::Ball { twist, .. } if n == 2 => Some(twist),
            Turn::Axes { spans, .. } => Some(&spans[n]),
            _ => None,
        }
    }

    /// How far coordinate `n` of a joint that turns about single axes may go down and up from a place within its range, if
    /// it may not go further than `most` from where it came in.
    pub(crate) fn angle_room(&self, n: usize, at: f32, came: f32, most: f32) -> [f32; 2] {
        let Some(span) = self.span(n) else { return [0.0; 2] };
        let [down, up] = span.room(at - span.centre);
        let back = wrap(came - at);
        [down.max(back - most).min(0.0), up.min(back + most).max(0.0)]
    }

    /// The axis in the parent's frame, a unit vector, about which the joint turns when coordinate `n` alone grows, from
    /// the place with these coordinates; none where that coordinate is no single turn (swing and twist of a ball, a free
    /// joint) or does not move.
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

    /// The local rotation with these coordinates ([`Limits::rotation`]) and the axis of each ([`Limits::turn_axis`]; zero
    /// where there is none).
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

    /// Whether each of its coordinates is a turn about one axis: a hinge, or turns about single axes.
    pub fn turns_about_axes(&self) -> bool {
        matches!(self.turn, Turn::Hinge { .. } | Turn::Axes { .. })
    }

    fn is_swing(&self, n: usize) -> bool {
        matches!(self.turn, Turn::Ball { .. }) && n < 2
    }

    /// The local rotation to bend towards where nothing else tells the way: preferred values where there are any, and
    /// elsewhere the value nearest to 0 that is within the limits. None where no coordinate prefers any.
    pub fn preferred(&self) -> Option<Quat> {
        if self.preferred == [None; 3] {
            return None;
        }
        let at = self.coordinates(self.clamp(self.rest));
        Some(self.clamp(self.rotation([0, 1, 2].map(|n| self.preferred[n].unwrap_or(at[n])))))
    }

    /// The coordinates of a rotation that is within the limits, but for rounding.
    fn inside(&self, local: Quat) -> Coordinates {
        match &self.turn {
            Turn::Axes { .. } => self.nearest(local).at,
            _ => self.coordinates(local),
        }
    }
}

/// The place within limits that is nearest to a rotation.
struct Nearest {
    at: Coordinates,
    /// Radians between the two.
    excess: f32,
    /// The excess that is rounding.
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

/// The unit vector along an axis that has passed its check.
fn unit64(v: DVec3) -> DVec3 {
    // Squares of what is shorter vanish, and of what is longer overflow.
    if (1e-200..1e200).contains(&v.length_squared()) { v.normalize() } else { direction(v) }
}

/// The axes of slides in the parent's frame. The rest rotation keeps its bits where they are its own axes.
fn slide_frame(rest: Quat, axes: &DMat3) -> Quat {
    if *axes == DMat3::IDENTITY {
        return rest;
    }
    let q = math64::quaternion(axes);
    math::mul(rest, Quat::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32))
}

/// The same bits where it is a unit quaternion but for rounding: another rounding would be seen where what comes in is
/// tilted by nearly half a turn (see `relax`).
fn unit_rotation(q: Quat) -> Quat {
    if (math::dot(q, q) - 1.0).abs() <= 4.0 * f32::EPSILON { q } else { math::normalize(q) }
}

fn length([x, y]: [f32; 2]) -> f32 {
    math::sqrt(x * x + y * y)
}

/// A rotation without what came in outside: the other way of [`redo`].
fn undo(own: Quat, off: Quat) -> Quat {
    if off == Quat::IDENTITY { own } else { math::mul(own, math::conjugate(off)) }
}

/// A rotation with what came in outside.
fn redo(own: Quat, off: Quat) -> Quat {
    if off == Quat::IDENTITY { own } else { math::mul(own, off) }
}

/// The rotation about `v` by its length.
fn of_vector(v: Vec3) -> Quat {
    let angle = math::sqrt(v.length_squared());
    if angle > 0.0 { math::axis_angle(v / angle, angle) } else { Quat::IDENTITY }
}

/// Eases a coordinate that goes from `a` to `b`, and keeps it in its range.
fn ease_into(span: &Span, resist: &Resistance, a: f32, b: f32) -> f32 {
    if span.is_free() {
        return b;
    }
    let (from, to) = (a - span.centre, b - span.centre);
    let zone = resist.ease * span.half;
    // Towards an end it stiffens; away from it, it does not.
    let d = if to > from && from < span.high {
        eased(from, to - from, span.high, zone)
    } else if to < from && from > span.low {
        -eased(-from, from - to, -span.low, zone)
    } else {
        to
    };
    span.centre + span.clamp(d)
}

/// Eases a swing by how near it comes to its ellipse: the root of the level is 0 in the middle and 1 on the outline.
fn ease_swing(e: &Ellipse, ease: f32, a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
    let (from, to) = (math::sqrt(e.level(a)), math::sqrt(e.level(b)));
    if ease <= 0.0 || to <= from || from >= 1.0 {
        return b;
    }
    let k = eased(from, to - from, 1.0, ease) / to;
    [b[0] * k, b[1] * k]
}

/// Half a turn less what keeps the twist's digits: see [`super::JointFault::TooWide`].
pub(crate) const WIDEST: f64 = 3.0;
const _: () = assert!(WIDEST < PI as f64);
