//! Every solver of pose space, by name, behind one interface.

use std::sync::Arc;

use sinew::{
    Goal, JointId, Pole, Pose, Report, SolveError, Workspace,
    glam::{Quat, Vec3},
    joint::Turning,
    solve::{
        Aim, AimUp, Auto, Balance, BendSide, Ccd, ChainSolver, DampedLeastSquares, Drag, Effector, Eye,
        Fabrik, Fold, Follow, FollowOptions, FreeChain, FullBody, FullBodyOptions, IterativeOptions, Lead,
        LimbOptions, LookAt, LookJoint, LookState, Options, Pin, RootMode, Spline, SplineOptions, Tolerance,
        TwoBone,
        spline::{Curve, CurveKind, CurveUp, Fit, Roll},
    },
};

use crate::rig::{Freedom, Rig, longer};
use common::Noise;

#[derive(Clone)]
// One is made a batch.
#[allow(clippy::large_enum_variant)]
pub enum Solver {
    /// With its smallest flexion and its goal's swivel.
    TwoBone(TwoBone, LimbOptions, f32),
    Aim(Aim),
    Chain(ChainSolving),
    Follow(Follow, FollowOptions),
    FullBody(FullBody, BodyOptions),
    Drag(Option<Drag>, Vec<Pin>),
    Spline(Spline, SplineOptions, Curve),
    LookAt(LookAt, LookState),
}

/// A solver of chains, and what each of its solves is told.
#[derive(Clone)]
pub struct ChainSolving {
    solver: Arc<dyn Stretching>,
    options: IterativeOptions,
    /// Whether all its joints are free, and the tip takes its rotation first.
    pub free: bool,
}

/// A solver of chains whose bones may become longer.
trait Stretching: ChainSolver {
    /// The same by another factor.
    fn by(&self, stretch: f32) -> Box<dyn ChainSolver>;
}

macro_rules! stretching {
    ($($solver:ident),*) => {
        $(impl Stretching for $solver {
            fn by(&self, stretch: f32) -> Box<dyn ChainSolver> {
                let mut solver = self.clone();
                solver.stretch = stretch;
                Box::new(solver)
            }
        })*
    };
}

stretching!(Auto, Ccd, DampedLeastSquares, Fabrik, Fold, FreeChain);

/// Options of a full body that own their balance.
#[derive(Clone, Debug, Default)]
pub struct BodyOptions {
    pub plain: FullBodyOptions<'static>,
    pub support: Vec<Vec3>,
    /// Balance options apart from the support.
    pub balance: Option<Balance<'static>>,
}

impl BodyOptions {
    fn options(&self) -> FullBodyOptions<'_> {
        let mut options: FullBodyOptions<'_> = self.plain;
        options.balance = self.balance.map(|mut balance: Balance<'_>| {
            balance.support = &self.support;
            balance
        });
        options
    }
}

/// The names, what joints each can be asked for, and whether their limbs branch.
pub const ALL: [(&str, Freedom, bool); 25] = [
    ("limb", Freedom::Free, false),
    ("aim", Freedom::Free, false),
    ("free chain", Freedom::Free, false),
    ("free chain, bounded", Freedom::Free, false),
    ("auto", Freedom::Sliding, false),
    ("auto, bounded", Freedom::Sliding, false),
    ("follow, tip", Freedom::Turning, false),
    ("follow, root", Freedom::Turning, false),
    ("ccd", Freedom::Sliding, false),
    ("ccd, bounded", Freedom::Sliding, false),
    ("fabrik", Freedom::Turning, false),
    ("fabrik, bounded", Freedom::Turning, false),
    ("dls", Freedom::Sliding, false),
    ("dls, bounded", Freedom::Sliding, false),
    ("full body", Freedom::Sliding, true),
    ("full body, bounded", Freedom::Sliding, true),
    ("full body, loops", Freedom::Sliding, true),
    ("full body, balance", Freedom::Sliding, true),
    ("drag", Freedom::Sliding, true),
    ("spline", Freedom::Turning, false),
    ("look-at", Freedom::Turning, false),
    ("limb within limits", Freedom::Limb, false),
    ("aim within limits", Freedom::Turning, false),
    ("fold", Freedom::Turning, false),
    ("fold, bounded", Freedom::Turning, false),
];

