//! Judges look-ats of spine, neck, head and eyes by forward kinematics in f64 that is written here.

use crate::common;

use std::{f32::consts::PI, sync::Arc};

use common::{Random, ball};
use sinew::{
    JointId, JointTransform, Pose, Skeleton, SolveError,
    glam::{DQuat, DVec3, Quat, Vec3},
    joint::{Attribute, Dof, Joint},
    math,
    solve::{Eye, LookAt, LookAtError, LookJoint, LookState, Options},
};

/// Hips, three spine joints, neck, head, two eyes.
struct Figure {
    skeleton: Arc<Skeleton>,
    ids: Vec<JointId>,
}

const EYES: [usize; 2] = [6, 7];

fn figure(size: f32, joint: impl Fn(usize) -> Joint) -> Figure {
    let mut b = Skeleton::builder();
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = JointTransform { scale: Vec3::splat(size), ..at(0.3 * size, size, -0.2 * size) };
    let mut last = b.add("hips", None, hips);
    for (name, y, z) in [
        ("spine", 0.12, 0.0),
        ("chest", 0.15, -0.01),
        ("upper chest", 0.15, 0.01),
        ("neck", 0.15, 0.0),
        ("head", 0.1, 0.02),
    ] {
        let rotation = Quat::from_rotation_x(0.1 * z * 100.0);
        last = b.add(name, Some(last), JointTransform { rotation, ..at(0.0, y, z) });
    }
    b.add("eye.L", Some(last), at(0.032, 0.09, 0.08));
    b.add("eye.R", Some(last), at(-0.032, 0.09, 0.08));
    let (mut skeleton, ids) = b.build().unwrap();
    for (i, &id) in ids.iter().enumerate() {
        skeleton.set_joint(id, joint(i)).unwrap();
    }
    Figure { skeleton: Arc::new(skeleton), ids }
}

fn free(_: usize) -> Joint {
    Joint::FREE
}

impl Figure {
    fn look(&self, eyes: bool) -> LookAt {
        let part = |i: usize, share, cone| LookJoint::new(self.ids[i]).with_share(share).with_cone(cone);
        let line =
            [part(1, 0.1, 0.2), part(2, 0.1, 0.2), part(3, 0.15, 0.3), part(4, 0.4, 0.5), part(5, 1.0, 0.7)];
        let mut look = LookAt::new(&self.skeleton, &line, Vec3::Z).unwrap();
        look.offset = Vec3::new(0.0, 0.09, 0.08);
        if eyes {
            let eyes = EYES.map(|i| Eye::new(self.ids[i], Vec3::Z).with_cone(0.6));
            look.set_eyes(&self.skeleton, &eyes).unwrap();
        }
        look
    }

    fn eye(&self, pose: &Pose) -> Vec3 {
        pose.model(self.ids[5]).transform_point3(Vec3::new(0.0, 0.09, 0.08))
    }

    /// Returns the angle between a joint's local Z (from a point in its space) and the direction to a target.
    fn off(&self, pose: &Pose, joint: usize, offset: Vec3, target: Vec3) -> f64 {
        let (p, q, s) = frame(pose, self.ids[joint]);
        let from = p + q * (offset.as_dvec3() * s);
        (target.as_dvec3() - from).angle_between(q * DVec3::Z)
    }

    fn face(&self, pose: &Pose, target: Vec3) -> f64 {
        self.off(pose, 5, Vec3::new(0.0, 0.09, 0.08), target)
    }
}

fn frame(pose: &Pose, joint: JointId) -> (DVec3, DQuat, f64) {
    let t = pose.local(joint);
    let above = pose.skeleton().parent(joint).map(|j| frame(pose, j));
    let (p, q, s) = above.unwrap_or((DVec3::ZERO, DQuat::IDENTITY, 1.0));
    let [x, y, z, w] = t.rotation.to_array().map(f64::from);
    let own = DQuat::from_xyzw(x, y, z, w).normalize();
    (p + q * (t.translation.as_dvec3() * s), q * own, s * f64::from(t.scale.x))
}

