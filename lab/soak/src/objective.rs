//! Judge of promise 7, that no solve leaves its objective larger than before, by independent forward kinematics in f64.
//!
//! The objective is the residual of position (softened in a soft zone) and rotation at full weight, in the parent space of
//! the chain's root. For free chains the rotation comes first, then the position. It is judged where it is defined: for
//! input poses within their limits, solvers with goals, roots that are not moved, and if f32 resolves a thousandth of the
//! chain's length.

use common::judge;
use sinew::{
    Goal, JointId, Outcome, Pole, Pose, Report,
    glam::{DAffine3, DMat3, DQuat, DVec3, Vec3},
    solve::{BendSide, Effector, RootMode, Tolerance},
};

use crate::{
    rig::{Freedom, Rig},
    solvers::{Solver, Task},
};

/// Uncertainty of positions in f32, as a share of the largest coordinate among the chain's joints and the goal.
const ROUNDING: f64 = 4e-6;

/// Metres that no chain is stretched beyond.
const LONGEST: f64 = 1e15;

/// By what part of the chain's length it may grow besides.
const MORE: f64 = 1e-6;

/// The angle in radians within which a rotation is met that the solver takes exactly.
const MET: f64 = 1e-4;

/// Says by how much the objective grew; none where it did not or is not defined.
pub fn grew(
    start: &Pose,
    pose: &Pose,
    rig: &Rig,
    solver: &Solver,
    task: &Task,
    report: &Report,
) -> Option<String> {
    let defined = match solver {
        // Where flexion remains, the reach ends before what comes in straight. Within limits, the reach is the range's, and a
        // side that the input is not on may be further from the goal.
        Solver::TwoBone(s, options, _) => {
            let limited = rig.freedom == Freedom::Limb;
            options.min_flexion == 0.0 && !(limited && (task.soft > 0.0 || s.side() != BendSide::Keep))
        }
        Solver::Chain(_) => true,
        Solver::FullBody(_, o) => {
            !matches!(o.plain.root, RootMode::At(_)) && o.balance.is_none() && o.plain.iterative.soft == 0.0
        }
        _ => false,
    };
    if !defined || task.weight < 1.0 || !rig.joints.iter().all(|&id| within(rig, start, id)) {
        return None;
    }
    if let Solver::FullBody(s, o) = solver {
        // A goal in part may lead others away.
        if task.goals.iter().any(|g| g.position_influence < 1.0 || g.rotation_influence < 1.0) {
            return None;
        }
        let Tolerance::Share(tolerance) = o.plain.iterative.position_tolerance else { return None };
        return full_body(start, pose, rig, s.effectors(), &task.goals, tolerance, report);
    }
    chain(start, pose, rig, solver, task, report)
}

/// Says what a limb or an aim within limits reports that is not so: another residual than f64 finds, or that it converged where
/// the goal is within reach and missed.
pub fn misreported(
    start: &Pose,
    pose: &Pose,
    rig: &Rig,
    solver: &Solver,
    task: &Task,
    report: &Report,
) -> Option<String> {
    let goal = &task.goals[0];
    let whole = task.weight >= 1.0 && goal.position_influence >= 1.0;
    let converged = whole && report.outcome == Outcome::Converged;
    let tell = |what: String| Some(format!("{what}, {report:?}: {task:?}"));
    match solver {
        Solver::TwoBone(_, options, _) if rig.freedom == Freedom::Limb => {
            let tip = rig.joints[rig.joints.len() - 1];
            let end = frame(pose, tip).transform_point3(rig.tip_offset.as_dvec3());
            let to = goal.position?.as_dvec3();
            let far =
                Space::new([start, pose], rig).far.max(to.abs().max_element()).max(end.abs().max_element());
            let off = (end - to).length().min(f32::MAX.into());
            // (Frames of f32 round once a joint. Scales that cancel lose more, which the tolerance counts.)
            let lost = if rig.hostile { f64::from(report.position_tolerance) } else { 0.0 };
            let rounding = ROUNDING * far * rig.joints.len() as f64 + lost;
            if (off - f64::from(report.position_residual)).abs() > rounding {
                return tell(format!("{off:e} metres off"));
            }
            let plain = task.soft == 0.0 && goal.rotation.is_none() && options.min_flexion == 0.0;
            let most = f64::from(report.position_tolerance) + 1.001 * f64::from(report.out_of_reach);
            // (In a sheared space another end is nearest.)
            (converged && plain && !rig.hostile && off > most + rounding)
                .then(|| tell("converged, but missed".into()))?
        }
        Solver::Aim(_) if rig.freedom == Freedom::Turning => {
            // (A target on the joint turns nothing.)
            let on = report.position_residual <= report.position_tolerance;
            let missed = converged && !rig.hostile && !report.reached() && report.out_of_reach == 0.0 && !on;
            missed.then(|| tell("converged, but missed".into()))?
        }
        _ => None,
    }
}

