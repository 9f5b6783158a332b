//! The choice of a pass, where bones change their lengths as joints turn or where a solve is cut short.

use glam::Vec3;

use super::arc::distance;

/// The pass whose end is nearest to the target position. The input pose counts as a pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    /// Target position in model space; see [`softened`](super::soft::softened).
    place: Vec3,
    /// Distance of that pass's end from the target, in metres.
    off: f32,
    /// Number of the pass; 0 is the input pose.
    pub pass: u32,
}

impl Nearest {
    /// Starts with the input pose, whose end is at `from`.
    pub fn new(place: Vec3, from: Vec3) -> Self {
        Self { place, off: distance(from, place), pass: 0 }
    }

    /// Starts without a pass.
    pub fn none(place: Vec3) -> Self {
        Self { place, off: f32::INFINITY, pass: 0 }
    }

    /// Records the end of a pass. Returns whether it is nearer than every pass before, so that the caller keeps its joints.
    pub fn note(&mut self, end: Vec3, pass: u32) -> bool {
        let off = distance(end, self.place);
        let nearer = off < self.off;
        if nearer {
            (self.off, self.pass) = (off, pass);
        }
        nearer
    }

    /// Whether a chain that ends at `end` is as near as the nearest pass, within the uncertainty of positions in metres.
    pub fn is_met_by(&self, end: Vec3, uncertain: f32) -> bool {
        distance(end, self.place) <= self.off + uncertain
    }
}
