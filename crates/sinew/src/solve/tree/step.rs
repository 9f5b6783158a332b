//! One step of the whole tree: a pass inward that gathers what is asked, and a pass outward that does it.
//!
//! See [`super::Tree`] for the mathematics.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    asks::{Ask, Pushed, Row},
    branches::{Branches, NONE, Turns},
    form::{Form, Twist, Whole, add, chord, dot, scale, turn, wide},
};
use crate::math;

/// What a freedom does in this step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Nothing: what it would move is asked for nothing.
    Idle,
    Open,
    /// It rests at a wall.
    Wall,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A turn of a joint that turns as a whole and has met walls, about an axis that none of them stops.
    Free,
    /// The same into a wall: which one.
    Into(usize),
    /// A coordinate of a joint that turns about axes.
    Angle(usize),
    /// A slide along an axis of the rest frame.
    Slide(usize),
    /// The root's place, along an axis of model space.
    Place(usize),
}

/// One freedom of the tree.
#[derive(Clone, Copy, Debug)]
struct Column {
    kind: Kind,
    state: State,
    /// Axis of the turn or direction of the slide, a unit vector in model space (longer or shorter for slides).
    axis: [f64; 3],
    /// M s, before it was taken out.
    h: Twist,
    /// One over s'Ms and the damping.
    inverse: f64,
    /// Its own motion while the body stands; for a wall, the push into it while the body stands.
    c: f64,
    step: f64,
}

impl Column {
    fn slides(&self) -> bool {
        matches!(self.kind, Kind::Slide(_) | Kind::Place(_))
    }
}

/// What a joint has met.
#[derive(Clone, Copy, Debug)]
struct Walls {
    /// Normals, seen from the seat.
    normals: [Vec3; 3],
    count: usize,
    /// For single coordinates: the side on which each is stopped, 0 for none (turns, then slides).
    sides: [f32; 6],
    /// Whether a turn, or a slide, of the joint moves anything that is asked for something.
    turns: bool,
    slides: bool,
    /// Coordinates of a joint that turns about axes, at the step's beginning.
    here: [f32; 3],
    /// Whether it turns as a whole and no wall stops it.
    whole: bool,
}

/// What draws joints where goals do not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pulls {
    /// How strongly joints are drawn to their rest.
    pub posture: f64,
    /// How strongly the root is drawn to where it came in; none: it stays there.
    pub root: Option<f64>,
}

impl Pulls {
    /// The same so much as strong.
    pub fn times(self, k: f64) -> Self {
        Self { posture: k * self.posture, root: self.root.map(|s| k * s) }
    }

    /// Whether anything is drawn at all.
    pub fn draw(self) -> bool {
        self.posture > 0.0 || self.root.is_some_and(|s| s > 0.0)
    }
}

/// What is asked in one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub asks: &'a [Ask],
    /// What comes after this priority is left out.
    pub priority: u8,
    /// Of each ask, a way and a turn.
    pub missing: &'a [(Vec3, Vec3)],
    pub rows: &'a [Row],
    /// What moves with each joint: its share of the whole mass, and its centre in the joint's orientation.
    pub masses: &'a [(f64, Vec3)],
}

/// No joint turns further than this in one step, as twice the tangent of half the angle: beyond a radian a point's way is
/// no line any more.
const FURTHEST: f64 = 1.0;

