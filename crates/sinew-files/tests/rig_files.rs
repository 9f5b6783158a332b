//! Judges rig files: what they say becomes a rig, and what is wrong with them is said in one line.

mod dice;
mod real;

use std::{path::Path, sync::Arc};

use dice::Dice;
use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    body::BodyRoles,
    glam::Vec3,
    joint::{Dof, Joint},
    rig::{FootPlanting, HandleSolver, Rig, RigFrame, RigGoal, Space, StartFrom},
};
use sinew_files::{FileError, rig};

/// Two arms on a chest, each with a control; a tail whose second joint has a spring.
fn figure() -> Pose {
    let mut b = Skeleton::builder();
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let root = b.add("root", None, at(0.0, 0.0, 0.0));
    let chest = b.add("chest", Some(root), at(0.0, 1.4, 0.0));
    for (side, x) in [("l", 1.0), ("r", -1.0)] {
        let upper = b.add(format!("upperarm.{side}"), Some(chest), at(0.2 * x, 0.1, 0.0));
        let lower = b.add(format!("lowerarm.{side}"), Some(upper), at(0.3 * x, 0.0, -0.03));
        let wrist = b.add(format!("wrist.{side}"), Some(lower), at(0.28 * x, 0.0, 0.03));
        b.add("thumb", Some(wrist), at(0.05 * x, 0.0, 0.05));
        b.add(format!("handIK.{side}"), Some(root), at(0.78 * x, 1.5, 0.0));
        b.add(format!("elbowIK.{side}"), Some(root), at(0.5 * x, 1.5, -0.5));
    }
    let tail = b.add("tail", Some(root), at(0.0, 1.0, -0.1));
    let spring = b.add("springy", Some(tail), at(0.0, 0.0, -0.3));
    b.add("tail end", Some(spring), at(0.0, 0.0, -0.3));
    let (mut skeleton, ids) = b.build().unwrap();
    skeleton.set_joint(ids[spring], Joint::hinge(Vec3::X, Dof::FREE.with_spring(0.0, 1.0))).unwrap();
    Pose::rest(&Arc::new(skeleton))
}

const GOOD: &str = r##"rig = 1

[[handle]]
name = "left arm"
solver = "two-bone"
from = "preferred"
chain = ["upperarm.l", "wrist.l"]
goal = { node = "handIK.l" }
pole = { node = "elbowIK.l", space = { joint = "elbowIK.l" } }

[[handle]]
name = "right arm"
chain = ["upperarm.r", "chest/upperarm.r/lowerarm.r/wrist.r"]
goal = { space = { joint = "root" } }
influence = 0.5
rotation_influence = 1
on = false
fade = 0.25
color = "#ff8000"
max_iterations = 20

[[handle]]
name = "all"
solver = "full-body"
chain = ["chest", "chest"]
effectors = [
    { joint = "wrist.l", weight = 2, priority = 0 },
    { joint = "wrist.r", goal = { space = "world" }, position_weight = 0.5 },
]
"##;

fn read(text: &str) -> Result<Rig, FileError> {
    rig::read(text, Path::new("a.toml"), &figure(), None)
}

