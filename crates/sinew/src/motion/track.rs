//! Tracks: keys over time, interpolated as in glTF 2.0 (specification, appendix C).

use alloc::vec::Vec;

use glam::{Quat, Vec3, Vec4};
use thiserror::Error;

use crate::math;

/// The interpolation between a track's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// Holds each key's value until the next key.
    Step,
    /// Linear interpolation; for rotations, the shorter great arc.
    #[default]
    Linear,
    /// Cubic Hermite spline. Each key has an in-tangent, a value and an out-tangent; tangents are per second.
    Cubic,
}

/// Errors of building a track.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TrackError {
    /// There is no key.
    #[error("a track needs at least one key")]
    NoKeys,
    /// The number of values does not fit the number of key times.
    #[error("{times} key times need {expected} values, not {values}")]
    Length {
        /// Number of key times.
        times: usize,
        /// Number of values that the key times need.
        expected: usize,
        /// Number of values given.
        values: usize,
    },
    /// A key's time is not finite, or is not after the time of the previous key.
    #[error("key {key} has the time {time}, which is not after the {before} of the key before")]
    Time {
        /// Index of the key.
        key: usize,
        /// The key's time in seconds.
        time: f32,
        /// Time of the previous key in seconds; minus infinity for the first key.
        before: f32,
    },
    /// A value is NaN or infinite, or a key is a rotation of length zero.
    #[error("value {index} is not finite, or is a rotation of length zero")]
    Value {
        /// Index among the values.
        index: usize,
    },
}

/// A value that a track can hold.
pub trait TrackValue: Copy {
    /// Whether the value is valid as a key. Tangents need only be finite.
    fn is_key(&self) -> bool;
    /// Whether every number is finite.
    fn is_finite_value(&self) -> bool;
    /// Interpolates between two keys, with `t` in \[0, 1\].
    fn linear(a: Self, b: Self, t: f32) -> Self;
    /// [`TrackValue::linear`], with the same bits. May keep in the cursor what depends on the keys alone.
    #[inline]
    fn linear_from(cursor: &mut TrackCursor, a: Self, b: Self, t: f32) -> Self {
        let _ = cursor;
        Self::linear(a, b, t)
    }
    /// The sum of `values[i] * weights[i]`, normalised for rotations.
    fn weighted(values: [Self; 4], weights: [f32; 4]) -> Self;
}

/// Implements [`TrackValue`] for vector spaces.
macro_rules! linear {
    ($($kind:ty),*) => {$(
        impl TrackValue for $kind {
            #[inline]
            fn is_key(&self) -> bool {
                self.is_finite()
            }
            #[inline]
            fn is_finite_value(&self) -> bool {
                self.is_finite()
            }
            #[inline]
            fn linear(a: Self, b: Self, t: f32) -> Self {
                a * (1.0 - t) + b * t
            }
            #[inline]
            fn weighted(v: [Self; 4], w: [f32; 4]) -> Self {
                v[0] * w[0] + v[1] * w[1] + v[2] * w[2] + v[3] * w[3]
            }
        }
    )*};
}

linear!(f32, Vec3);

impl TrackValue for Quat {
    #[inline]
    fn is_key(&self) -> bool {
        let l = math::dot(*self, *self);
        l > 0.0 && l.is_finite()
    }
    #[inline]
    fn is_finite_value(&self) -> bool {
        math::dot(*self, *self).is_finite()
    }
    #[inline]
    fn linear(a: Self, b: Self, t: f32) -> Self {
        math::slerp(a, b, t)
    }
    #[inline]
    fn linear_from(cursor: &mut TrackCursor, a: Self, b: Self, t: f32) -> Self {
        math::slerp_by(a, b, t, |d| cursor.arc(d))
    }
    #[inline]
    fn weighted(v: [Self; 4], w: [f32; 4]) -> Self {
        // Lanes never mix: the bits are those of four scalar sums.
        let [a, b, c, d] = v.map(Vec4::from);
        let sum = a * w[0] + b * w[1] + c * w[2] + d * w[3];
        math::normalize(Quat::from_vec4(sum))
    }
}

/// Weights of a cubic piece at `t` in \[0, 1\]: of its first value, the change at the rate out of it, its last value, and the
/// change at the rate into that.
#[inline]
pub(crate) fn hermite(t: f32) -> [f32; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [2.0 * t3 - 3.0 * t2 + 1.0, t3 - 2.0 * t2 + t, 3.0 * t2 - 2.0 * t3, t3 - t2]
}

