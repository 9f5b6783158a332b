//! Two-boned limbs.

use bevy_ecs::{component::Component, entity::Entity, reflect::ReflectComponent};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use bevy_transform::components::Transform;
use sinew::{
    Chain, Goal, JointId, Pole, Pose, Report, SolveError,
    body::{Role, Side},
    glam::{Affine3, Vec3},
    joint::Joint,
    math,
    solve::{LimbOptions, TwoBone},
};

use crate::{
    IkBone, IkLayer, IkReport,
    aim::Aim,
    binding::{Bound, Kit, Part},
    draw::Led,
    slot::{Action, Components, Frame, Handle},
    template::template,
};

/// Brings the end of an arm or a leg to a target: the shoulder and the elbow follow, by the cosine rule. An elbow with
/// [`IkLimits`](crate::IkLimits) that make it a hinge keeps them.
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
    joints: Vec<JointId>,
    /// On the part.
    solver: Option<TwoBone>,
    aim: Aim,
    options: LimbOptions,
    /// `None` for no pole.
    pole_influence: Option<f32>,
}

impl Handle for LimbSlot {
    fn read(
        &mut self,
        (components, entity): (&Components, Entity),
        influence: f32,
        bound: &Bound,
        targets: &mut Vec<Entity>,
    ) -> Result<Action, String> {
        let Ok(limb) = components.limb.get(entity) else { return Ok(Action::Nothing) };
        self.aim = Aim::new(limb.position_influence, limb.rotation_influence, &limb.offset);
        self.options = LimbOptions::new().with_influence(influence).with_soft(limb.soft);
        self.pole_influence = limb.pole.map(|_| limb.pole_influence);
        // NaN and what is out of range go on, to the solver that refuses them.
        let Some(target) =
            limb.target.filter(|_| self.aim.applies() || self.pole_influence.unwrap_or(0.0) != 0.0)
        else {
            return Ok(Action::Nothing);
        };
        targets.extend([Some(target), limb.pole].into_iter().flatten());
        if !self.joints.is_empty() && self.tip == limb.tip {
            return Ok(Action::Solve { fresh: false });
        }
        self.tip = limb.tip.clone();
        self.solver = None;
        self.joints.clear();
        self.joints.extend(joints(&limb.tip, bound)?);
        Ok(Action::Solve { fresh: true })
    }

    fn joints(&self) -> &[JointId] {
        &self.joints
    }

    fn turns(&self, visit: &mut dyn FnMut(JointId)) {
        self.solver.iter().flat_map(|solver| solver.chain().joints()).for_each(|&joint| visit(joint));
    }

    fn forget(&mut self) {
        self.solver = None;
    }

    fn build(&mut self, part: &Part, _: &Kit) -> Result<(), String> {
        if let (None, &[root, middle, tip]) = (&self.solver, self.joints.as_slice())
            && let [Some(root), Some(middle), Some(tip)] = [root, middle, tip].map(|joint| part.joint(joint))
        {
            let skeleton = &part.skeleton;
            let limited = [root, middle].iter().any(|&joint| *skeleton.joint(joint) != Joint::FREE);
            let solver = if limited {
                let chain = Chain::new(skeleton, root, tip).map_err(|error| error.to_string())?;
                TwoBone::within_limits(skeleton, chain, middle)
            } else {
                TwoBone::new(skeleton, root, middle, tip)
            };
            self.solver = Some(solver.map_err(|error| error.to_string())?);
        }
        Ok(())
    }

    fn goal(&self, target: usize, place: Affine3) -> Led {
        let tip = *self.solver.as_ref().filter(|_| target == 0)?.chain().joints().last()?;
        Some((tip, self.aim.goal(place)))
    }

    fn solve(&mut self, pose: &mut Pose, frame: &Frame) -> Option<Result<Report, String>> {
        let solver = self.solver.as_ref()?;
        let goal = self.aim.goal(frame.targets.first()?.place(frame.part, pose));
        let pole = frame.targets.get(1).map(|pole| pole.position(frame.part, pose));
        Some(self.bent(solver, pose, &goal, pole).map_err(|error| error.to_string()))
    }
}

impl LimbSlot {
    /// Solves with a share of a pole.
    fn bent(
        &self,
        solver: &TwoBone,
        pose: &mut Pose,
        goal: &Goal,
        pole: Option<Vec3>,
    ) -> Result<Report, SolveError> {
        let share = self.pole_influence.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&share) {
            let (what, range) = ("the pole's influence", "0 to 1");
            return Err(SolveError::OutOfRange { what, range, value: share });
        }
        let Some(pole) = pole.filter(|_| share > 0.0) else { return solver.solve(pose, goal, &self.options) };
        if share >= 1.0 {
            return solver.solve(pose, &goal.with_pole(Pole::Point(pole)), &self.options);
        }
        // A share of the angle between the bend that the animation has there and the pole.
        let report = solver.solve(pose, goal, &self.options)?;
        let points = solver.points(pose);
        let axis = (points.tip - points.root).normalize_or_zero();
        let [bend, wanted] = [points.middle, pole].map(|point| {
            let way = point - points.root;
            (way - axis * way.dot(axis)).normalize_or_zero()
        });
        let angle = math::atan2(bend.cross(wanted).dot(axis), bend.dot(wanted));
        if angle == 0.0 {
            return Ok(report);
        }
        solver.solve(pose, &goal.with_swivel(angle * share), &self.options)
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
