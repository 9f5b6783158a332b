//! A free chain as directions and lengths of bones, and the search that brings its end to a position.

use alloc::vec::Vec;

use glam::{Quat, Vec3, Vec4};

use super::{
    fours::{Arcs, Fours, Loaded, Moments, WEAK},
    newton::{To, newton},
};
use crate::{
    math,
    solve::{
        arc::{LONGEST, distance, max, near, to_unit},
        soften,
    },
};

/// Request to [`Bones::reach`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub root: Vec3,
    pub goal: Vec3,
    /// Permitted distance of the end from the goal, as a share of the chain's length.
    pub tolerance: f32,
    /// Uncertainty of positions, in metres.
    pub uncertain: f32,
    pub soft: f32,
    /// Largest factor by which each bone may lengthen, 1 (none) or more.
    pub stretch: f32,
    pub passes: u32,
    /// Axis about which a straight chain bends, in model space; zero if unknown.
    pub bend: Vec3,
}

/// Result of [`Bones::reach`]. Bones turn by the arcs from `from` to `to`, then all together by `turn`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    /// Rotation of the whole chain, not normalised.
    pub turn: Quat,
    /// Factor by which each bone lengthens.
    pub stretch: f32,
    /// Number of updates of the whole chain; 0 if it stays as it is.
    pub passes: u32,
    /// Distance of the goal beyond the reach, in metres.
    pub by: f32,
    /// Axis about which opposite directions turn into each other; zero if none was needed.
    pub normal: Vec3,
    /// Final position of the end seen from the root: unit direction, and distance in metres.
    pub ahead: Vec3,
    pub distance: f32,
}

/// Bones of a chain, before (`from`) and after (`to`) a solve.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bones {
    from: Fours,
    to: Fours,
    start: Moments,
    /// Inverse of the chain's length in metres, and that length.
    over: f32,
    total: f32,
    longest: f32,
    /// Whether some joint is straight or folded.
    straight: bool,
    /// Whether some bone has no length, and so no direction of its own.
    gap: bool,
    arcs: Vec<Arcs>,
}

/// Range of chain lengths, in metres, that need no rescaling. In it, squares of bones a million times shorter than the
/// chain are still normal numbers, and no square overflows.
const SMALL: f32 = 1e-6;
const LARGE: f32 = 1e15;

/// Uncertainty in f32 of the end of a chain of length 1.
pub(super) const ROUNDING: f32 = 7e-7;

/// Distance of the end or the goal from the root, as a share of the chain's length, below which the chain turns only in
/// part towards the goal: the direction from the root then means little. The share of the turn fades to zero at the
/// root.
const NEAR: f32 = 0.25;

/// Share of the chain's length above which one bone makes a triangle with the sum of all others. Above a half, maps of
/// the sphere no longer lead near the root.
const HEAVY: f32 = 0.4;

/// Number of passes after which Newton's method restarts elsewhere. It is a few more than any chain ever needed: those
/// with very unequal bones next to their smallest reach need the most.
const PATIENCE: u32 = 24;

/// Distance to full stretch, as a share of the length, below which one map scales all angles in closed form. At ten
/// times this distance, f32 still has three digits of the residual.
const CLOSE: f32 = 1e-4;

/// 1 - cos of half a degree. Joints nearer to straight (or folded) count as having no bend of their own.
const STRAIGHT: f32 = 3.8e-5;
/// Bend in radians (half a degree in all) that a straight chain gets before the search.
const NUDGE: f32 = 0.0087;
/// Distance between goal and end, as a share of the length, below which a straight chain gets a smaller nudge, so that
/// a chain that need not move is not nudged. The nudge shrinks as the square root of the distance, as the chain's final
/// bend does, and so stays above rounding.
const NUDGED: f32 = 0.01;

impl Bones {
    /// Allocates room for a chain of `count` bones.
    pub fn fit(&mut self, count: usize) {
        self.from.fit(count);
        self.to.fit(count);
        self.arcs.clear();
        self.arcs.resize(count.div_ceil(4), [Vec4::ZERO; 4]);
    }

    /// Number of bones.
    pub fn count(&self) -> usize {
        self.from.count()
    }

