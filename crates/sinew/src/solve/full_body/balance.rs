//! Balance: the centre of mass over what the figure stands on.

use alloc::vec::Vec;

use glam::{Vec2, Vec3};

use super::{branches::Branches, tasks::Task};
use crate::{
    JointId, Pose, SolveError, math,
    solve::{
        arc::{direction, largest, no_further},
        check,
    },
};

/// The centre of mass is held over a support, as one more goal.
///
/// It asks for nothing while the centre of mass, seen along `up`, lies over the hull of the support's points; else for the
/// way to the nearest point of the hull. How far it is off after a solve is
/// [`FullBody::out_of_balance`](super::FullBody::out_of_balance).
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// Points that the figure stands on, in model space, in any order; 1 to 16 of them. They may be set anew in each frame.
    pub support: Vec<Vec3>,
    /// The share of the hull towards its middle that is kept free at its edge, 0 (none) to 1 (all but the middle).
    pub margin: f32,
    /// A mass for each joint of the skeleton, in their order: that of the bones that hang on it, 0 to 1e18. Empty: each bone
    /// has its length.
    pub masses: Vec<f32>,
    /// The direction in which the centre of mass may be anywhere; not zero.
    pub up: Vec3,
    /// What it counts beside goals, above 0 to 1.
    pub weight: f32,
    /// As that of a tip.
    pub priority: u8,
}

impl Balance {
    /// Over these points, with bones as heavy as they are long, up along Y.
    pub fn over(support: impl Into<Vec<Vec3>>) -> Self {
        Self {
            support: support.into(),
            margin: 0.2,
            masses: Vec::new(),
            up: Vec3::Y,
            weight: 1.0,
            priority: 0,
        }
    }

    pub(super) fn check(&self, joints: usize) -> Result<(), SolveError> {
        let count = self.support.len();
        check::within("the number of the support's points", "1 to 16", count as f32, 1.0, MOST as f32)?;
        self.support.iter().try_for_each(|p| check::finite("a point of the support", *p))?;
        check::within("the support's margin", "0 to 1", self.margin, 0.0, 1.0)?;
        check::within("the balance's weight", "above 0 to 1", self.weight, f32::MIN_POSITIVE, 1.0)?;
        check::within("the balance's priority", "0 to 2", f32::from(self.priority), 0.0, 2.0)?;
        check::finite("the balance's up", self.up)?;
        check::within("the length of up", "above 0", largest(self.up), f32::MIN_POSITIVE, f32::MAX)?;
        if !self.masses.is_empty() {
            let (given, wanted) = (self.masses.len() as f32, joints as f32);
            check::within("the number of masses", "that of the joints", given, wanted, wanted)?;
        }
        self.masses.iter().try_for_each(|m| check::within("a mass", "0 to 1e18", *m, 0.0, HEAVIEST))
    }
}

/// The largest mass of a joint: its moment about a place a million sizes away is still a number.
const HEAVIEST: f32 = 1e18;

/// Sizes of the figure beyond which a point of the support is a direction.
const AWAY: f32 = 1e6;

/// Points of a support at most.
const MOST: usize = 16;

/// Balance, made ready for a solve.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// Of each node, the share of the whole mass that moves with it, and its centre in the node's orientation, in figure
    /// sizes.
    pub masses: Vec<(f64, Vec3)>,
    on: bool,
    pub weight: f64,
    pub priority: u8,
    /// Two axes across up.
    pub across: [Vec3; 2],
    hull: [Vec2; MOST],
    count: usize,
    near: f32,
    /// Whether the centre has been out in this run: it is then held where it is even inside.
    pub stopped: bool,
}

impl Held {
    pub fn new(nodes: usize) -> Self {
        Self {
            masses: alloc::vec![(0.0, Vec3::ZERO); nodes],
            on: false,
            weight: 0.0,
            priority: 0,
            across: [Vec3::X, Vec3::Z],
            hull: [Vec2::ZERO; MOST],
            count: 0,
            near: 0.0,
            stopped: false,
        }
    }

    /// Whether it asks for anything at priorities up to this one.
    pub fn asks(&self, priority: u8) -> bool {
        self.on && self.priority <= priority
    }

