//! Arms of people from preferred values: within their ranges wherever the hand is to go, and as free arms are where these are.

use crate::rig_figure;

use rig_figure::*;
use sinew::{
    Goal, JointId, JointTransform, Outcome, Pole, Pose, Workspace,
    body::{BodyRoles, Side},
    glam::{DQuat, DVec3, Quat, Vec3},
    math,
    rig::{HumanoidSpec, Rig, RigFrame, RigGoal, RigSpec, StartFrom},
};

/// People's ranges in degrees (AAOS, 1965): an upper arm that points sideways at bind, in the frame of the chest: forward, down and
/// its inward twist; and the flexion of an elbow.
const SHOULDER: [(f64, f64); 3] = [(-45.0, 135.0), (-90.0, 100.0), (-90.0, 70.0)];
const ELBOW: f64 = 150.0;

/// Forward, down, inward twist of an upper arm and flexion of the elbow, in radians.
type Angles = [f64; 4];

/// One arm of a figure in f64. Directions are those at bind, in the frame of the chest.
struct Arm {
    joints: [JointId; 3],
    chest: JointId,
    /// The upper arm, and the axes about which it turns forward and down, and the elbow bends.
    rest: DVec3,
    forward: DVec3,
    down: DVec3,
    bend: DVec3,
    /// The upper arm's rotation.
    bind: DQuat,
    lengths: [f64; 2],
    /// The inward twist of a turn about the upper arm.
    inward: f64,
}

impl Arm {
    fn new(bind: &Pose, body: &BodyRoles, side: Side, front: Vec3) -> Self {
        let arm = body.arm(side).unwrap();
        let joints = [arm.upper_arm, arm.forearm, arm.hand];
        let chest = bind.skeleton().parent(arm.clavicle.unwrap()).unwrap();
        let [(root, turned), (middle, _), (end, _)] = joints.map(|j| place(bind, j));
        let into = place(bind, chest).1.conjugate();
        let (u, v) = (middle - root, end - middle);
        let inward = if side == Side::Left { 1.0 } else { -1.0 };
        let forward = u.cross(front.as_dvec3());
        let [rest, forward, down, bend] =
            [u, forward, u.cross(forward) * inward, u.cross(v)].map(|v| (into * v).normalize());
        let lengths = [u.length(), v.length()];
        Self { joints, chest, rest, forward, down, bend, bind: into * turned, lengths, inward }
    }

    fn angles(&self, pose: &Pose) -> Angles {
        let [(root, turned), (middle, _), (end, _)] = self.joints.map(|j| place(pose, j));
        let into = place(pose, self.chest).1.conjugate();
        let [bone, lower] = [middle - root, end - middle].map(|v| (into * v).normalize());
        let axis = self.rest.cross(bone);
        let about = axis.normalize_or_zero() * axis.length().atan2(self.rest.dot(bone));
        let untwisted = DQuat::from_rotation_arc(self.rest, bone) * self.forward;
        let across = into * turned * self.bind.conjugate() * self.forward;
        let twist = across.dot(bone.cross(untwisted)).atan2(across.dot(untwisted));
        let flexion = bone.cross(lower).length().atan2(bone.dot(lower));
        [about.dot(self.forward), about.dot(self.down), self.inward * twist, flexion]
    }

    /// The angles within the ranges: the swing along its direction.
    fn within([mut forward, mut down, twist, flexion]: Angles) -> Angles {
        let share = |angle: f64, (least, most): (f64, f64)| {
            angle / if angle < 0.0 { least.abs() } else { most }.to_radians()
        };
        let most = share(forward, SHOULDER[0]).hypot(share(down, SHOULDER[1])).max(1.0);
        (forward, down) = (forward / most, down / most);
        let (low, high) = SHOULDER[2];
        let twist = twist.clamp(low.to_radians(), high.to_radians());
        [forward, down, twist, flexion.clamp(0.0, ELBOW.to_radians())]
    }

