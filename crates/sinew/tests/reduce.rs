//! Removal of keys: what is left stays within tolerance of the clip, and is the clip's own.

use std::sync::Arc;

use sinew::{
    JointTransform, Pose, Skeleton,
    glam::{Quat, Vec3},
    motion::{Clip, Interpolation, JointTracks, ReduceError, Track},
};

/// Numbers from 0 to 1, the same on each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.roll() - 0.5, self.roll() - 0.5, self.roll() - 0.5) * size
    }
}

/// A tree of joints, and a clip of random smooth tracks of every interpolation.
fn case(dice: &mut Dice) -> (Pose, Clip) {
    let mut builder = Skeleton::builder();
    let mut joints = Vec::new();
    for n in 0..3 + (8.0 * dice.roll()) as usize {
        let parent = (n > 0).then(|| joints[(n as f32 * dice.roll()) as usize]);
        joints.push(builder.add(format!("{n}"), parent, JointTransform::from_translation(dice.vector(1.0))));
    }
    let (skeleton, ids) = builder.build().unwrap();
    let mut tracks = Vec::new();
    for &joint in &ids {
        let mut track = |size: f32| {
            let kind = [Interpolation::Step, Interpolation::Linear, Interpolation::Cubic];
            let kind = kind[(3.0 * dice.roll()) as usize];
            let (a, b, rate) = (dice.vector(size), dice.vector(size), 1.0 + 3.0 * dice.roll());
            let count = 1 + (40.0 * dice.roll()) as usize;
            let times: Vec<f32> = (0..count).map(|k| k as f32 / 30.0).collect();
            let at = move |t: f32| a * (rate * t).sin() + b * (0.7 * rate * t).cos();
            let slope = move |t: f32| a * rate * (rate * t).cos() - b * 0.7 * rate * (0.7 * rate * t).sin();
            (times, at, slope, kind)
        };
        let (times, at, slope, kind) = track(0.4);
        let value = |&t: &f32| {
            if kind == Interpolation::Cubic { vec![slope(t), at(t), slope(t)] } else { vec![at(t)] }
        };
        let values = times.iter().flat_map(value).collect();
        let translation = Some(Track::new(times, values, kind).unwrap());
        let (times, at, _, kind) = track(2.0);
        let kind = if kind == Interpolation::Cubic { Interpolation::Linear } else { kind };
        let values = times.iter().map(|&t| Quat::from_scaled_axis(at(t))).collect();
        let rotation = Some(Track::new(times, values, kind).unwrap());
        tracks.push(JointTracks { translation, rotation, ..JointTracks::new(joint) });
    }
    let clip = Clip::new("random", &skeleton, tracks).unwrap();
    (Pose::rest(&Arc::new(skeleton)), clip)
}

/// The keys of all tracks: time, and values as bits.
fn keys(clip: &Clip) -> Vec<Vec<(u32, Vec<u32>)>> {
    let mut all = Vec::new();
    for tracks in clip.tracks() {
        let translation = tracks.translation.as_ref().unwrap();
        let rotation = tracks.rotation.as_ref().unwrap();
        let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        let per_key = translation.values().len() / translation.times().len();
        let values = translation.values().chunks(per_key);
        let values = values.map(|c| bits(&c.iter().flat_map(|v| v.to_array()).collect::<Vec<_>>()));
        all.push(translation.times().iter().map(|t| t.to_bits()).zip(values).collect());
        let values = rotation.values().iter().map(|v| bits(&v.to_array()));
        all.push(rotation.times().iter().map(|t| t.to_bits()).zip(values).collect());
    }
    all
}

#[test]
fn what_is_left_is_within_tolerance_and_the_clips_own() {
    let mut dice = Dice(7);
    let (mut left, mut all) = (0, 0);
    for _ in 0..60 {
        let (rest, clip) = case(&mut dice);
        let tolerances: Vec<f32> = rest.skeleton().joints().map(|_| 0.02 * dice.roll()).collect();
        let reduced = clip.reduced(&rest, |joint, time| tolerances[joint.index()] * (1.0 + time)).unwrap();
        assert_eq!((reduced.start(), reduced.end()), (clip.start(), clip.end()));
        for (own, given) in keys(&clip).iter().zip(keys(&reduced)) {
            assert_eq!((own.first(), own.last()), (given.first(), given.last()));
            assert!(given.iter().all(|key| own.contains(key)));
            (left, all) = (left + given.len(), all + own.len());
        }
        let (mut a, mut b) = (rest.clone(), rest.clone());
        for step in 0..=80 {
            let time = step as f32 / 60.0;
            clip.sample(time, &mut a);
            reduced.sample(time, &mut b);
            for joint in rest.skeleton().joints() {
                let (off, most) = (a.position(joint).distance(b.position(joint)), tolerances[joint.index()]);
                // Half-way between keys is a multiple of 1/60 s, rounded.
                assert!(off <= most * (1.0 + time) + 1e-5, "{off} of {most} at {time}");
            }
        }
        // The same again, and nothing more to remove.
        assert_eq!(clip.reduced(&rest, |j, t| tolerances[j.index()] * (1.0 + t)).unwrap(), reduced);
    }
    assert!(4 * left < 3 * all, "{left} of {all} keys are left");
}

