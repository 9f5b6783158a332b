//! `sinew solve` in pose space, on figures and arms. Answers are checked by forward kinematics written here.

mod common;

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use common::{done, failed, number, parse, sinew, write};

/// Hips with two legs, each with a toe. [`LEG`] has the offsets of a leg's joints.
const FIGURE: &str = "HIERARCHY
ROOT hips
{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT thigh_l
  {
    OFFSET 0.1 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT shin_l
    {
      OFFSET 0 -0.45 0.03
      CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT foot_l
      {
        OFFSET 0 -0.45 -0.03
        CHANNELS 3 Zrotation Xrotation Yrotation
        JOINT toe_l
        {
          OFFSET 0 -0.05 0.15
          CHANNELS 3 Zrotation Xrotation Yrotation
          End Site
          {
            OFFSET 0 0 0.05
          }
        }
      }
    }
  }
  JOINT thigh_r
  {
    OFFSET -0.1 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT shin_r
    {
      OFFSET 0 -0.45 0.03
      CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT foot_r
      {
        OFFSET 0 -0.45 -0.03
        CHANNELS 3 Zrotation Xrotation Yrotation
        End Site
        {
          OFFSET 0 -0.05 0.15
        }
      }
    }
  }
}
MOTION
Frames: 1
Frame Time: 0.0333333
0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
";

const LEG: [[f64; 3]; 3] = [[0.1, 1.0, 0.0], [0.0, -0.45, 0.03], [0.0, -0.45, -0.03]];

fn list<const N: usize>(value: &Value) -> [f64; N] {
    std::array::from_fn(|i| number(&value[i]))
}

type Q = [f64; 4];

