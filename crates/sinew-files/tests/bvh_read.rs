//! BVH in: real files against a second forward kinematics, every freedom of the format, and everything that lies.

mod bvh_support;
mod real;

use std::{fs, path::Path};

use bvh_support::{FILES, places};
use real::data;
use sinew::{JointId, Pose, glam::Vec3};
use sinew_files::{FileError, Model, ReadOptions, UpAxis, bvh};

#[test]
#[ignore = "needs SINEW_DATA"]
fn real_files_stand_where_euler_matrices_put_them() {
    for name in FILES {
        let path = data(&format!("bvh/{name}.bvh"));
        let expected = places(&fs::read_to_string(&path).unwrap());
        for (scale, up) in [(1.0f32, UpAxis::Y), (0.056_444, UpAxis::Y), (0.01, UpAxis::Z)] {
            let model = Model::read(&path, &ReadOptions { scale, up, ..ReadOptions::default() }).unwrap();
            assert_eq!(model.name, name);
            assert_eq!(model.clips.len(), 1, "{name}");
            let clip = &model.clips[0];
            assert_eq!(clip.name(), name);
            let mut pose = Pose::rest(&model.skeleton);
            let step = f64::from(clip.duration()) / (expected.len() - 1).max(1) as f64;
            for frame in (0..expected.len()).step_by(37) {
                clip.sample((frame as f64 * step) as f32, &mut pose);
                pose.update();
                assert_eq!(expected[frame].len(), model.skeleton.len());
                for (joint, place) in model.skeleton.joints().zip(&expected[frame]) {
                    let [x, y, z] = place.map(|c| c * f64::from(scale));
                    let expected = if up == UpAxis::Y { [x, y, z] } else { [x, z, -y] };
                    let off = (pose.position(joint).as_dvec3() - sinew::glam::DVec3::from(expected)).length();
                    // f32 holds 7 digits of the way from the origin; a time between two frames costs as much.
                    let allowed = 2e-5 * (1.0 + x.abs() + y.abs() + z.abs());
                    assert!(off < allowed, "{name} frame {frame} {}: {off}", model.skeleton.name(joint));
                }
            }
        }
    }
}

#[test]
fn the_frame_time_is_read_to_its_last_digit() {
    let text = SMALL.replace("0.5", "0.0083333333333333333");
    let model = read(&text).unwrap();
    let times = model.clips[0].tracks()[0].rotation.as_ref().unwrap().times().to_vec();
    assert_eq!(times, [0.0, (1.0f64 / 120.0) as f32, (2.0f64 / 120.0) as f32]);
}

