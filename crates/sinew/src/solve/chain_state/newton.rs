//! Damped least-squares steps on a whole chain within its limits.
//!
//! r is the residual (the displacement to the goal and, if the goal has a rotation, the turn to it), and J its Jacobian
//! in the joints. The step J^T y with (J J^T + mu) y = r is the smallest of all steps that remove most of r (Wampler
//! 1986). The matrix has three rows, or six with a rotation, however long the chain. A free joint or a ball contributes
//! three columns about any three axes, so that no Euler angles are needed. The damping mu is the squared residual
//! (Sugihara 2011) times a factor, first 1, that a failed step raises. Steps are therefore cautious far from the goal and
//! approach Newton's nearby.
//!
//! Every step respects the limits and each joint's maximum turn from its input. A single coordinate knows its room, and
//! stops at its end: it is in the active set, and the others' shares are recomputed for the remaining residual, until
//! none exceeds its room. It leaves as soon as its part in y points inward (the sign of the constraint's multiplier). A
//! joint that turns every way is clamped to its limits instead, and the limits that took a part of its step stop the next
//! ones until their parts in y point inward ([`Normals`]). So the active set settles in a few steps, and the other joints
//! converge fast.
//!
//! Joints that turn about axes step in their coordinates: a rotation is built from them, and never decomposed. A ball
//! steps by Cayley's map, without trigonometry: the rotation with the quaternion (v / 2, 1) / |(v / 2, 1)| turns about v
//! by 2 atan(|v| / 2). A step needs one walk up the chain, which measures the residual, and one walk down.

mod prefer;
mod settle;

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{Ask, ChainState, IN_ALL, Kind, Link, NO_MORE, PIECES, Part, signs};
use crate::{
    joint::Coordinates,
    math,
    solve::{
        cholesky::cholesky_of,
        descent::{Descent, Measured, Patience},
        eases::Eases,
        iterate::Trace,
        normals::Normals,
    },
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
    /// Derivatives of the end's position and of half the tip's rotation by a single coordinate.
    motion: (Vec3, Vec3),
    /// Active set of a joint that turns every way.
    active: Normals,
    /// Active set before the step.
    known: Normals,
    /// Unit vectors that span the turns that no active limit blocks, padded with zero vectors.
    open: [Vec3; 3],
    /// Room of a single coordinate: how far down and up a step may take it, by its range and the maximum turn.
    room: [f32; 2],
    /// End of the room at which a coordinate is held.
    held: Option<usize>,
    /// Input value of a single angle, in radians.
    input: f32,
    /// Weight of the part in a step.
    weight: f32,
    /// Whether a joint that turns every way steps along `open` although no limit is active: ease weighs the vectors.
    eased: bool,
    /// Gradient of a secondary objective: of a single coordinate in x, or of turns.
    pull: Vec3,
    /// The step.
    step: Vec3,
}

/// State of one joint between steps, so that no step decomposes a rotation or walks the chain twice.
#[derive(Clone, Copy, Debug, Default)]
struct Joint {
    /// Vector from the joint to the end in the pre-rotation frame.
    reach: Vec3,
    /// Coordinates, and the axis of each in the pre-rotation frame, of a joint that turns about axes.
    at: Coordinates,
    axes: [Vec3; 3],
    /// Whether a step has changed the coordinates, and the rotation not yet.
    moved: bool,
}

/// The frame in which columns are: that of the root's parent, turned but not scaled.
#[derive(Clone, Copy, Debug, Default)]
struct Base {
    /// The task in the frame.
    place: Vec3,
    turn: Option<Quat>,
    /// Signed size of the root's pre-rotation frame.
    unit: f32,
}

