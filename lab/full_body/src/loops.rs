//! Closed loops at a thousand positions over their range, each solved from the last pose.

use std::{sync::Arc, time::Instant};

use common::humanoid;
use sinew::{
    Goal, JointId, JointTransform, Pose, Skeleton, Workspace,
    glam::{Quat, Vec3},
    joint::{Dof, Joint, RotationOrder, Turning},
    math,
    solve::{Effector, FullBody, IterativeOptions, Tolerance},
};

use crate::judge;

const PLACES: usize = 1000;

/// A loop: a joint, the point of it, and the joint and point that it must meet.
struct Closed {
    joint: JointId,
    offset: Vec3,
    on: JointId,
    at: Vec3,
}

struct Mechanism {
    title: &'static str,
    /// In metres: what a ten-thousandth is of.
    size: f64,
    full_body: FullBody,
    pose: Pose,
    loops: Vec<Closed>,
    goals: Box<dyn Fn(f32) -> Vec<Goal>>,
}

fn at(x: f32, y: f32, z: f32) -> JointTransform {
    JointTransform::from_translation(Vec3::new(x, y, z))
}

/// Both hands on a bar of half a metre that is moved and turned before the chest.
fn bar() -> Mechanism {
    let skeleton = humanoid::skeleton(false);
    let find = |n| skeleton.find(n).expect("the figure has hands");
    let (left, right) = (find("hand.l"), find("hand.r"));
    let across = Vec3::new(-0.5, 0.0, 0.0);
    let tips = [
        Effector::new(left),
        Effector::new(right).with_relative_to(left),
        Effector::new(find("foot.l")),
        Effector::new(find("foot.r")),
    ];
    let full_body = FullBody::new(&skeleton, find("hips"), &tips).expect("hands hang below hips");
    let pose = Pose::rest(&skeleton);
    let feet = [tips[2], tips[3]].map(|t| Goal::position(pose.position(t.joint)));
    let goals = move |s: f32| {
        let a = s * std::f32::consts::TAU;
        let turn =
            Quat::from_rotation_z(0.6 * (3.0 * a).sin()) * Quat::from_rotation_y(0.5 * (2.0 * a).cos());
        let middle = Vec3::new(0.2 * a.sin(), 1.25 + 0.25 * (2.0 * a).sin(), 0.35 + 0.1 * (5.0 * a).cos());
        let end = middle - turn * (0.5 * across);
        let hold = Goal::position(across).with_rotation(Quat::IDENTITY);
        vec![Goal::position(end).with_rotation(turn), hold, feet[0], feet[1]]
    };
    let loops = vec![Closed { joint: right, offset: Vec3::ZERO, on: left, at: across }];
    Mechanism { title: "two hands on a bar", size: 0.5, full_body, pose, loops, goals: Box::new(goals) }
}

/// A crank of 0.3 m that goes round, a coupler of 0.9, a rocker of 0.7, on a ground of 1.
fn four_bar() -> Mechanism {
    let mut b = Skeleton::builder();
    b.add("ground", None, JointTransform::IDENTITY);
    b.add("crank", Some(0), JointTransform::IDENTITY);
    b.add("coupler", Some(1), at(0.3, 0.0, 0.0));
    b.add("rocker", Some(0), at(1.0, 0.0, 0.0));
    let (mut skeleton, ids) = b.build().expect("a tree");
    skeleton.set_joint(ids[0], Joint::FIXED).expect("sound");
    for &id in &ids[1..] {
        skeleton.set_joint(id, Joint::hinge(Vec3::Z, Dof::FREE)).expect("sound");
    }
    let skeleton = Arc::new(skeleton);
    let [crank, coupler, rocker] = [ids[1], ids[2], ids[3]];
    let tips =
        [Effector::new(crank), Effector::new(coupler).with_offset(Vec3::X * 0.9).with_relative_to(rocker)];
    let full_body = FullBody::new(&skeleton, ids[0], &tips).expect("a tree");
    let mut pose = Pose::rest(&skeleton);
    pose.set_rotation(coupler, math::axis_angle(Vec3::Z, 0.7));
    pose.set_rotation(rocker, math::axis_angle(Vec3::Z, 1.5));
    pose.update();
    let goals = |s: f32| {
        let turn = math::axis_angle(Vec3::Z, s * std::f32::consts::TAU);
        vec![Goal::NONE.with_rotation(turn), Goal::position(Vec3::X * 0.7)]
    };
    let loops = vec![Closed { joint: coupler, offset: Vec3::X * 0.9, on: rocker, at: Vec3::X * 0.7 }];
    Mechanism {
        title: "four-bar linkage, a whole turn of its crank",
        size: 1.0,
        full_body,
        pose,
        loops,
        goals: Box::new(goals),
    }
}

