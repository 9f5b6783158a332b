//! Batches of solves in joint space, on mechanisms compiled from skeletons with all kinds of joints.

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{Noise, judge, kinematics};
use sinew::{
    JointId, Pose, Workspace,
    glam::{DAffine3, DMat3, DQuat, DVec3, Quat, Vec3},
    joint::{Dof, Joint, Turning},
    mechanism::{
        CompileError, DofKind, History, JointSpaceError, JointSpaceOptions, JointSpaceSolver, LinkGoal,
        LinkId, LinkTarget, Mechanism, MechanismError, Objective, ObjectiveKind, PathFollower, PathOptions,
        SkeletonMechanism,
    },
};

use crate::{
    BATCH, HOSTILE, PROMISE,
    rig::{Freedom, Rig},
    tally::{Fault, Tally},
};

pub const ALL: [&str; 3] = ["joint space", "joint space, from here", "joint space, step by step"];

/// Metres beyond which joint space knows no place.
const FARTHEST: f64 = 1e50;

enum Kind {
    Solver(JointSpaceSolver),
    Follower(PathFollower),
}

/// Rig, solver and buffers of one batch.
struct Bench {
    rig: Rig,
    compiled: SkeletonMechanism,
    /// The pose that it was compiled from.
    base: Pose,
    goals: Vec<LinkGoal>,
    options: JointSpaceOptions,
    /// Metres that a radian counts, where that is set.
    length: Option<f64>,
    objectives: Vec<Objective>,
    kind: Kind,
}

fn power(r: &mut Noise, from: f32, to: f32) -> f64 {
    10f64.powf(f64::from(r.between(from, to)))
}

fn target(at: Vec3, r: &mut Noise) -> LinkTarget {
    let at = at.as_dvec3();
    let q = r.rotation().to_array().map(f64::from);
    let turn = DQuat::from_array(q).normalize();
    match r.below(6) {
        0 => LinkTarget::Rotation(turn),
        1 => LinkTarget::LookAt(DVec3::Z, at),
        2 | 3 => LinkTarget::Pose(at, turn),
        _ => LinkTarget::Position(at),
    }
}

/// Excess of values over their ranges, and of swings over their ellipses if these are compiled from a rig's.
fn out(m: &Mechanism, values: &[f64]) -> Vec<f64> {
    let of = |(dof, v): (&sinew::mechanism::NamedDof, &f64)| {
        (v - dof.dof.range.max).max(dof.dof.range.min - v).max(0.0)
    };
    m.dofs().iter().zip(values).map(of).collect()
}

/// Whether every swing is within the quarters of ellipses whose half-axes its ranges end.
fn swings(m: &Mechanism, values: &[f64]) -> bool {
    let half = |d: usize| {
        let dof = &m.dofs()[d];
        let at = values[d] - dof.centre;
        at / if at < 0.0 { dof.centre - dof.dof.range.min } else { dof.dof.range.max - dof.centre }
    };
    let first = |&d: &usize| m.dofs()[d].kind == DofKind::Swing;
    let all: Vec<usize> = (0..m.dofs().len()).filter(first).collect();
    all.chunks(2).all(|pair| pair.iter().map(|&d| half(d).powi(2)).sum::<f64>() <= 1.0 + 1e-12)
}

fn turns(q: Quat) -> bool {
    let squared: f64 = q.to_array().iter().map(|&x| f64::from(x).powi(2)).sum();
    (0.25..=4.0).contains(&squared)
}

/// Whether a pose holds what no mechanism can be compiled from.
fn unsound(pose: &Pose) -> bool {
    pose.skeleton().joints().any(|j| {
        let local = pose.local(j);
        let carries = pose.skeleton().children(j).next().is_some();
        !local.is_finite() || !turns(local.rotation) || carries && local.scale.cmpeq(Vec3::ZERO).any()
    })
}

