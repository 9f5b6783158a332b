//! A snake that travels along a moving closed curve.

use std::{path::Path, sync::Arc, time::Instant};

use sinew::{
    JointId, JointTransform, Pose, Skeleton, Workspace,
    glam::{Quat, Vec3},
    solve::{
        Spline, SplineOptions,
        spline::{Curve, CurveKind, CurveUp, Roll},
    },
};
use sinew_files::{Model, ReadOptions};

use crate::judge::{self, V};

/// A figure and its chain, from head to tail.
pub struct Snake {
    pub name: &'static str,
    pub skeleton: Arc<Skeleton>,
    pub joints: Vec<JointId>,
}

impl Snake {
    /// The one of the data folder; none where it is absent.
    pub fn read() -> Option<Self> {
        let data = std::env::var("SINEW_DATA")
            .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into());
        let path = Path::new(&data).join("gltf/m2m_snake-animations.glb");
        if !path.is_file() {
            return None;
        }
        let model = Model::read(&path, &ReadOptions::default()).expect("the file can be read");
        let find = |name: &str| model.skeleton.find(name).unwrap_or_else(|| panic!("no joint {name}"));
        let chain =
            sinew::Chain::new(&model.skeleton, find("head"), find("tail_tip")).expect("they are a chain");
        let joints = chain.joints().to_vec();
        Some(Self { name: "m2m_snake", skeleton: model.skeleton.clone(), joints })
    }

    /// One of so many bones, each bent a little against the last, as rest poses are.
    pub fn made(name: &'static str, bones: usize) -> Self {
        let mut b = Skeleton::builder();
        let mut last = b.add("head", None, JointTransform::from_translation(Vec3::Y * 0.1));
        for i in 1..=bones {
            let rotation = Quat::from_rotation_x(0.05 * (i as f32).sin());
            let translation = Vec3::new(0.0, 0.02, -3.7) / bones as f32;
            last =
                b.add(format!("{i}"), Some(last), JointTransform { translation, rotation, scale: Vec3::ONE });
        }
        let (skeleton, joints) = b.build().expect("a row of joints is a skeleton");
        Self { name, skeleton: Arc::new(skeleton), joints }
    }
}

/// Shape and motion of the curve, in chain lengths.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    pub name: &'static str,
    /// Amplitude of each point's vertical and horizontal motion.
    pub high: f64,
    pub wide: f64,
    /// Swings of a point while the snake goes once round.
    pub swings: f64,
}

impl Ring {
    /// The points when the snake has gone so many times round.
    pub fn points(&self, laps: f64, size: f64) -> Vec<Vec3> {
        const COUNT: usize = 9;
        (0..COUNT)
            .map(|i| {
                let a = i as f64 / COUNT as f64 * std::f64::consts::TAU;
                let phase = std::f64::consts::TAU * self.swings * laps;
                let r = 0.25 + self.wide * (phase + 2.3 * i as f64).sin();
                let y = self.high * (0.7 * phase + 1.7 * i as f64).cos();
                let p = [r * a.cos(), y, r * a.sin()].map(|c| (c * size) as f32);
                Vec3::from_array(p) + Vec3::new(1.0, 0.3, -0.5)
            })
            .collect()
    }
}

/// The worst of all frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Joints from the curve, in lengths of the chain.
    pub off: f64,
    /// Bones' lengths against the rest pose's, as a part.
    pub longer: f64,
    /// Turns of bones about themselves from one frame to the next, in degrees (a frame is a hundredth of the curve).
    pub roll: f64,
    /// The least that any snake could do whose bones lie there and bend against each other without twist, in degrees.
    pub least: f64,
    /// The same between neighbouring bones in one frame, beyond what the rest pose has.
    pub twist: f64,
    /// Frames in which a bone found no crossing.
    pub missed: u32,
    /// Median and 99th percentile of a frame, in microseconds: the curve's points set, and the solve.
    pub micros: [f64; 2],
    /// Median of the solve alone.
    pub solve: f64,
}

