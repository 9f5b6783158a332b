//! Judges full bodies at edge cases: frames of all scales, mirrors, bones without length, limits that every input violates,
//! goals near and far. The weighted squares are computed here in f64.

use crate::limit_judge;

use std::sync::Arc;

use limit_judge as judge;
use proptest::{prelude::*, test_runner::RngSeed};
use sinew::{
    Goal, JointId, JointTransform, Pose, Skeleton, Workspace,
    glam::{Quat, Vec3},
    joint::{Dof, Joint},
    solve::{Effector, FullBody, FullBodyOptions, RootMode},
};

/// A joint: its parent as a share of the joints before, its offset and its kind.
type Part = (f32, [f32; 3], u8);

fn parts(most: usize) -> impl Strategy<Value = Vec<Part>> {
    let offset = prop_oneof![4 => prop::array::uniform3(-1.0f32..1.0), 1 => Just([0.0; 3])];
    prop::collection::vec((0.0f32..1.0, offset, 0u8..6), 2..most)
}

fn freedom(kind: u8) -> Joint {
    match kind {
        0 => Joint::hinge(Vec3::X, Dof::range(-1.0, 0.4)),
        1 => Joint::ball(Vec3::Y, Vec3::X, [(-0.2, 0.7), (-0.6, 0.3)], (-0.5, 0.5)),
        2 => Joint::FIXED,
        3 => Joint::FIXED.with_slide([Some(Dof::range(-0.2, 0.3)), None, None]),
        _ => Joint::FREE,
    }
}

fn figure(parts: &[Part], scale: Vec3, size: f32) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let rotation = Quat::from_rotation_x(0.4);
    b.add("world", None, JointTransform { scale, rotation, translation: Vec3::new(0.1, 0.2, 0.3) * size });
    let size = size / scale.x.abs();
    for (i, (above, offset, _)) in parts.iter().enumerate() {
        // Prefers long limbs to a bush.
        let above = if *above < 0.7 { i } else { i.min(1 + (above * i as f32) as usize) };
        b.add(
            format!("{i}"),
            Some(above),
            JointTransform::from_translation(Vec3::from_array(*offset) * size),
        );
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for (&id, part) in ids[1..].iter().zip(parts) {
        let mut joint = freedom(part.2);
        joint.slide =
            joint.slide.map(|s| s.map(|_| Dof::range(f64::from(-0.2 * size), f64::from(0.3 * size))));
        skeleton.set_joint(id, joint).unwrap();
    }
    (Arc::new(skeleton), ids[1..].to_vec())
}

/// Returns the weighted sum of the goals' squared residuals.
fn missed(pose: &Pose, tips: &[JointId], goals: &[Goal]) -> f64 {
    let one = |(&tip, goal): (&JointId, &Goal)| {
        goal.position.map_or(0.0, |p| (pose.position(tip).as_dvec3() - p.as_dvec3()).length_squared())
    };
    tips.iter().zip(goals).map(one).sum()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000, rng_seed: RngSeed::Fixed(20), failure_persistence: None, ..Default::default()
    })]

    #[test]
    fn promises_hold(
        parts in parts(24),
        scale in prop_oneof![Just(Vec3::ONE), Just(Vec3::splat(0.01)), Just(Vec3::splat(1000.0)), Just(Vec3::new(-1.0, 1.0, 1.0)), Just(Vec3::splat(-2.0))],
        size in prop_oneof![Just(1.0f32), Just(1e-4), Just(1e4)],
        places in prop::collection::vec(prop::array::uniform3(-3.0f32..3.0), 4),
        far in prop_oneof![3 => Just(1.0f32), 1 => Just(1e4)],
        root in 0u8..2,
        max_iterations in prop_oneof![Just(1u32), Just(7), Just(200)],
    ) {
        let (skeleton, ids) = figure(&parts, scale, size);
        let ends: Vec<JointId> =
            ids.iter().copied().filter(|&j| skeleton.children(j).next().is_none()).take(4).collect();
        let tips: Vec<Effector> = ends.iter().map(|&j| Effector::new(j)).collect();
        let full_body = FullBody::new(&skeleton, ids[0], &tips).unwrap();
        let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
        options.iterative.max_iterations = Some(max_iterations);
        options.root = if root == 0 { RootMode::Pinned } else { RootMode::Free };
        let goals: Vec<Goal> = ends.iter().zip(&places).map(|(_, p)| Goal::position(Vec3::from_array(*p) * size * far)).collect();
        let mut pose = Pose::rest(&skeleton);
        pose.update();
        let before = pose.clone();
        let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
        prop_assert!(report.position_residual.is_finite());
        for joint in skeleton.joints() {
            let (was, now) = (before.local(joint), pose.local(joint));
            prop_assert!(now.rotation.is_finite() && now.translation.is_finite());
            let slides = skeleton.joint(joint).slide.iter().any(Option::is_some);
            let moved = joint == ids[0] && root == 1;
            if !slides && !moved {
                prop_assert_eq!(was.translation, now.translation, "joint {} is torn off", joint);
            }
            prop_assert_eq!(was.scale, now.scale);
            if joint != skeleton.joint_at(0).unwrap() && !moved {
                // Slides are last, in the joint's units; all others are in radians.
                let unit = f64::from((size / scale.x.abs()).max(1.0));
                for over in judge::excess(skeleton.joint(joint), skeleton.rest(joint), now) {
                    prop_assert!(over <= 1e-5 * if slides { unit } else { 1.0 }, "{}: {}", joint, over);
                }
            }
        }
        let (was, now) = (missed(&before, &ends, &goals), missed(&pose, &ends, &goals));
        let rounding = 1e-5 * f64::from(size * far) * f64::from(size * far);
        prop_assert!(now <= was + rounding, "{} from {}", now, was);
        // A repeated solve gives the same bits.
        let mut again = before.clone();
        full_body.solve(&mut workspace, &mut again, &goals, &options).unwrap();
        for joint in skeleton.joints() {
            prop_assert_eq!(again.local(joint), pose.local(joint));
        }
    }
}

#[test]
fn a_thousand_joints_with_two_ends_are_solved() {
    let parts: Vec<Part> =
        (0..1000).map(|i| (if i == 500 { 0.9 } else { 0.0 }, [0.0, 0.02, 0.005], 5)).collect();
    let (skeleton, ids) = figure(&parts, Vec3::ONE, 1.0);
    let ends: Vec<JointId> = ids.iter().copied().filter(|&j| skeleton.children(j).next().is_none()).collect();
    assert_eq!(ends.len(), 2);
    let tips: Vec<Effector> = ends.iter().map(|&j| Effector::new(j)).collect();
    let full_body = FullBody::new(&skeleton, ids[0], &tips).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    let mut pose = Pose::rest(&skeleton);
    let goals = [Vec3::new(3.0, 2.0, 1.0), Vec3::new(-2.0, 5.0, 1.0)].map(Goal::position);
    let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
    assert!(report.position_residual < 2e-3, "{report:?}");
}