fn error(text: &str) -> String {
    let error = read(text).err().unwrap_or_else(|| panic!("no error for\n{text}")).to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn a_file_becomes_the_rig_that_it_says() {
    let bind = figure();
    let spec = rig::parse(GOOD, Path::new("a.toml"), bind.skeleton(), None).unwrap();
    let joint = |name| bind.skeleton().find(name);
    let [left, right, all] = spec.handles.as_slice() else { panic!("{}", spec.handles.len()) };
    assert_eq!((left.solver, left.from), (HandleSolver::TwoBone, StartFrom::Preferred));
    assert_eq!((Some(left.root), Some(left.tip)), (joint("upperarm.l"), joint("wrist.l")));
    assert_eq!(
        (left.goal.node, left.pole, left.goal.follows_rotation),
        (joint("handIK.l"), joint("elbowIK.l"), false)
    );
    assert_eq!((right.solver, Some(right.tip)), (HandleSolver::Auto, joint("wrist.r")));
    assert_eq!(right.goal.space, Space::Joint(joint("root").unwrap()));
    assert_eq!(left.goal.pole_space, Some(Space::Joint(joint("elbowIK.l").unwrap())));
    assert_eq!((right.goal.pole_space, spec.height), (None, None));
    assert_eq!(
        (right.position_influence, right.rotation_influence, right.fade, right.on),
        (0.5, 1.0, 0.25, false)
    );
    assert_eq!((right.color, right.options.max_iterations), (Some([255, 128, 0]), Some(20)));
    assert_eq!(all.effectors.iter().map(|e| e.weights).collect::<Vec<_>>(), [[2.0, 2.0], [0.5, 1.0]]);
    assert_eq!(all.effectors[1].goal.space, Space::World);

    let rig = read(GOOD).unwrap();
    assert_eq!(rig.names().collect::<Vec<_>>(), ["left arm", "right arm", "all"]);
    let mut goals = vec![RigGoal::new(); rig.goal_count()];
    let wrist = bind.skeleton().find("wrist.r").unwrap();
    let to = Vec3::new(-0.5, 1.6, 0.2);
    goals[rig.find_goal("all", Some(wrist)).unwrap()] = Goal::position(to).into();
    let mut pose = bind.clone();
    let (mut state, frame) = (rig.state(), RigFrame::new(0.1).with_goals(&goals));
    rig.apply(&mut state, &mut Workspace::new(), &mut pose, &frame).unwrap();
    assert!(pose.position(wrist).distance(to) < 1e-3);
}

#[test]
fn goals_of_a_file_are_in_the_space_of_a_role() {
    let model = sinew_files::sample::mannequin().unwrap();
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).unwrap();
    let text = r#"rig = 1
height = 0.9
[[handle]]
name = "left leg"
solver = "two-bone"
chain = ["thigh.L", "foot.L"]
goal = { space = "hips" }
pole = { space = "right foot" }
"#;
    let read = |body| rig::read(text, Path::new("a.toml"), &bind, body);
    let rig = read(Some(&body)).unwrap();
    let (mut state, mut pose) = (rig.state(), bind.clone());
    let goals = [RigGoal::from(Goal::position(Vec3::new(0.1, -0.7, 0.5)))];
    let frame = RigFrame::new(0.1).with_goals(&goals);
    let report = rig.apply(&mut state, &mut Workspace::new(), &mut pose, &frame).unwrap();
    assert!(report.handles[0].report.reached());
    // A figure of 0.9 m has lengths of half a metre. The mannequin faces +Z.
    let wanted = bind.position(body.hips) + 0.5 * Vec3::new(0.1, -0.7, 0.5);
    assert!(pose.position(body.leg(sinew::body::Side::Left).foot).distance(wanted) < 1e-5);
    let error = read(None).err().unwrap().to_string();
    assert_eq!(
        error,
        "a.toml:7: handle `left leg`: the figure has no hips that a goal could be in the space of"
    );
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn the_files_in_the_docs_fit_the_figure_that_they_are_for() {
    let page = include_str!("../../../docs/rigs.md");
    let text = |n: usize| page.split("```toml").nth(n).unwrap().split("```").next().unwrap();
    let at = real::data("gltf/KayKit_Knight.glb");
    let model = sinew_files::Model::read(&at, &sinew_files::ReadOptions::default()).unwrap();
    let rig = rig::read(text(1), Path::new("knight.toml"), &model.bind_pose(), None).unwrap();
    assert_eq!(rig.names().collect::<Vec<_>>(), ["left arm", "left foot"]);
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).unwrap();
    let rig = rig::read(text(2), Path::new("salute.toml"), &bind, Some(&body)).unwrap();
    assert!(rig.find_goal("left foot", None).is_some());
    let rig = rig::read(text(3), Path::new("walk.toml"), &bind, Some(&body)).unwrap();
    assert!(rig.feet()[1].contact.is_some() && !rig.feet()[1].follows_slope);
    for (n, name) in [(4, "hind leg"), (5, "right hand")] {
        let part = format!("rig = 1\n{}", text(n));
        let rig = rig::read(&part, Path::new("knight.toml"), &model.bind_pose(), Some(&body)).unwrap();
        assert_eq!(rig.names().collect::<Vec<_>>(), [name]);
    }
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_what_is_meant() {
    let change = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        error(&GOOD.replacen(from, to, 1))
    };
    for (from, to, line, words) in [
        ("rig = 1", "", 1, "it must begin with its version, `rig = 1`"),
        ("rig = 1", "rig = 2", 1, "the version must be `rig = 1`, not `2`"),
        ("rig = 1", "rig = 1\nhandels = 3", 2, "a rig file has no setting `handels`; did you mean `handle`?"),
        ("rig = 1", "rig = 1\n[humanoid]", 2, "hips and legs are known by their roles: "),
        ("rig = 1", "rig = 1\n[creature]\nride = 3", 3, "must be 0.2 to 2"),
        ("rig = 1", "rig = 1\n[creature]\ngait = \"wavy\"", 3, "did you mean `wave`"),
        ("rig = 1", "rig = 1\n[creature]\nlegs = [\"thigh.L\"]", 3, "root..tip"),
        ("rig = 1", "rig = 1\n[creature]\nlegs = [\"upperarm.l..nose\"]", 3, "nose"),
        ("rig = 1", "rig = 1\n[creature]\nspeed = 1", 3, "no setting `speed`"),
        (
            "rig = 1",
            "rig = 1\n[goal.\"left arn\"]\nswivel = 1",
            2,
            "no goal `left arn`; did you mean `left arm`",
        ),
        ("rig = 1", "rig = 1\n[goal.all]\nposition = [1, 2]", 3, "`[x, y, z]`, not 2 numbers"),
        ("rig = 1", "rig = 1\n[goal.all]\ninfluence = 2", 3, "`influence` must be 0 to 1, not 2"),
        (
            "solver = \"two-bone\"",
            "solver = \"two-bones\"",
            5,
            "there is no solver `two-bones`; did you mean `two-bone`?",
        ),
        ("solver = \"two-bone\"", "solver = 3", 5, "the solver must be a text in quotes, not `3`"),
        (
            "from = \"preferred\"",
            "from = \"zzz\"",
            6,
            "there is no start `zzz`; there is `last`, `pose` or `preferred`",
        ),
        ("from = \"preferred\"", "form = \"preferred\"", 6, "no setting `form`; did you mean `from`"),
        (
            "\"upperarm.l\", ",
            "\"uperarm.l\", ",
            7,
            "there is no joint `uperarm.l`; did you mean `upperarm.l`",
        ),
        ("\"upperarm.l\", ", "\"thumb\", ", 7, "2 joints are named `thumb`: use a path"),
        ("\"upperarm.l\", ", "\"#999\", ", 7, "there is no joint `#999`"),
        ("\"upperarm.l\", ", "\"a\", \"b\", ", 7, "the chain must be `[root, tip]`, not 3 joints"),
        (
            "[\"upperarm.l\", \"wrist.l\"]",
            "[\"wrist.l\", \"upperarm.l\"]",
            7,
            "goes the wrong way: `wrist.l` hangs below `upperarm.l`; write [\"upperarm.l\", \"wrist.l\"]",
        ),
        (
            "[\"upperarm.l\", \"wrist.l\"]",
            "[\"upperarm.l\", \"wrist.r\"]",
            7,
            "joint `wrist.r` does not hang below joint `upperarm.l`",
        ),
        (
            "{ node = \"handIK.l\" }",
            "{ node = \"wrist.l\" }",
            8,
            "which handle `left arm` moves by joint `upperarm.l`",
        ),
        (
            "{ node = \"handIK.l\" }",
            "{ nod = \"handIK.l\" }",
            8,
            "a goal has no setting `nod`; did you mean `node`?",
        ),
        ("{ node = \"handIK.l\" }", "\"handIK.l\"", 8, "a goal must be a table, not `handIK.l`"),
        ("{ joint = \"root\" }", "\"wrld\"", 14, "there is no space `wrld`; did you mean `world`?"),
        (
            "{ joint = \"root\" }",
            "\"left hnd\"",
            14,
            "there is no space `left hnd`; did you mean `left hand`",
        ),
        ("{ joint = \"root\" }", "\"spine 0\"", 14, "there is no space `spine 0`; did you mean `spine 1`"),
        (
            "{ joint = \"root\" }",
            "\"head\"",
            14,
            "the figure has no head that a goal could be in the space of",
        ),
        ("{ joint = \"root\" }", "{ joint = \"wrist.r\" }", 14, "which handle `right arm` moves by joint"),
        (
            "{ joint = \"root\" }",
            "{ role = \"head\" }",
            14,
            "a space has no setting `role`; there is `joint`",
        ),
        ("{ joint = \"elbowIK.l\" }", "\"modle\"", 9, "there is no space `modle`; did you mean `model`?"),
        ("rig = 1", "rig = 1\nheight = 0", 2, "`height` must be above 0 m, not 0"),
        ("rig = 1", "rig = 1\nheight = \"tall\"", 2, "`height` must be a finite number, not `tall`"),
        ("\"right arm\"", "\"left arm\"", 12, "handle `left arm`: another handle has this name"),
        ("name = \"right arm\"\n", "", 11, "a handle needs `name`"),
        ("influence = 0.5", "influence = 1.5", 15, "`influence` must be 0 to 1, not 1.5"),
        ("rotation_influence = 1", "rotation_influence = nan", 16, "must be a finite number, not `nan`"),
        ("on = false", "on = 0", 17, "`on` must be `true` or `false`, not `0`"),
        ("fade = 0.25", "fade = -1", 18, "`fade` must be 0 or more, not -1"),
        ("#ff8000", "#ff80", 19, "a colour must be \"#rrggbb\", not `#ff80`"),
        ("max_iterations = 20", "max_iterations = -3", 20, "must be a whole number from 0, not `-3`"),
        ("max_iterations = 20", "weight = 2", 20, "set it in `effectors`"),
        ("solver = \"full-body\"", "solver = \"auto\"", 26, "auto has one goal, and no effectors"),
        (
            "{ joint = \"wrist.l\", weight = 2, priority = 0 }",
            "{ weight = 2 }",
            27,
            "an effector needs `joint`",
        ),
        ("priority = 0", "priority = 1.5", 27, "`priority` must be 0, 1 or 2, not 1.5"),
        ("weight = 2", "weight = -2", 27, "`weight` must be 0 to 1000000, not -2"),
        ("[[handle]]", "[[handle]", 3, ""),
    ] {
        let error = change(from, to);
        assert!(
            error.starts_with(&format!("a.toml:{line}: ")) && error.contains(words),
            "{error}\nnot {line}: {words}"
        );
    }
    let spring = "rig = 1\n[[handle]]\nname = \"tail\"\nsolver = \"dls\"\nchain = [\"tail\", \"tail end\"]\n";
    assert_eq!(
        error(spring),
        "a.toml:4: handle `tail`: joint `springy` has a spring, which dls cannot honour"
    );
    assert!(error(&"#".repeat(2_000_000)).contains("at most 1048576 bytes"));
    assert!(error(&format!("rig = 1\n{}", "[[handle]]\n".repeat(2000))).contains("at most 1000 handles"));
    assert!(read(&format!("rig = 1\na = {}", "[".repeat(100_000))).is_err());
    for (before, after) in [("a", " = 1"), ("a", " = 1\n[[handle]]\nname = 1\n"), ("[a", "]\n")] {
        let said = error(&format!("rig = 1\r\n\n{before}{}{after}", ".a".repeat(1000)));
        assert_eq!(said, "a.toml:3: recursion limit");
    }
    assert!(read("rig = 1").unwrap().is_empty());
}

