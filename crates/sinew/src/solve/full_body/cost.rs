//! Quadratic cost of the motion of a body.

use crate::math;
use glam::{Quat, Vec3};

/// Cost 1/2 x'Mx - g'x of a motion x of a body: that of all tasks on it and below, minimised over the eliminated dofs.
///
/// The reference point is the joint's position, lengths are in figure sizes. M is symmetric, in three blocks. Products are
/// unrolled by hand: loops take twice as long.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct QuadraticCost {
    /// Rotation by rotation.
    pub tt: Sym,
    /// Rotation by translation, rows.
    pub tv: [[f64; 3]; 3],
    /// Translation by translation.
    pub vv: Sym,
    pub g: Twist,
}

/// A symmetric matrix: xx, yy, zz, xy, xz, yz.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sym(pub [f64; 6]);

impl Sym {
    #[inline(always)]
    pub fn times(&self, v: [f64; 3]) -> [f64; 3] {
        let [a, b, c, d, e, f] = self.0;
        let [x, y, z] = v;
        [a * x + d * y + e * z, d * x + b * y + f * z, e * x + f * y + c * z]
    }

    #[inline(always)]
    pub fn add(&mut self, other: &Self) {
        for k in 0..6 {
            self.0[k] += other.0[k];
        }
    }

    /// Adds k v v'.
    #[inline(always)]
    pub fn add_outer(&mut self, v: [f64; 3], k: f64) {
        let [x, y, z] = v;
        self.add(&Self([x * x, y * y, z * z, x * y, x * z, y * z].map(|c| k * c)));
    }

    /// The inverse after adding `damping` to the diagonal, by cofactors.
    #[inline(always)]
    pub fn inverse(&self, damping: f64) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let (a, b, c) = (a + damping, b + damping, c + damping);
        let (aa, dd, ee) = (b * c - f * f, e * f - d * c, d * f - e * b);
        let k = 1.0 / (a * aa + d * dd + e * ee);
        Self([k * aa, k * (a * c - e * e), k * (a * b - d * d), k * dd, k * ee, k * (d * e - a * f)])
    }
}

#[inline(always)]
pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
pub(super) fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(super) fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(super) fn scale(a: [f64; 3], k: f64) -> [f64; 3] {
    [a[0] * k, a[1] * k, a[2] * k]
}

#[inline(always)]
pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Product of a matrix, in rows, and a vector.
#[inline(always)]
pub(super) fn times(m: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
}

/// Product of the transpose of a matrix, in rows, and a vector.
#[inline(always)]
pub(super) fn times_back(m: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    add(add(scale(m[0], v[0]), scale(m[1], v[1])), scale(m[2], v[2]))
}

#[inline(always)]
pub(super) fn wide(v: Vec3) -> [f64; 3] {
    [f64::from(v.x), f64::from(v.y), f64::from(v.z)]
}

/// A motion (rotation t, translation v) or a wrench (torque t, force v).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Twist {
    pub t: [f64; 3],
    pub v: [f64; 3],
}

impl Twist {
    pub const ZERO: Self = Self { t: [0.0; 3], v: [0.0; 3] };

    #[inline(always)]
    pub fn dot(&self, other: &Self) -> f64 {
        dot(self.t, other.t) + dot(self.v, other.v)
    }

    #[inline(always)]
    pub fn plus(&self, other: &Self) -> Self {
        Self { t: add(self.t, other.t), v: add(self.v, other.v) }
    }

    #[inline(always)]
    pub fn times(&self, k: f64) -> Self {
        Self { t: scale(self.t, k), v: scale(self.v, k) }
    }

    /// Converts a motion to another reference point, displaced by `r`.
    #[inline(always)]
    pub fn seen_from(&self, r: [f64; 3]) -> Self {
        Self { t: self.t, v: add(self.v, cross(self.t, r)) }
    }

    /// Converts a wrench that acts at a point displaced by `r` to the reference point.
    #[inline(always)]
    pub fn acts_at(&self, r: [f64; 3]) -> Self {
        Self { t: add(self.t, cross(r, self.v)), v: self.v }
    }

