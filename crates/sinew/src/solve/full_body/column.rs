//! Columns of the task Jacobian: one dof of the figure each.

use glam::{Quat, Vec3};

use super::{
    active_set::ActiveSet,
    bias::Bias,
    cost::{BallDofs, QuadraticCost, Twist, chord, dot, scale, wide},
    figure_state::{NONE, Node, Turns},
};
use crate::math;

/// State of a dof in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    /// The dof moves no task.
    Idle,
    Free,
    /// An active limit blocks it.
    Blocked,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// A rotation of a ball with active limits, about an axis tangent to all of them.
    Tangent,
    /// A rotation of a ball along the normal of its n-th active limit.
    Normal(usize),
    /// A coordinate of a joint that rotates about axes.
    Angle(usize),
    /// A slide along an axis of the rest frame.
    Slide(usize),
    /// A translation of the root along an axis of model space.
    Root(usize),
}

/// One dof of the figure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub kind: Kind,
    pub state: State,
    /// Axis of the rotation or direction of the slide in model space, a unit vector (any length for slides).
    pub axis: [f64; 3],
    /// In the trunk, M s before its elimination; in a limb, the motion of the effector per unit.
    pub h: Twist,
    /// Inverse of the sum of its damping and, in the trunk, s'Ms.
    pub inverse: f64,
    /// Motion while the body is fixed; for a blocked dof, the force along it.
    pub c: f64,
    pub step: f64,
}

impl Column {
    pub fn new(kind: Kind) -> Self {
        Self { kind, state: State::Idle, axis: [0.0; 3], h: Twist::ZERO, inverse: 0.0, c: 0.0, step: 0.0 }
    }

    pub fn slides(&self) -> bool {
        matches!(self.kind, Kind::Slide(_) | Kind::Root(_))
    }

    /// The component of a wrench along the dof.
    #[inline]
    pub fn along(&self, wrench: &Twist) -> f64 {
        dot(self.axis, if self.slides() { wrench.v } else { wrench.t })
    }
}

/// The dofs of a joint.
pub(super) fn kinds(node: &Node) -> impl Iterator<Item = Kind> + '_ {
    let ball = node.turns == Turns::Ball;
    let tangents = (0..3).filter(move |_| ball).map(|_| Kind::Tangent);
    let normals = (0..3).filter(move |_| ball).map(Kind::Normal);
    let angles = (0..3).filter(|&k| matches!(node.turns, Turns::Axes(on) if on[k])).map(Kind::Angle);
    let slides = (0..3).filter(|&k| node.slides[k]).map(Kind::Slide);
    let root = (0..3).filter(|_| node.parent == NONE).map(Kind::Root);
    tangents.chain(normals).chain(angles).chain(slides).chain(root)
}

/// A cost that dofs can be eliminated from: the quadratic cost of a trunk body, or a limb.
pub(super) trait Eliminate {
    /// The wrench that pulls the body towards the tasks, at the joint.
    fn pull(&self) -> Twist;

    /// Eliminates the three rotations of a ball at once.
    fn eliminate_ball(&mut self, ball: &mut BallDofs, damping: f64, bias: [f64; 3]);

    /// Computes the dof's column and eliminates the dof. For a blocked dof it stores the force along it instead.
    fn eliminate_dof(&mut self, column: &mut Column, damping: f64, bias: f64);
}

impl Eliminate for QuadraticCost {
    #[inline(always)]
    fn pull(&self) -> Twist {
        self.g
    }

    #[inline(always)]
    fn eliminate_ball(&mut self, ball: &mut BallDofs, damping: f64, bias: [f64; 3]) {
        *ball = QuadraticCost::eliminate_ball(self, damping, bias);
    }

    #[inline(always)]
    fn eliminate_dof(&mut self, c: &mut Column, damping: f64, bias: f64) {
        c.h = self.column(c.axis, c.slides());
        let force = c.along(&self.g) + bias;
        if c.state == State::Blocked {
            c.c = force;
            return;
        }
        c.inverse = 1.0 / (c.along(&c.h) + damping);
        c.c = force * c.inverse;
        self.eliminate(&c.h, c.inverse, c.c);
    }
}

