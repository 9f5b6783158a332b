//! Times and judges the closed-form limb beside rebirth-ik's, and aim, in one run.
//!
//! The compared work takes three positions and returns a rotation for each of the two bones. The peer returns positions; its
//! own `segment_rotation` makes the rotations. Errors are judged in f64 from the rotations alone.

mod judge;
mod legs;
mod thin;

use std::{hint::black_box, process::ExitCode, time::Instant};

use legs::{Leg, Reach, legs};
use sinew::{
    Goal, Pole, Pose,
    solve::{
        Aim, AimRay, AimUp, LimbOptions, Options, TwoBone, aim_ray,
        two_bone::{LimbBend, LimbPoints, solve_points},
    },
};

/// Legs in each set: they fit the second-level cache, as a crowd's do while it is solved.
const COUNT: usize = 4096;
/// Timed passes over each set.
const ROUNDS: usize = 301;

struct Contender<'a> {
    name: &'static str,
    pass: Box<dyn FnMut() + 'a>,
    nanos: Vec<f64>,
}

fn contender<'a>(name: &'static str, pass: impl FnMut() + 'a) -> Contender<'a> {
    Contender { name, pass: Box::new(pass), nanos: Vec::new() }
}

/// Times `count` solves of each contender in turn, round by round.
fn race(contenders: &mut [Contender], count: usize) {
    for round in 0..ROUNDS + 20 {
        for c in contenders.iter_mut() {
            let start = Instant::now();
            (c.pass)();
            let t = start.elapsed().as_secs_f64() * 1e9 / count as f64;
            // The first rounds warm caches and branch predictors.
            if round >= 20 {
                c.nanos.push(t);
            }
        }
    }
    for c in contenders.iter_mut() {
        c.nanos.sort_by(f64::total_cmp);
    }
}

/// Nanoseconds a solve.
fn median(c: &Contender) -> f64 {
    c.nanos[ROUNDS / 2]
}

fn print_race(title: &str, mut contenders: Vec<Contender>, peer: &str) {
    race(&mut contenders, COUNT);
    let base = contenders.iter().find(|c| c.name == peer).map(median);
    for c in &contenders {
        bounds::median(format!("{title}: {}", c.name), 1e-3 * median(c));
        let ratio = base.map_or(String::new(), |b| format!("{:6.2} x {peer}", median(c) / b));
        println!("  {:<34} {:7.1} ns  (p10 {:.1})  {ratio}", c.name, median(c), c.nanos[ROUNDS / 10]);
    }
}

fn points(l: &Leg) -> LimbPoints {
    LimbPoints { root: l.root, middle: l.middle, tip: l.tip }
}

fn peer(l: &Leg, pole: bool) -> (rebirth_ik::Quat, rebirth_ik::Quat) {
    let v = |p: sinew::glam::Vec3| rebirth_ik::Vec3::new(p.x, p.y, p.z);
    let (root, middle, tip) = (v(l.root), v(l.middle), v(l.tip));
    let (m, t) = rebirth_ik::two_bone(root, middle, tip, v(l.goal), pole.then(|| v(l.pole)));
    let upper = rebirth_ik::segment_rotation(middle - root, m - root);
    let lower = rebirth_ik::segment_rotation(upper.rotate(tip - middle), t - m);
    (upper, lower)
}

