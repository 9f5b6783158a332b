//! Judges limbs with a pole that are straight or folded in the input pose, by forward kinematics in f64.

use crate::common;
use crate::promises::judge;

use std::sync::Arc;

use common::noise;
use judge::{V, cross, dot, length, scale, sub, unit};
use sinew::{
    Goal, JointId, JointTransform, Pole, Pose, Skeleton,
    glam::{Quat, Vec3},
    math,
    solve::{BendSide, LimbOptions, TwoBone},
};

/// Random numbers, vectors and rotations.
struct Dice(Box<dyn FnMut() -> f32>);

impl Dice {
    fn vector(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(self.0(), self.0(), self.0());
            if v.length() > 0.1 {
                return v;
            }
        }
    }

    fn rotation(&mut self) -> Quat {
        let v = self.vector();
        math::normalize(Quat::from_xyzw(v.x, v.y, v.z, self.0()))
    }
}

/// A limb whose bones lie in one line: straight, or folded.
fn limb(dice: &mut Dice, folded: bool) -> (Pose, [JointId; 3], Vec3) {
    let mut b = Skeleton::builder();
    let at = |translation, rotation| JointTransform { translation, rotation, scale: Vec3::ONE };
    let (along, turn) = (dice.vector().normalize(), dice.rotation());
    let (upper, lower) = (0.3 + 0.2 * (dice.0)(), 0.3 + 0.2 * (dice.0)());
    let body = b.add("body", None, at(dice.vector(), dice.rotation()));
    let root = b.add("root", Some(body), at(dice.vector(), dice.rotation()));
    let middle = b.add("middle", Some(root), at(along * upper, turn));
    let below = math::rotate(math::conjugate(turn), along) * if folded { -lower } else { lower };
    let tip = b.add("tip", Some(middle), at(below, Quat::IDENTITY));
    let (skeleton, ids) = b.build().unwrap();
    (Pose::rest(&Arc::new(skeleton)), [ids[root], ids[middle], ids[tip]], below)
}

/// Returns a pole at least fifteen degrees off the line.
fn pole(dice: &mut Dice, root: Vec3, line: Vec3) -> (Pole, Vec3) {
    loop {
        let p = dice.vector();
        if p.normalize().cross(line.normalize()).length() > 0.26 {
            let far = root + p * 3.0;
            return if (dice.0)() > 0.0 { (Pole::Point(far), far - root) } else { (Pole::Direction(p), p) };
        }
    }
}

fn across(axis: V, v: V) -> V {
    unit(sub(v, scale(axis, dot(v, axis))))
}

fn angle(a: V, b: V) -> f64 {
    length(cross(a, b)).atan2(dot(a, b))
}

#[test]
fn the_side_to_which_a_straight_limbs_hinge_bends_faces_the_pole() {
    let mut dice = Dice(Box::new(noise(12)));
    for case in 0..6000 {
        let (rest, [root, middle, tip], bone) = limb(&mut dice, case % 5 == 4);
        let mut solver = TwoBone::new(rest.skeleton(), root, middle, tip).unwrap();
        let hinge = loop {
            let h = dice.vector();
            if h.normalize().cross(bone.normalize()).length() > 0.3 {
                break h;
            }
        };
        let side = [BendSide::Keep, BendSide::Positive, BendSide::Negative][case % 3];
        solver = solver.with_hinge(hinge).with_side(side).unwrap();
        let (soft, min_flexion) = [(0.0, 0.0), (0.2, 0.0), (0.0, 0.3)][case / 3 % 3];
        let options = LimbOptions::new().with_soft(soft).with_min_flexion(min_flexion);
        let (a, b) = solver.lengths(&rest);
        let part = [0.0, 0.3, 0.8, 0.999, 1.0, 1.0001, 1.3, 1e3][case / 9 % 8];
        // From folded to far out of reach.
        let distance =
            if part < 1.0 { (a - b).abs() * (1.0 - part) + (a + b) * part } else { (a + b) * part };
        if distance < 1e-3 {
            continue;
        }
        let at = rest.position(root);
        let way = dice.vector().normalize();
        let goal = at + way * distance;
        let (pole, wanted) = pole(&mut dice, at, way);
        let mut pose = rest.clone();
        for round in 0..2 {
            // Normal of the plane in which the hinge bends the input limb, in the root's frame. A bend keeps it.
            let sign = if side == BendSide::Negative { -1.0 } else { 1.0 };
            let [r, m, t] = [root, middle, tip].map(|j| judge::position(&pose, j));
            let bones = unit(sub(m, r));
            let straight = length(cross(bones, sub(t, m))) < 1e-3 * f64::from(b);
            let model = across(bones, scale(judge::frame(&pose, middle).vector(judge::v(hinge)), sign));
            let normal = judge::frame(&pose, root).columns.map(|c| dot(c, model));
            let report = solver.solve(&mut pose, &Goal::position(goal).with_pole(pole), &options).unwrap();
            let (r, m) = (judge::position(&pose, root), judge::position(&pose, middle));
            let axis = unit(sub(judge::v(goal), r));
            let normal = judge::frame(&pose, root).vector(normal);
            let off = angle(across(axis, cross(axis, normal)), across(axis, judge::v(wanted)));
            let bent = sub(m, r);
            let turned = across(unit(bent), scale(judge::frame(&pose, middle).vector(judge::v(hinge)), sign));
            let c = length(cross(bent, sub(judge::position(&pose, tip), m))) / f64::from(a * b);
            if straight && c < 1e-4 {
                let off = angle(turned, normal);
                assert!(off < 1e-2, "case {case}: the hinge goes along, but for {off}");
            }
            let knee = length(sub(bent, scale(axis, dot(bent, axis))));
            // (The first solve's bend gives the second a plane of its own.)
            if straight {
                assert!(
                    off < 1e-3,
                    "case {case}, round {round}, at {part}: the hinge is {off} off, {report:?}"
                );
            }
            if knee > 1e-2 * f64::from(a) {
                let off = angle(across(axis, bent), across(axis, judge::v(wanted)));
                assert!(
                    off < 1e-3,
                    "case {case}, round {round}, at {part}: the knee is {off} off, {report:?}"
                );
            }
            // The limb bends about its hinge.
            let c = cross(bent, sub(judge::position(&pose, tip), m));
            if straight && length(c) > 1e-2 * f64::from(a * b) {
                let off = angle(c, normal);
                assert!(off < 1e-3, "case {case}: bends {off} off its hinge");
            }
        }
    }
}

