//! Reading of animations as clips.

use std::collections::HashMap;

use glam::{Quat, Vec3};
use sinew::{
    Skeleton,
    motion::{Clip, Interpolation, JointTracks, Track, TrackError, TrackValue},
};

use crate::{ClipProblem, FileError, budget::Budget, text::shorten};

use super::{Document, json::Place, placement};

/// Error of reading a clip: the file is damaged, or this clip alone cannot be played.
pub(super) enum Fault {
    File(FileError),
    Clip { at: String, what: String },
}

impl Fault {
    /// The error where the clip must be played.
    pub(super) fn into_error(self, document: &Document) -> FileError {
        match self {
            Self::File(error) => error,
            Self::Clip { at, what } => document.error(at, what),
        }
    }
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// The animations of a document.
#[derive(Default)]
pub(super) struct Animations {
    pub clips: Vec<Clip>,
    /// Index among the animations of each clip.
    pub indices: Vec<usize>,
    /// Those that cannot be played.
    pub problems: Vec<ClipProblem>,
}

/// Reads all animations.
pub(super) fn read(
    document: &Document,
    skeleton: &Skeleton,
    budget: &Budget,
) -> Result<Animations, FileError> {
    let mut all = Animations::default();
    for (i, animation) in document.root().list("animations")?.iter().enumerate() {
        let name = match animation.maybe_text("name") {
            None | Some("") => format!("animation{i}"),
            Some(name) => name.to_owned(),
        };
        match read_one(document, skeleton, animation, &name, budget) {
            Ok(clip) => {
                all.clips.push(clip);
                all.indices.push(i);
            }
            Err(Fault::File(error)) => return Err(error),
            Err(Fault::Clip { at, what }) => all.problems.push(ClipProblem { clip: name, at, what }),
        }
    }
    Ok(all)
}

fn read_one(
    document: &Document,
    skeleton: &Skeleton,
    animation: &Place<'_>,
    name: &str,
    budget: &Budget,
) -> Result<Clip, Fault> {
    let mut tracks: Vec<JointTracks> = Vec::new();
    let mut track_of: HashMap<usize, usize> = HashMap::new();
    for channel in animation.list("channels")? {
        let target = channel.need("target")?;
        // A channel without a node belongs to an extension; a node outside the scene is no joint.
        let Some(node) = target.get("node") else { continue };
        node.follow(&document.root(), "nodes")?;
        let Some(index) = document.joint_of_node(node.index()?) else { continue };
        let Some(joint) = skeleton.joint_at(index) else { continue };
        let path = target.need("path")?.text()?;
        if !matches!(path, "translation" | "rotation" | "scale") {
            continue;
        }
        let of = format!("{path} of `{}`", shorten(skeleton.name(joint)));
        let sampler = channel.need("sampler")?.follow(animation, "samplers")?;
        let at = *track_of.entry(index).or_insert_with(|| {
            tracks.push(JointTracks::new(joint));
            tracks.len() - 1
        });
        let Some(track) = tracks.get_mut(at) else { continue };
        let taken = match path {
            "translation" => {
                track.translation.replace(read_track(document, &channel, &sampler, &of, budget)?).is_some()
            }
            "scale" => track.scale.replace(read_track(document, &channel, &sampler, &of, budget)?).is_some(),
            _ => track.rotation.replace(read_track(document, &channel, &sampler, &of, budget)?).is_some(),
        };
        if taken {
            let what = format!("a second channel for the {of}");
            return Err(Fault::Clip { at: channel.at().to_owned(), what });
        }
    }
    Clip::new(name, skeleton, tracks)
        .map_err(|_| Fault::Clip { at: animation.at().to_owned(), what: "no key moves a joint".to_owned() })
}

/// Value of a sampler.
pub(super) trait Sampled: TrackValue {
    fn read(values: &super::accessor::Accessor<'_>) -> Result<Vec<Self>, FileError>;

    /// The value as a key, or a description of its error. A value that is not finite is returned, as the track checks it.
    fn into_key(self) -> Result<Self, String> {
        Ok(self)
    }
}

impl Sampled for Vec3 {
    fn read(values: &super::accessor::Accessor<'_>) -> Result<Vec<Self>, FileError> {
        Ok(values.floats::<3>()?.into_iter().map(Vec3::from_array).collect())
    }
}

impl Sampled for Quat {
    fn read(values: &super::accessor::Accessor<'_>) -> Result<Vec<Self>, FileError> {
        Ok(values.floats::<4>()?.into_iter().map(Quat::from_array).collect())
    }

    fn into_key(self) -> Result<Self, String> {
        if self.is_finite_value() { placement::unit(self) } else { Ok(self) }
    }
}

pub(super) fn read_track<T: Sampled>(
    document: &Document,
    channel: &Place<'_>,
    sampler: &Place<'_>,
    of: &str,
    budget: &Budget,
) -> Result<Track<T>, Fault> {
    let interpolation = match sampler.get("interpolation") {
        None => Interpolation::Linear,
        Some(place) => match place.text()? {
            "LINEAR" => Interpolation::Linear,
            "STEP" => Interpolation::Step,
            "CUBICSPLINE" => Interpolation::Cubic,
            other => return Err(place.error(format!("`{other}` is not an interpolation of glTF")).into()),
        },
    };
    let times = document.accessor(&sampler.need("input")?, budget)?.floats::<1>()?;
    let mut times: Vec<f32> = times.into_iter().map(|[t]| t).collect();
    separate_equal_times(&mut times);
    let mut values = T::read(&document.accessor(&sampler.need("output")?, budget)?)?;
    // In cubic tracks each key is between its two tangents.
    let (first, step) = if interpolation == Interpolation::Cubic { (1, 3) } else { (0, 1) };
    for (index, key) in values.iter_mut().skip(first).step_by(step).enumerate() {
        *key = key.into_key().map_err(|what| Fault::Clip {
            at: channel.at().to_owned(),
            what: format!("{of}: key {index}: {what}"),
        })?;
    }
    Track::new(times, values, interpolation).map_err(|error| {
        let what = match error {
            TrackError::Value { index } if interpolation == Interpolation::Cubic => {
                format!("key {} is not finite", index / 3)
            }
            TrackError::Value { index } => format!("key {index} is not finite"),
            TrackError::NoKeys => "there is no key".to_owned(),
            other => other.to_string(),
        };
        Fault::Clip { at: channel.at().to_owned(), what: format!("{of}: {what}") }
    })
}

/// Separates keys at equal times, as some exporters write a jump: glTF forbids them, but all viewers play them. The later
/// key moves to the next f32, which keeps both values and their order.
fn separate_equal_times(times: &mut [f32]) {
    let mut read = f32::NEG_INFINITY;
    let mut set = f32::NEG_INFINITY;
    for time in times {
        // Only times that are equal as read are separated; decreasing times remain, and are an error of the track.
        let equal = *time == read;
        read = *time;
        if equal {
            *time = set.next_up();
        }
        set = *time;
    }
}
