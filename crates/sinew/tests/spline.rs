//! Curves and chains along them, against references in f64 that are written here.

use std::{f64::consts::TAU, sync::Arc};

use sinew::{
    JointId, Pose, Skeleton, SolveError, Status, Transform,
    glam::{DQuat, DVec3, Quat, Vec3},
    joint::{Attribute, Dof, Joint},
    math,
    solve::{
        ChainSolverError, Spline,
        spline::{Curve, CurveError, CurveKind, CurveUp, Fit, Roll},
    },
};

const UP: CurveUp = CurveUp::Direction(Vec3::Y);

fn noise(seed: u64) -> impl FnMut() -> f32 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }
}

/// Joints one below another under a scaled parent. Gives the chain's joints.
fn row(offsets: &[Vec3], scale: Vec3, joint: impl Fn(usize) -> Joint) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let above =
        Transform { scale, rotation: Quat::from_rotation_x(0.4), translation: Vec3::new(0.1, 0.2, 0.3) };
    let mut last = b.add("world", None, above);
    for (i, &o) in offsets.iter().enumerate() {
        last = b.add(format!("{i}"), Some(last), Transform::from_translation(o));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for (i, &id) in ids[1..].iter().enumerate() {
        skeleton.set_joint(id, joint(i)).unwrap();
    }
    (Arc::new(skeleton), ids[1..].to_vec())
}

fn straight(count: usize, bone: f32) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut offsets = vec![Vec3::Z * bone; count + 1];
    offsets[0] = Vec3::ZERO;
    row(&offsets, Vec3::ONE, |_| Joint::default())
}

/// Forward kinematics in f64: place and rotation of a joint, the sizes of frames multiplied in.
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

/// A circle in the plane of x and z by Bézier pieces, nearer than 1e-9 of the radius.
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

/// de Casteljau on Bézier's points.
fn bezier(p: [DVec3; 4], t: f64) -> DVec3 {
    let mix = |a: DVec3, b: DVec3| a * (1.0 - t) + b * t;
    let [a, b, c] = [mix(p[0], p[1]), mix(p[1], p[2]), mix(p[2], p[3])];
    mix(mix(a, b), mix(b, c))
}

/// Barry and Goldman's pyramid for the span between the middle two of four points, with the knots' distances the square
/// roots of the points'.
fn pyramid(p: [DVec3; 4], t: f64) -> DVec3 {
    let mut knot = [0.0; 4];
    for i in 1..4 {
        knot[i] = knot[i - 1] + p[i].distance(p[i - 1]).sqrt();
    }
    let u = knot[1] + t * (knot[2] - knot[1]);
    let mix = |a: DVec3, b: DVec3, i: usize, k: usize| {
        (a * (knot[k] - u) + b * (u - knot[i])) / (knot[k] - knot[i])
    };
    let a = [mix(p[0], p[1], 0, 1), mix(p[1], p[2], 1, 2), mix(p[2], p[3], 2, 3)];
    let b = [mix(a[0], a[1], 0, 2), mix(a[1], a[2], 1, 3)];
    mix(b[0], b[1], 1, 2)
}

/// Many places along a curve of random points, by the references above. Ends of open Catmull-Rom curves are left out.
fn sampled(kind: CurveKind, points: &[Vec3], closed: bool, steps: usize) -> Vec<DVec3> {
    let n = points.len();
    let p = |i: usize| points[i % n].as_dvec3();
    let mut all = Vec::new();
    let pieces: Vec<usize> = match (kind, closed) {
        (CurveKind::Bezier, true) => (0..n / 3).collect(),
        (CurveKind::Bezier, false) => (0..(n - 1) / 3).collect(),
        (CurveKind::CatmullRom, true) => (0..n).collect(),
        (CurveKind::CatmullRom, false) => (1..n - 2).collect(),
    };
    for &i in &pieces {
        for k in 0..steps {
            let t = k as f64 / steps as f64;
            all.push(match kind {
                CurveKind::Bezier => bezier([p(3 * i), p(3 * i + 1), p(3 * i + 2), p(3 * i + 3)], t),
                CurveKind::CatmullRom => pyramid([p(i + n - 1), p(i), p(i + 1), p(i + 2)], t),
            });
        }
    }
    let last = pieces[pieces.len() - 1];
    all.push(match kind {
        CurveKind::Bezier => p(3 * last + 3),
        CurveKind::CatmullRom => p(last + 1),
    });
    all
}

