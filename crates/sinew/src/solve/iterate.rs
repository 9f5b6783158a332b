//! The driver that all iterative solvers of chains share: influences, the soft zone, stretching and reports; the search,
//! bounds on turns, poles and traces are its modules. A solver provides its [`Method`] and its [`Sweep`].

mod bounded;
mod pole;
mod search;
mod trace;

use pole::Side;
pub(crate) use trace::{Trace, Watch};
pub use trace::{TraceChange, TracePass, TraceStep};

use alloc::vec::Vec;

use glam::{Affine3, Quat, Vec3};
use thiserror::Error;

use super::{
    arc::{FAR, LONGEST, distance},
    chain_solver::Request,
    chain_state::{Ask, ChainState, Maps, Newton, Node, Part, columns, parts},
    check,
    fold::bends::Bends,
    incoming::{Incoming, Led},
    options::{IterativeOptions, check_stretch},
    parent_space,
};
use crate::{
    Chain, ChainError, Goal, Outcome, Pose, Report, Skeleton, SolveError, Workspace,
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

/// Whether a joint of the chain has any of these attributes.
fn has(skeleton: &Skeleton, chain: &Chain, any: &[Attribute]) -> bool {
    chain.joints().iter().any(|j| any.iter().any(|a| skeleton.joint(*j).attributes().has(*a)))
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

/// Buffers of a sweep.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub nodes: Vec<Node>,
    pub bends: Bends,
}

/// One update of every joint.
pub(crate) trait Sweep {
    /// Turns and slides the joints of the chain towards the task, within their limits.
    fn sweep(&self, links: &mut ChainState, buffers: &mut Buffers, ask: &Ask, trace: &mut Trace);
}

/// The sweep of a solver that makes none.
impl Sweep for () {
    fn sweep(&self, _: &mut ChainState, _: &mut Buffers, _: &Ask, _: &mut Trace) {}
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
    /// Whether a joint eases or is stiff.
    weighs: bool,
    /// Whether a joint has a preferred value.
    prefers: bool,
    /// Whether all joints are free, and the method makes use of it.
    free: bool,
}

/// Buffers of a solve.
#[derive(Debug, Default)]
pub(crate) struct ChainScratch {
    pub links: ChainState,
    newton: Newton,
    maps: Maps,
    buffers: Buffers,
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
        let Self { links, newton, maps, buffers, best, chosen, first, other, start, near, slack, unturned } =
            self;
        let joints = plan.chain.joints().len();
        newton.begin(&plan.columns, joints, plan.method == Method::Steps);
        newton.weighs = plan.weighs;
        if plan.free {
            maps.reserve(&plan.chain);
        }
        if best.capacity() >= joints {
            return;
        }
        links.reserve(&plan.chain);
        // The end counts as one more.
        buffers.nodes.resize(joints + 1, Node::default());
        buffers.bends.reserve(joints);
        for kept in [best, chosen, first, other, start, near, slack, unturned] {
            kept.clear();
            kept.reserve(joints);
        }
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
pub(crate) struct Run<'a, 't> {
    plan: &'a ChainPlan,
    on: &'a mut ChainScratch,
    settings: Settings,
    sweep: &'a dyn Sweep,
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
        let columns = columns(&parts);
        let free = method == Method::Both && Maps::serve(skeleton, &chain);
        let weighs = has(skeleton, &chain, &[Attribute::Ease, Attribute::Stiffness]);
        let plain = !weighs && !has(skeleton, &chain, &[Attribute::Damping, Attribute::Precedence]);
        let prefers = has(skeleton, &chain, &[Attribute::Preferred]);
        Ok(Self { plain, weighs, prefers, free, chain, method, parts, columns })
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
    pub fn solve(
        &self,
        workspace: &mut Workspace,
        sweep: &dyn Sweep,
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

impl<'a, 't> Run<'a, 't> {
    fn new(
        plan: &'a ChainPlan,
        on: &'a mut ChainScratch,
        settings: Settings,
        sweep: &'a dyn Sweep,
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
}
