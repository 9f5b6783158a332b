//! Ease as a weight of a step of least squares, joints that stiffness holds, and ways to preferred values.
//!
//! With the weights W of the coordinates, the step that removes the residual r is W J^T (J W J^T + mu)^-1 r: the smallest
//! one, where a motion d costs d^T W^-1 d. Any W that is positive definite leads to the same goals; weights only share the
//! motion among the joints. A coordinate of stiffness s has the weight (1 - s)^2: beside others that do the work, it takes
//! that share of its motion. One of stiffness 1 is held. Ease multiplies the weight of a motion towards a limit; see
//! [`ease_weight`].

use glam::{Quat, Vec3};

use super::{Limits, Resistance, Span, Turn, of_vector, parts::split};
use crate::{
    JointTransform,
    joint::{ease_weight, span::wrap},
    math,
};

/// Weight of a motion up or down from a value.
fn weight(span: &Span, resist: &Resistance, at: f32, up: bool) -> f32 {
    let room = span.room(at - span.centre)[usize::from(up)].abs();
    ease_weight(room.into(), (resist.ease * span.half).into()) as f32
}

impl Limits {
    /// Weight by which ease multiplies a motion up or down from the value `at`: of coordinate `n` of a joint that turns about
    /// single axes.
    pub(crate) fn angle_ease(&self, n: usize, at: f32, up: bool) -> f32 {
        self.span(n).map_or(1.0, |span| weight(span, &self.resist[n], at, up))
    }

    /// [`Limits::angle_ease`] of a slide.
    pub(crate) fn slide_ease(&self, axis: usize, at: f32, up: bool) -> f32 {
        let slide = &self.slide[axis];
        slide.span.map_or(1.0, |span| weight(&span, &slide.resist, at, up))
    }

    /// Perpendicular axes of turns of a ball, in the parent's frame: out of the swing's ellipse, of the twist, and along the
    /// ellipse; and the weights by which ease multiplies the turns about the first two. `None` where ease multiplies none.
    /// `slope` is the gradient along turns, which stands for the direction of the step.
    ///
    /// With the swing s, a small turn v changes swing and twist by the coordinates of exp(-s / 2) v.
    pub(crate) fn ball_ease(&self, local: Quat, slope: Vec3) -> Option<([Vec3; 3], [f32; 2])> {
        let Turn::Ball { frame, swing, twist, .. } = &self.turn else { return None };
        let parts = split(self.own(local), frame);
        let across = |[x, y]: [f32; 2]| frame.x_axis * x + frame.y_axis * y;
        let half = math::mul(self.rest, of_vector(across(parts.swing) * 0.5));
        let (outward, level) =
            swing.map_or(([0.0; 2], 0.0), |e| (e.slope(parts.swing), e.level(parts.swing)));
        let about = math::rotate(half, frame.z_axis);
        let out = math::perpendicular(about, math::rotate(half, across(outward)));
        let eased = ease_weight((1.0 - math::sqrt(level)).into(), self.resist[0].ease.into()) as f32;
        let at = twist.centre + wrap(parts.twist - twist.centre);
        let eased = if out.dot(slope) > 0.0 { eased } else { 1.0 };
        let twisted = weight(twist, &self.resist[2], at, about.dot(slope) > 0.0);
        let weights = [eased, twisted];
        (weights != [1.0; 2]).then(|| ([out, about, out.cross(about)], weights))
    }

    /// The rotation with the preferred values of the coordinates that have one and the present values of the others; `None`
    /// if none has.
    pub(crate) fn preferring(&self, local: Quat) -> Option<Quat> {
        if self.preferred == [None; 3] {
            return None;
        }
        let at = self.coordinates(local);
        Some(self.clamp(self.rotation([0, 1, 2].map(|n| self.preferred[n].unwrap_or(at[n])))))
    }

    /// Change of coordinate `n` of a joint that turns about single axes from the value `at` to the preferred one, by the
    /// shorter way if nothing limits it.
    pub(crate) fn angle_to_preferred(&self, n: usize, at: f32) -> Option<f32> {
        let (span, to) = (self.span(n)?, self.preferred[n]?);
        let way =
            if span.is_free() { to - at } else { span.clamp(wrap(to - span.centre)) - (at - span.centre) };
        Some(if span.is_free() { wrap(way) } else { way })
    }

    /// Whether stiffness holds the joint's rotation, to the last bit.
    pub(crate) fn holds_turns(&self) -> bool {
        self.holds && !self.turns()
    }

    /// The limits where stiffness holds every coordinate that has a stiffness of 1 at its input value; `None` where it holds
    /// nothing. A ball is held as a whole, and so is a joint outside its limits, whose other coordinates could lead further
    /// out.
    pub(crate) fn held(&self, local: &JointTransform) -> Option<Self> {
        if !self.holds {
            return None;
        }
        let mut held = *self;
        let stiff = self.resist.map(|r| r.stiffness >= 1.0);
        let moves = (0..3).any(|n| !stiff[n] && self.span(n).is_some_and(|s| s.low < s.high));
        match &mut held.turn {
            Turn::Axes { spans, .. } if moves && self.is_within(local.rotation) => {
                let at = self.coordinates(local.rotation);
                for n in (0..3).filter(|&n| stiff[n]) {
                    let d = at[n] - spans[n].centre;
                    (spans[n].low, spans[n].high, held.preferred[n]) = (d, d, None);
                }
            }
            turn if stiff != [false; 3] => (*turn, held.preferred) = (Turn::Fixed(local.rotation), [None; 3]),
            _ => {}
        }
        for slide in held.slide.iter_mut().filter(|s| s.resist.stiffness >= 1.0) {
            (slide.span, slide.preferred) = (None, None);
        }
        Some(held)
    }
}
