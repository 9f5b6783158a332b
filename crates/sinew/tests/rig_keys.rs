//! Judges keys of rigs: curves, edits and their inverses, changes of space, recording, mirroring, and that bad input is refused
//! by name.

use crate::common;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use common::Random;
use proptest::prelude::*;
use sinew::{
    Goal, JointId, JointTransform, Placement, Pole, Pose, Skeleton, Workspace,
    body::{BodyRoles, Role, Side},
    glam::{Affine3, Quat, Vec3},
    math,
    motion::{Interpolation, Track},
    rig::{
        HandleSolver, HandleSpec, Rig, RigFrame, RigGoal, RigSpec, Space,
        keys::{
            Key, KeyChannel, KeyEdit, KeyError, KeyInterpolation, KeyOwner, KeySpace, KeyValue, Mirror,
            Recorder, RigKeys,
        },
    },
};

const HAND: KeyOwner = KeyOwner::Goal(0);
const MODEL: KeyChannel = KeyChannel::Position(KeySpace { space: Space::Model, stay: 0 });

/// A figure beside the origin, of the same shape on both sides, whose left and right joints have frames of their own.
fn figure() -> Pose {
    let mut b = Skeleton::builder();
    let mut frames: Vec<(Vec3, Quat)> = Vec::new();
    // By place and rotation in model space.
    let mut add = |name: &str, parent: Option<usize>, at: Vec3, turn: f32| {
        let rotation = math::axis_angle(Vec3::new(0.48, 0.6, 0.64), turn);
        let (above, turned) = parent.map_or((Vec3::ZERO, Quat::IDENTITY), |p| frames[p]);
        let back = math::conjugate(turned);
        let translation = math::rotate(back, at - above);
        frames.push((at, rotation));
        let local =
            JointTransform { translation, rotation: math::mul(back, rotation), ..JointTransform::IDENTITY };
        b.add(name, parent, local)
    };
    let at = |x: f32, y, z: f32| Vec3::new(0.3 + x, y, 0.1 + z);
    let root = add("root", None, at(0.0, 0.0, 0.0), 0.0);
    let hips = add("hips", Some(root), at(0.0, 1.0, 0.0), 0.1);
    let chest = add("chest", Some(hips), at(0.0, 1.4, 0.0), 0.3);
    let neck = add("neck", Some(chest), at(0.0, 1.6, 0.0), -0.2);
    add("head", Some(neck), at(0.0, 1.7, 0.0), 0.0);
    for (side, x, turn) in [("l", 1.0, 0.4), ("r", -1.0, -1.1)] {
        let mut add =
            |name: &str, parent, place, turn| add(&format!("{name}.{side}"), Some(parent), place, turn);
        let upper = add("upperarm", chest, at(0.2 * x, 1.5, 0.0), turn);
        let fore = add("forearm", upper, at(0.5 * x, 1.5, -0.03), -turn);
        add("hand", fore, at(0.78 * x, 1.5, 0.0), 2.0 * turn);
        let thigh = add("thigh", hips, at(0.1 * x, 0.95, 0.0), turn);
        let shin = add("shin", thigh, at(0.1 * x, 0.52, 0.03), 0.2);
        let foot = add("foot", shin, at(0.1 * x, 0.09, 0.0), -turn);
        add("toes", foot, at(0.1 * x, 0.02, 0.13), 0.1);
        add("prop", root, at(0.5 * x, 1.0, 0.3), turn);
    }
    Pose::rest(&Arc::new(b.build().unwrap().0))
}

fn find(pose: &Pose, name: &str) -> JointId {
    pose.skeleton().find(name).unwrap()
}

/// Arms as the goals 0 and 1, feet as 2 and 3, a look as 4.
fn rig_of(bind: &Pose, body: Option<&BodyRoles>) -> Rig {
    let handle = |name: &str, solver, root: &str, tip: &str| HandleSpec {
        solver,
        ..HandleSpec::new(name, find(bind, root), find(bind, tip))
    };
    let mut handles = vec![
        handle("left hand", HandleSolver::TwoBone, "upperarm.l", "hand.l"),
        handle("right hand", HandleSolver::TwoBone, "upperarm.r", "hand.r"),
        handle("left foot", HandleSolver::Foot, "thigh.l", "foot.l"),
        handle("right foot", HandleSolver::Foot, "thigh.r", "foot.r"),
        handle("look", HandleSolver::LookAt, "neck", "head"),
    ];
    for (n, side) in [(2, "l"), (3, "r")] {
        handles[n].foot.toes = Some(find(bind, &format!("toes.{side}")));
    }
    Rig::new(bind, body, &RigSpec::new(handles)).unwrap()
}

fn rig() -> (Pose, Rig) {
    let bind = figure();
    let rig = rig_of(&bind, None);
    (bind, rig)
}

fn with(keys: &mut RigKeys, owner: KeyOwner, channel: KeyChannel, list: &[Key]) {
    let edit = KeyEdit::new().set_all(owner, channel, list).unwrap();
    keys.edit(&edit).unwrap();
}

fn goal_at(keys: &RigKeys, time: f32, goal: usize) -> RigGoal {
    let mut goals = vec![RigGoal::new(); keys.goal_count()];
    keys.sample(time, &mut goals).unwrap();
    goals[goal]
}

fn position(keys: &RigKeys, time: f32) -> Vec3 {
    goal_at(keys, time, 0).goal.position.unwrap()
}

/// A pose in which every joint is turned.
fn posed(bind: &Pose, time: f32) -> Pose {
    let mut pose = bind.clone();
    for (n, j) in bind.skeleton().joints().enumerate() {
        let axis = Vec3::new((n as f32).sin(), (2.0 * n as f32).cos(), 0.4).normalize();
        let turn = math::axis_angle(axis, 0.5 * (1.3 * time + n as f32).sin());
        pose.set_rotation(j, math::mul(bind.local(j).rotation, turn));
    }
    pose.set_translation(find(bind, "root"), Vec3::new(time, 0.0, 0.2 * time));
    pose.update();
    pose
}

fn placed(time: f32) -> Placement {
    let turn = Quat::from_rotation_y(0.7 * time);
    Placement::new(Affine3::from_rotation_translation(turn, Vec3::new(1.0, 0.2 * time, -3.0))).unwrap()
}

#[test]
fn curves_hold_lead_straight_and_never_overshoot() {
    let (_, rig) = rig();
    let mut r = Random::of(7);
    for case in 0..300 {
        let mut keys = RigKeys::new(&rig);
        let mut time = r.between(-5.0, 5.0) as f32;
        let mut list = Vec::new();
        for _ in 0..8 {
            let kind = [KeyInterpolation::Step, KeyInterpolation::Linear, KeyInterpolation::Smooth]
                [(r.between(0.0, 3.0) as usize).min(2)];
            let kind = if case % 2 == 0 { KeyInterpolation::Smooth } else { kind };
            list.push(Key::new(time, r.vector().as_vec3()).with_interpolation(kind));
            time += r.between(1e-3, 1.0) as f32;
        }
        with(&mut keys, HAND, MODEL, &list);
        let value = |key: &Key| if let KeyValue::Vector(v) = key.value { v } else { unreachable!() };
        assert_eq!(position(&keys, list[0].time - 1.0), value(&list[0]));
        assert_eq!(position(&keys, time + 1.0), value(&list[7]));
        for pair in list.windows(2) {
            let (a, b) = (value(&pair[0]), value(&pair[1]));
            assert_eq!(position(&keys, pair[0].time), a);
            for k in 1..20 {
                let t = k as f32 / 20.0;
                let here = position(&keys, pair[0].time + t * (pair[1].time - pair[0].time));
                match pair[0].interpolation {
                    KeyInterpolation::Step => assert_eq!(here, a),
                    KeyInterpolation::Linear => {
                        assert!(here.distance(a.lerp(b, t)) < 1e-4 * (a - b).length())
                    }
                    KeyInterpolation::Smooth => {
                        let (low, high) = (a.min(b) - 1e-6, a.max(b) + 1e-6);
                        assert!(here.cmpge(low).all() && here.cmple(high).all(), "{here} of {a} to {b}");
                    }
                }
            }
        }
    }
}

