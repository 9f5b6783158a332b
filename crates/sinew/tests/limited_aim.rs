//! Aims within limits, against searches of all that the joint's limits allow, which are written here, in f64.

use crate::common;
use crate::limit_judge as judge;

use std::{f64::consts::TAU, sync::Arc};

use common::{Random, ball};
use judge::excess;
use sinew::{
    JointId, JointTransform, Outcome, Pose, Report, Skeleton,
    glam::{DMat3, DQuat, DVec3, Vec3},
    joint::{Dof, Joint, Range, Turning},
    math,
    solve::{Aim, AimUp, Options},
};

/// A joint below a parent that is turned, scaled and in part mirrored.
struct Rig {
    skeleton: Arc<Skeleton>,
    head: JointId,
    aim: Aim,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Ball,
    Hinge,
    OneAxis,
}

fn rig(r: &mut Random, kind: Kind, up: bool, offset: bool) -> Rig {
    let mut b = Skeleton::builder();
    let mirrored = if r.next() < 0.3 { Vec3::new(-1.0, 1.0, 1.0) } else { Vec3::ONE };
    let above = JointTransform {
        translation: r.direction().as_vec3(),
        rotation: r.rotation(3.0),
        scale: mirrored * r.between(0.5, 2.0) as f32,
    };
    b.add("above", None, above);
    let stretched = if r.next() < 0.3 { Vec3::new(1.0, 1.3, 0.8) } else { Vec3::ONE };
    let (translation, rotation) = ((r.direction() * 0.3).as_vec3(), r.rotation(1.0));
    b.add("head", Some(0), JointTransform { translation, rotation, scale: stretched });
    let (mut skeleton, ids) = b.build().unwrap();
    let axis = r.direction().as_vec3();
    let joint = match kind {
        // A third of them twist about what they aim along.
        Kind::Ball => ball(r, 1.4, 1.5, |r| if r.next() < 0.3 { axis.as_dvec3() } else { r.direction() }),
        Kind::Hinge => Joint::hinge(r.direction(), Dof::range(r.between(-2.5, -0.1), r.between(0.1, 2.5))),
        Kind::OneAxis => {
            Joint::axes([None, Some(Dof::range(r.between(-2.5, -0.1), r.between(0.1, 2.5))), None])
        }
    };
    skeleton.set_joint(ids[1], joint).unwrap();
    let mut aim = Aim::new(ids[1], axis);
    if offset {
        aim.offset = (r.direction() * r.between(0.0, 0.2)).as_vec3();
    }
    aim.up = up.then(|| AimUp { axis: r.direction().as_vec3(), direction: r.direction().as_vec3() });
    Rig { skeleton: Arc::new(skeleton), head: ids[1], aim }
}

fn posed(r: &mut Random, rig: &Rig) -> Pose {
    let mut pose = Pose::rest(&rig.skeleton);
    pose.set_rotation(rig.head, rig.skeleton.clamp_rotation(rig.head, r.rotation(3.0)));
    pose.update();
    pose
}

fn within(pose: &Pose, rig: &Rig) -> f64 {
    let s = &rig.skeleton;
    excess(s.joint(rig.head), s.rest(rig.head), pose.local(rig.head)).into_iter().fold(0.0, f64::max)
}

fn about(axis: DVec3, angle: f64) -> DQuat {
    DQuat::from_axis_angle(axis, angle)
}

fn vector(v: DVec3) -> DQuat {
    let l = v.length();
    if l > 0.0 { about(v / l, l) } else { DQuat::IDENTITY }
}

/// The aim in the space of the joint's parent, from the skeleton's own description.
struct Exact {
    rest: DQuat,
    turning: Turning,
    /// Direction in the joint's frame to the ray's point at the target's distance, and direction to the target.
    p: DVec3,
    g: DVec3,
    /// The up axis in the joint's frame, and the up direction.
    up: Option<[DVec3; 2]>,
}

