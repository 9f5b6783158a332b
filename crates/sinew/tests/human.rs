//! Judges human joint limits on figures of all kinds: any joint frames, facing, arm posture and rest pose. The range of each
//! joint is measured by turns in model space.

use std::sync::Arc;

use sinew::{
    Chain, Goal, JointId, JointTransform, Pose, Skeleton, SolveError, Workspace,
    body::{BodyRoles, HumanLimits, Side, Trackers, TrackersState},
    glam::{Quat, Vec3},
    solve::{Effector, IterativeOptions, LimbOptions, TwoBone},
};

/// Positions in model space, in metres, of a figure that faces +Z; of pairs, the left side alone. An arm's are relative to
/// its shoulder.
const MIDDLE: [(&str, &str, [f32; 3]); 6] = [
    ("Hips", "", [0.0, 0.95, 0.0]),
    ("Spine", "Hips", [0.0, 1.1, 0.0]),
    ("Spine1", "Spine", [0.0, 1.25, 0.0]),
    ("Neck", "Spine1", [0.0, 1.48, 0.0]),
    ("Head", "Neck", [0.0, 1.58, 0.0]),
    ("Crown", "Head", [0.0, 1.75, 0.0]),
];
const LEFT: [(&str, &str, [f32; 3]); 9] = [
    ("UpLeg", "Hips", [0.1, 0.9, 0.0]),
    ("Leg", "UpLeg", [0.1, 0.5, 0.0]),
    ("Foot", "Leg", [0.1, 0.1, 0.0]),
    ("ToeBase", "Foot", [0.1, 0.02, 0.13]),
    ("Shoulder", "Spine1", [0.03, 1.42, 0.0]),
    ("Arm", "Shoulder", [0.18, 1.43, 0.0]),
    ("ForeArm", "Arm", [0.46, 1.43, 0.0]),
    ("Hand", "ForeArm", [0.71, 1.43, 0.0]),
    ("Fingers", "Hand", [0.8, 1.43, 0.0]),
];

/// Conventions of a figure's file.
#[derive(Clone, Copy)]
struct File {
    /// Whether every joint's frame has an arbitrary rotation.
    turned_frames: bool,
    /// Facing, as an angle about Y.
    facing: f32,
    /// Angle of the arms below the level.
    below: f32,
    /// Bend of elbows and knees in the rest pose; the bind pose has them straight.
    rests_bent: f32,
    /// Whether the joints that are named left are on its right.
    mirrored: bool,
}

const PLAIN: File = File { turned_frames: false, facing: 0.0, below: 0.0, rests_bent: 0.0, mirrored: false };

struct Figure {
    skeleton: Arc<Skeleton>,
    bind: Pose,
    body: BodyRoles,
    facing: Quat,
}