#[test]
fn smooth_curves_have_no_corner_and_are_those_of_gltf() {
    let (_, rig) = rig();
    let mut r = Random::of(11);
    for _ in 0..100 {
        let mut keys = RigKeys::new(&rig);
        let rotation = KeyChannel::rotation(Space::Model);
        let (mut list, mut turns, mut q) = (Vec::new(), Vec::new(), Quat::IDENTITY);
        for n in 0..6 {
            list.push(Key::new(n as f32 * 0.4, r.vector().as_vec3()));
            q = math::normalize(math::mul(q, r.rotation(2.5)));
            // A rotation and its negative are one.
            let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
            turns.push(Key::new(n as f32 * 0.4, Quat::from_vec4(glam::Vec4::from(q) * sign)));
        }
        with(&mut keys, HAND, MODEL, &list);
        with(&mut keys, HAND, rotation, &turns);
        // glTF's own spline, with the slopes that are told.
        let track = keys.track(HAND, MODEL).unwrap();
        let vector = |value| if let KeyValue::Vector(v) = value { v } else { unreachable!() };
        let values = (0..6).flat_map(|k| {
            let [into, out] = track.slopes(k);
            [into, list[k].value, out].map(vector)
        });
        let times: Vec<f32> = list.iter().map(|key| key.time).collect();
        let gltf = Track::new(times, values.collect(), Interpolation::Cubic).unwrap();
        for k in 0..200 {
            let time = k as f32 * 0.01;
            assert!(position(&keys, time).distance(gltf.sample(time)) < 1e-5);
        }
        for n in 1..5 {
            let (at, h) = (n as f32 * 0.4, 1e-3);
            let [a, b, c] = [at - h, at, at + h].map(|t| goal_at(&keys, t, 0).goal);
            let [p, q, s] = [a, b, c].map(|g| g.position.unwrap());
            assert!(
                ((s - q) - (q - p)).length() / h < 0.3,
                "a corner of {} m/s",
                ((s - q) - (q - p)).length() / h
            );
            let [p, q, s] = [a, b, c].map(|g| g.rotation.unwrap());
            let turn = |a, b| math::rotation_vector(math::mul(math::conjugate(a), b));
            let corner = (turn(p, q) - turn(q, s)).length() / h;
            assert!(corner < 0.5, "a corner of {corner} rad/s");
        }
    }
}

#[test]
fn rotations_turn_evenly_and_the_shorter_way() {
    let (_, rig) = rig();
    let mut keys = RigKeys::new(&rig);
    let turn = |angle| Key::new(angle / 60.0, math::axis_angle(Vec3::Y, f32::to_radians(angle)));
    with(&mut keys, HAND, KeyChannel::rotation(Space::Model), &[0.0, 60.0, 120.0, 180.0, 240.0].map(turn));
    for k in 100..300 {
        let time = k as f32 * 0.01;
        let q = goal_at(&keys, time, 0).goal.rotation.unwrap();
        let wanted = math::axis_angle(Vec3::Y, f32::to_radians(60.0 * time));
        // A cubic in quaternions is not quite even.
        assert!(math::angle_between(q, wanted) < 0.003, "{time}");
    }
    // Towards a key at which the rotation turns round it does not go beyond.
    let mut keys = RigKeys::new(&rig);
    let turn =
        |(n, angle): (usize, f32)| Key::new(n as f32, math::axis_angle(Vec3::Z, f32::to_radians(angle)));
    let list: Vec<_> = [0.0, 100.0, 101.0, 101.0, -60.0].into_iter().enumerate().map(turn).collect();
    with(&mut keys, HAND, KeyChannel::rotation(Space::Model), &list);
    for k in 0..=400 {
        let q = goal_at(&keys, k as f32 * 0.01, 0).goal.rotation.unwrap();
        let angle = math::rotation_vector(q).z.to_degrees();
        assert!(angle < 101.01 && angle > -60.01, "{angle}");
        assert!(!(100..=300).contains(&k) || angle > 99.99);
    }
}

fn numbers(keys: &RigKeys) -> Vec<u64> {
    let mut all = Vec::new();
    for track in keys.tracks() {
        all.push(format!("{:?} {:?}", track.owner(), track.channel()).len() as u64);
        for key in track.keys() {
            all.push(u64::from(key.time.to_bits()));
            let values = [Some(key.value), key.slopes.map(|s| s[0]), key.slopes.map(|s| s[1])];
            for value in values.into_iter().flatten() {
                match value {
                    KeyValue::Vector(v) => all.extend(v.to_array().map(|x| u64::from(x.to_bits()))),
                    KeyValue::Rotation(q) => all.extend(q.to_array().map(|x| u64::from(x.to_bits()))),
                    KeyValue::Number(x) => all.push(u64::from(x.to_bits())),
                    _ => all.push(1),
                }
            }
        }
    }
    all
}

