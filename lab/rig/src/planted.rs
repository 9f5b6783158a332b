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

/// People's ranges in degrees (AAOS, "Joint Motion", 1965): flexion of an elbow; and, in the frame of the chest, an upper arm that at
/// rest points sideways, or hangs: forward, down (inward where it hangs), and its inward twist. Between the two by the angle at rest.
const ELBOW: (f64, f64) = (0.0, 150.0);
const ASIDE: [(f64, f64); 3] = [(-45.0, 135.0), (-90.0, 100.0), (-90.0, 70.0)];
const HANGING: [(f64, f64); 3] = [(-60.0, 180.0), (-180.0, 30.0), (-90.0, 70.0)];

/// Columns of naturalness that are ranges of joints.
const RANGES: [&str; 5] = ["ankle", "knee least", "knee most", "hip over", "toes over"];

/// A figure: its row of the judge of planting, and the joints of head and right arm.
struct Figure {
    case: Case,
    hips: Joint,
    head: Joint,
    /// Whether a collar bone lies between chest and arm.
    collar: bool,
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
        collar: true,
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
        Figure {
            collar: false,
            ..of(listed("knight-walk")?, "hips", "head", ["upperarm.r", "lowerarm.r", "wrist.r"])
        },
        Figure {
            case: listed("cesium-walk")?,
            hips: Index(2),
            head: Index(20),
            collar: true,
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
        for (part, excess) in ["elbow", "shoulder", "twist"].into_iter().zip(found.excess) {
            bound(
                format!("{part} within people's range to {EXCESS}"),
                format!("{excess:.4}"),
                excess <= EXCESS,
            );
        }
        rows.push((figure.case.name, found));
    }
    println!(
        "\n{:<17} {:>6} {:>7} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9}  legs beyond people's ranges",
        "clip", "keys", "reached", "held", "hand mm", "half-way", "elbow", "shoulder", "twist"
    );
    for (name, found) in rows {
        let Found { keys, reached, held, hand, half, excess: [elbow, shoulder, twist], ranges, .. } = found;
        println!(
            "{name:<17} {keys:>6} {reached:>7} {held:>5} {hand:>9.4} {half:>9.4} {elbow:>9.4} {shoulder:>9.4} {twist:>9.4}  {}",
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
    /// Those of them whose goal no arm reaches within the ranges and the clip's own excess.
    held: usize,
    /// Largest distance in millimetres from such goals at keys, beyond the least that the ranges leave; and half-way between two of
    /// them.
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
        held: 0,
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
            // Beyond what the nearest hand of a person leaves.
            let least = if off > HAND { arm.least(&worlds, own) } else { 0.0 };
            found.held += usize::from(least > HAND);
            found.hand = larger(found.hand, off - least);
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
    /// In the chest's frame: the upper arm at rest, the axes about which it turns forward and down, and the axis across it.
    rest: V3,
    axes: [V3; 2],
    across: V3,
    /// That axis in the frame of the upper arm.
    across_arm: V3,
    /// Ranges in degrees: forward, down, inward twist.
    ranges: [(f64, f64); 3],
}

/// An arm in the chest's frame: its upper arm's turn from rest as a rotation vector about the two axes, its inward twist, and the
/// flexion of the elbow, in radians.
type Angles = [f64; 4];

fn outside(angle: f64, (least, most): (f64, f64)) -> f64 {
    (angle - most.to_radians()).max(least.to_radians() - angle).max(0.0)
}

/// A vector turned about a unit vector.
fn turned(v: V3, axis: V3, angle: f64) -> V3 {
    let (s, c) = angle.sin_cos();
    v * c + axis.cross(v) * s + axis * (axis.dot(v) * (1.0 - c))
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
        let above = |n: usize| scene.parents[n].ok_or("an arm without a trunk");
        let chest = if figure.collar { above(above(arm[0])?)? } else { above(arm[0])? };
        let into = |v: V3| worlds[chest].inverse().vector(v).unit().unwrap_or_default();
        let rest = (at(arm[1]) - at(arm[0])).unit().ok_or("an arm of no length")?;
        let forward = rest.cross(front).unit().ok_or("an arm that points ahead")?;
        let hangs = (rest.dot(up * -1.0).asin().to_degrees() / 90.0).clamp(0.0, 1.0);
        let between = |a: f64, b: f64| a + hangs * (b - a);
        let ranges = [0, 1, 2].map(|k| {
            let (aside, hanging) = (ASIDE[k], HANGING[k]);
            (between(aside.0, hanging.0), between(aside.1, hanging.1))
        });
        Ok(Self {
            head,
            chest,
            arm,
            goal: worlds[head].inverse().point(at(head) + offset),
            rest: into(rest),
            axes: [into(forward), into(rest.cross(forward) * -1.0)],
            across: into(forward),
            across_arm: worlds[arm[0]].inverse().vector(forward),
            ranges,
        })
    }

    /// Distance of the hand from its goal in millimetres, where that is nearer than the arm is long.
    fn hand(&self, worlds: &[Affine]) -> Option<f64> {
        let [upper, fore, hand] = self.arm.map(|n| worlds[n].translation);
        let goal = worlds[self.head].point(self.goal);
        let long = (fore - upper).length() + (hand - fore).length();
        ((goal - upper).length() < long).then(|| (goal - hand).length() * 1e3)
    }

    /// The axis across the upper arm at rest as the least turn carries it to the direction `bone`.
    fn carried(&self, bone: V3) -> V3 {
        carried(self.across, self.rest, bone)
    }

    fn angles(&self, worlds: &[Affine]) -> Angles {
        let at = |n: usize| worlds[n].translation;
        let into = |v: V3| worlds[self.chest].inverse().vector(v).unit().unwrap_or_default();
        let [upper, fore, hand] = self.arm.map(at);
        let (bone, lower) = (into(fore - upper), into(hand - fore));
        let axis = self.rest.cross(bone);
        let about = axis.unit().unwrap_or_default() * axis.length().atan2(self.rest.dot(bone));
        let across = into(worlds[self.arm[0]].vector(self.across_arm));
        let untwisted = self.carried(bone);
        let twist = across.dot(bone.cross(untwisted)).atan2(across.dot(untwisted));
        let flexion = bone.cross(lower).length().atan2(bone.dot(lower));
        // The right arm turns inwards against the clock, seen from the shoulder.
        [about.dot(self.axes[0]), about.dot(self.axes[1]), -twist, flexion]
    }

    /// The share of its range that the upper arm has turned by: 1 on the ellipse.
    fn share(&self, [forward, down, ..]: Angles) -> f64 {
        let share = |angle: f64, (least, most): (f64, f64)| {
            angle / (if angle < 0.0 { least.abs() } else { most }).to_radians()
        };
        share(forward, self.ranges[0]).hypot(share(down, self.ranges[1]))
    }

    /// What elbow, shoulder and twist of the upper arm exceed people's ranges by, in radians; 0 within.
    fn excess(&self, worlds: &[Affine]) -> [f64; 3] {
        let angles = self.angles(worlds);
        let share = self.share(angles);
        let swing = angles[0].hypot(angles[1]);
        let beyond = if share > 1.0 { swing * (1.0 - 1.0 / share) } else { 0.0 };
        [outside(angles[3], ELBOW), beyond, outside(angles[2], self.ranges[2])]
    }

    /// The least distance in millimetres that a hand has from its goal within the ranges and `own` excess: by descents of random
    /// steps from a grid of the angles. The elbow bends about its axis in the pose.
    fn least(&self, worlds: &[Affine], own: [f64; 3]) -> f64 {
        let at = |n: usize| worlds[n].translation;
        let [upper, fore, hand] = self.arm.map(at);
        let lengths = [(fore - upper).length(), (hand - fore).length()];
        // Directions in the chest's frame, lengths in the world.
        let frame = |v: V3| worlds[self.chest].inverse().vector(v).unit().unwrap_or_default();
        let wanted = worlds[self.head].point(self.goal) - upper;
        let wanted = frame(wanted) * wanted.length();
        let now = self.angles(worlds);
        let (bone, lower) = (frame(fore - upper), frame(hand - fore));
        let normal = bone.cross(lower).unit().unwrap_or_default();
        // The angle of the bend's axis about the bone from the axis across it, which twists with the arm.
        let untwisted = self.carried(bone);
        let about = normal.dot(bone.cross(untwisted)).atan2(normal.dot(untwisted)) + now[2];
        let inside = |mut x: Angles| {
            let (share, swing) = (self.share(x), x[0].hypot(x[1]));
            if share > 1.0 {
                let most = (swing / share + own[1]).min(swing) / swing;
                (x[0], x[1]) = (x[0] * most, x[1] * most);
            }
            let clamp = |x: f64, (least, most): (f64, f64), own: f64| {
                x.clamp(least.to_radians() - own, most.to_radians() + own)
            };
            x[2] = clamp(x[2], self.ranges[2], own[2]);
            x[3] = clamp(x[3], ELBOW, own[0]);
            x
        };
        let off = |x: Angles| {
            let swing = self.axes[0] * x[0] + self.axes[1] * x[1];
            let bone = turned(self.rest, swing.unit().unwrap_or_default(), swing.length());
            let axis = turned(self.carried(bone), bone, about - x[2]);
            let lower = turned(bone, axis, x[3]);
            (bone * lengths[0] + lower * lengths[1] - wanted).length()
        };
        let mut random = 1_u64;
        let mut noise = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let mut best = off(now).min(f64::MAX);
        let grid = |k: usize, n: usize, [low, high]: [f64; 2]| low + (high - low) * k as f64 / (n - 1) as f64;
        for start in 0..4 * 4 * 3 * 3 {
            let (a, b, c, d) = (start % 4, start / 4 % 4, start / 16 % 3, start / 48);
            let swing = [grid(a, 4, [-1.5, 2.5]), grid(b, 4, [-2.0, 2.0])];
            let mut x = inside([swing[0], swing[1], grid(c, 3, [-1.5, 1.2]), grid(d, 3, [0.3, 2.6])]);
            let (mut left, mut step) = (off(x), 0.3);
            while step > 1e-6 {
                let mut nearer = false;
                for _ in 0..24 {
                    let next = inside(x.map(|x| x + step * noise()));
                    let then = off(next);
                    if then < left {
                        (x, left, nearer) = (next, then, true);
                    }
                }
                step *= if nearer { 1.2 } else { 0.5 };
            }
            best = best.min(left);
        }
        best * 1e3
    }
}
