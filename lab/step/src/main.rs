//! Planting frame by frame: distance of the ankles at 30 and 144 Hz, quality of the contacts at 60 Hz, and the time per
//! frame at 144 Hz. It runs three times: with the animation given at every tick of the foot planter's clock, as
//! `FootPlanter::step_with` does (the first nine columns), with frames alone (two), and with ticks 0.3 s ahead (the last
//! six). Depths and gaps are 99th percentiles in mm; slide is the mean speed of the point in contact. Below the table: other
//! rates against 144 Hz.
//!
//!     cargo run --release -p step -- [--rates] [WORD]...
//!
//! Last, a game on stairs (see `stairs.rs`), which does not count for the exit code.
//!
//! Each WORD selects rows whose "clip ground" contain it; `--rates` prints all rates of each row. Exit code 1 if a bound is
//! missed.

mod level;
mod quality;
mod run;
mod stairs;
mod walker;

use std::{path::Path, process::ExitCode};

use quality::Quality;
use run::{Apart, Mode, Run};
use sinew::ground::{MeshGround, terrain::Flight};
use walker::{CASES, Walker};

/// Bounds: metres of difference between the rates, root mean square and most; microseconds a frame.
const RMS: f64 = 0.005;
const MOST: f64 = 0.020;
const SOLVE: f64 = 8.0;
const FRAME: f64 = 40.0;

/// Frames a second that are compared with the fastest; the first is the one that the bounds are for.
const RATES: [f64; 5] = [30.0, 45.0, 50.0, 60.0, 120.0];
const FAST: f64 = 144.0;

/// One row in one mode.
struct Result3 {
    /// At each of [`RATES`] against the fastest.
    apart: [Apart; RATES.len()],
    /// At 60 Hz.
    quality: Quality,
    /// Microseconds of a step and of a frame at the fastest.
    micros: [f64; 2],
}

fn measure(walker: &Walker, ground: &MeshGround, mode: Mode) -> Result<Result3, String> {
    let run = |rate| Run::new(walker, ground, rate, mode);
    let mut fast = run(FAST)?;
    for _ in 0..2 {
        fast.least(&run(FAST)?);
    }
    let mut row = Result3 {
        apart: [Apart::default(); RATES.len()],
        quality: Quality::default(),
        micros: [fast.step, fast.frame()],
    };
    for (rate, apart) in RATES.iter().zip(&mut row.apart) {
        let slow = run(*rate)?;
        *apart = Apart::new(&slow, &fast);
        if *rate == 60.0 {
            row.quality = slow.quality;
        }
    }
    Ok(row)
}

fn agrees(apart: &Apart) -> bool {
    apart.rms <= RMS && apart.most <= MOST
}

/// Summary of all rows for one rate in one mode.
#[derive(Clone, Copy, Default)]
struct Sum {
    held: usize,
    rms: f64,
    most: f64,
}

