//! Root motion: the travel of a clip, taken out of it so that the placement of the character carries it.

use alloc::{string::String, vec::Vec};

use glam::{Affine3, DMat3, DQuat, DVec3, Mat3, Quat, Vec3};
use thiserror::Error;

use super::{Clip, Interpolation, Track, TrackError, clip::round_of};
use crate::{JointId, Pose, math, math64};

/// Errors of taking root motion out of a clip.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RootMotionError {
    /// The joint, or a joint of the clip, is not one of the pose's skeleton.
    #[error("there is no joint {joint} in the skeleton of {count} joints")]
    NoSuchJoint {
        /// The joint.
        joint: JointId,
        /// Number of joints in the skeleton.
        count: usize,
    },
    /// The clip moves a joint above the joint. Take the motion out at that joint.
    #[error(
        "the clip moves joint {ancestor} `{name}` above joint {joint}; take its root motion out at `{name}`"
    )]
    MovingAncestor {
        /// The joint.
        joint: JointId,
        /// The joint above it.
        ancestor: JointId,
        /// Name of the joint above it.
        name: String,
    },
    /// The frame above the joint is not finite or has a scale of zero, or its scales differ so that yaw would shear the joint.
    #[error(
        "the frame above joint {joint} must be invertible, and must not shear where yaw is taken out: {frame}"
    )]
    Frame {
        /// The joint.
        joint: JointId,
        /// Linear part of the frame in model space.
        frame: Mat3,
    },
    /// A key without the motion is not finite.
    #[error(transparent)]
    Track(#[from] TrackError),
}

/// Largest error in radians that linear keys of yaw and of the remaining rotation may add between keys.
const TOLERANCE: f32 = 4e-7;
/// Most linear keys in place of one: the root of a quarter turn over the tolerance is 2,000, but no clip turns so in a key.
const MAX_KEYS: f32 = 256.0;
/// Largest part of an axis that yaw may shear away: the rounding of a frame below several joints.
const SHEAR: f64 = 1e-5;

/// The horizontal travel, and the yaw if wanted, of a clip: a motion about the vertical (Y) in model space, which begins with
/// the identity at the clip's start.
///
/// [`RootMotion::travel`] and [`RootMotion::travel_and_yaw`] return the clip without the motion as well. That clip, placed by
/// [`RootMotion::at`], is the clip as it was: for the joint and all joints below it. The joint's height and tilt stay in the
/// clip. Joints elsewhere in the skeleton move with the placement.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{JointTransform, Pose, Skeleton, glam::Vec3};
/// use sinew::motion::{Clip, Interpolation, JointTracks, RootMotion, Track};
/// let mut b = Skeleton::builder();
/// b.add("hips", None, JointTransform::from_translation(Vec3::Y));
/// let (skeleton, joints) = b.build()?;
/// let way = Track::new(vec![0.0, 0.5], vec![Vec3::Y, Vec3::new(0.0, 1.0, 0.7)], Interpolation::Linear)?;
/// let tracks = JointTracks { translation: Some(way), ..JointTracks::new(joints[0]) };
/// let walk = Clip::new("walk", &skeleton, vec![tracks])?;
///
/// let mut pose = Pose::rest(&Arc::new(skeleton));
/// let (on_the_spot, motion) = RootMotion::travel(&walk, &pose, joints[0])?;
/// on_the_spot.sample_looped(1.25, &mut pose); // two rounds and a half
/// assert!(pose.position(joints[0]).distance(Vec3::Y) < 1e-6);
/// assert!(motion.at_looped(1.25).translation.distance(Vec3::Z * 1.75) < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias("root motion extraction", "in place"))]
#[derive(Clone, Debug, PartialEq)]
pub struct RootMotion {
    start: f32,
    end: f32,
    /// Position of the joint in model space at the start, of which only the horizontal part counts.
    place: Vec3,
    /// Horizontal position of the joint in model space, if the clip moves it.
    path: Option<Track<Vec3>>,
    /// Yaw from the start, in radians and not wrapped.
    yaw: Option<Track<f32>>,
}

impl RootMotion {
    /// Takes the horizontal travel of a joint, the root or the pelvis, out of a clip. Returns the clip without it, and the
    /// travel. `rest` places the joints that the clip does not move.
    ///
    /// The clip's keys and interpolation stay. A joint that the clip does not move has the identity as its motion.
    ///
    /// # Errors
    ///
    /// - [`RootMotionError::NoSuchJoint`] if the pose has another skeleton, with too few joints.
    /// - [`RootMotionError::MovingAncestor`] if the clip moves a joint above it.
    /// - [`RootMotionError::Frame`] if the frame above the joint cannot be inverted.
    /// - [`RootMotionError::Track`] if numbers overflow.
    pub fn travel(clip: &Clip, rest: &Pose, joint: JointId) -> Result<(Clip, Self), RootMotionError> {
        Self::taken(clip, rest, joint, false)
    }

