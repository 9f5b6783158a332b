//! Every solver against the list of what solvers promise.
//!
//! The checks know nothing of how a solver works. A solver joins by implementing [`Subject`] and naming itself in the
//! list at the end.

mod bounded;
mod bounded_closed;
mod branch;
mod checks;
use crate::common;
mod corners;
mod drag;
mod fabrik_tree;
mod free_chain;
mod full_body;
use crate::held;
pub mod judge;
use crate::limit_judge;
mod limited;
mod look_at;
pub mod rig;
mod spline;
mod subject;
mod table;

use proptest::{prelude::*, test_runner::RngSeed};
use sinew::{
    Goal, JointId, Pose, Report, SolveError,
    glam::Vec3,
    solve::{Aim, AimUp, LimbOptions, Options, TwoBone},
};
use subject::Subject;

struct Limb {
    solver: TwoBone,
    joints: [JointId; 3],
}

impl Subject for Limb {
    fn new(rig: &rig::Rig) -> Self {
        let solver = TwoBone::new(rig.pose.skeleton(), rig.root, rig.middle, rig.tip).unwrap();
        Self { solver, joints: [rig.root, rig.middle, rig.tip] }
    }

    fn solve(&self, pose: &mut Pose, goal: Vec3, weight: f32) -> Result<Report, SolveError> {
        self.solver.solve(pose, &Goal::position(goal), &LimbOptions::new().with_influence(weight))
    }

    fn turning(&self) -> Vec<JointId> {
        self.joints[..2].to_vec()
    }

    fn objective(&self, pose: &Pose, goal: Vec3) -> f64 {
        judge::length(judge::sub(judge::position(pose, self.joints[2]), judge::v(goal)))
    }

    fn met(&self, pose: &Pose) -> Option<Vec3> {
        Some(pose.position(self.joints[2]))
    }

    fn out_of_reach(&self, pose: &Pose, goal: Vec3) -> f64 {
        let [r, m, t] = self.joints.map(|j| judge::position(pose, j));
        let (a, b) = (judge::length(judge::sub(m, r)), judge::length(judge::sub(t, m)));
        let x = judge::length(judge::sub(judge::v(goal), r));
        (x - a - b).max((a - b).abs() - x).max(0.0)
    }
}

/// Aims the middle joint of the rig. `UP`: with an up vector; `OFFSET`: from a point beside the joint.
struct Pointer<const UP: bool, const OFFSET: bool> {
    solver: Aim,
    length: f64,
}

impl<const UP: bool, const OFFSET: bool> Pointer<UP, OFFSET> {
    /// The ray: its start, its unit direction.
    fn ray(&self, pose: &Pose) -> (judge::V, judge::V) {
        let frame = judge::frame(pose, self.solver.joint);
        (frame.point(judge::v(self.solver.offset)), judge::unit(frame.vector(judge::v(self.solver.axis))))
    }
}

impl<const UP: bool, const OFFSET: bool> Subject for Pointer<UP, OFFSET> {
    fn new(rig: &rig::Rig) -> Self {
        let below = rig.pose.skeleton().children(rig.middle).next().unwrap();
        let bone = rig.pose.local(below).translation;
        let mut solver = Aim::new(rig.middle, Vec3::new(0.6, -0.48, 0.64));
        if OFFSET {
            solver.offset = bone * 0.3;
        }
        if UP {
            solver.up =
                Some(AimUp { axis: Vec3::new(0.8, 0.36, -0.48), direction: Vec3::new(0.1, 1.0, 0.2) });
        }
        Self { solver, length: rig.length }
    }

    fn solve(&self, pose: &mut Pose, goal: Vec3, weight: f32) -> Result<Report, SolveError> {
        self.solver.solve(pose, goal, &Options::new().with_influence(weight))
    }

    fn turning(&self) -> Vec<JointId> {
        vec![self.solver.joint]
    }

    fn objective(&self, pose: &Pose, goal: Vec3) -> f64 {
        let (start, along) = self.ray(pose);
        let to = judge::sub(judge::v(goal), start);
        let ahead = judge::dot(to, along).max(0.0);
        judge::length(judge::sub(to, judge::scale(along, ahead)))
    }

    fn met(&self, pose: &Pose) -> Option<Vec3> {
        let (start, along) = self.ray(pose);
        let joint = judge::position(pose, self.solver.joint);
        let far = judge::length(judge::sub(start, joint)) + self.length;
        let p = judge::add(start, judge::scale(along, 2.0 * far));
        // With an up vector, the ray through the goal is not all that is asked for.
        (!UP).then_some(Vec3::new(p[0] as f32, p[1] as f32, p[2] as f32))
    }

    fn settles(&self, pose: &Pose, goal: Vec3) -> bool {
        // Near the way to the target, the up vector only pulls part of the way.
        let way = goal - pose.position(self.solver.joint);
        self.solver.up.is_none_or(|up| way.normalize().cross(up.direction.normalize()).length() > 0.2)
    }

