//! Judges rigs: that a fresh one changes nothing, that answers are what closed forms say, that they do not depend on the order
//! of frames or on threads, and that bad input is refused by name.

use std::{sync::Arc, thread};

use sinew::{
    Goal, JointId, JointTransform, Placement, Pole, Pose, Skeleton, Workspace,
    draw::{DrawList, ShapeRole, ShapeState, Theme},
    glam::{Affine3, DQuat, DVec3, Quat, Vec3},
    joint::{Dof, Joint},
    math,
    rig::{
        EffectorSpec, GoalSpec, HandleFault, HandleSolver, HandleSpec, Rig, RigError, RigFrame, RigGoal,
        RigSpec, RigState, Space, StartFrom,
    },
    solve::{IterativeOptions, LimbOptions, TwoBone},
};

const DT: f32 = 1.0 / 30.0;

/// Positions of all joints in f64, written apart from the engine.
fn places(pose: &Pose) -> Vec<(DVec3, DQuat)> {
    let skeleton = pose.skeleton();
    let mut all: Vec<(DVec3, DQuat)> = Vec::new();
    for j in skeleton.joints() {
        let local = pose.local(j);
        let (at, turn) = (local.translation.as_dvec3(), local.rotation.as_dquat().normalize());
        all.push(match skeleton.parent(j) {
            Some(p) => {
                let (above, turned) = all[p.index()];
                (above + turned * at, turned * turn)
            }
            None => (at, turn),
        });
    }
    all
}

fn place(pose: &Pose, j: JointId) -> DVec3 {
    places(pose)[j.index()].0
}

/// A figure: hips, a chest with a head and two arms, two legs with toes, a forearm with a twist joint, a tail of six, and
/// control joints beside it.
fn figure() -> Pose {
    let mut b = Skeleton::builder();
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let root = b.add("root", None, at(0.0, 0.0, 0.0));
    let hips = b.add("hips", Some(root), at(0.0, 1.0, 0.0));
    let chest = b.add("chest", Some(hips), at(0.0, 0.4, 0.0));
    let neck = b.add("neck", Some(chest), at(0.0, 0.2, 0.0));
    b.add("head", Some(neck), at(0.0, 0.1, 0.0));
    for (side, x) in [("l", 1.0), ("r", -1.0)] {
        let upper = b.add(format!("upper.{side}"), Some(chest), at(0.2 * x, 0.1, 0.0));
        let fore = b.add(format!("fore.{side}"), Some(upper), at(0.3 * x, 0.0, -0.03));
        let twist = b.add(format!("twist.{side}"), Some(fore), at(0.14 * x, 0.0, 0.015));
        b.add(format!("hand.{side}"), Some(twist), at(0.14 * x, 0.0, 0.015));
        let thigh = b.add(format!("thigh.{side}"), Some(hips), at(0.1 * x, -0.05, 0.0));
        let shin = b.add(format!("shin.{side}"), Some(thigh), at(0.0, -0.43, 0.03));
        let foot = b.add(format!("foot.{side}"), Some(shin), at(0.0, -0.43, -0.03));
        b.add(format!("toes.{side}"), Some(foot), at(0.0, -0.07, 0.13));
        b.add(format!("hand control.{side}"), Some(root), at(0.78 * x, 1.5, 0.0));
        b.add(format!("elbow control.{side}"), Some(root), at(0.5 * x, 1.4, -0.5));
    }
    let mut tail = b.add("tail 0", Some(hips), at(0.0, 0.0, -0.1));
    for n in 1..6 {
        tail = b.add(format!("tail {n}"), Some(tail), at(0.0, 0.0, -0.15));
    }
    Pose::rest(&Arc::new(b.build().unwrap().0))
}

fn find(pose: &Pose, name: &str) -> JointId {
    pose.skeleton().find(name).unwrap()
}

fn handle(pose: &Pose, solver: HandleSolver, from: StartFrom, root: &str, tip: &str) -> HandleSpec {
    HandleSpec {
        solver,
        from,
        ..HandleSpec::new(format!("{solver} {root}"), find(pose, root), find(pose, tip))
    }
}

fn rig(pose: &Pose, handles: Vec<HandleSpec>) -> Rig {
    Rig::new(pose, None, &RigSpec::new(handles)).unwrap()
}

fn refused(pose: &Pose, handles: Vec<HandleSpec>) -> String {
    Rig::new(pose, None, &RigSpec::new(handles)).err().unwrap().to_string()
}

fn bits(pose: &Pose) -> Vec<u32> {
    let of =
        |l: &JointTransform| [l.translation.to_array().to_vec(), l.rotation.to_array().to_vec()].concat();
    pose.locals().iter().flat_map(of).map(f32::to_bits).collect()
}

/// A frame of an animation that moves every joint, the controls and the length of an arm.
fn animation(rest: &Pose, frame: usize) -> Pose {
    let mut pose = rest.clone();
    let t = frame as f32 * 0.13;
    for (n, j) in rest.skeleton().joints().enumerate() {
        let axis = Vec3::new((n as f32).sin(), (2.0 * n as f32).cos(), 0.4).normalize();
        pose.set_rotation(j, math::axis_angle(axis, 0.4 * (t + n as f32).sin()));
        if n > 0 {
            let at = rest.local(j).translation;
            pose.set_translation(j, at * (1.0 + 0.02 * (t * 1.7 + n as f32).cos()));
        }
    }
    pose.set_rotation(find(rest, "root"), Quat::IDENTITY);
    pose.update();
    pose
}

/// One handle of each solver, with goals near the animation's.
fn all(pose: &Pose, from: StartFrom) -> Vec<HandleSpec> {
    use HandleSolver as S;
    let effectors =
        |names: &[&str]| names.iter().map(|n| EffectorSpec::new(find(pose, n))).collect::<Vec<_>>();
    let mut handles = vec![
        handle(pose, S::FullBody, from, "hips", "hips"),
        handle(pose, S::LookAt, from, "chest", "head"),
        handle(pose, S::TwoBone, from, "upper.l", "hand.l"),
        handle(pose, S::Auto, from, "upper.r", "hand.r"),
        handle(pose, S::Foot, from, "thigh.l", "foot.l"),
        handle(pose, S::JointSpace, from, "thigh.r", "foot.r"),
        handle(pose, S::Aim, from, "head", "head"),
    ];
    handles[0].effectors = effectors(&["head", "hand.l", "hand.r"]);
    handles[4].foot.toes = Some(find(pose, "toes.l"));
    for (n, solver) in
        [S::Follow, S::Ccd, S::Fabrik, S::Fold, S::LeastSquares, S::Spline].into_iter().enumerate()
    {
        handles
            .push(HandleSpec { name: format!("tail {n}"), ..handle(pose, solver, from, "tail 0", "tail 5") });
    }
    handles.last_mut().unwrap().effectors = effectors(&["tail 0", "tail 3", "tail 5"]);
    if from != StartFrom::Last {
        handles.push(handle(pose, S::Twist, StartFrom::Pose, "fore.l", "hand.l"));
    }
    handles
}

/// Goals for these handles that move with the frame.
fn goals(rig: &Rig, pose: &Pose, specs: &[HandleSpec], frame: usize) -> Vec<RigGoal> {
    let t = 0.21 * frame as f32;
    let mut goals = Vec::new();
    for spec in specs {
        let joints: Vec<JointId> = match spec.effectors.as_slice() {
            [] => vec![spec.tip],
            some => some.iter().map(|e| e.joint).collect(),
        };
        for j in joints {
            let to = pose.position(j) + 0.12 * Vec3::new(t.sin(), (1.3 * t).cos(), (0.7 * t).sin());
            let mut goal = Goal::position(to);
            match spec.solver {
                HandleSolver::TwoBone => {
                    goal = goal.with_pole(Pole::Direction(Vec3::new(0.0, -0.3, -1.0))).with_swivel(0.2);
                }
                HandleSolver::JointSpace | HandleSolver::Auto => {
                    goal = goal.with_rotation(math::axis_angle(Vec3::Y, 0.3 * t.sin()));
                }
                HandleSolver::LookAt | HandleSolver::Aim => goal = Goal::position(to + Vec3::Z),
                HandleSolver::Twist => goal = Goal::NONE,
                _ => {}
            }
            let mut goal = RigGoal::from(goal);
            if spec.solver == HandleSolver::Foot {
                (goal.roll, goal.bank, goal.pivot) = (0.6 * t.sin(), 0.1, 0.2);
            }
            goals.push(goal);
        }
    }
    assert_eq!(goals.len(), rig.goal_count());
    goals
}

