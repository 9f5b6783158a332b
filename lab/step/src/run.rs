//! Run of one walk over one ground at one frame rate.

use std::time::Instant;

use sinew::{
    glam::Vec3,
    ground::{
        MeshGround,
        plant::{FootPlanter, PlantOptions},
    },
};

use crate::{
    quality::{Points, Quality, quality},
    walker::Walker,
};

/// Information that the game gives the foot planter.
#[derive(Clone, Copy, PartialEq)]
pub enum Mode {
    /// The animation at every tick, as `FootPlanter::step_with` does.
    Beats,
    /// Its frames, and nothing else.
    Frames,
    /// The same, [`FORESIGHT`] ahead.
    Foresight,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Beats, Self::Frames, Self::Foresight];
}

/// Seconds that the animation is known ahead.
const FORESIGHT: f32 = 0.3;

/// One run at one rate.
pub struct Run {
    /// Frames a second.
    pub rate: f64,
    /// Each foot's ankle in the world, by frame.
    pub ankles: Vec<Vec<Vec3>>,
    /// Quality of the contacts.
    pub quality: Quality,
    /// Median microseconds of a step.
    pub step: f64,
    /// Microseconds of each frame, with sampling and casts (which are made in some frames only).
    pub frames: Vec<f64>,
}

impl Run {
    /// Walks.
    pub fn new(walker: &Walker, ground: &MeshGround, rate: f64, mode: Mode) -> Result<Self, String> {
        let figure = &walker.figure;
        let mut planter = FootPlanter::new(figure, PlantOptions::default()).map_err(|e| e.to_string())?;
        planter.learn_floor(&walker.clip, &walker.rest).map_err(|e| e.to_string())?;
        if mode == Mode::Foresight {
            planter.set_look_ahead(FORESIGHT).map_err(|e| e.to_string())?;
        }
        let mut feet = planter.state();
        let mut pose = walker.rest.clone();
        let mut tick = walker.rest.clone();
        let legs = figure.legs();
        let mut ankles = vec![Vec::new(); legs.len()];
        let mut points: Vec<Points> = legs.iter().map(|_| Points::default()).collect();
        let count = (walker.duration() * rate + 1e-6).floor() as usize + 1;
        let (mut steps, mut frames) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let dt = (1.0 / rate) as f32;
        for frame in 0..count {
            let time = frame as f64 / rate;
            let began = Instant::now();
            let world = walker.at(time, &mut pose);
            if mode != Mode::Frames {
                while let Some(later) = planter.next_tick(&feet, dt) {
                    let there = walker.at((time + f64::from(later)).min(walker.duration()), &mut tick);
                    planter.give_tick(&mut feet, &tick, &there).map_err(|e| e.to_string())?;
                }
            }
            // This is the lab's own work.
            let pause = Instant::now();
            for (points, leg) in points.iter_mut().zip(legs) {
                let foot = pose.model(leg.foot);
                for (list, p) in points.given.iter_mut().zip([leg.sole.heel, leg.sole.ball]) {
                    list.push(world.to_world(foot.transform_point3(p)));
                }
            }
            let pause = pause.elapsed().as_secs_f64() * 1e6;
            planter.sense(&mut feet, ground, &pose, &world).map_err(|e| e.to_string())?;
            let solve = Instant::now();
            planter.step(&mut feet, &mut pose, &world, dt).map_err(|e| e.to_string())?;
            steps.push(solve.elapsed().as_secs_f64() * 1e6);
            frames.push(began.elapsed().as_secs_f64() * 1e6 - pause);
            for (i, leg) in legs.iter().enumerate() {
                let foot = pose.model(leg.foot);
                let at = |p: Vec3| world.to_world(p);
                ankles[i].push(at(foot.translation));
                for (list, p) in points[i].planted.iter_mut().zip([leg.sole.heel, leg.sole.ball]) {
                    list.push(at(foot.transform_point3(p)));
                }
            }
        }
        let quality = quality(&points, ground, rate as f32, figure.leg_length(), figure.height() / 1.8);
        steps.sort_by(f64::total_cmp);
        Ok(Self { rate, ankles, quality, step: steps[count / 2], frames })
    }

    /// Mean microseconds of a frame.
    pub fn frame(&self) -> f64 {
        self.frames.iter().sum::<f64>() / self.frames.len() as f64
    }

    /// Takes the least time of each frame from the same work done again: that in which the machine did nothing else.
    pub fn least(&mut self, again: &Self) {
        for (a, b) in self.frames.iter_mut().zip(&again.frames) {
            *a = a.min(*b);
        }
        self.step = self.step.min(again.step);
    }
}

/// Distances between the ankles of two runs, in metres.
#[derive(Clone, Copy, Default)]
pub struct Apart {
    /// Root mean square.
    pub rms: f64,
    /// The most.
    pub most: f64,
    /// When that was, in seconds.
    pub when: f64,
}

impl Apart {
    /// At the frames of the slower one.
    pub fn new(slow: &Run, fast: &Run) -> Self {
        let (mut sum, mut count) = (0.0, 0usize);
        let mut apart = Self::default();
        for (a, b) in slow.ankles.iter().zip(&fast.ankles) {
            for (i, at) in a.iter().enumerate() {
                let Some(other) = between(b, i as f64 * fast.rate / slow.rate) else { continue };
                let d = f64::from((*at - other).length());
                sum += d * d;
                count += 1;
                if d > apart.most {
                    (apart.most, apart.when) = (d, i as f64 / slow.rate);
                }
            }
        }
        apart.rms = (sum / count.max(1) as f64).sqrt();
        apart
    }
}

/// Largest distance, in metres, of the animation's ankles at thirty ticks a second from those interpolated between
/// frames at a rate: by the straight line between two frames or the cubic through four, whichever is nearer each time. No rule that
/// knows the frames alone can choose better between the two.
pub fn untold(walker: &Walker, rate: f64) -> f64 {
    const BEATS: f64 = 30.0;
    let mut pose = walker.rest.clone();
    let mut most = 0.0f64;
    for leg in walker.figure.legs() {
        let mut ankle = |time: f64| {
            let world = walker.at(time, &mut pose);
            world.to_world(pose.position(leg.foot))
        };
        let frames = (walker.duration() * rate) as usize;
        let told: Vec<Vec3> = (0..=frames).map(|i| ankle(i as f64 / rate)).collect();
        for tick in 0..=(walker.duration() * BEATS) as usize {
            let time = tick as f64 / BEATS;
            let (at, truth) = (time * rate, ankle(time));
            let Some(cubic) = between(&told, at) else { continue };
            let (i, s) = (at as usize, at.fract() as f32);
            let line = told[i].lerp(told[(i + 1).min(frames)], s);
            most = most.max(f64::from((cubic - truth).length().min((line - truth).length())));
        }
    }
    most
}

/// The value at a time between frames, by the cubic through the four nearest.
fn between(values: &[Vec3], at: f64) -> Option<Vec3> {
    let i = at.floor() as usize;
    let s = (at - i as f64) as f32;
    if s < 1e-3 {
        return values.get(i).copied();
    }
    if s > 0.999 {
        return values.get(i + 1).copied();
    }
    let p = values.get(i.checked_sub(1)?..i + 3)?;
    Some(
        p[0] * (-s * (s - 1.0) * (s - 2.0) / 6.0)
            + p[1] * ((s + 1.0) * (s - 1.0) * (s - 2.0) / 2.0)
            + p[2] * (-(s + 1.0) * s * (s - 2.0) / 2.0)
            + p[3] * ((s + 1.0) * s * (s - 1.0) / 6.0),
    )
}
