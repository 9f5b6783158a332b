//! One step of the whole tree: a pass inward that gathers what is asked, and a pass outward that does it.
//!
//! See [`super::FullBody`] for the mathematics.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{
    active_set::Walls,
    bend::Bend,
    branches::{Branches, NONE, Node, Turns},
    column::{self, Column, Joint, Kind, State},
    cost::{QuadraticCost, Twist, Whole, add, chord, dot, scale, wide},
    couple::Coupling,
    limb::Limb,
    pulls::Pulls,
    reach::Press,
    tasks::{Row, Task},
};
use crate::{Pole, math};

/// What is asked in one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub asks: &'a [Task],
    /// What comes after this priority is left out.
    pub priority: u8,
    /// Of each ask, a way and a turn.
    pub missing: &'a [(Vec3, Vec3)],
    /// Limbs, of which those with a pole are drawn to it.
    pub bends: &'a [Option<Bend>],
    /// Limbs in their soft zones.
    pub presses: &'a [Press],
    pub rows: &'a [Row],
    /// What moves with each joint: its share of the whole mass, and its centre in the joint's orientation.
    pub masses: &'a [(f64, Vec3)],
}

/// No joint turns further than this in one step, as twice the tangent of half the angle: beyond a radian a point's way is
/// no line any more.
const FURTHEST: f64 = 1.0;

/// Where a joint is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// Nothing is asked of it or of what hangs on it.
    Idle,
    /// In this limb.
    Limb(usize),
    /// Where limbs meet, and above.
    Trunk,
}

/// What is kept of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    /// Its columns.
    pub first: usize,
    pub end: usize,
    pub walls: Walls,
    place: Place,
    /// Whether it has a freedom that moves what is asked.
    moves: bool,
    /// How many goals it and what hangs on it have.
    asks: usize,
    turn: [f64; 3],
    /// Of a joint that turns about axes, the rotation for which coordinates and axes are known.
    known: Option<Quat>,
    coordinates: [f32; 3],
    /// Axes as seen from the seat.
    axes: [Vec3; 3],
}

/// Room for the steps of one tree.
#[derive(Clone, Debug)]
pub(super) struct Stepper {
    columns: Vec<Column>,
    bodies: Vec<Body>,
    wholes: Vec<Whole>,
    forms: Vec<QuadraticCost>,
    twists: Vec<Twist>,
    limbs: Vec<Limb>,
    coupling: Coupling,
}

impl Stepper {
    /// `asks`: how many goals there are; `rows`: the most rows that ask several joints at once.
    pub fn new(branches: &Branches, asks: usize, rows: usize) -> Self {
        let (mut columns, mut bodies) = (Vec::new(), Vec::new());
        for n in &branches.nodes {
            let first = columns.len();
            columns.extend(column::kinds(n).map(Column::new));
            bodies.push(Body {
                first,
                end: columns.len(),
                walls: Walls::NONE,
                place: Place::Trunk,
                moves: false,
                asks: 0,
                turn: [0.0; 3],
                known: None,
                coordinates: [0.0; 3],
                axes: [Vec3::ZERO; 3],
            });
        }
        let count = branches.nodes.len();
        Self {
            coupling: Coupling::new(count, columns.len(), rows),
            columns,
            bodies,
            wholes: alloc::vec![Whole::NONE; count],
            forms: alloc::vec![QuadraticCost::ZERO; count],
            twists: alloc::vec![Twist::ZERO; count],
            limbs: Vec::with_capacity(asks),
        }
    }

