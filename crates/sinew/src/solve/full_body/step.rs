//! A damped least-squares step: an inward pass that eliminates dofs, and an outward pass that solves for them.
//!
//! See [`super::FullBody`] for the mathematics.

use alloc::vec::Vec;

use glam::{Quat, Vec3, Vec4};

use super::{
    active_set::ActiveSet,
    bend::Bend,
    bias::Bias,
    column::{self, Column, Joint, Kind, State},
    cost::{BallDofs, QuadraticCost, Twist, add, dot, scale, wide},
    couple::Coupling,
    figure_state::{FigureState, NONE, Node, Turns, empty},
    limb::Limb,
    soft_zone::Barrier,
    tasks::{Residual, Row, Task},
};
use crate::math;

/// Tasks and constraints of one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepInput<'a> {
    pub tasks: &'a [Task],
    /// Highest priority number that takes part.
    pub priority: u8,
    /// Residual of each task.
    pub residuals: &'a [Residual],
    /// Limbs, some of them with a pole or swivel.
    pub bends: &'a [Option<Bend>],
    /// Barriers of limbs in their soft zones.
    pub barriers: &'a [Barrier],
    pub rows: &'a [Row],
    /// Fraction of the total mass that moves with each node, and its centre in the node's orientation, in figure sizes.
    pub masses: &'a [(f64, Vec3)],
}

/// Maximum rotation of a joint in one step, as 2 tan(angle / 2). The linearisation fails beyond 1 rad.
const MAX_STEP_TURN: f64 = 1.0;

/// Share of a ball's step that a limit must take to be active. With 0.1, as for chains, people's arms that are led up do not
/// arrive (`sinew-cli/tests/human.rs`).
const TAKEN: f32 = 0.02;

/// Part of the figure that a joint belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Part {
    /// No task is at the joint or below.
    Idle,
    /// The limb of this index.
    Limb(usize),
    /// Joints where limbs meet, and their ancestors.
    #[default]
    Trunk,
}

/// State of a joint in the recursion.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Body {
    /// Range of the joint's columns.
    pub first: usize,
    pub end: usize,
    pub active: ActiveSet,
    part: Part,
    /// Whether any of the joint's dofs moves a task.
    moves: bool,
    /// Whether it has more dofs than those of a ball, apart from the root's translations.
    beyond_ball: bool,
    /// Whether it is the ball of a limb without active limits and secondary objectives in this step.
    plain: bool,
    /// Number of tasks at the joint and below.
    tasks: usize,
    turn: [f64; 3],
    /// Rotation at which `coordinates` and `axes` were evaluated, for a joint that rotates about axes.
    known: Option<Quat>,
    coordinates: [f32; 3],
    /// Axes of the coordinates, in the parent's orientation.
    axes: [Vec3; 3],
}

/// Articulated-body recursion for damped least-squares steps, with its buffers.
#[derive(Debug, Default)]
pub(super) struct Recursion {
    columns: Vec<Column>,
    bodies: Vec<Body>,
    balls: Vec<BallDofs>,
    costs: Vec<QuadraticCost>,
    twists: Vec<Twist>,
    limbs: Vec<Limb>,
    /// Joints of the trunk, tops of limbs, and other joints that move; parents before children.
    order: Vec<usize>,
    /// What the parts, limbs and order were found for: the kinds of goal of each task, then of the descent.
    shape: Vec<[bool; 4]>,
    coupling: Coupling,
}

/// The dofs and joints of a figure.
pub(super) fn bodies(nodes: &[Node]) -> (Vec<Column>, Vec<Body>) {
    let (mut columns, mut bodies) = (Vec::new(), Vec::new());
    for n in nodes {
        let first = columns.len();
        columns.extend(column::kinds(n).map(Column::new));
        bodies.push(Body { first, end: columns.len(), ..Body::default() });
    }
    (columns, bodies)
}

