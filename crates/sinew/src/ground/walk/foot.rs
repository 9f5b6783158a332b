//! Feet of a walking creature: footholds, and swings between them.

use glam::{Quat, Vec3};

use super::{Refusal, Walker};
use crate::{
    ground::plant::{
        FootholdSearch,
        foot_planter::{course::Course, offset::Offset, ride::Ride, ticks::TICK},
        profile::Profile,
    },
    math,
};

/// A place on which a foot stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stand {
    /// Point of the ground, in world space.
    pub point: Vec3,
    /// Normal of the ground around it.
    pub normal: Vec3,
    /// Heading of model space as the foot came down, in radians.
    pub yaw: f32,
}

impl Default for Stand {
    fn default() -> Self {
        Self { point: Vec3::ZERO, normal: Vec3::Y, yaw: 0.0 }
    }
}

impl Stand {
    /// Rotation that a foot has there against its rest in model space.
    pub fn turn(&self) -> Quat {
        math::mul(math::shortest_arc(Vec3::Y, self.normal, Vec3::X), math::axis_angle(Vec3::Y, self.yaw))
    }
}

/// A swing from one stand to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Swing {
    pub to: Stand,
    /// Place for which the foothold was searched.
    pub wished: Vec3,
    pub course: Course,
    /// Duration and time since the start, in ticks.
    pub ticks: u32,
    pub gone: u32,
}

impl Swing {
    /// Share of the swing that is over.
    pub fn share(&self) -> f32 {
        self.gone as f32 / self.ticks as f32
    }
}

/// A foot at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct FootAt {
    /// Position of the sole in world space.
    pub point: Vec3,
    /// Its velocity, in m/s.
    pub rate: Vec3,
    /// Rotation against its rest in model space.
    pub turn: Quat,
}

/// State of a leg.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct LegState {
    /// Where it stands, or stood before its swing.
    pub stand: Stand,
    /// Horizontal displacement from the stand to the place near which a foothold was searched for it.
    pub beside: Vec3,
    /// Motion of its foothold, which lies on a platform that the creature has left.
    pub ride: Option<Ride>,
    /// What the next frame adds to it.
    pub boards: Option<Ride>,
    pub swing: Option<Swing>,
    /// The foot at the last tick and at the coming one.
    pub at: [FootAt; 2],
    /// Whether its turn to step has come.
    pub due: bool,
    /// Height of its next foothold over the plane of the feet, at most 0, in metres; infinite while that is far off.
    pub next: f32,
    /// Ticks since it came down.
    pub stood: u32,
    pub refused: Option<Refusal>,
}

impl LegState {
    /// Moves the foothold of a standing leg on by a tick.
    pub fn carry(&mut self) {
        let Some(ride) = &mut self.ride else { return };
        self.stand.point += ride.shift(TICK);
        self.stand.yaw += ride.yaw * TICK;
        self.stand.normal = math::rotate(math::axis_angle(Vec3::Y, ride.yaw * TICK), self.stand.normal);
        *ride = ride.after(TICK);
    }

    /// Velocity of the foothold, in m/s.
    pub fn carried(&self) -> Vec3 {
        self.ride.map_or(Vec3::ZERO, |ride| ride.velocity())
    }
}

/// Least distance of the casts around a foothold, as a share of the leg; that of larger feet is their radius.
const AROUND: f32 = 0.03;
/// Distances of other footholds from the wished one, as shares of the leg.
const RINGS: [f32; 4] = [0.05, 0.1, 0.16, 0.24];
/// Largest height of a foothold over or under the plane of the feet, as a share of the leg.
const STEP: f32 = 0.5;
/// Slope at which a foot rises before an edge, in metres per metre.
const STEEP: f32 = 1.5;
/// Clearance over an edge in the middle of a swing, as a share of the leg.
const CLEARANCE: f32 = 0.04;
/// Largest lift over obstacles, as a share of the leg.
const MAX_LIFT: f32 = 0.6;
/// Pitch of a foot in the middle of its swing, toes down, in radians: hooves and paws hang.
pub(super) const HANGS: f32 = 0.45;

impl Walker {
    /// The ground at a place as a stand, or the reason why it is none. `plane` is the height around which rays are cast.
    fn stand_at(
        &self,
        search: &FootholdSearch<'_>,
        at: Vec3,
        yaw: f32,
        plane: f32,
        radius: f32,
    ) -> Result<Stand, Refusal> {
        let (y, _) = search.below(at, plane).ok_or(Refusal::NoGround)?;
        if (y - plane).abs() > STEP * search.leg {
            return Err(Refusal::OutOfReach);
        }
        let steep = math::tan(self.options.max_slope.min(1.5));
        let mut heights = [y; 8];
        for (n, height) in heights.iter_mut().enumerate() {
            let [x, z] = around(n);
            let at = at + Vec3::new(x, 0.0, z) * radius;
            *height = search.below(at, plane).ok_or(Refusal::Steep)?.0;
            if (*height - y).abs() > steep * radius {
                return Err(Refusal::Steep);
            }
        }
        let [a, _, b, _, c, _, d, _] = heights;
        let normal = Vec3::new((d - b) / (2.0 * radius), 1.0, (c - a) / (2.0 * radius)).normalize();
        Ok(Stand { point: at.with_y(y), normal, yaw })
    }

