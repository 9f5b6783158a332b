//! Contact detection for one point of a foot, by height and speed with hysteresis, at times between samples.

use alloc::vec::Vec;

use super::{Figure, PlantOptions};

/// A closed interval of time, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Start time.
    pub from: f32,
    /// End time.
    pub to: f32,
}

impl Interval {
    /// Whether `time` lies within the interval, ends included.
    pub fn contains(&self, time: f32) -> bool {
        time >= self.from && time <= self.to
    }

    /// Duration in seconds.
    pub fn length(&self) -> f32 {
        self.to - self.from
    }
}

/// Limits of height and speed within which a point is in contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactLimits {
    /// Largest height above the point's lowest height, in metres.
    pub height: f32,
    /// Largest speed, in m/s.
    pub speed: f32,
    /// Factor on both limits beyond which a contact ends.
    pub release: f32,
}

impl ContactLimits {
    /// Limits of a figure's points by the options.
    pub fn new(figure: &Figure, options: &PlantOptions) -> Self {
        Self {
            height: options.contact_height * figure.leg_length(),
            speed: options.contact_speed * figure.scale(),
            release: options.release,
        }
    }

    /// The larger of height and speed, each divided by its limit.
    fn level(&self, height: f32, speed: f32) -> f32 {
        (height / self.height).max(speed / self.speed)
    }
}

/// Contact detector of one point, fed sample by sample.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct ContactDetector {
    touching: bool,
    /// Level of the last sample: the larger of height and speed, each divided by its limit.
    last: Option<f32>,
}

/// Change of contact at one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactChange {
    /// No change.
    None,
    /// The point came into contact. Time since the last sample, as a fraction of the sample interval.
    Touched(f32),
    /// The point left the ground. Time since the last sample, as a fraction of the sample interval.
    Left(f32),
}

impl ContactDetector {
    /// Whether the point was in contact at the last sample.
    pub fn touching(&self) -> bool {
        self.touching
    }

    /// Takes the next sample: `height` above the point's lowest height in metres, and `speed` in m/s.
    pub fn push(&mut self, height: f32, speed: f32, limits: &ContactLimits) -> ContactChange {
        let level = limits.level(height, speed);
        let threshold = if self.touching { limits.release } else { 1.0 };
        let before = self.last.replace(level);
        // Linear interpolation of the level; a first sample changes at its own time.
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

/// Finds all contacts of one point from its heights (metres) and speeds (m/s), `step` seconds apart from time 0. A contact
/// that is still open ends with the last sample. Empty input has no contacts.
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
