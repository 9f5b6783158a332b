//! What is solved, natively and in WebAssembly: 1,000 goals of each kind, each from the rest pose.

use std::{hint::black_box, sync::Arc, time::Instant};

use common::{
    Noise,
    chains::{Kind, anywhere, skeleton},
    humanoid,
};
use sinew::{
    Chain, Goal, JointId, JointTransform, Pole, Pose, Report, Skeleton, Workspace,
    glam::Vec3,
    joint::{Dof, Joint},
    math,
    solve::{
        Auto, Ccd, ChainSolver, DampedLeastSquares, Effector, Fabrik, Fold, FreeChain, FullBody,
        FullBodyOptions, IterativeOptions, LimbOptions, PointChain, PointChainOptions, TwoBone,
        two_bone::{LimbBend, LimbPoints, solve_points},
    },
};

use crate::Hash;

/// Goals of each case.
const GOALS: usize = 1000;
/// Timed rounds over all goals; the fastest counts, natively and in the browser.
pub const ROUNDS: usize = 15;

pub enum Task {
    /// A limb on bare points: root, middle, tip and goal are four of `Case::goals`.
    Points,
    /// A limb in a pose of three joints.
    Limb { pole: Option<Vec3>, within_limits: bool },
    /// A limb, one goal after the other, each from the pose that the last has left.
    Following,
    /// A chain in a pose.
    Chain(&'static str),
    /// A chain on bare points; `Case::skeleton` has them.
    PointChain,
    /// A whole skeleton; each solve takes as many of `Case::goals` as it has ends.
    Body(Vec<JointId>),
}

impl Task {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Limb { within_limits: true, .. } => "limited limb",
            Self::Limb { .. } => "limb",
            Self::Following => "following limb",
            Self::Chain(solver) => solver,
            Self::PointChain => "point chain",
            Self::Body(_) => "body",
        }
    }
}

pub struct Case {
    pub name: &'static str,
    pub task: Task,
    pub skeleton: Option<Arc<Skeleton>>,
    pub goals: Vec<Vec3>,
    pub timed: bool,
}

pub struct Answer {
    /// Of local rotations, residual and iterations of each solve.
    pub hash: u32,
    pub reached: usize,
}

pub fn all() -> Vec<Case> {
    let limb = |name, task, timed| {
        let limited = matches!(task, Task::Limb { within_limits: true, .. });
        let mut noise = Noise::new(1);
        // Of a leg of a metre: one in seven is out of reach.
        let hip = Vec3::new(0.1, 2.0, 0.0);
        let goals = (0..GOALS).map(|_| hip + noise.direction() * noise.between(0.15, 1.15)).collect();
        Case { name, task, skeleton: Some(leg(limited)), goals, timed }
    };
    let chain = |name, task, kind, timed| {
        let (skeleton, ids) = skeleton(kind, 10);
        let (mut pose, mut noise) = (Pose::rest(&skeleton), Noise::new(2));
        let end = ids[ids.len() - 1];
        let goals = (0..GOALS).map(|_| {
            anywhere(&mut pose, kind, &ids, &mut noise);
            pose.position(end)
        });
        Case { name, task, goals: goals.collect(), skeleton: Some(skeleton.clone()), timed }
    };
    let body = |name, limits| {
        let skeleton = humanoid::skeleton(limits);
        let ends = humanoid::ends(&skeleton);
        let (mut pose, mut noise) = (Pose::rest(&skeleton), Noise::new(4));
        let mut goals = Vec::new();
        for _ in 0..GOALS {
            // Every joint turned by up to half a radian, as far as its limits let it.
            for joint in skeleton.joints().skip(1) {
                let turn = math::axis_angle(noise.direction(), noise.between(0.0, 0.5));
                pose.set_rotation(joint, skeleton.clamp_rotation(joint, turn));
            }
            pose.update();
            goals.extend(ends.iter().map(|&end| pose.position(end)));
        }
        Case { name, task: Task::Body(ends), skeleton: Some(skeleton), goals, timed: true }
    };
    let mut noise = Noise::new(3);
    let points = (0..GOALS).flat_map(|_| {
        let [root, middle, tip] = [(); 3].map(|()| noise.vector());
        let reach = root.distance(middle) + middle.distance(tip);
        [root, middle, tip, root + noise.direction() * reach * noise.between(0.1, 1.1)]
    });
    let points = points.collect();
    vec![
        Case { name: "limb on points", task: Task::Points, skeleton: None, goals: points, timed: true },
        limb("limb in a pose", Task::Limb { pole: None, within_limits: false }, true),
        limb("limb with a pole", Task::Limb { pole: Some(Vec3::Z), within_limits: false }, false),
        limb("limb within limits", Task::Limb { pole: None, within_limits: true }, false),
        limb("limb, rotations read", Task::Following, true),
        chain("ten free bones", Task::Chain("auto"), Kind::Free, true),
        chain("ten cones", Task::Chain("auto"), Kind::Cones, true),
        chain("ten hinges", Task::Chain("auto"), Kind::Hinges, false),
        chain("ccd on cones", Task::Chain("ccd"), Kind::Cones, false),
        chain("fabrik on cones", Task::Chain("fabrik"), Kind::Cones, false),
        chain("fold on cones", Task::Chain("fold"), Kind::Cones, false),
        chain("dls on cones", Task::Chain("dls"), Kind::Cones, false),
        chain("free bones alone", Task::Chain("free"), Kind::Free, false),
        chain("ten bones on points", Task::PointChain, Kind::Free, false),
        body("body of five goals", false),
        body("body of five goals within limits", true),
    ]
}