#[test]
fn a_fresh_rig_changes_nothing() {
    let rest = figure();
    for from in [StartFrom::Pose, StartFrom::Preferred, StartFrom::Last] {
        let rig = rig(&rest, all(&rest, from));
        let (mut state, mut workspace) = (rig.state(), Workspace::new());
        for frame in 0..20 {
            let mut pose = animation(&rest, frame);
            let before = bits(&pose);
            let report = rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(DT)).unwrap();
            let off = report.handles.iter().filter(|h| h.was_off()).count();
            // Only the twist acts without a goal.
            assert_eq!(off, if from == StartFrom::Last { rig.len() } else { rig.len() - 1 });
            assert_eq!(before, bits(&pose), "{from}, frame {frame}");
        }
    }
}

#[test]
fn influence_0_and_off_change_nothing_and_a_fade_is_the_curve_it_is_said_to_be() {
    let rest = figure();
    let specs = all(&rest, StartFrom::Preferred);
    let none =
        |spec: &HandleSpec| HandleSpec { position_influence: 0.0, rotation_influence: 0.0, ..spec.clone() };
    let off = |spec: &HandleSpec| HandleSpec { on: false, ..spec.clone() };
    for handles in [specs.iter().map(none).collect::<Vec<_>>(), specs.iter().map(off).collect()] {
        let rig = rig(&rest, handles);
        let mut pose = animation(&rest, 3);
        let (before, goals) = (bits(&pose), goals(&rig, &pose, &specs, 3));
        let frame = RigFrame::new(DT).with_goals(&goals);
        let mut state = rig.state();
        let report = rig.apply(&mut state, &mut Workspace::new(), &mut pose, &frame).unwrap();
        assert!(report.handles.iter().all(|h| h.was_off()));
        assert_eq!(before, bits(&pose));
    }

    let arm = HandleSpec {
        fade: 0.4,
        ..handle(&rest, HandleSolver::TwoBone, StartFrom::Preferred, "upper.l", "hand.l")
    };
    let rig = rig(&rest, vec![arm]);
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let goals = [Goal::position(Vec3::new(0.3, 1.6, 0.4)).into()];
    let mut last = f32::INFINITY;
    state.set_on(0, false);
    for frame in 1..=6 {
        let mut pose = animation(&rest, 0);
        let before = bits(&pose);
        let report =
            rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(0.1).with_goals(&goals)).unwrap();
        let t = (1.0 - 0.25 * frame as f32).max(0.0);
        let h = report.handles[0];
        assert!((h.fade - t * t * (3.0 - 2.0 * t)).abs() < 1e-6, "{} at {t}", h.fade);
        let way = pose
            .local(find(&rest, "upper.l"))
            .rotation
            .angle_between(animation(&rest, 0).local(find(&rest, "upper.l")).rotation);
        assert!(way < last || way == 0.0 && last == 0.0, "{way} after {last}");
        last = way;
        assert_eq!(h.was_off(), t == 0.0);
        assert_eq!(t == 0.0, before == bits(&pose));
    }
    // A reset completes a fade; a restart switches on again.
    state.restart();
    assert!(state.is_on(0) && state == rig.state());
}

/// Solves frames in an order, each with what `state` gives, and returns their bits by frame.
fn solved(
    rig: &Rig,
    rest: &Pose,
    specs: &[HandleSpec],
    order: impl Iterator<Item = usize>,
) -> Vec<(usize, Vec<u32>)> {
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut one = |frame| {
        let mut pose = animation(rest, frame);
        let goals = goals(rig, &pose, specs, frame);
        rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(DT).with_goals(&goals)).unwrap();
        (frame, bits(&pose))
    };
    order.map(&mut one).collect()
}

#[test]
fn the_order_of_frames_and_the_threads_change_no_bit() {
    let rest = figure();
    const FRAMES: usize = 48;
    for from in [StartFrom::Pose, StartFrom::Preferred] {
        let specs = all(&rest, from);
        let rig = rig(&rest, specs.clone());
        let straight = solved(&rig, &rest, &specs, 0..FRAMES);
        let mut others = vec![
            solved(&rig, &rest, &specs, (0..FRAMES).rev()),
            solved(&rig, &rest, &specs, (0..FRAMES).map(|n| n * 29 % FRAMES)),
        ];
        let together: Vec<_> = thread::scope(|scope| {
            let (rig, rest, specs) = (&rig, &rest, &specs);
            let work =
                |first: usize| scope.spawn(move || solved(rig, rest, specs, (first..FRAMES).step_by(8)));
            let threads: Vec<_> = (0..8).map(work).collect();
            threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
        });
        others.push(together);
        for mut other in others {
            other.sort();
            assert!(other == straight, "{from}");
        }
    }
}

#[test]
fn preferred_forgets_the_rotations_of_the_chain() {
    use HandleSolver as S;
    let rest = figure();
    for (solver, root, tip) in [
        (S::TwoBone, "upper.l", "hand.l"),
        (S::Auto, "tail 0", "tail 5"),
        (S::Ccd, "tail 0", "tail 5"),
        (S::Fabrik, "tail 0", "tail 5"),
        (S::Fold, "tail 0", "tail 5"),
        (S::LeastSquares, "tail 0", "tail 5"),
        (S::JointSpace, "tail 0", "tail 5"),
        (S::Spline, "tail 0", "tail 5"),
        (S::Foot, "thigh.l", "foot.l"),
    ] {
        let mut spec = handle(&rest, solver, StartFrom::Preferred, root, tip);
        if solver == S::Spline {
            spec.effectors =
                ["tail 0", "tail 3", "tail 5"].map(|n| EffectorSpec::new(find(&rest, n))).to_vec();
        }
        let rig = rig(&rest, vec![spec.clone()]);
        let chain = sinew::Chain::new(rest.skeleton(), spec.root, spec.tip).unwrap();
        let mut found = Vec::new();
        for frame in 0..4 {
            let mut pose = rest.clone();
            for &j in &chain.joints()[..chain.joints().len() - 1] {
                pose.set_rotation(j, animation(&rest, frame).local(j).rotation);
            }
            pose.update();
            // All parts are given, as an unset one is the animation's.
            let mut goals = goals(&rig, &rest, std::slice::from_ref(&spec), 7);
            let [root, tip] = [spec.root, spec.tip].map(|j| rest.position(j));
            goals[0].goal.position = Some(root.lerp(tip, 0.8) + Vec3::new(0.05, 0.1, 0.05));
            if solver == S::Foot {
                goals[0].goal.rotation = Some(Quat::IDENTITY);
                goals[0].roll = 0.0;
                goals[0].bank = 0.0;
                goals[0].pivot = 0.0;
            }
            rig.apply(
                &mut rig.state(),
                &mut Workspace::new(),
                &mut pose,
                &RigFrame::new(DT).with_goals(&goals),
            )
            .unwrap();
            if solver != S::Spline {
                let to = goals[0].goal.position.unwrap();
                assert!(place(&pose, spec.tip).distance(to.as_dvec3()) < 1e-3, "{solver}");
            }
            found.push(bits(&pose));
        }
        assert!(found.iter().all(|f| *f == found[0]), "{solver}");
    }
}

/// A straight chain of joints along +X from the origin, a metre each.
fn straight(count: usize) -> Pose {
    let mut b = Skeleton::builder();
    for n in 0..count {
        let at = if n == 0 { Vec3::ZERO } else { Vec3::X };
        b.add(format!("{n}"), n.checked_sub(1), JointTransform::from_translation(at));
    }
    b.add("pole", None, JointTransform::from_translation(Vec3::new(1.0, 3.0, 0.0)));
    Pose::rest(&Arc::new(b.build().unwrap().0))
}

