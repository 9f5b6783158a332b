//! Hinges and balls in f64, for closed forms that search along their limits.
//!
//! A joint with a hinge turns its rotation through one circle: rotation = before * turn(axis, t) * after. A ball's coordinates are
//! its swing from the centre of its ellipse and its twist from the middle of the range, in which its limits are convex.
//!
//! # Swivels
//!
//! A limb whose end is at its goal may still turn about the line from its root to the goal, its *swivel*: R(s) = turn(line, s) R(0).
//! The rotation leaves and enters the limits several times in a whole turn: the twist passes its range once, but the axis of twist
//! goes round a circle, which meets the ellipse up to eight times. So the excess is sampled. An interval within limits is enclosed
//! by samples or, where it is narrower than their distance, found as a minimum of the excess; bisection then finds its ends.

use core::f64::consts::{PI, TAU};

use glam::{DMat3, DQuat, DVec3, Mat3, Quat, Vec3};

use super::{
    Limits, Span, TOLERANCE, Turn,
    axes::around,
    relax::{in_f64, turn},
    surely_within,
};
use crate::{
    joint::{
        ellipse::{Ellipse, nearest_of_quarter},
        span::wrap,
    },
    math,
    math64::{self, atan2, sin_cos, sqrt},
};

/// A joint that turns about one axis, with the angles that it may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pivot {
    pub before: DQuat,
    pub axis: DVec3,
    pub after: DQuat,
    /// The angle of the rotation that the pivot was made for, and the ends of the range, in radians; infinite without limits.
    pub now: f64,
    pub ends: [f64; 2],
}

/// A ball in f64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Socket {
    rest: DQuat,
    frame: DMat3,
    swing: Option<Ellipse>,
    slack: f64,
    middle: f64,
    /// The ends of the twist, from its middle; infinite without limits.
    pub twist: [f64; 2],
}

/// Largest half-axis, in radians, of the narrower swing of a ball that counts as a hinge with play: 9 degrees. Carrying angles of
/// elbows vary by 6.
const PLAY: f32 = 0.16;
/// Largest swing, in radians, to which an input outside of the limits widens them. Next to half a turn f32 does not know the twist,
/// and beyond it a swing is another one.
const FURTHEST: f64 = PI - 0.1;
/// Samples of a whole turn. The circle passes each quarter of an ellipse at most twice.
const SAMPLES: usize = 32;
/// Excess that counts as rounding, in radians: a fourth of [`super::TOLERANCE`].
const ROUNDING: f64 = 5e-7;

impl Limits {
    /// The joint as one that turns about one axis, for a local rotation: a hinge, turns about single axes with one that moves, or
    /// a ball that swings about one axis and hardly about the other. A tilt or that play is taken out; the ball keeps its twist.
    pub(crate) fn pivot(&self, local: Quat) -> Option<Pivot> {
        let rest = in_f64(self.rest);
        let at = self.coordinates(local).map(f64::from);
        let (n, before, axis, after, span) = match &self.turn {
            Turn::Hinge { exact, span, .. } => (0, rest, *exact, DQuat::IDENTITY, *span),
            Turn::Axes { axes, spans, .. } => {
                self.hinge_axis()?;
                let n = (0..3).find(|&n| spans[n].low < spans[n].high)?;
                (n, rest, DVec3::AXES[axes[n]], DQuat::IDENTITY, spans[n])
            }
            Turn::Ball { swing: Some(e), twist, frame, slack, centre } => {
                let (n, [low, high]) = e.pivot()?;
                let frame = frame.as_dmat3();
                let d = f64::from(twist.clamp(twist.clamp_angle((at[2] - f64::from(twist.centre)) as f32)));
                let after = turn(frame.z_axis, f64::from(twist.centre) + d);
                let now = at[n] - f64::from(centre[n]);
                let ends = [-low, high].map(|t| {
                    let widened = f64::from(t + slack.copysign(t));
                    let most = f64::from(t).abs().max(now.abs()).max(FURTHEST);
                    widened.clamp(-most, most)
                });
                return Some(Pivot { before: rest, axis: frame.col(n), after, now, ends });
            }
            _ => return None,
        };
        let ends = [span.low, span.high].map(|end| f64::from(span.centre) + f64::from(end));
        Some(Pivot { before, axis, after, now: at[n], ends })
    }

