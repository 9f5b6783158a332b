//! A curve through or over control points, measured, with frames along it.

mod crossing;

use alloc::{vec, vec::Vec};

use glam::{DVec3, Vec3};
use thiserror::Error;

use super::{
    cubic::Cubic,
    frame::{across, carried, double_reflection},
};
use crate::math64;

/// How control points make a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CurveKind {
    /// Catmull and Rom's, through every point, with the centripetal parameter (the square root of the distance).
    ///
    /// It is the only parameter of its family that makes no cusp and no loop between two points, however unevenly they lie
    /// (Yuksel, Schaefer and Keyser 2011). The uniform one, which is more usual, makes loops next to short
    /// spans, and a bone would cut across them.
    #[default]
    CatmullRom,
    /// Cubic Bézier pieces one after another: point, handle, handle, point, ... 3 n + 1 points are n open pieces, 3 n
    /// points n closed ones (the last comes back to the first point). Handles may lie on their points.
    Bezier,
}

/// What the curve's frames begin with: the normal at the curve's start is the part of this direction (in
/// model space, any length) across the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CurveUp {
    /// At every change of the points anew. The frames are a function of the points alone; near a start along the direction
    /// they turn fast, and where it is exactly along it any normal is taken.
    Direction(Vec3),
    /// The first time, and after [`Curve::reset`]. From then on the start's normal goes along with the start's tangent by
    /// the least turn, and a closed curve's residual turn goes on from where it was: nothing leaps while the points move.
    /// The curve is then a state that remembers.
    Carried(Vec3),
}

/// What is wrong with control points.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CurveError {
    /// Too few points for a curve.
    #[error("{found} control points make no curve: it takes {needed} at least")]
    TooFew {
        /// How many there are.
        found: usize,
        /// How many there must be.
        needed: usize,
    },
    /// Bézier pieces share their ends.
    #[error("{found} control points make no row of Bézier pieces: open ones take 3 n + 1, closed ones 3 n")]
    NoPieces {
        /// How many there are.
        found: usize,
    },
    /// The curve was made for another number of points.
    #[error("the curve was made for {expected} control points, not {found}")]
    Count {
        /// How many there are.
        found: usize,
        /// How many it was made for.
        expected: usize,
    },
    /// A point holds NaN or an infinity.
    #[error("control point {index} is not finite: {value}")]
    NotFinite {
        /// Its place in the row.
        index: usize,
        /// The point.
        value: Vec3,
    },
    /// Two neighbours, or all four points of a Bézier piece, are one place to the precision of their numbers.
    #[error("control points {first} and {second} coincide at {value}: the curve has no direction there")]
    Coincident {
        /// Place of the one in the row.
        first: usize,
        /// Place of the other.
        second: usize,
        /// Where they are.
        value: Vec3,
    },
    /// The direction of up holds NaN or an infinity.
    #[error("the curve's up direction is not finite: {value}")]
    Up {
        /// The direction.
        value: Vec3,
    },
}

/// A place on a curve with the frame there; all in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveFrame {
    /// The place.
    pub position: Vec3,
    /// Unit vector along the curve.
    pub tangent: Vec3,
    /// Unit vector across it.
    pub normal: Vec3,
}

/// A place on the curve, or straight on beyond an end of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spot {
    pub piece: usize,
    /// 0 to 1.
    pub t: f64,
    /// Metres before the start (below 0) or past the end (above 0) of an open curve.
    pub beyond: f64,
}

/// The beginning of a small part of a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Station {
    /// From the curve's start, in metres.
    length: f64,
    tangent: DVec3,
    normal: DVec3,
}

/// A piecewise cubic curve in model space, with its length and rotation-minimising frames along it.
///
/// Memory is taken at construction; [`Curve::set_points`] moves the points every frame without more. Everything is
/// computed in f64, so that no curve is too far off or too small.
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
/// A normal is carried along the curve by double reflection (Wang, Jüttler, Zheng and Liu 2008), so that it does not turn
/// about the curve. Sixteen steps a piece leave less than a thousandth of a radian on a loop; between the steps' ends one
/// more step goes on from the last, so that the normal is continuous. Where a Bézier curve has a corner, the normal goes
/// round it by the least turn. Once around a closed curve the normal comes back turned by an angle that depends on the
/// curve's shape; it is spread along in proportion to the length, so that frames meet.
///
/// For a closed curve that angle is taken between -pi and pi. Where it passes pi as the points move, the frames turn once
/// over along the curve: [`CurveUp::Carried`] does not.
#[derive(Clone, Debug)]
pub struct Curve {
    kind: CurveKind,
    closed: bool,
    /// See [`CurveUp`]. A change is taken up by the next [`Curve::set_points`].
    pub up: CurveUp,
    count: usize,
    pieces: Vec<Cubic>,
    /// [`STEPS`] a piece.
    stations: Vec<Station>,
    length: f64,
    /// Tangent and normal at the end of an open curve.
    end: (DVec3, DVec3),
    /// How far frames are turned once around, in radians.
    closure: f64,
    /// Whether the frames have begun.
    begun: bool,
}

