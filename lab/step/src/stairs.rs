//! A game: walks with look-ahead at 60 Hz up and down stairs of 17 x 29 cm, scaled to legs of 0.93 m and played so that they go
//! at 1 m/s, for 10 s or until a clip ends that is no loop.
//!
//! Contacts are the given clip's (see [`contacts`]), less two frames at each end. Of a foot with its heel over an edge the ball
//! is measured. A point of a sole slides if it is within 1 cm
//! of the ground: a heel may lift over a ball that stands. Angles are bounded as in `lab/plant`, in degrees: dorsiflexion by
//! the larger of 34 and the clip's most + 8, knees from the smaller of 5 and the clip's least to the largest of 109, the clip's
//! most + 4 and what the highest step asks, each with 1 to spare.

use sinew::{
    Placement, Pose,
    glam::{Affine3, Vec3},
    ground::{
        MeshGround,
        plant::{FootPlanter, Leg, PlantOptions},
        terrain::{Flight, Stairs},
    },
};

use crate::{
    quality::{ON, contacts, over},
    walker::Walker,
};

/// Length of a leg in metres, of a step's rise and going; speed in m/s, frames per second, duration and look-ahead in seconds.
const LEG: f32 = 0.93;
const RISE: f32 = 0.17;
const GOING: f32 = 0.29;
const SPEED: f32 = 1.0;
const RATE: f32 = 60.0;
const SECONDS: f32 = 10.0;
const AHEAD: f32 = 0.3;
/// Height in metres from which on a step is a leap, as in `lab/plant`.
const HIGH: f64 = 0.6;
/// Frames left out at each end of a contact.
const ENDS: usize = 2;

/// A measured value and its bound.
pub struct Bounded {
    /// What is measured, with its unit.
    pub what: &'static str,
    /// The value.
    pub value: f64,
    /// The bound.
    pub bound: f64,
    /// Whether the value must be at least the bound; at most otherwise.
    pub least: bool,
}

impl Bounded {
    /// Whether the bound holds.
    pub fn holds(&self) -> bool {
        if self.least { self.value >= self.bound } else { self.value <= self.bound }
    }
}

/// What is kept of a leg in a frame, in world space.
#[derive(Clone, Copy, Default)]
struct Kept {
    ankle: Vec3,
    /// Heel and ball.
    points: [Vec3; 2],
    /// Tip of the toes.
    tip: Vec3,
    dorsiflexion: f32,
    flexion: f32,
}

impl Kept {
    fn of(pose: &Pose, leg: &Leg, world: &Placement) -> Self {
        let foot = pose.model(leg.foot);
        let [hip, knee, ankle] = [leg.thigh, leg.shin, leg.foot].map(|j| world.to_world(pose.position(j)));
        let points = [leg.sole.heel, leg.sole.ball].map(|p| world.to_world(foot.transform_point3(p)));
        let toes = pose.model(leg.toes.unwrap_or(leg.foot));
        Self {
            ankle,
            points,
            tip: world.to_world(toes.transform_point3(leg.sole.tip)),
            dorsiflexion: 90.0 - (knee - ankle).angle_between(points[1] - points[0]).to_degrees(),
            flexion: (knee - hip).angle_between(ankle - knee).to_degrees(),
        }
    }
}

impl Kept {
    /// Whether the heel hangs over an edge while the foot stands, as in `lab/plant`: the ball on the ground, and 60 % of the
    /// sole from heel to tip within what shoe and foot give.
    fn hangs(&self, ground: &MeshGround, tall: f32) -> bool {
        const PARTS: usize = 100;
        let [heel, ball] = self.points;
        let (back, front) = ((ball - heel).length(), (self.tip - ball).length());
        let give = f64::from(0.013 * tall);
        let on = |p: Vec3, give: f64| over(ground, p).is_some_and(|h| h.abs() <= give);
        let at = |s: f32| {
            let along = s * (back + front);
            if along < back {
                heel.lerp(ball, along / back)
            } else {
                ball.lerp(self.tip, (along - back) / front)
            }
        };
        let stands = (0..PARTS).filter(|&k| on(at((k as f32 + 0.5) / PARTS as f32), give)).count();
        over(ground, heel).is_some_and(|h| h > ON) && on(ball, ON) && 10 * stands >= 6 * PARTS
    }
}

/// Frames of each leg.
type Frames = Vec<Vec<Kept>>;

/// A walk of a scaled figure in the world.
struct Play<'a> {
    walker: &'a Walker,
    scale: f32,
    /// Playback rate.
    pace: f32,
    /// Duration in seconds: no longer than a clip that is no loop. A figure that goes on in a last pose slides.
    seconds: f32,
}

