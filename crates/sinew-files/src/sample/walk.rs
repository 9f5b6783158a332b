//! Clip of the sample character. For each frame the keys are sampled, the legs are solved for their goals, and the pose is
//! baked.

use glam::Vec3;
use sinew::{
    Goal, Pole, Pose, math,
    motion::{Baker, Clip},
    solve::{LimbOptions, TwoBone},
};

use super::{
    body::{Body, HIPS},
    gait::{END, FootKeys, PelvisKeys},
    upper_body::UpperBodyKeys,
};
use crate::build::BuildError;

/// Frames per second.
const RATE: f32 = 30.0;

/// Bakes the clip: four strides along +Z, from standing to standing.
pub(super) fn walk(body: &Body) -> Result<Clip, BuildError> {
    let feet = [FootKeys::new(0)?, FootKeys::new(1)?];
    let (pelvis, upper_body) = (PelvisKeys::new()?, UpperBodyKeys::new()?);
    let leg = |side: usize| TwoBone::new(&body.skeleton, body.thigh[side], body.shin[side], body.foot[side]);
    let legs = [leg(0)?, leg(1)?];
    let mut pose = Pose::rest(&body.skeleton);
    let mut baker = Baker::new(&body.skeleton, body.skeleton.joints());
    for frame in 0..=(END * RATE) as usize {
        let time = frame as f32 / RATE;
        pose.reset();
        let hips = pelvis.at(time);
        pose.set_translation(body.hips, Vec3::Y * HIPS + hips.offset);
        let lean = math::mul(math::axis_angle(Vec3::X, hips.tilt), math::axis_angle(Vec3::Z, hips.list));
        pose.set_rotation(body.hips, math::mul(math::axis_angle(Vec3::Y, hips.yaw), lean));
        upper_body.apply(time, &hips, body, &mut pose);
        pose.update();
        for (side, leg) in legs.iter().enumerate() {
            let goal = feet[side].goal(time);
            let leg_goal =
                Goal::position(goal.ankle).with_rotation(goal.rotation).with_pole(Pole::Direction(goal.knee));
            leg.solve(&mut pose, &leg_goal, &LimbOptions::new())?;
            pose.set_rotation(body.toes[side], goal.toes);
        }
        pose.update();
        baker.push(time, &pose);
    }
    Ok(baker.finish("walk", &body.skeleton)?)
}
