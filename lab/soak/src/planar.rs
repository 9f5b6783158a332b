//! Batches of solves in the plane, judged in f64.

use std::{
    f64::consts::PI,
    panic::{AssertUnwindSafe, catch_unwind},
};

use common::Noise;
use sinew::{
    glam::{DVec2, Vec2},
    planar::{Bone, Chain, Lead, Method, PlanarError, Settings, Side, two_bone},
};

use crate::{
    BATCH, PROMISE,
    tally::{Fault, Tally},
};

pub const ALL: [&str; 8] = [
    "planar two-bone",
    "planar follow, tip",
    "planar follow, root",
    "planar ccd, sweeps alone",
    "planar ccd",
    "planar fabrik, sweeps alone",
    "planar fabrik",
    "planar with direction",
];

/// How far an angle is outside of a joint's limits.
fn excess(bone: &Bone) -> f64 {
    let Some((from, to)) = bone.limits else { return 0.0 };
    let angle = f64::from(bone.angle);
    let angle = angle - 2.0 * PI * (angle / (2.0 * PI)).round();
    (angle - f64::from(to)).max(f64::from(from) - angle).max(0.0)
}

fn bits(chain: &Chain) -> Vec<u32> {
    let bones = chain.bones().iter().flat_map(|b| [b.angle, b.length]);
    bones.chain([chain.root.x, chain.root.y, chain.base]).map(f32::to_bits).collect()
}

fn vector(r: &mut Noise) -> Vec2 {
    let v = r.vector();
    Vec2::new(v.x, v.y)
}

/// One chain, one solver, [`BATCH`] solves.
#[allow(clippy::approx_constant)] // 3.14 is within half a turn, as limits must be.
pub fn batch(seed: u64, which: usize, tally: &mut Tally) {
    let mut r = Noise::new(seed);
    let size = 10f32.powf(r.between(-3.0, 3.0));
    if which == 0 {
        return limbs(seed, size, &mut r, tally);
    }
    let count = if r.below(8) == 0 { 12 + r.below(89) } else { 1 + r.below(10) };
    let bones: Vec<Bone> = (0..count)
        .map(|_| {
            let shorter = match r.below(10) {
                0 => r.between(0.0, 6.0),
                1 => f32::INFINITY,
                _ => r.between(0.0, 1.0),
            };
            let bone = Bone::new(size * 10f32.powf(-shorter));
            match r.below(3) {
                0 => bone,
                _ => {
                    let (a, b) = (r.between(-3.14, 3.14), r.between(-3.14, 3.14));
                    let bone = bone.within(a.min(b), a.max(b));
                    if r.below(4) == 0 { bone.preferring(0.5 * (a + b)) } else { bone }
                }
            }
        })
        .collect();
    let Ok(mut chain) = Chain::new(vector(&mut r) * size, &bones) else { return };
    chain.base = r.between(-3.0, 3.0);
    for n in 0..BATCH {
        if n % 4 < 2 {
            for (i, bone) in bones.iter().enumerate() {
                let angle = match bone.limits {
                    Some((from, to)) if n % 2 == 0 => r.between(from, to).clamp(from, to),
                    _ => r.between(-4.0, 4.0),
                };
                if chain.set_bone(i, bone.at(angle)).is_err() {
                    return;
                }
            }
        }
        let start = chain.clone();
        let (root, end) = (chain.root, chain.end());
        let goal = match r.below(10) {
            0 => root,
            1 => end,
            2 => root + (end - root) * r.unit(),
            3 => root + vector(&mut r) * size * 1e4,
            4 => end + vector(&mut r) * size * 0.01,
            _ => root + vector(&mut r) * size * count as f32 * r.unit(),
        };
        let settings = Settings {
            method: if which < 5 { Method::Ccd } else { Method::Fabrik },
            max_iterations: [1, 3, 10, 40][r.below(4)],
            max_restarts: r.below(2) as u32,
            finish: which != 3 && which != 5,
            damping: if r.below(6) == 0 { r.between(0.0, 0.9) } else { 0.0 },
            max_step: if r.below(6) == 0 { r.between(0.01, 1.0) } else { f32::INFINITY },
            soft: if r.below(4) == 0 { 0.1 } else { 0.0 },
            stretch: if r.below(8) == 0 { r.between(1.0, 1.5) } else { 1.0 },
            side: [None, None, Some(Side::Left), Some(Side::Right)][r.below(4)],
            weight: if r.below(4) == 0 { r.unit() } else { 1.0 },
            ..Settings::default()
        };
        let direction = r.between(-7.0, 7.0);
        let solve = |chain: &mut Chain| -> Result<[f32; 2], PlanarError> {
            let report = match which {
                1 => return chain.follow(goal, Lead::Tip).map(|()| [0.0; 2]),
                2 => return chain.follow(goal, Lead::Root).map(|()| [0.0; 2]),
                7 => chain.solve_directed(goal, direction, &settings)?,
                _ => chain.solve(goal, &settings)?,
            };
            Ok([report.position_residual, report.rotation_residual])
        };
        tally.solves += 1;
        let tag = |what: String| format!("{what}: seed {seed}, solve {n}, {count} bones, goal {goal}");
        let left = match catch_unwind(AssertUnwindSafe(|| solve(&mut chain))) {
            Err(_) => return tally.find(Fault::Panic, || tag("a panic".into())),
            Ok(Err(error)) => {
                tally.refused += 1;
                if bits(&chain) != bits(&start) {
                    tally.find(Fault::Bits, || tag(format!("changed, but refused with `{error}`")));
                }
                continue;
            }
            Ok(Ok(left)) => left,
        };
        let finite = chain.root.is_finite()
            && chain.bones().iter().all(|b| b.angle.is_finite() && b.length.is_finite());
        if !finite || !left.iter().all(|x| x.is_finite()) {
            return tally.find(Fault::NotFinite, || tag(format!("not finite, {left:?} left")));
        }
        if n % 8 == 5 {
            // By one that has solved already.
            let mut again = chain.clone();
            again.root = start.root;
            for (i, bone) in start.bones().iter().enumerate() {
                let _ = again.set_bone(i, *bone);
            }
            if solve(&mut again) != Ok(left) || bits(&again) != bits(&chain) {
                tally.find(Fault::Bits, || tag("other bits the second time".into()));
            }
        }
        if which > 2 && chain.root != start.root || chain.base != start.base {
            tally.find(Fault::Length, || tag("the root has moved".into()));
        }
        for (i, (was, is)) in start.bones().iter().zip(chain.bones()).enumerate() {
            let further = excess(is) - excess(was);
            tally.worst = tally.worst.max(further);
            if further > PROMISE {
                tally.find(Fault::Limit, || {
                    tag(format!("bone {i} went {further:e} further out: {was:?} to {is:?}"))
                });
            }
            let factor = f64::from(is.length) / f64::from(was.length);
            let longest = f64::from(settings.stretch) * (1.0 + 1e-6);
            let bad = is.length != was.length && !(which > 2 && (1.0 - 1e-6..=longest).contains(&factor));
            if bad {
                tally.find(Fault::Length, || tag(format!("bone {i} of {} became {}", was.length, is.length)));
            }
        }
        if chain.bones().iter().zip(&bones).any(|(a, b)| a.length != b.length) {
            // Stretched ones go back, so that the next ones are stretched from the same.
            for (i, bone) in bones.iter().enumerate() {
                let _ = chain.set_bone(i, bone.at(chain.bones()[i].angle));
            }
        }
    }
}