impl<'a> Play<'a> {
    fn new(walker: &'a Walker) -> Self {
        let scale = LEG / walker.figure.leg_length();
        // The walk itself, without starts and stops: the 90th percentile of speeds over half a second.
        const HALF: usize = 15;
        let mut pose = walker.rest.clone();
        let mut hips = |frame: usize| {
            let world = walker.at(frame as f64 / (2 * HALF) as f64, &mut pose);
            let [a, b] = [0, 1].map(|i| world.to_world(pose.position(walker.figure.legs()[i].thigh)));
            0.5 * scale * (a + b).with_y(0.0)
        };
        let count = (walker.duration() * (2 * HALF) as f64) as usize;
        let speed = |i: usize| (hips(i + HALF) - hips(i)).length() / 0.5;
        let mut speeds: Vec<f32> = (0..count.saturating_sub(HALF)).map(speed).collect();
        speeds.sort_by(f32::total_cmp);
        let own = speeds.get(speeds.len() * 9 / 10).copied().unwrap_or(1.0);
        let pace = SPEED / own;
        let end = if walker.loops() { SECONDS } else { walker.duration() as f32 / pace };
        Self { walker, scale, pace, seconds: end.min(SECONDS) }
    }

    /// The animation and the placement at a time.
    fn at(&self, time: f32, pose: &mut Pose) -> Placement {
        let there = self.walker.at(f64::from((time * self.pace).max(0.0)), pose);
        let scaled = Affine3::from_scale(Vec3::splat(self.scale));
        Placement::new(scaled * there.world_from_model()).expect("a finite walk")
    }

    fn stairs(&self, flight: Flight) -> Result<MeshGround, String> {
        let way = self.walker.heading();
        let stairs = Stairs::new()
            .with_origin(self.walker.start() * self.scale)
            .with_heading(way.x.atan2(way.z))
            .with_rise(RISE)
            .with_going(GOING)
            .with_steps((SECONDS * SPEED / GOING).ceil() as u32)
            .with_width(4.0)
            .with_lead(0.8 * LEG)
            .with_before(2.0)
            .with_landing(4.0)
            .with_flight(flight);
        MeshGround::new(stairs.mesh().map_err(|e| e.to_string())?).map_err(|e| e.to_string())
    }

    /// Height of a figure over 1.8 m.
    fn tall(&self) -> f32 {
        self.scale * self.walker.figure.height() / 1.8
    }

    /// The animation's frames, and the planted ones.
    fn frames(&self, ground: &MeshGround) -> Result<[Frames; 2], String> {
        let figure = &self.walker.figure;
        let mut planter = FootPlanter::new(figure, PlantOptions::default()).map_err(|e| e.to_string())?;
        planter.learn_floor(&self.walker.clip, &self.walker.rest).map_err(|e| e.to_string())?;
        planter.set_look_ahead(AHEAD).map_err(|e| e.to_string())?;
        let (mut feet, mut pose) = (planter.state(), self.walker.rest.clone());
        let mut kept = [vec![Vec::new(); figure.legs().len()], vec![Vec::new(); figure.legs().len()]];
        for frame in 0..(self.seconds * RATE) as usize {
            let time = frame as f32 / RATE;
            let world = self.at(time, &mut pose);
            for (list, leg) in kept[0].iter_mut().zip(figure.legs()) {
                list.push(Kept::of(&pose, leg, &world));
            }
            let sample = |later: f32, pose: &mut Pose| self.at(time + later, pose);
            let planted = planter.step_with(&mut feet, ground, &mut pose, 1.0 / RATE, sample);
            planted.map_err(|e| e.to_string())?;
            for (list, leg) in kept[1].iter_mut().zip(figure.legs()) {
                list.push(Kept::of(&pose, leg, &world));
            }
        }
        Ok(kept)
    }

    /// Frames in which a point of a foot is in contact.
    fn contacts(&self, given: &[Kept], point: usize) -> Vec<bool> {
        let path: Vec<Vec3> = given.iter().map(|f| f.points[point]).collect();
        contacts(&path, RATE, LEG, self.tall())
    }

    /// The highest step in metres: the ground under a stance's ball against that of the other foot's last.
    fn highest_step(&self, given: &Frames, planted: &Frames, ground: &MeshGround) -> f64 {
        let mut stances: Vec<(usize, usize, f64)> = Vec::new();
        for (leg, (given, planted)) in given.iter().zip(planted).enumerate() {
            let on = self.contacts(given, 1);
            for i in (1..on.len()).filter(|&i| on[i] && !on[i - 1]) {
                let ball = planted[i].points[1];
                stances.extend(over(ground, ball).map(|h| (i, leg, f64::from(ball.y) - h)));
            }
        }
        stances.sort_by_key(|s| s.0);
        let steps = stances.windows(2).filter(|w| w[0].1 != w[1].1).map(|w| (w[1].2 - w[0].2).abs());
        steps.fold(0.0, f64::max)
    }

