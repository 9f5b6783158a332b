//! Brings the end of a chain to a goal, by sweeps.

use glam::Vec2;

use super::{
    BendSide2d, Bone2d, Chain2d, Chain2dError, angle,
    chain::{self, finite, within},
    distance, length, scaled, unit, wrap,
};
use crate::{
    Outcome, Report, math64,
    option_type::option_type,
    solve::{
        arc::to_unit,
        choice::{AS_NEAR, AT_REST, Choice},
        options::Tolerance,
        soften,
    },
};

/// Method of [`Chain2d::solve`].
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Method2d {
    /// FABRIK sweeps, with damped least-squares steps after a sweep that leaves more than 0.3 of the residual, and a
    /// bend for a chain and goal on one line.
    #[default]
    Auto,
    /// Cyclic coordinate descent (Wang & Chen 1991): from the tip inward, each joint turns its line to the end onto its
    /// line to the goal. Outer joints bend most. [`Method2d::CCD`] is the undamped form.
    Ccd {
        /// Share of each turn that is withheld, 0 (none) to below 1.
        damping: f32,
        /// Maximum turn of a joint in a sweep, in radians; infinite for none.
        #[cfg_attr(feature = "serde", serde(with = "crate::stored::upper"))]
        max_step: f32,
    },
    /// Forward and backward reaching (FABRIK, Aristidou & Lasenby 2011): pulls the chain to the goal by its end, then
    /// back to its root. For a goal out of reach, it first straightens the chain towards the goal. All joints bend
    /// alike.
    Fabrik,
}

impl Method2d {
    /// Cyclic coordinate descent without damping.
    pub const CCD: Self = Self::Ccd { damping: 0.0, max_step: f32::INFINITY };
}

option_type! {
    /// Options of [`Chain2d::solve`].
    Options2d {
        /// Method; [`Method2d::Auto`] by default.
        method, with_method: Method2d = Method2d::Auto;
        /// Side of the line from root to end on which the middle of the chain ends, seen along that line; it serves as
        /// the pole of a chain in the plane. The chain keeps its own side if limits do not allow mirroring. `None` (the
        /// default) keeps the input's side.
        side, with_side: Option<BendSide2d> = None;
        /// Blend weight between the input angles (0) and the result (1, the default), linear in the joints' angles.
        #[doc(alias("alpha", "weight"))]
        influence, with_influence: f32 = 1.0;
        /// Distance before full extension over which the chain gradually falls behind the goal, as a share of the
        /// reach, 0 (none, the default) to 1; see [`soften`].
        soft, with_soft: f32 = 0.0;
        /// Largest factor by which bones lengthen for a goal out of reach or in the soft zone, 1 (none, the default) or
        /// more.
        stretch, with_stretch: f32 = 1.0;
        /// Permitted distance of the end from the goal; 1e-4 of the length by default. A chain within the tolerance
        /// does not move.
        position_tolerance, with_position_tolerance: Tolerance = Tolerance::Share(1e-4);
        ? /// Maximum number of sweeps and steps. `None` (the default): 200 for [`Method2d::Auto`], 32 for others.
        max_iterations, with_max_iterations: u32;
        ? /// Maximum number of restarts after a stall. `None` (the default): 4 for [`Method2d::Auto`], 0 for others. With
        /// [`Method2d::Auto`] the first restart (preferred angles, or a bend) does not count.
        max_restarts, with_max_restarts: u32;
    }
}

option_type! {
    /// Options of [`Chain2d::solve_directed`].
    DirectedOptions2d {
        /// Blend weight of the result; see [`Options2d::influence`].
        influence, with_influence: f32 = 1.0;
        /// Soft zone; see [`Options2d::soft`].
        soft, with_soft: f32 = 0.0;
        /// Largest factor by which bones lengthen; see [`Options2d::stretch`].
        stretch, with_stretch: f32 = 1.0;
        /// Permitted distance of the end from the goal; see [`Options2d::position_tolerance`].
        position_tolerance, with_position_tolerance: Tolerance = Tolerance::Share(1e-4);
        /// Maximum number of steps; 200 by default.
        max_iterations, with_max_iterations: u32 = 200;
        /// Maximum number of restarts after a stall; 4 by default.
        max_restarts, with_max_restarts: u32 = 4;
    }
}

impl From<&DirectedOptions2d> for Options2d {
    fn from(o: &DirectedOptions2d) -> Self {
        Self::new()
            .with_influence(o.influence)
            .with_soft(o.soft)
            .with_stretch(o.stretch)
            .with_position_tolerance(o.position_tolerance)
            .with_max_iterations(o.max_iterations)
            .with_max_restarts(o.max_restarts)
    }
}

