//! Rigs: handles in order, as animators have them.

use std::sync::{Arc, Mutex, PoisonError};

use bevy_asset::{Asset, AssetEvent, AssetId, Assets, Handle as AssetHandle};
use bevy_ecs::{
    change_detection::DetectChangesMut,
    component::Component,
    entity::{Entity, EntityMapper, MapEntities},
    message::MessageReader,
    reflect::ReflectComponent,
    system::{Query, Res, SystemParam},
    template::FromTemplate,
};
use bevy_reflect::{Reflect, TypePath, std_traits::ReflectDefault};
use sinew::{
    Goal, JointId, Pole, Pose, Report, Workspace,
    body::BodyRoles,
    glam::Affine3,
    math,
    rig::{HumanoidSpec, Rig, RigError, RigFrame, RigGoal, RigState, Space},
};

use crate::{
    IkLayer, IkReport,
    binding::{Bound, Kit, Part},
    slot::{Action, Components, Frame, Handle},
};

/// A rig, as an asset: it is made for each skeleton that it is put on.
///
/// With the feature `rig`, files whose names end in `.rig.toml` are loaded as such, and again when they change. Their format is that
/// of the engine's rig files.
///
/// ```
/// # use bevy_asset::Assets;
/// # use bevy_ecs::prelude::*;
/// use bevy_sinew::{IkRig, IkRigAsset, IkSkeleton, sinew::rig::HumanoidSpec};
/// # fn system(mut commands: Commands, mut rigs: ResMut<Assets<IkRigAsset>>, lever: Entity) {
/// let humanoid = rigs.add(IkRigAsset::humanoid(HumanoidSpec::new()));
/// commands.spawn((IkSkeleton::default(), IkRig::new(humanoid).with_goal("left hand", lever)));
/// # }
/// ```
#[derive(Asset, TypePath, Clone)]
pub struct IkRigAsset {
    make: Make,
}

/// Makes a rig for a bind pose and the roles of its body.
type Make = Arc<dyn Fn(&Pose, Option<&BodyRoles>) -> Result<Rig, String> + Send + Sync>;

impl IkRigAsset {
    /// A rig that a function makes, for a bind pose and the roles of its body.
    pub fn new(
        make: impl Fn(&Pose, Option<&BodyRoles>) -> Result<Rig, RigError> + Send + Sync + 'static,
    ) -> Self {
        let make =
            move |bind: &Pose, body: Option<&BodyRoles>| make(bind, body).map_err(|error| error.to_string());
        Self { make: Arc::new(make) }
    }

    /// The rig of any two-legged figure, with goals of the same names on all of them ([`HumanoidSpec::GOALS`]).
    pub fn humanoid(spec: HumanoidSpec) -> Self {
        let make = move |bind: &Pose, body: Option<&BodyRoles>| {
            let body = body.ok_or("a humanoid has two legs")?;
            Rig::new(bind, Some(body), &spec.rig(body)).map_err(|error| error.to_string())
        };
        Self { make: Arc::new(make) }
    }

    /// The text of a rig file; its path is for messages. What is wrong with it is told by the [`IkReport`] of who has it, as names
    /// of joints belong to a skeleton.
    #[cfg(feature = "rig")]
    pub fn from_toml(text: impl Into<String>, path: impl Into<std::path::PathBuf>) -> Self {
        let (text, path) = (text.into(), path.into());
        let make = move |bind: &Pose, body: Option<&BodyRoles>| {
            sinew_files::rig::read(&text, &path, bind, body).map_err(|error| error.to_string())
        };
        Self { make: Arc::new(make) }
    }
}

impl core::fmt::Debug for IkRigAsset {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IkRigAsset").finish_non_exhaustive()
    }
}

/// Poses a character by a rig: handles that are solved in order, with goals by name.
///
/// A goal that no entity is named for is what the rig says; one that it does not set leaves the animation.
#[derive(Component, Clone, Debug, PartialEq, Default, FromTemplate, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(IkReport, IkLayer)]
pub struct IkRig {
    /// The rig.
    pub rig: AssetHandle<IkRigAsset>,
    /// What goes where. The report is that of the handle that is furthest off.
    #[entities]
    pub goals: IkRigGoals,
}

/// The goals of an [`IkRig`].
#[derive(Clone, Debug, PartialEq, Default, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub struct IkRigGoals(pub Vec<IkRigGoal>);

