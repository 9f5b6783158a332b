//! A clip with its figure, loop and travel, sampled at any time.

use std::path::Path;

use sinew::{
    Placement, Pose,
    body::BodyRoles,
    glam::{Affine3, Vec3},
    ground::plant::{ClipAnalysis, Figure, PlantOptions, contact::ContactLimits, walk_heading},
    motion::Clip,
};
use sinew_files::{Model, ReadOptions, sample};

/// A clip of a file, or the sample.
pub struct Case {
    /// Name in the table.
    pub name: &'static str,
    file: Option<&'static str>,
    clip: Option<&'static str>,
    scale: Option<f32>,
    /// Seconds that are left out: some recordings begin with a reference pose.
    skip: f32,
}

const fn case(
    name: &'static str,
    file: Option<&'static str>,
    clip: Option<&'static str>,
    scale: Option<f32>,
) -> Case {
    Case { name, file, clip, scale, skip: 0.0 }
}

/// Metres a unit in the CMU clips.
const CMU: Option<f32> = Some(0.056444);
const KNIGHT: Option<&str> = Some("gltf/KayKit_Knight.glb");

/// Every clip of the list.
pub const CASES: &[Case] = &[
    case("sample", None, None, None),
    case("knight-walk", KNIGHT, Some("Walking_A"), None),
    case("knight-run", KNIGHT, Some("Running_A"), None),
    case("knight-back", KNIGHT, Some("Walking_Backwards"), None),
    case("cesium-walk", Some("gltf/CesiumMan.gltf"), None, None),
    case("mannequiny-run", Some("gltf/mannequiny.glb"), Some("run_root.001"), None),
    Case { skip: 0.1, ..case("cmu-walk", Some("bvh/cmu_12_01_walk.bvh"), None, CMU) },
    case("amc-run", Some("bvh/amc_02_03_run.bvh"), None, CMU),
    case("m2m-squat", Some("gltf/m2m_human_sample-rig.glb"), None, None),
];

/// A figure and its clip.
pub struct Walker {
    /// The figure.
    pub figure: Figure,
    /// Its rest pose.
    pub rest: Pose,
    /// The clip.
    pub clip: Clip,
    analysis: ClipAnalysis,
}

impl Walker {
    /// Reads one; none where the file is absent.
    pub fn read(case: &Case, data: &Path) -> Result<Option<Self>, String> {
        let model = match case.file.map(|f| data.join(f)) {
            Some(path) if !path.exists() => return Ok(None),
            Some(path) => {
                let options = ReadOptions { scale: case.scale.unwrap_or(1.0), ..ReadOptions::default() };
                Model::read(&path, &options).map_err(|e| e.to_string())?
            }
            None => sample::mannequin().map_err(|e| e.to_string())?,
        };
        let figure = figure(&model)?;
        let clip = match case.clip {
            Some(name) => model.clips.iter().find(|c| c.name() == name),
            None => model.clips.first(),
        };
        let clip = clip.ok_or("no such clip")?.clone();
        let rest = Pose::rest(&model.skeleton);
        let analysis = ClipAnalysis::new(&figure, &clip, &rest, 1.0 / 120.0, 1, None);
        let mut analysis = analysis.map_err(|e| e.to_string())?;
        analysis.start += case.skip;
        analysis.cycle -= case.skip;
        Ok(Some(Self { figure, rest, clip, analysis }))
    }

    /// Duration of the walk that was analysed, in seconds.
    pub fn duration(&self) -> f64 {
        f64::from(self.analysis.cycle) * f64::from(self.analysis.cycles)
    }

    /// Whether the clip is a loop. Its walk goes on; that of another clip ends with it.
    pub fn loops(&self) -> bool {
        self.analysis.cycles > 1
    }

    /// The animation's frame at a time, and where the figure is in the world. After its end a walk stays where it is.
    pub fn at(&self, time: f64, pose: &mut Pose) -> Placement {
        let cycle = f64::from(self.analysis.cycle);
        let (time, rounds) =
            if self.loops() { (time, (time / cycle).floor()) } else { (time.min(cycle), 0.0) };
        self.clip.sample(self.analysis.start + (time - rounds * cycle) as f32, pose);
        pose.update();
        let world = Affine3::from_translation(self.analysis.travel * time as f32);
        Placement::new(world).expect("a clip that was analysed travels finitely")
    }

    /// Under the pelvis where the walk begins, on the clip's floor.
    pub fn start(&self) -> Vec3 {
        let limits = ContactLimits::new(&self.figure, &PlantOptions::default());
        self.analysis.pelvis[0].with_y(self.analysis.floor(&limits))
    }

    /// Horizontal length of the walk, in metres.
    pub fn length(&self) -> f32 {
        (self.analysis.pelvis[self.analysis.len() - 1] - self.analysis.pelvis[0]).with_y(0.0).length()
    }

    /// Direction of the walk.
    pub fn heading(&self) -> Vec3 {
        walk_heading(&self.analysis)
    }
}

/// The figure of a model: soles from the mesh in the bind pose, or without a mesh from the joints.
fn figure(model: &Model) -> Result<Figure, String> {
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).map_err(|e| e.to_string())?;
    Figure::of_body(&bind, &body, &model.skin_points(&bind)).map_err(|e| e.to_string())
}
