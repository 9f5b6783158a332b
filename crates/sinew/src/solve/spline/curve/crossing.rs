//! Positions where a curve leaves a sphere.

use glam::DVec3;

use super::{Curve, STEPS, Spot};
use crate::math64;

impl Curve {
    /// Finds the next position along the curve after `from` (before it, if `back`) where the curve leaves the sphere
    /// about `centre`. Returns the position, and whether there is one.
    ///
    /// If `from` is outside the sphere, the curve must enter it first; the result is where it leaves again. So the
    /// result moves smoothly as `from` passes out of the sphere. If the rest of the curve does not meet the sphere, the
    /// result is the nearest position. If a closed curve lies inside for one whole turn, it is the furthest. These are
    /// the limits of the crossing as it vanishes.
    pub(in crate::solve::spline) fn leave(
        &self,
        from: &Spot,
        centre: DVec3,
        radius: f64,
        back: bool,
    ) -> (Spot, bool) {
        let mut inside = self.position(from).distance_squared(centre) <= radius * radius;
        for mut part in self.parts(from, back) {
            if !inside {
                let Some(x) = part.crosses(self, centre, radius, false) else { continue };
                (part, inside) = (part.rest(x), true);
            }
            if let Some(x) = part.crosses(self, centre, radius, true) {
                return (part.spot(x), true);
            }
        }
        (self.extreme(from, centre, back, inside), false)
    }

    /// Parts of the curve ahead of a position, in order; once around for a closed curve.
    fn parts(&self, from: &Spot, back: bool) -> impl Iterator<Item = Part> + use<> {
        let (from, count) = (*from, self.pieces.len());
        let whole = move |piece: usize| match back {
            true => Part::Piece { piece, t: 1.0, h: -1.0 },
            false => Part::Piece { piece, t: 0.0, h: 1.0 },
        };
        let own = Part::Piece { piece: from.piece, t: from.t, h: if back { -from.t } else { 1.0 - from.t } };
        let ahead = move |k: usize| (if back { from.piece + count - k } else { from.piece + k }) % count;
        let closed = self.closed;
        // The straight line under a position beyond an end: up to that end, or outwards without one.
        let sign = if back { -1.0 } else { 1.0 };
        let outwards = from.beyond * sign > 0.0;
        let room = if outwards { f64::INFINITY } else { from.beyond.abs() };
        let line = (from.beyond != 0.0).then_some(Part::Line { from, sign, room });
        let pieces = match (closed, outwards) {
            (true, _) => count + 1,
            (false, true) => 0,
            (false, false) if back => from.piece + 1,
            (false, false) => count - from.piece,
        };
        let (piece, t) = if back { (0, 0.0) } else { (count - 1, 1.0) };
        let last = Part::Line { from: Spot { piece, t, beyond: 0.0 }, sign, room: f64::INFINITY };
        let end = (!closed && !outwards).then_some(last);
        let pieces = (0..pieces).map(move |k| match k {
            0 => own,
            // The rest of the piece that the path began in.
            _ if k == count => match back {
                true => Part::Piece { piece: from.piece, t: 1.0, h: from.t - 1.0 },
                false => Part::Piece { piece: from.piece, t: 0.0, h: from.t },
            },
            _ => whole(ahead(k)),
        });
        line.into_iter().chain(pieces).chain(end)
    }

    /// Returns the position ahead that is nearest to a centre, or furthest from it.
    #[cold]
    fn extreme(&self, from: &Spot, centre: DVec3, back: bool, furthest: bool) -> Spot {
        let sign = if furthest { -1.0 } else { 1.0 };
        let (mut best, mut min) = (*from, f64::INFINITY);
        for part in self.parts(from, back) {
            let score = |x: f64| sign * self.position(&part.spot(x)).distance_squared(centre);
            let x = match part {
                Part::Line { from, sign, room } => self.along(&from, sign, centre).0.clamp(0.0, room),
                Part::Piece { .. } => {
                    let step = 1.0 / STEPS as f64;
                    let at = |k: usize| score(k as f64 * step);
                    let k = (0..=STEPS).min_by(|&a, &b| at(a).total_cmp(&at(b))).unwrap_or(0);
                    let middle = k as f64 * step;
                    narrowed(score, (middle - step).max(0.0), (middle + step).min(1.0))
                }
            };
            let found = score(x);
            if found < min {
                (best, min) = (part.spot(x), found);
            }
        }
        best
    }
}

/// Finds the minimum of a function with a single minimum between `low` and `high`, by ternary search.
fn narrowed(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    // (2/3)^64 of a step is below the resolution of squared distances.
    for _ in 0..64 {
        let third = (high - low) / 3.0;
        if f(low + third) <= f(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    0.5 * (low + high)
}

/// Part of a path along a curve; positions on it are counted from 0.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Part of a piece from `t` to `t + h`; its end is at 1.
    Piece { piece: usize, t: f64, h: f64 },
    /// Part of the straight line beyond an end, outwards for the sign of that end; its end is at `room` metres.
    Line { from: Spot, sign: f64, room: f64 },
}

impl Part {
    fn spot(&self, x: f64) -> Spot {
        match *self {
            Self::Piece { piece, t, h } => Spot { piece, t: (t + h * x).clamp(0.0, 1.0), beyond: 0.0 },
            Self::Line { from, sign, .. } => Spot { beyond: from.beyond + sign * x, ..from },
        }
    }

    /// Returns the part that follows a position on it.
    fn rest(self, x: f64) -> Self {
        match self {
            Self::Piece { piece, t, h } => Self::Piece { piece, t: t + h * x, h: h * (1.0 - x) },
            Self::Line { sign, room, .. } => Self::Line { from: self.spot(x), sign, room: room - x },
        }
    }

    /// First position where the part leaves the sphere, from its start inside on, or (not `outwards`) enters it.
    fn crosses(&self, curve: &Curve, centre: DVec3, radius: f64, outwards: bool) -> Option<f64> {
        match *self {
            Self::Piece { piece, t, h } => curve.pieces[piece].part(t, h).crosses(centre, radius, outwards),
            Self::Line { from, sign, room } => {
                let (middle, off) = curve.along(&from, sign, centre);
                let square = radius * radius - off;
                let half = math64::sqrt(square.max(0.0));
                let x = if outwards { (middle + half).max(0.0) } else { middle - half };
                ((outwards || square >= 0.0) && x >= 0.0 && x <= room).then_some(x)
            }
        }
    }
}
