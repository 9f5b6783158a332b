//! A curve through or over control points, with arc length and frames along it.

mod crossing;

use alloc::{vec, vec::Vec};

use glam::{DVec3, Vec3};
use thiserror::Error;

use super::{
    cubic::Cubic,
    frame::{across, carried, double_reflection},
};
use crate::math64;

/// Interpolation between control points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CurveKind {
    /// Catmull-Rom spline through every point, with the centripetal parameter (the square root of the distance).
    ///
    /// It is the only parametrisation of its family without cusps or loops between two points, however uneven their
    /// spacing (Yuksel, Schaefer and Keyser 2011). The more usual uniform one makes loops next to short spans, and a
    /// bone would cut across them.
    #[default]
    CatmullRom,
    /// Consecutive cubic Bézier pieces: point, handle, handle, point, ... 3 n + 1 points make n open pieces, 3 n points
    /// make n closed ones (the last piece returns to the first point). Handles may lie on their points.
    Bezier,
}

/// Initial normal of the curve's frames: the part of this direction (in model space, any length) perpendicular to the
/// curve's start.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CurveUp {
    /// Applies at every change of the points. The frames depend on the points alone. If the curve starts nearly along
    /// the direction, they turn fast as points move; exactly along it, the normal is arbitrary.
    Direction(Vec3),
    /// Applies the first time, and after [`Curve::reset`]. From then on the start's normal follows the start's tangent
    /// by the shortest arc, and a closed curve's residual turn continues without wrapping. The frames never jump while
    /// the points move, but depend on the curve's history.
    Carried(Vec3),
}

/// Error in control points.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CurveError {
    /// Too few points for a curve.
    #[error("a curve needs at least {needed} control points, not {found}")]
    TooFew {
        /// Number of points given.
        found: usize,
        /// Minimum number of points.
        needed: usize,
    },
    /// The number of points does not divide into Bézier pieces that share their ends.
    #[error(
        "{found} control points do not form Bézier pieces: an open curve takes 3 n + 1, a closed one 3 n"
    )]
    NoPieces {
        /// Number of points given.
        found: usize,
    },
    /// The curve was made for another number of points.
    #[error("the curve was made for {expected} control points, not {found}")]
    Count {
        /// Number of points given.
        found: usize,
        /// Number of points at construction.
        expected: usize,
    },
    /// A point holds NaN or an infinity.
    #[error("control point {index} is not finite: {value}")]
    NotFinite {
        /// Index of the point.
        index: usize,
        /// The point.
        value: Vec3,
    },
    /// Two neighbours, or all four points of a Bézier piece, coincide to within f32's precision.
    #[error("control points {first} and {second} coincide at {value}: the curve has no direction there")]
    Coincident {
        /// Index of the first point.
        first: usize,
        /// Index of the second point.
        second: usize,
        /// Position of both.
        value: Vec3,
    },
    /// The up direction holds NaN or an infinity.
    #[error("the curve's up direction is not finite: {value}")]
    Up {
        /// The direction.
        value: Vec3,
    },
}

/// Position on a curve and the frame there, in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveFrame {
    /// Position in metres.
    pub position: Vec3,
    /// Unit vector along the curve.
    pub tangent: Vec3,
    /// Unit vector perpendicular to the curve.
    pub normal: Vec3,
}

/// Position on the curve, or on the straight line beyond an end of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spot {
    pub piece: usize,
    /// Parameter on the piece, 0 to 1.
    pub t: f64,
    /// Distance in metres before the start (negative) or past the end (positive) of an open curve.
    pub beyond: f64,
}

/// Sample at the start of one of the [`STEPS`] steps of a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Station {
    /// Arc length from the curve's start, in metres.
    length: f64,
    tangent: DVec3,
    normal: DVec3,
}

