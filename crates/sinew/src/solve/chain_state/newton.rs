//! Damped least-squares steps on a whole chain within its limits.
//!
//! r is the residual (the displacement to the goal and, if the goal has a rotation, the turn to it), and J its Jacobian
//! in the joints. The step J^T y with (J J^T + mu) y = r is the smallest of all steps that remove most of r (Wampler
//! 1986). The matrix has three rows, or six with a rotation, however long the chain. A free joint or a ball contributes
//! three columns about any three axes, so that no Euler angles are needed. The damping mu is the squared residual
//! (Sugihara 2011) times a factor that a failed step raises. Steps are therefore cautious far from the goal and
//! approach Newton's nearby.
//!
//! Every step respects the limits and each joint's maximum turn from its input. A single coordinate knows its room. If
//! a step would exceed it, the coordinate moves to the end of its room, and the others' shares are recomputed for the
//! remaining residual, until none exceeds its room. It stays in the active set as long as its part in y points outward
//! (the sign of the constraint's multiplier). A joint that turns every way is clamped to its limits instead. If it was
//! clamped, the direction of the correction is the active limit's normal, stored in the joint's pre-rotation frame. The
//! next step excludes motion along the normals, and drops a normal once its part in y points inward. So the active set
//! settles in a few steps, and the other joints converge fast.

mod settle;

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{Ask, ChainState, IN_ALL, Kind, NO_MORE, PIECES, Part, signs};
use crate::{
    math,
    solve::{cholesky::cholesky, iterate::Trace},
};

/// State of one part in a step.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    part: Part,
    /// Orientation of the pre-rotation frame.
    frame: Quat,
    /// Vector from the joint to the end, in chain lengths. For a slide, x is a chain length in units of the
    /// pre-rotation frame.
    arm: Vec3,
    /// Axis of a single turn, or direction of a slide.
    axis: Vec3,
    /// Active set of a joint that turns every way: normals of its active limits, in the pre-rotation frame.
    active: [Vec3; 3],
    count: usize,
    /// Active set before the step.
    known: ([Vec3; 3], usize),
    /// Room of a single coordinate: how far down and up a step may take it, by its range and the maximum turn.
    room: [f32; 2],
    /// End of the room at which a coordinate is held.
    held: Option<usize>,
    /// Input value of a single angle, in radians.
    input: f32,
    /// Weight of the part in a step.
    weight: f32,
    /// The step.
    step: Vec3,
}

/// Buffers of the steps of a chain.
#[derive(Debug, Default)]
pub(crate) struct Newton {
    columns: Vec<Column>,
    kept: Vec<(Quat, Vec3)>,
    /// State of each column in [`Newton::settle`].
    parts: Vec<settle::Part>,
    /// Whether steps account for the curvature of a joint's circle away from the goal.
    curved: bool,
    /// Whether undoing a step also undoes its changes to the active set. Sweeps continue where it does not.
    forgets: bool,
}

/// Maximum turn of a joint in one step, in radians. The linearisation of the end's path fails beyond 1 rad.
const FURTHEST: f32 = 0.8;

/// Maximum number of passes for one step, each without the coordinates at an end of their room. Those that reach one in
/// the last pass stop there until the next step. A pass is a small part of a step's cost.
const PASSES: u32 = 6;

impl Newton {
    /// Prepares for a chain, with parts in the order of its links.
    pub fn begin(&mut self, parts: &[Part], links: usize, forgets: bool) {
        self.forgets = forgets;
        self.kept.clear();
        self.kept.reserve(links);
        let same = |(c, part): (&Column, &Part)| c.part == *part;
        if self.columns.len() == parts.len() && self.columns.iter().zip(parts).all(same) {
            return;
        }
        self.columns.clear();
        self.columns.extend(parts.iter().map(|&part| Column { part, ..Column::default() }));
        self.parts.clear();
        self.parts.resize(parts.len(), settle::Part::default());
    }

