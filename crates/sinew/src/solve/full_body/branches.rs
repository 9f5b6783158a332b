//! Joints taken out of their pose, as a tree: what moves, and where everything is.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use crate::{
    JointId, Pose, Skeleton, SolveError,
    joint::{Joint, Limits, Turning},
    math,
    solve::{
        chain_state::{signs, turned_at_most},
        check,
    },
};

/// No node.
pub(super) const NONE: usize = usize::MAX;

/// What limits are promised to be kept to, in radians.
const KEPT: f32 = 1e-5;

/// What forward kinematics in f32 makes of a place, as a part of [`Pose::extent`]; see the limb's.
const UNCERTAIN: f32 = 3e-7;

/// How a joint of the tree turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turns {
    Not,
    /// A ball or a free joint.
    Whole,
    /// About some axes; which coordinates.
    Axes([bool; 3]),
}

/// One joint.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub joint: JointId,
    /// The node above, before this one in the order; [`NONE`] for the root.
    pub parent: usize,
    pub turns: Turns,
    /// Along which axes of its rest frame it slides.
    pub slides: [bool; 3],
    /// Local rotation and translation.
    pub rotation: Quat,
    pub offset: Vec3,
    /// The rotation in the joint's scale.
    signs: Quat,
    mirrors: bool,
    /// Signed size of the seat's units in figure sizes (negative where it mirrors).
    pub unit: f32,
    /// The joint's limits, relaxed for what came in.
    pub limits: Limits,
    came: (Quat, Vec3),
    /// How far it may turn from there, in radians.
    pub most: f32,
    /// What came in, put within the limits.
    within: (Quat, Vec3),
    /// Where posture draws it to.
    pub rest: Quat,
    /// What its motion counts for beside that of joints without stiffness, in damping and posture.
    pub reluctance: f64,
}

impl Node {
    /// Slides it along an axis of its rest frame to a value.
    pub fn slide_to(&mut self, axis: usize, value: f32) {
        self.offset = self.limits.slide_to(self.came.1, self.offset, axis, value);
    }

    /// See [`turned_at_most`].
    pub fn no_further(&self, rotation: Quat) -> Quat {
        turned_at_most(&self.limits, self.came.0, rotation, self.most)
    }
}

/// Where a joint is, in figure sizes from the origin of the tree, axes as in model space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub at: Vec3,
    /// The parent's orientation.
    pub seat: Quat,
    /// The joint's own.
    pub turn: Quat,
}

/// Beyond this stiffness a joint moves hardly less; at 1 it does not move at all.
const STIFFEST: f64 = 0.999;

/// The stiffness of a joint: that of its stiffest degree of freedom.
fn stiffness(joint: &Joint) -> f64 {
    let own = joint.turning.coordinates().into_iter().chain(joint.slide).flatten();
    own.map(|d| d.stiffness).fold(0.0, f64::max)
}

/// The joints, parents before children.
#[derive(Clone, Debug)]
pub(super) struct Branches {
    pub nodes: Vec<Node>,
    pub frames: Vec<Frame>,
    /// Orientation of the frame of the root's parent.
    above: Quat,
    /// Its origin in model space, in metres.
    pub origin: Vec3,
    /// The figure's size in metres.
    pub size: f32,
    /// What forward kinematics in f32 makes of a place, in metres.
    pub rounding: f32,
    /// Whether any joint came in outside its limits.
    pub outside: bool,
    kept: Vec<(Quat, Vec3)>,
}

