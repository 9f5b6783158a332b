//! Chains, whole bodies, drags and machines.

mod common;

use std::f32::consts::{FRAC_PI_2, PI};

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_sinew::{
    ChainIk, DragIk, FootPlanting, FullBodyIk, IkBinding, IkGoal, IkLimits, IkReport, IkRoot, IkSkeleton,
    IkSolver, IkStatus, IkValues, LimbIk, MechanismIk, TargetLost,
};
use bevy_time::TimeUpdateStrategy;
use bevy_transform::components::Transform;
use common::{Bones, HEIGHT, Random, at, bone, drawn, locals, mannequin, spawn};
use sinew::{
    Goal, Pose, Skeleton, Workspace,
    body::{BodyRoles, HumanLimits, Role, Side, Trackers},
    solve::{
        Auto, Ccd, ChainSolver, DampedLeastSquares, Effector, Fabrik, Follow, FollowOptions, FullBody,
        FullBodyOptions, IterativeOptions, RootMode,
    },
};

const LEFT: Role = Role::Hand(Side::Left);
const RIGHT: Role = Role::Hand(Side::Right);

/// Bones in a line, each with a name, from the first one on. Returns the character too.
fn line(app: &mut App, bones: &[(&str, Transform, Option<IkLimits>)]) -> (Entity, Vec<Entity>) {
    let character = app.world_mut().spawn(IkSkeleton::default()).id();
    let (mut above, mut made) = (character, Vec::new());
    for (name, place, limits) in bones {
        let mut bone = app.world_mut().spawn((*place, Name::new(name.to_string()), ChildOf(above)));
        if let Some(limits) = limits {
            bone.insert(*limits);
        }
        above = bone.id();
        made.push(above);
    }
    (character, made)
}

/// A tail of twelve bones of 0.1 m, each within a cone.
fn tail(app: &mut App, swing: f32) -> (Entity, Vec<Entity>) {
    let names: Vec<String> = (0..12).map(|n| format!("tail {n}")).collect();
    let limits = (swing < PI).then(|| IkLimits::cone(Vec3::X, swing, 0.3));
    let bones: Vec<_> =
        names.iter().map(|name| (name.as_str(), Transform::from_xyz(0.1, 0.0, 0.0), limits)).collect();
    line(app, &bones)
}

fn put(app: &mut App, entity: Entity, at: Vec3) {
    app.world_mut().get_mut::<Transform>(entity).unwrap().translation = at;
}

fn report(app: &App, entity: Entity) -> IkReport {
    app.world().get::<IkReport>(entity).unwrap().clone()
}

/// How near the engine comes to a goal by itself, from rest.
fn directly(app: &App, character: Entity, solver: IkSolver, goal: Vec3) -> f32 {
    let skeleton = app.world().get::<IkBinding>(character).unwrap().skeleton().unwrap();
    let [root, tip] = ["tail 0", "tail 11"].map(|name| skeleton.find(name).unwrap());
    let (mut pose, mut workspace) = (Pose::rest(skeleton), Workspace::new());
    let solver: Box<dyn ChainSolver> = match solver {
        IkSolver::Auto => Box::new(Auto::new(skeleton, root, tip).unwrap()),
        IkSolver::Ccd => Box::new(Ccd::new(skeleton, root, tip).unwrap()),
        IkSolver::Fabrik => Box::new(Fabrik::new(skeleton, root, tip).unwrap()),
        IkSolver::DampedLeastSquares => Box::new(DampedLeastSquares::new(skeleton, root, tip).unwrap()),
        _ => {
            let follow = Follow::new(skeleton, root, tip).unwrap();
            let report = follow.solve(&mut workspace, &mut pose, goal, &FollowOptions::new());
            return report.unwrap().position_residual;
        }
    };
    let mut goal = Goal::position(goal);
    goal.rotation_influence = 0.0;
    let report = solver.solve(&mut workspace, &mut pose, &goal, &IterativeOptions::new());
    report.unwrap().position_residual
}

