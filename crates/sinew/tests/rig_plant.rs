//! Planting in a rig: the same bits as the foot planter alone, feet that stay while the body moves, and errors that change
//! nothing.

use crate::rig_figure;

use std::{cell::RefCell, f32::consts::PI, sync::Arc};

use rig_figure::*;
use sinew::{
    Goal, JointTransform, Placement, Pose, Skeleton, Workspace,
    body::{BodyRoles, Side},
    glam::{Affine3, Quat, Vec3},
    ground::{
        Filter, Ground, Hit,
        plant::{Figure, FootPlanter, FootPlanterError, PlantOptions},
    },
    math,
    rig::{HumanoidSpec, Limbs, Rig, RigError, RigFrame, RigGoal, RigMatch, RigReport, RigState},
};

/// Frame time in seconds.
const DT: f32 = 1.0 / 60.0;
/// Speed of the walk in m/s.
const SPEED: f32 = 1.0;
/// Look-ahead in seconds.
const AHEAD: f32 = 0.3;

/// Waves of some centimetres.
struct Rough;

impl Rough {
    fn height(x: f32, z: f32) -> f32 {
        0.06 * math::sin(2.3 * z) + 0.03 * math::sin(4.0 * x + 1.0)
    }
}

impl Ground for Rough {
    fn cast_ray(&self, from: Vec3, _: Vec3, reach: f32, _: &Filter) -> Option<Hit> {
        let at = |x, z| Self::height(from.x + x, from.z + z);
        let point = from.with_y(at(0.0, 0.0));
        let slope = |x, z| (at(x, z) - at(-x, -z)) / 2e-3;
        let normal = Vec3::new(-slope(1e-3, 0.0), 1.0, -slope(0.0, 1e-3)).normalize();
        let distance = from.y - point.y;
        (0.0..=reach).contains(&distance).then_some(Hit::new(distance, point, normal))
    }
}

/// A figure that walks: its animation is made by a rig of its own.
struct Walker {
    bind: Pose,
    body: BodyRoles,
    rig: Rig,
    memory: RefCell<(RigState, Workspace, Vec<RigGoal>)>,
}

impl Walker {
    fn new() -> Self {
        let (bind, body) = figure(1.0, 0.0, 0);
        let rig = Rig::new(&bind, Some(&body), &HumanoidSpec::new().rig(&body)).unwrap();
        let memory = (rig.state(), Workspace::new(), vec![RigGoal::new(); rig.goal_count()]);
        Self { bind, body, rig, memory: RefCell::new(memory) }
    }

    /// The animation's pose: half of each second a foot goes back along the floor, half it swings.
    fn sample(&self, time: f32, pose: &mut Pose) -> Placement {
        let (state, workspace, goals) = &mut *self.memory.borrow_mut();
        let mut set = |name: &str, goal: Goal| goals[self.rig.find_goal(name, None).unwrap()] = goal.into();
        set("body", Goal::position(Vec3::new(0.0, 0.9, 0.0)));
        for (i, name) in ["left foot", "right foot"].into_iter().enumerate() {
            let phase = (time + 0.5 * i as f32).rem_euclid(1.0);
            let (z, y) = if phase < 0.5 {
                (SPEED * (0.25 - phase), 0.0)
            } else {
                let s = (phase - 0.5) * 2.0;
                let ease = s * s * s * (10.0 + s * (6.0 * s - 15.0));
                let back = -0.5 * SPEED * (s - 10.0 * s.powi(3) + 15.0 * s.powi(4) - 6.0 * s.powi(5));
                (SPEED * (0.5 * ease - 0.25) + back, 0.12 * (PI * s).sin().powi(2))
            };
            let x = self.bind.position(self.body.legs[i].foot).x;
            set(name, Goal::position(Vec3::new(x, 0.08 + y, z)).with_rotation(Quat::IDENTITY));
        }
        pose.copy_from(&self.bind);
        self.rig.apply(state, workspace, pose, &RigFrame::new(DT).with_goals(goals)).unwrap();
        Placement::new(Affine3::from_translation(Vec3::Z * SPEED * time)).unwrap()
    }

    fn planter(&self, look_ahead: f32) -> FootPlanter {
        let figure = Figure::of_body(&self.bind, &self.body, &[]).unwrap();
        let mut planter = FootPlanter::new(&figure, PlantOptions::default()).unwrap();
        planter.set_look_ahead(look_ahead).unwrap();
        planter
    }