const SMALL: &str = "HIERARCHY
ROOT Hips
{
  OFFSET 0 1 0
  CHANNELS 6 Zrotation Xposition Xrotation Yposition Yrotation Zposition
  JOINT Left Leg
  {
    OFFSET 0 -1 0
    CHANNELS 2 Yposition Xrotation
    End Site
    {
      OFFSET 0 0 2
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.5
0 1 0 2 0 3 -1 0
90 1 0 2 0 3 -1.5 90
90 1 90 2 90 3 -1 0
";

fn read_as(text: &str, options: &ReadOptions) -> Result<Model, FileError> {
    bvh::from_bytes(text.as_bytes(), Path::new("small.bvh"), options)
}

fn read(text: &str) -> Result<Model, FileError> {
    read_as(text, &ReadOptions::default())
}

fn find(model: &Model, name: &str) -> JointId {
    model.skeleton.find(name).unwrap_or_else(|| panic!("no joint `{name}`"))
}

/// Where a joint is at a time.
fn place(model: &Model, name: &str, time: f32) -> Vec3 {
    let mut pose = Pose::rest(&model.skeleton);
    model.clips[0].sample(time, &mut pose);
    pose.position(find(model, name))
}

fn near(a: Vec3, b: [f32; 3]) {
    assert!((a - Vec3::from(b)).length() < 2e-6, "{a} is not {b:?}");
}

#[test]
fn channels_of_any_order_on_any_joint() {
    let model = read(SMALL).unwrap();
    let names: Vec<_> = model.skeleton.joints().map(|j| model.skeleton.name(j)).collect();
    assert_eq!(names, ["Hips", "Left Leg", "Left Leg end"]);
    // Position channels replace the offset; the leg keeps the offset's x and z.
    near(place(&model, "Hips", 0.0), [1.0, 2.0, 3.0]);
    near(place(&model, "Left Leg", 0.0), [1.0, 1.0, 3.0]);
    near(place(&model, "Left Leg end", 0.0), [1.0, 1.0, 5.0]);
    // A quarter turn about z takes -y to x; the leg's own about x takes z to -y, which is x then.
    near(place(&model, "Left Leg", 0.5), [2.5, 2.0, 3.0]);
    near(place(&model, "Left Leg end", 0.5), [4.5, 2.0, 3.0]);
    // Rz Rx Ry on -y: Ry leaves it, Rx makes it -z, Rz leaves that.
    near(place(&model, "Left Leg", 1.0), [1.0, 2.0, 2.0]);
    // The rest pose is the offsets.
    let rest = Pose::rest(&model.skeleton);
    near(rest.position(find(&model, "Left Leg end")), [0.0, 0.0, 2.0]);
    assert_eq!(model.clips[0].name(), "small");
}

#[test]
fn scale_and_axes_are_converted() {
    let model =
        read_as(SMALL, &ReadOptions { scale: 0.01, up: UpAxis::Z, ..ReadOptions::default() }).unwrap();
    // Everything as before, turned: (x, y, z) to (x, z, -y).
    near(place(&model, "Left Leg end", 0.5), [0.045, 0.03, -0.02]);
    near(place(&model, "Left Leg", 1.0), [0.01, 0.02, -0.02]);
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let error = read_as(SMALL, &ReadOptions { scale, ..Default::default() }).unwrap_err();
        assert!(matches!(error, FileError::At { at, .. } if at == "scale"));
    }
}

#[test]
fn layout_does_not_matter() {
    let expected = read(SMALL).unwrap();
    let crlf = SMALL.replace('\n', "\r\n").replace("  ", "\t");
    let lower = SMALL
        .to_lowercase()
        .replace("hips", "Hips")
        .replace("left leg", "Left Leg")
        .replace("frames: 3", "frames:\t3");
    let tight = SMALL.replace("\n{", " {").replace("\n  {", "{").replace("\n}", "}");
    let loose = format!("\u{feff}\n\n{}\n\n \n", SMALL.replace('\n', "\n\n"));
    for text in [crlf, lower, tight, loose] {
        let model = read(&text).unwrap();
        assert_eq!(model.skeleton, expected.skeleton);
        assert_eq!(model.clips, expected.clips);
    }
}

#[test]
fn several_roots_stand_side_by_side() {
    let second = "ROOT Prop\n{\nOFFSET 5 0 0\nCHANNELS 1 Yrotation\n}\nMOTION";
    let text = SMALL.replace("MOTION", second);
    let text: String = text
        .lines()
        .map(|l| if l.starts_with(['0', '9']) { format!("{l} 45\n") } else { format!("{l}\n") })
        .collect();
    let model = read(&text).unwrap();
    let prop = find(&model, "Prop");
    assert_eq!(model.skeleton.parent(prop), None);
    near(place(&model, "Prop", 0.0), [5.0, 0.0, 0.0]);
}

#[test]
fn nothing_that_moves_is_no_clip() {
    let header = &SMALL[..SMALL.find("MOTION").unwrap()];
    for motion in ["", "MOTION\n", "MOTION\nFrames: 0\n", "MOTION\nFrames: 0\nFrame Time: 0.1\n"] {
        let model = read(&format!("{header}{motion}")).unwrap();
        assert!(model.clips.is_empty() && model.skeleton.len() == 3, "{motion:?}");
    }
    let still = "HIERARCHY\nROOT a\n{\nOFFSET 1 2 3\n}\nMOTION\nFrames: 9\nFrame Time: 0.1\n\n\n";
    assert!(read(still).unwrap().clips.is_empty());
    let one =
        "HIERARCHY\nROOT a\n{\nOFFSET 1 2 3\nCHANNELS 1 Xrotation\n}\nMOTION\nFrames: 1\nFrame Time: 0\n9\n";
    assert_eq!(read(one).unwrap().clips[0].duration(), 0.0);
}

#[test]
fn lies_are_told_with_their_line() {
    let cases: [(&str, &str, usize, &str); 24] = [
        ("Frames: 3", "Frames: 2", 21, "more frames than the 2"),
        ("Frames: 3", "Frames: 4", 21, "after 3 of the 4 frames"),
        ("Frames: 3", "Frames: 99999999999999", 21, "after 3"),
        ("Frames: 3", "Frames: -3", 17, "`-3`"),
        ("Frames: 3", "Bilder: 3", 17, "`Bilder: 3`"),
        ("Frame Time: 0.5", "0.5", 18, "must be `frame time: ...`, not `0.5`"),
        ("Frame Time: 0.5", "Frame Time: 0", 18, "must be greater than 0 seconds, not 0"),
        ("Frame Time: 0.5", "Frame Time: nan", 18, "not finite"),
        ("Frame Time: 0.5", "Frame Time: 1e-60", 18, "not after"),
        ("90 1 0 2 0 3 -1.5 90", "90 1 0 2 0 3 -1.5", 20, "7 values for the 8 channels"),
        ("90 1 0 2 0 3 -1.5 90", "90 1 0 2 0 3 -1.5 90 0", 20, "9 values for the 8"),
        ("90 1 0 2 0 3 -1.5 90", "90 1 0 2 0 3 NaN 90", 20, "`NaN` is not finite"),
        ("90 1 0 2 0 3 -1.5 90", "90 1 0 2 0 3 1e999 90", 20, "not finite"),
        ("90 1 0 2 0 3 -1.5 90", "90 1 0 2 0 1e300 -1 90", 20, "too large"),
        ("90 1 0 2 0 3 -1.5 90", "90 1 0 2 0 3 x 90", 20, "`x` is not a number"),
        ("CHANNELS 2 Y", "CHANNELS 3 Y", 9, "the count `3`, but names 2"),
        ("CHANNELS 2 Yposition", "CHANNELS 2 Yscale", 9, "scale is not supported"),
        ("CHANNELS 2 Yposition", "CHANNELS 2 Xrotation", 9, "is named twice"),
        ("CHANNELS 2 Yposition", "CHANNELS 2 \u{e4}position", 9, "is not a channel"),
        ("OFFSET 0 -1 0", "OFFSET 0 -1", 8, "needs 3 numbers, not 2"),
        ("OFFSET 0 -1 0", "OFFSET 0 inf 0", 8, "not finite"),
        ("OFFSET 0 -1 0", "OFFSET 0 1e39 0", 6, "`Left Leg` is too large"),
        ("HIERARCHY", "HIERARCH", 1, "starts with HIERARCHY"),
        ("    OFFSET 0 -1 0\n", "", 6, "no OFFSET"),
    ];
    for (from, to, wanted, says) in cases {
        assert!(SMALL.contains(from), "{from}");
        match read(&SMALL.replacen(from, to, 1)) {
            Err(FileError::Line { line, what, path }) => {
                assert_eq!(line, wanted, "{to}: {what}");
                assert!(what.contains(says), "{to}: {what}");
                assert!(!what.contains('\n') && path.ends_with("small.bvh"));
            }
            other => panic!("{to}: {other:?}"),
        }
    }
}

#[test]
fn damage_anywhere_is_an_error_or_a_model_but_no_panic() {
    let read = |bytes: &[u8]| bvh::from_bytes(bytes, Path::new("small.bvh"), &ReadOptions::default());
    let (mut good, mut bad) = (0, 0);
    for end in 0..SMALL.len() {
        let result = read(&SMALL.as_bytes()[..end]);
        // Only cuts that leave a whole hierarchy and no promise of frames can be read, or lose the last line end or digit.
        let cut = end <= SMALL.find("Frames").unwrap() || end + 2 > SMALL.len();
        assert!(result.is_err() || cut, "{end}");
    }
    for at in 0..SMALL.len() {
        for byte in [b'{', b'}', b'\n', b'9', b'e', b' ', 0xff] {
            let mut bytes = SMALL.as_bytes().to_vec();
            bytes[at] = byte;
            match read(&bytes) {
                Ok(_) => good += 1,
                Err(FileError::Line { .. }) => bad += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(good > 100 && bad > 100, "{good} {bad}");
    let absent = Model::read(Path::new("no-such-folder/x.bvh"), &ReadOptions::default());
    assert!(matches!(absent, Err(FileError::Io { .. })));
}

#[test]
fn a_hundred_thousand_deep_is_no_trouble() {
    let mut text = String::from("HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 1 Yrotation\n");
    for _ in 1..100_000 {
        text += "JOINT j\n{\nOFFSET 0 0 0.001\nCHANNELS 1 Yrotation\n";
    }
    text += &"}\n".repeat(100_000);
    text += &format!("MOTION\nFrames: 1\nFrame Time: 0.1\n{}\n", "0 ".repeat(100_000));
    let model = read(&text).unwrap();
    let deepest = model.skeleton.joint_at(99_999).unwrap();
    assert_eq!(model.skeleton.ancestors(deepest).count(), 99_999);
    let error = read(&text[..text.len() / 2]).unwrap_err();
    assert!(matches!(error, FileError::Line { .. }));
}
