//! Batches of solves in pose space, and their judge.

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{Noise, judge};
use sinew::{JointId, Pose, Transform};

use crate::{
    BATCH, PROMISE,
    rig::Rig,
    solvers::{ALL, Solver},
    tally::{Fault, Tally},
};

/// One skeleton, one solver, [`BATCH`] solves.
pub fn batch(seed: u64, which: usize, tally: &mut Tally) {
    let mut r = Noise::new(seed);
    let (_, freedom, branching) = ALL[which];
    // Some rigs are too short for some solvers.
    let made = (0..100).find_map(|_| {
        let rig = Rig::random(&mut r, freedom, branching);
        Solver::new(which, &rig, &mut r).map(|solver| (rig, solver))
    });
    let Some((rig, mut solver)) = made else { return };
    let mut pose = Pose::rest(&rig.skeleton);
    let (mut start, mut again) = (pose.clone(), pose.clone());
    for n in 0..BATCH {
        // Every other solve goes on from the last one, as a game's frames do.
        if n % 4 < 2 {
            rig.pose(&mut pose, n % 2 == 0, &mut r);
            solver.begin(&pose, &rig);
        }
        start.copy_from(&pose);
        let root = pose.position(rig.joints[0]);
        let end = pose.model(rig.joints[rig.joints.len() - 1]).transform_point3(rig.tip_offset);
        let goal = match r.below(10) {
            0 => root,
            1 => end,
            2 => root + (end - root) * r.unit(),
            3 => root + r.vector() * rig.size * 1e4,
            4 => end + r.vector() * rig.size * 0.01,
            _ => root + r.vector() * rig.size * rig.joints.len() as f32 * r.unit(),
        };
        tally.solves += 1;
        let tag = |what: String| {
            format!("{what}: seed {seed}, solve {n}, {} joints, goal {goal}", rig.joints.len())
        };
        // One in eight is made twice, by a solver that has solved once more (what it may remember is set back).
        let twice = n % 8 == 5;
        let (noise, state) = (r.clone(), twice.then(|| solver.clone()));
        let result = catch_unwind(AssertUnwindSafe(|| solver.solve(&mut pose, goal, &rig, &mut r)));
        let left = match result {
            Err(_) => return tally.find(Fault::Panic, || tag("a panic".into())),
            Ok(Err(error)) => {
                tally.refused += 1;
                if !same(&start, &pose) {
                    tally.find(Fault::Bits, || tag(format!("changed, but refused with `{error}`")));
                }
                rig.pose(&mut pose, true, &mut r);
                solver.begin(&pose, &rig);
                continue;
            }
            Ok(Ok(left)) => left,
        };
        if pose.check_finite().is_err() || !left.iter().all(|x| x.is_finite()) {
            return tally.find(Fault::NotFinite, || tag(format!("not finite, {left:?} left")));
        }
        if let Some(state) = state {
            again.copy_from(&start);
            match (&mut solver, state) {
                (Solver::Drag(drag, _), Solver::Drag(was, _)) => *drag = was,
                (Solver::LookAt(_, state), Solver::LookAt(_, was)) => *state = was,
                _ => {}
            }
            let second = solver.solve(&mut again, goal, &rig, &mut noise.clone());
            if !same(&pose, &again) || second != Ok(left) {
                tally.find(Fault::Bits, || tag("other bits the second time".into()));
            }
        }
        lengths(&start, &pose, &rig, &solver, tally, &tag);
        limits(&start, &pose, &rig, &solver, tally, &tag);
    }
}

fn same(a: &Pose, b: &Pose) -> bool {
    let bits = |t: &Transform| {
        let (q, v, s) = (t.rotation.to_array(), t.translation.to_array(), t.scale.to_array());
        let mut bits = [0u32; 10];
        q.iter().chain(&v).chain(&s).zip(&mut bits).for_each(|(x, bits)| *bits = x.to_bits());
        bits
    };
    a.locals().iter().zip(b.locals()).all(|(a, b)| bits(a) == bits(b))
}

