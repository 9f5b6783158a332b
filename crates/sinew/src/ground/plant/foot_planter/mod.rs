//! Planting frame by frame, for games: any time step, with or without look-ahead.

mod ankle;
mod casts;
mod clock;
pub(in crate::ground) mod course;
mod error;
mod floor;
mod foot;
mod measures;
mod memory;
pub(in crate::ground) mod offset;
mod place;
mod presence;
pub(in crate::ground) mod ride;
mod sampled;
mod show;
pub(in crate::ground) mod spring;
pub(in crate::ground) mod ticks;
mod track;
mod under;

use alloc::vec::Vec;

use glam::Vec3;

use super::{Figure, FootFrame, Leg, PlantOptionError, PlantOptions, Unplanted, contact::ContactLimits};
use crate::{JointId, JointTransform, Placement, Pose};
use clock::Known;
pub use error::FootPlanterError;
pub use floor::LegFloor;
use foot::{Foot, Phase};
use measures::Measures;
use place::Place;
use presence::Presence;
use spring::Spring;
use track::Track;

/// Report of a planted frame.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct FootPlanterReport {
    /// Vertical offset of the pelvis from the animation, in metres in world space (up is positive).
    pub raise: f32,
    /// Largest residual of an ankle, in metres in world space.
    pub out_of_reach: f32,
    /// Number of feet that stand.
    pub standing: usize,
}

/// State of a foot of a [`FootPlanterState`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum FootState {
    /// The foot follows the animation over the ground, or catches up with it.
    Air,
    /// The foot stands on a foothold.
    Standing,
    /// The foot is in contact in the animation, but there is no foothold.
    Refused(Unplanted),
}

/// Largest distance of a sole's point from its joint, and of two platforms; squares of larger ones overflow.
const FURTHEST: f32 = 1e16;

/// Tolerance in seconds for a tick on a frame, as times are summed in `f32`.
const NOW: f32 = 1e-4;
/// Shortest time step, in seconds, that gives meaningful velocities; shorter ones are added to the next step.
const LEAST: f32 = 1e-4;

/// Plants a figure's feet frame by frame.
///
/// A foot locks when its heel or ball comes down: low and slow, by the limits in [`PlantOptions`], or by
/// [`FootPlanterState::set_contact`]. It locks on the ground that [`FootPlanter::sense`] found below it, and unlocks when
/// both points lift. Its displacement from the animation then decays on a critically damped spring of
/// [`PlantOptions::foot_rate`], integrated exactly. In the air a foot keeps its height above the ground as the animation
/// does above its floor, and rises before an edge. The pelvis follows the feet on a spring of [`PlantOptions::pelvis_rate`]
/// and stays in reach of the legs. With look-ahead a foothold counts less where the body could not come down to it in time,
/// a foot off the ground keeps as far from its hip as its knee folds, and on a lower tread the forefoot lands before the heel, where the
/// animation lands on the heel. A foot without ground keeps its animation. A locked foot unlocks if the animation leaves
/// it too far behind.
///
/// # Frame rates
///
/// All decisions fall on a clock of 30 ticks per second; between ticks feet move with the animation and their springs. A
/// contact is therefore detected up to 1/30 s late.
///
/// A game that can sample its animation at any time calls [`FootPlanter::step_with`], which samples it at the ticks. The
/// same numbers then decide at every frame rate. With [`FootPlanter::sense`] and [`FootPlanter::step`] alone, as below, the
/// animation at a tick is interpolated from the frames, which may take one frame more. A contact or a foothold at its limit
/// may then be accepted at one frame rate and rejected at another. Gradual decisions make this rare: a foot unlocks
/// gradually as its contact fades, and an edge counts gradually as it comes into view.
///
/// # Casts
///
/// [`FootPlanter::sense`], and so [`FootPlanter::step_with`], casts rays straight down, at most once per tick: three for the
/// body, and for each leg as many as its phase needs. A foot that stands firmly needs none. One in the air needs three under
/// its sole, up to 26 along its path and, near its landing or once for each landing known ahead, up to 42 along its sole. Where
/// no position along the sole serves, up to four lines beside it have as many each. Each edge of the ground on a line adds
/// seven. The heights of a new foothold are cast once more, with up to seven rays. The first call casts one longer ray where
/// it finds no ground near the figure. [`FootPlanter::step`] casts none.
///
/// # State
///
/// A foot planter is shared between characters. [`FootPlanterState`] holds the memory of one character's feet. The same
/// calls with the same state give the same bits. All memory is allocated in [`FootPlanter::state`].
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
/// // Both heels are on the hill, which rises by 0.2 m per metre.
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
    /// Look-ahead in ticks.
    ahead: usize,
}

