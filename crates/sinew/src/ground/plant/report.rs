//! The report of planting a clip.

use alloc::vec::Vec;

use super::{ContactOutcome, Contacts, Figure, Measures, PlantError, Unplanted};

/// What was measured on a planted clip.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PlantReport {
    /// Length of a step on stairs divided by the clip's; `None` where steps keep it.
    pub stride: Option<f32>,
    /// Contacts of the clip, planted or not, each with the reason.
    pub contacts: Vec<ContactOutcome>,
    /// Before planting, raised onto the ground where the walk begins.
    pub before: Measures,
    /// After planting.
    pub after: Measures,
}

/// Height above or below the ground from which a foot does not stand at all, in metres for 1.8 m.
const MAX_OFF: f32 = 0.03;
/// Share of the time in contact in which feet must not stand at all for their joints not to be those of legs.
const NOT_LEGS: f32 = 0.9;

impl PlantReport {
    /// Contacts that are not planted, each with the reason.
    pub fn unplanted(&self) -> impl Iterator<Item = (&ContactOutcome, Unplanted)> {
        self.contacts.iter().filter_map(|c| Some((c, c.unplanted?)))
    }

    /// Share of the time in contact that is planted, from 0 to 1; 1 without contacts.
    pub fn planted_share(&self) -> f32 {
        let (mut all, mut held) = (0.0, 0.0);
        for contact in &self.contacts {
            let seconds = contact.time.length();
            all += seconds;
            held += if contact.unplanted.is_none() { seconds } else { 0.0 };
        }
        if all > 0.0 { held / all } else { 1.0 }
    }

    /// Contacts that are planted, by leg.
    pub fn planted(&self, legs: usize) -> Vec<Contacts> {
        self.by_leg(legs, |c| c.unplanted.is_none())
    }

    /// Contacts for which `keep` is true, by leg.
    pub(super) fn by_leg(&self, legs: usize, keep: impl Fn(&ContactOutcome) -> bool) -> Vec<Contacts> {
        let mut all = alloc::vec![Contacts::default(); legs];
        for c in self.contacts.iter().filter(|c| keep(c)) {
            let Some(contacts) = all.get_mut(c.leg) else { continue };
            if c.point == "heel" { &mut contacts.heel } else { &mut contacts.ball }.push(c.time);
        }
        all
    }

    /// Returns an error if feet hardly ever stand, as the joints are then not those of a leg. Legs with an influence below 1
    /// and legs with given contacts do not count.
    pub(super) fn check_held(&self, figure: &Figure, given: &[Option<Contacts>]) -> Result<(), PlantError> {
        let moves = |c: &ContactOutcome| matches!(c.unplanted, Some(Unplanted::Moves { .. }));
        let counts = |c: &&ContactOutcome| {
            let whole = figure.legs()[c.leg].influence >= 1.0;
            (c.foothold || moves(c)) && whole && given.get(c.leg).is_none_or(Option::is_none)
        };
        let high = MAX_OFF * figure.scale();
        let off = |c: &ContactOutcome| match c.unplanted? {
            Unplanted::Gap { height: off } | Unplanted::Sinks { depth: off } if off <= high => None,
            Unplanted::Slide { .. } => None,
            why => Some(why),
        };
        let seconds = |c: &ContactOutcome| c.time.length();
        let all: f32 = self.contacts.iter().filter(counts).map(seconds).sum();
        let failed = || self.contacts.iter().filter(counts).filter_map(|c| Some((c, off(c)?)));
        let lost: f32 = failed().map(|(c, _)| seconds(c)).sum();
        let longest = failed().max_by(|a, b| seconds(a.0).total_cmp(&seconds(b.0)));
        let Some((first, why)) = longest.filter(|_| lost > NOT_LEGS * all) else { return Ok(()) };
        let percent = 100.0 * (all - lost) / all;
        Err(PlantError::NotHeld { percent, leg: first.leg, point: first.point, time: first.time, why })
    }
}
