//! Check of a URDF's joints, with errors that name the element and the value.
//!
//! The URDF parser names neither the element nor the value of a bad number, and it skips words that are no numbers if three
//! numbers remain. Joints and their parts are therefore checked before it runs.

use super::xml::{self, Part, Tag};
use crate::{budget::Budget, text::shorten};

/// Joint types of the format.
const KINDS: [&str; 7] = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"];

/// Error with its position: a line, or an element.
pub(super) enum Wrong {
    Line(usize, String),
    At { at: String, what: String },
}

/// Checks links and joints, and returns the text with its elements alone, as [`xml::walk`] does.
pub(super) fn check(text: &str, budget: &Budget) -> Result<String, Wrong> {
    let mut open: Vec<String> = Vec::new();
    // The open joint, and whether its parent and child link were named.
    let mut joint: Option<(String, [bool; 2])> = None;
    xml::walk(text, budget, |part| {
        let tag = match part {
            Part::Opens(tag) => tag,
            Part::Closes(name) => {
                open.pop();
                return if open.len() == 1 && name == "joint" { ended(joint.take()) } else { Ok(()) };
            }
        };
        let path: Vec<&str> = open.iter().take(3).map(String::as_str).collect();
        match (path.as_slice(), tag.name.as_str()) {
            (["robot"], "link") => {
                named(&tag)?;
            }
            (["robot"], "joint") => {
                let at = format!("joint `{}`", shorten(named(&tag)?));
                match tag.get("type") {
                    None => return Err(Wrong::At { at, what: "it has no type".into() }),
                    Some(kind) if !KINDS.contains(&kind) => {
                        let what =
                            format!("its type `{}` must be one of {}", shorten(kind), KINDS.join(", "));
                        return Err(Wrong::At { at, what });
                    }
                    Some(_) => joint = Some((at, [false; 2])),
                }
            }
            (["robot", "joint"], _) => {
                if let Some((at, links)) = &mut joint {
                    part_of_joint(&tag, links).map_err(|what| Wrong::At { at: at.clone(), what })?;
                }
            }
            _ => {}
        }
        open.push(tag.name);
        Ok(())
    })
}

fn named(tag: &Tag) -> Result<&str, Wrong> {
    let wrong =
        || Wrong::At { at: format!("line {}", tag.line), what: format!("a {} has no name", tag.name) };
    tag.get("name").ok_or_else(wrong)
}

/// Checks at the end of a joint that both its links were named.
fn ended(joint: Option<(String, [bool; 2])>) -> Result<(), Wrong> {
    match joint {
        Some((at, [false, _])) => Err(Wrong::At { at, what: "it has no parent link".into() }),
        Some((at, [_, false])) => Err(Wrong::At { at, what: "it has no child link".into() }),
        _ => Ok(()),
    }
}

/// Checks an element of a joint.
fn part_of_joint(tag: &Tag, links: &mut [bool; 2]) -> Result<(), String> {
    let number = |key: &str| match tag.get(key) {
        Some(text) if !is_number(text) => {
            Err(format!("its {}'s {key} must be a number, not `{}`", tag.name, shorten(text)))
        }
        _ => Ok(()),
    };
    let three = |key: &str| match tag.get(key) {
        Some(text) if !(text.split_whitespace().count() == 3 && text.split_whitespace().all(is_number)) => {
            Err(format!("its {}'s {key} must be three numbers, not `{}`", tag.name, shorten(text)))
        }
        _ => Ok(()),
    };
    match tag.name.as_str() {
        "origin" => ["xyz", "rpy"].into_iter().try_for_each(three),
        "axis" => three("xyz"),
        "limit" => ["lower", "upper", "effort", "velocity"].into_iter().try_for_each(number),
        "mimic" => {
            if tag.get("joint").is_none() {
                return Err("its mimic names no joint".into());
            }
            ["multiplier", "offset"].into_iter().try_for_each(number)
        }
        "parent" | "child" => {
            if tag.get("link").is_none() {
                return Err(format!("its {} names no link", tag.name));
            }
            links[usize::from(tag.name == "child")] = true;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Whether the parser reads the text as a number. NaN and infinities, which it takes, are checked later.
fn is_number(text: &str) -> bool {
    text.trim().parse::<f64>().is_ok()
}
