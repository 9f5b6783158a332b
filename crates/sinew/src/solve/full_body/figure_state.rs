//! State of a full body during a solve: its joints and their frames.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::column::Kind;
use crate::{
    JointId, JointTransform, Pose, Skeleton, SolveError,
    joint::{Dof, Limits, Turning},
    math,
    solve::{
        chain_state::{signs, turned_at_most},
        check,
        eases::Eases,
    },
};

/// Index that stands for no node.
pub(super) const NONE: usize = usize::MAX;

/// Excess over a limit that counts as rounding, in radians. It is the documented accuracy of limits.
const SLACK: f32 = 1e-5;

/// Rounding of positions by forward kinematics in f32, as a fraction of [`Pose::extent`]; the two-bone solver uses the same.
const POSITION_ROUNDING: f32 = 3e-7;

/// Rotational dofs of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turns {
    Fixed,
    /// A ball or a free joint.
    Ball,
    /// Rotations about single axes; the flags tell the coordinates in use.
    Axes([bool; 3]),
}

/// State of one joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub joint: JointId,
    /// Index of the parent, smaller than the node's own; [`NONE`] for the root.
    pub parent: usize,
    pub turns: Turns,
    /// Whether it is a ball that may take every rotation.
    free: bool,
    /// Axes of its rest frame along which it slides.
    pub slides: [bool; 3],
    /// Local rotation and translation, the latter in the parent's units.
    pub rotation: Quat,
    pub offset: Vec3,
    /// Rotation part of the signs of the joint's scale.
    signs: Quat,
    mirrors: bool,
    /// Size of the parent's units in figure sizes, negative where the parent mirrors.
    pub unit: f32,
    /// The joint's limits, extended to include the initial pose.
    pub limits: Limits,
    initial: (Quat, Vec3),
    /// Maximum rotation from the initial one, in radians.
    pub max_turn: f32,
    /// Initial rotation and translation, clamped to the limits.
    clamped: (Quat, Vec3),
    /// Rotation that posture pulls to.
    pub rest: Quat,
    /// Weight of its motion relative to a joint without stiffness, in damping and posture.
    pub motion_weight: f64,
    /// Whether it slows near its limits.
    pub eases: bool,
}

impl Node {
    /// Ease of a ball, where a torque pulls it.
    pub fn ease_ball(&self, base: Quat, torque: [f64; 3]) -> Option<Eases> {
        Eases::new(&self.limits, self.rotation, base, Vec3::from_array(torque.map(|t| t as f32)))
    }

    /// Weight by which ease multiplies the motion of an angle or a slide, where `pull` is the force along it.
    #[cold]
    pub fn ease(&self, kind: Kind, coordinates: &[f32; 3], pull: f64) -> f64 {
        f64::from(match kind {
            Kind::Angle(n) => self.limits.angle_ease(n, coordinates[n], pull > 0.0),
            Kind::Slide(n) => self.limits.slide_ease(n, self.limits.slide_of(self.offset)[n], pull > 0.0),
            _ => 1.0,
        })
    }

    /// Slides the joint to a value along an axis of its rest frame.
    pub fn slide_to(&mut self, axis: usize, value: f32) {
        self.offset = self.limits.slide_to(self.initial.1, self.offset, axis, value);
    }

    /// Loads the joint's limits, extended to include the initial pose. Returns whether that is outside them.
    fn load_limits(&mut self, limits: &Limits, local: &JointTransform) -> bool {
        let held = limits.held(local);
        let limits = held.as_ref().unwrap_or(limits);
        (self.limits, self.clamped) = (*limits, self.initial);
        let within = (limits.turns_freely() && !limits.slides())
            || (limits.excess(local.rotation) <= SLACK && limits.slide_excess(local.translation) <= 0.0);
        if !within {
            self.limits = limits.relaxed_beyond(local, SLACK);
            self.clamped =
                (limits.clamp(local.rotation), limits.clamp_slide(local.translation, local.translation));
        }
        !within
    }

    /// Whether the joint may take every rotation in this solve.
    #[inline(always)]
    pub fn is_free(&self) -> bool {
        self.free && self.max_turn == f32::INFINITY
    }

