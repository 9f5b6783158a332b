//! Judges dragging on rigs: what is grabbed follows, pins hold, limits hold, what the drag leaves to keep shows the dragged pose,
//! and one undo takes it back. Positions and turns are measured in f64, apart from the engine.

use crate::limit_judge;
use crate::rig_figure;

use std::sync::Arc;

use sinew::{
    Goal, JointId, JointTransform, Outcome, Pose, Report, Skeleton, SolveError, Workspace,
    body::{BodyRoles, HumanLimits, Role, Side},
    glam::{DQuat, Vec3},
    joint::{Dof, Joint},
    math,
    rig::{
        EffectorSpec, HandleSolver, HandleSpec, HumanoidSpec, Limbs, Rig, RigDrag, RigDragError, RigError,
        RigFrame, RigGoal, RigGrab, RigSpec, Space, StartFrom,
        keys::{Recorder, RigKeys},
    },
    solve::{Effector, FullBodyError, Pin, RootMode},
};

use rig_figure::{Noise, arm, figure, place, turned};

const DT: f32 = 1.0 / 60.0;

fn bits(pose: &Pose) -> Vec<u32> {
    let locals = pose.locals().iter();
    locals
        .flat_map(|l| [&l.translation.to_array()[..], &l.rotation.to_array(), &l.scale.to_array()].concat())
        .map(f32::to_bits)
        .collect()
}

fn angle(a: DQuat, b: DQuat) -> f64 {
    let d = a.conjugate() * b;
    2.0 * d.xyz().length().atan2(d.w.abs())
}

/// Distance in metres and angle in degrees of a joint between two poses.
fn moved(a: &Pose, b: &Pose, j: JointId) -> [f64; 2] {
    let [(p, q), (r, s)] = [a, b].map(|pose| place(pose, j));
    [p.distance(r), angle(q, s).to_degrees()]
}

/// Of all joints.
fn apart(a: &Pose, b: &Pose) -> [f64; 2] {
    a.skeleton().joints().map(|j| moved(a, b, j)).fold([0.0; 2], |w, m| [w[0].max(m[0]), w[1].max(m[1])])
}

/// The figure with the ranges of people.
fn limited() -> (Pose, BodyRoles) {
    let (free, body) = figure(1.0, 0.4, 5);
    let mut skeleton = Skeleton::clone(free.skeleton());
    HumanLimits::of(&free, &body).apply(&mut skeleton).unwrap();
    (Pose::rest(&Arc::new(skeleton)), body)
}

/// A pose with bent limbs.
fn crouched(bind: &Pose, body: &BodyRoles) -> Pose {
    let mut pose = bind.clone();
    let left = body.legs[0].thigh;
    let across = (bind.position(left) - bind.position(body.legs[1].thigh)).normalize();
    for leg in body.legs {
        pose.turn(leg.thigh, math::axis_angle(across, -0.5));
        pose.turn(leg.shin, math::axis_angle(across, 1.0));
        pose.turn(leg.foot, math::axis_angle(across, -0.5));
    }
    for (side, sign) in [(Side::Left, -1.0), (Side::Right, 1.0)] {
        let arm = body.arm(side).unwrap();
        pose.turn(arm.upper_arm, math::axis_angle(body.front(bind), 0.9 * sign));
        pose.turn(arm.forearm, math::axis_angle(Vec3::Y, 0.8 * sign));
    }
    pose.update();
    pose
}

struct Scene {
    rig: Rig,
    animation: Pose,
    goals: Vec<RigGoal>,
}

impl Scene {
    fn humanoid(bind: &Pose, body: &BodyRoles, spec: HumanoidSpec) -> Self {
        let mut spec = spec.rig(body);
        // A look-at honours no preferred values.
        let limited = bind.skeleton().joint(body.spine[0]).dofs().any(|dof| dof.preferred.is_some());
        spec.handles.retain(|handle| !limited || handle.solver != HandleSolver::LookAt);
        let rig = Rig::new(bind, Some(body), &spec).unwrap();
        let goals = vec![RigGoal::new(); rig.goal_count()];
        Self { rig, animation: crouched(bind, body), goals }
    }

    fn goal(&mut self, name: &str) -> &mut RigGoal {
        let index = self.rig.find_goal(name, None).unwrap();
        &mut self.goals[index]
    }

    fn shown(&self) -> Pose {
        let mut pose = self.animation.clone();
        let frame = RigFrame::new(0.0).with_goals(&self.goals);
        self.rig.apply(&mut self.rig.state(), &mut Workspace::new(), &mut pose, &frame).unwrap();
        pose
    }

    /// Drags along a line in 30 frames. The last report.
    fn drag(&self, grab: &RigGrab, by: Vec3) -> (RigDrag, Report) {
        let (mut state, mut workspace) = (self.rig.state(), Workspace::new());
        let frame = RigFrame::new(0.0).with_goals(&self.goals);
        let mut drag = self.rig.grab(&mut state, &mut workspace, &self.animation, &frame, grab).unwrap();
        let from = drag.pose().model(grab.grabbed.joint).transform_point3(grab.grabbed.offset);
        let mut report = Report::default();
        for n in 1..=30 {
            let cursor = Goal::position(from + by * (n as f32 / 30.0));
            report = drag.to(&mut state, &mut workspace, &cursor, DT).unwrap();
        }
        self.judge_kept(&drag);
        (drag, report)
    }

