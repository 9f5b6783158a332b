//! Landings on lower treads: the forefoot touches the tread before the heel, as when people go down stairs.
//!
//! The heel keeps the contact times of the clip. If the clip's heel touches the floor some time before the ball, the ball
//! touches the lower tread that long before the heel.

use alloc::vec::Vec;

use super::{
    constants::{LEAP, ROLL, ROLL_RATE},
    reference::planned,
};
use crate::{
    ground::plant::{Planted, Stance, planner::Planner, stride::RISER},
    math,
};

/// Landing on the forefoot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Landing {
    /// Time before the stance at which the ball lands, in seconds. It is 0 if the foot does not land on its forefoot.
    pub lead: f32,
    /// Time before the stance at which the foot begins to pitch down, in seconds.
    pub from: f32,
}

/// Landings of a foot on each of its footholds. It lands on the forefoot if the foothold is lower than that of the other foot, and
/// if the clip lands on the heel. The ball lands early, so that no contact of the clip is lost.
pub(super) fn landings(planner: &Planner<'_>, planted: &[Vec<Planted>], foot: usize) -> Vec<Landing> {
    let mut lifted = 0.0;
    planned(&planted[foot])
        .map(|(stance, foothold)| {
            let swing = stance.time.from - core::mem::replace(&mut lifted, stance.time.to);
            let others = (0..planted.len()).filter(|k| *k != foot).flat_map(|k| planned(&planted[k]));
            let before = others.filter(|(s, _)| s.time.from < stance.time.from);
            let last = before.max_by(|a, b| a.0.time.from.total_cmp(&b.0.time.from));
            let lower = last.is_some_and(|(_, last)| {
                (RISER..=LEAP).contains(&(last.drop_to(foothold) / planner.search.leg))
            });
            let lead = roll(stance).filter(|_| lower).unwrap_or(0.0).min(0.25 * swing);
            Landing { lead, from: 0.5 * swing }
        })
        .collect()
}

/// Time from the first contact of the heel to that of the ball, where the foot rolls from one to the other, in seconds.
fn roll(stance: &Stance) -> Option<f32> {
    let time = stance.ball.first()?.from - stance.heel.first()?.from;
    (time > 0.0 && time <= ROLL).then_some(time)
}

impl Landing {
    /// Pitch of the sole relative to the ground in radians, toes up, and the share by which it replaces the clip's pitch, from 0 to 1.
    /// `time` is in seconds from the start of the stance, and negative before it. `lead` must be positive.
    pub fn pitch(&self, time: f32) -> (f64, f64) {
        let share = math::smoothstep(((self.from + time) / (self.from - self.lead)).clamp(0.0, 1.0));
        let down = math::smoothstep((-time / self.lead).clamp(0.0, 1.0));
        (-ROLL_RATE * f64::from(self.lead * down), f64::from(share))
    }
}
