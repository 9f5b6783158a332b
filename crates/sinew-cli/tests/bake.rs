//! `sinew bake`: a clip through a rig's handles, from file to file.

mod plant_support;

use std::process::Command;

use plant_support::{Glb, Place, all_finite, says};
use serde_json::Value;

/// The sample's left hand goes where its right one goes, with the offset that it has from it at bind.
const RIG: &str = r#"
rig = 1

[[handle]]
name = "left arm"
solver = "two-bone"
chain = ["upper_arm.L", "hand.L"]
goal = { node = "hand.R" }
"#;

fn names(glb: &Glb) -> Vec<String> {
    let animations = glb.json["animations"].as_array().unwrap();
    animations.iter().map(|a| a["name"].as_str().unwrap().into()).collect()
}

/// Number of key times of all channels of an animation.
fn keys(glb: &Glb, animation: usize) -> u64 {
    let animation = &glb.json["animations"][animation];
    let input = |s: &Value| s["input"].as_u64().unwrap() as usize;
    let count = |s: &Value| glb.json["accessors"][input(s)]["count"].as_u64().unwrap();
    animation["samplers"].as_array().unwrap().iter().map(count).sum()
}

#[test]
fn a_baked_clip_stands_beside_its_source() {
    let place = Place::with_walk("bake");
    place.write("rig.toml", RIG);
    let said = place.done("bake walk.glb --rig rig.toml -o all.glb");
    says(&said, &["all.glb", "1 handle", "(baked)", "keys"]);
    let (source, all) = (place.glb("walk.glb"), place.glb("all.glb"));
    assert_eq!(names(&all), [names(&source), vec![format!("{} (baked)", names(&source)[0])]].concat());
    assert_eq!(all.json["animations"][1]["extras"]["sinew"]["source"], names(&source)[0].as_str());
    all_finite(&place.0.join("all.glb"));

    let said = place.done("bake walk.glb --rig rig.toml --tolerance 0.005 --foot-tolerance 0.001 -o few.glb");
    says(&said, &[" of "]);
    let few = place.glb("few.glb");
    assert!(4 * keys(&few, 1) < 3 * keys(&all, 1), "{} of {}", keys(&few, 1), keys(&all, 1));
    // The same bytes again; and over the model itself, which the output holds.
    place.done("bake walk.glb -q --rig rig.toml -o again.glb");
    assert!(place.read("again.glb") == place.read("all.glb"));
    place.done("bake walk.glb -q --rig rig.toml -o walk.glb");
    assert!(place.read("walk.glb") == place.read("all.glb"));
}

#[test]
fn feet_are_planted_before_the_handles() {
    let place = Place::with_walk("bake_ground");
    let salute =
        "rig = 1\n[humanoid]\n[goal.\"right hand\"]\nspace = \"head\"\nposition = [-0.15, -0.1, 0.35]\n";
    place.write("salute.toml", salute);
    let said = place.done("bake walk.glb --rig salute.toml --ground rough --tolerance 0.002 -o out.glb");
    says(&said, &["planted on rough ground", "6 handles"]);
    let out = place.glb("out.glb");
    let note = &out.json["animations"][1]["extras"]["sinew"];
    assert!(note["plants"].as_array().is_some_and(|plants| plants.len() > 4), "{note}");
    out.node("ground");
    place.done("bake walk.glb -q --rig salute.toml --ground rough -o again.glb");
    place.done("plant walk.glb -q --ground rough -o planted.glb");
    // The hips and the legs are those of the planted clip.
    let (planted, again) = (place.glb("planted.glb"), place.glb("again.glb"));
    for joint in ["hips", "thigh.L", "shin.R", "foot.L"] {
        let name = names(&planted)[1].clone();
        let (_, from) = planted.sampler(&name, joint, "rotation").unwrap();
        let (_, to) = again.sampler(&name.replace("planted", "baked"), joint, "rotation").unwrap();
        assert_eq!(planted.values(from), again.values(to), "{joint}");
    }
    says(
        &place.refused("bake walk.glb --rig salute.toml --ground rough --ground-scale 2 -o x.glb"),
        &["built in"],
    );
    says(&place.failed("bake walk.glb --rig salute.toml --ground none.obj -o x.glb"), &["none.obj"]);
}

