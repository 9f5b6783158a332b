//! Interpolation between two rotations of a joint.

use core::f32::consts::PI;

use glam::{DQuat, DVec3, Mat3, Quat, Vec3};

use super::{
    Limits, Span, TOLERANCE, Turn,
    axes::around,
    length, of_vector,
    parts::{Split, clamp_angles, join, split, within},
    relax::{hinge_parts, in_f64, turn},
};
use crate::{
    joint::{euler, span::wrap},
    math,
    math64::{atan2, sqrt},
};

impl Limits {
    /// Interpolates between two local rotations, linearly in the joint's coordinates, with `weight` from 0 to 1. Between
    /// rotations within the limits, all results are within the limits. Weights of 0 or less and of 1 or more return
    /// `from` and `to` with their bits.
    pub fn blend(&self, from: Quat, to: Quat, weight: f32) -> Quat {
        if weight <= 0.0 {
            return from;
        }
        if weight >= 1.0 {
            return to;
        }
        let between = |a: f32, b: f32, round: bool| a + weight * if round { wrap(b - a) } else { b - a };
        let (a, b) = (self.own(from), self.own(to));
        let own = match &self.turn {
            Turn::Free | Turn::Fixed(_) => return math::slerp(from, to, weight),
            // A tilt off the axis is interpolated linearly, as a swing is.
            Turn::Hinge { axis, exact, span, .. } => {
                let x = math::perpendicular(*axis, Vec3::ZERO);
                let frame = Mat3::from_cols(x, axis.cross(x), *axis);
                let (a, b) = (split(a, &frame), split(b, &frame));
                if a.cos_half.min(b.cos_half) < UPSIDE_DOWN {
                    return blend_in_f64(self.rest, [from, to], *exact, span, weight.into());
                }
                let d = between(wrap(a.twist - span.centre), wrap(b.twist - span.centre), span.is_free());
                let s = [0, 1].map(|n| between(a.swing[n], b.swing[n], false));
                join(s, span.centre + d, &frame)
            }
            Turn::Ball { frame, swing, slack, twist, .. } => {
                // Near a half turn of swing the twist and the swing's direction have few digits. An excess from lost
                // digits must not carry over to where they are well defined.
                let known = |own: Quat| {
                    let Split { swing: s, twist: angle, cos_half } = split(own, frame);
                    let lost = TOLERANCE + 4e-7 / cos_half.max(1e-6);
                    let d = wrap(angle - twist.centre);
                    let d = if twist.excess(d) <= lost { twist.clamp_angle(d) } else { d };
                    let n = swing.map_or(s, |e| within(&e, *slack, s));
                    (if length([n[0] - s[0], n[1] - s[1]]) <= PI * lost { n } else { s }, d)
                };
                let ((s, a), (t, b)) = (known(a), known(b));
                let d = between(a, b, twist.is_free());
                let s = [0, 1].map(|n| between(s[n], t[n], false));
                join(s, twist.centre + d, frame)
            }
            // A turn about a fixed axis, or a tilt beyond a range, is not interpolated by angles. Near the poles of the
            // middle axis a tiny excess is a large angle, which would become a large turn as the joint leaves the pole.
            // It is interpolated as a separate turn.
            Turn::Axes { axes, spans, .. } => {
                parted(a, *axes, spans).to(&parted(b, *axes, spans), *axes, spans, weight)
            }
        };
        self.local(own)
    }
}

/// Cosine of half a hinge's tilt (169 degrees) below which blending uses f64. A product of f32 rotations is off by about
/// 4e-7, and the angle about the axis by that over this cosine; see `relax`.
const UPSIDE_DOWN: f32 = 0.1;

/// [`Limits::blend`] of a hinge in f64.
#[cold]
fn blend_in_f64(rest: Quat, ends: [Quat; 2], axis: DVec3, span: &Span, weight: f64) -> Quat {
    let rest = in_f64(rest);
    let [(a, s), (b, t)] = ends.map(|local| {
        let (d, q) = hinge_parts(rest.conjugate() * in_f64(local), axis, span);
        let (v, sine) = (q.xyz(), sqrt(q.xyz().length_squared()));
        // Of the two quaternions of a rotation, the one with the shorter turn.
        let half = atan2(sine, q.w.abs()).copysign(q.w);
        (d, if sine > 0.0 { v * (2.0 * half / sine) } else { v })
    });
    let displacement = if span.is_free() { around(b - a) } else { b - a };
    let tilt = s + (t - s) * weight;
    let angle = sqrt(tilt.length_squared());
    let tilt = if angle > 0.0 { turn(tilt / angle, angle) } else { DQuat::IDENTITY };
    (rest * tilt * turn(axis, f64::from(span.centre) + a + displacement * weight)).normalize().as_quat()
}

/// A rotation about three axes, split into the nearest allowed rotation and the remaining turn.
struct Parted {
    at: [f32; 3],
    /// The remaining turn as a rotation vector, in radians.
    out: Vec3,
}

fn parted(own: Quat, axes: [usize; 3], spans: &[Span; 3]) -> Parted {
    let at = clamp_angles(own, axes, spans);
    let nearest = euler::rotation(axes, [0, 1, 2].map(|n| spans[n].centre + at[n]));
    Parted { at, out: math::rotation_vector(math::normalize(math::mul(math::conjugate(nearest), own))) }
}

impl Parted {
    /// Interpolates to `other` with `weight` from 0 to 1. The result is an allowed rotation followed by a turn that is
    /// no longer than the longer of the two.
    fn to(&self, other: &Self, axes: [usize; 3], spans: &[Span; 3], weight: f32) -> Quat {
        let displacement = |n: usize| {
            let d = other.at[n] - self.at[n];
            if spans[n].is_free() { wrap(d) } else { d }
        };
        let angles = [0, 1, 2].map(|n| spans[n].centre + self.at[n] + weight * displacement(n));
        let out = of_vector(self.out + (other.out - self.out) * weight);
        math::mul(euler::rotation(axes, angles), out)
    }
}
