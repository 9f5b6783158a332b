//! A pose of a skeleton, in local and in model space.

use alloc::{string::String, sync::Arc, vec::Vec};
use core::ops::Range;

use glam::{Affine3, Mat3, Mat4, Quat, Vec3, Vec4, Vec4Swizzles};
use thiserror::Error;

use crate::{JointId, JointTransform, Skeleton, TransformFault, math, skeleton::ROOT};

/// Errors of poses.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PoseError {
    /// A local transform is not finite, or its rotation is not close to a unit quaternion.
    #[error("the local transform of joint {joint} `{name}` {fault}")]
    Local {
        /// The joint.
        joint: JointId,
        /// The joint's name.
        name: String,
        /// The fault.
        #[source]
        fault: TransformFault,
    },
    /// A local scale is zero along an axis. Nothing below it can be aimed or reach a goal.
    #[error(
        "joint {joint} `{name}` has the local scale {scale}; a scale of zero is not allowed above a joint that a solver moves"
    )]
    ZeroScale {
        /// The joint.
        joint: JointId,
        /// The joint's name.
        name: String,
        /// The local scale.
        scale: Vec3,
    },
    /// The number of local transforms differs from the number of joints.
    #[error("{given} local transforms were given for {joints} joints")]
    Count {
        /// Number of local transforms given.
        given: usize,
        /// Number of joints in the skeleton.
        joints: usize,
    },
    /// The poses to blend belong to different skeletons.
    #[error("the other pose has another skeleton, with {given} joints (this one has {joints})")]
    OtherSkeleton {
        /// Number of joints in the other skeleton. Where the numbers are equal, the joints differ.
        given: usize,
        /// Number of joints in this pose's skeleton.
        joints: usize,
    },
    /// The blend's influence is NaN or outside 0 to 1.
    #[error("the influence of a blend must be 0 to 1, not {0}")]
    Influence(f32),
}

/// A pose of a [`Skeleton`]: the local transform of each joint, and the model-space frames that follow from them.
///
/// Setting a local transform marks the joint. [`Pose::update`] recomputes model space for the marked joints and all joints
/// below them, and for no others. [`Pose::model`] is correct at any time: it computes frames at or below a marked joint on
/// the spot.
///
/// # Writing back
///
/// [`Pose::changed`] lists the joints whose local transforms differ from those at the last [`Pose::mark_unchanged`]. Call
/// `mark_unchanged` when the pose equals the transforms of the game's own nodes: after reading the pose from them or
/// writing it to them.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{JointTransform, Pose, Skeleton, glam::{Quat, Vec3}};
/// let mut builder = Skeleton::builder();
/// let hip = builder.add("hip", None, JointTransform::IDENTITY);
/// builder.add("knee", Some(hip), JointTransform::from_translation(-Vec3::Y));
/// let (skeleton, joints) = builder.build()?;
/// let mut pose = Pose::rest(&Arc::new(skeleton));
/// let mut nodes = pose.locals().to_vec(); // the game's own nodes, animated by the game
/// nodes[1].rotation = Quat::from_rotation_x(0.3);
///
/// // Each frame: read, solve, write back.
/// pose.set_locals(&nodes)?;
/// pose.mark_unchanged();
/// pose.turn(joints[0], Quat::from_rotation_z(0.1)); // in place of solvers
/// assert_eq!(pose.changed().collect::<Vec<_>>(), [joints[0]]);
/// for joint in pose.changed() {
///     nodes[joint.index()] = *pose.local(joint);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A pose refers to its skeleton and cannot be serialised by itself. Store [`Pose::locals`] and restore them with
/// [`Pose::set_locals`].
#[derive(Clone, Debug)]
pub struct Pose {
    skeleton: Arc<Skeleton>,
    local: Vec<JointTransform>,
    /// Local transforms at the last [`Pose::mark_unchanged`]. A flag per write would cost every write, and would also list
    /// joints that a solver changed and then restored.
    unchanged: Vec<JointTransform>,
    model: Vec<Frame>,
    /// Largest absolute coordinates, in model space, among the positions of each joint and its ancestors; see
    /// [`Pose::extent`].
    extent: Vec<Vec4>,
    /// Joints whose local transform changed after `model` was computed.
    marked: Vec<bool>,
    /// Index of the first marked joint; the joint count if none is marked.
    first: usize,
}

