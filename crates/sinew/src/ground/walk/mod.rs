//! Walking: creatures with any number of legs that step over ground by themselves, without a clip.
//!
//! A [`Creature`] is what the bind pose tells: its legs ([`Legs`](crate::body::Legs)), its trunk and its belly. A [`Walker`]
//! moves it by a velocity and a turn that the game gives each frame. It decides when each leg steps (a [`Gait`]), where its
//! foot comes down, how it swings there, and how the trunk follows.
//!
//! # When
//!
//! Each leg lifts at its phase of a common cycle. The length of a stride follows from the speed as that of animals does
//! (Alexander & Jayes 1983), within what the legs reach. The gait is the slowest one whose swings take 0.3 s or more. On starting,
//! stopping and turning, a leg that strays too far from its place steps out of turn, never while its neighbour is up. A
//! creature that stands brings its feet home, and rests.
//!
//! # Where
//!
//! A foot comes down where its place under the trunk will be in the middle of the coming stance. It is moved aside from steep
//! ground and from edges; if no place nearby will do, the foot stays, and the trunk waits within its reach.
//!
//! # How
//!
//! A swinging foot takes the path of least jerk over what lies between. A standing foot is locked in the world. Every leg folds
//! by one factor on its bends at rest, so that no joint bends to its other side.
//!
//! # The trunk
//!
//! Height and tilt follow the plane through the feet on critically damped springs; the trunk stays within the reach of all
//! standing legs, and keeps its belly off the ground.
//!
//! # Clips and platforms
//!
//! A walk moves the legs and lifts tails off the ground; all other joints keep what the pose has, such as a clip. Tails can
//! [trail](WalkOptions::trail). [`WalkState::set_influence`] blends legs and tails with the clip. On a lift or a ship the creature walks in the platform's space
//! ([`Walker::change_platform`]).
//!
//! # Frame rates
//!
//! All decisions fall on a clock of 30 ticks per second. The walker is one tick ahead of the frames, which lie between two ticks
//! on a curve with continuous velocity. The same commands at the ticks give the same motion at every frame rate.

mod body;
mod creature;
mod foot;
mod gait;
mod presence;
mod step;
mod tick;
mod trail;

use alloc::vec::Vec;

use glam::Vec3;
use thiserror::Error;

pub use creature::Creature;
pub use gait::Gait;

use self::{body::Body, foot::LegState, gait::Pattern, step::EndState, trail::TrailState};
use crate::{
    AffineError, Placement, PoseError,
    ground::{
        Filter,
        plant::foot_planter::{ride::Ride, spring::Spring},
    },
    option_type::option_type,
};

option_type! {
    /// Options of a [`Walker`]. Lengths are shares of the mean length of the legs.
    WalkOptions {
        /// Height of the trunk, times that at rest (raised until the belly is clear of level ground). From 0.2 to 2; 1 by default.
        ride, with_ride: f32 = 1.0;
        /// Height of a swing on level ground. From 0 to 1; 0.12 by default.
        lift, with_lift: f32 = 0.12;
        /// Amplitude of the trunk's motion up and down with the steps. From 0 to 0.2; 0.01 by default.
        bob, with_bob: f32 = 0.01;
        /// Amplitude of its motion from side to side, on two legs a side. From 0 to 0.2; 0.015 by default.
        sway, with_sway: f32 = 0.015;
        /// Share of the ground's slope by which the trunk tilts. From 0 to 1, the default.
        tilt, with_tilt: f32 = 1.0;
        /// Steepest slope for a foot, in radians. From 0 to a quarter turn; 45 degrees by default.
        max_slope, with_max_slope: f32 = 45f32.to_radians();
        /// Rate at which the ground under the trunk and under the coming footholds is cast anew, per second. From 1 to 30, the
        /// default; a step looks for its foothold at any rate.
        cast_rate, with_cast_rate: f32 = 30.0;
        /// Time constant in seconds with which trailing tails return to the pose. The moving trunk pulls them along as
        /// [`Follow`](crate::solve::Follow) does. A third of a second looks natural. From 0 to 10; 0 by default, at which tails
        /// stay with the trunk.
        trail, with_trail: f32 = 0.0;
        /// Surfaces that count as ground; all by default.
        filter, with_filter: Filter = Filter::ALL;
        ? /// The gait; by default it is chosen by the number of legs and the speed.
        gait, with_gait: Gait;
    }
}

