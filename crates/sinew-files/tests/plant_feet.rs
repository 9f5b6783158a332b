//! Feet and legs of other kinds, planted: soles from End Sites and from proportions, and legs of more bones. Walks are made here as BVH text, and the planted
//! clips are judged by forward kinematics in f64 that is written here.

use std::{fmt::Write as _, path::Path};

use glam::{DMat4, DVec3, Vec3};
use sinew::{
    Placement, Pose,
    body::{BodyRoles, Side},
    ground::{
        MeshGround, TriangleMesh,
        plant::{ClipOptions, Figure, FigureError, FootPlanter, PlantOptions, Planting, plant_clip},
        terrain::{Flight, Slope, Stairs},
    },
};
use sinew_files::{Model, ReadOptions, bvh, sample};

const THIGH: f64 = 0.45;
const SHIN: f64 = 0.43;
const ANKLE: f64 = 0.08;
const HIPS: f64 = 0.88;
const SPEED: f64 = 1.0;
const FRAMES: usize = 91;

/// A figure of pelvis, head and legs that walks along +Z.
#[derive(Clone)]
struct Walker {
    /// What is below an ankle, as BVH text.
    below_ankle: String,
    more: More,
}

/// Joints of a leg besides those at hip, knee and ankle.
#[derive(Clone, Copy, PartialEq)]
enum More {
    None,
    /// Joints half-way along thigh and shin. The shin's turns about the shin, without effect on the ankle.
    Twist,
    /// A joint between knee and ankle that bends, as in a digitigrade leg.
    Hock,
}

/// Lengths above and below a hock, in metres.
const HOCK: [f64; 2] = [0.25, SHIN - 0.25];

/// Flexion of the hock in the clip, in radians.
fn hock(t: f64) -> f64 {
    0.5 + 0.15 * (std::f64::consts::TAU * t).sin()
}

/// Twist of the shin in the clip, in radians.
fn twist(t: f64) -> f64 {
    0.4 * (std::f64::consts::TAU * t).cos()
}

impl Walker {
    /// A foot of one joint with an End Site.
    fn with_end(end: [f64; 3]) -> Self {
        Self { below_ankle: end_site(end), more: More::None }
    }

    fn text(&self) -> String {
        // The sole of the straight legs of the rest pose is on the clip's floor.
        let mut s = format!("HIERARCHY\nROOT Hips\n{{\nOFFSET 0 {} 0\n", THIGH + SHIN + ANKLE);
        s += "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n";
        s += "JOINT Head\n{\nOFFSET 0 0.7 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 0.2 0\n}\n}\n";
        for (side, x) in [("Left", 0.1), ("Right", -0.1)] {
            let channels = "Zrotation Yrotation Xrotation";
            let mut joint = |name: &str, x: f64, y: f64| {
                let _ = write!(s, "JOINT {side}{name}\n{{\nOFFSET {x} {y} 0\nCHANNELS 3 {channels}\n");
            };
            joint("Hip", x, 0.0);
            match self.more {
                More::None => {
                    joint("Knee", 0.0, -THIGH);
                    joint("Ankle", 0.0, -SHIN);
                }
                More::Twist => {
                    joint("HipTwist", 0.0, -0.5 * THIGH);
                    joint("Knee", 0.0, -0.5 * THIGH);
                    joint("KneeTwist", 0.0, -0.5 * SHIN);
                    joint("Ankle", 0.0, -0.5 * SHIN);
                }
                More::Hock => {
                    joint("Knee", 0.0, -THIGH);
                    joint("Hock", 0.0, -HOCK[0]);
                    joint("Ankle", 0.0, -HOCK[1]);
                }
            }
            s += &self.below_ankle;
            let joints = 3 + match self.more {
                More::None => 0,
                More::Twist => 2,
                More::Hock => 1,
            };
            s += &"}\n".repeat(joints);
        }
        s += "}\n";
        let _ = write!(s, "MOTION\nFrames: {FRAMES}\nFrame Time: {}\n", 1.0 / 30.0);
        for frame in 0..FRAMES {
            let t = frame as f64 / 30.0;
            let _ = write!(s, "0 {HIPS} {} 0 0 0  0 0 0 ", SPEED * t);
            for phase in [0.0, 0.5] {
                let t = t + phase;
                // Turns about X; those of joints that twist are about Y.
                let turns: Vec<[f64; 2]> = match self.more {
                    More::None => leg(t, SHIN, 0.0).map(|x| [x, 0.0]).into(),
                    More::Twist => {
                        let [thigh, shin, foot] = leg(t, SHIN, 0.0);
                        let tau = twist(t);
                        // The foot undoes the shin's twist.
                        vec![[thigh, 0.0], [0.0, 0.0], [shin, 0.0], [0.0, tau], [foot, -tau]]
                    }
                    More::Hock => {
                        // The line from knee to ankle is behind the bone below the knee.
                        let h = hock(t);
                        let (along, aside) = (HOCK[0] + HOCK[1] * h.cos(), HOCK[1] * h.sin());
                        let [thigh, shin, foot] = leg(t, along.hypot(aside), aside.atan2(along));
                        vec![[thigh, 0.0], [shin, 0.0], [h, 0.0], [foot - h, 0.0]]
                    }
                };
                for [x, y] in turns {
                    let _ = write!(s, " 0 {} {}", y.to_degrees(), x.to_degrees());
                }
                // Joints below the ankle keep their rest rotations.
                for _ in 0..self.below_ankle.matches("CHANNELS").count() {
                    s += " 0 0 0";
                }
            }
            s += "\n";
        }
        s
    }

