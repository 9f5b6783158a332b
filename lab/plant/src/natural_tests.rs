//! Tests of the measures of naturalness, on hand-made files with known measures.

use serde_json::{Value, json};

use crate::{
    flat,
    ground::{Ground, tests::step},
    marks::Marks,
    motion::{LEG, Motion},
    natural, real_stairs,
    scene::Scene,
    tests::{self, FOOT, RIGHT_THIGH, SHIN_NODE, THIGH, at_keys, close, figure, file, note},
    unchanged,
};

/// A written file with its motion.
fn motion(given: &tests::Motion, planted: &tests::Motion, note: Value) -> (Scene, Motion) {
    let scene = file(given, Some((planted, note)));
    let figure = figure(&scene);
    let motion = Motion::new(&scene, &figure, scene.named("neck").unwrap(), 0.0).unwrap();
    (scene, motion)
}

fn natural(given: &tests::Motion, planted: &tests::Motion, ground: &Ground, is_flat: bool) -> Marks {
    let mut marks = Marks::default();
    let (_, m) = motion(given, planted, note(1.0, [0.0; 3]));
    natural::measure(&m, ground, is_flat, [1.0, 0.0], &mut marks);
    marks
}

fn still() -> tests::Motion {
    tests::Motion::new(|_| [0.0, 1.0, 0.0])
}

/// Factor to a leg of 0.93 m: thigh and shin are (0, -0.45, 0.05) and (0, -0.45, -0.05).
fn scale() -> f64 {
    LEG / (2.0 * 0.205_f64.sqrt())
}

#[test]
fn a_foot_that_is_turned_up() {
    // The shin leans forwards over a level sole; half-way the foot is turned up by 50 degrees more.
    let lean = 0.05_f64.atan2(0.45).to_degrees();
    let planted = still().turned(FOOT, |t| -(50_f64.to_radians()) * (1.0 - 2.0 * (t - 0.5).abs()));
    let marks = natural(&still(), &planted, &tests::flat(), false);
    let ankle = marks.get("ankle");
    assert!((ankle.value - lean - 50.0).abs() < 1e-4 && (ankle.high - 35.0).abs() < 1e-9, "{ankle:?}");
    assert!((ankle.time - 0.5).abs() < 1e-6 && ankle.missed());
    // With a clip that does it itself, its own and 8 degrees are allowed.
    let marks = natural(&planted, &planted, &tests::flat(), false);
    assert!((marks.get("ankle").high - (lean + 50.0 + 9.0)).abs() < 1e-4 && !marks.get("ankle").missed());
}

#[test]
fn a_knee_that_swings() {
    // Bends by A (1 - cos wt): second differences are A (2 - 2 cos wh) / h^2 at most.
    let (a, w, h) = (1.4, 3.0 * std::f64::consts::TAU, 1.0 / 60.0);
    let planted = still().turned(SHIN_NODE, |t| a * (1.0 - (w * t).cos()));
    let marks = natural(&still(), &planted, &tests::flat(), false);
    let knee = marks.get("knee rad/s2");
    let known = a * (2.0 - 2.0 * (w * h).cos()) / (h * h);
    assert!((knee.value - known).abs() < 0.1 && knee.high == 400.0 && knee.missed(), "{knee:?} {known}");
    let rest = 2.0 * 0.05_f64.atan2(0.45).to_degrees();
    assert!((marks.get("knee most").value - rest - (2.0 * a).to_degrees()).abs() < 1e-3);
    assert!((marks.get("knee least").value - rest).abs() < 1e-4 && !marks.get("knee least").missed());
}

#[test]
fn hips_that_fall() {
    let planted = tests::Motion::new(|t| [0.0, 1.0 - 10.0 * t * t, 0.0]);
    let marks = natural(&still(), &planted, &tests::flat(), false);
    let hips = marks.get("hips m/s2");
    assert!((hips.value - 20.0 * scale()).abs() < 1e-2 && hips.high == 12.0 && hips.missed(), "{hips:?}");
    // A clip that falls itself: 1.5 times its own.
    let marks = natural(&planted, &planted, &tests::flat(), false);
    assert!((marks.get("hips m/s2").high - 30.0 * scale()).abs() < 1e-2);
}

#[test]
fn a_trunk_that_leans_on_the_flat() {
    let mut planted = still();
    planted.neck = at_keys(|_| [0.0, 1.0 + 0.5 * 5_f64.to_radians().cos(), 0.5 * 5_f64.to_radians().sin()]);
    let marks = natural(&still(), &planted, &tests::flat(), true);
    close(marks.get("lean").value, 5.0);
    assert!(marks.get("lean").missed());
}

/// Stands on the left foot before a step of 20 cm, then on the right one behind it; the other leg is held up.
fn stepping(up: f64) -> tests::Motion {
    let ease = |t: f64| ((t - 0.4) / 0.2).clamp(0.0, 1.0);
    let held = 60_f64.to_radians();
    tests::Motion::new(move |t| [0.0, 1.0 + up * ease(t), 0.3 + 1.2 * ease(t)])
        .turned(THIGH, move |t| -held * ease(t))
        .turned(RIGHT_THIGH, move |t| -held * (1.0 - ease(t)))
}

