//! Turns about three axes, each within its range: the nearest allowed rotation.
//!
//! The limits of such a joint allow the rotations `turn(a) turn(b) turn(c)` with every angle in its range. The excess of
//! a rotation is the smallest turn back to that set. Angles do not give the excess: with the middle angle b near a
//! quarter turn, only the sum or the difference of the outer two is defined, and rounding a rotation by 1e-7 changes
//! them by 1e-7 / cos b.
//!
//! # The nearest rotation
//!
//! With half angles (alpha, beta, gamma) and X, Y as in the module `euler`, the cosine of half the angle between q and
//! the rotation with these angles is
//!
//! ```text
//! F = ((cos beta + sin beta) X . p(alpha + e gamma) + (cos beta - sin beta) Y . p(alpha - e gamma)) / 2,   p(t) = (cos t, sin t).
//! ```
//!
//! At the nearest rotation, some angles are inside their ranges and the others at an end. With one end held, F is a form
//! p(s)^T N p(t) of the two others. At its stationary points both (s - t) and (s + t) are at an extreme. The only
//! maximum has both at their largest (its twin a whole turn on is the same rotation with F < 0). With two ends held, F
//! is A cos t + B sin t, with one maximum. So the nearest rotation is among one interior point, 6 faces, 12 edges and 8
//! corners, each with a closed form. If the best point of a face lies in its ranges, the face's edges need no search.
//!
//! In f64, because f32 cosines near 1 cannot tell apart angles below 7e-4; f64 cosines resolve 3e-8.

use core::f64::consts::PI;

use glam::Quat;

use crate::{
    joint::span::{Span, wrap},
    math64::{atan2, round, sin_cos, sqrt},
};

/// A range of an angle in f64, in radians.
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

    /// The ends of the range: one if they coincide, none without limits.
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

/// The angle in \[-pi, pi\] that differs from `x` by whole turns, in radians.
pub(crate) fn around(x: f64) -> f64 {
    x - 2.0 * PI * round(x / (2.0 * PI))
}

type Pair = [f64; 2];

fn length([x, y]: Pair) -> f64 {
    sqrt(x * x + y * y)
}

/// The pair p of half an angle.
fn half(angle: f64) -> Pair {
    let (s, c) = sin_cos(0.5 * angle);
    [c, s]
}

/// Rotates a pair back by p.
fn back([x, y]: Pair, [c, s]: Pair) -> Pair {
    [c * x + s * y, c * y - s * x]
}

/// The sign e and the pairs X and Y; see the module's docs.
fn pairs(axes: [usize; 3], q: [f64; 4]) -> (f64, [Pair; 2]) {
    let e = if (axes[0] + 1) % 3 == axes[1] { 1.0 } else { -1.0 };
    let (i, j, k, w) = (q[axes[0]], q[axes[1]], e * q[axes[2]], q[3]);
    (e, [[w + j, i + k], [w - j, i - k]])
}

/// The best candidate so far.
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

/// The allowed angles of the rotation nearest to `own`, relative to their ranges' middles, in radians.
pub(super) fn nearest(own: Quat, axes: [usize; 3], spans: &[Span; 3]) -> [f32; 3] {
    let q = own.to_array().map(f64::from);
    let (e, [x, y]) = pairs(axes, q);
    let [first, middle, last] = spans.each_ref().map(Arc::of);
    let (p, m) = (atan2(x[1], x[0]), atan2(y[1], y[0]));
    let b = 2.0 * atan2(length(x), length(y)) - 0.5 * PI;
    // A rotation has two sets of angles.
    for [a, b, c] in [[p + m, b, e * (p - m)], [p + m + PI, PI - b, e * (p - m) + PI]] {
        let d = [first.to(a), middle.to(b), last.to(c)];
        if first.holds(d[0]) && middle.holds(d[1]) && last.holds(d[2]) {
            return clamped(d, spans);
        }
    }
    let mut best = Best { cosine: -1.0, at: [0.0; 3] };
    // Middle angle held: the sum and the difference of the outer two are independent.
    for b in middle.ends() {
        let [c, s] = half(middle.centre + b);
        let (f, g) = (0.5 * (c + s), 0.5 * (c - s));
        let (p, m) = (atan2(f * x[1], f * x[0]), atan2(g * y[1], g * y[0]));
        let (a, c) = (first.to(p + m), last.to(e * (p - m)));
        if first.holds(a) && last.holds(c) {
            best.take(f.abs() * length(x) + g.abs() * length(y), [a, b, c]);
        }
    }
    // First angle held: rows for the middle one, columns for the last (times e).
    for a in first.ends() {
        let p = half(first.centre + a);
        let (x, y) = (back(x, p), back(y, p));
        let n = [[x[0] + y[0], x[1] - y[1]], [x[0] - y[0], x[1] + y[1]]].map(|row| row.map(|v| 0.5 * v));
        face(n, (&middle, &last, e), &mut best, true, |b, c| [a, b, c]);
    }
    // Last angle held: columns for the first.
    for c in last.ends() {
        let p = half(e * (last.centre + c));
        let (x, y) = (back(x, p), back(y, [p[0], -p[1]]));
        let n = [[x[0] + y[0], x[1] + y[1]], [x[0] - y[0], x[1] - y[1]]].map(|row| row.map(|v| 0.5 * v));
        face(n, (&middle, &first, 1.0), &mut best, false, |b, a| [a, b, c]);
    }
    clamped(best.at, spans)
}

/// Searches a face: the maximum of p(s)^T N p(t), where 2 s is the angle of `rows` and 2 t the angle of `columns` times
/// `sign`. Takes the maximum of the whole face if it lies in the ranges, else the best of its edges at the ends of
/// `rows`. If `corners`, the other edges and the corners are searched too.
fn face(
    n: [Pair; 2],
    (rows, columns, sign): (&Arc, &Arc, f64),
    best: &mut Best,
    corners: bool,
    at: impl Fn(f64, f64) -> [f64; 3],
) {
    let less = [n[0][0] + n[1][1], n[1][0] - n[0][1]];
    let more = [n[0][0] - n[1][1], n[1][0] + n[0][1]];
    let max = 0.5 * (length(less) + length(more));
    if max <= best.cosine {
        return;
    }
    let (l, m) = (atan2(less[1], less[0]), atan2(more[1], more[0]));
    let (s, t) = (rows.to(m + l), columns.to(sign * (m - l)));
    if rows.holds(s) && columns.holds(t) {
        best.take(max, at(s, t));
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
    // Edges along the middle angle belong to the faces of both outer angles; one search is enough.
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

/// Converts the differences to f32, in which the ends are exact, and clamps them.
fn clamped(d: [f64; 3], spans: &[Span; 3]) -> [f32; 3] {
    [0, 1, 2].map(|n| spans[n].clamp(wrap(d[n] as f32)))
}
