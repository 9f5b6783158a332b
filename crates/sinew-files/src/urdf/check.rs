//! What is wrong with the text of a URDF, by element and value.
//!
//! The parser tells neither which element a bad number stands in nor what it is, and passes over what is no number in a
//! list of three where three others are left. So joints and their parts are looked at before it.

use super::xml::{self, Part, Tag};
use crate::{budget::Budget, text::shorten};

/// The kinds of joint of the format.
const KINDS: [&str; 7] = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"];

/// What is wrong: at a line, or at an element.
pub(super) enum Wrong {
    Line(usize, String),
    At { at: String, what: String },
}

/// Looks at links and joints, and gives the text with its elements alone.
pub(super) fn check(text: &str, budget: &Budget) -> Result<String, Wrong> {
    let mut open: Vec<String> = Vec::new();
    // The joint that is open, and which of its two links were named.
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
                        let what = format!("its type `{}` is none of {}", shorten(kind), KINDS.join(", "));
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

/// A joint at its end: it needs both its links.
fn ended(joint: Option<(String, [bool; 2])>) -> Result<(), Wrong> {
    match joint {
        Some((at, [false, _])) => Err(Wrong::At { at, what: "it has no parent link".into() }),
        Some((at, [_, false])) => Err(Wrong::At { at, what: "it has no child link".into() }),
        _ => Ok(()),
    }
}

/// A part of a joint.
fn part_of_joint(tag: &Tag, links: &mut [bool; 2]) -> Result<(), String> {
    let number = |key: &str| match tag.get(key) {
        Some(text) if !is_number(text) => {
            Err(format!("its {}'s {key} is no number: `{}`", tag.name, shorten(text)))
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

/// Whether the parser reads it as a number (NaN and infinities are for others to judge).
fn is_number(text: &str) -> bool {
    text.trim().parse::<f64>().is_ok()
}