impl Pose {
    /// The rest pose, with no joint [`changed`](Self::changed). This and `clone` allocate; no other method does.
    pub fn rest(skeleton: &Arc<Skeleton>) -> Self {
        let local: Vec<_> = skeleton.joints().map(|j| *skeleton.rest(j)).collect();
        let count = local.len();
        let mut pose = Self {
            skeleton: skeleton.clone(),
            unchanged: local.clone(),
            local,
            model: alloc::vec![Frame::IDENTITY; count],
            extent: alloc::vec![Vec4::ZERO; count],
            marked: alloc::vec![true; count],
            first: 0,
        };
        pose.update();
        pose
    }

    /// The skeleton of this pose.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// Local transform of a joint.
    #[inline]
    pub fn local(&self, joint: JointId) -> &JointTransform {
        &self.local[joint.index()]
    }

    /// Every local transform, in the skeleton's order.
    pub fn locals(&self) -> &[JointTransform] {
        &self.local
    }

    /// Sets the local transform of a joint.
    #[inline]
    pub fn set_local(&mut self, joint: JointId, local: JointTransform) {
        self.local[joint.index()] = local;
        self.mark(joint);
    }

    /// Sets the local rotation of a joint. It should be a unit quaternion; [`Pose::update`] normalises others.
    #[inline]
    pub fn set_rotation(&mut self, joint: JointId, rotation: Quat) {
        self.local[joint.index()].rotation = rotation;
        self.mark(joint);
    }

    /// Sets the local translation of a joint, in the parent's units.
    #[inline]
    pub fn set_translation(&mut self, joint: JointId, translation: Vec3) {
        self.local[joint.index()].translation = translation;
        self.mark(joint);
    }

    /// Sets all local transforms, in the skeleton's order, and recomputes model space. Rotations are normalised as by
    /// [`Pose::update`].
    ///
    /// # Errors
    ///
    /// The pose stays unchanged on an error:
    /// - [`PoseError::Count`] if the number of transforms is not the number of joints.
    /// - [`PoseError::Local`] if a transform is not finite, or the squared length of a rotation is outside 0.25 to 4.
    pub fn set_locals(&mut self, locals: &[JointTransform]) -> Result<(), PoseError> {
        if locals.len() != self.local.len() {
            return Err(PoseError::Count { given: locals.len(), joints: self.local.len() });
        }
        self.skeleton.joints().zip(locals).try_for_each(|(j, local)| self.check_local(j, local))?;
        self.local.copy_from_slice(locals);
        self.update_all();
        Ok(())
    }

