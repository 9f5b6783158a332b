//! Every solver of pose space, by name, behind one door.

use sinew::{
    Goal, JointId, Pole, Pose, Report, SolveError,
    glam::{Quat, Vec3},
    solve::{
        Aim, AimUp, Auto, Balance, BendSide, Ccd, DampedLeastSquares, Drag, Effector, Eye, Fabrik, Follow,
        FreeChain, FullBody, IterativeOptions, Lead, LookAt, LookJoint, LookState, Pin, RootMode, Spline,
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
    TwoBone(TwoBone),
    Aim(Aim),
    Free(FreeChain),
    Auto(Auto),
    Follow(Follow),
    Ccd(Ccd),
    Fabrik(Fabrik),
    Dls(DampedLeastSquares),
    Tree(FullBody),
    Drag(Option<Drag>, Vec<Pin>),
    Spline(Spline, Curve),
    LookAt(LookAt, LookState),
}

/// The names, what joints each can be asked for, and whether their limbs branch.
pub const ALL: [(&str, Freedom, bool); 24] = [
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
    ("ccd, root moved", Freedom::Sliding, false),
    ("fabrik", Freedom::Turning, false),
    ("fabrik, bounded", Freedom::Turning, false),
    ("fabrik, root moved", Freedom::Turning, false),
    ("dls", Freedom::Sliding, false),
    ("dls, bounded", Freedom::Sliding, false),
    ("dls, root moved", Freedom::Sliding, false),
    ("full body", Freedom::Sliding, true),
    ("full body, bounded", Freedom::Sliding, true),
    ("full body, loops", Freedom::Sliding, true),
    ("full body, balance", Freedom::Sliding, true),
    ("drag", Freedom::Sliding, true),
    ("spline", Freedom::Turning, false),
    ("look-at", Freedom::Turning, false),
];

fn any<T: Copy>(r: &mut Noise, of: &[T]) -> T {
    of[r.below(of.len())]
}

/// Bounds of what a joint turns in one solve.
fn bound(r: &mut Noise) -> f32 {
    10f32.powf(r.between(-3.0, 0.3))
}

fn settings(which: usize, rig: &Rig, r: &mut Noise) -> IterativeOptions {
    let mut s = IterativeOptions {
        max_iterations: any(r, &[1, 3, 10, 40]),
        max_restarts: r.below(2) as u32,
        ..IterativeOptions::default()
    };
    if which == 1 {
        s.max_turn = bound(r);
    }
    if which == 2 {
        s.root_position = Some(r.vector() * rig.size);
        s.base_direction = (r.below(2) == 0).then(|| r.direction());
    }
    s
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
            Effector { joint, offset, priority: any(r, &[0, 0, 0, 1, 2]), relative_to }
        })
        .collect()
}

fn full_body(which: usize, rig: &Rig, r: &mut Noise) -> Option<FullBody> {
    let tips = tips(rig, which == 2, r);
    let mut full_body = FullBody::new(&rig.skeleton, rig.joints[0], &tips).ok()?;
    full_body.max_iterations = any(r, &[1, 4, 12, 40]);
    full_body.max_restarts = r.below(2) as u32;
    full_body.root = match r.below(5) {
        0 => RootMode::Free,
        1 => RootMode::Spring(r.unit()),
        2 => RootMode::At(r.vector() * rig.size),
        _ => RootMode::Pinned,
    };
    full_body.posture = if r.below(4) == 0 { r.unit() } else { 0.0 };
    full_body.soft = if r.below(3) == 0 { r.unit() } else { 0.0 };
    if which == 1 {
        full_body.max_turn = bound(r);
    }
    if which == 3 {
        let support: Vec<Vec3> = (0..1 + r.below(6)).map(|_| r.vector() * rig.size).collect();
        let up = r.direction();
        full_body.balance =
            Some(Balance { margin: r.unit(), up, weight: r.between(0.01, 1.0), ..Balance::over(support) });
    }
    Some(full_body)
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
    let line: Vec<LookJoint> =
        (from..=head).map(|n| LookJoint { joint: rig.joints[n], share: r.unit(), cone: cone(r) }).collect();
    let mut look = LookAt::new(&rig.skeleton, &line, r.direction()).ok()?;
    look.offset = if r.below(2) == 0 { r.vector() * rig.size } else { Vec3::ZERO };
    look.dead_zone = if r.below(3) == 0 { r.unit() } else { 0.0 };
    look.behind = r.between(0.0, 3.0);
    if let Some(&joint) = rig.joints.get(head + 1) {
        look.set_eyes(&rig.skeleton, &[Eye { joint, axis: r.direction(), cone: cone(r) }]).ok()?;
    }
    Some(look)
}

