//! Parsers of numbers, vectors, names and paths on the command line.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};
use glam::Vec3;
use sinew::ground::{plant::Stride, walk::Gait};

/// Joint values by name.
pub type Assignments = Vec<(String, f64)>;

/// Points in metres.
pub type Points = Vec<[f64; 3]>;

/// Parses a finite number that `fits` accepts. `wanted` describes the allowed range in the error.
pub(super) fn number(text: &str, wanted: &str, fits: impl Fn(f32) -> bool) -> Result<f32, String> {
    let value: f32 = text.trim().parse().map_err(|_| format!("not a number; it must be {wanted}"))?;
    if value.is_finite() && fits(value) { Ok(value) } else { Err(format!("it must be {wanted}")) }
}

pub(super) fn finite(text: &str) -> Result<f32, String> {
    number(text, "finite", |_| true)
}

pub(super) fn positive(text: &str) -> Result<f32, String> {
    number(text, "finite and greater than 0", |v| v > 0.0)
}

pub(super) fn at_least_zero(text: &str) -> Result<f32, String> {
    number(text, "finite and at least 0", |v| v >= 0.0)
}

pub(super) fn share(text: &str) -> Result<f32, String> {
    number(text, "from 0 to 1", |v| (0.0..=1.0).contains(&v))
}

pub(super) fn half_turn(text: &str) -> Result<f32, String> {
    number(text, "from -180 to 180 degrees", |v| v.abs() <= 180.0)
}

pub(super) fn slope(text: &str) -> Result<f32, String> {
    number(text, "from 0 to 90 degrees", |v| (0.0..=90.0).contains(&v))
}

pub(super) fn stride(text: &str) -> Result<Stride, String> {
    match text {
        "keep" => Ok(Stride::Keep),
        "fit" => Ok(Stride::Fit),
        _ => match text.parse() {
            Ok(treads @ 1..=9) => Ok(Stride::Treads(treads)),
            _ => Err("it must be keep, fit or a number of treads from 1 to 9".into()),
        },
    }
}

pub(super) fn gait(text: &str) -> Result<Gait, String> {
    Gait::from_name(text).ok_or_else(|| {
        let names: Vec<_> = Gait::ALL.map(Gait::name).into();
        format!("it must be one of {}", names.join(", "))
    })
}

pub(super) fn vector(text: &str) -> Result<Vec3, String> {
    let wanted = "three finite numbers X,Y,Z";
    let numbers: Vec<f32> = text
        .split(',')
        .map(|t| number(t, wanted, |_| true))
        .collect::<Result<_, _>>()
        .map_err(|_| format!("it must be {wanted}"))?;
    match numbers.as_slice() {
        &[x, y, z] => Ok(Vec3::new(x, y, z)),
        other => Err(format!("it must be {wanted}, not {}", other.len())),
    }
}

pub(super) fn number64(text: &str, wanted: &str, fits: impl Fn(f64) -> bool) -> Result<f64, String> {
    let value: f64 = text.trim().parse().map_err(|_| format!("not a number; it must be {wanted}"))?;
    if value.is_finite() && fits(value) { Ok(value) } else { Err(format!("it must be {wanted}")) }
}

pub(super) fn positive64(text: &str) -> Result<f64, String> {
    number64(text, "finite and greater than 0", |v| v > 0.0)
}

pub(super) fn numbers<const N: usize>(text: &str, wanted: &str) -> Result<[f64; N], String> {
    let all: Result<Vec<f64>, String> = text.split(',').map(|t| number64(t, wanted, |_| true)).collect();
    let all = all.map_err(|_| format!("it must be {wanted}"))?;
    let count = all.len();
    all.try_into().map_err(|_| format!("it must be {wanted}, not {count}"))
}

pub(super) fn vector64(text: &str) -> Result<[f64; 3], String> {
    numbers(text, "three finite numbers X,Y,Z")
}

pub(super) fn finite64(text: &str) -> Result<f64, String> {
    number64(text, "finite", |_| true)
}

pub(super) fn points(text: &str) -> Result<Points, String> {
    text.split_whitespace().map(|p| vector64(p).map_err(|e| format!("{p}: {e}"))).collect()
}

pub(super) fn quaternion(text: &str) -> Result<[f64; 4], String> {
    let q: [f64; 4] = numbers(text, "four finite numbers X,Y,Z,W")?;
    if q.iter().all(|c| *c == 0.0) {
        return Err("a quaternion of zeros is no rotation".into());
    }
    Ok(q)
}

pub(super) fn chain(text: &str) -> Result<(String, String), String> {
    match text.split_once("..") {
        Some((root, tip)) if !root.is_empty() && !tip.is_empty() => Ok((root.into(), tip.into())),
        _ => Err("it must be two joints (for URDF, links), ROOT..TIP".into()),
    }
}

pub(super) fn assignments(text: &str) -> Result<Assignments, String> {
    let one = |part: &str| {
        let (name, value) = part.split_once('=').ok_or("it must be JOINT=VALUE,...")?;
        let value = number64(value, "finite", |_| true).map_err(|e| format!("{name}: {e}"))?;
        Ok((name.trim().to_string(), value))
    };
    text.split(',').map(one).collect()
}

pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split(',').map(str::trim).collect::<Vec<_>>().as_slice() {
        [left, right] if !left.is_empty() && !right.is_empty() => Ok((left.to_string(), right.to_string())),
        _ => Err("it must be two joints, LEFT,RIGHT".into()),
    }
}

fn with_ending(path: PathBuf, endings: &[&str]) -> Result<PathBuf, String> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if endings.contains(&ending.as_str()) {
        return Ok(path);
    }
    let dotted: Vec<_> = endings.iter().map(|e| format!(".{e}")).collect();
    Err(format!("the ending must be {}", crate::lookup::or_list(&dotted)))
}

/// Parser of a path, of any encoding, with one of these endings.
fn ending(endings: &'static [&'static str]) -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| with_ending(path, endings))
}

pub(super) fn picture() -> impl TypedValueParser<Value = PathBuf> {
    ending(&["png", "svg"])
}

pub(super) fn model_out() -> impl TypedValueParser<Value = PathBuf> {
    ending(&["glb", "gltf", "vrm", "bvh"])
}