    /// Blends every joint towards another pose of the same skeleton and recomputes model space. An influence of 0 keeps the
    /// pose's bits; an influence of 1 gives the other pose.
    ///
    /// Translations and scales are interpolated linearly. Joints that turn freely follow the shorter arc. Limited joints
    /// are interpolated in the coordinates of their limits ([`Coordinates`](crate::joint::Coordinates)): between two
    /// poses within limits, every blend is within limits. The ends of limbs are not held: to keep a foot on the ground,
    /// solve after the blend.
    ///
    /// # Errors
    ///
    /// The pose stays unchanged on an error:
    /// - [`PoseError::OtherSkeleton`] if the skeletons differ.
    /// - [`PoseError::Influence`] if `influence` is NaN or outside 0 to 1.
    /// - [`PoseError::Local`] if a local transform of either pose is invalid.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use sinew::{JointTransform, Pose, PoseError, Skeleton, glam::Vec3};
    /// # let mut builder = Skeleton::builder();
    /// # builder.add("hips", None, JointTransform::IDENTITY);
    /// # let (skeleton, joints) = builder.build().unwrap();
    /// let mut pose = Pose::rest(&Arc::new(skeleton));
    /// let mut jump = pose.clone();
    /// jump.set_translation(joints[0], Vec3::new(0.0, 2.0, 0.0));
    /// pose.blend(&jump, 0.25)?;
    /// assert_eq!(pose.position(joints[0]).y, 0.5);
    /// assert_eq!(pose.blend(&jump, 1.5), Err(PoseError::Influence(1.5)));
    /// # Ok::<(), PoseError>(())
    /// ```
    #[doc(alias("lerp", "mix", "crossfade"))]
    pub fn blend(&mut self, other: &Pose, influence: f32) -> Result<(), PoseError> {
        if !Arc::ptr_eq(&self.skeleton, &other.skeleton) && self.skeleton != other.skeleton {
            return Err(PoseError::OtherSkeleton { given: other.local.len(), joints: self.local.len() });
        }
        if !(0.0..=1.0).contains(&influence) {
            return Err(PoseError::Influence(influence));
        }
        self.check_rotations()?;
        other.check_rotations()?;
        self.update();
        for joint in self.skeleton.joints() {
            let (from, mut to) = (&mut self.local[joint.index()], other.local[joint.index()]);
            to.rotation = math::unit(to.rotation).unwrap_or(to.rotation);
            if *from != to && influence > 0.0 {
                let rotation = self.skeleton.limits(joint).blend(from.rotation, to.rotation, influence);
                let translation = from.translation.lerp(to.translation, influence);
                *from = JointTransform { translation, rotation, scale: from.scale.lerp(to.scale, influence) };
            }
        }
        self.update_all();
        Ok(())
    }

    /// The joints whose local transforms differ from those at the last [`Pose::mark_unchanged`] (initially the rest
    /// pose), parents before children. Every cause counts: solvers, setters, clips, and the normalisation in
    /// [`Pose::update`]. A joint that was restored to its former transform is not listed.
    pub fn changed(&self) -> impl Iterator<Item = JointId> {
        self.skeleton.joints().filter(|j| self.local[j.index()] != self.unchanged[j.index()])
    }

    /// Makes the current local transforms the reference of [`Pose::changed`]. A clone copies the reference;
    /// [`Pose::copy_from`] keeps it.
    pub fn mark_unchanged(&mut self) {
        self.unchanged.copy_from_slice(&self.local);
    }

    /// Resets every joint to the rest pose.
    pub fn reset(&mut self) {
        for j in self.skeleton.joints() {
            self.local[j.index()] = *self.skeleton.rest(j);
        }
        self.update_all();
    }

    fn update_all(&mut self) {
        self.marked.fill(true);
        self.first = 0;
        self.update();
    }

    /// Copies another pose of the same skeleton without allocating. Panics if the joint counts differ.
    pub fn copy_from(&mut self, other: &Pose) {
        self.local.copy_from_slice(&other.local);
        self.model.copy_from_slice(&other.model);
        self.extent.copy_from_slice(&other.extent);
        self.marked.copy_from_slice(&other.marked);
        self.first = other.first;
    }

    /// Marks the subtree of a joint as changed.
    #[inline]
    pub(crate) fn mark(&mut self, joint: JointId) {
        self.marked[joint.index()] = true;
        self.first = self.first.min(joint.index());
    }

    /// All model-space frames as of the last [`Pose::update`], and all local transforms for writing. After writing, mark
    /// each written joint, or a common ancestor, with [`Pose::mark`].
    #[inline]
    pub(crate) fn parts(&mut self) -> (&[Frame], &mut [JointTransform]) {
        (&self.model, &mut self.local)
    }

    /// Recomputes model space at and below the joints that were set since the last call.
    ///
    /// Normalises rotations whose squared length differs from 1 by more than 1e-6, if it is within 0.25 to 4.
    pub fn update(&mut self) {
        let count = self.local.len();
        let mut i = self.first;
        while i < count {
            if !self.marked[i] {
                i += 1;
                continue;
            }
            // The subtree moves with its marked root; depth-first order makes it one contiguous range.
            let Some(joint) = self.skeleton.joint_at(i) else { break };
            let end = self.update_below(joint);
            self.marked[i..end].fill(false);
            i = end;
        }
        self.first = count;
    }