    /// What the drag leaves shows its pose, through keys as well, and one undo takes it back.
    fn judge_kept(&self, drag: &RigDrag) {
        let mut pose = drag.animation().clone();
        let frame = RigFrame::new(DT).with_goals(drag.goals());
        self.rig.apply(&mut self.rig.state(), &mut Workspace::new(), &mut pose, &frame).unwrap();
        assert_eq!(bits(&pose), bits(drag.pose()), "what is kept shows another pose");

        let recorder = Recorder { distance: 0.0, angle: 0.0, influence: 0.0, ..Recorder::default() };
        let mut keys = RigKeys::new(&self.rig);
        let goals = recorder.record(&keys, 1.0, &self.goals, drag.goals()).unwrap();
        let joints = recorder.record_joints(&keys, 1.0, &self.animation, drag.animation()).unwrap();
        let undo = keys.edit(&goals.and(joints)).unwrap();
        let show = |keys: &RigKeys| {
            let (mut pose, mut goals) = (self.animation.clone(), self.goals.clone());
            keys.sample_pose(1.0, &mut pose).unwrap();
            keys.sample(1.0, &mut goals).unwrap();
            let frame = RigFrame::new(DT).with_goals(&goals);
            self.rig.apply(&mut self.rig.state(), &mut Workspace::new(), &mut pose, &frame).unwrap();
            pose
        };
        let [far, turn] = apart(&show(&keys), drag.pose());
        assert!(far < 1e-4 && turn < 0.1, "keys show another pose: {far} m, {turn} degrees");
        keys.edit(&undo).unwrap();
        assert!(keys.is_empty());
        assert_eq!(bits(&show(&keys)), bits(&self.shown()), "an undo leaves something");
    }
}

/// Humanoids of every kind.
fn all_kinds() -> Vec<HumanoidSpec> {
    let mut kinds = Vec::new();
    for limbs in Limbs::ALL {
        for from in [StartFrom::Pose, StartFrom::Preferred] {
            let mut spec = HumanoidSpec::new();
            (spec.limbs, spec.from) = (*limbs, Some(from));
            kinds.push(spec);
        }
    }
    kinds
}

/// All but a full body from preferred values, which is another pose than the animation's.
fn kinds() -> Vec<HumanoidSpec> {
    let mut kinds = all_kinds();
    kinds.truncate(3);
    kinds
}

#[test]
fn a_drag_that_does_not_move_changes_no_bits() {
    let (bind, body) = figure(1.0, 0.7, 3);
    let mut noise = Noise(5);
    for spec in kinds() {
        let mut scene = Scene::humanoid(&bind, &body, spec);
        scene.animation = turned(&bind, &mut noise, 0.4);
        let hand = body.arm(Side::Left).unwrap().hand;
        *scene.goal("left hand") = Goal::position(bind.position(hand) + Vec3::new(0.02, -0.1, 0.05)).into();
        let shown = scene.shown();
        for joint in bind.skeleton().joints() {
            let (mut state, mut workspace) = (scene.rig.state(), Workspace::new());
            let frame = RigFrame::new(0.0).with_goals(&scene.goals);
            let grab = RigGrab::new(joint);
            let mut drag =
                scene.rig.grab(&mut state, &mut workspace, &scene.animation, &frame, &grab).unwrap();
            let before = state.clone();
            let here = Goal::position(drag.pose().position(joint));
            for _ in 0..3 {
                let report = drag.to(&mut state, &mut workspace, &here, DT).unwrap();
                assert!(report.position_residual < 1e-6);
            }
            assert_eq!(bits(drag.pose()), bits(&shown));
            assert_eq!(bits(drag.animation()), bits(&scene.animation));
            assert_eq!(drag.goals(), scene.goals);
            assert!(state == before);
        }
    }
}

