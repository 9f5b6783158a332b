//! Contacts from the caller: by hand, from another program, or from keyed curves.
//!
//! They replace the detected contacts of a foot ([`ClipAnalysis::set_contacts`]) and are in the clip's own time.
//! [`from_curve`] converts a keyed curve to contacts.

use alloc::vec::Vec;

use thiserror::Error;

use super::{ClipAnalysis, Contacts, Interval};

/// Value of a contact curve above which the point is in contact: half-way between 0 (in the air) and 1 (standing).
pub const THRESHOLD: f32 = 0.5;

/// Error of one contact in a list.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum IntervalError {
    /// A time is not finite.
    #[error("from {from} s to {to} s is not finite")]
    NotFinite {
        /// Start of the contact, in seconds.
        from: f32,
        /// End of the contact, in seconds.
        to: f32,
    },
    /// The contact does not end after its start.
    #[error("from {from} s to {to} s does not end after its start")]
    Backwards {
        /// Start of the contact, in seconds.
        from: f32,
        /// End of the contact, in seconds.
        to: f32,
    },
    /// The contact starts before the end of the previous one.
    #[error("it starts at {from} s, before the end of the previous contact at {before} s")]
    Unordered {
        /// Start of the contact, in seconds.
        from: f32,
        /// End of the previous contact, in seconds.
        before: f32,
    },
    /// No part of the contact lies within the clip.
    #[error("from {from} s to {to} s is outside the clip, which is from {begin} s to {end} s")]
    Outside {
        /// Start of the contact, in seconds.
        from: f32,
        /// End of the contact, in seconds.
        to: f32,
        /// Start of the clip, in seconds.
        begin: f32,
        /// End of the clip, in seconds.
        end: f32,
    },
}

/// Error of [`ClipAnalysis::set_contacts`].
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ContactsError {
    /// The number of entries is not that of the legs.
    #[error("contacts are given for {given} feet, but the figure has {legs} legs")]
    Feet {
        /// Number of entries given.
        given: usize,
        /// Number of legs.
        legs: usize,
    },
    /// A contact is invalid.
    #[error("contact {index} of the {point} of leg {leg}: {fault}")]
    Interval {
        /// Index of the leg.
        leg: usize,
        /// Point of the foot: `heel` or `ball`.
        point: &'static str,
        /// Index in the list.
        index: usize,
        /// The contact's error.
        fault: IntervalError,
    },
}

/// Error of [`from_curve`].
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ContactCurveError {
    /// The curve has no keys.
    #[error("the curve has no keys")]
    Empty,
    /// A time or a value is not finite.
    #[error("key {key} is not finite: {value} at {time} s")]
    NotFinite {
        /// Index of the key.
        key: usize,
        /// Time of the key, in seconds.
        time: f32,
        /// Value of the key.
        value: f32,
    },
    /// The times of the keys decrease.
    #[error("key {key} is at {time} s, before the previous key at {before} s")]
    Unordered {
        /// Index of the key.
        key: usize,
        /// Time of the key, in seconds.
        time: f32,
        /// Time of the previous key, in seconds.
        before: f32,
    },
}

/// Converts a curve of `[time, value]` keys to contacts within `span`: the intervals in which it is above [`THRESHOLD`].
///
/// The curve is linear between keys. Two keys at one time are a jump. Before the first key and after the last the curve
/// keeps their values, as the tracks of a clip do.
///
/// # Errors
///
/// The curve has no keys, a key is not finite, or times decrease.
///
/// ```
/// use sinew::ground::plant::{Interval, given::from_curve};
/// let keys = [[0.0, 0.0], [0.2, 1.0], [0.6, 1.0], [0.8, 0.0]];
/// let contacts = from_curve(&keys, Interval { from: 0.0, to: 1.0 })?;
/// assert_eq!(contacts.len(), 1);
/// assert!((contacts[0].from - 0.1).abs() < 1e-6 && (contacts[0].to - 0.7).abs() < 1e-6);
/// # Ok::<(), sinew::ground::plant::given::ContactCurveError>(())
/// ```
pub fn from_curve(keys: &[[f32; 2]], span: Interval) -> Result<Vec<Interval>, ContactCurveError> {
    let mut before = f32::NEG_INFINITY;
    for (key, &[time, value]) in keys.iter().enumerate() {
        if !(time.is_finite() && value.is_finite()) {
            return Err(ContactCurveError::NotFinite { key, time, value });
        }
        if time < before {
            return Err(ContactCurveError::Unordered { key, time, before });
        }
        before = time;
    }
    let (Some(&[_, first]), Some(&[_, last])) = (keys.first(), keys.last()) else {
        return Err(ContactCurveError::Empty);
    };
    let mut found: Vec<Interval> = Vec::new();
    // Contacts are clipped to the span; empty ones are dropped.
    let mut push = |from: f32, to: f32| {
        let (from, to) = (from.max(span.from), to.min(span.to));
        if from < to {
            found.push(Interval { from, to });
        }
    };
    let mut since = (first > THRESHOLD).then_some(f32::NEG_INFINITY);
    for pair in keys.windows(2) {
        let [[t, a], [u, b]] = [pair[0], pair[1]].map(|k| k.map(f64::from));
        let on = b > f64::from(THRESHOLD);
        if on == since.is_some() {
            continue;
        }
        // In f64 the difference of two `f32` values does not overflow.
        let met = (t + (u - t) * ((f64::from(THRESHOLD) - a) / (b - a))) as f32;
        match since.take() {
            Some(from) => push(from, met),
            None => since = Some(met),
        }
    }
    if let Some(from) = since.filter(|_| last > THRESHOLD) {
        push(from, f32::INFINITY);
    }
    Ok(found)
}

