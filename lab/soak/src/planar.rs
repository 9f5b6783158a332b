//! Batches of solves in the plane, with their judge in f64.

use std::{
    f64::consts::PI,
    panic::{AssertUnwindSafe, catch_unwind},
};

use common::Noise;
use sinew::{
    glam::{DVec2, Vec2},
    planar::{
        BendSide2d, Bone2d, Chain2d, Chain2dError, DirectedOptions2d, Lead, Method2d, Options2d, two_bone,
    },
    solve::Tolerance,
};

use crate::{
    BATCH, HOSTILE, PROMISE,
    tally::{Fault, Tally},
};

pub const ALL: [&str; 8] = [
    "planar two-bone",
    "planar follow, tip",
    "planar follow, root",
    "planar ccd",
    "planar ccd, afresh",
    "planar fabrik",
    "planar auto",
    "planar with direction",
];

/// Excess of an angle over its joint's limits.
fn excess(bone: &Bone2d) -> f64 {
    let Some((from, to)) = bone.limits else { return 0.0 };
    let angle = f64::from(bone.angle);
    let angle = angle - 2.0 * PI * (angle / (2.0 * PI)).round();
    (angle - f64::from(to)).max(f64::from(from) - angle).max(0.0)
}

fn bits(chain: &Chain2d) -> Vec<u32> {
    let bones = chain.bones().iter().flat_map(|b| [b.angle, b.length]);
    bones.chain([chain.root.x, chain.root.y, chain.base]).map(f32::to_bits).collect()
}

fn vector(r: &mut Noise) -> Vec2 {
    let v = r.vector();
    Vec2::new(v.x, v.y)
}

fn power(r: &mut Noise, from: f32, to: f32) -> f32 {
    10f32.powf(r.between(from, to))
}

/// Rest state of a chain.
struct Rig {
    root: Vec2,
    base: f32,
    bones: Vec<Bone2d>,
    size: f32,
    hostile: bool,
}

impl Rig {
    #[allow(clippy::approx_constant)] // 3.14 is within half a turn, as limits must be.
    fn random(r: &mut Noise, hostile: bool) -> Self {
        let size = if hostile { power(r, -38.0, 18.0) } else { power(r, -3.0, 3.0) };
        // All of about one size, of any size, or of none.
        let shapes = if hostile { r.below(4) } else { 0 };
        let count = if r.below(8) == 0 { 12 + r.below(89) } else { 1 + r.below(10) };
        let bones = (0..count).map(|_| {
            let shorter = match (shapes, r.below(10)) {
                (1, _) => r.between(0.0, 56.0),
                (2, 0..8) => f32::INFINITY,
                (_, 0) => r.between(0.0, 6.0),
                (_, 1) => f32::INFINITY,
                _ => r.between(0.0, 1.0),
            };
            let bone = Bone2d::new(size * 10f32.powf(-shorter));
            match r.below(3) {
                0 => bone,
                _ => {
                    let (a, b) = (r.between(-3.14, 3.14), r.between(-3.14, 3.14));
                    let bone = bone
                        .with_limits(a.min(b), if hostile && r.below(8) == 0 { a.min(b) } else { a.max(b) });
                    let (from, to) = bone.limits.unwrap_or_default();
                    if r.below(4) == 0 {
                        bone.with_preferred((0.5 * (from + to)).clamp(from, to))
                    } else {
                        bone
                    }
                }
            }
        });
        let bones = bones.collect();
        let mut root = vector(r) * size;
        let mut base = r.between(-3.0, 3.0);
        if hostile {
            base *= power(r, -6.0, 3.5);
            if r.below(3) == 0 {
                root = vector(r) * power(r, -38.0, 38.5).min(3e38);
            }
        }
        Self { root, base, bones, size, hostile }
    }

    /// Angles anywhere, or within their limits.
    fn angle(&self, bone: &Bone2d, inside: bool, r: &mut Noise) -> f32 {
        match bone.limits {
            Some((from, to)) if inside => r.between(from, to).clamp(from, to),
            _ if self.hostile && r.below(8) == 0 => r.between(-1.0, 1.0) * power(r, -9.0, 3.9),
            _ => r.between(-4.0, 4.0),
        }
    }

