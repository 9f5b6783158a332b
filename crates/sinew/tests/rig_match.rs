//! Judges switches between forward and inverse kinematics: that goals which are read or matched give the pose back, that what they
//! cannot show fades without moving what they can, that limits hold, and that bad input changes nothing. Positions and turns are
//! measured in f64, apart from the engine.

use crate::rig_figure;

use std::sync::Arc;

use sinew::{
    Goal, JointTransform, Placement, Pole, Pose, Skeleton, Workspace,
    body::{BodyRoles, HumanLimits, Role, Side},
    glam::{Quat, Vec3},
    joint::{Dof, Joint},
    math,
    rig::{
        EffectorSpec, HandleSolver, HandleSpec, HumanoidSpec, Rig, RigError, RigFrame, RigGoal, RigMatch,
        RigSpec, RigState, Space, StartFrom,
    },
};

use rig_figure::{Noise, figure, place, turned};

const DT: f32 = 1.0 / 30.0;
const HERE: Placement = Placement::IDENTITY;

/// Arms and legs, from preferred values.
fn limbs(body: &BodyRoles) -> RigSpec {
    let mut humanoid = HumanoidSpec::new();
    humanoid.from = Some(StartFrom::Preferred);
    let mut spec = humanoid.rig(body);
    spec.handles.retain(|h| h.from == StartFrom::Preferred);
    spec
}

/// Largest distance in metres and largest angle in radians between the joints of two poses.
fn apart(a: &Pose, b: &Pose) -> [f64; 2] {
    let mut worst = [0.0f64; 2];
    for j in a.skeleton().joints() {
        let [(p, q), (r, s)] = [a, b].map(|pose| place(pose, j));
        worst = [worst[0].max(p.distance(r)), worst[1].max(angle(q, s))];
    }
    worst
}

/// The angle of a turn, to the last digits where it is small.
fn angle(a: sinew::glam::DQuat, b: sinew::glam::DQuat) -> f64 {
    let d = a.conjugate() * b;
    2.0 * d.xyz().length().atan2(d.w.abs())
}

fn bits(pose: &Pose) -> Vec<u32> {
    let locals = pose.locals().iter();
    locals
        .flat_map(|l| [&l.translation.to_array()[..], &l.rotation.to_array()].concat())
        .map(f32::to_bits)
        .collect()
}

/// One handle of each solver, apart from each other where they can be.
fn every_solver(body: &BodyRoles, from: StartFrom) -> Vec<HandleSpec> {
    use HandleSolver as S;
    let [left, right] = Side::BOTH.map(|side| *body.arm(side).unwrap());
    let leg = body.leg(Side::Right);
    let of = |solver: S, root, tip| HandleSpec { solver, from, ..HandleSpec::new(solver.name(), root, tip) };
    let mut handles = vec![
        of(S::FullBody, body.hips, body.hips),
        of(S::LookAt, body.spine[0], body.head.unwrap()),
        of(S::TwoBone, left.upper_arm, left.hand),
        of(S::Auto, right.upper_arm, right.hand),
        of(S::Ccd, left.clavicle.unwrap(), left.hand),
        of(S::LeastSquares, right.clavicle.unwrap(), right.hand),
        of(S::Fabrik, leg.thigh, leg.foot),
        of(S::Fold, leg.thigh, leg.foot),
        of(S::JointSpace, leg.thigh, leg.foot),
        of(S::Foot, body.leg(Side::Left).thigh, body.leg(Side::Left).foot),
        of(S::Aim, body.neck.unwrap(), body.neck.unwrap()),
    ];
    handles[0].effectors = [body.head.unwrap(), left.hand, right.hand].map(EffectorSpec::new).to_vec();
    handles[9].foot.toes = body.leg(Side::Left).toes;
    handles
}

fn apply(rig: &Rig, state: &mut RigState, pose: &Pose, goals: &[RigGoal], dt: f32) -> Pose {
    let mut solved = pose.clone();
    let frame = RigFrame::new(dt).with_goals(goals);
    rig.apply(state, &mut Workspace::new(), &mut solved, &frame).unwrap();
    solved
}

