//! What a solver needs of a mechanism for certain goals: the joints that matter, in order, and what moves what.

use alloc::vec::Vec;

use glam::{DAffine3, DVec3};

use super::{
    LinkGoal, LinkId, LinkTarget, Mechanism, NamedDof, Objective, ball,
    dof::DofKind,
    goal::transform,
    model::{BASE, Carried, Frames, Moving, inward, place, six},
    swing::Swing,
};
use crate::math64;

/// A slider that goes further than this many times the length of the bones (in metres where there are none) is taken to
/// have no end: a gantry goes some ten times as far as its arm.
const ENDLESS: f64 = 100.0;
#[derive(Clone, Debug)]
struct PlanGoal {
    link: LinkId,
    relative_to: LinkId,
    priority: u8,
    /// The frame in the link that the plan was made for.
    frame: DAffine3,
    tip: Carried,
    reference: Carried,
    /// For each joint of the plan, how its motion moves the tip as seen from the reference: 1, 0 or -1.
    signs: Vec<f64>,
}

/// One variable: a degree of freedom that the goals depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Var {
    pub dof: usize,
    pub kind: DofKind,
    pub lower: f64,
    pub upper: f64,
    pub velocity: f64,
    /// Whether a whole turn leaves everything where it was: it turns, and so do its followers, a whole number of times.
    pub periodic: bool,
}

impl Var {
    pub fn slides(&self) -> bool {
        self.kind == DofKind::Slide
    }
}

/// The joints and variables that matter for a list of goals.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    joints: Vec<Moving>,
    goals: Vec<PlanGoal>,
    pub vars: Vec<Var>,
    /// The limits of swings, each with the first of its two variables.
    pub swings: Vec<(usize, Swing)>,
    /// The first variables of rotation vectors.
    pub vectors: Vec<usize>,
    /// Metres that a radian counts.
    pub length: f64,
    /// Metres or radians in a unit of each variable: a slider's unit is what a radian counts in metres.
    pub scale: Vec<f64>,
    /// The goals of each priority, highest first.
    pub levels: Vec<Vec<usize>>,
    /// What is wanted where the goals leave something free.
    pub objectives: Vec<Objective>,
    /// See [`Plan::longest`].
    reach: f64,
    /// Whether every joint stands on the one before and has its own variable, in order.
    serial: bool,
}

/// A goal ready for one solve: its target in the plan's terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aim {
    pub target: LinkTarget,
    /// The target in the reference's space.
    pub local: DAffine3,
    frame: DAffine3,
    /// Weights of the six directions; the last three times the length of a radian.
    pub weights: [f64; 6],
    framed: bool,
    /// All directions count alike: no need to turn into the target's frame.
    even: bool,
}

impl Aim {
    /// The same without weight.
    pub fn weightless(&self) -> Self {
        Self { weights: [0.0; 6], even: true, ..*self }
    }

    /// The same frame with every direction counting alike, as for a pose.
    pub fn whole(&self, length: f64) -> Self {
        let target = LinkTarget::Position(DVec3::ZERO);
        Self { target, weights: [1.0, 1.0, 1.0, length, length, length], even: true, ..*self }
    }
}

