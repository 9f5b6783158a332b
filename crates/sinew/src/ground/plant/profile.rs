//! Height profile of the ground along a line, from one pass of ray casts.

use glam::Vec3;

use super::FootholdSearch;

/// Capacity in points: both ends of 40 segments, and two more in each segment with an edge.
const POINTS: usize = 128;
/// Bisections of a segment with an edge: from 2.5 cm to 0.2 mm, so that a foothold at an edge does not depend on the
/// positions of the casts.
const HALVINGS: usize = 7;
/// Slope between neighbouring casts from which a segment has an edge: 50 degrees, steeper than feet stand on.
const EDGE: f32 = 1.2;

/// Slope by which points beyond an interval are lowered, in metres per metre: by half a leg over a tenth of a leg, more than
/// feet step up.
const FADES: f32 = 5.0;

/// A point of the profile.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Point {
    /// Distance along the line from its origin, in metres.
    s: f32,
    /// Height of the ground, in metres.
    y: f32,
    /// Slope of the ground's normal to the line's right, in metres per metre.
    lean: f32,
    /// Whether the ground is continuous from the previous point.
    joined: bool,
}

/// Heights of the ground along a horizontal line, linear between its points. One pass of casts answers all queries. Edges
/// are found by bisection, so that results hardly depend on the start of the line.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    points: [Point; POINTS],
    count: usize,
    origin: Vec3,
    along: Vec3,
}

impl Default for Profile {
    fn default() -> Self {
        Self { points: [Point::default(); POINTS], count: 0, origin: Vec3::ZERO, along: Vec3::Z }
    }
}

impl PartialEq for Profile {
    fn eq(&self, other: &Self) -> bool {
        (self.origin, self.along) == (other.origin, other.along) && self.points() == other.points()
    }
}

/// A straight sole above a profile.
#[derive(Clone, Copy, Debug)]
pub struct Stick {
    /// Start along the line, in metres.
    pub s: f32,
    /// Height at the start, in metres.
    pub y: f32,
    /// Slope in metres per metre.
    pub slope: f32,
}

impl Stick {
    /// Height at a distance along the line, in metres.
    pub fn height(&self, s: f32) -> f32 {
        self.y + self.slope * (s - self.s)
    }
}

impl Profile {
    /// Casts rays along a line through `origin` in the horizontal direction `along` (a unit vector), at distances of `from`
    /// to `to` metres, around the height `base`. Casts are at least `spacing` metres apart and, without those for edges,
    /// about `most` at the most.
    pub fn cast(
        search: &FootholdSearch<'_>,
        origin: Vec3,
        along: Vec3,
        [from, to]: [f32; 2],
        (spacing, most): (f32, f32),
        base: f32,
    ) -> Self {
        let mut profile = Self { origin, along, ..Self::default() };
        // On a long line casts are two or three times as far apart.
        let spacing = spacing * crate::math::ceil((to - from) / (most * spacing)).clamp(1.0, 1e3);
        let right = Vec3::new(along.z, 0.0, -along.x);
        let look = |s: f32| {
            let (y, normal) = search.height(origin + along * s, base)?;
            Some(Point { s, y, lean: normal.dot(right) / normal.y.max(f32::EPSILON), joined: false })
        };
        let first = crate::math::floor(from / spacing);
        let count = (crate::math::ceil(to / spacing) - first).clamp(1.0, most + 1.0) as usize;
        let place = |i: usize| (first + i as f32) * spacing;
        let (points, filled, mut joined) = (&mut profile.points, &mut profile.count, false);
        // Appends the next point; `None` is a gap in the ground.
        let mut push = |point: Option<Point>| {
            let Some(point) = point else {
                joined = false;
                return;
            };
            let last = filled.checked_sub(1).map(|i| points[i].s);
            if let Some(place) = points.get_mut(*filled).filter(|_| last.is_none_or(|s| s < point.s)) {
                *place = Point { joined, ..point };
                *filled += 1;
                joined = true;
            }
        };
        let mut before = look(place(0));
        push(before);
        for i in 1..=count {
            let found = look(place(i));
            let edge = match (before, found) {
                (Some(a), Some(b)) => (b.y - a.y).abs() > EDGE * spacing,
                (None, None) => false,
                _ => true,
            };
            if edge {
                let ends = [(place(i - 1), before), (place(i), found)];
                Self::halve(ends, look).into_iter().for_each(&mut push);
            }
            push(found);
            before = found;
        }
        profile
    }

