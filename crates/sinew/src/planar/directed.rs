//! Brings the end of a chain to a goal with the last bone along a direction.

use glam::{DMat3, DVec3, Vec2};

use super::{
    Chain2d, Chain2dError, DirectedOptions2d, Options2d,
    chain::{self, finite, within},
    distance, length, unit, wrap,
};
use crate::{
    Outcome, Report, math,
    solve::descent::{Descent, Measured, Patience},
};

/// Tolerance of the direction, in radians.
const NEAR: f32 = 1e-3;

/// Residual: the displacement to the goal in chain lengths, and half the angle to the direction, so that a radian
/// weighs as much as half a length.
#[derive(Clone, Copy)]
struct Residual(Vec2, f32);

impl Residual {
    fn cost(self) -> f32 {
        self.0.length_squared() + self.1 * self.1
    }
}

impl Chain2d {
    /// Brings the chain's end to the goal with its last bone along a direction (radians, counter-clockwise from X),
    /// within the limits: the planar form of a goal with position and rotation. The result is the best state found, and
    /// never worse than the input.
    ///
    /// Uses the damped least-squares steps of [`Method2d::Auto`](super::Method2d::Auto), with a third row for the
    /// direction, to which every joint contributes its turn. It restarts when they stall; the first restart (preferred
    /// angles, or a bend) does not count towards the maximum.
    ///
    /// # Errors
    ///
    /// Returns an error for options outside their ranges, and for a goal, direction, root or base that is not finite.
    ///
    /// ```
    /// use sinew::planar::{Bone2d, Chain2d, DirectedOptions2d};
    /// use sinew::glam::Vec2;
    /// let mut arm = Chain2d::new(Vec2::ZERO, &[Bone2d::new(1.0), Bone2d::new(0.8), Bone2d::new(0.2)])?;
    /// let report = arm.solve_directed(Vec2::new(0.9, 0.8), 1.5, &DirectedOptions2d::new())?;
    /// assert!(report.position_residual < 1e-3 && report.rotation_residual < 1e-2);
    /// # Ok::<(), sinew::planar::Chain2dError>(())
    /// ```
    pub fn solve_directed(
        &mut self,
        goal: Vec2,
        direction: f32,
        options: &DirectedOptions2d,
    ) -> Result<Report, Chain2dError> {
        let settings = &Options2d::from(options);
        settings.check()?;
        finite("the goal", goal)?;
        within("the direction", "finite (within 1e4)", direction, -1e4, 1e4)?;
        self.begin()?;
        let mut report = Report::default();
        let (initial_end, size, heading) = (self.end(), self.size(), self.heading());
        let target = self.drawn(goal, 0.0);
        let before = self.residual(target, direction, size).cost();
        let grown = self.grow(goal, settings);
        report.outcome = self.search_directed(goal, direction, settings, &mut report);
        // Longer bones may increase the residual if limits hold the joints back; then the bones keep their lengths.
        if grown && self.residual(target, direction, size).cost() > before {
            self.forget();
            report.outcome = self.search_directed(goal, direction, settings, &mut report);
        }
        self.blend(settings.influence);
        let (end, now) = (self.end(), self.heading());
        report.position_residual = distance(end, goal);
        report.rotation_residual = wrap(direction - now).abs();
        report.branch_changed = self.changed(end - initial_end, size, wrap(now - heading).abs());
        Ok(report)
    }

