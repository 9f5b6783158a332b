//! Promises of a drag, on random trees with random limits: pins stay, no joint jumps, and all that full bodies promise.
//!
//! It has no weight, so that promise 9 does not apply; promise 7 is that of its pins, as the grabbed joint goes last.

use proptest::prelude::*;
use sinew::{
    Goal, JointId, Pose, Workspace,
    glam::{Quat, Vec3},
    math,
    solve::{Drag, Effector, FullBodyOptions, Pin},
};

use crate::promises::{
    checks, config,
    full_body::{Bush, bush},
    judge,
    limited::hold,
    rig,
};

/// A drag of the bush's first tip, with its other ones pinned; none where one cannot hang below the root.
fn drag(bush: &Bush) -> Drag {
    let pins: Vec<Pin> = bush.tips[1..]
        .iter()
        .zip(&bush.goals[1..])
        .map(|(tip, goal)| Pin::new(full(*tip)).with_turned(goal.rotation.is_some()))
        .collect();
    Drag::new(&bush.pose, bush.root, full(bush.tips[0]), &pins).unwrap()
}

/// An effector with the weights of 1.
fn full(tip: Effector) -> Effector {
    tip.with_position_weight(1.0).with_rotation_weight(1.0)
}

fn options(bush: &Bush) -> FullBodyOptions<'_> {
    if bush.tips.len().is_multiple_of(2) { FullBodyOptions::new() } else { Drag::OPTIONS }
}

/// Places of the pins as they are, in model space or seen from the joints that they move with.
fn places(bush: &Bush, pose: &Pose) -> Vec<judge::V> {
    let place = |tip: &Effector| {
        let at = judge::frame(pose, tip.joint).point(judge::v(tip.offset));
        let Some(other) = tip.relative_to else { return at };
        // By its columns, which are across each other in frames without shear.
        let f = judge::frame(pose, other);
        let to = judge::sub(at, f.origin);
        f.columns.map(|c| judge::dot(to, c) / judge::length(c))
    };
    bush.tips[1..].iter().map(place).collect()
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn keeps_its_promises(b in bush(), a in rig::vector(), c in rig::vector(), far in 0.1f32..3.0) {
        // Where places are coarse beside the figure, a small step of the goal is none.
        prop_assume!(b.rounding < 1e-5 * b.size);
        // Grabbed in model space.
        let mut b = b;
        b.tips[0].relative_to = None;
        let mut drag = drag(&b);
        let mut pose = b.pose.clone();
        let own: Vec<JointId> = drag.full_body().joints().collect();
        let pinned = places(&b, &pose);
        let start = pose.model(b.tips[0].joint).transform_point3(b.tips[0].offset);
        let (x, y) = (a.normalize(), math::perpendicular(a.normalize(), c));
        let radius = far * b.size as f32;
        let mut last = start;
        for i in 1..40 {
            let f = i as f32 * 0.02;
            let goal = start + (x * (f.cos() - 1.0) + y * f.sin()) * radius;
            let before = pose.clone();
            let report = drag.to(&mut Workspace::new(), &mut pose, &Goal::position(goal), &options(&b)).unwrap();
            // 1, 2, 3
            pose.check_finite().unwrap();
            // (A root that may go anywhere is not held to its own slide.)
            hold(&before, &pose, &own[1..], b.size);
            for j in pose.skeleton().joints() {
                let (was, now) = (before.local(j), pose.local(j));
                prop_assert_eq!(was.scale, now.scale);
                if !own.contains(&j) {
                    prop_assert_eq!((was.translation, was.rotation), (now.translation, now.rotation));
                } else if pose.skeleton().joint(j).slide[1].is_none() && j != b.root {
                    prop_assert_eq!(was.translation, now.translation, "joint {} moved", j);
                }
            }
            // 8: what is reported is what is there.
            let end = judge::frame(&pose, b.tips[0].joint).point(judge::v(b.tips[0].offset));
            let off = judge::length(judge::sub(end, judge::v(goal)));
            let rounding = 8.0 * b.rounding + 8e-6 * (b.size + f64::from(goal.length()));
            prop_assert!((off - f64::from(report.position_residual)).abs() <= rounding);
            // What is pinned stays.
            for (was, now) in pinned.iter().zip(places(&b, &pose)) {
                let slid = judge::length(judge::sub(*was, now));
                prop_assert!(slid <= 1e-4 * b.size * 1.5 + rounding, "slid by {slid:e} of {:e}", b.size);
            }
            // 10
            let went = goal.distance(last) / drag.full_body().size(&before);
            for &j in &own {
                let step = math::angle_between(before.local(j).rotation, pose.local(j).rotation);
                prop_assert!(step <= 8.0 * went + 1e-5, "joint {j} leapt by {step}, the goal by {went}");
            }
            last = goal;
        }
    }

    #[test]
    fn gives_the_same_bits_again(b in bush(), at in rig::vector()) {
        let mut b = b;
        b.tips[0].relative_to = None;
        let goal = |i: usize| Goal::position(b.pose.position(b.root) + at * (b.size as f32 * 0.05 * i as f32));
        let run = || {
            let (mut drag, mut pose, mut workspace) = (drag(&b), b.pose.clone(), Workspace::new());
            let mut go = |drag: &mut Drag, pose: &mut Pose| {
                for i in 0..8 {
                    drag.to(&mut workspace, pose, &goal(i), &options(&b)).unwrap();
                }
            };
            go(&mut drag, &mut pose);
            // Started anew, it is as a new one.
            let mut again = b.pose.clone();
            drag.reset(&again);
            go(&mut drag, &mut again);
            (pose, again)
        };
        let ((a, again), (c, _)) = (run(), run());
        prop_assert!(checks::same_bits(&a, &c) && checks::same_bits(&a, &again));
    }

    #[test]
    fn stays_where_it_is_grabbed(b in bush()) {
        prop_assume!(b.rounding < 1e-5 * b.size);
        let mut b = b;
        b.tips[0].relative_to = None;
        let (mut drag, mut pose) = (drag(&b), b.pose.clone());
        let at = pose.model(b.tips[0].joint).transform_point3(b.tips[0].offset);
        drag.to(&mut Workspace::new(), &mut pose, &Goal::position(at), &options(&b)).unwrap();
        prop_assert!(checks::same_bits(&pose, &b.pose), "nothing was dragged, and something moved");
    }

    #[test]
    fn refuses_what_is_not_finite(b in bush()) {
        let mut drag = drag(&b);
        for bad in [f32::NAN, f32::INFINITY] {
            let mut pose = b.pose.clone();
            let mut to =
                |pose: &mut Pose, at| drag.to(&mut Workspace::new(), pose, &Goal::position(at), &options(&b));
            prop_assert!(to(&mut pose, Vec3::new(bad, 0.0, 0.0)).is_err());
            prop_assert!(checks::same_bits(&pose, &b.pose));
            let mut broken = b.pose.clone();
            broken.set_rotation(b.tips[0].joint, Quat::from_xyzw(0.0, bad, 0.0, 1.0));
            let before = broken.clone();
            prop_assert!(to(&mut broken, Vec3::ZERO).is_err());
            prop_assert!(checks::same_bits(&broken, &before));
        }
    }
}