/// Room for the steps of one tree.
#[derive(Clone, Debug)]
pub(super) struct Stepper {
    columns: Vec<Column>,
    /// Of each node, its columns.
    of: Vec<(usize, usize)>,
    walls: Vec<Walls>,
    wholes: Vec<Whole>,
    turns: Vec<[f64; 3]>,
    forms: Vec<Form>,
    twists: Vec<Twist>,
    /// Pushes of one row on every node.
    pushes: Vec<Twist>,
    /// The columns' own motions for each row, a row after the other.
    shares: Vec<f64>,
    /// The same of joints that turn as a whole, with the push on each.
    whole_shares: Vec<([f64; 3], [f64; 3])>,
    /// Left side, lower half, and right side of what the rows weigh.
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Stepper {
    /// `rows`: the most rows that ask several joints at once.
    pub fn new(branches: &Branches, rows: usize) -> Self {
        let (mut columns, mut of) = (Vec::new(), Vec::new());
        for n in &branches.nodes {
            let first = columns.len();
            let mut add = |kind| {
                columns.push(Column {
                    kind,
                    state: State::Idle,
                    axis: [0.0; 3],
                    h: Twist::ZERO,
                    inverse: 0.0,
                    c: 0.0,
                    step: 0.0,
                });
            };
            match n.turns {
                Turns::Not => {}
                Turns::Whole => {
                    (0..3).for_each(|_| add(Kind::Free));
                    (0..3).for_each(|k| add(Kind::Into(k)));
                }
                Turns::Axes(on) => (0..3).filter(|&k| on[k]).for_each(|k| add(Kind::Angle(k))),
            }
            (0..3).filter(|&k| n.slides[k]).for_each(|k| add(Kind::Slide(k)));
            if n.parent == NONE {
                (0..3).for_each(|k| add(Kind::Place(k)));
            }
            of.push((first, columns.len()));
        }
        let count = branches.nodes.len();
        let walls = Walls {
            normals: [Vec3::ZERO; 3],
            count: 0,
            sides: [0.0; 6],
            turns: false,
            slides: false,
            whole: false,
            here: [0.0; 3],
        };
        Self {
            shares: alloc::vec![0.0; rows * columns.len()],
            whole_shares: alloc::vec![([0.0; 3], [0.0; 3]); rows * count],
            wholes: alloc::vec![Whole::NONE; count],
            turns: alloc::vec![[0.0; 3]; count],
            columns,
            of,
            walls: alloc::vec![walls; count],
            forms: alloc::vec![Form::ZERO; count],
            twists: alloc::vec![Twist::ZERO; count],
            pushes: alloc::vec![Twist::ZERO; if rows > 0 { count } else { 0 }],
            left: alloc::vec![0.0; rows * rows],
            right: alloc::vec![0.0; rows],
        }
    }

    /// Forgets the walls, and notes which joints move what is asked.
    pub fn begin(&mut self, branches: &Branches, asks: &[Ask], priority: u8, all: bool) {
        for w in &mut self.walls {
            (w.count, w.sides) = (0, [0.0; 6]);
            (w.turns, w.slides) = (all, all);
        }
        let any = |a: &&Ask| a.priority <= priority && (a.place.is_some() || a.turn.is_some());
        for ask in asks.iter().filter(any) {
            let on = &mut self.walls[ask.node];
            on.slides |= ask.place.is_some();
            on.turns |= ask.turn.is_some() || (ask.place.is_some() && ask.lever != Vec3::ZERO);
            if ask.other != NONE {
                let on = &mut self.walls[ask.other];
                (on.turns, on.slides) = (true, true);
            }
        }
        for i in (1..self.walls.len()).rev() {
            let any = self.walls[i].turns || self.walls[i].slides;
            let above = &mut self.walls[branches.nodes[i].parent];
            above.turns |= any;
            above.slides |= any;
        }
    }

    /// Holds the root's own slides until the next beginning.
    pub fn hold_root(&mut self) {
        self.walls[0].slides = false;
    }

    /// One step with a damping. Leaves `branches` where it leads; false where there is none to make.
    pub fn step(&mut self, branches: &mut Branches, asked: Asked, damping: f64, pulls: Pulls) -> bool {
        let Asked { asks, priority, missing, rows, masses } = asked;
        for form in &mut self.forms {
            *form = Form::ZERO;
        }
        for (ask, missing) in asks.iter().zip(missing) {
            if ask.other == NONE && ask.priority <= priority {
                ask.add_to(&mut self.forms[ask.node], &branches.frames, *missing);
            }
        }
        self.inward(branches, damping, pulls);
        if !rows.is_empty() {
            self.couple(branches, rows, masses);
        }
        let furthest = self.outward(branches);
        if !furthest.is_finite() {
            return false;
        }
        let k = if furthest > FURTHEST { FURTHEST / furthest } else { 1.0 };
        for i in 0..self.of.len() {
            self.make(branches, i, k);
        }
        true
    }

    /// From the leaves to the root: each joint's freedoms are taken out of what is asked of it, and the rest is asked of
    /// its parent.
    fn inward(&mut self, branches: &Branches, damping: f64, pulls: Pulls) {
        for i in (0..branches.nodes.len()).rev() {
            let node = &branches.nodes[i];
            let frame = &branches.frames[i];
            let (above, below) = self.forms.split_at_mut(i);
            let form = &mut below[0];
            let (first, end) = self.of[i];
            let columns = &mut self.columns[first..end];
            let (whole, columns) = columns.split_at_mut(if node.turns == Turns::Whole { 6 } else { 0 });
            let walls = &mut self.walls[i];
            walls.whole = false;
            for c in whole.iter_mut() {
                c.state = State::Idle;
            }
            if !whole.is_empty() && walls.turns {
                let pull = if pulls.posture > 0.0 {
                    let off = chord(math::mul(node.rest, math::conjugate(node.rotation)));
                    scale(wide(math::rotate(frame.seat, off)), pulls.posture)
                } else {
                    [0.0; 3]
                };
                if walls.count == 0 {
                    walls.whole = true;
                    self.wholes[i] = form.take_whole(damping + pulls.posture, pull);
                } else {
                    take_among_walls(whole, form, walls, frame.seat, damping + pulls.posture, pull);
                }
            }
            let here = if matches!(node.turns, Turns::Axes(_)) && walls.turns {
                node.limits.coordinates(node.rotation)
            } else {
                [0.0; 3]
            };
            walls.here = here;
            // Those that rest at walls first, as they feel all that is asked of the body.
            for stopped in [true, false] {
                for c in columns.iter_mut() {
                    let (on, side) = match c.kind {
                        Kind::Angle(k) => (walls.turns, walls.sides[k]),
                        Kind::Slide(k) => (walls.slides, walls.sides[3 + k]),
                        Kind::Place(_) => (pulls.root.is_some(), 0.0),
                        Kind::Free | Kind::Into(_) => (false, 0.0),
                    };
                    if (side != 0.0) != stopped {
                        continue;
                    }
                    let axis = match c.kind {
                        Kind::Angle(k) if on => node.limits.turn_axis(k, here),
                        Kind::Slide(k) if on => node.limits.slide_axis(k),
                        Kind::Place(k) if on => Some(Vec3::AXES[k]),
                        _ => None,
                    };
                    let Some(axis) = axis else {
                        c.state = State::Idle;
                        continue;
                    };
                    let axis = match c.kind {
                        Kind::Place(_) => wide(axis),
                        // A slide in the seat's units moves by as much in figure sizes as their size is.
                        Kind::Slide(_) => wide(math::rotate(frame.seat, axis) * node.unit.signum()),
                        _ => wide(math::rotate(frame.seat, axis)),
                    };
                    let (pull, strength) = match c.kind {
                        Kind::Place(_) => {
                            let strength = pulls.root.unwrap_or(0.0);
                            (-dot(wide(branches.root_moved()), axis), strength)
                        }
                        Kind::Angle(_) if pulls.posture > 0.0 => {
                            let off = chord(math::mul(node.rest, math::conjugate(node.rotation)));
                            (dot(wide(math::rotate(frame.seat, off)), axis), pulls.posture)
                        }
                        _ => (0.0, 0.0),
                    };
                    let slides = c.slides();
                    c.take(form, axis, slides, stopped, damping + strength, strength * pull);
                }
            }
            if node.parent != NONE {
                let r = frame.at - branches.frames[node.parent].at;
                above[node.parent].add_from(form, wide(r));
            }
        }
    }

    /// Adds what rows ask that concern several joints at once.
    ///
    /// With H what single joints ask and C the rows, (H + C'C) x = g + C'e is x = H^-1 (g + C'l) with (1 + S) l = e - C H^-1 g
    /// and S = C H^-1 C' (Woodbury). The pass inward has H in factors, H = L D L': with the pushes of a row taken
    /// inward as g was, S and C H^-1 g are sums over the freedoms of products of their shares.
    fn couple(&mut self, branches: &Branches, rows: &[Row], masses: &[(f64, Vec3)]) {
        let (n, count) = (rows.len(), self.columns.len());
        let nodes = branches.nodes.len();
        for (r, row) in rows.iter().enumerate() {
            for p in &mut self.pushes {
                *p = Twist::ZERO;
            }
            match row.on {
                Pushed::One(node, push) => self.pushes[node] = push,
                Pushed::All(force) => {
                    for ((push, (mass, centre)), frame) in
                        self.pushes.iter_mut().zip(masses).zip(&branches.frames)
                    {
                        let push_at = Twist { t: [0.0; 3], v: scale(force, *mass) };
                        *push = push_at.acts_at(wide(math::rotate(frame.turn, *centre)));
                    }
                }
            }
            if let Some((node, push)) = row.other {
                self.pushes[node] = self.pushes[node].plus(&push);
            }
            let shares = &mut self.shares[r * count..(r + 1) * count];
            let whole_shares = &mut self.whole_shares[r * nodes..(r + 1) * nodes];
            for i in (0..nodes).rev() {
                let (above, below) = self.pushes.split_at_mut(i);
                let push = &mut below[0];
                let (first, end) = self.of[i];
                whole_shares[i] = ([0.0; 3], [0.0; 3]);
                if *push == Twist::ZERO {
                    shares[first..end].fill(0.0);
                    continue;
                }
                if self.walls[i].whole {
                    let (rest, share) = self.wholes[i].pass(push);
                    whole_shares[i] = (push.t, share);
                    *push = rest;
                }
                let all = *push;
                for (c, share) in self.columns[first..end].iter().zip(&mut shares[first..end]) {
                    *share = match c.state {
                        State::Idle => 0.0,
                        State::Wall => c.along(&all),
                        State::Open => {
                            let share = c.along(push) * c.inverse;
                            *push = push.plus(&c.h.times(-share));
                            share
                        }
                    };
                }
                let parent = branches.nodes[i].parent;
                if parent != NONE {
                    let r = wide(branches.frames[i].at - branches.frames[parent].at);
                    above[parent] = above[parent].plus(&push.acts_at(r));
                }
            }
        }
        for (r, row) in rows.iter().enumerate() {
            let shares = &self.shares[r * count..(r + 1) * count];
            let whole_shares = &self.whole_shares[r * nodes..(r + 1) * nodes];
            let mut given = 0.0;
            for (c, share) in self.columns.iter().zip(shares) {
                if c.state == State::Open && *share != 0.0 {
                    given += share * c.c / c.inverse;
                }
            }
            for (w, (push, _)) in self.wholes.iter().zip(whole_shares) {
                given += dot(*push, w.c);
            }
            self.right[r] = row.missing - given;
            for q in 0..=r {
                let other = &self.shares[q * count..(q + 1) * count];
                let mut sum = if q == r { 1.0 } else { 0.0 };
                for ((c, a), b) in self.columns.iter().zip(shares).zip(other) {
                    if c.state == State::Open && *a != 0.0 {
                        sum += a * b / c.inverse;
                    }
                }
                let other = &self.whole_shares[q * nodes..(q + 1) * nodes];
                for ((push, _), (_, share)) in whole_shares.iter().zip(other) {
                    sum += dot(*push, *share);
                }
                self.left[r * n + q] = sum;
            }
        }
        cholesky(&mut self.left[..n * n], &mut self.right[..n]);
        for r in 0..n {
            let weight = self.right[r];
            for (c, share) in self.columns.iter_mut().zip(&self.shares[r * count..(r + 1) * count]) {
                c.c += weight * share;
            }
            let shares = &self.whole_shares[r * nodes..(r + 1) * nodes];
            for (w, (_, share)) in self.wholes.iter_mut().zip(shares) {
                w.c = add(w.c, scale(*share, weight));
            }
        }
    }

    /// From the root to the leaves: each freedom does its best for the motion that its body has already. Gives the largest
    /// turn.
    fn outward(&mut self, branches: &Branches) -> f64 {
        let mut furthest = 0.0f64;
        for i in 0..branches.nodes.len() {
            let parent = branches.nodes[i].parent;
            let mut x = if parent == NONE {
                Twist::ZERO
            } else {
                let r = wide(branches.frames[i].at - branches.frames[parent].at);
                self.twists[parent].seen_from(r)
            };
            let (first, end) = self.of[i];
            let columns = &mut self.columns[first..end];
            let mut turned = [0.0; 3];
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
            if self.walls[i].whole {
                turned = self.wholes[i].turn(&x);
                x.t = add(x.t, turned);
            }
            self.turns[i] = turned;
            // A wall that the joint wants to leave is let go, from the next step on.
            let walls = &mut self.walls[i];
            let mut left = [false; 3];
            for c in columns.iter().filter(|c| c.state == State::Wall) {
                let push = c.c - c.h.dot(&x);
                match c.kind {
                    Kind::Into(k) => left[k] = push < 0.0,
                    Kind::Angle(k) if push * f64::from(walls.sides[k]) < 0.0 => walls.sides[k] = 0.0,
                    Kind::Slide(k) if push * f64::from(walls.sides[3 + k]) < 0.0 => walls.sides[3 + k] = 0.0,
                    _ => {}
                }
            }
            for k in (0..walls.count).rev() {
                if left[k] {
                    walls.count -= 1;
                    walls.normals[k] = walls.normals[walls.count];
                }
            }
            furthest = furthest.max(dot(turned, turned));
            if !x.is_finite() {
                return f64::NAN;
            }
            self.twists[i] = x;
        }
        crate::math64::sqrt(furthest)
    }

    /// Turns and slides a joint by `k` of its step, within its limits, and notes the walls that it meets.
    fn make(&mut self, branches: &mut Branches, i: usize, k: f64) {
        let (first, end) = self.of[i];
        let seat = branches.frames[i].seat;
        let node = &mut branches.nodes[i];
        let walls = &mut self.walls[i];
        if node.turns == Turns::Whole && walls.turns {
            let [x, y, z] = scale(self.turns[i], k);
            let step = Vec3::new(x as f32, y as f32, z as f32);
            if step != Vec3::ZERO {
                let inside = math::rotate(math::conjugate(seat), step);
                let wanted = math::normalize(math::mul(turn(inside), node.rotation));
                let next = node.limits.clamp(wanted);
                node.rotation = next;
                if next != wanted {
                    // What the limit took: the turn from where the joint is to where it wanted to be.
                    let taken = chord(math::mul(wanted, math::conjugate(next)));
                    let size = math::sqrt(taken.length_squared());
                    // Less than this is what is clamped off an arc along the wall, not the wall's direction.
                    if size > 0.02 * math::sqrt(step.length_squared()) + 1e-7 {
                        walls.meet(taken / size);
                    }
                }
            }
        }
        let mut angles = None;
        for c in self.columns[first..end].iter().filter(|c| c.state == State::Open) {
            if let Kind::Angle(n) = c.kind {
                let (from, to) = angles.get_or_insert((walls.here, walls.here));
                to[n] = from[n] + (k * c.step) as f32;
            }
        }
        if let Some((from, to)) = angles {
            let next = node.limits.step_coordinates(from, to);
            node.rotation = node.limits.rotation(next);
            for n in 0..3 {
                walls.stop(n, to[n] - from[n], next[n] - to[n]);
            }
        }
        let mut way = Vec3::ZERO;
        for c in self.columns[first..end].iter().filter(|c| c.state == State::Open) {
            match c.kind {
                Kind::Slide(n) => {
                    // In the seat's units.
                    let node = &branches.nodes[i];
                    let (size, by) = (node.unit.abs(), (k * c.step) as f32 / node.unit.abs());
                    let from = node.limits.slide_of(node.offset)[n];
                    let to = node.limits.slide_step(n, from, from + by);
                    branches.slide_to(i, n, to);
                    walls.stop(3 + n, by, (to - from - by) * size);
                }
                Kind::Place(n) => way[n] = (k * c.step) as f32,
                _ => {}
            }
        }
        if way != Vec3::ZERO {
            branches.move_root(way);
        }
    }
}

/// Takes out the turns of a joint that turns as a whole and rests at walls. `whole` are its six columns: three for turns that
/// nothing stops, three for walls.
#[inline]
fn take_among_walls(
    whole: &mut [Column],
    form: &mut Form,
    walls: &Walls,
    seat: glam::Quat,
    damping: f64,
    pull: [f64; 3],
) {
    let (open, stopped) = whole.split_at_mut(3);
    for (c, normal) in stopped.iter_mut().zip(&walls.normals[..walls.count]) {
        let axis = wide(math::rotate(seat, *normal));
        c.take(form, axis, false, true, damping, dot(axis, pull));
    }
    for (c, axis) in open.iter_mut().zip(walls.open(seat)) {
        if axis != Vec3::ZERO {
            let axis = wide(axis);
            c.take(form, axis, false, false, damping, dot(axis, pull));
        }
    }
}

impl Column {
    /// Notes what is asked of it, and takes it out unless a wall stops it.
    #[inline]
    fn take(
        &mut self,
        form: &mut Form,
        axis: [f64; 3],
        slides: bool,
        stopped: bool,
        damping: f64,
        pull: f64,
    ) {
        self.axis = axis;
        self.h = form.column(axis, slides);
        let push = self.along(&form.g) + pull;
        if stopped {
            (self.state, self.c) = (State::Wall, push);
            return;
        }
        self.inverse = 1.0 / (self.along(&self.h) + damping);
        (self.state, self.c) = (State::Open, push * self.inverse);
        form.take_out(&self.h, self.inverse, self.c);
    }