/// What was found at one goal: the residual in weighted metres, and what it is in metres and radians.
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
        // Where each joint of the mechanism is, as carried by the plan's: those left out stand at their zero.
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
                // Those of one joint stand next to each other here too.
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
        let (scale, objectives) = (Vec::new(), Vec::new());
        let (length, reach) = (1.0, 0.0);
        let mut plan =
            Self { joints, goals, vars, swings, vectors, length, scale, levels, objectives, reach, serial };
        plan.reach = plan.longest(f64::INFINITY);
        plan.set_length(plan.radian());
        plan
    }

    /// Sets the metres that a radian counts.
    pub fn set_length(&mut self, length: f64) {
        self.length = length;
        self.scale = self.vars.iter().map(|v| if v.slides() { length } else { 1.0 }).collect();
    }

    /// Whether there is anything below the goals of the first priority.
    pub fn has_lower_levels(&self) -> bool {
        self.levels.len() > 1 || !self.objectives.is_empty()
    }

    /// Metres that a radian counts, by the mechanism's size: see [`super::JointSpaceSolver::with_radian_length`]. On the
    /// arms of `lab/arm` 0.15 to 0.4 of the length need the same iterations to a tenth.
    fn radian(&self) -> f64 {
        // Sliders without an end have limits of any size in real files; how large the machine is, its bones tell.
        let bones = self.longest(0.0);
        let longest = if bones > 0.0 { self.longest(ENDLESS * bones) } else { self.longest(ENDLESS) };
        // A pure wrist has no length of its own, nor a gantry without ends.
        if longest > 0.0 && longest.is_finite() { 0.25 * longest } else { 1.0 }
    }

    /// The longest way from the first joints to a goal's link, all bones in a line and sliders drawn out,
    /// but for those that go further than `most`.
    fn longest(&self, most: f64) -> f64 {
        let mut longest = 0.0f64;
        let mut reach: Vec<f64> = Vec::with_capacity(self.joints.len());
        for j in &self.joints {
            // What lies before the first joint moves nothing.
            let before = match j.parent {
                BASE => 0.0,
                p => reach[p as usize] + j.rest.translation.length(),
            };
            let var = &self.vars[j.var as usize];
            let way = |v: f64| (j.multiplier * v + j.offset).abs();
            let slide = if j.slides() { way(var.lower).max(way(var.upper)) } else { 0.0 };
            reach.push(before + if slide <= most { slide } else { 0.0 });
        }
        for c in self.goals.iter().flat_map(|g| [g.tip, g.reference]).filter(|c| c.joint != BASE) {
            longest = longest.max(reach[c.joint as usize] + c.offset.translation.length());
        }
        longest
    }

    /// Whether goals are for the links, and of the priorities, that the plan was made for.
    pub fn fits(&self, goals: &[LinkGoal]) -> bool {
        let same = |(p, g): (&PlanGoal, &LinkGoal)| {
            p.link == g.link && p.relative_to == g.relative_to && p.priority == g.priority
        };
        self.goals.len() == goals.len() && self.goals.iter().zip(goals).all(same)
    }

    /// Makes room for the frames of this plan's joints.
    pub fn fit(&self, frames: &mut Frames) {
        let n = self.joints.len();
        frames.fit(n, if self.has_balls() { n } else { 0 });
    }

    /// Whether any joints turn about axes that depend on where they stand.
    #[inline(always)]
    fn has_balls(&self) -> bool {
        !(self.swings.is_empty() && self.vectors.is_empty())
    }

    /// Takes rotation vectors back to within half a turn; whether any was further.
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

    /// Makes a goal ready.
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

    /// Forward kinematics.
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

    /// How far a goal's frame is from its target.
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

    /// The columns of a goal's Jacobian, one a variable, in the units of its residual (which a step along the columns makes
    /// smaller), for variables in units of `scale`.
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
                // The direction to the point turns as the origin moves: d x (-v) / r.
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

    /// [`Plan::columns`] of serial plans, for a goal of which all directions count alike.
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
            *column = six(linear * (weights[0] * scale), angular * weights[3]);
        }
    }

    /// How far a goal's position is out of reach for certain, in metres: past all bones laid in a line. 0 where that is not
    /// known.
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

    /// How many goals there are.
    pub fn goals(&self) -> usize {
        self.goals.len()
    }

    /// Where the frame of the goal that the plan was made for is in its reference's space.
    pub fn seen(&self, goal: usize, frames: &Frames) -> DAffine3 {
        let g = &self.goals[goal];
        let tip = g.tip.frame(frames) * g.frame;
        rigid_inverse(&g.reference.frame(frames)) * tip
    }
}

/// What was seen of one goal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sight {
    /// The frame that is to be moved.
    tip: DAffine3,
    /// Where it should be. For looking: z is the direction to the point, x of the translation the distance.
    to: DAffine3,
    pub miss: Miss,
}

/// [`Plan::look`] for a frame that should look at a point.
fn looking(tip: DAffine3, to: DAffine3, axis: DVec3, w: &[f64; 6]) -> Sight {
    let way = to.translation - tip.translation;
    // At the point itself every direction is right; far below any tolerance of a length it is not told apart.
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
        // Straight away from the point: any axis across will do.
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

fn rigid_inverse(t: &DAffine3) -> DAffine3 {
    let back = t.matrix3.transpose();
    DAffine3 { matrix3: back, translation: -(back * t.translation) }
}