/// A goal of a rig and its target.
#[derive(Clone, Debug, PartialEq, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub struct IkRigGoal {
    /// The goal's name: the handle's, or that of an effector; of a humanoid `body`, `look`, `left hand`, `right foot` and so on.
    pub name: String,
    /// The entity that it goes to; `None` for no goal. Its place is that of this frame, as for
    /// [`LimbIk::target`](crate::LimbIk::target).
    pub target: Option<Entity>,
    /// The entity towards which the middle of the chain bends; `None` for what the rig says.
    pub pole: Option<Entity>,
    /// Share of the target's position that applies, 0 to 1 (the default).
    pub position_influence: f32,
    /// Share of the target's rotation that applies, 0 (the default: the rig's own way) to 1.
    pub rotation_influence: f32,
}

impl Default for IkRigGoal {
    fn default() -> Self {
        let (name, target, pole) = (String::new(), None, None);
        Self { name, target, pole, position_influence: 1.0, rotation_influence: 0.0 }
    }
}

impl MapEntities for IkRigGoals {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        for goal in &mut self.0 {
            goal.target = goal.target.map(|entity| mapper.get_mapped(entity));
            goal.pole = goal.pole.map(|entity| mapper.get_mapped(entity));
        }
    }
}

impl IkRig {
    /// A rig without targets yet.
    pub fn new(rig: AssetHandle<IkRigAsset>) -> Self {
        Self { rig, ..Self::default() }
    }

    /// Adds a goal, at the position of an entity.
    #[must_use]
    pub fn with_goal(mut self, name: impl Into<String>, target: Entity) -> Self {
        self.goals.0.push(IkRigGoal { name: name.into(), target: Some(target), ..IkRigGoal::default() });
        self
    }
}

/// Rigs that are loaded.
#[derive(SystemParam)]
pub(crate) struct Rigs<'w> {
    assets: Option<Res<'w, Assets<IkRigAsset>>>,
}

impl Rigs<'_> {
    pub fn get(&self, id: AssetId<IkRigAsset>) -> Option<&IkRigAsset> {
        self.assets.as_ref()?.get(id)
    }
}

/// Rigs that come, or come anew, are read again.
pub(crate) fn rigs_changed(
    mut events: MessageReader<AssetEvent<IkRigAsset>>,
    mut characters: Query<&mut IkRig>,
) {
    for event in events.read() {
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } | AssetEvent::Removed { id } = event {
            characters.iter_mut().filter(|rig| rig.rig.id() == *id).for_each(|mut rig| rig.set_changed());
        }
    }
}

/// A goal of the component, by the numbers of its target and its pole among those that were asked for.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    /// The goal's number in the rig.
    goal: usize,
    target: usize,
    pole: Option<usize>,
    influences: [f32; 2],
}

/// A rig as a character keeps it ready.
#[derive(Default)]
pub(crate) struct RigSlot {
    /// How the rig is made: by the asset as it was last read.
    make: Option<Make>,
    /// Goals by name, and the numbers of their targets.
    named: Vec<(String, Wanted)>,
    /// The first joint, so that it counts as found.
    joints: Vec<JointId>,
    solver: Option<(Rig, RigState)>,
    wanted: Vec<Wanted>,
    goals: Vec<RigGoal>,
    influence: f32,
    /// The pose without it.
    before: Option<Pose>,
    workspace: Mutex<Workspace>,
}

impl core::fmt::Debug for RigSlot {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RigSlot").field("wanted", &self.wanted).finish_non_exhaustive()
    }
}

impl RigSlot {
    /// Finds the goals of the component in the rig.
    fn find(&mut self) -> Result<(), String> {
        let Some((rig, _)) = &self.solver else { return Ok(()) };
        self.wanted.clear();
        for (name, wanted) in &self.named {
            let Some(goal) = rig.goal_names().position(|known| known == *name) else {
                let names: Vec<String> = rig.goal_names().map(|name| format!("`{name}`")).collect();
                return Err(format!("the rig has no goal `{name}`; it has {}", names.join(", ")));
            };
            self.wanted.push(Wanted { goal, ..*wanted });
        }
        Ok(())
    }
}

impl Handle for RigSlot {
    fn read(
        &mut self,
        (components, entity): (&Components, Entity),
        influence: f32,
        bound: &Bound,
        targets: &mut Vec<Entity>,
    ) -> Result<Action, String> {
        let Ok(given) = components.rig.get(entity) else { return Ok(Action::Nothing) };
        // It may still be loading.
        let Some(asset) = components.rigs.get(given.rig.id()) else {
            self.make = None;
            self.forget();
            return Ok(Action::Nothing);
        };
        self.influence = influence;
        self.named.clear();
        for goal in &given.goals.0 {
            let Some(target) = goal.target else { continue };
            let at = targets.len();
            targets.push(target);
            targets.extend(goal.pole);
            let pole = goal.pole.map(|_| at + 1);
            let influences = [goal.position_influence, goal.rotation_influence];
            self.named.push((goal.name.clone(), Wanted { goal: 0, target: at, pole, influences }));
        }
        let same = self.make.as_ref().is_some_and(|make| Arc::ptr_eq(make, &asset.make));
        if same {
            self.find()?;
            return Ok(Action::Solve { fresh: false });
        }
        self.make = Some(asset.make.clone());
        self.forget();
        self.joints.clear();
        self.joints.extend(bound.kit.skeleton.joint_at(0));
        Ok(Action::Solve { fresh: true })
    }

