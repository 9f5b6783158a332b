//! Keys of rigs in glTF: a round trip, what other players see, and damaged files.

use glam::{Quat, Vec3};
use serde_json::{Value, json};
use sinew::{
    Skeleton,
    body::{BodyRoles, Role, Side},
    math,
    motion::Interpolation,
    rig::{
        EffectorSpec, HandleSolver, HandleSpec, Rig, RigGoal, RigSpec, Space,
        keys::{Key, KeyChannel, KeyEdit, KeyInterpolation, KeyOwner, KeySpace, KeyValue, RigKeys},
    },
};
use sinew_files::{Model, Source, gltf::Document, sample};

fn document(model: Model) -> Document {
    let Source::Gltf(document) = model.source else { panic!("not glTF") };
    document
}

fn bytes(document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    document.to_glb(&mut out).unwrap();
    out
}

fn read(bytes: &[u8]) -> Model {
    Document::from_bytes(bytes, "keys.glb", None).unwrap().into_model().unwrap()
}

/// Legs, and a body with two effectors; `None` where the figure lacks a part.
fn try_rig(model: &Model) -> Option<Rig> {
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).ok()?;
    let leg = |side| {
        let leg = body.leg(side);
        let mut foot = HandleSpec::new(format!("{side} foot"), leg.thigh, leg.foot);
        (foot.solver, foot.foot.toes) = (HandleSolver::Foot, leg.toes);
        foot
    };
    let [left, right] = [body.arm(Side::Left)?.hand, body.arm(Side::Right)?.hand];
    let chest = *body.spine.last()?;
    let mut arms = HandleSpec::new("arms", chest, chest);
    (arms.solver, arms.effectors) = (HandleSolver::FullBody, [left, right].map(EffectorSpec::new).to_vec());
    Rig::new(&bind, Some(&body), &RigSpec::new(vec![leg(Side::Left), leg(Side::Right), arms])).ok()
}

fn rig(model: &Model) -> Rig {
    try_rig(model).unwrap()
}

fn noise(seed: u32) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Keys of all channels, in spaces of all kinds, with all interpolations, and slopes of their own.
fn keys(model: &Model, rig: &Rig, seed: u32) -> RigKeys {
    let mut r = noise(seed);
    let joint = |name: &str| Space::Joint(model.skeleton.find(name).unwrap());
    let again = KeySpace { space: Space::Model, stay: 1 };
    let spaces: [KeySpace; 5] = [
        Space::Model.into(),
        joint("thigh.L").into(),
        Space::World.into(),
        Space::Role(Role::Spine(0)).into(),
        again,
    ];
    let mut keys = RigKeys::new(rig);
    let mut edit = KeyEdit::new();
    let mut kind = {
        let mut r = noise(seed + 7);
        move || {
            let all = [KeyInterpolation::Step, KeyInterpolation::Linear, KeyInterpolation::Smooth];
            all[(((r() + 1.0) * 1.5) as usize).min(2)]
        }
    };
    for goal in 0..rig.goal_count() {
        let owner = KeyOwner::Goal(goal);
        let mut number = |channel: KeyChannel, edit: KeyEdit, r: &mut dyn FnMut() -> f32, share: bool| {
            let value = |r: &mut dyn FnMut() -> f32| if share { r().abs().min(1.0) } else { r() };
            (0..4).fold(edit, |edit, n| {
                let mut key = Key::new(n as f32 * 0.3 + 0.1, value(r)).with_interpolation(kind());
                if n == 2 {
                    key = key.with_slopes(r(), r());
                }
                edit.set(owner, channel, key)
            })
        };
        for (n, space) in spaces.into_iter().enumerate() {
            for k in 0..5 {
                let time = k as f32 * 0.4 + 0.01 * n as f32 + 0.05;
                let interpolation =
                    [KeyInterpolation::Step, KeyInterpolation::Linear, KeyInterpolation::Smooth]
                        [if n < 3 { n } else { (k + goal) % 3 }];
                let at = Key::new(time, Vec3::new(r(), r(), r())).with_interpolation(interpolation);
                let at =
                    if n == 3 && k == 2 { at.with_slopes(Vec3::splat(r()), Vec3::splat(r())) } else { at };
                edit = edit.set(owner, KeyChannel::position(space), at);
                let q = math::normalize(Quat::from_xyzw(r(), r(), r(), r()));
                let turn = Key::new(time, q).with_interpolation(interpolation);
                let mut slope = || Quat::from_xyzw(r(), r(), r(), r());
                let turn = if n == 4 && k == 3 { turn.with_slopes(slope(), slope()) } else { turn };
                edit = edit.set(owner, KeyChannel::rotation(space), turn);
                edit = edit.set(owner, KeyChannel::pole(space), Key::new(time, Vec3::new(r(), r(), r())));
            }
            edit = number(KeyChannel::swivel(space), edit, &mut r, false);
            let switch = Key::new(n as f32 * 0.37, space).with_interpolation(KeyInterpolation::Step);
            edit = edit.set(owner, KeyChannel::Space, switch).set(owner, KeyChannel::PoleSpace, switch);
        }
        for channel in [KeyChannel::Roll, KeyChannel::Bank, KeyChannel::Pivot] {
            edit = number(channel, edit, &mut r, false);
        }
        edit = number(KeyChannel::PositionInfluence, edit, &mut r, true);
        edit = number(KeyChannel::RotationInfluence, edit, &mut r, true);
    }
    let chest = KeyOwner::Joint(model.skeleton.find("thigh.R").unwrap());
    edit = edit.set(chest, KeyChannel::LocalRotation, Key::new(0.0, Quat::from_rotation_x(0.3)));
    edit = edit.set(chest, KeyChannel::LocalRotation, Key::new(1.0, Quat::from_rotation_x(-0.3)));
    edit = edit.set(chest, KeyChannel::LocalTranslation, Key::new(0.5, Vec3::new(0.1, 0.2, 0.3)));
    keys.edit(&edit).unwrap();
    keys
}

