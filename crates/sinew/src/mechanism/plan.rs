//! Plans: the part of a mechanism on which certain goals depend.

use alloc::vec::Vec;

use glam::{DAffine3, DVec3};

use super::{
    LinkGoal, LinkId, LinkTarget, Mechanism, NamedDof, Objective, ObjectiveKind, ball,
    dof::DofKind,
    goal::transform,
    model::{BASE, Carried, Frames, Moving, inward, place, six},
    swing::Swing,
};
use crate::{joint::ease_weight, math64};

/// Longest slider that counts for a machine's size, as a multiple of the length of the bones (in metres where they have
/// none). A longer one is taken as unlimited; a gantry travels some ten times the length of its arm.
const ENDLESS: f64 = 100.0;

/// One goal of a plan: its frames, and the joints that move them.
#[derive(Clone, Debug)]
struct PlanGoal {
    link: LinkId,
    relative_to: LinkId,
    priority: u8,
    /// Frame in the link that the plan was made for.
    frame: DAffine3,
    tip: Carried,
    reference: Carried,
    /// Sign of each joint's effect on the tip as seen from the reference: 1, 0 or -1.
    signs: Vec<f64>,
}

/// Variable of a solve: a degree of freedom on which the goals depend.
#[derive(Clone, Copy, Debug)]
pub(super) struct Var {
    pub dof: usize,
    pub kind: DofKind,
    pub lower: f64,
    pub upper: f64,
    pub velocity: f64,
    /// Share of half the range before each limit in which it stiffens; see [`Plan::eased`].
    pub ease: f64,
    /// Share of each step that it omits.
    pub stiffness: f64,
    /// Value that it takes where the goals leave it free.
    pub preferred: Option<f64>,
    /// Whether a whole turn returns to the same pose: it turns, and so do its followers, a whole number of times.
    pub periodic: bool,
}

impl Var {
    pub fn slides(&self) -> bool {
        self.kind == DofKind::Slide
    }
}

/// The joints and variables on which a list of goals depends.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    joints: Vec<Moving>,
    goals: Vec<PlanGoal>,
    pub vars: Vec<Var>,
    /// Limits of swings, each with the first of its two variables.
    pub swings: Vec<(usize, Swing)>,
    /// First variable of each rotation vector.
    pub vectors: Vec<usize>,
    /// Length of a radian, in metres.
    pub length: f64,
    /// Unit of each variable, in radians or metres: 1 for turns, the length of a radian for sliders, times what stiffness
    /// leaves of a step. So a step of stiffness s has the weight 1 / (1 - s)^2; one of stiffness 1 is not made.
    pub scale: Vec<f64>,
    /// Whether a variable stiffens near its limits.
    pub eases: bool,
    /// Whether a variable does not move at all.
    pub locks: bool,
    /// Goals of each priority, highest first.
    pub levels: Vec<Vec<usize>>,
    /// Null-space objectives.
    pub objectives: Vec<Objective>,
    /// Longest reach, in metres; see [`Plan::longest`].
    reach: f64,
    /// Whether every joint is a child of the one before and has its own variable, in order.
    serial: bool,
}

/// A goal prepared for one solve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    pub target: LinkTarget,
    /// Target as a transform in the reference's space.
    pub local: DAffine3,
    frame: DAffine3,
    /// Weights of the six directions; the last three are times the length of a radian.
    pub weights: [f64; 6],
    framed: bool,
    /// Whether all directions count alike, so that the residual need not be rotated into the target's frame.
    even: bool,
}

impl Aim {
    /// Returns the goal with all weights 0.
    pub fn weightless(&self) -> Self {
        Self { weights: [0.0; 6], even: true, ..*self }
    }

    /// Returns a goal for the same frame with equal weights, as for a pose.
    pub fn whole(&self, length: f64) -> Self {
        let target = LinkTarget::Position(DVec3::ZERO);
        Self { target, weights: [1.0, 1.0, 1.0, length, length, length], even: true, ..*self }
    }
}

