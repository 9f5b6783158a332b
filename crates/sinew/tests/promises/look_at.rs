//! Promises of a look-at, on random chains with random limits.

use proptest::prelude::*;
use sinew::{
    Pose, SolveError,
    glam::{Quat, Vec3},
    math,
    solve::{LookAt, LookJoint, LookReport, Options},
};

use crate::promises::{
    checks, config, judge,
    limited::{Limited, limited},
    rig,
};

/// A look-at of the chain's joints (no more than eight of them, the tip among them), each with a cone of its own.
fn look(rig: &Limited, axis: Vec3, cone: f32, dead_zone: f32) -> LookAt {
    let chain = rig.chain();
    let joints = chain.joints();
    let every = joints.len().div_ceil(8);
    let line: Vec<_> = joints
        .iter()
        .rev()
        .step_by(every)
        .enumerate()
        .map(|(i, &joint)| LookJoint::new(joint).with_share(0.3).with_cone(cone / (1.0 + i as f32)))
        .collect();
    let line: Vec<_> = line.into_iter().rev().collect();
    let mut look = LookAt::new(rig.pose.skeleton(), &line, axis).unwrap();
    look.offset = rig.tip_offset;
    look.dead_zone = dead_zone;
    look
}

fn once(
    rig: &Limited,
    look: &LookAt,
    target: Vec3,
    options: &Options,
) -> (Pose, Result<LookReport, SolveError>) {
    let mut pose = rig.pose.clone();
    let report = look.solve(&mut look.state(), &mut pose, target, options);
    (pose, report)
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn keeps_its_promises(
        r in limited(false), axis in rig::vector(), d in rig::vector(), f in crate::promises::fraction(),
        cone in 0f32..3.0, dead_zone in prop_oneof![Just(0f32), 0f32..1.0],
    ) {
        let look = look(&r, axis, cone, dead_zone);
        let target = r.goal(d, f);
        let (pose, report) = once(&r, &look, target, &Options::new());
        let report = report.unwrap();
        // 1, 2
        r.holds(&pose);
        r.keeps_offsets(&pose, false);
        for (joint, before) in look.joints().map(|j| (j, r.pose.local(j).rotation)) {
            let turned = math::angle_between(before, pose.local(joint).rotation);
            prop_assert!(turned <= cone + 2e-5, "joint {joint} turned by {turned}");
        }
        // 8: what is reported is what is there.
        let frame = judge::frame(&pose, r.tip);
        let (from, front) = (frame.point(judge::v(look.offset)), judge::unit(frame.vector(judge::v(axis))));
        let way = judge::sub(judge::v(target), from);
        let along = judge::dot(way, front);
        let across = judge::length(judge::sub(way, judge::scale(front, along)));
        let off = if along >= 0.0 { across } else { judge::length(way) };
        let rounding = 4.0 * r.rounding + 4e-6 * (r.length + judge::length(way));
        let found = f64::from(report.report.position_residual);
        prop_assert!((found - off).abs() <= rounding, "reported {found:e}, found {off:e} ({rounding:e})");
        // 4
        let (again, second) = once(&r, &look, target, &Options::new());
        prop_assert_eq!(Ok(report), second);
        prop_assert!(checks::same_bits(&pose, &again));
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn blends_by_weight(r in limited(false), axis in rig::vector(), d in rig::vector()) {
        let look = look(&r, axis, 1.0, 0.0);
        let target = r.goal(d, 0.8);
        r.blends(|weight| {
            once(&r, &look, target, &Options::new().with_influence(weight)).0
        });
    }

    #[test]
    fn stays_finite(r in limited(false), axis in rig::vector(), d in rig::vector()) {
        let look = look(&r, axis, 1.0, 0.1);
        for bad in [f32::NAN, f32::INFINITY] {
            let mut broken = r.pose.clone();
            broken.set_rotation(r.tip, Quat::from_xyzw(0.0, bad, 0.0, 1.0));
            let before = broken.clone();
            prop_assert!(look.solve(&mut look.state(), &mut broken, d, &Options::new()).is_err());
            prop_assert!(checks::same_bits(&before, &broken));
            let (pose, report) = once(&r, &look, Vec3::new(0.0, bad, 1.0), &Options::new());
            prop_assert!(report.is_err() && checks::same_bits(&pose, &r.pose));
        }
        for size in [0.0, 1e-45, 1e-20, 1e-10, 1e10, 1e18, 1e30] {
            let (pose, report) = once(&r, &look, d * size, &Options::new());
            match report {
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