/// Whether a joint that carries others has unequal scales.
fn uneven(pose: &Pose) -> bool {
    pose.skeleton().joints().any(|j| {
        let scale = pose.local(j).scale.abs();
        pose.skeleton().children(j).next().is_some()
            && scale.max_element() > scale.min_element() * (1.0 + 9e-4)
    })
}

/// Whether compiling may be refused with this.
fn fits(error: &CompileError, pose: &Pose) -> bool {
    match error {
        CompileError::Pose(_) => unsound(pose),
        CompileError::Scale { .. } => unsound(pose) || uneven(pose),
        // Scales on scales.
        CompileError::Mechanism(MechanismError::TooLarge { .. }) => true,
        _ => false,
    }
}

/// A joint's frame in model space, rotated and scaled. The joint's own scale counts by its signs: along axes of its own,
/// other sizes leave their directions as they are.
fn frame(pose: &Pose, joint: JointId) -> DMat3 {
    let above = std::iter::successors(Some(joint), |&j| pose.skeleton().parent(j));
    above.fold(DMat3::IDENTITY, |below, j| {
        let t = pose.local(j);
        let own = |x: f64| if x < 0.0 { -1.0 } else { 1.0 };
        let scale = if j == joint { t.scale.as_dvec3().map(own) } else { t.scale.as_dvec3() };
        DMat3::from_quat(t.rotation.as_dquat().normalize()) * DMat3::from_diagonal(scale) * below
    })
}

/// Distance of a link from a target in the pose that the values make, in metres and radians, with the uncertainty of both;
/// `None` where f32 does not resolve a position, or for targets that are judged otherwise.
///
/// Joint space takes sizes s (1 + E) of axes, with |E| at most e, for the one size s. What is below is linear in each such
/// matrix: a place d away is off by e d, a frame's column by e of its length; the angle read from skew part and trace of a
/// matrix that is off by e is off by 2 e at most. (e is 0 where all sizes are the same.)
fn missing(bench: &Bench, values: &[f64]) -> Option<(f64, f64, [f64; 2])> {
    let goal = &bench.goals[0];
    let mut pose = bench.base.clone();
    // (What is beyond f32 can be solved for, but not be written.)
    bench.compiled.write(values, &mut pose).ok()?;
    let joint = bench.rig.skeleton.joints().find(|&j| bench.compiled.link(j) == goal.link)?;
    let at = DVec3::from_array(kinematics::end(&pose, joint));
    let [mut rounding, mut uncertain] = [0.0; 2];
    let mut scale = 1.0;
    let mut chain: Vec<_> = std::iter::successors(Some(joint), |&j| bench.rig.skeleton.parent(j)).collect();
    chain.reverse();
    for j in chain {
        let t = pose.local(j);
        rounding += 2e-6 * scale * f64::from(t.translation.length());
        let (min, max) = (f64::from(t.scale.abs().min_element()), f64::from(t.scale.abs().max_element()));
        scale *= max;
        if j != joint {
            let e = (max - min) / (max + min);
            rounding += e * (at - DVec3::from_array(kinematics::end(&pose, j))).length();
            uncertain += 2.0 * e;
        }
    }
    let m = frame(&pose, joint);
    let m = m * (1.0 / m.determinant().cbrt());
    let turn = |q: DQuat| {
        let m = DMat3::from_quat(q.normalize()).transpose() * m;
        let skew = DVec3::new(m.y_axis.z - m.z_axis.y, m.z_axis.x - m.x_axis.z, m.x_axis.y - m.y_axis.x);
        (0.5 * skew.length()).atan2(0.5 * (m.x_axis.x + m.y_axis.y + m.z_axis.z - 1.0))
    };
    let (off, turn) = match goal.target {
        LinkTarget::Position(to) => ((at - to).length(), 0.0),
        LinkTarget::Rotation(q) => (0.0, turn(q)),
        LinkTarget::Pose(to, q) => ((at - to).length(), turn(q)),
        _ => return None,
    };
    (off.is_finite() && turn.is_finite() && rounding.is_finite()).then_some((
        off,
        turn,
        [rounding, uncertain],
    ))
}