    pub fn is_finite(&self) -> bool {
        // A sum is finite only if all its terms are.
        (self.t[0] + self.t[1] + self.t[2] + self.v[0] + self.v[1] + self.v[2]).is_finite()
    }
}

/// The three eliminated rotational dofs of a ball.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BallDofs {
    /// A^-1 with A = M_tt + damping.
    pub inverse: Sym,
    /// A^-1 M_tv.
    pub tv: [[f64; 3]; 3],
    pub damping: f64,
    /// Rotation while the body is fixed.
    pub c: [f64; 3],
    /// In a limb, rotation per unit of torque.
    pub compliance: f64,
}

impl BallDofs {
    /// Rotation where the body moves by x: A^-1 (g_t - M_tt t - M_tv v), with A^-1 M_tt = 1 - damping A^-1.
    #[inline(always)]
    pub fn turn(&self, x: &Twist) -> [f64; 3] {
        let back = scale(self.inverse.times(x.t), self.damping);
        add(sub(self.c, x.t), sub(back, times(&self.tv, x.v)))
    }

    /// The wrench that the ball transmits inward, and the rotation that this wrench causes.
    #[inline(always)]
    pub fn pass(&self, wrench: &Twist) -> (Twist, [f64; 3]) {
        let turn = self.inverse.times(wrench.t);
        (Twist { t: scale(turn, self.damping), v: sub(wrench.v, times_back(&self.tv, wrench.t)) }, turn)
    }
}

impl QuadraticCost {
    /// Adds a position task for the point at `a` from the reference point, with residual `e`: w/2 |v + t x a - e|^2.
    pub fn add_position(&mut self, a: Vec3, e: Vec3, w: f64) {
        let (a, e) = (wide(a), wide(e));
        let [x, y, z] = a;
        let m = [y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z];
        self.tt.add(&Sym(m.map(|c| w * c)));
        // The cross-product matrix of a.
        for (i, j, c) in [(0, 1, -z), (0, 2, y), (1, 0, z), (1, 2, -x), (2, 0, -y), (2, 1, x)] {
            self.tv[i][j] += w * c;
        }
        for k in 0..3 {
            self.vv.0[k] += w;
        }
        self.g = self.g.plus(&Twist { t: cross(a, e), v: e }.times(w));
    }

    /// Adds a task for the reference point along a unit vector `n`, with residual `e`: w/2 (n'v - e)^2.
    pub fn add_along(&mut self, n: [f64; 3], e: f64, w: f64) {
        self.add_outer(&Twist { t: [0.0; 3], v: n }, w, false);
        self.g.v = add(self.g.v, scale(n, w * e));
    }

    /// Adds a rotation task with the residual `e`, a rotation vector: w/2 |t - e|^2.
    pub fn add_rotation(&mut self, e: Vec3, w: f64) {
        for k in 0..3 {
            self.tt.0[k] += w;
        }
        self.g.t = add(self.g.t, scale(wide(e), w));
    }

