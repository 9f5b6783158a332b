//! `sinew plant` with files, grounds and outputs that cannot be used: one line, exit code 1, and all files unchanged.

mod plant_support;

use std::fs;

use serde_json::{Value, json};

use plant_support::{Glb, Place, all_finite, says, stairs};

/// A folder with the sample and a level floor.
fn place(name: &str) -> Place {
    let place = Place::with_walk(name);
    place.write("floor.obj", "v -9 0 -9\nv -9 0 9\nv 9 0 9\nv 9 0 -9\nf 1 2 3 4\n");
    place
}

#[test]
fn outputs_that_cannot_be_written_or_meant() {
    let place = place("outputs");
    fs::create_dir(place.0.join("dir.glb")).unwrap();
    fs::create_dir(place.0.join("dir.png")).unwrap();
    says(&place.failed("plant walk.glb -o nowhere/out.glb"), &["nowhere/out.glb", "no folder nowhere"]);
    says(&place.failed("plant walk.glb -o out.glb --report nowhere/r.json"), &["nowhere/r.json"]);
    // An error of one output is found before another is written.
    says(&place.failed("plant walk.glb -o dir.glb"), &["dir.glb", "folder"]);
    says(&place.failed("plant walk.glb -o out.glb --picture dir.png"), &["dir.png", "folder"]);
    says(&place.failed("draw walk.glb -o dir.png"), &["dir.png", "directory"]);
    says(&place.refused("plant walk.glb -o out.glb --report ./out.glb"), &["two outputs"]);
    says(&place.refused("plant walk.glb -o out.glb --report walk.glb"), &["walk.glb", "would overwrite"]);
    place.write("ground.glb", Glb::sample().bytes());
    says(&place.refused("plant walk.glb --ground ground.glb -o ./ground.glb"), &["would overwrite"]);
    says(&place.refused("plant walk.glb -o out.bvh"), &["from a BVH"]);
}

#[cfg(unix)]
#[test]
fn links_as_outputs_stand_for_what_they_lead_to() {
    use std::os::unix::fs::symlink;
    let place = place("links");
    // None of these files exists yet.
    symlink("made.glb", place.0.join("link.glb")).unwrap();
    symlink("made.glb", place.0.join("link.json")).unwrap();
    symlink("link.glb", place.0.join("again.json")).unwrap();
    for report in ["link.json", "again.json", "made.glb"] {
        let line = format!("plant walk.glb -o link.glb --report {report}");
        says(&place.refused(&line), &["two outputs"]);
    }
    symlink("nowhere/made.glb", place.0.join("astray.glb")).unwrap();
    says(&place.failed("plant walk.glb -o astray.glb"), &["astray.glb", "no folder"]);
    place.done("plant walk.glb -q -o link.glb");
    assert!(fs::symlink_metadata(place.0.join("link.glb")).unwrap().is_symlink());
    all_finite(&place.0.join("made.glb"));
}

#[test]
fn a_model_may_take_its_own_place() {
    let place = place("own");
    let given = Glb::sample();
    place.done("plant walk.glb -o walk.glb");
    let planted = place.glb("walk.glb");
    assert_eq!(planted.tracks("walk"), given.tracks("walk"));
    assert_eq!(planted.json["animations"][1]["name"], "walk (planted)");
    // The output holds its ground, which is no part of the figure and can be walked on.
    let height = |line: &str| -> f64 {
        place.done(&format!("{line} --report report.json"));
        let report: Value = serde_json::from_slice(&place.read("report.json")).unwrap();
        report["figure_m"].as_f64().unwrap()
    };
    let alone = height("plant -o sample.glb");
    let beside = height("plant walk.glb --clip walk --ground walk.glb -o again.glb --picture again.svg");
    assert!((alone - beside).abs() < 1e-4, "{alone} m alone, {beside} m beside its ground");
    all_finite(&place.0.join("again.glb"));
}