/// Residual of one goal: in weighted metres by direction, and as a distance in metres and an angle in radians.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Miss {
    pub residual: [f64; 6],
    pub position: f64,
    pub rotation: f64,
}

impl Plan {
    pub fn new(mechanism: &Mechanism, goals: &[LinkGoal]) -> Self {
        let mut used = alloc::vec![false; mechanism.joints.len()];
        for goal in goals {
            mechanism.path(goal.relative_to, goal.link).for_each(|j| used[j] = true);
        }
        let mut dof_var = alloc::vec![u32::MAX; mechanism.dofs.len()];
        let mut vars: Vec<Var> = Vec::new();
        let (mut swings, mut vectors) = (Vec::new(), Vec::new());
        let mut joints: Vec<Moving> = Vec::new();
        // Each joint of the mechanism as a frame on the plan's joints. Joints outside the plan are at 0.
        let mut carried: Vec<Carried> = Vec::with_capacity(mechanism.joints.len());
        for (j, joint) in mechanism.joints.iter().enumerate() {
            let on = if joint.parent == BASE { Carried::BASE } else { carried[joint.parent as usize] };
            let rest = on.offset * joint.rest;
            if !used[j] {
                carried.push(Carried { joint: on.joint, offset: rest });
                continue;
            }
            let dof = joint.var as usize;
            if dof_var[dof] == u32::MAX {
                dof_var[dof] = vars.len() as u32;
                let NamedDof { kind: of, dof: d, .. } = &mechanism.dofs[dof];
                // The variables of one joint are adjacent here too.
                match joint.kind {
                    DofKind::Swing if joint.leads => {
                        let own = mechanism.swings.iter().find(|s| s.0 == dof);
                        swings.extend(own.map(|s| (vars.len(), s.1)));
                    }
                    DofKind::Vector if joint.leads => vectors.push(vars.len()),
                    _ => {}
                }
                vars.push(Var {
                    dof,
                    kind: *of,
                    lower: d.range.min,
                    upper: d.range.max,
                    velocity: d.speed,
                    ease: if d.range.is_bounded() { d.ease } else { 0.0 },
                    stiffness: d.stiffness,
                    preferred: d.preferred,
                    periodic: matches!(of, DofKind::Turn | DofKind::Twist),
                });
            }
            vars[dof_var[dof] as usize].periodic &=
                !joint.slides() && math64::round(joint.multiplier) == joint.multiplier;
            carried.push(Carried { joint: joints.len() as u32, offset: DAffine3::IDENTITY });
            joints.push(Moving { rest, parent: on.joint, var: dof_var[dof], ..*joint });
        }
        let place = |link: LinkId| {
            let Carried { joint, offset } = mechanism.links[link.index()].at;
            let on = if joint == BASE { Carried::BASE } else { carried[joint as usize] };
            Carried { joint: on.joint, offset: on.offset * offset }
        };
        let above = |c: Carried| {
            let mut on = alloc::vec![0.0; joints.len()];
            inward(&joints, c.joint).for_each(|j| on[j] = 1.0);
            on
        };
        let plan_goal = |g: &LinkGoal| {
            let (tip, reference) = (place(g.link), place(g.relative_to));
            let signs = above(tip).iter().zip(above(reference)).map(|(t, r)| t - r).collect();
            let (link, relative_to, priority, frame) = (g.link, g.relative_to, g.priority, g.frame);
            PlanGoal { link, relative_to, priority, frame, tip, reference, signs }
        };
        let mut priorities: Vec<u8> = goals.iter().map(|g| g.priority).collect();
        priorities.sort_unstable();
        priorities.dedup();
        let of = |p: u8| (0..goals.len()).filter(|&g| goals[g].priority == p).collect();
        let levels = priorities.into_iter().map(of).collect();
        let goals: Vec<PlanGoal> = goals.iter().map(plan_goal).collect();
        let on_last = |(i, j): (usize, &Moving)| {
            j.parent == (i as u32).wrapping_sub(1)
                && j.var == i as u32
                && j.multiplier == 1.0
                && j.offset == 0.0
        };
        let serial = goals.len() == 1
            && goals[0].reference.joint == BASE
            && goals[0].tip.joint == (joints.len() as u32).wrapping_sub(1)
            && joints.iter().enumerate().all(on_last);
        let preferring = vars.iter().any(|v| v.preferred.is_some());
        let objectives = preferring.then(|| Objective::new(ObjectiveKind::Preferred)).into_iter().collect();
        let scale = Vec::new();
        let (length, reach) = (1.0, 0.0);
        let eases = vars.iter().any(|v| v.ease > 0.0);
        let locks = vars.iter().any(|v| v.stiffness >= 1.0);
        let mut plan = Self {
            joints,
            goals,
            vars,
            swings,
            vectors,
            length,
            scale,
            eases,
            locks,
            levels,
            objectives,
            reach,
            serial,
        };
        plan.reach = plan.longest(f64::INFINITY);
        plan.set_length(plan.radian());
        plan
    }