const LIMITED_LIMB: usize = 21;
const LIMITED_AIM: usize = 22;

fn any<T: Copy>(r: &mut Noise, of: &[T]) -> T {
    of[r.below(of.len())]
}

/// Bounds of what a joint turns in one solve.
fn bound(r: &mut Noise) -> f32 {
    10f32.powf(r.between(-3.0, 0.3))
}

/// Options of a chain's solver, with a bound on turns or without.
fn options(bounded: bool, r: &mut Noise) -> IterativeOptions {
    let options = IterativeOptions::new()
        .with_max_iterations(any(r, &[1, 3, 10, 40]))
        .with_max_restarts(r.below(2) as u32);
    if bounded { options.with_max_turn(bound(r)) } else { options }
}

fn power(r: &mut Noise, from: f32, to: f32) -> f32 {
    10f32.powf(r.between(from, to))
}

/// An axis of any length.
fn axis(r: &mut Noise) -> Vec3 {
    r.vector() * power(r, -30.0, 30.0)
}

/// Numbers from all over their ranges that many solvers take.
struct Wild {
    near: f32,
    turn_near: f32,
    iterations: u32,
    restarts: u32,
    max_turn: f32,
}

impl Wild {
    fn new(r: &mut Noise) -> Self {
        Self {
            near: power(r, -9.0, 0.5),
            turn_near: power(r, -9.0, 0.5),
            // (Few are many: what takes long finds little.)
            iterations: any(r, &[0, 1, 2, 3, 7, 20, 64]),
            restarts: any(r, &[0, 0, 1, 4]),
            max_turn: match r.below(6) {
                0 => f32::MIN_POSITIVE,
                1 => power(r, -6.0, 1.0),
                _ => f32::INFINITY,
            },
        }
    }

    fn options(&self, options: IterativeOptions) -> IterativeOptions {
        options
            .with_position_tolerance(Tolerance::Share(self.near.min(1.0)))
            .with_rotation_tolerance(self.turn_near)
            .with_max_iterations(self.iterations)
            .with_max_restarts(self.restarts)
            .with_max_turn(options.max_turn.min(self.max_turn))
    }
}

/// Up to five tips anywhere, the last joint among them.
fn tips(rig: &Rig, loops: bool, r: &mut Noise) -> Vec<Effector> {
    let count = rig.joints.len();
    (0..1 + r.below(5))
        .map(|n| {
            let joint = if n == 0 { rig.joints[count - 1] } else { rig.joints[r.below(count)] };
            let offset = if r.below(3) == 0 { r.vector() * rig.size } else { Vec3::ZERO };
            let other = rig.joints[r.below(count)];
            let relative_to = (loops && r.below(2) == 0 && other != joint).then_some(other);
            let mut tip = Effector::new(joint).with_offset(offset).with_priority(any(r, &[0, 0, 0, 1, 2]));
            tip.relative_to = relative_to;
            if r.below(6) == 0 {
                tip = tip.with_position_weight(r.unit()).with_rotation_weight(r.unit());
            }
            tip
        })
        .collect()
}

fn full_body(which: usize, rig: &Rig, r: &mut Noise) -> Option<(FullBody, BodyOptions)> {
    let tips = tips(rig, which == 2, r);
    let full_body = FullBody::new(&rig.skeleton, rig.joints[0], &tips).ok()?;
    let mut own = BodyOptions::default();
    own.plain.iterative.max_iterations = Some(any(r, &[1, 4, 12, 40]));
    own.plain.iterative.max_restarts = Some(r.below(2) as u32);
    own.plain.root = match r.below(5) {
        0 => RootMode::Free,
        1 => RootMode::Spring(r.unit()),
        2 => RootMode::At(r.vector() * rig.size),
        _ => RootMode::Pinned,
    };
    own.plain.posture = if r.below(4) == 0 { r.unit() } else { 0.0 };
    own.plain.iterative.soft = if r.below(3) == 0 { r.unit() } else { 0.0 };
    if which == 1 {
        own.plain.iterative.max_turn = bound(r);
    }
    if which == 3 {
        own.support = (0..1 + r.below(6)).map(|_| r.vector() * rig.size).collect();
        let up = r.direction();
        own.balance =
            Some(Balance::over(&[]).with_margin(r.unit()).with_up(up).with_weight(r.between(0.01, 1.0)));
    }
    Some((full_body, own))
}