/// Returns the angle of a joint from the input pose.
fn turned(before: &Pose, after: &Pose, joint: JointId) -> f32 {
    math::angle_between(before.local(joint).rotation, after.local(joint).rotation)
}

fn directions() -> impl Iterator<Item = Vec3> {
    (0..200).map(|i| {
        let (y, a) = (1.0 - (i as f32 + 0.5) / 100.0, 2.399_963 * i as f32);
        let r = (1.0 - y * y).sqrt();
        Vec3::new(r * a.cos(), y, r * a.sin())
    })
}

#[test]
fn the_face_and_the_eyes_look_at_what_they_can() {
    for size in [1.0, 0.01, 1000.0] {
        let f = figure(size, free);
        for eyes in [false, true] {
            let look = f.look(eyes);
            let rest = Pose::rest(&f.skeleton);
            let mut reached = 0;
            for d in directions() {
                let mut pose = rest.clone();
                let target = f.eye(&rest) + d * (2.0 * size);
                let report = look.solve(&mut look.state(), &mut pose, target, &Options::new()).unwrap();
                let face = f.face(&pose, target);
                assert!((face - f64::from(report.face)).abs() < 2e-5);
                // No joint exceeds its largest turn.
                for (i, cone) in [(1, 0.2), (2, 0.2), (3, 0.3), (4, 0.5), (5, 0.7), (6, 0.6), (7, 0.6)] {
                    assert!(turned(&rest, &pose, f.ids[i]) <= cone + 1e-5);
                }
                if (d.z) > 0.2 {
                    assert!(report.reached(), "{d} {report:?}");
                    assert!(face < 1e-5, "{d}: {face}");
                    for i in EYES.into_iter().filter(|_| eyes) {
                        assert!(f.off(&pose, i, Vec3::ZERO, target) < 1e-5);
                    }
                    reached += 1;
                    // A target that is looked at already changes nothing.
                    let once = pose.clone();
                    assert_eq!(
                        look.solve(&mut look.state(), &mut pose, target, &Options::new())
                            .unwrap()
                            .report
                            .iterations,
                        0
                    );
                    assert_eq!(pose.locals(), once.locals());
                }
                // Offsets and all other joints stay.
                for j in f.skeleton.joints() {
                    assert_eq!(pose.local(j).translation, rest.local(j).translation);
                }
                assert_eq!(pose.local(f.ids[0]), rest.local(f.ids[0]));
            }
            assert!(reached > 50);
        }
    }
}

#[test]
fn shares_are_of_what_is_left() {
    let f = figure(1.0, free);
    let look = f.look(false);
    let rest = Pose::rest(&f.skeleton);
    let mut pose = rest.clone();
    // Far away, so that positions do not matter: 0.8 radians to the left.
    let front = (f.eye(&rest), rest.model(f.ids[5]).transform_vector3(Vec3::Z));
    let target = front.0 + Quat::from_rotation_y(0.8) * front.1 * 1e5;
    look.solve(&mut look.state(), &mut pose, target, &Options::new()).unwrap();
    let mut left = front.1.angle_between(target - front.0);
    for (i, share) in [(1, 0.1), (2, 0.1), (3, 0.15), (4, 0.4), (5, 1.0)] {
        let by = turned(&rest, &pose, f.ids[i]);
        assert!((by - share * left).abs() < 2e-3, "joint {i} turned by {by} of {left}");
        left -= by;
    }
}

#[test]
fn eyes_converge_on_something_near() {
    let f = figure(1.0, free);
    let look = f.look(true);
    let mut pose = Pose::rest(&f.skeleton);
    let front = pose.model(f.ids[5]).transform_vector3(Vec3::Z);
    let target = f.eye(&pose) + front * 0.15;
    let report = look.solve(&mut look.state(), &mut pose, target, &Options::new()).unwrap();
    assert!(report.report.rotation_residual < 1e-5, "{report:?}");
    let [l, r] = EYES.map(|i| frame(&pose, f.ids[i]).1 * DVec3::Z);
    assert!((l.angle_between(r) - 2.0 * (0.032f64 / 0.15).atan()).abs() < 1e-4);
}