    /// The part of a push along it.
    #[inline]
    fn along(&self, push: &Twist) -> f64 {
        dot(self.axis, if self.slides() { push.v } else { push.t })
    }
}

impl Walls {
    /// Unit vectors in model space that span the turns which no wall stops (zero vectors fill the rest).
    fn open(&self, seat: glam::Quat) -> [Vec3; 3] {
        let a = math::rotate(seat, self.normals[0]);
        let u = math::perpendicular(a, Vec3::ZERO);
        let v = a.cross(u);
        if self.count == 1 {
            return [u, v, Vec3::ZERO];
        }
        let across = a.cross(math::rotate(seat, self.normals[1]));
        // Two walls that are nearly one.
        let Some(only) = (across.length_squared() > 1e-4).then(|| across.normalize_or_zero()) else {
            return [u, v, Vec3::ZERO];
        };
        if self.count == 2 { [only, Vec3::ZERO, Vec3::ZERO] } else { [Vec3::ZERO; 3] }
    }

    fn meet(&mut self, normal: Vec3) {
        // The same wall, further along it.
        if let Some(wall) = self.normals[..self.count].iter_mut().find(|w| w.dot(normal) > 0.7) {
            *wall = normal;
        } else if self.count < 3 {
            self.normals[self.count] = normal;
            self.count += 1;
        }
    }

    fn stop(&mut self, side: usize, wanted: f32, short: f32) {
        if short.abs() > 1e-6 {
            self.sides[side] = wanted.signum();
        }
    }
}

/// Solves a symmetric positive definite system of which the lower half is given, by Cholesky's factors without roots;
/// `right` becomes the solution.
fn cholesky(left: &mut [f64], right: &mut [f64]) {
    let n = right.len();
    for j in 0..n {
        for i in j..n {
            let mut sum = left[i * n + j];
            for k in 0..j {
                sum -= left[i * n + k] * left[j * n + k] * left[k * n + k];
            }
            left[i * n + j] = if i == j { sum } else { sum / left[j * n + j] };
        }
    }
    for i in 0..n {
        for k in 0..i {
            right[i] -= left[i * n + k] * right[k];
        }
    }
    for i in (0..n).rev() {
        right[i] /= left[i * n + i];
        for k in i + 1..n {
            right[i] -= left[k * n + i] * right[k];
        }
    }
}
