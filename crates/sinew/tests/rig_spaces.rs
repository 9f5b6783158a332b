//! Judges spaces of goals: that a change of space moves nothing, that a role's frame is the same for figures of other sizes,
//! fronts and axes, and that spaces which cannot be are refused by name. Frames are computed in f64, apart from the engine.

use crate::rig_figure;

use std::sync::Arc;

use sinew::{
    Goal, JointTransform, Placement, Pole, Pose, Skeleton, Workspace,
    body::{ArmJoints, BodyRoles, Role, Side},
    glam::{Affine3, DQuat, DVec3, Quat, Vec3},
    math,
    rig::{
        EffectorSpec, GoalSpec, HandleSolver, HandleSpec, Rig, RigError, RigFrame, RigGoal, RigSpec,
        RigState, Space,
    },
};

use rig_figure::{Noise, arm, figure, place, turned};

#[test]
fn a_change_of_space_moves_nothing() {
    let (bind, body) = figure(1.0, 0.4, 7);
    let arms = Side::BOTH.map(|side| arm(&body, side));
    let rig = Rig::new(&bind, Some(&body), &RigSpec::new(arms.to_vec())).unwrap();
    let (mut state, mut workspace, mut noise) = (rig.state(), Workspace::new(), Noise(1));
    let spaces = [
        Space::Model,
        Space::World,
        Space::Joint(body.head.unwrap()),
        Space::Role(Role::Head),
        Space::Role(Role::Foot(Side::Left)),
    ];
    let mut worst = [0.0f64; 2];
    for trial in 0..200 {
        let pose = turned(&bind, &mut noise, 0.8);
        // Up to 50 m from the origin, half of them mirrored.
        let scale = if trial % 2 == 0 { 1.3 } else { -0.7 };
        let linear = math::to_matrix(noise.turn()) * scale;
        let placement =
            Placement::new(Affine3 { matrix3: linear, translation: noise.vector() * 50.0 }).unwrap();
        let goal = Goal::position(pose.position(body.arm(Side::Left).unwrap().hand) + 0.1 * noise.vector())
            .with_rotation(noise.turn())
            .with_swivel(noise.next());
        let goal = match trial % 3 {
            0 => goal,
            1 => goal.with_pole(Pole::Point(noise.vector())),
            _ => goal.with_pole(Pole::Direction(noise.vector())),
        };
        let from = RigGoal::from(goal);
        let mut solve = |goal: RigGoal| {
            let mut solved = pose.clone();
            let goals = [goal, RigGoal::new()];
            let frame = RigFrame::new(0.1).with_goals(&goals).with_placement(placement);
            rig.apply(&mut state, &mut workspace, &mut solved, &frame).unwrap();
            solved
        };
        let before = solve(from);
        for to in spaces {
            for pole_to in spaces {
                let there = rig.convert(0, &from, [to, pole_to], &pose, &placement).unwrap();
                assert_eq!((there.space, there.pole_space), (Some(to), Some(pole_to)));
                let back = rig.convert(0, &there, [Space::Model; 2], &pose, &placement).unwrap();
                for solved in [solve(there), solve(back)] {
                    for j in bind.skeleton().joints() {
                        let [(p, q), (r, s)] = [&before, &solved].map(|pose| place(pose, j));
                        worst[0] = worst[0].max(p.distance(r));
                        worst[1] = worst[1].max(q.angle_between(s));
                    }
                }
            }
        }
    }
    // The world's positions have digits of 4e-6 m at 50 m.
    assert!(worst[0] < 1e-4 && worst[1] < 1e-3, "{worst:?}");
    assert!(worst[0] > 0.0);
}