#[test]
fn in_the_dead_zone_only_the_eyes_move() {
    let f = figure(1.0, free);
    let mut look = f.look(true);
    look.dead_zone = 0.3;
    let rest = Pose::rest(&f.skeleton);
    let front = rest.model(f.ids[5]).transform_vector3(Vec3::Z);
    let at = |angle: f32| f.eye(&rest) + Quat::from_rotation_y(angle) * front * 3.0;
    let mut state = look.state();
    let mut pose = rest.clone();
    let report = look.solve(&mut state, &mut pose, at(0.25), &Options::new()).unwrap();
    assert!((1..=5).all(|i| pose.local(f.ids[i]) == rest.local(f.ids[i])));
    assert!(report.report.rotation_residual < 1e-5 && report.report.reached());
    // Outside the dead zone, the line of sight lags by its width, and stays when the target returns a little.
    let shown = |angle: f32, look: &LookAt, state: &mut LookState| {
        let mut pose = rest.clone();
        let report = look.solve(state, &mut pose, at(angle), &Options::new()).unwrap();
        assert!(report.report.rotation_residual < 1e-5);
        report.face
    };
    assert!((shown(0.8, &look, &mut state) - 0.3).abs() < 0.02);
    assert!((shown(0.6, &look, &mut state) - 0.1).abs() < 0.02);
    assert!((shown(0.3, &look, &mut state) - 0.2).abs() < 0.02);
    assert!((shown(0.1, &look, &mut state) - 0.3).abs() < 0.02);
    // Without state it starts from the animation's direction.
    state.reset();
    assert_eq!(state, look.state());
    assert!((shown(0.4, &look, &mut state) - 0.3).abs() < 0.02);
}

/// Follows a path of the target and returns the largest turn of a joint per angle of the target, seen from the eyes.
fn steepest(f: &Figure, look: &LookAt, path: impl Fn(f32) -> Vec3) -> f32 {
    let mut state = look.state();
    let rest = Pose::rest(&f.skeleton);
    let eye = f.eye(&rest);
    const STEPS: usize = 4000;
    let mut most = 0.0f32;
    let mut last: Option<(Pose, Vec3)> = None;
    for i in 0..=STEPS {
        let way = path(i as f32 / STEPS as f32);
        let mut pose = rest.clone();
        look.solve(&mut state, &mut pose, eye + way, &Options::new()).unwrap();
        if let Some((before, from)) = &last {
            let step = f.ids.iter().map(|&j| turned(before, &pose, j)).fold(0.0, f32::max);
            most = most.max(step / from.angle_between(way).max(1e-4));
        }
        last = Some((pose, way));
    }
    most
}

#[test]
fn the_pose_goes_smoothly_round_whatever_the_target_does() {
    let f = figure(1.0, free);
    for dead_zone in [0.0, 0.2] {
        for tilt in [0.0f32, 0.02, 0.3, 0.8, PI / 2.0] {
            for eyes in [true, false] {
                let mut look = f.look(eyes);
                look.dead_zone = dead_zone;
                let turn = Quat::from_rotation_x(tilt);
                let ring = |x: f32| turn * Quat::from_rotation_y(x * 2.0 * PI) * Vec3::Z * 2.0;
                let most = steepest(&f, &look, ring);
                assert!(most < 5.0, "tilt {tilt}, dead zone {dead_zone}: {most}");
                // Over the top and down behind.
                let over = |x: f32| turn * Quat::from_rotation_x(x * 2.0 * PI) * Vec3::Z * 2.0;
                let most = steepest(&f, &look, over);
                assert!(most < 5.0, "tilt {tilt}, dead zone {dead_zone}, over: {most}");
            }
        }
    }
}

#[test]
fn straight_behind_it_looks_where_the_animation_does() {
    let f = figure(1.0, free);
    let look = f.look(true);
    let rest = Pose::rest(&f.skeleton);
    let front = rest.model(f.ids[5]).transform_vector3(Vec3::Z);
    let mut pose = rest.clone();
    look.solve(&mut look.state(), &mut pose, f.eye(&rest) - front * 2.0, &Options::new()).unwrap();
    for &j in &f.ids {
        assert!(turned(&rest, &pose, j) < 2e-3, "{}", turned(&rest, &pose, j));
    }
}

