//! Measures of a walk in a written file.

use plant::{
    ground::Ground,
    maths::{V3, quat_angle, v3},
    scene::{Clip, Local, Scene},
};

use crate::{
    body::{Body, bend},
    cases::{Creature, Order, Run},
};

/// A measured value with its bounds.
pub struct Mark {
    /// The measure.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Least and largest allowed value; infinite where there is none.
    pub bounds: [f64; 2],
}

impl Mark {
    fn new(name: &'static str, value: f64, low: f64, high: f64) -> Self {
        Self { name, value, bounds: [low, high] }
    }

    fn at_most(name: &'static str, value: f64, high: f64) -> Self {
        Self::new(name, value, f64::NEG_INFINITY, high)
    }

    fn at_least(name: &'static str, value: f64, low: f64) -> Self {
        Self::new(name, value, low, f64::INFINITY)
    }

    fn told(name: &'static str, value: f64) -> Self {
        Self::new(name, value, f64::NEG_INFINITY, f64::INFINITY)
    }

    /// Whether a bound is missed; what is not a number misses every bound.
    pub fn missed(&self) -> bool {
        self.bounds.iter().any(|b| b.is_finite()) && !(self.bounds[0]..=self.bounds[1]).contains(&self.value)
    }
}

/// Samples per second: keys at 60 Hz, and half-way between them.
const RATE: f64 = 120.0;
/// Time at both ends of a stance that is left out: the note's times are those of keys.
const ENDS: f64 = 1.5 / 60.0;

struct Sample {
    /// Middle of each leg's sole, and all its points.
    soles: Vec<(V3, Vec<V3>)>,
    /// Distance from root to the last joint, as a share of the bones.
    reach: Vec<f64>,
    trunk: V3,
    /// Mean of the legs' first joints.
    middle: V3,
    front: V3,
    up: V3,
}

/// Times in which a leg stands, by the writer's note.
fn stances(scene: &Scene, clip: &Clip, body: &Body) -> Result<Vec<Vec<[f64; 2]>>, String> {
    let note = clip.extras.as_ref().map(|e| &e["sinew"]).ok_or("the walk has no note")?;
    let legs = note["legs"].as_array().ok_or("the note has no legs")?;
    let mut of = vec![Vec::new(); body.legs.len()];
    let mut index = Vec::new();
    for leg in legs {
        let tip = leg["tip"].as_str().unwrap_or_default();
        let node = scene.named(tip).ok_or(format!("the note's leg {tip} is no node"))?;
        index.push(body.legs.iter().position(|l| l.nodes.last() == Some(&node)));
    }
    for stance in note["stances"].as_array().into_iter().flatten() {
        let n = stance["leg"].as_u64().unwrap_or(u64::MAX) as usize;
        let times = ["from", "to"].map(|k| stance[k].as_f64().unwrap_or(f64::NAN));
        let leg = index.get(n).copied().flatten().ok_or("a stance of a leg that the judge does not know")?;
        of[leg].push(times);
    }
    Ok(of)
}

