//! The promises, each as one check of any solver. Numbers are those of the engine's list.

use sinew::{
    JointTransform, Outcome, Pose, Report,
    glam::{Quat, Vec3},
};

use crate::promises::{judge, rig::Rig, subject::Subject};

fn bits(t: &JointTransform) -> [u32; 10] {
    let (p, q, s) = (t.translation, t.rotation, t.scale);
    [p.x, p.y, p.z, q.x, q.y, q.z, q.w, s.x, s.y, s.z].map(f32::to_bits)
}

pub fn same_bits(a: &Pose, b: &Pose) -> bool {
    a.locals().iter().zip(b.locals()).all(|(a, b)| bits(a) == bits(b))
}

/// The largest angle in radians by which a joint's frame in model space differs between two poses (judged by the
/// directions of its axes).
pub fn turned(a: &Pose, b: &Pose) -> f64 {
    let mut most = 0.0f64;
    for j in a.skeleton().joints() {
        let (fa, fb) = (judge::frame(a, j), judge::frame(b, j));
        for k in 0..3 {
            let (x, y) = (judge::unit(fa.columns[k]), judge::unit(fb.columns[k]));
            most = most.max(2.0 * (0.5 * judge::length(judge::sub(x, y))).min(1.0).asin());
        }
    }
    most
}

/// 1, 6: a solver only turns its own joints; every offset, every scale and every other joint keeps its bits, and what it
/// writes are unit quaternions.
pub fn only_turns<S: Subject>(rig: &Rig, goal: Vec3) {
    let solver = S::new(rig);
    let mut pose = rig.pose.clone();
    solver.solve(&mut pose, goal, 1.0).unwrap();
    let turning = solver.turning();
    for j in pose.skeleton().joints() {
        let (before, after) = (rig.pose.local(j), pose.local(j));
        let (b, a) = (bits(before), bits(after));
        assert!(b[..3] == a[..3] && b[7..] == a[7..], "joint {j} was moved or scaled");
        assert!(turning.contains(&j) || b == a, "joint {j} is none of the solver's");
        let q = after.rotation;
        let n: f64 = [q.x, q.y, q.z, q.w].iter().map(|&c| (c as f64).powi(2)).sum();
        assert!((n - 1.0).abs() < 1e-6, "joint {j} has no unit rotation: {q}");
    }
}

/// Solves in full, and holds the report's residual to what forward kinematics in f64 finds. Returns the solver, the pose that
/// it leaves, the report, the residual and its rounding in metres.
fn reports_its_residual<S: Subject>(rig: &Rig, goal: Vec3) -> (S, Pose, Report, f64, f64) {
    let solver = S::new(rig);
    let mut pose = rig.pose.clone();
    let report = solver.solve(&mut pose, goal, 1.0).unwrap();
    // Goals far away have coarser places, and a direction in f32 is good to a millionth.
    let far = judge::length(judge::sub(judge::v(goal), judge::position(&rig.pose, rig.root)));
    let rounding = rig.rounding + 1.5e-6 * (rig.length + far);
    let residual = solver.objective(&pose, goal);
    assert!(
        (residual - report.position_residual as f64).abs() <= rounding,
        "reported {:e}, found {residual:e} (rounding {rounding:e})",
        report.position_residual
    );
    (solver, pose, report, residual, rounding)
}

/// 1, 7, 8: the residual is what forward kinematics in f64 finds, the goal is met where it can be, the status says which
/// it is, and no objective has grown.
pub fn is_honest<S: Subject>(rig: &Rig, goal: Vec3) {
    let (solver, _, report, residual, rounding) = reports_its_residual::<S>(rig, goal);
    let out = solver.out_of_reach(&rig.pose, goal);
    assert!(
        (residual - out).abs() <= rounding,
        "out of reach by {out:e}, missed by {residual:e}, {report:?}"
    );
    assert_eq!(report.outcome, Outcome::Converged, "of a closed form");
    let by = f64::from(report.out_of_reach);
    assert!((by - out).abs() <= 4.0 * rounding, "{by:e} is not {out:e}");
    let rough = rounding > 0.1 * f64::from(report.position_tolerance);
    assert!(report.reached() || out > 0.0 || rough, "{report:?}");
    let before = solver.objective(&rig.pose, goal);
    assert!(residual <= before + rounding, "grew from {before:e} to {residual:e}");
}

/// 1, 7, 8 below a parent with unequal scales: the residual is that of model space; the parent's space is where the goal is
/// met if it can be, and where no objective grows.
pub fn is_honest_below<S: Subject>(rig: &Rig, goal: Vec3) {
    let (solver, pose, report, _, rounding) = reports_its_residual::<S>(rig, goal);
    let (before, seen) = rig.seen_from_parent(&rig.pose, goal);
    let (after, _) = rig.seen_from_parent(&pose, goal);
    // Lengths there are to lengths in model space as one over the parent's scales.
    let parent = pose.skeleton().parent(rig.root).unwrap();
    let columns = judge::frame(&pose, parent).columns.map(judge::length);
    let smallest = columns.into_iter().fold(f64::INFINITY, f64::min);
    let rounding = rounding / smallest + before.rounding;
    let (was, is) = (solver.objective(&before.pose, seen), solver.objective(&after.pose, seen));
    assert!(is <= was + rounding, "grew from {was:e} to {is:e}");
    let out = solver.out_of_reach(&before.pose, seen);
    assert!((is - out).abs() <= rounding, "out of reach by {out:e}, missed by {is:e}, {report:?}");
    assert_eq!(report.outcome, Outcome::Converged, "of a closed form");
    match report.out_of_reach {
        0.0 => assert!(out <= 4.0 * rounding, "out of reach by {out:e}"),
        _ => assert!(out > 0.0 || is < 4.0 * rounding, "{out:e}"),
    }
}

