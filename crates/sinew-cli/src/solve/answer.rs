//! Answers to requests, as JSON and as text.

use std::io::{self, Write};

use serde_json::{Map, Number, Value};
use sinew::{Outcome, Report};

use crate::lookup::shown;

/// Outcome of one solve.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Status {
    /// Every residual is within its tolerance.
    #[default]
    Reached,
    /// No step reduced the residual.
    Stalled,
    /// The iterations ran out.
    OutOfIterations,
    /// A goal is out of reach, by this distance in metres at least.
    Unreachable(f64),
}

impl Status {
    /// The worse of two.
    pub fn worse(self, other: Self) -> Self {
        let rank = |s: &Self| match s {
            Self::Reached => 0,
            Self::Stalled => 1,
            Self::OutOfIterations => 2,
            Self::Unreachable(_) => 3,
        };
        match (self, other) {
            (Self::Unreachable(a), Self::Unreachable(b)) => Self::Unreachable(a.max(b)),
            (a, b) if rank(&b) > rank(&a) => b,
            (a, _) => a,
        }
    }

    /// The status as a word of JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Stalled => "stalled",
            Self::OutOfIterations => "out_of_iterations",
            Self::Unreachable(_) => "unreachable",
        }
    }

    /// The status of a solve: `Reached` comes before `Unreachable`, and that before the solver's outcome. `out_of_reach` is
    /// in metres.
    pub fn new(reached: bool, out_of_reach: f64, outcome: Outcome) -> Self {
        match outcome {
            _ if reached => Self::Reached,
            _ if out_of_reach > 0.0 => Self::Unreachable(out_of_reach),
            Outcome::OutOfIterations => Self::OutOfIterations,
            _ => Self::Stalled,
        }
    }
}

impl From<&Report> for Status {
    fn from(report: &Report) -> Self {
        Self::new(report.reached(), report.out_of_reach.into(), report.outcome)
    }
}

/// Result of one solve.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub status: Status,
    /// Values of joints with one degree of freedom.
    pub joints: Vec<JointAnswer>,
    /// Local rotations (x, y, z, w) of other joints, by name.
    pub rotations: Vec<(String, [f64; 4])>,
    /// Local translations in metres, by name, of joints whose translation differs from rest, other than by sliding.
    pub translations: Vec<(String, [f64; 3])>,
    /// Largest position residual of the goals, in metres.
    pub position_error: f64,
    /// Largest rotation residual of the goals, in radians.
    pub rotation_error: f64,
    pub iterations: u32,
    /// Starts after the first.
    pub restarts: u32,
    /// Duration of the solve alone, in microseconds.
    pub micros: f64,
}

/// Value of a joint with one degree of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct JointAnswer {
    pub name: String,
    /// In radians, or in metres if the joint slides.
    pub value: f64,
    pub slides: bool,
    /// Minimum and maximum, in the unit of the value; either may be infinite.
    pub limits: (f64, f64),
}

fn json_number(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// The answer as a JSON object.
pub fn json(id: &Value, answer: &Answer, timing: bool) -> Value {
    let mut map = Map::new();
    map.insert("id".into(), id.clone());
    map.insert("status".into(), answer.status.word().into());
    if let Status::Unreachable(by) = answer.status {
        map.insert("by".into(), json_number(by));
    }
    let joints = answer.joints.iter().map(|j| (j.name.clone(), json_number(j.value)));
    map.insert("joints".into(), Value::Object(joints.collect()));
    if !answer.rotations.is_empty() {
        let all = answer.rotations.iter().map(|(n, q)| (n.clone(), q.map(json_number).to_vec().into()));
        map.insert("rotations".into(), Value::Object(all.collect()));
    }
    if !answer.translations.is_empty() {
        let all = answer.translations.iter().map(|(n, t)| (n.clone(), t.map(json_number).to_vec().into()));
        map.insert("translations".into(), Value::Object(all.collect()));
    }
    map.insert("position_error".into(), json_number(answer.position_error));
    map.insert("rotation_error".into(), json_number(answer.rotation_error));
    map.insert("iterations".into(), answer.iterations.into());
    map.insert("restarts".into(), answer.restarts.into());
    if timing {
        map.insert("micros".into(), json_number((answer.micros * 10.0).round() / 10.0));
    }
    Value::Object(map)
}

/// An error as a JSON object, which takes the place of the answer.
pub fn json_error(id: &Value, error: &str) -> Value {
    let mut map = Map::new();
    map.insert("id".into(), id.clone());
    map.insert("error".into(), error.into());
    Value::Object(map)
}

/// Writes the answer as text.
pub fn text(heading: &str, answer: &Answer, timing: bool, out: &mut dyn Write) -> io::Result<()> {
    let plural = |n: u32, thing: &str| format!("{n} {thing}{}", if n == 1 { "" } else { "s" });
    writeln!(out, "{}", shown(heading))?;
    let by = match answer.status {
        Status::Unreachable(by) => format!(" (by {by:.4} m at least)"),
        _ => String::new(),
    };
    write!(
        out,
        "{}{by}: {:.1e} m and {:.1e} rad off, after {}",
        answer.status.word().replace('_', " "),
        answer.position_error,
        answer.rotation_error,
        plural(answer.iterations, "step"),
    )?;
    if answer.restarts > 0 {
        write!(out, " and {}", plural(answer.restarts, "restart"))?;
    }
    if timing {
        write!(out, ", in {:.1} us", answer.micros)?;
    }
    writeln!(out)?;
    let names = answer.joints.iter().map(|j| &j.name).chain(answer.rotations.iter().map(|r| &r.0));
    let names = names.chain(answer.translations.iter().map(|t| &t.0));
    let width = names.map(|n| n.chars().count()).max().unwrap_or(0).min(40);
    for j in &answer.joints {
        let unit = if j.slides { "m  " } else { "rad" };
        let limits = match j.limits {
            (f64::NEG_INFINITY, f64::INFINITY) => "no limits".to_string(),
            (lower, upper) => format!("{lower} to {upper}"),
        };
        writeln!(out, "  {:<width$}  {:>12.6} {unit}  {limits}", shown(&j.name), j.value)?;
    }
    for (name, [x, y, z, w]) in &answer.rotations {
        writeln!(out, "  {:<width$}  {x:>9.6} {y:>9.6} {z:>9.6} {w:>9.6}", shown(name))?;
    }
    for (name, [x, y, z]) in &answer.translations {
        writeln!(out, "  {:<width$}  {x:>9.6} {y:>9.6} {z:>9.6} m", shown(name))?;
    }
    Ok(())
}