#[test]
fn hips_are_dragged_while_a_hand_and_both_feet_stay() {
    let (bind, body) = figure(1.0, 0.7, 3);
    for spec in kinds() {
        let mut scene = Scene::humanoid(&bind, &body, spec);
        let hand = body.arm(Side::Right).unwrap().hand;
        let at = scene.animation.position(hand) + Vec3::new(0.05, 0.02, 0.0);
        *scene.goal("right hand") =
            Goal::position(at).with_rotation(scene.animation.model_rotation(hand)).into();
        let shown = scene.shown();
        let grab = RigGrab::new(body.hips);
        let (drag, report) = scene.drag(&grab, Vec3::new(0.06, -0.12, 0.05));
        assert!(report.position_residual < 1e-4, "{spec:?}: {report:?}");
        for pin in [hand, body.legs[0].foot, body.legs[1].foot] {
            let [far, turn] = moved(&shown, drag.pose(), pin);
            assert!(far < 1e-4 && turn < 0.1, "{spec:?}: pin {pin} went {far} m, {turn} degrees");
        }
        let [far, _] = moved(&shown, drag.pose(), body.hips);
        assert!((far - f64::from(Vec3::new(0.06, -0.12, 0.05).length())).abs() < 1e-4);
        // The pinned goal keeps its bits; the hips have got theirs, and the feet are held by themselves.
        let n = scene.rig.find_goal("right hand", None).unwrap();
        assert_eq!(drag.goals()[n], scene.goals[n]);
        let n = scene.rig.find_goal("body", None).unwrap();
        assert!(!drag.goals()[n].is_unset());
        if spec.limbs == Limbs::TwoBone {
            let n = scene.rig.find_goal("left foot", None).unwrap();
            assert!(drag.goals()[n].is_unset());
            let keyed = bind.skeleton().joints();
            let keyed = keyed.filter(|&j| drag.animation().local(j) != scene.animation.local(j));
            let named: Vec<_> = keyed.map(|j| bind.skeleton().name(j)).collect();
            for name in &named {
                assert!(!name.contains("Leg") && !name.contains("Hips"), "{name} has a goal, and was keyed");
            }
        }
    }
}

#[test]
fn the_chest_is_dragged_and_all_that_is_pinned_stays() {
    let (bind, body) = figure(1.0, -0.4, 4);
    for spec in kinds() {
        let mut scene = Scene::humanoid(&bind, &body, spec);
        for (name, side) in [("left hand", Side::Left), ("right hand", Side::Right)] {
            let at = scene.animation.position(body.arm(side).unwrap().hand);
            *scene.goal(name) = Goal::position(at).into();
        }
        let shown = scene.shown();
        let by = Vec3::new(0.04, -0.06, 0.03);
        let (drag, report) = scene.drag(&RigGrab::new(body.spine[0]), by);
        assert!(report.position_residual < 1e-4, "{spec:?}: {report:?}");
        let ends = Side::BOTH.map(|side| body.arm(side).unwrap().hand);
        for pin in ends.into_iter().chain(body.legs.map(|leg| leg.foot)) {
            let [far, _] = moved(&shown, drag.pose(), pin);
            assert!(far < 1e-4, "{spec:?}: pin {pin} went {far} m");
        }
    }
}

#[test]
fn a_hand_is_dragged_and_the_other_hand_and_the_feet_stay() {
    let (bind, body) = figure(1.0, 0.2, 9);
    for spec in kinds() {
        let mut scene = Scene::humanoid(&bind, &body, spec);
        let [left, right] = Side::BOTH.map(|side| body.arm(side).unwrap().hand);
        let at = scene.animation.position(right);
        *scene.goal("right hand") = Goal::position(at).into();
        let shown = scene.shown();
        let side = (bind.position(left) - bind.position(right)).normalize();
        // Beyond its arm's length: the trunk follows.
        let (drag, report) = scene.drag(&RigGrab::new(left), 0.3 * side + Vec3::new(0.0, 0.1, 0.0));
        assert!(report.position_residual < 1e-4, "{spec:?}: {report:?}");
        for pin in [right, body.legs[0].foot, body.legs[1].foot] {
            let [far, _] = moved(&shown, drag.pose(), pin);
            assert!(far < 1e-4, "{spec:?}: pin {pin} went {far} m");
        }
        assert!(moved(&shown, drag.pose(), body.spine[0])[1] > 1.0, "the trunk follows");
        let n = scene.rig.find_goal("left hand", None).unwrap();
        let goal = drag.goals()[n].goal;
        assert!(goal.position.is_some() && goal.rotation.is_none());
    }
}

#[test]
fn a_foot_is_dragged_level_and_the_other_one_stays() {
    let (bind, body) = figure(1.0, 0.2, 9);
    for spec in kinds().into_iter().take(2) {
        let scene = Scene::humanoid(&bind, &body, spec);
        let shown = scene.shown();
        let [left, right] = body.legs.map(|leg| leg.foot);
        let (drag, report) = scene.drag(&RigGrab::new(left), Vec3::new(0.05, 0.25, 0.2));
        assert!(report.position_residual < 1e-4, "{spec:?}: {report:?}");
        assert!(moved(&shown, drag.pose(), left)[1] < 0.1, "the foot tilts");
        let [far, turn] = moved(&shown, drag.pose(), right);
        assert!(far < 1e-4 && turn < 0.1);
    }
}

