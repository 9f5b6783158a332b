//! Judges chains by the numbers of TheComet's tests of its FABRIK solver: fourteen cases. Its bones lie along their joint's
//! Z. `Fabrik` solves the chains, and `FullBody`, by least squares instead of reaching, those with two effectors.

use crate::held;

use std::{f64::consts::FRAC_1_SQRT_2, sync::Arc};

use held::held;
use sinew::{
    Chain, Goal, JointId, JointTransform, Pose, Skeleton, Workspace,
    glam::{Quat, Vec3},
    joint::Joint,
    math,
    solve::{Effector, Fabrik, FullBody, FullBodyOptions, IterativeOptions, Tolerance},
};

/// Components of a quarter turn about X, sine and cosine of half its angle: +1 takes Z to -Y.
fn quarter(sign: f32) -> Quat {
    Quat::from_xyzw(sign * FRAC_1_SQRT_2 as f32, 0.0, 0.0, FRAC_1_SQRT_2 as f32)
}

/// Chain of joints: the position of the first, and the end of each bone in its joint's space.
fn row(root: Vec3, lengths: &[f32]) -> (Skeleton, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut last = b.add("0", None, JointTransform::from_translation(root));
    for (i, length) in lengths[..lengths.len() - 1].iter().enumerate() {
        last = b.add(format!("{}", i + 1), Some(last), JointTransform::from_translation(Vec3::Z * *length));
    }
    b.build().unwrap()
}

struct Case {
    what: &'static str,
    root: Vec3,
    lengths: &'static [f32],
    start: &'static [f32],
    target: Vec3,
    iterations: u32,
    tolerance: f32,
    /// Signs of the expected quarter turns about X, and their tolerance.
    left: &'static [f32],
    near: f32,
}

#[test]
fn chains_reach_as_the_comet_s_do() {
    let none = Case {
        what: "",
        root: Vec3::ZERO,
        lengths: &[2.0, 2.0],
        start: &[],
        target: Vec3::ZERO,
        iterations: 20,
        tolerance: 1e-4,
        left: &[],
        near: 1e-4,
    };
    let rows = [
        Case {
            what: "two bones, target already reached",
            lengths: &[2.0, 3.0],
            target: Vec3::Z * 5.0,
            tolerance: 0.01 / 5.0,
            left: &[0.0, 0.0],
            near: 0.0,
            ..none
        },
        Case {
            what: "two bones, initial angles, slightly out of reach",
            start: &[1.0, 1.0],
            target: Vec3::Z * 4.5,
            left: &[0.0, 0.0],
            ..none
        },
        Case {
            what: "one bone, slightly out of reach",
            lengths: &[2.0],
            target: Vec3::Y * 2.5,
            iterations: 1,
            left: &[-1.0],
            ..none
        },
        Case {
            what: "one bone away from the origin",
            root: Vec3::splat(3.0),
            lengths: &[2.0],
            target: Vec3::new(3.0, 5.5, 3.0),
            iterations: 1,
            left: &[-1.0],
            ..none
        },
        Case {
            what: "two bones at a right angle",
            target: Vec3::new(0.0, 2.0, 2.0),
            iterations: 1,
            left: &[0.0, -1.0],
            ..none
        },
    ];
    for case in rows {
        let (skeleton, ids) = row(case.root, case.lengths);
        let skeleton = Arc::new(skeleton);
        let (tip, last) = (ids[ids.len() - 1], case.lengths[case.lengths.len() - 1]);
        let chain = Chain::new(&skeleton, ids[0], tip).unwrap();
        let chain = chain.with_tip_offset(&skeleton, Vec3::Z * last).unwrap();
        let mut solver = held(Fabrik::from_chain(&skeleton, chain).unwrap());
        solver.options = IterativeOptions::new()
            .with_max_iterations(case.iterations)
            .with_position_tolerance(Tolerance::Share(case.tolerance));
        let mut pose = Pose::rest(&skeleton);
        for (&id, &sign) in ids.iter().zip(case.start) {
            pose.set_rotation(id, quarter(sign));
        }
        pose.update();
        let report = solver.solve(&mut pose, &Goal::position(case.target)).unwrap();
        assert!(case.near > 0.0 || report.iterations == 0, "{}: {report:?}", case.what);
        for (&id, &sign) in ids.iter().zip(case.left) {
            let wanted = if sign == 0.0 { Quat::IDENTITY } else { quarter(sign) };
            let off = math::angle_between(pose.local(id).rotation, wanted);
            assert!(off <= case.near, "{}: joint {id} is {off:e} off", case.what);
        }
        assert_eq!(pose.local(ids[0]).translation, case.root, "{}", case.what);
    }
}

