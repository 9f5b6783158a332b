//! Batches of solves in pose space, with their judge.

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{Noise, judge};
use sinew::{
    ChainError, Goal, JointId, JointTransform, Pole, Pose, PoseError, SolveError, TransformFault, Workspace,
    glam::{Quat, Vec3},
    joint::{Dof, Turning},
};

use crate::{
    BATCH, HOSTILE, PROMISE,
    objective::{grew, misreported},
    rig::Rig,
    solvers::{ALL, Solver, Task},
    tally::{Fault, Tally},
};

/// A rig with a solver for it; some rigs are too short for some solvers.
fn made(r: &mut Noise, which: usize, hostile: bool) -> Option<(Rig, Solver)> {
    let (_, freedom, branching) = ALL[which];
    (0..100).find_map(|_| {
        let rig = Rig::random(r, freedom, branching, hostile);
        Solver::new(which, &rig, r).map(|solver| (rig, solver))
    })
}

/// A workspace in which solvers of this row and of others, on other rigs, have left what they remember.
fn used(seed: u64, which: usize, hostile: bool) -> Workspace {
    let (mut workspace, mut r) = (Workspace::new(), Noise::new(!seed));
    for which in [r.below(ALL.len()), r.below(ALL.len()), which] {
        let Some((rig, mut solver)) = made(&mut r, which, hostile) else { continue };
        let mut pose = Pose::rest(&rig.skeleton);
        rig.pose(&mut pose, true, &mut r);
        let goal = pose.position(rig.joints[0]) + r.vector() * rig.size;
        let task = solver.task(&pose, goal, &rig, &mut r);
        // (What becomes of it is judged where it is a batch's own.)
        let _ = catch_unwind(AssertUnwindSafe(|| solver.solve(&mut workspace, &mut pose, &task)));
    }
    workspace
}

/// One skeleton, one solver, [`BATCH`] solves.
pub fn batch(seed: u64, which: usize, tally: &mut Tally) {
    let mut r = Noise::new(seed);
    let hostile = seed.is_multiple_of(HOSTILE);
    let Some((rig, mut solver)) = made(&mut r, which, hostile) else { return };
    let mut workspace = used(seed, which, hostile);
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
            5 | 6 if hostile => r.vector() * 10f32.powf(r.between(-30.0, 38.5)).min(3e38),
            _ => root + r.vector() * rig.size * rig.joints.len() as f32 * r.unit(),
        };
        tally.solves += 1;
        let tag = |what: String| {
            format!("{what}: seed {seed}, solve {n}, {} joints, goal {goal}", rig.joints.len())
        };
        // One in eight is made twice, the second time in a new workspace (and what a solver may remember is set back).
        let twice = n % 8 == 5;
        let state = twice.then(|| solver.clone());
        let task = solver.task(&pose, goal, &rig, &mut r);
        let result = catch_unwind(AssertUnwindSafe(|| solver.solve(&mut workspace, &mut pose, &task)));
        let left = match result {
            Err(_) => return tally.find(Fault::Panic, || tag("a panic".into())),
            Ok(Err(error)) => {
                tally.refused += 1;
                // (What brings rotations to unit length in `update` may be called by a solver too.)
                again.copy_from(&start);
                again.update();
                if !same(&start, &pose) && !same(&again, &pose) {
                    tally.find(Fault::Bits, || tag(format!("changed, but refused with `{error}`")));
                }
                if !fits(&error, &start, &task, &rig) {
                    tally.find(Fault::Refusal, || tag(format!("refused without a reason: `{error}`")));
                }
                rig.pose(&mut pose, true, &mut r);
                solver.begin(&pose, &rig);
                continue;
            }
            Ok(Ok(left)) => left,
        };
        let (report, more) = left;
        let by = report.out_of_reach;
        let told = [report.position_residual, report.rotation_residual, by, more];
        // (What hangs beside the solver's joints is not its business.)
        let bad = |id: &&JointId| !pose.local(**id).is_finite() && start.local(**id).is_finite();
        if rig.joints.iter().any(|id| bad(&id)) || !told.iter().all(|x| x.is_finite()) {
            return tally.find(Fault::NotFinite, || tag(format!("not finite, {left:?} left")));
        }
        let reported = told.map(f32::to_bits).into_iter().chain([report.iterations, report.restarts]);
        tally.digest(pose.locals().iter().flat_map(bits).chain(reported).map(u64::from));
        if solver.idle() {
            continue;
        }
        if task.invalid || stands_on(&start, solver.last(&rig)) {
            tally.find(Fault::Refusal, || tag(format!("not refused, but {left:?}: {task:?}")));
            rig.pose(&mut pose, true, &mut r);
            solver.begin(&pose, &rig);
            continue;
        }
        if let Some(state) = state {
            again.copy_from(&start);
            match (&mut solver, state) {
                (Solver::Drag(drag, _), Solver::Drag(was, _)) => *drag = was,
                (Solver::LookAt(_, state), Solver::LookAt(_, was)) => *state = was,
                _ => {}
            }
            let second = solver.solve(&mut Workspace::new(), &mut again, &task);
            if !same(&pose, &again) || second != Ok(left) {
                tally.find(Fault::Bits, || tag("other bits the second time".into()));
            }
        }
        lengths(&start, &pose, &rig, (&solver, &task), tally, &tag);
        limits(&start, &pose, &rig, &solver, tally, &tag);
        if let Some(grew) = grew(&start, &pose, &rig, &solver, &task, &report) {
            tally.find(Fault::Grew, || tag(grew));
        }
        if let Some(what) = misreported(&start, &pose, &rig, &solver, &task, &report) {
            tally.find(Fault::Report, || tag(what));
        }
    }
}