/// The walk as keys of goals, and those keys as joints: the tracks of rigged joints are not in between.
#[test]
fn a_clip_goes_to_goals_and_back() {
    let place = Place::with_walk("bake_goals");
    place.done("rig walk.glb -o rig.toml");
    let said = place.done("bake walk.glb --rig rig.toml --to goals -o goals.glb");
    assert!(!said.contains("do not show"), "{said}");
    let goals = place.glb("goals.glb");
    let clip = names(&goals)[1].clone();
    assert_eq!(clip, format!("{} (goals)", names(&goals)[0]));
    assert!(goals.sampler(&clip, "left foot goal", "translation").is_some());
    for joint in ["hips", "thigh.L", "shin.R", "foot.L", "upper_arm.R", "forearm.L", "hand.R"] {
        assert!(goals.sampler(&clip, joint, "rotation").is_none(), "{joint}");
    }
    all_finite(&place.0.join("goals.glb"));
    place.done("bake goals.glb -q --rig rig.toml --clip #1 -o back.glb");
    let back = place.glb("back.glb");
    let baked = format!("{} (baked)", names(&goals)[0]);
    assert_eq!(names(&back)[2], baked);
    let (_, shin) = back.sampler(&baked, "shin.R", "rotation").unwrap();
    assert!(back.values(shin).len() > 4);
    assert!(back.sampler(&baked, "left foot goal", "translation").is_none());
    // Few keys, and no name twice.
    let said = place.done("bake walk.glb --rig rig.toml --to goals --tolerance 0.005 -o few.glb");
    says(&said, &[" of "]);
    assert!(3 * keys(&place.glb("few.glb"), 1) < keys(&goals, 1));
    place.done("bake walk.glb -q --rig rig.toml -o walk.glb");
    place.done("bake walk.glb -q --rig rig.toml --clip #0 -o walk.glb");
    assert!(names(&place.glb("walk.glb"))[2].ends_with(" (baked 2)"));
}

#[test]
fn goals_that_are_missed_are_said() {
    let place = Place::with_walk("bake_missed");
    let far = "rig = 1\n[humanoid]\n[goal.\"left hand\"]\nposition = [3, 1.4, 0]\n";
    place.write("far.toml", far);
    let said = place.done("bake walk.glb --rig far.toml -o out.glb");
    says(&said, &["`left hand` misses its goal in", "from 0.00 s on"]);
    let near = far.replace("position = [3, 1.4, 0]", "space = \"hips\"\nposition = [0.2, 0.3, 0.3]");
    place.write("near.toml", near);
    assert!(!place.done("bake walk.glb --rig near.toml -o out.glb").contains("misses"));
}

#[test]
fn what_cannot_be_baked_is_one_line() {
    let place = Place::with_walk("bake_bad");
    place.write("rig.toml", RIG);
    place.write("bad.toml", RIG.replace("hand.R", "hnd.R"));
    place.write("binary.toml", b"rig = 1\n\xff");
    place.write("arm.urdf", "<robot name=\"a\"><link name=\"b\"/></robot>");
    says(&place.failed("bake walk.glb --rig bad.toml -o out.glb"), &["bad.toml:8", "hnd.R", "hand.R"]);
    says(&place.failed("bake walk.glb --rig binary.toml -o out.glb"), &["binary.toml:2", "UTF-8"]);
    says(&place.failed("bake walk.glb --rig none.toml -o out.glb"), &["none.toml"]);
    says(&place.failed("bake walk.glb --rig rig.toml --clip run -o out.glb"), &["run"]);
    says(&place.failed("bake walk.glb --rig rig.toml -o none/out.glb"), &["no folder none"]);
    says(&place.refused("bake walk.glb --rig rig.toml -o rig.toml"), &["rig.toml"]);
    says(&place.refused("bake walk.glb --rig rig.toml -o out.bvh"), &["from a BVH"]);
    says(&place.refused("bake arm.urdf --rig rig.toml -o out.glb"), &["arm.urdf", "no clip"]);
    says(&place.refused("bake walk.glb --rig rig.toml --tolerance=-1 -o out.glb"), &["-1"]);
    says(&place.refused("bake walk.glb --rig rig.toml --foot-tolerance 0.1 -o out.glb"), &["--tolerance"]);
    assert_eq!(place.names(), ["arm.urdf", "bad.toml", "binary.toml", "rig.toml", "walk.glb"]);
}

