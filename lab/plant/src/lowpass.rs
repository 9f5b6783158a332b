//! Low-pass filter without lag: a second-order Butterworth filter, forwards and backwards.

/// Filters samples taken at `rate` (1/s) so that what swings at `cutoff` (1/s) comes out at 1/sqrt(2) of its height.
///
/// A cut-off that the rate cannot carry leaves the samples as they are.
pub fn low_pass(samples: &[f64], rate: f64, cutoff: f64) -> Vec<f64> {
    if samples.len() < 4 || cutoff >= 0.45 * rate {
        return samples.to_vec();
    }
    // The ends are continued by the turned-over signal for three periods of the cut-off, so
    // that the filter has settled where it counts.
    let pad = ((3.0 * rate / cutoff).ceil() as usize).min(samples.len() - 1);
    let (first, last) = (samples[0], samples[samples.len() - 1]);
    let mut x: Vec<f64> = (1..=pad).rev().map(|i| 2.0 * first - samples[i]).collect();
    x.extend_from_slice(samples);
    x.extend((1..=pad).map(|i| 2.0 * last - samples[samples.len() - 1 - i]));
    for _ in 0..2 {
        forwards(&mut x, cutoff / rate);
        x.reverse();
    }
    x[pad..pad + samples.len()].to_vec()
}

/// One run of the filter, from a start at rest at the first sample. `ratio` is the cut-off over the rate.
fn forwards(x: &mut [f64], ratio: f64) {
    // Two runs lower the cut-off to 0.802 of one run's: each run's is raised by as much, after the bilinear map has bent it.
    let w = (std::f64::consts::PI * ratio).tan() / (2.0_f64.sqrt() - 1.0).powf(0.25);
    let q = std::f64::consts::SQRT_2;
    let k = 1.0 / (1.0 + q * w + w * w);
    let b = [w * w * k, 2.0 * w * w * k, w * w * k];
    let a = [2.0 * (w * w - 1.0) * k, (1.0 - q * w + w * w) * k];
    let first = x[0];
    let (mut x1, mut x2, mut y1, mut y2) = (first, first, first, first);
    for v in x {
        let y = b[0] * *v + b[1] * x1 + b[2] * x2 - a[0] * y1 - a[1] * y2;
        (x2, x1, y2, y1) = (x1, *v, y1, y);
        *v = y;
    }
}

/// Second differences of even samples: accelerations at all but the two ends.
pub fn second_differences(samples: &[f64], rate: f64) -> Vec<f64> {
    samples.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]) * rate * rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine(hz: f64, rate: f64, n: usize) -> Vec<f64> {
        (0..n).map(|i| (std::f64::consts::TAU * hz * i as f64 / rate).sin()).collect()
    }

    /// Height that is left of a sine, in its middle; also says that no lag is left.
    fn left_of(hz: f64) -> f64 {
        let (rate, n) = (120.0, 1200);
        let x = sine(hz, rate, n);
        let y = low_pass(&x, rate, 6.0);
        let mid = n / 4..3 * n / 4;
        let along: f64 =
            mid.clone().map(|i| x[i] * y[i]).sum::<f64>() / mid.clone().map(|i| x[i] * x[i]).sum::<f64>();
        let rest = mid.map(|i| (y[i] - along * x[i]).abs()).fold(0.0, f64::max);
        assert!(rest < 1e-3, "lag at {hz}: {rest}");
        along
    }

    #[test]
    fn what_is_slow_passes_and_what_is_fast_does_not() {
        assert!((left_of(0.5) - 1.0).abs() < 1e-3);
        assert!((left_of(6.0) - 0.5_f64.sqrt()).abs() < 2e-3, "{}", left_of(6.0));
        // The analogue filter's gain is 1 / (1 + (f/7.48)^4); the bilinear map lowers it a little more.
        assert!(left_of(24.0) < 1.0 / (1.0 + (24.0_f64 / 7.48).powi(4)));
    }

    #[test]
    fn a_straight_line_stays_itself() {
        let x: Vec<f64> = (0..60).map(|i| 3.0 + 0.25 * f64::from(i)).collect();
        let y = low_pass(&x, 30.0, 6.0);
        assert!(x.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-3), "{y:?}");
    }

    #[test]
    fn second_differences_of_a_parabola() {
        let x: Vec<f64> = (0..9).map(|i| 4.9 * (f64::from(i) / 30.0).powi(2)).collect();
        assert!(second_differences(&x, 30.0).iter().all(|a| (a - 9.8).abs() < 1e-9));
    }
}