/// Share of the residual above which a sweep counts as slow, and share of progress below which it counts as stalled.
/// Near full stretch, FABRIK still gains a few parts in a thousand per sweep.
const SLOW: f32 = 0.3;
const STALLED: f32 = 2e-4;

/// Smallest positive `f32`.
const MIN_ABOVE_ZERO: f32 = f32::from_bits(1);

impl Options2d {
    pub(super) fn check(&self) -> Result<(), Chain2dError> {
        match self.position_tolerance {
            Tolerance::Share(share) => {
                within("the position tolerance", "above 0 to 1", share, MIN_ABOVE_ZERO, 1.0)?
            }
            Tolerance::Metres(metres) => {
                within("the position tolerance in metres", "above 0", metres, MIN_ABOVE_ZERO, f32::MAX)?
            }
        }
        if let Method2d::Ccd { damping, max_step } = self.method {
            within("the damping", "0 to below 1", damping, 0.0, 1.0 - f32::EPSILON)?;
            within("the largest step", "above 0", max_step, MIN_ABOVE_ZERO, f32::INFINITY)?;
        }
        within("the soft zone", "0 to 1", self.soft, 0.0, 1.0)?;
        within("the stretch", "1 or more", self.stretch, 1.0, f32::MAX)?;
        within("the influence", "0 to 1", self.influence, 0.0, 1.0)
    }

    pub(super) fn iterations(&self) -> u32 {
        self.max_iterations.unwrap_or(if self.method == Method2d::Auto { 200 } else { 32 })
    }

    pub(super) fn restarts(&self) -> u32 {
        self.max_restarts.unwrap_or(if self.method == Method2d::Auto { 4 } else { 0 })
    }
}

impl Chain2d {
    /// Brings the chain's end to the goal, within the limits. An input angle outside its limits never moves further
    /// outside. The result is the best state found, and never worse than the input.
    ///
    /// # Errors
    ///
    /// Returns an error for options outside their ranges, and for a goal, root or base that is not finite.
    pub fn solve(&mut self, goal: Vec2, settings: &Options2d) -> Result<Report, Chain2dError> {
        settings.check()?;
        finite("the goal", goal)?;
        self.begin()?;
        let mut report = Report::default();
        let (initial_end, size) = (self.end(), self.size());
        let left = settings.side.map(|_| self.left());
        let mut grown = self.grow(goal, settings);
        loop {
            let start = if grown { self.end() } else { initial_end };
            let other = self.search(goal, start, settings, &mut report);
            if !(grown || other) || !self.is_further(goal, initial_end) {
                break;
            }
            // Longer bones, or the substitute for a far goal, may increase the residual if limits hold the joints back.
            self.forget();
            if !core::mem::take(&mut grown) {
                break;
            }
        }
        if let Some(side) = settings.side {
            self.mirror(side, &mut report);
        }
        self.blend(settings.influence);
        let end = self.end();
        report.position_residual = distance(end, goal);
        report.branch_changed = match left.map(|left| [left, self.left()]) {
            Some([was, now]) => was.min(now) < 0.0 && was.max(now) > 0.0,
            None => self.changed(end - initial_end, size, 0.0),
        };
        Ok(report)
    }

    /// Brings the end from `start` to the goal with the current bone lengths. Returns whether it used a substitute for
    /// a goal too far away.
    fn search(&mut self, goal: Vec2, start: Vec2, settings: &Options2d, report: &mut Report) -> bool {
        let by = self.out_of_reach(goal);
        let near = settings.position_tolerance.metres(self.length()).max(chain::rounding(self));
        let target = self.drawn(goal, settings.soft);
        let status = self.descend(target, start, near, by <= near, settings, report);
        report.outcome = status;
        report.out_of_reach = if by > near { by } else { 0.0 };
        report.position_tolerance = near;
        settings.soft <= 0.0 && target != goal
    }

    /// Whether the end is further from the goal than the input's end. Computed in f64, which distinguishes the two
    /// however far the goal.
    fn is_further(&self, goal: Vec2, initial_end: Vec2) -> bool {
        let (root, length) = (self.root.as_dvec2(), f64::from(self.length()));
        let displacement = goal.as_dvec2() - root;
        // Beyond 1e7 lengths, only the direction counts.
        let to = root + displacement * (1e7 * length / math64::sqrt(displacement.length_squared())).min(1.0);
        let off = |end: Vec2| (end.as_dvec2() - to).length_squared();
        off(self.end()) > off(initial_end)
    }