/// A random change, on few times so that changes meet.
fn change(bind: &Pose) -> impl Strategy<Value = (KeyOwner, KeyChannel, f32, Option<Key>)> + use<> {
    let joint = find(bind, "chest");
    let spaces = prop_oneof![Just(Space::Model), Just(Space::World), Just(Space::Joint(joint))];
    (0..13_usize, 0..6_usize, 0..8_i32, spaces, any::<[i8; 4]>(), 0..3_usize, any::<bool>(), any::<bool>())
        .prop_map(move |(channel, owner, time, space, n, kind, sloped, deletes)| {
            let [x, y, z, w] = n.map(|n| f32::from(n) / 100.0);
            let vector = KeyValue::Vector(Vec3::new(x, y, z));
            let turn = KeyValue::Rotation(math::normalize(Quat::from_xyzw(x, y, z, w)));
            let (number, share) = (KeyValue::Number(x), KeyValue::Number(x.abs().min(1.0)));
            let (channel, value) = match channel {
                0 => (KeyChannel::Space, space.into()),
                1 => (KeyChannel::PoleSpace, space.into()),
                2 => (KeyChannel::position(space), vector),
                3 => (KeyChannel::rotation(space), turn),
                4 => (KeyChannel::swivel(space), number),
                5 => (KeyChannel::pole(space), vector),
                6 => (KeyChannel::Roll, number),
                7 => (KeyChannel::Bank, number),
                8 => (KeyChannel::Pivot, number),
                9 => (KeyChannel::PositionInfluence, share),
                10 => (KeyChannel::RotationInfluence, share),
                11 => (KeyChannel::LocalTranslation, vector),
                _ => (KeyChannel::LocalRotation, turn),
            };
            let local = matches!(channel, KeyChannel::LocalTranslation | KeyChannel::LocalRotation);
            let owner = if local { KeyOwner::Joint(joint) } else { KeyOwner::Goal(owner % 5) };
            let time = (time - 3) as f32 * 0.25;
            let kind = [KeyInterpolation::Step, KeyInterpolation::Linear, KeyInterpolation::Smooth][kind];
            let mut key = Key::new(time, value).with_interpolation(kind);
            if sloped && !matches!(value, KeyValue::Space(_)) {
                key = key.with_slopes(value, value);
            }
            (owner, channel, time, (!deletes).then_some(key))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A thousand histories of edits: each edit says what it says, its inverse restores the bits, and the inverse of the inverse
    /// is the edit. An edit that is refused changes nothing.
    #[test]
    fn edits_are_undone_to_the_bit(
        history in prop::collection::vec(prop::collection::vec(change(&figure()), 1..12), 1..20)
    ) {
        let (_, rig) = rig();
        let mut keys = RigKeys::new(&rig);
        let mut undone: Vec<(RigKeys, KeyEdit, KeyEdit)> = Vec::new();
        for changes in history {
            let before = keys.clone();
            let mut edit = KeyEdit::new();
            for (owner, channel, time, key) in &changes {
                edit = match key {
                    Some(key) => edit.set(*owner, *channel, *key),
                    None => edit.delete(*owner, *channel, *time),
                };
            }
            let there = |owner, channel, time| {
                let track = before.track(owner, channel);
                track.and_then(|t| t.keys().iter().find(|k| k.time == time).copied())
            };
            let missing = edit.changes().iter().find(|(a, key)| {
                key.is_none() && there(a.owner, a.channel, a.time).is_none()
            });
            match keys.edit(&edit) {
                Err(error) => {
                    prop_assert_eq!(error, KeyError::NoKey(missing.unwrap().0));
                    prop_assert_eq!(&keys, &before);
                }
                Ok(inverse) => {
                    prop_assert!(missing.is_none());
                    for (address, key) in edit.changes() {
                        let track = keys.track(address.owner, address.channel);
                        let now = track.and_then(|t| t.keys().iter().find(|k| k.time == address.time));
                        prop_assert_eq!(now, key.as_ref());
                    }
                    for track in keys.tracks() {
                        prop_assert!(!track.keys().is_empty());
                        prop_assert!(track.keys().windows(2).all(|w| w[0].time < w[1].time));
                    }
                    undone.push((before, edit, inverse));
                }
            }
        }
        let last = keys.clone();
        for (before, edit, inverse) in undone.iter().rev() {
            let again = keys.edit(inverse).unwrap();
            prop_assert_eq!(&again, edit);
            prop_assert_eq!(&keys, before);
            prop_assert_eq!(numbers(&keys), numbers(before));
        }
        for (_, edit, inverse) in &undone {
            prop_assert_eq!(&keys.edit(edit).unwrap(), inverse);
        }
        prop_assert_eq!(numbers(&keys), numbers(&last));
        // Frames do not depend on their order, nor on what the goals were in keyed parts.
        let mut goals = vec![RigGoal::new(); 5];
        let seen: Vec<_> = (-10..20).map(|k| {
            let mut fresh = vec![RigGoal::new(); 5];
            keys.sample(k as f32 * 0.07, &mut fresh).unwrap();
            fresh
        }).collect();
        for k in [7, 3, 29, 0, 11, 28, 5, 5, 17] {
            keys.sample((k as f32 - 10.0) * 0.07, &mut goals).unwrap();
            prop_assert_eq!(&goals, &seen[k]);
        }
    }
}

#[test]
fn keys_are_moved_several_at_once() {
    let (_, rig) = rig();
    let mut keys = RigKeys::new(&rig);
    let list: Vec<_> = (0..5).map(|n| Key::new(n as f32, Vec3::splat(n as f32))).collect();
    with(&mut keys, HAND, MODEL, &list);
    let before = keys.clone();
    // Two keys move on to where the next ones are: one of those moves too, the other one is replaced.
    let edit = keys.retime(|key| key.time == 1.0 || key.time == 2.0, 1.0, 1.0).unwrap();
    let undo = keys.edit(&edit).unwrap();
    let times =
        |keys: &RigKeys| keys.track(HAND, MODEL).unwrap().keys().iter().map(|k| k.time).collect::<Vec<_>>();
    assert_eq!(times(&keys), [0.0, 2.0, 3.0, 4.0]);
    assert_eq!(position(&keys, 2.0), Vec3::ONE);
    assert_eq!(position(&keys, 3.0), Vec3::splat(2.0));
    keys.edit(&undo).unwrap();
    assert_eq!(keys, before);

    // A curve with slopes of its own is the same curve, at another rate.
    let mut keys = RigKeys::new(&rig);
    let sloped = Key::new(0.0, Vec3::ZERO).with_slopes(Vec3::ZERO, Vec3::new(3.0, -2.0, 0.5));
    with(&mut keys, HAND, MODEL, &[sloped, Key::new(1.0, Vec3::ONE)]);
    let was: Vec<_> = (0..10).map(|k| position(&keys, k as f32 * 0.1)).collect();
    keys.edit(&keys.retime(|_| true, 2.0, 5.0).unwrap()).unwrap();
    for (k, was) in was.iter().enumerate() {
        assert!(position(&keys, 5.0 + k as f32 * 0.2).distance(*was) < 1e-5);
    }

    let mut keys = RigKeys::new(&rig);
    with(&mut keys, HAND, MODEL, &[0.01, 0.32, 0.36].map(|t| Key::new(t, Vec3::ZERO)));
    keys.edit(&keys.snap(|_| true, 30.0).unwrap()).unwrap();
    assert_eq!(times(&keys), [0.0, 10.0 / 30.0, 11.0 / 30.0]);
    assert!(matches!(keys.snap(|_| true, 3.0), Err(KeyError::SameTime(key)) if key.time == 1.0 / 3.0));
    for fps in [0.0, -30.0, f32::NAN, f32::INFINITY, 1e-40] {
        let error = keys.snap(|_| true, fps).unwrap_err();
        assert!(
            matches!(error, KeyError::OutOfRange { value, .. } if value.to_bits() == fps.to_bits()),
            "{error}"
        );
    }
    let none = keys.delete(|key| key.time > 5.0);
    assert!(none.is_empty());
    keys.edit(&keys.delete(|_| true)).unwrap();
    assert!(keys.is_empty());
}

/// Edits of an hour of a goal at 30 frames a second.
#[test]
fn many_keys_are_edited_at_once() {
    let (bind, rig) = rig();
    let (owner, channels) =
        (KeyOwner::Goal(0), [KeyChannel::position(Space::Model), KeyChannel::pole(Space::Model)]);
    let list: Vec<Key> = (0..108_000).map(|n| Key::new(n as f32 / 30.0, Vec3::splat(n as f32))).collect();
    let start = Instant::now();
    let mut keys = RigKeys::new(&rig);
    // The channels in the wrong order, and one of them twice.
    let edit = KeyEdit::new().set_all(owner, channels[1], &list).unwrap();
    let edit = edit.set_all(owner, channels[0], &list).unwrap().set_all(owner, channels[1], &list).unwrap();
    assert_eq!(edit.changes().len(), 2 * list.len());
    keys.edit(&edit).unwrap();
    let all = keys.clone();
    let slower = keys.retime(|_| true, 2.0, 0.25).unwrap();
    let undo = keys.edit(&slower).unwrap();
    assert_eq!(keys.span(), Some([0.25, 2.0 * list[list.len() - 1].time + 0.25]));
    keys.edit(&undo).unwrap();
    let mirrored = Mirror::new(&rig, &bind, None).keys(&Placement::IDENTITY, &keys, None).unwrap();
    let undo = keys.edit(&mirrored).unwrap();
    keys.edit(&undo).unwrap();
    let still = |_: f32, _: &mut Pose| Placement::IDENTITY;
    let change = keys.change_space(&rig, 0, 1.0, Space::World, &mut bind.clone(), still).unwrap();
    let undo = keys.edit(&change).unwrap();
    keys.edit(&undo).unwrap();
    assert!(keys == all);
    // Two seconds on a slow machine. One by one, each change moves those behind it: minutes.
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn bad_keys_are_refused_by_name_and_change_nothing() {
    let (bind, rig) = rig();
    let mut keys = RigKeys::new(&rig);
    with(&mut keys, HAND, MODEL, &[Key::new(0.0, Vec3::ONE)]);
    let before = keys.clone();
    let chest = KeyOwner::Joint(find(&bind, "chest"));
    // One joint more than the figure has.
    let mut more = Skeleton::builder();
    for n in 0..40 {
        more.add(format!("{n}"), None, JointTransform::IDENTITY);
    }
    let stranger = more.build().unwrap().1[39];
    let number = Key::new(1.0, 0.5);
    let good = Key::new(1.0, Vec3::ZERO);
    let influence = KeyChannel::PositionInfluence;
    let turn = KeyChannel::rotation(Space::Model);
    let cases: &[(KeyOwner, KeyChannel, Key, &str)] = &[
        (KeyOwner::Goal(5), MODEL, good, "there is no goal 5: the rig has 5 goals, from 0"),
        (
            KeyOwner::Joint(stranger),
            KeyChannel::LocalTranslation,
            good,
            "there is no joint #39: the skeleton has",
        ),
        (HAND, KeyChannel::position(Space::Joint(stranger)), good, "there is no joint #39"),
        (HAND, KeyChannel::Space, Key::new(1.0, Space::Joint(stranger)), "there is no joint #39"),
        (HAND, KeyChannel::LocalRotation, number, "goal 0 has no local rotation"),
        (chest, MODEL, good, "has no position in model space"),
        (HAND, MODEL, Key::new(f32::NAN, Vec3::ZERO), "a time must be finite, in seconds, not NaN"),
        (HAND, MODEL, Key::new(f32::INFINITY, Vec3::ZERO), "a time must be finite, in seconds, not inf"),
        (HAND, MODEL, number, "position in model space of goal 0 at 1 s: a value must be a vector"),
        (
            HAND,
            MODEL,
            Key::new(1.0, Vec3::NAN),
            "must be a vector of finite numbers, up to 1e30, not Vector(Vec3(NaN",
        ),
        (HAND, MODEL, Key::new(1.0, Vec3::splat(1e31)), "must be a vector of finite numbers"),
        (HAND, turn, Key::new(1.0, Quat::from_xyzw(0.0, 0.0, 0.0, 1.01)), "must be a unit quaternion"),
        (HAND, turn, Key::new(1.0, Quat::from_xyzw(0.0, 0.0, 0.0, 0.0)), "must be a unit quaternion"),
        (HAND, turn, Key::new(1.0, Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0)), "must be a unit quaternion"),
        (HAND, influence, Key::new(1.0, 1.001), "must be 0 to 1, not Number(1.001)"),
        (HAND, influence, Key::new(1.0, -0.1), "must be 0 to 1, not Number(-0.1)"),
        (HAND, influence, Key::new(1.0, f32::NAN), "must be 0 to 1, not Number(NaN)"),
        (
            HAND,
            KeyChannel::Roll,
            Key::new(1.0, f32::INFINITY),
            "must be a finite number, up to 1e30, not Number(inf)",
        ),
        (HAND, KeyChannel::Space, number, "must be a space, not Number(0.5)"),
        (HAND, MODEL, good.with_slopes(1.0, 1.0), "a slope must be of the kind of the value"),
        (
            HAND,
            MODEL,
            good.with_slopes(Vec3::ZERO, Vec3::NAN),
            "a slope must be of the kind of the value and finite",
        ),
    ];
    for (owner, channel, key, says) in cases {
        let edit = KeyEdit::new().set(HAND, KeyChannel::Roll, number).set(*owner, *channel, *key);
        let error = keys.edit(&edit).unwrap_err().to_string();
        assert!(error.contains(says), "{error}, not {says}");
        assert_eq!(keys, before);
    }
    let error = keys.edit(&KeyEdit::new().delete(HAND, MODEL, 1.0)).unwrap_err();
    assert_eq!(error.to_string(), "position in model space of goal 0 at 1 s: there is no key");
    let list = |list: &[Key]| KeyEdit::new().set_all(HAND, MODEL, list).unwrap_err().to_string();
    assert_eq!(list(&[]), "position in model space of goal 0: a track needs at least one key");
    assert_eq!(
        list(&[good, good]),
        "position in model space of goal 0 at 1 s: it is not after the key before, at 1 s"
    );
    assert!(
        list(&[good, Key::new(0.5, Vec3::ONE)]).contains("at 0.5 s: it is not after the key before, at 1 s")
    );
    let mut goals = [RigGoal::new(); 4];
    assert_eq!(keys.sample(0.0, &mut goals), Err(KeyError::GoalCount { given: 4, wanted: 5 }));
    let mut goals = [RigGoal::new(); 5];
    assert!(matches!(keys.sample(f32::NAN, &mut goals), Err(KeyError::Time(t)) if t.is_nan()));
    assert_eq!(goals, [RigGoal::new(); 5]);
    for (scale, shift) in [(0.0, 0.0), (-1.0, 0.0), (f32::NAN, 0.0), (1.0, f32::INFINITY)] {
        assert!(matches!(keys.retime(|_| true, scale, shift), Err(KeyError::OutOfRange { .. })));
    }
}

#[test]
fn numbers_of_any_size_stay_finite() {
    let (_, rig) = rig();
    let mut keys = RigKeys::new(&rig);
    let times = [-f32::MAX, -1e-45, 0.0, 1e-45, 1.0, f32::MAX];
    let sizes = [1e30, -1e30, 1e30, -1e30, 1e-40, -1e30];
    let key = |n: usize| {
        let key = Key::new(times[n], Vec3::splat(sizes[n]));
        if n % 3 == 2 { key.with_slopes(Vec3::splat(1e30), Vec3::splat(-1e30)) } else { key }
    };
    with(&mut keys, HAND, MODEL, &[0, 1, 2, 3, 4, 5].map(key));
    let turns = [0, 1, 2, 3, 4, 5].map(|n| Key::new(times[n], math::axis_angle(Vec3::X, n as f32 * 1.7)));
    with(&mut keys, HAND, KeyChannel::rotation(Space::Model), &turns);
    for time in times.into_iter().chain([-1e30, -1.0, 0.1, 0.5, 1.1, 1e3, 1e38]) {
        let goal = goal_at(&keys, time, 0).goal;
        assert!(goal.position.unwrap().is_finite(), "{time}: {goal:?}");
        assert!(
            (math::dot(goal.rotation.unwrap(), goal.rotation.unwrap()) - 1.0).abs() < 1e-5,
            "{time}: {goal:?}"
        );
    }
}

#[test]
fn what_has_no_keys_stays_given() {
    let (bind, rig) = rig();
    let mut keys = RigKeys::new(&rig);
    with(&mut keys, HAND, MODEL, &[Key::new(1.0, Vec3::ONE)]);
    with(&mut keys, HAND, KeyChannel::Space, &[Key::new(2.0, Space::World)]);
    let given = RigGoal::from(Goal::rotation(Quat::IDENTITY).with_position_influence(0.4)).with_roll(0.2);
    let mut goals = [given; 5];
    keys.sample(1.5, &mut goals).unwrap();
    assert_eq!(goals[1], given);
    let wanted = given.with_goal(given.goal.with_position(Vec3::ONE));
    assert_eq!(goals[0], wanted.with_space(Space::Model));
    // In a space without keys the position is unset again.
    keys.sample(2.0, &mut goals).unwrap();
    assert_eq!(goals[0], given.with_space(Space::World));

    // Joints of their own.
    let (chest, mut pose) = (find(&bind, "chest"), bind.clone());
    let turn = math::axis_angle(Vec3::X, 0.4);
    with(&mut keys, KeyOwner::Joint(chest), KeyChannel::LocalRotation, &[Key::new(0.0, turn)]);
    keys.sample_pose(0.5, &mut pose).unwrap();
    assert_eq!(pose.local(chest).rotation, turn);
    assert_eq!(pose.local(chest).translation, bind.local(chest).translation);
    assert_eq!(pose.local(find(&bind, "hand.l")), bind.local(find(&bind, "hand.l")));
    keys.sample(0.5, &mut goals).unwrap();
}

/// A goal in model space, by other code than the engine's: in f64, from the frames of a pose.
fn in_model(
    bind: &Pose,
    goal: &RigGoal,
    time: f32,
) -> (glam::DVec3, Option<glam::DQuat>, Option<glam::DVec3>) {
    let pose = posed(bind, time);
    let affine = |space| match space {
        Space::Model => glam::DAffine3::IDENTITY,
        Space::World => placed(time).world_from_model().as_daffine3().inverse(),
        Space::Joint(joint) => pose.model(joint).as_daffine3(),
        _ => unreachable!(),
    };
    let frame = affine(goal.space.unwrap());
    let (_, turn, _) = frame.to_scale_rotation_translation();
    let pole = match goal.goal.pole {
        Pole::Point(p) => Some(affine(goal.pole_space.unwrap()).transform_point3(p.as_dvec3())),
        _ => None,
    };
    let at = frame.transform_point3(goal.goal.position.unwrap().as_dvec3());
    (at, goal.goal.rotation.map(|q| turn * q.as_dquat().normalize()), pole)
}

#[test]
fn a_change_of_space_moves_nothing() {
    let (bind, rig) = rig();
    let mut r = Random::of(3);
    let props = ["prop.l", "prop.r", "chest"].map(|name| Space::Joint(find(&bind, name)));
    let spaces = [Space::Model, Space::World, props[0], props[1], props[2]];
    let mut changes = 0;
    for case in 0..60 {
        let mut keys = RigKeys::new(&rig);
        let pick = |r: &mut Random| spaces[(r.between(0.0, 5.0) as usize).min(4)];
        let kind = |r: &mut Random| {
            [KeyInterpolation::Step, KeyInterpolation::Linear, KeyInterpolation::Smooth]
                [(r.between(0.0, 3.0) as usize).min(2)]
        };
        // Positions, rotations and poles on times of their own.
        let mut list =
            |channel: KeyChannel, keys: &mut RigKeys, value: &mut dyn FnMut(&mut Random) -> KeyValue| {
                let of = |n: i32, r: &mut Random, value: &mut dyn FnMut(&mut Random) -> KeyValue| {
                    let time = n as f32 + r.between(0.0, 0.8) as f32;
                    Key::new(time, value(r)).with_interpolation(kind(r))
                };
                let list: Vec<_> = (0..5).map(|n| of(n, &mut r, value)).collect();
                with(keys, HAND, channel, &list);
            };
        list(MODEL, &mut keys, &mut |r| r.vector().as_vec3().into());
        list(KeyChannel::rotation(Space::Model), &mut keys, &mut |r| r.rotation(3.0).into());
        list(KeyChannel::pole(Space::Model), &mut keys, &mut |r| r.vector().as_vec3().into());
        list(KeyChannel::swivel(Space::Model), &mut keys, &mut |r| {
            KeyValue::Number(r.between(-1.0, 1.0) as f32)
        });
        for _ in 0..4 {
            let (to, time) = (pick(&mut r), r.between(-0.5, 5.0) as f32);
            let before = keys.clone();
            let mut pose = bind.clone();
            let at = |time: f32, pose: &mut Pose| {
                pose.copy_from(&posed(&bind, time));
                placed(time)
            };
            let poles = case % 3 == 0 && changes % 2 == 0;
            let edit = match poles {
                true => keys.change_pole_space(&rig, 0, time, to, &mut pose, at),
                false => keys.change_space(&rig, 0, time, to, &mut pose, at),
            };
            let edit = edit.unwrap();
            let undo = keys.edit(&edit).unwrap();
            if edit.is_empty() {
                assert_eq!(before.spaces(0, time).unwrap()[usize::from(poles)].space, to);
                continue;
            }
            changes += 1;
            assert_eq!(keys.spaces(0, time).unwrap()[usize::from(poles)].space, to);
            // Before the change not a bit is another.
            for k in 1..40 {
                let early = time - k as f32 * 0.03;
                assert_eq!(goal_at(&keys, early, 0), goal_at(&before, early, 0));
            }
            assert_eq!(goal_at(&keys, time.next_down(), 0), goal_at(&before, time.next_down(), 0));
            // At the change, right after it, and at each key that was there.
            let all = before.tracks().iter().flat_map(|track| track.keys().iter().map(|key| key.time));
            let later = all.filter(|&t| t > time);
            for now in [time, time.next_up()].into_iter().chain(later) {
                let (old, new) = (goal_at(&before, now, 0), goal_at(&keys, now, 0));
                let [(a, p, pole), (b, q, new_pole)] = [old, new].map(|goal| in_model(&bind, &goal, now));
                // A part that has no key at this time lies on a curve in the new space.
                let spaces = before.spaces(0, now).unwrap();
                let has = |channel: fn(KeySpace) -> KeyChannel, n: usize| {
                    let track = before.track(HAND, channel(spaces[n]));
                    track.is_some_and(|t| now <= time.next_up() || t.keys().iter().any(|k| k.time == now))
                };
                assert!(!has(KeyChannel::Position, 0) || a.distance(b) < 2e-5, "{a} and {b} at {now}");
                if has(KeyChannel::Rotation, 0) {
                    let turn = p.unwrap().inverse() * q.unwrap();
                    let angle = 2.0 * turn.xyz().length().atan2(turn.w.abs());
                    assert!(angle < 2e-5, "{angle} at {now} {time}: {old:?} {new:?}");
                }
                if has(KeyChannel::Pole, 1) {
                    assert!(pole.unwrap().distance(new_pole.unwrap()) < 2e-5, "{now}");
                }
                if has(KeyChannel::Swivel, 0) {
                    assert!((old.goal.swivel - new.goal.swivel).abs() < 1e-5);
                }
            }
            // Undone, it is as before; without the keys of the spaces, the curves are the old ones too.
            let mut undone = keys.clone();
            undone.edit(&undo).unwrap();
            assert_eq!(undone, before);
        }
    }
    assert!(changes > 150, "{changes}");
}

#[test]
fn a_deleted_change_of_space_brings_the_old_curve_back() {
    let (bind, rig) = rig();
    let mut keys = RigKeys::new(&rig);
    with(&mut keys, HAND, MODEL, &[0.0, 1.0, 2.0].map(|t| Key::new(t, Vec3::splat(t))));
    let before = keys.clone();
    let (mut pose, prop) = (bind.clone(), Space::Joint(find(&bind, "prop.l")));
    let at = |time: f32, pose: &mut Pose| {
        pose.copy_from(&posed(&bind, time));
        placed(time)
    };
    keys.edit(&keys.change_space(&rig, 0, 0.5, prop, &mut pose, at).unwrap()).unwrap();
    // The hand is carried by the prop from here on.
    let (a, b) = (goal_at(&keys, 5.0, 0), goal_at(&keys, 9.0, 0));
    assert_eq!((a.space, a.goal.position), (Some(prop), b.goal.position));
    keys.edit(&KeyEdit::new().delete(HAND, KeyChannel::Space, 0.5)).unwrap();
    for k in 0..30 {
        assert_eq!(position(&keys, k as f32 * 0.1), position(&before, k as f32 * 0.1));
    }
    let error = |result: Result<KeyEdit, KeyError>| result.unwrap_err().to_string();
    let role = Space::Role(Role::Head);
    assert!(error(keys.change_space(&rig, 0, 0.5, role, &mut pose, at)).contains("has no head"));
    assert!(error(keys.change_space(&rig, 9, 0.5, prop, &mut pose, at)).contains("no goal 9"));
    assert!(error(keys.change_space(&rig, 0, f32::NAN, prop, &mut pose, at)).contains("not NaN"));
}

#[test]
fn a_goal_keeps_its_speed_as_it_changes_space() {
    let (bind, rig) = rig();
    let (mut r, mut fast) = (Random::of(21), 0);
    for case in 0..40 {
        let mut keys = RigKeys::new(&rig);
        let list: Vec<_> = (0..6).map(|n| Key::new(n as f32 * 0.5, r.vector().as_vec3())).collect();
        with(&mut keys, HAND, MODEL, &list);
        let list: Vec<_> = (0..6).map(|n| Key::new(n as f32 * 0.5, r.rotation(1.0))).collect();
        with(&mut keys, HAND, KeyChannel::rotation(Space::Model), &list);
        let before = keys.clone();
        // Not so near to a key that the curve to it bends at once.
        let time = (case % 5) as f32 * 0.5 + r.between(0.05, 0.4) as f32;
        let space = Space::Joint(find(&bind, "prop.l"));
        let at = |time: f32, pose: &mut Pose| {
            pose.copy_from(&posed(&bind, time));
            placed(time)
        };
        keys.edit(&keys.change_space(&rig, 0, time, space, &mut bind.clone(), at).unwrap()).unwrap();
        let h = 2e-3;
        let [old, new] = [&before, &keys].map(|keys| {
            [time, time + h].map(|now| {
                let (place, turn, _) = in_model(&bind, &goal_at(keys, now, 0), now);
                (place, turn.unwrap())
            })
        });
        let speed = |[(a, _), (b, _)]: [(glam::DVec3, glam::DQuat); 2]| (b - a) / f64::from(h);
        let turning = |[(_, p), (_, q)]: [(glam::DVec3, glam::DQuat); 2]| {
            let turn = p.inverse() * q;
            turn.xyz() * turn.w.signum() * 2.0 / f64::from(h)
        };
        // Of speeds of metres a second, what the curves bend in 2 ms.
        let (a, b) = (speed(old), speed(new));
        assert!(a.distance(b) < 0.1 + 0.02 * a.length(), "{case}: {a} and {b} m/s");
        fast += usize::from(a.length() > 1.0);
        let (a, b) = (turning(old), turning(new));
        assert!(a.distance(b) < 0.1 + 0.02 * a.length(), "{case}: {a} and {b} rad/s");
    }
    assert!(fast > 15, "{fast}");
}

#[test]
fn explicit_slopes_change_space_with_their_keys() {
    let (bind, rig) = rig();
    let mut keys = RigKeys::new(&rig);
    let [a, b, c] = [Vec3::new(0.2, -1.0, 3.0), Vec3::new(2.0, 0.1, -0.3), Vec3::new(-1.0, 0.5, 0.4)];
    let list = [Key::new(0.0, a).with_slopes(b, c), Key::new(1.0, b).with_slopes(c, a)];
    with(&mut keys, HAND, MODEL, &list);
    let q = [0.0, 1.0].map(|t| math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.3 + t));
    let s = Quat::from_xyzw(0.3, -1.2, 0.4, 0.1);
    let list = [0, 1].map(|n| Key::new(n as f32, q[n]).with_slopes(s, s));
    with(&mut keys, HAND, KeyChannel::rotation(Space::Model), &list);
    let before = keys.clone();
    // Frames that do not move: the whole curve is the same.
    let (still, space) = (posed(&bind, 1.0), Space::Joint(find(&bind, "prop.r")));
    let at = |_: f32, pose: &mut Pose| {
        pose.copy_from(&still);
        placed(1.0)
    };
    keys.edit(&keys.change_space(&rig, 0, 0.0, space, &mut bind.clone(), at).unwrap()).unwrap();
    for k in 0..=20 {
        let time = k as f32 * 0.05;
        let spaces = [Space::Model, Space::Model];
        let back = rig.convert(0, &goal_at(&keys, time, 0), spaces, &still, &placed(1.0)).unwrap().goal;
        let was = goal_at(&before, time, 0).goal;
        assert!(back.position.unwrap().distance(was.position.unwrap()) < 1e-5);
        assert!(math::angle_between(back.rotation.unwrap(), was.rotation.unwrap()) < 1e-5);
    }
}

#[test]
fn a_recorder_keys_what_changed_and_keeps_the_start() {
    let (bind, rig) = rig();
    let recorder = Recorder::default();
    let mut keys = RigKeys::new(&rig);
    let fresh = [RigGoal::new(); 5];
    let nothing = recorder.record(&keys, 1.0, &fresh, &fresh).unwrap();
    assert!(nothing.is_empty());
    // Below the thresholds nothing has changed.
    let before = [RigGoal::from(Goal::position(Vec3::ONE).with_rotation(Quat::IDENTITY)); 5];
    let mut after = before;
    after[0].goal.position = Some(Vec3::new(1.00005, 1.0, 1.0));
    after[1].goal.rotation = Some(math::axis_angle(Vec3::X, 5e-5));
    after[2].roll = 5e-5;
    after[3].goal.position_influence = 0.9995;
    assert!(recorder.record(&keys, 1.0, &before, &after).unwrap().is_empty());

    // What changed gets a key, and one at the start.
    after[0].goal.position = Some(Vec3::new(1.0, 2.0, 1.0));
    after[2].roll = 0.3;
    let undo = keys.edit(&recorder.record(&keys, 1.0, &before, &after).unwrap()).unwrap();
    assert_eq!(keys.tracks().len(), 2);
    let sampled = |keys: &RigKeys, time| {
        let mut goals = before;
        keys.sample(time, &mut goals).unwrap();
        goals
    };
    assert_eq!(sampled(&keys, 0.0)[0].goal.position, before[0].goal.position);
    assert_eq!(sampled(&keys, 1.0)[0].goal.position, after[0].goal.position);
    assert_eq!([sampled(&keys, 0.0)[2].roll, sampled(&keys, 1.0)[2].roll], [0.0, 0.3]);
    // A second time there is a track, and the start needs no key. A key that is replaced keeps its interpolation.
    let roll = keys.track(KeyOwner::Goal(2), KeyChannel::Roll).unwrap().keys()[1];
    keys.edit(&KeyEdit::new().set(
        KeyOwner::Goal(2),
        KeyChannel::Roll,
        roll.with_interpolation(KeyInterpolation::Step),
    ))
    .unwrap();
    let now = sampled(&keys, 1.0);
    let mut then = now;
    then[2].roll = -0.2;
    let edit = recorder.record(&keys, 1.0, &now, &then).unwrap();
    assert_eq!(edit.changes().len(), 1);
    assert_eq!(edit.changes()[0].1.unwrap().interpolation, KeyInterpolation::Step);
    let between = sampled(&keys, 0.5);
    let mut early = between;
    early[2].roll = 0.1;
    assert_eq!(recorder.record(&keys, 0.5, &between, &early).unwrap().changes().len(), 1);
    keys.edit(&edit).unwrap();
    assert_eq!(sampled(&keys, 1.0)[2].roll, -0.2);

    // A goal that was the animation's grows from it by its influence: at the start nothing is set.
    let mut keys = RigKeys::new(&rig);
    let mut set = fresh;
    set[1] = Goal::position(Vec3::ONE).with_position_influence(0.8).into();
    let grow = keys.edit(&recorder.record(&keys, 2.0, &fresh, &set).unwrap()).unwrap();
    let [start, middle, end] = [-1.0, 1.0, 2.0].map(|time| goal_at(&keys, time, 1).goal);
    assert_eq!([start, end].map(|g| g.position_influence), [0.0, 0.8]);
    assert_eq!([start, middle, end].map(|g| g.position), [Some(Vec3::ONE); 3]);
    assert!((middle.position_influence - 0.4).abs() < 1e-6);
    keys.edit(&grow).unwrap();
    assert!(keys.is_empty());
    keys.edit(&undo).unwrap_err();

    // A change of space is recorded with all parts, and what was in the old space stays there.
    let mut keys = RigKeys::new(&rig);
    let prop = Space::Joint(find(&bind, "prop.l"));
    let mut moved = before;
    moved[0] = RigGoal::from(Goal::position(Vec3::Z).with_rotation(Quat::IDENTITY)).with_space(prop);
    keys.edit(&recorder.record(&keys, 1.0, &before, &moved).unwrap()).unwrap();
    for time in [-1.0, 0.0, 0.9] {
        let goal = goal_at(&keys, time, 0);
        assert_eq!((goal.space, goal.goal.position), (Some(Space::Model), Some(Vec3::ONE)));
    }
    let goal = goal_at(&keys, 1.0, 0);
    assert_eq!(
        (goal.space, goal.goal.position, goal.goal.rotation),
        (Some(prop), Some(Vec3::Z), Some(Quat::IDENTITY))
    );
    // In a space that only the caller gave, the start is in that space too.
    let mut keys = RigKeys::new(&rig);
    let given = before.map(|goal| goal.with_space(Space::World));
    let mut shifted = given;
    shifted[0].goal.position = Some(Vec3::ZERO);
    keys.edit(&recorder.record(&keys, 1.0, &given, &shifted).unwrap()).unwrap();
    for (time, at) in [(0.0, Vec3::ONE), (1.0, Vec3::ZERO)] {
        let goal = goal_at(&keys, time, 0);
        assert_eq!((goal.space, goal.goal.position), (Some(Space::World), Some(at)));
    }

    // Joints.
    let mut keys = RigKeys::new(&rig);
    let (chest, mut turned) = (find(&bind, "chest"), bind.clone());
    turned.set_rotation(chest, math::axis_angle(Vec3::Y, 0.5));
    keys.edit(&recorder.record_joints(&keys, 1.0, &bind, &turned).unwrap()).unwrap();
    assert_eq!(keys.tracks().len(), 1);
    for (time, wanted) in [(-3.0, &bind), (0.0, &bind), (1.0, &turned)] {
        let mut pose = bind.clone();
        keys.sample_pose(time, &mut pose).unwrap();
        assert_eq!(pose.local(chest), wanted.local(chest));
    }

    let bad = Recorder { distance: -1.0, ..recorder };
    assert!(
        bad.record(&keys, 1.0, &fresh, &fresh)
            .unwrap_err()
            .to_string()
            .contains("must be 0 or more and finite, not -1")
    );
    assert!(matches!(recorder.record(&keys, f32::NAN, &fresh, &fresh), Err(KeyError::Time(_))));
    for broken in [
        Goal::position(Vec3::NAN).with_rotation(Quat::IDENTITY),
        Goal::position(Vec3::ONE).with_rotation(Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0)),
        before[0].goal.with_swivel(f32::NAN),
    ] {
        let mut after = before;
        after[0].goal = broken;
        let edit = recorder.record(&keys, 1.0, &before, &after).unwrap();
        assert!(matches!(keys.edit(&edit), Err(KeyError::Value { .. })), "{broken:?}");
    }
    let mut aimed = fresh;
    aimed[3].goal.pole = Pole::Direction(Vec3::Z);
    assert_eq!(recorder.record(&keys, 1.0, &fresh, &aimed), Err(KeyError::PoleDirection(3)));
    assert!(matches!(
        recorder.record(&keys, 1.0, &fresh[1..], &fresh),
        Err(KeyError::GoalCount { given: 4, .. })
    ));
}

