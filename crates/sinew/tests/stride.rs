//! Judges strides that are scaled to stairs: a tread a step, standing feet stay, and nothing changes elsewhere.

use crate::figure;

use sinew::{
    Pose,
    glam::{Quat, Vec3},
    ground::{
        Filter, Ground, Hit,
        plant::{ClipAnalysis, Figure, FootSample, FootholdSearch, Plan, PlantOptions, Stride, Unscaled},
    },
    motion::{Baker, Clip},
};

const STEP: f32 = 1.0 / 60.0;

/// A ground with a height at each x and z.
struct Heights<F>(F);

impl<F: Fn(Vec3) -> f32> Ground for Heights<F> {
    fn cast_ray(&self, from: Vec3, _: Vec3, reach: f32, _: &Filter) -> Option<Hit> {
        let y = (self.0)(from);
        let distance = from.y - y;
        let within = (0.0..=reach).contains(&distance);
        within.then_some(Hit::new(distance, from.with_y(y), Vec3::Y))
    }
}

/// Stairs along +Z.
#[derive(Clone, Copy)]
struct Stairs {
    rise: f32,
    tread: f32,
    lead: f32,
    steps: i32,
}

impl Stairs {
    /// Number of risers up to a distance.
    fn risers(&self, z: f32) -> i32 {
        ((((z - self.lead) / self.tread).floor() as i32) + 1).clamp(0, self.steps)
    }

    fn height(&self, z: f32) -> f32 {
        self.rise * self.risers(z) as f32
    }
}

struct Walk {
    figure: Figure,
    rest: Pose,
    clip: Clip,
}

/// Turn of a walk at the end of a distance along a circle of this radius about the X axis's point `(-radius, 0, 0)`.
fn on_circle(radius: f32, distance: f32) -> (Vec3, Quat) {
    let angle = distance / radius;
    let (sin, cos) = angle.sin_cos();
    (Vec3::new(radius * (cos - 1.0), 0.0, radius * sin), Quat::from_rotation_y(-angle))
}

impl Walk {
    /// The walk on the spot for 5 s.
    fn on_the_spot() -> Self {
        Self::new(|_| (Vec3::ZERO, Quat::IDENTITY))
    }

    /// The walk for 5 s with the figure moved and turned at each time.
    fn new(moved: impl Fn(f32) -> (Vec3, Quat)) -> Self {
        let (figure, rest) = figure::figure();
        let skeleton = rest.skeleton();
        let mut baker = Baker::new(skeleton, skeleton.joints());
        let mut pose = rest.clone();
        for key in 0..=150 {
            let time = key as f32 / 30.0;
            figure::walk(&figure, &rest, time, &mut pose);
            let (by, turn) = moved(time);
            let hips = rest.skeleton().find("hips").unwrap();
            let (at, rotation) = (pose.position(hips), pose.model_rotation(hips));
            pose.set_position(hips, turn * at + by);
            pose.set_model_rotation(hips, turn * rotation);
            pose.update();
            baker.push(time, &pose);
        }
        let clip = baker.finish("walk", skeleton).unwrap();
        Self { figure, rest, clip }
    }

    fn analysis(&self) -> ClipAnalysis {
        ClipAnalysis::new(&self.figure, &self.clip, &self.rest, STEP, 2, Some(1)).unwrap()
    }

    /// The analysis before and after its stride was scaled.
    fn fitted(
        &self,
        ground: &dyn Ground,
        stride: Stride,
    ) -> (ClipAnalysis, ClipAnalysis, Result<f32, Unscaled>) {
        let settings = PlantOptions::default();
        let leg = self.figure.leg_length();
        let search = FootholdSearch { ground, settings: &settings, leg, scale: self.figure.height() / 1.8 };
        let given = self.analysis();
        let mut scaled = given.clone();
        let outcome = scaled.fit_stride(&self.figure, &search, stride);
        (given, scaled, outcome)
    }

