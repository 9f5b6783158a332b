//! Feet on the ground.

use std::cell::RefCell;

use bevy_ecs::{
    component::Component, entity::Entity, event::EntityEvent, message::Message, reflect::ReflectComponent,
};
use bevy_math::Vec3;
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use sinew::{
    JointId, Placement, Pose, Report,
    glam::Affine3,
    ground::{
        Filter, Ground, Platform,
        plant::{
            Figure, FootPlanter, FootPlanterError, FootPlanterReport, FootPlanterState, Leg, PlantOptions,
            Sole,
        },
    },
    math,
};

use crate::{
    IkLayer, IkReport,
    ahead::Ahead,
    binding::{Bound, Kit, Part},
    carrier::{Carrier, velocity},
    draw::{Ray, Recorder, StandingSole},
    gather::{NoPlace, Places},
    ground::split,
    slot::{Action, Components, Frame, Handle},
    template::template,
};

/// Plants a two-legged character's feet on the ground: entities with [`IkGround`](crate::IkGround). Feet stand where they land, along
/// slopes and over edges, and the pelvis follows them. The animation is one over flat ground.
///
/// Soles are measured on the character's meshes, where these are kept in main memory; else they follow from its bones, with a
/// warning, if [`sole`](Self::sole) does not tell them.
///
/// ```
/// # use bevy_ecs::prelude::*;
/// use bevy_sinew::{FootPlanting, IkSkeleton};
/// # fn system(mut commands: Commands) {
/// commands.spawn((IkSkeleton::default(), FootPlanting::default()));
/// # }
/// ```
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(IkReport, IkLayer)]
pub struct FootPlanting {
    /// Share of planting that shows, 0 (the animation) to 1 (the default). It applies at once: a game eases it.
    pub influence: f32,
    /// Whether the character is on the ground (the default). In jumps, falls and ragdolls it is not: planting fades out, and in
    /// again after the return.
    pub grounded: bool,
    /// The entity that carries the character: a lift, a ship. `None` (the default) for what is at rest. Feet stay on it as it moves.
    /// If it is despawned, [`TargetLost`](crate::TargetLost) is sent, and the character keeps its animation.
    #[entities]
    pub platform: Option<Entity>,
    /// Whether feet in the air go to where they will land (the default), as far as Bevy's own players tell the coming animation, and
    /// the character goes on as it moves. A character that stops and turns within a few frames may be better off without.
    pub look_ahead: bool,
    /// Distance in heights of the character by which a jump from frame to frame is a teleport, after which feet start anew; 1 by
    /// default. [`IkTeleport`] tells of others.
    pub jump: f32,
    /// Both soles, in place of those that are measured. `None` by default.
    pub sole: Option<IkSole>,
}

/// The sole of a foot, in metres of the character's bind pose. It is level there, and points to the toes.
///
/// ```
/// use bevy_sinew::{FootPlanting, IkSole};
/// let boots = IkSole { height: 0.11, heel: 0.07, tip: 0.22 };
/// let feet = FootPlanting { sole: Some(boots), ..Default::default() };
/// # assert!(feet.sole.is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub struct IkSole {
    /// Height of the ankle over the sole: 0 or more.
    pub height: f32,
    /// Distance of the heel behind the ankle: 0 or more.
    pub heel: f32,
    /// Distance of the tip ahead of the ankle: more than 0.
    pub tip: f32,
}

impl IkSole {
    /// Sets the soles of a figure.
    fn set(&self, figure: &mut Figure, bind: &Pose) -> Result<(), String> {
        let Self { height, heel, tip } = *self;
        let fits = [height, heel, tip].iter().all(|length| (0.0..f32::MAX).contains(length)) && tip > 0.0;
        let wrong = || {
            format!("a sole {height} m below the ankle, from {heel} m behind it to {tip} m ahead, is none")
        };
        let length = figure.leg_length();
        for leg in figure.legs_mut() {
            let ankle = bind.position(leg.foot);
            let measured = || math::rotate(bind.model_rotation(leg.foot), leg.sole.tip - leg.sole.heel);
            let ahead = leg.toes.map_or_else(measured, |toes| bind.position(toes) - ankle);
            let ahead = ahead.with_y(0.0).normalize_or(Vec3::Z);
            let below = ankle - Vec3::Y * height;
            let ends = [below - ahead * heel, below + ahead * tip];
            let sole = Sole::from_mesh(bind, leg.foot, leg.toes, length, &ends).filter(|_| fits);
            leg.sole = sole.ok_or_else(wrong)?;
        }
        Ok(())
    }
}