    fn rig(&self, limbs: Limbs, look_ahead: f32) -> Rig {
        let mut humanoid = HumanoidSpec::new();
        humanoid.limbs = limbs;
        let rig = Rig::new(&self.bind, Some(&self.body), &humanoid.rig(&self.body)).unwrap();
        rig.with_planter(self.planter(look_ahead)).unwrap()
    }
}

/// A rig, and the frames that it plants.
struct Player<'a> {
    walker: &'a Walker,
    rig: Rig,
    state: RigState,
    workspace: Workspace,
    pose: Pose,
    time: f32,
}

impl<'a> Player<'a> {
    fn new(walker: &'a Walker, rig: Rig) -> Self {
        let (state, pose) = (rig.state(), walker.bind.clone());
        Self { walker, rig, state, workspace: Workspace::new(), pose, time: 0.0 }
    }

    fn goals(&self, set: &[(&str, Goal)]) -> Vec<RigGoal> {
        let mut goals = vec![RigGoal::new(); self.rig.goal_count()];
        for (name, goal) in set {
            goals[self.rig.find_goal(name, None).unwrap()] = (*goal).into();
        }
        goals
    }

    /// Plants and solves the next frame.
    fn step(&mut self, goals: &[RigGoal]) -> RigReport<'_> {
        let (walker, time) = (self.walker, self.time);
        let placement = walker.sample(time, &mut self.pose);
        let ahead = |later: f32, pose: &mut Pose| walker.sample(time + later, pose);
        let frame = RigFrame::new(DT).with_goals(goals).with_placement(placement);
        let frame = frame.with_ground(&Rough).with_look_ahead(&ahead);
        self.time += DT;
        self.rig.apply(&mut self.state, &mut self.workspace, &mut self.pose, &frame).unwrap()
    }
}

#[test]
fn without_goals_it_plants_as_the_foot_planter_does_to_the_bit() {
    let walker = Walker::new();
    let mut moved = 0.0f32;
    for limbs in [Limbs::TwoBone, Limbs::FullBody] {
        let (planter, mut player) = (walker.planter(AHEAD), Player::new(&walker, walker.rig(limbs, AHEAD)));
        let (mut feet, mut pose) = (planter.state(), walker.bind.clone());
        let mut given = pose.clone();
        for _ in 0..180 {
            let time = player.time;
            walker.sample(time, &mut given);
            let sample = |later: f32, pose: &mut Pose| walker.sample(time + later, pose);
            let wanted = planter.step_with(&mut feet, &Rough, &mut pose, DT, sample).unwrap();
            let report = player.step(&[]);
            assert_eq!(report.planted, Some(wanted));
            assert!(report.handles.iter().all(|h| h.was_off()));
            assert_eq!(player.pose.locals(), pose.locals());
            assert_eq!(player.state.feet(), Some(&feet));
            let foot = walker.body.legs[0].foot;
            moved = moved.max((pose.position(foot) - given.position(foot)).y.abs());
        }
    }
    assert!(moved > 0.05, "{moved}");
}

#[test]
fn without_look_ahead_it_is_sense_and_step() {
    let walker = Walker::new();
    let (planter, rig) = (walker.planter(0.0), walker.rig(Limbs::TwoBone, 0.0));
    let (mut feet, mut state, mut workspace) = (planter.state(), rig.state(), Workspace::new());
    let (mut pose, mut planted) = (walker.bind.clone(), walker.bind.clone());
    for n in 0..120 {
        let placement = walker.sample(n as f32 * DT, &mut pose);
        planted.copy_from(&pose);
        planter.sense(&mut feet, &Rough, &planted, &placement).unwrap();
        planter.step(&mut feet, &mut planted, &placement, DT).unwrap();
        let frame = RigFrame::new(DT).with_placement(placement).with_ground(&Rough);
        rig.apply(&mut state, &mut workspace, &mut pose, &frame).unwrap();
        assert_eq!(pose.locals(), planted.locals());
    }
}

