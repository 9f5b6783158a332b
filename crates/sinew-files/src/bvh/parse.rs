//! Parser of BVH text.

use super::{Joint, Wrong};
use crate::{
    budget::Budget,
    text::{number, shorten},
};

/// Channel of a joint: one number of each row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Channel {
    /// 0, 1, 2 for x, y, z.
    pub(super) axis: usize,
    /// Whether the value is in degrees about the axis, or else in units along it.
    pub(super) is_rotation: bool,
}

/// Parsed text. Its numbers are finite and its counts agree.
pub(super) struct Parsed {
    pub(super) hierarchy: String,
    pub(super) joints: Vec<Joint>,
    /// For each joint, the line that names it.
    pub(super) lines: Vec<usize>,
    pub(super) motion: Option<Motion>,
}

/// Table of frames.
pub(super) struct Motion {
    /// Seconds per frame.
    pub(super) frame_time: f64,
    pub(super) frame_time_text: String,
    pub(super) frame_time_line: usize,
    /// Values of all rows in sequence.
    pub(super) values: Vec<f64>,
    /// Line of each row.
    pub(super) row_lines: Vec<usize>,
}

pub(super) fn parse(text: &str, budget: &Budget) -> Result<Parsed, Wrong> {
    let mut hierarchy = Hierarchy::new(budget);
    // Line ends are kept, so that the lengths add up to offsets in the text.
    let mut lines = text.split_inclusive('\n').enumerate().map(|(i, line)| (i + 1, line));
    let mut read = 0;
    let mut last = 1;
    let mut has_motion = false;
    for (number, line) in &mut lines {
        last = number;
        if keyword(line.trim(), "motion").is_some_and(str::is_empty) {
            has_motion = true;
            break;
        }
        read += line.len();
        hierarchy.line(number, line)?;
    }
    let (joints, joint_lines) = hierarchy.finish(last)?;
    let width = joints.iter().map(|j| j.channels.len()).sum();
    let motion = if has_motion { motion(lines, last, width, budget)? } else { None };
    Ok(Parsed { hierarchy: text[..read].into(), joints, lines: joint_lines, motion })
}

/// The text after a keyword in any case; `None` if the text starts with another word.
fn keyword<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    let ends = rest.chars().next().is_none_or(|c| c.is_whitespace() || c == ':');
    (head.eq_ignore_ascii_case(word) && ends).then(|| rest.trim())
}

/// State of the hierarchy's parser.
struct Hierarchy<'a> {
    budget: &'a Budget,
    joints: Vec<Joint>,
    lines: Vec<usize>,
    /// For each joint, whether its offset was read.
    has_offset: Vec<bool>,
    /// Joints whose brace is open. A list instead of recursion, as hierarchies may have any depth.
    open: Vec<usize>,
    /// Whether the last joint was named and its brace must follow.
    named: bool,
    /// Whether HIERARCHY was read.
    begun: bool,
}

impl<'a> Hierarchy<'a> {
    fn new(budget: &'a Budget) -> Self {
        Self {
            budget,
            joints: Vec::new(),
            lines: Vec::new(),
            has_offset: Vec::new(),
            open: Vec::new(),
            named: false,
            begun: false,
        }
    }

    fn line(&mut self, line: usize, text: &str) -> Result<(), Wrong> {
        let mut rest = text.trim_start_matches('\u{feff}').trim();
        while let Some(first) = rest.chars().next() {
            match first {
                '{' => {
                    if !self.named {
                        return Err((line, "`{` without a joint before it".into()));
                    }
                    self.named = false;
                    self.open.push(self.joints.len() - 1);
                    rest = &rest[1..];
                }
                '}' => {
                    if self.named || self.open.pop().is_none() {
                        return Err((line, "`}` without a `{` before it".into()));
                    }
                    rest = &rest[1..];
                }
                _ => {
                    let end = rest.find(['{', '}']).unwrap_or(rest.len());
                    self.statement(line, rest[..end].trim()).map_err(|what| (line, what))?;
                    rest = &rest[end..];
                }
            }
            rest = rest.trim_start();
        }
        Ok(())
    }

    fn statement(&mut self, line: usize, text: &str) -> Result<(), String> {
        if !self.begun {
            self.begun = true;
            return match keyword(text, "hierarchy") {
                Some("") => Ok(()),
                _ => Err("a BVH file starts with HIERARCHY".into()),
            };
        }
        if self.named {
            return Err(format!("`{{` is missing before `{}`", shorten(text)));
        }
        if let Some(name) = keyword(text, "root") {
            if let Some(&open) = self.open.last() {
                return Err(format!("ROOT inside of `{}`", self.joints[open].name));
            }
            self.joint(line, name.into(), None)
        } else if let Some(name) = keyword(text, "joint") {
            let parent = self.parent("JOINT")?;
            self.joint(line, name.into(), Some(parent))
        } else if keyword(text, "end").is_some() {
            let parent = self.parent("End Site")?;
            // Unshortened names could grow with the square of the file, as an end may hold another end.
            self.joint(line, format!("{} end", shorten(&self.joints[parent].name)), Some(parent))
        } else if let Some(numbers) = keyword(text, "offset") {
            let open = self.parent("OFFSET")?;
            if std::mem::replace(&mut self.has_offset[open], true) {
                return Err(format!("a second OFFSET for `{}`", self.joints[open].name));
            }
            let values = numbers.split_whitespace().map(number).collect::<Result<Vec<_>, _>>()?;
            let count = values.len();
            self.joints[open].offset =
                values.try_into().map_err(|_| format!("OFFSET needs 3 numbers, not {count}"))?;
            Ok(())
        } else if let Some(channels) = keyword(text, "channels") {
            let open = self.parent("CHANNELS")?;
            let joint = &mut self.joints[open];
            if !joint.channels.is_empty() {
                return Err(format!("a second CHANNELS for `{}`", joint.name));
            }
            joint.channels = read_channels(channels)?;
            Ok(())
        } else {
            Err(format!("`{}` is not a statement of a hierarchy", shorten(text)))
        }
    }