/// Whether a joint above this one is such that no solver can work below it.
fn stands_on(pose: &Pose, last: JointId) -> bool {
    std::iter::successors(pose.skeleton().parent(last), |&j| pose.skeleton().parent(j)).any(|j| {
        let local = pose.local(j);
        !local.is_finite() || !turns(local.rotation) || local.scale.cmpeq(Vec3::ZERO).any()
    })
}

fn turns(q: Quat) -> bool {
    let squared: f64 = q.to_array().iter().map(|&x| f64::from(x).powi(2)).sum();
    (0.25..=4.0).contains(&squared)
}

/// Whether a solve may be refused with this.
fn fits(error: &SolveError, start: &Pose, task: &Task, rig: &Rig) -> bool {
    if task.invalid {
        return true;
    }
    let skewed = || {
        start.locals().iter().any(|t| {
            let s = t.scale.abs();
            s.max_element() > s.min_element() * (1.0 + 1e-5) || s.max_element().is_nan()
        })
    };
    match error {
        SolveError::Pose(PoseError::Local { joint, fault: TransformFault::NotFinite(_), .. }) => {
            !start.local(*joint).is_finite()
        }
        SolveError::Pose(PoseError::Local { joint, fault: TransformFault::Rotation { .. }, .. }) => {
            !turns(start.local(*joint).rotation)
        }
        SolveError::Pose(PoseError::ZeroScale { joint, .. }) => {
            start.local(*joint).scale.cmpeq(Vec3::ZERO).any()
        }
        // (Frames of f32 that are too small to square have no shape.)
        SolveError::Chain(ChainError::Sheared { .. }) => rig.hostile && (skewed() || overflows(start, task)),
        // Places or goals that are too far for f32 to square; what is not finite, where the pose is not.
        SolveError::NotFinite { .. } | SolveError::OutOfRange { .. } => rig.hostile && overflows(start, task),
        SolveError::Contradiction { .. } | SolveError::Joint(_) => true,
        _ => false,
    }
}

