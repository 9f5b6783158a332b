//! When a point of a foot stands: by height and speed, with hysteresis, at times between samples.

use alloc::vec::Vec;

/// A stretch of time, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its begin.
    pub from: f32,
    /// Its end.
    pub to: f32,
}

impl Interval {
    /// Whether a time lies in it, ends included.
    pub fn contains(&self, time: f32) -> bool {
        time >= self.from && time <= self.to
    }

    /// How long it is.
    pub fn length(&self) -> f32 {
        self.to - self.from
    }
}

/// Limits within which a point is in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactLimits {
    /// Largest height above the point's lowest, in metres.
    pub height: f32,
    /// Largest speed, in m/s.
    pub speed: f32,
    /// A contact lasts until either passes its limit times this.
    pub release: f32,
}

/// Decides, a sample at a time, whether one point is in contact. The same detector serves the whole clip and the step
/// by step form, so that both see the same contacts.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct ContactDetector {
    touching: bool,
    /// How far outside the limits the last sample was: the larger of height and speed as shares of their limits.
    last: Option<f32>,
}

/// What one sample changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactChange {
    /// Nothing.
    None,
    /// The point came into contact, at this share of the way from the last sample to this one.
    Touched(f32),
    /// It left, at this share of the way.
    Left(f32),
}

impl ContactDetector {
    /// Whether the point is in contact as of the last sample.
    pub fn touching(&self) -> bool {
        self.touching
    }

    /// Takes the next sample: height above the lowest (m) and speed (m/s).
    pub fn push(&mut self, height: f32, speed: f32, limits: &ContactLimits) -> ContactChange {
        let level = (height / limits.height).max(speed / limits.speed);
        let threshold = if self.touching { limits.release } else { 1.0 };
        let before = self.last.replace(level);
        // Where between the samples the level met the threshold; a first sample has nothing before it.
        let share = before.map_or(0.0, |b| ((threshold - b) / (level - b)).clamp(0.0, 1.0));
        match (self.touching, level <= threshold) {
            (false, true) => {
                self.touching = true;
                ContactChange::Touched(share)
            }
            (true, false) => {
                self.touching = false;
                ContactChange::Left(share)
            }
            _ => ContactChange::None,
        }
    }
}

/// Every contact of one point in equally spaced samples (`step` seconds apart, from time 0).
pub fn intervals(heights: &[f32], speeds: &[f32], step: f32, limits: &ContactLimits) -> Vec<Interval> {
    let mut detector = ContactDetector::default();
    let mut found: Vec<Interval> = Vec::new();
    let end = heights.len().saturating_sub(1) as f32 * step;
    for (i, (&h, &s)) in heights.iter().zip(speeds).enumerate() {
        let at = |share: f32| ((i as f32 - 1.0 + share) * step).max(0.0);
        match detector.push(h, s, limits) {
            ContactChange::None => {}
            ContactChange::Touched(share) => found.push(Interval { from: at(share), to: end }),
            ContactChange::Left(share) => {
                if let Some(last) = found.last_mut() {
                    last.to = at(share);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bouncing_point_touches_and_leaves_between_samples() {
        // Height falls and rises linearly at 1 m/s: limit 0.25 m is passed at 0.75 s, release 0.5 m at 1.5 s.
        let heights: Vec<f32> = (0..30).map(|i| (i as f32 * 0.1 - 1.0).abs()).collect();
        let speeds = alloc::vec![0.0; 30];
        let limits = ContactLimits { height: 0.25, speed: 1.0, release: 2.0 };
        let found = intervals(&heights, &speeds, 0.1, &limits);
        assert_eq!(found.len(), 1);
        assert!((found[0].from - 0.75).abs() < 1e-5 && (found[0].to - 1.5).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn speed_ends_a_contact_and_an_open_one_lasts_to_the_end() {
        let limits = ContactLimits { height: 0.1, speed: 0.3, release: 1.5 };
        let speeds = [0.0, 0.0, 0.4, 0.5, 0.0, 0.0];
        let found = intervals(&[0.0; 6], &speeds, 1.0, &limits);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].from, found[1].to), (0.0, 5.0));
        // 0.4 is past the limit but within the release of 0.45, which is met half-way to 0.5.
        assert!((found[0].to - 2.5).abs() < 1e-5);
    }
}