fn within(rig: &Rig, pose: &Pose, id: JointId) -> bool {
    let (joint, rest, local) = (rig.skeleton.joint(id), rig.skeleton.rest(id), pose.local(id));
    let way = rest.rotation.as_dquat().inverse() * (local.translation - rest.translation).as_dvec3();
    let slides = joint.slide.iter().zip(way.to_array());
    judge::excess(joint, rest, local).iter().all(|&out| out <= 1e-6)
        && slides
            .filter_map(|(dof, at)| Some((dof.as_ref()?.range, at)))
            .all(|(range, at)| range.contains(at))
}

/// A joint's frame in model space.
fn frame(pose: &Pose, joint: JointId) -> DAffine3 {
    let local = |j: JointId| {
        let t = pose.local(j);
        let rotation = t.rotation.as_dquat().normalize();
        DAffine3::from_scale_rotation_translation(t.scale.as_dvec3(), rotation, t.translation.as_dvec3())
    };
    let above = std::iter::successors(Some(joint), |&j| pose.skeleton().parent(j));
    above.fold(DAffine3::IDENTITY, |below, j| local(j) * below)
}

/// The space in which a chain is measured, and how exactly.
struct Space {
    inverse: DAffine3,
    /// The largest coordinate of a joint in model space.
    far: f64,
    /// The size of its matrix.
    norm: f64,
    /// Uncertainty of positions in that space.
    rounding: f64,
}

impl Space {
    fn new(poses: [&Pose; 2], rig: &Rig) -> Self {
        let parent = rig.skeleton.parent(rig.joints[0]);
        let inverse = parent.map_or(DAffine3::IDENTITY, |j| frame(poses[0], j)).inverse();
        let mut far = 0.0f64;
        for pose in poses {
            for id in rig.skeleton.joints() {
                far = far.max(frame(pose, id).translation.abs().max_element());
            }
        }
        let m = inverse.matrix3;
        let norm = [m.x_axis, m.y_axis, m.z_axis].iter().map(|c| c.length_squared()).sum::<f64>().sqrt();
        Self { inverse, far, norm, rounding: ROUNDING * norm * far }
    }

    /// A place of model space, seen from there; what is far is as uncertain as it is far. (Where the parent's scales are a
    /// million times apart, digits that f32 loses along the longest are most of what is along the others.)
    fn place(&mut self, at: DVec3) -> DVec3 {
        self.rounding = self.rounding.max(ROUNDING * self.norm * at.length());
        self.inverse.transform_point3(at)
    }
}

/// The angle in radians between a frame's rotation (free of scale) and another one; none where the frame is sheared.
fn turn(frame: DMat3, wanted: DQuat) -> Option<f64> {
    let m = frame * (1.0 / frame.determinant().cbrt());
    let columns = [m.x_axis, m.y_axis, m.z_axis].map(|c| c.length());
    if columns.iter().any(|l| (l - 1.0).abs() > 1e-4 || l.is_nan()) {
        return None;
    }
    let m = DMat3::from_quat(wanted.normalize()).transpose() * m;
    let skew = DVec3::new(m.y_axis.z - m.z_axis.y, m.z_axis.x - m.x_axis.z, m.x_axis.y - m.y_axis.x);
    let trace = m.x_axis.x + m.y_axis.y + m.z_axis.z;
    Some((0.5 * skew.length()).atan2(0.5 * (trace - 1.0)))
}

