//! `sinew plant` measures its result: a contact that the legs do not hold is not called planted, and if most are not held,
//! nothing is written. Written files are checked by the joints' positions, on a level ground.

mod plant_support;

use std::fmt::Write;

use serde_json::{Value, json};
use sinew::{Pose, glam::Vec3};
use sinew_files::{Model, ReadOptions};

use plant_support::{Glb, Place, says};

/// Mean speed of a joint (m/s) and its maximum height above its lowest in the whole clip (m), in the middle half of an
/// interval of a written clip.
fn middle_half(model: &Model, clip: &str, joint: &str, [from, to]: [f64; 2]) -> (f32, f32) {
    let clip = model.clips.iter().find(|c| c.name() == clip).unwrap();
    let joint = model.skeleton.find(joint).unwrap();
    let mut pose = Pose::rest(&model.skeleton);
    let mut at = |time: f32| -> Vec3 {
        clip.sample(time, &mut pose);
        pose.update();
        pose.position(joint)
    };
    let times = |from: f32, to: f32| (0..=200).map(move |i| from + (to - from) * i as f32 / 200.0);
    let lowest = times(clip.start(), clip.end()).map(|t| at(t).y).fold(f32::INFINITY, f32::min);
    let quarter = 0.25 * (to - from);
    let places: Vec<Vec3> = times((from + quarter) as f32, (to - quarter) as f32).map(&mut at).collect();
    let way: f32 = places.windows(2).map(|w| w[0].distance(w[1])).sum();
    let highest = places.iter().map(|p| p.y).fold(0.0, f32::max);
    (way / (2.0 * quarter) as f32, highest - lowest)
}

fn spans<'a>(list: &'a Value, foot: &'a str, point: &'a str) -> impl Iterator<Item = [f64; 2]> + 'a {
    let these = move |p: &&Value| p["foot"] == foot && p["point"] == point;
    let time = |p: &Value| ["from", "to"].map(|end| p[end].as_f64().unwrap());
    list.as_array().unwrap().iter().filter(these).map(time)
}

#[test]
fn a_contact_that_no_leg_holds_is_not_called_planted() {
    let place = Place::with_walk("held_part");
    let keys = Glb::sample().tracks("walk").into_iter().flat_map(|track| track.2);
    let end = keys.fold(0.0, f32::max);
    // The left foot is given a contact through four metres of walk.
    let all = json!([[0.0, end]]);
    place.write("contacts.json", json!({ "left": { "heel": all, "ball": all } }).to_string());
    let line = "plant walk.glb --ground flat --contacts contacts.json -o out.glb --report report.json";
    let told = place.done(line);
    says(&told, &["not planted: left heel", "not planted: left ball"]);
    assert!(!told.contains("100 % of the time"), "{told}");

    let note = place.glb("out.glb").animation("walk (planted)")["extras"]["sinew"].clone();
    let model = Model::read(&place.0.join("out.glb"), &ReadOptions::default()).unwrap();
    assert_eq!(spans(&note["plants"], "left", "ball").count(), 0, "{note}");
    for span in spans(&note["unplanted"], "left", "ball") {
        let (speed, height) = middle_half(&model, "walk (planted)", "toes.L", span);
        assert!(speed > 0.1 || height > 0.03, "{span:?}: {speed} m/s, {height} m");
    }
    assert!(spans(&note["plants"], "right", "ball").count() > 3, "{note}");
    for span in spans(&note["plants"], "right", "ball") {
        let (speed, height) = middle_half(&model, "walk (planted)", "toes.R", span);
        assert!(speed < 0.1 && height < 0.03, "{span:?}: {speed} m/s, {height} m");
    }

    let report: Value = serde_json::from_slice(&place.read("report.json")).unwrap();
    let unplanted = report["unplanted"].as_array().unwrap();
    let reasons: Vec<&str> = unplanted.iter().map(|u| u["reason"].as_str().unwrap()).collect();
    assert_eq!(unplanted.len(), note["unplanted"].as_array().unwrap().len());
    let measured = |r: &&str| {
        ["m above the ground", "slides by", "while in contact"].iter().any(|reason| r.contains(reason))
    };
    assert!(!reasons.is_empty() && reasons.iter().all(measured), "{reasons:?}");
    assert!(report["contacts_planted"].as_f64().unwrap() < 0.8, "{report}");
}

/// A machine whose feet are not part of its legs: they step below it, while stiff legs that end above the ground move along
/// with the body. The legs' ends are slow enough to count as standing, for eight metres.
fn glider() -> String {
    let mut text =
        "HIERARCHY\nROOT Machine\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n".to_string();
    let turns = "CHANNELS 3 Zrotation Xrotation Yrotation";
    let moves = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation";
    write!(text, "JOINT Body\n{{\nOFFSET 0 0.8 0\n{moves}\n").unwrap();
    write!(text, "JOINT Head\n{{\nOFFSET 0 0.8 0\n{turns}\nEnd Site\n{{\nOFFSET 0 0.1 0\n}}\n}}\n").unwrap();
    for (side, x) in [("L", 0.1), ("R", -0.1)] {
        write!(
            text,
            "JOINT UpperLeg{side}\n{{\nOFFSET {x} 0 0\n{turns}\nJOINT LowerLeg{side}\n{{\nOFFSET 0 -0.3 0\n{turns}\n\
             JOINT LowerLegEnd{side}\n{{\nOFFSET 0 -0.25 0\n{turns}\nJOINT Toe{side}\n{{\nOFFSET 0 -0.05 0.12\n{turns}\n\
             End Site\n{{\nOFFSET 0 0 0.05\n}}\n}}\n}}\n}}\n}}\n"
        )
        .unwrap();
    }
    text += "}\n";
    for (side, x) in [("L", 0.1), ("R", -0.1)] {
        write!(
            text,
            "JOINT Foot{side}\n{{\nOFFSET {x} 0.05 0\n{moves}\nEnd Site\n{{\nOFFSET 0 0 0.1\n}}\n}}\n"
        )
        .unwrap();
    }
    // 40 s at 10 frames per second and 0.2 m/s.
    const FRAMES: usize = 401;
    write!(text, "}}\nMOTION\nFrames: {FRAMES}\nFrame Time: 0.1\n").unwrap();
    let zeros = |n: usize| "0 ".repeat(n);
    for frame in 0..FRAMES {
        let time = 0.1 * frame as f64;
        let z = 0.2 * time;
        // Alternating steps of 40 cm.
        let foot = |begin: f64| 0.4 * (0.5 * time + begin).floor();
        write!(text, "{}0 0.8 {z} {}{}", zeros(3), zeros(3), zeros(3 + 2 * 12)).unwrap();
        for (x, begin) in [(0.1, 0.0), (-0.1, 0.5)] {
            write!(text, "{x} 0.05 {} {}", foot(begin), zeros(3)).unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn feet_outside_the_legs_are_an_error() {
    let place = Place::new("held_not");
    place.write("glider.bvh", glider());
    let line = "plant glider.bvh --feet LowerLegEndL,LowerLegEndR --ground flat";
    for ground in ["flat", "stairs"] {
        let error = place.failed(&line.replace("flat", ground).replace("plant", "plant -o out.glb"));
        says(
            &error,
            &[
                "0 % of the time in contact",
                "from 0.00 to",
                "while in contact",
                "nothing is written",
                "--feet",
            ],
        );
    }
    // With an influence below 1, feet are meant to stay off the ground.
    for weight in ["0.5", "0"] {
        let told = place.done(&format!("{line} --weight {weight} -o out.glb"));
        assert!(weight == "0.5" || !told.contains("100 %"), "{told}");
    }
}
