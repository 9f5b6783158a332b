//! Scalar functions for rotations: those that glam lacks, and those that must return the same bits on every build.
//!
//! glam's `Quat` uses SSE2, NEON or plain code depending on the target, with different orders of summation. Code with
//! bit-exact promises uses these functions instead: `f32`, one order, no fused multiply-add. glam's `Vec3` and `Mat3`
//! are plain scalar code and used directly. So are sums and products of `Vec4`, whose lanes never mix: a product of
//! quaternions takes half as many instructions in four lanes, and the same bits.

use glam::{Mat3, Quat, Vec3, Vec4, Vec4Swizzles};

/// The square root, correctly rounded on every platform.
#[inline(always)]
pub fn sqrt(x: f32) -> f32 {
    #[cfg(feature = "std")]
    return x.sqrt();
    #[cfg(not(feature = "std"))]
    return libm::sqrtf(x);
}

/// Defines functions that call the library `libm` with that feature, else the platform's mathematics.
macro_rules! kernels {
    ($float:ty; $($(#[$doc:meta])+ $name:ident($x:ident $(, $y:ident)?) = $std:ident, $libm:ident;)*) => {$(
        $(#[$doc])+
        #[inline]
        pub fn $name($x: $float $(, $y: $float)?) -> $float {
            #[cfg(feature = "libm")]
            return libm::$libm($x $(, $y)?);
            #[cfg(not(feature = "libm"))]
            return $x.$std($($y)?);
        }
    )*};
}
pub(crate) use kernels;

kernels! { f32;
    /// Sine of an angle in radians.
    sin(x) = sin, sinf;
    /// Cosine of an angle in radians.
    cos(x) = cos, cosf;
    /// Tangent of an angle in radians.
    tan(x) = tan, tanf;
    /// The angle of the point (x, y) from the x axis, in radians in (-pi, pi].
    atan2(y, x) = atan2, atan2f;
    /// e to the power of x.
    exp(x) = exp, expf;
    /// x to the power of y.
    pow(x, y) = powf, powf;
    /// The largest integer not above x.
    floor(x) = floor, floorf;
    /// The smallest integer not below x.
    ceil(x) = ceil, ceilf;
}

/// The arc cosine in radians. Clamps `x` to \[-1, 1\].
#[inline]
pub fn acos(x: f32) -> f32 {
    let x = x.clamp(-1.0, 1.0);
    #[cfg(feature = "libm")]
    return libm::acosf(x);
    #[cfg(not(feature = "libm"))]
    return x.acos();
}

/// Smoothstep: 0 at 0, 1 at 1, with slope 0 at both. `x` is within 0 to 1.
#[inline]
pub fn smoothstep(x: f32) -> f32 {
    x * x * (3.0 - 2.0 * x)
}

/// The product `a * b`: a rotation by `b`, then by `a`.
#[inline(always)]
pub fn mul(a: Quat, b: Quat) -> Quat {
    let (a, b) = (Vec4::from(a), Vec4::from(b));
    let x = b.wzyx() * Vec4::new(1.0, -1.0, 1.0, -1.0);
    let y = b.zwxy() * Vec4::new(1.0, 1.0, -1.0, -1.0);
    let z = b.yxwz() * Vec4::new(-1.0, 1.0, 1.0, -1.0);
    Quat::from_vec4(a.wwww() * b + a.xxxx() * x + a.yyyy() * y + a.zzzz() * z)
}

/// The inverse of a unit quaternion.
#[inline(always)]
pub fn conjugate(q: Quat) -> Quat {
    Quat::from_vec4(Vec4::from(q) * Vec4::new(-1.0, -1.0, -1.0, 1.0))
}

/// Rotates `v` by the unit quaternion `q`.
#[inline(always)]
pub fn rotate(q: Quat, v: Vec3) -> Vec3 {
    let (u, v) = (Vec4::from(q), v.extend(0.0));
    let cross = |v: Vec4| u.yzxw() * v.zxyw() - u.zxyw() * v.yzxw();
    let t = 2.0 * cross(v);
    (v + u.wwww() * t + cross(t)).truncate()
}

/// The dot product of four components.
#[inline(always)]
pub fn dot(a: Quat, b: Quat) -> f32 {
    a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w
}

/// Normalises `q`. Returns the identity if the squared length is 0, infinite or NaN.
#[inline(always)]
pub fn normalize(q: Quat) -> Quat {
    let l = dot(q, q);
    if l > 0.0 && l.is_finite() {
        let s = 1.0 / sqrt(l);
        Quat::from_xyzw(q.x * s, q.y * s, q.z * s, q.w * s)
    } else {
        Quat::IDENTITY
    }
}

/// Squared lengths of quaternions that are normalised. Outside this range the deviation from 1 is an error, not rounding
/// or compression.
const ROTATION: core::ops::RangeInclusive<f32> = 0.25..=4.0;

/// Maximum deviation from 1 of the squared length of a unit quaternion. Four rounded components deviate by a few times
/// 6e-8, and products of a few such quaternions stay within this bound.
pub(crate) const UNIT: f32 = 1e-6;

/// A unit quaternion close to `q`: `q` itself if its squared length is within 1e-6 of 1, else `q` normalised. `None` if
/// the squared length is outside 0.25 to 4 or NaN.
#[inline]
pub fn unit(q: Quat) -> Option<Quat> {
    let l = dot(q, q);
    if (l - 1.0).abs() <= UNIT {
        return Some(q);
    }
    ROTATION.contains(&l).then(|| normalize(q))
}

/// The right-handed rotation by `angle` radians about the unit vector `axis`.
#[inline]
pub fn axis_angle(axis: Vec3, angle: f32) -> Quat {
    let (s, c) = (sin(0.5 * angle), cos(0.5 * angle));
    Quat::from_xyzw(axis.x * s, axis.y * s, axis.z * s, c)
}

/// The rotation vector of a unit quaternion: axis times angle, the angle in \[0, pi\] radians.
#[inline]
pub fn rotation_vector(q: Quat) -> Vec3 {
    let q = if q.w < 0.0 { Quat::from_xyzw(-q.x, -q.y, -q.z, -q.w) } else { q };
    let v = Vec3::new(q.x, q.y, q.z);
    let s = v.length();
    // For small angles 2 asin(s) / s tends to 2.
    if s < 1e-6 { v * 2.0 } else { v * (2.0 * atan2(s, q.w) / s) }
}

/// The angle between two rotations, in radians in \[0, pi\].
#[inline]
pub fn angle_between(a: Quat, b: Quat) -> f32 {
    let d = mul(conjugate(a), b);
    2.0 * atan2(sqrt(d.x * d.x + d.y * d.y + d.z * d.z), d.w.abs())
}

/// The shortest rotation from the unit vector `from` to the unit vector `to`, without trigonometry.
///
/// q = (from x to, 1 + from . to), normalised. For opposite vectors, every half turn about a perpendicular axis is
/// shortest: the axis is then `fallback`, made perpendicular to `from`. A `fallback` parallel to `from` gives an
/// arbitrary axis.
#[inline]
pub fn shortest_arc(from: Vec3, to: Vec3, fallback: Vec3) -> Quat {
    let w = 1.0 + from.dot(to);
    // Below 1e-6 the cross product, of length sqrt(2 w), has fewer than three digits left in f32.
    if w > 1e-6 {
        let c = from.cross(to);
        normalize(Quat::from_xyzw(c.x, c.y, c.z, w))
    } else {
        let axis = perpendicular(from, fallback);
        Quat::from_xyzw(axis.x, axis.y, axis.z, 0.0)
    }
}

/// The unit vector along the part of `v` that is perpendicular to the unit vector `axis`. If that part vanishes, an
/// arbitrary perpendicular that depends on `axis` only.
#[inline]
pub fn perpendicular(axis: Vec3, v: Vec3) -> Vec3 {
    let p = v - axis * v.dot(axis);
    let l = p.length_squared();
    if l > 1e-12 * v.length_squared() && l > 0.0 && l.is_finite() {
        // Twice, since cancellation in the first subtraction may leave a part along the axis.
        let p = p / sqrt(l);
        let p = p - axis * p.dot(axis);
        return p / sqrt(p.length_squared());
    }
    // The coordinate axis furthest from `axis`.
    let a = axis.abs();
    let e = if a.x <= a.y && a.x <= a.z {
        Vec3::X
    } else if a.y <= a.z {
        Vec3::Y
    } else {
        Vec3::Z
    };
    let p = e - axis * e.dot(axis);
    p / sqrt(p.length_squared())
}

/// Splits the unit quaternion `q` into `(swing, twist)` with `q = swing * twist`: `twist` turns about the unit vector
/// `axis`, `swing` about an axis perpendicular to it (Baerlocher & Boulic 2001). At a half turn of swing the twist is
/// undefined; the identity is returned for it.
#[inline]
pub fn swing_twist(q: Quat, axis: Vec3) -> (Quat, Quat) {
    let p = q.x * axis.x + q.y * axis.y + q.z * axis.z;
    let twist = normalize(Quat::from_xyzw(axis.x * p, axis.y * p, axis.z * p, q.w));
    (mul(q, conjugate(twist)), twist)
}

/// Spherical interpolation along the shorter arc, with `t` in \[0, 1\], as glTF prescribes for rotation tracks.
#[inline]
pub fn slerp(a: Quat, b: Quat, t: f32) -> Quat {
    slerp_by(a, b, t, arc_of_cosine)
}

/// The angle with cosine `d`, and one over its sine.
#[inline]
pub(crate) fn arc_of_cosine(d: f32) -> (f32, f32) {
    let angle = acos(d);
    (angle, 1.0 / sin(angle))
}

/// [`slerp`] with `arc_of_cosine`, or with what remembers its results.
#[inline]
pub(crate) fn slerp_by(a: Quat, b: Quat, t: f32, arc: impl FnOnce(f32) -> (f32, f32)) -> Quat {
    let mut d = dot(a, b);
    let mut b = b;
    if d < 0.0 {
        d = -d;
        b = Quat::from_xyzw(-b.x, -b.y, -b.z, -b.w);
    }
    let (wa, wb) = if d > 0.9995 {
        // Nearly equal: the chord equals the arc to f32 precision, and sin(angle) would lose digits.
        (1.0 - t, t)
    } else {
        let (angle, s) = arc(d);
        (sin((1.0 - t) * angle) * s, sin(t * angle) * s)
    };
    normalize(Quat::from_xyzw(
        wa * a.x + wb * b.x,
        wa * a.y + wb * b.y,
        wa * a.z + wb * b.z,
        wa * a.w + wb * b.w,
    ))
}

/// The rotation matrix of a unit quaternion.
#[inline(always)]
pub fn to_matrix(q: Quat) -> Mat3 {
    let (x2, y2, z2) = (q.x + q.x, q.y + q.y, q.z + q.z);
    let (xx, xy, xz) = (q.x * x2, q.x * y2, q.x * z2);
    let (yy, yz, zz) = (q.y * y2, q.y * z2, q.z * z2);
    let (wx, wy, wz) = (q.w * x2, q.w * y2, q.w * z2);
    Mat3::from_cols(
        Vec3::new(1.0 - (yy + zz), xy + wz, xz - wy),
        Vec3::new(xy - wz, 1.0 - (xx + zz), yz + wx),
        Vec3::new(xz + wy, yz - wx, 1.0 - (xx + yy)),
    )
}

/// The unit quaternion of a rotation matrix (orthonormal, determinant 1; Shepperd 1978).
pub fn from_matrix(m: &Mat3) -> Quat {
    let (a, b, c) = (m.x_axis, m.y_axis, m.z_axis);
    let t = a.x + b.y + c.z;
    let q = if t > 0.0 {
        Quat::from_xyzw(b.z - c.y, c.x - a.z, a.y - b.x, t + 1.0)
    } else if a.x >= b.y && a.x >= c.z {
        Quat::from_xyzw(1.0 + a.x - b.y - c.z, a.y + b.x, c.x + a.z, b.z - c.y)
    } else if b.y >= c.z {
        Quat::from_xyzw(a.y + b.x, 1.0 + b.y - a.x - c.z, b.z + c.y, c.x - a.z)
    } else {
        Quat::from_xyzw(c.x + a.z, b.z + c.y, 1.0 + c.z - a.x - b.y, a.y - b.x)
    };
    normalize(q)
}

/// The uniform scale of a similarity's linear part, negative if it mirrors.
#[inline]
pub fn uniform_scale(linear: &Mat3) -> f32 {
    let s = sqrt(
        (linear.x_axis.length_squared() + linear.y_axis.length_squared() + linear.z_axis.length_squared())
            / 3.0,
    );
    if linear.determinant() < 0.0 { -s } else { s }
}

/// Deviation of a linear part from a similarity (a rotation with uniform scale, mirrored or not), 0 for a similarity. It
/// is the larger of the relative difference of the columns' lengths and the largest cosine between columns. Infinite if
/// no column has a normal squared length.
pub fn shear(linear: &Mat3) -> f32 {
    let (a, b, c) = (linear.x_axis, linear.y_axis, linear.z_axis);
    let (aa, bb, cc) = (a.length_squared(), b.length_squared(), c.length_squared());
    let max = aa.max(bb).max(cc);
    // `is_normal` is false for 0, infinities and NaN.
    if !max.is_normal() {
        return f32::INFINITY;
    }
    let min = aa.min(bb).min(cc);
    let lengths = 1.0 - sqrt(min / max);
    let angles = a.dot(b).abs().max(a.dot(c).abs()).max(b.dot(c).abs()) / max;
    lengths.max(angles)
}

/// The rotation of a linear part with orthogonal columns of any lengths: a rotation after scales along its own axes. If
/// the linear part mirrors, the rotation of its negative. The identity if it is zero or not finite.
#[inline]
pub fn rotation_of(linear: &Mat3) -> Quat {
    let s = uniform_scale(linear);
    if s == 0.0 || !s.is_finite() {
        return Quat::IDENTITY;
    }
    let r = 1.0 / s;
    let m = Mat3::from_cols(linear.x_axis * r, linear.y_axis * r, linear.z_axis * r);
    let (a, b) = (linear.x_axis.length_squared(), linear.y_axis.length_squared());
    let (ab, ac) = (a - b, a - linear.z_axis.length_squared());
    let max = EVEN * (s * s);
    if ab.abs() > max || ac.abs() > max { rotation_of_uneven(&m) } else { from_matrix(&m) }
}

/// Maximum relative difference of the columns' squared lengths that f32 products of a hundred frames cause. Larger
/// differences count as scale. At the bound, reading the rotation without removing scale is off by half as many radians.
const EVEN: f32 = 2e-5;

/// [`rotation_of`] for columns of different lengths, not mirrored. The rotation of a sheared frame is undefined; its
/// columns are then used as they are.
#[cold]
fn rotation_of_uneven(m: &Mat3) -> Quat {
    let [a, b, c] = [m.x_axis, m.y_axis, m.z_axis].map(|v| {
        // Scaled to about 1 first: the squares of very short columns underflow f32.
        let v = v / v.abs().max_element();
        v / sqrt(v.length_squared())
    });
    // Visible shear begins at a thousandth.
    let shear = a.dot(b).abs().max(a.dot(c).abs()).max(b.dot(c).abs());
    // False for NaN, which a column of length zero causes.
    if shear <= 2e-3 { from_matrix(&Mat3::from_cols(a, b, c)) } else { from_matrix(m) }
}

/// Converts a rotation from model space into a frame with the linear part `frame`, a similarity. The result is
/// `frame^-1 * delta * frame`; if `frame` is zero, it is `delta`.
///
/// Only the axis changes. The frame's orthogonal part Q rotates it, and a mirroring Q negates the angle. Together they are
/// (Q^T v) * det Q on the quaternion's vector part.
#[inline]
pub fn into_frame(frame: &Mat3, delta: Quat) -> Quat {
    let v = Vec3::new(delta.x, delta.y, delta.z);
    let s = uniform_scale(frame);
    if s == 0.0 {
        return delta;
    }
    let k = 1.0 / s;
    Quat::from_xyzw(frame.x_axis.dot(v) * k, frame.y_axis.dot(v) * k, frame.z_axis.dot(v) * k, delta.w)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotations() -> impl Iterator<Item = Quat> {
        (0..200).map(|i| {
            let f = i as f32;
            normalize(Quat::from_xyzw((f * 1.3).sin(), (f * 2.1).cos(), (f * 0.7).sin(), (f * 1.9).cos()))
        })
    }

    #[test]
    fn swing_and_twist_multiply_back() {
        for q in rotations() {
            let axis = Vec3::new(0.36, 0.48, 0.8);
            let (swing, twist) = swing_twist(q, axis);
            assert!(angle_between(mul(swing, twist), q) < 1e-3);
            assert!((swing.x * axis.x + swing.y * axis.y + swing.z * axis.z).abs() < 1e-6);
        }
    }

    #[test]
    fn matrices_and_quaternions_agree() {
        for q in rotations() {
            assert!(angle_between(from_matrix(&to_matrix(q)), q) < 1e-3);
            let v = Vec3::new(0.3, -2.0, 1.1);
            assert!((to_matrix(q) * v - rotate(q, v)).length() < 2e-6);
        }
    }

    #[test]
    fn shortest_arc_of_opposite_vectors_is_a_half_turn() {
        let q = shortest_arc(Vec3::X, -Vec3::X, Vec3::Y);
        assert!((rotate(q, Vec3::X) + Vec3::X).length() < 1e-6);
        assert_eq!(rotate(q, Vec3::Y), Vec3::Y);
    }

    #[test]
    fn rotations_pass_through_mirrored_and_scaled_frames() {
        let delta = axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7);
        for scale in [Vec3::splat(0.01), Vec3::splat(-100.0), Vec3::new(-2.0, 2.0, 2.0)] {
            for q in rotations() {
                let frame = to_matrix(q) * Mat3::from_diagonal(scale);
                let inside = into_frame(&frame, delta);
                let v = Vec3::new(1.0, 2.0, 3.0);
                let a = frame * rotate(inside, v);
                let b = rotate(delta, frame * v);
                assert!((a - b).length() < 1e-5 * b.length(), "{a} {b}");
            }
        }
    }
}
