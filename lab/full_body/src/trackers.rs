//! Whole poses from few trackers: head and hands (a headset and two controllers), or hips and feet as well, compared with
//! the true pose.
//!
//! Limits are those of `sinew::body::HumanLimits`, the solver is `sinew::body::Trackers`. The true pose is a believable one:
//! both feet flat on the floor, knees over them, a back that bends and turns a little, arms in front of the body or hanging.
//! The solver takes positions and rotations of the trackers alone, and starts from a relaxed stance.

use std::{f32::consts::PI, sync::Arc, time::Instant};

use common::humanoid;
use sinew::{
    Goal, JointId, Pose, Skeleton, Workspace,
    body::{BodyRoles, HumanLimits, Trackers},
    glam::{Quat, Vec3},
    solve::{Effector, IterativeOptions},
};

use crate::{broken, judge, noise::Noise};

const COUNT: usize = 1000;

/// The coordinates of the right side from those of the left.
fn mirrored(name: &str, [a, b, c]: [f32; 3]) -> [f32; 3] {
    match name {
        "forearm" => [a, -b, c],
        "clavicle" | "upper_arm" | "hand" => [-a, -b, c],
        "shin" => [a, b, c],
        "thigh" | "foot" => [a, -b, -c],
        _ => [a, b, c],
    }
}

/// Puts a joint to coordinates in degrees, given as those of the left side.
fn put(pose: &mut Pose, name: &str, left: [f32; 3]) {
    let skeleton = pose.skeleton().clone();
    let Some(joint) = skeleton.find(name) else { return };
    let part = name.split('.').next().unwrap_or(name);
    let c = if name.ends_with(".r") { mirrored(part, left) } else { left };
    let limits = skeleton.limits(joint);
    pose.set_rotation(joint, limits.clamp(limits.rotation(c.map(|d| d * PI / 180.0))));
}

/// The feet on the floor, their middle where the figure stands.
fn ground(pose: &mut Pose, stood: [Vec3; 2]) {
    pose.update();
    let skeleton = pose.skeleton().clone();
    let (hips, feet) = (skeleton.find("hips"), ["foot.l", "foot.r"].map(|n| skeleton.find(n)));
    let (Some(hips), [Some(l), Some(r)]) = (hips, feet) else { return };
    let (l, r) = (pose.position(l), pose.position(r));
    let mut way = 0.5 * (stood[0] + stood[1] - l - r);
    way.y = stood[0].y - l.y.min(r.y);
    let at = pose.position(hips) + way;
    pose.set_position(hips, at);
    pose.update();
}

/// A believable pose.
fn believable(skeleton: &Arc<Skeleton>, stood: [Vec3; 2], r: &mut Noise) -> Pose {
    let mut pose = Pose::rest(skeleton);
    let lean = r.between(-3.0, 15.0);
    for name in ["spine1", "spine2", "spine3"] {
        put(&mut pose, name, [lean + r.between(-2.0, 2.0), r.between(-5.0, 5.0), r.between(-8.0, 8.0)]);
    }
    for name in ["neck", "head"] {
        put(&mut pose, name, [r.between(-12.0, 12.0), r.between(-6.0, 6.0), r.between(-18.0, 18.0)]);
    }
    // From upright to half a squat.
    let bend = r.between(3.0, 70.0);
    for side in [".l", ".r"] {
        let join = |part: &str| format!("{part}{side}");
        put(&mut pose, &join("clavicle"), [r.between(-8.0, 8.0), r.between(-3.0, 10.0), 0.0]);
        let arm = [r.between(-95.0, 15.0), r.between(-80.0, -5.0), r.between(-20.0, 20.0)];
        put(&mut pose, &join("upper_arm"), arm);
        put(&mut pose, &join("forearm"), [r.between(-50.0, 50.0), r.between(-120.0, -20.0), 0.0]);
        put(&mut pose, &join("hand"), [r.between(-8.0, 8.0), r.between(-25.0, 25.0), 0.0]);
        let (thigh, shin) = (bend + r.between(-4.0, 4.0), 1.7 * bend + r.between(-3.0, 6.0));
        put(&mut pose, &join("thigh"), [-thigh, r.between(2.0, 15.0), r.between(-8.0, 8.0)]);
        put(&mut pose, &join("shin"), [shin, 0.0, 0.0]);
        put(&mut pose, &join("foot"), [thigh - shin, 0.0, 0.0]);
    }
    ground(&mut pose, stood);
    pose
}

