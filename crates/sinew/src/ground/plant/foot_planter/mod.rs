//! Planting step by step, for games: no look-ahead, any time step.

mod casts;
mod clock;
mod course;
mod error;
mod floor;
mod foot;
mod measures;
mod offset;
mod place;
mod sampled;
mod show;
mod spring;
mod ticks;
mod track;
mod under;

use alloc::vec::Vec;

use glam::Vec3;

use super::{Figure, FootFrame, Leg, PlantOptionError, PlantOptions, contact::ContactLimits};
use crate::{JointId, JointTransform, Placement, Pose, solve::check};
use clock::Known;
pub use error::FootPlanterError;
pub use floor::LegFloor;
use foot::Foot;
use measures::Measures;
use place::Place;
use spring::Spring;
use track::Track;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct FootPlanterReport {
    /// How far the pelvis was raised, in metres of the world.
    pub raise: f32,
    /// The furthest that an ankle stays from where it should be, in metres of the world.
    pub out_of_reach: f32,
    /// How many feet stand.
    pub standing: usize,
}

/// Points of a sole are within this of their joint: the squares of what is further overflow.
const FURTHEST: f32 = 1e16;

/// A tick that is this near, in seconds, is now: times are summed up in f32.
const NOW: f32 = 1e-4;
/// Differences over less than a tenth of a millisecond say nothing of speeds: so short a step is taken with the next.
const LEAST: f32 = 1e-4;
/// After a thousand seconds everything is at rest.
const LONGEST: f32 = 1e3;

/// Plants a figure's feet a frame at a time.
///
/// A heel or ball that comes down (low and slow, as [`PlantOptions`] say, or as [`FootPlanterState::set_contact`] gives it) locks its
/// foot where it is, on the ground that [`FootPlanter::sense`] found there; one that lifts lets it go. Whatever a foot was
/// moved by then dies away on a critically damped spring of [`PlantOptions::foot_rate`], which is integrated exactly. In the
/// air a foot goes over the ground as the animation goes over its floor, and rises before an edge. The pelvis follows on
/// a spring of [`PlantOptions::pelvis_rate`] and stays where the legs reach. A foot without ground keeps its animation; a
/// locked foot that is left behind lets go.
///
/// Everything is decided on a clock of thirty ticks a second, and between ticks feet move with the animation and their
/// springs: what a game shows does not depend on when its frames are. A game that can sample its animation at any time
/// calls [`FootPlanter::step_with`], which asks for it at the ticks: then the same numbers decide at every frame rate. One
/// that calls [`FootPlanter::sense`] and [`FootPlanter::step`] alone, as below, has its frames taken for what is between them:
/// then a foot that only just comes near enough to the floor, or a place that only just serves, may be taken at one frame
/// rate and not at another; what can be decided gradually is (a foot lets go by degrees as its contact fades, and an edge
/// counts by degrees as it comes in sight). The price of the clock is that a contact is known up to a thirtieth of a
/// second late, and a frame more where the animation at a tick must be told from frames.
///
/// The foot planter is shared; what one figure's feet remember is a [`FootPlanterState`]. The same calls with the same state
/// give the same bits. Everything is allocated in [`FootPlanter::state`].
///
/// ```
/// use std::sync::Arc;
/// use sinew::{
///     Placement, Pose, Skeleton, JointTransform,
///     glam::{Affine3, Vec3},
///     ground::{Plane, plant::{Figure, Leg, PlantOptions, Sole, FootPlanter}},
/// };
/// let mut b = Skeleton::builder();
/// let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
/// let hips = b.add("hips", None, at(0.0, 0.95, 0.0));
/// let mut parts = Vec::new();
/// for x in [0.1, -0.1] {
///     let thigh = b.add("thigh", Some(hips), at(x, 0.0, 0.0));
///     let shin = b.add("shin", Some(thigh), at(0.0, -0.43, 0.02));
///     let foot = b.add("foot", Some(shin), at(0.0, -0.43, -0.02));
///     parts.push([thigh, shin, foot]);
/// }
/// let (skeleton, ids) = b.build()?;
/// let rest = Pose::rest(&Arc::new(skeleton));
/// let sole = Sole {
///     heel: Vec3::new(0.0, -0.09, -0.05),
///     ball: Vec3::new(0.0, -0.09, 0.13),
///     tip: Vec3::new(0.0, -0.09, 0.2),
/// };
/// let legs = parts.iter().map(|&[t, s, f]| Leg::new(ids[t], ids[s], ids[f], None, sole)).collect();
/// let figure = Figure::new(&rest, ids[hips], legs, 1.8)?;
/// let planter = FootPlanter::new(&figure, PlantOptions::default())?;
/// let mut feet = planter.state();
///
/// // A hill that rises towards +Z, and a figure that stands on it.
/// let ground = Plane { point: Vec3::ZERO, normal: Vec3::new(0.0, 1.0, -0.2).normalize() };
/// let mut pose = rest.clone();
/// for frame in 0..60 {
///     pose.copy_from(&rest); // Here a game samples its clip, and moves its character.
///     let placement = Placement::new(Affine3::from_translation(Vec3::new(0.0, 0.0, 1.0)))?;
///     planter.sense(&mut feet, &ground, &pose, &placement)?;
///     let report = planter.step(&mut feet, &mut pose, &placement, 1.0 / 60.0)?;
///     assert_eq!(report.standing, 2);
/// }
/// // Both heels are on the hill: a fifth of the way up, as it is a fifth as high as far.
/// for leg in figure.legs() {
///     let heel = pose.model(leg.foot).transform_point3(leg.sole.heel);
///     assert!((heel.y - 0.2 * (heel.z + 1.0)).abs() < 1e-3, "{heel}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias("foot placement", "grounder", "foot IK"))]
#[derive(Clone, Debug)]
pub struct FootPlanter {
    figure: Figure,
    settings: PlantOptions,
    /// Floor of each leg's animation.
    floors: Vec<LegFloor>,
    /// Beats by which the animation is known ahead.
    ahead: usize,
}

