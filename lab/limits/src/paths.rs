//! Smooth paths of a goal at 60 Hz: does any joint leap where the goal does not?

use sinew::{
    Goal, Pole, Pose,
    glam::{Quat, Vec3},
    math,
    solve::{Auto, Ccd, Fabrik, LeastSquares},
};

use crate::cases::{self, Kind, Noise};

/// Of a joint's step, in radians, over the goal's step in chain lengths.
const BOUND: f32 = 8.0;

const STEP: f32 = 1.0 / 60.0;

#[derive(Clone, Copy, Debug)]
enum Path {
    /// A circle that passes through full stretch.
    Circle,
    /// A line that passes within a centimetre of the line from root to pole.
    ByPole,
    /// Out of reach and back.
    InAndOut,
}

/// Goals a sixtieth of the chain's length apart.
fn goals(path: Path, r: &mut Noise) -> (Vec<Vec3>, Pole) {
    let out = r.direction();
    let side = math::perpendicular(out, r.direction());
    match path {
        Path::Circle => {
            let radius = r.between(0.2, 0.4);
            let middle = out * (1.0 - radius + r.between(0.0, 0.05));
            let count = (std::f32::consts::TAU * radius / STEP) as usize;
            let at = |i: usize| {
                let a = i as f32 * STEP / radius;
                middle - out * (radius * a.cos()) + side * (radius * a.sin())
            };
            ((0..count).map(at).collect(), Pole::Keep)
        }
        Path::ByPole => {
            let across = out.cross(side);
            let middle = out * r.between(0.4, 0.8) + across * r.between(-0.01, 0.01);
            ((0..60).map(|i| middle + side * ((i as f32 - 30.0) * STEP)).collect(), Pole::Point(out * 2.0))
        }
        Path::InAndOut => {
            let beside = side * r.between(-0.1, 0.1);
            let at =
                |i: usize| out * (0.5 + STEP * if i < 50 { i as f32 } else { 100.0 - i as f32 }) + beside;
            ((0..100).map(at).collect(), Pole::Keep)
        }
    }
}

/// Anything that brings the chain to a goal: whether the branch changed.
type Solve = Box<dyn FnMut(&mut Pose, &Goal) -> bool>;

fn solver(name: &str, pose: &Pose) -> Solve {
    let s = pose.skeleton();
    let ids: Vec<_> = s.joints().collect();
    let (root, tip) = (ids[0], ids[ids.len() - 1]);
    match name {
        "ccd" => {
            let mut ccd = Ccd::new(s, root, tip).expect("a row of joints is a chain");
            ccd.settings.soft = 0.05;
            Box::new(move |p, g| ccd.solve(p, g).is_ok_and(|r| r.branch_changed))
        }
        "steps" => {
            let mut ccd = Ccd::new(s, root, tip).expect("a row of joints is a chain");
            ccd.settings.soft = 0.05;
            ccd.settings.least_squares = LeastSquares::Alone;
            ccd.settings.tolerance = 1e-5;
            Box::new(move |p, g| ccd.solve(p, g).is_ok_and(|r| r.branch_changed))
        }
        "fabrik" => {
            let mut fabrik = Fabrik::new(s, root, tip).expect("a row of joints is a chain");
            fabrik.settings.soft = 0.05;
            Box::new(move |p, g| fabrik.solve(p, g).is_ok_and(|r| r.branch_changed))
        }
        _ => {
            let mut auto = Auto::new(s, root, tip).expect("a row of joints is a chain");
            auto.soft = 0.05;
            Box::new(move |p, g| auto.solve(p, g).is_ok_and(|r| r.branch_changed))
        }
    }
}

/// The largest turn of a joint between two poses.
fn leap(a: &[Quat], b: &Pose) -> f32 {
    a.iter().zip(b.locals()).map(|(a, b)| math::angle_between(*a, b.rotation)).fold(0.0, f32::max)
}

/// Prints, for each solver and kind of chain, the largest step of a joint and on how many paths it is too large, said or
/// unsaid.
pub fn print(count: usize) {
    println!(
        "{:<8} {:<8} {:<10} {:<8} {:>10} {:>10} {:>10}",
        "paths", "chain", "path", "start", "p99 step", "too large", "said"
    );
    for name in ["auto", "steps", "ccd", "fabrik"] {
        for kind in [Kind::Free, Kind::Cones, Kind::Hinges] {
            for path in [Path::Circle, Path::ByPole, Path::InAndOut] {
                for warm in [true, false] {
                    row(name, kind, path, warm, count);
                }
            }
        }
    }
}

fn row(name: &str, kind: Kind, path: Path, warm: bool, count: usize) {
    let mut r = Noise(7);
    let (skeleton, ids) = cases::skeleton(kind, 10);
    let (mut large, mut said, mut most) = (0, 0, Vec::new());
    for _ in 0..count {
        let mut start = Pose::rest(&skeleton);
        for (i, &id) in ids[..10].iter().enumerate() {
            let axis = if i % 2 == 0 { Vec3::X } else { Vec3::Z };
            start.set_rotation(id, math::axis_angle(axis, r.between(0.1, 0.3)));
        }
        if kind == Kind::Free {
            let way = start.position(ids[10]).normalize_or(Vec3::Y);
            let turn = math::shortest_arc(way, r.direction(), Vec3::X);
            start.set_rotation(ids[0], math::normalize(math::mul(turn, start.local(ids[0]).rotation)));
        }
        start.update();
        let (goals, pole) = goals(path, &mut r);
        let mut solve = solver(name, &start);
        let mut pose = start.clone();
        let mut last: Option<Vec<Quat>> = None;
        let (mut worst, mut leaps, mut told) = (0.0f32, 0, 0);
        for at in goals {
            if !warm {
                pose.copy_from(&start);
            }
            let changed = solve(&mut pose, &Goal::at(at).with_pole(pole));
            if let Some(last) = &last {
                let step = leap(last, &pose) / STEP;
                worst = worst.max(step);
                if step > BOUND && !changed {
                    leaps += 1;
                } else if step > BOUND {
                    told += 1;
                }
            }
            last = Some(pose.locals().iter().map(|t| t.rotation).collect());
        }
        large += usize::from(leaps > 0);
        said += usize::from(told > 0);
        most.push(worst);
    }
    most.sort_by(f32::total_cmp);
    println!(
        "{:<8} {:<8} {:<10} {:<8} {:>10.1} {:>8.1} % {:>8.1} %",
        name,
        format!("{kind:?}"),
        format!("{path:?}"),
        if warm { "last" } else { "same" },
        most[(most.len() - 1) * 99 / 100],
        100.0 * large as f64 / count as f64,
        100.0 * said as f64 / count as f64
    );
}