    /// Length of the chain in metres.
    pub fn total(&self) -> f32 {
        self.total
    }

    /// Loads the bones between consecutive points, each in the first three lanes. Returns false if the chain has no
    /// length, or one that overflows f32.
    #[inline(always)]
    pub fn load(&mut self, point: impl Fn(usize) -> Vec4) -> bool {
        let loaded = self.from.load(&point, |way| way);
        if loaded.total > SMALL && loaded.total < LARGE {
            self.take(&loaded, 1.0);
            return true;
        }
        self.load_scaled(point)
    }

    /// Loads bones of extraordinary lengths, rescaled to the order of 1 first.
    #[cold]
    fn load_scaled(&mut self, point: impl Fn(usize) -> Vec4) -> bool {
        let max_component = self.from.max_component(&point);
        if !(max_component > 0.0 && max_component.is_finite()) {
            return false;
        }
        let scale = to_unit(max_component);
        let loaded = self.from.load(point, |way| way * scale);
        self.take(&loaded, scale);
        true
    }

    #[inline(always)]
    fn take(&mut self, loaded: &Loaded, scale: f32) {
        let over = 1.0 / loaded.total;
        self.from.scale_lengths(over);
        self.start = loaded.moments.scaled(over);
        (self.over, self.total, self.longest) = (over * scale, loaded.total / scale, loaded.longest * over);
        self.straight = loaded.straightest > 1.0 - STRAIGHT;
        self.gap = loaded.gap;
        if loaded.gap {
            self.fill_gaps();
        }
    }

    /// Whether some bone has no length, and so no direction of its own.
    pub fn has_gap(&self) -> bool {
        self.gap
    }

    /// Loads directions from points, and lengths from `lengths`.
    pub fn load_lengths(&mut self, point: impl Fn(usize) -> Vec4, lengths: &[f32]) -> bool {
        if !self.load(point) {
            return false;
        }
        let total: f32 = lengths.iter().sum();
        if !(total > 0.0 && total.is_finite()) {
            return false;
        }
        let over = 1.0 / total;
        for (bone, &length) in lengths.iter().enumerate() {
            self.from.set_length(bone, length * over);
        }
        let longest = lengths.iter().copied().fold(0.0, f32::max) * over;
        (self.over, self.total, self.longest) = (over, total, longest);
        self.start = self.from.moments();
        true
    }

    /// Direction of a bone after the arcs and before the turn.
    #[inline]
    pub fn direction(&self, bone: usize) -> Vec3 {
        self.to.direction(bone)
    }

    /// Sets the input direction of a bone.
    #[cold]
    pub fn set_initial(&mut self, bone: usize, direction: Vec3) {
        self.from.set_direction(bone, direction);
    }

    /// Squared sine of half the largest turn of a bone by the arcs and `turn`.
    #[inline]
    pub fn sine(&self, turn: Quat) -> f32 {
        0.25 * self.to.chord_squared(&self.from, turn)
    }

    /// Gives each bone without length the direction of the bone before it.
    #[cold]
    fn fill_gaps(&mut self) {
        self.straight = true;
        let mut last = (0..self.count()).find(|&i| self.from.length(i) > 0.0).map(|i| self.from.direction(i));
        for bone in 0..self.count() {
            if self.from.length(bone) > 0.0 {
                last = Some(self.from.direction(bone));
            } else if let Some(last) = last {
                self.from.set_direction(bone, last);
            }
        }
    }

    /// Converts the distance beyond the reach from chain lengths to metres.
    #[cold]
    fn metres(&self, by: f32, ask: &Task) -> f32 {
        // In chain lengths, the furthest goals overflow to one distance; so measure those in metres.
        if by < 1e38 { (by / self.over).min(f32::MAX) } else { distance(ask.goal, ask.root) }
    }

