//! Stairs on which people were measured (Protopapadaki et al. 2007, Clinical Biomechanics 22: 203-210): 18 cm on 28.5 cm,
//! climbed and descended one tread a step.
//!
//! How definitions that leave a choice are read here:
//! - The stairs are those of a leg of 0.93 m: for a figure they are scaled to its own leg.
//! - A stride lasts from the start of a foot's stance to the start of its next one, and counts where the ground under the
//!   ball changes by at least a tread and a half. Peaks are means over the strides of both feet.
//! - A clip's own peaks are those of the same strides in the given clip.
//! - The dorsiflexion is the largest of these strides.

use std::fmt::Write;

use crate::{
    anatomy::{Body, Leg},
    ground::Ground,
    marks::{Mark, Marks},
    maths::V3,
    motion::{Motion, Run},
};

/// Height of a step in metres.
const RISE: f64 = 0.18;
/// Depth of a tread in metres.
const TREAD: f64 = 0.285;
/// Largest dorsiflexion in degrees.
const DORSIFLEXION: f64 = 29.0;

/// Mean peaks of people with their standard deviations, in degrees, and the clip's own above which they may be larger.
struct Peak {
    name: &'static str,
    up: (f64, f64),
    down: (f64, f64),
    own: f64,
    of: fn(&Body, &Leg) -> f64,
}

const PEAKS: [Peak; 3] = [
    Peak { name: "hip", up: (65.0, 7.0), down: (40.0, 8.0), own: 35.0, of: |b, l| thigh(b.forward(), l) },
    Peak { name: "knee", up: (94.0, 7.0), down: (91.0, 7.0), own: 60.0, of: |_, l| l.flexion },
    Peak { name: "plantar", up: (31.0, 5.0), down: (40.0, 6.0), own: 20.0, of: |_, l| -l.dorsiflexion },
];

/// Angle of a thigh from the vertical, forwards.
fn thigh(forward: V3, leg: &Leg) -> f64 {
    let thigh = leg.knee - leg.hip;
    thigh.dot(forward).atan2(-thigh.y)
}

/// The stairs of a walk as an OBJ file, from its motion on level ground: across its way, from 0.6 m before its first feet.
pub fn obj(flat: &Motion, down: bool) -> Result<String, String> {
    let bodies = &flat.clip[flat.first..];
    let [Some(first), Some(last)] = [bodies.first(), bodies.last()] else {
        return Err("an empty clip".into());
    };
    let way = (last.hips - first.hips).flat();
    let along = way.unit().ok_or("a clip that goes nowhere")?;
    let across = along.cross(V3 { x: 0.0, y: 1.0, z: 0.0 });
    let mut heights: Vec<f64> = (0..4)
        .flat_map(|k| (0..bodies.len()).map(move |i| (k, i)))
        .filter(|(k, i)| flat.contact[k / 2][k % 2][flat.first + i])
        .map(|(k, i)| [bodies[i].legs[k / 2].heel.y, bodies[i].legs[k / 2].ball.y][k % 2])
        .collect();
    heights.sort_by(f64::total_cmp);
    let floor = *heights.get(heights.len() / 2).ok_or("a clip without contact")?;
    let size = 1.0 / flat.scale;
    let front = first.legs.iter().map(|l| (l.tip - first.hips).dot(along)).fold(0.0, f64::max) + 0.6 * size;
    let steps = ((way.length() - front) / (TREAD * size)).max(0.0).ceil() as usize + 4;
    let rise = if down { -RISE } else { RISE } * size;
    // Corners of the stairs' outline: the way and the height.
    let mut outline = vec![(-3.0 * size, 0.0)];
    for k in 0..=steps {
        let at = front + TREAD * size * k as f64;
        outline.push((at, rise * k as f64));
        if k < steps {
            outline.push((at, rise * (k + 1) as f64));
        }
    }
    if let Some(end) = outline.last_mut() {
        end.0 += 3.0 * size;
    }
    let mut text = String::new();
    for (s, h) in &outline {
        for side in [-2.0, 2.0] {
            let p = first.hips.flat() + along * *s + across * (side * size);
            let _ = writeln!(text, "v {:.6} {:.6} {:.6}", p.x, floor + h, p.z);
        }
    }
    for i in 0..outline.len() - 1 {
        let v = 2 * i + 1;
        let _ = writeln!(text, "f {v} {} {}\nf {v} {} {}", v + 1, v + 3, v + 3, v + 2);
    }
    Ok(text)
}

