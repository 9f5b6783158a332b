//! Balance: a goal for the centre of mass over a support.

use alloc::vec::Vec;

use glam::{Vec2, Vec3};

use super::{figure_state::FigureState, tasks::Task};
use crate::{
    JointId, Pose, SolveError, math,
    solve::{
        arc::{direction, largest, no_further},
        check,
    },
};

/// A goal for the centre of mass: it must stay over a support.
///
/// It is met while the centre of mass, projected along `up`, lies in the convex hull of the support, shrunk by
/// [`margin`](Self::margin). Otherwise its residual is the displacement to the nearest point of that hull.
/// [`FullBody::out_of_balance`](super::FullBody::out_of_balance) returns its length.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Balance<'a> {
    /// Points that the figure stands on, in model space in metres, 1 to 16 of them in any order. They may change every
    /// frame.
    pub support: &'a [Vec3],
    /// Safety margin: the fraction by which the hull shrinks towards its middle, 0 (none) to 1 (to a point). 0.2 by default.
    pub margin: f32,
    /// Mass of the bones of each joint, in the order of the skeleton's joints, 0 to 1e18 in any unit. Where it is empty (the
    /// default), the mass of each bone is its length.
    pub masses: &'a [f32],
    /// Direction along which the centre of mass is projected, in model space; any length but 0. +Y by default.
    pub up: Vec3,
    /// Weight relative to goals of the same priority, above 0 to 1 (the default).
    pub weight: f32,
    /// Priority, 0 (highest, the default) to 2, as of an [`Effector`](super::Effector).
    pub priority: u8,
}

impl<'a> Balance<'a> {
    /// Balance over these points in model space, with the defaults for everything else.
    pub const fn over(support: &'a [Vec3]) -> Self {
        Self { support, margin: 0.2, masses: &[], up: Vec3::Y, weight: 1.0, priority: 0 }
    }

    /// Sets [`margin`](Self::margin), 0 to 1.
    #[must_use]
    pub const fn with_margin(self, margin: f32) -> Self {
        Self { margin, ..self }
    }

    /// Sets [`masses`](Self::masses), in any unit.
    #[must_use]
    pub const fn with_masses(self, masses: &'a [f32]) -> Self {
        Self { masses, ..self }
    }

    /// Sets [`up`](Self::up).
    #[must_use]
    pub const fn with_up(self, up: Vec3) -> Self {
        Self { up, ..self }
    }

    /// Sets [`weight`](Self::weight), above 0 to 1.
    #[must_use]
    pub const fn with_weight(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// Sets [`priority`](Self::priority), 0 (highest) to 2.
    #[must_use]
    pub const fn with_priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }

    /// Calls `add` with the mass and the centre of the bones of each joint at or below `root`. A joint's bones end at its
    /// children.
    fn bones(&self, pose: &Pose, root: JointId, mut add: impl FnMut(JointId, f32, Vec3)) {
        let skeleton = pose.skeleton();
        for joint in skeleton.below(root) {
            let from = pose.position(joint);
            let (mut ends, mut count) = (Vec3::ZERO, 0);
            for child in skeleton.children(joint) {
                let to = pose.position(child);
                if self.masses.is_empty() {
                    add(joint, math::sqrt((to - from).length_squared()), 0.5 * (from + to));
                }
                ends += to;
                count += 1;
            }
            if let Some(mass) = self.masses.get(joint.index()) {
                let at = if count > 0 { 0.5 * (from + ends / count as f32) } else { from };
                add(joint, *mass, at);
            }
        }
    }

    /// Centre of mass of `root` and the joints below it, in model space; `None` without mass.
    pub(crate) fn centre(&self, pose: &Pose, root: JointId) -> Option<Vec3> {
        let (mut sum, mut total) = (Vec3::ZERO, 0.0);
        self.bones(pose, root, |_, mass, at| (sum, total) = (sum + at * mass, total + mass));
        (total > 0.0).then(|| sum / total)
    }

    /// Displacement from a point to the support along the two axes perpendicular to up, in metres.
    pub(super) fn residual(&self, at: Vec3) -> Vec2 {
        Hull::new(self, |p| no_further(p, at, MAX_SUPPORT_DISTANCE * MAX_SUPPORT_DISTANCE) - at)
            .residual(Vec3::ZERO)
    }

    pub(super) fn check(&self, joints: usize) -> Result<(), SolveError> {
        let count = self.support.len();
        check::within("the number of the support's points", "1 to 16", count as f32, 1.0, MAX_POINTS as f32)?;
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
        self.masses.iter().try_for_each(|m| check::within("a mass", "0 to 1e18", *m, 0.0, MAX_MASS))
    }
}

/// Maximum mass of a joint: its moment at a million figure sizes is finite in f32.
const MAX_MASS: f32 = 1e18;

/// Distance in figure sizes beyond which a point of the support counts as a direction.
const MAX_SUPPORT_DISTANCE: f32 = 1e6;

/// Maximum number of support points.
const MAX_POINTS: usize = 16;

/// Convex hull of the support, projected along up.
#[derive(Clone, Copy, Debug, Default)]
struct Hull {
    /// Two unit axes perpendicular to up.
    across: [Vec3; 2],
    points: [Vec2; MAX_POINTS],
    count: usize,
}

