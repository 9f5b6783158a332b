//! The driver that all iterative solvers of chains share: influences, the soft zone, stretching, poles, fresh starts, traces
//! and reports. A solver provides its [`Method`] and its [`Sweep`].

mod trace;

pub(crate) use trace::{Trace, Watch};
pub use trace::{TraceChange, TracePass, TraceStep};

use alloc::vec::Vec;

use glam::{Affine3, Quat, Vec3};
use thiserror::Error;

use super::{
    arc::{FAR, LONGEST, distance, twist_towards},
    chain_solver::Request,
    chain_state::{Ask, ChainState, IN_ALL, Maps, Newton, Node, Part, parts},
    check,
    choice::{AS_NEAR, AT_REST, Choice},
    incoming::{Incoming, Led},
    options::{IterativeOptions, check_stretch},
    parent_space,
};
use crate::{
    Chain, ChainError, Goal, JointId, Outcome, Pole, Pose, Report, Skeleton, SolveError, Workspace,
    joint::{Attribute, Capability, UnsupportedAttribute},
    math,
};

/// Reasons why joints do not make a chain for a solver.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ChainSolverError {
    /// Root and tip do not make a chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// Root and tip are one joint without an offset, so there is no end to move.
    #[error("joint `{joint}` alone is no chain: it needs a joint below it, or an offset at the tip")]
    Single {
        /// Name of the joint.
        joint: alloc::string::String,
    },
    /// A joint has an attribute that the solver cannot honour.
    #[error(transparent)]
    Joint(#[from] UnsupportedAttribute),
}

/// A sweep that removes less than this share of the residual has stalled. Near full extension a chain still gains some
/// thousandths a sweep.
const STALLED: f32 = 2e-4;

/// A sweep that leaves more than this share of the residual is slow.
const SLOW: f32 = 0.3;

/// Distance to a goal, as a share of the chain's length, within which steps alone follow it where they reach it. A sweep
/// turns single joints far even for a short distance (CCD's tip by ten times the distance, on a chain of ten bones). The
/// share is six times the motion per frame of a goal that crosses the chain's length in a second.
const NEAR: f32 = 0.1;

/// Maximum number of rounds, each a sweep and the steps after it, of a chain with a bound on turns. A round that reduces the
/// residual by less than a hundredth is the last.
const ROUNDS: u32 = 16;

/// Share of the chain's length by which the solution without a bound on turns must be nearer than the bounded one, so that
/// the chain moves towards it.
const WORTH: f32 = 0.01;

/// Weight that draws a chain that cannot meet its goal back to the input pose: chain lengths of residual per square radian;
/// see [`Newton::settle`]. Chains of three hinges jump in 1.2 % of their frames with 0.05, and in 0.5 % with this. With a
/// larger weight, more chains would stay further from their goals than [`GIVEN_UP`] allows.
const PULL: f32 = 0.07;

/// Share of the chain's length by which settling may increase the residual: as much as solutions of fresh starts may differ
/// and still count as equally near.
const GIVEN_UP: f32 = 0.01;

/// Share of its bound on turns above which a joint counts as held by the bound: a joint that is turned back ends between
/// 0.99 and 0.9999 of it.
const AT_BOUND: f32 = 0.98;

/// Radians that a joint may turn per chain length that the end moves, in a pose that continues from the last one. Two equal
/// bones with a soft zone of 5 % need six, at the onset of the zone.
const SMOOTH: f32 = 7.5;

/// Whether no joint of the chain has ease, stiffness, damping or a precedence.
fn plain(skeleton: &Skeleton, chain: &Chain) -> bool {
    let resist = [Attribute::Ease, Attribute::Stiffness, Attribute::Damping, Attribute::Precedence];
    let has = |joint: &JointId| resist.iter().any(|a| skeleton.joint(*joint).attributes().has(*a));
    !chain.joints().iter().any(has)
}

/// Chain lengths beyond which a goal counts as a direction for steps of least squares. Steps are judged by how much they
/// reduce the distance, which f32 resolves less the larger it is (Buss & Kim 2005 clamp it likewise).
const FAR_FOR_STEPS: f32 = 2.0;

/// The iteration of a solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Sweeps alone.
    Sweeps,
    /// Sweeps alone, from a chain that is pulled straight where the goal is out of reach.
    SweepsFromStraight,
    /// Steps of least squares alone.
    Steps,
    /// Steps of least squares first, and sweeps where they stall.
    Both,
}