impl Bench {
    fn new(which: usize, hostile: bool, seed: u64, r: &mut Noise, tally: &mut Tally) -> Option<Self> {
        let branching = r.below(2) == 0;
        let rig = Rig::random(r, Freedom::Sliding, branching, hostile);
        let mut base = Pose::rest(&rig.skeleton);
        if hostile && r.below(2) == 0 {
            rig.pose(&mut base, r.below(2) == 0, r);
        }
        base.update();
        let compiled = match SkeletonMechanism::compile(&base) {
            Err(error) => {
                if !fits(&error, &base) {
                    tally.find(Fault::Refusal, || format!("not compiled: `{error}`: seed {seed}"));
                }
                return None;
            }
            Ok(compiled) => compiled,
        };
        if unsound(&base) {
            tally.find(Fault::Refusal, || format!("compiled from a pose that is none: seed {seed}"));
            return None;
        }
        let m = compiled.mechanism();
        let tip = compiled.link(rig.joints[rig.joints.len() - 1]);
        // Goals of one kind each: a solver is made for them.
        let at = base.position(rig.joints[0]);
        let mut goals = vec![LinkGoal::new(m, tip, target(at, r))];
        if r.below(3) == 0 {
            let other = compiled.link(rig.joints[r.below(rig.joints.len())]);
            let priority = r.below(2) as u8;
            goals.push(LinkGoal::new(m, other, target(at, r)).with_priority(priority));
        }
        let mut options = JointSpaceOptions::new()
            .with_position_tolerance(1e-5 * f64::from(rig.size))
            .with_max_iterations([1, 10, 40][r.below(3)])
            .with_max_restarts(if which == 0 { 2 } else { 0 });
        let (mut speed, mut length, mut objectives) = (3.0, None, Vec::new());
        if hostile {
            options.position_tolerance = power(r, -30.0, 6.0);
            options.rotation_tolerance = power(r, -30.0, 2.0);
            options.max_iterations = [0, 1, 2, 7, 40, 200][r.below(6)];
            options.max_restarts = if which == 0 { [0, 1, 4, 20][r.below(4)] } else { 0 };
            length = (r.below(2) == 0).then(|| power(r, -12.0, 12.0));
            options.history = if r.below(4) == 0 { History::None } else { History::Last };
            speed = power(r, -12.0, 12.0);
            for goal in &mut goals {
                tangle(goal, m, &rig, r);
            }
            for _ in 0..r.below(3) {
                let what = match r.below(3) {
                    0 => ObjectiveKind::Posture(m.dofs().iter().map(|_| power(r, -6.0, 6.0)).collect()),
                    1 => ObjectiveKind::OffLimits,
                    _ => ObjectiveKind::Manipulability(r.below(goals.len())),
                };
                objectives.push(Objective::new(what).with_weight(power(r, -9.0, 9.0)));
            }
        }
        let follower = || {
            let follower = PathFollower::new(m, &goals, speed)?.with_objectives(&objectives)?;
            length.map_or(Ok(follower.clone()), |length| follower.with_radian_length(length))
        };
        let solver = || {
            let solver = JointSpaceSolver::new(m, &goals)?.with_objectives(&objectives)?.with_seed(seed);
            length.map_or(Ok(solver.clone()), |length| solver.with_radian_length(length))
        };
        let made = if which == 2 { follower().map(Kind::Follower) } else { solver().map(Kind::Solver) };
        match made {
            Ok(kind) => Some(Self { rig, compiled, base, goals, options, length, objectives, kind }),
            Err(error) => {
                if !matches!(error, JointSpaceError::NoJoint { .. }) {
                    tally.find(Fault::Refusal, || format!("no solver: `{error}`: seed {seed}"));
                }
                None
            }
        }
    }

