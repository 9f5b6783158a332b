//! Judges curves by references in f64 that are written here (de Casteljau; Barry and Goldman).

use crate::common;

use common::ring;
use sinew::{
    glam::{DVec3, Quat, Vec3},
    solve::spline::{Curve, CurveError, CurveKind, CurveUp},
};

const UP: CurveUp = CurveUp::Direction(Vec3::Y);

/// Evaluates a Bézier piece by de Casteljau's algorithm.
fn bezier(p: [DVec3; 4], t: f64) -> DVec3 {
    let mix = |a: DVec3, b: DVec3| a * (1.0 - t) + b * t;
    let [a, b, c] = [mix(p[0], p[1]), mix(p[1], p[2]), mix(p[2], p[3])];
    mix(mix(a, b), mix(b, c))
}

/// Evaluates the span between the middle two of four points by Barry and Goldman's pyramid. The knots' distances are the
/// square roots of the points'.
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

/// Positions along a curve of random points, by the references above. Without the end pieces of open Catmull-Rom curves.
fn sampled(kind: CurveKind, points: &[Vec3], closed: bool, steps: usize) -> Vec<DVec3> {
    let n = points.len();
    let p = |i: usize| points[i % n].as_dvec3();
    let mut all = Vec::new();
    let pieces: Vec<usize> = match (kind, closed) {
        (CurveKind::Bezier, true) => (0..n / 3).collect(),
        (CurveKind::Bezier, false) => (0..(n - 1) / 3).collect(),
        (CurveKind::CatmullRom, true) => (0..n).collect(),
        (CurveKind::CatmullRom, false) => (1..n - 2).collect(),
        _ => unreachable!("a kind of curve without a reference"),
    };
    for &i in &pieces {
        for k in 0..steps {
            let t = k as f64 / steps as f64;
            all.push(match kind {
                CurveKind::Bezier => bezier([p(3 * i), p(3 * i + 1), p(3 * i + 2), p(3 * i + 3)], t),
                CurveKind::CatmullRom => pyramid([p(i + n - 1), p(i), p(i + 1), p(i + 2)], t),
                _ => unreachable!("a kind of curve without a reference"),
            });
        }
    }
    let last = pieces[pieces.len() - 1];
    all.push(match kind {
        CurveKind::Bezier => p(3 * last + 3),
        CurveKind::CatmullRom => p(last + 1),
        _ => unreachable!("a kind of curve without a reference"),
    });
    all
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
            let points = ring(seed, count);
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
    let points = ring(3, 5);
    let curve = Curve::new(CurveKind::CatmullRom, &points, false, UP).unwrap();
    assert!(curve.at(0.0).position.distance(points[0]) < 1e-6);
    assert!(curve.at(curve.length()).position.distance(points[4]) < 1e-6);
    // Beyond the end the curve continues along its tangent.
    let (end, on) = (curve.at(curve.length()), curve.at(curve.length() + 2.0));
    assert!(on.position.distance(end.position + 2.0 * end.tangent) < 1e-5);
    let (start, before) = (curve.at(0.0), curve.at(-2.0));
    assert!(before.position.distance(start.position - 2.0 * start.tangent) < 1e-5);
    // Two points give a straight line, and three (with even knots) a parabola.
    let line = Curve::new(CurveKind::CatmullRom, &points[..2], false, UP).unwrap();
    assert!((line.length() - points[0].distance(points[1])).abs() < 1e-6);
    let three = [Vec3::new(-1.0, 1.0, 0.0), Vec3::ZERO, Vec3::new(1.0, 1.0, 0.0)];
    let bent = Curve::new(CurveKind::CatmullRom, &three, false, UP).unwrap();
    for i in 0..=20 {
        let p = bent.at(bent.length() * i as f32 / 20.0).position;
        assert!((p.y - p.x * p.x).abs() < 1e-5, "{p}");
    }
}

/// Returns the rotation-minimising normal, by the differential equation N' = -(N . T') T in many small steps.
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
        let points = ring(seed, 10);
        let curve = Curve::new(CurveKind::Bezier, &points, false, UP).unwrap();
        let fine = sampled(CurveKind::Bezier, &points, false, 20_000);
        // The normal restarts at a corner, so only the first piece is judged.
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
        let points = ring(seed, 8);
        let curve = Curve::new(CurveKind::CatmullRom, &points, true, UP).unwrap();
        let length = curve.length();
        let mut last = curve.at(length * 0.99999);
        let first = curve.at(0.0);
        assert!(last.normal.angle_between(first.normal) < 1e-3);
        // The frame turns evenly about the tangent along the curve.
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
    // The tangent passes through the up direction.
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
    // After a reset it starts afresh.
    let mut curve = Curve::new(CurveKind::CatmullRom, &ring(0.0), true, CurveUp::Carried(Vec3::Y)).unwrap();
    (0..300).for_each(|i| curve.set_points(&ring(0.01 * i as f32)).unwrap());
    curve.reset();
    curve.set_points(&ring(1.0)).unwrap();
    let fresh = Curve::new(CurveKind::CatmullRom, &ring(1.0), true, UP).unwrap();
    assert_eq!(curve.at(0.3), fresh.at(0.3));
}

#[test]
fn bad_curves_are_named() {
    use CurveKind::{Bezier, CatmullRom};
    let p = ring(1, 6);
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
    // Tolerance of f32 coordinates.
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
fn tiny_and_huge_curves_are_curves() {
    for size in [1e-30f32, 1e-10, 1e-3, 1e5, 1e15, 1e30] {
        let points: Vec<_> = ring(3, 6).into_iter().map(|p| p * size).collect();
        let curve = Curve::new(CurveKind::CatmullRom, &points, true, UP).unwrap();
        let unit = Curve::new(CurveKind::CatmullRom, &ring(3, 6), true, UP).unwrap();
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
    }
}
