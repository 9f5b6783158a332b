//! Judges limb, aim and look-at solvers and foot planters shared by many characters on many threads, by the bits of solving
//! alone.

use crate::figure;

use std::{sync::Arc, thread};

use sinew::{
    Goal, JointTransform, Placement, Pole, Pose, Skeleton,
    glam::{Affine3, Quat, Vec3},
    ground::{
        Plane,
        plant::{FootPlanter, PlantOptions},
    },
    solve::{Aim, AimUp, Eye, LimbOptions, LookAt, LookJoint, Options, TwoBone},
};

const CHARACTERS: usize = 1000;
const THREADS: usize = 8;

/// One thread makes each character's frames. Eight threads that share the solver, each with every eighth character, make the
/// same.
fn same_bits<T: PartialEq + Send + std::fmt::Debug>(frames: impl Fn(usize) -> T + Sync) {
    let alone: Vec<T> = (0..CHARACTERS).map(&frames).collect();
    let together: Vec<(usize, T)> = thread::scope(|scope| {
        let frames = &frames;
        let work = |first: usize| {
            move || (first..CHARACTERS).step_by(THREADS).map(|c| (c, frames(c))).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..THREADS).map(|first| scope.spawn(work(first))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(together.len(), CHARACTERS);
    for (character, found) in together {
        assert!(found == alone[character], "character {character}");
    }
}

/// Spine, neck, head and eye; arm.
fn person() -> (Arc<Skeleton>, Vec<sinew::JointId>) {
    let at = JointTransform::from_translation;
    let mut b = Skeleton::builder();
    let chest = b.add("chest", None, at(Vec3::Y * 1.3));
    let neck = b.add("neck", Some(chest), at(Vec3::Y * 0.2));
    let head = b.add("head", Some(neck), at(Vec3::Y * 0.1));
    let eye = b.add("eye", Some(head), at(Vec3::new(0.0, 0.1, 0.08)));
    let arm = b.add("arm", Some(chest), at(Vec3::new(0.2, 0.1, 0.0)));
    let elbow = b.add("elbow", Some(arm), at(Vec3::new(0.3, 0.0, -0.02)));
    let hand = b.add("hand", Some(elbow), at(Vec3::new(0.25, 0.0, 0.02)));
    let (skeleton, ids) = b.build().unwrap();
    let list = [chest, neck, head, eye, arm, elbow, hand].map(|i| ids[i]);
    (Arc::new(skeleton), list.to_vec())
}

/// Returns the position of a character's target in a frame.
fn target(character: usize, frame: usize) -> Vec3 {
    let a = 0.37 * character as f32 + 0.11 * frame as f32;
    Vec3::new(0.6 * a.sin(), 1.4 + 0.3 * (1.7 * a).cos(), 0.6 * a.cos())
}

#[test]
fn a_limb() {
    let (skeleton, ids) = person();
    let arm = TwoBone::new(&skeleton, ids[4], ids[5], ids[6]).unwrap();
    same_bits(|character| {
        let mut pose = Pose::rest(&skeleton);
        let options = LimbOptions::new().with_max_turn(0.1 + 0.001 * character as f32).with_soft(0.05);
        for frame in 0..5 {
            let goal = Goal::position(target(character, frame)).with_rotation(Quat::from_rotation_x(0.3));
            arm.solve(&mut pose, &goal.with_pole(Pole::Direction(Vec3::NEG_Y)), &options).unwrap();
        }
        pose.locals().to_vec()
    });
}

#[test]
fn an_aim() {
    let (skeleton, ids) = person();
    let aim = Aim { up: Some(AimUp { axis: Vec3::Y, direction: Vec3::Y }), ..Aim::new(ids[2], Vec3::Z) };
    same_bits(|character| {
        let mut pose = Pose::rest(&skeleton);
        for frame in 0..5 {
            aim.solve(&mut pose, target(character, frame), &Options::new().with_max_turn(0.2)).unwrap();
        }
        pose.locals().to_vec()
    });
}

#[test]
fn a_look_at_with_a_state_for_each() {
    let (skeleton, ids) = person();
    let part = |i: usize, share| LookJoint::new(ids[i]).with_share(share).with_cone(0.8);
    let mut look = LookAt::new(&skeleton, &[part(0, 0.2), part(1, 0.4), part(2, 1.0)], Vec3::Z).unwrap();
    look.set_eyes(&skeleton, &[Eye::new(ids[3], Vec3::Z).with_cone(0.5)]).unwrap();
    look.dead_zone = 0.2;
    same_bits(|character| {
        let (mut pose, mut gaze) = (Pose::rest(&skeleton), look.state());
        let mut shown = Vec::new();
        for frame in 0..5 {
            pose.reset();
            look.solve(&mut gaze, &mut pose, target(character, frame) * 3.0, &Options::new()).unwrap();
            shown.extend_from_slice(pose.locals());
        }
        shown
    });
}

#[test]
fn a_foot_planter_with_a_state_for_each() {
    let (legs, rest) = figure::figure();
    let planter = FootPlanter::new(&legs, PlantOptions::default()).unwrap();
    let ground = Plane { point: Vec3::ZERO, normal: Vec3::new(0.0, 1.0, -0.2).normalize() };
    same_bits(|character| {
        let (mut pose, mut feet) = (rest.clone(), planter.state());
        for frame in 0..20 {
            let time = 0.013 * character as f32 + frame as f32 / 30.0;
            let sample = |later: f32, pose: &mut Pose| {
                figure::walk(&legs, &rest, time + later, pose);
                let way = Vec3::Z * figure::SPEED * (time + later);
                Placement::new(Affine3::from_translation(way)).unwrap()
            };
            planter.step_with(&mut feet, &ground, &mut pose, 1.0 / 30.0, sample).unwrap();
        }
        pose.locals().to_vec()
    });
}

#[test]
fn a_look_at_refuses_the_state_of_another() {
    let (skeleton, ids) = person();
    let part = |i: usize| LookJoint::new(ids[i]).with_share(0.5).with_cone(0.8);
    let one = LookAt::new(&skeleton, &[part(0), part(2)], Vec3::Z).unwrap();
    let other = LookAt::new(&skeleton, &[part(1), part(2)], Vec3::Z).unwrap();
    let mut pose = Pose::rest(&skeleton);
    let rest = pose.clone();
    let error = one.solve(&mut other.state(), &mut pose, Vec3::X * 3.0, &Options::new()).unwrap_err();
    assert!(error.to_string().contains("state belongs to another look-at"), "{error}");
    assert_eq!(pose.locals(), rest.locals());
}
