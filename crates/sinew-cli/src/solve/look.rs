//! A look-at for a chain of a figure and its eyes, as options describe it.

use std::sync::Arc;

use glam::Vec3;
use sinew::{
    Chain, JointId, Pose, Skeleton,
    body::BodyRoles,
    solve::{Eye, LookAt, LookJoint},
};

use crate::{
    args::LookArgs,
    lookup::{self, label},
};

/// How a look is shared; what is not said is as [`look_at`] has it.
#[derive(Clone, Debug, Default)]
pub struct LookSettings {
    /// Of each joint of the chain, the part that it takes of what those before it have left.
    pub shares: Vec<f32>,
    /// How far each turns at most, in degrees; one for all, or one a joint.
    pub cones: Vec<f32>,
    /// Degrees in which the target moves the eyes alone.
    pub dead_zone: f32,
    /// The eyes' joints; `none` for none. Empty: those that the file declares, or those below the chain's tip whose
    /// names say so.
    pub eyes: Vec<String>,
    /// Where the model faces, in model space; else as its legs say.
    pub front: Option<Vec3>,
    /// What is known of the figure.
    pub seen: Option<Seen>,
}

/// What a look takes from a figure.
#[derive(Clone, Debug)]
pub struct Seen {
    /// As it was modelled.
    bind: Pose,
    /// Where it faces then.
    front: Vec3,
    /// The eyes that the file declares.
    eyes: Vec<JointId>,
}

impl Seen {
    /// Of a figure with or without a body: without one, what glTF says of models, +Z, is its front.
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

/// How far a joint of a look-at turns, in degrees: that of a neck to one side.
const LOOK: f32 = 60.0;

/// How far an eye turns, in degrees: people's eyes go about so far without strain.
const EYE: f32 = 35.0;

/// Whether a joint is an eye by its name: `eye.L`, `LeftEye`, `J_Adj_L_FaceEye`; no lid, no brow, no end of one.
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

/// All joints of a chain, each turning twice as far as the one before it (a spine bends little, a head turns most)
/// unless shares are given, with the tip's front as its face, and its eyes.
pub fn look_at(skeleton: &Skeleton, chain: &Chain, settings: &LookSettings) -> Result<LookAt, String> {
    let joints = chain.joints();
    let count = joints.len();
    let fits = |option: &str, given: usize, one: bool| {
        if given == 0 || given == count || (one && given == 1) {
            return Ok(());
        }
        let names: Vec<String> = joints.iter().map(|&j| label(skeleton, j)).collect();
        Err(format!("--{option} has {given} numbers for {count} joints ({})", names.join(", ")))
    };
    fits("shares", settings.shares.len(), false)?;
    fits("cones", settings.cones.len(), true)?;
    let line: Vec<_> = joints
        .iter()
        .enumerate()
        .map(|(i, &joint)| {
            let share = 1.0 / (((count - i) as f32).exp2() - 1.0);
            let cone = settings.cones.get(i).or(settings.cones.first()).copied().unwrap_or(LOOK);
            LookJoint::new(joint)
                .with_share(settings.shares.get(i).copied().unwrap_or(share))
                .with_cone(cone.to_radians())
        })
        .collect();
    let (bind, ahead) = match &settings.seen {
        Some(seen) => (seen.bind.clone(), settings.front.unwrap_or(seen.front)),
        None => (Pose::rest(&Arc::new(skeleton.clone())), settings.front.unwrap_or(Vec3::Z)),
    };
    let front = |joint| bind.model(joint).matrix3.inverse() * ahead;
    let head = chain.tip();
    let mut look = LookAt::new(skeleton, &line, front(head)).map_err(|e| e.to_string())?;
    look.dead_zone = settings.dead_zone.to_radians();
    let eyes = eyes(skeleton, head, settings)?;
    if !eyes.is_empty() {
        let middle = eyes.iter().map(|&j| bind.position(j)).sum::<Vec3>() / eyes.len() as f32;
        look.offset = bind.model(head).inverse().transform_point3(middle);
        let eyes: Vec<Eye> =
            eyes.iter().map(|&joint| Eye::new(joint, front(joint)).with_cone(EYE.to_radians())).collect();
        look.set_eyes(skeleton, &eyes).map_err(|e| e.to_string())?;
    }
    Ok(look)
}
