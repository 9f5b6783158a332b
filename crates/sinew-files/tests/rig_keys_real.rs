//! Keys of rigs on real figures: goals read from their clips, changes of space while the figure moves, mirrors, glTF.

mod real;

use sinew::{
    Placement, Pose, Workspace,
    body::{BodyRoles, Role, Side},
    glam::{Affine3, DVec3, Quat, Vec3},
    math,
    rig::{
        HandleSolver, HandleSpec, Rig, RigFrame, RigGoal, RigSpec, Space, StartFrom,
        keys::{Key, KeyChannel, KeyEdit, KeyInterpolation, KeyOwner, KeyValue, Mirror, RigKeys},
    },
};
use sinew_files::{Model, ReadOptions, Source, gltf::Document};

const FPS: f32 = 30.0;

/// Hands and feet.
fn rig_of(model: &Model) -> (Rig, BodyRoles) {
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).unwrap();
    let mut handles = Vec::new();
    for side in Side::BOTH {
        let (arm, leg) = (body.arm(side).unwrap(), body.leg(side));
        for (name, root, tip) in [("hand", arm.upper_arm, arm.hand), ("foot", leg.thigh, leg.foot)] {
            let solver = HandleSolver::TwoBone;
            let handle = HandleSpec::new(format!("{side} {name}"), root, tip);
            handles.push(HandleSpec { solver, from: StartFrom::Preferred, ..handle });
        }
    }
    (Rig::new(&bind, Some(&body), &RigSpec::new(handles)).unwrap(), body)
}

fn placed(time: f32) -> Placement {
    let turn = Quat::from_rotation_y(0.4 * time);
    Placement::new(Affine3::from_rotation_translation(turn, Vec3::new(2.0, 0.0, time))).unwrap()
}

struct Judged {
    /// Largest distance of a tip at a change of space, and at keys after it, in metres.
    change: f64,
    /// Largest difference of goals that were mirrored twice, and of keys that were written and read.
    twice: f32,
    gltf: f32,
    count: usize,
}

fn judge(model: &Model, clip: usize) -> Judged {
    let (rig, body) = rig_of(model);
    let clip = &model.clips[clip];
    let rest = Pose::rest(&model.skeleton);
    let posed = |time: f32, pose: &mut Pose| {
        pose.copy_from(&rest);
        clip.sample(clip.start() + time, pose);
        pose.update();
        placed(time)
    };
    // Goals as the clip has them, at each frame.
    let mut keys = RigKeys::new(&rig);
    let mut edit = KeyEdit::new();
    let frames = (clip.duration() * FPS) as usize;
    let mut pose = rest.clone();
    for frame in 0..=frames {
        let time = frame as f32 / FPS;
        let placement = posed(time, &mut pose);
        let mut goals = vec![RigGoal::new(); rig.goal_count()];
        rig.read(&pose, &placement, &mut goals).unwrap();
        for (n, goal) in goals.iter().enumerate() {
            let owner = KeyOwner::Goal(n);
            let key = |value: KeyValue| Key::new(time, value).with_interpolation(KeyInterpolation::Linear);
            edit =
                edit.set(owner, KeyChannel::position(Space::Model), key(goal.goal.position.unwrap().into()));
            edit =
                edit.set(owner, KeyChannel::rotation(Space::Model), key(goal.goal.rotation.unwrap().into()));
            edit = edit.set(owner, KeyChannel::swivel(Space::Model), key(goal.goal.swivel.into()));
        }
    }
    keys.edit(&edit).unwrap();
    let first = keys.clone();

    let tips = |keys: &RigKeys, time: f32| -> Vec<DVec3> {
        let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), rest.clone());
        let placement = posed(time, &mut pose);
        let mut goals = vec![RigGoal::new(); rig.goal_count()];
        keys.sample(time, &mut goals).unwrap();
        let frame = RigFrame::new(1.0 / FPS).with_goals(&goals).with_placement(placement);
        rig.apply(&mut state, &mut workspace, &mut pose, &frame).unwrap();
        let ends =
            Side::BOTH.into_iter().flat_map(|side| [body.arm(side).unwrap().hand, body.leg(side).foot]);
        ends.map(|j| pose.position(j).as_dvec3()).collect()
    };
    let mut judged = Judged { change: 0.0, twice: 0.0, gltf: 0.0, count: 0 };
    let spaces = [
        Space::World,
        Space::Role(Role::Hips),
        Space::Joint(body.hips),
        Space::Model,
        Space::Joint(*body.spine.last().unwrap()),
    ];
    for n in 0..40 {
        let time = clip.duration() * (0.05 + 0.9 * ((n * 17) % 40) as f32 / 40.0);
        let goal = n % rig.goal_count();
        let edit = keys.change_space(&rig, goal, time, spaces[(n / 4) % 5], &mut pose, posed).unwrap();
        let before = keys.clone();
        keys.edit(&edit).unwrap();
        judged.count += usize::from(!edit.is_empty());
        let at_keys = (0..=frames).map(|frame| frame as f32 / FPS);
        for now in [time.next_down(), time, time.next_up()].into_iter().chain(at_keys) {
            let (a, b) = (tips(&before, now), tips(&keys, now));
            judged.change = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(judged.change, f64::max);
        }
    }

    let bind = model.bind_pose();
    let mirror = Mirror::new(&rig, &bind, Some(&body));
    let mut twice = keys.clone();
    for _ in 0..2 {
        twice.edit(&mirror.keys(&placed(0.3), &twice, None).unwrap()).unwrap();
    }
    judged.twice = difference(&keys, &twice);

    if let Source::Gltf(document) = &model.source {
        let mut document = document.clone();
        let at = document.add_keys("keys", &rig, &keys).unwrap();
        let mut glb = Vec::new();
        document.to_glb(&mut glb).unwrap();
        let again = Document::from_bytes(&glb, "again.glb", None).unwrap().into_model().unwrap();
        let (rig, _) = rig_of(&again);
        let Source::Gltf(document) = &again.source else { unreachable!() };
        let back = document.keys(at, &again.skeleton, &rig).unwrap();
        judged.gltf = difference(&keys, &back);
    }
    assert_ne!(first, keys);
    judged
}

