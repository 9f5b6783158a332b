//! Words of text files.

/// A number that is one: Rust reads `nan` and `inf` too.
pub(crate) fn number(word: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(format!("`{}` is not finite", shorten(word))),
        Err(_) => Err(format!("`{}` is not a number", shorten(word))),
    }
}

/// The start of a text, for messages that stay on one line.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}
