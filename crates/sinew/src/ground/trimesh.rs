//! Casting on triangle meshes with parry3d.
/// Triangles that rays and spheres are cast on.
pub struct MeshGround;
