//! Batches of solves in joint space, of mechanisms compiled from skeletons with all kinds of joint: least squares within
//! limits.

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{Noise, judge};
use sinew::{
    Pose,
    glam::{DQuat, DVec3, Vec3},
    mechanism::{Follower, Goal, Mechanism, Settings, SkeletonMechanism, Solver, Target},
};

use crate::{
    BATCH, PROMISE,
    rig::{Freedom, Rig},
    tally::{Fault, Tally},
};

pub const ALL: [&str; 3] = ["joint space", "joint space, from here", "joint space, step by step"];

enum Kind {
    Solver(Solver),
    Follower(Follower),
}

fn target(at: Vec3, r: &mut Noise) -> Target {
    let at = at.as_dvec3();
    let q = r.rotation().to_array().map(f64::from);
    let turn = DQuat::from_array(q).normalize();
    match r.below(6) {
        0 => Target::Rotation(turn),
        1 => Target::LookAt(DVec3::Z, at),
        2 | 3 => Target::Pose(at, turn),
        _ => Target::Position(at),
    }
}

/// How far values are out of their ranges, and swings out of their ellipses where they are compiled from a rig's.
fn out(m: &Mechanism, values: &[f64]) -> Vec<f64> {
    let of = |(dof, v): (&sinew::mechanism::Dof, &f64)| (v - dof.upper).max(dof.lower - v).max(0.0);
    m.dofs().iter().zip(values).map(of).collect()
}

/// One skeleton, one solver, [`BATCH`] solves.
pub fn batch(seed: u64, which: usize, tally: &mut Tally) {
    let mut r = Noise::new(seed);
    let made = (0..100).find_map(|_| {
        let branching = r.below(2) == 0;
        let rig = Rig::random(&mut r, Freedom::Sliding, branching, false);
        let mut pose = Pose::rest(&rig.skeleton);
        pose.update();
        let compiled = SkeletonMechanism::compile(&pose).ok()?;
        let m = compiled.mechanism();
        let tip = compiled.link(rig.joints[rig.joints.len() - 1]);
        // Goals of one kind each: a solver is made for them.
        let first = target(pose.position(rig.joints[0]), &mut r);
        let mut goals = vec![Goal::new(m, tip, first)];
        if r.below(3) == 0 {
            let other = compiled.link(rig.joints[r.below(rig.joints.len())]);
            let priority = r.below(2) as u8;
            goals.push(
                Goal::new(m, other, target(pose.position(rig.joints[0]), &mut r)).at_priority(priority),
            );
        }
        let settings = Settings {
            position_tolerance: 1e-5 * f64::from(rig.size),
            max_iterations: [1, 10, 40][r.below(3)],
            max_restarts: if which == 0 { 2 } else { 0 },
            seed,
            ..Settings::default()
        };
        let kind = match which {
            2 => Kind::Follower(Follower::new(m, &goals, settings, 3.0, &[]).ok()?),
            _ => Kind::Solver(Solver::new(m, &goals, settings).ok()?),
        };
        Some((rig, compiled, goals, kind))
    });
    let Some((rig, compiled, mut goals, mut kind)) = made else { return };
    let m = compiled.mechanism().clone();
    let dofs: Vec<usize> = match &kind {
        Kind::Solver(s) => s.dofs().collect(),
        Kind::Follower(_) => (0..m.dofs().len()).collect(),
    };
    let (mut pose, mut values) = (Pose::rest(&rig.skeleton), m.rest());
    for n in 0..BATCH {
        if n % 4 < 2 {
            rig.pose(&mut pose, n % 2 == 0, &mut r);
            compiled.read(&pose, &mut values);
        }
        let root = pose.position(rig.joints[0]);
        for goal in &mut goals {
            let reach = rig.size * rig.joints.len() as f32;
            let at = match r.below(8) {
                0 => root,
                1 => root + r.vector() * rig.size * 1e4,
                _ => root + r.vector() * reach * r.unit(),
            };
            goal.target = match goal.target {
                Target::Pose(_, q) => Target::Pose(at.as_dvec3(), q),
                Target::Position(_) => Target::Position(at.as_dvec3()),
                Target::LookAt(axis, _) => Target::LookAt(axis, at.as_dvec3()),
                turn => turn,
            };
        }
        let start = values.clone();
        let mut solve = |values: &mut [f64]| match &mut kind {
            Kind::Solver(s) => s
                .solve(&goals, values)
                .map(|r| [r.position_residual, r.rotation_residual])
                .map_err(|e| e.to_string()),
            Kind::Follower(s) => s
                .step(&goals, values, 1.0 / 60.0)
                .map(|r| [r.position_residual, r.rotation_residual])
                .map_err(|e| e.to_string()),
        };
        tally.solves += 1;
        let tag = |what: String| format!("{what}: seed {seed}, solve {n}, {} joints", rig.joints.len());
        let left = match catch_unwind(AssertUnwindSafe(|| solve(&mut values))) {
            Err(_) => return tally.find(Fault::Panic, || tag("a panic".into())),
            Ok(Err(_)) => {
                tally.refused += 1;
                if values != start {
                    tally.find(Fault::Bits, || tag("changed, but refused".into()));
                }
                continue;
            }
            Ok(Ok(left)) => left,
        };
        if !values.iter().chain(&left).all(|x| x.is_finite()) {
            return tally.find(Fault::NotFinite, || tag(format!("not finite, {left:?} left")));
        }
        if n % 8 == 5 {
            let mut again = start.clone();
            let second = solve(&mut again);
            let bits = |of: &[f64]| of.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
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
        // What the mechanism's joints cannot do is left out as soon as anything is written; a follower is judged from there.
        if which == 2 {
            pose.reset();
            compiled.write(&start, &mut pose);
        }
        let came = pose.clone();
        compiled.write(&values, &mut pose);
        pose.update();
        if pose.check_finite().is_err() {
            return tally.find(Fault::NotFinite, || tag("a pose that is not finite".into()));
        }
        for id in rig.skeleton.joints() {
            let (joint, rest) = (rig.skeleton.freedom(id), rig.skeleton.rest(id));
            if came.local(id).rotation == pose.local(id).rotation {
                continue;
            }
            // A follower's values, which come back each by itself, are judged above.
            let d = compiled.dofs(id);
            if which == 2 && before[d.clone()].iter().any(|x| *x > 0.0) {
                continue;
            }
            let further = judge::further(joint, rest, came.local(id), pose.local(id));
            tally.worst = tally.worst.max(further);
            if further > PROMISE {
                let what = format!(
                    "joint {id} went {further:e} rad further out, from {:?} to {:?} at rest {:?}: {joint:?}",
                    came.local(id).rotation.to_array(),
                    pose.local(id).rotation.to_array(),
                    rest.rotation.to_array()
                );
                tally.find(Fault::Limit, || tag(what));
            }
            if joint.slide.iter().all(Option::is_none)
                && came.local(id).translation != pose.local(id).translation
            {
                tally.find(Fault::Length, || tag(format!("joint {id} has moved")));
            }
        }
    }
}
