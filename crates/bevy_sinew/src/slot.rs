//! Components of inverse kinematics, as a character keeps them ready.

use std::cell::Cell;

use bevy_ecs::{
    change_detection::{DetectChanges, Ref, Tick},
    component::Component,
    entity::Entity,
    reflect::ReflectComponent,
    system::{Query, SystemParam},
};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::{
    JointId, Pose,
    glam::{Affine3, Mat3, Vec3},
    ground::Ground,
    math,
};

use crate::{
    ChainIk, CreatureWalk, DragIk, FootPlanting, FullBodyIk, IkJoint, IkLayer, IkRig, LimbIk, LookAtIk,
    MechanismIk,
    binding::{Bound, Kept, Kit, Part},
    body::BodySlot,
    chain::ChainSlot,
    creature::CreatureSlot,
    drag::DragSlot,
    draw::{Led, Ray, StandingSole},
    feet::FeetSlot,
    gather::{NoPlace, Places},
    limb::LimbSlot,
    look::LookSlot,
    mechanism::MechanismSlot,
    rig::{RigSlot, Rigs},
};

/// How a component of inverse kinematics went in the last frame; on its entity, and there by itself. Where an entity has several, it is
/// that of one that could not apply, else that of the last one. The numbers are those of the moment at which the component applied:
/// what applies after it may move its bone again.
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
    /// Seconds of the coming animation that [`FootPlanting`](crate::FootPlanting) knows: of players of Bevy's own, with any
    /// graph. 0 where it goes by frames alone, and for other components.
    pub look_ahead: f32,
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
    /// Its target or its platform was despawned, or has no `Transform`.
    TargetLost,
    /// It could not apply.
    Failed,
}

impl IkStatus {
    /// Of several reports, that of the highest rank is told.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Idle => 0,
            Self::Solved => 1,
            Self::TargetLost | Self::Failed => 2,
        }
    }
}

/// The place of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// Elsewhere in the world, in the character's model space.
    World(Affine3),
    /// Hanging from the character, in its model space.
    Model(Affine3),
    /// On a bone of the character itself (of the whole skeleton), as posed when it is needed.
    Bone(JointId, Affine3),
}

impl Source {
    /// The place in model space, by a pose of a part of the skeleton.
    pub fn place(&self, part: &Part, pose: &Pose) -> Affine3 {
        match *self {
            Self::World(place) | Self::Model(place) => place,
            Self::Bone(joint, offset) => part.joint(joint).map_or(offset, |joint| pose.model(joint) * offset),
        }
    }

    pub fn position(&self, part: &Part, pose: &Pose) -> Vec3 {
        self.place(part, pose).translation
    }

    /// The character's model space has moved: `moved` takes places from what it was.
    pub fn leave_behind(&mut self, moved: &Affine3) {
        if let Self::World(place) = self {
            *place = *moved * *place;
        }
    }

    /// The bone that it is on.
    pub fn bone(&self) -> Option<JointId> {
        match self {
            Self::World(_) | Self::Model(_) => None,
            Self::Bone(joint, _) => Some(*joint),
        }
    }
}

/// The components of inverse kinematics, in the order in which those of an entity apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Walk,
    Feet,
    Look,
    Limb,
    Chain,
    Body,
    Drag,
    Mechanism,
    Rig,
}

/// The set of the frame in which a kind applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Feet,
    Look,
    Limbs,
    Body,
}

impl Kind {
    pub fn stage(self) -> Stage {
        match self {
            Self::Walk | Self::Feet => Stage::Feet,
            Self::Look => Stage::Look,
            Self::Limb | Self::Chain => Stage::Limbs,
            Self::Body | Self::Drag | Self::Mechanism | Self::Rig => Stage::Body,
        }
    }

    fn handle(self) -> Box<dyn Handle> {
        match self {
            Self::Walk => Box::<CreatureSlot>::default(),
            Self::Feet => Box::<FeetSlot>::default(),
            Self::Look => Box::<LookSlot>::default(),
            Self::Limb => Box::<LimbSlot>::default(),
            Self::Chain => Box::<ChainSlot>::default(),
            Self::Body => Box::<BodySlot>::default(),
            Self::Drag => Box::<DragSlot>::default(),
            Self::Mechanism => Box::<MechanismSlot>::default(),
            Self::Rig => Box::<RigSlot>::default(),
        }
    }
}

