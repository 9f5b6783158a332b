//! Judges chains along curves by references in f64 that are written here.

use crate::common;
use crate::held;

use std::{f64::consts::TAU, sync::Arc};

use common::{noise, ring, row};
use held::{Held, held};
use sinew::{
    JointId, JointTransform, Outcome, Pose, Skeleton, SolveError,
    glam::{DQuat, DVec3, Quat, Vec3},
    joint::{Attribute, Dof, Joint},
    math,
    solve::{
        ChainSolverError, Spline, Tolerance,
        spline::{Curve, CurveKind, CurveUp, Fit, Roll},
    },
};

const UP: CurveUp = CurveUp::Direction(Vec3::Y);

/// Parent of chains: rotated, translated and scaled.
fn above(scale: Vec3) -> JointTransform {
    JointTransform { scale, rotation: Quat::from_rotation_x(0.4), translation: Vec3::new(0.1, 0.2, 0.3) }
}

fn straight(count: usize, bone: f32) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut offsets = vec![Vec3::Z * bone; count + 1];
    offsets[0] = Vec3::ZERO;
    row(above(Vec3::ONE), &offsets, |_| Joint::default())
}

/// Forward kinematics in f64: returns position, rotation and the accumulated scale of a joint.
fn frame(pose: &Pose, joint: JointId) -> (DVec3, DQuat, f64) {
    let t = pose.local(joint);
    let (p, q, s) =
        pose.skeleton().parent(joint).map_or((DVec3::ZERO, DQuat::IDENTITY, 1.0), |j| frame(pose, j));
    let own =
        DQuat::from_xyzw(t.rotation.x.into(), t.rotation.y.into(), t.rotation.z.into(), t.rotation.w.into());
    (p + q * (t.translation.as_dvec3() * s), q * own.normalize(), s * f64::from(t.scale.x))
}

fn places(pose: &Pose, joints: &[JointId]) -> Vec<DVec3> {
    joints.iter().map(|&j| frame(pose, j).0).collect()
}

/// A circle in the plane of x and z by Bézier pieces, accurate to 1e-9 of the radius.
fn circle(radius: f32, centre: Vec3) -> Vec<Vec3> {
    const PIECES: usize = 24;
    let step = TAU / PIECES as f64;
    let handle = 4.0 / 3.0 * (step / 4.0).tan();
    let mut points = Vec::new();
    for i in 0..PIECES {
        let at = |k: usize| DVec3::new((step * k as f64).cos(), 0.0, (step * k as f64).sin());
        let along = |k: usize| DVec3::new(-(step * k as f64).sin(), 0.0, (step * k as f64).cos());
        for p in [at(i), at(i) + along(i) * handle, at(i + 1) - along(i + 1) * handle] {
            points.push((p * f64::from(radius)).as_vec3() + centre);
        }
    }
    points
}

#[test]
fn joints_on_a_circle_lie_at_the_angles_of_their_chords() {
    let (radius, centre) = (2.0, Vec3::new(0.5, -1.0, 3.0));
    let curve = Curve::new(CurveKind::Bezier, &circle(radius, centre), true, UP).unwrap();
    let bones = [0.3f32, 0.7, 0.1, 1.5, 2.9, 0.4];
    let mut offsets = vec![Vec3::ZERO];
    offsets.extend(bones.map(|b| Vec3::new(0.6, 0.0, 0.8) * b));
    let (skeleton, ids) = row(above(Vec3::ONE), &offsets, |_| Joint::default());
    let mut spline = held(Spline::new(&skeleton, ids[0], ids[6]).unwrap());
    for (reversed, sign) in [(false, 1.0), (true, -1.0)] {
        spline.options.reversed = reversed;
        for lap in [-1.3f64, 0.0, 0.2, 7.9] {
            spline.options.offset = (lap * TAU * f64::from(radius)) as f32;
            let mut pose = Pose::rest(&skeleton);
            let report = spline.solve(&mut pose, &curve).unwrap();
            assert!(report.report.reached(), "{report:?}");
            assert_eq!((report.missed, report.beyond), (0, 0.0));
            let mut angle = f64::from(spline.options.offset) / f64::from(radius);
            for (i, p) in places(&pose, &ids).into_iter().enumerate() {
                let at = DVec3::new(angle.cos(), 0.0, angle.sin()) * f64::from(radius) + centre.as_dvec3();
                assert!(p.distance(at) < 4e-6, "joint {i}: {p} is not at {at}");
                if let Some(b) = bones.get(i) {
                    angle += sign * 2.0 * (f64::from(*b) / 2.0 / f64::from(radius)).asin();
                }
            }
        }
    }
}