    /// Adds the cost of another body that moves rigidly with this one and has its reference point at `r` from this one's.
    ///
    /// Its motion is (t, v + t x r), so with B = M_tv + \[r\] M_vv the blocks become M_tt + \[r\] M_tv' - B \[r\], B and
    /// M_vv.
    #[inline(always)]
    pub fn add_from(&mut self, below: &QuadraticCost, r: [f64; 3]) {
        let [a, b, c, d, e, f] = below.vv.0;
        let [x, y, z] = r;
        let tv = &below.tv;
        // Columns of vv are (a d e), (d b f), (e f c); each row of [r] vv combines two of them.
        let b0 = [tv[0][0] + (y * e - z * d), tv[0][1] + (y * f - z * b), tv[0][2] + (y * c - z * f)];
        let b1 = [tv[1][0] + (z * a - x * e), tv[1][1] + (z * d - x * f), tv[1][2] + (z * e - x * c)];
        let b2 = [tv[2][0] + (x * d - y * a), tv[2][1] + (x * b - y * d), tv[2][2] + (x * f - y * e)];
        // Row i of [r] M_tv' and row i of B cross r; half of their difference suffices, as it is symmetric.
        let up = |i: usize, j: usize| match i {
            0 => y * tv[j][2] - z * tv[j][1],
            1 => z * tv[j][0] - x * tv[j][2],
            _ => x * tv[j][1] - y * tv[j][0],
        };
        let (d0, d1, d2) = (cross(b0, r), cross(b1, r), cross(b2, r));
        let t = &below.tt.0;
        let s = &mut self.tt.0;
        s[0] += t[0] + up(0, 0) - d0[0];
        s[1] += t[1] + up(1, 1) - d1[1];
        s[2] += t[2] + up(2, 2) - d2[2];
        s[3] += t[3] + up(0, 1) - d0[1];
        s[4] += t[4] + up(0, 2) - d0[2];
        s[5] += t[5] + up(1, 2) - d1[2];
        self.tv[0] = add(self.tv[0], b0);
        self.tv[1] = add(self.tv[1], b1);
        self.tv[2] = add(self.tv[2], b2);
        self.vv.add(&below.vv);
        self.g = self.g.plus(&below.g.acts_at(r));
    }

    /// M s for a rotation about `axis` at the reference point, or a translation along it.
    #[inline(always)]
    pub fn column(&self, axis: [f64; 3], slides: bool) -> Twist {
        if slides {
            Twist { t: times(&self.tv, axis), v: self.vv.times(axis) }
        } else {
            Twist { t: self.tt.times(axis), v: times_back(&self.tv, axis) }
        }
    }

    /// Eliminates a dof, which then minimises the cost for any motion of the body. `h` is M s, `inverse` is 1 / (s'Ms +
    /// damping), `c` is the dof's motion while the body is fixed.
    #[inline(always)]
    pub fn eliminate(&mut self, h: &Twist, inverse: f64, c: f64) {
        let (t, v) = (h.t, h.v);
        let f = h.times(inverse);
        for (k, (i, j)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            self.tt.0[k] -= f.t[i] * t[j];
            self.vv.0[k] -= f.v[i] * v[j];
        }
        for i in 0..3 {
            self.tv[i] = sub(self.tv[i], scale(v, f.t[i]));
        }
        self.g = self.g.plus(&h.times(-c));
    }

    /// Adds k h h' to M; to M_vv only, unless `turned`.
    #[inline(always)]
    pub fn add_outer(&mut self, h: &Twist, k: f64, turned: bool) {
        let (t, v) = (h.t, h.v);
        let f = h.times(k);
        for (n, (i, j)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            self.vv.0[n] += f.v[i] * v[j];
            if turned {
                self.tt.0[n] += f.t[i] * t[j];
            }
        }
        if turned {
            for i in 0..3 {
                self.tv[i] = add(self.tv[i], scale(v, f.t[i]));
            }
        }
    }

