//! Scalar functions in `f64` for joint space, with the same bits on every platform. They rely on the absence of fused
//! multiply-add, which Rust does not introduce.
//!
//! glam's `DVec3`, `DMat3` and `DQuat` are plain scalar code and used directly, except for functions that glam takes
//! from the platform (sine, cosine, arc functions): these are here.

use core::f64::consts::FRAC_2_PI;

use glam::{DMat3, DQuat, DVec3};

use crate::math::kernels;

/// The square root, correctly rounded on every platform.
#[inline(always)]
pub fn sqrt(x: f64) -> f64 {
    #[cfg(feature = "std")]
    return x.sqrt();
    #[cfg(not(feature = "std"))]
    return libm::sqrt(x);
}

/// Sine and cosine from the platform (or `libm`), for angles that [`sin_cos`] does not reduce itself.
#[cold]
fn far_sin_cos(x: f64) -> (f64, f64) {
    #[cfg(feature = "libm")]
    return (libm::sin(x), libm::cos(x));
    #[cfg(not(feature = "libm"))]
    return x.sin_cos();
}

/// Sine and cosine of an angle in radians, within 2.3e-16 of the exact values.
///
/// The angle is reduced to \[-pi/4, pi/4\] by whole quarter turns. They are subtracted in three pieces whose products
/// with the count are exact (Cody & Waite 1980). The Taylor series are truncated below 1e-17. The only branch is for
/// angles beyond a million radians, so that the compiler can interleave neighbouring joints.
#[inline(always)]
pub fn sin_cos(x: f64) -> (f64, f64) {
    // pi / 2 = P1 + P2 + P3, with 33 bits in each of the first two: products with a count below 2^20 are exact.
    const P1: f64 = 1.570_796_326_734_125_6;
    const P2: f64 = 6.077_100_506_303_966e-11;
    const P3: f64 = 2.022_266_248_795_950_6e-21;
    // 2^52 + 2^51: adding and subtracting it rounds to the nearest integer, which is then in the low bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    if x.abs() > 1e6 || x.is_nan() {
        return far_sin_cos(x);
    }
    let shifted = x * FRAC_2_PI + ROUND;
    let count = shifted - ROUND;
    let quarter = shifted.to_bits();
    let r = ((x - count * P1) - count * P2) - count * P3;
    let z = r * r;
    // Coefficients are +-1 / k!. Sums of pairs first, so that the halves of a series are independent.
    let z2 = z * z;
    let z4 = z2 * z2;
    let s = (-1.0 / 6.0 + z * (1.0 / 120.0))
        + z2 * (-1.0 / 5_040.0 + z * (1.0 / 362_880.0))
        + z4 * ((-1.0 / 39_916_800.0 + z * (1.0 / 6_227_020_800.0)) + z2 * (-1.0 / 1_307_674_368_000.0));
    let c = (1.0 / 24.0 - z * (1.0 / 720.0))
        + z2 * (1.0 / 40_320.0 - z * (1.0 / 3_628_800.0))
        + z4 * ((1.0 / 479_001_600.0 - z * (1.0 / 87_178_291_200.0)) + z2 * (1.0 / 20_922_789_888_000.0));
    let sin = r + r * z * s;
    let half = 0.5 * z;
    // 1 - z/2 loses its last bits; the lost part is added back.
    let w = 1.0 - half;
    let cos = w + (((1.0 - w) - half) + z2 * c);
    let odd = quarter & 1 != 0;
    let (a, b) = if odd { (cos, sin) } else { (sin, cos) };
    let sign_a = (quarter & 2) << 62;
    let sign_b = (quarter.wrapping_add(1) & 2) << 62;
    (f64::from_bits(a.to_bits() ^ sign_a), f64::from_bits(b.to_bits() ^ sign_b))
}

kernels! { f64;
    /// The angle of the point (x, y) from the x axis, in radians in (-pi, pi].
    atan2(y, x) = atan2, atan2;
    /// The natural logarithm.
    ln(x) = ln, log;
    /// x to the power of y.
    powf(x, y) = powf, pow;
}

/// The nearest integer, halves to even. Returns `x` itself from 2^51 on.
#[inline(always)]
pub fn round(x: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0;
    if x.abs() < 2_251_799_813_685_248.0 { (x + ROUND) - ROUND } else { x }
}

/// The rotation by `angle` radians about the unit vector `axis` (right-handed).
pub fn axis_angle(axis: DVec3, angle: f64) -> DMat3 {
    let (s, c) = sin_cos(angle);
    let k = axis * (1.0 - c);
    let (x, y, z) = (axis * s).into();
    DMat3::from_cols(
        DVec3::new(k.x * axis.x + c, k.x * axis.y + z, k.x * axis.z - y),
        DVec3::new(k.y * axis.x - z, k.y * axis.y + c, k.y * axis.z + x),
        DVec3::new(k.z * axis.x + y, k.z * axis.y - x, k.z * axis.z + c),
    )
}