    /// The local rotation after a turn about the pivot's axis, by the angle of which `half` is the sine and the cosine of half.
    /// `None` where a rotation has a tilt or play, or the result is out of limits, and for turns about single axes.
    #[inline(always)]
    pub(crate) fn pivoted(&self, local: Quat, half: [f32; 2]) -> Option<Quat> {
        let [s, c] = half;
        let own = self.own(local);
        let v = Vec3::new(own.x, own.y, own.z);
        let small = (0.25 * TOLERANCE) * (0.25 * TOLERANCE);
        let holds = |x: f32, w: f32, span: &Span| {
            surely_within(x, w, 1.0, span) || span.excess(wrap(2.0 * math::atan2(x, w) - span.centre)) <= 0.0
        };
        match &self.turn {
            Turn::Hinge { axis, span, .. } => {
                let along = v.dot(*axis);
                let (x, w) = (along * c + own.w * s, own.w * c - along * s);
                let fits = (v - *axis * along).length_squared() <= small && holds(x, w, span);
                fits.then(|| math::mul(self.rest, Quat::from_vec4((*axis * x).extend(w))))
            }
            Turn::Ball { frame, swing: Some(e), twist, .. } => {
                let (k, [low, high]) = e.pivot()?;
                let (axis, z) = (frame.col(k), frame.z_axis);
                let about = v.dot(z);
                // Without play the rotation is (axis s + c) (z t + w).
                let n = math::sqrt(about * about + own.w * own.w);
                let (t, w) = (about / n, own.w / n);
                let swung = v.dot(axis) * w + v.dot(z.cross(axis)) * t;
                let play = v - axis * (swung * w) - axis.cross(z) * (swung * t) - z * about;
                let (x, cos) = (swung * c + n * s, n * c - swung * s);
                let range = Span { centre: 0.0, low: -low, high, half: 0.0 };
                let fits = play.length_squared() <= small;
                (fits && holds(x, cos, &range) && holds(t, w, twist)).then(|| {
                    let swing = Quat::from_vec4((axis * x).extend(cos));
                    self.local(math::mul(swing, Quat::from_vec4((z * t).extend(w))))
                })
            }
            _ => None,
        }
    }

    /// Whether [`Limits::pivot`] has an answer.
    pub(crate) fn has_pivot(&self) -> bool {
        match &self.turn {
            Turn::Ball { swing, .. } => swing.is_some_and(|e| e.pivot().is_some()),
            _ => self.hinge_axis().is_some(),
        }
    }

    /// A ball in f64. Other joints count as free.
    pub(crate) fn socket(&self) -> Socket {
        let (frame, swing, slack, twist) = match &self.turn {
            Turn::Ball { frame, swing, slack, twist, .. } => (*frame, *swing, *slack, *twist),
            _ => (Mat3::IDENTITY, None, 0.0, Span::FREE),
        };
        Socket {
            rest: in_f64(self.rest),
            frame: frame.as_dmat3(),
            swing,
            slack: slack.into(),
            middle: twist.centre.into(),
            twist: [twist.low.into(), twist.high.into()],
        }
    }
}

impl Ellipse {
    /// The wider of two swings where the other is hardly one, and its ends.
    fn pivot(&self) -> Option<(usize, [f32; 2])> {
        let wide = |n: usize| self.half[n][0].max(self.half[n][1]);
        let n = usize::from(wide(0) < wide(1));
        (wide(1 - n) <= PLAY).then(|| (n, [self.half[n][1], self.half[n][0]]))
    }
}

impl Pivot {
    /// The angle within the range that is nearest to another one on the circle.
    pub fn clamp(&self, t: f64) -> f64 {
        let [low, high] = self.ends;
        if low == f64::NEG_INFINITY {
            return self.now + around(t - self.now);
        }
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        middle + around(t - middle).clamp(-half, half)
    }

    pub fn local(&self, t: f64) -> Quat {
        (self.before * turn(self.axis, t) * self.after).normalize().as_quat()
    }
}

impl Socket {
    /// The same limits in a parent's frame that is turned from where they count by `frame`.
    pub fn below(&self, frame: DQuat) -> Self {
        Self { rest: (frame.conjugate() * self.rest).normalize(), ..*self }
    }

    /// The local rotation with these coordinates, and the axis of each in the parent's frame, of any length.
    pub fn turned(&self, [x, y, t]: [f64; 3]) -> (DMat3, [DVec3; 3]) {
        let base = math64::matrix(self.rest) * self.frame;
        let (swing, j) = math64::exponential(DVec3::new(x, y, 0.0));
        let (s, c) = sin_cos(t + self.middle);
        let swing = base * swing;
        let (u, v) = (swing.x_axis, swing.y_axis);
        let turned = DMat3::from_cols(u * c + v * s, v * c - u * s, swing.z_axis);
        (turned * self.frame.transpose(), [base * j.x_axis, base * j.y_axis, swing.z_axis])
    }

    /// A rotation's quaternion in the frame of the swing, from its centre.
    fn seen(&self, local: DQuat) -> [f64; 4] {
        let own = self.rest.conjugate() * local;
        let [x, y, z] = (self.frame.transpose() * own.xyz()).to_array();
        [x, y, z, own.w]
    }