    /// Finds the directions of all bones that bring the end to the goal.
    #[inline(always)]
    pub fn reach(&mut self, ask: &Task) -> Found {
        // For a far goal, the vector may be scaled down, and its length with it.
        let (way, length, x) = near(ask.goal - ask.root, self.over, ask.goal, ask.root);
        let end = self.start.end();
        let s = end.length();
        // The smallest distance of the end from the root: the longest bone, with all others folded back along it.
        let inner = max(2.0 * self.longest - 1.0, 0.0);
        let d = max(soften(x, 1.0, ask.soft), inner);
        // Nearer to full stretch than this, f32 cannot represent the bend: half a milliradian.
        let d = if 1.0 - d < 2e-7 { 1.0 } else { d };
        // Bones that are longer already are not shortened.
        let stretch = if x > d && ask.stretch > 1.0 {
            (x / d).min(ask.stretch).min(max(LONGEST * self.over, 1.0))
        } else {
            1.0
        };
        // The soft zone lies within the reach, and so does not count here.
        let by = max(x - ask.stretch.min(max(LONGEST * self.over, 1.0)), inner - x);
        let by = if by > 1e-6 { self.metres(by, ask) } else { 0.0 };
        let floor = max(ask.tolerance, ROUNDING + ask.uncertain * self.over);
        let along = if s > 1e-6 { end / s } else { self.from.direction(0) };
        let ahead = if length > 0.0 { way / length } else { along };
        let none = Found {
            turn: Quat::IDENTITY,
            stretch,
            passes: 0,
            by,
            normal: Vec3::ZERO,
            ahead,
            distance: d * stretch * self.total,
        };
        // A goal that the input meets needs no stretch either.
        if (ahead * (d * stretch) - end).length_squared() <= floor * floor {
            return Found { stretch: 1.0, ..none };
        }
        if self.longest > HEAVY && d < 1.0 && self.count() > 1 {
            self.to.copy_from(&self.from);
            return self.hinge(&none, along, d, floor, ask);
        }
        let (aim, whole) = aim(along, ahead, if s < d { s } else { d });
        if d >= 1.0 || self.count() == 1 {
            self.to.copy_from(&self.from);
            let normal = self.normal(ask.bend, along);
            for bone in 0..self.count() {
                self.to.set_direction(bone, aim);
            }
            return Found { turn: turn(aim, ahead, normal), passes: 1, normal, ..none };
        }
        let target = aim * d;
        let to = To { aim, d, floor };
        let mut found = none;
        let mut moments = self.start;
        self.to.copy_from(&self.from);
        if self.straight {
            found.normal = self.normal(ask.bend, along);
            let angle = NUDGE * (1.0f32).min(math::sqrt((target - end).length() / NUDGED));
            moments = self.nudge(angle, found.normal, true);
        }
        if 1.0 - d < CLOSE {
            moments = self.nearly_straight(moments, &to, &mut found, along, ask);
        } else {
            self.find(&mut moments, &to, &mut found, along, ask);
        }
        // A chain whose end already has the right distance still turns.
        found.passes = found.passes.max(1);
        let from = if whole { moments.end() } else { aim };
        let length = if whole { max(from.length(), f32::MIN_POSITIVE) } else { 1.0 };
        let (c, w) = (from.cross(ahead), length + from.dot(ahead));
        found.turn = Quat::from_xyzw(c.x, c.y, c.z, w);
        if w < WEAK * length {
            found.normal = self.normal(ask.bend, along);
            found.turn = turn(from / length, ahead, found.normal);
        }
        found
    }

    /// Runs Newton's method from `to`. Chains with coinciding directions that must part (a staircase of parallel bones)
    /// are nudged apart.
    #[inline(always)]
    fn find(&mut self, at: &mut Moments, to: &To, found: &mut Found, along: Vec3, ask: &Task) {
        found.passes = newton(&mut self.to, at, to, ask.passes.clamp(1, PATIENCE));
        if !to.met(at) {
            self.part(at, to, found, along, ask);
        }
    }

    #[cold]
    fn part(&mut self, at: &mut Moments, to: &To, found: &mut Found, along: Vec3, ask: &Task) {
        let max_passes = ask.passes.max(1);
        for nudge in [0.01, 0.1, 1.0] {
            if found.passes >= max_passes || to.met(at) {
                break;
            }
            found.normal = self.normal(ask.bend, along);
            *at = self.nudge(nudge, found.normal, false);
            found.passes += newton(&mut self.to, at, to, (max_passes - found.passes).min(PATIENCE));
        }
    }