fn curve(rig: &Rig, r: &mut Noise) -> Option<Curve> {
    let closed = r.below(2) == 0;
    let (kind, count) = if r.below(3) == 0 {
        let pieces = 1 + r.below(3);
        (CurveKind::Bezier, 3 * pieces + usize::from(!closed))
    } else {
        (CurveKind::CatmullRom, 3 + r.below(6))
    };
    let size = rig.size * 10f32.powf(r.between(-1.0, 1.0));
    let points: Vec<Vec3> = (0..count).map(|_| r.vector() * size).collect();
    Curve::new(kind, &points, closed, CurveUp::Direction(r.direction())).ok()
}

fn look(rig: &Rig, r: &mut Noise) -> Option<LookAt> {
    let count = rig.joints.len();
    let cone = |r: &mut Noise| r.between(0.0, std::f32::consts::PI);
    let head = count - 1 - r.below(count.min(3));
    let from = head - r.below(head.min(8) + 1);
    let line: Vec<LookJoint> = (from..=head)
        .map(|n| LookJoint::new(rig.joints[n]).with_share(r.unit()).with_cone(cone(r)))
        .collect();
    let mut look = LookAt::new(&rig.skeleton, &line, r.direction()).ok()?;
    look.offset = if r.below(2) == 0 { r.vector() * rig.size } else { Vec3::ZERO };
    look.dead_zone = if r.below(3) == 0 { r.unit() } else { 0.0 };
    look.behind = r.between(0.0, 3.0);
    if let Some(&joint) = rig.joints.get(head + 1) {
        look.set_eyes(&rig.skeleton, &[Eye::new(joint, r.direction()).with_cone(cone(r))]).ok()?;
    }
    Some(look)
}

impl Solver {
    /// The solver by its place in [`ALL`]; none where the rig is not for it (too short a chain).
    pub fn new(which: usize, rig: &Rig, r: &mut Noise) -> Option<Self> {
        if let 2..=5 | 8..=13 | 23..=24 = which {
            return Some(Self::Chain(ChainSolving::new(which, rig, r)?));
        }
        let mut solver = Self::plain(which, rig, r)?;
        if rig.hostile {
            solver.rave(r);
        }
        Some(solver)
    }

