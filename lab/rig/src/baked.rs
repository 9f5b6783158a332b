//! Clips through proposed rigs with the command `sinew`: to joints, and by way of goals and back. The written files are judged in
//! f64, by the judge's forward kinematics, at all keys of the clip and half-way between them.

use std::path::{Path, PathBuf};

use crate::judge::{larger, turn};
use plant::{
    command,
    scene::{Clip, Local, Scene},
    track::Values,
};

/// Greatest turn of a joint in degrees, roll included, from the clip: baked, and by way of goals.
const BAKED: f64 = 0.05;
const BACK: f64 = 0.1;

/// A figure with a clip, the scale of a file that does not say it, and its rigged joints.
struct Case {
    file: &'static str,
    scale: Option<&'static str>,
    clip: &'static str,
    /// Whether the clip was made by a rig like the proposed one, so that no turns may be left.
    plain: bool,
    hips: Node,
    /// Root, middle and tip of arms and legs.
    limbs: [[Node; 3]; 4],
}

/// A node by its name, or by its index where nodes have none.
#[derive(Clone, Copy)]
enum Node {
    Name(&'static str),
    Index(usize),
}

const fn names(n: [[&'static str; 3]; 4]) -> [[Node; 3]; 4] {
    const fn of(n: [&'static str; 3]) -> [Node; 3] {
        [Node::Name(n[0]), Node::Name(n[1]), Node::Name(n[2])]
    }
    [of(n[0]), of(n[1]), of(n[2]), of(n[3])]
}

const fn indices(n: [[usize; 3]; 4]) -> [[Node; 3]; 4] {
    const fn of(n: [usize; 3]) -> [Node; 3] {
        [Node::Index(n[0]), Node::Index(n[1]), Node::Index(n[2])]
    }
    [of(n[0]), of(n[1]), of(n[2]), of(n[3])]
}

const CASES: [Case; 5] = [
    Case {
        file: "gltf/KayKit_Knight.glb",
        scale: None,
        clip: "Walking_A",
        plain: true,
        hips: Node::Name("hips"),
        limbs: names([
            ["upperarm.l", "lowerarm.l", "wrist.l"],
            ["upperarm.r", "lowerarm.r", "wrist.r"],
            ["upperleg.l", "lowerleg.l", "foot.l"],
            ["upperleg.r", "lowerleg.r", "foot.r"],
        ]),
    },
    Case {
        file: "gltf/CesiumMan.gltf",
        scale: None,
        clip: "animation0",
        plain: false,
        hips: Node::Index(2),
        limbs: indices([[16, 17, 18], [13, 14, 15], [7, 8, 9], [3, 4, 5]]),
    },
    // Its elbows are up to 23 degrees off any hinge.
    Case {
        file: "gltf/mannequiny.glb",
        scale: None,
        clip: "fight_kick_root.001",
        plain: false,
        hips: Node::Name("pelvis"),
        limbs: names([
            ["upperarm.l", "lowerarm.l", "hand.l"],
            ["upperarm.r", "lowerarm.r", "hand.r"],
            ["thigh.l", "calf.l", "foot.l"],
            ["thigh.r", "calf.r", "foot.r"],
        ]),
    },
    Case {
        file: "gltf/m2m_human_sample-rig.glb",
        scale: None,
        clip: "New Custom",
        plain: false,
        hips: Node::Name("pelvis"),
        limbs: names([
            ["upperarm_l", "lowerarm_l", "hand_l"],
            ["upperarm_r", "lowerarm_r", "hand_r"],
            ["thigh_l", "calf_l", "foot_l"],
            ["thigh_r", "calf_r", "foot_r"],
        ]),
    },
    Case {
        file: "bvh/cmu_12_01_walk.bvh",
        scale: Some("0.056444"),
        clip: "cmu_12_01_walk",
        plain: false,
        hips: Node::Name("Hips"),
        limbs: names([
            ["LeftArm", "LeftForeArm", "LeftHand"],
            ["RightArm", "RightForeArm", "RightHand"],
            ["LeftUpLeg", "LeftLeg", "LeftFoot"],
            ["RightUpLeg", "RightLeg", "RightFoot"],
        ]),
    },
];

/// The command, and the folder that it writes to.
pub struct Sinew {
    path: PathBuf,
    pub out: PathBuf,
}

impl Sinew {
    /// Builds the command.
    pub fn build() -> Result<Self, String> {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let out = repository.join("lab/target/rig");
        std::fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
        Ok(Self { path: command::build(&repository)?, out })
    }

    /// Runs it. A file of an earlier run must not be taken for what this one writes.
    pub fn run(&self, arguments: &[&str], to: &Path) -> Result<(), String> {
        let _ = std::fs::remove_file(to);
        let mut command = std::process::Command::new(&self.path);
        let output = command.args(arguments).arg("-o").arg(to).output();
        let output = output.map_err(|e| format!("{}: {e}", self.path.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(format!("sinew {}: {}", arguments.join(" "), words.lines().last().unwrap_or("(it says nothing)")))
    }
}

/// The text of a path.
pub fn text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| format!("{}: not UTF-8", path.display()))
}

/// What goals show of a clip, and what they leave.
struct Found {
    /// Largest turns in degrees at keys and half-way.
    back: [f64; 2],
    /// Largest residual turn that is keyed, in degrees.
    residual: f64,
    /// Keys of goals, and of rotations of rigged joints beside them.
    keys: usize,
    tracks: usize,
}

/// Prints a table of baked clips. Returns whether all are within bounds.
pub fn table(data: &Path, sinew: &Sinew) -> Result<bool, String> {
    println!("\nclips through proposed rigs: to joints, and by way of goals and back");
    row("figure and clip", ["baked", "by goals", "half-way", "residual", "keys"]);
    row("", ["degrees", "degrees", "degrees", "degrees", ""]);
    let mut met = true;
    for case in &CASES {
        let path = data.join(case.file);
        let stem = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
        let name = format!("{stem}, {}", case.clip);
        let says = |e: String| format!("{name}: {e}");
        let baked = baked(case, &path, sinew).map_err(says)?;
        let Found { back, residual, keys, tracks } = by_goals(case, &path, sinew).map_err(says)?;
        let cells = [baked, back[0], back[1], residual].map(|value| format!("{value:.4}"));
        let [a, b, c, d] = cells.each_ref().map(String::as_str);
        row(&name, [a, b, c, d, &keys.to_string()]);
        let mut bound = |what: String, value: String, holds: bool| {
            bounds::bound(&name, what, value, holds);
            met &= holds;
        };
        bound(format!("baked within {BAKED} degrees"), format!("{baked:.4}"), baked <= BAKED);
        let most = larger(back[0], back[1]);
        bound(format!("by goals and back within {BACK} degrees"), format!("{most:.4}"), most <= BACK);
        bound("no rotation of a rigged joint".into(), tracks.to_string(), tracks == 0);
        if case.plain {
            bound("no residual turns".into(), format!("{residual:.4}"), residual == 0.0);
        }
    }
    Ok(met)
}

fn row(name: &str, cells: [&str; 5]) {
    println!("{name:<46} {}", cells.map(|cell| format!("{cell:>9}")).join(" "));
}

/// The rig that is proposed for a model, in a file.
fn proposed(case: &Case, path: &Path, sinew: &Sinew) -> Result<PathBuf, String> {
    let rig = sinew.out.join(path.file_stem().unwrap_or_default()).with_extension("toml");
    let scale = case.scale.map(|scale| ["--scale", scale]);
    sinew.run(&[&["rig", text(path)?], scale.as_slice().as_flattened()].concat(), &rig)?;
    Ok(rig)
}

fn baked(case: &Case, path: &Path, sinew: &Sinew) -> Result<f64, String> {
    let rig = proposed(case, path, sinew)?;
    let file = rig.with_extension("joints.glb");
    let scale = case.scale.map(|scale| ["--scale", scale]);
    let arguments = ["bake", text(path)?, "--rig", text(&rig)?, "--clip", case.clip];
    sinew.run(&[&arguments, scale.as_slice().as_flattened()].concat(), &file)?;
    Ok(larger(0.0, compare(&Scene::read(&file)?, case)?.into_iter().fold(0.0, larger)))
}

fn by_goals(case: &Case, path: &Path, sinew: &Sinew) -> Result<Found, String> {
    let rig = proposed(case, path, sinew)?;
    let [goals, back] = ["goals.glb", "back.glb"].map(|end| rig.with_extension(end));
    let scale = case.scale.map(|scale| ["--scale", scale]);
    let arguments = ["bake", text(path)?, "--rig", text(&rig)?, "--clip", case.clip, "--to", "goals"];
    sinew.run(&[&arguments, scale.as_slice().as_flattened()].concat(), &goals)?;
    let clip = format!("{} (goals)", case.clip);
    sinew.run(&["bake", text(&goals)?, "--rig", text(&rig)?, "--clip", &clip], &back)?;

    let scene = Scene::read(&goals)?;
    let keyed = clip_named(&scene, &clip)?;
    let rigged = case.limbs.iter().flatten().chain([&case.hips]);
    let rigged: Vec<usize> = rigged.map(|node| node.find(&scene)).collect::<Result<_, _>>()?;
    let (mut residual, mut keys, mut tracks) = (0.0_f64, 0, 0);
    for channel in &keyed.channels {
        let rotates = matches!(channel.values, Values::Rotation(_));
        tracks += usize::from(rotates && rigged.contains(&channel.node));
        let Some(part) = part(&scene, channel.node) else { continue };
        keys += channel.times.len();
        if part.ends_with("turn") {
            let turns = channel.times.iter().map(|t| channel.rotation(*t));
            let angles = turns.map(|[x, y, z, w]| 2.0 * (x * x + y * y + z * z).sqrt().atan2(w.abs()));
            residual = angles.map(f64::to_degrees).fold(residual, larger);
        }
    }
    Ok(Found { back: compare(&Scene::read(&back)?, case)?, residual, keys, tracks })
}

/// What the node of a goal is: `goal`, `pole`, `upper turn` and so on.
fn part(scene: &Scene, node: usize) -> Option<String> {
    let node = scene.document.nodes().nth(node)?;
    let extras: serde_json::Value = serde_json::from_str(node.extras().as_ref()?.get()).ok()?;
    Some(extras.get("sinew_keys")?.get("part")?.as_str()?.to_owned())
}

fn clip_named<'a>(scene: &'a Scene, name: &str) -> Result<&'a Clip, String> {
    // A clip without a name is called by its index.
    let unnamed = name.strip_prefix("animation").and_then(|n| scene.clips.get(n.parse::<usize>().ok()?));
    let named = scene.clips.iter().find(|clip| clip.name == name);
    named.or(unnamed.filter(|clip| clip.name.is_empty())).ok_or_else(|| format!("no clip {name:?}"))
}

/// Largest turns in degrees of the joints from a clip to what was baked of it, at the clip's keys and half-way.
fn compare(scene: &Scene, case: &Case) -> Result<[f64; 2], String> {
    let (own, baked) = (clip_named(scene, case.clip)?, clip_named(scene, &format!("{} (baked)", case.clip))?);
    let is_joint = |n: &usize| matches!(scene.rest[*n], Local::Trs(..)) && part(scene, *n).is_none();
    let joints: Vec<usize> = (0..scene.names.len()).filter(is_joint).collect();
    let mut keys: Vec<f64> = own.channels.iter().flat_map(|c| c.times.iter().copied()).collect();
    keys.sort_by(f64::total_cmp);
    keys.dedup();
    let apart = |time: f64| {
        let [a, b] = [own, baked].map(|clip| scene.worlds(&scene.sample(clip, time)));
        joints.iter().map(|n| turn(&a[*n], &b[*n]).to_degrees()).fold(0.0, larger)
    };
    let half = keys.windows(2).map(|pair| apart(0.5 * (pair[0] + pair[1]))).fold(0.0, larger);
    Ok([keys.iter().map(|time| apart(*time)).fold(0.0, larger), half])
}

impl Node {
    fn find(self, scene: &Scene) -> Result<usize, String> {
        match self {
            Self::Name(name) => scene.named(name).ok_or_else(|| format!("no node {name:?}")),
            Self::Index(index) if index < scene.names.len() => Ok(index),
            Self::Index(index) => Err(format!("no node {index}")),
        }
    }
}
