//! Contacts of a foot's points, by their definition, on the given clip with its travel.

use crate::maths::V3;

/// Near: within this share of the leg's length of the point's lowest height.
const NEAR: f64 = 0.05;
/// Slow: below this speed (m/s) for a figure of `TALL` metres, in proportion for others.
const SLOW: f64 = 0.3;
/// See `SLOW`.
const TALL: f64 = 1.8;

/// Whether a point is in contact at each key time.
pub fn contacts(times: &[f64], path: &[V3], leg: f64, height: f64) -> Vec<bool> {
    let lowest = path.iter().map(|p| p.y).fold(f64::MAX, f64::min);
    path.iter()
        .enumerate()
        .map(|(i, p)| p.y <= lowest + NEAR * leg && speed(times, path, i) < SLOW * height / TALL)
        .collect()
}

/// Speed at a key by central differences; at the ends by the only one there is.
fn speed(times: &[f64], path: &[V3], i: usize) -> f64 {
    let (a, b) = (i.saturating_sub(1), (i + 1).min(path.len() - 1));
    let dt = times[b] - times[a];
    if dt > 0.0 { (path[b] - path[a]).length() / dt } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maths::v3;

    #[test]
    fn near_and_slow() {
        // Falls at 1 m/s, stands, drifts at 0.2 m/s, is drawn at 0.5 m/s, hangs 6 cm up.
        let times: Vec<f64> = (0..9).map(|i| 0.1 * f64::from(i)).collect();
        let path = [
            v3(0.0, 0.20, 0.0),
            v3(0.0, 0.10, 0.0),
            v3(0.0, 0.00, 0.0),
            v3(0.0, 0.00, 0.0),
            v3(0.02, 0.0, 0.0),
            v3(0.04, 0.0, 0.0),
            v3(0.09, 0.0, 0.0),
            v3(0.14, 0.0, 0.0),
            v3(0.14, 0.06, 0.0),
        ];
        let found = contacts(&times, &path, 1.0, 1.8);
        assert_eq!(found, [false, false, false, true, true, false, false, false, false]);
        // A giant of twice the size may be twice as fast: (0.02 + 0.05) / 0.2 s = 0.35 m/s passes, and 0.5 m/s too.
        let giant = contacts(&times, &path, 1.0, 3.6);
        assert_eq!(giant, [false, false, true, true, true, true, true, true, false]);
    }
}
