//! Figures with goals that can be met.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use common::humanoid;
use sinew::{
    Goal, JointId, Pose, Skeleton,
    glam::Vec3,
    joint::Joint,
    solve::{Effector, FullBody, FullBodyOptions, RootMode, Tolerance},
};
use sinew_files::{Model, ReadOptions};

use crate::{judge, noise::Noise, poses};

/// A start and what its tips are asked for.
pub struct Case {
    pub start: Pose,
    pub goals: Vec<Goal>,
}

/// Who solves, what for, and what is to be reached.
pub struct Row {
    pub title: &'static str,
    pub full_body: FullBody,
    pub options: FullBodyOptions<'static>,
    pub cases: Vec<Case>,
    /// Metres and radians within which a goal is met.
    pub near: (f64, f64),
    /// Least share solved, most microseconds of the median and of the 99th percentile.
    pub solved: f64,
    pub median: f64,
    pub p99: f64,
    /// Whether peers can do the same work: a pinned root, places alone, no limits.
    pub peers: bool,
}

/// Figure and goals of a row.
struct Figure {
    skeleton: Arc<Skeleton>,
    root: JointId,
    /// Joints, and whether their rotations are asked for as well.
    ends: Vec<(JointId, bool)>,
    free: bool,
}

/// Where joints are as the judge sees it, in the numbers that goals are given in.
fn goals(pose: &Pose, ends: &[(JointId, bool)]) -> Vec<Goal> {
    let goal = |&(joint, turned): &(JointId, bool)| {
        let [x, y, z] = judge::place(pose, joint);
        let goal = Goal::position(Vec3::new(x as f32, y as f32, z as f32));
        if turned { goal.with_rotation(pose.model_rotation(joint)) } else { goal }
    };
    ends.iter().map(goal).collect()
}

fn cases(figure: &Figure, count: usize) -> (FullBody, Vec<Case>) {
    let tips: Vec<Effector> = figure.ends.iter().map(|e| Effector::new(e.0)).collect();
    let full_body =
        FullBody::new(&figure.skeleton, figure.root, &tips).expect("the ends hang below the root");
    let joints: Vec<JointId> = full_body.joints().collect();
    let mut r = Noise(4);
    let rest = Pose::rest(&figure.skeleton);
    let size = figure.ends.iter().map(|e| rest.position(e.0).distance(rest.position(figure.root)));
    let size = size.fold(0.0, f32::max);
    let cases = (0..count)
        .map(|_| {
            let (mut start, mut other) = (rest.clone(), rest.clone());
            poses::anywhere(&mut start, &joints, &mut r);
            poses::anywhere(&mut other, &joints, &mut r);
            if figure.free {
                // Anywhere within its own size.
                let at = other.position(figure.root) + r.direction() * (size * r.next());
                other.set_position(figure.root, at);
                other.update();
            }
            Case { goals: goals(&other, &figure.ends), start }
        })
        .collect();
    (full_body, cases)
}

fn humanoid(limits: bool, ends: impl Fn(&Skeleton) -> Vec<JointId>) -> Figure {
    let skeleton = humanoid::skeleton(limits);
    let ends = ends(&skeleton).into_iter().map(|j| (j, false)).collect();
    let root = skeleton.find("hips").expect("the figure has hips");
    Figure { skeleton, root, ends, free: false }
}