    /// Recomputes model space at and below a joint. Returns one past the index of the last joint of its subtree.
    fn update_below(&mut self, joint: JointId) -> usize {
        let subtree = self.skeleton.subtree(joint);
        let end = subtree.end;
        let off = self.forward_kinematics(subtree.clone());
        // Numbers that are not finite need no check here: they propagate into the frames.
        if off > 2.0 * math::UNIT {
            self.normalize_subtree(subtree);
        }
        end
    }

    /// Forward kinematics of a subtree, from its local transforms. Returns the maximum deviation of a rotation from unit
    /// length, as [`Frame::below`] measures it.
    fn forward_kinematics(&mut self, subtree: Range<usize>) -> f32 {
        // Slices of equal length let the compiler drop bounds checks.
        let end = subtree.end;
        let (local, model) = (&self.local[..end], &mut self.model[..end]);
        let (extent, parents) = (&mut self.extent[..end], &self.skeleton.parents()[..end]);
        // Down a chain each joint's parent is the joint before it, whose frame is still in registers.
        let (mut at, mut last, mut above) = (ROOT, Frame::IDENTITY, Vec4::ZERO);
        let mut max_off = Vec4::ZERO;
        for k in subtree {
            let parent = parents[k];
            if parent != at {
                let parent = parent as usize;
                (last, above) = match (model.get(parent), extent.get(parent)) {
                    (Some(frame), Some(extent)) => (*frame, *extent),
                    _ => (Frame::IDENTITY, Vec4::ZERO),
                };
            }
            let off;
            (last, off) = last.below(&local[k]);
            max_off = max_off.max(off);
            above = above.max(last.at.abs());
            model[k] = last;
            extent[k] = above;
            at = k as u32;
        }
        max_off.x
    }

    /// Normalises the rotations of a subtree and recomputes its frames. Sets `at.w` to NaN for joints whose rotation
    /// cannot be normalised, and so for all joints below them.
    #[cold]
    fn normalize_subtree(&mut self, subtree: Range<usize>) {
        for local in &mut self.local[subtree.clone()] {
            local.rotation = math::unit(local.rotation).unwrap_or(local.rotation);
        }
        self.forward_kinematics(subtree.clone());
        for k in subtree.clone() {
            let parent = self.skeleton.parents()[k] as usize;
            let below = subtree.contains(&parent) && self.model[parent].at.w.is_nan();
            if below || math::unit(self.local[k].rotation).is_none() {
                self.model[k].at.w = f32::NAN;
            }
        }
    }

    /// The joint's frame in model space. Up to date at any time.
    #[inline]
    pub fn model(&self, joint: JointId) -> Affine3 {
        if self.first > joint.index() {
            return self.model[joint.index()].to_affine();
        }
        self.model_now(joint)
    }

    /// Computes the joint's frame from the current local transforms, starting at the highest marked ancestor.
    #[cold]
    fn model_now(&self, joint: JointId) -> Affine3 {
        let highest = core::iter::successors(Some(joint), |&j| self.skeleton.parent(j))
            .filter(|j| self.marked[j.index()])
            .last();
        let Some(highest) = highest else { return self.model[joint.index()].to_affine() };
        let mut frame = Affine3::IDENTITY;
        for j in core::iter::successors(Some(joint), |&j| self.skeleton.parent(j)) {
            let local = self.local[j.index()];
            let rotation = math::unit(local.rotation).unwrap_or(local.rotation);
            frame = JointTransform { rotation, ..local }.to_affine() * frame;
            if j == highest {
                break;
            }
        }
        match self.skeleton.parent(highest) {
            Some(p) => self.model[p.index()].to_affine() * frame,
            None => frame,
        }
    }

    /// The frame of the joint's parent in model space; the identity for a root.
    #[inline]
    pub fn parent_model(&self, joint: JointId) -> Affine3 {
        self.skeleton.parent(joint).map_or(Affine3::IDENTITY, |p| self.model(p))
    }

