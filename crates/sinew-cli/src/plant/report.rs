//! Reports of planting: a summary for people, JSON for programs, and a note in the written file.

use std::{io::Write, path::Path};

use glam::Vec3;
use serde_json::{Value, json};
use sinew::{
    body::Side,
    ground::plant::{Interval, Measures, Peak, Planting},
    motion::Clip,
};
use sinew_files::Model;

use super::work::{Done, Task};
use crate::{args::PlantArgs, failure::Failure};

fn vector(v: Vec3) -> Value {
    json!([v.x, v.y, v.z])
}

/// The number rounded to 6 decimals, so that 0.1 does not become 0.10000000149.
fn number(x: f32) -> Value {
    let rounded = (x as f64 * 1e6).round() / 1e6;
    json!(rounded)
}

/// The note in the planted animation's `extras`: its source clip, and the contact times of each foot's heel and ball. Where
/// steps are scaled, `travel_curve` is the displacement of the figure from the clip: time, x, y and z at each key.
pub fn note(done: &Done, clip: &Clip) -> Value {
    let Planting { planted, plan, report, .. } = &done.planting;
    let analysis = &plan.analysis;
    let span = |leg: usize, point: &str, i: &Interval| json!({ "foot": Side::BOTH[leg].to_string(), "point": point, "from": i.from, "to": i.to });
    let mut plants = Vec::new();
    for (leg, contacts) in report.planted(analysis.feet.len()).iter().enumerate() {
        plants.extend(contacts.heel.iter().map(|i| span(leg, "heel", i)));
        plants.extend(contacts.ball.iter().map(|i| span(leg, "ball", i)));
    }
    let unplanted: Vec<_> = report
        .unplanted()
        .map(|(c, why)| {
            let mut v = span(c.leg, c.point, &c.time);
            v["reason"] = json!(why.to_string());
            v
        })
        .collect();
    let mut note = json!({
        "source": clip.name(),
        "start": analysis.start,
        "cycles": analysis.cycles,
        "cycle_duration": analysis.cycle,
        "travel": vector(analysis.travel),
        "plants": plants,
        "unplanted": unplanted,
    });
    if report.stride.is_some() {
        let at = |(key, time): (usize, &f32)| {
            let by = analysis.carry[key * plan.per_key];
            json!([time, by.x, by.y, by.z])
        };
        note["travel_curve"] = planted.times.iter().enumerate().map(at).collect();
    }
    note
}

/// When and in which leg something is largest.
fn peak(peak: &Peak) -> Value {
    let mut v = json!({ "at_s": number(peak.time) });
    if let Some(side) = peak.leg.and_then(|leg| Side::BOTH.get(leg)) {
        v["leg"] = json!(side.to_string());
    }
    v
}

fn measures(m: &Measures) -> Value {
    json!({
        "deepest_penetration_m": number(m.deepest),
        "penetration_99_m": number(m.deepest_99),
        "mean_gap_m": number(m.mean_gap),
        "largest_gap_m": number(m.max_gap),
        "mean_slide_m_per_s": number(m.mean_slide),
        "largest_knee_speed_rad_per_s": number(m.knee_speed),
        "largest_knee_acceleration_rad_per_s2": number(m.knee_acceleration.value),
        "largest_knee_acceleration_at": peak(&m.knee_acceleration),
        "largest_hips_acceleration_m_per_s2": number(m.hips_acceleration.value),
        "largest_hips_acceleration_at": peak(&m.hips_acceleration),
        "largest_dorsiflexion_rad": number(m.dorsiflexion.value),
        "largest_dorsiflexion_at": peak(&m.dorsiflexion),
    })
}