template! {
    /// The template of a [`FootPlanting`].
    FootPlantingTemplate for FootPlanting {
        platform, ;
        influence: f32,
        grounded: bool,
        look_ahead: bool,
        jump: f32,
        sole: Option<IkSole>,
    }
}

impl Default for FootPlanting {
    fn default() -> Self {
        Self { influence: 1.0, grounded: true, platform: None, look_ahead: true, jump: 1.0, sole: None }
    }
}

/// Tells that a character was moved to another place, or that its animation has changed at a leap: its feet start anew.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct IkTeleport(pub Entity);

/// A foot that lands or lifts: for sounds, dust and decals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootContact {
    /// The bone of the foot.
    pub foot: Entity,
    /// The middle of the sole, in the world.
    pub position: Vec3,
    /// Normal of the ground below it; up where there is none.
    pub normal: Vec3,
    /// The ground below it.
    pub surface: Option<Entity>,
    /// Speed of the sole in m/s, relative to what carries the character: that of the frame before a landing.
    pub speed: f32,
}

/// A foot came to stand. Sent as a message, and as an event for observers of the character.
#[derive(Message, EntityEvent, Clone, Copy, Debug, PartialEq)]
pub struct FootLanded {
    /// The character.
    #[event_target]
    pub character: Entity,
    /// Where and how.
    pub contact: FootContact,
}

/// A foot that stood lets go. Sent as a message, and as an event for observers of the character.
#[derive(Message, EntityEvent, Clone, Copy, Debug, PartialEq)]
pub struct FootLifted {
    /// The character.
    #[event_target]
    pub character: Entity,
    /// Where and how.
    pub contact: FootContact,
}

/// A foot from frame to frame.
#[derive(Clone, Copy, Debug, Default)]
struct Foot {
    standing: bool,
    /// Middle of the sole, where the platform is at rest.
    at: Option<Vec3>,
    speed: f32,
}

/// How a character moves, where the platform is at rest.
#[derive(Clone, Copy, Debug, Default)]
struct Motion {
    /// Where it was in the last frame.
    last: Option<Affine3>,
    /// Metres and radians a second; `None` until they are known.
    rate: Option<(Vec3, f32)>,
}

/// Time over which the motion is averaged, in seconds: a game that moves characters in steps of its own has frames without any. A
/// longer one is slow to see turns and stops, and costs more than it brings: feet that land beside the animation's.
const AVERAGE: f32 = 1.0 / 30.0;

/// Seconds of the coming animation, as `FootPlanter::set_look_ahead` recommends.
const AHEAD: f32 = 0.3;

impl Motion {
    fn step(&mut self, now: &Affine3, dt: f32) {
        if let (Some(last), true) = (self.last.replace(*now), dt > 0.0) {
            let (linear, angular) = velocity(&last, now, dt);
            let share = 1.0 - math::exp(-dt / AVERAGE);
            let known = self.rate.unwrap_or((linear, angular.y));
            let averaged = (known.0 + (linear - known.0) * share, known.1 + (angular.y - known.1) * share);
            self.rate = Some(averaged);
        }
    }

    /// Where it will be, `later` seconds from now, if it goes on so: along an arc.
    fn place(&self, now: &Placement, later: f32) -> Placement {
        let (linear, yaw) = self.rate.unwrap_or_default();
        let turned = |angle| math::axis_angle(Vec3::Y, angle);
        let mut place = now.world_from_model();
        place.matrix3 = math::to_matrix(turned(yaw * later)) * place.matrix3;
        // The chord of an arc is turned by half of its angle; its length differs by less than one part in twenty below a radian.
        place.translation += math::rotate(turned(0.5 * yaw * later), linear) * later;
        Placement::new(place).unwrap_or(*now)
    }
}

