//! Judges, by a counting allocator, that only the foot planter's construction allocates, not its steps.

use crate::figure;

use sinew::{
    Placement, Pose,
    glam::{Affine3, Vec3},
    ground::{
        Plane, Platform,
        plant::{FootPlanter, PlantOptions},
    },
};

fn placed(world: Affine3) -> Placement {
    Placement::new(world).unwrap()
}

#[test]
fn sensing_and_stepping_allocate_nothing() {
    let (legs, rest) = figure::figure();
    let planter = FootPlanter::new(&legs, PlantOptions::default()).unwrap();
    let mut ahead_planter = planter.clone();
    ahead_planter.set_look_ahead(0.3).unwrap();
    let (mut feet, mut feet_ahead) = (planter.state(), ahead_planter.state());
    let ground = Plane { point: Vec3::ZERO, normal: Vec3::new(0.0, 1.0, -0.2).normalize() };
    let mut pose = rest.clone();
    let mut ahead = rest.clone();
    let mut stood = [0, 0];
    let counted = allocation_counter::measure(|| {
        for i in 0..180 {
            let time = i as f32 / 60.0;
            figure::walk(&legs, &rest, time, &mut pose);
            let world = Affine3::from_translation(Vec3::Z * figure::SPEED * time);
            planter.sense(&mut feet, &ground, &pose, &placed(world)).unwrap();
            planter.step(&mut feet, &mut pose, &placed(world), 1.0 / 60.0).unwrap();
            for (i, n) in stood.iter_mut().enumerate() {
                *n += usize::from(feet.stands(i));
            }
        }
        let (looking, feet_now) = (&ahead_planter, &mut feet_ahead);
        for i in 0..180 {
            let at = |time: f32| Affine3::from_translation(Vec3::Z * figure::SPEED * time);
            let time = i as f32 / 60.0;
            figure::walk(&legs, &rest, time, &mut pose);
            while let Some(later) = looking.next_tick(feet_now, 1.0 / 60.0) {
                figure::walk(&legs, &rest, time + later, &mut ahead);
                looking.give_tick(feet_now, &ahead, &placed(at(time + later))).unwrap();
            }
            looking.sense(feet_now, &ground, &pose, &placed(at(time))).unwrap();
            looking.step(feet_now, &mut pose, &placed(at(time)), 1.0 / 60.0).unwrap();
        }
        feet.reset();
        let walkway = Platform::WORLD.with_velocity(Vec3::X, Vec3::ZERO);
        for i in 0..60 {
            if i == 30 {
                feet.change_platform(&Platform::WORLD, &walkway);
            }
            let time = i as f32 / 60.0;
            let sample = |later, pose: &mut Pose| {
                figure::walk(&legs, &rest, time + later, pose);
                placed(Affine3::from_translation(Vec3::Z * figure::SPEED * (time + later)))
            };
            planter.step_with(&mut feet, &ground, &mut pose, 1.0 / 60.0, sample).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    // The figure walked: each foot stood and swung.
    assert!(stood.iter().all(|n| (60..150).contains(n)), "{stood:?}");
}
