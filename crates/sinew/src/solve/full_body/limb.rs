//! Limbs: chains of joints with one task, eliminated as a whole.

use glam::Vec3;

use super::{
    bias::Bias,
    column::{Column, Eliminate, State},
    cost::{BallDofs, QuadraticCost, Sym, Twist, add, cross, dot, scale, sub, times, times_back, wide},
    figure_state::{FigureState, Frame, NONE},
    soft_zone::Barrier,
    tasks::{Residual, Task},
};

/// A chain of joints at the end of the figure with a single task, for a position or for a position and a rotation.
///
/// The chain's cost for the body it hangs on needs no recursion. Each dof s with damping d moves the effector by J s, and
/// the body carries the effector by x. The minimum over all s of w |x + sum of J s - e|^2 + sum of d |s|^2 is
///
/// ```text
/// (x - e)' C^-1 (x - e)    with    C = 1/w + sum of J J'/d.
/// ```
///
/// It is reached by s = J'f/d, with the same wrench f = C^-1 (e - x) for all dofs. C is the compliance at the effector. Each
/// joint adds to it; a ball at the arm a adds (|a|^2 - a a') / d. A bias force p on a dof adds p/d to its motion and
/// subtracts J p/d from e.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limb {
    /// Index of its task.
    pub task: usize,
    /// Node of the task, and node that hangs on the trunk.
    pub end: usize,
    pub top: usize,
    /// The last node that moves.
    pub first: usize,
    /// Whether all nodes from there to the top are free balls.
    pub free: bool,
    /// Whether they have no secondary objectives and no barrier in this step.
    pub plain: bool,
    /// Whether the task has a rotation.
    turned: bool,
    /// Position of the effector in figure sizes.
    pub point: Vec3,
    /// C and e at the effector during the inward pass; the limb's cost after it.
    compliance: QuadraticCost,
    /// Displacement from the current joint of the inward pass to the effector.
    arm: [f64; 3],
    /// Wrench on all dofs, without the barrier's force.
    pub wrench: Twist,
    /// Node where the barrier of its soft zone starts; [`NONE`] outside the zone.
    from: usize,
    barrier: LimbBarrier,
}

/// Barrier of the limb's soft zone in the recursion.
#[derive(Clone, Copy, Debug, Default)]
struct LimbBarrier {
    along: [f64; 3],
    force: f64,
    stiffness: f64,
    /// C and e before the first joint.
    first: Sym,
    residual: [f64; 3],
    /// Motion along the barrier without a wrench, and per unit of wrench.
    own: f64,
    by_wrench: Twist,
}

impl Limb {
    pub fn new(task: usize, end: usize) -> Self {
        Self { task, end, top: end, first: end, from: NONE, ..Self::default() }
    }

    /// Starts the inward pass.
    pub fn begin(&mut self, task: &Task, frames: &[Frame], e: Residual, barriers: &[Barrier]) {
        self.turned = task.rotation.is_some();
        self.point = frames[task.node].at + task.arm(frames);
        let k = 1.0 / task.position_weight;
        self.compliance.vv = Sym([k, k, k, 0.0, 0.0, 0.0]);
        self.compliance.g = Twist { t: [0.0; 3], v: wide(e.0) };
        if self.turned {
            let k = 1.0 / task.rotation_weight;
            self.compliance.tt = Sym([k, k, k, 0.0, 0.0, 0.0]);
            self.compliance.tv = [[0.0; 3]; 3];
            self.compliance.g.t = wide(e.1);
        }
        self.from = NONE;
        if let Some(b) = barriers.iter().find(|b| b.limb.task == self.task) {
            let Barrier { along, force, stiffness, .. } = *b;
            let (first, residual) = (self.compliance.vv, self.compliance.g.v);
            self.from = b.limb.from;
            self.barrier = LimbBarrier { along, force, stiffness, first, residual, ..self.barrier };
        }
    }

    /// Ends the inward pass at joint i; adds the barrier if it starts there.
    #[inline(always)]
    pub fn finish_joint(&mut self, i: usize) {
        if self.from == i {
            self.add_barrier();
        }
    }

