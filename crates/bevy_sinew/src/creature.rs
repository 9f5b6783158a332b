//! Creatures that walk by themselves.

use std::{
    fmt::Write,
    sync::{Mutex, PoisonError},
};

use bevy_ecs::{
    component::Component,
    entity::{Entity, EntityMapper, MapEntities},
    reflect::ReflectComponent,
};
use bevy_math::Vec3;
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::{
    AffineError, JointId, Placement, Pose, Report, Workspace,
    body::{Legs, LegsError},
    glam::Affine3,
    ground::{
        Filter, Ground,
        walk::{Creature, WalkOptions, WalkReport, WalkState, Walker},
    },
    math,
};

use crate::{
    FootContact, IkBone, IkLayer, IkReport,
    binding::{Bound, Kit, Part},
    carrier::Carrier,
    gather::{NoPlace, Places},
    ground::split,
    slot::{Action, Components, Frame, Handle},
    template::template,
};

/// Lets a creature with any number of legs walk over the ground by itself: entities with [`IkGround`](crate::IkGround). A game says
/// how fast it goes; feet step by a gait, stand where they land, and the trunk follows. Its legs are found by the shape of its
/// skeleton, soles and belly on its meshes, where these are kept in main memory.
///
/// It moves the character: its [`Transform`](bevy_transform::components::Transform) is written in each frame, and components that are
/// applied later, such as a look-at, see the new position. Who moves the character elsewhere puts it there, where it stands anew. An entity above the
/// character must not move.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// # use bevy_math::Vec3;
/// use bevy_sinew::{CreatureWalk, IkSkeleton};
/// # fn system(mut commands: Commands) {
/// commands.spawn((IkSkeleton::default(), CreatureWalk { velocity: Vec3::Z * 0.8, turn: 0.2, ..Default::default() }));
/// # }
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(IkReport, IkLayer, CreatureReport)]
pub struct CreatureWalk {
    /// In metres a second in the creature's own frame: x to its left, z ahead, wherever its model faces; y does not count.
    pub velocity: Vec3,
    /// In radians a second about +Y, positive to its left.
    pub turn: f32,
    /// Share of the walk in the legs, 0 (as they are animated) to 1 (the default). The trunk walks at any.
    pub influence: f32,
    /// Height of the trunk, times that of the model: 0.2 to 2; 1 by default.
    pub ride: f32,
    /// Height of a step on level ground, as a share of a leg: 0 to 1; 0.12 by default.
    pub lift: f32,
    /// Time constant in seconds with which trailing tails return to the animation, 0 to 10. The moving trunk pulls them along. 0 by
    /// default, at which tails stay with the trunk.
    pub trail: f32,
    /// The legs, for a creature whose shape does not show them. Empty (the default): they are found by the shape of its skeleton.
    #[entities]
    pub legs: IkLegs,
    /// The entity that carries the creature: a lift, a ship. `None` (the default) for what is at rest. It walks on it as it moves.
    #[entities]
    pub platform: Option<Entity>,
}

template! {
    /// The template of a [`CreatureWalk`].
    CreatureWalkTemplate for CreatureWalk {
        platform, ;
        velocity: Vec3,
        turn: f32,
        influence: f32,
        ride: f32,
        lift: f32,
        trail: f32,
        legs: IkLegs,
    }
}

/// A leg of a creature: the bone at its top, and that of its foot.
#[derive(Clone, Debug, PartialEq, Eq, Default, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub struct IkLeg {
    /// The first bone of the leg, such as the thigh.
    pub root: IkBone,
    /// The last one that walks: the foot, the hoof, or the last segment of an insect's leg.
    pub tip: IkBone,
}

/// Legs of a creature, three or more, in any order.
///
/// ```
/// use bevy_sinew::IkLegs;
/// let legs = IkLegs::of([("thigh.L", "foot.L"), ("thigh.R", "foot.R"), ("tail", "tail_end")]);
/// assert_eq!(legs.0.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub struct IkLegs(pub Vec<IkLeg>);

