//! Limbs with a hinge and a ball, against forward kinematics and searches that are written here, in f64.

use crate::common;
use crate::limit_judge as judge;

use std::sync::Arc;

use common::{Random, ball};
use glam::{DMat3, DQuat, DVec3, Quat, Vec3};
use judge::excess;
use sinew::{
    Chain, Goal, JointId, JointTransform, Outcome, Pole, Pose, Report, Skeleton, Workspace, glam,
    joint::{Dof, Joint, Range, Turning},
    math,
    solve::{Auto, IterativeOptions, LimbOptions, TwoBone},
};

/// A random limb: a ball and a hinge that is not quite across the bones.
struct Limb {
    skeleton: Arc<Skeleton>,
    ids: [JointId; 3],
}

impl Limb {
    fn solver(&self) -> TwoBone {
        let [hip, knee, ankle] = self.ids;
        let chain = Chain::new(&self.skeleton, hip, ankle).unwrap();
        TwoBone::within_limits(&self.skeleton, chain, knee).unwrap()
    }
}

fn limb(r: &mut Random, free_root: bool, knee: Option<Dof>) -> Limb {
    let mut b = Skeleton::builder();
    let scale = Vec3::splat(r.between(0.5, 2.0) as f32);
    let mirrored = if r.next() < 0.3 { Vec3::new(-1.0, 1.0, 1.0) } else { Vec3::ONE };
    let above = JointTransform {
        translation: r.direction().as_vec3(),
        rotation: r.rotation(3.0),
        scale: scale * mirrored,
    };
    b.add("above", None, above);
    let place = |r: &mut Random, from: f64, to: f64| {
        let l = r.between(from, to);
        (r.direction() * l).as_vec3()
    };
    let joint = |translation, rotation| JointTransform { translation, rotation, scale: Vec3::ONE };
    b.add("hip", Some(0), joint(place(r, 0.0, 0.3), r.rotation(1.0)));
    let (u, v) = (place(r, 0.3, 0.6), place(r, 0.3, 0.6));
    b.add("knee", Some(1), joint(u, r.rotation(0.6)));
    b.add("ankle", Some(2), joint(v, r.rotation(0.6)));
    let (mut skeleton, ids) = b.build().unwrap();
    let across = u.as_dvec3().cross(v.as_dvec3()).normalize() + r.direction() * r.between(0.0, 0.5);
    let dof = knee.unwrap_or_else(|| {
        let (a, b) = (r.between(-2.5, 1.5), r.between(0.1, 2.5));
        Dof::range(a, a + b)
    });
    skeleton.set_joint(ids[2], Joint::hinge(across, dof)).unwrap();
    if !free_root {
        let ball = ball(r, 1.4, 1.5, |r| if r.next() < 0.6 { u.as_dvec3() } else { r.direction() });
        skeleton.set_joint(ids[1], ball).unwrap();
    }
    Limb { skeleton: Arc::new(skeleton), ids: [ids[1], ids[2], ids[3]] }
}

/// A pose within limits.
fn posed(r: &mut Random, limb: &Limb) -> Pose {
    let mut pose = Pose::rest(&limb.skeleton);
    for j in limb.ids {
        let q = limb.skeleton.clamp_rotation(j, r.rotation(3.0));
        pose.set_rotation(j, q);
    }
    pose.update();
    pose
}

fn wide(q: Quat) -> DQuat {
    q.as_dquat().normalize()
}

/// The limb in the space of the hip's parent, from the skeleton's own description.
struct Exact {
    hip: DQuat,
    frame: DMat3,
    centre: DQuat,
    swing: Option<[Range; 2]>,
    at_centre: [f64; 2],
    twist: Range,
    free: bool,
    u: DVec3,
    knee: DQuat,
    axis: DVec3,
    range: Range,
    v: DVec3,
    goal: DVec3,
    /// Length of a unit of the parent's space.
    unit: f64,
}

fn about(axis: DVec3, angle: f64) -> DQuat {
    DQuat::from_axis_angle(axis, angle)
}

