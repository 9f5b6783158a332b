//! Poles: the way in which limbs of a tree bend.

use glam::Vec3;

use super::{
    branches::{Branches, Frame, NONE},
    cost::{QuadraticCost, wide},
};
use crate::{
    Pole, Skeleton, math,
    solve::arc::{largest, no_further, to_unit},
};

/// The limb that a tip ends, and the way in which its middle joint is drawn.
///
/// With the axis from where the limb begins to its tip, the middle joint stands off by r at a swivel angle phi from the
/// pole. What draws it is the square of the chord of phi, times that of the limb's length L; in a step, that the joint go by
/// r phi along its circle. A limb that is nearly straight has hardly a bend to turn: below L / 10 what draws it fades with
/// r.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bend {
    top: usize,
    pub middle: usize,
    tip: usize,
    /// The pole, in figure sizes from the tree's origin; [`Pole::Keep`] where none is asked for.
    pub pole: Pole,
    /// Along the limb's bones, in figure sizes.
    length: f32,
}

/// How a limb stands.
struct Swivel {
    /// Where the middle joint goes as it swivels.
    along: Vec3,
    /// How far it stands off the axis.
    off: f32,
    /// Cosine and sine of the angle from it to the pole.
    cos: f32,
    sin: f32,
}

/// A bend plane that is within a degree of the pole stays as it is.
const NEAR: f32 = 0.02;

/// Sizes of the figure beyond which a pole is a direction: f32 tells no better.
const AWAY: f32 = 1e6;

/// No middle joint is drawn further round than a radian in one step: beyond, its way is no line any more.
const FURTHEST: f32 = 1.0;

impl Bend {
    /// Of a limb that ends at a node: from the last joint at which several limbs meet, or the root. None where no joint is
    /// between.
    pub fn of(branches: &Branches, skeleton: &Skeleton, tip: usize) -> Option<Self> {
        let nodes = &branches.nodes;
        let bone = |n: usize| math::sqrt(skeleton.rest(nodes[n].joint).translation.length_squared());
        let mut top = tip;
        let mut length = 0.0;
        loop {
            let above = nodes[top].parent;
            if above == NONE || nodes.iter().filter(|n| n.parent == above).count() > 1 {
                break;
            }
            length += bone(top);
            top = above;
        }
        // The joint nearest to half the way.
        let (mut at, mut way) = (tip, 0.0);
        let mut middle = None;
        let mut best = f32::INFINITY;
        while at != top {
            way += bone(at);
            at = nodes[at].parent;
            let far = (way - 0.5 * length).abs();
            if at != top && far < best {
                (middle, best) = (Some(at), far);
            }
        }
        Some(Self { top, middle: middle?, tip, pole: Pole::Keep, length: 0.0 })
    }

    /// The nodes where it begins, in its middle and at its end.
    pub fn joints(&self) -> [usize; 3] {
        [self.top, self.middle, self.tip]
    }

    /// From where it begins to its end, and to its middle.
    pub fn stands(&self, frames: &[Frame]) -> (Vec3, Vec3) {
        let [top, middle, tip] = self.joints().map(|n| frames[n].at);
        (tip - top, middle - top)
    }

    /// Takes a pole in, for a figure that counts in figure sizes already.
    pub fn load(&mut self, pole: Pole, branches: &Branches) {
        self.pole = match pole {
            Pole::Keep => Pole::Keep,
            // What is far away is a direction.
            Pole::Point(p) => {
                Pole::Point(branches.inside(no_further(p, branches.origin, AWAY * branches.size)))
            }
            Pole::Direction(d) => Pole::Direction(d * to_unit(largest(d))),
        };
        self.length = 0.0;
        let mut at = self.tip;
        while at != self.top {
            let node = &branches.nodes[at];
            self.length += math::sqrt(node.offset.length_squared()) * node.unit.abs();
            at = node.parent;
        }
    }

    /// None where nothing is asked, the limb is straight or the pole lies on its axis.
    fn swivel(&self, frames: &[Frame]) -> Option<Swivel> {
        let [from, middle, to] = [self.top, self.middle, self.tip].map(|n| frames[n].at);
        let pole = match self.pole {
            Pole::Keep => return None,
            Pole::Point(p) => p - from,
            Pole::Direction(d) => d,
        };
        let axis = (to - from).try_normalize()?;
        let across = |v: Vec3| v - axis * v.dot(axis);
        let (out, wanted) = (across(middle - from), across(pole.try_normalize()?));
        let off = math::sqrt(out.length_squared());
        // What f32 leaves of a direction: three digits.
        if off <= 1e-4 * self.length || wanted.length_squared() <= 1e-6 {
            return None;
        }
        let (out, wanted) = (out / off, wanted.normalize());
        let along = axis.cross(out);
        Some(Swivel { along, off, cos: out.dot(wanted), sin: along.dot(wanted) })
    }

    /// What a unit of the middle joint's way counts beside one of the limb's length.
    fn scale(&self, swivel: &Swivel) -> f64 {
        let k = f64::from(self.length / swivel.off.max(0.1 * self.length));
        k * k
    }

    /// Whether it should turn further.
    pub fn is_off(&self, frames: &[Frame]) -> bool {
        self.swivel(frames).is_some_and(|s| s.cos < 0.0 || s.sin.abs() > NEAR)
    }

    pub fn cost(&self, frames: &[Frame]) -> f64 {
        let Some(s) = self.swivel(frames) else { return 0.0 };
        let off = f64::from(s.off);
        self.scale(&s) * off * off * 2.0 * f64::from(1.0 - s.cos).max(0.0)
    }

    /// Adds what is asked of the middle joint to what it is asked.
    pub fn add_to(&self, form: &mut QuadraticCost, frames: &[Frame], weight: f64) {
        let Some(s) = self.swivel(frames) else { return };
        let angle = math::atan2(s.sin, s.cos).clamp(-FURTHEST, FURTHEST);
        form.ask_along(wide(s.along), f64::from(s.off * angle), weight * self.scale(&s));
    }
}