impl IkLegs {
    /// Legs with these roots and tips.
    pub fn of<B: Into<IkBone>>(legs: impl IntoIterator<Item = (B, B)>) -> Self {
        Self(legs.into_iter().map(|(root, tip)| IkLeg { root: root.into(), tip: tip.into() }).collect())
    }
}

impl MapEntities for IkLegs {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        for leg in &mut self.0 {
            leg.root.map_entities(mapper);
            leg.tip.map_entities(mapper);
        }
    }
}

/// How a [`CreatureWalk`] goes; on its entity, and there by itself.
#[derive(Component, Clone, Debug, PartialEq, Default, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
pub struct CreatureReport {
    /// The gait: `wave`, `ripple`, `tripod`, `tetrapod`, `walk` or `trot`.
    pub gait: String,
    /// Count of feet that stand.
    pub standing: usize,
    /// Share of the velocity at which the trunk moves to stay in reach of its standing feet; 1 if it does not wait.
    pub pace: f32,
    /// The bone of the foot that it waits for.
    #[entities]
    pub waits_for: Option<Entity>,
    /// Why that foot has found no place to step to; empty if it has.
    pub reason: String,
    /// The largest speed that the legs can step, in metres a second, where the velocity is faster.
    pub max_speed: Option<f32>,
}

impl CreatureReport {
    /// Takes over a frame's report, in the texts that it has already.
    fn take(&mut self, report: &WalkReport, foot: impl Fn(usize) -> Entity) {
        self.gait.clear();
        self.gait.push_str(report.gait.name());
        self.reason.clear();
        if let Some((_, Some(why))) = report.waits {
            // A string takes any text.
            let _ = write!(self.reason, "{why}");
        }
        (self.standing, self.pace, self.max_speed) = (report.standing, report.pace, report.max_speed);
        self.waits_for = report.waits.map(|(leg, _)| foot(leg));
    }
}

impl Default for CreatureWalk {
    fn default() -> Self {
        let WalkOptions { ride, lift, trail, .. } = WalkOptions::new();
        Self {
            velocity: Vec3::ZERO,
            turn: 0.0,
            influence: 1.0,
            ride,
            lift,
            trail,
            legs: IkLegs::default(),
            platform: None,
        }
    }
}

/// A walk as a character keeps it ready.
#[derive(Debug, Default)]
pub(crate) struct CreatureSlot {
    wanted: CreatureWalk,
    /// Joints that it moves, of the whole skeleton, which is the part too.
    joints: Vec<JointId>,
    creature: Option<Creature>,
    solver: Option<Box<(Walker, WalkState)>>,
    /// The options of the walker are out of date.
    changed: bool,
    /// The character in this frame, and where the last one has put it: places in the world.
    world: Affine3,
    placed: Option<Affine3>,
    carrier: Carrier,
    /// It stands anew.
    reset: bool,
    standing: Vec<bool>,
    contacts: Vec<(bool, FootContact)>,
    told: CreatureReport,
    workspace: Mutex<Workspace>,
}

/// Distance in legs and angle in radians by which a place that somebody else has set differs from the last one: rounding differs by
/// less.
const ELSEWHERE: f32 = 1e-3;

