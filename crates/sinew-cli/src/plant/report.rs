//! Reports of planting: a summary for people, JSON for programs, and a note in the written file.

use std::{io::Write, path::Path};

use glam::Vec3;
use serde_json::{Value, json};
use sinew::{
    body::Side,
    ground::plant::{Interval, Measures},
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
    let analysis = &done.plan.analysis;
    let span = |leg: usize, point: &str, i: &Interval| json!({ "foot": Side::BOTH[leg].to_string(), "point": point, "from": i.from, "to": i.to });
    let mut plants = Vec::new();
    for (leg, contacts) in done.claims.iter().enumerate() {
        plants.extend(contacts.heel.iter().map(|i| span(leg, "heel", i)));
        plants.extend(contacts.ball.iter().map(|i| span(leg, "ball", i)));
    }
    let unplanted: Vec<_> = done
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
    if done.stride.is_some() {
        let at = |(key, time): (usize, &f32)| {
            let by = analysis.carry[key * done.plan.per_key];
            json!([time, by.x, by.y, by.z])
        };
        note["travel_curve"] = done.planted.times.iter().enumerate().map(at).collect();
    }
    note
}

fn measures(m: &Measures) -> Value {
    json!({
        "deepest_penetration_m": number(m.deepest),
        "penetration_99_m": number(m.deepest_99),
        "mean_gap_m": number(m.mean_gap),
        "largest_gap_m": number(m.max_gap),
        "mean_slide_m_per_s": number(m.mean_slide),
        "largest_knee_speed_rad_per_s": number(m.knee_speed),
        "largest_knee_acceleration_rad_per_s2": number(m.knee_acceleration),
    })
}

/// The report as JSON.
pub fn report(task: &Task<'_>, done: &Done, model: &Model, hints: &[String]) -> Value {
    let analysis = &done.plan.analysis;
    let unplanted: Vec<_> = done
        .unplanted()
        .map(|(c, why)| {
            json!({
                "foot": Side::BOTH[c.leg].to_string(), "point": c.point,
                "from_s": number(c.time.from), "to_s": number(c.time.to), "reason": why.to_string(),
            })
        })
        .collect();
    let contacts_given: Vec<_> = (0..task.contacts.len())
        .filter(|&leg| task.contacts[leg].is_some())
        .map(|leg| Side::BOTH[leg].to_string())
        .collect();
    json!({
        "model": model.name,
        "clip": task.clip.name(),
        "rounds": analysis.cycles,
        "travel_m_per_s": vector(analysis.travel),
        "stride_factor": number(done.stride.unwrap_or(1.0)),
        "seconds": number(done.planted.clip.duration()),
        "keys": done.planted.times.len(),
        "leg_m": number(task.figure.leg_length()),
        "figure_m": number(task.figure.height()),
        "before": measures(&done.before),
        "after": measures(&done.after),
        "contacts_given": contacts_given,
        "contacts_planted": number(done.planted_share),
        "unplanted": unplanted,
        "farthest_out_of_reach_m": number(done.planted.out_of_reach),
        "planning_ms": number((done.plan_micros / 1e3) as f32),
        "solving_us_per_frame": number(done.frame_micros as f32),
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
    let analysis = &done.plan.analysis;
    let mut w = std::io::stdout().lock();
    let name = if task.clip.name().is_empty() { "its clip" } else { task.clip.name() };
    writeln!(
        w,
        "{}: {name}, {:.2} s on {}, {} keys",
        model.name,
        done.planted.clip.duration(),
        args.ground.display(),
        done.planted.times.len()
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
    let (b, a) = (&done.before, &done.after);
    let mm = |x: f32| x * 1e3;
    writeln!(w, "  {:<34}{:>9}{:>9}", "", "before", "after")?;
    for (what, before, after, unit) in [
        ("deepest below the ground", mm(b.deepest), mm(a.deepest), "mm"),
        ("largest gap under a contact", mm(b.max_gap), mm(a.max_gap), "mm"),
        ("mean slide of a contact", mm(b.mean_slide), mm(a.mean_slide), "mm/s"),
        ("largest knee acceleration", b.knee_acceleration, a.knee_acceleration, "rad/s2"),
    ] {
        writeln!(w, "  {what:<34}{before:>9.1}{after:>9.1} {unit}")?;
    }
    writeln!(
        w,
        "  {:.0} % of the time in contact is planted; solved in {:.1} us a frame",
        100.0 * done.planted_share,
        done.frame_micros
    )?;
    for (c, why) in done.unplanted() {
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