fn random_points(seed: u64, count: usize) -> Vec<Vec3> {
    let mut r = noise(seed);
    (0..count)
        .map(|i| {
            let a = i as f32 / count as f32 * core::f32::consts::TAU;
            Vec3::new(a.cos(), 0.0, a.sin()) * (1.5 + 0.5 * r()) + Vec3::new(0.3 * r(), 0.6 * r(), 0.3 * r())
        })
        .collect()
}

#[test]
fn curves_go_where_they_should_and_are_as_long_as_fine_sampling_says() {
    for seed in 0..30 {
        for (kind, closed, count) in [
            (CurveKind::CatmullRom, true, 7),
            (CurveKind::CatmullRom, true, 3),
            (CurveKind::Bezier, true, 9),
            (CurveKind::Bezier, false, 10),
        ] {
            let points = random_points(seed, count);
            let curve = Curve::new(kind, &points, closed, UP).unwrap();
            let fine = sampled(kind, &points, closed, 4000);
            let length: f64 = fine.windows(2).map(|w| w[0].distance(w[1])).sum();
            assert!(
                (f64::from(curve.length()) - length).abs() < 2e-6 * length,
                "{} {length}",
                curve.length()
            );
            let mut gone = 0.0;
            for (i, w) in fine.windows(2).enumerate() {
                if i % 997 == 0 {
                    let off = curve.at(gone as f32).position.as_dvec3().distance(w[0]);
                    assert!(off < 5e-6 * length, "{off} after {gone} of {length}");
                }
                gone += w[0].distance(w[1]);
            }
        }
    }
}

#[test]
fn open_curves_through_points_end_at_the_first_and_the_last() {
    let points = random_points(3, 5);
    let curve = Curve::new(CurveKind::CatmullRom, &points, false, UP).unwrap();
    assert!(curve.at(0.0).position.distance(points[0]) < 1e-6);
    assert!(curve.at(curve.length()).position.distance(points[4]) < 1e-6);
    // Straight on, with the tangent of the end.
    let (end, on) = (curve.at(curve.length()), curve.at(curve.length() + 2.0));
    assert!(on.position.distance(end.position + 2.0 * end.tangent) < 1e-5);
    let (start, before) = (curve.at(0.0), curve.at(-2.0));
    assert!(before.position.distance(start.position - 2.0 * start.tangent) < 1e-5);
    // Two points are a straight line, and three on a parabola (with even knots) stay on it.
    let line = Curve::new(CurveKind::CatmullRom, &points[..2], false, UP).unwrap();
    assert!((line.length() - points[0].distance(points[1])).abs() < 1e-6);
    let three = [Vec3::new(-1.0, 1.0, 0.0), Vec3::ZERO, Vec3::new(1.0, 1.0, 0.0)];
    let bent = Curve::new(CurveKind::CatmullRom, &three, false, UP).unwrap();
    for i in 0..=20 {
        let p = bent.at(bent.length() * i as f32 / 20.0).position;
        assert!((p.y - p.x * p.x).abs() < 1e-5, "{p}");
    }
}

/// The normal that does not turn about a curve, by the differential equation N' = -(N . T') T in many small steps.
fn least_turning(fine: &[DVec3], start: DVec3) -> Vec<DVec3> {
    let mut normal = start;
    let mut all = Vec::new();
    for w in fine.windows(3) {
        let tangent = (w[2] - w[0]).normalize();
        normal = (normal - tangent * normal.dot(tangent)).normalize();
        all.push(normal);
    }
    all
}