    /// The foothold nearest to a wished place that serves and that `fits`.
    pub(super) fn foothold(
        &self,
        search: &FootholdSearch<'_>,
        wished: Vec3,
        yaw: f32,
        plane: f32,
        radius: f32,
        fits: impl Fn(&Stand) -> bool,
    ) -> Result<Stand, Refusal> {
        let radius = radius.max(AROUND * search.leg);
        let check = |at: Vec3| {
            self.stand_at(search, at, yaw, plane, radius)
                .and_then(|stand| if fits(&stand) { Ok(stand) } else { Err(Refusal::OutOfReach) })
        };
        let first = check(wished);
        let Err(refused) = first else { return first };
        for ring in RINGS {
            let best = (0..8)
                .filter_map(|n| {
                    let [x, z] = around(n);
                    check(wished + Vec3::new(x, 0.0, z) * (ring * search.leg)).ok()
                })
                // The one nearest to the plane: on stairs the nearer tread.
                .min_by(|a, b| (a.point.y - plane).abs().total_cmp(&(b.point.y - plane).abs()));
            if let Some(stand) = best {
                return Ok(stand);
            }
        }
        Err(refused)
    }

    /// A course from a foot's point and velocity to a stand in `time` seconds, over the ground between; with the lift of the
    /// course before.
    pub(super) fn course(
        &self,
        search: &FootholdSearch<'_>,
        (from, rate): (Vec3, Vec3),
        to: &Stand,
        (time, radius): (f32, f32),
        before: Option<&Course>,
    ) -> Course {
        let offset = |ankle: Vec3| Offset { ankle, ..Offset::default() };
        let start = (offset(from), offset(rate));
        let end = (offset(to.point), Offset::default());
        let mut course = Course::new(start, end, time, before);
        let way = (to.point - from).with_y(0.0);
        let leg = search.leg;
        let mut needs = [(0.0f32, 0.0f32); 24];
        let along = way.normalize_or(Vec3::Z);
        let margin = radius + 0.04 * leg;
        let length = way.length();
        let line = Profile::cast(
            search,
            from.with_y(0.0),
            along,
            [-margin, length + margin],
            (0.04 * leg, 24.0),
            from.y.max(to.point.y),
        );
        let count = needs.len();
        for (n, need) in needs.iter_mut().enumerate() {
            let s = (n as f32 + 0.5) / count as f32;
            let at = course.at(s * time).ankle;
            let under = [-radius, 0.0, radius].map(|by| line.cone(line.way(at) + by, STEEP, [0.0, length]));
            let Some(ground) = under.into_iter().flatten().reduce(f32::max) else { continue };
            let clear = CLEARANCE * leg * (4.0 * s * (1.0 - s)).min(1.0);
            *need = (ground + clear - at.y, s * time);
        }
        if before.is_none() {
            // The least lift is that of level ground.
            let lift = self.options.lift * leg * (length / (0.5 * leg)).clamp(0.35, 1.0);
            course.pass(core::iter::once((lift, 0.5 * time)), MAX_LIFT * leg);
            for need in &mut needs {
                need.0 -= course.at(need.1).ankle.y - self.flat(from, to.point, need.1 / time);
            }
        }
        course.pass(needs.iter().copied(), MAX_LIFT * leg);
        course
    }

    /// Height of the straight path of least jerk between two points.
    fn flat(&self, from: Vec3, to: Vec3, s: f32) -> f32 {
        from.y + (to.y - from.y) * ease(s)
    }
}

/// The n-th of eight directions around a place: x and z.
fn around(n: usize) -> [f32; 2] {
    let angle = core::f32::consts::FRAC_PI_4 * n as f32;
    [math::sin(angle), math::cos(angle)]
}

/// The polynomial of least jerk from 0 to 1.
pub(super) fn ease(s: f32) -> f32 {
    let s = s.clamp(0.0, 1.0);
    s * s * s * (10.0 + s * (6.0 * s - 15.0))
}

/// 0 at both ends of a swing, 1 in its middle, level at all three.
pub(super) fn bow(s: f32) -> f32 {
    let s = s.clamp(0.0, 1.0);
    16.0 * s * s * (1.0 - s) * (1.0 - s)
}
