//! Mechanisms compiled from skeletons with ball joints, solved and judged like the arms.
//!
//! The judge computes the chain with quaternions from its definition and shares no code with joint space. It reads swing and
//! twist as the engine documents them: `own = swing * twist`, a swing within an ellipse of four half-axes.

use std::{f64::consts::PI, sync::Arc, time::Instant};

use glam::{DQuat, DVec3, Vec3};
use sinew::{
    JointId, JointTransform, Pose, Skeleton, Workspace,
    joint::{Dof, Joint},
    mechanism::{JointSpaceSolver, LinkGoal, LinkTarget, SkeletonMechanism},
};

use crate::{
    EXACT, ROUNDS, contenders,
    judge::{Rigid, about},
    random::Random,
    task::Start,
};

/// Motion of a chain's joint in the judge's kinematics.
enum Step {
    /// Twist axis, the axes of both swings, their half-axes to minus and plus, and the range of the twist.
    Ball([f64; 3], [[f64; 3]; 2], [(f64, f64); 2], (f64, f64)),
    Hinge([f64; 3], (f64, f64)),
    Slide([f64; 3], (f64, f64)),
    Free,
}

/// A row of joints, each with where it stands in the frame of the one before, and the tip's place in the last one's.
struct Row {
    name: &'static str,
    joints: Vec<([f64; 3], Step)>,
    tip: [f64; 3],
    /// Bounds of mean and 99th percentile, from any start and from near ones.
    bounds: [(f64, f64); 2],
}

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];
const MINUS_Z: [f64; 3] = [0.0, 0.0, -1.0];

fn rows() -> Vec<Row> {
    let degrees = f64::to_radians;
    let up = |s: f64| [0.0, s, 0.0];
    let (wide, twist) = ((-degrees(45.0), degrees(45.0)), (-degrees(30.0), degrees(30.0)));
    let cone = || Step::Ball(Y, [X, MINUS_Z], [wide, wide], twist);
    let cones = (0..10).map(|i| (up(if i == 0 { 0.0 } else { 0.1 }), cone())).collect();
    let x = |s: f64| [s, 0.0, 0.0];
    let limb = vec![
        (up(1.0), Step::Slide(Y, (-0.1, 0.2))),
        (x(0.2), Step::Ball(X, [Y, Z], [(-1.2, 2.0), (-0.6, 1.4)], (-1.0, 1.0))),
        (x(0.3), Step::Hinge(Y, (-2.5, 0.0))),
        (x(0.28), Step::Ball(X, [Z, [0.0, -1.0, 0.0]], [(-1.0, 1.0), (-0.4, 0.3)], (-1.4, 1.4))),
    ];
    let free = (0..5).map(|i| (up(if i == 0 { 0.0 } else { 0.2 }), Step::Free)).collect();
    vec![
        Row {
            name: "10 cones of 45, 30",
            joints: cones,
            tip: up(0.1),
            bounds: [(600.0, 5000.0), (30.0, 150.0)],
        },
        Row {
            name: "slide, ball, hinge, ball",
            joints: limb,
            tip: x(0.1),
            bounds: [(150.0, 1000.0), (8.0, 40.0)],
        },
        Row { name: "5 free joints", joints: free, tip: up(0.2), bounds: [(150.0, 1000.0), (8.0, 40.0)] },
    ]
}

fn vector(v: [f64; 3]) -> [f64; 4] {
    let angle = v.iter().map(|c| c * c).sum::<f64>().sqrt();
    if angle > 0.0 { about(v, angle) } else { Rigid::IDENTITY.q }
}

impl Step {
    fn dofs(&self) -> usize {
        if matches!(self, Self::Ball(..) | Self::Free) { 3 } else { 1 }
    }

    /// The joint's own motion.
    fn moved(&self, v: &[f64]) -> Rigid {
        let turn = |q| Rigid { q, ..Rigid::IDENTITY };
        match self {
            Self::Ball(axis, [a, b], ..) => {
                let swing = [0, 1, 2].map(|k| v[0] * a[k] + v[1] * b[k]);
                turn(vector(swing)).then(turn(about(*axis, v[2])))
            }
            Self::Hinge(axis, _) => turn(about(*axis, v[0])),
            Self::Slide(axis, _) => Rigid { p: axis.map(|c| c * v[0]), ..Rigid::IDENTITY },
            Self::Free => turn(vector([v[0], v[1], v[2]])),
        }
    }

    fn within(&self, v: &[f64]) -> bool {
        let between = |(from, to): (f64, f64), v: f64| from <= v && v <= to;
        match self {
            Self::Ball(_, _, [a, b], twist) => {
                let half = |(from, to): (f64, f64), v: f64| if v < 0.0 { -from } else { to };
                let (x, y) = (v[0] / half(*a, v[0]), v[1] / half(*b, v[1]));
                x.powi(2) + y.powi(2) <= 1.0 && between(*twist, v[2])
            }
            Self::Hinge(_, range) | Self::Slide(_, range) => between(*range, v[0]),
            Self::Free => v.iter().all(|v| v.is_finite()),
        }
    }

