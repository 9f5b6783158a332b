//! Tests of the judge, on hand-made files with known measures.

use serde_json::{Value, json};

use crate::{
    figure::{Figure, Joint::Name},
    ground::{Ground, tests::quad, tests::step},
    maths::v3,
    measure::{Measures, measure},
    same,
    scene::Scene,
};

/// A clip to be written: the place of the hips at each key, the left shin's offset, and what other nodes do.
pub struct Motion {
    hips: Vec<[f64; 3]>,
    shin: [f64; 3],
    /// Nodes with their rotations at each key.
    pub turns: Vec<(usize, Vec<[f64; 4]>)>,
    /// The neck's place at each key, if it moves.
    pub neck: Vec<[f64; 3]>,
}

/// Keys a second.
const RATE: f64 = 60.0;
/// The left thigh's node.
pub const THIGH: usize = 1;
/// The left shin's.
pub const SHIN_NODE: usize = 2;
/// The left foot's.
pub const FOOT: usize = 3;
/// The right thigh's.
pub const RIGHT_THIGH: usize = 5;
/// Offset of the shins from the thighs in the rest pose. A little forward, so that the knee is bent.
const SHIN: [f64; 3] = [0.0, -0.45, 0.05];

impl Motion {
    /// Hips at a place of each key's time; one second and a key.
    pub fn new(hips: impl Fn(f64) -> [f64; 3]) -> Self {
        Self { hips: at_keys(hips), shin: SHIN, turns: Vec::new(), neck: Vec::new() }
    }

    /// The same with a node that is turned about X by an angle in radians.
    pub fn turned(mut self, node: usize, angle: impl Fn(f64) -> f64) -> Self {
        let turn = |t| {
            let (s, c) = (0.5 * angle(t)).sin_cos();
            [s, 0.0, 0.0, c]
        };
        self.turns.push((node, at_keys(turn)));
        self
    }
}

/// A value of each key's time; one second and a key.
pub fn at_keys<T>(of: impl Fn(f64) -> T) -> Vec<T> {
    (0..=RATE as usize).map(|i| of(i as f64 / RATE)).collect()
}

/// Parts of a GLB that grow together.
#[derive(Default)]
struct Parts {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Parts {
    fn add(&mut self, values: &[f64], kind: &str, per: usize) -> usize {
        let low = values.iter().copied().fold(f64::MAX, f64::min);
        let high = values.iter().copied().fold(f64::MIN, f64::max);
        self.views.push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": 4 * values.len()}));
        self.bytes.extend(values.iter().flat_map(|v| (*v as f32).to_le_bytes()));
        let mut accessor = json!({"bufferView": self.views.len() - 1, "componentType": 5126, "type": kind, "count": values.len() / per});
        if per == 1 {
            accessor["min"] = json!([low]);
            accessor["max"] = json!([high]);
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    fn animation(&mut self, name: &str, motion: &Motion, extras: Option<Value>) -> Value {
        let times: Vec<f64> = (0..motion.hips.len()).map(|i| i as f64 / RATE).collect();
        let input = self.add(&times, "SCALAR", 1);
        let hips = self.add(motion.hips.as_flattened(), "VEC3", 3);
        let shin = self.add(vec![motion.shin; times.len()].as_flattened(), "VEC3", 3);
        let mut tracks = vec![(0, "translation", hips), (2, "translation", shin)];
        for (node, turns) in &motion.turns {
            tracks.push((*node, "rotation", self.add(turns.as_flattened(), "VEC4", 4)));
        }
        if !motion.neck.is_empty() {
            tracks.push((9, "translation", self.add(motion.neck.as_flattened(), "VEC3", 3)));
        }
        let sampler = |output: usize| json!({"input": input, "output": output});
        let channel = |sampler: usize, node: usize, path: &str| json!({"sampler": sampler, "target": {"node": node, "path": path}});
        let mut a = json!({
            "name": name,
            "samplers": tracks.iter().map(|t| sampler(t.2)).collect::<Vec<_>>(),
            "channels": tracks.iter().enumerate().map(|(i, t)| channel(i, t.0, t.1)).collect::<Vec<_>>(),
        });
        if let Some(extras) = extras {
            a["extras"] = json!({"sinew": extras});
        }
        a
    }
}

/// A figure of two legs and a neck in the air, one metre to its hips and its toes on a floor of height 0, with a clip and, if asked, a planted one.
pub fn file(given: &Motion, planted: Option<(&Motion, Value)>) -> Scene {
    let mut parts = Parts::default();
    let mut animations = vec![parts.animation("walk", given, None)];
    if let Some((motion, note)) = planted {
        animations.push(parts.animation("walk (planted)", motion, Some(note)));
    }
    let leg = |first: usize, side: &str, x: f64| {
        vec![
            json!({"name": format!("thigh.{side}"), "translation": [x, 0.0, 0.0], "children": [first + 1]}),
            json!({"name": format!("shin.{side}"), "translation": SHIN, "children": [first + 2]}),
            json!({"name": format!("foot.{side}"), "translation": [0.0, -0.45, -0.05], "children": [first + 3]}),
            json!({"name": format!("toes.{side}"), "translation": [0.0, -0.1, 0.15]}),
        ]
    };
    let mut nodes = vec![json!({"name": "hips", "translation": [0.0, 1.0, 0.0], "children": [1, 5]})];
    nodes.extend(leg(1, "L", 0.1));
    nodes.extend(leg(5, "R", -0.1));
    // Not below the hips, so that it counts for nothing but the trunk.
    nodes.push(json!({"name": "neck", "translation": [0.0, 1.5, 0.0]}));
    let document = json!({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 9]}], "nodes": nodes, "animations": animations,
        "buffers": [{"byteLength": parts.bytes.len()}], "bufferViews": parts.views, "accessors": parts.accessors,
    });
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut glb = b"glTF".to_vec();
    let word = |glb: &mut Vec<u8>, n: usize| glb.extend((n as u32).to_le_bytes());
    word(&mut glb, 2);
    word(&mut glb, 28 + text.len() + parts.bytes.len());
    word(&mut glb, text.len());
    glb.extend(b"JSON");
    glb.extend(text);
    word(&mut glb, parts.bytes.len());
    glb.extend(b"BIN\0");
    glb.extend(parts.bytes);
    Scene::from_slice(&glb, None).unwrap()
}

