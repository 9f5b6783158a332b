//! Chains of joints with limits: random skeletons and goals, and what every solver promises of them.
//!
//! Limits are judged in f64 by `limit_judge`, kinematics by `judge`; neither shares anything with the engine.

use std::sync::Arc;

use proptest::prelude::*;
use sinew::{
    Chain, Goal, JointId, JointTransform, Pose, Report, Skeleton, SolveError,
    glam::{Quat, Vec3},
    joint::{Dof, Joint, RotationOrder, Turning},
    math,
    solve::{Auto, Ccd, DampedLeastSquares, Fabrik, Fold, Follow, Lead, LimbOptions, TwoBone},
};

use crate::promises::{
    checks, config,
    held::{Held, held},
    judge, limit_judge, rig,
};

/// A skeleton in a pose, with a chain in it.
#[derive(Clone, Debug)]
pub struct Limited {
    pub pose: Pose,
    pub root: JointId,
    pub tip: JointId,
    pub tip_offset: Vec3,
    /// Of the chain, in metres.
    pub length: f64,
    /// Of places, in metres.
    pub rounding: f64,
}

fn range() -> impl Strategy<Value = Dof> {
    prop_oneof![
        6 => (-2.5f64..1.0, 0f64..3.5).prop_map(|(from, width)| Dof::range(from, from + width)),
        1 => Just(Dof::FREE),
        1 => (-1f64..1.0).prop_map(|at| Dof::range(at, at)),
    ]
}

/// A joint of any kind, with random limits.
pub fn joint() -> impl Strategy<Value = Joint> {
    let axis = || rig::vector().prop_map(|v| v.as_dvec3());
    let order = prop::sample::select(vec![
        RotationOrder::Xyz,
        RotationOrder::Zxy,
        RotationOrder::Yzx,
        RotationOrder::Zyx,
    ]);
    let half = || prop_oneof![5 => 0.1f64..3.0, 1 => 1e-3f64..0.1];
    let ball =
        (axis(), axis(), half(), half(), half(), half(), range()).prop_map(|(z, x, a, b, c, d, twist)| {
            // Two in five are about a centre, also so that rest is outside.
            let other = |x: f64| (977.0 * x).fract();
            let centre = if other(a) < 0.4 { [3.0 * other(b) - 1.5, 3.0 * other(c) - 1.5] } else { [0.0; 2] };
            let [x0, y0] = centre;
            let swing = [Dof::range(x0 - a, x0 + b), Dof::range(y0 - c, y0 + d)];
            let joint = Joint::from(Turning::Ball { twist_axis: z, swing_axis: x, swing, twist, centre });
            if joint.check().is_ok() { joint } else { Joint::FREE }
        });
    let maybe = || prop::option::weighted(0.6, range());
    prop_oneof![
        4 => Just(Joint::FREE),
        1 => Just(Joint::FIXED),
        3 => (axis(), range()).prop_map(|(axis, dof)| Joint::hinge(axis, dof)),
        4 => ball,
        2 => (order, maybe(), maybe(), maybe())
            .prop_map(|(order, x, y, z)| Turning::Axes { order, angles: [x, y, z] }.into()),
    ]
}

/// A slider of a joint, as shares of the skeleton's size.
pub fn slide() -> impl Strategy<Value = Option<(f64, f64)>> {
    prop::option::weighted(0.1, (-0.5f64..0.0, 0f64..0.5))
}

/// A joint: its bone, its length as a power of ten below the size, rest and start rotation, what it may do, its slide.
type One = (Vec3, f32, Quat, Quat, Joint, Option<(f64, f64)>);

#[derive(Clone, Debug)]
struct Plan {
    joints: Vec<One>,
    size: f32,
    scale: Vec3,
    inside: bool,
    tip_offset: bool,
}

