//! Chain state: a chain copied out of its pose for the iterative solvers, and walks up and down it.
//!
//! Each link has a *pre-rotation frame*: the parent's frame moved to the joint, before the joint's rotation. In it, the
//! chain's end lies at `rotation * arm`. The arm is the vector from the joint to the end in the joint's rotated frame.
//! A goal in the pre-rotation frame is the target of the rotation. Pre-rotation frames depend only on the joints above,
//! and arms only on those below. A sweep from the tip inward therefore needs one walk down for the goal (before the
//! sweep, [`ChainState::send_down`]) and one step up per joint ([`ChainState::arm`]), and no frame in model space.
//! Scaled and mirrored frames need no special case.

mod maps;
mod newton;
mod part;
mod restart;

pub(crate) use maps::{Maps, Node, walk};
pub(crate) use newton::Newton;
pub(crate) use part::{Ask, Kind, Part, columns, parts};

use alloc::vec::Vec;

use glam::{Affine3, DMat3, DQuat, DVec3, Quat, Vec3};

use super::{
    arc::{LONGEST, distance, no_further},
    check,
    options::IterativeOptions,
    soften,
};
use crate::{Chain, Pose, SolveError, joint::Limits, math, math64};

/// State of one joint of the chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    /// Local rotation.
    pub rotation: Quat,
    /// Local translation.
    pub offset: Vec3,
    /// Local scale.
    pub scale: Vec3,
    /// Limits of the joint, relaxed to contain the input.
    pub limits: Limits,
    /// Position goal, in the pre-rotation frame.
    pub goal: Vec3,
    /// Rotation goal for the tip, in the pre-rotation frame.
    pub turn: Quat,
    /// Size in metres of the pre-rotation frame's units.
    pub unit: f32,
    /// Maximum turn from the input rotation, in radians.
    pub max_turn: f32,
    input: (Quat, Vec3),
    /// Translation from which slides count: the input's, or the root's after [`ChainState::move_root`].
    base: Vec3,
    /// Input rotation and translation, clamped to the limits.
    within: (Quat, Vec3),
}

/// Maximum length of a chain, in metres. Squares of vectors of this length are still finite.
const MAX_LENGTH: f32 = 1e18;

/// Links from root to tip. Each solve reloads them into the same memory.
#[derive(Debug)]
pub(crate) struct ChainState {
    chain: Chain,
    pub links: Vec<Link>,
    /// Frame of the root's parent in model space.
    above: Affine3,
    /// Uncertainty of the end's position after forward kinematics in f32, in metres.
    pub rounding: f32,
    /// Whether any joint's input is outside its limits.
    pub outside: bool,
}

/// Error of a position after forward kinematics in f32, as a share of [`Pose::extent`]; see the constant of the
/// two-bone solver.
const UNCERTAIN: f32 = 3e-7;

/// Share of the maximum turn at which a joint stops that would exceed it: at first, and where that was still too far.
const SHORT: [f32; 2] = [0.9999, 0.99];

/// Tolerance of the limits that solvers promise, in radians.
const KEPT: f32 = 1e-5;

impl Link {
    /// Slides by a distance along an axis, as far as the range allows.
    pub fn slide_by(&mut self, axis: usize, way: f32) {
        let from = self.limits.slide_of(self.offset)[axis];
        self.slide_to(axis, self.limits.slide_plainly(axis, from, from + way));
    }

    /// Slides to a value along an axis; see [`Limits::slide_to`].
    pub fn slide_to(&mut self, axis: usize, value: f32) {
        self.offset = self.limits.slide_to(self.base, self.offset, axis, value);
    }

    /// Signed size of the frame below the joint, given that of this one.
    pub fn unit_below(&self, unit: f32) -> f32 {
        let Vec3 { x, y, z } = self.scale;
        unit * if x * y * z < 0.0 { -x.abs() } else { x.abs() }
    }

    /// Current rotation and translation of the joint.
    pub fn at(&self) -> (Quat, Vec3) {
        (self.rotation, self.offset)
    }

    /// Clamps a rotation to the maximum turn; see [`turned_at_most`].
    pub fn no_further(&self, rotation: Quat) -> Quat {
        turned_at_most(&self.limits, self.input.0, rotation, self.max_turn)
    }
}

