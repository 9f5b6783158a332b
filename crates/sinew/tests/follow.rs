//! Judges `Follow`, from both ends, by a reference on points in f64.

use crate::common;
use crate::held;
use crate::limit_judge as judge;

use common::{noise, row};
use held::held;
use sinew::{
    JointTransform, Pose, SolveError,
    glam::{DVec3, Vec3},
    joint::{Dof, Joint},
    math,
    solve::{ChainSolverError, Follow, Lead},
};

/// Reference: the method on points.
fn pulled(points: &mut [DVec3], lead: Lead, to: DVec3) {
    let lengths: Vec<f64> = points.windows(2).map(|w| w[0].distance(w[1])).collect();
    let n = points.len();
    match lead {
        Lead::Root => {
            points[0] = to;
            for i in 1..n {
                points[i] = points[i - 1] + (points[i] - points[i - 1]).normalize() * lengths[i - 1];
            }
        }
        Lead::Tip => {
            points[n - 1] = to;
            for i in (0..n - 1).rev() {
                points[i] = points[i + 1] + (points[i] - points[i + 1]).normalize() * lengths[i];
            }
        }
    }
}

#[test]
fn free_chains_move_as_bare_points_do() {
    let mut r = noise(4);
    for scale in [Vec3::ONE, Vec3::splat(0.01), Vec3::splat(-3.0), Vec3::new(-1.0, 1.0, 1.0)] {
        for lead in [Lead::Tip, Lead::Root] {
            let mut v = || Vec3::new(r(), r(), r());
            let offsets: Vec<Vec3> = (0..8).map(|_| v()).collect();
            let (skeleton, ids) =
                row(JointTransform { scale, ..JointTransform::IDENTITY }, &offsets, |_| Joint::FREE);
            let mut solver = held(Follow::new(&skeleton, ids[0], ids[7]).unwrap());
            solver.options.lead = lead;
            let mut pose = Pose::rest(&skeleton);
            let mut points: Vec<DVec3> = ids.iter().map(|&j| pose.position(j).as_dvec3()).collect();
            let size = scale.x.abs();
            for _ in 0..20 {
                let to = v() * 2.0 * size;
                let report = solver.solve(&mut pose, to).unwrap();
                assert!(report.position_residual < 3e-6 * size);
                pulled(&mut points, lead, to.as_dvec3());
                for (&id, p) in ids.iter().zip(&points) {
                    let off = pose.position(id).as_dvec3().distance(*p);
                    assert!(off < 1e-4 * size as f64, "{lead:?} {scale}: {off}");
                }
            }
        }
    }
}

#[test]
fn the_same_limits_hold_whichever_end_leads() {
    let mut r = noise(9);
    for lead in [Lead::Tip, Lead::Root] {
        for kind in 0..3 {
            let joint = |i: usize| match kind {
                0 => Joint::hinge(Vec3::Z, Dof::range(-0.2, 0.6)),
                1 => Joint::cone(Vec3::X, 0.5, 0.3),
                _ if i == 3 => Joint::FIXED,
                _ => Joint::axes([None, Some(Dof::range(-0.5, 0.1)), Some(Dof::range(-0.3, 0.3))]),
            };
            // The root moves and turns freely.
            let (skeleton, ids) =
                row(JointTransform::IDENTITY, &[Vec3::X; 9], |i| if i == 0 { Joint::FREE } else { joint(i) });
            let mut solver = held(Follow::new(&skeleton, ids[0], ids[8]).unwrap());
            solver.options.lead = lead;
            let mut pose = Pose::rest(&skeleton);
            for _ in 0..200 {
                let z = if kind == 0 { 0.0 } else { r() };
                let to = Vec3::new(r(), r(), z) * 6.0;
                let report = solver.solve(&mut pose, to).unwrap();
                assert!(report.position_residual < 1e-4, "{report:?}");
                for &j in &ids {
                    for out in judge::excess(skeleton.joint(j), skeleton.rest(j), pose.local(j)) {
                        assert!(out < 1e-5, "{lead:?} {kind}: {out:e}");
                    }
                }
                for w in ids.windows(2) {
                    assert!((pose.position(w[1]).distance(pose.position(w[0])) - 1.0).abs() < 1e-5);
                }
            }
        }
    }
}

#[test]
fn a_signed_angle_is_counted_from_the_parent_to_the_joint() {
    // A chain along X in the plane with normal Z. It bends to the left (counter-clockwise) only.
    for lead in [Lead::Tip, Lead::Root] {
        let (skeleton, ids) = row(JointTransform::IDENTITY, &[Vec3::X; 3], |i| match i {
            0 => Joint::FREE,
            _ => Joint::hinge(Vec3::Z, Dof::range(0.0, 0.5)),
        });
        let mut solver = held(Follow::new(&skeleton, ids[0], ids[2]).unwrap());
        solver.options.lead = lead;
        let angle = |pose: &Pose| {
            let [a, b, c] = [0, 1, 2].map(|i| pose.position(ids[i]));
            let (u, v) = (b - a, c - b);
            math::atan2(u.x * v.y - u.y * v.x, u.x * v.x + u.y * v.y)
        };
        for (to, expected) in [(0.9f32, 0.5f32), (-0.9, 0.0)] {
            let mut pose = Pose::rest(&skeleton);
            // Pulling either end up turns the last bone left of the one before: the tip moves with it, and the root's bone
            // points steeply down.
            let start = if lead == Lead::Tip { pose.position(ids[2]) } else { pose.position(ids[0]) };
            solver.solve(&mut pose, start + Vec3::new(0.0, 2.0 * to, 0.0)).unwrap();
            assert!((angle(&pose) - expected).abs() < 1e-5, "{lead:?} {to}: {}", angle(&pose));
        }
    }
}

#[test]
fn what_leads_already_there_moves_nothing() {
    let (skeleton, ids) = row(JointTransform::IDENTITY, &[Vec3::X, Vec3::Y, Vec3::Z], |_| Joint::FREE);
    for lead in [Lead::Tip, Lead::Root] {
        let mut solver = held(Follow::new(&skeleton, ids[0], ids[2]).unwrap());
        solver.options.lead = lead;
        let mut pose = Pose::rest(&skeleton);
        let before = pose.clone();
        let at = if lead == Lead::Tip { pose.position(ids[2]) } else { pose.position(ids[0]) };
        assert_eq!(solver.solve(&mut pose, at).unwrap().iterations, 0);
        assert_eq!(pose.locals(), before.locals());
        assert!(matches!(solver.solve(&mut pose, Vec3::NAN), Err(SolveError::NotFinite { .. })));
        solver.options.influence = 0.0;
        solver.solve(&mut pose, Vec3::splat(3.0)).unwrap();
        assert_eq!(pose.locals(), before.locals());
    }
}

#[test]
fn sliders_and_ease_are_refused_by_name() {
    let slide = Joint::FREE.with_slide([Some(Dof::FREE), None, None]);
    let (skeleton, ids) = row(JointTransform::IDENTITY, &[Vec3::X; 3], |_| slide);
    let Err(ChainSolverError::Joint(error)) = Follow::new(&skeleton, ids[0], ids[2]) else { panic!() };
    assert_eq!(error.to_string(), "joint `0` has a slider, which follow cannot honour");
}