/// A goal with all parts.
fn full(r: &mut Random, space: Space, foot: bool) -> RigGoal {
    let mut number = || r.between(-1.0, 1.0) as f32;
    let [swivel, roll, bank, pivot] = [number(), number(), number(), number()];
    let goal = Goal::position(r.vector().as_vec3()).with_rotation(r.rotation(3.0)).with_swivel(swivel);
    let goal = goal.with_pole(Pole::Point(r.vector().as_vec3())).with_position_influence(0.7);
    let goal = RigGoal::from(goal).with_space(space);
    if foot { goal.with_roll(roll).with_bank(bank).with_pivot(pivot) } else { goal }
}

/// The largest difference of two goals' numbers; infinite where spaces or parts differ.
fn difference(a: &RigGoal, b: &RigGoal) -> f32 {
    let point = |g: &RigGoal| if let Pole::Point(p) = g.goal.pole { Some(p) } else { None };
    if (a.space, a.pole_space, a.goal.position.is_some(), a.goal.rotation.is_some(), point(a).is_some())
        != (b.space, b.pole_space, b.goal.position.is_some(), b.goal.rotation.is_some(), point(b).is_some())
    {
        return f32::INFINITY;
    }
    let at = |g: &RigGoal| g.goal.position.unwrap_or_default();
    let q = |g: &RigGoal| g.goal.rotation.unwrap_or(Quat::IDENTITY);
    let numbers = |g: &RigGoal| {
        [g.goal.swivel, g.roll, g.bank, g.pivot, g.goal.position_influence, g.goal.rotation_influence]
    };
    let angle = math::angle_between(q(a), q(b));
    let pole = point(a).unwrap_or_default().distance(point(b).unwrap_or_default());
    let rest = numbers(a).into_iter().zip(numbers(b)).map(|(a, b)| (a - b).abs());
    rest.fold(at(a).distance(at(b)).max(angle).max(pole), f32::max)
}