/// Returns the rotation `to` if it is within `max_turn` radians of `from`. Otherwise returns a rotation between the two, in
/// joint coordinates, just within that bound.
pub(crate) fn turned_at_most(limits: &Limits, from: Quat, mut to: Quat, max_turn: f32) -> Quat {
    if max_turn == f32::INFINITY {
        return to;
    }
    // Half an angle is at most its tangent: most turns are well within the bound and need no arc tangent.
    let d = math::mul(math::conjugate(from), to);
    if 4.0 * (d.x * d.x + d.y * d.y + d.z * d.z) <= max_turn * max_turn * (d.w * d.w) {
        return to;
    }
    // The path is straight in coordinates, and the angle only nearly proportional to them. Next to a half turn of
    // swing, the angle may even be larger on the path than at its end.
    for round in 0..40 {
        let turned = math::angle_between(from, to);
        if turned <= max_turn {
            return to;
        }
        let share = if round < 8 { SHORT[round.min(1)] * max_turn / turned } else { 0.5 };
        to = limits.blend(from, to, share);
    }
    from
}

/// Number of pieces in which joints approach an answer beyond their maximum turn. Each piece starts from the result of
/// the steps after the previous one. With a single piece, 1 % fewer chains of ten hinges reach their goals.
pub(crate) const PIECES: u32 = 4;

/// Share of the maximum turn that all pieces together use. The rest is for rounding.
pub(crate) const IN_ALL: f32 = 0.9999;

/// Share of the input's residual that steps aim for on their way back from a pose with a larger one. The rest is for
/// rounding.
pub(crate) const NO_MORE: f32 = 0.9999;

impl Default for ChainState {
    fn default() -> Self {
        let above = Affine3::IDENTITY;
        Self { chain: Chain::empty(), links: Vec::new(), above, rounding: 0.0, outside: false }
    }
}

impl ChainState {
    /// Makes room for a chain.
    pub fn reserve(&mut self, chain: &Chain) {
        self.chain.copy_from(chain);
        self.links.clear();
        self.links.reserve(chain.joints().len());
    }

    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Loads the chain from an updated pose. Returns an error if one of its frames is not finite, flat or sheared. The
    /// tip's own frame counts if the tip has an offset or a rotation goal (`turns`).
    pub fn load(&mut self, chain: &Chain, pose: &Pose, turns: bool) -> Result<(), SolveError> {
        let scaled = turns || chain.tip_offset() != Vec3::ZERO;
        check::frame(pose, chain.tip(), "the tip's frame", scaled)?;
        chain.check_frames(pose)?;
        self.take(chain, pose);
        check::within("the chain's length in metres", "at most 1e18", self.length(), 0.0, MAX_LENGTH)
    }

    /// Loads a chain that is known to be finite. Positions of a sheared chain are exact, but steps lead only
    /// approximately in the right direction.
    pub fn take(&mut self, chain: &Chain, pose: &Pose) {
        self.take_tree(chain, pose, |i| i.checked_sub(1));
    }

    /// [`take`](Self::take) for the joints of a tree, parents before children. `parent` gives the index of a joint's parent,
    /// none for the root. What looks along the chain, as [`end`](Self::end) does, has no meaning then.
    pub fn take_tree(&mut self, tree: &Chain, pose: &Pose, parent: impl Fn(usize) -> Option<usize>) {
        let skeleton = pose.skeleton();
        self.chain.copy_from(tree);
        self.above = pose.parent_model(tree.root());
        let unit = math::uniform_scale(&self.above.matrix3).abs();
        (self.outside, self.rounding) = (false, 0.0);
        self.links.clear();
        for (i, &joint) in tree.joints().iter().enumerate() {
            let local = pose.local(joint);
            let above = parent(i).map(|p| &self.links[p]);
            let unit = above.map_or(unit, |p| p.unit * p.scale.x.abs());
            let input = (local.rotation, local.translation);
            let held = skeleton.limits(joint).held(local);
            let limits = held.as_ref().unwrap_or(skeleton.limits(joint));
            // An input within the limits, or within the promised tolerance of them, keeps them unchanged.
            let turned = limits.is_well_within(local.rotation) || limits.excess(local.rotation) <= KEPT;
            let inside = turned && limits.slide_excess(local.translation) <= 0.0;
            let (limits, within) = if inside {
                (*limits, input)
            } else {
                self.outside = true;
                let slid = limits.clamp_slide(local.translation, local.translation);
                (limits.relaxed_beyond(local, KEPT), (limits.clamp(local.rotation), slid))
            };
            self.links.push(Link {
                rotation: local.rotation,
                offset: local.translation,
                scale: local.scale,
                limits,
                goal: Vec3::ZERO,
                turn: Quat::IDENTITY,
                unit,
                max_turn: f32::INFINITY,
                input,
                base: local.translation,
                within,
            });
            self.rounding = self.rounding.max(UNCERTAIN * pose.extent(joint));
        }
    }