    fn plain(which: usize, rig: &Rig, r: &mut Noise) -> Option<Self> {
        let (chain, skeleton) = (rig.chain()?, &rig.skeleton);
        Some(match which {
            0 | LIMITED_LIMB => {
                let inner = rig.joints.len().checked_sub(2).filter(|n| *n > 0)?;
                let middle = rig.joints[1 + r.below(inner)];
                let make = if which == 0 { TwoBone::from_chain } else { TwoBone::within_limits };
                let mut limb = make(skeleton, chain, middle).ok()?;
                if r.below(3) == 0 {
                    limb = limb.with_hinge(r.direction());
                    limb = limb
                        .with_side(any(r, &[BendSide::Keep, BendSide::Positive, BendSide::Negative]))
                        .ok()?;
                }
                let (mut options, mut swivel) = (LimbOptions::new(), 0.0);
                if r.below(3) == 0 {
                    swivel = r.between(-4.0, 4.0);
                    options.min_flexion = r.between(0.0, 3.0);
                }
                if which == LIMITED_LIMB && r.below(3) == 0 {
                    options.max_turn = bound(r);
                }
                Self::TwoBone(limb, options, swivel)
            }
            1 | LIMITED_AIM => {
                let turning = skeleton.joint(chain.tip()).turning;
                if which != 1 && !matches!(turning, Turning::Hinge { .. } | Turning::Ball { .. }) {
                    return None;
                }
                let mut aim = Aim { offset: rig.tip_offset, ..Aim::new(chain.tip(), r.vector()) };
                aim.up = (r.below(2) == 0).then(|| AimUp { axis: r.direction(), direction: r.direction() });
                Self::Aim(aim)
            }
            6 | 7 => {
                let lead = if which == 6 { Lead::Tip } else { Lead::Root };
                Self::Follow(Follow::from_chain(skeleton, chain).ok()?, FollowOptions::new().with_lead(lead))
            }
            14..=17 => {
                let (full_body, options) = full_body(which - 14, rig, r)?;
                Self::FullBody(full_body, options)
            }
            18 => {
                let count = rig.joints.len();
                let mut pins: Vec<Pin> = Vec::new();
                for _ in 0..r.below(4) {
                    let joint = rig.joints[r.below(count)];
                    let twice = pins.iter().any(|p| p.effector.joint == joint);
                    if joint != rig.joints[count - 1] && !twice {
                        pins.push(if r.below(2) == 0 { Pin::pose(joint) } else { Pin::place(joint) });
                    }
                }
                Self::Drag(None, pins)
            }
            19 => {
                let spline = Spline::from_chain(skeleton, chain).ok()?;
                let mut options =
                    SplineOptions::new().with_reversed(r.below(2) == 0).with_moves_root(r.below(4) > 0);
                if r.below(4) == 0 {
                    options.fit = Fit::Stretched { shortest: 0.5, longest: 2.0 };
                }
                if r.below(2) == 0 {
                    let twist = [r.between(-3.0, 3.0), r.between(-3.0, 3.0)];
                    options.roll = Roll::Frames { axis: r.direction(), twist };
                }
                Self::Spline(spline, options, curve(rig, r)?)
            }
            _ => {
                let look = look(rig, r)?;
                let state = look.state();
                Self::LookAt(look, state)
            }
        })
    }

    /// Takes settings from all over their ranges.
    fn rave(&mut self, r: &mut Noise) {
        let Wild { near, turn_near, iterations, restarts, max_turn } = Wild::new(r);
        match self {
            Self::TwoBone(s, options, swivel) => {
                *s = s.clone().with_hinge(s.hinge().map(|_| axis(r)));
                *swivel *= power(r, -3.0, 6.0);
                options.min_flexion = any(r, &[0.0, 0.0, options.min_flexion, std::f32::consts::PI]);
                options.max_turn = options.max_turn.min(max_turn);
            }
            Self::Aim(s) => {
                s.axis = axis(r);
                s.offset *= power(r, -6.0, 6.0);
                if let Some(up) = &mut s.up {
                    *up = AimUp { axis: axis(r), direction: axis(r) };
                }
            }
            Self::Chain(_) | Self::Follow(..) | Self::Drag(..) => {}
            Self::FullBody(_, own) => {
                let BodyOptions { plain, balance, .. } = own;
                let i = &mut plain.iterative;
                (i.position_tolerance, i.rotation_tolerance) = (Tolerance::Share(near.min(1.0)), turn_near);
                (i.max_iterations, i.max_restarts) = (Some(iterations), Some(restarts));
                i.max_turn = i.max_turn.min(max_turn);
                match &mut plain.root {
                    RootMode::Spring(strength) => *strength = power(r, -9.0, 6.0),
                    RootMode::At(at) => *at *= power(r, -3.0, 3.0),
                    _ => {}
                }
                plain.posture = any(r, &[0.0, 1.0, plain.posture]);
                i.soft = any(r, &[0.0, 0.0, 1.0, i.soft]);
                if let Some(balance) = balance {
                    balance.up = axis(r);
                    balance.margin = any(r, &[0.0, 1.0, balance.margin]);
                    balance.weight = power(r, -9.0, 0.0);
                    balance.priority = r.below(3) as u8;
                }
            }
            Self::Spline(_, s, _) => {
                s.position_tolerance = Tolerance::Share(near.min(1.0));
                if let Fit::Stretched { shortest, longest } = &mut s.fit {
                    *shortest = power(r, -6.0, 0.0);
                    *longest = power(r, 0.0, 6.0);
                }
                if let Roll::Frames { axis: normal, twist } = &mut s.roll {
                    *normal = axis(r);
                    *twist = twist.map(|t| t * power(r, -6.0, 6.0));
                }
            }
            Self::LookAt(s, _) => {
                s.axis = axis(r);
                s.offset *= power(r, -6.0, 6.0);
                s.dead_zone = r.between(0.0, 1.57);
                s.near = power(r, -6.0, 6.0);
            }
        }
    }

