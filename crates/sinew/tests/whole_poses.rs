//! Judges operations on whole poses (blending, setting from a list, lists of changes) and joint lookup by path, by
//! definition in f64.

use crate::common;
use crate::limit_judge;

use std::sync::Arc;

use common::noise;
use proptest::{prelude::*, test_runner::RngSeed};
use sinew::{
    AffineError, Goal, JointId, JointPathError, JointTransform, Pose, PoseError, Skeleton, TransformFault,
    Workspace,
    glam::{Affine3, DAffine3, DMat3, Mat3, Quat, Vec3},
    joint::{Dof, Joint},
    math,
    solve::{Auto, IterativeOptions, LimbOptions, TwoBone},
};

struct Dice(Box<dyn FnMut() -> f32>);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(Box::new(noise(seed)))
    }

    fn below(&mut self, n: usize) -> usize {
        (((self.0)() + 1.0) * 0.5 * n as f32) as usize % n
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new((self.0)(), (self.0)(), (self.0)())
    }

    fn rotation(&mut self) -> Quat {
        let v = self.vector();
        math::normalize(Quat::from_xyzw(v.x, v.y, v.z, (self.0)() + 1e-3))
    }

    fn transform(&mut self) -> JointTransform {
        let scale = Vec3::ONE + self.vector() * 0.5;
        JointTransform { translation: self.vector(), rotation: self.rotation(), scale }
    }

    fn joint(&mut self) -> Joint {
        let mut half = || 0.2 + f64::from((self.0)() + 1.0) * 1.2;
        let (a, b, c, d) = (half(), half(), half(), half());
        let axis = self.vector() + Vec3::splat(0.01);
        match self.below(6) {
            0 => Joint::FREE,
            1 => Joint::FIXED,
            2 => Joint::hinge(axis, Dof::range(-a, b)),
            3 => Joint::ball(Vec3::Y, Vec3::X, [(-a, b), (-c, d)], (-0.5 * a, 0.5 * c)),
            4 => Joint::axes([Some(Dof::range(-a, b)), None, Some(Dof::range(0.1 * c, c + d))]),
            _ => Joint::slider(axis, Dof::range(-a, b)),
        }
    }

    /// A tree of 2 to 9 joints of all kinds.
    fn skeleton(&mut self) -> Arc<Skeleton> {
        let mut b = Skeleton::builder();
        for i in 0..2 + self.below(8) {
            let parent = (i > 0).then(|| self.below(i));
            let rest = self.transform();
            b.add(format!("{i}"), parent, rest);
        }
        let (mut skeleton, ids) = b.build().unwrap();
        for id in ids {
            let joint = self.joint();
            skeleton.set_joint(id, joint).unwrap();
        }
        Arc::new(skeleton)
    }

    /// Returns a pose within all limits.
    fn pose(&mut self, skeleton: &Arc<Skeleton>) -> Pose {
        let mut pose = Pose::rest(skeleton);
        for joint in skeleton.joints() {
            let (limits, any, rest) =
                (skeleton.limits(joint), self.transform(), skeleton.rest(joint).translation);
            let slid = limits.clamp_slide(rest, rest + any.translation * 3.0);
            let translation = if limits.slides() { slid } else { any.translation };
            let rotation = limits.clamp(any.rotation);
            pose.set_local(joint, JointTransform { translation, rotation, scale: any.scale });
        }
        pose.update();
        pose
    }
}

/// Returns the excess of a joint's slide over its range.
fn slid_out(pose: &Pose, joint: JointId) -> f64 {
    let (skeleton, local) = (pose.skeleton(), pose.local(joint).translation.as_dvec3());
    let (rest, freedom) = (skeleton.rest(joint), skeleton.joint(joint));
    let way = rest.rotation.as_dquat().normalize().inverse() * (local - rest.translation.as_dvec3());
    let slid = (freedom.slide_axes.transpose() * way).to_array();
    let out = |(dof, at): (&Option<Dof>, f64)| match dof {
        Some(dof) => (dof.range.min - at).max(at - dof.range.max),
        None => at.abs(),
    };
    freedom.slide.iter().zip(slid).map(out).fold(0.0, f64::max)
}

