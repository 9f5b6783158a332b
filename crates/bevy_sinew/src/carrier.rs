//! The platform that carries a character: a lift, a ship.

use bevy_ecs::entity::Entity;
use bevy_math::Vec3;
use sinew::{AffineError, Placement, glam::Affine3, ground::Platform, math};

use crate::{
    gather::{NoPlace, Places},
    ground::split,
};

/// An entity with its place in the world, in this frame and in the one before.
#[derive(Debug, Default)]
pub(crate) struct Carrier {
    now: Option<(Entity, Affine3)>,
    /// The platform of the frame before: its place then, and its present one if it still exists.
    before: Option<(Entity, Affine3)>,
    before_now: Option<Affine3>,
}

/// The platform of a frame; where the platform has changed since the frame before, the one that the character leaves and the one that it
/// boards.
pub(crate) type Boarded = (Option<Platform>, Option<[Platform; 2]>);

impl Carrier {
    /// Reads the platform's place. An error names the platform and the reason.
    pub fn place(&mut self, platform: Option<Entity>, places: &Places) -> Result<(), (Entity, NoPlace)> {
        let placed =
            |entity| places.world(entity).map(|place| (entity, place)).map_err(|missing| (entity, missing));
        self.now = platform.map(placed).transpose()?;
        self.before_now = self.before.and_then(|(entity, _)| places.world(entity).ok());
        Ok(())
    }

    /// Forgets the frame before.
    pub fn forget(&mut self) {
        self.before = None;
    }

    /// The platform that carries the character, and how fast that moves, by its place `dt` seconds ago. Once a frame.
    pub fn board(&mut self, dt: f32) -> Result<Boarded, AffineError> {
        let moving = |place: &Affine3, before: Option<Affine3>| {
            let platform = Placement::new(split(place).0).map(Platform::new)?;
            let (linear, angular) =
                before.map_or((Vec3::ZERO, Vec3::ZERO), |before| velocity(&before, place, dt));
            Ok::<_, AffineError>(platform.with_velocity(linear, angular))
        };
        let before = |entity| self.before.filter(|(known, _)| *known == entity).map(|(_, place)| place);
        let platform = self.now.map(|(entity, place)| moving(&place, before(entity))).transpose()?;
        let of = |carried: Option<(Entity, Affine3)>| carried.map(|(entity, _)| entity);
        let mut changed = None;
        if of(self.before) != of(self.now) {
            let left = match (self.before, self.before_now) {
                (Some((_, then)), Some(now)) => moving(&now, Some(then))?,
                (Some((_, then)), None) => moving(&then, None)?,
                _ => Platform::WORLD,
            };
            changed = Some([left, platform.unwrap_or(Platform::WORLD)]);
        }
        self.before = self.now;
        Ok((platform, changed))
    }
}

/// The velocities of a rigid place: metres and radians a second, in the world.
pub(crate) fn velocity(then: &Affine3, now: &Affine3, dt: f32) -> (Vec3, Vec3) {
    if dt <= 0.0 {
        return (Vec3::ZERO, Vec3::ZERO);
    }
    let turn = |place: &Affine3| math::rotation_of(&split(place).0.matrix3);
    let turned = math::mul(turn(now), math::conjugate(turn(then)));
    ((now.translation - then.translation) / dt, math::rotation_vector(turned) / dt)
}