#[test]
fn goals_that_are_read_give_the_pose_back() {
    let (bind, body) = figure(1.0, 0.8, 4);
    let mut noise = Noise(3);
    for handle in every_solver(&body, StartFrom::Pose) {
        let rig = Rig::new(&bind, Some(&body), &RigSpec::new(vec![handle.clone()])).unwrap();
        let mut worst = [0.0f64; 2];
        for _ in 0..50 {
            let pose = turned(&bind, &mut noise, 1.0);
            let mut goals = vec![RigGoal::new(); rig.goal_count()];
            rig.read(&pose, &HERE, &mut goals).unwrap();
            let solved = apply(&rig, &mut rig.state(), &pose, &goals, DT);
            let found = apart(&pose, &solved);
            worst = [worst[0].max(found[0]), worst[1].max(found[1])];
        }
        assert!(worst[0] < 5e-6 && worst[1] < 2e-5, "{}: {worst:?}", handle.name);
    }
}

/// A pose that a limb from preferred values can show: each of its joints bent as preferred, by any angle, and turned at its root.
#[test]
fn swivels_and_poles_that_are_read_show_the_plane_of_a_limb() {
    let (bind, body) = figure(1.0, 2.0, 6);
    let rig = Rig::new(&bind, Some(&body), &limbs(&body)).unwrap();
    let mut noise = Noise(5);
    let (mut worst, mut held) = ([[0.0f64; 2]; 3], 0);
    for _ in 0..100 {
        // What the rig itself makes of some goals.
        let mut goals = vec![RigGoal::new(); rig.goal_count()];
        let base = turned(&bind, &mut noise, 0.7);
        let mut other = base.clone();
        for &j in rig.joints() {
            other.turn(j, math::axis_angle(noise.vector().normalize(), 0.6));
        }
        other.update();
        rig.read(&other, &HERE, &mut goals).unwrap();
        for goal in &mut goals {
            goal.goal.swivel = 3.0 * noise.next();
        }
        let pose = apply(&rig, &mut rig.state(), &base, &goals, DT);
        // At the ends of an arm's ranges its elbow moves by the square root of what rounding moves the hand.
        let off = |goal: &RigGoal, joint| goal.goal.position.unwrap().distance(pose.position(joint));
        let hands = Side::BOTH.map(|side| body.arm(side).unwrap().hand);
        let ends = goals.iter().zip(hands).any(|(goal, hand)| off(goal, hand) > 1e-4);
        held += usize::from(ends);
        let magnified = if ends { 10.0 } else { 1.0 };
        let kinds = [Pole::Keep, Pole::Point(Vec3::ZERO), Pole::Direction(Vec3::X)];
        for (worst, pole) in worst.iter_mut().zip(kinds) {
            let space = Space::Role(Role::Hips);
            let mut read = vec![Goal::NONE.with_pole(pole); goals.len()]
                .into_iter()
                .map(|goal| RigGoal::from(goal).with_space(space))
                .collect::<Vec<_>>();
            rig.read(&pose, &HERE, &mut read).unwrap();
            for goal in &read {
                assert!(core::mem::discriminant(&goal.goal.pole) == core::mem::discriminant(&pole));
                assert!((goal.goal.swivel != 0.0) == (pole == Pole::Keep) && goal.space == Some(space));
            }
            // From another pose of the limbs: they come from the goals alone.
            let mut other = pose.clone();
            for &j in rig.joints() {
                other.set_rotation(j, bind.local(j).rotation);
            }
            for toes in Side::BOTH.map(|side| body.leg(side).toes.unwrap()) {
                other.set_rotation(toes, pose.local(toes).rotation);
            }
            let found = apart(&pose, &apply(&rig, &mut rig.state(), &other, &read, DT));
            *worst = [0, 1].map(|k| worst[k].max(found[k] / magnified));
        }
    }
    assert!((5..20).contains(&held), "{held}");
    for worst in worst {
        assert!(worst[0] < 2e-5 && worst[1] < 2e-4, "{worst:?}");
    }
}