    /// Resets states that continue from the last pose, as the pose was replaced.
    pub fn begin(&mut self, pose: &Pose, rig: &Rig) {
        match self {
            Self::Drag(drag, pins) => {
                let mut pose = pose.clone();
                pose.update();
                let tip = Effector::new(rig.joints[rig.joints.len() - 1]);
                *drag = Drag::new(&pose, rig.joints[0], tip, pins).ok();
            }
            Self::LookAt(_, state) => state.reset(),
            _ => {}
        }
    }

    /// The joint above which all are stood on.
    pub fn last(&self, rig: &Rig) -> JointId {
        match self {
            // (The eyes come last, where there are any.)
            Self::LookAt(s, _) => s.joints().last().unwrap_or(rig.joints[0]),
            _ => rig.joints[rig.joints.len() - 1],
        }
    }

    /// Whether it does nothing: a drag that could not be begun.
    pub fn idle(&self) -> bool {
        matches!(self, Self::Drag(None, _))
    }

    /// Whether the root moves too.
    pub fn moves_root(&self) -> bool {
        match self {
            Self::Follow(..) | Self::Drag(..) => true,
            Self::FullBody(_, o) => o.plain.root != RootMode::Pinned,
            Self::Spline(_, options, _) => options.moves_root,
            _ => false,
        }
    }

    /// By what factor bones may become longer in a task; none where their lengths are the curve's.
    pub fn stretch(&self, task: &Task) -> Option<f32> {
        match self {
            Self::Chain(_) => Some(task.stretch),
            Self::Spline(_, options, _) => (options.fit == Fit::Whole).then_some(1.0),
            _ => Some(1.0),
        }
    }

    /// The most that a joint may turn in one solve.
    pub fn most(&self) -> f32 {
        match self {
            Self::TwoBone(_, options, _) => options.max_turn,
            Self::Chain(s) => s.options.max_turn,
            Self::FullBody(_, o) => o.plain.iterative.max_turn,
            _ => f32::INFINITY,
        }
    }

    /// A random task for one goal at `at`, with further goals nearby for solvers that have several.
    pub fn task(&self, pose: &Pose, at: Vec3, rig: &Rig, r: &mut Noise) -> Task {
        let mut goal = Goal::position(at);
        if r.below(4) == 0 {
            goal = goal.with_pole(Pole::Direction(r.vector()));
        }
        if r.below(5) == 0 && (rig.freedom == Freedom::Limb || !matches!(self, Self::TwoBone(..))) {
            goal = goal.with_rotation(r.rotation());
        }
        if r.below(6) == 0 {
            (goal.position_influence, goal.rotation_influence) = (r.unit(), r.unit());
        }
        let weight = if r.below(4) == 0 { r.unit() } else { 1.0 };
        let soft = if r.below(4) == 0 { 0.1 } else { 0.0 };
        let stretch = if r.below(8) == 0 { r.between(1.0, 1.5) } else { 1.0 };
        let mut task = Task { goals: vec![goal], weight, soft, stretch, ..Task::default() };
        match self {
            Self::FullBody(s, ..) => {
                let tips: Vec<JointId> = s.effectors().iter().map(|t| t.joint).collect();
                task.goals[0].pole = Pole::Keep;
                task.goals.extend(tips[1..].iter().map(|&tip| match r.below(6) {
                    0 => Goal::NONE,
                    1 => Goal::position(pose.position(tip)),
                    _ => {
                        let near = Goal::position(pose.position(tip) + r.vector() * rig.size);
                        if r.below(3) == 0 { near.with_rotation(r.rotation()) } else { near }
                    }
                }));
            }
            Self::Drag(..) => task.goals[0].pole = Pole::Keep,
            Self::Spline(..) => task.offset = r.between(-1.0, 3.0) * rig.size,
            _ => {}
        }
        if rig.hostile {
            self.strain(&mut task, r);
        }
        task
    }

