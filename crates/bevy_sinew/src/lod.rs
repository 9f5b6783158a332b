//! Level of detail.

use bevy_ecs::{component::Component, entity::Entity, reflect::ReflectComponent};
use bevy_math::Vec3;
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::{JointTransform, math};

/// Saves the inverse kinematics of a character, on its entity, that is far from all [`IkViewer`]s.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// use bevy_sinew::{FootPlanting, IkLod, IkSkeleton, IkViewer};
/// # fn system(mut commands: Commands, camera: Entity) {
/// commands.entity(camera).insert(IkViewer);
/// commands.spawn((IkSkeleton::default(), FootPlanting::default(), IkLod { distance: 30.0, rate: 0.0 }));
/// # }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
pub struct IkLod {
    /// Distance in metres, in the world, from the nearest viewer beyond which it saves; infinite by default.
    pub distance: f32,
    /// Number of solves per second beyond that distance. In the frames between, bones turn with the animation and keep the difference
    /// that the last solve made. A target that has moved or was lost takes effect at the next solve; an
    /// [`IkSkeleton::influence`](crate::IkSkeleton::influence) of 0 takes effect in the same frame. At a rate of 0 (the default) it is
    /// not solved at all; its influence then fades over the last tenth of the distance, so that nothing jumps.
    pub rate: f32,
}

impl Default for IkLod {
    fn default() -> Self {
        Self { distance: f32::INFINITY, rate: 0.0 }
    }
}

/// Marks what sees characters, for their [`IkLod`]: the camera, most often. Without any, all are near.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Default, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
pub struct IkViewer;

/// What a character does in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Detail {
    /// It is solved, with this share.
    Solve(f32),
    /// It keeps what the last solve did.
    Hold,
}

/// Share of the distance over which the influence fades.
const FADE: f32 = 0.1;

/// The time that a character waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    /// Seconds since it was last solved; `None` while it is solved in each frame.
    since: Option<f32>,
}

impl Waiting {
    /// What to do in a frame of `dt` seconds, and how many seconds a solve stands for. `far` is the distance from the nearest viewer.
    pub fn step(&mut self, lod: &IkLod, far: f32, character: Entity, dt: f32) -> (Detail, f32) {
        // Numbers that are none save nothing.
        let saves = far >= lod.distance && lod.rate >= 0.0;
        if !saves {
            self.since = None;
            let room = (lod.distance - far) / (FADE * lod.distance);
            let fades = lod.rate == 0.0 && lod.distance.is_finite() && far.is_finite();
            let share = if fades { room.clamp(0.0, 1.0) } else { 1.0 };
            return (Detail::Solve(share), dt);
        }
        if lod.rate == 0.0 {
            self.since = None;
            return (Detail::Solve(0.0), dt);
        }
        let period = lod.rate.recip();
        // Characters that go far together take turns: multiples of the golden ratio are spread evenly.
        let turn = || (character.index_u32() as f32 * 0.618_034).fract();
        let since = self.since.get_or_insert_with(|| period * turn());
        *since += dt;
        if *since < period {
            return (Detail::Hold, dt);
        }
        let waited = std::mem::replace(since, (*since - period).min(period));
        (Detail::Solve(1.0), waited.min(period + dt))
    }
}

impl Waiting {
    /// Whether it is solved in some frames only.
    pub fn waits(&self) -> bool {
        self.since.is_some()
    }
}

/// The distance from the nearest viewer; without any, less than all.
pub(crate) fn distance(viewers: &[Vec3], at: Vec3) -> f32 {
    viewers.iter().map(|viewer| viewer.distance(at)).reduce(f32::min).unwrap_or(f32::NEG_INFINITY)
}

/// A bone at a solve: without it, and with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Difference {
    pub before: JointTransform,
    pub after: JointTransform,
}

impl Difference {
    /// What the solve's difference makes of a bone.
    pub fn of(&self, now: &JointTransform) -> JointTransform {
        if *now == self.before {
            return self.after;
        }
        let turned = math::mul(math::conjugate(self.before.rotation), self.after.rotation);
        JointTransform {
            translation: now.translation + (self.after.translation - self.before.translation),
            rotation: math::normalize(math::mul(now.rotation, turned)),
            scale: now.scale,
        }
    }
}
