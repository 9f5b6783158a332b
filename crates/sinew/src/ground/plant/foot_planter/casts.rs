//! Ray casts of a figure, under its body and for its feet.

use glam::Vec3;

use super::{FootPlanter, FootPlanterError, FootPlanterState, NOW, place::Place, ticks::TICK, track::Sole};
use crate::{
    Placement, Pose,
    ground::{Ground, plant::FootholdSearch},
    math,
};

/// Largest rise by which the pelvis leads the feet, as a fraction of the leg.
const LEAD: f32 = 0.5;

impl FootPlanter {
    /// Casts rays for the ground under the body and around the feet.
    ///
    /// `pose` holds the animation, not yet planted, and `placement` is the figure's placement in the world. Both are those
    /// of the next [`FootPlanter::step`], or the latest known. It may run at the rate of the physics; at 10 Hz and above
    /// feet still see edges in time.
    ///
    /// # Errors
    ///
    /// The state is another foot planter's, or the pose or a sole is invalid.
    pub fn sense(
        &self,
        feet: &mut FootPlanterState,
        ground: &dyn Ground,
        pose: &Pose,
        placement: &Placement,
    ) -> Result<(), FootPlanterError> {
        self.knows(feet)?;
        self.fits(pose)?;
        if feet.presence.is_absent() {
            return Ok(());
        }
        let place = self.place(&feet.framed(placement)?);
        let frame = feet.frame;
        let framed = frame.ground(ground);
        // A frame that never changed keeps every bit of the casts.
        let ground: &dyn Ground = if frame == Placement::IDENTITY { ground } else { &framed };
        // Results count from the next tick on, so casts are due once per tick. Given ticks tell whether the coming step has
        // one; otherwise the last time step predicts it.
        let due = match (feet.known.next(0), self.ahead) {
            (Some(_), _) => true,
            // After the first frame there is no time step yet.
            (None, 0) => {
                feet.last <= 0.0
                    || feet.beats_told(feet.last).all > 0.0
                    || feet.beats_told(1.2 * feet.last).all > 0.0
            }
            _ => false,
        };
        if feet.started && !due && feet.since < TICK - NOW {
            return Ok(());
        }
        // Whole ticks are the same at all frame rates.
        let since = math::floor(core::mem::take(&mut feet.since) / TICK + 0.5).max(1.0) * TICK;
        let settings = self.settings;
        let scale = place.scale * self.figure.height / 1.8;
        let search =
            FootholdSearch { ground, settings: &settings, leg: self.figure.leg_length * place.scale, scale };
        // Position and velocity of the body at the next tick.
        let (body, rate) = {
            let next = self.next_seen(feet, 0, pose, &place).1;
            let rate = if feet.started {
                let m = self.measures(0, &place);
                (next - feet.legs[0].foot.now(&m).body).with_y(0.0) / TICK
            } else {
                Vec3::ZERO
            };
            (next, rate)
        };
        let near = search.below(body, feet.base.unwrap_or(place.floor));
        let found =
            near.or_else(|| if feet.base.is_some() { None } else { search.anywhere(body, place.floor) });
        let Some(base) = found.map(|(y, _)| y).or(feet.base) else { return Ok(()) };
        (feet.base, feet.body_below) = (Some(base), found.and_then(|(_, hit)| hit.body));
        // On a climb the pelvis' spring lags by 2 / omega seconds. The slope is taken over as much ahead and behind, as one
        // step of a stair is no slope.
        let ahead = rate * (2.0 / self.pelvis_omega());
        let height = |at: Vec3| search.height(at, base).map_or(base, |(y, _)| y);
        let most = LEAD * search.leg;
        feet.rise = (0.5 * (height(body + ahead) - height(body - ahead))).clamp(-most, most);
        for i in 0..feet.legs.len() {
            let m = self.measures(i, &place);
            let (now, _) = self.next_seen(feet, i, pose, &place);
            let foot = &mut feet.legs[i].foot;
            if !feet.started {
                foot.start(base);
            }
            foot.sense(&search, &m, &now, base, since);
        }
        Ok(())
    }

    /// The animation's foot and pelvis at the next tick, given or interpolated between the last frame and this one.
    fn next_seen(&self, feet: &FootPlanterState, leg: usize, pose: &Pose, place: &Place) -> (Sole, Vec3) {
        if feet.started && self.ahead > 0 {
            let tick = feet.legs[leg].foot.ticks.ago(self.ahead - 1);
            return (tick.sole, tick.body);
        }
        if let Some(known) = feet.known.next(leg) {
            return known;
        }
        let now = place.sole(&self.figure.legs[leg].sample(pose, Vec3::ZERO));
        let body = place.over_floor(pose.position(self.figure.pelvis));
        if !feet.started || feet.last <= 0.0 {
            return (now, body);
        }
        let age = (feet.phase + feet.last - TICK).max(0.0);
        let (mut foot, mut track) = (feet.legs[leg].foot.track, feet.body);
        foot.push(now, feet.last);
        track.push(Sole { ankle: body, ..Sole::default() }, feet.last);
        (foot.at(age), track.at(age).ankle)
    }
}