    /// Covers the last of the way to full stretch, where the residual is small beside the rounding of sums. All angles
    /// are small there: one map that scales the tangents of their halves by k scales 1 - d by k^2, to within 1e-4. The
    /// sum of l |v - a|^2 / 2 equals 1 - d without its cancellation, and gives k.
    #[cold]
    fn nearly_straight(
        &mut self,
        mut at: Moments,
        to: &To,
        found: &mut Found,
        along: Vec3,
        ask: &Task,
    ) -> Moments {
        if 1.0 - at.end().length() > CLOSE {
            let near = To { d: 1.0 - CLOSE, floor: to.floor.min(0.1 * CLOSE), ..*to };
            self.find(&mut at, &near, found, along, ask);
        }
        let ahead = at.end().normalize_or(to.aim);
        let k = math::sqrt((1.0 - to.d) / self.to.bend(ahead).max(1e-12));
        found.passes += 1;
        let x = ahead * ((1.0 - k) / (1.0 + k));
        self.to.boost(x, 1.0 - x.length_squared())
    }

    /// Solves a chain with one bone about as long as all others together, or longer. That bone and the sum of the
    /// others are two sides of a triangle; the third is the line to the goal. The others stretch or fold only as far as
    /// the triangle needs.
    #[cold]
    fn hinge(&mut self, none: &Found, along: Vec3, d: f32, floor: f32, ask: &Task) -> Found {
        let count = self.count();
        let heavy = (0..count).find(|&b| self.from.length(b) >= self.longest).unwrap_or(0);
        let (l, v) = (self.from.length(heavy), self.from.direction(heavy));
        let rest: f32 = 1.0 - l;
        let others = self.start.end() - v * l;
        let w = others.length();
        let side = if w > 1e-6 {
            others / w
        } else if d < l {
            -v
        } else {
            v
        };
        let wanted = w.max((d - l).abs()).min(d + l).min(rest);
        let normal = self.normal(ask.bend, along);
        let mut found = Found { normal, passes: 1, ..*none };
        if count > 2 && (wanted - w).abs() > 1e-7 {
            if wanted >= rest {
                (0..count).filter(|&b| b != heavy).for_each(|b| self.to.set_direction(b, side));
            } else {
                let over = 1.0 / rest;
                for bone in 0..count {
                    let length = if bone == heavy { 0.0 } else { self.from.length(bone) * over };
                    self.to.set_length(bone, length);
                }
                let mut at = self.to.moments();
                let to = To { aim: side, d: wanted * over, floor };
                self.find(&mut at, &to, &mut found, along, ask);
                (0..count).for_each(|b| self.to.set_length(b, self.from.length(b)));
            }
            self.to.set_direction(heavy, v);
            found.passes = found.passes.max(1);
        }
        let w = (0..count)
            .filter(|&b| b != heavy)
            .map(|b| self.to.direction(b) * self.from.length(b))
            .sum::<Vec3>()
            .length();
        // The cosine rule in half angles, which lose no digits near straight and folded.
        let (cc, ss) = ((d - (l - w)) * (d + (l - w)), ((l + w) - d) * ((l + w) + d));
        let (c, s) = (math::sqrt(cc.max(0.0)), math::sqrt(ss.max(0.0)));
        // If the others sum to nothing and the heavy bone spans the whole line, any angle would do.
        let c = if c == 0.0 && s == 0.0 { 1.0 } else { c };
        let over = 1.0 / (c * c + s * s).max(f32::MIN_POSITIVE);
        let (cos, sin) = ((c * c - s * s) * over, 2.0 * c * s * over);
        let own = v - side * v.dot(side);
        let bent = own.length() / NUDGE;
        let own = own + normal.cross(side) * (NUDGE * (1.0 - bent).max(0.0));
        let to = (side * cos + math::perpendicular(side, own) * sin).normalize();
        self.to.set_direction(heavy, to);
        // Turn back onto the old direction in the plane of the triangle, then by the shortest arc.
        let end = self.to.moments().end();
        let length = end.length();
        if length > 1e-6 {
            let back = turn(end / length, along, normal);
            found.turn = math::normalize(math::mul(turn(along, none.ahead, normal), back));
        }
        found
    }