    /// By how much an arm is beyond people's ranges, in radians.
    fn excess(&self, pose: &Pose) -> f64 {
        let angles = self.angles(pose);
        let within = Self::within(angles);
        (0..4).map(|k| (angles[k] - within[k]).abs()).fold(0.0, f64::max)
    }

    /// The hand in the chest's frame, from the shoulder.
    fn hand(&self, [forward, down, twist, flexion]: Angles) -> DVec3 {
        let turn = DQuat::from_scaled_axis(self.forward * forward + self.down * down);
        let turn = turn * DQuat::from_axis_angle(self.rest, self.inward * twist);
        let lower = DQuat::from_axis_angle(self.bend, flexion) * self.rest;
        turn * (self.rest * self.lengths[0] + lower * self.lengths[1])
    }

    /// The least distance of a hand within the ranges from a goal in model space: by descents of random steps.
    fn least(&self, pose: &Pose, goal: Vec3, noise: &mut Noise) -> f64 {
        let root = place(pose, self.joints[0]).0;
        let goal = place(pose, self.chest).1.conjugate() * (goal.as_dvec3() - root);
        let mut best = f64::MAX;
        let mut noise = || f64::from(noise.next());
        for _ in 0..24 {
            let mut x = Self::within([noise() * 2.5, noise() * 1.8, noise() * 1.6, 1.3 + 1.3 * noise()]);
            let (mut left, mut step) = ((self.hand(x) - goal).length(), 0.4);
            while step > 1e-6 {
                let mut nearer = false;
                for _ in 0..16 {
                    let next = Self::within(x.map(|x| x + step * noise()));
                    let then = (self.hand(next) - goal).length();
                    if then < left {
                        (x, left, nearer) = (next, then, true);
                    }
                }
                step *= if nearer { 1.2 } else { 0.5 };
            }
            best = best.min(left);
        }
        best
    }
}

/// The handles of both arms, with roles or without.
fn arms(bind: &Pose, body: &BodyRoles, people: bool) -> Rig {
    let mut spec = HumanoidSpec::new().rig(body);
    spec.handles.retain(|h| h.from == StartFrom::Preferred);
    Rig::new(bind, people.then_some(body), &RigSpec::new(spec.handles)).unwrap()
}

fn solved(rig: &Rig, pose: &Pose, goals: &[RigGoal]) -> Pose {
    let mut pose = pose.clone();
    let frame = RigFrame::new(0.02).with_goals(goals);
    rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &frame).unwrap();
    pose
}

/// What f32 leaves of an arm's angles: a straight arm bends by the square root of the rounding of its length.
fn rounding(angles: &Angles) -> f64 {
    if angles[3] < 0.01 { 1e-3 } else { 1e-4 }
}

const FIGURES: [(f32, f32, u64); 3] = [(1.0, 0.0, 0), (0.3, 2.0, 5), (40.0, -1.1, 8)];

/// The other joints of the figure moved, and goals of both hands anywhere around it.
fn task(bind: &Pose, body: &BodyRoles, size: f32, noise: &mut Noise) -> (Pose, Vec<RigGoal>) {
    let pose = turned(bind, noise, 0.3);
    let goal = |side, noise: &mut Noise| {
        let arm = body.arm(side).unwrap();
        let root = pose.position(arm.upper_arm);
        RigGoal::from(Goal::position(root + noise.vector() * (0.5 * size)))
    };
    let goals = Side::BOTH.map(|side| goal(side, noise)).to_vec();
    (pose, goals)
}