    /// Restores the input angles and lengths.
    pub(super) fn forget(&mut self) {
        Self::restore(&mut self.bones, &self.work.initial);
        for (bone, &length) in self.bones.iter_mut().zip(&self.work.lengths) {
            bone.length = length;
        }
    }

    /// Blends by `weight` from the input angles to the current ones.
    pub(super) fn blend(&mut self, weight: f32) {
        if weight >= 1.0 {
            return;
        }
        for (bone, &initial) in self.bones.iter_mut().zip(&self.work.initial) {
            if weight <= 0.0 || bone.angle == initial {
                bone.angle = initial;
            } else if bone.limits.is_some() {
                // Joints with limits blend along their range (on its turn), others the shorter way round.
                let from = wrap(initial);
                bone.angle = from + (wrap(bone.angle) - from) * weight;
            } else {
                bone.angle = initial + wrap(bone.angle - initial) * weight;
            }
        }
    }

    /// Lengthens bones if the goal is further than the soft zone permits. Returns whether any bone grew.
    pub(super) fn grow(&mut self, goal: Vec2, settings: &Options2d) -> bool {
        if settings.stretch <= 1.0 || settings.influence <= 0.0 {
            return false;
        }
        let (far, reach) = (distance(self.root, goal), self.length());
        if far <= 0.0 || reach <= 0.0 {
            return false;
        }
        let drawn = soften(far, reach, settings.soft);
        let factor = 1.0 + ((far / drawn).clamp(1.0, settings.stretch) - 1.0) * settings.influence;
        // Bones stay as they are if any would exceed the maximum length.
        let grows = factor > 1.0 && self.bones.iter().all(|b| b.length * factor <= 1e18);
        if grows {
            for bone in &mut self.bones {
                bone.length *= factor;
            }
        }
        grows
    }

    /// Signed area that measures how far the chain's middle lies to the left of the line from root to end, seen along
    /// that line. The chain is scaled to a length of 1 to 2.
    fn left(&mut self) -> f32 {
        self.walk();
        let (n, unit) = (self.bones.len(), to_unit(self.length()));
        let end = (self.work.positions[n] - self.root) * unit;
        let middle: Vec2 = self.work.positions[..n].iter().map(|p| (*p - self.root) * unit).sum();
        end.perp_dot(middle)
    }

    /// Mirrors the chain about the line from its root to its end, if it lies on the wrong side.
    ///
    /// Every angle changes its sign, and the first one turns so that the end keeps its position. So nothing needs
    /// solving again.
    fn mirror(&mut self, side: BendSide2d, report: &mut Report) {
        let left = self.left();
        let end = self.work.positions[self.bones.len()] - self.root;
        let wanted = if side == BendSide2d::Left { 1.0 } else { -1.0 };
        // A straight chain has no side.
        let size = self.length() * to_unit(self.length());
        if left * wanted >= 0.0 || left.abs() <= 1e-6 * size * size || end == Vec2::ZERO {
            return;
        }
        Self::keep(&self.bones, &mut self.work.kept);
        let along = angle(unit(self.base), end);
        for (i, bone) in self.bones.iter_mut().enumerate() {
            let turned = if i == 0 { 2.0 * along - wrap(bone.angle) } else { -bone.angle };
            bone.angle = wrap(turned);
        }
        let within = |(bone, (from, to)): (&Bone2d, &(f32, f32))| (*from..=*to).contains(&wrap(bone.angle));
        if self.bones.iter().zip(&self.work.spans).all(within) {
            report.iterations += 1;
        } else {
            Self::restore(&mut self.bones, &self.work.kept);
        }
    }

    /// Target position for a goal. A far goal is replaced by a position in the same direction that is little out of
    /// reach (so that nothing overflows), or by that of the soft zone.
    pub(super) fn drawn(&self, goal: Vec2, soft: f32) -> Vec2 {
        let half = goal * 0.5 - self.root * 0.5;
        let size = half.abs().max_element();
        let reach = self.length();
        if size <= 0.0 || size.is_subnormal() {
            return goal;
        }
        let direction = half / size;
        let distance = (2.0 * (size * length(direction))).min(f32::MAX);
        let far = if soft > 0.0 { soften(distance, reach, soft) } else { distance.min(10.0 * reach) };
        if far >= distance { goal } else { self.root + direction / length(direction) * far }
    }