    /// The rotation, bounded by [`Node::max_turn`]; see [`turned_at_most`].
    pub fn no_further(&self, rotation: Quat) -> Quat {
        turned_at_most(&self.limits, self.initial.0, rotation, self.max_turn)
    }
}

/// Frame of a joint: position in figure sizes from the figure's origin, orientation in model space.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub at: Vec3,
    /// Orientation of the parent (the pre-rotation frame).
    pub base: Quat,
    /// Orientation of the joint.
    pub rotation: Quat,
}

/// Empties a list and reserves room for a number of items.
pub(super) fn empty<T>(list: &mut Vec<T>, room: usize) {
    list.clear();
    list.reserve(room);
}

/// Fills a list with copies of an item.
pub(super) fn fill<T: Clone>(list: &mut Vec<T>, count: usize, item: T) {
    list.clear();
    list.resize(count, item);
}

/// The joints of a full body, parents before children.
#[derive(Debug, Default)]
pub(super) struct FigureState {
    pub nodes: Vec<Node>,
    pub frames: Vec<Frame>,
    /// Whether joints moved after `frames` were computed.
    pub moved: bool,
    /// Orientation of the root's parent.
    above: Quat,
    /// Position of the root's parent in model space, in metres.
    pub origin: Vec3,
    /// The figure's size, its unit of length, in metres.
    pub size: f32,
    /// Rounding of positions by forward kinematics, in metres.
    pub rounding: f32,
    /// Whether any joint of the initial pose is outside its limits.
    pub outside: bool,
    kept: [Vec<(Quat, Vec3)>; 6],
}

/// A saved state of all joints.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kept {
    /// The initial state.
    Initial,
    /// The state before a step.
    Step,
    Best,
    /// The first answer, during restarts.
    First,
    /// The answer without a bound on rotations.
    Unbounded,
    /// Blend of the answers for goals of higher and higher influence.
    Blended,
}

