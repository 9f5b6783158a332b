//! Every solver of pose space, by name, behind one door.

use sinew::{
    Goal, JointId, Pole, Pose, SolveError,
    glam::Vec3,
    solve::{
        Aim, Auto, Balance, BendSide, Ccd, ChainSettings, Drag, Eye, Fabrik, Follow, FreeChain, Lead,
        LeastSquares, LookAt, LookJoint, LookState, Pin, Root, Spline, Tip, Tree, TwoBone, Up,
        spline::{Curve, CurveKind, CurveUp, Fit, Roll},
    },
};

use crate::rig::{Freedom, Rig};
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
    Tree(Tree),
    Drag(Option<Drag>, Vec<Pin>),
    Spline(Spline, Curve),
    LookAt(LookAt, LookState),
}

/// The names, what joints each can be asked for, and whether their limbs branch.
pub const ALL: [(&str, Freedom, bool); 27] = [
    ("limb", Freedom::Free, false),
    ("aim", Freedom::Free, false),
    ("free chain", Freedom::Free, false),
    ("free chain, bounded", Freedom::Free, false),
    ("auto", Freedom::Sliding, false),
    ("auto, bounded", Freedom::Sliding, false),
    ("follow, tip", Freedom::Turning, false),
    ("follow, root", Freedom::Turning, false),
    ("ccd, sweeps alone", Freedom::Sliding, false),
    ("ccd", Freedom::Sliding, false),
    ("ccd, steps first", Freedom::Sliding, false),
    ("ccd, steps alone", Freedom::Sliding, false),
    ("ccd, bounded", Freedom::Sliding, false),
    ("ccd, root moved", Freedom::Sliding, false),
    ("fabrik, sweeps alone", Freedom::Turning, false),
    ("fabrik", Freedom::Turning, false),
    ("fabrik, steps first", Freedom::Turning, false),
    ("fabrik, steps alone", Freedom::Turning, false),
    ("fabrik, bounded", Freedom::Turning, false),
    ("fabrik, root moved", Freedom::Turning, false),
    ("tree", Freedom::Sliding, true),
    ("tree, bounded", Freedom::Sliding, true),
    ("tree, loops", Freedom::Sliding, true),
    ("tree, balance", Freedom::Sliding, true),
    ("drag", Freedom::Sliding, true),
    ("spline", Freedom::Turning, false),
    ("look-at", Freedom::Turning, false),
];

const WAYS: [LeastSquares; 6] = [
    LeastSquares::Never,
    LeastSquares::WhenSlow,
    LeastSquares::First,
    LeastSquares::Alone,
    LeastSquares::WhenSlow,
    LeastSquares::WhenSlow,
];

fn any<T: Copy>(r: &mut Noise, of: &[T]) -> T {
    of[r.below(of.len())]
}

/// Bounds of what a joint turns in one solve.
fn bound(r: &mut Noise) -> f32 {
    10f32.powf(r.between(-3.0, 0.3))
}

fn settings(which: usize, rig: &Rig, r: &mut Noise) -> ChainSettings {
    let mut s = ChainSettings {
        least_squares: WAYS[which],
        max_iterations: any(r, &[1, 3, 10, 40]),
        max_restarts: r.below(2) as u32,
        ..ChainSettings::default()
    };
    if which == 4 {
        s.least_squares = any(r, &WAYS);
        s.max_turn = bound(r);
    }
    if which == 5 {
        s.least_squares = any(r, &WAYS);
        s.root_position = Some(r.vector() * rig.size);
        s.base_direction = (r.below(2) == 0).then(|| r.direction());
    }
    s
}

/// Up to five tips anywhere, the last joint among them.
fn tips(rig: &Rig, loops: bool, r: &mut Noise) -> Vec<Tip> {
    let count = rig.joints.len();
    (0..1 + r.below(5))
        .map(|n| {
            let joint = if n == 0 { rig.joints[count - 1] } else { rig.joints[r.below(count)] };
            let offset = if r.below(3) == 0 { r.vector() * rig.size } else { Vec3::ZERO };
            let other = rig.joints[r.below(count)];
            let relative_to = (loops && r.below(2) == 0 && other != joint).then_some(other);
            Tip { joint, offset, priority: any(r, &[0, 0, 0, 1, 2]), relative_to }
        })
        .collect()
}

