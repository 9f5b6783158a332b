//! `info`, `solve`, `draw` and `reach` on a URDF.

mod common;

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::Value;
use sinew::draw::{ShapeRole, ShapeState, Theme};

use common::{done, failed, number, parse, sinew, write};

/// Three joints in the plane z = 0.2, of which the second slides, and a gripper with a mimic.
const ARM: &str = r#"<robot name="little">
  <link name="base"/> <link name="turret"/> <link name="boom"/> <link name="hand"/> <link name="left"/> <link name="right"/>
  <joint name="pan" type="revolute"><parent link="base"/><child link="turret"/><origin xyz="0 0 0.2"/>
    <axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="1" velocity="1.5"/></joint>
  <joint name="boom" type="prismatic"><parent link="turret"/><child link="boom"/>
    <axis xyz="1 0 0"/><limit lower="0.1" upper="0.6" effort="1" velocity="0.5"/></joint>
  <joint name="roll" type="continuous"><parent link="boom"/><child link="hand"/><origin xyz="0.1 0 0"/><axis xyz="1 0 0"/></joint>
  <joint name="left" type="prismatic"><parent link="hand"/><child link="left"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.04" effort="1" velocity="1"/></joint>
  <joint name="right" type="prismatic"><parent link="hand"/><child link="right"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.04" effort="1" velocity="1"/><mimic joint="left"/></joint>
</robot>"#;

#[test]
fn info_shows_joints_limits_and_links() {
    let arm = write("info", "little.urdf", ARM);
    let text = done(&["info", &arm]);
    let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "little (URDF): 6 links, 4 degrees of freedom",
        "#0 pan turns 0.0000 -2 to 2 rad 1.5 rad/s",
        "#1 boom slides 0.3500 0.1 to 0.6 m 0.5 m/s",
        "#2 roll turns freely 0.0000 no limits",
        "hand 0.4500 0.0000 0.2000",
    ] {
        assert!(squeezed.contains(line), "{line} is not in\n{text}");
    }
    let all = parse(&done(&["info", &arm, "--json"]));
    assert_eq!(
        (all["joints"][1]["name"].as_str(), all["links"][3]["parent"].as_u64()),
        (Some("boom"), Some(2))
    );
    assert!(all["joints"][2]["lower"].is_null());
    assert!(failed(&["info", &arm, "--scale", "2"], 2).contains("URDF is in metres"));
}

#[test]
fn a_single_goal_is_answered_as_text_and_as_json() {
    let arm = write("single", "little.urdf", ARM);
    let args = ["solve", &arm, "--chain", "base..hand", "--to", "0.3,0.4,0.2"];
    let text = done(&args);
    assert!(text.starts_with("little: base..hand, 3 joints\nreached: "), "{text}");
    let answer = parse(&done(&[&args[..], &["--json"]].concat()));
    assert_eq!(answer["status"], "reached");
    // tan(pan) = 4/3, and the boom reaches 0.5 with the hand's 0.1.
    assert!((number(&answer["joints"]["pan"]) - (4.0f64 / 3.0).atan()).abs() < 1e-5);
    assert!((number(&answer["joints"]["boom"]) - 0.4).abs() < 1e-5);
    assert!(number(&answer["position_error"]) <= 1e-6 && answer.get("micros").is_none());
    // A rotation of the hand, from a given start that is a turn away.
    let rolled = ["--rotation", "0.3826834,0,0,0.9238795", "--start", "roll=6.5", "--json", "--timing"];
    let answer = parse(&done(&[&args[..4], &["--to", "0.4,0,0.2"], &rolled].concat()));
    assert!((number(&answer["joints"]["roll"]) - 7.068583).abs() < 1e-5, "{answer}");
    assert!(number(&answer["micros"]) > 0.0);
    // A goal out of reach has an answer.
    let answer = parse(&done(&[&args[..4], &["--to", "2,0,0.2", "--json"]].concat()));
    assert_eq!(answer["status"], "unreachable");
    assert!(
        (number(&answer["position_error"]) - 1.3).abs() < 1e-6 && (number(&answer["by"]) - 1.3).abs() < 1e-6
    );
    assert_eq!(number(&answer["joints"]["boom"]), 0.6);
    // So has a solve with too few iterations.
    let answer = parse(&done(&[&args[..], &["--max-iterations", "1", "--json"]].concat()));
    assert_eq!(answer["status"], "out_of_iterations", "{answer}");
}

