//! Judges CCD by the numbers of three.js's tests: nine cases of one link whose end is a metre from it. Its limits are Euler
//! angles in some order; with one axis alone the order has no effect.

use crate::held;

use std::f64::consts::{PI, TAU};

use held::held;
use sinew::{
    Chain, Goal, JointTransform, Pose, Skeleton,
    glam::{DVec3, Vec3},
    joint::{Dof, Joint, JointFault},
    math,
    solve::{Ccd, Tolerance},
};

/// The oracle's tolerance is 1e-6 in f64.
const NEAR: f64 = 2e-6;

/// Expected result: the angle after a solve, or a refusal of the limits.
enum Expect {
    Angle(f64),
    Refused,
}
use Expect::{Angle, Refused};

struct Case {
    what: &'static str,
    axis: DVec3,
    initial: f64,
    target: f64,
    /// None where the axis has no limits.
    range: Option<(f64, f64)>,
    weight: f32,
    expect: Expect,
}

fn cases() -> Vec<Case> {
    let case = |what, initial, target, range, expect| Case {
        what,
        axis: DVec3::X,
        initial,
        target,
        range,
        weight: 1.0,
        expect,
    };
    let quarter = 0.25 * PI;
    let mut all = Vec::new();
    for axis in DVec3::AXES {
        for sign in [-1.0, 1.0] {
            let min = if sign < 0.0 { -5.0 * quarter } else { 3.0 * quarter };
            let target = sign * (PI + 0.2);
            let wrapped = case(
                "wrapped limits on outer axes",
                sign * (PI - 0.1),
                target,
                Some((min, min + 2.0 * quarter)),
                Angle(target),
            );
            all.push(Case { axis, ..wrapped });
        }
    }
    for min in [-5.0 * quarter, 3.0 * quarter] {
        for target in [0.5 * PI, -0.5 * PI] {
            let expected = if target > 0.0 { 3.0 * quarter } else { -3.0 * quarter };
            let what = "the nearer wrapped boundary";
            all.push(case(what, PI - 0.1, target, Some((min, min + 2.0 * quarter)), Angle(expected)));
        }
    }
    let shifted = Some((11.0 * quarter, 13.0 * quarter));
    all.push(case("limits shifted by a full turn", PI - 0.1, PI - 0.2, shifted, Angle(PI - 0.2)));
    for target in [-0.2f64, 0.2, -1.0, 1.0, -3.0] {
        let expected = target.clamp(0.0, quarter);
        all.push(case("ordinary limits", 0.1, target, Some((0.0, quarter)), Angle(expected)));
    }
    let pi = f64::from(std::f32::consts::PI);
    for (sign, range) in [(-1.0, (-pi, -0.0087)), (1.0, (0.0087, pi))] {
        let expected = Angle(sign * 0.0087);
        all.push(case("boundaries of pi in f32", sign * 0.1, -sign * 2.0, Some(range), expected));
    }
    all.push(case("no limits", 0.1, 0.2, None, Angle(0.2)));
    for range in [
        (f64::NEG_INFINITY, f64::INFINITY),
        (-5.0 * quarter, f64::INFINITY),
        (f64::NEG_INFINITY, 5.0 * quarter),
    ] {
        all.push(case("infinite and single-sided limits", 0.1, 0.2, Some(range), Angle(0.2)));
    }
    // The oracle returns the maximum, five radians away from the goal. Here a range that ends before it begins is refused.
    all.push(case("inverted limits", 0.1, 0.2, Some((5.0, -5.0)), Refused));
    let wrapped = Some((-5.0 * quarter, -3.0 * quarter));
    let half = case("half of a wrapped result", PI - 0.1, PI - 0.2, wrapped, Angle(PI - 0.15));
    all.push(Case { weight: 0.5, ..half });
    all.push(case("negative rotations", 0.1, -0.2, Some((-quarter, quarter)), Angle(-0.2)));
    all
}

#[test]
fn one_link_turns_as_three_js_s_does() {
    for Case { what, axis, initial, target, range, weight, expect } in cases() {
        let mut builder = Skeleton::builder();
        builder.add("link", None, JointTransform::IDENTITY);
        let (mut skeleton, ids) = builder.build().unwrap();
        let dof = range.map_or(Dof::FREE, |(min, max)| Dof::range(min, max));
        let joint = skeleton.set_joint(ids[0], Joint::hinge(axis, dof));
        let Angle(expected) = expect else {
            let fault = joint.expect_err(what).to_string();
            let range = JointFault::Range { what: "", min: 0.0, max: 0.0 }.to_string();
            assert!(fault.contains(&range[range.len() - 40..]), "{what}: {fault}");
            continue;
        };
        joint.unwrap_or_else(|e| panic!("{what}: {e}"));
        let skeleton = std::sync::Arc::new(skeleton);
        let (about, arm) = (axis.as_vec3(), if axis == DVec3::Z { Vec3::X } else { Vec3::Z });
        let chain = Chain::new(&skeleton, ids[0], ids[0]).unwrap().with_tip_offset(&skeleton, arm).unwrap();
        let mut solver = held(Ccd::from_chain(&skeleton, chain.clone()).unwrap());
        (solver.options.influence, solver.options.position_tolerance) = (weight, Tolerance::Share(1e-7));
        let turned = |angle: f64| math::rotate(math::axis_angle(about, (angle % TAU) as f32), arm);
        let mut pose = Pose::rest(&skeleton);
        pose.set_rotation(ids[0], math::axis_angle(about, initial as f32));
        pose.update();
        // A partial weight covers half of the remaining angle in each solve.
        for round in 0..if weight < 1.0 { 1 } else { 3 } {
            solver.solve(&mut pose, &Goal::position(turned(target))).unwrap();
            let off = chain.end(&pose).as_dvec3().distance(turned(expected).as_dvec3());
            let angle = math::angle_between(
                pose.local(ids[0]).rotation,
                math::axis_angle(about, (expected % TAU) as f32),
            );
            assert!(
                off < NEAR && f64::from(angle) < NEAR,
                "{what} about {axis}, from {initial} to {target}, round {round}: {off:e}, {angle:e}"
            );
        }
    }
}
