//! Limits relaxed to contain the input pose.
//!
//! Rotations are decomposed in f64. Limits are widened by an angle, and an ill-conditioned angle amplifies the error r
//! of its rotation. With t the angle of a swing (or of a hinge's tilt), u its direction and v the twist, the square of a
//! small turn is
//!
//! ```text
//! dt^2 + cos^2(t/2) dv^2 + sin^2(t/2) (2 du - dv)^2
//! ```
//!
//! (twice the distance of quaternions, in Hopf's coordinates). So an error r may be a twist of r / cos(t/2): sixteen
//! times r at a tilt of 173 degrees. A product of f32 rotations has an error of about 4e-7, so a hinge's range
//! would miss the input by 7e-6. In f64, from the original axis and rest rotation, no such error remains.

use glam::{DQuat, DVec3, Quat};

use super::{Limits, Span, TOLERANCE, Turn, axes, length};
use crate::{
    JointTransform,
    joint::{euler, span::wrap},
    math,
    math64::{atan2, sin_cos, sqrt},
};

impl Limits {
    /// Returns the limits widened just enough to contain the input transform; see [`Limits`].
    pub fn relaxed(&self, local: &JointTransform) -> Self {
        self.relaxed_beyond(local, TOLERANCE)
    }

    /// [`Limits::relaxed`], except that turns outside by at most `kept` radians leave the limits as they are. Turns and
    /// slides are relaxed independently: a slide outside its range does not allow further turns.
    pub(crate) fn relaxed_beyond(&self, local: &JointTransform, kept: f32) -> Self {
        let mut wide = *self;
        if self.excess(local.rotation) > kept {
            wide.relax_turn(local.rotation);
        }
        let at = self.slide_of(local.translation).to_array();
        for (slide, at) in wide.slide.iter_mut().zip(at) {
            if let Some(span) = &mut slide.span {
                *span = span.widened(at - span.centre);
            }
        }
        wide
    }

    fn relax_turn(&mut self, local: Quat) {
        let own = in_f64(self.rest).conjugate() * in_f64(local);
        match &mut self.turn {
            Turn::Free => {}
            Turn::Fixed(held) => *held = local,
            Turn::Hinge { exact, span, off, .. } => {
                let off_in_f64 = in_f64(*off);
                let (d, left) = hinge_parts(off_in_f64.conjugate() * own, *exact, span);
                let left = off_in_f64 * left;
                // Rounding alone must not tilt the hinge.
                if 2.0 * left.xyz().length() > f64::from(TOLERANCE) {
                    *off = left.as_quat();
                }
                *span = span.widened(d as f32);
            }
            Turn::Ball { frame, swing, slack, twist, .. } => {
                let v = own.xyz();
                let [x, y, z] = [frame.x_axis, frame.y_axis, frame.z_axis].map(|a| v.dot(a.as_dvec3()));
                let n = sqrt(z * z + own.w * own.w);
                let (tz, tw) = if n > 0.0 { (z / n, own.w / n) } else { (0.0, 1.0) };
                let (sx, sy) = (x * tw - y * tz, y * tw + x * tz);
                let m = sqrt(sx * sx + sy * sy);
                let k = if m < 1e-6 { 2.0 } else { 2.0 * atan2(m, n) / m };
                let s = [(sx * k) as f32, (sy * k) as f32];
                if let Some(e) = swing {
                    let n = e.nearest(s);
                    *slack = slack.max(length([s[0] - n[0], s[1] - n[1]]));
                }
                let d = axes::around(2.0 * atan2(tz, tw) - f64::from(twist.centre));
                *twist = twist.widened(wrap(d as f32));
            }
            // The nearest rotation is well conditioned even where the angles are not.
            Turn::Axes { axes, spans, off } => {
                let seen = (own * in_f64(*off).conjugate()).normalize().as_quat();
                let at = axes::nearest(seen, *axes, spans);
                let nearest = euler::rotation(*axes, [0, 1, 2].map(|n| spans[n].centre + at[n]));
                *off = math::normalize(math::mul(math::mul(math::conjugate(nearest), seen), *off));
            }
        }
    }
}

/// The angle of a hinge relative to its range's middle, in radians, and the remaining tilt off its axis.
pub(super) fn hinge_parts(own: DQuat, axis: DVec3, span: &Span) -> (f64, DQuat) {
    let centre = f64::from(span.centre);
    let d = axes::around(2.0 * atan2(own.xyz().dot(axis), own.w) - centre);
    (d, (own * turn(axis, -(centre + d))).normalize())
}

/// The rotation by `angle` radians about a unit vector.
pub(crate) fn turn(axis: DVec3, angle: f64) -> DQuat {
    let (s, c) = sin_cos(0.5 * angle);
    let v = axis * s;
    DQuat::from_xyzw(v.x, v.y, v.z, c)
}

pub(crate) fn in_f64(q: Quat) -> DQuat {
    q.as_dquat().normalize()
}