#[test]
fn a_chain_that_is_straight_at_rest_bends_in_its_plane() {
    for (solver, count) in [
        (HandleSolver::TwoBone, 3),
        (HandleSolver::Auto, 3),
        (HandleSolver::Auto, 6),
        (HandleSolver::Ccd, 5),
        (HandleSolver::Fabrik, 5),
        (HandleSolver::Fold, 5),
        (HandleSolver::LeastSquares, 5),
        (HandleSolver::JointSpace, 4),
    ] {
        let rest = straight(count);
        let mut spec = handle(&rest, solver, StartFrom::Preferred, "0", &format!("{}", count - 1));
        spec.options = IterativeOptions::new().with_max_iterations(500);
        let rig = rig(&rest, vec![spec.clone()]);
        // By the least turn, +Z is carried to -X.
        let reach = 0.7 * (count - 1) as f32;
        for (goal, up) in [(Vec3::X * reach, Vec3::Z), (Vec3::Z * reach, -Vec3::X)] {
            let mut pose = rest.clone();
            let goals = [Goal::position(goal).into()];
            rig.apply(
                &mut rig.state(),
                &mut Workspace::new(),
                &mut pose,
                &RigFrame::new(DT).with_goals(&goals),
            )
            .unwrap();
            let at = places(&pose);
            assert!(at[spec.tip.index()].0.distance(goal.as_dvec3()) < 1e-3, "{solver}");
            for (n, at) in at[..count - 1].iter().enumerate().skip(1) {
                assert!(at.0.y.abs() < 2e-3, "{solver}, joint {n} at {} leaves its plane", at.0);
            }
            let bend: DVec3 = (1..count - 1).map(|n| at[n].0).sum();
            let bend = bend - goal.normalize().as_dvec3() * bend.dot(goal.normalize().as_dvec3());
            assert!(bend.normalize().dot(up.as_dvec3()) > 0.99, "{solver} bends towards {bend}");
        }
    }
}

#[test]
fn a_bound_pole_and_goal_change_nothing_at_bind() {
    let rest = figure();
    let spec = HandleSpec {
        goal: GoalSpec {
            node: Some(find(&rest, "hand control.l")),
            follows_rotation: true,
            ..GoalSpec::default()
        },
        pole: Some(find(&rest, "elbow control.l")),
        ..handle(&rest, HandleSolver::TwoBone, StartFrom::Preferred, "upper.l", "hand.l")
    };
    let rig = rig(&rest, vec![spec]);
    let mut pose = rest.clone();
    rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &RigFrame::new(DT)).unwrap();
    for j in rest.skeleton().joints() {
        let angle = rest.model_rotation(j).as_dquat().angle_between(pose.model_rotation(j).as_dquat());
        assert!(
            angle < 2e-3 && place(&rest, j).distance(place(&pose, j)) < 1e-5,
            "{}",
            rest.skeleton().name(j)
        );
    }
    // A control that moves and turns takes the hand along as if it were glued on.
    let control = find(&rest, "hand control.l");
    let hand = find(&rest, "hand.l");
    let mut pose = rest.clone();
    let turn = math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7);
    pose.set_translation(control, Vec3::new(0.5, 1.3, 0.3));
    pose.set_rotation(control, turn);
    let glued = DVec3::new(0.5, 1.3, 0.3) + turn.as_dquat() * (place(&rest, hand) - place(&rest, control));
    rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &RigFrame::new(DT)).unwrap();
    assert!(place(&pose, hand).distance(glued) < 1e-5);
    assert!(places(&pose)[hand.index()].1.angle_between(turn.as_dquat()) < 1e-3);
    // The elbow lies in the half plane of the pole, turned as it is at bind.
    let (shoulder, elbow, pole) = ("upper.l", "fore.l", "elbow control.l");
    let swivel = |pose: &Pose| {
        let at = |name| place(pose, find(&rest, name));
        let axis = (at("hand.l") - at(shoulder)).normalize();
        let [a, b] = [elbow, pole].map(|n| (at(n) - at(shoulder)).reject_from_normalized(axis));
        axis.dot(b.cross(a)).atan2(a.dot(b))
    };
    assert!((swivel(&pose) - swivel(&rest)).abs() < 1e-3, "{} {}", swivel(&pose), swivel(&rest));
}

#[test]
fn a_pole_in_the_bend_plane_at_bind_adds_no_swivel() {
    // Controls are placed in the bend plane, up to the rounding of positions.
    for n in 0..50 {
        let f = n as f32;
        let mut b = Skeleton::builder();
        let turned = |x, y, z, angle| JointTransform {
            rotation: math::axis_angle(Vec3::new(0.36, 0.48, 0.8), angle),
            ..JointTransform::from_translation(Vec3::new(x, y, z))
        };
        let root = b.add("root", None, turned(0.3, 1.1, -0.2, 0.7 + f));
        let upper = b.add("upper", Some(root), turned(0.2, 0.1, 0.03, 0.9 * f));
        let fore = b.add("fore", Some(upper), turned(0.02, 0.24, 0.01, 0.11));
        let hand = b.add("hand", Some(fore), turned(0.01, 0.26, -0.02, 0.3));
        let (skeleton, ids) = b.build().unwrap();
        let skeleton = Arc::new(skeleton);
        let rest = Pose::rest(&skeleton);
        let at = places(&rest).into_iter().map(|(at, _)| at).collect::<Vec<_>>();
        let line = (at[hand] - at[upper]).normalize();
        let pole =
            at[upper] + (at[fore] - at[upper]).reject_from_normalized(line).normalize() * 0.6 + line * 0.3;
        // The control is another root, where the plane has it.
        let mut b = Skeleton::builder();
        for j in skeleton.joints() {
            b.add(skeleton.name(j), skeleton.parent(j).map(|p| p.index()), *skeleton.rest(j));
        }
        b.add("control", None, JointTransform::from_translation(pole.as_vec3()));
        let rest = Pose::rest(&Arc::new(b.build().unwrap().0));
        let spec = HandleSpec {
            pole: Some(find(&rest, "control")),
            ..handle(&rest, HandleSolver::TwoBone, StartFrom::Preferred, "upper", "hand")
        };
        let goal = Goal::position((at[upper] + DVec3::new(0.2, 0.1, 0.25)).as_vec3());
        let mut pose = rest.clone();
        let goals = [RigGoal::from(goal)];
        let frame = RigFrame::new(DT).with_goals(&goals);
        let rig = rig(&rest, vec![spec]);
        rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &frame).unwrap();
        let limb = TwoBone::new(rest.skeleton(), ids[upper], ids[fore], ids[hand]).unwrap();
        let mut bare = rest.clone();
        let goal = goal.with_pole(Pole::Point(pole.as_vec3()));
        limb.solve(&mut bare, &goal, &LimbOptions::new()).unwrap();
        assert_eq!(bits(&pose), bits(&bare), "{n}");
    }
}

#[test]
fn goals_come_in_the_space_they_are_said_to() {
    let rest = figure();
    let (chest, hand) = (find(&rest, "chest"), find(&rest, "hand.l"));
    let world = Affine3::from_scale_rotation_translation(
        Vec3::splat(2.0),
        Quat::from_rotation_y(0.8),
        Vec3::new(3.0, 1.0, 2.0),
    );
    let mut pose = animation(&rest, 5);
    let wanted = Vec3::new(0.4, 1.5, 0.35);
    let frame = pose.model(chest);
    for (space, given) in [
        (Space::Model, wanted),
        (Space::World, world.transform_point3(wanted)),
        (Space::Joint(chest), frame.inverse().transform_point3(wanted)),
    ] {
        let mut spec = handle(&rest, HandleSolver::TwoBone, StartFrom::Pose, "upper.l", "hand.l");
        spec.goal.space = space;
        let rig = rig(&rest, vec![spec]);
        let goals = [Goal::position(given).into()];
        let frame = RigFrame::new(DT).with_goals(&goals).with_placement(Placement::new(world).unwrap());
        pose = animation(&rest, 5);
        rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &frame).unwrap();
        assert!(place(&pose, hand).distance(wanted.as_dvec3()) < 1e-5, "{space:?}");
    }
    assert!(place(&pose, chest).distance(place(&animation(&rest, 5), chest)) == 0.0);
}