#[test]
fn the_tip_of_a_chain_is_at_its_target_with_every_solver() {
    let solvers =
        [IkSolver::Auto, IkSolver::Ccd, IkSolver::Fabrik, IkSolver::DampedLeastSquares, IkSolver::Follow];
    for solver in solvers {
        for swing in [PI, 0.6] {
            let mut app = common::app();
            let mut random = Random(3);
            let (character, bones) = tail(&mut app, swing);
            let target = app.world_mut().spawn(Transform::IDENTITY).id();
            let chain = ChainIk::new("tail 0", "tail 11").at(target).with_solver(solver);
            app.world_mut().entity_mut(character).insert(chain);
            let mut missed = 0;
            for frame in 0..100 {
                // Where a random pose of the chain has its tip.
                let mut pose = Transform::IDENTITY;
                for _ in 0..12 {
                    let side = Quat::from_rotation_x(random.within(-PI, PI)) * Vec3::Y;
                    let turn = Quat::from_axis_angle(side, random.within(0.0, swing.min(0.6)));
                    pose = pose * Transform::from_xyz(0.1, 0.0, 0.0).with_rotation(turn);
                }
                let goal = pose.translation;
                put(&mut app, target, goal);
                app.update();
                let off = at(&app, bones[11]).distance(at(&app, target));
                let told = report(&app, character);
                assert_eq!(told.status, IkStatus::Solved, "{solver:?}, frame {frame}: {told:?}");
                assert!((told.position_residual - off).abs() < 1e-4, "{solver:?}: {told:?}, off by {off}");
                missed += usize::from(off > 1e-3);
                let direct = directly(&app, character, solver, goal);
                assert_eq!(told.position_residual, direct, "{solver:?}, frame {frame}");
                for &bone in &bones {
                    let turn = app.world().get::<Transform>(bone).unwrap().rotation;
                    let swung = (turn * Vec3::X).angle_between(Vec3::X);
                    assert!(swing >= PI || swung < swing + 1e-3, "{solver:?}: {swung} rad");
                }
                let long = at(&app, bones[1]).distance(at(&app, bones[2]));
                assert!((long - 0.1).abs() < 1e-5, "{solver:?}: a bone of {long} m");
            }
            // Sweeps alone stall now and then, as the engine's do.
            let sweeps = matches!(solver, IkSolver::Fabrik | IkSolver::Ccd);
            assert!(missed == 0 || sweeps, "{solver:?} within {swing} missed {missed} of 100");
        }
    }
}

#[test]
fn an_elbow_keeps_its_limits_from_the_frame_in_which_it_gets_them() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let target = app.world_mut().spawn(Transform::IDENTITY).id();
    app.world_mut().entity_mut(character).insert(LimbIk::new(LEFT).at(target));
    let (shoulder, elbow) = (bone(&model, &bones, "upper_arm.L"), bone(&model, &bones, "forearm.L"));
    app.update();
    let near = at(&app, shoulder) + Vec3::new(0.1, -0.05, 0.12);
    put(&mut app, target, near);
    app.update();
    assert!(report(&app, character).position_residual < 1e-4);
    let rest = app.world().get::<IkBinding>(character).unwrap();
    let rest = rest.skeleton().unwrap().clone();
    let joint = rest.find("forearm.L").unwrap();
    let angle = |app: &App| {
        let local = app.world().get::<Transform>(elbow).unwrap().rotation;
        rest.rest(joint).rotation.angle_between(local)
    };
    assert!(angle(&app) > 1.5, "{}", angle(&app));
    // Bends by at most a radian, about the axis about which it bent.
    let turn = rest.rest(joint).rotation.inverse() * app.world().get::<Transform>(elbow).unwrap().rotation;
    let (axis, _) = turn.to_axis_angle();
    app.world_mut().entity_mut(elbow).insert(IkLimits::hinge(axis, 0.0, 1.0));
    app.update();
    assert!(angle(&app) < 1.0 + 1e-3, "{}", angle(&app));
    assert!(report(&app, character).position_residual > 0.05);
    app.world_mut().entity_mut(elbow).remove::<IkLimits>();
    app.update();
    assert!(report(&app, character).position_residual < 1e-4 && angle(&app) > 1.5);
}