/// Across the line from a limb's root to its tip, the direction in which its middle joint lies, and how far it is bent
/// (0 where it is straight), in radians.
fn bend(pose: &Pose, limb: [JointId; 3]) -> (judge::V, f64) {
    let [a, b, c] = limb.map(|j| judge::place(pose, j));
    let unit = |v: judge::V| {
        let l = judge::length(v).max(1e-12);
        v.map(|x| x / l)
    };
    let (line, upper, lower) = (unit(judge::sub(c, a)), judge::sub(b, a), judge::sub(c, b));
    let along = judge::dot(upper, line);
    let across = judge::sub(upper, line.map(|x| x * along));
    (unit(across), judge::dot(unit(upper), unit(lower)).clamp(-1.0, 1.0).acos())
}

/// Bounds (none published were found; feet: within half a foot's width of where they stood): the share of trackers that
/// are met, the error of the elbows' directions in degrees (mean and 95th percentile), the same of the knees, and the
/// motion of a foot in metres (95th percentile).
struct Bounds {
    met: f64,
    elbow: [f64; 2],
    knee: [f64; 2],
    slide: f64,
}

fn row(six: bool, bounds: &Bounds) -> bool {
    // The truth is made within the lab's own limits; the solver has those that the library gives to bodies.
    let truths = humanoid::skeleton(true);
    let mut skeleton = (*humanoid::skeleton(false)).clone();
    let bind = Pose::rest(&Arc::new(skeleton.clone()));
    let body = BodyRoles::find(&bind, &[]).expect("a body");
    let human = HumanLimits::of(&bind, &body);
    human.apply(&mut skeleton).expect("sound joints");
    let skeleton = Arc::new(skeleton);
    let find = |n: &str| skeleton.find(n).expect("the figure has it");
    let mut ease = Pose::rest(&skeleton);
    human.stand_at_ease(&bind, &body, &mut ease);
    let feet = [find("foot.l"), find("foot.r")];
    let stood = feet.map(|j| bind.position(j));
    let mut names = vec!["head", "hand.l", "hand.r"];
    if six {
        names.extend(["hips", "foot.l", "foot.r"]);
    }
    let worn: Vec<JointId> = names.iter().map(|n| find(n)).collect();
    let tips: Vec<Effector> = worn.iter().map(|&j| Effector::new(j)).collect();
    let trackers = Trackers::new(&body, &tips, &ease).expect("a tree");
    let (mut state, mut workspace) = (trackers.state(&ease), Workspace::new());
    let options = IterativeOptions::new().with_rotation_tolerance(5e-3);
    let limbs = |upper: &str, middle: &str, tip: &str| {
        ["l", "r"].map(|s| [upper, middle, tip].map(|n| find(&format!("{n}.{s}"))))
    };
    let (arms, legs) = (limbs("upper_arm", "forearm", "hand"), limbs("thigh", "shin", "foot"));
    // Not the poses (23, 71) on which what joints prefer, how stiff they are and how far elbows give sideways was chosen.
    let mut r = Noise(97);
    let (mut times, mut met, mut excess) = (Vec::new(), 0, 0.0f64);
    let (mut elbows, mut knees, mut slides, mut hips, mut over) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), 0);
    for _ in 0..COUNT {
        let truth = believable(&truths, stood, &mut r);
        let of =
            |j: JointId, pose: &Pose| Goal::position(pose.position(j)).with_rotation(pose.model_rotation(j));
        let goals: Vec<Goal> = worn.iter().map(|&j| of(j, &truth)).collect();
        let mut pose = ease.clone();
        let begin = Instant::now();
        trackers.solve(&mut state, &mut workspace, &mut pose, &goals, &options).expect("goals are finite");
        times.push(begin.elapsed().as_secs_f64() * 1e6);
        let near = |(&j, goal): (&JointId, &Goal)| {
            let at = goal.position.map_or([0.0; 3], judge::v);
            let turn = goal.rotation.unwrap_or(Quat::IDENTITY);
            judge::length(judge::sub(judge::place(&pose, j), at)) <= 1e-3
                && judge::angle(&judge::axes(&pose, j), &judge::axes_of(turn)) <= 1e-2
        };
        met += usize::from(worn.iter().zip(&goals).all(near));
        excess = excess.max(broken(&pose));
        for (limbs, into) in [(&arms, &mut elbows), (&legs, &mut knees)] {
            for limb in limbs {
                let ((a, bent), (b, _)) = (bend(&truth, *limb), bend(&pose, *limb));
                // A straight limb has no direction of its own.
                if bent > 0.35 {
                    into.push(judge::dot(a, b).clamp(-1.0, 1.0).acos().to_degrees());
                }
            }
        }
        let apart = |j, a: &Pose, b: &Pose| judge::length(judge::sub(judge::place(a, j), judge::place(b, j)));
        let from = if six { &truth } else { &ease };
        slides.extend(feet.map(|j| apart(j, &pose, from)));
        hips.push(apart(find("hips"), &pose, &truth));
        over += usize::from(trackers.out_of_balance(&state, &pose) <= 1e-2);
    }
    for all in [&mut elbows, &mut knees, &mut slides, &mut hips, &mut times] {
        all.sort_by(f64::total_cmp);
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let p95 = |all: &[f64]| all[all.len() * 95 / 100];
    let met = met as f64 / COUNT as f64;
    println!(
        "\n{}, {COUNT} believable poses",
        if six { "six trackers: head, hands, hips, feet" } else { "three trackers: head and hands" }
    );
    println!(
        "  trackers met {:.1} %   elbows off by {:.1} degrees, p95 {:.1}   knees {:.1}, p95 {:.1}   hips {:.0} mm, p95 {:.0}   feet go {:.0} mm, p95 {:.0}   past limits {excess:.1e} rad   balanced {:.1} %   median {:.0} us",
        100.0 * met,
        mean(&elbows),
        p95(&elbows),
        mean(&knees),
        p95(&knees),
        1e3 * mean(&hips),
        1e3 * p95(&hips),
        1e3 * mean(&slides),
        1e3 * p95(&slides),
        100.0 * over as f64 / COUNT as f64,
        times[COUNT / 2],
    );
    let list = [
        (
            format!("{} % of figures with all trackers met to 1e-3 m and 1e-2 rad", 100.0 * bounds.met),
            met >= bounds.met,
        ),
        (
            format!("elbows within {} degrees in the mean, {} of 95 %", bounds.elbow[0], bounds.elbow[1]),
            mean(&elbows) <= bounds.elbow[0] && p95(&elbows) <= bounds.elbow[1],
        ),
        (
            format!("knees within {} degrees in the mean, {} of 95 %", bounds.knee[0], bounds.knee[1]),
            mean(&knees) <= bounds.knee[0] && p95(&knees) <= bounds.knee[1],
        ),
        (
            format!(
                "95 % of feet within {} mm of where they {}",
                1e3 * bounds.slide,
                if six { "are" } else { "stood" }
            ),
            p95(&slides) <= bounds.slide,
        ),
        ("limits to 1e-5 rad".into(), excess <= 1e-5),
    ];
    let name = if six { "six trackers" } else { "three trackers" };
    bounds::median(name, times[COUNT / 2]);
    for (bound, met) in &list {
        println!("  {} {bound}", if *met { "ok  " } else { "MISS" });
        bounds::bound(name, bound, "", *met);
    }
    list.iter().all(|b| b.1)
}

/// Whether each is within its bounds.
pub fn table() -> Vec<bool> {
    let three = Bounds { met: 0.99, elbow: [20.0, 45.0], knee: [15.0, 30.0], slide: 0.05 };
    let six = Bounds { met: 0.99, elbow: [20.0, 45.0], knee: [5.0, 12.0], slide: 0.001 };
    vec![row(false, &three), row(true, &six)]
}
