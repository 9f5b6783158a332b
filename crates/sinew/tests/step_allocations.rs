//! Planting step by step touches the heap only when the foot planter is made.

mod figure;

use sinew::{
    Pose,
    glam::{Affine3, Vec3},
    ground::{
        Plane,
        plant::{FootPlanter, PlantOptions},
    },
};

#[test]
fn sensing_and_stepping_allocate_nothing() {
    let (legs, rest) = figure::figure();
    let mut planter = FootPlanter::new(&legs, PlantOptions::default()).unwrap();
    let ground = Plane { point: Vec3::ZERO, normal: Vec3::new(0.0, 1.0, -0.2).normalize() };
    let mut pose = rest.clone();
    let mut ahead = rest.clone();
    let mut stood = [0, 0];
    let counted = allocation_counter::measure(|| {
        for i in 0..180 {
            let time = i as f32 / 60.0;
            figure::walk(&legs, &rest, time, &mut pose);
            let world = Affine3::from_translation(Vec3::Z * figure::SPEED * time);
            planter.sense(&ground, &legs, &pose, &world).unwrap();
            planter.step(&legs, &mut pose, &world, 1.0 / 60.0).unwrap();
            for (i, n) in stood.iter_mut().enumerate() {
                *n += usize::from(planter.stands(i));
            }
        }
        planter.set_look_ahead(0.3).unwrap();
        for i in 0..180 {
            let at = |time: f32| Affine3::from_translation(Vec3::Z * figure::SPEED * time);
            let time = i as f32 / 60.0;
            figure::walk(&legs, &rest, time, &mut pose);
            while let Some(later) = planter.next_tick(1.0 / 60.0) {
                figure::walk(&legs, &rest, time + later, &mut ahead);
                planter.give_tick(&legs, &ahead, &at(time + later)).unwrap();
            }
            planter.sense(&ground, &legs, &pose, &at(time)).unwrap();
            planter.step(&legs, &mut pose, &at(time), 1.0 / 60.0).unwrap();
        }
        planter.reset();
        for i in 0..60 {
            let time = i as f32 / 60.0;
            let sample = |later, pose: &mut Pose| {
                figure::walk(&legs, &rest, time + later, pose);
                Affine3::from_translation(Vec3::Z * figure::SPEED * (time + later))
            };
            planter.step_with(&ground, &legs, &mut pose, 1.0 / 60.0, sample).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    // It walked: each foot stood and swung.
    assert!(stood.iter().all(|n| (60..150).contains(n)), "{stood:?}");
}