/// A figure from a file with its ends by name; none where the file is not there.
fn file(name: &str, root: &str, ends: &[(&str, bool)], free: bool) -> Option<Figure> {
    let folder = std::env::var_os("SINEW_DATA")
        .map_or(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = folder.join("gltf").join(name);
    if !path.is_file() {
        println!("\n{name} is not at {}: its row is left out", path.display());
        return None;
    }
    let model = Model::read(&path, &ReadOptions::default()).expect("the file can be read");
    let find = |name: &str| model.skeleton.find(name).unwrap_or_else(|| panic!("no joint {name}"));
    let ends = ends.iter().map(|&(n, turned)| (find(n), turned)).collect();
    Some(Figure { root: find(root), ends, free, skeleton: model.skeleton.clone() })
}

/// The solver's tolerance is a little smaller than the judge's, as the two round differently.
fn row(
    title: &'static str,
    figure: &Figure,
    count: usize,
    near: (f64, f64),
    (solved, median, p99): (f64, f64, f64),
) -> Row {
    let (full_body, cases) = cases(figure, count);
    let options = FullBodyOptions::new()
        .with_root(if figure.free { RootMode::Free } else { RootMode::Pinned })
        .with_position_tolerance(Tolerance::Share((0.95 * near.0 / size(figure)) as f32))
        .with_rotation_tolerance((0.95 * near.1) as f32);
    let free = figure.skeleton.joints().all(|j| *figure.skeleton.joint(j) == Joint::FREE);
    let peers = free && !figure.free && figure.ends.iter().all(|end| !end.1);
    Row { title, full_body, options, cases, near, solved, median, p99, peers }
}

/// The longest way along the bones from the root to an end: what a tree's tolerance is a part of.
fn size(figure: &Figure) -> f64 {
    let rest = Pose::rest(&figure.skeleton);
    let way = |&(end, _): &(JointId, bool)| {
        let up: Vec<JointId> = std::iter::once(end).chain(figure.skeleton.ancestors(end)).collect();
        let until = up.iter().position(|&j| j == figure.root).unwrap_or(0);
        let bone = |w: &[JointId]| f64::from(rest.position(w[0]).distance(rest.position(w[1])));
        up[..=until].windows(2).map(bone).sum::<f64>()
    };
    figure.ends.iter().map(way).fold(0.0, f64::max)
}

/// Every row; those of files that are not there are left out.
pub fn rows(count: usize) -> Vec<Row> {
    let hand = |skeleton: &Skeleton| skeleton.find("hand.l").into_iter().collect();
    let mut rows = vec![
        row(
            "humanoid of 20 joints, no limits, 5 goals",
            &humanoid(false, humanoid::ends),
            count,
            (1e-3, 1e-2),
            (0.999, 20.0, 100.0),
        ),
        row(
            "humanoid of 20 joints within human limits, 5 goals",
            &humanoid(true, humanoid::ends),
            count,
            (1e-3, 1e-2),
            (0.99, 40.0, 400.0),
        ),
        row(
            "humanoid of 20 joints, no limits, 1 goal",
            &humanoid(false, hand),
            count,
            (1e-3, 1e-2),
            (0.999, 3.0, 10.0),
        ),
        row(
            "humanoid of 20 joints within human limits, 1 goal",
            &humanoid(true, hand),
            count,
            (1e-3, 1e-2),
            (0.999, 10.0, 40.0),
        ),
    ];
    // Peers are measured with five goals.
    rows.iter_mut().filter(|row| row.title.ends_with("1 goal")).for_each(|row| row.peers = false);
    let vrm = ["hips", "head", "hand.L", "hand.R", "foot.L", "foot.R"];
    let knight = ["hips", "head", "wrist.l", "wrist.r", "foot.l", "foot.r"];
    for (title, name, ends) in [
        ("vrm1_mtoon_test, 6 goals, hands and feet with rotations", "vrm1_mtoon_test.vrm", vrm),
        ("KayKit_Knight, 6 goals, hands and feet with rotations", "KayKit_Knight.glb", knight),
    ] {
        let ends: Vec<(&str, bool)> = ends.iter().enumerate().map(|(i, n)| (*n, i > 1)).collect();
        if let Some(figure) = file(name, "hips", &ends, true) {
            rows.push(row(title, &figure, count, (1e-3, 1e-2), (0.99, 80.0, f64::INFINITY)));
        }
    }
    let feet: Vec<String> = ["l", "r"]
        .iter()
        .flat_map(|s| ["a", "b", "c", "d"].map(|leg| format!("leg_{leg}_tip_{s}")))
        .collect();
    let feet: Vec<(&str, bool)> = feet.iter().map(|n| (n.as_str(), false)).collect();
    if let Some(figure) = file("m2m_spider-animations.glb", "hips", &feet, true) {
        let title = "m2m_spider, 8 feet, free body";
        rows.push(row(title, &figure, count, (1e-3, 1e-2), (0.999, 40.0, f64::INFINITY)));
    }
    rows
}
