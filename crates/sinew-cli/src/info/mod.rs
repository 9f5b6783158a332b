//! `sinew info`: facts about a model.

mod arm;
mod json;
mod text;

use std::io::{self, BufWriter, Write};

use sinew::{
    JointId, Pose,
    body::{BodyRoles, Legs, RoleError},
    motion::Clip,
};
use sinew_files::Model;

use crate::{args::InfoArgs, failure::Failure, model};

/// Facts about a model.
struct Facts {
    model: Model,
    /// The bind pose, in which lengths and heights are measured.
    bind: Pose,
    /// Height in metres.
    height: f32,
    body: Result<BodyRoles, RoleError>,
    /// Legs of a creature that has no human body.
    legs: Option<Legs>,
    /// Notes about units and axes that are probably wrong.
    hints: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: &InfoArgs) -> Result<(), Failure> {
    if model::is_urdf(&args.model) {
        return arm::run(args);
    }
    let model = model::read(&args.model, &args.units)?;
    let bind = model.bind_pose();
    let body = model::body(&model, &bind, &args.body)?;
    // Feet or hips that the user gave and that do not fit are a failure of the command.
    if let (Err(error), true) = (&body, args.body.feet.is_some() || args.body.hips.is_some()) {
        return Err(Failure::Work(format!("{error}; {}", model::feet_by_hand(&model, &bind))));
    }
    let height = model::height(&model, &bind, body.as_ref().ok());
    let mut hints =
        body.as_ref().map_or_else(|_| Vec::new(), |body| model::hints(&model, &bind, height, body));
    // Every joint of a skin may have a problem; only the first ones are printed.
    const MAX_PROBLEMS: usize = 8;
    hints
        .extend(model.bind_problems.iter().take(MAX_PROBLEMS).map(|problem| format!("bind pose: {problem}")));
    let legs = body.is_err().then(|| Legs::find(&bind, &model.skin_points(&bind)).ok()).flatten();
    let facts = Facts { model, bind, height, body, legs, hints };
    let mut out = BufWriter::new(io::stdout().lock());
    if args.json {
        json::write(&facts, &mut out)?
    } else {
        text::write(&facts, &mut out)?
    }
    Ok(out.flush()?)
}

impl Facts {
    /// Distance from the parent to this joint in the bind pose, in metres; `None` for a root.
    fn length(&self, joint: JointId) -> Option<f32> {
        let parent = self.model.skeleton.parent(joint)?;
        Some((self.bind.position(joint) - self.bind.position(parent)).length())
    }
}

/// Number of tracks of a clip, each of one property of one joint.
fn tracks(clip: &Clip) -> usize {
    let each = |t: &sinew::motion::JointTracks| {
        [t.translation.is_some(), t.rotation.is_some(), t.scale.is_some()].into_iter().filter(|b| *b).count()
    };
    clip.tracks().iter().map(each).sum()
}
