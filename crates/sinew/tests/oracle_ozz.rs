//! Judges limbs and aims by the numbers of ozz-animation's tests of its two-bone and aim jobs: twelve cases of each, under
//! its names.
//!
//! Its corrections are rotations of joints in their own frames. Its middle axis opens the limb, so that a limb flexes to
//! [`BendSide::Negative`] about it. Its `soften` is the start of the soft zone, and our `soft` the width.

use crate::promises::judge;

use std::{
    f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_3, FRAC_PI_4, FRAC_PI_6, PI, SQRT_2, TAU},
    sync::Arc,
};

use sinew::{
    Goal, JointId, JointTransform, Pole, Pose, Skeleton, SolveError,
    glam::{Quat, Vec3},
    solve::{Aim, AimUp, BendSide, LimbOptions, Options, TwoBone},
};

/// The tolerance of the oracle on each number of a quaternion.
const CLOSE: f32 = 2e-3;
/// The oracle's distance in metres below which a goal is reached.
const NEAR: f64 = 1e-2;

/// Returns the rotation about an axis by an angle in radians.
fn about(axis: Vec3, angle: f32) -> Quat {
    Quat::from_axis_angle(axis.normalize(), angle)
}

/// Parents under which the oracle repeats cases: none, moved, rotated, scaled, scaled unequally, mirrored.
fn parents() -> [JointTransform; 6] {
    let scaled = |s: Vec3| JointTransform { scale: s, ..JointTransform::IDENTITY };
    [
        JointTransform::IDENTITY,
        JointTransform::from_translation(Vec3::Y),
        JointTransform { rotation: about(Vec3::Y, FRAC_PI_3), ..JointTransform::IDENTITY },
        scaled(Vec3::splat(2.0)),
        scaled(Vec3::new(1.0, 2.0, 1.0)),
        scaled(Vec3::splat(-3.0)),
    ]
}

/// Returns the rotation of a joint between two poses, in its own frame.
fn correction(before: &Pose, after: &Pose, joint: JointId) -> Quat {
    before.local(joint).rotation.inverse() * after.local(joint).rotation
}

/// Whether two quaternions are one rotation to the oracle's tolerance.
fn same(a: Quat, b: Quat) -> bool {
    a.abs_diff_eq(b, CLOSE) || a.abs_diff_eq(-b, CLOSE)
}

fn rotation_only(rotation: Quat, translation: Vec3) -> JointTransform {
    JointTransform { translation, rotation, scale: Vec3::ONE }
}

/// Expected result of a limb.
#[derive(Clone, Copy)]
enum Limb {
    /// Corrections of the start and the middle joint, where the oracle defines them, and whether the goal is reached.
    Turns(Option<Quat>, Option<Quat>, Option<bool>),
    /// The solver refuses, and the pose keeps its bits.
    Refused,
}

struct LimbRow {
    case: &'static str,
    /// Parent of the limb.
    parent: JointTransform,
    /// Local transforms of start, middle and end.
    joints: [JointTransform; 3],
    /// The oracle's middle axis.
    axis: Option<Vec3>,
    pole: Pole,
    goal: Vec3,
    soften: f32,
    twist: f32,
    weight: f32,
    expect: Limb,
}

/// The oracle's limb: a metre up, then a metre along X, bent by a right angle.
fn bent() -> [JointTransform; 3] {
    [
        JointTransform::IDENTITY,
        rotation_only(about(Vec3::Z, FRAC_PI_2), Vec3::Y),
        // Seen from the middle joint, whose Y is the model's -X.
        JointTransform::from_translation(Vec3::NEG_Y),
    ]
}

impl LimbRow {
    fn new(case: &'static str, goal: Vec3, start: Quat, middle: Quat) -> Self {
        Self {
            case,
            parent: JointTransform::IDENTITY,
            joints: bent(),
            axis: Some(Vec3::Z),
            pole: Pole::Direction(Vec3::Y),
            goal,
            soften: 1.0,
            twist: 0.0,
            weight: 1.0,
            expect: Limb::Turns(Some(start), Some(middle), Some(true)),
        }
    }
}

