//! `sinew walk` as its user meets it: the built-in creatures, orders, paths, rig files, and what cannot walk.

mod common;
mod plant_support;

use common::data;
use plant_support::{Place, all_finite, says};
use serde_json::Value;

/// Reads a report.
fn report(place: &Place, name: &str) -> Value {
    serde_json::from_slice(&place.read(name)).unwrap()
}

#[test]
fn without_a_model_a_creature_walks_and_is_drawn() {
    let place = Place::new("walk");
    let text = place.done("walk");
    says(&text, &["8 legs", "wrote walk.glb", "wrote walk.png"]);
    assert_eq!(place.names(), ["walk.glb", "walk.png"]);
    let glb = place.glb("walk.glb");
    assert_eq!(glb.json["animations"][0]["name"], "walk");
    assert!(glb.json["nodes"].as_array().unwrap().iter().any(|n| n["name"] == "ground"));
    all_finite(&place.0.join("walk.glb"));
    let first = place.read("walk.glb");
    place.done("walk -q");
    assert!(first == place.read("walk.glb"), "the second run differs");
    place.done("walk --creature 6 --ground stairs --speed 0.3 -o six.glb --report six.json");
    let six = report(&place, "six.json");
    assert_eq!(six["note"]["legs"].as_array().unwrap().len(), 6);
    assert!((six["speed_m_per_s"].as_f64().unwrap() - 0.3).abs() < 0.02, "{six}");
    // A written creature walks on: the walk and the ground are no part of it.
    place.done("walk six.glb --ground flat -q -o again.glb");
    assert_eq!(place.glb("again.glb").json["animations"][1]["name"], "walk (walker)");
}

#[test]
fn it_walks_along_paths_and_by_orders_over_time() {
    let place = Place::new("walk-paths");
    place.write("path.json", "[[0, 0], [0, 3], [2, 5], [5, 5]]");
    place.done("walk --path path.json --ground flat -o path.glb --report path.json.out");
    let walked = report(&place, "path.json.out");
    assert!(walked["off_path_rms_m"].as_f64().unwrap() < 0.1, "{walked}");
    let way = walked["distance_m"].as_f64().unwrap();
    assert!((8.0..9.5).contains(&way), "{way}");
    place.write("orders.json", "[[0, 0.4, 0, 0], [3, 0, 0, 0]]");
    place.done("walk --commands orders.json --seconds 8 --ground flat -q -o orders.glb --report orders.out");
    let way = report(&place, "orders.out")["distance_m"].as_f64().unwrap();
    assert!((1.0..1.3).contains(&way), "{way}");
    // Faster than any legs: the ground lies where they can go.
    for order in ["--speed 1e30", "--speed 1 --sideways -1e30", "--turn 1e30"] {
        place.done(&format!("walk {order} --seconds 2 -q -o fast.glb"));
        all_finite(&place.0.join("fast.glb"));
    }
    place.done("walk --circle 3 --seconds 5 -q -o circle.glb --gait tetrapod --ride 1.2");
    // Parts behind that trail turn; a stiff one keeps its rotation, as it is not near the ground.
    let turns = |name: &str| {
        let json = place.glb(name).json;
        let named = |n: &Value| n["name"] == "abdomen";
        let node = json["nodes"].as_array().unwrap().iter().position(named).unwrap();
        let is = |c: &&Value| c["target"]["node"] == node && c["target"]["path"] == "rotation";
        let channels = json["animations"][0]["channels"].as_array().unwrap();
        let sampler = channels.iter().find(is).map(|c| c["sampler"].as_u64().unwrap() as usize);
        sampler.map_or(0, |s| {
            let input = json["animations"][0]["samplers"][s]["input"].as_u64().unwrap() as usize;
            json["accessors"][input]["count"].as_u64().unwrap()
        })
    };
    place.done("walk --turn 0.6 --seconds 4 --ground flat -q -o stiff.glb");
    place.done("walk --turn 0.6 --seconds 4 --ground flat --trail 0.3 -q -o trail.glb");
    assert!(
        turns("stiff.glb") < 5 && turns("trail.glb") > 100,
        "{} {}",
        turns("stiff.glb"),
        turns("trail.glb")
    );
}

