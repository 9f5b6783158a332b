//! `--human`: goals for head and hands pose whole figures, the built-in one and real ones. Answers are checked by positions of
//! joints, and by the library's human limits.

mod common;

use std::{path::PathBuf, sync::Arc};

use common::{data, done, failed, parse, sinew, write};
use serde_json::{Value, json};
use sinew::{
    JointId, Pose,
    body::{ArmJoints, BodyRoles, HumanLimits, Side},
    glam::{Quat, Vec3},
};
use sinew_files::{Model, ReadOptions, sample};

struct Case {
    path: PathBuf,
    options: Vec<&'static str>,
    model: Model,
    bind: Pose,
    body: BodyRoles,
}

impl Case {
    fn of(path: PathBuf, options: &[&'static str]) -> Self {
        let scale = if options.is_empty() { 1.0 } else { 0.056444 };
        let model = Model::read(&path, &ReadOptions { scale, ..ReadOptions::default() }).unwrap();
        let bind = model.bind_pose();
        let body = BodyRoles::find(&bind, &model.declared_roles).unwrap();
        Self { path, options: options.to_vec(), model, bind, body }
    }

    fn at(&self, joint: JointId) -> Vec3 {
        self.bind.position(joint)
    }

    fn arm(&self, side: Side) -> ArmJoints {
        *self.body.arm(side).unwrap()
    }

    /// Directions of the body: left, up, front.
    fn axes(&self) -> [Vec3; 3] {
        let left = self.at(self.body.legs[0].thigh) - self.at(self.body.legs[1].thigh);
        let left = Vec3::new(left.x, 0.0, left.z).normalize();
        [left, Vec3::Y, left.cross(Vec3::Y)]
    }

    /// Lengths of an arm and a leg, in metres.
    fn lengths(&self) -> (f32, f32) {
        let (arm, leg) = (self.arm(Side::Left), self.body.legs[0]);
        let way =
            |j: [JointId; 3]| self.at(j[0]).distance(self.at(j[1])) + self.at(j[1]).distance(self.at(j[2]));
        (way([arm.upper_arm, arm.forearm, arm.hand]), way([leg.thigh, leg.shin, leg.foot]))
    }

    /// A line of goals: the head's displacement downwards and forward in leg lengths, and each hand's outwards, upwards and
    /// forward from its shoulder, which moves with the head, in arm lengths.
    fn line(&self, head: [f32; 2], hands: [[f32; 3]; 2]) -> Value {
        let ([left, up, front], (arm, leg)) = (self.axes(), self.lengths());
        let shift = front * head[1] * leg - up * head[0] * leg;
        let head = self.body.head.unwrap();
        let name = |j: JointId| self.model.skeleton.name(j).to_string();
        let mut goals = vec![json!({
            "joint": name(head),
            "position": (self.at(head) + shift).to_array(),
            "rotation": self.bind.model_rotation(head).to_array(),
        })];
        for (side, [out, high, ahead]) in Side::BOTH.into_iter().zip(hands) {
            let sign = if side == Side::Left { 1.0 } else { -1.0 };
            let to = self.at(self.arm(side).upper_arm) + shift;
            let to = to + (left * sign * out + up * high + front * ahead) * arm;
            goals.push(json!({"joint": name(self.arm(side).hand), "position": to.to_array()}));
        }
        json!({"goals": goals})
    }

    fn solve(&self, lines: &[Value], more: &[&str]) -> Vec<Value> {
        let text: String = lines.iter().map(|l| format!("{l}\n")).collect();
        let mut args = vec!["solve", self.path.to_str().unwrap(), "--goals", "-"];
        args.extend(&self.options);
        args.extend(more);
        let out = sinew(&args, &text);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().lines().map(parse).collect()
    }

    /// The pose of an answer. Joints that it does not name are at rest.
    fn pose(&self, answer: &Value) -> Pose {
        let mut pose = Pose::rest(&self.model.skeleton);
        let each = |key: &str, put: &mut dyn FnMut(JointId, Vec<f32>)| {
            for (name, values) in answer[key].as_object().into_iter().flatten() {
                let joint = self.model.skeleton.find(name).unwrap();
                put(joint, values.as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect());
            }
        };
        each("rotations", &mut |j, q| pose.set_rotation(j, Quat::from_xyzw(q[0], q[1], q[2], q[3])));
        each("translations", &mut |j, t| pose.set_translation(j, Vec3::new(t[0], t[1], t[2])));
        pose.update();
        pose
    }
}

/// The built-in figure.
fn built_in(test: &str) -> Case {
    let path = PathBuf::from(write(test, "mannequin.glb", ""));
    sample::document().unwrap().write(&path).unwrap();
    Case::of(path, &[])
}

/// Real figures: VRM 1 and 0 (which face in opposite directions), characters, motion capture.
fn real() -> [Case; 5] {
    [
        ("gltf/vrm1_mtoon_test.vrm", &[][..]),
        ("gltf/vrm0_cryptovoxels.vrm", &[]),
        ("gltf/KayKit_Knight.glb", &[]),
        ("gltf/mannequiny.glb", &[]),
        ("bvh/cmu_12_01_walk.bvh", &["--scale", "0.056444"]),
    ]
    .map(|(file, options)| Case::of(data(file), options))
}

/// A name, the head's displacement downwards and forward, and the hands' from their shoulders.
type Does = (&'static str, [f32; 2], [[f32; 3]; 2]);

/// Poses of head and hands: displacements of the head in leg lengths, of the left and right hand in arm lengths.
const DOES: [Does; 9] = [
    ("hang", [0.02, 0.0], [[0.2, -0.9, 0.1]; 2]),
    ("forward", [0.02, 0.0], [[-0.1, -0.1, 0.85]; 2]),
    ("up", [0.0, 0.0], [[0.2, 0.85, 0.15]; 2]),
    ("one up, one hangs", [0.02, 0.0], [[0.15, 0.85, 0.2], [0.2, -0.9, 0.1]]),
    ("aside", [0.02, 0.0], [[0.85, 0.0, 0.2], [0.2, -0.9, 0.1]]),
    ("before the chest", [0.02, 0.0], [[-0.1, -0.4, 0.45]; 2]),
    ("at the hips", [0.02, 0.0], [[0.15, -0.75, 0.05]; 2]),
    ("half a squat, forward", [0.3, 0.12], [[0.0, -0.3, 0.75]; 2]),
    ("a deep squat, down", [0.55, 0.2], [[0.1, -0.75, 0.45]; 2]),
];

#[test]
fn head_and_hands_lead_a_figure_within_peoples_limits() {
    are_met_within_limits(&built_in("limits"));
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn head_and_hands_lead_a_figure_within_peoples_limits_on_real_figures() {
    real().iter().for_each(are_met_within_limits);
}

fn are_met_within_limits(case: &Case) {
    let file = case.path.file_name().unwrap().to_string_lossy().into_owned();
    let lines: Vec<_> = DOES.iter().map(|(_, head, hands)| case.line(*head, *hands)).collect();
    let answers = case.solve(&lines, &["--human"]);
    let mut skeleton = (*case.model.skeleton).clone();
    let human = HumanLimits::of(&case.bind, &case.body);
    human.apply(&mut skeleton).unwrap();
    let skeleton = Arc::new(skeleton);
    let mut ease = Pose::rest(&skeleton);
    human.stand_at_ease(&case.bind, &case.body, &mut ease);
    let (_, leg) = case.lengths();
    for (((what, ..), line), answer) in DOES.iter().zip(&lines).zip(&answers) {
        let what = format!("{file}, {what}: {answer}");
        assert_eq!(answer["status"], "reached", "{what}");
        let pose = case.pose(answer);
        for goal in line["goals"].as_array().unwrap() {
            let joint = skeleton.find(goal["joint"].as_str().unwrap()).unwrap();
            let to: Vec<f32> =
                goal["position"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect();
            let off = pose.position(joint).distance(Vec3::from_slice(&to));
            assert!(off < 1e-3 * leg, "{off} m off: {what}");
        }
        for (joint, _) in human.joints() {
            let excess = skeleton.limit_excess(*joint, pose.local(*joint).rotation);
            assert!(excess <= 1e-5, "{} is {excess} outside: {what}", skeleton.name(*joint));
        }
        // Knees are in front of the line from hip to ankle, as the pelvis faces, and feet are on the ground where the figure
        // stood.
        let turn = pose.model_rotation(case.body.hips) * case.bind.model_rotation(case.body.hips).conjugate();
        let [_, _, front] = case.axes().map(|a| turn * a);
        for side in Side::BOTH {
            let leg_joints = case.body.leg(side);
            let [hip, knee, ankle] =
                [leg_joints.thigh, leg_joints.shin, leg_joints.foot].map(|j| pose.position(j));
            let ahead = (knee - 0.5 * (hip + ankle)).dot(front);
            assert!(ahead > -0.01 * leg, "the {side} knee is {ahead} behind: {what}");
            let gone = ankle.distance(ease.position(leg_joints.foot));
            assert!(gone < 0.05 * leg, "the {side} foot went by {gone}: {what}");
        }
    }
}

#[test]
fn two_bone_limbs_stay_within_peoples_limits() {
    assert_eq!(limbs_are_met_within_limits(&built_in("limbs")), 4);
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn two_bone_limbs_stay_within_peoples_limits_on_real_figures() {
    assert!(real().iter().map(limbs_are_met_within_limits).sum::<usize>() >= 12);
}

/// Leads each limb of three joints by itself: to where people reach, and to where the elbow or the knee would have to bend the
/// wrong way or too far. Returns the number of limbs.
fn limbs_are_met_within_limits(case: &Case) -> usize {
    let mut skeleton = (*case.model.skeleton).clone();
    let human = HumanLimits::of(&case.bind, &case.body);
    human.apply(&mut skeleton).unwrap();
    let skeleton = Arc::new(skeleton);
    let [left, up, front] = case.axes();
    let mut count = 0;
    for side in Side::BOTH {
        let out = if side == Side::Left { left } else { -left };
        let (arm, leg) = (case.arm(side), case.body.leg(side));
        let arms = [out * 0.2 - up * 0.5 + front * 0.4, out * 0.1 + front * 0.05];
        let legs = [front * 0.3 - up * 0.8, front * 0.2 - up * 0.1];
        for (joints, ways) in
            [([arm.upper_arm, arm.forearm, arm.hand], arms), ([leg.thigh, leg.shin, leg.foot], legs)]
        {
            let above = |j| case.model.skeleton.parent(j);
            if [above(joints[2]), above(joints[1])] != [Some(joints[1]), Some(joints[0])] {
                continue;
            }
            count += 1;
            let [root, middle, tip] = joints.map(|j| case.at(j));
            let length = root.distance(middle) + middle.distance(tip);
            for (n, way) in ways.into_iter().enumerate() {
                // The root keeps its place: no joint above it moves, but the pose at ease is not the bind pose.
                let at_ease = {
                    let mut ease = Pose::rest(&skeleton);
                    human.stand_at_ease(&case.bind, &case.body, &mut ease);
                    ease.update();
                    ease.position(joints[0])
                };
                let to = at_ease + way * length;
                let name = case.model.skeleton.name(joints[2]);
                let line = json!({"goals": [{"joint": name, "position": to.to_array()}]});
                let answer = &case.solve(&[line], &["--human", "--solver", "two-bone"])[0];
                let what = format!("{}, {name}, {n}: {answer}", case.path.display());
                assert_eq!(answer["status"] == "reached", n == 0, "{what}");
                let mut pose = Pose::rest(&skeleton);
                human.stand_at_ease(&case.bind, &case.body, &mut pose);
                let answered = case.pose(answer);
                for joint in joints {
                    pose.set_local(joint, *answered.local(joint));
                }
                pose.update();
                let off = f64::from(pose.position(joints[2]).distance(to));
                let told = answer["position_error"].as_f64().unwrap();
                assert!((off - told).abs() < 1e-5 * f64::from(length), "{off}: {what}");
                for joint in joints {
                    let excess = skeleton.limit_excess(joint, pose.local(joint).rotation);
                    assert!(excess <= 1e-5, "{} is {excess} outside: {what}", skeleton.name(joint));
                }
            }
        }
    }
    count
}

#[test]
fn elbows_hang_or_point_out_and_never_through_the_body() {
    elbows_go_well(&built_in("elbows"));
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn elbows_hang_or_point_out_and_never_through_the_body_on_real_figures() {
    real().iter().for_each(elbows_go_well);
}

fn elbows_go_well(case: &Case) {
    let file = case.path.file_name().unwrap().to_string_lossy().into_owned();
    let lines: Vec<_> = DOES.iter().map(|(_, head, hands)| case.line(*head, *hands)).collect();
    for ((what, ..), answer) in DOES.iter().zip(case.solve(&lines, &["--human"])) {
        let pose = case.pose(&answer);
        // Directions of the chest: along the shoulders, and across.
        let shoulders = Side::BOTH.map(|s| pose.position(case.arm(s).upper_arm));
        let chest = case.body.spine.last().copied().unwrap();
        let turn = pose.model_rotation(chest) * case.bind.model_rotation(chest).conjugate();
        let [_, up, front] = case.axes().map(|a| turn * a);
        let (arm, _) = case.lengths();
        for side in Side::BOTH {
            let joints = case.arm(side);
            let [shoulder, elbow, hand] =
                [joints.upper_arm, joints.forearm, joints.hand].map(|j| pose.position(j));
            let out = (shoulders[side.index()] - shoulders[side.other().index()]).normalize();
            let line = (hand - shoulder).normalize();
            let bend = elbow - shoulder - line * line.dot(elbow - shoulder);
            // The elbow is below, behind or outside of the straight line; never above, in front and inside at once.
            let best = [-up, -front, out].map(|d| bend.dot(d)).into_iter().fold(f32::MIN, f32::max);
            assert!(best > -0.02 * arm, "{file}, {what}: the {side} elbow bends by {bend}");
            // An elbow is not in the trunk: it is outside of the inner half of the shoulders' width.
            let middle = 0.5 * (shoulders[0] + shoulders[1]);
            let half = 0.5 * shoulders[0].distance(shoulders[1]);
            let in_front = (elbow - middle).dot(front) > 0.25 * arm;
            let aside = (elbow - middle).dot(out);
            assert!(
                in_front || aside > 0.5 * half,
                "{file}, {what}: the {side} elbow is {aside} m aside of the trunk's middle"
            );
        }
    }
}

#[test]
fn an_answer_is_a_start_and_poses_do_not_hang_on_what_was_before() {
    let case = built_in("starts");
    let line = case.line([0.3, 0.1], [[0.0, -0.3, 0.7]; 2]);
    let mut lines: Vec<Value> = DOES.iter().map(|(_, head, hands)| case.line(*head, *hands)).collect();
    lines.push(line.clone());
    let answers = case.solve(&lines, &["--human", "--threads", "1"]);
    assert_eq!(answers.last(), case.solve(std::slice::from_ref(&line), &["--human"]).first());
    // From its own answer the solve makes no iteration.
    let first = &answers[answers.len() - 1];
    let mut again = line;
    again["start_rotations"] = first["rotations"].clone();
    again["start_translations"] = first["translations"].clone();
    let second = &case.solve(&[again], &["--human"])[0];
    assert_eq!(second["status"], "reached");
    let (a, b) = (case.pose(first), case.pose(second));
    for joint in case.model.skeleton.joints() {
        assert!(a.position(joint).distance(b.position(joint)) < 5e-3, "{joint}");
    }
}

#[test]
fn who_walks_away_does_not_fall() {
    does_not_fall(&built_in("away"));
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn who_walks_away_does_not_fall_on_real_figures() {
    real()[..2].iter().for_each(does_not_fall);
}

fn does_not_fall(case: &Case) {
    let (_, leg) = case.lengths();
    let [_, _, front] = case.axes();
    let answer = &case.solve(&[case.line([0.02, 1.0], [[0.2, -0.85, 0.1]; 2])], &["--human"])[0];
    let pose = case.pose(answer);
    let feet = 0.5 * (pose.position(case.body.legs[0].foot) + pose.position(case.body.legs[1].foot));
    let lean = (pose.position(case.body.head.unwrap()) - feet).dot(front);
    assert_eq!(answer["status"], "reached");
    assert!(lean < 0.45 * leg, "the head is {lean} m ahead of the feet: {answer}");
}

#[test]
fn trackers_on_hips_and_feet_are_met_too() {
    six_trackers_are_met(&built_in("six"));
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn trackers_on_hips_and_feet_are_met_too_on_real_figures() {
    real()[..2].iter().for_each(six_trackers_are_met);
}

fn six_trackers_are_met(case: &Case) {
    let ([_, _, front], (_, leg)) = (case.axes(), case.lengths());
    let mut line = case.line([0.24, 0.05], [[0.0, -0.3, 0.7]; 2]);
    let name = |j: JointId| case.model.skeleton.name(j).to_string();
    let goals = line["goals"].as_array_mut().unwrap();
    let hips = case.at(case.body.hips) - Vec3::Y * 0.2 * leg;
    goals.push(json!({"joint": name(case.body.hips), "position": hips.to_array()}));
    // A step.
    for (side, ahead) in Side::BOTH.into_iter().zip([0.25, -0.15]) {
        let foot = case.body.leg(side).foot;
        let at = case.at(foot) + front * ahead * leg;
        goals.push(json!({"joint": name(foot), "position": at.to_array()}));
    }
    let answer = &case.solve(&[line], &["--human"])[0];
    assert_eq!(answer["status"], "reached", "{answer}");
    let pose = case.pose(answer);
    assert!(pose.position(case.body.hips).distance(hips) < 1e-3 * leg);
}

#[test]
fn draw_shows_it_and_what_has_no_legs_is_told() {
    let case = built_in("draws");
    let line = case.line([0.3, 0.1], [[0.0, -0.3, 0.7]; 2]);
    let goals = write("draws", "goals.jsonl", &format!("{line}\n"));
    let (model, picture) = (case.path.to_str().unwrap(), write("draws", "human.svg", ""));
    done(&["draw", model, "--goals", &goals, "--human", "-o", &picture]);
    assert!(std::fs::read_to_string(&picture).unwrap().contains("3 goals, full-body: reached"));
    assert!(
        failed(&["solve", model, "--goals", &goals, "--human", "--solver", "ccd"], 2).contains("--human")
    );
    let point_chain = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nJOINT b\n{\nOFFSET 0 1 0\nCHANNELS 3 \
                  Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1\n0 0 0 0 0 0\n";
    let point_chain = write("draws", "strand.bvh", point_chain);
    let error = failed(&["solve", &point_chain, "--goals", &goals, "--human"], 1);
    assert!(error.contains("--human needs a two-legged figure"), "{error}");
    // The limits are the library's, and only on the joints that it limits.
    assert!(!Arc::new((*case.model.skeleton).clone()).has_limits());
}
