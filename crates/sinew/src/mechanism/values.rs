//! Conversion between values of a mechanism and poses of a skeleton.

use alloc::vec::Vec;

use glam::{DMat3, DVec3, Quat, Vec3};

use super::{
    Mechanism, ValuesError,
    angles::{about, angles_within, on_turn, twist},
    ball::{coordinates, turned},
    dof::{DofKind, frame_of, swung},
};
use crate::{
    JointId, JointTransform, Pose,
    joint::{Joint, Range, TOLERANCE, Turning, direction},
    math64,
};

/// Rotation of a skeleton's joint in the mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turn {
    /// Own rotation is fixed.
    None,
    /// Own rotation = `held` * (turn about the axis).
    Hinge { axis: DVec3, held: DMat3 },
    /// Own rotation = turns about these axes in order. An angle without a degree of freedom is fixed.
    Axes { axes: [usize; 3], angles: [Option<f64>; 3] },
    /// Own rotation = `before` * (swing - centre, and twist) * `frame`^-1.
    Ball { before: DMat3, frame: DMat3, centre: [f64; 2] },
    /// Own rotation = the rotation of a rotation vector.
    Vector,
}

impl Turn {
    /// Returns the rotation of a joint with no held rotation.
    pub fn of(joint: &Joint) -> Self {
        match joint.turning {
            Turning::Fixed => Self::None,
            Turning::Free => Self::Vector,
            Turning::Hinge { axis, .. } => Self::Hinge { axis: direction(axis), held: DMat3::IDENTITY },
            Turning::Axes { order, angles } => {
                let axes = order.axes();
                Self::Axes { axes, angles: axes.map(|n| angles[n].is_none().then_some(0.0)) }
            }
            Turning::Ball { swing, .. } if swing[0].range.is_free() => Self::Vector,
            Turning::Ball { twist_axis, swing_axis, centre, .. } => {
                let frame = frame_of(twist_axis, swing_axis);
                Self::Ball { before: swung(frame, centre), frame, centre }
            }
        }
    }

    /// Returns the number of degrees of freedom.
    fn count(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Hinge { .. } => 1,
            Self::Axes { angles, .. } => angles.iter().filter(|a| a.is_none()).count(),
            Self::Ball { .. } | Self::Vector => 3,
        }
    }
}

/// A joint of a skeleton that has degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Compiled {
    pub joint: JointId,
    /// Index of the first of its degrees of freedom: slides first, then turns.
    pub first: usize,
    /// Whether it slides along each of its axes.
    pub slides: [bool; 3],
    /// Length of the parent's unit, in metres.
    pub scale: f64,
    pub turn: Turn,
}

impl Compiled {
    /// Returns the number of axes that it slides along.
    pub fn count(&self) -> usize {
        self.slides.iter().filter(|s| **s).count()
    }

    /// Returns the range of its degrees of freedom.
    pub fn dofs(&self) -> core::ops::Range<usize> {
        self.first..self.first + self.count() + self.turn.count()
    }
}

/// A mechanism, and the joints of a skeleton that have its degrees of freedom.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JointValues {
    pub mechanism: Mechanism,
    pub joints: Vec<Compiled>,
}

impl JointValues {
    pub fn read(&self, pose: &Pose, values: &mut [f64]) -> Result<(), ValuesError> {
        self.mechanism.check_count(values)?;
        for c in &self.joints {
            self.read_joint(c, pose, &mut values[c.first..]);
        }
        Ok(())
    }

    /// Reads the values of one joint; `values` begins at its first.
    pub fn read_joint(&self, c: &Compiled, pose: &Pose, values: &mut [f64]) {
        let (local, rest) = (pose.local(c.joint), pose.skeleton().rest(c.joint));
        let base = wide(rest.rotation);
        let slid = slide_axes(c, pose).transpose() * (local.translation - rest.translation).as_dvec3();
        let own = base.transpose() * wide(local.rotation);
        let dofs = &self.mechanism.dofs[c.first..];
        let range = |k: usize| dofs[k].dof.range;
        let mut count = 0;
        let mut put = |value: f64| {
            values[count] = settled(value, range(count).min, range(count).max);
            count += 1;
        };
        (0..3).filter(|&k| c.slides[k]).for_each(|k| put(slid[k] * c.scale));
        let first = c.count();
        match &c.turn {
            Turn::None => {}
            Turn::Hinge { axis, held } => put(on_turn(twist(*axis, &(held.transpose() * own)), range(first))),
            Turn::Axes { axes, angles: kept } => {
                let mut next = first..;
                let ranges = kept.map(|k| match k {
                    Some(_) => Range::FREE,
                    None => next.next().map_or(Range::FREE, range),
                });
                let mut now = angles_within(*axes, &own, *kept, ranges);
                for n in 0..3 {
                    now[n] = on_turn(now[n], ranges[n]);
                }
                let out = |n: usize| !ranges[n].contains(settled(now[n], ranges[n].min, ranges[n].max));
                let held = kept.iter().flatten().any(|k| *k != 0.0);
                // Near a pole of the middle axis, rounding makes the outer two angles arbitrary. Where the rotation is
                // within the limits, the angles of pose space are too.
                let limits = pose.skeleton().limits(c.joint);
                if !held && (0..3).any(out) && limits.is_within(local.rotation) {
                    let near = limits.coordinates(local.rotation);
                    now = [0, 1, 2].map(|n| on_turn(near[n].into(), ranges[n]));
                }
                (0..3).filter(|&n| kept[n].is_none()).for_each(|n| put(now[n]));
            }
            Turn::Ball { before, frame, centre } => {
                let [x, y, t] = coordinates(DofKind::Swing, &(before.transpose() * own * *frame));
                // Not `+ centre`, which would lose the sign of a zero.
                let at = [x - (0.0 - centre[0]), y - (0.0 - centre[1])];
                let [x, y] = self.settled_swing(c.first + first, at);
                [x, y, on_turn(t, range(first + 2))].into_iter().for_each(put);
            }
            Turn::Vector => {
                coordinates(DofKind::Vector, &own).into_iter().for_each(put);
            }
        }
    }