    /// Inverts M, which must be positive definite, in place.
    ///
    /// Factors M = L D L', which keeps its digits at any condition number. With N = L^-1, M^-1 = N' D^-1 N.
    pub fn invert(&mut self) {
        let [a, b, c, d, e, f] = self.tt.0;
        let [p, q, r, s, t, u] = self.vv.0;
        let x = &self.tv;
        let mut m = [
            [a, 0.0, 0.0, 0.0, 0.0, 0.0],
            [d, b, 0.0, 0.0, 0.0, 0.0],
            [e, f, c, 0.0, 0.0, 0.0],
            [x[0][0], x[1][0], x[2][0], p, 0.0, 0.0],
            [x[0][1], x[1][1], x[2][1], s, q, 0.0],
            [x[0][2], x[1][2], x[2][2], t, u, r],
        ];
        let mut inverse = [0.0; 6];
        for j in 0..6 {
            // Row j of L times the pivots.
            let row = m[j];
            let mut scaled = [0.0; 6];
            for k in 0..j {
                scaled[k] = row[k] * m[k][k];
            }
            let less = |row: &[f64; 6]| (0..j).fold(row[j], |sum, k| sum - row[k] * scaled[k]);
            m[j][j] = less(&row);
            inverse[j] = 1.0 / m[j][j];
            for row in &mut m[j + 1..] {
                row[j] = less(row) * inverse[j];
            }
        }
        // N below its diagonal, in place of L.
        for i in 0..6 {
            for j in 0..i {
                let row = &m[i];
                m[i][j] = -(j + 1..i).fold(row[j], |sum, k| sum + row[k] * m[k][j]);
            }
        }
        let at = |i: usize, j: usize| {
            let first = if i == j { inverse[i] } else { inverse[j] * m[j][i] };
            (j + 1..6).fold(first, |sum, k| sum + inverse[k] * m[k][i] * m[k][j])
        };
        self.tt = Sym([at(0, 0), at(1, 1), at(2, 2), at(0, 1), at(0, 2), at(1, 2)]);
        self.vv = Sym([at(3, 3), at(4, 4), at(5, 5), at(3, 4), at(3, 5), at(4, 5)]);
        self.tv = [0, 1, 2].map(|i| [at(i, 3), at(i, 4), at(i, 5)]);
    }

    /// Eliminates all three rotations of a ball. `bias` is the torque of secondary objectives.
    ///
    /// With A = M_tt + damping, the blocks become damping (1 - damping A^-1), damping A^-1 M_tv and M_vv - M_vt A^-1 M_tv.
    #[inline(always)]
    pub fn eliminate_ball(&mut self, damping: f64, bias: [f64; 3]) -> BallDofs {
        let inverse = self.tt.inverse(damping);
        let columns = |j: usize| inverse.times([self.tv[0][j], self.tv[1][j], self.tv[2][j]]);
        let (y0, y1, y2) = (columns(0), columns(1), columns(2));
        let y = [[y0[0], y1[0], y2[0]], [y0[1], y1[1], y2[1]], [y0[2], y1[2], y2[2]]];
        let torque = add(self.g.t, bias);
        let c = inverse.times(torque);
        self.g.v = sub(self.g.v, times_back(&self.tv, c));
        // g_t - M_tt c = g_t - (torque - damping c).
        self.g.t = sub(scale(c, damping), bias);
        let m = [0, 1, 2].map(|i| [self.tv[0][i], self.tv[1][i], self.tv[2][i]]);
        let v = &mut self.vv.0;
        v[0] -= dot(m[0], y0);
        v[1] -= dot(m[1], y1);
        v[2] -= dot(m[2], y2);
        v[3] -= dot(m[0], y1);
        v[4] -= dot(m[0], y2);
        v[5] -= dot(m[1], y2);
        let k = damping * damping;
        for (n, t) in self.tt.0.iter_mut().enumerate() {
            *t = if n < 3 { damping } else { 0.0 } - k * inverse.0[n];
        }
        self.tv = y.map(|row| scale(row, damping));
        BallDofs { inverse, tv: y, damping, c, compliance: 0.0 }
    }
}

/// Twice the vector part of a rotation, by the shorter arc: 2 sin(angle / 2) times the axis. It is the rotation vector where
/// that is small, and its length grows with the angle up to a half turn.
#[inline]
pub(super) fn chord(q: Quat) -> Vec3 {
    let s = if q.w < 0.0 { -2.0 } else { 2.0 };
    Vec3::new(q.x, q.y, q.z) * s
}

/// The Cayley map: the rotation for which `t` is 2 tan(angle / 2) times the axis. `t` is the rotation vector where it is
/// small, and the angle stays below a half turn.
#[inline]
pub(super) fn cayley(t: Vec3) -> Quat {
    math::normalize(Quat::from_xyzw(0.5 * t.x, 0.5 * t.y, 0.5 * t.z, 1.0))
}
