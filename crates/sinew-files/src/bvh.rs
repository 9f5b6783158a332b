//! Reading and writing of BVH.
//!
//! A BVH file is a hierarchy of joints, each with an offset and a list of channels, and a table of the channels' values,
//! with one row per frame. Programs differ in how they read it. Here
//!
//! - rotation channels are applied as they are listed, the first outermost: `Zrotation Xrotation` is Rz * Rx;
//! - position channels *replace* the offset, on any joint, axis by axis (an axis without a channel keeps the offset's
//!   value). That is how Blender and MotionBuilder read and write them; in files that only move the root, whose offset is
//!   nearly always zero, adding gives the same;
//! - an `End Site` becomes a joint with the name of its parent (at most 80 characters of it) and ` end`, so that toes and
//!   head tips have a bone;
//! - the rest pose is the offsets with no rotation;
//! - every row must have a value for each channel, and there must be as many rows as the file says.

mod euler;
mod parse;
mod write;

use std::{path::Path, sync::Arc};

use glam::{Quat, Vec3};
use sinew::{
    JointId, JointTransform, Skeleton, math,
    motion::{Clip, Interpolation, JointTracks, Track},
};

use crate::{FileError, Model, ReadOptions, Source, budget::Budget, open::read_file, units::Units};
use parse::{Channel, Parsed};

/// BVH document, which can be written back with another motion.
#[derive(Clone, Debug)]
pub struct Bvh {
    /// Text before the motion, unchanged.
    hierarchy: String,
    joints: Vec<Joint>,
    /// Seconds per frame, as the file's text; `None` without a motion.
    frame_time: Option<String>,
    units: Units,
}

/// Joint of the file.
#[derive(Clone, Debug)]
struct Joint {
    name: String,
    parent: Option<usize>,
    /// Offset from the parent, in the file's units and axes.
    offset: [f64; 3],
    channels: Vec<Channel>,
}

/// Reads a BVH file. Its clip has the file's name; a file without frames has no clip. Of the options,
/// [`ReadOptions::allow_outside`] does not apply.
///
/// # Errors
/// A path that is no readable regular file, text that is no valid BVH (with its line), numbers that are not finite or that
/// f32 cannot hold, a scale that is not positive, and content over the memory budget.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Model, FileError> {
    from_bytes(&read_file(path)?, path, options)
}

/// Reads the bytes of a BVH file; see [`read`]. `path` names the file in errors, the model and its clip.
pub fn from_bytes(bytes: &[u8], path: &Path, options: &ReadOptions) -> Result<Model, FileError> {
    let units = Units::new(path, options)?;
    let text = String::from_utf8_lossy(bytes);
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    parse::parse(&text, &Budget::new(options.memory_budget, bytes.len()))
        .and_then(|parsed| model(name, parsed, units))
        .map_err(|(line, what)| FileError::Line { path: path.into(), line, what })
}

/// Line, counted from 1, and description of an error.
type Wrong = (usize, String);

fn model(name: String, parsed: Parsed, units: Units) -> Result<Model, Wrong> {
    let mut builder = Skeleton::builder();
    for (joint, line) in parsed.joints.iter().zip(&parsed.lines) {
        let offset = units.position_in(joint.offset);
        if !offset.is_finite() {
            return Err((*line, format!("the offset of `{}` is too large: f32 cannot hold it", joint.name)));
        }
        builder.add(joint.name.clone(), joint.parent, JointTransform::from_translation(offset));
    }
    let (skeleton, ids) = builder.build().map_err(|e| (1, e.to_string()))?;
    let clip = clip(&name, &parsed, units, &skeleton, &ids)?;
    let bind = skeleton.joints().map(|j| *skeleton.rest(j)).collect();
    Ok(Model {
        name,
        skeleton: Arc::new(skeleton),
        clips: clip.into_iter().collect(),
        problems: Vec::new(),
        bind,
        bind_problems: Vec::new(),
        skin: Vec::new(),
        declared_roles: Vec::new(),
        source: Source::Bvh(Bvh {
            hierarchy: parsed.hierarchy,
            joints: parsed.joints,
            frame_time: parsed.motion.map(|m| m.frame_time_text),
            units,
        }),
    })
}

fn clip(
    name: &str,
    parsed: &Parsed,
    units: Units,
    skeleton: &Skeleton,
    ids: &[JointId],
) -> Result<Option<Clip>, Wrong> {
    let Some(motion) = &parsed.motion else { return Ok(None) };
    let width: usize = parsed.joints.iter().map(|j| j.channels.len()).sum();
    if width == 0 || motion.row_lines.is_empty() {
        return Ok(None);
    }
    let times: Vec<f32> =
        (0..motion.row_lines.len()).map(|i| (i as f64 * motion.frame_time) as f32).collect();
    let mut tracks = Vec::new();
    let mut first = 0;
    for (joint, &id) in parsed.joints.iter().zip(ids) {
        let columns = first..first + joint.channels.len();
        first = columns.end;
        let rows = || motion.values.chunks_exact(width).map(|row| &row[columns.clone()]);
        let moves = joint.channels.iter().any(|c| !c.is_rotation);
        let turns = joint.channels.iter().any(|c| c.is_rotation);
        let mut track = JointTracks::new(id);
        if moves {
            let mut positions: Vec<Vec3> = Vec::with_capacity(times.len());
            for (row, line) in rows().zip(&motion.row_lines) {
                let mut position = joint.offset;
                for (channel, value) in joint.channels.iter().zip(row).filter(|(c, _)| !c.is_rotation) {
                    position[channel.axis] = *value;
                }
                let position = units.position_in(position);
                if !position.is_finite() {
                    let what = format!("the position of `{}` is too large: f32 cannot hold it", joint.name);
                    return Err((*line, what));
                }
                positions.push(position);
            }
            track.translation = Some(linear(&times, positions, motion.frame_time_line)?);
        }
        if turns {
            let mut rotations: Vec<Quat> = Vec::with_capacity(times.len());
            for row in rows() {
                let turns = joint.channels.iter().zip(row).filter(|(c, _)| c.is_rotation);
                let q = euler::to_quaternion(turns.map(|(c, degrees)| (c.axis, degrees.to_radians())));
                let [x, y, z] = units.axis_in([q[0], q[1], q[2]]);
                let q = Quat::from_xyzw(x as f32, y as f32, z as f32, q[3] as f32);
                // Both signs are the same rotation; the one nearer to the key before keeps curves smooth.
                let opposite = rotations.last().is_some_and(|&before| math::dot(before, q) < 0.0);
                rotations.push(if opposite { Quat::from_xyzw(-q.x, -q.y, -q.z, -q.w) } else { q });
            }
            track.rotation = Some(linear(&times, rotations, motion.frame_time_line)?);
        }
        if moves || turns {
            tracks.push(track);
        }
    }
    Clip::new(name, skeleton, tracks).map(Some).map_err(|e| (motion.frame_time_line, e.to_string()))
}

/// A linear track through all frames. The values have been checked; an error is a frame time too short for f32 to tell
/// frames apart.
fn linear<T: sinew::motion::TrackValue>(
    times: &[f32],
    values: Vec<T>,
    frame_time_line: usize,
) -> Result<Track<T>, Wrong> {
    Track::new(times.to_vec(), values, Interpolation::Linear).map_err(|e| (frame_time_line, e.to_string()))
}