impl Recursion {
    /// Copies the dofs and joints of a solver, and reserves memory for a number of tasks and a maximum number of constraint
    /// rows.
    pub fn fit(&mut self, (columns, bodies): &(Vec<Column>, Vec<Body>), tasks: usize, rows: usize) {
        self.columns.clear();
        self.columns.extend_from_slice(columns);
        self.bodies.clear();
        self.bodies.extend_from_slice(bodies);
        self.coupling.fit(bodies.len(), columns.len(), rows);
        // Each step writes the rest before it reads it.
        self.balls.resize(bodies.len(), BallDofs::default());
        self.costs.resize(bodies.len(), QuadraticCost::default());
        self.twists.resize(bodies.len(), Twist::ZERO);
        empty(&mut self.limbs, tasks);
        empty(&mut self.order, bodies.len());
        empty(&mut self.shape, tasks + 1);
    }

    /// Clears the active sets and finds the joints that move tasks. `all`: every joint moves. `coupled`: there may be
    /// constraint rows, so no joint is in a limb.
    pub fn begin(&mut self, figure: &FigureState, tasks: &[Task], priority: u8, all: bool, coupled: bool) {
        for c in &mut self.columns {
            c.state = State::Idle;
        }
        let goals = tasks.iter().map(|t| {
            let (turns, moves) = (t.rotation.is_some(), t.position.is_some());
            [t.priority <= priority, turns, moves, t.lever != Vec3::ZERO]
        });
        let shape = goals.chain([[all, coupled, figure.nodes[0].max_turn == f32::INFINITY, true]]);
        if self.shape.iter().copied().eq(shape.clone()) {
            for (body, node) in self.bodies.iter_mut().zip(&figure.nodes) {
                let ActiveSet { turns, slides, .. } = body.active;
                let free_ball = turns && node.turns == Turns::Ball;
                body.active = ActiveSet { turns, slides, free_ball, ..ActiveSet::default() };
                (body.known, body.plain) = (None, false);
            }
            return;
        }
        self.shape.clear();
        self.shape.extend(shape);
        for body in &mut self.bodies {
            body.active = ActiveSet { turns: all, slides: all, ..ActiveSet::default() };
            (body.part, body.tasks, body.known, body.plain) = (Part::Trunk, 0, None, false);
        }
        // Joints that stay, and those of limbs, write no twist.
        self.twists.fill(Twist::ZERO);
        self.limbs.clear();
        for (n, task) in tasks.iter().enumerate() {
            if task.priority > priority || (task.position.is_none() && task.rotation.is_none()) {
                continue;
            }
            let body = &mut self.bodies[task.node];
            body.active.slides |= task.position.is_some();
            body.active.turns |=
                task.rotation.is_some() || (task.position.is_some() && task.lever != Vec3::ZERO);
            body.tasks += 1;
            if task.other != NONE {
                let other = &mut self.bodies[task.other].active;
                (other.turns, other.slides) = (true, true);
            } else if task.position.is_some() && !coupled {
                self.limbs.push(Limb::new(n, task.node));
            }
        }
        for i in (0..self.bodies.len()).rev() {
            let (above, below) = self.bodies.split_at_mut(i);
            let (body, node) = (&mut below[0], &figure.nodes[i]);
            let ActiveSet { turns, slides, .. } = body.active;
            if let Some(above) = above.get_mut(node.parent) {
                above.tasks += body.tasks;
                above.active.turns |= turns || slides;
                above.active.slides |= turns || slides;
            }
            // The columns of a ball that is free are idle.
            body.active.free_ball = turns && node.turns == Turns::Ball;
            let slides = slides && node.slides != [false; 3];
            body.beyond_ball = node.turns != Turns::Ball || slides;
            body.moves = (turns && node.turns != Turns::Fixed) || slides || node.parent == NONE;
            if body.tasks == 0 && !coupled {
                body.part = Part::Idle;
            }
        }
        if !coupled {
            self.find_limbs(figure);
        }
        self.list_joints(figure);
    }

    /// Whether a joint is in a limb.
    pub fn in_limb(&self, node: usize) -> bool {
        matches!(self.bodies[node].part, Part::Limb(_))
    }

    /// Number of limbs.
    #[cfg(test)]
    pub fn limbs(&self) -> usize {
        self.bodies
            .iter()
            .zip(0..)
            .filter(|(b, i)| matches!(b.part, Part::Limb(l) if self.limbs[l].top == *i))
            .count()
    }