    /// Uniform within limits: a swing in the area of its ellipse, a free rotation among all.
    fn draw(&self, r: &mut Random, into: &mut Vec<f64>) {
        match self {
            Self::Ball(_, _, [a, b], twist) => loop {
                let v = [r.within(a.0, a.1), r.within(b.0, b.1), r.within(twist.0, twist.1)];
                if self.within(&v) {
                    return into.extend(v);
                }
            },
            Self::Hinge(_, range) | Self::Slide(_, range) => into.push(r.within(range.0, range.1)),
            // Of a ball of half a turn a point is kept as often as rotations are dense there.
            Self::Free => loop {
                let v = [0; 3].map(|_| r.within(-PI, PI));
                let angle = v.iter().map(|c| c * c).sum::<f64>().sqrt();
                let dense = (2.0 * (0.5 * angle).sin() / angle).powi(2);
                if angle < PI && r.next() < dense {
                    return into.extend(v);
                }
            },
        }
    }

    /// Within 0.1 rad or 0.02 m in each value, and within limits.
    fn near(&self, r: &mut Random, from: &[f64], into: &mut Vec<f64>) {
        let off = if matches!(self, Self::Slide(..)) { 0.02 } else { 0.1 };
        loop {
            let v: Vec<f64> = from.iter().map(|v| v + r.within(-off, off)).collect();
            if self.within(&v) {
                return into.extend(v);
            }
        }
    }

    fn joint(&self) -> Joint {
        let vec = DVec3::from_array;
        match self {
            Self::Ball(twist, [first, _], swing, range) => {
                Joint::ball(vec(*twist), vec(*first), *swing, *range)
            }
            Self::Hinge(axis, range) => Joint::hinge(vec(*axis), Dof::range(range.0, range.1)),
            Self::Slide(_, range) => {
                Joint::FIXED.with_slide([None, Some(Dof::range(range.0, range.1)), None])
            }
            Self::Free => Joint::FREE,
        }
    }
}

impl Row {
    fn split<'a>(&'a self, values: &'a [f64]) -> impl Iterator<Item = (&'a [f64; 3], &'a Step, &'a [f64])> {
        let mut at = 0;
        self.joints.iter().map(move |(place, step)| {
            at += step.dofs();
            (place, step, &values[at - step.dofs()..at])
        })
    }

    fn tip(&self, values: &[f64]) -> Rigid {
        // A skeleton has its places in f32.
        let place = |p: [f64; 3]| Rigid { p: p.map(|c| f64::from(c as f32)), ..Rigid::IDENTITY };
        let all = self
            .split(values)
            .fold(Rigid::IDENTITY, |at, (p, step, v)| at.then(place(*p)).then(step.moved(v)));
        all.then(place(self.tip))
    }

    fn skeleton(&self) -> Result<(Arc<Skeleton>, Vec<JointId>), String> {
        let mut b = Skeleton::builder();
        let mut parent = None;
        let local = |p: [f64; 3]| JointTransform::from_translation(DVec3::from_array(p).as_vec3());
        for (i, (p, _)) in self.joints.iter().enumerate() {
            parent = Some(b.add(format!("{i}"), parent, local(*p)));
        }
        b.add("tip", parent, local(self.tip));
        let (mut skeleton, ids) = b.build().map_err(|e| e.to_string())?;
        for ((_, step), &id) in self.joints.iter().zip(&ids) {
            skeleton.set_joint(id, step.joint()).map_err(|e| e.to_string())?;
        }
        skeleton.set_joint(ids[ids.len() - 1], Joint::FIXED).map_err(|e| e.to_string())?;
        Ok((Arc::new(skeleton), ids))
    }
}

/// Prints a line for each row and start; false where a bound is missed.
pub fn compare(count: usize, seed: u64, only: Option<&str>) -> Result<bool, String> {
    println!(
        "\ncompiled from skeletons, {count} poses each; `pose` is the largest excess over a limit and the largest distance once written\n{:<26} {:<4} {:>5} {:>7} {:>7} {:>5} {:>8} {:>5} {:>6} {:>4} {:>5} {:>8} {:>8}",
        "chain",
        "from",
        "done",
        "outside",
        "mean",
        "bound",
        "p99",
        "bound",
        "steps",
        "most",
        "stray",
        "pose rad",
        "pose m"
    );
    let mut fine = true;
    for row in rows().iter().filter(|r| only.is_none_or(|w| r.name.contains(w))) {
        for start in [Start::Any, Start::Near] {
            fine &= measure(row, start, count, seed)?;
        }
    }
    Ok(fine)
}

