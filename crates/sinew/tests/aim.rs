//! Judges aims at known answers and edge cases, by forward kinematics in f64.

use crate::promises::judge;

use std::sync::Arc;

use sinew::{
    JointId, JointTransform, Pose, Skeleton, SolveError,
    glam::Vec3,
    solve::{Aim, AimUp, Options},
};

/// A head that is rotated and mirrored, on a body in centimetres.
fn head() -> (Pose, JointId) {
    let mut b = Skeleton::builder();
    let body = b.add("body", None, JointTransform { scale: Vec3::splat(0.01), ..JointTransform::IDENTITY });
    let mirror = JointTransform {
        scale: Vec3::new(-1.0, 1.0, 1.0),
        ..JointTransform::from_translation(Vec3::Y * 160.0)
    };
    let head = b.add("head", Some(body), mirror);
    let (skeleton, ids) = b.build().unwrap();
    (Pose::rest(&Arc::new(skeleton)), ids[head])
}

#[test]
fn the_ray_from_an_offset_passes_through_the_target_and_stays_upright() {
    let (rest, head) = head();
    let aim = Aim {
        offset: Vec3::new(3.0, 10.0, 8.0),
        up: Some(AimUp { axis: Vec3::Y, direction: Vec3::Y }),
        ..Aim::new(head, Vec3::Z)
    };
    for i in 0..200 {
        let f = i as f32;
        let target = Vec3::new((f * 0.7).sin(), 1.6 + 0.6 * (f * 1.3).cos(), (f * 0.7).cos());
        let mut pose = rest.clone();
        let report = aim.solve(&mut pose, target, &Options::new()).unwrap();
        assert!(report.reached());
        let frame = judge::frame(&pose, head);
        let to = judge::sub(judge::v(target), frame.point(judge::v(aim.offset)));
        let along = judge::unit(frame.vector([0.0, 0.0, 1.0]));
        assert!(judge::length(judge::cross(along, to)) < 2e-6 && judge::dot(along, to) > 0.0);
        // Upright: the head's side is level, seen along the direction to the target.
        let way = judge::unit(judge::sub(judge::v(target), frame.origin));
        let level = judge::unit(judge::cross(way, [0.0, 1.0, 0.0]));
        let up = judge::unit(frame.vector([0.0, 1.0, 0.0]));
        assert!(judge::dot(level, up).abs() < 2e-6 && up[1] > 0.0);
    }
}

#[test]
fn a_target_inside_the_offset_is_out_of_reach_by_what_is_missing() {
    let (rest, head) = head();
    let aim = Aim { offset: Vec3::new(0.0, 30.0, 0.0), ..Aim::new(head, Vec3::Z) };
    let mut pose = rest.clone();
    let report = aim.solve(&mut pose, Vec3::new(0.1, 1.6, 0.0), &Options::new()).unwrap();
    assert!((report.out_of_reach - 0.2).abs() < 1e-6, "{report:?}");
    assert!((report.position_residual - 0.2).abs() < 1e-6);
}

#[test]
fn the_roll_is_kept_without_an_up_and_behind_is_reached() {
    let (rest, head) = head();
    let mut pose = rest.clone();
    Aim::new(head, Vec3::Z).solve(&mut pose, Vec3::new(2.0, 1.6, 0.0), &Options::new()).unwrap();
    // From +z to +x about y: the up axis stays.
    assert!(
        judge::length(judge::sub(judge::unit(judge::frame(&pose, head).columns[1]), [0.0, 1.0, 0.0])) < 1e-6
    );
    let mut pose = rest.clone();
    let up = Some(AimUp { axis: Vec3::Y, direction: Vec3::Y });
    Aim { up, ..Aim::new(head, Vec3::Z) }
        .solve(&mut pose, Vec3::new(0.0, 1.6, -2.0), &Options::new())
        .unwrap();
    let frame = judge::frame(&pose, head);
    assert!(judge::length(judge::sub(judge::unit(frame.columns[2]), [0.0, 0.0, -1.0])) < 1e-6);
    assert!(judge::length(judge::sub(judge::unit(frame.columns[1]), [0.0, 1.0, 0.0])) < 1e-6);
}