/// Declares what is asked of all components of inverse kinematics.
macro_rules! kinds {
    ($($kind:ident $field:ident: $component:ident,)*) => {
        /// The components of an entity, for any that has one.
        pub(crate) type Slots = ($($component,)*);

        /// Those that an entity has.
        pub(crate) type HasSlots = ($(bevy_ecs::query::Has<$component>,)*);

        /// An entity that has one.
        pub(crate) type WithSlots = bevy_ecs::query::Or<($(bevy_ecs::query::With<$component>,)*)>;

        /// The kinds that an entity has.
        pub(crate) fn kinds_of(($($field,)*): ($(kinds!(@bool $component),)*)) -> impl Iterator<Item = Kind> {
            [$($field.then_some(Kind::$kind),)*].into_iter().flatten()
        }

        /// The components of all entities.
        #[derive(SystemParam)]
        pub(crate) struct Components<'w, 's> {
            $(pub $field: Query<'w, 's, Ref<'static, $component>>,)*
            /// Rigs, which components name.
            pub rigs: Rigs<'w>,
        }

        impl Components<'_, '_> {
            /// When a component changed; `None` if it is not there any more.
            fn changed(&self, kind: Kind, entity: Entity) -> Option<Tick> {
                match kind {
                    $(Kind::$kind => self.$field.get(entity).ok().map(|component| component.last_changed()),)*
                }
            }
        }
    };
    (@bool $component:ident) => { bool };
}

kinds! {
    Walk walk: CreatureWalk,
    Feet feet: FootPlanting,
    Look look: LookAtIk,
    Limb limb: LimbIk,
    Chain chain: ChainIk,
    Body body: FullBodyIk,
    Drag drag: DragIk,
    Mechanism mechanism: MechanismIk,
    Rig rig: IkRig,
}

/// Action that a component takes in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Nothing: it has no target or no influence, or it was removed.
    Nothing,
    /// To be solved. `fresh`: with other joints than before.
    Solve { fresh: bool },
}

/// Inputs of a solve beside the pose.
pub(crate) struct Frame<'a> {
    pub part: &'a Part,
    pub joints: &'a [(Entity, Kept)],
    /// Positions of the targets, in the order of the requests.
    pub targets: &'a [Source],
    pub ground: &'a dyn Ground,
    /// Seconds since the last frame.
    pub dt: f32,
    /// Whether casts are kept, to be drawn.
    pub records: bool,
}

/// A component of inverse kinematics, as a character keeps it ready.
pub(crate) trait Handle: core::fmt::Debug + Send + Sync {
    /// Reads the component, which has changed since it was last read, and names its targets. `influence` is the character's.
    fn read(
        &mut self,
        component: (&Components, Entity),
        influence: f32,
        bound: &Bound,
        targets: &mut Vec<Entity>,
    ) -> Result<Action, String>;

    /// Reads the place of a platform. `world` is the character's place. An error names the platform and the reason.
    fn place(&mut self, _world: &Affine3, _places: &Places, _bound: &Bound) -> Result<(), (Entity, NoPlace)> {
        Ok(())
    }

    /// Joints of the whole skeleton that it needs, without those above them.
    fn joints(&self) -> &[JointId];

    /// Whether it needs all joints.
    fn needs_all(&self) -> bool {
        false
    }

    /// Calls for each joint of the part that it turns or moves.
    fn turns(&self, visit: &mut dyn FnMut(JointId));

    /// The solver was of another part.
    fn forget(&mut self);

    /// Makes the solver, if it has none.
    fn build(&mut self, part: &Part, kit: &Kit) -> Result<(), String>;

    /// Drops what it kept from the last frame: the character is elsewhere, or it did not apply for a while.
    fn rest(&mut self) {}

    /// Drops what it kept of the character's place.
    fn teleport(&mut self) {
        self.rest();
    }

    /// Whether bones keep what it wrote when it ends.
    fn leaves(&self) -> bool {
        false
    }

    /// Solves. `None` if there is no solver.
    fn solve(&mut self, pose: &mut Pose, frame: &Frame) -> Option<Result<sinew::Report, String>>;

    /// Seconds of the coming animation that it knows.
    fn look_ahead(&self) -> f32 {
        0.0
    }

    /// The bone that goes to a target, by the target's number and place, and its goal.
    fn goal(&self, _target: usize, _place: Affine3) -> Led {
        None
    }

    /// Soles of feet that stand, and the rays that were cast for them.
    fn feet(&self) -> ([StandingSole; 2], &[Ray]) {
        ([None; 2], &[])
    }

    /// Feet that landed or lifted in this frame.
    fn contacts(&mut self) -> Option<&mut Vec<(bool, crate::FootContact)>> {
        None
    }