/// A leg that is slightly bent at rest, hip two metres up.
fn leg(limited: bool) -> Arc<Skeleton> {
    let mut builder = Skeleton::builder();
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let hip = builder.add("hip", None, at(0.1, 2.0, 0.0));
    let knee = builder.add("knee", Some(hip), at(0.0, -0.5, 0.05));
    builder.add("ankle", Some(knee), at(0.0, -0.5, -0.05));
    let (mut skeleton, ids) = builder.build().expect("three joints are a skeleton");
    if limited {
        let hip = Joint::cone(Vec3::NEG_Y, 70f64.to_radians(), 40f64.to_radians());
        skeleton.set_joint(ids[0], hip).expect("the cone is sound");
        skeleton.set_joint(ids[1], Joint::hinge(Vec3::X, Dof::range(-0.1, 2.4))).expect("the hinge is sound");
    }
    Arc::new(skeleton)
}

type Solve<'a> = Box<dyn FnMut(&mut Pose, &[Vec3]) -> Report + 'a>;

impl Case {
    fn skeleton(&self) -> &Arc<Skeleton> {
        self.skeleton.as_ref().expect("the case has a skeleton")
    }

    /// Count of goals of a solve.
    fn ends(&self) -> usize {
        if let Task::Body(ends) = &self.task { ends.len() } else { 1 }
    }