fn vector(v: DVec3) -> DQuat {
    let l = v.length();
    if l > 0.0 { about(v / l, l) } else { DQuat::IDENTITY }
}

impl Exact {
    fn of(pose: &Pose, limb: &Limb, goal: Vec3) -> Self {
        let s = &limb.skeleton;
        let [hip, knee, ankle] = limb.ids;
        let parent = pose.parent_model(hip);
        let m = parent.matrix3.as_dmat3();
        let goal = m.inverse() * (goal.as_dvec3() - parent.translation.as_dvec3())
            - pose.local(hip).translation.as_dvec3();
        let Turning::Hinge { axis, dof } = s.joint(knee).turning else { panic!() };
        let mut exact = Self {
            hip: wide(s.rest(hip).rotation),
            frame: DMat3::IDENTITY,
            centre: DQuat::IDENTITY,
            swing: None,
            at_centre: [0.0; 2],
            twist: Range::FREE,
            free: true,
            u: pose.local(knee).translation.as_dvec3(),
            knee: wide(s.rest(knee).rotation),
            axis: axis.normalize(),
            range: dof.range,
            v: pose.local(ankle).translation.as_dvec3(),
            goal,
            unit: m.x_axis.length(),
        };
        if let Turning::Ball { twist_axis, swing_axis, swing, twist, centre } = s.joint(hip).turning {
            let z = twist_axis.normalize();
            let x = (swing_axis - z * z.dot(swing_axis)).normalize();
            exact.frame = DMat3::from_cols(x, z.cross(x), z);
            exact.centre = vector(x * centre[0] + z.cross(x) * centre[1]);
            exact.swing = Some(swing.map(|d| d.range));
            exact.at_centre = centre;
            exact.twist = twist.range;
            exact.free = false;
        }
        exact
    }

    fn end(&self, t: f64) -> DVec3 {
        self.u + self.knee * (about(self.axis, t) * self.v)
    }

    /// The hip's rotation from coordinates about the centre.
    fn hip(&self, [x, y, t]: [f64; 3]) -> DQuat {
        let f = self.frame;
        self.hip * self.centre * vector(f.x_axis * x + f.y_axis * y) * about(f.z_axis, t)
    }

    /// Whether a hip's rotation is within its limits, with its coordinates.
    fn coordinates(&self, q: DQuat) -> [f64; 3] {
        let own = (self.hip * self.centre).conjugate() * q;
        let v = DVec3::new(own.x, own.y, own.z);
        let [x, y, z] = [self.frame.x_axis, self.frame.y_axis, self.frame.z_axis].map(|a| a.dot(v));
        let w = own.w;
        let n = z.hypot(w);
        let (tz, tw) = (z / n, w / n);
        let (sx, sy) = (x * tw - y * tz, y * tw + x * tz);
        let m = sx.hypot(sy);
        let k = if m > 1e-12 { 2.0 * m.atan2(n) / m } else { 2.0 };
        [sx * k, sy * k, 2.0 * tz.atan2(tw)]
    }

    fn halves(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let swing = self.swing.unwrap();
        let half = |k: usize, at: f64| {
            if at < 0.0 { self.at_centre[k] - swing[k].min } else { swing[k].max - self.at_centre[k] }
        };
        [half(0, x), half(1, y)]
    }

    fn out(&self, [x, y, t]: [f64; 3]) -> f64 {
        if self.free {
            return 0.0;
        }
        let [a, b] = self.halves([x, y]);
        let swing = (((x / a).powi(2) + (y / b).powi(2)).sqrt() - 1.0) * a.min(b);
        let middle = 0.5 * (self.twist.min + self.twist.max);
        let d = t - middle;
        let d = d - (d / std::f64::consts::TAU).round() * std::f64::consts::TAU;
        let twist =
            if self.twist.is_free() { -1.0 } else { d.abs() - 0.5 * (self.twist.max - self.twist.min) };
        swing.max(twist)
    }