/// Memory of one character's feet from frame to frame, for one [`FootPlanter`]. [`FootPlanter::state`] makes it.
#[derive(Clone, Debug)]
pub struct FootPlanterState {
    legs: Vec<LegState>,
    /// Look-ahead in ticks.
    ahead: usize,
    frames: Vec<FootFrame>,
    /// Local transforms to restore if a leg cannot be solved.
    backup: Vec<(JointId, JointTransform)>,
    /// Height in world space of the floor under the body (y).
    level: Spring,
    level_goal: Vec3,
    /// Height in world space of the ground under the body.
    base: Option<f32>,
    /// Body under the figure's body.
    body_below: Option<u64>,
    /// Rise of the ground over the lag of the pelvis' spring, in metres.
    rise: f32,
    /// Motion of the pelvis (as an ankle).
    body: Track,
    /// Sum of time steps shorter than [`LEAST`], in seconds.
    pending: f32,
    /// Time since the last casts, in seconds.
    since: f32,
    /// Time since the last tick, in seconds.
    phase: f32,
    /// Last time step, in seconds.
    last: f32,
    /// Ticks given for the coming steps.
    known: Known,
    started: bool,
    /// Share of planting that shows.
    presence: Presence,
    /// Placement of the state's own frame on the platform. It is attached to the platform and upright in it.
    frame: Placement,
    /// Position of the figure in that frame at the last step.
    position: Vec3,
}

/// State of a leg.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LegState {
    joint: JointId,
    foot: Foot,
    given: Option<[f32; 2]>,
    /// Time integral of the knee's bend normal in the thigh's frame.
    hinge: Vec3,
    /// Lowest level of the body within the knee's range, and clearance of the foot, in metres in the last frame.
    room: [f32; 2],
    /// Smallest distance of hip and ankle, in metres.
    near: f32,
}

impl FootPlanter {
    /// Makes a foot planter for a figure, of which it keeps a copy.
    ///
    /// The floor of every leg's animation is at the lowest sole of the rest pose, until [`FootPlanter::set_floor`] or
    /// [`FootPlanter::learn_floor`] changes it.
    ///
    /// # Errors
    ///
    /// An option is outside its range.
    pub fn new(figure: &Figure, settings: PlantOptions) -> Result<Self, PlantOptionError> {
        settings.check()?;
        let floor = LegFloor { heel: figure.floor, ball: figure.floor };
        let floors = alloc::vec![floor; figure.legs.len()];
        Ok(Self { figure: figure.clone(), settings, floors, ahead: 0 })
    }

    /// Makes the initial state of one character's feet.
    pub fn state(&self) -> FootPlanterState {
        let count = self.figure.legs.len();
        let leg = |leg: &Leg| LegState {
            joint: leg.foot,
            foot: Foot::default(),
            given: None,
            hinge: Vec3::ZERO,
            room: [0.0; 2],
            near: 0.0,
        };
        FootPlanterState {
            legs: self.figure.legs.iter().map(leg).collect(),
            ahead: self.ahead,
            frames: Vec::with_capacity(count),
            backup: Vec::with_capacity(1 + 4 * count),
            level: Spring::default(),
            level_goal: Vec3::ZERO,
            base: None,
            body_below: None,
            rise: 0.0,
            body: Track::default(),
            pending: 0.0,
            since: 0.0,
            phase: 0.0,
            last: 0.0,
            known: Known::new(count),
            started: false,
            presence: Presence::default(),
            frame: Placement::IDENTITY,
            position: Vec3::ZERO,
        }
    }

    /// Figure whose feet are planted.
    pub fn figure(&self) -> &Figure {
        &self.figure
    }

    /// Options of planting.
    pub fn settings(&self) -> &PlantOptions {
        &self.settings
    }

    /// Checks that a state fits this foot planter.
    fn knows(&self, feet: &FootPlanterState) -> Result<(), FootPlanterError> {
        let own = self.figure.legs.iter().map(|leg| leg.foot).eq(feet.legs.iter().map(|leg| leg.joint));
        if own && self.ahead == feet.ahead { Ok(()) } else { Err(FootPlanterError::State) }
    }

    /// Checks that the pose is finite and has the figure's joints, and that the soles are within [`FURTHEST`].
    fn fits(&self, pose: &Pose) -> Result<(), FootPlanterError> {
        let (joint, joints) = (self.figure.last_joint(), pose.skeleton().len());
        if joint >= joints {
            return Err(FootPlanterError::Figure { joint, joints });
        }
        for (leg, sole) in self.figure.legs.iter().map(|leg| &leg.sole).enumerate() {
            // True for NaN as well.
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

    /// Frequency of the pelvis' spring, in rad/s.
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
            follows_slope: figure.legs[leg].follows_slope,
            heel_floor: (floor.heel - lowest) * size,
            ball_floor: (floor.ball - lowest) * size,
            slope: settings.max_slope,
            clearance: settings.clearance * scale,
            ahead: self.ahead,
        }
    }

