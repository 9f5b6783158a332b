//! Humanoids: goals by name on any figure, feet that stay, values of goals, and the joint that is placed.

use crate::rig_figure;

use std::sync::Arc;

use rig_figure::*;
use sinew::{
    Goal, Pole, Pose, Skeleton, Workspace,
    body::{HumanLimits, Role, Side},
    glam::Vec3,
    math,
    rig::{
        HandleFault, HandleSolver, HandleSpec, HumanoidSpec, Limbs, Rig, RigError, RigFrame, RigGoal,
        RigSpec, Space, StartFrom,
    },
};

fn humanoid(limbs: Limbs, from: StartFrom) -> HumanoidSpec {
    let mut humanoid = HumanoidSpec::new();
    (humanoid.limbs, humanoid.from) = (limbs, Some(from));
    humanoid
}

#[test]
fn without_goals_it_changes_no_bit() {
    let mut noise = Noise(11);
    for limbs in [Limbs::TwoBone, Limbs::FullBody] {
        for from in [StartFrom::Pose, StartFrom::Preferred, StartFrom::Last] {
            let (bind, body) = figure(1.1, 0.7, 5);
            let rig = Rig::new(&bind, Some(&body), &humanoid(limbs, from).rig(&body)).unwrap();
            let (mut state, mut workspace) = (rig.state(), Workspace::new());
            for _ in 0..20 {
                let given = turned(&bind, &mut noise, 0.4);
                let mut pose = given.clone();
                rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(0.02)).unwrap();
                assert_eq!(pose.locals(), given.locals());
            }
        }
    }
}

#[test]
fn names_of_goals_are_found_on_every_figure() {
    let (bind, body) = figure(1.0, 0.0, 0);
    for limbs in [Limbs::TwoBone, Limbs::FullBody] {
        let mut spec = humanoid(limbs, StartFrom::Pose).rig(&body);
        for name in HumanoidSpec::GOALS {
            let (_, goal, is_pole) = HumanoidSpec::goal(&mut spec, name).unwrap();
            assert_eq!(is_pole, name.ends_with("elbow") || name.ends_with("knee"), "{name}");
            goal.value = RigGoal::new();
        }
        assert!(HumanoidSpec::goal(&mut spec, "tail").is_none());
        let rig = Rig::new(&bind, Some(&body), &spec).unwrap();
        let mut found: Vec<usize> =
            HumanoidSpec::GOALS[..6].iter().map(|name| rig.find_goal(name, None).unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, (0..rig.goal_count()).collect::<Vec<_>>());
    }
}

/// A goal in the space of a role takes the same place on figures of any size, front and axes, and the body may move with the
/// feet where they were.
#[test]
fn goals_by_role_are_the_same_on_figures_of_any_size_and_front() {
    for (size, facing, axes) in [(1.0, 0.0, 0), (0.4, 2.0, 3), (7.0, -1.3, 9)] {
        let (bind, body) = figure(size, facing, axes);
        let unit = size; // Its height at bind is 1.8 times its size.
        let front = math::axis_angle(Vec3::Y, facing);
        for limbs in [Limbs::TwoBone, Limbs::FullBody] {
            let mut spec = humanoid(limbs, StartFrom::Pose).rig(&body);
            HumanoidSpec::goal(&mut spec, "right hand").unwrap().1.space = Space::Role(Role::Head);
            let rig = Rig::new(&bind, Some(&body), &spec).unwrap();
            let mut goals = vec![RigGoal::new(); rig.goal_count()];
            let mut set = |name: &str, goal: RigGoal| goals[rig.find_goal(name, None).unwrap()] = goal;
            set("right hand", Goal::position(Vec3::new(-0.15, -0.1, 0.35)).into());
            let hips = bind.position(body.hips) + unit * math::rotate(front, Vec3::new(0.03, -0.06, 0.02));
            set("body", Goal::position(hips).into());
            let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), bind.clone());
            let frame = RigFrame::new(0.02).with_goals(&goals);
            rig.apply(&mut state, &mut workspace, &mut pose, &frame).unwrap();
            let (head, hand) = (body.head.unwrap(), body.arm(Side::Right).unwrap().hand);
            let (at, turn) = place(&pose, head);
            let (_, bound) = place(&bind, head);
            let stands = turn * bound.inverse() * front.as_dquat();
            let wanted = at + stands * (f64::from(unit) * Vec3::new(-0.15, -0.1, 0.35).as_dvec3());
            let near = 2e-3 * f64::from(unit);
            assert!(place(&pose, hand).0.distance(wanted) < near, "{limbs} {size}: hand");
            assert!(place(&pose, body.hips).0.distance(hips.as_dvec3()) < near, "{limbs} {size}: hips");
            for leg in &body.legs {
                let off = place(&pose, leg.foot).0.distance(place(&bind, leg.foot).0);
                assert!(off < near, "{limbs} {size}: a foot is {off} m off");
            }
        }
    }
}

