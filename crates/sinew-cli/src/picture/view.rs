//! From the world to the page.

use glam::Vec3;

use super::path::Point;

/// An orthographic view: a plane in the world, and where it lies on the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Unit vector that points right on the page.
    pub right: Vec3,
    /// Unit vector that points up on the page.
    pub up: Vec3,
    /// What of the world lies at `page`: metres along `right` and along `up`.
    pub origin: Point,
    /// A point of the page.
    pub page: Point,
    /// Pixels a metre.
    pub scale: f32,
}

impl View {
    /// Seen from the right-hand side of someone who goes along `travel`, so that they go from left to right. Only the
    /// level part of `travel` counts; without one, +X.
    pub fn side(travel: Vec3) -> Self {
        let level = Vec3::new(travel.x, 0.0, travel.z);
        let right = level.try_normalize().unwrap_or(Vec3::X);
        Self { right, up: Vec3::Y, origin: [0.0; 2], page: [0.0; 2], scale: 1.0 }
    }

    /// Seen from in front of someone who looks along `facing`: their left is on the right.
    pub fn front(facing: Vec3) -> Self {
        let level = Vec3::new(facing.x, 0.0, facing.z);
        let facing = level.try_normalize().unwrap_or(Vec3::Z);
        Self { right: Vec3::Y.cross(facing), up: Vec3::Y, origin: [0.0; 2], page: [0.0; 2], scale: 1.0 }
    }

    /// Seen from above someone who looks along `facing`, which is up on the page.
    pub fn above(facing: Vec3) -> Self {
        let level = Vec3::new(facing.x, 0.0, facing.z);
        let up = level.try_normalize().unwrap_or(Vec3::Z);
        Self { right: up.cross(Vec3::Y), up, origin: [0.0; 2], page: [0.0; 2], scale: 1.0 }
    }

    /// Unit vector towards the viewer.
    pub fn toward(&self) -> Vec3 {
        self.right.cross(self.up)
    }

    /// Metres along the view's own axes.
    pub fn plane(&self, p: Vec3) -> Point {
        [p.dot(self.right), p.dot(self.up)]
    }

    /// From metres along the view's own axes to the page.
    pub fn on_page(&self, [u, v]: Point) -> Point {
        [self.page[0] + (u - self.origin[0]) * self.scale, self.page[1] - (v - self.origin[1]) * self.scale]
    }

    /// From the world to the page.
    pub fn project(&self, p: Vec3) -> Point {
        self.on_page(self.plane(p))
    }

    /// How near to the viewer a point is, in metres.
    pub fn nearness(&self, p: Vec3) -> f32 {
        p.dot(self.toward())
    }
}
