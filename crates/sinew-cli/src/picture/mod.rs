//! Pictures of a pose, and of a walk before and after planting.
//!
//! A picture is drawn on a [`canvas::Canvas`], whose marks become PNG or SVG.

pub mod axis;
pub mod canvas;
pub mod figure;
pub mod path;
pub mod plant;
pub mod pose;
pub mod save;
pub mod style;
pub mod view;
pub mod walk;

mod font;
mod heights;
mod png;
mod profile;
mod scene;
mod svg;

#[cfg(test)]
mod tests;
