//! Unusual outputs: paths of inputs, full devices, and names that are no UTF-8.
#![cfg(unix)]

mod plant_support;

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink},
    process::Command,
};

use plant_support::{Place, says};

const ARM: &str = r#"<robot name="rail"><link name="base"/><link name="cart"/>
<joint name="slide" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-0.5" upper="0.5" effort="1" velocity="2"/></joint></robot>"#;

const GOAL: &str = "{\"goals\":[{\"joint\":\"head\",\"position\":[0,1.5,0.1]}]}\n";

#[test]
fn no_input_is_lost_to_an_output() {
    let place = Place::with_walk("inputs");
    place.write("arm.urdf", ARM);
    place.write("goals.jsonl", GOAL);
    place.write("goals.svg", GOAL);
    symlink("goals.jsonl", place.0.join("link.jsonl")).unwrap();
    symlink("arm.urdf", place.0.join("arm.svg")).unwrap();
    symlink("walk.glb", place.0.join("walk.svg")).unwrap();
    for line in [
        "solve walk.glb --goals goals.jsonl -o goals.jsonl",
        "solve walk.glb --goals goals.jsonl -o ./link.jsonl",
        "solve walk.glb --goals link.jsonl -o goals.jsonl",
        "solve walk.glb --goals goals.jsonl -o walk.svg",
        "solve arm.urdf --to 0.2,0,0 -o arm.urdf",
        "reach arm.urdf -o arm.svg",
        "draw arm.urdf -o arm.svg",
        "draw walk.glb -o walk.svg",
        "draw walk.glb --goals goals.svg -o goals.svg",
    ] {
        says(&place.refused(line), &["is an input, which the output would overwrite"]);
    }
    // A model in its solved pose may overwrite the model, and a device may be both.
    place.done("solve walk.glb --chain thigh.L..foot.L --to 0,1,0 -o walk.glb");
    place.done("solve walk.glb --goals /dev/null -o /dev/null");
}

#[test]
fn names_need_not_be_text() {
    let place = Place::with_walk("names");
    let name = |ending: &str| OsString::from(OsStr::from_bytes(&[b"\xff.", ending.as_bytes()].concat()));
    fs::copy(place.0.join("walk.glb"), place.0.join(name("glb"))).unwrap();
    fs::write(place.0.join(name("obj")), "v -9 0 -9\nv -9 0 9\nv 9 0 9\nv 9 0 -9\nf 1 2 3 4\n").unwrap();
    let out = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args([OsStr::new("plant"), &name("glb"), OsStr::new("--ground"), &name("obj")])
        .args([OsStr::new("-o"), &name("vrm"), OsStr::new("--picture"), &name("svg")])
        .current_dir(&place.0)
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    for ending in ["vrm", "svg"] {
        assert!(place.0.join(name(ending)).is_file(), "{ending}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_output_is_named() {
    let place = Place::with_walk("full");
    place.write("goals.jsonl", GOAL);
    let line = "solve walk.glb --goals goals.jsonl -o /dev/full";
    says(&place.failed(line), &["sinew: /dev/full: ", "No space left"]);
    let line = "solve walk.glb --chain thigh.L..foot.L --to 0,1,0 -o /dev/full";
    says(&place.failed(line), &["sinew: /dev/full: ", "No space left"]);
}
