//! Facts about a model that several subcommands need.

use std::path::Path;

use sinew::{
    JointId, Pose,
    rig::{Body, Hints, RoleError},
};
use sinew_files::{Model, SkinVertex, Source};

use crate::{
    args::{BodyArgs, UnitArgs},
    failure::Failure,
    lookup,
};

/// Whether a file is a URDF, by its ending.
pub fn is_urdf(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("urdf"))
}

/// Reads a model in the units that the command line gives.
pub fn read(path: &Path, units: &UnitArgs) -> Result<Model, Failure> {
    Ok(Model::read(path, &units.options(path)?)?)
}

/// The parts of the body, with what the command line says of them. The outer error is a joint that does not exist.
pub fn body(model: &Model, bind: &Pose, by_hand: &BodyArgs) -> Result<Result<Body, RoleError>, Failure> {
    let joint = |name: &String| lookup::joint(&model.skeleton, name);
    let feet: Option<[JointId; 2]> = match &by_hand.feet {
        Some((left, right)) => Some([joint(left)?, joint(right)?]),
        None => None,
    };
    let hips = by_hand.hips.as_ref().map(joint).transpose()?;
    Ok(Body::find_with(bind, &Hints { declared: &model.declared_roles, hips, feet }))
}

/// The vertices of a body, or without one of the whole model: a file may hold a level beside its figure.
pub fn skin<'a>(model: &'a Model, body: Option<&Body>) -> impl Iterator<Item = &'a SkinVertex> {
    let hips = body.map(|body| body.hips);
    model.skin.iter().filter(move |v| hips.is_none_or(|hips| model.skeleton.is_below(v.joint, hips)))
}

/// Height of the body in metres, or without one of the whole model: of the mesh in the bind pose, or else of the joints.
pub fn height(model: &Model, bind: &Pose, body: Option<&Body>) -> f32 {
    let skin = model.skin_points(bind);
    if let Some(body) = body {
        return body.height(bind, &skin);
    }
    let mut heights: Vec<f32> = skin.iter().map(|(_, place)| place.y).collect();
    if heights.is_empty() {
        heights = model.skeleton.joints().map(|j| bind.position(j).y).collect();
    }
    let low = heights.iter().copied().fold(f32::INFINITY, f32::min);
    heights.into_iter().fold(f32::NEG_INFINITY, f32::max) - low
}

/// What looks wrong with units and axes of a body.
pub fn hints(model: &Model, bind: &Pose, height: f32, body: &Body) -> Vec<String> {
    let mut hints = Vec::new();
    let is_bvh = matches!(model.source, Source::Bvh(_));
    let leg = &body.legs[0];
    let down = bind.position(leg.foot) - bind.position(leg.thigh);
    let lies = down.y > -0.5 * down.length();
    if lies && is_bvh && down.z.abs() > 0.7 * down.length() {
        hints.push("the legs lie along Z instead of hanging down: --up z may be missing".into());
    } else if lies {
        hints.push(
            "the legs do not hang down: the figure is not made standing, or another axis than Y points up"
                .into(),
        );
    }
    // People measure 0.5 to 2 m, game figures from a toy's size to a giant's.
    let size = if lies { down.length() * 2.0 } else { height };
    if !(0.2..=10.0).contains(&size) {
        let remedy = match is_bvh {
            true => "--scale may be missing (CMU's files: 0.056444, centimetres: 0.01, inches: 0.0254)",
            false => "glTF is in metres; the program that wrote this file may have used another unit",
        };
        hints.push(format!("a figure of {size:.2} m is unlikely: {remedy}"));
    }
    hints
}
