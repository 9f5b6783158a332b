//! Solves within a bound on the turns of joints.

use super::{Asked, ChainScratch, Found, Run, pole::Side, search::NEAR};
use crate::{Outcome, Report, solve::chain_state::Ask};
use glam::Vec3;

/// Maximum number of rounds, each a sweep and the steps after it, of a chain with a bound on turns. A round that reduces the
/// residual by less than a hundredth is the last.
const ROUNDS: u32 = 16;

/// Share of the chain's length by which the solution without a bound on turns must be nearer than the bounded one, so that
/// the chain moves towards it.
const WORTH: f32 = 0.01;

/// Share of its bound on turns above which a joint counts as held by the bound: a joint that is turned back ends between
/// 0.99 and 0.9999 of it.
const AT_BOUND: f32 = 0.98;

impl Run<'_, '_> {
    /// Solves within a bound on turns. Where the bound keeps steps from the goal, it searches for the solution without the
    /// bound, and moves the chain towards it as far as the bound allows; see [`Newton::part_way`].
    pub(super) fn bounded(&mut self, asked: Asked, place: Vec3, side: Side) -> Report {
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

    /// Moves as near to the goal as the bound on turns allows: by the maps of a free chain, by steps, and by sweeps where
    /// steps find no direction (a straight chain whose goal moves inward, a kink).
    pub(super) fn within(&mut self, ask: &Ask, report: &mut Report) {
        let mut best = ask.cost(self.on.links.measure(ask));
        for round in 0..ROUNDS {
            if round > 0 {
                self.sweep.sweep(&mut self.on.links, &mut self.on.buffers, ask, &mut self.trace);
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
}
