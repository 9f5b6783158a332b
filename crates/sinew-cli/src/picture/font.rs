//! Outlines of letters.

use skrifa::{
    FontRef, MetadataProvider,
    instance::{LocationRef, Size},
    outline::{DrawSettings, OutlinePen},
};

use super::path::{Path, Point, Segment};

/// Font of the labels: Ubuntu Light (Ubuntu Font Licence 1.0), which the crate `epaint_default_fonts` contains. Letters that
/// the font lacks, or all letters if it cannot be read, take no room.
pub struct Font {
    face: Option<FontRef<'static>>,
}

impl Font {
    /// Reads the font.
    pub fn new() -> Self {
        Self { face: FontRef::new(epaint_default_fonts::UBUNTU_LIGHT).ok() }
    }

    /// Width of a line of text, in pixels, at a size in pixels per em.
    pub fn width(&self, text: &str, size: f32) -> f32 {
        let Some(face) = &self.face else { return 0.0 };
        let (map, metrics) = (face.charmap(), face.glyph_metrics(Size::new(size), LocationRef::default()));
        text.chars().filter_map(|c| metrics.advance_width(map.map(c)?)).sum()
    }

    /// Outlines of a line of text whose baseline starts at a point.
    pub fn outline(&self, text: &str, size: f32, start: Point) -> Path {
        let mut pen = Pen { path: Path::default(), origin: start };
        let Some(face) = &self.face else { return pen.path };
        let (map, glyphs) = (face.charmap(), face.outline_glyphs());
        let (size, location) = (Size::new(size), LocationRef::default());
        let metrics = face.glyph_metrics(size, location);
        for glyph in text.chars().filter_map(|c| map.map(c)) {
            if let Some(outline) = glyphs.get(glyph) {
                let before = pen.path.0.len();
                if outline.draw(DrawSettings::unhinted(size, location), &mut pen).is_err() {
                    pen.path.0.truncate(before);
                }
            }
            pen.origin[0] += metrics.advance_width(glyph).unwrap_or(0.0);
        }
        pen.path
    }
}

/// Converts outlines from font space (y up) to page space (y down).
struct Pen {
    path: Path,
    origin: Point,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> Point {
        [self.origin[0] + x, self.origin[1] - y]
    }
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.0.push(Segment::Move(self.at(x, y)));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.0.push(Segment::Line(self.at(x, y)));
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.path.0.push(Segment::Quad(self.at(cx, cy), self.at(x, y)));
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        self.path.0.push(Segment::Cubic(self.at(ax, ay), self.at(bx, by), self.at(x, y)));
    }

    fn close(&mut self) {
        self.path.0.push(Segment::Close);
    }
}