/// Error of a [`Walker`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum WalkError {
    /// A time is negative or not finite.
    #[error("a time must be finite and at least 0 s, not {0} s")]
    Time(f32),
    /// A velocity or turn is not finite.
    #[error("the velocity {velocity} m/s and the turn {turn} rad/s must be finite")]
    Command {
        /// The velocity.
        velocity: Vec3,
        /// The turn.
        turn: f32,
    },
    /// An option is outside its range.
    #[error("{option} must be from {} to {}, not {value}", range[0], range[1])]
    Setting {
        /// Name of the option.
        option: &'static str,
        /// Smallest and largest value.
        range: [f32; 2],
        /// The given value.
        value: f32,
    },
    /// The gait is for another number of legs.
    #[error("the gait `{}` is for {wanted} legs, not for {count}", gait.name())]
    Gait {
        /// The gait.
        gait: Gait,
        /// Number of legs that it is for.
        wanted: usize,
        /// Number of legs of the creature.
        count: usize,
    },
    /// The state is another walker's.
    #[error("the state is of another walker, with {given} legs (this one has {wanted})")]
    State {
        /// Number of legs in the state.
        given: usize,
        /// Number of legs of the creature.
        wanted: usize,
    },
    /// The pose has fewer joints than the creature.
    #[error("the creature has joints up to index {joint}, but the pose has {joints} joints")]
    Creature {
        /// Largest joint index of the creature.
        joint: usize,
        /// Number of joints of the pose.
        joints: usize,
    },
    /// There is no ground under any foot at the start.
    #[error("there is no ground under any foot of a creature at {at}")]
    NoGround {
        /// Place of the trunk over ground, in world space.
        at: Vec3,
    },
    /// The placement mirrors the creature.
    #[error("a walking creature cannot be mirrored, but the scale of its placement is {scale}")]
    Mirrored {
        /// The scale.
        scale: f32,
    },
    /// The legs are too short or too long for squares of lengths in `f32`.
    #[error("legs must be 1e-9 to 1e9 m long in the world, not {leg} m")]
    Size {
        /// Mean length of the legs in world space, in metres.
        leg: f32,
    },
    /// The creature would be too far from the origin of its new platform.
    #[error(
        "a creature at {0} from the origin of its platform is too far away: at most a million legs are allowed"
    )]
    Far(Vec3),
    /// A transform of the pose is not finite.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// The creature has gone too far for its placement.
    #[error(transparent)]
    Placement(#[from] AffineError),
}

/// The reason for which a foot found no place, or the trunk waits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The casts hit no ground.
    NoGround,
    /// The ground is too steep, or an edge is near.
    Steep,
    /// The ground is out of the leg's reach.
    OutOfReach,
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::NoGround => "there is no ground",
            Self::Steep => "the ground is too steep or has an edge",
            Self::OutOfReach => "the ground is out of the leg's reach",
        })
    }
}

/// Report of a frame of a walk.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WalkReport {
    /// Placement of the creature in the world.
    pub placement: Placement,
    /// The gait.
    pub gait: Gait,
    /// Number of feet that stand.
    pub standing: usize,
    /// Share of the commanded velocity at which the trunk moves to stay in reach of its standing feet; 1 if it does not wait.
    pub pace: f32,
    /// The leg that the trunk waits for, and the reason for which its foot found no place, if it has one.
    pub waits: Option<(usize, Option<Refusal>)>,
    /// The largest speed that the legs can step, in m/s, where the command was faster.
    pub max_speed: Option<f32>,
    /// Largest distance of a foot from its goal, in metres in world space.
    pub out_of_reach: f32,
}

/// A foot of a walking creature in the present frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WalkFoot {
    /// Position of the middle of its sole, in world space.
    pub point: Vec3,
    /// Whether it stands.
    pub stands: bool,
    /// The reason for which it found no place to step to, if it has none.
    pub refused: Option<Refusal>,
}

