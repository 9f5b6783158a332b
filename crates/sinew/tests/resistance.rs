//! Ease, stiffness and preferred values on random arms of seven joints, by every solver that weighs them: what they change,
//! and that they cost no goal.

use crate::common;

use std::sync::Arc;

use common::Random;
use sinew::{
    Chain, Goal, JointId, JointTransform, Pose, Skeleton, Workspace,
    glam::{DQuat, DVec3, Quat, Vec3},
    joint::{Dof, Joint},
    mechanism::{
        JointSpaceOptions, JointSpaceSolver, LinkFrames, LinkGoal, LinkTarget, Objective, ObjectiveKind,
        PathFollower, PathOptions, SkeletonMechanism,
    },
    solve::{
        Auto, Ccd, ChainSolver, DampedLeastSquares, Effector, FullBody, FullBodyOptions, IterativeOptions,
        Tolerance,
    },
};

const ARMS: u64 = 400;
/// Number of goals that may stay unreached without restarts, of those of all arms with and without resistance.
const UNREACHED: u64 = 8;

/// A solver that honours ease and stiffness.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    JointSpace,
    LeastSquares,
    Body,
    Auto,
    Ccd,
}

/// Solvers that take ease and stiffness as weights of a step.
const WEIGHING: [By; 3] = [By::JointSpace, By::LeastSquares, By::Body];
const ALL: [By; 5] = [By::JointSpace, By::LeastSquares, By::Body, By::Auto, By::Ccd];

/// Parent of each joint. A leaf does not turn, and has a goal.
const ARM: &[Option<usize>] = &[None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(5), Some(6)];
const BODY: &[Option<usize>] =
    &[None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(2), Some(6), Some(7)];

/// An arm or a body, a start within its limits, and goals that another configuration of it reaches.
struct Case {
    skeleton: Arc<Skeleton>,
    ids: Vec<JointId>,
    arm: SkeletonMechanism,
    tips: Vec<JointId>,
    goals: Vec<LinkGoal>,
    start: Vec<f64>,
}

/// The same arm, start and goal for a seed, whatever `change` makes of the degrees of freedom.
fn case(seed: u64, change: impl Fn(usize, Dof) -> Dof) -> Case {
    case_of(ARM, false, seed, change)
}

/// [`case`] for joints with these parents, and goals with rotations if `turned`.
fn case_of(parents: &[Option<usize>], turned: bool, seed: u64, change: impl Fn(usize, Dof) -> Dof) -> Case {
    let r = &mut Random::of(seed);
    let mut b = Skeleton::builder();
    for (i, parent) in parents.iter().enumerate() {
        let rotation = Quat::from_scaled_axis((r.vector() * 0.8).as_vec3());
        let translation = Vec3::new(0.02, 0.2, 0.01);
        let local = JointTransform { translation, rotation, scale: Vec3::ONE };
        b.add(format!("j{i}"), *parent, local);
    }
    let (mut skeleton, ids) = b.build().unwrap();
    let is_leaf = |i: usize| !parents.contains(&Some(i));
    for (i, &id) in ids.iter().enumerate() {
        if is_leaf(i) {
            skeleton.set_joint(id, Joint::FIXED).unwrap();
            continue;
        }
        let dof = |r: &mut Random| Dof::range(r.between(-2.5, -0.5), r.between(0.5, 2.5));
        let joint = match (seed + i as u64) % 4 {
            0 => {
                let [x, y, twist] = [0; 3].map(|_| change(i, dof(r)));
                // Both swings have one ease.
                let y = Dof { ease: x.ease, ..y };
                Joint {
                    turning: sinew::joint::Turning::Ball {
                        twist_axis: DVec3::Y,
                        swing_axis: DVec3::X,
                        swing: [x, y],
                        centre: [0.0; 2],
                        twist,
                    },
                    ..Joint::FREE
                }
            }
            _ => Joint::hinge(r.vector(), change(i, dof(r))),
        };
        skeleton.set_joint(id, joint).unwrap();
    }
    let skeleton = Arc::new(skeleton);
    let arm = SkeletonMechanism::compile(&Pose::rest(&skeleton)).unwrap();
    let m = arm.mechanism();
    let mut some = |share: f64| -> Vec<f64> {
        let at = |d: &sinew::mechanism::NamedDof| {
            d.dof.range.min * share + (d.dof.range.max - d.dof.range.min) * share * r.between(0.0, 1.0)
        };
        m.dofs().iter().map(at).collect()
    };
    // Half of each range leaves swings within their ellipses.
    let (start, there) = (some(0.5), some(0.6));
    let mut frames = LinkFrames::new(m);
    m.forward_kinematics(&there, &mut frames).unwrap();
    let tips: Vec<JointId> = (0..ids.len()).filter(|&i| is_leaf(i)).map(|i| ids[i]).collect();
    let goal = |tip: &JointId| {
        let link = arm.link(*tip);
        let at = m.link_transform(&frames, link);
        let rotation = DQuat::from_mat3(&at.matrix3).normalize();
        let (place, pose) =
            (LinkTarget::Position(at.translation), LinkTarget::Pose(at.translation, rotation));
        LinkGoal::new(m, link, if turned { pose } else { place })
    };
    let goals = tips.iter().map(goal).collect();
    Case { skeleton, ids, tips, goals, start, arm }
}

