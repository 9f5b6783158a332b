//! Judges broken poses: every solver refuses joints without a rotation or with a scale of zero by name, and leaves the pose
//! as it is. Rotations that have a direction but no unit length are normalised.

use crate::held;
use crate::promises::judge;

use std::sync::Arc;

use held::held;
use sinew::{
    Chain, Goal, JointId, JointTransform, Pose, Skeleton, Workspace,
    glam::{Quat, Vec3},
    math,
    solve::{
        Aim, Auto, Ccd, Drag, Effector, Fabrik, FabrikTree, Fold, Follow, FreeChain, FullBody,
        FullBodyOptions, IterativeOptions, LimbOptions, LookAt, LookJoint, Options, Spline, TwoBone,
        spline::{Curve, CurveKind, CurveUp},
    },
};

/// Result of a solver: the reported distance, or the error's text.
type Answer = Result<f32, String>;

type Solve = Box<dyn FnMut(&mut Pose, Vec3) -> Answer>;

/// A column of five joints below two more, and one joint beside it.
fn column() -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut last = b.add("j0", None, JointTransform::IDENTITY);
    for i in 1..7 {
        last =
            b.add(format!("j{i}"), Some(last), JointTransform::from_translation(Vec3::new(0.1, 0.9, -0.1)));
    }
    b.add("beside", Some(1), JointTransform::from_translation(Vec3::X));
    let (skeleton, ids) = b.build().unwrap();
    (Arc::new(skeleton), ids)
}

/// Every solver that takes a pose, on the joints `j2` to `j6`, with a goal.
fn solvers(skeleton: &Arc<Skeleton>, ids: &[JointId]) -> Vec<(&'static str, Solve)> {
    let (root, middle, tip) = (ids[2], ids[4], ids[6]);
    let text = |e: &dyn std::fmt::Display| e.to_string();
    macro_rules! chain {
        ($kind:ident) => {{
            let mut solver = held($kind::new(skeleton, root, tip).unwrap());
            Box::new(move |pose: &mut Pose, goal: Vec3| {
                solver.solve(pose, &Goal::position(goal)).map(|r| r.position_residual).map_err(|e| text(&e))
            }) as Solve
        }};
    }
    let limb = TwoBone::new(skeleton, root, middle, tip).unwrap();
    let mut follow = held(Follow::new(skeleton, root, tip).unwrap());
    let mut spline = held(Spline::new(skeleton, root, tip).unwrap());
    let full_body = FullBody::new(skeleton, root, &[Effector::new(tip)]).unwrap();
    let tree = FabrikTree::new(skeleton, root, &[Effector::new(tip)]).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    let mut drag = Drag::new(&Pose::rest(skeleton), root, Effector::new(tip), &[]).unwrap();
    let line = [
        LookJoint::new(root).with_share(0.5).with_cone(1.0),
        LookJoint::new(tip).with_share(1.0).with_cone(1.0),
    ];
    let look = LookAt::new(skeleton, &line, Vec3::Y).unwrap();
    vec![
        (
            "limb",
            Box::new(move |p, g| {
                limb.solve(p, &Goal::position(g), &LimbOptions::new())
                    .map(|r| r.position_residual)
                    .map_err(|e| text(&e))
            }),
        ),
        (
            "aim",
            Box::new(move |p, g| {
                Aim::new(tip, Vec3::Y)
                    .solve(p, g, &Options::new())
                    .map(|r| r.position_residual)
                    .map_err(|e| text(&e))
            }),
        ),
        ("free", chain!(FreeChain)),
        ("auto", chain!(Auto)),
        ("ccd", chain!(Ccd)),
        ("fabrik", chain!(Fabrik)),
        ("fold", chain!(Fold)),
        (
            "follow",
            Box::new(move |p, g| follow.solve(p, g).map(|r| r.position_residual).map_err(|e| text(&e))),
        ),
        (
            "spline",
            Box::new(move |p, g| {
                let points = [Vec3::ZERO, g, g + Vec3::Y, g + Vec3::Y * 5.0];
                let curve =
                    Curve::new(CurveKind::CatmullRom, &points, false, CurveUp::Direction(Vec3::Z)).unwrap();
                spline.solve(p, &curve).map(|r| r.report.position_residual).map_err(|e| text(&e))
            }),
        ),
        (
            "fabrik tree",
            Box::new(move |p, g| {
                tree.solve(&mut Workspace::new(), p, &[Goal::position(g)], &IterativeOptions::new())
                    .map(|r| r.position_residual)
                    .map_err(|e| text(&e))
            }),
        ),
        (
            "full body",
            Box::new(move |p, g| {
                full_body
                    .solve(&mut workspace, p, &[Goal::position(g)], &options)
                    .map(|r| r.position_residual)
                    .map_err(|e| text(&e))
            }),
        ),
        (
            "drag",
            Box::new(move |p, g| {
                drag.to(&mut Workspace::new(), p, &Goal::position(g), &Drag::OPTIONS)
                    .map(|r| r.position_residual)
                    .map_err(|e| text(&e))
            }),
        ),
        (
            "look",
            Box::new(move |p, g| {
                look.solve(&mut look.state(), p, g, &Options::new())
                    .map(|r| r.report.position_residual)
                    .map_err(|e| text(&e))
            }),
        ),
    ]
}

