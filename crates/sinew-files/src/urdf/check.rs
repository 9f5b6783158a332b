//! What is wrong with the text of a URDF, by element and value.
//!
//! The parser tells neither which element a bad number stands in nor what it is, and passes over what is no number in a
//! list of three where three others are left. So joints and their parts are looked at before it. What this does not
//! understand (text that is no XML) is left to the parser.

/// One tag as it stands in the text.
struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    line: usize,
    closes: bool,
    empty: bool,
}

impl<'a> Tag<'a> {
    fn get(&self, key: &str) -> Option<&'a str> {
        self.attributes.iter().find(|a| a.0 == key).map(|a| a.1)
    }
}

/// Tags in order; it ends where the text is no XML any more.
fn tags(text: &str) -> impl Iterator<Item = Tag<'_>> {
    let (mut at, mut line) = (0, 1);
    std::iter::from_fn(move || {
        loop {
            let start = at + text[at..].find('<')?;
            line += text[at..start].matches('\n').count();
            let rest = &text[start..];
            let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")]
                .into_iter()
                .find(|(open, _)| rest.starts_with(open));
            if let Some((_, close)) = skipped {
                let end = rest.find(close)? + close.len();
                line += rest[..end].matches('\n').count();
                at = start + end;
                continue;
            }
            let (tag, length) = tag(rest, line)?;
            line += rest[..length].matches('\n').count();
            at = start + length;
            return Some(tag);
        }
    })
}

/// A tag that a text begins with, and how long it is there.
fn tag(text: &str, line: usize) -> Option<(Tag<'_>, usize)> {
    let closes = text.starts_with("</");
    let mut rest = &text[1 + usize::from(closes)..];
    let word = |s: &str| s.find(|c: char| c.is_whitespace() || "/>=\"'<".contains(c));
    let end = word(rest)?;
    let name = &rest[..end];
    rest = &rest[end..];
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        let empty = rest.starts_with('/');
        if empty || rest.starts_with('>') {
            let rest = rest.strip_prefix('/').unwrap_or(rest).strip_prefix('>')?;
            let tag = Tag { name, attributes, line, closes, empty };
            return (!name.is_empty()).then(|| (tag, text.len() - rest.len()));
        }
        let end = word(rest).filter(|end| *end > 0)?;
        let key = &rest[..end];
        rest = rest[end..].trim_start().strip_prefix('=')?.trim_start();
        let quote = rest.chars().next().filter(|c| "\"'".contains(*c))?;
        let end = rest[1..].find(quote)?;
        attributes.push((key, &rest[1..=end]));
        rest = &rest[end + 2..];
    }
}

/// The kinds of joint of the format.
const KINDS: [&str; 7] = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"];

/// Which element is wrong, and what with it.
pub struct Wrong {
    pub at: String,
    pub what: String,
}

/// Looks at links and joints.
pub fn check(text: &str) -> Result<(), Wrong> {
    let mut open: Vec<&str> = Vec::new();
    // The joint that is open, and which of its two links were named.
    let mut joint: Option<(String, [bool; 2])> = None;
    for tag in tags(text) {
        if tag.closes {
            if open.pop() != Some(tag.name) {
                return Ok(());
            }
            if open.len() == 1 && tag.name == "joint" {
                ended(joint.take())?;
            }
            continue;
        }
        match (open.as_slice(), tag.name) {
            (["robot"], "link") => {
                named(&tag)?;
            }
            (["robot"], "joint") => {
                let name = named(&tag)?;
                let at = format!("joint `{name}`");
                match tag.get("type") {
                    None => return Err(Wrong { at, what: "it has no type".into() }),
                    Some(kind) if !KINDS.contains(&kind) => {
                        let what = format!("its type `{kind}` is none of {}", KINDS.join(", "));
                        return Err(Wrong { at, what });
                    }
                    Some(_) => joint = Some((at, [false; 2])),
                }
                if tag.empty {
                    ended(joint.take())?;
                }
            }
            (["robot", "joint"], _) => {
                if let Some((at, links)) = &mut joint {
                    part(&tag, links).map_err(|what| Wrong { at: at.clone(), what })?;
                }
            }
            _ => {}
        }
        if !tag.empty {
            open.push(tag.name);
        }
    }
    Ok(())
}

fn named<'a>(tag: &Tag<'a>) -> Result<&'a str, Wrong> {
    let wrong = || Wrong { at: format!("line {}", tag.line), what: format!("a {} has no name", tag.name) };
    tag.get("name").ok_or_else(wrong)
}

/// A joint at its end: it needs both its links.
fn ended(joint: Option<(String, [bool; 2])>) -> Result<(), Wrong> {
    match joint {
        Some((at, [false, _])) => Err(Wrong { at, what: "it has no parent link".into() }),
        Some((at, [_, false])) => Err(Wrong { at, what: "it has no child link".into() }),
        _ => Ok(()),
    }
}

/// A part of a joint.
fn part(tag: &Tag, links: &mut [bool; 2]) -> Result<(), String> {
    let number = |key: &str| match tag.get(key) {
        Some(text) if !is_number(text) => Err(format!("its {}'s {key} is no number: `{text}`", tag.name)),
        _ => Ok(()),
    };
    let three = |key: &str| match tag.get(key) {
        Some(text) if !(text.split_whitespace().count() == 3 && text.split_whitespace().all(is_number)) => {
            Err(format!("its {}'s {key} must be three numbers, not `{text}`", tag.name))
        }
        _ => Ok(()),
    };
    match tag.name {
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

/// Whether the parser reads it as a number (NaN and infinities are for others to judge). What
/// holds an entity is not looked at.
fn is_number(text: &str) -> bool {
    text.contains('&') || text.trim().parse::<f64>().is_ok()
}