#[test]
fn frames_do_not_turn_about_the_curve() {
    for seed in 0..20 {
        let points = random_points(seed, 10);
        let curve = Curve::new(CurveKind::Bezier, &points, false, UP).unwrap();
        let fine = sampled(CurveKind::Bezier, &points, false, 20_000);
        // Past a corner, the normal begins anew here; only the first piece is looked at.
        let start = curve.at(0.0).normal.as_dvec3();
        let normals = least_turning(&fine[..20_001], start);
        let mut gone = 0.0;
        for (i, w) in fine[..20_000].windows(2).enumerate() {
            if i > 0 && i % 499 == 0 {
                let at = curve.at(gone as f32);
                assert!(at.normal.dot(at.tangent).abs() < 1e-6);
                assert!((at.normal.length() - 1.0).abs() < 1e-6);
                let off = at.normal.as_dvec3().angle_between(normals[i - 1]);
                assert!(off < 1e-3, "seed {seed}, after {gone}: {off}");
            }
            gone += w[0].distance(w[1]);
        }
    }
}

#[test]
fn frames_of_closed_curves_meet_and_share_the_residual_turn() {
    for seed in 0..20 {
        let points = random_points(seed, 8);
        let curve = Curve::new(CurveKind::CatmullRom, &points, true, UP).unwrap();
        let length = curve.length();
        let mut last = curve.at(length * 0.99999);
        let first = curve.at(0.0);
        assert!(last.normal.angle_between(first.normal) < 1e-3);
        // Along the curve, the frame turns about the tangent evenly.
        let rate = -curve.residual_turn() / length;
        for i in 0..400 {
            let at = curve.at(length * i as f32 / 400.0);
            if i > 0 {
                let carried = Quat::from_rotation_arc(last.tangent, at.tangent) * last.normal;
                let turn = carried.cross(at.normal).dot(at.tangent);
                assert!((turn - rate * length / 400.0).abs() < 2e-3, "{turn} {}", rate * length / 400.0);
            }
            last = at;
        }
    }
}

#[test]
fn carried_frames_do_not_leap_where_up_does() {
    // The start's tangent passes through the up direction.
    let ring = |angle: f32| -> Vec<Vec3> {
        let turn = Quat::from_rotation_z(angle) * Quat::from_rotation_y(0.03);
        (0..6).map(|i| turn * (Quat::from_rotation_z(i as f32) * Vec3::X)).collect()
    };
    let largest = |up: CurveUp| {
        let mut curve = Curve::new(CurveKind::CatmullRom, &ring(0.0), true, up).unwrap();
        let mut most = 0.0f32;
        let mut last = curve.at(0.0).normal;
        for i in 0..=628 {
            curve.set_points(&ring(0.01 * i as f32)).unwrap();
            let now = curve.at(0.0).normal;
            most = most.max(now.angle_between(last));
            last = now;
        }
        most
    };
    assert!(largest(CurveUp::Direction(Vec3::Y)) > 0.1);
    assert!(largest(CurveUp::Carried(Vec3::Y)) < 0.011);
    // After a reset it begins anew.
    let mut curve = Curve::new(CurveKind::CatmullRom, &ring(0.0), true, CurveUp::Carried(Vec3::Y)).unwrap();
    (0..300).for_each(|i| curve.set_points(&ring(0.01 * i as f32)).unwrap());
    curve.reset();
    curve.set_points(&ring(1.0)).unwrap();
    let fresh = Curve::new(CurveKind::CatmullRom, &ring(1.0), true, UP).unwrap();
    assert_eq!(curve.at(0.3), fresh.at(0.3));
}