/// The pose mirrored, by other code than the engine's: each model rotation is turned from bind as the other joint's is, mirrored.
fn mirrored(bind: &Pose, pose: &Pose) -> Pose {
    let skeleton = bind.skeleton().clone();
    let other = |j: JointId| {
        let name = skeleton.name(j);
        let swapped = match name.split_at(name.len() - 2) {
            (stem, ".l") => format!("{stem}.r"),
            (stem, ".r") => format!("{stem}.l"),
            _ => name.into(),
        };
        skeleton.find(&swapped).unwrap()
    };
    let middle = bind.position(find(bind, "hips")).x;
    let mut new = bind.clone();
    for j in skeleton.joints() {
        let from = other(j);
        let at = pose.position(from);
        let turn = math::mul(pose.model_rotation(from), math::conjugate(bind.model_rotation(from)));
        let turn = Quat::from_xyzw(turn.x, -turn.y, -turn.z, turn.w);
        new.set_model_rotation(j, math::mul(turn, bind.model_rotation(j)));
        new.set_position(j, Vec3::new(2.0 * middle - at.x, at.y, at.z));
        new.update();
    }
    new
}

#[test]
fn a_mirrored_figure_has_mirrored_goals() {
    let bind = figure();
    let body = BodyRoles::find(&bind, &[]).unwrap();
    let mut r = Random::of(5);
    for known in [None, Some(&body)] {
        let rig = rig_of(&bind, known);
        let mirror = Mirror::new(&rig, &bind, known);
        let joint = |name| Space::Joint(find(&bind, name));
        let mut spaces = vec![Space::Model, joint("prop.l"), joint("chest"), joint("prop.r")];
        if known.is_some() {
            spaces.extend([Space::Role(Role::Hips), Space::Role(Role::Thigh(Side::Left))]);
        }
        for (case, space) in spaces.iter().cycle().take(60).enumerate() {
            let goals: Vec<_> = (0..5).map(|n| full(&mut r, *space, n == 2 || n == 3)).collect();
            let mut once = goals.clone();
            let here = placed(case as f32);
            mirror.goals(&here, &mut once).unwrap();
            let pose = posed(&bind, case as f32);
            let other = mirrored(&bind, &pose);
            let middle = bind.position(find(&bind, "hips")).x;
            for (n, partner) in [(0, 1), (1, 0), (2, 3), (3, 2), (4, 4)] {
                let model = [Space::Model; 2];
                let a = rig.convert(n, &goals[n], model, &pose, &here).unwrap();
                let b = rig.convert(partner, &once[partner], model, &other, &here).unwrap();
                let flip = |v: Vec3| Vec3::new(2.0 * middle - v.x, v.y, v.z);
                assert!(
                    flip(a.goal.position.unwrap()).distance(b.goal.position.unwrap()) < 2e-5,
                    "{space:?}"
                );
                let (Pole::Point(p), Pole::Point(q)) = (a.goal.pole, b.goal.pole) else { unreachable!() };
                assert!(flip(p).distance(q) < 2e-5, "{space:?}");
                let tip = |n: usize| find(&bind, ["hand.l", "hand.r", "foot.l", "foot.r", "head"][n]);
                let turn = |n, g: &RigGoal| {
                    math::mul(g.goal.rotation.unwrap(), math::conjugate(bind.model_rotation(tip(n))))
                };
                let (t, u) = (turn(n, &a), turn(partner, &b));
                assert!(
                    math::angle_between(Quat::from_xyzw(t.x, -t.y, -t.z, t.w), u) < 2e-5,
                    "{space:?} {n}"
                );
                assert_eq!(
                    (b.goal.swivel, b.roll, b.bank, b.pivot),
                    (-a.goal.swivel, a.roll, -a.bank, -a.pivot)
                );
            }
            let mut twice = once.clone();
            mirror.goals(&here, &mut twice).unwrap();
            for (a, b) in goals.iter().zip(&twice) {
                assert!(difference(a, b) < 1e-5, "{a:?} and {b:?}");
            }
        }
    }
}

