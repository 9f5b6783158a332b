//! Targets of files: all work on a file, with any bytes.

use std::path::Path;

use sinew::{
    Pose,
    body::{BodyRoles, RoleHints},
    glam::Vec3,
    ground::{
        MeshGround, Plane,
        plant::{ClipOptions, Figure, plant_clip},
    },
};
use sinew_files::{
    FileError, Model, ReadOptions, Source, bvh as bvh_file, gltf::Document, ground, urdf as urdf_file,
};

use crate::Outcome;

/// Clips longer than this are not planted here, in seconds: four rounds of them are planned, a second in up to 30 ms, and a
/// run has thousands of cases.
const LONGEST: f32 = 10.0;

/// Slope of the ground along Z, in radians.
const SLOPE: f32 = 0.2;

/// glTF, GLB and VRM: as a figure and as a ground, planted, written, and read again.
pub fn gltf(bytes: &[u8]) -> Result<Outcome, String> {
    let document = match Document::from_bytes(bytes, "bad.glb", None) {
        Ok(document) => document,
        Err(error) => return refused(&error),
    };
    // As a ground it may be less sound than as a figure.
    document.triangles().err().map_or(Ok(()), |error| one_line(&error))?;
    model(document.into_model())
}

/// BVH: planted.
pub fn bvh(bytes: &[u8]) -> Result<Outcome, String> {
    model(bvh_file::from_bytes(bytes, Path::new("bad.bvh"), &ReadOptions::default()))
}

/// OBJ: as a ground.
pub fn obj(bytes: &[u8]) -> Result<Outcome, String> {
    match ground::obj::from_bytes(bytes, Path::new("bad.obj"), &ReadOptions::default()) {
        Err(error) => refused(&error),
        Ok(mesh) => match MeshGround::new(mesh) {
            Err(error) => one_line(&error).map(|()| Outcome::Read),
            Ok(_) => Ok(Outcome::Done),
        },
    }
}

/// URDF: where its links are.
pub fn urdf(bytes: &[u8]) -> Result<Outcome, String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(Outcome::Refused) };
    match urdf_file::parse(text, Path::new("bad.urdf")) {
        Err(error) => refused(&error),
        Ok(_) => Ok(Outcome::Done),
    }
}

fn model(model: Result<Model, FileError>) -> Result<Outcome, String> {
    match model {
        Err(error) => refused(&error),
        Ok(model) => plant(&model),
    }
}

/// An error that is as it should be.
pub fn refused(error: &dyn std::fmt::Display) -> Result<Outcome, String> {
    one_line(error).map(|()| Outcome::Refused)
}

/// The command puts control characters out of its line; more than one line means that a message holds a file's text.
pub fn one_line(error: &dyn std::fmt::Display) -> Result<(), String> {
    let text = error.to_string();
    let sound = !text.is_empty() && text.len() < 2000 && text.lines().count() == 1;
    if sound { Ok(()) } else { Err(format!("not one line: {text:?}")) }
}

fn plant(model: &Model) -> Result<Outcome, String> {
    let bind = model.bind_pose();
    let rest = Pose::rest(&model.skeleton);
    let hints = RoleHints::new().with_declared(&model.declared_roles);
    let body = match BodyRoles::find_with(&bind, &hints) {
        Ok(body) => body,
        Err(error) => return one_line(&error).map(|()| Outcome::Read),
    };
    let figure = match Figure::of_body(&bind, &body, &model.skin_points(&bind)) {
        Ok(figure) => figure,
        Err(error) => return one_line(&error).map(|()| Outcome::Read),
    };
    let Some(clip) = model.clips.iter().find(|c| c.duration() < LONGEST) else { return Ok(Outcome::Read) };
    let (sin, cos) = SLOPE.sin_cos();
    let ground = Plane { point: Vec3::ZERO, normal: Vec3::new(0.0, cos, -sin) };
    let mut options = ClipOptions::default();
    options.repeat = Some(2);
    let planted = match plant_clip(&figure, &rest, clip, &ground, &options) {
        Ok(planting) => planting.planted,
        Err(error) => return one_line(&error).map(|()| Outcome::Read),
    };
    // A clip is checked when it is made, so that what can be built is finite; the feet are not.
    let feet = planted.feet.iter().flatten();
    if let Some(foot) = feet.into_iter().find(|f| !f.ankle.is_finite()) {
        return Err(format!("an ankle is not at a finite place: {foot:?}"));
    }
    if let Source::Gltf(document) = &model.source {
        let mut document = document.clone();
        document.add_animation(&planted.clip, None).map_err(|e| e.to_string())?;
        let mut out = Vec::new();
        document.to_glb(&mut out).map_err(|e| e.to_string())?;
        let again = Document::from_bytes(&out, "again.glb", None).and_then(Document::into_model);
        let again = again.map_err(|e| format!("what was written cannot be read: {e}"))?;
        if again.clips.len() + again.problems.len() != model.clips.len() + model.problems.len() + 1 {
            return Err(format!("{} clips were written as {}", model.clips.len() + 1, again.clips.len()));
        }
    }
    Ok(Outcome::Done)
}