/// The rotation of a rotation vector, and the left Jacobian there: see `mechanism::ball`.
pub fn exponential(v: DVec3) -> (DMat3, DMat3) {
    let t = v.length_squared();
    let [a, b, c] = if t < 0.1 {
        // Series in the square of the angle; the remainder is below 2e-16.
        let series = |k: [f64; 6]| k.into_iter().rev().fold(0.0, |sum, k| sum * t + k);
        [
            series([1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5_040.0, 1.0 / 362_880.0, -1.0 / 39_916_800.0]),
            series([0.5, -1.0 / 24.0, 1.0 / 720.0, -1.0 / 40_320.0, 1.0 / 3_628_800.0, -1.0 / 479_001_600.0]),
            series([
                1.0 / 6.0,
                -1.0 / 120.0,
                1.0 / 5_040.0,
                -1.0 / 362_880.0,
                1.0 / 39_916_800.0,
                -1.0 / 6_227_020_800.0,
            ]),
        ]
    } else {
        let angle = sqrt(t);
        let (sin, cos) = sin_cos(angle);
        let a = sin / angle;
        [a, (1.0 - cos) / t, (1.0 - a) / t]
    };
    (of(v, 1.0 - b * t, a, b), of(v, a, b, c))
}

/// `p 1 + q [v] + r v v^T`.
fn of(v: DVec3, p: f64, q: f64, r: f64) -> DMat3 {
    let (s, w) = (v * q, v * r);
    DMat3::from_cols(
        DVec3::new(p + w.x * v.x, w.x * v.y + s.z, w.x * v.z - s.y),
        DVec3::new(w.y * v.x - s.z, p + w.y * v.y, w.y * v.z + s.x),
        DVec3::new(w.z * v.x + s.y, w.z * v.y - s.x, p + w.z * v.z),
    )
}

/// The rotation vector (axis times angle, the angle in \[0, pi\], radians) of a rotation matrix.
///
/// The skew part has length 2 sin(angle), and the trace is 1 + 2 cos(angle). Near half a turn the skew part vanishes;
/// the axis is then taken from the symmetric part: R + 1 = 2 a a^T.
#[inline(always)]
pub fn rotation_vector(r: &DMat3) -> DVec3 {
    let (x, y, z) = (r.x_axis, r.y_axis, r.z_axis);
    let skew = DVec3::new(y.z - z.y, z.x - x.z, x.y - y.x);
    let trace = x.x + y.y + z.z;
    let s2 = skew.length_squared();
    let c2 = trace - 1.0;
    if c2 > -1.9 {
        // For small angles angle / sin(angle) is 1 + sin^2 / 6 to better than 1e-16.
        if s2 < 1e-7 && c2 > 0.0 {
            return skew * (0.5 + s2 * (1.0 / 48.0));
        }
        let s = sqrt(s2);
        return skew * (atan2(s, c2) / s);
    }
    half_turn(r, skew, atan2(sqrt(s2), c2))
}

/// [`rotation_vector`] within 0.32 radians of half a turn.
#[cold]
fn half_turn(r: &DMat3, skew: DVec3, angle: f64) -> DVec3 {
    let diagonal = DVec3::new(r.x_axis.x, r.y_axis.y, r.z_axis.z);
    // The symmetric part is cos * 1 + (1 - cos) a a^T. The column with the largest diagonal entry has the most digits.
    let cos = 0.5 * (diagonal.x + diagonal.y + diagonal.z - 1.0);
    let symmetric = (*r + r.transpose()) * 0.5;
    let column = if diagonal.x >= diagonal.y && diagonal.x >= diagonal.z {
        symmetric.x_axis - DVec3::X * cos
    } else if diagonal.y >= diagonal.z {
        symmetric.y_axis - DVec3::Y * cos
    } else {
        symmetric.z_axis - DVec3::Z * cos
    };
    let axis = column / sqrt(column.length_squared());
    // The skew part gives the sign of the axis. At exactly half a turn both signs are correct.
    if axis.dot(skew) < 0.0 { axis * -angle } else { axis * angle }
}

/// The rotation matrix of a unit quaternion.
pub fn matrix(q: DQuat) -> DMat3 {
    let (x2, y2, z2) = (q.x + q.x, q.y + q.y, q.z + q.z);
    let (xx, xy, xz) = (q.x * x2, q.x * y2, q.x * z2);
    let (yy, yz, zz) = (q.y * y2, q.y * z2, q.z * z2);
    let (wx, wy, wz) = (q.w * x2, q.w * y2, q.w * z2);
    DMat3::from_cols(
        DVec3::new(1.0 - (yy + zz), xy + wz, xz - wy),
        DVec3::new(xy - wz, 1.0 - (xx + zz), yz + wx),
        DVec3::new(xz + wy, yz - wx, 1.0 - (xx + yy)),
    )
}