/// Joints below the one that is solved stay as they are.
#[test]
fn a_leaf_below_the_chain_keeps_its_rotation() {
    let (skeleton, ids) = row(Vec3::ZERO, &[2.0, 2.0]);
    let skeleton = Arc::new(skeleton);
    let mut solver = held(Fabrik::new(&skeleton, ids[0], ids[1]).unwrap());
    let mut pose = Pose::rest(&skeleton);
    solver.solve(&mut pose, &Goal::position(Vec3::Y * 2.5)).unwrap();
    assert!(math::angle_between(pose.local(ids[0]).rotation, quarter(-1.0)) < 1e-4);
    assert_eq!(pose.local(ids[1]).rotation, Quat::IDENTITY);
}

/// The oracle expects that a child held to the identity turns by a quarter, so it is not held there. Ours stays, and the
/// parent alone turns towards the target.
#[test]
fn a_stiff_joint_stays_stiff() {
    let (mut skeleton, ids) = row(Vec3::ZERO, &[2.0, 2.0]);
    skeleton.set_joint(ids[1], Joint::FIXED).unwrap();
    let skeleton = Arc::new(skeleton);
    let chain = Chain::new(&skeleton, ids[0], ids[1]).unwrap();
    let chain = chain.with_tip_offset(&skeleton, Vec3::Z * 2.0).unwrap();
    let mut solver = held(Fabrik::from_chain(&skeleton, chain.clone()).unwrap());
    // At full reach, where FABRIK converges slowly.
    solver.options.max_iterations = Some(400);
    let mut pose = Pose::rest(&skeleton);
    let target = Vec3::new(0.0, 12f32.sqrt(), 2.0);
    let report = solver.solve(&mut pose, &Goal::position(target)).unwrap();
    assert_eq!(pose.local(ids[1]).rotation, Quat::IDENTITY);
    assert!(chain.end(&pose).distance(target) < 0.1, "{report:?}");
}

/// Figure with two arms. Bones: name, index of the parent, offset from the parent's end, length, quarter turns about X.
type Bones = &'static [(&'static str, Option<usize>, Vec3, f32, f32)];

struct Two {
    what: &'static str,
    bones: Bones,
    /// Bones with a goal for their end, and the goal.
    tips: [(usize, Vec3); 2],
    priorities: [u8; 2],
    /// Expected quarter turns of joints about X, and their tolerance.
    left: &'static [(usize, f32)],
    near: f32,
}

