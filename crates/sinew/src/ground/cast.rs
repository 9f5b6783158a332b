//! Casting rays and spheres, behind a trait, so that a game brings its own physics.

use glam::Vec3;

use crate::solve::options::option_type;

option_type! {
    /// What counts as ground.
    Filter {
        /// A surface counts where its groups and these share a bit; by default any.
        groups, with_groups: u32 = u32::MAX;
        /// A surface counts where its normal is no further than this from straight up, in radians. A quarter turn leaves out
        /// walls' undersides alone; pi, the default, lets everything count.
        max_slope, with_max_slope: f32 = core::f32::consts::PI;
    }
}

impl Filter {
    /// Everything counts.
    pub const ALL: Self = Self::new();
}

/// What a cast met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// How far the ray, or the sphere's centre, went, in metres.
    pub distance: f32,
    /// Where the surface was touched.
    pub point: Vec3,
    /// Unit normal of the surface, towards the side that the cast came from.
    pub normal: Vec3,
    /// The groups of the surface that was met.
    pub groups: u32,
}

/// Something to stand on. All vectors are in world space, metres, Y up.
pub trait Ground {
    /// The first surface along the ray from `origin` along the unit vector `direction`, no further than `reach` metres: by
    /// default that of a sphere of no radius.
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        self.cast_sphere(origin, 0.0, direction, reach, filter)
    }

    /// The first surface that a sphere of `radius` metres touches whose centre moves from `origin` along the unit vector
    /// `direction`, no further than `reach` metres. A sphere that touches a surface at once answers with distance 0; one of no
    /// radius is a ray.
    fn cast_sphere(
        &self,
        origin: Vec3,
        radius: f32,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit>;
}

/// An endless flat floor, for tests and for levels that are flat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// A point of the floor.
    pub point: Vec3,
    /// Unit normal.
    pub normal: Vec3,
}

impl Plane {
    /// The level floor at a height.
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
