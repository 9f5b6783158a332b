//! Building of glTF documents from a skeleton, a skinned mesh and clips.
//!
//! [`document()`] builds the document, [`figure()`] builds a mesh for a skeleton that has none (as from a BVH), and
//! [`Surface`] is the shape that all these meshes consist of.

mod document;
mod figure;
mod mesh;
mod surface;

pub use document::{BuildError, document};
pub use figure::figure;
pub use mesh::{Color, Mesh, Part, Vertex};
pub use surface::{Ring, Surface};
