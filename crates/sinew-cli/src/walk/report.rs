//! Report of a walk: a summary for people, and JSON for programs.

use std::{collections::BTreeMap, io::Write, path::Path};

use glam::Vec3;
use serde_json::{Value, json};
use sinew::{body::Legs, ground::walk::Walker};
use sinew_files::Model;

use super::Walked;
use crate::{args::WalkArgs, failure::Failure, lookup::shown};

fn number(x: f32) -> Value {
    json!((f64::from(x) * 1e6).round() / 1e6)
}

/// The report. Its `note` is written into the animation's `extras` too: legs and stances.
pub fn report(walker: &Walker, model: &Model, legs: &Legs, walked: &Walked, on_path: bool) -> Value {
    let creature = walker.creature();
    let leg = creature.length();
    let name = |j| shown(model.skeleton.name(j));
    let mut stances = Vec::new();
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    for n in 0..legs.legs.len() {
        let mut since = None;
        let mut why = None;
        for (feet, &time) in walked.feet.iter().zip(&walked.times) {
            let foot = &feet[n];
            if foot.refused != why {
                why = foot.refused;
                if let Some(why) = why {
                    *refused.entry(why.to_string()).or_default() += 1;
                }
            }
            match (foot.stands, since) {
                (true, None) => since = Some(time),
                (false, Some(from)) => {
                    stances.push(json!({ "leg": n, "from": number(from), "to": number(time) }));
                    since = None;
                }
                _ => {}
            }
        }
        if let Some(from) = since {
            let to = walked.times.last().copied().unwrap_or_default();
            stances.push(json!({ "leg": n, "from": number(from), "to": number(to) }));
        }
    }
    let placement =
        |n: usize| walked.reports.get(n).map_or(Vec3::ZERO, |r| r.placement.to_world(creature.pivot()));
    let way: f32 =
        (1..walked.reports.len()).map(|n| (placement(n) - placement(n - 1)).with_y(0.0).length()).sum();
    let seconds = walked.times.last().copied().unwrap_or_default();
    let waits = walked.reports.iter().filter(|r| r.pace < 0.5).count() as f32 / walked.reports.len() as f32;
    let out = walked.reports.iter().map(|r| r.out_of_reach).fold(0.0, f32::max);
    let limit = walked.reports.iter().filter_map(|r| r.max_speed).reduce(f32::min);
    let rms = (walked.off.iter().map(|d| d * d).sum::<f32>() / walked.off.len() as f32).sqrt();
    let table: Vec<_> = legs
        .legs
        .iter()
        .map(|l| {
            json!({
                "root": name(l.root), "foot": name(l.foot), "tip": name(l.tip),
                "side": l.side.map(|s| s.to_string()), "length_m": number(l.length), "why": l.why.to_string(),
            })
        })
        .collect();
    json!({
        "seconds": number(seconds),
        "leg_m": number(leg),
        "distance_m": number(way),
        "speed_m_per_s": number(if seconds > 0.0 { way / seconds } else { 0.0 }),
        "off_path_rms_m": if on_path { number(rms) } else { Value::Null },
        "gait": walked.reports.last().map(|r| r.gait.name()),
        "out_of_reach_m": number(out),
        "waiting_share": number(waits),
        "max_speed_m_per_s": limit.map(number),
        "refused": refused,
        "doubts": legs.doubts,
        "note": { "legs": table, "stances": stances },
    })
}

/// Prints the summary.
pub fn print(report: &Value, out: &Path, args: &WalkArgs) -> Result<(), Failure> {
    let mut w = std::io::stdout().lock();
    let number = |key: &str| report[key].as_f64().unwrap_or_default();
    let legs = report["note"]["legs"].as_array().map_or(0, Vec::len);
    writeln!(
        w,
        "{legs} legs of {:.3} m, {} s at {:.3} m/s ({:.2} legs/s), gait {}",
        number("leg_m"),
        number("seconds"),
        number("speed_m_per_s"),
        number("speed_m_per_s") / number("leg_m").max(1e-9),
        report["gait"].as_str().unwrap_or("none"),
    )?;
    if let Some(off) = report["off_path_rms_m"].as_f64() {
        writeln!(w, "  {off:.3} m off its path in the mean square")?;
    }
    if let Some(most) = report["max_speed_m_per_s"].as_f64() {
        writeln!(w, "  these legs step at most {most:.3} m/s")?;
    }
    if number("waiting_share") > 0.0 {
        writeln!(w, "  it waits for its feet for {:.1} % of the time", 100.0 * number("waiting_share"))?;
    }
    for (why, count) in report["refused"].as_object().into_iter().flatten() {
        writeln!(w, "  {count} footholds refused: {why}")?;
    }
    for doubt in report["doubts"].as_array().into_iter().flatten() {
        writeln!(w, "  note: {}", doubt.as_str().unwrap_or_default())?;
    }
    writeln!(w, "wrote {}", out.display())?;
    if let Some(picture) = args.picture() {
        writeln!(w, "wrote {}", picture.display())?;
    }
    Ok(())
}
