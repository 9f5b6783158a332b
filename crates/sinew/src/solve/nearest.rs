//! Which of several passes a solver leaves, where bones change their lengths as joints turn or where it is cut short.

use glam::Vec3;

use super::arc::distance;

/// The pass whose end is nearest to the place that a chain is led to. The incoming pose counts as a pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    /// In model space; see [`softened`](super::soft::softened).
    place: Vec3,
    /// Distance of that pass's end from the place, in metres.
    off: f32,
    /// Its number; 0 is the incoming pose.
    pub pass: u32,
}

impl Nearest {
    /// Starts with the incoming pose, whose end is at `from`.
    pub fn new(place: Vec3, from: Vec3) -> Self {
        Self { place, off: distance(from, place), pass: 0 }
    }

    /// Starts with no pass at all.
    pub fn none(place: Vec3) -> Self {
        Self { place, off: f32::INFINITY, pass: 0 }
    }

    /// Notes where a pass ends. Returns whether that is nearer than every pass before, so that its joints are to be kept.
    pub fn note(&mut self, end: Vec3, pass: u32) -> bool {
        let off = distance(end, self.place);
        let nearer = off < self.off;
        if nearer {
            (self.off, self.pass) = (off, pass);
        }
        nearer
    }

    /// Whether a chain that ends at `end` is as near as the nearest pass, to within what places are uncertain by, in metres.
    pub fn is_met_by(&self, end: Vec3, uncertain: f32) -> bool {
        distance(end, self.place) <= self.off + uncertain
    }
}
