//! Judges that every chain solver accepts one range of tolerances, whatever its joints.

use crate::common;
use crate::held;

use held::held;
use sinew::{
    Goal, JointTransform, Pose, SolveError, Workspace,
    glam::{Vec2, Vec3},
    joint::{Dof, Joint},
    planar,
    solve::{
        Auto, Ccd, ChainSolver, Fabrik, Fold, FreeChain, IterativeOptions, PointChain, Tolerance, TwoBone,
    },
};

/// Solves with a tolerance and returns whether it was accepted. A refused tolerance leaves the pose as it was.
fn takes(solve: impl FnOnce(&mut Pose) -> Result<(), SolveError>, pose: &Pose) -> bool {
    let mut solved = pose.clone();
    match solve(&mut solved) {
        Ok(()) => true,
        Err(SolveError::OutOfRange { what, .. }) => {
            assert!(what.contains("tolerance"), "{what}");
            assert_eq!(solved.locals(), pose.locals());
            false
        }
        Err(other) => panic!("{other}"),
    }
}

/// Accepted shares: the largest is the chain's length, the smallest the smallest f32.
const TAKEN: [f32; 5] = [f32::from_bits(1), f32::MIN_POSITIVE, 1e-4, 0.5, 1.0];
const REFUSED: [f32; 7] = [0.0, -1e-6, 1.0 + f32::EPSILON, 2.0, f32::MAX, f32::INFINITY, f32::NAN];

#[test]
fn auto_takes_the_same_tolerances_whatever_its_joints_may_do() {
    let hinge = |_| Joint::hinge(Vec3::X, Dof::range(-2.0, 2.0));
    let free = |_| Joint::FREE;
    let kinds: [fn(usize) -> Joint; 2] = [free, hinge];
    for joint in kinds {
        let (skeleton, ids) = common::column(3, 1.0, joint);
        let pose = Pose::rest(&skeleton);
        let auto = held(Auto::new(&skeleton, ids[0], ids[3]).unwrap());
        let goal = Goal::position(Vec3::new(0.0, 1.5, 1.0));
        let with = |tolerance: f32, turn: f32| {
            let mut auto = auto.clone();
            (auto.options.position_tolerance, auto.options.rotation_tolerance) =
                (Tolerance::Share(tolerance), turn);
            takes(|pose| auto.solve(pose, &goal).map(|_| ()), &pose)
        };
        for tolerance in TAKEN {
            assert!(with(tolerance, 1e-3), "{tolerance} was refused by {:?}", auto.method());
        }
        for tolerance in REFUSED {
            assert!(!with(tolerance, 1e-3), "{tolerance} was taken by {:?}", auto.method());
        }
        for turn in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(!with(1e-4, turn), "{turn} rad was taken by {:?}", auto.method());
        }
        // As near as f32 resolves.
        let mut auto = auto.clone();
        auto.options.position_tolerance = Tolerance::Share(f32::MIN_POSITIVE);
        let report = auto.solve(&mut pose.clone(), &goal).unwrap();
        assert!(report.position_residual < 1e-5, "{report:?}");
    }
}

#[test]
fn no_solver_of_chains_takes_a_tolerance_beyond_the_chain_s_length() {
    let (skeleton, ids) = common::column(3, 1.0, |_| Joint::FREE);
    let pose = Pose::rest(&skeleton);
    let goal = Goal::position(Vec3::new(0.0, 1.5, 1.0));
    let points = [Vec3::ZERO, Vec3::Y, Vec3::Y * 2.0];
    type Solve<'a> = Box<dyn Fn(f32, &mut Pose) -> Result<(), SolveError> + 'a>;
    let solvers: [(&str, Solve); 5] = [
        (
            "ccd",
            Box::new(|tolerance, pose| {
                let mut s = held(Ccd::new(&skeleton, ids[0], ids[3]).unwrap());
                s.options.position_tolerance = Tolerance::Share(tolerance);
                s.solve(pose, &goal).map(|_| ())
            }),
        ),
        (
            "fabrik",
            Box::new(|tolerance, pose| {
                let mut s = held(Fabrik::new(&skeleton, ids[0], ids[3]).unwrap());
                s.options.position_tolerance = Tolerance::Share(tolerance);
                s.solve(pose, &goal).map(|_| ())
            }),
        ),
        (
            "fold",
            Box::new(|tolerance, pose| {
                let mut s = held(Fold::new(&skeleton, ids[0], ids[3]).unwrap());
                s.options.position_tolerance = Tolerance::Share(tolerance);
                s.solve(pose, &goal).map(|_| ())
            }),
        ),
        (
            "free chain",
            Box::new(|tolerance, pose| {
                let mut s = held(FreeChain::new(&skeleton, ids[0], ids[3]).unwrap());
                s.options.position_tolerance = Tolerance::Share(tolerance);
                s.solve(pose, &goal).map(|_| ())
            }),
        ),
        (
            "strand",
            Box::new(|tolerance, _| {
                let mut s = held(PointChain::new(&points).unwrap());
                s.options.position_tolerance = Tolerance::Share(tolerance);
                s.solve(&mut points.clone(), Vec3::X).map(|_| ())
            }),
        ),
    ];
    for (name, solve) in &solvers {
        for tolerance in TAKEN {
            assert!(takes(|pose| solve(tolerance, pose), &pose), "{name} refused {tolerance}");
        }
        for tolerance in REFUSED {
            assert!(!takes(|pose| solve(tolerance, pose), &pose), "{name} took {tolerance}");
        }
    }
    let bones = [planar::Bone2d::new(1.0); 2];
    for (list, taken) in [(&TAKEN[..], true), (&REFUSED[..], false)] {
        for &tolerance in list {
            let mut chain = planar::Chain2d::new(Vec2::ZERO, &bones).unwrap();
            let settings = planar::Options2d::new().with_position_tolerance(Tolerance::Share(tolerance));
            let solved = chain.solve(Vec2::new(0.3, 1.2), &settings);
            assert_eq!(solved.is_ok(), taken, "{tolerance}: {solved:?}");
            assert!(taken || chain.bones() == bones);
        }
    }
}

/// Also below a sheared parent, a tolerance in metres counts in model space, and no other is added.
#[test]
fn a_limb_takes_metres_below_a_sheared_parent() {
    for scale in [Vec3::ONE, Vec3::new(1.0, 10.0, 1.0), Vec3::new(1.0, 0.1, 1.0)] {
        let above = JointTransform { scale, ..JointTransform::IDENTITY };
        let (skeleton, ids) = common::row(above, &[Vec3::ZERO, Vec3::X, Vec3::X], |_| Joint::FREE);
        let limb = TwoBone::new(&skeleton, ids[0], ids[1], ids[2]).unwrap();
        let goal = Goal::position(Vec3::new(1.2, 0.5, 0.1) * scale);
        for metres in [1e-6, 0.01] {
            let options = IterativeOptions::new().with_position_tolerance(Tolerance::Metres(metres));
            let mut pose = Pose::rest(&skeleton);
            let report =
                ChainSolver::solve(&limb, &mut Workspace::new(), &mut pose, &goal, &options).unwrap();
            let off = report.position_tolerance - metres;
            assert!(report.reached() && (-1e-6..3e-5).contains(&off), "{scale}: {report:?}");
        }
    }
}