#[test]
fn joints_on_a_circle_lie_at_the_angles_of_their_chords() {
    let (radius, centre) = (2.0, Vec3::new(0.5, -1.0, 3.0));
    let curve = Curve::new(CurveKind::Bezier, &circle(radius, centre), true, UP).unwrap();
    let bones = [0.3f32, 0.7, 0.1, 1.5, 2.9, 0.4];
    let mut offsets = vec![Vec3::ZERO];
    offsets.extend(bones.map(|b| Vec3::new(0.6, 0.0, 0.8) * b));
    let (skeleton, ids) = row(&offsets, Vec3::ONE, |_| Joint::default());
    let mut spline = Spline::new(&skeleton, ids[0], ids[6]).unwrap();
    for (reversed, sign) in [(false, 1.0), (true, -1.0)] {
        spline.reversed = reversed;
        for lap in [-1.3f64, 0.0, 0.2, 7.9] {
            spline.offset = (lap * TAU * f64::from(radius)) as f32;
            let mut pose = Pose::rest(&skeleton);
            let report = spline.solve(&mut pose, &curve).unwrap();
            assert_eq!(report.report.status, Status::Reached, "{report:?}");
            assert_eq!((report.missed, report.beyond), (0, 0.0));
            let mut angle = f64::from(spline.offset) / f64::from(radius);
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
    let mut spline = Spline::new(&skeleton, ids[0], ids[10]).unwrap();
    let mut pose = Pose::rest(&skeleton);
    let report = spline.solve(&mut pose, &curve).unwrap();
    assert_eq!(report.report.status, Status::Reached);
    let end = curve.at(curve.length());
    let tip = pose.position(ids[10]);
    let along = (tip - end.position).dot(end.tangent);
    assert!((along - report.beyond).abs() < 1e-5 && along > 1.0);
    assert!((tip - end.position).cross(end.tangent).length() < 1e-5);
    // Before the start, too, and from beyond the end back on to the curve.
    spline.offset = -1.0;
    spline.solve(&mut pose, &curve).unwrap();
    let start = curve.at(0.0);
    for (i, &id) in ids[..4].iter().enumerate() {
        let at = start.position + start.tangent * (0.3 * i as f32 - 1.0);
        assert!(pose.position(id).distance(at) < 1e-5);
    }
    (spline.offset, spline.reversed) = (curve.length() + 0.3, true);
    spline.solve(&mut pose, &curve).unwrap();
    assert!(pose.position(ids[0]).distance(end.position + end.tangent * 0.3) < 1e-5);
    assert!(pose.position(ids[1]).distance(end.position) < 1e-5);
}

#[test]
fn a_stretched_chain_ends_where_the_curve_does() {
    let (skeleton, ids) = straight(8, 0.3);
    let points = [Vec3::ZERO, Vec3::new(0.5, 0.5, 0.0), Vec3::X, Vec3::new(2.0, 0.5, 1.0)];
    let curve = Curve::new(CurveKind::CatmullRom, &points, false, UP).unwrap();
    let mut spline = Spline::new(&skeleton, ids[0], ids[8]).unwrap();
    spline.fit = Fit::Stretched { shortest: 0.1, longest: 10.0 };
    spline.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0; 2] };
    for offset in [0.0, 0.7] {
        spline.offset = offset;
        let mut pose = Pose::rest(&skeleton);
        let report = spline.solve(&mut pose, &curve).unwrap();
        assert_eq!(report.report.status, Status::Reached);
        assert!(pose.position(ids[8]).distance(points[3]) < 2e-6);
        for (i, &id) in ids.iter().enumerate() {
            let at = curve.at(offset + (curve.length() - offset) * i as f32 / 8.0);
            assert!(pose.position(id).distance(at.position) < 3e-6);
        }
        // What is stretched stays as it is when it comes in again.
        let once = pose.clone();
        assert_eq!(spline.solve(&mut pose, &curve).unwrap().report.iterations, 0);
        assert_eq!(pose.locals(), once.locals());
    }
    // No further than is allowed.
    (spline.offset, spline.fit) = (0.0, Fit::Stretched { shortest: 1.0, longest: 1.1 });
    let mut pose = Pose::rest(&skeleton);
    spline.solve(&mut pose, &curve).unwrap();
    assert!(pose.position(ids[8]).distance(curve.at(2.4 * 1.1).position) < 3e-6);
}