    /// Restores the input.
    pub fn reset(&mut self) {
        for link in &mut self.links {
            (link.rotation, link.offset) = link.input;
            link.base = link.offset;
        }
    }

    /// Residuals of position in metres and of rotation in radians.
    pub fn measure(&self, ask: &Ask) -> (f32, f32) {
        self.measure_from(ask, math::rotate(self.links[0].rotation, self.arm_of(0)))
    }

    /// [`ChainState::measure`], with the vector from the root's joint to the end in the root's pre-rotation frame.
    fn measure_from(&self, ask: &Ask, reach: Vec3) -> (f32, f32) {
        let off = self.above.transform_point3(self.links[0].offset + reach) - ask.place;
        let turn = ask.turn.map_or(0.0, |turn| math::angle_between(self.tip_rotation(), turn));
        (math::sqrt(off.length_squared()), turn)
    }

    /// Largest turn of any joint from its input rotation, in radians.
    pub fn turned(&self) -> f32 {
        let mut max = (0.0, 1.0);
        for link in self.links.iter().filter(|l| l.rotation != l.input.0) {
            let d = math::mul(math::conjugate(link.input.0), link.rotation);
            // The squared sine of half the angle, which increases with the angle.
            let sine = d.x * d.x + d.y * d.y + d.z * d.z;
            if sine > max.0 {
                max = (sine, d.w);
            }
        }
        2.0 * math::atan2(math::sqrt(max.0), max.1.abs())
    }

    /// Largest turn of any joint from here to saved rotations, in radians.
    pub fn turn_to(&self, to: &[(Quat, Vec3)]) -> f32 {
        self.links.iter().zip(to).map(|(l, to)| math::angle_between(l.rotation, to.0)).fold(0.0, f32::max)
    }

    /// Limits all further steps and sweeps to `max_turn` radians from the input rotations.
    pub fn turn_at_most(&mut self, max_turn: f32) {
        for link in &mut self.links {
            link.max_turn = max_turn;
        }
    }

    /// Clamps every joint to its maximum turn. Returns whether any joint changed.
    pub fn turn_back(&mut self) -> bool {
        let mut any = false;
        for link in &mut self.links {
            let next = link.no_further(link.rotation);
            any |= next != link.rotation;
            link.rotation = next;
        }
        any
    }

    /// Converts a position and a rotation from model space to the frame of the root's parent, without its scale: in
    /// metres.
    pub fn inside(&self, position: Vec3, turn: Option<Quat>) -> (Vec3, Option<Quat>) {
        let back = math::conjugate(math::rotation_of(&self.above.matrix3));
        (math::rotate(back, position - self.above.translation), turn.map(|t| math::mul(back, t)))
    }

    /// Converts a direction from model space to the frame of the root's parent.
    pub fn direction_inside(&self, direction: Vec3) -> Vec3 {
        math::rotate(math::conjugate(math::rotation_of(&self.above.matrix3)), direction)
    }

    /// Converts a position back to model space: the inverse of [`inside`](Self::inside).
    pub fn back_out(&self, position: Vec3) -> Vec3 {
        math::rotate(math::rotation_of(&self.above.matrix3), position) + self.above.translation
    }

    /// Signed size of the frame of the root's parent: negative if it mirrors.
    pub fn unit(&self) -> f32 {
        math::uniform_scale(&self.above.matrix3)
    }

    /// Sets every joint to its input, clamped to its limits.
    pub fn put_within(&mut self) {
        for link in &mut self.links {
            (link.rotation, link.offset) = link.within;
        }
    }

    /// Orientation of the frame of the root's parent in model space, and its signed size.
    pub fn top(&self) -> (DMat3, f64) {
        let q = math::rotation_of(&self.above.matrix3);
        let q = DQuat::from_xyzw(q.x.into(), q.y.into(), q.z.into(), q.w.into());
        (math64::matrix(q.normalize()), self.unit().into())
    }

    /// Position of the root in model space.
    pub fn root_place(&self) -> DVec3 {
        let (turn, size) = self.top();
        self.above.translation.as_dvec3() + turn * self.links[0].offset.as_dvec3() * size
    }

