//! The ground that a foot is over and comes to, as casts found it.

use glam::Vec3;

use crate::{ground::plant::Search, math};

/// Most casts of a line before edges are looked for: a leg's length at [`SPACING`].
const MOST_CASTS: f32 = 24.0;
/// Most points that are kept: a line's, and both sides of every edge found in it.
const POINTS: usize = 64;
/// Distance of the casts, as a share of the leg: 3.5 cm for a grown figure, a third of a foot's width. Edges between casts are
/// looked for, so that they do not depend on it.
const SPACING: f32 = 0.04;
/// How often the stretch in which an edge lies is halved: 3.5 cm to 1 mm.
const HALVINGS: usize = 5;
/// A difference of height between neighbouring casts of this share of their distance is an edge: 50 degrees, steeper
/// than feet stand on.
const EDGE: f32 = 1.2;
/// How much higher than an edge's height divided by its distance a foot need not be: a foot rises before an edge along
/// a line of this slope.
const APPROACH: f32 = 1.5;

/// The ground around a foot's way, in world space.
#[derive(Clone, Copy, Debug)]
pub struct Under {
    /// Way along the line and height, by way.
    line: [(f32, f32); POINTS],
    count: usize,
    /// Unit vector of the line, seen from above; the way of a point is its part along it.
    along: Vec3,
    /// The ground under heel, ball and tip of the toes.
    sole: [Option<Vec3>; 3],
    /// Normal of the ground under the ball.
    pub normal: Vec3,
}

impl Default for Under {
    fn default() -> Self {
        Self { line: [(0.0, 0.0); POINTS], count: 0, along: Vec3::Z, sole: [None; 3], normal: Vec3::Y }
    }
}

impl Under {
    /// Whether there is any ground.
    pub fn found(&self) -> bool {
        self.count > 0 || self.sole.iter().any(Option::is_some)
    }

    fn push(&mut self, at: f32, y: f32) {
        if let Some(place) = self.line.get_mut(self.count) {
            *place = (at, y);
            self.count += 1;
        }
    }

    /// Casts at heel, ball and tip of a sole.
    pub fn sole(search: &Search<'_>, points: [Vec3; 3], base: f32) -> Self {
        let found = points.map(|p| search.height(p, base).map(|(y, normal)| (p.with_y(y), normal)));
        let normal = found[1].map_or(Vec3::Y, |(_, normal)| normal);
        Self { sole: found.map(|f| f.map(|(p, _)| p)), normal, ..Self::default() }
    }

    /// Casts along a line through `middle` as well, from `back` metres behind to `ahead` metres before it along the level unit
    /// vector `along`. Casts lie on a lattice that stays where it is while the foot goes over it, and edges are found by
    /// halving, so that what is found does not depend on when it is looked for.
    pub fn sweep(
        &mut self,
        search: &Search<'_>,
        middle: Vec3,
        along: Vec3,
        [back, ahead]: [f32; 2],
        base: f32,
    ) {
        let finest = SPACING * search.leg;
        // A fast foot is ahead of a longer stretch: every second or third place of the lattice then serves.
        let spacing = finest * math::ceil((back + ahead) / (MOST_CASTS * finest)).clamp(1.0, 1e3);
        let s = middle.dot(along);
        let first = math::floor((s - back) / spacing);
        let count = math::ceil((back + ahead) / spacing).clamp(1.0, MOST_CASTS) as usize + 1;
        let height = |at: f32| search.height(middle + along * (at - s), base).map(|(y, _)| y);
        (self.along, self.count) = (along, 0);
        let mut before: Option<(f32, f32)> = None;
        for i in 0..=count {
            let at = (first + i as f32) * spacing;
            let Some(y) = height(at) else {
                before = None;
                continue;
            };
            if let Some((mut a, mut low)) = before
                && (y - low).abs() > EDGE * spacing
            {
                let (mut b, mut high) = (at, y);
                for _ in 0..HALVINGS {
                    let half = 0.5 * (a + b);
                    let Some(h) = height(half) else { break };
                    if (h - low).abs() < (h - high).abs() {
                        (a, low) = (half, h);
                    } else {
                        (b, high) = (half, h);
                    }
                }
                self.push(a, low);
                self.push(b, high);
            }
            self.push(at, y);
            before = Some((at, y));
        }
    }

    /// How high the ground is for a point that comes to this place: the ground there, or what rises to an edge nearby.
    pub fn height(&self, at: Vec3) -> Option<f32> {
        let mut high = f32::NEG_INFINITY;
        for p in self.sole.iter().flatten() {
            high = high.max(p.y - APPROACH * (*p - at).with_y(0.0).length());
        }
        let s = at.dot(self.along);
        let line = self.line.get(..self.count).unwrap_or(&[]);
        for &(p, y) in line {
            high = high.max(y - APPROACH * (p - s).abs());
        }
        // Between two casts the ground goes straight.
        let next = line.partition_point(|p| p.0 <= s);
        if let (Some(&(a, low)), Some(&(b, up))) = (line.get(next.wrapping_sub(1)), line.get(next)) {
            // Where a cast between them found nothing there is nothing.
            let gap = b - a;
            high = high.max(low + (up - low) * ((s - a) / gap));
        }
        (high > f32::NEG_INFINITY).then_some(high)
    }
}