/// Buffers of the steps of a chain.
#[derive(Debug, Default)]
pub(crate) struct Newton {
    columns: Vec<Column>,
    joints: Vec<Joint>,
    base: Base,
    descent: Descent,
    /// The residual as the steps take it; see [`Newton::see`].
    residual: (Vec3, Option<Vec3>),
    /// Whether the chain moved since the columns and the residual were measured.
    moved: bool,
    kept: Vec<(Quat, Vec3)>,
    kept_joints: Vec<Joint>,
    /// State of each column in [`Newton::settle`].
    parts: Vec<settle::Part>,
    /// Whether steps account for the curvature of a joint's circle away from the goal.
    curved: bool,
    /// Whether joints ease or are stiff.
    pub weighs: bool,
    /// Number of slow steps of a descent in which joints ease or are stiff. Each takes the root of all weights, so that
    /// resistance fades where it stands in the way of a goal.
    slow_steps: u32,
    /// Whether undoing a step also undoes its changes to the active set. Sweeps continue where it does not.
    forgets: bool,
}

/// Maximum turn of a joint in one step, in radians. The linearisation of the end's path fails beyond 1 rad.
const FURTHEST: f32 = 0.8;

/// Damping of the first step of a chain whose turns are bounded, as a factor of the squared residual. With 1, single frames
/// of ten bounded hinges stop 6.6 mm short of what a descent reaches (`tests/largest_turn.rs`).
const BOUNDED: f64 = 0.1;

/// Share of the residual above which a step was slow, and the next one accounts for curvature. Chains of ten cones and
/// hinges need 3 to 4 % more steps with 0.5.
const SLOW: f64 = 0.9;

/// Share of a ball's step that a limit must take to be active. With 0.02, a ball that glides along its cone stays held, and
/// solves of ten cones take 5 % longer.
const TAKEN: f32 = 0.1;

/// Maximum number of passes for one step, each without the coordinates at an end of their room. Those that reach one in
/// the last pass stop there until the next step. With a single pass, twice as many frames of chains of ten hinges whose
/// goals are out of reach jump.
const PASSES: u32 = 6;

impl Newton {
    /// Prepares for a chain, with parts in the order of its links.
    pub fn begin(&mut self, parts: &[Part], links: usize, forgets: bool) {
        self.forgets = forgets;
        self.kept.clear();
        self.kept.reserve(links);
        self.kept_joints.clear();
        self.kept_joints.reserve(links);
        self.joints.resize(links, Joint::default());
        let same = |(c, part): (&Column, &Part)| c.part == *part;
        if self.columns.len() == parts.len() && self.columns.iter().zip(parts).all(same) {
            return;
        }
        self.columns.clear();
        self.columns.extend(parts.iter().map(|&part| Column { part, ..Column::default() }));
        self.parts.clear();
        self.parts.resize(parts.len(), settle::Part::default());
    }

    /// Reads the state of every joint, for a task.
    fn load(&mut self, links: &ChainState, ask: &Ask) {
        let (place, turn) = links.inside(ask.place, ask.turn);
        self.base = Base { place, turn, unit: links.unit() };
        let mut known = None;
        for c in &mut self.columns {
            if matches!(c.part.kind, Kind::Angle(_)) && known != Some(c.part.link) {
                known = Some(c.part.link);
                let link = &links.links[c.part.link];
                let joint = &mut self.joints[c.part.link];
                joint.at = link.limits.coordinates_within(link.rotation);
                joint.axes = link.limits.turn_axes(joint.at);
            }
        }
    }

    /// Reads the state of every joint for a descent, without active limits.
    fn prepare(&mut self, links: &ChainState, ask: &Ask) {
        self.load(links, ask);
        for c in &mut self.columns {
            (c.active, c.held, c.input, c.eased) = (Normals::default(), None, 0.0, false);
            let link = &links.links[c.part.link];
            if let (Kind::Angle(n), true) = (c.part.kind, link.max_turn.is_finite()) {
                c.input = link.limits.coordinates(link.input.0)[n];
            }
        }
    }

    /// Saves the state before a step.
    fn keep(&mut self, links: &ChainState) {
        links.keep(&mut self.kept);
        self.kept_joints.clone_from(&self.joints);
    }

    /// Restores the state before a step.
    fn put(&mut self, links: &mut ChainState) {
        links.put(&self.kept);
        self.joints.clone_from(&self.kept_joints);
    }