    fn find_limbs(&mut self, figure: &FigureState) {
        for (l, limb) in self.limbs.iter_mut().enumerate() {
            let mut at = limb.end;
            while at != NONE && self.bodies[at].tasks == 1 {
                self.bodies[at].part = Part::Limb(l);
                limb.top = at;
                at = figure.nodes[at].parent;
            }
        }
    }

    /// Moves the joints of limbs with poles to the trunk until the next [`Recursion::begin`], as their middle joints carry
    /// tasks.
    pub fn include_poles(&mut self, figure: &FigureState, bends: &[Option<Bend>]) {
        self.shape.clear();
        for bend in bends.iter().flatten().filter(|b| b.is_led()) {
            let mut at = bend.middle;
            self.bodies[at].active.slides = true;
            while at != NONE {
                let body = &mut self.bodies[at];
                if at != bend.middle {
                    (body.active.turns, body.active.slides) = (true, true);
                }
                body.part = Part::Trunk;
                body.moves = true;
                at = figure.nodes[at].parent;
            }
        }
        // Limbs that remain below start at their new tops.
        for (l, limb) in self.limbs.iter_mut().enumerate() {
            let mut at = limb.end;
            while at != NONE && self.bodies[at].part == Part::Limb(l) {
                limb.top = at;
                at = figure.nodes[at].parent;
            }
        }
        self.list_joints(figure);
    }

    /// Lists the joints that a step visits.
    fn list_joints(&mut self, figure: &FigureState) {
        let Self { bodies, limbs, order, .. } = self;
        order.clear();
        for (i, body) in bodies.iter().enumerate() {
            let visited = match body.part {
                Part::Idle => body.moves,
                Part::Limb(l) => limbs[l].top == i,
                Part::Trunk => true,
            };
            if visited {
                order.push(i);
            }
        }
        for (l, limb) in limbs.iter_mut().enumerate() {
            let is_free = |i: usize| {
                let Body { active, beyond_ball, .. } = bodies[i];
                active.free_ball && !beyond_ball && figure.nodes[i].is_free()
            };
            let mut at = limb.end;
            while at != limb.top && bodies[at].part == Part::Limb(l) && !bodies[at].moves {
                at = figure.nodes[at].parent;
            }
            limb.first = at;
            while at != limb.top && is_free(at) {
                at = figure.nodes[at].parent;
            }
            limb.free = at == limb.top && bodies[at].part == Part::Limb(l) && is_free(at);
        }
    }

    /// Holds the root's own slides until the next [`Recursion::begin`].
    pub fn hold_root(&mut self) {
        self.shape.clear();
        self.bodies[0].active.slides = false;
    }

    /// Makes one step of `figure`. False where the step is not finite.
    pub fn step(&mut self, figure: &mut FigureState, input: StepInput, damping: f64, bias: Bias) -> bool {
        for &i in &self.order {
            self.costs[i] = QuadraticCost::default();
        }
        for (task, residual) in input.tasks.iter().zip(input.residuals) {
            let trunk = !matches!(self.bodies[task.node].part, Part::Limb(_));
            if trunk && task.other == NONE && task.priority <= input.priority {
                task.add_to(&mut self.costs[task.node], &figure.frames, *residual);
            }
        }
        if bias.pole > 0.0 {
            for bend in input.bends.iter().flatten() {
                bend.add_to(&mut self.costs[bend.middle], &figure.frames, bias.pole);
            }
        }
        self.inward(figure, input, damping, bias);
        if !input.rows.is_empty() {
            let Self { columns, bodies, balls, .. } = self;
            self.coupling.add(columns, bodies, balls, figure, input.rows, input.masses);
        }
        let max_turn = self.outward(figure);
        if !max_turn.is_finite() {
            return false;
        }
        let k = if max_turn > MAX_STEP_TURN { MAX_STEP_TURN / max_turn } else { 1.0 };
        figure.moved = true;
        let mut displacement = Vec3::ZERO;
        let Self { columns, bodies, balls, limbs, order, .. } = self;
        for &i in order.iter() {
            match bodies[i].part {
                Part::Limb(l) if limbs[l].plain => turn_free(&limbs[l], bodies, balls, figure, k),
                Part::Limb(l) => {
                    displacement += limb_apply(&limbs[l], bodies, columns, figure, k);
                }
                Part::Idle | Part::Trunk if bodies[i].moves => {
                    let (node, base) = (&mut figure.nodes[i], figure.frames[i].base);
                    displacement += bodies[i].apply(columns, node, base, k);
                }
                Part::Idle | Part::Trunk => {}
            }
        }
        if displacement != Vec3::ZERO {
            figure.move_root(displacement);
        }
        true
    }