/// A piecewise cubic curve in model space, with its length and rotation-minimising frames along it.
///
/// Only construction allocates; [`Curve::set_points`] moves the points every frame without allocating. All arithmetic
/// is in f64, so that curves far from the origin and tiny curves keep their precision.
///
/// ```
/// use sinew::{glam::Vec3, solve::spline::{Curve, CurveKind, CurveUp}};
///
/// let mut points = [Vec3::X, Vec3::Z, -Vec3::X, -Vec3::Z];
/// let mut ring = Curve::new(CurveKind::CatmullRom, &points, true, CurveUp::Direction(Vec3::Y))?;
/// let round = ring.length();
/// assert!(round > 5.7 && round < 6.2); // between a square's and a circle's
/// assert!(ring.at(0.25 * round).position.distance(Vec3::Z) < 1e-5);
///
/// points[0] *= 1.5;
/// ring.set_points(&points)?;
/// assert!(ring.length() > round);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Frames
///
/// Double reflection (Wang, Jüttler, Zheng and Liu 2008) carries a normal along the curve, so that it does not turn
/// about the curve. With sixteen steps a piece, its error on a loop is below 1e-3 rad. Inside a step, one shorter step
/// continues from the step's start, so that the normal is continuous. At a corner of a Bézier curve, the normal turns
/// by the shortest arc. Once around a closed curve the normal returns turned by an angle that depends on the curve's
/// shape. That angle is distributed in proportion to length, so that the frames meet.
///
/// For a closed curve that angle lies between -pi and pi. If it passes pi as the points move, the frames gain one full
/// turn along the curve; with [`CurveUp::Carried`] they do not.
#[derive(Clone, Debug)]
pub struct Curve {
    kind: CurveKind,
    closed: bool,
    /// Initial normal; see [`CurveUp`]. A change takes effect at the next [`Curve::set_points`].
    pub up: CurveUp,
    count: usize,
    pieces: Vec<Cubic>,
    /// Samples, [`STEPS`] per piece.
    stations: Vec<Station>,
    length: f64,
    /// Tangent and normal at the end of an open curve.
    end: (DVec3, DVec3),
    /// Angle in radians by which the frames turn once around.
    closure: f64,
    /// Whether the frames are initialised.
    begun: bool,
}

/// Number of steps per piece for lengths and frames.
const STEPS: usize = 16;

/// Distance below which two points coincide, as a share of their largest coordinate: four units in f32's last place.
const SAME: f32 = 4.0 * f32::EPSILON;

impl Curve {
    /// Returns the curve of these control points (model space, metres).
    ///
    /// # Errors
    ///
    /// Returns an error for too few points, a number that does not divide into Bézier pieces, coinciding points, and
    /// values that are not finite.
    pub fn new(kind: CurveKind, points: &[Vec3], closed: bool, up: CurveUp) -> Result<Self, CurveError> {
        let count = points.len();
        let needed = match (kind, closed) {
            (CurveKind::CatmullRom, false) => 2,
            (CurveKind::Bezier, false) => 4,
            (_, true) => 3,
        };
        if count < needed {
            return Err(CurveError::TooFew { found: count, needed });
        }
        let pieces = match (kind, closed) {
            (CurveKind::CatmullRom, true) => count,
            (CurveKind::CatmullRom, false) => count - 1,
            (CurveKind::Bezier, true) if count.is_multiple_of(3) => count / 3,
            (CurveKind::Bezier, false) if count % 3 == 1 => count / 3,
            _ => return Err(CurveError::NoPieces { found: count }),
        };
        let station = Station { length: 0.0, tangent: DVec3::X, normal: DVec3::Y };
        let mut curve = Self {
            kind,
            closed,
            up,
            count,
            pieces: vec![Cubic { c: [DVec3::ZERO; 4] }; pieces],
            stations: vec![station; pieces * STEPS],
            length: 0.0,
            end: (DVec3::X, DVec3::Y),
            closure: 0.0,
            begun: false,
        };
        curve.set_points(points)?;
        Ok(curve)
    }

    /// Moves the control points. Their number must be that of construction. After an error the curve is unchanged.
    pub fn set_points(&mut self, points: &[Vec3]) -> Result<(), CurveError> {
        self.check(points)?;
        for (i, piece) in self.pieces.iter_mut().enumerate() {
            *piece = match self.kind {
                CurveKind::CatmullRom => catmull_rom(points, i, self.closed),
                CurveKind::Bezier => {
                    Cubic::bezier([0, 1, 2, 3].map(|k| points[(3 * i + k) % self.count].as_dvec3()))
                }
            };
        }
        self.measure();
        self.turn_frames();
        Ok(())
    }

    /// Clears the state of [`CurveUp::Carried`]: the next [`Curve::set_points`] starts from its direction.
    pub fn reset(&mut self) {
        self.begun = false;
    }

