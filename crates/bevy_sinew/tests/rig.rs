//! Rigs on characters.

mod common;

use bevy_app::App;
use bevy_asset::{Assets, Handle};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_sinew::{IkBinding, IkReport, IkRig, IkRigAsset, IkRigGoal, IkSkeleton, IkStatus};
use bevy_transform::components::Transform;
use common::{HEIGHT, at, bone, locals, mannequin, spawn};
use sinew::{
    Goal, Pose, Workspace,
    body::BodyRoles,
    rig::{HandleSolver, HandleSpec, HumanoidSpec, Rig, RigFrame, RigGoal, RigSpec, Space},
};

fn humanoid() -> IkRigAsset {
    IkRigAsset::humanoid(HumanoidSpec::new())
}

fn report(app: &App, entity: Entity) -> IkReport {
    app.world().get::<IkReport>(entity).unwrap().clone()
}

fn add(app: &mut App, asset: IkRigAsset) -> Handle<IkRigAsset> {
    app.world_mut().resource_mut::<Assets<IkRigAsset>>().add(asset)
}

#[test]
fn a_humanoid_is_posed_by_goals_as_the_engine_does() {
    let model = mannequin();
    let mut app = common::app();
    let rig = add(&mut app, humanoid());
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let [hand, foot, pole] = [(); 3].map(|()| app.world_mut().spawn(Transform::IDENTITY).id());
    let mut component = IkRig::new(rig).with_goal("right hand", hand).with_goal("left foot", foot);
    component.goals.0[0].pole = Some(pole);
    component.goals.0[0].rotation_influence = 1.0;
    app.world_mut().entity_mut(character).insert(component);
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &[]).unwrap();
    let direct = Rig::new(&bind, Some(&body), &HumanoidSpec::new().rig(&body)).unwrap();
    let (mut state, mut workspace) = (direct.state(), Workspace::new());
    let named = |name: &str| direct.goal_names().position(|known| known == name).unwrap();
    for frame in 0..60 {
        let swing = 0.1 * (0.2 * frame as f32).sin();
        let places = [
            Transform::from_xyz(-0.3, 1.2 + swing, 0.3).with_rotation(Quat::from_rotation_y(swing)),
            Transform::from_xyz(0.12, 0.2, 0.2 + swing),
            Transform::from_xyz(-1.0, 0.6, -1.0),
        ];
        for (entity, place) in [hand, foot, pole].into_iter().zip(places) {
            *app.world_mut().get_mut::<Transform>(entity).unwrap() = place;
        }
        app.update();
        let told = report(&app, character);
        assert!(told.status == IkStatus::Solved && told.position_residual < 1e-3, "frame {frame}: {told:?}");
        for (name, target) in [("hand.R", hand), ("foot.L", foot)] {
            let off = at(&app, bone(&model, &bones, name)).distance(at(&app, target));
            assert!(off < 1e-3 * HEIGHT, "frame {frame}, {name}: {off} m");
        }
        let mut goals = vec![RigGoal::new(); direct.goal_count()];
        let of = |goal: Goal| RigGoal::new().with_space(Space::Model).with_goal(goal);
        let pole = sinew::Pole::Point(places[2].translation);
        let right = Goal::position(places[0].translation).with_rotation(places[0].rotation).with_pole(pole);
        goals[named("right hand")] = of(right).with_pole_space(Space::Model);
        goals[named("left foot")] = of(Goal::position(places[1].translation));
        let mut pose = Pose::rest(&model.skeleton);
        direct.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(0.0).with_goals(&goals)).unwrap();
        for (joint, local) in model.skeleton.joints().zip(locals(&app, &bones)) {
            let (wanted, now) = (common::transform(pose.local(joint)), local);
            let turned = wanted.rotation.angle_between(now.rotation);
            assert!(turned < 2e-3, "frame {frame}, {}: {turned} rad", model.skeleton.name(joint));
        }
    }
    // Half of it, none of it, and a goal less.
    let rest = locals_of_rest(&model);
    let full = locals(&app, &bones);
    app.world_mut().get_mut::<IkSkeleton>(character).unwrap().influence = 0.5;
    app.update();
    let arm = model.skeleton.find("upper_arm.R").unwrap().index();
    let half = locals(&app, &bones)[arm].rotation;
    let (a, b) = (half.angle_between(rest[arm].rotation), half.angle_between(full[arm].rotation));
    assert!((a - b).abs() < 0.02 && a > 0.1, "{a} {b}");
    app.world_mut().get_mut::<IkSkeleton>(character).unwrap().influence = 0.0;
    app.update();
    assert_eq!(locals(&app, &bones), rest);
    app.world_mut().get_mut::<IkSkeleton>(character).unwrap().influence = 1.0;
    app.world_mut().get_mut::<IkRig>(character).unwrap().goals.0[0].target = None;
    app.update();
    assert!(report(&app, character).position_residual < 1e-3);
    let hand = at(&app, bone(&model, &bones, "hand.R"));
    assert!(hand.distance(Vec3::new(-0.3, 1.2, 0.3)) > 0.1, "{hand}");
}