/// One update of every joint.
pub(crate) trait Sweep {
    /// Turns and slides the joints of the chain towards the task, within their limits. `nodes` is a buffer for the sweep.
    fn sweep(&self, links: &mut ChainState, nodes: &mut Vec<Node>, ask: &Ask, trace: &mut Trace);
}

/// The sweep of a solver that makes none.
impl Sweep for () {
    fn sweep(&self, _: &mut ChainState, _: &mut Vec<Node>, _: &Ask, _: &mut Trace) {}
}

/// Returns an error unless the chain has an end to move and a solver of this capability can honour its joints.
pub(crate) fn admit(
    skeleton: &Skeleton,
    chain: &Chain,
    capability: Capability,
) -> Result<(), ChainSolverError> {
    if chain.joints().len() == 1 && chain.tip_offset() == Vec3::ZERO {
        return Err(ChainSolverError::Single { joint: skeleton.name(chain.root()).into() });
    }
    Ok(capability.check(skeleton, chain.joints().iter().copied())?)
}

/// A solver's precomputed data of its chain.
#[derive(Clone, Debug)]
pub(crate) struct ChainPlan {
    chain: Chain,
    method: Method,
    /// The moving parts, in the order of a sweep.
    pub parts: Vec<Part>,
    /// The moving parts, in the order of the chain.
    columns: Vec<Part>,
    /// Whether no joint has ease, stiffness, damping or a precedence.
    plain: bool,
    /// Whether all joints are free, and the method makes use of it.
    free: bool,
}

/// Buffers of a solve.
#[derive(Debug, Default)]
pub(crate) struct ChainScratch {
    pub links: ChainState,
    newton: Newton,
    maps: Maps,
    nodes: Vec<Node>,
    /// The best pose of the current start.
    best: Vec<(Quat, Vec3)>,
    /// The pose chosen among the starts so far.
    chosen: Vec<(Quat, Vec3)>,
    /// The best pose of the first start.
    first: Vec<(Quat, Vec3)>,
    other: Vec<(Quat, Vec3)>,
    /// The initial pose of a solve within a bound on turns.
    start: Vec<(Quat, Vec3)>,
    /// The pose after steps within that bound. Where sweeps or steps are the whole method, the pose before one of them.
    near: Vec<(Quat, Vec3)>,
    /// The pose before its bones were stretched.
    slack: Vec<(Quat, Vec3)>,
    /// The pose before it was turned to its pole.
    unturned: Vec<(Quat, Vec3)>,
}

impl ChainScratch {
    /// Reserves memory for a chain.
    pub fn reserve(&mut self, plan: &ChainPlan) {
        let Self { links, newton, maps, nodes, best, chosen, first, other, start, near, slack, unturned } =
            self;
        let joints = plan.chain.joints().len();
        newton.begin(&plan.columns, joints, plan.method == Method::Steps);
        if plan.free {
            maps.reserve(&plan.chain);
        }
        if best.capacity() >= joints {
            return;
        }
        links.reserve(&plan.chain);
        nodes.resize(joints, Node::default());
        for kept in [best, chosen, first, other, start, near, slack, unturned] {
            kept.clear();
            kept.reserve(joints);
        }
    }
}

/// The side that the middle of the chain turns to.
#[derive(Clone, Copy)]
struct Side {
    pole: Pole,
    swivel: f32,
}

impl Side {
    const KEPT: Self = Self { pole: Pole::Keep, swivel: 0.0 };

    fn is_kept(self) -> bool {
        self.pole == Pole::Keep && self.swivel == 0.0
    }
}

/// Options of a solve, with the solver's own defaults filled in.
#[derive(Clone, Copy)]
struct Settings {
    options: IterativeOptions,
    max_iterations: u32,
    max_restarts: u32,
    stretch: f32,
}

/// State of one solve.
pub(crate) struct Run<'a, 't, S> {
    plan: &'a ChainPlan,
    on: &'a mut ChainScratch,
    settings: Settings,
    sweep: &'a S,
    trace: Trace<'t>,
    /// Maximum turn of a joint, in radians: that of the settings, or infinite while the solution without a bound is
    /// searched.
    max_turn: f32,
    /// Maximum number of fresh starts after a stall.
    starts: u32,
    /// The position that solutions are judged by; steps of least squares may aim at a nearer one in its direction.
    judged: Vec3,
}

/// Result of a search.
struct Found {
    report: Report,
    /// Residual of the initial pose, in metres (see `Ask::cost`).
    initial: f32,
    /// Whether the task is met, whose position a soft zone may have put nearer than the goal.
    met: bool,
}

