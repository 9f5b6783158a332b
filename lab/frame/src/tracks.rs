//! Time of sampling a track with a cursor, over that without, as it plays at 60 Hz.

use std::{hint::black_box, time::Instant};

use sinew::{
    glam::{Quat, Vec3},
    motion::{Interpolation, Track, TrackCursor, TrackValue},
};

/// Timed passes over each track.
const ROUNDS: usize = 41;

/// Keys per second.
const RATE: f32 = 30.0;

/// Largest ratio for tracks of this many keys. The cursor saves the search, 5 steps among 30 keys and 12 among 3,000, and each
/// second frame the arc cosine and the sine of a great arc.
fn bound(keys: usize) -> f64 {
    if keys == 30 { 0.7 } else { 0.4 }
}

/// Whether all are within bounds.
pub fn table() -> bool {
    println!(
        "a track played at 60 Hz with a cursor, {RATE} keys a second: time over that without, medians of {ROUNDS} rounds"
    );
    println!("{:<28} {:>8} {:>8} {:>8}", "", "30 keys", "300", "3,000");
    let vector = |i: f32| Vec3::new((0.3 * i).sin(), (0.7 * i).cos(), (0.1 * i).sin());
    let turn =
        |size: f32| move |i: f32| Quat::from_rotation_x(size * i) * Quat::from_rotation_y(0.5 * size * i);
    row("stepped vectors", Interpolation::Step, vector)
        & row("linear vectors", Interpolation::Linear, vector)
        & row("cubic vectors", Interpolation::Cubic, vector)
        & row("small turns", Interpolation::Linear, turn(0.01))
        & row("great arcs", Interpolation::Linear, turn(0.3))
        & row("cubic rotations", Interpolation::Cubic, turn(0.3))
}

fn row<T: TrackValue>(name: &str, interpolation: Interpolation, value: impl Fn(f32) -> T) -> bool {
    let per_key = if interpolation == Interpolation::Cubic { 3 } else { 1 };
    let mut met = true;
    let ratios = [30, 300, 3000].map(|keys: usize| {
        let times = (0..keys).map(|i| i as f32 / RATE).collect();
        let values = (0..keys * per_key).map(|i| value(i as f32)).collect();
        let track = Track::new(times, values, interpolation).expect("times increase, and values are finite");
        let ratio = ratio(&track);
        let (row, most) = (format!("track, {name}, {keys} keys"), bound(keys));
        bounds::bound(row, format!("{most} times without a cursor"), format!("{ratio:.2}"), ratio <= most);
        met &= ratio <= most;
        format!("{ratio:.2}{}", if ratio <= most { "" } else { " MISS" })
    });
    println!("{name:<28} {:>8} {:>8} {:>8}", ratios[0], ratios[1], ratios[2]);
    met
}

fn ratio<T: TrackValue>(track: &Track<T>) -> f64 {
    let keys = track.times().len();
    let length = (keys - 1) as f32 / RATE;
    let times: Vec<f32> = (0..(2 * keys).max(6000)).map(|i| (i as f32 / 60.0) % length).collect();
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let mut cursor = TrackCursor::default();
            let began = Instant::now();
            for &time in &times {
                black_box(black_box(track).sample_from(&mut cursor, time));
            }
            let with = began.elapsed();
            let began = Instant::now();
            for &time in &times {
                black_box(black_box(track).sample(time));
            }
            with.as_secs_f64() / began.elapsed().as_secs_f64()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ROUNDS / 2]
}
