//! What a figure sees of the ground.

use glam::Vec3;

use super::{FootPlanter, FootPlanterError, FootPlanterState, NOW, place::Place, ticks::BEAT, track::Sole};
use crate::{
    Placement, Pose,
    ground::{Ground, plant::FootholdSearch},
    math,
};

/// The pelvis goes ahead of the feet by at most this share of the leg.
const LEAD: f32 = 0.5;

impl FootPlanter {
    /// Casts for the ground under the body and around the feet. `pose` holds the animation, not yet planted, and `placement`
    /// is the figure's: those that the next [`FootPlanter::step`] is given, or the latest
    /// known. It may be called as often as the physics runs; down to ten times a second, feet still see edges in time.
    pub fn sense(
        &self,
        feet: &mut FootPlanterState,
        ground: &dyn Ground,
        pose: &Pose,
        placement: &Placement,
    ) -> Result<(), FootPlanterError> {
        self.knows(feet)?;
        self.fits(pose)?;
        let place = self.place(placement);
        // What casts find is taken over at the next tick: before, there is no need to look again. Whether the coming step
        // has one is known where ticks are given, and else judged by the last step.
        let due = match (feet.known.next(0), self.ahead) {
            (Some(_), _) => true,
            // After the first frame nothing is known of the second.
            (None, 0) => {
                feet.last <= 0.0
                    || feet.beats_told(feet.last).all > 0.0
                    || feet.beats_told(1.2 * feet.last).all > 0.0
            }
            _ => false,
        };
        if feet.started && !due && feet.since < BEAT - NOW {
            return Ok(());
        }
        // In whole ticks: so it is the same at all frame rates.
        let since = math::floor(core::mem::take(&mut feet.since) / BEAT + 0.5).max(1.0) * BEAT;
        let settings = self.settings;
        let scale = place.scale * self.figure.height / 1.8;
        let search =
            FootholdSearch { ground, settings: &settings, leg: self.figure.leg_length * place.scale, scale };
        // They are for that tick, and so for where things are then.
        let (body, rate) = {
            let next = self.next_seen(feet, 0, pose, &place).1;
            let rate = if feet.started {
                let m = self.measures(0, &place);
                (next - feet.legs[0].foot.now(&m).body).with_y(0.0) / BEAT
            } else {
                Vec3::ZERO
            };
            (next, rate)
        };
        let base = match feet.base {
            Some(base) => search.height(body, base).map_or(base, |(y, _)| y),
            None => {
                let near = search.height(body, place.floor).map(|(y, _)| y);
                let Some(y) = near.or_else(|| search.anywhere(body, place.floor)) else { return Ok(()) };
                y
            }
        };
        feet.base = Some(base);
        // The spring of the pelvis runs behind a climb by 2 / omega seconds; so much is looked ahead, and back, as one step
        // of a stair is no slope.
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

    /// The animation's foot and pelvis at the next tick: as they were given, or else between the last frame and this one.
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
        let age = (feet.phase + feet.last - BEAT).max(0.0);
        let (mut foot, mut track) = (feet.legs[leg].foot.track, feet.body);
        foot.push(now, feet.last);
        track.push(Sole { ankle: body, ..Sole::default() }, feet.last);
        (foot.at(age), track.at(age).ankle)
    }
}
