//! A real jump off a ledge, planted frame by frame.

use sinew::{
    Placement, Pose,
    body::BodyRoles,
    glam::{Affine3, Vec3},
    ground::{
        Filter, Ground, Hit, Plane,
        plant::{Figure, FootPlanter, PlantOptions},
    },
};
use sinew_files::{Model, ReadOptions};

const RATE: f32 = 60.0;

/// A level floor that ends at z = 0, above a deeper one.
struct Ledge {
    height: f32,
}

impl Ground for Ledge {
    fn cast_ray(&self, from: Vec3, way: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        let cast = |height: f32| Plane::level(height).cast_ray(from, way, reach, filter);
        cast(self.height)
            .filter(|hit| hit.point.z < 0.0)
            .or_else(|| cast(0.0).filter(|hit| hit.point.z >= 0.0))
    }
}

/// Largest turn of a joint of the legs between two poses, in radians.
fn turn(figure: &Figure, a: &Pose, b: &Pose) -> f32 {
    let joints = figure.legs().iter().flat_map(|leg| [leg.thigh, leg.shin, leg.foot]);
    joints.map(|j| sinew::math::angle_between(a.local(j).rotation, b.local(j).rotation)).fold(0.0, f32::max)
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn a_jump_off_a_ledge_lands_without_a_leap() {
    let data = std::env::var("SINEW_DATA").expect("SINEW_DATA");
    let file = std::path::Path::new(&data).join("gltf/KayKit_Knight.glb");
    let model = Model::read(&file, &ReadOptions::default()).unwrap();
    let (bind, rest) = (model.bind_pose(), Pose::rest(&model.skeleton));
    let body = BodyRoles::find(&bind, &model.declared_roles).unwrap();
    let figure = Figure::of_body(&bind, &body, &model.skin_points(&bind)).unwrap();
    let clip = model.clips.iter().find(|c| c.name() == "Jump_Full_Short").unwrap();
    let scale = figure.leg_length() / 0.93;
    let ledge = Ledge { height: 0.5 * scale };
    // Heights of the animation's soles over its floor at a time.
    let animate = |time: f32, pose: &mut Pose| -> f32 {
        clip.sample((clip.start() + time).min(clip.end()), pose);
        pose.update();
        let points = figure.legs().iter().flat_map(|leg| {
            [leg.sole.heel, leg.sole.ball].map(|p| pose.model(leg.foot).transform_point3(p).y)
        });
        points.fold(f32::INFINITY, f32::min)
    };
    let frames = ((clip.duration() + 0.5) * RATE) as usize;
    let mut pose = rest.clone();
    let in_air: Vec<bool> = (0..frames).map(|f| animate(f as f32 / RATE, &mut pose) > 0.03 * scale).collect();
    let leaves = in_air.iter().position(|air| *air).unwrap();
    let lands = leaves + in_air[leaves..].iter().position(|air| !air).unwrap();
    assert!(lands - leaves > 12, "{leaves} to {lands}");
    let place = |time: f32| {
        let s = ((time * RATE - leaves as f32) / (lands - leaves) as f32).clamp(0.0, 1.0);
        let at = Vec3::new(0.0, ledge.height * (1.0 - s), (2.0 * s - 0.6) * scale);
        Placement::new(Affine3::from_translation(at)).unwrap()
    };
    let planter = FootPlanter::new(&figure, PlantOptions::default()).unwrap();
    let mut feet = planter.state();
    let mut given = rest.clone();
    let (mut own, mut fastest, mut at) = (0.0f32, 0.0f32, 0);
    let (mut last, mut last_given): (Option<Pose>, Option<Pose>) = (None, None);
    for (frame, &air) in in_air.iter().enumerate() {
        let time = frame as f32 / RATE;
        animate(time, &mut given);
        feet.set_grounded(!air);
        let sample = |later: f32, pose: &mut Pose| {
            animate((time + later).max(0.0), pose);
            place(time + later)
        };
        let report = planter.step_with(&mut feet, &ledge, &mut pose, 1.0 / RATE, sample).unwrap();
        if let (Some(last), Some(last_given)) = (&last, &last_given) {
            own = own.max(turn(&figure, last_given, &given) * RATE);
            let speed = turn(&figure, last, &pose) * RATE;
            if speed > fastest {
                (fastest, at) = (speed, frame);
            }
        }
        if frame > lands && (frame - lands) as f32 > 0.15 * RATE && !air {
            let low = figure.legs().iter().flat_map(|leg| {
                [leg.sole.heel, leg.sole.ball].map(|p| pose.model(leg.foot).transform_point3(p).y)
            });
            let low = low.fold(f32::INFINITY, f32::min);
            assert!(low.abs() < 0.01 * scale && report.standing > 0, "frame {frame}: {low}");
        }
        (last, last_given) = (Some(pose.clone()), Some(given.clone()));
    }
    let bound = (1.5 * own).max(6.0);
    assert!(fastest <= bound, "{fastest} rad/s at frame {at} ({leaves} to {lands}), {own} in the clip");
}
