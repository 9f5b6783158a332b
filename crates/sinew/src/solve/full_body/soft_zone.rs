//! Soft zones, in which limbs slow down near full extension.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    cost::{Twist, dot, scale, wide},
    figure_state::{FigureState, Frame, NONE, Turns, empty, fill},
    tasks::{Bodies, Row, Task},
};
use crate::{math, math64, solve::soft::softened};

/// A limb with a soft zone: a chain of joints that can bend, and that one position goal alone moves.
///
/// For a goal at the distance d, the end of a chain with a soft zone stands at r = soften(d) (see
/// [`soften`](crate::solve::soften)). Here a potential has the same equilibrium, so that it can be weighed against all other
/// tasks. With da the zone's beginning, s its width and u = (length - r) / s its remaining fraction, it is
///
/// ```text
/// b(r) = w s^2 (1 - u^2 + 2 u ln u)    from da on, 0 before.
/// ```
///
/// Its slope is 2 w (d - r) where r = soften(d), which balances a goal of weight w there. A limb on a fixed body so ends
/// where the chain would. Its residual pulls the trunk, until the limb leaves the zone.
///
/// At the equilibrium the slopes of the goal's cost and of the potential in r cancel. So do the terms with second
/// derivatives of r by the joints' angles, which dominate near full extension. Gauss-Newton steps, which omit these terms,
/// are then Newton steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct SoftLimb {
    /// Nodes of its start and its end.
    pub from: usize,
    pub to: usize,
    /// Index of the task at its end.
    pub task: usize,
    length: f64,
    zone: f64,
}

/// Barrier of a limb in its soft zone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    pub limb: SoftLimb,
    /// Displacement from the node `to` to the effector, in figure sizes.
    arm: Vec3,
    /// Unit vector from the limb's start to its end.
    pub along: [f64; 3],
    /// Half the slope and half the second derivative of the potential along the limb.
    pub force: f64,
    pub stiffness: f64,
}

/// Lower bound of the remaining fraction of a zone: its logarithm diverges for a straight limb.
const MIN_REMAINING: f64 = 1e-4;

/// Minimum width of a zone, as a fraction of the limb: f32 resolves no less.
const MIN_ZONE: f64 = 1e-4;

impl SoftLimb {
    /// The limb between two nodes; `None` where it cannot bend or a joint slides.
    fn new(figure: &FigureState, tasks: &[Task], soft: f32, (from, task): (usize, usize)) -> Option<Self> {
        let frames = &figure.frames;
        let to = tasks[task].node;
        let mut last = frames[to].at + tasks[task].arm(frames);
        let (mut length, mut longest, mut bones, mut at) = (0.0f64, 0.0f64, 0, to);
        loop {
            let node = &figure.nodes[at];
            if at == from || node.turns != Turns::Fixed {
                let bone = f64::from(math::sqrt((last - frames[at].at).length_squared()));
                if bone > MIN_ZONE * length {
                    (length, longest, bones) = (length + bone, longest.max(bone), bones + 1);
                }
                last = frames[at].at;
            }
            if at == from {
                break;
            }
            if node.slides != [false; 3] || node.parent == NONE {
                return None;
            }
            at = node.parent;
        }
        // The range of distances that the end can reach.
        let zone = f64::from(soft) * (length - (2.0 * longest - length).max(0.0));
        let bends = bones > 1 && zone > MIN_ZONE * length;
        bends.then_some(Self { from, to, task, length, zone })
    }

    /// Remaining fraction of the zone (1 to 0), direction of the limb, and arm of its end. `None` outside the zone.
    fn remaining(&self, tasks: &[Task], frames: &[Frame]) -> Option<(f64, [f64; 3], Vec3)> {
        let arm = tasks[self.task].arm(frames);
        let line = wide(frames[self.to].at + arm - frames[self.from].at);
        let far = math64::sqrt(dot(line, line));
        let remaining = (self.length - far) / self.zone;
        (remaining < 1.0 && far > 0.0).then(|| (remaining.max(MIN_REMAINING), scale(line, 1.0 / far), arm))
    }

    fn barrier(&self, tasks: &[Task], frames: &[Frame]) -> Option<Barrier> {
        let (remaining, along, arm) = self.remaining(tasks, frames)?;
        let w = tasks[self.task].position_weight;
        let force = w * self.zone * (remaining - 1.0 - math64::ln(remaining));
        Some(Barrier { limb: *self, arm, along, force, stiffness: w * (1.0 / remaining - 1.0) })
    }

