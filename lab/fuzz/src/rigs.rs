//! Rig files on the built-in character: built, played, matched, read and keyed. Keys of rigs in glTF: read, played, edited and
//! written.

use std::{cell::OnceCell, path::Path};

use sinew::{
    JointTransform, Placement, Pole, Pose, Workspace,
    body::{BodyRoles, RoleHints},
    rig::{
        HumanoidSpec, Rig, RigFrame, RigGoal, RigMatch, Space,
        keys::{KeyAddress, KeyOwner, KeyValue, Mirror, Recorder, RigKeys},
    },
};
use sinew_files::{FileError, Model, Source, gltf::Document, rig, sample};

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

/// Keys of a humanoid's goals in a glTF.
pub fn keys(bytes: &[u8]) -> Result<Outcome, String> {
    let model = match Document::from_bytes(bytes, "bad.glb", None).and_then(Document::into_model) {
        Ok(model) => model,
        Err(error) => return refused(&error),
    };
    let Source::Gltf(document) = &model.source else { return Err("it is no glTF".into()) };
    let Some((rig, body)) = humanoid(&model)? else { return Ok(Outcome::Read) };
    let mut outcome = Outcome::Read;
    for animation in 0..MAX_ANIMATIONS {
        let keys = document.goal_keys(animation, &model.skeleton, &rig).and_then(|goals| {
            let keys = document.keys(animation, &model.skeleton, &rig)?;
            Ok((goals, keys))
        });
        let (goals, keys) = match keys {
            Ok(keys) => keys,
            Err(error) => {
                one_line(&error)?;
                continue;
            }
        };
        let of_goals = keys.tracks().iter().filter(|t| matches!(t.owner(), KeyOwner::Goal(_)));
        if of_goals.count() != goals.map_or(0, |goals| goals.tracks().len()) {
            return Err("the keys of goals alone are others".into());
        }
        if keys.is_empty() {
            continue;
        }
        play_keys(&rig, &model.bind_pose(), &keys)?;
        edit_keys(&rig, &model.bind_pose(), &body, &keys)?;
        write_keys(&rig, document, &keys)?;
        outcome = Outcome::Done;
    }
    Ok(outcome)
}

/// Animations of a file that are read: a run has thousands of cases.
const MAX_ANIMATIONS: usize = 3;

/// The rig of a figure's roles, if it has them.
fn humanoid(model: &Model) -> Result<Option<(Rig, BodyRoles)>, String> {
    let bind = model.bind_pose();
    let hints = RoleHints::new().with_declared(&model.declared_roles);
    let body = match BodyRoles::find_with(&bind, &hints) {
        Ok(body) => body,
        Err(error) => return one_line(&error).map(|()| None),
    };
    match Rig::new(&bind, Some(&body), &HumanoidSpec::new().rig(&body)) {
        Ok(rig) => Ok(Some((rig, body))),
        Err(error) => one_line(&error).map(|()| None),
    }
}

/// Samples keys at, between and beyond their ends, and plays them.
fn play_keys(rig: &Rig, bind: &Pose, keys: &RigKeys) -> Result<(), String> {
    let [from, to] = keys.span().unwrap_or_default();
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut goals = vec![RigGoal::new(); rig.goal_count()];
    for share in [0.0, 0.3, 0.5, 0.9, 1.0] {
        let mut pose = bind.clone();
        let time = from + share * (to - from);
        keys.sample(time, &mut goals).map_err(|e| format!("keys cannot be sampled: {e}"))?;
        keys.sample_pose(time, &mut pose).map_err(|e| format!("keys cannot be sampled: {e}"))?;
        finite("keyed", &pose)?;
        if let Some(goal) = goals.iter().find(|goal| !is_finite(goal)) {
            return Err(format!("a goal at {time} s is {goal:?}"));
        }
        match rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(0.1).with_goals(&goals)) {
            Ok(_) => finite("played", &pose)?,
            Err(error) => one_line(&error)?,
        }
    }
    Ok(())
}