#[test]
fn a_mirrored_figure_is_solved_as_the_mirror_of_the_figure() {
    let (bind, rig) = rig();
    let mirror = Mirror::new(&rig, &bind, None);
    let mut r = Random::of(9);
    for _ in 0..30 {
        let mut goals = [RigGoal::new(); 5];
        for (n, tip) in ["hand.l", "hand.r", "foot.l", "foot.r", "head"].into_iter().enumerate() {
            let near = bind.position(find(&bind, tip)) + r.vector().as_vec3() * 0.15;
            goals[n] = match n {
                4 => Goal::position(near + Vec3::Z).into(),
                2 | 3 => RigGoal::from(Goal::position(near)).with_roll(0.2).with_bank(0.1).with_pivot(-0.2),
                _ => Goal::position(near).with_rotation(r.rotation(0.5)).with_swivel(0.3).into(),
            };
        }
        let mut other = goals;
        mirror.goals(&Placement::IDENTITY, &mut other).unwrap();
        let solve = |goals: &[RigGoal]| {
            let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), bind.clone());
            rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(0.1).with_goals(goals)).unwrap();
            pose
        };
        let wanted = mirrored(&bind, &solve(&goals));
        let got = solve(&other);
        for j in bind.skeleton().joints() {
            let name = bind.skeleton().name(j);
            assert!(got.position(j).distance(wanted.position(j)) < 2e-4, "{name}");
        }
    }
}

