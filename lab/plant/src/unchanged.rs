//! Planting without influence: the planted clip is the given one with its travel.
//!
//! At a written key whose time is that of a key of the clip to the last bit, the key's bits are expected. Elsewhere the sampled
//! clip is known to this program only up to rounding, also of the time, so that 1e-5 is allowed. Translations of what the legs hang
//! on may carry the travel: the place of a hip joint in the world is compared instead.

use crate::{
    figure::Figure,
    marks::{Mark, Marks},
    motion::Motion,
    scene::Scene,
    track::{Channel, Values},
};

/// Measures a row without influence.
pub fn measure(m: &Motion, scene: &Scene, figure: &Figure, marks: &mut Marks) {
    let [planted, source] = &m.clips;
    let [hip, _, _] = figure.legs[0].joints;
    let mut travel: f64 = 0.0;
    let mut bits = (0, 0.0);
    let mut between: (f64, f64) = (0.0, 0.0);
    for channel in &planted.channels {
        let translated = matches!(channel.values, Values::Translation(_));
        let carries = translated && channel.node != hip && scene.below(hip, channel.node);
        let given = source.channels.iter().find(|c| {
            c.node == channel.node
                && std::mem::discriminant(&c.values) == std::mem::discriminant(&channel.values)
        });
        for (k, t) in channel.times.iter().enumerate() {
            let times = m.note.source_times(*t);
            if carries {
                let place = |clip, t| scene.worlds(&scene.sample(clip, t))[hip].translation;
                let (here, moved) = (place(planted, *t), m.note.moved(*t));
                let off = times.iter().map(|u| (here - place(source, *u) - moved).length());
                travel = travel.max(off.fold(f64::INFINITY, f64::min));
                continue;
            }
            let written = channel.key(k);
            // Where one round ends and the next begins, either is right.
            let on_key = |c: &Channel, u: f64| c.times.iter().position(|s| *s == u);
            match given {
                Some(c) if times.iter().any(|u| on_key(c, *u).is_some()) => {
                    let keys = times.iter().filter_map(|u| Some(c.key(on_key(c, *u)?)));
                    if !keys.into_iter().any(|key| key == written) {
                        bits = if bits.0 == 0 { (1, *t) } else { (bits.0 + 1, bits.1) };
                    }
                }
                _ => {
                    let at = |u: &f64| given.map_or_else(|| rest(scene, channel), |c| c.at(*u));
                    let apart = |u: &f64| difference(&at(u), &written);
                    let off = times.iter().map(apart).fold(f64::INFINITY, f64::min);
                    if off > between.0 {
                        between = (off, *t);
                    }
                }
            }
        }
    }
    marks.add(Mark::at_most("other bits", f64::from(bits.0), 0.0, bits.1));
    marks.add(Mark::at_most("between 1e-6", between.0 * 1e6, 10.0, between.1));
    marks.add(Mark::at_most("travel um", travel * 1e6, 10.0, 0.0));
    marks.add(Mark::at_most("claimed", m.note.plants.len() as f64, 0.0, 0.0));
}

/// Largest difference of a number; a quaternion and its negative are one turn.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let apart = |sign: f64| a.iter().zip(b).map(|(a, b)| (a - sign * b).abs()).fold(0.0, f64::max);
    if a.len() == 4 { apart(1.0).min(apart(-1.0)) } else { apart(1.0) }
}

/// A node's rest value of a channel's property.
fn rest(scene: &Scene, channel: &Channel) -> Vec<f64> {
    let crate::scene::Local::Trs(t, r, s) = scene.rest[channel.node] else { return Vec::new() };
    match channel.values {
        Values::Translation(_) => vec![t.x, t.y, t.z],
        Values::Scale(_) => vec![s.x, s.y, s.z],
        Values::Rotation(_) => r.to_vec(),
        Values::Weights => Vec::new(),
    }
}
