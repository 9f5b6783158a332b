//! Goals that move smoothly at 60 Hz: turns of joints per frame, and displacements of pinned feet.

use common::humanoid;
use sinew::{
    Goal, JointId, Pose, Workspace,
    glam::{Quat, Vec3},
    math,
    solve::{Drag, Effector, FullBody, IterativeOptions, Pin},
};

use crate::{broken, judge, noise::Noise};

/// Of a joint's step in radians over the largest step of a goal in figure sizes.
const BOUND: f32 = 8.0;

/// The soft zone: a limb of two equal bones that is as long as seven tenths of the figure turns by some 6 of the 8 where it
/// begins.
const SOFT: f32 = 0.1;

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

/// Statistics of many paths.
#[derive(Default)]
struct Smooth {
    /// Of each path, the largest step of a joint over the largest step of a goal, where the report did not say that the
    /// branch changed.
    most: Vec<f32>,
    /// The largest of all, whatever the report said.
    fastest: f32,
    /// The same of knees and elbows alone, whatever the report said.
    bends: Vec<f32>,
    /// Paths on which it did.
    said: usize,
    /// Of each frame, metres by which the worst goal was missed.
    missed: Vec<f32>,
}

impl Smooth {
    /// Of knees and elbows.
    fn nine_in_ten(&mut self) -> f32 {
        self.bends.sort_by(f32::total_cmp);
        self.bends[PATHS * 9 / 10]
    }

    fn over(&self) -> usize {
        self.most.iter().filter(|m| **m > BOUND).count()
    }

    /// Prints it; `more` is printed as well.
    fn print(&mut self, title: &str, more: &str) {
        let Self { most, bends, said, missed, .. } = self;
        most.sort_by(f32::total_cmp);
        bends.sort_by(f32::total_cmp);
        missed.sort_by(f32::total_cmp);
        println!("\n{title}, {PATHS} paths of {FRAMES} frames at 60 Hz and 1 m/s");
        println!(
            "  largest step of a joint over the goals': median {:.1}, 99th path {:.1}, most {:.1}   above {BOUND} and not said on {}   branch changed on {said}",
            most[PATHS / 2],
            most[PATHS * 99 / 100],
            most[PATHS - 1],
            most.iter().filter(|m| **m > BOUND).count(),
        );
        if !bends.is_empty() {
            println!(
                "  knees and elbows, said or not: median {:.1}, 9 paths in ten {:.1}, most {:.1}",
                bends[PATHS / 2],
                bends[PATHS * 9 / 10],
                bends[PATHS - 1]
            );
        }
        println!(
            "  worst goal missed: median {:.1} mm, 90th {:.0} mm{more}",
            missed[missed.len() / 2] * 1e3,
            missed[missed.len() * 9 / 10] * 1e3
        );
    }
}

/// Prints whether bounds are met, and gives it.
fn judge(row: &str, bounds: &[(&str, bool)]) -> bool {
    for (bound, met) in bounds {
        bounds::bound(row, bound, "", *met);
        println!("  {} {bound}", if *met { "ok  " } else { "MISS" });
    }
    bounds.iter().all(|b| b.1)
}

/// Where goals go.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// All five on paths of their own about where they are at rest, feet on the floor.
    All,
    /// One hand or foot out of its reach and back along a line, the others stay.
    One,
}

/// One line for a hand or a foot, from where it is: out past full stretch of its limb and back.
fn out_and_back(r: &mut Noise, pose: &Pose, limb: [JointId; 2]) -> Vec<Vec3> {
    let [from, at] = limb.map(|j| pose.position(j));
    let away = ((at - from).normalize() + r.direction() * 0.4).normalize();
    let half = FRAMES as f32 / 2.0;
    let far = |i: usize| (half - (i as f32 - half).abs()) * STEP;
    (0..FRAMES).map(|i| at + away * 0.3 * far(i).min(1.0)).collect()
}

/// Settings of the solver.
#[derive(Clone, Copy)]
struct Setting {
    limits: bool,
    /// Whether the largest turn is set by how far goals go.
    bounded: bool,
    soft: f32,
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let limits = if self.limits { "human limits" } else { "no limits" };
        let bounded = if self.bounded { "turns bounded" } else { "turns not bounded" };
        write!(f, "{limits}, {bounded}, soft zone {:.0} %", 100.0 * self.soft)
    }
}