/// The task of a search, and its relation to the goal.
#[derive(Clone, Copy)]
struct Asked {
    ask: Ask,
    /// Distance in metres from the goal to the reach of the input pose's bones, 0 within it.
    by: f32,
    /// Distance in metres from the goal to the reach of the stretched bones, 0 within it.
    beyond: f32,
    /// Whether the goal is near enough for its position to count, not only its direction.
    seen: bool,
    /// Factor by which bones were stretched for it.
    longer: f32,
}

impl ChainPlan {
    /// The plan for a chain that a solver of this capability can honour.
    pub fn new(
        skeleton: &Skeleton,
        chain: Chain,
        capability: Capability,
        method: Method,
    ) -> Result<Self, ChainSolverError> {
        admit(skeleton, &chain, capability)?;
        let parts = parts(skeleton, &chain);
        let mut columns = parts.clone();
        // Steps go down the chain, whatever the order of a sweep.
        columns.sort_by_key(|part| part.link);
        let free = method == Method::Both && Maps::serve(skeleton, &chain);
        Ok(Self { plain: plain(skeleton, &chain), free, chain, method, parts, columns })
    }

    /// The solver's chain, from root to tip.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// See [`ChainSolver::reserve`](super::ChainSolver::reserve).
    pub fn reserve(&self, workspace: &mut Workspace) {
        workspace.scratch::<ChainScratch>().reserve(self);
    }

    /// See [`ChainSolver::solve_traced`](super::ChainSolver::solve_traced).
    pub fn solve<S: Sweep>(
        &self,
        workspace: &mut Workspace,
        sweep: &S,
        stretch: f32,
        request: Request,
    ) -> Result<Report, SolveError> {
        let Request { pose, goal, options, watch } = request;
        options.check()?;
        check_stretch(stretch)?;
        let rotation = check::goal(goal)?;
        pose.update();
        let (iterations, restarts) = if self.method == Method::Both { (200, 4) } else { (32, 0) };
        let mut settings = Settings {
            options: *options,
            max_iterations: options.max_iterations.unwrap_or(iterations),
            max_restarts: options.max_restarts.unwrap_or(restarts),
            stretch,
        };
        let on = workspace.scratch::<ChainScratch>();
        on.reserve(self);
        let ends = (self.chain.root(), self.chain.tip(), self.chain.tip_offset());
        if rotation.is_none() && parent_space::is_sheared(pose, ends.0) {
            check::frame(pose, ends.1, "the tip's frame", ends.2 != Vec3::ZERO)?;
            return parent_space::solve(pose, ends, goal, |pose, goal, space| {
                settings.options.position_tolerance = space.tolerance(options.position_tolerance);
                let trace = Trace::new(watch, space.model());
                Run::new(self, on, settings, sweep, trace).solve(pose, goal, None)
            });
        }
        let trace = Trace::new(watch, Affine3::IDENTITY);
        Run::new(self, on, settings, sweep, trace).solve(pose, goal, rotation)
    }
}

impl<'a, 't, S: Sweep> Run<'a, 't, S> {
    fn new(
        plan: &'a ChainPlan,
        on: &'a mut ChainScratch,
        settings: Settings,
        sweep: &'a S,
        trace: Trace<'t>,
    ) -> Self {
        let max_turn = settings.options.max_turn;
        let mut run = Self { plan, on, settings, sweep, trace, max_turn, starts: 0, judged: Vec3::ZERO };
        if run.max_turn == f32::INFINITY {
            run.starts = run.starts();
        }
        run
    }

    /// Maximum number of fresh starts after a stall. A method that tries everything gets its first one in addition.
    fn starts(&self) -> u32 {
        self.settings.max_restarts.saturating_add(u32::from(self.plan.method == Method::Both))
    }

