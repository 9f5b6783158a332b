//! Contact points of a foot's sole.

use glam::Vec3;

use crate::{JointId, Pose};

/// Points of a foot that touch the ground, in metres. Heel and ball are in the local space of the foot joint, the tip in
/// that of the toe joint, or of the foot joint if there is no toe joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sole {
    /// Hindmost point of the sole.
    pub heel: Vec3,
    /// Point of the sole below the toe joint.
    pub ball: Vec3,
    /// Foremost point of the sole, which turns with the toes.
    pub tip: Vec3,
}

/// Largest height of a sole's vertex above the lowest one, as a fraction of the leg. Shoes are not flat to the millimetre; 2
/// % of a leg is less than the thickness of any sole.
const SOLE_THICKNESS: f32 = 0.02;
/// Least distance of a toe joint ahead of the ankle, as a fraction of the sole, for it to locate the ball. Some rigs have it
/// below the ankle.
const TOE_JOINT_AHEAD: f32 = 0.2;
/// Distance of the ball from the heel without a usable toe joint, as a fraction of the sole: 70 % in a human foot.
const BALL_ALONG: f32 = 0.7;

impl Sole {
    /// Finds the sole of a mesh in its bind pose. `vertices` are the vertices that move with the foot joint or a joint below
    /// it, in model space; `leg` is the leg's length in metres. `None` if there is no vertex, or if the sole has no length.
    ///
    /// The floor is at the lowest vertex, and vertices within 2 % of the leg above it belong to the sole. Forwards is the
    /// horizontal direction from ankle to toe joint, or from ankle to the centre of the sole if the toe joint is not ahead
    /// of the ankle. The heel is the hindmost point on the floor behind the ankle, the tip the foremost. The ball is on the
    /// floor below the toe joint, or at 70 % of the sole.
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
        let middle = sole().sum::<Vec3>() / sole().count() as f32;
        let along = |forward: Vec3| {
            let reach = |v: &Vec3| (*v - ankle).dot(forward);
            (
                sole().map(reach).fold(f32::INFINITY, f32::min),
                sole().map(reach).fold(f32::NEG_INFINITY, f32::max),
            )
        };
        // Only a toe joint ahead of the ankle locates the ball.
        let by_toes = toe_joint.and_then(|t| {
            let forward = (t - ankle).with_y(0.0).try_normalize()?;
            let (back, front) = along(forward);
            let ahead = (t - ankle).dot(forward);
            (ahead > TOE_JOINT_AHEAD * (front - back)).then_some((forward, ahead, t))
        });
        let (forward, ball) = match by_toes {
            Some((forward, _, toe)) => (forward, toe.with_y(floor)),
            None => {
                let forward = (middle - ankle).with_y(0.0).try_normalize()?;
                let (back, front) = along(forward);
                let ball = ankle + forward * (back + BALL_ALONG * (front - back));
                (forward, ball.with_y(floor))
            }
        };
        let (back, front) = along(forward);
        let on_floor = |reach: f32| (ankle + forward * reach).with_y(floor);
        Self::local(bind, foot, toes, on_floor(back), ball, on_floor(front))
    }

    /// Makes the sole of a figure without a mesh. `floor` is the height of the floor in the rest pose. The heel lies on it
    /// below the ankle, the ball below the toe joint, and the tip below `end`, the end of the toes in model space. A foot
    /// without a toe joint is rigid, so that it rolls over its end: its ball is at its tip. `None` if heel and ball
    /// coincide.
    pub fn from_joints(
        rest: &Pose,
        foot: JointId,
        toes: Option<JointId>,
        end: Vec3,
        floor: f32,
    ) -> Option<Self> {
        let drop = |p: Vec3| p.with_y(floor);
        let ball = toes.map_or(end, |t| rest.position(t));
        Self::local(rest, foot, toes, drop(rest.position(foot)), drop(ball), drop(end))
    }

    /// Makes the sole of a foot that is a single joint, from a person's proportions. `leg` is the leg's length in metres
    /// and `front` the horizontal unit vector in which the figure faces in `rest`. `None` if the leg has no length, or if
    /// the foot's frame has no inverse.
    ///
    /// By Drillis and Contini ("Body Segment Parameters", 1966) thigh and shin together are 0.491 of a person's height,
    /// the foot is 0.152 long, and the ankle 0.039 above the floor. The heel is a quarter of the foot behind the ankle,
    /// which they do not measure; the ball is at 70 % of the foot.
    pub fn from_proportions(rest: &Pose, foot: JointId, leg: f32, front: Vec3) -> Option<Self> {
        const LENGTH: f32 = 0.152 / 0.491;
        const ANKLE: f32 = 0.039 / 0.491;
        const BEHIND: f32 = 0.25;
        let floor = rest.position(foot) - Vec3::Y * (ANKLE * leg);
        let along = |share: f32| floor + front * ((share - BEHIND) * LENGTH * leg);
        Self::local(rest, foot, None, along(0.0), along(BALL_ALONG), along(1.0))
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