/// The angle by which a bone is turned about itself, when its swing is taken away: in degrees.
fn roll(from: (V, judge::Q), to: (V, judge::Q)) -> f64 {
    let swung = judge::mul(judge::arc(from.0, to.0), from.1);
    let d = judge::mul(to.1, judge::back(swung));
    let half = judge::dot([d[0], d[1], d[2]], to.0).atan2(d[3]);
    let whole = (2.0 * half).to_degrees();
    (whole + 180.0).rem_euclid(360.0) - 180.0
}

/// The least of the largest roll from some bones' directions to others', if bones bend without twist: in degrees.
///
/// Bones that are carried from the first one to each other by the least turns have rolls that differ, from one frame to
/// the next, by the area that their directions have swept over on the sphere: that is the curve's, whoever lays the chain
/// along it. Only one angle is free, by which the whole chain may be turned about itself, and the best that it can do is
/// to put the rolls' range about zero.
fn least(from: &[(V, judge::Q)], to: &[(V, judge::Q)]) -> f64 {
    let carried = |bones: &[(V, judge::Q)]| -> Vec<(V, judge::Q)> {
        let mut all = vec![(bones[0].0, [0.0, 0.0, 0.0, 1.0])];
        for w in bones.windows(2) {
            all.push((w[1].0, judge::mul(judge::arc(w[0].0, w[1].0), all[all.len() - 1].1)));
        }
        all
    };
    let (a, mut b) = (carried(from), carried(to));
    // The first bone goes by the least turn.
    let first = judge::arc(a[0].0, b[0].0);
    b.iter_mut().for_each(|(_, q)| *q = judge::mul(*q, first));
    let rolls: Vec<f64> = a.iter().zip(&b).map(|(a, b)| roll(*a, *b)).collect();
    let (low, high) = rolls.iter().fold((0.0f64, 0.0f64), |(l, h), r| (l.min(*r), h.max(*r)));
    0.5 * (high - low)
}

/// The snake goes round and round, a hundredth of the curve each frame.
pub fn run(snake: &Snake, ring: &Ring, laps: usize, up: CurveUp) -> Found {
    let rest = Pose::rest(&snake.skeleton);
    let places = |pose: &Pose| -> Vec<(V, judge::Q)> {
        snake.joints.iter().map(|&j| judge::frame(pose, j)).map(|(p, q, _)| (p, q)).collect()
    };
    let lengths = |at: &[(V, judge::Q)]| -> Vec<f64> {
        at.windows(2).map(|w| judge::length(judge::sub(w[1].0, w[0].0))).collect()
    };
    let bones = |at: &[(V, judge::Q)]| -> Vec<(V, judge::Q)> {
        at.windows(2).map(|w| (judge::unit(judge::sub(w[1].0, w[0].0)), w[0].1)).collect()
    };
    let given = lengths(&places(&rest));
    let size: f64 = given.iter().sum();
    let (head, tail) = (snake.joints[0], snake.joints[snake.joints.len() - 1]);
    let mut curve =
        Curve::new(CurveKind::CatmullRom, &ring.points(0.0, size), true, up).expect("a ring is a curve");
    let spline = Spline::new(&snake.skeleton, head, tail).expect("head to tail is a chain");
    let frames = Roll::Frames { axis: Vec3::new(0.3, 1.0, 0.2), twist: [0.0; 2] };
    let options = SplineOptions::new().with_reversed(true).with_roll(frames);
    let mut workspace = Workspace::new();
    spline.reserve(&mut workspace);
    let mut pose = rest.clone();
    let mut found = Found::default();
    let (mut frames, mut solves) = (Vec::new(), Vec::new());
    let mut last: Option<Vec<(V, judge::Q)>> = None;
    for i in 0..=100 * laps {
        let gone = i as f64 / 100.0;
        let points = ring.points(gone, size);
        pose.copy_from(&rest);
        let start = Instant::now();
        curve.set_points(&points).expect("a ring is a curve");
        let middle = Instant::now();
        let options = options.with_offset(gone.fract() as f32 * curve.length());
        let report =
            spline.solve(&mut workspace, &mut pose, &curve, &options).expect("the options are in order");
        solves.push(middle.elapsed().as_secs_f64() * 1e6);
        frames.push(start.elapsed().as_secs_f64() * 1e6);
        found.missed += u32::from(report.missed > 0);
        let through: Vec<V> = points.iter().map(|p| p.to_array().map(f64::from)).collect();
        let at = places(&pose);
        for (p, _) in &at {
            found.off = found.off.max(judge::off(&through, *p) / size);
        }
        for (a, b) in lengths(&at).iter().zip(&given) {
            found.longer = found.longer.max((a / b - 1.0).abs());
        }
        let now = bones(&at);
        if let Some(last) = &last {
            found.least = found.least.max(least(last, &now));
            for (a, b) in last.iter().zip(&now) {
                found.roll = found.roll.max(roll(*a, *b).abs());
            }
        }
        let still = bones(&places(&rest));
        for (now, still) in now.windows(2).zip(still.windows(2)) {
            found.twist = found.twist.max((roll(now[0], now[1]) - roll(still[0], still[1])).abs());
        }
        last = Some(now);
    }
    for times in [&mut frames, &mut solves] {
        times.sort_by(f64::total_cmp);
    }
    let part = |times: &[f64], p: f64| times[((times.len() - 1) as f64 * p) as usize];
    found.micros = [part(&frames, 0.5), part(&frames, 0.99)];
    found.solve = part(&solves, 0.5);
    found
}