impl Handle for CreatureSlot {
    fn read(
        &mut self,
        (components, entity): (&Components, Entity),
        influence: f32,
        bound: &Bound,
        _: &mut Vec<Entity>,
    ) -> Result<Action, String> {
        let Ok(given) = components.walk.get(entity) else { return Ok(Action::Nothing) };
        let options = |walk: &CreatureWalk| (walk.ride, walk.lift, walk.trail);
        self.changed |= options(&self.wanted) != options(&given);
        let trails = (self.wanted.trail > 0.0) != (given.trail > 0.0);
        // An order in each frame must not copy the names of the legs.
        if self.wanted.legs != given.legs {
            self.wanted.legs.clone_from(&given.legs);
            (self.creature, self.solver) = (None, None);
            self.joints.clear();
        }
        let CreatureWalk { velocity, turn, ride, lift, trail, platform, .. } = *given;
        let influence = given.influence * influence;
        let legs = std::mem::take(&mut self.wanted.legs);
        self.wanted = CreatureWalk { velocity, turn, influence, ride, lift, trail, legs, platform };
        if self.creature.is_none() {
            self.creature = Some(creature(&self.wanted.legs, bound)?);
            self.reset = true;
        } else if !trails {
            return Ok(Action::Solve { fresh: false });
        }
        let Some(creature) = &self.creature else { return Ok(Action::Nothing) };
        self.joints = self.walker(creature)?.joints(&bound.kit.skeleton);
        let root = creature.root();
        self.joints.retain(|&joint| joint != root);
        Ok(Action::Solve { fresh: true })
    }

    fn place(&mut self, world: &Affine3, places: &Places, _: &Bound) -> Result<(), (Entity, NoPlace)> {
        self.world = *world;
        self.carrier.place(self.wanted.platform, places)?;
        if let (Some(placed), Some(creature)) = (self.placed, &self.creature) {
            let scale = math::uniform_scale(&placed.matrix3).abs();
            let moved = (placed.translation - world.translation).length();
            let turned = math::angle_between(turn_of(&placed), turn_of(world));
            self.reset |= moved > ELSEWHERE * creature.length() * scale || turned > ELSEWHERE;
        }
        Ok(())
    }

    fn joints(&self) -> &[JointId] {
        &self.joints
    }

    fn needs_all(&self) -> bool {
        true
    }

    fn turns(&self, visit: &mut dyn FnMut(JointId)) {
        if self.solver.is_some() {
            self.joints.iter().copied().for_each(visit);
        }
    }

    fn forget(&mut self) {
        self.solver = None;
        self.reset = true;
    }

    fn build(&mut self, part: &Part, kit: &Kit) -> Result<(), String> {
        let (None, Some(creature)) = (&self.solver, &self.creature) else { return Ok(()) };
        if part.whole.len() != kit.skeleton.len() {
            return Ok(());
        }
        let walker = self.walker(creature)?;
        let state = walker.state(&Placement::IDENTITY).map_err(|error| error.to_string())?;
        self.standing = vec![true; creature.legs().len()];
        self.contacts = Vec::with_capacity(creature.legs().len());
        self.solver = Some(Box::new((walker, state)));
        self.changed = false;
        Ok(())
    }

    fn rest(&mut self) {
        self.reset = true;
        self.placed = None;
        self.told = CreatureReport::default();
        self.carrier.forget();
    }

    fn solve(&mut self, pose: &mut Pose, frame: &Frame) -> Option<Result<Report, String>> {
        let mut solver = self.solver.take()?;
        let walked = self.walk(&mut solver, pose, frame);
        self.solver = Some(solver);
        Some(walked)
    }

    fn contacts(&mut self) -> Option<&mut Vec<(bool, FootContact)>> {
        Some(&mut self.contacts)
    }

    fn walked(&self) -> Option<&CreatureReport> {
        Some(&self.told)
    }

    fn placed(&self) -> Option<(Affine3, Affine3)> {
        Some((self.world, self.placed?))
    }
}

impl CreatureSlot {
    fn walker(&self, creature: &Creature) -> Result<Walker, String> {
        let CreatureWalk { ride, lift, trail, .. } = self.wanted;
        let options = WalkOptions::new().with_ride(ride).with_lift(lift).with_trail(trail);
        Walker::new(creature, options).map_err(|error| error.to_string())
    }