/// Moves a creature over ground on its legs.
///
/// A walker is shared between characters; [`WalkState`] holds the memory of one. All memory is allocated in [`Walker::state`].
///
/// ```
/// use std::sync::Arc;
/// use sinew::{JointTransform, Placement, Pose, Skeleton, Workspace, body::Legs, glam::Vec3};
/// use sinew::ground::{Plane, walk::{Creature, WalkOptions, Walker}};
///
/// let mut builder = Skeleton::builder();
/// let mut add = |name: String, parent, at: [f32; 3]| {
///     builder.add(name, parent, JointTransform::from_translation(at.into()))
/// };
/// let trunk = add("trunk".into(), None, [0.0, 0.58, 0.0]);
/// for (x, z) in [(0.2, 0.5), (-0.2, 0.5), (0.2, -0.5), (-0.2, -0.5)] {
///     let thigh = add(format!("thigh {x} {z}"), Some(trunk), [x, 0.0, z]);
///     let shin = add(format!("shin {x} {z}"), Some(thigh), [0.0, -0.29, 0.08]);
///     add(format!("hoof {x} {z}"), Some(shin), [0.0, -0.29, -0.08]);
/// }
/// let skeleton = Arc::new(builder.build()?.0);
/// let bind = Pose::rest(&skeleton);
/// let creature = Creature::new(&bind, &Legs::find(&bind, &[])?, &[])?;
/// let walker = Walker::new(&creature, WalkOptions::new())?;
///
/// let mut state = walker.state(&Placement::IDENTITY)?;
/// let (mut workspace, mut pose, ground) = (Workspace::new(), bind.clone(), Plane::level(0.0));
/// let mut placement = Placement::IDENTITY;
/// for _ in 0..300 {
///     let report = walker.step(&mut state, &mut workspace, &mut pose, &ground, Vec3::Z * 0.3, 0.0, 1.0 / 60.0)?;
///     assert!(report.standing >= 2 && report.out_of_reach < 1e-4);
///     placement = report.placement;
/// }
/// // Five seconds at 0.3 m/s, less the start.
/// let gone = placement.to_world(Vec3::ZERO).z;
/// assert!((1.3..1.5).contains(&gone), "{gone} m");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Walker {
    creature: Creature,
    options: WalkOptions,
    gaits: Vec<(Gait, Pattern)>,
}

/// Memory of one walking creature, for one [`Walker`].
#[derive(Clone, Debug)]
pub struct WalkState {
    legs: Vec<LegState>,
    /// World metres per metre of model space.
    scale: f32,
    start: Placement,
    /// Placement of the state's own space, in which all is kept, on the ground that is given: another than at the start after a
    /// change of the platform.
    frame: Placement,
    /// Motion that the trunk keeps for the moment, as the platform changes in the next frame.
    boards: Option<Ride>,
    /// Share of the walk in the legs.
    influence: f32,
    /// The trunk at the coming tick, without bob and sway.
    base: Body,
    /// The trunk at the last tick and at the coming one.
    body: [Body; 2],
    /// Velocity in the body's frame (x to the left, z ahead, m/s), and turn (y, rad/s).
    velocity: Spring,
    /// Height of the pivot (y) in world space.
    height: Spring,
    height_goal: f32,
    /// Distance by which the trunk may come down before its belly touches the ground, in metres.
    room: f32,
    /// Least height of the pivot for the belly, by the last casts under it.
    low: f32,
    /// Share of a look at the ground that is due.
    looks: f32,
    /// Rotation vector from upright, in world space.
    tilt: Spring,
    /// Lift of each part that hangs on the trunk: angle (x) in radians, at the last tick and at the coming one, and what was
    /// last written to its joint, with the rotation that it had before.
    ends: Vec<EndState>,
    /// States of these parts as tails.
    trails: Vec<TrailState>,
    /// Time since the last tick, in seconds.
    since: f32,
    /// Common phase of the cycle, 0 to 1.
    phase: f32,
    pattern: Pattern,
    gait: usize,
    /// Share of the velocity at which the trunk moves.
    pace: f32,
    waits: Option<(usize, Option<Refusal>)>,
    max_speed: Option<f32>,
    /// Share of walking in bob and sway, from 0 to 1.
    stir: Spring,
    /// Phase of bob and sway over that of the cycle (x, in cycles), and its rate in cycles per second.
    rock: Spring,
    walks: bool,
    started: bool,
}