fn measure(row: &Row, start: Start, count: usize, seed: u64) -> Result<bool, String> {
    let (skeleton, ids) = row.skeleton()?;
    let tip_joint = ids[ids.len() - 1];
    let mut pose = Pose::rest(&skeleton);
    let compiled = SkeletonMechanism::compile(&pose).map_err(|e| e.to_string())?;
    let m = compiled.mechanism();
    let target = LinkTarget::Pose(DVec3::ZERO, DQuat::IDENTITY);
    let goal = LinkGoal::new(m, compiled.link(tip_joint), target);
    let options = contenders::options();
    let solver = JointSpaceSolver::new(m, &[goal]).map_err(|e| e.to_string())?;
    let mut workspace = Workspace::new();
    solver.reserve(&mut workspace);
    let mut random = Random(seed);
    let (mut solved, mut outside, mut strayed, mut lies, mut most, mut steps) = (0, 0, 0, 0, 0, 0.0);
    let (mut broken, mut off) = (0.0f64, 0.0f64);
    let mut times = Vec::new();
    for _ in 0..count {
        let (mut known, mut from) = (Vec::new(), Vec::new());
        row.joints.iter().for_each(|(_, step)| step.draw(&mut random, &mut known));
        for (_, step, v) in row.split(&known) {
            match start {
                Start::Any => step.draw(&mut random, &mut from),
                Start::Near => step.near(&mut random, v, &mut from),
            }
        }
        let wanted = row.tip(&known);
        let target = LinkTarget::Pose(DVec3::from_array(wanted.p), DQuat::from_array(wanted.q));
        let goal = goal.with_target(target);
        let mut rounds = Vec::new();
        let mut values = Vec::new();
        let mut report = None;
        for _ in 0..ROUNDS {
            let mut again = from.clone();
            let begin = Instant::now();
            report =
                Some(solver.solve(&mut workspace, &[goal], &mut again, &options).map_err(|e| e.to_string())?);
            rounds.push(begin.elapsed().as_secs_f64() * 1e6);
            if !values.is_empty() && values != again {
                return Err(format!("{}: another answer on a second run", row.name));
            }
            values = again;
        }
        rounds.sort_by(f64::total_cmp);
        times.push(rounds[ROUNDS / 2]);
        let report = report.unwrap_or_default();
        let (metres, radians) = row.tip(&values).from(&wanted);
        let ok = metres <= EXACT && radians <= EXACT;
        solved += usize::from(ok);
        lies += usize::from(!ok && report.reached());
        outside += row.split(&values).filter(|(_, step, v)| !step.within(v)).count();
        most = most.max(report.restarts);
        steps += f64::from(report.iterations) / count as f64;
        let away = |v: &[f64]| v.iter().zip(&from).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        strayed += usize::from(away(&values) > 1.5 * away(&known));
        // In the pose, in f32.
        compiled.write(&values, &mut pose).expect("the values are the mechanism's own");
        pose.update();
        for j in skeleton.joints() {
            let excess = crate::limits::excess(skeleton.joint(j), skeleton.rest(j), pose.local(j));
            broken = excess.into_iter().fold(broken, f64::max);
        }
        let p = wanted.p.map(|c| c as f32);
        off = off.max(f64::from(pose.position(tip_joint).distance(Vec3::from_array(p))));
    }
    times.sort_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / count as f64;
    let p99 = times[(count * 99 / 100).min(count - 1)];
    let near = start == Start::Near;
    let (mean_bound, p99_bound) = row.bounds[usize::from(near)];
    let fine = solved == count
        && outside == 0
        && lies == 0
        && broken <= EXACT
        && mean <= mean_bound
        && p99 <= p99_bound
        && (!near || strayed <= count / 1000);
    println!(
        "{:<26} {:<4} {solved:>5} {outside:>7} {mean:>7.2} {mean_bound:>5} {p99:>8.2} {p99_bound:>5} {steps:>6.2} {most:>4} {:>5} {broken:>8.1e} {off:>8.1e} {}",
        row.name,
        if near { "near" } else { "any" },
        if near { strayed.to_string() } else { "-".into() },
        if fine { "" } else { "MISSED" },
    );
    let name = format!("{}, {} start", row.name, if near { "near" } else { "any" });
    bounds::median(&name, mean);
    bounds::bound(&name, format!("solved {count}"), solved, solved == count);
    bounds::bound(&name, "none outside, no lies", outside + lies, outside + lies == 0);
    bounds::bound(&name, format!("limits to {EXACT} rad"), format!("{broken:.1e}"), broken <= EXACT);
    bounds::bound(&name, format!("mean {mean_bound} us"), format!("{mean:.2} us"), mean <= mean_bound);
    bounds::bound(&name, format!("p99 {p99_bound} us"), format!("{p99:.2} us"), p99 <= p99_bound);
    if near {
        bounds::bound(&name, format!("{} strayed", count / 1000), strayed, strayed <= count / 1000);
    }
    Ok(fine)
}
