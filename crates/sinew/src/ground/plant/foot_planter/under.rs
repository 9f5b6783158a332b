//! Ground under a foot and along its path, from ray casts.

use glam::Vec3;

use crate::ground::plant::{FootholdSearch, profile::Profile};

/// Largest number of casts of a line, without those at edges: a leg's length at [`SPACING`].
const MAX_CASTS: f32 = 24.0;
/// Distance of the casts, as a fraction of the leg: 3.5 cm for a figure of 1.8 m, a third of a foot's width. Edges are
/// refined between casts and do not depend on it.
const SPACING: f32 = 0.04;
/// Margin of a line at either end, as a fraction of the leg. Ground in it counts less towards the end.
const MARGIN: f32 = 0.1;
/// Slope at which a foot rises before an edge, in metres per metre.
const APPROACH: f32 = 1.5;

/// Ground around a foot's path, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Under {
    /// Profile along the path.
    line: Profile,
    /// Ends of the line without its margins.
    ends: [f32; 2],
    /// Ground points under heel, ball and toe tip.
    sole: [Option<Vec3>; 3],
    /// Normal of the ground under the ball; Y without ground.
    pub normal: Vec3,
    /// Body under the ball.
    pub body: Option<u64>,
}

impl Default for Under {
    fn default() -> Self {
        Self { line: Profile::default(), ends: [0.0; 2], sole: [None; 3], normal: Vec3::Y, body: None }
    }
}

impl Under {
    /// Copies another one.
    pub fn copy_from(&mut self, other: &Self) {
        let Self { line, ends, sole, normal, body } = other;
        self.line.copy_from(line);
        (self.ends, self.sole, self.normal, self.body) = (*ends, *sole, *normal, *body);
    }

    /// Whether there is any ground.
    pub fn found(&self) -> bool {
        self.line.found_within(self.ends) || self.sole.iter().any(Option::is_some)
    }

    /// Casts rays at heel, ball and tip of a sole.
    pub fn sole(search: &FootholdSearch<'_>, points: [Vec3; 3], base: f32) -> Self {
        let found = points.map(|p| search.below(p, base).map(|(y, hit)| (p.with_y(y), hit)));
        let normal = found[1].map_or(Vec3::Y, |(_, hit)| hit.normal);
        let body = found[1].and_then(|(_, hit)| hit.body);
        Self { sole: found.map(|f| f.map(|(p, _)| p)), normal, body, ..Self::default() }
    }

    /// Casts rays along a line through `middle` in the horizontal direction `along` (a unit vector), from `back` metres
    /// behind it to `ahead` metres ahead, plus margins.
    pub fn sweep(
        &mut self,
        search: &FootholdSearch<'_>,
        middle: Vec3,
        along: Vec3,
        [back, ahead]: [f32; 2],
        base: f32,
    ) {
        let spacing = (SPACING * search.leg, MAX_CASTS);
        let margin = MARGIN * search.leg;
        self.ends = [-back, ahead];
        let ends = [-back - margin, ahead + margin];
        self.line = Profile::cast(search, middle, along, ends, spacing, base);
    }

    /// Height of the ground for a point that passes `at` on a known path and rises before edges at `slope`, in metres per
    /// metre.
    pub fn before(&self, at: Vec3, slope: f32) -> Option<f32> {
        self.line.cone(self.line.way(at), slope, self.ends)
    }

    /// Height of the ground for a point that comes to `at`, raised before nearby edges at [`APPROACH`].
    pub fn height(&self, at: Vec3) -> Option<f32> {
        let peaks = self.sole.iter().flatten().map(|p| p.y - APPROACH * (*p - at).with_y(0.0).length());
        peaks.chain(self.line.cone(self.line.way(at), APPROACH, self.ends)).reduce(f32::max)
    }
}