fn plan() -> impl Strategy<Value = Plan> {
    // Mostly within a factor of ten; sometimes anything down to a millionth, or nothing.
    let shorter = prop_oneof![6 => 0f32..1.0, 1 => 0f32..6.0, 1 => Just(f32::INFINITY)];
    let one = (rig::vector(), shorter, rig::rotation(), rig::rotation(), joint(), slide()).boxed();
    let count = prop_oneof![1 => 1usize..3, 6 => 2usize..12, 1 => 12usize..100];
    (
        count.prop_flat_map(move |n| prop::collection::vec(one.clone(), n)),
        -3f32..3.0,
        rig::world_scale(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(joints, decade, scale, inside, tip_offset)| Plan {
            joints,
            size: 10f32.powf(decade),
            scale,
            inside,
            tip_offset,
        })
}

/// Chains of 1 to 100 joints. `slides`: with sliders.
pub fn limited(slides: bool) -> impl Strategy<Value = Limited> {
    plan().prop_map(move |plan| build(&plan, slides))
}

/// Limbs: chains of two or more joints with a ball or a free joint first, then a hinge. What is below is held as it is, so
/// that it has no limits.
pub fn limb() -> impl Strategy<Value = Limited> {
    (plan(), range(), rig::vector(), any::<bool>()).prop_map(|(mut plan, dof, axis, single)| {
        plan.joints.truncate(6);
        while plan.joints.len() < 2 {
            let one = plan.joints[0];
            plan.joints.push(one);
        }
        plan.tip_offset |= plan.joints.len() == 2;
        for (i, (.., joint, _)) in plan.joints.iter_mut().enumerate() {
            *joint = match (i, joint.turning) {
                (0, Turning::Ball { .. }) => *joint,
                (1, _) if single && dof.range.min < dof.range.max => Joint::axes([None, Some(dof), None]),
                (1, _) => Joint::hinge(axis, dof),
                _ => Joint::FREE,
            };
        }
        build(&plan, false)
    })
}

/// The same with every joint free.
pub fn free() -> impl Strategy<Value = Limited> {
    plan().prop_map(|mut plan| {
        plan.joints.iter_mut().for_each(|(.., joint, _)| *joint = Joint::FREE);
        build(&plan, false)
    })
}

fn build(plan: &Plan, slides: bool) -> Limited {
    let mut b = Skeleton::builder();
    let at = |translation, rotation, scale| JointTransform { translation, rotation, scale };
    let size = plan.size;
    let mut last = b.add("above", None, at(Vec3::splat(0.3 * size), Quat::IDENTITY, plan.scale));
    let places: Vec<usize> = plan
        .joints
        .iter()
        .enumerate()
        .map(|(i, (bone, shorter, rest, ..))| {
            last =
                b.add(format!("{i}"), Some(last), at(*bone * size * 10f32.powf(-shorter), *rest, Vec3::ONE));
            last
        })
        .collect();
    b.add("beside", Some(places[0]), at(Vec3::X * size, Quat::IDENTITY, Vec3::splat(1.5)));
    let (mut skeleton, ids) = b.build().unwrap();
    let chain: Vec<JointId> = places.iter().map(|&i| ids[i]).collect();
    for (&id, (.., joint, slide)) in chain.iter().zip(&plan.joints) {
        let dof = slide.filter(|_| slides).map(|(a, b)| Dof::range(a * size as f64, b * size as f64));
        skeleton.set_joint(id, joint.with_slide([None, dof, None])).unwrap();
    }
    let skeleton = Arc::new(skeleton);
    let mut pose = Pose::rest(&skeleton);
    for (&id, (_, _, _, start, ..)) in chain.iter().zip(&plan.joints) {
        pose.set_rotation(id, if plan.inside { skeleton.clamp_rotation(id, *start) } else { *start });
    }
    pose.update();
    let (root, tip) = (chain[0], chain[chain.len() - 1]);
    let offset = plan.tip_offset || root == tip;
    let tip_offset = if offset { Vec3::new(0.2, 0.5, 0.1) * size } else { Vec3::ZERO };
    let rig = rig::Rig::new(pose.clone(), root, root, tip);
    let mut limited = Limited { pose, root, tip, tip_offset, length: 0.0, rounding: rig.rounding };
    let places: Vec<_> = chain.iter().map(|&j| judge::position(&limited.pose, j)).collect();
    let bones: f64 = places.windows(2).map(|w| judge::length(judge::sub(w[1], w[0]))).sum();
    limited.length = bones + judge::length(judge::sub(limited.end(&limited.pose), places[places.len() - 1]));
    limited.rounding = limited.rounding.max(1e-6 * judge::length(limited.end(&limited.pose)));
    limited
}

impl Limited {
    pub fn end(&self, pose: &Pose) -> judge::V {
        judge::frame(pose, self.tip).point(judge::v(self.tip_offset))
    }

    pub fn chain(&self) -> Chain {
        let skeleton = self.pose.skeleton();
        Chain::new(skeleton, self.root, self.tip).unwrap().with_tip_offset(skeleton, self.tip_offset).unwrap()
    }

    pub fn goal(&self, direction: Vec3, share: f32) -> Vec3 {
        self.pose.position(self.root) + direction.normalize() * (share * self.length as f32)
    }

    /// Promise 2: what was within is within, and what was not went no further out.
    pub fn holds(&self, pose: &Pose) {
        hold(&self.pose, pose, self.chain().joints(), self.length);
    }

    /// Promise 9, of what each weight leaves.
    pub fn blends(&self, mut solved: impl FnMut(f32) -> Pose) {
        let mut last = solved(0.0);
        assert!(checks::same_bits(&last, &self.pose), "weight 0 moved the pose");
        const STEPS: usize = 40;
        for i in 1..=STEPS {
            let pose = solved(i as f32 / STEPS as f32);
            self.holds(&pose);
            for &j in self.chain().joints() {
                // Swing, twist or angles of one joint: each by no more than a whole turn in all.
                let step = math::angle_between(last.local(j).rotation, pose.local(j).rotation);
                assert!(step < 3.0 * core::f32::consts::TAU / STEPS as f32, "{step} at weight {i}/{STEPS}");
            }
            last = pose;
        }
    }

    /// Promise 1: offsets and scales are as they came, but for slides along their axis.
    pub fn keeps_offsets(&self, pose: &Pose, root_moves: bool) {
        let s = pose.skeleton();
        let chain = self.chain();
        for j in s.joints() {
            let (b, a) = (self.pose.local(j), pose.local(j));
            assert_eq!(b.scale, a.scale);
            if !chain.joints().contains(&j) {
                assert_eq!(
                    (b.translation, b.rotation),
                    (a.translation, a.rotation),
                    "joint {j} is not of the chain"
                );
                continue;
            }
            if root_moves && j == self.root {
                continue;
            }
            if s.joint(j).slide[1].is_none() {
                assert_eq!(b.translation, a.translation, "joint {j} moved");
            } else {
                let m = limit_judge::matrix(s.rest(j).rotation);
                let moved = (a.translation.as_dvec3() - b.translation.as_dvec3()).to_array();
                let across = limit_judge::cross([m[0][1], m[1][1], m[2][1]], moved);
                let size = judge::length(judge::v(b.translation)) + judge::length(moved);
                assert!(judge::length(across) <= 1e-5 * size, "joint {j} moved across its slide");
            }
            let q = a.rotation;
            let n: f64 = [q.x, q.y, q.z, q.w].iter().map(|&c| (c as f64).powi(2)).sum();
            assert!((n - 1.0).abs() < 1e-6, "joint {j} has no unit rotation");
        }
    }

    /// The pose with the chain's joints put within their limits.
    pub fn clamped(&self) -> Pose {
        let mut pose = self.pose.clone();
        for &j in self.chain().joints() {
            let limits = self.pose.skeleton().limits(j);
            pose.set_rotation(j, limits.clamp(self.pose.local(j).rotation));
            let at = self.pose.local(j).translation;
            pose.set_translation(j, limits.clamp_slide(at, at));
        }
        pose.update();
        pose
    }
}

/// Promise 2 of these joints: what was within its limits is within, and what was not went no further out. Slides are judged
/// against a length of the figure.
pub fn hold(before: &Pose, after: &Pose, joints: &[JointId], length: f64) {
    let s = before.skeleton();
    for &joint in joints {
        let (freedom, came) = (s.joint(joint), before.local(joint));
        let further = limit_judge::further(freedom, s.rest(joint), came, after.local(joint));
        assert!(further <= 1e-5, "joint {joint} went {further:e} further out of {freedom:?}");
        let (rest, now) = (s.rest(joint), after.local(joint));
        if let Some(range) = s.joint(joint).slide[1].map(|d| d.range) {
            let m = limit_judge::matrix(rest.rotation);
            let moved = now.translation.as_dvec3() - rest.translation.as_dvec3();
            let along = moved.x * m[0][1] + moved.y * m[1][1] + moved.z * m[2][1];
            let near = 1e-5 * length.max(moved.length());
            assert!(
                along >= range.min - near && along <= range.max + near,
                "joint {joint}: {along} is not in {range:?}"
            );
        }
    }
}

/// A solver of chains under test.
pub trait Solver {
    /// Whether sliders may be asked of it.
    const SLIDES: bool = true;
    /// Whether it leaves the root where it is and seeks the goal with the end.
    const SEEKS: bool = true;

    fn new(rig: &Limited) -> Self;
    fn solve(&mut self, pose: &mut Pose, goal: Vec3, weight: f32) -> Result<Report, SolveError>;
    /// Tolerance, in chain lengths.
    fn tolerance(&self) -> f64;
    /// Cuts its iterations short.
    fn hurry(&mut self, iterations: u32);
    /// Position that it brings to the goal, in model space.
    fn leads(rig: &Limited, pose: &Pose) -> judge::V {
        rig.end(pose)
    }
}

/// A solver with `IterativeOptions`, by its type.
macro_rules! iterative {
    ($(#[$doc:meta])* $name:ident: $solver:ty, slides: $slides:expr) => {
        $(#[$doc])*
        pub struct $name(Held<$solver>);

        impl Solver for $name {
            const SLIDES: bool = $slides;

            fn new(rig: &Limited) -> Self {
                let mut solver = held(<$solver>::from_chain(rig.pose.skeleton(), rig.chain()).unwrap());
                solver.options.max_iterations = Some(60);
                Self(solver)
            }

            fn solve(&mut self, pose: &mut Pose, goal: Vec3, weight: f32) -> Result<Report, SolveError> {
                self.0.options.influence = weight;
                self.0.solve(pose, &Goal::position(goal))
            }

            fn tolerance(&self) -> f64 {
                self.0.options.position_tolerance.metres(1.0) as f64
            }

            fn hurry(&mut self, iterations: u32) {
                self.0.options.max_iterations = Some(iterations);
            }
        }
    };
}

iterative!(Descent: Ccd, slides: true);
iterative!(Reaching: Fabrik, slides: false);
iterative!(Squares: DampedLeastSquares, slides: true);
iterative!(Folding: Fold, slides: false);

/// With fresh starts, as any of them may be asked for.
pub struct Afresh<S>(S);

macro_rules! afresh {
    ($($inner:ty),*) => {$(
        impl Solver for Afresh<$inner> {
            const SLIDES: bool = <$inner>::SLIDES;

            fn new(rig: &Limited) -> Self {
                let mut inner = <$inner>::new(rig);
                inner.0.options.max_restarts = Some(3);
                Self(inner)
            }

            fn solve(&mut self, pose: &mut Pose, goal: Vec3, weight: f32) -> Result<Report, SolveError> {
                self.0.solve(pose, goal, weight)
            }

            fn tolerance(&self) -> f64 {
                self.0.tolerance()
            }

            fn hurry(&mut self, iterations: u32) {
                self.0.hurry(iterations);
            }
        }
    )*};
}

afresh!(Descent, Reaching, Squares, Folding);

/// The second joint of the chain put onto its circle.
pub struct Circling(Reaching);

impl Solver for Circling {
    const SLIDES: bool = false;

    fn new(rig: &Limited) -> Self {
        let mut inner = Reaching::new(rig);
        inner.0.closes_circle = true;
        Self(inner)
    }

    fn solve(&mut self, pose: &mut Pose, goal: Vec3, weight: f32) -> Result<Report, SolveError> {
        self.0.solve(pose, goal, weight)
    }

    fn tolerance(&self) -> f64 {
        self.0.tolerance()
    }

    fn hurry(&mut self, iterations: u32) {
        self.0.hurry(iterations);
    }
}

/// A limb whose second joint bends. It does not iterate, so that nothing hurries it.
pub struct Limb(TwoBone);

impl Solver for Limb {
    const SLIDES: bool = false;

    fn new(rig: &Limited) -> Self {
        let chain = rig.chain();
        let middle = chain.joints()[1];
        Self(TwoBone::within_limits(rig.pose.skeleton(), chain, middle).unwrap())
    }

    fn solve(&mut self, pose: &mut Pose, goal: Vec3, weight: f32) -> Result<Report, SolveError> {
        self.0.solve(pose, &Goal::position(goal), &LimbOptions::new().with_influence(weight))
    }

    fn tolerance(&self) -> f64 {
        1e-4
    }

    fn hurry(&mut self, _: u32) {}
}

pub struct Chosen(Held<Auto>);

impl Solver for Chosen {
    fn new(rig: &Limited) -> Self {
        let mut auto = held(Auto::from_chain(rig.pose.skeleton(), rig.chain()).unwrap());
        auto.options.max_iterations = Some(60);
        Self(auto)
    }

    fn solve(&mut self, pose: &mut Pose, goal: Vec3, weight: f32) -> Result<Report, SolveError> {
        self.0.options.influence = weight;
        self.0.solve(pose, &Goal::position(goal))
    }

    fn tolerance(&self) -> f64 {
        self.0.options.position_tolerance.metres(1.0) as f64
    }

    fn hurry(&mut self, iterations: u32) {
        self.0.options.max_iterations = Some(iterations);
    }
}

pub struct Dragged<const ROOT: bool>(Held<Follow>);

impl<const ROOT: bool> Solver for Dragged<ROOT> {
    const SLIDES: bool = false;
    const SEEKS: bool = false;

    fn new(rig: &Limited) -> Self {
        let mut follow = held(Follow::from_chain(rig.pose.skeleton(), rig.chain()).unwrap());
        follow.options.lead = if ROOT { Lead::Root } else { Lead::Tip };
        Self(follow)
    }

    fn solve(&mut self, pose: &mut Pose, goal: Vec3, weight: f32) -> Result<Report, SolveError> {
        self.0.options.influence = weight;
        self.0.solve(pose, goal)
    }

    fn tolerance(&self) -> f64 {
        1e-5
    }

    fn hurry(&mut self, _: u32) {}

    fn leads(rig: &Limited, pose: &Pose) -> judge::V {
        if ROOT { judge::position(pose, rig.root) } else { rig.end(pose) }
    }
}

fn off<S: Solver>(rig: &Limited, pose: &Pose, goal: Vec3) -> f64 {
    judge::length(judge::sub(S::leads(rig, pose), judge::v(goal)))
}

/// Everything that one solve shows, and the solve again.
pub fn one_solve<S: Solver>(rig: &Limited, goal: Vec3, hurry: u32) {
    let mut solver = S::new(rig);
    if hurry > 0 {
        solver.hurry(hurry);
    }
    let mut pose = rig.pose.clone();
    let report = solver.solve(&mut pose, goal, 1.0).unwrap();
    rig.holds(&pose);
    rig.keeps_offsets(&pose, !S::SEEKS);
    let far = judge::length(judge::sub(judge::v(goal), judge::position(&rig.pose, rig.root)));
    // A hundred joints' rotations of f32 add up.
    let rounding = 4.0 * rig.rounding + 4e-6 * (rig.length + far);
    let left = off::<S>(rig, &pose, goal);
    assert!(
        (left - report.position_residual as f64).abs() <= rounding,
        "reported {:e}, found {left:e} (rounding {rounding:e})",
        report.position_residual
    );
    let near = solver.tolerance() * rig.length + rounding;
    if report.reached() {
        assert!(left <= near + rounding, "reached, but missed by {left:e} of {:e}", rig.length);
    }
    let by = f64::from(report.out_of_reach);
    assert!(by == 0.0 || left >= by - rounding, "{by:e} out of reach, {left:e} left");
    // 7: not more is missing than from the start, nor from the start within its limits.
    for start in [&rig.pose, &rig.clamped()] {
        let before = off::<S>(rig, start, goal);
        let more = if S::SEEKS { left - before } else { 0.0 };
        assert!(more <= 1e-6 * rig.length + rounding, "grew from {before:e} to {left:e}");
    }
    // 4: the same bits, whatever was solved before.
    let mut again = rig.pose.clone();
    assert_eq!(report, solver.solve(&mut again, goal, 1.0).unwrap());
    assert!(checks::same_bits(&pose, &again));
    // 6: solving for what is there moves nothing.
    // (By a margin, as the chain's length, of which the tolerance is a part, changes with its slides.)
    if report.reached() && left < 0.3 * solver.tolerance() * rig.length {
        let report = solver.solve(&mut again, goal, 1.0).unwrap();
        assert!(
            checks::same_bits(&pose, &again),
            "solving again moved the pose by {:e}: {report:?}",
            checks::turned(&pose, &again)
        );
    }
}

/// 9: weights 0 and 1 are the ends, and all between is within limits and near its neighbours.
pub fn blends<S: Solver>(rig: &Limited, goal: Vec3) {
    let mut solver = S::new(rig);
    rig.blends(|weight| {
        let mut pose = rig.pose.clone();
        solver.solve(&mut pose, goal, weight).unwrap();
        pose
    });
}

/// 3: what is not finite is refused and nothing is touched; finite goals of any size leave finite poses.
pub fn stays_finite<S: Solver>(rig: &Limited, direction: Vec3) {
    let mut solver = S::new(rig);
    for bad in [f32::NAN, f32::INFINITY] {
        let mut pose = rig.pose.clone();
        assert!(solver.solve(&mut pose, Vec3::new(0.0, bad, 0.0), 1.0).is_err());
        assert!(solver.solve(&mut pose, direction, bad).is_err());
        assert!(checks::same_bits(&pose, &rig.pose));
        let mut broken = rig.pose.clone();
        broken.set_rotation(rig.tip, Quat::from_xyzw(0.0, bad, 0.0, 1.0));
        let before = broken.clone();
        assert!(solver.solve(&mut broken, direction, 1.0).is_err());
        assert!(checks::same_bits(&before, &broken));
    }
    for size in [0.0, 1e-45, 1e-20, 1e-10, 1e10, 1e18] {
        let mut pose = rig.pose.clone();
        match solver.solve(&mut pose, direction * size, 1.0) {
            Ok(report) => {
                pose.check_finite().unwrap();
                assert!(report.position_residual.is_finite());
                rig.holds(&pose);
            }
            Err(_) => assert!(checks::same_bits(&pose, &rig.pose)),
        }
    }
}

/// Inside, outside, at the root, on the line of the start, at the end.
fn goal(rig: &Limited, direction: Vec3, share: f32, kind: u8) -> Vec3 {
    let end = rig.end(&rig.pose).map(|x| x as f32);
    match kind {
        0 => rig.pose.position(rig.root),
        1 => Vec3::from_array(end),
        2 => rig.pose.position(rig.root).lerp(Vec3::from_array(end), share),
        _ => rig.goal(direction, share),
    }
}

macro_rules! suite {
    ($($name:ident: $solver:ty;)*) => {
        suite! { @ limited(S::SLIDES); $($name: $solver;)* }
    };
    (@ $rigs:expr; $($name:ident: $solver:ty;)*) => {$(
        mod $name {
            use super::*;
            type S = $solver;

            proptest! {
                #![proptest_config(config(1500))]

                #[test]
                fn keeps_its_promises(
                    r in $rigs, d in rig::vector(), f in crate::promises::fraction(), k in 0u8..10, h in 0u32..20,
                ) {
                    one_solve::<S>(&r, goal(&r, d, f, k), if h > 10 { 0 } else { h });
                }
            }

            proptest! {
                #![proptest_config(config(100))]

                #[test]
                fn blends_by_weight(r in $rigs, d in rig::vector(), f in 0f32..1.5) {
                    blends::<S>(&r, r.goal(d, f));
                }

                #[test]
                fn stays_finite(r in $rigs, d in rig::vector()) {
                    super::stays_finite::<S>(&r, d);
                }
            }
        }
    )*};
}

suite! {
    ccd: Descent;
    ccd_afresh: Afresh<Descent>;
    fabrik: Reaching;
    fabrik_afresh: Afresh<Reaching>;
    fabrik_with_its_circle: Circling;
    least_squares: Squares;
    least_squares_afresh: Afresh<Squares>;
    fold: Folding;
    fold_afresh: Afresh<Folding>;
    auto: Chosen;
    follow_the_tip: Dragged<false>;
    follow_the_root: Dragged<true>;
}

suite! {
    @ limb();
    two_bone: Limb;
}