/// The goal in pose space.
fn goal_of(target: LinkTarget) -> Goal {
    match target {
        LinkTarget::Position(place) => Goal::position(place.as_vec3()),
        LinkTarget::Pose(place, rotation) => {
            Goal::position(place.as_vec3()).with_rotation(rotation.as_quat())
        }
        _ => unreachable!(),
    }
}

impl Case {
    /// Solves, and returns the values and whether the goal is reached.
    fn solve(&self, objectives: &[Objective]) -> (Vec<f64>, bool) {
        let solver = JointSpaceSolver::new(self.arm.mechanism(), &self.goals).unwrap();
        let solver = solver.with_objectives(objectives).unwrap();
        let mut values = self.start.clone();
        let options = JointSpaceOptions::new();
        let report = solver.solve(&mut Workspace::new(), &self.goals, &mut values, &options).unwrap();
        self.check(&values);
        (values, report.reached())
    }

    /// The pose of the start.
    fn pose(&self) -> Pose {
        let mut pose = Pose::rest(&self.skeleton);
        self.arm.write(&self.start, &mut pose).unwrap();
        pose.update();
        pose
    }

    /// Solves from a pose, and returns whether the goal is reached.
    fn solve_pose(&self, by: By, pose: &mut Pose) -> bool {
        let (s, w, root) = (&self.skeleton, &mut Workspace::new(), self.ids[0]);
        let goals: Vec<Goal> = self.goals.iter().map(|goal| goal_of(goal.target)).collect();
        let chain: Box<dyn ChainSolver> = match by {
            By::LeastSquares => Box::new(DampedLeastSquares::new(s, root, self.tips[0]).unwrap()),
            By::Auto => Box::new(Auto::new(s, root, self.tips[0]).unwrap()),
            By::Ccd => Box::new(Ccd::new(s, root, self.tips[0]).unwrap()),
            By::Body => {
                let effectors: Vec<Effector> = self.tips.iter().map(|tip| Effector::new(*tip)).collect();
                let body = FullBody::new(s, root, &effectors).unwrap();
                return body.solve(w, pose, &goals, &FullBodyOptions::new()).unwrap().reached();
            }
            By::JointSpace => unreachable!(),
        };
        chain.solve(w, pose, &goals[0], &IterativeOptions::new()).unwrap().reached()
    }

    /// Solves from the start, and returns the values and whether the goal is reached.
    fn solve_by(&self, by: By) -> (Vec<f64>, bool) {
        if by == By::JointSpace {
            return self.solve(&[]);
        }
        let mut pose = self.pose();
        let reached = self.solve_pose(by, &mut pose);
        let mut values = self.start.clone();
        self.arm.read(&pose, &mut values).unwrap();
        self.check_to(&values, 1e-5);
        (values, reached)
    }

    /// Values are numbers within their ranges, and swings within their ellipses.
    fn check(&self, values: &[f64]) {
        self.check_to(values, 0.0);
    }

    /// [`Case::check`] to an accuracy in radians.
    fn check_to(&self, values: &[f64], off: f64) {
        let dofs = self.arm.mechanism().dofs();
        for (v, d) in values.iter().zip(dofs) {
            assert!(
                *v >= d.dof.range.min - off && *v <= d.dof.range.max + off,
                "{} is at {v}, out of {:?}",
                d.name,
                d.dof.range
            );
        }
        for (k, d) in dofs.iter().enumerate().filter(|(_, d)| d.name.ends_with("swing1")) {
            let share = |k: usize| {
                let range = dofs[k].dof.range;
                values[k] / if values[k] < 0.0 { range.min } else { range.max }
            };
            assert!(
                share(k).powi(2) + share(k + 1).powi(2) <= 1.0 + 1e-9 + 8.0 * off,
                "{} is out of its ellipse",
                d.name
            );
        }
    }
}