    /// Bisects a segment with an edge. Returns the last point like its one end and the first like its other.
    fn halve(
        [(mut from, mut low), (mut to, mut high)]: [(f32, Option<Point>); 2],
        look: impl Fn(f32) -> Option<Point>,
    ) -> [Option<Point>; 2] {
        for _ in 0..HALVINGS {
            let middle = 0.5 * (from + to);
            let found = look(middle);
            let first_half = match (low, found, high) {
                (Some(a), Some(m), Some(b)) => (m.y - a.y).abs() > (m.y - b.y).abs(),
                (_, None, _) => low.is_some(),
                (_, Some(_), _) => low.is_none(),
            };
            if first_half {
                (to, high) = (middle, found);
            } else {
                (from, low) = (middle, found);
            }
        }
        [low, high]
    }

    /// Copies another profile: of its points those that there are.
    pub fn copy_from(&mut self, other: &Self) {
        let Self { points, count, origin, along } = other;
        self.points[..*count].copy_from_slice(&points[..*count]);
        (self.count, self.origin, self.along) = (*count, *origin, *along);
    }

    fn points(&self) -> &[Point] {
        &self.points[..self.count]
    }

    /// Whether any cast hit ground.
    pub fn found(&self) -> bool {
        self.count > 0
    }

    /// Point of the line at a distance from its origin, at height 0.
    pub fn point(&self, s: f32) -> Vec3 {
        (self.origin + self.along * s).with_y(0.0)
    }

    /// Direction of the line, a horizontal unit vector.
    pub fn along(&self) -> Vec3 {
        self.along
    }

    /// Distance of a position along the line, in metres.
    pub fn way(&self, at: Vec3) -> f32 {
        (at - self.origin).dot(self.along)
    }

    /// Height of the ground at a distance along the line; `None` in a gap and beyond the ends.
    pub fn height(&self, s: f32) -> Option<f32> {
        self.between(s, |p| p.y)
    }

    /// Slope of the ground's normal to the right at a distance along the line, in metres per metre.
    pub fn lean(&self, s: f32) -> Option<f32> {
        self.between(s, |p| p.lean)
    }

    /// Value at a distance along the line, linear between points; `None` in a gap and beyond the ends.
    fn between(&self, s: f32, of: impl Fn(&Point) -> f32) -> Option<f32> {
        let points = self.points();
        let next = points.partition_point(|p| p.s < s);
        let b = points.get(next)?;
        if b.s == s {
            return Some(of(b));
        }
        let a = points.get(next.checked_sub(1)?)?;
        b.joined.then(|| of(a) + (of(b) - of(a)) * ((s - a.s) / (b.s - a.s)))
    }

    /// Whether any cast between two distances hit ground.
    pub fn found_within(&self, [from, to]: [f32; 2]) -> bool {
        self.points().iter().any(|p| p.s >= from && p.s <= to)
    }

    /// Largest height at `s` of cones under all points of the ground, which fall by `drop` metres per metre. Points beyond
    /// `from` and `to` are lowered by their distance, so that the result is continuous while an edge enters or leaves the
    /// line.
    pub fn cone(&self, s: f32, drop: f32, [from, to]: [f32; 2]) -> Option<f32> {
        let peaks = self.points().iter().map(|p| {
            let out = (from - p.s).max(p.s - to).max(0.0);
            p.y - drop * (p.s - s).abs() - FADES * out
        });
        peaks.chain(self.height(s)).reduce(f32::max)
    }

    /// The line on which a stick from `from` to `to` rests that presses on the ground at `middle`: the edge there of the upper
    /// hull of the ground between its ends. `None` where it would press beyond all ground.
    pub fn rest(&self, [from, to]: [f32; 2], middle: f32) -> Option<Stick> {
        let mut hull = [(0.0f32, 0.0f32); POINTS + 2];
        let mut count = 0;
        let ends = [from, to].map(|s| self.height(s).map(|y| (s, y)));
        let inside = self.points().iter().filter(|p| p.s > from && p.s < to).map(|p| (p.s, p.y));
        for p in ends[0].into_iter().chain(inside).chain(ends[1]) {
            // A point on or below the line of its neighbours is none of the hull.
            while count > 1 {
                let (a, b) = (hull[count - 2], hull[count - 1]);
                if (b.1 - a.1) * (p.0 - a.0) > (p.1 - a.1) * (b.0 - a.0) {
                    break;
                }
                count -= 1;
            }
            hull[count] = p;
            count += 1;
        }
        let (a, b) =
            hull[..count].windows(2).map(|w| (w[0], w[1])).find(|(a, b)| a.0 <= middle && middle <= b.0)?;
        let slope = (b.1 - a.1) / (b.0 - a.0).max(f32::MIN_POSITIVE);
        Some(Stick { s: from, y: a.1 + slope * (from - a.0), slope })
    }