#[test]
fn keys_are_mirrored_and_copied_as_edits() {
    let bind = figure();
    let body = BodyRoles::find(&bind, &[]).unwrap();
    let rig = rig_of(&bind, Some(&body));
    let mirror = Mirror::new(&rig, &bind, Some(&body));
    let placement = placed(1.0);
    let mut r = Random::of(13);
    let mut keys = RigKeys::new(&rig);
    let prop = |side: &str| Space::Joint(find(&bind, &format!("prop.{side}")));
    for goal in 0..5 {
        let owner = KeyOwner::Goal(goal);
        for space in [Space::Model, Space::World, prop("l"), Space::Role(Role::Foot(Side::Right))] {
            let mut vector = || r.vector().as_vec3();
            let list: Vec<_> =
                (0..4).map(|t| Key::new(t as f32, vector()).with_slopes(vector(), vector())).collect();
            with(&mut keys, owner, KeyChannel::position(space), &list);
            let list: Vec<_> = (0..4).map(|t| Key::new(t as f32 * 0.9, r.rotation(1.0))).collect();
            with(&mut keys, owner, KeyChannel::rotation(space), &list);
        }
        let list = [Space::World, prop("l"), Space::Role(Role::Foot(Side::Right))];
        let list: Vec<_> =
            list.into_iter().enumerate().map(|(t, space)| Key::new(t as f32 + 0.5, space)).collect();
        with(&mut keys, owner, KeyChannel::Space, &list);
    }
    let arm = KeyOwner::Joint(find(&bind, "forearm.l"));
    with(
        &mut keys,
        arm,
        KeyChannel::LocalRotation,
        &[Key::new(0.0, r.rotation(1.0)), Key::new(1.0, r.rotation(1.0))],
    );
    let before = keys.clone();

    let undo = keys.edit(&mirror.keys(&placement, &keys, None).unwrap()).unwrap();
    for k in 0..35 {
        let time = k as f32 * 0.1;
        let (mut was, mut now) = (vec![RigGoal::new(); 5], vec![RigGoal::new(); 5]);
        before.sample(time, &mut was).unwrap();
        keys.sample(time, &mut now).unwrap();
        mirror.goals(&placement, &mut was).unwrap();
        for (a, b) in was.iter().zip(&now) {
            assert!(difference(a, b) < 2e-5, "{time}: {a:?} and {b:?}");
        }
        let (mut pose, mut other) = (bind.clone(), bind.clone());
        before.sample_pose(time, &mut pose).unwrap();
        keys.sample_pose(time, &mut other).unwrap();
        pose.update();
        other.update();
        let wanted = mirrored(&bind, &pose);
        for j in bind.skeleton().joints() {
            assert!(wanted.position(j).distance(other.position(j)) < 1e-5);
        }
    }
    let once = keys.clone();
    keys.edit(&mirror.keys(&placement, &keys, None).unwrap()).unwrap();
    assert_eq!(keys.tracks().len(), before.tracks().len());
    for (a, b) in keys.tracks().iter().zip(before.tracks()) {
        assert_eq!((a.owner(), a.channel(), a.keys().len()), (b.owner(), b.channel(), b.keys().len()));
        for (a, b) in a.keys().iter().zip(b.keys()) {
            let values = |key: &Key| [Some(key.value), key.slopes.map(|s| s[0]), key.slopes.map(|s| s[1])];
            for pair in values(a).into_iter().zip(values(b)) {
                match pair {
                    (Some(KeyValue::Vector(a)), Some(KeyValue::Vector(b))) => assert!(a.distance(b) < 1e-5),
                    (Some(KeyValue::Rotation(a)), Some(KeyValue::Rotation(b))) => {
                        assert!(math::angle_between(a, b) < 1e-5);
                    }
                    (a, b) => assert_eq!(a, b),
                }
            }
        }
    }
    let mut undone = once.clone();
    undone.edit(&undo).unwrap();
    assert_eq!(undone, before);

    // From the left to the right: the left and the middle stay, the right is as if all were mirrored.
    let mut copied = before.clone();
    copied.edit(&mirror.keys(&placement, &before, Some(Side::Left)).unwrap()).unwrap();
    for (owner, from) in [(0, &before), (1, &once), (2, &before), (3, &once), (4, &before)] {
        assert_eq!(copied.tracks_of(KeyOwner::Goal(owner)), from.tracks_of(KeyOwner::Goal(owner)));
    }

    // A joint whose name has a side, and nothing on the other one.
    let mut b = Skeleton::builder();
    for (n, name) in ["a", "b", "tail.l"].into_iter().enumerate() {
        b.add(name, n.checked_sub(1), JointTransform::from_translation(Vec3::X));
    }
    let bind = Pose::rest(&Arc::new(b.build().unwrap().0));
    let tail = HandleSpec::new("tail", find(&bind, "a"), find(&bind, "tail.l"));
    let rig = Rig::new(&bind, None, &RigSpec::new(vec![tail])).unwrap();
    let mirror = Mirror::new(&rig, &bind, None);
    assert_eq!(mirror.partner(0), None);
    let mut goals = [RigGoal::new()];
    mirror.goals(&placement, &mut goals).unwrap();
    goals[0] = Goal::position(Vec3::X).into();
    let error = mirror.goals(&placement, &mut goals).unwrap_err();
    assert_eq!(error.to_string(), "goal 0 has no partner on the other side");
    let mut keys = RigKeys::new(&rig);
    with(&mut keys, HAND, MODEL, &[Key::new(0.0, Vec3::X)]);
    assert_eq!(mirror.keys(&placement, &keys, None), Err(KeyError::NoPartner(HAND)));
    assert!(matches!(
        mirror.keys(&placement, &before, None),
        Err(KeyError::GoalCount { given: 5, wanted: 1 })
    ));
}