/// The feet as a character keeps them ready.
#[derive(Debug, Default)]
pub(crate) struct FeetSlot {
    /// Pelvis and legs, of the whole skeleton.
    joints: Vec<JointId>,
    figure: Option<Figure>,
    /// On the part.
    solver: Option<Box<Solver>>,
    influence: f32,
    grounded: bool,
    jump: f32,
    sole: Option<IkSole>,
    platform: Option<Entity>,
    /// The character in this frame: its place in the world; and what carries it.
    world: Affine3,
    carrier: Carrier,
    /// Feet start anew.
    reset: bool,
    last: Option<Vec3>,
    looks_ahead: bool,
    ahead: Ahead,
    /// The last casts, and those of this frame.
    rays: Vec<Ray>,
    fresh_rays: Vec<Ray>,
    /// The pose without planting.
    before: Option<Pose>,
    motion: Motion,
    feet: Vec<Foot>,
    /// Feet that landed (true) or lifted in this frame.
    contacts: Vec<(bool, FootContact)>,
}

impl Handle for FeetSlot {
    fn read(
        &mut self,
        (components, entity): (&Components, Entity),
        influence: f32,
        bound: &Bound,
        _: &mut Vec<Entity>,
    ) -> Result<Action, String> {
        let Some(given) = components.feet.get(entity).ok().filter(|given| given.influence != 0.0) else {
            return Ok(Action::Nothing);
        };
        (self.influence, self.grounded, self.jump, self.platform) =
            (influence * given.influence, given.grounded, given.jump, given.platform);
        self.looks_ahead = given.look_ahead;
        if self.figure.is_some() && self.sole == given.sole {
            return Ok(Action::Solve { fresh: false });
        }
        (self.figure, self.solver, self.sole) = (None, None, given.sole);
        let mut figure = bound.kit.figure.get().ok_or("its feet have not been measured")?.clone()?;
        if let Some(sole) = &given.sole {
            sole.set(&mut figure, &bound.kit.bind)?;
        }
        self.joints.clear();
        for leg in figure.legs() {
            self.joints
                .extend([Some(leg.thigh), Some(leg.shin), Some(leg.foot), leg.toes].into_iter().flatten());
        }
        self.joints.push(figure.pelvis());
        self.figure = Some(figure);
        Ok(Action::Solve { fresh: true })
    }

    fn place(&mut self, world: &Affine3, places: &Places, bound: &Bound) -> Result<(), (Entity, NoPlace)> {
        self.carrier.place(self.platform, places)?;
        self.world = *world;
        if self.looks_ahead {
            self.ahead.read(&self.joints, bound, &places.players);
        } else {
            self.ahead.known = false;
        }
        Ok(())
    }

    fn joints(&self) -> &[JointId] {
        &self.joints
    }

    fn turns(&self, visit: &mut dyn FnMut(JointId)) {
        if let Some((planter, _)) = self.solver.as_deref() {
            let figure = planter.figure();
            let legs = figure.legs().iter();
            let joints = legs.flat_map(|leg| [Some(leg.thigh), Some(leg.shin), Some(leg.foot), leg.toes]);
            joints.flatten().chain([figure.pelvis()]).for_each(&mut *visit);
        }
    }

    fn forget(&mut self) {
        self.solver = None;
        self.ahead.forget();
        self.before = None;
    }

    fn build(&mut self, part: &Part, _: &Kit) -> Result<(), String> {
        let (None, Some(figure)) = (&self.solver, &self.figure) else { return Ok(()) };
        let joint = |whole| part.joint(whole).ok_or("a leg is not there");
        let mut legs = Vec::new();
        for leg in figure.legs() {
            let toes = leg.toes.map(joint).transpose()?;
            legs.push(Leg {
                thigh: joint(leg.thigh)?,
                shin: joint(leg.shin)?,
                foot: joint(leg.foot)?,
                toes,
                ..*leg
            });
        }
        self.feet = vec![Foot::default(); legs.len()];
        self.contacts = Vec::with_capacity(legs.len());
        let rest = Pose::rest(&part.skeleton);
        let figure = Figure::new(&rest, joint(figure.pelvis())?, legs, figure.height());
        let figure = figure.map_err(|error| error.to_string())?;
        let planter =
            FootPlanter::new(&figure, PlantOptions::default()).map_err(|error| error.to_string())?;
        let state = planter.state();
        self.solver = Some(Box::new((planter, state)));
        self.reset = false;
        Ok(())
    }

