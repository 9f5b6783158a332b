//! Ticks at round numbers along an axis, and units of length.

/// A unit of length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Abbreviation.
    pub name: &'static str,
    /// Number of these units in a metre.
    pub per_metre: f32,
}

impl Unit {
    /// The unit in which a length in metres is a handy number.
    pub fn of(length: f32) -> Self {
        if length < 0.02 {
            Self { name: "mm", per_metre: 1000.0 }
        } else if length < 2.0 {
            Self { name: "cm", per_metre: 100.0 }
        } else {
            Self { name: "m", per_metre: 1.0 }
        }
    }
}

/// Round numbers from `lo` to `hi`, at most about `count` of them, each with its text: multiples of 1, 2 or 5 times a power
/// of ten. Empty for a range that is empty or not finite.
pub fn ticks(lo: f32, hi: f32, count: usize) -> Vec<(f32, String)> {
    let (lo, hi) = (f64::from(lo), f64::from(hi));
    let span = hi - lo;
    // For a span that is tiny beside its ends, rounding would put the ticks anywhere.
    if !span.is_finite() || span <= 1e-6 * lo.abs().max(hi.abs()) || count == 0 {
        return Vec::new();
    }
    let min_step = span / count as f64;
    let decade = 10f64.powf(min_step.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|k| k * decade).find(|&s| s >= min_step * 0.999);
    let step = step.unwrap_or(10.0 * decade);
    let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
    // The tolerance keeps a tick at an end that is itself a round number.
    let (first, last) = ((lo / step - 1e-6).ceil(), (hi / step + 1e-6).floor());
    (0..)
        .map(|i| first + f64::from(i))
        .take_while(|&i| i <= last)
        .map(|i| {
            let value = i * step + 0.0;
            (value as f32, format!("{value:.decimals$}").replace('-', "\u{2212}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lo: f32, hi: f32, count: usize) -> Vec<String> {
        ticks(lo, hi, count).into_iter().map(|(_, t)| t).collect()
    }

    #[test]
    fn steps_are_round_and_within() {
        assert_eq!(texts(0.0, 1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(-3.0, 12.0, 4), ["0", "5", "10"]);
        assert_eq!(texts(-0.012, 0.013, 3), ["\u{2212}0.01", "0.00", "0.01"]);
        for (lo, hi) in [(0.0, 1e-6), (1e5, 3e7), (-7.3, 0.1)] {
            let t = ticks(lo, hi, 6);
            assert!((2..=8).contains(&t.len()), "{t:?}");
            assert!(t.iter().all(|(v, _)| *v >= lo - 0.01 * (hi - lo) && *v <= hi + 0.01 * (hi - lo)));
        }
        assert!(ticks(1.0, 1.0, 5).is_empty() && ticks(0.0, f32::NAN, 5).is_empty());
        assert!(ticks(0.0, f32::INFINITY, 5).is_empty());
    }
}