#[test]
fn a_target_that_passes_through_the_head_leads_to_no_leap() {
    let f = figure(1.0, free);
    let rest = Pose::rest(&f.skeleton);
    let (eye, front) = (f.eye(&rest), rest.model(f.ids[5]).transform_vector3(Vec3::Z));
    for side in [Vec3::X, Vec3::Y, front, Vec3::new(0.5, 0.1, 0.3)] {
        let look = f.look(true);
        let mut last = rest.clone();
        for i in -4000..=4000 {
            let target = eye + side * (i as f32 / 4000.0);
            let mut pose = rest.clone();
            look.solve(&mut look.state(), &mut pose, target, &Options::new()).unwrap();
            pose.check_finite().unwrap();
            let step = f.ids.iter().map(|&j| turned(&last, &pose, j)).fold(0.0, f32::max);
            // Steps of a quarter of a millimetre: a hundred radians a metre, as of an eye with a target 1 cm away.
            assert!(i == -4000 || step < 0.025, "{side} at {i}: {step}");
            last = pose;
        }
    }
}

#[test]
fn limits_hold_and_the_others_take_over() {
    let neck = |i: usize| if i == 4 { Joint::hinge(Vec3::X, Dof::range(-0.2, 0.2)) } else { Joint::FREE };
    let f = figure(1.0, neck);
    let look = f.look(false);
    let rest = Pose::rest(&f.skeleton);
    for d in directions() {
        let mut pose = rest.clone();
        let target = f.eye(&rest) + d * 2.0;
        let report = look.solve(&mut look.state(), &mut pose, target, &Options::new()).unwrap();
        assert!(f.skeleton.limit_excess(f.ids[4], pose.local(f.ids[4]).rotation) < 1e-5);
        if d.z > 0.6 {
            assert!(report.reached());
        }
    }
}

/// A search from a pose: random turns of all joints within their limits, kept where the face comes nearer to the target.
fn nearest(r: &mut Random, f: &Figure, mut pose: Pose, off: impl Fn(&Pose) -> f64) -> f64 {
    pose.update();
    let mut left = off(&pose);
    let (mut step, mut failed) = (0.3, 0);
    while step > 1e-5 && left > 1e-5 {
        let mut next = pose.clone();
        for &j in &f.ids {
            let turned = (r.rotation(step) * pose.local(j).rotation).normalize();
            next.set_rotation(j, f.skeleton.clamp_rotation(j, turned));
        }
        next.update();
        let nearer = off(&next);
        if nearer < left {
            (left, pose, failed) = (nearer, next, 0);
            step *= 1.2;
        } else {
            failed += 1;
            if failed > 20 {
                step *= 0.6;
                failed = 0;
            }
        }
    }
    left
}