    fn inside(&self, [x, y, t]: [f64; 3]) -> [f64; 3] {
        let [a, b] = self.halves([x, y]);
        let level = ((x / a).powi(2) + (y / b).powi(2)).sqrt().max(1.0);
        let t = if self.twist.is_free() { t } else { t.clamp(self.twist.min, self.twist.max) };
        [x / level, y / level, t]
    }

    /// The least distance from the goal over all that limits allow, by search: aligned rotations over the flexion and the
    /// swivel first, then a pattern search of all four variables from many starts.
    fn least(&self, r: &mut Random) -> f64 {
        let g = self.goal;
        let n = 160;
        let [from, to] = if self.range.is_free() {
            [-std::f64::consts::PI, std::f64::consts::PI]
        } else {
            [self.range.min, self.range.max]
        };
        let mut best = f64::INFINITY;
        let mut starts: Vec<(f64, [f64; 4])> = Vec::new();
        for i in 0..=n {
            let t = from + (to - from) * i as f64 / n as f64;
            let e = self.end(t);
            let left = (e.length() - g.length()).abs();
            if self.free {
                best = best.min(left);
                continue;
            }
            let aligned = DQuat::from_rotation_arc(e.normalize(), g.normalize());
            for k in 0..96 {
                let angle = std::f64::consts::TAU * k as f64 / 96.0;
                let c = self.coordinates(about(g.normalize(), angle) * aligned);
                let x = self.inside(c);
                let x = [x[0], x[1], x[2], t];
                starts.push((self.left(&x), x));
                if self.out(c) <= 0.0 {
                    best = best.min(left);
                }
            }
        }
        if self.free {
            // Refine around the best angle.
            let mut step = (to - from) / n as f64;
            let mut t = (0..=n)
                .map(|i| from + (to - from) * i as f64 / n as f64)
                .min_by(|a, b| {
                    let off = |t: &f64| (self.end(*t).length() - g.length()).abs();
                    off(a).total_cmp(&off(b))
                })
                .unwrap();
            let off = |t: f64| (self.end(t).length() - g.length()).abs();
            while step > 1e-9 {
                for c in [t - step, t + step] {
                    let c = c.clamp(from, to);
                    if off(c) < off(t) {
                        t = c;
                    }
                }
                step *= 0.7;
            }
            return off(t);
        }
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Spread over what is nearest.
        let mut chosen: Vec<[f64; 4]> = Vec::new();
        for (_, x) in &starts {
            let apart = |y: &[f64; 4]| (0..4).map(|k| (x[k] - y[k]).abs()).fold(0.0, f64::max);
            if chosen.iter().all(|y| apart(y) > 0.25) {
                chosen.push(*x);
            }
            if chosen.len() >= 8 {
                break;
            }
        }
        for x in chosen {
            best = best.min(self.search(r, x, [from, to]));
        }
        best
    }

    fn left(&self, x: &[f64; 4]) -> f64 {
        (self.hip([x[0], x[1], x[2]]) * self.end(x[3]) - self.goal).length()
    }

    /// Random steps of a shrinking size, kept where they lead nearer.
    fn search(&self, r: &mut Random, mut x: [f64; 4], [from, to]: [f64; 2]) -> f64 {
        let mut left = self.left(&x);
        let (mut step, mut failed) = (0.2, 0);
        while step > 1e-7 {
            let way = [0; 4].map(|_| r.between(-1.0, 1.0));
            let mut next = [0, 1, 2, 3].map(|k| x[k] + step * way[k]);
            let c = self.inside([next[0], next[1], next[2]]);
            next = [c[0], c[1], c[2], next[3].clamp(from, to)];
            let nearer = self.left(&next);
            if nearer < left {
                (x, left, failed) = (next, nearer, 0);
                step *= 1.3;
            } else {
                failed += 1;
                if failed > 12 {
                    step *= 0.6;
                    failed = 0;
                }
            }
        }
        left
    }
}

fn within(pose: &Pose, limb: &Limb) -> f64 {
    let s = &limb.skeleton;
    limb.ids.iter().flat_map(|&j| excess(s.joint(j), s.rest(j), pose.local(j))).fold(0.0, f64::max)
}

