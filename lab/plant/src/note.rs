//! The planter's own report beside the planted animation, `extras.sinew`.

use serde::Deserialize;

use crate::{
    maths::{V3, v3},
    scene::{Clip, Scene},
};

/// The note.
#[derive(Clone, Debug, Deserialize)]
pub struct Note {
    /// The clip that was planted.
    pub source: Option<String>,
    /// Number of times the clip is played.
    #[serde(default = "one")]
    pub cycles: u32,
    /// Length of one round in seconds.
    pub cycle_duration: f64,
    /// Travel that was added, metres a second.
    #[serde(default)]
    pub travel: [f64; 3],
    /// Displacement of the figure from the clip, where a stride scales its travel: time, x, y and z.
    #[serde(default)]
    pub travel_curve: Vec<[f64; 4]>,
    /// The clip's own time at which the planted clip begins.
    #[serde(default)]
    pub start: f64,
    /// When which point stands.
    #[serde(default)]
    pub plants: Vec<Span>,
    /// When which point was in contact but was not planted, and why.
    #[serde(default)]
    pub unplanted: Vec<Span>,
}

/// A point's span of time.
#[derive(Clone, Debug, Deserialize)]
pub struct Span {
    /// `left` or `right`.
    pub foot: String,
    /// `heel` or `ball`.
    pub point: String,
    /// Start in seconds of the planted clip.
    pub from: f64,
    /// End.
    pub to: f64,
    /// Why, of an unplanted span.
    #[serde(default)]
    pub reason: String,
}

fn one() -> u32 {
    1
}

/// Key times are stored in single precision: a span that ends on a key holds it.
const CLOSE: f64 = 1e-4;

impl Span {
    /// Whether a time lies in it, its ends included.
    pub fn holds(&self, t: f64) -> bool {
        self.from - CLOSE <= t && t <= self.to + CLOSE
    }

    /// Whether it is of this point.
    pub fn is_of(&self, foot: &str, point: &str) -> bool {
        self.foot.eq_ignore_ascii_case(foot) && self.point.eq_ignore_ascii_case(point)
    }
}

impl Note {
    /// The planted clip of a scene, or what a rig made of it, the clip that it was made from, and the note.
    pub fn find(scene: &Scene) -> Result<(Clip, Clip, Self), String> {
        let endings = ["(planted)", "(baked)"];
        let (at, planted) = scene
            .clips
            .iter()
            .enumerate()
            .rev()
            .find(|(_, c)| endings.iter().any(|ending| c.name.ends_with(ending)))
            .ok_or("no animation whose name ends in \"(planted)\" or \"(baked)\"")?;
        let extras = planted
            .extras
            .as_ref()
            .and_then(|e| e.get("sinew"))
            .ok_or("the planted animation has no extras.sinew")?;
        let note: Self = serde_json::from_value(extras.clone()).map_err(|e| format!("extras.sinew: {e}"))?;
        let stem = endings
            .iter()
            .fold(planted.name.as_str(), |name, ending| name.trim_end_matches(ending))
            .trim_end();
        let by_name = |name: &str| scene.clips.iter().find(|c| c.name == name);
        // A clip without a name is known by being the only other one.
        let only = || (scene.clips.len() == 2).then(|| &scene.clips[1 - at]);
        let source = note
            .source
            .as_deref()
            .and_then(by_name)
            .or_else(|| by_name(stem))
            .or_else(only)
            .ok_or_else(|| format!("no clip {:?} beside the planted one", note.source))?;
        let curve = &note.travel_curve;
        if !(curve.as_flattened().iter().all(|v| v.is_finite())
            && curve.windows(2).all(|w| w[0][0] < w[1][0]))
        {
            return Err("extras.sinew: travel_curve is not a curve".into());
        }
        if !(note.cycle_duration > 0.0 && note.travel.iter().all(|v| v.is_finite()) && note.start.is_finite())
        {
            return Err(format!(
                "extras.sinew: cycle_duration {}, travel {:?}",
                note.cycle_duration, note.travel
            ));
        }
        Ok((planted.clone(), source.clone(), note))
    }

    /// The clip's own times that a time of the planted clip may mean: two where one round ends and the next begins.
    pub fn source_times(&self, t: f64) -> Vec<f64> {
        if self.cycles <= 1 {
            return vec![self.start + t];
        }
        let rounds = ((t + CLOSE) / self.cycle_duration).floor();
        let into = (t - rounds * self.cycle_duration).max(0.0);
        let mut times = vec![self.start + into];
        if into < 2.0 * CLOSE && rounds > 0.0 {
            times.push(self.start + self.cycle_duration + into);
        }
        times
    }

    /// Travel of the figure until a time, before a stride scales it: contacts are those of the clip as it is.
    pub fn travelled(&self, t: f64) -> V3 {
        v3(self.travel[0], self.travel[1], self.travel[2]) * t
    }

    /// Displacement of the planted figure from the given one at a time: the travel, as a stride scales it. It is linear
    /// between the points of its curve.
    pub fn moved(&self, t: f64) -> V3 {
        let curve = &self.travel_curve;
        let at = |i: usize| v3(curve[i][1], curve[i][2], curve[i][3]);
        let after = curve.partition_point(|p| p[0] < t);
        match curve.len() {
            0 => self.travelled(t),
            n if after == n => at(n - 1),
            _ if after == 0 => at(0),
            _ => {
                let (from, to) = (curve[after - 1][0], curve[after][0]);
                at(after - 1) + (at(after) - at(after - 1)) * ((t - from) / (to - from))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_round() {
        let mut note: Note =
            serde_json::from_str(r#"{"source": "a", "cycles": 3, "cycle_duration": 2.0, "start": 0.5}"#)
                .unwrap();
        assert_eq!(note.source_times(0.25), [0.75]);
        assert_eq!(note.source_times(3.0), [1.5]);
        assert_eq!(note.source_times(4.0), [0.5, 2.5]);
        note.cycles = 1;
        assert_eq!(note.source_times(3.0), [3.5]);
    }

    #[test]
    fn a_curve_moves_the_planted_figure_and_not_the_given_one() {
        let mut note: Note =
            serde_json::from_str(r#"{"source": "a", "cycle_duration": 2.0, "travel": [0, 0, 2]}"#).unwrap();
        assert_eq!(note.moved(1.5), v3(0.0, 0.0, 3.0));
        note.travel_curve = vec![[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 2.0], [2.0, 1.0, 0.0, 3.0]];
        assert_eq!(note.moved(-1.0), v3(0.0, 0.0, 0.0));
        assert_eq!(note.moved(1.5), v3(0.5, 0.0, 2.5));
        assert_eq!(note.moved(9.0), v3(1.0, 0.0, 3.0));
        assert_eq!(note.travelled(1.5), v3(0.0, 0.0, 3.0));
    }
}