    /// Leaves to root: eliminates the dofs of each joint, and adds the remaining cost to its parent.
    fn inward(&mut self, figure: &FigureState, input: StepInput, damping: f64, bias: Bias) {
        let root = if bias.root.is_some() { figure.root_moved() } else { Vec3::ZERO };
        let at = |j: usize| figure.frames[j].at;
        let Self { columns, bodies, balls, costs, limbs, order, .. } = self;
        for &i in order.iter().rev() {
            let (node, frame) = (&figure.nodes[i], &figure.frames[i]);
            match bodies[i].part {
                Part::Limb(l) => {
                    let limb = &mut limbs[l];
                    let residual = input.residuals[limb.task];
                    limb.begin(&input.tasks[limb.task], &figure.frames, residual, input.barriers);
                    limb.plain = limb.is_plain(bias) && (node.parent != NONE || bias.root.is_none());
                    if limb.plain {
                        limb.eliminate_free(figure, balls, damping);
                    } else {
                        limb_inward(limb, bodies, columns, balls, figure, damping, bias, root);
                    }
                    let point = limb.point;
                    let cost = limb.cost();
                    if node.parent != NONE {
                        costs[node.parent].add_from(cost, wide(point - at(node.parent)));
                    }
                }
                part => {
                    let (above, below) = costs.split_at_mut(i);
                    let body = &mut bodies[i];
                    if body.moves {
                        let joint = body.joint(node, frame.base, columns, &mut balls[i], root);
                        joint.eliminate(&mut below[0], damping, bias);
                    }
                    if part == Part::Trunk && node.parent != NONE {
                        above[node.parent].add_from(&below[0], wide(frame.at - at(node.parent)));
                    }
                }
            }
        }
    }

    /// Root to leaves: solves each dof for the motion of its body. Returns the maximum rotation, as 2 tan(angle / 2).
    fn outward(&mut self, figure: &FigureState) -> f64 {
        let mut max_turn = 0.0f64;
        let Self { columns, bodies, balls, twists, limbs, order, .. } = self;
        for &i in order.iter() {
            let (node, frame) = (&figure.nodes[i], &figure.frames[i]);
            let carried = |to: Vec3| match node.parent {
                NONE => Twist::ZERO,
                p => twists[p].seen_from(wide(to - figure.frames[p].at)),
            };
            let body = &mut bodies[i];
            if let Part::Limb(l) = body.part {
                let limb = &mut limbs[l];
                if !limb.solve_wrench(&carried(limb.point)) {
                    return f64::NAN;
                }
                max_turn = if limb.plain {
                    limb.solve_free(figure, balls, max_turn)
                } else {
                    limb_outward(limb, bodies, columns, balls, figure, max_turn)
                };
                continue;
            }
            let mut x = carried(frame.at);
            let mut turned = [0.0; 3];
            let columns = body.columns(columns);
            // In reverse order of elimination.
            for c in columns.iter_mut().rev().filter(|c| c.state == State::Free) {
                c.step = c.c - c.inverse * c.h.dot(&x);
                let motion = scale(c.axis, c.step);
                if c.slides() {
                    x.v = add(x.v, motion);
                } else {
                    x.t = add(x.t, motion);
                    turned = add(turned, motion);
                }
            }
            if body.active.free_ball {
                turned = balls[i].turn(&x);
                x.t = add(x.t, turned);
            }
            body.active.release(columns, &x);
            if !x.is_finite() {
                return f64::NAN;
            }
            twists[i] = x;
            body.turn = turned;
            max_turn = max_turn.max(dot(turned, turned));
        }
        crate::math64::sqrt(max_turn)
    }
}

