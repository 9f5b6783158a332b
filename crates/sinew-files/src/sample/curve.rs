//! Smooth curves through keys of time and value.

use sinew::motion::{Interpolation, Track, TrackError};

/// A cubic track through keys of time and value. The tangent of the first key, the last key and a local extreme is 0. Others
/// have the slope of their neighbours, limited so that the curve is monotone between keys (Fritsch & Carlson 1980): it never
/// overshoots a key.
pub(super) fn curve(keys: &[(f32, f32)]) -> Result<Track<f32>, TrackError> {
    let slope = |i: usize| (keys[i + 1].1 - keys[i].1) / (keys[i + 1].0 - keys[i].0);
    let last = keys.len().saturating_sub(1);
    let mut values = Vec::with_capacity(3 * keys.len());
    for (i, key) in keys.iter().enumerate() {
        let tangent = if i == 0 || i == last {
            0.0
        } else {
            let (before, after) = (slope(i - 1), slope(i));
            if before * after <= 0.0 {
                0.0
            } else {
                let (d0, d1) = (key.0 - keys[i - 1].0, keys[i + 1].0 - key.0);
                // The slope of the parabola through the three keys.
                let through = (before * d1 + after * d0) / (d0 + d1);
                let max = 3.0 * before.abs().min(after.abs());
                through.clamp(-max, max)
            }
        };
        values.extend([tangent, key.1, tangent]);
    }
    Track::new(keys.iter().map(|k| k.0).collect(), values, Interpolation::Cubic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_where_they_were_keyed_and_the_curve_is_smooth() {
        let keys = [(0.0, 0.0), (0.3, 1.0), (0.5, 0.2), (1.0, 0.1), (1.1, -2.0), (2.0, -2.0), (3.0, 0.0)];
        let c = curve(&keys).unwrap();
        let h = 1e-3;
        let mut before = None::<f32>;
        for i in 0..3000 {
            let t = i as f32 * h;
            let v = c.sample(t);
            let i = keys.partition_point(|k| k.0 <= t).clamp(1, keys.len() - 1);
            let (low, high) = (keys[i - 1].1.min(keys[i].1), keys[i - 1].1.max(keys[i].1));
            assert!(v >= low - 1e-5 && v <= high + 1e-5, "{v} at {t} is not between its keys");
            let rate = (c.sample(t + h) - v) / h;
            if let Some(b) = before {
                assert!((rate - b).abs() < 2.5, "the slope jumps from {b} to {rate} at {t}");
            }
            before = Some(rate);
        }
    }
}
