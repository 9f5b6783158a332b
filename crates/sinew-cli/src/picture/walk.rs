//! What the picture of a walk shows: the figure, the ground, and each foot through time.

use glam::Vec3;
use sinew::{JointId, Pose, body::Side, ground::TriangleMesh};

use super::figure::Figure;

/// One foot through time.
#[derive(Clone, Debug, Default)]
pub struct FootSeries {
    /// What it is called, such as `left foot`.
    pub name: String,
    /// Which half of the body it is of.
    pub side: Option<Side>,
    /// The ankle, whose path is drawn.
    pub ankle: Option<JointId>,
    /// Height of the lower of heel and ball over the ground, in metres, for each time; NaN where there is no ground.
    pub height_before: Vec<f32>,
    /// The same after planting.
    pub height_after: Vec<f32>,
    /// From when to when the foot is in contact, in seconds.
    pub contacts: Vec<(f32, f32)>,
}

/// A cast that found the ground, or did not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cast {
    /// Where it began, in world space.
    pub from: Vec3,
    /// Where it met the ground, or ended.
    pub to: Vec3,
    /// Whether it met the ground.
    pub hit: bool,
}

/// All that the picture shows. Poses' model space is world space here: travel is in the poses.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    /// The large line at the top.
    pub title: String,
    /// The line below it.
    pub subtitle: String,
    /// Sentences at the bottom.
    pub notes: Vec<String>,
    /// Which joints make the figure.
    pub figure: &'a Figure,
    /// The clip with its travel, as made for a flat floor, a pose for each time.
    pub before: &'a [Pose],
    /// The same with planted feet.
    pub after: &'a [Pose],
    /// In seconds, rising.
    pub times: &'a [f32],
    /// What the feet stand on.
    pub ground: &'a TriangleMesh,
    /// Where the walk goes. Zero (or straight up) where it stays: the figure is then seen from its right-hand side.
    pub travel: Vec3,
    /// The feet, in the order in which they are shown.
    pub feet: &'a [FootSeries],
    /// Casts; where there are many, some are shown.
    pub casts: &'a [Cast],
}

impl Picture<'_> {
    /// How many frames there are in all of the series.
    pub(super) fn frames(&self) -> usize {
        self.before.len().min(self.after.len()).min(self.times.len())
    }
}
