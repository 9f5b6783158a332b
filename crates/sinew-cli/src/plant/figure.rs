//! From a model and its roles to a figure that can be planted.

use glam::Vec3;
use sinew::{
    JointId, Pose,
    ground::plant::{Figure, Leg, RigError, Sole},
    rig::Body,
};
use sinew_files::Model;
use thiserror::Error;

use crate::model;

/// Why a model cannot be planted.
#[derive(Debug, Error)]
pub enum FigureError {
    /// The feet have no sole.
    #[error("foot `{foot}`: {what}")]
    Sole {
        /// Name of the foot's joint.
        foot: String,
        /// What is missing.
        what: &'static str,
    },
    /// The legs do not fit.
    #[error(transparent)]
    Rig(#[from] RigError),
}

/// The figure of a model whose roles are known. Soles are taken from the mesh in the bind pose, or without a mesh from the
/// joints in the rest pose.
pub fn figure(model: &Model, body: &Body, bind: &Pose) -> Result<Figure, FigureError> {
    let skeleton = &model.skeleton;
    let mut legs = Vec::new();
    // Without a mesh the floor is under the lowest joint of both feet.
    let floor = (body.legs.iter().flat_map(|l| skeleton.below(l.foot)))
        .map(|j| bind.position(j).y)
        .fold(f32::INFINITY, f32::min);
    for leg in &body.legs {
        let name = || skeleton.name(leg.foot).to_owned();
        let at = |j: JointId| bind.position(j);
        let length = (at(leg.shin) - at(leg.thigh)).length() + (at(leg.foot) - at(leg.shin)).length();
        let vertices: Vec<Vec3> = model
            .skin
            .iter()
            .filter(|v| skeleton.is_below(v.joint, leg.foot))
            .map(|v| bind.model(v.joint).transform_point3(v.position))
            .collect();
        let sole = if !vertices.is_empty() {
            Sole::from_mesh(bind, leg.foot, leg.toes, length, &vertices).ok_or_else(|| FigureError::Sole {
                foot: name(),
                what: "its mesh has no length on the floor",
            })?
        } else {
            let toes = leg.toes.ok_or_else(|| FigureError::Sole {
                foot: name(),
                what: "it has neither a mesh nor a toe joint, so there is no telling where its sole is",
            })?;
            let end = skeleton
                .below(toes)
                .map(at)
                .max_by(|a, b| {
                    let reach = |p: &Vec3| (*p - at(leg.foot)).with_y(0.0).length();
                    reach(a).total_cmp(&reach(b))
                })
                .unwrap_or(at(toes));
            Sole::from_joints(bind, leg.foot, toes, end, floor).ok_or_else(|| FigureError::Sole {
                foot: name(),
                what: "its toe joint is straight below the ankle",
            })?
        };
        legs.push(Leg::new(leg.thigh, leg.shin, leg.foot, leg.toes, sole));
    }
    Ok(Figure::new(bind, body.hips, legs, model::height(model, bind, Some(body)))?)
}