#[test]
fn limits_that_are_none_leave_the_bone_free() {
    let wrong = [
        IkLimits::hinge(Vec3::ZERO, -1.0, 1.0),
        IkLimits::hinge(Vec3::X, 1.0, -1.0),
        IkLimits::hinge(Vec3::NAN, -1.0, 1.0),
        IkLimits::cone(Vec3::X, f32::NAN, 0.1),
        IkLimits::slider(Vec3::X, f32::INFINITY, 1.0),
        IkLimits::hinge(Vec3::Z, -1.0, 1.0).with_speed(-2.0),
    ];
    for limits in wrong {
        let mut app = common::app();
        let (character, bones) = tail(&mut app, PI);
        app.world_mut().entity_mut(bones[3]).insert(limits);
        let target = app.world_mut().spawn(Transform::from_xyz(0.4, 0.5, 0.2)).id();
        app.world_mut().entity_mut(character).insert(ChainIk::new("tail 0", "tail 11").at(target));
        app.update();
        assert!(at(&app, bones[11]).distance(at(&app, target)) < 1e-3, "{limits:?}");
    }
}

/// A head and two hands.
struct Headset {
    app: App,
    character: Entity,
    bones: Vec<Entity>,
    trackers: [Entity; 3],
}

impl Headset {
    fn new(place: Transform) -> Self {
        let model = mannequin();
        let mut app = common::app();
        let (character, bones) = spawn(&mut app, &model, place);
        let trackers = [(); 3].map(|()| app.world_mut().spawn(Transform::IDENTITY).id());
        let [head, left, right] = trackers;
        let goals = [
            IkGoal::new(Role::Head, head).with_rotation(1.0),
            IkGoal::new(LEFT, left),
            IkGoal::new(RIGHT, right),
        ];
        app.world_mut().entity_mut(character).insert(FullBodyIk::new(goals));
        let mut headset = Self { app, character, bones, trackers };
        headset.place([Vec3::new(0.0, 1.55, 0.05), Vec3::new(0.3, 1.1, 0.3), Vec3::new(-0.3, 1.0, 0.35)]);
        headset
    }

    fn place(&mut self, places: [Vec3; 3]) {
        let place = *self.app.world().get::<Transform>(self.character).unwrap();
        for (tracker, at) in self.trackers.into_iter().zip(places) {
            let turned = Transform { rotation: place.rotation, ..Default::default() };
            *self.app.world_mut().get_mut::<Transform>(tracker).unwrap() =
                turned.with_translation(place.transform_point(at));
        }
    }

    fn off(&self) -> f32 {
        let names = ["head", "hand.L", "hand.R"].map(|name| bone(&mannequin(), &self.bones, name));
        let far =
            names.into_iter().zip(self.trackers).map(|(a, b)| at(&self.app, a).distance(at(&self.app, b)));
        far.fold(0.0, f32::max)
    }
}

