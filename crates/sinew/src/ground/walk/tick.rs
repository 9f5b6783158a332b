//! One tick of a walk: which legs step, where to, and how the trunk moves.

use glam::{Quat, Vec3};

use super::{
    Refusal, WalkState, Walker,
    body::{Body, FeetPlane},
    creature::PLANNED,
    foot::{FootAt, HANGS, LegState, Stand, Swing, bow, ease},
    step::EndState,
    trail::TrailState,
};
use crate::{
    Placement,
    ground::{
        Ground,
        plant::{
            FootholdSearch, PlantOptions,
            foot_planter::{spring::Spring, ticks::TICK},
        },
    },
    math,
};

/// Frequency of the velocity's spring, in rad/s: it follows a change within a third of a second.
pub(super) const QUICK: f32 = 8.0;
/// Frequencies of the springs of the trunk's height and tilt, in rad/s.
const RISES: f32 = 6.5;
const TILTS: f32 = 6.0;
/// Largest rate of the height's goal, in legs per second.
const RISE_RATE: f32 = 0.7;
/// Largest tilt of the trunk, in radians: 35 degrees.
const MAX_TILT: f32 = 0.61;

/// Stride of an animal with legs of 1 m at 1 m/s, in metres: 2.3 legs times the Froude number to the power of 0.3 (Alexander &
/// Jayes 1983), which is v^2 / (9.81 m/s2 times 1 m).
const STRIDE: f32 = 1.16;
/// Exponent of the speed in that law.
const STRIDE_POWER: f32 = 0.6;
/// Shortest swing of a steady gait, in seconds.
const STEADY_SWING: f32 = 0.3;
/// Shortest swing of a cycle that is sped up, in seconds.
const MIN_SWING: f32 = 0.2;
/// Greatest mean speed of a lift, in legs per second: its height over the duration of the swing.
const LIFTS: f32 = 0.5;
/// Share of the reach of its step by which a leg should lift.
const LATE: f32 = 1.1;
/// Longest cycle, in seconds.
const SLOWEST: f32 = 1.6;
/// Duration of a step out of turn, in seconds: of a creature that stands, or whose foot is left behind.
const STEP_TIME: f32 = 0.35;
/// Largest change of a leg's phase and of the duty, in cycles per second.
const SHIFT: f32 = 0.4;

/// Distance from its place at which a foot of a creature that stands is brought home, as a share of the leg.
const HOME: f32 = 0.02;
/// Distance of a foot from its place, in half steps, from which it steps out of turn.
const OUT_OF_TURN: f32 = 1.35;
/// Distance by which a wished place moves before a swing is directed anew, as a share of the leg.
const MOVED: f32 = 0.02;
/// Share of its reach up to which a standing leg may be stretched, and the rate at which the trunk comes to rest there, per second.
const STRETCHED: f32 = 0.985;
const SLOWS: f32 = 12.0;
/// Time in which a leg lifts whose turn has come while its neighbour is still up, in seconds.
const LATEST: f32 = 0.1;
/// Largest deceleration of the trunk there, in legs per second squared.
const BRAKES: f32 = 5.5;
/// Rate at which the trunk regains its pace, per second.
const REGAINS: f32 = 3.0;
/// Largest acceleration of bob and sway together, in legs per second squared; in a faster step they are smaller.
const SHAKES: f32 = 3.0;
/// Commanded speed in legs per second below which a creature stands.
const STILL: f32 = 1e-3;
/// Time in which a creature comes to rest, in seconds: five times that of the velocity's spring.
const STOPS: f32 = 0.6;

/// Time by which the ground under the belly is seen ahead, in seconds: that of the height's spring.
const SEES: f32 = 0.25;
/// Largest lift of a tail, in radians.
const MAX_LIFT: f32 = 0.9;
/// Largest distance by which the trunk comes up or down for a foothold, as a share of the leg.
const COMES_DOWN: f32 = 0.15;
/// Acceleration at which the trunk comes down to legs that would not reach their feet, in legs per second squared.
const FALLS: f32 = 6.0;
/// Distance from the end of the legs' reach at which the trunk's height stays, as a share of the leg.
const MARGIN: f32 = 0.005;
/// Clearance of the belly, as a share of the leg.
const BELLY: f32 = 0.04;

impl Walker {
    pub(super) fn planting(&self) -> PlantOptions {
        PlantOptions::new().with_filter(self.options.filter).with_max_slope(self.options.max_slope)
    }

