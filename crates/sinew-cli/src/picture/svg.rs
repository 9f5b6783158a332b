//! Conversion of a page to SVG.

use std::{
    fmt::{self, Display},
    io::{self, Write},
};

use super::{
    canvas::{Canvas, Color, Mark},
    path::{Path, Rect, Segment},
};

/// Writes an SVG document. Letters are outlines, so that the page looks the same with any fonts; `aria-label` holds the text
/// for screen readers.
pub fn write(canvas: &Canvas, out: &mut dyn Write) -> io::Result<()> {
    let (w, h) = (canvas.width(), canvas.height());
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" fill="none" stroke-linecap="round" stroke-linejoin="round">"#
    )?;
    let background = canvas.background();
    writeln!(out, r#"<path d="M0 0H{w}V{h}H0Z" {}/>"#, Ink("fill", background))?;
    let clips = clips(canvas);
    for (i, Rect { x, y, w, h }) in clips.iter().enumerate() {
        let (x, y, w, h) = (Number(*x), Number(*y), Number(*w), Number(*h));
        writeln!(
            out,
            r#"<clipPath id="clip{i}"><rect x="{x}" y="{y}" width="{w}" height="{h}"/></clipPath>"#
        )?;
    }
    let mut open = None;
    for (clip, mark) in canvas.marks() {
        let clip = clip.and_then(|c| clips.iter().position(|k| *k == c));
        if clip != open {
            if open.is_some() {
                writeln!(out, "</g>")?;
            }
            if let Some(i) = clip {
                writeln!(out, r#"<g clip-path="url(#clip{i})">"#)?;
            }
            open = clip;
        }
        match mark {
            Mark::Fill { path, color } => {
                writeln!(out, r#"<path d="{}" {}/>"#, Data(path), Ink("fill", *color))?;
            }
            Mark::Stroke { path, color, width, dash } => {
                write!(out, r#"<path d="{}" {}"#, Data(path), Ink("stroke", *color))?;
                write!(out, r#" stroke-width="{}""#, Number(*width))?;
                if let Some(dash) = dash {
                    write!(out, r#" stroke-dasharray="{}""#, Number(*dash))?;
                }
                writeln!(out, "/>")?;
            }
            Mark::Text { text, path, color, thicken, .. } => {
                write!(out, r#"<path role="img" aria-label="{}" d="{}""#, Escaped(text), Data(path))?;
                write!(out, " {}", Ink("fill", *color))?;
                if *thicken > 0.0 {
                    write!(out, r#" {} stroke-width="{}""#, Ink("stroke", *color), Number(*thicken))?;
                }
                writeln!(out, "/>")?;
            }
        }
    }
    if open.is_some() {
        writeln!(out, "</g>")?;
    }
    writeln!(out, "</svg>")
}

/// The distinct clip rectangles of a page.
fn clips(canvas: &Canvas) -> Vec<Rect> {
    let mut clips: Vec<Rect> = Vec::new();
    for clip in canvas.marks().iter().filter_map(|(clip, _)| *clip) {
        if !clips.contains(&clip) {
            clips.push(clip);
        }
    }
    clips
}

/// A number with two decimals: a hundredth of a pixel is not visible.
struct Number(f32);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = (f64::from(self.0) * 100.0).round();
        // Adding zero turns -0 into 0.
        write!(f, "{}", hundredths / 100.0 + 0.0)
    }
}

struct Ink(&'static str, Color);

impl Display for Ink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(what, Color([r, g, b, a])) = *self;
        write!(f, r##"{what}="#{r:02x}{g:02x}{b:02x}""##)?;
        if a < 255 {
            write!(f, r#" {what}-opacity="{}""#, Number(f32::from(a) / 255.0))?;
        }
        Ok(())
    }
}

struct Data<'a>(&'a Path);

impl Display for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = Number;
        for segment in &self.0.0 {
            match *segment {
                Segment::Move([x, y]) => write!(f, "M{} {}", n(x), n(y))?,
                Segment::Line([x, y]) => write!(f, "L{} {}", n(x), n(y))?,
                Segment::Quad([a, b], [x, y]) => write!(f, "Q{} {} {} {}", n(a), n(b), n(x), n(y))?,
                Segment::Cubic([a, b], [c, d], [x, y]) => {
                    write!(f, "C{} {} {} {} {} {}", n(a), n(b), n(c), n(d), n(x), n(y))?;
                }
                Segment::Close => f.write_str("Z")?,
            }
        }
        Ok(())
    }
}

struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            // XML 1.0 cannot represent these.
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                f.write_str("\u{fffd}")
            }
            c => write!(f, "{c}"),
        })
    }
}
