//! `sinew plant --contacts`: contact times from a file or from nodes of the clip, and one-line errors.

mod plant_support;

use serde_json::{Value, json};

use plant_support::{Glb, Place, all_finite, says};

/// Contact times of a point of a foot in the planted file's note, planted or not.
fn stands(glb: &Glb, foot: &str, point: &str) -> Vec<[f64; 2]> {
    let note = &glb.animation("walk (planted)")["extras"]["sinew"];
    let all = ["plants", "unplanted"].iter().flat_map(|list| note[list].as_array().unwrap());
    let mut spans: Vec<[f64; 2]> = all
        .filter(|p| p["foot"] == foot && p["point"] == point)
        .map(|p| [p["from"].as_f64().unwrap(), p["to"].as_f64().unwrap()])
        .collect();
    spans.sort_by(|a, b| a[0].total_cmp(&b[0]));
    // A contact of which a part is not held is written in parts.
    let mut whole: Vec<[f64; 2]> = Vec::new();
    for span in spans {
        match whole.last_mut() {
            Some(last) if span[0] - last[1] < 1e-6 => last[1] = span[1],
            _ => whole.push(span),
        }
    }
    whole
}

#[track_caller]
fn near(found: &[[f64; 2]], wanted: &[[f64; 2]]) {
    within(1e-4, found, wanted);
}

#[track_caller]
fn within(seconds: f64, found: &[[f64; 2]], wanted: &[[f64; 2]]) {
    let same = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).abs() < seconds && (a[1] - b[1]).abs() < seconds;
    assert!(found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| same(a, b)), "{found:?}");
}

/// Adds a node whose translation the walk animates.
fn add_curve(glb: &mut Glb, name: &str, interpolation: &str, keys: &[(f32, [f32; 3])]) {
    let mut accessor = |kind: &str, floats: Vec<f32>| -> usize {
        let offset = glb.bin.len().next_multiple_of(4);
        glb.bin.resize(offset, 0);
        glb.bin.extend(floats.iter().flat_map(|f| f.to_le_bytes()));
        let views = glb.json["bufferViews"].as_array_mut().unwrap();
        views.push(json!({ "buffer": 0, "byteOffset": offset, "byteLength": 4 * floats.len() }));
        let view = views.len() - 1;
        let least = floats.iter().copied().fold(f32::INFINITY, f32::min);
        let most = floats.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut accessor =
            json!({ "bufferView": view, "componentType": 5126, "count": keys.len(), "type": kind });
        if kind == "SCALAR" {
            (accessor["min"], accessor["max"]) = (json!([least]), json!([most]));
        }
        let accessors = glb.json["accessors"].as_array_mut().unwrap();
        accessors.push(accessor);
        accessors.len() - 1
    };
    let input = accessor("SCALAR", keys.iter().map(|k| k.0).collect());
    let output = accessor("VEC3", keys.iter().flat_map(|k| k.1).collect());
    let nodes = glb.json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({ "name": name }));
    let node = nodes.len() - 1;
    glb.json["scenes"][0]["nodes"].as_array_mut().unwrap().push(json!(node));
    let walk = &mut glb.json["animations"][0];
    let samplers = walk["samplers"].as_array_mut().unwrap();
    samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
    let sampler = samplers.len() - 1;
    let channel = json!({ "sampler": sampler, "target": { "node": node, "path": "translation" } });
    walk["channels"].as_array_mut().unwrap().push(channel);
}

#[test]
fn contacts_that_would_be_found_give_the_same_file() {
    let place = Place::with_walk("contacts_same");
    place.done("plant walk.glb --ground slope -o found.glb");
    let found = place.glb("found.glb");
    let foot =
        |foot: &str| json!({ "heel": stands(&found, foot, "heel"), "ball": stands(&found, foot, "ball") });
    let contacts = json!({ "left": foot("left"), "right": foot("right") });
    place.write("contacts.json", contacts.to_string());
    place.done("plant walk.glb --ground slope --contacts contacts.json -o given.glb --report report.json");
    assert!(place.read("found.glb") == place.read("given.glb"), "{contacts}");
    let report: Value = serde_json::from_slice(&place.read("report.json")).unwrap();
    assert_eq!(report["contacts_given"], json!(["left", "right"]));
}

