//! Turns per frame for goals on smooth paths, at 60 Hz and 1 m/s, with chains of 1 m.

use std::{f32::consts::TAU, time::Instant};

use common::{
    Noise, Solving,
    chains::{self, Kind},
};
use sinew::{
    Goal, Pole, Pose, Skeleton,
    glam::Vec3,
    math,
    solve::{Auto, Ccd, DampedLeastSquares, Fabrik, IterativeOptions, Tolerance},
};

/// Metres that the goal goes in a frame.
const STEP: f32 = 1.0 / 60.0;

/// Bound on a joint's turn in radians for each chain length that the goal moves.
const BOUND: f64 = 8.0;

/// A path of goals.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Path {
    /// A circle that passes through full stretch.
    Stretch,
    /// In and out of reach along a line.
    InAndOut,
    /// A line that passes within a centimetre of the line from root to pole.
    Pole,
}

/// The direction in which the path lies: any for a free chain. Chains with limits are straight within 40 degrees of where
/// their roots' limits lie.
fn outward(kind: Kind, r: &mut Noise) -> Vec3 {
    loop {
        let out = r.direction();
        if kind == Kind::Free || out.z > 0.766 {
            return out;
        }
    }
}

/// Goals along one path, and the pole.
fn goals(path: Path, kind: Kind, r: &mut Noise) -> (Vec<Vec3>, Pole) {
    let line = |from: Vec3, to: Vec3| {
        let frames = (from.distance(to) / STEP).ceil() as usize;
        (0..=frames).map(|i| from.lerp(to, i as f32 / frames as f32)).collect::<Vec<_>>()
    };
    let out = outward(kind, r);
    let across = math::perpendicular(out, r.direction());
    match path {
        Path::Stretch => {
            // Between a third of the reach and a twentieth beyond it.
            let (near, far) = (r.between(0.3, 0.5), r.between(1.0, 1.05));
            let (centre, radius) = (0.5 * (near + far), 0.5 * (far - near));
            let frames = (TAU * radius / STEP).ceil();
            let at = |i: f32| {
                let a = TAU * i / frames;
                out * (centre + radius * a.cos()) + across * (radius * a.sin())
            };
            ((0..=frames as usize).map(|i| at(i as f32)).collect(), Pole::Keep)
        }
        Path::Pole => {
            let pole = out * r.between(0.5, 0.8);
            let beside = math::perpendicular(across, r.direction()) * r.between(0.0, 0.01);
            let middle = pole + beside;
            (line(middle - across * 0.5, middle + across * 0.5), Pole::Point(pole))
        }
        Path::InAndOut => {
            let beside = across * r.between(0.2, 0.5);
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
            // The chord between unit quaternions, of the nearer of the two signs, is twice the sine of a quarter of the
            // angle.
            4.0 * (0.5 * f64::min(p, m).sqrt()).min(1.0).asin()
        })
        .fold(0.0, f64::max)
}

/// The solvers.
const SOLVERS: [&str; 4] = ["auto", "ccd", "fabrik", "dls"];

/// One of them, with a soft zone of 5 % and the given largest turn of a joint in a frame.
fn solver(which: usize, skeleton: &Skeleton, max_turn: f32) -> Solving {
    let ids: Vec<_> = skeleton.joints().collect();
    let (root, tip) = (ids[0], ids[ids.len() - 1]);
    let near = IterativeOptions::new().with_position_tolerance(Tolerance::Share(1e-5));
    let options = near.with_soft(0.05).with_max_turn(max_turn);
    macro_rules! solving {
        ($solver:ty) => {
            Solving::new(<$solver>::new(skeleton, root, tip).expect("a row of joints is a chain"), options)
        };
    }
    match which {
        0 => solving!(Auto),
        1 => solving!(Ccd),
        2 => solving!(Fabrik),
        _ => solving!(DampedLeastSquares),
    }
}

/// A chain somewhat bent, within its limits.
fn bent(kind: Kind, bones: usize, r: &mut Noise) -> Pose {
    let (skeleton, ids) = chains::skeleton(kind, bones);
    let mut pose = Pose::rest(&skeleton);
    for (i, &id) in ids[..bones].iter().enumerate() {
        let axis = match kind {
            Kind::Hinges => [Vec3::X, Vec3::Y][i % 2],
            _ => math::perpendicular(Vec3::Z, r.direction()),
        };
        pose.set_rotation(id, math::axis_angle(axis, 0.3 * r.between(0.5, 1.5)));
    }
    pose.update();
    pose
}

/// Statistics of many paths.
#[derive(Debug, Default)]
struct Smooth {
    /// Largest step of a joint in radians, over the goal's step over the length, of all frames.
    fastest: f64,
    /// The same, of the path in a hundred that is the fastest but for one.
    p99: f64,
    /// Share of the paths on which a step is above the bound and the report says nothing.
    leaps: f64,
    /// Share of the paths on which it says that the branch changed.
    changed: f64,
    /// The furthest that an end lags along a path, in metres: how much more is missing than at the same goal without a bound
    /// on turns. Of the middle path, the ninth in ten and the worst.
    lag: [f64; 3],
    /// Microseconds a frame: of the middle one, and the longest of a hundred but for one.
    micros: [f64; 2],
}