/// Lines of joints with limits come about as near to the target as any search does, and share what one of them cannot turn.
#[test]
fn joints_with_limits_take_over_what_others_cannot_turn() {
    // Joints, kind (a ball about the bone, about anything, or a hinge), bounds of the mean angle beyond that of the search, and
    // of the number of targets in reach that are missed, of 300: fewer are ruled by a few far targets.
    let rows = [
        (1, 0, 0.005, 2),
        (1, 1, 0.005, 2),
        (1, 2, 1e-4, 0),
        (2, 0, 0.015, 12),
        (2, 1, 0.015, 12),
        (2, 2, 0.01, 6),
        (4, 0, 0.01, 9),
        (4, 1, 0.01, 9),
        (4, 2, 0.02, 15),
    ];
    for (count, kind, most, may_miss) in rows {
        let mut r = Random(0xA5 + kind);
        let (mut sum, mut missed) = (0.0, 0);
        for n in 0..300 {
            let mut b = Skeleton::builder();
            let mut last = None;
            for i in 0..count {
                let bone = if i == 0 { Vec3::ZERO } else { Vec3::Y * 0.1 };
                last = Some(b.add(format!("{i}"), last, JointTransform::from_translation(bone)));
            }
            let (mut skeleton, ids) = b.build().unwrap();
            for &j in &ids {
                let joint = match kind {
                    0 => ball(&mut r, 0.8, 0.8, |_| DVec3::Y),
                    1 => ball(&mut r, 0.8, 0.8, Random::direction),
                    _ => Joint::hinge(r.direction(), Dof::range(-r.between(0.1, 1.0), r.between(0.1, 1.0))),
                };
                skeleton.set_joint(j, joint).unwrap();
            }
            let f = Figure { skeleton: Arc::new(skeleton), ids };
            let line: Vec<_> = f.ids.iter().map(|&j| LookJoint::new(j).with_share(0.4)).collect();
            let mut look = LookAt::new(&f.skeleton, &line, Vec3::Z).unwrap();
            look.behind = 3.0;
            let mut start = Pose::rest(&f.skeleton);
            for &j in &f.ids {
                start.set_rotation(j, f.skeleton.clamp_rotation(j, start.local(j).rotation));
            }
            start.update();
            let target = loop {
                let d = r.direction();
                if d.z > -0.5 {
                    break (d * 100.0).as_vec3();
                }
            };
            let mut pose = start.clone();
            let report = look.solve(&mut look.state(), &mut pose, target, &Options::new()).unwrap();
            for &j in &f.ids {
                assert!(f.skeleton.limit_excess(j, pose.local(j).rotation) < 1e-5, "{count} {kind} {n}");
            }
            let face = |pose: &Pose| f.off(pose, f.ids.len() - 1, Vec3::ZERO, target);
            let left = face(&pose);
            assert!((left - f64::from(report.face)).abs() < 1e-5);
            let mut least = left;
            for start_at in 0..5 {
                let mut from = if start_at == 0 { pose.clone() } else { start.clone() };
                for &j in f.ids.iter().filter(|_| start_at > 1) {
                    from.set_rotation(j, f.skeleton.clamp_rotation(j, r.rotation(3.0)));
                }
                least = nearest(&mut r, &f, from, face).min(least);
            }
            sum += left - least;
            missed += usize::from(least < 1e-3 && left > 1e-3);
        }
        let mean = sum / 300.0;
        println!("{count} joints, kind {kind}: mean {mean:.4}, missed {missed}");
        assert!(mean <= most && missed <= may_miss, "{count} {kind}: {mean} {missed}");
    }
}

#[test]
fn weights_blend_without_a_leap() {
    let f = figure(1.0, free);
    let look = f.look(true);
    let rest = Pose::rest(&f.skeleton);
    for d in directions().step_by(7) {
        let mut last = rest.clone();
        for i in 0..=20 {
            let options = Options::new().with_influence(i as f32 / 20.0);
            let mut pose = rest.clone();
            look.solve(&mut look.state(), &mut pose, f.eye(&rest) + d, &options).unwrap();
            if i == 0 {
                assert_eq!(pose.locals(), rest.locals());
            }
            for &j in &f.ids {
                assert!(turned(&last, &pose, j) < 0.05);
            }
            last = pose;
        }
    }
}

#[test]
fn one_joint_is_enough() {
    let f = figure(1.0, free);
    let line = [LookJoint::new(f.ids[5]).with_share(0.0).with_cone(PI)];
    let look = LookAt::new(&f.skeleton, &line, Vec3::Z).unwrap();
    let mut pose = Pose::rest(&f.skeleton);
    let report = look.solve(&mut look.state(), &mut pose, Vec3::new(2.0, 1.0, 1.0), &Options::new()).unwrap();
    assert!(report.reached());
    // A target at the joint itself changes nothing.
    let mut pose = Pose::rest(&f.skeleton);
    let before = pose.clone();
    let target = pose.position(f.ids[5]);
    look.solve(&mut look.state(), &mut pose, target, &Options::new()).unwrap();
    assert_eq!(pose.locals(), before.locals());
}

