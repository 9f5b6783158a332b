//! State of one character.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use bevy_asset::AssetId;
use bevy_ecs::{change_detection::Tick, component::Component, entity::Entity};
use bevy_mesh::Mesh;
use sinew::{
    JointId, JointTransform, Pose, Skeleton,
    body::{BodyRoles, RoleError, RoleHints},
    glam::{Affine3, Mat3, Vec3},
    ground::{Ground, plant::Figure, walk::Creature},
};

use crate::{
    lod::{Difference, Waiting},
    person::Person,
    slot::{Frame, Slot},
};

/// A character's skeleton, pose and bones: inserted with [`IkSkeleton`](crate::IkSkeleton), and filled when its bones are there.
#[derive(Component, Debug)]
pub struct IkBinding {
    /// Bones may have come or gone.
    pub(crate) stale: bool,
    /// Components of inverse kinematics may have come or gone.
    pub(crate) stale_slots: bool,
    pub(crate) bound: Option<Box<Bound>>,
}

impl Default for IkBinding {
    fn default() -> Self {
        Self { stale: true, stale_slots: true, bound: None }
    }
}

impl IkBinding {
    /// Whether the bones are there.
    pub fn is_bound(&self) -> bool {
        self.bound.is_some()
    }

    /// The skeleton, whose model space is the space of the character's entity; `None` while there are no bones.
    pub fn skeleton(&self) -> Option<&Arc<Skeleton>> {
        Some(&self.bound.as_deref()?.kit.skeleton)
    }

    /// The joints' roles, or the reason why it is no two-legged figure; `None` while there are no bones.
    pub fn body(&self) -> Option<Result<&BodyRoles, &RoleError>> {
        Some(self.bound.as_deref()?.kit.body.as_ref())
    }

    /// The pose in which the mesh was modelled; `None` while there are no bones.
    pub fn bind_pose(&self) -> Option<&Pose> {
        Some(&self.bound.as_deref()?.kit.bind)
    }

    /// The pose of this frame, from [`IkSystems::Gather`](crate::IkSystems::Gather) on, of the bones that inverse kinematics
    /// needs and those above them: it has a skeleton of its own ([`Pose::skeleton`]), whose joints are found by name.
    pub fn pose(&self) -> Option<&Pose> {
        Some(&self.bound.as_deref()?.pose)
    }

    /// The entity of a joint.
    pub fn entity(&self, joint: JointId) -> Option<Entity> {
        self.bound.as_deref()?.bones.get(joint.index()).copied()
    }
}

/// Data shared by characters with equal skeletons.
#[derive(Debug)]
pub(crate) struct Kit {
    pub skeleton: Arc<Skeleton>,
    pub bind: Pose,
    pub body: Result<BodyRoles, RoleError>,
    /// Declared roles, by which `body` was found.
    pub declared: Vec<(String, JointId)>,
    /// Skinned meshes, from which `figure` is measured: other shoes have other soles.
    pub meshes: Vec<AssetId<Mesh>>,
    /// Pelvis, legs and soles, once they have been measured.
    pub figure: OnceLock<Result<Figure, String>>,
    /// The skin of a creature in the bind pose, by which its soles and its belly are measured.
    pub skin: OnceLock<Vec<(JointId, Vec3)>>,
    /// A creature with the legs that its shape shows, once they have been looked for.
    pub creature: OnceLock<Result<Creature, String>>,
    /// The body with human limits, once it has been asked for.
    person: OnceLock<Option<Person>>,
    /// Greatest distance of a joint from the origin in the bind pose.
    pub size: f32,
    /// Parts of the skeleton that are in use.
    parts: Mutex<Vec<Weak<Part>>>,
}

/// The joints of a skeleton that a character's inverse kinematics needs, and those above them, as a skeleton: fingers cost
/// nothing where only arms move.
#[derive(Debug)]
pub(crate) struct Part {
    pub skeleton: Arc<Skeleton>,
    /// For each joint of the part, that of the whole.
    pub whole: Vec<JointId>,
    /// For each joint of the whole, that of the part.
    of_whole: Vec<Option<JointId>>,
}

impl Part {
    /// The joint of the part; `None` for one that is not in it.
    pub fn joint(&self, whole: JointId) -> Option<JointId> {
        self.of_whole.get(whole.index()).copied().flatten()
    }
}

impl Kit {
    pub fn new(skeleton: Skeleton, declared: Vec<(String, JointId)>, meshes: Vec<AssetId<Mesh>>) -> Self {
        let skeleton = Arc::new(skeleton);
        let bind = Pose::rest(&skeleton);
        let size = skeleton.joints().map(|joint| bind.position(joint).length()).fold(0.0, f32::max);
        let body = BodyRoles::find_with(&bind, &RoleHints::new().with_declared(&declared));
        Self {
            skeleton,
            bind,
            body,
            declared,
            meshes,
            figure: OnceLock::new(),
            skin: OnceLock::new(),
            creature: OnceLock::new(),
            person: OnceLock::new(),
            size,
            parts: Mutex::default(),
        }
    }