impl ClipAnalysis {
    /// Sets the contacts of each foot, in the order of the figure's legs. Feet with `None` keep their detected contacts.
    ///
    /// Times are in seconds in the clip's own time: a clip that starts at 5 s has no contact at 1 s. Contacts of one point
    /// are in order and do not overlap; they may meet. A part beyond the clip is cut off. A clip sampled in several rounds
    /// has its contacts in each; contacts that meet at the end of a round are joined.
    ///
    /// # Errors
    ///
    /// The number of entries is not that of the legs, or a contact is not finite, not in order, empty, or outside the clip.
    /// The analysis then stays as it was.
    pub fn set_contacts(&mut self, contacts: &[Option<Contacts>]) -> Result<(), ContactsError> {
        if contacts.len() != self.feet.len() {
            return Err(ContactsError::Feet { given: contacts.len(), legs: self.feet.len() });
        }
        for (leg, given) in contacts.iter().enumerate() {
            let Some(given) = given else { continue };
            for (point, list) in [("heel", &given.heel), ("ball", &given.ball)] {
                check(list, self.clip).map_err(|(index, fault)| ContactsError::Interval {
                    leg,
                    point,
                    index,
                    fault,
                })?;
            }
        }
        let rounds = |c: &Contacts| Contacts { heel: self.rounds(&c.heel), ball: self.rounds(&c.ball) };
        let given: Vec<_> = contacts.iter().map(|c| c.as_ref().map(rounds)).collect();
        for (foot, given) in self.feet.iter_mut().zip(given) {
            foot.given = given;
        }
        Ok(())
    }

    /// Converts contacts of one round in the clip's time to contacts of all rounds in seconds from the first sample.
    fn rounds(&self, list: &[Interval]) -> Vec<Interval> {
        let mut all: Vec<Interval> = Vec::with_capacity(list.len() * self.cycles as usize);
        for round in 0..self.cycles {
            let begin = round as f32 * self.cycle;
            // Detected contacts end with the last sample too.
            let last = (self.len() - 1) as f32 * self.step - begin;
            let end = if round + 1 == self.cycles { last } else { self.cycle };
            for c in list {
                let (from, to) = ((c.from - self.start).max(0.0), (c.to - self.start).min(end));
                if from >= to {
                    continue;
                }
                let (from, to) = (begin + from, begin + to);
                match all.last_mut() {
                    // Rounding may part the rounds by much less than a sample.
                    Some(last) if from - last.to <= 1e-3 * self.step => last.to = to,
                    _ => all.push(Interval { from, to }),
                }
            }
        }
        all
    }
}