#[test]
fn a_full_body_holds_what_is_unset_and_takes_goals_in_its_own_joints() {
    let rest = figure();
    let mut spec = handle(&rest, HandleSolver::FullBody, StartFrom::Pose, "hips", "hips");
    spec.effectors = ["hand.l", "hand.r", "foot.l"].map(|n| EffectorSpec::new(find(&rest, n))).to_vec();
    // The right hand is to stay 30 cm in front of the head.
    let head = find(&rest, "head");
    spec.effectors[1].goal.space = Space::Joint(head);
    let rig = rig(&rest, vec![spec]);
    let mut goals = [RigGoal::new(); 3];
    goals[rig.find_goal("full-body hips", Some(find(&rest, "hand.l"))).unwrap()] =
        Goal::position(Vec3::new(0.3, 1.9, 0.3)).into();
    goals[1] = Goal::position(Vec3::new(0.0, 0.0, 0.3)).into();
    let mut pose = rest.clone();
    let report = *rig
        .apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &RigFrame::new(DT).with_goals(&goals))
        .unwrap()
        .handles
        .first()
        .unwrap();
    assert!(report.report.reached());
    let (at, turn) = places(&pose)[head.index()];
    assert!(place(&pose, find(&rest, "hand.l")).distance(DVec3::new(0.3, 1.9, 0.3)) < 1e-3);
    assert!(place(&pose, find(&rest, "hand.r")).distance(at + turn * DVec3::new(0.0, 0.0, 0.3)) < 1e-3);
    let foot = find(&rest, "foot.l");
    assert!(place(&pose, foot).distance(place(&rest, foot)) < 1e-3);
}

/// Three cylinders below a cap, each of which slides down by 30 cm: the cap, on the top one, on the middle one, on the base.
fn telescope(precedences: [i32; 3], change: impl Fn(Dof) -> Dof) -> Pose {
    let mut b = Skeleton::builder();
    let mut joint = b.add("base", None, JointTransform::IDENTITY);
    for name in ["bottom", "middle", "top"] {
        joint = b.add(name, Some(joint), JointTransform::from_translation(Vec3::Y * 0.5));
    }
    b.add("cap", Some(joint), JointTransform::from_translation(Vec3::Y * 0.5));
    let (mut skeleton, ids) = b.build().unwrap();
    skeleton.set_joint(ids[0], Joint::FIXED).unwrap();
    for (n, precedence) in precedences.into_iter().enumerate() {
        let dof = change(Dof::range(-0.3, 0.0).with_precedence(precedence));
        skeleton.set_joint(ids[1 + n], Joint::slider(DVec3::Y, dof)).unwrap();
    }
    skeleton.set_joint(ids[4], Joint::FIXED).unwrap();
    Pose::rest(&Arc::new(skeleton))
}

/// Pushes the cap down by a millimetre a frame, to 88 cm. Returns how far bottom, middle and top are in after each.
fn push(rest: &Pose, solver: HandleSolver) -> Vec<[f64; 3]> {
    let rig = rig(rest, vec![handle(rest, solver, StartFrom::Last, "bottom", "cap")]);
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let slid = |frame: usize| {
        let mut pose = rest.clone();
        let to = Vec3::Y * (2.0 - 1e-3 * frame as f32);
        let goals = [Goal::position(to).into()];
        rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(DT).with_goals(&goals)).unwrap();
        let at = places(&pose);
        assert!((at[4].0.y - f64::from(to.y)).abs() < 3e-4, "frame {frame}: the cap is at {}", at[4].0.y);
        [1, 2, 3].map(|n| 0.5 - (at[n].0.y - at[n - 1].0.y))
    };
    (1..880).map(slid).collect()
}

#[test]
fn cylinders_slide_in_the_order_of_their_precedence() {
    for solver in [HandleSolver::JointSpace, HandleSolver::LeastSquares] {
        // The limit of what counts as at rest, and as at a limit, in metres: the tolerance of a chain of 2 m.
        let near = 3e-4;
        for (precedences, order) in [([0, 1, 2], [2, 1, 0]), ([2, 1, 0], [0, 1, 2])] {
            let rest = telescope(precedences, |dof| dof);
            for (frame, slid) in push(&rest, solver).into_iter().enumerate() {
                assert!(slid.iter().all(|s| (-1e-6..=0.3 + 1e-6).contains(s)), "{slid:?}");
                // The next starts as this one meets its limit.
                for pair in order.windows(2) {
                    let [now, next] = [slid[pair[0]], slid[pair[1]]];
                    assert!(next < near || now > 0.3 - near, "{solver} {order:?}, frame {frame}: {slid:?}");
                }
            }
            // With ease over the last twentieth of the range, it starts there.
            let rest = telescope(precedences, |dof| dof.with_ease(0.1));
            let all = push(&rest, solver);
            for pair in order.windows(2) {
                let first = all.iter().find(|slid| slid[pair[1]] > near).unwrap();
                let onset = first[pair[0]];
                // As the law of ease has it, it lags by `near` where the push u into the zone z has u^2 / 4z = near.
                let z = 0.015;
                let into = (4.0 * z * near).sqrt();
                assert!((0.285..0.285 + into + 1.5e-3).contains(&onset), "{solver} {order:?}: from {onset}");
                assert!(all.last().unwrap()[pair[0]] > 0.2985, "{solver}: {:?}", all.last());
            }
        }
    }
}

#[test]
fn balls_take_precedence_as_one() {
    // A chain of balls with all that is hard to hold: wide ellipses, ease, a free joint among them.
    let mut b = Skeleton::builder();
    for n in 0..5 {
        let at = if n == 0 { Vec3::ZERO } else { Vec3::new(0.3, 0.02, 0.0) };
        b.add(format!("{n}"), (n as usize).checked_sub(1), JointTransform::from_translation(at));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    let dof = |p| Dof::range(-2.9, 2.9).with_ease(0.5).with_precedence(p);
    for (n, p) in [(1, [3, 3, 5]), (2, [0, 0, 0]), (3, [-2, -2, -2])] {
        let turning = sinew::joint::Turning::Ball {
            twist_axis: DVec3::X,
            swing_axis: DVec3::Y,
            swing: [dof(p[0]), dof(p[1])],
            twist: dof(p[2]),
            centre: [0.0; 2],
        };
        skeleton.set_joint(ids[n], turning.into()).unwrap();
    }
    let rest = Pose::rest(&Arc::new(skeleton));
    for solver in [HandleSolver::LeastSquares, HandleSolver::JointSpace] {
        let rig = rig(&rest, vec![handle(&rest, solver, StartFrom::Last, "0", "4")]);
        let (mut state, mut workspace) = (rig.state(), Workspace::new());
        // The ball of the highest precedence alone leads the end along its arc.
        let root = rest.position(ids[1]);
        let arm = rest.position(ids[4]) - root;
        for frame in 1..20 {
            let to = root + math::rotate(math::axis_angle(Vec3::Z, 0.05 * frame as f32), arm);
            let goals = [Goal::position(to).into()];
            let mut pose = rest.clone();
            rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(DT).with_goals(&goals)).unwrap();
            assert!(place(&pose, ids[4]).distance(to.as_dvec3()) < 1e-3, "{solver}");
            for n in [0, 2, 3] {
                let turned = pose.local(ids[n]).rotation.angle_between(Quat::IDENTITY);
                assert!(turned < 2e-3, "{solver}, frame {frame}: joint {n} turned by {turned}");
            }
        }
    }
}