impl Branches {
    /// The joints that `on` says yes to, which must hold with a joint all above it up to `root`.
    pub fn new(skeleton: &Skeleton, root: JointId, on: impl Fn(JointId) -> bool) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        for joint in skeleton.below(root).filter(|&j| on(j)) {
            let above = skeleton.parent(joint).filter(|_| joint != root);
            let parent = above.and_then(|p| nodes.iter().rposition(|n| n.joint == p)).unwrap_or(NONE);
            let freedom = skeleton.joint(joint);
            let turns = match freedom.turning {
                Turning::Fixed => Turns::Not,
                Turning::Free | Turning::Ball { .. } => Turns::Whole,
                Turning::Hinge { .. } | Turning::Axes { .. } => {
                    Turns::Axes(freedom.turning.coordinates().map(|d| d.is_some()))
                }
            };
            let stiffness = stiffness(freedom);
            let turns = if stiffness < 1.0 { turns } else { Turns::Not };
            let willing = 1.0 - stiffness.min(STIFFEST);
            nodes.push(Node {
                joint,
                reluctance: 1.0 / (willing * willing),
                parent,
                turns,
                slides: freedom.slide.map(|d| d.is_some() && stiffness < 1.0),
                rotation: Quat::IDENTITY,
                offset: Vec3::ZERO,
                signs: Quat::IDENTITY,
                mirrors: false,
                unit: 1.0,
                limits: *skeleton.limits(joint),
                came: (Quat::IDENTITY, Vec3::ZERO),
                most: f32::INFINITY,
                within: (Quat::IDENTITY, Vec3::ZERO),
                rest: {
                    let limits = skeleton.limits(joint);
                    limits.preferred().unwrap_or_else(|| limits.clamp(skeleton.rest(joint).rotation))
                },
            });
        }
        let frame = Frame { at: Vec3::ZERO, seat: Quat::IDENTITY, turn: Quat::IDENTITY };
        Self {
            frames: alloc::vec![frame; nodes.len()],
            kept: Vec::with_capacity(nodes.len()),
            nodes,
            above: Quat::IDENTITY,
            origin: Vec3::ZERO,
            size: 1.0,
            rounding: 0.0,
            outside: false,
        }
    }

    /// The node of a joint.
    pub fn find(&self, joint: JointId) -> Option<usize> {
        self.nodes.binary_search_by_key(&joint, |n| n.joint).ok()
    }

    /// Takes the joints out of an updated pose. `last` are nodes whose own scale matters as well: those with points of their
    /// own that are asked for something.
    pub fn load(&mut self, pose: &Pose, last: &[bool]) -> Result<(), SolveError> {
        let skeleton = pose.skeleton().clone();
        let root = self.nodes[0].joint;
        let above = pose.parent_model(root);
        // A sheared frame would change lengths as things turn in it.
        let sheared = |joint: JointId| -> Result<(), SolveError> {
            let shear = math::shear(&pose.model(joint).matrix3);
            if shear.is_nan() || shear > 1e-3 {
                return Err(crate::ChainError::Sheared { joint: skeleton.name(joint).into(), shear }.into());
            }
            Ok(())
        };
        if let Some(parent) = skeleton.parent(root) {
            check::frame(pose, parent, "the frame of the root's parent", true)?;
            sheared(parent)?;
        }
        self.above = math::rotation_of(&above.matrix3);
        self.origin = above.translation;
        let unit = math::uniform_scale(&above.matrix3);
        self.outside = false;
        self.rounding = 0.0;
        let mut size = 0.0f32;
        for (i, &last) in last.iter().enumerate() {
            let node = &mut self.nodes[i];
            check::frame(pose, node.joint, "a joint's frame", last)?;
            let local = *pose.local(node.joint);
            if last {
                sheared(node.joint)?;
            }
            (node.rotation, node.offset) = (local.rotation, local.translation);
            (node.came, node.most) = ((local.rotation, local.translation), f32::INFINITY);
            node.signs = signs(local.scale);
            node.mirrors = local.scale.x * local.scale.y * local.scale.z < 0.0;
            let limits = skeleton.limits(node.joint);
            if (limits.turns_freely() && !limits.slides())
                || (limits.excess(local.rotation) <= KEPT && limits.slide_excess(local.translation) <= 0.0)
            {
                (node.limits, node.within) = (*limits, node.came);
            } else {
                self.outside = true;
                let slid = limits.clamp_slide(local.translation, local.translation);
                (node.limits, node.within) =
                    (limits.relaxed_beyond(&local, KEPT), (limits.clamp(local.rotation), slid));
            }
            if node.reluctance > 1.0 {
                node.limits = node.limits.without_resistance();
            }
            self.rounding = self.rounding.max(UNCERTAIN * pose.extent(node.joint));
            let parent = node.parent;
            let unit = if parent == NONE {
                unit
            } else {
                let above = &self.nodes[parent];
                let scale = pose.local(above.joint).scale.x.abs();
                above.unit * if above.mirrors { -scale } else { scale }
            };
            self.nodes[i].unit = unit;
            // The longest way from the root to any joint; kept in `at` for a moment.
            let bone = if parent == NONE {
                0.0
            } else {
                self.frames[parent].at.x + math::sqrt(local.translation.length_squared()) * unit.abs()
            };
            self.frames[i].at.x = bone;
            size = size.max(bone);
        }
        self.size = size;
        Ok(())
    }

    /// The longest way along the bones from the root to a node, in metres; right after [`Branches::load`] alone.
    pub fn way_to(&self, node: usize) -> f32 {
        self.frames[node].at.x
    }

    /// Whether a bone on the way from the root to a node slides.
    pub fn slides_above(&self, node: usize) -> bool {
        let above = |n: &usize| Some(self.nodes[*n].parent).filter(|&p| p != NONE);
        core::iter::successors(Some(node), above).any(|n| self.nodes[n].slides != [false; 3])
    }

    /// Counts lengths in this many metres from now on.
    pub fn count_in(&mut self, size: f32) {
        self.size = size;
        for node in &mut self.nodes {
            node.unit /= size;
        }
    }

    /// Puts every joint where it came in, moved to the nearest place within its limits.
    pub fn put_within(&mut self) {
        for node in &mut self.nodes {
            (node.rotation, node.offset) = node.within;
        }
    }

    /// A place in model space as frames count.
    pub fn inside(&self, place: Vec3) -> Vec3 {
        (place - self.origin) / self.size
    }

    /// Forward kinematics.
    pub fn forward(&mut self) {
        for i in 0..self.nodes.len() {
            let node = &self.nodes[i];
            let (seat, at) = match node.parent {
                NONE => (self.above, Vec3::ZERO),
                p => (self.frames[p].turn, self.frames[p].at),
            };
            let mut turn = math::mul(seat, node.rotation);
            if node.signs.w == 0.0 {
                turn = math::mul(turn, node.signs);
            }
            self.frames[i] = Frame { at: at + math::rotate(seat, node.offset) * node.unit, seat, turn };
        }
    }

    /// Signed size of a node's own units in figure sizes.
    pub fn own_unit(&self, node: usize, pose: &Pose) -> f32 {
        let node = &self.nodes[node];
        let scale = pose.local(node.joint).scale.x.abs();
        node.unit * if node.mirrors { -scale } else { scale }
    }

    /// Slides a node along an axis of its rest frame to a value.
    pub fn slide_to(&mut self, node: usize, axis: usize, value: f32) {
        self.nodes[node].slide_to(axis, value);
    }

    /// How far the root has been moved, in figure sizes, and along which axes of model space.
    pub fn root_moved(&self) -> Vec3 {
        let root = &self.nodes[0];
        math::rotate(self.above, root.offset - root.came.1) * root.unit
    }

    /// Moves the root by a way in figure sizes along the axes of model space.
    pub fn move_root(&mut self, way: Vec3) {
        let back = math::conjugate(self.above);
        let root = &mut self.nodes[0];
        let local = math::rotate(back, way) / root.unit;
        if local.is_finite() {
            root.offset += local;
        }
    }

    /// Writes what has changed back and updates the pose.
    pub fn store(&self, pose: &mut Pose) {
        for node in &self.nodes {
            if node.rotation != node.came.0 {
                pose.set_rotation(node.joint, node.rotation);
            }
            if node.offset != node.came.1 {
                pose.set_translation(node.joint, node.offset);
            }
        }
        pose.update();
    }

    /// Goes `weight` of the way from what came in to what is here, in joint coordinates.
    pub fn blend(&mut self, weight: f32) {
        for node in &mut self.nodes {
            let (rotation, offset) = node.came;
            if node.rotation != rotation {
                node.rotation = node.limits.blend(rotation, node.rotation, weight);
            }
            if node.offset != offset {
                node.offset = offset + (node.offset - offset) * weight;
            }
        }
    }

    /// The largest turn of a joint from where it came in, in radians.
    pub fn turned(&self) -> f32 {
        // The nearer their product is to one or minus one, the less two rotations differ; rounding leaves out small turns.
        let apart =
            |n: &Node| (n.came.0 - n.rotation).length_squared().min((n.came.0 + n.rotation).length_squared());
        let mut furthest: Option<(f32, &Node)> = None;
        for node in &self.nodes {
            let far = apart(node);
            if furthest.is_none_or(|(most, _)| far > most) {
                furthest = Some((far, node));
            }
        }
        furthest.map_or(0.0, |(_, n)| math::angle_between(n.came.0, n.rotation))
    }

    /// Lets no joint turn further than `most` radians from where it came in, in steps from now on.
    pub fn turn_at_most(&mut self, most: f32) {
        for node in &mut self.nodes {
            node.most = most;
        }
    }

    /// The furthest that any joint turns from here to what was written down, in radians.
    pub fn turn_to(&self, to: &[(Quat, Vec3)]) -> f32 {
        self.nodes.iter().zip(to).map(|(n, to)| math::angle_between(n.rotation, to.0)).fold(0.0, f32::max)
    }

    /// Goes `weight` of the way from where every joint is to what was written down, in joint coordinates, as far as joints
    /// may turn.
    pub fn blend_to(&mut self, to: &[(Quat, Vec3)], weight: f32) {
        for (node, (rotation, offset)) in self.nodes.iter_mut().zip(to) {
            if node.rotation != *rotation {
                node.rotation = node.no_further(node.limits.blend(node.rotation, *rotation, weight));
            }
            node.offset += (*offset - node.offset) * weight;
        }
    }

    /// Writes down where every joint is.
    pub fn keep(&mut self) {
        self.kept.clear();
        self.kept.extend(self.nodes.iter().map(|n| (n.rotation, n.offset)));
    }

    /// Puts every joint where [`Branches::keep`] found it.
    pub fn put_back(&mut self) {
        for (node, kept) in self.nodes.iter_mut().zip(&self.kept) {
            (node.rotation, node.offset) = *kept;
        }
    }

    /// The same with a list of the caller's.
    pub fn keep_in(&self, into: &mut Vec<(Quat, Vec3)>) {
        into.clear();
        into.extend(self.nodes.iter().map(|n| (n.rotation, n.offset)));
    }

    pub fn put(&mut self, from: &[(Quat, Vec3)]) {
        for (node, kept) in self.nodes.iter_mut().zip(from) {
            (node.rotation, node.offset) = *kept;
        }
    }
}
