//! Clock of the decisions, and the animation at its ticks.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    FootPlanter, FootPlanterError, FootPlanterState, LEAST, NOW,
    foot::{Foot, Phase},
    place::Place,
    spring::Spring,
    ticks::{MAX_AHEAD, TICK},
    track::{Sole, Track},
};
use crate::{Placement, Pose, ground::plant::reach::nearest, math};

/// Largest number of ticks in one step. After more than a quarter of a second there is no motion to continue: feet that moved
/// on from where they were would be folded under a body that is a step further.
const MAX_TICKS: f32 = 8.0;
/// Largest number of ticks given before a step: the first one and all of its look-ahead.
const MAX_KNOWN: usize = MAX_AHEAD + 1;

/// Largest time between frames, in seconds, at which a tick between two waits for the frame after both. Frames this dense
/// locate the kinks of a clip that is keyed as often as there are ticks (see [`Track`](super::track::Track)).
const WAITS: f32 = 0.5 * TICK + NOW;

/// A foot at a tick, and the contact from the caller.
type Given = (Sole, Option<f32>);

/// The animation at coming ticks.
#[derive(Clone, Debug)]
pub struct Known {
    /// Foot of each leg, by tick.
    pub(super) legs: Vec<[Given; MAX_KNOWN]>,
    /// Position of the pelvis, by tick.
    pub(super) bodies: [Vec3; MAX_KNOWN],
    pub(super) count: usize,
}

impl Known {
    pub fn new(legs: usize) -> Self {
        Self {
            legs: alloc::vec![[Given::default(); MAX_KNOWN]; legs],
            bodies: [Vec3::ZERO; MAX_KNOWN],
            count: 0,
        }
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Foot of a leg, and the pelvis, at the next tick.
    pub fn next(&self, leg: usize) -> Option<(Sole, Vec3)> {
        (self.count > 0).then(|| (self.legs[leg][0].0, self.bodies[0]))
    }

    /// Removes the first ticks.
    fn take(&mut self, ticks: usize) {
        let ticks = ticks.min(self.count);
        for leg in &mut self.legs {
            leg.copy_within(ticks.., 0);
        }
        self.bodies.copy_within(ticks.., 0);
        self.count -= ticks;
    }
}

/// Ticks of a step.
pub(super) struct Beats {
    /// Number of ticks.
    pub all: f32,
    /// Time from the last tick to the frame, in seconds.
    pub phase: f32,
}

impl FootPlanterState {
    /// Ticks up to the frame that is `dt` seconds after the last one.
    pub(super) fn beats_in(&self, dt: f32) -> Beats {
        let phase = self.phase + if dt >= LEAST { dt } else { 0.0 };
        let all = math::floor((phase + NOW) / TICK);
        Beats { all, phase: phase - all * TICK }
    }

    /// Whether the motion ends before the frame that is `dt` seconds after the last one.
    pub(super) fn ends_before(&self, dt: f32) -> bool {
        self.started && self.beats_in(self.pending + dt).all > MAX_TICKS
    }

    /// Forgets the motion and the casts of the feet. The next step starts at rest on the ground under the body; feet that no
    /// cast has found ground for by then follow the animation until one has.
    pub(super) fn restart(&mut self) {
        for leg in &mut self.legs {
            leg.foot = Foot::default();
            if let Some(base) = self.base {
                leg.foot.start(base);
            }
        }
        self.body = Track::default();
        (self.pending, self.since, self.phase, self.last) = (0.0, 0.0, 0.0, 0.0);
        self.started = false;
    }

    /// Ticks up to that frame which frames determine. At high frame rates, a tick between two frames waits for one more
    /// frame.
    pub(super) fn beats_told(&self, dt: f32) -> Beats {
        let ticks = self.beats_in(dt);
        if dt > WAITS || ticks.phase <= NOW || ticks.phase >= dt - NOW || ticks.all < 1.0 {
            return ticks;
        }
        let all = ticks.all - 1.0;
        Beats { all, phase: ticks.phase + TICK }
    }
}

impl FootPlanter {
    /// Sets the look-ahead in seconds, rounded to 1/30 s and limited to half a second. 0 by default; 0.3 s, half of a walk's
    /// step, is enough.
    ///
    /// With look-ahead a foot in the air moves to the foothold on which it will land. Without, it moves to its foothold
    /// after the landing. With look-ahead every tick must be given ([`FootPlanter::next_tick`]). States made before are
    /// refused.
    ///
    /// # Errors
    ///
    /// The time is negative or not finite.
    pub fn set_look_ahead(&mut self, seconds: f32) -> Result<(), FootPlanterError> {
        if !(seconds >= 0.0 && seconds.is_finite()) {
            return Err(FootPlanterError::Time(seconds));
        }
        self.ahead = math::floor(seconds / TICK + 0.5).min(MAX_AHEAD as f32) as usize;
        Ok(())
    }