#[test]
fn looking_past_the_zenith_has_no_leap() {
    let (rest, head) = head();
    let up = Some(AimUp { axis: Vec3::Y, direction: Vec3::Y });
    let aim = Aim { up, ..Aim::new(head, Vec3::Z) };
    let mut last: Option<Pose> = None;
    for i in 0..=4000 {
        // From the horizon to the zenith, half a degree beside it.
        let a = i as f32 / 4000.0 * 1.5;
        let mut pose = rest.clone();
        aim.solve(&mut pose, Vec3::new(0.01, 1.6 + a.sin(), a.cos()), &Options::new()).unwrap();
        if let Some(before) = last.replace(pose.clone()) {
            let (p, q) = (judge::frame(&before, head), judge::frame(&pose, head));
            for k in 0..3 {
                let leap = judge::length(judge::sub(judge::unit(p.columns[k]), judge::unit(q.columns[k])));
                assert!(leap < 0.02, "{leap} at {a}");
            }
        }
    }
}

#[test]
fn an_axis_of_no_length_is_refused() {
    let (mut pose, head) = head();
    let error = Aim::new(head, Vec3::ZERO).solve(&mut pose, Vec3::X, &Options::new()).unwrap_err();
    assert!(matches!(error, SolveError::OutOfRange { what: "the aiming axis", value: 0.0, .. }));
}

#[test]
fn a_ray_that_starts_beyond_all_numbers_is_refused_in_whatever_order_they_are_summed() {
    let mut builder = Skeleton::builder();
    let scale = Vec3::splat(1e36);
    builder.add("head", None, JointTransform { scale, ..JointTransform::IDENTITY });
    let (skeleton, ids) = builder.build().unwrap();
    let skeleton = Arc::new(skeleton);
    // These rotations make one coordinate of the ray's start infinite, one infinity minus infinity, and one small.
    for turned in [-0.6f32, 0.6, 2.2] {
        let mut pose = Pose::rest(&skeleton);
        pose.set_rotation(ids[0], sinew::math::axis_angle(Vec3::Z, turned));
        pose.update();
        let before = *pose.local(ids[0]);
        for offset in [Vec3::new(850.0, -840.0, 100.0), Vec3::new(850.0, 840.0, 1.0)] {
            let aim = Aim { offset, ..Aim::new(ids[0], Vec3::X) };
            match aim.solve(&mut pose, Vec3::new(1900.0, 2900.0, -200.0), &Options::new()) {
                Err(SolveError::OutOfRange { what: "the aiming offset in model space", .. }) => {}
                other => panic!("{turned}, {offset}: {other:?}"),
            }
            assert_eq!(*pose.local(ids[0]), before);
        }
    }
}

#[test]
fn whatever_way_a_joint_turns_below_a_shear_its_axes_are_numbers() {
    let mut builder = Skeleton::builder();
    let above = JointTransform {
        scale: Vec3::new(1.5, 2.0, 0.8),
        ..JointTransform::from_translation(Vec3::new(0.0, 0.2, 0.0))
    };
    let head = JointTransform { scale: Vec3::new(1.0, 0.7, -f32::MAX / 1.5), ..JointTransform::IDENTITY };
    let above = builder.add("above", None, above);
    builder.add("head", Some(above), head);
    let (skeleton, ids) = builder.build().unwrap();
    let skeleton = Arc::new(skeleton);
    for n in 0..400 {
        let at = |k: f32| (n as f32 * k).sin();
        // The ray's axis is very short in the joint's space, and for most rotations hardly so in the parent's.
        let aim = Aim::new(ids[1], Vec3::new(5e-15, 8e-15, -2e-14));
        let mut pose = Pose::rest(&skeleton);
        pose.set_rotation(ids[1], sinew::math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 3.0 * at(0.7)));
        pose.update();
        let before = *pose.local(ids[1]);
        match aim.solve(&mut pose, Vec3::new(at(0.91), at(1.13), at(1.7)), &Options::new()) {
            Ok(report) => assert!(
                report.position_residual.is_finite() && report.rotation_residual.is_finite(),
                "{n}: {report:?}"
            ),
            Err(_) => assert_eq!(*pose.local(ids[1]), before),
        }
    }
}