    /// Puts the trunk at its start, above a floor at the height of its soles.
    pub(super) fn place(&self, state: &mut WalkState) {
        let upright = math::swing_twist(state.start.rotation_to_world(Quat::IDENTITY), Vec3::Y).1;
        let yaw = 2.0 * math::atan2(upright.y, upright.w);
        let at = state.start.to_world(self.creature.pivot);
        (state.frame, state.boards) = (Placement::IDENTITY, None);
        state.base = Body { at, yaw, ..Body::default() };
        state.body = [state.base; 2];
        state.velocity = Spring::default();
        state.tilt = Spring::default();
        state.height = Spring { value: Vec3::Y * at.y, rate: Vec3::ZERO };
        (state.height_goal, state.low, state.looks) = (at.y, f32::NEG_INFINITY, 0.0);
        (state.since, state.phase, state.gait, state.pace) = (0.0, 0.0, 0, 1.0);
        (state.waits, state.max_speed, state.walks) = (None, None, false);
        (state.stir, state.rock) = (Spring::default(), Spring::default());
        state.ends.fill(EndState::default());
        state.trails.iter_mut().for_each(TrailState::forget);
        state.pattern.copy_from(&self.gaits[0].1);
        for n in 0..state.legs.len() {
            let point = self.rest_place(n, &state.base, state.scale);
            let point =
                point.with_y(at.y - (self.creature.pivot.y - self.creature.legs[n].stand.y) * state.scale);
            let stand = Stand { point, yaw, ..Stand::default() };
            let foot = FootAt { point, rate: Vec3::ZERO, turn: stand.turn() };
            state.legs[n] = LegState { stand, at: [foot; 2], ..LegState::default() };
        }
    }

    /// Stands a creature on the ground at its start. Whether any foot has ground.
    pub(super) fn begin(&self, state: &mut WalkState, ground: &dyn Ground) -> bool {
        let (settings, legs) = (self.planting(), self.creature.length * state.scale);
        let search = FootholdSearch { ground, settings: &settings, leg: legs, scale: 1.0 };
        let mut found = false;
        for (leg, of) in state.legs.iter_mut().zip(&self.creature.legs) {
            let at = leg.stand.point;
            let hit = search.below(at, at.y).or_else(|| search.anywhere(at, at.y));
            let Some((y, _)) = hit else {
                leg.refused = Some(Refusal::NoGround);
                continue;
            };
            found = true;
            let yaw = leg.stand.yaw;
            leg.stand = self
                .foothold(&search, at.with_y(y), yaw, y, of.radius * state.scale, |_| true)
                .unwrap_or(Stand { point: at.with_y(y), ..leg.stand });
            let foot = FootAt { point: leg.stand.point, rate: Vec3::ZERO, turn: leg.stand.turn() };
            leg.at = [foot; 2];
        }
        let plane = self.plane(state);
        state.tilt.value = plane.tilt(self.options.tilt, MAX_TILT);
        state.base.tilt = state.tilt.value;
        let body = state.base;
        self.look(state, &search, &plane, &body, (Vec3::ZERO, 0.0));
        let goal = self.height_goal(state, &plane, &body, (Vec3::ZERO, 0.0));
        state.height_goal = goal;
        state.height = Spring { value: Vec3::Y * goal, rate: Vec3::ZERO };
        state.base.at.y = goal;
        state.body = [state.base; 2];
        found
    }

    /// The plane through the feet; those that swing move between their stands.
    fn plane(&self, state: &WalkState) -> FeetPlane {
        FeetPlane::of(state.legs.iter().map(|leg| match &leg.swing {
            Some(swing) => leg.stand.point.lerp(swing.to.point, ease(swing.share())),
            None => leg.stand.point,
        }))
    }

    /// Velocity of a leg's place under the trunk, in m/s in model space turned to the world's scale, at a command in the body's
    /// frame.
    fn place_velocity(&self, leg: usize, command: Vec3, scale: f32) -> Vec3 {
        let c = &self.creature;
        let arm = (c.legs[leg].stand - c.pivot).with_y(0.0) * scale;
        let ahead = math::rotate(math::axis_angle(Vec3::Y, c.heading), command.with_y(0.0));
        ahead + Vec3::new(arm.z, 0.0, -arm.x) * command.y
    }

    /// Speed of the fastest of these places, in legs per second, and the longest time in which none leaves the reach of its step.
    fn demand(&self, body: &Body, command: Vec3, scale: f32) -> (f32, f32) {
        let (mut speed, mut time) = (0.0f32, f32::INFINITY);
        for n in 0..self.creature.legs.len() {
            let own = self.place_velocity(n, command, scale).length();
            if own > 0.0 {
                speed = speed.max(own);
                time = time.min(2.0 * self.sweep(n, body, command, scale) / own);
            }
        }
        (speed / (self.creature.length * scale), time)
    }

    /// Half of a leg's longest step at a command in the body's frame, in metres.
    fn sweep(&self, leg: usize, body: &Body, command: Vec3, scale: f32) -> f32 {
        let along = self.place_velocity(leg, command, scale).normalize_or(Vec3::Z);
        let along = math::rotate(math::axis_angle(Vec3::Y, body.yaw), along);
        let (arm, [x, z]) = self.footing(leg, body, scale);
        self.creature.legs[leg].sweep(arm, along, x * along.x + z * along.z, scale)
    }

