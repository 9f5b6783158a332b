//! Root motion taken out of real clips: a walk that travels, and a run on the spot, which sways by millimetres.

use sinew::{Pose, body::BodyRoles, motion::RootMotion};
use sinew_files::{Model, ReadOptions};

#[test]
#[ignore = "needs SINEW_DATA"]
fn real_clips_placed_by_their_root_motion_are_the_clips() {
    let data = std::env::var("SINEW_DATA").expect("SINEW_DATA");
    for (file, name, scale, least) in
        [("bvh/cmu_12_01_walk.bvh", "", 0.056444, 2.0), ("gltf/mannequiny.glb", "run_root.001", 1.0, 0.0)]
    {
        let options = ReadOptions { scale, ..ReadOptions::default() };
        let model = Model::read(&std::path::Path::new(&data).join(file), &options).unwrap();
        let clip = model.clips.iter().find(|c| c.name().contains(name)).unwrap();
        let (rest, body) = (
            Pose::rest(&model.skeleton),
            BodyRoles::find(&model.bind_pose(), &model.declared_roles).unwrap(),
        );
        let hips = body.hips;
        let taken = [RootMotion::travel(clip, &rest, hips), RootMotion::travel_and_yaw(clip, &rest, hips)];
        for taken in taken {
            let (without, motion) = taken.unwrap();
            let travel = motion.at(clip.end()).translation.length();
            let (mut a, mut b, mut worst, mut size) = (rest.clone(), rest.clone(), 0.0f32, 1.8f32);
            for i in 0..=3000 {
                let time = clip.start() + clip.duration() * i as f32 / 3000.0;
                clip.sample(time, &mut a);
                without.sample(time, &mut b);
                for joint in model.skeleton.below(hips).chain([hips]) {
                    let placed = motion.at(time).transform_point3(b.position(joint));
                    worst = worst.max(placed.distance(a.position(joint)));
                    size = size.max(placed.length());
                }
            }
            let rotations = |c: &sinew::motion::Clip| {
                let hips = c.tracks().iter().find(|t| t.joint == hips);
                hips.and_then(|t| t.rotation.as_ref()).map_or(0, |r| r.times().len())
            };
            println!(
                "{file}: {travel} m, off {worst}, size {size}, keys {} of {}",
                rotations(&without),
                rotations(clip)
            );
            assert!(worst < 1e-6 * size && travel > least, "{file}: {worst} of {size}, {travel}");
        }
    }
}
