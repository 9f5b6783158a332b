//! What inverse kinematics does, as shapes to draw.

use std::cell::RefCell;

use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::{
    Goal, JointId, Report,
    draw::DrawList,
    glam::{Affine3, Vec3},
    ground::{Filter, Ground, Hit},
};

use crate::{IkBinding, IkStatus, binding::Bound, slot::Kind};

/// What is drawn of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub struct IkDraw {
    /// Bones that inverse kinematics reads and turns.
    pub bones: bool,
    /// Limits of joints, and where the joints are within them.
    pub limits: bool,
    /// Targets and poles, with dashed lines to those that are missed.
    pub goals: bool,
    /// Rays that were cast at the ground. They are kept from the frame on that follows the first drawing.
    pub casts: bool,
    /// Soles of feet that stand.
    pub soles: bool,
}

impl Default for IkDraw {
    fn default() -> Self {
        Self { bones: true, limits: true, goals: true, casts: true, soles: true }
    }
}

/// Half width of a bone as a share of its length.
const THICKNESS: f32 = 0.08;

/// Sizes of marks and radii of limits, as shares of the character's size.
const MARK: f32 = 0.025;
const RADIUS: f32 = 0.06;

impl IkBinding {
    /// Adds the shapes of this frame to a list, in model space: the space of the character's entity. It draws nothing while
    /// nothing applies.
    ///
    /// This is what the gizmos show, for a renderer of one's own.
    pub fn draw(&mut self, what: &IkDraw, list: &mut DrawList) {
        let Some(bound) = self.bound.as_deref_mut() else { return };
        bound.records = what.casts;
        if bound.awake {
            bound.draw(what, list);
        }
    }

    /// From model space to the world in this frame; `None` while nothing applies.
    pub fn world_from_model(&self) -> Option<Affine3> {
        Some(self.bound.as_deref()?.place?.world)
    }
}

impl Bound {
    fn draw(&self, what: &IkDraw, list: &mut DrawList) {
        let (pose, size) = (&self.pose, self.kit.size);
        let joints = || self.part.skeleton.joints().map(|joint| (joint, None));
        if what.bones {
            list.bones(pose, joints(), THICKNESS);
        }
        if what.limits {
            let limited =
                joints().filter(|(joint, _)| *self.part.skeleton.joint(*joint) != sinew::joint::Joint::FREE);
            list.limits(pose, limited, RADIUS * size);
        }
        for slot in self.slots.iter().filter(|slot| slot.active) {
            if what.goals {
                for (n, target) in slot.targets.iter().enumerate() {
                    let place = target.place(&self.part, pose);
                    match slot.handle.goal(n, place) {
                        Some((tip, goal)) => {
                            list.solved_goal(&goal, pose.position(tip), &told(slot), MARK * size, None);
                        }
                        None if slot.kind == Kind::Limb && n == 1 => {
                            let mut turned = [None; 3];
                            let mut at = 0;
                            slot.handle.turns(&mut |joint| {
                                if at < 3 {
                                    turned[at] = Some(joint);
                                }
                                at += 1;
                            });
                            if let Some(middle) = turned[1] {
                                list.pole(pose.position(middle), place.translation, MARK * size, None);
                            }
                        }
                        None => list.goal(place.translation, MARK * size, None),
                    }
                }
            }
            let (soles, casts) = slot.handle.feet();
            if let Some(place) = self.place.filter(|_| what.casts) {
                let model = |point: Vec3| place.model_from_world.transform_point3(point);
                for &Ray { from, to, hit } in casts {
                    list.ray(model(from), model(to), hit, 0.3 * MARK * size);
                }
            }
            if what.soles {
                for points in soles.iter().flatten() {
                    list.path(points.map(|(joint, point)| pose.model(joint).transform_point3(point)), None);
                }
            }
        }
    }
}

/// The report of a slot, in model space.
fn told(slot: &crate::slot::Slot) -> Report {
    let mut report = Report::default();
    if slot.report.status == IkStatus::Solved && !slot.report.reached {
        let metre = if slot.scale > 0.0 { slot.scale } else { 1.0 };
        report.position_residual = slot.report.position_residual / metre;
        report.out_of_reach = slot.report.out_of_reach / metre;
    }
    report
}

/// Heel, ball and tip of a foot that stands: each in the space of a joint of the part.
pub(crate) type StandingSole = Option<[(JointId, Vec3); 3]>;