/// What a figure's feet remember from frame to frame, for one [`FootPlanter`].
#[derive(Clone, Debug)]
pub struct FootPlanterState {
    legs: Vec<LegState>,
    /// Beats by which the animation is known ahead.
    ahead: usize,
    frames: Vec<FootFrame>,
    /// Local transforms to go back to where a limb fails.
    backup: Vec<(JointId, JointTransform)>,
    /// Height in world space of the floor that the body stands on (y).
    level: Spring,
    level_goal: Vec3,
    /// Height of the ground under the body.
    base: Option<f32>,
    /// How much higher it is where the body will be once the spring has come there.
    rise: f32,
    /// The pelvis (as an ankle).
    body: Track,
    /// Time that was too short to be a step.
    pending: f32,
    /// Seconds since the last casts.
    since: f32,
    /// Seconds since the last tick.
    phase: f32,
    /// The last time step.
    last: f32,
    /// Beats that were given for the coming steps.
    known: Known,
    started: bool,
}

/// A leg's state.
#[derive(Clone, Debug)]
struct LegState {
    joint: JointId,
    foot: Foot,
    given: Option<[f32; 2]>,
    influence: f32,
    /// Sum of the knee's bends, by time, in the thigh's frame.
    hinge: Vec3,
    /// As it was shown last: the lowest level of the body at which its knee is not folded too far, and how far the foot can
    /// go down.
    room: [f32; 2],
}

impl FootPlanter {
    /// A foot planter for a figure, of which it keeps a copy: a figure that changes later needs a new one. The floor
    /// of every leg is the lowest of the figure's soles in its rest pose, until [`FootPlanter::set_floor`] or
    /// [`FootPlanter::learn_floor`] say otherwise.
    pub fn new(figure: &Figure, settings: PlantOptions) -> Result<Self, PlantOptionError> {
        settings.check()?;
        let floor = LegFloor { heel: figure.floor, ball: figure.floor };
        let floors = alloc::vec![floor; figure.legs.len()];
        Ok(Self { figure: figure.clone(), settings, floors, ahead: 0 })
    }

    /// The fresh state of a figure's feet.
    pub fn state(&self) -> FootPlanterState {
        let count = self.figure.legs.len();
        let leg = |leg: &Leg| LegState {
            joint: leg.foot,
            foot: Foot::default(),
            given: None,
            influence: 1.0,
            hinge: Vec3::ZERO,
            room: [0.0; 2],
        };
        FootPlanterState {
            legs: self.figure.legs.iter().map(leg).collect(),
            ahead: self.ahead,
            frames: Vec::with_capacity(count),
            backup: Vec::with_capacity(1 + 4 * count),
            level: Spring::default(),
            level_goal: Vec3::ZERO,
            base: None,
            rise: 0.0,
            body: Track::default(),
            pending: 0.0,
            since: 0.0,
            phase: 0.0,
            last: 0.0,
            known: Known::new(count),
            started: false,
        }
    }

    /// The figure that it plants.
    pub fn figure(&self) -> &Figure {
        &self.figure
    }

    /// The settings.
    pub fn settings(&self) -> &PlantOptions {
        &self.settings
    }

    /// Whether the state is one of this foot planter's.
    fn knows(&self, feet: &FootPlanterState) -> Result<(), FootPlanterError> {
        let own = self.figure.legs.iter().map(|leg| leg.foot).eq(feet.legs.iter().map(|leg| leg.joint));
        if own && self.ahead == feet.ahead { Ok(()) } else { Err(FootPlanterError::State) }
    }

    /// Whether the pose is finite and has the figure's joints, and the soles are in place.
    fn fits(&self, pose: &Pose) -> Result<(), FootPlanterError> {
        let (joint, joints) = (self.figure.last_joint(), pose.skeleton().len());
        if joint >= joints {
            return Err(FootPlanterError::Figure { joint, joints });
        }
        for (leg, sole) in self.figure.legs.iter().map(|leg| &leg.sole).enumerate() {
            // (Not so for NaN either.)
            let far = |p: &Vec3| !p.abs().cmple(Vec3::splat(FURTHEST)).all();
            if let Some(point) = [sole.heel, sole.ball, sole.tip].into_iter().find(far) {
                return Err(FootPlanterError::Sole { leg, point });
            }
        }
        Ok(pose.check_finite()?)
    }

