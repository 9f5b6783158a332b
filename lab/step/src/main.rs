//! Planting step by step: whether 30 Hz agrees with 144 Hz, how well feet stand, and what a frame costs.
//!
//!     cargo run --release -p step -- [WORD]...
//!
//! Only rows whose "clip ground" holds every WORD. The exit code is 1 where a bound is missed.

mod level;
mod walker;

use std::{path::Path, process::ExitCode, time::Instant};

use sinew::{
    glam::Vec3,
    ground::{
        Filter, Ground, MeshGround,
        plant::{Settings, Stepper},
    },
};
use walker::{CASES, Walker};

/// Bounds: metres of difference between the rates, root mean square and most; microseconds a frame.
const RMS: f64 = 0.005;
const MOST: f64 = 0.020;
const SOLVE: f64 = 10.0;
const FRAME: f64 = 40.0;

/// One run at one rate.
struct Run {
    /// Each foot's ankle in the world, by frame.
    ankles: Vec<Vec<Vec3>>,
    /// Deepest that a heel or ball of a standing foot, and of one in the air, is under the ground.
    deepest: [f32; 2],
    /// Mean speed of the lower one of heel and ball of standing feet, in m/s.
    slide: f64,
    /// Share of the time of feet that they stand.
    standing: f64,
    /// Median microseconds of a step, and mean ones of a frame with sampling and casts (footholds are looked for in a few
    /// frames only).
    micros: [f64; 2],
    /// Furthest that an ankle stays from where it should be.
    missed: f32,
}

fn run(walker: &Walker, ground: &MeshGround, rate: f64) -> Result<Run, String> {
    let figure = &walker.figure;
    let mut stepper = Stepper::new(figure, Settings::default()).map_err(|e| e.to_string())?;
    stepper.learn_floor(figure, &walker.clip, &walker.rest).map_err(|e| e.to_string())?;
    let mut pose = walker.rest.clone();
    let legs = figure.legs();
    let mut r = Run {
        ankles: vec![Vec::new(); legs.len()],
        deepest: [0.0; 2],
        slide: 0.0,
        standing: 0.0,
        micros: [0.0; 2],
        missed: 0.0,
    };
    let frames = (walker.duration() * rate + 1e-6).floor() as usize + 1;
    let mut before: Vec<Option<[Vec3; 2]>> = vec![None; legs.len()];
    let mut slides = 0usize;
    let mut steps = Vec::with_capacity(frames);
    for frame in 0..frames {
        let began = Instant::now();
        let world = walker.at(frame as f64 / rate, &mut pose);
        stepper.sense(ground, figure, &pose, &world).map_err(|e| e.to_string())?;
        let solve = Instant::now();
        let dt = (1.0 / rate) as f32;
        let report = stepper.step(figure, &mut pose, &world, dt).map_err(|e| e.to_string())?;
        r.missed = r.missed.max(report.out_of_reach);
        steps.push(solve.elapsed().as_secs_f64() * 1e6);
        r.micros[1] += began.elapsed().as_secs_f64() * 1e6;
        for (i, leg) in legs.iter().enumerate() {
            let foot = pose.model(leg.foot);
            let at = |p: Vec3| world.transform_point3(p);
            r.ankles[i].push(at(foot.translation));
            let points = [leg.sole.heel, leg.sole.ball].map(|p| at(foot.transform_point3(p)));
            let stands = stepper.stands(i);
            for p in points {
                // From above the knee, so that a ceiling does not count.
                let from = p + Vec3::Y * 0.3;
                if let Some(hit) = ground.cast_ray(from, Vec3::NEG_Y, 2.0, &Filter::ALL) {
                    let k = usize::from(!stands);
                    r.deepest[k] = r.deepest[k].max(0.3 - hit.distance);
                }
            }
            r.standing += f64::from(u8::from(stands)) / (frames * legs.len()) as f64;
            if let (Some(old), true) = (before[i], stands) {
                let moved = (0..2).map(|k| (points[k] - old[k]).length()).fold(f32::INFINITY, f32::min);
                r.slide += f64::from(moved) * rate;
                slides += 1;
            }
            before[i] = stands.then_some(points);
        }
    }
    r.slide /= slides.max(1) as f64;
    r.micros[1] /= frames as f64;
    steps.sort_by(f64::total_cmp);
    r.micros[0] = steps[frames / 2];
    Ok(r)
}