impl Solver {
    /// The solver by its place in [`ALL`]; none where the rig is not for it (too short a chain).
    pub fn new(which: usize, rig: &Rig, r: &mut Noise) -> Option<Self> {
        let mut solver = Self::plain(which, rig, r)?;
        if rig.hostile {
            solver.rave(r);
        }
        Some(solver)
    }

    fn plain(which: usize, rig: &Rig, r: &mut Noise) -> Option<Self> {
        let (chain, skeleton) = (rig.chain()?, &rig.skeleton);
        Some(match which {
            0 => {
                let inner = rig.joints.len().checked_sub(2).filter(|n| *n > 0)?;
                let middle = rig.joints[1 + r.below(inner)];
                let mut limb = TwoBone::from_chain(skeleton, chain, middle).ok()?;
                if r.below(3) == 0 {
                    limb.hinge = Some(r.direction());
                    limb.side = any(r, &[BendSide::Keep, BendSide::Positive, BendSide::Negative]);
                }
                if r.below(3) == 0 {
                    limb.swivel = r.between(-4.0, 4.0);
                    limb.min_flexion = r.between(0.0, 3.0);
                }
                Self::TwoBone(limb)
            }
            1 => {
                let mut aim = Aim { offset: rig.tip_offset, ..Aim::new(chain.tip(), r.vector()) };
                aim.up = (r.below(2) == 0).then(|| AimUp { axis: r.direction(), direction: r.direction() });
                Self::Aim(aim)
            }
            2 | 3 => {
                let mut free = FreeChain::from_chain(skeleton, chain).ok()?;
                if which == 3 {
                    free.max_turn = bound(r);
                }
                Self::Free(free)
            }
            4 | 5 => {
                let mut auto = Auto::from_chain(skeleton, chain).ok()?;
                auto.max_iterations = any(r, &[1, 3, 10, 40]);
                auto.max_restarts = r.below(2) as u32;
                if which == 5 {
                    auto.max_turn = bound(r);
                }
                Self::Auto(auto)
            }
            6 | 7 => {
                let mut follow = Follow::from_chain(skeleton, chain).ok()?;
                follow.lead = if which == 6 { Lead::Tip } else { Lead::Root };
                Self::Follow(follow)
            }
            8..=10 => {
                let mut ccd = Ccd::from_chain(skeleton, chain).ok()?;
                ccd.settings = settings(which - 8, rig, r);
                Self::Ccd(ccd)
            }
            11..=13 => {
                let mut fabrik = Fabrik::from_chain(skeleton, chain).ok()?;
                fabrik.settings = settings(which - 11, rig, r);
                fabrik.closes_circle = r.below(2) == 0;
                Self::Fabrik(fabrik)
            }
            14..=16 => {
                let mut squares = DampedLeastSquares::from_chain(skeleton, chain).ok()?;
                squares.settings = settings(which - 14, rig, r);
                Self::Dls(squares)
            }
            17..=20 => Self::Tree(full_body(which - 17, rig, r)?),
            21 => {
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
            22 => {
                let mut spline = Spline::from_chain(skeleton, chain).ok()?;
                spline.reversed = r.below(2) == 0;
                spline.moves_root = r.below(4) > 0;
                if r.below(4) == 0 {
                    spline.fit = Fit::Stretched { shortest: 0.5, longest: 2.0 };
                }
                if r.below(2) == 0 {
                    let twist = [r.between(-3.0, 3.0), r.between(-3.0, 3.0)];
                    spline.roll = Roll::Frames { axis: r.direction(), twist };
                }
                Self::Spline(spline, curve(rig, r)?)
            }
            _ => Self::LookAt(look(rig, r)?, LookState::default()),
        })
    }

    /// Takes settings from all over their ranges.
    fn rave(&mut self, r: &mut Noise) {
        let power = |r: &mut Noise, from, to| 10f32.powf(r.between(from, to));
        let near = power(r, -9.0, 0.5);
        let turn_near = power(r, -9.0, 0.5);
        // (Few are many: what takes long finds little.)
        let sweeps = any(r, &[0, 1, 2, 3, 7, 20, 64]);
        let starts = any(r, &[0, 0, 1, 4]);
        let most = match r.below(6) {
            0 => f32::MIN_POSITIVE,
            1 => power(r, -6.0, 1.0),
            _ => f32::INFINITY,
        };
        let axis = |r: &mut Noise| r.vector() * 10f32.powf(r.between(-30.0, 30.0));
        let chain = |s: &mut IterativeOptions, r: &mut Noise| {
            (s.tolerance, s.rotation_tolerance) = (near.min(1.0), turn_near);
            (s.max_iterations, s.max_restarts) = (sweeps, starts);
            if s.max_turn == f32::INFINITY {
                s.max_turn = most;
            }
            if let Some(at) = &mut s.root_position {
                *at *= 10f32.powf(r.between(-3.0, 3.0));
            }
            if let Some(way) = &mut s.base_direction {
                *way *= 10f32.powf(r.between(-15.0, 15.0));
            }
        };
        match self {
            Self::TwoBone(s) => {
                s.hinge = s.hinge.map(|_| axis(r));
                s.swivel *= power(r, -3.0, 6.0);
                s.min_flexion = any(r, &[0.0, 0.0, s.min_flexion, std::f32::consts::PI]);
            }
            Self::Aim(s) => {
                s.axis = axis(r);
                s.offset *= power(r, -6.0, 6.0);
                if let Some(up) = &mut s.up {
                    *up = AimUp { axis: axis(r), direction: axis(r) };
                }
            }
            Self::Free(s) => {
                (s.tolerance, s.max_iterations) = (near.min(1.0), sweeps);
                s.bend = (r.below(3) == 0).then(|| axis(r));
                s.max_turn = s.max_turn.min(most);
            }
            Self::Auto(s) => {
                (s.tolerance, s.rotation_tolerance) = (near.min(1.0), turn_near);
                (s.max_iterations, s.max_restarts) = (sweeps, starts);
                s.max_turn = s.max_turn.min(most);
            }
            Self::Follow(_) => {}
            Self::Ccd(s) => {
                chain(&mut s.settings, r);
                if r.below(3) == 0 {
                    (s.damping, s.max_step) = (0.999 * r.unit(), power(r, -3.0, 1.0));
                }
            }
            Self::Fabrik(s) => chain(&mut s.settings, r),
            Self::Dls(s) => chain(&mut s.settings, r),
            Self::Tree(s) => {
                (s.tolerance, s.rotation_tolerance) = (near, turn_near);
                (s.max_iterations, s.max_restarts) = (sweeps, starts);
                s.max_turn = s.max_turn.min(most);
                match &mut s.root {
                    RootMode::Spring(strength) => *strength = power(r, -9.0, 6.0),
                    RootMode::At(at) => *at *= power(r, -3.0, 3.0),
                    _ => {}
                }
                s.posture = any(r, &[0.0, 1.0, s.posture]);
                s.soft = any(r, &[0.0, 0.0, 1.0, s.soft]);
                if let Some(balance) = &mut s.balance {
                    balance.up = axis(r);
                    balance.margin = any(r, &[0.0, 1.0, balance.margin]);
                    balance.weight = power(r, -9.0, 0.0);
                    balance.priority = r.below(3) as u8;
                }
            }
            Self::Drag(..) => {}
            Self::Spline(s, _) => {
                s.tolerance = near.min(1.0);
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

    /// What goes on from the last pose begins anew: the pose was put elsewhere.
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
            Self::Follow(_) | Self::Drag(..) => true,
            Self::Ccd(s) => s.settings.root_position.is_some(),
            Self::Fabrik(s) => s.settings.root_position.is_some(),
            Self::Dls(s) => s.settings.root_position.is_some(),
            Self::Tree(s) => s.root != RootMode::Pinned,
            Self::Spline(s, _) => s.moves_root,
            _ => false,
        }
    }

    /// By what factor bones may become longer; none where their lengths are the curve's.
    pub fn stretch(&self) -> Option<f32> {
        match self {
            Self::Free(s) => Some(s.stretch),
            Self::Auto(s) => Some(s.stretch),
            Self::Ccd(s) => Some(s.settings.stretch),
            Self::Fabrik(s) => Some(s.settings.stretch),
            Self::Dls(s) => Some(s.settings.stretch),
            Self::Spline(s, _) => (s.fit == Fit::Whole).then_some(1.0),
            _ => Some(1.0),
        }
    }

    /// The most that a joint may turn in one solve.
    pub fn most(&self) -> f32 {
        match self {
            Self::Free(s) => s.max_turn,
            Self::Auto(s) => s.max_turn,
            Self::Ccd(s) => s.settings.max_turn,
            Self::Fabrik(s) => s.settings.max_turn,
            Self::Dls(s) => s.settings.max_turn,
            Self::Tree(s) => s.max_turn,
            _ => f32::INFINITY,
        }
    }

    /// What is asked of it for one goal at `at` (and others nearby, where there are several), turned and weighed at random.
    pub fn task(&self, pose: &Pose, at: Vec3, rig: &Rig, r: &mut Noise) -> Task {
        let mut goal = Goal::at(at);
        if r.below(4) == 0 {
            goal = goal.with_pole(Pole::Direction(r.vector()));
        }
        if r.below(5) == 0 && !matches!(self, Self::TwoBone(_)) {
            goal = goal.with_rotation(r.rotation());
        }
        if r.below(6) == 0 {
            (goal.position_weight, goal.rotation_weight) = (r.unit(), r.unit());
        }
        let weight = if r.below(4) == 0 { r.unit() } else { 1.0 };
        let soft = if r.below(4) == 0 { 0.1 } else { 0.0 };
        let stretch = if r.below(8) == 0 { r.between(1.0, 1.5) } else { 1.0 };
        let mut task = Task { goals: vec![goal], weight, soft, stretch, ..Task::default() };
        match self {
            Self::Tree(s) => {
                let tips: Vec<JointId> = s.effectors().iter().map(|t| t.joint).collect();
                task.goals[0].pole = Pole::Keep;
                task.goals.extend(tips[1..].iter().map(|&tip| match r.below(6) {
                    0 => Goal::NONE,
                    1 => Goal::at(pose.position(tip)),
                    _ => {
                        let near = Goal::at(pose.position(tip) + r.vector() * rig.size);
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
        let chain =
            matches!(self, Self::Free(_) | Self::Auto(_) | Self::Ccd(_) | Self::Fabrik(_) | Self::Dls(_));
        let soft = chain || matches!(self, Self::TwoBone(_));
        let led = soft || matches!(self, Self::Tree(_));
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
                goal.position_weight = any(r, &[0.0, 1e-30, 1e-6]);
            }
            if r.below(8) == 0 {
                goal.rotation_weight = any(r, &[0.0, 1e-30, 1e-6]);
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
            2 if given => goal.position_weight = out,
            3 if given => goal.rotation_weight = out,
            4 if given => {
                let l = any(r, &[0.0, 0.1, 2.1, 1e20, f32::NAN]);
                goal.rotation = Some(Quat::from_xyzw(0.0, l, 0.0, 0.0));
            }
            5 if given => goal.pole = Pole::Direction(Vec3::new(0.0, bad, 1.0)),
            6 if soft => task.soft = out,
            7 if chain => task.stretch = any(r, &[f32::NAN, f32::INFINITY, 0.0, -1.0, 1.0 - 1e-6]),
            8 if chain || matches!(self, Self::Tree(_)) => {
                task.max_turn = Some(any(r, &[f32::NAN, 0.0, -1.0, f32::NEG_INFINITY]));
            }
            _ => task.invalid = false,
        }
    }

    /// Carries a task out. The number beside the report is metres beyond the curve for splines, the eyes' angle for looks.
    pub fn solve(&mut self, pose: &mut Pose, task: &Task) -> Result<(Report, f32), SolveError> {
        let (goal, weight) = (task.goals[0], task.weight);
        let at = goal.position.unwrap_or_default();
        macro_rules! chain {
            ($s:expr, $settings:expr) => {{
                let most = $settings.max_turn;
                $settings.max_turn = task.max_turn.unwrap_or(most);
                ($settings.weight, $settings.soft, $settings.stretch) = (weight, task.soft, task.stretch);
                let report = $s.solve(pose, &goal);
                $settings.max_turn = most;
                report
            }};
        }
        let report = match self {
            Self::TwoBone(s) => {
                (s.weight, s.soft) = (weight, task.soft);
                s.solve(pose, &goal)
            }
            Self::Aim(s) => {
                s.weight = weight;
                s.solve(pose, at)
            }
            Self::Free(s) => chain!(s, s),
            Self::Auto(s) => chain!(s, s),
            Self::Follow(s) => {
                s.weight = weight;
                s.solve(pose, at)
            }
            Self::Ccd(s) => chain!(s, s.settings),
            Self::Fabrik(s) => chain!(s, s.settings),
            Self::Dls(s) => chain!(s, s.settings),
            Self::Tree(s) => {
                let most = s.max_turn;
                (s.weight, s.max_turn) = (weight, task.max_turn.unwrap_or(most));
                let report = s.solve(pose, &task.goals);
                s.max_turn = most;
                report
            }
            Self::Drag(drag, _) => match drag {
                Some(drag) => drag.to(pose, goal),
                None => Ok(Report::default()),
            },
            Self::Spline(s, curve) => {
                (s.weight, s.offset) = (weight, task.offset);
                return s.solve(pose, curve).map(|s| (s.report, s.beyond));
            }
            Self::LookAt(s, state) => {
                s.weight = weight;
                return s.solve(pose, at, state).map(|s| (s.report, s.eyes));
            }
        };
        report.map(|report| (report, 0.0))
    }
}

/// What is asked of a solver once.
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
