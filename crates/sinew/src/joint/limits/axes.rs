//! Turns about three axes, each within its range: the nearest place of that set.
//!
//! The set of limits of such a joint is that of the rotations `turn(a) turn(b) turn(c)` with every angle in its range, and
//! how far a rotation is outside is the least turn that brings it there. Angles do not say that: with the middle one b near
//! a quarter turn only the sum or the difference of the outer two is there, and the rounding of a rotation by 1e-7 moves
//! them by 1e-7 / cos b.
//!
//! # The nearest place
//!
//! With half angles (alpha, beta, gamma) and X, Y as the module `euler` has them, the cosine of half the angle between q and
//! the rotation with these angles is
//!
//! ```text
//! F = ((cos beta + sin beta) X . p(alpha + e gamma) + (cos beta - sin beta) Y . p(alpha - e gamma)) / 2,   p(t) = (cos t, sin t).
//! ```
//!
//! The nearest place has some angles inside their ranges and the others at an end. One end held, F is a form p(s)^T N p(t)
//! of the two others; its stationary points are those where (s - t) and (s + t) each are at an extreme, and of these only
//! the one with both at their largest is a maximum (and its like a whole turn on, which is the same rotation with F < 0).
//! Two ends held, F is A cos t + B sin t, with one maximum. So the nearest place of the whole set is among one interior, 6
//! faces, 12 edges and 8 corners, each a closed form: where the best of a face lies in its ranges, it is the best of the
//! face's edges too.
//!
//! In f64: next to 1 a cosine in f32 tells no angles below 7e-4 apart, in f64 none below 3e-8.

use core::f64::consts::PI;

use glam::Quat;

use crate::{
    joint::span::{Span, wrap},
    math64::{atan2, round, sin_cos, sqrt},
};

/// A range in f64.
#[derive(Clone, Copy)]
struct Arc {
    centre: f64,
    low: f64,
    high: f64,
}

impl Arc {
    fn of(span: &Span) -> Self {
        Self { centre: span.centre.into(), low: span.low.into(), high: span.high.into() }
    }

    /// The difference of an angle from the range's middle.
    fn to(&self, angle: f64) -> f64 {
        around(angle - self.centre)
    }

    fn holds(&self, d: f64) -> bool {
        d >= self.low && d <= self.high
    }

    /// The ends, one where they meet, none where there are none.
    fn ends(&self) -> impl Iterator<Item = f64> {
        let count = if self.high == f64::INFINITY {
            0
        } else if self.low < self.high {
            2
        } else {
            1
        };
        [self.low, self.high].into_iter().take(count)
    }
}

/// The angle in \[-pi, pi\] that differs by whole turns.
pub(super) fn around(x: f64) -> f64 {
    x - 2.0 * PI * round(x / (2.0 * PI))
}

type Pair = [f64; 2];

fn length([x, y]: Pair) -> f64 {
    sqrt(x * x + y * y)
}

/// p of half an angle.
fn half(angle: f64) -> Pair {
    let (s, c) = sin_cos(0.5 * angle);
    [c, s]
}

/// A pair turned back by p.
fn back([x, y]: Pair, [c, s]: Pair) -> Pair {
    [c * x + s * y, c * y - s * x]
}

/// X and Y; see the module's page.
fn pairs(axes: [usize; 3], q: [f64; 4]) -> (f64, [Pair; 2]) {
    let e = if (axes[0] + 1) % 3 == axes[1] { 1.0 } else { -1.0 };
    let (i, j, k, w) = (q[axes[0]], q[axes[1]], e * q[axes[2]], q[3]);
    (e, [[w + j, i + k], [w - j, i - k]])
}

/// What has been found so far.
struct Best {
    cosine: f64,
    at: [f64; 3],
}

impl Best {
    fn take(&mut self, cosine: f64, at: [f64; 3]) {
        if cosine > self.cosine {
            *self = Self { cosine, at };
        }
    }
}