/// Measures a walk.
#[allow(clippy::too_many_lines)] // One measure after the other, each of a few lines.
pub fn measure(
    scene: &Scene,
    clip: &Clip,
    body: &Body,
    creature: &Creature,
    run: &Run,
) -> Result<Vec<Mark>, String> {
    let leg = creature.leg;
    let ground_node = scene.named("ground").ok_or("there is no ground")?;
    let ground = Ground::new(scene.triangles(ground_node)?);
    let end = clip.channels.iter().flat_map(|c| c.times.last()).copied().fold(0.0, f64::max);
    let count = (end * RATE).round() as usize + 1;
    let stances = stances(scene, clip, body)?;
    let rest = scene.worlds(&scene.rest);
    // Front and up of the trunk in its own space: +Z and +Y in the rest pose.
    let own = |v: V3| rest[body.trunk].inverse().vector(v).unit().unwrap_or(v);
    let (ahead, upright) = (own(v3(0.0, 0.0, 1.0)), own(v3(0.0, 1.0, 0.0)));
    let mut samples = Vec::with_capacity(count);
    let mut belly_deepest = f64::MIN;
    let (mut fastest, mut offsets, mut wrong_way) = (0.0f64, 0.0f64, 0.0f64);
    let mut before: Option<Vec<Local>> = None;
    let mut at_rest: Option<Vec<Local>> = None;
    let mut stirs = 0.0f64;
    for n in 0..count {
        let t = n as f64 / RATE;
        let pose = scene.sample(clip, t);
        let worlds = scene.worlds(&pose);
        let at = |n: usize| worlds[n].translation;
        let soles = body.legs.iter().map(|l| {
            let last = *l.nodes.last().unwrap_or(&0);
            let points: Vec<V3> = l.sole.iter().map(|p| worlds[last].point(*p)).collect();
            let middle = points.iter().fold(V3::ZERO, |a, b| a + *b) * (1.0 / points.len() as f64);
            (middle, points)
        });
        let soles = soles.collect();
        let reach = body.legs.iter().map(|l| {
            let (first, last) = (l.nodes[0], *l.nodes.last().unwrap_or(&0));
            (at(last) - at(first)).length() / l.length
        });
        let reach = reach.collect();
        let unit = |v: V3| v.unit().unwrap_or(V3::ZERO);
        let trunk = &worlds[body.trunk];
        samples.push(Sample {
            soles,
            reach,
            trunk: trunk.translation,
            middle: body.legs.iter().fold(V3::ZERO, |sum, l| sum + at(l.nodes[0]))
                * (1.0 / body.legs.len() as f64),
            front: unit(trunk.vector(ahead).flat()),
            up: unit(trunk.vector(upright)),
        });
        if n % 4 == 0 {
            for (joint, p) in &body.belly {
                let p = worlds[*joint].point(*p);
                if let Some(y) = ground.height(p, 2.0 * leg) {
                    belly_deepest = belly_deepest.max((y - p.y) / leg);
                }
            }
        }
        for l in &body.legs {
            for (k, rest_bend) in l.bends.iter().enumerate() {
                let large = rest_bend.length() > 10f64.to_radians();
                let now = bend(scene, &worlds, &l.nodes, k + 1);
                if large && now.length() > 0.02 {
                    // Degrees of bend to the other side.
                    let side = now.dot(*rest_bend) / rest_bend.length();
                    wrong_way = wrong_way.max((-side).to_degrees());
                }
            }
            for w in l.nodes.windows(2) {
                let was = (rest[w[1]].translation - rest[w[0]].translation).length();
                offsets = offsets.max(((at(w[1]) - at(w[0])).length() - was).abs() / leg);
            }
        }
        let turn = |a: &Local, b: &Local| match (a, b) {
            (Local::Trs(_, a, _), Local::Trs(_, b, _)) => quat_angle(*a, *b),
            _ => 0.0,
        };
        if n % 2 == 0 {
            if let Some(before) = &before {
                for (node, (a, b)) in before.iter().zip(&pose).enumerate() {
                    if scene.parents[node].is_some() {
                        fastest = fastest.max(turn(a, b));
                    }
                }
            }
            before = Some(pose.clone());
        }
        if run.seconds < 0.0 && t >= 8.0 {
            let rest = at_rest.get_or_insert_with(|| pose.clone());
            for (a, b) in rest.iter().zip(&pose) {
                stirs = stirs.max(turn(a, b));
            }
        }
    }
    let time = |n: usize| n as f64 / RATE;
    let stands = |l: usize, t: f64| stances[l].iter().any(|[a, b]| (*a..=*b).contains(&t));
    let firm = |l: usize, t: f64| stances[l].iter().any(|[a, b]| (a + ENDS..=b - ENDS).contains(&t));
    let over = |p: V3| ground.height(p, leg).map(|y| (p.y - y) / leg);

    // Stances.
    let (mut planted, mut all) = (0.0, 0.0);
    let (mut deep, mut high, mut slide) = (f64::MIN, f64::MIN, 0.0f64);
    for (l, times) in stances.iter().enumerate() {
        for [from, to] in times {
            let inside: Vec<usize> =
                (0..count).filter(|n| (from + ENDS..=to - ENDS).contains(&time(*n))).collect();
            if inside.len() < 3 {
                continue;
            }
            let (mut d, mut h, mut s) = (f64::MIN, f64::MIN, 0.0f64);
            for &n in &inside {
                let heights: Vec<f64> = samples[n].soles[l].1.iter().filter_map(|p| over(*p)).collect();
                d = d.max(-heights.iter().copied().fold(f64::MAX, f64::min));
                h = h.max(heights.iter().copied().fold(f64::MAX, f64::min));
            }
            // Over a quarter of a second, or the stance where it is shorter.
            let window = ((0.25 * RATE) as usize).min(inside.len() - 1);
            for w in inside.windows(window + 1) {
                // Over ground, of the point that stays: a foot may roll over an edge of its sole.
                let (a, b) = (&samples[w[0]].soles[l].1, &samples[w[window]].soles[l].1);
                let moved = a.iter().zip(b).map(|(a, b)| (*b - *a).flat().length()).fold(f64::MAX, f64::min);
                s = s.max(moved / leg / (window as f64 / RATE).max(0.1));
            }
            let good = d <= 0.01 && h <= 0.01 && s <= 0.005;
            all += to - from;
            planted += if good { to - from } else { 0.0 };
            (deep, high, slide) = (deep.max(d), high.max(h), slide.max(s));
        }
    }
    let mut air = 0.0f64;
    let (mut down, mut both) = (usize::MAX, 0usize);
    let mut reach = 0.0f64;
    for (n, sample) in samples.iter().enumerate() {
        let t = time(n);
        let up: Vec<bool> = (0..body.legs.len()).map(|l| !stands(l, t)).collect();
        down = down.min(up.iter().filter(|u| !**u).count());
        for (l, a) in body.legs.iter().enumerate() {
            for (m, b) in body.legs.iter().enumerate() {
                if a.side == b.side && b.order == a.order + 1 && up[l] && up[m] {
                    both += 1;
                }
            }
            if up[l] {
                for p in &sample.soles[l].1 {
                    air = air.max(ground.depth(*p, leg) / leg);
                }
            }
            if firm(l, t) {
                reach = reach.max(sample.reach[l]);
            }
        }
    }

    // The trunk.
    let mut acceleration = 0.0f64;
    for w in samples.iter().step_by(2).collect::<Vec<_>>().windows(3) {
        let a = (w[0].trunk + w[2].trunk - w[1].trunk * 2.0) * (RATE / 2.0).powi(2);
        acceleration = acceleration.max(a.length() / leg);
    }
    let tilt = samples.windows(3).map(|w| {
        let (a, b) = (w[0].up, w[2].up);
        a.cross(b).length().atan2(a.dot(b)) * RATE / 2.0
    });
    let tilt = tilt.fold(0.0, f64::max);
    let mut marks = vec![
        Mark::at_least("planted %", 100.0 * planted / all, 95.0),
        Mark::at_most("deep %L", 100.0 * deep, 1.0),
        Mark::at_most("high %L", 100.0 * high, 1.0),
        Mark::at_most("slide %L/s", 100.0 * slide, 0.5),
        Mark::at_most("in the air %L", 100.0 * air, 1.0),
        Mark::at_most("reach %", 100.0 * reach, 99.0),
        Mark::at_least("feet down", down as f64, creature.down as f64),
        Mark::at_most("both up", both as f64, 0.0),
        Mark::at_most("belly %L", 100.0 * belly_deepest, 1.0),
        Mark::at_most("accel. L/s2", acceleration, 10.0),
        Mark::at_most("tilt rad/s", tilt, 3.0),
        Mark::at_most("wrong bend deg", wrong_way, 0.0),
        Mark::at_most("turn rad", fastest, 0.3),
        Mark::at_most("offsets e-5", 1e5 * offsets, 1.0),
    ];
    if run.seconds < 0.0 {
        marks.push(Mark::at_most("stirs e-4", 1e4 * stirs, 1.0));
    }
    follow(&mut marks, &samples, creature, run);
    let on_flat = run.ground == "flat";
    // Steps.
    let straight =
        matches!(run.order, Order::Steady(a, l, t) if t == 0.0 && l == 0.0 && a > 0.0) && run.seconds > 0.0;
    let fast = matches!(run.order, Order::Steady(a, ..) if a >= 1.0) && creature.name == "horse";
    let (mut shortest, mut longest) = (f64::MAX, f64::MIN);
    let (mut low, mut top) = (f64::MAX, f64::MIN);
    let mut cycles = Vec::new();
    for (l, times) in stances.iter().enumerate() {
        let at = |t: f64| samples[((t * RATE) as usize).min(count - 1)].soles[l].0;
        for w in times.windows(2) {
            let [_, lifts] = w[0];
            let [lands, next] = w[1];
            let from = at((w[0][0] + lifts) / 2.0);
            let to = at((lands + next) / 2.0);
            // The first steps start the walk.
            if lifts > 2.5 && lands < end - 0.5 {
                shortest = shortest.min((to - from).flat().length() / leg);
                longest = longest.max((to - from).flat().length() / leg);
                cycles.push(lands - w[0][0]);
            }
            let highest = (0..count)
                .filter(|n| (lifts..=lands).contains(&time(*n)))
                .filter_map(|n| over(samples[n].soles[l].0))
                .fold(f64::MIN, f64::max);
            if lands < end {
                (low, top) = (low.min(highest), top.max(highest));
            }
        }
    }
    if straight && !cycles.is_empty() {
        marks.push(Mark::at_least("shortest cycle L", shortest, if fast { 0.8 } else { 0.3 }));
        marks.push(Mark::at_most("longest cycle L", longest, 2.0));
    }
    if on_flat && top > f64::MIN {
        marks.push(Mark::at_least("least lift %L", 100.0 * low, 2.0));
        marks.push(Mark::at_most("most lift %L", 100.0 * top, 25.0));
    }
    if on_flat && straight && matches!(run.order, Order::Steady(a, ..) if a == 0.5) && !cycles.is_empty() {
        gait(&mut marks, &stances, &samples, body, creature, &cycles);
    }
    Ok(marks)
}