#[test]
fn goals_of_roles_are_shared_by_figures_of_other_sizes_fronts_and_axes() {
    // What each figure does is compared as its own frame sees it.
    let seen = |size: f32, facing: f32, axes: u64| {
        let (bind, body) = figure(size, facing, axes);
        let spec = RigSpec { height: Some(1.8 * size), ..RigSpec::new(vec![arm(&body, Side::Right)]) };
        let rig = Rig::new(&bind, Some(&body), &spec).unwrap();
        let mut pose = bind.clone();
        // The figure bows: the head's frame moves.
        let left = math::rotate(math::axis_angle(Vec3::Y, facing), Vec3::X);
        pose.turn(body.spine[0], math::axis_angle(left, 0.6));
        pose.update();
        let goal = Goal::position(Vec3::new(-0.15, -0.1, 0.35))
            .with_rotation(math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7))
            .with_pole(Pole::Direction(Vec3::new(-1.0, -1.0, 0.0)));
        let goals = [RigGoal::from(goal).with_space(Space::Role(Role::Head))];
        let frame = RigFrame::new(0.1).with_goals(&goals);
        let mut state = rig.state();
        let report = rig.apply(&mut state, &mut Workspace::new(), &mut pose, &frame).unwrap();
        assert!(report.handles[0].report.reached());
        let arm = body.arm(Side::Right).unwrap();
        let back = DQuat::from_rotation_y(-f64::from(facing));
        [arm.upper_arm, arm.forearm, arm.hand].map(|j| {
            let [(at, q), (_, bound)] = [&pose, &bind].map(|pose| place(pose, j));
            (back * at / f64::from(size), back * (q * bound.conjugate()) * back.conjugate())
        })
    };
    let one = seen(1.0, 0.0, 0);
    // The frame of the head at bind: 1.6 m up, bowed about the spine at 1.2 m.
    let bow = DQuat::from_rotation_x(0.6);
    let head = DVec3::new(0.0, 1.2, 0.0) + bow * DVec3::new(0.0, 0.4, 0.02);
    let hand = head + bow * DVec3::new(-0.15, -0.1, 0.35);
    assert!(one[2].0.distance(hand) < 1e-5, "{} instead of {hand}", one[2].0);
    let wanted = bow * DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 0.7);
    assert!(one[2].1.angle_between(wanted) < 1e-3);
    for (size, facing, axes) in [(0.3, 0.0, 0), (2.0, 1.9, 0), (1.0, -3.0, 5), (0.02, 0.7, 9)] {
        for (a, b) in one.iter().zip(seen(size, facing, axes)) {
            assert!(a.0.distance(b.0) < 1e-4 && a.1.angle_between(b.1) < 1e-3, "{size} {facing} {axes}");
        }
    }
}

#[test]
fn the_space_of_a_role_stands_at_bind_as_the_figure_does() {
    let (bind, body) = figure(1.0, 1.1, 3);
    let rig = Rig::new(&bind, Some(&body), &RigSpec::new(vec![arm(&body, Side::Left)])).unwrap();
    for role in body.assigned.iter().map(|a| a.role) {
        let own = [Space::Role(role); 2];
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let goal = RigGoal::from(Goal::position(axis)).with_space(Space::Role(role));
            let model = rig.convert(0, &goal, [Space::Model; 2], &bind, &Placement::IDENTITY).unwrap();
            let (at, _) = place(&bind, body.joint(role).unwrap());
            let wanted = at + DQuat::from_rotation_y(1.1_f32.into()) * axis.as_dvec3();
            assert!(model.goal.position.unwrap().as_dvec3().distance(wanted) < 1e-5, "{role}");
        }
        let mut goals = [RigGoal::new().with_space(Space::Role(role))];
        rig.read(&bind, &Placement::IDENTITY, &mut goals).unwrap();
        assert!(math::angle_between(goals[0].goal.rotation.unwrap(), Quat::IDENTITY) < 1e-5, "{role}");
        assert_eq!(goals[0].space, Some(own[0]));
    }
}

