//! glTF documents from scratch: a skeleton, a skinned mesh and clips become one file's content.
//!
//! [`document()`] writes them down, [`figure()`] makes a mesh for a skeleton that has none (a BVH), and [`Surface`] is
//! the one shape that all our meshes are made of.

mod document;
mod figure;
mod mesh;
mod surface;

pub use document::{BuildError, document};
pub use figure::figure;
pub use mesh::{Color, Mesh, Part, Vertex};
pub use surface::{Ring, Surface};
