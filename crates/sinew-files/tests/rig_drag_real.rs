//! Drags every joint with a role of real figures, in a pose of a clip of theirs: pins hold, hips keep their rotation, no joint jumps,
//! and what the drag leaves shows its pose. Prints how many joints follow the cursor by 12 cm, and the time that a frame takes.

mod real;

use std::time::Instant;

use sinew::{
    Goal, JointId, Placement, Pose, Workspace,
    body::{BodyRoles, Side},
    glam::Vec3,
    rig::{HumanoidSpec, Rig, RigFrame, RigGoal, RigGrab, StartFrom},
};
use sinew_files::{Model, ReadOptions};

/// Numbers from -1 to 1, always the same.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn joints_of_real_figures_are_dragged_and_pins_hold() {
    let files = [
        ("gltf/KayKit_Knight.glb", "Walking_A", 1.0),
        ("gltf/CesiumMan.gltf", "", 1.0),
        ("gltf/mannequiny.glb", "fight_kick", 1.0),
        ("gltf/m2m_human_sample-rig.glb", "", 1.0),
        ("bvh/cmu_12_01_walk.bvh", "", 0.056444),
        ("gltf/vrm1_mtoon_test.vrm", "", 1.0),
        ("gltf/vrm0_cryptovoxels.vrm", "", 1.0),
    ];
    // VRMs have no clips: they stand straight.
    for (file, clip, scale) in files {
        let options = ReadOptions { scale, ..ReadOptions::default() };
        let model = Model::read(&real::data(file), &options).unwrap();
        let bind = model.bind_pose();
        let body = BodyRoles::find(&bind, &model.declared_roles).unwrap();
        let size = body.height(&bind, &[]) / 1.8;
        for from in [StartFrom::Pose, StartFrom::Preferred] {
            let mut humanoid = HumanoidSpec::new();
            humanoid.from = Some(from);
            let rig = Rig::new(&bind, Some(&body), &humanoid.rig(&body)).unwrap();
            let clip = model.clips.iter().find(|c| clip.is_empty() || c.name() == clip);
            let mut animation = Pose::rest(&model.skeleton);
            if let Some(clip) = clip {
                clip.sample(clip.start() + 0.4 * clip.duration(), &mut animation);
            }
            animation.update();
            let mut read = vec![RigGoal::new(); rig.goal_count()];
            rig.read(&animation, &Placement::IDENTITY, &mut read).unwrap();
            let mut noise = Noise(9);
            let mut grabbed: Vec<JointId> = body.assigned.iter().map(|a| a.joint).collect();
            grabbed.dedup();
            let (mut worst, mut behind, mut frames, mut spent) = ([0.0f32; 2], Vec::new(), 0, 0.0);
            let (mut fastest, mut hips) = (0.0f32, 0.0f32);
            for joint in grabbed {
                let mut goals = vec![RigGoal::new(); rig.goal_count()];
                if let (Some(n), true) = (rig.find_goal("right hand", None), joint.index() % 2 == 0) {
                    goals[n] = read[n];
                }
                let (mut state, mut workspace) = (rig.state(), Workspace::new());
                let frame = RigFrame::new(0.0).with_goals(&goals);
                let grab = RigGrab::new(joint);
                let mut drag = rig.grab(&mut state, &mut workspace, &animation, &frame, &grab).unwrap();
                let start = drag.pose().clone();
                let pins: Vec<(JointId, bool)> = drag
                    .solver()
                    .pins()
                    .iter()
                    .map(|e| (e.joint, Side::BOTH.iter().any(|&side| body.leg(side).foot == e.joint)))
                    .collect();
                let by = noise.vector().normalize() * 0.12 * size;
                let mut report = sinew::Report::default();
                for n in 1..=40 {
                    let before = drag.pose().clone();
                    let cursor = Goal::position(start.position(joint) + by * (n as f32 / 40.0));
                    let from = Instant::now();
                    report = drag.to(&mut state, &mut workspace, &cursor, 1.0 / 60.0).unwrap();
                    spent += from.elapsed().as_secs_f64();
                    frames += 1;
                    drag.pose().check_finite().unwrap();
                    for j in model.skeleton.joints() {
                        let far = drag.pose().position(j).distance(before.position(j));
                        fastest = fastest.max(far / (by.length() / 40.0));
                    }
                    let [a, b] = [&start, drag.pose()].map(|pose| pose.model_rotation(body.hips));
                    hips = hips.max(sinew::math::angle_between(a, b).to_degrees());
                    for &(pin, turned) in &pins {
                        let far = drag.pose().position(pin).distance(start.position(pin)) / size;
                        worst[0] = worst[0].max(far);
                        if turned {
                            let [a, b] = [&start, drag.pose()].map(|pose| pose.model_rotation(pin));
                            worst[1] = worst[1].max(sinew::math::angle_between(a, b).to_degrees());
                        }
                    }
                }
                behind.push(report.position_residual / size);
                let mut shown = drag.animation().clone();
                let frame = RigFrame::new(0.0).with_goals(drag.goals());
                rig.apply(&mut rig.state(), &mut workspace, &mut shown, &frame).unwrap();
                assert_eq!(shown.locals(), drag.pose().locals());
            }
            // Others are out of reach: toes below a pinned foot, hips above straight legs.
            let follow = behind.iter().filter(|b| **b < 1e-4).count();
            println!(
                "{file} from {from}: pins within {:.4} mm and {:.4} degrees; {follow} of {} joints follow, hips turn by {hips:.2} \
                 degrees, none moves by more than {fastest:.1} times the cursor; {:.0} us a frame",
                1e3 * worst[0],
                worst[1],
                behind.len(),
                1e6 * spent / f64::from(frames)
            );
            assert!(worst[0] < 1e-4 && worst[1] < 0.1, "{worst:?}");
            assert!(hips < 5.0 && fastest < 9.0, "{hips} degrees, {fastest}");
            assert!(2 * follow >= behind.len() || file.ends_with("vrm"), "{behind:?}");
        }
    }
}