/// Five goals.
fn five(way: Way, setting: Setting) -> Smooth {
    let Setting { limits, bounded, soft } = setting;
    let skeleton = humanoid::skeleton(limits);
    let ends = humanoid::ends(&skeleton);
    let tips: Vec<Effector> = ends.iter().map(|&j| Effector::new(j)).collect();
    let find = |n: &str| skeleton.find(n).expect("the figure has it");
    let limbs =
        [("upper_arm.l", "hand.l"), ("thigh.r", "foot.r"), ("upper_arm.r", "hand.r"), ("thigh.l", "foot.l")];
    let middles = ["shin.l", "shin.r", "forearm.l", "forearm.r"].map(find);
    let full_body = FullBody::new(&skeleton, find("hips"), &tips).expect("the ends hang below");
    let (mut workspace, options) =
        (Workspace::new(), IterativeOptions::new().with_max_restarts(0).with_soft(soft));
    let mut r = Noise(7);
    let mut smooth = Smooth::default();
    for n in 0..PATHS {
        let mut pose = bent(&skeleton);
        let paths: Vec<Vec<Vec3>> = match way {
            Way::All => {
                let radius = |i: usize| if i == 0 { 0.06 } else { 0.2 };
                ends.iter().enumerate().map(|(i, &j)| path(&mut r, pose.position(j), radius(i))).collect()
            }
            Way::One => {
                let (top, end) = limbs[n % limbs.len()];
                let moving = out_and_back(&mut r, &pose, [find(top), find(end)]);
                let still = |j: JointId| vec![pose.position(j); FRAMES];
                ends.iter().map(|&j| if j == find(end) { moving.clone() } else { still(j) }).collect()
            }
        };
        let goals = |i: usize| paths.iter().map(|p| Goal::position(p[i])).collect::<Vec<_>>();
        // The way to the path's start is no part of it.
        full_body.solve(&mut workspace, &mut pose, &goals(0), &options).expect("goals are finite");
        let (mut worst, mut bend, mut changed) = (0.0f32, 0.0f32, false);
        for i in 1..FRAMES {
            let before: Vec<Quat> = pose.locals().iter().map(|t| t.rotation).collect();
            let went = paths.iter().map(|p| p[i].distance(p[i - 1])).fold(0.0, f32::max);
            if went == 0.0 {
                continue;
            }
            let size = full_body.size(&pose);
            let max_turn = if bounded { 0.98 * BOUND * went / size } else { f32::INFINITY };
            let options = options.with_max_turn(max_turn);
            let report =
                full_body.solve(&mut workspace, &mut pose, &goals(i), &options).expect("goals are finite");
            let turned = |j: &JointId| math::angle_between(before[j.index()], pose.local(*j).rotation);
            bend = bend.max(middles.iter().map(turned).fold(0.0, f32::max) * size / went);
            smooth.missed.push(report.position_residual);
            let speed = leap(&before, &pose) * size / went;
            smooth.fastest = smooth.fastest.max(speed);
            if report.branch_changed {
                changed = true;
            } else {
                worst = worst.max(speed);
            }
        }
        smooth.said += usize::from(changed);
        smooth.most.push(worst);
        smooth.bends.push(bend);
    }
    let title = match way {
        Way::All => "five goals in and out of reach",
        Way::One => "one hand or foot out of its reach and back",
    };
    smooth.print(&format!("{title}, {setting}"), "");
    smooth
}

/// All rows of five goals.
fn rows() -> Vec<bool> {
    let mut all = Vec::new();
    for way in [Way::All, Way::One] {
        for (limits, soft) in [(false, 0.0), (false, SOFT), (true, 0.0), (true, SOFT)] {
            let mut free = five(way, Setting { limits, bounded: false, soft });
            if way == Way::One {
                let row = format!("one out of reach, soft zone {soft}, limits {limits}");
                all.push(judge(&row, &[("every leap is said", free.over() == 0)]));
            }
            if way == Way::One && soft > 0.0 && !limits {
                let gentle = free.nine_in_ten() <= 1.2 * BOUND;
                all.push(judge("one out of reach, soft zone", &[("knees and elbows leap no more", gentle)]));
            }
        }
        for limits in [false, true] {
            let held = five(way, Setting { limits, bounded: true, soft: 0.0 });
            let bounds = [
                ("no leap", held.fastest <= BOUND),
                ("branch changed on 1 % at most", held.said <= PATHS / 100),
            ];
            let what = if way == Way::All { "all on paths" } else { "one out of reach" };
            let row = format!("{what}, turns bounded, limits {limits}");
            all.push(judge(&row, &bounds));
        }
    }
    all
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
    let (mut smooth, mut slid, mut excess) = (Smooth::default(), 0.0f64, 0.0f64);
    let mut workspace = Workspace::new();
    for n in 0..PATHS {
        let grabbed = find(["hand.l", "head", "spine3", "hand.r", "shin.l"][n % 5]);
        let mut pose = bent(&skeleton);
        let stood = feet.map(|j| judge::place(&pose, j));
        let mut drag =
            Drag::new(&pose, find("hips"), Effector::new(grabbed), &feet.map(Pin::pose)).expect("a tree");
        // From a stroll around the place to far out of reach.
        let radius = r.between(0.1, 0.6);
        let path = path(&mut r, pose.position(grabbed), radius);
        let mut worst = 0.0f32;
        for i in 0..FRAMES {
            let before: Vec<Quat> = pose.locals().iter().map(|t| t.rotation).collect();
            let goal = Goal::position(path[i]);
            let report = drag.to(&mut workspace, &mut pose, &goal, &Drag::OPTIONS).expect("goals are finite");
            if i > 0 {
                let went = path[i].distance(path[i - 1]) / drag.full_body().size(&pose);
                worst = worst.max(leap(&before, &pose) / went);
                smooth.missed.push(report.position_residual);
            }
            for (j, was) in feet.iter().zip(&stood) {
                slid = slid.max(judge::length(judge::sub(judge::place(&pose, *j), *was)));
            }
            excess = excess.max(broken(&pose));
        }
        smooth.most.push(worst);
    }
    let more = format!("   pinned feet slide by {:.2} mm at most   past limits {excess:.1e} rad", slid * 1e3);
    smooth.print("drag: one joint, feet pinned, human limits", &more);
    let bounds = [
        ("no leap", smooth.over() == 0),
        ("feet stay within 1 mm, limits within 1e-5", slid <= 1e-3 && excess <= 1e-5),
    ];
    judge("drag", &bounds)
}

/// Whether each is within its bound.
pub fn table() -> Vec<bool> {
    let mut all = rows();
    all.push(drag());
    all
}
