//! A clip through a rig.

use std::sync::Arc;

use sinew::{
    Goal, JointId, JointTransform, Pose, Skeleton, Workspace,
    glam::{Quat, Vec3},
    motion::{Baker, Clip, Interpolation, JointTracks, Track},
    rig::{
        BakedGoals, HandleSolver, HandleSpec, Rig, RigBakeError, RigFrame, RigGoal, RigSpec, Space,
        StartFrom,
        keys::{KeyChannel, KeyOwner},
    },
};

/// A trunk with an arm, a rig of the arm, and a clip that turns the trunk (cubic) and bends the elbow (uneven keys).
fn case() -> (Pose, Vec<JointId>, Rig, Clip) {
    let mut builder = Skeleton::builder();
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = builder.add("hips", None, at(0.0, 1.0, 0.0));
    let upper = builder.add("upper", Some(hips), at(0.2, 0.4, 0.0));
    let elbow = builder.add("elbow", Some(upper), at(0.3, 0.0, -0.03));
    builder.add("hand", Some(elbow), at(0.3, 0.0, 0.03));
    let (skeleton, ids) = builder.build().unwrap();
    let rest = Pose::rest(&Arc::new(skeleton));
    let mut arm = HandleSpec::new("arm", ids[1], ids[3]);
    arm.solver = HandleSolver::TwoBone;
    let rig = Rig::new(&rest, None, &RigSpec::new(vec![arm])).unwrap();
    let (zero, one) = (Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), Quat::from_rotation_y(0.8));
    let turn = vec![zero, Quat::IDENTITY, zero, zero, one, zero];
    let turn = Track::new(vec![0.25, 0.61], turn, Interpolation::Cubic).unwrap();
    let bends = [0.1, 0.7, 0.4].map(Quat::from_rotation_y).to_vec();
    let bend = Track::new(vec![0.25, 0.26, 0.7], bends, Interpolation::Linear).unwrap();
    let tracks = vec![
        JointTracks { rotation: Some(bend), ..JointTracks::new(ids[2]) },
        JointTracks { rotation: Some(turn), ..JointTracks::new(ids[0]) },
    ];
    let clip = Clip::new("turn", rest.skeleton(), tracks).unwrap();
    (rest, ids, rig, clip)
}

#[test]
fn a_rig_without_goals_leaves_the_clip() {
    let (rest, _, rig, clip) = case();
    let baked = rig.bake(&rest, &clip, |_, _, _| ()).unwrap().clip;
    assert_eq!(baked.name(), "turn (baked)");
    for own in clip.tracks() {
        assert_eq!(baked.tracks().iter().find(|t| t.joint == own.joint), Some(own));
    }
    let others = baked.tracks().iter().filter(|t| clip.tracks().iter().all(|own| own.joint != t.joint));
    for other in others {
        assert_eq!(*other, JointTracks::new(other.joint));
    }
}

#[test]
fn goals_are_met_at_all_keys_and_a_thirtieth_of_a_second_apart() {
    let (rest, ids, rig, clip) = case();
    let path = |t: f32| Vec3::new(0.5 + 0.1 * t, 1.3 + 0.2 * t, 0.2);
    let mut seen = Vec::new();
    let baked = rig
        .bake(&rest, &clip, |time, pose, goals| {
            // The animation's pose, whatever the frame before left.
            let mut own = rest.clone();
            clip.sample(time, &mut own);
            assert_eq!(own.locals(), pose.locals());
            assert!(goals[0].is_unset());
            goals[0] = Goal::position(path(time)).into();
            seen.push(time);
        })
        .unwrap();
    assert_eq!(baked.missed, []);
    let baked = baked.clip;
    assert!(seen.windows(2).all(|t| t[1] > t[0] && t[1] - t[0] < 0.0334), "{seen:?}");
    assert!(clip.key_times().iter().all(|key| seen.contains(key)), "{seen:?}");
    assert_eq!((baked.start(), baked.end()), (clip.start(), clip.end()));
    let mut pose = rest.clone();
    for &time in &seen {
        baked.sample(time, &mut pose);
        pose.update();
        let off = pose.position(ids[3]).distance(path(time));
        assert!(off < 1e-4, "{off} m at {time} s");
    }
    // The trunk, which the rig leaves alone, keeps its two cubic keys.
    assert!(baked.tracks().contains(&clip.tracks()[1]));
}