    fn goal(&self, chain: &Chain2d, r: &mut Noise) -> Vec2 {
        let (root, end) = (chain.root, chain.end());
        match r.below(10) {
            0 => root,
            1 => end,
            2 => root + (end - root) * r.unit(),
            3 => root + vector(r) * self.size * 1e4,
            4 => end + vector(r) * self.size * 0.01,
            5 | 6 if self.hostile => vector(r) * power(r, -38.0, 38.5).min(3e38),
            _ => root + vector(r) * self.size * self.bones.len() as f32 * r.unit(),
        }
    }
}

fn settings(which: usize, hostile: bool, r: &mut Noise) -> Options2d {
    let mut s = Options2d::new();
    let mut iterations = [1, 3, 10, 40][r.below(4)];
    let mut restarts = if which == 3 { 0 } else { r.below(3) as u32 };
    let mut damping = if r.below(6) == 0 { r.between(0.0, 0.9) } else { 0.0 };
    let mut max_step = if r.below(6) == 0 { r.between(0.01, 1.0) } else { f32::INFINITY };
    s.soft = if r.below(4) == 0 { 0.1 } else { 0.0 };
    s.stretch = if r.below(8) == 0 { r.between(1.0, 1.5) } else { 1.0 };
    s.side = [None, None, Some(BendSide2d::Left), Some(BendSide2d::Right)][r.below(4)];
    s.influence = if r.below(4) == 0 { r.unit() } else { 1.0 };
    if hostile {
        s.position_tolerance = Tolerance::Share(power(r, -38.0, 0.0).min(1.0));
        iterations = [0, 1, 2, 3, 7, 20, 64][r.below(7)];
        restarts = [0, 0, 1, 4][r.below(4)];
        if damping > 0.0 {
            damping = 1.0 - power(r, -7.0, 0.0);
        }
        if max_step < f32::INFINITY {
            max_step = power(r, -37.0, 6.0);
        }
        if s.soft > 0.0 {
            s.soft = [r.unit(), 1.0, power(r, -38.0, 0.0)][r.below(3)];
        }
        if s.stretch > 1.0 {
            s.stretch = 1.0 + power(r, -6.0, 38.0);
        }
    }
    let method = match which {
        3 | 4 => Method2d::Ccd { damping, max_step },
        5 => Method2d::Fabrik,
        _ => Method2d::Auto,
    };
    s.with_method(method).with_max_iterations(iterations).with_max_restarts(restarts)
}

/// The options that a chain with a direction has.
fn directed(s: &Options2d) -> DirectedOptions2d {
    DirectedOptions2d::new()
        .with_influence(s.influence)
        .with_soft(s.soft)
        .with_stretch(s.stretch)
        .with_position_tolerance(s.position_tolerance)
        .with_max_iterations(s.max_iterations.unwrap_or(200))
        .with_max_restarts(s.max_restarts.unwrap_or(4))
}

/// Puts a number outside of its range, somewhere in what is asked.
fn spoil(s: &mut Options2d, goal: &mut Vec2, direction: &mut f32, directed: bool, r: &mut Noise) {
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][r.below(3)];
    match r.below(if directed { 8 } else { 7 }) {
        0 => goal.x = bad,
        1 => goal.y = bad,
        2 => s.position_tolerance = Tolerance::Share([0.0, -1.0, 1.1, bad][r.below(4)]),
        3 => match &mut s.method {
            Method2d::Ccd { damping, .. } => *damping = [1.0, -0.1, bad][r.below(3)],
            _ => s.influence = bad,
        },
        4 => s.soft = [1.1, -0.1, bad][r.below(3)],
        5 => s.stretch = [0.9, 0.0, bad][r.below(3)],
        6 => s.influence = [1.1, -0.1, bad][r.below(3)],
        _ => *direction = [1.1e4, -1e30, bad][r.below(3)],
    }
}