#[test]
fn spaces_that_cannot_be_are_refused_by_name() {
    let (bind, body) = figure(1.0, 0.0, 0);
    let left = arm(&body, Side::Left);
    let hand = body.arm(Side::Left).unwrap().hand;
    let with = |space| {
        let goal = GoalSpec { space, ..GoalSpec::default() };
        HandleSpec { goal, ..left.clone() }
    };
    let refused = |spec: HandleSpec, body: Option<&BodyRoles>| {
        Rig::new(&bind, body, &RigSpec::new(vec![spec])).err().unwrap().to_string()
    };
    assert_eq!(
        refused(with(Space::Role(Role::Head)), None),
        "handle `left arm`: the figure has no head that a goal could be in the space of"
    );
    assert!(refused(with(Space::Role(Role::Eye(Side::Left))), Some(&body)).contains("no left eye"));
    assert!(refused(with(Space::Role(Role::Hand(Side::Left))), Some(&body)).contains("moves by joint"));
    let pole = GoalSpec { pole_space: Some(Space::Joint(hand)), ..GoalSpec::default() };
    assert!(refused(HandleSpec { goal: pole, ..left.clone() }, Some(&body)).contains("`LeftHand`"));
    let height = RigSpec { height: Some(f32::NAN), ..RigSpec::default() };
    assert!(matches!(Rig::new(&bind, Some(&body), &height), Err(RigError::Height(h)) if h.is_nan()));

    // In a frame: a joint that the handle moves, a later handle's, one that does not exist, a role that is not there.
    let both = RigSpec::new(Side::BOTH.map(|side| arm(&body, side)).to_vec());
    let rig = Rig::new(&bind, Some(&body), &both).unwrap();
    let other = {
        let mut b = Skeleton::builder();
        (0..100).for_each(|n| {
            b.add(format!("{n}"), (n > 0).then_some(0), JointTransform::IDENTITY);
        });
        b.build().unwrap().1[99]
    };
    let right = body.arm(Side::Right).unwrap();
    for (space, allowed, said) in [
        (Space::Joint(hand), false, "handle `left arm` moves by joint"),
        (Space::Role(Role::Hand(Side::Right)), false, "handle `right arm` moves by joint"),
        (Space::Joint(right.upper_arm), false, "let handles that move it come before"),
        (Space::Joint(right.clavicle.unwrap()), true, ""),
        (Space::Joint(other), false, "there is no joint #99: the skeleton has 21 joints"),
        (Space::Role(Role::Spine(7)), false, "no spine 8"),
        (Space::Role(Role::Head), true, ""),
    ] {
        let (mut state, mut pose) = (rig.state(), bind.clone());
        let goal = RigGoal::from(Goal::position(Vec3::new(0.3, 1.2, 0.3)));
        for goal in [goal.with_space(space), goal.with_pole_space(space)] {
            let goals = [goal, RigGoal::new()];
            let before = state.clone();
            let frame = RigFrame::new(0.1).with_goals(&goals);
            let applied = rig.apply(&mut state, &mut Workspace::new(), &mut pose, &frame);
            match applied {
                Ok(_) => assert!(allowed, "{space:?}"),
                Err(error) => {
                    assert!(!allowed && error.to_string().contains(said), "{error}");
                    assert!(matches!(error, RigError::Space { .. }));
                    assert!(pose.locals() == bind.locals() && state == before);
                }
            }
        }
    }
    // The right arm comes after the left one, whose joints are then settled.
    let goals = [RigGoal::new(), RigGoal::from(Goal::position(Vec3::ZERO)).with_space(Space::Joint(hand))];
    let frame = RigFrame::new(0.1).with_goals(&goals);
    assert!(rig.apply(&mut rig.state(), &mut Workspace::new(), &mut bind.clone(), &frame).is_ok());
}

#[test]
fn what_cannot_be_converted_or_read_is_an_error() {
    let (bind, body) = figure(1.0, 0.0, 0);
    let rig = Rig::new(&bind, Some(&body), &RigSpec::new(vec![arm(&body, Side::Left)])).unwrap();
    let goal = RigGoal::from(Goal::position(Vec3::ONE));
    let to = |space| [space, Space::Model];
    let convert = |index, goal: &RigGoal, space, pose: &Pose| {
        rig.convert(index, goal, to(space), pose, &Placement::IDENTITY).map_err(|e| e.to_string())
    };
    assert_eq!(convert(3, &goal, Space::Model, &bind).unwrap_err(), "there is no goal 3: the rig has 1");
    assert!(convert(0, &goal, Space::Role(Role::Eye(Side::Right)), &bind).unwrap_err().contains("right eye"));
    let nan = RigGoal::from(Goal::position(Vec3::splat(f32::NAN)));
    assert!(convert(0, &nan, Space::World, &bind).unwrap_err().contains("position"));
    let mut flat = bind.clone();
    let head = body.head.unwrap();
    flat.set_local(head, JointTransform { scale: Vec3::ZERO, ..*bind.local(head) });
    flat.update();
    assert!(convert(0, &goal, Space::Role(Role::Head), &flat).unwrap_err().contains("`Head`"));
    let (small, _) = {
        let mut b = Skeleton::builder();
        b.add("a", None, JointTransform::IDENTITY);
        b.build().unwrap()
    };
    let small = Pose::rest(&Arc::new(small));
    assert!(convert(0, &goal, Space::World, &small).unwrap_err().contains("another skeleton"));

    let mut goals = [RigGoal::new().with_space(Space::Role(Role::Head))];
    assert!(rig.read(&flat, &Placement::IDENTITY, &mut goals).is_err());
    assert!(rig.read(&small, &Placement::IDENTITY, &mut goals).is_err());
    assert!(rig.read(&bind, &Placement::IDENTITY, &mut []).unwrap_err().to_string().starts_with("0 goals"));
    let mut broken = bind.clone();
    broken.set_rotation(body.hips, Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0));
    broken.update();
    assert!(rig.read(&broken, &Placement::IDENTITY, &mut goals).is_err());
    assert_eq!(goals[0], RigGoal::new().with_space(Space::Role(Role::Head)), "errors write nothing");
}

