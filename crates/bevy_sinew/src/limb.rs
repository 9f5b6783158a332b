//! Two-boned limbs.

use bevy_ecs::{component::Component, entity::Entity, reflect::ReflectComponent};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use bevy_transform::components::Transform;
use sinew::{
    Goal, JointId, Pole, Pose, Report, SolveError,
    body::{Role, Side},
    glam::Affine3,
    math,
    solve::{LimbOptions, TwoBone},
};

use crate::{
    IkBone, IkLayer, IkReport, IkStatus,
    binding::{Bound, Part},
    slot::{Kind, Slot, Source},
    template::template,
    transform::from_bevy,
};

/// Brings the end of an arm or a leg to a target: the shoulder and the elbow follow, by the cosine rule.
///
/// It may be on the character or on any entity below it, and a character has as many as there are such entities. Those of
/// one [`IkLayer`] apply in the order of the tree, those of lower layers first. A target, or an entity above it, may be a bone
/// of the same character: the place that earlier ones have given it counts.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// use bevy_sinew::{IkSkeleton, LimbIk};
/// use sinew::body::{Role, Side};
/// # fn system(mut commands: Commands, lever: Entity, wheel: Entity) {
/// commands.spawn((IkSkeleton::default(), children![
///     LimbIk::new(Role::Hand(Side::Left)).at(lever),
///     LimbIk::new("hand.R").at(wheel).with_rotation(1.0),
/// ]));
/// # }
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(IkReport, IkLayer)]
pub struct LimbIk {
    /// The bone at the limb's end: a hand, a foot, or a bone with two others above it.
    #[entities]
    pub tip: IkBone,
    /// The entity that the tip goes to; `None` for no goal. Its place is that of this frame: what moved it or anything above
    /// it before [`IkSystems::Gather`](crate::IkSystems::Gather) counts.
    #[entities]
    pub target: Option<Entity>,
    /// The entity towards which the middle joint bends; `None` keeps the bend of the animation.
    #[entities]
    pub pole: Option<Entity>,
    /// Share of the target's position that applies, 0 to 1 (the default).
    pub position_influence: f32,
    /// Share of the target's rotation that applies, 0 (the default: the tip keeps its rotation relative to the limb) to 1.
    pub rotation_influence: f32,
    /// Share of the pole that applies, 0 to 1 (the default).
    pub pole_influence: f32,
    /// The goal in the target's space, for a grip beside the target's origin.
    pub offset: Transform,
    /// Length of the soft zone before full extension, as a share of the reach, 0 (the default) to 1: within it the limb slows
    /// down, so that it does not snap straight.
    pub soft: f32,
}

template! {
    /// The template of a [`LimbIk`]. In `bsn!`, `target: OptionTemplate::Some(#Lever)` names an entity of the scene.
    LimbIkTemplate for LimbIk {
        target, pole, ;
        tip: IkBone,
        position_influence: f32,
        rotation_influence: f32,
        pole_influence: f32,
        offset: Transform,
        soft: f32,
    }
}

impl Default for LimbIk {
    fn default() -> Self {
        Self {
            tip: IkBone::default(),
            target: None,
            pole: None,
            position_influence: 1.0,
            rotation_influence: 0.0,
            pole_influence: 1.0,
            offset: Transform::IDENTITY,
            soft: 0.0,
        }
    }
}

impl LimbIk {
    /// A limb without a target yet.
    pub fn new(tip: impl Into<IkBone>) -> Self {
        Self { tip: tip.into(), ..Self::default() }
    }

    /// Sets [`target`](Self::target).
    #[must_use]
    pub fn at(self, target: Entity) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Sets [`pole`](Self::pole).
    #[must_use]
    pub fn with_pole(self, pole: Entity) -> Self {
        Self { pole: Some(pole), ..self }
    }

    /// Sets [`rotation_influence`](Self::rotation_influence).
    #[must_use]
    pub fn with_rotation(self, influence: f32) -> Self {
        Self { rotation_influence: influence, ..self }
    }

    /// Sets [`offset`](Self::offset).
    #[must_use]
    pub fn with_offset(self, offset: Transform) -> Self {
        Self { offset, ..self }
    }

    /// Sets [`soft`](Self::soft).
    #[must_use]
    pub fn with_soft(self, soft: f32) -> Self {
        Self { soft, ..self }
    }
}

/// A limb as a character keeps it ready.
#[derive(Debug, Default)]
pub(crate) struct LimbSlot {
    /// The tip for which `joints` were looked up.
    tip: IkBone,
    /// Root, middle and tip, of the whole skeleton; empty if they were not found.
    pub joints: Vec<JointId>,
    /// On the part.
    pub solver: Option<TwoBone>,
    pub target: Option<Source>,
    pub pole: Option<Source>,
    goal: Goal,
    options: LimbOptions,
    pole_influence: f32,
    /// The goal in the target's space.
    offset: Affine3,
}