/// Whether there are places of more than 1e15 m, or goals so far out, seen from somewhere in the rig.
fn overflows(pose: &Pose, task: &Task) -> bool {
    let pole = |goal: &Goal| if let Pole::Point(p) = goal.pole { largest(p) } else { 0.0 };
    let place = |goal: &Goal| goal.position.map_or(0.0, largest);
    let mut most = task.goals.iter().fold(0.0, |most: f32, g| most.max(place(g)).max(pole(g)));
    let mut least = 1.0f32;
    for id in pose.skeleton().joints() {
        let frame = pose.model(id);
        if !frame.is_finite() {
            return true;
        }
        let m = frame.matrix3;
        most = most.max(largest(frame.translation));
        for column in [m.x_axis, m.y_axis, m.z_axis] {
            most = most.max(largest(column));
            least = least.min(largest(column));
        }
    }
    most / least > 1e15
}

fn largest(v: Vec3) -> f32 {
    v.abs().max_element()
}

fn bits(t: &JointTransform) -> [u32; 10] {
    let (q, v, s) = (t.rotation.to_array(), t.translation.to_array(), t.scale.to_array());
    let mut bits = [0; 10];
    q.iter().chain(&v).chain(&s).zip(&mut bits).for_each(|(x, bits)| *bits = x.to_bits());
    bits
}

fn same(a: &Pose, b: &Pose) -> bool {
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
        let (joint, rest) = (rig.skeleton.joint(id), rig.skeleton.rest(id));
        let (was, is) = (start.local(id), pose.local(id));
        if was.rotation == is.rotation {
            continue;
        }
        let held = |dof: &Dof| dof.stiffness == 1.0;
        let turns = match joint.turning {
            Turning::Hinge { dof, .. } => !held(&dof),
            Turning::Ball { swing: [x, y], twist, .. } => ![x, y, twist].iter().any(held),
            _ => true,
        };
        if !turns && !rig.hostile {
            tally.find(Fault::Limit, || tag(format!("{id} turned, with a stiffness of 1")));
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
    (solver, task): (&Solver, &Task),
    tally: &mut Tally,
    tag: &dyn Fn(String) -> String,
) {
    let Some(stretch) = solver.stretch(task) else { return };
    for id in rig.skeleton.joints() {
        let (was, is) = (start.local(id), pose.local(id));
        // Joints with invalid input are not the solver's, and were not changed.
        let placed = |t: &JointTransform| bits(&JointTransform { rotation: Quat::IDENTITY, ..*t });
        if placed(was) == placed(is) {
            continue;
        }
        let freedom = rig.skeleton.joint(id);
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
fn slid(rig: &Rig, id: JointId, was: &JointTransform, is: &JointTransform) -> bool {
    let rest = rig.skeleton.rest(id);
    let m = judge::matrix(rest.rotation);
    let way = |t: &JointTransform| (t.translation.as_dvec3() - rest.translation.as_dvec3()).to_array();
    // A large input translation rounds by its own size, wherever the joint slides.
    let length = |t: &JointTransform| f64::from(t.translation.length());
    let size = length(was) + length(is) + 2.0 * length(rest);
    // And where it slid on its way.
    let slides = &rig.skeleton.joint(id).slide;
    let end = |x: f64| if x.is_finite() { x.abs() } else { 0.0 };
    let far = |r: sinew::joint::Range| end(r.min) + end(r.max);
    let passed: f64 = slides.iter().flatten().map(|dof| dof.range).map(far).sum();
    slides.iter().enumerate().all(|(n, slide)| {
        let along = |t: &JointTransform| {
            let way = way(t);
            way[0] * m[0][n] + way[1] * m[1][n] + way[2] * m[2][n]
        };
        let (before, after) = (along(was), along(is));
        let changed = match slide {
            None => (after - before).abs(),
            Some(dof) => {
                let out = |x: f64| (dof.range.min - x).max(x - dof.range.max).max(0.0);
                out(after) - out(before)
            }
        };
        changed <= 1e-5 * size + 1e-6 * passed
    })
}