/// A ray that was cast at the ground, in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub from: Vec3,
    pub to: Vec3,
    pub hit: bool,
}

/// A goal of a bone: the bone's joint of the part.
pub(crate) type Led = Option<(JointId, Goal)>;

/// Keeps the rays that are cast at a ground.
pub(crate) struct Recorder<'a> {
    pub ground: &'a dyn Ground,
    pub rays: RefCell<&'a mut Vec<Ray>>,
}

impl Ground for Recorder<'_> {
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        let hit = self.ground.cast_ray(origin, direction, reach, filter);
        let to = hit.map_or(origin + direction * reach, |hit| hit.point);
        self.rays.borrow_mut().push(Ray { from: origin, to, hit: hit.is_some() });
        hit
    }
}

#[cfg(feature = "gizmos")]
pub use gizmos::IkGizmos;
#[cfg(feature = "gizmos")]
pub(crate) use gizmos::build;

#[cfg(feature = "gizmos")]
mod gizmos {
    use bevy_app::{App, PostUpdate};
    use bevy_color::Color;
    use bevy_ecs::{
        change_detection::DetectChangesMut,
        schedule::IntoScheduleConfigs,
        system::{Local, Query},
    };
    use bevy_gizmos::{
        AppGizmoBuilder,
        config::{GizmoConfig, GizmoConfigGroup},
        gizmos::Gizmos,
    };
    use bevy_math::Isometry3d;
    use bevy_reflect::{Reflect, std_traits::ReflectDefault};
    use sinew::draw::{DrawList, ShapeKind, Theme};

    use super::IkDraw;
    use crate::{IkBinding, IkSystems};

    /// The gizmos of all characters: a config group, which is off at first.
    ///
    /// ```
    /// use bevy_gizmos::config::GizmoConfigStore;
    /// use bevy_ecs::prelude::*;
    /// use bevy_sinew::IkGizmos;
    /// fn show(mut config: ResMut<GizmoConfigStore>) {
    ///     let (config, group) = config.config_mut::<IkGizmos>();
    ///     config.enabled = true;
    ///     group.draw.casts = false;
    /// }
    /// ```
    #[derive(Clone, Copy, Debug, Default, Reflect, GizmoConfigGroup)]
    #[reflect(Default, Clone, Debug)]
    pub struct IkGizmos {
        /// What is drawn.
        pub draw: IkDraw,
        /// Whether the background is dark.
        pub dark: bool,
    }

    pub(crate) fn build(app: &mut App) {
        let config = GizmoConfig { enabled: false, depth_bias: -1.0, ..GizmoConfig::default() };
        app.insert_gizmo_config(IkGizmos::default(), config);
        app.add_systems(PostUpdate, draw.after(IkSystems::Write).before(IkSystems::Attach));
    }

    fn draw(mut characters: Query<&mut IkBinding>, mut gizmos: Gizmos<IkGizmos>, mut list: Local<DrawList>) {
        if !gizmos.config.enabled {
            return;
        }
        let what = gizmos.config_ext.draw;
        let theme = if gizmos.config_ext.dark { Theme::Dark } else { Theme::Light };
        for mut binding in &mut characters {
            let binding = binding.bypass_change_detection();
            list.clear();
            binding.draw(&what, &mut list);
            let Some(world) = binding.world_from_model() else { continue };
            for shape in list.shapes() {
                let [red, green, blue] = theme.color_of(shape);
                let color = Color::srgb_u8(red, green, blue);
                let points = list.points(shape).iter().map(|point| world.transform_point3(*point));
                match shape.kind {
                    ShapeKind::Polyline => gizmos.linestrip(points, color),
                    ShapeKind::Segments => {
                        let mut points = points;
                        while let (Some(from), Some(to)) = (points.next(), points.next()) {
                            gizmos.line(from, to, color);
                        }
                    }
                    // Their edges.
                    ShapeKind::Triangles => {
                        let mut points = points;
                        while let (Some(a), Some(b), Some(c)) = (points.next(), points.next(), points.next())
                        {
                            gizmos.linestrip([a, b, c, a], color);
                        }
                    }
                    ShapeKind::Discs { radius } => {
                        let radius = radius * sinew::math::uniform_scale(&world.matrix3).abs();
                        for point in points {
                            gizmos.sphere(Isometry3d::from_translation(point), radius, color);
                        }
                    }
                    // Areas have outlines of their own.
                    _ => {}
                }
            }
        }
    }
}
