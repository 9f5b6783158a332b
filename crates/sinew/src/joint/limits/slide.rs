//! The slides of a joint's limits.

use glam::Vec3;

use super::{Limits, Slide, Span, ease_into};
use crate::{joint::euler, math};

impl Limits {
    /// How far a local translation has slid from the rest pose along the axes of its slides, in the parent's units.
    /// Along axes that do not slide, that is how far a clip has moved the joint.
    pub fn slide_of(&self, translation: Vec3) -> Vec3 {
        math::rotate(math::conjugate(self.slide_frame), translation - self.origin)
    }

    /// The direction of a slide's axis in the parent's frame, where the joint slides along it.
    pub fn slide_axis(&self, axis: usize) -> Option<Vec3> {
        self.slide.get(axis)?.span.map(|_| math::rotate(self.slide_frame, euler::unit(axis)))
    }

    /// The range of a slide, where it slides along the axis (0 X, 1 Y, 2 Z) at all; infinite where it is not limited.
    pub fn slide_range(&self, axis: usize) -> Option<(f32, f32)> {
        self.slide.get(axis)?.span.map(|s| (s.centre + s.low, s.centre + s.high))
    }

    /// How far a slide may go down and up from a place within its range.
    pub(crate) fn slide_room(&self, axis: usize, at: f32) -> [f32; 2] {
        self.slide[axis].span.map_or([0.0; 2], |span| span.room(at - span.centre))
    }

    /// Where a joint should slide to that has no other way to tell.
    pub fn slide_preferred(&self, axis: usize) -> Option<f32> {
        self.slide.get(axis)?.preferred
    }

    /// The translation within the limits of its slides that is nearest to `translation`, where it came in as `incoming`.
    /// Along axes that do not slide it keeps what came in. Within the limits, the bits are kept.
    pub fn clamp_slide(&self, incoming: Vec3, translation: Vec3) -> Vec3 {
        if translation == incoming && self.slide_excess(translation) <= 0.0 {
            return translation;
        }
        let at = self.slide_of(translation);
        self.slid(incoming, |n, span| span.centre + span.clamp(at[n] - span.centre))
    }

    /// The translation that has slid to a value along each axis that slides; across them as it came in.
    fn slid(&self, incoming: Vec3, to: impl Fn(usize, &Span) -> f32) -> Vec3 {
        let was = self.slide_of(incoming);
        let moved = [0, 1, 2].map(|n| self.slide[n].span.map_or(0.0, |span| to(n, &span) - was[n]));
        incoming + math::rotate(self.slide_frame, Vec3::from_array(moved))
    }

    /// The translation that has slid to `value` along one axis and, along the other axes that slide, stands where
    /// `translation` does; across them it is `incoming` to the last digit, however often it slides.
    pub fn slide_to(&self, incoming: Vec3, translation: Vec3, axis: usize, value: f32) -> Vec3 {
        let at = self.slide_of(translation);
        self.slid(incoming, |n, _| if n == axis { value } else { at[n] })
    }

    /// How far a local translation is outside the ranges of its slides, in the parent's units; 0 within.
    pub fn slide_excess(&self, translation: Vec3) -> f32 {
        if !self.slides {
            return 0.0;
        }
        let at = self.slide_of(translation);
        (0..3).filter_map(|n| self.slide[n].span.map(|s| s.excess(at[n] - s.centre))).fold(0.0, f32::max)
    }

    /// Where a slide's coordinate gets from `from` when a step to `wanted` is asked for; as [`Limits::step`] does it for
    /// angles. An axis that does not slide stays.
    pub fn slide_step(&self, axis: usize, from: f32, wanted: f32) -> f32 {
        let Some(Slide { span: Some(span), resist, .. }) = self.slide.get(axis) else { return from };
        let to = from + resist.step(wanted - from);
        let to = ease_into(span, resist, from, to);
        span.centre + span.clamp(to - span.centre)
    }
}