    /// The frame of the joint's parent, or the identity, as of the last [`Pose::update`].
    #[inline]
    pub(crate) fn parent_frame(&self, joint: JointId) -> Frame {
        self.skeleton.parent(joint).map_or(Frame::IDENTITY, |p| self.model[p.index()])
    }

    /// The joint's frame, and the largest absolute coordinates that [`Pose::extent`] is the maximum of, as of the last
    /// [`Pose::update`].
    pub(crate) fn frame_and_extent(&self, joint: JointId) -> (Frame, Vec4) {
        (self.model[joint.index()], self.extent[joint.index()])
    }

    /// The joint's position in model space.
    #[inline]
    pub fn position(&self, joint: JointId) -> Vec3 {
        if self.first > joint.index() {
            return self.model[joint.index()].at.truncate();
        }
        self.model_now(joint).translation
    }

    /// The sum of the displacements from a point to joints, in model space.
    pub(crate) fn sum_of_displacements(&self, from: Vec3, joints: &[JointId]) -> Vec3 {
        if self.first < self.model.len() {
            return joints.iter().map(|&j| self.position(j) - from).sum();
        }
        let from = from.extend(0.0);
        joints.iter().fold(Vec4::ZERO, |sum, j| sum + (self.model[j.index()].at - from)).truncate()
    }

    /// Whether a solver can work with the joint's frame: it is finite, and every joint from the skeleton's root to this
    /// one has a valid rotation and no scale of zero. Conservative: true only if the last [`Pose::update`] established
    /// it and no number is near overflow. [`Pose::check_above`] reports the exact error.
    #[inline]
    pub(crate) fn is_sound(&self, joint: JointId) -> bool {
        let frame = &self.model[joint.index()];
        let sum = frame.x.abs() + frame.y.abs() + frame.z.abs() + frame.at.abs();
        self.first > joint.index() && sum.cmplt(Vec4::INFINITY).all()
    }

    /// Whether no joint from the skeleton's root to this one has a scale. Conservative: true only if the last
    /// [`Pose::update`] established it.
    #[inline]
    pub(crate) fn unscaled(&self, joint: JointId) -> bool {
        self.first > joint.index() && self.model[joint.index()].at.w == 0.0
    }

    /// Whether the joint's frame in an updated pose is [sound](Self::is_sound) and a rotation with a positive scale, as all
    /// frames above it. Each number of a rotation is in the frame's first axis, whose last lane is NaN where one is not
    /// finite.
    #[inline(always)]
    pub(crate) fn is_plain(&self, joint: JointId) -> bool {
        let Frame { x, at, .. } = self.model[joint.index()];
        (at.x + at.y + at.z).abs() < f32::INFINITY && x.w + at.w < 1.0
    }

    /// Runs `solve` with the parent's frame of `joint` as model space, for the joint and all below it. `inverse` is the
    /// inverse of the linear part of the parent's frame. The pose must be up to date on entry and is up to date on
    /// return.
    #[cold]
    pub(crate) fn seen_from_parent<R>(
        &mut self,
        joint: JointId,
        inverse: &Mat3,
        solve: impl FnOnce(&mut Pose) -> R,
    ) -> R {
        let Some(parent) = self.skeleton.parent(joint).map(JointId::index) else { return solve(self) };
        let kept = (self.model[parent], self.extent[parent]);
        // Uncertainty of positions in model space carries over to goals converted from there.
        let columns = Mat3::from_cols(inverse.x_axis.abs(), inverse.y_axis.abs(), inverse.z_axis.abs());
        self.model[parent] = Frame::IDENTITY;
        self.extent[parent] = (columns * kept.1.truncate()).extend(0.0);
        self.mark(joint);
        self.update();
        let solved = solve(self);
        (self.model[parent], self.extent[parent]) = kept;
        self.mark(joint);
        self.update();
        solved
    }