    /// Whether the goals are one that is told and judged by its link's frame alone.
    fn plain(&self) -> bool {
        let goal = &self.goals[0];
        self.goals.len() == 1
            && goal.frame == DAffine3::IDENTITY
            && goal.relative_to == self.compiled.mechanism().root()
            && goal.weights == [1.0; 6]
    }
}

/// Gives a goal a frame, weights, and another link that it is relative to.
fn tangle(goal: &mut LinkGoal, m: &Mechanism, rig: &Rig, r: &mut Noise) {
    if r.below(3) == 0 {
        let q = r.rotation().as_dquat().normalize();
        let far = f64::from(rig.size) * power(r, -9.0, 9.0);
        goal.frame = DAffine3::from_rotation_translation(q, r.vector().as_dvec3() * far);
    }
    if r.below(3) == 0 {
        goal.weights = [0; 6].map(|_| [0.0, 1.0, power(r, -12.0, 12.0)][r.below(3)]);
    }
    if r.below(4) == 0 {
        let links: Vec<LinkId> = m.links().collect();
        goal.relative_to = links[r.below(links.len())];
    }
}

/// Moves the goals; whether a number of one is such that it must be refused.
fn aim(goals: &mut [LinkGoal], root: Vec3, rig: &Rig, r: &mut Noise) -> bool {
    let mut invalid = false;
    for goal in goals {
        let reach = rig.size * rig.joints.len() as f32;
        let at = match r.below(8) {
            0 => root,
            1 => root + r.vector() * rig.size * 1e4,
            _ => root + r.vector() * reach * r.unit(),
        };
        let mut at = at.as_dvec3();
        if rig.hostile {
            if r.below(4) == 0 {
                at = r.vector().as_dvec3() * power(r, -60.0, 50.0);
            }
            if r.below(24) == 0 {
                at[r.below(3)] = [1.1 * FARTHEST, -1e300, f64::NAN, f64::INFINITY][r.below(4)];
            }
        }
        // (The root of a pose that is broken is nowhere.)
        invalid |= !matches!(goal.target, LinkTarget::Rotation(_))
            && at.to_array().iter().any(|x| x.is_nan() || x.abs() > FARTHEST);
        goal.target = match goal.target {
            LinkTarget::Pose(_, q) => LinkTarget::Pose(at, q),
            LinkTarget::Position(_) => LinkTarget::Position(at),
            LinkTarget::LookAt(axis, _) => LinkTarget::LookAt(axis, at),
            turn => turn,
        };
    }
    invalid
}