    /// Writes the joints that changed to the pose and updates it. Returns whether any had changed.
    pub fn store(&self, pose: &mut Pose) -> bool {
        let mut changed = false;
        for (link, &joint) in self.links.iter().zip(self.chain.joints()) {
            if link.rotation != link.input.0 {
                pose.set_rotation(joint, link.rotation);
                changed = true;
            }
            if link.offset != link.input.1 {
                pose.set_translation(joint, link.offset);
                changed = true;
            }
        }
        pose.update();
        changed
    }

    /// Writes all joints to the pose and updates it.
    pub fn store_all(&self, pose: &mut Pose) {
        for (link, &joint) in self.links.iter().zip(self.chain.joints()) {
            pose.set_rotation(joint, link.rotation);
            pose.set_translation(joint, link.offset);
        }
        pose.update();
    }

    /// Blends by `weight` from the input to the current state, in joint coordinates.
    pub fn blend(&mut self, weight: f32) {
        for link in &mut self.links {
            let (rotation, offset) = link.input;
            if link.rotation != rotation {
                link.rotation = link.limits.blend(rotation, link.rotation, weight);
            }
            if link.offset != offset {
                link.offset = offset + (link.offset - offset) * weight;
            }
        }
    }

    /// Converts a goal from model space to every pre-rotation frame.
    pub fn send_down(&mut self, position: Vec3, rotation: Option<Quat>) {
        let inverse = self.above.inverse();
        let mut goal = inverse.transform_point3(position);
        let above = math::rotation_of(&self.above.matrix3);
        let mut turn = math::mul(math::conjugate(above), rotation.unwrap_or(Quat::IDENTITY));
        for link in &mut self.links {
            goal -= link.offset;
            link.goal = goal;
            link.turn = turn;
            let back = math::conjugate(link.rotation);
            goal = math::rotate(back, goal) / link.scale;
            turn = math::mul(math::conjugate(signs(link.scale)), math::mul(back, turn));
        }
    }

    /// Arm of the last link: the chain's end in the tip's frame, before the tip turns.
    pub fn tip_arm(&self) -> Vec3 {
        self.links.last().map_or(Vec3::ZERO, |l| l.scale * self.chain.tip_offset())
    }

    /// Arm of a link, from the arm of the link below it.
    pub fn arm(&self, link: usize, below: Vec3) -> Vec3 {
        let child = &self.links[link + 1];
        self.links[link].scale * (child.offset + math::rotate(child.rotation, below))
    }

    /// Arm of a link, by a walk from the tip.
    pub fn arm_of(&self, link: usize) -> Vec3 {
        (link..self.links.len() - 1).rev().fold(self.tip_arm(), |below, i| self.arm(i, below))
    }

    /// Rotation of the tip relative to a link after its own rotation, from that of the link below; none for the last
    /// link.
    pub fn tip_turn(&self, link: usize, below: Option<Quat>) -> Quat {
        let own = signs(self.links[link].scale);
        below.map_or(own, |below| math::mul(own, math::mul(self.links[link + 1].rotation, below)))
    }

    /// Rotation of the tip relative to a link after its own rotation, by a walk from the tip.
    pub fn tip_turn_of(&self, link: usize) -> Quat {
        let last = self.links.len() - 1;
        (link..last).rev().fold(self.tip_turn(last, None), |below, i| self.tip_turn(i, Some(below)))
    }

    /// Position of the chain's end in model space.
    pub fn end(&self) -> Vec3 {
        let root = &self.links[0];
        self.above.transform_point3(root.offset + math::rotate(root.rotation, self.arm_of(0)))
    }

    /// Position of a link's joint in model space.
    pub fn place(&self, link: usize) -> Vec3 {
        let mut at = Vec3::ZERO;
        for i in (0..=link).rev() {
            let l = &self.links[i];
            if i < link {
                at = math::rotate(l.rotation, l.scale * at);
            }
            at += l.offset;
        }
        self.above.transform_point3(at)
    }

    /// Task for steps and sweeps towards a position and a rotation in model space.
    pub fn ask(&self, place: Vec3, turn: Option<Quat>, options: &IterativeOptions) -> Ask {
        let length = self.length();
        let near = options.position_tolerance.metres(length).max(self.rounding);
        Ask { place, turn, radian: 0.5 * length, near, near_turn: options.rotation_tolerance }
    }