    /// Normal of the plane in which the chain bends or may bend, perpendicular to `along`.
    #[cold]
    fn normal(&self, bend: Vec3, along: Vec3) -> Vec3 {
        if bend != Vec3::ZERO {
            return math::perpendicular(along, bend);
        }
        let turns: Vec3 =
            (1..self.count()).map(|i| self.from.direction(i - 1).cross(self.from.direction(i))).sum();
        math::perpendicular(along, turns + math::perpendicular(along, Vec3::ZERO) * NUDGED)
    }

    /// Bends joints about `normal`, by `total` radians in all: only straight joints if `straight`, else all of them.
    #[cold]
    fn nudge(&mut self, total: f32, normal: Vec3, straight: bool) -> Moments {
        let count = self.count();
        let share = |bone: usize| {
            if bone == 0 || !straight {
                return 1.0;
            }
            let c = self.from.direction(bone - 1).dot(self.from.direction(bone)).abs();
            (1.0 - (1.0 - c) / STRAIGHT).max(0.0)
        };
        let each = total / count as f32;
        let mean = {
            let (mut angle, mut sum) = (0.0, 0.0);
            for bone in 0..count {
                angle += each * share(bone);
                sum += angle * self.from.length(bone);
            }
            sum
        };
        let mut angle = -mean;
        for bone in 0..count {
            angle += each * share(bone);
            let v = self.from.direction(bone);
            self.to.set_direction(bone, (v + normal.cross(v) * angle).normalize());
        }
        self.to.moments()
    }

    /// Computes the arcs, four bones at a time, not normalised.
    #[inline]
    pub fn arcs(&mut self, normal: Vec3) -> &[Arcs] {
        if self.from.arcs(&self.to, &mut self.arcs) {
            self.weak_arcs(normal);
        }
        &self.arcs
    }

    #[cold]
    fn weak_arcs(&mut self, normal: Vec3) {
        let normal = if normal == Vec3::ZERO { self.normal(normal, self.from.direction(0)) } else { normal };
        self.from.weak_arcs(&self.to, &mut self.arcs, normal);
    }

    /// Arc of one bone, as last computed.
    pub fn arc(&self, bone: usize) -> Quat {
        let [x, y, z, w] = self.arcs[bone / 4].map(|lanes| lanes.to_array()[bone % 4]);
        math::normalize(Quat::from_xyzw(x, y, z, w))
    }

    /// Mean position of the joints between the root and the end, after the arcs and before the turn, relative to the
    /// root and as a share of the length. Zero for a single bone.
    pub fn middle(&self) -> Vec3 {
        self.to.sum_of_starts() / (self.count() - 1).max(1) as f32
    }

    /// Distance from the end's input position to `way` (from the root, in metres), in chain lengths.
    #[inline(always)]
    pub fn moved(&self, way: Vec3) -> f32 {
        (way / self.total - self.start.end()).length()
    }

    /// Input vector from the root to the end, in metres.
    #[cold]
    pub fn initial_end(&self) -> Vec3 {
        self.start.end() * self.total
    }

    /// Input line from the root to the end, and direction of the mean of the joints between them, each of any length.
    #[inline(always)]
    pub fn line_and_bend(&self) -> (Vec3, Vec3) {
        (self.start.end(), self.from.sum_of_starts())
    }

    /// Resets the bones to their input directions.
    pub fn stay(&mut self) {
        self.to.copy_from(&self.from);
    }
}

/// Direction of the end before the whole chain turns to `ahead`, and whether it is exactly the current direction
/// `along`.
#[inline(always)]
fn aim(along: Vec3, ahead: Vec3, nearest: f32) -> (Vec3, bool) {
    if nearest >= NEAR {
        return (along, true);
    }
    let weight = math::smoothstep(nearest / NEAR);
    let mixed = ahead * (1.0 - weight) + along * weight;
    let l = mixed.length();
    (if l > 1e-3 { mixed / l } else { along }, false)
}