#[test]
fn a_straight_limb_without_a_hinge_makes_no_roll() {
    let mut dice = Dice(Box::new(noise(13)));
    for case in 0..3000 {
        let (rest, [root, middle, tip], _) = limb(&mut dice, false);
        let solver = TwoBone::new(rest.skeleton(), root, middle, tip).unwrap();
        assert_eq!(solver.hinge(), None);
        let (a, b) = solver.lengths(&rest);
        let at = rest.position(root);
        let way = dice.vector().normalize();
        let goal = at + way * ((a + b) * [0.75, 0.95, 1.0, 1.01, 2.0, 1e3][case % 6]);
        let (pole, wanted) = pole(&mut dice, at, way);
        let mut pose = rest.clone();
        let report =
            solver.solve(&mut pose, &Goal::position(goal).with_pole(pole), &LimbOptions::new()).unwrap();
        // The limb rotates by the shortest arc: the axis perpendicular to the old and the new line is fixed.
        let r = judge::position(&rest, root);
        let (from, to) = (unit(sub(judge::position(&rest, tip), r)), unit(sub(judge::v(goal), r)));
        let normal = cross(from, to);
        if length(normal) < 0.1 {
            continue;
        }
        let knee = sub(judge::position(&pose, middle), r);
        let knee_off = length(sub(knee, scale(to, dot(knee, to))));
        if knee_off > 1e-2 * f64::from(a) {
            let off = angle(across(to, knee), across(to, judge::v(wanted)));
            assert!(off < 1e-3, "case {case}: the knee is {off} off, {report:?}");
        } else {
            let (before, after) = (judge::frame(&rest, root), judge::frame(&pose, root));
            // The normal in the root's frame, carried along by the rotation.
            let n = unit(normal);
            let own = [0, 1, 2].map(|i| dot(before.columns[i], n));
            let carried = after.vector(own);
            let off = angle(carried, n);
            assert!(off < 2e-3, "case {case}: rolled by {off}, {report:?}");
        }
    }
}

/// Without a pole, a thousand straight limbs give the recorded bits.
#[test]
fn a_straight_limb_that_keeps_its_plane_keeps_its_bits() {
    let mut dice = Dice(Box::new(noise(14)));
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for case in 0..1000 {
        let (mut pose, [root, middle, tip], _) = limb(&mut dice, case % 4 == 3);
        let mut solver = TwoBone::new(pose.skeleton(), root, middle, tip).unwrap();
        solver = solver.with_hinge((case % 3 > 0).then(|| dice.vector()));
        let (a, b) = solver.lengths(&pose);
        let goal = pose.position(root) + dice.vector() * (a + b);
        solver.solve(&mut pose, &Goal::position(goal), &LimbOptions::new()).unwrap();
        for joint in [root, middle] {
            for bits in pose.local(joint).rotation.to_array().map(f32::to_bits) {
                hash = (hash ^ u64::from(bits)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    assert_eq!(hash, 0x417e_8537_4ce1_a9df, "{hash:#018x}");
}