    /// Takes masses and support in, at a rank among priorities; `branches` count in figure sizes already.
    pub fn load(&mut self, balance: Option<&Balance>, branches: &Branches, pose: &Pose, near: f32, rank: u8) {
        let Some(b) = balance else {
            self.on = false;
            return;
        };
        (self.on, self.near, self.priority) = (true, near, rank);
        self.weight = Task::level(rank) * f64::from(b.weight);
        let up = direction(b.up);
        let x = math::perpendicular(up, Vec3::X);
        self.across = [x, up.cross(x)];
        self.count = b.support.len();
        let flat = |p: Vec3| Vec2::new(p.dot(self.across[0]), p.dot(self.across[1]));
        let mut middle = Vec2::ZERO;
        for (into, p) in self.hull.iter_mut().zip(&b.support) {
            // What is far away is a direction.
            *into = flat(branches.inside(no_further(*p, branches.origin, AWAY * branches.size)));
            middle += *into / self.count as f32;
        }
        for p in &mut self.hull[..self.count] {
            *p += (middle - *p) * b.margin;
        }
        // Each joint's bones, down to its children, move with the nearest node above.
        for m in &mut self.masses {
            *m = (0.0, Vec3::ZERO);
        }
        let skeleton = pose.skeleton();
        let root = branches.nodes[0].joint;
        let mut whole = 0.0;
        let mut add = |joint: JointId, mass: f32, at: Vec3| {
            let on = core::iter::once(joint).chain(skeleton.ancestors(joint)).find_map(|j| branches.find(j));
            if let Some(node) = on {
                self.masses[node].0 += f64::from(mass);
                self.masses[node].1 += branches.inside(at) * mass;
                whole += f64::from(mass);
            }
        };
        for joint in skeleton.below(root) {
            let from = pose.position(joint);
            let (mut ends, mut count) = (Vec3::ZERO, 0);
            for child in skeleton.children(joint) {
                let to = pose.position(child);
                if b.masses.is_empty() {
                    add(joint, math::sqrt((to - from).length_squared()), 0.5 * (from + to));
                }
                ends += to;
                count += 1;
            }
            if let Some(mass) = b.masses.get(joint.index()) {
                let at = if count > 0 { 0.5 * (from + ends / count as f32) } else { from };
                add(joint, *mass, at);
            }
        }
        for (node, (mass, centre)) in self.masses.iter_mut().enumerate() {
            if *mass > 0.0 {
                let frame = &branches.frames[node];
                let way = *centre / *mass as f32 - frame.at;
                *centre = math::rotate(math::conjugate(frame.turn), way);
                *mass /= whole;
            }
        }
    }

    /// From the nearest point over the support to where the centre of mass is, along the two axes, backwards: what is
    /// missing.
    pub fn missing(&self, branches: &Branches) -> Vec2 {
        let mut at = Vec3::ZERO;
        for ((mass, centre), frame) in self.masses.iter().zip(&branches.frames) {
            if *mass > 0.0 {
                at += (frame.at + math::rotate(frame.turn, *centre)) * *mass as f32;
            }
        }
        let at = Vec2::new(at.dot(self.across[0]), at.dot(self.across[1]));
        nearest(&self.hull[..self.count], at) - at
    }

    pub fn cost(&self, off: Vec2) -> f64 {
        self.weight * f64::from(off.length_squared())
    }

    pub fn met(&self, off: Vec2) -> bool {
        off.length_squared() <= self.near * self.near
    }
}

/// The point of the hull of some points that is nearest to `at`.
///
/// It is `at` itself unless some line through two of the points has all others on one side and `at` on the other; and then
/// it lies on one of the lines between two points. Sixteen points have 120 of these.
fn nearest(points: &[Vec2], at: Vec2) -> Vec2 {
    let (mut best, mut least, mut inside) = (at, f32::INFINITY, points.len() > 2);
    let mut flat = true;
    for (i, &a) in points.iter().enumerate() {
        for &b in &points[i..] {
            let way = b - a;
            let length = way.length_squared();
            let along = if length > 0.0 { ((at - a).dot(way) / length).clamp(0.0, 1.0) } else { 0.0 };
            let on = a + way * along;
            let off = (at - on).length_squared();
            if off < least {
                (best, least) = (on, off);
            }
            // An edge of the hull?
            let (mut left, mut right) = (false, false);
            for &p in points {
                let side = way.perp_dot(p - a);
                left |= side > 1e-9;
                right |= side < -1e-9;
            }
            flat &= !left && !right;
            let side = way.perp_dot(at - a);
            if length > 0.0 && left != right && ((left && side < 0.0) || (right && side > 0.0)) {
                inside = false;
            }
        }
    }
    if inside && !flat { at } else { best }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_of_a_hull_is_found() {
        // A square with points inside and on its edge, in any order.
        let points = [
            Vec2::new(1.0, 1.0),
            Vec2::new(-1.0, -1.0),
            Vec2::new(0.2, 0.1),
            Vec2::new(1.0, -1.0),
            Vec2::new(0.0, 1.0),
            Vec2::new(-1.0, 1.0),
        ];
        for (at, to) in [
            (Vec2::new(0.3, -0.9), Vec2::new(0.3, -0.9)),
            (Vec2::new(3.0, 0.5), Vec2::new(1.0, 0.5)),
            (Vec2::new(2.0, 5.0), Vec2::new(1.0, 1.0)),
            (Vec2::new(0.5, 1.2), Vec2::new(0.5, 1.0)),
        ] {
            assert!((nearest(&points, at) - to).length() < 1e-6, "{at}");
        }
        assert_eq!(nearest(&points[..1], Vec2::ZERO), points[0]);
        let line = [Vec2::ZERO, Vec2::X, Vec2::X * 2.0];
        assert!((nearest(&line, Vec2::new(1.5, 1.0)) - Vec2::new(1.5, 0.0)).length() < 1e-6);
    }
}