/// A hand out of reach takes the trunk along, and neither the feet nor the hips further than legs reach.
#[test]
fn feet_stay_where_they_stand_whatever_a_hand_is_to_reach() {
    let (bind, body) = figure(1.0, 0.4, 2);
    let rig = Rig::new(&bind, Some(&body), &humanoid(Limbs::FullBody, StartFrom::Pose).rig(&body)).unwrap();
    let toward = math::rotate(math::axis_angle(Vec3::Y, 0.4), Vec3::Z);
    for far in [1.0, 1.5, 2.0, 3.0] {
        let mut goals = vec![RigGoal::new(); rig.goal_count()];
        let to = Vec3::Y * 1.4 + toward * far;
        goals[rig.find_goal("right hand", None).unwrap()] = Goal::position(to).into();
        let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), bind.clone());
        rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(0.02).with_goals(&goals)).unwrap();
        for leg in &body.legs {
            let off = pose.position(leg.foot).distance(bind.position(leg.foot));
            assert!(off < 0.01, "a foot is {off} m off for a hand {far} m ahead");
        }
        let hand = body.arm(Side::Right).unwrap().hand;
        let nearer = bind.position(hand).distance(to) - pose.position(hand).distance(to);
        assert!(nearer > 0.3, "the hand is {nearer} m nearer to a goal {far} m ahead");
    }
}

#[test]
fn arms_that_are_modelled_straight_bend_as_peoples_do() {
    let (mut bind, body) = figure(1.0, 0.4, 2);
    let arm = body.arm(Side::Right).unwrap();
    // In a T, with the elbow a centimetre too high: 4 degrees.
    let [shoulder, hand] = [arm.upper_arm, arm.hand].map(|j| bind.position(j));
    bind.set_position(arm.forearm, 0.5 * (shoulder + hand) + 0.01 * Vec3::Y);
    bind.update();
    bind.set_position(arm.hand, hand);
    bind.update();
    let spec = humanoid(Limbs::TwoBone, StartFrom::Pose).rig(&body);
    let rig = Rig::new(&bind, Some(&body), &spec).unwrap();
    let goal = rig.find_goal("right hand", None).unwrap();
    let show = |to: Vec3| {
        let mut goals = vec![RigGoal::new(); rig.goal_count()];
        goals[goal] = Goal::position(to).into();
        let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), bind.clone());
        let frame = RigFrame::new(0.02).with_goals(&goals);
        rig.apply(&mut state, &mut workspace, &mut pose, &frame).unwrap();
        assert!(pose.position(arm.hand).distance(to) < 1e-4);
        let line = (to - shoulder).normalize();
        let elbow = pose.position(arm.forearm) - shoulder;
        elbow - line * elbow.dot(line)
    };
    // The noise stays where the hand does, and gives way as it comes nearer.
    assert!(show(hand).distance(0.01 * Vec3::Y) < 1e-4);
    for share in [0.995, 0.98, 0.9, 0.7, 0.4] {
        let elbow = show(shoulder.lerp(hand, share));
        let back = -body.front(&bind);
        assert!(elbow.normalize().dot(back) > if share > 0.99 { 0.7 } else { 0.9 }, "{share}: {elbow}");
    }
    let (mut steps, mut last) = (0.0_f32, show(hand));
    for n in 1..=100 {
        let now = show(shoulder.lerp(hand, 1.0 - 0.0005 * n as f32));
        steps = steps.max(now.distance(last));
        last = now;
    }
    assert!(steps < 0.02, "the elbow leaps by {steps} m");
}

#[test]
fn peoples_limits_hold_on_a_rigged_humanoid() {
    let (bind, body) = figure(1.0, 0.4, 2);
    let mut skeleton = Skeleton::clone(bind.skeleton());
    HumanLimits::of(&bind, &body).apply(&mut skeleton).unwrap();
    let bind = Pose::rest(&Arc::new(skeleton));
    for (limbs, from) in [Limbs::TwoBone, Limbs::FullBody]
        .into_iter()
        .flat_map(|limbs| [StartFrom::Pose, StartFrom::Preferred].map(|from| (limbs, from)))
    {
        let rig = Rig::new(&bind, Some(&body), &humanoid(limbs, from).rig(&body)).unwrap();
        let mut goals = vec![RigGoal::new(); rig.goal_count()];
        let mut set =
            |name: &str, to: Vec3| goals[rig.find_goal(name, None).unwrap()] = Goal::position(to).into();
        set("look", Vec3::new(-3.0, 2.5, -2.0));
        set("left hand", Vec3::new(0.1, 1.5, 0.4));
        set("body", Vec3::new(0.05, 0.8, 0.1));
        let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), bind.clone());
        let frame = RigFrame::new(0.02).with_goals(&goals);
        rig.apply(&mut state, &mut workspace, &mut pose, &frame).unwrap();
        assert!(
            pose.local(body.head.unwrap()) != bind.local(body.head.unwrap()),
            "{limbs:?}: the head turns"
        );
        for j in bind.skeleton().joints() {
            let beyond = bind.skeleton().limits(j).excess(pose.local(j).rotation);
            assert!(beyond <= 1e-5, "{limbs:?} {from:?}: joint {j} is {beyond} beyond its limits");
        }
    }
}