fn locals_of_rest(model: &sinew_files::Model) -> Vec<Transform> {
    model.skeleton.joints().map(|joint| common::transform(model.skeleton.rest(joint))).collect()
}

#[test]
fn what_is_wrong_with_a_rig_is_told_and_rigs_come_anew() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let target = app.world_mut().spawn(Transform::from_xyz(-0.3, 1.2, 0.3)).id();
    // Not there yet.
    let rig = app.world().resource::<Assets<IkRigAsset>>().reserve_handle();
    app.world_mut().entity_mut(character).insert(IkRig::new(rig.clone()).with_goal("right hand", target));
    app.update();
    assert_eq!(report(&app, character).status, IkStatus::Idle);
    // A rig that this body cannot have.
    let none = IkRigAsset::new(|bind, _| {
        let mut spec = HandleSpec::new(
            "reach",
            bind.skeleton().find("hips").unwrap(),
            bind.skeleton().find("head").unwrap(),
        );
        spec.solver = HandleSolver::TwoBone;
        spec.options.influence = 7.0;
        Rig::new(bind, None, &RigSpec::new(vec![spec]))
    });
    app.world_mut().resource_mut::<Assets<IkRigAsset>>().insert(&rig, none).unwrap();
    (0..3).for_each(|_| app.update());
    assert_eq!(report(&app, character).status, IkStatus::Failed, "{:?}", report(&app, character));
    // It comes anew.
    app.world_mut().resource_mut::<Assets<IkRigAsset>>().insert(&rig, humanoid()).unwrap();
    (0..3).for_each(|_| app.update());
    assert_eq!(report(&app, character).status, IkStatus::Solved, "{:?}", report(&app, character));
    let hand = bone(&model, &bones, "hand.R");
    assert!(at(&app, hand).distance(at(&app, target)) < 1e-3);
    // A goal that it does not have, with those that it has.
    let wrong = IkRigGoal { name: "right hnad".into(), target: Some(target), ..IkRigGoal::default() };
    app.world_mut().get_mut::<IkRig>(character).unwrap().goals.0.push(wrong);
    app.update();
    let told = report(&app, character);
    assert!(told.problem.contains("`right hnad`") && told.problem.contains("`right hand`"), "{told:?}");
    assert_eq!(locals(&app, &bones), locals_of_rest(&model));
    app.world_mut().get_mut::<IkRig>(character).unwrap().goals.0.pop();
    app.update();
    assert_eq!(report(&app, character).status, IkStatus::Solved);
    // It goes.
    app.world_mut().resource_mut::<Assets<IkRigAsset>>().remove(&rig);
    (0..3).for_each(|_| app.update());
    assert_eq!(report(&app, character).status, IkStatus::Idle);
    assert_eq!(locals(&app, &bones), locals_of_rest(&model));
    assert!(app.world().get::<IkBinding>(character).unwrap().is_bound());
}

#[cfg(feature = "rig")]
#[test]
fn rig_files_are_loaded_and_their_faults_told_with_a_line() {
    use bevy_asset::AssetServer;
    let folder = std::env::temp_dir().join(format!("bevy_sinew_rig_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let text = "rig = 1\n[[handle]]\nname = \"reach\"\nsolver = \"two-bone\"\nchain = [\"upper_arm.R\", \"hand.R\"]\n";
    std::fs::write(folder.join("arm.rig.toml"), text).unwrap();
    std::fs::write(folder.join("wrong.rig.toml"), text.replace("solver", "solvr")).unwrap();
    let model = mannequin();
    let mut app = common::app_from(folder.to_str().unwrap());
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let target = app.world_mut().spawn(Transform::from_xyz(-0.3, 1.2, 0.3)).id();
    let load = |app: &App, name: &'static str| app.world().resource::<AssetServer>().load::<IkRigAsset>(name);
    let (arm, wrong) = (load(&app, "arm.rig.toml"), load(&app, "wrong.rig.toml"));
    let wait = |app: &mut App, status: IkStatus| {
        for _ in 0..1000 {
            app.update();
            if report(app, character).status == status {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        panic!("{:?}", report(app, character));
    };
    app.world_mut().entity_mut(character).insert(IkRig::new(arm).with_goal("reach", target));
    wait(&mut app, IkStatus::Solved);
    assert!(at(&app, bone(&model, &bones, "hand.R")).distance(at(&app, target)) < 1e-4);
    app.world_mut().entity_mut(character).insert(IkRig::new(wrong).with_goal("reach", target));
    wait(&mut app, IkStatus::Failed);
    let told = report(&app, character);
    assert!(
        told.problem.contains("wrong.rig.toml:4") && told.problem.contains("did you mean `solver`"),
        "{told:?}"
    );
    std::fs::remove_dir_all(folder).unwrap();
}
