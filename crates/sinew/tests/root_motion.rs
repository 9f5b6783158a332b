//! Clips in a loop, and root motion taken out of them.

use std::{f32::consts::TAU, sync::Arc};

use sinew::{
    JointId, JointTransform, Pose, Skeleton,
    glam::{Affine3, EulerRot, Quat, Vec3},
    motion::{Clip, ClipCursor, Interpolation, JointTracks, RootMotion, RootMotionError, Track},
};

/// A root above the hips, a pair of legs below them.
fn figure(root: JointTransform) -> (Pose, Vec<JointId>) {
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let mut b = Skeleton::builder();
    let top = b.add("root", None, root);
    let hips = b.add("hips", Some(top), at(0.0, 0.95, 0.0));
    let thigh = b.add("thigh", Some(hips), at(0.1, 0.0, 0.0));
    b.add("shin", Some(thigh), at(0.0, -0.43, 0.02));
    let (skeleton, ids) = b.build().unwrap();
    (Pose::rest(&Arc::new(skeleton)), ids)
}

/// Parents of the hips: plain, turned and scaled as files of centimetres with Z up are, mirrored, and placed anywhere.
fn roots() -> [JointTransform; 4] {
    let turned = Quat::from_rotation_x(-0.25 * TAU);
    [
        JointTransform::IDENTITY,
        JointTransform { rotation: turned, scale: Vec3::splat(0.01), ..JointTransform::IDENTITY },
        JointTransform {
            rotation: Quat::from_rotation_y(2.0),
            scale: Vec3::splat(-2.0),
            ..JointTransform::IDENTITY
        },
        JointTransform {
            translation: Vec3::new(2.0, 1.0, -3.0),
            ..JointTransform::from_translation(Vec3::X)
        },
    ]
}

/// A curved walk of the hips, in model space: it goes 1.5 m, turns by `turn` radians, and sways and nods on the way.
fn walk(rest: &Pose, ids: &[JointId], turn: f32, kind: Interpolation, start: f32) -> Clip {
    let above = rest.model(ids[0]);
    let times: Vec<f32> = (0..=30).map(|i| start + i as f32 / 30.0).collect();
    let (mut places, mut turns) = (Vec::new(), Vec::new());
    for i in 0..=30 {
        let t = i as f32 / 30.0;
        let yaw = 0.3 + turn * t;
        let place =
            Vec3::new(0.4 + 0.6 * (TAU * t).sin() * t, 0.9 + 0.05 * (2.0 * TAU * t).sin(), 1.5 * t - 0.2);
        let tilt = Quat::from_euler(EulerRot::XYZ, 0.3 * (TAU * t).sin(), 0.1 * (TAU * t).cos(), 0.2);
        let world = Affine3::from_rotation_translation(Quat::from_rotation_y(yaw) * tilt, place);
        let local = above.inverse() * world;
        let rotation = rest.model_rotation(ids[0]).inverse() * Quat::from_rotation_y(yaw) * tilt;
        let size = local.matrix3.x_axis.length();
        assert!(size > 0.0);
        if kind == Interpolation::Cubic {
            let tangent = above.inverse().transform_vector3(Vec3::new(0.3, 0.1, 1.5));
            places.extend([tangent, local.translation, tangent * 0.9]);
            turns.extend([
                Quat::from_xyzw(0.0, 0.1, 0.0, 0.0),
                rotation,
                Quat::from_xyzw(0.05, 0.1, 0.0, 0.0),
            ]);
        } else {
            places.push(local.translation);
            turns.push(rotation);
        }
    }
    let hips = JointTracks {
        translation: Some(Track::new(times.clone(), places, kind).unwrap()),
        rotation: Some(Track::new(times, turns, kind).unwrap()),
        ..JointTracks::new(ids[1])
    };
    let swing = [0.4, -0.4, 0.4].map(Quat::from_rotation_x).to_vec();
    let swing = Track::new(vec![start, start + 0.5, start + 1.0], swing, Interpolation::Linear).unwrap();
    let thigh = JointTracks { rotation: Some(swing), ..JointTracks::new(ids[2]) };
    Clip::new("walk", rest.skeleton(), vec![hips, thigh]).unwrap()
}

