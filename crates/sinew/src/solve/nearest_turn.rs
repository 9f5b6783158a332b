//! The rotation of a ball that leads a vector as near as its limits let it, where no turn leads it there.
//!
//! The vector e turns with the ball, and may change with one more angle t, a hinge's further down. Of x = (the ball's two swings
//! and twist, t), the objective F = |R(x) e(t) - g|^2 / 2 has the derivatives
//!
//! ```text
//! dF/dx = axis(x) . (R e x (R e - g)),   dF/dt = (R e - g) . R e'(t).
//! ```
//!
//! The limits are convex in x: an ellipse and two ranges. A step is Newton's on those that do not hold: a range holds its
//! variable, and the ellipse the part along its normal, whose multiplier adds the outline's curvature to the second
//! derivative. A limit is released where the gradient leads inside. Second derivatives are differences of the gradient, in
//! f64. The step is halved until F falls, and its end is brought back to the limits.

use core::f64::consts::{PI, TAU};

use glam::{DMat3, DQuat, DVec3};

use super::cholesky::cholesky;
use crate::{
    joint::{Socket, turn},
    math64::{self, sin_cos, sqrt},
};

/// A vector in a ball's own frame that describes an ellipse with an angle t: centre + cos t * p + sin t * q.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arm {
    pub centre: DVec3,
    pub p: DVec3,
    pub q: DVec3,
}

impl Arm {
    pub fn end(&self, t: f64) -> DVec3 {
        let (s, c) = math64::sin_cos(t);
        self.centre + self.p * c + self.q * s
    }

    pub fn slope(&self, t: f64) -> DVec3 {
        let (s, c) = math64::sin_cos(t);
        self.q * c - self.p * s
    }
}

/// What is brought near: the arm of a ball, to a place in the frame of the ball's parent. Lengths are near 1.
pub(super) struct NearestTurn<'a> {
    pub socket: &'a Socket,
    pub arm: Arm,
    pub to: DVec3,
    /// The range of the arm's angle.
    pub range: [f64; 2],
}

type X = [f64; 4];

fn dot(a: &X, b: &X) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

fn plus(a: &X, b: &X, by: f64) -> X {
    [0, 1, 2, 3].map(|k| a[k] + b[k] * by)
}

/// Steps at the most. Ten are usual from the limits' own projection of a start.
const STEPS: u32 = 40;
/// Largest step of a variable, in radians.
const WIDE: f64 = 0.5;
/// Step below which the end is reached, in radians: f32 resolves no such turn.
const SMALL: f64 = 1e-8;
/// Distance from a limit, in radians, within which f32 is on it.
const ON: f64 = 1e-6;
/// Distance by which another start's end must be nearer than that from the pose itself.
const NEARER: f64 = 1e-5;
/// Turns about a line among which starts are sought.
const RING: usize = 12;

/// The shortest arc between two vectors of any length; a half turn about `fallback` where they are opposite.
pub(super) fn arc(from: DVec3, to: DVec3, fallback: DVec3) -> DQuat {
    let product = sqrt(from.length_squared() * to.length_squared());
    let (v, w) = (from.cross(to), product + from.dot(to));
    if product <= 0.0 {
        DQuat::IDENTITY
    } else if w > 1e-9 * product {
        math64::normalize(DQuat::from_xyzw(v.x, v.y, v.z, w))
    } else {
        let mut axis = fallback - from * (fallback.dot(from) / from.length_squared());
        if axis.length_squared() < 1e-12 {
            axis = from.cross(if from.x.abs() < 0.5 * from.length() { DVec3::X } else { DVec3::Y });
        }
        turn(axis / axis.length(), PI)
    }
}