#[test]
fn damping_bounds_the_speed_and_a_spring_pulls_back() {
    // Damping 50 / m: at most 2 cm in a thirtieth of a second, whatever the frame rate.
    let rest = telescope([0, 0, 0], |dof| dof.with_damping(50.0));
    let rig_of = |rest: &Pose| {
        rig(rest, vec![handle(rest, HandleSolver::JointSpace, StartFrom::Last, "bottom", "cap")])
    };
    let goals = [Goal::position(Vec3::Y * 1.1).into()];
    let mut after = Vec::new();
    for rate in [30, 120] {
        let rig = rig_of(&rest);
        let (mut state, mut workspace) = (rig.state(), Workspace::new());
        let mut pose = rest.clone();
        for frame in 0..rate / 6 {
            let before = place(&pose, find(&rest, "bottom")).y;
            pose = rest.clone();
            let at = RigFrame::new(1.0 / rate as f32).with_goals(&goals);
            rig.apply(&mut state, &mut workspace, &mut pose, &at).unwrap();
            let moved = before - place(&pose, find(&rest, "bottom")).y;
            assert!(
                moved > 0.0 && moved <= 30.0 * 0.02 / f64::from(rate) + 1e-6,
                "{moved} m in frame {frame}"
            );
        }
        after.push(place(&pose, find(&rest, "cap")).y);
    }
    // Each has had a sixth of a second. They differ by less than one step of a thirtieth.
    assert!((after[0] - after[1]).abs() < 0.02, "{after:?}");

    // Three springs of strength 0.5 share the cap's push of 30 cm: each x has the force s^2 x, the goal 1 (0.3 - 3 x).
    let rest = telescope([0, 0, 0], |dof| dof.with_spring(0.0, 0.5));
    let rig = rig_of(&rest);
    let mut pose = rest.clone();
    let goals = [Goal::position(Vec3::Y * 1.7).into()];
    rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &RigFrame::new(DT).with_goals(&goals))
        .unwrap();
    let x = 0.3 / (3.0 + 0.25);
    let cap = place(&pose, find(&rest, "cap")).y;
    assert!((cap - (2.0 - 3.0 * x)).abs() < 1e-4, "the cap is at {cap}, not {}", 2.0 - 3.0 * x);
}

#[test]
fn damping_allows_no_motion_in_no_time() {
    // The shortest time of all is so short that a thirtieth of a second has more such frames than f32 can count.
    let mut b = Skeleton::builder();
    for n in 0..4 {
        let at = if n == 0 { Vec3::ZERO } else { Vec3::new(0.0, 0.3, 0.02 * (n % 2) as f32) };
        b.add(format!("{n}"), (n as usize).checked_sub(1), JointTransform::from_translation(at));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    let dof = Some(Dof::range(-1.0, 1.0).with_damping(50.0));
    for &id in &ids[..3] {
        skeleton.set_joint(id, Joint::axes([dof; 3])).unwrap();
    }
    let rest = Pose::rest(&Arc::new(skeleton));
    let goals = [Goal::position(Vec3::new(0.0, 0.6, 0.4)).into()];
    for solver in [HandleSolver::LeastSquares, HandleSolver::JointSpace] {
        let rig = rig(&rest, vec![handle(&rest, solver, StartFrom::Last, "0", "3")]);
        for dt in [0.0, f32::from_bits(1), 1e-9] {
            let mut pose = rest.clone();
            let frame = RigFrame::new(dt).with_goals(&goals);
            rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &frame).unwrap();
            let off = ids.iter().map(|&j| pose.local(j).rotation.angle_between(Quat::IDENTITY));
            assert!(off.clone().all(|off| off < 1e-6), "{solver}, {dt} s: {:?}", off.collect::<Vec<_>>());
        }
    }
}

#[test]
fn last_continues_where_the_last_frame_ended_and_reset_forgets_it() {
    // A tail that follows its goal keeps the shape that it was led into, which the animation's pose does not have.
    let rest = figure();
    let spec = HandleSpec {
        from: StartFrom::Last,
        ..handle(&rest, HandleSolver::Auto, StartFrom::Last, "tail 0", "tail 5")
    };
    let rig = rig(&rest, vec![spec]);
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut at = |state: &mut RigState, to: Vec3| {
        let mut pose = rest.clone();
        let goals = [Goal::position(to).into()];
        rig.apply(state, &mut workspace, &mut pose, &RigFrame::new(DT).with_goals(&goals)).unwrap();
        assert!(place(&pose, find(&rest, "tail 5")).distance(to.as_dvec3()) < 1e-3);
        bits(&pose)
    };
    let end = Vec3::new(0.2, 1.2, -0.5);
    let straight = at(&mut state, end);
    assert_eq!(at(&mut state, end), straight, "a goal that is met is left alone");
    for n in 0..20 {
        let angle = 0.3 * n as f32;
        at(&mut state, Vec3::new(0.3 * angle.sin(), 1.0 + 0.3 * angle.cos(), -0.5));
    }
    assert_ne!(at(&mut state, end), straight);
    state.reset();
    assert_eq!(at(&mut state, end), straight);
}

#[test]
fn a_foot_keeps_its_pivot() {
    let rest = figure();
    for from in [StartFrom::Pose, StartFrom::Preferred] {
        let mut spec = handle(&rest, HandleSolver::Foot, from, "thigh.l", "foot.l");
        let (foot, toes) = (find(&rest, "foot.l"), find(&rest, "toes.l"));
        spec.foot.toes = Some(toes);
        let local = |x, y, z| Vec3::new(x, y, z);
        let (heel, tip) = (local(0.0, -0.09, -0.05), local(0.0, -0.02, 0.08));
        spec.foot.sole = Some(sinew::ground::plant::Sole { heel, ball: local(0.0, -0.09, 0.13), tip });
        spec.foot.break_angle = 30f32.to_radians();
        let rig = rig(&rest, vec![spec]);
        let step = Goal::position(Vec3::new(0.12, 0.25, 0.15)).with_rotation(math::axis_angle(Vec3::Y, 0.3));
        let solve = |roll: f32, pivot: f32, bank: f32| {
            let mut pose = rest.clone();
            let goals = [RigGoal::from(step).with_roll(roll.to_radians()).with_pivot(pivot).with_bank(bank)];
            let mut state = rig.state();
            let report = rig
                .apply(&mut state, &mut Workspace::new(), &mut pose, &RigFrame::new(DT).with_goals(&goals))
                .unwrap();
            assert!(report.handles[0].report.reached());
            let all = places(&pose);
            let of = |j: JointId, p: Vec3| all[j.index()].0 + all[j.index()].1 * p.as_dvec3();
            ([of(foot, heel), of(toes, Vec3::ZERO), of(toes, tip)], all[toes.index()].1, all[foot.index()].1)
        };
        let (flat, toes_flat, foot_flat) = solve(0.0, 0.0, 0.0);
        for roll in -30i32..=60 {
            let (points, turned, foot) = solve(roll as f32, 0.0, 0.0);
            // The pivot, and the joint that keeps its rotation.
            let pivot = match roll {
                ..0 => 0,
                0..=30 => 1,
                _ => 2,
            };
            let off = points[pivot].distance(flat[pivot]);
            assert!(off < 1e-4, "{from} {roll} degrees: the pivot moved by {off} m");
            let angle = foot.angle_between(foot_flat).to_degrees();
            assert!((angle - f64::from(roll.abs())).abs() < 0.05, "{roll}: the foot rolled by {angle}");
            let toes = turned.angle_between(toes_flat).to_degrees();
            let wanted = if roll < 0 { -roll } else { (roll - 30).max(0) };
            assert!((toes - f64::from(wanted)).abs() < 0.05, "{roll}: the toes rolled by {toes}");
            // Up goes the end that is said to.
            assert!(if roll < 0 { points[2].y > flat[2].y } else { points[0].y >= flat[0].y - 1e-6 });
        }
        // A rotation that is not given is the animation's, however the leg moves.
        let mut pose = animation(&rest, 2);
        let was = places(&pose)[foot.index()].1;
        let goals = [Goal::position(Vec3::new(0.2, 0.4, 0.3)).into()];
        let mut state = rig.state();
        rig.apply(&mut state, &mut Workspace::new(), &mut pose, &RigFrame::new(DT).with_goals(&goals))
            .unwrap();
        assert!(places(&pose)[foot.index()].1.angle_between(was) < 1e-3);
        let (points, ..) = solve(0.0, 0.4, 0.0);
        assert!(points[1].distance(flat[1]) < 1e-4 && points[2].x > flat[2].x + 0.02, "toes to the left");
        let (points, turned, _) = solve(0.0, 0.0, 0.3);
        assert!((turned.angle_between(toes_flat) - 0.3).abs() < 1e-3);
        assert!(points[1].y > flat[1].y, "over the right edge");
    }
}

