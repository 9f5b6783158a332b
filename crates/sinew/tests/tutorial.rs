//! Runs every chapter of the tutorial, whose examples check themselves, and holds the page to their code.
// Chapters share the figure and the pictures.
#![allow(clippy::duplicate_mod)]

#[allow(dead_code)]
#[path = "../examples/tutorial_bake.rs"]
mod bake;
#[allow(dead_code)]
#[path = "../examples/tutorial_figure.rs"]
mod figure;
#[allow(dead_code)]
#[path = "../examples/tutorial_sceptre.rs"]
mod sceptre;
#[allow(dead_code)]
#[path = "../examples/tutorial_telescope.rs"]
mod telescope;
#[allow(dead_code)]
#[path = "../examples/tutorial_walk.rs"]
mod walk;
#[allow(dead_code)]
#[path = "../examples/tutorial_wave.rs"]
mod wave;

#[test]
fn a_figure_is_built_from_linked_parts() {
    figure::run().unwrap();
}

#[test]
fn a_hand_waves_by_keys_of_joints() {
    wave::run().unwrap();
}

#[test]
fn no_foot_slides_in_two_steps_by_keys_of_goals() {
    walk::run().unwrap();
}

#[test]
fn a_sceptre_behaves_once_its_joints_are_locked() {
    sceptre::run().unwrap();
}

#[test]
fn a_telescope_slides_in_the_order_of_precedence() {
    telescope::run().unwrap();
}

#[test]
fn the_walk_and_the_wave_are_baked() {
    bake::run().unwrap();
}

/// Lines without their indentation.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).collect()
}

#[test]
fn code_on_the_page_is_that_of_the_examples() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    let page = std::fs::read_to_string(format!("{root}docs/tutorial.md")).unwrap();
    let (mut source, mut blocks, mut pictures) = (String::new(), 0, 0);
    let mut rest = page.as_str();
    // Each block is a part of the file that the text before it links to last.
    while let Some((before, after)) = rest.split_once("```rust\n") {
        let (code, next) = after.split_once("```").unwrap();
        let link = before.rmatch_indices("](../crates/").find_map(|(at, _)| {
            let (path, _) = before[at + 5..].split_once(')')?;
            path.ends_with(".rs").then_some(path)
        });
        if let Some(path) = link {
            source = std::fs::read_to_string(format!("{root}{path}")).unwrap();
        }
        let (code, file) = (lines(code), lines(&source));
        assert!(code.len() > 2, "{code:?}");
        assert!(
            file.windows(code.len()).any(|part| part == code),
            "not in its example:\n{}",
            code.join("\n")
        );
        blocks += 1;
        rest = next;
    }
    for (at, _) in page.match_indices("](../crates/sinew/pictures/") {
        let (path, _) = page[at + 5..].split_once(')').unwrap();
        assert!(std::path::Path::new(&format!("{root}{path}")).is_file(), "{path}");
        pictures += 1;
    }
    assert!(blocks >= 6 && pictures == 6, "{blocks} blocks, {pictures} pictures");
}