    /// Forgets where the feet were.
    fn rest(&mut self) {
        self.reset = true;
        self.last = None;
        self.carrier.forget();
        self.motion = Motion::default();
        self.feet.iter_mut().for_each(|foot| *foot = Foot::default());
    }

    fn solve(&mut self, pose: &mut Pose, frame: &Frame) -> Option<Result<Report, String>> {
        match self.plant(pose, frame) {
            Ok(report) => Some(Ok(report)),
            Err(Problem::Unmade) => None,
            Err(Problem::Place(error)) => Some(Err(error.to_string())),
            Err(Problem::Planter(error)) => Some(Err(error.to_string())),
        }
    }

    fn feet(&self) -> ([StandingSole; 2], &[Ray]) {
        let mut soles = [None; 2];
        if let Some((planter, feet)) = self.solver.as_deref() {
            for (n, (leg, sole)) in planter.figure().legs().iter().zip(&mut soles).enumerate() {
                let (foot, toes) = (leg.foot, leg.toes.unwrap_or(leg.foot));
                let points = [(foot, leg.sole.heel), (foot, leg.sole.ball), (toes, leg.sole.tip)];
                *sole = feet.stands(n).then_some(points);
            }
        }
        (soles, &self.rays)
    }

    fn look_ahead(&self) -> f32 {
        self.solver.as_ref().map_or(0.0, |solver| solver.0.look_ahead())
    }

    fn contacts(&mut self) -> Option<&mut Vec<(bool, FootContact)>> {
        Some(&mut self.contacts)
    }
}

impl FeetSlot {
    fn plant(&mut self, pose: &mut Pose, frame: &Frame) -> Result<Report, Problem> {
        if !frame.records {
            self.rays.clear();
            return self.plant_on(pose, frame, frame.ground);
        }
        // Not every frame casts: those of the last one that did are kept.
        let mut rays = std::mem::take(&mut self.fresh_rays);
        rays.clear();
        let recorder = Recorder { ground: frame.ground, rays: RefCell::new(&mut rays) };
        let planted = self.plant_on(pose, frame, &recorder);
        self.fresh_rays = rays;
        if !self.fresh_rays.is_empty() {
            std::mem::swap(&mut self.rays, &mut self.fresh_rays);
        }
        planted
    }

    fn plant_on(&mut self, pose: &mut Pose, frame: &Frame, world: &dyn Ground) -> Result<Report, Problem> {
        let Some(mut solver) = self.solver.take() else { return Err(Problem::Unmade) };
        let planted = self.plant_by(&mut solver, pose, frame, world);
        self.solver = Some(solver);
        planted
    }

    fn plant_by(
        &mut self,
        (planter, feet): &mut Solver,
        pose: &mut Pose,
        frame: &Frame,
        world: &dyn Ground,
    ) -> Result<Report, Problem> {
        let placement = Placement::new(self.world).map_err(Problem::Place)?;
        let platform = self.board(feet, frame.dt)?;
        let place = match &platform {
            Some(platform) => platform.relative(&placement).map_err(Problem::Place)?,
            None => placement,
        };
        let height = planter.figure().height() * place.scale().abs();
        self.travel(feet, &place, height, frame.dt);
        if self.ahead.known != (planter.look_ahead() > 0.0) {
            // Feet that go by another clock start anew.
            planter.set_look_ahead(if self.ahead.known { AHEAD } else { 0.0 })?;
            *feet = planter.state();
        }
        feet.set_influence(self.influence)?;
        feet.set_grounded(self.grounded);
        let on_platform = platform.as_ref().map(|platform| platform.ground(world));
        let ground: &dyn Ground = on_platform.as_ref().map_or(world, |ground| ground);
        let report = if self.ahead.known {
            self.step_ahead(planter, feet, pose, ground, &place, frame.dt)?
        } else {
            planter.sense(feet, ground, pose, &place)?;
            planter.step(feet, pose, &place, frame.dt)?
        };
        self.notice(planter, feet, pose, ground, (&place, platform.as_ref()), frame);
        let mut told = Report::default();
        // In model space, as all reports of solvers.
        told.position_residual = report.out_of_reach / math::uniform_scale(&self.world.matrix3).abs();
        told.position_tolerance = 1e-3 * planter.figure().height();
        Ok(told)
    }