/// How far the feet of a lowered body, and with a hand that is to reach as many metres away, are from where they are planted: in
/// metres, and in radians.
fn dragged(limbs: Limbs, reach: f32) -> [f32; 2] {
    let walker = Walker::new();
    let mut plain = Player::new(&walker, walker.rig(limbs, AHEAD));
    let mut low = Player::new(&walker, walker.rig(limbs, AHEAD));
    let (mut off, mut body) = ([0.0f32; 2], 0.0f32);
    for _ in 0..180 {
        plain.step(&[]);
        let to = plain.pose.position(walker.body.hips) - 0.1 * Vec3::Y;
        let hand = plain.pose.position(walker.body.arm(Side::Left).unwrap().hand) + reach * Vec3::Z;
        let set = [("body", Goal::position(to)), ("left hand", Goal::position(hand))];
        let goals = low.goals(&set[..if reach > 0.0 { 2 } else { 1 }]);
        low.step(&goals);
        // The goal is not in the planter's memory.
        assert_eq!(low.state.feet(), plain.state.feet());
        body = body.max(low.pose.position(walker.body.hips).distance(to));
        for leg in &walker.body.legs {
            off[0] = off[0].max(low.pose.position(leg.foot).distance(plain.pose.position(leg.foot)));
            let turned = |pose: &Pose| pose.model_rotation(leg.foot);
            off[1] = off[1].max(math::angle_between(turned(&low.pose), turned(&plain.pose)));
        }
    }
    // A full body's hips compete with its hands.
    assert!(body < 0.02 || reach > 0.0 && limbs == Limbs::FullBody, "the body is {body} m from its goal");
    off
}

#[test]
fn planted_feet_stay_under_a_lowered_body() {
    for reach in [0.0, 1.0] {
        let off = dragged(Limbs::TwoBone, reach);
        assert!(off[0] < 1e-4 && off[1] < 1e-3, "{reach}: {off:?}");
    }
    // Feet weigh a hundred times as much as hands and hips: they give way by 5 mm for each metre beyond reach.
    for reach in [0.0, 1.0, 2.0] {
        let off = dragged(Limbs::FullBody, reach);
        assert!(off[0] < 1e-3 + 5e-3 * reach && off[1] < 5e-3, "{reach}: {off:?}");
    }
}

#[test]
fn the_goal_of_a_foot_overrides_planting_by_its_influence() {
    let walker = Walker::new();
    let foot = walker.body.legs[1].foot;
    for lowered in [0.0, 0.05] {
        let mut players = [(); 4].map(|()| Player::new(&walker, walker.rig(Limbs::TwoBone, AHEAD)));
        for _ in 0..90 {
            let plain = &mut players[0];
            plain.step(&[]);
            let (planted, hips) = (plain.pose.position(foot), plain.pose.position(walker.body.hips));
            let to = planted + Vec3::new(-0.05, 0.1, 0.05);
            let mut at = [Vec3::ZERO; 3];
            for ((at, influence), player) in at.iter_mut().zip([0.0, 0.5, 1.0]).zip(&mut players[1..]) {
                let mut goal = Goal::position(to);
                (goal.position_influence, goal.rotation_influence) = (influence, influence);
                let body = Goal::position(hips - lowered * Vec3::Y);
                let goals = player.goals(&[("body", body), ("right foot", goal)]);
                player.step(&goals);
                *at = player.pose.position(foot);
            }
            assert!(at[0].distance(planted) < 1e-4, "{lowered} {} {planted}", at[0]);
            assert!(at[2].distance(to) < 1e-3, "{lowered} {} {to}", at[2]);
            let share = (at[1] - planted).dot(to - planted) / (to - planted).length_squared();
            assert!((0.2..0.8).contains(&share), "{lowered} {share}");
        }
    }
}