fn solved(limb: &Limb, pose: &Pose, goal: &Goal) -> (Pose, Report) {
    let solver = limb.solver();
    let mut after = pose.clone();
    let report = solver.solve(&mut after, goal, &LimbOptions::new()).unwrap();
    (after, report)
}

#[test]
fn a_knee_with_a_range_bends_as_far_as_it_goes() {
    let mut r = Random(0x51AB);
    let (mut met, mut worst) = (0, 0.0f64);
    for n in 0..3000 {
        let limb = limb(&mut r, true, None);
        let pose = posed(&mut r, &limb);
        let hip = pose.position(limb.ids[0]);
        let solver = limb.solver();
        let (a, b) = solver.lengths(&pose);
        let goal = hip + (r.direction() * r.between(0.0, 1.2)).as_vec3() * (a + b);
        let (after, report) = solved(&limb, &pose, &Goal::position(goal));
        assert!(within(&after, &limb) <= 1e-5, "{n}: {}", within(&after, &limb));
        let exact = Exact::of(&pose, &limb, goal);
        let least = exact.least(&mut r) * exact.unit;
        let off = f64::from(report.position_residual) - least;
        worst = worst.max(off / f64::from(a + b));
        assert!(off <= 1e-5 * f64::from(a + b), "{n}: {report:?} {least}");
        met += usize::from(report.reached());
    }
    println!("met {met}, worst {worst:e}");
    assert!(met > 500, "{met}");
}

#[test]
fn a_hip_and_a_knee_come_as_near_as_any_search() {
    let mut r = Random(0xB0B);
    let (mut met, mut worst) = (0, 0.0f64);
    for n in 0..1500 {
        let limb = limb(&mut r, false, None);
        let pose = posed(&mut r, &limb);
        let hip = pose.position(limb.ids[0]);
        let solver = limb.solver();
        let (a, b) = solver.lengths(&pose);
        let length = f64::from(a + b);
        // Half of them where a pose within limits has the end.
        let goal = if n % 2 == 0 {
            posed(&mut r, &limb).position(limb.ids[2])
        } else {
            hip + (r.direction() * r.between(0.05, 1.2)).as_vec3() * (a + b)
        };
        let (after, report) = solved(&limb, &pose, &Goal::position(goal));
        assert!(within(&after, &limb) <= 1e-5, "{n}: {}", within(&after, &limb));
        met += usize::from(report.reached());
        if n % 2 == 0 && !report.reached() {
            println!("{n}: reachable, left {:e}", f64::from(report.position_residual) / length);
        }
        if report.reached() {
            continue;
        }
        assert!(report.outcome == Outcome::Stalled || report.out_of_reach > 0.0, "{n}: {report:?}");
        let exact = Exact::of(&pose, &limb, goal);
        let least = exact.least(&mut r) * exact.unit;
        let off = (f64::from(report.position_residual) - least) / length;
        if off > 1e-4 {
            println!(
                "{n}: left {} least {} ({off:e})",
                f64::from(report.position_residual) / length,
                least / length
            );
        }
        worst = worst.max(off);
    }
    println!("met {met}, worst {worst:e}");
    assert!(worst <= 1e-4, "{worst}");
}

/// The angle about the line to the goal between where the knee is and where a pole is.
fn off_pole(pose: &Pose, ids: [JointId; 3], pole: Vec3) -> f64 {
    let [hip, knee, ankle] = ids.map(|j| pose.position(j).as_dvec3());
    let line = (ankle - hip).normalize();
    let across = |v: DVec3| v - line * line.dot(v);
    let (a, b) = (across(knee - hip), across(pole.as_dvec3() - hip));
    a.cross(b).dot(line).atan2(a.dot(b)).abs()
}

