//! Helpers of several tests. Judges are not among them: each stands by itself.
#![allow(dead_code)]

use std::sync::Arc;

use sinew::{
    JointId, JointTransform, Skeleton,
    glam::Vec3,
    joint::Joint,
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