    /// The largest absolute model-space coordinate among the positions of the joint and its ancestors, as of the last
    /// [`Pose::update`]. Rounding to f32 makes the joint's position uncertain by about 1e-7 of this, however near the origin
    /// the joint is.
    #[inline]
    pub fn extent(&self, joint: JointId) -> f32 {
        let v = self.extent[joint.index()];
        // `f32::max` spends six instructions on NaN.
        let max = |a: f32, b: f32| if a > b { a } else { b };
        max(max(v.x, v.y), v.z)
    }

    /// The joint's rotation in model space, without scale. A mirrored frame is read as one with negative uniform scale.
    #[inline]
    pub fn model_rotation(&self, joint: JointId) -> Quat {
        math::rotation_of(&self.model(joint).matrix3)
    }

    /// Rotates a joint, and all joints below it, about the joint's position by `delta`, a rotation in model space.
    #[inline]
    pub fn turn(&mut self, joint: JointId, delta: Quat) {
        let frame = self.parent_model(joint).matrix3;
        let local = self.local[joint.index()].rotation;
        let rotation = math::normalize(math::mul(math::into_frame(&frame, delta), local));
        self.set_rotation(joint, rotation);
    }

    /// Calls [`turn`](Self::turn) for `middle`, then for `root` above it, and updates the pose: in an updated pose with
    /// [plain](Self::is_plain) frames.
    #[inline(always)]
    pub(crate) fn turn_plain(&mut self, [root, middle]: [JointId; 2], [by_root, by_middle]: [Quat; 2]) {
        for (joint, delta) in [(middle, by_middle), (root, by_root)] {
            let parent = self.parent_frame(joint);
            let rotation = &mut self.local[joint.index()].rotation;
            *rotation = parent.turned(*rotation, delta);
        }
        self.update_below(root);
    }

    /// The local rotation of a joint after [`turn`](Self::turn), in an updated pose with [plain](Self::is_plain) frames.
    #[inline(always)]
    pub(crate) fn turned_plain(&self, joint: JointId, delta: Quat) -> Quat {
        let (above, local) = (self.parent_frame(joint), self.local[joint.index()].rotation);
        // The last lane counts joints with a scale.
        if above.at.w != 0.0 {
            return above.turned(local, delta);
        }
        let (d, m) = (Vec3::new(delta.x, delta.y, delta.z), above.linear());
        let v = Vec3::new(m.x_axis.dot(d), m.y_axis.dot(d), m.z_axis.dot(d));
        math::normalize(math::mul(Quat::from_vec4(v.extend(delta.w)), local))
    }

    /// Sets the local rotations of `root` and of `middle` below it, and updates the pose, which was up to date.
    #[inline(always)]
    pub(crate) fn set_plain(&mut self, [root, middle]: [JointId; 2], rotations: [Quat; 2]) {
        for (joint, rotation) in [root, middle].into_iter().zip(rotations) {
            self.local[joint.index()].rotation = rotation;
        }
        self.update_below(root);
    }

    /// Rotates a joint about its position so that [`Pose::model_rotation`] returns `rotation`.
    #[inline]
    pub fn set_model_rotation(&mut self, joint: JointId, rotation: Quat) {
        let now = self.model_rotation(joint);
        self.turn(joint, math::mul(rotation, math::conjugate(now)));
    }

    /// Moves a joint, and all joints below it, to a position in model space. Does nothing if an ancestor's scale is zero.
    pub fn set_position(&mut self, joint: JointId, position: Vec3) {
        let parent = self.parent_model(joint);
        let local = parent.inverse().transform_point3(position);
        if local.is_finite() {
            self.set_translation(joint, local);
        }
    }

    /// Checks that every local transform is finite; the error names the first joint that fails.
    pub fn check_finite(&self) -> Result<(), PoseError> {
        match self.skeleton.joints().find(|j| !self.local[j.index()].is_finite()) {
            None => Ok(()),
            Some(joint) => self.check_local(joint, self.local(joint)),
        }
    }

    /// Checks that every local transform is finite and has a valid rotation; the error names the first joint that fails.
    pub(crate) fn check_rotations(&self) -> Result<(), PoseError> {
        self.skeleton.joints().try_for_each(|j| self.check_local(j, self.local(j)))
    }

