//! Facts about a model that several subcommands need.

use std::path::Path;

use sinew::{
    JointId, Pose,
    rig::{Body, Hints, RoleError},
};
use sinew_files::Model;

use crate::{
    args::{BodyArgs, UnitArgs},
    failure::Failure,
    lookup,
};

/// Reads a model in the units that the command line gives.
pub fn read(path: &Path, units: &UnitArgs) -> Result<Model, Failure> {
    Ok(Model::read(path, &units.options(path)?)?)
}

/// The bind pose: where the mesh was made.
pub fn bind_pose(model: &Model) -> Pose {
    let mut pose = Pose::rest(&model.skeleton);
    for (joint, local) in model.skeleton.joints().zip(&model.bind) {
        pose.set_local(joint, *local);
    }
    pose.update();
    pose
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

/// Height in metres: of the mesh in the bind pose, or else of the joints.
pub fn height(model: &Model, bind: &Pose) -> f32 {
    let mesh = model.skin.iter().map(|v| bind.model(v.joint).transform_point3(v.position).y);
    let span = |(low, high): (f32, f32), y: f32| (low.min(y), high.max(y));
    let none = (f32::INFINITY, f32::NEG_INFINITY);
    let (mut low, mut high) = mesh.fold(none, span);
    if low > high {
        (low, high) = model.skeleton.joints().map(|j| bind.position(j).y).fold(none, span);
    }
    high - low
}