#[test]
fn matched_goals_change_nothing_at_the_switch_and_the_rest_fades_without_moving_the_end() {
    let (bind, body) = figure(1.0, -0.6, 8);
    let mut noise = Noise(11);
    let seconds = 10.0 * DT;
    for from in [StartFrom::Pose, StartFrom::Preferred, StartFrom::Last] {
        for handle in every_solver(&body, from) {
            let name = format!("{} from {from}", handle.name);
            let limb =
                matches!(handle.solver, HandleSolver::TwoBone | HandleSolver::Auto | HandleSolver::Foot);
            let rig = Rig::new(&bind, Some(&body), &RigSpec::new(vec![handle.clone()])).unwrap();
            let (mut largest, mut beside) = (0.0f32, 0);
            for trial in 0..20 {
                let pose = turned(&bind, &mut noise, 0.8);
                let (mut state, mut workspace) = (rig.state(), Workspace::new());
                let mut goals = vec![RigGoal::new(); rig.goal_count()];
                let mut kept = pose.clone();
                rig.match_goals(
                    &mut state,
                    &mut workspace,
                    &mut kept,
                    &RigFrame::new(0.0),
                    &mut goals,
                    &RigMatch::new(seconds),
                )
                .unwrap();
                assert_eq!(bits(&kept), bits(&pose), "{name}: the pose stays");
                let influence = [1.0, 0.4, 0.0, 0.9][trial % 4];
                let whole = handle.solver == HandleSolver::FullBody;
                let given = goals.clone();
                for goal in goals.iter_mut().filter(|_| !whole) {
                    (goal.goal.position_influence, goal.goal.rotation_influence) = (influence, influence);
                }
                let found = apart(&pose, &apply(&rig, &mut state, &pose, &goals, DT));
                assert!(found[0] < 1e-5 && found[1] < 1e-4, "{name} at the switch: {found:?}");
                // The animation stands still, and the residual fades.
                let mut last = pose.clone();
                for frame in 1..12 {
                    let mut solved = pose.clone();
                    let given = RigFrame::new(DT).with_goals(&given);
                    let report =
                        rig.apply(&mut state, &mut workspace, &mut solved, &given).unwrap().handles[0];
                    largest = largest.max(report.residual_turn);
                    if limb {
                        let tip = place(&pose, handle.tip).0.distance(place(&solved, handle.tip).0);
                        // A limb that is overextended passes through straight.
                        assert!(tip < 2e-3, "{name}: the tip moves by {tip}");
                        beside += usize::from(tip > 1e-5);
                    }
                    // Smoothstep changes by at most 1.5 of a tenth; turns of joints above add.
                    let step = apart(&last, &solved)[1];
                    let most = 0.15 * 3.2 * (handle.effectors.len() + 3) as f64;
                    assert!(step <= most, "{name}: a step of {step}");
                    if frame >= 10 {
                        assert_eq!(report.residual_turn, 0.0);
                        let mut fresh = rig.state();
                        if from != StartFrom::Last {
                            assert_eq!(bits(&solved), bits(&apply(&rig, &mut fresh, &pose, given.goals, DT)));
                        }
                    }
                    last = solved;
                }
            }
            assert!(beside <= 20, "{name}: the tip moves in {beside} of 220 frames");
            // Of a joint that aims, goal and up direction show all.
            let rest = from == StartFrom::Preferred && handle.solver != HandleSolver::Aim;
            assert!(rest == (largest > 0.1), "{name}: residual turns up to {largest}");
        }
    }
}

