//! `sinew solve` and `sinew draw` with a chain along a curve, and with a look-at. Answers are checked by forward kinematics
//! written here.

mod common;

use serde_json::Value;

use common::{done, failed, number, parse, sinew, write};

type V = [f64; 3];

/// Eight joints in a row along Z, a fifth of a metre apart, the first a metre up.
fn snake(test: &str) -> String {
    let mut text = String::from("HIERARCHY\n");
    for i in 0..8 {
        let (kind, offset) = if i == 0 { ("ROOT", "0 1 0") } else { ("JOINT", "0 0 0.2") };
        let channels = "CHANNELS 3 Zrotation Xrotation Yrotation";
        text += &format!("{kind} j{i} {{ OFFSET {offset}\n{channels}\n");
    }
    text += "End Site { OFFSET 0 0 0.2 }\n";
    text += &"}\n".repeat(8);
    text += "MOTION\nFrames: 1\nFrame Time: 0.1\n";
    text += &"0 ".repeat(24);
    write(test, "snake.bvh", &(text + "\n"))
}

fn list<const N: usize>(value: &Value) -> [f64; N] {
    let all: Vec<f64> = value.as_array().unwrap().iter().map(number).collect();
    all.try_into().unwrap()
}

fn cross(a: V, b: V) -> V {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn sub(a: V, b: V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn length(a: V) -> f64 {
    a.iter().map(|c| c * c).sum::<f64>().sqrt()
}

fn turn([x, y, z, w]: [f64; 4], p: V) -> V {
    let t = cross([x, y, z], p).map(|c| 2.0 * c);
    let u = cross([x, y, z], t);
    [p[0] + w * t[0] + u[0], p[1] + w * t[1] + u[1], p[2] + w * t[2] + u[2]]
}

fn times(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let v = cross([a[0], a[1], a[2]], [b[0], b[1], b[2]]);
    let dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    [
        a[3] * b[0] + b[3] * a[0] + v[0],
        a[3] * b[1] + b[3] * a[1] + v[1],
        a[3] * b[2] + b[3] * a[2] + v[2],
        a[3] * b[3] - dot,
    ]
}

/// Positions and rotations of the joints in an answer, in model space.
fn places(answer: &Value) -> Vec<(V, [f64; 4])> {
    let mut above = ([0.0; 3], [0.0, 0.0, 0.0, 1.0]);
    (0..8)
        .map(|i| {
            let name = format!("j{i}");
            let rest = if i == 0 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 0.2] };
            let offset: V = answer["translations"].get(&name).map_or(rest, list);
            let own: [f64; 4] = answer["rotations"].get(&name).map_or([0.0, 0.0, 0.0, 1.0], list);
            let at = turn(above.1, offset);
            above = ([0, 1, 2].map(|k| above.0[k] + at[k]), times(above.1, own));
            above
        })
        .collect()
}

#[test]
fn a_chain_lies_along_a_straight_curve() {
    let model = snake("straight");
    let base = ["solve", &model, "--chain", "j0..j7", "--json", "--curve", "1,0.5,0 2,0.5,0 5,0.5,0"];
    for (more, start, step) in [
        (&["--offset", "0.5"][..], 1.5, 0.2),
        (&["--offset", "3.5", "--reversed", "--back", "0,1,0"], 4.5, -0.2),
        // Beyond the curve's end the chain is straight too.
        (&["--offset", "3.9"], 4.9, 0.2),
        (&["--stretched"], 1.0, 4.0 / 7.0),
    ] {
        let answer = parse(&done(&[&base[..], more].concat()));
        assert_eq!(answer["status"], "reached");
        assert!(number(&answer["position_error"]) < 3e-6);
        for (i, (at, q)) in places(&answer).into_iter().enumerate() {
            let off = length(sub(at, [start + step * i as f64, 0.5, 0.0]));
            assert!(off < 2e-6, "{more:?}: joint {i} is {off} off");
            if more.contains(&"--back") {
                assert!(length(sub(turn(q, [0.0, 1.0, 0.0]), [0.0, 1.0, 0.0])) < 1e-5);
            }
        }
    }
}

#[test]
fn lines_have_curves() {
    let model = snake("lines");
    let goals = concat!(
        r#"{"id": 1, "curve": [[0,0,0],[0,0,9]]}"#,
        "\n",
        r#"{"id": 2, "curve": {"points": [[0,0,0],[1,0,0],[2,0,0],[3,0,0]], "bezier": true, "offset": 1}}"#,
        "\n",
        r#"{"id": 3, "curve": [[1,2,3]]}"#,
        "\n",
        r#"{"id": 4, "curve": [[1,2,3],[1,2,3]]}"#,
        "\n",
        r#"{"id": 5, "position": [1,2,3]}"#,
        "\n",
    );
    let out = sinew(&["solve", &model, "--chain", "j0..j7", "--solver", "spline", "--goals", "-"], goals);
    assert_eq!(out.status.code(), Some(1));
    let lines: Vec<Value> = String::from_utf8(out.stdout).unwrap().lines().map(parse).collect();
    assert!(length(sub(places(&lines[0])[7].0, [0.0, 0.0, 1.4])) < 1e-6);
    assert!(length(sub(places(&lines[1])[7].0, [2.4, 0.0, 0.0])) < 1e-6);
    let error = |i: usize| lines[i]["error"].as_str().unwrap();
    assert!(error(2).ends_with("a curve needs at least 2 control points, not 1"), "{}", error(2));
    assert!(error(3).contains("control points 0 and 1 coincide at [1, 2, 3]"), "{}", error(3));
    assert!(error(4).ends_with("spline needs a curve"), "{}", error(4));
}