    #[inline(never)]
    fn add_barrier(&mut self) {
        let LimbBarrier { along: u, force, stiffness, first, residual, .. } = self.barrier;
        let s = &mut self.compliance;
        let given = sub(s.vv.times(u), first.times(u));
        let turned = if self.turned { times(&s.tv, u) } else { [0.0; 3] };
        let own = dot(u, sub(residual, s.g.v));
        let along = dot(u, given);
        let k = 1.0 / (1.0 + stiffness * along);
        let back = k * (stiffness * own + force);
        s.g.v = add(s.g.v, scale(given, back));
        s.vv.add_outer(given, -k * stiffness);
        if self.turned {
            s.g.t = add(s.g.t, scale(turned, back));
            s.tt.add_outer(turned, -k * stiffness);
            for (row, t) in s.tv.iter_mut().zip(turned) {
                *row = sub(*row, scale(given, k * stiffness * t));
            }
        }
        self.barrier.own = k * (own - along * force);
        self.barrier.by_wrench = Twist { t: scale(turned, k), v: scale(given, k) };
    }

    /// Whether the barrier starts at joint i.
    #[inline(always)]
    pub fn starts_barrier(&self, i: usize) -> bool {
        self.from == i
    }

    /// The wrench from the joint where the barrier starts outward.
    #[inline(always)]
    pub fn wrench_beyond(&self) -> Twist {
        let mut wrench = self.wrench;
        if self.from != NONE {
            let LimbBarrier { along, force, stiffness, own, by_wrench, .. } = self.barrier;
            let motion = own + by_wrench.dot(&self.wrench);
            wrench.v = sub(wrench.v, scale(along, force + stiffness * motion));
        }
        wrench
    }

    /// Solves the balls of a plain limb for its wrench. Returns the larger of `max_turn` and the maximum squared rotation.
    pub fn solve_free(&self, figure: &FigureState, balls: &mut [BallDofs], mut max_turn: f64) -> f64 {
        let wrench = self.wrench;
        let mut i = self.first;
        loop {
            let turn = scale(self.torque_at(figure.frames[i].at, &wrench), balls[i].compliance);
            balls[i].c = turn;
            max_turn = if dot(turn, turn) > max_turn { dot(turn, turn) } else { max_turn };
            if i == self.top {
                return max_turn;
            }
            i = figure.nodes[i].parent;
        }
    }

    /// Whether a step adds nothing but free balls to the compliance.
    pub fn is_plain(&self, bias: Bias) -> bool {
        self.free && self.from == NONE && bias.posture == 0.0
    }

    /// Adds the balls of a plain limb to the compliance.
    pub fn eliminate_free(&mut self, figure: &FigureState, balls: &mut [BallDofs], damping: f64) {
        // A copy stays in registers.
        let (mut compliance, turned) = (self.compliance, self.turned);
        let mut i = self.first;
        loop {
            let node = &figure.nodes[i];
            let k = 1.0 / (damping * node.motion_weight);
            balls[i].compliance = k;
            add_ball(&mut compliance, wide(self.point - figure.frames[i].at), k, turned);
            if i == self.top {
                break;
            }
            i = node.parent;
        }
        self.compliance = compliance;
    }

    /// Sets the arm for the next joint inward, at this position.
    #[inline(always)]
    pub fn set_arm(&mut self, at: Vec3) {
        self.arm = wide(self.point - at);
    }

    /// Adds a ball without bias to the compliance.
    #[inline(always)]
    pub fn add_ball(&mut self, ball: &mut BallDofs, damping: f64) {
        ball.compliance = 1.0 / damping;
        add_ball(&mut self.compliance, self.arm, ball.compliance, self.turned);
    }

    /// Converts the compliance to the limb's cost at the effector.
    pub fn cost(&mut self) -> &QuadraticCost {
        let s = &mut self.compliance;
        if self.turned {
            s.invert();
            s.g = Twist {
                t: add(s.tt.times(s.g.t), times(&s.tv, s.g.v)),
                v: add(times_back(&s.tv, s.g.t), s.vv.times(s.g.v)),
            };
        } else {
            s.vv = s.vv.inverse(0.0);
            s.g.v = s.vv.times(s.g.v);
        }
        s
    }

    /// Computes the wrench where the body carries the effector by `x`. False where the wrench is not finite.
    pub fn solve_wrench(&mut self, x: &Twist) -> bool {
        let s = &self.compliance;
        self.wrench.v = sub(s.g.v, s.vv.times(x.v));
        if self.turned {
            self.wrench.v = sub(self.wrench.v, times_back(&s.tv, x.t));
            self.wrench.t = sub(s.g.t, add(s.tt.times(x.t), times(&s.tv, x.v)));
        }
        self.wrench.is_finite()
    }