/// How far `b` is turned about the bone against `a`, when the turn of the bone itself is taken away.
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
    let points = random_points(5, 8);
    let curve = Curve::new(CurveKind::CatmullRom, &points, true, UP).unwrap();
    let mut spline = Spline::new(&skeleton, ids[0], ids[16]).unwrap();
    spline.roll = Roll::Frames { axis: Vec3::new(0.2, 3.0, 0.1), twist: [0.0; 2] };
    let mut plain = Pose::rest(&skeleton);
    spline.solve(&mut plain, &curve).unwrap();
    // The root's axis lies along the normal as far as the bone allows.
    let (way, q) = bone(&plain, &ids, 0);
    let side = |v: DVec3| (v - way * v.dot(way)).normalize();
    let middle = curve.at(0.1).normal.as_dvec3();
    assert!(side(q * DVec3::new(0.2, 3.0, 0.1)).angle_between(side(middle)) < 0.01);
    spline.roll = Roll::Frames { axis: Vec3::new(0.2, 3.0, 0.1), twist: [0.5, -1.0] };
    let mut twisted = Pose::rest(&skeleton);
    spline.solve(&mut twisted, &curve).unwrap();
    for i in 0..16 {
        let turn = roll_between(bone(&plain, &ids, i), bone(&twisted, &ids, i));
        let expected = 0.5 - 1.5 * i as f64 / 15.0;
        assert!((turn - expected).abs() < 1e-5, "bone {i}: {turn}, not {expected}");
    }
    // Whatever came in: the roll is the curve's.
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
    let curve = Curve::new(CurveKind::CatmullRom, &random_points(8, 6), true, UP).unwrap();
    let mut spline = Spline::new(&skeleton, ids[0], ids[12]).unwrap();
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
    let mut spline = Spline::new(&skeleton, ids[0], ids[8]).unwrap();
    spline.moves_root = false;
    let mut pose = Pose::rest(&skeleton);
    let root = pose.position(ids[0]);
    let report = spline.solve(&mut pose, &curve).unwrap();
    assert_eq!(report.report.status, Status::Reached, "{report:?}");
    assert_eq!(pose.position(ids[0]), root);
    // Out of reach it points at the nearest place, and says how far that is.
    let far: Vec<_> = points.iter().map(|p| *p + Vec3::Y * 5.0).collect();
    let curve = Curve::new(CurveKind::CatmullRom, &far, false, UP).unwrap();
    let report = spline.solve(&mut pose, &curve).unwrap();
    assert_eq!(report.report.status, Status::Stalled);
    assert!(report.missed > 0 && report.report.position_residual > 2.0, "{report:?}");
}

#[test]
fn limits_are_kept_and_the_report_says_how_far_off_it_is() {
    let (skeleton, ids) = {
        let mut offsets = vec![Vec3::Z * 0.3; 9];
        offsets[0] = Vec3::ZERO;
        row(&offsets, Vec3::ONE, |_| Joint::cone(Vec3::Z, 0.05, 0.05))
    };
    let curve = Curve::new(CurveKind::Bezier, &circle(1.0, Vec3::ZERO), true, UP).unwrap();
    let mut spline = Spline::new(&skeleton, ids[0], ids[8]).unwrap();
    let mut pose = Pose::rest(&skeleton);
    let report = spline.solve(&mut pose, &curve).unwrap();
    assert_eq!(report.report.status, Status::Stalled);
    assert!(report.report.position_residual > 0.1);
    for &id in &ids {
        assert!(skeleton.limits(id).excess(pose.local(id).rotation) < 1e-5);
    }
}