#[test]
fn what_cannot_be_is_named() {
    let f = figure(1.0, free);
    let part = |i: usize| LookJoint::new(f.ids[i]).with_share(0.5).with_cone(1.0);
    let new = |line: &[LookJoint]| LookAt::new(&f.skeleton, line, Vec3::Z).unwrap_err();
    assert_eq!(new(&[]), LookAtError::NoJoint);
    let not = |joint: &str, above: &str| LookAtError::NotBelow { joint: joint.into(), above: above.into() };
    assert_eq!(new(&[part(5), part(4)]), not("neck", "head"));
    assert_eq!(new(&[part(4), part(4)]), not("neck", "neck"));
    let wide = part(4).with_share(1.5);
    assert!(matches!(new(&[wide]), LookAtError::OutOfRange { value: 1.5, .. }));
    let cone = part(4).with_cone(f32::NAN);
    assert!(matches!(new(&[cone]), LookAtError::OutOfRange { what: "the cone", .. }));
    assert!(LookAt::new(&f.skeleton, &[part(4)], Vec3::ZERO).is_err());
    let mut look = f.look(false);
    let eye = Eye::new(f.ids[3], Vec3::Z).with_cone(1.0);
    assert_eq!(look.set_eyes(&f.skeleton, &[eye]), Err(not("upper chest", "head")));
    let sliding =
        figure(
            1.0,
            |i| {
                if i == 4 { Joint::FREE.with_slide([Some(Dof::FREE), None, None]) } else { Joint::FREE }
            },
        );
    let line = [4, 5].map(|i| LookJoint::new(sliding.ids[i]).with_share(0.5).with_cone(1.0));
    match LookAt::new(&sliding.skeleton, &line, Vec3::Z) {
        Err(LookAtError::Joint(e)) => {
            assert_eq!((e.attribute, e.solver), (Attribute::Slider, "look-at"));
        }
        other => panic!("{other:?}"),
    }
    let refused = |change: fn(&mut LookAt), target: Vec3| {
        let (mut look, mut pose) = (f.look(true), Pose::rest(&f.skeleton));
        change(&mut look);
        let before = pose.clone();
        let error = look.solve(&mut look.state(), &mut pose, target, &Options::new()).unwrap_err();
        assert!(matches!(error, SolveError::NotFinite { .. } | SolveError::OutOfRange { .. }), "{error}");
        assert_eq!(pose.locals(), before.locals());
    };
    refused(|_| (), Vec3::new(0.0, f32::NAN, 0.0));
    for options in [Options::new().with_influence(2.0), Options::new().with_max_turn(0.0)] {
        let (look, mut pose) = (f.look(true), Pose::rest(&f.skeleton));
        assert!(look.solve(&mut look.state(), &mut pose, Vec3::ZERO, &options).is_err(), "{options:?}");
    }
    refused(|l| l.dead_zone = -0.1, Vec3::ZERO);
    refused(|l| l.behind = 3.1, Vec3::ZERO);
    refused(|l| l.near = f32::NAN, Vec3::ZERO);
    refused(|l| l.axis = Vec3::ZERO, Vec3::ZERO);
    refused(|l| l.offset = Vec3::INFINITY, Vec3::ZERO);
    // A broken pose stays as it is, and far targets are ordinary.
    let look = f.look(true);
    let mut pose = Pose::rest(&f.skeleton);
    for far in [1e18, 1e25, 3e38] {
        if look.solve(&mut look.state(), &mut pose, Vec3::new(0.3, 0.4, 0.5) * far, &Options::new()).is_ok() {
            pose.check_finite().unwrap();
        }
    }
    pose.set_rotation(f.ids[4], Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0));
    assert!(look.solve(&mut look.state(), &mut pose, Vec3::ONE, &Options::new()).is_err());
}

#[test]
fn looking_allocates_nothing() {
    let f = figure(1.0, free);
    let mut look = f.look(true);
    look.dead_zone = 0.1;
    let mut pose = Pose::rest(&f.skeleton);
    let mut state = look.state();
    let counted = allocation_counter::measure(|| {
        for d in directions() {
            let options = Options::new().with_influence(0.5 + 0.5 * d.x.abs());
            look.solve(&mut state, &mut pose, d * 3.0, &options).unwrap();
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}
