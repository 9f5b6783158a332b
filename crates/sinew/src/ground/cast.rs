//! Casts of rays and spheres, behind a trait, so that a game can use its own physics engine.

use glam::Vec3;

use crate::{math, option_type::option_type};

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
#[non_exhaustive]
pub struct Hit {
    /// Distance in metres that the ray, or the sphere's centre, travelled.
    pub distance: f32,
    /// Point of contact on the surface, in world space.
    pub point: Vec3,
    /// Unit normal of the surface, on the side from which the cast came.
    pub normal: Vec3,
    /// Groups of the surface, as a bit mask.
    pub groups: u32,
    /// Number of the body that was hit, if the ground gives one: for sounds and decals, or to tell a lift from the floor.
    pub body: Option<u64>,
}

impl Hit {
    /// Makes a hit on a surface of all groups and no body.
    pub const fn new(distance: f32, point: Vec3, normal: Vec3) -> Self {
        Self { distance, point, normal, groups: u32::MAX, body: None }
    }

    /// Sets the groups of the surface.
    #[must_use]
    pub const fn with_groups(self, groups: u32) -> Self {
        Self { groups, ..self }
    }

    /// Sets the body that was hit.
    #[must_use]
    pub const fn with_body(self, body: u64) -> Self {
        Self { body: Some(body), ..self }
    }
}

/// Ground to stand on. All vectors are in world space, metres, Y up.
pub trait Ground {
    /// Casts a ray from `origin` along the unit vector `direction`, `reach` metres far. Returns the first hit on a
    /// surface that counts. Planting casts rays alone.
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit>;

    /// Casts a sphere of `radius` metres whose centre moves from `origin` along the unit vector `direction`, `reach`
    /// metres far. Returns the first hit on a surface that counts. A sphere that touches a surface at the start returns
    /// distance 0. A sphere of zero radius is a ray.
    ///
    /// The default casts seven rays: one through the centre and six around it at 0.8 of the radius. It is exact on a plane
    /// ahead, and never early. An edge that comes within 0.69 of the radius of the centre's way is met late by at most 0.4 of
    /// the radius; one further out is missed, as is what is beside the sphere or behind its centre at the start.
    fn cast_sphere(
        &self,
        origin: Vec3,
        radius: f32,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit> {
        if radius.is_nan() {
            return None;
        }
        let radius = radius.max(0.0);
        let middle = self.cast_ray(origin, direction, reach + 2.0 * radius, filter);
        // Where the sphere touches the plane through the hit.
        let flat = middle.and_then(|hit| {
            let towards = -direction.dot(hit.normal);
            let distance = (((origin - hit.point).dot(hit.normal) - radius) / towards).max(0.0);
            let point = origin + direction * distance - hit.normal * radius;
            (distance <= reach).then_some(Hit { distance, point, ..hit })
        });
        if radius == 0.0 {
            return flat;
        }
        // Where it touches the hits themselves.
        let touched = |aside: Vec3, ahead: f32| {
            let hit = self.cast_ray(origin + aside, direction, reach + radius, filter)?;
            let distance = (hit.distance - ahead).max(0.0);
            (distance <= reach).then_some(Hit { distance, ..hit })
        };
        let (a, b) = direction.any_orthonormal_pair();
        let around = (0..6).filter_map(|i| {
            let angle = core::f32::consts::FRAC_PI_3 * i as f32;
            let (sin, cos) = (math::sin(angle), math::cos(angle));
            touched((a * cos + b * sin) * (0.8 * radius), 0.6 * radius)
        });
        let all = flat.into_iter().chain(touched(Vec3::ZERO, radius)).chain(around);
        all.min_by(|a, b| a.distance.total_cmp(&b.distance))
    }
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
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        self.cast_sphere(origin, 0.0, direction, reach, filter)
    }

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
        let steep = math::acos(side.y) > filter.max_slope;
        if !(distance >= 0.0 && distance <= reach) || filter.groups == 0 || steep {
            return None;
        }
        let centre = origin + direction * distance;
        Some(Hit::new(distance, centre - side * (centre - self.point).dot(side), side))
    }
}