    /// Measures the residual ([`ChainState::measure`]), and each joint's vector to the end.
    fn measure(&mut self, links: &ChainState, ask: &Ask) -> (f32, f32) {
        let mut arm = links.tip_arm();
        let mut below: Option<&Link> = None;
        for (link, joint) in links.links.iter().zip(&mut self.joints).rev() {
            if let Some(child) = below {
                arm = link.scale * (child.offset + arm);
            }
            arm = math::rotate(link.rotation, arm);
            joint.reach = arm;
            below = Some(link);
        }
        links.measure_from(ask, arm)
    }

    /// Steps until the task is met, `max_steps` steps are made or no step reduces the residual. Never increases the
    /// residual. Returns the number of steps.
    pub fn run(&mut self, links: &mut ChainState, ask: &Ask, max_steps: u32, trace: &mut Trace) -> u32 {
        let left = self.measure(links, ask);
        if max_steps == 0 || ask.met(left) || trace.stopped() {
            return 0;
        }
        (self.curved, self.slow_steps) = (false, 0);
        self.prepare(links, ask);
        // A bound on turns keeps steps short, where the linear model holds.
        let bounded = links.links.iter().any(|l| l.max_turn.is_finite());
        self.descent = Descent::new(measured(ask, left), if bounded { BOUNDED } else { 1.0 });
        self.moved = true;
        self.resume(links, ask, max_steps, trace)
    }

