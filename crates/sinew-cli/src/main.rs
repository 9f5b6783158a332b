//! The command.
#[allow(dead_code)] // Until `plant` and `draw` are wired.
mod draw;
#[allow(dead_code)] // Until `plant` and `draw` are wired.
mod picture;

fn main() {}