#[test]
fn a_head_and_two_hands_move_a_body_as_the_engine_does() {
    let model = mannequin();
    let mut headset = Headset::new(Transform::IDENTITY);
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &[]).unwrap();
    let limits = HumanLimits::of(&bind, &body);
    let mut skeleton = Skeleton::clone(&model.skeleton);
    limits.apply(&mut skeleton).unwrap();
    let skeleton = std::sync::Arc::new(skeleton);
    let joints = [Role::Head, LEFT, RIGHT].map(|role| body.joint(role).unwrap());
    let mut stance = Pose::rest(&skeleton);
    limits.stand_at_ease(&bind, &body, &mut stance);
    stance.update();
    let mut trackers = Trackers::new(&body, &joints.map(Effector::new), &stance).unwrap();
    trackers.root = RootMode::Spring(10.0);
    // Feet stand where they were modelled, and the body begins at ease.
    let mut state = trackers.state(&Pose::rest(&skeleton));
    let mut pose = stance.clone();
    let mut workspace = Workspace::new();
    let options = IterativeOptions::new();
    let feet = ["foot.L", "foot.R"].map(|name| bone(&model, &headset.bones, name));
    let stood = Side::BOTH.map(|side| bind.position(body.leg(side).foot));
    for frame in 0..30 {
        let sway = 0.01 * frame as f32;
        let places = [
            Vec3::new(0.1 * sway, 1.55 - sway, 0.05 + 0.5 * sway),
            Vec3::new(0.3, 1.1 - sway, 0.3),
            Vec3::new(-0.3 + sway, 1.0 + sway, 0.35),
        ];
        headset.place(places);
        headset.app.update();
        let told = report(&headset.app, headset.character);
        assert!(told.status == IkStatus::Solved && told.reached, "frame {frame}: {told:?}");
        assert!(headset.off() < 1e-3 * HEIGHT, "frame {frame}: {}", headset.off());
        for (foot, stood) in feet.into_iter().zip(stood) {
            assert!(at(&headset.app, foot).distance(stood) < 5e-3, "frame {frame}");
        }
        // Each frame goes on from the last one, with the hips where they are at ease.
        pose.set_translation(body.hips, stance.local(body.hips).translation);
        pose.update();
        let mut goals = places.map(Goal::position);
        goals[0].rotation = Some(Quat::IDENTITY);
        for goal in &mut goals[1..] {
            goal.rotation_influence = 0.0;
        }
        // The first frame searches, the others go on from the last one.
        let later = options.with_max_restarts(0).with_max_iterations(60);
        let options = if frame == 0 { &options } else { &later };
        trackers.solve(&mut state, &mut workspace, &mut pose, &goals, options).unwrap();
        for (joint, local) in skeleton.joints().zip(locals(&headset.app, &headset.bones)) {
            assert_eq!(common::transform(pose.local(joint)), local, "{}", skeleton.name(joint));
            let over = skeleton.limit_excess(joint, local.rotation);
            let before = skeleton.limit_excess(joint, skeleton.rest(joint).rotation);
            assert!(over <= before + 1e-3, "{}: {over} rad beyond its limits", skeleton.name(joint));
        }
    }
}

#[test]
fn a_body_that_nothing_animates_does_not_drift() {
    let mut headset = Headset::new(Transform::from_xyz(3.0, 1.0, -2.0));
    headset.app.update();
    let first = locals(&headset.app, &headset.bones);
    for _ in 0..100 {
        headset.app.update();
    }
    assert_eq!(locals(&headset.app, &headset.bones), first);
    // And comes back when it is switched off.
    headset.app.world_mut().get_mut::<FullBodyIk>(headset.character).unwrap().influence = 0.0;
    headset.app.update();
    let model = mannequin();
    let rest: Vec<Transform> =
        model.skeleton.joints().map(|joint| common::transform(model.skeleton.rest(joint))).collect();
    assert_eq!(locals(&headset.app, &headset.bones), rest);
}