impl FigureState {
    /// The joints at or below `root` for which `on` holds. If it holds for a joint, it must for all its ancestors up to
    /// `root`.
    pub fn new(skeleton: &Skeleton, root: JointId, on: impl Fn(JointId) -> bool) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        for joint in skeleton.below(root).filter(|&j| on(j)) {
            let above = skeleton.parent(joint).filter(|_| joint != root);
            let parent = above.and_then(|p| nodes.iter().rposition(|n| n.joint == p)).unwrap_or(NONE);
            let spec = skeleton.joint(joint);
            let own = spec.turning.coordinates();
            let turns = match spec.turning {
                Turning::Free | Turning::Ball { .. } if own.iter().flatten().all(Dof::moves) => Turns::Ball,
                Turning::Hinge { .. } | Turning::Axes { .. } => {
                    Turns::Axes(own.each_ref().map(|d| d.as_ref().is_some_and(Dof::moves)))
                }
                _ => Turns::Fixed,
            };
            let (mut compliance, mut eases) = (1.0, false);
            for dof in spec.dofs() {
                eases |= dof.ease > 0.0;
                compliance = if dof.moves() { dof.compliance().min(compliance) } else { compliance };
            }
            nodes.push(Node {
                joint,
                motion_weight: 1.0 / (compliance * compliance),
                eases,
                parent,
                free: turns == Turns::Ball && spec.turning == Turning::Free,
                turns,
                slides: spec.slide.each_ref().map(|d| d.as_ref().is_some_and(Dof::moves)),
                rotation: Quat::IDENTITY,
                offset: Vec3::ZERO,
                signs: Quat::IDENTITY,
                mirrors: false,
                unit: 1.0,
                limits: *skeleton.limits(joint),
                initial: (Quat::IDENTITY, Vec3::ZERO),
                max_turn: f32::INFINITY,
                clamped: (Quat::IDENTITY, Vec3::ZERO),
                rest: {
                    let limits = skeleton.limits(joint);
                    limits.preferred().unwrap_or_else(|| limits.clamp(skeleton.rest(joint).rotation))
                },
            });
        }
        let mut new = Self { nodes, ..Self::default() };
        new.make_room();
        new
    }

    /// Copies the joints of a solver.
    pub fn begin(&mut self, nodes: &[Node]) {
        self.nodes.clear();
        self.nodes.extend_from_slice(nodes);
        self.moved = true;
        self.make_room();
    }

    fn make_room(&mut self) {
        fill(&mut self.frames, self.nodes.len(), Frame::default());
        for kept in &mut self.kept {
            empty(kept, self.nodes.len());
        }
    }

    /// The node of a joint.
    pub fn find(&self, joint: JointId) -> Option<usize> {
        self.nodes.binary_search_by_key(&joint, |n| n.joint).ok()
    }

    /// Loads an updated pose. `last` marks nodes whose own scale matters, as they carry points of tasks.
    pub fn load(&mut self, pose: &Pose, last: &[bool]) -> Result<(), SolveError> {
        let skeleton = pose.skeleton();
        let root = self.nodes[0].joint;
        let above = pose.parent_model(root);
        // Under a sheared frame lengths change with rotations.
        let sheared = |joint: JointId| -> Result<(), SolveError> {
            if pose.unscaled(joint) {
                return Ok(());
            }
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
        (self.outside, self.moved) = (false, true);
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
            (node.initial, node.max_turn) = ((local.rotation, local.translation), f32::INFINITY);
            node.signs = signs(local.scale);
            node.mirrors = local.scale.x * local.scale.y * local.scale.z < 0.0;
            // A free joint keeps its limits.
            if node.free && node.slides == [false; 3] {
                node.clamped = node.initial;
            } else {
                self.outside |= node.load_limits(skeleton.limits(node.joint), &local);
            }
            self.rounding = self.rounding.max(POSITION_ROUNDING * pose.extent(node.joint));
            let parent = node.parent;
            let unit = if parent == NONE {
                unit
            } else {
                let above = &self.nodes[parent];
                let scale = pose.local(above.joint).scale.x.abs();
                above.unit * if above.mirrors { -scale } else { scale }
            };
            self.nodes[i].unit = unit;
            // Longest path along the bones from the root, in metres; stored in `at` until the first
            // [`FigureState::forward`].
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

    /// Length of the path along the bones from the root to a node, in metres. Valid only right after [`FigureState::load`].
    pub fn path_length(&self, node: usize) -> f32 {
        self.frames[node].at.x
    }

    /// Whether a node or any of its ancestors slides.
    pub fn slides_above(&self, node: usize) -> bool {
        let above = |n: &usize| Some(self.nodes[*n].parent).filter(|&p| p != NONE);
        core::iter::successors(Some(node), above).any(|n| self.nodes[n].slides != [false; 3])
    }

    /// Sets the unit of length, in metres; called once per load.
    pub fn set_unit(&mut self, size: f32) {
        (self.size, self.moved) = (size, true);
        for node in &mut self.nodes {
            node.unit /= size;
        }
    }

    /// Restores the initial pose, clamped to the limits.
    pub fn restore_clamped(&mut self) {
        self.moved = true;
        for node in &mut self.nodes {
            (node.rotation, node.offset) = node.clamped;
        }
    }

    /// Converts a position from model space to figure sizes from the figure's origin.
    pub fn to_figure(&self, position: Vec3) -> Vec3 {
        (position - self.origin) / self.size
    }

    /// Forward kinematics: updates the frames, if joints moved.
    pub fn forward(&mut self) {
        if !core::mem::take(&mut self.moved) {
            return;
        }
        // Down a chain each joint's parent is the joint before it, whose frame is still in registers.
        let (mut last, mut base, mut at) = (NONE, self.above, Vec3::ZERO);
        let frames = &mut self.frames[..self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            if node.parent != last {
                (base, at) = (frames[node.parent].rotation, frames[node.parent].at);
            }
            let mut rotation = math::mul(base, node.rotation);
            if node.signs.w == 0.0 {
                rotation = math::mul(rotation, node.signs);
            }
            at += math::rotate(base, node.offset) * node.unit;
            frames[i] = Frame { at, base, rotation };
            (last, base) = (i, rotation);
        }
    }

    /// Signed size of a node's own units in figure sizes; in metres before [`FigureState::set_unit`].
    pub fn own_unit(&self, node: usize, pose: &Pose) -> f32 {
        let node = &self.nodes[node];
        let scale = pose.local(node.joint).scale.x.abs();
        node.unit * if node.mirrors { -scale } else { scale }
    }

    /// Displacement of the root from its initial position, in figure sizes, along the axes of model space.
    pub fn root_moved(&self) -> Vec3 {
        let root = &self.nodes[0];
        math::rotate(self.above, root.offset - root.initial.1) * root.unit
    }

    /// Moves the root by a displacement in figure sizes, along the axes of model space.
    pub fn move_root(&mut self, displacement: Vec3) {
        let back = math::conjugate(self.above);
        let root = &mut self.nodes[0];
        let local = math::rotate(back, displacement) / root.unit;
        if local.is_finite() {
            root.offset += local;
            self.moved = true;
        }
    }

    /// Writes changed joints to the pose and updates it.
    pub fn store(&self, pose: &mut Pose) {
        for node in &self.nodes {
            if node.rotation != node.initial.0 {
                pose.set_rotation(node.joint, node.rotation);
            }
            if node.offset != node.initial.1 {
                pose.set_translation(node.joint, node.offset);
            }
        }
        pose.update();
    }

    /// Copies the joints' rotations and translations from another pose.
    pub fn put(&mut self, pose: &Pose) {
        self.moved = true;
        for node in &mut self.nodes {
            let local = pose.local(node.joint);
            (node.rotation, node.offset) = (local.rotation, local.translation);
        }
    }

    /// Blends from the initial pose (0) to the current one (1), in joint coordinates.
    pub fn blend(&mut self, weight: f32) {
        self.moved = true;
        for node in &mut self.nodes {
            let (rotation, offset) = node.initial;
            if node.rotation != rotation {
                node.rotation = node.limits.blend(rotation, node.rotation, weight);
            }
            if node.offset != offset {
                node.offset = offset + (node.offset - offset) * weight;
            }
        }
    }

    /// Maximum rotation of a joint from its initial one, in radians.
    pub fn turned(&self) -> f32 {
        // Differences of quaternions order the angles; their dot products lose small angles to rounding.
        let apart = |n: &Node| {
            (n.initial.0 - n.rotation).length_squared().min((n.initial.0 + n.rotation).length_squared())
        };
        let mut furthest: Option<(f32, &Node)> = None;
        for node in &self.nodes {
            let far = apart(node);
            if furthest.is_none_or(|(max, _)| far > max) {
                furthest = Some((far, node));
            }
        }
        furthest.map_or(0.0, |(_, n)| math::angle_between(n.initial.0, n.rotation))
    }

    /// Whether all joints are in their initial state.
    pub fn rests(&self) -> bool {
        self.nodes.iter().all(|n| (n.rotation, n.offset) == n.initial)
    }

    /// Bounds the rotation of every joint from its initial one, in radians, in the steps that follow.
    pub fn limit_turn(&mut self, max_turn: f32) {
        for node in &mut self.nodes {
            node.max_turn = max_turn;
        }
    }

    /// Maximum rotation of a joint from its current state to a saved one, in radians.
    pub fn turn_to(&self, to: Kept) -> f32 {
        let each = self.nodes.iter().zip(&self.kept[to as usize]);
        each.map(|(n, to)| math::angle_between(n.rotation, to.0)).fold(0.0, f32::max)
    }

    /// Blends from the current state (0) to a saved one (1), in joint coordinates, within each joint's [`Node::max_turn`].
    pub fn blend_to(&mut self, to: Kept, weight: f32) {
        self.moved = true;
        for (node, (rotation, offset)) in self.nodes.iter_mut().zip(&self.kept[to as usize]) {
            if node.rotation != *rotation {
                node.rotation = node.no_further(node.limits.blend(node.rotation, *rotation, weight));
            }
            node.offset += (*offset - node.offset) * weight;
        }
    }

    /// Saves the state of all joints.
    pub fn keep(&mut self, state: Kept) {
        let kept = &mut self.kept[state as usize];
        kept.clear();
        kept.extend(self.nodes.iter().map(|n| (n.rotation, n.offset)));
    }

    /// Restores a saved state.
    pub fn restore(&mut self, state: Kept) {
        self.moved = true;
        for (node, kept) in self.nodes.iter_mut().zip(&self.kept[state as usize]) {
            (node.rotation, node.offset) = *kept;
        }
    }
}
