//! `sinew info`: what a model holds.

mod json;
mod text;

use std::io::{self, BufWriter, Write};

use sinew::{
    JointId, Pose,
    motion::Clip,
    rig::{Body, RoleError},
};
use sinew_files::{Model, Source};

use crate::{args::InfoArgs, failure::Failure, model};

/// All that is told of a model.
struct Facts {
    model: Model,
    /// The bind pose, where lengths and heights are measured.
    bind: Pose,
    /// In metres.
    height: f32,
    body: Result<Body, RoleError>,
    /// What may be wrong with the file or the command line.
    hints: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: &InfoArgs) -> Result<(), Failure> {
    let model = model::read(&args.model, &args.units)?;
    let bind = model::bind_pose(&model);
    let body = model::body(&model, &bind, &args.body)?;
    // Feet that were given by hand and do not fit are what the user came for.
    if let (Err(error), true) = (&body, args.body.feet.is_some() || args.body.hips.is_some()) {
        return Err(Failure::work(error));
    }
    let height = model::height(&model, &bind);
    let hints = hints(&model, &bind, height, &body);
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

/// What looks wrong with units and axes of a body.
fn hints(model: &Model, bind: &Pose, height: f32, body: &Result<Body, RoleError>) -> Vec<String> {
    let mut hints = Vec::new();
    let Ok(body) = body else { return hints };
    let is_bvh = matches!(model.source, Source::Bvh(_));
    let leg = &body.legs[0];
    let down = bind.position(leg.foot) - bind.position(leg.thigh);
    let lies = down.y.abs() < 0.5 * down.length();
    if lies && is_bvh && down.z.abs() > 0.7 * down.length() {
        hints.push("the legs lie along Z instead of hanging down: --up z may be missing".into());
    }
    // People measure 0.5 to 2 m, game figures from a toy's size to a giant's.
    let size = if lies { down.length() * 2.0 } else { height };
    if !(0.2..=10.0).contains(&size) {
        let remedy = match is_bvh {
            true => "--scale may be missing (CMU's files: 0.056444, centimetres: 0.01, inches: 0.0254)",
            false => "glTF is in metres; the program that wrote this file may have used another unit",
        };
        hints.push(format!("a figure of {size:.2} m is unlikely: {remedy}"));
    }
    hints
}
