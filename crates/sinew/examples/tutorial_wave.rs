//! Tutorial, chapter 2: a hand waves, by keys of joints (`docs/tutorial.md`).
//!
//! `cargo run -p sinew --example tutorial_wave`; with `-- tutorial_wave.svg` it draws the chapter's picture.
// Chapters share the figure and the pictures.
#![allow(clippy::duplicate_mod)]

mod picture;
#[allow(dead_code)]
#[path = "tutorial_figure.rs"]
mod tutorial_figure;

use std::error::Error;

use picture::Picture;
use sinew::{
    JointId, Pose,
    body::Side,
    draw::{Shape, ShapeKind, ShapeRole},
    glam::Vec3,
    math,
    rig::{
        Rig, RigSpec,
        keys::{Key, KeyChannel, KeyEdit, KeyError, KeyOwner, Recorder, RigKeys},
    },
};
use tutorial_figure::figure;

/// Turns a joint about the axis that points at the viewer, and keys it, as auto key does. Returns what undoes it.
fn turn(keys: &mut RigKeys, bind: &Pose, time: f32, joint: JointId, angle: f32) -> Result<KeyEdit, KeyError> {
    let mut before = bind.clone();
    keys.sample_pose(time, &mut before)?;
    let mut after = before.clone();
    after.set_rotation(joint, math::axis_angle(Vec3::Z, angle));
    let edit = Recorder::default().record_joints(keys, time, &before, &after)?;
    keys.edit(&edit)
}

/// The wave's keys, and the keys before the last one was set.
pub fn wave(bind: &Pose, rig: &Rig) -> Result<[RigKeys; 2], Box<dyn Error>> {
    let joint = |name: &str| bind.skeleton().find(name).ok_or("no such joint");
    let (upper_arm, forearm) = (joint("upper_arm.l")?, joint("forearm.l")?);
    let mut keys = RigKeys::new(rig);

    // The arm goes up in 0.4 s, and the forearm waves.
    turn(&mut keys, bind, 0.4, upper_arm, 1.8)?;
    for (time, angle) in [(0.6, 1.5), (0.8, 0.6), (1.0, 1.5), (1.2, 0.6)] {
        turn(&mut keys, bind, time, forearm, angle)?;
    }

    // The wave begins too early: all of its keys together, 0.4 s later.
    let later = keys.retime(|key| key.owner == KeyOwner::Joint(forearm) && key.time > 0.0, 1.0, 0.4)?;
    keys.edit(&later)?;

    // The forearm drifts from its key at 0 s to the wave: one more key holds it until the arm is up.
    let drifting = keys.clone();
    let held = Key::new(0.7, bind.local(forearm).rotation);
    keys.edit(&KeyEdit::new().set(KeyOwner::Joint(forearm), KeyChannel::LocalRotation, held))?;
    Ok([keys, drifting])
}

/// The angle of a joint about the axis that points at the viewer.
fn angle(keys: &RigKeys, bind: &Pose, time: f32, joint: JointId) -> f32 {
    let mut pose = bind.clone();
    keys.sample_pose(time, &mut pose).expect("a finite time");
    math::rotation_vector(pose.local(joint).rotation).z
}

/// Plays the chapter, and draws it.
pub fn run() -> Result<Picture, Box<dyn Error>> {
    let bind = figure()?;
    let joint = |name: &str| bind.skeleton().find(name).ok_or("no such joint");
    let (upper_arm, forearm) = (joint("upper_arm.l")?, joint("forearm.l")?);
    let rig = Rig::new(&bind, None, &RigSpec::new(vec![]))?;
    let [keys, drifting] = wave(&bind, &rig)?;

    for n in 0..=70 {
        assert!(angle(&keys, &bind, 0.01 * n as f32, forearm).abs() < 1e-6, "the forearm is held");
    }
    assert!(angle(&drifting, &bind, 0.7, forearm) > 0.5, "and drifted before");
    assert!((angle(&keys, &bind, 1.0, forearm) - 1.5).abs() < 1e-5);

    let mut picture = Picture::seen_from(Vec3::Z);
    // The bone below the upper arm is vermilion, those below the forearm are blue, as are their curves.
    let side = |j: JointId| match bind.skeleton() {
        skeleton if j == forearm => Some(Side::Right).filter(|_| skeleton.is_below(j, upper_arm)),
        skeleton => skeleton.is_below(j, forearm).then_some(Side::Left),
    };
    for (n, time) in [0.0, 0.2, 0.5, 1.0, 1.2].into_iter().enumerate() {
        let mut pose = bind.clone();
        keys.sample_pose(time, &mut pose)?;
        let (hips, aside) = (joint("hips")?, Vec3::X * 1.1 * n as f32);
        pose.set_translation(hips, pose.local(hips).translation + aside);
        pose.update();
        picture.layer(1.0).bones(&pose, pose.skeleton().joints().map(|j| (j, side(j))), 0.16);
        picture.label(aside + Vec3::Y * 0.02, format!("{time} s"));
    }
    // Angles over time: of the upper arm, and of the forearm with its last key and without.
    let graph = |time: f32, angle: f32| Vec3::new(2.9 * time - 0.1, -1.25 + 0.45 * angle, 0.0);
    let axis = [graph(0.0, 0.0), graph(1.65, 0.0)];
    picture.layer(1.0).push(Shape::new(ShapeRole::Reference, ShapeKind::Segments), axis);
    for (keys, joint, side, opacity) in [
        (&drifting, forearm, Some(Side::Left), 0.3),
        (&keys, upper_arm, Some(Side::Right), 1.0),
        (&keys, forearm, Some(Side::Left), 1.0),
    ] {
        let role = ShapeRole::Bone;
        let curve = (0..=165).map(|n| 0.01 * n as f32).map(|t| graph(t, angle(keys, &bind, t, joint)));
        picture.layer(opacity).push(Shape::new(role, ShapeKind::Polyline).with_side(side), curve);
        let tracks = keys.tracks_of(KeyOwner::Joint(joint)).iter().flat_map(|track| track.keys());
        let discs: Vec<_> = tracks.map(|key| graph(key.time, angle(keys, &bind, key.time, joint))).collect();
        picture
            .layer(opacity)
            .push(Shape::new(role, ShapeKind::Discs { radius: 0.04 }).with_side(side), discs);
    }
    picture.label(graph(1.45, 2.15), "upper arm");
    picture.label(graph(1.2, 0.5), "forearm");
    picture.label(graph(0.5, 0.5), "without its key at 0.7 s");
    Ok(picture)
}

#[allow(dead_code)] // Another chapter bakes the wave.
fn main() -> Result<(), Box<dyn Error>> {
    Ok(run()?.save()?)
}
