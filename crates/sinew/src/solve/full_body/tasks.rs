//! Tasks: weighted residuals that a step reduces.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{
    cost::{QuadraticCost, Twist, chord, dot, sub, wide},
    figure_state::{FigureState, Frame, NONE},
};
use crate::math;

/// Weight of a priority relative to the next higher one.
///
/// With less, steps along the curved set of poses that meet the higher priority become too short. The residual that a lower
/// priority causes at a higher one, about this fraction of its own, is removed at the end of the solve.
const PRIORITY_RATIO: f64 = 1e-2;

/// Residual of a task in model space: displacement in figure sizes, rotation as a [`chord`].
pub(super) type Residual = (Vec3, Vec3);

/// A task: the goal of one effector in one solve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub node: usize,
    /// Node that the goal is relative to; [`NONE`] for goals in model space.
    pub other: usize,
    /// Displacement from the node to the effector, in the node's orientation, in figure sizes.
    pub lever: Vec3,
    /// Goal position in figure sizes: from the figure's origin, or from the other node in its orientation.
    pub position: Option<Vec3>,
    /// Goal rotation in model space, or relative to the other node.
    pub rotation: Option<Quat>,
    pub position_weight: f64,
    pub rotation_weight: f64,
    pub priority: u8,
    /// Longest path along the bones from the root to the effector, in figure sizes; infinite where a joint slides.
    pub reach: f32,
    /// Tolerances: of the position in figure sizes, and of the rotation as a chord in radians.
    pub tolerance: f32,
    pub rotation_tolerance: f32,
    /// Set where the goal is distant, and `position` is a nearer point in its direction.
    pub far: Option<Far>,
    /// Residual that does not count, in moves within the maximum rotation.
    pub allowance: Residual,
}

/// A distant goal, for which a nearer position stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Far {
    /// Distance from that position to the goal in figure sizes, and ratio of their distances from the root.
    pub excess: f32,
    pub ratio: f64,
    /// Minimum squared distance of any pose from that position, in squared figure sizes.
    pub min_squared: f64,
}

/// Weighs distant goals by their true distances, relative to others of their priority and to balance. The most distant goal
/// keeps its weight; the other weights of its priority decrease.
pub(super) fn weigh(tasks: &mut [Task], balance: Option<(u8, &mut f64)>) {
    let mut max = [1.0f64; 3];
    for task in tasks.iter() {
        let level = usize::from(task.priority);
        max[level] = max[level].max(task.far.map_or(1.0, |f| f.ratio));
    }
    if max == [1.0; 3] {
        return;
    }
    for task in tasks {
        let max = max[usize::from(task.priority)];
        task.position_weight *= task.far.map_or(1.0, |f| f.ratio) / max;
        task.rotation_weight /= max;
    }
    if let Some((priority, weight)) = balance {
        *weight /= max[usize::from(priority)];
    }
}

impl Task {
    pub const NOTHING: Self = Self {
        node: 0,
        other: NONE,
        lever: Vec3::ZERO,
        position: None,
        rotation: None,
        position_weight: 0.0,
        rotation_weight: 0.0,
        priority: 0,
        reach: f32::INFINITY,
        tolerance: 0.0,
        rotation_tolerance: 0.0,
        far: None,
        allowance: (Vec3::ZERO, Vec3::ZERO),
    };

    /// Weight of a priority's goals relative to those of priority 0.
    pub fn level(priority: u8) -> f64 {
        (0..priority).fold(1.0, |w, _| w * PRIORITY_RATIO)
    }

    /// Displacement from the node to the effector, in figure sizes, along the axes of model space.
    pub fn arm(&self, frames: &[Frame]) -> Vec3 {
        let q = frames[self.node].rotation;
        if self.lever == Vec3::ZERO { Vec3::ZERO } else { math::rotate(q, self.lever) }
    }

    /// Position (in figure sizes from the figure's origin) and rotation (in model space) of the effector.
    pub fn effector(&self, frames: &[Frame]) -> (Vec3, Quat) {
        (frames[self.node].at + self.arm(frames), frames[self.node].rotation)
    }

    /// Displacement from the other node, or the figure's origin, to the goal.
    fn other_arm(&self, frames: &[Frame]) -> Vec3 {
        let position = self.position.unwrap_or(Vec3::ZERO);
        if self.other == NONE { position } else { math::rotate(frames[self.other].rotation, position) }
    }