#[test]
fn sampling_allocates_nothing() {
    let (bind, rig) = rig();
    let mut keys = RigKeys::new(&rig);
    let mut r = Random::of(17);
    for goal in 0..5 {
        for space in [Space::Model, Space::World] {
            let list: Vec<_> = (0..50).map(|t| Key::new(t as f32, r.rotation(1.0))).collect();
            with(&mut keys, KeyOwner::Goal(goal), KeyChannel::rotation(space), &list);
            let list: Vec<_> = (0..50).map(|t| Key::new(t as f32, r.vector().as_vec3())).collect();
            with(&mut keys, KeyOwner::Goal(goal), KeyChannel::position(space), &list);
        }
        with(&mut keys, KeyOwner::Goal(goal), KeyChannel::Space, &[Key::new(25.0, Space::World)]);
    }
    let chest = KeyOwner::Joint(find(&bind, "chest"));
    with(&mut keys, chest, KeyChannel::LocalRotation, &[Key::new(0.0, Quat::IDENTITY)]);
    let (mut goals, mut pose) = ([RigGoal::new(); 5], bind.clone());
    let counted = allocation_counter::measure(|| {
        for k in 0..100 {
            keys.sample(k as f32 * 0.51, &mut goals).unwrap();
            keys.sample_pose(k as f32 * 0.51, &mut pose).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0);
    assert_eq!(goals[4].space, Some(Space::World));
}
