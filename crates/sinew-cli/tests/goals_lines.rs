//! Files of goals with bad lines: each bad line is answered by its error in its position, and all others are solved.

mod common;

use common::{number, parse, sinew, write};
use serde_json::Value;
use sinew_files::sample;

fn model(test: &str) -> String {
    let path = write(test, "mannequin.glb", "");
    sample::document().unwrap().write(path.as_ref()).unwrap();
    path
}

/// A valid line.
const SOUND: &str = r#"{"id":"sound","goals":[{"joint":"head","position":[0,1.5,0.1]},{"joint":"hand.L","position":[0.3,1.1,0.3]},{"joint":"hand.R","position":[-0.3,1.1,0.3]}],"root":"spring"}"#;

/// Bad lines, each with a part of its error.
const BAD: [(&str, &str); 33] = [
    (
        r#"{"id":1,"goals":[{"joint":"nobody","position":[0,1,0]},{"joint":"head","position":[0,1,0]}]}"#,
        "no joint `nobody`",
    ),
    (
        r##"{"id":1,"goals":[{"joint":"#9999","position":[0,1,0]},{"joint":"head","position":[0,1,0]}]}"##,
        "#9999",
    ),
    (r#"{"id":1,"goals":[{"joint":"","position":[0,1,0]}]}"#, "no joint ``"),
    (r#"{"id":1,"goals":[{"joint":"head\u0000","position":[0,1,0]}]}"#, "no joint"),
    (r#"{"id":1,"goals":[{"joint":7,"position":[0,1,0]}]}"#, "goals[0].joint must be a string, not 7"),
    (
        r#"{"id":1,"goals":[{"joint":"head","position":[0,1,0]},{"joint":"head","position":[0,2,0]}]}"#,
        "both lead",
    ),
    (
        r#"{"id":1,"goals":[{"joint":"head","rotation":[0,0,0,1]},{"joint":"head","rotation":[1,0,0,0]}]}"#,
        "both lead",
    ),
    (
        r#"{"id":1,"goals":[{"joint":"head","position":[0,1,0],"relative_to":"head"}]}"#,
        "is relative to that joint itself",
    ),
    (r#"{"id":1,"goals":[{"joint":"head","position":[0,1,0],"relative_to":"nobody"}]}"#, "no joint `nobody`"),
    (r#"{"id":1,"goals":[{"joint":"head","position":[NaN,1,0]}]}"#, "not JSON"),
    (r#"{"id":1,"goals":[{"joint":"head","position":[null,1,0]}]}"#, "goals[0].position[0] must be a number"),
    (
        r#"{"id":1,"goals":[{"joint":"head","position":["NaN",1,0]}]}"#,
        "goals[0].position[0] must be a number",
    ),
    (
        r#"{"id":1,"goals":[{"joint":"head","position":[1e999,1,0]},{"joint":"hand.L","position":[0,1,0]}]}"#,
        "not finite",
    ),
    (
        r#"{"id":1,"goals":[{"joint":"head","position":[1e30,1,0]},{"joint":"hand.L","position":[0,1,0]}]}"#,
        "out of range",
    ),
    (r#"{"id":1,"goals":[{"joint":"head","position":[0,1,0],"pole":[0,0,1e30]}]}"#, "out of range"),
    (r#"{"id":1,"goals":[{"joint":"head","rotation":[0,0,0,0]}]}"#, "quaternion of zeros"),
    (r#"{"id":1,"goals":[{"joint":"head","position":[0,1]}]}"#, "a list of 3 numbers"),
    (r#"{"id":1,"goals":[{"joint":"head"}]}"#, "goals[0] needs a position, a rotation or a curve"),
    (r#"{"id":1,"goals":[{"joint":"head","position":[0,1,0],"position_weight":-1}]}"#, "from 0 to 1"),
    (r#"{"id":1,"goals":[{"joint":"head","position":[0,1,0],"position_influence":1.5}]}"#, "from 0 to 1"),
    (
        r#"{"id":1,"goals":[{"joint":"head","position":[0,1,0],"rotation_influence":"x"}]}"#,
        "must be a number",
    ),
    (
        r#"{"id":1,"goals":[{"joint":"head","position":[0,1,0],"priority":2.5}]}"#,
        "priority must be 0, 1 or 2",
    ),
    (r#"{"id":1,"goals":[{"joint":"head","position":[0,1,0],"weight":1}]}"#, "goals[0].weight is not a key"),
    (r#"{"id":1,"goals":[{"joint":"head","position":[0,1,0]}],"root":"sprung"}"#, "root must be"),
    (r#"{"id":1,"goals":[]}"#, "goals is empty"),
    (r#"{"id":1,"goals":{}}"#, "goals must be a list"),
    (r#"{"id":1,"goals":[null]}"#, "goals[0] must be an object"),
    (
        r#"{"id":1,"start_rotations":{"head":[0,0,0,0]},"goals":[{"joint":"head","position":[0,1,0]}]}"#,
        "quaternion of zeros",
    ),
    (
        r#"{"id":1,"start_translations":{"hips":[1e30,0,0]},"goals":[{"joint":"head","position":[0,1,0]}]}"#,
        "out of range",
    ),
    (r#"{"id":1,"start":{"head":1},"goals":[{"joint":"head","position":[0,1,0]}]}"#, "start: joint `head`"),
    (r#"{"id":1,"goals":[{"joint":"head","curve":[[0,0,0],[0,1,0]]}]}"#, "curve"),
    ("null", "a line must be an object"),
    ("{\"goals\": [", "not JSON"),
];

#[test]
fn bad_lines_are_answered_in_their_place() {
    let model = model("bad");
    // Each bad line is between two valid ones, with empty lines, which are skipped, and one line that is no UTF-8.
    let mut text: Vec<u8> = format!("{SOUND}\n\n").into_bytes();
    for (line, _) in BAD {
        text.extend(format!("{line}\n  \t\r\n{SOUND}\r\n").bytes());
    }
    text.extend(b"\xff\xfe\n");
    text.extend("[".repeat(100_000).bytes());
    text.extend(b"\n");
    let goals = write("bad", "goals.jsonl", "");
    std::fs::write(&goals, &text).unwrap();
    let mut sound = Vec::new();
    for more in [&[][..], &["--human"], &["--solver", "full-body"]] {
        let args: Vec<&str> = ["solve", &model, "--goals", &goals].iter().chain(more).copied().collect();
        let out = sinew(&args, "");
        assert_eq!(out.status.code(), Some(1), "{more:?}");
        let said = String::from_utf8(out.stderr).unwrap();
        assert!(said.contains("goals.jsonl:3: no joint `nobody`"), "{said}");
        assert!(said.contains(&format!("({} of {} goals", BAD.len() + 2, 2 * BAD.len() + 3)), "{said}");
        let answers: Vec<Value> = String::from_utf8(out.stdout).unwrap().lines().map(parse).collect();
        assert_eq!(answers.len(), 2 * BAD.len() + 3, "{more:?}");
        for (i, (line, what)) in BAD.iter().enumerate() {
            let (bad, good) = (&answers[1 + 2 * i], &answers[2 + 2 * i]);
            let error = bad["error"].as_str().unwrap_or_default();
            assert!(error.contains(what), "{more:?}: {line}: {bad}");
            let id = if line.starts_with("{\"id\":1") && !error.contains("not JSON") {
                1.into()
            } else {
                Value::Null
            };
            assert_eq!(bad["id"], id, "{line}: {bad}");
            assert_eq!(
                (good, &good["status"]),
                (&answers[0], &Value::from("reached")),
                "{more:?} after {line}"
            );
        }
        assert!(answers[2 * BAD.len() + 1]["error"].as_str().unwrap().contains("not UTF-8"));
        assert!(answers[2 * BAD.len() + 2]["error"].as_str().unwrap().contains("recursion"));
        sound.push(answers[0].clone());
    }
    // Without --solver, the same solver is chosen.
    assert_eq!(sound[0], sound[2]);
}

#[test]
fn wild_but_sound_lines_are_solved_with_finite_numbers() {
    let model = model("wild");
    let many: Vec<String> =
        (0..20).map(|i| format!(r##"{{"joint":"#{i}","position":[0.3,1,{i}]}}"##)).collect();
    let lines = [
        r#"{"goals":[{"joint":"head","position":[1e17,0,0]},{"joint":"hand.L","position":[-1e17,0,0]}]}"#.to_string(),
        r#"{"goals":[{"joint":"hand.L","position":[0,1,0],"relative_to":"hand.R"},{"joint":"hand.R","position":[0,5,0],"relative_to":"hand.L"}]}"#.to_string(),
        r#"{"goals":[{"joint":"foot.L","position":[9,9,9]},{"joint":"head","position":[-9,1,0]},{"joint":"hand.R","position":[0,0,9]}],"root":"spring"}"#.to_string(),
        r#"{"goals":[{"joint":"head","rotation":[1e200,0,0,1e200]},{"joint":"hand.L","rotation":[1e-200,0,0,0]}]}"#.to_string(),
        r#"{"start_rotations":{"head":[1e-310,0,0,1e-310]},"goals":[{"joint":"head","position":[0,1,0]},{"joint":"hand.L","position":[0,1,0]}]}"#.to_string(),
        r#"{"start_translations":{"hips":[1e16,0,0]},"goals":[{"joint":"head","position":[0,1,0]},{"joint":"hand.L","position":[0,1,0]}]}"#.to_string(),
        format!(r#"{{"goals":[{}],"root":"free"}}"#, many[1..].join(",")),
    ];
    for more in [&[][..], &["--human"]] {
        let args: Vec<&str> = ["solve", &model, "--goals", "-"].iter().chain(more).copied().collect();
        let out = sinew(&args, &format!("{}\n", lines.join("\n")));
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        let answers: Vec<Value> = String::from_utf8(out.stdout).unwrap().lines().map(parse).collect();
        assert_eq!(answers.len(), lines.len());
        for (line, answer) in lines.iter().zip(&answers) {
            for (name, rotation) in answer["rotations"].as_object().unwrap() {
                // A number that is not finite would be written as null.
                let length: f64 = rotation.as_array().unwrap().iter().map(|c| number(c).powi(2)).sum();
                assert!((length - 1.0).abs() < 1e-5, "{more:?}: {line}: {name} {rotation}");
            }
            assert!(number(&answer["position_error"]) >= 0.0 && number(&answer["rotation_error"]) >= 0.0);
        }
    }
}

/// For a single goal, any weight above 0 gives the same answer; an influence applies a share of the goal.
#[test]
fn weights_compete_and_influences_apply() {
    let model = model("influence");
    let goal = |more: &str| format!(r#"{{"goals":[{{"joint":"hand.L","position":[0.3,1.3,0.35]{more}}}]}}"#);
    let weights = [r#","position_weight":1"#, r#","position_weight":0.25"#];
    let influences = [r#","position_influence":0.5"#, r#","position_influence":0"#];
    let lines = [weights, influences].concat().iter().map(|more| goal(more) + "\n").collect::<String>();
    for more in [&[][..], &["--solver", "full-body"], &["--solver", "two-bone"]] {
        let args: Vec<&str> = ["solve", &model, "--goals", "-"].iter().chain(more).copied().collect();
        let out = sinew(&args, &lines);
        let answers: Vec<_> = String::from_utf8(out.stdout).unwrap().lines().map(parse).collect();
        let [full, light, half, none] = &answers[..] else { panic!("{answers:?}") };
        assert_eq!(full, light, "{more:?}");
        // Alone, a full body for this goal begins at the forearm, and is too short.
        assert!(more.contains(&"full-body") || full["status"] == "reached", "{more:?}: {full}");
        assert_ne!(full["rotations"], half["rotations"], "{more:?}");
        assert!(number(&half["position_error"]) > 1e-2, "{more:?}: {half}");
        assert_eq!((number(&none["position_error"]), number(&none["iterations"])), (0.0, 0.0), "{none}");
    }
    // If goals compete, the one of larger weight has the smaller residual.
    let line = r#"{"goals":[{"joint":"hand.L","position":[3,1.3,0.3],"position_weight":0.1},{"joint":"hand.R","position":[-3,1.3,0.3]}]}
{"goals":[{"joint":"hand.L","position":[3,1.3,0.3]},{"joint":"hand.R","position":[-3,1.3,0.3],"position_weight":0.1}]}"#;
    let out = sinew(&["solve", &model, "--goals", "-", "--solver", "full-body"], &format!("{line}\n"));
    let answers: Vec<_> = String::from_utf8(out.stdout).unwrap().lines().map(parse).collect();
    assert_ne!(answers[0]["rotations"], answers[1]["rotations"]);
}

#[test]
fn goals_without_weight_ask_for_nothing_and_miss_nothing() {
    let model = model("weight");
    let lines = [
        r#"{"goals":[{"joint":"head","position":[0,9,0],"position_weight":0}]}"#,
        r#"{"goals":[{"joint":"head","position":[0,9,0],"position_weight":0,"rotation":[1,0,0,0],"rotation_weight":0},{"joint":"hand.L","position":[9,9,9],"position_weight":0}]}"#,
        r#"{"goals":[{"joint":"head","position":[0,9,0],"position_influence":0,"rotation":[1,0,0,0],"rotation_influence":0},{"joint":"hand.L","position":[9,9,9],"position_influence":0}]}"#,
    ];
    for more in
        [&[][..], &["--human"], &["--solver", "full-body"], &["--solver", "fabrik"], &["--solver", "ccd"]]
    {
        let args: Vec<&str> = ["solve", &model, "--goals", "-"].iter().chain(more).copied().collect();
        // FABRIK does not rotate the tip.
        let lines = if more.last() == Some(&"fabrik") { &lines[..1] } else { &lines[..] };
        let out = sinew(&args, &format!("{}\n", lines.join("\n")));
        for answer in String::from_utf8(out.stdout).unwrap().lines().map(parse) {
            assert_eq!(
                (&answer["status"], number(&answer["position_error"])),
                (&"reached".into(), 0.0),
                "{more:?}: {answer}"
            );
            assert_eq!(number(&answer["rotation_error"]), 0.0, "{more:?}: {answer}");
        }
    }
}

#[test]
fn thousands_of_lines_are_answered_in_order_and_alike() {
    let model = model("many");
    let lines: String = (0..6000)
        .map(|i| match i % 7 {
            6 => format!("{{\"id\":{i},\"goals\":[{{\"joint\":\"none\",\"position\":[0,1,0]}}]}}\n"),
            k => format!(
                "{{\"id\":{i},\"goals\":[{{\"joint\":\"head\",\"position\":[0.0{k},1.5,0]}},{{\"joint\":\"hand.R\",\"position\":[-0.3,1.{k},0.2]}}]}}\n"
            ),
        })
        .collect();
    let run = |threads: &str| {
        let out = sinew(&["solve", &model, "--goals", "-", "--human", "--threads", threads], &lines);
        assert_eq!(out.status.code(), Some(1));
        String::from_utf8(out.stdout).unwrap()
    };
    let (one, four) = (run("1"), run("4"));
    assert!(one == four, "threads make a difference");
    let answers: Vec<Value> = one.lines().map(parse).collect();
    assert_eq!(answers.len(), 6000);
    for (i, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], i);
        assert_eq!(answer.get("error").is_some(), i % 7 == 6);
        if i >= 7 && i % 7 != 6 {
            assert_eq!(answer["rotations"], answers[i - 7]["rotations"]);
        }
    }
}

/// A tolerance out of f32's range becomes the nearest f32, for whole figures as for chains.
#[test]
fn tolerances_are_taken_alike_by_chains_and_whole_figures() {
    let model = model("tolerances");
    let line = r#"{"goals":[{"joint":"hand.L","position":[0.3,1.1,0.3]}]}"#;
    for solver in ["auto", "full-body"] {
        let near = ["--position-tolerance", "1e39", "--rotation-tolerance", "1e39"];
        let out = sinew(&[&["solve", &model, "--goals", "-", "--solver", solver], &near[..]].concat(), line);
        let answer = parse(&String::from_utf8(out.stdout).unwrap());
        assert_eq!(answer["status"], "reached", "{solver}: {answer}");
    }
}