impl LimbSlot {
    pub fn turns(&self) -> impl Iterator<Item = JointId> + '_ {
        self.solver.iter().flat_map(|solver| solver.chain().joints().iter().copied())
    }

    /// Reads the component. Returns whether it has other joints than before.
    pub fn read(&mut self, limb: &LimbIk, influence: f32, bound: &Bound) -> Result<bool, String> {
        self.goal = Goal::new().with_position_influence(limb.position_influence);
        self.goal.rotation_influence = limb.rotation_influence;
        self.options = LimbOptions::new().with_influence(influence).with_soft(limb.soft);
        self.pole_influence = limb.pole_influence;
        self.offset = from_bevy(&limb.offset).to_affine();
        if !self.joints.is_empty() && self.tip == limb.tip {
            return Ok(false);
        }
        self.tip = limb.tip.clone();
        self.solver = None;
        self.joints.clear();
        self.joints.extend(joints(&limb.tip, bound)?);
        Ok(true)
    }

    pub fn build(&mut self, part: &Part) -> Result<(), String> {
        if self.solver.is_some() {
            return Ok(());
        }
        let mut joints = self.joints.iter().map(|&joint| part.joint(joint));
        if let (Some(Some(root)), Some(Some(middle)), Some(Some(tip))) =
            (joints.next(), joints.next(), joints.next())
        {
            let solver =
                TwoBone::new(&part.skeleton, root, middle, tip).map_err(|error| error.to_string())?;
            self.solver = Some(solver);
        }
        Ok(())
    }

    fn solve(&self, part: &Part, pose: &mut Pose) -> Option<Result<Report, SolveError>> {
        let (solver, target) = (self.solver.as_ref()?, self.target?);
        let place = target.place(part, pose) * self.offset;
        let mut goal = self.goal.with_position(place.translation);
        if self.goal.rotation_influence > 0.0 {
            goal = goal.with_rotation(math::rotation_of(&place.matrix3));
        }
        if self.pole.is_some() && !(0.0..=1.0).contains(&self.pole_influence) {
            let (what, range, value) = ("the pole's influence", "0 to 1", self.pole_influence);
            return Some(Err(SolveError::OutOfRange { what, range, value }));
        }
        let Some(pole) =
            self.pole.filter(|_| self.pole_influence > 0.0).map(|pole| pole.position(part, pose))
        else {
            return Some(solver.solve(pose, &goal, &self.options));
        };
        if self.pole_influence >= 1.0 {
            return Some(solver.solve(pose, &goal.with_pole(Pole::Point(pole)), &self.options));
        }
        // A share of the angle between the bend that the animation has there and the pole.
        let report = match solver.solve(pose, &goal, &self.options) {
            Ok(report) => report,
            Err(error) => return Some(Err(error)),
        };
        let points = solver.points(pose);
        let axis = (points.tip - points.root).normalize_or_zero();
        let [bend, wanted] = [points.middle, pole].map(|point| {
            let way = point - points.root;
            (way - axis * way.dot(axis)).normalize_or_zero()
        });
        let angle = math::atan2(bend.cross(wanted).dot(axis), bend.dot(wanted));
        if angle == 0.0 {
            return Some(Ok(report));
        }
        Some(solver.solve(pose, &goal.with_swivel(angle * self.pole_influence), &self.options))
    }
}

/// The limb of a tip, from its root: that of a body's hand or foot, else the two bones above.
fn joints(tip: &IkBone, bound: &Bound) -> Result<[JointId; 3], String> {
    let skeleton = &bound.kit.skeleton;
    let joint = bound.find(tip).map_err(|error| error.to_string())?;
    let body = bound.kit.body.as_ref().ok();
    let of_body = body.and_then(|body| {
        let of = |role| Some(body.joint(role)? == joint);
        let sides = [Side::Left, Side::Right];
        sides.into_iter().find_map(|side| {
            if of(Role::Hand(side))? {
                Some((body.joint(Role::UpperArm(side))?, body.joint(Role::Forearm(side))?))
            } else if of(Role::Foot(side))? {
                Some((body.joint(Role::Thigh(side))?, body.joint(Role::Shin(side))?))
            } else {
                None
            }
        })
    });
    let above = || {
        let middle = skeleton.parent(joint)?;
        Some((skeleton.parent(middle)?, middle))
    };
    let (root, middle) = of_body
        .or_else(above)
        .ok_or_else(|| format!("bone `{}` has no two bones above it", skeleton.name(joint)))?;
    Ok([root, middle, joint])
}

/// Solves one slot, if it is a limb that applies.
pub(crate) fn apply(slot: &mut Slot, part: &Part, pose: &mut Pose, scale: f32) {
    let Kind::Limb(limb) = &slot.kind else { return };
    if !slot.active {
        return;
    }
    match limb.solve(part, pose) {
        Some(Ok(report)) => slot.solved(&report, scale),
        Some(Err(error)) => slot.fail(IkStatus::Failed, || error.to_string()),
        // It could not be made.
        None => {}
    }
}
