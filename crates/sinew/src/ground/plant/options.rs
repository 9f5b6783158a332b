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
        /// the leg. From 0.001 to 10; 0.05 by default.
        contact_height, with_contact_height: f32 = 0.05;
        /// Largest speed at which a heel or ball comes into contact, in m/s for a figure of 1.8 m. From 0.001 to 10; 0.3
        /// by default.
        contact_speed, with_contact_speed: f32 = 0.3;
        /// Factor on both limits beyond which a contact ends (hysteresis) in [`FootPlanter`](super::FootPlanter). A whole clip
        /// ends it at the limits. From 1 to 10; 1.2 by default.
        release, with_release: f32 = 1.2;
        /// Height above the ground under the body at which a foot's ray casts start, as a fraction of the leg: the highest
        /// step. From 0 to 10; 0.6 by default.
        cast_above, with_cast_above: f32 = 0.6;
        /// Depth below the ground under the body at which a foot's ray casts end, as a fraction of the leg: the deepest
        /// step. From 0 to 10; 0.8 by default.
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
        /// Clearance of a swinging foot over the ground, in metres for a figure of 1.8 m. From 0 to 10; 0.02 by default.
        clearance, with_clearance: f32 = 0.02;
        /// Knee flexion that planting keeps, in radians (0 is straight), or the clip's flexion where that is smaller. From 0
        /// to a quarter turn; 15 degrees by default.
        // A knee visibly pops within about 10 degrees of straight, where the flexion grows with the square root of the
        // leg's shortening.
        min_flexion, with_min_flexion: f32 = 15f32.to_radians();
        /// Frequency up to which the pelvis follows the feet, in hertz. From 0.001 to 10; 1.5 by default.
        pelvis_rate, with_pelvis_rate: f32 = 1.5;
        /// Frequency of the spring on which a foot settles in [`FootPlanter`](super::FootPlanter), in hertz. From 0.001
        /// to 10; 4 by default.
        foot_rate, with_foot_rate: f32 = 4.0;
        /// Time in which planting fades out when the figure leaves the ground
        /// ([`FootPlanterState::set_grounded`](super::FootPlanterState::set_grounded)), in seconds. From 0.001 to 10; 0.2
        /// by default.
        // In half of it, feet that let go of a foothold at a bent leg's height turned joints by more than 6 rad/s.
        leaving_time, with_leaving_time: f32 = 0.2;
        /// Time in which planting fades in after the return to the ground, in seconds. Feet stand by then. From 0.001 to
        /// 10; 0.15 by default.
        landing_time, with_landing_time: f32 = 0.15;
        /// Surfaces that count as ground; all by default.
        filter, with_filter: Filter = Filter::ALL;
    }
}

/// An option outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error("{setting} must be from {} to {}, not {value}", range[0], range[1])]
pub struct PlantOptionError {
    /// Field name of the option.
    pub setting: &'static str,
    /// Smallest and largest allowed value.
    pub range: [f32; 2],
    /// The value given.
    pub value: f32,
}

impl PlantOptions {
    /// Returns an error that names the first option outside its range. NaN is outside every range.
    pub fn check(&self) -> Result<(), PlantOptionError> {
        const MAX: f32 = 10.0;
        let (positive, not_negative) = ([1e-3, MAX], [0.0, MAX]);
        let angle = [0.0, core::f32::consts::FRAC_PI_2];
        let rules = [
            ("contact_height", self.contact_height, positive),
            ("contact_speed", self.contact_speed, positive),
            ("release", self.release, [1.0, MAX]),
            ("cast_above", self.cast_above, not_negative),
            ("cast_below", self.cast_below, not_negative),
            ("max_slope", self.max_slope, angle),
            ("max_shift", self.max_shift, not_negative),
            ("support", self.support, [0.0, 1.0]),
            ("clearance", self.clearance, not_negative),
            ("min_flexion", self.min_flexion, angle),
            ("pelvis_rate", self.pelvis_rate, positive),
            ("foot_rate", self.foot_rate, positive),
            ("leaving_time", self.leaving_time, positive),
            ("landing_time", self.landing_time, positive),
        ];
        let outside = rules.into_iter().find(|(_, value, [low, high])| !(low..=high).contains(&value));
        outside.map_or(Ok(()), |(setting, value, range)| Err(PlantOptionError { setting, range, value }))
    }
}