#[test]
fn an_error_restores_the_pose_and_the_state() {
    let walker = Walker::new();
    let mut player = Player::new(&walker, walker.rig(Limbs::TwoBone, AHEAD));
    for _ in 0..30 {
        player.step(&[]);
    }
    let before = player.state.clone();
    let mut given = player.pose.clone();
    let placement = walker.sample(player.time, &mut given);
    let unknown = |_: f32, pose: &mut Pose| {
        pose.set_rotation(walker.body.hips, Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0));
        placement
    };
    let time = player.time;
    let ahead = |later: f32, pose: &mut Pose| walker.sample(time + later, pose);
    // An arm is flat, so that the goal of its hand cannot be solved.
    let goals =
        player.goals(&[("left hand", Goal::position(Vec3::ONE)), ("right hand", Goal::position(Vec3::Y))]);
    let arm = walker.body.arm(Side::Right).unwrap().upper_arm;
    given.set_local(arm, JointTransform { scale: Vec3::X, ..*given.local(arm) });
    let frame = RigFrame::new(DT).with_placement(placement).with_ground(&Rough);
    let look = frame.with_look_ahead(&unknown);
    let whole = frame.with_look_ahead(&ahead);
    let Player { rig, state, workspace, .. } = &mut player;
    let mut refused = |frame: &RigFrame<'_>| {
        let mut pose = given.clone();
        let error = rig.apply(state, workspace, &mut pose, frame).unwrap_err();
        assert_eq!(pose.locals(), given.locals(), "{error}");
        assert_eq!(*state, before, "{error}");
        error
    };
    // Ticks are missing, ticks are no pose, and a handle fails after planting.
    let missing = refused(&frame);
    assert!(
        matches!(&missing, RigError::Plant(e) if matches!(**e, FootPlanterError::Unforeseen(_))),
        "{missing}"
    );
    let no_pose = refused(&look);
    assert!(matches!(&no_pose, RigError::Plant(e) if matches!(**e, FootPlanterError::Pose(_))), "{no_pose}");
    let late = refused(&whole.with_goals(&goals));
    assert!(matches!(late, RigError::Solve { .. }), "{late}");
    // The frame is then as it would have been without them.
    let mut pose = given.clone();
    rig.apply(state, workspace, &mut pose, &whole).unwrap();
    let mut copy = (before.clone(), given.clone());
    rig.apply(&mut copy.0, workspace, &mut copy.1, &whole).unwrap();
    assert_eq!(pose.locals(), copy.1.locals());
    assert_eq!(*state, copy.0);
}

/// A look-ahead that swaps its pose for one of other joints is an error, or a pose; the next tick and the next frame get their own.
#[test]
fn a_look_ahead_may_swap_its_pose() {
    let walker = Walker::new();
    let rig = walker.rig(Limbs::TwoBone, AHEAD);
    let mut few = Skeleton::builder();
    few.add("one", None, JointTransform::IDENTITY);
    let few = Pose::rest(&Arc::new(few.build().unwrap().0));
    let mut many = Skeleton::builder();
    (0..walker.bind.skeleton().len() + 9).for_each(|n| {
        many.add(format!("{n}"), n.checked_sub(1), JointTransform::from_translation(Vec3::Y));
    });
    let many = Pose::rest(&Arc::new(many.build().unwrap().0));
    for other in [few, many] {
        let (mut state, mut workspace) = (rig.state(), Workspace::new());
        let mut pose = walker.bind.clone();
        let placement = walker.sample(0.0, &mut pose);
        let swapped = |_: f32, pose: &mut Pose| {
            *pose = other.clone();
            placement
        };
        let ahead = |later: f32, pose: &mut Pose| walker.sample(later, pose);
        let frame = RigFrame::new(DT).with_placement(placement).with_ground(&Rough);
        let before = pose.clone();
        match rig.apply(&mut state, &mut workspace, &mut pose, &frame.with_look_ahead(&swapped)) {
            Ok(_) => pose.check_finite().unwrap(),
            Err(error) => {
                assert!(matches!(error, RigError::Plant(_)), "{error}");
                assert_eq!(pose.locals(), before.locals());
            }
        }
        pose.copy_from(&before);
        state.reset();
        rig.apply(&mut state, &mut workspace, &mut pose, &frame.with_look_ahead(&ahead)).unwrap();
    }
}

#[test]
fn a_match_sees_the_planted_pose_and_moves_no_foot_on() {
    let walker = Walker::new();
    let mut player = Player::new(&walker, walker.rig(Limbs::TwoBone, AHEAD));
    for _ in 0..30 {
        player.step(&[]);
    }
    let mut other = Player::new(&walker, player.rig.clone());
    (other.state, other.time) = (player.state.clone(), player.time);
    let time = player.time;
    let placement = walker.sample(time, &mut player.pose);
    let ahead = |later: f32, pose: &mut Pose| walker.sample(time + later, pose);
    let frame = RigFrame::new(DT).with_placement(placement).with_ground(&Rough).with_look_ahead(&ahead);
    let mut goals = player.goals(&[]);
    let (given, feet) = (player.pose.clone(), player.state.feet().cloned());
    let Player { rig, state, workspace, pose, .. } = &mut player;
    rig.match_goals(state, workspace, pose, &frame, &mut goals, &RigMatch::new(0.0)).unwrap();
    assert_eq!(pose.locals(), given.locals());
    assert_eq!(state.feet().cloned(), feet);
    let mut planted = given.clone();
    rig.apply(state, workspace, &mut planted, &frame.with_goals(&goals)).unwrap();
    other.step(&[]);
    for j in planted.skeleton().joints() {
        let off = planted.position(j).distance(other.pose.position(j));
        assert!(off < 1e-3, "{off} at {}", planted.skeleton().name(j));
    }
    assert!(planted.position(walker.body.hips).distance(given.position(walker.body.hips)) > 5e-3);
    // The other way: the pose that comes back is the planted one.
    let mut matched = given.clone();
    let before = player.state.clone();
    let mut frame = frame.with_goals(&goals);
    frame.dt = 0.0;
    let Player { rig, state, workspace, .. } = &mut player;
    rig.match_pose(state, workspace, &mut matched, &frame, &RigMatch::new(0.0)).unwrap();
    assert_eq!(state.feet(), before.feet());
    assert_eq!(matched.locals(), planted.locals());
}

