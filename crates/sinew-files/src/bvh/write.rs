//! A BVH document with another motion.

use std::{fmt::Write as _, path::Path, sync::Arc};

use sinew::{Pose, Skeleton, motion::Clip};

use super::{Bvh, Joint, euler};
use crate::{FileError, write_whole};

/// How far a joint may be from what its channels can say before that is an error, in metres: what `f32` loses of an offset
/// of a hundred metres. Larger offsets have the same share of theirs.
const PLACE_TOLERANCE: f64 = 1e-5;
/// The same for rotations, in radians, and for scales. A joint that turns about two axes only leaves them a little between
/// keys, where rotations take the great arc: by less than this where keys are within two degrees.
const TURN_TOLERANCE: f64 = 1e-4;
/// More frames than this are a mistake in the frame time: a day at 100 a second.
const MOST_FRAMES: f64 = 1e7;
/// Frames a second where neither the file nor the caller says so.
const USUAL_RATE: f64 = 30.0;

impl Bvh {
    /// Seconds a frame as the file has them; none where it has no motion.
    pub fn frame_time(&self) -> Option<f64> {
        self.frame_time.as_ref().and_then(|text| text.parse().ok()).filter(|&t| t > 0.0)
    }

    /// Writes the document with `clip` in place of its motion: hierarchy and channels letter by letter as they were read,
    /// in the file's own units and axes. The clip is sampled every `frame_time` seconds, or as often as the file's own
    /// motion, from its start to its end.
    ///
    /// `skeleton` is the one that was read with the document. Where the clip moves a joint in a way that its channels cannot
    /// say, this fails and names the joint; the file at `path` is then as it was.
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

    /// The whole text, or a place and what is wrong there.
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
                return Err(("frame time".into(), format!("{step} seconds a frame is no frame time")));
            }
            (None, Some(step), Some(text)) => (step, text.clone()),
            _ => (1.0 / USUAL_RATE, format!("{}", 1.0 / USUAL_RATE)),
        };
        let (start, end) = (f64::from(clip.start()), f64::from(clip.end()));
        // A key time is rounded to f32, which moves the end by far less than a twentieth of a frame.
        let frames = ((end - start) / step - 0.05).ceil().max(0.0);
        if frames > MOST_FRAMES {
            let what = format!("{step} seconds a frame make {frames} frames of {} seconds", end - start);
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
        let mut pose = Pose::rest(skeleton);
        // Angles of the frame before, in radians: a joint has at most three.
        let mut angles = vec![[0.0; 3]; self.joints.len()];
        for frame in 0..frames {
            let time = ((start + frame as f64 * step) as f32).min(clip.end());
            clip.sample(time, &mut pose);
            let row_start = text.len();
            for ((id, joint), angles) in skeleton.joints().zip(&self.joints).zip(&mut angles) {
                self.row(&mut text, joint, pose.local(id), angles)
                    .map_err(|what| (format!("joint `{}` at {time} s", joint.name), what))?;
            }
            // Every value is followed by a space; the last one's makes way for the end of the line.
            text.truncate(text.len().max(row_start + 1) - 1);
            text += end_of_line;
        }
        Ok(text)
    }

    /// Adds the values of a joint's channels, or says what they cannot.
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
        if (local.scale - 1.0).abs().max_element() > TURN_TOLERANCE as f32 {
            return Err(format!("BVH has no channel for the scale {}", local.scale));
        }
        let place = self.units.place_out(local.translation);
        for axis in 0..3 {
            let has_channel = joint.channels.iter().any(|c| !c.is_rotation && c.axis == axis);
            let off = (place[axis] - joint.offset[axis]).abs() * self.units.scale();
            let allowed = PLACE_TOLERANCE * (joint.offset[axis].abs() * self.units.scale() / 100.0).max(1.0);
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
        let left = euler::from_quaternion([x, y, z, f64::from(q.w)], &axes[..count], &mut angles[..count]);
        if left > TURN_TOLERANCE {
            return Err(format!("it turns by {left} rad in a way that its channels cannot say"));
        }
        let mut turn = angles.iter();
        // A micrometre and a millionth of a degree, whatever the file's unit.
        let digits = (6.0 + self.units.scale().log10().ceil()).clamp(6.0, 12.0) as usize;
        for channel in &joint.channels {
            // Writing into a String cannot fail.
            let _ = if channel.is_rotation {
                write!(text, "{:.6} ", turn.next().copied().unwrap_or(0.0).to_degrees())
            } else {
                write!(text, "{:.digits$} ", place[channel.axis])
            };
        }
        Ok(())
    }
}
