//! Chains in the plane: bones, angles, limits.

use alloc::vec::Vec;
use core::f32::consts::PI;

use glam::Vec2;
use thiserror::Error;

use super::{angle, distance, length, turned, unit, wrap};
use crate::{math, solve::branch};

/// Convention for a joint's angle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AngleConvention2d {
    /// Angle from the parent's direction to the joint's own: 0 for a straight joint. All functions of this module take
    /// it.
    #[default]
    Straight,
    /// Angle from the direction back to the parent to the joint's own, like the inner angle of a triangle: 0 for a
    /// folded joint.
    Folded,
}

impl AngleConvention2d {
    /// Converts an angle from [`Straight`](Self::Straight) to this convention; in (-pi, pi].
    ///
    /// ```
    /// use sinew::planar::AngleConvention2d;
    /// let right = std::f32::consts::FRAC_PI_2;
    /// assert!((AngleConvention2d::Folded.write(0.5) - (0.5 - std::f32::consts::PI)).abs() < 1e-6);
    /// assert!((AngleConvention2d::Folded.read(AngleConvention2d::Folded.write(right)) - right).abs() < 1e-6);
    /// ```
    pub fn write(self, straight: f32) -> f32 {
        match self {
            Self::Straight => wrap(straight),
            Self::Folded => wrap(straight + PI),
        }
    }

    /// Converts an angle from this convention to [`Straight`](Self::Straight); in (-pi, pi].
    pub fn read(self, written: f32) -> f32 {
        // Half a turn is its own inverse.
        self.write(written)
    }
}

/// Error in a chain, a goal or an option.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Chain2dError {
    /// A chain needs a bone.
    #[error("a chain needs at least one bone")]
    Empty,
    /// A position holds NaN or an infinity.
    #[error("{what} is not finite: {value}")]
    NotFinite {
        /// Name of the position.
        what: &'static str,
        /// Its value.
        value: Vec2,
    },
    /// A value of a joint is outside its range.
    #[error("joint {joint}: {what} must be {range}, not {value}")]
    Joint {
        /// Index of the joint in the chain, 0 at the root.
        joint: usize,
        /// Name of the value.
        what: &'static str,
        /// Allowed range.
        range: &'static str,
        /// Value given.
        value: f32,
    },
    /// A limit ends before it starts.
    #[error("joint {joint}: limits must not start above their end, but go from {from} to {to}")]
    Limits {
        /// Index of the joint in the chain, 0 at the root.
        joint: usize,
        /// Start of the range, in radians.
        from: f32,
        /// End of the range, in radians.
        to: f32,
    },
    /// An option or a length is outside its range.
    #[error("{what} must be {range}, not {value}")]
    OutOfRange {
        /// Name of the value.
        what: &'static str,
        /// Allowed range.
        range: &'static str,
        /// Value given.
        value: f32,
    },
}

pub(super) fn finite(what: &'static str, value: Vec2) -> Result<(), Chain2dError> {
    if value.is_finite() { Ok(()) } else { Err(Chain2dError::NotFinite { what, value }) }
}

pub(super) fn within(
    what: &'static str,
    range: &'static str,
    value: f32,
    low: f32,
    high: f32,
) -> Result<(), Chain2dError> {
    // The comparison is false for NaN too.
    if value >= low && value <= high { Ok(()) } else { Err(Chain2dError::OutOfRange { what, range, value }) }
}

/// Bone, with the joint at its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone2d {
    /// Length, in the unit of positions; 0 or more.
    pub length: f32,
    /// Angle in radians from the parent bone's direction (of the first bone: from [`Chain2d::base`]) to this one's,
    /// counter-clockwise positive.
    pub angle: f32,
    /// Range of the angle in radians, within (-pi, pi); `None` for no limits. An input angle outside it never moves
    /// further outside.
    pub limits: Option<(f32, f32)>,
    /// Preferred angle in radians, within the limits. Solvers bend towards it where nothing else decides: for a
    /// straight chain with its goal on the line, and at a restart.
    pub preferred: Option<f32>,
}

impl Bone2d {
    /// A straight bone without limits.
    pub const fn new(length: f32) -> Self {
        Self { length, angle: 0.0, limits: None, preferred: None }
    }

    /// Sets the angle, in radians.
    pub const fn with_angle(self, angle: f32) -> Self {
        Self { angle, ..self }
    }

    /// Sets the limits, in radians.
    pub const fn with_limits(self, from: f32, to: f32) -> Self {
        Self { limits: Some((from, to)), ..self }
    }

    /// Sets the preferred angle, in radians.
    pub const fn with_preferred(self, angle: f32) -> Self {
        Self { preferred: Some(angle), ..self }
    }

