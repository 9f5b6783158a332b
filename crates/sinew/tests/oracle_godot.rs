//! Judges swing limits by the numbers of Godot's tests of one cone: thirteen cases. Limits of several cones with paths
//! between them do not exist here, so its other cases are left out.

use crate::promises::judge;

use std::f64::consts::PI;

use sinew::{
    JointTransform, Skeleton,
    glam::{Quat, Vec3},
    joint::{Joint, JointFault},
};

/// The oracle's tolerance on an angle, in radians.
const LOOSE: f64 = 0.01;
/// The oracle's tolerance on a direction.
const CLOSE: f64 = 1e-5;

/// Expected direction of a row.
#[derive(Clone, Copy, PartialEq)]
enum Expect {
    /// The input direction.
    Same,
    /// One within the cone that differs from the input.
    Within,
    /// Any finite direction.
    Finite,
    /// The limit is refused.
    Refused,
}

#[test]
fn cones_answer_as_godots_do() {
    let (x, z) = (Vec3::X, Vec3::Z);
    let deg = |angle: f64| angle.to_radians();
    // A direction at an angle from +Z, rotated about X as in the oracle.
    let off = |angle: f64| Quat::from_rotation_x(angle as f32) * z;
    // Case; the cone's axis; its half angle, none where the joint is free; the input direction; the expected output.
    let rows = [
        ("inside: the middle", z, Some(deg(30.0)), z, Expect::Same),
        ("inside: half way out", z, Some(deg(30.0)), off(deg(15.0)), Expect::Same),
        ("outside", z, Some(deg(30.0)), x, Expect::Within),
        // A cone without width would be a hinge, which the error says; the oracle returns the axis.
        ("zero radius: the middle", z, Some(0.0), z, Expect::Refused),
        ("zero radius: outside", z, Some(0.0), x, Expect::Refused),
        ("no cones", z, None, x, Expect::Same),
        ("orientationally unconstrained", z, None, x, Expect::Same),
        ("large radius", z, Some(deg(170.0)), x, Expect::Same),
        ("parallel vectors", x, Some(deg(30.0)), x * 2.0, Expect::Same),
        ("opposite direction", z, Some(deg(30.0)), -z, Expect::Within),
        ("on the boundary", z, Some(deg(30.0)), off(deg(30.0)), Expect::Same),
        ("very small radius: the middle", z, Some(deg(0.1)), z, Expect::Same),
        ("very small radius: outside", z, Some(deg(0.1)), off(deg(0.15)), Expect::Within),
        // Beyond 3 radians f32 loses the twist, and a swing is free or more limited; the oracle accepts any cone.
        ("near the largest radius", z, Some(PI - 0.01), x, Expect::Refused),
        ("without a rotation", z, Some(deg(30.0)), x, Expect::Finite),
        ("constrained without cones", z, None, x, Expect::Same),
    ];
    let mut failures = Vec::new();
    for (case, middle, radius, came, expect) in rows {
        let joint = radius.map_or(Joint::FREE, |r| Joint::cone(middle.as_dvec3(), r, PI));
        if expect == Expect::Refused {
            let fault = joint.check();
            if !matches!(fault, Err(JointFault::NoWidth { .. } | JointFault::TooWide { .. })) {
                failures.push(format!("{case}: {fault:?}"));
            }
            continue;
        }
        let mut b = Skeleton::builder();
        b.add("joint", None, JointTransform::IDENTITY);
        let (mut skeleton, ids) = b.build().unwrap();
        skeleton.set_joint(ids[0], joint).unwrap();
        let turn = Quat::from_rotation_arc(middle, came.normalize());
        let left = skeleton.clamp_rotation(ids[0], turn) * middle;
        let [left, came, middle] = [left, came, middle].map(|d| judge::unit(judge::v(d)));
        let angle = |a, b| judge::length(judge::cross(a, b)).atan2(judge::dot(a, b));
        let inside = radius.is_none_or(|r| angle(left, middle) <= r + LOOSE);
        let kept = angle(left, came) < CLOSE;
        let finite = left.iter().all(|c| c.is_finite());
        let sound = match expect {
            Expect::Same => kept,
            Expect::Within => !kept && inside,
            Expect::Finite => inside,
            Expect::Refused => false,
        };
        if !(finite && sound) {
            failures.push(format!("{case}: {left:?} of {came:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
