//! Bounded turns: what every solver with a largest turn promises of each frame, and that its frames arrive.

use std::sync::Arc;

use proptest::prelude::*;
use sinew::{
    Chain, Goal, JointId, JointTransform, Outcome, Pose, Report, Skeleton, Workspace,
    glam::{Quat, Vec3},
    joint::{Dof, Joint},
    math,
    solve::{
        Auto, Ccd, DampedLeastSquares, Effector, Fabrik, FabrikTree, Fold, FreeChain, FullBody,
        IterativeOptions,
    },
};

use crate::promises::{checks, config, judge, limited, rig};

/// Solves for a goal with no joint turned further than a bound.
type Solve = Box<dyn FnMut(&mut Pose, &Goal, f32) -> Report>;

/// Every solver with a largest turn that takes the chain.
fn solvers(skeleton: &Skeleton, chain: &Chain, goal: &Goal) -> Vec<(String, Solve)> {
    let mut all: Vec<(String, Solve)> = Vec::new();
    // (A tip that is not free is refused where a rotation is asked of it.)
    let free = chain.joints().iter().all(|&j| *skeleton.joint(j) == Joint::FREE);
    macro_rules! add {
        ($name:literal, $solver:ty) => {
            if let Ok(solver) = <$solver>::from_chain(skeleton, chain.clone()) {
                let mut workspace = Workspace::new();
                let solve: Solve = Box::new(move |pose, goal, bound| {
                    let options = IterativeOptions::new().with_max_turn(bound);
                    solver.solve(&mut workspace, pose, goal, &options).unwrap()
                });
                all.push(($name.into(), solve));
            }
        };
    }
    if free {
        add!("free chain", FreeChain);
    }
    add!("auto", Auto);
    add!("ccd", Ccd);
    add!("fabrik", Fabrik);
    add!("fold", Fold);
    add!("dls", DampedLeastSquares);
    let tip = Effector::new(chain.tip()).with_offset(chain.tip_offset());
    if let Ok(full_body) = FullBody::new(skeleton, chain.root(), &[tip]) {
        let solve: Solve = Box::new(move |pose, goal, bound| {
            let options = IterativeOptions::new().with_max_turn(bound);
            full_body.solve(&mut Workspace::new(), pose, &[*goal], &options).unwrap()
        });
        all.push(("full body".into(), solve));
    }
    if let Ok(tree) = FabrikTree::new(skeleton, chain.root(), &[tip])
        && goal.rotation.is_none()
    {
        let solve: Solve = Box::new(move |pose, goal, bound| {
            let options = IterativeOptions::new().with_max_turn(bound);
            tree.solve(&mut Workspace::new(), pose, &[*goal], &options).unwrap()
        });
        all.push(("fabrik tree".into(), solve));
    }
    all
}

/// The angle between two rotations, in radians, by f64 and the sine.
fn angle(a: Quat, b: Quat) -> f64 {
    let d = a.as_dquat().normalize().inverse() * b.as_dquat().normalize();
    2.0 * d.xyz().length().atan2(d.w.abs())
}

/// The largest turn of a joint from one pose to another.
pub fn turned(a: &Pose, b: &Pose) -> f64 {
    a.locals().iter().zip(b.locals()).map(|(a, b)| angle(a.rotation, b.rotation)).fold(0.0, f64::max)
}

/// Residual in metres, in which a radian counts as half a length of the chain (full bodies count the chord of the turn).
fn objective(rig: &limited::Limited, pose: &Pose, goal: &Goal, chord: bool) -> f64 {
    let off = goal.position.map_or(0.0, |at| judge::length(judge::sub(rig.end(pose), judge::v(at))));
    let turn = goal.rotation.map_or(0.0, |q| f64::from(math::angle_between(pose.model_rotation(rig.tip), q)));
    off.hypot(0.5 * rig.length * if chord { 2.0 * (0.5 * turn).sin() } else { turn })
}