/// Distance from the ordered path, and speed along it.
fn follow(marks: &mut Vec<Mark>, samples: &[Sample], creature: &Creature, run: &Run) {
    let leg = creature.leg;
    let (first, front) = (samples[0].middle, samples[0].front);
    let left = v3(front.z, 0.0, -front.x);
    let from = |p: V3| (p - first).flat();
    let off: Box<dyn Fn(V3) -> f64> = match run.order {
        _ if run.seconds < 0.0 => return,
        Order::Random(_) => return,
        Order::Circle(radius, _) => {
            // Its middle is to the left of the start.
            let middle = left * radius;
            Box::new(move |p| (from(p) - middle).length() - radius)
        }
        Order::Steady(a, l, t) if t != 0.0 && a.hypot(l) > 0.0 => {
            let radius = a.hypot(l) * leg / t;
            let middle = left * radius;
            Box::new(move |p| (from(p) - middle).length() - radius.abs())
        }
        Order::Steady(a, l, _) if a.hypot(l) > 0.0 => {
            let along = front * (a / a.hypot(l)) + left * (l / a.hypot(l));
            Box::new(move |p| (from(p) - along * from(p).dot(along)).length())
        }
        Order::Steady(..) => Box::new(move |p| from(p).length()),
        Order::StopAndGo(_) => Box::new(move |p| (from(p) - front * from(p).dot(front)).length()),
    };
    let rms =
        (samples.iter().map(|s| off(s.middle).powi(2)).sum::<f64>() / samples.len() as f64).sqrt() / leg;
    marks.push(Mark::at_most("off path L", rms, 0.1));
    let ordered = match run.order {
        Order::Circle(_, v) => v,
        Order::Steady(a, l, _) => a.hypot(l),
        _ => return,
    };
    if ordered == 0.0 {
        return;
    }
    // From the first second on, along the way without bob and sway: over a tenth of a second.
    let from = RATE as usize;
    let step = (0.1 * RATE) as usize;
    let points: Vec<V3> = samples[from..].iter().step_by(step).map(|s| s.middle.flat()).collect();
    let way: f64 = points.windows(2).map(|w| (w[1] - w[0]).length()).sum();
    let speed = way / leg / ((points.len() - 1) as f64 * step as f64 / RATE);
    if creature.name == "spider" && run.name == "terrain, wide" {
        marks.push(Mark::told("speed %", 100.0 * speed / ordered));
        return;
    }
    marks.push(Mark::new("speed %", 100.0 * speed / ordered, 95.0, 105.0));
}

