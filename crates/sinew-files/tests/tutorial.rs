//! The last lines of the tutorial: what was baked is written to a glTF file, and is the same when it is read back.
// Chapters share the figure and the pictures.
#![allow(clippy::duplicate_mod)]

#[allow(dead_code)]
#[path = "../../sinew/examples/tutorial_bake.rs"]
mod tutorial_bake;

use std::error::Error;

use sinew_files::{Model, ReadOptions, build};

#[test]
fn what_is_baked_comes_back_from_its_file() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("sinew-tutorial-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("walk.glb");
    let (bind, _, clip) = tutorial_bake::bake()?;
    let mesh = build::figure(bind.skeleton()); // bones of a simple shape: the figure has no skin
    build::document("figure", bind.skeleton(), &mesh, &[clip])?.write(&path)?;

    let model = Model::read(&path, &ReadOptions::default())?;
    std::fs::remove_dir_all(&folder)?;
    let (_, _, clip) = tutorial_bake::bake()?;
    assert_eq!(model.clips[0].name(), "walk and wave");
    let (mut written, mut baked) = (sinew::Pose::rest(&model.skeleton), bind.clone());
    for frame in 0..=48 {
        model.clips[0].sample(frame as f32 / 30.0, &mut written);
        clip.sample(frame as f32 / 30.0, &mut baked);
        written.update();
        baked.update();
        for joint in bind.skeleton().joints() {
            let name = bind.skeleton().name(joint);
            let found = model.skeleton.find(name).ok_or("a joint is lost")?;
            assert!(written.position(found).distance(baked.position(joint)) < 1e-5, "{name}");
        }
    }
    Ok(())
}