    fn place(&self, placement: &Placement) -> Place {
        let floors = self.floors.iter().map(|floor| floor.heel.min(floor.ball));
        Place::new(placement, floors.fold(f32::INFINITY, f32::min))
    }

    /// In rad/s.
    fn pelvis_omega(&self) -> f32 {
        core::f32::consts::TAU * self.settings.pelvis_rate
    }

    fn measures(&self, leg: usize, place: &Place) -> Measures {
        let (size, figure, settings) = (place.scale, &self.figure, &self.settings);
        let scale = size * figure.height / 1.8;
        let floors = self.floors.iter().map(|floor| floor.heel.min(floor.ball));
        let lowest = floors.fold(f32::INFINITY, f32::min);
        let floor = self.floors[leg];
        Measures {
            limits: ContactLimits {
                height: settings.contact_height * figure.leg_length * size,
                speed: settings.contact_speed * scale,
                release: settings.release,
            },
            omega: core::f32::consts::TAU * settings.foot_rate,
            leg: figure.leg_length * size,
            scale,
            yaw: figure.legs[leg].yaw,
            sole_height: figure.legs[leg].sole_height * size,
            heel_floor: (floor.heel - lowest) * size,
            ball_floor: (floor.ball - lowest) * size,
            slope: settings.largest_slope,
            clearance: settings.clearance * scale,
            ahead: self.ahead,
        }
    }

    /// Plants a frame. `pose` comes with the animation's frame and leaves with the feet planted; `placement` is the
    /// figure's in the world (metres); `dt` is the time
    /// since the last step, in seconds. With a `dt` of 0 the state stays as it is.
    ///
    /// The placement says where the figure is, seen from above. How high it stands, the ground says.
    pub fn step(
        &self,
        feet: &mut FootPlanterState,
        pose: &mut Pose,
        placement: &Placement,
        dt: f32,
    ) -> Result<FootPlanterReport, FootPlanterError> {
        if !(dt >= 0.0 && dt.is_finite()) {
            return Err(FootPlanterError::Time(dt));
        }
        self.knows(feet)?;
        self.fits(pose)?;
        let place = self.place(placement);
        if let Some(time) = self.next_tick(feet, dt).filter(|_| self.ahead > 0) {
            return Err(FootPlanterError::Unforeseen(time));
        }
        pose.update();
        feet.pending += dt;
        if !feet.started || feet.pending >= LEAST {
            let dt = core::mem::take(&mut feet.pending).min(LONGEST);
            self.advance(feet, pose, &place, dt);
        }
        self.show(feet, pose, &place)
    }
}

impl FootPlanterState {
    /// Gives a foot's contact from outside, from now on: 1 while it should stand, 0 while it should not, and what is between
    /// along the way; half is where it lands and lifts. `None` lets it be found again.
    pub fn set_contact(&mut self, leg: usize, contact: Option<f32>) -> Result<(), FootPlanterError> {
        let count = self.legs.len();
        let state = self.legs.get_mut(leg).ok_or(FootPlanterError::Leg { leg, count })?;
        let contact = contact.map(|c| if c.is_finite() { c.clamp(0.0, 1.0) } else { 0.0 });
        state.given = contact.map(|c| [state.given.map_or(c, |g| g[1]), c]);
        Ok(())
    }

    /// Sets how much of a leg's planting is applied from now on, 0 (the animation's own) to 1 (all, the default): to fade it in
    /// and out. It multiplies the leg's own influences, and `reset` keeps it.
    pub fn set_influence(&mut self, leg: usize, influence: f32) -> Result<(), FootPlanterError> {
        check::within("the leg's influence", "0 to 1", influence, 0.0, 1.0)?;
        let count = self.legs.len();
        self.legs.get_mut(leg).ok_or(FootPlanterError::Leg { leg, count })?.influence = influence;
        Ok(())
    }

    /// Whether a foot stands.
    pub fn stands(&self, leg: usize) -> bool {
        self.legs.get(leg).is_some_and(|l| l.foot.locked())
    }

    /// Forgets where the feet were, as a teleport needs it. The next step begins on the ground that the next
    /// [`FootPlanter::sense`] finds, at whatever height.
    pub fn reset(&mut self) {
        for leg in &mut self.legs {
            (leg.foot, leg.hinge) = (Foot::default(), Vec3::ZERO);
        }
        (self.level, self.level_goal) = (Spring::default(), Vec3::ZERO);
        (self.base, self.rise, self.body) = (None, 0.0, Track::default());
        (self.pending, self.since, self.phase, self.last) = (0.0, 0.0, 0.0, 0.0);
        self.known.clear();
        self.started = false;
    }
}