impl Figure {
    fn new(file: File) -> Self {
        let facing = Quat::from_rotation_y(file.facing);
        let mut all: Vec<(String, String, Vec3)> =
            MIDDLE.iter().map(|(n, p, at)| (n.to_string(), p.to_string(), Vec3::from_array(*at))).collect();
        let sides = if file.mirrored { ["Right", "Left"] } else { ["Left", "Right"] };
        for (side, sign) in sides.into_iter().zip([1.0, -1.0]) {
            let shoulder = Vec3::from_array(LEFT[5].2);
            for (i, (name, parent, at)) in LEFT.iter().enumerate() {
                let mut at = Vec3::from_array(*at);
                if i > 5 {
                    at = shoulder + Quat::from_rotation_z(-file.below) * (at - shoulder);
                }
                let parent = match MIDDLE.iter().any(|m| m.0 == *parent) {
                    true => parent.to_string(),
                    false => format!("{side}{parent}"),
                };
                all.push((format!("{side}{name}"), parent, Vec3::new(sign * at.x, at.y, at.z)));
            }
        }
        let mut seed = 7u32;
        let mut next = || {
            seed = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        let frames: Vec<Quat> = all
            .iter()
            .map(|_| match file.turned_frames {
                true => Quat::from_xyzw(next(), next(), next(), next()).normalize(),
                false => Quat::IDENTITY,
            })
            .collect();
        let mut builder = Skeleton::builder();
        let mut locals = Vec::new();
        for (i, (name, parent, at)) in all.iter().enumerate() {
            let above = all.iter().position(|j| j.0 == *parent);
            let (frame, from) =
                above.map_or((Quat::IDENTITY, Vec3::ZERO), |p| (facing * frames[p], facing * all[p].2));
            let local = JointTransform {
                translation: frame.inverse() * (facing * *at - from),
                rotation: (frame.inverse() * facing * frames[i]).normalize(),
                scale: Vec3::ONE,
            };
            let mut rest = local;
            // Knees bend about the figure's left, elbows towards its front.
            let bent = if name.ends_with("ForeArm") {
                let sign = if name.starts_with("Left") { 1.0 } else { -1.0 };
                let bone = Quat::from_rotation_z(-sign * file.below) * (Vec3::X * sign);
                Quat::from_axis_angle(bone.cross(Vec3::Z).normalize(), file.rests_bent)
            } else if name.ends_with("Leg") && !name.ends_with("UpLeg") {
                Quat::from_rotation_x(file.rests_bent)
            } else {
                Quat::IDENTITY
            };
            let turn = facing * bent * facing.inverse();
            rest.rotation = (frame.inverse() * turn * facing * frames[i]).normalize();
            builder.add(name.clone(), above, rest);
            locals.push(local);
        }
        let mut skeleton = builder.build().unwrap().0;
        let mut bind = Pose::rest(&Arc::new(skeleton.clone()));
        for (name, local) in all.iter().map(|j| &j.0).zip(locals) {
            bind.set_local(skeleton.find(name).unwrap(), local);
        }
        bind.update();
        let body = BodyRoles::find(&bind, &[]).unwrap();
        HumanLimits::of(&bind, &body).apply(&mut skeleton).unwrap();
        Self { skeleton: Arc::new(skeleton), bind, body, facing }
    }

    fn joint(&self, name: &str) -> JointId {
        self.skeleton.find(name).unwrap()
    }

    /// Returns a turn from the bind pose after clamping to the limits, in the axes of a figure that faces +Z.
    fn allowed(&self, name: &str, turn: Quat) -> Quat {
        let joint = self.joint(name);
        let above = self.skeleton.parent(joint).map_or(Quat::IDENTITY, |p| self.bind.model_rotation(p));
        let was = self.bind.model_rotation(joint);
        let local = (above.inverse() * self.facing * turn * self.facing.inverse() * was).normalize();
        let kept = self.skeleton.clamp_rotation(joint, local);
        (self.facing.inverse() * above * kept * was.inverse() * self.facing).normalize()
    }

    /// Returns the degrees of a turn about an axis after clamping, and asserts that it keeps the axis.
    #[track_caller]
    fn degrees(&self, name: &str, axis: Vec3, degrees: f32) -> f32 {
        let kept = self.allowed(name, Quat::from_axis_angle(axis, degrees.to_radians()));
        let kept = if kept.w < 0.0 { -kept } else { kept };
        let along = Vec3::new(kept.x, kept.y, kept.z).dot(axis);
        2.0 * along.atan2(kept.w).to_degrees()
    }
}

#[track_caller]
fn near(a: f32, b: f32) {
    assert!((a - b).abs() < 0.2, "{a} for {b}");
}

fn apart(a: Quat, b: Quat) -> f32 {
    2.0 * (a.inverse() * b).normalize().w.abs().min(1.0).acos()
}

#[test]
fn joints_bend_as_peoples_do() {
    let f = Figure::new(PLAIN);
    let (x, y, z) = (Vec3::X, Vec3::Y, Vec3::Z);
    // Elbows bend to the front only, knees to the back only.
    near(f.degrees("LeftForeArm", -y, 140.0), 140.0);
    near(f.degrees("RightForeArm", y, 140.0), 140.0);
    assert!(f.degrees("LeftForeArm", -y, -30.0) > -1.0);
    near(f.degrees("LeftLeg", x, 140.0), 140.0);
    near(f.degrees("RightLeg", x, -30.0), 0.0);
    near(f.degrees("RightLeg", z, 30.0), 0.0);
    // Palms down and up.
    near(f.degrees("LeftForeArm", x, 100.0), 80.0);
    // Arms reach down to the body, up by a third of the range (collar bones do the rest), to the front, and little to the
    // back.
    near(f.degrees("LeftArm", -z, 85.0), 85.0);
    near(f.degrees("LeftArm", z, 90.0), 50.0);
    near(f.degrees("RightArm", y, 130.0), 130.0);
    near(f.degrees("RightArm", y, -90.0), -45.0);
    near(f.degrees("LeftShoulder", z, 60.0), 40.0);
    near(f.degrees("RightShoulder", -z, 60.0), 40.0);
    near(f.degrees("RightShoulder", -z, -60.0), -10.0);
    // Thighs forward, backward, outward, inward; feet up and down; hands towards their palms.
    near(f.degrees("LeftUpLeg", -x, 110.0), 110.0);
    near(f.degrees("LeftUpLeg", x, 60.0), 30.0);
    near(f.degrees("LeftUpLeg", z, 60.0), 45.0);
    near(f.degrees("RightUpLeg", z, 60.0), 30.0);
    near(f.degrees("RightFoot", -x, 60.0), 35.0);
    near(f.degrees("RightFoot", x, 60.0), 50.0);
    near(f.degrees("LeftHand", -z, 90.0), 80.0);
    near(f.degrees("LeftHand", -y, 90.0), 20.0);
    near(f.degrees("LeftToeBase", -x, 90.0), 60.0);
    // Two joints of the back, and neck and head, have half of the whole range each.
    near(f.degrees("Spine", x, 60.0), 40.0);
    near(f.degrees("Head", y, -60.0), -37.5);
}

#[test]
fn frames_facing_and_rest_pose_make_no_difference() {
    let names: Vec<String> = {
        let plain = Figure::new(PLAIN);
        plain.skeleton.joints().map(|j| plain.skeleton.name(j).to_string()).collect()
    };
    let others = [
        File { turned_frames: true, ..PLAIN },
        File { facing: core::f32::consts::PI, ..PLAIN },
        File { facing: 1.1, turned_frames: true, ..PLAIN },
    ];
    let bent = File { rests_bent: 0.7, turned_frames: true, ..PLAIN };
    for below in [0.0, 0.8, 1.5] {
        let plain = Figure::new(File { below, ..PLAIN });
        for file in others.into_iter().chain([bent]) {
            let other = Figure::new(File { below, ..file });
            for (i, name) in names.iter().enumerate() {
                // From a bent rest pose, the elbow clamps an impossible turn to a different bend.
                if file.rests_bent > 0.0 && name.ends_with("ForeArm") {
                    let (bone, sign) =
                        if name.starts_with("Left") { (Vec3::X, 1.0) } else { (-Vec3::X, -1.0) };
                    let bone = Quat::from_rotation_z(-sign * below) * bone;
                    let axis = bone.cross(Vec3::Z).normalize();
                    near(other.degrees(name, axis, 100.0), 100.0);
                    near(other.degrees(name, axis, 160.0), 150.0);
                    assert!(other.degrees(name, axis, -40.0) > -1.0);
                    near(other.degrees(name, bone, 60.0), 60.0);
                    continue;
                }
                for k in 0..12 {
                    let t = (i * 12 + k) as f32;
                    let axis = Vec3::new((t * 1.7).sin(), (t * 2.3).cos(), (t * 0.9).sin()).normalize();
                    let turn = Quat::from_axis_angle(axis, 0.2 + 0.1 * k as f32);
                    let (a, b) = (plain.allowed(name, turn), other.allowed(name, turn));
                    assert!(apart(a, b) < 2e-3, "{name}, {k}: {a} and {b}");
                }
            }
        }
    }
}

#[test]
fn a_mirrored_figure_faces_where_its_toes_point_and_bends_as_others_do() {
    let [plain, mirrored] =
        [false, true].map(|mirrored| Figure::new(File { mirrored, facing: 1.0, ..PLAIN }));
    assert!(mirrored.body.front(&mirrored.bind).distance(plain.body.front(&plain.bind)) < 1e-6);
    for name in ["UpLeg", "Leg", "Foot", "ToeBase", "Shoulder", "Arm", "ForeArm", "Hand"] {
        for (axis, degrees) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|a| [(a, 70.0), (a, -70.0)]) {
            let turn = Quat::from_axis_angle(axis, f32::to_radians(degrees));
            let [a, b] = [(&plain, "Left"), (&mirrored, "Right")]
                .map(|(f, side)| f.allowed(&format!("{side}{name}"), turn));
            assert!(apart(a, b) < 1e-3, "{name} {axis} {degrees}: {a} {b}");
        }
    }
}