#[test]
fn a_chain_longer_than_the_curve_goes_straight_on() {
    let (skeleton, ids) = straight(10, 0.3);
    let points = [Vec3::ZERO, Vec3::new(0.5, 0.5, 0.0), Vec3::X];
    let curve = Curve::new(CurveKind::CatmullRom, &points, false, UP).unwrap();
    let mut spline = held(Spline::new(&skeleton, ids[0], ids[10]).unwrap());
    let mut pose = Pose::rest(&skeleton);
    let report = spline.solve(&mut pose, &curve).unwrap();
    assert!(report.report.reached());
    let end = curve.at(curve.length());
    let tip = pose.position(ids[10]);
    let along = (tip - end.position).dot(end.tangent);
    assert!((along - report.beyond).abs() < 1e-5 && along > 1.0);
    assert!((tip - end.position).cross(end.tangent).length() < 1e-5);
    // Also before the start, and from beyond the end back onto the curve.
    spline.options.offset = -1.0;
    spline.solve(&mut pose, &curve).unwrap();
    let start = curve.at(0.0);
    for (i, &id) in ids[..4].iter().enumerate() {
        let at = start.position + start.tangent * (0.3 * i as f32 - 1.0);
        assert!(pose.position(id).distance(at) < 1e-5);
    }
    (spline.options.offset, spline.options.reversed) = (curve.length() + 0.3, true);
    spline.solve(&mut pose, &curve).unwrap();
    assert!(pose.position(ids[0]).distance(end.position + end.tangent * 0.3) < 1e-5);
    assert!(pose.position(ids[1]).distance(end.position) < 1e-5);
}

#[test]
fn a_stretched_chain_ends_where_the_curve_does() {
    let (skeleton, ids) = straight(8, 0.3);
    let points = [Vec3::ZERO, Vec3::new(0.5, 0.5, 0.0), Vec3::X, Vec3::new(2.0, 0.5, 1.0)];
    let curve = Curve::new(CurveKind::CatmullRom, &points, false, UP).unwrap();
    let mut spline = held(Spline::new(&skeleton, ids[0], ids[8]).unwrap());
    spline.options.fit = Fit::Stretched { shortest: 0.1, longest: 10.0 };
    spline.options.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0; 2] };
    for offset in [0.0, 0.7] {
        spline.options.offset = offset;
        let mut pose = Pose::rest(&skeleton);
        let report = spline.solve(&mut pose, &curve).unwrap();
        assert!(report.report.reached());
        assert!(pose.position(ids[8]).distance(points[3]) < 2e-6);
        for (i, &id) in ids.iter().enumerate() {
            let at = curve.at(offset + (curve.length() - offset) * i as f32 / 8.0);
            assert!(pose.position(id).distance(at.position) < 3e-6);
        }
        // A stretched input stays as it is.
        let once = pose.clone();
        assert_eq!(spline.solve(&mut pose, &curve).unwrap().report.iterations, 0);
        assert_eq!(pose.locals(), once.locals());
    }
    // The stretch stays within its bounds.
    (spline.options.offset, spline.options.fit) = (0.0, Fit::Stretched { shortest: 1.0, longest: 1.1 });
    let mut pose = Pose::rest(&skeleton);
    spline.solve(&mut pose, &curve).unwrap();
    assert!(pose.position(ids[8]).distance(curve.at(2.4 * 1.1).position) < 3e-6);
}