#[test]
fn a_body_of_another_kind_is_solved_within_its_own_limits() {
    // A trunk that forks: no person.
    let mut app = common::app();
    let (character, mut bones) = line(
        &mut app,
        &[
            ("base", Transform::IDENTITY, None),
            ("trunk", Transform::from_xyz(0.0, 1.0, 0.0), Some(IkLimits::hinge(Vec3::Z, -0.5, 0.5))),
        ],
    );
    for side in [1.0, -1.0] {
        let mut above = bones[1];
        for n in 0..3 {
            let place = Transform::from_xyz(0.4 * side, if n == 0 { 0.5 } else { 0.05 }, 0.0);
            let name = Name::new(format!("branch {side} {n}"));
            above = app.world_mut().spawn((place, name, ChildOf(above))).id();
            bones.push(above);
        }
    }
    let targets = [Vec3::new(0.7, 1.9, 0.5), Vec3::new(-0.9, 1.4, 0.2)]
        .map(|at| app.world_mut().spawn(Transform::from_translation(at)).id());
    let goals = [("branch 1 2", targets[0]), ("branch -1 2", targets[1])];
    let body = FullBodyIk::new(goals.map(|(bone, target)| IkGoal::new(bone, target))).with_root("base");
    app.world_mut().entity_mut(character).insert(body.with_root_mode(IkRoot::Pinned));
    app.update();
    assert!(report(&app, character).reached, "{:?}", report(&app, character));
    let binding = app.world().get::<IkBinding>(character).unwrap();
    let skeleton = binding.skeleton().unwrap();
    let find = |name: &str| skeleton.find(name).unwrap();
    let effectors = goals.map(|(name, _)| Effector::new(find(name)));
    let solver = FullBody::new(skeleton, find("base"), &effectors).unwrap();
    let mut pose = Pose::rest(skeleton);
    let goals = targets.map(|target| {
        let mut goal = Goal::position(at(&app, target));
        goal.rotation_influence = 0.0;
        goal
    });
    let options = FullBodyOptions::new().with_root(RootMode::Pinned);
    solver.solve(&mut Workspace::new(), &mut pose, &goals, &options).unwrap();
    for joint in skeleton.joints() {
        let drawn = app.world().get::<Transform>(binding.entity(joint).unwrap()).unwrap();
        assert_eq!(*drawn, common::transform(pose.local(joint)), "{}", skeleton.name(joint));
    }
    let trunk = app.world().get::<Transform>(bones[1]).unwrap().rotation;
    assert!(trunk.to_axis_angle().1 <= 0.5 + 1e-4 && trunk.x.abs() + trunk.y.abs() < 1e-4);
}

#[test]
fn a_hand_is_dragged_while_the_feet_stand_and_the_pose_stays_when_it_is_let_go() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::from_xyz(1.0, 0.0, 2.0));
    let hand = bone(&model, &bones, "hand.L");
    let feet = ["foot.L", "foot.R"].map(|name| bone(&model, &bones, name));
    let drag = DragIk::new(LEFT).with_pins(Side::BOTH.map(Role::Foot));
    app.world_mut().entity_mut(character).insert(drag);
    app.update();
    let (from, stood) = (at(&app, hand), feet.map(|foot| at(&app, foot)));
    let cursor = app.world_mut().spawn(Transform::from_translation(from)).id();
    app.world_mut().get_mut::<DragIk>(character).unwrap().target = Some(cursor);
    let mut last = locals(&app, &bones);
    for frame in 1..=90 {
        put(&mut app, cursor, from + Vec3::new(-0.004, -0.006, 0.005) * frame as f32);
        app.update();
        let now = locals(&app, &bones);
        let turned = last.iter().zip(&now).map(|(a, b)| a.rotation.angle_between(b.rotation));
        let most = turned.fold(0.0, f32::max);
        assert!(most < 0.15, "frame {frame}: a joint leaps by {most} rad");
        for (foot, stood) in feet.into_iter().zip(stood) {
            assert!(at(&app, foot).distance(stood) < 2e-3, "frame {frame}");
        }
        last = now;
    }
    assert!(at(&app, hand).distance(at(&app, cursor)) < 1e-2, "{:?}", report(&app, character));
    app.world_mut().get_mut::<DragIk>(character).unwrap().target = None;
    for _ in 0..5 {
        app.update();
        assert_eq!(locals(&app, &bones), last, "it is left where it was let go");
    }
    assert_eq!(report(&app, character).status, IkStatus::Idle);
    // The next drag goes on from there, and the end of the component ends it too.
    app.world_mut().get_mut::<DragIk>(character).unwrap().target = Some(cursor);
    let above = at(&app, hand) + Vec3::Y * 0.01;
    put(&mut app, cursor, above);
    app.update();
    let now = locals(&app, &bones);
    assert_ne!(now, last);
    app.world_mut().entity_mut(character).remove::<DragIk>();
    app.update();
    assert_eq!(locals(&app, &bones), now);
}