/// The gait on the flat: phases, duty, and the trunk's motion up and down.
fn gait(
    marks: &mut Vec<Mark>,
    stances: &[Vec<[f64; 2]>],
    samples: &[Sample],
    body: &Body,
    creature: &Creature,
    cycles: &[f64],
) {
    let cycle = cycles.iter().sum::<f64>() / cycles.len() as f64;
    let steady = |l: usize| stances[l].iter().filter(|[a, _]| *a > 2.5).map(|[_, b]| *b).collect::<Vec<_>>();
    // Mean phase of a leg's lift after that of another, on the circle.
    let phase = |l: usize, of: usize| {
        let base = steady(of);
        let (mut x, mut y) = (0.0, 0.0);
        for t in steady(l) {
            let Some(from) = base.iter().copied().filter(|b| *b <= t).reduce(f64::max) else { continue };
            let angle = std::f64::consts::TAU * (t - from) / cycle;
            (x, y) = (x + angle.cos(), y + angle.sin());
        }
        (y.atan2(x) / std::f64::consts::TAU).rem_euclid(1.0)
    };
    let find = |side: usize, order: usize| {
        body.legs.iter().position(|l| l.side == side && l.order == order).unwrap_or(0)
    };
    if creature.legs.len() == 2 {
        let [lf, lh, rf, rh] = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(s, o)| find(s, o));
        let wanted = [(lf, 0.25), (rh, 0.5), (rf, 0.75)];
        let off = wanted.iter().map(|(l, p)| (phase(*l, lh) - p).abs()).fold(0.0, f64::max);
        marks.push(Mark::at_most("phases off", off, 0.06));
        let stood: Vec<f64> = stances
            .iter()
            .flatten()
            .filter(|[a, _]| *a > 2.5)
            .map(|[a, b]| b - a)
            .filter(|d| *d < cycle)
            .collect();
        let duty = stood.iter().sum::<f64>() / stood.len() as f64 / cycle;
        marks.push(Mark::new("duty", duty, 0.55, 0.8));
        let heights: Vec<f64> =
            samples[(2.5 * RATE) as usize..].iter().map(|s| s.trunk.y / creature.leg).collect();
        let span = heights.iter().copied().fold(f64::MIN, f64::max)
            - heights.iter().copied().fold(f64::MAX, f64::min);
        marks.push(Mark::new("up and down %L", 100.0 * span, 0.5, 4.0));
        // Maxima that stand out by a tenth of the span.
        let mut tops = 0;
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        let mut rising = true;
        for h in &heights {
            if rising {
                high = high.max(*h);
                if *h < high - 0.3 * span {
                    tops += 1;
                    (rising, low) = (false, *h);
                }
            } else {
                low = low.min(*h);
                if *h > low + 0.3 * span {
                    (rising, high) = (true, *h);
                }
            }
        }
        let times = heights.len() as f64 / RATE / cycle;
        marks.push(Mark::new("tops a cycle", f64::from(tops) / times, 1.5, 2.5));
    } else {
        let mut off = 0.0f64;
        for side in 0..2 {
            for order in 1..creature.legs.len() {
                off = off.max((phase(find(side, order), find(side, order - 1)) - 0.5).abs());
            }
        }
        marks.push(Mark::at_most("neighbours off", off, 0.1));
    }
}