const GOAL: Vec3 = Vec3::new(1.0, 3.5, 0.8);

#[test]
fn solvers_name_a_joint_without_rotation_or_with_zero_scale() {
    let (skeleton, ids) = column();
    for (name, mut solve) in solvers(&skeleton, &ids) {
        for &bad in &ids[..6] {
            let rest = *skeleton.rest(bad);
            for local in [
                JointTransform { rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), ..rest },
                JointTransform { rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 0.1), ..rest },
                JointTransform { rotation: Quat::from_xyzw(0.0, 0.0, 0.0, 5.0), ..rest },
                JointTransform { scale: Vec3::ZERO, ..rest },
                JointTransform { scale: Vec3::new(1.0, 0.0, 1.0), ..rest },
                JointTransform { scale: Vec3::new(1.0, 1.0, -0.0), ..rest },
            ] {
                for updated in [false, true] {
                    let mut pose = Pose::rest(&skeleton);
                    pose.set_local(bad, local);
                    if updated {
                        pose.update();
                    }
                    let before = pose.locals().to_vec();
                    let error = solve(&mut pose, GOAL).expect_err(name);
                    let says = error.contains(skeleton.name(bad)) && !error.contains("NaN");
                    assert!(says, "{name}, {} {local:?}: {error}", skeleton.name(bad));
                    assert_eq!(pose.locals(), before, "{name}");
                }
            }
        }
    }
}

#[test]
fn joints_that_a_solver_does_not_stand_on_may_be_hidden() {
    let (skeleton, ids) = column();
    for (at, (name, _)) in solvers(&skeleton, &ids).into_iter().enumerate() {
        // (A drag has state, so each solve has a new one.)
        let solve = |pose: &mut Pose, goal| solvers(&skeleton, &ids).swap_remove(at).1(pose, goal);
        let mut wanted = Pose::rest(&skeleton);
        let reported = solve(&mut wanted, GOAL).unwrap();
        // A fault beside the chain is ignored, and so is the tip's own scale where the solver does not use its axes.
        let mut hidden = vec![ids[7]];
        if !["aim", "look"].contains(&name) {
            hidden.push(ids[6]);
        }
        for joint in hidden {
            let mut pose = Pose::rest(&skeleton);
            pose.set_local(joint, JointTransform { scale: Vec3::ZERO, ..*skeleton.rest(joint) });
            assert_eq!(solve(&mut pose, GOAL), Ok(reported), "{name} with {} hidden", skeleton.name(joint));
            for id in &ids {
                assert_eq!(pose.local(*id).rotation, wanted.local(*id).rotation, "{name}");
            }
        }
    }
}

#[test]
fn rotations_of_another_length_are_taken_at_unit_length() {
    let (skeleton, ids) = column();
    for (at, (name, _)) in solvers(&skeleton, &ids).into_iter().enumerate() {
        let solve = |pose: &mut Pose, goal| solvers(&skeleton, &ids).swap_remove(at).1(pose, goal);
        let (mut plain, mut long) = (Pose::rest(&skeleton), Pose::rest(&skeleton));
        for (i, &id) in ids.iter().enumerate() {
            let q = math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.1 + 0.05 * i as f32);
            plain.set_rotation(id, q);
            let l = [1.2, 0.8, 1.01][i % 3];
            long.set_rotation(id, Quat::from_xyzw(q.x * l, q.y * l, q.z * l, q.w * l));
        }
        let frame = long.model(ids[5]).translation;
        let (a, b) = (solve(&mut plain, GOAL).unwrap(), solve(&mut long, GOAL).unwrap());
        assert!((a - b).abs() < 1e-4, "{name}: {a} and {b}");
        for &id in &ids {
            let off = judge::length(judge::sub(judge::position(&plain, id), judge::position(&long, id)));
            assert!(off < 1e-3, "{name}: joint {id} is {off} off");
            let seen = judge::length(judge::sub(judge::position(&long, id), judge::v(long.position(id))));
            assert!(seen < 1e-5, "{name}: the pose has joint {id} {seen} off");
        }
        long.reset();
        for (i, &id) in ids.iter().enumerate() {
            long.set_rotation(id, math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.1 + 0.05 * i as f32));
        }
        assert!((long.position(ids[5]) - frame).length() < 1e-5, "{name}: {frame} before the update");
    }
}