#[test]
fn what_it_cannot_honour_is_refused() {
    let offsets = [Vec3::ZERO, Vec3::X, Vec3::X];
    let sliding = |_| Joint::default().with_slide([Some(Dof::range(-1.0, 1.0)), None, None]);
    let (skeleton, ids) = row(&offsets, Vec3::ONE, sliding);
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
fn bad_curves_are_named() {
    use CurveKind::{Bezier, CatmullRom};
    let p = random_points(1, 6);
    let new = |kind, points: &[Vec3], closed| Curve::new(kind, points, closed, UP).unwrap_err();
    assert_eq!(new(CatmullRom, &p[..1], false), CurveError::TooFew { found: 1, needed: 2 });
    assert_eq!(new(CatmullRom, &p[..2], true), CurveError::TooFew { found: 2, needed: 3 });
    assert_eq!(new(Bezier, &[], false), CurveError::TooFew { found: 0, needed: 4 });
    assert_eq!(new(Bezier, &p[..5], false), CurveError::NoPieces { found: 5 });
    assert_eq!(new(Bezier, &p[..4], true), CurveError::NoPieces { found: 4 });
    let same = [p[0], p[1], p[1], p[2]];
    assert_eq!(new(CatmullRom, &same, false), CurveError::Coincident { first: 1, second: 2, value: p[1] });
    assert_eq!(
        new(CatmullRom, &[p[0], p[1], p[2], p[0]], true),
        CurveError::Coincident { first: 3, second: 0, value: p[0] }
    );
    assert_eq!(new(Bezier, &[p[0]; 4], false), CurveError::Coincident { first: 0, second: 3, value: p[0] });
    // To the precision of their numbers.
    let near = [Vec3::new(1000.0, 0.0, 0.0), Vec3::new(1000.0001, 0.0, 0.0)];
    assert!(matches!(new(CatmullRom, &near, false), CurveError::Coincident { .. }));
    let mut curve = Curve::new(CatmullRom, &p, true, UP).unwrap();
    let (length, place) = (curve.length(), curve.at(1.0));
    assert_eq!(curve.set_points(&p[..5]), Err(CurveError::Count { found: 5, expected: 6 }));
    let mut nan = p.clone();
    nan[4].y = f32::NAN;
    match curve.set_points(&nan) {
        Err(CurveError::NotFinite { index: 4, value }) => assert!(value.y.is_nan()),
        other => panic!("{other:?}"),
    }
    assert_eq!((curve.length(), curve.at(1.0)), (length, place));
    let up = CurveUp::Direction(Vec3::splat(f32::INFINITY));
    assert!(matches!(Curve::new(CatmullRom, &p, true, up), Err(CurveError::Up { .. })));
}

#[test]
fn bad_settings_are_named() {
    let (skeleton, ids) = straight(3, 1.0);
    let curve = Curve::new(CurveKind::CatmullRom, &random_points(1, 6), true, UP).unwrap();
    let good = Spline::new(&skeleton, ids[0], ids[3]).unwrap();
    let refused = |change: fn(&mut Spline)| {
        let (mut spline, mut pose) = (good.clone(), Pose::rest(&skeleton));
        change(&mut spline);
        let before = pose.clone();
        let error = spline.solve(&mut pose, &curve).unwrap_err();
        assert_eq!(pose.locals(), before.locals());
        assert!(matches!(error, SolveError::OutOfRange { .. } | SolveError::NotFinite { .. }), "{error}");
    };
    refused(|s| s.offset = f32::NAN);
    refused(|s| s.weight = 1.1);
    refused(|s| s.tolerance = -1.0);
    refused(|s| s.fit = Fit::Stretched { shortest: 0.0, longest: 1.0 });
    refused(|s| s.fit = Fit::Stretched { shortest: 2.0, longest: 1.0 });
    refused(|s| s.fit = Fit::Stretched { shortest: 1.0, longest: f32::INFINITY });
    refused(|s| s.roll = Roll::Frames { axis: Vec3::NAN, twist: [0.0; 2] });
    refused(|s| s.roll = Roll::Frames { axis: Vec3::ZERO, twist: [0.0; 2] });
    // Along the bone, no axis says which way up.
    refused(|s| s.roll = Roll::Frames { axis: Vec3::Z, twist: [0.0; 2] });
    refused(|s| s.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0, f32::INFINITY] });
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
            // Bones without length, one of them the first.
            0 | 7 => Vec3::ZERO,
            _ => Vec3::new(r(), r(), 1.5) * 0.2,
        }));
        let (skeleton, ids) = row(&offsets, scale, |_| Joint::default());
        let points: Vec<_> = random_points(2, 7).into_iter().map(|p| p * size).collect();
        let curve = Curve::new(CurveKind::CatmullRom, &points, true, UP).unwrap();
        let mut spline = Spline::new(&skeleton, ids[0], ids[20]).unwrap();
        for roll in [Roll::Keep, Roll::Frames { axis: Vec3::Y, twist: [0.3, 0.1] }] {
            spline.roll = roll;
            let mut pose = Pose::rest(&skeleton);
            let before = places(&pose, &ids);
            let report = spline.solve(&mut pose, &curve).unwrap();
            assert_eq!(report.report.status, Status::Reached, "{scale} {report:?}");
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
        let (skeleton, ids) = row(&offsets, scale, |_| Joint::default());
        let points = [Vec3::ZERO, Vec3::new(1.0, 0.0, 5.0), Vec3::new(0.0, 0.0, 10.0)];
        let curve = Curve::new(CurveKind::CatmullRom, &points, false, UP).unwrap();
        let mut spline = Spline::new(&skeleton, ids[0], ids[2]).unwrap();
        spline.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0; 2] };
        let mut pose = Pose::rest(&skeleton);
        spline.solve(&mut pose, &curve).unwrap();
        // The curve lies level, so that up is its normal everywhere.
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
    // A hairpin whose radius is a tenth of the bone, a curve that crosses itself, and a ring smaller than a bone.
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
    let mut spline = Spline::new(&skeleton, ids[0], ids[30]).unwrap();
    spline.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0; 2] };
    for (points, closed) in [(hairpin, false), (eight, true), (small, true)] {
        let curve = Curve::new(CurveKind::CatmullRom, &points, closed, UP).unwrap();
        for i in 0..200 {
            spline.offset = 0.037 * i as f32;
            let mut pose = Pose::rest(&skeleton);
            let report = spline.solve(&mut pose, &curve).unwrap();
            pose.check_finite().unwrap();
            let once = pose.clone();
            assert_eq!(report.missed > 0, report.report.status == Status::Stalled, "{report:?}");
            spline.solve(&mut pose, &curve).unwrap();
            assert_eq!(pose.locals(), once.locals());
        }
    }
}

