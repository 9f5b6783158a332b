//! Judges, by a counting allocator, that solves allocate nothing after the first frame.

use crate::held;

use std::sync::Arc;

use held::reserved;
use sinew::{
    Chain, Goal, JointTransform, Pole, Pose, Skeleton, Workspace,
    glam::{Quat, Vec3},
    solve::{
        Aim, AimUp, Ccd, Drag, Effector, Fabrik, FabrikTree, Fold, FreeChain, FullBody, FullBodyOptions,
        IterativeOptions, LimbOptions, LookAt, LookJoint, Options, Pin, PointChain, TwoBone,
    },
};

#[test]
fn solving_allocates_nothing() {
    let mut b = Skeleton::builder();
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = b.add("hips", None, at(0.0, 1.0, 0.0));
    let thigh = b.add("thigh", Some(hips), at(0.1, 0.0, 0.0));
    let shin = b.add("shin", Some(thigh), at(0.0, -0.45, 0.02));
    b.add("foot", Some(shin), at(0.0, -0.45, -0.02));
    let (skeleton, ids) = b.build().unwrap();
    let skeleton = Arc::new(skeleton);
    let chain =
        Chain::new(&skeleton, ids[1], ids[3]).unwrap().with_tip_offset(&skeleton, Vec3::NEG_Y * 0.1).unwrap();
    let mut free = reserved(FreeChain::from_chain(&skeleton, chain.clone()).unwrap());
    let mut ccd = reserved(Ccd::from_chain(&skeleton, chain.clone()).unwrap());
    let mut fabrik = reserved(Fabrik::from_chain(&skeleton, chain.clone()).unwrap());
    let mut fold = reserved(Fold::from_chain(&skeleton, chain.clone()).unwrap());
    let tips = [
        Effector::new(ids[3]),
        Effector::new(ids[2]).with_priority(1),
        Effector::new(ids[3]).with_relative_to(ids[1]),
    ];
    let full_body = FullBody::new(&skeleton, ids[0], &tips).unwrap();
    let tree = FabrikTree::new(&skeleton, ids[0], &tips[..1]).unwrap();
    let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
    let mut drag = Drag::new(&Pose::rest(&skeleton), ids[0], tips[0], &[Pin::place(ids[2])]).unwrap();
    let line = [ids[0], ids[1]].map(|joint| LookJoint::new(joint).with_share(0.5).with_cone(1.0));
    let look = LookAt::new(&skeleton, &line, Vec3::Z).unwrap();
    let mut state = look.state();
    let mut points: Vec<Vec3> = (0..12).map(|i| Vec3::Y * i as f32).collect();
    let mut point_chain = reserved(PointChain::new(&points).unwrap());
    let limb = TwoBone::from_chain(&skeleton, chain, ids[2]).unwrap();
    let aim = Aim {
        offset: Vec3::new(0.0, 0.1, 0.1),
        up: Some(AimUp { axis: Vec3::Y, direction: Vec3::Y }),
        ..Aim::new(ids[0], Vec3::Z)
    };
    let mut pose = Pose::rest(&skeleton);
    full_body.reserve(&mut workspace);
    tree.reserve(&mut workspace);

    let counted = allocation_counter::measure(|| {
        for i in 0..100 {
            let f = i as f32 * 0.1;
            let goal = Goal::position(Vec3::new(f.sin(), f.cos(), 0.5))
                .with_rotation(Quat::from_rotation_y(f))
                .with_position_influence(0.01 * f)
                .with_pole(Pole::Direction(Vec3::Z));
            let bounds = LimbOptions::new().with_soft(0.05).with_max_turn(if i % 2 == 0 {
                0.1
            } else {
                f32::INFINITY
            });
            limb.solve(&mut pose, &goal.with_swivel(0.1), &bounds).unwrap();
            free.solve(&mut pose, &goal).unwrap();
            ccd.solve(&mut pose, &goal).unwrap();
            fabrik.solve(&mut pose, &goal).unwrap();
            fold.solve(&mut pose, &goal).unwrap();
            let plain = goal.with_pole(Pole::Keep);
            options.iterative.soft = 0.1 * (i % 2) as f32;
            full_body
                .solve(
                    &mut workspace,
                    &mut pose,
                    &[plain, Goal::position(Vec3::Y * f), Goal::position(Vec3::X)],
                    &options,
                )
                .unwrap();
            let position =
                Goal::position(goal.position.unwrap_or_default()).with_position_influence(0.01 * f);
            let bound = IterativeOptions::new().with_max_turn(bounds.max_turn);
            tree.solve(&mut workspace, &mut pose, &[position], &bound).unwrap();
            let to = Goal::position(Vec3::new(0.2, 0.1, 0.01 * f));
            drag.to(&mut workspace, &mut pose, &to, &Drag::OPTIONS).unwrap();
            look.solve(&mut state, &mut pose, Vec3::new(f.cos(), 1.0, 3.0), &Options::new()).unwrap();
            point_chain.solve(&mut points, goal.position.unwrap_or_default() * f).unwrap();
            aim.solve(&mut pose, Vec3::new(f.cos(), 1.0, 3.0 * f.sin()), &Options::new()).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");

    // Checks the counter itself.
    let counted = allocation_counter::measure(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(100))));
    assert_eq!(counted.count_total, 1);
}

#[test]
fn chains_in_the_plane_allocate_nothing() {
    use sinew::{glam::Vec2, planar};
    let bones = [planar::Bone2d::new(1.0).with_limits(-2.0, 2.0); 8];
    let mut chain = planar::Chain2d::new(Vec2::ZERO, &bones).unwrap();
    let counted = allocation_counter::measure(|| {
        for i in 0..200 {
            let f = i as f32 * 0.3;
            let method = if i % 2 == 0 { planar::Method2d::CCD } else { planar::Method2d::Fabrik };
            let goal = Vec2::new(f.sin(), f.cos()) * (f * 0.15);
            chain.solve(goal, &planar::Options2d::new().with_method(method)).unwrap();
            chain.follow(goal, planar::Lead::Tip).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn sweeping_and_following_allocates_nothing() {
    use core::ops::ControlFlow;

    use sinew::{
        joint::{Dof, Joint},
        solve::{Auto, Ccd, DampedLeastSquares, Fabrik, Fold, Follow, IterativeOptions, TraceStep},
    };
    let mut b = Skeleton::builder();
    let mut last = b.add("0", None, JointTransform::IDENTITY);
    for i in 1..=8 {
        last = b.add(format!("{i}"), Some(last), JointTransform::from_translation(Vec3::Y));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for (i, &id) in ids[..8].iter().enumerate() {
        let joint = match i % 3 {
            0 => Joint::cone(Vec3::Y, 0.8, 0.5),
            1 => Joint::hinge(Vec3::X, Dof::range(-1.0, 1.0)),
            _ => Joint::axes([Some(Dof::range(-0.5, 0.5)), None, Some(Dof::FREE)]),
        };
        skeleton.set_joint(id, joint).unwrap();
    }
    let skeleton = Arc::new(skeleton);
    let mut ccd = reserved(Ccd::new(&skeleton, ids[0], ids[8]).unwrap());
    let mut fabrik = reserved(Fabrik::new(&skeleton, ids[0], ids[8]).unwrap());
    let mut fold = reserved(Fold::new(&skeleton, ids[0], ids[8]).unwrap());
    let mut squares = reserved(DampedLeastSquares::new(&skeleton, ids[0], ids[8]).unwrap());
    let mut auto = reserved(Auto::new(&skeleton, ids[0], ids[8]).unwrap());
    let mut follow = reserved(Follow::new(&skeleton, ids[0], ids[8]).unwrap());
    let mut told = 0;
    let mut pose = Pose::rest(&skeleton);
    let counted = allocation_counter::measure(|| {
        for i in 0..40 {
            let f = i as f32;
            let influence = if i % 3 == 0 { 0.5 } else { 1.0 };
            let max_turn = if i % 4 == 0 { 0.1 } else { f32::INFINITY };
            auto.options = IterativeOptions::new().with_influence(influence).with_max_turn(max_turn);
            let options = auto.options.with_max_restarts(i as u32 % 3);
            (ccd.options, fabrik.options, squares.options) = (options, options, options);
            fold.options = options;
            fabrik.closes_circle = i % 2 == 0;
            let at = Vec3::new(f.sin(), 0.5 + f.cos(), (0.7 * f).sin()) * 5.0;
            // Influences between 0 and 1 solve several times; goals out of reach restart.
            let goal = Goal::position(at)
                .with_rotation_influence(0.4)
                .with_position_influence(0.6)
                .with_rotation(Quat::from_rotation_y(f))
                .with_pole(Pole::Direction(Vec3::Z));
            let mut watch = |_: TraceStep<'_>| {
                told += 1;
                ControlFlow::Continue(())
            };
            ccd.solve_traced(&mut pose, &goal, &mut watch).unwrap();
            fabrik.solve_traced(&mut pose, &Goal::position(at), &mut watch).unwrap();
            fold.solve_traced(&mut pose, &goal, &mut watch).unwrap();
            squares.solve_traced(&mut pose, &goal, &mut watch).unwrap();
            auto.solve(&mut pose, &goal).unwrap();
            follow.solve(&mut pose, at).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    assert!(told > 1000, "{told}");
}

#[test]
fn laying_a_chain_along_a_curve_that_moves_allocates_nothing() {
    use sinew::solve::{
        Spline,
        spline::{Curve, CurveKind, CurveUp, Fit, Roll},
    };
    let mut b = Skeleton::builder();
    let mut last = b.add("0", None, JointTransform::IDENTITY);
    for i in 1..=20 {
        last = b.add(format!("{i}"), Some(last), JointTransform::from_translation(Vec3::Z * 0.3));
    }
    let (skeleton, ids) = b.build().unwrap();
    let skeleton = Arc::new(skeleton);
    let mut points: Vec<Vec3> =
        (0..9).map(|i| Vec3::new((0.7 * i as f32).sin(), 0.0, (0.7 * i as f32).cos())).collect();
    let mut curves = [true, false]
        .map(|closed| Curve::new(CurveKind::CatmullRom, &points, closed, CurveUp::Carried(Vec3::Y)).unwrap());
    let mut spline = reserved(Spline::new(&skeleton, ids[0], ids[20]).unwrap());
    let mut pose = Pose::rest(&skeleton);
    let counted = allocation_counter::measure(|| {
        for i in 0..60 {
            spline.options.offset = 0.1 * i as f32;
            spline.options.reversed = i % 3 == 0;
            spline.options.influence = if i % 4 == 0 { 0.5 } else { 1.0 };
            spline.options.roll = [Roll::Keep, Roll::Frames { axis: Vec3::Y, twist: [0.1, 1.0] }][i % 2];
            spline.options.fit = [Fit::Whole, Fit::Stretched { shortest: 0.5, longest: 2.0 }][i / 2 % 2];
            points[i % 9].y = 0.01 * i as f32;
            let curve = &mut curves[i % 2];
            curve.set_points(&points).unwrap();
            spline.solve(&mut pose, curve).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

/// Makes the first solves of two chains in one workspace, the short one first, and counts the allocations of alternating
/// further solves.
fn share_a_workspace(name: &str, mut solve: impl FnMut(&mut Workspace, usize, usize)) {
    let mut workspace = Workspace::new();
    for which in [0, 1] {
        solve(&mut workspace, which, 0);
    }
    let counted = allocation_counter::measure(|| {
        for (frame, which) in (1..40).flat_map(|frame| [(frame, 0), (frame, 1)]) {
            solve(&mut workspace, which, frame);
        }
    });
    assert_eq!(counted.count_total, 0, "{name}: {counted:?}");
}

#[test]
fn chains_of_two_lengths_share_a_workspace_and_allocate_nothing() {
    use sinew::{
        joint::{Dof, Joint},
        solve::{
            Auto, ChainSolver, DampedLeastSquares, Follow, FollowOptions, IterativeOptions, Lead,
            PointChainOptions, Spline, SplineOptions,
            spline::{Curve, CurveKind, CurveUp, Fit, Roll},
        },
    };
    let mut b = Skeleton::builder();
    let mut last = b.add("0", None, JointTransform::IDENTITY);
    for i in 1..=20 {
        last = b.add(format!("{i}"), Some(last), JointTransform::from_translation(Vec3::Y * 0.2));
    }
    let (free, ids) = b.build().unwrap();
    let mut limited = free.clone();
    for (i, &id) in ids[..20].iter().enumerate() {
        let joint = match i % 2 {
            0 => Joint::cone(Vec3::Y, 0.8, 0.5),
            _ => Joint::hinge(Vec3::X, Dof::range(-1.0, 1.0)),
        };
        limited.set_joint(id, joint).unwrap();
    }
    let (free, limited) = (Arc::new(free), Arc::new(limited));
    // (The short chain is a child of one of the long one's first joints.)
    let ends = [(ids[2], ids[5]), (ids[0], ids[20])];
    let place = |frame: usize| {
        let f = frame as f32;
        Vec3::new(f.sin(), 0.5 + f.cos(), (0.7 * f).sin()) * [0.5, 2.0, 6.0][frame % 3]
    };

    let iterate = |name: &str, skeleton: &Arc<Skeleton>, solvers: [Box<dyn ChainSolver>; 2]| {
        let mut poses = [(); 2].map(|()| Pose::rest(skeleton));
        share_a_workspace(name, |workspace, which, frame| {
            let (mut goal, mut options) = (Goal::position(place(frame)), IterativeOptions::new());
            // Larger solves come after the first ones.
            if frame > 0 {
                options = options.with_max_restarts(frame as u32 % 3);
                if frame % 2 == 0 {
                    goal =
                        goal.with_rotation(Quat::from_rotation_y(frame as f32)).with_rotation_influence(0.4);
                }
                if frame % 3 == 0 {
                    goal = goal.with_pole(Pole::Direction(Vec3::Z));
                }
                if frame % 4 == 0 {
                    options = options.with_influence(0.5);
                }
                if frame % 5 < 2 {
                    options = options.with_max_turn(0.1);
                }
            }
            solvers[which].solve(workspace, &mut poses[which], &goal, &options).unwrap();
        });
    };
    macro_rules! pair {
        ($solver:ident, $skeleton:expr) => {
            iterate(
                concat!(stringify!($solver), " ", stringify!($skeleton)),
                &$skeleton,
                ends.map(|(a, b)| Box::new($solver::new(&$skeleton, a, b).unwrap()) as Box<dyn ChainSolver>),
            )
        };
    }
    pair!(Auto, free);
    pair!(Auto, limited);
    pair!(Ccd, limited);
    pair!(Fabrik, limited);
    pair!(Fold, limited);
    pair!(DampedLeastSquares, limited);
    pair!(FreeChain, free);

    let follow = ends.map(|(a, b)| Follow::new(&limited, a, b).unwrap());
    let mut poses = [(); 2].map(|()| Pose::rest(&limited));
    share_a_workspace("Follow", |workspace, which, frame| {
        let options = FollowOptions::new()
            .with_lead([Lead::Tip, Lead::Root][frame % 2])
            .with_influence([1.0, 0.5, 1.0][frame % 3]);
        follow[which].solve(workspace, &mut poses[which], place(frame), &options).unwrap();
    });

    let points: Vec<Vec3> = (0..9).map(|i| place(3 * i)).collect();
    let curve = Curve::new(CurveKind::CatmullRom, &points, true, CurveUp::Carried(Vec3::Y)).unwrap();
    let spline = ends.map(|(a, b)| Spline::new(&limited, a, b).unwrap());
    let mut poses = [(); 2].map(|()| Pose::rest(&limited));
    share_a_workspace("Spline", |workspace, which, frame| {
        let options = SplineOptions::new()
            .with_offset(0.1 * frame as f32)
            .with_influence([1.0, 0.5, 1.0][frame % 3])
            .with_roll([Roll::Keep, Roll::Frames { axis: Vec3::X, twist: [0.1, 1.0] }][frame % 2])
            .with_fit([Fit::Whole, Fit::Stretched { shortest: 0.5, longest: 2.0 }][frame / 2 % 2]);
        spline[which].solve(workspace, &mut poses[which], &curve, &options).unwrap();
    });

    let mut points = [4, 40].map(|count| (0..count).map(|i| Vec3::Y * 0.1 * i as f32).collect::<Vec<_>>());
    let chains = [0, 1].map(|which| PointChain::new(&points[which]).unwrap());
    share_a_workspace("PointChain", |workspace, which, frame| {
        let options = PointChainOptions::new().with_soft(0.1 * (frame % 2) as f32);
        chains[which].solve(workspace, &mut points[which], place(frame), &options).unwrap();
    });
}