    fn read(&self) -> Model {
        bvh::from_bytes(self.text().as_bytes(), Path::new("walker.bvh"), &ReadOptions::default()).unwrap()
    }
}

fn end_site([x, y, z]: [f64; 3]) -> String {
    format!("End Site\n{{\nOFFSET {x} {y} {z}\n}}\n")
}

/// Local rotations about X of thigh, shin and foot: the foot is level, stands for 0.6 s of each second and swings for 0.4 s.
/// `calf` is the distance from knee to ankle, and `behind` the angle of that line behind the bone below the knee.
fn leg(t: f64, calf: f64, behind: f64) -> [f64; 3] {
    let t = t.rem_euclid(1.0);
    let (z, lift) = if t < 0.6 {
        (0.3 - SPEED * t, 0.0)
    } else {
        let s = (t - 0.6) / 0.4;
        let ease = s * s * (3.0 - 2.0 * s);
        (-0.3 + 0.6 * ease, 0.1 * (std::f64::consts::PI * s).sin().powi(2))
    };
    let (down, ahead) = (HIPS - ANKLE - lift, z);
    let d = down.hypot(ahead);
    let corner = |a: f64, b: f64| ((a * a + d * d - b * b) / (2.0 * a * d)).clamp(-1.0, 1.0).acos();
    // Angles forward from hanging; a turn about +X leads what hangs backwards.
    let line = ahead.atan2(down);
    let (thigh, shin) = (line + corner(THIGH, calf), line - corner(calf, THIGH) + behind);
    [-thigh, thigh - shin, shin]
}

/// Model-space frames of a pose's local transforms.
fn frames(pose: &Pose) -> Vec<DMat4> {
    let skeleton = pose.skeleton();
    let mut frames: Vec<DMat4> = Vec::new();
    for joint in skeleton.joints() {
        let local = pose.local(joint);
        let own = DMat4::from_scale_rotation_translation(
            local.scale.as_dvec3(),
            local.rotation.as_dquat().normalize(),
            local.translation.as_dvec3(),
        );
        let parent = skeleton.parent(joint).map_or(DMat4::IDENTITY, |p| frames[p.index()]);
        frames.push(parent * own);
    }
    frames
}

type Height = Box<dyn Fn(f32, f32) -> Option<f32>>;

fn grounds() -> Vec<(&'static str, TriangleMesh, Height)> {
    let stairs = Stairs::new().with_rise(0.12).with_going(0.4).with_lead(0.7);
    let slope = Slope::new().with_angle(8f32.to_radians()).with_length(8.0).with_lead(0.7);
    vec![
        ("stairs", stairs.mesh().unwrap(), Box::new(move |x, z| stairs.height(x, z))),
        ("slope", slope.mesh().unwrap(), Box::new(move |x, z| slope.height(x, z))),
    ]
}