#[test]
fn toes_that_are_dragged_take_a_foot_along_unless_its_goal_is_set() {
    let (bind, body) = figure(1.0, 0.2, 9);
    let [left, right] = body.legs;
    for spec in kinds() {
        let mut scene = Scene::humanoid(&bind, &body, spec);
        let shown = scene.shown();
        let grab = RigGrab::new(left.toes.unwrap());
        let (drag, report) = scene.drag(&grab, Vec3::new(0.0, 0.2, 0.1));
        assert!(report.position_residual < 1e-4, "{spec:?}: {report:?}");
        assert!(moved(&shown, drag.pose(), left.foot)[0] > 0.1);
        let [far, turn] = moved(&shown, drag.pose(), right.foot);
        assert!(far < 1e-4 && turn < 0.1, "{spec:?}: {far} m, {turn} degrees");

        let foot = Goal::position(shown.position(left.foot)).with_rotation(shown.model_rotation(left.foot));
        *scene.goal("left foot") = foot.into();
        let (drag, _) = scene.drag(&grab, Vec3::new(0.0, 0.2, 0.1));
        let [far, turn] = moved(&shown, drag.pose(), left.foot);
        assert!(far < 1e-4 && turn < 0.1, "{spec:?}: the pinned foot went {far} m, {turn} degrees");
    }
}

#[test]
fn an_elbow_that_is_dragged_turns_the_arm_about_its_pinned_hand() {
    let (bind, body) = figure(1.0, 0.2, 9);
    for spec in kinds() {
        let mut scene = Scene::humanoid(&bind, &body, spec);
        let arm = body.arm(Side::Left).unwrap();
        let at = scene.animation.position(arm.hand);
        *scene.goal("left hand") = Goal::position(at).into();
        let shown = scene.shown();
        // Along the circle on which it can go.
        let [shoulder, elbow] = [arm.upper_arm, arm.forearm].map(|j| shown.position(j));
        let round = (at - shoulder).cross(elbow - shoulder).normalize();
        let (drag, report) = scene.drag(&RigGrab::new(arm.forearm), 0.05 * round);
        assert!(report.position_residual < 1e-2, "{report:?}");
        let [far, _] = moved(&shown, drag.pose(), arm.hand);
        assert!(far < 1e-4, "{spec:?}: the pinned hand went {far} m");
        let [far, _] = moved(&shown, drag.pose(), arm.forearm);
        assert!(far > 0.045, "{spec:?}: the elbow went {far} m only");
        let n = scene.rig.find_goal("left hand", None).unwrap();
        assert_eq!(drag.goals()[n].goal.position, Some(at));
    }
}

#[test]
fn joints_outside_of_handles_are_kept_by_their_transforms() {
    let (bind, body) = figure(1.0, 1.2, 2);
    let head = body.head.unwrap();
    let rig = Rig::new(&bind, Some(&body), &RigSpec::new(vec![arm(&body, Side::Left)])).unwrap();
    let hand = body.arm(Side::Left).unwrap().hand;
    let mut goal = RigGoal::from(Goal::position(bind.position(body.spine[0]).midpoint(bind.position(hand))));
    goal.goal.swivel = 0.3;
    let scene = Scene { rig, animation: crouched(&bind, &body), goals: vec![goal] };
    let shown = scene.shown();
    let pins = body.legs.map(|leg| Pin::pose(leg.foot));
    let (drag, report) = scene.drag(&RigGrab::new(head).with_pins(&pins), Vec3::new(0.1, -0.1, 0.08));
    assert!(report.position_residual < 1e-4, "{report:?}");
    for pin in [hand, body.legs[0].foot, body.legs[1].foot] {
        let [far, _] = moved(&shown, drag.pose(), pin);
        assert!(far < 1e-4, "pin {pin} went {far} m");
    }
    assert_eq!(drag.goals(), scene.goals);
    let other = body.arm(Side::Right).unwrap();
    for j in [other.upper_arm, other.forearm, other.hand] {
        assert_eq!(drag.animation().local(j), scene.animation.local(j), "below what moves, by FK");
    }
    let own = body.arm(Side::Left).unwrap();
    for j in [own.upper_arm, own.forearm] {
        assert_eq!(drag.animation().local(j), scene.animation.local(j), "the handle has it");
    }
}

#[test]
fn a_goal_in_the_space_of_a_joint_is_pinned_there() {
    let (bind, body) = figure(1.0, 0.0, 7);
    let mut scene = Scene::humanoid(&bind, &body, HumanoidSpec::new());
    let hand = body.arm(Side::Right).unwrap().hand;
    let salute = Goal::position(Vec3::new(-0.2, -0.1, 0.3));
    *scene.goal("right hand") = RigGoal::from(salute).with_space(Space::Role(Role::Head));
    let head = body.head.unwrap();
    let seen = |pose: &Pose| {
        let [(p, _), (o, q)] = [hand, head].map(|j| place(pose, j));
        q.conjugate() * (p - o)
    };
    let before = seen(&scene.shown());
    let (drag, report) = scene.drag(&RigGrab::new(head), Vec3::new(0.05, -0.05, 0.1));
    assert!(report.position_residual < 1e-4, "{report:?}");
    assert!(seen(drag.pose()).distance(before) < 1e-4);
    let n = scene.rig.find_goal("right hand", None).unwrap();
    assert_eq!(drag.goals()[n], scene.goals[n]);
}