fn limb(title: &str, legs: &[Leg], pole: bool) {
    println!("\nlimb, {title}");
    let ours = |l: &Leg| {
        let pole = if pole { Pole::Point(l.pole) } else { Pole::Keep };
        solve_points(&points(l), l.goal, pole, &LimbBend::FREE)
    };
    let mut contenders = vec![
        contender("sinew, points to rotations", || {
            for l in legs {
                black_box(ours(black_box(l)));
            }
        }),
        contender("rebirth-ik, points to rotations", || {
            for l in legs {
                black_box(peer(black_box(l), pole));
            }
        }),
        contender("rebirth-ik, points to points", || {
            let v = |p: sinew::glam::Vec3| rebirth_ik::Vec3::new(p.x, p.y, p.z);
            for l in legs {
                let l = black_box(l);
                let pole = pole.then(|| v(l.pole));
                black_box(rebirth_ik::two_bone(v(l.root), v(l.middle), v(l.tip), v(l.goal), pole));
            }
        }),
    ];
    // Poses go back and forth between two goals, so that each pass moves every leg.
    let mut poses: Vec<(TwoBone, Pose)> = legs.iter().map(Leg::pose).collect();
    let mut back = false;
    contenders.push(contender("sinew, in a pose of three joints", move || {
        back = !back;
        for ((limb, pose), l) in poses.iter_mut().zip(legs) {
            let goal = Goal::position(if back { l.other } else { l.goal });
            let goal = if pole { goal.with_pole(Pole::Point(l.pole)) } else { goal };
            let _ = black_box(limb.solve(pose, black_box(&goal), &LimbOptions::new()));
        }
    }));
    print_race(title, contenders, "rebirth-ik, points to rotations");

    let error = |rotations: &dyn Fn(&Leg) -> [judge::Rotation; 2]| {
        judge::errors(legs.iter().map(|l| {
            let [upper, lower] = rotations(l);
            judge::limb(l, upper, lower)
        }))
    };
    let q = |q: sinew::glam::Quat| judge::rotation(q.x, q.y, q.z, q.w);
    let p = |q: rebirth_ik::Quat| judge::rotation(q.x, q.y, q.z, q.w);
    let ours = error(&|l| {
        let t = ours(l);
        [q(t.root), judge::after(q(t.root), q(t.middle))]
    });
    let theirs = error(&|l| {
        let (upper, lower) = peer(l, pole);
        [p(upper), judge::after(p(lower), p(upper))]
    });
    let posed = judge::errors(legs.iter().map(|l| {
        let (limb, mut pose) = l.pose();
        let goal = Goal::position(l.goal);
        let goal = if pole { goal.with_pole(Pole::Point(l.pole)) } else { goal };
        match limb.solve(&mut pose, &goal, &LimbOptions::new()) {
            Ok(_) => judge::posed(l, &pose),
            Err(_) => f64::INFINITY,
        }
    }));
    println!("  error / leg: sinew {ours}; in a pose {posed}; rebirth-ik {theirs}");
}

fn aim(legs: &[Leg]) {
    println!("\naim one joint");
    let ray = |l: &Leg, offset: bool, up: bool| AimRay {
        offset: if offset { (l.tip - l.middle) * 0.2 } else { sinew::glam::Vec3::ZERO },
        axis: (l.middle - l.root).normalize(),
        up: up.then(|| (l.tip - l.root, sinew::glam::Vec3::Y)),
    };
    let rays: Vec<[AimRay; 3]> =
        legs.iter().map(|l| [ray(l, false, false), ray(l, false, true), ray(l, true, true)]).collect();
    let mut contenders = Vec::new();
    for (i, name) in ["aim, axis", "aim, axis and up", "aim, axis, offset and up"].into_iter().enumerate() {
        let rays = &rays;
        contenders.push(contender(name, move || {
            for (r, l) in rays.iter().zip(legs) {
                black_box(aim_ray(black_box(&r[i]), black_box(l.goal - l.root)));
            }
        }));
    }
    let mut poses: Vec<(Aim, Pose)> = legs
        .iter()
        .map(|l| {
            let (limb, pose) = l.pose();
            let up = AimUp { axis: sinew::glam::Vec3::Z, direction: sinew::glam::Vec3::Y };
            (Aim { up: Some(up), ..Aim::new(limb.middle(), sinew::glam::Vec3::X) }, pose)
        })
        .collect();
    let mut back = false;
    contenders.push(contender("aim, axis and up, in a pose", move || {
        back = !back;
        for ((aim, pose), l) in poses.iter_mut().zip(legs) {
            let _ =
                black_box(aim.solve(pose, black_box(if back { l.other } else { l.goal }), &Options::new()));
        }
    }));
    print_race("aim", contenders, "");
}

fn main() -> ExitCode {
    println!("{COUNT} random legs, medians of {ROUNDS} interleaved rounds, one thread");
    let inside = legs(COUNT, Reach::Inside);
    limb("goals in reach, bend plane kept", &inside, false);
    limb("goals in reach, pole", &inside, true);
    limb(
        "goals up to 20 % out of reach (errors to the nearest point in reach)",
        &legs(COUNT, Reach::Beyond),
        false,
    );
    limb(
        "walking legs: goals up to 15 degrees and 20 % of the leg from the foot",
        &legs(COUNT, Reach::Walk),
        false,
    );
    let holds = [("goals in reach", &inside), ("walking legs", &legs(COUNT, Reach::Walk))]
        .map(|(title, legs)| thin::thin(title, legs));
    aim(&inside);
    if holds == [true; 2] { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
