//! The command's canvas, for pictures of the same look without a system font.
#![allow(dead_code)]

#[path = "../../../crates/sinew-cli/src/picture/canvas.rs"]
pub mod canvas;
#[path = "../../../crates/sinew-cli/src/picture/font.rs"]
mod font;
#[path = "../../../crates/sinew-cli/src/picture/path.rs"]
pub mod path;
#[path = "../../../crates/sinew-cli/src/picture/png.rs"]
mod png;
#[path = "../../../crates/sinew-cli/src/picture/save.rs"]
pub mod save;
#[path = "../../../crates/sinew-cli/src/picture/svg.rs"]
mod svg;
