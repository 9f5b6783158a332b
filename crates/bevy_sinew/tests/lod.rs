//! Characters that are far away.

mod common;

use std::time::Duration;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_sinew::{FootLanded, FootPlanting, IkLod, IkReport, IkSkeleton, IkStatus, IkViewer, LimbIk};
use bevy_time::TimeUpdateStrategy;
use bevy_transform::components::Transform;
use common::{at, bone, locals, mannequin, spawn};
use sinew::body::{Role, Side};

/// A character with a hand at a target, and a camera.
struct Scene {
    app: App,
    character: Entity,
    bones: Vec<Entity>,
    hand: Entity,
    target: Entity,
    camera: Entity,
}

fn scene(lod: IkLod) -> Scene {
    let model = mannequin();
    let mut app = common::app();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(1.0 / 60.0)));
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    let limb = LimbIk::new(Role::Hand(Side::Left)).at(target);
    app.world_mut().entity_mut(character).insert((limb, lod));
    let camera = app.world_mut().spawn((Transform::from_xyz(0.0, 1.0, 5.0), IkViewer)).id();
    let hand = bone(&model, &bones, "hand.L");
    (0..3).for_each(|_| app.update());
    Scene { app, character, bones, hand, target, camera }
}

/// Transforms of the bones without inverse kinematics.
fn rest() -> Vec<Transform> {
    let model = mannequin();
    model.skeleton.joints().map(|joint| common::transform(model.skeleton.rest(joint))).collect()
}

impl Scene {
    fn off(&self) -> f32 {
        at(&self.app, self.hand).distance(at(&self.app, self.target))
    }

    fn see_from(&mut self, far: f32) {
        self.app.world_mut().get_mut::<Transform>(self.camera).unwrap().translation =
            Vec3::new(0.0, 0.0, far);
        // The camera's place is that of the frame before.
        (0..2).for_each(|_| self.app.update());
    }
}

#[test]
fn one_that_is_far_away_has_its_animation_and_nothing_jumps_on_the_way() {
    let mut scene = scene(IkLod { distance: 30.0, rate: 0.0 });
    let animation = rest();
    assert!(scene.off() < 1e-4);
    scene.see_from(26.9);
    assert!(scene.off() < 1e-4, "near in full");
    let mut last = at(&scene.app, scene.hand);
    for step in 0..100 {
        scene.see_from(26.9 + 0.04 * step as f32);
        let now = at(&scene.app, scene.hand);
        assert!(now.distance(last) < 0.03, "step {step}: the hand jumps by {}", now.distance(last));
        last = now;
    }
    assert_eq!(locals(&scene.app, &scene.bones), animation);
    assert_eq!(scene.app.world().get::<IkReport>(scene.character).unwrap().status, IkStatus::Idle);
    scene.see_from(10.0);
    assert!(scene.off() < 1e-4);
    // Numbers that are none save nothing.
    for (distance, rate) in [(f32::NAN, 0.0), (5.0, f32::NAN), (5.0, -3.0)] {
        scene.app.world_mut().entity_mut(scene.character).insert(IkLod { distance, rate });
        scene.see_from(10.0);
        assert!(scene.off() < 1e-4, "{distance} m, {rate} Hz");
    }
}

#[test]
fn without_a_viewer_all_are_near() {
    let mut scene = scene(IkLod { distance: 0.0, rate: 0.0 });
    assert!(scene.off() > 0.1);
    scene.app.world_mut().despawn(scene.camera);
    scene.app.update();
    assert!(scene.off() < 1e-4);
}

