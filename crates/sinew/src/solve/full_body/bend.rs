//! Poles and swivels, which lead the bend plane of limbs.

use glam::Vec3;

use super::{
    cost::{QuadraticCost, wide},
    figure_state::{FigureState, Frame, NONE},
};
use crate::{
    Goal, Pole, Skeleton, math,
    solve::arc::{largest, no_further, to_unit},
};

/// A limb that ends at an effector, with the pole of its middle joint.
///
/// The middle joint stands off the axis from the limb's top to its end by r, at a swivel angle phi from the pole. Its cost
/// is the squared chord of phi times the squared length L of the limb. Its linearised task is a displacement of r phi along
/// the swivel circle. The cost fades with r below L / 10, as a nearly straight limb has no well-defined swivel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bend {
    top: usize,
    pub middle: usize,
    end: usize,
    /// Pole in figure sizes from the figure's origin, or a direction in model space; [`Pole::Keep`] for none.
    pole: Pole,
    /// Angle by which the pole is rotated about the limb's axis, in radians.
    swivel: f32,
    /// The initial [`Bend::shape`], which a swivel without a pole rotates.
    initial: (Vec3, Vec3),
    /// Length along the limb's bones, in figure sizes.
    length: f32,
}

/// Swivel of a limb about its axis.
struct Swivel {
    /// Unit tangent of the middle joint's circle.
    along: Vec3,
    /// Distance of the middle joint from the axis, in figure sizes.
    off: f32,
    /// Cosine and sine of the swivel angle from the middle joint to the pole.
    cos: f32,
    sin: f32,
}

/// Swivel angle in radians within which a bend plane is at its pole. It is larger for nearly straight limbs, as the cost
/// fades.
const SWIVEL_TOLERANCE: f32 = 1e-3;

/// Distance in figure sizes beyond which a pole counts as a direction: f32 resolves no more.
const MAX_POLE_DISTANCE: f32 = 1e6;

/// Maximum swivel in one step, in radians: the linearisation fails beyond.
const MAX_STEP_SWIVEL: f32 = 1.0;

impl Bend {
    /// The limb that ends at a node. Its top is the last joint where limbs meet, or the root. `None` without a joint
    /// between.
    pub fn of(figure: &FigureState, skeleton: &Skeleton, end: usize) -> Option<Self> {
        let nodes = &figure.nodes;
        let bone = |n: usize| math::sqrt(skeleton.rest(nodes[n].joint).translation.length_squared());
        let mut top = end;
        let mut length = 0.0;
        loop {
            let above = nodes[top].parent;
            if above == NONE || nodes.iter().filter(|n| n.parent == above).count() > 1 {
                break;
            }
            length += bone(top);
            top = above;
        }
        // The joint nearest to half the length.
        let (mut at, mut path) = (end, 0.0);
        let mut middle = None;
        let mut best = f32::INFINITY;
        while at != top {
            path += bone(at);
            at = nodes[at].parent;
            let far = (path - 0.5 * length).abs();
            if at != top && far < best {
                (middle, best) = (Some(at), far);
            }
        }
        let initial = (Vec3::ZERO, Vec3::ZERO);
        Some(Self { top, middle: middle?, end, pole: Pole::Keep, swivel: 0.0, initial, length: 0.0 })
    }

    /// Nodes of the top, the middle joint and the end.
    pub fn joints(&self) -> [usize; 3] {
        [self.top, self.middle, self.end]
    }

    /// Displacements from the top to the end and to the middle joint, in figure sizes.
    pub fn shape(&self, frames: &[Frame]) -> (Vec3, Vec3) {
        let [top, middle, end] = self.joints().map(|n| frames[n].at);
        (end - top, middle - top)
    }

    /// Whether a pole or a swivel leads the bend plane.
    pub fn is_led(&self) -> bool {
        self.pole != Pole::Keep || self.swivel != 0.0
    }

    /// Loads the pole and swivel of a goal. The figure's unit must be its size, and its frames up to date.
    pub fn load(&mut self, goal: &Goal, figure: &FigureState) {
        (self.swivel, self.initial) = (goal.swivel, self.shape(&figure.frames));
        self.pole = match goal.pole {
            Pole::Keep => Pole::Keep,
            // A distant point is a direction.
            Pole::Point(p) => {
                Pole::Point(figure.to_figure(no_further(p, figure.origin, MAX_POLE_DISTANCE * figure.size)))
            }
            Pole::Direction(d) => Pole::Direction(d * to_unit(largest(d))),
        };
        self.length = 0.0;
        let mut at = self.end;
        while at != self.top {
            let node = &figure.nodes[at];
            self.length += math::sqrt(node.offset.length_squared()) * node.unit.abs();
            at = node.parent;
        }
    }

    /// The limb's swivel. `None` without a pole or swivel, for a straight limb, and for a pole on the axis.
    fn swivel(&self, frames: &[Frame]) -> Option<Swivel> {
        if !self.is_led() {
            return None;
        }
        let [from, middle, to] = [self.top, self.middle, self.end].map(|n| frames[n].at);
        let axis = (to - from).try_normalize()?;
        let mut pole = match self.pole {
            // The shortest arc from the initial axis to the current one carries the initial bend along.
            Pole::Keep => {
                let (line, bend) = self.initial;
                let line = line.try_normalize()?;
                let across = bend - line * bend.dot(line);
                // A straight limb has no bend plane.
                if across.length_squared() <= 1e-6 * bend.length_squared() {
                    return None;
                }
                math::rotate(math::shortest_arc(line, axis, across), across)
            }
            Pole::Point(p) => p - from,
            Pole::Direction(d) => d,
        };
        if self.swivel != 0.0 {
            pole = math::rotate(math::axis_angle(axis, self.swivel), pole);
        }
        let across = |v: Vec3| v - axis * v.dot(axis);
        let (out, wanted) = (across(middle - from), across(pole.try_normalize()?));
        let off = math::sqrt(out.length_squared());
        // In f32 the direction has three digits here.
        if off <= 1e-4 * self.length || wanted.length_squared() <= 1e-6 {
            return None;
        }
        let (out, wanted) = (out / off, wanted.normalize());
        let along = axis.cross(out);
        Some(Swivel { along, off, cos: out.dot(wanted), sin: along.dot(wanted) })
    }

    /// Factor from the middle joint's squared displacement to the squared chord times the squared limb length.
    fn scale(&self, swivel: &Swivel) -> f64 {
        let k = f64::from(self.length / swivel.off.max(0.1 * self.length));
        k * k
    }

    /// Whether the limb is off its pole by more than the tolerance.
    pub fn is_off(&self, frames: &[Frame]) -> bool {
        let tolerance = f64::from(SWIVEL_TOLERANCE * self.length);
        self.cost(frames) > tolerance * tolerance
    }

    pub fn cost(&self, frames: &[Frame]) -> f64 {
        let Some(s) = self.swivel(frames) else { return 0.0 };
        let off = f64::from(s.off);
        self.scale(&s) * off * off * 2.0 * f64::from(1.0 - s.cos).max(0.0)
    }

    /// Adds the linearised pole task to the cost of the middle joint.
    pub fn add_to(&self, cost: &mut QuadraticCost, frames: &[Frame], weight: f64) {
        let Some(s) = self.swivel(frames) else { return };
        let angle = math::atan2(s.sin, s.cos).clamp(-MAX_STEP_SWIVEL, MAX_STEP_SWIVEL);
        cost.add_along(wide(s.along), f64::from(s.off * angle), weight * self.scale(&s));
    }
}
