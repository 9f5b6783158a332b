//! Colours, text styles and line widths of all pictures.

use sinew::{
    body::Side,
    draw::{Shape, ShapeRole, ShapeState, Theme},
};

use super::canvas::{Anchor, Canvas, Color, TextStyle};

/// Background of the page.
pub const PAPER: Color = Color::rgb([0xff, 0xff, 0xff]);
/// Main text. Contrast to the page 14:1.
pub const INK: Color = Color::rgb([0x22, 0x27, 0x2e]);
/// Secondary text. Contrast to the page 6:1.
pub const MUTED: Color = Color::rgb([0x57, 0x60, 0x6a]);
/// Axes and frames.
pub const HAIRLINE: Color = Color::rgb([0xc4, 0xca, 0xd1]);
/// Lines behind curves.
pub const GRID: Color = Color::rgb([0xe6, 0xe9, 0xed]);
/// Poses before the solve or the planting.
pub const BEFORE: Color = Color::rgb([0x8a, 0x92, 0x9b]);
/// Inside of the ground.
pub const EARTH: Color = Color::rgb([0xf0, 0xeb, 0xe2]);

/// Width of a walk's picture, in pixels.
pub const WIDTH: u32 = 1600;
/// Margin at the left and right of the page, in pixels.
pub const MARGIN: f32 = 64.0;
/// Width of axes and frames, in pixels.
pub const HAIR: f32 = 1.5;

/// Title of the picture.
pub const TITLE: TextStyle = TextStyle { size: 36.0, color: INK, weight: 0.045 };
/// Names of parts.
pub const HEADING: TextStyle = TextStyle { size: 23.0, color: INK, weight: 0.04 };
/// Sentences. A page of 1600 pixels is often shown at half its size, at which this is still legible.
pub const BODY: TextStyle = TextStyle { size: 22.0, color: MUTED, weight: 0.02 };
/// Numbers along axes.
pub const TICK: TextStyle = TextStyle { size: 20.0, color: MUTED, weight: 0.02 };

/// The colour of a half of the body; `None` is the middle.
pub fn body(side: Option<Side>) -> Color {
    Color::rgb(Theme::Light.color(ShapeRole::Bone, side, ShapeState::Normal))
}

/// The colour of a role that has no side.
pub fn role(role: ShapeRole) -> Color {
    Color::rgb(Theme::Light.color(role, None, ShapeState::Normal))
}

/// The colour of a shape.
pub fn shape(shape: &Shape) -> Color {
    Color::rgb(Theme::Light.color_of(shape))
}

/// The opaque colour that looks like a share, 0 to 1, of `color` on the page.
pub fn tint(color: Color, share: f32) -> Color {
    let [r, g, b, _] = color.0;
    let mix = |c: u8| (255.0 - (255.0 - f32::from(c)) * share.clamp(0.0, 1.0)).round() as u8;
    Color([mix(r), mix(g), mix(b), 255])
}

/// The text, cut to a width in pixels with an ellipsis at its end if it is wider.
pub fn fit(canvas: &Canvas, text: &str, size: f32, width: f32) -> String {
    if canvas.text_width(text, size) <= width {
        return text.into();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if canvas.text_width(&kept, size) + canvas.text_width("\u{2026}", size) > width {
            kept.pop();
            break;
        }
    }
    format!("{}\u{2026}", kept.trim_end())
}

/// Wraps a text into lines of at most a width in pixels. A single word that is wider is cut.
pub fn wrap(canvas: &Canvas, text: &str, size: f32, width: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = fit(canvas, word, size, width);
        match lines.last_mut() {
            Some(line) if canvas.text_width(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// Symbol of a legend's entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Swatch {
    /// A line, with its width in pixels.
    Line(Color, f32),
    /// A dashed line, with its width in pixels.
    Dashes(Color, f32),
    /// A filled box.
    Area(Color),
    /// A line that ends in a dot.
    Cast(Color),
}

/// Draws entries from left to right, in as many rows as they need, and returns the y below the last row. With `paint` false
/// it only measures.
pub fn legend(canvas: &mut Canvas, top: f32, right: f32, entries: &[(Swatch, &str)], paint: bool) -> f32 {
    const ROW: f32 = 34.0;
    const SWATCH: f32 = 34.0;
    const GAP: f32 = 34.0;
    let (mut x, mut y) = (MARGIN, top + ROW * 0.7);
    for (swatch, text) in entries {
        let width = SWATCH + 10.0 + canvas.text_width(text, BODY.size);
        if x > MARGIN && x + width > right {
            x = MARGIN;
            y += ROW;
        }
        if paint {
            let middle = y - BODY.size * 0.3;
            let (a, b) = ([x + 1.0, middle], [x + SWATCH - 1.0, middle]);
            match *swatch {
                Swatch::Line(color, w) => canvas.line(a, b, color, w),
                Swatch::Dashes(color, w) => {
                    canvas.dashed(super::path::Path::line([a, b]), color, w, Some(6.0));
                }
                Swatch::Area(color) => {
                    let area = super::path::Rect { x, y: middle - 10.0, w: SWATCH, h: 20.0 };
                    canvas.fill(area.path(), color);
                }
                Swatch::Cast(color) => {
                    canvas.line(a, b, color.with_opacity(0.6), 1.5);
                    canvas.circle(b, 4.0, color);
                }
            }
            canvas.text([x + SWATCH + 10.0, y], Anchor::Left, text, BODY);
        }
        x += width + GAP;
    }
    y + ROW * 0.3
}