    /// Continues [`Newton::run`] from where it ended.
    pub fn resume(&mut self, links: &mut ChainState, ask: &Ask, max_steps: u32, trace: &mut Trace) -> u32 {
        let mut descent = self.descent;
        let step = |(newton, links): &mut (&mut Self, &mut ChainState), factor, cost| {
            if trace.stopped() {
                return None;
            }
            if newton.moved {
                newton.residual = newton.see(links, ask);
            }
            newton.keep(links);
            if newton.forgets {
                newton.columns.iter_mut().for_each(|c| c.known = c.active);
            }
            if !newton.step::<false>(links, newton.residual, factor as f32) {
                return None;
            }
            newton.moved = true;
            let now = measured(ask, newton.measure(links, ask));
            trace.step(links, factor as f32, now.cost < cost);
            newton.curved = now.cost > SLOW * cost;
            newton.slow_steps += u32::from(newton.curved);
            Some(now)
        };
        let undo = |(newton, links): &mut (&mut Self, &mut ChainState)| {
            newton.put(links);
            if newton.forgets {
                newton.columns.iter_mut().for_each(|c| c.active = c.known);
            }
            // The columns are still those of this state.
            newton.moved = false;
        };
        let steps = descent.run(&mut (&mut *self, links), max_steps, Patience::CHAIN, step, undo);
        self.descent = descent;
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

    /// Updates every column from the joints' state; see [`Newton::measure`]. Returns the residual: the displacement in
    /// chain lengths, and the turn in half radians.
    fn see(&mut self, links: &ChainState, ask: &Ask) -> (Vec3, Option<Vec3>) {
        let size = 2.0 * ask.radian;
        let per_size = 1.0 / size;
        let (mut orientation, mut unit) = (Quat::IDENTITY, self.base.unit);
        let end = (links.links[0].offset + self.joints[0].reach) * unit;
        let mut columns = self.columns.iter_mut().peekable();
        for (n, (link, joint)) in links.links.iter().zip(&self.joints).enumerate() {
            let arm = math::rotate(orientation, joint.reach) * (unit * per_size);
            // A joint that turns about single axes has up to three columns.
            while let Some(c) = columns.next_if(|c| c.part.link == n) {
                c.frame = orientation;
                c.arm = arm;
                match c.part.kind {
                    Kind::Whole => {}
                    Kind::Angle(k) => {
                        c.axis = math::rotate(orientation, joint.axes[k]);
                        c.motion = (c.axis.cross(arm), c.axis * 0.5);
                        c.room = link.limits.angle_room(k, joint.at[k], c.input, link.max_turn);
                    }
                    Kind::Slide(k) => {
                        c.axis = Vec3::ZERO;
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
                        c.motion = (c.axis, Vec3::ZERO);
                    }
                }
            }
            orientation = math::mul(orientation, link.rotation);
            if link.scale.is_negative_bitmask() != 0 {
                orientation = math::mul(orientation, signs(link.scale));
            }
            unit = link.unit_below(unit);
        }
        let off = (self.base.place - end) / size;
        let spin =
            self.base.turn.map(|t| math::rotation_vector(math::mul(t, math::conjugate(orientation))) * 0.5);
        (off, spin)
    }

    /// Makes one step, with the columns' pulls if `PULLS`. Returns false if there is none.
    fn step<const PULLS: bool>(
        &mut self,
        links: &mut ChainState,
        (off, spin): (Vec3, Option<Vec3>),
        factor: f32,
    ) -> bool {
        match spin {
            Some(spin) => {
                self.step_by::<6, PULLS>(links, [off.x, off.y, off.z, spin.x, spin.y, spin.z], factor)
            }
            None => self.step_by::<3, PULLS>(links, off.to_array(), factor),
        }
    }

    /// [`Newton::step`] for a residual of 3 rows (a position) or 6 (and a rotation).
    fn step_by<const ROWS: usize, const PULLS: bool>(
        &mut self,
        links: &mut ChainState,
        residual: [f32; ROWS],
        factor: f32,
    ) -> bool {
        let off = Vec3::new(residual[0], residual[1], residual[2]);
        // The floor is needed in f32 if the chain cannot move in some direction at all.
        let mut mu = factor * residual.iter().map(|x| x * x).sum::<f32>() + 1e-9;
        for c in self.columns.iter_mut() {
            c.weight = 1.0;
            if self.curved && !matches!(c.part.kind, Kind::Slide(_)) {
                let bent = off.dot(c.arm) - off.dot(c.axis) * c.arm.dot(c.axis);
                c.weight = mu / (mu + bent.max(0.0));
            }
            if !c.active.is_empty() {
                c.open = c.active.free_axes(c.frame, None);
            }
            // A held coordinate still at its end stays held, until it wants to leave.
            c.held = c.held.filter(|&side| c.room[side].abs() < 1e-6);
        }
        if self.weighs {
            mu *= self.weigh::<ROWS, PULLS>(links, residual);
        }
        let mut furthest = 0.0;
        for pass in 0..PASSES {
            let Some(y) = self.multipliers::<ROWS, PULLS>(residual, mu) else { return false };
            let again;
            (again, furthest) = self.share::<ROWS, PULLS>(y, pass);
            if !again {
                break;
            }
        }
        let k = if furthest > FURTHEST { FURTHEST / furthest } else { 1.0 };
        for c in self.columns.iter_mut() {
            c.make(links, &mut self.joints, k);
        }
        self.turn(links);
        true
    }

    /// Weighs the columns by the resistance of their joints; see [`crate::joint::Limits::angle_ease`]. The gradient of the
    /// residual stands for the direction of the step. Returns the largest weight: damping counts relative to it, so that a
    /// chain of stiff joints moves as one without stiffness.
    #[cold]
    fn weigh<const ROWS: usize, const PULLS: bool>(
        &mut self,
        links: &ChainState,
        residual: [f32; ROWS],
    ) -> f32 {
        let off = Vec3::new(residual[0], residual[1], residual[2]);
        let spin = if ROWS == 6 { Vec3::new(residual[3], residual[4], residual[5]) } else { Vec3::ZERO };
        let mut largest = 0.0f32;
        for c in &mut self.columns {
            let link = &links.links[c.part.link];
            let slope = match c.part.kind {
                _ if PULLS => c.pull,
                Kind::Whole => c.arm.cross(off) + spin * 0.5,
                _ => Vec3::X * (c.motion.0.dot(off) + c.motion.1.dot(spin)),
            };
            let up = slope.x > 0.0;
            let weight = match c.part.kind {
                Kind::Whole => {
                    c.ease(Eases::new(&link.limits, link.rotation, c.frame, slope));
                    1.0
                }
                Kind::Angle(n) => link.limits.angle_ease(n, self.joints[c.part.link].at[n], up),
                Kind::Slide(n) => link.limits.slide_ease(n, link.limits.slide_of(link.offset)[n], up),
            } * c.part.weight;
            let weight = (0..self.slow_steps).fold(weight, |w, _| math::sqrt(w));
            c.weight *= weight;
            largest = largest.max(weight);
        }
        if largest > 0.0 { largest } else { 1.0 }
    }

    /// Solves for the multipliers y of all columns that are not held.
    fn multipliers<const ROWS: usize, const PULLS: bool>(
        &self,
        residual: [f32; ROWS],
        mu: f32,
    ) -> Option<[f32; ROWS]> {
        let mut m = [[0.0f64; ROWS]; ROWS];
        let mut rest = residual;
        for c in &self.columns {
            match (c.part.kind, c.held) {
                (Kind::Whole, _) if c.active.is_empty() && !c.eased => add_all(&mut m, c.arm, c.weight),
                (Kind::Whole, _) => {
                    for axis in c.open {
                        if axis != Vec3::ZERO {
                            add(&mut m, (axis.cross(c.arm), axis * 0.5), c.weight);
                        }
                    }
                }
                (_, None) => add(&mut m, c.motion, c.weight),
                (_, Some(side)) => {
                    let motion: [f32; ROWS] = rows(c.motion);
                    for (rest, by) in rest.iter_mut().zip(motion) {
                        *rest -= by * c.room[side];
                    }
                }
            }
        }
        if PULLS {
            for c in self.columns.iter().filter(|c| c.held.is_none()) {
                let motion = match c.part.kind {
                    Kind::Whole => {
                        let turn = c.within(c.pull * c.weight);
                        (turn.cross(c.arm), turn * 0.5)
                    }
                    _ => (c.motion.0 * (c.pull.x * c.weight), c.motion.1 * (c.pull.x * c.weight)),
                };
                for (rest, by) in rest.iter_mut().zip(rows::<ROWS>(motion)) {
                    *rest -= by;
                }
            }
        }
        for (a, row) in m.iter_mut().enumerate() {
            row[a] += f64::from(mu);
        }
        let mut y = rest.map(f64::from);
        cholesky_of(&mut m, &mut y).then(|| y.map(|x| x as f32))
    }

    /// Distributes the step to the columns, and updates the active set by the signs of its multipliers. Returns whether it
    /// changed, and the largest turn in radians.
    fn share<const ROWS: usize, const PULLS: bool>(&mut self, y: [f32; ROWS], pass: u32) -> (bool, f32) {
        let yp = Vec3::new(y[0], y[1], y[2]);
        let yr = if ROWS == 6 { Vec3::new(y[3], y[4], y[5]) } else { Vec3::ZERO };
        // The largest turn, squared.
        let (mut again, mut furthest) = (false, 0.0f32);
        for c in self.columns.iter_mut() {
            match c.part.kind {
                Kind::Whole => {
                    let mut whole = c.arm.cross(yp) + yr * 0.5;
                    if PULLS {
                        whole += c.pull;
                    }
                    whole *= c.weight;
                    c.step = c.within(whole);
                    if !c.active.is_empty() {
                        // The joint wants to leave its limit. It is free from the next step on.
                        let frame = c.frame;
                        c.active.release(|_, normal| whole.dot(math::rotate(frame, normal)) < 0.0);
                    }
                    furthest = furthest.max(c.step.length_squared());
                }
                Kind::Angle(_) | Kind::Slide(_) => {
                    let (p, r) = c.motion;
                    let mut along = if ROWS == 6 { p.dot(yp) + r.dot(yr) } else { p.dot(yp) };
                    if PULLS {
                        along += c.pull.x;
                    }
                    let by = c.weight * along;
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
                    let step = c.held.map_or(by.clamp(low, high), |side| c.room[side]);
                    c.step = Vec3::new(step, 0.0, 0.0);
                    if !matches!(c.part.kind, Kind::Slide(_)) {
                        furthest = furthest.max(step * step);
                    }
                }
            }
        }
        (again, math::sqrt(furthest))
    }

    /// Turns the joints whose coordinates have changed, as far as their maximum turn allows.
    fn turn(&mut self, links: &mut ChainState) {
        for (link, joint) in links.links.iter_mut().zip(&mut self.joints) {
            if !joint.moved {
                continue;
            }
            joint.moved = false;
            let wanted = link.limits.turned(joint.at, &mut joint.axes);
            link.rotation = link.no_further(wanted);
            // Several angles of one joint may exceed the maximum turn together although none does alone.
            if link.rotation != wanted {
                joint.at = link.limits.coordinates_within(link.rotation);
                joint.axes = link.limits.turn_axes(joint.at);
            }
        }
    }
}

fn measured(ask: &Ask, left: (f32, f32)) -> Measured {
    Measured { cost: ask.cost(left).into(), met: ask.met(left) }
}

/// The rows of a motion: of the position, and of half the rotation if there are six.
fn rows<const ROWS: usize>((p, r): (Vec3, Vec3)) -> [f32; ROWS] {
    let all = [p.x, p.y, p.z, r.x, r.y, r.z];
    core::array::from_fn(|n| all[n])
}

/// Adds the square of one motion to the lower half of the matrix.
fn add<const ROWS: usize>(m: &mut [[f64; ROWS]; ROWS], motion: (Vec3, Vec3), weight: f32) {
    let c = rows::<ROWS>(motion).map(f64::from);
    let weight = f64::from(weight);
    for a in 0..ROWS {
        let weighed = weight * c[a];
        for b in 0..=a {
            m[a][b] += weighed * c[b];
        }
    }
}

/// Adds the squares of the motions about any three perpendicular axes: with the arm e, |e|^2 - e e^T for positions, a
/// quarter for rotations, and half of e's cross-product matrix between them.
fn add_all<const ROWS: usize>(m: &mut [[f64; ROWS]; ROWS], arm: Vec3, weight: f32) {
    let e = arm.as_dvec3().to_array();
    let weight = f64::from(weight);
    let square = weight * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    for a in 0..3 {
        let weighed = weight * e[a];
        for b in 0..=a {
            m[a][b] -= weighed * e[b];
        }
        m[a][a] += square;
    }
    if ROWS == 6 {
        let half = 0.5 * weight;
        // Sum of (a x e) (a / 2)^T over the axes a, transposed.
        let [x, y, z] = e.map(|c| half * c);
        m[3][1] -= z;
        m[3][2] += y;
        m[4][0] += z;
        m[4][2] -= x;
        m[5][0] -= y;
        m[5][1] += x;
        for (k, row) in m.iter_mut().enumerate().skip(3) {
            row[k] += 0.25 * weight;
        }
    }
}

impl Column {
    /// Sets `open` for a ball that eases. The axis a of a turn with the weight w is sqrt(w) a: its square adds w a a^T to the
    /// weights of all turns.
    fn ease(&mut self, eases: Option<Eases>) {
        self.eased = eases.is_some();
        if let Some(eases) = eases {
            let axes = self.active.free_axes(self.frame, Some(&eases));
            self.open = axes.map(|axis| axis * math::sqrt(eases.weight(axis)));
        }
    }