impl NearestTurn<'_> {
    fn at(&self, x: &X) -> (DMat3, [DVec3; 3], DVec3) {
        let (r, axes) = self.socket.turned([x[0], x[1], x[2]]);
        let end = r * self.arm.end(x[3]);
        (r, axes, end)
    }

    /// The distance that is left.
    pub fn left(&self, x: &X) -> f64 {
        sqrt((self.at(x).2 - self.to).length_squared())
    }

    fn gradient(&self, x: &X) -> X {
        let (r, axes, end) = self.at(x);
        let miss = end - self.to;
        let turn = end.cross(miss);
        [axes[0].dot(turn), axes[1].dot(turn), axes[2].dot(turn), miss.dot(r * self.arm.slope(x[3]))]
    }

    /// Length of the part of the displacement from the end to the place that the limits let the end move along, at first: no
    /// longer than the displacement of the place itself, where it was another for which this was the nearest.
    pub fn along(&self, x: &X) -> f64 {
        let (r, axes, end) = self.at(x);
        let (basis, count, _) = self.free(x, &self.gradient(x));
        let columns = [axes[0].cross(end), axes[1].cross(end), axes[2].cross(end), r * self.arm.slope(x[3])];
        let (mut left, mut taken) = (self.to - end, [DVec3::ZERO; 4]);
        for (n, b) in basis[..count].iter().enumerate() {
            let column = (0..4).map(|k| columns[k] * b[k]).sum::<DVec3>();
            let across = taken[..n].iter().fold(column, |v, t| v - *t * t.dot(v));
            // Directions that differ by less have no more than one between them.
            if across.length_squared() > 1e-4 * column.length_squared() {
                taken[n] = across / sqrt(across.length_squared());
                left -= taken[n] * taken[n].dot(left);
            }
        }
        sqrt(((self.to - end).length_squared() - left.length_squared()).max(0.0))
    }

    /// The coordinates within the limits that are nearest to others.
    pub fn inside(&self, x: X) -> X {
        let [a, b, c] = self.socket.nearest([x[0], x[1], x[2]]);
        [a, b, c, x[3].clamp(self.range[0], self.range[1])]
    }

    /// Goes from a start to the nearest place around it. Returns where it ends, and the distance that is left.
    pub fn descend(&self, start: X) -> (X, f64) {
        let mut x = self.inside(start);
        let mut left = self.left(&x);
        for _ in 0..STEPS {
            let gradient = self.gradient(&x);
            let (basis, count, bent) = self.free(&x, &gradient);
            let basis = &basis[..count];
            let along = basis.iter().map(|b| dot(b, &gradient)).fold(0.0, |m: f64, g| m.max(g.abs()));
            if along <= 1e-12 {
                break;
            }
            let step = self.step(&x, &gradient, basis, bent);
            let size = step.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
            let mut by = (WIDE / size).min(1.0);
            let mut went = 0.0;
            for _ in 0..12 {
                let next = self.inside(plus(&x, &step, by));
                let nearer = self.left(&next);
                if nearer < left {
                    let way = plus(&next, &x, -1.0);
                    went = sqrt(dot(&way, &way));
                    (x, left) = (next, nearer);
                    break;
                }
                by *= 0.4;
            }
            if went <= SMALL {
                break;
            }
        }
        (x, left)
    }

    /// The nearest coordinates from the pose `now` and from other starts: where the end is nearest among turns about `line`, a
    /// unit vector, of a rotation for each of `angles`, and among swings with a twist at its limit.
    pub fn search(&self, now: X, line: DVec3, angles: &[f64], rotation: impl Fn(f64) -> DQuat) -> X {
        let mut best = self.descend(now);
        let mut margin = NEARER;
        let [low, high] = self.range;
        let ends = if low < high { &[low, high][..] } else { &[low] };
        let swivels = angles.iter().map(|&t| (t, 0.0));
        let corners = ends.iter().flat_map(|&t| [(t, -PI), (t, PI)]);
        for (t, twist) in swivels.chain(corners) {
            let turned = rotation(t);
            let ring: [_; RING] = core::array::from_fn(|n| {
                let angle = n as f64 * (TAU / RING as f64);
                let [x, y, z] = if twist == 0.0 {
                    self.socket.coordinates(turn(line, angle) * turned)
                } else {
                    let (s, c) = sin_cos(angle);
                    [PI * c, PI * s, twist]
                };
                let start = self.inside([x, y, z, t]);
                (start, self.left(&start))
            });
            for n in 0..RING {
                let left = |k: usize| ring[(n + k) % RING].1;
                if left(0) <= left(1) && left(0) < left(RING - 1) {
                    let other = self.descend(ring[n].0);
                    if other.1 < best.1 - margin {
                        (best, margin) = (other, 0.0);
                    }
                }
            }
        }
        best.0
    }

    /// The directions that no limit holds, their number, and what the ellipse's curvature adds to the second derivative along
    /// the first of them.
    fn free(&self, x: &X, gradient: &X) -> ([X; 4], usize, f64) {
        let (mut basis, mut count, mut bent) = ([[0.0; 4]; 4], 0, 0.0);
        let mut take = |b: X| {
            basis[count] = b;
            count += 1;
        };
        let outwards = |n: &[f64; 2]| gradient[0] * n[0] + gradient[1] * n[1];
        match self.socket.outline([x[0], x[1]]).filter(|(n, _)| outwards(n) < 0.0) {
            Some((n, curvature)) => {
                bent = -outwards(&n) * curvature;
                take([-n[1], n[0], 0.0, 0.0]);
            }
            None => {
                take([1.0, 0.0, 0.0, 0.0]);
                take([0.0, 1.0, 0.0, 0.0]);
            }
        }
        for (k, [low, high]) in [(2, self.socket.twist), (3, self.range)] {
            let held = low == high
                || x[k] <= low + ON && gradient[k] > 0.0
                || x[k] >= high - ON && gradient[k] < 0.0;
            if !held {
                let mut b = [0.0; 4];
                b[k] = 1.0;
                take(b);
            }
        }
        (basis, count, bent)
    }

    /// Newton's step along these directions, with as much added to the second derivatives as makes them positive.
    fn step(&self, x: &X, gradient: &X, basis: &[X], bent: f64) -> X {
        let n = basis.len();
        let mut h = [[0.0; 4]; 4];
        const BY: f64 = 1e-5;
        for (i, b) in basis.iter().enumerate() {
            let (up, down) = (self.gradient(&plus(x, b, BY)), self.gradient(&plus(x, b, -BY)));
            for (j, c) in basis.iter().enumerate() {
                h[i][j] += 0.25 / BY * (dot(&up, c) - dot(&down, c));
                h[j][i] += 0.25 / BY * (dot(&up, c) - dot(&down, c));
            }
        }
        h[0][0] += bent;
        let size = (0..n).fold(1e-9, |m: f64, i| m.max(h[i][i].abs()));
        let mut more = 0.0;
        for _ in 0..40 {
            let mut a = h;
            let mut y = [0, 1, 2, 3].map(|i| if i < n { -dot(&basis[i], gradient) } else { 0.0 });
            for (i, row) in a.iter_mut().enumerate() {
                row[i] += more;
            }
            if cholesky(a.as_flattened_mut(), 4, &mut y[..n]) {
                return (0..n).fold([0.0; 4], |sum, i| plus(&sum, &basis[i], y[i]));
            }
            more = if more > 0.0 { 4.0 * more } else { 1e-4 * size };
        }
        gradient.map(|g| -g)
    }
}