fn main() -> ExitCode {
    let (options, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let each = options.iter().any(|o| o == "--rates");
    let data = std::env::var_os("SINEW_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        std::path::PathBuf::from,
    );
    println!(
        "{:<15}{:<18}{:>8}{:>8}{:>8}|{:>7}{:>7}{:>8}{:>7} |{:>7}{:>7}|{:>7}{:>7}|{:>7}{:>7}{:>7}{:>7}{:>8}{:>7}",
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
        "rms",
        "max",
        "deep",
        "gap",
        "mm/s",
        "swing",
    );
    let (mut rows, mut held, mut each_held) = (0, 0, [0; 3]);
    let mut untold = [0.0f64; RATES.len() + 1];
    let mut sums = [[Sum::default(); RATES.len()]; 3];
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
        for (most, rate) in untold.iter_mut().zip(RATES.into_iter().chain([FAST])) {
            *most = most.max(run::untold(&walker, rate));
        }
        for name in level::GROUNDS {
            let label = format!("{} {name}", case.name);
            if !words.iter().all(|w| label.contains(w.as_str())) {
                continue;
            }
            let row = level::ground(name, &walker, &data).and_then(|g| {
                let Some(g) = g else { return Ok(None) };
                Mode::ALL
                    .iter()
                    .map(|&mode| measure(&walker, &g, mode))
                    .collect::<Result<Vec<_>, _>>()
                    .map(Some)
            });
            let row = match row {
                Ok(Some(row)) => row,
                Ok(None) => continue,
                Err(e) => {
                    println!("{label}: {e}");
                    rows += 1;
                    continue;
                }
            };
            rows += 1;
            for (sums, mode) in sums.iter_mut().zip(&row) {
                for (sum, apart) in sums.iter_mut().zip(&mode.apart) {
                    sum.held += usize::from(agrees(apart));
                    sum.rms = sum.rms.max(apart.rms);
                    sum.most = sum.most.max(apart.most);
                }
            }
            let [ticks, frames, look_ahead] = &row[..] else { continue };
            let mut good = true;
            for ((count, m), mode) in
                each_held.iter_mut().zip(&row).zip(["beats given", "frames alone", "0.3 s ahead"])
            {
                let row = format!("{label}, {mode}");
                let [rms, most] = [m.apart[0].rms, m.apart[0].most].map(|v| 1e3 * v);
                bounds::median(&row, m.micros[0]);
                let apart = format!("{} and {} mm apart", RMS * 1e3, MOST * 1e3);
                bounds::bound(&row, apart, format!("{rms:.1}, {most:.1} mm"), agrees(&m.apart[0]));
                let [solve, frame] = m.micros;
                bounds::bound(&row, format!("{SOLVE} us a step"), format!("{solve:.1} us"), solve <= SOLVE);
                bounds::bound(&row, format!("{FRAME} us a frame"), format!("{frame:.1} us"), frame <= FRAME);
                let holds = agrees(&m.apart[0]) && m.micros[0] <= SOLVE && m.micros[1] <= FRAME;
                *count += usize::from(holds);
                good &= holds;
            }
            held += usize::from(good);
            let q = |q: &Quality| {
                let [deep, gap, slide, swing] = [q.deep, q.gap, q.slide, q.swing].map(|v| v * 1e3);
                format!("{deep:>7.1}{gap:>7.1}{slide:>8.1}{swing:>7.1}")
            };
            println!(
                "{:<15}{:<18}{:>8.2}{:>8.1}{:>8.3}|{} |{:>7.2}{:>7.2}|{:>7.2}{:>7.1}|{:>7.2}{:>7.1}{}{}",
                case.name,
                name,
                ticks.apart[0].rms * 1e3,
                ticks.apart[0].most * 1e3,
                ticks.apart[0].when,
                q(&ticks.quality),
                ticks.micros[0],
                ticks.micros[1],
                frames.apart[0].rms * 1e3,
                frames.apart[0].most * 1e3,
                look_ahead.apart[0].rms * 1e3,
                look_ahead.apart[0].most * 1e3,
                q(&look_ahead.quality),
                if good { "" } else { " !" }
            );
            if each {
                for (mode, of) in row.iter().zip(["ticks given", "frames alone", "0.3 s ahead"]) {
                    print!("{:>33}", of);
                    for (rate, a) in RATES.iter().zip(&mode.apart) {
                        print!(" | {rate:>3} Hz{:>6.2}{:>6.1} at {:>5.3}", a.rms * 1e3, a.most * 1e3, a.when);
                    }
                    println!();
                }
            }
        }
    }
    println!(
        "\nagainst {FAST} Hz: rows within {} and {} mm; the largest RMS and maximum, in mm",
        RMS * 1e3,
        MOST * 1e3
    );
    println!("{:<22}{:>24}{:>24}{:>24}", "", "ticks given", "frames alone", "0.3 s ahead");
    for (k, rate) in RATES.iter().enumerate() {
        print!("{:<22}", format!("{rate} Hz"));
        for sums in &sums {
            let Sum { held, rms, most } = sums[k];
            print!("{:>24}", format!("{held} {:>7.2} {:>6.1}", rms * 1e3, most * 1e3));
        }
        println!();
    }
    print!("\nlargest error of the animation's ankles at the ticks, from frames alone, in mm:");
    for (most, rate) in untold.iter().zip(RATES.into_iter().chain([FAST])) {
        print!("  {rate} Hz {:.1}", most * 1e3);
    }
    println!();
    let [ticks, frames, ahead] = each_held;
    println!(
        "\nof {rows} rows hold every bound ({} mm, {} mm, {SOLVE} us, {FRAME} us): {ticks} with ticks given, {frames} with \
         frames alone, {ahead} 0.3 s ahead, {held} in all three",
        RMS * 1e3,
        MOST * 1e3
    );
    games(&words, &data);
    if held == rows { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The rows of a game on stairs; a clip that stays where it is walks none.
fn games(words: &[String], data: &Path) {
    println!(
        "\nstairs of 17 x 29 cm at 60 Hz and 1 m/s with legs of 0.93 m, 0.3 s ahead: value/bound, ! at a miss"
    );
    for case in CASES.iter().filter(|case| case.name != "m2m-squat") {
        let Ok(Some(walker)) = Walker::read(case, data) else { continue };
        for (flight, name) in [(Flight::Up, "game up"), (Flight::Down, "game down")] {
            let label = format!("{} {name}", case.name);
            if !words.iter().all(|w| label.contains(w.as_str())) {
                continue;
            }
            match stairs::measure(&walker, flight) {
                Ok((highest, values)) => {
                    print!("{label:<26} steps to {highest:.2} m");
                    for v in values {
                        let holds = v.holds();
                        bounds::bound(
                            &label,
                            format!("{} {:.0}", v.what, v.bound),
                            format!("{:.1}", v.value),
                            holds,
                        );
                        print!("  {} {:.1}/{:.0}{}", v.what, v.value, v.bound, if holds { "" } else { "!" });
                    }
                    println!();
                }
                Err(e) => println!("{label}: {e}"),
            }
        }
    }
}