    /// [`RootMotion::travel`] with the yaw of the joint: its twist about the vertical, since the clip's start. Where the joint
    /// is upside down from its start, which leaves yaw undefined, yaw stays as it was before.
    ///
    /// The joint gets linear keys of rotation, more than before where it tilts as it turns, so that the two together are the
    /// rotation as it was between keys too.
    ///
    /// # Errors
    ///
    /// Those of [`RootMotion::travel`]; [`RootMotionError::Frame`] also if unequal scales above the joint would shear it.
    pub fn travel_and_yaw(clip: &Clip, rest: &Pose, joint: JointId) -> Result<(Clip, Self), RootMotionError> {
        Self::taken(clip, rest, joint, true)
    }

    fn taken(clip: &Clip, rest: &Pose, joint: JointId, turns: bool) -> Result<(Clip, Self), RootMotionError> {
        let (skeleton, count) = (rest.skeleton(), rest.skeleton().len());
        let joints = clip.tracks().iter().map(|t| t.joint).chain([joint]);
        if let Some(joint) = joints.into_iter().find(|j| j.index() >= count) {
            return Err(RootMotionError::NoSuchJoint { joint, count });
        }
        let mut above =
            clip.tracks().iter().filter(|t| t.joint != joint && skeleton.is_below(joint, t.joint));
        if let Some(ancestor) = above.find(|t| t.moves()).map(|t| t.joint) {
            let name = skeleton.name(ancestor).into();
            return Err(RootMotionError::MovingAncestor { joint, ancestor, name });
        }
        let mut pose = rest.clone();
        clip.sample(clip.start(), &mut pose);
        pose.update();
        let frame = skeleton.parent(joint).map_or(Affine3::IDENTITY, |above| pose.model(above));
        let (frame, origin) = (frame.matrix3, frame.translation.as_dvec3());
        let (linear, inverse) = (frame.as_dmat3(), frame.as_dmat3().inverse());
        if !(linear.is_finite() && inverse.is_finite()) {
            return Err(RootMotionError::Frame { joint, frame });
        }

        let mut clip = clip.clone();
        let (start, end) = (clip.start(), clip.end());
        let mut motion = Self { start, end, place: pose.position(joint), path: None, yaw: None };
        // The last track of a joint is the one that shows.
        if let Some(track) = clip
            .tracks
            .iter_mut()
            .filter(|t| t.joint == joint)
            .filter_map(|t| t.translation.as_mut())
            .next_back()
        {
            let level = DVec3::new(1.0, 0.0, 1.0);
            let flat = |v: Vec3| (linear * v.as_dvec3()) * level;
            let cubic = track.interpolation() == Interpolation::Cubic;
            let first = flat(track.sample(start));
            // Tangents are displacements; keys keep their first place.
            let is_key = |i: usize| !cubic || i % 3 == 1;
            let stays = |(i, &v): (usize, &Vec3)| {
                let away = if is_key(i) { flat(v) - first } else { flat(v) };
                (v.as_dvec3() - inverse * away).as_vec3()
            };
            let left = track.values().iter().enumerate().map(stays).collect();
            let position = |(i, &v): (usize, &Vec3)| {
                (flat(v) + if is_key(i) { origin * level } else { DVec3::ZERO }).as_vec3()
            };
            let path = track.values().iter().enumerate().map(position).collect();
            motion.path = Some(Track::new(track.times().to_vec(), path, track.interpolation())?);
            *track = Track::new(track.times().to_vec(), left, track.interpolation())?;
        }
        let mut rotation =
            clip.tracks.iter_mut().filter(|t| t.joint == joint).filter_map(|t| t.rotation.as_mut());
        if let Some(track) = rotation.next_back().filter(|_| turns) {
            let axis = turning_axis(&linear, &inverse).ok_or(RootMotionError::Frame { joint, frame })?;
            let (left, yaw) = without_yaw(track, axis, start)?;
            (*track, motion.yaw) = (left, Some(yaw));
        }
        Ok((clip, motion))
    }

    /// The motion from the clip's start to `time`, in seconds and clamped to the clip as in [`Clip::sample`]: the transform
    /// that places the clip without its motion, applied before the character's own placement.
    pub fn at(&self, time: f32) -> Affine3 {
        self.within(time).to_affine()
    }

    /// The motion from the clip's start to `time` where the clip plays in a loop, as in [`Clip::sample_looped`]: each round
    /// begins where and as the one before ended. Rounds are computed at once, not summed, so that no error grows with their
    /// number; `f32` bounds the accuracy of late times. Before the start it goes backward.
    pub fn at_looped(&self, time: f32) -> Affine3 {
        let (rounds, time) = round_of(self.start, self.end, time);
        self.within(self.end).power(rounds).then(&self.within(time)).to_affine()
    }

    fn within(&self, time: f32) -> Turn {
        let level = self.place.with_y(0.0);
        let position = |time| self.path.as_ref().map_or(level, |p| p.sample(time)).as_dvec3();
        let yaw = self.yaw.as_ref().map_or(0.0, |y| f64::from(y.sample(time)));
        let turn = Turn { yaw, shift: DVec3::ZERO };
        Turn { shift: position(time) - turn.rotate(position(self.start)), ..turn }
    }
}

/// A turn about the vertical, in radians, then a horizontal displacement.
struct Turn {
    yaw: f64,
    shift: DVec3,
}