fn limb_rows() -> Vec<LimbRow> {
    let id = Quat::IDENTITY;
    let (x, y, z) = (Vec3::X, Vec3::Y, Vec3::Z);
    let here = Vec3::new(1.0, 1.0, 0.0);
    let straight = (about(z, -FRAC_PI_2), about(z, FRAC_PI_2));
    let row = LimbRow::new;
    let mut rows = vec![
        // The oracle refuses missing joints, which do not exist here, and an axis of length 0.7; ours accepts any length.
        LimbRow {
            axis: Some(Vec3::new(0.0, 0.0, FRAC_1_SQRT_2)),
            ..row("JobValidity: an axis of any length", here, id, id)
        },
    ];
    for parent in parents() {
        let point = |p: Vec3| parent.to_affine().transform_point3(p);
        for (goal, start) in [
            (here, id),
            (Vec3::new(0.0, 1.0, 1.0), about(y, -FRAC_PI_2)),
            (Vec3::new(-1.0, 1.0, 0.0), about(y, PI)),
            (Vec3::new(0.0, 1.0, -1.0), about(y, FRAC_PI_2)),
        ] {
            let pole = Pole::Direction(parent.to_affine().transform_vector3(y));
            rows.push(LimbRow { parent, pole, ..row("StartJointCorrection", point(goal), start, id) });
        }
    }
    for (pole, goal, start) in [
        (y, here, id),
        (z, Vec3::new(1.0, 0.0, 1.0), about(x, FRAC_PI_2)),
        (-z, Vec3::new(1.0, 0.0, -1.0), about(x, -FRAC_PI_2)),
        (x, Vec3::new(1.0, -1.0, 0.0), about(z, -FRAC_PI_2)),
        (-x, Vec3::new(-1.0, 1.0, 0.0), about(z, FRAC_PI_2)),
    ] {
        rows.push(LimbRow { pole: Pole::Direction(pole), ..row("Pole", goal, start, id) });
    }
    let zero = JointTransform { scale: Vec3::ZERO, ..JointTransform::IDENTITY };
    rows.push(LimbRow {
        joints: [zero, JointTransform::IDENTITY, JointTransform::IDENTITY],
        axis: None,
        pole: Pole::Keep,
        // The oracle returns identity corrections. Here a limb without size is an error, which leaves the joints as they are
        // too.
        expect: Limb::Refused,
        ..row("ZeroScale", Vec3::ZERO, id, id)
    });
    rows.push(row("Soften: a hard end", x * 2.0, straight.0, straight.1));
    for (distance, soften, reached) in [
        (2.0 * 0.5, 0.5, true),
        (2.0 * 0.4, 0.5, true),
        (2.0 * 0.6, 0.5, false),
        (2.0 * 0.6, 0.0, false),
        (2.0, 0.5, false),
        (3.0, 1.0, false),
    ] {
        let expect = Limb::Turns(None, None, Some(reached));
        rows.push(LimbRow { soften, expect, ..row("Soften", x * distance, id, id) });
    }
    let half_way = Vec3::new(1.0, 1.0, 0.0);
    for (twist, start) in
        [(0.0, id), (FRAC_PI_2, about(half_way, FRAC_PI_2)), (PI, about(half_way, -PI)), (TAU, id)]
    {
        rows.push(LimbRow { twist, ..row("Twist", here, start, id) });
    }
    rows.push(row("Weight: all", x * 2.0, straight.0, straight.1));
    for weight in [1.1, -0.1] {
        // The oracle clamps the weight; here a weight outside 0 to 1 is an error.
        rows.push(LimbRow { weight, expect: Limb::Refused, ..row("Weight: outside", x * 2.0, id, id) });
    }
    for (weight, part) in [(0.0, 0.0), (0.5, 0.5)] {
        let turn = |angle: f32| Some(about(z, angle * part));
        let expect = Limb::Turns(turn(-FRAC_PI_2), turn(FRAC_PI_2), Some(false));
        rows.push(LimbRow { weight, expect, ..row("Weight", x * 2.0, id, id) });
    }
    rows.extend([
        LimbRow {
            expect: Limb::Turns(None, Some(id), Some(true)),
            ..row("PoleTargetAlignment: on the pole", y * SQRT_2, id, id)
        },
        row("PoleTargetAlignment: beside it", Vec3::new(0.001, SQRT_2, 0.0), about(z, FRAC_PI_4), id),
        LimbRow {
            expect: Limb::Turns(None, Some(straight.1), Some(false)),
            ..row("PoleTargetAlignment: too far", y * 3.0, id, id)
        },
        row("MidAxis: positive", here, id, id),
        LimbRow { axis: Some(-z), ..row("MidAxis: negative", here, about(y, PI), about(z, PI)) },
        LimbRow {
            joints: [bent()[0], bent()[1], JointTransform::from_translation(x)],
            ..row("MidAxis: a straight limb", here, id, about(z, -FRAC_PI_2))
        },
    ]);
    let along =
        [JointTransform::IDENTITY, JointTransform::from_translation(x), JointTransform::from_translation(x)];
    for (distance, reached) in [(2.0, true), (3.0, false)] {
        let expect = Limb::Turns(Some(id), Some(id), Some(reached));
        rows.push(LimbRow { joints: along, expect, ..row("AlignedJointsAndTarget", x * distance, id, id) });
    }
    // A goal on the root has no direction. The oracle leaves the upper bone. Ours keeps the direction from root to end, from
    // which the upper bone of a folding limb turns away further.
    rows.push(row("ZeroLengthStartTarget", Vec3::ZERO, about(z, -FRAC_PI_4), about(z, -FRAC_PI_2)));
    rows.push(LimbRow {
        joints: [JointTransform::IDENTITY; 3],
        axis: None,
        expect: Limb::Turns(None, None, Some(false)),
        ..row("ZeroLengthBoneChain", x, id, id)
    });
    rows
}

