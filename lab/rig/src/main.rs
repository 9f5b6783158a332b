//! Applies rigs to real clips, and judges the poses in f64.
//!
//!     cargo run --release -p rig [-- knight|switches|frame]
//!
//! Exit code 1 if a bound is missed.

// The judge reads files with the code of the judge of planting, of which it needs a part.
#[allow(dead_code)]
#[path = "../../plant/src/accessor.rs"]
mod accessor;
mod cost;
mod judge;
mod knight;
#[allow(dead_code)]
#[path = "../../plant/src/maths.rs"]
mod maths;
mod oracle;
mod orders;
mod planted;
#[allow(dead_code)]
#[path = "../../plant/src/scene.rs"]
mod scene;
mod switches;
#[allow(dead_code)]
#[path = "../../plant/src/track.rs"]
mod track;

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
        None => knight(&path)? & switches::table(&data)? & planted::table(&path)?,
        Some("knight") => knight(&path)?,
        Some("switches") => switches::table(&data)?,
        Some("frame") => planted::table(&path)?,
        Some(other) => {
            return Err(format!("there is no table `{other}`; there is `knight`, `switches` or `frame`"));
        }
    };
    println!("\n{}", if met { "all within bounds" } else { "past a bound" });
    Ok(met)
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