/// The largest difference of the keys' numbers; the joints of spaces may have other indices.
fn difference(a: &RigKeys, b: &RigKeys) -> f32 {
    assert_eq!(a.tracks().len(), b.tracks().len());
    // Within a goal, tracks of joints' spaces are in the order of the joints.
    let mut most = 0.0f32;
    for (a, b) in a.tracks().iter().zip(b.tracks()) {
        assert_eq!(
            (a.owner(), a.channel().name(), a.keys().len()),
            (b.owner(), b.channel().name(), b.keys().len())
        );
        for (p, q) in a.keys().iter().zip(b.keys()) {
            assert_eq!((p.time, p.interpolation), (q.time, q.interpolation));
            most = most.max(match (p.value, q.value) {
                (KeyValue::Vector(p), KeyValue::Vector(q)) => p.distance(q) / p.length().max(1.0),
                (KeyValue::Rotation(p), KeyValue::Rotation(q)) => {
                    math::angle_between(math::normalize(p), math::normalize(q))
                }
                (KeyValue::Number(p), KeyValue::Number(q)) => (p - q).abs(),
                _ => 0.0,
            });
        }
    }
    most
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn real_figures_keep_their_places() {
    for (file, clip) in [
        ("gltf/KayKit_Knight.glb", "Walking_A"),
        ("gltf/mannequiny.glb", "fight_kick"),
        ("gltf/m2m_human_sample-rig.glb", ""),
        ("bvh/cmu_12_01_walk.bvh", ""),
    ] {
        let scale = if file.ends_with("bvh") { 0.056444 } else { 1.0 };
        let model = Model::read(&real::data(file), &ReadOptions { scale, ..ReadOptions::default() }).unwrap();
        let clip = model.clips.iter().position(|c| c.name() == clip).unwrap_or(0);
        let Judged { change, twice, gltf, count } = judge(&model, clip);
        println!(
            "{file}: {count} changes, tips moved {:.6} mm; mirrored twice {twice:.1e}; glTF {gltf:.1e}",
            change * 1e3
        );
        assert!(count >= 30, "{count} changes");
        assert!(change < 1e-4 && twice < 1e-5 && gltf < 1e-5, "{change} m, {twice}, {gltf}");
    }
}