fn figure(model: &Model) -> Result<Figure, FigureError> {
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).unwrap();
    Figure::of_body(&bind, &body, &model.skin_points(&bind))
}

fn plant(model: &Model, figure: &Figure, mesh: TriangleMesh) -> Planting {
    let (ground, rest) = (MeshGround::new(mesh).unwrap(), Pose::rest(&model.skeleton));
    plant_clip(figure, &rest, &model.clips[0], &ground, &ClipOptions::default()).unwrap()
}

/// Plants the walk on each ground and checks that heels and balls whose contact holds are on the ground and stay.
fn check_planted(model: &Model, figure: &Figure) {
    for (name, mesh, height) in grounds() {
        let Planting { planted, report, .. } = plant(model, figure, mesh);
        let mut pose = Pose::rest(&model.skeleton);
        let (mut contact, mut held) = (0.0, 0.0);
        for outcome in &report.contacts {
            contact += outcome.time.length();
            if outcome.unplanted.is_some() {
                continue;
            }
            held += outcome.time.length();
            let leg = &figure.legs()[outcome.leg];
            let local = if outcome.point == "heel" { leg.sole.heel } else { leg.sole.ball };
            let mut places: Vec<DVec3> = Vec::new();
            for &time in planted.times.iter().filter(|t| outcome.time.contains(**t)) {
                planted.clip.sample(time, &mut pose);
                let at = frames(&pose)[leg.foot.index()].transform_point3(local.as_dvec3());
                let over = at.y - f64::from(height(at.x as f32, at.z as f32).unwrap());
                assert!(over.abs() < 3e-3, "{name}, leg {}, {time} s: {over}", outcome.leg);
                places.push(at);
            }
            let apart = |a: &DVec3| places.iter().map(|b| a.distance(*b)).fold(0.0, f64::max);
            let most = places.iter().map(apart).fold(0.0, f64::max);
            assert!(most < 4.5e-3, "{name}, leg {}, {:?}: {most}", outcome.leg, outcome.time);
        }
        eprintln!("{name}: {held:.2} s of {contact:.2} s held");
        assert!(contact > 2.0 && held > 0.8 * contact, "{name}: {held} s of {contact} s");
    }
}

/// Steps the walk frame by frame on a slope: nothing fails, and feet that stand are on it.
fn check_stepped(model: &Model, figure: &Figure) {
    let slope = Slope::new().with_angle(8f32.to_radians()).with_length(8.0).with_lead(0.7);
    let ground = MeshGround::new(slope.mesh().unwrap()).unwrap();
    let planter = FootPlanter::new(figure, PlantOptions::default()).unwrap();
    let (mut state, mut pose) = (planter.state(), Pose::rest(&model.skeleton));
    let (mut since, mut checked) = ([0; 2], 0);
    for frame in 0..3 * 60 {
        let t = frame as f32 / 60.0;
        model.clips[0].sample(t, &mut pose);
        pose.update();
        planter.sense(&mut state, &ground, &pose, &Placement::IDENTITY).unwrap();
        planter.step(&mut state, &mut pose, &Placement::IDENTITY, 1.0 / 60.0).unwrap();
        let frames = frames(&pose);
        for (i, leg) in figure.legs().iter().enumerate() {
            // A foot stands for the first 0.6 s of each second; the springs settle within a quarter of a second.
            let clip_stands = (t + 0.5 * i as f32).rem_euclid(1.0) < 0.55;
            since[i] = if state.stands(i) && clip_stands { since[i] + 1 } else { 0 };
            if since[i] > 15 {
                let at = frames[leg.foot.index()].transform_point3(leg.sole.ball.as_dvec3());
                let over = at.y - f64::from(slope.height(at.x as f32, at.z as f32).unwrap());
                assert!(over.abs() < 5e-3, "leg {i}, {t} s: {over}");
                checked += 1;
            }
        }
    }
    assert!(checked > 40, "{checked} frames");
}