    /// Torque of a wrench at the effector about a joint at `at`.
    #[inline(always)]
    pub fn torque_at(&self, at: Vec3, wrench: &Twist) -> [f64; 3] {
        add(wrench.t, cross(wide(self.point - at), wrench.v))
    }
}

/// Adds a ball at `arm` from the effector, with a compliance of `k`.
#[inline(always)]
fn add_ball(s: &mut QuadraticCost, [x, y, z]: [f64; 3], k: f64, turned: bool) {
    let m = [y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z];
    for (s, m) in s.vv.0.iter_mut().zip(m) {
        *s += k * m;
    }
    if turned {
        for t in &mut s.tt.0[..3] {
            *t += k;
        }
        // A rotation about the first axis moves the effector by (0, -z, y), and so on.
        for (i, j, c) in [(0, 1, -z), (0, 2, y), (1, 0, z), (1, 2, -x), (2, 0, -y), (2, 1, x)] {
            s.tv[i][j] += k * c;
        }
    }
}

impl Eliminate for Limb {
    #[inline(always)]
    fn pull(&self) -> Twist {
        let Twist { t, v } = self.compliance.g;
        let t = if self.turned { t } else { [0.0; 3] };
        Twist { t: add(t, cross(self.arm, v)), v }
    }

    #[inline(always)]
    fn eliminate_ball(&mut self, ball: &mut BallDofs, damping: f64, bias: [f64; 3]) {
        self.add_ball(ball, damping);
        ball.c = scale(bias, ball.compliance);
        let g = &mut self.compliance.g;
        g.v = sub(g.v, cross(ball.c, self.arm));
        if self.turned {
            g.t = sub(g.t, ball.c);
        }
    }

