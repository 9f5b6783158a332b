//! The sample's walk, measured by forward kinematics in f64 that is written here, at the clip's own keys.

use glam::{DMat4, DQuat, DVec3, swizzles::Vec3Swizzles};
use sinew::JointId;
use sinew_files::{Model, sample};

/// Model-space frames of every joint at each key time.
struct Frames {
    model: Model,
    times: Vec<f32>,
    frames: Vec<Vec<DMat4>>,
}

impl Frames {
    fn new() -> Self {
        let model = sample::mannequin().unwrap();
        let clip = &model.clips[0];
        let longest = clip.tracks().iter().filter_map(|t| t.rotation.as_ref()).map(|r| r.times());
        let times = longest.max_by_key(|t| t.len()).unwrap().to_vec();
        let frames = times.iter().map(|&time| at(&model, time)).collect();
        Self { model, times, frames }
    }

    fn joint(&self, name: &str) -> usize {
        self.model.skeleton.find(name).unwrap_or_else(|| panic!("no joint {name}")).index()
    }

    fn place(&self, frame: usize, joint: &str) -> DVec3 {
        self.frames[frame][self.joint(joint)].w_axis.truncate()
    }

    /// Radians between thigh and shin, 0 for a straight leg.
    fn knee(&self, frame: usize, side: &str) -> f64 {
        let p = |name: &str| self.place(frame, &format!("{name}.{side}"));
        let (thigh, shin) = (p("shin") - p("thigh"), p("foot") - p("shin"));
        thigh.angle_between(shin)
    }
}

fn at(model: &Model, time: f32) -> Vec<DMat4> {
    let skeleton = &model.skeleton;
    let mut locals: Vec<_> = skeleton.joints().map(|j| *skeleton.rest(j)).collect();
    for tracks in model.clips[0].tracks() {
        let local = &mut locals[tracks.joint.index()];
        if let Some(t) = &tracks.translation {
            local.translation = t.sample(time);
        }
        if let Some(r) = &tracks.rotation {
            local.rotation = r.sample(time);
        }
        assert!(tracks.scale.is_none(), "nothing in the walk is scaled");
    }
    let mut frames: Vec<DMat4> = Vec::with_capacity(locals.len());
    for joint in skeleton.joints() {
        let local = &locals[joint.index()];
        let rotation = DQuat::from_array(local.rotation.to_array().map(f64::from)).normalize();
        let own = DMat4::from_rotation_translation(rotation, local.translation.as_dvec3());
        frames.push(skeleton.parent(joint).map_or(own, |p| frames[p.index()] * own));
    }
    frames
}

/// The sole's heel and ball, in the space of the joint that carries them: from the mesh, not
/// from what the walk was made with.
fn sole(frames: &Frames, side: &str) -> [(usize, DVec3); 2] {
    let skeleton = &frames.model.skeleton;
    let rest: Vec<DMat4> = {
        let mut out: Vec<DMat4> = Vec::new();
        for joint in skeleton.joints() {
            let own = DMat4::from_translation(skeleton.rest(joint).translation.as_dvec3());
            out.push(skeleton.parent(joint).map_or(own, |p| out[p.index()] * own));
        }
        out
    };
    let of = |name: &str| -> JointId { skeleton.find(&format!("{name}.{side}")).unwrap() };
    let lowest = |joint: JointId| -> Vec<DVec3> {
        let points = frames.model.skin.iter().filter(|v| v.joint == joint && v.weight > 0.999);
        let places = points.map(|v| v.position.as_dvec3());
        places.filter(|p| rest[joint.index()].transform_point3(*p).y.abs() < 1e-5).collect()
    };
    let (foot, toes) = (of("foot"), of("toes"));
    let least = |v: Vec<DVec3>| v.into_iter().min_by(|a, b| a.z.total_cmp(&b.z)).unwrap();
    [(foot.index(), least(lowest(foot))), (toes.index(), least(lowest(toes)))]
}

