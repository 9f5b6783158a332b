//! Writing of a BVH document with another motion.

use std::{fmt::Write as _, path::Path, sync::Arc};

use sinew::{
    Pose, Skeleton,
    motion::{Clip, ClipCursor},
};

use super::{Bvh, Joint, euler};
use crate::{FileError, write_whole};

/// Largest position residual of a joint's channels, in metres: the precision of f32 at an offset of 100 m. It grows in
/// proportion with larger offsets.
const POSITION_TOLERANCE: f64 = 1e-5;
/// Largest residual of a joint's rotation, in radians, and of its scale. Interpolation takes the great arc, which deviates
/// from a joint's two axes between keys: by less than this if the keys are within two degrees.
const ROTATION_TOLERANCE: f64 = 1e-4;
/// Maximum number of frames: about a day at 100 per second. More are a mistake in the frame time.
const MAX_FRAMES: f64 = 1e7;
/// Frames per second if neither the file nor the caller gives them.
const DEFAULT_RATE: f64 = 30.0;

impl Bvh {
    /// Seconds per frame of the file; `None` if it has no motion.
    pub fn frame_time(&self) -> Option<f64> {
        self.frame_time.as_ref().and_then(|text| text.parse().ok()).filter(|&t| t > 0.0)
    }

    /// Writes the document with `clip` as its motion, in the file's units and axes. The text of the hierarchy is unchanged.
    /// The clip is sampled from start to end every `frame_time` seconds; `None` is the file's own frame time, or 1/30 s
    /// without one.
    ///
    /// `skeleton` is the one that was read with the document.
    ///
    /// # Errors
    /// Another skeleton, a frame time that is not finite and positive or that makes too many frames, and a joint whose
    /// motion its channels cannot represent. The file at `path` is then unchanged.
    pub fn write(
        &self,
        path: &Path,
        skeleton: &Arc<Skeleton>,
        clip: &Clip,
        frame_time: Option<f64>,
    ) -> Result<(), FileError> {
        let text = self.text(skeleton, clip, frame_time).map_err(|(at, what)| FileError::At {
            path: path.into(),
            at,
            what,
        })?;
        write_whole(path, |out| out.write_all(text.as_bytes()))
    }

    /// The whole text, or the position and description of an error.
    fn text(
        &self,
        skeleton: &Arc<Skeleton>,
        clip: &Clip,
        frame_time: Option<f64>,
    ) -> Result<String, (String, String)> {
        let matches = skeleton.len() == self.joints.len()
            && skeleton.joints().zip(&self.joints).all(|(id, joint)| {
                skeleton.name(id) == joint.name && skeleton.parent(id).map(|p| p.index()) == joint.parent
            });
        if !matches {
            return Err(("hierarchy".into(), "the skeleton is not the one that was read".into()));
        }
        let (step, step_text) = match (frame_time, self.frame_time(), &self.frame_time) {
            (Some(step), ..) if step.is_finite() && step > 0.0 => (step, format!("{step}")),
            (Some(step), ..) => {
                let what = format!("it must be finite and greater than 0 seconds, not {step}");
                return Err(("frame time".into(), what));
            }
            (None, Some(step), Some(text)) => (step, text.clone()),
            _ => (1.0 / DEFAULT_RATE, format!("{}", 1.0 / DEFAULT_RATE)),
        };
        let (start, end) = (f64::from(clip.start()), f64::from(clip.end()));
        // A key time is rounded to f32, which moves the end by far less than a twentieth of a frame.
        let frames = ((end - start) / step - 0.05).ceil().max(0.0);
        if frames > MAX_FRAMES {
            let what = format!(
                "{step} s per frame make {frames} frames of {} s; {MAX_FRAMES} frames are allowed",
                end - start
            );
            return Err(("frame time".into(), what));
        }
        let frames = frames as usize + 1;
        let end_of_line = if self.hierarchy.contains("\r\n") { "\r\n" } else { "\n" };
        let mut text = self.hierarchy.clone();
        if !text.ends_with('\n') {
            text += end_of_line;
        }
        text +=
            &format!("MOTION{end_of_line}Frames: {frames}{end_of_line}Frame Time: {step_text}{end_of_line}");
        let (mut pose, mut cursor) = (Pose::rest(skeleton), ClipCursor::default());
        // For each joint, the angles of the frame before, in radians; a joint has at most three.
        let mut angles = vec![[0.0; 3]; self.joints.len()];
        for frame in 0..frames {
            let time = ((start + frame as f64 * step) as f32).min(clip.end());
            clip.sample_from(&mut cursor, time, &mut pose);
            let row_start = text.len();
            for ((id, joint), angles) in skeleton.joints().zip(&self.joints).zip(&mut angles) {
                self.row(&mut text, joint, pose.local(id), angles)
                    .map_err(|what| (format!("joint `{}` at {time} s", joint.name), what))?;
            }
            // The space after the last value is removed.
            text.truncate(text.len().max(row_start + 1) - 1);
            text += end_of_line;
        }
        Ok(text)
    }

    /// Appends the values of a joint's channels. An error says what they cannot represent.
    fn row(
        &self,
        text: &mut String,
        joint: &Joint,
        local: &sinew::JointTransform,
        angles: &mut [f64; 3],
    ) -> Result<(), String> {
        if !local.is_finite() {
            return Err(format!("{local:?} is not finite"));
        }
        if (local.scale - 1.0).abs().max_element() > ROTATION_TOLERANCE as f32 {
            return Err(format!("BVH has no channel for the scale {}", local.scale));
        }
        let position = self.units.position_out(local.translation);
        for axis in 0..3 {
            let has_channel = joint.channels.iter().any(|c| !c.is_rotation && c.axis == axis);
            let off = (position[axis] - joint.offset[axis]).abs() * self.units.scale();
            let allowed =
                POSITION_TOLERANCE * (joint.offset[axis].abs() * self.units.scale() / 100.0).max(1.0);
            if !has_channel && off > allowed {
                let name = ["X", "Y", "Z"][axis];
                return Err(format!("it moves by {off} m, but has no channel {name}position"));
            }
        }
        let q = local.rotation;
        let [x, y, z] = self.units.axis_out([q.x, q.y, q.z].map(f64::from));
        let mut axes = [0; 3];
        let mut count = 0;
        for channel in joint.channels.iter().filter(|c| c.is_rotation).take(3) {
            axes[count] = channel.axis;
            count += 1;
        }
        let residual =
            euler::from_quaternion([x, y, z, f64::from(q.w)], &axes[..count], &mut angles[..count]);
        if residual > ROTATION_TOLERANCE {
            return Err(format!("it turns by {residual} rad about an axis for which it has no channel"));
        }
        let mut turn = angles.iter();
        // A precision of a micrometre, in any unit of the file, and of a millionth of a degree.
        let digits = (6.0 + self.units.scale().log10().ceil()).clamp(6.0, 12.0) as usize;
        for channel in &joint.channels {
            // Writing into a String cannot fail.
            let _ = if channel.is_rotation {
                write!(text, "{:.6} ", turn.next().copied().unwrap_or(0.0).to_degrees())
            } else {
                write!(text, "{:.digits$} ", position[channel.axis])
            };
        }
        Ok(())
    }
}