#[test]
fn a_head_that_looks_at_its_goal_does_so_while_the_chest_is_dragged() {
    let (bind, body) = figure(1.0, 0.0, 7);
    let mut scene = Scene::humanoid(&bind, &body, HumanoidSpec::new());
    let (target, head) = (Vec3::new(0.8, 1.2, 1.5), body.head.unwrap());
    *scene.goal("look") = Goal::position(target).into();
    // The direction in which the head looks, from that at bind.
    let ahead = math::rotate(math::conjugate(bind.model_rotation(head)), body.front(&bind));
    let (drag, report) = scene.drag(&RigGrab::new(body.spine[0]), Vec3::new(0.05, -0.06, 0.04));
    assert!(report.position_residual < 1e-4, "{report:?}");
    let (at, turn) = place(drag.pose(), head);
    let off = (turn * ahead.as_dvec3()).angle_between(target.as_dvec3() - at);
    assert!(off.to_degrees() < 0.1, "{off}");
    let n = scene.rig.find_goal("look", None).unwrap();
    assert_eq!(drag.goals()[n], scene.goals[n]);
}

#[test]
fn handles_that_are_off_or_partial_are_taken_as_they_are() {
    let (bind, body) = figure(1.0, 0.0, 7);
    let mut scene = Scene::humanoid(&bind, &body, HumanoidSpec::new());
    let [left, right] = Side::BOTH.map(|side| body.arm(side).unwrap().hand);
    for (name, j) in [("left hand", left), ("right hand", right)] {
        *scene.goal(name) = Goal::position(bind.position(j)).with_position_influence(0.5).into();
    }
    let shown = scene.shown();
    let (drag, report) = scene.drag(&RigGrab::new(left), Vec3::new(0.0, 0.1, 0.1));
    assert!(report.position_residual < 1e-4, "{report:?}");
    assert!(moved(&shown, drag.pose(), right)[0] < 1e-4);
    let n = scene.rig.find_goal("left hand", None).unwrap();
    assert_eq!(drag.goals()[n].goal.position_influence, 0.5);

    let (mut state, mut workspace) = (scene.rig.state(), Workspace::new());
    state.set_on(scene.rig.find("right hand").unwrap(), false);
    let frame = RigFrame::new(0.0).with_goals(&scene.goals);
    let grab = RigGrab::new(body.spine[0]);
    let mut drag = scene.rig.grab(&mut state, &mut workspace, &scene.animation, &frame, &grab).unwrap();
    let from = drag.pose().clone();
    for n in 1..=20 {
        let cursor = from.position(body.spine[0]) + Vec3::new(0.005, 0.0, 0.003) * n as f32;
        drag.to(&mut state, &mut workspace, &Goal::position(cursor), DT).unwrap();
    }
    let n = scene.rig.find_goal("right hand", None).unwrap();
    assert_eq!(drag.goals()[n], scene.goals[n]);
    assert!(moved(&from, drag.pose(), right)[0] > 0.01, "it goes along");
}

/// A post of joints that turn and slide, each axis by itself.
fn post(joint: impl Fn(usize) -> Joint) -> (Pose, Vec<JointId>) {
    let mut builder = Skeleton::builder();
    for n in 0..8usize {
        let at = if n == 0 { Vec3::ZERO } else { Vec3::Y * 0.1 };
        builder.add(format!("{n}"), n.checked_sub(1), JointTransform::from_translation(at));
    }
    let (mut skeleton, ids) = builder.build().unwrap();
    for (n, &j) in ids.iter().enumerate() {
        skeleton.set_joint(j, joint(n)).unwrap();
    }
    (Pose::rest(&Arc::new(skeleton)), ids)
}

#[test]
fn locked_joints_and_axes_stay() {
    let hinge = |axis, range: f64| Joint::hinge(axis, Dof::range(-range, range));
    let (bind, ids) = post(|n| match n {
        0 | 2 => Joint::axes([None; 3]),
        4 => hinge(Vec3::X, 0.0),
        5 => hinge(Vec3::X, 0.3).with_slide([None, Some(Dof::range(0.0, 0.0)), None]),
        6 => Joint::slider(Vec3::Y, Dof::range(-0.05, 0.02)),
        _ => hinge(Vec3::X, 0.3),
    });
    let spec = HandleSpec { solver: HandleSolver::LeastSquares, ..HandleSpec::new("post", ids[0], ids[7]) };
    let rig = Rig::new(&bind, None, &RigSpec::new(vec![spec])).unwrap();
    let mut scene = Scene { rig, animation: bind.clone(), goals: vec![RigGoal::new()] };
    for (set, grabbed) in [(false, 7), (false, 5), (true, 7), (true, 5)] {
        scene.goals[0] = if set { Goal::position(Vec3::new(0.0, 0.69, 0.1)).into() } else { RigGoal::new() };
        let grab = RigGrab::new(ids[grabbed]);
        let (drag, _) = scene.drag(&grab, Vec3::new(0.1, -0.1, 0.15));
        let pose = drag.pose();
        for &n in &[0, 2, 4] {
            assert_eq!(pose.local(ids[n]), bind.local(ids[n]), "joint {n} is locked");
        }
        assert_eq!(pose.local(ids[5]).translation, bind.local(ids[5]).translation);
        let slid = pose.local(ids[6]).translation.y - 0.1;
        assert!((-0.05 - 1e-6..=0.02 + 1e-6).contains(&slid), "{slid}");
        for &j in &ids {
            let skeleton = bind.skeleton();
            let out = limit_judge::further(skeleton.joint(j), skeleton.rest(j), bind.local(j), pose.local(j));
            assert!(out < 1e-5, "{j} is {out} rad out");
            assert!(place(pose, j).0.x.abs() < 1e-6, "all turn in one plane");
        }
    }
}