    /// Steps until the task is met, `max_steps` steps are made or no step reduces the residual. Never increases the
    /// residual. Returns the number of steps.
    pub fn run(&mut self, links: &mut ChainState, ask: &Ask, max_steps: u32, trace: &mut Trace) -> u32 {
        self.curved = false;
        for c in &mut self.columns {
            (c.count, c.held, c.input) = (0, None, 0.0);
            let link = &links.links[c.part.link];
            if let (Kind::Angle(n), true) = (c.part.kind, link.max_turn.is_finite()) {
                c.input = link.limits.coordinates(link.input.0)[n];
            }
        }
        let mut factor = 0.1;
        let mut left = links.measure(ask);
        let (mut steps, mut failed) = (0, 0);
        while steps < max_steps && !ask.met(left) && !trace.stopped() {
            links.keep(&mut self.kept);
            if self.forgets {
                self.columns.iter_mut().for_each(|c| c.known = (c.active, c.count));
            }
            if !self.step(links, ask, factor) {
                break;
            }
            steps += 1;
            let now = links.measure(ask);
            let (was, is) = (ask.cost(left), ask.cost(now));
            trace.step(links, factor, is < was);
            if is < was {
                left = now;
                factor *= 0.25;
                // Progress of less than a hundredth per step is not worth its time.
                failed = if is > 0.99 * was { failed + 1 } else { 0 };
            } else {
                links.put(&self.kept);
                if self.forgets {
                    self.columns.iter_mut().for_each(|c| (c.active, c.count) = c.known);
                }
                factor = (factor * 8.0).max(1e-3);
                failed += 1;
            }
            self.curved |= is > 0.5 * was;
            if failed > 4 {
                break;
            }
        }
        steps
    }

    /// Goes part of the way to an answer, straight in joint coordinates, until one joint has turned by its maximum. If
    /// the residual exceeds the input's there, steps within the same bound bring the chain to the nearest state where
    /// it does not. The caller measures whether such a state was found. Returns the number of steps.
    pub fn part_way(
        &mut self,
        links: &mut ChainState,
        ask: &Ask,
        answer: &[(Quat, Vec3)],
        max_steps: u32,
    ) -> u32 {
        let allowed = ask.cost(links.measure(ask));
        let bound = links.links.iter().map(|l| l.max_turn).fold(f32::INFINITY, f32::min);
        let mut steps = 0;
        for _ in 0..PIECES {
            let left = links.turn_to(answer);
            if left <= 0.0 {
                links.put(answer);
                break;
            }
            links.blend_to(answer, (IN_ALL * bound / (PIECES as f32 * left)).min(1.0));
            links.turn_back();
            let now = ask.cost(links.measure(ask));
            if now >= allowed {
                // Aim for the permitted residual, on the side of the goal where the end is now.
                let part = NO_MORE * allowed / now;
                let turn = ask.turn.map(|turn| math::slerp(turn, links.tip_rotation(), part));
                let place = ask.place + (links.end() - ask.place) * part;
                steps += self.run(links, &Ask { place, turn, ..*ask }, max_steps, &mut Trace::none());
            }
        }
        steps
    }

    /// Updates every column. Returns the residual: the displacement in chain lengths, and the turn in half radians.
    fn see(&mut self, links: &ChainState, ask: &Ask) -> (Vec3, Option<Vec3>) {
        let size = 2.0 * ask.radian;
        let (place, turn) = links.inside(ask.place, ask.turn);
        // Walk down the chain: pre-rotation frames first, arms once the end is known.
        let (mut at, mut orientation, mut unit) = (Vec3::ZERO, Quat::IDENTITY, links.unit());
        let mut columns = self.columns.iter_mut().peekable();
        for (n, link) in links.links.iter().enumerate() {
            at += math::rotate(orientation, link.offset) * unit;
            // A joint that turns about single axes has up to three columns.
            let mut here = None;
            while let Some(c) = columns.next_if(|c| c.part.link == n) {
                c.frame = orientation;
                c.arm = at;
                c.axis = Vec3::ZERO;
                match c.part.kind {
                    Kind::Whole => {}
                    Kind::Angle(k) => {
                        let here = *here.get_or_insert_with(|| link.limits.coordinates(link.rotation));
                        if let Some(axis) = link.limits.turn_axis(k, here) {
                            c.axis = math::rotate(orientation, axis);
                        }
                        c.room = link.limits.angle_room(k, here[k], c.input, link.max_turn);
                    }
                    Kind::Slide(k) => {
                        if let Some(axis) = link.limits.slide_axis(k) {
                            // In chain lengths, so that a slide weighs as much as an angle.
                            c.axis = math::rotate(orientation, axis) * unit.signum();
                            // If either underflows beside the other, the slide moves nothing.
                            let scale = size / unit.abs();
                            let at = link.limits.slide_of(link.offset)[k];
                            (c.arm.x, c.room) = match scale.is_normal() {
                                true => (scale, link.limits.slide_room(k, at).map(|way| way / scale)),
                                false => (0.0, [0.0; 2]),
                            };
                        }
                    }
                }
            }
            orientation = math::mul(math::mul(orientation, link.rotation), signs(link.scale));
            unit = link.unit_below(unit);
        }
        let end = at + math::rotate(orientation, links.chain().tip_offset()) * unit;
        let off = (place - end) / size;
        let spin = turn.map(|t| math::rotation_vector(math::mul(t, math::conjugate(orientation))) * 0.5);
        for c in self.columns.iter_mut().filter(|c| !matches!(c.part.kind, Kind::Slide(_))) {
            c.arm = (end - c.arm) / size;
        }
        (off, spin)
    }

