//! Times of a limb in a pose beside those of its parts: the kernel on the pose's positions, two joints turned, and the
//! pose updated. All contenders move the same legs to the same goals, round by round in turn.

use std::hint::black_box;

use sinew::{
    Goal, Pole, Pose,
    glam::Quat,
    solve::{
        LimbOptions, TwoBone,
        two_bone::{LimbBend, LimbTurns, solve_points},
    },
};

use crate::{Contender, contender, legs::Leg, median, race};

/// Legs: their poses fit the second-level cache, so that memory's time is not measured.
const LEGS: usize = 512;
/// Largest ratio of a solve to its parts: kernel, two rotations, update.
const OVER_PARTS: f64 = 1.7;
/// Largest ratio of a solve with a pole to one without.
const POLED: f64 = 1.3;

/// Largest ratio of a solve within limits to one without, where no limit binds.
const WITHIN: f64 = 1.5;
/// Distance from every limit, in radians, at which none binds.
const ROOM: f32 = 0.02;

/// A leg in its pose, with two goals that it alternates between, and the local rotations of root and middle at each.
struct Posed {
    limb: TwoBone,
    pose: Pose,
    goals: [Goal; 2],
    locals: [[Quat; 2]; 2],
}

fn posed(legs: &[Leg], pole: bool) -> Vec<Posed> {
    posed_as(Leg::pose, legs, pole)
}

fn posed_as(make: fn(&Leg) -> (TwoBone, Pose), legs: &[Leg], pole: bool) -> Vec<Posed> {
    let leg = |l: &Leg| {
        let (limb, mut pose) = make(l);
        let goals = [l.other, l.goal].map(|to| {
            let goal = Goal::position(to);
            if pole { goal.with_pole(Pole::Point(l.pole)) } else { goal }
        });
        let locals = goals.map(|goal| {
            limb.solve(&mut pose, &goal, &LimbOptions::new()).expect("a leg without scales has no faults");
            [limb.chain().root(), limb.middle()].map(|joint| pose.local(joint).rotation)
        });
        Posed { limb, pose, goals, locals }
    };
    legs.iter().map(leg).collect()
}

/// The legs of which no limit binds at either goal, in poses without limits and within.
fn unbound(legs: &[Leg], pole: bool) -> (Vec<Posed>, Vec<Posed>) {
    let inside = |leg: &Posed| {
        let skeleton = leg.pose.skeleton();
        let joints = [leg.limb.chain().root(), leg.limb.middle()];
        leg.locals.iter().all(|locals| {
            joints.iter().zip(locals).enumerate().all(|(n, (&joint, &local))| {
                let limits = skeleton.limits(joint);
                let at = limits.coordinates(local);
                // A step from there in each direction stays within.
                (0..if n == 0 { 3 } else { 1 }).all(|k| {
                    [-ROOM, ROOM].into_iter().all(|by| {
                        let mut next = at;
                        next[k] += by;
                        limits.is_within(limits.rotation(next))
                    })
                })
            })
        })
    };
    // Nor do they change where the limb bends to.
    let same = |(free, within): &(Posed, Posed)| {
        let middles = |leg: &Posed| {
            let mut pose = leg.pose.clone();
            leg.goals.each_ref().map(|goal| {
                let _ = leg.limb.solve(&mut pose, goal, &LimbOptions::new());
                pose.position(leg.limb.middle())
            })
        };
        middles(free).iter().zip(middles(within)).all(|(a, b)| a.distance(b) < 1e-3)
    };
    let within = posed_as(Leg::pose_within, legs, pole);
    let free = posed(legs, pole);
    let pairs = free.into_iter().zip(within).filter(|pair| inside(&pair.1) && same(pair));
    pairs.take(LEGS).unzip()
}

/// A contender that calls `step` with each leg and the index of its goal, which changes from pass to pass.
fn alternate<'a>(
    name: &'static str,
    mut legs: Vec<Posed>,
    step: impl Fn(&mut Posed, usize) + 'a,
) -> Contender<'a> {
    let mut at = 0;
    contender(name, move || {
        for leg in &mut legs {
            step(leg, black_box(at));
        }
        at = 1 - at;
    })
}