/// Remembers where a track was sampled last, so that the next sample nearby needs no search: [`Track::sample_from`]. It is
/// a hint: samples have the same bits with any cursor, also with that of another track.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrackCursor {
    /// Index of the key at or before the last time.
    key: usize,
    /// Cosine of the last great arc, which names it, its angle, and one over its sine.
    arc: (f32, (f32, f32)),
}

impl TrackCursor {
    /// [`math::arc_of_cosine`], remembered.
    #[inline]
    fn arc(&mut self, cosine: f32) -> (f32, f32) {
        // A fresh cursor holds 0, and no angle for it.
        if self.arc.0 != cosine || cosine == 0.0 {
            self.arc = (cosine, math::arc_of_cosine(cosine));
        }
        self.arc.1
    }
}

/// Keys of one value over time.
///
/// ```
/// use sinew::motion::{Interpolation, Track};
/// let track = Track::new(vec![0.0, 2.0], vec![1.0, 5.0], Interpolation::Linear)?;
/// assert_eq!(track.sample(0.5), 2.0);
/// assert_eq!(track.sample(-1.0), 1.0); // before the first key, the first key
/// # Ok::<(), sinew::motion::TrackError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Track<T> {
    times: Vec<f32>,
    values: Vec<T>,
    interpolation: Interpolation,
}

impl<T: TrackValue> Track<T> {
    /// A track of keys. `times` are in seconds and strictly increasing. `values` holds one value per key, or three
    /// (in-tangent, value, out-tangent) for [`Interpolation::Cubic`].
    ///
    /// # Errors
    ///
    /// - [`TrackError::NoKeys`] if `times` is empty.
    /// - [`TrackError::Length`] if the number of values does not fit the number of times.
    /// - [`TrackError::Time`] if a time is not finite or not after the previous one.
    /// - [`TrackError::Value`] if a value is not finite, or a key is a rotation of length zero.
    pub fn new(times: Vec<f32>, values: Vec<T>, interpolation: Interpolation) -> Result<Self, TrackError> {
        if times.is_empty() {
            return Err(TrackError::NoKeys);
        }
        let per_key = if interpolation == Interpolation::Cubic { 3 } else { 1 };
        if times.len() * per_key != values.len() {
            return Err(TrackError::Length {
                times: times.len(),
                expected: times.len() * per_key,
                values: values.len(),
            });
        }
        let mut before = f32::NEG_INFINITY;
        for (key, &time) in times.iter().enumerate() {
            if !time.is_finite() || time <= before {
                return Err(TrackError::Time { key, time, before });
            }
            before = time;
        }
        for (index, value) in values.iter().enumerate() {
            let is_tangent = per_key == 3 && index % 3 != 1;
            if !(if is_tangent { value.is_finite_value() } else { value.is_key() }) {
                return Err(TrackError::Value { index });
            }
        }
        Ok(Self { times, values, interpolation })
    }

    /// Key times in seconds, strictly increasing.
    pub fn times(&self) -> &[f32] {
        &self.times
    }

    /// Values, three per key for [`Interpolation::Cubic`].
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The interpolation between keys.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// The track of those of its keys, by their indices. At least one must be.
    pub(super) fn keep(self, is_kept: impl Fn(usize) -> bool) -> Self {
        let per_key = self.values.len() / self.times.len();
        let kept = |(k, part): (usize, T)| is_kept(k / per_key).then_some(part);
        let values = self.values.into_iter().enumerate().filter_map(kept).collect();
        let times = self.times.into_iter().enumerate().filter_map(|(k, t)| is_kept(k).then_some(t));
        Self { times: times.collect(), values, interpolation: self.interpolation }
    }

    /// The value of a key, without its tangents.
    fn key(&self, i: usize) -> T {
        if self.interpolation == Interpolation::Cubic { self.values[3 * i + 1] } else { self.values[i] }
    }

    /// The value at `time`, in seconds. Before the first key and for NaN, the first key's value; after the last key, the
    /// last key's.
    pub fn sample(&self, time: f32) -> T {
        self.sample_from(&mut TrackCursor::default(), time)
    }

    /// [`Track::sample`], with the same bits, from where the cursor's last sample was: without a search if `time` lies
    /// between the same keys or the next two.
    #[inline]
    pub fn sample_from(&self, cursor: &mut TrackCursor, time: f32) -> T {
        let found = (cursor.key..cursor.key.saturating_add(2)).find(|&i| self.is_after(i, time));
        let Some(i) = found.or_else(|| self.search(time)) else { return self.key(0) };
        cursor.key = i;
        self.between(cursor, i, i + 1, time)
    }