#[test]
fn a_pole_is_faced_as_far_as_the_hip_lets_it() {
    let mut r = Random(0x9013);
    let (mut faced, mut held) = (0, 0);
    for n in 0..1500 {
        let limb = limb(&mut r, false, None);
        let pose = posed(&mut r, &limb);
        let goal = posed(&mut r, &limb).position(limb.ids[2]);
        let hip = pose.position(limb.ids[0]);
        let pole = hip + r.direction().as_vec3();
        let line = (goal - hip).normalize();
        if line.cross((pole - hip).normalize()).length() < 0.3 {
            continue;
        }
        let (after, report) = solved(&limb, &pose, &Goal::position(goal).with_pole(Pole::Point(pole)));
        assert!(within(&after, &limb) <= 1e-5, "{n}: {}", within(&after, &limb));
        assert!(report.reached(), "{n}: {report:?}");
        let angle = off_pole(&after, limb.ids, pole);
        let across = (after.position(limb.ids[1]) - hip).normalize().cross(line).length();
        if across < 0.05 {
            continue;
        }
        // No swivel within the limits faces it better, at either flexion.
        let exact = Exact::of(&pose, &limb, goal);
        let parent = pose.parent_model(limb.ids[0]);
        let to_pole = parent.matrix3.as_dmat3().inverse() * (pole.as_dvec3() - hip.as_dvec3());
        let knee = limb.skeleton.limits(limb.ids[1]).coordinates(after.local(limb.ids[1]).rotation)[0];
        let (g, e) = (exact.goal.normalize(), exact.end(f64::from(knee)));
        let aligned = DQuat::from_rotation_arc(e.normalize(), g);
        let mut best = f64::INFINITY;
        for k in 0..4000 {
            let q = about(g, std::f64::consts::TAU * f64::from(k) / 4000.0) * aligned;
            if exact.out(exact.coordinates(q)) <= 0.0 {
                let across = |v: DVec3| v - g * g.dot(v);
                let (a, b) = (across(q * exact.u), across(to_pole));
                best = best.min(a.cross(b).dot(g).atan2(a.dot(b)).abs());
            }
        }
        assert!(angle <= best + 1e-4, "{n}: {angle} {best}");
        if angle < 1e-3 {
            faced += 1;
        } else {
            held += 1;
        }
    }
    assert!(faced > 50 && held > 300, "{faced} {held}");
}

#[test]
fn no_other_solver_comes_nearer() {
    let mut r = Random(0xA070);
    let mut workspace = Workspace::new();
    let mut worse = 0;
    for n in 0..1500 {
        let limb = limb(&mut r, n % 5 == 0, None);
        let pose = posed(&mut r, &limb);
        let hip = pose.position(limb.ids[0]);
        let (after, report) = {
            let goal = hip + (r.direction() * r.between(0.05, 1.3)).as_vec3();
            let (after, report) = solved(&limb, &pose, &Goal::position(goal));
            let auto = Auto::new(&limb.skeleton, limb.ids[0], limb.ids[2]).unwrap();
            let mut other = pose.clone();
            let options = IterativeOptions::new().with_max_iterations(200);
            let auto = auto.solve(&mut workspace, &mut other, &Goal::position(goal), &options).unwrap();
            // An iteration ends where it counts as there.
            let near = auto.position_residual.max(auto.position_tolerance);
            assert!(report.position_residual <= near + 1e-5, "{n}: {report:?} {auto:?}");
            worse += usize::from(auto.position_residual > report.position_residual + 1e-3);
            (after, report)
        };
        assert!(report.position_residual.is_finite() && within(&after, &limb) <= 1e-5);
    }
    assert!(worse > 500, "{worse}");
}