    fn out_of_reach(&self, pose: &Pose, goal: Vec3) -> f64 {
        let (start, along) = self.ray(pose);
        let joint = judge::position(pose, self.solver.joint);
        let o = judge::sub(start, joint);
        let ahead = judge::dot(o, along);
        let r = judge::length(judge::sub(o, judge::scale(along, ahead)));
        let x = judge::length(judge::sub(judge::v(goal), joint));
        (if ahead > 0.0 { judge::length(o) } else { r } - x).max(0.0)
    }
}

/// Goals in a direction from the root: inside, outside, at the root, at full stretch.
fn fraction() -> impl Strategy<Value = f32> {
    prop_oneof![6 => 0.0f32..1.0, 2 => 1.0f32..3.0, 1 => Just(0.0), 1 => Just(1.0), 1 => Just(1e4), 1 => Just(1e-5)]
}

/// The same cases on every run, so that a failure is never a matter of luck; many, so that the seed is none either.
/// `SINEW_SEED` gives others.
fn config(cases: u32) -> ProptestConfig {
    let seed = std::env::var("SINEW_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20);
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(seed), failure_persistence: None, ..Default::default() }
}

macro_rules! suite {
    ($($name:ident: $subject:ty;)*) => {$(
        mod $name {
            use super::*;
            type S = $subject;

            proptest! {
                #![proptest_config(config(4000))]

                #[test]
                fn only_turns_its_own_joints(r in rig::rig(), d in rig::vector(), f in fraction()) {
                    checks::only_turns::<S>(&r, r.goal(d, f));
                }

                #[test]
                fn is_honest_about_the_residual(r in rig::rig(), d in rig::vector(), f in fraction()) {
                    checks::is_honest::<S>(&r, r.goal(d, f));
                }

                #[test]
                fn gives_the_same_bits_again(r in rig::rig(), d in rig::vector(), f in fraction()) {
                    checks::repeats::<S>(&r, r.goal(d, f), r.goal(-d, 0.5));
                }

                #[test]
                fn keeps_what_is_already_there(r in rig::rig(), d in rig::vector(), f in fraction()) {
                    checks::keeps_what_is_there::<S>(&r, r.goal(d, f));
                }
            }

            proptest! {
                #![proptest_config(config(400))]

                #[test]
                fn refuses_what_is_not_finite(r in rig::rig(), d in rig::vector(), f in fraction()) {
                    checks::refuses_nan::<S>(&r, r.goal(d, f));
                }

                #[test]
                fn stays_finite(r in rig::rig(), d in rig::vector()) {
                    checks::stays_finite::<S>(&r, d);
                }

                #[test]
                fn blends_by_weight(r in rig::rig(), d in rig::vector(), f in fraction()) {
                    checks::blends::<S>(&r, r.goal(d, f));
                }
            }
        }
    )*};
}

/// The same below a parent with unequal scales.
macro_rules! squashed {
    ($($name:ident: $subject:ty;)*) => {$(
        mod $name {
            use super::*;
            type S = $subject;

            proptest! {
                #![proptest_config(config(1000))]

                #[test]
                fn only_turns_its_own_joints(r in rig::squashed(), d in rig::vector(), f in fraction()) {
                    checks::only_turns::<S>(&r, r.goal(d, f));
                }

                #[test]
                fn is_honest_about_the_residual(r in rig::squashed(), d in rig::vector(), f in fraction()) {
                    checks::is_honest_below::<S>(&r, r.goal(d, f));
                }

                #[test]
                fn gives_the_same_bits_again(r in rig::squashed(), d in rig::vector(), f in fraction()) {
                    checks::repeats::<S>(&r, r.goal(d, f), r.goal(-d, 0.5));
                }
            }

            proptest! {
                #![proptest_config(config(300))]

                #[test]
                fn refuses_what_is_not_finite(r in rig::squashed(), d in rig::vector(), f in fraction()) {
                    checks::refuses_nan::<S>(&r, r.goal(d, f));
                }

                #[test]
                fn stays_finite(r in rig::squashed(), d in rig::vector()) {
                    checks::stays_finite::<S>(&r, d);
                }

                #[test]
                fn blends_by_weight(r in rig::squashed(), d in rig::vector(), f in fraction()) {
                    checks::blends::<S>(&r, r.goal(d, f));
                }
            }
        }
    )*};
}

squashed! {
    squashed_limb: Limb;
    squashed_chain_of_free_joints: free_chain::Free;
    squashed_aim: Pointer<false, false>;
    squashed_aim_from_an_offset: Pointer<false, true>;
    squashed_aim_upright: Pointer<true, false>;
}

suite! {
    limb: Limb;
    chain_of_free_joints: free_chain::Free;
    aim: Pointer<false, false>;
    aim_from_an_offset: Pointer<false, true>;
    aim_upright: Pointer<true, false>;
    aim_upright_from_an_offset: Pointer<true, true>;
}