#[test]
fn a_twist_spreads_roll_and_keeps_the_tip() {
    let rest = figure();
    let [fore, twist, hand] = ["fore.l", "twist.l", "hand.l"].map(|n| find(&rest, n));
    let rig = rig(
        &rest,
        vec![
            handle(&rest, HandleSolver::TwoBone, StartFrom::Pose, "upper.l", "hand.l"),
            handle(&rest, HandleSolver::Twist, StartFrom::Pose, "fore.l", "hand.l"),
        ],
    );
    let bone = (rest.position(hand) - rest.position(fore)).normalize();
    let roll = 1.2f32;
    let goal = Goal::position(rest.position(hand)).with_rotation(math::axis_angle(bone, roll));
    let mut pose = rest.clone();
    let goals = [goal.into(), RigGoal::new()];
    rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &RigFrame::new(DT).with_goals(&goals))
        .unwrap();
    let turned = |j: JointId| places(&pose)[j.index()].1.angle_between(places(&rest)[j.index()].1);
    assert!(turned(fore) < 1e-3 && (turned(hand) - 1.2).abs() < 1e-3);
    // The twist joint is half-way along the forearm.
    assert!((turned(twist) - 0.6).abs() < 1e-3, "{}", turned(twist));
    assert!(place(&pose, hand).distance(place(&rest, hand)) < 1e-5);
}

#[test]
fn a_twist_holds_the_limits_of_its_tip() {
    let mut skeleton = Skeleton::clone(figure().skeleton());
    let hand = skeleton.find("hand.l").unwrap();
    skeleton.set_joint(hand, Joint::hinge(Vec3::X, Dof::range(-0.3, 0.3))).unwrap();
    let rest = Pose::rest(&Arc::new(skeleton));
    for from in [StartFrom::Pose, StartFrom::Preferred] {
        let rig = rig(&rest, vec![handle(&rest, HandleSolver::Twist, from, "fore.l", "hand.l")]);
        for roll in [-2.5f32, 0.1, 1.0, 2.0] {
            for pitch in [0.0, 0.4] {
                let turned = math::mul(math::axis_angle(Vec3::X, roll), math::axis_angle(Vec3::Y, pitch));
                let goals = [Goal::NONE.with_rotation(turned).into()];
                let mut pose = rest.clone();
                let frame = RigFrame::new(DT).with_goals(&goals);
                rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &frame).unwrap();
                let q = pose.local(hand).rotation.as_dquat().normalize();
                let (angle, across) = (2.0 * q.x.atan2(q.w), q.y.hypot(q.z));
                assert!(angle.abs() < 0.3 + 1e-5 && across < 1e-5, "{from}, {roll}: {angle}, {across}");
            }
        }
    }
}

#[test]
fn a_position_alone_turns_no_tip_and_without_influence_changes_nothing() {
    // The end is out of reach, so that joint space starts again from anywhere.
    let rest = figure();
    let tip = find(&rest, "tail 5");
    for solver in
        [HandleSolver::Auto, HandleSolver::Ccd, HandleSolver::LeastSquares, HandleSolver::JointSpace]
    {
        for from in StartFrom::ALL.iter().copied() {
            for influence in [0.0, 1.0] {
                let spec = HandleSpec {
                    position_influence: influence,
                    rotation_influence: 0.5,
                    ..handle(&rest, solver, from, "tail 0", "tail 5")
                };
                let rig = rig(&rest, vec![spec]);
                let goals = [Goal::position(Vec3::new(3.0, 1.0, 0.0)).into()];
                let mut pose = animation(&rest, 5);
                let (before, turned) = (bits(&pose), pose.local(tip).rotation);
                let frame = RigFrame::new(DT).with_goals(&goals);
                rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &frame).unwrap();
                assert_eq!(before == bits(&pose), influence == 0.0, "{solver} from {from}");
                assert_eq!(turned, pose.local(tip).rotation, "{solver} from {from}");
            }
        }
    }
}

#[test]
fn bad_rigs_are_refused_by_name() {
    use HandleSolver as S;
    let rest = figure();
    let arm = || handle(&rest, S::TwoBone, StartFrom::Pose, "upper.l", "hand.l");
    let says = |handles: Vec<HandleSpec>, words: &[&str]| {
        let error = refused(&rest, handles);
        assert!(words.iter().all(|w| error.contains(w)), "{error}");
    };
    says(vec![arm(), arm()], &["two-bone upper.l", "another handle has this name"]);
    says(vec![HandleSpec { name: String::new(), ..arm() }], &["no name"]);
    says(vec![HandleSpec { position_influence: 1.5, ..arm() }], &["position influence", "0 to 1", "1.5"]);
    says(vec![HandleSpec { rotation_influence: f32::NAN, ..arm() }], &["rotation influence", "NaN"]);
    says(vec![HandleSpec { fade: -1.0, ..arm() }], &["fade", "-1"]);
    says(
        vec![handle(&rest, S::Auto, StartFrom::Pose, "hand.l", "upper.l")],
        &["`upper.l` does not hang below joint `hand.l`"],
    );
    says(vec![handle(&rest, S::TwoBone, StartFrom::Pose, "upper.l", "fore.l")], &["fore.l"]);
    says(vec![handle(&rest, S::FullBody, StartFrom::Pose, "hips", "hips")], &["full-body needs effectors"]);
    says(
        vec![handle(&rest, S::Twist, StartFrom::Last, "fore.l", "hand.l")],
        &["twist starts from", "`last`"],
    );
    says(vec![handle(&rest, S::Aim, StartFrom::Pose, "neck", "head")], &["aim turns one joint"]);
    says(vec![HandleSpec { axis: Some(Vec3::X), ..arm() }], &["two-bone has no axis"]);
    says(
        vec![HandleSpec { pole: Some(find(&rest, "root")), solver: S::JointSpace, ..arm() }],
        &["joint-space has no pole"],
    );
    let mut toes = handle(&rest, S::Foot, StartFrom::Pose, "thigh.l", "foot.l");
    toes.foot.toes = Some(find(&rest, "toes.r"));
    says(vec![toes], &["`toes.r` does not hang below joint `foot.l`"]);

    // What a goal follows must not move after it.
    let following = |joint: &str| {
        let mut spec = arm();
        spec.goal.space = Space::Joint(find(&rest, joint));
        spec
    };
    says(
        vec![following("fore.l")],
        &["follows joint `fore.l`", "`two-bone upper.l` moves by joint `upper.l`"],
    );
    let head = || handle(&rest, S::LookAt, StartFrom::Pose, "neck", "head");
    says(vec![following("head"), head()], &["follows joint `head`", "`look-at neck` moves by joint `neck`"]);
    assert!(Rig::new(&rest, None, &RigSpec::new(vec![head(), following("head")])).is_ok());
    says(vec![HandleSpec { pole: Some(find(&rest, "hand.l")), ..arm() }], &["follows joint `hand.l`"]);

    // Joints that a solver cannot honour.
    let mut limited = Skeleton::clone(rest.skeleton());
    for name in ["foot.l", "hand.l"] {
        limited.set_joint(find(&rest, name), Joint::cone(Vec3::Y, 0.5, 0.5)).unwrap();
    }
    limited.set_joint(find(&rest, "head"), Joint::axes([Some(Dof::FREE); 3])).unwrap();
    let limited = Pose::rest(&Arc::new(limited));
    let mut wrist = handle(&limited, S::TwoBone, StartFrom::Pose, "upper.l", "hand.l");
    assert!(Rig::new(&limited, None, &RigSpec::new(vec![wrist.clone()])).is_ok());
    wrist.goal = GoalSpec { node: Some(find(&rest, "root")), follows_rotation: true, ..GoalSpec::default() };
    for (spec, words) in [
        (wrist, "joint `hand.l` has a ball joint, which two-bone"),
        (handle(&limited, S::Foot, StartFrom::Pose, "thigh.l", "foot.l"), "joint `foot.l` has a ball joint"),
        (handle(&limited, S::Aim, StartFrom::Pose, "head", "head"), "single axes, which aim"),
    ] {
        let error = refused(&limited, vec![spec]);
        assert!(error.contains(words), "{error}");
    }
    for (solver, from, change, words) in [
        (
            S::LeastSquares,
            StartFrom::Last,
            Dof::FREE.with_spring(0.0, 1.0),
            "a spring, which dls cannot honour",
        ),
        (S::LeastSquares, StartFrom::Pose, Dof::FREE.with_damping(1.0), "need `from` = `last`, not `pose`"),
        (
            S::JointSpace,
            StartFrom::Preferred,
            Dof::FREE.with_spring(0.0, 1.0),
            "need `from` = `last`, not `preferred`",
        ),
        (S::Fabrik, StartFrom::Last, Dof::FREE.with_precedence(1), "precedence, which fabrik cannot honour"),
        (S::Fold, StartFrom::Last, Dof::FREE.with_precedence(1), "precedence, which fold cannot honour"),
    ] {
        let mut skeleton = Skeleton::clone(rest.skeleton());
        skeleton.set_joint(find(&rest, "tail 2"), Joint::hinge(Vec3::X, change)).unwrap();
        let rest = Pose::rest(&Arc::new(skeleton));
        let error = refused(&rest, vec![handle(&rest, solver, from, "tail 0", "tail 5")]);
        assert!(error.contains("`tail 2`") && error.contains(words), "{error}");
    }
}