/// One skeleton, one solver, [`BATCH`] solves.
pub fn batch(seed: u64, which: usize, tally: &mut Tally) {
    let mut r = Noise::new(seed);
    let hostile = seed.is_multiple_of(HOSTILE);
    let made = (0..100).find_map(|_| Bench::new(which, hostile, seed, &mut r, tally));
    let Some(mut bench) = made else { return };
    let m = bench.compiled.mechanism().clone();
    let dofs: Vec<usize> = match &bench.kind {
        Kind::Solver(s) => s.dofs().collect(),
        Kind::Follower(_) => (0..m.dofs().len()).collect(),
    };
    let (mut pose, mut values) = (Pose::rest(&bench.rig.skeleton), m.rest());
    let mut workspace = Workspace::new();
    for n in 0..BATCH {
        if n % 4 < 2 {
            bench.rig.pose(&mut pose, n % 2 == 0, &mut r);
            bench.compiled.read(&pose, &mut values).expect("the values are the mechanism's own");
        }
        if hostile && r.below(8) == 0 {
            let d = r.below(values.len().max(1));
            if let Some(value) = values.get_mut(d) {
                let wild = power(&mut r, -30.0, 49.0) * if r.below(2) == 0 { 1.0 } else { -1.0 };
                *value = [wild, *value + 1e6, f64::NAN, f64::INFINITY, 1e60][r.below(5)];
            }
        }
        let mut invalid = !values.iter().all(|v| v.abs() < FARTHEST);
        invalid |= aim(&mut bench.goals, pose.position(bench.rig.joints[0]), &bench.rig, &mut r);
        let mut seconds = 1.0 / 60.0;
        if hostile {
            seconds = [0.0, seconds, power(&mut r, -12.0, 9.0)][r.below(3)];
            if which == 2 && r.below(24) == 0 {
                seconds = [-1.0, f64::NAN, f64::INFINITY][r.below(3)];
                invalid = true;
            }
        }
        let start = values.clone();
        let goals = bench.goals.clone();
        let o = bench.options;
        let steps = PathOptions::new()
            .with_position_tolerance(o.position_tolerance)
            .with_rotation_tolerance(o.rotation_tolerance)
            .with_max_iterations(o.max_iterations);
        let solve = |kind: &Kind, workspace: &mut Workspace, values: &mut [f64]| match kind {
            Kind::Solver(s) => {
                s.solve(workspace, &goals, values, &o).map(|r| [r.position_residual, r.rotation_residual])
            }
            Kind::Follower(s) => s
                .step(workspace, &goals, values, seconds, &steps)
                .map(|r| [r.solve.position_residual, r.solve.rotation_residual]),
        };
        tally.solves += 1;
        let tag = |what: String| {
            let count = bench.rig.joints.len();
            format!(
                "{what}: seed {seed}, solve {n}, {count} joints, {goals:?}, {:?}, {:?}, {:?}",
                bench.options, bench.length, bench.objectives
            )
        };
        let bits = |of: &[f64]| of.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let left = match catch_unwind(AssertUnwindSafe(|| solve(&bench.kind, &mut workspace, &mut values))) {
            Err(_) => return tally.find(Fault::Panic, || tag("a panic".into())),
            Ok(Err(error)) => {
                tally.refused += 1;
                if bits(&values) != bits(&start) {
                    tally.find(Fault::Bits, || tag("changed, but refused".into()));
                }
                if !invalid {
                    tally.find(Fault::Refusal, || tag(format!("refused without a reason: `{error}`")));
                }
                values = m.rest();
                continue;
            }
            Ok(Ok(left)) => left,
        };
        if invalid {
            tally.find(Fault::Refusal, || tag(format!("not refused: {start:?}, {seconds} s")));
            values = m.rest();
            continue;
        }
        if !values.iter().chain(&left).all(|x| x.is_finite()) {
            return tally.find(Fault::NotFinite, || tag(format!("not finite, {left:?} left, {values:?}")));
        }
        tally.digest(values.iter().chain(&left).map(|x| x.to_bits()));
        if n % 8 == 5 {
            let mut again = start.clone();
            let second = solve(&bench.kind, &mut Workspace::new(), &mut again);
            if bits(&again) != bits(&values) || second != Ok(left) {
                tally.find(Fault::Bits, || tag("other bits the second time".into()));
            }
        }
        // Exactly within; a follower comes back at its speed, and never goes further out.
        let (before, after) = (out(&m, &start), out(&m, &values));
        for &d in &dofs {
            let most = if which == 2 { before[d] } else { 0.0 };
            if after[d] > most {
                let (was, is, dof) = (start[d], values[d], &m.dofs()[d]);
                tally.find(Fault::Limit, || tag(format!("value {d} went from {was} to {is}: {dof:?}")));
            }
        }
        if (which != 2 || swings(&m, &start)) && dofs.len() == values.len() && !swings(&m, &values) {
            tally.find(Fault::Limit, || tag(format!("a swing left its ellipse: {start:?} to {values:?}")));
        }
        if let Some(d) =
            (0..values.len()).find(|d| !dofs.contains(d) && values[*d].to_bits() != start[*d].to_bits())
        {
            tally.find(Fault::Bits, || tag(format!("value {d} changed, on which no goal depends")));
        }
        if bench.plain() {
            report(&bench, &start, &values, left, tally, &tag);
        }
        if !written(&bench, &values, &mut pose, tally, &tag) {
            return;
        }
    }
}