/// The report as JSON.
pub fn report(task: &Task<'_>, done: &Done, model: &Model, hints: &[String]) -> Value {
    let Planting { planted, plan, report, .. } = &done.planting;
    let analysis = &plan.analysis;
    let unplanted: Vec<_> = report
        .unplanted()
        .map(|(c, why)| {
            json!({
                "foot": Side::BOTH[c.leg].to_string(), "point": c.point,
                "from_s": number(c.time.from), "to_s": number(c.time.to), "reason": why.to_string(),
            })
        })
        .collect();
    let given = Side::BOTH.iter().zip(&task.options.contacts).filter(|(_, given)| given.is_some());
    let contacts_given: Vec<_> = given.map(|(side, _)| side.to_string()).collect();
    json!({
        "model": model.name,
        "clip": task.clip.name(),
        "rounds": analysis.cycles,
        "travel_m_per_s": vector(analysis.travel),
        "stride_factor": number(report.stride.unwrap_or(1.0)),
        "seconds": number(planted.clip.duration()),
        "keys": planted.times.len(),
        "leg_m": number(task.figure.leg_length()),
        "figure_m": number(task.figure.height()),
        "before": measures(&report.before),
        "after": measures(&report.after),
        "contacts_given": contacts_given,
        "contacts_planted": number(report.planted_share()),
        "unplanted": unplanted,
        "farthest_out_of_reach_m": number(planted.out_of_reach),
        "planting_s": number(done.seconds as f32),
        "notes": analysis.notes.iter().chain(hints).collect::<Vec<_>>(),
    })
}

/// Prints a summary to standard output.
pub fn print(
    task: &Task<'_>,
    done: &Done,
    model: &Model,
    out: &Path,
    args: &PlantArgs,
    hints: &[String],
) -> Result<(), Failure> {
    let Planting { planted, plan, report, .. } = &done.planting;
    let analysis = &plan.analysis;
    let mut w = std::io::stdout().lock();
    let name = if task.clip.name().is_empty() { "its clip" } else { task.clip.name() };
    writeln!(
        w,
        "{}: {name}, {:.2} s on {}, {} keys",
        model.name,
        planted.clip.duration(),
        args.ground.name().display(),
        planted.times.len()
    )?;
    let speed = analysis.travel.length();
    if speed > 0.0 {
        let rounds =
            if analysis.cycles == 1 { String::new() } else { format!(", {} rounds", analysis.cycles) };
        writeln!(
            w,
            "  the clip walks on the spot: moved at {speed:.2} m/s, the speed of its standing feet{rounds}"
        )?;
    }
    let (b, a) = (&report.before, &report.after);
    let mm = |x: f32| x * 1e3;
    writeln!(w, "  {:<34}{:>9}{:>9}", "", "before", "after")?;
    let at = |peak: &Peak| match peak.leg.and_then(|leg| Side::BOTH.get(leg)) {
        Some(side) => format!(", {side} at {:.2} s", peak.time),
        None => format!(", at {:.2} s", peak.time),
    };
    let bend = |m: &Measures| m.dorsiflexion.value.to_degrees();
    let (knees, hips) = (|m: &Measures| m.knee_acceleration.value, |m: &Measures| m.hips_acceleration.value);
    for (what, before, after, unit, at) in [
        ("deepest below the ground", mm(b.deepest), mm(a.deepest), "mm", String::new()),
        ("largest gap under a contact", mm(b.max_gap), mm(a.max_gap), "mm", String::new()),
        ("mean slide of a contact", mm(b.mean_slide), mm(a.mean_slide), "mm/s", String::new()),
        ("largest dorsiflexion of an ankle", bend(b), bend(a), "degrees", at(&a.dorsiflexion)),
        ("largest acceleration of a knee", knees(b), knees(a), "rad/s2", at(&a.knee_acceleration)),
        ("largest acceleration of the hips", hips(b), hips(a), "m/s2", at(&a.hips_acceleration)),
    ] {
        writeln!(w, "  {what:<34}{before:>9.1}{after:>9.1} {unit}{at}")?;
    }
    writeln!(
        w,
        "  {:.0} % of the time in contact is planted, in {:.2} s",
        100.0 * report.planted_share(),
        done.seconds
    )?;
    for (c, why) in report.unplanted() {
        let (side, point, Interval { from, to }) = (Side::BOTH[c.leg], c.point, c.time);
        writeln!(w, "  not planted: {side} {point} from {from:.2} to {to:.2} s, {why}")?;
    }
    for note in analysis.notes.iter().chain(hints) {
        writeln!(w, "  note: {note}")?;
    }
    let also: Vec<_> = [args.picture(), args.report.clone()].into_iter().flatten().collect();
    write!(w, "  wrote {}", out.display())?;
    for path in also {
        write!(w, ", {}", path.display())?;
    }
    Ok(writeln!(w)?)
}
