//! Promises of a chain along a curve, on random chains with random limits and random curves.

use proptest::prelude::*;
use sinew::{
    Pose,
    glam::{Quat, Vec3},
    solve::{
        Spline,
        spline::{Curve, CurveKind, CurveUp, Fit, Roll, SplineReport},
    },
};

use crate::promises::{
    checks, config,
    held::{Held, held},
    judge,
    limited::{Limited, limited},
    rig,
};

/// The task.
#[derive(Clone, Debug)]
struct Asked {
    /// In lengths of the chain.
    points: Vec<Vec3>,
    kind: CurveKind,
    closed: bool,
    offset: f32,
    reversed: bool,
    frames: bool,
    moves_root: bool,
    stretched: bool,
}

fn asked() -> impl Strategy<Value = Asked> {
    (
        prop::collection::vec(rig::vector(), 6),
        prop::sample::select(vec![CurveKind::CatmullRom, CurveKind::Bezier]),
        any::<bool>(),
        -2f32..4.0,
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.8),
        prop::bool::weighted(0.15),
    )
        .prop_map(|(mut points, kind, closed, offset, reversed, frames, moves_root, stretched)| {
            if kind == CurveKind::Bezier && !closed {
                points.truncate(4);
            }
            Asked { points, kind, closed, offset, reversed, frames, moves_root, stretched }
        })
}

/// The curve near the chain's root, and the solver; none where the points make no curve.
fn setup(rig: &Limited, asked: &Asked) -> Option<(Curve, Held<Spline>)> {
    let root = rig.pose.position(rig.root);
    let size = rig.length as f32;
    let points: Vec<Vec3> = asked.points.iter().map(|p| root + *p * size).collect();
    let curve = Curve::new(asked.kind, &points, asked.closed, CurveUp::Direction(Vec3::Y)).ok()?;
    let mut spline = held(Spline::from_chain(rig.pose.skeleton(), rig.chain()).unwrap());
    spline.options.offset = asked.offset * size;
    spline.options.reversed = asked.reversed;
    spline.options.moves_root = asked.moves_root;
    if asked.frames {
        spline.options.roll = Roll::Frames { axis: Vec3::new(0.3, 0.9, -0.2), twist: [0.2, -0.4] };
    }
    if asked.stretched {
        spline.options.fit = Fit::Stretched { shortest: 0.5, longest: 3.0 };
    }
    Some((curve, spline))
}

/// Distance of a position from a curve: from straight lines between many of its points, and from lines beyond its ends.
fn off(curve: &Curve, place: judge::V) -> f64 {
    const STEPS: usize = 2000;
    let length = curve.length();
    let at = |i: usize| judge::v(curve.at(length * i as f32 / STEPS as f32).position);
    let mut ways: Vec<(judge::V, judge::V, f64)> = (0..STEPS).map(|i| (at(i), at(i + 1), 1.0)).collect();
    if !curve.is_closed() {
        for (end, sign) in [(curve.at(0.0), -1.0), (curve.at(length), 1.0)] {
            let from = judge::v(end.position);
            ways.push((from, judge::add(from, judge::v(end.tangent * sign)), f64::INFINITY));
        }
    }
    let mut least = f64::INFINITY;
    for (a, b, most) in ways {
        let (way, to) = (judge::sub(b, a), judge::sub(place, a));
        let along = (judge::dot(to, way) / judge::dot(way, way).max(f64::MIN_POSITIVE)).clamp(0.0, most);
        least = least.min(judge::length(judge::sub(to, judge::scale(way, along))));
    }
    least
}

fn once(rig: &Limited, curve: &Curve, spline: &mut Held<Spline>) -> (Pose, Option<SplineReport>) {
    let mut pose = rig.pose.clone();
    let report = spline.solve(&mut pose, curve);
    if report.is_err() {
        // The axis lies along the first bone.
        assert!(checks::same_bits(&pose, &rig.pose));
    }
    (pose, report.ok())
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn keeps_its_promises(r in limited(false), asked in asked()) {
        let Some((curve, mut spline)) = setup(&r, &asked) else { return Ok(()) };
        let (pose, Some(report)) = once(&r, &curve, &mut spline) else { return Ok(()) };
        // 1, 2
        r.holds(&pose);
        if !asked.stretched {
            r.keeps_offsets(&pose, asked.moves_root);
        }
        // 8: what is said to lie on the curve does.
        let far = f64::from(pose.extent(r.tip)).max(r.length * 4.0);
        let rounding = 4.0 * r.rounding + 4e-6 * (r.length + far);
        if report.report.reached() {
            for &j in r.chain().joints().iter().skip(usize::from(!asked.moves_root)).step_by(7) {
                let off = off(&curve, judge::position(&pose, j));
                let sagitta = 1e-5 * f64::from(curve.length());
                prop_assert!(off <= 1e-5 * r.length + rounding + sagitta, "joint {j} is {off:e} off, {report:?}");
            }
            prop_assert!(f64::from(report.report.position_residual) <= 1e-5 * r.length + rounding);
        }
        // Joints that are free lie on it, if bones find a crossing.
        let s = r.pose.skeleton();
        let free = r.chain().joints().iter().all(|&j| s.limits(j).turns_freely());
        if free && report.missed == 0 {
            prop_assert!(report.report.reached(), "{:?}", report);
        }
        // 4
        let (again, second) = once(&r, &curve, &mut spline);
        prop_assert_eq!(Some(report), second);
        prop_assert!(checks::same_bits(&pose, &again));
        // 6
        let inside = r.chain().joints().iter().all(|&j| s.limit_excess(j, r.pose.local(j).rotation) < 1e-6);
        if report.report.reached() && inside {
            let mut again = pose.clone();
            let report = spline.solve(&mut again, &curve).unwrap();
            let turned = checks::turned(&pose, &again);
            prop_assert!(checks::same_bits(&pose, &again), "again turned by {turned:e}: {report:?}");
        }
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn blends_by_weight(r in limited(false), asked in asked()) {
        let Some((curve, mut spline)) = setup(&r, &asked) else { return Ok(()) };
        spline.options.influence = 0.0;
        if once(&r, &curve, &mut spline).1.is_none() {
            return Ok(());
        }
        r.blends(|weight| {
            spline.options.influence = weight;
            once(&r, &curve, &mut spline).0
        });
    }

    #[test]
    fn stays_finite(r in limited(false), asked in asked()) {
        let Some((mut curve, mut spline)) = setup(&r, &asked) else { return Ok(()) };
        for bad in [f32::NAN, f32::INFINITY] {
            let mut broken = r.pose.clone();
            broken.set_rotation(r.tip, Quat::from_xyzw(0.0, bad, 0.0, 1.0));
            let before = broken.clone();
            prop_assert!(spline.solve(&mut broken, &curve).is_err());
            prop_assert!(checks::same_bits(&before, &broken));
        }
        for size in [1e-30, 1e-10, 1e10, 1e18, 1e30] {
            let points: Vec<Vec3> = asked.points.iter().map(|p| *p * size).collect();
            if curve.set_points(&points).is_err() {
                continue;
            }
            let mut pose = r.pose.clone();
            match spline.solve(&mut pose, &curve) {
                Ok(report) => {
                    pose.check_finite().unwrap();
                    prop_assert!(report.report.position_residual.is_finite());
                    r.holds(&pose);
                }
                Err(_) => prop_assert!(checks::same_bits(&pose, &r.pose)),
            }
        }
    }
}