#[test]
fn a_matched_pose_stays_when_handles_are_switched_off_and_fades_to_the_animation() {
    let (bind, body) = figure(1.0, 0.3, 2);
    let mut noise = Noise(21);
    let seconds = 10.0 * DT;
    for from in [StartFrom::Pose, StartFrom::Preferred, StartFrom::Last] {
        for handle in every_solver(&body, from) {
            let name = format!("{} from {from}", handle.name);
            let rig = Rig::new(&bind, Some(&body), &RigSpec::new(vec![handle.clone()])).unwrap();
            for _ in 0..10 {
                let pose = turned(&bind, &mut noise, 0.6);
                let (mut state, mut workspace) = (rig.state(), Workspace::new());
                let mut goals = vec![RigGoal::new(); rig.goal_count()];
                rig.read(&turned(&bind, &mut noise, 0.6), &HERE, &mut goals).unwrap();
                let shown = apply(&rig, &mut state, &pose, &goals, DT);
                let mut matched = pose.clone();
                let frame = RigFrame::new(DT).with_goals(&goals);
                rig.match_pose(&mut state, &mut workspace, &mut matched, &frame, &RigMatch::new(seconds))
                    .unwrap();
                let found = apart(&shown, &matched);
                let again = [
                    HandleSolver::Ccd,
                    HandleSolver::Fabrik,
                    HandleSolver::Fold,
                    HandleSolver::LeastSquares,
                    HandleSolver::FullBody,
                ];
                // A handle that continues and iterates goes on towards a goal that is not met.
                let most = if from == StartFrom::Last && again.contains(&handle.solver) { 0.1 } else { 1e-5 };
                assert!(found[0] <= most, "{name}: {found:?}");
                state.set_on(0, false);
                let off = apply(&rig, &mut state, &pose, &goals, DT);
                let found = apart(&matched, &off);
                assert!(found[0] < 1e-5 && found[1] < 2e-5, "{name}: off, {found:?}");
                let mut last = off;
                for frame in 1..12 {
                    let now = apply(&rig, &mut state, &pose, &goals, DT);
                    let step = apart(&last, &now)[1];
                    assert!(step <= 0.15 * 3.2, "{name}: a step of {step}");
                    if frame >= 10 {
                        assert_eq!(bits(&now), bits(&pose), "{name}: faded");
                    }
                    last = now;
                }
            }
        }
    }
}

#[test]
fn keyed_transforms_of_a_matched_pose_need_no_residual() {
    let (bind, body) = figure(1.0, 0.0, 1);
    let rig = Rig::new(&bind, Some(&body), &limbs(&body)).unwrap();
    let mut noise = Noise(8);
    let mut goals = vec![RigGoal::new(); rig.goal_count()];
    rig.read(&turned(&bind, &mut noise, 0.6), &HERE, &mut goals).unwrap();
    let (mut state, mut keyed) = (rig.state(), turned(&bind, &mut noise, 0.3));
    let (animation, before) = (keyed.clone(), state.clone());
    let frame = RigFrame::new(DT).with_goals(&goals);
    rig.match_pose(&mut state, &mut Workspace::new(), &mut keyed, &frame, &RigMatch::new(0.0)).unwrap();
    assert_eq!(state, before);
    // Only rigged joints are keyed.
    for j in bind.skeleton().joints().filter(|j| !rig.joints().contains(j)) {
        assert_eq!(keyed.local(j), animation.local(j));
    }
    (0..rig.len()).for_each(|n| state.set_on(n, false));
    assert_eq!(bits(&apply(&rig, &mut state, &keyed, &goals, DT)), bits(&keyed));
}