#[test]
fn grounds_that_are_none() {
    let place = place("grounds");
    says(&place.failed("plant walk.glb --ground none.obj -o out.glb"), &["none.obj"]);
    says(&place.failed("plant walk.glb --ground stiars -o out.glb"), &["stiars", ".glb, .gltf or .obj"]);
    for (text, words) in [
        ("", &["bad.obj", "at least one triangle"][..]),
        ("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", &["at least one triangle"]),
        ("v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 4\n", &["bad.obj:4", "vertex 4"]),
        ("v 0 0 0\nv nan 0 0\n", &["bad.obj:2", "nan"]),
        // A wall has an area, but cannot be stood on.
        ("v -9 0 1\nv 9 0 1\nv 9 9 1\nf 1 2 3\n", &["no ground under the walk"]),
    ] {
        place.write("bad.obj", text);
        says(&place.failed("plant walk.glb --ground bad.obj -o out.glb"), words);
    }
    for at in ["1000,0,0", "0,1e6,0"] {
        let line = format!("plant walk.glb --ground floor.obj --ground-at {at} -o out.glb");
        says(&place.failed(&line), &["no ground under the walk"]);
    }
    let line = "plant walk.glb --ground floor.obj --ground-scale 1e38 -o out.glb";
    says(&place.failed(line), &["ground", "not finite"]);
    // Options that do not apply to a built-in ground are errors.
    says(&place.refused("plant --ground-at 1000,0,0 -o out.glb"), &["--ground-at", "stairs"]);
    says(&place.refused("plant --ground-scale 2 -o out.glb"), &["--ground-scale"]);
    says(
        &place.refused("plant walk.glb --ground walk.glb --ground-up z -o out.glb"),
        &["--ground-up", ".obj"],
    );
}

#[test]
fn grounds_of_any_size_that_end_anywhere_give_finite_clips() {
    let place = place("sizes");
    place.write("half.obj", "v -9 0 -9\nv -9 0 2\nv 9 0 2\nv 9 0 -9\nf 1 2 3 4\n");
    place.write("steep.obj", "v -9 -90 -9\nv -9 90 9\nv 9 90 9\nv 9 -90 -9\nf 1 2 3 4\n");
    place.write("stairs.obj", stairs(|p| p));
    for line in [
        "--ground floor.obj --ground-scale 1e-6",
        "--ground floor.obj --ground-scale 1e6",
        "--ground floor.obj --ground-scale 1e30",
        "--ground floor.obj --ground-at 0,500,0",
        "--ground half.obj",
        "--ground steep.obj",
        "--ground stairs.obj --max-slope 0",
        "--ground stairs.obj --max-slope 90 --yaw-left 180 --yaw-right -180",
        "--ground stairs.obj --cast-above 0 --cast-below 1e-9",
        "--ground rough --max-slope 0 --sole-height 0.3",
        "--ground flat --repeat 50",
    ] {
        place.done(&format!("plant walk.glb {line} -o out.glb"));
        all_finite(&place.0.join("out.glb"));
    }
    let far = "plant walk.glb --cast-above 1e9 -o new.glb";
    says(&place.failed(far), &["--cast-above", "10 times the leg"]);
    says(&place.failed("plant walk.glb --sole-height 2 -o new.glb"), &["--sole-height", "the leg"]);
}

/// The error for the sample after a change.
#[track_caller]
fn changed(place: &Place, change: impl FnOnce(&mut Glb)) -> String {
    let mut glb = Glb::sample();
    change(&mut glb);
    place.write("bad.glb", glb.bytes());
    place.failed("plant bad.glb -o out.glb")
}

/// Replaces every track of the walk by two keys at these times.
fn two_keys(glb: &mut Glb, times: [f32; 2]) {
    let tracks = glb.json["animations"][0]["samplers"].as_array().unwrap().clone();
    for sampler in tracks {
        for accessor in [&sampler["input"], &sampler["output"]] {
            glb.json["accessors"][accessor.as_u64().unwrap() as usize]["count"] = json!(2);
        }
        let input = sampler["input"].as_u64().unwrap() as usize;
        (0..2).for_each(|i| glb.set(input, i, 0, times[i]));
    }
}

#[test]
fn clips_that_cannot_be_played() {
    let place = place("clips");
    says(&place.failed("plant walk.glb --clip wlak -o out.glb"), &["no clip `wlak`", "did you mean `walk`?"]);
    let line = "plant walk.glb --feet foot_l,foot.R -o out.glb";
    says(&place.failed(line), &["no joint `foot_l`", "`foot.L`"]);
    let error = changed(&place, |glb| {
        let (_, rotations) = glb.sampler("walk", "thigh.L", "rotation").unwrap();
        glb.set(rotations, 3, 1, f32::NAN);
    });
    says(&error, &["animations[0]", "`walk`", "`thigh.L`", "key 3 is not finite"]);
    let error = changed(&place, |glb| {
        for accessor in glb.json["accessors"].as_array_mut().unwrap() {
            // Key times are the only float scalars.
            if accessor["type"] == "SCALAR" && accessor["componentType"] == 5126 {
                accessor["count"] = json!(0);
            }
        }
    });
    says(&error, &["animations[0]", "`walk`"]);
    says(&changed(&place, |glb| glb.json["animations"] = json!([])), &["no clip to plant"]);
    says(&changed(&place, |glb| glb.json["skins"][0]["joints"] = json!([])), &["skins[0].joints"]);
    says(
        &changed(&place, |glb| glb.json["buffers"][0]["uri"] = json!("gone.bin")),
        &["buffers[0].uri", "gone.bin"],
    );
    // Two keys of 12 bytes must not become a billion frames.
    for times in [[0.0, 1e9], [0.0, 1e30], [-3e38, 3e38]] {
        says(&changed(&place, |glb| two_keys(glb, times)), &["too long to plant"]);
    }
    says(&changed(&place, |glb| two_keys(glb, [1.0, 0.5])), &["not after"]);
    let whole = Glb::sample().bytes();
    for cut in [0, 3, 19, 21, 1000, whole.len() / 2, whole.len() - 1] {
        place.write("bad.glb", &whole[..cut]);
        says(&place.failed("plant bad.glb -o out.glb"), &["bad.glb"]);
    }
}