#[test]
fn a_reset_and_a_frame_without_ground_begin_anew() {
    let walker = Walker::new();
    let rig = walker.rig(Limbs::TwoBone, AHEAD);
    let mut fresh = Player::new(&walker, rig.clone());
    let mut player = Player::new(&walker, rig.clone());
    let mut lifted = Player::new(&walker, rig);
    for _ in 0..45 {
        player.step(&[]);
        lifted.step(&[]);
    }
    player.state.reset();
    player.time = 0.0;
    // The pose without a ground is the animation's.
    walker.sample(0.5, &mut lifted.pose);
    let given = lifted.pose.clone();
    let Player { rig, state, workspace, pose, .. } = &mut lifted;
    assert_eq!(rig.apply(state, workspace, pose, &RigFrame::new(DT)).unwrap().planted, None);
    assert_eq!(pose.locals(), given.locals());
    lifted.time = 0.0;
    for _ in 0..45 {
        for player in [&mut fresh, &mut player, &mut lifted] {
            player.step(&[]);
        }
        assert_eq!(player.pose.locals(), fresh.pose.locals());
        assert_eq!(lifted.pose.locals(), fresh.pose.locals());
    }
}

#[test]
fn contacts_and_influence_are_set_in_the_state() {
    let walker = Walker::new();
    let rig = walker.rig(Limbs::TwoBone, 0.0);
    let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), walker.bind.clone());
    let mut stand = |state: &mut RigState| {
        pose.copy_from(&walker.bind);
        rig.apply(state, &mut workspace, &mut pose, &RigFrame::new(DT).with_ground(&Rough)).unwrap();
        let feet = state.feet().unwrap();
        ([0, 1].map(|leg| feet.stands(leg)), pose.locals() == walker.bind.locals())
    };
    for _ in 0..30 {
        assert_eq!(stand(&mut state), ([true, true], false));
    }
    let before = state.clone();
    state.feet_mut().unwrap().set_contact(0, Some(0.0)).unwrap();
    assert_ne!(state, before);
    for n in 0..30 {
        let (stands, _) = stand(&mut state);
        assert!(stands == [false, true] || n < 3, "frame {n}: {stands:?}");
    }
    state.feet_mut().unwrap().set_influence(0.0).unwrap();
    assert!(stand(&mut state).1);
}

