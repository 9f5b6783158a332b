//! Tutorial, chapter 3: two steps, by keys of goals (`docs/tutorial.md`).
//!
//! `cargo run -p sinew --example tutorial_walk`; with `-- tutorial_walk.svg` it draws the chapter's picture.
// Chapters share the figure and the pictures.
#![allow(clippy::duplicate_mod)]

mod picture;
#[allow(dead_code)]
#[path = "tutorial_figure.rs"]
mod tutorial_figure;

use std::error::Error;

use picture::Picture;
use sinew::{
    Placement, Pose, Workspace,
    body::{BodyRoles, Side},
    draw::{Shape, ShapeKind, ShapeRole},
    glam::Vec3,
    rig::{
        HumanoidSpec, Rig, RigFrame, RigGoal, Space, StartFrom,
        keys::{Key, KeyChannel, KeyEdit, KeyOwner, RigKeys},
    },
};
use tutorial_figure::figure;

/// A rig with goals for body, hands and feet.
pub fn rig(bind: &Pose) -> Result<(Rig, BodyRoles), Box<dyn Error>> {
    let body = BodyRoles::find(bind, &[])?;
    let mut humanoid = HumanoidSpec::new();
    humanoid.from = Some(StartFrom::Preferred); // as an HI solver, or a rotate-plane handle
    let rig = Rig::new(bind, Some(&body), &humanoid.rig(&body))?;
    Ok((rig, body))
}

/// Two steps of 0.6 m.
pub fn walk(bind: &Pose, rig: &Rig) -> Result<RigKeys, Box<dyn Error>> {
    let mut start = vec![RigGoal::new(); rig.goal_count()];
    rig.read(bind, &Placement::IDENTITY, &mut start)?; // where the figure has its goals
    let mut keys = RigKeys::new(rig);

    // A key of a goal, by how far it has come since the start: up, and ahead.
    let mut set = |name: &str, time: f32, up: f32, ahead: f32| {
        let goal = rig.find_goal(name, None).ok_or("no such goal")?;
        let from = start[goal].goal.position.ok_or("a goal without a position")?;
        let key = Key::new(time, from + Vec3::new(0.0, up, ahead));
        keys.edit(&KeyEdit::new().set(KeyOwner::Goal(goal), KeyChannel::position(Space::Model), key))?;
        Ok::<_, Box<dyn Error>>(())
    };

    // The left foot: lift, forward, down. The body follows by half a step.
    set("left foot", 0.0, 0.0, 0.0)?;
    set("left foot", 0.2, 0.12, 0.3)?;
    set("left foot", 0.4, 0.0, 0.6)?;
    set("body", 0.0, -0.03, 0.0)?;
    set("body", 0.4, -0.07, 0.3)?;

    // The right foot has stood meanwhile: a key that moves nothing says so. Then it takes its step.
    set("right foot", 0.0, 0.0, 0.0)?;
    set("right foot", 0.4, 0.0, 0.0)?;
    set("right foot", 0.6, 0.12, 0.3)?;
    set("right foot", 0.8, 0.0, 0.6)?;
    set("body", 0.8, -0.03, 0.6)?;
    Ok(keys)
}

/// Plays the chapter, and draws it.
pub fn run() -> Result<Picture, Box<dyn Error>> {
    let bind = figure()?;
    let (rig, body) = rig(&bind)?;
    let keys = walk(&bind, &rig)?;

    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut goals = vec![RigGoal::new(); rig.goal_count()];
    let [left, right] = body.legs.map(|leg| leg.foot);
    let mut poses = Vec::new();
    for frame in 0..=48 {
        let mut pose = bind.clone();
        keys.sample(frame as f32 / 60.0, &mut goals)?;
        let frame = RigFrame::new(1.0 / 60.0).with_goals(&goals);
        let report = rig.apply(&mut state, &mut workspace, &mut pose, &frame)?;
        assert!(report.handles.iter().all(|handle| handle.was_off() || handle.report.reached()));
        poses.push(pose);
    }

    // No foot slides while it stands: right until 0.4 s, left from then on.
    let stays = |foot, frames: &[Pose]| {
        frames.iter().all(|pose| pose.position(foot).distance(frames[0].position(foot)) < 1e-4)
    };
    assert!(stays(right, &poses[..=24]) && stays(left, &poses[24..]));
    assert!((poses[48].position(right) - bind.position(right)).distance(Vec3::Z * 0.6) < 1e-4);

    let mut picture = Picture::seen_from(Vec3::new(-1.0, 0.0, 0.3));
    let side = |name: &str| match name.split_once('.') {
        Some((part, _)) if ["upper_arm", "forearm", "hand", "fingers"].contains(&part) => None,
        Some((_, "l")) => Some(Side::Left),
        Some((_, "r")) => Some(Side::Right),
        _ => None,
    };
    for (n, frame) in [0, 12, 24, 36, 48].into_iter().enumerate() {
        // Poses are drawn 45 cm further apart than they are.
        let (mut pose, by) = (poses[frame].clone(), Vec3::Z * 0.45 * n as f32);
        pose.set_translation(body.hips, pose.local(body.hips).translation + by);
        pose.update();
        let skeleton = pose.skeleton();
        picture.layer(1.0).bones(&pose, skeleton.joints().map(|j| (j, side(skeleton.name(j)))), 0.16);
        for (foot, stands) in [(left, frame == 0 || frame >= 24), (right, frame <= 24 || frame == 48)] {
            if stands {
                picture.goal(pose.position(foot), 0.14);
            }
        }
        let middle = Vec3::Z * pose.position(body.hips).z;
        let ground = [-0.42, 0.42].map(|z| middle + Vec3::Z * z);
        picture.layer(1.0).push(Shape::new(ShapeRole::Reference, ShapeKind::Segments), ground);
        picture.label(middle - Vec3::Y * 0.08, format!("{} s", frame as f32 / 60.0));
    }
    Ok(picture)
}

#[allow(dead_code)] // Another chapter bakes the walk.
fn main() -> Result<(), Box<dyn Error>> {
    Ok(run()?.save()?)
}