/// No joint is further out of its limits than it came in, and none has turned further than it may.
fn limits(
    start: &Pose,
    pose: &Pose,
    rig: &Rig,
    solver: &Solver,
    tally: &mut Tally,
    tag: &dyn Fn(String) -> String,
) {
    let most = f64::from(solver.most());
    for id in rig.skeleton.joints() {
        let (joint, rest) = (rig.skeleton.freedom(id), rig.skeleton.rest(id));
        let (was, is) = (start.local(id), pose.local(id));
        if was.rotation == is.rotation {
            continue;
        }
        let further = judge::further(joint, rest, was, is);
        tally.worst = tally.worst.max(further);
        let told = || {
            let [was, is, rest] = [was, is, rest].map(|t| t.rotation.to_array());
            format!("from {was:?} to {is:?} at rest {rest:?}: {joint:?}")
        };
        if further > PROMISE {
            let what =
                || tag(format!("joint {id} went {further:e} rad further out of its limits, {}", told()));
            tally.find(Fault::Limit, what);
        }
        if most.is_finite() {
            let turned = judge::angle(&judge::matrix(was.rotation), &judge::matrix(is.rotation));
            tally.worst = tally.worst.max(turned - most);
            if turned > most + PROMISE {
                let what =
                    || tag(format!("joint {id} turned {turned} where {most} were allowed, {}", told()));
                tally.find(Fault::Limit, what);
            }
        }
    }
}

/// Offsets keep their bits, but the root's where the solver leads it, those of sliders, which stay in their ranges, and
/// those of bones that may become longer, which keep their directions.
fn lengths(
    start: &Pose,
    pose: &Pose,
    rig: &Rig,
    solver: &Solver,
    tally: &mut Tally,
    tag: &dyn Fn(String) -> String,
) {
    let Some(stretch) = solver.stretch() else { return };
    for id in rig.skeleton.joints() {
        let (was, is) = (start.local(id), pose.local(id));
        let freedom = rig.skeleton.freedom(id);
        let root = solver.moves_root() && id == rig.joints[0];
        let mut bad = was.scale != is.scale;
        let slides = freedom.slide.iter().any(Option::is_some);
        if !slides && !root && stretch > 1.0 && was.translation != is.translation {
            let (a, b) = (was.translation.as_dvec3(), is.translation.as_dvec3());
            let factor = b.length() / a.length();
            bad |= a.cross(b).length() > 1e-6 * a.length() * b.length();
            bad |= !(1.0 - 1e-6..=f64::from(stretch) * (1.0 + 1e-6)).contains(&factor) || a.dot(b) < 0.0;
        } else if !slides {
            bad |= was.translation != is.translation && !root;
        } else if !root && was.translation != is.translation {
            bad |= !slid(rig, id, was, is);
        }
        if bad {
            let what = || {
                tag(format!(
                    "joint {id} went from {} to {} at rest {:?}: {freedom:?}",
                    was.translation,
                    is.translation,
                    rig.skeleton.rest(id)
                ))
            };
            tally.find(Fault::Length, what);
        }
    }
}

/// Whether a slider has gone along the axes that slide, and no further out of their ranges.
fn slid(rig: &Rig, id: JointId, was: &Transform, is: &Transform) -> bool {
    let rest = rig.skeleton.rest(id);
    let m = judge::matrix(rest.rotation);
    let way = |t: &Transform| (t.translation.as_dvec3() - rest.translation.as_dvec3()).to_array();
    // What came in far out rounds as far out, wherever it slides.
    let length = |t: &Transform| f64::from(t.translation.length());
    let size = length(was) + length(is) + 2.0 * length(rest);
    // And where it slid on its way.
    let slides = &rig.skeleton.freedom(id).slide;
    let far = |r: sinew::joint::Range| r.from.abs() + r.to.abs();
    let passed: f64 = slides.iter().flatten().filter_map(|dof| dof.range).map(far).sum();
    slides.iter().enumerate().all(|(n, slide)| {
        let along = |t: &Transform| {
            let way = way(t);
            way[0] * m[0][n] + way[1] * m[1][n] + way[2] * m[2][n]
        };
        let (before, after) = (along(was), along(is));
        let changed = match slide {
            None => (after - before).abs(),
            Some(dof) => dof.range.map_or(0.0, |r| {
                let out = |x: f64| (r.from - x).max(x - r.to).max(0.0);
                out(after) - out(before)
            }),
        };
        changed <= 1e-5 * size + 1e-6 * passed
    })
}