/// Index of the joint that a degree of freedom belongs to.
fn joint_of(name: &str) -> usize {
    name[1..2].parse().unwrap()
}

fn plain(_: usize, dof: Dof) -> Dof {
    dof
}

#[test]
fn resistance_costs_no_goal() {
    for (parents, turned) in [(ARM, false), (ARM, true), (BODY, false), (BODY, true)] {
        for by in WEIGHING.into_iter().filter(|by| parents == ARM || *by != By::LeastSquares) {
            let reached = reached_by(by, parents, turned);
            assert!(reached[0] as u64 > ARMS * 9 / 10, "{by:?}: {reached:?}");
            for (n, prefers) in reached.into_iter().zip([0, 0, 0, 1, 1]) {
                // Bodies restart from preferred values instead of rest.
                let allowed = ARMS as i32 / if by == By::Body && prefers > 0 { 50 } else { 100 };
                assert!(reached[0] - n <= allowed, "{by:?}: {reached:?}");
            }
        }
    }
}

/// Goals reached without resistance, with ease, stiffness, preferred values, and all of them.
fn reached_by(by: By, parents: &[Option<usize>], turned: bool) -> [i32; 5] {
    let mut reached = [0; 5];
    for seed in 0..ARMS {
        let share = |i: usize| Random::of(seed * 31 + i as u64).between(0.0, 0.95);
        let eased = |i: usize, dof: Dof| dof.with_ease(share(i));
        let stiff = |i: usize, dof: Dof| dof.with_stiffness(share(i));
        let prefers = |i: usize, dof: Dof| {
            // Fresh starts of bodies are near these.
            dof.with_preferred(dof.range.min + (dof.range.max - dof.range.min) * (0.2 + 0.6 * share(i)))
        };
        let all = |i: usize, dof: Dof| prefers(i, stiff(i, eased(i, dof)));
        let changes: [&dyn Fn(usize, Dof) -> Dof; 5] = [&plain, &eased, &stiff, &prefers, &all];
        for (count, change) in reached.iter_mut().zip(changes) {
            *count += i32::from(case_of(parents, turned, seed, change).solve_by(by).1);
        }
    }
    reached
}

/// Two sliders along one line share a small step as their weights have it, in closed form: a share of c^2 / (c^2 + 1) for the
/// one whose unit is c, beside one without resistance. Stiffness s leaves c = 1 - s; ease leaves c^2 = 1 - y / z at the depth y
/// in its zone z, on the way out, and c = 1 on the way in.
#[test]
fn two_sliders_share_a_step_by_their_weights() {
    let share = |by: By, dof: Dof, from: f64, way: f64| {
        let mut b = Skeleton::builder();
        let first = b.add("first", None, JointTransform::IDENTITY);
        b.add("second", Some(first), JointTransform::IDENTITY);
        let (mut skeleton, ids) = b.build().unwrap();
        for (id, dof) in ids.iter().zip([dof, Dof::range(-9.0, 9.0)]) {
            let slide = [Some(dof), None, None];
            skeleton.set_joint(*id, Joint { slide, ..Joint::FIXED }).unwrap();
        }
        let skeleton = Arc::new(skeleton);
        let mut pose = Pose::rest(&skeleton);
        if by != By::JointSpace {
            pose.set_translation(ids[0], Vec3::X * from as f32);
            let goal = Goal::position(Vec3::new((from + way) as f32, 1.0, 0.0));
            let options = IterativeOptions::new().with_position_tolerance(Tolerance::Metres(1e-6));
            let (w, end) = (&mut Workspace::new(), Vec3::Y);
            if by == By::Body {
                let body =
                    FullBody::new(&skeleton, ids[0], &[Effector::new(ids[1]).with_offset(end)]).unwrap();
                body.solve(w, &mut pose, &[goal], &options).unwrap();
            } else {
                let chain = Chain::new(&skeleton, ids[0], ids[1]).unwrap();
                let chain = chain.with_tip_offset(&skeleton, end).unwrap();
                let solver = DampedLeastSquares::from_chain(&skeleton, chain).unwrap();
                solver.solve(w, &mut pose, &goal, &options).unwrap();
            }
            let [first, second] = [0, 1].map(|i| f64::from(pose.local(ids[i]).translation.x));
            assert!((first + second - from - way).abs() < 1e-6);
            return (first - from) / way;
        }
        let arm = SkeletonMechanism::compile(&pose).unwrap();
        let target = LinkTarget::Position(DVec3::X * (from + way));
        let goal = LinkGoal::new(arm.mechanism(), arm.link(ids[1]), target);
        let solver = JointSpaceSolver::new(arm.mechanism(), &[goal]).unwrap();
        let mut values = vec![from, 0.0];
        let options = JointSpaceOptions::new();
        let report = solver.solve(&mut Workspace::new(), &[goal], &mut values, &options).unwrap();
        assert!(report.reached());
        (values[0] - from) / way
    };
    let range = Dof::range(-1.0, 1.0);
    // In f32, steps are longer, and ease changes on their way.
    for (by, step, off) in
        [(By::JointSpace, 1e-4, 1e-3), (By::LeastSquares, 2e-3, 1e-2), (By::Body, 2e-3, 1e-2)]
    {
        for stiffness in [0.0, 0.3, 0.9, 1.0] {
            let c2 = (1.0 - stiffness) * (1.0 - stiffness);
            let found = share(by, range.with_stiffness(stiffness), 0.2, step);
            assert!((found - c2 / (c2 + 1.0)).abs() < off, "{by:?}, stiffness {stiffness}: {found}");
        }
        for ease in [0.2, 0.5, 1.0] {
            for depth in [-0.1, 0.0, 0.3, 0.6, 0.9] {
                let c2 = (1.0 - f64::max(depth, 0.0)).min(1.0);
                for sign in [1.0, -1.0] {
                    let from = sign * (1.0 - ease + ease * depth);
                    let tag = format!("{by:?}, ease {ease}, depth {depth}");
                    let out = share(by, range.with_ease(ease), from, sign * step);
                    assert!((out - c2 / (c2 + 1.0)).abs() < 2.0 * off, "{tag}: {out}");
                    let back = share(by, range.with_ease(ease), from, -sign * step);
                    // At the middle of the range, the way in to one limit is the way out to the other.
                    assert!((back - 0.5).abs() < 2.0 * off || ease == 1.0, "{tag}: {back}");
                }
            }
        }
    }
}

