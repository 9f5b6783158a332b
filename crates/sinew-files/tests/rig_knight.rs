//! Judges handles from preferred values against a figure whose file has both the controls and what they made of its limbs.

mod real;

use sinew::{
    JointId, Pose, Workspace,
    motion::{Clip, JointTracks},
    rig::{GoalSpec, HandleSolver, HandleSpec, Rig, RigFrame, RigSpec, StartFrom},
};
use sinew_files::{Model, ReadOptions};

/// The joints of each limb with its controls: root, middle and tip, goal and pole; and a rig that follows them.
fn limbs(model: &Model, body: Option<&sinew::body::BodyRoles>) -> (Vec<[JointId; 5]>, Rig) {
    let skeleton = &model.skeleton;
    let joint = |name: &str| skeleton.find(name).unwrap();
    let mut limbs = Vec::new();
    for side in ["l", "r"] {
        limbs.push(
            ["upperarm", "lowerarm", "wrist", "handIK", "elbowIK"].map(|n| joint(&format!("{n}.{side}"))),
        );
        limbs.push(
            ["upperleg", "lowerleg", "foot", "heelIK", "kneeIK"].map(|n| joint(&format!("{n}.{side}"))),
        );
    }
    let handle = |limb: &[JointId; 5]| HandleSpec {
        solver: HandleSolver::TwoBone,
        from: StartFrom::Preferred,
        goal: GoalSpec { node: Some(limb[3]), ..GoalSpec::default() },
        pole: Some(limb[4]),
        ..HandleSpec::new(skeleton.name(limb[0]), limb[0], limb[2])
    };
    let spec = RigSpec::new(limbs.iter().map(handle).collect());
    let rig = Rig::new(&model.bind_pose(), body, &spec).unwrap();
    (limbs, rig)
}

/// Largest angle from the file's, in degrees, at keys within 99.9 % of the reach; largest distance of an end, in metres; and
/// the number of limbs that were judged.
fn judge(model: &Model, body: Option<&sinew::body::BodyRoles>) -> (f32, f32, usize) {
    let skeleton = &model.skeleton;
    let (limbs, rig) = limbs(model, body);
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let (mut pose, mut worst, mut end, mut count) = (Pose::rest(skeleton), 0.0f32, 0.0f32, 0);
    for clip in &model.clips {
        let keys = (clip.duration() * 30.0).round() as usize;
        for key in 0..=keys {
            clip.sample(key as f32 / 30.0, &mut pose);
            pose.update();
            let file = pose.clone();
            for limb in &limbs {
                // The limbs' tracks are dropped.
                for &j in &limb[..2] {
                    pose.set_rotation(j, sinew::glam::Quat::from_rotation_y(1.0));
                }
            }
            rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(1.0 / 30.0)).unwrap();
            for limb in &limbs {
                let [root, middle, tip, goal, _] = limb.map(|j| file.position(j));
                let reach = root.distance(middle) + middle.distance(tip);
                if goal.distance(root) > 0.999 * reach {
                    continue;
                }
                count += 1;
                for &j in &limb[..2] {
                    let q = file.model_rotation(j).as_dquat().inverse() * pose.model_rotation(j).as_dquat();
                    let sine = sinew::glam::DVec3::new(q.x, q.y, q.z).length();
                    worst = worst.max((2.0 * sine.asin().to_degrees()) as f32);
                }
                end = end.max(pose.position(limb[2]).distance(tip));
            }
        }
    }
    (worst, end, count)
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn controls_of_a_file_give_its_limbs() {
    let model = Model::read(&real::data("gltf/KayKit_Knight.glb"), &ReadOptions::default()).unwrap();
    let body = sinew::body::BodyRoles::find(&model.bind_pose(), &model.declared_roles).unwrap();
    for body in [None, Some(&body)] {
        let (degrees, metres, count) = judge(&model, body);
        println!("{degrees} degrees, {metres} m, {count} limbs");
        assert!(count > 10_000, "{count} limbs");
        assert!(degrees < 0.1 && metres < 2e-4, "{degrees} degrees, {metres} m");
    }
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn a_clip_without_its_limbs_is_baked_from_its_controls() {
    let model = Model::read(&real::data("gltf/KayKit_Knight.glb"), &ReadOptions::default()).unwrap();
    let (skeleton, rest) = (&model.skeleton, Pose::rest(&model.skeleton));
    let walk = model.clips.iter().find(|c| c.name() == "Walking_A").unwrap();
    let (limbs, rig) = limbs(&model, None);
    let is_turned = |joint: JointId| limbs.iter().any(|limb| limb[..2].contains(&joint));
    let drop = |own: &JointTracks| match is_turned(own.joint) {
        true => JointTracks { rotation: None, ..own.clone() },
        false => own.clone(),
    };
    let without = Clip::new("walk", skeleton, walk.tracks().iter().map(drop).collect()).unwrap();
    let baked = rig.bake(&rest, &without, |_, _, _| ()).unwrap().clip;
    assert_eq!(baked.name(), "walk (baked)");
    // What the rig leaves alone keeps its tracks.
    for own in without.tracks().iter().filter(|t| !is_turned(t.joint)) {
        assert!(baked.tracks().contains(own), "{}", skeleton.name(own.joint));
    }
    let reduced = baked.reduced(&rest, |_, _| 0.001).unwrap();
    let (mut file, mut pose, mut judged) = (rest.clone(), rest.clone(), 0);
    for key in walk.key_times() {
        walk.sample(key, &mut file);
        file.update();
        for (clip, metres) in [(&baked, 2e-4), (&reduced, 1.2e-3)] {
            clip.sample(key, &mut pose);
            pose.update();
            for limb in &limbs {
                let [root, middle, tip, goal, _] = limb.map(|j| file.position(j));
                if goal.distance(root) > 0.999 * (root.distance(middle) + middle.distance(tip)) {
                    continue;
                }
                let off = limb[..3].iter().map(|&j| pose.position(j).distance(file.position(j)));
                let off = off.fold(0.0, f32::max);
                assert!(off < metres, "{}: {off} m at {key} s", skeleton.name(limb[0]));
                judged += 1;
            }
        }
    }
    assert!(judged > 200, "{judged}");
}