/// Runs `count` paths. `carried`: each frame starts from the last one's pose; else all start from the same.
fn run(
    path: Path,
    kind: Kind,
    bones: usize,
    which: usize,
    max_turn: f32,
    carried: bool,
    count: usize,
) -> Smooth {
    let mut r = Noise::new(20);
    let mut speeds = Vec::new();
    let (mut leaps, mut changed, mut lags, mut micros) = (0, 0, Vec::new(), Vec::new());
    for _ in 0..count {
        let mut pose = bent(kind, bones, &mut r);
        let (goals, pole) = goals(path, kind, &mut r);
        let goal = |at: Vec3| Goal::position(at).with_pole(pole);
        let mut free = solver(which, pose.skeleton(), f32::INFINITY);
        let mut held = solver(which, pose.skeleton(), max_turn);
        // The way to the path's start is no part of it.
        free.solve(&mut pose, &goal(goals[0])).expect("goals are finite");
        let start = pose.clone();
        let mut other = pose.clone();
        let (mut fastest, mut unsaid, mut said, mut lag) = (0.0f64, 0.0f64, false, 0.0f64);
        for &at in &goals[1..] {
            let last = pose.clone();
            if !carried {
                pose.copy_from(&start);
            }
            let now = Instant::now();
            let report = held.solve(&mut pose, &goal(at)).expect("goals are finite");
            micros.push(now.elapsed().as_secs_f64() * 1e6);
            let speed = turned(&pose, &last) / f64::from(STEP);
            fastest = fastest.max(speed);
            if report.branch_changed {
                said = true;
            } else {
                unsaid = unsaid.max(speed);
            }
            if max_turn.is_finite() {
                let least = free.solve(&mut other, &goal(at)).expect("goals are finite").position_residual;
                lag = lag.max(f64::from(report.position_residual - least));
            }
        }
        leaps += usize::from(unsaid > BOUND);
        changed += usize::from(said);
        speeds.push(fastest);
        lags.push(lag);
    }
    speeds.sort_by(f64::total_cmp);
    lags.sort_by(f64::total_cmp);
    micros.sort_by(f64::total_cmp);
    let share = |n: usize| n as f64 / count as f64;
    Smooth {
        fastest: speeds[count - 1],
        p99: speeds[(count - 1) * 99 / 100],
        leaps: share(leaps),
        changed: share(changed),
        lag: [count / 2, count * 9 / 10, count - 1].map(|n| lags[n]),
        micros: [50, 99].map(|n| micros[(micros.len() - 1) * n / 100]),
    }
}

/// Chains that are run along every path.
const CHAINS: [(Kind, usize, &str); 4] = [
    (Kind::Free, 3, "3 free"),
    (Kind::Free, 10, "10 free"),
    (Kind::Cones, 10, "10 cones"),
    (Kind::Hinges, 10, "10 hinges"),
];

/// Prints what joints do along each kind of path; whether every solver keeps within the bound with the largest turn of a
/// joint in a frame set to it, and `auto` without it and with its branches.
pub fn table(count: usize) -> bool {
    println!(
        "\nsmooth paths, 60 Hz, 1 m/s, chains of a metre, soft zone 5 %, {count} paths each; largest step of a joint over the"
    );
    println!(
        "goal's step, in radians a length (99 of 100 paths): {BOUND} are allowed, or the report says that the branch"
    );
    println!("changed, on less than one path in a hundred");
    let bounded = 0.97 * BOUND as f32 * STEP;
    let mut met = true;
    for (title, max_turn, carried) in [
        ("each frame from the last one's pose, no joint turns further than 7.76 rad/s", bounded, true),
        ("each frame from the last one's pose, no bound on turns", f32::INFINITY, true),
        ("each frame from one and the same pose", f32::INFINITY, false),
    ] {
        println!("  {title}");
        for (path, name) in [
            (Path::Stretch, "circle through full stretch"),
            (Path::InAndOut, "in and out of reach"),
            (Path::Pole, "line within 1 cm of the pole"),
        ] {
            for (kind, bones, chain) in CHAINS {
                for (which, solver) in SOLVERS.iter().enumerate() {
                    // From one pose, those that go by sweeps are not asked.
                    if !carried && which > 0 {
                        continue;
                    }
                    let s = run(path, kind, bones, which, max_turn, carried, count);
                    print!(
                        "    {name:29} {chain:10} {solver:17} {:6.1} ({:6.1})  leaps unsaid on {:5.1} %, said on {:5.1} %",
                        s.fastest,
                        s.p99,
                        100.0 * s.leaps,
                        100.0 * s.changed
                    );
                    if max_turn.is_finite() {
                        let [half, most, worst] = s.lag.map(|x| 1e3 * x);
                        print!("  lag {half:.1}, {most:.1}, {worst:.1} mm");
                        print!("  {:.1}, {:.0} us", s.micros[0], s.micros[1]);
                    }
                    if max_turn.is_finite() || carried && which == 0 && path != Path::Pole {
                        // The methods that are taught promise a bound on turns and nothing of branches.
                        let (smooth, same) = (s.fastest <= BOUND, s.changed < 0.01 || which > 0);
                        met &= smooth && same;
                        println!("  {}", if smooth && same { "ok" } else { "MISS" });
                        let row = format!("{name}, {chain}, {solver}: {title}");
                        bounds::bound(
                            &row,
                            format!("{BOUND} rad a length"),
                            format!("{:.2}", s.fastest),
                            smooth,
                        );
                        if which == 0 {
                            bounds::bound(
                                &row,
                                "branch changed on < 1 %",
                                format!("{:.2} %", 100.0 * s.changed),
                                same,
                            );
                        }
                    } else {
                        println!();
                    }
                }
            }
        }
    }
    met
}