#[test]
fn the_sole_is_flat_on_the_floor_in_the_rest_pose() {
    let frames = Frames::new();
    for side in ["L", "R"] {
        let [heel, ball] = sole(&frames, side);
        let length = frames.model.skeleton.rest(frames.model.skeleton.find(&format!("toes.{side}")).unwrap());
        assert!(heel.1.z < -0.04 && ball.1.z.abs() < 0.03 && length.translation.z > 0.1);
    }
    let floor = frames.model.skin.iter().map(|v| {
        let mut at = v.position;
        let mut joint = Some(v.joint);
        while let Some(j) = joint {
            at += frames.model.skeleton.rest(j).translation;
            joint = frames.model.skeleton.parent(j);
        }
        at.y
    });
    let (low, high) = floor.fold((f32::MAX, f32::MIN), |(l, h), y| (l.min(y), h.max(y)));
    assert!(low.abs() < 1e-5, "the lowest point is at {low}");
    assert!((high - 1.75).abs() < 0.01, "the figure is {high} m tall");
}

#[test]
fn bones_keep_their_lengths_and_only_the_hips_travel() {
    let frames = Frames::new();
    for tracks in frames.model.clips[0].tracks() {
        let name = frames.model.skeleton.name(tracks.joint);
        assert!(tracks.translation.is_none() || name == "hips", "{name} is moved");
        let finite = |v: &[glam::Quat]| v.iter().all(|q| (q.length() - 1.0).abs() < 1e-5);
        assert!(tracks.rotation.as_ref().is_none_or(|r| finite(r.values())));
    }
    let last = frames.times.len() - 1;
    let way = frames.place(last, "hips") - frames.place(0, "hips");
    assert!(way.z > 4.0 && way.x.abs() < 1e-3 && way.y.abs() < 1e-3, "{way}");
    // In the middle it goes at 1.35 m/s.
    let (a, b) = (60, 105);
    let speed = (frames.place(b, "hips").z - frames.place(a, "hips").z)
        / f64::from(frames.times[b] - frames.times[a]);
    assert!((1.25..1.45).contains(&speed), "{speed} m/s");
}

#[test]
fn standing_feet_stand() {
    let frames = Frames::new();
    let mut lowest = f64::MAX;
    for side in ["L", "R"] {
        let points = sole(&frames, side);
        let place = |k: usize, (joint, at): (usize, DVec3)| frames.frames[k][joint].transform_point3(at);
        let mut standing = 0;
        for k in 1..frames.times.len() - 1 {
            let dt = f64::from(frames.times[k] - frames.times[k - 1]);
            let mut stands = false;
            for point in points {
                let (a, b) = (place(k - 1, point), place(k, point));
                lowest = lowest.min(b.y);
                let slow = (b.xz() - a.xz()).length() / dt;
                // What is at the floor at three keys in a row stands there and must not creep.
                if a.y < 2e-4 && b.y < 2e-4 && place(k + 1, point).y < 2e-4 {
                    stands = true;
                    assert!(slow < 1e-3, "{side} creeps at {slow} m/s at {} s", frames.times[k]);
                }
            }
            standing += usize::from(stands);
        }
        let share = standing as f64 / frames.times.len() as f64;
        assert!((0.5..0.8).contains(&share), "{side} stands for {share} of the clip");
    }
    assert!(lowest > -1e-3, "the sole sinks to {lowest}");
}

#[test]
fn no_point_of_the_feet_sinks_at_keys_or_between() {
    let frames = Frames::new();
    let model = &frames.model;
    let feet: Vec<usize> = ["foot.L", "toes.L", "foot.R", "toes.R"].map(|n| frames.joint(n)).to_vec();
    let mut low = [0.0f64; 2];
    for k in 0..frames.times.len() {
        for (half, low) in low.iter_mut().enumerate() {
            let now = at(model, frames.times[k] + half as f32 / 60.0);
            // What both joints share lies between the two places that each alone would give it.
            for v in model.skin.iter().filter(|v| feet.contains(&v.joint.index()) && v.weight > 0.999) {
                *low = low.min(now[v.joint.index()].transform_point3(v.position.as_dvec3()).y);
            }
        }
    }
    eprintln!("lowest: {:.1} mm at keys, {:.1} mm between", low[0] * 1e3, low[1] * 1e3);
    assert!(low[0] > -3e-3 && low[1] > low[0] - 3e-3);
}

