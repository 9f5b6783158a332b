//! Look-at for a target that circles the head.

use std::{f64::consts::TAU, sync::Arc, time::Instant};

use sinew::{
    JointId, JointTransform, Pose, Skeleton,
    glam::Vec3,
    solve::{Eye, LookAt, LookJoint, Options},
};

use crate::judge::{self, V};

/// Hips, three of the spine, neck, head and two eyes; and the look-at of all but the hips. With `arms`, two arms of four
/// joints with five fingers of three hang below the upper chest.
fn figure(arms: bool) -> (Arc<Skeleton>, Vec<JointId>, LookAt) {
    let mut b = Skeleton::builder();
    let at = |y, z| JointTransform::from_translation(Vec3::new(0.0, y, z));
    let mut last = b.add("hips", None, at(1.0, 0.0));
    for (name, y) in [("spine", 0.12), ("chest", 0.15), ("upper chest", 0.15), ("neck", 0.15), ("head", 0.1)]
    {
        last = b.add(name, Some(last), at(y, 0.01));
    }
    for (name, x) in [("eye.L", 0.032), ("eye.R", -0.032)] {
        b.add(name, Some(last), JointTransform::from_translation(Vec3::new(x, 0.09, 0.08)));
    }
    for side in if arms { &[1.0f32, -1.0][..] } else { &[] } {
        let mut add = |name, above, x, z| {
            b.add(name, Some(above), JointTransform::from_translation(Vec3::new(x * side, 0.0, z)))
        };
        let arm = (0..4).fold(UPPER_CHEST, |above, i| add(format!("arm {i}, {side}"), above, 0.2, 0.0));
        for finger in 0..5 {
            let name = |i| format!("finger {finger} {i}, {side}");
            (0..3).fold(arm, |above, i| add(name(i), above, 0.03, 0.01 * finger as f32));
        }
    }
    let (skeleton, ids) = b.build().expect("a figure is a skeleton");
    let part = |i: usize, share, cone| LookJoint::new(ids[i]).with_share(share).with_cone(cone);
    let line =
        [part(1, 0.1, 0.2), part(2, 0.1, 0.2), part(3, 0.15, 0.3), part(4, 0.4, 0.5), part(5, 1.0, 0.7)];
    let mut look = LookAt::new(&skeleton, &line, Vec3::Z).expect("the joints hang one below another");
    look.offset = Vec3::new(0.0, 0.09, 0.08);
    let eyes = [6, 7].map(|i: usize| Eye::new(ids[i], Vec3::Z).with_cone(0.6));
    look.set_eyes(&skeleton, &eyes).expect("eyes are below the head");
    (Arc::new(skeleton), ids, look)
}

/// Index of the joint that arms hang below.
const UPPER_CHEST: usize = 3;

/// The worst along one way of the target.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Largest angle that a joint turns, over the angle that the target goes (seen from the eyes' first place).
    pub steepest: f64,
    /// Largest angle in radians between an eye and the target, of frames in which the target is
    /// at most a right angle from the front.
    pub eyes: f64,
    /// Median microseconds of a solve.
    pub micros: f64,
}

/// The target goes round on a circle about the eyes, `tilt` radians off level (about the side to side axis), or upright
/// through the front, the top and the back.
pub fn run(tilt: f64, upright: bool, dead_zone: f32, steps: usize) -> Found {
    let (skeleton, ids, mut look) = figure(false);
    look.dead_zone = dead_zone;
    let rest = Pose::rest(&skeleton);
    let (head, turn, _) = judge::frame(&rest, ids[5]);
    let middle = judge::add(head, judge::turn(turn, [0.0, 0.09, 0.08]));
    let mut found = Found::default();
    let mut state = look.state();
    let mut last: Option<(Pose, V)> = None;
    let mut times = Vec::new();
    for i in 0..=steps {
        let (s, c) = (TAU * i as f64 / steps as f64).sin_cos();
        let (st, ct) = tilt.sin_cos();
        let way = match upright {
            false => [s, -c * st, c * ct],
            true => [-s * st, s * ct, c],
        };
        let target = judge::add(middle, judge::scale(way, 2.0)).map(|x| x as f32);
        let mut pose = rest.clone();
        let start = Instant::now();
        look.solve(&mut state, &mut pose, Vec3::from_array(target), &Options::new())
            .expect("the settings are in order");
        times.push(start.elapsed().as_secs_f64() * 1e6);
        if let Some((before, from)) = &last {
            let gone = judge::length(judge::cross(*from, way)).asin();
            for &j in &ids {
                let [a, b] = [before, &pose].map(|p| p.local(j).rotation.to_array().map(f64::from));
                found.steepest = found.steepest.max(judge::angle(judge::mul(b, judge::back(a))) / gone);
            }
        }
        if way[2] >= 0.0 {
            for &j in &ids[6..] {
                let (at, turn, _) = judge::frame(&pose, j);
                let to = judge::unit(judge::sub(target.map(f64::from), at));
                let front = judge::turn(turn, [0.0, 0.0, 1.0]);
                let off = judge::length(judge::cross(front, to)).atan2(judge::dot(front, to));
                found.eyes = found.eyes.max(off);
            }
        }
        last = Some((pose, way));
    }
    times.sort_by(f64::total_cmp);
    found.micros = times[times.len() / 2];
    found
}