/// The clip walks; an arm goes from FK to IK and back, 20 times, and follows the clip's hand while it is on.
#[test]
fn back_and_forth_twenty_times_without_a_jump() {
    let (bind, body) = figure(1.0, 0.0, 13);
    let hands = Side::BOTH.map(|side| body.arm(side).unwrap().hand);
    let feet = Side::BOTH.map(|side| body.leg(side).foot);
    let clip = |frame: usize| {
        let mut pose = bind.clone();
        for (n, j) in bind.skeleton().joints().enumerate() {
            let axis = Vec3::new((n as f32).sin(), (2.0 * n as f32).cos(), 0.4).normalize();
            pose.turn(j, math::axis_angle(axis, 0.3 + 0.4 * (0.11 * frame as f32 + n as f32).sin()));
        }
        pose.update();
        pose
    };
    let rig = Rig::new(&bind, Some(&body), &limbs(&body)).unwrap();
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut goals = vec![RigGoal::new(); rig.goal_count()];
    (0..rig.len()).for_each(|n| state.set_on(n, false));
    let (mut on, mut switches, mut differs, mut beside) = (false, 0, 0.0f64, 0);
    for frame in 0..=40 * 7 {
        let pose = clip(frame);
        if on {
            rig.read(&pose, &HERE, &mut goals).unwrap();
        }
        if frame % 7 == 0 && frame > 0 {
            // The frame as it would be without the switch, and with it.
            let before = apply(&rig, &mut state.clone(), &pose, &goals, DT);
            let to = RigMatch::new(0.15);
            let mut matched = pose.clone();
            if on {
                let frame = RigFrame::new(DT).with_goals(&goals);
                rig.match_pose(&mut state, &mut workspace, &mut matched, &frame, &to).unwrap();
            } else {
                rig.match_goals(
                    &mut state,
                    &mut workspace,
                    &mut matched,
                    &RigFrame::new(DT),
                    &mut goals,
                    &to,
                )
                .unwrap();
            }
            on = !on;
            switches += 1;
            (0..rig.len()).for_each(|n| state.set_on(n, on));
            let after = apply(&rig, &mut state.clone(), &pose, &goals, DT);
            let jump = apart(&before, &after);
            assert!(jump[1].to_degrees() < 0.1 && jump[0] < 1e-3, "switch {switches}: {jump:?}");
        }
        let shown = apply(&rig, &mut state, &pose, &goals, DT);
        differs = differs.max(apart(&pose, &shown)[1]);
        for j in hands.into_iter().chain(feet) {
            let off = place(&pose, j).0.distance(place(&shown, j).0);
            // Knees that are overextended at a switch pass through straight, while the clip goes on to bend them.
            assert!(off < 4e-3, "frame {frame}: {} is {off} m off", bind.skeleton().name(j));
            beside += usize::from(off > 1e-4);
        }
    }
    assert_eq!(switches, 40);
    assert!(beside <= 20, "{beside} of 1124 ends");
    assert!(differs > 0.2, "the limbs never rolled otherwise than the clip's: {differs}");
}

#[test]
fn limits_hold_beside_residuals() {
    let (free, body) = figure(1.0, 0.0, 17);
    let mut skeleton = free.skeleton().as_ref().clone();
    HumanLimits::of(&free, &body).apply(&mut skeleton).unwrap();
    let bind = Pose::rest(&Arc::new(skeleton));
    let skeleton = bind.skeleton().clone();
    let rig = Rig::new(&bind, Some(&body), &limbs(&body)).unwrap();
    let mut noise = Noise(31);
    let within = |noise: &mut Noise| {
        let mut pose = turned(&bind, noise, 1.2);
        for j in skeleton.joints() {
            pose.set_rotation(j, skeleton.limits(j).clamp(pose.local(j).rotation));
        }
        pose.update();
        pose
    };
    let (mut turns, mut refused) = (0.0f32, 0.0f32);
    for trial in 0..100 {
        let (mut state, mut workspace) = (rig.state(), Workspace::new());
        let mut goals = vec![RigGoal::new(); rig.goal_count()];
        let mut from = within(&mut noise);
        let to = within(&mut noise);
        let matching = RigMatch::new(0.5);
        if trial % 2 == 0 {
            rig.match_goals(&mut state, &mut workspace, &mut from, &RigFrame::new(DT), &mut goals, &matching)
                .unwrap();
            let found = apart(&from, &apply(&rig, &mut state.clone(), &from, &goals, DT));
            assert!(found[1] < 1e-3, "{found:?}");
        } else {
            rig.read(&to, &HERE, &mut goals).unwrap();
            let frame = RigFrame::new(DT).with_goals(&goals);
            rig.match_pose(&mut state, &mut workspace, &mut from.clone(), &frame, &matching).unwrap();
            (0..rig.len()).for_each(|n| state.set_on(n, false));
        }
        for frame in 0..20 {
            // The animation moves on, within its limits, to elsewhere.
            let mut pose = from.clone();
            pose.blend(&to, frame as f32 / 20.0).unwrap();
            pose.update();
            let given = RigFrame::new(DT).with_goals(&goals);
            let report = rig.apply(&mut state, &mut workspace, &mut pose, &given).unwrap();
            for handle in report.handles {
                turns = turns.max(handle.residual_turn);
                refused = refused.max(handle.residual_refused);
            }
            for j in skeleton.joints() {
                let excess = skeleton.limit_excess(j, pose.local(j).rotation);
                assert!(excess <= 1e-5, "trial {trial}: `{}` by {excess}", skeleton.name(j));
            }
        }
    }
    assert!(turns > 0.5 && refused > 0.05, "{turns} {refused}");
}

