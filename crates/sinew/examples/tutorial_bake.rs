//! Tutorial, chapter 6: the walk and the wave, baked (`docs/tutorial.md`).
//!
//! `cargo run -p sinew --example tutorial_bake`; with `-- tutorial_bake.svg` it draws the chapter's picture.
// Chapters share the figure and the pictures.
#![allow(clippy::duplicate_mod)]

mod picture;
#[allow(dead_code)]
#[path = "tutorial_figure.rs"]
mod tutorial_figure;
#[allow(dead_code)]
#[path = "tutorial_walk.rs"]
mod tutorial_walk;
#[allow(dead_code)]
#[path = "tutorial_wave.rs"]
mod tutorial_wave;

use std::error::Error;

use picture::Picture;
use sinew::{
    Pose, Workspace,
    body::Side,
    draw::{Shape, ShapeKind, ShapeRole},
    glam::Vec3,
    motion::{Baker, Clip},
    rig::{RigFrame, RigGoal, keys::KeyEdit},
};

/// The bind pose, the clip of all frames, and the clip without the keys that it does not need.
pub fn bake() -> Result<(Pose, Clip, Clip), Box<dyn Error>> {
    let bind = tutorial_figure::figure()?;
    let (rig, body) = tutorial_walk::rig(&bind)?;

    // The arm's keys beside those of body and feet: the goal of the left hand is not set, so that the arm is animated by FK.
    let mut keys = tutorial_walk::walk(&bind, &rig)?;
    let [wave, _] = tutorial_wave::wave(&bind, &rig)?;
    for track in wave.tracks() {
        keys.edit(&KeyEdit::new().set_all(track.owner(), track.channel(), track.keys())?)?;
    }

    // Each frame: keys of joints, then keys of goals, then the rig. The baker takes what comes out.
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut goals = vec![RigGoal::new(); rig.goal_count()];
    let mut baker = Baker::new(bind.skeleton(), bind.skeleton().joints());
    for frame in 0..=48 {
        let (time, mut pose) = (frame as f32 / 30.0, bind.clone());
        keys.sample_pose(time, &mut pose)?;
        keys.sample(time, &mut goals)?;
        rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(1.0 / 30.0).with_goals(&goals))?;
        baker.push(time, &pose);
    }
    let all = baker.finish("walk and wave", bind.skeleton())?;

    // Keys are removed as long as feet stay within 1 mm, and all else within 5 mm.
    let feet = body.legs.map(|leg| leg.foot);
    let clip = all.reduced(&bind, |joint, _time| if feet.contains(&joint) { 0.001 } else { 0.005 })?;
    Ok((bind, all, clip))
}

/// Plays the chapter, and draws it.
pub fn run() -> Result<Picture, Box<dyn Error>> {
    let (bind, all, clip) = bake()?;
    let count = |clip: &Clip| {
        let of = |t: &sinew::motion::JointTracks| {
            let [a, b] = [
                t.translation.as_ref().map(|t| t.times().len()),
                t.rotation.as_ref().map(|t| t.times().len()),
            ];
            a.unwrap_or(0) + b.unwrap_or(0)
        };
        clip.tracks().iter().map(of).sum::<usize>()
    };
    println!("{} keys, {} of them are left", count(&all), count(&clip));
    assert!(count(&clip) * 2 < count(&all));

    let (mut full, mut left) = (bind.clone(), bind.clone());
    for n in 0..=480 {
        let time = n as f32 / 300.0;
        for (clip, pose) in [(&all, &mut full), (&clip, &mut left)] {
            clip.sample(time, pose);
            pose.update();
        }
        for j in bind.skeleton().joints() {
            let off = full.position(j).distance(left.position(j));
            assert!(off < 6e-3, "{} is off by {off} m", bind.skeleton().name(j));
        }
    }

    let from = Vec3::new(0.5, 0.2, 1.0).normalize();
    let mut picture = Picture::seen_from(from);
    let right = Vec3::Y.cross(from).normalize();
    let up = from.cross(right);
    let joint = |name: &str| bind.skeleton().find(name).ok_or("no such joint");
    let mut pose = bind.clone();
    for (n, time) in [0.0, 0.2, 0.4, 0.6, 1.0, 1.2].into_iter().enumerate() {
        let hips = joint("hips")?;
        clip.sample(time, &mut pose);
        pose.set_translation(hips, pose.local(hips).translation + right * n as f32);
        pose.update();
        let side = |name: &str| match name.ends_with(".l") {
            true => Some(Side::Left),
            false => name.ends_with(".r").then_some(Side::Right),
        };
        let skeleton = pose.skeleton();
        picture.layer(1.0).bones(&pose, skeleton.joints().map(|j| (j, side(skeleton.name(j)))), 0.16);
    }
    // A row a joint: every frame that was baked, and the keys that are left.
    for (row, name) in ["thigh.l", "shin.l", "thigh.r", "upper_arm.l", "forearm.l"].into_iter().enumerate() {
        let at = |time: f32| right * (0.6 + 3.0 * time) - up * (0.35 + 0.22 * row as f32);
        let joint = joint(name)?;
        for (clip, role, radius) in [(&all, ShapeRole::Limit, 0.012), (&clip, ShapeRole::Goal, 0.035)] {
            let track = clip.tracks().iter().find(|track| track.joint == joint);
            let times = track.and_then(|track| track.rotation.as_ref()).ok_or("no keys")?.times();
            let discs = times.iter().map(|time| at(*time));
            picture.layer(1.0).push(Shape::new(role, ShapeKind::Discs { radius }), discs);
        }
        picture.label(at(-0.18) + up * 0.1, name);
    }
    Ok(picture)
}

#[allow(dead_code)] // Tests run the chapter.
fn main() -> Result<(), Box<dyn Error>> {
    Ok(run()?.save()?)
}
