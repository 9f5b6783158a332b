//! A planted clip and the clip that it was made from, sampled side by side, with contacts, stances and steps.
//!
//! Samples are 1/120 s apart. Contacts are those of `contact.rs` at the planted clip's keys; a sample between two keys is in
//! contact if both are, by the travel before a stride scales it. A stance of a foot is a run of samples at which its heel or its ball is in contact; what is no longer
//! than 0.15 s between two of them belongs to the stance.

use crate::{
    anatomy::{Anatomy, Body, Leg},
    contact::contacts,
    figure::Figure,
    ground::Ground,
    maths::{Affine, V3},
    measure::{REACH, key_times},
    note::Note,
    scene::{Clip, Scene},
};

/// Samples a second.
pub const RATE: f64 = 120.0;
/// Leg length in metres that lengths are scaled to.
pub const LEG: f64 = 0.93;
/// Seconds between two contacts of a foot in which it takes no step: a runner's swing lasts 0.3 s.
const SWING: f64 = 0.15;

/// A planted clip beside the given one.
pub struct Motion {
    /// Seconds of the planted clip.
    pub times: Vec<f64>,
    /// The planted figure.
    pub planted: Vec<Body>,
    /// The given figure, moved as far as the planted one.
    pub clip: Vec<Body>,
    /// The round that each sample is in.
    pub rounds: Vec<usize>,
    /// Seconds between the given clip's keys.
    pub key: f64,
    /// Factor to a leg of `LEG`.
    pub scale: f64,
    /// The first sample that is judged.
    pub first: usize,
    /// The planter's report.
    pub note: Note,
    /// The clips in the file.
    pub clips: [Clip; 2],
    /// Samples in contact: of each foot its heel and its ball.
    pub contact: [[Vec<bool>; 2]; 2],
    /// The same that the report says are planted.
    pub claimed: [[Vec<bool>; 2]; 2],
    /// Metres above the ground up to which ground counts as the ground under a point.
    pub reach: f64,
}

/// A run of samples, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First sample.
    pub from: usize,
    /// Last sample.
    pub to: usize,
}

/// A step: a stance whose ground lies higher or lower than that of the other foot's last one.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// From the start of the other foot's stance to the end of this one's.
    pub span: Run,
    /// From the end of the foot's last stance to the end of this one.
    pub onto: Run,
    /// Height difference in metres at a leg of `LEG`; negative downwards.
    pub rise: f64,
}

/// The runs of what is true.
pub fn runs(flags: &[bool]) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for i in (0..flags.len()).filter(|i| flags[*i]) {
        match all.last_mut() {
            Some(run) if run.to + 1 == i => run.to = i,
            _ => all.push(Run { from: i, to: i }),
        }
    }
    all
}

/// Joins runs with fewer than so many samples between them.
fn without_gaps(all: Vec<Run>, samples: usize) -> Vec<Run> {
    let mut joined: Vec<Run> = Vec::new();
    for run in all {
        match joined.last_mut() {
            Some(last) if run.from - last.to <= samples => last.to = run.to,
            _ => joined.push(run),
        }
    }
    joined
}

impl Motion {
    /// Samples a written file. The first `motion` seconds are not judged.
    pub fn new(scene: &Scene, figure: &Figure, neck: usize, motion: f64) -> Result<Self, String> {
        let (planted, source, note) = Note::find(scene)?;
        let keys = key_times(&planted, figure)?;
        let (start, end) = (keys[0], keys[keys.len() - 1]);
        let times: Vec<f64> = (0..)
            .map(|i| start + f64::from(i) / RATE)
            .take_while(|t| *t <= end + 1e-6)
            .map(|t| t.min(end))
            .collect();
        let source_time = |t: f64| note.source_times(t)[0];
        let worlds = |clip: &Clip, t: f64| scene.worlds(&scene.sample(clip, t));
        let given: Vec<Vec<Affine>> = times.iter().map(|t| worlds(&source, source_time(*t))).collect();
        let mut anatomy = Anatomy::new(scene, figure, neck)?;
        anatomy.find_hinges(&given);
        let clip: Vec<Body> =
            given.iter().zip(&times).map(|(w, t)| anatomy.body(w, note.moved(*t))).collect();
        let after: Vec<Body> = times.iter().map(|t| anatomy.body(&worlds(&planted, *t), V3::ZERO)).collect();
        if let Some(i) = (0..times.len()).find(|i| !(clip[*i].is_finite() && after[*i].is_finite())) {
            return Err(format!("at {} s the figure is not finite", times[i]));
        }
        let at_keys: Vec<Body> = keys
            .iter()
            .map(|t| anatomy.body(&worlds(&source, source_time(*t)), note.travelled(*t)))
            .collect();
        let points: [fn(&Leg) -> V3; 2] = [|l| l.heel, |l| l.ball];
        let each = |of: &dyn Fn(usize, usize) -> Vec<bool>| [0, 1].map(|f| [0, 1].map(|p| of(f, p)));
        let contact = each(&|foot, point| {
            let path: Vec<V3> = at_keys.iter().map(|b| points[point](&b.legs[foot])).collect();
            let at_keys = contacts(&keys, &path, figure.legs[foot].length, figure.height);
            times.iter().map(|t| between_keys(&keys, &at_keys, *t)).collect()
        });
        let claimed = each(&|foot, point| {
            let (side, point) = (figure.legs[foot].side, ["heel", "ball"][point]);
            let spans: Vec<_> = note.plants.iter().filter(|s| s.is_of(side, point)).collect();
            times.iter().map(|t| spans.iter().any(|s| s.holds(*t))).collect()
        });
        let leg = 0.5 * (figure.legs[0].length + figure.legs[1].length);
        let round = |t: &f64| {
            if note.cycles > 1 { ((t + 1e-4) / note.cycle_duration).floor() as usize } else { 0 }
        };
        Ok(Self {
            rounds: times.iter().map(round).collect(),
            first: times.partition_point(|t| *t < motion).min(times.len() - 1),
            key: key_spacing(&key_times(&source, figure)?),
            scale: LEG / leg,
            reach: REACH * leg,
            clips: [planted, source],
            times,
            planted: after,
            clip,
            note,
            contact,
            claimed,
        })
    }