    /// How a creature walks.
    fn walked(&self) -> Option<&crate::CreatureReport> {
        None
    }

    /// The character's place in the world in this frame, and that to which it is moved.
    fn placed(&self) -> Option<(Affine3, Affine3)> {
        None
    }

    /// Values of joint space.
    fn values(&self) -> Option<&[f64]> {
        None
    }
}

#[derive(Debug)]
pub(crate) struct Slot {
    /// Entity of the component.
    pub entity: Entity,
    pub layer: IkLayer,
    pub kind: Kind,
    pub handle: Box<dyn Handle>,
    /// When the component had changed when it was last read, and the influence of its character.
    seen: Option<(Tick, f32)>,
    /// What it asked for then, or why it cannot apply as it is.
    action: Result<Action, String>,
    /// The entities that it asked for, and their places in this frame.
    wanted: Vec<Entity>,
    pub targets: Vec<Source>,
    /// Whether one of them may hang from a bone of another character.
    pub others: bool,
    /// Whether it applies in this frame.
    pub active: bool,
    /// Report to the component's entity.
    pub report: IkReport,
    /// Metres of the report per metre in model space.
    pub scale: f32,
    /// The report has changed since it was told.
    pub news: bool,
    /// The problem that was warned of last: each is logged once.
    pub warned: String,
    /// A target that went since the last frame.
    pub lost: Option<Entity>,
    /// The entity by which the target has no place.
    missing: Option<Entity>,
    /// A bone that another component of its layer turns before it, in words; else empty.
    pub shares: String,
}

impl Slot {
    fn new(entity: Entity, layer: IkLayer, kind: Kind) -> Self {
        Self {
            entity,
            layer,
            kind,
            handle: kind.handle(),
            seen: None,
            action: Ok(Action::Nothing),
            wanted: Vec::new(),
            targets: Vec::new(),
            others: false,
            active: false,
            report: IkReport::default(),
            scale: 1.0,
            news: true,
            warned: String::new(),
            lost: None,
            missing: None,
            shares: String::new(),
        }
    }

    /// Reads the component and places its targets. Returns whether it needs other joints than before.
    pub fn gather(&mut self, character: Entity, influence: f32, places: &Places, bound: &mut Bound) -> bool {
        let was = self.active;
        let fresh = self.gather_within(character, influence, places, bound);
        fresh || was != self.active
    }

    fn gather_within(
        &mut self,
        character: Entity,
        influence: f32,
        places: &Places,
        bound: &mut Bound,
    ) -> bool {
        let components = &places.components;
        let changed = if influence == 0.0 { None } else { components.changed(self.kind, self.entity) };
        let Some(changed) = changed else {
            self.idle();
            return false;
        };
        let mut fresh = false;
        if self.seen != Some((changed, influence)) {
            self.seen = Some((changed, influence));
            self.wanted.clear();
            self.action = self.handle.read((components, self.entity), influence, bound, &mut self.wanted);
            fresh = self.action == Ok(Action::Solve { fresh: true });
        }
        match &self.action {
            Ok(Action::Solve { .. }) => {}
            Ok(Action::Nothing) => {
                self.idle();
                return false;
            }
            Err(wrong) => {
                if self.report.status != IkStatus::Failed || self.report.problem != *wrong {
                    let wrong = wrong.clone();
                    self.fail(IkStatus::Failed, || wrong);
                }
                self.stop();
                return false;
            }
        }
        fresh |= self.targets.len() != self.wanted.len();
        self.targets.resize(self.wanted.len(), Source::Model(Affine3::IDENTITY));
        let place = match bound.place(character, places) {
            Ok(place) => place,
            Err(missing) => {
                let target = self.wanted.first().copied().filter(|_| !matches!(missing, NoPlace::NoSpace(_)));
                self.lose(missing, target);
                return fresh;
            }
        };
        let others = Cell::new(false);
        let other = |_: Entity, _: &IkJoint| {
            others.set(true);
            None
        };
        for (&entity, source) in self.wanted.iter().zip(&mut self.targets) {
            match places.source(entity, character, &bound.kit.skeleton, &place.model_from_world, &other) {
                Ok(place) => {
                    fresh |= place.bone() != source.bone();
                    *source = place;
                }
                Err(missing) => {
                    self.lose(missing, Some(entity));
                    return fresh;
                }
            }
        }
        if let Err((platform, missing)) = self.handle.place(&place.world, places, bound) {
            self.lose(missing, Some(platform));
            return fresh;
        }
        (self.active, self.missing, self.others) = (true, None, others.get());
        fresh
    }