/// Returns the roll of `b` about the bone against `a`, without the swing of the bone itself.
fn roll_between(a: (DVec3, DQuat), b: (DVec3, DQuat)) -> f64 {
    let swing = DQuat::from_rotation_arc(a.0, b.0);
    let d = b.1 * (swing * a.1).inverse();
    let v = DVec3::new(d.x, d.y, d.z).dot(b.0);
    let angle = 2.0 * v.atan2(d.w);
    (angle + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0
}

fn bone(pose: &Pose, joints: &[JointId], i: usize) -> (DVec3, DQuat) {
    let (a, q, _) = frame(pose, joints[i]);
    ((frame(pose, joints[i + 1]).0 - a).normalize(), q)
}

#[test]
fn frames_turn_the_joints_and_twist_is_spread_along() {
    let (skeleton, ids) = straight(16, 0.2);
    let points = ring(5, 8);
    let curve = Curve::new(CurveKind::CatmullRom, &points, true, UP).unwrap();
    let mut spline = held(Spline::new(&skeleton, ids[0], ids[16]).unwrap());
    spline.options.roll = Roll::Frames { axis: Vec3::new(0.2, 3.0, 0.1), twist: [0.0; 2] };
    let mut plain = Pose::rest(&skeleton);
    spline.solve(&mut plain, &curve).unwrap();
    // The root's axis is along the normal as far as the bone allows.
    let (way, q) = bone(&plain, &ids, 0);
    let side = |v: DVec3| (v - way * v.dot(way)).normalize();
    let middle = curve.at(0.1).normal.as_dvec3();
    assert!(side(q * DVec3::new(0.2, 3.0, 0.1)).angle_between(side(middle)) < 0.01);
    spline.options.roll = Roll::Frames { axis: Vec3::new(0.2, 3.0, 0.1), twist: [0.5, -1.0] };
    let mut twisted = Pose::rest(&skeleton);
    spline.solve(&mut twisted, &curve).unwrap();
    for i in 0..16 {
        let turn = roll_between(bone(&plain, &ids, i), bone(&twisted, &ids, i));
        let expected = 0.5 - 1.5 * i as f64 / 15.0;
        assert!((turn - expected).abs() < 1e-5, "bone {i}: {turn}, not {expected}");
    }
    // The roll is the curve's for any input pose.
    let mut other = Pose::rest(&skeleton);
    let mut r = noise(9);
    for &id in &ids {
        other.set_rotation(id, math::normalize(Quat::from_xyzw(r(), r(), r(), r())));
    }
    spline.solve(&mut other, &curve).unwrap();
    for i in 0..16 {
        assert!(roll_between(bone(&twisted, &ids, i), bone(&other, &ids, i)).abs() < 1e-5);
    }
}

#[test]
fn without_frames_no_joint_turns_about_its_bone() {
    let (skeleton, ids) = straight(12, 0.25);
    let curve = Curve::new(CurveKind::CatmullRom, &ring(8, 6), true, UP).unwrap();
    let mut spline = held(Spline::new(&skeleton, ids[0], ids[12]).unwrap());
    let mut pose = Pose::rest(&skeleton);
    spline.solve(&mut pose, &curve).unwrap();
    for i in 1..12 {
        let [a, b] = [i - 1, i].map(|i| bone(&pose, &ids, i));
        assert!(roll_between(a, b).abs() < 1e-5);
    }
}

#[test]
fn a_root_that_stays_is_bridged() {
    let (skeleton, ids) = straight(8, 0.3);
    let points = [Vec3::new(0.2, 0.1, 0.3), Vec3::new(1.0, 0.5, 0.3), Vec3::new(2.0, 0.0, 0.5)];
    let curve = Curve::new(CurveKind::CatmullRom, &points, false, UP).unwrap();
    let mut spline = held(Spline::new(&skeleton, ids[0], ids[8]).unwrap());
    spline.options.moves_root = false;
    let mut pose = Pose::rest(&skeleton);
    let root = pose.position(ids[0]);
    let report = spline.solve(&mut pose, &curve).unwrap();
    assert!(report.report.reached(), "{report:?}");
    assert_eq!(pose.position(ids[0]), root);
    // Out of reach it points at the nearest position and reports its distance.
    let far: Vec<_> = points.iter().map(|p| *p + Vec3::Y * 5.0).collect();
    let curve = Curve::new(CurveKind::CatmullRom, &far, false, UP).unwrap();
    let report = spline.solve(&mut pose, &curve).unwrap();
    assert_eq!(report.report.outcome, Outcome::Stalled);
    assert!(report.missed > 0 && report.report.position_residual > 2.0, "{report:?}");
}

#[test]
fn limits_are_kept_and_the_report_says_how_far_off_it_is() {
    let (skeleton, ids) = {
        let mut offsets = vec![Vec3::Z * 0.3; 9];
        offsets[0] = Vec3::ZERO;
        row(above(Vec3::ONE), &offsets, |_| Joint::cone(Vec3::Z, 0.05, 0.05))
    };
    let curve = Curve::new(CurveKind::Bezier, &circle(1.0, Vec3::ZERO), true, UP).unwrap();
    let mut spline = held(Spline::new(&skeleton, ids[0], ids[8]).unwrap());
    let mut pose = Pose::rest(&skeleton);
    let report = spline.solve(&mut pose, &curve).unwrap();
    assert_eq!(report.report.outcome, Outcome::Stalled);
    assert!(report.report.position_residual > 0.1);
    for &id in &ids {
        assert!(skeleton.limit_excess(id, pose.local(id).rotation) < 1e-5);
    }
}

#[test]
fn what_it_cannot_honour_is_refused() {
    let offsets = [Vec3::ZERO, Vec3::X, Vec3::X];
    let sliding = |_| Joint::default().with_slide([Some(Dof::range(-1.0, 1.0)), None, None]);
    let (skeleton, ids) = row(above(Vec3::ONE), &offsets, sliding);
    match Spline::new(&skeleton, ids[0], ids[2]) {
        Err(ChainSolverError::Joint(e)) => {
            assert_eq!((e.attribute, e.solver), (Attribute::Slider, "spline"));
        }
        other => panic!("{other:?}"),
    }
    let (skeleton, ids) = straight(2, 1.0);
    assert!(matches!(Spline::new(&skeleton, ids[1], ids[1]), Err(ChainSolverError::Single { .. })));
    assert!(matches!(Spline::new(&skeleton, ids[2], ids[0]), Err(ChainSolverError::Chain(_))));
}

#[test]
fn bad_settings_are_named() {
    let (skeleton, ids) = straight(3, 1.0);
    let curve = Curve::new(CurveKind::CatmullRom, &ring(1, 6), true, UP).unwrap();
    let good = held(Spline::new(&skeleton, ids[0], ids[3]).unwrap());
    let refused = |change: fn(&mut Held<Spline>)| {
        let (mut spline, mut pose) = (good.clone(), Pose::rest(&skeleton));
        change(&mut spline);
        let before = pose.clone();
        let error = spline.solve(&mut pose, &curve).unwrap_err();
        assert_eq!(pose.locals(), before.locals());
        assert!(matches!(error, SolveError::OutOfRange { .. } | SolveError::NotFinite { .. }), "{error}");
    };
    refused(|s| s.options.offset = f32::NAN);
    refused(|s| s.options.influence = 1.1);
    refused(|s| s.options.position_tolerance = Tolerance::Share(-1.0));
    refused(|s| s.options.fit = Fit::Stretched { shortest: 0.0, longest: 1.0 });
    refused(|s| s.options.fit = Fit::Stretched { shortest: 2.0, longest: 1.0 });
    refused(|s| s.options.fit = Fit::Stretched { shortest: 1.0, longest: f32::INFINITY });
    refused(|s| s.options.roll = Roll::Frames { axis: Vec3::NAN, twist: [0.0; 2] });
    refused(|s| s.options.roll = Roll::Frames { axis: Vec3::ZERO, twist: [0.0; 2] });
    // An axis along the bone gives no up direction.
    refused(|s| s.options.roll = Roll::Frames { axis: Vec3::Z, twist: [0.0; 2] });
    refused(|s| s.options.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0, f32::INFINITY] });
}

