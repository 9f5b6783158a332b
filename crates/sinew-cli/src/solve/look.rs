//! Look-at of a figure's chain and eyes, made from options.

use std::sync::Arc;

use glam::Vec3;
use sinew::{
    Chain, JointId, Pose, Skeleton,
    body::BodyRoles,
    solve::{LookAt, LookJoint},
};

use crate::{
    args::LookArgs,
    lookup::{self, label},
};

/// Settings of a look-at. [`look_at`] has the defaults of those that are not given.
#[derive(Clone, Debug, Default)]
pub struct LookSettings {
    /// For each joint of the chain, the share of the remaining angle that it turns by, 0 to 1. Empty: the default.
    pub shares: Vec<f32>,
    /// Largest angle of each joint, in degrees: one for all joints, or one per joint. Empty: the default.
    pub cones: Vec<f32>,
    /// Angle about the front, in degrees, within which only the eyes follow the target.
    pub dead_zone: f32,
    /// Joints of the eyes; `none` for no eyes. Empty: those that the file declares, or joints below the chain's tip with
    /// names of eyes.
    pub eyes: Vec<String>,
    /// Direction that the model faces in its bind pose, in model space. `None`: the figure's own.
    pub front: Option<Vec3>,
    /// Facts about the figure; `None` for arms.
    pub seen: Option<Seen>,
}

/// Facts about a figure that a look-at needs.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The bind pose.
    bind: Pose,
    /// Direction that the figure faces in its bind pose, in model space.
    front: Vec3,
    /// The eyes that the file declares.
    eyes: Vec<JointId>,
}

impl Seen {
    /// Facts about a figure. Without a body its front is +Z, as glTF defines it.
    pub fn new(bind: Pose, body: Option<&BodyRoles>) -> Self {
        let front = body.map_or(Vec3::Z, |b| b.front(&bind));
        Self { front, eyes: body.map_or(Vec::new(), |b| b.eyes.into_iter().flatten().collect()), bind }
    }
}

impl From<&LookArgs> for LookSettings {
    fn from(args: &LookArgs) -> Self {
        Self {
            shares: args.shares.clone(),
            cones: args.cones.clone(),
            dead_zone: args.dead_zone.unwrap_or(0.0),
            eyes: args.eyes.clone(),
            front: args.front,
            seen: None,
        }
    }
}

/// Whether a name is that of an eye (`eye.L`, `LeftEye`, `J_Adj_L_FaceEye`) and not of a lid, brow, lash, end or target.
fn is_eye(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains("eye") && !["lid", "brow", "lash", "end", "target"].iter().any(|other| name.contains(other))
}

fn eyes(skeleton: &Skeleton, head: JointId, settings: &LookSettings) -> Result<Vec<JointId>, String> {
    if settings.eyes == ["none"] {
        return Ok(Vec::new());
    }
    if settings.eyes.is_empty() {
        let declared = settings.seen.as_ref().map_or(&[][..], |s| &s.eyes);
        let own: Vec<JointId> =
            declared.iter().copied().filter(|&j| j != head && skeleton.is_below(j, head)).collect();
        if !own.is_empty() {
            return Ok(own);
        }
        let named = |&j: &JointId| j != head && is_eye(skeleton.name(j));
        return Ok(skeleton.below(head).filter(named).collect());
    }
    settings.eyes.iter().map(|name| lookup::joint(skeleton, name).map_err(|e| e.to_string())).collect()
}

/// Makes the look-at of all joints of a chain, with the tip's front as its face, and of its eyes.
pub fn look_at(skeleton: &Skeleton, chain: &Chain, settings: &LookSettings) -> Result<LookAt, String> {
    let joints = chain.joints();
    let count = joints.len();
    let fits = |option: &str, given: usize, one: bool| {
        if given == 0 || given == count || (one && given == 1) {
            return Ok(());
        }
        let names: Vec<String> = joints.iter().map(|&j| label(skeleton, j)).collect();
        let one = if one { " or 1" } else { "" };
        Err(format!(
            "--{option} has {given} numbers, but the chain needs {count}{one} ({})",
            names.join(", ")
        ))
    };
    fits("shares", settings.shares.len(), false)?;
    fits("cones", settings.cones.len(), true)?;
    let mut line = LookJoint::in_line(joints);
    for (i, part) in line.iter_mut().enumerate() {
        part.share = settings.shares.get(i).copied().unwrap_or(part.share);
        let cone = settings.cones.get(i).or(settings.cones.first());
        part.cone = cone.map_or(part.cone, |degrees| degrees.to_radians());
    }
    let (bind, front) = match &settings.seen {
        Some(seen) => (seen.bind.clone(), settings.front.unwrap_or(seen.front)),
        None => (Pose::rest(&Arc::new(skeleton.clone())), settings.front.unwrap_or(Vec3::Z)),
    };
    let eyes = eyes(skeleton, chain.tip(), settings)?;
    let mut look = LookAt::of_figure(&bind, &line, &eyes, front).map_err(|e| e.to_string())?;
    look.dead_zone = settings.dead_zone.to_radians();
    Ok(look)
}
