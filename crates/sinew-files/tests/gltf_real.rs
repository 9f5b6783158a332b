//! The real files of the data folder, read, written and damaged.

use std::path::{Path, PathBuf};

use sinew_files::{Model, ReadOptions};

/// The files, or none (said on stderr) where the folder is absent.
fn files() -> Vec<PathBuf> {
    let folder = std::env::var_os("SINEW_DATA").map_or_else(
        || Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).to_path_buf(),
        PathBuf::from,
    );
    let Ok(entries) = std::fs::read_dir(folder.join("gltf")) else {
        eprintln!("{} is absent: the test on real files did nothing", folder.join("gltf").display());
        return Vec::new();
    };
    let mut files: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e != "bin"));
    files.sort();
    files
}

#[test]
fn every_file_reads_without_problems() {
    for file in files() {
        let model = Model::read(&file, &ReadOptions::default()).unwrap();
        assert_eq!(model.problems, []);
        let moved = model.skeleton.joints().zip(&model.bind).filter(|(j, b)| model.skeleton.rest(*j) != *b);
        let moved = moved.count();
        println!(
            "{}: {} joints, {} clips, {} vertices, {} roles, bind differs on {moved}",
            model.name,
            model.skeleton.len(),
            model.clips.len(),
            model.skin.len(),
            model.declared_roles.len()
        );
    }
}