    /// Planted feet in order of time: start of the stance, and the middles of the soles by the clip alone.
    fn soles(&self, analysis: &ClipAnalysis, ground: &dyn Ground) -> Vec<(f32, Vec3)> {
        let plan =
            Plan::from_analysis(&self.figure, analysis.clone(), ground, &PlantOptions::default()).unwrap();
        let mut all = Vec::new();
        for (foot, stances) in plan.stances.iter().enumerate() {
            for p in stances {
                let time = 0.5 * (p.stance.time.from + p.stance.time.to);
                let s = &analysis.feet[foot].samples[(time / STEP) as usize];
                all.push((time, s.ankle + 0.5 * (s.heel + s.tip)));
            }
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }
}

/// Asserts that standing feet are displaced by a constant, that bones keep their lengths, and that hips go on.
fn well_scaled(given: &ClipAnalysis, scaled: &ClipAnalysis) {
    for (before, after) in given.feet.iter().zip(&scaled.feet) {
        assert_eq!(before.heel_heights, after.heel_heights);
        assert_eq!(before.ball_speeds, after.ball_speeds);
        for (i, (a, b)) in before.samples.iter().zip(&after.samples).enumerate() {
            let lengths = |s: &FootSample| [(s.knee - s.hip).length(), (s.ankle - s.knee).length()];
            for (a, b) in lengths(a).into_iter().zip(lengths(b)) {
                assert!((a - b).abs() < 1e-4, "a bone of {a} m has {b} m at sample {i}");
            }
            assert_eq!((a.heel, a.ball, a.tip), (b.heel, b.ball, b.tip));
            assert!(b.knee_way.dot(b.ankle - b.hip).abs() < 1e-4);
            let stands = before.ball_speeds[i] < 0.3 && before.ball_heights[i] < 0.04;
            if let Some(next) = after.samples.get(i + 1).filter(|_| stands) {
                let own = (before.samples[i + 1].ankle - a.ankle).length();
                let moved = (next.ankle - b.ankle).length();
                assert!(moved <= own + 1e-4, "a standing foot moves by {moved} m in sample {i}");
            }
        }
    }
    for i in 0..given.len() {
        let by = scaled.pelvis[i] - given.pelvis[i];
        assert!((scaled.carry[i] - given.carry[i] - by).length() < 1e-5);
        assert_eq!(by.y, 0.0);
    }
    for (before, after) in given.pelvis.windows(2).zip(scaled.pelvis.windows(2)) {
        let (own, now) = (before[1] - before[0], after[1] - after[0]);
        assert!(now.dot(own) > 0.0 && now.length() < 1.3 * own.length(), "{own} became {now}");
    }
}

#[test]
fn a_step_takes_one_tread_and_lands_in_its_middle() {
    let walk = Walk::on_the_spot();
    for (rise, tread) in [(0.17, 0.29), (-0.17, 0.29), (0.12, 0.4), (-0.12, 0.4)] {
        for lead in [0.72, 0.8, 0.95, 1.1, 1.3] {
            let stairs = Stairs { rise, tread, lead, steps: 30 };
            let ground = Heights(|p: Vec3| stairs.height(p.z));
            let (given, scaled, factor) = walk.fitted(&ground, Stride::Fit);
            let factor = factor.unwrap();
            assert!((factor - tread / 0.6).abs() < 0.03, "{factor}");
            well_scaled(&given, &scaled);
            let soles = walk.soles(&scaled, &ground);
            let mut on_treads = soles.iter().filter(|(_, at)| at.z > lead).peekable();
            let mut before = on_treads.peek().map(|(_, at)| stairs.risers(at.z) - 1).unwrap();
            assert_eq!(before, 0, "the first tread is not left out");
            let mut count = 0;
            for (time, at) in on_treads {
                let k = stairs.risers(at.z);
                assert_eq!(k, before + 1, "rise {rise}, lead {lead}: at {time} s the foot is at {at}");
                let off = at.z - (lead + tread * (k as f32 - 0.5));
                assert!(off.abs() < 0.02, "{off} m off the middle at {time} s");
                before = k;
                count += 1;
            }
            assert!(count >= 4, "{count}");
        }
    }
}

#[test]
fn a_flight_ends_on_its_landing_and_the_clip_stride_returns() {
    let walk = Walk::on_the_spot();
    let stairs = Stairs { rise: 0.17, tread: 0.29, lead: 0.9, steps: 4 };
    let ground = Heights(|p: Vec3| stairs.height(p.z));
    let (given, scaled, factor) = walk.fitted(&ground, Stride::Treads(1));
    factor.unwrap();
    well_scaled(&given, &scaled);
    let soles = walk.soles(&scaled, &ground);
    let treads: Vec<i32> = soles.iter().map(|(_, at)| stairs.risers(at.z)).filter(|k| *k > 0).collect();
    assert_eq!(treads[..5], [1, 2, 3, 4, 4]);
    let last = soles.len() - 1;
    assert!((soles[last].1.z - soles[last - 1].1.z - 0.6).abs() < 0.03);
    let speed = |i: usize| (scaled.pelvis[i + 6] - scaled.pelvis[i]).z / (6.0 * STEP);
    assert!((speed(0) - 1.2).abs() < 0.15 && (speed(scaled.len() - 7) - 1.2).abs() < 0.15);
}

#[test]
fn two_treads_a_step() {
    let walk = Walk::on_the_spot();
    let stairs = Stairs { rise: 0.17, tread: 0.29, lead: 0.9, steps: 30 };
    let ground = Heights(|p: Vec3| stairs.height(p.z));
    let (given, scaled, factor) = walk.fitted(&ground, Stride::Treads(2));
    assert!((factor.unwrap() - 0.58 / 0.6).abs() < 0.03);
    well_scaled(&given, &scaled);
    let soles = walk.soles(&scaled, &ground);
    let treads: Vec<i32> = soles.iter().map(|(_, at)| stairs.risers(at.z)).filter(|k| *k > 0).collect();
    assert!(treads.len() > 3 && treads.windows(2).all(|w| w[1] == w[0] + 2), "{treads:?}");
}

#[test]
fn without_stairs_nothing_changes() {
    let walk = Walk::on_the_spot();
    let slope = Heights(|p: Vec3| 0.36 * p.z);
    let low = Stairs { rise: 0.06, tread: 0.29, lead: 0.9, steps: 30 };
    let curb = Stairs { rise: 0.17, tread: 0.29, lead: 0.9, steps: 1 };
    let wide = Stairs { rise: 0.17, tread: 0.8, lead: 0.9, steps: 30 };
    let bumps = Heights(|p: Vec3| if (p.z * 2.0).rem_euclid(2.0) < 1.0 { 0.0 } else { 0.15 });
    let uneven = Heights(|p: Vec3| {
        let risers = [0.9, 1.2, 1.9, 2.2, 2.9, 3.2, 3.9];
        0.15 * risers.iter().filter(|r| p.z >= **r).count() as f32
    });
    let flat = Heights(|_: Vec3| 0.0);
    let hole = Heights(|_: Vec3| f32::NAN);
    let (low, curb) = (Heights(|p: Vec3| low.height(p.z)), Heights(|p: Vec3| curb.height(p.z)));
    let wide = Heights(|p: Vec3| wide.height(p.z));
    let cases: [(&str, &dyn Ground, Unscaled); 8] = [
        ("flat", &flat, Unscaled::NoTreads),
        ("slope", &slope, Unscaled::NoTreads),
        ("low", &low, Unscaled::NoTreads),
        ("curb", &curb, Unscaled::NoTreads),
        ("bumps", &bumps, Unscaled::NoTreads),
        ("hole", &hole, Unscaled::NoTreads),
        ("uneven", &uneven, Unscaled::UnevenTreads),
        ("wide", &wide, Unscaled::TooFar { factor: 0.8 / 0.6 }),
    ];
    for (what, ground, reason) in cases {
        let (given, scaled, outcome) = walk.fitted(ground, Stride::Fit);
        match (outcome, reason) {
            (Err(Unscaled::TooFar { factor: a }), Unscaled::TooFar { factor: b }) => {
                assert!((a - b).abs() < 0.05, "{a}");
            }
            (outcome, reason) => assert_eq!(outcome, Err(reason), "{what}"),
        }
        assert_eq!((given.pelvis, given.carry), (scaled.pelvis, scaled.carry), "{what}");
        assert_eq!(given.feet[0].samples, scaled.feet[0].samples, "{what}");
    }
    let stairs = Stairs { rise: 0.17, tread: 0.29, lead: 0.9, steps: 30 };
    let (given, kept, outcome) = walk.fitted(&Heights(|p: Vec3| stairs.height(p.z)), Stride::Keep);
    assert_eq!(outcome, Ok(1.0));
    assert_eq!(given.pelvis, kept.pelvis);
}

#[test]
fn a_figure_that_stands_takes_no_steps() {
    let (figure, rest) = figure::figure();
    let skeleton = rest.skeleton();
    let mut baker = Baker::new(skeleton, skeleton.joints());
    let (mut pose, hips) = (rest.clone(), skeleton.find("hips").unwrap());
    for key in 0..60 {
        // Breathing.
        let by = Vec3::Y * (0.01 * (0.1 * key as f32).sin());
        pose.set_position(hips, rest.position(hips) + by);
        pose.update();
        baker.push(key as f32 / 30.0, &pose);
    }
    let clip = baker.finish("stand", skeleton).unwrap();
    let walk = Walk { figure, rest, clip };
    let stairs = Stairs { rise: 0.17, tread: 0.29, lead: -1.0, steps: 30 };
    let (.., outcome) = walk.fitted(&Heights(|p: Vec3| stairs.height(p.z)), Stride::Treads(1));
    assert_eq!(outcome, Err(Unscaled::NoSteps));
}

#[test]
fn a_way_that_turns_is_scaled_along_itself() {
    let radius = 8.0;
    let walk = Walk::new(|time| on_circle(radius, figure::SPEED * time));
    let stairs = Stairs { rise: 0.17, tread: 0.4, lead: 1.2, steps: 30 };
    // Straight stairs, which the curve meets at a growing angle.
    let ground = Heights(|p: Vec3| stairs.height(p.z));
    let (given, scaled, factor) = walk.fitted(&ground, Stride::Fit);
    assert!((factor.unwrap() - 0.7).abs() < 0.05, "{factor:?}");
    well_scaled(&given, &scaled);
    for (before, after) in given.pelvis.windows(8).zip(scaled.pelvis.windows(8)) {
        let (own, now) = ((before[7] - before[0]).normalize(), (after[7] - after[0]).normalize());
        assert!(own.dot(now) > 0.999, "hips head for {own} in the clip and for {now}");
    }
    let soles = walk.soles(&scaled, &ground);
    let treads: Vec<i32> = soles.iter().map(|(_, at)| stairs.risers(at.z)).filter(|k| *k > 0).collect();
    assert!(treads.len() > 3 && treads.windows(2).all(|w| w[1] == w[0] + 1), "{treads:?}");
}

#[test]
fn a_walk_stands_throughout_and_a_flight_ends_that() {
    let walk = Walk::on_the_spot();
    let (ground, settings) = (Heights(|_: Vec3| 0.0), PlantOptions::default());
    let search = FootholdSearch { ground: &ground, settings: &settings, leg: 0.86, scale: 1.0 };
    let mut analysis = walk.analysis();
    assert!(analysis.stands_throughout(&walk.figure, &search));
    for foot in &mut analysis.feet {
        for (i, height) in foot.heel_heights.iter_mut().enumerate() {
            let air = i % 30 < 18;
            *height += if air { 0.3 } else { 0.0 };
            foot.ball_heights[i] += if air { 0.3 } else { 0.0 };
        }
    }
    assert!(!analysis.stands_throughout(&walk.figure, &search));
}