/// Where the end is, by forward kinematics in f64, and how exactly f32 can tell.
fn end(chain: &Chain2d) -> (DVec2, f64) {
    let (mut at, mut heading, mut long) = (chain.root.as_dvec2(), f64::from(chain.base), 0.0);
    for bone in chain.bones() {
        heading += f64::from(bone.angle);
        at += DVec2::from_angle(heading) * f64::from(bone.length);
        long += f64::from(bone.length);
    }
    let root = chain.root.as_dvec2().abs().max_element();
    // As `planar` has it for places, and for angles that f32 keeps to half a step.
    (at, 6e-7 * (root + long) * (1.0 + 0.05 * chain.bones().len() as f64).sqrt())
}

/// Says by how much more is missing of the goal, softened where there is a soft zone; none where that is not defined: for
/// what came in outside of its limits, what goes part of the way, what is stretched and softened at once.
fn grew(
    start: &Chain2d,
    chain: &Chain2d,
    goal: Vec2,
    direction: Option<f32>,
    s: &Options2d,
) -> Option<String> {
    if s.influence < 1.0 || s.stretch > 1.0 && s.soft > 0.0 || start.bones().iter().any(|b| excess(b) > 0.0) {
        return None;
    }
    let root = start.root.as_dvec2();
    let length: f64 = start.bones().iter().map(|b| f64::from(b.length)).sum();
    let way = goal.as_dvec2() - root;
    let (far, zone) = (way.length(), f64::from(s.soft) * length);
    let onset = length - zone;
    let near =
        if zone <= 0.0 || far <= onset { far } else { onset + zone * (1.0 - ((onset - far) / zone).exp()) };
    let to = way * if far > 0.0 { near / far } else { 1.0 };
    // Further off, a place counts for a direction alone.
    if direction.is_some() && to.length() > 10.0 * length {
        return None;
    }
    let missing = |chain: &Chain2d| {
        let (at, rounding) = end(chain);
        let off = at - root;
        // (What is much further off than the chain is long counts along the way there.)
        let place = match to.length() > 1e6 * length {
            true => -off.dot(way / far),
            false => (off - to).length(),
        };
        let turn = direction.map_or(0.0, |direction| {
            let heading =
                f64::from(chain.base) + chain.bones().iter().map(|b| f64::from(b.angle)).sum::<f64>();
            let turn = f64::from(direction) - heading;
            turn - 2.0 * PI * (turn / (2.0 * PI)).round()
        });
        (if direction.is_some() { place.hypot(0.5 * length * turn) } else { place }, rounding)
    };
    let ((before, a), (left, b)) = (missing(start), missing(chain));
    let rounding = a.max(b);
    // (Numbers below f32's normal ones have few digits.)
    if rounding.is_nan() || rounding > 1e-3 * length || length < 1e-35 {
        return None;
    }
    (left > before + 1e-6 * length + rounding)
        .then(|| format!("grew from {before:e} to {left:e} of {length:e} (rounding {rounding:e})"))
}