#[test]
fn left_and_right_are_mirror_images() {
    for below in [0.0, 0.7, 1.4] {
        let f = Figure::new(File { below, turned_frames: true, ..PLAIN });
        for (name, ..) in LEFT {
            for k in 0..40 {
                let t = k as f32;
                let axis = Vec3::new((t * 1.3).sin(), (t * 0.7).cos(), (t * 2.9).sin()).normalize();
                let turn = Quat::from_axis_angle(axis, 0.3 + 0.04 * t);
                let left = f.allowed(&format!("Left{name}"), turn);
                let mirrored = |q: Quat| Quat::from_xyzw(q.x, -q.y, -q.z, q.w);
                let right = f.allowed(&format!("Right{name}"), mirrored(turn));
                assert!(apart(mirrored(left), right) < 2e-3, "{name}, {k}: {left} and {right}");
            }
        }
    }
}

#[test]
fn hanging_arms_rise_as_far_as_those_that_are_made_aside() {
    let f = Figure::new(File { below: core::f32::consts::FRAC_PI_2, ..PLAIN });
    let (x, z) = (Vec3::X, Vec3::Z);
    near(f.degrees("LeftArm", -x, 150.0), 150.0);
    near(f.degrees("RightArm", x, 90.0), 55.0);
    near(f.degrees("LeftArm", z, 130.0), 130.0);
    near(f.degrees("LeftForeArm", -x, 120.0), 120.0);
    assert!(f.degrees("RightForeArm", x, 40.0) < 1.0);
}

