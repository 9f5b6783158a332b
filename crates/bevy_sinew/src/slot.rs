//! Components of inverse kinematics, as a character keeps them ready.

use bevy_ecs::{change_detection::Tick, component::Component, entity::Entity, reflect::ReflectComponent};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::{
    JointId, Pose,
    glam::{Affine3, Vec3},
};

use crate::{
    IkLayer,
    binding::{Bound, Part},
    feet::FeetSlot,
    limb::LimbSlot,
    look::LookSlot,
};

/// How a component of inverse kinematics went in the last frame; on its entity, and there by itself.
#[derive(Component, Clone, Debug, PartialEq, Default, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
pub struct IkReport {
    /// How it went.
    pub status: IkStatus,
    /// Why it did not apply, for [`IkStatus::TargetLost`] and [`IkStatus::Failed`]; the bone that another component of its
    /// [`IkLayer`](crate::IkLayer) turned before it, for [`IkStatus::Solved`]; else empty. Each is logged once as a warning.
    pub problem: String,
    /// Distance in metres, in the world, from the bone to its goal. For a look-at that of the target from the gaze's ray.
    pub position_residual: f32,
    /// Angle in radians between the bone's rotation and the goal's. For a look-at that between gaze and target.
    pub rotation_residual: f32,
    /// Distance in metres, in the world, by which the goal is out of reach.
    pub out_of_reach: f32,
    /// Whether the bone is at its goal, as nearly as f32 can say.
    pub reached: bool,
}

/// How a component of inverse kinematics went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum IkStatus {
    /// It has no target or no influence, or the character has no bones yet.
    #[default]
    Idle,
    /// It applied; the other numbers say how near it came.
    Solved,
    /// Its target is gone, or has no place.
    TargetLost,
    /// It could not apply.
    Failed,
}

/// The place of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// In the character's model space.
    Model(Affine3),
    /// On a bone of the character itself (of the whole skeleton), as posed when it is needed.
    Bone(JointId, Affine3),
}

impl Source {
    /// The place in model space, by a pose of a part of the skeleton.
    pub fn place(&self, part: &Part, pose: &Pose) -> Affine3 {
        match *self {
            Self::Model(place) => place,
            Self::Bone(joint, offset) => part.joint(joint).map_or(offset, |joint| pose.model(joint) * offset),
        }
    }

    pub fn position(&self, part: &Part, pose: &Pose) -> Vec3 {
        self.place(part, pose).translation
    }