#[test]
fn every_handle_shows_what_its_goals_can() {
    let (bind, body) = figure(1.0, 1.0, 6);
    let mut noise = Noise(77);
    let arm = body.arm(Side::Left).unwrap();
    for solver in [
        HandleSolver::Auto,
        HandleSolver::TwoBone,
        HandleSolver::Ccd,
        HandleSolver::Fabrik,
        HandleSolver::Fold,
        HandleSolver::LeastSquares,
        HandleSolver::JointSpace,
        HandleSolver::FullBody,
    ] {
        for from in [StartFrom::Pose, StartFrom::Preferred, StartFrom::Last] {
            let mut spec = HandleSpec { solver, from, ..HandleSpec::new("arm", arm.upper_arm, arm.hand) };
            if solver == HandleSolver::FullBody {
                spec.effectors = vec![EffectorSpec::new(arm.hand)];
            }
            let rig = Rig::new(&bind, Some(&body), &RigSpec::new(vec![spec])).unwrap();
            let mut scene = Scene { rig, animation: crouched(&bind, &body), goals: vec![RigGoal::new()] };
            for (set, by) in [(false, Vec3::new(0.05, 0.1, 0.0)), (true, Vec3::new(-0.05, 0.05, 0.02))] {
                let at = scene.animation.position(arm.hand) + 0.05 * noise.vector();
                scene.goals[0] = if set { Goal::position(at).into() } else { RigGoal::new() };
                let (mut state, mut workspace) = (scene.rig.state(), Workspace::new());
                let frame = RigFrame::new(0.0).with_goals(&scene.goals);
                let grab = RigGrab::new(arm.hand);
                let mut drag =
                    scene.rig.grab(&mut state, &mut workspace, &scene.animation, &frame, &grab).unwrap();
                let start = drag.pose().position(arm.hand);
                let mut report = Report::default();
                for n in 1..=30 {
                    let cursor = Goal::position(start + by * (n as f32 / 30.0));
                    report = drag.to(&mut state, &mut workspace, &cursor, DT).unwrap();
                }
                // Methods that converge slowly leave what their handles leave.
                let near = match solver {
                    HandleSolver::Ccd | HandleSolver::Fabrik | HandleSolver::Auto => 5e-4,
                    _ => 2e-4,
                };
                assert!(report.position_residual < near, "{solver} from {from}, {set}: {report:?}");
                if from != StartFrom::Last {
                    scene.judge_kept(&drag);
                }
            }
        }
    }
}

#[test]
fn random_drags_keep_pins_limits_and_finite_numbers() {
    let (bind, body) = limited();
    let skeleton = bind.skeleton().clone();
    let joints: Vec<_> = skeleton.joints().filter(|&j| skeleton.is_below(j, body.hips)).collect();
    let mut noise = Noise(2024);
    let mut moves = 0;
    for trial in 0..40 {
        let mut scene = Scene::humanoid(&bind, &body, kinds()[trial % 2]);
        for (name, side) in [("left hand", Side::Left), ("right hand", Side::Right)] {
            if noise.next() > 0.0 {
                let at = scene.animation.position(body.arm(side).unwrap().hand);
                *scene.goal(name) = Goal::position(at + 0.1 * noise.vector()).into();
            }
        }
        let joint = joints[trial * 7 % joints.len()];
        let (mut state, mut workspace) = (scene.rig.state(), Workspace::new());
        let frame = RigFrame::new(0.0).with_goals(&scene.goals);
        let grab = RigGrab::new(joint);
        let mut drag = scene.rig.grab(&mut state, &mut workspace, &scene.animation, &frame, &grab).unwrap();
        let shown = drag.pose().clone();
        let pins: Vec<JointId> = drag.solver().pins().iter().map(|e| e.joint).collect();
        assert!(!pins.is_empty());
        let mut cursor = shown.position(joint);
        let mut speed = Vec3::ZERO;
        for n in 0..60 {
            speed = 0.9 * speed + 0.01 * noise.vector();
            // At times it leaps, and leaves all reach.
            cursor += if n % 25 == 24 { noise.vector() } else { speed };
            let before = drag.pose().clone();
            let report = drag.to(&mut state, &mut workspace, &Goal::position(cursor), DT).unwrap();
            drag.pose().check_finite().unwrap();
            assert!(report.position_residual.is_finite());
            moves += usize::from(report.outcome != Outcome::Stalled);
            for &pin in &pins {
                let [far, _] = moved(&shown, drag.pose(), pin);
                assert!(far < 1e-4, "trial {trial}, frame {n}: pin {} went {far} m", skeleton.name(pin));
            }
            for j in skeleton.joints() {
                let out = limit_judge::further(
                    skeleton.joint(j),
                    skeleton.rest(j),
                    before.local(j),
                    drag.pose().local(j),
                );
                assert!(out < 1e-5, "trial {trial}, frame {n}: {} is {out} rad out", skeleton.name(j));
            }
        }
        scene.judge_kept(&drag);
    }
    assert!(moves > 1200, "{moves} of 2400 frames follow");
}