#[test]
fn one_that_is_solved_now_and_then_keeps_the_difference_between() {
    let mut scene = scene(IkLod { distance: 30.0, rate: 10.0 });
    scene.see_from(100.0);
    // The bones stand still as long as nothing moves.
    (0..10).for_each(|_| scene.app.update());
    let still = locals(&scene.app, &scene.bones);
    (0..50).for_each(|_| scene.app.update());
    assert_eq!(locals(&scene.app, &scene.bones), still);
    assert!(scene.off() < 1e-4);
    // Nor as they are marked as changed.
    for _ in 0..20 {
        for &bone in &scene.bones {
            scene.app.world_mut().get_mut::<Transform>(bone).unwrap().set_changed();
        }
        scene.app.update();
        assert_eq!(locals(&scene.app, &scene.bones), still);
    }
    // Without influence it is the animation's at once.
    let influence = |scene: &mut Scene, influence: f32| {
        scene.app.world_mut().get_mut::<IkSkeleton>(scene.character).unwrap().influence = influence;
        scene.app.update();
    };
    for wait in 1..9 {
        influence(&mut scene, 0.0);
        assert_eq!(locals(&scene.app, &scene.bones), rest(), "{wait}");
        influence(&mut scene, 1.0);
        (0..wait + 8).for_each(|_| scene.app.update());
        assert_eq!(locals(&scene.app, &scene.bones), still, "{wait}");
    }
    // A target that moves is followed ten times a second.
    let (mut moves, mut last) = (0, at(&scene.app, scene.hand));
    for frame in 0..120 {
        let goal = Vec3::new(0.4, 1.3 - 0.001 * frame as f32, 0.3);
        scene.app.world_mut().get_mut::<Transform>(scene.target).unwrap().translation = goal;
        scene.app.update();
        let now = at(&scene.app, scene.hand);
        moves += usize::from(now != last);
        last = now;
        assert!(scene.off() < 0.01, "frame {frame}: {}", scene.off());
    }
    assert!((19..=21).contains(&moves), "{moves} in two seconds");
    // An animation shows between, and its joints never jump.
    let model = mannequin();
    let arm = bone(&model, &scene.bones, "upper_arm.L");
    let rest = *model.skeleton.rest(model.skeleton.find("upper_arm.L").unwrap());
    let (mut last, mut played) = (locals(&scene.app, &scene.bones), 0);
    let forearm = model.skeleton.find("forearm.L").unwrap();
    for frame in 0..60 {
        let turn = Quat::from_rotation_z(-0.005 * frame as f32);
        let mut animated = common::transform(&rest);
        animated.rotation *= turn;
        *scene.app.world_mut().get_mut::<Transform>(arm).unwrap() = animated;
        scene.app.update();
        let now = locals(&scene.app, &scene.bones);
        let most =
            last.iter().zip(&now).map(|(a, b)| a.rotation.angle_between(b.rotation)).fold(0.0, f32::max);
        assert!(most < 0.06, "frame {frame}: {most} rad");
        assert!(scene.off() < 0.03, "frame {frame}: {}", scene.off());
        played += usize::from(now[forearm.index()] == last[forearm.index()] && most > 1e-3);
        last = now;
    }
    // Nine of ten frames do not solve, and show the animation all the same.
    assert!(played >= 45, "{played} of 60");
    // Near again, each frame counts.
    scene.see_from(5.0);
    for frame in 0..20 {
        let goal = Vec3::new(0.4, 1.2 + 0.001 * frame as f32, 0.3);
        scene.app.world_mut().get_mut::<Transform>(scene.target).unwrap().translation = goal;
        scene.app.update();
        assert!(scene.off() < 1e-4);
    }
}

#[derive(Resource, Default)]
struct Count(usize);

#[test]
fn many_that_are_far_take_turns() {
    let model = mannequin();
    let mut app = common::app();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(1.0 / 60.0)));
    app.init_resource::<Count>();
    app.add_observer(|_: On<FootLanded>, mut count: ResMut<Count>| count.0 += 1);
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    let mut hands = Vec::new();
    for _ in 0..40 {
        let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
        let limb = LimbIk::new(Role::Hand(Side::Left)).at(target);
        let lod = IkLod { distance: 1.0, rate: 6.0 };
        app.world_mut().entity_mut(character).insert((limb, FootPlanting::default(), lod));
        hands.push(bone(&model, &bones, "hand.L"));
    }
    app.world_mut().spawn((Transform::from_xyz(0.0, 0.0, 50.0), IkViewer));
    (0..30).for_each(|_| app.update());
    let mut most = 0;
    let mut last: Vec<Vec3> = hands.iter().map(|&hand| at(&app, hand)).collect();
    for frame in 0..60 {
        app.world_mut().get_mut::<Transform>(target).unwrap().translation.y -=
            0.001 * (frame % 7) as f32 + 1e-3;
        app.update();
        let now: Vec<Vec3> = hands.iter().map(|&hand| at(&app, hand)).collect();
        most = most.max(now.iter().zip(&last).filter(|(a, b)| a != b).count());
        last = now;
    }
    // Four in a frame would be even.
    assert!((1..=9).contains(&most), "{most} of 40 in one frame");
}