impl Turn {
    fn rotate(&self, v: DVec3) -> DVec3 {
        math64::axis_angle(DVec3::Y, self.yaw) * v
    }

    /// `other` first, then this.
    fn then(&self, other: &Self) -> Self {
        Self { yaw: self.yaw + other.yaw, shift: self.rotate(other.shift) + self.shift }
    }

    /// This turn `n` times, or its inverse for negative `n`. The shifts, turned by 0, 1, ... n - 1 times the yaw, are a
    /// geometric series of complex numbers: its sum is sin(n yaw / 2) / sin(yaw / 2), turned by (n - 1) yaw / 2.
    fn power(&self, n: f64) -> Self {
        let turn = core::f64::consts::TAU;
        let half = 0.5 * (self.yaw - turn * math64::round(self.yaw / turn));
        let (s, _) = math64::sin_cos(half);
        let factor = if s == 0.0 { n } else { math64::sin_cos(n * half).0 / s };
        let middle = Self { yaw: (n - 1.0) * half, shift: DVec3::ZERO };
        Self { yaw: n * 2.0 * half, shift: middle.rotate(self.shift) * factor }
    }

    fn to_affine(&self) -> Affine3 {
        Affine3 {
            matrix3: math64::axis_angle(DVec3::Y, self.yaw).as_mat3(),
            translation: self.shift.as_vec3(),
        }
    }
}

/// The axis in the joint's parent about which a turn is yaw in model space. `None` if such turns shear.
fn turning_axis(linear: &DMat3, inverse: &DMat3) -> Option<DVec3> {
    let up = *inverse * DVec3::Y;
    let axis = up / math64::sqrt(up.length_squared()) * if linear.determinant() < 0.0 { -1.0 } else { 1.0 };
    let wanted = *inverse * math64::axis_angle(DVec3::Y, 1.0) * *linear;
    let off = math64::axis_angle(axis, 1.0) - wanted;
    let keeps = |c: DVec3| c.length_squared() < SHEAR * SHEAR;
    (keeps(off.x_axis) && keeps(off.y_axis) && keeps(off.z_axis)).then_some(axis)
}

/// A rotation track without its turn about `axis` since `start`, and that turn in radians.
fn without_yaw(
    track: &Track<Quat>,
    axis: DVec3,
    start: f32,
) -> Result<(Track<Quat>, Track<f32>), TrackError> {
    let rotation = |time: f32| math64::normalize(math::normalize(track.sample(time)).as_dquat());
    let by = |angle: f32| {
        let (s, c) = math64::sin_cos(0.5 * f64::from(angle));
        DQuat::from_xyzw(axis.x * s, axis.y * s, axis.z * s, c)
    };
    let first = rotation(start).conjugate();
    // Yaw at a time next to one with the yaw `before`, and the rotation that is left.
    let split = |time: f32, before: f32| {
        let turned = rotation(time) * first;
        let twist = DVec3::new(turned.x, turned.y, turned.z).dot(axis);
        let tau = core::f32::consts::TAU;
        let mut yaw = before;
        if twist * twist + turned.w * turned.w > 1e-6 {
            let angle = 2.0 * math::atan2(twist as f32, turned.w as f32);
            yaw = angle + tau * math::floor((before - angle) / tau + 0.5);
        }
        (yaw, (by(-yaw) * rotation(time)).as_quat())
    };
    let (mut times, mut left, mut yaws) = (Vec::new(), Vec::new(), Vec::new());
    let mut push = |time: f32, (yaw, rest): (f32, Quat)| {
        // Rounding may put a key between two neighbouring times on one of them.
        if times.last().is_none_or(|&t| t < time) {
            times.push(time);
            yaws.push(yaw);
            left.push(rest);
        }
    };
    let step = track.interpolation() == Interpolation::Step;
    let mut now = split(track.times()[0], 0.0);
    push(track.times()[0], now);
    for ends in track.times().windows(2) {
        let at = |share: f32| ends[0] * (1.0 - share) + ends[1] * share;
        let next = split(ends[1], now.0);
        let error = |share: f32| {
            let yaw = now.0 * (1.0 - share) + next.0 * share;
            let shown = by(yaw) * math::slerp(now.1, next.1, share).as_dquat();
            let off = rotation(at(share)).conjugate() * shown;
            2.0 * math64::sqrt(off.x * off.x + off.y * off.y + off.z * off.z) as f32
        };
        let worst = [0.25, 0.5, 0.75].map(error).into_iter().fold(0.0, f32::max);
        // The error of linear keys falls with their distance squared.
        let keys = if step { 1.0 } else { math::ceil(math::sqrt(worst / TOLERANCE)).clamp(1.0, MAX_KEYS) };
        for key in 1..keys as u32 {
            now = split(at(key as f32 / keys), now.0);
            push(at(key as f32 / keys), now);
        }
        now = split(ends[1], now.0);
        push(ends[1], now);
    }
    let kind = if step { Interpolation::Step } else { Interpolation::Linear };
    Ok((Track::new(times.clone(), left, kind)?, Track::new(times, yaws, kind)?))
}
