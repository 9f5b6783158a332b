//! One placement of a skeleton, in local and in model space.

use alloc::{string::String, sync::Arc, vec::Vec};

use glam::{Affine3, Quat, Vec3, Vec4, Vec4Swizzles};
use thiserror::Error;

use crate::{JointId, Skeleton, Transform, math};

/// What is wrong with a pose.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PoseError {
    /// A local transform holds NaN or an infinity.
    #[error("joint {joint} `{name}` has a local transform that is not finite: {local:?}")]
    NotFinite {
        /// The joint.
        joint: JointId,
        /// Its name.
        name: String,
        /// The transform.
        local: Transform,
    },
}

/// A placement of every joint of a [`Skeleton`]: local transforms, and the model-space frames that follow from them.
///
/// Setting a local transform marks the joint; [`Pose::update`] then recomputes model space for the marked joints and what
/// hangs below them, and nothing else. Reading [`Pose::model`] is right at any time: a joint below a marked one is computed
/// on the spot.
#[derive(Clone, Debug)]
pub struct Pose {
    skeleton: Arc<Skeleton>,
    local: Vec<Transform>,
    model: Vec<Affine3>,
    /// See [`Pose::extent`].
    extent: Vec<f32>,
    /// Joints whose local transform changed after `model` was computed.
    marked: Vec<bool>,
    /// Place of the first marked joint; the joint count where none is.
    first: usize,
}

impl Pose {
    /// The rest pose. This allocates; everything else here does not.
    pub fn rest(skeleton: &Arc<Skeleton>) -> Self {
        let local: Vec<_> = skeleton.joints().map(|j| *skeleton.rest(j)).collect();
        let count = local.len();
        let mut pose = Self {
            skeleton: skeleton.clone(),
            local,
            model: alloc::vec![Affine3::IDENTITY; count],
            extent: alloc::vec![0.0; count],
            marked: alloc::vec![true; count],
            first: 0,
        };
        pose.update();
        pose
    }

    /// The skeleton that this is a pose of.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// Local transform of a joint.
    #[inline]
    pub fn local(&self, joint: JointId) -> &Transform {
        &self.local[joint.index()]
    }

    /// Every local transform, in the skeleton's order.
    pub fn locals(&self) -> &[Transform] {
        &self.local
    }

    /// Places a joint in its parent's frame.
    #[inline]
    pub fn set_local(&mut self, joint: JointId, local: Transform) {
        self.local[joint.index()] = local;
        self.mark(joint);
    }

    /// Sets the local rotation (a unit quaternion) alone.
    #[inline]
    pub fn set_rotation(&mut self, joint: JointId, rotation: Quat) {
        self.local[joint.index()].rotation = rotation;
        self.mark(joint);
    }

    /// Sets the local translation alone.
    #[inline]
    pub fn set_translation(&mut self, joint: JointId, translation: Vec3) {
        self.local[joint.index()].translation = translation;
        self.mark(joint);
    }

    /// Back to the rest pose.
    pub fn reset(&mut self) {
        for j in self.skeleton.joints() {
            self.local[j.index()] = *self.skeleton.rest(j);
        }
        self.marked.fill(true);
        self.first = 0;
        self.update();
    }

    /// Takes over another pose of the same skeleton, without allocating.
    pub fn copy_from(&mut self, other: &Pose) {
        self.local.copy_from_slice(&other.local);
        self.model.copy_from_slice(&other.model);
        self.extent.copy_from_slice(&other.extent);
        self.marked.copy_from_slice(&other.marked);
        self.first = other.first;
    }

    #[inline]
    fn mark(&mut self, joint: JointId) {
        self.marked[joint.index()] = true;
        self.first = self.first.min(joint.index());
    }

    /// Every frame in model space as of the last [`Pose::update`], and every local transform to write to. Joints that are written
    /// to must be marked by [`Pose::changed_below`].
    #[inline]
    pub(crate) fn parts(&mut self) -> (&[Affine3], &mut [Transform]) {
        (&self.model, &mut self.local)
    }

    /// Says that local transforms of this joint and of joints below it changed, and of no others.
    #[inline]
    pub(crate) fn changed_below(&mut self, joint: JointId) {
        self.mark(joint);
    }