/// The differences from the ranges' middles of the angles within their ranges at which the rotation is nearest to `own`.
pub(super) fn nearest(own: Quat, axes: [usize; 3], spans: &[Span; 3]) -> [f32; 3] {
    let q = own.to_array().map(f64::from);
    let (e, [x, y]) = pairs(axes, q);
    let [first, middle, last] = spans.each_ref().map(Arc::of);
    let (p, m) = (atan2(x[1], x[0]), atan2(y[1], y[0]));
    let b = 2.0 * atan2(length(x), length(y)) - 0.5 * PI;
    // The two sets of angles that the rotation has.
    for [a, b, c] in [[p + m, b, e * (p - m)], [p + m + PI, PI - b, e * (p - m) + PI]] {
        let d = [first.to(a), middle.to(b), last.to(c)];
        if first.holds(d[0]) && middle.holds(d[1]) && last.holds(d[2]) {
            return clamped(d, spans);
        }
    }
    let mut best = Best { cosine: -1.0, at: [0.0; 3] };
    // The middle one held: the sum and the difference of the outer two are each by themselves.
    for b in middle.ends() {
        let [c, s] = half(middle.centre + b);
        let (f, g) = (0.5 * (c + s), 0.5 * (c - s));
        let (p, m) = (atan2(f * x[1], f * x[0]), atan2(g * y[1], g * y[0]));
        let (a, c) = (first.to(p + m), last.to(e * (p - m)));
        if first.holds(a) && last.holds(c) {
            best.take(f.abs() * length(x) + g.abs() * length(y), [a, b, c]);
        }
    }
    // The first held: rows for the middle one, columns for the last (times e).
    for a in first.ends() {
        let p = half(first.centre + a);
        let (x, y) = (back(x, p), back(y, p));
        let n = [[x[0] + y[0], x[1] - y[1]], [x[0] - y[0], x[1] + y[1]]].map(|row| row.map(|v| 0.5 * v));
        face(n, (&middle, &last, e), &mut best, true, |b, c| [a, b, c]);
    }
    // The last held: columns for the first.
    for c in last.ends() {
        let p = half(e * (last.centre + c));
        let (x, y) = (back(x, p), back(y, [p[0], -p[1]]));
        let n = [[x[0] + y[0], x[1] + y[1]], [x[0] - y[0], x[1] - y[1]]].map(|row| row.map(|v| 0.5 * v));
        face(n, (&middle, &first, 1.0), &mut best, false, |b, a| [a, b, c]);
    }
    clamped(best.at, spans)
}

/// The best of p(s)^T N p(t), with 2 s the angle of `rows` and 2 t that of `columns` times their sign: of the whole face,
/// else of its edges and (where asked for) corners.
fn face(
    n: [Pair; 2],
    (rows, columns, sign): (&Arc, &Arc, f64),
    best: &mut Best,
    corners: bool,
    at: impl Fn(f64, f64) -> [f64; 3],
) {
    let less = [n[0][0] + n[1][1], n[1][0] - n[0][1]];
    let more = [n[0][0] - n[1][1], n[1][0] + n[0][1]];
    let most = 0.5 * (length(less) + length(more));
    if most <= best.cosine {
        return;
    }
    let (l, m) = (atan2(less[1], less[0]), atan2(more[1], more[0]));
    let (s, t) = (rows.to(m + l), columns.to(sign * (m - l)));
    if rows.holds(s) && columns.holds(t) {
        best.take(most, at(s, t));
        return;
    }
    for s in rows.ends() {
        let p = half(rows.centre + s);
        let row = [0, 1].map(|k| p[0] * n[0][k] + p[1] * n[1][k]);
        if length(row) <= best.cosine {
            continue;
        }
        let t = columns.to(sign * 2.0 * atan2(row[1], row[0]));
        if columns.holds(t) {
            best.take(length(row), at(s, t));
        } else if corners {
            for t in columns.ends() {
                let r = half(sign * (columns.centre + t));
                best.take((r[0] * row[0] + r[1] * row[1]).abs(), at(s, t));
            }
        }
    }
    // Edges along the middle angle belong to the faces of both outer ones; once is enough.
    if corners {
        for t in columns.ends() {
            let r = half(sign * (columns.centre + t));
            let column = [0, 1].map(|k| r[0] * n[k][0] + r[1] * n[k][1]);
            let s = rows.to(2.0 * atan2(column[1], column[0]));
            if rows.holds(s) {
                best.take(length(column), at(s, t));
            }
        }
    }
}

/// In f32, in which the ends are exact.
fn clamped(d: [f64; 3], spans: &[Span; 3]) -> [f32; 3] {
    [0, 1, 2].map(|n| spans[n].clamp(wrap(d[n] as f32)))
}