#[test]
fn a_goal_that_is_missed_is_told_once_with_its_worst() {
    let (rest, ids, rig, clip) = case();
    // Out of reach by 1 m at first, by half a metre later, within reach at the end.
    let far = |t: f32| {
        if t < 0.4 {
            1.0
        } else if t < 0.6 {
            0.5
        } else {
            -0.2
        }
    };
    let mut frames = 0;
    let baked = rig.bake(&rest, &clip, |time, pose, goals| {
        let to = pose.position(ids[1]) + Vec3::Z * (2.0 * 0.3f32.hypot(0.03) + far(time));
        frames += usize::from(time < 0.6);
        goals[0] = Goal::position(to).into();
    });
    let [missed] = baked.unwrap().missed[..] else { panic!() };
    assert_eq!((missed.handle, missed.frames, missed.time), (0, frames, clip.start()));
    assert!((missed.position_residual - 1.0).abs() < 1e-3, "{missed:?}");
}

#[test]
fn what_cannot_be_baked_is_named() {
    let (rest, ids, rig, clip) = case();
    let error = rig.bake(&rest, &clip, |time, _, goals| {
        goals[0] = Goal::position(Vec3::splat(if time > 0.5 { f32::NAN } else { 1.0 })).into();
    });
    let error = error.unwrap_err();
    assert!(matches!(error, RigBakeError::Frame { time, .. } if time > 0.5), "{error}");
    assert!(error.to_string().contains("`turn`") && error.to_string().contains("`arm`"), "{error}");
    let values = vec![Vec3::ZERO, Vec3::ONE];
    let long = Track::new(vec![0.0, 1e30], values, Interpolation::Linear).unwrap();
    let tracks = vec![JointTracks { translation: Some(long), ..JointTracks::new(ids[0]) }];
    let long = Clip::new("long", rest.skeleton(), tracks).unwrap();
    assert!(matches!(rig.bake(&rest, &long, |_, _, _| ()), Err(RigBakeError::Frames { .. })));
    let mut builder = Skeleton::builder();
    builder.add("other", None, JointTransform::IDENTITY);
    let other = Pose::rest(&Arc::new(builder.build().unwrap().0));
    assert!(matches!(rig.bake(&other, &clip, |_, _, _| ()), Err(RigBakeError::Clip(_))));
    // A clip that the other skeleton has, and joints of the rig that it has not.
    let hips = clip.tracks()[1..].to_vec();
    let hips = Clip::new("hips", other.skeleton(), hips).unwrap();
    let error = rig.bake(&other, &hips, |_, _, _| ()).unwrap_err();
    assert!(error.to_string().contains("skeleton"), "{error}");
}

#[test]
fn a_clip_comes_back_from_keys_of_its_goals_alone() {
    let (rest, ids, rig, clip) = case();
    // Rolls of both bones, which position, rotation and pole do not show.
    let roll = |joint, to: f32| {
        let turns = vec![Quat::IDENTITY, Quat::from_rotation_x(to)];
        let rotation = Track::new(vec![0.25, 0.7], turns, Interpolation::Linear).unwrap();
        JointTracks { rotation: Some(rotation), ..JointTracks::new(joint) }
    };
    let tracks = vec![roll(ids[1], 0.9), clip.tracks()[0].clone(), clip.tracks()[1].clone()];
    let clip = Clip::new("roll", rest.skeleton(), tracks).unwrap();
    let made = rig.bake_goals(&rest, &clip, |_, _, _| ()).unwrap();
    let left = made.clip.as_ref().unwrap();
    assert_eq!(left.tracks(), [clip.tracks()[2].clone()]);
    let turned = |channel| made.keys.track(KeyOwner::Goal(0), channel).is_some();
    assert!(turned(KeyChannel::UpperTurn) || turned(KeyChannel::MiddleTurn));
    assert!(made.deviations[0].turn < 1e-3, "{:?}", made.deviations);

    // All joints of the clip, and the points of a tenth of a bone beside them, at its keys and half-way.
    let off = |made: &BakedGoals| {
        let start = rig.preferred_pose(&rest);
        let mut poses = [rest.clone(), rest.clone()];
        let mut goals = [RigGoal::new()];
        let mut worst = 0.0f32;
        for step in 0..=90 {
            let time = 0.25 + 0.005 * step as f32;
            let [wanted, pose] = &mut poses;
            clip.sample(time, wanted);
            wanted.update();
            pose.copy_from(&start);
            made.clip.as_ref().unwrap().sample(time, pose);
            made.keys.sample(time, &mut goals).unwrap();
            let frame = RigFrame::new(0.0).with_goals(&goals);
            rig.apply(&mut rig.state(), &mut Workspace::new(), pose, &frame).unwrap();
            for &joint in &ids {
                for beside in [Vec3::ZERO, Vec3::X * 0.03, Vec3::Y * 0.03] {
                    let [a, b] = poses.each_ref().map(|pose| pose.model(joint).transform_point3(beside));
                    worst = worst.max(a.distance(b));
                }
            }
        }
        worst
    };
    assert!(off(&made) < 1e-3, "{}", off(&made));
    let few = made.reduced(&rig, &rest, |_, _| 0.005).unwrap();
    let count = |made: &BakedGoals| made.keys.tracks().iter().map(|t| t.keys().len()).sum::<usize>();
    assert!(2 * count(&few) < count(&made), "{} of {}", count(&few), count(&made));
    assert!(off(&few) < 0.006, "{}", off(&few));
    assert!(made.reduced(&rig, &rest, |_, _| f32::NAN).is_err());
}

