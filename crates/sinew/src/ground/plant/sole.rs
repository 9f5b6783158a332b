//! Where a foot's sole meets the floor.

use glam::Vec3;

use crate::{JointId, Pose};

/// The points of a foot that touch the ground: heel and ball in the foot joint's local space, the tip in the toe joint's
/// (in the foot's where there is none).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sole {
    /// Hindmost point of the sole.
    pub heel: Vec3,
    /// Below the joint that the toes turn about.
    pub ball: Vec3,
    /// Foremost point of the sole; it goes with the toes.
    pub tip: Vec3,
}

/// Share of the leg's length within which a vertex above the lowest one still belongs to the sole: shoes are not flat to
/// the millimetre, and 2 % of a leg is less than any sole is thick.
const SOLE_THICKNESS: f32 = 0.02;
/// A toe joint tells where the ball is only where it lies at least this share of the sole ahead of the ankle; some rigs
/// place it below the ankle.
const TOE_JOINT_AHEAD: f32 = 0.2;
/// Where no toe joint tells, the ball lies this far along the sole: feet are about 70 % heel to ball.
const BALL_ALONG: f32 = 0.7;

impl Sole {
    /// The sole of a mesh in the bind pose. `vertices` are those that the foot joint and the joints below it move, in model
    /// space as `bind` places them; `leg` is the leg's length in metres. None where there is no vertex, or where
    /// the foot has no length.
    ///
    /// The floor is the height of the lowest vertex, and the sole is every vertex within 2 % of the leg above it. Forwards
    /// is from ankle to toe joint, flat (where that tells nothing, from ankle to the middle of the sole). The heel is on the
    /// floor at the sole's hindmost reach, straight behind the ankle; the ball on the floor below the toe joint, or 70 %
    /// along the sole.
    pub fn from_mesh(
        bind: &Pose,
        foot: JointId,
        toes: Option<JointId>,
        leg: f32,
        vertices: &[Vec3],
    ) -> Option<Self> {
        let floor = vertices.iter().map(|v| v.y).reduce(f32::min)?;
        let sole = || vertices.iter().filter(|v| v.y < floor + SOLE_THICKNESS * leg);
        let ankle = bind.position(foot);
        let toe_joint = toes.map(|t| bind.position(t));
        let flat = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
        let middle = sole().sum::<Vec3>() / sole().count() as f32;
        let along = |forward: Vec3| {
            let reach = |v: &Vec3| (*v - ankle).dot(forward);
            (
                sole().map(reach).fold(f32::INFINITY, f32::min),
                sole().map(reach).fold(f32::NEG_INFINITY, f32::max),
            )
        };
        // By the toe joint where it lies ahead of the ankle; else by the sole itself.
        let by_toes = toe_joint.and_then(|t| {
            let forward = flat(t - ankle).try_normalize()?;
            let (back, front) = along(forward);
            let ahead = (t - ankle).dot(forward);
            (ahead > TOE_JOINT_AHEAD * (front - back)).then_some((forward, ahead, t))
        });
        let (forward, ball) = match by_toes {
            Some((forward, _, toe)) => (forward, Vec3::new(toe.x, floor, toe.z)),
            None => {
                let forward = flat(middle - ankle).try_normalize()?;
                let (back, front) = along(forward);
                let ball = ankle + forward * (back + BALL_ALONG * (front - back));
                (forward, Vec3::new(ball.x, floor, ball.z))
            }
        };
        let (back, front) = along(forward);
        let on_floor = |reach: f32| {
            let p = ankle + forward * reach;
            Vec3::new(p.x, floor, p.z)
        };
        Self::local(bind, foot, toes, on_floor(back), ball, on_floor(front))
    }

    /// The sole of a figure without a mesh: `floor` is the height of the floor in the rest pose, the heel is below the
    /// ankle, the ball below the toe joint, the tip below `end` (the end of the toes). None where the foot has no length.
    pub fn from_joints(rest: &Pose, foot: JointId, toes: JointId, end: Vec3, floor: f32) -> Option<Self> {
        let drop = |p: Vec3| Vec3::new(p.x, floor, p.z);
        Self::local(rest, foot, Some(toes), drop(rest.position(foot)), drop(rest.position(toes)), drop(end))
    }

    fn local(
        pose: &Pose,
        foot: JointId,
        toes: Option<JointId>,
        heel: Vec3,
        ball: Vec3,
        tip: Vec3,
    ) -> Option<Self> {
        let into = |joint, point| pose.model(joint).inverse().transform_point3(point);
        let sole =
            Self { heel: into(foot, heel), ball: into(foot, ball), tip: into(toes.unwrap_or(foot), tip) };
        let finite = sole.heel.is_finite() && sole.ball.is_finite() && sole.tip.is_finite();
        (finite && (ball - heel).length() > 0.0).then_some(sole)
    }
}
