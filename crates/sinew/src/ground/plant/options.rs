//! What can be set about planting.

use thiserror::Error;

use crate::ground::Filter;

/// How feet are planted. Lengths that are shares are of the leg's length, so that one setting fits every figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlantOptions {
    /// A heel or ball comes into contact no higher than this above its lowest height in the clip (share of the leg).
    pub contact_height: f32,
    /// ... and no faster than this, in m/s for a figure of 1.8 m (scaled to others).
    pub contact_speed: f32,
    /// A contact lasts until height or speed pass their limit times this factor (hysteresis).
    pub release: f32,
    /// How far above the ground under the body a cast for a foot begins (share of the leg): the highest step.
    pub cast_above: f32,
    /// How far below it the cast ends (share of the leg): the deepest step.
    pub cast_below: f32,
    /// A foot lies along the ground up to this slope, in radians.
    pub largest_slope: f32,
    /// A foothold that hangs over an edge is moved by no more than this, in metres for a figure of 1.8 m.
    pub largest_shift: f32,
    /// Share of the sole that must be supported; the ball always must.
    pub support: f32,
    /// How far a swinging foot stays clear of what it passes, in metres for a figure of 1.8 m.
    pub clearance: f32,
    /// Flexion that a knee keeps where the clip bends it more than this, in radians (0 is straight).
    pub least_flexion: f32,
    /// Frequency up to which the pelvis follows the feet, in hertz.
    pub pelvis_rate: f32,
    /// Frequency at which a foot without a plan (step by step) settles, in hertz.
    pub foot_rate: f32,
    /// What counts as ground.
    pub filter: Filter,
}

impl Default for PlantOptions {
    fn default() -> Self {
        Self {
            contact_height: 0.05,
            contact_speed: 0.3,
            release: 1.2,
            cast_above: 0.6,
            cast_below: 0.8,
            largest_slope: 45f32.to_radians(),
            // Half of a tread of 29 cm, the usual depth indoors.
            largest_shift: 0.145,
            support: 0.6,
            clearance: 0.02,
            // A knee is felt to pop where it comes within about ten degrees of straight: there the flexion grows with the
            // square root of what the leg shortens by.
            least_flexion: 15f32.to_radians(),
            pelvis_rate: 1.5,
            foot_rate: 4.0,
            filter: Filter::ALL,
        }
    }
}

/// A setting outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{setting} must be {range}, not {value}")]
pub struct PlantOptionError {
    /// Which one.
    pub setting: &'static str,
    /// What is allowed.
    pub range: &'static str,
    /// Its value.
    pub value: f32,
}

impl PlantOptions {
    /// An error that names the first setting outside its range.
    pub fn check(&self) -> Result<(), PlantOptionError> {
        let quarter = core::f32::consts::FRAC_PI_2;
        let rules = [
            ("contact_height", "above 0 and at most 1", self.contact_height, f32::MIN_POSITIVE, 1.0),
            ("contact_speed", "above 0 and at most 100 m/s", self.contact_speed, f32::MIN_POSITIVE, 100.0),
            ("release", "from 1 to 10", self.release, 1.0, 10.0),
            ("cast_above", "from 0 to 10", self.cast_above, 0.0, 10.0),
            ("cast_below", "above 0 and at most 10", self.cast_below, f32::MIN_POSITIVE, 10.0),
            ("largest_slope", "from 0 to a quarter turn", self.largest_slope, 0.0, quarter),
            ("largest_shift", "from 0 to 10 m", self.largest_shift, 0.0, 10.0),
            ("support", "from 0 to 1", self.support, 0.0, 1.0),
            ("clearance", "from 0 to 1 m", self.clearance, 0.0, 1.0),
            ("least_flexion", "from 0 to a quarter turn", self.least_flexion, 0.0, quarter),
            ("pelvis_rate", "from 0.01 to 1000 Hz", self.pelvis_rate, 0.01, 1000.0),
            ("foot_rate", "from 0.01 to 1000 Hz", self.foot_rate, 0.01, 1000.0),
        ];
        for (setting, range, value, low, high) in rules {
            if !(low..=high).contains(&value) {
                return Err(PlantOptionError { setting, range, value });
            }
        }
        Ok(())
    }
}
