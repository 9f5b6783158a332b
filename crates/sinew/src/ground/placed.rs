//! Ground as a placed figure has it.

use glam::Vec3;

use super::{Filter, Ground, Hit};
use crate::Placement;

/// The world's ground in a figure's model space: casts are made in the world, and hits come back. The slopes of a
/// [`Filter`] are the world's.
pub struct PlacedGround<'a, G: ?Sized> {
    ground: &'a G,
    placement: Placement,
}

impl Placement {
    /// A ground of the world, in model space.
    pub fn ground<'a, G: Ground + ?Sized>(&self, ground: &'a G) -> PlacedGround<'a, G> {
        PlacedGround { ground, placement: *self }
    }
}

impl<G: Ground + ?Sized> Ground for PlacedGround<'_, G> {
    fn cast_sphere(
        &self,
        origin: Vec3,
        radius: f32,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit> {
        let (place, metre) = (&self.placement, self.placement.scale().abs());
        let (from, along) = (place.to_world(origin), place.direction_to_world(direction));
        let hit = match radius {
            0.0 => self.ground.cast_ray(from, along, reach * metre, filter),
            _ => self.ground.cast_sphere(from, radius * metre, along, reach * metre, filter),
        }?;
        Some(Hit {
            distance: hit.distance / metre,
            point: place.to_model(hit.point),
            normal: place.direction_to_model(hit.normal),
            ..hit
        })
    }
}