    /// The platform that carries the character. Feet change over to it.
    fn board(&mut self, feet: &mut FootPlanterState, dt: f32) -> Result<Option<Platform>, Problem> {
        let (platform, changed) = self.carrier.board(dt).map_err(Problem::Place)?;
        if let Some([left, boarded]) = changed.filter(|_| !self.reset) {
            feet.change_platform(&left, &boarded);
            self.last = None;
            self.motion = Motion::default();
            self.feet.iter_mut().for_each(|foot| foot.at = None);
        }
        Ok(platform)
    }

    /// Notes how the character moves. Leaps are no motion.
    fn travel(&mut self, feet: &mut FootPlanterState, place: &Placement, height: f32, dt: f32) {
        let at = place.to_world(Vec3::ZERO);
        let leapt = self.last.is_some_and(|last| last.distance(at) > self.jump * height);
        if leapt || self.reset {
            feet.reset();
            self.motion = Motion::default();
            self.feet.iter_mut().for_each(|foot| foot.at = None);
        }
        (self.last, self.reset) = (Some(at), false);
        self.motion.step(&split(&place.world_from_model()).0, dt);
    }

    /// Plants by the coming animation.
    fn step_ahead(
        &mut self,
        planter: &FootPlanter,
        feet: &mut FootPlanterState,
        pose: &mut Pose,
        ground: &dyn Ground,
        place: &Placement,
        dt: f32,
    ) -> Result<FootPlanterReport, FootPlanterError> {
        let (ahead, motion) = (&mut self.ahead, &self.motion);
        let before = self.before.get_or_insert_with(|| pose.clone());
        before.copy_from(pose);
        let stepped = planter.step_with(feet, ground, pose, dt, |later, pose| {
            pose.copy_from(before);
            if later == 0.0 {
                return *place;
            }
            ahead.pose(later, pose);
            motion.place(place, later)
        });
        if stepped.is_err() {
            pose.copy_from(before);
        }
        stepped
    }

    /// Notes which feet landed and lifted.
    fn notice(
        &mut self,
        planter: &FootPlanter,
        feet: &FootPlanterState,
        pose: &Pose,
        ground: &dyn Ground,
        (place, platform): (&Placement, Option<&Platform>),
        frame: &Frame,
    ) {
        let (dt, reach) = (frame.dt, 0.5 * planter.figure().height() * place.scale().abs());
        self.contacts.clear();
        for (leg, foot) in self.feet.iter_mut().enumerate() {
            let figure = &planter.figure().legs()[leg];
            let sole = (figure.sole.heel + figure.sole.ball) * 0.5;
            let at = place.to_world(pose.model(figure.foot).transform_point3(sole));
            let speed = foot.at.filter(|_| dt > 0.0).map_or(0.0, |last| last.distance(at) / dt);
            let stands = feet.stands(leg);
            if stands != foot.standing {
                let hit = ground.cast_ray(at + Vec3::Y * reach, -Vec3::Y, 2.0 * reach, &Filter::ALL);
                let turned =
                    |direction| platform.map_or(direction, |p| p.placement().direction_to_world(direction));
                let surface = feet.body_below_foot(leg).or(hit.and_then(|hit| hit.body));
                let contact = FootContact {
                    foot: frame.joints[figure.foot.index()].0,
                    position: platform.map_or(at, |platform| platform.placement().to_world(at)),
                    normal: turned(hit.map_or(Vec3::Y, |hit| hit.normal)),
                    surface: surface.and_then(Entity::try_from_bits),
                    speed: if stands { foot.speed.max(speed) } else { speed },
                };
                self.contacts.push((stands, contact));
            }
            *foot = Foot { standing: stands, at: Some(at), speed };
        }
    }
}

/// Of one part of a skeleton.
type Solver = (FootPlanter, FootPlanterState);

enum Problem {
    Unmade,
    Place(sinew::AffineError),
    Planter(FootPlanterError),
}

impl From<FootPlanterError> for Problem {
    fn from(error: FootPlanterError) -> Self {
        Self::Planter(error)
    }
}