#[test]
fn what_cannot_walk_is_said_in_a_line() {
    let place = Place::with_walk("walk-bad");
    says(&place.failed("walk walk.glb -o out.glb"), &["found 2 legs", "--legs"]);
    says(&place.failed("walk none.glb -o out.glb"), &["none.glb"]);
    for (text, words) in [
        ("[[0, 0]]", ["at least two points", "path.json"]),
        ("[[1, 1], [1, 1]]", ["at least two points", "path.json"]),
        ("[[0, 0], [0]]", ["[[x, z], ...]", "path.json"]),
        ("{}", ["[[x, z], ...]", "path.json"]),
    ] {
        place.write("path.json", text);
        says(&place.failed("walk --path path.json -o out.glb"), &words);
    }
    for text in ["[]", "[[0, 1, 0, 0], [0, 1, 0, 0]]", "[[0, 1e99, 0, 0]]", "[[0, 1]]"] {
        place.write("orders.json", text);
        says(&place.failed("walk --commands orders.json -o out.glb"), &["orders.json"]);
    }
    says(&place.failed("walk --creature 6 --gait trot -o out.glb"), &["trot", "4 legs", "6"]);
    says(&place.refused("walk --gait gallop -o out.glb"), &["tetrapod"]);
    says(&place.refused("walk --speed NaN -o out.glb"), &["finite"]);
    says(&place.refused("walk --creature 2 -o out.glb"), &["4..=40"]);
    says(&place.refused("walk --circle 0 -o out.glb"), &["greater than 0"]);
    says(&place.failed("walk --seconds 1e9 -o out.glb"), &["longer than 3600"]);
    place.write("creature.toml", "rig = 1\n[creature]\nride = 9\n");
    says(&place.failed("walk --rig creature.toml -o out.glb"), &["creature.toml:3", "0.2 to 2"]);
    place.write("hole.obj", "v 50 0 50\nv 50 0 59\nv 59 0 59\nf 1 2 3\n");
    says(&place.failed("walk --ground hole.obj -o out.glb"), &["no ground under any foot"]);
    says(&place.refused("walk --legs a,b,c -o out.glb"), &["ROOT..TIP"]);
    let legs = "leg_1_coxa_l..leg_1_tip_l,leg_1_coxa_r..leg_1_tip_r,leg_2_tip_l..leg_2_coxa_l";
    says(&place.failed(&format!("walk --legs {legs} -o out.glb")), &["does not hang below"]);
}

#[test]
#[ignore = "real files"]
fn real_creatures_walk_by_shape_by_hand_and_by_rig_files() {
    let place = Place::new("walk-real");
    let file = |name: &str| data(&format!("gltf/{name}")).display().to_string();
    let (spider, horse, fox, snake) = (
        file("m2m_spider-animations.glb"),
        file("m2m_horse-animations.glb"),
        file("Fox.glb"),
        file("m2m_snake-animations.glb"),
    );
    let terrain = file("terrain_bevy.glb");
    let line =
        format!("walk {spider} --ground {terrain} --ground-scale 5 --circle 10 --speed 0.85 --seconds 8");
    place.done(&format!("{line} -o spider.glb --report spider.json --clip Idle"));
    let walked = report(&place, "spider.json");
    assert_eq!(walked["note"]["legs"].as_array().unwrap().len(), 8);
    assert!(walked["off_path_rms_m"].as_f64().unwrap() < 0.17, "{walked}");
    place.write(
        "horse.toml",
        r#"
rig = 1
[creature]
gait = "walk"
legs = ["front_humerus_l..front_leg_leaf_l", "front_humerus_r..front_leg_leaf_r",
        "back_leg_upper_l..back_leg_leaf_l", "back_leg_upper_r..back_leg_leaf_r"]
ride = 1.0
"#,
    );
    let line = format!("walk {horse} --rig horse.toml --speed 0.6 --turn 0.3 --seconds 6 --ground rough");
    place.done(&format!("{line} -o horse.glb --report horse.json"));
    let walked = report(&place, "horse.json");
    assert_eq!(
        (walked["gait"].as_str(), walked["note"]["legs"][0]["root"].as_str()),
        (Some("walk"), Some("front_humerus_l"))
    );
    place.done(&format!("walk {fox} --seconds 5 -q -o fox.glb"));
    says(&place.failed(&format!("walk {snake} -o out.glb")), &["found no legs"]);
    says(
        &place.failed(&format!("walk {} -o out.glb", file("KayKit_Knight.glb"))),
        &["found", "at least three"],
    );
}