    /// Number of landings on lower treads, and the number of these in which the ball is down before the heel. Counted are landings in
    /// which the clip's heel is in contact before its ball, on a tread that is lower than that of the other foot by one rise to [`HIGH`].
    fn forefoot_first(&self, given: &Frames, planted: &Frames, ground: &MeshGround) -> [u32; 2] {
        let down = |kept: &Kept, k: usize| over(ground, kept.points[k]).is_some_and(|h| h.abs() <= ON);
        let tread = |kept: &Kept| over(ground, kept.points[1]).map(|h| f64::from(kept.points[1].y) - h);
        let (mut landings, mut first) = (0, 0);
        for (leg, given) in given.iter().enumerate() {
            let [heels, balls] = [0, 1].map(|k| self.contacts(given, k));
            for i in (1..heels.len()).filter(|&i| heels[i] && !heels[i - 1] && !balls[i]) {
                // From the middle of a swing to a stance.
                let near = i.saturating_sub(12)..(i + 12).min(heels.len());
                let stands = near.end - 1;
                let other =
                    planted.iter().enumerate().find(|(other, _)| *other != leg).map(|(_, other)| other[i]);
                let lower = other.and_then(|other| Some(tread(&other)? - tread(&planted[leg][stands])?));
                if lower.is_none_or(|by| !(0.9 * f64::from(RISE)..HIGH).contains(&by)) {
                    continue;
                }
                let at = |k: usize| near.clone().rev().take_while(|&i| down(&planted[leg][i], k)).last();
                landings += 1;
                first += u32::from(matches!((at(1), at(0)), (Some(ball), Some(heel)) if ball < heel));
            }
        }
        [landings, first]
    }
}

/// Plays a walk on stairs. Returns the highest step in metres and what is bounded.
pub fn measure(walker: &Walker, flight: Flight) -> Result<(f64, Vec<Bounded>), String> {
    let play = Play::new(walker);
    let ground = play.stairs(flight)?;
    let [given, planted] = play.frames(&ground)?;
    let (mut near, mut frames, mut slides) = (0u32, 0u32, Vec::new());
    for (given, planted) in given.iter().zip(&planted) {
        let touch = [0, 1].map(|k| {
            let on = play.contacts(given, k);
            let inside = |i: usize| (i.saturating_sub(ENDS)..=i + ENDS).all(|j| on.get(j) == Some(&true));
            (0..on.len()).map(inside).collect::<Vec<_>>()
        });
        for i in 1..planted.len() {
            // A heel over an edge is held by a sole that stands.
            let hangs = touch[0][i] && planted[i].hangs(&ground, play.tall());
            let held = (0..2).filter(|&k| if hangs { k == 1 } else { touch[k][i] });
            let heights = held.map(|k| (k, over(&ground, planted[i].points[k])));
            let heights: Vec<(usize, f64)> = heights.filter_map(|(k, h)| Some((k, h?))).collect();
            let Some(low) = heights.iter().map(|(_, h)| *h).reduce(f64::min) else { continue };
            frames += 1;
            near += u32::from(low.abs() <= ON);
            for (k, _) in heights.into_iter().filter(|(_, h)| h.abs() <= ON) {
                slides.push(f64::from((planted[i].points[k] - planted[i - 1].points[k]).length() * RATE));
            }
        }
    }
    slides.sort_by(f64::total_cmp);
    let fastest = |legs: &Frames| {
        let speeds = legs.iter().flat_map(|l| l.windows(2).map(|w| (w[1].ankle - w[0].ankle).length()));
        f64::from(speeds.fold(0.0, f32::max))
    };
    let span = |legs: &Frames, of: fn(&Kept) -> f32| {
        let all = legs.iter().flatten().map(|k| f64::from(of(k)));
        all.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)))
    };
    let [(_, own_dorsi), (_, most_dorsi)] = [&given, &planted].map(|legs| span(legs, |k| k.dorsiflexion));
    let [(own_least, own_most), (least, most)] = [&given, &planted].map(|legs| span(legs, |k| k.flexion));
    let highest = play.highest_step(&given, &planted, &ground);
    // Two equal bones with hip and ankle 0.84 m less the step apart, and 3 degrees.
    let asked = 2.0 * ((0.84 - highest) / f64::from(LEG)).clamp(0.0, 1.0).acos().to_degrees() + 3.0;
    let at_most = |what, value, bound| Bounded { what, value, bound, least: false };
    let at_least = |what, value, bound| Bounded { what, value, bound, least: true };
    let slide = slides.get(slides.len() * 9 / 10).copied().unwrap_or(0.0);
    let [landings, first] = play.forefoot_first(&given, &planted, &ground);
    let mut bounded = vec![
        at_least("contact within 1 cm, %", 100.0 * f64::from(near) / f64::from(frames.max(1)), 99.0),
        at_most("slide, mm/s", 1e3 * slide, 5.0),
        at_most("fastest foot over the clip's", fastest(&planted) / fastest(&given), 2.0),
        at_most("ankle, degrees", most_dorsi, (own_dorsi + 8.0).max(34.0) + 1.0),
        at_least("knee, least degrees", least, own_least.min(5.0) - 1.0),
        at_most("knee, most degrees", most, 109f64.max(own_most + 4.0).max(asked) + 1.0),
    ];
    if landings > 0 {
        bounded.push(at_least("forefoot first, %", 100.0 * f64::from(first) / f64::from(landings), 90.0));
    }
    Ok((highest, bounded))
}
