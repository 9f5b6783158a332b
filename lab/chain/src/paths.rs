//! Goals that go along smooth paths at 60 Hz and a metre a second, for a chain of a metre: how far do joints turn a frame?

use std::f32::consts::TAU;

use sinew::{
    Goal, Pole, Pose,
    glam::Vec3,
    math,
    solve::{Auto, Ccd, Fabrik},
};

use crate::{cases, noise::Noise};

/// Metres that the goal goes in a frame.
const STEP: f32 = 1.0 / 60.0;

/// A path of goals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Path {
    /// A circle that passes through full stretch.
    Stretch,
    /// A line that passes within a centimetre of the pole, which stands in reach.
    Pole,
    /// In and out of reach along a line.
    InAndOut,
}

/// Goals along one path, and the pole.
fn goals(path: Path, r: &mut Noise) -> (Vec<Vec3>, Pole) {
    let line = |from: Vec3, to: Vec3| {
        let frames = (from.distance(to) / STEP).ceil() as usize;
        (0..=frames).map(|i| from.lerp(to, i as f32 / frames as f32)).collect::<Vec<_>>()
    };
    match path {
        Path::Stretch => {
            // Between a third of the reach and a twentieth beyond it.
            let (near, far) = (r.between(0.3, 0.5), r.between(1.0, 1.05));
            let (centre, radius) = (0.5 * (near + far), 0.5 * (far - near));
            let out = r.direction();
            let across = math::perpendicular(out, r.direction());
            let frames = (TAU * radius / STEP).ceil();
            let at = |i: f32| {
                let a = TAU * i / frames;
                out * (centre + radius * a.cos()) + across * (radius * a.sin())
            };
            ((0..=frames as usize).map(|i| at(i as f32)).collect(), Pole::Keep)
        }
        Path::Pole => {
            let pole = r.direction() * r.between(0.5, 0.8);
            let along = math::perpendicular(pole.normalize(), r.direction());
            let beside = math::perpendicular(along, r.direction()) * r.between(0.0, 0.01);
            let middle = pole + beside;
            (line(middle - along * 0.5, middle + along * 0.5), Pole::Point(pole))
        }
        Path::InAndOut => {
            let out = r.direction();
            let beside = math::perpendicular(out, r.direction()) * r.between(0.2, 0.5);
            let mut all = line(out * 0.3 + beside, out * 1.6 + beside);
            all.extend(line(out * 1.6 + beside, out * 0.3 + beside).into_iter().skip(1));
            (all, Pole::Keep)
        }
    }
}

/// The largest angle, in radians, by which a joint's local rotation differs.
fn turned(a: &Pose, b: &Pose) -> f64 {
    let q = |p: &Pose, i: usize| {
        let q = p.locals()[i].rotation;
        [q.x, q.y, q.z, q.w].map(f64::from)
    };
    (0..a.locals().len())
        .map(|i| {
            let (x, y) = (q(a, i), q(b, i));
            let (p, m) =
                (0..4).fold((0.0, 0.0), |(p, m), k| (p + (x[k] + y[k]).powi(2), m + (x[k] - y[k]).powi(2)));
            // The chord between unit quaternions, of the nearer of the two signs, is twice the sine of a quarter of the angle.
            4.0 * (0.5 * f64::min(p, m).sqrt()).min(1.0).asin()
        })
        .fold(0.0, f64::max)
}

/// A solver under measurement.
pub type Solve = Box<dyn FnMut(&mut Pose, &Goal) -> bool>;