#[test]
fn an_arm_is_within_peoples_ranges_with_its_hand_as_near_as_they_let_it() {
    let mut noise = Noise(3);
    let (mut held, mut turned, mut count) = (0, 0, 0);
    for (size, facing, axes) in FIGURES {
        let (bind, body) = figure(size, facing, axes);
        let front = math::rotate(math::axis_angle(Vec3::Y, facing), Vec3::Z);
        let (rig, free) = (arms(&bind, &body, true), arms(&bind, &body, false));
        let judges = Side::BOTH.map(|side| Arm::new(&bind, &body, side, front));
        for _ in 0..150 {
            let (given, goals) = task(&bind, &body, size, &mut noise);
            let [pose, other] = [&rig, &free].map(|rig| solved(rig, &given, &goals));
            for (arm, goal) in judges.iter().zip(&goals) {
                let goal = goal.goal.position.unwrap();
                let excess = arm.excess(&pose);
                assert!(excess < rounding(&arm.angles(&pose)), "{excess} {:?}", arm.angles(&pose));
                let [now, was] = [&pose, &other].map(|pose| pose.position(arm.joints[2]).distance(goal));
                let reach = (arm.lengths[0] + arm.lengths[1]) as f32;
                if now > was + 1e-5 * reach {
                    let least = arm.least(&pose, goal, &mut noise);
                    assert!(f64::from(now) < least + 5e-3 * f64::from(reach), "{now} {least} of {reach}");
                    held += 1;
                }
                if arm.excess(&other) < 1e-6 {
                    for j in arm.joints {
                        assert_eq!(pose.local(j), other.local(j));
                    }
                } else {
                    turned += 1;
                }
                count += 1;
            }
        }
    }
    assert!(held * 20 > count && turned * 4 > count && turned * 4 < 3 * count, "{held} {turned} of {count}");
}

#[test]
fn a_swivel_adds_to_that_of_the_ranges_and_a_pole_takes_its_place() {
    let mut noise = Noise(8);
    for (size, facing, axes) in FIGURES {
        let (bind, body) = figure(size, facing, axes);
        let (rig, free) = (arms(&bind, &body, true), arms(&bind, &body, false));
        for _ in 0..50 {
            let (given, goals) = task(&bind, &body, size, &mut noise);
            let plain = solved(&rig, &given, &goals);
            let angle = 3.0 * noise.next();
            let swivelled: Vec<_> = goals.iter().map(|g| RigGoal::from(g.goal.with_swivel(angle))).collect();
            let pose = solved(&rig, &given, &swivelled);
            let pole = Pole::Direction(noise.vector());
            let poled: Vec<_> = goals.iter().map(|g| RigGoal::from(g.goal.with_pole(pole))).collect();
            assert_eq!(solved(&rig, &given, &poled).locals(), solved(&free, &given, &poled).locals());
            for side in Side::BOTH {
                let arm = body.arm(side).unwrap();
                let at = |pose: &Pose, j| place(pose, j).0;
                let (root, end) = (at(&plain, arm.upper_arm), at(&plain, arm.hand));
                assert!(at(&pose, arm.hand).distance(end) < 3e-6 * f64::from(size));
                let turn = DQuat::from_axis_angle((end - root).normalize(), f64::from(angle));
                let wanted = root + turn * (at(&plain, arm.forearm) - root);
                let straight = (end - root).length() > 0.9999 * 0.5516 * f64::from(size);
                let off = at(&pose, arm.forearm).distance(wanted) / f64::from(size);
                assert!(off < if straight { 1e-3 } else { 2e-5 }, "{off}");
            }
        }
    }
}

/// A figure mirrored by its scale bends as its image does.
#[test]
fn mirrored_figures_mirror() {
    let mut noise = Noise(5);
    let (bind, body) = figure(1.0, 0.4, 3);
    let rig = arms(&bind, &body, true);
    let flip = Vec3::new(-1.0, 1.0, 1.0);
    for _ in 0..50 {
        let (given, goals) = task(&bind, &body, 1.0, &mut noise);
        let mut mirrored = given.clone();
        let hips = *given.local(body.hips);
        // The whole of a model space is flipped across x: M R S = (M R M) (M S).
        let q = hips.rotation;
        mirrored.set_local(
            body.hips,
            JointTransform {
                translation: hips.translation * flip,
                rotation: Quat::from_xyzw(q.x, -q.y, -q.z, q.w),
                scale: hips.scale * flip,
            },
        );
        mirrored.update();
        let flipped = |g: &RigGoal| RigGoal::from(Goal::position(g.goal.position.unwrap() * flip));
        let goals_mirrored: Vec<_> = goals.iter().map(flipped).collect();
        let (pose, image) = (solved(&rig, &given, &goals), solved(&rig, &mirrored, &goals_mirrored));
        for arm in body.arms.iter().flatten() {
            for j in [arm.forearm, arm.hand] {
                let off = (pose.position(j) * flip).distance(image.position(j));
                assert!(off < 1e-4, "{off}");
            }
        }
    }
}