#[test]
fn lines_are_answered_in_order_the_same_on_any_number_of_threads() {
    let arm = write("lines", "little.urdf", ARM);
    let mut lines = String::new();
    for i in 0..300 {
        let (a, r) = (f64::from(i) * 0.013 - 1.9, 0.25 + f64::from(i) * 0.001);
        lines += &match i {
            20 => "{\"id\": 20, \"position\": [1, 2]}\n".into(),
            30 => "{\"id\": 30, \"position\": [0.3, 0, 0.2], \"start\": {\"pam\": 1}}\n".into(),
            40 => "nonsense\n\n".into(),
            50 => "{\"id\": 50, \"goals\": [{\"joint\": \"left\", \"position\": [0.4, 0.02, 0.2]}]}\n".into(),
            60 => "{\"id\": 60, \"goals\": [{\"joint\": \"foot\", \"position\": [0, 0, 0]}]}\n".into(),
            70 => "{\"id\": 70, \"position\": [0.3, 0, 0.2], \"pole\": [0, 0, 1]}\n".into(),
            80 => "{\"id\": 80, \"rotation\": [0, 0, 0, 0]}\n".into(),
            _ => format!("{{\"id\": {i}, \"position\": [{}, {}, 0.2]}}\n", r * a.cos(), r * a.sin()),
        };
    }
    let goals = write("lines", "goals.jsonl", &lines);
    let args = ["solve", arm.as_str(), "--chain", "base..hand", "--goals"];
    let run = |more: &[&str], input: &str| {
        let out = sinew(&[&args[..], more].concat(), input);
        assert_eq!(out.status.code(), Some(1));
        (String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap())
    };
    let (one, stderr) = run(&[&goals, "--threads", "1"], "");
    let (four, _) = run(&[&goals, "--threads", "4"], "");
    let (piped, _) = run(&["-"], &lines);
    assert_eq!(one, four);
    assert_eq!(one, piped);
    assert_eq!(stderr.lines().count(), 1);
    let first = "goals.jsonl:21: position must be a list of 3 numbers, not [1,2] (6 of 300 goals could not be solved)";
    assert!(stderr.trim_end().ends_with(first), "{stderr}");
    let answers: Vec<Value> = one.lines().map(parse).collect();
    assert_eq!(answers.len(), 300);
    for (i, answer) in answers.iter().enumerate() {
        match i {
            40 => {
                assert!(answer["id"].is_null());
                assert!(answer["error"].as_str().unwrap().starts_with("line 41: not JSON"));
            }
            20 | 30 | 60 | 70 | 80 => assert!(answer["error"].is_string(), "{answer}"),
            _ => assert_eq!(answer["status"], "reached", "{answer}"),
        }
        assert!(i == 40 || answer["id"] == i);
    }
    // Line numbers count the empty line.
    assert_eq!(answers[30]["error"], "line 31: no joint `pam`; did you mean `pan`?");
    assert!(answers[60]["error"].as_str().unwrap().starts_with("line 62: no link `foot`; "));
    assert_eq!(answers[50]["joints"].as_object().unwrap().len(), 4);
    // A file gets the same answers.
    let out = PathBuf::from(&goals).with_file_name("answers.jsonl");
    let _ = fs::remove_file(&out);
    let (stdout, _) = run(&[&goals, "-o", out.to_str().unwrap()], "");
    assert!(stdout.is_empty());
    assert_eq!(fs::read_to_string(&out).unwrap(), one);
}