/// The solvers, each with a soft zone of 5 %; each says whether the branch changed.
pub fn solvers(bones: usize) -> Vec<(&'static str, Solve)> {
    let (skeleton, ids) = cases::skeleton(bones);
    let (root, tip) = (ids[0], ids[bones]);
    let mut auto = Auto::new(&skeleton, root, tip).expect("a row of joints is a chain");
    let mut ccd = Ccd::new(&skeleton, root, tip).expect("a row of joints is a chain");
    let mut fabrik = Fabrik::new(&skeleton, root, tip).expect("a row of joints is a chain");
    auto.pole_speed = 5.0;
    (auto.soft, ccd.settings.soft, fabrik.settings.soft) = (0.05, 0.05, 0.05);
    (auto.tolerance, ccd.settings.tolerance, fabrik.settings.tolerance) = (1e-5, 1e-5, 1e-5);
    vec![
        (
            "sinew auto",
            Box::new(move |p: &mut Pose, g: &Goal| auto.solve(p, g).is_ok_and(|r| r.branch_changed)) as Solve,
        ),
        (
            "sinew ccd",
            Box::new(move |p: &mut Pose, g: &Goal| ccd.solve(p, g).is_ok_and(|r| r.branch_changed)),
        ),
        (
            "sinew fabrik",
            Box::new(move |p: &mut Pose, g: &Goal| fabrik.solve(p, g).is_ok_and(|r| r.branch_changed)),
        ),
    ]
}

/// What came of many paths.
#[derive(Debug, Default)]
pub struct Smooth {
    /// Largest step of a joint in radians, over the goal's step over the length: where the report did not say that the branch
    /// changed.
    pub fastest: f64,
    /// The same, of the path in a hundred that is the fastest but for one.
    pub p99: f64,
    /// Share of the paths on which it said so.
    pub changed: f64,
}

/// Runs `count` paths. `carried`: each frame starts from the last one's pose; else all start from the same.
pub fn run(path: Path, bones: usize, count: usize, carried: bool, solve: &mut Solve) -> Smooth {
    let mut r = Noise(20);
    let set = cases::cases(count, bones, cases::Start::Bent(0.3), 0.5, 0.9, false);
    let mut speeds = Vec::new();
    let mut changed = 0;
    for case in &set {
        let (goals, pole) = goals(path, &mut r);
        let mut pose = case.pose.clone();
        // The way to the path's start is no part of it.
        solve(&mut pose, &Goal::at(goals[0]).with_pole(pole));
        let start = pose.clone();
        let (mut fastest, mut said) = (0.0f64, false);
        for &goal in &goals[1..] {
            let last = pose.clone();
            if !carried {
                pose.copy_from(&start);
            }
            if solve(&mut pose, &Goal::at(goal).with_pole(pole)) {
                said = true;
            } else {
                fastest = fastest.max(turned(&pose, &last) / f64::from(STEP));
            }
        }
        changed += usize::from(said);
        speeds.push(fastest);
    }
    speeds.sort_by(f64::total_cmp);
    Smooth {
        fastest: speeds[count - 1],
        p99: speeds[(count - 1) * 99 / 100],
        changed: changed as f64 / count as f64,
    }
}

/// Prints what joints do along each kind of path; whether those of `auto` keep within the bound: 8 radians for each length of the
/// chain that the goal goes, and no more than one path in a hundred on which the branch changes.
pub fn table() -> bool {
    println!(
        "\nsmooth paths, 60 Hz, 1 m/s, chains of a metre, soft zone 5 %: largest step of a joint over the goal's step, in"
    );
    println!(
        "radians a length (99 of 100 paths), and paths on which the report says that the branch changed"
    );
    let mut met = true;
    for carried in [true, false] {
        println!(
            "  {}",
            if carried { "each frame from the last one's pose" } else { "each frame from one pose" }
        );
        for (path, title) in [
            (Path::Stretch, "circle through full stretch"),
            (Path::InAndOut, "in and out of reach"),
            (Path::Pole, "line within 1 cm of the pole"),
        ] {
            for bones in [3, 10] {
                print!("    {title:30} {bones:3} bones");
                for (name, mut solve) in solvers(bones) {
                    let s = run(path, bones, 300, carried, &mut solve);
                    print!("   {name} {:6.1} ({:6.1}) {:5.1} %", s.fastest, s.p99, 100.0 * s.changed);
                    if name == "sinew auto" {
                        let ok = s.fastest <= 8.0 && s.changed <= 0.01;
                        met &= ok;
                        print!(" {}", if ok { "ok  " } else { "MISS" });
                    }
                }
                println!();
            }
        }
    }
    met
}