    /// Takes a task's numbers from all over their ranges, and one task in 16 beyond them.
    fn strain(&self, task: &mut Task, r: &mut Noise) {
        let chain = matches!(self, Self::Chain(_));
        let soft = chain || matches!(self, Self::TwoBone(..));
        let led = soft || matches!(self, Self::FullBody(..));
        task.weight = any(r, &[1.0, 1.0, 1.0, 1.0, 0.0, 1e-30, task.weight]);
        let (zone, factor) = (r.unit(), 10f32.powf(r.between(0.0, 38.0)));
        task.soft = any(r, &[0.0, 0.0, 1.0, 1e-20, task.soft, zone]);
        if r.below(4) == 0 {
            task.stretch = any(r, &[1.0, 1.0 + 1e-6, 2.0, factor, f32::MAX]);
        }
        task.offset *= any(r, &[1.0, 1.0, -1.0, 0.0, 1e3, 1e12, 1e30]);
        for goal in &mut task.goals {
            goal.rotation = goal.rotation.map(|q| longer(r, q, 0.3, 3.9));
            if r.below(8) == 0 {
                goal.position_influence = any(r, &[0.0, 1e-30, 1e-6]);
            }
            if r.below(8) == 0 {
                goal.rotation_influence = any(r, &[0.0, 1e-30, 1e-6]);
            }
            if goal.pole != Pole::Keep {
                let far = r.vector() * 10f32.powf(r.between(-30.0, 38.0));
                goal.pole = if r.below(2) == 0 { Pole::Direction(far) } else { Pole::Point(far) };
            }
        }
        if r.below(16) > 0 {
            return;
        }
        let bad = any(r, &[f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
        let out = any(r, &[f32::NAN, f32::INFINITY, -1.0, -1e-6, 1.0 + 1e-6, 2.0]);
        let given = led || matches!(self, Self::Drag(Some(_), _));
        let which = r.below(9);
        let goal = &mut task.goals[0];
        task.invalid = true;
        match which {
            0 if !matches!(self, Self::Drag(..)) => task.weight = out,
            1 if !matches!(self, Self::Spline(..) | Self::Drag(None, _)) => {
                goal.position.get_or_insert(Vec3::ZERO)[r.below(3)] = bad;
            }
            2 if given => goal.position_influence = out,
            3 if given => goal.rotation_influence = out,
            4 if given => {
                let l = any(r, &[0.0, 0.1, 2.1, 1e20, f32::NAN]);
                goal.rotation = Some(Quat::from_xyzw(0.0, l, 0.0, 0.0));
            }
            5 if given => goal.pole = Pole::Direction(Vec3::new(0.0, bad, 1.0)),
            6 if soft => task.soft = out,
            7 if chain => task.stretch = any(r, &[f32::NAN, f32::INFINITY, 0.0, -1.0, 1.0 - 1e-6]),
            8 if chain || matches!(self, Self::FullBody(..)) => {
                task.max_turn = Some(any(r, &[f32::NAN, 0.0, -1.0, f32::NEG_INFINITY]));
            }
            _ => task.invalid = false,
        }
    }

    /// Carries a task out. The number beside the report is metres beyond the curve for splines, the angle of the face for looks.
    pub fn solve(
        &mut self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        task: &Task,
    ) -> Result<(Report, f32), SolveError> {
        let (goal, weight) = (task.goals[0], task.weight);
        let at = goal.position.unwrap_or_default();
        let bounds =
            Options::new().with_influence(weight).with_max_turn(task.max_turn.unwrap_or(f32::INFINITY));
        let report = match self {
            Self::TwoBone(s, options, swivel) => {
                let options = options.with_influence(weight).with_soft(task.soft);
                let max_turn = task.max_turn.unwrap_or(options.max_turn);
                s.solve(pose, &goal.with_swivel(*swivel), &options.with_max_turn(max_turn))
            }
            Self::Aim(s) => s.solve(pose, at, &bounds),
            Self::Chain(s) => s.solve(workspace, pose, task),
            Self::Follow(s, options) => s.solve(workspace, pose, at, &options.with_influence(weight)),
            Self::FullBody(s, o) => {
                let max_turn = task.max_turn.unwrap_or(o.plain.iterative.max_turn);
                let options = o.options().with_influence(weight).with_max_turn(max_turn);
                s.solve(workspace, pose, &task.goals, &options)
            }
            Self::Drag(drag, _) => match drag {
                Some(drag) => drag.to(&mut Workspace::new(), pose, &goal, &Drag::OPTIONS),
                None => Ok(Report::default()),
            },
            Self::Spline(s, options, curve) => {
                let options = options.with_influence(weight).with_offset(task.offset);
                return s.solve(workspace, pose, curve, &options).map(|s| (s.report, s.beyond));
            }
            Self::LookAt(s, state) => {
                return s.solve(state, pose, at, &bounds).map(|s| (s.report, s.face));
            }
        };
        report.map(|report| (report, 0.0))
    }
}

impl ChainSolving {
    /// The solver by its place in [`ALL`].
    fn new(which: usize, rig: &Rig, r: &mut Noise) -> Option<Self> {
        let (chain, skeleton) = (rig.chain()?, &rig.skeleton);
        let bounded = ALL[which].0.ends_with("bounded");
        // The solver is drawn before what strains it.
        let wild = |options: IterativeOptions, r: &mut Noise| {
            if rig.hostile { Wild::new(r).options(options) } else { options }
        };
        let mut free = rig.joints.iter().all(|&id| skeleton.joint(id).turning == Turning::Free);
        let (solver, options): (Arc<dyn Stretching>, _) = match which {
            2 | 3 => {
                let mut solver = FreeChain::from_chain(skeleton, chain).ok()?;
                let options = IterativeOptions::new();
                let options = wild(if bounded { options.with_max_turn(bound(r)) } else { options }, r);
                if rig.hostile {
                    solver.bend = (r.below(3) == 0).then(|| axis(r));
                }
                (Arc::new(solver), options)
            }
            4 | 5 => {
                let solver = Auto::from_chain(skeleton, chain).ok()?;
                (Arc::new(solver), wild(options(bounded, r), r))
            }
            8 | 9 => {
                let mut solver = Ccd::from_chain(skeleton, chain).ok()?;
                let options = wild(options(bounded, r), r);
                if rig.hostile && r.below(3) == 0 {
                    (solver.damping, solver.max_step) = (0.999 * r.unit(), power(r, -3.0, 1.0));
                }
                (Arc::new(solver), options)
            }
            10 | 11 => {
                let mut solver = Fabrik::from_chain(skeleton, chain).ok()?;
                let options = options(bounded, r);
                solver.closes_circle = r.below(2) == 0;
                (Arc::new(solver), wild(options, r))
            }
            23 | 24 => {
                let solver = Fold::from_chain(skeleton, chain).ok()?;
                (Arc::new(solver), wild(options(bounded, r), r))
            }
            _ => {
                let solver = DampedLeastSquares::from_chain(skeleton, chain).ok()?;
                (Arc::new(solver), wild(options(bounded, r), r))
            }
        };
        free &= which <= 5;
        Some(Self { solver, options, free })
    }

    fn solve(&self, workspace: &mut Workspace, pose: &mut Pose, task: &Task) -> Result<Report, SolveError> {
        let options = self.options.with_influence(task.weight).with_soft(task.soft);
        let options = options.with_max_turn(task.max_turn.unwrap_or(options.max_turn));
        if task.stretch == 1.0 {
            return self.solver.solve(workspace, pose, &task.goals[0], &options);
        }
        self.solver.by(task.stretch).solve(workspace, pose, &task.goals[0], &options)
    }
}

/// Task of one solve.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// The first goal, and those of a tree's other tips.
    pub goals: Vec<Goal>,
    pub weight: f32,
    pub soft: f32,
    pub stretch: f32,
    /// Along a curve, in metres.
    pub offset: f32,
    /// In place of the solver's own.
    pub max_turn: Option<f32>,
    /// Whether a number in it is outside its range, so that it must be refused.
    pub invalid: bool,
}
