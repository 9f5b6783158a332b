//! `sinew info`: what a model holds.

mod arm;
mod json;
mod text;

use std::io::{self, BufWriter, Write};

use sinew::{
    JointId, Pose,
    body::{BodyRoles, RoleError},
    motion::Clip,
};
use sinew_files::Model;

use crate::{args::InfoArgs, failure::Failure, model};

/// All that is told of a model.
struct Facts {
    model: Model,
    /// The bind pose, where lengths and heights are measured.
    bind: Pose,
    /// In metres.
    height: f32,
    body: Result<BodyRoles, RoleError>,
    /// What may be wrong with the file or the command line.
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
    // Feet that were given by hand and do not fit are what the user came for.
    if let (Err(error), true) = (&body, args.body.feet.is_some() || args.body.hips.is_some()) {
        return Err(Failure::Work(format!("{error}; {}", model::feet_by_hand(&model, &bind))));
    }
    let height = model::height(&model, &bind, body.as_ref().ok());
    let mut hints =
        body.as_ref().map_or_else(|_| Vec::new(), |body| model::hints(&model, &bind, height, body));
    // Each joint of a skin may have one.
    const MOST: usize = 8;
    hints.extend(model.bind_problems.iter().take(MOST).map(|problem| format!("bind pose: {problem}")));
    let facts = Facts { model, bind, height, body, hints };
    let mut out = BufWriter::new(io::stdout().lock());
    if args.json {
        json::write(&facts, &mut out)?
    } else {
        text::write(&facts, &mut out)?
    }
    Ok(out.flush()?)
}

impl Facts {
    /// Metres from the parent's joint to this one in the bind pose; none for a root.
    fn length(&self, joint: JointId) -> Option<f32> {
        let parent = self.model.skeleton.parent(joint)?;
        Some((self.bind.position(joint) - self.bind.position(parent)).length())
    }
}

/// How many tracks a clip has, each of one property of one joint.
fn tracks(clip: &Clip) -> usize {
    let each = |t: &sinew::motion::JointTracks| {
        [t.translation.is_some(), t.rotation.is_some(), t.scale.is_some()].into_iter().filter(|b| *b).count()
    };
    clip.tracks().iter().map(each).sum()
}