fn numbers(value: KeyValue) -> Vec<f32> {
    match value {
        KeyValue::Vector(v) => v.to_array().into(),
        KeyValue::Rotation(q) => q.to_array().into(),
        KeyValue::Number(x) => vec![x],
        _ => Vec::new(),
    }
}

/// Names in place of joints, which differ between skeletons.
fn named(skeleton: &Skeleton, space: KeySpace) -> String {
    match space.space {
        Space::Joint(joint) => format!("{} {}", skeleton.name(joint), space.stay),
        _ => format!("{space:?}"),
    }
}

fn assert_same(a: (&RigKeys, &Skeleton), b: (&RigKeys, &Skeleton)) {
    assert_eq!(a.0.tracks().len(), b.0.tracks().len());
    let named_track = |skeleton: &Skeleton, t: &sinew::rig::keys::KeyTrack| {
        let owner = match t.owner() {
            KeyOwner::Joint(joint) => skeleton.name(joint).to_owned(),
            goal => goal.to_string(),
        };
        format!(
            "{owner} {} {:?}",
            t.channel().name(),
            t.channel().space().map(|space| named(skeleton, space))
        )
    };
    for track in a.0.tracks() {
        let name = named_track(a.1, track);
        let other =
            b.0.tracks().iter().find(|t| named_track(b.1, t) == name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(track.keys().len(), other.keys().len(), "{name}");
        for (p, q) in track.keys().iter().zip(other.keys()) {
            assert_eq!((p.time, p.slopes.is_some()), (q.time, q.slopes.is_some()), "{name}");
            if let (KeyValue::Space(p), KeyValue::Space(q)) = (p.value, q.value) {
                assert_eq!(named(a.1, p), named(b.1, q));
                continue;
            }
            assert_eq!(p.interpolation, q.interpolation, "{name} at {}", p.time);
            let all = |key: &Key| {
                let slopes = key.slopes.into_iter().flatten().flat_map(numbers);
                numbers(key.value).into_iter().chain(slopes).collect::<Vec<_>>()
            };
            // A rotation and its negative, slopes and all, are one.
            let far =
                |sign: f32| all(p).iter().zip(all(q)).map(|(x, y)| (x - sign * y).abs()).fold(0.0, f32::max);
            let sign = if matches!(p.value, KeyValue::Rotation(_)) && far(1.0) > 1.0 { -1.0 } else { 1.0 };
            assert!(far(sign).min(far(1.0)) < 1e-5, "{name}: {p:?} and {q:?}");
        }
    }
}

#[test]
fn keys_come_back() {
    for seed in 1..6 {
        let model = sample::mannequin().unwrap();
        let first = rig(&model);
        let (a, b) = (keys(&model, &first, seed), keys(&model, &first, seed + 100));
        let mut written = document(model.clone());
        let nodes = written.json()["nodes"].as_array().unwrap().len();
        let at = written.add_keys("first", &first, &a).unwrap();
        let added = written.json()["nodes"].as_array().unwrap().len();
        // A second animation shares the nodes.
        assert_eq!(written.add_keys("second", &first, &b).unwrap(), at + 1);
        assert_eq!(written.json()["nodes"].as_array().unwrap().len(), added);
        assert_eq!(added - nodes, 1 + 4 * (5 + 5 + 5 + 7));
        // What glTF asks of samplers.
        for sampler in written.json()["animations"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|a| a["samplers"].as_array().unwrap())
        {
            let input = &written.json()["accessors"][sampler["input"].as_u64().unwrap() as usize];
            assert!(input["min"][0].as_f64().unwrap() >= 0.0);
            assert!(input["count"].as_u64().unwrap() > u64::from(sampler["interpolation"] == "CUBICSPLINE"));
        }
        let again = read(&bytes(&written));
        assert!(again.problems.is_empty(), "{:?}", again.problems);
        let second = rig(&again);
        for (n, keys) in [(at, &a), (at + 1, &b)] {
            let Source::Gltf(document) = &again.source else { unreachable!() };
            let back = document.keys(n, &again.skeleton, &second).unwrap();
            assert_same((keys, &model.skeleton), (&back, &again.skeleton));
            // Goals of a frame are the same.
            let (mut old, mut new) = (vec![RigGoal::new(); 4], vec![RigGoal::new(); 4]);
            for k in -5..25 {
                keys.sample(k as f32 * 0.08, &mut old).unwrap();
                back.sample(k as f32 * 0.08, &mut new).unwrap();
                for (p, q) in old.iter().zip(&new) {
                    assert!(p.goal.position.unwrap().distance(q.goal.position.unwrap()) < 1e-5);
                    assert!(math::angle_between(p.goal.rotation.unwrap(), q.goal.rotation.unwrap()) < 1e-5);
                    assert!((p.goal.swivel - q.goal.swivel).abs() < 1e-5 && (p.roll - q.roll).abs() < 1e-5);
                }
            }
        }
    }
}

/// Goals as any player of glTF sees them: nodes below joints and below the scene.
#[test]
fn players_see_the_goals_move() {
    let model = sample::mannequin().unwrap();
    let first = rig(&model);
    let keys = keys(&model, &first, 3);
    let mut written = document(model.clone());
    let at = written.add_keys("keys", &first, &keys).unwrap();
    let again = read(&bytes(&written));
    let clip = &again.clips[at];
    let mut kinds = [0; 3];
    for track in keys.tracks_of(KeyOwner::Goal(0)) {
        let Some(space) = track.channel().space() else { continue };
        let part = if let KeyChannel::Pole(_) = track.channel() { "pole" } else { "goal" };
        let wanted = match space.space {
            Space::Model => json!("model"),
            Space::World => json!("world"),
            Space::Joint(_) => json!("joint"),
            _ => json!({"role": "spine 1"}),
        };
        let ours = |n: &Value| n["extras"]["sinew_keys"].clone();
        let nodes = written.json()["nodes"].as_array().unwrap();
        let is_it = |n: &&Value| {
            let about = ours(n);
            (about["handle"] == "left foot" && about["part"] == part)
                && (about["space"] == wanted && about["stay"] == space.stay)
        };
        let node = nodes.iter().find(is_it).unwrap();
        let below = |part: &str| {
            let children = node["children"].as_array().unwrap().iter();
            children.map(|n| &nodes[n.as_u64().unwrap() as usize]).find(|n| ours(n)["part"] == part).unwrap()
        };
        let moved = if let KeyChannel::Swivel(_) = track.channel() { below("swivel") } else { node };
        let find = |node: &Value| again.skeleton.find(node["name"].as_str().unwrap()).unwrap();
        let parent = again.skeleton.parent(find(node)).map(|p| again.skeleton.name(p));
        match space.space {
            Space::Joint(joint) => assert_eq!(parent, Some(model.skeleton.name(joint))),
            _ => assert_eq!(parent, Some("rig keys")),
        }
        let moves = clip.tracks().iter().find(|t| t.joint == find(moved)).unwrap();
        for k in 0..200 {
            let time = -0.5 + k as f32 * 0.0127;
            match track.sample(time) {
                KeyValue::Vector(v) => {
                    let curve = moves.translation.as_ref().unwrap();
                    kinds[match curve.interpolation() {
                        Interpolation::Step => 0,
                        Interpolation::Linear => 1,
                        Interpolation::Cubic => 2,
                    }] += 1;
                    assert!(curve.sample(time).distance(v) < 2e-5, "{} at {time}", track.channel());
                }
                KeyValue::Number(x) => {
                    assert!(
                        (moves.translation.as_ref().unwrap().sample(time).y - x).abs() < 2e-5,
                        "{} at {time}",
                        track.channel()
                    );
                }
                KeyValue::Rotation(q) => {
                    // A line among cubic pieces is one with the same speed at its ends: up to half a turn, 0.06 rad off.
                    let angle = math::angle_between(moves.rotation.as_ref().unwrap().sample(time), q);
                    assert!(angle < 0.06, "{angle} in {} at {time}", track.channel());
                }
                _ => unreachable!(),
            }
        }
    }
    assert!(kinds.iter().all(|&n| n > 100), "{kinds:?}");
}

#[test]
fn curves_of_other_programs_are_keys_with_slopes() {
    let model = sample::mannequin().unwrap();
    let first = rig(&model);
    let keys = keys(&model, &first, 4);
    let mut written = document(model);
    let at = written.add_keys("keys", &first, &keys).unwrap();
    let mut json = written.json().clone();
    for sampler in json["animations"][at]["samplers"].as_array_mut().unwrap() {
        sampler.as_object_mut().unwrap().remove("extras");
    }
    let again = with_json(&bytes(&written), &json);
    let second = rig(&again);
    let Source::Gltf(document) = &again.source else { unreachable!() };
    let back = document.keys(at, &again.skeleton, &second).unwrap();
    assert_eq!(back.tracks().len(), keys.tracks().len());
    let mut own = 0;
    for track in keys.tracks_of(KeyOwner::Goal(1)) {
        let (Some(Space::Model | Space::World), KeyChannel::Position(_)) =
            (track.channel().space().map(|s| s.space), track.channel())
        else {
            continue;
        };
        let other = back.track(KeyOwner::Goal(1), track.channel()).unwrap();
        own += other.keys().iter().filter(|key| key.slopes.is_some()).count();
        for k in 0..100 {
            let (KeyValue::Vector(a), KeyValue::Vector(b)) =
                (track.sample(k as f32 * 0.02), other.sample(k as f32 * 0.02))
            else {
                unreachable!()
            };
            assert!(a.distance(b) < 1e-5);
        }
    }
    assert!(own >= 10, "{own}");
}

/// The model of a GLB whose JSON is another.
fn with_json(glb: &[u8], json: &Value) -> Model {
    Document::from_bytes(&with_text(glb, &serde_json::to_vec(json).unwrap()), "keys.glb", None)
        .unwrap()
        .into_model()
        .unwrap()
}

fn with_text(glb: &[u8], text: &[u8]) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
    let rest = &glb[20 + word(12)..];
    let mut text = text.to_vec();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = glb[..8].to_vec();
    out.extend(((20 + text.len() + rest.len()) as u32).to_le_bytes());
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(&glb[16..20]);
    out.extend(text);
    out.extend(rest);
    out
}