#[test]
fn clips_of_odd_lengths_give_finite_clips() {
    let place = place("lengths");
    for times in [[0.0, 1e-30], [0.0, 0.001], [-5.0, -4.0], [1e9, 1e9 + 64.0], [0.0, 600.0]] {
        let mut glb = Glb::sample();
        two_keys(&mut glb, times);
        place.write("odd.glb", glb.bytes());
        place.done("plant odd.glb -o out.glb --picture out.svg");
        all_finite(&place.0.join("out.glb"));
    }
}

#[test]
fn scales_that_no_leg_can_have() {
    let place = place("shear");
    for joint in ["thigh.L", "shin.R", "hips"] {
        let error = changed(&place, |glb| {
            let node = glb.node(joint);
            glb.json["nodes"][node]["scale"] = json!([1, 2, 1]);
        });
        says(&error, &["must be uniform", joint]);
    }
    for size in [0.0, 1e-20, 1e20, 1e38] {
        changed(&place, |glb| glb.wrap(json!({"scale": [size, size, size]})));
    }
    // Toes are not part of the solved chain.
    let mut glb = Glb::sample();
    let node = glb.node("toes.L");
    glb.json["nodes"][node]["scale"] = json!([1, 2, 1]);
    place.write("toes.glb", glb.bytes());
    place.done("plant toes.glb -o out.glb");
    all_finite(&place.0.join("out.glb"));
}

#[test]
fn a_hierarchy_of_any_depth() {
    let place = Place::new("deep");
    let chain = |depth: usize, text: &str| -> String {
        "JOINT j\n{\nOFFSET 0 0.00001 0\nCHANNELS 0\n".repeat(depth) + text + &"}\n".repeat(depth)
    };
    let leg = |side: &str, x: f32| {
        let joint = |name: &str, [x, y, z]: [f32; 3], below: &str| {
            format!(
                "JOINT {side}{name}\n{{\nOFFSET {x} {y} {z}\nCHANNELS 3 Zrotation Xrotation Yrotation\n{below}}}\n"
            )
        };
        let toe = joint("ToeBase", [0., -0.05, 0.1], "End Site\n{\nOFFSET 0 0 0.1\n}\n");
        joint("UpLeg", [x, 0., 0.], &joint("Leg", [0., -0.4, 0.01], &joint("Foot", [0., -0.4, -0.01], &toe)))
    };
    let hips = format!(
        "JOINT Hips\n{{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n{}{}}}\n",
        leg("Left", 0.1),
        leg("Right", -0.1)
    );
    let root = "ROOT top\n{\nOFFSET 0 0 0\nCHANNELS 0\n";
    let frame = "0 ".repeat(3 + 8 * 3);
    let motion = format!("}}\nMOTION\nFrames: 3\nFrame Time: 0.5\n{frame}\n{frame}\n{frame}\n");
    place.write("deep.bvh", format!("HIERARCHY\n{root}{}{motion}", chain(100_000, &hips)));
    place.done("plant deep.bvh -o out.bvh");
    place.done("draw deep.bvh --clip deep -o out.svg");
    says(&place.failed("plant deep.bvh -o out.glb"), &["65,536"]);
    place.write("deep.bvh", format!("HIERARCHY\n{root}{}{motion}", chain(2_000, &hips)));
    place.done("plant deep.bvh -o out.glb");
    all_finite(&place.0.join("out.glb"));
}

#[test]
fn a_report_may_go_to_standard_output() {
    let place = Place::with_walk("report");
    place.done("plant walk.glb -o a.glb --report report.json --quiet");
    let mut written: Value = serde_json::from_slice(&place.read("report.json")).unwrap();
    let mut said: Value = serde_json::from_str(&place.done("plant walk.glb -o b.glb --report -")).unwrap();
    assert_eq!(place.read("a.glb"), place.read("b.glb"));
    assert!(!place.0.join("-").exists());
    // Durations differ from run to run.
    written["planting_s"].take();
    said["planting_s"].take();
    assert_eq!(said, written);
}