    /// Duration of a cycle at a command in the body's frame.
    fn cycle(&self, body: &Body, command: Vec3, scale: f32, duty: f32) -> f32 {
        let (speed, time) = self.demand(body, command, scale);
        if speed <= 0.0 {
            return SLOWEST;
        }
        (STRIDE * math::pow(speed, STRIDE_POWER - 1.0)).min(time / duty).min(SLOWEST)
    }

    /// The largest speed at which the legs can step straight ahead, in m/s for a creature at a scale of 1.
    pub fn max_speed(&self) -> f32 {
        let (_, time) = self.demand(&Body::default(), Vec3::Z, 1.0);
        self.gaits.last().map_or(0.0, |(_, pattern)| slack(time, pattern.duty))
    }

    /// Chooses the gait and limits the command to what its legs can step.
    fn choose(&self, state: &mut WalkState, command: Vec3) -> Vec3 {
        let (_, time) = self.demand(&state.base, command, state.scale);
        let last = self.gaits.len() - 1;
        let fits = |n: usize| slack(time, self.gaits[n].1.duty);
        // The slowest gait with swings that are long enough; a faster one stays until the slower has a margin.
        let slowest = (0..=last).find(|&n| fits(n) >= if n < state.gait { 1.1 } else { 1.0 });
        state.gait = slowest.unwrap_or(last);
        let share = fits(state.gait).min(1.0);
        state.max_speed = (share < 1.0).then(|| share * command.with_y(0.0).length());
        command * share
    }

    /// Moves phases and duty towards those of the gait.
    fn shift(&self, state: &mut WalkState, h: f32) {
        let goal = &self.gaits[state.gait].1;
        let step = |gap: f32| gap.clamp(-SHIFT * h, SHIFT * h);
        for (phase, goal) in state.pattern.phases.iter_mut().zip(&goal.phases) {
            let gap = goal - *phase;
            let gap = gap - math::floor(gap + 0.5);
            let moved = *phase + step(gap);
            *phase = moved - math::floor(moved);
        }
        state.pattern.duty += step(goal.duty - state.pattern.duty);
    }

    /// Advances a state by one tick: the coming tick becomes the last.
    pub(super) fn tick(&self, state: &mut WalkState, ground: &dyn Ground, command: Vec3) {
        let (settings, legs) = (self.planting(), self.creature.length * state.scale);
        let search = FootholdSearch { ground, settings: &settings, leg: legs, scale: 1.0 };
        state.body[0] = state.body[1];
        for leg in &mut state.legs {
            leg.at[0] = leg.at[1];
            leg.stood = leg.stood.saturating_add(1);
            if let Some(swing) = leg.swing.filter(|s| s.gone >= s.ticks) {
                leg.beside = (swing.wished - swing.to.point).with_y(0.0);
                (leg.stand, leg.swing, leg.ride, leg.stood) = (swing.to, None, None, 0);
            }
        }
        let command = self.choose(state, command);
        let moves = state.velocity.value * state.pace;
        let demand = |command: Vec3| self.demand(&state.base, command, state.scale).0;
        let (wanted, now) = (demand(command), demand(moves));
        let walks = wanted > STILL;
        if walks && !state.walks {
            self.set_off(state, command);
        }
        state.walks = walks;
        self.shift(state, TICK);
        let duty = state.pattern.duty;
        let cycle = self.cycle(&state.base, if now > wanted { moves } else { command }, state.scale, duty);
        let cycle = cycle / self.speed_up(state, command, cycle);
        if walks {
            self.call(state, TICK / cycle);
        }
        let plane = self.plane(state);
        // A second of ticks sums up to the rate, but for rounding.
        state.looks += self.options.cast_rate * TICK;
        let looks = state.looks > 0.999;
        if looks {
            state.looks -= 1.0;
            self.redirect(state, &search, &plane, command, duty * cycle);
        }
        self.lift(state, &search, &plane, command, (duty * cycle, (1.0 - duty) * cycle));
        self.advance(state, looks.then_some(&search), command, cycle, legs);
    }

    /// Starts the cycle with the leg that will stray furthest.
    fn set_off(&self, state: &mut WalkState, command: Vec3) {
        // Nothing is up yet, so phases need not shift gradually.
        state.pattern.copy_from(&self.gaits[state.gait].1);
        let ahead = self.predicted(state, command, 0.5);
        let stray = |n: usize| {
            let place = self.rest_place(n, &ahead, state.scale);
            (place - state.legs[n].stand.point).with_y(0.0).length()
        };
        // The rear-most of equal ones, as legs are in order from the front.
        let first = (0..state.legs.len()).rev().reduce(|a, b| if stray(b) > 1.05 * stray(a) { b } else { a });
        if let Some(first) = first {
            let before = state.phase;
            state.phase = state.pattern.phases[first];
            let rock = state.rock.value.x + before - state.phase;
            state.rock.value.x = rock - math::floor(rock + 0.5);
            state.legs[first].due = true;
        }
    }

