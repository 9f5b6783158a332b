//! Quality of planted contacts, by the contacts of the given animation and the height of the ground.

use sinew::{
    glam::Vec3,
    ground::{Filter, Ground},
};

/// Heel and ball of one foot in the world, frame by frame, as given and as planted.
#[derive(Default)]
pub struct Points {
    /// As the animation has them.
    pub given: [Vec<Vec3>; 2],
    /// As they were planted.
    pub planted: [Vec<Vec3>; 2],
}

/// Measurements, in metres and m/s.
#[derive(Clone, Copy, Default)]
pub struct Quality {
    /// The 99th percentile of how deep a point in contact is under the ground.
    pub deep: f64,
    /// The 99th percentile of how high the lower of those in contact is above it.
    pub gap: f64,
    /// Mean speed of the point in contact: the heel, or else the ball.
    pub slide: f64,
    /// The 99th percentile of how deep any point of a foot that is not in contact is.
    pub swing: f64,
}

/// Near its lowest and slow, as the issue says: shares of the leg, m/s for a figure of 1.8 m.
const NEAR: f32 = 0.05;
const SLOW: f32 = 0.3;
/// Distance of a point from the ground that it stands on, in metres.
pub const ON: f64 = 0.01;

pub fn contacts(path: &[Vec3], rate: f32, leg: f32, scale: f32) -> Vec<bool> {
    let lowest = path.iter().map(|p| p.y).fold(f32::MAX, f32::min);
    (0..path.len())
        .map(|i| {
            let (a, b) = (i.saturating_sub(1), (i + 1).min(path.len() - 1));
            let speed = (path[b] - path[a]).length() * rate / (b - a).max(1) as f32;
            path[i].y <= lowest + NEAR * leg && speed < SLOW * scale
        })
        .collect()
}

/// Height of a point over the ground below it.
pub fn over(ground: &dyn Ground, p: Vec3) -> Option<f64> {
    // From above the knee, so that a ceiling does not count.
    let from = p + Vec3::Y * 0.3;
    let hit = ground.cast_ray(from, Vec3::NEG_Y, 2.0, &Filter::ALL)?;
    Some(f64::from(hit.distance) - 0.3)
}

fn percentile(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (0.99 * values.len() as f64) as usize;
    values.get(at.min(values.len().saturating_sub(1))).copied().unwrap_or(0.0).max(0.0)
}

/// Measures all feet. `leg` is the leg's length in metres, `scale` the figure's height over 1.8 m.
pub fn quality(feet: &[Points], ground: &dyn Ground, rate: f32, leg: f32, scale: f32) -> Quality {
    let (mut deep, mut gap, mut swing) = (Vec::new(), Vec::new(), Vec::new());
    let (mut slide, mut slides) = (0.0, 0usize);
    for foot in feet {
        let touch: Vec<Vec<bool>> = foot.given.iter().map(|path| contacts(path, rate, leg, scale)).collect();
        for i in 0..foot.planted[0].len() {
            let heights = [0, 1].map(|k| over(ground, foot.planted[k][i]));
            let on = [0, 1].map(|k| touch[k][i]);
            if on == [false; 2] {
                swing.extend(heights.iter().flatten().map(|h| -h));
                continue;
            }
            // A heel may lift over a ball that stands, where the ankle ends.
            let lifted =
                on[0] && heights[0].is_some_and(|h| h > ON) && heights[1].is_some_and(|h| h.abs() <= ON);
            let on = if lifted { [false, true] } else { on };
            let held: Vec<f64> = (0..2).filter(|&k| on[k]).filter_map(|k| heights[k]).collect();
            deep.extend(held.iter().map(|h| -h));
            gap.extend(held.iter().copied().reduce(f64::min));
            let k = usize::from(!on[0]);
            if i > 0 && touch[k][i - 1] {
                slide += f64::from((foot.planted[k][i] - foot.planted[k][i - 1]).length() * rate);
                slides += 1;
            }
        }
    }
    Quality {
        deep: percentile(deep),
        gap: percentile(gap),
        slide: slide / slides.max(1) as f64,
        swing: percentile(swing),
    }
}
