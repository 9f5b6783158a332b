//! Spaces of goals and poles: frames that convert to model space and back.

use alloc::vec::Vec;

use glam::{Affine3, Mat3, Quat, Vec3};

use super::{HandleFault, Space};
use crate::{
    Goal, JointId, Placement, Pole, Pose, Skeleton,
    body::{BodyRoles, Role},
    math,
};

/// Height in metres of the figure whose lengths those of a role's frame are.
const HEIGHT: f32 = 1.8;

/// Frames of the roles of a figure at bind.
#[derive(Clone, Debug)]
pub(super) struct Spaces {
    roles: Vec<(Role, JointId, Affine3)>,
    /// Rotation of the figure at bind: from x its left, y up, z front to model space.
    stands: Quat,
    /// Height of the figure in metres.
    pub height: f32,
}

/// A space of one figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Base {
    Model,
    World,
    Joint(JointId),
    /// The frame of a role in that of its joint.
    Role(JointId, Affine3),
}

/// A space in one pose.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    Model,
    World(Placement),
    /// The frame in model space, and whether it is that of a role.
    Joint(Affine3, bool),
}

impl Spaces {
    pub fn new(bind: &Pose, body: Option<&BodyRoles>, height: Option<f32>) -> Self {
        let Some(body) = body else {
            return Self { roles: Vec::new(), stands: Quat::IDENTITY, height: height.unwrap_or(HEIGHT) };
        };
        let height = height.unwrap_or_else(|| body.height(bind, &[]));
        let front = body.front(bind);
        let stands = math::from_matrix(&Mat3::from_cols(Vec3::Y.cross(front), Vec3::Y, front));
        let unit = math::to_matrix(stands) * (height / HEIGHT);
        let frame = |a: &crate::body::AssignedRole| {
            let at = Affine3 { matrix3: unit, translation: bind.position(a.joint) };
            (a.role, a.joint, bind.model(a.joint).inverse() * at)
        };
        Self { roles: body.assigned.iter().map(frame).collect(), stands, height }
    }

    /// The rotation of a joint at bind, as the figure stands.
    pub fn rotation_at_bind(&self, bind: &Pose, joint: JointId) -> Quat {
        math::mul(math::conjugate(self.stands), bind.model_rotation(joint))
    }

    /// The space of this figure.
    pub fn find(&self, space: Space, skeleton: &Skeleton) -> Result<Base, HandleFault> {
        match space {
            Space::Model => Ok(Base::Model),
            Space::World => Ok(Base::World),
            Space::Joint(joint) if joint.index() >= skeleton.len() => {
                Err(HandleFault::NoSuchJoint { joint, count: skeleton.len() })
            }
            Space::Joint(joint) => Ok(Base::Joint(joint)),
            Space::Role(role) => {
                let found = self.roles.iter().find(|(r, ..)| *r == role);
                let &(_, joint, offset) = found.ok_or(HandleFault::NoRole(role))?;
                match offset.is_finite() && offset.matrix3.determinant() != 0.0 {
                    true => Ok(Base::Role(joint, offset)),
                    false => Err(HandleFault::Flat { joint: skeleton.name(joint).into() }),
                }
            }
        }
    }
}

impl Base {
    /// The joint whose frame it is.
    pub fn joint(self) -> Option<JointId> {
        match self {
            Self::Model | Self::World => None,
            Self::Joint(joint) | Self::Role(joint, _) => Some(joint),
        }
    }

    /// The space in a pose.
    pub fn frame(self, pose: &Pose, placement: &Placement) -> Frame {
        match self {
            Self::Model => Frame::Model,
            Self::World => Frame::World(*placement),
            Self::Joint(joint) => Frame::Joint(pose.model(joint), false),
            Self::Role(joint, offset) => Frame::Joint(pose.model(joint) * offset, true),
        }
    }

    /// The space in the frame of a joint: of its own, or of one above that it does not turn in.
    pub fn within(self, joint: JointId, pose: &Pose) -> Frame {
        let between = |j| match j == joint {
            true => Affine3::IDENTITY,
            false => pose.model(joint).inverse() * pose.model(j),
        };
        match self {
            Self::Model | Self::World => Frame::Model,
            Self::Joint(j) if j == joint => Frame::Model,
            Self::Joint(j) => Frame::Joint(between(j), false),
            Self::Role(j, offset) => Frame::Joint(between(j) * offset, true),
        }
    }
}