    fn check(&self, points: &[Vec3]) -> Result<(), CurveError> {
        if points.len() != self.count {
            return Err(CurveError::Count { found: points.len(), expected: self.count });
        }
        if let Some(index) = points.iter().position(|p| !p.is_finite()) {
            return Err(CurveError::NotFinite { index, value: points[index] });
        }
        let (CurveUp::Direction(value) | CurveUp::Carried(value)) = self.up;
        if !value.is_finite() {
            return Err(CurveError::Up { value });
        }
        let same = |i: usize, k: usize| {
            let (a, b) = (points[i % self.count], points[k % self.count]);
            let near = a.as_dvec3().distance(b.as_dvec3());
            near <= f64::from(SAME * a.abs().max(b.abs()).max_element())
        };
        for i in 0..self.pieces.len() {
            let (first, second) = match self.kind {
                CurveKind::CatmullRom => (i, i + 1),
                CurveKind::Bezier => (3 * i, 3 * i + 3),
            };
            if (first + 1..=second).all(|k| same(first, k)) {
                let value = points[first];
                return Err(CurveError::Coincident { first, second: second % self.count, value });
            }
        }
        Ok(())
    }

    /// Computes the lengths.
    fn measure(&mut self) {
        let step = 1.0 / STEPS as f64;
        let mut length = 0.0;
        for (piece, stations) in self.pieces.iter().zip(self.stations.chunks_mut(STEPS)) {
            for (k, station) in stations.iter_mut().enumerate() {
                let t = k as f64 * step;
                station.length = length;
                length += piece.length(t, step);
            }
        }
        self.length = length;
    }

    /// Carries the frames from the start to the end.
    fn turn_frames(&mut self) {
        let first = self.pieces[0].tangent(0.0);
        let (CurveUp::Direction(up) | CurveUp::Carried(up)) = self.up;
        let goes_on = self.begun && matches!(self.up, CurveUp::Carried(_));
        let start = match goes_on {
            true => across(first, carried(self.stations[0].tangent, first, self.stations[0].normal)),
            false => across(first, up.as_dvec3()),
        };
        let step = 1.0 / STEPS as f64;
        let (mut tangent, mut normal) = (first, start);
        for (piece, stations) in self.pieces.iter().zip(self.stations.chunks_mut(STEPS)) {
            // Turn round the corner between two pieces, if there is one.
            let on = piece.tangent(0.0);
            normal = across(on, carried(tangent, on, normal));
            tangent = on;
            for (k, station) in stations.iter_mut().enumerate() {
                (station.tangent, station.normal) = (tangent, normal);
                let t = k as f64 * step;
                let next = piece.tangent(t + step);
                normal = double_reflection(normal, tangent, piece.slope(t, step), next);
                tangent = next;
            }
        }
        self.end = (tangent, normal);
        self.begun = true;
        if !self.closed {
            self.closure = 0.0;
            return;
        }
        let back = across(first, carried(tangent, first, normal));
        // Angle about the tangent from the start's normal to the one that returned.
        let turn = math64::atan2(start.cross(back).dot(first), start.dot(back));
        let whole = core::f64::consts::TAU;
        self.closure =
            if goes_on { turn + whole * math64::round((self.closure - turn) / whole) } else { turn };
    }

    /// Length in metres; once around, for a closed curve.
    pub fn length(&self) -> f32 {
        self.length as f32
    }

    /// Whether the curve returns to its start.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Angle in radians by which the frames of a closed curve would return turned. It is distributed along the curve. 0
    /// for an open curve.
    pub fn residual_turn(&self) -> f32 {
        self.closure as f32
    }

    /// Position and frame at a distance in metres along the curve from its start. A closed curve wraps around; an open
    /// one continues in a straight line beyond its ends.
    pub fn at(&self, distance: f32) -> CurveFrame {
        let spot = self.spot(f64::from(distance));
        let (tangent, normal) = self.frame(&spot);
        CurveFrame {
            position: self.position(&spot).as_vec3(),
            tangent: tangent.as_vec3(),
            normal: normal.as_vec3(),
        }
    }

    pub(super) fn full_length(&self) -> f64 {
        self.length
    }

    /// Position at a distance in metres from the start.
    pub(super) fn spot(&self, distance: f64) -> Spot {
        let mut distance = distance;
        if self.closed {
            distance %= self.length;
            if distance < 0.0 {
                distance += self.length;
            }
        } else if distance <= 0.0 {
            return Spot { piece: 0, t: 0.0, beyond: distance };
        } else if distance >= self.length {
            return Spot { piece: self.pieces.len() - 1, t: 1.0, beyond: distance - self.length };
        }
        let at = self.stations.partition_point(|s| s.length <= distance).saturating_sub(1);
        let from = self.stations[at].length;
        let to = self.stations.get(at + 1).map_or(self.length, |s| s.length);
        let step = 1.0 / STEPS as f64;
        let t = (at % STEPS) as f64 * step;
        let piece = at / STEPS;
        let t = self.pieces[piece].after(t, step, distance - from, to - from);
        Spot { piece, t: t.min(1.0), beyond: 0.0 }
    }

