//! Contents of a walk's picture: the figure, the ground, and each foot over time.

use glam::Vec3;
use sinew::{JointId, Pose, body::Side, ground::TriangleMesh};

use super::figure::Figure;

/// One foot over time.
#[derive(Clone, Debug, Default)]
pub struct FootSeries {
    /// Name, such as `left foot`.
    pub name: String,
    /// Half of the body that the foot is in.
    pub side: Option<Side>,
    /// Joint of the ankle, whose path is drawn.
    pub ankle: Option<JointId>,
    /// Height above the ground before planting, of the lower of heel and ball, in metres, for each time; NaN without ground.
    pub height_before: Vec<f32>,
    /// Height above the ground after planting, as [`Self::height_before`].
    pub height_after: Vec<f32>,
    /// Beginning and end of each contact, in seconds.
    pub contacts: Vec<(f32, f32)>,
}

/// Cast onto the ground, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cast {
    /// Start.
    pub from: Vec3,
    /// Point on the ground, or the end of a cast that found none.
    pub to: Vec3,
    /// Whether the cast found the ground.
    pub hit: bool,
}

/// Contents of the picture. The poses contain the travel, so that their model space is world space.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    /// Large line at the top.
    pub title: String,
    /// Line below the title.
    pub subtitle: String,
    /// Sentences at the bottom.
    pub notes: Vec<String>,
    /// The figure.
    pub figure: &'a Figure,
    /// For each time, the pose before planting.
    pub before: &'a [Pose],
    /// For each time, the pose after planting.
    pub after: &'a [Pose],
    /// Times in seconds, increasing.
    pub times: &'a [f32],
    /// The ground.
    pub ground: &'a TriangleMesh,
    /// Direction of the walk. Zero or vertical for a figure that stays in place, which is then seen from its right.
    pub travel: Vec3,
    /// The feet, in the order in which they are shown.
    pub feet: &'a [FootSeries],
    /// Casts. If there are many, only some are shown.
    pub casts: &'a [Cast],
}

impl Picture<'_> {
    /// Number of frames that all series have.
    pub(super) fn frames(&self) -> usize {
        self.before.len().min(self.after.len()).min(self.times.len())
    }
}
