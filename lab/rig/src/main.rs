//! Applies rigs to real clips, and judges the poses in f64.
//!
//!     cargo run --release -p rig [-- knight|switches|frame|baked]
//!
//! Exit code 1 if a bound is missed.

// The judge reads files, and judges planted feet, with the code of the judge of planting.
#[allow(dead_code)]
#[path = "../../plant/src/accessor.rs"]
mod accessor;
#[allow(dead_code)]
#[path = "../../plant/src/anatomy.rs"]
mod anatomy;
mod baked;
#[allow(dead_code)]
#[path = "../../plant/src/bvh.rs"]
mod bvh;
#[allow(dead_code)]
#[path = "../../plant/src/cases.rs"]
mod cases;
#[allow(dead_code)]
#[path = "../../plant/src/command.rs"]
mod command;
#[allow(dead_code)]
#[path = "../../plant/src/contact.rs"]
mod contact;
mod cost;
#[allow(dead_code)]
#[path = "../../plant/src/figure.rs"]
mod figure;
#[allow(dead_code)]
#[path = "../../plant/src/flat.rs"]
mod flat;
#[allow(dead_code)]
#[path = "../../plant/src/gait.rs"]
mod gait;
#[allow(dead_code)]
#[path = "../../plant/src/ground.rs"]
mod ground;
mod judge;
mod knight;
#[allow(dead_code)]
#[path = "../../plant/src/lowpass.rs"]
mod lowpass;
#[allow(dead_code)]
#[path = "../../plant/src/marks.rs"]
mod marks;
#[allow(dead_code)]
#[path = "../../plant/src/maths.rs"]
mod maths;
#[allow(dead_code)]
#[path = "../../plant/src/measure.rs"]
mod measure;
#[allow(dead_code)]
#[path = "../../plant/src/motion.rs"]
mod motion;
#[allow(dead_code)]
#[path = "../../plant/src/natural.rs"]
mod natural;
#[allow(dead_code)]
#[path = "../../plant/src/note.rs"]
mod note;
#[allow(dead_code)]
#[path = "../../plant/src/options.rs"]
mod options;
mod oracle;
mod orders;
mod planted;
#[allow(dead_code)]
#[path = "../../plant/src/real_stairs.rs"]
mod real_stairs;
#[allow(dead_code)]
#[path = "../../plant/src/same.rs"]
mod same;
#[allow(dead_code)]
#[path = "../../plant/src/scene.rs"]
mod scene;
#[allow(dead_code)]
#[path = "../../plant/src/strip.rs"]
mod strip;
mod switches;
#[allow(dead_code)]
#[path = "../../plant/src/table.rs"]
mod table;
#[allow(dead_code)]
#[path = "../../plant/src/track.rs"]
mod track;
#[allow(dead_code)]
#[path = "../../plant/src/unchanged.rs"]
mod unchanged;
#[allow(dead_code)]
#[path = "../../plant/src/judge.rs"]
mod planting;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use judge::Judge;
use knight::Knight;
use sinew::rig::StartFrom;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("rig: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, String> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let data = std::env::var_os("SINEW_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let path = data.join("gltf/KayKit_Knight.glb");
    if !path.exists() {
        return Err(format!("no {} (SINEW_DATA names the folder with gltf/)", path.display()));
    }
    let met = match std::env::args().nth(1).as_deref() {
        None => knight(&path)? & switches::table(&data)? & planted::table(&path)? & baked(&data)?,
        Some("knight") => knight(&path)?,
        Some("switches") => switches::table(&data)?,
        Some("frame") => planted::table(&path)?,
        Some("baked") => baked(&data)?,
        Some(other) => {
            let known = "`knight`, `switches`, `frame` or `baked`";
            return Err(format!("there is no table `{other}`; there is {known}"));
        }
    };
    println!("\n{}", if met { "all within bounds" } else { "past a bound" });
    Ok(met)
}

fn baked(data: &Path) -> Result<bool, String> {
    let sinew = baked::Sinew::build()?;
    baked::table(data, &sinew)
}

fn knight(path: &Path) -> Result<bool, String> {
    let knight = Knight::read(path)?;
    let judge = Judge::read(path, knight::LIMBS)?;
    let frames = orders::frames(&judge);
    let mut met = oracle::table(&judge, &knight)?;
    println!();
    for (title, rigged) in [
        ("control nodes", knight.controlled()?),
        ("crossed, preferred", knight.crossed(StartFrom::Preferred)?),
        ("crossed, pose", knight.crossed(StartFrom::Pose)?),
    ] {
        met &= orders::table(title, &rigged, &frames)?;
        met &= cost::table(title, &rigged, &frames)?;
    }
    Ok(met)
}