    /// Brings end and last bone to the goal with the current bone lengths.
    fn search_directed(
        &mut self,
        goal: Vec2,
        direction: f32,
        settings: &Options2d,
        report: &mut Report,
    ) -> Outcome {
        let size = self.size();
        let last = self.bones.last().map_or(0.0, |b| b.length);
        let near = settings.position_tolerance.metres(self.length()).max(chain::rounding(self));
        // The joint before the last bone must reach the start of a last bone that ends at the goal.
        let apart = length(goal - unit(direction) * last - self.root).min(f32::MAX);
        let before = apart - (self.length() - last);
        let by = self.out_of_reach(goal).max(before);
        let target = self.drawn(goal, settings.soft);
        let mut best = self.residual(target, direction, size).cost();
        Self::keep(&self.bones, &mut self.work.best);
        let (mut restarts, mut choice) = (0, None);
        let status = loop {
            if self.met(target, direction, near) {
                break Outcome::Converged;
            }
            let max_steps = settings.iterations().saturating_sub(report.iterations).min(60);
            if max_steps == 0 {
                break Outcome::OutOfIterations;
            }
            report.iterations += self.steps(target, direction, near, max_steps);
            let now = self.residual(target, direction, size).cost();
            if now < best {
                best = now;
                Self::keep(&self.bones, &mut self.work.best);
            }
            if self.met(target, direction, near) {
                break Outcome::Converged;
            }
            if restarts > settings.restarts() || by > near {
                break Outcome::Stalled;
            }
            self.choose(&mut choice, math::sqrt(best));
            self.restart(restarts);
            restarts += 1;
            report.restarts = restarts;
            best = self.residual(target, direction, size).cost();
            Self::keep(&self.bones, &mut self.work.best);
        };
        if status != Outcome::Converged {
            self.choose(&mut choice, math::sqrt(best));
            Self::restore(&mut self.bones, &self.work.chosen);
        }
        report.out_of_reach = if by > near { by } else { 0.0 };
        (report.position_tolerance, report.rotation_tolerance) = (near, NEAR);
        status
    }

    /// Direction of the last bone, in radians.
    fn heading(&self) -> f32 {
        // Each partial sum is wrapped, so that a long chain's sum keeps its digits.
        self.bones.iter().fold(wrap(self.base), |sum, b| wrap(sum + wrap(b.angle)))
    }

    /// Residual, with displacements divided by `size`.
    fn residual(&self, goal: Vec2, direction: f32, size: f32) -> Residual {
        Residual((goal - self.end()) / size, 0.5 * wrap(direction - self.heading()))
    }

    fn met(&self, goal: Vec2, direction: f32, near: f32) -> bool {
        let size = self.size();
        let Residual(off, turn) = self.residual(goal, direction, size);
        length(off) * size <= near && 2.0 * turn.abs() <= NEAR
    }

    /// Steps until both goals are met, `max_steps` steps are made or no step reduces the residual. Returns the number of
    /// steps. See `least_squares`.
    fn steps(&mut self, goal: Vec2, direction: f32, near: f32, max_steps: u32) -> u32 {
        let (n, size) = (self.bones.len(), self.size());
        self.work.held.fill(false);
        let measured = |chain: &Self| {
            let cost = chain.residual(goal, direction, size).cost();
            Measured { cost: cost.into(), met: chain.met(goal, direction, near) }
        };
        let step = |chain: &mut Self, factor: f64, _| {
            let Residual(off, turn) = chain.residual(goal, direction, size);
            chain.walk();
            let end = chain.work.positions[n];
            let column = |at: Vec2| {
                let c = (end - at).perp() / size;
                DVec3::new(f64::from(c.x), f64::from(c.y), 0.5)
            };
            let residual = DVec3::new(f64::from(off.x), f64::from(off.y), f64::from(turn));
            let mut m = DMat3::from_diagonal(DVec3::splat(factor * residual.length_squared() + 1e-9));
            for i in (0..n).filter(|&i| !chain.work.held[i]) {
                let c = column(chain.work.positions[i]);
                m += DMat3::from_cols(c * c.x, c * c.y, c * c.z);
            }
            let y = m.inverse() * residual;
            y.is_finite().then(|| {
                chain.step_within(|at| column(at).dot(y) as f32);
                measured(chain)
            })
        };
        let undo = |chain: &mut Self| Self::restore(&mut chain.bones, &chain.work.kept);
        Descent::new(measured(self), 0.1).run(self, max_steps, Patience::CHAIN, step, undo)
    }
}
