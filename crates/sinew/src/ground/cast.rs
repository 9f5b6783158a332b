//! Casts of rays and spheres, behind a trait, so that a game can use its own physics engine.

use glam::Vec3;

use crate::option_type::option_type;

option_type! {
    /// Surfaces that count as ground.
    Filter {
        /// Groups of surfaces that count, as a bit mask; all by default. A surface counts if its groups share a bit
        /// with the mask.
        groups, with_groups: u32 = u32::MAX;
        /// Maximum angle in radians between a surface's normal and straight up. At a quarter turn, only undersides do
        /// not count; pi, the default, lets every surface count.
        max_slope, with_max_slope: f32 = core::f32::consts::PI;
    }
}

impl Filter {
    /// Filter that lets every surface count.
    pub const ALL: Self = Self::new();
}

/// Result of a cast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Distance in metres that the ray, or the sphere's centre, travelled.
    pub distance: f32,
    /// Point of contact on the surface, in world space.
    pub point: Vec3,
    /// Unit normal of the surface, on the side from which the cast came.
    pub normal: Vec3,
    /// Groups of the surface, as a bit mask.
    pub groups: u32,
}

/// Ground to stand on. All vectors are in world space, metres, Y up.
pub trait Ground {
    /// Casts a ray from `origin` along the unit vector `direction`, `reach` metres far. Returns the first hit on a
    /// surface that counts. The default implementation casts a sphere of zero radius.
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        self.cast_sphere(origin, 0.0, direction, reach, filter)
    }

    /// Casts a sphere of `radius` metres whose centre moves from `origin` along the unit vector `direction`, `reach`
    /// metres far. Returns the first hit on a surface that counts. A sphere that touches a surface at the start returns
    /// distance 0. A sphere of zero radius is a ray.
    fn cast_sphere(
        &self,
        origin: Vec3,
        radius: f32,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit>;
}

/// Infinite flat floor, for tests and flat levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// A point of the floor, in world space.
    pub point: Vec3,
    /// Unit normal.
    pub normal: Vec3,
}

impl Plane {
    /// Returns the level floor at a height in metres.
    pub const fn level(height: f32) -> Self {
        Self { point: Vec3::new(0.0, height, 0.0), normal: Vec3::Y }
    }
}

impl Ground for Plane {
    fn cast_sphere(
        &self,
        origin: Vec3,
        radius: f32,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit> {
        let height = (origin - self.point).dot(self.normal);
        let side = if height < 0.0 { -self.normal } else { self.normal };
        let towards = -direction.dot(side);
        let gap = height.abs() - radius;
        let distance = if gap <= 0.0 { 0.0 } else { gap / towards };
        let steep = crate::math::acos(side.y) > filter.max_slope;
        if !(distance >= 0.0 && distance <= reach) || filter.groups == 0 || steep {
            return None;
        }
        let centre = origin + direction * distance;
        Some(Hit {
            distance,
            point: centre - side * (centre - self.point).dot(side),
            normal: side,
            groups: u32::MAX,
        })
    }
}