/// A joint beside the figure carries a contact, in the pose of ticks and of frames.
#[test]
fn a_joint_carries_the_contact_of_a_foot_by_the_axis_that_it_moves_along() {
    let walker = Walker::new();
    // The end of the head serves, as planting does not move it.
    let node = walker.bind.skeleton().find("HeadTop_End").unwrap();
    let rest = walker.bind.local(node).translation;
    let at = |axis: Vec3, time: f32| rest + (axis * ((0.2..0.7).contains(&time) as u8 as f32) - rest * axis);
    for axis in [Vec3::Y, Vec3::X, Vec3::Z] {
        let mut spec = HumanoidSpec::new().rig(&walker.body);
        spec.feet[1].contact = Some(node);
        let rig = Rig::new(&walker.bind, Some(&walker.body), &spec).unwrap();
        for look_ahead in [0.0, AHEAD] {
            let rig = rig.clone().with_planter(walker.planter(look_ahead)).unwrap();
            let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), walker.bind.clone());
            for n in 0..60 {
                let time = n as f32 * DT;
                let sample = |later: f32, pose: &mut Pose| {
                    pose.copy_from(&walker.bind);
                    pose.set_translation(node, at(axis, time + later));
                    Placement::IDENTITY
                };
                sample(0.0, &mut pose);
                pose.update();
                let frame = RigFrame::new(DT).with_ground(&Rough);
                let frame = if look_ahead > 0.0 { frame.with_look_ahead(&sample) } else { frame };
                rig.apply(&mut state, &mut workspace, &mut pose, &frame).unwrap();
                let stands = state.feet().unwrap().stands(1);
                // A tick is 1/30 s; with look-ahead a foot is down a tick before, without a tick may take a frame more.
                let near = [0.2, 0.7].iter().any(|t| (-0.035..0.06).contains(&(time - t)));
                assert!(
                    near || stands == (0.2..0.7).contains(&time),
                    "{axis}, {look_ahead}, {time}: {stands}"
                );
                assert!(state.feet().unwrap().stands(0));
            }
        }
    }
    let mut spec = HumanoidSpec::new().rig(&walker.body);
    let mut builder = Skeleton::builder();
    let far =
        (0..99).map(|n| builder.add(format!("{n}"), None, JointTransform::from_translation(Vec3::ZERO)));
    let far = far.last().unwrap();
    spec.feet[0].contact = Some(builder.build().unwrap().1[far]);
    let rig = Rig::new(&walker.bind, Some(&walker.body), &spec).unwrap();
    let error = rig.with_planter(walker.planter(0.0)).err().unwrap();
    assert!(matches!(error, RigError::NoContact { .. }), "{error}");
}

#[test]
fn only_the_first_frame_allocates() {
    let walker = Walker::new();
    for limbs in [Limbs::TwoBone, Limbs::FullBody] {
        let mut player = Player::new(&walker, walker.rig(limbs, AHEAD));
        let mut goals = player.goals(&[("body", Goal::position(Vec3::new(0.0, 0.8, 0.0)))]);
        let hand = Goal::position(Vec3::new(0.3, 1.2, 0.4));
        goals[player.rig.find_goal("left hand", None).unwrap()] = hand.into();
        let mut standing = 0;
        player.step(&goals);
        for n in 0..90 {
            let frame = || standing += player.step(&goals).planted.unwrap().standing;
            let counted = allocation_counter::measure(frame);
            assert_eq!(counted.count_total, 0, "{limbs}, frame {n}");
        }
        assert!(standing > 60, "{standing}");
    }
}

#[test]
fn a_ground_without_a_planter_and_figures_of_others_are_refused() {
    let walker = Walker::new();
    let rig = Rig::new(&walker.bind, Some(&walker.body), &HumanoidSpec::new().rig(&walker.body)).unwrap();
    let (mut state, mut pose) = (rig.state(), walker.bind.clone());
    let frame = RigFrame::new(DT).with_ground(&Rough);
    let error = rig.apply(&mut state, &mut Workspace::new(), &mut pose, &frame).unwrap_err();
    assert_eq!(error, RigError::NoPlanter);
    assert_eq!(pose.locals(), walker.bind.locals());
    // States from before are refused.
    let planting = rig.clone().with_planter(walker.planter(0.0)).unwrap();
    let error = planting.apply(&mut state, &mut Workspace::new(), &mut pose, &frame).unwrap_err();
    assert!(matches!(error, RigError::OtherState { .. }), "{error}");

    let mut builder = Skeleton::builder();
    let mut above = None;
    for n in 0..30 {
        let at = JointTransform::from_translation(Vec3::Y * 0.1);
        let parent = if n % 2 == 0 { None } else { above };
        above = Some(builder.add(format!("{n}"), parent, at));
        if n == 3 {
            let few = Pose::rest(&Arc::new(builder.clone().build().unwrap().0));
            let few = Rig::new(&few, None, &Default::default()).unwrap();
            let error = few.with_planter(walker.planter(0.0)).err().unwrap();
            assert!(
                matches!(&error, RigError::Plant(e) if matches!(**e, FootPlanterError::Figure { joints: 4, .. })),
                "{error}"
            );
        }
    }
    let other = Pose::rest(&Arc::new(builder.build().unwrap().0));
    let other = Rig::new(&other, None, &Default::default()).unwrap();
    let error = other.with_planter(walker.planter(0.0)).err().unwrap();
    assert!(matches!(error, RigError::Figure(_)), "{error}");
}