    /// Projects a swing to its ellipse if it is outside by at most `f32` rounding.
    fn settled_swing(&self, dof: usize, at: [f64; 2]) -> [f64; 2] {
        let Some((_, swing)) = self.mechanism.swings.iter().find(|s| s.0 == dof) else { return at };
        let on = swing.nearest(at);
        let (x, y) = (on[0] - at[0], on[1] - at[1]);
        if x * x + y * y <= f64::from(TOLERANCE * TOLERANCE) { on } else { at }
    }

    /// Returns a joint's local transform at its values.
    pub fn placed(&self, c: &Compiled, values: &[f64], pose: &Pose) -> JointTransform {
        let mut local = *pose.local(c.joint);
        if c.count() > 0 {
            local.translation = slid(c, values, pose);
        }
        let mut next = values[c.first + c.count()..].iter().copied();
        let mut next = || next.next().unwrap_or(0.0);
        let turned = match &c.turn {
            Turn::None => None,
            Turn::Hinge { axis, held } => Some(*held * math64::axis_angle(*axis, next())),
            Turn::Axes { axes, angles } => Some(
                (0..3).fold(DMat3::IDENTITY, |r, n| r * about(axes[n], angles[n].unwrap_or_else(&mut next))),
            ),
            Turn::Ball { before, frame, centre } => {
                let (r, _) = turned(DofKind::Swing, [next() - centre[0], next() - centre[1], next()]);
                Some(*before * r * frame.transpose())
            }
            Turn::Vector => Some(turned(DofKind::Vector, [next(), next(), next()]).0),
        };
        if let Some(own) = turned {
            let rest = wide(pose.skeleton().rest(c.joint).rotation);
            local.rotation = math64::quaternion(&(rest * own)).as_quat();
        }
        local
    }

    /// Whether a joint's values differ from those of the pose.
    pub fn differs(&self, c: &Compiled, values: &[f64], pose: &Pose) -> bool {
        // At most three slides and three turns.
        let mut now = [0.0; 6];
        self.read_joint(c, pose, &mut now);
        values[c.dofs()] != now[..c.dofs().len()]
    }

    pub fn write(&self, values: &[f64], pose: &mut Pose) -> Result<(), ValuesError> {
        self.mechanism.check(values)?;
        // Only slides can be out of the range of a pose.
        for c in self.joints.iter().filter(|c| c.count() > 0) {
            let input = pose.local(c.joint).translation;
            if input.is_finite() && !slid(c, values, pose).is_finite() {
                let slides = c.first..c.first + c.count();
                let far = |a: &usize, b: &usize| values[*a].abs().total_cmp(&values[*b].abs());
                let dof = slides.max_by(far).unwrap_or(c.first);
                let joint = self.mechanism.dofs[dof].name.clone();
                return Err(ValuesError::TooLarge { joint, value: values[dof] });
            }
        }
        for c in &self.joints {
            if !self.differs(c, values, pose) {
                continue;
            }
            let local = self.placed(c, values, pose);
            pose.set_local(c.joint, local);
        }
        Ok(())
    }
}

/// Returns the axes of a joint's slides in its parent's space.
fn slide_axes(c: &Compiled, pose: &Pose) -> DMat3 {
    let skeleton = pose.skeleton();
    wide(skeleton.rest(c.joint).rotation) * skeleton.joint(c.joint).slide_axes
}

/// Returns a joint's translation at its values, in its parent's space. Along axes that it does not slide along, the pose's
/// translation is kept.
fn slid(c: &Compiled, values: &[f64], pose: &Pose) -> Vec3 {
    let (rest, now) = (pose.skeleton().rest(c.joint).translation, pose.local(c.joint).translation);
    let base = slide_axes(c, pose);
    let mut slid = base.transpose() * (now - rest).as_dvec3();
    // Rounding along the other axes is removed, so that values alone determine the translation.
    let rounding = f32::EPSILON * (now.abs().max_element() + rest.abs().max_element());
    let mut own = values[c.first..].iter();
    for k in 0..3 {
        slid[k] = match c.slides[k] {
            true => own.next().map_or(0.0, |value| value / c.scale),
            false if slid[k].abs() <= f64::from(rounding) => 0.0,
            false => slid[k],
        };
    }
    rest + (base * slid).as_vec3()
}

/// Converts a quaternion to an `f64` matrix, normalised.
pub(super) fn wide(q: Quat) -> DMat3 {
    math64::matrix(math64::normalize(q.as_dquat()))
}

/// Clamps a value to its range if it is outside by at most `f32` rounding.
pub(super) fn settled(value: f64, lower: f64, upper: f64) -> f64 {
    let inside = value.max(lower).min(upper);
    if (value - inside).abs() <= f64::from(TOLERANCE) { inside } else { value }
}