    fn solve(&mut self, pose: &mut Pose, goal: &Goal, rotation: Option<Quat>) -> Result<Report, SolveError> {
        self.on.links.load(&self.plan.chain, pose, rotation.is_some())?;
        self.on.links.turn_at_most(self.max_turn);
        let chain = &self.plan.chain;
        let asked = goal.position.unwrap_or_else(|| chain.end(pose));
        let weight = self.settings.options.influence;
        let (by_place, by_turn) = (goal.position_influence, goal.rotation_influence);
        // The pole belongs to the position.
        let side = if by_place > 0.0 { Side { pole: goal.pole, swivel: goal.swivel } } else { Side::KEPT };
        let turn = rotation.filter(|_| by_turn > 0.0);
        let led = Led { end: true, root: false, rotation: turn.is_some(), pole: !side.is_kept() };
        let incoming = Incoming::new(chain, pose, self.on.links.length(), led);
        let tolerance = self.settings.options.position_tolerance;
        let (_, reached) = tolerance.with_rounding(self.on.links.length(), self.on.links.rounding);
        let mut report = Report::default();
        if weight > 0.0 && (by_place > 0.0 || turn.is_some()) {
            let held = chain.end(pose);
            let place = if by_place > 0.0 { asked } else { held };
            report = self.run(place, turn, side);
            // Partial influences blend each part of the goal by itself: between the solutions with and without the rotation,
            // and with and without the position.
            let partly = |w: f32| w > 0.0 && w < 1.0;
            if turn.is_some() && partly(by_turn) {
                self.blend_from(place, None, side, 1.0, by_turn);
            }
            if turn.is_some() && partly(by_place) {
                self.blend_from(held, turn, Side::KEPT, by_turn, by_place);
            } else if by_place < 1.0 && turn.is_none() {
                self.on.links.blend(by_place);
            }
            if weight < 1.0 {
                self.on.links.blend(weight);
            }
            // Between two solutions within the bound, a joint may exceed it.
            self.on.links.turn_back();
            self.on.links.store(pose);
            report.branch_changed = incoming.changed(&self.plan.chain, pose, self.on.links.turned());
        }
        let end = self.plan.chain.end(pose);
        report.position_residual = distance(end, asked);
        report.position_tolerance = reached;
        report.rotation_tolerance = self.settings.options.rotation_tolerance;
        if let Some(rotation) = rotation {
            report.rotation_residual =
                math::angle_between(pose.model_rotation(self.plan.chain.tip()), rotation);
        }
        Ok(report)
    }

    /// Blends from the solution of another goal to the current one, which gets `weight`. The other solution
    /// is first reduced to the fraction `part` of its change.
    fn blend_from(&mut self, place: Vec3, turn: Option<Quat>, side: Side, part: f32, weight: f32) {
        self.on.links.keep(&mut self.on.other);
        self.on.links.reset();
        let kept = core::mem::take(&mut self.on.other);
        self.run(place, turn, side);
        if part < 1.0 {
            self.on.links.blend(part);
        }
        self.on.links.blend_to(&kept, weight);
        self.on.other = kept;
    }

    /// Solves with full influence, from the loaded pose.
    fn run(&mut self, place: Vec3, turn: Option<Quat>, side: Side) -> Report {
        let asked = self.ask(place, turn);
        let report = if self.max_turn == f32::INFINITY || self.plan.method != Method::Both {
            self.search(asked, side).report
        } else {
            self.bounded(asked, place, side)
        };
        if asked.longer > 1.0 { self.slacken(asked, side, report) } else { report }
    }

    /// Undoes the part of a stretch that increases the residual: limits and bounds on turns may hold joints at angles where
    /// longer bones point away from the goal. If the residual is still larger than the input pose's, solves again with
    /// unstretched bones, then stretches them as far as that reduces the residual.
    #[cold]
    fn slacken(&mut self, asked: Asked, side: Side, mut report: Report) -> Report {
        let Asked { ask, by, seen, longer, .. } = asked;
        if ask.met(self.on.links.measure(&ask)) {
            return report;
        }
        let ChainScratch { links, slack, best, .. } = &mut *self.on;
        links.stretch_towards(ask.place, slack, longer);
        links.keep(best);
        let left = self.judge(&ask, self.on.links.measure(&ask));
        self.on.links.put(&self.on.slack);
        if left <= self.judge(&ask, self.on.links.measure(&ask)) {
            self.on.links.put(&self.on.best);
        } else {
            let again = self.search(asked, side).report;
            report = Report { iterations: report.iterations + again.iterations, ..again };
            let ChainScratch { links, slack, .. } = &mut *self.on;
            links.stretch_towards(ask.place, slack, longer);
        }
        if by <= ask.near && seen && ask.met(self.on.links.measure(&ask)) {
            report.outcome = Outcome::Converged;
        }
        report
    }