    #[inline(always)]
    fn eliminate_dof(&mut self, c: &mut Column, damping: f64, bias: f64) {
        c.h = if c.slides() {
            Twist { t: [0.0; 3], v: c.axis }
        } else {
            Twist { t: c.axis, v: cross(c.axis, self.arm) }
        };
        if c.state == State::Blocked {
            c.c = bias;
            return;
        }
        c.inverse = 1.0 / damping;
        c.c = bias * c.inverse;
        self.compliance.add_outer(&c.h, c.inverse, self.turned);
        let g = &mut self.compliance.g;
        g.v = sub(g.v, scale(c.h.v, c.c));
        if self.turned {
            g.t = sub(g.t, scale(c.h.t, c.c));
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{sync::Arc, vec::Vec};
    use glam::{Quat, Vec3};

    use crate::{
        JointTransform, Pose, Skeleton,
        joint::{Dof, Joint},
        math,
        solve::full_body::{
            bias::Bias,
            figure_state::{FigureState, NONE},
            soft_zone::{Barrier, SoftZones},
            step::{Recursion, StepInput, bodies},
            tasks::{Task, residuals},
        },
    };

    /// A trunk of two joints; limbs with balls, joints about axes and sliders.
    fn figure() -> Arc<Skeleton> {
        let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
        let mut b = Skeleton::builder();
        let hips = b.add("hips", None, at(0.1, 0.2, 0.0));
        let chest = b.add("chest", Some(hips), at(0.0, 0.5, 0.1));
        let mut turning = Vec::new();
        for side in [-1.0, 1.0] {
            let shoulder = b.add("shoulder", Some(chest), at(0.2 * side, 0.1, 0.0));
            let elbow = b.add("elbow", Some(shoulder), at(0.3 * side, 0.0, 0.05));
            let hand = b.add("hand", Some(elbow), at(0.25 * side, 0.05, 0.0));
            b.add("finger", Some(hand), at(0.1 * side, 0.0, 0.1));
            turning.push(elbow);
        }
        let thigh = b.add("thigh", Some(hips), at(0.1, -0.1, 0.0));
        let piston = b.add("piston", Some(thigh), at(0.0, -0.4, 0.02));
        b.add("foot", Some(piston), at(0.0, -0.1, 0.05));
        let (mut skeleton, ids) = b.build().unwrap();
        skeleton.set_joint(ids[turning[0]], Joint::hinge(Vec3::Y, Dof::FREE)).unwrap();
        skeleton.set_joint(ids[turning[1]], Joint::axes([Some(Dof::FREE), None, Some(Dof::FREE)])).unwrap();
        let slides = [None, Some(Dof::range(-0.5, 0.5)), None];
        skeleton.set_joint(ids[piston], Joint::FREE.with_slide(slides)).unwrap();
        let narrow = Joint::ball(Vec3::X, Vec3::Y, [(-0.01, 0.01), (-0.02, 0.02)], (-0.1, 0.1));
        skeleton.set_joint(skeleton.find("shoulder").unwrap(), narrow).unwrap();
        Arc::new(skeleton)
    }

    /// Limbs step as the joint-by-joint recursion does, with limits, secondary objectives and soft zones.
    #[test]
    fn limbs_step_as_the_trunk_would() {
        let skeleton = figure();
        let root = skeleton.find("hips").unwrap();
        let position = Vec3::new(0.5, 0.6, 0.4);
        let rotation = math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7);
        let wanted = [
            (5, Some(position), Some(rotation), Vec3::new(0.02, 0.01, 0.05)),
            (9, Some(-position), None, Vec3::ZERO),
            (11, Some(Vec3::new(0.3, -0.2, 0.5)), None, Vec3::new(0.1, 0.0, 0.0)),
        ];
        let bias = [
            Bias { posture: 0.0, pole: 0.0, root: None },
            Bias { posture: 0.3, pole: 0.0, root: Some(0.2) },
            Bias { posture: 0.0, pole: 0.0, root: Some(0.0) },
        ];
        for (bias, soft) in bias.into_iter().zip([0.0, 0.0, 0.0]).chain(bias.into_iter().zip([0.5, 0.9, 0.2]))
        {
            let run = |coupled: bool| {
                let mut figure = FigureState::new(&skeleton, root, |_| true);
                let pose = Pose::rest(&skeleton);
                let count = figure.nodes.len();
                figure.load(&pose, &alloc::vec![true; count]).unwrap();
                figure.set_unit(1.0);
                let tasks: Vec<Task> = wanted
                    .iter()
                    .map(|&(node, position, rotation, lever)| Task {
                        node,
                        position,
                        rotation,
                        lever,
                        position_weight: 0.8,
                        rotation_weight: 0.3,
                        other: NONE,
                        ..Task::NOTHING
                    })
                    .collect();
                let (mut recursion, mut zones) = (Recursion::default(), SoftZones::default());
                recursion.fit(&bodies(&figure.nodes), tasks.len(), tasks.len());
                zones.fit(count, tasks.len());
                figure.forward();
                zones.load(&figure, &tasks, soft);
                // The limb with the piston slides, and so has no zone.
                assert_eq!(zones.limbs().len(), if soft > 0.0 { 2 } else { 0 });
                let mut barriers_met = 0;
                recursion.begin(&figure, &tasks, 0, bias.posture > 0.0, coupled);
                assert_eq!(recursion.limbs(), if coupled { 0 } else { wanted.len() });
                let mut list = Vec::new();
                let mut costs = Vec::new();
                for _ in 0..6 {
                    figure.forward();
                    let cost = residuals(&tasks, 0, &figure, &mut list).0;
                    costs.push(cost + zones.cost(&tasks, &figure.frames, 0));
                    zones.update_barriers(&tasks, &figure.frames, 0);
                    barriers_met += zones.barriers.len();
                    let rows: Vec<_> = zones.barriers.iter().filter(|_| coupled).map(Barrier::row).collect();
                    let residual = StepInput {
                        tasks: &tasks,
                        priority: 0,
                        residuals: &list,
                        bends: &[],
                        barriers: &zones.barriers,
                        rows: &rows,
                        masses: &[],
                    };
                    assert!(recursion.step(&mut figure, residual, 0.05, bias));
                }
                assert!(soft == 0.0 || barriers_met > 6, "{barriers_met}");
                let joints: Vec<(Quat, Vec3)> = figure.nodes.iter().map(|n| (n.rotation, n.offset)).collect();
                (joints, costs)
            };
            let ((limbs, costs), (trunk, _)) = (run(false), run(true));
            assert!(bias.posture > 0.0 || costs[5] < 0.5 * costs[0], "{costs:?}");
            for ((q, at), (p, to)) in limbs.into_iter().zip(trunk) {
                assert!(math::angle_between(q, p) < 1e-5 && at.distance(to) < 1e-5, "{q} {p} {at} {to}");
            }
        }
    }
}