    /// Forgets the walls, and notes which joints move what is asked. `all`: every joint is to be moved, `coupled`: rows may
    /// ask several joints at once.
    pub fn begin(&mut self, branches: &Branches, asks: &[Task], priority: u8, all: bool, coupled: bool) {
        for body in &mut self.bodies {
            body.walls = Walls { turns: all, slides: all, ..Walls::NONE };
            (body.place, body.asks, body.known) = (Place::Trunk, 0, None);
        }
        for c in &mut self.columns {
            c.state = State::Idle;
        }
        self.limbs.clear();
        for (n, ask) in asks.iter().enumerate() {
            if ask.priority > priority || (ask.place.is_none() && ask.turn.is_none()) {
                continue;
            }
            let body = &mut self.bodies[ask.node];
            body.walls.slides |= ask.place.is_some();
            body.walls.turns |= ask.turn.is_some() || (ask.place.is_some() && ask.lever != Vec3::ZERO);
            body.asks += 1;
            if ask.other != NONE {
                let other = &mut self.bodies[ask.other].walls;
                (other.turns, other.slides) = (true, true);
            } else if ask.place.is_some() && !coupled {
                self.limbs.push(Limb::new(n, ask.node));
            }
        }
        for i in (1..self.bodies.len()).rev() {
            let Body { asks, walls, .. } = self.bodies[i];
            let above = &mut self.bodies[branches.nodes[i].parent];
            above.asks += asks;
            above.walls.turns |= walls.turns || walls.slides;
            above.walls.slides |= walls.turns || walls.slides;
        }
        for (body, node) in self.bodies.iter_mut().zip(&branches.nodes) {
            let Walls { turns, slides, .. } = body.walls;
            body.moves = (turns && node.turns != Turns::Not)
                || (slides && node.slides != [false; 3])
                || node.parent == NONE;
        }
        if !coupled {
            self.find_limbs(branches);
        }
    }

    /// Whether what a joint is asked is gathered by a limb.
    pub fn in_limb(&self, node: usize) -> bool {
        matches!(self.bodies[node].place, Place::Limb(_))
    }

    /// How many limbs there are.
    #[cfg(test)]
    pub fn limbs(&self) -> usize {
        self.bodies
            .iter()
            .zip(0..)
            .filter(|(b, i)| matches!(b.place, Place::Limb(l) if self.limbs[l].top == *i))
            .count()
    }

    fn find_limbs(&mut self, branches: &Branches) {
        for body in &mut self.bodies {
            if body.asks == 0 {
                body.place = Place::Idle;
            }
        }
        for (l, limb) in self.limbs.iter_mut().enumerate() {
            let mut at = limb.end;
            while at != NONE && self.bodies[at].asks == 1 {
                self.bodies[at].place = Place::Limb(l);
                limb.top = at;
                at = branches.nodes[at].parent;
            }
        }
    }

    /// Lets limbs be drawn to their poles until the next beginning: their middle joints bear something as well.
    pub fn bend(&mut self, branches: &Branches, bends: &[Option<Bend>]) {
        for bend in bends.iter().flatten().filter(|b| b.pole != Pole::Keep) {
            let mut at = bend.middle;
            self.bodies[at].walls.slides = true;
            while at != NONE {
                let body = &mut self.bodies[at];
                if at != bend.middle {
                    (body.walls.turns, body.walls.slides) = (true, true);
                }
                body.place = Place::Trunk;
                body.moves = true;
                at = branches.nodes[at].parent;
            }
        }
        // What is left of limbs below begins anew.
        for (l, limb) in self.limbs.iter_mut().enumerate() {
            let mut at = limb.end;
            while at != NONE && self.bodies[at].place == Place::Limb(l) {
                limb.top = at;
                at = branches.nodes[at].parent;
            }
        }
    }

    /// Holds the root's own slides until the next beginning.
    pub fn hold_root(&mut self) {
        self.bodies[0].walls.slides = false;
    }

    /// One step with a damping. Leaves `branches` where it leads; false where there is none to make.
    pub fn step(&mut self, branches: &mut Branches, asked: Asked, damping: f64, pulls: Pulls) -> bool {
        for (body, form) in self.bodies.iter().zip(&mut self.forms) {
            if !matches!(body.place, Place::Limb(_)) {
                *form = QuadraticCost::ZERO;
            }
        }
        for (ask, missing) in asked.asks.iter().zip(asked.missing) {
            let trunk = !matches!(self.bodies[ask.node].place, Place::Limb(_));
            if trunk && ask.other == NONE && ask.priority <= asked.priority {
                ask.add_to(&mut self.forms[ask.node], &branches.frames, *missing);
            }
        }
        if pulls.pole > 0.0 {
            for bend in asked.bends.iter().flatten() {
                bend.add_to(&mut self.forms[bend.middle], &branches.frames, pulls.pole);
            }
        }
        self.inward(branches, asked, damping, pulls);
        if !asked.rows.is_empty() {
            let Self { columns, bodies, wholes, .. } = self;
            self.coupling.add(columns, bodies, wholes, branches, asked.rows, asked.masses);
        }
        let furthest = self.outward(branches);
        if !furthest.is_finite() {
            return false;
        }
        let k = if furthest > FURTHEST { FURTHEST / furthest } else { 1.0 };
        let each = self.bodies.iter_mut().zip(&mut branches.nodes).zip(&branches.frames);
        let mut way = Vec3::ZERO;
        for ((body, node), frame) in each.filter(|((body, _), _)| body.moves) {
            way += body.make(&self.columns, node, frame.seat, k);
        }
        if way != Vec3::ZERO {
            branches.move_root(way);
        }
        true
    }