#[test]
fn without_a_tolerance_only_keys_that_do_nothing_go() {
    let mut builder = Skeleton::builder();
    builder.add("root", None, JointTransform::IDENTITY);
    let rest = Pose::rest(&Arc::new(builder.build().unwrap().0));
    let root = rest.skeleton().joints().next().unwrap();
    let values = [0.0, 0.0, 0.0, 1.0, 1.0, 4.0].map(|x| Vec3::X * x).to_vec();
    let track = |kind| Track::new((0..6).map(|k| k as f32).collect(), values.clone(), kind).unwrap();
    for (kind, wanted) in
        [(Interpolation::Linear, vec![0.0, 2.0, 3.0, 4.0, 5.0]), (Interpolation::Step, vec![0.0, 3.0, 5.0])]
    {
        let tracks = vec![JointTracks { translation: Some(track(kind)), ..JointTracks::new(root) }];
        let clip = Clip::new("", rest.skeleton(), tracks).unwrap();
        let reduced = clip.reduced(&rest, |_, _| 0.0).unwrap();
        assert_eq!(reduced.tracks()[0].translation.as_ref().unwrap().times(), wanted);
    }
}

#[test]
fn bad_input_is_named_and_huge_values_keep_their_keys() {
    let (rest, clip) = case(&mut Dice(3));
    for bad in [-1.0, f32::NAN, f32::INFINITY] {
        let error = clip.reduced(&rest, |_, time| if time > 0.5 { bad } else { 1.0 }).unwrap_err();
        assert!(matches!(error, ReduceError::Tolerance { time, .. } if time > 0.5), "{error}");
        assert!(error.to_string().contains(&bad.to_string()), "{error}");
    }
    let mut builder = Skeleton::builder();
    builder.add("alone", None, JointTransform::IDENTITY);
    let alone = Pose::rest(&Arc::new(builder.build().unwrap().0));
    assert!(matches!(clip.reduced(&alone, |_, _| 1.0), Err(ReduceError::Clip(_))));
    // More than memory should be spent on.
    let times: Vec<f32> = (0..5_000_001).map(|k| k as f32).collect();
    let track = Track::new(times.clone(), vec![Vec3::ZERO; times.len()], Interpolation::Linear).unwrap();
    let only = alone.skeleton().joints().next().unwrap();
    let tracks = vec![JointTracks { translation: Some(track), ..JointTracks::new(only) }];
    let long = Clip::new("long", alone.skeleton(), tracks).unwrap();
    let error = long.reduced(&alone, |_, _| 1.0).unwrap_err();
    assert!(error.to_string().contains("`long`") && matches!(error, ReduceError::TooLong { .. }), "{error}");
    // Differences overflow; nothing can be said of such keys, so they stay.
    let values = vec![Vec3::splat(3e38), Vec3::splat(-3e38), Vec3::splat(3e38)];
    let track = Track::new(vec![0.0, 1.0, 2.0], values, Interpolation::Linear).unwrap();
    let root = alone.skeleton().joints().next().unwrap();
    let tracks = vec![JointTracks { translation: Some(track), ..JointTracks::new(root) }];
    let huge = Clip::new("", alone.skeleton(), tracks).unwrap();
    assert_eq!(huge.reduced(&alone, |_, _| 1.0).unwrap(), huge);
}

#[test]
fn a_long_clip_that_stands_is_reduced_at_once() {
    let mut builder = Skeleton::builder();
    let root = builder.add("root", None, JointTransform::IDENTITY);
    builder.add("tip", Some(root), JointTransform::from_translation(Vec3::Y));
    let (skeleton, ids) = builder.build().unwrap();
    let rest = Pose::rest(&Arc::new(skeleton));
    let times: Vec<f32> = (0..100_000).map(|k| k as f32 / 60.0).collect();
    let track = Track::new(times.clone(), vec![Quat::IDENTITY; times.len()], Interpolation::Linear).unwrap();
    let tracks = vec![JointTracks { rotation: Some(track), ..JointTracks::new(ids[0]) }];
    let clip = Clip::new("", rest.skeleton(), tracks).unwrap();
    let start = std::time::Instant::now();
    let reduced = clip.reduced(&rest, |_, _| 0.001).unwrap();
    assert_eq!(reduced.tracks()[0].rotation.as_ref().unwrap().times().len(), 2);
    // A second here; in the square of the number of keys it would take hours.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