#[test]
fn an_asker_may_wait_for_each_answer() {
    use std::io::{BufRead, BufReader};
    let arm = write("wait", "little.urdf", ARM);
    let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["solve", &arm, "--chain", "base..hand", "--goals", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ask = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for i in 0..3 {
        writeln!(ask, "{{\"id\": {i}, \"position\": [0.4, 0.0{i}, 0.2]}}").unwrap();
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        assert_eq!(parse(&line)["id"], i);
    }
    drop(ask);
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_cannot_be_meant_is_told() {
    let arm = write("wrong", "little.urdf", ARM);
    fn solve<'a>(arm: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["solve", arm], more].concat()
    }
    let arm = arm.as_str();
    let line = failed(&solve(arm, &["--to", "0,0,0"]), 1);
    assert!(
        line.contains("the arm has several ends (`left` or `right`): --chain ROOT..TIP selects one"),
        "{line}"
    );
    let line = failed(&solve(arm, &["--chain", "base..hnad", "--to", "0,0,0"]), 1);
    assert!(line.contains("no link `hnad`; did you mean `hand`?"), "{line}");
    let line = failed(&solve(arm, &["--chain", "hand..hand", "--to", "0,0,0"]), 1);
    assert!(line.contains("there is no moving joint between `hand` and `hand`"), "{line}");
    let line = failed(&solve(arm, &["--chain", "base..hand", "--to", "0,0,0", "--start", "pan=1,bom=2"]), 1);
    assert!(line.contains("no joint `bom`; did you mean `boom`?"), "{line}");
    failed(&solve(arm, &["--chain", "base..hand"]), 2);
    failed(&solve(arm, &["--chain", "base", "--to", "0,0,0"]), 2);
    failed(&solve(arm, &["--to", "0,nan,0"]), 2);
    failed(&solve(arm, &["--to", "0,0,0", "--rotation", "0,0,0,0"]), 2);
    failed(&solve(arm, &["--to", "0,0,0", "--goals", "-"]), 2);
    assert!(failed(&["solve", "arm.obj", "--to", "0,0,0"], 1).contains(".glb, .gltf, .vrm, .bvh or .urdf"));
    assert!(
        failed(&solve(arm, &["--chain", "base..hand", "--goals", "/nowhere/goals.jsonl"]), 1)
            .contains("/nowhere/goals.jsonl")
    );
    let broken = write("wrong", "broken.urdf", &ARM.replace("lower=\"-2\"", "lower=\"3\""));
    let line = failed(&["info", &broken], 1);
    assert!(
        line.contains("broken.urdf: robot: joint `pan`: the hinge's angle goes from 3 to 2: the lower limit must be at most"),
        "{line}"
    );
}

#[test]
fn reach_draws_the_same_picture_on_any_number_of_threads() {
    let arm = write("reach", "little.urdf", ARM);
    let folder = PathBuf::from(&arm);
    let draw = |name: &str, threads: &str| {
        let out = folder.with_file_name(name);
        let path = out.to_str().unwrap();
        done(&[
            "reach",
            &arm,
            "--chain",
            "base..hand",
            "-o",
            path,
            "--samples",
            "30000",
            "--threads",
            threads,
        ]);
        fs::read(out).unwrap()
    };
    let one = draw("one.png", "1");
    assert!(one.starts_with(b"\x89PNG\r\n\x1a\n") && one.len() > 10_000);
    assert_eq!(one, draw("three.png", "3"));
    let svg = String::from_utf8(draw("one.svg", "2")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("little"));
}

/// The straight lines of a colour in a picture, each with its two ends.
fn lines(svg: &str, color: &str) -> Vec<[[f64; 2]; 2]> {
    let number = |word: &str| word.parse().unwrap();
    let point = |text: &str| text.split_once(' ').map(|(x, y)| [number(x), number(y)]).unwrap();
    svg.split("<path d=\"M")
        .filter(|path| path.split('>').next().unwrap().contains(color))
        .filter_map(|path| path.split('"').next().unwrap().split_once('L'))
        .filter(|(_, rest)| !rest.contains('L'))
        .map(|(from, to)| [point(from), point(to)])
        .collect()
}

/// The colour of limits on white, as in an SVG.
fn color(state: ShapeState) -> String {
    let [r, g, b] = Theme::Light.color(ShapeRole::Limit, None, state);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[test]
fn draw_shows_an_arm_with_its_limits_and_a_goal() {
    let arm = write(
        "draw",
        "little.urdf",
        &ARM.replace("name=\"left\" type", "name=\"grip\" type").replace("joint=\"left\"", "joint=\"grip\""),
    );
    let out = |name: &str| PathBuf::from(&arm).with_file_name(name).to_str().unwrap().to_string();
    let (rest, reach) = (out("rest.svg"), out("reach.svg"));
    done(&["draw", &arm, "--chain", "base..hand", "-o", &rest]);
    done(&["draw", &arm, "--chain", "base..hand", "--to", "0.2,0.3,0.2", "--solver", "ccd", "-o", &reach]);
    let [rest, reach] = [rest, reach].map(|path| fs::read_to_string(path).unwrap());
    assert!(rest.contains("at rest, 4 joints") && reach.contains("base..hand, 3 joints, ccd: reached, "));
    // Out of reach, the boom is at its limit.
    let far = out("far.svg");
    done(&["draw", &arm, "--chain", "base..hand", "--to", "2,0,0.2", "--solver", "ccd", "-o", &far]);
    let far = fs::read_to_string(far).unwrap();
    for (svg, at_limit) in [(&rest, false), (&far, true)] {
        assert_eq!(svg.contains("aria-label=\"at a limit\""), at_limit);
        assert_eq!(lines(svg, &color(ShapeState::AtLimit)).is_empty(), !at_limit);
    }
    for word in ["limits", "measured from", "value"].map(|word| format!("aria-label=\"{word}\"")) {
        assert!(reach.contains(&word) && rest.contains(&word), "{word}");
    }
    assert!(reach.contains("aria-label=\"handle\"") && !rest.contains("aria-label=\"handle\""));
    // The chain's joints are named, those of the gripper are not.
    for (word, shown) in [("pan", true), ("roll", true), ("boom", true), ("grip", false)] {
        assert_eq!(rest.contains(&format!("aria-label=\"{word}\"")), shown, "{word}");
    }
    // From the right, the boom's rail is half a metre long, and the longest line of all. From the front, the pan's bounds
    // reach sin(2) of the arc's radius to both sides, which the base (0.2 m high) is 0.07 of the arm's 0.45 m.
    let drawn = lines(&rest, &color(ShapeState::Normal));
    let length = |[a, b]: &[[f64; 2]; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let metre = drawn.iter().map(length).fold(0.0, f64::max) / 0.5;
    let bound = 0.07 * 0.45 * 2f64.sin() * metre;
    let bounds = drawn.iter().filter(|l| (length(l) - bound).abs() < 0.01 * bound).count();
    assert_eq!(bounds, 2, "{bound} {drawn:?}");
    // Of a robot with several ends, all joints are named.
    let all = out("all.svg");
    done(&["draw", &arm, "-o", &all]);
    assert!(fs::read_to_string(all).unwrap().contains("aria-label=\"grip\""));
    let line = failed(&["draw", &arm, "--to", "0.2,0.3,0.2", "-o", &out("none.png")], 1);
    assert!(line.contains("little.urdf: the arm has several ends"), "{line}");
    failed(&["draw", &arm, "--clip", "walk", "-o", &out("none.png")], 2);
    failed(&["draw", &arm, "--scale", "2", "-o", &out("none.png")], 2);
}
