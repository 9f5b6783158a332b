//! Planting step by step, for games: no look-ahead, any time step.

mod beats;
mod course;
mod foot;
mod offset;
mod spring;
mod track;
mod under;

use alloc::vec::Vec;

use glam::{Affine3, Quat, Vec3};
use thiserror::Error;

use super::{
    Figure, FootFrame, Search, SettingError, Settings,
    contact::Limits,
    plan::{highest, lowest},
};
use crate::{JointId, Pose, PoseError, SolveError, Transform, ground::Ground, math, motion::Clip};
use beats::{BEAT, MOST_AHEAD};
use foot::{Foot, Measures};
use offset::rotation;
use spring::Spring;
use track::{Sole, Track};

/// Why a step was not made. The pose is as it came.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StepError {
    /// The time step is not a time.
    #[error("a time step must be finite and not negative, not {0} s")]
    Time(f32),
    /// The figure's placement in the world is no similarity.
    #[error("the placement in the world must turn, move and scale evenly, not {0:?}")]
    Placement(Affine3),
    /// The pose holds a number that is not finite.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// The figure has joints that the pose has not, or not the legs that the stepper was made for.
    #[error(
        "the figure has {legs} legs and joints up to {joint}, but the stepper {expected} legs and the pose {joints} joints"
    )]
    Figure {
        /// Legs of the figure.
        legs: usize,
        /// Its last joint.
        joint: usize,
        /// Legs that the stepper was made for.
        expected: usize,
        /// Joints of the pose.
        joints: usize,
    },
    /// There is no such leg.
    #[error("there is no leg {leg}: the figure has {count}")]
    Leg {
        /// The one asked for.
        leg: usize,
        /// How many there are.
        count: usize,
    },
    /// A stepper with foresight was not told what comes.
    #[error("`foresee` must be called before each step of a stepper with foresight ({0} s)")]
    Unforeseen(f32),
    /// A limb was not solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct StepReport {
    /// How far the pelvis was raised, in metres of the world.
    pub raise: f32,
    /// The furthest that an ankle stays from where it should be, in metres of the world.
    pub out_of_reach: f32,
    /// How many feet stand.
    pub standing: usize,
}

/// Height of the floor that a leg's animation was made for, in model space: where its heel and its ball are when they
/// stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LegFloor {
    /// For the heel.
    pub heel: f32,
    /// For the ball.
    pub ball: f32,
}

/// Most beats in one step: beyond a quarter of a second there is nothing to follow.
const MOST_BEATS: usize = 8;
/// A beat that is this near, in seconds, is now: times are summed up in f32.
const NOW: f32 = 1e-4;

/// Plants a figure's feet a frame at a time.
///
/// A heel or ball that comes down (low and slow, as [`Settings`] say, or as [`Stepper::set_contact`] gives it) locks its foot
/// where it is, on the ground that [`Stepper::sense`] found there; one that lifts lets it go. Whatever a foot was moved by
/// then dies away on a critically damped spring of [`Settings::foot_rate`], which is integrated exactly. In the air a foot
/// goes over the ground as the animation goes over its floor, and rises before an edge. The pelvis follows on a spring of
/// [`Settings::pelvis_rate`] and stays where the legs reach. A foot without ground keeps its animation; a locked foot that is
/// left behind lets go.
///
/// Contacts are decided on a clock of thirty beats a second, by the animation between the frames around each beat: a game at
/// 144 Hz decides at the same times by the same numbers as one at 30 Hz, and both see the same feet. Between beats feet move
/// with the animation and their springs. The price is that a contact is known up to a thirtieth of a second late.
///
/// The state is explicit: the same calls give the same bits, and [`Stepper::reset`] forgets it. Everything is allocated in
/// [`Stepper::new`].
///
/// ```
/// use std::sync::Arc;
/// use sinew::{
///     Pose, Skeleton, Transform,
///     glam::{Affine3, Vec3},
///     ground::{Plane, plant::{Figure, Leg, Settings, Sole, Stepper}},
/// };
/// let mut b = Skeleton::builder();
/// let at = |x, y, z| Transform::from_translation(Vec3::new(x, y, z));
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
/// let mut stepper = Stepper::new(&figure, Settings::default())?;
///
/// // A hill that rises towards +Z, and a figure that stands on it.
/// let ground = Plane { point: Vec3::ZERO, normal: Vec3::new(0.0, 1.0, -0.2).normalize() };
/// let mut pose = rest.clone();
/// for frame in 0..60 {
///     pose.copy_from(&rest); // Here a game samples its clip, and moves its character.
///     let world = Affine3::from_translation(Vec3::new(0.0, 0.0, 1.0));
///     stepper.sense(&ground, &figure, &pose, &world)?;
///     let report = stepper.step(&figure, &mut pose, &world, 1.0 / 60.0)?;
///     assert_eq!(report.standing, 2);
/// }
/// // Both heels are on the hill: a fifth of the way up, as it is a fifth as high as far.
/// for leg in figure.legs() {
///     let heel = pose.model(leg.foot).transform_point3(leg.sole.heel);
///     assert!((heel.y - 0.2 * (heel.z + 1.0)).abs() < 1e-3, "{heel}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stepper {
    settings: Settings,
    legs: Vec<LegState>,
    frames: Vec<FootFrame>,
    /// Local transforms to go back to where a limb fails.
    backup: Vec<(JointId, Transform)>,
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
    /// Seconds since the last beat.
    phase: f32,
    /// The last time step.
    last: f32,
    /// Beats by which the animation is known ahead.
    ahead: usize,
    /// Whether it is for the coming step.
    foreseen: bool,
    started: bool,
}

