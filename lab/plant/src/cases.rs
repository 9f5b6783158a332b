//! Cases: clips with the legs of their figures, named by hand, and grounds with their bounds.

use std::path::{Path, PathBuf};

use crate::figure::{
    Joint::{self, Index, Name},
    Names,
};

/// The use of a clip while the planter is changed. Named before any constant of the planter is tuned for naturalness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// Constants are chosen on these clips.
    Choosing,
    /// No constant is chosen on these: they show whether a choice holds for clips that it was not made for.
    Judging,
}

impl Set {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Choosing => "choosing",
            Self::Judging => "judging",
        }
    }
}

/// A clip of a file.
#[derive(Clone, Copy)]
pub struct Case {
    /// Name in the table.
    pub name: &'static str,
    /// Whether it is for choosing or for judging.
    pub set: Set,
    /// The file inside the data folder; none for the sample that is built into the command.
    pub file: Option<&'static str>,
    /// The clip's name; none where the file has only one.
    pub clip: Option<&'static str>,
    /// Metres a unit, for files that do not say.
    pub scale: Option<f64>,
    /// The legs.
    pub legs: Names,
    /// The joint at the trunk's upper end.
    pub neck: Joint,
    /// Whether a missed bound counts only with `--strict`: the present planner was not made for the clip.
    pub strict: bool,
    /// Seconds before the motion begins: a jump out of a reference pose would hide every other jump of a knee.
    pub motion: f64,
}

/// What a row is measured for besides contact and naturalness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Plain,
    /// The floor that clips are made for.
    Flat,
    /// Stairs on which people were measured; down or up. For the walks of `on_real_stairs`.
    RealStairs {
        /// Whether the walk goes down them.
        down: bool,
    },
    /// Any ground, planted without influence. Contact is not measured.
    Unchanged,
}

/// A ground and what may happen on it.
pub struct GroundCase {
    /// Name in the table.
    pub name: &'static str,
    /// What is measured.
    pub kind: Kind,
    /// Whether a missed bound counts only with `--strict`.
    pub strict: bool,
    /// The command's options, with the ground first; an empty one stands for a file that is made for the walk.
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

/// The clips of a file, which share legs and neck.
const fn of(file: &'static str, scale: Option<f64>, legs: Names, neck: Joint) -> Case {
    Case {
        name: "",
        set: Set::Choosing,
        file: Some(file),
        clip: None,
        scale,
        legs,
        neck,
        strict: false,
        motion: 0.0,
    }
}

impl Case {
    /// A clip that constants are chosen on.
    const fn choosing(self, name: &'static str, clip: Option<&'static str>) -> Self {
        Self { name, clip, set: Set::Choosing, ..self }
    }

    /// A clip that the result is judged on.
    const fn judging(self, name: &'static str, clip: Option<&'static str>) -> Self {
        Self { name, clip, set: Set::Judging, ..self }
    }

    /// The same where a miss counts only with `--strict`.
    const fn strict(self) -> Self {
        Self { strict: true, ..self }
    }

