//! Conversion of a page to PNG.

use thiserror::Error;
use tiny_skia::{
    Color as SkColor, FillRule, LineCap, LineJoin, Mask, Paint, Path as SkPath, PathBuilder, Pixmap, Stroke,
    StrokeDash, Transform,
};

use super::{
    canvas::{Canvas, Color, Mark},
    path::{Path, Rect, Segment},
};

/// Failure to make a PNG.
#[derive(Debug, Error)]
pub enum PngError {
    /// The page has no area, or more pixels than fit into memory.
    #[error("a picture of {width} x {height} pixels cannot be made")]
    Size {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// The encoder failed.
    #[error("the picture could not be encoded: {0}")]
    Encode(String),
}

/// Returns the bytes of a PNG file. The same page gives the same bytes.
pub fn encode(canvas: &Canvas) -> Result<Vec<u8>, PngError> {
    let (width, height) = (canvas.width(), canvas.height());
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
    let [r, g, b, a] = canvas.background().0;
    pixels.fill(SkColor::from_rgba8(r, g, b, a));
    // Successive marks mostly share their clip, so that the last mask is kept.
    let mut mask: (Option<Rect>, Option<Mask>) = (None, None);
    for (clip, mark) in canvas.marks() {
        if *clip != mask.0 {
            mask = (*clip, clip.and_then(|rect| mask_of(&rect, width, height)));
        }
        let mask = mask.1.as_ref();
        match mark {
            Mark::Fill { path, color } => {
                if let Some(path) = outline(path) {
                    fill(&mut pixels, &path, *color, mask);
                }
            }
            Mark::Stroke { path, color, width, dash } => {
                if let Some(path) = outline(path) {
                    line(&mut pixels, &path, *color, *width, *dash, mask);
                }
            }
            Mark::Text { path, color, thicken, .. } => {
                if let Some(path) = outline(path) {
                    fill(&mut pixels, &path, *color, mask);
                    if *thicken > 0.0 {
                        line(&mut pixels, &path, *color, *thicken, None, mask);
                    }
                }
            }
        }
    }
    pixels.encode_png().map_err(|e| PngError::Encode(e.to_string()))
}

fn mask_of(rect: &Rect, width: u32, height: u32) -> Option<Mask> {
    let mut mask = Mask::new(width, height)?;
    if let Some(path) = outline(&rect.path()) {
        mask.fill_path(&path, FillRule::Winding, true, Transform::identity());
    }
    Some(mask)
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let [r, g, b, a] = color.0;
    paint.set_color_rgba8(r, g, b, a);
    paint
}

fn fill(pixels: &mut Pixmap, path: &SkPath, color: Color, mask: Option<&Mask>) {
    pixels.fill_path(path, &paint(color), FillRule::Winding, Transform::identity(), mask);
}

fn line(
    pixels: &mut Pixmap,
    path: &SkPath,
    color: Color,
    width: f32,
    dash: Option<f32>,
    mask: Option<&Mask>,
) {
    let stroke = Stroke {
        width,
        line_cap: LineCap::Round,
        line_join: LineJoin::Round,
        dash: dash.and_then(|d| StrokeDash::new(vec![d, d], 0.0)),
        ..Stroke::default()
    };
    pixels.stroke_path(path, &paint(color), &stroke, Transform::identity(), mask);
}

fn outline(path: &Path) -> Option<SkPath> {
    let mut builder = PathBuilder::new();
    for segment in &path.0 {
        match *segment {
            Segment::Move([x, y]) => builder.move_to(x, y),
            Segment::Line([x, y]) => builder.line_to(x, y),
            Segment::Quad([a, b], [x, y]) => builder.quad_to(a, b, x, y),
            Segment::Cubic([a, b], [c, d], [x, y]) => builder.cubic_to(a, b, c, d, x, y),
            Segment::Close => builder.close(),
        }
    }
    builder.finish()
}