#[test]
fn a_thousand_joints_stay_on_the_curve() {
    let (skeleton, ids) = straight(1000, 0.01);
    let curve = Curve::new(CurveKind::CatmullRom, &random_points(11, 9), true, UP).unwrap();
    let mut spline = Spline::new(&skeleton, ids[0], ids[1000]).unwrap();
    spline.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0, 20.0] };
    let mut pose = Pose::rest(&skeleton);
    let report = spline.solve(&mut pose, &curve).unwrap();
    assert_eq!(report.report.status, Status::Reached, "{report:?}");
    assert!(report.report.position_residual < 1e-4, "{report:?}");
}

#[test]
fn odd_chains_and_roots_lead_to_no_nonsense() {
    let points = random_points(6, 6);
    let curve = Curve::new(CurveKind::CatmullRom, &points, true, UP).unwrap();
    // One joint with an offset at its tip: root and end lie on the curve.
    let (skeleton, ids) = straight(1, 0.3);
    let chain = sinew::Chain::new(&skeleton, ids[0], ids[0]).unwrap();
    let chain = chain.with_tip_offset(&skeleton, Vec3::new(0.1, 0.2, 0.4)).unwrap();
    let mut one = Spline::from_chain(&skeleton, chain).unwrap();
    one.roll = Roll::Frames { axis: Vec3::Y, twist: [0.4, 0.2] };
    for fit in [Fit::Whole, Fit::Stretched { shortest: 0.1, longest: 10.0 }] {
        one.fit = fit;
        let mut pose = Pose::rest(&skeleton);
        let report = one.solve(&mut pose, &curve).unwrap();
        assert_eq!(report.report.status, Status::Reached, "{report:?}");
        assert!((one.chain().end(&pose).distance(pose.position(ids[0])) - 0.21f32.sqrt()).abs() < 1e-6);
    }
    // No bone has a length: only the root moves.
    let (skeleton, ids) = row(&[Vec3::ZERO; 4], Vec3::ONE, |_| Joint::default());
    let mut none = Spline::new(&skeleton, ids[0], ids[3]).unwrap();
    let mut pose = Pose::rest(&skeleton);
    let report = none.solve(&mut pose, &curve).unwrap();
    assert_eq!(report.report.status, Status::Reached, "{report:?}");
    assert!(pose.position(ids[3]).distance(curve.at(0.0).position) < 1e-6);
    // A root that stays and lies on the curve, at its start and elsewhere: all of the chain lies on it.
    let (skeleton, ids) = straight(10, 0.2);
    let mut spline = Spline::new(&skeleton, ids[0], ids[10]).unwrap();
    spline.moves_root = false;
    let root = Pose::rest(&skeleton).position(ids[0]);
    for through in [0.0, 1.7] {
        let by = root - curve.at(through).position;
        let moved: Vec<_> = points.iter().map(|p| *p + by).collect();
        let curve = Curve::new(CurveKind::CatmullRom, &moved, true, UP).unwrap();
        for offset in [through, through - 0.1, through + 0.1] {
            spline.offset = offset;
            let mut pose = Pose::rest(&skeleton);
            let report = spline.solve(&mut pose, &curve).unwrap();
            assert_eq!((report.report.status, report.missed), (Status::Reached, 0), "{report:?}");
        }
    }
}