    /// The solver of a pose.
    fn solver(&self) -> Solve<'_> {
        let skeleton = self.skeleton();
        let joints: Vec<_> = skeleton.joints().collect();
        let (root, tip) = (joints[0], joints[joints.len() - 1]);
        let whole = || Chain::new(skeleton, root, tip).expect("the chain is sound");
        let boxed: Box<dyn ChainSolver> = match self.task {
            Task::Body(ref ends) => {
                let effectors: Vec<_> = ends.iter().map(|&end| Effector::new(end)).collect();
                let body = FullBody::new(skeleton, root, &effectors).expect("the ends are below the root");
                let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
                let mut goals = vec![Goal::NONE; ends.len()];
                return Box::new(move |pose, at| {
                    goals.iter_mut().zip(at).for_each(|(goal, &at)| *goal = Goal::position(at));
                    body.solve(&mut workspace, pose, &goals, &options).expect("the goals are finite")
                });
            }
            Task::Limb { within_limits, pole } => {
                let limb = if within_limits {
                    TwoBone::within_limits(skeleton, whole(), joints[1])
                } else {
                    TwoBone::new(skeleton, root, joints[1], tip)
                };
                return Self::limb(limb.expect("the limb is sound"), pole);
            }
            Task::Following => {
                return Self::limb(
                    TwoBone::new(skeleton, root, joints[1], tip).expect("the limb is sound"),
                    None,
                );
            }
            Task::Chain("ccd") => Box::new(Ccd::from_chain(skeleton, whole()).expect("ccd takes cones")),
            Task::Chain("fabrik") => {
                Box::new(Fabrik::from_chain(skeleton, whole()).expect("fabrik takes cones"))
            }
            Task::Chain("fold") => Box::new(Fold::from_chain(skeleton, whole()).expect("fold takes cones")),
            Task::Chain("dls") => {
                Box::new(DampedLeastSquares::from_chain(skeleton, whole()).expect("dls takes cones"))
            }
            Task::Chain("free") => {
                Box::new(FreeChain::from_chain(skeleton, whole()).expect("bones are free"))
            }
            _ => Box::new(Auto::from_chain(skeleton, whole()).expect("auto takes all joints")),
        };
        let (mut workspace, options) = (Workspace::new(), IterativeOptions::new());
        Box::new(move |pose, goal| {
            boxed.solve(&mut workspace, pose, &Goal::position(goal[0]), &options).expect("the goal is finite")
        })
    }

    fn limb<'a>(limb: TwoBone, pole: Option<Vec3>) -> Solve<'a> {
        Box::new(move |pose, goal| {
            let goal = Goal::position(goal[0]);
            let goal = pole.map_or(goal, |pole| goal.with_pole(Pole::Direction(pole)));
            limb.solve(pose, &goal, &LimbOptions::new()).expect("the goal is finite")
        })
    }

    pub fn answer(&self) -> Answer {
        let (mut hash, mut reached) = (Hash::new(), 0);
        let mut report = |hash: &mut Hash, report: &Report| {
            hash.add(&[report.position_residual, report.iterations as f32]);
            reached += usize::from(report.reached());
        };
        match self.task {
            Task::Points => self.limbs(|turns| hash.add(turns)),
            Task::PointChain => {
                let rest = self.points();
                let (chain, mut workspace) =
                    (PointChain::new(&rest).expect("a row of points"), Workspace::new());
                let options = PointChainOptions::new();
                for &goal in &self.goals {
                    let mut points = rest.clone();
                    let solved = chain.solve(&mut workspace, &mut points, goal, &options);
                    points.iter().for_each(|point| hash.add(&point.to_array()));
                    report(&mut hash, &solved.expect("the goal is finite"));
                }
            }
            _ => {
                let (mut solve, rest) = (self.solver(), Pose::rest(self.skeleton()));
                let mut pose = rest.clone();
                for goal in self.goals.chunks_exact(self.ends()) {
                    if !matches!(self.task, Task::Following) {
                        pose.clone_from(&rest);
                    }
                    let solved = solve(&mut pose, goal);
                    for joint in self.skeleton().joints() {
                        hash.add(&pose.local(joint).rotation.to_array());
                    }
                    report(&mut hash, &solved);
                }
            }
        }
        Answer { hash: hash.0, reached }
    }

    /// Nanoseconds a solve, the fastest round.
    pub fn nanos(&self) -> f64 {
        let mut out = [0f32; 4 * 20];
        let mut pass: Box<dyn FnMut() + '_> = match self.task {
            Task::Points => Box::new(|| self.limbs(|turns| _ = black_box(turns))),
            _ => {
                let (mut solve, rest) = (self.solver(), Pose::rest(self.skeleton()));
                let joints: Vec<_> = self.skeleton().joints().collect();
                let before: Vec<_> = joints.iter().map(|&joint| *rest.local(joint)).collect();
                let mut pose = rest.clone();
                Box::new(move || {
                    for goal in self.goals.chunks_exact(self.ends()) {
                        black_box(solve(&mut pose, black_box(goal)));
                        for (&joint, to) in joints.iter().zip(out.chunks_exact_mut(4)) {
                            to.copy_from_slice(&pose.local(joint).rotation.to_array());
                        }
                        black_box(&out);
                        if !matches!(self.task, Task::Following) {
                            joints
                                .iter()
                                .zip(&before)
                                .for_each(|(&joint, &local)| pose.set_local(joint, local));
                        }
                    }
                })
            }
        };
        let mut fastest = f64::INFINITY;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            pass();
            fastest = fastest.min(start.elapsed().as_secs_f64());
        }
        1e9 * fastest / GOALS as f64
    }

    /// Turns of each limb of `Task::Points`: root, middle.
    fn limbs(&self, mut each: impl FnMut(&[f32; 8])) {
        for limb in self.goals.chunks_exact(4) {
            let at = LimbPoints { root: limb[0], middle: limb[1], tip: limb[2] };
            let turns = solve_points(&at, limb[3], Pole::Keep, &LimbBend::FREE);
            let mut out = [0.0; 8];
            out[..4].copy_from_slice(&turns.root.to_array());
            out[4..].copy_from_slice(&turns.middle.to_array());
            each(&out);
        }
    }

    /// Positions of all joints at rest.
    fn points(&self) -> Vec<Vec3> {
        let rest = Pose::rest(self.skeleton());
        self.skeleton().joints().map(|joint| rest.position(joint)).collect()
    }
}
