//! Cases: clips with the legs of their figures, named by hand, and grounds with their bounds.

use std::path::{Path, PathBuf};

use crate::figure::{
    Joint::{self, Index, Name},
    Names,
};

/// A clip of a file.
pub struct Case {
    /// Name in the table.
    pub name: &'static str,
    /// The file inside the data folder; none for the sample that is built into the command.
    pub file: Option<&'static str>,
    /// The clip's name; none where the file has only one.
    pub clip: Option<&'static str>,
    /// Metres a unit, for files that do not say.
    pub scale: Option<f64>,
    /// The legs.
    pub legs: Names,
    /// Seconds before the motion begins: a jump out of a reference pose would hide every other jump of a knee.
    pub motion: f64,
}

/// A ground and what may happen on it.
pub struct GroundCase {
    /// Name in the table.
    pub name: &'static str,
    /// The command's options.
    pub arguments: &'static [&'static str],
    /// Largest allowed ratio of the knees' accelerations, planted to given; none where it is only reported.
    pub knee: Option<f64>,
    /// The least that hips may be over the ground, as a share of their height in the clip; none where it is only
    /// reported: on stairs figures with short legs crouch.
    pub hips: Option<f64>,
}

/// Metres a unit in the CMU clips.
const CMU: Option<f64> = Some(0.056444);

const fn legs(left: [&'static str; 4], right: [&'static str; 4]) -> Names {
    const fn names(n: [&'static str; 4]) -> [Joint; 4] {
        [Name(n[0]), Name(n[1]), Name(n[2]), Name(n[3])]
    }
    [names(left), names(right)]
}

const KAYKIT: Names =
    legs(["upperleg.l", "lowerleg.l", "foot.l", "toes.l"], ["upperleg.r", "lowerleg.r", "foot.r", "toes.r"]);

/// Every clip of the list.
pub const CASES: &[Case] = &[
    Case {
        name: "knight-walk",
        file: Some("gltf/KayKit_Knight.glb"),
        clip: Some("Walking_A"),
        scale: None,
        legs: KAYKIT,
        motion: 0.0,
    },
    Case {
        name: "knight-run",
        file: Some("gltf/KayKit_Knight.glb"),
        clip: Some("Running_A"),
        scale: None,
        legs: KAYKIT,
        motion: 0.0,
    },
    Case {
        name: "knight-back",
        file: Some("gltf/KayKit_Knight.glb"),
        clip: Some("Walking_Backwards"),
        scale: None,
        legs: KAYKIT,
        motion: 0.0,
    },
    Case {
        name: "cesium-walk",
        file: Some("gltf/CesiumMan.gltf"),
        clip: None,
        scale: None,
        // No names. The figure looks along +X, so that its left is -Z.
        legs: [[Index(7), Index(8), Index(9), Index(10)], [Index(3), Index(4), Index(5), Index(6)]],
        motion: 0.0,
    },
    Case {
        name: "mannequiny-run",
        file: Some("gltf/mannequiny.glb"),
        clip: Some("run_root.001"),
        scale: None,
        legs: legs(["thigh.l", "calf.l", "foot.l", "ball.l"], ["thigh.r", "calf.r", "foot.r", "ball.r"]),
        motion: 0.0,
    },
    Case {
        name: "cmu-walk",
        file: Some("bvh/cmu_12_01_walk.bvh"),
        clip: None,
        scale: CMU,
        legs: legs(
            ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"],
            ["RightUpLeg", "RightLeg", "RightFoot", "RightToeBase"],
        ),
        // Its first frame is a reference pose.
        motion: 0.1,
    },
    Case {
        name: "amc-run",
        file: Some("bvh/amc_02_03_run.bvh"),
        clip: None,
        scale: CMU,
        legs: legs(["lfemur", "ltibia", "lfoot", "ltoes"], ["rfemur", "rtibia", "rfoot", "rtoes"]),
        motion: 0.0,
    },
    Case {
        name: "m2m-squat",
        file: Some("gltf/m2m_human_sample-rig.glb"),
        clip: None,
        scale: None,
        legs: legs(["thigh_l", "calf_l", "foot_l", "ball_l"], ["thigh_r", "calf_r", "foot_r", "ball_r"]),
        motion: 0.0,
    },
    Case {
        name: "sample",
        file: None,
        clip: None,
        scale: None,
        legs: legs(["thigh.L", "shin.L", "foot.L", "toes.L"], ["thigh.R", "shin.R", "foot.R", "toes.R"]),
        motion: 0.0,
    },
];

/// Every ground of the list. The terrain's name stands for its file.
pub const GROUNDS: &[GroundCase] = &[
    GroundCase { name: "stairs", arguments: &["stairs"], knee: Some(4.0), hips: None },
    GroundCase { name: "stairs-down", arguments: &["stairs-down"], knee: Some(4.0), hips: None },
    GroundCase { name: "steep-stairs", arguments: &["steep-stairs"], knee: None, hips: None },
    GroundCase { name: "steep-stairs-down", arguments: &["steep-stairs-down"], knee: None, hips: None },
    GroundCase { name: "slope", arguments: &["slope"], knee: Some(2.0), hips: Some(0.65) },
    GroundCase { name: "slope-down", arguments: &["slope-down"], knee: Some(2.0), hips: Some(0.65) },
    GroundCase { name: "rough", arguments: &["rough"], knee: Some(2.0), hips: Some(0.8) },
    // Ten metres square as it is, with hills of up to a metre, but a corner of it is not there: three times that, and moved,
    // so that every walk of the list is on its hills from end to end.
    GroundCase {
        name: "terrain",
        arguments: &[TERRAIN, "--ground-scale", "3", "--ground-at=7.5,0,-6"],
        knee: Some(2.0),
        // Its hills have dips and ridges within a stride.
        hips: Some(0.55),
    },
];

/// The terrain's file inside the data folder.
const TERRAIN: &str = "gltf/terrain_bevy.glb";

impl Case {
    /// Arguments of `sinew` for this clip on a ground.
    pub fn arguments(&self, ground: &GroundCase, data: &Path, out: &Path, report: &Path) -> Vec<PathBuf> {
        let mut a: Vec<PathBuf> = vec!["plant".into()];
        a.extend(self.file.map(|f| data.join(f)));
        if let Some(clip) = self.clip {
            a.extend(["--clip".into(), clip.into()]);
        }
        if let Some(scale) = self.scale {
            a.extend(["--scale".into(), scale.to_string().into()]);
        }
        a.push("--ground".into());
        a.extend(ground.arguments.iter().map(|g| if *g == TERRAIN { data.join(g) } else { (*g).into() }));
        a.extend(["-o".into(), out.into(), "--report".into(), report.into()]);
        if self.file.is_none() {
            // By default the sample's picture goes to the folder that the lab is run in.
            a.extend(["--picture".into(), out.with_extension("png")]);
        }
        a
    }

    /// Whether the given file has joints and no mesh.
    pub fn is_bare(&self) -> bool {
        self.file.is_some_and(|f| f.ends_with(".bvh"))
    }
}
