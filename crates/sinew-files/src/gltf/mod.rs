//! Reading and writing of glTF, GLB and VRM.
//!
//! The document is kept as JSON and read through checked look-ups, not through a typed mirror of the format. Unknown content
//! is therefore written as it was read (numbers to the digit; only `1E2` becomes `1e+2`), and every index, count and length
//! is checked before it is used.
//!
//! Files that a document names must be in its folder, with links followed, unless [`ReadOptions::allow_outside`] is set. A
//! required extension (`extensionsRequired`) is accepted if it is decoded here, or if it concerns only content that is not
//! read (materials, textures, lights, metadata). Compressed documents and unknown required extensions are errors.
//!
//! Axes and units are those of glTF: right-handed, Y up, metres, radians, seconds.
//!
//! # Keys of rigs
//!
//! glTF animates nodes. A keyed goal is a node for each stay in a space: its `translation` is the goal's position, its
//! `rotation` the goal's. In the space of a joint it is a child of that joint's node, so that every viewer shows it where it is.
//! All others are children of one node, `rig keys`, at the root of the scene: there a node in the space of the world or of a role is
//! shown as if that were the scene's. A keyed pole is a node of its own. Each keyed number is one too: the y of its translation, in
//! radians, or from 0 to 1. The spaces are a number as well: that of the node in force, a step at each change.
//!
//! A node says what it is in its `extras`:
//!
//! ```json
//! {"name": "left hand goal",
//!  "extras": {"sinew_keys": {"handle": "left hand", "goal": 0, "part": "goal", "space": "model", "stay": 0, "number": 1}}}
//! ```
//!
//! `goal` counts the goals of the handle from 0. `part` is `goal`, `pole`, or the name of a number: `swivel`, `roll`, `bank`,
//! `pivot`, `position influence`, `rotation influence`, `space`, `pole space`. The parts `upper turn` and `middle turn` are nodes
//! whose rotations are the turns of a limb's root and middle joint. `space` is `model`, `world`, `joint` (that of
//! the parent) or `{"role": "left foot"}`. Keys of joints are channels of their own nodes. Several animations share the nodes.
//!
//! A track of steps is a `STEP` sampler, a linear one a `LINEAR` sampler, and every other a `CUBICSPLINE` (of two keys or more),
//! with the slopes that the keys have: exactly what is sampled here, but for linear pieces of rotations in it, whose ends have the right speed. A step in it
//! is held by one more key just before its end. Since glTF has one interpolation a sampler, and no automatic slopes, the sampler's
//! `extras` say how each key came: `{"sinew_keys": ["smooth", "hold", "step", ["smooth", [0, 0, 0], [1, 0, 0]]]}`, in which
//! `hold` is such a key, and a list has slopes of its own. Where another program left them out, steps and lines are
//! what the sampler says, and cubic keys have its slopes.
//!
//! ```
//! use sinew::{body::{BodyRoles, Side}, glam::Vec3, rig::{HandleSolver, HandleSpec, Rig, RigSpec, Space}};
//! use sinew::rig::keys::{Key, KeyChannel, KeyEdit, KeyOwner, RigKeys};
//! use sinew_files::{Model, Source, gltf::Document, sample};
//!
//! fn rig(model: &Model) -> Result<Rig, Box<dyn std::error::Error>> {
//!     let bind = model.bind_pose();
//!     let body = BodyRoles::find(&bind, &model.declared_roles)?;
//!     let leg = body.leg(Side::Left);
//!     let foot = HandleSpec { solver: HandleSolver::Foot, ..HandleSpec::new("left foot", leg.thigh, leg.foot) };
//!     Ok(Rig::new(&bind, Some(&body), &RigSpec::new(vec![foot]))?)
//! }
//!
//! let model = sample::mannequin()?;
//! let legs = rig(&model)?;
//! let mut keys = RigKeys::new(&legs);
//! let (foot, position) = (KeyOwner::Goal(0), KeyChannel::position(Space::Model));
//! let step = KeyEdit::new()
//!     .set(foot, position, Key::new(0.0, Vec3::new(0.1, 0.1, 0.0)))
//!     .set(foot, position, Key::new(0.5, Vec3::new(0.1, 0.2, 0.3)))
//!     .set(foot, KeyChannel::Roll, Key::new(0.5, 0.4));
//! keys.edit(&step)?;
//!
//! let Source::Gltf(mut document) = model.source else { unreachable!() };
//! let animation = document.add_keys("step", &legs, &keys)?;
//! let mut glb = Vec::new();
//! document.to_glb(&mut glb)?;
//!
//! let model = Document::from_bytes(&glb, "step.glb", None)?.into_model()?; // it has the goals' nodes as joints too
//! let legs = rig(&model)?;
//! let Source::Gltf(document) = &model.source else { unreachable!() };
//! assert_eq!(document.keys(animation, &model.skeleton, &legs)?.tracks()[0].keys(), keys.tracks()[0].keys());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accessor;
mod bind;
mod buffer;
mod clip;
mod document;
mod edit;
mod glb;
mod json;
mod keys;
mod mesh;
mod placement;
mod read;
mod required;
mod skin;
mod tree;
mod vrm;
mod write;

use std::path::Path;

pub use document::Document;

use crate::{FileError, Model, ReadOptions};

/// Reads a .gltf, .glb or .vrm file. Of the options, only [`ReadOptions::memory_budget`] and [`ReadOptions::allow_outside`]
/// apply to these formats.
///
/// # Errors
/// Those of [`Document::read`] and [`Document::into_model`].
pub fn read(path: &Path, options: &ReadOptions) -> Result<Model, FileError> {
    Document::read(path, options)?.into_model()
}