#[test]
fn at_ease_it_stands_where_it_stood_with_hanging_arms() {
    let files = [
        PLAIN,
        File { below: 0.8, turned_frames: true, ..PLAIN },
        File { below: 1.5, facing: 2.0, rests_bent: 0.5, ..PLAIN },
    ];
    for file in files {
        let f = Figure::new(file);
        let mut pose = Pose::rest(&f.skeleton);
        let human = HumanLimits::of(&f.bind, &f.body);
        human.stand_at_ease(&f.bind, &f.body, &mut pose);
        let middle = |p: &Pose| p.position(f.body.legs[0].foot) + p.position(f.body.legs[1].foot);
        assert!(middle(&pose).distance(middle(&f.bind)) < 1e-3);
        for side in Side::BOTH {
            let (leg, arm) = (f.body.leg(side), f.body.arm(side).unwrap());
            // Feet stay below their hips.
            assert!(pose.position(leg.foot).distance(f.bind.position(leg.foot)) < 0.04);
            // Feet stay flat.
            let turned = apart(pose.model_rotation(leg.foot), f.bind.model_rotation(leg.foot));
            assert!(turned < 0.06, "{side} foot is turned by {turned}");
            let [shoulder, elbow, hand] = [arm.upper_arm, arm.forearm, arm.hand].map(|j| pose.position(j));
            assert!((shoulder - hand).normalize().y > 0.87, "{side} hand at {hand}");
            // Slightly bent, with the elbow behind.
            let front = f.facing * Vec3::Z;
            assert!((elbow - 0.5 * (shoulder + hand)).dot(front) < -0.01);
        }
        for (joint, _) in human.joints() {
            assert!(f.skeleton.limit_excess(*joint, pose.local(*joint).rotation) <= 1e-5);
        }
    }
}

