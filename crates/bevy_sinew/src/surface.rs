//! Where ground comes from: system parameters.

use std::marker::PhantomData;

use bevy_app::{App, Plugin, PostUpdate};
#[cfg(any(feature = "avian", feature = "rapier"))]
use bevy_ecs::hierarchy::ChildOf;
use bevy_ecs::{
    change_detection::DetectChangesMut,
    component::Component,
    entity::Entity,
    reflect::ReflectComponent,
    resource::Resource,
    schedule::IntoScheduleConfigs,
    system::{Query, Res, StaticSystemParam, SystemParam, SystemParamItem},
};
use bevy_math::Vec3;
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::ground::{Filter, Ground, Hit};

use crate::{IkBinding, IkSystems, ground, slot::Stage};

/// Ground that feet stand on, as a system parameter: [`IkMeshes`], those of physics engines, or a game's own. A pair of two is
/// both.
///
/// ```
/// use bevy_ecs::{prelude::*, system::{SystemParam, SystemParamItem}};
/// use bevy_math::Vec3;
/// use bevy_sinew::{GroundParam, sinew::ground::{Filter, Hit}};
///
/// #[derive(Resource)]
/// struct WaterLevel(f32);
///
/// /// Ice, wherever there is water.
/// #[derive(SystemParam)]
/// struct Ice<'w>(Res<'w, WaterLevel>);
///
/// impl GroundParam for Ice<'static> {
///     fn cast_ray(
///         ice: &SystemParamItem<Self>, _: Entity, origin: Vec3, direction: Vec3, reach: f32, _: &Filter,
///     ) -> Option<Hit> {
///         let distance = (ice.0.0 - origin.y) / direction.y;
///         let hits = distance >= 0.0 && distance <= reach;
///         hits.then(|| Hit::new(distance, origin + direction * distance, Vec3::Y))
///     }
/// }
/// # use bevy_app::App;
/// # use bevy_sinew::{IkGroundPlugin, IkMeshes, SinewPlugin};
/// # let mut app = App::new();
/// app.insert_resource(WaterLevel(0.3));
/// app.add_plugins((SinewPlugin, IkGroundPlugin::<(IkMeshes, Ice)>::default()));
/// # app.update();
/// ```
pub trait GroundParam: SystemParam + Send + Sync + 'static {
    /// Casts a ray for a character from `origin` along the unit vector `direction`, `reach` metres far, in the world. Returns the
    /// first hit on a surface that counts, with the bits of its entity as [`Hit::body`]. What belongs to the character itself
    /// does not count.
    fn cast_ray(
        param: &SystemParamItem<Self>,
        character: Entity,
        origin: Vec3,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit>;
}

/// No ground at all.
impl GroundParam for () {
    fn cast_ray((): &SystemParamItem<Self>, _: Entity, _: Vec3, _: Vec3, _: f32, _: &Filter) -> Option<Hit> {
        None
    }
}

/// The meshes that are [`IkGround`](crate::IkGround): what feet stand on without an [`IkGroundPlugin`].
#[derive(SystemParam)]
pub struct IkMeshes<'w> {
    grounds: Res<'w, ground::Grounds>,
}

impl GroundParam for IkMeshes<'static> {
    fn cast_ray(
        param: &SystemParamItem<Self>,
        character: Entity,
        origin: Vec3,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit> {
        param.grounds.cast_ray(character, origin, direction, reach, filter)
    }
}

impl<A: GroundParam, B: GroundParam> GroundParam for (A, B) {
    fn cast_ray(
        param: &SystemParamItem<Self>,
        character: Entity,
        origin: Vec3,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit> {
        let a = A::cast_ray(&param.0, character, origin, direction, reach, filter);
        let b = B::cast_ray(&param.1, character, origin, direction, reach, filter);
        // Of equal ones the first.
        a.into_iter().chain(b).min_by(|a, b| a.distance.total_cmp(&b.distance))
    }
}

/// Sets what feet stand on, in place of the meshes that are [`IkGround`](crate::IkGround). It is added beside the
/// [`SinewPlugin`](crate::SinewPlugin).
pub struct IkGroundPlugin<G> {
    ground: PhantomData<fn() -> G>,
}

impl<G> Default for IkGroundPlugin<G> {
    fn default() -> Self {
        Self { ground: PhantomData }
    }
}

/// Feet stand on something else than meshes.
#[derive(Resource)]
pub(crate) struct OtherGround;

impl<G: GroundParam> Plugin for IkGroundPlugin<G>
where
    for<'w, 's> SystemParamItem<'w, 's, G>: Sync,
{
    fn build(&self, app: &mut App) {
        app.insert_resource(OtherGround);
        app.add_systems(PostUpdate, apply::<{ Stage::Feet as u8 }, G>.in_set(IkSystems::Feet));
    }
}

/// The ground of one character.
struct Around<'a, 'w, 's, G: GroundParam> {
    param: &'a SystemParamItem<'w, 's, G>,
    character: Entity,
}

impl<G: GroundParam> Ground for Around<'_, '_, '_, G> {
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        G::cast_ray(self.param, self.character, origin, direction, reach, filter)
    }
}