#[test]
fn blends_stay_within_limits_and_meet_both_ends() {
    let mut dice = Dice::new(1);
    let mut between = 0;
    for case in 0..2000 {
        let skeleton = dice.skeleton();
        let (from, to) = (dice.pose(&skeleton), dice.pose(&skeleton));
        let (mut still, mut whole) = (from.clone(), from.clone());
        still.blend(&to, 0.0).unwrap();
        assert_eq!(still.locals(), from.locals());
        whole.blend(&to, 1.0).unwrap();
        assert_eq!(whole.locals(), to.locals());
        let mut same = from.clone();
        same.blend(&from, 0.37).unwrap();
        assert_eq!(same.locals(), from.locals(), "what two poses share keeps its bits");
        let weight = 0.5 + 0.5 * (dice.0)();
        let mut blend = from.clone();
        blend.blend(&to, weight).unwrap();
        for joint in skeleton.joints() {
            let (a, b, at) = (from.local(joint), to.local(joint), blend.local(joint));
            let (freedom, rest) = (skeleton.joint(joint), skeleton.rest(joint));
            for out in limit_judge::excess(freedom, rest, at) {
                assert!(out <= 1e-5, "case {case}: {out} of {freedom:?}");
            }
            if skeleton.limits(joint).slides() {
                assert!(slid_out(&blend, joint) <= 1e-5, "case {case}: {freedom:?}");
            }
            let straight = a.translation.as_dvec3().lerp(b.translation.as_dvec3(), weight.into());
            assert!(straight.distance(at.translation.as_dvec3()) < 1e-6);
            if skeleton.limits(joint).turns_freely() {
                // The angle from the first is the influence's share of the shorter path.
                let [a, b, at] = [a, b, at].map(|t| limit_judge::matrix(t.rotation));
                let (all, part) = (limit_judge::angle(&a, &b), limit_judge::angle(&a, &at));
                assert!((part - f64::from(weight) * all).abs() < 1e-4, "case {case}: {part} of {all}");
                assert!((limit_judge::angle(&at, &b) + part - all).abs() < 1e-3);
                between += 1;
            }
        }
        // Model transforms match the local ones.
        let mut anew = Pose::rest(&skeleton);
        anew.set_locals(blend.locals()).unwrap();
        assert!(skeleton.joints().all(|j| anew.model(j) == blend.model(j)));
    }
    assert!(between > 1000, "{between}");
}

#[test]
fn what_cannot_be_blended_is_refused_and_leaves_the_pose() {
    let mut dice = Dice::new(2);
    let (skeleton, other) = (dice.skeleton(), dice.skeleton());
    let (mut pose, before) = (dice.pose(&skeleton), dice.pose(&skeleton));
    pose.copy_from(&before);
    let rest = Pose::rest(&skeleton);
    for influence in [-0.1, 1.1, f32::INFINITY] {
        assert_eq!(pose.blend(&rest, influence), Err(PoseError::Influence(influence)));
    }
    let nan = pose.blend(&rest, f32::NAN).unwrap_err();
    assert_eq!(nan.to_string(), "the influence of a blend must be 0 to 1, not NaN");
    let given = other.len();
    let error = pose.blend(&Pose::rest(&other), 0.5);
    assert_eq!(error, Err(PoseError::OtherSkeleton { given, joints: skeleton.len() }));
    // Equal skeletons are interchangeable.
    pose.blend(&Pose::rest(&Arc::new((*skeleton).clone())), 0.0).unwrap();
    let (mut free, ids) = {
        let mut builder = Skeleton::builder();
        builder.add("joint", None, JointTransform::IDENTITY);
        builder.build().unwrap()
    };
    let untouched = free.clone();
    free.set_joint(ids[0], Joint::FREE).unwrap();
    assert_eq!(free, untouched);
    Pose::rest(&Arc::new(free)).blend(&Pose::rest(&Arc::new(untouched)), 0.5).unwrap();
    let last = skeleton.joints().last().unwrap();
    for bad in [Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), Quat::from_xyzw(0.0, f32::NAN, 0.0, 1.0)] {
        let mut broken = rest.clone();
        broken.set_rotation(last, bad);
        assert!(matches!(pose.blend(&broken, 0.5), Err(PoseError::Local { joint, .. }) if joint == last));
        assert!(matches!(broken.blend(&pose, 0.5), Err(PoseError::Local { joint, .. }) if joint == last));
    }
    assert_eq!(pose.locals(), before.locals());
}