    fn cost(&self, tasks: &[Task], frames: &[Frame]) -> f64 {
        let Some((u, ..)) = self.remaining(tasks, frames) else { return 0.0 };
        let k = 1.0 - u * u + 2.0 * u * math64::ln(u);
        tasks[self.task].position_weight * self.zone * self.zone * k
    }
}

impl Barrier {
    /// The barrier as a constraint row, for a limb that is not in the recursion as a [`Limb`](super::limb::Limb).
    pub fn row(&self) -> Row {
        // Both stiffness and force are 0 at the start of the zone.
        let root = math64::sqrt(self.stiffness.max(f64::MIN_POSITIVE));
        let back = Twist { t: [0.0; 3], v: scale(self.along, -root) };
        let wrench = Twist { t: [0.0; 3], v: scale(self.along, root) }.acts_at(wide(self.arm));
        let residual = -self.force / root;
        Row { on: Bodies::One(self.limb.to, wrench), other: Some((self.limb.from, back)), residual }
    }
}

/// Limbs with soft zones, and their barriers.
#[derive(Debug, Default)]
pub(super) struct SoftZones {
    limbs: Vec<SoftLimb>,
    pub barriers: Vec<Barrier>,
    /// Number of tasks at and below each node.
    task_counts: Vec<u32>,
}

impl SoftZones {
    /// Reserves memory for these numbers of nodes and tasks.
    pub fn fit(&mut self, nodes: usize, tasks: usize) {
        empty(&mut self.limbs, tasks);
        empty(&mut self.barriers, tasks);
        fill(&mut self.task_counts, nodes, 0);
    }

    pub fn limbs(&self) -> &[SoftLimb] {
        &self.limbs
    }

    /// Finds the limbs of the tasks, for frames that are up to date. `soft` is the width of zones as a fraction of the range
    /// of distances that a limb's end can reach.
    pub fn load(&mut self, figure: &FigureState, tasks: &[Task], soft: f32) {
        self.limbs.clear();
        self.barriers.clear();
        if soft <= 0.0 {
            return;
        }
        let up = |at: usize| {
            core::iter::successors(Some(at), |&n| Some(figure.nodes[n].parent).filter(|&p| p != NONE))
        };
        self.task_counts.fill(0);
        for task in tasks.iter().filter(|a| a.position.is_some() || a.rotation.is_some()) {
            for end in [task.node, task.other].into_iter().filter(|&n| n != NONE) {
                up(end).for_each(|n| self.task_counts[n] += 1);
            }
        }
        for (n, task) in tasks.iter().enumerate().filter(|(_, a)| a.position.is_some() && a.other == NONE) {
            let top = up(task.node).take_while(|&n| self.task_counts[n] == 1).last();
            self.limbs.extend(top.and_then(|top| SoftLimb::new(figure, tasks, soft, (top, n))));
        }
    }

    /// Sum of the potentials of limbs whose tasks have at most this priority number.
    pub fn cost(&self, tasks: &[Task], frames: &[Frame], priority: u8) -> f64 {
        let active = |l: &&SoftLimb| tasks[l.task].priority <= priority;
        self.limbs.iter().filter(active).map(|l| l.cost(tasks, frames)).sum()
    }

    /// Computes the barriers of limbs in their zones, for tasks of at most this priority number.
    pub fn update_barriers(&mut self, tasks: &[Task], frames: &[Frame], priority: u8) {
        let Self { limbs, barriers, .. } = self;
        barriers.clear();
        let active = |l: &&SoftLimb| tasks[l.task].priority <= priority;
        barriers.extend(limbs.iter().filter(active).filter_map(|l| l.barrier(tasks, frames)));
    }

    /// Whether the zone of any limb keeps its end short of its goal. (A straight limb whose goal is nearer is stuck
    /// instead.)
    pub fn keeps_short(&self, tasks: &[Task], frames: &[Frame]) -> bool {
        self.limbs.iter().any(|l| {
            let (residual, _) = tasks[l.task].residual(frames);
            l.remaining(tasks, frames).is_some_and(|(_, along, _)| dot(along, wide(residual)) > 0.0)
        })
    }

