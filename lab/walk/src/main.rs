//! The judge of walking: lets creatures walk with the command `sinew walk` and measures the written files by code that shares
//! nothing with the walker.
//!
//!     cargo run --release -p walk -- [--sinew PATH] [--only WORD]... [--all] [--keep FOLDER]
//!
//! Prints the bounds that a row misses, or all its measures with `--all`. Exit code 1 if a bound is missed.

mod body;
mod cases;
mod measure;

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use body::Body;
use cases::{CREATURES, Creature, Order, RUNS, Run};
use measure::{Mark, measure};
use plant::scene::Scene;

struct Options {
    sinew: PathBuf,
    only: Vec<String>,
    all: bool,
    out: PathBuf,
    data: PathBuf,
}

fn options() -> Result<Options, String> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data =
        std::env::var_os("SINEW_DATA").map_or_else(|| repository.join("../shared/data"), PathBuf::from);
    let out = repository.join("lab/target/walk");
    let (mut sinew, mut only, mut all, mut keep) = (None, Vec::new(), false, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} wants a value"));
        match word.as_str() {
            "--sinew" => sinew = Some(PathBuf::from(value()?)),
            "--only" => only.push(value()?),
            "--keep" => keep = Some(PathBuf::from(value()?)),
            "--all" => all = true,
            _ => return Err(format!("no option {word}")),
        }
    }
    let sinew = match sinew {
        Some(path) => path,
        None => plant::command::build(&repository)?,
    };
    Ok(Options { sinew, only, all, out: keep.unwrap_or(out), data })
}