    /// The body with human limits; `None` for one that has not two legs.
    pub fn person(&self) -> Option<Person> {
        let made = || Some(Person::new(&self.bind, self.body.as_ref().ok()?));
        self.person.get_or_init(made).clone()
    }

    /// The part with the marked joints, those above which are marked too. A character without any has the first joint.
    fn part(&self, marks: &[bool]) -> Arc<Part> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.retain(|part| part.strong_count() > 0);
        let marked = |joint: JointId| marks[joint.index()] || (joint.index() == 0 && !marks.contains(&true));
        let same = |part: &Arc<Part>| {
            self.skeleton.joints().all(|joint| part.joint(joint).is_some() == marked(joint))
        };
        if let Some(part) = parts.iter().filter_map(Weak::upgrade).find(same) {
            return part;
        }
        let mut builder = Skeleton::builder();
        let (mut whole, mut of_whole) = (Vec::new(), vec![None; self.skeleton.len()]);
        for joint in self.skeleton.joints().filter(|joint| marked(*joint)) {
            let above = self.skeleton.parent(joint).and_then(|above| of_whole[above.index()]);
            of_whole[joint.index()] =
                Some(builder.add(self.skeleton.name(joint), above, *self.skeleton.rest(joint)));
            whole.push(joint);
        }
        // Joints in the order of a skeleton keep it.
        let skeleton = match builder.build() {
            Ok((mut skeleton, joints)) => {
                for (joint, &of) in joints.into_iter().zip(&whole) {
                    // They were accepted once.
                    let _ = skeleton.set_joint(joint, *self.skeleton.joint(of));
                }
                Arc::new(skeleton)
            }
            Err(_) => self.skeleton.clone(),
        };
        let of_whole = of_whole.into_iter().map(|at: Option<usize>| skeleton.joint_at(at?)).collect();
        let part = Arc::new(Part { skeleton, whole, of_whole });
        parts.push(Arc::downgrade(&part));
        part
    }
}

/// A joint's state from frame to frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Its local transform without inverse kinematics.
    pub base: JointTransform,
    /// When it was last written here; `None` if its component held `base` as it was read.
    pub written: Option<Tick>,
}

impl Kept {
    pub fn new(base: JointTransform) -> Self {
        Self { base, written: None }
    }
}

/// Where a character is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// From model space to the world.
    pub world: Affine3,
    pub model_from_world: Affine3,
}

#[derive(Debug)]
pub(crate) struct Bound {
    pub kit: Arc<Kit>,
    /// Entities of all joints, in the skeleton's order.
    pub bones: Vec<Entity>,
    /// The joints that are read in each frame.
    pub part: Arc<Part>,
    /// Entities of the part's joints, in its order, and what is kept of them.
    pub joints: Vec<(Entity, Kept)>,
    /// Of the part.
    pub pose: Pose,
    /// Joints of the part that may be written: those that slots turn, and those that hold what was written.
    pub turned: Vec<JointId>,
    /// For each joint of the part, whether a slot that applies turns it.
    pub solved: Vec<bool>,
    /// Scratch of [`Bound::plan`].
    marks: Vec<bool>,
    /// The slots are others than those of the last [`Bound::plan`].
    pub unplanned: bool,
    /// Whether a bone holds what was written.
    pub held: bool,
    /// Components of inverse kinematics, in the order in which they apply.
    pub slots: Vec<Slot>,
    /// Where the character is in this frame; `None` if that is not known.
    pub place: Option<Place>,
    /// Whether anything applies in this frame.
    pub awake: bool,
    /// Seconds that a solve of this frame stands for.
    pub dt: f32,
    pub waiting: Waiting,
    /// Whether casts are kept, to be drawn.
    pub records: bool,
    /// Whether bones keep what the last solve did, and what that was, in the order of `turned`.
    pub holds: bool,
    pub differences: Vec<Difference>,
}

impl Bound {
    /// A character with these bones, some of which hold what was written.
    pub fn new(kit: Arc<Kit>, bones: Vec<Entity>, kept: &[Kept]) -> Self {
        let marks: Vec<bool> = above(&kit.skeleton, kept.iter().map(|kept| kept.written.is_some()).collect());
        let part = kit.part(&marks);
        let joints = part.whole.iter().map(|joint| (bones[joint.index()], kept[joint.index()])).collect();
        Self {
            pose: Pose::rest(&part.skeleton),
            kit,
            bones,
            part,
            joints,
            turned: Vec::new(),
            solved: Vec::new(),
            marks,
            unplanned: true,
            held: kept.iter().any(|kept| kept.written.is_some()),
            slots: Vec::new(),
            place: None,
            awake: false,
            dt: 0.0,
            waiting: Waiting::default(),
            records: false,
            holds: false,
            differences: Vec::new(),
        }
    }