    /// Makes one step. Returns false if there is none.
    fn step(&mut self, links: &mut ChainState, ask: &Ask, factor: f32) -> bool {
        let (off, spin) = self.see(links, ask);
        let residual = off.length_squared() + spin.map_or(0.0, |s| s.length_squared());

        // The floor is needed in f32 if the chain cannot move in some direction at all.
        let mu = factor * residual + 1e-9;
        for c in self.columns.iter_mut() {
            c.weight = 1.0;
            if !matches!(c.part.kind, Kind::Slide(_)) {
                let bent = off.dot(c.arm) - off.dot(c.axis) * c.arm.dot(c.axis);
                c.weight = if self.curved { mu / (mu + bent.max(0.0)) } else { 1.0 };
            }
            // A held coordinate still at its end stays held, until it wants to leave.
            c.held = c.held.filter(|&side| c.room[side].abs() < 1e-6);
        }
        let mut furthest = 0.0;
        for pass in 0..PASSES {
            let Some(y) = self.multipliers(off, spin, mu) else { return false };
            let again;
            (again, furthest) = self.share(y, pass);
            if !again {
                break;
            }
        }
        let k = if furthest > FURTHEST { FURTHEST / furthest } else { 1.0 };
        for c in self.columns.iter_mut() {
            c.make(links, k);
        }
        true
    }

    /// Solves for the multipliers y of all columns that are not held.
    fn multipliers(&self, off: Vec3, spin: Option<Vec3>, mu: f32) -> Option<(Vec3, Vec3)> {
        let rows = if spin.is_some() { 6 } else { 3 };
        let mut m = [[0.0f64; 6]; 6];
        let mut rest = (off, spin.unwrap_or(Vec3::ZERO));
        let mut add = |(p, r): (Vec3, Vec3), weight: f32| {
            let c = [p.x, p.y, p.z, r.x, r.y, r.z].map(f64::from);
            for (a, row) in m.iter_mut().enumerate().take(rows) {
                let weighed = f64::from(weight) * c[a];
                for (b, cell) in row.iter_mut().enumerate().take(a + 1) {
                    *cell += weighed * c[b];
                }
            }
        };
        for c in &self.columns {
            match (c.part.kind, c.held) {
                (Kind::Whole, _) => {
                    for axis in c.open() {
                        if axis != Vec3::ZERO {
                            add((axis.cross(c.arm), axis * 0.5), c.weight);
                        }
                    }
                }
                (_, None) => add(c.motion(), c.weight),
                (_, Some(side)) => {
                    let (p, r) = c.motion();
                    rest = (rest.0 - p * c.room[side], rest.1 - r * c.room[side]);
                }
            }
        }
        for (a, row) in m.iter_mut().enumerate() {
            row[a] += f64::from(mu);
        }
        let (p, r) = rest;
        let mut y = [p.x, p.y, p.z, r.x, r.y, r.z].map(f64::from);
        let solved = cholesky(m.as_flattened_mut(), 6, &mut y[..rows]);
        let [a, b, c, d, e, f] = y.map(|x| x as f32);
        solved.then_some((Vec3::new(a, b, c), Vec3::new(d, e, f)))
    }

