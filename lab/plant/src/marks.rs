//! Measured values with their bounds: tables of them, a row for each planted clip, and what they come to over all rows.

use std::fmt::Write;

use crate::cases::{Case, GroundCase, Set};

/// A value with its bounds.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The measure, with its unit.
    pub name: &'static str,
    /// The worst value.
    pub value: f64,
    /// Least allowed value.
    pub low: f64,
    /// Largest allowed value.
    pub high: f64,
    /// Second of the planted clip at which the value was found.
    pub time: f64,
    /// Whether the bounds hold for this row.
    pub judged: bool,
}

impl Mark {
    /// A value that may be as large as `high`.
    pub fn at_most(name: &'static str, value: f64, high: f64, time: f64) -> Self {
        Self { name, value, low: f64::NEG_INFINITY, high, time, judged: true }
    }

    /// A value that may be as small as `low`.
    pub fn at_least(name: &'static str, value: f64, low: f64, time: f64) -> Self {
        Self { name, value, low, high: f64::INFINITY, time, judged: true }
    }

    /// A value between two bounds.
    pub fn within(name: &'static str, value: f64, low: f64, high: f64, time: f64) -> Self {
        Self { name, value, low, high, time, judged: true }
    }

    /// The same, only reported where `free`.
    pub fn unless(self, free: bool) -> Self {
        Self { judged: self.judged && !free, ..self }
    }

    /// Whether a bound is missed; what is not a number misses every bound.
    pub fn missed(&self) -> bool {
        self.is_bound() && !(self.low..=self.high).contains(&self.value)
    }

    /// Whether the row has a bound for it.
    fn is_bound(&self) -> bool {
        self.judged && (self.low.is_finite() || self.high.is_finite())
    }

    /// How far the value is outside, in units of the bound that it misses.
    fn excess(&self) -> f64 {
        let over = (self.value - self.high).max(self.low - self.value);
        let bound = if self.value > self.high { self.high } else { self.low };
        if over.is_nan() { f64::INFINITY } else { over / bound.abs().max(1.0) }
    }

    /// Value, bound, and `!` at a miss; in brackets where no bound holds.
    fn cell(&self) -> String {
        // Without the sign of what is rounded to nought.
        let number = |v: f64| match v.abs() {
            a if a < 0.05 => "0.0".into(),
            a if a < 9.95 => format!("{v:.1}"),
            _ => format!("{v:.0}"),
        };
        let bound = match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) => format!("/{}..{}", number(self.low), number(self.high)),
            (false, true) => format!("/{}", number(self.high)),
            (true, false) => format!("/{}", number(self.low)),
            (false, false) => String::new(),
        };
        let text = number(self.value) + &bound;
        if !self.judged {
            return format!("({text})");
        }
        if self.missed() { text + "!" } else { text }
    }
}

/// The marks of one table's row.
#[derive(Clone, Debug, Default)]
pub struct Marks(Vec<Mark>);

impl Marks {
    /// Adds a mark.
    pub fn add(&mut self, mark: Mark) {
        self.0.push(mark);
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Mark> {
        self.0.iter()
    }

    /// A mark by its name.
    #[cfg(test)]
    pub fn get(&self, name: &str) -> &Mark {
        self.0.iter().find(|m| m.name == name).unwrap()
    }
}

/// A row of the tables.
pub struct Row {
    /// Clip.
    pub clip: &'static str,
    /// Its set.
    pub set: Set,
    /// Ground.
    pub ground: &'static str,
    /// The table and its marks, for each table that the row is in.
    pub tables: Vec<(&'static str, Marks)>,
    /// Why there is nothing to measure.
    pub error: Option<String>,
}

impl Row {
    /// A measured row.
    pub fn of(case: &Case, ground: &GroundCase, tables: Vec<(&'static str, Marks)>) -> Self {
        Self { clip: case.name, set: case.set, ground: ground.name, tables, error: None }
    }

    /// A row with nothing to measure.
    pub fn error(case: &Case, ground: &GroundCase, error: String) -> Self {
        Self { error: Some(error), ..Self::of(case, ground, Vec::new()) }
    }

    /// The measures that are missed.
    pub fn missed(&self) -> Vec<&'static str> {
        self.tables.iter().flat_map(|t| t.1.iter()).filter(|m| m.missed()).map(|m| m.name).collect()
    }