    /// Sets the length of a radian, in metres.
    pub fn set_length(&mut self, length: f64) {
        self.length = length;
        self.scale = self.vars.iter().map(|v| self.unit(v) * (1.0 - v.stiffness)).collect();
    }

    /// Unit of a variable without stiffness, in radians or metres.
    pub fn unit(&self, var: &Var) -> f64 {
        if var.slides() { self.length } else { 1.0 }
    }

    /// Restores variables that do not move from `start`, whose swings are within their ellipses.
    pub fn lock(&self, start: &[f64], values: &mut [f64]) {
        if !self.locks {
            return;
        }
        for (i, var) in self.vars.iter().enumerate() {
            if var.stiffness >= 1.0 {
                values[i] = start[i];
            }
        }
        for &(at, swing) in &self.swings {
            [values[at], values[at + 1]] =
                swing.on_the_way([start[at], start[at + 1]], [values[at], values[at + 1]]);
        }
    }

    /// Share of a step that ease leaves of each variable at `values`, for a step that increases it where `slope` is positive.
    ///
    /// A variable that moves towards its limit, at a depth y in its zone of width z, has the speed sqrt(1 - y / z) of one
    /// outside ([`eased`](crate::joint::eased)). In a step it is the unit of the variable: others take over what it omits,
    /// and where none can, it moves as far as the goal needs. Both swings of a ball share the depth of their ellipse.
    pub fn eased(&self, values: &[f64], slope: impl Fn(usize) -> f64, mut put: impl FnMut(usize, f64)) {
        let share = |room, zone| math64::sqrt(ease_weight(room, zone));
        for (i, var) in self.vars.iter().enumerate() {
            if var.ease > 0.0 && var.kind != DofKind::Swing {
                let zone = 0.5 * (var.upper - var.lower) * var.ease;
                let near = if slope(i) > 0.0 { var.upper - values[i] } else { values[i] - var.lower };
                if near < zone {
                    put(i, share(near, zone));
                }
            }
        }
        for &(at, swing) in &self.swings {
            let ease = self.vars[at].ease;
            if ease == 0.0 {
                continue;
            }
            let place = [values[at], values[at + 1]];
            let (normal, level) = (swing.normal(place), math64::sqrt(swing.level(place)));
            let out = normal[0] * slope(at) + normal[1] * slope(at + 1);
            if out > 0.0 && level > 1.0 - ease {
                let share = share(1.0 - level, ease);
                put(at, share);
                put(at + 1, share);
            }
        }
    }

    /// Whether there are lower priorities or objectives.
    pub fn has_lower_levels(&self) -> bool {
        self.levels.len() > 1 || !self.objectives.is_empty()
    }