/// The tenth promise, with the goal going round and in and out, within reach and beyond it.
#[test]
fn a_goal_that_moves_a_little_moves_the_pose_a_little() {
    let mut r = Random(0xD2A6);
    let (mut frames, mut branches, mut fast) = (0, 0, 0);
    for n in 0..60 {
        let limb = limb(&mut r, n % 3 == 0, None);
        let mut pose = posed(&mut r, &limb);
        let solver = limb.solver();
        let (a, b) = solver.lengths(&pose);
        let (length, hip) = (a + b, pose.position(limb.ids[0]));
        let (x, y) = (r.direction(), r.direction());
        let options = LimbOptions::new().with_soft(0.05);
        let mut last: Option<Vec3> = None;
        for i in 0..400 {
            let t = f64::from(i) * 0.004;
            let v = x * (3.1 * t + 0.3).sin() + y * (2.3 * t).cos();
            let goal = hip + (v * 0.9).as_vec3() * length;
            let before = pose.clone();
            let report = solver.solve(&mut pose, &Goal::position(goal), &options).unwrap();
            assert!(within(&pose, &limb) <= 1e-5);
            let turned = limb
                .ids
                .iter()
                .map(|&j| math::angle_between(before.local(j).rotation, pose.local(j).rotation));
            let turned = turned.fold(0.0, f32::max);
            if let Some(last) = last.replace(goal) {
                frames += 1;
                let step = goal.distance(last) / length;
                let bound = 8.0 * step + 2e-3;
                branches += usize::from(report.branch_changed);
                if turned > bound && !report.branch_changed {
                    println!("FAST {n} {i}: {turned} {step} {report:?}");
                    // Where the goal is beyond the limits, the nearest pose may go faster than the goal, next to where
                    // two are as near. It goes on without a leap.
                    assert!(
                        report.outcome == Outcome::Stalled && turned < 0.5,
                        "{n} {i}: {turned}, {report:?}"
                    );
                    fast += 1;
                    continue;
                }
            }
        }
    }
    println!("BR {branches} fast {fast} of {frames}");
    assert!(branches * 50 < frames && fast * 300 < frames, "{branches} and {fast} of {frames}");
}

/// Influences stay within, a bound on turns holds and arrives, and the tip turns within its limits.
#[test]
fn influence_bounded_turns_and_the_tips_rotation() {
    let mut r = Random(0x717);
    let mut arrived = 0;
    for n in 0..400 {
        let mut limb = limb(&mut r, false, None);
        let mut skeleton = (*limb.skeleton).clone();
        skeleton.set_joint(limb.ids[2], Joint::cone(r.direction(), 0.6, 0.4)).unwrap();
        limb.skeleton = Arc::new(skeleton);
        let [_, b, c] = limb.ids;
        let pose = posed(&mut r, &limb);
        let target = posed(&mut r, &limb);
        let (place, turn) = (target.position(c), target.model_rotation(c));
        let goal = Goal::position(place).with_rotation(if n % 2 == 0 { turn } else { r.rotation(3.0) });
        let mut solver = limb.solver();
        if n % 3 == 0 {
            let chain =
                solver.chain().clone().with_tip_offset(&limb.skeleton, Vec3::new(0.02, -0.05, 0.1)).unwrap();
            solver = TwoBone::within_limits(&limb.skeleton, chain, b).unwrap();
        }
        for influence in [0.0, 0.3, 0.7, 1.0] {
            let mut after = pose.clone();
            let options = LimbOptions::new().with_influence(influence);
            let report = solver.solve(&mut after, &goal, &options).unwrap();
            assert!(within(&after, &limb) <= 1e-5, "{n}: {}", within(&after, &limb));
            let off = solver.chain().end(&after).distance(place);
            assert!((off - report.position_residual).abs() < 1e-5, "{n}");
            if influence == 0.0 {
                assert_eq!(after.locals(), pose.locals());
                assert_eq!(report.outcome, Outcome::Converged);
            }
        }
        // Frame by frame, with a bound.
        let goal = Goal::position(place);
        let mut after = pose.clone();
        let options = LimbOptions::new().with_max_turn(0.1);
        let mut left = f32::INFINITY;
        for _ in 0..120 {
            let before = after.clone();
            let report = solver.solve(&mut after, &goal, &options).unwrap();
            assert!(within(&after, &limb) <= 1e-5);
            for j in limb.ids {
                let turned = math::angle_between(before.local(j).rotation, after.local(j).rotation);
                assert!(turned <= 0.1 + 1e-5, "{n}: {turned}");
            }
            assert!(report.position_residual <= left + 1e-5, "{n}: {left} {report:?}");
            left = report.position_residual;
        }
        arrived += usize::from(n % 3 != 0 && left < 1e-4);
    }
    assert!(arrived > 240, "{arrived}");
}