#[test]
fn limbs_answer_as_ozz_does() {
    let mut failures = Vec::new();
    for (i, row) in limb_rows().iter().enumerate() {
        let mut b = Skeleton::builder();
        let mut last = b.add("parent", None, row.parent);
        for (name, local) in ["start", "middle", "end"].into_iter().zip(row.joints) {
            last = b.add(name, Some(last), local);
        }
        let built = b.build();
        let (skeleton, ids) = match (built, row.expect) {
            (Ok(built), _) => built,
            (Err(_), Limb::Refused) => continue,
            (Err(error), _) => {
                failures.push(format!("{i} {}: {error}", row.case));
                continue;
            }
        };
        let skeleton = Arc::new(skeleton);
        let limb = TwoBone::new(&skeleton, ids[1], ids[2], ids[3]).unwrap().with_hinge(row.axis);
        let limb = limb.clone().with_side(BendSide::Negative).unwrap_or(limb);
        let options = LimbOptions::new().with_soft(1.0 - row.soften).with_influence(row.weight);
        let goal = Goal::position(row.goal).with_pole(row.pole).with_swivel(row.twist);
        let before = Pose::rest(&skeleton);
        let mut pose = before.clone();
        let result = limb.solve(&mut pose, &goal, &options);
        let turns = [1, 2].map(|k| correction(&before, &pose, ids[k]));
        let miss = judge::length(judge::sub(judge::position(&pose, ids[3]), judge::v(row.goal)));
        let sound = match (row.expect, &result) {
            (Limb::Turns(start, middle, reached), Ok(_)) => {
                start.is_none_or(|q| same(turns[0], q))
                    && middle.is_none_or(|q| same(turns[1], q))
                    && reached.is_none_or(|reached| (miss < NEAR) == reached)
            }
            (Limb::Refused, Err(_)) => before.locals() == pose.locals(),
            _ => false,
        };
        if !sound {
            failures.push(format!("{i} {}: {turns:?}, {miss} m off: {result:?}", row.case));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Expected result of an aim.
#[derive(Clone, Copy)]
enum Aimed {
    /// Correction, and whether the ray reaches the target where the oracle says so.
    Turn(Quat, Option<bool>),
    /// The solver refuses, and the pose keeps its bits.
    Refused,
}

struct AimRow {
    case: &'static str,
    joint: JointTransform,
    forward: Vec3,
    offset: Vec3,
    up: Vec3,
    pole: Vec3,
    target: Vec3,
    weight: f32,
    expect: Aimed,
}

impl AimRow {
    fn new(case: &'static str, target: Vec3, turn: Quat) -> Self {
        Self {
            case,
            joint: JointTransform::IDENTITY,
            forward: Vec3::X,
            offset: Vec3::ZERO,
            up: Vec3::Y,
            pole: Vec3::Y,
            target,
            weight: 1.0,
            expect: Aimed::Turn(turn, None),
        }
    }
}

fn aim_rows() -> Vec<AimRow> {
    let id = Quat::IDENTITY;
    let (x, y, z) = (Vec3::X, Vec3::Y, Vec3::Z);
    let row = AimRow::new;
    let mut rows = vec![
        row("JobValidity: all given", x, id),
        AimRow { forward: Vec3::ZERO, expect: Aimed::Refused, ..row("JobValidity: no axis", x, id) },
    ];
    for joint in parents() {
        for (target, turn) in [
            (x, id),
            (-x, about(y, PI)),
            (z, about(y, -FRAC_PI_2)),
            (-z, about(y, FRAC_PI_2)),
            (x + y, about(z, FRAC_PI_4)),
            ((x + y) * 2.0, about(z, FRAC_PI_4)),
        ] {
            let frame = joint.to_affine();
            let pole = frame.transform_vector3(y);
            rows.push(AimRow { joint, pole, ..row("Correction", frame.transform_point3(target), turn) });
        }
    }
    for (forward, turn) in [(x, id), (-x, about(y, -PI)), (z, about(y, FRAC_PI_2))] {
        rows.push(AimRow { forward, ..row("Forward", x, turn) });
    }
    for (up, turn) in [
        (y, id),
        (-y, about(x, PI)),
        (z, about(x, -FRAC_PI_2)),
        (z * 2.0, about(x, -FRAC_PI_2)),
        (z * 1e-9, about(x, -FRAC_PI_2)),
        (Vec3::ZERO, id),
    ] {
        rows.push(AimRow { up, ..row("Up", x, turn) });
    }
    for (pole, turn) in [
        (y, id),
        (-y, about(x, PI)),
        (z, about(x, FRAC_PI_2)),
        (z * 2.0, about(x, FRAC_PI_2)),
        (z * 1e-9, about(x, FRAC_PI_2)),
    ] {
        rows.push(AimRow { pole, ..row("Pole", x, turn) });
    }
    let reached = |turn, reached| Aimed::Turn(turn, Some(reached));
    for (offset, expect) in [
        (Vec3::ZERO, reached(id, true)),
        (y * FRAC_1_SQRT_2, reached(about(z, -FRAC_PI_4), true)),
        (Vec3::new(0.5, 0.5, 0.0), reached(about(z, -FRAC_PI_6), true)),
        (Vec3::new(-0.5, 0.5, 0.0), reached(about(z, -FRAC_PI_6), true)),
        (Vec3::new(0.5, 0.0, 0.5), reached(about(y, FRAC_PI_6), true)),
        (y, reached(about(z, -FRAC_PI_2), true)),
        // Out of reach the oracle turns nothing. Ours faces the target with the nearest point of the ray, which minimises
        // the distance.
        (y * 2.0, reached(about(z, -FRAC_PI_2), false)),
    ] {
        rows.push(AimRow { offset, expect, ..row("Offset", x, id) });
    }
    rows.push(AimRow {
        joint: JointTransform::from_translation(y),
        offset: y,
        expect: reached(about(z, -FRAC_PI_2), true),
        ..row("Offset: below the joint", x, id)
    });
    // A twist is a rotation of the pole about the line to the target; ours has no number for it.
    for (twist, turn) in [(0.0, id), (FRAC_PI_2, about(x, FRAC_PI_2)), (-FRAC_PI_2, about(x, -FRAC_PI_2))] {
        rows.push(AimRow { pole: about(x, twist) * y, ..row("Twist", x, turn) });
    }
    for (target, turn) in
        [(x, id), (y, about(z, FRAC_PI_2)), (y * 2.0, about(z, FRAC_PI_2)), (y * -2.0, about(z, -FRAC_PI_2))]
    {
        rows.push(row("AlignedTargetUp", target, turn));
    }
    for (target, turn) in [(x, id), (y, about(z, FRAC_PI_2))] {
        rows.push(row("AlignedTargetPole", target, turn));
    }
    rows.push(row("TargetTooClose", Vec3::ZERO, id));
    for (weight, angle) in [(1.0, FRAC_PI_2), (0.5, FRAC_PI_4), (0.0, 0.0)] {
        rows.push(AimRow { weight, ..row("Weight", z, about(y, -angle)) });
    }
    for weight in [2.0, -0.5] {
        // The oracle clamps the weight; here a weight outside 0 to 1 is an error.
        rows.push(AimRow { weight, expect: Aimed::Refused, ..row("Weight: outside", z, id) });
    }
    let zero = JointTransform { scale: Vec3::ZERO, ..JointTransform::IDENTITY };
    // The oracle returns an identity correction. Here a joint without axes is an error, which leaves it as it is too.
    rows.push(AimRow { joint: zero, expect: Aimed::Refused, ..row("ZeroScale", z, id) });
    rows
}

#[test]
fn aims_answer_as_ozz_does() {
    let mut failures = Vec::new();
    for (i, row) in aim_rows().iter().enumerate() {
        let mut b = Skeleton::builder();
        let parent = b.add("parent", None, row.joint);
        b.add("joint", Some(parent), JointTransform::IDENTITY);
        let (skeleton, ids) = match (b.build(), row.expect) {
            (Ok(built), _) => built,
            (Err(_), Aimed::Refused) => continue,
            (Err(error), _) => {
                failures.push(format!("{i} {}: {error}", row.case));
                continue;
            }
        };
        let aim = Aim {
            offset: row.offset,
            up: Some(AimUp { axis: row.up, direction: row.pole }),
            ..Aim::new(ids[1], row.forward)
        };
        let before = Pose::rest(&Arc::new(skeleton));
        let mut pose = before.clone();
        let result: Result<_, SolveError> =
            aim.solve(&mut pose, row.target, &Options::new().with_influence(row.weight));
        let turn = correction(&before, &pose, ids[1]);
        // The distance from the target to the ray, in f64.
        let frame = judge::frame(&pose, ids[1]);
        let to = judge::sub(judge::v(row.target), frame.point(judge::v(row.offset)));
        let along = judge::unit(frame.vector(judge::v(row.forward)));
        let miss = judge::length(judge::sub(to, judge::scale(along, judge::dot(to, along).max(0.0))));
        let sound = match (row.expect, &result) {
            (Aimed::Turn(wanted, reached), Ok(_)) => {
                same(turn, wanted) && reached.is_none_or(|reached| (miss < NEAR) == reached)
            }
            (Aimed::Refused, Err(_)) => before.locals() == pose.locals(),
            _ => false,
        };
        if !sound {
            failures.push(format!("{i} {}: {turn:?}, {miss} m off: {result:?}", row.case));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