    /// Distributes the step to the columns. Returns whether any column became held or free, so that the others must be
    /// recomputed, and the largest turn in radians.
    fn share(&mut self, (yp, yr): (Vec3, Vec3), pass: u32) -> (bool, f32) {
        let (mut again, mut furthest) = (false, 0.0f32);
        for c in self.columns.iter_mut() {
            c.step = Vec3::ZERO;
            match c.part.kind {
                Kind::Whole => {
                    let whole = (c.arm.cross(yp) + yr * 0.5) * c.weight;
                    let open = c.open();
                    // Drop a normal from the active set if the joint wants to leave its limit. It is free from the next
                    // step on.
                    let mut n = 0;
                    while n < c.count {
                        if whole.dot(math::rotate(c.frame, c.active[n])) < 0.0 {
                            c.count -= 1;
                            c.active[n] = c.active[c.count];
                        } else {
                            n += 1;
                        }
                    }
                    c.step = open[0] * open[0].dot(whole)
                        + open[1] * open[1].dot(whole)
                        + open[2] * open[2].dot(whole);
                    furthest = furthest.max(math::sqrt(c.step.length_squared()));
                }
                Kind::Angle(_) | Kind::Slide(_) => {
                    let (p, r) = c.motion();
                    let by = c.weight * (p.dot(yp) + r.dot(yr));
                    let [low, high] = c.room;
                    match c.held {
                        // Release at most once per step, so that it does not alternate.
                        Some(side) if pass == 0 && if side == 0 { by > low } else { by < high } => {
                            (c.held, again) = (None, true);
                        }
                        None if by < low => (c.held, again) = (Some(0), true),
                        None if by > high => (c.held, again) = (Some(1), true),
                        _ => {}
                    }
                    c.step.x = c.held.map_or(by.clamp(low, high), |side| c.room[side]);
                    if !matches!(c.part.kind, Kind::Slide(_)) {
                        furthest = furthest.max(c.step.x.abs());
                    }
                }
            }
        }
        (again, furthest)
    }
}

impl Column {
    /// Derivatives of the end's position and of the tip's rotation by a single coordinate.
    fn motion(&self) -> (Vec3, Vec3) {
        match self.part.kind {
            Kind::Slide(_) => (self.axis, Vec3::ZERO),
            _ => (self.axis.cross(self.arm), self.axis * 0.5),
        }
    }

    /// Unit vectors that span the turns that no active limit blocks, padded with zero vectors.
    fn open(&self) -> [Vec3; 3] {
        if self.count == 0 {
            return Vec3::AXES;
        }
        let a = math::rotate(self.frame, self.active[0]);
        let u = math::perpendicular(a, Vec3::ZERO);
        let v = a.cross(u);
        if self.count == 1 {
            return [u, v, Vec3::ZERO];
        }
        let b = math::rotate(self.frame, self.active[1]);
        let across = a.cross(b);
        // The two normals are nearly parallel.
        let Some(only) = (across.length_squared() > 1e-4).then(|| across.normalize_or_zero()) else {
            return [u, v, Vec3::ZERO];
        };
        if self.count == 2 { [only, Vec3::ZERO, Vec3::ZERO] } else { [Vec3::ZERO; 3] }
    }

    /// Applies `k` of the step, and adds a limit that was met to the active set.
    fn make(&mut self, links: &mut ChainState, k: f32) {
        let step = self.step * k;
        if step == Vec3::ZERO {
            return;
        }
        let link = &mut links.links[self.part.link];
        match self.part.kind {
            Kind::Whole => {
                let angle = math::sqrt(step.length_squared());
                let axis = math::rotate(math::conjugate(self.frame), step / angle);
                let wanted = math::normalize(math::mul(math::axis_angle(axis, angle), link.rotation));
                let next = link.no_further(link.limits.clamp(wanted));
                link.rotation = next;
                if next == wanted {
                    return;
                }
                // The turn that the limit took: from the joint's rotation to the one it wanted.
                let taken = math::rotation_vector(math::mul(wanted, math::conjugate(next)));
                let size = math::sqrt(taken.length_squared());
                // A smaller correction comes from the curvature of the limit, and is not its normal.
                if size > 0.02 * angle + 1e-7 {
                    self.meet(taken / size);
                }
            }
            Kind::Angle(n) => link.turn_by(n, step.x),
            Kind::Slide(n) => link.slide_by(n, step.x * self.arm.x),
        }
    }

    fn meet(&mut self, normal: Vec3) {
        // The same limit, further along.
        if let Some(known) = self.active[..self.count].iter_mut().find(|w| w.dot(normal) > 0.7) {
            *known = normal;
        } else if self.count < 3 {
            self.active[self.count] = normal;
            self.count += 1;
        }
    }
}