/// Two bones by the cosine rule: the places that are told have the bones' lengths.
fn limbs(seed: u64, size: f32, r: &mut Noise, tally: &mut Tally) {
    for n in 0..BATCH {
        let mut bone = || size * 10f32.powf(-if r.below(4) == 0 { r.between(0.0, 6.0) } else { r.unit() });
        let (a, b) = (bone(), bone());
        let root = vector(r) * size;
        let goal = match r.below(6) {
            0 => root,
            1 => root + vector(r) * size * 1e4,
            _ => root + vector(r) * (a + b),
        };
        let side = [Side::Left, Side::Right][r.below(2)];
        tally.solves += 1;
        let tag = |what: &str| format!("{what}: seed {seed}, solve {n}, {a}, {b}, from {root} to {goal}");
        let result = catch_unwind(|| two_bone(root, a, b, goal, side));
        let limb = match result {
            Err(_) => return tally.find(Fault::Panic, || tag("a panic")),
            Ok(Err(_)) => {
                tally.refused += 1;
                continue;
            }
            Ok(Ok(limb)) => limb,
        };
        let all = [limb.upper, limb.lower, limb.by, limb.middle.x, limb.middle.y, limb.end.x, limb.end.y];
        if !all.iter().all(|x| x.is_finite()) {
            return tally.find(Fault::NotFinite, || tag("not finite"));
        }
        if n % 8 == 5 && two_bone(root, a, b, goal, side) != Ok(limb) {
            tally.find(Fault::Bits, || tag("other bits the second time"));
        }
        let lower = if side == Side::Left { (-PI, 0.0) } else { (0.0, PI) };
        let turned = f64::from(limb.lower);
        if turned < lower.0 - 1e-6 || turned > lower.1 + 1e-6 {
            tally.find(Fault::Limit, || tag("bent to the other side"));
        }
        let long = |from: Vec2, to: Vec2| (to.as_dvec2() - from.as_dvec2()).length();
        let places = f64::from(root.length() + limb.middle.length() + limb.end.length());
        let wrong =
            |is: f64, should: f32| (is - f64::from(should)).abs() > 1e-6 * (places + f64::from(a + b));
        if wrong(long(root, limb.middle), a) || wrong(long(limb.middle, limb.end), b) {
            tally.find(Fault::Length, || tag("a bone has another length"));
        }
        // And the angles say the same.
        let (u, l) = (f64::from(limb.upper), f64::from(limb.upper) + f64::from(limb.lower));
        let middle = root.as_dvec2() + DVec2::new(u.cos(), u.sin()) * f64::from(a);
        let end = middle + DVec2::new(l.cos(), l.sin()) * f64::from(b);
        if end.distance(limb.end.as_dvec2()) > 3e-6 * (places + f64::from(a + b)) {
            tally.find(Fault::Length, || tag("angles and places differ"));
        }
    }
}
