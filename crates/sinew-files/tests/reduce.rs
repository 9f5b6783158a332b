//! Keys that are left of real clips within a tolerance, judged by forward kinematics of their own.

mod real;

use glam::{DMat4, DQuat, DVec3};
use sinew::{
    JointId, Pose,
    body::BodyRoles,
    motion::{Clip, Interpolation},
};
use sinew_files::{Model, ReadOptions};

/// Positions of all joints in model space at a time, in f64.
fn positions(clip: &Clip, rest: &Pose, time: f32) -> Vec<DVec3> {
    let mut pose = rest.clone();
    clip.sample(time, &mut pose);
    let mut frames: Vec<DMat4> = Vec::new();
    for joint in rest.skeleton().joints() {
        let local = pose.local(joint);
        let [scale, translation] = [local.scale, local.translation].map(|v| v.as_dvec3());
        let rotation = DQuat::from_array(local.rotation.to_array().map(f64::from)).normalize();
        let local = DMat4::from_scale_rotation_translation(scale, rotation, translation);
        let above = rest.skeleton().parent(joint).map_or(DMat4::IDENTITY, |p| frames[p.index()]);
        frames.push(above * local);
    }
    frames.iter().map(|frame| frame.w_axis.truncate()).collect()
}

/// Key times and numbers of values of the parts that move.
fn keys(clip: &Clip) -> (Vec<f32>, usize) {
    let (mut times, mut count) = (Vec::new(), 0);
    let mut add = |own: &[f32], moves: bool, kind: Interpolation| {
        times.extend_from_slice(own);
        count += if !moves {
            0
        } else if kind == Interpolation::Cubic {
            3 * own.len()
        } else {
            own.len()
        };
    };
    for t in clip.tracks() {
        for track in [&t.translation, &t.scale].into_iter().flatten() {
            add(track.times(), track.values().iter().any(|v| *v != track.values()[0]), track.interpolation());
        }
        if let Some(track) = &t.rotation {
            add(track.times(), track.values().iter().any(|v| *v != track.values()[0]), track.interpolation());
        }
    }
    times.sort_by(f32::total_cmp);
    times.dedup();
    (times, count)
}

/// Reduces a clip and returns the share of the keys that is left. Asserts that every joint is within tolerance at the old
/// keys and half-way between them, and that of standing feet within theirs.
fn left(model: &Model, clip: &Clip, tolerance: f32, standing: f32) -> f64 {
    let rest = Pose::rest(&model.skeleton);
    let body = BodyRoles::find(&model.bind_pose(), &model.declared_roles).unwrap();
    let feet: Vec<JointId> = body.legs.iter().flat_map(|leg| model.skeleton.below(leg.foot)).collect();
    // A foot stands where it is slower than 0.3 m/s.
    let stands = |joint: JointId, time: f32| {
        let at = |t: f32| {
            let mut pose = rest.clone();
            clip.sample(t, &mut pose);
            pose.position(joint)
        };
        feet.contains(&joint) && at(time + 0.02).distance(at(time - 0.02)) < 0.3 * 0.04
    };
    let within = |joint, time| if stands(joint, time) { standing } else { tolerance };
    let reduced = clip.reduced(&rest, within).unwrap();
    let ((times, before), (_, after)) = (keys(clip), keys(&reduced));
    assert_eq!((clip.start(), clip.end()), (reduced.start(), reduced.end()));
    let half_way = times.windows(2).map(|t| 0.5 * (t[0] + t[1]));
    for time in times.iter().copied().chain(half_way) {
        let (wanted, given) = (positions(clip, &rest, time), positions(&reduced, &rest, time));
        for joint in model.skeleton.joints() {
            let off = wanted[joint.index()].distance(given[joint.index()]);
            let most = within(joint, time);
            assert!(
                off <= f64::from(most) + 2e-6,
                "{}: {off} of {most} at {time}",
                model.skeleton.name(joint)
            );
        }
    }
    after as f64 / before as f64
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn few_keys_are_left_of_real_clips() {
    let cmu = ReadOptions { scale: 0.056444, ..ReadOptions::default() };
    let cmu = Model::read(&real::data("bvh/cmu_12_01_walk.bvh"), &cmu).unwrap();
    let knight = Model::read(&real::data("gltf/KayKit_Knight.glb"), &ReadOptions::default()).unwrap();
    let walk = knight.clips.iter().find(|c| c.name() == "Walking_A").unwrap();
    for (model, clip, tolerance, standing, most) in [
        (&cmu, &cmu.clips[0], 0.005, 0.005, 0.20),
        (&cmu, &cmu.clips[0], 0.005, 0.001, 0.33),
        (&knight, walk, 0.001, 0.001, 0.70),
    ] {
        let share = left(model, clip, tolerance, standing);
        println!("{}: {share:.3} of {most} at {tolerance} and {standing} m", clip.name());
        assert!(share <= most, "{}: {share}", clip.name());
    }
}
