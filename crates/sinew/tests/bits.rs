//! Judges that every build gives the same bits: closed forms of ten thousand limbs, and chains along a thousand curves, each
//! hashed to one number.
//!
//! The numbers are recorded. They hold for debug and release builds, with and without glam's `scalar-math`, for SSE2 and for
//! scalar code, because the code uses only IEEE sums, products, quotients and square roots, in one order. Where sines and
//! exponentials are used, the numbers hold with the feature `libm` on every platform; without it, the platform's functions
//! apply. A change of the formulas changes the numbers and users' recorded motions: note it in the change log.

use crate::common;
use crate::held;

use std::sync::Arc;

use common::noise;
use held::held;
use sinew::{
    JointTransform, Pole, Pose, Skeleton,
    glam::{Quat, Vec3},
    solve::{
        AimRay, Spline, aim_ray,
        spline::{Curve, CurveKind, CurveUp, Roll},
        two_bone::{BendSide, LimbBend, LimbPoints, solve_points},
    },
};

/// Fowler-Noll-Vo hash (1a, 64 bits) of the bits of numbers.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, x: f32) {
        for byte in x.to_bits().to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn rotation(&mut self, q: Quat) {
        for c in [q.x, q.y, q.z, q.w] {
            self.add(c);
        }
    }
}

/// Solves ten thousand limbs and aims. `ask` sets the bend options from three random numbers.
fn hash(ask: impl Fn([f32; 3]) -> LimbBend) -> u64 {
    let mut r = noise(1);
    let mut hash = Hash::new();
    for i in 0..10_000 {
        let mut v = || Vec3::new(r(), r(), r());
        let root = v();
        let middle = root + v();
        let tip = middle + v();
        let (goal, pole) = (root + v() * 1.5, v());
        let pole = [Pole::Keep, Pole::Point(pole), Pole::Direction(pole)][i % 3];
        let turns = solve_points(&LimbPoints { root, middle, tip }, goal, pole, &ask(v().to_array()));
        hash.rotation(turns.middle);
        hash.rotation(turns.root);
        hash.add(turns.out_of_reach);
        let axis = Quat::from_xyzw(0.6, 0.0, 0.8, 0.0);
        let ray = AimRay {
            offset: (tip - middle) * 0.2,
            axis: Vec3::new(axis.x, axis.y, axis.z),
            up: (i % 2 == 0).then_some((middle - root, Vec3::Y)),
        };
        let (turn, by) = aim_ray(&ray, goal - root);
        hash.rotation(turn);
        hash.add(by);
    }
    hash.0
}

#[test]
fn limbs_and_aims_give_these_bits_on_every_build() {
    let sides = [BendSide::Keep, BendSide::Positive, BendSide::Negative];
    let found = hash(|[x, y, z]| LimbBend {
        hinge: (x > 0.0).then_some(Vec3::new(0.6, 0.0, 0.8)),
        side: sides[((y + 1.0) * 1.5) as usize % 3],
        uncertain: if z > 0.9 { 1e-3 } else { 0.0 },
        ..LimbBend::FREE
    });
    assert_eq!(found, 0xc9b1_0f5f_e104_4a98, "{found:#018x}");
}

/// Hashes a thousand solves of chains along curves of both kinds, open and closed.
fn hash_of_splines(roll: Roll) -> u64 {
    let mut r = noise(1);
    let mut hash = Hash::new();
    let mut builder = Skeleton::builder();
    let mut last = builder.add("0", None, JointTransform::IDENTITY);
    for i in 1..=9 {
        let translation = Vec3::new(0.1 * r(), 0.1 * r(), 0.3);
        last = builder.add(format!("{i}"), Some(last), JointTransform::from_translation(translation));
    }
    let (skeleton, ids) = builder.build().unwrap();
    let skeleton = Arc::new(skeleton);
    let mut spline = held(Spline::new(&skeleton, ids[0], ids[9]).unwrap());
    spline.options.roll = roll;
    let mut pose = Pose::rest(&skeleton);
    for i in 0..1000 {
        let closed = i % 2 == 0;
        let count = if closed { 6 } else { 7 };
        let points: Vec<Vec3> = (0..count).map(|_| Vec3::new(r(), r(), r())).collect();
        let kind = if i % 3 == 0 { CurveKind::Bezier } else { CurveKind::CatmullRom };
        let curve = Curve::new(kind, &points, closed, CurveUp::Direction(Vec3::Y)).unwrap();
        (spline.options.offset, spline.options.reversed) = (3.0 * r(), i % 5 == 0);
        let report = spline.solve(&mut pose, &curve).unwrap();
        hash.add(report.longest_way);
        for &id in &ids {
            hash.rotation(pose.local(id).rotation);
        }
    }
    hash.0
}

#[test]
fn chains_along_curves_give_these_bits_on_every_build() {
    let found = hash_of_splines(Roll::Keep);
    assert_eq!(found, 0x795c_30d4_600d_21fb, "{found:#018x}");
}

#[test]
#[cfg(feature = "libm")]
fn with_libm_their_frames_do_too() {
    let found = hash_of_splines(Roll::Frames { axis: Vec3::Y, twist: [0.3, -1.0] });
    assert_eq!(found, 0xdfb7_b012_ad4d_3435, "{found:#018x}");
}

#[test]
#[cfg(feature = "libm")]
fn with_libm_sines_and_exponentials_do_too() {
    let found = hash(|[x, y, z]| LimbBend {
        swivel: if x > 0.0 { y } else { 0.0 },
        soft: 0.2 * z.max(0.0),
        min_flexion: 0.3 * (-z).max(0.0),
        ..LimbBend::FREE
    });
    assert_eq!(found, 0x8407_c11f_194b_ab0d, "{found:#018x}");
}