#[test]
fn drags_are_the_same_each_time_and_allocate_in_their_first_frame_only() {
    let (bind, body) = limited();
    let mut all = Vec::new();
    for _ in 0..2 {
        for spec in kinds() {
            let scene = Scene::humanoid(&bind, &body, spec);
            let (mut state, mut workspace) = (scene.rig.state(), Workspace::new());
            let frame = RigFrame::new(0.0).with_goals(&scene.goals);
            let grab = RigGrab::new(body.arm(Side::Left).unwrap().hand);
            let mut drag =
                scene.rig.grab(&mut state, &mut workspace, &scene.animation, &frame, &grab).unwrap();
            let from = drag.pose().position(grab.grabbed.joint);
            for n in 1..40 {
                let cursor = Goal::position(from + Vec3::new(0.01, 0.006, 0.01) * n as f32);
                let counted = allocation_counter::measure(|| {
                    drag.to(&mut state, &mut workspace, &cursor, DT).unwrap();
                });
                assert!(n == 1 || counted.count_total == 0, "frame {n}: {counted:?}");
            }
            all.push(bits(drag.pose()));
        }
    }
    assert_eq!(all[..3], all[3..]);
}

#[test]
fn what_cannot_be_dragged_is_refused() {
    let (bind, body) = figure(1.0, 0.0, 1);
    let scene = Scene::humanoid(&bind, &body, HumanoidSpec::new());
    let (mut state, mut workspace) = (scene.rig.state(), Workspace::new());
    let frame = RigFrame::new(0.0).with_goals(&scene.goals);
    let mut grab = |grab: &RigGrab| {
        scene.rig.grab(&mut state, &mut workspace, &scene.animation, &frame, grab).map(|_| ())
    };
    let head = body.head.unwrap();
    let below = RigGrab::new(body.hips).with_root(head);
    assert!(matches!(grab(&below), Err(RigDragError::FullBody(FullBodyError::NotBelowRoot { .. }))));
    let nan = RigGrab::new(head).with_grabbed(Effector::new(head).with_offset(Vec3::NAN));
    assert!(matches!(grab(&nan), Err(RigDragError::FullBody(FullBodyError::Offset { .. }))));

    let mut drag =
        scene.rig.grab(&mut state, &mut workspace, &scene.animation, &frame, &RigGrab::new(head)).unwrap();
    let before = bits(drag.pose());
    for (position, dt) in [(Vec3::NAN, DT), (Vec3::ONE, -1.0), (Vec3::ONE, f32::NAN)] {
        let error = drag.to(&mut state, &mut workspace, &Goal::position(position), dt).unwrap_err();
        match error {
            RigDragError::Solve(SolveError::NotFinite { .. }) => assert!(position.is_nan()),
            RigDragError::Rig(error) if matches!(*error, RigError::FrameTime(given) if given.to_bits() == dt.to_bits()) =>
                {}
            other => panic!("{other}"),
        }
        assert_eq!(bits(drag.pose()), before);
    }
    let other = Rig::new(&bind, Some(&body), &HumanoidSpec::new().rig(&body)).unwrap();
    let error = drag.to(&mut other.state(), &mut workspace, &Goal::position(Vec3::ONE), DT).unwrap_err();
    assert!(matches!(error, RigDragError::Rig(error) if matches!(*error, RigError::OtherState { .. })));
    // A root that is told to stay stays.
    let pinned = RigGrab::new(head).with_root_mode(RootMode::Pinned);
    let (drag, _) = scene.drag(&pinned, Vec3::new(0.3, 0.2, 0.2));
    assert!(moved(&scene.shown(), drag.pose(), body.hips)[0] < 1e-9);
}

/// A figure with a hock between knee and foot, whose legs are `legs` times as long as a person's.
fn on_hocks(legs: f32) -> (Pose, BodyRoles) {
    let mut builder = Skeleton::builder();
    let mut add = |name: &str, parent: Option<usize>, x: f32, y: f32, z: f32| {
        let at = JointTransform::from_translation(Vec3::new(x, y, z));
        builder.add(name, parent, at)
    };
    let hips = add("Hips", None, 0.0, 0.12 + 0.83 * legs, 0.0);
    let chest = add("Spine", Some(hips), 0.0, 0.25, 0.0);
    let neck = add("Neck", Some(chest), 0.0, 0.3, 0.0);
    add("Head", Some(neck), 0.0, 0.1, 0.02);
    for (side, s) in [("Left", 1.0), ("Right", -1.0)] {
        let upper = add(&format!("{side}Arm"), Some(chest), 0.2 * s, 0.25, 0.0);
        let fore = add(&format!("{side}ForeArm"), Some(upper), 0.28 * s, 0.0, -0.02);
        add(&format!("{side}Hand"), Some(fore), 0.27 * s, 0.0, 0.02);
        let thigh = add(&format!("{side}UpLeg"), Some(hips), 0.1 * s, -0.04, 0.0);
        let shin = add(&format!("{side}Leg"), Some(thigh), 0.0, -0.33 * legs, 0.02);
        let hock = add(&format!("{side}Hock"), Some(shin), 0.0, -0.25 * legs, -0.04);
        let foot = add(&format!("{side}Foot"), Some(hock), 0.0, -0.25 * legs, 0.02);
        add(&format!("{side}ToeBase"), Some(foot), 0.0, -0.08, 0.13);
    }
    let bind = Pose::rest(&Arc::new(builder.build().unwrap().0));
    let body = BodyRoles::find(&bind, &[]).unwrap();
    (bind, body)
}