/// 3: what is not finite is refused, in the goal and anywhere that it matters in the pose, and nothing is touched.
pub fn refuses_nan<S: Subject>(rig: &Rig, goal: Vec3) {
    let solver = S::new(rig);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for i in 0..3 {
            let mut g = goal;
            g[i] = bad;
            let mut pose = rig.pose.clone();
            assert!(solver.solve(&mut pose, g, 1.0).is_err());
            assert!(same_bits(&pose, &rig.pose));
        }
        let mut pose = rig.pose.clone();
        assert!(solver.solve(&mut pose, goal, bad).is_err());
        assert!(same_bits(&pose, &rig.pose));
        for j in solver.turning() {
            let mut broken = rig.pose.clone();
            broken.set_translation(j, Vec3::new(0.0, bad, 0.0));
            refuses(&solver, &broken, goal);
            let mut broken = rig.pose.clone();
            broken.set_rotation(j, Quat::from_xyzw(0.0, bad, 0.0, 1.0));
            refuses(&solver, &broken, goal);
        }
    }
}

fn refuses<S: Subject>(solver: &S, broken: &Pose, goal: Vec3) {
    let mut pose = broken.clone();
    assert!(solver.solve(&mut pose, goal, 1.0).is_err());
    assert!(same_bits(&pose, broken));
}

/// 3: finite numbers of any size give finite poses (or an error where they overflow in the pose itself).
pub fn stays_finite<S: Subject>(rig: &Rig, direction: Vec3) {
    let solver = S::new(rig);
    for size in [0.0, 1e-45, 1e-30, 1e-10, 1e10, 1e19, 1e25, 3e38] {
        let mut pose = rig.pose.clone();
        let goal = direction * size;
        match solver.solve(&mut pose, goal, 1.0) {
            Ok(report) => {
                pose.check_finite().unwrap();
                assert!(report.position_residual.is_finite(), "{report:?} for {goal}");
            }
            Err(_) => assert!(same_bits(&pose, &rig.pose)),
        }
    }
}

/// 4: the same bits on every run, whatever was solved before.
pub fn repeats<S: Subject>(rig: &Rig, goal: Vec3, other: Vec3) {
    let solver = S::new(rig);
    let (mut a, mut b) = (rig.pose.clone(), rig.pose.clone());
    let first = solver.solve(&mut a, goal, 1.0).unwrap();
    solver.solve(&mut b, other, 1.0).unwrap();
    b.copy_from(&rig.pose);
    assert_eq!(first, solver.solve(&mut b, goal, 1.0).unwrap());
    assert!(same_bits(&a, &b));
}

/// 6: what is already there keeps its bits: a goal that the pose meets, and a goal that was just solved for.
pub fn keeps_what_is_there<S: Subject>(rig: &Rig, goal: Vec3) {
    let solver = S::new(rig);
    let mut pose = rig.pose.clone();
    // Where places are this coarse beside the limb, no goal is known to be met.
    if let Some(met) = solver.met(&rig.pose).filter(|_| rig.rounding < 1e-4 * rig.length) {
        solver.solve(&mut pose, met, 1.0).unwrap();
        assert!(
            same_bits(&pose, &rig.pose),
            "a goal that is met moved the pose by {:e}",
            turned(&pose, &rig.pose)
        );
    }
    // Where places are coarse beside the goal's distance, one solve cannot know what the rounding of the next will be.
    let way = judge::length(judge::sub(judge::v(goal), judge::position(&rig.pose, rig.middle)));
    if !solver.settles(&rig.pose, goal) || rig.rounding > 1e-5 * way.min(rig.length) {
        return;
    }
    solver.solve(&mut pose, goal, 1.0).unwrap();
    let once = pose.clone();
    let report = solver.solve(&mut pose, goal, 1.0).unwrap();
    assert!(
        same_bits(&pose, &once),
        "solving again moved the pose by {:e} (limb {:e}, rounding {:e}): {report:?}",
        turned(&pose, &once),
        rig.length,
        rig.rounding
    );
    assert_eq!(report.iterations, 0);
}

/// 9: weight 0 changes nothing, and the way to weight 1 has no leap in it.
pub fn blends<S: Subject>(rig: &Rig, goal: Vec3) {
    let solver = S::new(rig);
    let mut last = rig.pose.clone();
    solver.solve(&mut last, goal, 0.0).unwrap();
    assert!(same_bits(&last, &rig.pose), "weight 0 moved the pose");
    const STEPS: usize = 50;
    for i in 1..=STEPS {
        let mut pose = rig.pose.clone();
        solver.solve(&mut pose, goal, i as f32 / STEPS as f32).unwrap();
        // Each joint turns by no more than a whole turn in all, swing and twist, and three joints follow each other.
        let step = turned(&pose, &last);
        assert!(step < 3.0 * std::f64::consts::TAU / STEPS as f64, "{step} at weight {i}/{STEPS}");
        last = pose;
    }
}