/// Judges the report and whether more is missing than before, by forward kinematics of the pose that the values make.
fn report(
    bench: &Bench,
    start: &[f64],
    values: &[f64],
    left: [f64; 2],
    tally: &mut Tally,
    tag: &dyn Fn(String) -> String,
) {
    let Some((off, turn, known)) = missing(bench, values) else { return };
    if (off - left[0]).abs() > known[0] + 1e-6 * off || (turn - left[1]).abs() > known[1] + 1e-5 {
        tally.find(Fault::Report, || tag(format!("{off:e}, {turn:e} are missing, not {left:?}, {values:?}")));
    }
    // The objective: metres, and radians times the length that is set.
    let (m, target) = (bench.compiled.mechanism(), &bench.goals[0].target);
    let length = match (bench.length, target) {
        (Some(length), _) => length,
        (None, LinkTarget::Pose(..)) => return,
        _ => 1.0,
    };
    // Of an angle of a million turns f64 tells too little.
    let many = |(dof, v): (&sinew::mechanism::NamedDof, &f64)| !dof.slides() && v.abs() > 1e6;
    if bench.options.history == History::None || m.dofs().iter().zip(start).any(many) {
        return;
    }
    let mut within = start.to_vec();
    if matches!(bench.kind, Kind::Solver(_)) {
        m.clamp(&mut within).expect("the values are the mechanism's own");
    } else if !m.is_within(start) {
        return;
    }
    let Some((was_off, was_turn, was_known)) = missing(bench, &within) else { return };
    let (was, is) = (was_off.hypot(length * was_turn), off.hypot(length * turn));
    let rounding = known[0].max(was_known[0]) + length * known[1];
    // Within the tolerances objectives are served.
    let s = &bench.options;
    if off <= s.position_tolerance + rounding && turn <= s.rotation_tolerance + known[1] + 1e-6 {
        return;
    }
    if is > was * (1.0 + 1e-6) + rounding + 1e-6 * length {
        tally.find(Fault::Grew, || {
            tag(format!("grew from {was:e} to {is:e} (rounding {rounding:e}): {start:?} to {values:?}"))
        });
    }
}

/// Writes the values into the pose and judges it; whether it is finite.
///
/// Limits of joint space are those of its values, which are judged above. A pose has no more to keep than that it is no
/// further out than its values are: see [`allowed`].
fn written(
    bench: &Bench,
    values: &[f64],
    pose: &mut Pose,
    tally: &mut Tally,
    tag: &dyn Fn(String) -> String,
) -> bool {
    let (rig, compiled) = (&bench.rig, &bench.compiled);
    let came = pose.clone();
    // Values beyond f32 can be solved for, but neither they nor positions beyond f32 can be written.
    let far = |(d, v): (&sinew::mechanism::NamedDof, &f64)| d.slides() && v.abs() > 1e20;
    let far = compiled.mechanism().dofs().iter().zip(values).any(far);
    let refused = compiled.write(values, pose);
    if let Err(error) = &refused
        && !far
    {
        tally.find(Fault::Refusal, || tag(format!("not written: `{error}`")));
        return false;
    }
    if far {
        rig.pose(pose, true, &mut Noise::new(1));
        return true;
    }
    let put = pose.clone();
    pose.update();
    if pose.check_finite().is_err() && came.check_finite().is_ok() {
        tally.find(Fault::NotFinite, || tag("a pose that is not finite".into()));
        return false;
    }
    for id in rig.skeleton.joints() {
        let (joint, rest) = (rig.skeleton.joint(id), rig.skeleton.rest(id));
        if joint.slide.iter().all(Option::is_none)
            && came.local(id).translation != pose.local(id).translation
            && came.local(id).is_finite()
        {
            tally.find(Fault::Length, || tag(format!("joint {id} has moved")));
        }
        // Joints that keep their values keep their bits, and what they cannot do. (Updating gives rotations their length.)
        if came.local(id).rotation == put.local(id).rotation || !turns(came.local(id).rotation) {
            continue;
        }
        // Rotations that a joint cannot make are those of the mechanism, which may have been compiled from a pose that has
        // such rotations itself.
        let base = judge::excess(&unlimited(joint), rest, bench.base.local(id));
        if base.iter().any(|out| *out > 1e-6) {
            continue;
        }
        let Some(allowed) = allowed(bench, joint, &values[compiled.dofs(id)], id) else { continue };
        let lost = judge::lost(joint, rest, pose.local(id));
        let out = judge::excess(joint, rest, pose.local(id)).into_iter().fold(0.0, f64::max) / lost;
        tally.worst = tally.worst.max(out - allowed);
        if out > allowed + PROMISE {
            let what = format!(
                "joint {id} is {out:e} rad out, but {allowed:e} its values {:?}, from {:?} to {:?} at rest {:?}: {joint:?}",
                &values[compiled.dofs(id)],
                came.local(id).rotation.to_array(),
                pose.local(id).rotation.to_array(),
                rest.rotation.to_array()
            );
            tally.find(Fault::Limit, || tag(what));
        }
    }
    true
}