    /// Plants a frame.
    ///
    /// `pose` holds the animation's frame and receives the planted one. `placement` is the figure's placement in the world,
    /// in metres, or relative to the [`Platform`](crate::ground::Platform) on which it stands: its horizontal position
    /// counts, while the height comes from the ground. `dt` is the time since the last step in seconds; 0 leaves the state
    /// as it is. After more than 8 ticks (0.27 s) feet start anew, at rest on the ground.
    ///
    /// # Errors
    ///
    /// The time step is negative or not finite, the state is another foot planter's, the pose or a sole is invalid, a tick
    /// of the look-ahead is missing, or a leg cannot be solved. The pose then keeps the animation.
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
        let place = self.place(&feet.framed(placement)?);
        feet.position = place.placement.to_world(Vec3::ZERO);
        if let Some(time) = self.next_tick(feet, dt).filter(|_| self.ahead > 0) {
            return Err(FootPlanterError::Unforeseen(time));
        }
        if feet.ends_before(dt) {
            feet.restart();
        }
        pose.update();
        feet.pending += dt;
        if !feet.started || feet.pending >= LEAST {
            let dt = core::mem::take(&mut feet.pending);
            feet.presence.advance(dt, &self.settings);
            if feet.presence.is_absent() {
                feet.reset();
                return Ok(FootPlanterReport::default());
            }
            self.advance(feet, pose, &place, dt);
        }
        if feet.presence.is_absent() {
            return Ok(FootPlanterReport::default());
        }
        self.show(feet, pose, &place)
    }
}

impl FootPlanterState {
    /// Sets the contact of a foot from now on, from 0 (in the air) to 1 (standing). The foot lands and lifts at one half.
    /// `None` returns to detection. Values are clamped to 0 to 1; one that is not finite counts as 0.
    ///
    /// # Errors
    ///
    /// There is no such leg.
    pub fn set_contact(&mut self, leg: usize, contact: Option<f32>) -> Result<(), FootPlanterError> {
        let count = self.legs.len();
        let state = self.legs.get_mut(leg).ok_or(FootPlanterError::Leg { leg, count })?;
        let contact = contact.map(|c| if c.is_finite() { c.clamp(0.0, 1.0) } else { 0.0 });
        state.given = contact.map(|c| [state.given.map_or(c, |g| g[1]), c]);
        Ok(())
    }

    /// Whether a foot stands; false for a leg that does not exist.
    pub fn stands(&self, leg: usize) -> bool {
        self.legs.get(leg).is_some_and(|l| l.foot.locked())
    }

    /// State of a foot, with the reason for which a foot in contact does not stand; `None` for a leg that does not exist.
    pub fn foot(&self, leg: usize) -> Option<FootState> {
        self.legs.get(leg).map(|leg| match leg.foot.phase {
            Phase::Air | Phase::Behind(_) => FootState::Air,
            Phase::Locked(_) => FootState::Standing,
            Phase::Refused(why) => FootState::Refused(why),
        })
    }

    /// Number of the body under the pelvis ([`Hit::body`](crate::ground::Hit::body)) at the last cast. `None` without ground
    /// or a number, or in the air.
    pub fn body_below(&self) -> Option<u64> {
        self.body_below
    }

    /// Number of the body under the ball of a foot at the foot's last cast. A foot that stands keeps that of its landing.
    /// `None` without ground or a number, in the air, or for a leg that does not exist.
    pub fn body_below_foot(&self, leg: usize) -> Option<u64> {
        self.legs.get(leg)?.foot.under.body
    }

    /// Forgets the past motion, for example after a teleport. The next step starts on the ground that the next
    /// [`FootPlanter::sense`] finds, at any height. What the caller has set stays: contacts, the influence, and whether
    /// the figure is on the ground.
    pub fn reset(&mut self) {
        for leg in &mut self.legs {
            (leg.foot, leg.hinge) = (Foot::default(), Vec3::ZERO);
        }
        (self.level, self.level_goal) = (Spring::default(), Vec3::ZERO);
        (self.base, self.rise, self.body) = (None, 0.0, Track::default());
        self.body_below = None;
        (self.pending, self.since, self.phase, self.last) = (0.0, 0.0, 0.0, 0.0);
        self.known.clear();
        self.started = false;
        self.frame = Placement::IDENTITY;
    }
}