    /// A foot's stances.
    pub fn stances(&self, foot: usize) -> Vec<Run> {
        let [heel, ball] = &self.contact[foot];
        let stands: Vec<bool> = heel.iter().zip(ball).map(|(h, b)| *h || *b).collect();
        without_gaps(runs(&stands), (SWING * RATE) as usize)
    }

    /// Samples that are more than two from the seam of two rounds, and not before the motion.
    pub fn off_seams(&self) -> Vec<bool> {
        (0..self.times.len())
            .map(|i| {
                let (a, b) = (i.saturating_sub(2), (i + 2).min(self.times.len() - 1));
                i >= self.first && self.rounds[a] == self.rounds[b]
            })
            .collect()
    }

    /// Height of the ground under the planted ball in the middle of a stance; of the part with the ball in contact, if any.
    pub fn under(&self, ground: &Ground, foot: usize, stance: Run) -> Option<f64> {
        let balls: Vec<usize> = (stance.from..=stance.to).filter(|i| self.contact[foot][1][*i]).collect();
        let middle = balls.get(balls.len() / 2).copied().unwrap_or((stance.from + stance.to) / 2);
        ground.height(self.planted[middle].legs[foot].ball, self.reach)
    }

    /// Every step. A stance with no ground under it is none.
    pub fn steps(&self, ground: &Ground) -> Vec<Step> {
        let stances = [0, 1].map(|foot| self.stances(foot));
        let mut steps = Vec::new();
        for foot in [0, 1] {
            for (k, stance) in stances[foot].iter().enumerate() {
                let last = stances[1 - foot].iter().rfind(|s| s.from < stance.from);
                let Some(last) = last else { continue };
                if let (Some(here), Some(there)) =
                    (self.under(ground, foot, *stance), self.under(ground, 1 - foot, *last))
                {
                    let own = k.checked_sub(1).map_or(last.from, |k| stances[foot][k].to);
                    steps.push(Step {
                        span: Run { from: last.from, to: stance.to },
                        onto: Run { from: own, to: stance.to },
                        rise: (here - there) * self.scale,
                    });
                }
            }
        }
        steps
    }
}

/// Median time between keys.
fn key_spacing(keys: &[f64]) -> f64 {
    let mut apart: Vec<f64> = keys.windows(2).map(|w| w[1] - w[0]).collect();
    apart.sort_by(f64::total_cmp);
    apart[apart.len() / 2]
}

/// Whether something that is known at keys holds at a time: at the key that is there, else at both keys beside it.
fn between_keys(keys: &[f64], holds: &[bool], t: f64) -> bool {
    // Key times are stored in single precision.
    const CLOSE: f64 = 1e-5;
    let after = keys.partition_point(|k| *k < t - CLOSE).min(keys.len() - 1);
    if keys[after] <= t + CLOSE { holds[after] } else { holds[after] && after > 0 && holds[after - 1] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_flags() {
        let found = runs(&[true, true, false, false, true, false, true]);
        assert_eq!(found, [Run { from: 0, to: 1 }, Run { from: 4, to: 4 }, Run { from: 6, to: 6 }]);
    }

    #[test]
    fn a_heel_that_flickers_takes_no_step() {
        let all = [(0, 3), (6, 9), (20, 22)].map(|(from, to)| Run { from, to });
        assert_eq!(without_gaps(all.into(), 3), [Run { from: 0, to: 9 }, Run { from: 20, to: 22 }]);
    }

    #[test]
    fn what_holds_between_keys_holds_at_both() {
        let (keys, holds) = ([0.0, 0.1, 0.2, 0.3], [true, true, false, true]);
        let at = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3];
        let found = at.map(|t| between_keys(&keys, &holds, t));
        assert_eq!(found, [true, true, true, false, false, false, true]);
    }
}