#[test]
fn an_end_site_gives_the_sole() {
    let model = Walker::with_end([0.0, -ANKLE, 0.18]).read();
    let figure = figure(&model).unwrap();
    assert_eq!(figure.assumed_soles(), []);
    for leg in figure.legs() {
        let down = -ANKLE as f32;
        assert!(leg.sole.heel.distance(Vec3::new(0.0, down, 0.0)) < 1e-6, "{:?}", leg.sole);
        assert!(leg.sole.ball.distance(Vec3::new(0.0, down, 0.18)) < 1e-6, "{:?}", leg.sole);
        assert_eq!((leg.sole.tip, leg.toes), (leg.sole.ball, None));
    }
    check_planted(&model, &figure);
    check_stepped(&model, &figure);
}

#[test]
fn a_foot_of_one_joint_has_a_persons_sole() {
    // No End Site at all, one at the ankle, up, back, sideways, and barely ahead.
    let none = Walker { below_ankle: String::new(), more: More::None };
    let ends = [
        [0.0, 0.0, 0.0],
        [0.0, 0.2, 0.0],
        [0.0, -0.05, -0.1],
        [0.2, 0.0, 0.0],
        [0.0, 0.0, 0.01],
        [0.0, 0.15, 0.15],
    ];
    let odd = ends.map(|end| (Walker::with_end(end), format!("{end:?}")));
    for (walker, what) in [(none, "none".to_owned())].into_iter().chain(odd) {
        let model = walker.read();
        let figure = figure(&model).unwrap();
        let ankles = ["LeftAnkle", "RightAnkle"].map(|n| model.skeleton.find(n).unwrap());
        assert_eq!(figure.assumed_soles(), ankles, "{what}");
        for leg in figure.legs() {
            let (sole, length) = (leg.sole, (THIGH + SHIN) as f32);
            assert!(
                sole.heel.z < 0.0 && sole.heel.z < sole.ball.z && sole.ball.z < sole.tip.z,
                "{what}: {sole:?}"
            );
            assert!((sole.tip.z - sole.heel.z - 0.152 / 0.491 * length).abs() < 1e-5, "{what}: {sole:?}");
            assert!((sole.heel.y + 0.039 / 0.491 * length).abs() < 1e-5, "{what}: {sole:?}");
        }
        check_planted(&model, &figure);
    }
}

#[test]
fn toes_at_the_ankle_are_no_toes() {
    let toe = |offset: &str| Walker {
        below_ankle: "JOINT ToeBase\n{\nOFFSET ".to_owned()
            + offset
            + "\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
            + &end_site([0.0, 0.0, 0.05])
            + "}\n",
        more: More::None,
    };
    for offset in ["0 0 0", "0 -0.07 0", "0 -0.07 1e-30"] {
        let model = toe(offset).read();
        let figure = figure(&model).unwrap();
        check_planted(&model, &figure);
    }
}

#[test]
fn a_figure_of_no_size_is_an_error() {
    let text = Walker::with_end([0.0, 0.0, 0.0]).text();
    let none = |l: f64| format!("OFFSET 0 {} 0", -l);
    let text = text.replace(&none(THIGH), "OFFSET 0 0 0").replace(&none(SHIN), "OFFSET 0 0 0");
    let model = bvh::from_bytes(text.as_bytes(), Path::new("flat.bvh"), &ReadOptions::default()).unwrap();
    let bind = model.bind_pose();
    let Ok(body) = BodyRoles::find(&bind, &[]) else { return };
    assert_eq!(body.legs.len(), Side::BOTH.len());
    let error = Figure::of_body(&bind, &body, &[]).unwrap_err();
    assert!(matches!(error, FigureError::NoSole { .. } | FigureError::NoLength { .. }), "{error}");
}