/// Turntable, boom, stick and bucket, with the bucket's teeth 0.6 m beyond its hinge.
fn excavator(app: &mut App) -> (Entity, Vec<Entity>) {
    let up = |y: f32, z: f32| Transform::from_xyz(0.0, y, z);
    let swing = |min: f32, max: f32, speed: f32| Some(IkLimits::hinge(Vec3::X, min, max).with_speed(speed));
    line(
        app,
        &[
            ("tracks", Transform::IDENTITY, None),
            ("cabin", up(1.0, 0.0), Some(IkLimits::hinge(Vec3::Y, -PI, PI).with_speed(0.6))),
            ("boom", up(0.6, 0.5), swing(-1.0, 0.9, 0.4)),
            ("stick", up(2.4, 2.6), swing(-0.4, 1.6, 0.5)),
            ("bucket", up(-1.6, 1.2), swing(-0.5, 1.8, 0.9)),
        ],
    )
}

#[test]
fn a_machine_reaches_its_target_within_limits_and_speeds() {
    let mut app = common::app();
    let step = 1.0 / 60.0;
    app.insert_resource(TimeUpdateStrategy::ManualDuration(std::time::Duration::from_secs_f32(step)));
    let (machine, bones) = excavator(&mut app);
    let heap = app.world_mut().spawn(Transform::IDENTITY).id();
    let tool = Transform::from_xyz(0.0, -0.5, 0.33);
    app.world_mut().entity_mut(machine).insert(MechanismIk::new("bucket").at(heap).with_tool(tool));
    let limits = [(-PI, PI, 0.6), (-1.0, 0.9, 0.4), (-0.4, 1.6, 0.5), (-0.5, 1.8, 0.9)];
    let mut last: Vec<f64> = Vec::new();
    let mut random = Random(7);
    for n in 0..12 {
        // Where random values have the teeth.
        let joints = [(Vec3::ZERO, Vec3::Y), (Vec3::new(0.0, 1.0, 0.0), Vec3::Y)];
        let arms = [(0.0, 0.6, 0.5), (0.0, 2.4, 2.6), (0.0, -1.6, 1.2)].map(|at| (Vec3::from(at), Vec3::X));
        let mut pose = Transform::IDENTITY;
        for (i, (at, axis)) in joints.into_iter().chain(arms).enumerate() {
            let (min, max, _) = if i == 0 { (0.0, 0.0, 0.0) } else { limits[i - 1] };
            let turn = Quat::from_axis_angle(axis, random.within(min, max));
            pose = pose * Transform::from_translation(at).with_rotation(turn);
        }
        let goal = pose.transform_point(tool.translation);
        // The machine stands elsewhere each time.
        let place = Transform::from_xyz(7.0, 0.2, n as f32).with_rotation(Quat::from_rotation_y(n as f32));
        *app.world_mut().get_mut::<Transform>(machine).unwrap() = place;
        put(&mut app, heap, place.transform_point(goal));
        for frame in 0..600 {
            app.update();
            let values = app.world().get::<IkValues>(machine).unwrap().0.clone();
            assert_eq!(values.len(), 4);
            for (i, (value, (min, max, speed))) in values.iter().zip(limits).enumerate() {
                assert!((f64::from(min)..=f64::from(max)).contains(value), "{value}, {min} to {max}");
                let moved = last.get(i).map_or(0.0, |last| (value - last).abs());
                assert!(moved <= f64::from(speed * step) * 1.0001, "goal {n}, frame {frame}: {moved} rad");
            }
            // The bones are where the values say.
            let boom = app.world().get::<Transform>(bones[2]).unwrap().rotation;
            assert!(boom.angle_between(Quat::from_rotation_x(values[1] as f32)) < 1e-3);
            last = values;
        }
        let teeth = drawn(&app, bones[4]).transform_point(tool.translation);
        assert!(teeth.distance(at(&app, heap)) < 1e-4, "goal {n}: {:?}", report(&app, machine));
        assert!(report(&app, machine).reached);
    }
    // Out of reach: it stretches towards it, and says by how much it misses.
    put(&mut app, heap, Vec3::new(80.0, 3.0, 0.0));
    (0..1200).for_each(|_| app.update());
    let told = report(&app, machine);
    assert!(!told.reached && told.position_residual > 50.0, "{told:?}");
    // Without a target the bones are given back.
    app.world_mut().get_mut::<MechanismIk>(machine).unwrap().target = None;
    app.update();
    assert_eq!(app.world().get::<Transform>(bones[2]).unwrap().rotation, Quat::IDENTITY);
}

