//! A figure steps up and reaches, by handles: feet that roll, hands, a look. Each handle starts from preferred values, so that
//! the pose depends on the goals alone.
//!
//! `cargo run -p sinew --example rig`; with `-- rig.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    Goal, JointId, JointTransform, Pole, Pose, Skeleton, Workspace,
    body::{BodyRoles, Side},
    glam::Vec3,
    rig::{HandleSolver, HandleSpec, Rig, RigFrame, RigGoal, RigSpec, StartFrom},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = builder.add("hips", None, at(0.0, 0.98, 0.0));
    let spine = builder.add("spine", Some(hips), at(0.0, 0.15, 0.0));
    let chest = builder.add("chest", Some(spine), at(0.0, 0.25, 0.0));
    let neck = builder.add("neck", Some(chest), at(0.0, 0.16, 0.0));
    builder.add("head", Some(neck), at(0.0, 0.1, 0.0));
    for (side, x) in [("l", 1.0), ("r", -1.0)] {
        let upper = builder.add(format!("upper_arm.{side}"), Some(chest), at(0.2 * x, 0.1, 0.0));
        let fore = builder.add(format!("forearm.{side}"), Some(upper), at(0.05 * x, -0.31, 0.0));
        builder.add(format!("hand.{side}"), Some(fore), at(0.02 * x, -0.26, 0.0));
        let thigh = builder.add(format!("thigh.{side}"), Some(hips), at(0.1 * x, -0.05, 0.0));
        let shin = builder.add(format!("shin.{side}"), Some(thigh), at(0.0, -0.43, 0.0));
        let foot = builder.add(format!("foot.{side}"), Some(shin), at(0.0, -0.42, 0.0));
        builder.add(format!("toes.{side}"), Some(foot), at(0.0, -0.06, 0.14));
    }
    let bind = Pose::rest(&Arc::new(builder.build()?.0));
    // Roles tell which way it faces, and how straight knees and elbows bend.
    let body = BodyRoles::find(&bind, &[])?;
    let joint = |name: &str| bind.skeleton().find(name).ok_or_else(|| format!("no joint {name}"));

    let handle = |name: &str, solver, root: JointId, tip: JointId| HandleSpec {
        solver,
        from: StartFrom::Preferred,
        ..HandleSpec::new(name, root, tip)
    };
    let mut handles = vec![
        handle("look", HandleSolver::LookAt, joint("neck")?, joint("head")?),
        handle("left hand", HandleSolver::TwoBone, joint("upper_arm.l")?, joint("hand.l")?),
        handle("right hand", HandleSolver::TwoBone, joint("upper_arm.r")?, joint("hand.r")?),
        handle("left foot", HandleSolver::Foot, joint("thigh.l")?, joint("foot.l")?),
        handle("right foot", HandleSolver::Foot, joint("thigh.r")?, joint("foot.r")?),
    ];
    for (handle, side) in handles[3..].iter_mut().zip(["l", "r"]) {
        handle.foot.toes = Some(joint(&format!("toes.{side}"))?);
        handle.color = Some([0x00, 0x9E, 0x73]);
    }
    let rig = Rig::new(&bind, Some(&body), &RigSpec::new(handles))?;

    // Each frame: the animation's pose, and what is wanted in it. A fresh goal asks for nothing.
    let ball = Vec3::new(0.25, 1.65, 0.5);
    let goals = [
        Goal::position(ball).into(),
        Goal::position(ball - Vec3::new(0.0, 0.12, 0.05))
            .with_pole(Pole::Direction(Vec3::new(0.2, -0.4, -0.12)))
            .into(),
        RigGoal::from(Goal::position(Vec3::new(-0.35, 1.0, -0.2))),
        RigGoal::from(Goal::position(bind.position(joint("foot.l")?) + Vec3::new(0.0, 0.3, 0.3))),
        RigGoal::from(Goal::position(bind.position(joint("foot.r")?) + Vec3::new(0.0, 0.0, -0.25)))
            .with_roll(0.9),
    ];
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut pose = bind.clone();
    let report =
        rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(1.0 / 60.0).with_goals(&goals))?;
    for (name, handle) in rig.names().zip(report.handles) {
        println!(
            "{name:<10} {:.2} mm off, {:?}",
            1e3 * handle.report.position_residual,
            handle.report.outcome
        );
    }

    let mut picture = Picture::seen_from(Vec3::new(1.0, 0.15, 0.45));
    picture.pose(&bind, None, 0.25);
    picture.pose(&pose, Some(Side::Left), 1.0);
    picture.layer(1.0).rig(&rig, &state, &pose, 0.08);
    picture.save()?;
    Ok(())
}