    /// Checks that a solver can work with `joint` and its ancestors; the error names the nearest joint that fails. The
    /// scale of `joint` itself is checked only if `scaled`.
    pub(crate) fn check_above(&self, joint: JointId, scaled: bool) -> Result<(), PoseError> {
        for j in core::iter::successors(Some(joint), |&j| self.skeleton.parent(j)) {
            self.check_local(j, self.local(j))?;
            let scale = self.local[j.index()].scale;
            if scale.cmpeq(Vec3::ZERO).any() && (scaled || j != joint) {
                return Err(PoseError::ZeroScale { joint: j, name: self.skeleton.name(j).into(), scale });
            }
        }
        Ok(())
    }

    fn check_local(&self, joint: JointId, local: &JointTransform) -> Result<(), PoseError> {
        let named = |fault| PoseError::Local { joint, name: self.skeleton.name(joint).into(), fault };
        local.unit_rotation().map(drop).map_err(named)
    }
}

/// Count of a joint whose scale is the same along its axes, from 1e-4 to 1e4: up to three such joints are less than one
/// other, and f32 holds the squares of their product.
const EVENLY: f32 = 0.25;

/// A frame in model space, its columns padded to four lanes so that a column takes one instruction. Lanes never mix, so the
/// bits are those of [`Affine3`]'s product.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// Columns of the linear part. The last lane is 0, or NaN if the joint or an ancestor is not finite.
    pub x: Vec4,
    pub y: Vec4,
    pub z: Vec4,
    /// The joint's position. The last lane counts the joints with a scale, from the skeleton's root to this one, those with
    /// an even one by [`EVENLY`]; it is NaN if one of them has no valid rotation or a scale of zero. [`Frame::below`] adds
    /// products of the columns' last lanes to it; these are 0.
    pub at: Vec4,
}

impl Frame {
    pub const IDENTITY: Self = Self { x: Vec4::X, y: Vec4::Y, z: Vec4::Z, at: Vec4::ZERO };

    /// The frame of a child, with this frame as its parent's. The vector's first lane is twice the difference from 1 of the
    /// squared length of the child's rotation.
    ///
    /// The columns of [`math::to_matrix`] are lanes of three vectors: d the diagonal, p = (yz + wx, xz + wy, xy + wz),
    /// and m the same with differences. The first lane of d holds two of the quaternion's squares. The last lane, which
    /// no column uses, holds the other two.
    #[inline(always)]
    pub fn below(&self, local: &JointTransform) -> (Self, Vec4) {
        let q = local.rotation;
        let q = Vec4::new(q.x, q.y, q.z, q.w);
        let q2 = q + q;
        let squares = q * q2;
        let products = q.yxxw() * q2.zzyw();
        let turns = q.wwww() * q2;
        let mut d = Vec4::ONE - (squares.yxxx() + squares.zzyw());
        let off = (d + d.wwww()).abs();
        let (mut p, mut m) = (products + turns, products - turns);
        let mut above = self.at;
        // Most joints have no scale, and a factor of 1 changes no bits.
        let s = local.scale;
        let one = 1.0f32.to_bits();
        if s.x.to_bits() != one || s.y.to_bits() != one || s.z.to_bits() != one {
            d *= Vec4::new(s.x, s.y, s.z, 1.0);
            p *= Vec4::new(s.y, s.z, s.x, 1.0);
            m *= Vec4::new(s.z, s.x, s.y, 1.0);
            above.w += match s {
                _ if s.cmpeq(Vec3::ZERO).any() => f32::NAN,
                _ if s.x == s.y && s.x == s.z && (1e-4..1e4).contains(&s.x) => EVENLY,
                _ => 1.0,
            };
        }
        let apply = |x: Vec4, y: Vec4, z: Vec4| self.x * x + self.y * y + self.z * z;
        let at = local.translation;
        let frame = Self {
            x: apply(d.xxxx(), p.zzzz(), m.yyyy()),
            y: apply(m.zzzz(), d.yyyy(), p.xxxx()),
            z: apply(p.yyyy(), m.xxxx(), d.zzzz()),
            at: apply(Vec4::splat(at.x), Vec4::splat(at.y), Vec4::splat(at.z)) + above,
        };
        (frame, off)
    }