#[test]
fn what_cannot_be_solved_says_why_and_leaves_the_bones() {
    let mut app = common::app();
    let (character, bones) = excavator(&mut app);
    let target = app.world_mut().spawn(Transform::from_xyz(1.0, 1.0, 1.0)).id();
    let before = locals(&app, &bones);
    let told = |app: &mut App, problem: &str| {
        app.update();
        let report = report(app, character);
        assert_eq!(report.status, IkStatus::Failed, "{report:?}");
        assert!(report.problem.contains(problem), "{} has no {problem}", report.problem);
        assert_eq!(locals(app, &bones), before);
        app.world_mut().entity_mut(character).remove::<(ChainIk, FullBodyIk, DragIk, MechanismIk)>();
        app.update();
    };
    let add = |app: &mut App, component: &dyn Fn(&mut EntityWorldMut)| {
        component(&mut app.world_mut().entity_mut(character));
    };
    add(&mut app, &|e| _ = e.insert(ChainIk::new("boom", "bukcet").at(target)));
    told(&mut app, "bucket");
    add(&mut app, &|e| _ = e.insert(ChainIk::new("bucket", "boom").at(target)));
    told(&mut app, "bucket");
    add(&mut app, &|e| _ = e.insert(FullBodyIk::new([IkGoal::new("bucket", target)])));
    told(&mut app, "hips");
    add(&mut app, &|e| {
        let goal = IkGoal::new("bucket", target).with_priority(9);
        _ = e.insert(FullBodyIk::new([goal]).with_root("boom"));
    });
    told(&mut app, "priority 9");
    add(&mut app, &|e| {
        let goals = [IkGoal::new("bucket", target), IkGoal::new("bucket", target)];
        _ = e.insert(FullBodyIk::new(goals).with_root("boom"));
    });
    told(&mut app, "same point");
    add(&mut app, &|e| _ = e.insert(DragIk::new("tracks").with_root("boom").at(target)));
    told(&mut app, "below");
    add(&mut app, &|e| _ = e.insert(MechanismIk::new("tracks").at(target)));
    told(&mut app, "no joint moves");
    add(&mut app, &|e| {
        _ = e.insert(MechanismIk { speed: f32::NAN, ..MechanismIk::new("bucket").at(target) });
    });
    told(&mut app, "speed");
    // Places that are no numbers.
    put(&mut app, target, Vec3::NAN);
    add(&mut app, &|e| _ = e.insert(ChainIk::new("boom", "bucket").at(target)));
    told(&mut app, "");
    add(&mut app, &|e| {
        _ = e.insert(FullBodyIk::new([IkGoal::new("bucket", target)]).with_root("boom"));
    });
    told(&mut app, "");
    add(&mut app, &|e| _ = e.insert(DragIk::new("bucket").with_root("boom").at(target)));
    told(&mut app, "");
    add(&mut app, &|e| _ = e.insert(MechanismIk::new("bucket").at(target)));
    told(&mut app, "");
}