/// Six legs that lengthen, on universal joints below and balls above; the platform hangs on the first.
fn hexapod() -> Mechanism {
    let ring = |i: usize, radius: f32, apart: f32| {
        let a = (i / 2) as f32 * 2.0944 + if i.is_multiple_of(2) { apart } else { -apart };
        Vec3::new(radius * a.cos(), 0.0, radius * a.sin())
    };
    // Anchors stand in pairs below, and in other pairs above.
    let (below, above) = (|i| ring(i, 1.0, 0.25), |i| ring(i, 0.6, 0.8));
    let mut b = Skeleton::builder();
    b.add("base", None, JointTransform::IDENTITY);
    for i in 0..6 {
        let way = above(i) + Vec3::Y - below(i);
        let turn = math::shortest_arc(Vec3::Y, way.normalize(), Vec3::X);
        let foot = b.add(
            format!("foot {i}"),
            Some(0),
            JointTransform { rotation: turn, ..JointTransform::from_translation(below(i)) },
        );
        b.add(format!("leg {i}"), Some(foot), at(0.0, way.length(), 0.0));
    }
    // Its own frame stands upright in the rest pose.
    let first = math::shortest_arc(Vec3::Y, (above(0) + Vec3::Y - below(0)).normalize(), Vec3::X);
    b.add(
        "platform",
        Some(2),
        JointTransform { rotation: math::conjugate(first), ..JointTransform::IDENTITY },
    );
    let (mut skeleton, ids) = b.build().expect("a tree");
    skeleton.set_joint(ids[0], Joint::FIXED).expect("sound");
    for i in 0..6 {
        let angle = Some(Dof::range(-1.2, 1.2));
        let universal = Turning::Axes { order: RotationOrder::Xzy, angles: [angle, None, angle] };
        skeleton.set_joint(ids[1 + 2 * i], universal.into()).expect("sound");
        let slide = Joint::FIXED.with_slide([None, Some(Dof::range(-0.6, 0.6)), None]);
        skeleton.set_joint(ids[2 + 2 * i], slide).expect("sound");
    }
    let skeleton = Arc::new(skeleton);
    let platform = ids[13];
    let mut tips = vec![Effector::new(platform).with_offset(-above(0))];
    let mut loops = Vec::new();
    for i in 1..6 {
        let (leg, at) = (ids[2 + 2 * i], above(i) - above(0));
        tips.push(Effector::new(leg).with_relative_to(platform));
        loops.push(Closed { joint: leg, offset: Vec3::ZERO, on: platform, at });
    }
    let full_body = FullBody::new(&skeleton, ids[0], &tips).expect("a tree");
    let held: Vec<Goal> = loops.iter().map(|l| Goal::position(l.at)).collect();
    let goals = move |s: f32| {
        let a = s * std::f32::consts::TAU;
        let middle = Vec3::new(0.2 * (3.0 * a).sin(), 1.05 + 0.15 * (5.0 * a).sin(), 0.2 * (2.0 * a).cos());
        let turn = Quat::from_rotation_y(0.35 * (4.0 * a).sin())
            * Quat::from_rotation_x(0.35 * a.sin())
            * Quat::from_rotation_z(0.35 * (7.0 * a).cos());
        let mut goals = vec![Goal::position(middle).with_rotation(turn)];
        goals.extend(&held);
        goals
    };
    let pose = Pose::rest(&skeleton);
    Mechanism { title: "hexapod platform", size: 1.0, full_body, pose, loops, goals: Box::new(goals) }
}

/// Distance in metres between the two ends of a loop, by the judge's kinematics.
fn open(pose: &Pose, closed: &Closed) -> f64 {
    let (a, b) = (judge::point(pose, closed.joint, closed.offset), judge::point(pose, closed.on, closed.at));
    judge::length(judge::sub(a, b))
}

fn run(m: &mut Mechanism) -> bool {
    // The first tip's goal and the loops, all to a fifth of what is asked.
    let mut times = Vec::new();
    let (mut worst, mut missed, mut steps) = (0.0f64, 0.0f64, 0);
    // The tree's tolerance is a part of its longest way along the bones.
    let options =
        IterativeOptions::new().with_position_tolerance(Tolerance::Share(1e-5)).with_rotation_tolerance(1e-4);
    let mut workspace = Workspace::new();
    for i in 0..PLACES {
        let goals = (m.goals)(i as f32 / PLACES as f32);
        let begin = Instant::now();
        let report =
            m.full_body.solve(&mut workspace, &mut m.pose, &goals, &options).expect("goals are finite");
        times.push(begin.elapsed().as_secs_f64() * 1e6);
        steps += report.iterations;
        let opened = m.loops.iter().map(|l| open(&m.pose, l)).fold(0.0, f64::max);
        worst = worst.max(opened / m.size);
        let tip = m.full_body.effectors()[0];
        if let Some(p) = goals[0].position {
            missed = missed
                .max(judge::length(judge::sub(judge::point(&m.pose, tip.joint, tip.offset), judge::v(p))));
        }
        if let Some(q) = goals[0].rotation {
            missed = missed.max(judge::angle(&judge::axes(&m.pose, tip.joint), &judge::axes_of(q)));
        }
    }
    times.sort_by(f64::total_cmp);
    let met = worst <= 1e-4 && missed <= 1e-3;
    println!("\n{}, {PLACES} places", m.title);
    println!(
        "  loop open by {worst:.1e} of its size at most, goal missed by {missed:.1e}   median {:.1} us   {:.1} steps",
        times[PLACES / 2],
        f64::from(steps) / PLACES as f64
    );
    println!(
        "  {} closed to 1e-4 at every place, and the goal met to 1e-3",
        if met { "ok  " } else { "MISS" }
    );
    bounds::median(m.title, times[PLACES / 2]);
    bounds::bound(m.title, "closed to 1e-4, met to 1e-3", format!("{worst:.1e}, {missed:.1e}"), met);
    met
}

/// Whether each is within its bound.
pub fn table(only: &str) -> Vec<bool> {
    [bar(), four_bar(), hexapod()].iter_mut().filter(|m| m.title.contains(only)).map(run).collect()
}
