//! Judges placements, which take goals to model space and answers to the world, by affine maths in f64.

use crate::common;

use std::sync::Arc;

use common::noise;
use sinew::{
    AffineError, Goal, JointTransform, Placement, Pole, Pose, Skeleton,
    glam::{Affine3, DAffine3, DMat3, DVec3, Mat3, Quat, Vec3},
    ground::{Filter, Ground, Plane},
    math,
    solve::{LimbOptions, TwoBone},
};

struct Dice(Box<dyn FnMut() -> f32>);

impl Dice {
    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.0(), self.0(), self.0())
    }

    fn rotation(&mut self) -> Quat {
        loop {
            let v = self.vector();
            let q = Quat::from_xyzw(v.x, v.y, v.z, self.0());
            if q.length_squared() > 0.01 {
                return math::normalize(q);
            }
        }
    }

    /// A placement of any size, every third one mirrored.
    fn placement(&mut self, case: usize) -> Affine3 {
        let size = 10f32.powf(2.0 * self.0());
        let scale = [Vec3::ONE, Vec3::ONE, Vec3::NEG_ONE][case % 3] * size;
        Affine3::from_scale_rotation_translation(scale, self.rotation(), self.vector() * 20.0)
    }
}

fn wide(world: &Affine3) -> DAffine3 {
    let [x, y, z] = [world.matrix3.x_axis, world.matrix3.y_axis, world.matrix3.z_axis].map(Vec3::as_dvec3);
    DAffine3 { matrix3: DMat3::from_cols(x, y, z), translation: world.translation.as_dvec3() }
}

#[test]
fn points_and_directions_go_there_and_back() {
    let mut dice = Dice(Box::new(noise(1)));
    for case in 0..3000 {
        let world = dice.placement(case);
        let (placement, truth) = (Placement::new(world).unwrap(), wide(&world));
        let size = f64::from(placement.scale().abs());
        assert!((placement.scale() < 0.0) == (case % 3 == 2));
        let p = dice.vector() * 3.0;
        let (there, back) = (placement.to_world(p), truth.transform_point3(p.as_dvec3()));
        assert!(there.as_dvec3().distance(back) < 1e-5 * (size + 30.0));
        let q = dice.vector() * 30.0;
        let (there, back) = (placement.to_model(q), truth.inverse().transform_point3(q.as_dvec3()));
        assert!(there.as_dvec3().distance(back) < 1e-5 * (1.0 + 60.0 / size), "{there} {back}");
        let d = dice.vector();
        let (there, back) = (placement.direction_to_world(d), truth.matrix3 * d.as_dvec3() / size);
        assert!(there.as_dvec3().distance(back) < 1e-5);
        assert!(placement.direction_to_model(there).distance(d) < 1e-5);
    }
}

/// A leg that is solved in model space for a goal in the world has its foot, its rotation and its knee at the world's goals.
#[test]
fn goals_of_the_world_are_met_in_the_world() {
    let mut dice = Dice(Box::new(noise(2)));
    let at = JointTransform::from_translation;
    let mut b = Skeleton::builder();
    let hip = b.add("hip", None, at(Vec3::new(0.1, 0.9, 0.0)));
    let knee = b.add("knee", Some(hip), at(Vec3::new(0.0, -0.45, 0.05)));
    let foot = b.add("foot", Some(knee), at(Vec3::new(0.0, -0.42, -0.05)));
    let (skeleton, ids) = b.build().unwrap();
    let skeleton = Arc::new(skeleton);
    let leg = TwoBone::new(&skeleton, ids[hip], ids[knee], ids[foot]).unwrap();
    for case in 0..3000 {
        let world = dice.placement(case);
        let (placement, truth) = (Placement::new(world).unwrap(), wide(&world));
        let mut pose = Pose::rest(&skeleton);
        let metre = placement.scale().abs();
        let from = placement.to_world(pose.position(ids[hip]));
        let place = from + dice.vector().normalize_or(Vec3::X) * (0.5 * metre);
        let (turn, pole) = (dice.rotation(), dice.vector());
        let swivel = dice.0();
        let goal = Goal::position(place).with_rotation(turn).with_swivel(swivel);
        let goal = if case % 2 == 0 {
            goal.with_pole(Pole::Direction(pole))
        } else {
            goal.with_pole(Pole::Point(from + pole * metre))
        };
        let report = leg.solve(&mut pose, &placement.goal(goal), &LimbOptions::new()).unwrap();
        let shown = |joint| truth.transform_point3(pose.position(joint).as_dvec3());
        let far = 30.0 + 2.0 * f64::from(metre);
        let off = shown(ids[foot]).distance(place.as_dvec3());
        assert!(off < 4e-6 * far, "{off}");
        let placed = placement.report(report);
        assert!((f64::from(placed.position_residual) - off).abs() < 4e-6 * far);
        assert_eq!(placed.reached(), report.reached());
        // A mirrored foot has all axes reversed.
        let sign = f64::from(placement.scale().signum());
        let frame = truth.matrix3 * wide(&pose.model(ids[foot])).matrix3;
        for (axis, wanted) in [(frame.x_axis, Vec3::X), (frame.y_axis, Vec3::Y)] {
            let wanted = math::rotate(turn, wanted).as_dvec3() * sign;
            assert!(axis.normalize().distance(wanted) < 1e-4, "{axis} {wanted}");
        }
        // The knee lies in the pole's plane, rotated by the swivel angle (right-handed) about the direction to the goal.
        let line = (place - from).as_dvec3().normalize();
        let across = |v: DVec3| (v - line * v.dot(line)).normalize();
        if pole.as_dvec3().normalize().cross(line).length() < 0.3 {
            continue;
        }
        let bent = across(shown(ids[knee]) - shown(ids[hip]));
        let wanted = across(pole.as_dvec3());
        let (sin, cos) = f64::from(swivel).sin_cos();
        let wanted = wanted * cos + line.cross(wanted) * sin;
        // (f32 resolves a position in the world to a millionth of its distance, and the figure may be small.)
        let near = 1e-4 + 1e-6 * far / f64::from(metre);
        assert!(bent.distance(wanted) < near, "case {case}: {bent} {wanted}");
    }
}