    /// Factor by which the cycle is faster, so that no leg leaves the reach of its step before its turn: after a start or a change
    /// of the velocity.
    fn speed_up(&self, state: &WalkState, command: Vec3, cycle: f32) -> f32 {
        let duty = state.pattern.duty;
        let max = ((1.0 - duty) * cycle / MIN_SWING).max(1.0);
        let turned = math::axis_angle(Vec3::Y, state.base.yaw);
        let mut factor = 1.0f32;
        for (n, leg) in state.legs.iter().enumerate().filter(|(_, l)| l.swing.is_none() && !l.due) {
            let velocity = self.place_velocity(n, command, state.scale);
            let speed = velocity.length();
            if speed <= 0.0 {
                continue;
            }
            let along = velocity / speed;
            let from = self.rest_place(n, &state.base, state.scale) - leg.stand.point;
            let gone = from.dot(math::rotate(turned, along));
            let left = (LATE * self.sweep(n, &state.base, command, state.scale) - gone).max(0.0);
            let ahead = state.pattern.phases[n] - state.phase;
            let ahead = (ahead - math::floor(ahead)) * cycle;
            factor = factor.max(ahead * speed / left.max(f32::MIN_POSITIVE));
        }
        factor.min(max)
    }

    /// Advances the cycle, and calls the legs whose phases come.
    fn call(&self, state: &mut WalkState, by: f32) {
        let next = state.phase + by;
        for (leg, phase) in state.legs.iter_mut().zip(&state.pattern.phases) {
            let ahead = phase - state.phase;
            let ahead = ahead - math::floor(ahead);
            // At its own phase a leg has been called already.
            if ahead > 0.0 && ahead <= by {
                leg.due = true;
            } else if leg.due && ahead < 0.75 && ahead > by {
                // Its turn has passed.
                leg.due = false;
            }
        }
        state.phase = next - math::floor(next);
    }

    /// Fewest feet that stand: half of them, and two.
    fn fewest(&self) -> usize {
        self.creature.legs.len().div_ceil(2).max(2)
    }

    /// Whether a leg may lift: its neighbours stand, and enough others.
    fn may_lift(&self, state: &WalkState, leg: usize, partner: bool) -> bool {
        let beside = &self.creature.legs[leg].beside;
        let beside = if partner { &beside[..] } else { &beside[..2] };
        let up = |n: usize| state.legs[n].swing.is_some();
        let standing = (0..state.legs.len()).filter(|&n| !up(n)).count();
        !up(leg) && !beside.iter().flatten().any(|&n| up(n)) && standing > self.fewest()
    }

    /// Directs swings anew whose places have moved.
    fn redirect(
        &self,
        state: &mut WalkState,
        search: &FootholdSearch<'_>,
        plane: &FeetPlane,
        command: Vec3,
        stance: f32,
    ) {
        for n in 0..state.legs.len() {
            let leg = state.legs[n];
            let Some(swing) = leg.swing else { continue };
            let left = (swing.ticks - swing.gone) as f32 * TICK;
            let (wished, yaw) = self.wished(state, n, command, left, stance);
            let moved = (wished - swing.wished).length() > MOVED * search.leg;
            // In the last ticks a foot could not come round, but where the trunk has slowed down it must.
            let early = swing.ticks - swing.gone >= 4 && swing.share() <= 0.6;
            let must = swing.ticks - swing.gone >= 2 && !self.serves(state, n, &swing.to, command, left);
            if !(moved && early || must) {
                continue;
            }
            let radius = self.creature.legs[n].radius * state.scale;
            let found = self.foothold(search, wished, yaw, plane.height(wished), radius, |s| {
                self.serves(state, n, s, command, left)
            });
            if let Ok(to) = found {
                let foot = leg.at[1];
                let course =
                    self.course(search, (foot.point, foot.rate), &to, (left, radius), Some(&swing.course));
                state.legs[n].swing = Some(Swing { to, wished, course, ..swing });
            }
        }
    }

    /// Place under the trunk in the middle of a leg's coming stance, `later` seconds from now, and the heading as it comes down.
    fn wished(&self, state: &WalkState, leg: usize, command: Vec3, later: f32, stance: f32) -> (Vec3, f32) {
        let middle =
            self.predicted(state, command, if state.walks { later + 0.5 * stance } else { later + STOPS });
        (self.rest_place(leg, &middle, state.scale).with_y(0.0), self.predicted(state, command, later).yaw)
    }

