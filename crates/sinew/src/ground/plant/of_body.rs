//! Construction of a [`Figure`] from body roles and a skin.

use alloc::{borrow::ToOwned, vec::Vec};

use glam::Vec3;

use super::{Figure, FigureError, Leg, Sole, Trunk};
use crate::{JointId, Pose, Skeleton, body};

/// Least length of a foot from ankle to end, as a share of the leg, for its joints to give the sole. People have 0.23 to the
/// tip of the toes.
const MIN_FOOT: f32 = 0.08;
/// Least distance from ankle to toe joint, as a share of the leg, for it to locate the ball.
const MIN_BALL: f32 = 0.01;
/// Least cosine of the angle between a foot and the figure's front for its joints to give the sole: 80 degrees. Feet that
/// stand at right angles or point back are no feet, but heels or control joints.
const AHEAD: f32 = 0.17;
/// Largest rise from ankle to end of a foot, as a share of its horizontal length. Zero poses of motion capture have feet that
/// are level or point down.
const MAX_RISE: f32 = 0.5;

/// The sole by the joints of a foot: by its toe joint, or else by its end. `None` where they do not point forwards.
fn of_joints(bind: &Pose, leg: &body::LegJoints, length: f32, front: Vec3, floor: f32) -> Option<Sole> {
    let ankle = bind.position(leg.foot);
    let reach = |p: Vec3| (p - ankle).with_y(0.0).length();
    let furthest = |of: JointId| {
        let ends = bind.skeleton().below(of).map(|j| bind.position(j));
        ends.max_by(|a, b| reach(*a).total_cmp(&reach(*b))).unwrap_or(ankle)
    };
    if let Some(toes) = leg.toes {
        if reach(bind.position(toes)) < MIN_BALL * length {
            return None;
        }
        return Sole::from_joints(bind, leg.foot, Some(toes), furthest(toes), floor);
    }
    let end = furthest(leg.foot);
    let foot = end - ankle;
    let points_ahead = reach(end) >= MIN_FOOT * length
        && foot.dot(front) >= AHEAD * reach(end)
        && foot.y <= MAX_RISE * reach(end);
    points_ahead.then(|| Sole::from_joints(bind, leg.foot, None, end, floor)).flatten()
}

impl Figure {
    /// Makes the figure of a body with known roles. `bind` is the bind pose of the mesh. `skin` holds the vertices of the
    /// mesh, each with the joint of its largest weight and its position in model space in the bind pose.
    ///
    /// Soles come from the vertices of the feet. A foot without vertices gets its sole from its joints: the heel below the
    /// ankle, the ball below the toe joint, or else below the end of the foot (an `End Site` of a BVH), on a floor at the
    /// lowest joint of all feet. A foot whose joints do not point forwards, or that is a single joint, gets the sole of a
    /// person ([`Sole::from_proportions`]); [`Figure::assumed_soles`] tells which.
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
        let front = body.front(bind);
        let (mut legs, mut assumed) = (Vec::new(), Vec::new());
        for leg in &body.legs {
            let mut toes = leg.toes;
            let no_sole = |what| FigureError::NoSole { foot: skeleton.name(leg.foot).to_owned(), what };
            let length = (at(leg.shin) - at(leg.thigh)).length() + (at(leg.foot) - at(leg.shin)).length();
            let of_foot = skin.iter().filter(|(joint, _)| skeleton.is_below(*joint, leg.foot));
            let vertices: Vec<Vec3> = of_foot.map(|&(_, place)| place).collect();
            let sole = if !vertices.is_empty() {
                Sole::from_mesh(bind, leg.foot, leg.toes, length, &vertices)
                    .ok_or_else(|| no_sole("the sole of its mesh has no length"))?
            } else if let Some(sole) = of_joints(bind, leg, length, front, floor) {
                sole
            } else {
                assumed.push(leg.foot);
                // Toes that give no sole do not turn with it either.
                toes = None;
                Sole::from_proportions(bind, leg.foot, length, front).ok_or_else(|| {
                    no_sole("neither its mesh nor its joints nor its leg's length give a sole")
                })?
            };
            legs.push(Leg::new(leg.thigh, leg.shin, leg.foot, toes, sole));
        }
        let mut figure = Self::new(bind, body.hips, legs, body.height(bind, skin))?;
        figure.assumed_soles = assumed;
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