#[test]
fn casts_through_a_placement_are_casts_in_the_world() {
    let mut dice = Dice(Box::new(noise(3)));
    let normal = Vec3::new(0.2, 1.0, -0.1).normalize();
    let slope = Plane { point: Vec3::Y * 0.3, normal };
    let (mut hits, mut misses) = (0, 0);
    for case in 0..3000 {
        let world = dice.placement(case);
        let placement = Placement::new(world).unwrap();
        let metre = placement.scale().abs();
        let ground = placement.ground(&slope);
        let origin = dice.vector() * 4.0;
        let along = dice.vector().normalize_or(Vec3::NEG_Y);
        let (reach, radius) = (6.0 * metre, 0.2 * metre);
        let filter = Filter::new().with_max_slope([0.5, 3.2][case % 2]);
        let (from, way) = (placement.to_model(origin), placement.direction_to_model(along));
        for (there, here) in [
            (slope.cast_ray(origin, along, reach, &filter), ground.cast_ray(from, way, 6.0, &filter)),
            (
                slope.cast_sphere(origin, radius, along, reach, &filter),
                ground.cast_sphere(from, 0.2, way, 6.0, &filter),
            ),
        ] {
            let (Some(there), Some(here)) = (there, here) else {
                // (At the end of the reach rounding decides.)
                let near = there.or(here).is_some_and(|hit| {
                    let reach = if there.is_some() { reach } else { 6.0 };
                    hit.distance < 0.999 * reach && hit.distance > 1e-3 * reach
                });
                assert!(!near, "case {case}: {there:?} {here:?}");
                misses += 1;
                continue;
            };
            hits += 1;
            let far = 1e-4 * (30.0 + metre);
            assert!((there.distance - here.distance * metre).abs() < far);
            assert!(there.point.distance(placement.to_world(here.point)) < far);
            assert!(there.normal.distance(placement.direction_to_world(here.normal)) < 1e-4);
            assert_eq!(there.groups, here.groups);
        }
    }
    assert!(hits > 500 && misses > 500, "{hits} {misses}");
}

#[test]
fn what_is_no_placement_is_refused_and_says_why() {
    let sheared =
        Affine3 { matrix3: Mat3::from_cols(Vec3::X, Vec3::new(0.1, 1.0, 0.0), Vec3::Z), ..Affine3::IDENTITY };
    for (bad, says) in [
        (sheared, "shear by 0.099"),
        (Affine3::from_scale(Vec3::new(1.0, 2.0, 1.0)), "shear by 0.5"),
        (Affine3::from_scale(Vec3::ZERO), "not 0"),
        (Affine3::from_scale(Vec3::splat(1e-42)), "a scale from 1e-12 to 1e12"),
        (Affine3::from_scale(Vec3::splat(1e13)), "not 10000000000000"),
        (Affine3::from_scale(Vec3::splat(-1e-13)), "a scale from 1e-12 to 1e12"),
        (Affine3::from_scale(Vec3::new(1.0, 1.0, 0.0)), "shear by 1"),
        (Affine3::from_translation(Vec3::NAN), "NaN"),
        (Affine3::from_scale(Vec3::new(1.0, f32::INFINITY, 1.0)), "inf"),
    ] {
        let error: AffineError = Placement::new(bad).unwrap_err();
        assert!(error.to_string().contains(says) && !error.to_string().contains('\n'), "{error}");
    }
    let worn = Affine3::from_scale(Vec3::new(1.0, 1.0005, 1.0));
    assert!(Placement::new(worn).is_ok(), "what products of f32 matrices leave");
}

#[test]
fn the_smallest_and_largest_placements_are_undone() {
    for size in [1.1e-12, 1e-6, 1e6, 0.9e12f32] {
        for scale in [size, -size] {
            let world = Affine3::from_scale_rotation_translation(
                Vec3::splat(scale),
                math::axis_angle(Vec3::Y, 1.0),
                Vec3::ONE * size,
            );
            let placement = Placement::new(world).unwrap();
            let p = Vec3::new(0.3, 0.7, -0.9);
            assert!(placement.to_model(placement.to_world(p)).distance(p) < 1e-5, "{scale}");
        }
    }
}