/// Largest distance between what the clip shows and what it shows without its motion, placed by it. Axes of 1 m are compared
/// too.
fn worst(rest: &Pose, ids: &[JointId], whole: &Clip, without: &Clip, motion: &RootMotion) -> f32 {
    let (mut a, mut b, mut worst) = (rest.clone(), rest.clone(), 0.0f32);
    for i in -10..=410 {
        let time = whole.start() + i as f32 / 400.0 * whole.duration();
        whole.sample(time, &mut a);
        without.sample(time, &mut b);
        let placed = motion.at(time);
        for &joint in &ids[1..] {
            let (a, b) = (a.model(joint), placed * b.model(joint));
            worst = worst.max(a.translation.distance(b.translation));
            for (a, b) in [(a.x_axis, b.x_axis), (a.y_axis, b.y_axis), (a.z_axis, b.z_axis)] {
                worst = worst.max(a.distance(b) / a.length());
            }
        }
    }
    worst
}

#[test]
fn the_clip_placed_by_its_motion_is_the_clip() {
    for root in roots() {
        let (rest, ids) = figure(root);
        for kind in [Interpolation::Linear, Interpolation::Cubic, Interpolation::Step] {
            for turn in [0.0, -1.2, 9.0] {
                let clip = walk(&rest, &ids, turn, kind, 0.5);
                let size = 2.0 + 2.0;
                let taken = [
                    RootMotion::travel(&clip, &rest, ids[1]),
                    RootMotion::travel_and_yaw(&clip, &rest, ids[1]),
                ];
                for (yaw, taken) in taken.into_iter().enumerate() {
                    let (without, motion) = taken.unwrap();
                    let off = worst(&rest, &ids, &clip, &without, &motion);
                    assert!(off < 1e-6 * size, "{root:?} {kind:?} {turn} {yaw}: {off}");
                    assert!(motion.at(clip.start()).abs_diff_eq(Affine3::IDENTITY, 1e-12));
                    // The hips stay where they began, and turn no further than they tilt and sway.
                    let (mut pose, mut first) = (rest.clone(), None);
                    for i in 0..=100 {
                        without.sample(clip.start() + 0.01 * i as f32, &mut pose);
                        let flat = pose.position(ids[1]) * Vec3::new(1.0, 0.0, 1.0);
                        assert!(flat.distance(*first.get_or_insert(flat)) < 2e-6 * size);
                    }
                    let turned = motion.at(clip.end()).matrix3.x_axis;
                    let wanted = if yaw == 1 { Quat::from_rotation_y(turn) * Vec3::X } else { Vec3::X };
                    assert!(turned.distance(wanted) < 1e-5, "{turned} {wanted}");
                }
            }
        }
    }
}