/// A joint whose dofs are to be eliminated.
pub(super) struct Joint<'a> {
    pub node: &'a Node,
    pub base: Quat,
    pub columns: &'a mut [Column],
    pub ball: &'a mut BallDofs,
    pub active: &'a mut ActiveSet,
    pub coordinates: &'a [f32; 3],
    /// Axes of its coordinates, in the parent's orientation.
    pub axes: &'a [Vec3; 3],
    /// Displacement of the root from its initial position, in figure sizes.
    pub root: Vec3,
}

impl Joint<'_> {
    /// Eliminates the joint's dofs from a cost.
    #[inline(always)]
    pub fn eliminate(self, cost: &mut impl Eliminate, damping: f64, bias: Bias) {
        let Joint { node, base, columns, ball, active, coordinates, axes, root } = self;
        let (turns, columns) = columns.split_at_mut(if node.turns == Turns::Ball { 6 } else { 0 });
        // A joint of stiffness s rotates 1 - s times as far: its motions are weighted by the inverse square.
        let posture = bias.posture * node.motion_weight;
        let drag = damping * node.motion_weight;
        // Rotation towards the rest, times the weight of posture.
        let off = if bias.posture > 0.0 && active.turns {
            let off = chord(math::mul(node.rest, math::conjugate(node.rotation)));
            scale(wide(math::rotate(base, off)), posture)
        } else {
            [0.0; 3]
        };
        if !turns.is_empty() && active.turns {
            let eases = if node.eases { node.ease_ball(base, cost.pull().t) } else { None };
            let free = active.normals.is_empty() && eases.is_none();
            let was = core::mem::replace(&mut active.free_ball, free);
            if !was {
                for c in turns.iter_mut() {
                    c.state = State::Idle;
                }
            }
            if active.free_ball {
                cost.eliminate_ball(ball, drag + posture, off);
            } else {
                let (free, stopped) = turns.split_at_mut(3);
                // Blocked dofs come first, as they feel the whole cost of the body.
                for (c, normal) in stopped.iter_mut().zip(active.normals.as_slice()) {
                    (c.state, c.axis) = (State::Blocked, wide(math::rotate(base, *normal)));
                    cost.eliminate_dof(c, drag + posture, dot(c.axis, off));
                }
                for (c, axis) in free.iter_mut().zip(active.normals.free_axes(base, eases.as_ref())) {
                    if axis != Vec3::ZERO {
                        let drag = eases.as_ref().map_or(drag, |e| drag / f64::from(e.weight(axis)));
                        (c.state, c.axis) = (State::Free, wide(axis));
                        cost.eliminate_dof(c, drag + posture, dot(c.axis, off));
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
                    Kind::Angle(k) => (active.turns, active.sides[k]),
                    Kind::Slide(k) => (active.slides, active.sides[3 + k]),
                    Kind::Root(_) => (bias.root.is_some(), 0.0),
                    Kind::Tangent | Kind::Normal(_) => (false, 0.0),
                };
                if (side != 0.0) != stopped {
                    continue;
                }
                let axis = match c.kind {
                    Kind::Angle(k) => math::rotate(base, axes[k]),
                    // A slide in the parent's units moves the body by that amount times their size.
                    Kind::Slide(k) => match node.limits.slide_axis(k) {
                        Some(axis) => math::rotate(base, axis) * node.unit.signum(),
                        None => Vec3::ZERO,
                    },
                    Kind::Root(k) => Vec3::AXES[k],
                    Kind::Tangent | Kind::Normal(_) => Vec3::ZERO,
                };
                if !on || axis == Vec3::ZERO {
                    c.state = State::Idle;
                    continue;
                }
                c.axis = wide(axis);
                let drag = if node.eases {
                    drag / node.ease(c.kind, coordinates, c.along(&cost.pull()))
                } else {
                    drag
                };
                let (force, strength) = match c.kind {
                    Kind::Root(_) => {
                        let strength = bias.root.unwrap_or(0.0);
                        (-strength * dot(wide(root), c.axis), strength)
                    }
                    Kind::Angle(_) => (dot(off, c.axis), posture + drag - damping),
                    _ => (0.0, drag - damping),
                };
                c.state = if stopped { State::Blocked } else { State::Free };
                cost.eliminate_dof(c, damping + strength, force);
            }
        }
    }
}