#[test]
fn durations_of_0_and_infinity_resets_and_single_handles() {
    let (bind, body) = figure(1.0, 0.0, 19);
    let rig = Rig::new(&bind, Some(&body), &limbs(&body)).unwrap();
    let mut noise = Noise(41);
    let (pose, mut workspace) = (turned(&bind, &mut noise, 0.8), Workspace::new());
    let mut matched = |to: RigMatch| {
        let (mut state, mut goals) = (rig.state(), vec![RigGoal::new(); rig.goal_count()]);
        rig.match_goals(&mut state, &mut workspace, &mut pose.clone(), &RigFrame::new(DT), &mut goals, &to)
            .unwrap();
        (state, goals)
    };
    let (mut none, goals) = matched(RigMatch::new(0.0));
    let plain = apply(&rig, &mut none, &pose, &goals, DT);
    assert_eq!(bits(&plain), bits(&apply(&rig, &mut rig.state(), &pose, &goals, DT)));
    assert!(apart(&plain, &pose)[1] > 0.1);

    let (mut always, goals) = matched(RigMatch::new(f32::INFINITY));
    for dt in [0.0, 1e30, f32::MAX, DT] {
        assert!(apart(&pose, &apply(&rig, &mut always, &pose, &goals, dt))[1] < 1e-4);
    }
    always.reset();
    assert_eq!(bits(&apply(&rig, &mut always, &pose, &goals, DT)), bits(&plain));

    let (mut one, goals) = matched(RigMatch::new(f32::INFINITY).with_handle(1));
    let set: Vec<bool> = goals.iter().map(|g| !g.is_unset()).collect();
    assert_eq!(set, [false, true, false, false]);
    assert!(apart(&pose, &apply(&rig, &mut one, &pose, &goals, DT))[1] < 1e-4);
}

