//! The value of `--contacts`: the source of the feet's contact times.

use std::path::{Path, PathBuf};

use sinew::body::Side;

/// Source of the feet's contact times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContactSource {
    /// A JSON file.
    File(PathBuf),
    /// For the left and right foot, the node of the model that carries a contact curve.
    Nodes([Option<String>; 2]),
}

impl ContactSource {
    /// Parses the option's value: `FILE.json`, or `left=NODE,right=NODE` (or one of the two).
    pub fn parse(text: &str) -> Result<Self, String> {
        let key = |side: Side| format!("{side}=");
        let Some(first) = Side::BOTH.into_iter().find(|&side| text.starts_with(&key(side))) else {
            let path = PathBuf::from(text);
            return match path.extension() {
                Some(e) if e.eq_ignore_ascii_case("json") => Ok(Self::File(path)),
                _ => Err("it must be a .json file, or left=NODE,right=NODE".into()),
            };
        };
        let mut nodes = [None, None];
        let mut put = |side: Side, part: &str| {
            let node = &part[key(side).len()..];
            if node.is_empty() {
                return Err(format!("{side}= must be followed by the name of a node"));
            }
            nodes[side.index()] = Some(node.to_owned());
            Ok(())
        };
        // A name may hold a comma; only a comma before the other foot's key separates the two.
        let other = first.other();
        match text.find(&format!(",{other}=")) {
            Some(comma) => {
                put(first, &text[..comma])?;
                put(other, &text[comma + 1..])?;
            }
            None => put(first, text)?,
        }
        Ok(Self::Nodes(nodes))
    }

    /// Path of the file; `None` for nodes.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Nodes(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_a_file_or_nodes() {
        let nodes =
            |l: Option<&str>, r: Option<&str>| Ok(ContactSource::Nodes([l, r].map(|n| n.map(String::from))));
        assert_eq!(ContactSource::parse("a/b.JSON"), Ok(ContactSource::File("a/b.JSON".into())));
        assert_eq!(ContactSource::parse("left=a,right=b"), nodes(Some("a"), Some("b")));
        assert_eq!(ContactSource::parse("right=b,c,left=a"), nodes(Some("a"), Some("b,c")));
        assert_eq!(ContactSource::parse("right=x=1"), nodes(None, Some("x=1")));
        for bad in ["", "walk.txt", "left=", "left=,right=b", "left=a,right=", "middle=a"] {
            ContactSource::parse(bad).unwrap_err();
        }
    }
}