/// A leg's state.
#[derive(Clone, Debug)]
struct LegState {
    foot: Foot,
    floor: LegFloor,
    given: Option<[f32; 2]>,
    /// The animation's foot as far ahead as it is known.
    leading: Sole,
    /// Sum of the knee's bends, by time, in the thigh's frame.
    hinge: Vec3,
}

/// The figure where the world has it.
struct Place {
    world: Affine3,
    scale: f32,
    /// Height of the world under the animation's floor.
    floor: f32,
}

impl Place {
    fn new(world: &Affine3, floor: f32) -> Result<Self, StepError> {
        let scale = math::uniform_scale(&world.matrix3).abs();
        // A tenth of a percent is what several multiplied f32 matrices leave of a rotation.
        let even = world.is_finite() && math::shear(&world.matrix3) < 1e-3 && scale.is_normal();
        if !even {
            return Err(StepError::Placement(*world));
        }
        Ok(Self { world: *world, scale, floor: world.transform_point3(Vec3::Y * floor).y })
    }

    /// A point of model space in the world, its height over the animation's floor.
    fn over_floor(&self, point: Vec3) -> Vec3 {
        self.world.transform_point3(point) - Vec3::Y * self.floor
    }
}

impl Stepper {
    /// A stepper for a figure. The floor of every leg is the lowest of the figure's soles in its rest pose, until
    /// [`Stepper::set_floor`] or [`Stepper::learn_floor`] say otherwise.
    pub fn new(figure: &Figure, settings: Settings) -> Result<Self, SettingError> {
        settings.check()?;
        let floor = LegFloor { heel: figure.floor, ball: figure.floor };
        let leg = LegState {
            foot: Foot::default(),
            floor,
            given: None,
            leading: Sole::default(),
            hinge: Vec3::ZERO,
        };
        let count = figure.legs.len();
        Ok(Self {
            settings,
            legs: alloc::vec![leg; count],
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
            ahead: 0,
            foreseen: false,
            started: false,
        })
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Says where the floor of a leg's animation is.
    pub fn set_floor(&mut self, leg: usize, floor: LegFloor) -> Result<(), StepError> {
        let count = self.legs.len();
        self.legs.get_mut(leg).ok_or(StepError::Leg { leg, count })?.floor = floor;
        Ok(())
    }

    /// Finds the floor of each leg's animation: the lowest that its heel and its ball get in `clip`. Some clips float, and some
    /// sink. `rest` is the rest pose. This is not for every frame.
    pub fn learn_floor(&mut self, figure: &Figure, clip: &Clip, rest: &Pose) -> Result<(), StepError> {
        self.fits(figure, rest)?;
        let mut pose = rest.clone();
        for state in &mut self.legs {
            state.floor = LegFloor { heel: f32::INFINITY, ball: f32::INFINITY };
        }
        let count = math::ceil(clip.duration() * 60.0).clamp(1.0, 1e5) as usize;
        for i in 0..=count {
            clip.sample(clip.start() + clip.duration() * (i as f32 / count as f32), &mut pose);
            pose.update();
            for (state, leg) in self.legs.iter_mut().zip(&figure.legs) {
                let s = leg.sample(&pose, Vec3::ZERO);
                state.floor.heel = state.floor.heel.min(s.heel_at().y);
                state.floor.ball = state.floor.ball.min(s.ball_at().y);
            }
        }
        Ok(())
    }

    /// Gives a foot's contact from outside, from now on: 1 while it should stand, 0 while it should not, and what is between
    /// along the way; half is where it lands and lifts. `None` lets it be found again.
    pub fn set_contact(&mut self, leg: usize, contact: Option<f32>) -> Result<(), StepError> {
        let count = self.legs.len();
        let state = self.legs.get_mut(leg).ok_or(StepError::Leg { leg, count })?;
        let contact = contact.map(|c| if c.is_finite() { c.clamp(0.0, 1.0) } else { 0.0 });
        state.given = contact.map(|c| [state.given.map_or(c, |g| g[1]), c]);
        Ok(())
    }

    /// Whether a foot stands.
    pub fn stands(&self, leg: usize) -> bool {
        self.legs.get(leg).is_some_and(|l| l.foot.locked())
    }

    /// Forgets where the feet were, as a teleport needs it. The next step begins on the ground that the next
    /// [`Stepper::sense`] finds, at whatever height.
    pub fn reset(&mut self) {
        for leg in &mut self.legs {
            (leg.foot, leg.hinge) = (Foot::default(), Vec3::ZERO);
        }
        (self.level, self.level_goal) = (Spring::default(), Vec3::ZERO);
        (self.base, self.rise, self.body) = (None, 0.0, Track::default());
        (self.pending, self.since, self.phase, self.last) = (0.0, 0.0, 0.0, 0.0);
        (self.foreseen, self.started) = (false, false);
    }

    fn fits(&self, figure: &Figure, pose: &Pose) -> Result<(), StepError> {
        let joints = pose.skeleton().len();
        let last = figure.last_joint();
        if figure.legs.len() != self.legs.len() || last >= joints {
            let (legs, expected) = (figure.legs.len(), self.legs.len());
            return Err(StepError::Figure { legs, joint: last, expected, joints });
        }
        Ok(pose.check_finite()?)
    }

    fn place(&self, world: &Affine3) -> Result<Place, StepError> {
        let floors = self.legs.iter().map(|l| l.floor.heel.min(l.floor.ball));
        Place::new(world, floors.fold(f32::INFINITY, f32::min))
    }

    /// In rad/s.
    fn pelvis_omega(&self) -> f32 {
        core::f32::consts::TAU * self.settings.pelvis_rate
    }

    fn measures(&self, figure: &Figure, leg: usize, place: &Place) -> Measures {
        let (size, settings) = (place.scale, &self.settings);
        let scale = size * figure.height / 1.8;
        let floors = self.legs.iter().map(|l| l.floor.heel.min(l.floor.ball));
        let lowest = floors.fold(f32::INFINITY, f32::min);
        let floor = self.legs[leg].floor;
        Measures {
            limits: Limits {
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

    /// Lets the stepper know the animation `seconds` ahead, from the next step on: up to half a second, in thirtieths. A foot
    /// then knows where it will land while it is in the air, and goes there; without, it finds its place once it has landed,
    /// and moves there. The time of half a step, 0.3 s, is enough. Before each step, [`Stepper::foresee`] must say what comes.
    /// The state is forgotten, as by [`Stepper::reset`].
    pub fn set_foresight(&mut self, seconds: f32) -> Result<(), StepError> {
        if !(seconds >= 0.0 && seconds.is_finite()) {
            return Err(StepError::Time(seconds));
        }
        self.reset();
        self.ahead = math::floor(seconds / BEAT + 0.5).min(MOST_AHEAD as f32) as usize;
        Ok(())
    }

    /// How far ahead the animation must be given to [`Stepper::foresee`], in seconds.
    pub fn foresight(&self) -> f32 {
        self.ahead as f32 * BEAT
    }

    /// Says what the animation will be [`Stepper::foresight`] seconds after the frame of the coming step, and where the figure
    /// will be in the world: by its clip, its speed and its way. A game that cannot know passes the best that it can: a foot
    /// that then lands elsewhere than was foreseen, as in a clip that was broken off, passes over to where it lands.
    pub fn foresee(&mut self, figure: &Figure, pose: &Pose, world: &Affine3) -> Result<(), StepError> {
        self.fits(figure, pose)?;
        let place = self.place(world)?;
        for (state, leg) in self.legs.iter_mut().zip(&figure.legs) {
            state.leading = sole(&leg.sample(pose, Vec3::ZERO), &place);
        }
        self.foreseen = true;
        Ok(())
    }

    /// Casts for the ground under the body and around the feet. `pose` holds the animation, not yet planted, and `world` is the
    /// figure's placement (world from model space): those that the next [`Stepper::step`] is given, or the latest known. It may
    /// be called as often as the physics runs; down to ten times a second, feet still see edges in time.
    pub fn sense(
        &mut self,
        ground: &dyn Ground,
        figure: &Figure,
        pose: &Pose,
        world: &Affine3,
    ) -> Result<(), StepError> {
        self.fits(figure, pose)?;
        let place = self.place(world)?;
        // What casts find is taken over at the next beat: before, there is no need to look again.
        let due = self.phase + 1.2 * self.last >= BEAT - NOW || self.since >= BEAT - NOW;
        if self.started && !due {
            return Ok(());
        }
        let since = core::mem::take(&mut self.since);
        let settings = self.settings;
        let scale = place.scale * figure.height / 1.8;
        let search = Search { ground, settings: &settings, leg: figure.leg_length * place.scale, scale };
        // They are for that beat, and so for where things are then: between the last frame and this one.
        let past = if self.started && self.last > 0.0 {
            ((self.phase + self.last - BEAT) / self.last).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let body = place.over_floor(pose.position(figure.pelvis));
        let body = body + (self.body.at(0.0).ankle - body) * past;
        let base = match self.base {
            Some(base) => search.height(body, base).map_or(base, |(y, _)| y),
            None => {
                let near = search.height(body, place.floor).map(|(y, _)| y);
                let Some(y) = near.or_else(|| search.anywhere(body, place.floor)) else { return Ok(()) };
                y
            }
        };
        self.base = Some(base);
        // The spring of the pelvis runs behind a climb by 2 / omega seconds; so much is looked ahead, and back, as one step
        // of a stair is no slope.
        let ahead = self.body.mean_rate(0.0).ankle.with_y(0.0) * (2.0 / self.pelvis_omega());
        let height = |at: Vec3| search.height(at, base).map_or(base, |(y, _)| y);
        let most = LEAD * search.leg;
        self.rise = (0.5 * (height(body + ahead) - height(body - ahead))).clamp(-most, most);
        for i in 0..self.legs.len() {
            let m = self.measures(figure, i, &place);
            let now = sole(&figure.legs[i].sample(pose, Vec3::ZERO), &place);
            let foot = &mut self.legs[i].foot;
            if !self.started {
                foot.start(base);
            }
            let now = match self.ahead {
                _ if !self.started => now,
                0 => now.after(&foot.track.at(0.0).minus(&now), past),
                ahead => foot.beats.ago(ahead - 1).sole,
            };
            foot.sense(&search, &m, &now, base, since);
        }
        Ok(())
    }

    /// Plants a frame. `pose` comes with the animation's frame and leaves with the feet planted; `world` is the figure's
    /// placement (world from model space: a rotation, a uniform scale, a translation, in metres); `dt` is the time
    /// since the last step, in seconds. With a `dt` of 0 the state stays as it is.
    ///
    /// The placement says where the figure is, seen from above. How high it stands, the ground says.
    pub fn step(
        &mut self,
        figure: &Figure,
        pose: &mut Pose,
        world: &Affine3,
        dt: f32,
    ) -> Result<StepReport, StepError> {
        if !(dt >= 0.0 && dt.is_finite()) {
            return Err(StepError::Time(dt));
        }
        self.fits(figure, pose)?;
        let place = self.place(world)?;
        if self.ahead > 0 && !self.foreseen {
            return Err(StepError::Unforeseen(self.foresight()));
        }
        pose.update();
        self.pending += dt;
        // Differences over less than a tenth of a millisecond say nothing of speeds; it is taken with the next.
        if !self.started || self.pending >= 1e-4 {
            // After a thousand seconds everything is at rest.
            let dt = core::mem::take(&mut self.pending).min(1e3);
            self.advance(figure, pose, &place, dt);
        }
        self.show(figure, pose, &place)
    }

    fn advance(&mut self, figure: &Figure, pose: &Pose, place: &Place, dt: f32) {
        let first = !self.started;
        let dt = if first { 0.0 } else { dt };
        if first {
            let base = self.base.unwrap_or(place.floor);
            self.level = Spring { value: Vec3::Y * base, rate: Vec3::ZERO };
            self.level_goal = self.level.value;
        }
        for (state, leg) in self.legs.iter_mut().zip(&figure.legs) {
            let s = leg.sample(pose, Vec3::ZERO);
            let leading = if self.ahead > 0 { state.leading } else { sole(&s, place) };
            state.foot.track.push(leading, dt);
            // The axis about which the knee bends, in the thigh's frame, as the last five seconds have it.
            let bend = math::rotate(math::conjugate(s.thigh), s.bend());
            state.hinge = state.hinge * math::exp(-dt / 5.0) + bend * if first { 1e-2 } else { dt };
        }
        (self.foreseen, self.last) = (false, dt);
        self.since += dt;
        let body = Sole { ankle: place.over_floor(pose.position(figure.pelvis)), ..Sole::default() };
        self.body.push(body, dt);
        if first {
            self.begin(figure, pose, place);
            return;
        }
        self.phase += dt;
        let beats = math::floor((self.phase + NOW) / BEAT);
        self.phase -= beats * BEAT;
        let count = (beats as usize).min(MOST_BEATS);
        for beat in 0..count {
            // A long time ends with its last beats; the springs run through all of it.
            let h = if beat == 0 { (beats - (count - 1) as f32) * BEAT } else { BEAT };
            let age = (self.phase + (count - 1 - beat) as f32 * BEAT).clamp(0.0, dt);
            self.beat(figure, pose, place, h, age / dt.max(f32::MIN_POSITIVE), age);
        }
        for state in &mut self.legs {
            state.given = state.given.map(|[_, now]| [now, now]);
        }
    }

    /// The first beat: everything is where it should be.
    fn begin(&mut self, figure: &Figure, pose: &Pose, place: &Place) {
        for (i, leg) in figure.legs.iter().enumerate() {
            let m = self.measures(figure, i, place);
            let now = sole(&leg.sample(pose, Vec3::ZERO), place);
            let hip = place.over_floor(pose.position(leg.thigh));
            let (state, settings) = (&mut self.legs[i], &self.settings);
            let given = state.given.map(|[_, now]| now);
            // What lies between now and what is foreseen is not known.
            let way = state.foot.track.at(0.0).minus(&now);
            for beat in 0..=self.ahead {
                let part = beat as f32 / self.ahead.max(1) as f32;
                state.foot.beats.push(now.after(&way, part), given, &m);
            }
            state.foot.advance(0.0, settings, &m, hip);
            state.foot.settle();
        }
        self.follow_feet(figure, place, 0.0);
        self.started = true;
    }

    /// Goes on by `h` seconds to a beat that is `age` seconds, and this share of the time step, before the present frame.
    fn beat(&mut self, figure: &Figure, pose: &Pose, place: &Place, h: f32, share: f32, age: f32) {
        for (i, leg) in figure.legs.iter().enumerate() {
            let m = self.measures(figure, i, place);
            let hip = place.over_floor(pose.position(leg.thigh));
            let (state, settings) = (&mut self.legs[i], &self.settings);
            let given = state.given.map(|[before, now]| now + (before - now) * share);
            let leading = state.foot.track.at(age);
            state.foot.beats.push(leading, given, &m);
            state.foot.advance(h, settings, &m, hip);
        }
        self.follow_feet(figure, place, h);
    }

    /// The body's floor goes with the feet that stand.
    fn follow_feet(&mut self, figure: &Figure, place: &Place, h: f32) {
        // A foot in the air says a little about where the body should be; where none says anything, the ground does.
        const SWINGING: f32 = 0.25;
        const NOTHING: f32 = 1e-3;
        let base = self.base.unwrap_or(place.floor);
        let (mut sum, mut weight) = (NOTHING * base, NOTHING);
        for (i, state) in self.legs.iter().enumerate() {
            let m = self.measures(figure, i, place);
            let w = state.foot.weight(0.0, &m) * if state.foot.locked() { 1.0 } else { SWINGING };
            sum += w * state.foot.present(&m).ankle.y;
            weight += w;
        }
        self.level = self.level.towards(self.level_goal, self.level_goal, self.pelvis_omega(), h);
        self.level_goal = Vec3::Y * (sum / weight + self.rise);
        if !self.started {
            self.level = Spring { value: self.level_goal, rate: Vec3::ZERO };
        }
    }

    /// Carries the state out on the pose.
    fn show(&mut self, figure: &Figure, pose: &mut Pose, place: &Place) -> Result<StepReport, StepError> {
        let scale = place.scale * figure.height / 1.8;
        let (mut high, mut low) = (f32::INFINITY, f32::NEG_INFINITY);
        let back = place.world.inverse();
        let since = self.phase.max(0.0);
        self.frames.clear();
        let mut standing = 0;
        for (i, leg) in figure.legs.iter().enumerate() {
            let m = self.measures(figure, i, place);
            let model = leg.sample(pose, Vec3::ZERO);
            let now = sole(&model, place);
            let state = &mut self.legs[i];
            let offset = state.foot.show(&now, since, &m);
            let weight = state.foot.weight(since, &m);
            standing += usize::from(state.foot.locked());
            let mut sample = model;
            for p in [&mut sample.hip, &mut sample.knee, &mut sample.ankle] {
                *p = place.over_floor(*p);
            }
            let ankle = now.ankle + offset.ankle;
            if weight > 1e-3 {
                // A foot that fades out holds the pelvis less and less.
                let slack = 2.0 * m.leg * (1.0 - weight) / weight;
                high = high.min(highest(&sample, ankle, &self.settings) + slack);
                low = low.max(lowest(&sample, ankle) - slack);
            }
            let turn = |v: Vec3| {
                let world = math::slerp(Quat::IDENTITY, rotation(v), weight);
                math::into_frame(&place.world.matrix3, world)
            };
            let bend = model.bend() + math::rotate(model.thigh, state.hinge.normalize_or_zero());
            self.frames.push(FootFrame {
                turn: turn(offset.turn),
                toes: turn(offset.toes),
                ankle,
                // A leg that never was bent does not say where its knee points.
                knee_way: if bend.length() > 1e-3 {
                    model.knee_way(state.hinge.normalize_or_zero())
                } else {
                    Vec3::ZERO
                },
                clip_line: model.ankle - model.hip,
                weight,
            });
        }
        let ease = EASE * scale;
        let level = self.level.towards(self.level_goal, self.level_goal, self.pelvis_omega(), since);
        let level = soft_least(level.value.y, high, ease);
        // Where a leg would be folded too far and another too long, the long one decides.
        let level = soft_least(-soft_least(-level, -low, ease), high, ease);
        let raise = level - place.floor;
        for (leg, frame) in figure.legs.iter().zip(&mut self.frames) {
            let kept = place.over_floor(pose.position(leg.foot)) + Vec3::Y * level;
            frame.ankle = back.transform_point3(kept + (frame.ankle - kept) * frame.weight);
        }
        self.backup.clear();
        self.backup.push((figure.pelvis, *pose.local(figure.pelvis)));
        for leg in &figure.legs {
            let joints = [Some(leg.thigh), Some(leg.shin), Some(leg.foot), leg.toes];
            self.backup.extend(joints.into_iter().flatten().map(|j| (j, *pose.local(j))));
        }
        let carry = back.transform_vector3(Vec3::Y * raise);
        let mut missed = 0.0f32;
        let applied = figure.apply(pose, carry, 0.0, &self.frames, |_, by| missed = missed.max(by));
        if let Err(error) = applied {
            for &(joint, local) in &self.backup {
                pose.set_local(joint, local);
            }
            pose.update();
            return Err(error.into());
        }
        Ok(StepReport { raise, out_of_reach: missed * place.scale, standing })
    }
}

/// The pelvis comes to a limit along a curve that begins about this far from it, in metres for a figure of 1.8 m.
const EASE: f32 = 0.01;

/// The pelvis goes ahead of the feet by at most this share of the leg.
const LEAD: f32 = 0.5;

/// The lesser of two, never more, and smooth where they cross.
fn soft_least(value: f32, limit: f32, ease: f32) -> f32 {
    if !limit.is_finite() {
        return value;
    }
    let room = limit - value;
    limit - 0.5 * (room + math::sqrt(room * room + 4.0 * ease * ease))
}

fn sole(sample: &super::FootSample, place: &Place) -> Sole {
    let way = |v: Vec3| place.world.transform_vector3(v);
    Sole {
        ankle: place.over_floor(sample.ankle),
        heel: way(sample.heel),
        ball: way(sample.ball),
        tip: way(sample.tip),
    }
}
