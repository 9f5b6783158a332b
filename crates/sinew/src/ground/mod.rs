//! The ground: what casts find it with, what it is made of, and feet planted on it.

mod cast;
mod mesh;
mod placed;
pub mod plant;
pub mod terrain;
#[cfg(feature = "parry")]
mod trimesh;

pub use cast::{Filter, Ground, Hit, Plane};
pub use mesh::{MeshError, TriangleMesh};
pub use placed::PlacedGround;
#[cfg(feature = "parry")]
pub use trimesh::MeshGround;