#[test]
fn damaged_files_are_one_line_or_a_rig() {
    const WORDS: [&str; 28] = [
        "0",
        "1",
        "-1",
        "0.5",
        "1e39",
        "nan",
        "inf",
        "-inf",
        "99999999999999999999",
        "\"\"",
        "\"root\"",
        "\"wrist.l\"",
        "\"tail end\"",
        "\"pose\"",
        "\"last\"",
        "\"full-body\"",
        "\"spline\"",
        "\"aim\"",
        "\"foot\"",
        "\"twist\"",
        "\"joint-space\"",
        "true",
        "[",
        "]",
        "{",
        "}",
        "=",
        "\u{1F9B4}",
    ];
    let bind = figure();
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (mut rigs, mut errors) = (0, 0);
    for _ in 0..10_000 {
        let mut words: Vec<&str> = GOOD.split_inclusive([' ', '\n']).collect();
        for _ in 0..1 + dice.below(2) * dice.below(3) {
            let at = dice.below(words.len());
            match dice.below(6) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, words[at]),
                2 if dice.below(8) == 0 => words.truncate(at + 1),
                kind => {
                    // Mostly in place of one like it, with the commas and brackets about it.
                    let like = |w: &&&str| {
                        w.starts_with('"') == words[at].trim_start_matches(['[', '{']).starts_with('"')
                    };
                    let fit: Vec<_> = WORDS.iter().filter(|w| kind == 3 || like(w)).collect();
                    let word = *fit[dice.below(fit.len())];
                    let start = words[at].len() - words[at].trim_start_matches(['[', '{']).len();
                    let end = words[at].trim_end_matches([' ', '\n', ']', ',']).len();
                    let (before, after) = (&words[at][..start], &words[at][end.max(start)..]);
                    words.splice(at..=at, [before, word, after]);
                }
            }
            if words.is_empty() {
                words.push("rig");
            }
        }
        let text = words.concat();
        match rig::read(&text, Path::new("a.toml"), &bind, None) {
            Err(error) => {
                let line = error.to_string();
                assert!(line.starts_with("a.toml:") && line.lines().count() == 1, "{line:?} for\n{text}");
                errors += 1;
            }
            Ok(rig) => {
                // What was read can be used.
                let (mut state, mut pose) = (rig.state(), bind.clone());
                let goals = vec![RigGoal::from(Goal::position(Vec3::new(0.3, 1.5, 0.3))); rig.goal_count()];
                let frame = RigFrame::new(0.1).with_goals(&goals);
                match rig.apply(&mut state, &mut Workspace::new(), &mut pose, &frame) {
                    Ok(report) => assert_eq!(report.handles.len(), rig.len()),
                    Err(error) => assert_eq!(error.to_string().lines().count(), 1),
                }
                assert!(pose.locals().iter().all(|l| l.rotation.is_finite() && l.translation.is_finite()));
                rigs += 1;
            }
        }
    }
    assert!(rigs > 300 && errors > 5000, "{rigs} rigs, {errors} errors");
}