#[test]
fn chains_of_any_size_and_hand_lie_on_the_curve() {
    for scale in
        [Vec3::ONE, Vec3::splat(0.01), Vec3::splat(1000.0), Vec3::splat(-1.0), Vec3::new(1.0, -1.0, 1.0)]
    {
        let size = scale.x.abs();
        let mut r = noise(4);
        let mut offsets = vec![Vec3::new(0.3, 0.1, 0.0)];
        offsets.extend((0..20).map(|i| match i {
            // Bones of length 0, one of them the first.
            0 | 7 => Vec3::ZERO,
            _ => Vec3::new(r(), r(), 1.5) * 0.2,
        }));
        let (skeleton, ids) = row(above(scale), &offsets, |_| Joint::default());
        let points: Vec<_> = ring(2, 7).into_iter().map(|p| p * size).collect();
        let curve = Curve::new(CurveKind::CatmullRom, &points, true, UP).unwrap();
        let mut spline = held(Spline::new(&skeleton, ids[0], ids[20]).unwrap());
        for roll in [Roll::Keep, Roll::Frames { axis: Vec3::Y, twist: [0.3, 0.1] }] {
            spline.options.roll = roll;
            let mut pose = Pose::rest(&skeleton);
            let before = places(&pose, &ids);
            let report = spline.solve(&mut pose, &curve).unwrap();
            assert!(report.report.reached(), "{scale} {report:?}");
            let after = places(&pose, &ids);
            for (b, a) in before.windows(2).zip(after.windows(2)) {
                let (b, a) = (b[0].distance(b[1]), a[0].distance(a[1]));
                assert!((a - b).abs() <= 1e-6 * b.max(1e-3 * f64::from(size)), "{a} {b}");
            }
        }
    }
}

