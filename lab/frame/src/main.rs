//! Times one frame of a planted figure on one core: sampling the clip, applying the plan, and the casts of a game.
//!
//! A frame is one key of the plan. Applying is `Figure::apply` on the sampled pose: the pelvis, both legs, feet and toes.
//! The casts are a ray under each heel and ball and a sphere along each foot's path, on the mesh of the ground. The time of
//! planning the whole clip includes its own casts.

mod tracks;
mod walks;

use std::{error::Error, hint::black_box, path::Path, time::Instant};

use sinew::{
    Pose,
    body::BodyRoles,
    glam::Vec3,
    ground::{
        Filter, Ground, MeshGround,
        plant::{ClipAnalysis, Figure, FootFrame, Plan, PlantOptions, contact::ContactLimits, walk_heading},
        terrain::{Flight, Stairs},
    },
    motion::{Clip, ClipCursor},
};
use sinew_files::{Model, ReadOptions, sample};

/// Timed passes over each walk.
const ROUNDS: usize = 101;

fn main() -> Result<(), Box<dyn Error>> {
    let met = tracks::table();
    println!(
        "one frame on one core, medians over {ROUNDS} passes of a whole walk up stairs of 12 x 40 cm (microseconds)"
    );
    println!(
        "{:<28} {:>6} {:>6} {:>9} {:>8} {:>6} {:>6} {:>9}",
        "figure", "joints", "tracks", "sampling", "solving", "casts", "all", "planning"
    );
    frame("sample, walk", &sample::mannequin()?, "walk")?;
    let data = std::env::var("SINEW_DATA")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into());
    for (file, clip) in [
        ("KayKit_Knight.glb", "Walking_A"),
        ("mannequiny.glb", "run_root.001"),
        ("CesiumMan.gltf", "animation0"),
    ] {
        let path = Path::new(&data).join("gltf").join(file);
        if !path.exists() {
            eprintln!("{}: not there, left out (SINEW_DATA names the folder)", path.display());
            continue;
        }
        frame(
            &format!("{}, {clip}", file.split('.').next().unwrap_or(file)),
            &Model::read(&path, &ReadOptions::default())?,
            clip,
        )?;
    }
    let met = walks::table(Path::new(&data))? && met;
    if met { Ok(()) } else { Err("past a bound".into()) }
}

/// The figure of a model, with soles from its mesh.
fn figure(model: &Model) -> Result<Figure, Box<dyn Error>> {
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles)?;
    Ok(Figure::of_body(&bind, &body, &model.skin_points(&bind))?)
}

struct Walk<'a> {
    figure: &'a Figure,
    clip: &'a Clip,
    plan: &'a Plan,
    ground: &'a dyn Ground,
}

impl Walk<'_> {
    fn sample(&self, cursor: &mut ClipCursor, i: usize, pose: &mut Pose) {
        self.clip.sample_from(cursor, self.plan.analysis.clip_time(i), pose);
        pose.update();
    }

    fn solve(&self, i: usize, pose: &mut Pose, frames: &mut Vec<FootFrame>) {
        frames.clear();
        frames.extend(self.plan.feet.iter().map(|f| f[i]));
        let carry = self.plan.analysis.carry[i];
        let done = self.figure.apply(pose, carry, self.plan.hips[i], frames, |_, missed| {
            black_box(missed);
        });
        done.expect("a plan's own frames are solved");
    }

    fn cast(&self, pose: &Pose) {
        let reach = self.figure.leg_length();
        for leg in self.figure.legs() {
            let foot = leg.sample(pose, Vec3::ZERO);
            for point in [foot.heel, foot.ball] {
                let above = point + Vec3::Y * (0.5 * reach);
                black_box(self.ground.cast_ray(above, Vec3::NEG_Y, reach, &Filter::ALL));
            }
            let way = foot.ball - foot.heel;
            black_box(self.ground.cast_sphere(
                foot.heel + Vec3::Y * 0.1,
                0.03,
                way.normalize(),
                way.length(),
                &Filter::ALL,
            ));
        }
    }
}

fn frame(title: &str, model: &Model, clip: &str) -> Result<(), Box<dyn Error>> {
    let clip = model.clips.iter().find(|c| c.name() == clip).ok_or_else(|| {
        let names: Vec<_> = model.clips.iter().map(Clip::name).collect();
        format!("no clip `{clip}`, only {names:?}")
    })?;
    let figure = figure(model)?;
    let rest = Pose::rest(&model.skeleton);
    let rate = clip.key_rate().clamp(30.0, 60.0);
    let leg = figure.leg_length();
    let per_key = (60.0 / rate).ceil() as usize;
    let analysis = ClipAnalysis::new(&figure, clip, &rest, 1.0 / (rate * per_key as f32), per_key, None)?;
    let (from, to) = (analysis.pelvis[0], analysis.pelvis[analysis.len() - 1]);
    let heading = walk_heading(&analysis);
    let stairs = Stairs::new()
        .with_origin(from.with_y(analysis.floor(&ContactLimits::new(&figure, &PlantOptions::default()))))
        .with_heading(heading.x.atan2(heading.z))
        .with_rise(0.12)
        .with_going(0.4)
        .with_steps(((to - from).with_y(0.0).length() / 0.4).ceil().max(1.0) as u32)
        .with_width(2.0)
        .with_lead(0.8 * leg)
        .with_before(2.0)
        .with_landing(2.0)
        .with_flight(Flight::Up);
    let ground = MeshGround::new(stairs.mesh()?)?;
    let began = Instant::now();
    let plan = Plan::from_analysis(&figure, analysis, &ground, &PlantOptions::default())?;
    let planning = began.elapsed().as_secs_f64() * 1e6 / plan.keys() as f64;
    let walk = Walk { figure: &figure, clip, plan: &plan, ground: &ground };

    let samples: Vec<usize> = (0..plan.keys()).map(|k| k * plan.per_key).collect();
    let (mut pose, mut frames, mut cursor) = (rest.clone(), Vec::new(), ClipCursor::default());
    // Each way of doing a pass does what the one before does, and one thing more; the differences are that thing's times.
    let mut micros = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (what, times) in micros.iter_mut().enumerate() {
            let began = Instant::now();
            for &i in &samples {
                walk.sample(&mut cursor, i, &mut pose);
                if what > 0 {
                    walk.solve(i, &mut pose, &mut frames);
                }
                if what > 1 {
                    walk.cast(&pose);
                }
                black_box(&mut pose);
            }
            times.push(began.elapsed().as_secs_f64() * 1e6 / samples.len() as f64);
        }
    }
    let [sampling, solved, all] = micros.map(|mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    });
    let tracks: usize = (clip.tracks().iter())
        .map(|t| {
            usize::from(t.translation.is_some())
                + usize::from(t.rotation.is_some())
                + usize::from(t.scale.is_some())
        })
        .sum();
    bounds::median(format!("{title}, sampled and solved"), solved);
    println!(
        "{title:<28} {:>6} {tracks:>6} {sampling:>9.2} {:>8.2} {:>6.2} {all:>6.2} {planning:>9.2}",
        model.skeleton.len(),
        solved - sampling,
        all - solved,
    );
    Ok(())
}
