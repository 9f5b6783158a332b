//! Times of a frame of creatures that walk by themselves.

use std::{cell::Cell, error::Error, path::Path, time::Instant};

use sinew::{
    Placement, Workspace,
    body::Legs,
    glam::Vec3,
    ground::{
        Filter, Ground, Hit, MeshGround, Plane,
        terrain::Rough,
        walk::{Creature, WalkOptions, Walker},
    },
};
use sinew_files::{Model, ReadOptions, sample};

/// Frames of a pass: twenty seconds.
const FRAMES: usize = 1200;
/// Passes.
const ROUNDS: usize = 15;

/// A ground that sums the time of its casts, in nanoseconds.
struct Timed<'a>(&'a dyn Ground, Cell<u64>);

impl Ground for Timed<'_> {
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        let began = Instant::now();
        let hit = self.0.cast_ray(origin, direction, reach, filter);
        self.1.set(self.1.get() + began.elapsed().as_nanos() as u64);
        hit
    }
}

/// Prints the table; whether its bounds hold.
pub fn table(data: &Path) -> Result<bool, Box<dyn Error>> {
    println!(
        "\none frame of a creature that walks and turns, on one core, medians over {ROUNDS} passes (microseconds)"
    );
    println!(
        "{:<28} {:>6} {:>14} {:>17} {:>6}",
        "creature", "legs", "on a plane, all", "on rough, casts", "bound"
    );
    let mut met = true;
    let file = |name: &str| Model::read(&data.join("gltf").join(name), &ReadOptions::default());
    for (title, model, bound) in [
        ("the built-in one", sample::creature(8).ok(), 30.0),
        ("spider", file("m2m_spider-animations.glb").ok(), 30.0),
        ("horse", file("m2m_horse-animations.glb").ok(), 20.0),
        ("fox", file("Fox.glb").ok(), 20.0),
    ] {
        let Some(model) = model else {
            eprintln!("{title}: not there, left out (SINEW_DATA names the folder)");
            continue;
        };
        let bind = model.bind_pose();
        let skin = model.skin_points(&bind);
        let legs = Legs::find(&bind, &skin)?;
        let creature = Creature::new(&bind, &legs, &skin)?;
        let walker = Walker::new(&creature, WalkOptions::new())?;
        let rough = Rough::new().with_level(0.0).with_size([40.0, 40.0].into()).mesh()?;
        let size = creature.length() / 0.9;
        let rough = MeshGround::new(rough.transformed(&sinew::glam::Affine3::from_scale(Vec3::splat(size))))?;
        let pass = |ground: &dyn Ground| -> Result<f64, Box<dyn Error>> {
            let mut state = walker.state(&Placement::IDENTITY)?;
            let (mut workspace, mut pose) = (Workspace::new(), bind.clone());
            let began = Instant::now();
            for _ in 0..FRAMES {
                let speed = Vec3::Z * (0.5 * creature.length());
                walker.step(&mut state, &mut workspace, &mut pose, ground, speed, 0.3, 1.0 / 60.0)?;
            }
            Ok(began.elapsed().as_secs_f64() * 1e6 / FRAMES as f64)
        };
        let (mut flat, mut casts) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            flat.push(pass(&Plane::level(0.0))?);
            let timed = Timed(&rough, Cell::new(0));
            pass(&timed)?;
            casts.push(timed.1.get() as f64 / 1e3 / FRAMES as f64);
        }
        let (all, casts) = (median(flat), median(casts));
        let holds = all <= bound;
        println!(
            "{title:<28} {:>6} {all:>14.1} {casts:>17.1} {bound:>6}{}",
            legs.legs.len(),
            if holds { "" } else { " !" }
        );
        bounds::bound(format!("{title} walks"), format!("{bound} us a frame"), format!("{all:.1}"), holds);
        met &= holds;
    }
    Ok(met)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
