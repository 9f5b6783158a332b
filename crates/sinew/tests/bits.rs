//! The same bits on every build: what the closed forms give for ten thousand limbs, as one number.
//!
//! The number was written down once. It holds for debug and release builds, with and without glam's `scalar-math`, for
//! SSE2 and for plain code, as only IEEE sums, products, quotients and square roots are made, in one order. Where sines and
//! exponentials come in, it holds with the feature `libm` on every platform; without it, the platform's own are used. A change
//! of the formulas changes it, and is a change that users of recorded motions see: say so in the change log.

use sinew::{
    Pole,
    glam::{Quat, Vec3},
    solve::{
        Ray, aim_ray,
        two_bone::{Bend, BendSide, Points, solve_points},
    },
};

/// Fowler, Noll and Vo's hash (1a, 64 bits) of the bits of numbers.
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

/// In [-1, 1), without a call to any mathematics.
fn noise() -> impl FnMut() -> f32 {
    let mut x = 0x9E37_79B9_7F4A_7C15u64;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }
}

/// Solves ten thousand limbs and aims; `ask` makes what is asked of the bend from three random numbers.
fn hash(ask: impl Fn([f32; 3]) -> Bend) -> u64 {
    let mut r = noise();
    let mut hash = Hash::new();
    for i in 0..10_000 {
        let mut v = || Vec3::new(r(), r(), r());
        let root = v();
        let middle = root + v();
        let tip = middle + v();
        let (goal, pole) = (root + v() * 1.5, v());
        let pole = [Pole::Keep, Pole::Point(pole), Pole::Direction(pole)][i % 3];
        let turns = solve_points(&Points { root, middle, tip }, goal, pole, &ask(v().to_array()));
        hash.rotation(turns.middle);
        hash.rotation(turns.root);
        hash.add(turns.by);
        hash.add(f32::from(u8::from(turns.branch_changed)));
        let axis = Quat::from_xyzw(0.6, 0.0, 0.8, 0.0);
        let ray = Ray {
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
    let found = hash(|[x, y, z]| Bend {
        hinge: (x > 0.0).then_some(Vec3::new(0.6, 0.0, 0.8)),
        side: sides[((y + 1.0) * 1.5) as usize % 3],
        uncertain: if z > 0.9 { 1e-3 } else { 0.0 },
        ..Bend::FREE
    });
    assert_eq!(found, 0xbf5b_05b6_757e_727c, "{found:#018x}");
}

#[test]
#[cfg(feature = "libm")]
fn with_libm_sines_and_exponentials_do_too() {
    let found = hash(|[x, y, z]| Bend {
        swivel: if x > 0.0 { y } else { 0.0 },
        soft: 0.2 * z.max(0.0),
        min_flexion: 0.3 * (-z).max(0.0),
        ..Bend::FREE
    });
    assert_eq!(found, 0x5095_5b63_2449_ec89, "{found:#018x}");
}