    fn parent(&self, what: &str) -> Result<usize, String> {
        self.open.last().copied().ok_or_else(|| format!("{what} outside of any joint"))
    }

    fn joint(&mut self, line: usize, name: String, parent: Option<usize>) -> Result<(), String> {
        /// Bytes of a joint here, in the skeleton, and in scratch memory.
        const JOINT: usize = 512;
        self.budget.take_all(1, JOINT + 2 * name.len()).map_err(|e| e.to_string())?;
        self.joints.push(Joint { name, parent, offset: [0.0; 3], channels: Vec::new() });
        self.lines.push(line);
        self.has_offset.push(false);
        self.named = true;
        Ok(())
    }

    fn finish(self, line: usize) -> Result<(Vec<Joint>, Vec<usize>), Wrong> {
        let missing_brace = if self.named { self.joints.last() } else { None };
        if let Some(joint) = missing_brace {
            return Err((line, format!("`{{` is missing after `{}`", joint.name)));
        }
        if let Some(&open) = self.open.last() {
            return Err((line, format!("`}}` of `{}` is missing", self.joints[open].name)));
        }
        if let Some(i) = self.has_offset.iter().position(|has| !has) {
            return Err((self.lines[i], format!("`{}` has no OFFSET", self.joints[i].name)));
        }
        if self.joints.is_empty() {
            return Err((line, "there is no ROOT".into()));
        }
        Ok((self.joints, self.lines))
    }
}

/// Parses the count and the names of a joint's channels.
fn read_channels(text: &str) -> Result<Vec<Channel>, String> {
    let mut words = text.split_whitespace();
    let count = words.next().unwrap_or_default();
    let mut channels = Vec::new();
    for word in words {
        let lower = word.to_ascii_lowercase();
        let axis = match lower.as_bytes().first() {
            Some(b'x') => 0,
            Some(b'y') => 1,
            Some(b'z') => 2,
            _ => return Err(format!("`{word}` is not a channel")),
        };
        let is_rotation = match &lower[1..] {
            "rotation" => true,
            "position" => false,
            "scale" => return Err(format!("channel `{word}`: scale is not supported")),
            _ => return Err(format!("`{word}` is not a channel")),
        };
        let channel = Channel { axis, is_rotation };
        if channels.contains(&channel) {
            return Err(format!("channel `{word}` is named twice"));
        }
        channels.push(channel);
    }
    if count.parse() != Ok(channels.len()) {
        return Err(format!("CHANNELS gives the count `{count}`, but names {}", channels.len()));
    }
    Ok(channels)
}

/// Parses the frames after MOTION, which is in line `last`. `None` if there are none.
fn motion<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    mut last: usize,
    width: usize,
    budget: &Budget,
) -> Result<Option<Motion>, Wrong> {
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let mut header = |word: &str, second: &str| -> Result<Option<(usize, &'a str)>, Wrong> {
        let Some((line, text)) = lines.next() else { return Ok(None) };
        let rest = keyword(text.trim(), word)
            .and_then(|rest| if second.is_empty() { Some(rest) } else { keyword(rest, second) });
        match rest.map(|rest| rest.trim_start_matches(':').trim()) {
            Some(value) => Ok(Some((line, value))),
            None => {
                let wanted = format!("{word} {second}");
                Err((
                    line,
                    format!("it must be `{}: ...`, not `{}`", wanted.trim_end(), shorten(text.trim())),
                ))
            }
        }
    };
    // A motion without lines is empty.
    let Some((frames_line, frames)) = header("frames", "")? else { return Ok(None) };
    let frames: usize =
        frames.parse().map_err(|_| (frames_line, format!("`{frames}` is not a count of frames")))?;
    let Some((frame_time_line, frame_time_text)) = header("frame", "time")? else {
        return if frames == 0 { Ok(None) } else { Err((frames_line, "there is no Frame Time".into())) };
    };
    let frame_time = number(frame_time_text).map_err(|what| (frame_time_line, what))?;
    // Some programs write 0 for a single frame.
    if frame_time < 0.0 || (frame_time == 0.0 && frames > 1) {
        let what = format!("the frame time must be greater than 0 seconds, not {frame_time_text}");
        return Err((frame_time_line, what));
    }
    /// Bytes of a value here and in its key, which has at most four numbers and a time.
    const ROW: usize = 28;
    let mut values = Vec::new();
    let mut row_lines = Vec::new();
    if width == 0 {
        // Rows without values are empty lines, which are not counted.
        if let Some((line, _)) = lines.next() {
            return Err((line, "there are values, but the hierarchy has no channels".into()));
        }
    }
    for (line, text) in lines {
        last = line;
        if row_lines.len() == frames {
            return Err((line, format!("more frames than the {frames} that line {frames_line} says")));
        }
        budget.take_all(width, ROW).map_err(|e| (line, e.to_string()))?;
        let before = values.len();
        for word in text.split_whitespace() {
            values.push(number(word).map_err(|what| (line, what))?);
        }
        let count = values.len() - before;
        if count != width {
            return Err((line, format!("{count} values for the {width} channels of the hierarchy")));
        }
        row_lines.push(line);
    }
    if row_lines.len() < frames && width > 0 {
        let count = row_lines.len();
        return Err((
            last,
            format!("the file ends after {count} of the {frames} frames of line {frames_line}"),
        ));
    }
    let frame_time_text = frame_time_text.into();
    Ok(Some(Motion { frame_time, frame_time_text, frame_time_line, values, row_lines }))
}