    /// Whether a leg reaches a stand from where its root will be as the foot comes down.
    fn serves(&self, state: &WalkState, leg: usize, stand: &Stand, command: Vec3, later: f32) -> bool {
        let body = self.predicted(state, command, later);
        let of = &self.creature.legs[leg];
        let turned = body.rotation();
        let hip = body.at + self.arm(of.hip, turned, state.scale);
        let ankle = stand.point - math::rotate(stand.turn(), of.sole) * state.scale;
        let [near, far] = of.within(PLANNED, state.scale);
        let d = ankle - hip;
        // The trunk may come up or down for it, but not onto its belly.
        let aside = d.with_y(0.0).length();
        let moves = COMES_DOWN * of.reach[1] * state.scale;
        let drop = (-d.y - state.room.min(moves)).max(d.y - moves).max(0.0);
        aside * aside + drop * drop <= far * far && d.length() >= near
    }

    /// Whether a leg's next turn, a cycle later, comes before it leaves the reach of its step.
    fn can_wait(&self, state: &WalkState, leg: usize, command: Vec3, cycle: f32) -> bool {
        let velocity = self.place_velocity(leg, command, state.scale);
        let along = math::rotate(math::axis_angle(Vec3::Y, state.base.yaw), velocity.normalize_or_zero());
        let off = (self.rest_place(leg, &state.base, state.scale) - state.legs[leg].stand.point).with_y(0.0);
        let most = LATE * self.sweep(leg, &state.base, command, state.scale);
        (off + along * (velocity.length() * cycle)).length() < most
    }

    /// Lifts the legs whose turn has come, and those that strayed too far.
    fn lift(
        &self,
        state: &mut WalkState,
        search: &FootholdSearch<'_>,
        plane: &FeetPlane,
        command: Vec3,
        (stance, swing): (f32, f32),
    ) {
        let legs = search.leg;
        let place = |state: &WalkState, n: usize| {
            let body = if state.walks { state.base } else { self.predicted(state, command, STOPS) };
            let rest = self.rest_place(n, &body, state.scale);
            // At rest a foot stays on its foothold, which an edge may have kept away from its place.
            let beside = if state.walks { Vec3::ZERO } else { state.legs[n].beside };
            (rest - state.legs[n].stand.point - beside).with_y(0.0).length()
        };
        for _ in 0..state.legs.len() {
            // Legs in turn first, then the one that strayed furthest.
            let in_turn =
                (0..state.legs.len()).find(|&n| state.legs[n].due && self.may_lift(state, n, false));
            let left_behind = |&n: &usize| {
                let far = if state.walks {
                    OUT_OF_TURN * self.sweep(n, &state.base, command, state.scale)
                } else {
                    HOME * legs
                };
                state.legs[n].swing.is_none()
                    && place(state, n) > far
                    && self.may_lift(state, n, true)
                    && (state.legs[n].refused.is_none() || state.legs[n].stood.is_multiple_of(15))
            };
            let far = || {
                let all = (0..state.legs.len()).filter(left_behind);
                all.max_by(|&a, &b| place(state, a).total_cmp(&place(state, b)))
            };
            let Some(n) = in_turn.or_else(far) else { break };
            let due = core::mem::take(&mut state.legs[n].due);
            let time = if due && state.walks { swing } else { STEP_TIME };
            let ticks = math::floor(time / TICK + 0.5).clamp(6.0, 60.0);
            let time = ticks * TICK;
            let (wished, yaw) = self.wished(state, n, command, time, stance);
            if due && state.walks && self.can_wait(state, n, command, stance + swing) {
                continue;
            }
            let radius = self.creature.legs[n].radius * state.scale;
            let found = self.foothold(search, wished, yaw, plane.height(wished), radius, |s| {
                self.serves(state, n, s, command, time)
            });
            let leg = &mut state.legs[n];
            match found {
                Ok(to) => {
                    let start = (leg.stand.point, leg.carried());
                    let mut course = self.course(search, start, &to, (time, radius), None);
                    let mut ticks = ticks;
                    // High steps take their time.
                    let least = math::ceil(course.lift() / (LIFTS * legs * TICK)).min(1.5 * ticks);
                    if least > ticks {
                        ticks = math::floor(least);
                        course = self.course(search, start, &to, (ticks * TICK, radius), None);
                    }
                    leg.swing = Some(Swing { to, wished, course, ticks: ticks as u32, gone: 0 });
                    leg.refused = None;
                }
                // It is tried again half a second later.
                Err(refused) => (leg.refused, leg.stood) = (Some(refused), 1),
            }
        }
    }