#[test]
fn knees_bend_as_they_should_and_never_pop() {
    let frames = Frames::new();
    for side in ["L", "R"] {
        let knee: Vec<f64> = (0..frames.times.len()).map(|k| frames.knee(k, side).to_degrees()).collect();
        eprintln!("{side}: {}", knee.iter().map(|k| format!("{k:.0} ")).collect::<String>());
        let (low, high) = knee.iter().fold((f64::MAX, 0.0f64), |(l, h), &k| (l.min(k), h.max(k)));
        let jump = knee.windows(2).map(|w| (w[1] - w[0]).abs()).fold(0.0, f64::max);
        let accelerations = knee.windows(3).map(|w| (w[2] - 2.0 * w[1] + w[0]).abs() * 900.0);
        let most = accelerations.fold(0.0, f64::max);
        eprintln!("{side}: {low:.1} to {high:.1}, {jump:.1} degrees a key, {most:.0} degrees/s^2");
        assert!(low > 9.0 && (55.0..72.0).contains(&high), "{side}: from {low} to {high} degrees");
        // A walker's knee turns at up to 400 degrees a second.
        assert!(jump < 16.0, "{side}: {jump} degrees from one key to the next");
        assert!(most < 14_000.0, "{side}: {most} degrees/s^2");
    }
}

/// Between the foot turned up and a right angle to the shin.
#[test]
fn ankles_bend_no_further_than_a_walkers() {
    let frames = Frames::new();
    for side in ["L", "R"] {
        let bend = (0..frames.times.len()).map(|k| {
            let shin = frames.place(k, &format!("shin.{side}")) - frames.place(k, &format!("foot.{side}"));
            let foot = frames.frames[k][frames.joint(&format!("foot.{side}"))].z_axis.truncate();
            shin.normalize().dot(foot).asin().to_degrees()
        });
        let (low, high) = bend.fold((f64::MAX, f64::MIN), |(l, h), b| (l.min(b), h.max(b)));
        assert!(
            (20.0..27.5).contains(&high) && (-20.0..-8.0).contains(&low),
            "{side}: {low} to {high} degrees"
        );
    }
}

#[test]
fn arms_swing_against_the_legs_below_the_shoulders() {
    let frames = Frames::new();
    for side in ["L", "R"] {
        let reach = |k: usize, from: &str, to: &str| {
            let at = |name: &str| frames.place(k, &format!("{name}.{side}"));
            at(to) - at(from)
        };
        // The pelvis turns and lists, so that the hip is the leg's own origin, as the shoulder is the arm's.
        let (mut swings, mut sum) = ([f64::MAX, f64::MIN], [0.0; 3]);
        for k in 0..frames.times.len() {
            let (arm, leg) = (reach(k, "upper_arm", "hand"), reach(k, "thigh", "foot"));
            assert!(arm.y < -0.4, "{side}: the hand is {} m above the shoulder", arm.y);
            swings = [swings[0].min(arm.z), swings[1].max(arm.z)];
            for (sum, of) in sum.iter_mut().zip([arm.z * leg.z, arm.z * arm.z, leg.z * leg.z]) {
                *sum += of;
            }
        }
        let correlation = sum[0] / (sum[1] * sum[2]).sqrt();
        eprintln!(
            "{side}: hand from {:.2} to {:.2} m ahead, correlation {correlation:.2}",
            swings[0], swings[1]
        );
        assert!(correlation < -0.5, "{side}: arm and leg correlate by {correlation}");
        assert!(swings[0] < -0.05 && swings[1] > 0.15, "{side}: the hand swings from {swings:?} m");
    }
}

#[test]
fn each_call_makes_the_same_bytes() {
    let bytes = || {
        let mut out = Vec::new();
        sample::document().unwrap().to_glb(&mut out).unwrap();
        out
    };
    assert_eq!(bytes(), bytes());
}