    /// Look-ahead in seconds.
    pub fn look_ahead(&self) -> f32 {
        self.ahead as f32 * TICK
    }

    /// Returns the time of the next tick that the coming step needs, or `None` once it has all of them.
    ///
    /// The time is in seconds from the frame of the coming step, which is `dt` seconds after the last one: negative before
    /// that frame, positive with look-ahead. There are 30 ticks per second at any frame rate. A tick within 0.1 ms of a
    /// frame is on it. A game that can sample its animation at any time gives every tick, so that feet are at the same
    /// positions at all frame rates. [`FootPlanter::step_with`] does so in one call.
    ///
    /// ```
    /// # use sinew::{Placement, Pose, ground::plant::{FootPlanterError, FootPlanter, FootPlanterState}};
    /// # fn example(
    /// #     planter: &FootPlanter, feet: &mut FootPlanterState, tick: &mut Pose, time: f32, dt: f32,
    /// # ) -> Result<(), FootPlanterError> {
    /// while let Some(later) = planter.next_tick(feet, dt) {
    ///     let at = time + later;
    ///     // Here the game samples its clip at that time and finds the placement of its character.
    ///     let placement = Placement::IDENTITY;
    ///     planter.give_tick(feet, tick, &placement)?;
    /// }
    /// // Then it calls `sense` and `step`.
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Without look-ahead ticks are optional: the animation at a tick is then interpolated from the frames around it. At 60
    /// Hz and above it is exact to about a millimetre, one frame later if the tick is on no frame. At lower rates with
    /// frames off the ticks, it is off by a centimetre and more at sharp bends of the animation.
    pub fn next_tick(&self, feet: &FootPlanterState, dt: f32) -> Option<f32> {
        let known = feet.known.count;
        if feet.presence.is_absent() {
            return None;
        }
        if !feet.started || feet.ends_before(dt) {
            return (known <= self.ahead).then_some(known as f32 * TICK);
        }
        let Beats { all, phase } = feet.beats_in(feet.pending + dt);
        let count = all as usize;
        (known < count).then(|| self.look_ahead() - phase - (count - 1 - known) as f32 * TICK)
    }

    /// Gives the animation at the time from [`FootPlanter::next_tick`], with the figure's placement in the world at that
    /// time. The last contact from [`FootPlanterState::set_contact`] belongs to that time as well. A tick beyond those
    /// needed is ignored.
    ///
    /// Ticks ahead are predictions. If a clip is interrupted, the foot passes to its actual landing.
    ///
    /// # Errors
    ///
    /// The state is another foot planter's, or the pose or a sole is invalid.
    pub fn give_tick(
        &self,
        feet: &mut FootPlanterState,
        pose: &Pose,
        placement: &Placement,
    ) -> Result<(), FootPlanterError> {
        self.knows(feet)?;
        self.fits(pose)?;
        let place = self.place(&feet.framed(placement)?);
        let i = feet.known.count;
        if i >= MAX_KNOWN {
            return Ok(());
        }
        for ((known, state), leg) in feet.known.legs.iter_mut().zip(&feet.legs).zip(&self.figure.legs) {
            let sole = place.sole(&leg.sample(pose, Vec3::ZERO));
            known[i] = (sole, state.given.map(|[_, now]| now));
        }
        feet.known.bodies[i] = place.over_floor(pose.position(self.figure.pelvis));
        feet.known.count += 1;
        Ok(())
    }

    /// Advances the state to the frame in `pose`, `dt` seconds after the last one.
    pub(super) fn advance(&self, feet: &mut FootPlanterState, pose: &Pose, place: &Place, dt: f32) {
        let first = !feet.started;
        let dt = if first { 0.0 } else { dt };
        for state in &mut feet.legs {
            if let Phase::Locked(lock) = &mut state.foot.phase {
                lock.board(feet.phase + dt);
            }
        }
        if first {
            let base = feet.base.unwrap_or(place.floor);
            feet.level = Spring { value: Vec3::Y * base, rate: Vec3::ZERO };
            feet.level_goal = feet.level.value;
        }
        for (state, leg) in feet.legs.iter_mut().zip(&self.figure.legs) {
            let s = leg.sample(pose, Vec3::ZERO);
            state.foot.track.push(place.sole(&s), dt);
            state.near = nearest(&s) * place.scale;
            // Knee axis in the thigh's frame, averaged over about 5 s.
            let bend = math::rotate(math::conjugate(s.thigh), s.bend());
            state.hinge = state.hinge * math::exp(-dt / 5.0) + bend * if first { 1e-2 } else { dt };
        }
        feet.last = dt;
        feet.since += dt;
        let body = Sole { ankle: place.over_floor(pose.position(self.figure.pelvis)), ..Sole::default() };
        feet.body.push(body, dt);
        if first {
            self.begin(feet, place);
            return;
        }
        let mut ticks = feet.beats_in(dt);
        let known = ticks.all > 0.0 && feet.known.count >= ticks.all as usize;
        if !known {
            ticks = feet.beats_told(dt);
        }
        let Beats { all, phase } = ticks;
        let count = all as usize;
        feet.phase = phase;
        for tick in 0..count {
            let age = (phase + (count - 1 - tick) as f32 * TICK).max(0.0);
            let between = (age, (age / dt.max(f32::MIN_POSITIVE)).min(1.0));
            self.tick(feet, place, if known { Ok(tick) } else { Err(between) });
        }
        // If a tick is missing, the given ones are dropped.
        feet.known.take(if known { count } else { MAX_KNOWN });
        for state in &mut feet.legs {
            state.given = state.given.map(|[_, now]| [now, now]);
        }
    }

