//! Tutorial, chapter 5: a telescope of three cylinders (`docs/tutorial.md`).
//!
//! `cargo run -p sinew --example tutorial_telescope`; with `-- tutorial_telescope.svg` it draws the chapter's picture.

mod parts;
mod picture;

use std::{error::Error, sync::Arc};

use parts::cylinder;
use picture::Picture;
use sinew::{
    Goal, JointId, JointTransform, Pose, Skeleton, Workspace,
    draw::ShapeRole,
    glam::Vec3,
    joint::{Dof, Joint},
    rig::{HandleSolver, HandleSpec, Rig, RigFrame, RigGoal, RigSpec, StartFrom},
};

/// Three cylinders of 40 cm, of which each slides 30 cm into the one below, and a lid. `precedence` is that of the lower, the
/// middle and the upper cylinder: the highest slides first.
fn telescope(precedence: [i32; 3], ease: f64) -> Result<(Pose, Vec<JointId>), Box<dyn Error>> {
    let mut builder = Skeleton::builder();
    let up = |y: f32| JointTransform::from_translation(Vec3::Y * y);
    let stand = builder.add("stand", None, JointTransform::IDENTITY);
    let lower = builder.add("lower", Some(stand), up(0.4));
    let middle = builder.add("middle", Some(lower), up(0.4));
    let upper = builder.add("upper", Some(middle), up(0.4));
    builder.add("lid", Some(upper), up(0.06));
    let (mut skeleton, parts) = builder.build()?;
    skeleton.set_joint(parts[0], Joint::FIXED)?;
    skeleton.set_joint(parts[4], Joint::FIXED)?;
    for (&part, precedence) in parts[1..4].iter().zip(precedence) {
        let dof = Dof::range(-0.3, 0.0).with_precedence(precedence).with_ease(ease);
        skeleton.set_joint(part, Joint::slider(Vec3::Y, dof))?;
    }
    Ok((Pose::rest(&Arc::new(skeleton)), parts))
}

/// Pushes the lid down by a millimetre a frame. Returns the pose of each.
fn push(rest: &Pose, parts: &[JointId]) -> Result<Vec<Pose>, Box<dyn Error>> {
    let mut handle = HandleSpec::new("lid", parts[1], parts[4]);
    (handle.solver, handle.from) = (HandleSolver::JointSpace, StartFrom::Last); // as an HD solver
    let rig = Rig::new(rest, None, &RigSpec::new(vec![handle]))?;
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut poses = Vec::new();
    for millimetre in 0..=880u16 {
        let lid = rest.position(parts[4]) - Vec3::Y * 1e-3 * f32::from(millimetre);
        let goals = [RigGoal::from(Goal::position(lid))];
        let mut pose = rest.clone();
        rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(1.0 / 30.0).with_goals(&goals))?;
        poses.push(pose);
    }
    Ok(poses)
}

/// How far the lower, the middle and the upper cylinder have slid in.
fn slid(pose: &Pose, parts: &[JointId]) -> [f32; 3] {
    [1, 2, 3].map(|n| 0.4 - pose.local(parts[n]).translation.y)
}

/// Plays the chapter, and draws it.
pub fn run() -> Result<Picture, Box<dyn Error>> {
    // The upper cylinder first, then the middle one, then the lower one.
    let (rest, parts) = telescope([0, 1, 2], 0.0)?;
    let downwards = push(&rest, &parts)?;
    // How far the upper cylinder was in when the middle one began to move.
    let onset = |poses: &[Pose]| {
        let begins = poses.iter().map(|pose| slid(pose, &parts)).find(|slid| slid[1] > 1e-3);
        begins.map_or(0.0, |slid| slid[2])
    };
    assert!((onset(&downwards) - 0.3).abs() < 1e-3, "the middle one starts when the upper one is in");

    // With ease, the upper one slows down before its limit, and the middle one starts 5 % of the range earlier.
    let (eased, _) = telescope([0, 1, 2], 0.1)?;
    let early = onset(&push(&eased, &parts)?);
    assert!((0.285..0.295).contains(&early), "{early}");

    // Precedence reversed: the lower one goes first.
    let (reversed, _) = telescope([2, 1, 0], 0.0)?;
    let upwards = push(&reversed, &parts)?;
    let [lower, middle, upper] = slid(&upwards[250], &parts);
    assert!(lower > 0.24 && middle < 1e-3 && upper < 1e-3);

    let mut picture = Picture::seen_from(Vec3::new(0.0, 0.25, 1.0));
    let rows = [(&downwards, 1.7, "the upper cylinder first"), (&upwards, 0.0, "precedence reversed")];
    for (poses, height, text) in rows {
        for (n, frame) in [0usize, 220, 440, 660, 880].into_iter().enumerate() {
            let frames = [0, 1, 2, 3, 4].map(|part| {
                let mut place = poses[frame].model(parts[part]);
                place.translation += Vec3::new(0.75 * n as f32, height, 0.0);
                place
            });
            cylinder(picture.layer(1.0), ShapeRole::Bone, &frames[0], [(-0.02, 0.22), (0.0, 0.22)]);
            for (k, role) in [ShapeRole::Ground, ShapeRole::Limit, ShapeRole::Goal].into_iter().enumerate() {
                // A cylinder hangs below its joint; what is inside of the next one is not seen.
                let (radius, seen) = (0.17 - 0.04 * k as f32, poses[frame].local(parts[k + 1]).translation.y);
                cylinder(picture.layer(1.0), role, &frames[k + 1], [(-seen, radius), (0.0, radius)]);
            }
            cylinder(picture.layer(1.0), ShapeRole::Bone, &frames[4], [(-0.06, 0.03), (0.0, 0.06)]);
            // Beside it the range of each slide, from where the cylinder below is, and where in it the cylinder is.
            for (k, &part) in parts[1..4].iter().enumerate() {
                let mut beside = poses[frame].clone();
                let x = 0.75 * n as f32 + 0.28 + 0.09 * k as f32;
                beside.set_translation(parts[0], Vec3::new(x, height, 0.0));
                beside.update();
                picture.layer(1.0).limits(&beside, [(part, None)], 0.14);
            }
        }
        picture.label(Vec3::new(1.5, height - 0.08, 0.0), text);
    }
    Ok(picture)
}

#[allow(dead_code)] // Tests run the chapter.
fn main() -> Result<(), Box<dyn Error>> {
    Ok(run()?.save()?)
}