    /// Solves within a bound on turns. Where the bound keeps steps from the goal, it searches for the solution without the
    /// bound, and moves the chain towards it as far as the bound allows; see [`Newton::part_way`].
    fn bounded(&mut self, asked: Asked, place: Vec3, side: Side) -> Report {
        let Asked { ask, by, seen, .. } = asked;
        let Found { mut report, initial, met } = self.search(asked, side);
        if met {
            return report;
        }
        let links = &mut self.on.links;
        let mut near = ask.cost(links.measure(&ask));
        // No fresh start brings a chain nearer to a goal out of reach, and a bound that no joint has reached holds no steps
        // back.
        let beyond = by > ask.near;
        let free = near <= initial && links.turned() < AT_BOUND * self.max_turn;
        if beyond && free && self.finishes() {
            return report;
        }
        let close = initial <= NEAR * 2.0 * ask.radian;
        let links = &mut self.on.links;
        links.keep(&mut self.on.near);
        // The solution without a bound.
        links.reset();
        let max_turn = core::mem::replace(&mut self.max_turn, f32::INFINITY);
        links.turn_at_most(self.max_turn);
        let asked = self.ask(place, ask.turn);
        self.on.links.keep(&mut self.on.start);
        if near > initial {
            (near, report.outcome) = (initial, Outcome::Stalled);
            self.on.near.clone_from(&self.on.start);
        }
        // Near its goal the chain may rest against its limits for many frames: then only the first fresh start is tried.
        self.starts = match () {
            _ if beyond => 0,
            _ if close => 1,
            _ => self.starts(),
        };
        let far = self.search(asked, side).report;
        (self.max_turn, self.starts) = (max_turn, 0);
        report.iterations += far.iterations;
        let ChainScratch { links, newton, near: kept, start, best, .. } = &mut *self.on;
        links.turn_at_most(max_turn);
        let left = links.measure(&ask);
        // The steps within the bound are kept where they will reach that solution sooner: it needed no fresh start or the
        // goal is near, and they have removed their share of the residual.
        let share = (max_turn / links.turned()).min(1.0);
        let simple = far.restarts == 0 || close;
        let leads = simple && near <= (1.0 - share) * initial;
        if !leads && (ask.met(left) || ask.cost(left) < near - WORTH * 2.0 * ask.radian) {
            links.keep(best);
            links.put(start);
            report.iterations += newton.part_way(links, &ask, best, self.settings.max_iterations);
            let left = links.measure(&ask);
            if ask.cost(left) <= initial {
                report.outcome = if seen && ask.met(left) { Outcome::Converged } else { report.outcome };
                return report;
            }
        }
        links.put(kept);
        report
    }

    /// Builds the task from a goal and the loaded pose.
    fn ask(&mut self, place: Vec3, turn: Option<Quat>) -> Asked {
        let length = self.on.links.length();
        let by = self.on.links.out_of_reach(place);
        // No chain grows beyond a length that f32 can square.
        let stretch = self.settings.stretch.min((LONGEST / length).max(1.0));
        // A goal far away counts as a direction.
        let far = if self.plan.method == Method::Steps { FAR_FOR_STEPS } else { FAR };
        let near = self.on.links.in_sight(place, length, stretch, far);
        let (target, mut longer) = self.on.links.drawn_in(near, self.settings.options.soft, stretch);
        self.judged = target;
        if near != place && far < FAR {
            let place = self.on.links.in_sight(place, length, stretch, FAR);
            self.judged = self.on.links.drawn_in(place, self.settings.options.soft, stretch).0;
        }
        let ask = self.on.links.ask(target, turn, &self.settings.options);
        // A goal that the input pose meets leaves the bones as they are.
        if longer > 1.0 && ask.met(self.on.links.measure(&ask)) {
            longer = 1.0;
        }
        if longer > 1.0 {
            self.on.links.keep(&mut self.on.slack);
            self.on.links.stretch_to(&self.on.slack, longer);
        }
        let beyond = if longer > 1.0 { self.on.links.out_of_reach(place) } else { by };
        Asked { ask, by, beyond, seen: near == place, longer }
    }