/// Most radians that a joint may turn for each that the target goes: the bound of chains, whose goals go lengths.
pub const BOUND: f64 = 8.0;

/// Most that 38 joints of two arms may add to a look: they are read once and updated once.
pub const ARMS_BOUND: f64 = 1.35;

/// Time of a look of a figure with arms and fingers, over that without, as the target goes once round: the median over
/// rounds that take turns.
pub fn arms(steps: usize) -> f64 {
    let figures = [false, true].map(figure);
    let rests = [0, 1].map(|i| Pose::rest(&figures[i].0));
    let mut ratios = Vec::new();
    for _ in 0..21 {
        let micros = [0, 1].map(|i| {
            let ((_, _, look), mut pose, mut state) = (&figures[i], rests[i].clone(), figures[i].2.state());
            let mut seconds = 0.0;
            for step in 0..steps {
                let (s, c) = (TAU * step as f64 / steps as f64).sin_cos();
                pose.copy_from(&rests[i]);
                let target = Vec3::new(2.0 * s as f32, 1.8, 2.0 * c as f32);
                let start = Instant::now();
                look.solve(&mut state, &mut pose, target, &Options::new())
                    .expect("the settings are in order");
                seconds += start.elapsed().as_secs_f64();
            }
            seconds * 1e6 / steps as f64
        });
        ratios.push(micros[1] / micros[0]);
    }
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// Runs every way; whether all are within the bound.
pub fn table(steps: usize) -> bool {
    println!(
        "\na look of spine (3), neck, head and eyes at a target that goes once round the head in {steps} steps; bound {BOUND} radians for each \
         of the target's"
    );
    println!("{:<26}{:>10}{:>10}{:>14}{:>10}", "way", "dead zone", "steepest", "eyes off, rad", "solve us");
    let mut met = true;
    for (name, tilt, upright) in [
        ("level", 0.0, false),
        ("past straight behind", 0.02, false),
        ("tilted by 17 degrees", 0.3, false),
        ("tilted by 46 degrees", 0.8, false),
        ("over the top", 0.0, true),
        ("past the top", 0.1, true),
    ] {
        for dead_zone in [0.0, 0.2] {
            let f = run(tilt, upright, dead_zone, steps);
            let fits = f.steepest <= BOUND && f.eyes <= 1e-3;
            println!(
                "{name:<26}{dead_zone:>10}{:>10.2}{:>14.1e}{:>10.2}{}",
                f.steepest,
                f.eyes,
                f.micros,
                if fits { "" } else { "  MISS" }
            );
            met &= fits;
            let row = format!("look, {name}, dead zone {dead_zone}");
            bounds::median(&row, f.micros);
            bounds::bound(
                &row,
                format!("{BOUND} rad for each"),
                format!("{:.2}", f.steepest),
                f.steepest <= BOUND,
            );
            bounds::bound(&row, "eyes off 1e-3 rad", format!("{:.1e}", f.eyes), f.eyes <= 1e-3);
        }
    }
    let ratio = arms(steps / 10);
    let fits = ratio <= ARMS_BOUND;
    println!(
        "with two arms of 19 joints below the upper chest: {ratio:.2} times the time, bound {ARMS_BOUND}{}",
        if fits { "" } else { "  MISS" }
    );
    bounds::bound("look, arms", format!("{ARMS_BOUND} times without"), format!("{ratio:.2}"), fits);
    met & fits
}