#[test]
fn a_tip_looks_at_a_place() {
    let model = snake("looks");
    let at = [1.0, 1.8, 2.0];
    let look = ["solve", &model, "--chain", "j2..j7", "--solver", "look-at", "--to", "1,1.8,2", "--json"];
    let answer = parse(&done(&look));
    assert_eq!(answer["status"], "reached");
    let (from, q) = places(&answer)[7];
    let off = length(cross(turn(q, [0.0, 0.0, 1.0]), sub(at, from)));
    assert!(off < 1e-5, "{off}");
    assert!(number(&answer["position_error"]) < 1e-5);
}

#[test]
fn a_look_is_shared_as_asked() {
    let model = snake("shared");
    let look = |more: &[&str]| {
        let start =
            ["solve", &model, "--chain", "j4..j6", "--solver", "look-at", "--to", "1,1.8,2", "--json"];
        parse(&done(&[&start, more].concat()))
    };
    // Angle of a joint from rest, in degrees; all rest rotations are the identity.
    let turned = |answer: &serde_json::Value, joint: &str| {
        let q: Vec<f64> = answer["rotations"][joint].as_array().unwrap().iter().map(number).collect();
        2.0 * q[..3].iter().map(|c| c * c).sum::<f64>().sqrt().min(1.0).asin().to_degrees()
    };
    // The first joint's share is 0; the last turns by its cone at most.
    let answer = look(&["--shares", "0,0.5,1", "--cones", "90,90,5"]);
    assert!(turned(&answer, "j4") < 1e-3, "{answer}");
    assert!(turned(&answer, "j6") < 5.01, "{answer}");
    // A joint below the tip may be an eye, which looks at the target itself.
    let answer = look(&["--eyes", "j7"]);
    assert!(answer["rotations"]["j7"].is_array(), "{answer}");
    assert_eq!(answer["status"], "reached");
    // Within the dead zone only eyes turn.
    let answer = look(&["--dead-zone", "90"]);
    assert!(turned(&answer, "j4") + turned(&answer, "j5") + turned(&answer, "j6") < 1e-3, "{answer}");

    let start = ["solve", &model, "--chain", "j4..j6", "--to", "1,1.8,2"];
    let bad = |more: &[&str], code| failed(&[&start, more].concat(), code);
    let on = |more: &[&'static str]| [&["--solver", "look-at"], more].concat();
    let line = bad(&on(&["--shares", "0.5"]), 1);
    assert!(line.contains("--shares has 1 numbers, but the chain needs 3 (j4, j5, j6)"), "{line}");
    assert!(bad(&on(&["--shares", "0.5,2,1"]), 2).contains("--shares"));
    let line = bad(&on(&["--cones", "10,20"]), 1);
    assert!(line.contains("--cones has 2 numbers, but the chain needs 3 or 1 (j4"), "{line}");
    assert!(bad(&on(&["--eyes", "nobody"]), 1).contains("nobody"));
    assert!(bad(&on(&["--eyes", "j1"]), 1).contains("`j1` does not hang below joint `j6`"));
    assert!(bad(&["--dead-zone", "3"], 2).contains("are for --solver look-at"));
}

#[test]
fn what_does_not_fit_is_said() {
    let model = snake("bad");
    let solve = |more: &[&str], code| failed(&[&["solve", &model, "--chain", "j0..j7"], more].concat(), code);
    assert!(solve(&["--curve", "0,0,0 1,0", "--closed"], 2).contains("1,0: it must be three finite numbers"));
    assert!(solve(&["--to", "1,2,3", "--offset", "1"], 2).contains("--curve"));
    assert!(solve(&["--goals", "-", "--curve", "0,0,0 1,0,0"], 2).contains("--curve"));
    assert!(solve(&["--curve", "0,0,0 1,0,0", "--solver", "ccd"], 1).contains("needs --solver spline"));
    assert!(solve(&["--curve", "0,0,0 1,0,0", "--max-iterations", "3"], 2).contains("--max-iterations"));
    assert!(solve(&["--to", "0,0,1", "--solver", "spline"], 1).contains("needs a curve"));
    assert!(solve(&["--curve", "0,0,0 1,0,0", "--to", "0,0,1"], 1).contains("no position"));
    assert!(
        solve(&["--to", "0,0,1", "--rotation", "0,0,0,1", "--solver", "look-at"], 1).contains("no rotation")
    );
    assert!(
        solve(&["--curve", "0,0,0", "--back", "0,0,1"], 1)
            .contains("a curve needs at least 2 control points, not 1")
    );
    assert!(solve(&["--curve", "0,0,0 1,0,0", "--back", "0,0,1"], 1).contains("first bone"));
    let draw = |more: &[&str]| failed(&[&["draw", &model, "-o", "no.png"], more].concat(), 2);
    assert!(draw(&["--solver", "spline"]).contains("--curve"));
    assert!(draw(&["--curve", "0,0,0 1,0,0", "--clip", "snake"]).contains("--clip"));
}

#[test]
fn both_are_drawn() {
    let model = snake("draw");
    for (name, more) in [
        ("curve.svg", &["--curve", "1,0.5,0 0,0.3,1 -1,0.5,0 0,0.3,-1", "--closed"][..]),
        ("look.svg", &["--to", "1,2,2", "--solver", "look-at"]),
    ] {
        let out = write("draw", name, "");
        done(&[&["draw", &model, "--chain", "j0..j7", "-o", &out], more].concat());
        let svg = std::fs::read_to_string(&out).unwrap();
        assert!(svg.contains("<svg") && svg.len() > 2000);
        // The colour of goals.
        assert!(svg.to_lowercase().contains("#8a1a78"), "{name}");
    }
}