#[test]
fn two_effectors_end_as_the_comet_s_do_or_say_why() {
    const ARMS: Bones = &[
        ("root", None, Vec3::ZERO, 2.0, 0.0),
        ("mid", Some(0), Vec3::ZERO, 2.0, 0.0),
        ("mid l", Some(1), Vec3::ZERO, 2.0, 1.0),
        ("tip l", Some(2), Vec3::ZERO, 2.0, 0.0),
        ("mid r", Some(1), Vec3::ZERO, 2.0, -1.0),
        ("tip r", Some(4), Vec3::ZERO, 2.0, 0.0),
    ];
    const OFFSET: Bones = &[
        ("root", None, Vec3::ZERO, 2.0, 0.0),
        ("mid", Some(0), Vec3::ZERO, 2.0, 0.0),
        ("mid l", Some(1), Vec3::ZERO, 2.0, 1.0),
        ("tip l", Some(2), Vec3::ZERO, 2.0, 0.0),
        ("mid r", Some(1), Vec3::new(0.0, 2.0, 0.0), 2.0, -1.0),
        ("tip r", Some(4), Vec3::new(0.0, 0.0, 2.0), 2.0, 0.0),
    ];
    const SHORT: f32 = std::f32::consts::SQRT_2;
    const LIMP: Bones = &[
        ("root", None, Vec3::ZERO, SHORT, 0.0),
        ("mid", Some(0), Vec3::ZERO, SHORT, 0.0),
        ("mid l", Some(1), Vec3::ZERO, SHORT, 0.0),
        ("tip l", Some(2), Vec3::ZERO, SHORT, 0.0),
        ("mid r", Some(1), Vec3::ZERO, SHORT, 0.0),
        ("tip r", Some(4), Vec3::ZERO, SHORT, 0.0),
    ];
    const FORK: Bones = &[
        ("root", None, Vec3::ZERO, 2.0, 0.0),
        ("tip l", Some(0), Vec3::ZERO, 2.0, 0.0),
        ("tip r", Some(0), Vec3::new(0.0, 2.0, 0.0), 2.0, 0.0),
    ];
    const DIAGONAL: Bones = &[
        ("root", None, Vec3::ZERO, 2.0, 0.0),
        ("centre", Some(0), Vec3::ZERO, 2.0, 0.0),
        ("mid l", Some(1), Vec3::ZERO, 2.0 * SHORT, 0.5),
        ("tip l", Some(2), Vec3::ZERO, 2.0, 0.0),
        ("mid r", Some(1), Vec3::ZERO, 2.0 * SHORT, -0.5),
        ("tip r", Some(4), Vec3::ZERO, 2.0, 0.0),
    ];
    const EMBEDDED: Bones = &[
        ("root", None, Vec3::ZERO, 2.0, 0.0),
        ("mid", Some(0), Vec3::ZERO, 2.0, 0.0),
        ("tip", Some(1), Vec3::ZERO, 2.0, 0.0),
    ];
    const AS_IT_CAME: &[(usize, f32)] = &[(0, 0.0), (1, 0.0), (2, 1.0), (3, 0.0), (4, -1.0), (5, 0.0)];
    let at = |y: f32, z: f32| Vec3::new(0.0, y, z);
    // Positions of both arms' ends in the input pose, with bones of these lengths.
    let diagonal = 2.0 + 2.0 + 2.0 + SHORT;
    let rows = [
        Two {
            what: "two targets already reached",
            bones: DIAGONAL,
            tips: [(3, at(-2.0 - SHORT, diagonal)), (5, at(2.0 + SHORT, diagonal))],
            priorities: [0, 0],
            left: &[(0, 0.0), (1, 0.0), (2, 0.5), (3, 0.0), (4, -0.5), (5, 0.0)],
            near: 1e-6,
        },
        // The oracle's first sweep happens to end there. Least squares shares the turns with the root, within this
        // tolerance.
        Two {
            what: "two targets with an offset",
            bones: FORK,
            tips: [(1, at(-2.0, 2.0)), (2, at(4.0, 2.0))],
            priorities: [0, 0],
            left: &[],
            near: 1e-3,
        },
        Two {
            what: "two targets straight out of reach",
            bones: ARMS,
            tips: [(3, at(-5.0, 4.0)), (5, at(5.0, 4.0))],
            priorities: [0, 0],
            left: AS_IT_CAME,
            near: 1e-3,
        },
        Two {
            what: "two targets with offsets, already reached",
            bones: OFFSET,
            tips: [(3, at(-4.0, 4.0)), (5, at(8.0, 4.0))],
            priorities: [0, 0],
            left: AS_IT_CAME,
            near: 1e-6,
        },
        Two {
            what: "one of two targets slightly out of reach",
            bones: ARMS,
            tips: [(3, at(-4.0, 4.0)), (5, at(4.01, 4.0))],
            priorities: [0, 0],
            left: AS_IT_CAME,
            near: 2e-2,
        },
        Two {
            what: "one target out of reach, the other in reach",
            bones: LIMP,
            tips: [(3, at(-5.0, 5.0)), (5, at(-2.0, 2.0))],
            priorities: [0, 0],
            left: &[(0, 0.5), (1, 0.0), (2, 0.0), (3, 0.0)],
            near: 1e-2,
        },
        Two {
            what: "an effector in the middle of the chain",
            bones: EMBEDDED,
            tips: [(0, at(2.5, 0.0)), (2, at(2.0, 4.5))],
            priorities: [0, 1],
            left: &[(0, -1.0), (1, 1.0)],
            // Both are out of reach, where the cost is flat around the minimum.
            near: 5e-3,
        },
    ];
    for row in rows {
        let mut b = Skeleton::builder();
        for (i, (name, above, offset, _, _)) in row.bones.iter().enumerate() {
            let end = above.map_or(Vec3::ZERO, |a| Vec3::Z * row.bones[a].3);
            assert_eq!(b.add(*name, *above, JointTransform::from_translation(end + *offset)), i);
        }
        let (skeleton, ids) = b.build().unwrap();
        let skeleton = Arc::new(skeleton);
        let mut pose = Pose::rest(&skeleton);
        let angle = |quarters: f32| math::axis_angle(Vec3::X, quarters * std::f32::consts::FRAC_PI_2);
        for (&id, bone) in ids.iter().zip(row.bones) {
            pose.set_rotation(id, angle(bone.4));
        }
        pose.update();
        let tip = |(i, priority): (usize, u8)| {
            Effector::new(ids[i]).with_priority(priority).with_offset(Vec3::Z * row.bones[i].3)
        };
        let tips = [0, 1].map(|n| tip((row.tips[n].0, row.priorities[n])));
        let full_body = FullBody::new(&skeleton, ids[0], &tips).unwrap();
        let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
        let goals = row.tips.map(|(_, at)| Goal::position(at));
        full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
        for &(i, quarters) in row.left {
            let off = math::angle_between(pose.local(ids[i]).rotation, angle(quarters));
            assert!(off <= row.near, "{}: {} is {off:e} off", row.what, row.bones[i].0);
        }
        if row.left.is_empty() {
            for (i, at) in row.tips {
                let end = pose.model(ids[i]).transform_point3(Vec3::Z * row.bones[i].3);
                assert!(end.distance(at) < row.near, "{}: {} misses", row.what, row.bones[i].0);
            }
        }
    }
}