    /// A place is missing. Told once, and then again if another one is.
    fn lose(&mut self, missing: NoPlace, target: Option<Entity>) {
        self.stop();
        let (NoPlace::Gone(entity) | NoPlace::NoTransform(entity) | NoPlace::NoSpace(entity)) = missing;
        let status = if target.is_some() { IkStatus::TargetLost } else { IkStatus::Failed };
        if self.missing.replace(entity) != Some(entity) || self.report.status != status {
            self.lost = target;
            self.fail(status, || missing.to_string());
        }
    }

    /// The entities that it asked for.
    pub fn wanted(&self) -> &[Entity] {
        &self.wanted
    }

    /// Joints of the whole skeleton that it needs, without those above them.
    pub fn needs(&self) -> impl Iterator<Item = JointId> + '_ {
        self.handle.joints().iter().copied().chain(self.targets.iter().filter_map(Source::bone))
    }

    /// Makes the solver, if it has none.
    pub fn build(&mut self, part: &Part, kit: &Kit) {
        if let Err(problem) = self.handle.build(part, kit) {
            self.fail(IkStatus::Failed, || problem.clone());
            self.action = Err(problem);
        }
    }

    /// Solves, if it applies.
    pub fn solve(&mut self, pose: &mut Pose, world: &Mat3, frame: &Frame) {
        if !self.active {
            return;
        }
        let frame = Frame { targets: &self.targets, ..*frame };
        match self.handle.solve(pose, &frame) {
            Some(Ok(report)) => {
                self.scale = self.scale(pose, world, frame.part);
                self.solved(&report);
            }
            Some(Err(problem)) => self.fail(IkStatus::Failed, || problem),
            // It could not be made.
            None => {}
        }
    }

    /// Metres in the world per metre in model space, along the largest displacement from a bone to its goal. The direction matters if
    /// the character's scale is not uniform.
    fn scale(&self, pose: &Pose, world: &Mat3, part: &Part) -> f32 {
        let way = |(at, target): (usize, &Source)| {
            let (joint, goal) = self.handle.goal(at, target.place(part, pose))?;
            Some(goal.position? - pose.position(joint))
        };
        let longer = |a: Vec3, b: Vec3| if b.length_squared() > a.length_squared() { b } else { a };
        let way = self.targets.iter().enumerate().filter_map(way).reduce(longer).unwrap_or(Vec3::ZERO);
        let scale = (*world * way).length() / way.length();
        if scale.is_finite() { scale } else { math::uniform_scale(world).abs() }
    }

    /// It applied.
    fn solved(&mut self, report: &sinew::Report) {
        let scale = self.scale;
        self.news = true;
        self.report.status = IkStatus::Solved;
        self.report.problem.clone_from(&self.shares);
        self.report.position_residual = report.position_residual * scale;
        self.report.rotation_residual = report.rotation_residual;
        self.report.out_of_reach = (report.out_of_reach * scale).min(f32::MAX);
        self.report.reached = report.reached();
        self.report.look_ahead = self.handle.look_ahead();
    }

    /// It does not apply in this frame.
    pub fn idle(&mut self) {
        self.stop();
        if self.report.status != IkStatus::Idle {
            (self.report, self.news) = (IkReport::default(), true);
        }
    }

    /// Stops applying. State of earlier frames is dropped, as it is out of date after a pause.
    fn stop(&mut self) {
        if std::mem::take(&mut self.active) {
            self.handle.rest();
        }
    }

    /// It cannot apply in this frame, and says why.
    fn fail(&mut self, status: IkStatus, problem: impl FnOnce() -> String) {
        self.stop();
        let problem = problem();
        if self.report.status != status || self.report.problem != problem {
            self.report = IkReport { status, problem, ..IkReport::default() };
            self.news = true;
        }
    }
}

impl Bound {
    /// Makes the slots anew, keeping those that are there.
    pub fn set_slots(&mut self, wanted: &[(IkLayer, Entity, Kind)]) {
        let mut old = std::mem::take(&mut self.slots);
        for &(layer, entity, kind) in wanted {
            let same = |slot: &Slot| slot.entity == entity && slot.kind == kind;
            let mut slot = match old.iter().position(same) {
                Some(at) => old.swap_remove(at),
                None => Slot::new(entity, layer, kind),
            };
            slot.layer = layer;
            self.slots.push(slot);
        }
        old.iter().filter(|slot| slot.active).for_each(|slot| self.leave(slot));
        self.unplanned = true;
    }
}