#[test]
fn trackers_refuse_what_is_no_number_and_repeat_their_bits() {
    let f = Figure::new(File { below: 0.5, turned_frames: true, facing: 0.7, ..PLAIN });
    let mut ease = Pose::rest(&f.skeleton);
    HumanLimits::of(&f.bind, &f.body).stand_at_ease(&f.bind, &f.body, &mut ease);
    let head = f.body.head.unwrap();
    let joints = [head, f.body.arms[0].unwrap().hand, f.body.arms[1].unwrap().hand];
    let trackers = Trackers::new(&f.body, &joints.map(Effector::new), &ease).unwrap();
    let (options, mut workspace) = (IterativeOptions::new(), Workspace::new());
    let mut solve = |state: &mut TrackersState, pose: &mut Pose, goals: &[Goal]| {
        trackers.solve(state, &mut workspace, pose, goals, &options)
    };
    let mut state = trackers.state(&ease);
    let down = joints.map(|j| Goal::position(ease.position(j) - Vec3::Y * 0.3));
    let bits = |pose: &Pose| -> Vec<[u32; 7]> {
        let all = pose.locals().iter();
        all.map(|l| {
            let (q, t) = (l.rotation.to_array(), l.translation.to_array());
            [q[0], q[1], q[2], q[3], t[0], t[1], t[2]].map(f32::to_bits)
        })
        .collect()
    };
    let mut pose = ease.clone();
    let wrong = [down[0], Goal::position(Vec3::new(f32::NAN, 0.0, 0.0)), down[2]];
    assert!(solve(&mut state, &mut pose, &wrong).is_err());
    assert!(solve(&mut state, &mut pose, &down[..2]).is_err());
    assert!(bits(&pose) == bits(&ease), "a refused solve moved something");
    let report = solve(&mut state, &mut pose, &down).unwrap();
    assert!(report.position_residual < 1e-3, "{report:?}");
    let mut other = ease.clone();
    let again = solve(&mut trackers.state(&ease), &mut other, &down).unwrap();
    assert!(bits(&pose) == bits(&other) && again == report);
    // An earlier solve changes nothing: the state holds only the standing feet's positions.
    let up = joints.map(|j| Goal::position(ease.position(j) + Vec3::new(0.1, -0.1, 0.8)));
    solve(&mut state, &mut ease.clone(), &up).unwrap();
    let mut third = ease.clone();
    solve(&mut state, &mut third, &down).unwrap();
    assert!(bits(&pose) == bits(&third));
    // The state of trackers with other effectors is refused.
    let others = Trackers::new(&f.body, &[Effector::new(joints[0])], &ease).unwrap();
    let refused = others.solve(&mut state, &mut Workspace::new(), &mut third, &down[..1], &options);
    assert!(matches!(refused, Err(SolveError::State { given: 5, wanted: 3, .. })), "{refused:?}");
    assert!(bits(&pose) == bits(&third));
    // Also with the same number of effectors.
    let others = [joints[0], joints[1], f.body.hips].map(Effector::new);
    let others = Trackers::new(&f.body, &others, &ease).unwrap();
    let refused = others.solve(&mut state, &mut Workspace::new(), &mut third, &down, &options);
    assert!(matches!(refused, Err(SolveError::State { given: 5, wanted: 5, .. })), "{refused:?}");
    let refused = others.stand(&mut state, &third);
    assert!(matches!(refused, Err(SolveError::State { given: 5, wanted: 5, .. })), "{refused:?}");
    assert!(bits(&pose) == bits(&third));
    // The knees bent; the feet are where they were.
    for leg in f.body.legs {
        assert!(pose.position(leg.foot).distance(ease.position(leg.foot)) < 1e-3);
    }
}

