//! Orthographic views: from the world to the page.

use glam::Vec3;

use super::path::Point;

/// Orthographic view: a plane in the world, with its position and scale on the page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Unit vector that points right on the page.
    pub right: Vec3,
    /// Unit vector that points up on the page.
    pub up: Vec3,
    /// Point of the plane that is at `page`, in metres along `right` and `up`.
    pub origin: Point,
    /// Point of the page at which `origin` is, in pixels.
    pub page: Point,
    /// Pixels per metre.
    pub scale: f32,
}

impl View {
    /// The view from the right-hand side of a walk along `travel`, which goes from left to right on the page. Only the
    /// horizontal part of `travel` counts; if it is zero, the direction is +X.
    pub fn side(travel: Vec3) -> Self {
        let level = Vec3::new(travel.x, 0.0, travel.z);
        let right = level.try_normalize().unwrap_or(Vec3::X);
        Self { right, up: Vec3::Y, origin: [0.0; 2], page: [0.0; 2], scale: 1.0 }
    }

    /// The view from in front of a figure that faces along `facing`: its left is on the right of the page.
    pub fn front(facing: Vec3) -> Self {
        let level = Vec3::new(facing.x, 0.0, facing.z);
        let facing = level.try_normalize().unwrap_or(Vec3::Z);
        Self { right: Vec3::Y.cross(facing), up: Vec3::Y, origin: [0.0; 2], page: [0.0; 2], scale: 1.0 }
    }

    /// The view from above a figure that faces along `facing`, which is up on the page.
    pub fn above(facing: Vec3) -> Self {
        let level = Vec3::new(facing.x, 0.0, facing.z);
        let up = level.try_normalize().unwrap_or(Vec3::Z);
        Self { right: up.cross(Vec3::Y), up, origin: [0.0; 2], page: [0.0; 2], scale: 1.0 }
    }

    /// Unit vector towards the viewer.
    pub fn toward(&self) -> Vec3 {
        self.right.cross(self.up)
    }

    /// Projects a point onto the plane: metres along `right` and `up`.
    pub fn plane(&self, p: Vec3) -> Point {
        [p.dot(self.right), p.dot(self.up)]
    }

    /// Converts a point of the plane, in metres, to the page.
    pub fn on_page(&self, [u, v]: Point) -> Point {
        [self.page[0] + (u - self.origin[0]) * self.scale, self.page[1] - (v - self.origin[1]) * self.scale]
    }

    /// Projects a point onto the page.
    pub fn project(&self, p: Vec3) -> Point {
        self.on_page(self.plane(p))
    }

    /// Distance of a point towards the viewer, in metres from the plane through the world's origin.
    pub fn nearness(&self, p: Vec3) -> f32 {
        p.dot(self.toward())
    }
}