#[test]
fn stiff_joints_move_less() {
    WEIGHING.into_iter().for_each(stiff_joints_move_less_by);
}

fn stiff_joints_move_less_by(by: By) {
    let is_stiff = |i: usize| i.is_multiple_of(2);
    let stiff = |i: usize, dof: Dof| if is_stiff(i) { dof.with_stiffness(0.9) } else { dof };
    let (mut moved, mut less, mut unreached) = ([[0.0; 2]; 2], 0, 0);
    for seed in 0..ARMS {
        let ways = [case(seed, plain), case(seed, stiff)].map(|case| {
            let (values, reached) = case.solve_by(by);
            unreached += u64::from(!reached);
            let mut way = [0.0; 2];
            for ((end, start), d) in values.iter().zip(&case.start).zip(case.arm.mechanism().dofs()) {
                way[usize::from(is_stiff(joint_of(&d.name)))] += (end - start).abs();
            }
            way
        });
        less += u64::from(ways[1][1] <= ways[0][1]);
        for (sum, way) in moved.iter_mut().zip(ways) {
            (sum[0], sum[1]) = (sum[0] + way[0], sum[1] + way[1]);
        }
    }
    assert!(moved[1][1] < 0.55 * moved[0][1], "{by:?}: {moved:?}");
    assert!(moved[1][0] > moved[0][0], "the others take over: {by:?}: {moved:?}");
    assert!(less > ARMS * 9 / 10 && unreached <= UNREACHED, "{by:?}: {less}, {unreached}");
}

#[test]
fn joints_of_stiffness_1_keep_their_bits() {
    for seed in 0..ARMS {
        let held = |i: usize| !(seed + i as u64).is_multiple_of(3);
        // Far goals, so that restarts follow.
        let mut some = case(seed, |i, dof| if held(i) { dof.with_stiffness(1.0) } else { dof });
        let LinkTarget::Position(place) = some.goals[0].target else { unreachable!() };
        some.goals[0].target = LinkTarget::Position(place * 1.5);
        let (values, _) = some.solve(&[]);
        for ((end, start), d) in values.iter().zip(&some.start).zip(some.arm.mechanism().dofs()) {
            assert!(
                !held(joint_of(&d.name)) || end.to_bits() == start.to_bits(),
                "arm {seed}: {} moved",
                d.name
            );
        }
        let mut all = case(seed, |_, dof| dof.with_stiffness(1.0).with_ease(0.5).with_preferred(0.1));
        all.goals[0].target = some.goals[0].target;
        let posture = ObjectiveKind::Posture(all.arm.mechanism().rest());
        for objectives in [vec![], vec![Objective::new(posture)]] {
            let (values, reached) = all.solve(&objectives);
            assert!(values == all.start && !reached, "arm {seed}");
        }
        for by in ALL.into_iter().filter(|by| *by != By::JointSpace) {
            let mut pose = some.pose();
            some.solve_pose(by, &mut pose);
            for (i, &id) in some.ids.iter().enumerate() {
                let kept = pose.local(id) == some.pose().local(id);
                assert!(kept || !held(i), "{by:?}, arm {seed}: {i} moved");
            }
            let mut pose = all.pose();
            let reached = all.solve_pose(by, &mut pose);
            assert!(pose.locals() == all.pose().locals() && !reached, "{by:?}, arm {seed}");
        }
    }
}

