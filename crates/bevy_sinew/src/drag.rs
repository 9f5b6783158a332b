//! Dragging bones.

use std::sync::{Mutex, PoisonError};

use bevy_ecs::{component::Component, entity::Entity, reflect::ReflectComponent};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::{
    Goal, JointId, Pose, Report, Workspace,
    body::Role,
    glam::Affine3,
    solve::{Drag, Effector, Pin},
};

use crate::{
    IkBone, IkBones, IkLayer, IkReport,
    aim::Aim,
    binding::{Bound, Kit, Part},
    draw::Led,
    person::Person,
    slot::{Action, Components, Frame, Handle},
    template::template,
};

/// Drags a bone of a body by hand, with other bones pinned: for posing, and for puppets that are pulled about. The drag begins when
/// it gets a target, and ends when that is `None`.
///
/// The body follows frame by frame, without leaps. A two-legged body keeps human limits. When the drag ends, bones that nothing
/// animates stay as they were left; an animation takes the others back at once.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// use bevy_sinew::{DragIk, IkSkeleton};
/// use sinew::body::{Role, Side};
/// # fn system(mut commands: Commands, cursor: Entity) {
/// let feet = Side::BOTH.map(Role::Foot);
/// commands.spawn((IkSkeleton::default(), DragIk::new(Role::Hand(Side::Left)).at(cursor).with_pins(feet)));
/// # }
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(IkReport, IkLayer)]
pub struct DragIk {
    /// The bone that is dragged.
    #[entities]
    pub bone: IkBone,
    /// The entity that it goes to; `None` for no drag. Its place is that of this frame, as for
    /// [`LimbIk::target`](crate::LimbIk::target).
    #[entities]
    pub target: Option<Entity>,
    /// Bones that keep the places that they have when the drag begins.
    #[entities]
    pub pins: IkBones,
    /// The bone from which the body moves; the hips by default.
    #[entities]
    pub root: IkBone,
}

template! {
    /// The template of a [`DragIk`]. In `bsn!`, `target: OptionTemplate::Some(#Cursor)` names an entity of the scene.
    DragIkTemplate for DragIk {
        target, ;
        bone: IkBone,
        pins: IkBones,
        root: IkBone,
    }
}

impl Default for DragIk {
    fn default() -> Self {
        let (bone, pins) = (IkBone::default(), IkBones::default());
        Self { bone, target: None, pins, root: Role::Hips.into() }
    }
}

impl DragIk {
    /// A drag of this bone, without a target yet.
    pub fn new(bone: impl Into<IkBone>) -> Self {
        Self { bone: bone.into(), ..Self::default() }
    }

    /// Sets [`target`](Self::target).
    #[must_use]
    pub fn at(self, target: Entity) -> Self {
        Self { target: Some(target), ..self }
    }

    /// Sets [`pins`](Self::pins).
    #[must_use]
    pub fn with_pins<B: Into<IkBone>>(self, pins: impl IntoIterator<Item = B>) -> Self {
        Self { pins: IkBones(pins.into_iter().map(Into::into).collect()), ..self }
    }

    /// Sets [`root`](Self::root).
    #[must_use]
    pub fn with_root(self, root: impl Into<IkBone>) -> Self {
        Self { root: root.into(), ..self }
    }
}

/// A drag as a character keeps it ready.
#[derive(Debug, Default)]
pub(crate) struct DragSlot {
    /// What `joints` were looked up for.
    wanted: DragIk,
    /// Of the whole skeleton: the bone, the root, then the pins.
    joints: Vec<JointId>,
    /// The joints that a drag turns, before it begins.
    moves: Vec<JointId>,
    person: Option<Person>,
    /// From the drag's first frame on, with its last pose.
    solver: Option<(Drag, Pose)>,
    built: bool,
    aim: Aim,
    workspace: Mutex<Workspace>,
}