fn main() -> ExitCode {
    match options().and_then(|o| judge(&o)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn judge(options: &Options) -> Result<bool, String> {
    std::fs::create_dir_all(&options.out).map_err(|e| format!("{}: {e}", options.out.display()))?;
    let (mut rows, mut held) = (0, 0);
    for run in &RUNS {
        for creature in &CREATURES {
            let title = format!("{}: {}", creature.name, run.name);
            let wanted = run.of.is_empty() || run.of.contains(&creature.name);
            if !wanted || !options.only.iter().all(|w| title.contains(w.as_str())) {
                continue;
            }
            rows += 1;
            let marks = walk(options, creature, run, &title);
            let missed = marks.as_ref().map_or(1, |m| m.iter().filter(|m| m.missed()).count());
            held += usize::from(missed == 0);
            match marks {
                Err(e) => println!("{title:32} {e}"),
                Ok(marks) => {
                    let shown = marks.iter().filter(|m| options.all || m.missed());
                    let words: Vec<String> = shown.map(|m| format!("{} {}", m.name, number(m))).collect();
                    println!(
                        "{title:32} {}",
                        if words.is_empty() { "holds".into() } else { words.join(", ") }
                    );
                    for m in marks.iter().filter(|m| m.bounds.iter().any(|b| b.is_finite())) {
                        bounds::bound(&title, m.name, number(m), !m.missed());
                    }
                }
            }
        }
    }
    for creature in &CREATURES {
        let title = format!("{}: 30 and 144 Hz", creature.name);
        if !options.only.iter().all(|w| title.contains(w.as_str())) {
            continue;
        }
        rows += 1;
        let apart = rates(options, creature);
        let (text, holds) = match apart {
            Ok([rms, most]) => {
                let holds = rms <= 0.5 && most <= 2.0;
                (format!("feet {rms:.3} %L apart RMS (<= 0.5), {most:.3} at most (<= 2)"), holds)
            }
            Err(e) => (e, false),
        };
        println!("{title:32} {text}{}", if holds { "" } else { "!" });
        bounds::bound(&title, "0.5 %L RMS, 2 %L at most", &text, holds);
        held += usize::from(holds);
    }
    println!("{held} of {rows} rows hold every bound");
    Ok(held == rows)
}

fn number(m: &Mark) -> String {
    let value = if m.value.abs() < 10.0 { format!("{:.2}", m.value) } else { format!("{:.1}", m.value) };
    let bound = match m.bounds {
        [low, high] if low.is_finite() && high.is_finite() => format!(" ({low}..{high})"),
        [low, _] if low.is_finite() => format!(" (>= {low})"),
        [_, high] if high.is_finite() => format!(" (<= {high})"),
        _ => String::new(),
    };
    format!("{value}{bound}{}", if m.missed() { "!" } else { "" })
}

/// Distance of the feet in percent of the leg, RMS and at most, between walks of the same random orders with keys at 30 and at 144 Hz;
/// and whether a second run writes the same bytes.
fn rates(options: &Options, creature: &Creature) -> Result<[f64; 2], String> {
    let run = Run { name: "rates", ground: "rough", order: Order::Random(0.5), seconds: 10.0, of: &[] };
    let scene = |rate: &str| -> Result<(Scene, Vec<u8>), String> {
        let out =
            write(options, creature, &run, &format!("{} {rate} Hz", creature.name), &["--key-rate", rate])?;
        let bytes = std::fs::read(&out).map_err(|e| format!("{}: {e}", out.display()))?;
        Ok((Scene::read(&out)?, bytes))
    };
    let ((slow, bytes), (again, twice), (fast, _)) = (scene("30")?, scene("30")?, scene("144")?);
    if bytes != twice {
        return Err("a second run writes other bytes".into());
    }
    let body = Body::new(&again, creature)?;
    let soles = |scene: &Scene, t: f64| -> Vec<plant::maths::V3> {
        let clip = &scene.clips[scene.clips.len() - 1];
        let worlds = scene.worlds(&scene.sample(clip, t));
        body.legs.iter().map(|l| worlds[*l.nodes.last().unwrap_or(&0)].point(l.sole[0])).collect()
    };
    let (mut sum, mut count, mut most) = (0.0, 0.0, 0.0f64);
    // Times of keys in both files.
    for n in 0..=60 {
        let t = f64::from(n) / 6.0;
        for (a, b) in soles(&slow, t).into_iter().zip(soles(&fast, t)) {
            let apart = 100.0 * (a - b).length() / creature.leg;
            (sum, count, most) = (sum + apart * apart, count + 1.0, most.max(apart));
        }
    }
    Ok([f64::sqrt(sum / count), most])
}

/// Lets a creature walk; returns the written file.
fn write(
    options: &Options,
    creature: &Creature,
    run: &Run,
    title: &str,
    more: &[&str],
) -> Result<PathBuf, String> {
    let name: String = title.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let out = options.out.join(format!("{name}.glb"));
    let mut command = Command::new(&options.sinew);
    command.arg("walk").arg("--quiet").arg("-o").arg(&out);
    command.arg("--picture").arg(out.with_extension("png"));
    match creature.file {
        Some(file) => command.arg(options.data.join("gltf").join(file)),
        None => command.args(["--creature", &(2 * creature.legs.len()).to_string()]),
    };
    if creature.given {
        let legs = creature.legs.iter().flat_map(|(a, b)| {
            creature.sides.iter().map(move |s| format!("{}..{}", a.replace('*', s), b.replace('*', s)))
        });
        command.args(["--legs", &legs.collect::<Vec<_>>().join(",")]);
    }
    match run.ground.ends_with(".glb") {
        true => command
            .arg("--ground")
            .arg(options.data.join("gltf").join(run.ground))
            .args(["--ground-scale", "5"]),
        false => command.args(["--ground", run.ground]),
    };
    command.args(["--seconds", &run.seconds.abs().to_string()]);
    let orders = out.with_extension("json");
    match (run.order, run.order.commands(creature.leg, run.seconds)) {
        (Order::Circle(radius, speed), _) => {
            command.args(["--circle", &radius.to_string(), "--speed", &(speed * creature.leg).to_string()]);
        }
        (_, Some(list)) => {
            let text = serde_json::to_string(&list).map_err(|e| e.to_string())?;
            std::fs::write(&orders, text).map_err(|e| format!("{}: {e}", orders.display()))?;
            command.arg("--commands").arg(&orders);
        }
        _ => {}
    }
    command.args(more);
    let done = command.output().map_err(|e| format!("{}: {e}", options.sinew.display()))?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).trim().to_owned());
    }
    Ok(out)
}

/// Walks and measures.
fn walk(options: &Options, creature: &Creature, run: &Run, title: &str) -> Result<Vec<Mark>, String> {
    let out = write(options, creature, run, title, &[])?;
    let scene = Scene::read(&out)?;
    let clip = scene.clips.iter().rfind(|c| c.name.starts_with("walk")).ok_or("there is no clip `walk`")?;
    let body = Body::new(&scene, creature)?;
    measure(&scene, clip, &body, creature, run)
}