#[test]
fn builders_refuse_what_is_no_rotation_and_bring_others_to_unit_length() {
    let build = |l: f32| {
        let mut b = Skeleton::builder();
        b.add("fine", None, JointTransform::IDENTITY);
        let rotation = Quat::from_xyzw(0.48 * l, -0.6 * l, 0.64 * l, 0.0);
        b.add("odd", Some(0), JointTransform { rotation, ..JointTransform::IDENTITY });
        b.build()
    };
    for l in [0.0, 1e-20, 0.49, 2.01, 1e18] {
        let text = build(l).expect_err("no rotation").to_string();
        assert!(text.contains("joint 1 `odd`") && !text.contains('\n'), "{text}");
    }
    for l in [0.51, 0.9, 1.0 - 1e-6, 1.0 + 1e-6, 1.1, 1.99] {
        let (skeleton, ids) = build(l).unwrap();
        let q = skeleton.rest(ids[1]).rotation;
        assert!((math::dot(q, q) - 1.0).abs() < 5e-7 && (q.x - 0.48).abs() < 1e-6, "{l}: {q}");
    }
    // A quaternion of unit length to rounding keeps its bits.
    let (skeleton, ids) = build(1.0 + 1e-7).unwrap();
    assert_eq!(skeleton.rest(ids[1]).rotation.x, 0.48 * (1.0 + 1e-7));
}

/// Frames whose squares overflow f32 are refused by every solver that turns joints below them, and the pose stays. A free
/// chain used to leave joints without a rotation.
#[test]
fn frames_that_are_too_large_to_square_are_refused() {
    for huge in [1e18, 1e20, 1e30] {
        let mut b = Skeleton::builder();
        let mut last = b.add("j0", None, JointTransform::IDENTITY);
        for i in 1..7 {
            let scale = Vec3::splat(if i == 3 || i == 4 { huge } else { 1.0 });
            let local =
                JointTransform { translation: Vec3::new(0.1, 0.9, -0.1), scale, ..JointTransform::IDENTITY };
            last = b.add(format!("j{i}"), Some(last), local);
        }
        let (skeleton, ids) = b.build().unwrap();
        let skeleton = Arc::new(skeleton);
        for (name, mut solve) in solvers(&skeleton, &ids) {
            let mut pose = Pose::rest(&skeleton);
            let answer = solve(&mut pose, Vec3::new(3.0, 2.0, 1.0));
            let sound = pose.locals().iter().all(|l| l.is_finite());
            assert!(sound, "{name}, {huge}: {answer:?}");
            if answer.is_err() {
                assert_eq!(pose.locals(), Pose::rest(&skeleton).locals(), "{name}, {huge}");
            }
        }
    }
}

/// As above for the tip's own frame, where the chain has an offset: its end's position overflows.
#[test]
fn a_tip_that_is_too_large_to_square_its_offset_is_refused() {
    for huge in [1e20, 1e25] {
        let mut b = Skeleton::builder();
        let mut last = b.add("0", None, JointTransform::IDENTITY);
        for (i, scale) in [1.0, 1.0, huge].into_iter().enumerate() {
            let local = JointTransform {
                translation: Vec3::new(0.1, 0.9, -0.1),
                scale: Vec3::splat(scale),
                ..JointTransform::IDENTITY
            };
            last = b.add(format!("{}", i + 1), Some(last), local);
        }
        let (skeleton, ids) = b.build().unwrap();
        let chain = Chain::new(&skeleton, ids[0], ids[3]).unwrap();
        let chain = chain.with_tip_offset(&skeleton, Vec3::Y).unwrap();
        let mut free = held(FreeChain::from_chain(&skeleton, chain).unwrap());
        let rest = Pose::rest(&Arc::new(skeleton));
        for max_turn in [0.1, f32::INFINITY] {
            free.options.max_turn = max_turn;
            let mut pose = rest.clone();
            let refused = free.solve(&mut pose, &Goal::position(Vec3::X));
            assert!(refused.is_err(), "{huge}, {max_turn}: {refused:?}");
            assert_eq!(pose.locals(), rest.locals());
        }
    }
}

/// The error shows the non-finite part of a frame: its position or, where that is finite, an axis.
#[test]
fn frames_whose_axes_overflow_show_them() {
    let (skeleton, ids) = column();
    for (name, mut solve) in solvers(&skeleton, &ids) {
        let mut pose = Pose::rest(&skeleton);
        for &joint in &ids[..2] {
            pose.set_local(
                joint,
                JointTransform { scale: Vec3::new(1.0, 1e20, 1.0), ..JointTransform::IDENTITY },
            );
        }
        for &joint in &ids[2..] {
            pose.set_local(joint, JointTransform::IDENTITY);
        }
        pose.update();
        let error = solve(&mut pose, Vec3::X).expect_err(name);
        assert!(error.contains("inf") || error.contains("NaN"), "{name}: {error}");
    }
}