/// Over frames, no joint turns by more than the bound, limits hold in between, and the goals are met after some frames.
#[test]
fn trackers_come_in_frames_where_turns_are_bounded() {
    let f = Figure::new(File { below: 0.5, turned_frames: true, facing: 0.7, ..PLAIN });
    let mut pose = Pose::rest(&f.skeleton);
    HumanLimits::of(&f.bind, &f.body).stand_at_ease(&f.bind, &f.body, &mut pose);
    let joints = [f.body.head.unwrap(), f.body.arms[0].unwrap().hand, f.body.arms[1].unwrap().hand];
    let trackers = Trackers::new(&f.body, &joints.map(Effector::new), &pose).unwrap();
    let (mut state, mut workspace) = (trackers.state(&pose), Workspace::new());
    let mut options = IterativeOptions::new().with_max_turn(0.1);
    let goals = joints.map(|j| Goal::position(pose.position(j) - Vec3::Y * 0.3));
    let mut frames = 0;
    loop {
        let before = pose.clone();
        let report = trackers.solve(&mut state, &mut workspace, &mut pose, &goals, &options).unwrap();
        for joint in trackers.joints() {
            let turn = apart(before.local(joint).rotation, pose.local(joint).rotation);
            assert!(turn <= 0.1 + 1e-5, "{joint} turned by {turn}");
            assert!(f.skeleton.limit_excess(joint, pose.local(joint).rotation) <= 1e-5);
        }
        for ((joint, goal), outcome) in
            joints.iter().zip(&goals).zip(trackers.effector_reports(&pose, &goals, &report))
        {
            let off = pose.position(*joint).distance(goal.position.unwrap());
            assert!((outcome.position_residual - off).abs() < 1e-5, "{off} {outcome:?}");
        }
        if report.reached() {
            break;
        }
        frames += 1;
        assert!(frames < 60, "{report:?}");
    }
    // Knees bend by about a radian.
    assert!(frames > 4);
    options.max_turn = f32::NAN;
    assert!(trackers.solve(&mut state, &mut workspace, &mut pose, &goals, &options).is_err());
}

/// Arms and legs as limbs within their limits: to places that the limbs can take, and beyond, with hands and feet turned too.
#[test]
fn limbs_stay_within_peoples_limits() {
    let mut seed = 3u32;
    let mut next = move || {
        seed = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let (mut met, mut all) = (0, 0);
    for file in [PLAIN, File { facing: 1.1, turned_frames: true, below: 0.7, rests_bent: 0.7, ..PLAIN }] {
        let f = Figure::new(file);
        let mut bind = Pose::rest(&f.skeleton);
        for j in f.skeleton.joints() {
            bind.set_local(j, *f.bind.local(j));
        }
        bind.update();
        for names in [["Arm", "ForeArm", "Hand"], ["UpLeg", "Leg", "Foot"]] {
            for side in ["Left", "Right"] {
                let ids = names.map(|name| f.joint(&format!("{side}{name}")));
                let chain = Chain::new(&f.skeleton, ids[0], ids[2]).unwrap();
                let limb = TwoBone::within_limits(&f.skeleton, chain, ids[1]).unwrap();
                for n in 0..200 {
                    let mut taken = bind.clone();
                    for j in ids {
                        let any = Quat::from_xyzw(next(), next(), next(), 2.0 * next()).normalize();
                        taken.set_rotation(j, f.skeleton.clamp_rotation(j, any));
                    }
                    taken.update();
                    let mut pose = bind.clone();
                    // As hands are led by trackers: from a pose within limits, with or without its play.
                    if n % 2 == 0 {
                        for j in ids {
                            let any = Quat::from_xyzw(next(), next(), next(), 2.0 * next()).normalize();
                            pose.set_rotation(j, f.skeleton.clamp_rotation(j, any));
                        }
                        pose.update();
                    }
                    let off = if n % 3 == 0 { 0.2 * Vec3::new(next(), next(), next()) } else { Vec3::ZERO };
                    let mut goal = Goal::position(taken.position(ids[2]) + off);
                    if n % 5 == 0 {
                        goal = goal.with_rotation(taken.model_rotation(ids[2]));
                    }
                    let report = limb.solve(&mut pose, &goal, &LimbOptions::new()).unwrap();
                    for j in ids {
                        let out = f.skeleton.limits(j).excess(pose.local(j).rotation);
                        assert!(out <= 1e-5, "{side} {names:?} {n}: {out}");
                    }
                    let end = pose.position(ids[2]).distance(goal.position.unwrap());
                    assert!((end - report.position_residual).abs() < 1e-5);
                    if off == Vec3::ZERO {
                        all += 1;
                        met += usize::from(report.position_residual < 1e-4);
                        // An elbow's play is worth a tenth of a radian of the forearm.
                        assert!(report.position_residual < 0.03, "{side} {names:?} {n}: {report:?}");
                    }
                }
            }
        }
    }
    assert!(met * 10 > all * 9, "{met} of {all}");
}