impl Exact {
    fn of(pose: &Pose, rig: &Rig, target: Vec3) -> Self {
        let above = pose.parent_model(rig.head);
        let into = above.matrix3.as_dmat3().inverse();
        let local = pose.local(rig.head);
        let own = DMat3::from_diagonal(local.scale.as_dvec3());
        let to = into * (target.as_dvec3() - above.translation.as_dvec3()) - local.translation.as_dvec3();
        let (o, m) = (own * rig.aim.offset.as_dvec3(), (own * rig.aim.axis.as_dvec3()).normalize());
        let r2 = (o - m * o.dot(m)).length_squared();
        let s = ((to.length_squared() - r2).max(0.0).sqrt() - o.dot(m)).max(0.0);
        Self {
            rest: rig.skeleton.rest(rig.head).rotation.as_dquat().normalize(),
            turning: rig.skeleton.joint(rig.head).turning,
            p: (o + m * s).normalize(),
            g: to.normalize(),
            up: rig.aim.up.map(|up| [own * up.axis.as_dvec3(), into * up.direction.as_dvec3()]),
        }
    }

    /// The angle between the ray's point and the target, as seen from the joint.
    fn off(&self, q: DQuat) -> f64 {
        let v = q * self.p;
        v.cross(self.g).length().atan2(v.dot(self.g))
    }

    fn in_pose(&self, pose: &Pose, rig: &Rig) -> f64 {
        self.off(pose.local(rig.head).rotation.as_dquat().normalize())
    }

    /// A rotation by coordinates that limits clamp: a ball's from its centre, or a hinge's angle.
    fn rotation(&self, [x, y, t]: [f64; 3]) -> DQuat {
        match self.turning {
            Turning::Ball { twist_axis, swing_axis, swing, twist, centre } => {
                let z = twist_axis.normalize();
                let a = (swing_axis - z * z.dot(swing_axis)).normalize();
                let b = z.cross(a);
                let half = |k: usize, at: f64| {
                    let Range { min, max } = swing[k].range;
                    if at < 0.0 { centre[k] - min } else { max - centre[k] }
                };
                let level = ((x / half(0, x)).powi(2) + (y / half(1, y)).powi(2)).sqrt().max(1.0);
                let t = twist.range.clamp(t);
                self.rest
                    * vector(a * centre[0] + b * centre[1])
                    * vector((a * x + b * y) / level)
                    * about(z, t)
            }
            Turning::Hinge { axis, dof } => self.rest * about(axis.normalize(), dof.range.clamp(t)),
            Turning::Axes { angles, .. } => self.rest * about(DVec3::Y, angles[1].unwrap().range.clamp(t)),
            _ => panic!(),
        }
    }

    /// The least angle, by a grid and a pattern search from its best cells.
    fn least(&self, r: &mut Random) -> f64 {
        let mut starts: Vec<(f64, [f64; 3])> = Vec::new();
        let ball = matches!(self.turning, Turning::Ball { .. });
        let across = if ball { 16 } else { 0 };
        for i in -across..=across {
            for j in -across..=across {
                for k in -24..=24 {
                    let [x, y] = [i, j].map(|n| f64::from(n) * 2.2 / 16.0);
                    let c = [x, y, f64::from(k) * 3.2 / 24.0];
                    starts.push((self.off(self.rotation(c)), c));
                }
            }
        }
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut chosen: Vec<[f64; 3]> = Vec::new();
        for (_, x) in &starts {
            let apart = |y: &[f64; 3]| (0..3).map(|k| (x[k] - y[k]).abs()).fold(0.0, f64::max);
            if chosen.iter().all(|y| apart(y) > 0.4) {
                chosen.push(*x);
            }
            if chosen.len() >= 8 {
                break;
            }
        }
        chosen.into_iter().map(|x| self.search(r, x)).fold(f64::INFINITY, f64::min)
    }

