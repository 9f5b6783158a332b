//! BVH out: what was read comes back, and what cannot be said is refused.

mod bvh_support;
mod real;

use std::{fs, path::Path};

use bvh_support::{FILES, folder};
use real::data;
use sinew::{
    glam::{Quat, Vec3},
    math,
    motion::{Clip, Interpolation, JointTracks, Track},
};
use sinew_files::{FileError, Model, ReadOptions, Source, UpAxis, bvh::Bvh};

fn source(model: &Model) -> &Bvh {
    match &model.source {
        Source::Bvh(bvh) => bvh,
        other => panic!("{other:?}"),
    }
}

/// Angle between rotations, in degrees, in f64.
fn apart(a: Quat, b: Quat) -> f64 {
    let unit = |q: Quat| {
        let q = [q.x, q.y, q.z, q.w].map(f64::from);
        let l = q.iter().map(|c| c * c).sum::<f64>().sqrt();
        q.map(|c| c / l)
    };
    let (a, b) = (unit(a), unit(b));
    let sign = a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>().signum();
    let chord = a.iter().zip(b).map(|(x, y)| (x - sign * y).powi(2)).sum::<f64>().sqrt();
    (4.0 * (0.5 * chord).asin()).to_degrees()
}

/// Largest difference of rotations (degrees) and translations (metres), key by key.
fn difference(a: &Clip, b: &Clip) -> (f64, f32) {
    assert_eq!(a.tracks().len(), b.tracks().len());
    let (mut turn, mut way) = (0.0f64, 0.0f32);
    for (a, b) in a.tracks().iter().zip(b.tracks()) {
        assert_eq!(a.joint, b.joint);
        if let (Some(a), Some(b)) = (&a.rotation, &b.rotation) {
            assert_eq!(a.times(), b.times());
            turn = a.values().iter().zip(b.values()).map(|(a, b)| apart(*a, *b)).fold(turn, f64::max);
        }
        assert_eq!(a.rotation.is_some(), b.rotation.is_some());
        if let (Some(a), Some(b)) = (&a.translation, &b.translation) {
            assert_eq!(a.times(), b.times());
            way = a.values().iter().zip(b.values()).map(|(a, b)| (*a - *b).length()).fold(way, f32::max);
        }
        assert_eq!(a.translation.is_some(), b.translation.is_some());
    }
    (turn, way)
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn real_files_come_back() {
    let folder = folder("bvh-round");
    for name in FILES {
        let path = data(&format!("bvh/{name}.bvh"));
        for options in [
            ReadOptions { scale: 0.056_444, ..ReadOptions::default() },
            ReadOptions { scale: 0.01, up: UpAxis::Z, ..ReadOptions::default() },
        ] {
            let model = Model::read(&path, &options).unwrap();
            let out = folder.join(format!("{name}.bvh"));
            source(&model).write(&out, &model.skeleton, &model.clips[0], None).unwrap();
            let again = Model::read(&out, &options).unwrap();
            assert_eq!(model.skeleton, again.skeleton);
            assert_eq!(source(&model).frame_time(), source(&again).frame_time());
            let (turn, way) = difference(&model.clips[0], &again.clips[0]);
            assert!(turn < 1e-4 && way < 1e-5, "{name}: {turn} degrees, {way} m");
            // The hierarchy, letter by letter.
            let [before, after] = [&path, &out].map(|p| fs::read_to_string(p).unwrap());
            let end = before.find("MOTION").unwrap();
            assert_eq!(before[..end], after[..after.find("MOTION").unwrap()]);
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Every order of rotation channels with angles through and near gimbal lock, and past full turns.
#[test]
fn every_order_comes_back_through_gimbal_lock() {
    let folder = folder("bvh-orders");
    let path = folder.join("orders.bvh");
    let mut text = String::from("HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\n");
    for order in ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"] {
        let names: Vec<_> = order.chars().map(|c| format!("{c}rotation")).collect();
        text += &format!("JOINT {order}\n{{\nOFFSET 0 1 0\nCHANNELS 3 {}\n}}\n", names.join(" "));
    }
    for two in ["XY", "XZ", "YX", "YZ", "ZX", "ZY"] {
        let names: Vec<_> = two.chars().map(|c| format!("{c}rotation")).collect();
        text += &format!("JOINT {two}\n{{\nOFFSET 0 1 0\nCHANNELS 2 {}\n}}\n", names.join(" "));
    }
    text += "JOINT Y\n{\nOFFSET 0 1 0\nCHANNELS 2 Zposition Yrotation\n}\n}\nMOTION\nFrames: 361\nFrame Time: 0.01\n";
    for frame in 0..361 {
        let a = f64::from(frame);
        let three = format!("{} {} {} ", 40.0 + a, a, 3.0 * a - 70.0);
        let two = format!("{} {} ", a, 90.0 - 2.0 * a);
        text += &format!("{}{}{} {a}\n", three.repeat(6), two.repeat(6), a * 0.01);
    }
    fs::write(&path, &text).unwrap();
    let model = Model::read(&path, &ReadOptions::default()).unwrap();
    let out = folder.join("out.bvh");
    source(&model).write(&out, &model.skeleton, &model.clips[0], None).unwrap();
    let again = Model::read(&out, &ReadOptions::default()).unwrap();
    let (turn, way) = difference(&model.clips[0], &again.clips[0]);
    assert!(turn < 1e-4 && way < 1e-5, "{turn} degrees, {way} m");
    fs::remove_dir_all(folder).unwrap();
}

const SMALL: &str = "HIERARCHY\r\nROOT hips\r\n{\r\n\tOFFSET 0 0 0\r\n\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\r\n\tJOINT knee\r\n\t{\r\n\t\tOFFSET 0 -40 0\r\n\t\tCHANNELS 1 Xrotation\r\n\t\tEnd Site\r\n\t\t{\r\n\t\t\tOFFSET 0 -40 0\r\n\t\t}\r\n\t}\r\n}\r\nMOTION\r\nFrames: 3\r\nFrame Time: 0.0333333\r\n0 90 0 0 0 0 10\r\n0 91 5 0 0 0 20\r\n0 90 10 0 0 0 10\r\n";

fn small(folder: &Path) -> Model {
    let path = folder.join("small.bvh");
    fs::write(&path, SMALL).unwrap();
    Model::read(&path, &ReadOptions { scale: 0.01, up: UpAxis::Y, ..ReadOptions::default() }).unwrap()
}

#[test]
fn text_is_the_file_s_own_and_rates_can_be_chosen() {
    let folder = folder("bvh-rate");
    let model = small(&folder);
    let out = folder.join("out.bvh");
    let clip = &model.clips[0];
    source(&model).write(&out, &model.skeleton, clip, None).unwrap();
    let text = fs::read_to_string(&out).unwrap();
    assert!(text.contains("Frames: 3\r\nFrame Time: 0.0333333\r\n"));
    assert!(text.ends_with("\r\n") && !text.replace("\r\n", "").contains(['\r', '\n']));
    source(&model).write(&out, &model.skeleton, clip, Some(0.0333333 / 4.0)).unwrap();
    let finer =
        Model::read(&out, &ReadOptions { scale: 0.01, up: UpAxis::Y, ..ReadOptions::default() }).unwrap();
    let track = finer.clips[0].tracks()[0].translation.clone().unwrap();
    assert_eq!(track.times().len(), 9);
    // A quarter of the way from 0.90 to 0.91 m.
    assert!((track.values()[1].y - 0.9025).abs() < 1e-6);
    let knee = finer.clips[0].tracks()[1].rotation.clone().unwrap();
    assert!(apart(knee.values()[2], math::axis_angle(Vec3::X, 15f32.to_radians())) < 1e-4);
    for bad in [0.0, -1.0, f64::NAN, 1e-30] {
        let error = source(&model).write(&out, &model.skeleton, clip, Some(bad)).unwrap_err();
        assert!(matches!(error, FileError::At { at, .. } if at == "frame time"));
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_channels_cannot_say_names_the_joint_and_harms_nothing() {
    let folder = folder("bvh-refuse");
    let model = small(&folder);
    let knee = model.skeleton.find("knee").unwrap();
    let out = folder.join("out.bvh");
    fs::write(&out, "before").unwrap();
    let refuse = |track: JointTracks, says: &str| {
        let clip = Clip::new("c", &model.skeleton, vec![track]).unwrap();
        let error = source(&model).write(&out, &model.skeleton, &clip, None).unwrap_err().to_string();
        assert!(error.contains("joint `knee`") && error.contains(says), "{error}");
        assert_eq!(fs::read_to_string(&out).unwrap(), "before");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    };
    let one = |v: Vec3| Some(Track::new(vec![0.0], vec![v], Interpolation::Linear).unwrap());
    refuse(
        JointTracks { translation: one(Vec3::new(0.0, -0.401, 0.0)), ..JointTracks::new(knee) },
        "Yposition",
    );
    refuse(JointTracks { scale: one(Vec3::new(1.0, 1.1, 1.0)), ..JointTracks::new(knee) }, "scale");
    let aslant = math::axis_angle(Vec3::Y, 0.01);
    let rotation = Track::new(vec![0.0], vec![aslant], Interpolation::Linear).unwrap();
    refuse(JointTracks { rotation: Some(rotation), ..JointTracks::new(knee) }, "turns by 0.0");
    // Where the clip stays at the offset, all is well.
    let still = JointTracks { translation: one(Vec3::new(0.0, -0.400_005, 0.0)), ..JointTracks::new(knee) };
    let clip = Clip::new("c", &model.skeleton, vec![still]).unwrap();
    source(&model).write(&out, &model.skeleton, &clip, None).unwrap();
    // An output folder that does not exist.
    let nowhere = folder.join("no/such/out.bvh");
    let error = source(&model).write(&nowhere, &model.skeleton, &clip, None).unwrap_err();
    assert!(matches!(error, FileError::Io { .. }));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn another_skeleton_is_refused() {
    let folder = folder("bvh-other");
    let model = small(&folder);
    let mut builder = sinew::Skeleton::builder();
    builder.add("hips", None, sinew::JointTransform::IDENTITY);
    let other = std::sync::Arc::new(builder.build().unwrap().0);
    let error = source(&model).write(&folder.join("o.bvh"), &other, &model.clips[0], None).unwrap_err();
    assert!(error.to_string().contains("not the one that was read"));
    fs::remove_dir_all(folder).unwrap();
}
