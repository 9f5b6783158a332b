//! The first example of rig files, planted on rough ground with the command `sinew`: a hand at the brow of any figure. The written
//! files are judged in f64: the hand, the ranges of the arm, and by the judge of planting the feet.

use std::path::Path;

use plant::{
    anatomy::carried,
    cases::{CASES, Case, GROUNDS, GroundCase, Set},
    figure::Joint::{self, Index, Name},
    judge as planting,
    maths::{Affine, V3, v3},
    note::Note,
    options::Options,
    scene::Scene,
    table as contact,
};

use crate::{
    baked::{Sinew, text},
    judge::larger,
};

/// The example, unchanged.
const EXAMPLE: &str = "\
rig = 1
[humanoid]     # any two-legged figure; alone it changes nothing
[goal.\"right hand\"]
space = \"head\"
position = [-0.15, -0.1, 0.35]
";

/// The hand's goal at bind from the head, in lengths of a figure of 1.8 m: to the left, up, ahead.
const GOAL: [f64; 3] = [-0.15, -0.1, 0.35];
/// Greatest distance in millimetres of the hand from a goal that the arm reaches.
const HAND: f64 = 1.0;
/// Greatest excess of an angle over people's range in radians, or over the clip's own excess.
const EXCESS: f64 = 1e-3;

/// People's ranges in degrees (AAOS, "Joint Motion", 1965): flexion of an elbow, and an upper arm that points sideways: forward,
/// down, and its inward twist.
const ELBOW: (f64, f64) = (0.0, 150.0);
const SHOULDER: [(f64, f64); 3] = [(-45.0, 135.0), (-50.0, 100.0), (-90.0, 70.0)];

/// Columns of naturalness that are ranges of joints.
const RANGES: [&str; 5] = ["ankle", "knee least", "knee most", "hip over", "toes over"];

/// A figure: its row of the judge of planting, and the joints of head and right arm.
struct Figure {
    case: Case,
    hips: Joint,
    head: Joint,
    /// Upper arm, forearm, hand.
    arm: [Joint; 3],
}

/// A row of the judge of planting.
fn listed(name: &str) -> Result<Case, String> {
    CASES.iter().find(|case| case.name == name).copied().ok_or_else(|| format!("no row `{name}`"))
}

/// A figure without clips, in its rest pose.
fn still(name: &'static str, file: &'static str, legs: [[&'static str; 4]; 2], neck: &'static str) -> Case {
    let legs = legs.map(|leg| leg.map(Name));
    let (set, neck) = (Set::Judging, Name(neck));
    let clip = Some("rest");
    Case { name, set, file: Some(file), clip, scale: None, legs, neck, strict: false, motion: 0.0 }
}

fn figures() -> Result<[Figure; 7], String> {
    let of = |case, hips, head, arm: [&'static str; 3]| Figure {
        case,
        hips: Name(hips),
        head: Name(head),
        arm: arm.map(Name),
    };
    let vrm0 = still(
        "vrm0",
        "gltf/vrm0_cryptovoxels.vrm",
        [
            ["Left leg", "Left knee", "Left ankle", "Left toe"],
            ["Right leg", "Right knee", "Right ankle", "Right toe"],
        ],
        "Neck",
    );
    let vrm1 = still(
        "vrm1",
        "gltf/vrm1_mtoon_test.vrm",
        [
            ["upper_leg.L", "lower_leg.L", "foot.L", "toes.L"],
            ["upper_leg.R", "lower_leg.R", "foot.R", "toes.R"],
        ],
        "neck",
    );
    Ok([
        of(listed("knight-walk")?, "hips", "head", ["upperarm.r", "lowerarm.r", "wrist.r"]),
        Figure {
            case: listed("cesium-walk")?,
            hips: Index(2),
            head: Index(20),
            arm: [13, 14, 15].map(Index),
        },
        of(listed("mannequiny-kick")?, "pelvis", "head", ["upperarm.r", "lowerarm.r", "hand.r"]),
        of(listed("m2m-squat")?, "pelvis", "head", ["upperarm_r", "lowerarm_r", "hand_r"]),
        of(vrm0, "Hips", "Head", ["Right arm", "Right elbow", "Right wrist"]),
        of(vrm1, "hips", "head", ["upper_arm.R", "lower_arm.R", "hand.R"]),
        of(listed("cmu-walk")?, "Hips", "Head", ["RightArm", "RightForeArm", "RightHand"]),
    ])
}

/// Prints a table of hands, and the rows of the judge of planting. Returns whether all are within bounds.
pub fn table(data: &Path, sinew: &Sinew) -> Result<bool, String> {
    let rough = GROUNDS.iter().find(|g| g.name == "rough").ok_or("no rough ground")?;
    let rig = sinew.out.join("first.toml");
    std::fs::write(&rig, EXAMPLE).map_err(|e| format!("{}: {e}", rig.display()))?;
    println!("\nthe first example, planted on rough ground\n{}", contact::head(false));
    let (mut rows, mut met) = (Vec::new(), true);
    for figure in figures()? {
        let says = |e: String| format!("{}: {e}", figure.case.name);
        let found = measure(&figure, data, &rig, rough, sinew).map_err(says)?;
        let name = format!("{}, right hand at the brow, rough", figure.case.name);
        let mut bound = |what: String, value: String, holds: bool| {
            bounds::bound(&name, what, value, holds);
            met &= holds;
        };
        let missed = found.missed.join(", ");
        bound("every column of contact".into(), missed.clone(), missed.is_empty());
        let ranges = found.ranges.join(", ");
        bound("legs within people's ranges".into(), ranges.clone(), ranges.is_empty());
        bound(format!("hand within {HAND} mm"), format!("{:.4}", found.hand), found.hand <= HAND);
        // Shoulder and twist are printed alone: their ranges depend on how the frame above the arm is read.
        let [elbow, ..] = found.excess;
        bound(format!("elbow within people's range to {EXCESS}"), format!("{elbow:.4}"), elbow <= EXCESS);
        rows.push((figure.case.name, found));
    }
    println!(
        "\n{:<17} {:>6} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9}  legs beyond people's ranges",
        "clip", "keys", "reached", "hand mm", "half-way", "elbow", "shoulder", "twist"
    );
    for (name, found) in rows {
        let Found { keys, reached, hand, half, excess: [elbow, shoulder, twist], ranges, .. } = found;
        println!(
            "{name:<17} {keys:>6} {reached:>7} {hand:>9.4} {half:>9.4} {elbow:>9.4} {shoulder:>9.4} {twist:>9.4}  {}",
            ranges.join(", ")
        );
    }
    Ok(met)
}

/// What a written file shows.
struct Found {
    missed: Vec<&'static str>,
    ranges: Vec<&'static str>,
    /// Keys, and those whose goal is nearer than the arm is long.
    keys: usize,
    reached: usize,
    /// Largest distance in millimetres from such goals at keys, and half-way between two of them.
    hand: f64,
    half: f64,
    /// Excess in radians over the larger of people's range and of the clip's own excess.
    excess: [f64; 3],
}

fn measure(
    figure: &Figure,
    data: &Path,
    rig: &Path,
    rough: &GroundCase,
    sinew: &Sinew,
) -> Result<Found, String> {
    let case = &figure.case;
    let file = sinew.out.join(format!("{}-rough.glb", case.name));
    let path = data.join(case.file.ok_or("no file")?);
    let scale = case.scale.map(|scale| scale.to_string());
    let mut arguments = vec!["bake", text(&path)?, "--rig", text(rig)?, "--ground", "rough"];
    if let Some(scale) = &scale {
        arguments.extend(["--scale", scale]);
    }
    // A model without clips bakes its rest pose.
    if let Some(clip) = case.clip.filter(|clip| *clip != "rest") {
        arguments.extend(["--clip", clip]);
    }
    sinew.run(&arguments, &file)?;
    let verdict = planting::judge(&Options::default(), case, rough, &file, data)?;
    let mut missed = verdict.missed;
    if case.clip == Some("rest") {
        // Accelerations beside none, and the still clip, which the given file does not have.
        missed.retain(|column| !["knee", "bend", "same"].contains(column));
    }
    let all = verdict.row.missed();
    let ranges =
        RANGES.into_iter().filter(|range| all.iter().any(|missed| missed.ends_with(range))).collect();

    let scene = Scene::read(&file)?;
    let (baked, clip, note) = Note::find(&scene)?;
    let arm = Arm::new(&scene, figure)?;
    let mut times: Vec<f64> = baked.channels.iter().flat_map(|c| c.times.iter().copied()).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let mut found = Found {
        missed,
        ranges,
        keys: times.len(),
        reached: 0,
        hand: 0.0,
        half: 0.0,
        excess: [f64::NEG_INFINITY; 3],
    };
    let posed = |time: f64| scene.worlds(&scene.sample(&baked, time));
    let mut own = [0.0_f64; 3];
    for &time in &times {
        for time in note.source_times(time) {
            let angles = arm.excess(&scene.worlds(&scene.sample(&clip, time)));
            own = [0, 1, 2].map(|k| larger(own[k], angles[k]));
        }
    }
    let mut last = None;
    for &time in &times {
        let worlds = posed(time);
        let excess = arm.excess(&worlds);
        found.excess = [0, 1, 2].map(|k| larger(found.excess[k], excess[k] - own[k]));
        let off = arm.hand(&worlds);
        if let Some(off) = off {
            found.reached += 1;
            found.hand = larger(found.hand, off);
            if let Some(before) = last {
                let half = arm.hand(&posed(0.5 * (before + time)));
                found.half = larger(found.half, half.unwrap_or(0.0));
            }
        }
        last = off.map(|_| time);
    }
    Ok(found)
}

/// The right arm and the head, as they are at rest.
struct Arm {
    head: usize,
    chest: usize,
    arm: [usize; 3],
    /// The goal in the head's frame.
    goal: V3,
    /// Outwards, forwards and down in the frame of the joint above the arm; the upper arm at rest in it, and the axes of the upper
    /// arm that are along it and across.
    axes: [V3; 3],
    rest: V3,
    across: V3,
}

impl Arm {
    fn new(scene: &Scene, figure: &Figure) -> Result<Self, String> {
        let worlds = scene.worlds(&scene.rest);
        let at = |n: usize| worlds[n].translation;
        let thighs = [0, 1].map(|side| figure.case.legs[side][0].find(scene));
        let [left, right] = [thighs[0].clone()?, thighs[1].clone()?];
        let (hips, head) = (figure.hips.find(scene)?, figure.head.find(scene)?);
        let arm = [figure.arm[0].find(scene)?, figure.arm[1].find(scene)?, figure.arm[2].find(scene)?];
        let up = v3(0.0, 1.0, 0.0);
        let aside = (at(left) - at(right)).flat().unit().ok_or("thighs at one place")?;
        let front = aside.cross(up);
        let heights = (0..worlds.len()).filter(|n| scene.below(*n, hips)).map(|n| at(n).y);
        let span = heights.fold([f64::MAX, f64::MIN], |[a, b], y| [a.min(y), b.max(y)]);
        let unit = (span[1] - span[0]) / 1.8;
        let offset = (aside * GOAL[0] + up * GOAL[1] + front * GOAL[2]) * unit;
        let chest = scene.parents[arm[0]].ok_or("an arm without a trunk")?;
        let into = |v: V3| worlds[chest].inverse().vector(v);
        let rest = (at(arm[1]) - at(arm[0])).unit().ok_or("an arm of no length")?;
        let across = rest.cross(front).unit().ok_or("an arm that points ahead")?;
        Ok(Self {
            head,
            chest,
            arm,
            goal: worlds[head].inverse().point(at(head) + offset),
            axes: [aside * -1.0, front, up * -1.0].map(into),
            rest: into(rest),
            across: worlds[arm[0]].inverse().vector(across),
        })
    }

    /// Distance of the hand from its goal in millimetres, where that is nearer than the arm is long.
    fn hand(&self, worlds: &[Affine]) -> Option<f64> {
        let [upper, fore, hand] = self.arm.map(|n| worlds[n].translation);
        let goal = worlds[self.head].point(self.goal);
        let long = (fore - upper).length() + (hand - fore).length();
        ((goal - upper).length() < long).then(|| (goal - hand).length() * 1e3)
    }

    /// What elbow, shoulder and twist of the upper arm exceed people's ranges by, in radians; 0 within.
    fn excess(&self, worlds: &[Affine]) -> [f64; 3] {
        let at = |n: usize| worlds[n].translation;
        let along = |n: usize, v: V3| worlds[n].vector(v).unit().unwrap_or_default();
        let [upper, fore, hand] = self.arm.map(at);
        let (bone, lower) =
            ((fore - upper).unit().unwrap_or_default(), (hand - fore).unit().unwrap_or_default());
        let flexion = bone.cross(lower).length().atan2(bone.dot(lower)).to_degrees();
        let [outward, front, down] = self.axes.map(|v| along(self.chest, v));
        // The least turn from sideways, as a rotation vector: about the vertical forwards, about the front axis down.
        let axis = outward.cross(bone);
        let angle = axis.length().atan2(outward.dot(bone));
        let about = axis.unit().unwrap_or_default() * angle;
        let (forward, low) = (about.dot(outward.cross(front)), about.dot(outward.cross(down)));
        let share = |angle: f64, (least, most): (f64, f64)| {
            angle.to_degrees() / if angle < 0.0 { least.abs() } else { most }
        };
        let ellipse = share(forward, SHOULDER[0]).hypot(share(low, SHOULDER[1]));
        let beyond = if ellipse > 1.0 { angle * (1.0 - 1.0 / ellipse) } else { 0.0 };
        // The axis across the arm, carried from rest to sideways and to where the arm is.
        let rest = along(self.chest, self.rest);
        let at_rest = rest.cross(front).unit().unwrap_or_default();
        let untwisted = carried(carried(at_rest, rest, outward), outward, bone);
        let across = along(self.arm[0], self.across);
        let turn = across.dot(bone.cross(untwisted)).atan2(across.dot(untwisted)).to_degrees();
        // The right arm turns inwards against the clock, seen from the shoulder.
        let outside = |angle: f64, (least, most): (f64, f64)| (angle - most).max(least - angle).max(0.0);
        let twist = outside(-turn, SHOULDER[2]).min(outside(turn, SHOULDER[2]));
        [outside(flexion, ELBOW).to_radians(), beyond, twist.to_radians()]
    }
}