#[test]
fn other_contacts_are_obeyed() {
    let place = Place::with_walk("contacts_obeyed");
    place.done("plant walk.glb -o found.glb");
    let found = place.glb("found.glb");
    place
        .write("c.json", r#"{"left": {"heel": [[0.5, 0.7], [1.2, 1.5]], "ball": [[0.6, 0.8], [1.3, 1.6]]}}"#);
    place.done("plant walk.glb --contacts c.json -o out.glb --picture out.svg");
    let out = place.glb("out.glb");
    near(&stands(&out, "left", "heel"), &[[0.5, 0.7], [1.2, 1.5]]);
    near(&stands(&out, "left", "ball"), &[[0.6, 0.8], [1.3, 1.6]]);
    for point in ["heel", "ball"] {
        // Its contacts are the found ones. When a heel that lifts at their ends is still on the ground depends on the hips, and
        // so on the other foot.
        within(0.02, &stands(&out, "right", point), &stands(&found, "right", point));
    }
    assert_ne!(stands(&out, "left", "heel"), stands(&found, "left", "heel"));
    all_finite(&place.0.join("out.glb"));
    // One foot never stands, the other always.
    place.write("c.json", r#"{"left": {"heel": [], "ball": []}, "right": {"curve": [[0, 1]]}}"#);
    place.done("plant walk.glb --contacts c.json -o out.glb");
    let out = place.glb("out.glb");
    assert!(stands(&out, "left", "heel").is_empty() && stands(&out, "left", "ball").is_empty());
    assert_eq!(stands(&out, "right", "heel").len(), 1);
    all_finite(&place.0.join("out.glb"));
}

#[test]
fn a_rig_plants_with_the_same_settings() {
    let place = Place::new("contacts_rig");
    let mut glb = Glb::sample();
    let keys = [(0.0, [0.0; 3]), (1.0, [0.0, 1.0, 0.0]), (1.2, [0.0; 3])];
    add_curve(&mut glb, "contact_l", "LINEAR", &keys);
    add_curve(&mut glb, "still", "LINEAR", &[(0.0, [1.0; 3]), (1.0, [1.0; 3])]);
    place.write("walk.glb", glb.bytes());
    let rig = |settings: &str| place.write("rig.toml", format!("rig = 1\n[humanoid]\n{settings}\n"));
    let out = 10f32.to_radians();
    rig(&format!(
        "feet = {{ height = 0.02, toe_out = [{out:?}, 0] }}\ncontacts = {{ left = \"contact_l\" }}"
    ));
    place.done("bake walk.glb -q --rig rig.toml --ground rough -o baked.glb");
    place.done(
        "plant walk.glb -q --ground rough --sole-height 0.02 --yaw-left 10 --contacts left=contact_l -o planted.glb",
    );
    rig("");
    place.done("bake walk.glb -q --rig rig.toml --ground rough -o plain.glb");
    rig("feet = { slope = false }");
    place.done("bake walk.glb -q --rig rig.toml --ground rough -o level.glb");
    let [planted, baked, plain, level] =
        ["planted", "baked", "plain", "level"].map(|name| place.glb(&format!("{name}.glb")));
    let values = |glb: &Glb, joint: &str, path: &str| {
        let name = glb.json["animations"][1]["name"].as_str().unwrap().to_owned();
        glb.sampler(&name, joint, path).map(|(_, to)| glb.values(to)).unwrap()
    };
    for (joint, path) in [("hips", "translation"), ("thigh.L", "rotation"), ("foot.R", "rotation")] {
        let baked = values(&baked, joint, path);
        assert_eq!(baked, values(&planted, joint, path), "{joint}");
        assert_ne!(baked, values(&plain, joint, path), "{joint}");
    }
    assert_ne!(values(&level, "foot.L", "rotation"), values(&plain, "foot.L", "rotation"));
    rig("contacts = { right = \"still\" }");
    says(
        &place.failed("bake walk.glb -q --rig rig.toml --ground rough -o x.glb"),
        &["rig.toml: `contacts`: the translation of `still` is constant in `walk`"],
    );
}

#[test]
fn nodes_carry_curves() {
    let place = Place::new("contacts_nodes");
    let mut glb = Glb::sample();
    add_curve(
        &mut glb,
        "contact_l",
        "LINEAR",
        &[(0.0, [9.0, 0.0, 0.0]), (1.0, [8.0, 1.0, 0.0]), (1.2, [7.0, 0.0, 0.0])],
    );
    // y is constant, so that x counts. It jumps up at 0.4 s and down at 1 s.
    add_curve(
        &mut glb,
        "contact,r",
        "STEP",
        &[(0.0, [0.0, 2.0, 0.0]), (0.4, [1.0, 2.0, 0.0]), (1.0, [0.0, 2.0, 0.0])],
    );
    add_curve(&mut glb, "still", "LINEAR", &[(0.0, [1.0; 3]), (1.0, [1.0; 3])]);
    place.write("walk.glb", glb.bytes());
    place.done("plant walk.glb --contacts left=contact_l,right=contact,r -o out.glb");
    let out = place.glb("out.glb");
    for point in ["heel", "ball"] {
        near(&stands(&out, "left", point), &[[0.5, 1.1]]);
        near(&stands(&out, "right", point), &[[0.4, 1.0]]);
    }
    let failed = |nodes: &str| place.failed(&format!("plant walk.glb --contacts {nodes} -o new.glb"));
    says(
        &failed("left=contact_k"),
        &["--contacts left=", "no joint `contact_k`", "did you mean `contact_l`"],
    );
    says(&failed("right=still"), &["--contacts right=", "the translation of `still` is constant in `walk`"]);
    says(&failed("right=shin.L"), &["`walk` does not move `shin.L`"]);
    let bvh = "HIERARCHY\nROOT hips\n{\nOFFSET 0 1 0\nCHANNELS 1 Yposition\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n\
               MOTION\nFrames: 2\nFrame Time: 0.1\n0\n1\n";
    place.write("walk.bvh", bvh);
    let error = place.failed("plant walk.bvh --contacts left=hips -o new.glb");
    says(&error, &["--contacts left=", "a .bvh needs a .json file"]);
}

#[test]
fn files_that_cannot_be_meant() {
    let place = Place::with_walk("contacts_bad");
    let line = "plant walk.glb --contacts bad.json -o out.glb";
    says(&place.failed(line), &["bad.json"]);
    for (text, words) in [
        ("{", &["bad.json: not JSON", "line 1"][..]),
        ("{}", &["`left` or `right`"]),
        (r#"{"lef": {"curve": [[0, 1]]}}"#, &["`lef` is not a key", "did you mean `left`?"]),
        (r#"{"left": {"heel": [[0, NaN]], "ball": []}}"#, &["not JSON"]),
        (r#"{"left": {"heel": [[0, 1e99]], "ball": []}}"#, &["left.heel[0][1]", "1e+99"]),
        (r#"{"left": {"heel": [[0.5, 0.2]], "ball": []}}"#, &["left.heel[0]: from 0.5 s to 0.2 s"]),
        (
            r#"{"right": {"heel": [], "ball": [[0, 0.5], [0.4, 1]]}}"#,
            &["right.ball[1]", "starts at 0.4 s", "end of the previous contact at 0.5 s"],
        ),
        (
            r#"{"right": {"heel": [], "ball": [[40, 60]]}}"#,
            &["right.ball[0]", "from 40 s to 60 s", "outside the clip"],
        ),
        (r#"{"left": {"curve": [[0, 1], [1, 0], [0.5, 1]]}}"#, &["left.curve[2]", "0.5 s"]),
    ] {
        place.write("bad.json", text);
        says(&place.failed(line), words);
    }
    place.write("good.json", r#"{"left": {"heel": [], "ball": []}}"#);
    says(
        &place.refused("plant walk.glb --contacts good.json -o out.glb --report good.json"),
        &["would overwrite"],
    );
    says(
        &place.refused("plant walk.glb --contacts walk.txt -o out.glb"),
        &["walk.txt", ".json file", "left=NODE"],
    );
    says(&place.refused("plant walk.glb --contacts left= -o out.glb"), &["left=", "name of a node"]);
}

#[test]
fn a_report_has_every_measure_before_and_after() {
    let place = Place::with_walk("contacts_measures");
    place.done("plant walk.glb --ground stairs -o out.glb --report report.json");
    let report: Value = serde_json::from_slice(&place.read("report.json")).unwrap();
    for clip in ["before", "after"] {
        let measure = |name: &str| report[clip][name].as_f64().unwrap_or_else(|| panic!("{clip}: no {name}"));
        let [deepest, most] = ["deepest_penetration_m", "penetration_99_m"].map(measure);
        assert!(0.0 <= most && most <= deepest, "{clip}: {most} of {deepest}");
        let [largest, mean] = ["largest_gap_m", "mean_gap_m"].map(measure);
        assert!(0.0 <= mean && mean <= largest, "{clip}: {mean} of {largest}");
        assert!(measure("mean_slide_m_per_s") >= 0.0);
        // The walk bends its knees by half a radian and more in a fifth of a second.
        let speed = measure("largest_knee_speed_rad_per_s");
        assert!((2.0..50.0).contains(&speed), "{clip}: {speed}");
        assert!(measure("largest_knee_acceleration_rad_per_s2") > 0.0);
    }
    let deep = |clip: &str| report[clip]["penetration_99_m"].as_f64().unwrap();
    assert!(deep("before") > 0.5 && deep("after") < 0.005, "{report}");
}