    /// Target position for a goal, drawn in by the soft zone, and the factor by which bones lengthen for it.
    pub fn drawn_in(&self, position: Vec3, soft: f32, stretch: f32) -> (Vec3, f32) {
        if soft <= 0.0 && stretch <= 1.0 {
            return (position, 1.0);
        }
        let (root, reach) = (self.place(0), self.length());
        let displacement = position - root;
        let distance = math::sqrt(displacement.length_squared());
        if distance <= reach * (1.0 - soft) || distance <= 0.0 {
            return (position, 1.0);
        }
        let drawn = soften(distance, reach, soft);
        let longer = (distance / drawn).clamp(1.0, stretch);
        (if soft > 0.0 { root + displacement * (drawn * longer / distance) } else { position }, longer)
    }

    /// Length of the chain in metres: the sum of its bones, including the offset at the tip.
    pub fn length(&self) -> f32 {
        self.bones().sum::<f32>() + self.last_bone()
    }

    /// Lengths of the bones from joint to joint, in metres.
    fn bones(&self) -> impl Iterator<Item = f32> {
        self.links[1..].iter().map(|l| math::sqrt(l.offset.length_squared()) * l.unit)
    }

    /// Length of the offset at the tip, in metres.
    fn last_bone(&self) -> f32 {
        self.links.last().map_or(0.0, |l| math::sqrt(self.tip_arm().length_squared()) * l.unit)
    }

    /// Returns the position itself, or a nearer one in the same direction if it is so far away that only its direction
    /// counts. The bound is `far` lengths of the chain, with all slides extended and bones lengthened by `stretch`.
    pub fn in_sight(&self, position: Vec3, length: f32, stretch: f32, far: f32) -> Vec3 {
        let root = self.place(0);
        let near = far * length;
        // An overflow is not within the bound either.
        if (position - root).length_squared() <= near * near {
            return position;
        }
        no_further(position, root, self.sight(length, stretch, far))
    }

    #[cold]
    fn sight(&self, length: f32, stretch: f32, far: f32) -> f32 {
        let slides = |l: &Link| {
            let ends = |n| l.limits.slide_range(n).map_or(0.0, |(from, to)| from.abs().max(to.abs()));
            (ends(0) + ends(1) + ends(2)) * l.unit
        };
        let slid: f32 = self.links.iter().map(slides).sum();
        far * (length * stretch + slid).min(LONGEST)
    }

    /// Distance in metres by which the goal lies beyond what the lengths of the bones allow (too far or too near).
    /// Limits of rotation do not count. 0 if they allow it, and for chains with slides.
    pub fn out_of_reach(&self, goal: Vec3) -> f32 {
        // A slide changes bone lengths; the solver finds its reach by sliding.
        if self.links.iter().any(|l| l.limits.slides()) {
            return 0.0;
        }
        let reach = self.bones().fold(self.last_bone(), |sum, bone| sum + bone);
        let longest = self.bones().fold(self.last_bone(), f32::max);
        let far = distance(goal, self.place(0));
        (far - reach).max(2.0 * longest - reach - far).max(0.0)
    }

    /// Turns the whole chain about the axis from its root to its end (right-handed, in model space); the end stays.
    /// Halves the angle until the root's limits allow it. Returns whether the chain turned.
    pub fn swivel(&mut self, angle: f32) -> bool {
        let Some(axis) = (self.end() - self.place(0)).try_normalize() else { return false };
        let root = &mut self.links[0];
        if root.limits.holds_turns() {
            return false;
        }
        let mut part = angle;
        for _ in 0..12 {
            let turn = math::into_frame(&self.above.matrix3, math::axis_angle(axis, part));
            let wanted = math::normalize(math::mul(turn, root.rotation));
            if root.limits.is_within(wanted) {
                root.rotation = wanted;
                return true;
            }
            part *= 0.5;
        }
        false
    }

    /// Moves the root's joint to a position in model space.
    pub fn move_root(&mut self, position: Vec3) {
        let local = self.above.inverse().transform_point3(position);
        if local.is_finite() && (self.place(0) - position).length_squared() > self.rounding * self.rounding {
            let before = self.links[0].offset;
            self.links[0].offset = local;
            // Next to the largest numbers, the resulting position may overflow.
            if self.place(0).is_finite() {
                self.links[0].base = local;
            } else {
                self.links[0].offset = before;
            }
        }
    }