    /// Compares the ground with a stick from `from` to `to`. Returns the fraction of it with ground within `give` metres,
    /// and the largest height of ground above it. From `bend` on, that height counts above a line that rises by another
    /// `slope`.
    pub fn along_stick(
        &self,
        stick: &Stick,
        [from, to]: [f32; 2],
        give: f32,
        bend: f32,
        slope: f32,
    ) -> (f32, f32) {
        let (mut length, mut pierced) = (0.0, 0.0f32);
        let points = self.points();
        let next = points.partition_point(|p| p.s <= from).max(1);
        for pair in points.get(next - 1..).unwrap_or(&[]).windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            if a.s >= to {
                break;
            }
            if !b.joined {
                continue;
            }
            let at = |s: f32| a.y + (b.y - a.y) * ((s - a.s) / (b.s - a.s)) - stick.height(s);
            let (lo, hi) = (a.s.max(from), b.s.min(to));
            let (over_lo, over_hi) = (at(lo), at(hi));
            // Both heights are linear, so their difference crosses each bound once.
            let change = over_hi - over_lo;
            let share = if change.abs() > 1e-9 {
                let cross = |bound: f32| ((bound - over_lo) / change).clamp(0.0, 1.0);
                (cross(give) - cross(-give)).abs()
            } else {
                f32::from(u8::from(over_lo.abs() <= give))
            };
            length += share * (hi - lo);
            let above = |s: f32, over: f32| over - slope * (s - bend).max(0.0);
            pierced = pierced.max(above(lo, over_lo)).max(above(hi, over_hi));
            if lo < bend && bend < hi {
                pierced = pierced.max(at(bend));
            }
        }
        (length / (to - from).max(f32::MIN_POSITIVE), pierced)
    }
}

// On triangle meshes, which take parry.
#[cfg(all(test, feature = "parry"))]
mod tests {
    use super::*;
    use crate::ground::{
        MeshGround, Plane,
        plant::PlantOptions,
        terrain::{Flight, Stairs},
    };

    fn stairs() -> MeshGround {
        let stairs = Stairs::new().with_rise(0.12).with_going(0.4).with_lead(0.72).with_flight(Flight::Up);
        MeshGround::new(stairs.mesh().unwrap()).unwrap()
    }

    fn profile(origin: f32) -> Profile {
        let settings = PlantOptions::default();
        let ground = stairs();
        let search = FootholdSearch { ground: &ground, settings: &settings, leg: 0.9, scale: 1.0 };
        Profile::cast(&search, Vec3::Z * origin, Vec3::Z, [-0.3, 0.7], (0.02, 40.0), 0.0)
    }

    #[test]
    fn edges_are_found_to_a_millimetre_wherever_the_line_begins() {
        for origin in [0.61, 0.7, 0.745, 0.8] {
            let p = profile(origin);
            for s in [-0.29f32, -0.1, 0.0, 0.2, 0.311, 0.5, 0.69] {
                let z = origin + s;
                if (z - 0.72).abs() < 1e-3 || (z - 1.12).abs() < 1e-3 {
                    continue;
                }
                let steps = f32::from(u8::from(z > 0.72)) + f32::from(u8::from(z > 1.12));
                let y = p.height(s).unwrap();
                assert!((y - 0.12 * steps).abs() < 1e-5, "{y} at {z}");
            }
        }
    }

    #[test]
    fn a_stick_half_over_an_edge_is_half_supported() {
        let p = profile(0.92);
        // The edge at 1.12 is 0.2 from the origin.
        let stick = Stick { s: 0.1, y: 0.12, slope: 0.0 };
        let (share, pierced) = p.along_stick(&stick, [0.1, 0.3], 0.01, 1.0, 0.0);
        // The edge is known to 1.3 mm of 200.
        assert!((share - 0.5).abs() < 0.0065, "{share}");
        assert!((pierced - 0.12).abs() < 1e-5, "{pierced}");
        // With the toes bent up as steeply as 1 in 1 from 5 cm before the edge.
        let (_, pierced) = p.along_stick(&stick, [0.1, 0.3], 0.01, 0.15, 1.0);
        assert!((pierced - 0.07).abs() < 2e-3, "{pierced}");
    }

    #[test]
    fn where_nothing_is_found_nothing_is() {
        let settings = PlantOptions::default();
        let ground = Plane::level(-50.0);
        let search = FootholdSearch { ground: &ground, settings: &settings, leg: 0.9, scale: 1.0 };
        let p = Profile::cast(&search, Vec3::ZERO, Vec3::Z, [-0.3, 0.7], (0.02, 40.0), 0.0);
        assert!(
            !p.found()
                && p.height(0.0).is_none()
                && p.lean(0.0).is_none()
                && p.cone(0.0, 1.0, [-1.0, 1.0]).is_none()
        );
    }
}