    /// Returns the default length of a radian, in metres, by the mechanism's size; see
    /// [`super::JointSpaceSolver::with_radian_length`]. On the arms of `lab/arm` 0.15 to 0.4 of the reach need the same
    /// number of iterations, to a tenth.
    fn radian(&self) -> f64 {
        // Unlimited sliders have limits of any size in real files. The bones tell how large the machine is.
        let bones = self.longest(0.0);
        let longest = if bones > 0.0 { self.longest(ENDLESS * bones) } else { self.longest(ENDLESS) };
        // A pure wrist has no length of its own, nor has an unlimited gantry.
        if longest > 0.0 && longest.is_finite() { 0.25 * longest } else { 1.0 }
    }

    /// Returns the longest distance from the first joints to a goal's link, in metres: all bones in a line and sliders fully
    /// extended, except sliders longer than `max`.
    fn longest(&self, max: f64) -> f64 {
        let mut longest = 0.0f64;
        let mut reach: Vec<f64> = Vec::with_capacity(self.joints.len());
        for j in &self.joints {
            // Bones before the first joint do not move.
            let before = match j.parent {
                BASE => 0.0,
                p => reach[p as usize] + j.rest.translation.length(),
            };
            let var = &self.vars[j.var as usize];
            let way = |v: f64| (j.multiplier * v + j.offset).abs();
            let slide = if j.slides() { way(var.lower).max(way(var.upper)) } else { 0.0 };
            reach.push(before + if slide <= max { slide } else { 0.0 });
        }
        for c in self.goals.iter().flat_map(|g| [g.tip, g.reference]).filter(|c| c.joint != BASE) {
            longest = longest.max(reach[c.joint as usize] + c.offset.translation.length());
        }
        longest
    }

    /// Whether goals have the links and priorities that the plan was made for.
    pub fn fits(&self, goals: &[LinkGoal]) -> bool {
        let same = |(p, g): (&PlanGoal, &LinkGoal)| {
            p.link == g.link && p.relative_to == g.relative_to && p.priority == g.priority
        };
        self.goals.len() == goals.len() && self.goals.iter().zip(goals).all(same)
    }

    /// Allocates the frames of this plan's joints.
    pub fn fit(&self, frames: &mut Frames) {
        let n = self.joints.len();
        frames.fit(n, if self.has_balls() { n } else { 0 });
    }

    /// Whether any joint's axes depend on its values.
    #[inline(always)]
    fn has_balls(&self) -> bool {
        !(self.swings.is_empty() && self.vectors.is_empty())
    }

    /// Shortens rotation vectors to within half a turn, and returns whether any was longer.
    pub fn shorten(&self, values: &mut [f64]) -> bool {
        let mut any = false;
        for &at in &self.vectors {
            let long = [values[at], values[at + 1], values[at + 2]];
            let short = ball::within_half_turn(long);
            any |= short != long;
            values[at..at + 3].copy_from_slice(&short);
        }
        any
    }

    /// Prepares a goal for a solve.
    pub fn aim(&self, goal: &LinkGoal) -> Aim {
        let l = self.length;
        let [a, b, c, d, e, f] = goal.weights;
        let (p, r) = match goal.target {
            LinkTarget::Pose(..) => (1.0, 1.0),
            LinkTarget::Position(_) => (1.0, 0.0),
            LinkTarget::Rotation(_) | LinkTarget::LookAt(..) => (0.0, 1.0),
        };
        let weights = match goal.target {
            LinkTarget::LookAt(..) => {
                [0.0, 0.0, 0.0, d.max(e).max(f) * l, d.max(e).max(f) * l, d.max(e).max(f) * l]
            }
            _ => [a * p, b * p, c * p, d * r * l, e * r * l, f * r * l],
        };
        let even = weights[0] == weights[1]
            && weights[1] == weights[2]
            && weights[3] == weights[4]
            && weights[4] == weights[5];
        Aim {
            target: goal.target,
            local: transform(&goal.target),
            frame: goal.frame,
            framed: goal.frame != DAffine3::IDENTITY,
            weights,
            even,
        }
    }