#[test]
fn loops_go_on_where_the_round_before_ended() {
    for (turn, start) in [(0.0, 0.0), (0.7, 0.5), (TAU, -3.0), (-2.5, 0.0)] {
        let (rest, ids) = figure(roots()[1]);
        let clip = walk(&rest, &ids, turn, Interpolation::Linear, start);
        let (without, motion) = RootMotion::travel_and_yaw(&clip, &rest, ids[1]).unwrap();
        // Whole rounds are the round composed with itself.
        let round = motion.at(clip.end()).as_daffine3();
        let (mut composed, mut back) = (sinew::glam::DAffine3::IDENTITY, sinew::glam::DAffine3::IDENTITY);
        for n in 0..1000 {
            for (placed, time) in [(composed, n), (back, -n)] {
                let at = motion.at_looped(start + time as f32 * clip.duration());
                let off = at.as_daffine3().translation.distance(placed.translation);
                assert!(off < 3e-6 * (1.0 + f64::from(n)), "{turn} {n}: {off}");
                assert!((at.as_daffine3().x_axis - placed.x_axis).length() < 3e-6 + 2e-7 * f64::from(n));
            }
            (composed, back) = (composed * round, back * round.inverse());
        }
        // No jump over ends of rounds, before and after the start: neither of the motion nor of the hips that it places.
        let (mut pose, mut cursor) = (rest.clone(), ClipCursor::default());
        let mut last: Option<(Affine3, Affine3)> = None;
        for i in -9_000..=9_000 {
            let time = start + i as f32 / 3000.0;
            without.sample_looped_from(&mut cursor, time, &mut pose);
            let placed = motion.at_looped(time);
            let hips = placed * pose.model(ids[1]);
            if let Some((p, h)) = last.replace((placed, hips)) {
                // At most 8 m/s and 8 rad/s, with a length of 5 m that turns.
                assert!(p.translation.distance(placed.translation) < 0.02, "{time}");
                assert!(p.x_axis.distance(placed.x_axis) < 0.004, "{time}");
                assert!(h.translation.distance(hips.translation) < 0.004, "{time}");
                assert!(h.x_axis.distance(hips.x_axis) < 0.004 * hips.x_axis.length(), "{time}");
            }
        }
    }
}

#[test]
fn a_looped_sample_is_the_sample_within_the_round() {
    let (rest, ids) = figure(roots()[0]);
    let clip = walk(&rest, &ids, 1.0, Interpolation::Linear, 0.5);
    let sampled = |time: f32, looped: bool| {
        let mut pose = rest.clone();
        if looped {
            clip.sample_looped(time, &mut pose)
        } else {
            clip.sample(time, &mut pose)
        }
        pose.locals().to_vec()
    };
    let mut cursor = ClipCursor::default();
    for i in 0..64 {
        // Exact in f32.
        let time = 0.5 + i as f32 / 64.0;
        for rounds in [-300.0, -1.0, 0.0, 1.0, 2.0, 1000.0] {
            assert_eq!(sampled(time + rounds, true), sampled(time, false), "{time} {rounds}");
            let mut pose = rest.clone();
            clip.sample_looped_from(&mut cursor, time + rounds, &mut pose);
            assert_eq!(pose.locals(), sampled(time, false));
        }
    }
    for time in [1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.5] {
        assert_eq!(sampled(time, true), sampled(0.5, false), "{time}");
    }
    for time in [f32::MAX, f32::MIN, f32::MIN_POSITIVE] {
        assert!(sampled(time, true).iter().all(JointTransform::is_finite));
    }
}