    /// Solves the components of one set.
    pub fn solve(&mut self, stage: u8, ground: &dyn Ground) {
        let (part, joints, dt) = (&*self.part, &*self.joints, self.dt);
        let frame = Frame { part, joints, targets: &[], ground, dt, records: self.records };
        let world = self.place.map_or(Mat3::IDENTITY, |place| place.world.matrix3);
        let mut slots = &mut self.slots[..];
        while let Some((slot, after)) = std::mem::take(&mut slots).split_first_mut() {
            if slot.kind.stage() as u8 == stage {
                slot.solve(&mut self.pose, &world, &frame);
                if let Some((from, to)) = slot.handle.placed().filter(|_| slot.active) {
                    let moved = to.inverse() * from;
                    after.iter_mut().flat_map(|slot| &mut slot.targets).for_each(|t| t.leave_behind(&moved));
                }
            }
            slots = after;
        }
    }

    /// Finds anew which joints are read and written, and whether others are read than before. Allocates only then.
    pub fn plan(&mut self) -> bool {
        self.unplanned = false;
        let mut marks = std::mem::take(&mut self.marks);
        marks.clear();
        marks.resize(self.kit.skeleton.len(), false);
        for (joint, (_, kept)) in self.part.whole.iter().zip(&self.joints) {
            marks[joint.index()] = kept.written.is_some();
        }
        for slot in &self.slots {
            for joint in slot.needs() {
                marks[joint.index()] = true;
            }
            if slot.handle.needs_all() {
                marks.fill(true);
            }
        }
        self.marks = above(&self.kit.skeleton, marks);
        let part = self.kit.part(&self.marks);
        let others = !Arc::ptr_eq(&part, &self.part);
        if others {
            let kept = |joint: JointId| {
                let known = self.part.joint(joint).map(|joint| self.joints[joint.index()].1);
                known.unwrap_or_else(|| Kept::new(*self.kit.skeleton.rest(joint)))
            };
            self.joints = part.whole.iter().map(|&joint| (self.bones[joint.index()], kept(joint))).collect();
            self.pose = Pose::rest(&part.skeleton);
            self.part = part;
            self.slots.iter_mut().for_each(|slot| slot.handle.forget());
        }
        for slot in &mut self.slots {
            slot.build(&self.part, &self.kit);
        }
        self.solved.clear();
        self.solved.resize(self.joints.len(), false);
        for slot in self.slots.iter().filter(|slot| slot.active) {
            slot.handle.turns(&mut |joint| self.solved[joint.index()] = true);
        }
        let (solved, joints) = (&self.solved, &self.joints);
        let turned = |joint: &JointId| solved[joint.index()] || joints[joint.index()].1.written.is_some();
        self.turned.clear();
        self.turned.extend(self.part.skeleton.joints().filter(turned));
        for at in 0..self.slots.len() {
            let shares = self.shares(at);
            self.slots[at].shares = shares;
        }
        others
    }

    /// The first bone of a slot that another one of its layer turns before it in the same set, in words.
    fn shares(&self, at: usize) -> String {
        let (before, slot) = (&self.slots[..at], &self.slots[at]);
        if !slot.active {
            return String::new();
        }
        let same = |other: &&Slot| {
            other.active && other.layer == slot.layer && other.kind.stage() == slot.kind.stage()
        };
        let shared = before.iter().filter(same).find_map(|other| {
            let (mut mine, mut shared) = (vec![false; self.joints.len()], None);
            slot.handle.turns(&mut |joint| mine[joint.index()] = true);
            other.handle.turns(&mut |joint| {
                if mine[joint.index()] {
                    shared.get_or_insert(joint);
                }
            });
            Some((shared?, other.entity))
        });
        shared.map_or_else(String::new, |(joint, other)| {
            let name = self.part.skeleton.name(joint);
            format!("it turns `{name}`, as {other} does before it: give one of them another IkLayer")
        })
    }
}

/// Marks the joints above those that are marked.
fn above(skeleton: &Skeleton, mut marks: Vec<bool>) -> Vec<bool> {
    // Depth-first order has parents first, so that from the end each hands on to its own.
    for joint in skeleton.joints().rev() {
        if let (true, Some(parent)) = (marks[joint.index()], skeleton.parent(joint)) {
            marks[parent.index()] = true;
        }
    }
    marks
}
