//! No solver touches the heap in a frame.

use std::sync::Arc;

use sinew::{
    Chain, Goal, JointTransform, Pole, Pose, Skeleton,
    glam::{Quat, Vec3},
    solve::{
        Aim, AimUp, Ccd, Drag, Effector, Fabrik, FreeChain, FullBody, LookAt, LookJoint, LookState, Pin,
        PointChain, TwoBone,
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
    let mut free = FreeChain::from_chain(&skeleton, chain.clone()).unwrap();
    let mut ccd = Ccd::from_chain(&skeleton, chain.clone()).unwrap();
    let mut fabrik = Fabrik::from_chain(&skeleton, chain.clone()).unwrap();
    let tips = [
        Effector::new(ids[3]),
        Effector::new(ids[2]).with_priority(1),
        Effector::new(ids[3]).relative_to(ids[1]),
    ];
    let mut full_body = FullBody::new(&skeleton, ids[0], &tips).unwrap();
    let mut drag = Drag::new(&Pose::rest(&skeleton), ids[0], tips[0], &[Pin::place(ids[2])]).unwrap();
    let line = [ids[0], ids[1]].map(|joint| LookJoint { joint, share: 0.5, cone: 1.0 });
    let (mut look, mut state) = (LookAt::new(&skeleton, &line, Vec3::Z).unwrap(), LookState::default());
    let mut points: Vec<Vec3> = (0..12).map(|i| Vec3::Y * i as f32).collect();
    let mut point_chain = PointChain::new(&points).unwrap();
    let mut limb = TwoBone::from_chain(&skeleton, chain, ids[2]).unwrap();
    limb.soft = 0.05;
    limb.swivel = 0.1;
    let aim = Aim {
        offset: Vec3::new(0.0, 0.1, 0.1),
        up: Some(AimUp { axis: Vec3::Y, direction: Vec3::Y }),
        ..Aim::new(ids[0], Vec3::Z)
    };
    let mut pose = Pose::rest(&skeleton);

    let counted = allocation_counter::measure(|| {
        for i in 0..100 {
            let f = i as f32 * 0.1;
            let goal = Goal {
                position_weight: 0.01 * f,
                pole: Pole::Direction(Vec3::Z),
                ..Goal::at(Vec3::new(f.sin(), f.cos(), 0.5)).with_rotation(Quat::from_rotation_y(f))
            };
            limb.solve(&mut pose, &goal).unwrap();
            free.solve(&mut pose, &goal).unwrap();
            ccd.solve(&mut pose, &goal).unwrap();
            fabrik.solve(&mut pose, &goal).unwrap();
            let plain = Goal { pole: Pole::Keep, ..goal };
            full_body.soft = 0.1 * (i % 2) as f32;
            full_body.solve(&mut pose, &[plain, Goal::at(Vec3::Y * f), Goal::at(Vec3::X)]).unwrap();
            drag.to(&mut pose, Goal::at(Vec3::new(0.2, 0.1, 0.01 * f))).unwrap();
            look.solve(&mut pose, Vec3::new(f.cos(), 1.0, 3.0), &mut state).unwrap();
            point_chain.solve(&mut points, goal.position.unwrap_or_default() * f).unwrap();
            aim.solve(&mut pose, Vec3::new(f.cos(), 1.0, 3.0 * f.sin())).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");

    // The counter counts.
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
            let method = if i % 2 == 0 { planar::Method2d::Ccd } else { planar::Method2d::Fabrik };
            let goal = Vec2::new(f.sin(), f.cos()) * (f * 0.15);
            chain.solve(goal, &planar::Options2d { method, ..Default::default() }).unwrap();
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
        solve::{Auto, Ccd, DampedLeastSquares, Fabrik, Follow, TraceStep},
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
    let mut ccd = Ccd::new(&skeleton, ids[0], ids[8]).unwrap();
    let mut fabrik = Fabrik::new(&skeleton, ids[0], ids[8]).unwrap();
    let mut squares = DampedLeastSquares::new(&skeleton, ids[0], ids[8]).unwrap();
    let mut auto = Auto::new(&skeleton, ids[0], ids[8]).unwrap();
    let mut follow = Follow::new(&skeleton, ids[0], ids[8]).unwrap();
    let mut told = 0;
    let mut pose = Pose::rest(&skeleton);
    let counted = allocation_counter::measure(|| {
        for i in 0..40 {
            let f = i as f32;
            let weight = if i % 3 == 0 { 0.5 } else { 1.0 };
            let max_turn = if i % 4 == 0 { 0.1 } else { f32::INFINITY };
            for settings in [&mut ccd.settings, &mut fabrik.settings, &mut squares.settings] {
                (settings.weight, settings.max_turn, settings.max_restarts) =
                    (weight, max_turn, i as u32 % 3);
            }
            (auto.weight, auto.max_turn) = (weight, max_turn);
            fabrik.closes_circle = i % 2 == 0;
            let at = Vec3::new(f.sin(), 0.5 + f.cos(), (0.7 * f).sin()) * 5.0;
            // Weights between 0 and 1 solve some times over, goals out of reach start anew.
            let goal = Goal { rotation_weight: 0.4, position_weight: 0.6, ..Goal::at(at) }
                .with_rotation(Quat::from_rotation_y(f))
                .with_pole(Pole::Direction(Vec3::Z));
            let mut watch = |_: TraceStep<'_>| {
                told += 1;
                ControlFlow::Continue(())
            };
            ccd.solve_traced(&mut pose, &goal, &mut watch).unwrap();
            fabrik.solve_traced(&mut pose, &Goal::at(at), &mut watch).unwrap();
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
    let mut spline = Spline::new(&skeleton, ids[0], ids[20]).unwrap();
    let mut pose = Pose::rest(&skeleton);
    let counted = allocation_counter::measure(|| {
        for i in 0..60 {
            spline.offset = 0.1 * i as f32;
            spline.reversed = i % 3 == 0;
            spline.weight = if i % 4 == 0 { 0.5 } else { 1.0 };
            spline.roll = [Roll::Keep, Roll::Frames { axis: Vec3::Y, twist: [0.1, 1.0] }][i % 2];
            spline.fit = [Fit::Whole, Fit::Stretched { shortest: 0.5, longest: 2.0 }][i / 2 % 2];
            points[i % 9].y = 0.01 * i as f32;
            let curve = &mut curves[i % 2];
            curve.set_points(&points).unwrap();
            spline.solve(&mut pose, curve).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}