impl Walker {
    /// A walker for a creature, of which it keeps a copy.
    ///
    /// # Errors
    ///
    /// An option outside its range, or a gait for another number of legs.
    pub fn new(creature: &Creature, options: WalkOptions) -> Result<Self, WalkError> {
        let rules = [
            ("ride", options.ride, [0.2, 2.0]),
            ("lift", options.lift, [0.0, 1.0]),
            ("bob", options.bob, [0.0, 0.2]),
            ("sway", options.sway, [0.0, 0.2]),
            ("tilt", options.tilt, [0.0, 1.0]),
            ("cast_rate", options.cast_rate, [1.0, 30.0]),
            ("trail", options.trail, [0.0, 10.0]),
            ("max_slope", options.max_slope, [0.0, core::f32::consts::FRAC_PI_2]),
        ];
        if let Some((option, value, range)) = rules.into_iter().find(|(_, v, [a, b])| !(a..=b).contains(&v)) {
            return Err(WalkError::Setting { option, range, value });
        }
        let count = creature.legs.len();
        if let Some((gait, wanted)) =
            options.gait.and_then(|g| Some((g, g.legs()?))).filter(|(_, n)| *n != count)
        {
            return Err(WalkError::Gait { gait, wanted, count });
        }
        let own = options.gait.map(|g| [g]);
        let gaits = own.as_ref().map_or(Gait::for_legs(count), |g| g.as_slice());
        let gaits = gaits.iter().map(|&g| (g, Pattern::new(g, &creature.found))).collect();
        Ok(Self { creature: creature.clone(), options, gaits })
    }

    /// The creature that walks.
    pub fn creature(&self) -> &Creature {
        &self.creature
    }

    /// The options.
    pub fn options(&self) -> &WalkOptions {
        &self.options
    }

    /// The state of a creature that stands at `placement`, of which the place over ground, the heading and the scale count: its
    /// height and its tilt come from the ground.
    ///
    /// # Errors
    ///
    /// The placement mirrors, or its scale makes the legs too short or too long.
    pub fn state(&self, placement: &Placement) -> Result<WalkState, WalkError> {
        let scale = self.scale_of(placement)?;
        let mut state = WalkState {
            legs: alloc::vec![LegState::default(); self.creature.legs.len()],
            scale,
            start: *placement,
            frame: Placement::IDENTITY,
            boards: None,
            influence: 1.0,
            base: Body::default(),
            body: [Body::default(); 2],
            velocity: Spring::default(),
            height: Spring::default(),
            height_goal: 0.0,
            room: f32::INFINITY,
            low: f32::NEG_INFINITY,
            looks: 0.0,
            tilt: Spring::default(),
            ends: alloc::vec![EndState::default(); self.creature.ends.len()],
            trails: self.creature.ends.iter().map(TrailState::new).collect(),
            since: 0.0,
            phase: 0.0,
            pattern: self.gaits[0].1.clone(),
            gait: 0,
            pace: 1.0,
            waits: None,
            max_speed: None,
            stir: Spring::default(),
            rock: Spring::default(),
            walks: false,
            started: false,
        };
        self.place(&mut state);
        Ok(state)
    }

    /// Puts a creature at another placement, where it stands: after a teleport. Fails as [`Walker::state`] does.
    pub fn reset(&self, state: &mut WalkState, placement: &Placement) -> Result<(), WalkError> {
        self.fits(state)?;
        let scale = self.scale_of(placement)?;
        (state.start, state.scale, state.started) = (*placement, scale, false);
        self.place(state);
        Ok(())
    }

    fn scale_of(&self, placement: &Placement) -> Result<f32, WalkError> {
        let scale = placement.scale();
        if scale < 0.0 {
            return Err(WalkError::Mirrored { scale });
        }
        let leg = self.creature.length * scale;
        if (1e-9..=1e9).contains(&leg) { Ok(scale) } else { Err(WalkError::Size { leg }) }
    }

    fn fits(&self, state: &WalkState) -> Result<(), WalkError> {
        let (given, wanted) = (state.legs.len(), self.creature.legs.len());
        if given == wanted { Ok(()) } else { Err(WalkError::State { given, wanted }) }
    }
}