#[test]
fn a_chain_that_travels_leaps_nowhere() {
    // Bends are wider than a bone. Each step is a thousandth of a bone; joints turn in proportion.
    let (skeleton, ids) = straight(12, 0.3);
    let points = random_points(12, 7);
    for (kind, closed, count) in [(CurveKind::CatmullRom, true, 7), (CurveKind::CatmullRom, false, 7)] {
        let curve = Curve::new(kind, &points[..count], closed, UP).unwrap();
        let mut spline = Spline::new(&skeleton, ids[0], ids[12]).unwrap();
        spline.roll = Roll::Frames { axis: Vec3::Y, twist: [0.0; 2] };
        let mut last: Option<Pose> = None;
        // From before the start, past the end; round twice.
        let from = -1.0;
        for i in 0..40_000 {
            spline.offset = from + 0.0003 * i as f32;
            let mut pose = Pose::rest(&skeleton);
            let report = spline.solve(&mut pose, &curve).unwrap();
            assert_eq!(report.missed, 0);
            if let Some(last) = &last {
                for &j in &ids {
                    let turn = math::angle_between(last.local(j).rotation, pose.local(j).rotation);
                    assert!(turn < 0.02, "joint {j} at {}: {turn}", spline.offset);
                    assert!(last.position(j).distance(pose.position(j)) < 0.002);
                }
            }
            last = Some(pose);
        }
    }
}

#[test]
fn tiny_and_huge_curves_are_curves() {
    for size in [1e-30f32, 1e-10, 1e-3, 1e5, 1e15, 1e30] {
        let points: Vec<_> = random_points(3, 6).into_iter().map(|p| p * size).collect();
        let curve = Curve::new(CurveKind::CatmullRom, &points, true, UP).unwrap();
        let unit = Curve::new(CurveKind::CatmullRom, &random_points(3, 6), true, UP).unwrap();
        assert!((curve.length() / size - unit.length()).abs() < 1e-4);
        for i in 0..20 {
            let (a, b) = (curve.at(0.5 * size * i as f32), unit.at(0.5 * i as f32));
            assert!((a.position / size).distance(b.position) < 1e-4, "{size}");
            assert!(a.normal.distance(b.normal) < 1e-3 && a.tangent.distance(b.tangent) < 1e-3);
        }
    }
}

#[test]
fn handles_may_lie_on_their_points() {
    let [a, b] = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(2.0, 2.5, 5.0)];
    for points in [[a, a, b, b], [a, a, a, b], [a, b, b, b]] {
        let curve = Curve::new(CurveKind::Bezier, &points, false, UP).unwrap();
        assert!((curve.length() - a.distance(b)).abs() < 1e-4, "{}", curve.length());
        for i in 0..=10 {
            let at = curve.at(curve.length() * i as f32 / 10.0);
            assert!(at.position.distance(a.lerp(b, i as f32 / 10.0)) < 1e-4);
            assert!(at.tangent.distance((b - a).normalize()) < 1e-5, "{points:?} {i}: {}", at.tangent);
        }
        let (skeleton, ids) = straight(5, 0.7);
        let mut spline = Spline::new(&skeleton, ids[0], ids[5]).unwrap();
        let mut pose = Pose::rest(&skeleton);
        assert_eq!(spline.solve(&mut pose, &curve).unwrap().report.status, Status::Reached);
        assert!(pose.position(ids[5]).distance(a + (b - a).normalize() * 3.5) < 1e-4);
    }
}
