//! Numbers in text files, and quotes of files in messages.

/// Maximum number of characters in a quote.
const MAX_QUOTE: usize = 80;

/// Maximum number of characters in a message.
const MAX_MESSAGE: usize = 400;

/// Parses a finite number; `nan` and `inf`, which Rust's parser takes, are errors.
pub(crate) fn number(word: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(format!("`{}` is not finite", shorten(word))),
        Err(_) => Err(format!("`{}` is not a number", shorten(word))),
    }
}

/// Shortens a file's text for a message: one line of at most 80 characters, with an ellipsis in place of the middle. Control
/// characters are escaped.
pub fn shorten(text: &str) -> String {
    let is_short = text.char_indices().nth(MAX_QUOTE).is_none();
    if is_short && !text.contains(char::is_control) {
        return text.into();
    }
    let mut shown: Vec<char> = Vec::new();
    let escape = |c: char, out: &mut Vec<char>| {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    };
    // Only the ends of a long text are read.
    let head = text.chars().take(MAX_QUOTE + 1);
    head.for_each(|c| escape(c, &mut shown));
    if is_short && shown.len() <= MAX_QUOTE {
        return shown.into_iter().collect();
    }
    let mut tail: Vec<char> = Vec::new();
    let end: Vec<char> = text.chars().rev().take(MAX_QUOTE).collect();
    end.into_iter().rev().for_each(|c| escape(c, &mut tail));
    let (first, last) = (MAX_QUOTE / 2, MAX_QUOTE - MAX_QUOTE / 2 - 1);
    let tail = &tail[tail.len().saturating_sub(last)..];
    shown.iter().take(first).chain(&['…']).chain(tail).collect()
}

/// Shortens a message to one line of at most 400 characters. Every quotation (between backticks or quotation marks), every
/// list (in brackets) and every word is shortened as by [`shorten`].
pub fn tidy(message: &str) -> String {
    let mut line = String::new();
    let mut rest = message;
    // A bracket after the last `]` has no partner, so that no search to the end is needed.
    let last_list = message.rfind(']').unwrap_or(0);
    while let Some(first) = rest.chars().next() {
        let mark = match first {
            '`' | '"' => Some(first),
            '[' if message.len() - rest.len() < last_list => Some(']'),
            _ => None,
        };
        let quoted = mark.and_then(|mark| Some((rest[1..].find(mark)?, mark)));
        if let Some((end, mark)) = quoted {
            line.push(first);
            line += &shorten(&rest[1..=end]);
            line.push(mark);
            rest = &rest[end + 2..];
        } else if first.is_whitespace() {
            line.push(' ');
            rest = &rest[first.len_utf8()..];
        } else {
            // A word ends at a space or at the beginning of a quotation; a mark without a partner begins a word.
            let end = rest.char_indices().skip(1).find(|(_, c)| c.is_whitespace() || matches!(c, '`' | '"'));
            let end = end.map_or(rest.len(), |(at, _)| at);
            line += &shorten(&rest[..end]);
            rest = &rest[end..];
        }
    }
    let is_short = line.char_indices().nth(MAX_MESSAGE).is_none();
    if is_short { line } else { cut(&line.chars().collect::<Vec<_>>(), MAX_MESSAGE) }
}

/// The beginning and the end of a text of more than `max` characters, with an ellipsis between.
fn cut(text: &[char], max: usize) -> String {
    let (first, last) = (max / 2, max - max / 2 - 1);
    text[..first].iter().chain(&['…']).chain(&text[text.len() - last..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_messages_stay() {
        for text in ["", "`a` is not a number", "nodes[3].name: \"x y\" `", "größer als 1"] {
            assert_eq!(tidy(text), text);
        }
        assert_eq!(tidy("a\nb\t`c\u{1b}d`"), "a b `c\\u{1b}d`");
    }

    #[test]
    fn what_a_file_says_is_cut_in_the_middle() {
        let long = "ab".repeat(1_000_000);
        for text in
            [format!("`{long}` is wrong"), format!("{long} is wrong"), format!("\"a {long}\" is wrong")]
        {
            let line = tidy(&text);
            assert!(line.ends_with("is wrong") && line.contains('…') && line.chars().count() <= 92, "{line}");
        }
        assert_eq!(shorten(&long).chars().count(), 80);
        assert_eq!(shorten(&"\n".repeat(60)).chars().count(), 80);
        assert_eq!(shorten(&"ä".repeat(80)), "ä".repeat(80));
        let list = format!("[{}]", "0.1 ".repeat(5000));
        assert!(tidy(&format!("5000 found for {list}, not 3")).chars().count() < 120);
        assert!(tidy(&"[ ".repeat(100_000)).starts_with("[ [ "));
        // Many words and lists, each of them short.
        let words = format!("found {}, not an element", "type=\"planar\"".repeat(900));
        let numbers = format!("20002 numbers: [1 2 …3]]> {} are not 3", "0 ".repeat(20_000));
        for text in [words, numbers] {
            let line = tidy(&text);
            assert!(
                line.chars().count() == 400 && line.contains('…') && line.starts_with(&text[..20]),
                "{line}"
            );
            assert_eq!(line[line.len() - 9..], text[text.len() - 9..]);
        }
        // Marks without a partner must cause no quadratic search.
        assert!(tidy(&"`\"".repeat(100)).len() < 1000);
    }
}