/// A full body whose goals a frame gives spaces of its own joints does what one does that has them from the start.
#[test]
fn a_full_body_takes_goals_in_the_spaces_of_its_own_joints_in_any_frame() {
    let (bind, body) = figure(1.0, 0.5, 12);
    let arms = Side::BOTH.map(|side| *body.arm(side).unwrap());
    let head = body.head.unwrap();
    // The end of the head is no joint of the body, and moves with it.
    let top = bind.skeleton().find("HeadTop_End").unwrap();
    let with = |space: Option<Space>| {
        let mut all = HandleSpec::new("all", body.hips, body.hips);
        all.solver = HandleSolver::FullBody;
        all.effectors = [head, arms[0].hand, arms[1].hand].map(EffectorSpec::new).to_vec();
        all.effectors[1].goal.space = space.unwrap_or_default();
        Rig::new(&bind, Some(&body), &RigSpec::new(vec![all])).unwrap()
    };
    let (plain, mut noise) = (with(None), Noise(3));
    for (space, same) in [
        (Space::Joint(head), Space::Joint(head)),
        (Space::Role(Role::Head), Space::Role(Role::Head)),
        (Space::Joint(top), Space::Joint(head)),
        (Space::Joint(arms[1].hand), Space::Joint(arms[1].hand)),
        (Space::World, Space::World),
    ] {
        let from_start = with(Some(same));
        let (mut state, mut workspace) = (plain.state(), Workspace::new());
        for trial in 0..10 {
            let pose = turned(&bind, &mut noise, 0.2);
            let head_to = Goal::position(pose.position(head) + Vec3::new(0.03, -0.03, 0.03));
            // Within reach: nearer to the shoulder.
            let mut within = |arm: &ArmJoints| {
                let [hand, shoulder] = [arm.hand, arm.upper_arm].map(|j| pose.position(j));
                hand.lerp(shoulder, 0.3) + 0.05 * noise.vector()
            };
            let [near, right] = arms.each_ref().map(|arm| RigGoal::from(Goal::position(within(arm))));
            let rest = &Placement::IDENTITY;
            let [here, there] =
                [space, same].map(|to| plain.convert(1, &near, [to, Space::Model], &pose, rest).unwrap());
            let solve = |rig: &Rig, state: &mut RigState, workspace: &mut Workspace, goal: RigGoal| {
                let goals = [head_to.into(), goal, right];
                let mut solved = pose.clone();
                let frame = RigFrame::new(0.1).with_goals(&goals);
                let report = rig.apply(state, workspace, &mut solved, &frame).unwrap();
                assert!(report.handles[0].report.position_residual < 2e-3, "{space:?}");
                solved
            };
            // Another space in between, so that the solver is changed each time.
            solve(&plain, &mut state, &mut workspace, near);
            let found = solve(&plain, &mut state, &mut workspace, here);
            let unset = RigGoal::from(there.goal);
            let wanted = solve(&from_start, &mut from_start.state(), &mut Workspace::new(), unset);
            for j in bind.skeleton().joints() {
                let off = place(&found, j).0.distance(place(&wanted, j).0);
                // The solver ends within 1e-4 of the figure's size of its goals, wherever rounding led it.
                assert!(off < 1e-3, "{space:?}, trial {trial}: {off}");
            }
        }
    }
    // A goal in its own joint's space has no answer.
    let goals = [
        RigGoal::new(),
        RigGoal::from(Goal::position(Vec3::ONE)).with_space(Space::Joint(arms[0].hand)),
        RigGoal::new(),
    ];
    let (mut state, mut pose) = (plain.state(), bind.clone());
    let before = state.clone();
    let frame = RigFrame::new(0.1).with_goals(&goals);
    let error = plain.apply(&mut state, &mut Workspace::new(), &mut pose, &frame).unwrap_err();
    assert!(error.to_string().contains("relative to that joint itself"), "{error}");
    assert!(pose.locals() == bind.locals() && state == before);
}