    /// Whether chain and goal are on one line, so that no joint's turn reduces the residual beyond rounding.
    fn in_line(&mut self, goal: Vec2) -> bool {
        self.walk();
        let n = self.bones.len();
        let end = self.work.positions[n];
        let (off, size) = (scaled(goal - end), self.length());
        let unit = to_unit(size);
        // A turn of one milliradian then gains less than 1e-7 of the length.
        let max_gain = 1e-4 * (size * unit) * length(off);
        self.work.positions[..n].iter().all(|&at| ((end - at) * unit).perp_dot(off).abs() <= max_gain)
    }

    fn descend(
        &mut self,
        goal: Vec2,
        start: Vec2,
        near: f32,
        reachable: bool,
        settings: &Options2d,
        report: &mut Report,
    ) -> Outcome {
        let mut left = length(goal - start);
        let mut best = left;
        Self::keep(&self.bones, &mut self.work.best);
        let auto = settings.method == Method2d::Auto;
        if auto && left > near && self.in_line(goal) {
            self.restart(0);
            // Least-squares steps stay on the side of the bend; a sweep may cross over.
            report.iterations += self.least_squares(goal, near, settings.iterations().min(20));
            left = length(goal - self.end());
            if left < best {
                best = left;
                Self::keep(&self.bones, &mut self.work.best);
            }
        }
        let size = self.size();
        if settings.method == Method2d::Fabrik && length(goal - self.root) > self.length() {
            // The straight chain is the answer, within limits.
            self.point_bones(|_, _, at| goal - at);
            let straight = length(goal - self.end());
            if straight < left {
                left = straight;
                best = straight;
                Self::keep(&self.bones, &mut self.work.best);
            } else {
                Self::restore(&mut self.bones, &self.work.best);
            }
        }
        let (mut restarts, mut slow, mut next, mut pause, mut choice) = (0, 0, 0, 2, None);
        let status = loop {
            if left <= near {
                break Outcome::Converged;
            }
            if report.iterations >= settings.iterations() {
                break Outcome::OutOfIterations;
            }
            let before = left;
            if !auto {
                Self::keep(&self.bones, &mut self.work.kept);
            }
            match settings.method {
                Method2d::Ccd { damping, max_step } => self.sweep_ccd(goal, damping, max_step),
                Method2d::Fabrik | Method2d::Auto => self.sweep_fabrik(goal),
            }
            let rests = !auto
                && self
                    .bones
                    .iter()
                    .zip(&self.work.kept)
                    .all(|(b, was)| wrap(b.angle - was).abs() <= AT_REST);
            report.iterations += 1;
            left = length(goal - self.end());
            if auto && left > near && left > SLOW * before && report.iterations >= next {
                let max_steps = (settings.iterations() - report.iterations).min(20);
                report.iterations += self.least_squares(goal, near, max_steps);
                left = length(goal - self.end());
                // After a failure, wait for twice as many sweeps before the next attempt.
                next = report.iterations + pause;
                pause *= 2;
            }
            if left < best || !auto && left <= best + AS_NEAR * size {
                best = best.min(left);
                Self::keep(&self.bones, &mut self.work.best);
            }
            slow = if left > before * (1.0 - STALLED) { slow + 1 } else { 0 };
            let stalls = if auto { slow >= 2 || (slow == 1 && left == before) } else { rests };
            if stalls {
                let max_restarts = settings.restarts().saturating_add(u32::from(auto));
                if restarts >= max_restarts || !reachable {
                    break Outcome::Stalled;
                }
                self.choose(&mut choice, best / size);
                self.restart(restarts);
                (restarts, slow, pause) = (restarts + 1, 0, 2);
                report.restarts = restarts;
                left = length(goal - self.end());
                best = left;
                Self::keep(&self.bones, &mut self.work.best);
            }
        };
        if status == Outcome::Converged {
            return status;
        }
        self.choose(&mut choice, best / size);
        Self::restore(&mut self.bones, &self.work.chosen);
        status
    }

    /// Records the best state since the last restart as the answer if it is the first, or a better choice.
    pub(super) fn choose(&mut self, choice: &mut Option<Choice>, residual: f32) {
        let take = match choice {
            None => {
                *choice = Some(Choice::new(residual));
                true
            }
            Some(choice) => {
                let turns = self
                    .work
                    .best
                    .iter()
                    .zip(&self.work.initial)
                    .map(|(best, initial)| wrap(best - initial).abs());
                choice.takes(residual, turns.fold(0.0, f32::max))
            }
        };
        if take {
            self.work.chosen.copy_from_slice(&self.work.best);
        }
    }
}