#[cold]
fn turn(from: Vec3, to: Vec3, normal: Vec3) -> Quat {
    let first = math::shortest_arc(from, to, normal);
    math::normalize(math::mul(math::shortest_arc(math::rotate(first, from), to, normal), first))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform in \[-1, 1).
    fn noise(seed: &mut u64) -> f32 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }

    fn vector(seed: &mut u64) -> Vec3 {
        Vec3::new(noise(seed), noise(seed), noise(seed)).normalize()
    }

    fn ask(goal: Vec3) -> Task {
        Task {
            root: Vec3::ZERO,
            goal,
            tolerance: 1e-6,
            uncertain: 0.0,
            soft: 0.0,
            stretch: 1.0,
            passes: 64,
            bend: Vec3::ZERO,
        }
    }

    /// Distance of the end from the goal, as a share of the length.
    fn missed(bones: &Bones, found: &Found, goal: Vec3) -> f32 {
        let end = if found.passes > 0 { bones.to.moments().end() } else { bones.start.end() };
        (math::rotate(math::normalize(found.turn), end) - goal / bones.total).length()
    }

    #[test]
    fn goals_in_reach_are_met_from_anywhere() {
        let mut seed = 5;
        for count in [1, 2, 3, 4, 5, 7, 10, 100] {
            // Bones of equal length, then up to 7 and up to 400 times as long as each other.
            for spread in [0.0f32, 1.0, 3.0] {
                let mut bones = Bones::default();
                bones.fit(count);
                for case in 0..if count < 50 { 2000 } else { 200 } {
                    let mut points = alloc::vec![Vec3::ZERO];
                    for i in 0..count {
                        let bone = vector(&mut seed) * crate::math::exp(noise(&mut seed) * spread);
                        points.push(points[i] + bone);
                    }
                    assert!(bones.load(|i| points[i].extend(0.0)));
                    let inner = (2.0 * bones.longest - 1.0).max(0.0);
                    let d = inner + (1.0 - inner) * (0.5 + 0.5 * noise(&mut seed));
                    let goal = vector(&mut seed) * (d * bones.total);
                    let found = bones.reach(&ask(goal));
                    let missed = missed(&bones, &found, goal);
                    assert!(
                        missed < 4e-6 && found.by < 1e-5 * bones.total,
                        "{count} {case} {missed} {found:?}"
                    );
                }
            }
        }
    }

    /// Chains that no map of directions alone can fold: parallel bones that are not neighbours, in straight parts and
    /// all straight, folded flat.
    #[test]
    fn parallel_bones_part() {
        let rows: [&[Vec3]; 5] = [
            &[Vec3::X; 10],
            &[Vec3::X, Vec3::X, Vec3::X, Vec3::Y, Vec3::X, Vec3::Y, Vec3::X, Vec3::X, Vec3::Y, Vec3::X],
            &[Vec3::X, Vec3::X, Vec3::X, Vec3::X, Vec3::X, Vec3::X, Vec3::X, Vec3::X, Vec3::Y, Vec3::Y],
            &[Vec3::X, Vec3::NEG_X, Vec3::X, Vec3::NEG_X, Vec3::X, Vec3::NEG_X],
            &[Vec3::X, Vec3::X, Vec3::X, Vec3::X, Vec3::NEG_X, Vec3::NEG_X, Vec3::NEG_X],
        ];
        for (row, ways) in rows.iter().enumerate() {
            let mut bones = Bones::default();
            bones.fit(ways.len());
            for step in 0..=200 {
                assert!(bones.load(|i| ways[..i].iter().sum::<Vec3>().extend(0.0)));
                let d = step as f32 / 200.0 * bones.total;
                for goal in [Vec3::X * d, Vec3::NEG_X * d, Vec3::Z * d, Vec3::new(0.6, 0.0, 0.8) * d] {
                    let found = bones.reach(&ask(goal));
                    let missed = missed(&bones, &found, goal);
                    assert!(missed < 4e-6, "row {row}, goal {goal}: {missed} {found:?}");
                }
            }
        }
    }
}