/// One chain, one solver, [`BATCH`] solves.
pub fn batch(seed: u64, which: usize, tally: &mut Tally) {
    let mut r = Noise::new(seed);
    let hostile = seed.is_multiple_of(HOSTILE);
    if which == 0 {
        return limbs(seed, hostile, &mut r, tally);
    }
    let rig = Rig::random(&mut r, hostile);
    let count = rig.bones.len();
    let mut chain = match Chain2d::new(rig.root, &rig.bones) {
        Ok(chain) => chain,
        Err(error) => {
            return tally.find(Fault::Refusal, || format!("no chain: {error}: seed {seed}"));
        }
    };
    chain.base = rig.base;
    for n in 0..BATCH {
        if n % 4 < 2 {
            chain.root = rig.root;
            for (i, bone) in rig.bones.iter().enumerate() {
                let angle = rig.angle(bone, n % 2 == 0, &mut r);
                if let Err(error) = chain.set_bone(i, bone.with_angle(angle)) {
                    return tally
                        .find(Fault::Refusal, || format!("no bone: {error}: seed {seed}, solve {n}"));
                }
            }
        }
        let start = chain.clone();
        let mut goal = rig.goal(&chain, &mut r);
        let mut settings = settings(which, hostile, &mut r);
        let mut direction = r.between(-7.0, 7.0);
        if hostile {
            direction *= power(&mut r, -6.0, 3.1);
        }
        // A goal beside a root that is far off may be no number.
        let mut invalid = !goal.is_finite();
        if hostile && r.below(16) == 0 {
            spoil(&mut settings, &mut goal, &mut direction, which == 7, &mut r);
            invalid |= which > 2 || !goal.is_finite();
        }
        let solve = |chain: &mut Chain2d| -> Result<[f32; 3], Chain2dError> {
            let report = match which {
                1 => return chain.follow(goal, Lead::Tip).map(|()| [0.0; 3]),
                2 => return chain.follow(goal, Lead::Root).map(|()| [0.0; 3]),
                7 => chain.solve_directed(goal, direction, &directed(&settings))?,
                _ => chain.solve(goal, &settings)?,
            };
            let by = report.out_of_reach;
            Ok([report.position_residual, report.rotation_residual, by])
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
                if !invalid {
                    tally.find(Fault::Refusal, || tag(format!("refused without a reason: `{error}`")));
                }
                continue;
            }
            Ok(Ok(left)) => left,
        };
        if invalid {
            tally.find(Fault::Refusal, || tag(format!("not refused: {settings:?}, {direction}")));
            continue;
        }
        let finite = chain.root.is_finite()
            && chain.bones().iter().all(|b| b.angle.is_finite() && b.length.is_finite());
        if !finite || !left.iter().all(|x| x.is_finite()) {
            return tally.find(Fault::NotFinite, || tag(format!("not finite, {left:?} left: {settings:?}")));
        }
        tally.digest(bits(&chain).into_iter().chain(left.map(f32::to_bits)).map(u64::from));
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
            // (Of what is smaller than f32's normal numbers no digits are kept.)
            let tiny = was.length < 1e-36;
            let bad =
                is.length != was.length && !(which > 2 && (tiny || (1.0 - 1e-6..=longest).contains(&factor)));
            if bad {
                tally.find(Fault::Length, || tag(format!("bone {i} of {} became {}", was.length, is.length)));
            }
        }
        if which > 2 {
            let (at, rounding) = end(&chain);
            let missed = (at - goal.as_dvec2()).length().min(f64::from(f32::MAX));
            if (missed - f64::from(left[0])).abs() > 2.0 * rounding + 1e-6 * missed + 1e-38 {
                tally.find(Fault::Report, || tag(format!("{missed:e} are missing, not {:e}", left[0])));
            }
            let direction = (which == 7).then_some(direction);
            if let Some(grew) = grew(&start, &chain, goal, direction, &settings) {
                tally.find(Fault::Grew, || tag(format!("{grew}, {left:?}: {settings:?}, {start:?}")));
            }
        }
        if chain.bones().iter().zip(&rig.bones).any(|(a, b)| a.length != b.length) {
            // Stretched ones go back, so that the next ones are stretched from the same.
            for (i, bone) in rig.bones.iter().enumerate() {
                let _ = chain.set_bone(i, bone.with_angle(chain.bones()[i].angle));
            }
        }
    }
}

