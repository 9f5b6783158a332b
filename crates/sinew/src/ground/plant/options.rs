//! Options of planting.

use thiserror::Error;

use crate::{ground::Filter, option_type::option_type};

option_type! {
    /// Options of planting, for whole clips and frame by frame.
    ///
    /// Most lengths are fractions of the leg's length, from hip to ankle. Those in metres are for a figure of 1.8 m and
    /// scale with the figure's height. One set of options so fits figures of any size.
    PlantOptions {
        /// Largest height at which a heel or ball comes into contact, above its lowest height in the clip, as a fraction of
        /// the leg. From above 0 to 1; 0.05 by default.
        contact_height, with_contact_height: f32 = 0.05;
        /// Largest speed at which a heel or ball comes into contact, in m/s for a figure of 1.8 m. From above 0 to 100; 0.3
        /// by default.
        contact_speed, with_contact_speed: f32 = 0.3;
        /// Factor on both limits beyond which a contact ends (hysteresis). From 1 to 10; 1.2 by default.
        release, with_release: f32 = 1.2;
        /// Height above the ground under the body at which a foot's ray casts start, as a fraction of the leg: the highest
        /// step. From 0 to 10; 0.6 by default.
        cast_above, with_cast_above: f32 = 0.6;
        /// Depth below the ground under the body at which a foot's ray casts end, as a fraction of the leg: the deepest
        /// step. From above 0 to 10; 0.8 by default.
        cast_below, with_cast_below: f32 = 0.8;
        /// Steepest slope that a foot lies along, in radians. From 0 to a quarter turn; 45 degrees by default.
        max_slope, with_max_slope: f32 = 45f32.to_radians();
        /// Largest distance by which a foothold over an edge is moved, in metres for a figure of 1.8 m. From 0 to 10; 0.145
        /// by default.
        // Half of the usual indoor tread of 29 cm.
        max_shift, with_max_shift: f32 = 0.145;
        /// Fraction of the sole that a foothold should support; where none nearby does, as for long feet on short treads, the
        /// one that supports most serves. The ball is always supported. From 0 to 1; 0.6 by default.
        support, with_support: f32 = 0.6;
        /// Clearance of a swinging foot over the ground, in metres for a figure of 1.8 m. From 0 to 1; 0.02 by default.
        clearance, with_clearance: f32 = 0.02;
        /// Knee flexion that planting keeps, in radians (0 is straight), or the clip's flexion where that is smaller. From 0
        /// to a quarter turn; 15 degrees by default.
        // A knee visibly pops within about 10 degrees of straight, where the flexion grows with the square root of the
        // leg's shortening.
        min_flexion, with_min_flexion: f32 = 15f32.to_radians();
        /// Frequency up to which the pelvis follows the feet, in hertz. From 0.01 to 1000; 1.5 by default.
        pelvis_rate, with_pelvis_rate: f32 = 1.5;
        /// Frequency of the spring on which a foot settles in [`FootPlanter`](super::FootPlanter), in hertz. From 0.01 to
        /// 1000; 4 by default.
        foot_rate, with_foot_rate: f32 = 4.0;
        /// Time in which planting fades out when the figure leaves the ground
        /// ([`FootPlanterState::set_grounded`](super::FootPlanterState::set_grounded)), in seconds. From 0.01 to 10; 0.2 by
        /// default.
        // In half of it, feet that let go of a foothold at a bent leg's height turned joints by more than 6 rad/s.
        leaving_time, with_leaving_time: f32 = 0.2;
        /// Time in which planting fades in after the return to the ground, in seconds. Feet stand by then. From 0.01 to 10;
        /// 0.15 by default.
        landing_time, with_landing_time: f32 = 0.15;
        /// Surfaces that count as ground; all by default.
        filter, with_filter: Filter = Filter::ALL;
    }
}

/// An option outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{setting} must be {range}, not {value}")]
pub struct PlantOptionError {
    /// Field name of the option.
    pub setting: &'static str,
    /// Allowed values.
    pub range: &'static str,
    /// The value given.
    pub value: f32,
}

impl PlantOptions {
    /// Returns an error that names the first option outside its range. NaN is outside every range.
    pub fn check(&self) -> Result<(), PlantOptionError> {
        let quarter = core::f32::consts::FRAC_PI_2;
        let rules = [
            ("contact_height", "above 0 and at most 1", self.contact_height, f32::MIN_POSITIVE, 1.0),
            ("contact_speed", "above 0 and at most 100 m/s", self.contact_speed, f32::MIN_POSITIVE, 100.0),
            ("release", "from 1 to 10", self.release, 1.0, 10.0),
            ("cast_above", "from 0 to 10", self.cast_above, 0.0, 10.0),
            ("cast_below", "above 0 and at most 10", self.cast_below, f32::MIN_POSITIVE, 10.0),
            ("max_slope", "from 0 to a quarter turn", self.max_slope, 0.0, quarter),
            ("max_shift", "from 0 to 10 m", self.max_shift, 0.0, 10.0),
            ("support", "from 0 to 1", self.support, 0.0, 1.0),
            ("clearance", "from 0 to 1 m", self.clearance, 0.0, 1.0),
            ("min_flexion", "from 0 to a quarter turn", self.min_flexion, 0.0, quarter),
            ("pelvis_rate", "from 0.01 to 1000 Hz", self.pelvis_rate, 0.01, 1000.0),
            ("foot_rate", "from 0.01 to 1000 Hz", self.foot_rate, 0.01, 1000.0),
            ("leaving_time", "from 0.01 to 10 s", self.leaving_time, 0.01, 10.0),
            ("landing_time", "from 0.01 to 10 s", self.landing_time, 0.01, 10.0),
        ];
        for (setting, range, value, low, high) in rules {
            if !(low..=high).contains(&value) {
                return Err(PlantOptionError { setting, range, value });
            }
        }
        Ok(())
    }
}