    /// Each measure with its time, in words.
    pub fn details(&self) -> impl Iterator<Item = String> {
        let marks = self.tables.iter().flat_map(|(table, marks)| marks.iter().map(move |m| (table, m)));
        marks.map(|(table, m)| format!("{table}: {:<13}{:<15}at {:.3} s", m.name, m.cell(), m.time))
    }
}

/// The tables' names in the order of their first rows.
fn names(rows: &[Row]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (name, _) in rows.iter().flat_map(|r| &r.tables) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

/// The measures' names in the order in which they first appear.
fn columns<'a>(marks: impl Iterator<Item = &'a Mark>) -> Vec<&'static str> {
    let mut columns = Vec::new();
    for mark in marks {
        if !columns.contains(&mark.name) {
            columns.push(mark.name);
        }
    }
    columns
}

/// Every table: value and bound of each measure.
pub fn tables(rows: &[Row]) -> String {
    const WIDTH: usize = 15;
    let mut text = String::new();
    for name in names(rows) {
        let of = |r: &Row| r.tables.iter().find(|t| t.0 == name).map(|t| t.1.clone());
        let all: Vec<(&Row, Marks)> = rows.iter().filter_map(|r| Some((r, of(r)?))).collect();
        let columns = columns(all.iter().flat_map(|(_, marks)| marks.iter()));
        let heads: String = columns.iter().map(|c| format!("{c:>WIDTH$}")).collect();
        let head = format!("{:<17}{:<20}{heads}", "clip", "ground");
        let _ = writeln!(text, "\n{name} (value/bound)\n{head}\n{}", "-".repeat(head.len()));
        for (row, marks) in all {
            let _ = write!(text, "{:<17}{:<20}", row.clip, row.ground);
            for column in &columns {
                let cell = marks.iter().find(|m| m.name == *column).map_or("-".into(), Mark::cell);
                let _ = write!(text, "{cell:>WIDTH$}");
            }
            text += "\n";
        }
    }
    text
}

/// Every value on a line of its own, for other programs.
pub fn csv(rows: &[Row]) -> String {
    let mut text = String::from("table,clip,set,ground,measure,value,low,high,seconds,judged,missed\n");
    for row in rows {
        for (table, marks) in &row.tables {
            for m in marks.iter() {
                let bound = |b: f64| if b.is_finite() { format!("{b}") } else { String::new() };
                let _ = writeln!(
                    text,
                    "{table},{},{},{},{},{},{},{},{:.4},{},{}",
                    row.clip,
                    row.set.name(),
                    row.ground,
                    m.name,
                    m.value,
                    bound(m.low),
                    bound(m.high),
                    m.time,
                    m.judged,
                    m.missed()
                );
            }
        }
    }
    text
}

/// For each set of clips: how many rows miss each measure of those that it is judged in, and the worst of them.
pub fn summary<'a>(rows: &'a [Row]) -> String {
    let mut text = String::new();
    for set in [Set::Choosing, Set::Judging] {
        let of_set: Vec<&'a Row> = rows.iter().filter(|r| r.set == set).collect();
        if of_set.is_empty() {
            continue;
        }
        let held = of_set.iter().filter(|r| r.missed().is_empty() && r.error.is_none()).count();
        let errors = of_set.iter().filter(|r| r.error.is_some()).count();
        let _ = writeln!(text, "\nclips for {}: {held} of {} rows are natural", set.name(), of_set.len());
        if errors > 0 {
            let _ = writeln!(text, "    {errors:>3} of {:>3} are not planted", of_set.len());
        }
        for table in names(rows) {
            let marks = |r: &&'a Row| {
                let row = *r;
                let of_table = row.tables.iter().filter(|t| t.0 == table);
                of_table.flat_map(|t| t.1.iter()).map(move |m| (row, m)).collect::<Vec<_>>()
            };
            let all: Vec<(&Row, &Mark)> = of_set.iter().flat_map(marks).collect();
            for name in columns(all.iter().map(|a| a.1)) {
                let of_name = || all.iter().filter(|a| a.1.name == name);
                let judged = of_name().filter(|a| a.1.is_bound()).count();
                let missed = of_name().filter(|a| a.1.missed());
                let worst = missed.clone().max_by(|a, b| a.1.excess().total_cmp(&b.1.excess()));
                if let Some((row, m)) = worst {
                    let _ = writeln!(
                        text,
                        "    {:>3} of {judged:>3} miss {:<26}worst {:<15}{} {} at {:.2} s",
                        missed.count(),
                        format!("{table}: {name}"),
                        m.cell(),
                        row.clip,
                        row.ground,
                        m.time
                    );
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_missed_outside_and_by_what_is_no_number() {
        assert!(!Mark::at_most("a", 5.0, 5.0, 0.0).missed());
        assert!(Mark::at_most("a", 5.01, 5.0, 0.0).missed());
        assert!(!Mark::at_most("a", 5.01, 5.0, 0.0).unless(true).missed());
        assert!(Mark::at_least("a", 4.9, 5.0, 0.0).missed());
        assert!(Mark::within("a", f64::NAN, 3.0, 15.0, 0.0).missed());
        assert!(!Mark::within("a", 3.0, 3.0, 15.0, 0.0).missed());
        assert!(!Mark::at_most("a", 1e9, f64::INFINITY, 0.0).missed(), "only reported");
    }

    #[test]
    fn the_worst_row_of_each_measure_is_told() {
        let row = |clip, value| Row {
            clip,
            set: Set::Judging,
            ground: "g",
            tables: vec![("t", Marks(vec![Mark::at_most("a", value, 5.0, 0.5)]))],
            error: None,
        };
        let text = summary(&[row("x", 4.0), row("y", 7.0), row("z", 6.0)]);
        assert!(text.contains("1 of 3 rows are natural"), "{text}");
        assert!(
            text.contains("2 of   3 miss t: a") && text.contains("7.0/5.0!") && text.contains("y g"),
            "{text}"
        );
    }
}