    /// The same where the motion begins later.
    const fn from(self, motion: f64) -> Self {
        Self { motion, ..self }
    }
}

const KNIGHT: Case = of(
    "gltf/KayKit_Knight.glb",
    None,
    legs(["upperleg.l", "lowerleg.l", "foot.l", "toes.l"], ["upperleg.r", "lowerleg.r", "foot.r", "toes.r"]),
    // Its neck and its head are one joint.
    Name("head"),
);

const CESIUM_MAN: Case = of(
    "gltf/CesiumMan.gltf",
    None,
    // No names. The figure looks along +X, so that its left is -Z.
    [[Index(7), Index(8), Index(9), Index(10)], [Index(3), Index(4), Index(5), Index(6)]],
    Index(19),
);

const MANNEQUINY: Case = of(
    "gltf/mannequiny.glb",
    None,
    legs(["thigh.l", "calf.l", "foot.l", "ball.l"], ["thigh.r", "calf.r", "foot.r", "ball.r"]),
    Name("neck_01"),
);

const M2M: Case = of(
    "gltf/m2m_human_sample-rig.glb",
    None,
    legs(["thigh_l", "calf_l", "foot_l", "ball_l"], ["thigh_r", "calf_r", "foot_r", "ball_r"]),
    Name("neck_01"),
);

const MOTION_BUILDER: Names = legs(
    ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"],
    ["RightUpLeg", "RightLeg", "RightFoot", "RightToeBase"],
);

const ACCLAIM: Names = legs(["lfemur", "ltibia", "lfoot", "ltoes"], ["rfemur", "rtibia", "rfoot", "rtoes"]);

const CMU_WALK: Case = of("bvh/cmu_12_01_walk.bvh", CMU, MOTION_BUILDER, Name("Neck"));
const AMC_RUN: Case = of("bvh/amc_02_03_run.bvh", CMU, ACCLAIM, Name("lowerneck"));
const AMC_UNEVEN: Case = of("bvh/amc_03_01_uneven.bvh", CMU, ACCLAIM, Name("lowerneck"));
/// In inches. Its only joint above the spine is the head.
const PYMO: Case = of("bvh/pymo_AV_8Walk_Meredith.bvh", Some(0.0254), MOTION_BUILDER, Name("Head"));
/// In centimetres. Its feet have no toe joint: the End Site below the ankle is the ball and the tip.
const MOCAPBANK: Case = of(
    "bvh/test_mocapbank.bvh",
    Some(0.01),
    legs(
        ["LeftHip", "LeftKnee", "LeftAnkle", "LeftAnkle end"],
        ["RightHip", "RightKnee", "RightAnkle", "RightAnkle end"],
    ),
    Name("Neck"),
);
const SAMPLE: Case = Case {
    file: None,
    ..of(
        "",
        None,
        legs(["thigh.L", "shin.L", "foot.L", "toes.L"], ["thigh.R", "shin.R", "foot.R", "toes.R"]),
        Name("neck"),
    )
};

/// Every clip of the list.
///
/// The data have one walk along a curve (`eight`), one of a captured run and one over uneven ground. They are for judging.
/// A clip for judging may show that something is wrong; no constant may be chosen by its rows.
pub const CASES: &[Case] = &[
    KNIGHT.choosing("knight-walk", Some("Walking_A")),
    KNIGHT.choosing("knight-run", Some("Running_A")),
    KNIGHT.choosing("knight-back", Some("Walking_Backwards")),
    KNIGHT.choosing("knight-left", Some("Running_Strafe_Left")).strict(),
    CESIUM_MAN.choosing("cesium-walk", None),
    // Its first frame is a reference pose.
    CMU_WALK.choosing("cmu-walk", None).from(0.1),
    M2M.choosing("m2m-squat", None),
    MANNEQUINY.choosing("mannequiny-idle", Some("idle_root.001")).strict(),
    SAMPLE.choosing("sample", None),
    MANNEQUINY.judging("mannequiny-run", Some("run_root.001")),
    MANNEQUINY.judging("mannequiny-kick", Some("fight_kick_root.001")).strict(),
    AMC_RUN.judging("amc-run", None),
    AMC_UNEVEN.judging("amc-uneven", None).strict(),
    PYMO.judging("eight", None).strict(),
    MOCAPBANK.judging("sitter", None).strict(),
    KNIGHT.judging("knight-walk-b", Some("Walking_B")).strict(),
    KNIGHT.judging("knight-walk-c", Some("Walking_C")).strict(),
    KNIGHT.judging("knight-run-b", Some("Running_B")).strict(),
    KNIGHT.judging("knight-right", Some("Running_Strafe_Right")).strict(),
];

/// Every ground of the list. The terrain's name stands for its file.
pub const GROUNDS: &[GroundCase] = &[
    GroundCase { knee: Some(4.0), hips: None, ..ground("stairs", &["stairs"]) },
    GroundCase { knee: Some(4.0), hips: None, ..ground("stairs-down", &["stairs-down"]) },
    GroundCase { knee: None, hips: None, ..ground("steep-stairs", &["steep-stairs"]) },
    GroundCase { knee: None, hips: None, ..ground("steep-stairs-down", &["steep-stairs-down"]) },
    GroundCase { knee: Some(2.0), hips: Some(0.65), ..ground("slope", &["slope"]) },
    GroundCase { knee: Some(2.0), hips: Some(0.65), ..ground("slope-down", &["slope-down"]) },
    GroundCase { knee: Some(2.0), hips: Some(0.8), ..ground("rough", &["rough"]) },
    // Ten metres square as it is, with hills of up to a metre, but a corner of it is not there: three times that, and moved,
    // so that every walk of the list is on its hills from end to end.
    GroundCase {
        knee: Some(2.0),
        // Its hills have dips and ridges within a stride.
        hips: Some(0.55),
        ..ground("terrain", &[TERRAIN, "--ground-scale", "3", "--ground-at=7.5,0,-6"])
    },
    GroundCase {
        kind: Kind::Flat,
        strict: true,
        knee: Some(2.0),
        hips: Some(0.8),
        ..ground("flat", &["flat"])
    },
    GroundCase {
        kind: Kind::RealStairs { down: false },
        strict: true,
        ..ground("real-stairs", &["", "--stride", "1"])
    },
    GroundCase {
        kind: Kind::RealStairs { down: true },
        strict: true,
        ..ground("real-stairs-down", &["", "--stride", "1"])
    },
    GroundCase {
        kind: Kind::Unchanged,
        strict: true,
        ..ground("weight-0", &["stairs", "--weight", "0", "--stride", "keep"])
    },
];

/// A ground whose bounds on knees and hips are only reported.
const fn ground(name: &'static str, arguments: &'static [&'static str]) -> GroundCase {
    GroundCase { name, kind: Kind::Plain, strict: false, arguments, knee: None, hips: None }
}

/// The terrain's file inside the data folder.
const TERRAIN: &str = "gltf/terrain_bevy.glb";

impl Case {
    /// Arguments of `sinew` for this clip on a ground. `made` is a ground that was made for the walk.
    pub fn arguments(&self, ground: &[&str], data: &Path, made: &Path, out: &Path) -> Vec<PathBuf> {
        let mut a: Vec<PathBuf> = vec!["plant".into()];
        a.extend(self.file.map(|f| data.join(f)));
        if let Some(clip) = self.clip {
            a.extend(["--clip".into(), clip.into()]);
        }
        if let Some(scale) = self.scale {
            a.extend(["--scale".into(), scale.to_string().into()]);
        }
        a.push("--ground".into());
        a.extend(ground.iter().map(|g| match *g {
            TERRAIN => data.join(g),
            "" => made.into(),
            _ => (*g).into(),
        }));
        a.extend(["-o".into(), out.into(), "--report".into(), out.with_extension("json")]);
        if self.file.is_none() {
            // By default the sample's picture goes to the folder that the lab is run in.
            a.extend(["--picture".into(), out.with_extension("png")]);
        }
        a
    }

    /// Whether the clip is one of the walks that people on stairs are compared with.
    pub fn on_real_stairs(&self) -> bool {
        ["sample", "cmu-walk"].contains(&self.name)
    }

    /// Whether the clip is planted on a ground of the list.
    pub fn is_on(&self, ground: &GroundCase) -> bool {
        !matches!(ground.kind, Kind::RealStairs { .. }) || self.on_real_stairs()
    }

    /// Whether the given file has joints and no mesh.
    pub fn is_bare(&self) -> bool {
        self.file.is_some_and(|f| f.ends_with(".bvh"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clip_has_a_name_of_its_own_and_both_sets_have_nine() {
        for (i, case) in CASES.iter().enumerate() {
            assert!(CASES[..i].iter().all(|c| c.name != case.name), "{}", case.name);
        }
        for set in [Set::Choosing, Set::Judging] {
            assert!(CASES.iter().filter(|c| c.set == set).count() >= 9);
        }
        // The command would guess another clip of the file.
        assert!(CASES.iter().all(|c| c.file != KNIGHT.file || c.clip.is_some()));
    }
}
