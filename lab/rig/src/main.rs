//! Applies rigs to real clips, and judges the poses in f64.
//!
//!     cargo run --release -p rig [-- knight|switches|frame|baked|planted]
//!
//! Exit code 1 if a bound is missed.

mod baked;
mod cost;
mod frame;
mod judge;
mod knight;
mod oracle;
mod orders;
mod planted;
mod switches;

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
        None => {
            knight(&path)? & switches::table(&data)? & frame::table(&path)? & baked(&data)? & planted(&data)?
        }
        Some("knight") => knight(&path)?,
        Some("switches") => switches::table(&data)?,
        Some("frame") => frame::table(&path)?,
        Some("baked") => baked(&data)?,
        Some("planted") => planted(&data)?,
        Some(other) => {
            let known = "`knight`, `switches`, `frame`, `baked` or `planted`";
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

fn planted(data: &Path) -> Result<bool, String> {
    let sinew = baked::Sinew::build()?;
    planted::table(data, &sinew)
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
