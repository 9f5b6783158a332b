//! Tutorial, chapter 4: a sceptre is dragged, free and with joints locked (`docs/tutorial.md`).
//!
//! `cargo run -p sinew --example tutorial_sceptre`; with `-- tutorial_sceptre.svg` it draws the chapter's picture.

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
    rig::{Rig, RigFrame, RigGrab, RigSpec},
};

/// A root cylinder, ten rings and a gem, each below the last, with these joints between them.
fn sceptre(joint: Joint) -> Result<(Pose, Vec<JointId>), Box<dyn Error>> {
    let mut builder = Skeleton::builder();
    for n in 0..12usize {
        let down = if n == 0 { 0.0 } else { -0.1 };
        let at = JointTransform::from_translation(Vec3::new(0.0, down, 0.0));
        builder.add(format!("part {n}"), n.checked_sub(1), at);
    }
    let (mut skeleton, parts) = builder.build()?;
    skeleton.set_joint(parts[0], Joint::FIXED)?;
    for &part in &parts[1..] {
        skeleton.set_joint(part, joint)?;
    }
    Ok((Pose::rest(&Arc::new(skeleton)), parts))
}

/// Drags the gem along a line, as an animator does with the mouse.
fn drag(rest: &Pose, gem: JointId, by: Vec3) -> Result<Pose, Box<dyn Error>> {
    let rig = Rig::new(rest, None, &RigSpec::new(vec![]))?; // no handle is needed
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut drag = rig.grab(&mut state, &mut workspace, rest, &RigFrame::new(0.0), &RigGrab::new(gem))?;
    for n in 1..=40 {
        let cursor = rest.position(gem) + by * (n as f32 / 40.0);
        drag.to(&mut state, &mut workspace, &Goal::position(cursor), 1.0 / 60.0)?;
    }
    Ok(drag.pose().clone())
}

/// Plays the chapter, and draws it.
pub fn run() -> Result<Picture, Box<dyn Error>> {
    // Forward kinematics: a ring that is moved takes along what hangs below it, and nothing else.
    let (rest, parts) = sceptre(Joint::floating())?;
    let (ring, gem) = (parts[6], parts[11]);
    let mut moved = rest.clone();
    moved.set_translation(ring, Vec3::new(0.15, -0.1, 0.0));
    moved.update();
    assert_eq!(moved.position(parts[5]), rest.position(parts[5]));
    assert_eq!(moved.position(gem), rest.position(gem) + Vec3::X * 0.15);

    // Dragged, what is above follows as well. With everything free, nobody can steer it: the rings slide off each other.
    let aside = Vec3::new(0.5, 0.35, 0.0);
    let free = drag(&rest, gem, aside)?;
    let off_axis = |pose: &Pose| {
        let off = parts.iter().map(|&part| pose.local(part).translation.x.abs());
        off.fold(0.0, f32::max)
    };
    assert!(off_axis(&free) > 0.03);

    // Turning is locked, and of the slides only that along the axis is left, by up to 4 cm.
    let slide = Joint::slider(Vec3::Y, Dof::range(-0.04, 0.04));
    let (sliding, _) = sceptre(slide)?;
    let up = Vec3::Y * 0.35;
    let slid = drag(&sliding, gem, up)?;
    assert!(slid.position(gem).distance(rest.position(gem) + up) < 1e-3 && off_axis(&slid) < 1e-6);

    // Sliding is locked, and of the turns only that about one axis is left, by up to 15 degrees.
    let turn = Joint::hinge(Vec3::Z, Dof::range(-0.26, 0.26));
    let (turning, _) = sceptre(turn)?;
    let turned = drag(&turning, gem, aside)?;
    assert!(turned.position(gem).distance(rest.position(gem) + aside) < 1e-3 && off_axis(&turned) < 1e-6);
    for pose in [&free, &slid, &turned] {
        assert!(pose.position(parts[6]).distance(rest.position(parts[6])) > 1e-2, "what is above follows");
    }

    let mut picture = Picture::seen_from(Vec3::new(0.0, 0.35, 1.0));
    let panels = [
        (&moved, None, "FK"),
        (&free, Some(aside), "dragged, free"),
        (&slid, Some(up), "one slide left"),
        (&turned, Some(aside), "one turn left"),
    ];
    for (n, (pose, goal, text)) in panels.into_iter().enumerate() {
        let at = Vec3::X * 0.85 * n as f32;
        let list = picture.layer(1.0);
        for (k, &part) in parts.iter().enumerate() {
            let mut frame = pose.model(part);
            frame.translation += at;
            let (role, ends) = match k {
                0 => (ShapeRole::Ground, [(-0.03, 0.09), (0.12, 0.09)]),
                11 => (ShapeRole::Goal, [(-0.07, 0.0), (0.02, 0.07)]),
                6 if n == 0 => (ShapeRole::Limit, [(-0.025, 0.075), (0.025, 0.075)]),
                _ => (ShapeRole::Bone, [(-0.025, 0.075), (0.025, 0.075)]),
            };
            cylinder(list, role, &frame, ends);
        }
        if let Some(by) = goal {
            picture.goal(rest.position(gem) + by + at, 0.13);
        }
        picture.label(at + Vec3::new(0.15, -1.3, 0.0), text);
    }
    Ok(picture)
}

#[allow(dead_code)] // Tests run the chapter.
fn main() -> Result<(), Box<dyn Error>> {
    Ok(run()?.save()?)
}