    /// Computes the frames of the joints (forward kinematics).
    #[inline]
    pub fn place(&self, values: &[f64], frames: &mut Frames) {
        if self.has_balls() {
            return place(&self.joints, values, frames);
        }
        let mut last = DAffine3::IDENTITY;
        let mut before = BASE;
        for (i, joint) in self.joints.iter().enumerate() {
            let on = if joint.parent == before && before != BASE {
                last * joint.rest
            } else if joint.parent == BASE {
                joint.rest
            } else {
                frames.joints[joint.parent as usize] * joint.rest
            };
            last = joint.moved(&on, values[joint.var as usize]);
            frames.joints[i] = last;
            before = i as u32;
        }
    }

    /// Measures the residual of a goal.
    #[inline]
    pub fn look(&self, goal: usize, aim: &Aim, frames: &Frames) -> Sight {
        let g = &self.goals[goal];
        let mut tip = g.tip.frame(frames);
        if aim.framed {
            tip *= aim.frame;
        }
        let to = g.reference.frame(frames) * aim.local;
        let w = &aim.weights;
        if let LinkTarget::LookAt(axis, _) = aim.target {
            return looking(tip, to, axis, w);
        }
        let mut linear = to.translation - tip.translation;
        let mut angular = match w[3] + w[4] + w[5] > 0.0 {
            true => math64::rotation_vector(&(to.matrix3 * tip.matrix3.transpose())),
            false => DVec3::ZERO,
        };
        if aim.even {
            let counts = |weight: f64, l: f64| if weight > 0.0 { l } else { 0.0 };
            let miss = Miss {
                residual: six(linear * w[0], angular * w[3]),
                position: counts(w[0], math64::sqrt(linear.length_squared())),
                rotation: counts(w[3], math64::sqrt(angular.length_squared())),
            };
            return Sight { tip, to, miss };
        }
        let back = to.matrix3.transpose();
        (linear, angular) = (back * linear, back * angular);
        let e = six(linear, angular);
        let norm = |k: usize| {
            let part = |i: usize| if w[i] > 0.0 { e[i] * e[i] } else { 0.0 };
            math64::sqrt(part(k) + part(k + 1) + part(k + 2))
        };
        let miss =
            Miss { residual: core::array::from_fn(|i| e[i] * w[i]), position: norm(0), rotation: norm(3) };
        Sight { tip, to, miss }
    }

    /// Computes the columns of a goal's Jacobian, one per variable, in the units of its residual, for variables in units of
    /// `scale`. A step along the columns reduces the residual.
    #[inline]
    pub fn columns(&self, goal: usize, aim: &Aim, frames: &Frames, sight: &Sight, columns: &mut [[f64; 6]]) {
        let scale = &self.scale;
        let end = sight.tip.translation;
        let w = &aim.weights;
        let looks = matches!(aim.target, LinkTarget::LookAt(..));
        if self.serial && aim.even && !looks {
            let z = frames.joints.iter().map(|frame| frame.matrix3.z_axis);
            return match self.has_balls() {
                true => self.serial_columns(w, frames, frames.axes.iter().copied(), end, columns),
                false => self.serial_columns(w, frames, z, end, columns),
            };
        }
        columns.fill([0.0; 6]);
        let back = sight.to.matrix3.transpose();
        let signs = &self.goals[goal].signs;
        for (i, ((joint, frame), sign)) in self.joints.iter().zip(&frames.joints).zip(signs).enumerate() {
            if *sign == 0.0 {
                continue;
            }
            let var = joint.var as usize;
            let axis = frames.axes.get(i).unwrap_or(&frame.matrix3.z_axis);
            let z = *axis * (sign * joint.multiplier * scale[var]);
            let (linear, angular) = joint.velocity(z, frame, end);
            let c = if let LinkTarget::LookAt(..) = aim.target {
                // The direction to the point rotates as the origin moves: d x (-v) / r.
                let (d, r) = (sight.to.matrix3.z_axis, sight.to.translation.x);
                let turned = angular - d * d.dot(angular);
                six(DVec3::ZERO, turned + d.cross(linear) / r)
            } else if aim.even {
                six(linear, angular)
            } else {
                six(back * linear, back * angular)
            };
            for k in 0..6 {
                columns[var][k] += c[k] * w[k];
            }
        }
    }

