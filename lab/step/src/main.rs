//! Planting step by step: whether 30 Hz agrees with 144 Hz, how well feet stand at 60 Hz, and what a frame costs at 144 Hz;
//! without foresight, and (the last six columns) with the animation known 0.3 s ahead. Depths and gaps are 99th percentiles in
//! mm; slide is the mean speed of the point in contact.
//!
//!     cargo run --release -p step -- [WORD]...
//!
//! Only rows whose "clip ground" holds every WORD. The exit code is 1 where a bound is missed.

mod level;
mod quality;
mod walker;

use std::{path::Path, process::ExitCode, time::Instant};

use quality::{Points, Quality, quality};
use sinew::{
    glam::Vec3,
    ground::{
        MeshGround,
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
    /// How well they stand.
    quality: Quality,
    /// Median microseconds of a step, and mean ones of a frame with sampling and casts (which are made in some frames only).
    micros: [f64; 2],
    /// Microseconds of each frame.
    frames: Vec<f64>,
}

/// Seconds that the animation is known ahead in the second half of the table.
const FORESIGHT: f32 = 0.3;

fn run(walker: &Walker, ground: &MeshGround, rate: f64, foresight: f32) -> Result<Run, String> {
    let figure = &walker.figure;
    let mut stepper = Stepper::new(figure, Settings::default()).map_err(|e| e.to_string())?;
    stepper.learn_floor(figure, &walker.clip, &walker.rest).map_err(|e| e.to_string())?;
    stepper.set_foresight(foresight).map_err(|e| e.to_string())?;
    let mut pose = walker.rest.clone();
    let mut ahead = walker.rest.clone();
    let legs = figure.legs();
    let mut r = Run {
        ankles: vec![Vec::new(); legs.len()],
        quality: Quality::default(),
        micros: [0.0; 2],
        frames: Vec::new(),
    };
    let mut points: Vec<Points> = legs.iter().map(|_| Points::default()).collect();
    let frames = (walker.duration() * rate + 1e-6).floor() as usize + 1;
    let (mut steps, mut whole) = (Vec::with_capacity(frames), Vec::with_capacity(frames));
    for frame in 0..frames {
        let time = frame as f64 / rate;
        let began = Instant::now();
        let world = walker.at(time, &mut pose);
        if foresight > 0.0 {
            let later = (time + f64::from(stepper.foresight())).min(walker.duration());
            let there = walker.at(later, &mut ahead);
            stepper.foresee(figure, &ahead, &there).map_err(|e| e.to_string())?;
        }
        // This is the lab's own work.
        let pause = Instant::now();
        for (points, leg) in points.iter_mut().zip(legs) {
            let foot = pose.model(leg.foot);
            for (list, p) in points.given.iter_mut().zip([leg.sole.heel, leg.sole.ball]) {
                list.push(world.transform_point3(foot.transform_point3(p)));
            }
        }
        let pause = pause.elapsed().as_secs_f64() * 1e6;
        stepper.sense(ground, figure, &pose, &world).map_err(|e| e.to_string())?;
        let solve = Instant::now();
        let dt = (1.0 / rate) as f32;
        stepper.step(figure, &mut pose, &world, dt).map_err(|e| e.to_string())?;
        steps.push(solve.elapsed().as_secs_f64() * 1e6);
        whole.push(began.elapsed().as_secs_f64() * 1e6 - pause);
        for (i, leg) in legs.iter().enumerate() {
            let foot = pose.model(leg.foot);
            let at = |p: Vec3| world.transform_point3(p);
            r.ankles[i].push(at(foot.translation));
            for (list, p) in points[i].planted.iter_mut().zip([leg.sole.heel, leg.sole.ball]) {
                list.push(at(foot.transform_point3(p)));
            }
        }
    }
    r.quality = quality(&points, ground, rate as f32, figure.leg_length(), figure.height() / 1.8);
    r.frames = whole;
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
        "{:<15}{:<18}{:>8}{:>8}{:>8}|{:>7}{:>7}{:>8}{:>7} |{:>7}{:>7}|{:>7}{:>7}{:>7}{:>7}{:>8}{:>7}",
        "clip",
        "ground",
        "rms mm",
        "max mm",
        "at s",
        "deep",
        "gap",
        "mm/s",
        "swing",
        "step",
        "frame",
        "rms",
        "max",
        "deep",
        "gap",
        "mm/s",
        "swing",
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
                let runs = |foresight| -> Result<[Run; 3], String> {
                    let run = |rate| run(&walker, &g, rate, foresight);
                    let mut fast = run(144.0)?;
                    // The same work again: the least time of each frame is the one in which the machine did nothing else.
                    for _ in 0..2 {
                        let again = run(144.0)?;
                        for (a, b) in fast.frames.iter_mut().zip(again.frames) {
                            *a = a.min(b);
                        }
                    }
                    fast.micros[1] = fast.frames.iter().sum::<f64>() / fast.frames.len() as f64;
                    Ok([run(30.0)?, run(60.0)?, fast])
                };
                Ok(Some([runs(0.0)?, runs(FORESIGHT)?]))
            });
            let [[slow, middle, fast], foreseen] = match row {
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
            let q = |q: &Quality| [q.deep, q.gap, q.slide, q.swing].map(|v| v * 1e3);
            let [deep, gap, slide, swing] = q(&middle.quality);
            let (rms_ahead, most_ahead, _) = compare(&foreseen[0], &foreseen[2]);
            let [deep_ahead, gap_ahead, slide_ahead, swing_ahead] = q(&foreseen[1].quality);
            println!(
                "{:<15}{:<18}{:>8.2}{:>8.1}{:>8.3}|{:>7.1}{:>7.1}{:>8.1}{:>7.1} |{:>7.2}{:>7.2}|{:>7.2}{:>7.1}{:>7.1}{:>7.1}{:>8.1}{:>7.1}{}",
                case.name,
                name,
                rms * 1e3,
                most * 1e3,
                when,
                deep,
                gap,
                slide,
                swing,
                fast.micros[0],
                fast.micros[1],
                rms_ahead * 1e3,
                most_ahead * 1e3,
                deep_ahead,
                gap_ahead,
                slide_ahead,
                swing_ahead,
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