    /// Recomputes model space below the joints that were set since the last call.
    pub fn update(&mut self) {
        let count = self.local.len();
        let mut i = self.first;
        while i < count {
            if !self.marked[i] {
                i += 1;
                continue;
            }
            // The whole subtree moves with its marked root; depth-first order makes it one run.
            let Some(joint) = self.skeleton.joint(i) else { break };
            let end = self.skeleton.subtree(joint).end;
            // Down a chain, each joint's parent is the joint before it, whose frame is still at hand.
            let (mut at, mut last, mut above) = (usize::MAX, Frame::IDENTITY, 0.0);
            for k in i..end {
                let parent = self.skeleton.joint(k).and_then(|j| self.skeleton.parent(j));
                let parent = parent.map_or(usize::MAX, JointId::index);
                if parent != at {
                    match self.model.get(parent) {
                        Some(frame) => (last, above) = (Frame::new(frame), self.extent[parent]),
                        None => (last, above) = (Frame::IDENTITY, 0.0),
                    }
                }
                last = match parent {
                    usize::MAX => Frame::new(&self.local[k].to_affine()),
                    _ => last.below(&self.local[k]),
                };
                above = farthest(above, last.0[3]);
                self.model[k] = last.to_affine();
                self.extent[k] = above;
                self.marked[k] = false;
                at = k;
            }
            i = end;
        }
        self.first = count;
    }

    /// The joint's frame in model space.
    #[inline]
    pub fn model(&self, joint: JointId) -> Affine3 {
        if self.first > joint.index() {
            return self.model[joint.index()];
        }
        self.model_now(joint)
    }

    /// The frame as the local transforms have it now: from the nearest ancestor above every marked one.
    #[cold]
    fn model_now(&self, joint: JointId) -> Affine3 {
        let highest = core::iter::successors(Some(joint), |&j| self.skeleton.parent(j))
            .filter(|j| self.marked[j.index()])
            .last();
        let Some(highest) = highest else { return self.model[joint.index()] };
        let mut frame = Affine3::IDENTITY;
        for j in core::iter::successors(Some(joint), |&j| self.skeleton.parent(j)) {
            frame = compose(&self.local[j.index()].to_affine(), &frame);
            if j == highest {
                break;
            }
        }
        match self.skeleton.parent(highest) {
            Some(p) => compose(&self.model[p.index()], &frame),
            None => frame,
        }
    }

    /// The frame of the joint's parent in model space; the identity for a root.
    #[inline]
    pub fn parent_model(&self, joint: JointId) -> Affine3 {
        self.skeleton.parent(joint).map_or(Affine3::IDENTITY, |p| self.model(p))
    }

    /// The joint's place in model space.
    #[inline]
    pub fn position(&self, joint: JointId) -> Vec3 {
        self.model(joint).translation
    }

    /// The largest coordinate, without its sign, of the places in model space of the joint and of all above it, as of the last
    /// [`Pose::update`]. What f32 makes of a joint's place is uncertain by some 1e-7 of this, however near to the origin the
    /// joint itself is.
    #[inline]
    pub fn extent(&self, joint: JointId) -> f32 {
        self.extent[joint.index()]
    }

    /// The joint's rotation in model space, free of scale (a mirrored frame counts as a negative uniform scale).
    #[inline]
    pub fn model_rotation(&self, joint: JointId) -> Quat {
        math::rotation_of(&self.model(joint).matrix3)
    }

    /// Turns a joint, and all below it, about its own place by a rotation that is given in model space.
    #[inline]
    pub fn turn(&mut self, joint: JointId, delta: Quat) {
        let frame = self.parent_model(joint).matrix3;
        let local = self.local[joint.index()].rotation;
        let rotation = math::normalize(math::mul(math::into_frame(&frame, delta), local));
        self.set_rotation(joint, rotation);
    }

    /// Turns a joint about its own place so that [`Pose::model_rotation`] becomes `rotation`.
    #[inline]
    pub fn set_model_rotation(&mut self, joint: JointId, rotation: Quat) {
        let now = self.model_rotation(joint);
        self.turn(joint, math::mul(rotation, math::conjugate(now)));
    }

    /// Moves a joint, and all below it, to a place in model space. Where a parent's scale is zero, nothing moves.
    pub fn set_position(&mut self, joint: JointId, position: Vec3) {
        let parent = self.parent_model(joint);
        let local = parent.inverse().transform_point3(position);
        if local.is_finite() {
            self.set_translation(joint, local);
        }
    }