fn chain(
    start: &Pose,
    pose: &Pose,
    rig: &Rig,
    solver: &Solver,
    task: &Task,
    report: &Report,
) -> Option<String> {
    let goal = &task.goals[0];
    let at = goal.position?.as_dvec3();
    let turned = goal.rotation.is_some();
    if goal.position_influence < 1.0 || turned && goal.rotation_influence < 1.0 {
        return None;
    }
    let free = matches!(solver, Solver::Chain(s) if s.free);
    let unequal = |id: &JointId| {
        let scale = start.local(*id).scale.abs();
        scale.max_element() > scale.min_element() * (1.0 + 1e-5)
    };
    // (A pole, too, may take what is met to elsewhere within its tolerance.)
    if free && goal.pole != Pole::Keep && report.reached() {
        return None;
    }
    // The reach of bones that change as unequal scales turn is not the length that came in.
    if task.soft > 0.0 && rig.joints.iter().any(unequal) {
        return None;
    }
    let tip = rig.joints[rig.joints.len() - 1];
    let mut space = Space::new([start, pose], rig);
    let at = space.place(at);
    let places = |pose: &Pose, space: &Space| -> Vec<DVec3> {
        let ends = rig.joints.iter().map(|&j| frame(pose, j).translation);
        let end = frame(pose, tip).transform_point3(rig.tip_offset.as_dvec3());
        ends.chain([end]).map(|p| space.inverse.transform_point3(p)).collect()
    };
    let (was, is) = (places(start, &space), places(pose, &space));
    let length: f64 = was.windows(2).map(|w| (w[1] - w[0]).length()).sum();
    let rounding = space.rounding;
    if length.is_nan() || rounding.is_nan() || rounding > 1e-3 * length {
        return None;
    }
    // A free chain's tip takes its rotation first: what its place misses is that of the tip joint, from where the goal needs
    // it with the tip turned so. (Where a bound on turns keeps the tip from its rotation, both count.)
    let wanted = goal.rotation.map(|q| q.as_dquat().normalize());
    // The tip of a limb within limits turns as far as its own let it, once the end is led; with an offset it turns first. With a
    // bound on turns both count where the end comes no nearer.
    let bounded = solver.most() < f32::INFINITY;
    let limb = matches!(solver, Solver::TwoBone(..)) && turned;
    let offset = limb && rig.tip_offset != Vec3::ZERO;
    let turned_first = match wanted {
        Some(wanted) if free || offset => turn(frame(pose, tip).matrix3, wanted)? < MET,
        _ => false,
    };
    if offset && !turned_first {
        return None;
    }
    let (mut at, mut last) = (at, was.len() - 1);
    if let (Some(wanted), true) = (wanted, turned_first) {
        let scale = frame(start, tip).matrix3.determinant().cbrt();
        at -= space.inverse.transform_vector3(wanted * (scale * rig.tip_offset.as_dvec3()));
        last -= 1;
    }
    let to = match at - was[0] {
        way if task.soft > 0.0 => {
            // (A limb has two bones, whatever lies in between.)
            let reach = match solver {
                Solver::TwoBone(s, ..) => {
                    let middle = space.inverse.transform_point3(frame(start, s.middle()).translation);
                    (middle - was[0]).length() + (was[last] - middle).length()
                }
                _ => was[..=last].windows(2).map(|w| (w[1] - w[0]).length()).sum(),
            };
            let (far, zone) = (way.length(), f64::from(task.soft) * reach);
            let onset = reach - zone;
            let near = if far <= onset { far } else { onset + zone * (1.0 - ((onset - far) / zone).exp()) };
            // (Bones that may become longer make up for it.)
            let stretch = if matches!(solver, Solver::TwoBone(..)) { 1.0 } else { task.stretch };
            let longer = f64::from(stretch).min((LONGEST / length).max(1.0));
            was[0] + way * if far > 0.0 { (longer * near / far).min(1.0) } else { 1.0 }
        }
        _ => at,
    };
    let missing = |pose: &Pose, places: &[DVec3]| {
        let off = (places[last] - to).length();
        let turn = match wanted {
            Some(q) if !turned_first && (!limb || bounded) => turn(frame(pose, tip).matrix3, q)?,
            _ => 0.0,
        };
        Some((off, turn))
    };
    // Within its tolerances a goal counts as met: a position may yield to a rotation, and both to a pole. (In a soft zone
    // the softened position counts; the goal itself, and so the report, may be further from it.)
    let (off, angle) = missing(pose, &is)?;
    let met = off <= f64::from(report.position_tolerance) && angle <= f64::from(report.rotation_tolerance);
    if turned && (met || report.reached()) {
        return None;
    }
    // (The limb's own length is that of its two bones.)
    let size = match solver {
        Solver::TwoBone(s, ..) => {
            let middle = space.inverse.transform_point3(frame(start, s.middle()).translation);
            (middle - was[0]).length() + (was[last] - middle).length()
        }
        _ => length,
    };
    let cost = |(off, turn): (f64, f64)| off.hypot(0.5 * size * turn);
    let start = missing(start, &was)?;
    let (before, left) = (cost(start), cost((off, angle)));
    if limb && off <= start.0 + MORE * length + rounding {
        return None;
    }
    (left - before > (MORE + if turned { 4e-6 } else { 0.0 }) * length + rounding).then(|| {
        format!(
            "grew from {before:e} to {left:e} of {length:e} (rounding {rounding:e}), {report:?}: {task:?}"
        )
    })
}