/// Normalises a quaternion of nearly unit length.
pub fn normalize(q: DQuat) -> DQuat {
    let s = 1.0 / sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    DQuat::from_xyzw(q.x * s, q.y * s, q.z * s, q.w * s)
}

/// The unit quaternion, w at least 0, of a rotation matrix (Shepperd 1978).
pub fn quaternion(m: &DMat3) -> DQuat {
    let (a, b, c) = (m.x_axis, m.y_axis, m.z_axis);
    let t = a.x + b.y + c.z;
    let [x, y, z, w] = if t > 0.0 {
        [b.z - c.y, c.x - a.z, a.y - b.x, t + 1.0]
    } else if a.x >= b.y && a.x >= c.z {
        [1.0 + a.x - b.y - c.z, a.y + b.x, c.x + a.z, b.z - c.y]
    } else if b.y >= c.z {
        [a.y + b.x, 1.0 + b.y - a.x - c.z, b.z + c.y, c.x - a.z]
    } else {
        [c.x + a.z, b.z + c.y, 1.0 + c.z - a.x - b.y, a.y - b.x]
    };
    let s = 1.0 / sqrt(x * x + y * y + z * z + w * w);
    let s = if w < 0.0 { -s } else { s };
    DQuat::from_xyzw(x * s, y * s, z * s, w * s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sines_and_cosines_are_right_to_the_last_bits() {
        let mut x = -40.0;
        while x < 40.0 {
            let (s, c) = sin_cos(x);
            assert!(
                (s - libm_sin(x)).abs() <= 2.3e-16 && (c - libm_sin_cos(x)).abs() <= 2.3e-16,
                "{x}: {s} {c}"
            );
            x += 0.000_917;
        }
        for x in [0.0, 1e-300, 1.0, 3e5, 9.999e5, -1e6, 1e9, -1e15] {
            let (s, c) = sin_cos(x);
            assert!((s - libm_sin(x)).abs() <= 3e-16 && (c - libm_sin_cos(x)).abs() <= 3e-16, "{x}: {s} {c}");
        }
        assert!(sin_cos(f64::NAN).0.is_nan() && sin_cos(f64::INFINITY).1.is_nan());
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
    }

    fn libm_sin(x: f64) -> f64 {
        #[cfg(feature = "std")]
        return x.sin();
        #[cfg(not(feature = "std"))]
        return libm::sin(x);
    }

    fn libm_sin_cos(x: f64) -> f64 {
        #[cfg(feature = "std")]
        return x.cos();
        #[cfg(not(feature = "std"))]
        return libm::cos(x);
    }

    fn axes() -> impl Iterator<Item = DVec3> {
        (0..60).map(|i| {
            let f = f64::from(i);
            DVec3::new(sin_cos(f * 1.3).0, sin_cos(f * 2.1).1, sin_cos(f * 0.7).0).normalize()
        })
    }

    #[test]
    fn rotation_vectors_come_back_at_any_angle() {
        for axis in axes().chain([DVec3::X, DVec3::Y, DVec3::Z]) {
            let near = [0.1, 1e-3, 1e-6, 1e-9].map(|d| core::f64::consts::PI - d);
            for angle in [0.0, 1e-12, 1e-5, 1e-4, 3e-4, 0.01, 1.0, 2.0, 2.8].into_iter().chain(near) {
                let back = rotation_vector(&axis_angle(axis, angle));
                let expected = axis * angle;
                // Near half a turn only the small remainder of sin(angle) gives the sign of the axis.
                assert!((back - expected).length() < 1e-12 + 1e-15 * angle, "{axis} {angle}: {back}");
            }
        }
        let half = rotation_vector(&DMat3::from_diagonal(DVec3::new(-1.0, -1.0, 1.0)));
        assert!((half.abs() - DVec3::Z * core::f64::consts::PI).length() < 1e-15);
    }

    #[test]
    fn matrices_and_quaternions_agree() {
        for (i, axis) in axes().enumerate() {
            let m = axis_angle(axis, 0.11 * i as f64);
            let back = matrix(quaternion(&m));
            assert!((back.x_axis - m.x_axis).length() + (back.z_axis - m.z_axis).length() < 1e-14);
        }
    }

    #[test]
    fn rounding_takes_halves_to_even() {
        let all = [0.4, 0.5, 1.5, -0.5, -2.6, 1e300, -7.0].map(round);
        assert_eq!(all, [0.0, 0.0, 2.0, 0.0, -3.0, 1e300, -7.0]);
    }
}
