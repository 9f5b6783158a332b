//! The ground that a foot is over and comes to, as casts found it.

use glam::Vec3;

use crate::ground::plant::{FootholdSearch, profile::Profile};

/// Most casts of a line before edges are looked for: a leg's length at [`SPACING`].
const MOST_CASTS: f32 = 24.0;
/// Distance of the casts, as a share of the leg: 3.5 cm for a grown figure, a third of a foot's width. Edges between
/// casts are looked for, so that they do not depend on it.
const SPACING: f32 = 0.04;
/// A line is cast this much further at either end, as a share of the leg. What is found there
/// counts the less the nearer it is to the end.
const MARGIN: f32 = 0.1;
/// How much higher than an edge's height divided by its distance a foot need not be: a foot rises before an edge along
/// a line of this slope.
const APPROACH: f32 = 1.5;

/// The ground around a foot's way, in world space.
#[derive(Clone, Copy, Debug)]
pub struct Under {
    /// Along its way.
    line: Profile,
    /// The stretch of it that is asked for. It reaches further, at either end.
    ends: [f32; 2],
    /// The ground under heel, ball and tip of the toes.
    sole: [Option<Vec3>; 3],
    /// Normal of the ground under the ball.
    pub normal: Vec3,
}

impl Default for Under {
    fn default() -> Self {
        Self { line: Profile::default(), ends: [0.0; 2], sole: [None; 3], normal: Vec3::Y }
    }
}

impl Under {
    /// Whether there is any ground.
    pub fn found(&self) -> bool {
        self.line.found_within(self.ends) || self.sole.iter().any(Option::is_some)
    }

    /// Casts at heel, ball and tip of a sole.
    pub fn sole(search: &FootholdSearch<'_>, points: [Vec3; 3], base: f32) -> Self {
        let found = points.map(|p| search.height(p, base).map(|(y, normal)| (p.with_y(y), normal)));
        let normal = found[1].map_or(Vec3::Y, |(_, normal)| normal);
        Self { sole: found.map(|f| f.map(|(p, _)| p)), normal, ..Self::default() }
    }

    /// Casts along a line through `middle` as well, from `back` metres behind to `ahead` metres before it along the level
    /// unit vector `along`, and somewhat further.
    pub fn sweep(
        &mut self,
        search: &FootholdSearch<'_>,
        middle: Vec3,
        along: Vec3,
        [back, ahead]: [f32; 2],
        base: f32,
    ) {
        let spacing = (SPACING * search.leg, MOST_CASTS);
        let margin = MARGIN * search.leg;
        self.ends = [-back, ahead];
        let ends = [-back - margin, ahead + margin];
        self.line = Profile::cast(search, middle, along, ends, spacing, base);
    }

    /// How high the ground is for a point that passes this place on a known way, and rises
    /// `slope` metres a metre before edges.
    pub fn before(&self, at: Vec3, slope: f32) -> Option<f32> {
        self.line.cone(self.line.way(at), slope, self.ends)
    }

    /// How high the ground is for a point that comes to this place: the ground there, or what rises to an edge nearby.
    pub fn height(&self, at: Vec3) -> Option<f32> {
        let peaks = self.sole.iter().flatten().map(|p| p.y - APPROACH * (*p - at).with_y(0.0).length());
        peaks.chain(self.line.cone(self.line.way(at), APPROACH, self.ends)).reduce(f32::max)
    }
}