#[test]
fn a_mirrored_chain_shows_its_axis_along_the_normal() {
    for scale in [Vec3::ONE, Vec3::splat(-1.0), Vec3::new(1.0, -1.0, 1.0), Vec3::new(-2.0, 2.0, 2.0)] {
        let offsets = [Vec3::ZERO, Vec3::new(0.1, 0.0, 0.4), Vec3::new(0.0, 0.1, 0.4)];
        let (skeleton, ids) = row(above(scale), &offsets, |_| Joint::default());
        let points = [Vec3::ZERO, Vec3::new(1.0, 0.0, 5.0), Vec3::new(0.0, 0.0, 10.0)];
        let curve = Curve::new(CurveKind::CatmullRom, &points, false, UP).unwrap();
        let mut spline = held(Spline::new(&skeleton, ids[0], ids[2]).unwrap());
        spline.options.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0; 2] };
        let mut pose = Pose::rest(&skeleton);
        spline.solve(&mut pose, &curve).unwrap();
        // The curve is level, so that up is its normal everywhere.
        for &id in &ids[..2] {
            let shown = pose.model(id).transform_vector3(Vec3::Y).normalize();
            assert!(shown.dot(Vec3::Y) > 0.95, "{scale}: {shown}");
        }
        let shown = pose.model(ids[0]).transform_vector3(Vec3::Y).normalize();
        assert!(shown.dot(Vec3::Y) > 1.0 - 1e-5, "{scale}: {shown}");
    }
}

#[test]
fn hard_curves_are_gone_along_deterministically() {
    // A hairpin with a radius of a tenth of the bone, a curve that crosses itself, and a ring smaller than a bone.
    let hairpin: Vec<_> = (0..9)
        .map(|i| match i {
            0..=3 => Vec3::new(i as f32, 0.0, 0.0),
            4 => Vec3::new(3.4, 0.0, 0.05),
            _ => Vec3::new(8.0 - i as f32, 0.0, 0.1),
        })
        .collect();
    let eight: Vec<_> = (0..12)
        .map(|i| i as f32 / 12.0 * core::f32::consts::TAU)
        .map(|a| Vec3::new(a.sin(), 0.0, (2.0 * a).sin()))
        .collect();
    let small: Vec<_> = circle(0.1, Vec3::Y).into_iter().step_by(3).collect();
    let (skeleton, ids) = straight(30, 0.5);
    let mut spline = held(Spline::new(&skeleton, ids[0], ids[30]).unwrap());
    spline.options.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0; 2] };
    for (points, closed) in [(hairpin, false), (eight, true), (small, true)] {
        let curve = Curve::new(CurveKind::CatmullRom, &points, closed, UP).unwrap();
        for i in 0..200 {
            spline.options.offset = 0.037 * i as f32;
            let mut pose = Pose::rest(&skeleton);
            let report = spline.solve(&mut pose, &curve).unwrap();
            pose.check_finite().unwrap();
            let once = pose.clone();
            assert_eq!(report.missed > 0, report.report.outcome == Outcome::Stalled, "{report:?}");
            spline.solve(&mut pose, &curve).unwrap();
            assert_eq!(pose.locals(), once.locals());
        }
    }
}

#[test]
fn a_thousand_joints_stay_on_the_curve() {
    let (skeleton, ids) = straight(1000, 0.01);
    let curve = Curve::new(CurveKind::CatmullRom, &ring(11, 9), true, UP).unwrap();
    let mut spline = held(Spline::new(&skeleton, ids[0], ids[1000]).unwrap());
    spline.options.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0, 20.0] };
    let mut pose = Pose::rest(&skeleton);
    let report = spline.solve(&mut pose, &curve).unwrap();
    assert!(report.report.reached(), "{report:?}");
    assert!(report.report.position_residual < 1e-4, "{report:?}");
}