/// Returns the first invalid contact of a list, with its index.
fn check(list: &[Interval], clip: Interval) -> Result<(), (usize, IntervalError)> {
    let mut before = f32::NEG_INFINITY;
    for (index, &Interval { from, to }) in list.iter().enumerate() {
        let fault = if !(from.is_finite() && to.is_finite()) {
            IntervalError::NotFinite { from, to }
        } else if from >= to {
            IntervalError::Backwards { from, to }
        } else if from < before {
            IntervalError::Unordered { from, before }
        } else if from > clip.to || to < clip.from {
            IntervalError::Outside { from, to, begin: clip.from, end: clip.to }
        } else {
            before = to;
            continue;
        };
        return Err((index, fault));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use proptest::prelude::*;

    use super::*;

    const SPAN: Interval = Interval { from: 0.0, to: 10.0 };

    fn spans(keys: &[[f32; 2]]) -> Vec<[f32; 2]> {
        from_curve(keys, SPAN).unwrap().iter().map(|i| [i.from, i.to]).collect()
    }

    #[test]
    fn a_curve_crosses_between_its_keys_and_is_kept_beyond_them() {
        assert_eq!(spans(&[[1.0, 0.0], [3.0, 1.0], [5.0, 0.0]]), vec![[2.0, 4.0]]);
        assert_eq!(spans(&[[1.0, 0.25], [2.0, 1.25], [4.0, 0.0]]), vec![[1.25, 3.2]]);
        // From before the first key, over the last, and both.
        assert_eq!(spans(&[[2.0, 1.0], [4.0, 0.0]]), vec![[0.0, 3.0]]);
        assert_eq!(spans(&[[2.0, 0.0], [4.0, 1.0]]), vec![[3.0, 10.0]]);
        assert_eq!(spans(&[[-7.0, 0.6]]), vec![[0.0, 10.0]]);
        assert_eq!(spans(&[[5.0, 0.5]]), Vec::<[f32; 2]>::new());
        // Jumps; a touch of the threshold is none; what lies beyond the span is cut.
        assert_eq!(spans(&[[1.0, 0.0], [1.0, 1.0], [2.0, 1.0], [2.0, 0.0]]), vec![[1.0, 2.0]]);
        assert_eq!(spans(&[[1.0, 0.0], [2.0, 0.5], [3.0, 0.0]]), Vec::<[f32; 2]>::new());
        assert_eq!(spans(&[[8.0, 0.0], [12.0, 2.0], [16.0, 0.0]]), vec![[9.0, 10.0]]);
        assert_eq!(spans(&[[11.0, 0.0], [12.0, 2.0], [13.0, 0.0]]), Vec::<[f32; 2]>::new());
        // Values whose difference no f32 holds.
        assert_eq!(spans(&[[2.0, -3e38], [4.0, 3e38], [6.0, 3e38]]), vec![[3.0, 10.0]]);
    }

    #[test]
    fn curves_that_are_none_say_where() {
        assert_eq!(from_curve(&[], SPAN), Err(ContactCurveError::Empty));
        let error = from_curve(&[[0.0, 1.0], [2.0, 1.0], [1.0, 0.0]], SPAN);
        assert_eq!(error, Err(ContactCurveError::Unordered { key: 2, time: 1.0, before: 2.0 }));
        let error = from_curve(&[[0.0, 1.0], [2.0, f32::INFINITY]], SPAN).unwrap_err();
        assert_eq!(error, ContactCurveError::NotFinite { key: 1, time: 2.0, value: f32::INFINITY });
        assert!(matches!(
            from_curve(&[[f32::NAN, 1.0]], SPAN),
            Err(ContactCurveError::NotFinite { key: 0, .. })
        ));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Against the curve itself, read at many times by its definition.
        #[test]
        fn contacts_are_where_the_curve_is_high(
            steps in prop::collection::vec((0.01f32..1.0, -1.0f32..2.0), 1..20),
        ) {
            let mut time = 0.0;
            let keys: Vec<[f32; 2]> = steps.iter().map(|&(dt, v)| { time += dt; [time, v] }).collect();
            let found = from_curve(&keys, SPAN).unwrap();
            prop_assert!(check(&found, SPAN).is_ok());
            for i in 0..=2000 {
                let t = 0.005 * i as f64;
                let k = keys.iter().take_while(|k| f64::from(k[0]) <= t).count();
                let value = if k == 0 || k == keys.len() {
                    f64::from(keys[k.saturating_sub(1).min(keys.len() - 1)][1])
                } else {
                    let [[t0, a], [t1, b]] = [keys[k - 1], keys[k]].map(|k| k.map(f64::from));
                    (a * (t1 - t) + b * (t - t0)) / (t1 - t0)
                };
                // Where rounding of times cannot decide; the steepest curve makes 3 in 0.01 s.
                if (value - 0.5).abs() > 1e-3 {
                    prop_assert_eq!(found.iter().any(|c| c.contains(t as f32)), value > 0.5, "{} at {}", value, t);
                }
            }
        }
    }
}
