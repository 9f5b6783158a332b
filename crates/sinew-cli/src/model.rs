//! Reading a model, its body parts, and hints about units and axes.

use std::{collections::HashMap, path::Path};

use sinew::{
    JointId, Pose,
    body::{BodyRoles, RoleError, RoleHints},
};
use sinew_files::{Model, SkinVertex, Source, build, gltf::Document};

use crate::{
    args::{BodyArgs, UnitArgs},
    failure::Failure,
    lookup::{self, shown},
};

/// Whether a file is a URDF, by its extension.
pub fn is_urdf(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("urdf"))
}

/// Reads a model with the units and axes of the command line.
pub fn read(path: &Path, units: &UnitArgs) -> Result<Model, Failure> {
    Ok(Model::read(path, &units.options(path)?)?)
}

/// A document with a built figure as its mesh, for a model from a BVH, which has no mesh.
pub fn document(model: &Model) -> Result<Document, Failure> {
    let mesh = build::figure(&model.skeleton);
    build::document(&model.name, &model.skeleton, &mesh, &model.clips).map_err(Failure::work)
}

/// The error for an output in a format that cannot be written from the input's.
pub fn not_from_bvh(out: &Path) -> Failure {
    Failure::Usage(format!("{}: a BVH can only be written from a BVH; write .glb or .gltf", out.display()))
}

/// The body's roles, with the joints that the command line gives. The outer error is a joint that does not exist.
pub fn body(model: &Model, bind: &Pose, by_hand: &BodyArgs) -> Result<Result<BodyRoles, RoleError>, Failure> {
    let joint = |name: &String| lookup::joint(&model.skeleton, name);
    let feet: Option<[JointId; 2]> = match &by_hand.feet {
        Some((left, right)) => Some([joint(left)?, joint(right)?]),
        None => None,
    };
    let hips = by_hand.hips.as_ref().map(joint).transpose()?;
    let mut hints = RoleHints::new().with_declared(&model.declared_roles);
    (hints.hips, hints.feet) = (hips, feet);
    Ok(BodyRoles::find_with(bind, &hints))
}

/// Hint that `--feet` gives the ankles, with two joints of the model as an example if a suitable pair exists.
pub fn feet_by_hand(model: &Model, bind: &Pose) -> String {
    let skeleton = &model.skeleton;
    let help = "--feet LEFT,RIGHT gives the joints of the ankles";
    let fits = |&[left, right]: &[JointId; 2]| {
        BodyRoles::find_with(bind, &RoleHints::new().with_feet([left, right])).is_ok()
    };
    let joined = |pair: [JointId; 2]| pair.map(|j| shown(&lookup::label(skeleton, j))).join(",");
    // The option cannot take names that hold a comma.
    let plain = |pair: &[JointId; 2]| joined(*pair).matches(',').count() == 1;
    match pairs(model, bind).into_iter().filter(plain).find(fits) {
        None => help.into(),
        Some(pair) => {
            let feet = joined(pair);
            // A shell splits at other characters, or takes them for a comment.
            let bare = |c: char| c.is_alphanumeric() || "_-.,:/".contains(c);
            let quote = if feet.chars().all(bare) { "" } else { "'" };
            format!("{help}, such as --feet {quote}{feet}{quote}")
        }
    }
}

/// Candidate pairs of ankles: joints with mirrored names, likely ankles first; then pairs of the lowest joints.
fn pairs(model: &Model, bind: &Pose) -> Vec<[JointId; 2]> {
    // Each pair is tried on the whole figure: 8 by name, and at most 28 of the lowest.
    const NAMED: usize = 8;
    const LOWEST: usize = 8;
    let skeleton = &model.skeleton;
    let by_name: HashMap<&str, JointId> = skeleton.joints().map(|j| (skeleton.name(j), j)).collect();
    let mirrored = |left: JointId| {
        let name = skeleton.name(left);
        let sides = [("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("l", "r"), ("L", "R")];
        sides.iter().find_map(|(l, r)| {
            let swap = |(at, _): (usize, &str)| format!("{}{r}{}", &name[..at], &name[at + l.len()..]);
            name.match_indices(l).map(swap).find_map(|other| by_name.get(other.as_str()).copied())
        })
    };
    let height = |j: JointId| bind.position(j).y;
    let is_end = |j: JointId| skeleton.subtree(j).len() == 1;
    let is_foot = |j: JointId| {
        let name = skeleton.name(j).to_lowercase();
        ["foot", "ankle", "paw", "hoof"].iter().any(|word| name.contains(word))
    };
    let mut pairs: Vec<_> = skeleton.joints().filter_map(|j| Some([j, mirrored(j)?])).collect();
    let rank = |j: JointId| (is_end(j), !is_foot(j));
    pairs.sort_by(|&[a, _], &[b, _]| rank(a).cmp(&rank(b)).then(height(a).total_cmp(&height(b))));
    pairs.truncate(NAMED);

    let mut lowest: Vec<_> = skeleton.joints().filter(|&j| skeleton.parent(j).is_some()).collect();
    lowest.sort_by(|&a, &b| is_end(a).cmp(&is_end(b)).then(height(a).total_cmp(&height(b))));
    lowest.truncate(LOWEST);
    // The left of a figure that faces +Z is at +X.
    let left_first = |&[a, b]: &[JointId; 2]| bind.position(a).x > bind.position(b).x;
    pairs.extend(lowest.iter().flat_map(|&a| lowest.iter().map(move |&b| [a, b])).filter(left_first));
    pairs
}

/// Vertices of the body, as a file may hold a level beside its figure; without a body, those of the whole model.
pub fn skin<'a>(model: &'a Model, body: Option<&BodyRoles>) -> impl Iterator<Item = &'a SkinVertex> {
    let hips = body.map(|body| body.hips);
    model.skin.iter().filter(move |v| hips.is_none_or(|hips| model.skeleton.is_below(v.joint, hips)))
}

/// Height in metres of the body, or of the whole model without one: of the mesh in the bind pose, or of the joints if there
/// is no mesh.
pub fn height(model: &Model, bind: &Pose, body: Option<&BodyRoles>) -> f32 {
    let skin = model.skin_points(bind);
    if let Some(body) = body {
        return body.height(bind, &skin);
    }
    let mut heights: Vec<f32> = skin.iter().map(|(_, point)| point.y).collect();
    if heights.is_empty() {
        heights = model.skeleton.joints().map(|j| bind.position(j).y).collect();
    }
    let low = heights.iter().copied().fold(f32::INFINITY, f32::min);
    heights.into_iter().fold(f32::NEG_INFINITY, f32::max) - low
}

/// Notes about units and axes that are probably wrong.
pub fn hints(model: &Model, bind: &Pose, height: f32, body: &BodyRoles) -> Vec<String> {
    let mut hints = Vec::new();
    let is_bvh = matches!(model.source, Source::Bvh(_));
    let leg = &body.legs[0];
    let down = bind.position(leg.foot) - bind.position(leg.thigh);
    let lies = down.y > -0.5 * down.length();
    if lies && is_bvh && down.z.abs() > 0.7 * down.length() {
        hints.push("the legs lie along Z instead of hanging down: --up z may be missing".into());
    } else if lies {
        hints.push(
            "the legs do not hang down: the figure is not modelled standing, or another axis than Y points up"
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