impl DragSlot {
    /// Begins a drag at a pose.
    fn begin(&self, pose: &Pose) -> Result<Drag, String> {
        let [bone, root, pins @ ..] = self.joints.as_slice() else { return Err("it has no bone".into()) };
        let pins: Vec<Pin> = pins.iter().map(|&joint| Pin::pose(joint)).collect();
        Drag::new(pose, *root, Effector::new(*bone), &pins).map_err(|error| error.to_string())
    }
}

impl Handle for DragSlot {
    fn read(
        &mut self,
        (components, entity): (&Components, Entity),
        influence: f32,
        bound: &Bound,
        targets: &mut Vec<Entity>,
    ) -> Result<Action, String> {
        let Ok(drag) = components.drag.get(entity) else { return Ok(Action::Nothing) };
        let drag: &DragIk = &drag;
        let Some(target) = drag.target else { return Ok(Action::Nothing) };
        targets.push(target);
        self.aim = Aim::new(influence, 0.0, &bevy_transform::components::Transform::IDENTITY);
        let at_other = DragIk { target: self.wanted.target, ..drag.clone() };
        if !self.joints.is_empty() && self.wanted == at_other {
            return Ok(Action::Solve { fresh: false });
        }
        (self.wanted, self.built, self.solver) = (drag.clone(), false, None);
        self.joints.clear();
        let find = |bone| bound.find(bone).map_err(|error| error.to_string());
        let [bone, root] = [find(&drag.bone)?, find(&drag.root)?];
        let pins = bound.find_all(&drag.pins)?;
        self.joints.extend([bone, root].into_iter().chain(pins));
        Ok(Action::Solve { fresh: true })
    }

    fn joints(&self) -> &[JointId] {
        &self.joints
    }

    fn needs_all(&self) -> bool {
        !self.joints.is_empty()
    }

    fn turns(&self, visit: &mut dyn FnMut(JointId)) {
        self.moves.iter().for_each(|&joint| visit(joint));
    }

    fn goal(&self, _: usize, place: Affine3) -> Led {
        Some((*self.joints.first()?, self.aim.goal(place)))
    }

    fn forget(&mut self) {
        (self.solver, self.built) = (None, false);
    }

    fn build(&mut self, part: &Part, kit: &Kit) -> Result<(), String> {
        if self.built || self.joints.is_empty() {
            return Ok(());
        }
        self.person = kit.person();
        let rest = Pose::rest(&part.skeleton);
        let drag = self.begin(self.person.as_ref().map_or(&rest, Person::stance))?;
        drag.full_body().reserve(self.workspace.get_mut().unwrap_or_else(PoisonError::into_inner));
        self.moves = drag.full_body().joints().collect();
        self.built = true;
        Ok(())
    }

    /// The next one begins anew.
    fn rest(&mut self) {
        self.solver = None;
    }

    fn leaves(&self) -> bool {
        true
    }

    /// A drag is relative to the character.
    fn teleport(&mut self) {}

    fn solve(&mut self, pose: &mut Pose, frame: &Frame) -> Option<Result<Report, String>> {
        let goal = self.aim.goal(frame.targets.first()?.place(frame.part, pose));
        if !self.built {
            return None;
        }
        if self.solver.is_none() {
            let begun = match &mut self.person {
                None => self.begin(pose).map(|drag| (drag, pose.clone())),
                Some(person) => {
                    let person = person.load(pose).clone();
                    self.begin(&person).map(|drag| (drag, person))
                }
            };
            match begun {
                Ok(begun) => self.solver = Some(begun),
                Err(problem) => return Some(Err(problem)),
            }
        }
        let (drag, last) = self.solver.as_mut()?;
        let workspace = self.workspace.get_mut().unwrap_or_else(PoisonError::into_inner);
        let goal = Goal::position(goal.position?);
        let report = drag.to(workspace, last, &goal, &Drag::OPTIONS);
        for &joint in &self.moves {
            pose.set_local(joint, *last.local(joint));
        }
        pose.update();
        Some(report.map_err(|error| error.to_string()))
    }
}