    /// The rotation of a child with the local rotation `local`, turned by `delta` in model space, both unit quaternions,
    /// where this frame is a rotation with a positive scale. The sums are those of [`math::into_frame`], [`math::mul`] and
    /// [`math::normalize`], side by side in lanes.
    #[inline]
    fn turned(&self, local: Quat, delta: Quat) -> Quat {
        let rows = Mat4::from_cols(self.x, self.y, self.z, Vec4::ZERO).transpose();
        let (a, b, c) = (rows.x_axis, rows.y_axis, rows.z_axis);
        // Squared lengths of the columns.
        let squares = a * a + b * b + c * c;
        let k = 1.0 / math::sqrt((squares.x + squares.y + squares.z) / 3.0);
        let d = Vec4::from(delta);
        let v = (a * d.xxxx() + b * d.yyyy() + c * d.zzzz()) * k;
        let q = math::mul(Quat::from_vec4(v.truncate().extend(d.w)), local);
        Quat::from_vec4(Vec4::from(q) * (1.0 / math::sqrt(math::dot(q, q))))
    }

    /// The linear part.
    #[inline(always)]
    pub fn linear(&self) -> Mat3 {
        Mat3::from_cols(self.x.truncate(), self.y.truncate(), self.z.truncate())
    }

    #[inline(always)]
    fn to_affine(self) -> Affine3 {
        Affine3 { matrix3: self.linear(), translation: self.at.truncate() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two branches of two joints below one root.
    fn pose() -> Pose {
        let mut b = Skeleton::builder();
        let t = JointTransform::from_translation(Vec3::Y);
        let root = b.add("root", None, JointTransform { scale: Vec3::splat(0.01), ..t });
        for side in ["l", "r"] {
            let upper = b.add(side, Some(root), t);
            b.add(side, Some(upper), t);
        }
        Pose::rest(&Arc::new(b.build().unwrap().0))
    }

    #[test]
    fn reading_before_update_gives_what_update_gives() {
        let mut pose = pose();
        let joints: Vec<_> = pose.skeleton().joints().collect();
        pose.set_rotation(joints[3], math::axis_angle(Vec3::Z, 0.3));
        pose.set_rotation(joints[0], math::axis_angle(Vec3::X, 0.7));
        let before: Vec<_> = joints.iter().map(|&j| pose.model(j)).collect();
        pose.update();
        for (j, b) in joints.iter().zip(before) {
            let now = pose.model(*j);
            assert!((now.translation - b.translation).length() < 1e-6);
            assert!((now.matrix3.x_axis - b.matrix3.x_axis).length() < 1e-6);
        }
    }

    #[test]
    fn a_change_on_one_branch_keeps_the_other_branch_s_bits() {
        let mut pose = pose();
        let joints: Vec<_> = pose.skeleton().joints().collect();
        let other = pose.model(joints[4]);
        pose.turn(joints[1], math::axis_angle(Vec3::X, 1.0));
        pose.update();
        assert_eq!(pose.model(joints[4]), other);
        assert!(pose.position(joints[2]).z > 0.005);
    }

    #[test]
    fn turning_in_model_space_holds_under_scale() {
        let mut pose = pose();
        let tip = pose.skeleton().joint_at(2).unwrap();
        let q = math::normalize(Quat::from_xyzw(0.1, 0.5, -0.3, 0.7));
        pose.set_model_rotation(tip, q);
        pose.update();
        assert!(math::angle_between(pose.model_rotation(tip), q) < 1e-3);
        pose.set_position(tip, Vec3::new(0.3, 0.2, 0.1));
        pose.update();
        assert!((pose.position(tip) - Vec3::new(0.3, 0.2, 0.1)).length() < 1e-6);
    }
}