    fn walk(
        &mut self,
        (walker, state): &mut (Walker, WalkState),
        pose: &mut Pose,
        frame: &Frame,
    ) -> Result<Report, String> {
        let text = |error: sinew::ground::walk::WalkError| error.to_string();
        if self.changed {
            // Of the same creature: its state goes on.
            *walker = self.walker(walker.creature())?;
            self.changed = false;
        }
        let placing = |error: AffineError| error.to_string();
        let (platform, changed) = self.carrier.board(frame.dt).map_err(placing)?;
        if self.reset {
            let place = Placement::new(self.world).map_err(placing)?;
            let place = platform.map_or(Ok(place), |platform| platform.relative(&place)).map_err(placing)?;
            walker.reset(state, &place).map_err(text)?;
            self.standing.fill(true);
        } else if let Some([left, boarded]) = changed {
            // What does not change over stands anew on the next frame.
            self.reset = true;
            walker.change_platform(state, &left, &boarded).map_err(text)?;
            self.reset = false;
        }
        let carried = platform.as_ref().map(|platform| platform.ground(frame.ground));
        let ground: &dyn Ground = carried.as_ref().map_or(frame.ground, |ground| ground);
        state.set_influence(self.wanted.influence).map_err(text)?;
        let mut workspace = self.workspace.lock().unwrap_or_else(PoisonError::into_inner);
        let (velocity, turn) = (self.wanted.velocity, self.wanted.turn);
        let report =
            walker.step(state, &mut workspace, pose, ground, velocity, turn, frame.dt).map_err(text)?;
        self.reset = false;
        let place = report.placement;
        let place = platform.map_or(Ok(place), |platform| platform.in_world(&place)).map_err(placing)?;
        self.placed = Some(place.world_from_model());
        let foot = |leg: usize| frame.joints[walker.creature().legs()[leg].foot.index()].0;
        self.told.take(&report, foot);
        self.contacts.clear();
        let legs = walker.creature().legs().iter();
        for ((leg, foot), stood) in legs.zip(state.feet()).zip(&mut self.standing) {
            if std::mem::replace(stood, foot.stands) == foot.stands {
                continue;
            }
            let reach = 0.5 * leg.length * report.placement.scale();
            let hit = ground.cast_ray(foot.point + Vec3::Y * reach, -Vec3::Y, 2.0 * reach, &Filter::ALL);
            let over = platform.as_ref().map_or(&Placement::IDENTITY, |platform| platform.placement());
            let contact = FootContact {
                foot: frame.joints[leg.foot.index()].0,
                position: over.to_world(foot.point),
                normal: over.direction_to_world(hit.map_or(Vec3::Y, |hit| hit.normal)),
                surface: hit.and_then(|hit| hit.body).and_then(Entity::try_from_bits),
                speed: 0.0,
            };
            self.contacts.push((foot.stands, contact));
        }
        // In model space, as all reports of solvers.
        let scale = report.placement.scale();
        let mut told = Report::default();
        told.position_residual = report.out_of_reach / scale;
        told.position_tolerance = 1e-3 * walker.creature().length();
        Ok(told)
    }
}

/// The creature with these legs, or with those that are found.
fn creature(legs: &IkLegs, bound: &Bound) -> Result<Creature, String> {
    let kit = &bound.kit;
    let skin = kit.skin.get().ok_or("its legs have not been looked for")?;
    let made = |legs: Result<Legs, LegsError>| {
        let legs = legs.map_err(|error| error.to_string())?;
        Creature::new(&kit.bind, &legs, skin).map_err(|error| error.to_string())
    };
    if legs.0.is_empty() {
        return kit.creature.get_or_init(|| made(Legs::find(&kit.bind, skin))).clone();
    }
    let find = |bone: &IkBone| bound.find(bone).map_err(|error| error.to_string());
    let ends: Result<Vec<_>, String> =
        legs.0.iter().map(|leg| Ok((find(&leg.root)?, find(&leg.tip)?))).collect();
    made(Legs::given(&kit.bind, skin, &ends?))
}

fn turn_of(place: &Affine3) -> sinew::glam::Quat {
    math::rotation_of(&split(place).0.matrix3)
}