    /// Whether key `i` is the last at or before `time`.
    #[inline]
    fn is_after(&self, i: usize, time: f32) -> bool {
        self.times.get(i).is_some_and(|&t| t <= time) && self.times.get(i + 1).is_none_or(|&t| time < t)
    }

    /// Index of the last key at or before `time`; `None` before the first key and for NaN.
    #[inline]
    fn search(&self, time: f32) -> Option<usize> {
        // NaN fails the comparison.
        self.times.partition_point(|&t| t <= time).checked_sub(1)
    }

    /// The value at or after key `i` and before key `j`, without the keys between the two. There may be no key `j`.
    #[inline]
    pub(super) fn between(&self, cursor: &mut TrackCursor, i: usize, j: usize, time: f32) -> T {
        // At its time a key has its own bits: interpolation would round them.
        let at_key = time == self.times[i];
        if at_key || self.interpolation == Interpolation::Step || j >= self.times.len() {
            return self.key(i);
        }
        let d = self.times[j] - self.times[i];
        let t = (time - self.times[i]) / d;
        if self.interpolation == Interpolation::Linear {
            return T::linear_from(cursor, self.values[i], self.values[j], t);
        }
        let (a, b) = (&self.values[3 * i..3 * i + 3], &self.values[3 * j..3 * j + 3]);
        let [from, out, to, into] = hermite(t);
        T::weighted([a[1], a[2], b[1], b[0]], [from, d * out, to, d * into])
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn step_holds_and_linear_takes_the_shorter_arc() {
        let step = Track::new(vec![0.0, 1.0], vec![Vec3::ZERO, Vec3::ONE], Interpolation::Step).unwrap();
        assert_eq!(step.sample(0.999), Vec3::ZERO);
        assert_eq!(step.sample(1.0), Vec3::ONE);
        let q = math::axis_angle(Vec3::X, 1.0);
        let minus = Quat::from_xyzw(-q.x, -q.y, -q.z, -q.w);
        let t = Track::new(vec![0.0, 1.0], vec![Quat::IDENTITY, minus], Interpolation::Linear).unwrap();
        assert!(math::angle_between(t.sample(0.25), math::axis_angle(Vec3::X, 0.25)) < 1e-3);
    }

    #[test]
    fn cubic_meets_keys_and_tangents() {
        // x(t) = t^3 on [0, 2]: tangents 0 and 12.
        let t =
            Track::new(vec![0.0, 2.0], vec![0.0, 0.0, 0.0, 12.0, 8.0, 0.0], Interpolation::Cubic).unwrap();
        for x in [0.0f32, 0.3, 1.0, 1.7, 2.0] {
            assert!((t.sample(x) - x * x * x).abs() < 1e-5);
        }
    }

    #[test]
    fn bad_keys_are_named() {
        let e = |times: &[f32], values: &[f32], i| Track::new(times.into(), values.into(), i).unwrap_err();
        assert_eq!(e(&[], &[], Interpolation::Linear), TrackError::NoKeys);
        assert!(matches!(e(&[0.0], &[1.0], Interpolation::Cubic), TrackError::Length { expected: 3, .. }));
        assert!(matches!(e(&[0.0, 0.0], &[1.0, 2.0], Interpolation::Step), TrackError::Time { key: 1, .. }));
        assert!(matches!(
            e(&[0.0, f32::NAN], &[1.0, 2.0], Interpolation::Step),
            TrackError::Time { key: 1, .. }
        ));
        assert_eq!(e(&[0.0], &[f32::NAN], Interpolation::Step), TrackError::Value { index: 0 });
        assert!(Track::new(vec![0.0], vec![Quat::from_xyzw(0., 0., 0., 0.)], Interpolation::Linear).is_err());
    }

    #[test]
    fn a_key_keeps_its_bits_at_its_time() {
        // Of a length that interpolation would round to 1.
        let long = Quat::from_xyzw(0.6, 0.0, -0.0, 0.800_000_1);
        let t = Track::new(vec![0.0, 1.0], vec![long, Quat::IDENTITY], Interpolation::Linear).unwrap();
        assert_eq!(t.sample(0.0).to_array().map(f32::to_bits), long.to_array().map(f32::to_bits));
        assert!(math::angle_between(t.sample(1e-3), long) < 0.01);
    }

    #[test]
    fn a_time_of_nan_gives_a_key() {
        let t = Track::new(vec![0.0, 1.0], vec![3.0, 4.0], Interpolation::Linear).unwrap();
        assert_eq!(t.sample(f32::NAN), 3.0);
    }
}