/// Eliminates the dofs of a limb.
#[allow(clippy::too_many_arguments)]
fn limb_inward(
    limb: &mut Limb,
    bodies: &mut [Body],
    columns: &mut [Column],
    balls: &mut [BallDofs],
    figure: &FigureState,
    damping: f64,
    bias: Bias,
    root: Vec3,
) {
    let mut i = limb.end;
    loop {
        let (body, node, frame) = (&mut bodies[i], &figure.nodes[i], &figure.frames[i]);
        if body.moves {
            limb.set_arm(frame.at);
            let ActiveSet { free_ball, .. } = body.active;
            let translates = node.parent == NONE && bias.root.is_some();
            let plain = free_ball && body.active.normals.is_empty() && !body.beyond_ball && !node.eases;
            body.plain = plain && !translates && bias.posture == 0.0;
            if body.plain {
                limb.add_ball(&mut balls[i], damping * node.motion_weight);
            } else {
                let joint = body.joint(node, frame.base, columns, &mut balls[i], root);
                joint.eliminate(limb, damping, bias);
            }
        }
        limb.finish_joint(i);
        if i == limb.top {
            break;
        }
        i = node.parent;
    }
}

/// Solves the dofs of a limb for its wrench. Returns the larger of `max_turn` and the maximum squared rotation.
fn limb_outward(
    limb: &mut Limb,
    bodies: &mut [Body],
    columns: &mut [Column],
    balls: &[BallDofs],
    figure: &FigureState,
    mut max_turn: f64,
) -> f64 {
    // From its end up to the barrier, the dofs feel the barrier's force too.
    let inner = limb.wrench;
    let mut wrench = limb.wrench_beyond();
    let mut i = limb.end;
    loop {
        let (body, frame) = (&mut bodies[i], &figure.frames[i]);
        if body.plain && body.moves {
            body.turn = scale(limb.torque_at(frame.at, &wrench), balls[i].compliance);
            max_turn = max_turn.max(dot(body.turn, body.turn));
        } else if body.moves {
            let mut turned = [0.0; 3];
            let columns = body.columns(columns);
            for c in columns.iter_mut().filter(|c| c.state == State::Free) {
                c.step = c.c + c.inverse * c.h.dot(&wrench);
                if !c.slides() {
                    turned = add(turned, scale(c.axis, c.step));
                }
            }
            if body.active.free_ball {
                let ball = &balls[i];
                turned = add(ball.c, scale(limb.torque_at(frame.at, &wrench), ball.compliance));
            }
            if !columns.is_empty() {
                body.active.release(columns, &wrench.times(-1.0));
            }
            body.turn = turned;
            max_turn = max_turn.max(dot(turned, turned));
        }
        if i == limb.top {
            return max_turn;
        }
        if limb.starts_barrier(i) {
            wrench = inner;
        }
        i = figure.nodes[i].parent;
    }
}

/// Applies `k` times the step of a plain limb.
fn turn_free(limb: &Limb, bodies: &[Body], balls: &[BallDofs], figure: &mut FigureState, k: f64) {
    // From the top, which forward kinematics needs first.
    let nodes = limb.top..=limb.first;
    let part = bodies[limb.top].part;
    let each = bodies[nodes.clone()].iter().zip(&balls[nodes.clone()]);
    let each = each.zip(&mut figure.nodes[nodes.clone()]).zip(&figure.frames[nodes]);
    for (((_, ball), node), frame) in each.filter(|e| e.0.0.0.part == part) {
        node.rotation = turned(node.rotation, frame.base, scale(ball.c, k));
    }
}

/// Applies `k` times the step of a limb. Returns the root's displacement.
fn limb_apply(
    limb: &Limb,
    bodies: &mut [Body],
    columns: &[Column],
    figure: &mut FigureState,
    k: f64,
) -> Vec3 {
    let mut displacement = Vec3::ZERO;
    let mut i = limb.end;
    loop {
        let (body, node, base) = (&mut bodies[i], &mut figure.nodes[i], figure.frames[i].base);
        if body.plain && node.is_free() {
            node.rotation = turned(node.rotation, base, scale(body.turn, k));
        } else if body.moves {
            displacement += body.apply(columns, node, base, k);
        }
        if i == limb.top {
            return displacement;
        }
        i = node.parent;
    }
}