    /// The part of a turn that active limits leave, and ease.
    #[inline]
    fn within(&self, turn: Vec3) -> Vec3 {
        if self.active.is_empty() && !self.eased {
            return turn;
        }
        self.open.iter().map(|&open| open * open.dot(turn)).sum()
    }

    /// Applies `k` of the step, and adds a limit that was met to the active set.
    fn make(&mut self, links: &mut ChainState, joints: &mut [Joint], k: f32) {
        let step = self.step * k;
        if step == Vec3::ZERO {
            return;
        }
        let link = &mut links.links[self.part.link];
        match self.part.kind {
            Kind::Whole => {
                let half = math::rotate(math::conjugate(self.frame), step * 0.5);
                let turn = Quat::from_xyzw(half.x, half.y, half.z, 1.0);
                let wanted = math::normalize(math::mul(turn, link.rotation));
                let next = link.no_further(link.limits.clamp(wanted));
                link.rotation = next;
                self.active.add(wanted, next, TAKEN * math::sqrt(step.length_squared()));
            }
            Kind::Angle(n) => {
                let joint = &mut joints[self.part.link];
                joint.at[n] = link.limits.stepped(n, joint.at[n], step.x);
                joint.moved = true;
            }
            Kind::Slide(n) => link.slide_by(n, step.x * self.arm.x),
        }
    }
}