    fn check(&self, joint: usize) -> Result<(), Chain2dError> {
        let number = |what, range, value, ok: bool| {
            if ok { Ok(()) } else { Err(Chain2dError::Joint { joint, what, range, value }) }
        };
        // Squares of larger lengths overflow.
        number("the length", "0 to 1e18", self.length, (0.0..=1e18).contains(&self.length))?;
        // Beyond, f32 resolves an angle to worse than a milliradian.
        number("the angle", "finite (below 1e4)", self.angle, self.angle.abs() < 1e4)?;
        if let Some((from, to)) = self.limits {
            for (what, value) in [("the start of the limits", from), ("the end of the limits", to)] {
                number(what, "within (-pi, pi)", value, value > -PI && value < PI)?;
            }
            if from > to {
                return Err(Chain2dError::Limits { joint, from, to });
            }
        }
        if let Some(preferred) = self.preferred {
            let (from, to) = self.limits.unwrap_or((-PI, PI));
            number("the preferred angle", "in its limits", preferred, preferred >= from && preferred <= to)?;
        }
        Ok(())
    }
}

/// Chain in the plane, root first.
///
/// ```
/// use sinew::planar::{Bone2d, Chain2d, Options2d};
/// use sinew::glam::Vec2;
///
/// let elbow = Bone2d::new(0.8).with_limits(-2.5, 0.0);
/// let mut arm = Chain2d::new(Vec2::ZERO, &[Bone2d::new(1.0), elbow, Bone2d::new(0.3).with_limits(-1.0, 1.0)])?;
/// let report = arm.solve(Vec2::new(0.9, 0.8), &Options2d::default())?;
/// assert!(report.position_residual < 1e-3);
/// assert!(arm.end().distance(Vec2::new(0.9, 0.8)) < 1e-3);
/// assert!((-2.5..=0.0).contains(&arm.bones()[1].angle));
/// # Ok::<(), sinew::planar::Chain2dError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chain2d {
    /// Position of the first joint.
    pub root: Vec2,
    /// Direction in radians, counter-clockwise from X, from which the first bone's angle is measured.
    pub base: f32,
    pub(super) bones: Vec<Bone2d>,
    pub(super) work: Work,
}

/// Compares root, base and bones; buffers do not count.
impl PartialEq for Chain2d {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root && self.base == other.base && self.bones == other.bones
    }
}

/// Buffers of a solve.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    /// Positions of the joints, and of the end.
    pub positions: Vec<Vec2>,
    /// Unit directions of the bones.
    pub directions: Vec<Vec2>,
    /// Limits, widened to contain the input angles.
    pub spans: Vec<(f32, f32)>,
    /// Input lengths.
    pub lengths: Vec<f32>,
    /// Input angles, the best angles since the last restart, the choice among all restarts so far, and the angles
    /// before a step.
    pub initial: Vec<f32>,
    pub best: Vec<f32>,
    pub chosen: Vec<f32>,
    pub kept: Vec<f32>,
    /// Whether each joint rests at a limit.
    pub held: Vec<bool>,
}

impl Chain2d {
    /// Returns the chain of these bones. Allocates; solving does not.
    ///
    /// # Errors
    ///
    /// Returns an error for no bones, a root that is not finite, and a bone with a value outside its range.
    pub fn new(root: Vec2, bones: &[Bone2d]) -> Result<Self, Chain2dError> {
        finite("the root's position", root)?;
        if bones.is_empty() {
            return Err(Chain2dError::Empty);
        }
        bones.iter().enumerate().try_for_each(|(i, bone)| bone.check(i))?;
        let n = bones.len();
        let work = Work {
            positions: alloc::vec![Vec2::ZERO; n + 1],
            directions: alloc::vec![Vec2::X; n],
            spans: alloc::vec![(0.0, 0.0); n],
            initial: alloc::vec![0.0; n],
            lengths: alloc::vec![0.0; n],
            best: alloc::vec![0.0; n],
            chosen: alloc::vec![0.0; n],
            kept: alloc::vec![0.0; n],
            held: alloc::vec![false; n],
        };
        Ok(Self { root, base: 0.0, bones: bones.to_vec(), work })
    }

    /// Bones, root first.
    pub fn bones(&self) -> &[Bone2d] {
        &self.bones
    }

    /// Replaces one bone. Returns an error if a value of the bone is outside its range. Ignores an index past the last
    /// bone.
    pub fn set_bone(&mut self, index: usize, bone: Bone2d) -> Result<(), Chain2dError> {
        bone.check(index)?;
        if let Some(slot) = self.bones.get_mut(index) {
            *slot = bone;
        }
        Ok(())
    }

    /// Positions of the joints, root first, and finally of the end.
    pub fn positions(&self) -> impl Iterator<Item = Vec2> {
        let (mut at, mut way) = (self.root, unit(self.base));
        core::iter::once(self.root).chain(self.bones.iter().map(move |bone| {
            way = turned(way, unit(bone.angle));
            at += way * bone.length;
            at
        }))
    }