    /// The bone that it is on.
    pub fn bone(&self) -> Option<JointId> {
        match self {
            Self::Model(_) => None,
            Self::Bone(joint, _) => Some(*joint),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Kind {
    Limb(Box<LimbSlot>),
    Look(Box<LookSlot>),
    Feet(Box<FeetSlot>),
}

#[derive(Debug)]
pub(crate) struct Slot {
    /// Entity of the component.
    pub entity: Entity,
    pub layer: IkLayer,
    pub kind: Kind,
    /// When the component had changed when it was last read, and the influence of its character.
    pub seen: (Option<Tick>, f32),
    /// Why the component cannot apply as it is; else empty.
    pub wrong: String,
    /// Whether it applies in this frame.
    pub active: bool,
    /// Report to the component's entity.
    pub report: IkReport,
    /// The report has changed since it was told.
    pub news: bool,
    /// The problem that was warned of last: each is logged once.
    pub warned: String,
    /// A target that went since the last frame.
    pub lost: Option<Entity>,
    /// The entity by which the target has no place.
    pub missing: Option<Entity>,
    /// A bone that another component of its layer turns before it, in words; else empty.
    pub shares: String,
}

impl Slot {
    pub fn new(entity: Entity, layer: IkLayer, kind: Kind) -> Self {
        Self {
            entity,
            layer,
            kind,
            seen: (None, 0.0),
            wrong: String::new(),
            active: false,
            report: IkReport::default(),
            news: true,
            warned: String::new(),
            lost: None,
            missing: None,
            shares: String::new(),
        }
    }

    /// Joints of the part that it turns.
    pub fn turns(&self) -> impl Iterator<Item = JointId> + '_ {
        let (limb, look, feet) = match &self.kind {
            Kind::Limb(limb) => (Some(limb.turns()), None, None),
            Kind::Look(look) => (None, Some(look.turns()), None),
            Kind::Feet(feet) => (None, None, Some(feet.turns())),
        };
        limb.into_iter().flatten().chain(look.into_iter().flatten()).chain(feet.into_iter().flatten())
    }

    /// Bones of the whole skeleton on which its targets are.
    pub fn bones(&self) -> [Option<JointId>; 2] {
        let sources = match &self.kind {
            Kind::Limb(limb) => [limb.target, limb.pole],
            Kind::Look(look) => [look.target, None],
            Kind::Feet(_) => [None, None],
        };
        sources.map(|source| source.and_then(|source| source.bone()))
    }

    /// Joints of the whole skeleton that it needs, without those above them.
    pub fn needs(&self) -> impl Iterator<Item = JointId> + '_ {
        let own = match &self.kind {
            Kind::Limb(limb) => limb.joints.as_slice(),
            Kind::Look(look) => look.joints.as_slice(),
            Kind::Feet(feet) => feet.joints.as_slice(),
        };
        own.iter().copied().chain(self.bones().into_iter().flatten())
    }

    /// The solver was of another part.
    pub fn forget(&mut self) {
        match &mut self.kind {
            Kind::Limb(limb) => limb.solver = None,
            Kind::Look(look) => look.solver = None,
            Kind::Feet(feet) => feet.solver = None,
        }
    }

    /// Makes the solver, if it has none.
    pub fn build(&mut self, part: &Part) {
        let built = match &mut self.kind {
            Kind::Limb(limb) => limb.build(part),
            Kind::Look(look) => look.build(part),
            Kind::Feet(feet) => feet.build(part),
        };
        if let Err(problem) = built {
            self.wrong.clone_from(&problem);
            self.fail(IkStatus::Failed, || problem);
        }
    }

    /// It applied.
    pub fn solved(&mut self, report: &sinew::Report, scale: f32) {
        self.news = true;
        self.report.status = IkStatus::Solved;
        self.report.problem.clone_from(&self.shares);
        self.report.position_residual = report.position_residual * scale;
        self.report.rotation_residual = report.rotation_residual;
        self.report.out_of_reach = (report.out_of_reach * scale).min(f32::MAX);
        self.report.reached = report.reached();
    }

    /// It does not apply in this frame.
    pub fn idle(&mut self) {
        self.stop();
        if self.report.status != IkStatus::Idle {
            (self.report, self.news) = (IkReport::default(), true);
        }
    }

    /// The character is elsewhere.
    pub fn teleport(&mut self) {
        match &mut self.kind {
            Kind::Limb(_) => {}
            Kind::Look(look) => look.solver.iter_mut().for_each(|(_, state)| state.reset()),
            Kind::Feet(feet) => feet.rest(),
        }
    }

    /// Stops applying. State of earlier frames is dropped, as it is out of date after a pause.
    pub fn stop(&mut self) {
        if let (Kind::Feet(feet), true) = (&mut self.kind, self.active) {
            feet.rest();
        }
        self.active = false;
    }

    /// It cannot apply in this frame, and says why.
    pub fn fail(&mut self, status: IkStatus, problem: impl FnOnce() -> String) {
        self.stop();
        let problem = problem();
        if self.report.status != status || self.report.problem != problem {
            self.report = IkReport { status, problem, ..IkReport::default() };
            self.news = true;
        }
    }
}

/// The components of inverse kinematics on an entity.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Has {
    pub limb: bool,
    pub look: bool,
    pub feet: bool,
}

impl Bound {
    /// Makes the slots anew, keeping those that are there.
    pub fn set_slots(&mut self, wanted: &[(IkLayer, Entity, Has)]) {
        let mut old = std::mem::take(&mut self.slots);
        for &(layer, entity, has) in wanted {
            let fresh = [
                has.feet.then(|| Kind::Feet(Box::default())),
                has.look.then(|| Kind::Look(Box::default())),
                has.limb.then(|| Kind::Limb(Box::default())),
            ];
            for kind in fresh.into_iter().flatten() {
                let same = |slot: &Slot| {
                    slot.entity == entity
                        && std::mem::discriminant(&slot.kind) == std::mem::discriminant(&kind)
                };
                let mut slot = match old.iter().position(same) {
                    Some(at) => old.swap_remove(at),
                    None => Slot::new(entity, layer, kind),
                };
                slot.layer = layer;
                self.slots.push(slot);
            }
        }
        self.unplanned = true;
    }
}