/// Two bones by the cosine rule: the places that are told have the bones' lengths.
fn limbs(seed: u64, hostile: bool, r: &mut Noise, tally: &mut Tally) {
    let size = power(r, -3.0, 3.0);
    for n in 0..BATCH {
        let mut bone = || match hostile {
            true => power(r, -9.0, 9.0).clamp(1e-9, 1e9),
            false => size * 10f32.powf(-if r.below(4) == 0 { r.between(0.0, 6.0) } else { r.unit() }),
        };
        let (mut a, b) = (bone(), bone());
        let mut root = vector(r) * size;
        if hostile && r.below(3) == 0 {
            root = vector(r) * power(r, -38.0, 38.5).min(3e38);
        }
        let mut goal = match r.below(6) {
            0 => root,
            1 => root + vector(r) * size * 1e4,
            2 if hostile => vector(r) * power(r, -38.0, 38.5).min(3e38),
            3 if hostile => {
                root + Vec2::from_angle(r.between(-4.0, 4.0)) * [a + b, (a - b).abs()][r.below(2)]
            }
            _ => root + vector(r) * (a + b),
        };
        let mut invalid = !goal.is_finite();
        if hostile && r.below(16) == 0 {
            let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][r.below(3)];
            match r.below(3) {
                0 => goal.x = bad,
                1 => root.y = bad,
                _ => a = [0.0, -1.0, 1e-10, 1e10, bad][r.below(5)],
            }
            invalid = true;
        }
        let side = [BendSide2d::Left, BendSide2d::Right][r.below(2)];
        tally.solves += 1;
        let tag = |what: &str| format!("{what}: seed {seed}, solve {n}, {a}, {b}, from {root} to {goal}");
        let result = catch_unwind(|| two_bone(root, a, b, goal, side));
        let limb = match result {
            Err(_) => return tally.find(Fault::Panic, || tag("a panic")),
            Ok(Err(error)) => {
                tally.refused += 1;
                if !invalid {
                    tally.find(Fault::Refusal, || tag(&format!("refused without a reason: `{error}`")));
                }
                continue;
            }
            Ok(Ok(limb)) => limb,
        };
        if invalid {
            tally.find(Fault::Refusal, || tag("not refused"));
            continue;
        }
        let all =
            [limb.upper, limb.lower, limb.out_of_reach, limb.middle.x, limb.middle.y, limb.end.x, limb.end.y];
        if !all.iter().all(|x| x.is_finite()) {
            return tally.find(Fault::NotFinite, || tag(&format!("not finite: {limb:?}")));
        }
        tally.digest(all.map(|x| u64::from(x.to_bits())));
        if n % 8 == 5 && two_bone(root, a, b, goal, side) != Ok(limb) {
            tally.find(Fault::Bits, || tag("other bits the second time"));
        }
        let lower = if side == BendSide2d::Left { (-PI, 0.0) } else { (0.0, PI) };
        let turned = f64::from(limb.lower);
        if turned < lower.0 - 1e-6 || turned > lower.1 + 1e-6 {
            tally.find(Fault::Limit, || tag("bent to the other side"));
        }
        let (root, middle) = (root.as_dvec2(), limb.middle.as_dvec2());
        let places = root.length() + middle.length() + limb.end.as_dvec2().length();
        let wrong =
            |is: f64, should: f32| (is - f64::from(should)).abs() > 1e-6 * (places + f64::from(a + b));
        if wrong(root.distance(middle), a) || wrong(middle.distance(limb.end.as_dvec2()), b) {
            tally.find(Fault::Length, || tag("a bone has another length"));
        }
        // And the angles say the same.
        let (u, l) = (f64::from(limb.upper), f64::from(limb.upper) + f64::from(limb.lower));
        let end = root + DVec2::from_angle(u) * f64::from(a) + DVec2::from_angle(l) * f64::from(b);
        if end.distance(limb.end.as_dvec2()) > 3e-6 * (places + f64::from(a + b)) {
            tally.find(Fault::Length, || tag("angles and places differ"));
        }
        // A goal in reach is met; of others, the residual is the distance out of reach.
        let (a, b) = (f64::from(a), f64::from(b));
        let far = goal.as_dvec2().distance(root);
        let by = (far - a - b).max((a - b).abs() - far).max(0.0).min(f64::from(f32::MAX));
        if (by - f64::from(limb.out_of_reach)).abs() > 1e-6 * (a + b + by) {
            tally
                .find(Fault::Report, || tag(&format!("out of reach by {by:e}, not {:e}", limb.out_of_reach)));
        }
        let missed = limb.end.as_dvec2().distance(goal.as_dvec2());
        if by < f64::from(f32::MAX) && missed > by + 3e-6 * (places + a + b + by) {
            tally.find(Fault::Grew, || tag(&format!("missed by {missed:e}, out of reach by {by:e}")));
        }
    }
}
