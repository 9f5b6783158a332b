//! Rig files on the built-in character: built, played, matched, read and keyed.

use std::{cell::OnceCell, path::Path};

use sinew::{
    JointTransform, Placement, Pose, Workspace,
    body::BodyRoles,
    rig::{
        Rig, RigFrame, RigGoal, RigMatch,
        keys::{Recorder, RigKeys},
    },
};
use sinew_files::{Model, rig, sample};

use crate::{
    Outcome,
    files::{one_line, refused},
};

/// Frames of the clip that a rig plays.
const FRAMES: u8 = 6;

/// The character, its bind pose and its roles.
type Figure = (Model, Pose, BodyRoles);

thread_local! {
    static FIGURE: OnceCell<Result<Figure, String>> = const { OnceCell::new() };
}

fn figure() -> Result<Figure, String> {
    let model = sample::mannequin().map_err(|e| e.to_string())?;
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).map_err(|e| e.to_string())?;
    Ok((model, bind, body))
}

/// A rig file: played through a clip from frame to frame, then matched, read and keyed.
pub fn toml(bytes: &[u8]) -> Result<Outcome, String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(Outcome::Refused) };
    FIGURE.with(|figure_of| {
        let (model, bind, body) = figure_of.get_or_init(figure).as_ref().map_err(Clone::clone)?;
        match rig::read(text, Path::new("bad.toml"), bind, Some(body)) {
            Err(error) => refused(&error),
            Ok(rig) => play(&rig, model),
        }
    })
}

fn finite(what: &str, pose: &Pose) -> Result<(), String> {
    let sound =
        |t: &JointTransform| t.translation.is_finite() && t.rotation.is_finite() && t.scale.is_finite();
    match pose.skeleton().joints().find(|&j| !sound(pose.local(j))) {
        Some(j) => Err(format!("{what}: joint {j} is at {:?}", pose.local(j))),
        None => Ok(()),
    }
}

fn play(rig: &Rig, model: &Model) -> Result<Outcome, String> {
    let Some(clip) = model.clips.first() else { return Err("the character has no clip".into()) };
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut pose = Pose::rest(&model.skeleton);
    let mut goals = vec![RigGoal::new(); rig.goal_count()];
    for n in 0..FRAMES {
        pose.reset();
        clip.sample(clip.start() + 0.1 * f32::from(n), &mut pose);
        let before = pose.clone();
        // Every other handle is switched off and on.
        (0..rig.len())
            .filter(|handle| handle % 2 == 0)
            .for_each(|handle| state.set_on(handle, !(2..=4).contains(&n)));
        if let Err(error) = rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(0.1)) {
            if pose.skeleton().joints().any(|j| pose.local(j) != before.local(j)) {
                return Err(format!("the pose is another after: {error}"));
            }
            return one_line(&error).map(|()| Outcome::Read);
        }
        finite("a frame", &pose)?;
    }
    // From FK to IK and back.
    let frame = RigFrame::new(0.1);
    for seconds in [0.0, 0.3] {
        let to = RigMatch::new(seconds);
        if let Err(error) = rig.match_goals(&mut state, &mut workspace, &mut pose, &frame, &mut goals, &to) {
            return one_line(&error).map(|()| Outcome::Read);
        }
        let frame = frame.with_goals(&goals);
        if let Err(error) = rig.apply(&mut state, &mut workspace, &mut pose, &frame) {
            return Err(format!("matched goals are refused: {error}"));
        }
        finite("matched", &pose)?;
    }
    // Keys of where the pose has the goals, and back.
    let before = goals.clone();
    if let Err(error) = rig.read(&pose, &Placement::IDENTITY, &mut goals) {
        return one_line(&error).map(|()| Outcome::Read);
    }
    let mut keys = RigKeys::new(rig);
    let edit = Recorder::default().record(&keys, 0.5, &before, &goals).map_err(|e| e.to_string())?;
    let undo = keys.edit(&edit).map_err(|e| format!("what was recorded is refused: {e}"))?;
    keys.sample(0.25, &mut goals).map_err(|e| format!("keys cannot be sampled: {e}"))?;
    keys.edit(&undo).map_err(|e| format!("an undo is refused: {e}"))?;
    if keys != RigKeys::new(rig) {
        return Err("an undo leaves keys".into());
    }
    Ok(Outcome::Done)
}
