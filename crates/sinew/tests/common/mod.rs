//! Helpers of several tests. Judges are not among them: each stands by itself.
#![allow(dead_code)]

use std::sync::Arc;

use sinew::{
    JointId, JointTransform, Skeleton,
    glam::{DQuat, DVec3, Quat, Vec3},
    joint::{Dof, Joint, Turning},
    planar::{DirectedOptions2d, Options2d},
};

/// A fixed pseudo-random sequence in [-1, 1), without a call to any mathematics.
pub fn noise(seed: u64) -> impl FnMut() -> f32 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }
}

/// Numbers that differ from seed to seed (xorshift), in f64.
pub struct Random(pub u64);

impl Random {
    /// Numbers that differ from those of the next seed from the first on.
    pub fn of(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    /// A vector in the cube from -1 to 1.
    pub fn vector(&mut self) -> DVec3 {
        DVec3::from_array([0; 3].map(|_| self.between(-1.0, 1.0)))
    }

    pub fn direction(&mut self) -> DVec3 {
        loop {
            let v = self.vector();
            if v.length() > 0.1 && v.length() < 1.0 {
                return v.normalize();
            }
        }
    }

    /// A rotation by at most `most` radians.
    pub fn rotation(&mut self, most: f64) -> Quat {
        let angle = self.between(0.0, most);
        DQuat::from_axis_angle(self.direction(), angle).as_quat().normalize()
    }
}

/// A ball with random ranges of up to these half-widths, about a centre off the rest direction in half of them. `along` gives
/// the twist axis.
pub fn ball(r: &mut Random, swing: f64, twist: f64, along: impl FnOnce(&mut Random) -> DVec3) -> Joint {
    let range = |r: &mut Random, most: f64| (-r.between(0.05, most), r.between(0.05, most));
    let centre = if r.next() < 0.5 { [0.0; 2] } else { [r.between(-0.8, 0.8), r.between(-0.8, 0.8)] };
    let swing = [0, 1].map(|k| {
        let (from, to) = range(r, swing);
        Dof::range(centre[k] + from, centre[k] + to)
    });
    let twist = if r.next() < 0.2 {
        Dof::FREE
    } else {
        let (a, b) = range(r, twist);
        Dof::range(a, b)
    };
    let along = along(r);
    let ball =
        Joint::from(Turning::Ball { twist_axis: along, swing_axis: r.direction(), swing, twist, centre });
    if ball.check().is_ok() { ball } else { Joint::cone(along, 0.8, 0.5) }
}

/// Joints one below another, the first below a parent at `above`. Gives the joints without that parent.
pub fn row(
    above: JointTransform,
    offsets: &[Vec3],
    joint: impl Fn(usize) -> Joint,
) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut last = b.add("world", None, above);
    for (i, &o) in offsets.iter().enumerate() {
        last = b.add(format!("{i}"), Some(last), JointTransform::from_translation(o));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for (i, &id) in ids[1..].iter().enumerate() {
        skeleton.set_joint(id, joint(i)).unwrap();
    }
    (Arc::new(skeleton), ids[1..].to_vec())
}

/// A row of bones of one length along Y, whose tip may do anything.
pub fn column(bones: usize, length: f32, joint: impl Fn(usize) -> Joint) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut last = b.add("0", None, JointTransform::IDENTITY);
    for i in 1..=bones {
        last = b.add(format!("{i}"), Some(last), JointTransform::from_translation(Vec3::Y * length));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for (i, &id) in ids[..bones].iter().enumerate() {
        skeleton.set_joint(id, joint(i)).unwrap();
    }
    (Arc::new(skeleton), ids)
}

/// Points at random about a ring, for a curve through them.
pub fn ring(seed: u64, count: usize) -> Vec<Vec3> {
    let mut r = noise(seed);
    (0..count)
        .map(|i| {
            let a = i as f32 / count as f32 * core::f32::consts::TAU;
            Vec3::new(a.cos(), 0.0, a.sin()) * (1.5 + 0.5 * r()) + Vec3::new(0.3 * r(), 0.6 * r(), 0.3 * r())
        })
        .collect()
}

/// The options of a planar chain that a chain with a direction has, too.
pub fn directed(o: &Options2d) -> DirectedOptions2d {
    DirectedOptions2d::new()
        .with_influence(o.influence)
        .with_soft(o.soft)
        .with_stretch(o.stretch)
        .with_position_tolerance(o.position_tolerance)
        .with_max_iterations(o.max_iterations.unwrap_or(200))
        .with_max_restarts(o.max_restarts.unwrap_or(4))
}
