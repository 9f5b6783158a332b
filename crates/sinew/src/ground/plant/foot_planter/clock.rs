//! The clock of the decisions, and the animation at each of its ticks.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    FootPlanter, FootPlanterError, FootPlanterState, LEAST, LONGEST, NOW,
    place::Place,
    spring::Spring,
    ticks::{BEAT, MOST_AHEAD},
    track::Sole,
};
use crate::{Placement, Pose, math};

/// Most ticks in one step: beyond a quarter of a second there is nothing to follow.
const MOST_BEATS: usize = 8;
/// Most ticks that are given before a step: all that are ahead of its first one, and that.
const MOST_KNOWN: usize = MOST_AHEAD + 1;

/// Frames that are at most half a tick apart are enough to see where between them a clip bends that is keyed as often as
/// there are ticks: a tick between two of them then waits for the frame after both (see [`Track`](super::track::Track)).
const WAITS: f32 = 0.5 * BEAT + NOW;

/// A foot at a tick, and the contact that the caller gives it.
type Given = (Sole, Option<f32>);

/// The animation at ticks to come.
#[derive(Clone, Debug)]
pub struct Known {
    /// Each leg's foot, by tick.
    legs: Vec<[Given; MOST_KNOWN]>,
    /// The pelvis.
    bodies: [Vec3; MOST_KNOWN],
    count: usize,
}

impl Known {
    pub fn new(legs: usize) -> Self {
        Self {
            legs: alloc::vec![[Given::default(); MOST_KNOWN]; legs],
            bodies: [Vec3::ZERO; MOST_KNOWN],
            count: 0,
        }
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// The next tick's foot of this leg, and the pelvis.
    pub fn next(&self, leg: usize) -> Option<(Sole, Vec3)> {
        (self.count > 0).then(|| (self.legs[leg][0].0, self.bodies[0]))
    }

    /// The first ones have been taken.
    fn take(&mut self, ticks: usize) {
        let ticks = ticks.min(self.count);
        for leg in &mut self.legs {
            leg.copy_within(ticks.., 0);
        }
        self.bodies.copy_within(ticks.., 0);
        self.count -= ticks;
    }
}

/// The ticks of a step.
pub(super) struct Beats {
    /// All of them.
    pub all: f32,
    /// Those that are looked at, the last ones.
    count: usize,
    /// Seconds from the last of them to the frame.
    pub phase: f32,
}

impl FootPlanterState {
    /// The ticks up to the frame that is `dt` seconds after the last one.
    pub(super) fn beats_in(&self, dt: f32) -> Beats {
        let phase = self.phase + if dt >= LEAST { dt.min(LONGEST) } else { 0.0 };
        let all = math::floor((phase + NOW) / BEAT);
        Beats { all, count: (all as usize).min(MOST_BEATS), phase: phase - all * BEAT }
    }

    /// Those of them that frames tell. In a fast game, a tick that is on no frame waits for the frame after the next one.
    pub(super) fn beats_told(&self, dt: f32) -> Beats {
        let ticks = self.beats_in(dt);
        if dt > WAITS || ticks.phase <= NOW || ticks.phase >= dt - NOW || ticks.all < 1.0 {
            return ticks;
        }
        let all = ticks.all - 1.0;
        Beats { all, count: (all as usize).min(MOST_BEATS), phase: ticks.phase + BEAT }
    }
}

impl FootPlanter {
    /// Lets the foot planter know the animation `seconds` ahead, from the next step on: up to half a second, in thirtieths. A
    /// foot then knows where it will land while it is in the air, and goes there; without, it finds its place once it has
    /// landed, and moves there. The time of half a step, 0.3 s, is enough. Every tick must then be given
    /// ([`FootPlanter::next_tick`]). States that were made before are of no more use.
    pub fn set_look_ahead(&mut self, seconds: f32) -> Result<(), FootPlanterError> {
        if !(seconds >= 0.0 && seconds.is_finite()) {
            return Err(FootPlanterError::Time(seconds));
        }
        self.ahead = math::floor(seconds / BEAT + 0.5).min(MOST_AHEAD as f32) as usize;
        Ok(())
    }

    /// How far ahead the animation is known, in seconds.
    pub fn look_ahead(&self) -> f32 {
        self.ahead as f32 * BEAT
    }