#[test]
fn a_humanoid_has_goals_by_name() {
    let model = sinew_files::sample::mannequin().unwrap();
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).unwrap();
    let read = |text: &str| rig::read(text, Path::new("a.toml"), &bind, Some(&body));
    let hand = bind.skeleton().find("hand.R").unwrap();
    let foot = bind.skeleton().find("foot.L").unwrap();
    for limbs in ["two-bone", "full-body"] {
        let text = format!(
            "rig = 1\n[humanoid]\nlimbs = \"{limbs}\"\n[goal.\"right hand\"]\nspace = \"head\"\n\
             position = [-0.15, -0.1, 0.35]\n[goal.\"right elbow\"]\n\
             position = [-2, 0.5, 0]\n[goal.\"left foot\"]\nroll = 0.4\n[goal.body]\nposition = [0.02, 0.9, 0]\n"
        );
        let text = if limbs == "full-body" { text.replace("roll = 0.4", "") } else { text };
        let rig = read(&text).unwrap();
        let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), bind.clone());
        let report = rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(0.1)).unwrap();
        assert!(report.handles.iter().all(|h| h.was_off() || h.report.reached()), "{limbs}: {report:?}");
        // In the frame of the head, the unit is a figure of 1.8 m.
        let head = bind.skeleton().find("head").unwrap();
        let unit = body.height(&bind, &[]) / 1.8;
        let turn = pose.model_rotation(head) * bind.model_rotation(head).inverse();
        let wanted = pose.position(head) + turn * (unit * Vec3::new(-0.15, -0.1, 0.35));
        assert!(pose.position(hand).distance(wanted) < 1e-3, "{limbs}: {} {wanted}", pose.position(hand));
        // The trunk of a full body turns as well, so that the side of its elbow is not known beforehand.
        let elbow = pose.position(bind.skeleton().find("forearm.R").unwrap());
        assert!(limbs == "full-body" || elbow.y < pose.position(hand).y, "{elbow} is not at its pole");
        // The feet stay where they are, but for the roll about the ball of one.
        let other = bind.skeleton().find("foot.R").unwrap();
        assert!(pose.position(other).distance(bind.position(other)) < 1e-3, "{limbs}");
        let rose = pose.position(foot).y - bind.position(foot).y;
        assert!(if limbs == "two-bone" { rose > 0.02 } else { rose.abs() < 1e-3 }, "{limbs}: {rose}");
    }
    for (text, words) in [
        ("[goal.x]\nswivel = 1", "there is no goal `x`; there are none"),
        ("[humanoid]\nlimb = 1", "no setting `limb`; did you mean `limbs`"),
        ("[humanoid]\nlimbs = \"two bone\"", "did you mean `two-bone`"),
        ("[humanoid]\n[goal.\"rihgt hand\"]", "did you mean `right hand`"),
        ("[humanoid]\n[goal.\"left knee\"]\nrotation = [0, 0, 0, 1]", "no setting `rotation`"),
        ("[humanoid]\n[goal.\"left hand\"]\nroll = 0.2", "two-bone has no use for a roll, bank or pivot"),
        ("[humanoid]\n[goal.\"left hand\"]\nrotation = [0, 0, 0, 0]", "a.toml:3"),
        ("[humanoid]\n[goal.look]\nspace = \"head\"\nposition = [0, 0, 1]", "follows joint `head`"),
        ("[humanoid]\nlimbs = \"full-body\"\n[goal.\"left knee\"]\nnode = \"hips\"", "follows no node"),
        // The line is that of the goal at fault, not of the last one of its handle.
        (
            "[humanoid]\nlimbs = \"full-body\"\n[goal.\"left hand\"]\nroll = 0.2\n[goal.\"right foot\"]\nposition = [0, 0, 0]",
            "a.toml:4: handle `limbs`: full-body has no use for a roll",
        ),
        (
            "[humanoid]\n[goal.\"left elbow\"]\nspace = \"left hand\"\n[goal.\"left hand\"]\nposition = [0, 1, 0]",
            "a.toml:3: handle `left hand`: its goal follows joint",
        ),
        (
            "[[handle]]\nname = \"body\"\nchain = [\"hips\"]\nsolver = \"place\"\n[humanoid]",
            "another handle has this name",
        ),
        (
            "[[handle]]\nname = \"b\"\nchain = [\"hips\", \"spine\"]\nsolver = \"place\"",
            "root and tip must be the same",
        ),
    ] {
        let error = read(&format!("rig = 1\n{text}"))
            .err()
            .unwrap_or_else(|| panic!("no error for {text}"))
            .to_string();
        assert!(error.contains(words) && !error.contains('\n'), "{text}: {error}");
    }
}