fn is_finite(goal: &RigGoal) -> bool {
    let numbers = [
        goal.goal.swivel,
        goal.roll,
        goal.bank,
        goal.pivot,
        goal.goal.position_influence,
        goal.goal.rotation_influence,
    ];
    let pole = match goal.goal.pole {
        Pole::Point(v) | Pole::Direction(v) => v.is_finite(),
        _ => true,
    };
    let own =
        goal.goal.position.is_none_or(|v| v.is_finite()) && goal.goal.rotation.is_none_or(|q| q.is_finite());
    pole && own && numbers.iter().all(|x| x.is_finite()) && goal.turns.iter().all(|q| q.is_finite())
}

/// Edits of all kinds, each taken back.
fn edit_keys(rig: &Rig, bind: &Pose, body: &BodyRoles, keys: &RigKeys) -> Result<(), String> {
    let [from, to] = keys.span().unwrap_or_default();
    let middle = from + 0.5 * (to - from);
    let still = |_: f32, _: &mut Pose| Placement::IDENTITY;
    let all = |_: &KeyAddress| true;
    let mirror = Mirror::new(rig, bind, Some(body));
    let mut edits = vec![
        Ok(keys.delete(|address| address.time <= middle)),
        keys.retime(all, 0.5, 1.0),
        keys.retime(|address| address.time > middle, 3.0, -1.0),
        keys.snap(all, 30.0),
        mirror.keys(&Placement::IDENTITY, keys, None),
    ];
    for goal in 0..rig.goal_count() {
        let space = Space::Joint(body.hips);
        edits.push(keys.change_space(rig, goal, middle, space, &mut bind.clone(), still));
    }
    for edit in edits {
        let mut edited = keys.clone();
        let edit = match edit {
            Ok(edit) => edit,
            Err(error) => {
                one_line(&error)?;
                continue;
            }
        };
        let undo = match edited.edit(&edit) {
            Ok(undo) => undo,
            Err(error) if edited == *keys => {
                one_line(&error)?;
                continue;
            }
            Err(error) => return Err(format!("the keys are others after: {error}")),
        };
        play_keys(rig, bind, &edited)?;
        edited.edit(&undo).map_err(|e| format!("an undo is refused: {e}"))?;
        if edited != *keys {
            return Err("an undo leaves other keys".into());
        }
    }
    Ok(())
}

/// Adds keys to the document once more, and reads them from what is written.
fn write_keys(rig: &Rig, document: &Document, keys: &RigKeys) -> Result<(), String> {
    let mut document = document.clone();
    let animation = match document.add_keys("again", rig, keys) {
        Ok(animation) => animation,
        Err(error) => return one_line(&error),
    };
    let mut out = Vec::new();
    document.to_glb(&mut out).map_err(|e| e.to_string())?;
    let unread = |e: FileError| format!("what was written cannot be read: {e}");
    let model =
        Document::from_bytes(&out, "again.glb", None).and_then(Document::into_model).map_err(unread)?;
    let Source::Gltf(document) = &model.source else { return Err("it is no glTF".into()) };
    let Some((rig, _)) = humanoid(&model)? else { return Err("the figure has lost its roles".into()) };
    let again = document.keys(animation, &model.skeleton, &rig).map_err(unread)?;
    match listed(&again) == listed(keys) {
        true => Ok(()),
        false => Err(format!("{} tracks of keys are read as others", keys.tracks().len())),
    }
}

/// The keys without the numbers of joints, which a document with more nodes has anew.
fn listed(keys: &RigKeys) -> Vec<String> {
    let mut all: Vec<String> = keys
        .tracks()
        .iter()
        .map(|track| {
            let keys = track.keys().iter().map(|key| match key.value {
                KeyValue::Space(of) => format!("{} {}", key.time, of.stay),
                value => format!("{} {value:?} {:?}", key.time, key.interpolation),
            });
            format!("{}: {:?}", track.channel().name(), keys.collect::<Vec<_>>())
        })
        .collect();
    all.sort_unstable();
    all
}