fn sign(frame: &Affine3) -> f32 {
    if frame.matrix3.determinant() < 0.0 { -1.0 } else { 1.0 }
}

impl Frame {
    /// Converts a goal without its pole to model space. `at_bind` is the rotation of its joint at bind, as the figure stands:
    /// in the frame of a role, rotations count from there.
    pub fn goal_to_model(&self, goal: Goal, at_bind: Quat) -> Goal {
        match self {
            Self::Model => goal,
            Self::World(placement) => Goal { pole: goal.pole, ..placement.goal(goal) },
            Self::Joint(frame, is_role) => {
                let rotation = math::rotation_of(&frame.matrix3);
                let turned = |q| match is_role {
                    true => math::mul(math::mul(rotation, q), at_bind),
                    false => math::mul(rotation, q),
                };
                Goal {
                    position: goal.position.map(|p| frame.transform_point3(p)),
                    rotation: goal.rotation.map(turned),
                    swivel: goal.swivel * sign(frame),
                    ..goal
                }
            }
        }
    }

    /// Converts a goal without its pole from model space. `None` where the frame has no inverse.
    pub fn goal_from_model(&self, goal: Goal, at_bind: Quat) -> Option<Goal> {
        match self {
            Self::Model => Some(goal),
            Self::World(placement) => Some(Goal {
                position: goal.position.map(|p| placement.to_world(p)),
                rotation: goal.rotation.map(|q| placement.rotation_to_world(q)),
                swivel: goal.swivel * placement.scale().signum(),
                ..goal
            }),
            Self::Joint(frame, is_role) => {
                let back = frame.matrix3.inverse();
                let rotation = math::conjugate(math::rotation_of(&frame.matrix3));
                let turned = |q| match is_role {
                    true => math::mul(math::mul(rotation, q), math::conjugate(at_bind)),
                    false => math::mul(rotation, q),
                };
                let position = goal.position.map(|p| back * (p - frame.translation));
                position.is_none_or(Vec3::is_finite).then(|| Goal {
                    position,
                    rotation: goal.rotation.map(turned),
                    swivel: goal.swivel * sign(frame),
                    ..goal
                })
            }
        }
    }

    /// Converts a pole from model space. `None` where the frame has no inverse.
    pub fn pole_from_model(&self, pole: Pole) -> Option<Pole> {
        let pole = match (self, pole) {
            (Self::Model, _) | (_, Pole::Keep) => pole,
            (Self::World(placement), Pole::Point(p)) => Pole::Point(placement.to_world(p)),
            (Self::World(placement), Pole::Direction(d)) => Pole::Direction(placement.direction_to_world(d)),
            (Self::Joint(frame, _), Pole::Point(p)) => {
                Pole::Point(frame.matrix3.inverse() * (p - frame.translation))
            }
            (Self::Joint(frame, _), Pole::Direction(d)) => {
                let back = math::conjugate(math::rotation_of(&frame.matrix3));
                Pole::Direction(math::rotate(back, d) * sign(frame))
            }
        };
        match pole {
            Pole::Point(v) | Pole::Direction(v) if !v.is_finite() => None,
            pole => Some(pole),
        }
    }

    /// Converts a pole to model space.
    pub fn pole_to_model(&self, pole: Pole) -> Pole {
        match (self, pole) {
            (Self::Model, _) | (_, Pole::Keep) => pole,
            (Self::World(placement), Pole::Point(p)) => Pole::Point(placement.to_model(p)),
            (Self::World(placement), Pole::Direction(d)) => Pole::Direction(placement.direction_to_model(d)),
            (Self::Joint(frame, _), Pole::Point(p)) => Pole::Point(frame.transform_point3(p)),
            (Self::Joint(frame, _), Pole::Direction(d)) => {
                Pole::Direction(math::rotate(math::rotation_of(&frame.matrix3), d) * sign(frame))
            }
        }
    }
}