#[test]
fn all_locals_are_set_at_once_or_none() {
    let mut dice = Dice::new(3);
    for _ in 0..300 {
        let skeleton = dice.skeleton();
        let (wanted, mut pose) = (dice.pose(&skeleton), Pose::rest(&skeleton));
        pose.set_locals(wanted.locals()).unwrap();
        assert!(skeleton.joints().all(|j| pose.model(j) == wanted.model(j)));
        let kept = pose.clone();
        let joints = skeleton.len();
        let short = pose.set_locals(&wanted.locals()[1..]);
        assert_eq!(short, Err(PoseError::Count { given: joints - 1, joints }));
        let at = dice.below(joints);
        let mut locals = wanted.locals().to_vec();
        locals[0].translation += 1.0;
        locals[at].scale.z = f32::INFINITY;
        let fault = TransformFault::NotFinite(locals[at]);
        let joint = skeleton.joint_at(at).unwrap();
        let name = skeleton.name(joint).to_string();
        assert_eq!(pose.set_locals(&locals), Err(PoseError::Local { joint, name, fault }));
        assert_eq!(pose.locals(), kept.locals());
        // A rotation that is not of unit length is normalised.
        locals[at] = *wanted.local(joint);
        locals[at].rotation *= 1.5;
        pose.set_locals(&locals).unwrap();
        assert!((math::dot(pose.local(joint).rotation, pose.local(joint).rotation) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn writing_what_changed_keeps_a_copy_in_step() {
    // A game's nodes that receive only the changes match the pose in each frame, whatever moved it.
    let mut b = Skeleton::builder();
    let hips = b.add("hips", None, JointTransform::from_translation(Vec3::Y));
    for x in [0.1, -0.1] {
        let thigh = b.add("thigh", Some(hips), JointTransform::from_translation(Vec3::X * x));
        let shin = b.add("shin", Some(thigh), JointTransform::from_translation(Vec3::new(0.0, -0.45, 0.03)));
        b.add("foot", Some(shin), JointTransform::from_translation(Vec3::new(0.0, -0.45, -0.03)));
    }
    let (skeleton, ids) = b.build().unwrap();
    let skeleton = Arc::new(skeleton);
    let leg = TwoBone::new(&skeleton, ids[1], ids[2], ids[3]).unwrap();
    let other = Auto::new(&skeleton, ids[4], ids[6]).unwrap();
    let mut dice = Dice::new(4);
    let (mut pose, mut animation) = (Pose::rest(&skeleton), Pose::rest(&skeleton));
    skeleton.joints().for_each(|j| animation.set_rotation(j, dice.rotation()));
    let (mut nodes, mut workspace) = (pose.locals().to_vec(), Workspace::new());
    let mut unmoved = 0;
    for frame in 0..500 {
        match frame % 5 {
            0 => pose.copy_from(&animation),
            1 => pose.reset(),
            2 => pose.blend(&animation, 0.5).unwrap(),
            _ => {}
        }
        let goal = Goal::position(Vec3::new(0.2, 0.4, 0.1) + dice.vector() * 0.1);
        let allocated = allocation_counter::measure(|| {
            leg.solve(&mut pose, &goal, &LimbOptions::new()).unwrap();
            if frame % 3 == 0 {
                other.solve(&mut workspace, &mut pose, &goal, &IterativeOptions::new()).unwrap();
            }
            for joint in pose.changed() {
                nodes[joint.index()] = *pose.local(joint);
            }
            unmoved += skeleton.len() - pose.changed().count();
            pose.mark_unchanged();
        });
        assert!(allocated.count_total == 0 || frame == 0, "frame {frame}: {allocated:?}");
        assert_eq!(nodes, pose.locals(), "frame {frame}");
        assert_eq!(pose.changed().count(), 0);
    }
    assert!(unmoved > 500, "only what has changed is written");
    // Joints that a solver leaves, or that are restored, have not changed.
    let goal = Goal::position(pose.position(ids[3]));
    leg.solve(&mut pose, &goal, &LimbOptions::new()).unwrap();
    let kept = *pose.local(ids[1]);
    pose.turn(ids[1], Quat::from_rotation_x(0.2));
    assert_eq!(pose.changed().collect::<Vec<_>>(), [ids[1]]);
    assert_eq!(pose.clone().changed().collect::<Vec<_>>(), [ids[1]]);
    pose.set_local(ids[1], kept);
    assert_eq!(pose.changed().next(), None);
}

#[test]
fn paths_find_every_joint_and_say_where_they_end() {
    let mut dice = Dice::new(5);
    let names = ["a", "b", "a/b", "", "b/", "/a", "#0"];
    let mut ambiguous = 0;
    for _ in 0..2000 {
        let mut b = Skeleton::builder();
        let count = 1 + dice.below(7);
        for i in 0..count {
            let parent = (i > 0 && dice.below(4) > 0).then(|| dice.below(i.max(1)));
            b.add(names[dice.below(names.len())], parent, JointTransform::IDENTITY);
        }
        let (skeleton, _) = b.build().unwrap();
        // By definition: the path is a suffix of the joint's own that starts at a name, or all of it behind a slash.
        let ends = |joint: JointId| {
            let mut ends = vec![];
            let mut path = String::new();
            for (n, j) in core::iter::once(joint).chain(skeleton.ancestors(joint)).enumerate() {
                path = if n == 0 { skeleton.name(j).into() } else { format!("{}/{path}", skeleton.name(j)) };
                ends.push(path.clone());
            }
            ends.push(format!("/{path}"));
            ends
        };
        let all: Vec<(JointId, Vec<String>)> = skeleton.joints().map(|j| (j, ends(j))).collect();
        for (joint, paths) in &all {
            assert_eq!(skeleton.path(*joint), paths[paths.len() - 2]);
            for path in paths {
                let wanted: Vec<_> =
                    all.iter().filter(|(_, paths)| paths.contains(path)).map(|(j, _)| *j).collect();
                assert_eq!(skeleton.joints_by_path(path).collect::<Vec<_>>(), wanted, "{path}");
                match skeleton.joint_by_path(path) {
                    Ok(found) => assert_eq!([found], wanted[..]),
                    Err(JointPathError::Ambiguous { count, paths, .. }) => {
                        assert!(count > 1 && count == wanted.len() && paths.len() == count.min(8));
                        ambiguous += 1;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    assert!(ambiguous > 1000);

    let mut b = Skeleton::builder();
    let hips = b.add("hips", None, JointTransform::IDENTITY);
    let spine = b.add("spine", Some(hips), JointTransform::IDENTITY);
    b.add("chest", Some(spine), JointTransform::IDENTITY);
    b.add("tail", Some(spine), JointTransform::IDENTITY);
    let (skeleton, _) = b.build().unwrap();
    for (path, says) in [
        ("hips/spine/neck/head", "below `hips/spine` there is `chest`, `tail`"),
        ("spine/chest/head", "below `hips/spine/chest` there is nothing"),
        ("hip/spine", "no beginning of it leads to one"),
        ("/spine/chest", "no beginning of it leads to one"),
        ("", "no beginning of it leads to one"),
    ] {
        let error = skeleton.joint_by_path(path).unwrap_err();
        assert_eq!(error.to_string(), format!("there is no joint `{path}`: {says}"));
    }
}

fn wide(m: &Affine3) -> DAffine3 {
    DAffine3 { matrix3: m.matrix3.as_dmat3(), translation: m.translation.as_dvec3() }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 5000, rng_seed: RngSeed::Fixed(6), failure_persistence: None, ..Default::default()
    })]

    #[test]
    fn transforms_are_matrices_and_come_back(
        seed in any::<u64>(), sizes in prop::array::uniform3(-30f32..30.0), mirrored in 0usize..8, skew in 0f32..0.5,
    ) {
        let mut dice = Dice::new(seed);
        let scale = Vec3::from_array([0, 1, 2].map(|i| sizes[i].exp() * [1.0, -1.0][mirrored >> i & 1]));
        let local = JointTransform { scale, ..dice.transform() };
        // In f64, by definition of the parts.
        let rotation = DMat3::from_quat(local.rotation.as_dquat().normalize());
        let judged = rotation * DMat3::from_diagonal(scale.as_dvec3());
        let matrix = Affine3::from(local);
        let back = JointTransform::try_from(matrix).unwrap();
        prop_assert_eq!(back.translation, local.translation);
        for m in [matrix, Affine3::from(back)] {
            for (is, wanted) in [(m.matrix3.x_axis, judged.x_axis), (m.matrix3.y_axis, judged.y_axis), (m.matrix3.z_axis, judged.z_axis)] {
                prop_assert!(is.as_dvec3().distance(wanted) <= 2e-6 * wanted.length(), "{is} {wanted}");
            }
        }
        // The sign of the volume is kept, and a mirror reverses all axes.
        prop_assert_eq!(back.scale.x < 0.0, wide(&matrix).matrix3.determinant() < 0.0);
        prop_assert!(back.scale.abs().abs_diff_eq(scale.abs(), 1e-5 * scale.abs().max_element()));

        // An axis at an angle is a shear by the angle's sine, whatever the scales.
        let lean = Mat3::from_cols(Vec3::X, Vec3::new(skew, (1.0 - skew * skew).sqrt(), 0.0), Vec3::Z);
        let sheared = math::to_matrix(local.rotation) * lean * Mat3::from_diagonal(scale);
        match JointTransform::try_from(Affine3::from_mat3(sheared)) {
            Ok(_) => prop_assert!(skew < 1.001e-3),
            Err(AffineError::Sheared { shear, .. }) => prop_assert!((shear - skew).abs() < 1e-5 && skew > 0.999e-3),
            Err(error) => prop_assert!(false, "{error}"),
        }
        // An axis without length, or all axes in one plane.
        let mut flat = matrix;
        *flat.matrix3.col_mut(mirrored % 3) = Vec3::ZERO;
        let Err(AffineError::Scale { scale: none, .. }) = JointTransform::try_from(flat) else { panic!("{flat}") };
        prop_assert_eq!(none, 0.0);
        *flat.matrix3.col_mut(mirrored % 3) = flat.matrix3.col((mirrored + 1) % 3) + flat.matrix3.col((mirrored + 2) % 3);
        let is_sheared = matches!(JointTransform::try_from(flat), Err(AffineError::Sheared { .. }));
        prop_assert!(is_sheared);
        flat.translation.y = f32::NAN;
        let is_refused = matches!(JointTransform::try_from(flat), Err(AffineError::NotFinite { .. }));
        prop_assert!(is_refused);
    }
}