/// The path for the common case and the exact one lead to the same pose.
#[test]
fn the_common_case_is_the_exact_one() {
    let mut r = Random(0xC0);
    let (mut same, mut worst) = (0, 0.0f32);
    for n in 0..4000 {
        let limb = limb(&mut r, n % 4 == 0, None);
        let pose = posed(&mut r, &limb);
        let solver = limb.solver();
        let to = posed(&mut r, &limb).position(limb.ids[2]);
        let mut goal = Goal::position(to);
        if n % 2 == 0 {
            goal = goal.with_pole(Pole::Direction(r.direction().as_vec3()));
        }
        let options = LimbOptions::new().with_soft(if n % 3 == 0 { 0.05 } else { 0.0 });
        // A bound that binds nothing is beside the common case.
        let all = options.with_max_turn(10.0);
        let (mut one, mut other) = (pose.clone(), pose.clone());
        let fast = solver.solve(&mut one, &goal, &options).unwrap();
        let exact = solver.solve(&mut other, &goal, &all).unwrap();
        assert!(within(&one, &limb) <= 1e-5);
        let (a, b) = solver.lengths(&pose);
        let apart = limb.ids.map(|j| math::angle_between(one.local(j).rotation, other.local(j).rotation));
        let apart = apart.into_iter().fold(0.0, f32::max);
        same += usize::from(one.locals() != other.locals());
        worst = worst.max(apart);
        assert!(apart < 1e-3, "{n}: {apart} {fast:?} {exact:?}");
        assert!(
            (fast.position_residual - exact.position_residual).abs() < 3e-6 * (a + b),
            "{fast:?} {exact:?}"
        );
        assert_eq!(fast.outcome, exact.outcome, "{n}");
        assert_eq!(fast.branch_changed, exact.branch_changed, "{n}: {fast:?} {exact:?}");
    }
    println!("by the common case {same}, worst {worst:e}");
    assert!(same > 500, "{same}");
}

/// Without a range that binds, the reports are those of a limb without limits: for goals out of reach, in a soft zone, far
/// away, and for limbs of no length. A pose of a skeleton without the hinge stalls.
#[test]
fn reports_of_goals_out_of_reach_are_those_of_a_limb_without_limits() {
    for (upper, lower) in [(0.45, 0.45), (0.45, 0.0), (0.0, 0.45), (0.0, 0.0)] {
        let mut b = Skeleton::builder();
        let at = |y| JointTransform::from_translation(Vec3::new(0.0, y, 0.0));
        let hip = b.add("hip", None, at(0.9));
        let knee = b.add("knee", Some(hip), at(-upper));
        b.add("ankle", Some(knee), at(-lower));
        let (free, ids) = b.build().unwrap();
        let ids = <[JointId; 3]>::try_from(ids).unwrap();
        let mut skeleton = free.clone();
        skeleton.set_joint(ids[1], Joint::hinge(DVec3::X, Dof::FREE)).unwrap();
        let (free, limb) = (Arc::new(free), Limb { skeleton: Arc::new(skeleton), ids });
        let (bare, within) = (TwoBone::new(&free, ids[0], ids[1], ids[2]).unwrap(), limb.solver());
        for to in
            [Vec3::new(0.1, 0.3, 0.2), Vec3::NEG_Y * 1e19, Vec3::splat(f32::MAX), Vec3::Y * 0.5, Vec3::ZERO]
        {
            for soft in [0.0, 0.3] {
                let (goal, options) = (Goal::position(to), LimbOptions::new().with_soft(soft));
                let (mut one, mut other) = (Pose::rest(&free), Pose::rest(&limb.skeleton));
                let expected = bare.solve(&mut one, &goal, &options).unwrap();
                let mut of_another = Pose::rest(&free);
                for again in [false, true] {
                    let report = within.solve(&mut other, &goal, &options).unwrap();
                    let apart = (report.out_of_reach - expected.out_of_reach).abs();
                    let case =
                        format!("{upper} {lower}, {to}, soft {soft}, {again}: {report:?} {expected:?}");
                    assert!(report.out_of_reach.is_finite(), "{case}");
                    assert!(apart <= 1e-5 * expected.out_of_reach.max(1.0), "{case}");
                    assert_eq!(report.outcome, expected.outcome, "{case}");
                }
                let report = within.solve(&mut of_another, &goal, &options).unwrap();
                assert_eq!(report.outcome, Outcome::Stalled, "{report:?}");
            }
        }
    }
}