    /// An error that names the first joint whose local transform is not finite.
    pub fn check_finite(&self) -> Result<(), PoseError> {
        match self.skeleton.joints().find(|j| !self.local[j.index()].is_finite()) {
            None => Ok(()),
            Some(joint) => Err(PoseError::NotFinite {
                joint,
                name: self.skeleton.name(joint).into(),
                local: self.local[joint.index()],
            }),
        }
    }
}

/// The largest of `most` and the components of a place without their signs. (`f32::max` spends six instructions on NaN.)
#[inline(always)]
fn farthest(most: f32, place: Vec4) -> f32 {
    let v = place.abs();
    let max = |a: f32, b: f32| if a > b { a } else { b };
    max(max(most, v.x), max(v.y, v.z))
}

/// A frame with its columns in lanes of four, so that a column takes one instruction. Lanes never mix: the bits are those of
/// [`compose`].
#[derive(Clone, Copy)]
struct Frame([Vec4; 4]);

impl Frame {
    const IDENTITY: Self = Self([Vec4::X, Vec4::Y, Vec4::Z, Vec4::ZERO]);

    #[inline(always)]
    fn new(frame: &Affine3) -> Self {
        let m = &frame.matrix3;
        Self([m.x_axis, m.y_axis, m.z_axis, frame.translation].map(|v| v.extend(0.0)))
    }

    /// The frame of a joint whose parent's this is.
    #[inline(always)]
    fn below(&self, local: &Transform) -> Self {
        let [a, b, c, at] = self.0;
        let apply = |v: Vec3| a * v.x + b * v.y + c * v.z;
        let [mut x, mut y, mut z] = columns(local.rotation);
        let s = local.scale;
        // Most joints have none, and a factor of 1 changes no bit.
        if s != Vec3::ONE {
            (x, y, z) = (x * s.x, y * s.y, z * s.z);
        }
        let apply4 = |v: Vec4| a * v.xxxx() + b * v.yyyy() + c * v.zzzz();
        Self([apply4(x), apply4(y), apply4(z), apply(local.translation) + at])
    }

    #[inline(always)]
    fn to_affine(self) -> Affine3 {
        let [x, y, z, at] = self.0.map(Vec4::truncate);
        Affine3 { matrix3: glam::Mat3::from_cols(x, y, z), translation: at }
    }
}

/// The columns of [`math::to_matrix`], each sum in its lane. (What is in the last lanes is not used.)
#[inline(always)]
fn columns(q: Quat) -> [Vec4; 3] {
    let q = Vec4::new(q.x, q.y, q.z, q.w);
    let q2 = q + q;
    // xy + wz and the like: a sum or a difference of two products. On the diagonal, 1 less the sum of two squares.
    let x = q.yxxx() * q2.yyzw() + q.zwww() * q2.zzyw() * Vec4::new(1.0, 1.0, -1.0, 1.0);
    let y = q.xxyx() * q2.yxzw() + q.wzww() * q2.zzxw() * Vec4::new(-1.0, 1.0, 1.0, 1.0);
    let z = q.xyxx() * q2.zzxw() + q.wwyw() * q2.yxyw() * Vec4::new(1.0, -1.0, 1.0, 1.0);
    [x.with_x(1.0 - x.x), y.with_y(1.0 - y.y), z.with_z(1.0 - z.z)]
}

/// `a * b` in one order of operations on every build.
#[inline(always)]
fn compose(a: &Affine3, b: &Affine3) -> Affine3 {
    let m = &a.matrix3;
    let apply = |v: Vec3| m.x_axis * v.x + m.y_axis * v.y + m.z_axis * v.z;
    Affine3 {
        matrix3: glam::Mat3::from_cols(
            apply(b.matrix3.x_axis),
            apply(b.matrix3.y_axis),
            apply(b.matrix3.z_axis),
        ),
        translation: apply(b.translation) + a.translation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two branches of two joints below one root.
    fn pose() -> Pose {
        let mut b = Skeleton::builder();
        let t = Transform::from_translation(Vec3::Y);
        let root = b.add("root", None, Transform { scale: Vec3::splat(0.01), ..t });
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
        let tip = pose.skeleton().joint(2).unwrap();
        let q = math::normalize(Quat::from_xyzw(0.1, 0.5, -0.3, 0.7));
        pose.set_model_rotation(tip, q);
        pose.update();
        assert!(math::angle_between(pose.model_rotation(tip), q) < 1e-3);
        pose.set_position(tip, Vec3::new(0.3, 0.2, 0.1));
        pose.update();
        assert!((pose.position(tip) - Vec3::new(0.3, 0.2, 0.1)).length() < 1e-6);
    }
}