fn solve(leg: &mut Posed, at: usize) {
    let _ = black_box(leg.limb.solve(&mut leg.pose, black_box(&leg.goals[at]), &LimbOptions::new()));
}

fn kernel(leg: &Posed, at: usize) -> LimbTurns {
    let goal = black_box(&leg.goals[at]);
    let to = goal.position.unwrap_or_default();
    black_box(solve_points(&leg.limb.points(&leg.pose), to, goal.pole, &LimbBend::FREE))
}

/// Prints the ratios and reports their bounds. Returns whether they hold.
pub fn thin(title: &str, legs: &[Leg]) -> bool {
    println!("\nlimb in a pose of three joints, {title}");
    let ((free, within), (free_poled, within_poled)) = (unbound(legs, false), unbound(legs, true));
    println!(
        "  {} of {} legs ({} with a pole) have room within limits",
        within.len(),
        legs.len(),
        within_poled.len()
    );
    let legs = &legs[..LEGS];
    let mut contenders = vec![
        alternate("solve", posed(legs, false), solve),
        alternate("kernel, two `turn`s, update", posed(legs, false), |leg, at| {
            let turns = kernel(leg, at);
            leg.pose.turn(leg.limb.middle(), turns.middle);
            leg.pose.turn(leg.limb.chain().root(), turns.root);
            leg.pose.update();
        }),
        // The rotations are known before: what the kernel returns is not used.
        alternate("kernel, two `set_rotation`s, update", posed(legs, false), |leg, at| {
            kernel(leg, at);
            let [root, middle] = *black_box(&leg.locals[at]);
            leg.pose.set_rotation(leg.limb.middle(), middle);
            leg.pose.set_rotation(leg.limb.chain().root(), root);
            leg.pose.update();
        }),
        alternate("two `set_rotation`s, update", posed(legs, false), |leg, at| {
            let [root, middle] = *black_box(&leg.locals[at]);
            leg.pose.set_rotation(leg.limb.middle(), middle);
            leg.pose.set_rotation(leg.limb.chain().root(), root);
            leg.pose.update();
        }),
        alternate("solve, pole", posed(legs, true), solve),
    ];
    race(&mut contenders, LEGS);
    // The legs that have room within their limits: as many of each.
    let counts = [free.len(), free_poled.len()];
    let mut pairs = [
        [alternate("solve, legs with room", free, solve), alternate("within limits", within, solve)],
        [
            alternate("solve, pole, legs with room", free_poled, solve),
            alternate("within limits, pole", within_poled, solve),
        ],
    ];
    for (pair, count) in pairs.iter_mut().zip(counts) {
        race(pair, count);
    }
    contenders.extend(pairs.into_iter().flatten());
    for c in &contenders {
        println!("  {:<36} {:7.1} ns", c.name, median(c));
    }
    let of = |name: &str| contenders.iter().find(|c| c.name == name).map_or(f64::NAN, median);
    let rows = [
        ("solve", "kernel, two `turn`s, update", OVER_PARTS),
        ("solve", "kernel, two `set_rotation`s, update", OVER_PARTS),
        ("solve, pole", "solve", POLED),
        ("within limits", "solve, legs with room", WITHIN),
        ("within limits, pole", "solve, pole, legs with room", WITHIN),
    ];
    let mut all = true;
    for (name, base, bound) in rows {
        let ratio = of(name) / of(base);
        let holds = ratio <= bound;
        println!("  {name}: {ratio:.2} x {base} (at most {bound}){}", if holds { "" } else { " MISSED" });
        bounds::bound(format!("{title}: {name}"), format!("{bound} x {base}"), format!("{ratio:.2}"), holds);
        all &= holds;
    }
    for c in &contenders {
        bounds::median(format!("{title}, in a pose: {}", c.name), 1e-3 * median(c));
    }
    all
}
