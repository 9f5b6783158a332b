//! Damages files by the thousand and does all that can be done with what is left of them. Nothing may panic, hold a value
//! that is not finite, or be refused in more than one line.

mod mutate;
mod usage;

use std::{
    fs, io,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use mutate::{Dice, damage};
use sinew_files::{Source, sample};
use usage::{Came, use_all};

const HELP: &str = "\
damage [--cases N] [--seed N] [--only CASE] [FILE...]

Damages each FILE (.glb, .gltf, .vrm, .bvh or .obj; without any: the built-in character, and small files made here) in N
ways (5000), the same for the same seed, then reads, plants and writes what is left. Prints how many were read and
planted, and the slowest case. Exit code 1 where one panicked or lied; --only runs that one case again.";

/// Slower cases than this are told: a file of some kilobytes should not keep anybody waiting.
const SLOW: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let (mut cases, mut seed, mut only, mut paths) = (5000u64, 1u64, None, Vec::<PathBuf>::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|n| n.parse::<u64>().ok());
        let known = match word.as_str() {
            "--cases" => number().map(|n| cases = n),
            "--seed" => number().map(|n| seed = n),
            "--only" => number().map(|n| only = Some(n)),
            path if !path.starts_with('-') => {
                paths.push(path.into());
                Some(())
            }
            _ => None,
        };
        if known.is_none() {
            println!("{HELP}");
            return ExitCode::from(if word == "--help" { 0 } else { 2 });
        }
    }
    let files = match files(&paths) {
        Ok(files) => files,
        Err(error) => {
            eprintln!("damage: {error}");
            return ExitCode::FAILURE;
        }
    };
    // Panics are counted and told by their case; the hook's own lines would drown the rest.
    if only.is_none() {
        panic::set_hook(Box::new(|_| {}));
    }
    let mut failed = 0;
    for (name, good) in &files {
        failed += run(name, good, seed, only.map_or(0..cases, |case| case..case + 1));
    }
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs the cases of one file; gives how many failed.
fn run(name: &str, good: &[u8], seed: u64, cases: std::ops::Range<u64>) -> usize {
    let ending = name.rsplit('.').next().unwrap_or_default().to_lowercase();
    let (mut counts, mut failed, mut slowest) = ([0usize; 3], 0, (Duration::ZERO, 0));
    for case in cases {
        let bytes = damage(good, &mut Dice::new(seed, case));
        let start = Instant::now();
        let result = panic::catch_unwind(AssertUnwindSafe(|| use_all(&bytes, &ending)));
        slowest = slowest.max((start.elapsed(), case));
        let what = match result {
            Ok(Ok(came)) => {
                counts[came as usize] += 1;
                continue;
            }
            Ok(Err(what)) => what,
            Err(cause) => {
                let text = cause.downcast_ref::<String>().map(String::as_str);
                format!("panic: {}", text.or(cause.downcast_ref::<&str>().copied()).unwrap_or("?"))
            }
        };
        failed += 1;
        println!("  {name} --seed {seed} --only {case}: {what}");
    }
    let [refused, read, planted] = [Came::Refused, Came::Read, Came::Planted].map(|c| counts[c as usize]);
    let slow = if slowest.0 > SLOW { " (slow)" } else { "" };
    println!(
        "{name}: {refused} refused, {read} read, {planted} planted, {failed} failed; slowest case {}: {:.0} ms{slow}",
        slowest.1,
        slowest.0.as_secs_f64() * 1e3
    );
    failed
}

/// Name and bytes of what is to be damaged.
fn files(paths: &[PathBuf]) -> io::Result<Vec<(String, Vec<u8>)>> {
    if !paths.is_empty() {
        let read = |p: &PathBuf| Ok((p.display().to_string(), fs::read(p)?));
        return paths.iter().map(read).collect();
    }
    let model = sample::mannequin().map_err(io::Error::other)?;
    let mut glb = Vec::new();
    if let Source::Gltf(document) = &model.source {
        document.to_glb(&mut glb)?;
    }
    Ok(vec![
        ("sample.glb".into(), glb),
        ("person.bvh".into(), person().into_bytes()),
        ("steps.obj".into(), STEPS.into()),
    ])
}

/// Two steps.
const STEPS: &str = "# two steps\nv -2 0 -2\nv 2 0 -2\nv 2 0 1\nv -2 0 1\nv -2 0.1 1\nv 2 0.1 1\nv 2 0.1 3\nv -2 0.1 3\n\
    g steps\nf 4 3 2 1\nf 4/1/1 5/1/1 6/1/1 3/1/1\nf -4 -1 -2 -3\n";

/// A person who lifts one foot after the other, as BVH.
fn person() -> String {
    let mut text = String::from("HIERARCHY\nROOT Hips\n{\nOFFSET 0 0.9 0\n");
    text += "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n";
    let mut chain = |bones: &[(&str, [f32; 3])]| {
        for (name, [x, y, z]) in bones {
            text +=
                &format!("JOINT {name}\n{{\nOFFSET {x} {y} {z}\nCHANNELS 3 Zrotation Xrotation Yrotation\n");
        }
        text += "End Site\n{\nOFFSET 0 0 0.1\n}\n";
        text += &"}\n".repeat(bones.len());
    };
    chain(&[("Spine", [0., 0.2, 0.]), ("Neck", [0., 0.4, 0.]), ("Head", [0., 0.1, 0.])]);
    for (side, x) in [("Left", 0.1), ("Right", -0.1)] {
        let named = |part: &str| format!("{side}{part}");
        chain(&[
            (&named("UpLeg"), [x, -0.05, 0.]),
            (&named("Leg"), [0., -0.4, 0.01]),
            (&named("Foot"), [0., -0.4, -0.01]),
            (&named("ToeBase"), [0., -0.05, 0.1]),
        ]);
    }
    text += "}\nMOTION\nFrames: 20\nFrame Time: 0.05\n";
    for frame in 0..20 {
        let swing = (frame as f32 * 0.3).sin() * 20.0;
        let mut row = format!("0 {} {} 0 0 0", 0.9, frame as f32 * 0.02);
        row += &" 0".repeat(9);
        for way in [1.0, -1.0] {
            let (thigh, knee) = (-way * swing, (way * swing).max(0.0));
            row += &format!(" 0 {thigh} 0 0 {knee} 0 0 0 0 0 0 0");
        }
        text += &(row + "\n");
    }
    text
}