    /// Position of the chain's end.
    pub fn end(&self) -> Vec2 {
        self.positions().last().unwrap_or(self.root)
    }

    /// Sum of the bones' lengths.
    pub fn length(&self) -> f32 {
        self.bones.iter().map(|b| b.length).sum()
    }

    /// Length by which other lengths are divided: that of the chain, but never zero.
    pub(super) fn size(&self) -> f32 {
        self.length().max(f32::MIN_POSITIVE)
    }

    /// Distance by which a position lies outside the reach of the bones' lengths (too far or too near), whatever the
    /// limits; 0 within reach.
    pub fn out_of_reach(&self, position: Vec2) -> f32 {
        let (reach, longest) = (self.length(), self.bones.iter().map(|b| b.length).fold(0.0, f32::max));
        let x = distance(self.root, position);
        (x - reach).max(2.0 * longest - reach - x).clamp(0.0, f32::MAX)
    }

    /// Computes positions and directions.
    pub(super) fn walk(&mut self) {
        let (mut at, mut way) = (self.root, unit(self.base));
        self.work.positions[0] = at;
        for (i, bone) in self.bones.iter().enumerate() {
            way = turned(way, unit(bone.angle));
            // Normalise against the rounding of a hundred products.
            way /= length(way);
            at += way * bone.length;
            self.work.directions[i] = way;
            self.work.positions[i + 1] = at;
        }
    }

    /// Points each bone, from the root outward and as far as limits allow, in the direction of `wanted`, given the
    /// bone's index and its joint's position. A bone with a zero vector keeps its angle.
    pub(super) fn point_bones(&mut self, wanted: impl Fn(&Self, usize, Vec2) -> Vec2) {
        let (mut at, mut ahead) = (self.root, unit(self.base));
        for i in 0..self.bones.len() {
            let wanted = wanted(self, i, at);
            if wanted != Vec2::ZERO {
                self.put(i, angle(ahead, wanted));
            }
            ahead = turned(ahead, unit(self.bones[i].angle));
            at += ahead * self.bones[i].length;
        }
    }

    /// Sets a joint to the nearest angle on the circle that its limits allow.
    pub(super) fn put(&mut self, joint: usize, angle: f32) {
        self.bones[joint].angle = nearest(self.work.spans[joint], angle);
    }

    /// Whether the branch changed since the input. `displacement` is that of the end of a chain of length `size`;
    /// `turned` is the turn of the last bone, if the task has a direction.
    pub(super) fn changed(&self, displacement: Vec2, size: f32, turned: f32) -> bool {
        let turn = self
            .bones
            .iter()
            .zip(&self.work.initial)
            .map(|(bone, &initial)| wrap(bone.angle - initial).abs());
        let moved = if size > 0.0 { length(displacement / size) } else { 0.0 };
        branch::changed(turn.fold(0.0, f32::max), moved, turned)
    }

    /// Saves the input angles and lengths, and the limits widened to contain the input.
    pub(super) fn begin(&mut self) -> Result<(), Chain2dError> {
        finite("the root's position", self.root)?;
        within("the base's direction", "finite (below 1e4)", self.base, -1e4, 1e4)?;
        for (i, bone) in self.bones.iter().enumerate() {
            (self.work.initial[i], self.work.lengths[i]) = (bone.angle, bone.length);
            self.work.spans[i] = match bone.limits {
                Some((from, to)) => {
                    let here = wrap(bone.angle);
                    (from.min(here), to.max(here))
                }
                None => (f32::NEG_INFINITY, f32::INFINITY),
            };
        }
        Ok(())
    }

    pub(super) fn keep(bones: &[Bone2d], into: &mut [f32]) {
        for (kept, bone) in into.iter_mut().zip(bones) {
            *kept = bone.angle;
        }
    }

    pub(super) fn restore(bones: &mut [Bone2d], from: &[f32]) {
        for (bone, kept) in bones.iter_mut().zip(from) {
            bone.angle = *kept;
        }
    }
}

/// Angle within a range that is nearest on the circle.
pub(super) fn nearest((from, to): (f32, f32), angle: f32) -> f32 {
    let angle = wrap(angle);
    if (from..=to).contains(&angle) {
        return angle;
    }
    if wrap(from - angle).abs() < wrap(angle - to).abs() { from } else { to }
}

/// Rounding error of positions of the chain in f32.
pub(super) fn rounding(chain: &Chain2d) -> f32 {
    let root = chain.root.abs().max_element();
    3e-7 * (root + chain.length()) * math::sqrt(1.0 + 0.05 * chain.bones.len() as f32)
}