    /// Random steps of a shrinking size, kept where they lead nearer.
    fn search(&self, r: &mut Random, mut x: [f64; 3]) -> f64 {
        let mut left = self.off(self.rotation(x));
        let (mut step, mut failed) = (0.2, 0);
        while step > 1e-8 {
            let next = x.map(|x| x + step * r.between(-1.0, 1.0));
            let nearer = self.off(self.rotation(next));
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

    /// Angle from the up axis to the up direction about the line to the target; none where either is along it.
    fn roll(&self, q: DQuat) -> Option<f64> {
        let [own, to] = self.up?.map(DVec3::normalize);
        let (a, b) = (self.g.cross(q * own), self.g.cross(to));
        (a.length().min(b.length()) > 0.2).then(|| self.g.dot(a.cross(b)).atan2(a.dot(b)))
    }
}

fn solved(rig: &Rig, pose: &Pose, target: Vec3, options: &Options) -> (Pose, Report) {
    let mut after = pose.clone();
    let report = rig.aim.solve(&mut after, target, options).unwrap();
    (after, report)
}

fn turned(rig: &Rig, a: &Pose, b: &Pose) -> f32 {
    math::angle_between(a.local(rig.head).rotation, b.local(rig.head).rotation)
}

#[test]
fn a_joint_with_limits_aims_as_near_as_any_search() {
    let mut r = Random(0xA1B);
    let (mut met, mut worst) = (0, 0.0f64);
    for n in 0..1200 {
        let kind = [Kind::Ball, Kind::Ball, Kind::Hinge, Kind::OneAxis][n % 4];
        let rig = rig(&mut r, kind, n % 3 == 0, n % 5 < 2);
        let pose = posed(&mut r, &rig);
        let reachable = n % 8 < 4;
        let target = if reachable {
            let frame = posed(&mut r, &rig).model(rig.head);
            frame.transform_point3(rig.aim.offset + rig.aim.axis * r.between(0.3, 3.0) as f32)
        } else {
            pose.position(rig.head) + (r.direction() * r.between(0.5, 3.0)).as_vec3()
        };
        let (after, report) = solved(&rig, &pose, target, &Options::new());
        assert!(within(&after, &rig) <= 1e-5, "{n}: {}", within(&after, &rig));
        let exact = Exact::of(&pose, &rig, target);
        let left = exact.in_pose(&after, &rig);
        let least = if reachable { 0.0 } else { exact.least(&mut r) };
        worst = worst.max(left - least);
        assert!(left <= least + 1e-5, "{n}: {left} {least} {report:?}");
        assert_eq!(report.outcome == Outcome::Stalled, left > 1e-5, "{n}: {left:e} {report:?}");
        met += usize::from(report.reached());
        // Solving again finds nothing to do.
        let (again, second) = solved(&rig, &after, target, &Options::new());
        assert!(turned(&rig, &after, &again) <= 1e-5, "{n}: {} {second:?}", turned(&rig, &after, &again));
    }
    println!("met {met}, worst {worst:e}");
    assert!(met > 600, "{met}");
}

/// Of the rotations that aim at the target, the one with the roll nearest to what is wanted: that of the up vector, or of the
/// shortest arc.
#[test]
fn the_roll_is_the_nearest_within_the_limits() {
    let mut r = Random(0x2011);
    let (mut held, mut worst) = (0, 0.0f64);
    for n in 0..800 {
        let rig = rig(&mut r, Kind::Ball, n % 2 == 0, false);
        let pose = posed(&mut r, &rig);
        let target = posed(&mut r, &rig).model(rig.head).transform_point3(rig.aim.axis * 2.0);
        let (after, report) = solved(&rig, &pose, target, &Options::new());
        assert!(report.reached(), "{n}: {report:?}");
        let exact = Exact::of(&pose, &rig, target);
        let rotation = |pose: &Pose| pose.local(rig.head).rotation.as_dquat().normalize();
        let (before, got) = (rotation(&pose), rotation(&after));
        // The angle about the line to the target from the wanted rotation.
        let roll = |q: DQuat| match exact.up {
            Some(_) => exact.roll(q),
            None => {
                let from = before * exact.p;
                if from.dot(exact.g) < -0.9 {
                    return None;
                }
                let wanted = DQuat::from_rotation_arc(from, exact.g) * before;
                let d = q * wanted.conjugate();
                Some(2.0 * DVec3::new(d.x, d.y, d.z).dot(exact.g).atan2(d.w))
            }
        };
        let Some(found) = roll(got) else { continue };
        let found = (found - (found / TAU).round() * TAU).abs();
        let joint = rig.skeleton.joint(rig.head);
        let mut local = *after.local(rig.head);
        for k in 0..720 {
            let q = about(exact.g, TAU * f64::from(k) / 720.0) * got;
            local.rotation = q.as_quat().normalize();
            let out = excess(joint, rig.skeleton.rest(rig.head), &local).into_iter().fold(0.0, f64::max);
            if out <= 1e-6 {
                let other = roll(q).unwrap();
                let other = (other - (other / TAU).round() * TAU).abs();
                worst = worst.max(found - other);
                assert!(found <= other + 3e-3, "{n}: {found} {other} {report:?}");
            }
        }
        held += usize::from(found > 0.01);
    }
    println!("rolled by limits {held}, worst {worst:e}");
    assert!(held > 100, "{held}");
}

/// Influences stay within, and a bound on turns holds and arrives.
#[test]
fn influence_and_bounded_turns_stay_within() {
    let mut r = Random(0xB0D);
    let mut arrived = 0;
    for n in 0..400 {
        let rig = rig(&mut r, [Kind::Ball, Kind::Hinge][n % 2], n % 3 == 0, false);
        let pose = posed(&mut r, &rig);
        let target = pose.position(rig.head) + (r.direction() * 2.0).as_vec3();
        let exact = Exact::of(&pose, &rig, target);
        let (whole, _) = solved(&rig, &pose, target, &Options::new());
        for influence in [0.0, 0.3, 0.7] {
            let (after, report) = solved(&rig, &pose, target, &Options::new().with_influence(influence));
            assert!(within(&after, &rig) <= 1e-5);
            if influence == 0.0 {
                assert_eq!(after.locals(), pose.locals());
                assert_eq!((report.outcome, report.iterations), (Outcome::Converged, 0));
            }
        }
        let mut after = pose;
        for _ in 0..80 {
            let before = after.clone();
            rig.aim.solve(&mut after, target, &Options::new().with_max_turn(0.1)).unwrap();
            assert!(within(&after, &rig) <= 1e-5 && turned(&rig, &before, &after) <= 0.1 + 1e-5, "{n}");
        }
        arrived += usize::from(exact.in_pose(&after, &rig) <= exact.in_pose(&whole, &rig) + 1e-4);
    }
    println!("arrived {arrived}");
    assert!(arrived > 360, "{arrived}");
}

/// An input outside its limits goes no further out, and a target in reach of the limits is aimed at again.
#[test]
fn inputs_outside_limits_go_no_further_out() {
    let mut r = Random(0x007);
    for n in 0..400 {
        let rig = rig(&mut r, [Kind::Ball, Kind::Hinge, Kind::OneAxis][n % 3], n % 2 == 0, true);
        let mut pose = Pose::rest(&rig.skeleton);
        pose.set_rotation(rig.head, r.rotation(3.0));
        pose.update();
        let was = within(&pose, &rig);
        for _ in 0..3 {
            let target = pose.position(rig.head) + (r.direction() * 2.0).as_vec3();
            let report = rig.aim.solve(&mut pose, target, &Options::new()).unwrap();
            assert!(within(&pose, &rig) <= was + 1e-5, "{n}: {was} {}", within(&pose, &rig));
            assert!(pose.check_finite().is_ok() && report.position_residual.is_finite());
        }
    }
}

/// The tenth promise, with targets that go in and out of the limits: the joint turns with the target, or the branch changed.
#[test]
fn a_target_that_moves_a_little_turns_the_joint_a_little() {
    let mut r = Random(0x10A);
    let (mut frames, mut branches, mut fast) = (0, 0, 0);
    for n in 0..90 {
        let rig = rig(&mut r, [Kind::Ball, Kind::Ball, Kind::Hinge][n % 3], false, false);
        let mut pose = posed(&mut r, &rig);
        let (x, y, z) = (r.direction(), r.direction(), r.direction());
        let place = |i: u32| {
            let t = f64::from(i) * 0.004;
            (x * (3.1 * t + 0.3).sin() + y * (2.3 * t).cos() + z * (1.3 * t).sin()).normalize() * 2.0
        };
        let at = pose.position(rig.head);
        rig.aim.solve(&mut pose, at + place(0).as_vec3(), &Options::new()).unwrap();
        for i in 1..400 {
            let before = pose.clone();
            let report = rig.aim.solve(&mut pose, at + place(i).as_vec3(), &Options::new()).unwrap();
            let step = (place(i) - place(i - 1)).length() / 2.0;
            frames += 1;
            branches += usize::from(report.branch_changed);
            let turn = f64::from(turned(&rig, &before, &pose));
            if turn > 8.0 * step + 2e-3 && !report.branch_changed {
                println!("{n} {i}: {turn} {step} {report:?}");
                fast += 1;
            }
        }
    }
    println!("{frames} frames, branches {branches}, fast {fast}");
    assert!(branches * 50 < frames && fast * 300 < frames, "{branches} and {fast} of {frames}");
}