/// The local rotation after a rotation in model space by the Cayley map. `base` is the parent's orientation.
#[inline]
fn turned(rotation: Quat, base: Quat, [x, y, z]: [f64; 3]) -> Quat {
    let step = Vec3::new(x as f32, y as f32, z as f32);
    if step == Vec3::ZERO {
        return rotation;
    }
    let t = 0.5 * math::rotate(math::conjugate(base), step);
    // Cayley map, normalised together with the product, whose squared length is 1 to 1.25.
    let q = math::mul(Quat::from_xyzw(t.x, t.y, t.z, 1.0), rotation);
    Quat::from_vec4(Vec4::from(q) * (1.0 / math::sqrt(math::dot(q, q))))
}

impl Body {
    /// The joint, ready for its dofs to be eliminated.
    #[inline]
    fn joint<'a>(
        &'a mut self,
        node: &'a Node,
        base: Quat,
        columns: &'a mut [Column],
        ball: &'a mut BallDofs,
        root: Vec3,
    ) -> Joint<'a> {
        if matches!(node.turns, Turns::Axes(_)) && self.active.turns && self.known != Some(node.rotation) {
            self.coordinates = node.limits.coordinates(node.rotation);
            (_, self.axes) = node.limits.about_axes(self.coordinates);
            self.known = Some(node.rotation);
        }
        let columns = &mut columns[self.first..self.end];
        let Self { active, coordinates, axes, .. } = self;
        Joint { node, base, columns, ball, active, coordinates, axes, root }
    }

    /// The joint's columns, without those of a ball that has no active limits.
    fn columns<'a>(&self, all: &'a mut [Column]) -> &'a mut [Column] {
        let first = if self.active.free_ball { self.first + 6 } else { self.first };
        &mut all[first..self.end]
    }

    /// Applies `k` times the joint's step within its limits. Adds the limits that it meets to the active set. Returns the
    /// root's displacement.
    #[inline]
    fn apply(&mut self, columns: &[Column], node: &mut Node, base: Quat, k: f64) -> Vec3 {
        let mut columns = &columns[self.first..self.end];
        if node.turns == Turns::Ball && self.active.turns {
            let step = scale(self.turn, k);
            if step != [0.0; 3] {
                let wanted = turned(node.rotation, base, step);
                let next = node.no_further(node.limits.clamp(wanted));
                node.rotation = next;
                self.active.normals.add(wanted, next, TAKEN * math::sqrt(dot(step, step) as f32));
            }
            columns = &columns[6..];
        }
        let mut to = None;
        let mut displacement = Vec3::ZERO;
        for c in columns.iter().filter(|c| c.state == State::Free) {
            let by = (k * c.step) as f32;
            match c.kind {
                Kind::Angle(n) => to.get_or_insert(self.coordinates)[n] = self.coordinates[n] + by,
                Kind::Slide(n) => {
                    // In the parent's units.
                    let (size, by) = (node.unit.abs(), by / node.unit.abs());
                    let from = node.limits.slide_of(node.offset)[n];
                    let to = node.limits.slide_plainly(n, from, from + by);
                    node.slide_to(n, to);
                    self.active.add_bound(3 + n, by, (to - from - by) * size);
                }
                Kind::Root(n) => displacement[n] = by,
                Kind::Tangent | Kind::Normal(_) => {}
            }
        }
        if let Some(to) = to {
            let from = self.coordinates;
            let mut next = node.limits.plain_coordinates(from, to);
            let (wanted, axes) = node.limits.about_axes(next);
            node.rotation = node.no_further(wanted);
            self.axes = axes;
            if node.rotation != wanted {
                let kept = node.rotation;
                next = node.limits.coordinates(kept);
                (node.rotation, self.axes) = node.limits.about_axes(next);
                // Near a pole of the angles, rounding in f32 may change the rotation, beyond the bound.
                if node.no_further(node.rotation) != node.rotation {
                    node.rotation = kept;
                }
            }
            (self.known, self.coordinates) = (Some(node.rotation), next);
            for n in 0..3 {
                self.active.add_bound(n, to[n] - from[n], next[n] - to[n]);
            }
        }
        displacement
    }
}