#[test]
fn eased_joints_stay_further_from_their_limits() {
    WEIGHING.into_iter().for_each(eased_joints_stay_further_by);
}

fn eased_joints_stay_further_by(by: By) {
    const EASE: f64 = 0.8;
    // Radians in the zones, in all.
    let (mut inside, mut shallower, mut unreached) = ([0.0; 2], 0, 0);
    for seed in 0..ARMS {
        let depths = [case(seed, plain), case(seed, |_, dof| dof.with_ease(EASE))].map(|case| {
            let (values, reached) = case.solve_by(by);
            unreached += u64::from(!reached);
            let depth = |(v, d): (&f64, &sinew::mechanism::NamedDof)| {
                let range = d.dof.range;
                let zone = 0.5 * (range.max - range.min) * EASE;
                (v - (range.max - zone)).max(range.min + zone - v).max(0.0)
            };
            let hinges =
                values.iter().zip(case.arm.mechanism().dofs()).filter(|(_, d)| !d.name.contains('.'));
            hinges.map(depth).sum::<f64>()
        });
        inside = [inside[0] + depths[0], inside[1] + depths[1]];
        shallower += u64::from(depths[1] <= depths[0] + 1e-9);
    }
    assert!(unreached <= UNREACHED, "{by:?}: {unreached}");
    assert!(inside[1] < 0.98 * inside[0] && shallower > ARMS * 6 / 10, "{by:?}: {inside:?}, {shallower}");
}

#[test]
fn preferred_values_are_approached_in_the_null_space() {
    [By::JointSpace, By::LeastSquares].into_iter().for_each(preferred_values_are_approached_by);
}

fn preferred_values_are_approached_by(by: By) {
    let prefers = |i: usize, dof: Dof| {
        dof.with_preferred(dof.range.clamp(0.4 * Random::of(i as u64).between(-1.0, 1.0)))
    };
    let (mut far, mut nearer, mut unreached) = ([0.0; 2], 0, 0);
    for seed in 0..ARMS / 2 {
        let with = case(seed, prefers);
        let preferred = with.arm.mechanism().rest();
        let offs = [&case(seed, plain), &with].map(|case| {
            let (values, reached) = case.solve_by(by);
            unreached += u64::from(!reached);
            values.iter().zip(&preferred).map(|(v, p)| (v - p).powi(2)).sum::<f64>().sqrt()
        });
        far = [far[0] + offs[0], far[1] + offs[1]];
        nearer += u64::from(offs[1] <= offs[0] + 1e-6);
        if by == By::JointSpace {
            // The posture of all preferred values is the same objective.
            let posture = Objective::new(ObjectiveKind::Posture(preferred));
            assert_eq!(case(seed, plain).solve(&[posture]).0, with.solve(&[]).0, "arm {seed}");
        }
    }
    assert!(unreached <= UNREACHED, "{by:?}: {unreached}");
    assert!(far[1] < 0.7 * far[0] && nearer == ARMS / 2, "{by:?}: {far:?}, {nearer}");
}

#[test]
fn paths_keep_within_limits() {
    for seed in 0..60 {
        let r = |i: usize| Random::of(seed * 7 + i as u64).between(0.0, 1.0);
        let case = case(seed, |i, dof| dof.with_ease(r(i)).with_stiffness(r(i)).with_preferred(0.2));
        let follower = PathFollower::new(case.arm.mechanism(), &case.goals, 2.0).unwrap();
        let (mut values, mut workspace) = (case.start.clone(), Workspace::new());
        for _ in 0..120 {
            let before = values.clone();
            follower.step(&mut workspace, &case.goals, &mut values, 1.0 / 60.0, &PathOptions::new()).unwrap();
            case.check(&values);
            assert!(before.iter().zip(&values).all(|(a, b)| (a - b).abs() <= 2.0 / 60.0 + 1e-9));
        }
    }
}
