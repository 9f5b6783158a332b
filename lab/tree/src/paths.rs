//! Goals that move on smoothly at 60 Hz: does any joint leap where no goal does, and do pinned feet stay?

use sinew::{
    Goal, JointId, Pose,
    glam::{Quat, Vec3},
    math,
    solve::{Drag, Pin, Tip, Tree},
};

use crate::{broken, humanoid, judge, noise::Noise};

/// Of a joint's step in radians over the largest step of a goal in figure sizes.
const BOUND: f32 = 8.0;

const PATHS: usize = 100;
const FRAMES: usize = 240;
/// Seconds a frame.
const STEP: f32 = 1.0 / 60.0;

/// A path of a metre a second: circles about axes that wander, around a place.
fn path(r: &mut Noise, at: Vec3, radius: f32) -> Vec<Vec3> {
    let (a, b, c) = (r.direction(), r.direction(), r.direction());
    let (x, y) = (math::perpendicular(a, b), math::perpendicular(a, c));
    (0..FRAMES)
        .map(|i| {
            let s = i as f32 * STEP / radius;
            at + x * (radius * (s.cos() - 1.0)) + y * (radius * s.sin())
        })
        .collect()
}

fn leap(before: &[Quat], pose: &Pose) -> f32 {
    before.iter().zip(pose.locals()).map(|(a, b)| math::angle_between(*a, b.rotation)).fold(0.0, f32::max)
}

fn print(title: &str, mut most: Vec<f32>, said: usize, more: &str, ok: bool) -> bool {
    most.sort_by(f32::total_cmp);
    let over = most.iter().filter(|m| **m > BOUND).count();
    let met = over == 0 && ok && said <= PATHS / 100;
    println!("\n{title}, {PATHS} paths of {FRAMES} frames at 60 Hz and 1 m/s");
    println!(
        "  largest step of a joint over the goals': median {:.1}, 99th path {:.1}, most {:.1}   above {BOUND} on {over}   branch changed on {said}{more}",
        most[PATHS / 2],
        most[PATHS * 99 / 100],
        most[PATHS - 1],
    );
    println!(
        "  {} no leap above {BOUND} that is not said, said on 1 % at most",
        if met { "ok  " } else { "MISS" }
    );
    met
}

/// Five goals, each on a path of its own about where it is at rest, feet on the floor.
fn five(limits: bool, bounded: bool) -> bool {
    let skeleton = humanoid::skeleton(limits);
    let ends = humanoid::ends(&skeleton);
    let tips: Vec<Tip> = ends.iter().map(|&j| Tip::new(j)).collect();
    let hips = skeleton.find("hips").expect("the figure has hips");
    let mut tree = Tree::new(&skeleton, hips, &tips).expect("the ends hang below");
    tree.max_restarts = 0;
    let mut r = Noise(7);
    let (mut most, mut said, mut lag) = (Vec::new(), 0, Vec::new());
    for _ in 0..PATHS {
        let mut pose = bent(&skeleton);
        let paths: Vec<Vec<Vec3>> = ends
            .iter()
            .enumerate()
            .map(|(i, &j)| path(&mut r, pose.position(j), if i == 0 { 0.06 } else { 0.2 }))
            .collect();
        let (mut worst, mut changed) = (0.0f32, false);
        for i in 0..FRAMES {
            let goals: Vec<Goal> = paths.iter().map(|p| Goal::at(p[i])).collect();
            let before: Vec<Quat> = pose.locals().iter().map(|t| t.rotation).collect();
            if bounded && i > 0 {
                let went = paths.iter().map(|p| p[i].distance(p[i - 1])).fold(0.0, f32::max);
                tree.max_turn = 0.98 * BOUND * went / tree.size();
            }
            let report = tree.solve(&mut pose, &goals).expect("goals are finite");
            if i > 0 {
                let went = paths.iter().map(|p| p[i].distance(p[i - 1])).fold(0.0, f32::max) / tree.size();
                lag.push(report.position_residual);
                if report.branch_changed {
                    changed = true;
                } else {
                    worst = worst.max(leap(&before, &pose) / went);
                }
            }
        }
        said += usize::from(changed);
        most.push(worst);
    }
    lag.sort_by(f32::total_cmp);
    let more = format!(
        "\n  worst goal missed: median {:.1} mm, 90th {:.0} mm",
        lag[lag.len() / 2] * 1e3,
        lag[lag.len() * 9 / 10] * 1e3
    );
    let title = format!(
        "five goals, {}, {}",
        if limits { "human limits" } else { "no limits" },
        if bounded { "turns bounded" } else { "turns not bounded" }
    );
    print(&title, most, said, &more, true)
}