/// A joint that can do the same without any range.
fn unlimited(joint: &Joint) -> Joint {
    let turning = match joint.turning {
        Turning::Hinge { axis, .. } => Turning::Hinge { axis, dof: Dof::FREE },
        Turning::Axes { order, angles } => {
            Turning::Axes { order, angles: angles.map(|a| a.map(|_| Dof::FREE)) }
        }
        // All that these hold is in their values, or nothing is.
        _ => Turning::Free,
    };
    Joint { turning, ..*joint }
}

/// Excess over its limits, in radians, that a joint's values allow in the pose.
///
/// Each angle that is outside its range by e (on the circle) is within after a turn of e about one axis. Rotations of which
/// one factor is turned by e are e apart, so that the least turn that leads a product of turns about axes within is at most
/// the sum of theirs, whichever other set of angles the rotation has and however near to a pole it is. It is 0 where all
/// values are within. There is no such bound by the pose that came in: with one angle held outside, another one's way within
/// its range may lead away from the set. A ball's swing and twist are its coordinates themselves, up to half a turn.
fn allowed(bench: &Bench, joint: &Joint, values: &[f64], id: JointId) -> Option<f64> {
    let dofs = &bench.compiled.mechanism().dofs()[bench.compiled.dofs(id)];
    let mut sum = 0.0;
    for (k, (dof, v)) in dofs.iter().zip(values).enumerate().filter(|(_, (dof, _))| !dof.slides()) {
        let (from, to) = (dof.dof.range.min, dof.dof.range.max);
        match dof.kind {
            DofKind::Swing if dofs[k + 1].kind == DofKind::Swing => {
                let swing = [k, k + 1].map(|n| values[n] - dofs[n].centre);
                let half = |n: usize| {
                    let (range, centre) = (dofs[n].dof.range, dofs[n].centre);
                    if swing[n - k] < 0.0 { centre - range.min } else { range.max - centre }
                };
                if swing[0].hypot(swing[1]) >= std::f64::consts::PI {
                    return None;
                }
                sum += judge::from_ellipse(swing, half(k), half(k + 1));
            }
            DofKind::Swing | DofKind::Vector => {}
            DofKind::Turn | DofKind::Twist if from.is_finite() && to.is_finite() => {
                let off = v - 0.5 * (from + to);
                // Of an angle of a million turns f64 tells too little.
                let turns = if v.abs() > 1e6 { 0.0 } else { (off / std::f64::consts::TAU).round() };
                sum += ((off - turns * std::f64::consts::TAU).abs() - 0.5 * (to - from)).max(0.0);
            }
            _ => {}
        }
    }
    (!matches!(joint.turning, Turning::Fixed)).then_some(sum)
}