    /// From the leaves to the root: each joint's freedoms are taken out of what is asked of it, and the rest is asked of
    /// its parent.
    fn inward(&mut self, branches: &Branches, asked: Asked, damping: f64, pulls: Pulls) {
        let moved = if pulls.root.is_some() { branches.root_moved() } else { Vec3::ZERO };
        let at = |j: usize| branches.frames[j].at;
        let Self { columns, bodies, wholes, forms, limbs, .. } = self;
        let each = bodies.iter_mut().zip(wholes).zip(&branches.nodes).zip(&branches.frames);
        for (i, (((body, whole), node), frame)) in each.enumerate().rev() {
            if matches!(node.turns, Turns::Axes(_)) && body.walls.turns && body.known != Some(node.rotation) {
                body.coordinates = node.limits.coordinates(node.rotation);
                (_, body.axes) = node.limits.about_axes(body.coordinates);
                body.known = Some(node.rotation);
            }
            let (seat, moves) = (frame.seat, body.moves);
            let columns = &mut columns[body.first..body.end];
            let joint = Joint { node, seat, columns, whole, walls: &mut body.walls, axes: &body.axes, moved };
            match body.place {
                Place::Limb(l) => {
                    let limb = &mut limbs[l];
                    if limb.end == i {
                        let missing = asked.missing[limb.ask];
                        limb.begin(&asked.asks[limb.ask], &branches.frames, missing, asked.presses);
                    }
                    if moves {
                        limb.reach(frame.at);
                        joint.give(limb, damping, pulls);
                    }
                    limb.gathered(i);
                    if limb.top == i {
                        let point = limb.point;
                        let form = limb.asks();
                        if node.parent != NONE {
                            forms[node.parent].add_from(form, wide(point - at(node.parent)));
                        }
                    }
                }
                Place::Idle if !moves => {}
                Place::Idle => joint.give(&mut forms[i], damping, pulls),
                Place::Trunk => {
                    let (above, below) = forms.split_at_mut(i);
                    if moves {
                        joint.give(&mut below[0], damping, pulls);
                    }
                    if node.parent != NONE {
                        above[node.parent].add_from(&below[0], wide(frame.at - at(node.parent)));
                    }
                }
            }
        }
    }

    /// From the root to the leaves: each freedom does its best for the motion that its body has already. Gives the largest
    /// turn.
    fn outward(&mut self, branches: &Branches) -> f64 {
        let mut furthest = 0.0f64;
        let Self { columns, bodies, wholes, twists, limbs, .. } = self;
        for (i, ((body, node), frame)) in
            bodies.iter_mut().zip(&branches.nodes).zip(&branches.frames).enumerate()
        {
            let carried = |to: Vec3| match node.parent {
                NONE => Twist::ZERO,
                p => twists[p].seen_from(wide(to - branches.frames[p].at)),
            };
            let turned = match body.place {
                Place::Limb(l) => {
                    let limb = &mut limbs[l];
                    if limb.top == i && !limb.carry(&carried(limb.point)) {
                        return f64::NAN;
                    }
                    limb.push_on(i);
                    if !body.moves {
                        continue;
                    }
                    let mut turned = [0.0; 3];
                    // The push is the same on all of a limb's freedoms (but for a soft zone), whatever the others do.
                    let columns = body.columns(columns);
                    for c in columns.iter_mut().filter(|c| c.state == State::Open) {
                        c.step = c.c + c.inverse * c.h.dot(&limb.push);
                        if !c.slides() {
                            turned = add(turned, scale(c.axis, c.step));
                        }
                    }
                    if body.walls.whole {
                        let whole = &wholes[i];
                        turned = add(whole.c, scale(limb.push_at(frame.at), whole.share));
                    }
                    if !columns.is_empty() {
                        body.walls.leave(columns, &limb.push.times(-1.0));
                    }
                    turned
                }
                Place::Idle if !body.moves => continue,
                Place::Idle | Place::Trunk => {
                    let mut x = carried(frame.at);
                    let mut turned = [0.0; 3];
                    let columns = body.columns(columns);
                    // In the order in which they were taken out, backwards.
                    for c in columns.iter_mut().rev().filter(|c| c.state == State::Open) {
                        c.step = c.c - c.inverse * c.h.dot(&x);
                        let way = scale(c.axis, c.step);
                        if c.slides() {
                            x.v = add(x.v, way);
                        } else {
                            x.t = add(x.t, way);
                            turned = add(turned, way);
                        }
                    }
                    if body.walls.whole {
                        turned = wholes[i].turn(&x);
                        x.t = add(x.t, turned);
                    }
                    body.walls.leave(columns, &x);
                    if !x.is_finite() {
                        return f64::NAN;
                    }
                    twists[i] = x;
                    turned
                }
            };
            body.turn = turned;
            furthest = furthest.max(dot(turned, turned));
        }
        crate::math64::sqrt(furthest)
    }
}