/// Steps that lengths and frames take along a piece.
const STEPS: usize = 16;

/// Points nearer than this part of their largest coordinate are one place: four units of f32's last digit.
const SAME: f32 = 4.0 * f32::EPSILON;

impl Curve {
    /// The curve of these control points (model space, metres).
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

    /// Moves the control points; there must be as many as the curve was made for. After an error the curve is as it was.
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

    /// Forgets what [`CurveUp::Carried`] carries: the next points begin anew.
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

    /// Lengths and tangents.
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
            // Round the corner between two pieces, if there is one.
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
        // From the start's normal to the one that came back, about the tangent.
        let turn = math64::atan2(start.cross(back).dot(first), start.dot(back));
        let whole = core::f64::consts::TAU;
        self.closure =
            if goes_on { turn + whole * math64::round((self.closure - turn) / whole) } else { turn };
    }

    /// Length in metres: once around, for a closed curve.
    pub fn length(&self) -> f32 {
        self.length as f32
    }

    /// Whether it comes back to its start.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// The angle in radians by which the frames of a closed curve would come back turned; it is
    /// spread along. 0 for an open one.
    pub fn residual_turn(&self) -> f32 {
        self.closure as f32
    }

    /// The place at a distance in metres along the curve from its start. A closed curve goes round and round,
    /// an open one straight on beyond its ends.
    pub fn at(&self, distance: f32) -> CurveFrame {
        let spot = self.spot(f64::from(distance));
        let (tangent, normal) = self.frame(&spot);
        CurveFrame {
            position: self.place(&spot).as_vec3(),
            tangent: tangent.as_vec3(),
            normal: normal.as_vec3(),
        }
    }

    pub(super) fn full_length(&self) -> f64 {
        self.length
    }

    /// The place at a distance from the start.
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

    /// The step of a piece that a place lies in, and where that begins.
    fn station(&self, spot: &Spot) -> (&Station, f64) {
        let k = ((spot.t * STEPS as f64) as usize).min(STEPS - 1);
        (&self.stations[spot.piece * STEPS + k], k as f64 / STEPS as f64)
    }

    /// The distance from the start.
    pub(super) fn distance(&self, spot: &Spot) -> f64 {
        let (station, t) = self.station(spot);
        station.length + self.pieces[spot.piece].length(t, spot.t - t) + spot.beyond
    }

    pub(super) fn place(&self, spot: &Spot) -> DVec3 {
        let place = self.pieces[spot.piece].point(spot.t);
        if spot.beyond == 0.0 { place } else { place + self.end_tangent(spot.beyond) * spot.beyond }
    }

    /// Where on the straight line from a place beyond an end (in the direction of the sign) a point lies nearest, in
    /// metres, and its squared distance from the line.
    fn along(&self, from: &Spot, sign: f64, point: DVec3) -> (f64, f64) {
        let way = self.end_tangent(if from.beyond == 0.0 { sign } else { from.beyond }) * sign;
        let to = point - self.place(from);
        let along = to.dot(way);
        (along, (to - way * along).length_squared())
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

/// One piece of Catmull and Rom's curve with the centripetal parameter: through all points, with the
/// tangents of the parabolas through each three of them (Barry and Goldman 1988). At an open end the
/// parabola through the last three gives the tangent.
fn catmull_rom(points: &[Vec3], i: usize, closed: bool) -> Cubic {
    let count = points.len();
    let point = |k: usize| points[k % count].as_dvec3();
    let (from, to) = (point(i), point(i + 1));
    // The square root of a distance, without a fourth root of its square's range.
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
    // The parabola's slope at the point between two spans weighs each slope with the other's span.
    let inner = |(other, width): (DVec3, f64)| (other * span + slope * width) / (span + width);
    let outer = |(other, width): (DVec3, f64)| slope + (slope - other) * (span / (span + width));
    let start = before.map(inner).or(after.map(outer)).unwrap_or(slope);
    let end = after.map(inner).or(before.map(outer)).unwrap_or(slope);
    Cubic::hermite(from, to, start * span, end * span)
}