    /// Moves trunk and feet to the coming tick.
    fn advance(
        &self,
        state: &mut WalkState,
        search: Option<&FootholdSearch<'_>>,
        command: Vec3,
        cycle: f32,
        legs: f32,
    ) {
        let was = state.base;
        let before = state.velocity;
        state.velocity = state.velocity.towards(command, QUICK, TICK);
        let pace = state.pace;
        state.pace = self.pace(state, (state.pace + REGAINS * TICK).min(1.0), cycle);
        let (from, to) = (before.value * pace, state.velocity.value * state.pace);
        let mean = (from + to) * 0.5;
        let yaw = was.yaw + mean.y * TICK;
        let world = |yaw: f32, v: Vec3| {
            math::rotate(math::axis_angle(Vec3::Y, yaw + self.creature.heading), v.with_y(0.0))
        };
        let mut body = Body { yaw, turn: to.y, ..was };
        body.at += world(0.5 * (was.yaw + yaw), mean) * TICK;
        body.rate = world(yaw, to);
        for leg in &mut state.legs {
            if let Some(swing) = &mut leg.swing {
                swing.gone += 1;
                swing.course = swing.course.after(TICK);
                let step = 0.25 * TICK;
                let (at, soon) = (swing.course.at(0.0).ankle, swing.course.at(-step).ankle);
                let s = swing.share();
                let hang = math::axis_angle(world(yaw, Vec3::X), HANGS * bow(s));
                let turn = math::slerp(leg.stand.turn(), swing.to.turn(), ease(s));
                leg.at[1] = FootAt { point: at, rate: (at - soon) / step, turn: math::mul(hang, turn) };
                if swing.gone >= swing.ticks {
                    leg.at[1] = FootAt { point: swing.to.point, rate: Vec3::ZERO, turn: swing.to.turn() };
                }
            } else {
                leg.carry();
                leg.at[1] = FootAt { point: leg.stand.point, rate: leg.carried(), turn: leg.stand.turn() };
            }
        }
        // Tilt and height.
        let plane = self.plane(state);
        let tilt = plane.tilt(self.options.tilt, MAX_TILT);
        state.tilt = state.tilt.towards(tilt, TILTS, TICK);
        (body.tilt, body.tilts) = (state.tilt.value, state.tilt.rate);
        let climb = plane.climb(body.rate);
        match search {
            Some(search) => self.look(state, search, &plane, &body, (command, cycle)),
            None => state.low += climb * TICK,
        }
        let goal = self.height_goal(state, &plane, &body, (command, cycle));
        state.room = (state.height.value.y - state.low).max(0.0);
        let most = (RISE_RATE * legs + climb.abs()) * TICK;
        let last = state.height_goal;
        let [low, high] = self.heights(state, &body);
        let within = goal.max(low + MARGIN * legs).min(high - MARGIN * legs);
        state.height_goal = within.max(last - most).min(last + most);
        // The goal moves with the ground's slope.
        let gap = Spring {
            value: state.height.value - Vec3::Y * (state.height_goal - climb * TICK),
            rate: state.height.rate - Vec3::Y * climb,
        };
        let gap = gap.after(if state.walks { RISES } else { QUICK }, TICK);
        state.height =
            Spring { value: gap.value + Vec3::Y * state.height_goal, rate: gap.rate + Vec3::Y * climb };
        // No standing leg leaves its reach, however the trunk came there.
        let y = state.height.value.y;
        let to = y.max(low).min(high);
        if y != to {
            let most = FALLS * legs * TICK;
            let rate = ((to - was.at.y) / TICK).max(was.rate.y - most).min(was.rate.y + most);
            let past = |a: f32, b: f32| if to < y { a.min(b) } else { a.max(b) };
            state.height.rate.y = past(state.height.rate.y, rate);
            state.height.value.y = past(y, was.at.y + state.height.rate.y * TICK);
        }
        body.at.y = state.height.value.y;
        body.rate.y = state.height.rate.y;
        for end in &mut state.ends {
            end.before = end.lift;
            end.lift = end.lift.towards(Vec3::X * end.goal, RISES, TICK);
        }
        // Bob and sway follow the cycle, whose rate changes at once where it is sped up.
        let cadence = if state.walks { 1.0 / cycle } else { 0.0 };
        let gap = Spring { value: state.rock.value, rate: state.rock.rate - Vec3::X * cadence };
        let gap = gap.after(QUICK, TICK);
        state.rock = Spring { value: gap.value, rate: gap.rate + Vec3::X * cadence };
        let (rock, cadence) = (state.phase + gap.value.x, state.rock.rate.x);
        let quick = core::f32::consts::TAU * cadence;
        let shakes = (4.0 * self.options.bob + self.options.sway) * quick * quick;
        let stirs = if state.walks { (SHAKES / shakes).min(1.0) } else { 0.0 };
        state.stir = state.stir.towards(Vec3::X * stirs, QUICK, TICK);
        let stir = state.stir.value.x * legs;
        state.base = body;
        let (bob, bob_rate) = wave(2.0 * rock, 2.0 * cadence);
        body.at.y += stir * self.options.bob * bob;
        body.rate.y += stir * self.options.bob * bob_rate;
        if self.creature.legs.len() <= 4 {
            // Away from the side whose leg swings.
            let left = world(yaw, Vec3::X) * (-stir * self.options.sway);
            let (sway, rate) = wave(rock, cadence);
            body.at += left * sway;
            body.rate += left * rate;
        }
        state.body[1] = body;
    }