#[test]
fn odd_chains_and_roots_lead_to_no_nonsense() {
    let points = ring(6, 6);
    let curve = Curve::new(CurveKind::CatmullRom, &points, true, UP).unwrap();
    // One joint with an offset at its tip: root and end lie on the curve.
    let (skeleton, ids) = straight(1, 0.3);
    let chain = sinew::Chain::new(&skeleton, ids[0], ids[0]).unwrap();
    let chain = chain.with_tip_offset(&skeleton, Vec3::new(0.1, 0.2, 0.4)).unwrap();
    let mut one = held(Spline::from_chain(&skeleton, chain).unwrap());
    one.options.roll = Roll::Frames { axis: Vec3::Y, twist: [0.4, 0.2] };
    for fit in [Fit::Whole, Fit::Stretched { shortest: 0.1, longest: 10.0 }] {
        one.options.fit = fit;
        let mut pose = Pose::rest(&skeleton);
        let report = one.solve(&mut pose, &curve).unwrap();
        assert!(report.report.reached(), "{report:?}");
        assert!((one.chain().end(&pose).distance(pose.position(ids[0])) - 0.21f32.sqrt()).abs() < 1e-6);
    }
    // All bones have length 0: only the root moves.
    let (skeleton, ids) = row(above(Vec3::ONE), &[Vec3::ZERO; 4], |_| Joint::default());
    let mut none = held(Spline::new(&skeleton, ids[0], ids[3]).unwrap());
    let mut pose = Pose::rest(&skeleton);
    let report = none.solve(&mut pose, &curve).unwrap();
    assert!(report.report.reached(), "{report:?}");
    assert!(pose.position(ids[3]).distance(curve.at(0.0).position) < 1e-6);
    // A fixed root on the curve, at its start and elsewhere: the whole chain lies on the curve.
    let (skeleton, ids) = straight(10, 0.2);
    let mut spline = held(Spline::new(&skeleton, ids[0], ids[10]).unwrap());
    spline.options.moves_root = false;
    let root = Pose::rest(&skeleton).position(ids[0]);
    for through in [0.0, 1.7] {
        let by = root - curve.at(through).position;
        let moved: Vec<_> = points.iter().map(|p| *p + by).collect();
        let curve = Curve::new(CurveKind::CatmullRom, &moved, true, UP).unwrap();
        for offset in [through, through - 0.1, through + 0.1] {
            spline.options.offset = offset;
            let mut pose = Pose::rest(&skeleton);
            let report = spline.solve(&mut pose, &curve).unwrap();
            assert_eq!((report.report.outcome, report.missed), (Outcome::Converged, 0), "{report:?}");
        }
    }
}

#[test]
fn a_chain_that_travels_leaps_nowhere() {
    // Bends are wider than a bone. Each step is a thousandth of a bone, and joints turn in proportion.
    let (skeleton, ids) = straight(12, 0.3);
    let points = ring(12, 7);
    for (kind, closed, count) in [(CurveKind::CatmullRom, true, 7), (CurveKind::CatmullRom, false, 7)] {
        let curve = Curve::new(kind, &points[..count], closed, UP).unwrap();
        let mut spline = held(Spline::new(&skeleton, ids[0], ids[12]).unwrap());
        spline.options.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0; 2] };
        let mut last: Option<Pose> = None;
        // From before the start past the end; on a closed curve twice round.
        let from = -1.0;
        for i in 0..40_000 {
            spline.options.offset = from + 0.0003 * i as f32;
            let mut pose = Pose::rest(&skeleton);
            let report = spline.solve(&mut pose, &curve).unwrap();
            assert_eq!(report.missed, 0);
            if let Some(last) = &last {
                for &j in &ids {
                    let turn = math::angle_between(last.local(j).rotation, pose.local(j).rotation);
                    assert!(turn < 0.02, "joint {j} at {}: {turn}", spline.options.offset);
                    assert!(last.position(j).distance(pose.position(j)) < 0.002);
                }
            }
            last = Some(pose);
        }
    }
}

#[test]
fn a_chain_goes_along_a_curve_whose_handles_lie_on_their_points() {
    let [a, b] = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(2.0, 2.5, 5.0)];
    for points in [[a, a, b, b], [a, a, a, b], [a, b, b, b]] {
        let curve = Curve::new(CurveKind::Bezier, &points, false, UP).unwrap();
        let (skeleton, ids) = straight(5, 0.7);
        let mut spline = held(Spline::new(&skeleton, ids[0], ids[5]).unwrap());
        let mut pose = Pose::rest(&skeleton);
        assert!(spline.solve(&mut pose, &curve).unwrap().report.reached());
        assert!(pose.position(ids[5]).distance(a + (b - a).normalize() * 3.5) < 1e-4);
    }
}