    /// Searches for the goal from the current pose, within the current bound on turns.
    fn search(&mut self, asked: Asked, side: Side) -> Found {
        let mut report = Report::default();
        let Asked { ask, beyond, seen, .. } = asked;
        let turn = ask.turn;
        let (mut left, mut status) = (self.on.links.measure(&ask), Outcome::Converged);
        let initial = self.judge(&ask, left);
        // A goal out of reach is never met, and a chain that is already straight shows by not moving.
        if !ask.met(left) {
            // Not for a goal that a soft zone has drawn within reach: pulling the chain straight would make it jump.
            let held = self.max_turn.is_finite();
            let pulls = matches!(self.plan.method, Method::SweepsFromStraight | Method::Both);
            if pulls && turn.is_none() && !held && self.on.links.out_of_reach(ask.place) > 0.0 {
                self.on.links.pull_straight(&ask, left, &mut self.on.best);
            }
            left = self.on.links.measure(&ask);
            status = self.descend(&ask, seen, left, &mut report);
        }
        if !side.is_kept() {
            let mut side = side;
            // With a rotation goal, the chain turned about its axis takes the tip along, which then turns back. Where limits
            // or a bound on turns prevent that, the pole yields: it may not increase the residual above the initial one, nor
            // above that without the pole by more than the tolerance.
            let allowed = initial.min(self.judge(&ask, self.on.links.measure(&ask)) + ask.near);
            for _ in 0..4 {
                // The bound is reduced by what the rounding of turning back would take: it would not turn back about the
                // same axis.
                let left = (IN_ALL * self.max_turn - self.on.links.turned()).max(0.0);
                let angle = self.to_side(&mut side).clamp(-left, left);
                self.on.links.keep(&mut self.on.unturned);
                // A smaller angle is rounding of the mean position.
                if angle.abs() < 2e-5 || !self.on.links.swivel(angle) {
                    break;
                }
                // Where sweeps or steps are the whole method, only they count as iterations.
                report.iterations += u32::from(self.plan.method == Method::Both);
                if turn.is_none() {
                    break;
                }
                let before = status;
                let left = self.on.links.measure(&ask);
                status = self.descend(&ask, seen, left, &mut report);
                let left = self.on.links.measure(&ask);
                if !ask.met(left) && self.judge(&ask, left) > allowed {
                    self.on.links.put(&self.on.unturned);
                    status = before;
                    break;
                }
            }
        }
        // The residual must not exceed that of the solution put within its limits.
        if self.on.links.outside {
            let left = self.on.links.measure(&ask);
            // A goal met within the tolerance keeps the pose.
            let cost = if ask.met(left) { 0.0 } else { self.judge(&ask, left) };
            self.on.links.keep(&mut self.on.best);
            self.on.links.put_within();
            self.on.links.turn_back();
            if self.judge(&ask, self.on.links.measure(&ask)) >= cost {
                self.on.links.put(&self.on.best);
            }
        }
        if self.max_turn.is_finite() {
            // Steps stay within the bound; sweeps may not.
            let links = &mut self.on.links;
            if links.turn_back() && status == Outcome::Converged && !ask.met(links.measure(&ask)) {
                status = Outcome::Stalled;
            }
        }
        let met = status == Outcome::Converged;
        if status == Outcome::Converged && !seen {
            // A slide without an end may reach the position to which the goal was brought near.
            status = Outcome::Stalled;
        }
        report.outcome = status;
        report.out_of_reach = if beyond > ask.near { beyond } else { 0.0 };
        Found { report, initial, met }
    }

    /// The residual by which solutions are judged, in metres. `left` is the residual of `ask` in the current pose.
    fn judge(&self, ask: &Ask, left: (f32, f32)) -> f32 {
        if self.plan.method != Method::Steps {
            return ask.cost(left);
        }
        let ask = Ask { place: self.judged, ..*ask };
        ask.cost(self.on.links.measure(&ask))
    }

    /// Whether the method makes steps of least squares beside sweeps.
    fn finishes(&self) -> bool {
        self.plan.method == Method::Both && self.plan.plain
    }