/// Measures of a drag in 30 frames along a line.
#[derive(Debug, Default)]
struct Moves {
    /// Maximum displacement of a joint in a frame, per displacement of the cursor.
    fastest: f64,
    /// Maximum turn of the hips since the grab, in degrees.
    hips: f64,
    /// Maximum displacement of a pin, in metres.
    pins: f64,
    /// Distance of the grabbed joint from the cursor at the end, in metres.
    left: f32,
}

fn moves(scene: &Scene, body: &BodyRoles, joint: JointId, by: Vec3) -> Moves {
    let (mut state, mut workspace) = (scene.rig.state(), Workspace::new());
    let frame = RigFrame::new(0.0).with_goals(&scene.goals);
    let grab = RigGrab::new(joint);
    let mut drag = scene.rig.grab(&mut state, &mut workspace, &scene.animation, &frame, &grab).unwrap();
    let start = drag.pose().clone();
    let pins: Vec<JointId> = drag.solver().pins().iter().map(|e| e.joint).collect();
    let mut all = Moves::default();
    for n in 1..=30 {
        let before = drag.pose().clone();
        let cursor = Goal::position(start.position(joint) + by * (n as f32 / 30.0));
        let report = drag.to(&mut state, &mut workspace, &cursor, DT).unwrap();
        let step = f64::from(by.length()) / 30.0;
        all.fastest = all.fastest.max(apart(&before, drag.pose())[0] / step);
        all.hips = all.hips.max(moved(&start, drag.pose(), body.hips)[1]);
        all.pins = pins.iter().fold(all.pins, |far, &pin| far.max(moved(&start, drag.pose(), pin)[0]));
        all.left = report.position_residual;
    }
    scene.judge_kept(&drag);
    all
}

#[test]
fn hips_keep_their_rotation_and_no_joint_jumps() {
    let figures =
        [figure(1.0, 0.0, 0), figure(1.0, 0.7, 3), figure(0.6, 0.0, 8), on_hocks(1.0), on_hocks(0.5)];
    for (which, (bind, body)) in figures.iter().enumerate() {
        let (leg, arm) = (body.legs[0], body.arm(Side::Left).unwrap());
        let (toes, head) = (leg.toes.unwrap(), body.head.unwrap());
        let (front, size) = (body.front(bind), bind.position(body.hips).y);
        let across = Vec3::Y.cross(front);
        let starts = [(false, false), (false, true), (true, false), (true, true)];
        for (spec, (set, straight)) in
            all_kinds().into_iter().flat_map(|spec| starts.map(|start| (spec, start)))
        {
            let mut scene = Scene::humanoid(bind, body, spec);
            if straight {
                scene.animation = bind.clone();
            }
            if set {
                let hand = body.arm(Side::Right).unwrap().hand;
                *scene.goal("right hand") = Goal::position(scene.animation.position(hand)).into();
            }
            for joint in [toes, leg.foot, leg.shin, leg.thigh, body.hips, arm.hand, head] {
                for (x, y, z) in [(0.1, -0.1, 0.15), (-0.15, 0.1, 0.1), (0.0, -0.3, 0.0), (0.25, 0.0, 0.2)] {
                    let by = (across * x + Vec3::Y * y + front * z) * size;
                    let moves = moves(&scene, body, joint, by);
                    let name = bind.skeleton().name(joint);
                    let at = format!(
                        "figure {which}, straight {straight}, set {set}, {spec:?}, {name} by {by}: {moves:?}"
                    );
                    // A full body from preferred values decides itself how its goals turn the hips, to its own tolerance.
                    let own = set && (spec.limbs, spec.from) == (Limbs::FullBody, Some(StartFrom::Preferred));
                    assert!(moves.pins < if own { 2e-4 } else { 1e-4 }, "{at}");
                    assert!(own || moves.hips < 5.0, "{at}");
                    assert!(moves.fastest < 9.0, "{at}");
                    let reaches = spec.limbs == Limbs::TwoBone && [toes, leg.foot, arm.hand].contains(&joint);
                    assert!(set || !reaches || moves.left < 1e-2, "{at}");
                }
            }
        }
    }
}