#[test]
fn turns_are_for_limbs() {
    let (rest, ids, _, _) = case();
    let mut look = HandleSpec::new("look", ids[0], ids[0]);
    look.solver = HandleSolver::Aim;
    let rig = Rig::new(&rest, None, &RigSpec::new(vec![look])).unwrap();
    let goal =
        RigGoal::from(Goal::position(Vec3::ONE)).with_turns([Quat::from_rotation_x(0.1), Quat::IDENTITY]);
    let frame = RigFrame::new(0.0);
    let apply = |goal| {
        rig.apply(&mut rig.state(), &mut Workspace::new(), &mut rest.clone(), &frame.with_goals(&[goal]))
            .map(|_| ())
    };
    assert!(apply(goal).unwrap_err().to_string().contains("turns of a limb"));
    let none = goal.with_turns([Quat::from_xyzw(0.0, 0.0, 0.0, 0.0); 2]);
    assert!(apply(none).unwrap_err().to_string().contains("the turn of the root"));
}

/// A figure that stands still in another pose than at rest, as after planting.
#[test]
fn a_still_clip_keeps_its_duration() {
    let (rest, ids, rig, _) = case();
    let mut baker = Baker::new(rest.skeleton(), ids.iter().copied());
    let mut pose = rest.clone();
    pose.set_rotation(ids[2], Quat::from_rotation_y(0.4));
    pose.update();
    [0.5, 1.0, 2.0].into_iter().for_each(|time| baker.push(time, &pose));
    let still = baker.finish("still", rest.skeleton()).unwrap();
    assert_eq!((still.start(), still.duration()), (0.5, 1.5));
    let baked = rig.bake(&rest, &still, |_, _, goals| goals[0] = Goal::position(Vec3::ONE).into()).unwrap();
    assert_eq!((baked.clip.start(), baked.clip.duration()), (0.5, 1.5));
}

/// An arm that is folded onto its shoulder has no bend, and so no pole in that frame: the poles of others keep their times.
#[test]
fn poles_keep_their_times_where_a_frame_has_none() {
    let mut builder = Skeleton::builder();
    let at = |x: f32| JointTransform::from_translation(Vec3::new(x, 0.0, 0.0));
    let shoulder = builder.add("shoulder", None, at(0.0));
    let elbow = builder.add("elbow", Some(shoulder), at(0.3));
    builder.add("hand", Some(elbow), at(0.3));
    let (skeleton, ids) = builder.build().unwrap();
    let rest = Pose::rest(&Arc::new(skeleton));
    let turns =
        vec![Quat::from_rotation_y(1.0), Quat::from_xyzw(0.0, 1.0, 0.0, 0.0), Quat::from_rotation_y(2.0)];
    let rotation = Track::new(vec![0.0, 1.0, 2.0], turns, Interpolation::Linear).unwrap();
    let tracks = vec![JointTracks { rotation: Some(rotation), ..JointTracks::new(ids[1]) }];
    let clip = Clip::new("fold", rest.skeleton(), tracks).unwrap();
    let mut arm = HandleSpec::new("arm", ids[0], ids[2]);
    (arm.solver, arm.from) = (HandleSolver::TwoBone, StartFrom::Preferred);
    let rig = Rig::new(&rest, None, &RigSpec::new(vec![arm])).unwrap();

    let mut folded = rest.clone();
    clip.sample(1.0, &mut folded);
    folded.update();
    assert_eq!(folded.position(ids[2]), folded.position(ids[0]));
    let made = rig.bake_goals(&rest, &clip, |_, _, _| ()).unwrap();
    let poles = made.keys.track(KeyOwner::Goal(0), KeyChannel::pole(Space::Model)).unwrap();
    assert_eq!(poles.keys().last().unwrap().time, 2.0);
    assert!(poles.keys().iter().all(|key| key.time != 1.0));
}