#[test]
fn bad_frames_leave_pose_and_state_as_they_were() {
    let rest = figure();
    let specs = all(&rest, StartFrom::Last);
    let rig = rig(&rest, specs.clone());
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut pose = animation(&rest, 0);
    let good = goals(&rig, &pose, &specs, 0);
    rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(DT).with_goals(&good)).unwrap();
    let kept = state.clone();
    let pose = animation(&rest, 1);
    let places_of = |pose: &Pose| rest.skeleton().joints().map(|j| pose.position(j)).collect::<Vec<_>>();
    let mut refuse = |change: &dyn Fn(&mut Vec<RigGoal>, &mut f32, &mut Pose), words: &str| {
        let (mut goals, mut dt, mut pose) = (good.clone(), DT, pose.clone());
        change(&mut goals, &mut dt, &mut pose);
        pose.update();
        let (before, frames) = (bits(&pose), places_of(&pose));
        let error = rig
            .apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(dt).with_goals(&goals))
            .unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(before, bits(&pose), "{error}");
        assert!(frames == places_of(&pose), "{error}");
        assert!(state == kept, "{error}");
    };
    refuse(&|_, dt, _| *dt = -1.0, "frame time");
    refuse(&|_, dt, _| *dt = f32::NAN, "frame time");
    refuse(&|goals, _, _| goals.truncate(3), "goals were given");
    for n in 0..good.len() {
        refuse(&|goals, _, _| goals[n].goal.position = Some(Vec3::NAN), "position is not finite");
        refuse(&|goals, _, _| goals[n].goal.position_influence = 2.0, "influence");
    }
    refuse(&|goals, _, _| goals[4].roll = f32::INFINITY, "");
    let aim = rig.find_goal("aim head", None).unwrap();
    refuse(
        &|goals, _, _| goals[aim].goal.rotation = Some(Quat::IDENTITY),
        "`aim head`: aim takes no goal with a rotation",
    );
    refuse(&|goals, _, _| goals[aim].roll = 0.1, "aim takes no goal with a roll");
    // The pose fails in the last handle, after all the others have moved.
    let tail = find(&rest, "tail 3");
    let flat = JointTransform { scale: Vec3::new(1.0, 0.0, 1.0), ..*rest.local(tail) };
    refuse(&|_, _, pose| pose.set_local(tail, flat), "tail 3");
    let other = self::rig(&rest, specs[..2].to_vec());
    let error = other.apply(&mut state, &mut workspace, &mut pose.clone(), &RigFrame::new(DT)).unwrap_err();
    assert!(matches!(error, RigError::OtherState { .. }));
    // Equal numbers of handles, goals and joints do not make it the same rig; a clone is the same.
    let twin = self::rig(&rest, specs.clone());
    let error = twin.apply(&mut state, &mut workspace, &mut pose.clone(), &RigFrame::new(DT)).unwrap_err();
    assert_eq!(error, RigError::OtherState { given: rig.len(), wanted: twin.len() });
    rig.clone().apply(&mut state, &mut workspace, &mut pose.clone(), &RigFrame::new(DT)).unwrap();
    let error = rig.apply(&mut state, &mut workspace, &mut straight(3), &RigFrame::new(DT)).unwrap_err();
    assert!(matches!(error, RigError::OtherSkeleton { given: 4, .. }));
    // Faults are data.
    let fault = Rig::new(&rest, None, &RigSpec::new(vec![specs[0].clone(), specs[0].clone()])).err().unwrap();
    assert!(matches!(fault, RigError::Handle { index: 1, fault, .. } if *fault == HandleFault::SameName));
}

#[test]
fn handles_are_drawn() {
    let rest = figure();
    let arm = HandleSpec {
        color: Some([1, 2, 3]),
        ..handle(&rest, HandleSolver::TwoBone, StartFrom::Pose, "upper.l", "hand.l")
    };
    let rig = rig(&rest, vec![arm, handle(&rest, HandleSolver::Auto, StartFrom::Pose, "tail 0", "tail 5")]);
    let to = Vec3::new(0.4, 1.6, 0.2);
    let goals = [Goal::position(to).with_pole(Pole::Point(-Vec3::Z)).into(), RigGoal::new()];
    let (mut state, mut pose) = (rig.state(), rest.clone());
    rig.apply(&mut state, &mut Workspace::new(), &mut pose, &RigFrame::new(DT).with_goals(&goals)).unwrap();
    let mut list = DrawList::new();
    list.rig(&rig, &state, &pose, 0.1);
    let roles: Vec<_> = list.shapes().iter().map(|s| s.role).collect();
    use ShapeRole::{Goal as Cross, Handle, Pole as Disc, Swivel};
    assert_eq!(roles, [Handle, Swivel, Cross, Disc, Disc, Handle, Swivel]);
    let line = |n: usize| list.points(&list.shapes()[n]).to_vec();
    assert_eq!(line(0), [pose.position(find(&rest, "upper.l")), pose.position(find(&rest, "hand.l"))]);
    assert!(line(2).iter().sum::<Vec3>().distance(6.0 * to) < 1e-5);
    for theme in Theme::ALL {
        assert_eq!(theme.color_of(&list.shapes()[2]), [1, 2, 3]);
        let handle = theme.color(Handle, None, ShapeState::Normal);
        assert_eq!(theme.color_of(&list.shapes()[5]), handle);
    }

    // Beyond reach, a dashed line goes from the hand to the goal.
    let far = [Goal::position(Vec3::new(9.0, 1.6, 0.2)).into(), RigGoal::new()];
    pose.copy_from(&rest);
    rig.apply(&mut state, &mut Workspace::new(), &mut pose, &RigFrame::new(DT).with_goals(&far)).unwrap();
    list.clear();
    list.rig(&rig, &state, &pose, 0.1);
    let shape = |role| list.shapes().iter().find(|s| s.role == role).unwrap();
    let dashes = list.points(shape(ShapeRole::Residual));
    assert_eq!(dashes[0], pose.position(find(&rest, "hand.l")));
    assert!(dashes[dashes.len() - 1].distance(Vec3::new(9.0, 1.6, 0.2)) < 1e-5);
    assert_eq!(shape(Cross).state, ShapeState::OutOfReach);
}

