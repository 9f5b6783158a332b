//! How well feet stand: measured on the samples of a clip, before planting and after.

use alloc::vec::Vec;

use glam::Vec3;

use super::{FootSample, Interval, Search, Survey};

/// Figures of one clip on one ground.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Measures {
    /// Deepest that a heel or ball is under the ground, in metres.
    pub deepest: f32,
    /// The depth that 99 % of all heels and balls do not pass, in metres.
    pub deepest_99: f32,
    /// Mean height of a point in contact over the ground, in metres.
    pub mean_gap: f32,
    /// Largest such height, in metres.
    pub largest_gap: f32,
    /// Mean speed of the point that carries the foot (the heel until the ball is in contact, then the ball), in m/s.
    pub mean_slide: f32,
    /// Largest rate of a knee's flexion, in rad/s.
    pub knee_speed: f32,
    /// Largest acceleration of a knee's flexion, in rad/s^2.
    pub knee_acceleration: f32,
}

/// Contacts of one foot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    /// Of the heel.
    pub heel: Vec<Interval>,
    /// Of the ball.
    pub ball: Vec<Interval>,
}

/// Measures `feet` (one list of samples a foot, `step` seconds apart) against the ground. `base` is the height of the ground
/// under the body at each sample.
pub fn measure(
    feet: &[Vec<FootSample>],
    contacts: &[Contacts],
    step: f32,
    search: &Search<'_>,
    base: &[f32],
) -> Measures {
    let mut m = Measures::default();
    let mut depths: Vec<f32> = Vec::new();
    let (mut gaps, mut gap_count) = (0.0, 0.0);
    let (mut slides, mut slide_count) = (0.0, 0.0);
    for (samples, contact) in feet.iter().zip(contacts) {
        let touching = |list: &[Interval], i: usize| list.iter().any(|c| c.contains(i as f32 * step));
        for (i, s) in samples.iter().enumerate() {
            let Some(&base) = base.get(i) else { break };
            for (point, list) in [(s.heel_at(), &contact.heel), (s.ball_at(), &contact.ball)] {
                let Some((ground, _)) = search.height(point, base) else { continue };
                let over = point.y - ground;
                depths.push((-over).max(0.0));
                if touching(list, i) {
                    gaps += over.max(0.0);
                    gap_count += 1.0;
                    m.largest_gap = m.largest_gap.max(over);
                }
            }
            if i == 0 {
                continue;
            }
            let before = &samples[i - 1];
            let (ball, heel) = (&contact.ball, &contact.heel);
            let moved = if touching(ball, i) && touching(ball, i - 1) {
                (s.ball_at() - before.ball_at()).length()
            } else if touching(heel, i) && touching(heel, i - 1) {
                (s.heel_at() - before.heel_at()).length()
            } else {
                continue;
            };
            slides += moved / step;
            slide_count += 1.0;
        }
        let flexion: Vec<f32> = samples.iter().map(FootSample::flexion).collect();
        for w in flexion.windows(2) {
            m.knee_speed = m.knee_speed.max((w[1] - w[0]).abs() / step);
        }
        for w in flexion.windows(3) {
            m.knee_acceleration = m.knee_acceleration.max((w[2] - 2.0 * w[1] + w[0]).abs() / (step * step));
        }
    }
    depths.sort_by(f32::total_cmp);
    m.deepest = depths.last().copied().unwrap_or(0.0);
    m.deepest_99 = depths.get((depths.len() * 99) / 100).copied().unwrap_or(m.deepest);
    m.mean_gap = if gap_count > 0.0 { gaps / gap_count } else { 0.0 };
    m.mean_slide = if slide_count > 0.0 { slides / slide_count } else { 0.0 };
    m
}

impl Survey {
    /// Height above which nothing of the clip's feet ever goes below, in metres.
    pub fn floor(&self) -> f32 {
        (self.feet.iter().flat_map(|f| &f.samples))
            .map(|s| s.heel_at().y.min(s.ball_at().y))
            .fold(f32::INFINITY, f32::min)
    }
}

/// Moves every sample straight by `by`.
pub fn moved(samples: &[FootSample], by: Vec3) -> Vec<FootSample> {
    samples
        .iter()
        .map(|s| FootSample { hip: s.hip + by, knee: s.knee + by, ankle: s.ankle + by, ..*s })
        .collect()
}