/// Runs every row; whether all are within bounds.
pub fn table(laps: usize) -> bool {
    let rings = [
        Ring { name: "flat, still", high: 0.0, wide: 0.03, swings: 0.0 },
        Ring { name: "moves", high: 0.05, wide: 0.03, swings: 0.31 },
        Ring { name: "moves much", high: 0.12, wide: 0.06, swings: 0.31 },
    ];
    let mut snakes = vec![Snake::made("made, 24 bones", 24), Snake::made("made, 100 bones", 100)];
    match Snake::read() {
        Some(snake) => snakes.insert(0, snake),
        None => println!("m2m_snake is left out: set SINEW_DATA to the folder that has gltf/"),
    }
    println!(
        "a snake head first round a closed curve that moves, a hundredth of its length a frame, {laps} times round; worst of all frames\n\
         bounds: off the curve 1e-4 of the chain, bones longer by 1e-5, roll 2 degrees a frame"
    );
    println!(
        "{:<17}{:<22}{:>8}{:>9}{:>10}{:>10}{:>12}{:>8}{:>12}{:>8}{:>11}",
        "snake",
        "curve",
        "off",
        "longer",
        "roll deg",
        "least",
        "neighbours",
        "missed",
        "frame us",
        "p99",
        "solve us"
    );
    let mut met = true;
    for snake in &snakes {
        for ring in &rings {
            for (name, up) in [("", CurveUp::Direction(Vec3::Y)), (", carried", CurveUp::Carried(Vec3::Y))] {
                let f = run(snake, ring, laps, up);
                let fits = f.off <= 1e-4 && f.longer <= 1e-5 && f.roll <= 2.0 && f.missed == 0;
                println!(
                    "{:<17}{:<22}{:>8.1e}{:>9.1e}{:>10.2}{:>10.2}{:>12.2}{:>8}{:>12.1}{:>8.1}{:>11.1}{}",
                    snake.name,
                    format!("{}{name}", ring.name),
                    f.off,
                    f.longer,
                    f.roll,
                    f.least,
                    f.twist,
                    f.missed,
                    f.micros[0],
                    f.micros[1],
                    f.solve,
                    if fits { "" } else { "  MISS" }
                );
                met &= fits;
                let row = format!("{}, {}{name}", snake.name, ring.name);
                bounds::median(&row, f.solve);
                bounds::bound(&row, "off 1e-4 of the chain", format!("{:.1e}", f.off), f.off <= 1e-4);
                bounds::bound(&row, "longer by 1e-5", format!("{:.1e}", f.longer), f.longer <= 1e-5);
                bounds::bound(&row, "roll 2 degrees a frame", format!("{:.2}", f.roll), f.roll <= 2.0);
                bounds::bound(&row, "no joint misses", f.missed, f.missed == 0);
            }
        }
    }
    met
}