#[test]
fn damage_is_named() {
    let model = sample::mannequin().unwrap();
    let first = rig(&model);
    let mut keys = keys(&model, &first, 5);
    keys.edit(&KeyEdit::new().set(KeyOwner::Goal(0), KeyChannel::Roll, Key::new(0.0, -0.5))).unwrap();
    let mut written = document(model.clone());
    let at = written.add_keys("keys", &first, &keys).unwrap();
    let (glb, json) = (bytes(&written), written.json().clone());
    let error = |change: &dyn Fn(&mut Value)| {
        let mut json = json.clone();
        change(&mut json);
        let again = with_json(&glb, &json);
        let second = rig(&again);
        let Source::Gltf(document) = &again.source else { unreachable!() };
        document
            .keys(at, &again.skeleton, &second)
            .map_or_else(|error| error.to_string(), |_| "no error".into())
    };
    let node = |json: &Value, name: &str| {
        json["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .position(|n| n["name"] == name)
            .unwrap_or_else(|| panic!("no {name}"))
    };
    let set = |name: &'static str, key: &'static str, to: Value| {
        error(&move |json: &mut Value| {
            let n = node(json, name);
            json["nodes"][n]["extras"]["sinew_keys"][key] = to.clone();
        })
    };
    for (name, key, to, says) in [
        (
            "left foot goal roll",
            "handle",
            json!("left food"),
            "extras.sinew_keys.handle: the rig has no goal 0 of a handle `left food`",
        ),
        ("left foot goal roll", "handle", json!(7), "extras.sinew_keys.handle: it must be a string, not 7"),
        ("left foot goal roll", "goal", json!(3), "the rig has no goal 3 of a handle `left foot`"),
        (
            "left foot goal roll",
            "goal",
            json!(-1),
            "sinew_keys.goal: it must be an integer of 0 or more, not -1",
        ),
        ("left foot goal", "space", json!("moon"), "sinew_keys.space: `role` is missing"),
        (
            "left foot goal",
            "space",
            json!({"role": "tail"}),
            "sinew_keys.space.role: it is no role of a figure",
        ),
        ("left foot goal", "stay", json!(70_000), "a stay must be at most 65535, not 70000"),
        ("left foot goal roll", "part", json!("rolls"), "sinew_keys.part: `rolls` is no part of a goal"),
        ("left foot goal roll", "part", json!("bank"), "a second channel for the bank of goal 0"),
        (
            "left foot goal roll",
            "part",
            json!("swivel"),
            "sinew_keys.part: a swivel must be below the node of its goal",
        ),
        ("left foot goal", "number", json!(4711), "no node of this goal has the number"),
    ] {
        let found = set(name, key, to);
        assert!(found.contains(says) && found.starts_with("keys.glb: "), "{found}, not {says}");
    }
    let swapped = error(&|json: &mut Value| {
        let nodes = ["roll", "position influence"].map(|name| node(json, &format!("left foot goal {name}")));
        for (n, part) in nodes.into_iter().zip(["position influence", "roll"]) {
            json["nodes"][n]["extras"]["sinew_keys"]["part"] = json!(part);
        }
    });
    let says = "position influence of goal 0 at 0 s: a value must be 0 to 1, not Number(-0.5)";
    assert!(swapped.contains(says), "{swapped}");
    let second = rig(&model);
    let found = written.keys(99, &model.skeleton, &second).unwrap_err().to_string();
    assert!(found.contains("there is no animation 99"), "{found}");
    let none = RigKeys::new(&first);
    let found = written.add_keys("none", &first, &none).unwrap_err().to_string();
    assert!(found.contains("animation `none`: there is no key"), "{found}");

    let early = keys.retime(|key| key.channel == KeyChannel::Bank, 1.0, -1.0).unwrap();
    keys.edit(&early).unwrap();
    let found = written.add_keys("early", &first, &keys).unwrap_err().to_string();
    assert!(
        found.contains("animation `early`: bank of goal 0 has a key at -0.9 s: glTF has no times below 0"),
        "{found}"
    );

    // Damage anywhere in the JSON is an error or keys, never a panic.
    let text = serde_json::to_vec(&json).unwrap();
    let start = text.windows(10).rposition(|w| w == b"sinew_keys").unwrap();
    let mut r = noise(9);
    let (mut refused, mut played) = (0, 0);
    for _ in 0..3000 {
        let mut broken = text.clone();
        // Half of it in our own descriptions.
        let own: Vec<usize> = vec![
            (((r() + 1.0) * 0.5) * start as f32) as usize,
            (((r() + 1.0) * 0.5) * (text.len() - 1) as f32) as usize,
        ];
        for at in own {
            broken[at] = b"0123456789-.eE\"{}[],:ntfaz "[(((r() + 1.0) * 13.0) as usize).min(26)];
        }
        let done =
            Document::from_bytes(&with_text(&glb, &broken), "keys.glb", None).and_then(Document::into_model);
        let Ok(again) = done else {
            refused += 1;
            continue;
        };
        let Source::Gltf(document) = &again.source else { unreachable!() };
        let Some(second) = try_rig(&again) else { continue };
        match document.keys(at, &again.skeleton, &second) {
            Ok(_) => played += 1,
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().contains('\n'));
            }
        }
    }
    assert!(refused > 500 && played > 100, "{refused} {played}");
}