    fn split(&self, [x, y, z, w]: [f64; 4]) -> [f64; 3] {
        let n = sqrt(z * z + w * w);
        let (z, w) = if n > 0.0 { (z / n, w / n) } else { (0.0, 1.0) };
        let (x, y) = (x * w - y * z, y * w + x * z);
        let m = sqrt(x * x + y * y);
        let k = if m < 1e-8 { 2.0 } else { 2.0 * atan2(m, n) / m };
        [x * k, y * k, around(2.0 * atan2(z, w) - self.middle)]
    }

    /// The coordinates of a local rotation.
    pub fn coordinates(&self, local: DQuat) -> [f64; 3] {
        self.split(self.seen(local))
    }

    /// The nearest coordinates within the limits.
    pub fn nearest(&self, [x, y, t]: [f64; 3]) -> [f64; 3] {
        let [x, y] = self.swing.map_or([x, y], |e| {
            let [a, b] = e.half_axes([x, y]);
            if (x / a) * (x / a) + (y / b) * (y / b) <= 1.0 {
                return [x, y];
            }
            let [u, v] = nearest_of_quarter([a, b], [x, y]);
            let (dx, dy) = (x - u, y - v);
            let k = (self.slack / sqrt(dx * dx + dy * dy)).min(1.0);
            let [x, y] = [u + dx * k, v + dy * k];
            let most = if self.slack > 0.0 { sqrt(u * u + v * v).max(FURTHEST) } else { PI };
            let k = (most / sqrt(x * x + y * y)).min(1.0);
            [x * k, y * k]
        });
        [x, y, t.clamp(self.twist[0], self.twist[1])]
    }

    /// The unit normal and the curvature of the swing's limit, where a swing is on it.
    pub fn outline(&self, [x, y]: [f64; 2]) -> Option<([f64; 2], f64)> {
        let outline = self.swing?.outline([x as f32, y as f32], self.slack as f32, 1e-6);
        outline.map(|(normal, curvature, _)| (normal.map(f64::from), curvature.into()))
    }

    /// The smallest turn about a unit vector of the parent's frame, in radians, that leads the rotation `from` within the limits.
    /// `None` where no turn does.
    pub fn swivel(&self, from: DQuat, axis: DVec3) -> Option<f64> {
        let a = self.seen(from);
        let b = self.seen(DQuat::from_xyzw(axis.x, axis.y, axis.z, 0.0) * from);
        let out = |angle: f64| {
            let (s, c) = sin_cos(0.5 * angle);
            let at = self.split([0, 1, 2, 3].map(|k| a[k] * c + b[k] * s));
            let on = self.nearest(at);
            let (x, y, t) = (at[0] - on[0], at[1] - on[1], at[2] - on[2]);
            sqrt(x * x + y * y).max(t.abs())
        };
        if out(0.0) <= ROUNDING {
            return Some(0.0);
        }
        let mut best = None::<f64>;
        let mut take = |mut inside: f64, mut outside: f64| {
            // From the samples' distance to the rounding of f32.
            for _ in 0..26 {
                let mid = 0.5 * (inside + outside);
                if out(mid) <= ROUNDING { inside = mid } else { outside = mid }
            }
            let angle = around(inside);
            if best.is_none_or(|b| angle.abs() < b.abs()) {
                best = Some(angle);
            }
        };
        let step = TAU / SAMPLES as f64;
        let samples: [f64; SAMPLES] = core::array::from_fn(|k| out(k as f64 * step));
        for k in 0..SAMPLES {
            let (before, now, next) =
                (samples[(k + SAMPLES - 1) % SAMPLES], samples[k], samples[(k + 1) % SAMPLES]);
            let at = k as f64 * step;
            if now <= ROUNDING {
                if before > ROUNDING {
                    take(at, at - step);
                }
                if next > ROUNDING {
                    take(at, at + step);
                }
            } else if now <= before && now <= next {
                let (angle, least) = least(out, at - step, at + step);
                if least <= ROUNDING {
                    take(angle, at - step);
                    take(angle, at + step);
                }
            }
        }
        best
    }
}

/// The angle of the smallest value between two angles, by golden section, until one counts as rounding.
fn least(out: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> (f64, f64) {
    const SECTION: f64 = 0.618_033_988_749_894_9;
    let mut m = (high - SECTION * (high - low), 0.0);
    let mut n = (low + SECTION * (high - low), 0.0);
    (m.1, n.1) = (out(m.0), out(n.0));
    for _ in 0..40 {
        if m.1.min(n.1) <= ROUNDING {
            break;
        }
        if m.1 < n.1 {
            (high, n) = (n.0, m);
            m.0 = high - SECTION * (high - low);
            m.1 = out(m.0);
        } else {
            (low, m) = (m.0, n);
            n.0 = low + SECTION * (high - low);
            n.1 = out(n.0);
        }
    }
    if m.1 < n.1 { m } else { n }
}
