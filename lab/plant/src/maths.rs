//! Vectors, quaternions and affine maps in `f64`.

use std::ops::{Add, Mul, Neg, Sub};

/// A vector or a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct V3 {
    /// First coordinate.
    pub x: f64,
    /// Second coordinate: up, in world space.
    pub y: f64,
    /// Third coordinate.
    pub z: f64,
}

/// Shorthand for a vector.
pub const fn v3(x: f64, y: f64, z: f64) -> V3 {
    V3 { x, y, z }
}

impl V3 {
    /// The null vector.
    pub const ZERO: Self = v3(0.0, 0.0, 0.0);

    /// Scalar product.
    pub fn dot(self, o: Self) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    /// Vector product.
    pub fn cross(self, o: Self) -> Self {
        v3(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }

    /// Length.
    pub fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// The same with no height.
    pub fn flat(self) -> Self {
        v3(self.x, 0.0, self.z)
    }

    /// Unit vector, or nothing where the length is next to none.
    pub fn unit(self) -> Option<Self> {
        let length = self.length();
        (length > 1e-12).then(|| self * (1.0 / length))
    }

    /// On the straight line from `self` to `o`.
    pub fn lerp(self, o: Self, t: f64) -> Self {
        self + (o - self) * t
    }

    /// Largest difference of a coordinate.
    pub fn apart(self, o: Self) -> f64 {
        let d = self - o;
        d.x.abs().max(d.y.abs()).max(d.z.abs())
    }
}

impl Add for V3 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        v3(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}
impl Sub for V3 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        v3(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}
impl Mul<f64> for V3 {
    type Output = Self;
    fn mul(self, k: f64) -> Self {
        v3(self.x * k, self.y * k, self.z * k)
    }
}
impl Neg for V3 {
    type Output = Self;
    fn neg(self) -> Self {
        self * -1.0
    }
}

/// Angle between two vectors in radians (0 where one has no length). By the arc tangent, which keeps its digits near 0.
pub fn angle(a: V3, b: V3) -> f64 {
    a.cross(b).length().atan2(a.dot(b))
}

/// A quaternion x y z w.
pub type Quat = [f64; 4];

/// Unit quaternion; no turn where there is no length.
pub fn quat_unit(q: Quat) -> Quat {
    let n = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    if n > 1e-12 { q.map(|c| c / n) } else { [0.0, 0.0, 0.0, 1.0] }
}

/// Angle of the turn between two unit quaternions in radians.
pub fn quat_angle(a: Quat, b: Quat) -> f64 {
    let (a, b) = (quat_unit(a), quat_unit(b));
    let dot: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    let apart: f64 = a.iter().zip(b).map(|(x, y)| (x - y * dot.signum()).powi(2)).sum();
    4.0 * (0.5 * apart.sqrt()).min(1.0).asin()
}

/// Spherical interpolation by the shorter way, as glTF's linear rotation tracks ask.
pub fn slerp(a: Quat, b: Quat, t: f64) -> Quat {
    let dot: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    let b = if dot < 0.0 { b.map(|c| -c) } else { b };
    let dot = dot.abs();
    // Below this angle sin(t w)/sin(w) equals t to the last digits and the division is unsafe.
    let (ka, kb) = if dot > 1.0 - 1e-12 {
        (1.0 - t, t)
    } else {
        let w = dot.acos();
        (((1.0 - t) * w).sin() / w.sin(), (t * w).sin() / w.sin())
    };
    quat_unit(std::array::from_fn(|i| a[i] * ka + b[i] * kb))
}

/// An affine map: three columns and a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// Images of the unit vectors.
    pub columns: [V3; 3],
    /// Image of the origin.
    pub translation: V3,
}

impl Affine {
    /// The map that changes nothing.
    pub const IDENTITY: Self =
        Self { columns: [v3(1.0, 0.0, 0.0), v3(0.0, 1.0, 0.0), v3(0.0, 0.0, 1.0)], translation: V3::ZERO };

    /// Scale, then rotation, then translation, as glTF's nodes have them.
    pub fn trs(t: V3, r: Quat, s: V3) -> Self {
        let [x, y, z, w] = quat_unit(r);
        let a = v3(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y));
        let b = v3(2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x));
        let c = v3(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y));
        Self { columns: [a * s.x, b * s.y, c * s.z], translation: t }
    }

    /// From 16 numbers column by column.
    pub fn from_columns(m: &[f64]) -> Self {
        let at = |c: usize| v3(m[4 * c], m[4 * c + 1], m[4 * c + 2]);
        Self { columns: [at(0), at(1), at(2)], translation: at(3) }
    }

    /// Image of a direction.
    pub fn vector(&self, v: V3) -> V3 {
        self.columns[0] * v.x + self.columns[1] * v.y + self.columns[2] * v.z
    }

    /// Image of a point.
    pub fn point(&self, p: V3) -> V3 {
        self.vector(p) + self.translation
    }

    /// First `inner`, then `self`.
    pub fn after(&self, inner: &Self) -> Self {
        Self { columns: inner.columns.map(|c| self.vector(c)), translation: self.point(inner.translation) }
    }

    /// The map back. A map that flattens space has none; it yields values that are not finite.
    pub fn inverse(&self) -> Self {
        let [a, b, c] = self.columns;
        let k = 1.0 / a.dot(b.cross(c));
        let (p, q, r) = (b.cross(c) * k, c.cross(a) * k, a.cross(b) * k);
        let columns = [v3(p.x, q.x, r.x), v3(p.y, q.y, r.y), v3(p.z, q.z, r.z)];
        let back = Self { columns, translation: V3::ZERO };
        Self { translation: -back.vector(self.translation), ..back }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_about_y_takes_z_to_x() {
        let h = 0.5_f64.sqrt();
        let m = Affine::trs(v3(1.0, 2.0, 3.0), [0.0, h, 0.0, h], v3(2.0, 2.0, 2.0));
        assert!(m.point(v3(0.0, 0.0, 1.0)).apart(v3(3.0, 2.0, 3.0)) < 1e-12);
        assert!(m.inverse().point(v3(3.0, 2.0, 3.0)).apart(v3(0.0, 0.0, 1.0)) < 1e-12);
    }

    #[test]
    fn slerp_goes_the_shorter_way_at_even_speed() {
        let at = |deg: f64| {
            let h = deg.to_radians() / 2.0;
            [h.sin(), 0.0, 0.0, h.cos()]
        };
        let q = slerp(at(10.0), at(100.0).map(|c| -c), 1.0 / 3.0);
        assert!(q.iter().zip(at(40.0)).all(|(a, b)| (a - b).abs() < 1e-12), "{q:?}");
    }

    #[test]
    fn angles_of_known_pairs() {
        assert!((angle(v3(1.0, 0.0, 0.0), v3(0.0, 3.0, 0.0)) - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
        assert!((angle(v3(1.0, 0.0, 0.0), v3(1.0, 1e-9, 0.0)) - 1e-9).abs() < 1e-20);
    }
}
