//! Damaged BVH and OBJ files: one clear line each, never a panic. The longer run, which plants what is left, is
//! `lab/fuzz`.

mod dice;

use std::path::Path;

use dice::Dice;
use sinew_files::{Model, ReadOptions, Source, bvh, ground::obj};

const WORDS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "0.5",
    "90",
    "1e-45",
    "1e30",
    "3e38",
    "1e39",
    "1e309",
    "nan",
    "inf",
    "4294967296",
    "99999999999999999999",
    "x",
    "",
    "{",
    "}",
    "End Site",
    "JOINT a",
    "CHANNELS 3",
    "-3/2/1",
];

/// A text with one to three words replaced, dropped or doubled, or cut off.
fn damaged(good: &str, dice: &mut Dice) -> String {
    // Lines stay, as both formats are made of them.
    let mut words: Vec<&str> = good.split_inclusive([' ', '\n']).collect();
    for _ in 0..1 + dice.below(3) {
        if words.len() < 2 {
            break;
        }
        let at = dice.below(words.len());
        match dice.below(8) {
            0 => {
                words.remove(at);
            }
            1 => words.insert(at, words[at]),
            2 if dice.below(4) == 0 => words.truncate(at + 1),
            _ => {
                words[at] = WORDS[dice.below(WORDS.len())];
                words.insert(at + 1, if dice.below(4) == 0 { "\n" } else { " " });
            }
        }
    }
    words.concat()
}

/// Does all that a reader can do with thousands of damaged texts; gives how many were sound.
fn try_all(good: &str, cases: usize, read: impl Fn(&str) -> Result<(), sinew_files::FileError>) -> usize {
    read(good).unwrap();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut sound = 0;
    for _ in 0..cases {
        let text = damaged(good, &mut dice);
        match read(&text) {
            Ok(()) => sound += 1,
            Err(error) => {
                let error = error.to_string();
                assert!(error.lines().count() == 1 && error.contains("bad."), "{error:?} for\n{text}");
            }
        }
    }
    sound
}

const BVH: &str = "\
HIERARCHY
ROOT Hips
{
  OFFSET 0 0.9 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Leg
  {
    OFFSET 0.1 -0.4 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT Foot
    {
      OFFSET 0 -0.4 0
      CHANNELS 1 Xrotation
      End Site
      {
        OFFSET 0 0 0.1
      }
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.04
0 0.9 0 0 0 0 10 20 30 5
0 0.9 0.1 0 90 0 10 20 30 5
0 0.9 0.2 0 180 0 10 20 400 5
";

#[test]
fn thousands_of_damaged_bvh_files() {
    let sound = try_all(BVH, 6000, |text| {
        let model: Model = bvh::from_bytes(text.as_bytes(), Path::new("bad.bvh"), &ReadOptions::default())?;
        let places = model.skeleton.joints().map(|j| model.skeleton.rest(j).translation);
        assert!(places.into_iter().all(|p| p.is_finite()), "{text}");
        for clip in &model.clips {
            assert!(clip.duration().is_finite() && clip.start() <= clip.end(), "{text}");
            let keys = clip.tracks().iter().flat_map(|t| &t.rotation).flat_map(|t| t.values());
            assert!(keys.into_iter().all(|q| q.is_finite()), "{text}");
        }
        assert!(matches!(model.source, Source::Bvh(_)));
        Ok(())
    });
    assert!((300..5400).contains(&sound), "{sound} were sound");
}

const OBJ: &str = "\
# two steps
v -2 0 -2
v 2 0 -2
v 2 0 1
v -2 0 1
vt 0.5 0.5
vn 0 1 0
v -2 0.1 1 1.0
v 2 0.1 1
v 2 0.1 3
v -2 0.1 3
g steps
usemtl stone
f 4 3 2 1
f 4/1/1 5/1/1 6/1/1 3/1/1
f -4 -1 -2 -3
";

#[test]
fn thousands_of_damaged_obj_files() {
    let sound = try_all(OBJ, 6000, |text| {
        let mesh = obj::from_bytes(text.as_bytes(), Path::new("bad.obj"), &ReadOptions::default())?;
        let indices = mesh.triangles.iter().flatten();
        assert!(indices.into_iter().all(|i| (*i as usize) < mesh.positions.len()), "{text}");
        assert!(mesh.positions.iter().all(|p| p.is_finite()), "{text}");
        Ok(())
    });
    assert!((300..5400).contains(&sound), "{sound} were sound");
}

#[test]
fn bytes_that_are_no_text() {
    let mut dice = Dice(7);
    for length in 0..400 {
        let bytes: Vec<u8> = (0..length).map(|_| dice.below(256) as u8).collect();
        assert!(bvh::from_bytes(&bytes, Path::new("bad.bvh"), &ReadOptions::default()).is_err());
        // An OBJ reader passes over lines that it does not know.
        let _ = obj::from_bytes(&bytes, Path::new("bad.obj"), &ReadOptions::default());
    }
}