impl Body {
    /// Its columns, without those of turns among walls where no wall is.
    fn columns<'a>(&self, all: &'a mut [Column]) -> &'a mut [Column] {
        let first = if self.walls.whole { self.first + 6 } else { self.first };
        &mut all[first..self.end]
    }

    /// Turns and slides the joint by `k` of its step, within its limits, and notes the walls that it meets. Gives the way of
    /// the root's place.
    #[inline]
    fn make(&mut self, columns: &[Column], node: &mut Node, seat: Quat, k: f64) -> Vec3 {
        let mut columns = &columns[self.first..self.end];
        if node.turns == Turns::Whole && self.walls.turns {
            let [x, y, z] = scale(self.turn, k);
            let step = Vec3::new(x as f32, y as f32, z as f32);
            if step != Vec3::ZERO {
                let t = 0.5 * math::rotate(math::conjugate(seat), step);
                // Cayley's map, brought to length one with the product.
                let by = Quat::from_xyzw(t.x, t.y, t.z, 1.0);
                let wanted = math::normalize(math::mul(by, node.rotation));
                let next = node.no_further(node.limits.clamp(wanted));
                node.rotation = next;
                if next != wanted {
                    // What the limit took: the turn from where the joint is to where it wanted to be.
                    let taken = chord(math::mul(wanted, math::conjugate(next)));
                    let size = math::sqrt(taken.length_squared());
                    // Less than this is what is clamped off an arc along the wall, not the wall's direction.
                    if size > 0.02 * math::sqrt(step.length_squared()) + 1e-7 {
                        self.walls.meet(taken / size);
                    }
                }
            }
            columns = &columns[6..];
        }
        let mut to = None;
        let mut way = Vec3::ZERO;
        for c in columns.iter().filter(|c| c.state == State::Open) {
            let by = (k * c.step) as f32;
            match c.kind {
                Kind::Angle(n) => to.get_or_insert(self.coordinates)[n] = self.coordinates[n] + by,
                Kind::Slide(n) => {
                    // In the seat's units.
                    let (size, by) = (node.unit.abs(), by / node.unit.abs());
                    let from = node.limits.slide_of(node.offset)[n];
                    let to = node.limits.slide_step(n, from, from + by);
                    node.slide_to(n, to);
                    self.walls.stop(3 + n, by, (to - from - by) * size);
                }
                Kind::Place(n) => way[n] = by,
                Kind::Free | Kind::Into(_) => {}
            }
        }
        if let Some(to) = to {
            let from = self.coordinates;
            let mut next = node.limits.step_coordinates(from, to);
            let (wanted, axes) = node.limits.about_axes(next);
            node.rotation = node.no_further(wanted);
            self.axes = axes;
            if node.rotation != wanted {
                let kept = node.rotation;
                next = node.limits.coordinates(kept);
                (node.rotation, self.axes) = node.limits.about_axes(next);
                // Next to a pole what f32 makes of the angles may be another turn, and a further one.
                if node.no_further(node.rotation) != node.rotation {
                    node.rotation = kept;
                }
            }
            (self.known, self.coordinates) = (Some(node.rotation), next);
            for n in 0..3 {
                self.walls.stop(n, to[n] - from[n], next[n] - to[n]);
            }
        }
        way
    }
}
