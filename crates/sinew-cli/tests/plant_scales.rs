//! One walk in files that are scaled, turned or mirrored: the planted clip must be the same in local space.

mod plant_support;

use serde_json::json;

use plant_support::{Glb, Place, near, stairs};

/// Compares the keys of two planted clips, in local space.
#[track_caller]
fn same(a: &Glb, b: &Glb, what: &str) {
    let (a, b) = (a.tracks("walk (planted)"), b.tracks("walk (planted)"));
    assert_eq!(a.len(), b.len());
    for ((node, path, times, values), (_, _, their_times, theirs)) in a.iter().zip(&b) {
        assert!(near(times, their_times, 1e-5), "{what}: times of {node}");
        let mut apart = 0;
        for (key, (x, y)) in values.iter().zip(theirs).enumerate() {
            // A unit quaternion at a distance of 5e-4 is 1e-3 rad away; the sample's hips are a metre high. An iteration ends
            // at a share of its cost, which rounding shifts.
            let opposite: Vec<f32> = y.iter().map(|c| -c).collect();
            let same = |by: f32| near(x, y, by) || (path == "rotation" && near(x, &opposite, by));
            apart += usize::from(!same(5e-4));
            // Where a foot passes an edge closely, rounding decides at which sample it is past it.
            assert!(same(8e-3), "{what}: {path} of {node} at key {key}: {x:?} and {y:?}");
        }
        assert!(10 * apart <= values.len(), "{what}: {path} of {node} at {apart} of {} keys", values.len());
    }
}

#[test]
fn roots_of_any_size_turn_and_hand_give_the_same_motion() {
    let place = Place::new("roots");
    place.write("stairs.obj", stairs(|p| p));
    place.write("right.obj", stairs(|[x, y, z]| [z, y, -x]));
    place.write("back.obj", stairs(|[x, y, z]| [-x, y, -z]));
    place.write("up_z.obj", stairs(|[x, y, z]| [x, -z, y]));
    let sample = Glb::sample();
    place.write("walk.glb", sample.bytes());
    place.done("plant walk.glb --ground stairs.obj -o given.glb");
    let given = place.glb("given.glb");
    place.done("plant walk.glb --ground up_z.obj --ground-up z -o out.glb");
    same(&given, &place.glb("out.glb"), "an OBJ with Z up");

    let quarter = std::f32::consts::FRAC_1_SQRT_2;
    let (up_z, y_up) =
        (json!({"rotation": [quarter, 0, 0, quarter]}), json!({"rotation": [-quarter, 0, 0, quarter]}));
    for (what, wraps, ground) in [
        ("a hundredth", &[json!({"scale": [0.01, 0.01, 0.01]})][..], "stairs.obj --ground-scale 0.01"),
        ("a hundred", &[json!({"scale": [100, 100, 100]})], "stairs.obj --ground-scale 100"),
        (
            "a hundredth of a hundred",
            &[json!({"scale": [100, 100, 100]}), json!({"scale": [0.01, 0.01, 0.01]})],
            "stairs.obj",
        ),
        (
            "a matrix",
            &[json!({"matrix": [0.01, 0, 0, 0, 0, 0.01, 0, 0, 0, 0, 0.01, 0, 0, 0, 0, 1]})],
            "stairs.obj --ground-scale 0.01",
        ),
        ("mirrored left and right", &[json!({"scale": [-1, 1, 1]})], "stairs.obj"),
        ("mirrored fore and aft", &[json!({"scale": [1, 1, -1]})], "back.obj"),
        ("facing X", &[json!({"rotation": [0, quarter, 0, quarter]})], "right.obj"),
        ("facing -Z", &[json!({"rotation": [0, 1, 0, 0]})], "back.obj"),
        ("Z up below a root that turns it", &[up_z, y_up], "stairs.obj"),
        ("elsewhere", &[json!({"translation": [30, 0, -20]})], "stairs.obj --ground-at 30,0,-20"),
    ] {
        let mut glb = sample.clone();
        wraps.iter().for_each(|node| glb.wrap(node.clone()));
        place.write("wrapped.glb", glb.bytes());
        place.done(&format!("plant wrapped.glb --ground {ground} -o out.glb"));
        same(&given, &place.glb("out.glb"), what);
    }
}

#[test]
fn without_weight_the_clip_is_left_as_it_was() {
    let place = Place::new("weights");
    let sample = Glb::sample();
    place.write("walk.glb", sample.bytes());
    place.write("stairs.obj", stairs(|p| p));
    let planted = |weight: &str| {
        place.done(&format!("plant walk.glb --ground stairs.obj --influence {weight} -o out.glb"));
        place.glb("out.glb")
    };
    let none = planted("0");
    let note = &none.animation("walk (planted)")["extras"]["sinew"];
    assert_eq!(note["plants"].as_array().unwrap().len(), 0, "{note}");
    let reasons = note["unplanted"].as_array().unwrap();
    assert!(reasons.len() > 8 && reasons.iter().all(|u| u["reason"] == "its influence is 0"), "{note}");
    let (mut compared, mut same_bits) = (0, 0);
    for (node, path, times, values) in none.tracks("walk (planted)") {
        // The sample and the planted clip both have 30 keys per second; joints without keys are at rest.
        let (own, own_times) = match sample.sampler("walk", &node, &path) {
            Some((input, output)) => (sample.values(output), sample.values(input).concat()),
            None => {
                let rest = &sample.json["nodes"][sample.node(&node)][&path];
                let rest: Vec<f32> =
                    rest.as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32).collect();
                (vec![rest; times.len()], times.clone())
            }
        };
        for (time, value) in times.iter().zip(&values) {
            let Some(key) = own_times.iter().position(|t| (t - time).abs() < 1e-4) else { continue };
            compared += 1;
            let opposite: Vec<f32> = own[key].iter().map(|c| -c).collect();
            let same = near(value, &own[key], 1e-5) || (path == "rotation" && near(value, &opposite, 1e-5));
            assert!(same, "{path} of {node} at {time} s: {value:?}, the clip has {:?}", own[key]);
            // Only the travel may differ, which the hips carry.
            if own_times[key] == *time && (&*node, &*path) != ("hips", "translation") {
                same_bits += 1;
                assert_eq!(*value, own[key], "{path} of {node} at {time} s");
            }
        }
    }
    assert!(compared > 1000 && same_bits > 500, "{compared}, {same_bits}");
    // With an influence between 0 and 1 the pelvis rises by a share.
    let height = |glb: &Glb| {
        let (_, output) = glb.sampler("walk (planted)", "hips", "translation").unwrap();
        glb.values(output).last().unwrap()[1]
    };
    let (low, middle, high) = (height(&none), height(&planted("0.5")), height(&planted("1")));
    assert!(high > low + 1.0 && (middle - 0.5 * (low + high)).abs() < 0.05, "{low} {middle} {high}");
}