/// Joints that the input has outside their limits go no further out, also where those are wide or a hinge has play.
#[test]
fn inputs_outside_limits_go_no_further_out() {
    let mut r = Random(0x0D7);
    let mut worst = 0.0f64;
    for n in 0..20000 {
        let mut limb = limb(&mut r, n % 5 == 0, None);
        if n % 2 == 0 {
            let mut skeleton = (*limb.skeleton).clone();
            let ranges = [(-r.between(0.1, 2.6), 0.05), (-0.1, 0.05)];
            let elbow = Joint::ball(r.direction(), r.direction(), ranges, (-0.5, 0.5));
            if skeleton.set_joint(limb.ids[1], elbow).is_ok() {
                limb.skeleton = Arc::new(skeleton);
            }
        }
        if n % 3 > 0 {
            let mut skeleton = (*limb.skeleton).clone();
            skeleton.set_joint(limb.ids[0], ball(&mut r, 3.0, 3.0, Random::direction)).unwrap();
            limb.skeleton = Arc::new(skeleton);
        }
        let mut pose = Pose::rest(&limb.skeleton);
        for j in limb.ids {
            pose.set_rotation(j, r.rotation(3.1));
        }
        pose.update();
        let solver = limb.solver();
        let (a, b) = solver.lengths(&pose);
        let s = limb.skeleton.clone();
        let out = |pose: &Pose| limb.ids.map(|j| excess(s.joint(j), s.rest(j), pose.local(j)));
        let to = pose.position(limb.ids[0]) + (r.direction() * r.between(0.0, 1.5)).as_vec3() * (a + b);
        let influence = if n % 3 == 0 { r.next() as f32 } else { 1.0 };
        let was = out(&pose);
        let goal = Goal::position(to);
        solver.solve(&mut pose, &goal, &LimbOptions::new().with_influence(influence)).unwrap();
        for (was, is) in was.into_iter().zip(out(&pose)) {
            for (was, is) in was.into_iter().zip(is) {
                worst = worst.max(is - was.max(0.0));
                assert!(is <= was.max(0.0) + 1e-5, "{n}: {was} to {is}, {influence}");
            }
        }
    }
    println!("worst {worst:e}");
}

/// With a bound on turns the end comes no further from a goal, also from one that the limits keep it from.
#[test]
fn bounded_turns_lead_no_further_from_goals_out_of_reach() {
    let mut r = Random(0xB07);
    for n in 0..600 {
        let limb = limb(&mut r, n % 3 == 0, None);
        let mut pose = posed(&mut r, &limb);
        let solver = limb.solver();
        let (a, b) = solver.lengths(&pose);
        let goal = pose.position(limb.ids[0]) + (r.direction() * r.between(0.0, 3.0)).as_vec3() * (a + b);
        let off = |pose: &Pose| pose.position(limb.ids[2]).distance(goal);
        let options = LimbOptions::new().with_max_turn(r.between(0.02, 0.5) as f32);
        for _ in 0..20 {
            let was = off(&pose);
            let report = solver.solve(&mut pose, &Goal::position(goal), &options).unwrap();
            assert!(off(&pose) <= was + 2e-6 * (a + b), "{n}: {was} to {}, {report:?}", off(&pose));
        }
    }
}
