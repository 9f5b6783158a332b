//! One freedom of the tree: what moves, and what is asked of it in a step.

use glam::{Quat, Vec3};

use super::{
    active_set::Walls,
    branches::{NONE, Node, Turns},
    cost::{QuadraticCost, Twist, Whole, chord, dot, scale, wide},
    pulls::Pulls,
};
use crate::math;

/// What a freedom does in this step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    /// Nothing: what it would move is asked for nothing.
    Idle,
    Open,
    /// It rests at a wall.
    Wall,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
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
pub(super) struct Column {
    pub kind: Kind,
    pub state: State,
    /// Axis of the turn or direction of the slide, a unit vector in model space (longer or shorter for slides).
    pub axis: [f64; 3],
    /// In the trunk M s, before it was taken out; in a limb how the goal's point moves with it.
    pub h: Twist,
    /// One over its damping and, in the trunk, s'Ms.
    pub inverse: f64,
    /// Its own motion while the body stands; for a wall, the push into it while the body stands.
    pub c: f64,
    pub step: f64,
}

impl Column {
    pub fn new(kind: Kind) -> Self {
        Self { kind, state: State::Idle, axis: [0.0; 3], h: Twist::ZERO, inverse: 0.0, c: 0.0, step: 0.0 }
    }

    pub fn slides(&self) -> bool {
        matches!(self.kind, Kind::Slide(_) | Kind::Place(_))
    }

    /// The part of a push along it.
    #[inline]
    pub fn along(&self, push: &Twist) -> f64 {
        dot(self.axis, if self.slides() { push.v } else { push.t })
    }
}

/// The freedoms of a joint.
pub(super) fn kinds(node: &Node) -> impl Iterator<Item = Kind> + '_ {
    let whole = node.turns == Turns::Whole;
    let free = (0..3).filter(move |_| whole).map(|_| Kind::Free);
    let into = (0..3).filter(move |_| whole).map(Kind::Into);
    let angles = (0..3).filter(|&k| matches!(node.turns, Turns::Axes(on) if on[k])).map(Kind::Angle);
    let slides = (0..3).filter(|&k| node.slides[k]).map(Kind::Slide);
    let places = (0..3).filter(|_| node.parent == NONE).map(Kind::Place);
    free.chain(into).chain(angles).chain(slides).chain(places)
}

/// What freedoms can be taken out of: the quadratic of a body of the trunk, or a limb.
pub(super) trait Taken {
    /// Takes the three turns of a joint out at once.
    fn take_whole(&mut self, whole: &mut Whole, damping: f64, pull: [f64; 3]);

    /// Notes how what is asked moves with a freedom and, where a wall stops it, what is asked of it; else takes it out.
    fn take(&mut self, column: &mut Column, damping: f64, pull: f64);
}

impl Taken for QuadraticCost {
    #[inline(always)]
    fn take_whole(&mut self, whole: &mut Whole, damping: f64, pull: [f64; 3]) {
        *whole = QuadraticCost::take_whole(self, damping, pull);
    }

    #[inline(always)]
    fn take(&mut self, c: &mut Column, damping: f64, pull: f64) {
        c.h = self.column(c.axis, c.slides());
        let push = c.along(&self.g) + pull;
        if c.state == State::Wall {
            c.c = push;
            return;
        }
        c.inverse = 1.0 / (c.along(&c.h) + damping);
        c.c = push * c.inverse;
        self.take_out(&c.h, c.inverse, c.c);
    }
}

/// A joint whose freedoms are to be taken out.
pub(super) struct Joint<'a> {
    pub node: &'a Node,
    pub seat: Quat,
    pub columns: &'a mut [Column],
    pub whole: &'a mut Whole,
    pub walls: &'a mut Walls,
    /// The axes of its coordinates, seen from the seat.
    pub axes: &'a [Vec3; 3],
    /// How far the root has been moved, in figure sizes.
    pub moved: Vec3,
}

impl Joint<'_> {
    /// Takes its freedoms out of what is asked.
    #[inline(always)]
    pub fn give(self, asked: &mut impl Taken, damping: f64, pulls: Pulls) {
        let Joint { node, seat, columns, whole, walls, axes, moved } = self;
        let (turns, columns) = columns.split_at_mut(if node.turns == Turns::Whole { 6 } else { 0 });
        // Stiffness s makes a joint's turn 1 - s of what it would be: what is counted is the turn over that.
        let posture = pulls.posture * node.reluctance;
        let drag = damping * node.reluctance;
        // The way in which posture draws it.
        let off = if pulls.posture > 0.0 && walls.turns {
            let off = chord(math::mul(node.rest, math::conjugate(node.rotation)));
            scale(wide(math::rotate(seat, off)), posture)
        } else {
            [0.0; 3]
        };
        if !turns.is_empty() && walls.turns {
            let was = core::mem::replace(&mut walls.whole, walls.count == 0);
            if !was {
                for c in turns.iter_mut() {
                    c.state = State::Idle;
                }
            }
            if walls.whole {
                asked.take_whole(whole, drag + posture, off);
            } else {
                let (open, stopped) = turns.split_at_mut(3);
                // Those that rest at walls first, as they feel all that is asked of the body.
                for (c, normal) in stopped.iter_mut().zip(&walls.normals[..walls.count]) {
                    (c.state, c.axis) = (State::Wall, wide(math::rotate(seat, *normal)));
                    asked.take(c, drag + posture, dot(c.axis, off));
                }
                for (c, axis) in open.iter_mut().zip(walls.open(seat)) {
                    if axis != Vec3::ZERO {
                        (c.state, c.axis) = (State::Open, wide(axis));
                        asked.take(c, drag + posture, dot(c.axis, off));
                    }
                }
            }
        }
        if columns.is_empty() {
            return;
        }
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
                    Kind::Angle(k) => math::rotate(seat, axes[k]),
                    // A slide in the seat's units moves by as much in figure sizes as their size is.
                    Kind::Slide(k) => match node.limits.slide_axis(k) {
                        Some(axis) => math::rotate(seat, axis) * node.unit.signum(),
                        None => Vec3::ZERO,
                    },
                    Kind::Place(k) => Vec3::AXES[k],
                    Kind::Free | Kind::Into(_) => Vec3::ZERO,
                };
                if !on || axis == Vec3::ZERO {
                    c.state = State::Idle;
                    continue;
                }
                c.axis = wide(axis);
                let (pull, strength) = match c.kind {
                    Kind::Place(_) => {
                        let strength = pulls.root.unwrap_or(0.0);
                        (-strength * dot(wide(moved), c.axis), strength)
                    }
                    Kind::Angle(_) => (dot(off, c.axis), posture + drag - damping),
                    _ => (0.0, drag - damping),
                };
                c.state = if stopped { State::Wall } else { State::Open };
                asked.take(c, damping + strength, pull);
            }
        }
    }
}