    fn joints(&self) -> &[JointId] {
        &self.joints
    }

    fn needs_all(&self) -> bool {
        self.make.is_some()
    }

    fn turns(&self, visit: &mut dyn FnMut(JointId)) {
        self.solver.iter().flat_map(|(rig, _)| rig.joints()).for_each(|&joint| visit(joint));
    }

    fn forget(&mut self) {
        (self.solver, self.before) = (None, None);
    }

    fn build(&mut self, part: &Part, kit: &Kit) -> Result<(), String> {
        let (None, Some(make)) = (&self.solver, &self.make) else { return Ok(()) };
        // All joints: the part is the whole, and so are the roles'.
        let rig = make(&Pose::rest(&part.skeleton), kit.body.as_ref().ok())?;
        rig.reserve(self.workspace.get_mut().unwrap_or_else(PoisonError::into_inner));
        let state = rig.state();
        self.goals = vec![RigGoal::new(); rig.goal_count()];
        self.solver = Some((rig, state));
        self.find()
    }

    fn rest(&mut self) {
        self.solver.iter_mut().for_each(|(_, state)| state.reset());
    }

    fn solve(&mut self, pose: &mut Pose, frame: &Frame) -> Option<Result<Report, String>> {
        let (rig, state) = self.solver.as_mut()?;
        self.goals.fill(RigGoal::new());
        for wanted in &self.wanted {
            let place: Affine3 = frame.targets.get(wanted.target)?.place(frame.part, pose);
            let [position, rotation] = wanted.influences;
            let mut goal = Goal::position(place.translation).with_position_influence(position);
            if rotation != 0.0 {
                goal =
                    goal.with_rotation(math::rotation_of(&place.matrix3)).with_rotation_influence(rotation);
            }
            let mut of_rig = RigGoal::new().with_space(Space::Model);
            if let Some(pole) = wanted.pole.and_then(|pole| frame.targets.get(pole)) {
                goal = goal.with_pole(Pole::Point(pole.position(frame.part, pose)));
                of_rig = of_rig.with_pole_space(Space::Model);
            }
            if let Some(at) = self.goals.get_mut(wanted.goal) {
                *at = of_rig.with_goal(goal);
            }
        }
        if self.influence < 1.0 {
            let before = self.before.get_or_insert_with(|| pose.clone());
            before.copy_from(pose);
        }
        let workspace = self.workspace.get_mut().unwrap_or_else(PoisonError::into_inner);
        let applied = rig.apply(state, workspace, pose, &RigFrame::new(frame.dt).with_goals(&self.goals));
        let report = match applied {
            Ok(applied) => {
                let reports =
                    applied.handles.iter().filter(|handle| handle.is_set).map(|handle| handle.report);
                // The one that is furthest off.
                let furthest =
                    |a: Report, b: Report| if b.position_residual > a.position_residual { b } else { a };
                reports.reduce(furthest).unwrap_or_default()
            }
            Err(error) => return Some(Err(error.to_string())),
        };
        if let Some(before) = self.before.as_ref().filter(|_| self.influence < 1.0)
            && let Err(error) = pose.blend(before, 1.0 - self.influence)
        {
            return Some(Err(error.to_string()));
        }
        pose.update();
        Some(Ok(report))
    }
}

#[cfg(feature = "rig")]
pub(crate) mod file {
    use bevy_asset::{AssetLoader, LoadContext, io::Reader};
    use bevy_reflect::TypePath;

    use super::IkRigAsset;

    /// Loads rig files.
    #[derive(Default, TypePath)]
    pub(crate) struct RigLoader;

    impl AssetLoader for RigLoader {
        type Asset = IkRigAsset;
        type Settings = ();
        type Error = std::io::Error;

        async fn load(
            &self,
            reader: &mut dyn Reader,
            (): &(),
            context: &mut LoadContext<'_>,
        ) -> Result<IkRigAsset, std::io::Error> {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).await?;
            let text = String::from_utf8(bytes).map_err(std::io::Error::other)?;
            Ok(IkRigAsset::from_toml(text, context.path().to_string()))
        }

        fn extensions(&self) -> &[&str] {
            &["rig.toml"]
        }
    }
}
