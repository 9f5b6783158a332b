//! Gaits: when each leg steps.

use alloc::vec::Vec;

use crate::body::{CreatureLeg, Side};

/// A gait: the order in which legs step, and for how long each stands.
///
/// Legs on one side are counted from the rear. Where legs have no side, all count as one side's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Gait {
    /// One leg after the other, from the rear of each side to its front; the slowest. With four legs it is a [`Gait::Walk`].
    Wave,
    /// Each side from rear to front, its neighbours a third of a cycle apart, the sides half a cycle apart.
    Ripple,
    /// Two groups take turns; neighbours and partners are in different ones. With six legs, three stand.
    Tripod,
    /// The same two groups, as they are called for eight legs.
    Tetrapod,
    /// The walk of four legs: left hind, left fore, right hind, right fore, a quarter of a cycle apart.
    Walk,
    /// Diagonal pairs of four legs take turns.
    Trot,
}

/// Time in which a foot comes down before the next one lifts, as a share of the cycle: no two neighbours are up at once, even
/// though both happen at ticks.
const OVERLAP: f32 = 0.02;
/// Share of the cycle in which each of two groups stands: with less, both would be up at once now and then.
const HALF: f32 = 0.55;

impl Gait {
    /// All gaits.
    pub const ALL: [Self; 6] =
        [Self::Wave, Self::Ripple, Self::Tripod, Self::Tetrapod, Self::Walk, Self::Trot];

    /// The gait's name: `wave`, `ripple`, `tripod`, `tetrapod`, `walk` or `trot`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wave => "wave",
            Self::Ripple => "ripple",
            Self::Tripod => "tripod",
            Self::Tetrapod => "tetrapod",
            Self::Walk => "walk",
            Self::Trot => "trot",
        }
    }

    /// The gait with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|gait| gait.name() == name)
    }

    /// Number of legs that the gait is for; `None` for any.
    pub const fn legs(self) -> Option<usize> {
        match self {
            Self::Wave | Self::Ripple => None,
            Self::Tripod => Some(6),
            Self::Tetrapod => Some(8),
            Self::Walk | Self::Trot => Some(4),
        }
    }

    /// Gaits for a number of legs, from the slowest to the fastest.
    pub(super) fn for_legs(count: usize) -> &'static [Self] {
        match count {
            4 => &[Self::Walk, Self::Trot],
            6 => &[Self::Ripple, Self::Tripod],
            8 => &[Self::Ripple, Self::Tetrapod],
            // Neighbours at both ends of an odd ring would be up at once.
            n if n % 2 == 1 => &[Self::Wave],
            _ => &[Self::Ripple, Self::Tripod],
        }
    }
}

/// Phases of legs and the share of the cycle in which each stands.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Pattern {
    /// Time at which each leg lifts, as a share of the cycle.
    pub phases: Vec<f32>,
    /// Share of the cycle in which a leg stands.
    pub duty: f32,
}

impl Pattern {
    /// Copies another pattern for as many legs.
    pub fn copy_from(&mut self, other: &Self) {
        self.phases.copy_from_slice(&other.phases);
        self.duty = other.duty;
    }

    /// The pattern of a gait for legs ordered from front to rear.
    pub fn new(gait: Gait, legs: &[CreatureLeg]) -> Self {
        let sided = legs.iter().all(|l| l.side.is_some());
        let side = |l: &CreatureLeg| usize::from(sided && l.side == Some(Side::Right));
        let longest = [0, 1].map(|s| legs.iter().filter(|l| side(l) == s).count());
        let most = longest[0].max(longest[1]).max(1) as f32;
        // Neighbours of one side are `apart` of a cycle apart.
        let (apart, across, duty) = match gait {
            Gait::Wave | Gait::Walk if sided => (0.5 / most, 0.5, 1.0 - 0.5 / most + OVERLAP),
            Gait::Wave | Gait::Walk => (1.0 / most, 0.0, 1.0 - 1.0 / most + OVERLAP),
            Gait::Ripple => (1.0 / 3.0, 0.5, 2.0 / 3.0 + OVERLAP),
            Gait::Tripod | Gait::Tetrapod | Gait::Trot => (0.5, 0.5, HALF),
        };
        let from_rear = |n: usize| legs[n + 1..].iter().filter(|l| side(l) == side(&legs[n])).count();
        let phase = |n: usize| (from_rear(n) as f32 * apart + side(&legs[n]) as f32 * across) % 1.0;
        Self { phases: (0..legs.len()).map(phase).collect(), duty }
    }
}