    /// When the foot planter wants to see the animation next, in seconds from the frame of the coming step (which
    /// is `dt` seconds after the last one): negative before that frame, positive with look-ahead (ticks within
    /// a tenth of a millisecond are now). None once it has seen what the step needs. There are thirty such
    /// ticks a second, whatever the frame rate.
    ///
    /// A game that can sample its animation at any time gives every tick: all frame rates then decide by the same
    /// numbers, and so have their feet in the same places.
    ///
    /// ```
    /// # use sinew::{Placement, Pose, ground::plant::{FootPlanterError, FootPlanter, FootPlanterState}};
    /// # fn example(planter: &FootPlanter, feet: &mut FootPlanterState, tick: &mut Pose, time: f32, dt: f32) -> Result<(), FootPlanterError> {
    /// while let Some(later) = planter.next_tick(feet, dt) {
    ///     let at = time + later;
    ///     // Here the game samples its clip at that time, and moves its character to where it is then.
    ///     let placement = Placement::IDENTITY;
    ///     planter.give_tick(feet, tick, &placement)?;
    /// }
    /// // Then it casts, and steps.
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`FootPlanter::step_with`] does this and what follows in one call.
    ///
    /// Without look-ahead ticks need not be given: the animation at a tick is then taken from the frames around it.
    /// Frames at 60 Hz or more tell it to a millimetre, a frame later where the tick is on none of them. Slower
    /// ones that are not on ticks are off by up to a centimetre and more where the animation bends sharply, and a
    /// foot may do otherwise where that decides.
    pub fn next_tick(&self, feet: &FootPlanterState, dt: f32) -> Option<f32> {
        let known = feet.known.count;
        if !feet.started {
            return (known <= self.ahead).then_some(known as f32 * BEAT);
        }
        let Beats { count, phase, .. } = feet.beats_in(feet.pending + dt);
        (known < count).then(|| self.look_ahead() - phase - (count - 1 - known) as f32 * BEAT)
    }

    /// Gives the animation at the time that [`FootPlanter::next_tick`] has asked for, and where the figure is in the world
    /// then: by its clip, its speed and its way. (The contact that was given last by [`FootPlanterState::set_contact`] is of that
    /// time, too.) A game that cannot know what comes gives the best that it can: a foot that then lands elsewhere, as in
    /// a clip that was broken off, passes over to where it lands.
    pub fn give_tick(
        &self,
        feet: &mut FootPlanterState,
        pose: &Pose,
        placement: &Placement,
    ) -> Result<(), FootPlanterError> {
        self.knows(feet)?;
        self.fits(pose)?;
        let place = self.place(placement);
        let i = feet.known.count;
        if i >= MOST_KNOWN {
            // Nobody asked for it.
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

    /// Goes on to the frame in `pose`, `dt` seconds after the last one.
    pub(super) fn advance(&self, feet: &mut FootPlanterState, pose: &Pose, place: &Place, dt: f32) {
        let first = !feet.started;
        let dt = if first { 0.0 } else { dt };
        if first {
            let base = feet.base.unwrap_or(place.floor);
            feet.level = Spring { value: Vec3::Y * base, rate: Vec3::ZERO };
            feet.level_goal = feet.level.value;
        }
        for (state, leg) in feet.legs.iter_mut().zip(&self.figure.legs) {
            let s = leg.sample(pose, Vec3::ZERO);
            state.foot.track.push(place.sole(&s), dt);
            // The axis about which the knee bends, in the thigh's frame, as the last five seconds have it.
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
        let known = ticks.count > 0 && feet.known.count >= ticks.count;
        if !known {
            ticks = feet.beats_told(dt);
        }
        let Beats { all, count, phase } = ticks;
        feet.phase = phase;
        for tick in 0..count {
            // A long time ends with its last ticks; the springs run through all of it.
            let h = if tick == 0 { (all - (count - 1) as f32) * BEAT } else { BEAT };
            let age = (phase + (count - 1 - tick) as f32 * BEAT).max(0.0);
            let between = (age, (age / dt.max(f32::MIN_POSITIVE)).min(1.0));
            self.tick(feet, place, h, if known { Ok(tick) } else { Err(between) });
        }
        // With a tick missing, those that were given are of no use.
        feet.known.take(if known { count } else { MOST_KNOWN });
        for state in &mut feet.legs {
            state.given = state.given.map(|[_, now]| [now, now]);
        }
    }

    /// The first tick: everything is where it should be.
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
            state.foot.advance(0.0, settings, &m);
            state.foot.settle();
        }
        feet.known.clear();
        self.follow_feet(feet, place, 0.0);
        feet.started = true;
    }

    /// Goes on by `h` seconds to a tick: one that was given, or one that is so many seconds, and this share of the time
    /// step, before the present frame.
    fn tick(&self, feet: &mut FootPlanterState, place: &Place, h: f32, which: Result<usize, (f32, f32)>) {
        for i in 0..feet.legs.len() {
            let m = self.measures(i, place);
            let (state, settings) = (&mut feet.legs[i], &self.settings);
            let ((sole, given), body) = match which {
                Ok(known) => (feet.known.legs[i][known], feet.known.bodies[known]),
                Err((age, share)) => {
                    let given = state.given.map(|[before, now]| now + (before - now) * share);
                    ((state.foot.track.at(age), given), feet.body.at(age).ankle)
                }
            };
            state.foot.ticks.push(sole, body, given, &m);
            state.foot.advance(h, settings, &m);
        }
        self.follow_feet(feet, place, h);
    }

    /// The body's floor goes with the feet that stand.
    fn follow_feet(&self, feet: &mut FootPlanterState, place: &Place, h: f32) {
        // A foot in the air says a little about where the body should be; where none says anything, the ground does.
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
        feet.level = feet.level.towards(feet.level_goal, feet.level_goal, self.pelvis_omega(), h);
        feet.level_goal = Vec3::Y * (sum / weight + feet.rise);
        if !feet.started {
            feet.level = Spring { value: feet.level_goal, rate: Vec3::ZERO };
        }
    }
}
