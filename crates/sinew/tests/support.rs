//! Runs every solver with every attribute of joints that it claims, and sees it refuse every other. The table in the docs of
//! `joint` is rendered from the same claims; `SINEW_WRITE_SUPPORT=1 cargo test -p sinew --test suite support::` writes it anew.

use crate::common;
use crate::limit_judge;

use std::{error::Error, fmt::Write, fs, path::Path, sync::Arc};

use common::Random;
use sinew::{
    Chain, Goal, JointId, JointTransform, Pose, Skeleton, Workspace,
    glam::{Quat, Vec3},
    joint::{Attribute, Capability, Dof, Joint, Spring, UnsupportedAttribute},
    mechanism::{self, JointSpaceOptions, JointSpaceSolver, LinkGoal, LinkTarget, SkeletonMechanism},
    solve::{
        self, Aim, Auto, Ccd, ChainSolver, DampedLeastSquares, Effector, Fabrik, FabrikTree, Fold, Follow,
        FollowOptions, FreeChain, FullBody, FullBodyOptions, IterativeOptions, LookAt, LookJoint, Options,
        Spline, SplineOptions, TwoBone,
        spline::{Curve, CurveKind, CurveUp},
    },
};

fn capabilities() -> Vec<Capability> {
    solve::capabilities().into_iter().chain([mechanism::CAPABILITY]).collect()
}

fn table() -> String {
    let all = capabilities();
    let mut table = String::from("| |");
    for c in &all {
        write!(table, " {} |", c.solver.trim_start_matches("a ")).unwrap();
    }
    table += "\n|---|";
    table += &"---|".repeat(all.len());
    let mut row = |title: &str, cell: &dyn Fn(&Capability) -> &'static str| {
        write!(table, "\n| {title} |").unwrap();
        for c in &all {
            write!(table, " {} |", cell(c)).unwrap();
        }
    };
    row("free", &|_| "yes");
    for attribute in Attribute::ALL {
        row(&attribute.to_string(), &|c| match (c.honoured.has(attribute), c.keeps) {
            (true, _) => "yes",
            (false, _) if c.partly.has(attribute) => "some",
            (false, true) => "kept",
            (false, false) => "no",
        });
    }
    table + "\n"
}

#[test]
fn the_table_in_the_docs_is_that_of_the_code() {
    let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/joint/support.md");
    if std::env::var_os("SINEW_WRITE_SUPPORT").is_some() {
        fs::write(&at, table()).unwrap();
    }
    assert_eq!(fs::read_to_string(&at).unwrap(), table(), "see the head of this file");
}

fn random_range(r: &mut Random) -> Dof {
    Dof::range(r.between(-1.5, -0.05), r.between(0.05, 1.5))
}

/// A random joint with an attribute. Where the attribute is one of a degree of freedom, it is a hinge's.
fn joint(attribute: Attribute, r: &mut Random) -> Joint {
    let range = random_range(r);
    let axis = r.vector();
    let hinge = |dof| Joint::hinge(axis, dof);
    match attribute {
        Attribute::Fixed => Joint::FIXED,
        Attribute::Hinge => hinge(range),
        Attribute::Ball => {
            let ranges = [0; 3].map(|_| (r.between(-1.5, -0.1), r.between(0.1, 1.5)));
            Joint::ball(Vec3::Y, Vec3::X, [ranges[0], ranges[1]], ranges[2])
        }
        Attribute::Axes => Joint::axes([Some(range), None, Some(random_range(r))]),
        Attribute::Slider => Joint::slider(axis, Dof::range(-0.3 * r.between(0.1, 1.0), 0.3)),
        Attribute::Ease => hinge(range.with_ease(r.between(0.01, 0.5))),
        Attribute::Stiffness => hinge(range.with_stiffness(r.between(0.05, 0.95))),
        Attribute::Damping => hinge(range.with_damping(r.between(0.05, 0.95))),
        Attribute::Spring => hinge(Dof { spring: Some(Spring { rest: 0.1, strength: 2.0 }), ..range }),
        Attribute::Precedence => hinge(Dof { precedence: 3, ..range }),
        Attribute::Preferred => hinge(range.with_preferred(r.between(range.range.min, range.range.max))),
        _ => unreachable!("an attribute that this suite does not know"),
    }
}