#[test]
fn bad_matches_change_nothing() {
    let (bind, body) = figure(1.0, 0.0, 0);
    let rig = Rig::new(&bind, Some(&body), &limbs(&body)).unwrap();
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let pose = turned(&bind, &mut Noise(2), 0.5);
    let (other, _) = figure(1.0, 0.0, 5);
    let mut nan = pose.clone();
    nan.set_rotation(body.hips, Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0));
    nan.update();
    let mut foreign = Rig::new(&bind, Some(&body), &RigSpec::default()).unwrap().state();
    let good = RigMatch::new(0.1);
    let unset = vec![RigGoal::new(); rig.goal_count()];
    let hand = body.arm(Side::Left).unwrap().hand;
    let moved = [vec![RigGoal::new().with_space(Space::Joint(hand))], unset[1..].to_vec()].concat();
    let cases: [(&Pose, RigMatch, &[RigGoal], &str); 8] = [
        (&pose, RigMatch::new(-1.0), &unset, "0 s or more"),
        (&pose, RigMatch::new(f32::NAN), &unset, "not NaN"),
        (&pose, good.with_handle(4), &unset, "there is no handle 4: the rig has 4"),
        (&pose, good, &unset[1..], "3 goals were given for 4"),
        (&other, good, &unset, "another skeleton"),
        (&nan, good, &unset, "NaN"),
        (&pose, good, &moved, "moves by joint"),
        (&pose, good, &[unset.clone(), unset.clone()].concat(), "8 goals"),
    ];
    // A state that has something to lose.
    let mut goals = unset.clone();
    rig.match_goals(&mut state, &mut workspace, &mut pose.clone(), &RigFrame::new(DT), &mut goals, &good)
        .unwrap();
    apply(&rig, &mut state, &bind, &goals, DT);
    let before = state.clone();
    for (given, to, goals, said) in cases {
        let mut own = given.clone();
        let mut read = goals.to_vec();
        let error = rig
            .match_goals(&mut state, &mut workspace, &mut own, &RigFrame::new(DT), &mut read, &to)
            .unwrap_err();
        assert!(error.to_string().contains(said), "{error} instead of {said}");
        assert!(state == before && bits(&own) == bits(given) && read == goals, "{said}");
        let frame = RigFrame::new(DT).with_goals(goals);
        match rig.match_pose(&mut state, &mut workspace, &mut own, &frame, &to) {
            Err(error) => assert!(error.to_string().contains(said), "{error} instead of {said}"),
            // Without goals, the handles do not look at the pose.
            Ok(()) => assert_eq!(said, "NaN"),
        }
        assert!(state == before && bits(&own) == bits(given), "{said}");
    }
    let foreign = rig.match_goals(
        &mut foreign,
        &mut workspace,
        &mut pose.clone(),
        &RigFrame::new(DT),
        &mut goals,
        &good,
    );
    assert!(matches!(foreign, Err(RigError::OtherState { .. })));
}

/// A tree of joints with lengths, turns and kinds of joint by chance; where `scaled`, with scales that mirror and squash.
fn random_tree(noise: &mut Noise, scaled: bool) -> Pose {
    let count = 4 + (4.0 * (1.0 + noise.next())) as usize;
    let mut builder = Skeleton::builder();
    for n in 0..count {
        // Mostly a chain.
        let parent = n.checked_sub(if n > 2 && noise.next() > 0.6 { 2 } else { 1 });
        let mut local = JointTransform::from_translation(0.3 * noise.vector());
        local.rotation = noise.turn();
        if scaled && noise.next() > 0.5 {
            local.scale = if noise.next() > 0.0 {
                Vec3::splat(1.5 * noise.next())
            } else {
                Vec3::ONE + 0.2 * noise.vector()
            };
        }
        builder.add(format!("{n}"), parent, local);
    }
    let (mut skeleton, ids) = builder.build().unwrap();
    for &j in &ids[1..] {
        let mut dof =
            || Dof::range(f64::from(-0.2 - noise.next().abs()), f64::from(0.2 + noise.next().abs()));
        let (a, b, c) = (dof(), dof(), dof());
        let axis = noise.vector().normalize_or(Vec3::X);
        let joint = match (4.0 * (1.0 + noise.next())) as u32 {
            0 => Joint::hinge(axis, a),
            1 => Joint::cone(axis, b.range.max, c.range.max),
            2 => Joint::slider(axis, a),
            _ => Joint::FREE,
        };
        // Some joints cannot be limited as asked.
        let _ = skeleton.set_joint(j, joint);
    }
    Pose::rest(&Arc::new(skeleton))
}

