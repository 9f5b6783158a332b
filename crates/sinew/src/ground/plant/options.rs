//! What can be set about planting.

use thiserror::Error;

use crate::{ground::Filter, solve::options::option_type};

option_type! {
    /// How feet are planted. Lengths that are shares are of the leg's length, so that one setting fits every figure.
    PlantOptions {
        /// A heel or ball comes into contact no higher than this above its lowest height in the clip (share of the leg).
        contact_height, with_contact_height: f32 = 0.05;
        /// ... and no faster than this, in m/s for a figure of 1.8 m (scaled to others).
        contact_speed, with_contact_speed: f32 = 0.3;
        /// A contact lasts until height or speed pass their limit times this factor (hysteresis).
        release, with_release: f32 = 1.2;
        /// How far above the ground under the body a cast for a foot begins (share of the leg): the highest step.
        cast_above, with_cast_above: f32 = 0.6;
        /// How far below it the cast ends (share of the leg): the deepest step.
        cast_below, with_cast_below: f32 = 0.8;
        /// A foot lies along the ground up to this slope, in radians.
        largest_slope, with_largest_slope: f32 = 45f32.to_radians();
        /// A foothold that hangs over an edge is moved by no more than this, in metres for a figure of 1.8 m.
        // Half of a tread of 29 cm, the usual depth indoors.
        largest_shift, with_largest_shift: f32 = 0.145;
        /// Share of the sole that must be supported; the ball always must.
        support, with_support: f32 = 0.6;
        /// How far a swinging foot stays clear of what it passes, in metres for a figure of 1.8 m.
        clearance, with_clearance: f32 = 0.02;
        /// Flexion that a knee keeps where the clip bends it more than this, in radians (0 is straight).
        // A knee is felt to pop where it comes within about ten degrees of straight: there the flexion grows with the
        // square root of what the leg shortens by.
        least_flexion, with_least_flexion: f32 = 15f32.to_radians();
        /// Frequency up to which the pelvis follows the feet, in hertz.
        pelvis_rate, with_pelvis_rate: f32 = 1.5;
        /// Frequency at which a foot without a plan (step by step) settles, in hertz.
        foot_rate, with_foot_rate: f32 = 4.0;
        /// What counts as ground.
        filter, with_filter: Filter = Filter::ALL;
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