fn tree(which: usize, rig: &Rig, r: &mut Noise) -> Option<Tree> {
    let tips = tips(rig, which == 2, r);
    let mut tree = Tree::new(&rig.skeleton, rig.joints[0], &tips).ok()?;
    tree.max_iterations = any(r, &[1, 4, 12, 40]);
    tree.max_restarts = r.below(2) as u32;
    tree.root = match r.below(5) {
        0 => Root::Free,
        1 => Root::Spring(r.unit()),
        2 => Root::At(r.vector() * rig.size),
        _ => Root::Pinned,
    };
    tree.posture = if r.below(4) == 0 { r.unit() } else { 0.0 };
    tree.soft = if r.below(3) == 0 { r.unit() } else { 0.0 };
    if which == 1 {
        tree.max_turn = bound(r);
    }
    if which == 3 {
        let support: Vec<Vec3> = (0..1 + r.below(6)).map(|_| r.vector() * rig.size).collect();
        let up = r.direction();
        tree.balance =
            Some(Balance { margin: r.unit(), up, weight: r.between(0.01, 1.0), ..Balance::over(support) });
    }
    Some(tree)
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
                aim.up = (r.below(2) == 0).then(|| Up { axis: r.direction(), direction: r.direction() });
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
            8..=13 => {
                let mut ccd = Ccd::from_chain(skeleton, chain).ok()?;
                ccd.settings = settings(which - 8, rig, r);
                Self::Ccd(ccd)
            }
            14..=19 => {
                let mut fabrik = Fabrik::from_chain(skeleton, chain).ok()?;
                fabrik.settings = settings(which - 14, rig, r);
                Self::Fabrik(fabrik)
            }
            20..=23 => Self::Tree(tree(which - 20, rig, r)?),
            24 => {
                let count = rig.joints.len();
                let mut pins: Vec<Pin> = Vec::new();
                for _ in 0..r.below(4) {
                    let joint = rig.joints[r.below(count)];
                    let twice = pins.iter().any(|p| p.tip.joint == joint);
                    if joint != rig.joints[count - 1] && !twice {
                        pins.push(if r.below(2) == 0 { Pin::pose(joint) } else { Pin::place(joint) });
                    }
                }
                Self::Drag(None, pins)
            }
            25 => {
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

    /// What goes on from the last pose begins anew: the pose was put elsewhere.
    pub fn begin(&mut self, pose: &Pose, rig: &Rig) {
        match self {
            Self::Drag(drag, pins) => {
                let tip = Tip::new(rig.joints[rig.joints.len() - 1]);
                *drag = Drag::new(pose, rig.joints[0], tip, pins).ok();
            }
            Self::LookAt(_, state) => state.reset(),
            _ => {}
        }
    }

    /// Whether the root moves too.
    pub fn moves_root(&self) -> bool {
        match self {
            Self::Follow(_) | Self::Drag(..) => true,
            Self::Ccd(s) => s.settings.root_position.is_some(),
            Self::Fabrik(s) => s.settings.root_position.is_some(),
            Self::Tree(s) => s.root != Root::Pinned,
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
            Self::Tree(s) => s.max_turn,
            _ => f32::INFINITY,
        }
    }

    /// Solves for one goal at `at` (and others nearby, where there are several), turned and weighed at random. What is
    /// missing: metres, radians.
    pub fn solve(
        &mut self,
        pose: &mut Pose,
        at: Vec3,
        rig: &Rig,
        r: &mut Noise,
    ) -> Result<[f32; 2], SolveError> {
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
        let report = match self {
            Self::TwoBone(s) => {
                (s.weight, s.soft) = (weight, soft);
                s.solve(pose, &goal)
            }
            Self::Aim(s) => {
                s.weight = weight;
                s.solve(pose, at)
            }
            Self::Free(s) => {
                (s.weight, s.soft, s.stretch) = (weight, soft, stretch);
                s.solve(pose, &goal)
            }
            Self::Auto(s) => {
                (s.weight, s.soft, s.stretch) = (weight, soft, stretch);
                s.solve(pose, &goal)
            }
            Self::Follow(s) => {
                s.weight = weight;
                s.solve(pose, at)
            }
            Self::Ccd(s) => {
                (s.settings.weight, s.settings.soft, s.settings.stretch) = (weight, soft, stretch);
                s.solve(pose, &goal)
            }
            Self::Fabrik(s) => {
                (s.settings.weight, s.settings.soft, s.settings.stretch) = (weight, soft, stretch);
                s.solve(pose, &goal)
            }
            Self::Tree(s) => {
                s.weight = weight;
                let tips: Vec<JointId> = s.tips().iter().map(|t| t.joint).collect();
                let others = tips[1..].iter().map(|&tip| match r.below(6) {
                    0 => Goal::NONE,
                    1 => Goal::at(pose.position(tip)),
                    _ => {
                        let near = Goal::at(pose.position(tip) + r.vector() * rig.size);
                        if r.below(3) == 0 { near.with_rotation(r.rotation()) } else { near }
                    }
                });
                let first = Goal { pole: Pole::Keep, ..goal };
                let goals: Vec<Goal> = std::iter::once(first).chain(others).collect();
                s.solve(pose, &goals)
            }
            Self::Drag(drag, _) => match drag {
                Some(drag) => drag.to(pose, Goal { pole: Pole::Keep, ..goal }),
                None => Ok(Default::default()),
            },
            Self::Spline(s, curve) => {
                (s.weight, s.offset) = (weight, r.between(-1.0, 3.0) * rig.size);
                return s.solve(pose, curve).map(|s| [s.report.position_residual, s.beyond]);
            }
            Self::LookAt(s, state) => {
                s.weight = weight;
                return s.solve(pose, at, state).map(|s| [s.report.position_residual, s.eyes]);
            }
        };
        report.map(|s| [s.position_residual, s.rotation_residual])
    }
}
