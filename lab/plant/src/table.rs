//! The table: one row per clip and ground, bounds in the head, `!` at a miss.

use crate::{cases::GroundCase, measure::Measures};

/// A column: head, bound in words, width, and what a row shows there with whether it misses.
struct Column {
    head: &'static str,
    bound: &'static str,
    cell: fn(&Measures, &GroundCase) -> (String, bool),
}

/// Whether a bound is missed; what is not a number misses every bound.
fn beyond(value: f64, bound: f64) -> bool {
    value.is_nan() || value > bound
}

fn mm(metres: f64, bound: f64) -> (String, bool) {
    (format!("{:.2}", metres * 1000.0), beyond(metres, bound))
}

fn ratio(value: f64, bound: Option<f64>) -> (String, bool) {
    (format!("{value:.2}"), bound.is_some_and(|b| beyond(value, b)))
}

/// Every column.
const COLUMNS: &[Column] = &[
    Column { head: "keys", bound: "", cell: |m, _| (m.keys.to_string(), false) },
    Column { head: "deep mm", bound: "<=5", cell: |m, _| mm(m.deepest, 0.005) },
    Column { head: "p99 mm", bound: "<=2", cell: |m, _| mm(m.deep_99, 0.002) },
    Column { head: "gap mm", bound: "<=5", cell: |m, _| mm(m.gap, 0.005) },
    Column { head: "between", bound: "<=4", cell: |m, _| mm(m.between, 0.004) },
    Column { head: "mm/s", bound: "<=2", cell: |m, _| mm(m.slide, 0.002) },
    Column {
        head: "planted",
        bound: ">=90%",
        cell: |m, _| (format!("{:.1}%", 100.0 * m.share), beyond(-m.share - m.hangs, -0.9)),
    },
    Column { head: "hangs", bound: "counts", cell: |m, _| (format!("{:.1}%", 100.0 * m.hangs), false) },
    Column {
        head: "unsaid",
        bound: "0%",
        cell: |m, _| (format!("{:.1}%", 100.0 * m.unlisted), beyond(m.unlisted, 0.0)),
    },
    Column { head: "swing mm", bound: "<=10", cell: |m, _| mm(m.swing, 0.01) },
    Column { head: "tip mm", bound: "", cell: |m, _| mm(m.tip, f64::INFINITY) },
    Column { head: "knee", bound: "<=2|4|-", cell: |m, g| ratio(m.knee, g.knee) },
    Column { head: "bend", bound: "<=2|4|-", cell: |m, g| ratio(m.bend, g.knee) },
    Column {
        head: "straight",
        bound: "0",
        cell: |m, _| (m.straight.len().to_string(), !m.straight.is_empty()),
    },
    // Five to ten centimetres are what a person keeps over what is passed; at thirty a foot looks thrown up.
    Column { head: "lift mm", bound: "<=300", cell: |m, _| mm(m.lift, 0.3) },
    Column {
        head: "hips",
        bound: ">=by land",
        cell: |m, g| (format!("{:.2}", m.hips), g.hips.is_some_and(|least| beyond(-m.hips, -least))),
    },
    Column {
        head: "offsets",
        bound: "<=1e-5",
        cell: |m, _| (format!("{:.0e}", m.offsets), beyond(m.offsets, 1e-5)),
    },
    Column { head: "no floor", bound: "0", cell: |m, _| (m.off_ground.to_string(), m.off_ground > 0) },
];

/// Width of the first two columns.
const NAMES: [usize; 2] = [17, 18];
/// Width of the others, which holds the head and a value with its mark.
const WIDTH: usize = 10;

/// Head and bounds.
pub fn head(csv: bool) -> String {
    if csv {
        return format!(
            "clip,ground,{},same,missed",
            COLUMNS.iter().map(|c| c.head).collect::<Vec<_>>().join(",")
        );
    }
    let line = |names: [&str; 2], of: fn(&Column) -> &'static str, last: &str| {
        let mut s = format!("{:<a$}{:<b$}", names[0], names[1], a = NAMES[0], b = NAMES[1]);
        COLUMNS.iter().for_each(|c| s += &format!("{:>WIDTH$}", of(c)));
        s + &format!("{last:>WIDTH$}")
    };
    let heads = line(["clip", "ground"], |c| c.head, "same");
    let bounds = line(["", "bound"], |c| c.bound, "yes");
    format!("{heads}\n{bounds}\n{}", "-".repeat(heads.len()))
}

/// A row that could not be measured.
pub fn error(csv: bool, clip: &str, ground: &str, error: &str) -> String {
    if csv {
        format!("{clip},{ground},\"{}\"", error.replace('"', "'"))
    } else {
        format!("{clip:<a$}{ground:<b$}{error} !", a = NAMES[0], b = NAMES[1])
    }
}

/// A row, and the columns whose bounds are missed. `differences` counts what of the given file did not
/// come back; none where no file was given.
pub fn row(
    csv: bool,
    clip: &str,
    ground: &GroundCase,
    m: &Measures,
    differences: Option<usize>,
) -> (String, Vec<&'static str>) {
    let mut cells: Vec<(String, bool)> = COLUMNS.iter().map(|c| (c.cell)(m, ground)).collect();
    cells.push(match differences {
        None => ("-".into(), false),
        Some(0) => ("yes".into(), false),
        Some(n) => (format!("{n} diff"), true),
    });
    let heads = COLUMNS.iter().map(|c| c.head).chain(["same"]);
    let missed: Vec<_> = heads.zip(&cells).filter(|(_, c)| c.1).map(|(h, _)| h).collect();
    if csv {
        let cells: Vec<String> = cells.into_iter().map(|c| c.0).collect();
        return (format!("{clip},{},{},{}", ground.name, cells.join(","), missed.join(" ")), missed);
    }
    let mut s = format!("{:<a$}{:<b$}", clip, ground.name, a = NAMES[0], b = NAMES[1]);
    for (text, missed) in cells {
        s += &format!("{:>WIDTH$}", if missed { format!("{text}!") } else { text });
    }
    (s, missed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::GROUNDS;

    #[test]
    fn bounds_are_held_at_their_edge_and_missed_beyond_it_and_by_what_is_no_number() {
        let good = Measures {
            deepest: 0.005,
            share: 0.9,
            knee: 2.0,
            bend: 2.0,
            lift: 0.3,
            hips: 0.65,
            ..Measures::default()
        };
        let slope = GROUNDS.iter().find(|g| g.name == "slope").unwrap();
        let steep = GROUNDS.iter().find(|g| g.name == "steep-stairs").unwrap();
        assert!(row(false, "a", slope, &good, Some(0)).1.is_empty());
        for (bad, on) in [
            (Measures { deepest: 0.0051, ..good.clone() }, slope),
            (Measures { gap: f64::NAN, ..good.clone() }, slope),
            (Measures { share: 0.899, ..good.clone() }, slope),
            (Measures { knee: 2.01, ..good.clone() }, slope),
            (Measures { straight: vec![1.0], ..good.clone() }, steep),
            (Measures { lift: 0.301, ..good.clone() }, steep),
            (Measures { hips: 0.64, ..good.clone() }, slope),
            (Measures { hips: f64::NAN, ..good.clone() }, slope),
        ] {
            let (text, missed) = row(false, "a", on, &bad, Some(0));
            assert!(!missed.is_empty() && text.contains('!'), "{text}");
        }
        assert!(
            row(false, "a", steep, &Measures { knee: 9.0, ..good.clone() }, None).1.is_empty(),
            "only reported on steep stairs"
        );
        assert_eq!(row(false, "a", slope, &good, Some(1)).1, ["same"]);
    }
}
