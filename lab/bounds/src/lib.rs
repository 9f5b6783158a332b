//! Protocol in which the lab's programs report bounds and medians to the program `bounds`: one line of standard output each,
//! with fields separated by tabs, if the environment variable [`VARIABLE`] is set. Without it only the readable output is
//! printed.

use std::fmt::Display;

/// The variable that asks for the lines.
pub const VARIABLE: &str = "SINEW_LAB_BOUNDS";

/// A line that a program reported.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// A bound of a row, the value that it is for, and whether it holds.
    Bound {
        /// Title of the row.
        row: String,
        /// The bound in words.
        bound: String,
        /// The measured value in words.
        value: String,
        /// Whether it holds.
        holds: bool,
    },
    /// The median of a row, in microseconds.
    Median {
        /// Title of the row.
        row: String,
        /// Microseconds.
        micros: f64,
    },
}

const BOUND: &str = "@bound";
const MEDIAN: &str = "@median";

/// Tells a bound.
pub fn bound(row: impl Display, bound: impl Display, value: impl Display, holds: bool) {
    let verdict = if holds { "holds" } else { "missed" };
    tell(&format!("{BOUND}\t{row}\t{bound}\t{value}\t{verdict}"));
}

/// Tells a median, in microseconds.
pub fn median(row: impl Display, micros: f64) {
    tell(&format!("{MEDIAN}\t{row}\t{micros}"));
}

fn tell(line: &str) {
    if std::env::var_os(VARIABLE).is_some() {
        // A line of its own, wherever the program's own line stands.
        println!("\n{}", line.replace('\n', " "));
    }
}

/// Parses a line of a program's output; `None` for other lines.
pub fn read(line: &str) -> Option<Told> {
    let mut fields = line.split('\t');
    let kind = fields.next()?;
    let mut field = || fields.next().map(str::to_owned);
    match kind {
        BOUND => {
            let (row, bound, value) = (field()?, field()?, field()?);
            Some(Told::Bound { row, bound, value, holds: field()? == "holds" })
        }
        MEDIAN => Some(Told::Median { row: field()?, micros: field()?.parse().ok()? }),
        _ => None,
    }
}