    /// Residual: displacement and rotation from the effector to its goal, less the allowance.
    pub fn residual(&self, frames: &[Frame]) -> Residual {
        let frame = &frames[self.node];
        let position = if self.position.is_some() {
            let from = if self.other == NONE { Vec3::ZERO } else { frames[self.other].at };
            (from - frame.at) + self.other_arm(frames) - self.arm(frames)
        } else {
            Vec3::ZERO
        };
        let rotation = self.rotation.map_or(Vec3::ZERO, |q| {
            let wanted = if self.other == NONE { q } else { math::mul(frames[self.other].rotation, q) };
            chord(math::mul(wanted, math::conjugate(frame.rotation)))
        });
        (position - self.allowance.0, rotation - self.allowance.1)
    }

    pub fn cost(&self, (position, rotation): Residual) -> f64 {
        self.position_weight * f64::from(position.length_squared())
            + self.rotation_weight * f64::from(rotation.length_squared())
    }

    /// Cost of a distant goal, less its minimum over all poses. It uses f64, as the squares are large and nearly equal.
    #[cold]
    fn cost_of_far(&self, frames: &[Frame], rotation: Vec3, min_squared: f64) -> f64 {
        let (at, _) = self.effector(frames);
        let position = sub(wide(self.position.unwrap_or(at)), wide(at));
        self.position_weight * (dot(position, position) - min_squared).max(0.0)
            + self.rotation_weight * f64::from(rotation.length_squared())
    }

    pub fn met(&self, (position, rotation): Residual) -> bool {
        self.far.is_none()
            && position.length_squared() <= self.tolerance * self.tolerance
            && rotation.length_squared() <= self.rotation_tolerance * self.rotation_tolerance
    }

    /// Adds the task to the cost of its node.
    pub fn add_to(&self, cost: &mut QuadraticCost, frames: &[Frame], (position, rotation): Residual) {
        if self.position.is_some() {
            cost.add_position(self.arm(frames), position, self.position_weight);
        }
        if self.rotation.is_some() {
            cost.add_rotation(rotation, self.rotation_weight);
        }
    }

    /// Adds the constraint rows of a goal relative to another node: the wrenches on both nodes and the residual, each times
    /// the square root of the weight.
    pub fn rows(&self, frames: &[Frame], (position, rotation): Residual, rows: &mut Vec<Row>) {
        let root = |w: f64| crate::math64::sqrt(w);
        let (arm, other_arm) = (wide(self.arm(frames)), wide(self.other_arm(frames)));
        let (position, rotation) = (wide(position), wide(rotation));
        let mut add = |on: Twist, back: Twist, residual: f64| {
            rows.push(Row { on: Bodies::One(self.node, on), other: Some((self.other, back)), residual });
        };
        for k in 0..3 {
            let mut wrench = Twist::ZERO;
            if self.position.is_some() {
                let w = root(self.position_weight);
                wrench.v[k] = w;
                add(wrench.acts_at(arm), wrench.times(-1.0).acts_at(other_arm), w * position[k]);
            }
            if self.rotation.is_some() {
                let w = root(self.rotation_weight);
                wrench = Twist::ZERO;
                wrench.t[k] = w;
                add(wrench, wrench.times(-1.0), w * rotation[k]);
            }
        }
    }
}

/// Bodies that a constraint row acts on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bodies {
    /// One node, by a wrench at its position.
    One(usize, Twist),
    /// All nodes, in proportion to their masses: a force on the centre of mass.
    All([f64; 3]),
}

/// A constraint row that couples several bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub on: Bodies,
    pub other: Option<(usize, Twist)>,
    pub residual: f64,
}

/// Computes the residuals of all tasks of at most this priority number. Returns their cost, and whether all are met.
pub(super) fn residuals(
    tasks: &[Task],
    priority: u8,
    figure: &FigureState,
    into: &mut Vec<Residual>,
) -> (f64, bool) {
    into.clear();
    let (mut cost, mut met) = (0.0, true);
    for task in tasks {
        if task.priority > priority {
            into.push((Vec3::ZERO, Vec3::ZERO));
            continue;
        }
        let residual = task.residual(&figure.frames);
        cost += match task.far {
            Some(far) if task.other == NONE => task.cost_of_far(&figure.frames, residual.1, far.min_squared),
            _ => task.cost(residual),
        };
        met &= task.met(residual);
        into.push(residual);
    }
    (cost, met)
}
