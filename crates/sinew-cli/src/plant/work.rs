//! Planting one clip of one figure on a ground of its own.

use std::time::Instant;

use sinew::{
    Pose,
    ground::{
        MeshGround,
        plant::{
            ClipAnalysis, ClipOptions, Figure, FootholdSearch, Planting, contact::ContactLimits, plant_clip,
            walk_heading,
        },
    },
    motion::Clip,
};

use super::level::{LevelError, Walk};

/// Inputs of planting.
pub struct Task<'a> {
    /// The figure.
    pub figure: &'a Figure,
    /// The figure's rest pose.
    pub rest: &'a Pose,
    /// The clip.
    pub clip: &'a Clip,
    /// Options of planting.
    pub options: ClipOptions,
}

/// Results of planting.
pub struct Done {
    /// The ground, in world space.
    pub ground: MeshGround,
    /// The planted clip, its plan and its report.
    pub planting: Planting,
    /// Duration of planting, in seconds.
    pub seconds: f64,
}

/// Failure of planting.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The ground cannot be made.
    #[error(transparent)]
    Level(#[from] LevelError),
    /// The ground's triangles are not valid.
    #[error("the ground: {0}")]
    Mesh(#[from] sinew::ground::MeshError),
    /// The clip cannot be planted.
    #[error(transparent)]
    Plant(#[from] sinew::ground::plant::PlantError),
}

/// Plants a clip on the mesh that `ground` makes for its walk.
pub fn plant(
    task: &Task<'_>,
    ground: impl FnOnce(&Walk<'_>) -> Result<sinew::ground::TriangleMesh, LevelError>,
) -> Result<Done, WorkError> {
    let began = Instant::now();
    let Task { figure, rest, clip, options } = task;
    let analysis = ClipAnalysis::of(figure, rest, clip, options)?;
    let ground = MeshGround::new(ground(&Walk {
        path: &analysis.pelvis,
        floor: analysis.floor(&ContactLimits::new(figure, &options.planting)),
        heading: walk_heading(&analysis),
        leg: figure.leg_length(),
    })?)?;
    let planting = plant_clip(figure, rest, clip, &ground, options)?;
    Ok(Done { ground, planting, seconds: began.elapsed().as_secs_f64() })
}

/// The foothold search with the plan's settings.
pub fn search<'a>(task: &'a Task<'_>, ground: &'a MeshGround) -> FootholdSearch<'a> {
    FootholdSearch::new(task.figure, ground, &task.options.planting)
}