/// The value at a time between frames, by the cubic through the four nearest.
fn between(values: &[Vec3], at: f64) -> Option<Vec3> {
    let i = at.floor() as usize;
    let s = (at - i as f64) as f32;
    if s < 1e-3 {
        return values.get(i).copied();
    }
    if s > 0.999 {
        return values.get(i + 1).copied();
    }
    let p = values.get(i.checked_sub(1)?..i + 3)?;
    Some(
        p[0] * (-s * (s - 1.0) * (s - 2.0) / 6.0)
            + p[1] * ((s + 1.0) * (s - 1.0) * (s - 2.0) / 2.0)
            + p[2] * (-(s + 1.0) * s * (s - 2.0) / 2.0)
            + p[3] * ((s + 1.0) * s * (s - 1.0) / 6.0),
    )
}

/// Root mean square and largest distance of the ankles, and when that was.
fn compare(slow: &Run, fast: &Run) -> (f64, f64, f64) {
    let (mut sum, mut count, mut most, mut when) = (0.0, 0usize, 0.0f64, 0.0);
    for (a, b) in slow.ankles.iter().zip(&fast.ankles) {
        for (i, at) in a.iter().enumerate() {
            let Some(other) = between(b, i as f64 * 144.0 / 30.0) else { continue };
            let d = f64::from((*at - other).length());
            sum += d * d;
            count += 1;
            if d > most {
                (most, when) = (d, i as f64 / 30.0);
            }
        }
    }
    ((sum / count.max(1) as f64).sqrt(), most, when)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let data = std::env::var_os("SINEW_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        std::path::PathBuf::from,
    );
    println!(
        "{:<15}{:<18}{:>8}{:>8}{:>9} |{:>8}{:>9}{:>8}{:>8}{:>10}{:>8}{:>9}",
        "clip",
        "ground",
        "rms mm",
        "max mm",
        "at s",
        "deep mm",
        "air mm",
        "mm/s",
        "miss mm",
        "stands %",
        "step us",
        "frame us"
    );
    let (mut rows, mut held) = (0, 0);
    for case in CASES {
        let walker = match Walker::read(case, &data) {
            Ok(Some(walker)) => walker,
            Ok(None) => {
                eprintln!("{}: its file is not in {}", case.name, data.display());
                continue;
            }
            Err(e) => {
                println!("{}: {e}", case.name);
                rows += 1;
                continue;
            }
        };
        for name in level::GROUNDS {
            let label = format!("{} {name}", case.name);
            if !words.iter().all(|w| label.contains(w.as_str())) {
                continue;
            }
            let row = level::ground(name, &walker, &data).and_then(|g| {
                let Some(g) = g else { return Ok(None) };
                Ok(Some((run(&walker, &g, 30.0)?, run(&walker, &g, 144.0)?)))
            });
            let (slow, fast) = match row {
                Ok(Some(runs)) => runs,
                Ok(None) => continue,
                Err(e) => {
                    println!("{label}: {e}");
                    rows += 1;
                    continue;
                }
            };
            let (rms, most, when) = compare(&slow, &fast);
            let good = rms <= RMS && most <= MOST && fast.micros[0] <= SOLVE && fast.micros[1] <= FRAME;
            rows += 1;
            held += usize::from(good);
            let mm = |m: f32| f64::from(m) * 1e3;
            println!(
                "{:<15}{:<18}{:>8.2}{:>8.1}{:>9.3} |{:>8.1}{:>9.1}{:>8.1}{:>8.1}{:>10.1}{:>8.2}{:>9.2}{}",
                case.name,
                name,
                rms * 1e3,
                most * 1e3,
                when,
                mm(fast.deepest[0]),
                mm(fast.deepest[1]),
                fast.slide * 1e3,
                mm(fast.missed),
                fast.standing * 100.0,
                fast.micros[0],
                fast.micros[1],
                if good { "" } else { " !" }
            );
        }
    }
    println!(
        "\n{held} of {rows} rows hold every bound: {} mm, {} mm, {SOLVE} us, {FRAME} us",
        RMS * 1e3,
        MOST * 1e3
    );
    if held == rows { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
