//! Promises of `FabrikTree`, on random trees with random limits and goals.

use std::sync::Arc;

use proptest::prelude::*;
use sinew::{
    Goal, Outcome, Pose, Report, Workspace,
    glam::{Quat, Vec3},
    math,
    solve::{FabrikTree, IterativeOptions},
};

use crate::promises::{
    checks, config,
    full_body::{Bush, bush},
    judge,
    limited::hold,
};

/// A bush without what the solver does not take.
fn plain() -> impl Strategy<Value = (Bush, FabrikTree)> {
    bush().prop_filter_map("joints of the tree with limits of turning alone", |b| {
        let mut b = b.plain();
        let mut skeleton = (**b.pose.skeleton()).clone();
        for j in skeleton.joints() {
            let joint = skeleton.joint(j).with_slide([None; 3]);
            skeleton.set_joint(j, joint).unwrap();
        }
        let mut pose = Pose::rest(&Arc::new(skeleton));
        pose.set_locals(b.pose.locals()).unwrap();
        b.pose = pose;
        let tree = FabrikTree::new(b.pose.skeleton(), b.root, &b.tips).ok()?;
        Some((b, tree))
    })
}

fn solve(b: &Bush, tree: &FabrikTree, pose: &mut Pose, options: &IterativeOptions) -> Report {
    tree.solve(&mut Workspace::new(), pose, &b.goals, options).unwrap()
}

/// 1, 2, 7 and 8 of one solve.
fn judged(b: &Bush, tree: &FabrikTree, options: &IterativeOptions) -> (Pose, Report) {
    let mut pose = b.pose.clone();
    let report = solve(b, tree, &mut pose, options);
    hold(&b.pose, &pose, tree.joints(), b.size);
    for j in pose.skeleton().joints() {
        let (was, now) = (b.pose.local(j), pose.local(j));
        assert_eq!((was.translation, was.scale), (now.translation, now.scale));
        assert!(tree.joints().contains(&j) || was.rotation == now.rotation, "joint {j} is not the tree's");
        assert!((f64::from(now.rotation.length()) - 1.0).abs() < 1e-6);
    }
    let far = |goal: &Goal| goal.position.map_or(0.0, |p| judge::length(judge::v(p)));
    let rounding = 4.0 * b.rounding + 4e-6 * b.goals.iter().map(far).fold(b.size, f64::max);
    let left: Vec<f64> = b.missing(&pose).into_iter().map(|(place, _)| place).collect();
    for (each, left) in tree.effector_reports(&pose, &b.goals, &report).zip(&left) {
        assert!((f64::from(each.position_residual) - left).abs() <= rounding);
    }
    let most = left.iter().copied().fold(0.0, f64::max);
    assert!((f64::from(report.position_residual) - most).abs() <= rounding);
    assert!(!report.reached() || most <= 1e-4 * b.size + rounding);
    assert!(f64::from(report.out_of_reach) <= most + rounding, "{report:?}, {most:e} left");
    if report.outcome != Outcome::Converged {
        let goes = b.objective(&pose, 0);
        let starts = if options.max_turn < f32::INFINITY {
            vec![b.pose.clone()]
        } else {
            vec![b.pose.clone(), b.clamped(tree.joints())]
        };
        for start in starts {
            let before = b.objective(&start, 0);
            let slack = 1e-6 + rounding / b.size;
            let more = slack * (goes.sqrt() + before.sqrt() + slack) * 2.0;
            assert!(goes <= before + more, "grew from {before:e} to {goes:e}, {report:?}");
        }
    }
    (pose, report)
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn keeps_its_promises((b, tree) in plain(), sweeps in prop_oneof![1 => 0u32..10, 2 => Just(32)]) {
        let options = IterativeOptions::new().with_max_iterations(sweeps);
        let (pose, report) = judged(&b, &tree, &options);
        // 4
        let mut again = b.pose.clone();
        prop_assert_eq!(report, solve(&b, &tree, &mut again, &options));
        prop_assert!(checks::same_bits(&pose, &again));
        // 6
        let near = report.position_tolerance * 0.5;
        if report.outcome == Outcome::Converged && report.position_residual < near && b.rounding < 1e-5 * b.size {
            solve(&b, &tree, &mut again, &options);
            prop_assert!(checks::same_bits(&pose, &again), "solving again moved the pose: {report:?}");
        }
    }

    #[test]
    fn turns_no_further_than_it_may((b, tree) in plain(), most in 0.01f32..1.0) {
        let (pose, _) = judged(&b, &tree, &IterativeOptions::new().with_max_turn(most));
        for &j in tree.joints() {
            let step = math::angle_between(b.pose.local(j).rotation, pose.local(j).rotation);
            prop_assert!(step <= most + 1e-5, "joint {j} turned by {step} of {most}");
        }
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn blends_by_weight((b, tree) in plain(), own in any::<bool>()) {
        let mut b = b;
        let mut last = b.pose.clone();
        const STEPS: usize = 40;
        for i in 0..=STEPS {
            let weight = i as f32 / STEPS as f32;
            let mut options = IterativeOptions::new();
            // By the options, or by one of the goals.
            if own { b.goals[0].position_influence = weight } else { options = options.with_influence(weight) }
            let mut pose = b.pose.clone();
            solve(&b, &tree, &mut pose, &options);
            hold(&b.pose, &pose, tree.joints(), b.size);
            prop_assert!(own || i > 0 || checks::same_bits(&pose, &b.pose), "weight 0 moved the pose");
            for &j in tree.joints().iter().filter(|_| i > 0) {
                let step = math::angle_between(last.local(j).rotation, pose.local(j).rotation);
                prop_assert!(step < 3.0 * core::f32::consts::TAU / STEPS as f32, "{step} at {i}/{STEPS}");
            }
            last = pose;
        }
    }

    #[test]
    fn stays_finite((b, tree) in plain()) {
        for bad in [f32::NAN, f32::INFINITY] {
            let refuses = |pose: &Pose, goals: &[Goal]| {
                let mut after = pose.clone();
                let options = IterativeOptions::new();
                assert!(tree.solve(&mut Workspace::new(), &mut after, goals, &options).is_err());
                assert!(checks::same_bits(pose, &after));
            };
            for i in 0..b.goals.len() {
                let mut goals = b.goals.clone();
                goals[i].position = Some(Vec3::new(0.0, bad, 0.0));
                refuses(&b.pose, &goals);
                let mut broken = b.pose.clone();
                broken.set_rotation(b.tips[i].joint, Quat::from_xyzw(0.0, bad, 0.0, 1.0));
                refuses(&broken, &b.goals);
            }
        }
        for size in [0.0, 1e-45, 1e-20, 1e-10, 1e10, 1e18, 1e30, 3e38] {
            let mut far = b.clone();
            for goal in &mut far.goals {
                goal.position = goal.position.map(|p| p.normalize_or_zero() * size);
            }
            let mut pose = b.pose.clone();
            let report = solve(&far, &tree, &mut pose, &IterativeOptions::new());
            pose.check_finite().unwrap();
            prop_assert!(report.position_residual.is_finite() && report.out_of_reach.is_finite());
            hold(&b.pose, &pose, tree.joints(), b.size);
        }
    }
}
