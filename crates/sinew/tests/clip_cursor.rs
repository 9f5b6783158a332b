//! Samples with a cursor have the bits of samples without, whatever the cursor saw before.

use proptest::prelude::*;
use sinew::{
    JointTransform, Pose, Skeleton,
    glam::{DVec3, Quat, Vec3},
    motion::{Clip, ClipCursor, Interpolation, JointTracks, Track, TrackCursor, TrackValue},
};

/// Key times with gaps of very different lengths.
fn times() -> impl Strategy<Value = Vec<f32>> {
    (-2f32..2.0, prop::collection::vec(prop_oneof![0.001f32..0.1, 0.1f32..3.0], 0..60)).prop_map(
        |(first, gaps)| {
            let mut at = first;
            let mut times = vec![at];
            for gap in gaps {
                at += gap;
                times.push(at);
            }
            times
        },
    )
}

fn interpolation() -> impl Strategy<Value = Interpolation> {
    prop_oneof![Just(Interpolation::Step), Just(Interpolation::Linear), Just(Interpolation::Cubic)]
}

/// A track of values that `value` makes of four numbers. Neighbouring rotations may be equal, opposite or far apart.
fn track<T: TrackValue + std::fmt::Debug>(value: fn([f32; 4]) -> T) -> impl Strategy<Value = Track<T>> {
    (times(), interpolation()).prop_flat_map(move |(times, interpolation)| {
        let count = times.len() * if interpolation == Interpolation::Cubic { 3 } else { 1 };
        let number = prop_oneof![Just(0f32), Just(1f32), Just(-1f32), -1f32..1.0];
        let values = prop::collection::vec([number.clone(), number.clone(), number.clone(), number], count);
        values.prop_map(move |values| {
            let values = values.into_iter().map(value).collect();
            Track::new(times.clone(), values, interpolation).unwrap()
        })
    })
}

fn vector([x, y, z, _]: [f32; 4]) -> Vec3 {
    Vec3::new(x, y, z)
}

fn rotation([x, y, z, w]: [f32; 4]) -> Quat {
    let q = Quat::from_xyzw(x, y, z, w);
    if q.length_squared() > 0.01 { q } else { Quat::IDENTITY }
}

/// Times as they are played: forward and backward at many rates, in loops, with jumps, on keys, beside the track, and not
/// numbers.
fn played(keys: &[f32]) -> Vec<f32> {
    let (start, end) = (keys[0], keys[keys.len() - 1]);
    let mut times = Vec::new();
    for rate in [7.0f32, 60.0, -60.0, 1000.0] {
        times.extend((0..200).map(|i| start + (i as f32 / rate).rem_euclid((end - start).max(0.1))));
    }
    for &key in keys {
        times.extend([key, key.next_down(), key.next_up(), f32::NAN, -key, f32::INFINITY, f32::NEG_INFINITY]);
    }
    times.extend(keys.iter().rev());
    times
}

/// The value of a vector track by a scan of all keys, in f64 (glTF 2.0, appendix C).
fn oracle(track: &Track<Vec3>, time: f32) -> DVec3 {
    let (times, cubic) = (track.times(), track.interpolation() == Interpolation::Cubic);
    let value = |i: usize| track.values()[i].as_dvec3();
    let key = |i: usize| if cubic { value(3 * i + 1) } else { value(i) };
    let Some(i) = times.iter().rposition(|&t| t <= time) else { return key(0) };
    if i + 1 == times.len() || track.interpolation() == Interpolation::Step {
        return key(i);
    }
    let d = f64::from(times[i + 1]) - f64::from(times[i]);
    let t = (f64::from(time) - f64::from(times[i])) / d;
    if !cubic {
        return key(i).lerp(key(i + 1), t);
    }
    let (t2, t3) = (t * t, t * t * t);
    key(i) * (2.0 * t3 - 3.0 * t2 + 1.0)
        + value(3 * i + 2) * (d * (t3 - 2.0 * t2 + t))
        + key(i + 1) * (3.0 * t2 - 2.0 * t3)
        + value(3 * i + 3) * (d * (t3 - t2))
}

fn bits<const N: usize>(values: [f32; N]) -> [u32; N] {
    values.map(f32::to_bits)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn tracks_give_the_same_bits_with_any_cursor(
        v in track(vector), q in track(rotation), other in track(rotation),
    ) {
        let (mut own, mut shared) = (TrackCursor::default(), TrackCursor::default());
        for time in played(v.times()) {
            prop_assert_eq!(bits(v.sample(time).to_array()), bits(v.sample_from(&mut own, time).to_array()));
            let off = (v.sample_from(&mut shared, time).as_dvec3() - oracle(&v, time)).length();
            // Times near 100 s have steps of 8e-6; the shortest gap between keys is 1e-3.
            prop_assert!(off < 0.05, "{off} at {time}");
        }
        for time in played(q.times()) {
            let wanted = bits(q.sample(time).to_array());
            prop_assert_eq!(wanted, bits(q.sample_from(&mut own, time).to_array()));
            // Two tracks that take turns with one cursor.
            other.sample_from(&mut shared, time * 0.7);
            prop_assert_eq!(wanted, bits(q.sample_from(&mut shared, time).to_array()));
        }
    }

    #[test]
    fn clips_give_the_same_bits_with_any_cursor(
        v in track(vector), q in track(rotation), s in track(vector), r in track(rotation),
    ) {
        let mut b = Skeleton::builder();
        let root = b.add("root", None, JointTransform::IDENTITY);
        b.add("tip", Some(root), JointTransform::from_translation(Vec3::Y));
        let (skeleton, ids) = b.build().unwrap();
        let first = JointTracks { translation: Some(v), rotation: Some(q), ..JointTracks::new(ids[0]) };
        let second = JointTracks { rotation: Some(r), scale: Some(s), ..JointTracks::new(ids[1]) };
        let both = Clip::new("both", &skeleton, vec![first, second.clone()]).unwrap();
        let one = Clip::new("one", &skeleton, vec![second]).unwrap();
        let rest = Pose::rest(&std::sync::Arc::new(skeleton));
        let mut cursor = ClipCursor::default();
        for i in 0..300 {
            let time = both.start() + 0.037 * (i % 170) as f32;
            // A cursor of one clip serves another.
            for clip in [&both, &one] {
                let (mut with, mut without) = (rest.clone(), rest.clone());
                clip.sample(time, &mut without);
                clip.sample_from(&mut cursor, time, &mut with);
                prop_assert_eq!(with.locals(), without.locals());
            }
        }
    }
}

#[test]
fn playing_a_clip_allocates_nothing() {
    let mut b = Skeleton::builder();
    b.add("root", None, JointTransform::IDENTITY);
    let (skeleton, ids) = b.build().unwrap();
    let turns = (0..50).map(|i| Quat::from_rotation_x(0.3 * i as f32)).collect();
    let turns = Track::new((0..50).map(|i| i as f32).collect(), turns, Interpolation::Linear).unwrap();
    let tracks = JointTracks { rotation: Some(turns), ..JointTracks::new(ids[0]) };
    let clip = Clip::new("turn", &skeleton, vec![tracks]).unwrap();
    let mut pose = Pose::rest(&std::sync::Arc::new(skeleton));
    let mut cursor = ClipCursor::default();
    clip.sample_from(&mut cursor, 0.0, &mut pose);
    let counted = allocation_counter::measure(|| {
        (0..1000).for_each(|i| clip.sample_from(&mut cursor, 0.1 * i as f32, &mut pose));
    });
    assert_eq!(counted.count_total, 0);
}
