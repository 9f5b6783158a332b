//! Limits of slides.

use glam::Vec3;

use super::{Limits, Resistance, Slide, Span, ease_into};
use crate::{joint::euler, math};

impl Limits {
    /// The displacement of a local translation from the rest pose along the axes of the slides, in the parent's units.
    /// Along axes that do not slide, it is the displacement by a clip.
    pub fn slide_of(&self, translation: Vec3) -> Vec3 {
        math::rotate(math::conjugate(self.slide_frame), translation - self.origin)
    }

    /// The direction of a slide's axis (0 X, 1 Y, 2 Z) in the parent's frame; `None` if the joint does not slide along
    /// it.
    pub fn slide_axis(&self, axis: usize) -> Option<Vec3> {
        self.slide.get(axis)?.span.map(|_| math::rotate(self.slide_frame, euler::unit(axis)))
    }

    /// The range of a slide along an axis (0 X, 1 Y, 2 Z), in the parent's units; infinite without limits. `None` if the
    /// joint does not slide along it.
    pub fn slide_range(&self, axis: usize) -> Option<(f32, f32)> {
        self.slide.get(axis)?.span.map(|s| (s.centre + s.low, s.centre + s.high))
    }

    /// Maximum change downwards and upwards of a slide from the value `at` within its range, in the parent's units.
    pub(crate) fn slide_room(&self, axis: usize, at: f32) -> [f32; 2] {
        self.slide[axis].span.map_or([0.0; 2], |span| span.room(at - span.centre))
    }

    /// The preferred value of a slide, in the parent's units, for use where the goal decides no direction.
    pub fn slide_preferred(&self, axis: usize) -> Option<f32> {
        self.slide.get(axis)?.preferred
    }

    /// Clamps a local translation to the limits of the slides. Along axes that do not slide, the result keeps the input
    /// pose's translation `incoming`. A translation within the limits keeps its bits.
    pub fn clamp_slide(&self, incoming: Vec3, translation: Vec3) -> Vec3 {
        if translation == incoming && self.slide_excess(translation) <= 0.0 {
            return translation;
        }
        let at = self.slide_of(translation);
        self.slid(incoming, |n, span| span.centre + span.clamp(at[n] - span.centre))
    }

    /// The translation with each slide at the value that `to` returns. Along axes that do not slide, it equals
    /// `incoming`.
    fn slid(&self, incoming: Vec3, to: impl Fn(usize, &Span) -> f32) -> Vec3 {
        let was = self.slide_of(incoming);
        let moved = [0, 1, 2].map(|n| self.slide[n].span.map_or(0.0, |span| to(n, &span) - was[n]));
        incoming + math::rotate(self.slide_frame, Vec3::from_array(moved))
    }

    /// The translation with the slide along `axis` at `value` and the other slides as in `translation`. Along axes that
    /// do not slide, it equals `incoming` to the last digit, however often it slides.
    pub fn slide_to(&self, incoming: Vec3, translation: Vec3, axis: usize, value: f32) -> Vec3 {
        let at = self.slide_of(translation);
        self.slid(incoming, |n, _| if n == axis { value } else { at[n] })
    }

    /// Distance by which a local translation exceeds the ranges of its slides, in the parent's units; 0 within.
    pub fn slide_excess(&self, translation: Vec3) -> f32 {
        if !self.slides {
            return 0.0;
        }
        let at = self.slide_of(translation);
        (0..3).filter_map(|n| self.slide[n].span.map(|s| s.excess(at[n] - s.centre))).fold(0.0, f32::max)
    }

    /// The value of a slide after a step from `from` towards `wanted`, in the parent's units, as [`Limits::step`] does
    /// for angles. Returns `from` for an axis that does not slide.
    pub fn slide_step(&self, axis: usize, from: f32, wanted: f32) -> f32 {
        let resist = self.slide.get(axis).map_or(Resistance::NONE, |slide| slide.resist);
        self.slide_resisted(axis, from, wanted, &resist)
    }

    /// [`Limits::slide_step`] without resistance.
    pub(crate) fn slide_plainly(&self, axis: usize, from: f32, wanted: f32) -> f32 {
        self.slide_resisted(axis, from, wanted, &Resistance::NONE)
    }

    fn slide_resisted(&self, axis: usize, from: f32, wanted: f32, resist: &Resistance) -> f32 {
        let Some(Slide { span: Some(span), .. }) = self.slide.get(axis) else { return from };
        let to = from + resist.step(wanted - from);
        let to = ease_into(span, resist, from, to);
        span.centre + span.clamp(to - span.centre)
    }
}