/// Standing with knees and elbows a little bent.
fn bent(skeleton: &std::sync::Arc<sinew::Skeleton>) -> Pose {
    let mut pose = Pose::rest(skeleton);
    for (name, axis, angle) in [
        ("thigh.l", Vec3::X, -0.5),
        ("thigh.r", Vec3::X, -0.5),
        ("shin.l", Vec3::X, 0.9),
        ("shin.r", Vec3::X, 0.9),
        ("foot.l", Vec3::X, -0.3),
        ("foot.r", Vec3::X, -0.3),
        ("forearm.l", Vec3::Y, -0.9),
        ("forearm.r", Vec3::Y, 0.9),
        ("upper_arm.l", Vec3::Z, -0.8),
        ("upper_arm.r", Vec3::Z, 0.8),
    ] {
        if let Some(j) = skeleton.find(name) {
            pose.set_rotation(j, math::axis_angle(axis, angle));
        }
    }
    pose.update();
    pose
}

/// A hand, a knee, the head or the chest dragged across the screen and out of reach, feet pinned.
fn drag() -> bool {
    let skeleton = humanoid::skeleton(true);
    let find = |n: &str| skeleton.find(n).expect("the figure has it");
    let feet: [JointId; 2] = [find("foot.l"), find("foot.r")];
    let mut r = Noise(11);
    let (mut most, mut slid, mut excess, mut lag) = (Vec::new(), 0.0f64, 0.0f64, Vec::new());
    for n in 0..PATHS {
        let grabbed = find(["hand.l", "head", "spine3", "hand.r", "shin.l"][n % 5]);
        let mut pose = bent(&skeleton);
        let stood = feet.map(|j| judge::place(&pose, j));
        let mut drag =
            Drag::new(&pose, find("hips"), Tip::new(grabbed), &feet.map(Pin::pose)).expect("a tree");
        // From a stroll around the place to far out of reach.
        let radius = r.between(0.1, 0.6);
        let path = path(&mut r, pose.position(grabbed), radius);
        let mut worst = 0.0f32;
        for i in 0..FRAMES {
            let before: Vec<Quat> = pose.locals().iter().map(|t| t.rotation).collect();
            let report = drag.to(&mut pose, Goal::at(path[i])).expect("goals are finite");
            if i > 0 {
                let went = path[i].distance(path[i - 1]) / drag.tree().size();
                worst = worst.max(leap(&before, &pose) / went);
                lag.push(report.position_residual);
            }
            for (j, was) in feet.iter().zip(&stood) {
                slid = slid.max(judge::length(judge::sub(judge::place(&pose, *j), *was)));
            }
            excess = excess.max(broken(&pose));
        }
        most.push(worst);
    }
    lag.sort_by(f32::total_cmp);
    let more = format!(
        "\n  pinned feet slide by {:.2} mm at most   past limits {excess:.1e} rad   dragged joint behind: median {:.1} mm, 90th {:.0} mm",
        slid * 1e3,
        lag[lag.len() / 2] * 1e3,
        lag[lag.len() * 9 / 10] * 1e3
    );
    print("drag: one joint, feet pinned, human limits", most, 0, &more, slid <= 1e-3 && excess <= 1e-5)
}

/// Whether each is within its bound.
pub fn table() -> Vec<bool> {
    vec![five(false, false), five(true, false), five(false, true), five(true, true), drag()]
}