#[test]
fn random_rigs_keep_their_pose_at_a_match_and_their_limits_after_it() {
    let mut noise = Noise(77);
    let (mut rigs, mut matched, mut refused, mut unequal, mut back) = (0, 0, 0, 0, 0);
    for trial in 0..3000 {
        let scaled = trial % 3 == 0;
        let rest = random_tree(&mut noise, scaled);
        let skeleton = rest.skeleton().clone();
        let ids: Vec<_> = skeleton.joints().collect();
        let pick = |noise: &mut Noise, n: usize| ((0.5 + 0.499 * noise.next()) * n as f32) as usize;
        let mut handles = Vec::new();
        for n in 0..1 + trial % 2 {
            let tip = ids[1 + pick(&mut noise, ids.len() - 1)];
            let above: Vec<_> = skeleton.ancestors(tip).collect();
            let root = above[pick(&mut noise, above.len())];
            let solver = HandleSolver::ALL[pick(&mut noise, HandleSolver::ALL.len())];
            let from = StartFrom::ALL[pick(&mut noise, 3)];
            let mut spec = HandleSpec { solver, from, ..HandleSpec::new(format!("{n}"), root, tip) };
            match solver {
                HandleSolver::Aim => spec.root = tip,
                HandleSolver::FullBody | HandleSolver::Spline => {
                    spec.effectors = vec![EffectorSpec::new(root), EffectorSpec::new(tip)];
                }
                _ => {}
            }
            handles.push(spec);
        }
        let Ok(rig) = Rig::new(&rest, None, &RigSpec::new(handles.clone())) else { continue };
        rigs += 1;
        let mut pose = turned(&rest, &mut noise, 0.7);
        for &j in &ids {
            pose.set_rotation(j, skeleton.limits(j).clamp(pose.local(j).rotation));
        }
        pose.update();
        let (mut state, mut workspace) = (rig.state(), Workspace::new());
        let mut goals = vec![RigGoal::new(); rig.goal_count()];
        let (before, to) = (bits(&pose), RigMatch::new(0.2));
        let frame = RigFrame::new(DT);
        let done = rig.match_goals(&mut state, &mut workspace, &mut pose, &frame, &mut goals, &to);
        assert_eq!(bits(&pose), before, "{handles:?}");
        if done.is_err() {
            refused += 1;
            continue;
        }
        let mut shown = pose.clone();
        for frame in 0..9 {
            shown.copy_from(&pose);
            let given = RigFrame::new(DT).with_goals(&goals);
            let report = match rig.apply(&mut state, &mut workspace, &mut shown, &given) {
                Ok(report) => report,
                Err(error) => panic!("{error} of a goal that was read: {handles:?}"),
            };
            let held = report.handles.iter().all(|h| h.residual_refused < 1e-4);
            assert!(shown.locals().iter().all(|l| l.rotation.is_finite() && l.translation.is_finite()));
            for &j in &ids {
                let excess = skeleton.limit_excess(j, shown.local(j).rotation);
                assert!(excess <= 1e-5, "frame {frame}: {excess} of {handles:?}");
            }
            if frame == 0 && held {
                let turn = |&j: &sinew::JointId| {
                    math::angle_between(pose.local(j).rotation, shown.local(j).rotation)
                };
                let off = ids.iter().map(turn).fold(0.0, f32::max);
                matched += 1;
                unequal += usize::from(off > 1e-3);
            }
            if frame == 8 {
                assert!(report.handles.iter().all(|h| h.residual_turn == 0.0));
            }
        }
        // And back, from other goals.
        for goal in &mut goals {
            goal.goal.position = goal.goal.position.map(|p| p + 0.1 * noise.vector());
        }
        let (mut solved, given) = (pose.clone(), RigFrame::new(DT).with_goals(&goals));
        if rig.match_pose(&mut state, &mut workspace, &mut solved, &given, &to).is_err() {
            continue;
        }
        (0..rig.len()).for_each(|n| state.set_on(n, false));
        shown.copy_from(&pose);
        let report = rig.apply(&mut state, &mut workspace, &mut shown, &given).unwrap();
        if report.handles.iter().all(|h| h.residual_refused < 1e-4) {
            back += 1;
            for &j in &ids {
                let [a, b] = [&solved, &shown].map(|pose| *pose.local(j));
                let off =
                    math::angle_between(a.rotation, b.rotation).max(a.translation.distance(b.translation));
                assert!(off < 1e-3, "{off} at {j} of {handles:?}");
            }
        }
    }
    assert!(rigs > 500 && matched > 400, "{rigs} rigs, {matched} matched, {refused} refused");
    assert_eq!(unequal, 0, "of {matched}");
    assert!(back > 400, "{back} matched back");
}