    /// Displacement from the point where a chain with this soft zone would end to the task's goal. `None` without a zone.
    pub fn shortfall(&self, task: usize, tasks: &[Task], frames: &[Frame]) -> Option<Vec3> {
        let limb = self.limbs.iter().find(|l| l.task == task)?;
        let line = tasks[task].position? - frames[limb.from].at;
        let length = limb.length as f32;
        let near = softened(line, Vec3::ZERO, length, (limb.zone / limb.length) as f32, 1.0);
        Some(line - near)
    }

    /// Whether any limb is in its zone.
    pub fn in_zone(&self, tasks: &[Task], frames: &[Frame]) -> bool {
        self.limbs.iter().any(|l| l.remaining(tasks, frames).is_some())
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use glam::Vec3;

    use crate::{
        Goal, JointTransform, Pose, Skeleton, Workspace, math,
        solve::{Effector, FullBody, FullBodyOptions, soften},
    };

    /// A limb that starts exactly straight, with its goal on its line, restarts; with or without a soft zone.
    #[test]
    fn a_straight_limb_comes_back() {
        let mut b = Skeleton::builder();
        let mut last = None;
        for x in [0.0, 0.1, 0.5, 0.5] {
            last = Some(b.add("joint", last, JointTransform::from_translation(Vec3::X * x)));
        }
        let (skeleton, ids) = b.build().unwrap();
        let skeleton = Arc::new(skeleton);
        for (soft, from) in [(0.0, 0), (0.1, 0), (0.1, 1), (1.0, 1)] {
            let effectors = [Effector::new(ids[3])];
            let root = ids[from];
            let full_body = FullBody::new(&skeleton, root, &effectors).unwrap();
            let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
            options.iterative.soft = soft;
            let mut pose = Pose::rest(&skeleton);
            let goal = pose.position(root) + Vec3::X * 0.4;
            full_body.solve(&mut workspace, &mut pose, &[Goal::position(goal)], &options).unwrap();
            let line = pose.position(effectors[0].joint) - pose.position(root);
            let length = if from == 0 { 1.1 } else { 1.0 };
            let off = (line.length() - soften(0.4, length, soft)).abs();
            assert!(off < if soft < 1.0 { 2e-4 } else { 2e-2 }, "{soft} {from}: {off}");
        }
    }

    /// A limb ends where a chain with a soft zone does, whatever other tasks there are.
    #[test]
    fn a_limb_stands_where_a_chain_would() {
        let mut b = Skeleton::builder();
        let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
        let root = b.add("root", None, at(0.1, 1.0, 0.0));
        for side in [-1.0, 1.0] {
            let hip = b.add("hip", Some(root), at(0.1 * side, 0.0, 0.0));
            let knee = b.add("knee", Some(hip), at(0.0, -0.5, 0.1));
            b.add("foot", Some(knee), at(0.0, -0.5, -0.1));
        }
        let (mut skeleton, ids) = b.build().unwrap();
        skeleton.set_joint(ids[0], crate::joint::Joint::FIXED).unwrap();
        let skeleton = Arc::new(skeleton);
        let (length, soft) = (2.0 * math::sqrt(0.26), 0.1);
        for priority in [0, 1] {
            let effectors = [Effector::new(ids[3]), Effector::new(ids[6]).with_priority(priority)];
            let full_body = FullBody::new(&skeleton, ids[0], &effectors).unwrap();
            let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
            options.iterative.soft = soft;
            for d in [0.8, 0.9, 0.95, 1.0, 1.02, 1.1, 1.5] {
                let mut pose = Pose::rest(&skeleton);
                let hips = [ids[1], ids[4]].map(|j| pose.position(j));
                let goals = hips.map(|hip| hip + Vec3::new(0.0, -0.8, 0.6) * d);
                full_body.solve(&mut workspace, &mut pose, &goals.map(Goal::position), &options).unwrap();
                for (hip, foot) in hips.into_iter().zip([ids[3], ids[6]]) {
                    let (line, wanted) = (pose.position(foot) - hip, soften(d, length, soft));
                    assert!((line.length() - wanted).abs() < 2e-5, "{d}: {} for {wanted}", line.length());
                    assert!(line.normalize().dot(Vec3::new(0.0, -0.8, 0.6)) > 1.0 - 1e-6);
                }
            }
        }
    }
}