/// A note that claims heels and balls from 0 s to `to`.
pub fn note(to: f64, travel: [f64; 3]) -> Value {
    let points = [("left", "heel"), ("left", "ball"), ("right", "heel"), ("right", "ball")];
    let plants: Vec<Value> = points
        .iter()
        .map(|(f, p)| json!({"foot": f, "joint": "", "point": p, "from": 0.0, "to": to}))
        .collect();
    json!({"source": "walk", "cycles": 1, "cycle_duration": 1.0, "travel": travel, "start": 0.0, "plants": plants, "unplanted": []})
}

pub fn flat() -> Ground {
    Ground::new(quad(v3(-9.0, 0.0, -9.0), v3(-9.0, 0.0, 9.0), v3(9.0, 0.0, 9.0), v3(9.0, 0.0, -9.0)).to_vec())
}

/// The figure of `file`.
pub fn figure(scene: &Scene) -> Figure {
    let names = ["L", "R"].map(|s| match s {
        "L" => [Name("thigh.L"), Name("shin.L"), Name("foot.L"), Name("toes.L")],
        _ => [Name("thigh.R"), Name("shin.R"), Name("foot.R"), Name("toes.R")],
    });
    Figure::new(scene, &names, true).unwrap()
}

fn judged(given: &Motion, planted: &Motion, note: Value, ground: &Ground) -> Measures {
    let scene = file(given, Some((planted, note)));
    let figure = figure(&scene);
    assert!(
        (figure.height - 1.0).abs() < 1e-6 && (figure.legs[0].length - 2.0 * 0.205_f64.sqrt()).abs() < 1e-6
    );
    measure(&scene, &figure, ground, 0.0).unwrap()
}

pub fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-6, "{a} is not {b}");
}

#[test]
fn a_figure_that_stands_three_millimetres_deep_and_slides_by_one_a_second() {
    let still = Motion::new(|_| [0.0, 1.0, 0.0]);
    let m = judged(&still, &Motion::new(|t| [0.001 * t, 0.997, 0.0]), note(1.0, [0.0; 3]), &flat());
    close(m.deepest, 0.003);
    close(m.deep_99, 0.003);
    close(m.gap, 0.0);
    close(m.slide, 0.001);
    close(m.share, 1.0);
    close(m.between, 0.0);
    close(m.swing, 0.0);
    assert!(m.keys == 61 && m.offsets < 1e-7 && m.straight.is_empty() && m.off_ground == 0);
}