#[test]
fn a_step_is_the_difference_of_the_ground_under_two_stances() {
    let (_, m) = motion(&stepping(0.0), &stepping(0.2), note(1.0, [0.0; 3]));
    let steps = m.steps(&step());
    assert_eq!(steps.len(), 1);
    close(steps[0].rise, 0.2 * scale());
    assert!(steps[0].span.from == 0 && steps[0].span.to + 1 == m.times.len());
    assert!(!natural::is_high(&steps));
    let marks = natural(&stepping(0.0), &stepping(0.2), &step(), false);
    close(marks.get("step cm").value, 20.0 * scale());
}

#[test]
fn a_floor_that_changes_feet_and_hips() {
    // Centimetres of places in single precision.
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-4, "{a} is not {b}");
    let measured = |given: &tests::Motion, planted: &tests::Motion| {
        let (scene, m) = motion(given, planted, note(1.0, [0.0; 3]));
        let mut marks = Marks::default();
        flat::measure(&m, &scene, &tests::flat(), &mut marks);
        marks
    };
    let marks = measured(&still(), &tests::Motion::new(|_| [0.0, 1.03, 0.0]));
    for name in ["heel cm", "ball cm", "hips cm"] {
        close(marks.get(name).value, 3.0 * scale());
        close(marks.get(name).high, 1.0);
    }
    close(marks.get("floor cm").value, 0.0);
    close(marks.get("sole deg").value, 0.0);
    // Feet that drift by 10 cm in contact are up to 5 from their median place, which allows as much.
    let drift = tests::Motion::new(|t| [0.1 * t, 1.0, 0.0]);
    let marks = measured(&drift, &tests::Motion::new(|_| [0.05, 1.0, 0.0]));
    close(marks.get("ball cm").value, 5.0 * scale());
    close(marks.get("ball cm").high, 5.0 * scale() + 1.0);
    close(marks.get("hips cm").high, 7.5 * scale() + 1.0);
    assert!(!marks.get("ball cm").missed());
    // Contacts that lie 2 cm over the floor.
    let marks = measured(&tests::Motion::new(|_| [0.0, 1.02, 0.0]), &still());
    close(marks.get("floor cm").value, 2.0 * scale());
    // A foot that is turned by 4 degrees.
    let marks = measured(&still(), &still().turned(FOOT, |_| 4_f64.to_radians()));
    assert!((marks.get("sole deg").value - 4.0).abs() < 1e-4 && marks.get("sole deg").missed());
}

#[test]
fn rounds_that_differ() {
    let mut of_two = note(1.0, [0.0; 3]);
    of_two["cycles"] = json!(2);
    of_two["cycle_duration"] = json!(0.5);
    let looped = |second: f64| {
        let planted = still().turned(FOOT, |t| if t > 0.6 { second.to_radians() } else { 0.0 });
        let (scene, m) = motion(&still(), &planted, of_two.clone());
        let mut marks = Marks::default();
        flat::measure(&m, &scene, &tests::flat(), &mut marks);
        marks.get("loop deg").clone()
    };
    let mark = looped(2.0);
    assert!((mark.value - 2.0).abs() < 1e-4 && mark.high == 0.5 && mark.missed(), "{mark:?}");
    assert!(!looped(0.3).missed());
}

#[test]
fn without_influence_every_bit_is_the_clips() {
    let mut nothing = note(1.0, [0.0, 0.0, 0.5]);
    nothing["plants"] = json!([]);
    let walk = |dz: f64| tests::Motion::new(move |t| [0.0, 1.0, dz * t]).turned(SHIN_NODE, |t| 0.3 * t);
    let measured = |planted: &tests::Motion, note: Value| {
        let (scene, m) = motion(&walk(0.0), planted, note);
        let mut marks = Marks::default();
        unchanged::measure(&m, &scene, &figure(&scene), &mut marks);
        marks
    };
    let marks = measured(&walk(0.5), nothing.clone());
    assert!(marks.iter().all(|m| !m.missed()), "{marks:?}");
    // A claim, a key with another bit, and travel that is 1 mm/s too fast.
    assert!(measured(&walk(0.5), note(1.0, [0.0, 0.0, 0.5])).get("claimed").missed());
    let mut other = walk(0.501);
    other.turns[0].1[9][0] += 2.0 * f64::from(f32::EPSILON);
    let marks = measured(&other, nothing);
    close(marks.get("other bits").value, 1.0);
    assert!((marks.get("travel um").value - 1000.0).abs() < 0.5, "{marks:?}");
}

#[test]
fn stairs_for_a_walk_have_their_size_by_its_leg() {
    let walk = tests::Motion::new(|t| [0.0, 1.02, 0.1 * t]);
    let (_, m) = motion(&walk, &walk, note(1.0, [0.0; 3]));
    let obj = real_stairs::obj(&m, true).unwrap();
    let vertices: Vec<Vec<f64>> = obj
        .lines()
        .filter_map(|l| l.strip_prefix("v "))
        .map(|l| l.split(' ').map(|w| w.parse().unwrap()).collect())
        .collect();
    let size = 1.0 / scale();
    // The ground lies where the feet stand; the first riser is 60 cm before the toes, 15 cm before the hips.
    close(vertices[0][1], 0.02);
    close(vertices[2][2], 0.15 + 0.6 * size);
    close(vertices[4][1], 0.02 - 0.18 * size);
    close(vertices[6][2] - vertices[4][2], 0.285 * size);
}