/// Hands that move in front of the figure, on their own side: elbows move with them.
#[test]
fn elbows_do_not_leap() {
    let mut noise = Noise(77);
    let (bind, body) = figure(1.0, 0.0, 0);
    let rig = arms(&bind, &body, true);
    let arm = body.arm(Side::Right).unwrap();
    let root = bind.position(arm.upper_arm);
    let length = 0.55;
    let mut worst = 0.0f32;
    for _ in 0..100 {
        let (a, b, c) = (noise.vector(), noise.vector(), noise.vector());
        let mut last: Option<(Vec3, Vec3)> = None;
        for k in 0..200 {
            let t = k as f32 * 0.01;
            let p = a * (t * 3.0).cos() + b * (t * 2.2).sin() + c * (t * 1.3).cos();
            let direction = Vec3::new(0.2 - 0.6 * p.x.abs(), p.y, p.z.abs() + 0.1).normalize();
            let at = root + direction * (length * (0.65 + 0.25 * (t * 4.0).sin()));
            let goals = [RigGoal::new(), Goal::position(at).into()];
            let pose = solved(&rig, &bind, &goals);
            let elbow = pose.position(arm.forearm);
            if let Some((before, was)) = last {
                // Steps of a few millimetres: at an end of a range an elbow starts to move with the root of the way.
                worst = worst.max(elbow.distance(before) / (at.distance(was) + 0.003));
            }
            last = Some((elbow, at));
        }
    }
    assert!(worst < 8.0, "{worst}");
}

/// An elbow folds no further than a person's, down to a goal on the shoulder, and frames without a size are refused as ever.
#[test]
fn folded_and_flat() {
    let (bind, body) = figure(1.0, 0.0, 0);
    let rig = arms(&bind, &body, true);
    let judge = Arm::new(&bind, &body, Side::Right, Vec3::Z);
    let root = bind.position(judge.joints[0]);
    for off in [0.1, 1e-3, 1e-9, 0.0] {
        let goals = [RigGoal::new(), Goal::position(root + Vec3::new(-0.3, -0.5, 0.8) * off).into()];
        let mut pose = bind.clone();
        let (mut state, mut workspace) = (rig.state(), Workspace::new());
        let frame = RigFrame::new(0.02).with_goals(&goals);
        let report = rig.apply(&mut state, &mut workspace, &mut pose, &frame).unwrap();
        let flexion = judge.angles(&pose)[3];
        assert!((flexion - ELBOW.to_radians()).abs() < 1e-4, "{off}: {flexion}");
        let report = report.handles[1].report;
        assert!(!report.reached() && report.outcome == Outcome::Stalled, "{report:?}");
    }
    let mut flat = bind.clone();
    flat.set_local(body.hips, JointTransform { scale: Vec3::ZERO, ..*bind.local(body.hips) });
    flat.update();
    let goals = [RigGoal::new(), Goal::position(Vec3::ONE).into()];
    let before = flat.clone();
    let frame = RigFrame::new(0.02).with_goals(&goals);
    let mut state = rig.state();
    let refused = rig.apply(&mut state, &mut Workspace::new(), &mut flat, &frame);
    assert!(refused.is_err());
    assert_eq!(flat.locals(), before.locals());
}