#[test]
fn a_figure_that_floats_and_a_shin_that_was_stretched() {
    let still = Motion::new(|_| [0.0, 1.0, 0.0]);
    let mut planted = Motion::new(|_| [0.0, 1.004, 0.0]);
    planted.shin[1] -= 0.0005;
    let m = judged(&still, &planted, note(1.0, [0.0; 3]), &flat());
    // The left leg is longer, the right one floats.
    close(m.gap, 0.004);
    close(m.offsets, 0.0005);
}

#[test]
fn travel_belongs_to_the_given_clip() {
    // The clip's feet slide back at 0.4 m/s; travel of as much makes them stand, and without it nothing is in contact.
    let on_the_spot = Motion::new(|t| [0.0, 1.0, -0.4 * t]);
    let planted = Motion::new(|_| [0.0, 1.0, 0.0]);
    let m = judged(&on_the_spot, &planted, note(1.0, [0.0, 0.0, 0.4]), &flat());
    close(m.share, 1.0);
    close(m.slide, 0.0);
    let m = judged(&on_the_spot, &planted, note(0.0, [0.0; 3]), &flat());
    close(m.share, 1.0);
    assert!(m.reasons.is_empty(), "no contact, nothing to explain");
}

#[test]
fn contact_that_was_not_planted_is_counted_with_its_reason() {
    let still = Motion::new(|_| [0.0, 1.0, 0.0]);
    let mut half = note(0.5, [0.0; 3]);
    half["unplanted"] =
        json!([{"foot": "left", "point": "ball", "from": 0.5, "to": 1.0, "reason": "no ground"}]);
    let m = judged(&still, &still, half, &flat());
    // Keys 0 to 30 of 61 are claimed; of the other 30 of four points, one point's are listed; key 31 lies beside a span.
    close(m.share, 31.0 / 61.0);
    close(m.reasons["no ground"], 30.0 / 244.0);
    close(m.unlisted, 3.0 * 29.0 / 244.0);
}

#[test]
fn a_foot_that_swings_into_a_riser() {
    // The balls are 0.15 m before the hips and pass the riser at z = 1 by 8 mm, 5 cm below its edge.
    let given = Motion::new(|t| [0.0, 1.15, 0.858 - 1.0 + t]);
    let m = judged(&given, &given, note(-1.0, [0.0; 3]), &step());
    close(m.swing, 0.008);
    close(m.tip, 0.008);
}

#[test]
fn knees_that_are_moved_half_as_much_again() {
    let swing = |k: f64| Motion::new(move |t| [0.0, 1.0 + k * (2.0 * std::f64::consts::TAU * t).sin(), 0.0]);
    let m = judged(&swing(0.02), &swing(0.03), note(1.0, [0.0; 3]), &flat());
    assert!((m.knee - 1.5).abs() < 1e-4, "{}", m.knee);
}

#[test]
fn a_leg_that_was_bent_and_is_straight() {
    let still = Motion::new(|_| [0.0, 1.0, 0.0]);
    // Thigh (0, -0.45, 0.05) and shin (0, -0.45, -0.05) make 12.7 degrees; with the knee on the line there are none.
    let mut planted = Motion::new(|_| [0.0, 1.0, 0.0]);
    planted.shin = [0.0, -0.45, -0.05];
    let m = judged(&still, &planted, note(1.0, [0.0; 3]), &flat());
    assert_eq!(m.straight.len(), 61);
}

#[test]
fn what_was_given_is_looked_for_to_the_last_bit() {
    let still = Motion::new(|_| [0.0, 1.0, 0.0]);
    let given = file(&still, None);
    let written = file(&still, Some((&still, note(1.0, [0.0; 3]))));
    assert_eq!(same::differences(&given, &written), [""; 0]);
    let mut other = Motion::new(|_| [0.0, 1.0, 0.0]);
    other.hips[17][1] = 1.0 + 2.0 * f64::from(f32::EPSILON);
    let written = file(&other, Some((&still, note(1.0, [0.0; 3]))));
    assert_eq!(same::differences(&given, &written), ["animation 0 channel 0: values differ"]);
}

#[test]
fn what_is_no_number_is_an_error() {
    let still = Motion::new(|_| [0.0, 1.0, 0.0]);
    let mut bad = Motion::new(|_| [0.0, 1.0, 0.0]);
    bad.hips[3][0] = f64::NAN;
    let scene = file(&still, Some((&bad, note(1.0, [0.0; 3]))));
    let figure = figure(&scene);
    assert!(measure(&scene, &figure, &flat(), 0.0).unwrap_err().contains("not finite"));
}