fn mul([ax, ay, az, aw]: Q, [bx, by, bz, bw]: Q) -> Q {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn rotate(q: Q, [x, y, z]: [f64; 3]) -> [f64; 3] {
    let [x, y, z, _] = mul(mul(q, [x, y, z, 0.0]), [-q[0], -q[1], -q[2], q[3]]);
    [x, y, z]
}

fn apart(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// Position of the tip of a chain with these offsets, whose joints except the last have these local rotations.
fn end(offsets: &[[f64; 3]], rotations: &[Q]) -> [f64; 3] {
    let (mut at, mut turned) = (offsets[0], [0.0, 0.0, 0.0, 1.0]);
    for (offset, q) in offsets[1..].iter().zip(rotations) {
        turned = mul(turned, *q);
        let step = rotate(turned, *offset);
        at = std::array::from_fn(|i| at[i] + step[i]);
    }
    at
}

fn left_leg(answer: &Value) -> [f64; 3] {
    end(&LEG, &["thigh_l", "shin_l"].map(|name| list(&answer["rotations"][name])))
}

/// Options with more sweeps than the default for textbook solvers, which converge slowly.
fn many(solver: &str) -> &'static [&'static str] {
    if ["ccd", "fabrik", "dls"].contains(&solver) {
        &["--max-iterations", "2000", "--max-restarts", "2"]
    } else {
        &[]
    }
}

#[test]
fn every_solver_brings_a_foot_to_its_goal() {
    let figure = write("single", "figure.bvh", FIGURE);
    let goal = [0.2, 0.35, 0.25];
    let to = "0.2,0.35,0.25";
    for solver in ["two-bone", "ccd", "fabrik", "dls", "auto"] {
        for chain in ["thigh_l..foot_l", "hips/thigh_l..#3"] {
            let args =
                ["solve", &figure, "--chain", chain, "--solver", solver, "--to", to, "--json", "--timing"];
            let answer = parse(&done(&[&args[..], many(solver)].concat()));
            assert_eq!(answer["status"], "reached", "{solver}: {answer}");
            let off = apart(left_leg(&answer), goal);
            // The tolerance is 1e-4 of the leg, and the reported residual is correct.
            assert!(off <= 0.91e-4, "{solver}: {off}");
            assert!((off - number(&answer["position_error"])).abs() < 1e-6, "{solver}: {answer}");
            assert!(number(&answer["micros"]) > 0.0 && number(&answer["iterations"]) >= 1.0);
            assert_eq!(answer["joints"], json!({}));
        }
    }
    let text = done(&["solve", &figure, "--chain", "thigh_l..foot_l", "--to", to]);
    assert!(text.starts_with("figure: thigh_l..foot_l, 3 joints, auto\nreached: "), "{text}");
    // A goal out of reach has an answer: the leg is 0.902 m long, the goal 2 m below its hip.
    let args = ["solve", &figure, "--chain", "thigh_l..foot_l", "--to", "0.1,-1,0", "--json"];
    let answer = parse(&done(&args));
    assert_eq!(answer["status"], "unreachable", "{answer}");
    let missing = 2.0 - 2.0 * 0.45f64.hypot(0.03);
    assert!((number(&answer["position_error"]) - missing).abs() < 1e-4, "{answer}");
}

#[test]
fn rotations_and_poles_are_followed() {
    let figure = write("rotation", "figure.bvh", FIGURE);
    let turn: Q = [0.0, (0.4f64).sin(), 0.0, (0.4f64).cos()];
    let rotation = turn.map(|c| c.to_string()).join(",");
    for solver in ["two-bone", "ccd", "fabrik", "auto"] {
        let args = ["solve", &figure, "--chain", "thigh_l..foot_l", "--solver", solver, "--json"];
        let args = [&args[..], many(solver)].concat();
        let more = ["--to", "0.2,0.4,0.2", "--rotation", &rotation];
        let answer = parse(&done(&[&args[..], &more].concat()));
        let q = ["thigh_l", "shin_l", "foot_l"].map(|n| list::<4>(&answer["rotations"][n]));
        let whole = mul(mul(q[0], q[1]), q[2]);
        let cosine: f64 = whole.iter().zip(turn).map(|(a, b)| a * b).sum();
        let angle = 2.0 * cosine.abs().min(1.0).acos();
        assert!(angle < 2e-3, "{solver}: {angle}");
        assert!(number(&answer["rotation_error"]) <= 1.1e-3, "{solver}: {answer}");
        assert!(apart(left_leg(&answer), [0.2, 0.4, 0.2]) < 1e-3);
        // The knee bends towards the pole.
        let bent = |pole: &str| {
            let more = ["--to", "0.1,0.4,0", "--pole", pole];
            let answer = parse(&done(&[&args[..], &more].concat()));
            end(&LEG[..2], &[list(&answer["rotations"]["thigh_l"])])
        };
        assert!(bent("3,0.7,0")[0] > 0.2 && bent("-3,0.7,0")[0] < 0.0, "{solver}");
    }
}

#[test]
fn follow_takes_the_root_along_and_says_so() {
    let figure = write("follow", "figure.bvh", FIGURE);
    let args = ["solve", &figure, "--chain", "thigh_l..foot_l", "--solver", "follow", "--to"];
    let answer = parse(&done(&[&args[..], &["0.1,-1,0.5", "--json"]].concat()));
    let hip: [f64; 3] = list(&answer["translations"]["thigh_l"]);
    let offsets = [[hip[0], hip[1] + 1.0, hip[2]], LEG[1], LEG[2]];
    let q = ["thigh_l", "shin_l"].map(|n| list::<4>(&answer["rotations"][n]));
    assert!(apart(end(&offsets, &q), [0.1, -1.0, 0.5]) < 1e-5, "{answer}");
    let line = failed(&[&args[..], &["0,0,0", "--rotation", "0,0,0,1"]].concat(), 1);
    assert!(line.contains("follow takes a position, and no rotation or pole"), "{line}");
    // From its own answer, the solve changes nothing.
    let start = json!({"position": [0.1, -1.0, 0.5], "start_rotations": answer["rotations"],
                       "start_translations": answer["translations"]});
    let out = sinew(&[&args[..6], &["--goals", "-"]].concat(), &start.to_string());
    let again = parse(std::str::from_utf8(&out.stdout).unwrap());
    assert_eq!(again["iterations"], 0, "{again}");
}

#[test]
fn lines_are_answered_in_order_and_a_bad_one_in_its_place() {
    let figure = write("lines", "figure.bvh", FIGURE);
    let mut lines: Vec<Value> = (0..200)
        .map(|i| {
            json!({"id": i, "goals": [
                {"joint": "foot_l", "position": [0.1, 0.3 + 0.001 * f64::from(i), 0.1]},
                {"joint": "foot_r", "position": [-0.15, 0.2, 0.002 * f64::from(i)]},
            ]})
        })
        .collect();
    lines[20] = json!({"id": 20, "goals": [{"joint": "foot_m", "position": [0, 0, 0]}]});
    lines[30] = json!({"id": 30, "position": [0, 0, 0]});
    lines[40] = json!({"id": 40, "goals": [{"joint": "foot_l", "position": [0, null, 0]}]});
    lines[50] = json!({"id": 50, "goals": [{"joint": "foot_l", "position": [0, 0, 0]}, {"joint": "shin_l", "position": [0, 1, 0]}]});
    lines[60] =
        json!({"id": 60, "start": {"shin_l": 1}, "goals": [{"joint": "foot_l", "position": [0, 0, 0]}]});
    lines[70] = json!({"id": 70, "goals": [{"joint": "foot_l", "position": [0, 1e300, 0]}]});
    let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
    let run = |threads: &str, solver: &str| {
        let args = ["solve", &figure, "--goals", "-", "--threads", threads, "--solver", solver];
        let out = sinew(&[&args[..], many(solver)].concat(), &text);
        assert_eq!(out.status.code(), Some(1));
        // By default, goals whose chains share joints are solved together.
        let bad = if solver == "auto" { 5 } else { 6 };
        let told = format!("({bad} of 200 goals could not be solved)");
        assert!(String::from_utf8_lossy(&out.stderr).contains(&told));
        String::from_utf8(out.stdout).unwrap()
    };
    for solver in ["two-bone", "ccd", "fabrik", "auto"] {
        let one = run("1", solver);
        assert_eq!(one, run("4", solver), "{solver}");
        let answers: Vec<Value> = one.lines().map(parse).collect();
        for (i, answer) in answers.iter().enumerate() {
            assert_eq!(answer["id"], i);
            if i == 50 && solver == "auto" {
                assert_eq!(answer["status"], "unreachable", "{answer}");
                continue;
            }
            if [20, 30, 40, 50, 60, 70].contains(&i) {
                assert!(answer["error"].is_string(), "{answer}");
                continue;
            }
            assert_eq!(answer["status"], "reached", "{solver}: {answer}");
            assert!(apart(left_leg(answer), [0.1, 0.3 + 0.001 * i as f64, 0.1]) < 1e-4, "{answer}");
            assert!(answer["rotations"]["thigh_r"].is_array());
        }
        let error = |i: usize| answers[i]["error"].as_str().unwrap();
        assert!(error(20).starts_with("line 21: no joint `foot_m`; did you mean `foot_"), "{}", error(20));
        assert!(error(30).contains("the figure has several ends"));
        assert!(error(30).ends_with("--chain ROOT..TIP selects one"));
        if solver == "ccd" || solver == "fabrik" {
            assert!(error(50).contains("share joint `thigh_l`"), "{}", error(50));
        }
        assert_eq!(
            error(60),
            "line 61: start: joint `shin_l` of a figure has a rotation, which start_rotations gives, and no value"
        );
        assert!(error(70).contains("is out of range: coordinates must be below 1e18"), "{}", error(70));
    }
}

#[test]
fn an_arm_is_solved_within_its_limits_or_refused_by_its_joint() {
    const HINGES: &str = r#"<robot name="desk">
      <link name="base"/> <link name="a"/> <link name="b"/> <link name="c"/> <link name="tool"/>
      <joint name="pan" type="continuous"><parent link="base"/><child link="a"/><origin xyz="0 0 0.2"/><axis xyz="0 0 1"/></joint>
      <joint name="lift" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.05 0 0.1" rpy="0 0.3 0"/>
        <axis xyz="0 1 0"/><limit lower="-0.2" upper="1.5" effort="1" velocity="1"/></joint>
      <joint name="bend" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0 0 0.4"/>
        <axis xyz="0 1 0"/><limit lower="0.3" upper="2.5" effort="1" velocity="1"/></joint>
      <joint name="end" type="fixed"><parent link="c"/><child link="tool"/><origin xyz="0 0 0.35"/></joint>
    </robot>"#;
    let arm = write("arm", "desk.urdf", HINGES);
    // Worked by hand for pan 2, lift 0.7 and bend 1.1. Lift and bend turn about one axis, after the origin's pitch of 0.3.
    let (reach, up) =
        (0.05 + 0.4 * 1.0f64.sin() + 0.35 * 2.1f64.sin(), 0.3 + 0.4 * 1.0f64.cos() + 0.35 * 2.1f64.cos());
    let goal = [reach * 2.0f64.cos(), reach * 2.0f64.sin(), up];
    let to = goal.map(|c| c.to_string()).join(",");
    for solver in ["ccd", "fabrik", "dls", "auto"] {
        let args = ["solve", &arm, "--solver", solver, "--to", &to, "--json"];
        let args = [&args[..], many(solver)].concat();
        let answer = parse(&done(&args));
        // Textbook FABRIK stalls with both hinges at their limits.
        let reached = answer["status"] == "reached";
        assert!(reached || solver == "fabrik", "{solver}: {answer}");
        let [pan, lift, bend] = ["pan", "lift", "bend"].map(|n| number(&answer["joints"][n]));
        assert!((-0.2..=1.5).contains(&lift) && (0.3..=2.5).contains(&bend), "{answer}");
        let (one, two) = (0.3 + lift, 0.3 + lift + bend);
        let r = 0.05 + 0.4 * one.sin() + 0.35 * two.sin();
        let at = [r * pan.cos(), r * pan.sin(), 0.3 + 0.4 * one.cos() + 0.35 * two.cos()];
        let off = apart(at, goal);
        assert!(off < 1.2e-4 || !reached, "{solver}: {off} {answer}");
        assert!((off - number(&answer["position_error"])).abs() < 1e-9, "{off} {answer}");
        // From a start two turns on, the answer is on the same turn.
        let answer = parse(&done(&[&args[..], &["--start", "pan=14.5"]].concat()));
        let pan = number(&answer["joints"]["pan"]);
        assert!((pan - 14.5).abs() <= std::f64::consts::PI + 1e-6, "{answer}");
    }
    let line = failed(&["solve", &arm, "--solver", "two-bone", "--to", &to], 1);
    assert!(line.contains("desk.urdf: two-bone needs a chain of 3 joints"), "{line}");

    // Root, middle and tip of a limb whose root is a hinge.
    let args = ["solve", &arm, "--chain", "a..tool", "--solver", "two-bone", "--to", &to];
    let line = failed(&args, 1);
    assert!(line.contains("has a hinge, which two-bone cannot honour"), "{line}");

    let slider = HINGES.replace("name=\"lift\" type=\"revolute\"", "name=\"lift\" type=\"prismatic\"");
    let arm = write("arm", "slider.urdf", &slider);
    // Worked by hand for pan 0.5, a slide of 0.4 along y, and bend 1.
    let (x, y, z) = (
        0.05 + 0.4 * 0.3f64.sin() + 0.35 * 1.3f64.sin(),
        0.4,
        0.3 + 0.4 * 0.3f64.cos() + 0.35 * 1.3f64.cos(),
    );
    let (sine, cosine) = 0.5f64.sin_cos();
    let slid = format!("{},{},{z}", x * cosine - y * sine, x * sine + y * cosine);
    let args = ["solve", &arm, "--solver", "ccd", "--to", &slid, "--json"];
    let answer = parse(&done(&[&args[..], many("ccd")].concat()));
    assert_eq!(answer["status"], "reached", "{answer}");
    assert!((-0.2..=1.5).contains(&number(&answer["joints"]["lift"])), "{answer}");
    assert!(number(&answer["position_error"]) < 2e-4, "{answer}");
    let line = failed(&["solve", &arm, "--solver", "fabrik", "--to", &to], 1);
    assert!(line.contains("slider.urdf: joint `lift`") && line.contains("fabrik"), "{line}");
    let mimic = HINGES.replace(
        "velocity=\"1\"/></joint>\n      <joint name=\"end\"",
        "velocity=\"1\"/><mimic joint=\"lift\"/></joint>\n      <joint name=\"end\"",
    );
    let arm = write("arm", "mimic.urdf", &mimic);
    let line = failed(&["solve", &arm, "--solver", "ccd", "--to", &to], 1);
    assert!(line.contains("the joint that carries link `c` mimics joint `lift`"), "{line}");
}

#[test]
fn a_model_is_written_back_in_its_pose() {
    let scene = json!({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [
            {"name": "upper", "children": [1, 3], "translation": [0, 1, 0], "extras": {"keep": "me"}},
            {"name": "lower", "children": [2], "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0.5, 0, 0.05, 1]},
            {"name": "hand", "translation": [0.5, 0, -0.05]},
            {"name": "lamp", "rotation": [0, 0, 0, 1]},
        ],
    });
    let model = write("scene", "arm.gltf", &scene.to_string());
    let out = PathBuf::from(&model).with_file_name("posed.gltf");
    let out = out.to_str().unwrap();
    let args = ["solve", &model, "--chain", "upper..hand", "--to", "0.4,1.3,0.5", "--json"];
    let answer = parse(&done(&[&args[..], &["-o", out]].concat()));
    let posed = parse(&fs::read_to_string(out).unwrap());
    let q = [0, 1].map(|n| list::<4>(&posed["nodes"][n]["rotation"]));
    assert_eq!(q, ["upper", "lower"].map(|n| list::<4>(&answer["rotations"][n])));
    let at = end(&[[0.0, 1.0, 0.0], [0.5, 0.0, 0.05], [0.5, 0.0, -0.05]], &q);
    assert!(apart(at, [0.4, 1.3, 0.5]) < 1.1e-4, "{posed}");
    assert_eq!(
        (&posed["nodes"][0]["extras"], &posed["nodes"][3]),
        (&scene["nodes"][0]["extras"], &scene["nodes"][3])
    );
    // The next solve starts at the written pose.
    let answer = parse(&done(&["solve", out, "--chain", "upper..hand", "--to", "0.4,1.3,0.5", "--json"]));
    assert_eq!(answer["iterations"], 0, "{answer}");
    let figure = write("scene", "figure.bvh", FIGURE);
    let line = failed(&["solve", &figure, "--chain", "hips..foot_l", "--to", "0,0,0", "-o", out], 2);
    assert!(line.contains("only a .glb, .gltf or .vrm model can be written"), "{line}");
    let line = failed(&["solve", &model, "--goals", "-", "-o", out], 2);
    assert!(line.contains("answered in JSON, so that the output cannot be a model"), "{line}");
}

#[test]
fn what_cannot_be_meant_is_told() {
    let figure = write("wrong", "figure.bvh", FIGURE);
    let solve = |chain: &str, more: &[&str], code| {
        failed(&[&["solve", &figure, "--to", "0,0,0", "--chain", chain], more].concat(), code)
    };
    let line = solve("thihg_l..foot_l", &[], 1);
    assert!(line.contains("figure.bvh: no joint `thihg_l`; did you mean `thigh_l`"), "{line}");
    let line = solve("foot_l..thigh_l", &[], 1);
    assert!(line.contains("joint `thigh_l` does not hang below joint `foot_l`"), "{line}");
    let line = solve("thigh_r..foot_l", &[], 1);
    assert!(line.contains("joint `foot_l` does not hang below joint `thigh_r`"), "{line}");
    let line = solve("foot_l..foot_l", &[], 1);
    assert!(line.contains("joint `foot_l` alone is no chain"), "{line}");
    let line = solve("hips..foot_l", &["--solver", "two-bone"], 1);
    let all = "two-bone needs a chain of 3 joints, root, middle and tip; hips..foot_l has 4 (hips, thigh_l, shin_l, foot_l)";
    assert!(line.contains(all), "{line}");
    assert!(solve("hips..foot_l", &["--solver", "lm"], 2).contains("--solver lm is for joint space"));
    assert!(solve("hips..foot_l", &["--seed", "1"], 2).contains("--seed is for joint space"));
    let line = solve("thigh_l..foot_l", &["--solver", "two-bone", "--max-iterations", "2"], 2);
    assert!(line.contains("--max-iterations does not apply: two-bone does not iterate"), "{line}");
    let limb =
        ["solve", &figure, "--chain", "thigh_l..foot_l", "--solver", "two-bone", "--json", "--to", "3,0,0"];
    assert_eq!(parse(&done(&limb))["status"], "unreachable");
    let near = ["--position-tolerance", "10"];
    assert_eq!(parse(&done(&[&limb[..], &near].concat()))["status"], "reached");
    let line = solve("hips..foot_l", &["--solver", "follow", "--max-restarts", "2"], 2);
    assert!(line.contains("--max-restarts does not apply: follow, spline and look-at"), "{line}");
    failed(&["solve", &figure, "--chain", "hips..foot_l", "--to", "0,NaN,0"], 2);
    failed(&["solve", &figure, "--chain", "hips..foot_l", "--pole", "0,1,0"], 2);
    let line = failed(&["solve", &figure, "--to", "0,0,0"], 1);
    assert!(line.contains("the figure has several ends"), "{line}");
}

#[test]
fn draw_shows_before_and_after() {
    let figure = write("draw", "figure.bvh", FIGURE);
    let out = |name: &str| PathBuf::from(&figure).with_file_name(name).to_str().unwrap().to_string();
    let plain = out("rest.svg");
    done(&["draw", &figure, "-o", &plain]);
    let reach = out("reach.svg");
    let args = ["draw", &figure, "--chain", "thigh_l..foot_l", "--to", "0.2,0.35,0.25", "-o", &reach];
    done(&[&args[..], &["--solver", "two-bone", "--pole", "0.1,0.7,2"]].concat());
    let [plain, reach] = [plain, reach].map(|path| fs::read_to_string(path).unwrap());
    assert!(reach.contains("thigh_l..foot_l, 3 joints, two-bone: reached, ") && !plain.contains("reached"));
    for word in ["before", "goal", "pole"].map(|word| format!("aria-label=\"{word}\"")) {
        assert!(reach.contains(&word) && !plain.contains(&word), "{word}");
    }
    let line =
        failed(&["draw", &figure, "--chain", "foot_l..thigh_l", "--to", "0,0,0", "-o", &out("none.png")], 1);
    assert!(line.contains("joint `thigh_l` does not hang below joint `foot_l`"), "{line}");
    failed(&["draw", &figure, "--chain", "thigh_l..foot_l", "-o", &out("none.png")], 2);
    failed(&["draw", &figure, "--to", "0,inf,0", "-o", &out("none.png")], 2);
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn real_files_are_solved() {
    for (file, scale, chain) in [
        ("gltf/KayKit_Knight.glb", None, "upperarm.l..hand.l"),
        ("gltf/CesiumMan.gltf", None, "#0..#6"),
        ("bvh/cmu_12_01_walk.bvh", Some("0.056444"), "LeftUpLeg..LeftFoot"),
    ] {
        let model = common::data(file);
        let model = model.to_str().unwrap();
        let scale: Vec<&str> = scale.into_iter().flat_map(|s| ["--scale", s]).collect();
        // A goal at the tip is reached at once; any limb can reach a goal a few centimetres aside.
        let far = parse(&done(
            &[&["solve", model, "--chain", chain, "--to", "0,50,0", "--json"], &scale[..]].concat(),
        ));
        assert_eq!(far["status"], "unreachable", "{file}: {far}");
        for solver in ["ccd", "fabrik", "auto"] {
            let args =
                ["solve", model, "--chain", chain, "--solver", solver, "--to", "0.1,0.7,0.1", "--json"];
            let answer = parse(&done(&[&args[..], &scale].concat()));
            let status = answer["status"].as_str().unwrap();
            assert!(["reached", "unreachable"].contains(&status), "{file} {solver}: {answer}");
            assert!(number(&answer["position_error"]).is_finite());
        }
    }
}

/// Two hinges that bend to one side only, half a metre apart.
fn two_hinges(folder: &str) -> String {
    let link = |n: &str| format!("<link name=\"{n}\"/>");
    let joint = |n: &str, a: &str, b: &str, x: f64| {
        format!(
            "<joint name=\"{n}\" type=\"revolute\"><parent link=\"{a}\"/><child link=\"{b}\"/><origin xyz=\"{x} 0 0\"/>\
             <axis xyz=\"0 0 1\"/><limit lower=\"0\" upper=\"1\" effort=\"1\" velocity=\"1\"/></joint>"
        )
    };
    let fixed = "<joint name=\"end\" type=\"fixed\"><parent link=\"c\"/><child link=\"tip\"/><origin xyz=\"0.5 0 0\"/></joint>";
    let text = ["a", "b", "c", "tip"].map(link).concat()
        + &joint("j", "a", "b", 0.0)
        + &joint("k", "b", "c", 0.5)
        + fixed;
    write(folder, "arm.urdf", &format!("<robot name=\"r\">{text}</robot>"))
}

#[test]
fn an_arm_that_follows_goes_on_from_its_answer() {
    let arm = two_hinges("follow-on");
    let args = ["solve", &arm, "--chain", "a..tip", "--solver", "follow", "--goals", "-"];
    let solve = |line: &Value| {
        let out = sinew(&args, &line.to_string());
        parse(std::str::from_utf8(&out.stdout).unwrap())
    };
    let first = solve(&json!({"position": [0.9, -0.7, 0.1]}));
    let base: [f64; 3] = list(&first["translations"]["a"]);
    // Two links of half a metre, both turning about z, from the displaced base.
    let (j, k) = (number(&first["joints"]["j"]), number(&first["joints"]["k"]));
    let end = |base: [f64; 3], j: f64, k: f64| {
        let (u, v) = (j, j + k);
        [base[0] + 0.5 * (u.cos() + v.cos()), base[1] + 0.5 * (u.sin() + v.sin()), base[2]]
    };
    assert!(apart(base, [0.0; 3]) > 0.1 && apart(end(base, j, k), [0.9, -0.7, 0.1]) < 1e-6, "{first}");
    let start = |at: [f64; 3]| json!({"position": at, "start": first["joints"], "start_translations": first["translations"]});
    // From its own answer the solve changes nothing; a nearby goal moves it a little.
    let again = solve(&start([0.9, -0.7, 0.1]));
    assert_eq!(again["iterations"], 0, "{again}");
    assert_eq!((&again["joints"], &again["translations"]), (&first["joints"], &first["translations"]));
    let on = solve(&start([0.91, -0.7, 0.1]));
    let base_on: [f64; 3] = list(&on["translations"]["a"]);
    assert!(apart(base, base_on) < 0.02, "{on}");
    // A link that is not the base is refused by name.
    let bad = solve(&json!({"position": [0.9, 0.0, 0.0], "start_translations": {"b": [0.1, 0.0, 0.0]}}));
    assert_eq!(bad["error"], "line 1: start_translations.b: only the base `a` of an arm can be displaced");
}

#[test]
fn every_solver_says_how_often_it_started_anew() {
    // A goal on the other side stalls them.
    let arm = two_hinges("anew");
    let arm = arm.as_str();
    for solver in ["lm", "ccd", "fabrik", "dls", "follow", "auto"] {
        let near = ["solve", arm, "--chain", "a..tip", "--solver", solver, "--to", "0.6,0.6,0", "--json"];
        let answer = parse(&done(&[&near[..], many(solver)].concat()));
        let once = answer["restarts"].as_u64().unwrap_or_else(|| panic!("{answer}"));
        assert!(solver != "follow" || once == 0, "{answer}");
        let over = ["solve", arm, "--chain", "a..tip", "--solver", solver, "--to", "0.4,-0.4,0", "--json"];
        let answer = parse(&done(&[&over[..], many(solver)].concat()));
        let often = answer["restarts"].as_u64().unwrap_or_else(|| panic!("{answer}"));
        // Follow moves its root too, so that every goal is reached.
        assert!(solver == "follow" || often > 0 && answer["status"] != "reached", "{solver}: {answer}");
    }
}

#[test]
fn a_whole_figure_meets_all_goals_of_a_line() {
    let figure = write("whole", "figure.bvh", FIGURE);
    let (left, knee) = ([0.15, 0.2, 0.3], [0.1, 0.6, 0.25]);
    let lines = [
        // Goals for both feet: the hips carry both, and turn.
        json!({"id": 1, "goals": [{"joint": "foot_l", "position": left}, {"joint": "foot_r", "position": [-0.2, 0.15, -0.1]}], "root": "free"}),
        // The knee has priority, and the foot comes as near as it can.
        json!({"id": 2, "goals": [{"joint": "shin_l", "position": knee, "priority": 1}, {"joint": "foot_l", "position": left}]}),
        // The right foot beside the left, relative to the left.
        json!({"id": 3, "goals": [{"joint": "foot_l", "position": left}, {"joint": "foot_r", "position": [-0.2, 0, 0], "relative_to": "foot_l"}]}),
        json!({"id": 4, "goals": [{"joint": "foot_l", "position": left}, {"joint": "foot_r", "position": left, "relative_to": "foot_r"}]}),
        json!({"id": 5, "goals": [{"joint": "foot_l", "position": left, "priority": 3}]}),
        json!({"id": 6, "goals": [{"joint": "foot_l", "position": left}, {"joint": "shin_l", "position": knee, "pole": [0, 0, 1]}]}),
        // Poles on either side of the leg.
        json!({"id": 7, "goals": [{"joint": "foot_l", "position": left, "pole": [2, 0.5, 0]}, {"joint": "foot_r", "position": [-0.2, 0.15, -0.1]}], "root": "pinned"}),
        json!({"id": 8, "goals": [{"joint": "foot_l", "position": left, "pole": [-2, 0.5, 0]}, {"joint": "foot_r", "position": [-0.2, 0.15, -0.1]}], "root": "pinned"}),
    ];
    let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
    let run = |threads: &str| {
        let out = sinew(&["solve", &figure, "--goals", "-", "--threads", threads], &text);
        assert_eq!(out.status.code(), Some(1));
        String::from_utf8(out.stdout).unwrap()
    };
    let one = run("1");
    assert_eq!(one, run("3"));
    let answers: Vec<Value> = one.lines().map(parse).collect();
    let place = |answer: &Value, names: [&str; 3], offsets: [[f64; 3]; 4]| {
        let hips = answer["translations"].get("hips").map_or([0.0, 1.0, 0.0], list);
        let turns = names.map(|n| list(answer["rotations"].get(n).unwrap_or(&json!([0, 0, 0, 1]))));
        end(&[hips, offsets[1], offsets[2], offsets[3]], &turns)
    };
    let leg = |side: f64| [[0.0; 3], [side, 0.0, 0.0], LEG[1], LEG[2]];
    let feet = |answer: &Value| {
        [
            place(answer, ["hips", "thigh_l", "shin_l"], leg(0.1)),
            place(answer, ["hips", "thigh_r", "shin_r"], leg(-0.1)),
        ]
    };
    let [l, r] = feet(&answers[0]);
    assert_eq!(answers[0]["status"], "reached", "{}", answers[0]);
    assert!(apart(l, left) < 2e-4 && apart(r, [-0.2, 0.15, -0.1]) < 2e-4, "{l:?} {r:?}");
    assert_eq!(answers[1]["id"], 2);
    let [l, _] = feet(&answers[1]);
    assert!(apart(l, left) < 2e-4, "{l:?}");
    assert_eq!(answers[2]["status"], "reached", "{}", answers[2]);
    let [l, r] = feet(&answers[2]);
    assert!(apart(l, left) < 2e-4 && (apart(l, r) - 0.2).abs() < 2e-4, "{l:?} {r:?}");
    let error = |i: usize| answers[i]["error"].as_str().unwrap_or_default();
    assert!(error(3).contains("is relative to that joint itself"), "{}", error(3));
    assert!(error(4).contains("priority must be 0, 1 or 2, not 3"), "{}", error(4));
    assert!(error(5).contains("no middle joint"), "{}", error(5));
    let sides = [6, 7].map(|i| {
        let [l, r] = feet(&answers[i]);
        assert!(apart(l, left) < 2e-4 && apart(r, [-0.2, 0.15, -0.1]) < 2e-4, "{}", answers[i]);
        let turns =
            ["hips", "thigh_l"].map(|n| list(answers[i]["rotations"].get(n).unwrap_or(&json!([0, 0, 0, 1]))));
        let knee = end(&[[0.0, 1.0, 0.0], [0.1, 0.0, 0.0], LEG[1]], &turns);
        knee[0] - l[0]
    });
    assert!(sides[0] - sides[1] > 0.15, "{sides:?}");

    let goals = write("whole", "goals.jsonl", &format!("{}\n", lines[0]));
    let picture = write("whole", "figure.svg", "");
    done(&["draw", &figure, "--goals", &goals, "-o", &picture]);
    let svg = fs::read_to_string(&picture).unwrap();
    assert!(svg.contains("goals") && svg.contains("2 goals, full-body: reached"));
    assert!(
        failed(&["draw", &figure, "--goals", "nowhere.jsonl", "-o", &picture], 1).contains("nowhere.jsonl")
    );
}
