//! The search for a goal: steps, sweeps, fresh starts, and the rest pose where the goal cannot be met.

use super::{Asked, ChainScratch, Found, Method, Run, pole::Side};
use crate::{
    Outcome, Report,
    solve::{
        chain_state::Ask,
        choice::{AS_NEAR, AT_REST, Choice},
    },
};

/// A sweep that removes less than this share of the residual has stalled. Near full extension a chain still gains some
/// thousandths a sweep.
const STALLED: f32 = 2e-4;

/// A sweep that leaves more than this share of the residual is slow.
const SLOW: f32 = 0.3;

/// Distance to a goal, as a share of the chain's length, within which steps alone follow it where they reach it. A sweep
/// turns single joints far even for a short distance (CCD's tip by ten times the distance, on a chain of ten bones). The
/// share is six times the motion per frame of a goal that crosses the chain's length in a second.
pub(super) const NEAR: f32 = 0.1;

/// Weight that draws a chain that cannot meet its goal back to the input pose: chain lengths of residual per square radian;
/// see [`Newton::settle`]. Chains of three hinges jump in 1.2 % of their frames with 0.05, and in 0.5 % with this. With a
/// larger weight, more chains would stay further from their goals than [`GIVEN_UP`] allows.
const PULL: f32 = 0.07;

/// Share of the chain's length by which settling may increase the residual: as much as solutions of fresh starts may differ
/// and still count as equally near.
const GIVEN_UP: f32 = 0.01;

/// Radians that a joint may turn per chain length that the end moves, in a pose that continues from the last one. Two equal
/// bones with a soft zone of 5 % need six, at the onset of the zone.
const SMOOTH: f32 = 7.5;

impl Run<'_, '_> {
    /// Searches for the goal from the current pose, within the current bound on turns.
    pub(super) fn search(&mut self, asked: Asked, side: Side) -> Found {
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
        if self.plan.method == Method::Steps && self.plan.prefers && !self.trace.stopped() {
            let ChainScratch { links, newton, best, .. } = &mut *self.on;
            newton.prefer(links, &ask, self.settings.max_iterations, best);
            if ask.met(links.measure(&ask)) {
                status = Outcome::Converged;
            }
        }
        if !side.is_kept() {
            status = self.turn_to_side(&asked, side, initial, status, &mut report);
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
    pub(super) fn judge(&self, ask: &Ask, left: (f32, f32)) -> f32 {
        if self.plan.method != Method::Steps {
            return ask.cost(left);
        }
        let ask = Ask { place: self.judged, ..*ask };
        ask.cost(self.on.links.measure(&ask))
    }

    /// Whether the method makes steps of least squares beside sweeps.
    pub(super) fn finishes(&self) -> bool {
        self.plan.method == Method::Both && self.plan.plain
    }

    /// Sweeps until the goal is met, nothing moves or the iterations are used up. Leaves the best pose found.
    pub(super) fn descend(
        &mut self,
        ask: &Ask,
        seen: bool,
        start: (f32, f32),
        report: &mut Report,
    ) -> Outcome {
        let mut left = start;
        let mut best = self.judge(ask, left);
        self.on.links.keep(&mut self.on.best);
        let finish = self.finishes();
        let length = self.on.links.length();
        let (mut restarts, mut slow, mut choice) = (0, 0, None);
        let (mut next, mut pause) = (0, 2);
        // After a fresh start steps go first, as they stay on the side of that start.
        let mut fresh = finish;
        // The first steps go on where they were interrupted.
        let mut resumes = false;
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
            resumes = !follows && !self.plan.free;
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
                self.sweep.sweep(&mut self.on.links, &mut self.on.buffers, ask, &mut self.trace);
                report.iterations += 1;
                left = self.on.links.measure(ask);
            }
            let now = ask.cost(left);
            if resumes {
                self.resume(ask, 20, report);
                resumes = false;
                left = self.on.links.measure(ask);
            } else if finish && (fresh || !ask.met(left) && now > SLOW * before && report.iterations >= next)
            {
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
        self.resume(ask, 20, report);
        true
    }

    /// Makes at most `max_steps` steps of least squares, with no joint turned further than `turn` radians from the input
    /// pose.
    pub(super) fn steps(&mut self, ask: &Ask, max_steps: u32, turn: f32, report: &mut Report) {
        let max_steps = self.settings.max_iterations.saturating_sub(report.iterations).min(max_steps);
        self.on.links.turn_at_most(turn.min(self.max_turn));
        self.trace.begin(report.iterations);
        report.iterations += self.on.newton.run(&mut self.on.links, ask, max_steps, &mut self.trace);
        self.on.links.turn_at_most(self.max_turn);
    }

    /// Continues the last steps from where they ended, with at most `max_steps` more.
    fn resume(&mut self, ask: &Ask, max_steps: u32, report: &mut Report) {
        let max_steps = self.settings.max_iterations.saturating_sub(report.iterations).min(max_steps);
        self.trace.begin(report.iterations);
        report.iterations += self.on.newton.resume(&mut self.on.links, ask, max_steps, &mut self.trace);
    }

    /// Applies the maps of a free chain, if it is one. Returns whether anything moved.
    pub(super) fn map(&mut self, ask: &Ask) -> bool {
        self.plan.free && self.on.maps.finish(&mut self.on.links, ask)
    }
}
