//! Judges, by a counting allocator, that casts allocate nothing. They run several times per foot and frame.
#![cfg(feature = "parry")]

use allocation_counter::measure;
use glam::{Vec2, Vec3};
use sinew::ground::{Filter, Ground, MeshGround, terrain::Rough};

#[test]
fn casts_allocate_nothing() {
    let rough = Rough::new().with_size(Vec2::splat(40.0));
    let ground = MeshGround::new(rough.mesh().unwrap()).unwrap();
    assert!(ground.mesh().triangles.len() > 200_000);
    let mut hits = 0;
    let counted = measure(|| {
        for i in 0..1_000u16 {
            let a = f32::from(i) * 0.1;
            let o = Vec3::new(15.0 * a.sin(), 1.0, 15.0 * (a * 1.3).cos());
            let slanting = Vec3::new(a.cos(), -0.1, a.sin()).normalize();
            for d in [Vec3::NEG_Y, slanting] {
                hits += usize::from(ground.cast_ray(o, d, 100.0, &Filter::ALL).is_some());
                hits += usize::from(ground.cast_sphere(o, 0.1, d, 100.0, &Filter::ALL).is_some());
            }
        }
    });
    assert!(hits > 2_000, "{hits}");
    assert_eq!(counted.count_total, 0);
    // Checks the counter itself.
    assert!(measure(|| drop(std::hint::black_box(vec![1u8]))).count_total > 0);
}