#[test]
fn the_value_of_a_goal_holds_where_the_callers_is_unset() {
    let (bind, body) = figure(1.0, 0.0, 4);
    let at = |y| Vec3::new(0.5, y, 0.3);
    let mut spec = HumanoidSpec::new().rig(&body);
    let (_, hand, _) = HumanoidSpec::goal(&mut spec, "left hand").unwrap();
    hand.value.goal = Goal::position(at(1.3)).with_pole(Pole::Point(Vec3::new(0.5, 0.2, 0.0)));
    let rig = Rig::new(&bind, Some(&body), &spec).unwrap();
    let arm = body.arm(Side::Left).unwrap();
    let show = |given: RigGoal| {
        let mut goals = vec![RigGoal::new(); rig.goal_count()];
        goals[rig.find_goal("left hand", None).unwrap()] = given;
        let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), bind.clone());
        let frame = RigFrame::new(0.02).with_goals(&goals);
        rig.apply(&mut state, &mut workspace, &mut pose, &frame).unwrap();
        pose
    };
    let value = show(RigGoal::new());
    assert!(value.position(arm.hand).distance(at(1.3)) < 1e-4);
    assert!(value.position(arm.forearm).y < 1.3, "the elbow is at the pole's side");
    // The caller's position, and the value's pole; then a pole of the caller's.
    let given = show(Goal::position(at(1.5)).into());
    assert!(given.position(arm.hand).distance(at(1.5)) < 1e-4);
    assert!(given.position(arm.forearm).y < 1.45);
    let up = show(Goal::position(at(1.5)).with_pole(Pole::Point(Vec3::new(0.4, 3.0, 0.0))).into());
    assert!(up.position(arm.forearm).y > 1.5);
    // The caller's influence scales the value's.
    let half = show(Goal::NONE.with_position_influence(0.5).into());
    let moved = |pose: &sinew::Pose| pose.position(arm.hand).distance(bind.position(arm.hand));
    assert!(moved(&half) > 0.2 * moved(&value) && moved(&half) < 0.8 * moved(&value));

    let spaced = |space| {
        let mut spec = HumanoidSpec::new().rig(&body);
        HumanoidSpec::goal(&mut spec, "left hand").unwrap().1.value.space = Some(space);
        Rig::new(&bind, Some(&body), &spec).is_err()
    };
    assert!(spaced(Space::World));
    let mut spec = HumanoidSpec::new().rig(&body);
    HumanoidSpec::goal(&mut spec, "look").unwrap().1.value.roll = 0.1;
    let error = Rig::new(&bind, Some(&body), &spec).err().unwrap();
    let RigError::Handle { handle, fault, .. } = &error else { panic!("{error}") };
    assert_eq!(handle, "look");
    assert!(matches!(**fault, HandleFault::Unused { .. }), "{error}");
    let mut spec = HumanoidSpec::new().rig(&body);
    HumanoidSpec::goal(&mut spec, "look").unwrap().1.value.goal.position = Some(Vec3::splat(f32::NAN));
    let error = Rig::new(&bind, Some(&body), &spec).err().unwrap();
    assert!(error.to_string().contains("NaN"), "{error}");
}

#[test]
fn a_placed_joint_is_at_its_goal_by_its_influences() {
    let mut noise = Noise(3);
    let (bind, body) = figure(1.0, 0.5, 8);
    let mut place_hips = HandleSpec::new("hips", body.hips, body.hips);
    place_hips.solver = HandleSolver::Place;
    let rig = Rig::new(&bind, None, &RigSpec::new(vec![place_hips.clone()])).unwrap();
    for _ in 0..50 {
        let given = turned(&bind, &mut noise, 0.5);
        let (to, turn) = (noise.vector(), noise.turn());
        for influence in [1.0, 0.25, 0.0] {
            let goal = Goal::position(to).with_rotation(turn);
            let goal = goal.with_position_influence(influence).with_rotation_influence(influence);
            let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), given.clone());
            let goals = [goal.into()];
            rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(0.1).with_goals(&goals)).unwrap();
            let from = given.position(body.hips);
            assert!(pose.position(body.hips).distance(from.lerp(to, influence)) < 1e-5);
            let whole = math::angle_between(given.model_rotation(body.hips), turn);
            let left = math::angle_between(pose.model_rotation(body.hips), turn);
            assert!((left - (1.0 - influence) * whole).abs() < 2e-3, "{left} of {whole} at {influence}");
            // What hangs below goes along.
            for j in bind.skeleton().joints().filter(|j| *j != body.hips) {
                assert_eq!(pose.local(j), given.local(j));
            }
        }
    }
    for (spec, words) in [
        (HandleSpec { from: StartFrom::Last, ..place_hips.clone() }, "starts from `pose`"),
        (HandleSpec { tip: body.spine[0], ..place_hips.clone() }, "root and tip must be the same"),
    ] {
        let error = Rig::new(&bind, None, &RigSpec::new(vec![spec])).err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    }
}
