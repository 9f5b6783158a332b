//! Every solver, by name, behind one door.

use sinew::{
    Goal, Pole, Pose, Report, SolveError,
    glam::Vec3,
    solve::{Aim, Ccd, Fabrik, Follow, FreeChain, Lead, LeastSquares, TwoBone},
};

use crate::rig::{Freedom, Rig};
use common::Noise;

pub enum Solver {
    TwoBone(TwoBone),
    Aim(Aim),
    Free(FreeChain),
    Follow(Follow),
    Ccd(Ccd),
    Fabrik(Fabrik),
}

/// The names, and what joints each can be asked for.
pub const ALL: [(&str, Freedom); 11] = [
    ("two-bone", Freedom::Free),
    ("aim", Freedom::Free),
    ("free chain", Freedom::Free),
    ("follow, tip", Freedom::Turning),
    ("follow, root", Freedom::Turning),
    ("ccd, sweeps alone", Freedom::Sliding),
    ("ccd", Freedom::Sliding),
    ("ccd, steps first", Freedom::Sliding),
    ("fabrik, sweeps alone", Freedom::Turning),
    ("fabrik", Freedom::Turning),
    ("fabrik, steps first", Freedom::Turning),
];

const WAYS: [LeastSquares; 3] = [LeastSquares::Never, LeastSquares::WhenSlow, LeastSquares::First];

impl Solver {
    /// The solver by its place in [`ALL`]; none where the chain is too short for it.
    pub fn new(which: usize, rig: &Rig, r: &mut Noise) -> Option<Self> {
        let chain = rig.chain()?;
        let skeleton = &rig.skeleton;
        Some(match which {
            0 => {
                let inner = rig.chain.len().checked_sub(2).filter(|n| *n > 0)?;
                Self::TwoBone(TwoBone::from_chain(skeleton, chain, rig.chain[1 + r.below(inner)]).ok()?)
            }
            1 => Self::Aim(Aim { offset: rig.tip_offset, ..Aim::new(chain.tip(), r.vector()) }),
            2 => Self::Free(FreeChain::from_chain(skeleton, chain).ok()?),
            3 | 4 => {
                let mut follow = Follow::from_chain(skeleton, chain).ok()?;
                follow.lead = if which == 3 { Lead::Tip } else { Lead::Root };
                Self::Follow(follow)
            }
            5..=7 => {
                let mut ccd = Ccd::from_chain(skeleton, chain).ok()?;
                ccd.settings.least_squares = WAYS[which - 5];
                ccd.settings.max_iterations = 40;
                ccd.settings.max_restarts = 1;
                Self::Ccd(ccd)
            }
            _ => {
                let mut fabrik = Fabrik::from_chain(skeleton, chain).ok()?;
                fabrik.settings.least_squares = WAYS[which - 8];
                fabrik.settings.max_iterations = 40;
                fabrik.settings.max_restarts = 1;
                Self::Fabrik(fabrik)
            }
        })
    }

    /// Whether the root moves too.
    pub fn moves_root(&self) -> bool {
        matches!(self, Self::Follow(_))
    }

    pub fn solve(&mut self, pose: &mut Pose, at: Vec3, r: &mut Noise) -> Result<Report, SolveError> {
        let mut goal = Goal::at(at);
        if r.below(4) == 0 {
            goal = goal.with_pole(Pole::Direction(r.vector()));
        }
        if r.below(5) == 0 && !matches!(self, Self::TwoBone(_)) {
            goal = goal.with_rotation(r.rotation());
        }
        let weight = if r.below(4) == 0 { r.unit() } else { 1.0 };
        let soft = if r.below(4) == 0 { 0.1 } else { 0.0 };
        match self {
            Self::TwoBone(s) => {
                (s.weight, s.soft) = (weight, soft);
                s.solve(pose, &goal)
            }
            Self::Aim(s) => {
                s.weight = weight;
                s.solve(pose, at)
            }
            Self::Free(s) => {
                (s.weight, s.soft) = (weight, soft);
                s.solve(pose, &goal)
            }
            Self::Follow(s) => {
                s.weight = weight;
                s.solve(pose, at)
            }
            Self::Ccd(s) => {
                (s.settings.weight, s.settings.soft) = (weight, soft);
                s.solve(pose, &goal)
            }
            Self::Fabrik(s) => {
                (s.settings.weight, s.settings.soft) = (weight, soft);
                s.solve(pose, &goal)
            }
        }
    }
}