    /// Share of the velocity that keeps all standing legs within reach, at most `most`.
    fn pace(&self, state: &mut WalkState, most: f32, cycle: f32) -> f32 {
        let body = state.base;
        let turned = body.rotation();
        let v = state.velocity.value;
        let velocity =
            math::rotate(math::axis_angle(Vec3::Y, body.yaw + self.creature.heading), v.with_y(0.0));
        let mut pace = most;
        // With the trunk slowed down at a rate per second, it loses as much of its speed in a second.
        let legs = self.creature.length * state.scale;
        let speed = v.with_y(0.0).length().max(f32::MIN_POSITIVE);
        let slows = SLOWS.min(BRAKES * legs / speed);
        let least = (state.pace - BRAKES * legs / speed * TICK).max(0.0);
        state.waits = None;
        for (n, leg) in state.legs.iter().enumerate().filter(|(_, l)| l.swing.is_none()) {
            let of = &self.creature.legs[n];
            let arm = self.arm(of.hip, turned, state.scale);
            let ankle = leg.stand.point - math::rotate(leg.stand.turn(), of.sole) * state.scale;
            let line = body.at + arm - ankle;
            let length = line.length();
            let (turns, rises) = (Vec3::Y * v.y + body.tilts, Vec3::Y * body.rate.y.max(0.0));
            let rate = (velocity + turns.cross(arm) + rises).dot(line) / length.max(f32::MIN_POSITIVE);
            let [near, far] = of.within(STRETCHED, state.scale);
            let mut wait = |rate: f32, left: f32| {
                let allowed = (slows * left).max(0.0);
                if rate > allowed && allowed < pace * rate {
                    pace = allowed / rate;
                    state.waits = Some((n, leg.refused));
                }
            };
            // Not for a leg that lifts before.
            let ahead = state.pattern.phases[n] - state.phase;
            let later = if leg.due { LATEST } else { (ahead - math::floor(ahead)) * cycle };
            for (rate, left) in [(rate, far - length), (-rate, length - near)] {
                if leg.refused.is_some() || !state.walks || rate * later > left {
                    wait(rate, left);
                }
            }
            // A foot that finds no place keeps the trunk over the others.
            if leg.refused.is_some() {
                let own = self.place_velocity(n, v, state.scale);
                let speed = own.length();
                let along = math::rotate(math::axis_angle(Vec3::Y, body.yaw), own.normalize_or_zero());
                let gone = (self.rest_place(n, &body, state.scale) - leg.stand.point).dot(along);
                wait(speed, OUT_OF_TURN * self.sweep(n, &body, v, state.scale) - gone);
            }
        }
        pace.max(least)
    }

    /// Smallest and largest height of the pivot at which all standing legs are within reach.
    fn heights(&self, state: &WalkState, body: &Body) -> [f32; 2] {
        let turned = body.rotation();
        let standing = state.legs.iter().zip(&self.creature.legs).filter(|(leg, _)| leg.swing.is_none());
        standing.fold([f32::NEG_INFINITY, f32::INFINITY], |[low, high], (leg, of)| {
            let ankle = leg.stand.point - math::rotate(leg.stand.turn(), of.sole) * state.scale;
            let arm = self.arm(of.hip, turned, state.scale);
            let aside = (body.at + arm - ankle).with_y(0.0).length_squared();
            let [near, far] = of.within(STRETCHED, state.scale).map(|reach| reach * reach - aside);
            let at = |over: f32| ankle.y + math::sqrt(over.max(0.0)) - arm.y;
            [if near > 0.0 { low.max(at(near)) } else { low }, high.min(at(far))]
        })
    }

    /// Time until a leg that stands comes down on its next foothold, in seconds.
    fn lands(&self, state: &WalkState, leg: usize, cycle: f32) -> f32 {
        let of = &state.legs[leg];
        let ahead = state.pattern.phases[leg] - state.phase;
        let ahead = if of.due || of.refused.is_some() { 0.0 } else { ahead - math::floor(ahead) };
        (ahead + 1.0 - state.pattern.duty) * cycle
    }

    /// Angle in radians by which a part that hangs on the trunk is lifted off the ground.
    fn lift_goal(
        &self,
        end: usize,
        state: &WalkState,
        search: &FootholdSearch<'_>,
        plane: &FeetPlane,
        body: &Body,
    ) -> f32 {
        let end = &self.creature.ends[end];
        // As the trunk will be tilted when the lift has followed.
        let turned = Body { tilt: body.tilt + body.tilts * SEES, ..*body }.rotation();
        let joint = body.at + self.arm(end.at, turned, state.scale);
        let need = |point: &Vec3| {
            let at = body.at + self.arm(*point, turned, state.scale);
            let ahead = at + body.rate.with_y(0.0) * SEES;
            let under = [at, ahead].map(|p| search.below(p, plane.height(p)).map(|(y, _)| y));
            let under = under.into_iter().flatten().reduce(f32::max)?;
            let arm = (at - joint).with_y(0.0).length();
            Some((under + BELLY * search.leg - at.y) / arm.max(0.02 * search.leg))
        };
        end.points.iter().filter_map(need).fold(0.0, f32::max).min(MAX_LIFT)
    }