/// Applies the components of one set on all characters, in parallel.
pub(crate) fn apply<const STAGE: u8, G: GroundParam>(
    mut characters: Query<(Entity, &mut IkBinding)>,
    ground: StaticSystemParam<G>,
) where
    for<'w, 's> SystemParamItem<'w, 's, G>: Sync,
{
    let param: &SystemParamItem<G> = &ground;
    characters.par_iter_mut().for_each(|(character, mut binding)| {
        let Some(bound) = binding.bypass_change_detection().bound.as_deref_mut() else { return };
        if bound.awake && !bound.holds {
            bound.solve(STAGE, &Around::<G> { param, character });
        }
    });
}

/// On an entity whose colliders, and those below it, are no ground for feet. It counts for the ground of physics engines
/// (`AvianGround`, `RapierGround`).
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Default, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
pub struct IkNotGround;

/// Whose colliders count.
#[cfg(any(feature = "avian", feature = "rapier"))]
#[derive(SystemParam)]
struct Whose<'w, 's> {
    parents: Query<'w, 's, &'static ChildOf>,
    marked: Query<'w, 's, (), bevy_ecs::query::With<IkNotGround>>,
}

#[cfg(any(feature = "avian", feature = "rapier"))]
impl Whose<'_, '_> {
    fn counts(&self, collider: Entity, character: Entity) -> bool {
        std::iter::once(collider)
            .chain(self.parents.iter_ancestors(collider))
            .all(|above| above != character && !self.marked.contains(above))
    }
}

/// The first surface from the side of its normal, and of a slope that counts, among those that a ray passes. `cast` looks for one
/// from so many metres along the ray on.
#[cfg(any(feature = "avian", feature = "rapier"))]
fn first(
    origin: Vec3,
    direction: Vec3,
    reach: f32,
    filter: &Filter,
    cast: impl Fn(f32) -> Option<(Entity, f32, Vec3)>,
) -> Option<Hit> {
    let mut passed = 0.0;
    while passed <= reach {
        let (entity, distance, normal) = cast(passed)?;
        let distance = passed + distance;
        // A ray that begins within a solid leaves it at its other side.
        if normal.dot(direction) < 0.0 && sinew::math::acos(normal.y.clamp(-1.0, 1.0)) <= filter.max_slope {
            let hit = Hit::new(distance, origin + direction * distance, normal);
            return Some(hit.with_body(entity.to_bits()));
        }
        // Past it, by more than rounding.
        passed = distance + 1e-4 * (1.0 + reach);
    }
    None
}

/// The colliders of avian, but for sensors and for those of the character itself.
///
/// They are where the last step of physics had them.
#[cfg(feature = "avian")]
#[derive(SystemParam)]
pub struct AvianGround<'w, 's> {
    space: avian3d::prelude::SpatialQuery<'w, 's>,
    sensors: Query<'w, 's, (), bevy_ecs::query::With<avian3d::prelude::Sensor>>,
    whose: Whose<'w, 's>,
}

#[cfg(feature = "avian")]
impl GroundParam for AvianGround<'static, 'static> {
    fn cast_ray(
        param: &SystemParamItem<Self>,
        character: Entity,
        origin: Vec3,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit> {
        let along = bevy_math::Dir3::new(direction).ok()?;
        let counts = |entity| !param.sensors.contains(entity) && param.whose.counts(entity, character);
        first(origin, direction, reach, filter, |passed| {
            let (from, all) = (origin + direction * passed, &avian3d::prelude::SpatialQueryFilter::DEFAULT);
            let hit = param.space.cast_ray_predicate(from, along, reach - passed, false, all, &counts)?;
            Some((hit.entity, hit.distance, hit.normal))
        })
    }
}

/// The colliders of rapier's default context, but for sensors and for those of the character itself.
///
/// They are where the last step of physics had them.
#[cfg(feature = "rapier")]
#[derive(SystemParam)]
pub struct RapierGround<'w, 's> {
    space: bevy_rapier3d::prelude::ReadRapierContext<'w, 's>,
    whose: Whose<'w, 's>,
}

#[cfg(feature = "rapier")]
impl GroundParam for RapierGround<'static, 'static> {
    fn cast_ray(
        param: &SystemParamItem<Self>,
        character: Entity,
        origin: Vec3,
        direction: Vec3,
        reach: f32,
        filter: &Filter,
    ) -> Option<Hit> {
        use bevy_rapier3d::prelude::QueryFilter;
        let space = param.space.single().ok()?;
        let counts = |entity: Entity, _: &bevy_rapier3d::rapier::prelude::Collider| {
            param.whose.counts(entity, character)
        };
        let all = QueryFilter::new().exclude_sensors().predicate(&counts);
        space.with_query_pipeline(all, |space| {
            first(origin, direction, reach, filter, |passed| {
                let from = origin + direction * passed;
                let (entity, hit) = space.cast_ray_and_get_normal(from, direction, reach - passed, false)?;
                Some((entity, hit.time_of_impact, hit.normal))
            })
        })
    }
}