    /// Translates the root so that the root, or the end, comes to a position in model space.
    pub fn lead_to(&mut self, position: Vec3, end: bool) {
        // Twice, as the first leaves the rounding of a long displacement.
        for _ in 0..2 {
            let now = if end { self.end() } else { self.place(0) };
            let local = self.above.matrix3.inverse() * (position - now);
            if local.is_finite() {
                self.links[0].offset += local;
            }
        }
    }

    /// Lengthens every bone below the root by one factor from 1 to `max_factor`, relative to the saved lengths `from`.
    /// Chooses the factor that brings the end nearest to a position in model space. Joints that slide keep their
    /// translations.
    pub fn stretch_towards(&mut self, position: Vec3, from: &[(Quat, Vec3)], max_factor: f32) {
        self.stretch_to(from, 1.0);
        let short = self.end();
        self.stretch_to(from, max_factor);
        // The end moves along a line or, if 0 / 0 gives NaN (and `max` ignores it), not at all.
        let displacement = self.end() - short;
        let part = ((position - short).dot(displacement) / displacement.length_squared()).max(0.0);
        if part < 1.0 {
            self.stretch_to(from, 1.0 + (max_factor - 1.0) * part);
        }
    }

    /// Lengthens every bone below the root by a factor, relative to the saved lengths. Joints that slide keep theirs.
    pub fn stretch_to(&mut self, from: &[(Quat, Vec3)], factor: f32) {
        for (link, (_, offset)) in self.links.iter_mut().zip(from).skip(1).filter(|(l, _)| !l.limits.slides())
        {
            link.offset = *offset * factor;
        }
    }

    /// Rotation of the tip in model space.
    pub fn tip_rotation(&self) -> Quat {
        let below = math::mul(self.links[0].rotation, self.tip_turn_of(0));
        math::mul(math::rotation_of(&self.above.matrix3), below)
    }

    /// Saves all rotations and translations.
    pub fn keep(&self, into: &mut Vec<(Quat, Vec3)>) {
        into.clear();
        into.extend(self.links.iter().map(|l| (l.rotation, l.offset)));
    }

    /// Whether no joint has turned by more than `angle` radians (a small angle), or slid by more than that share of the
    /// chain's length, from its saved state.
    pub fn rests(&self, from: &[(Quat, Vec3)], angle: f32) -> bool {
        // The chord between unit quaternions is half the angle.
        let (turn, way) = (0.5 * angle, angle * self.length());
        self.links.iter().zip(from).all(|(link, from)| {
            let turned =
                (link.rotation - from.0).length_squared().min((link.rotation + from.0).length_squared());
            let slid = (link.offset - from.1).length_squared() * link.unit * link.unit;
            turned <= turn * turn && slid <= way * way
        })
    }

    /// Restores saved rotations and translations.
    pub fn put(&mut self, from: &[(Quat, Vec3)]) {
        for (link, kept) in self.links.iter_mut().zip(from) {
            (link.rotation, link.offset) = *kept;
        }
    }

    /// Blends by `weight` from the current state to a saved one, in joint coordinates.
    pub fn blend_to(&mut self, to: &[(Quat, Vec3)], weight: f32) {
        for (i, (link, (rotation, offset))) in self.links.iter_mut().zip(to).enumerate() {
            if link.rotation != *rotation {
                link.rotation = link.limits.blend(link.rotation, *rotation, weight);
            }
            if i > 0 && link.offset != *offset && !link.limits.slides() {
                // A weighted sum of two vectors along one bone keeps its direction, however much longer one of them is.
                // Their difference would carry the rounding of the longer one.
                link.offset = link.offset * (1.0 - weight) + *offset * weight;
            } else {
                link.offset += (*offset - link.offset) * weight;
            }
        }
    }
}

/// Rotation part of a scale's signs. The signs equal a rotation (a half turn or none) times 1 or -1. A factor of -1,
/// like a size, turns nothing: mirrored frames count as rotations with a negative size, as in [`math::rotation_of`].
pub(crate) fn signs(scale: Vec3) -> Quat {
    match (scale.x < 0.0, scale.y < 0.0, scale.z < 0.0) {
        (false, false, false) | (true, true, true) => Quat::IDENTITY,
        (true, false, false) | (false, true, true) => Quat::from_xyzw(1.0, 0.0, 0.0, 0.0),
        (false, true, false) | (true, false, true) => Quat::from_xyzw(0.0, 1.0, 0.0, 0.0),
        (false, false, true) | (true, true, false) => Quat::from_xyzw(0.0, 0.0, 1.0, 0.0),
    }
}
