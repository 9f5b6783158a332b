//! Pull parser of XML elements. It also writes the text in a plain form that no two parsers read differently.

use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

use super::check::Wrong;
use crate::{budget::Budget, text::shorten};

/// Maximum depth of elements, as the parser that reads the text next is recursive. A URDF is about seven deep.
const MAX_DEPTH: usize = 64;

/// Bytes of an element in the trees that are made of the text.
const ELEMENT: usize = 1200;
/// Bytes of an attribute in the trees that are made of the text.
const ATTRIBUTE: usize = 400;

/// Opening tag of an element.
pub(super) struct Tag {
    pub name: String,
    attributes: Vec<(String, String)>,
    pub line: usize,
}

impl Tag {
    pub fn get(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|a| a.0 == key).map(|a| a.1.as_str())
    }
}

/// Beginning or end of an element.
pub(super) enum Part {
    Opens(Tag),
    Closes(String),
}

/// Calls `each` at the beginning and end of every element, and returns the text without comments, processing instructions,
/// document types and CDATA. Its tags are unambiguous, so that other parsers find the same depth.
pub(super) fn walk(
    text: &str,
    budget: &Budget,
    mut each: impl FnMut(Part) -> Result<(), Wrong>,
) -> Result<String, Wrong> {
    let mut reader = Reader::from_str(text);
    let mut plain = String::new();
    let mut open: Vec<String> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    loop {
        let event = reader.read_event();
        // The position of an error is that of the beginning of the wrong text.
        let at = if event.is_err() { reader.error_position() } else { reader.buffer_position() };
        let at = (at as usize).clamp(counted, text.len());
        let begins = line;
        line += text.as_bytes()[counted..at].iter().filter(|b| **b == b'\n').count();
        counted = at;
        let wrong = |what: String| Wrong::Line(begins, what);
        match event.map_err(|e| Wrong::Line(line, shorten(&e.to_string())))? {
            Event::Eof => break,
            Event::Start(start) => {
                if open.len() == MAX_DEPTH {
                    return Err(wrong(format!("elements are nested more than {MAX_DEPTH} deep")));
                }
                let tag = tag(&start, begins, budget, &mut plain).map_err(wrong)?;
                plain.push('>');
                open.push(tag.name.clone());
                each(Part::Opens(tag))?;
            }
            Event::Empty(start) => {
                let tag = tag(&start, begins, budget, &mut plain).map_err(wrong)?;
                plain += "/>";
                let name = tag.name.clone();
                each(Part::Opens(tag))?;
                each(Part::Closes(name))?;
            }
            Event::End(_) => {
                // The parser has checked that the names match.
                let Some(name) = open.pop() else {
                    return Err(wrong("an end tag without a start tag".into()));
                };
                plain.extend(["</", &name, ">"]);
                each(Part::Closes(name))?;
            }
            Event::Text(text) if !open.is_empty() => plain += &String::from_utf8_lossy(&text),
            Event::GeneralRef(name) if !open.is_empty() => {
                plain.extend(["&", &String::from_utf8_lossy(&name), ";"]);
            }
            Event::CData(text) if !open.is_empty() => {
                plain += &quick_xml::escape::escape(&*String::from_utf8_lossy(&text));
            }
            _ => {}
        }
    }
    match open.last() {
        Some(name) => Err(Wrong::Line(line, format!("the file ends inside of `{}`", shorten(name)))),
        None => Ok(plain),
    }
}

/// Reads a tag, and writes it to `plain` without its closing bracket.
fn tag(start: &BytesStart<'_>, line: usize, budget: &Budget, plain: &mut String) -> Result<Tag, String> {
    budget.take_all(1, ELEMENT).map_err(|e| e.to_string())?;
    let name = word(start.name().as_ref())?;
    plain.extend(["<", &name]);
    let mut attributes = Vec::new();
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(|e| shorten(&e.to_string()))?;
        let value = attribute.unescape_value().map_err(|e| shorten(&e.to_string()))?;
        let key = word(attribute.key.as_ref())?;
        budget.take_all(1, ATTRIBUTE).map_err(|e| e.to_string())?;
        let escaped = quick_xml::escape::escape(&*value);
        plain.extend([" ", &key, "=\"", &escaped, "\""]);
        attributes.push((key, value.into_owned()));
    }
    Ok(Tag { name, attributes, line })
}

/// The bytes as a name that every parser accepts.
fn word(bytes: &[u8]) -> Result<String, String> {
    let name = String::from_utf8_lossy(bytes);
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "<>/=&\"'!?".contains(c);
    if name.is_empty() || name.contains(is_odd) {
        return Err(format!("`{}` is no name of an element or attribute", shorten(&name)));
    }
    Ok(name.into_owned())
}