#[test]
fn joints_between_hip_knee_and_ankle_keep_their_rotations() {
    for (more, names) in [
        (More::Twist, &["LeftHipTwist", "RightHipTwist", "LeftKneeTwist", "RightKneeTwist"][..]),
        (More::Hock, &["LeftHock", "RightHock"]),
    ] {
        let model = Walker { more, ..Walker::with_end([0.0, -ANKLE, 0.18]) }.read();
        let figure = figure(&model).unwrap();
        let name = |j| model.skeleton.name(j);
        let leg = &figure.legs()[0];
        assert_eq!([name(leg.thigh), name(leg.shin), name(leg.foot)], ["LeftHip", "LeftKnee", "LeftAnkle"]);
        check_planted(&model, &figure);
        check_stepped(&model, &figure);

        let Planting { plan, planted, .. } = plant(&model, &figure, grounds().remove(0).1);
        let (mut given, mut after) = (Pose::rest(&model.skeleton), Pose::rest(&model.skeleton));
        assert_eq!(plan.analysis.cycles, 1);
        for &time in &planted.times {
            model.clips[0].sample(plan.analysis.start + time, &mut given);
            planted.clip.sample(time, &mut after);
            for joint in names.iter().map(|n| model.skeleton.find(n).unwrap()) {
                let [a, b] = [&given, &after].map(|pose| pose.local(joint).rotation);
                assert!(a.dot(b).abs() > 1.0 - 1e-6, "{}, {time} s: {a} {b}", name(joint));
            }
        }
    }
}

/// Heights of heel and ball above the ground, the height of the ground under the ball, and whether the foot stands.
type Standing = ([f64; 2], f64, bool);

/// The built-in walk, planted frame by frame with look-ahead: each leg in each frame.
fn stepped_ahead(stairs: Stairs) -> Vec<[Standing; 2]> {
    let model = sample::mannequin().unwrap();
    let (figure, clip) = (figure(&model).unwrap(), &model.clips[0]);
    let ground = MeshGround::new(stairs.mesh().unwrap()).unwrap();
    let mut pose = Pose::rest(&model.skeleton);
    let mut planter = FootPlanter::new(&figure, PlantOptions::default()).unwrap();
    planter.learn_floor(clip, &pose).unwrap();
    planter.set_look_ahead(0.3).unwrap();
    let mut state = planter.state();
    let play = |time: f32, pose: &mut Pose| {
        clip.sample(time, pose);
        pose.update();
        Placement::IDENTITY
    };
    (0..(clip.duration() * 60.0) as usize)
        .map(|frame| {
            let time = frame as f32 / 60.0;
            play(time, &mut pose);
            let coming = |later: f32, pose: &mut Pose| play(time + later, pose);
            planter.step_with(&mut state, &ground, &mut pose, 1.0 / 60.0, coming).unwrap();
            let frames = frames(&pose);
            [0, 1].map(|k| {
                let leg = &figure.legs()[k];
                let foot = frames[leg.foot.index()];
                let [heel, ball] =
                    [leg.sole.heel, leg.sole.ball].map(|point| foot.transform_point3(point.as_dvec3()));
                let under = |p: DVec3| stairs.height(p.x as f32, p.z as f32).map_or(f64::NAN, f64::from);
                ([heel.y - under(heel), ball.y - under(ball)], under(ball), state.stands(k))
            })
        })
        .collect()
}

#[test]
fn a_foot_that_knows_of_a_lower_tread_lands_on_its_forefoot() {
    let (mut lower, mut level) = (0, 0);
    for (flight, rise) in [(Flight::Down, 0.17), (Flight::Down, 0.02), (Flight::Up, 0.17)] {
        let stairs = Stairs::new().with_rise(rise).with_going(0.3).with_lead(0.7).with_steps(16);
        let frames = stepped_ahead(stairs.with_flight(flight));
        for i in 60..frames.len() - 6 {
            for k in 0..2 {
                let ([heel, ball], tread, stands) = frames[i][k];
                if !stands || frames[i - 1][k].2 {
                    continue;
                }
                let (_, other, _) = frames[i][1 - k];
                if other - tread > 0.1 {
                    lower += 1;
                    assert!(ball < 0.01 && heel > ball + 0.01, "{i}, leg {k}: {heel}, {ball}");
                    let [heel, _] = frames[i + 4][k].0;
                    assert!(heel < 0.01, "{i}, leg {k}: {heel} after 67 ms");
                } else {
                    level += 1;
                    assert!(heel < 0.01 && heel < ball + 0.01, "{i}, leg {k}: {heel}, {ball}");
                }
            }
        }
    }
    assert!(lower >= 3 && level >= 6, "{lower} landings on lower treads, {level} others");
}