/// Of the first priority of which something is asked; others may give way to it.
fn full_body(
    start: &Pose,
    pose: &Pose,
    rig: &Rig,
    tips: &[Effector],
    goals: &[Goal],
    tolerance: f32,
    report: &Report,
) -> Option<String> {
    if report.reached() {
        return None;
    }
    let asks = |(tip, goal): &(&Effector, &Goal)| {
        goal.position.is_some() && tip.position_weight > 0.0
            || goal.rotation.is_some() && tip.rotation_weight > 0.0
    };
    let all: Vec<(&Effector, &Goal)> = tips.iter().zip(goals).filter(asks).collect();
    let first = all.iter().map(|(tip, _)| tip.priority).min()?;
    let alone = all.iter().all(|(tip, _)| tip.priority == first);
    let mut space = Space::new([start, pose], rig);
    let mut size = 0.0f64;
    for tip in tips {
        let mut at = frame(start, tip.joint).transform_point3(tip.offset.as_dvec3());
        let mut way = 0.0;
        for j in std::iter::successors(Some(tip.joint), |&j| rig.skeleton.parent(j)) {
            let next = frame(start, j).translation;
            way += space.inverse.transform_vector3(at - next).length();
            at = next;
            if j == rig.joints[0] {
                break;
            }
        }
        size = size.max(way);
    }
    let mut missing = |pose: &Pose| {
        let mut sum = 0.0;
        for (tip, goal) in all.iter().filter(|(tip, _)| tip.priority == first) {
            let own = frame(pose, tip.joint);
            let other = tip.relative_to.map(|j| frame(pose, j));
            if let Some(p) = goal.position {
                let p = p.as_dvec3();
                let to = space.place(other.map_or(p, |f| f.transform_point3(p)));
                let end = space.inverse.transform_point3(own.transform_point3(tip.offset.as_dvec3()));
                sum += f64::from(tip.position_weight) * ((end - to).length() / size).powi(2);
            }
            if let Some(q) = goal.rotation {
                let own = match other {
                    None => own.matrix3,
                    Some(f) => f.matrix3.inverse() * own.matrix3,
                };
                let chord = 2.0 * (0.5 * turn(own, q.as_dquat())?).sin();
                sum += 0.25 * f64::from(tip.rotation_weight) * chord * chord;
            }
        }
        Some(sum)
    };
    let (before, left) = (missing(start)?, missing(pose)?);
    let rounding = space.rounding / size;
    if rounding.is_nan() || rounding > 1e-3 {
        return None;
    }
    // Where several priorities share joints, what goes first is met to its tolerance.
    let slack = rounding + if alone { MORE } else { f64::from(tolerance) };
    (left > before + 2.0 * slack * (left.sqrt() + before.sqrt() + slack)).then(|| {
        format!("grew from {before:e} to {left:e} (rounding {rounding:e}), {report:?}: {tips:?}, {goals:?}")
    })
}