#[test]
fn a_target_that_goes_is_told_by_each_of_them() {
    let mut app = common::app();
    let (character, bones) = excavator(&mut app);
    let before = locals(&app, &bones);
    let [kept, gone] = [(); 2].map(|()| app.world_mut().spawn(Transform::from_xyz(0.0, 1.5, 3.0)).id());
    let body = [IkGoal::new("stick", kept), IkGoal::new("bucket", gone)];
    let handles = [
        app.world_mut().spawn((ChainIk::new("boom", "bucket").at(gone), ChildOf(character))).id(),
        app.world_mut().spawn((FullBodyIk::new(body).with_root("boom"), ChildOf(character))).id(),
        app.world_mut().spawn((MechanismIk::new("bucket").at(gone), ChildOf(character))).id(),
    ];
    app.update();
    assert!(handles.iter().all(|&handle| report(&app, handle).status == IkStatus::Solved));
    app.world_mut().despawn(gone);
    app.update();
    let told: Vec<TargetLost> = app.world_mut().resource_mut::<Messages<TargetLost>>().drain().collect();
    assert_eq!(told.len(), 3);
    for handle in handles {
        assert_eq!(report(&app, handle).status, IkStatus::TargetLost);
        assert!(told.contains(&TargetLost { character, handle, target: gone }));
    }
    assert_eq!(locals(&app, &bones), before);
}

/// Feet without legs fail, and the chain on the same entity goes on; the report is that of the feet.
#[test]
fn what_goes_wrong_is_told_of_several() {
    let mut app = common::app();
    let (character, bones) = tail(&mut app, PI);
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 0.5, 0.2)).id();
    let both = (ChainIk::new("tail 0", "tail 11").at(target), FootPlanting::default());
    app.world_mut().entity_mut(character).insert(both);
    for _ in 0..3 {
        app.update();
        let told = report(&app, character);
        assert!(told.status == IkStatus::Failed && told.problem.contains("no legs"), "{told:?}");
        assert!(at(&app, bones[11]).distance(at(&app, target)) < 1e-3);
    }
    app.world_mut().entity_mut(character).remove::<FootPlanting>();
    app.update();
    assert_eq!(report(&app, character).status, IkStatus::Solved);
}

#[test]
fn a_character_of_named_bones_is_enough_for_all_of_them() {
    let model = mannequin();
    let mut app = common::app();
    let character = app.world_mut().spawn((IkSkeleton::default(), Transform::IDENTITY)).id();
    let bones = common::spawn_bones(app.world_mut(), character, &model, Bones::Named);
    let target = app.world_mut().spawn(Transform::from_xyz(0.2, 0.9, 0.6)).id();
    // Both hands at one thing: the trunk follows with the body, the arms with limbs before it.
    app.world_mut().spawn((LimbIk::new(RIGHT).at(target), ChildOf(character)));
    app.world_mut().spawn((FullBodyIk::new([IkGoal::new(LEFT, target)]), ChildOf(character)));
    app.update();
    let off = at(&app, bone(&model, &bones, "hand.L")).distance(at(&app, target));
    assert!(off < 1e-3 * HEIGHT, "{off}");
    let knees = ["shin.L", "shin.R"].map(|name| model.skeleton.find(name).unwrap());
    for knee in knees {
        let bent = app.world().get::<Transform>(bones[knee.index()]).unwrap().rotation;
        assert!(bent.angle_between(model.skeleton.rest(knee).rotation) < FRAC_PI_2);
    }
}
