//! Ground: casts onto it, meshes and terrains, planting of feet, and walking on it.

mod cast;
mod mesh;
mod placed;
pub mod plant;
mod platform;
pub mod terrain;
#[cfg(feature = "parry")]
mod trimesh;
pub mod walk;

pub use cast::{Filter, Ground, Hit, Plane};
pub use mesh::{MeshError, TriangleMesh};
pub use placed::PlacedGround;
pub use platform::Platform;
#[cfg(feature = "parry")]
pub use trimesh::MeshGround;