#[test]
fn planting_of_feet_is_read_with_the_figure() {
    let model = sinew_files::sample::mannequin().unwrap();
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).unwrap();
    let read = |text: &str| rig::read(&format!("rig = 1\n{text}"), Path::new("a.toml"), &bind, Some(&body));
    let plain = FootPlanting::default();
    assert_eq!(*read("[humanoid]").unwrap().feet(), [plain; 2]);

    let text = "[humanoid]\nfeet = { height = 0.01, toe_out = [0.1, 0.2], slope = [false, true] }\n\
                contacts = { right = \"head\" }";
    let rig = read(text).unwrap();
    let foot = FootPlanting { height: 0.01, ..plain };
    let contact = bind.skeleton().find("head");
    assert!(contact.is_some());
    let left = FootPlanting { toe_out: 0.1, follows_slope: false, ..foot };
    assert_eq!(*rig.feet(), [left, FootPlanting { toe_out: 0.2, contact, ..foot }]);
    // Outwards is to the left on the left, counter-clockwise seen from above.
    let figure = rig.figure(&bind, &body, &model.skin_points(&bind)).unwrap();
    let legs = figure.legs().iter().map(|leg| (leg.sole_height, leg.yaw, leg.follows_slope));
    assert_eq!(legs.collect::<Vec<_>>(), [(0.01, 0.1, false), (0.01, -0.2, true)]);

    for (text, line, words) in [
        ("feat = {}", 3, "a humanoid has no setting `feat`; did you mean `feet`?"),
        ("feet = 3", 3, "`feet` must be a table, not `3`"),
        ("feet = { hight = 1 }", 3, "`feet` has no setting `hight`; did you mean `height`?"),
        ("feet = { height = 2 }", 3, "`height` must be within the leg's 0."),
        ("feet = { height = nan }", 3, "`height` must be a finite number, not `nan`"),
        ("feet = { toe_out = [0, 4] }", 3, "`toe_out` must be -3.14"),
        ("feet = { toe_out = [0, 1, 2] }", 3, "one value or `[left, right]`, not 3 values"),
        ("\nfeet = { slope = 1 }", 4, "`slope` must be `true` or `false`, not `1`"),
        ("contacts = {}", 3, "`contacts` needs `left` or `right`"),
        ("contacts = { lft = \"head\" }", 3, "`contacts` has no setting `lft`; did you mean `left`?"),
        ("\n\ncontacts = { left = \"haed\" }", 5, "did you mean `head`?"),
    ] {
        let error = read(&format!("[humanoid]\n{text}")).err().unwrap().to_string();
        assert!(
            error.starts_with(&format!("a.toml:{line}: ")) && error.contains(words),
            "{error}\nnot {line}: {words}"
        );
    }
}
