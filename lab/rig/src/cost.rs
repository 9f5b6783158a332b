//! Time and allocations of a frame.

use std::time::Instant;

use crate::{
    knight::{Player, Rigged},
    orders::Frame,
};

/// Timed passes over all frames.
const ROUNDS: usize = 21;

/// Prints the median time of sampling and of solving a frame, and the allocations of all frames but the first. Returns whether there
/// are none.
pub fn table(title: &str, rigged: &Rigged, frames: &[Frame]) -> Result<bool, String> {
    let mut player = Player::new(rigged);
    let mut pass = |solve: bool, frames: &[Frame]| {
        let start = Instant::now();
        for &(clip, time) in frames {
            player.sample(clip, time);
            if solve {
                player.solve()?;
            }
        }
        Ok::<f64, String>(start.elapsed().as_secs_f64() * 1e6 / frames.len() as f64)
    };
    // The first frame may allocate, as may the first of the clip with most tracks.
    pass(true, frames)?;
    let mut failed = None;
    let counted = allocation_counter::measure(|| failed = pass(true, frames).err());
    if let Some(error) = failed {
        return Err(error);
    }
    let mut micros = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for (solve, micros) in [false, true].into_iter().zip(&mut micros) {
            micros.push(pass(solve, frames)?);
        }
    }
    let [sampling, all] = micros.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    });
    let solving = all - sampling;
    println!(
        "{title}: {solving:.2} us a frame beside {sampling:.2} of sampling, {} allocations in {} frames",
        counted.count_total,
        frames.len()
    );
    bounds::median(format!("{title}, sampled and solved"), all);
    let none = counted.count_total == 0;
    bounds::bound(title, "no allocation in a frame", counted.count_total, none);
    Ok(none)
}