    /// Casts under the belly, the tails and the coming footholds.
    fn look(
        &self,
        state: &mut WalkState,
        search: &FootholdSearch<'_>,
        plane: &FeetPlane,
        body: &Body,
        (command, cycle): (Vec3, f32),
    ) {
        // The trunk now, and when its height has followed.
        let soon =
            Body { at: body.at + body.rate.with_y(0.0) * SEES, tilt: body.tilt + body.tilts * SEES, ..*body };
        state.low = f32::NEG_INFINITY;
        for body in [body, &soon] {
            let turned = body.rotation();
            for &point in &self.creature.belly {
                let arm = self.arm(point, turned, state.scale);
                if let Some((y, _)) = search.below(body.at + arm, plane.height(body.at + arm)) {
                    state.low = state.low.max(y + BELLY * search.leg - arm.y);
                }
            }
        }
        let coming = Body { at: body.at + Vec3::Y * (state.height.rate.y * TICK), ..*body };
        for n in 0..state.ends.len() {
            state.ends[n].goal = self.lift_goal(n, state, search, plane, &coming);
        }
        let stance = state.pattern.duty * cycle;
        for n in 0..state.legs.len() {
            // The height's spring is 2 / RISES behind its goal.
            let later = self.lands(state, n, cycle);
            let slack = (RISE_RATE * (later - 2.0 / RISES)).max(0.0) * search.leg;
            state.legs[n].next = f32::INFINITY;
            if state.legs[n].swing.is_none() && state.walks && slack < COMES_DOWN * search.leg {
                let (wished, _) = self.wished(state, n, command, later, stance);
                if let Some((y, _)) = search.below(wished, plane.height(wished)) {
                    let next = (y - plane.height(wished)).min(0.0) + slack;
                    state.legs[n].next = next.max(-COMES_DOWN * search.leg);
                }
            }
        }
    }

    /// Height of the pivot over the plane of the feet, within the reach of the standing legs and in time for those that come down,
    /// with the belly off the ground.
    fn height_goal(
        &self,
        state: &WalkState,
        plane: &FeetPlane,
        body: &Body,
        (command, cycle): (Vec3, f32),
    ) -> f32 {
        let c = &self.creature;
        let stance = if state.walks { state.pattern.duty * cycle } else { 0.0 };
        let ride = ((c.pivot.y - c.floor) * self.options.ride + c.raised()) * state.scale;
        let mut high = plane.height(body.at) + ride;
        let turned = body.rotation();
        let heading = math::axis_angle(Vec3::Y, body.yaw);
        for (n, (leg, of)) in state.legs.iter().zip(&c.legs).enumerate() {
            let stand = leg.swing.as_ref().map_or(&leg.stand, |s| &s.to);
            let [_, far] = of.within(PLANNED, state.scale);
            let (middle, [x, z]) = self.footing(n, body, state.scale);
            let place = self.rest_place(n, body, state.scale);
            // Both ends of an even walk's stance, and where the foot stands.
            let half = math::rotate(heading, self.place_velocity(n, command, state.scale)) * (0.5 * stance);
            let off = (stand.point - place).with_y(0.0);
            let own = if leg.swing.is_some() { half } else { off };
            // Where it will stand as it lifts, if it can.
            let lifts = leg.swing.is_none() && leg.refused.is_none() && !leg.due;
            let ahead = if lifts { state.pattern.phases[n] - state.phase } else { 0.0 };
            let ahead = (ahead - math::floor(ahead)) * cycle;
            let last = own - math::rotate(heading, self.place_velocity(n, command, state.scale)) * ahead;
            // A foot that is lower than the plane of all stays so.
            let next = if leg.swing.is_none() { leg.next.min(0.0) } else { 0.0 };
            let foot = plane.height(place) + (stand.point.y - plane.height(stand.point)).min(next);
            let ankle = foot - math::rotate(stand.turn(), of.sole).y * state.scale;
            for from in [half, -half, own, last] {
                let over = math::sqrt((far * far - (middle + from).with_y(0.0).length_squared()).max(0.0));
                let arm = self.arm(of.hip, turned, state.scale);
                high = high.min(ankle + over + (x * from.x + z * from.z) - arm.y);
            }
        }
        high.max(state.low)
    }
}

/// Factor by which a command could be faster whose legs leave the reach of their steps after `time` seconds, with swings of
/// a steady gait.
fn slack(time: f32, duty: f32) -> f32 {
    (1.0 - duty) / duty * time / STEADY_SWING
}

/// The sine of a number of turns, and its rate at `rate` turns per second.
fn wave(turns: f32, rate: f32) -> (f32, f32) {
    let angle = core::f32::consts::TAU * (turns - math::floor(turns));
    (math::sin(angle), math::cos(angle) * core::f32::consts::TAU * rate)
}