    /// Sweeps until the goal is met, nothing moves or the iterations are used up. Leaves the best pose found.
    fn descend(&mut self, ask: &Ask, seen: bool, start: (f32, f32), report: &mut Report) -> Outcome {
        let mut left = start;
        let mut best = self.judge(ask, left);
        self.on.links.keep(&mut self.on.best);
        let finish = self.finishes();
        let length = self.on.links.length();
        let (mut restarts, mut slow, mut choice) = (0, 0, None);
        let (mut next, mut pause) = (0, 2);
        // After a fresh start steps go first, as they stay on the side of that start.
        let mut fresh = finish;
        if finish && !ask.met(left) {
            let follows = self.follow(ask, left, report);
            left = self.on.links.measure(ask);
            if ask.met(left) {
                return Outcome::Converged;
            }
            let nearer = ask.cost(left) < best;
            let held = self.max_turn.is_finite();
            if follows && held {
                if !nearer {
                    self.on.links.put(&self.on.best);
                }
                let out = report.iterations >= self.settings.max_iterations;
                return if out { Outcome::OutOfIterations } else { Outcome::Stalled };
            }
            if nearer {
                best = ask.cost(left);
                self.on.links.keep(&mut self.on.best);
            }
            if follows {
                // Sweeps would only make slow progress from where steps have stalled.
                (fresh, slow) = (true, 2);
            }
        }
        let status = loop {
            if ask.met(left) {
                break Outcome::Converged;
            }
            if report.iterations >= self.settings.max_iterations || self.trace.stopped() {
                break Outcome::OutOfIterations;
            }
            if slow >= 2 {
                if restarts >= self.starts
                    || matches!(self.on.links.out_of_reach(ask.place), by if by > ask.near)
                {
                    break Outcome::Stalled;
                }
                self.choose(&mut choice, best / length);
                self.on.links.restart(restarts, ask);
                (restarts, slow) = (restarts + 1, 0);
                report.restarts = restarts;
                (fresh, pause) = (finish, 2);
                left = self.on.links.measure(ask);
                best = self.judge(ask, left);
                self.on.links.keep(&mut self.on.best);
            }
            let before = ask.cost(left);
            if self.plan.method != Method::Both {
                self.on.links.keep(&mut self.on.near);
            }
            if self.plan.method == Method::Steps {
                self.steps(ask, u32::MAX, f32::INFINITY, report);
                left = self.on.links.measure(ask);
            } else if !fresh {
                self.trace.begin(report.iterations);
                self.sweep.sweep(&mut self.on.links, &mut self.on.nodes, ask, &mut self.trace);
                report.iterations += 1;
                left = self.on.links.measure(ask);
            }
            let now = ask.cost(left);
            if finish && (fresh || !ask.met(left) && now > SLOW * before && report.iterations >= next) {
                self.steps(ask, 20, f32::INFINITY, report);
                left = self.on.links.measure(ask);
                // If the steps did not help, they are tried again after twice as many sweeps.
                next = report.iterations + pause;
                pause *= 2;
            }
            fresh = false;
            let now = self.judge(ask, left);
            if now < best || self.plan.method != Method::Both && now <= best + AS_NEAR * length {
                best = best.min(now);
                self.on.links.keep(&mut self.on.best);
            }
            slow = match self.plan.method {
                Method::Both if now == before => 2,
                Method::Both if now > before * (1.0 - STALLED) => slow + 1,
                Method::Both => 0,
                _ if self.on.links.rests(&self.on.near, AT_REST) => 2,
                _ => 0,
            };
        };
        if status == Outcome::Converged {
            return status;
        }
        self.choose(&mut choice, best / length);
        self.on.links.put(&self.on.chosen);
        // A goal that is only a direction has a single solution.
        if seen && finish && !self.max_turn.is_finite() {
            self.settle(ask, ask.cost(start), choice);
            if ask.met(self.on.links.measure(ask)) {
                return Outcome::Converged;
            }
        }
        status
    }

    /// Settles the chosen solution: see [`Newton::settle`]. A fresh start's solution is compared with the first one again,
    /// as settling may bring that nearer.
    fn settle(&mut self, ask: &Ask, allowed: f32, choice: Option<Choice>) {
        let length = self.on.links.length();
        let left = self.settled(ask, allowed);
        if choice.is_some_and(|c| c.is_fresh()) {
            let turned = self.on.links.turned();
            self.on.links.keep(&mut self.on.chosen);
            self.on.links.put(&self.on.first);
            let first = self.settled(ask, allowed);
            if Choice::new(first / length).takes(left / length, turned) {
                self.on.links.put(&self.on.chosen);
            }
        }
    }

    /// Settles the current pose, up to a residual of `allowed` metres. Returns its residual in metres.
    fn settled(&mut self, ask: &Ask, allowed: f32) -> f32 {
        let ChainScratch { links, newton, best, .. } = &mut *self.on;
        let found = ask.cost(links.measure(ask));
        let allowed = allowed.min(found + GIVEN_UP * 2.0 * ask.radian);
        links.keep(best);
        let mut pull = PULL;
        for _ in 0..3 {
            newton.settle(links, ask, self.settings.max_iterations, pull, allowed / (2.0 * ask.radian));
            let left = ask.cost(links.measure(ask));
            if left <= allowed {
                return left;
            }
            pull *= 0.3;
            links.put(best);
        }
        found
    }

    /// Offers the best pose of the current start to the choice; the first one is always chosen. `residual` is in chain
    /// lengths.
    fn choose(&mut self, choice: &mut Option<Choice>, residual: f32) {
        let Some(choice) = choice else {
            *choice = Some(Choice::new(residual));
            self.on.chosen.clone_from(&self.on.best);
            self.on.first.clone_from(&self.on.best);
            return;
        };
        self.on.links.put(&self.on.best);
        if choice.takes(residual, self.on.links.turned()) {
            self.on.chosen.clone_from(&self.on.best);
        }
    }

