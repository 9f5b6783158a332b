//! Construction of a [`Figure`] from body roles and a skin.

use alloc::{borrow::ToOwned, vec::Vec};

use glam::Vec3;

use super::{Figure, FigureError, Leg, Sole, Trunk};
use crate::{JointId, Pose, Skeleton, body};

impl Figure {
    /// Makes the figure of a body with known roles. `bind` is the bind pose of the mesh. `skin` holds the vertices of the
    /// mesh, each with the joint of its largest weight and its position in model space in the bind pose.
    ///
    /// Soles come from the vertices of the feet. A foot without vertices gets its sole from its joints: the heel below the
    /// ankle, the ball below the toe joint, on a floor at the lowest joint of all feet.
    ///
    /// A body with a spine has a trunk, with its head and upper arms if they are known.
    ///
    /// # Errors
    ///
    /// [`FigureError::NoSole`] if the sole of a foot is unknown, and all errors of [`Figure::new`].
    pub fn of_body(
        bind: &Pose,
        body: &body::BodyRoles,
        skin: &[(JointId, Vec3)],
    ) -> Result<Self, FigureError> {
        let skeleton: &Skeleton = bind.skeleton();
        let at = |j: JointId| bind.position(j);
        let joints = body.legs.iter().flat_map(|l| skeleton.below(l.foot));
        let floor = joints.map(|j| at(j).y).fold(f32::INFINITY, f32::min);
        let mut legs = Vec::new();
        for leg in &body.legs {
            let no_sole = |what| FigureError::NoSole { foot: skeleton.name(leg.foot).to_owned(), what };
            let length = (at(leg.shin) - at(leg.thigh)).length() + (at(leg.foot) - at(leg.shin)).length();
            let of_foot = skin.iter().filter(|(joint, _)| skeleton.is_below(*joint, leg.foot));
            let vertices: Vec<Vec3> = of_foot.map(|&(_, place)| place).collect();
            let sole = if !vertices.is_empty() {
                Sole::from_mesh(bind, leg.foot, leg.toes, length, &vertices)
                    .ok_or_else(|| no_sole("the sole of its mesh has no length"))?
            } else {
                let toes = leg.toes.ok_or_else(|| {
                    no_sole("it has neither a mesh nor a toe joint from which to find its sole")
                })?;
                let reach = |p: Vec3| (p - at(leg.foot)).with_y(0.0).length();
                let ends = skeleton.below(toes).map(at);
                let end = ends.max_by(|a, b| reach(*a).total_cmp(&reach(*b))).unwrap_or(at(toes));
                Sole::from_joints(bind, leg.foot, toes, end, floor)
                    .ok_or_else(|| no_sole("its toe joint is vertically below or above the ankle"))?
            };
            legs.push(Leg::new(leg.thigh, leg.shin, leg.foot, leg.toes, sole));
        }
        let mut figure = Self::new(bind, body.hips, legs, body.height(bind, skin))?;
        let arm = |side: body::Side| body.arm(side).map(|arm| arm.upper_arm);
        let trunk = body.spine.first().map(|&base| Trunk {
            base,
            head: body.head.or(body.neck),
            arms: body::Side::BOTH.map(arm),
        });
        figure.trunk = trunk.filter(|t| figure.check_trunk(skeleton, t).is_ok());
        Ok(figure)
    }
}