/// A proposed rig changes nothing, and each of its goals can be set.
#[test]
fn a_proposed_rig_is_a_rig_and_changes_nothing() {
    let place = Place::with_walk("rig");
    place.done("rig walk.glb -o rig.toml");
    let text = String::from_utf8(place.read("rig.toml")).unwrap();
    assert_eq!(place.done("rig walk.glb"), text);
    place.done("bake walk.glb -q --rig rig.toml -o same.glb");
    let same = place.glb("same.glb");
    let name = names(&same)[0].clone();
    let tracks = |of: &str| same.tracks(of).len();
    assert_eq!(keys(&same, 0), keys(&same, 1));
    assert_eq!(tracks(&name), tracks(&format!("{name} (baked)")));
    let mut goals = 0;
    for at in text.match_indices("# [goal.").map(|(at, _)| at) {
        let (before, goal) = text.split_at(at);
        let (table, rest) = goal.split_at(goal.find("\n\n").unwrap_or(goal.len()));
        let set = format!("{before}{}{rest}", table.replace("# [", "[").replace("\n# ", "\n"));
        place.write("set.toml", set);
        place.done("bake walk.glb -q --rig set.toml -o set.glb");
        assert_ne!(place.read("set.glb"), place.read("same.glb"), "{table}");
        goals += 1;
    }
    assert_eq!(goals, 10);
    // Goals where they are at bind, for all limbs at once.
    let all = text.replace("# [", "[").replace("\n# position", "\nposition").replace("\n# roll", "\nroll");
    place.write("all.toml", all.replace("two-bone\"\n", "full-body\"\n").replace("\nroll", "\n# roll"));
    place.done("bake walk.glb -q --rig all.toml -o all.glb");
    says(&place.failed("rig missing.glb"), &["missing.glb"]);
    says(&place.refused("rig walk.glb -o walk.glb"), &["would overwrite"]);
    place.write("arm.urdf", "<robot name=\"a\"><link name=\"b\"/></robot>");
    says(&place.refused("rig arm.urdf"), &["arm.urdf"]);
}

/// Keys of goals are played and baked to goals again: each clip has the name of the first and a number.
#[test]
fn goals_are_baked_again_and_again() {
    let place = Place::with_walk("bake_goals_again");
    place.write("rig.toml", "rig = 1\n[humanoid]\n");
    let walk = names(&place.glb("walk.glb"))[0].clone();
    place.done("bake walk.glb -q --rig rig.toml --to goals -o a.glb");
    for (from, to, clip) in [("a", "b", "goals"), ("b", "c", "goals 2"), ("c", "d", "goals 3")] {
        let clip = format!("{walk} ({clip})");
        let out = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(["bake", &format!("{from}.glb"), "-q", "--rig", "rig.toml", "--to", "goals"])
            .args(["-o", &format!("{to}.glb"), "--clip", &clip])
            .current_dir(&place.0)
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    }
    let wanted = ["", " (goals)", " (goals 2)", " (goals 3)", " (goals 4)"].map(|end| format!("{walk}{end}"));
    assert_eq!(names(&place.glb("d.glb")), wanted);
}

#[test]
fn a_rig_without_goals_to_key_is_named() {
    let place = Place::with_walk("bake_no_goals");
    place.write(
        "roll.toml",
        "rig = 1\n[[handle]]\nname = \"roll\"\nsolver = \"twist\"\nchain = [\"upper_arm.R\", \"hand.R\"]\n",
    );
    place.write("none.toml", "rig = 1\n");
    for rig in ["roll.toml", "none.toml"] {
        let said = place.failed(&format!("bake walk.glb --rig {rig} --to goals -o out.glb"));
        says(&said, &[rig, "no goal", "twist"]);
    }
    assert_eq!(place.names(), ["none.toml", "roll.toml", "walk.glb"]);
}

#[test]
fn contacts_of_a_file_are_planted() {
    let place = Place::with_walk("bake_contacts");
    place.write("rig.toml", "rig = 1\n[humanoid]\n");
    place.write(
        "given.json",
        r#"{"left": {"heel": [[0.2, 0.5]], "ball": [[0.2, 0.5]]}, "right": {"curve": [[0, 0]]}}"#,
    );
    place.done("bake walk.glb -q --rig rig.toml --ground flat --contacts given.json -o out.glb");
    let out = place.glb("out.glb");
    let note = &out.json["animations"][1]["extras"]["sinew"];
    let plants = note["plants"].as_array().unwrap();
    assert!(!plants.is_empty() && plants.iter().all(|p| p["foot"] == "left"), "{plants:?}");

    place.write("late.json", r#"{"left": {"heel": [[90, 91]], "ball": []}}"#);
    let late = place.failed("bake walk.glb --rig rig.toml --ground flat --contacts late.json -o no.glb");
    says(&late, &["late.json: left.heel[0]"]);
    let no_ground = place.refused("bake walk.glb --rig rig.toml --contacts given.json -o no.glb");
    says(&no_ground, &["--ground"]);
}