    /// Follows a goal by steps from the input pose: where the goal is near, and where the input pose is already as near to
    /// it as its limits allow. Returns false where the chain is still far from its goal instead.
    fn follow(&mut self, ask: &Ask, left: (f32, f32), report: &mut Report) -> bool {
        let cost = ask.cost(left);
        let length = 2.0 * ask.radian;
        let near = cost <= NEAR * length;
        if self.max_turn.is_finite() {
            self.within(ask, report);
            return true;
        }
        if near && self.map(ask) {
            report.iterations += 1;
            if ask.met(self.on.links.measure(ask)) {
                return true;
            }
        }
        if near {
            self.steps(ask, 20, SMOOTH * cost / length, report);
            if !ask.met(self.on.links.measure(ask)) {
                self.steps(ask, u32::MAX, f32::INFINITY, report);
            }
            return true;
        }
        if self.plan.free {
            return false;
        }
        self.steps(ask, 3, f32::INFINITY, report);
        if cost - ask.cost(self.on.links.measure(ask)) > NEAR * length {
            return false;
        }
        self.steps(ask, 20, f32::INFINITY, report);
        true
    }

    /// Moves as near to the goal as the bound on turns allows: by the maps of a free chain, by steps, and by sweeps where
    /// steps find no direction (a straight chain whose goal moves inward, a kink).
    fn within(&mut self, ask: &Ask, report: &mut Report) {
        let mut best = ask.cost(self.on.links.measure(ask));
        for round in 0..ROUNDS {
            if round > 0 {
                self.sweep.sweep(&mut self.on.links, &mut self.on.nodes, ask, &mut self.trace);
                report.iterations += 1;
            } else if self.map(ask) {
                report.iterations += 1;
                self.on.links.turn_back();
            }
            let left = self.on.links.measure(ask);
            if ask.cost(left) > best {
                self.on.links.put(&self.on.best);
            }
            self.steps(ask, 20, f32::INFINITY, report);
            let left = self.on.links.measure(ask);
            let (was, now) = (best, ask.cost(left));
            if now < best {
                best = now;
                self.on.links.keep(&mut self.on.best);
            } else {
                self.on.links.put(&self.on.best);
            }
            let out = report.iterations >= self.settings.max_iterations;
            if ask.met(left) || out || round > 0 && now > 0.99 * was {
                break;
            }
        }
    }

    /// Makes at most `max_steps` steps of least squares, with no joint turned further than `turn` radians from the input
    /// pose.
    fn steps(&mut self, ask: &Ask, max_steps: u32, turn: f32, report: &mut Report) {
        let max_steps = self.settings.max_iterations.saturating_sub(report.iterations).min(max_steps);
        self.on.links.turn_at_most(turn.min(self.max_turn));
        self.trace.begin(report.iterations);
        report.iterations += self.on.newton.run(&mut self.on.links, ask, max_steps, &mut self.trace);
        self.on.links.turn_at_most(self.max_turn);
    }

    /// Applies the maps of a free chain, if it is one. Returns whether anything moved.
    fn map(&mut self, ask: &Ask) -> bool {
        self.plan.free && self.on.maps.finish(&mut self.on.links, ask)
    }

    /// The angle in radians about the axis from root to end that turns the mean of the joints between to its side. A kept
    /// bend plane with a swivel angle becomes a direction in `side`, so that the next round repeats it.
    fn to_side(&self, side: &mut Side) -> f32 {
        let (root, end) = (self.on.links.place(0), self.on.links.end());
        let Some(axis) = (end - root).try_normalize() else { return 0.0 };
        let count = self.on.links.links.len();
        if count < 2 {
            return 0.0;
        }
        let mut middle = Vec3::ZERO;
        for i in 1..count {
            middle += self.on.links.place(i) - root;
        }
        let middle = middle / (count - 1) as f32;
        let across = middle - axis * middle.dot(axis);
        // A straight chain has no side; below this distance its bend is rounding.
        if math::sqrt(across.length_squared()) < 1e-4 * self.on.links.length() + self.on.links.rounding {
            return 0.0;
        }
        let wanted = side.pole.direction(root, across, axis, side.swivel);
        if side.pole == Pole::Keep {
            *side = Side { pole: Pole::Direction(wanted), swivel: 0.0 };
        }
        let (q, _) = twist_towards(axis, middle, wanted);
        2.0 * math::atan2(Vec3::new(q.x, q.y, q.z).dot(axis), q.w)
    }
}
