//! Ground in a placed figure's model space.

use glam::Vec3;

use super::{Filter, Ground, Hit};
use crate::Placement;

/// World ground in a figure's model space. Casts are converted to world space, and hits back. The slopes of a
/// [`Filter`] stay relative to the world's up.
pub struct PlacedGround<'a, G: ?Sized> {
    ground: &'a G,
    placement: Placement,
}

impl Placement {
    /// Returns a world ground in model space.
    pub fn ground<'a, G: Ground + ?Sized>(&self, ground: &'a G) -> PlacedGround<'a, G> {
        PlacedGround { ground, placement: *self }
    }
}

impl<G: Ground + ?Sized> PlacedGround<'_, G> {
    /// Casts from model space by a cast in world space, whose lengths are `metre` times as large.
    fn cast(
        &self,
        origin: Vec3,
        direction: Vec3,
        cast: impl FnOnce(&G, Vec3, Vec3, f32) -> Option<Hit>,
    ) -> Option<Hit> {
        let (place, metre) = (&self.placement, self.placement.scale().abs());
        let hit = cast(self.ground, place.to_world(origin), place.direction_to_world(direction), metre)?;
        Some(Hit {
            distance: hit.distance / metre,
            point: place.to_model(hit.point),
            normal: place.direction_to_model(hit.normal),
            ..hit
        })
    }
}

impl<G: Ground + ?Sized> Ground for PlacedGround<'_, G> {
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        let cast = |ground: &G, from, along, metre| ground.cast_ray(from, along, reach * metre, filter);
        self.cast(origin, direction, cast)
    }

    fn cast_sphere(
        &self,
        origin: Vec3,
        radius: f32,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit> {
        self.cast(origin, direction, |ground, from, along, metre| {
            ground.cast_sphere(from, radius * metre, along, reach * metre, filter)
        })
    }
}