impl Hull {
    /// Projects the support and shrinks it by its margin. `convert` converts its points to other units.
    fn new(b: &Balance, convert: impl Fn(Vec3) -> Vec3) -> Self {
        let up = direction(b.up);
        let x = math::perpendicular(up, Vec3::X);
        let mut hull =
            Self { across: [x, up.cross(x)], count: b.support.len().min(MAX_POINTS), ..Self::default() };
        let mut middle = Vec2::ZERO;
        for (i, p) in b.support.iter().take(MAX_POINTS).enumerate() {
            hull.points[i] = hull.flat(convert(*p));
            middle += hull.points[i] / hull.count as f32;
        }
        for p in &mut hull.points[..hull.count] {
            *p += (middle - *p) * b.margin;
        }
        hull
    }

    fn flat(&self, p: Vec3) -> Vec2 {
        Vec2::new(p.dot(self.across[0]), p.dot(self.across[1]))
    }

    fn residual(&self, at: Vec3) -> Vec2 {
        let at = self.flat(at);
        nearest(&self.points[..self.count], at) - at
    }
}

/// Balance as a task of one solve.
#[derive(Debug, Default)]
pub(super) struct BalanceTask {
    /// For each node, the fraction of the total mass that moves with it, and the centre of that mass in the node's
    /// orientation, in figure sizes.
    pub masses: Vec<(f64, Vec3)>,
    on: bool,
    pub weight: f64,
    pub priority: u8,
    hull: Hull,
    tolerance: f32,
    /// Whether the centre has left the hull in this descent. From then on its rows hold it, even inside the hull.
    pub engaged: bool,
}

impl BalanceTask {
    /// Whether balance takes part at priorities up to this one.
    pub fn is_active(&self, priority: u8) -> bool {
        self.on && self.priority <= priority
    }

    /// Loads masses and support. `rank` is the rank of its priority among those in use. `tolerance` is in figure sizes.
    pub fn load(&mut self, b: Option<&Balance>, figure: &FigureState, pose: &Pose, tolerance: f32, rank: u8) {
        let Some(b) = b else {
            self.on = false;
            return;
        };
        (self.on, self.tolerance, self.priority) = (true, tolerance, rank);
        self.weight = Task::level(rank) * f64::from(b.weight);
        // A distant point is a direction.
        let max = MAX_SUPPORT_DISTANCE * figure.size;
        self.hull = Hull::new(b, |p| figure.to_figure(no_further(p, figure.origin, max)));
        // Bones move with the nearest node above.
        self.masses.fill((0.0, Vec3::ZERO));
        let skeleton = pose.skeleton();
        let mut total = 0.0;
        b.bones(pose, figure.nodes[0].joint, |joint, mass, at| {
            let on = core::iter::once(joint).chain(skeleton.ancestors(joint)).find_map(|j| figure.find(j));
            if let Some(node) = on {
                self.masses[node].0 += f64::from(mass);
                self.masses[node].1 += figure.to_figure(at) * mass;
                total += f64::from(mass);
            }
        });
        for (node, (mass, centre)) in self.masses.iter_mut().enumerate() {
            if *mass > 0.0 {
                let frame = &figure.frames[node];
                let offset = *centre / *mass as f32 - frame.at;
                *centre = math::rotate(math::conjugate(frame.rotation), offset);
                *mass /= total;
            }
        }
    }

    /// Residual along the two axes perpendicular to up, in figure sizes: from the centre of mass to the nearest point of the
    /// hull.
    pub fn residual(&self, figure: &FigureState) -> Vec2 {
        let mut at = Vec3::ZERO;
        for ((mass, centre), frame) in self.masses.iter().zip(&figure.frames) {
            if *mass > 0.0 {
                at += (frame.at + math::rotate(frame.rotation, *centre)) * *mass as f32;
            }
        }
        self.hull.residual(at)
    }

    /// Two unit axes perpendicular to up.
    pub fn across(&self) -> [Vec3; 2] {
        self.hull.across
    }

    pub fn cost(&self, off: Vec2) -> f64 {
        self.weight * f64::from(off.length_squared())
    }

    pub fn met(&self, off: Vec2) -> bool {
        off.length_squared() <= self.tolerance * self.tolerance
    }
}

/// The point of the convex hull of `points` that is nearest to `at`.
///
/// It is `at` itself unless a line through two of the points has all others on one side and `at` on the other. Otherwise it
/// lies on a segment between two points; sixteen points have 120 segments.
fn nearest(points: &[Vec2], at: Vec2) -> Vec2 {
    let (mut best, mut min, mut inside) = (at, f32::INFINITY, points.len() > 2);
    let mut flat = true;
    for (i, &a) in points.iter().enumerate() {
        for &b in &points[i..] {
            let edge = b - a;
            let length = edge.length_squared();
            let along = if length > 0.0 { ((at - a).dot(edge) / length).clamp(0.0, 1.0) } else { 0.0 };
            let on = a + edge * along;
            let off = (at - on).length_squared();
            if off < min {
                (best, min) = (on, off);
            }
            // Is the segment an edge of the hull?
            let (mut left, mut right) = (false, false);
            for &p in points {
                let side = edge.perp_dot(p - a);
                left |= side > 1e-9;
                right |= side < -1e-9;
            }
            flat &= !left && !right;
            let side = edge.perp_dot(at - a);
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