    /// Processes the first tick, with all springs at their goals.
    fn begin(&self, feet: &mut FootPlanterState, place: &Place) {
        let known = feet.known.count > self.ahead;
        for i in 0..feet.legs.len() {
            let m = self.measures(i, place);
            let (state, settings) = (&mut feet.legs[i], &self.settings);
            for tick in 0..=self.ahead {
                let (sole, given) = if known {
                    feet.known.legs[i][tick]
                } else {
                    (state.foot.track.at(0.0), state.given.map(|[_, now]| now))
                };
                let body = if known { feet.known.bodies[tick] } else { feet.body.at(0.0).ankle };
                state.foot.ticks.push(sole, body, given, &m);
            }
            state.foot.advance(0.0, settings, &m, (f32::NEG_INFINITY, None));
            state.foot.settle();
        }
        feet.known.clear();
        self.follow_feet(feet, place, 0.0);
        feet.started = true;
    }

    /// Advances the state to the next tick. `Ok` is the index of a given tick. `Err` is the time from a tick to the
    /// present frame, in seconds and as a fraction of the time step.
    fn tick(&self, feet: &mut FootPlanterState, place: &Place, which: Result<usize, (f32, f32)>) {
        for i in 0..feet.legs.len() {
            let m = self.measures(i, place);
            let state = &mut feet.legs[i];
            let ((sole, given), body) = match which {
                Ok(known) => (feet.known.legs[i][known], feet.known.bodies[known]),
                Err((age, share)) => {
                    let given = state.given.map(|[before, now]| now + (before - now) * share);
                    ((state.foot.track.at(age), given), feet.body.at(age).ankle)
                }
            };
            // Feet of a figure in the air let go.
            let given = if feet.presence.grounded { given } else { Some(0.0) };
            state.foot.ticks.push(sole, body, given, &m);
        }
        for i in 0..feet.legs.len() {
            let m = self.measures(i, place);
            // The body comes down no further than the feet allow that stand until this one lands.
            let low = feet.legs[i].foot.lands_in(&m).map_or(f32::NEG_INFINITY, |later| {
                let others = feet.legs.iter().enumerate().filter(|(other, _)| *other != i);
                let low = others.map(|(i, leg)| leg.foot.lowest(later, leg.near, &self.measures(i, place)));
                low.fold(f32::NEG_INFINITY, f32::max)
            });
            let mut others = feet.legs.iter().enumerate().filter(|(other, _)| *other != i);
            let other = others.find_map(|(_, leg)| leg.foot.foothold());
            feet.legs[i].foot.advance(TICK, &self.settings, &m, (low, other));
        }
        self.follow_feet(feet, place, TICK);
    }

    /// Moves the level of the body with the standing feet.
    fn follow_feet(&self, feet: &mut FootPlanterState, place: &Place, h: f32) {
        // Weights of a foot in the air, and of the ground under the body.
        const SWINGING: f32 = 0.25;
        const NOTHING: f32 = 1e-3;
        let base = feet.base.unwrap_or(place.floor);
        let (mut sum, mut weight) = (NOTHING * base, NOTHING);
        for (i, state) in feet.legs.iter().enumerate() {
            let m = self.measures(i, place);
            let w = state.foot.weight(0.0, &m) * (SWINGING + (1.0 - SWINGING) * state.foot.share());
            sum += w * state.foot.present(&m).ankle.y;
            weight += w;
        }
        feet.level = feet.level.towards(feet.level_goal, self.pelvis_omega(), h);
        feet.level_goal = Vec3::Y * (sum / weight + feet.rise);
        if !feet.started {
            feet.level = Spring { value: feet.level_goal, rate: Vec3::ZERO };
        }
    }
}