    /// Returns the step of a piece that contains a position, and the parameter where the step begins.
    fn station(&self, spot: &Spot) -> (&Station, f64) {
        let k = ((spot.t * STEPS as f64) as usize).min(STEPS - 1);
        (&self.stations[spot.piece * STEPS + k], k as f64 / STEPS as f64)
    }

    /// Distance in metres from the start.
    pub(super) fn distance(&self, spot: &Spot) -> f64 {
        let (station, t) = self.station(spot);
        station.length + self.pieces[spot.piece].length(t, spot.t - t) + spot.beyond
    }

    pub(super) fn position(&self, spot: &Spot) -> DVec3 {
        let position = self.pieces[spot.piece].point(spot.t);
        if spot.beyond == 0.0 { position } else { position + self.end_tangent(spot.beyond) * spot.beyond }
    }

    /// Projects a point onto the straight line from a position beyond an end, in the direction of the sign. Returns the
    /// distance along the line in metres, and the point's squared distance from the line.
    fn along(&self, from: &Spot, sign: f64, point: DVec3) -> (f64, f64) {
        let direction = self.end_tangent(if from.beyond == 0.0 { sign } else { from.beyond }) * sign;
        let to = point - self.position(from);
        let along = to.dot(direction);
        (along, (to - direction * along).length_squared())
    }

    fn end_tangent(&self, beyond: f64) -> DVec3 {
        if beyond < 0.0 { self.stations[0].tangent } else { self.end.0 }
    }

    /// Tangent and normal, unit vectors.
    pub(super) fn frame(&self, spot: &Spot) -> (DVec3, DVec3) {
        if !self.closed && spot.piece + 1 == self.pieces.len() && spot.t >= 1.0 {
            return self.end;
        }
        let piece = &self.pieces[spot.piece];
        let (station, t) = self.station(spot);
        let h = spot.t - t;
        if h == 0.0 && self.closure == 0.0 {
            return (station.tangent, station.normal);
        }
        let tangent = piece.tangent(spot.t);
        let normal = double_reflection(station.normal, station.tangent, piece.slope(t, h), tangent);
        if self.closure == 0.0 {
            return (tangent, normal);
        }
        let share = (station.length + piece.length(t, h)) / self.length;
        (tangent, across(tangent, math64::axis_angle(tangent, -self.closure * share) * normal))
    }
}

/// One piece of a Catmull-Rom spline with the centripetal parameter. It passes through all points, with the tangents of
/// the parabolas through each three of them (Barry and Goldman 1988). At an open end, the parabola through the last
/// three gives the tangent.
fn catmull_rom(points: &[Vec3], i: usize, closed: bool) -> Cubic {
    let count = points.len();
    let point = |k: usize| points[k % count].as_dvec3();
    let (from, to) = (point(i), point(i + 1));
    // The square root of a distance, taken as a fourth root in two steps that keep its range.
    let knot = |a: DVec3, b: DVec3| math64::sqrt(math64::sqrt((b - a).length_squared()));
    let span = knot(from, to);
    let slope = (to - from) / span;
    let before = (closed || i > 0).then(|| point(i + count - 1));
    let after = (closed || i + 2 < count).then(|| point(i + 2));
    let beside = |other: DVec3, near: DVec3, sign: f64| {
        let span = knot(other, near);
        ((near - other) * (sign / span), span)
    };
    let before = before.map(|p| beside(p, from, 1.0));
    let after = after.map(|p| beside(p, to, -1.0));
    // The parabola's slope at the point between two spans weights each slope by the other's span.
    let inner = |(other, width): (DVec3, f64)| (other * span + slope * width) / (span + width);
    let outer = |(other, width): (DVec3, f64)| slope + (slope - other) * (span / (span + width));
    let start = before.map(inner).or(after.map(outer)).unwrap_or(slope);
    let end = after.map(inner).or(before.map(outer)).unwrap_or(slope);
    Cubic::hermite(from, to, start * span, end * span)
}