/// Joints in a line, in the rest pose.
fn rig(joints: &[Joint], r: &mut Random) -> (Pose, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut above = None;
    for i in 0..joints.len() {
        let rotation = Quat::from_scaled_axis((r.vector() * 0.5).as_vec3());
        let translation = Vec3::new(0.03, 0.3, -0.02);
        above =
            Some(b.add(format!("j{i}"), above, JointTransform { translation, rotation, scale: Vec3::ONE }));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for (&id, &joint) in ids.iter().zip(joints) {
        skeleton.set_joint(id, joint).unwrap();
    }
    (Pose::rest(&Arc::new(skeleton)), ids)
}

type Answer = Result<(), Box<dyn Error>>;

/// Builds the solver on the whole rig and solves for a place.
fn solve(solver: &str, pose: &mut Pose, ids: &[JointId], place: Vec3) -> Answer {
    let s = pose.skeleton().clone();
    let (w, root, tip) = (&mut Workspace::new(), ids[0], ids[ids.len() - 1]);
    let chain = Chain::new(&s, root, tip)?.with_tip_offset(&s, Vec3::Y * 0.2)?;
    let goal = Goal::position(place);
    let mut chained = |solver: &dyn ChainSolver| -> Answer {
        solver.solve(w, pose, &goal, &IterativeOptions::new())?;
        Ok(())
    };
    match solver {
        "a free chain" => chained(&FreeChain::from_chain(&s, chain)?),
        "ccd" => chained(&Ccd::from_chain(&s, chain)?),
        "fabrik" => chained(&Fabrik::from_chain(&s, chain)?),
        "fold" => chained(&Fold::from_chain(&s, chain)?),
        "dls" => chained(&DampedLeastSquares::from_chain(&s, chain)?),
        "auto" => chained(&Auto::from_chain(&s, chain)?),
        // Root and tip move, as the offset makes the tip the middle joint.
        "two-bone" => chained(&TwoBone::from_chain(&s, chain, tip)?),
        "two-bone within limits" => chained(&TwoBone::within_limits(&s, chain, tip)?),
        "aim" => {
            Aim::new(ids[0], Vec3::Y).solve(pose, place, &Options::new())?;
            Ok(())
        }
        "follow" => {
            let from = pose.model(tip).transform_point3(Vec3::Y * 0.2);
            Follow::from_chain(&s, chain)?.solve(
                w,
                pose,
                from + (place - from) * 0.3,
                &FollowOptions::new(),
            )?;
            Ok(())
        }
        "look-at" => {
            let line: Vec<_> =
                ids.iter().map(|&j| LookJoint::new(j).with_share(0.4).with_cone(2.0)).collect();
            let look = LookAt::new(&s, &line, Vec3::Z)?;
            look.solve(&mut look.state(), pose, place, &Options::new())?;
            Ok(())
        }
        "spline" => {
            let from = pose.position(root);
            let points = [from, from + (place - from) * 0.5 + Vec3::X * 0.2, place];
            let curve = Curve::new(CurveKind::CatmullRom, &points, false, CurveUp::Direction(Vec3::Y))?;
            Spline::from_chain(&s, chain)?.solve(w, pose, &curve, &SplineOptions::new())?;
            Ok(())
        }
        "full body" => {
            let body = FullBody::new(&s, root, &[Effector::new(tip)])?;
            body.solve(w, pose, &[goal], &FullBodyOptions::new())?;
            Ok(())
        }
        "fabrik tree" => {
            let tip = Effector::new(tip).with_offset(Vec3::Y * 0.2);
            FabrikTree::new(&s, root, &[tip])?.solve(w, pose, &[goal], &IterativeOptions::new())?;
            Ok(())
        }
        "joint space" => {
            let compiled = SkeletonMechanism::compile(pose)?;
            let target = LinkTarget::Position(place.as_dvec3());
            let goal = LinkGoal::new(compiled.mechanism(), compiled.link(tip), target);
            let solver = JointSpaceSolver::new(compiled.mechanism(), &[goal])?;
            let mut values = compiled.mechanism().rest();
            compiled.read(pose, &mut values)?;
            solver.solve(w, &[goal], &mut values, &JointSpaceOptions::new())?;
            compiled.write(&values, pose)?;
            pose.update();
            Ok(())
        }
        _ => panic!("{solver}: a solver that this suite does not run"),
    }
}

/// Number of joints that a solver moves of a rig of the suite.
fn joints_of(solver: &str) -> usize {
    match solver {
        "aim" => 1,
        "two-bone" => 2,
        _ => 4,
    }
}

/// Radians by which a joint is out of its limits, and metres by which a slide is.
fn out(pose: &Pose, joint: JointId) -> f64 {
    let (s, local) = (pose.skeleton(), pose.local(joint));
    let (own, rest) = (s.joint(joint), s.rest(joint));
    let moved = rest.rotation.as_dquat().inverse() * (local.translation - rest.translation).as_dvec3();
    let slides = own.slide.iter().enumerate().map(|(i, dof)| {
        let at = own.slide_axes.col(i).dot(moved);
        let range = dof.map_or((0.0, 0.0), |d| (d.range.min, d.range.max));
        (range.0 - at).max(at - range.1)
    });
    // Follow and spline carry the chain's root along.
    let slides = slides.filter(|_| own.slide.iter().any(Option::is_some));
    limit_judge::excess(own, rest, local).into_iter().chain(slides).fold(0.0, f64::max)
}

#[test]
fn what_a_solver_claims_it_honours() {
    for capability in capabilities() {
        let count = joints_of(capability.solver);
        for attribute in Attribute::ALL.into_iter().filter(|&a| capability.honoured.has(a)) {
            let mut turned = 0;
            for seed in 1..150u64 {
                let r = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
                // One joint of a longer chain is free, so that fixed joints leave something to turn.
                let joints: Vec<_> = (0..count)
                    .map(|i| match i == 0 || ((i != 1 || count == 2) && r.between(0.0, 1.0) < 0.6) {
                        true => joint(attribute, r),
                        false => Joint::FREE,
                    })
                    .collect();
                assert!(joints[0].attributes().has(attribute));
                let (mut pose, ids) = rig(&joints, r);
                let place = (r.vector() * 1.2).as_vec3();
                let before = pose.clone();
                solve(capability.solver, &mut pose, &ids, place)
                    .unwrap_or_else(|e| panic!("{}, {attribute}: {e}", capability.solver));
                pose.check_finite().unwrap();
                for &id in &ids {
                    let out = out(&pose, id);
                    assert!(
                        out <= 1e-5,
                        "{}, {attribute}, seed {seed}: {id} is out by {out:e}",
                        capability.solver
                    );
                }
                turned += usize::from(before.locals() != pose.locals());
            }
            assert!(turned > 50, "{}, {attribute}: {turned} moved", capability.solver);
        }
    }
}

/// A limb within limits honours attributes by the joint that has them.
#[test]
fn what_a_limb_claims_of_some_joints_it_honours_there() {
    let parts = [
        (Attribute::Ball, Attribute::Hinge),
        (Attribute::Ball, Attribute::Preferred),
        (Attribute::Ball, Attribute::Axes),
        (Attribute::Ball, Attribute::Ball),
    ];
    for (root, middle) in parts {
        for seed in 1..150u64 {
            let r = &mut Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let bends = match middle {
                Attribute::Axes => Joint::axes([None, Some(random_range(r)), None]),
                Attribute::Ball => {
                    let ranges =
                        [(-0.1, 2.0), (-0.15, 0.1), (-1.0, 1.2)].map(|(a, b)| (r.between(a, 0.0) - 0.01, b));
                    Joint::ball(Vec3::Y, Vec3::X, [ranges[0], ranges[1]], ranges[2])
                }
                other => joint(other, r),
            };
            let (mut pose, ids) = rig(&[joint(root, r), bends], r);
            let place = (r.vector() * 1.2).as_vec3();
            solve("two-bone within limits", &mut pose, &ids, place).unwrap();
            assert!(ids.iter().all(|&id| out(&pose, id) <= 1e-5), "{root} {middle} {seed}");
        }
    }
}

#[test]
fn what_a_solver_does_not_claim_it_refuses() {
    for capability in capabilities() {
        let count = joints_of(capability.solver);
        for attribute in Attribute::ALL.into_iter().filter(|&a| !capability.honoured.has(a)) {
            for at in 0..count {
                let r = &mut Random(7 + at as u64);
                let mut joints = vec![Joint::FREE; count];
                joints[at] = joint(attribute, r);
                let (mut pose, ids) = rig(&joints, r);
                let before = pose.clone();
                let error = solve(capability.solver, &mut pose, &ids, Vec3::ONE).unwrap_err();
                // A hinge that eases is refused as a hinge, where hinges are refused.
                let attribute = joints[at].attributes().first_beyond(capability.honoured).unwrap();
                let wanted =
                    UnsupportedAttribute { joint: format!("j{at}"), attribute, solver: capability.solver };
                assert_eq!(error.to_string(), wanted.to_string());
                assert_eq!(before.locals(), pose.locals());
            }
        }
    }
}