    /// Computes [`Plan::columns`] of serial plans, for a goal whose directions all count alike.
    #[inline(always)]
    fn serial_columns(
        &self,
        weights: &[f64; 6],
        frames: &Frames,
        axes: impl Iterator<Item = DVec3>,
        end: DVec3,
        columns: &mut [[f64; 6]],
    ) {
        let joints = self.joints.iter().zip(&frames.joints).zip(axes);
        for (((joint, frame), axis), (column, scale)) in joints.zip(columns.iter_mut().zip(&self.scale)) {
            let (linear, angular) = joint.velocity(axis, frame, end);
            *column = six(linear * (weights[0] * scale), angular * (weights[3] * scale));
        }
    }

    /// Returns a lower bound on the distance of a goal's position from the reach, in metres: the distance past all bones in
    /// a line. 0 where it is unknown.
    pub fn out_of_reach(&self, aims: &[Aim]) -> f64 {
        if !self.serial || !matches!(aims[0].target, LinkTarget::Pose(..) | LinkTarget::Position(_)) {
            return 0.0;
        }
        if !aims[0].even || aims[0].weights[0] == 0.0 {
            return 0.0;
        }
        let tip = aims[0].frame.translation;
        let reach = self.reach + tip.length();
        let to = self.goals[0].reference.offset * aims[0].local;
        ((to.translation - self.joints[0].rest.translation).length() - reach).max(0.0)
    }

    /// Returns the number of goals.
    pub fn goals(&self) -> usize {
        self.goals.len()
    }

    /// Returns the transform of a goal's frame, as the plan was made for it, in its reference's space.
    pub fn seen(&self, goal: usize, frames: &Frames) -> DAffine3 {
        let g = &self.goals[goal];
        let tip = g.tip.frame(frames) * g.frame;
        rigid_inverse(&g.reference.frame(frames)) * tip
    }
}

/// Measurement of one goal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sight {
    /// Transform of the frame that moves, in base space.
    tip: DAffine3,
    /// Target of the frame, in base space. For a look-at, z is the direction to the point and x of the translation its
    /// distance.
    to: DAffine3,
    pub miss: Miss,
}

/// Measures a look-at; see [`Plan::look`].
fn looking(tip: DAffine3, to: DAffine3, axis: DVec3, w: &[f64; 6]) -> Sight {
    let way = to.translation - tip.translation;
    // At the point itself every direction is right. The minimum is far below any tolerance of a length.
    let distance = math64::sqrt(way.length_squared()).max(1e-9);
    let from = tip.matrix3 * (axis / math64::sqrt(axis.length_squared()));
    let d = way / distance;
    let across = from.cross(d);
    let (s, c) = (math64::sqrt(across.length_squared()), from.dot(d));
    let angle = math64::atan2(s, c);
    let turn = if s > 1e-12 {
        across * (angle / s)
    } else if c > 0.0 {
        across
    } else {
        // Directly away from the point: any perpendicular axis serves.
        let e = if d.x.abs() < 0.6 { DVec3::X } else { DVec3::Y };
        let e = e - d * e.dot(d);
        e * (angle / math64::sqrt(e.length_squared()))
    };
    let mut to = to;
    to.matrix3.z_axis = d;
    to.translation = DVec3::new(distance, 0.0, 0.0);
    let rotation = if w[3] > 0.0 { angle } else { 0.0 };
    let miss = Miss { residual: six(DVec3::ZERO, turn * w[3]), position: 0.0, rotation };
    Sight { tip, to, miss }
}

/// Returns the inverse of a rotation with a translation.
fn rigid_inverse(t: &DAffine3) -> DAffine3 {
    let back = t.matrix3.transpose();
    DAffine3 { matrix3: back, translation: -(back * t.translation) }
}