#[test]
fn odd_clips_give_errors_or_the_identity() {
    let (rest, ids) = figure(roots()[0]);
    let clip = walk(&rest, &ids, 1.0, Interpolation::Linear, 0.0);
    // A joint that the clip does not move, below one that it moves, and elsewhere.
    let moved = RootMotion::travel(&clip, &rest, ids[3]).unwrap_err();
    assert!(
        matches!(moved, RootMotionError::MovingAncestor { ancestor, .. } if ancestor == ids[2] || ancestor == ids[1])
    );
    let (same, none) = RootMotion::travel_and_yaw(&clip, &rest, ids[0]).unwrap();
    assert_eq!(
        (same, none.at(0.4), none.at_looped(7.0)),
        (clip.clone(), Affine3::IDENTITY, Affine3::IDENTITY)
    );
    // One key: a clip of no length.
    let key = Track::new(vec![2.0], vec![Vec3::new(1.0, 2.0, 3.0)], Interpolation::Linear).unwrap();
    let turn = Track::new(vec![2.0], vec![Quat::from_rotation_y(1.0)], Interpolation::Linear).unwrap();
    let tracks = JointTracks { translation: Some(key), rotation: Some(turn), ..JointTracks::new(ids[1]) };
    let still = Clip::new("still", rest.skeleton(), vec![tracks]).unwrap();
    let (left, motion) = RootMotion::travel_and_yaw(&still, &rest, ids[1]).unwrap();
    assert_eq!(left, still);
    for time in [-1.0, 2.0, 5.0, f32::NAN, f32::MAX] {
        assert_eq!((motion.at(time), motion.at_looped(time)), (Affine3::IDENTITY, Affine3::IDENTITY));
        let mut pose = rest.clone();
        still.sample_looped(time, &mut pose);
        assert_eq!(pose.position(ids[1]), Vec3::new(1.0, 2.0, 3.0));
    }
    // A skeleton without the joint.
    let mut b = Skeleton::builder();
    b.add("only", None, JointTransform::IDENTITY);
    let small = Pose::rest(&Arc::new(b.build().unwrap().0));
    let missing = RootMotion::travel(&clip, &small, ids[1]).unwrap_err();
    assert!(matches!(missing, RootMotionError::NoSuchJoint { count: 1, .. }));
    // Frames that cannot be inverted, and those in which only yaw is impossible.
    for (scale, travels, turns) in [
        (Vec3::new(1.0, 0.0, 1.0), false, false),
        (Vec3::new(1.0, 2.0, 1.0), true, true),
        (Vec3::new(1.0, 1.0, 2.0), true, false),
    ] {
        let (rest, _) = figure(JointTransform { scale, ..JointTransform::IDENTITY });
        let travel = RootMotion::travel(&clip, &rest, ids[1]);
        let yaw = RootMotion::travel_and_yaw(&clip, &rest, ids[1]);
        assert_eq!((travel.is_ok(), yaw.is_ok()), (travels, turns), "{scale}");
        for (without, motion) in [travel, yaw].into_iter().flatten() {
            assert!(worst(&rest, &ids, &clip, &without, &motion) < 5e-6, "{scale}");
        }
    }
    // Turns in place are about the joint, wherever it is.
    let (placed, _) = figure(roots()[3]);
    let turn = [0.0, 0.8, 1.6].map(Quat::from_rotation_y).to_vec();
    let turn = Track::new(vec![0.0, 0.5, 1.0], turn, Interpolation::Linear).unwrap();
    let turn = JointTracks { rotation: Some(turn), ..JointTracks::new(ids[1]) };
    let turn = Clip::new("turn", placed.skeleton(), vec![turn]).unwrap();
    let (without, motion) = RootMotion::travel_and_yaw(&turn, &placed, ids[1]).unwrap();
    assert!(worst(&placed, &ids, &turn, &without, &motion) < 4e-6);
    // Upside down: no yaw, and nothing that is not finite.
    let over = (0..=8).map(|i| Quat::from_rotation_x(i as f32 * TAU / 8.0)).collect();
    let over = Track::new((0..=8).map(|i| i as f32).collect(), over, Interpolation::Linear).unwrap();
    let far = Track::new(vec![0.0, 1.0], vec![Vec3::MIN, Vec3::MAX], Interpolation::Linear).unwrap();
    let tracks = JointTracks { rotation: Some(over), ..JointTracks::new(ids[1]) };
    let roll = Clip::new("roll", rest.skeleton(), vec![tracks.clone()]).unwrap();
    let (without, motion) = RootMotion::travel_and_yaw(&roll, &rest, ids[1]).unwrap();
    assert!(worst(&rest, &ids, &roll, &without, &motion) < 5e-6);
    assert!((motion.at(8.0).x_axis - Vec3::X).length() < 1e-5);
    let far =
        Clip::new("far", rest.skeleton(), vec![JointTracks { translation: Some(far), ..tracks }]).unwrap();
    for root in roots() {
        let (rest, ids) = figure(root);
        let _ = RootMotion::travel_and_yaw(&far, &rest, ids[1]);
    }
}