/// A foot's strides: samples, and the change of the ground's height in metres at a leg of 0.93 m.
fn strides(m: &Motion, ground: &Ground, foot: usize) -> Vec<(Run, f64)> {
    let stances = m.stances(foot);
    let pairs = stances.windows(2).filter(|s| s[0].from >= m.first);
    pairs
        .filter_map(|s| {
            let rise = (m.under(ground, foot, s[1])? - m.under(ground, foot, s[0])?) * m.scale;
            Some((Run { from: s[0].from, to: s[1].from }, rise))
        })
        .collect()
}

/// Mean over strides of a peak in degrees.
fn mean_peak(bodies: &[Body], strides: &[(usize, Run)], of: fn(&Body, &Leg) -> f64) -> f64 {
    let peak = |(foot, stride): &(usize, Run)| {
        let angles = bodies[stride.from..=stride.to].iter().map(|b| of(b, &b.legs[*foot]));
        angles.fold(f64::MIN, f64::max).to_degrees()
    };
    strides.iter().map(peak).sum::<f64>() / strides.len() as f64
}

/// Measures a row on these stairs.
pub fn measure(m: &Motion, ground: &Ground, down: bool, marks: &mut Marks) {
    let mut counted = Vec::new();
    let mut risen = 0.0;
    for foot in [0, 1] {
        for (stride, rise) in strides(m, ground, foot) {
            let rise = if down { -rise } else { rise };
            if rise >= 1.5 * RISE {
                counted.push((foot, stride));
                risen += rise;
            }
        }
    }
    marks.add(Mark::at_least("strides", counted.len() as f64, 2.0, 0.0));
    let Some((_, first)) = counted.first() else { return };
    let time = m.times[first.from];
    marks.add(Mark::within("treads", risen / counted.len() as f64 / (2.0 * RISE), 0.9, 1.1, time));
    for peak in &PEAKS {
        let (mean, sd) = if down { peak.down } else { peak.up };
        let own = mean_peak(&m.clip, &counted, peak.of);
        let high = mean + 2.0 * sd + (own - peak.own).max(0.0);
        let value = mean_peak(&m.planted, &counted, peak.of);
        marks.add(Mark::within(peak.name, value, mean - 2.0 * sd, high, time));
    }
    let most = counted
        .iter()
        .flat_map(|(foot, s)| (s.from..=s.to).map(|i| (i, m.planted[i].legs[*foot].dorsiflexion)));
    let (i, most) = most.fold((0, f64::MIN), |a, b| if b.1 > a.1 { b } else { a });
    marks.add(Mark::at_most("ankle", most.to_degrees(), DORSIFLEXION, m.times[i]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maths::v3;

    #[test]
    fn mean_peaks_of_strides() {
        // The left knee bends to 60 and 80 degrees, the right one is not asked.
        let bodies: Vec<Body> = [10.0, 60.0, 20.0, 80.0, 30.0]
            .map(|a: f64| {
                let mut b = Body::default();
                b.legs[0].flexion = a.to_radians();
                b.legs[1].flexion = 3.0;
                b
            })
            .into();
        let strides = [(0, Run { from: 0, to: 2 }), (0, Run { from: 2, to: 4 })];
        assert!((mean_peak(&bodies, &strides, |_, l| l.flexion) - 70.0).abs() < 1e-9);
    }

    #[test]
    fn a_thigh_that_points_forward_is_flexed_by_a_right_angle() {
        let leg = |y: f64, z: f64| Leg { knee: v3(0.0, y, z), ..Leg::default() };
        let at = |y, z| thigh(v3(0.0, 0.0, 1.0), &leg(y, z)).to_degrees();
        assert!(at(-0.4, 0.0).abs() < 1e-12 && (at(0.0, 0.4) - 90.0).abs() < 1e-12);
        assert!((at(-0.4, -0.4) + 45.0).abs() < 1e-12);
    }
}