#[test]
fn hostile_poses_and_goals_are_refused_or_leave_finite_numbers() {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut dice = move |n: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % n
    };
    let (mut solved, mut refused) = (0, 0);
    let number = |kind: u64, n: u64| match kind {
        0 => [0.0, 1e-30, 1e-6, 1e6, 1e12, 1e30, -1e30, f32::MAX, f32::NAN, f32::INFINITY][n as usize % 10],
        _ => (n % 2001) as f32 / 1000.0 - 1.0,
    };
    let rest = figure();
    for case in 0..300 {
        let from = StartFrom::ALL[dice(3) as usize];
        let mut bind = rest.clone();
        // Scales that mirror, are unequal or vanish; at bind, in the animation, or in both.
        let bend = |pose: &mut Pose, dice: &mut dyn FnMut(u64) -> u64| {
            for _ in 0..dice(3) {
                let joint = pose.skeleton().joint_at(dice(pose.skeleton().len() as u64) as usize).unwrap();
                let scale = match dice(6) {
                    0 => Vec3::ZERO,
                    1 => Vec3::splat(-1.0),
                    2 => Vec3::new(1.0, 2.0, 1.0),
                    3 => Vec3::splat(1e-12),
                    4 => Vec3::splat(1e9),
                    _ => Vec3::splat(0.5),
                };
                let local = JointTransform { scale, ..*pose.local(joint) };
                pose.set_local(joint, local);
            }
            pose.update();
        };
        if case % 3 == 0 {
            bend(&mut bind, &mut dice);
        }
        for spec in all(&rest, from) {
            let mut spec = spec;
            if spec.effectors.is_empty() && dice(3) == 0 {
                spec.goal.node = Some(find(&rest, "hand control.l"));
                spec.pole =
                    matches!(spec.solver, HandleSolver::TwoBone | HandleSolver::Auto | HandleSolver::Foot)
                        .then(|| find(&rest, "elbow control.l"));
            }
            spec.rotation_influence = [1.0, 0.5][dice(2) as usize];
            let Ok(rig) = Rig::new(&bind, None, &RigSpec::new(vec![spec.clone()])) else {
                refused += 1;
                continue;
            };
            let (mut state, mut workspace) = (rig.state(), Workspace::new());
            for frame in 0..3 {
                let mut pose = animation(&rest, frame);
                if dice(2) == 0 {
                    bend(&mut pose, &mut dice);
                }
                let kind = 1 + dice(8);
                let mut vector = || Vec3::from_array([(); 3].map(|()| number(kind - 1, dice(1 << 30))));
                let mut goals = vec![RigGoal::new(); rig.goal_count()];
                for goal in &mut goals {
                    goal.goal.position = (spec.solver != HandleSolver::Twist).then(&mut vector);
                    if spec.solver == HandleSolver::Foot {
                        [goal.roll, goal.bank, goal.pivot] = vector().to_array();
                    }
                    if matches!(
                        spec.solver,
                        HandleSolver::Auto | HandleSolver::TwoBone | HandleSolver::LeastSquares
                    ) {
                        goal.goal.pole = Pole::Direction(vector());
                        goal.goal.rotation = Some(math::axis_angle(Vec3::Y, vector().x.clamp(-9.0, 9.0)));
                        goal.goal.swivel = vector().x;
                    }
                }
                let before = bits(&pose);
                match rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(DT).with_goals(&goals))
                {
                    Err(error) => {
                        assert_eq!(error.to_string().lines().count(), 1, "{error}");
                        assert_eq!(before, bits(&pose), "{error}");
                        refused += 1;
                    }
                    Ok(report) => {
                        let report = report.handles[0].report;
                        assert!(
                            report.position_residual.is_finite() && report.rotation_residual.is_finite(),
                            "{spec:?} {report:?}"
                        );
                        let sound =
                            |l: &JointTransform| l.rotation.is_normalized() && l.translation.is_finite();
                        assert!(pose.locals().iter().all(sound), "case {case}: {spec:?} {goals:?}");
                        solved += 1;
                    }
                }
            }
        }
    }
    assert!(solved > 2500 && refused > 1000, "{solved} solved, {refused} refused");
}

#[test]
fn straight_knees_bend_forward_and_straight_elbows_back_where_roles_are_known() {
    // The figure faces -X, so that the bend is not that of a chain without roles, which is towards +Z.
    let mut b = Skeleton::builder();
    let at = |aside: f32, up: f32, front: f32| JointTransform::from_translation(Vec3::new(-front, up, aside));
    let hips = b.add("hips", None, at(0.0, 1.0, 0.0));
    let spine = b.add("spine", Some(hips), at(0.0, 0.3, 0.0));
    b.add("head", Some(spine), at(0.0, 0.3, 0.0));
    for (side, x) in [("L", -1.0f32), ("R", 1.0)] {
        // Left is the figure's own: up x front.
        let upper = b.add(format!("upper_arm.{side}"), Some(spine), at(0.2 * -x, 0.2, 0.0));
        let fore = b.add(format!("forearm.{side}"), Some(upper), at(0.0, -0.3, 0.0));
        b.add(format!("hand.{side}"), Some(fore), at(0.0, -0.3, 0.0));
        let thigh = b.add(format!("thigh.{side}"), Some(hips), at(0.1 * -x, -0.05, 0.0));
        let shin = b.add(format!("shin.{side}"), Some(thigh), at(0.0, -0.4, 0.0));
        b.add(format!("foot.{side}"), Some(shin), at(0.0, -0.4, 0.0));
    }
    let rest = Pose::rest(&Arc::new(b.build().unwrap().0));
    let body = sinew::body::BodyRoles::find(&rest, &[]).unwrap();
    let front = body.front(&rest).as_dvec3();
    assert!(front.x.abs() > 0.99, "{front}");
    for (root, middle, tip, forward) in [
        ("thigh.L", "shin.L", "foot.L", 1.0),
        ("thigh.R", "shin.R", "foot.R", 1.0),
        ("upper_arm.L", "forearm.L", "hand.L", -1.0),
        ("upper_arm.R", "forearm.R", "hand.R", -1.0),
    ] {
        let spec = handle(&rest, HandleSolver::TwoBone, StartFrom::Preferred, root, tip);
        let spec = RigSpec::new(vec![spec]);
        let line = rest.position(find(&rest, tip)) - rest.position(find(&rest, root));
        let goals = [Goal::position(rest.position(find(&rest, tip)) - 0.3 * line).into()];
        let bend = |body| {
            let rig = Rig::new(&rest, body, &spec).unwrap();
            let mut pose = rest.clone();
            let frame = RigFrame::new(DT).with_goals(&goals);
            rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &frame).unwrap();
            place(&pose, find(&rest, middle)) - place(&pose, find(&rest, root))
        };
        let out = bend(Some(&body)).dot(front) * forward;
        assert!(out > 0.15, "{middle} is {out} m to where it bends");
        assert!(bend(None).dot(DVec3::Z) > 0.15, "{middle} without roles");
    }
}

#[test]
fn goals_have_the_names_of_handles_or_effectors() {
    let rest = figure();
    let [left, right] = ["hand.l", "hand.r"].map(|name| find(&rest, name));
    let mut whole = HandleSpec::new("whole", find(&rest, "hips"), left);
    whole.solver = HandleSolver::FullBody;
    whole.effectors = [left, right].map(EffectorSpec::new).to_vec();
    whole.effectors[1].name = Some("steering hand".into());
    let mut one = HandleSpec { name: "one".into(), ..whole.clone() };
    one.effectors.truncate(1);
    let arm = HandleSpec::new("arm", find(&rest, "upper.l"), left);
    let rig = Rig::new(&rest, None, &RigSpec::new(vec![whole, arm, one])).unwrap();
    let names: Vec<_> = rig.goal_names().collect();
    assert_eq!(names, ["whole/hand.l", "steering hand", "arm", "one"]);
    assert_eq!(names.len(), rig.goal_count());
    assert_eq!(rig.find_goal("steering hand", None), Some(1));
}
