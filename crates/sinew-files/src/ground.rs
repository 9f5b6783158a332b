//! Ground meshes.