/// One frame of every solver: bound, limits, offsets, objective, honesty, and the same bits again.
fn one_frame(rig: &limited::Limited, goal: &Goal, bound: f32) {
    let far = judge::length(judge::sub(
        judge::v(goal.position.unwrap_or_default()),
        judge::position(&rig.pose, rig.root),
    ));
    let rounding = 4.0 * rig.rounding + 4e-6 * (rig.length + far);
    for (name, mut solve) in solvers(rig.pose.skeleton(), &rig.chain(), goal) {
        let mut pose = rig.pose.clone();
        let report = solve(&mut pose, goal, bound);
        rig.holds(&pose);
        rig.keeps_offsets(&pose, false);
        let step = turned(&rig.pose, &pose);
        assert!(step <= f64::from(bound) + 1e-5, "{name}: turned by {step} of {bound}");
        let missing = |pose: &Pose| objective(rig, pose, goal, name == "full body");
        let (before, left) = (missing(&rig.pose), missing(&pose));
        // (What is met within its tolerance is met.)
        let more = if report.reached() { 0.0 } else { left - before };
        assert!(
            more <= 1e-6 * rig.length + rounding,
            "{name}: grew from {before:e} to {left:e} of {:e} (rounding {rounding:e}): {report:?}",
            rig.length
        );
        let off = judge::length(judge::sub(rig.end(&pose), judge::v(goal.position.unwrap_or_default())));
        let found = f64::from(report.position_residual);
        assert!((found - off).abs() <= rounding, "{name}: reported {found:e}, found {off:e}");
        let mut again = rig.pose.clone();
        assert_eq!(report, solve(&mut again, goal, bound));
        assert!(checks::same_bits(&pose, &again), "{name}: other bits the second time");
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn frames_with_a_bound_keep_their_promises(
        rig in limited::limited(true),
        d in rig::vector(),
        f in crate::promises::fraction(),
        turn in prop::option::weighted(0.25, rig::rotation()),
        decade in -3f32..0.4,
    ) {
        // An end that lies where the judge's last digits are would be judged by them.
        prop_assume!(rig.rounding < 1e-4 * rig.length);
        let mut goal = Goal::position(rig.goal(d, f));
        goal.rotation = turn;
        one_frame(&rig, &goal, 10f32.powf(decade));
    }

    #[test]
    fn frames_of_free_chains_with_a_bound_keep_their_promises(
        rig in limited::free(),
        d in rig::vector(),
        f in crate::promises::fraction(),
        turn in prop::option::weighted(0.25, rig::rotation()),
        decade in -3f32..0.4,
    ) {
        prop_assume!(rig.rounding < 1e-4 * rig.length);
        let mut goal = Goal::position(rig.goal(d, f));
        goal.rotation = turn;
        one_frame(&rig, &goal, 10f32.powf(decade));
    }
}

/// Reproducible numbers.
struct Noise(u64);

impl Noise {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    fn between(&mut self, a: f32, b: f32) -> f32 {
        a + (b - a) * self.unit()
    }

    fn rotation(&mut self) -> Quat {
        loop {
            let [x, y, z, w] = [0; 4].map(|_| self.between(-1.0, 1.0));
            let q = Quat::from_xyzw(x, y, z, w);
            if (0.01..1.0).contains(&q.length_squared()) {
                return math::normalize(q);
            }
        }
    }
}

/// A row of bones along Z, a metre in all where they are even.
fn row(bones: usize, even: bool, joint: fn(usize) -> Joint, r: &mut Noise) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut last = b.add("0", None, JointTransform::IDENTITY);
    for i in 1..=bones {
        let length = if even { 1.0 } else { r.between(0.3, 1.7) } / bones as f32;
        last = b.add(format!("{i}"), Some(last), JointTransform::from_translation(Vec3::Z * length));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for (i, &id) in ids[..bones].iter().enumerate() {
        skeleton.set_joint(id, joint(i)).unwrap();
    }
    (Arc::new(skeleton), ids)
}

fn cone(_: usize) -> Joint {
    Joint::cone(Vec3::Z, 0.785, 0.52)
}

fn hinge(i: usize) -> Joint {
    Joint::hinge([Vec3::X, Vec3::Y][i % 2], Dof::range(-1.05, 1.05))
}

fn slider(i: usize) -> Joint {
    let turns = if i.is_multiple_of(2) { cone(i) } else { Joint::hinge(Vec3::X, Dof::range(-1.05, 1.05)) };
    turns.with_slide([None, None, (i % 3 == 1).then(|| Dof::range(-0.05, 0.05))])
}

type Kind = (&'static str, usize, bool, fn(usize) -> Joint, f64);

/// Kinds of chains: name, bones, whether they are even, joints, and the share of goals that must be met in time.
const KINDS: [Kind; 8] = [
    ("2 free", 2, true, |_| Joint::FREE, 0.99),
    ("3 free", 3, true, |_| Joint::FREE, 0.99),
    ("4 free, uneven", 4, false, |_| Joint::FREE, 0.99),
    ("10 free", 10, true, |_| Joint::FREE, 0.99),
    ("3 cones", 3, true, cone, 0.985),
    ("10 cones", 10, true, cone, 0.99),
    // One goal in eight is met after a fresh start alone; the way to some of these answers leads uphill.
    ("10 hinges", 10, true, hinge, 0.93),
    ("6 cones and hinges, two slide", 6, true, slider, 0.99),
];

/// Goals that are met without a bound are met with one, within twice the frames that the answer's largest turn needs, and
/// none of the frames leaves more missing than it found.
#[test]
fn frames_with_a_bound_arrive() {
    const CASES: usize = 200;
    let mut all: Vec<(String, [usize; 2])> = Vec::new();
    for (kind, bones, even, joint, wanted) in KINDS {
        let mut r = Noise(77);
        let mut counts: Vec<(String, [usize; 2])> = Vec::new();
        for case in 0..CASES {
            let (skeleton, ids) = row(bones, even, joint, &mut r);
            let mut anywhere = || {
                let mut pose = Pose::rest(&skeleton);
                for &id in &ids {
                    pose.set_rotation(id, skeleton.clamp_rotation(id, r.rotation()));
                }
                pose.update();
                pose
            };
            let (start, end) = (anywhere(), anywhere());
            let goal = Goal::position(end.position(ids[bones]));
            let bound = [0.05, 0.13, 0.4][case % 3];
            let off = |pose: &Pose| {
                judge::length(judge::sub(judge::position(pose, ids[bones]), judge::v(goal.position.unwrap())))
            };
            let chain = Chain::new(&skeleton, ids[0], ids[bones]).unwrap();
            for (name, mut solve) in solvers(&skeleton, &chain, &Goal::position(Vec3::ZERO)) {
                let mut answer = start.clone();
                if solve(&mut answer, &goal, f32::INFINITY).outcome != Outcome::Converged {
                    continue;
                }
                // What is taught keeps its promises in each frame, and may come to rest on the way.
                let taught = ["ccd", "fabrik", "fabrik tree", "fold", "dls"].contains(&name.as_str());
                let frames = 2 * (turned(&start, &answer) / f64::from(bound)).ceil().max(1.0) as usize;
                let mut pose = start.clone();
                let met = (0..frames).any(|frame| {
                    let before = pose.clone();
                    let report = solve(&mut pose, &goal, bound);
                    let more = off(&pose) - off(&before);
                    assert!(
                        more <= 2e-6 || report.reached(),
                        "{kind}, {name}, case {case}, frame {frame}: grew by {more:e}"
                    );
                    assert!(turned(&before, &pose) <= f64::from(bound) + 1e-5);
                    report.reached()
                });
                let count = |list: &mut Vec<(String, [usize; 2])>| {
                    let at = list.iter().position(|(n, _)| *n == name).unwrap_or_else(|| {
                        list.push((name.clone(), [0, 0]));
                        list.len() - 1
                    });
                    list[at].1[0] += 1;
                    list[at].1[1] += usize::from(met);
                };
                if !taught {
                    count(&mut counts);
                    count(&mut all);
                }
            }
        }
        for (name, [goals, met]) in counts {
            let share = met as f64 / goals as f64;
            assert!(share >= wanted, "{kind}, {name}: {met} of {goals} met in time");
        }
    }
    for (name, [goals, met]) in all {
        assert!(met as f64 >= 0.99 * goals as f64, "{name}: {met} of {goals} met in time");
    }
}
