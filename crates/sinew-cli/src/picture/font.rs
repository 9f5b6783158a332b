//! The outlines of letters.

use skrifa::{
    FontRef, MetadataProvider,
    instance::{LocationRef, Size},
    outline::{DrawSettings, OutlinePen},
};

use super::path::{Path, Point, Segment};

/// The face in which pictures are labelled: Ubuntu Light (Ubuntu Font Licence 1.0), as the crate `epaint_default_fonts`
/// ships it. Text that cannot be drawn (the face could not be read, or has no such letter) takes no room.
pub struct Font {
    face: Option<FontRef<'static>>,
}

impl Font {
    /// Reads the face.
    pub fn new() -> Self {
        Self { face: FontRef::new(epaint_default_fonts::UBUNTU_LIGHT).ok() }
    }

    /// How wide a line of text is at a size (pixels an em).
    pub fn width(&self, text: &str, size: f32) -> f32 {
        let Some(face) = &self.face else { return 0.0 };
        let (map, metrics) = (face.charmap(), face.glyph_metrics(Size::new(size), LocationRef::default()));
        text.chars().filter_map(|c| metrics.advance_width(map.map(c)?)).sum()
    }

    /// The outlines of a line of text whose baseline starts at a point.
    pub fn outline(&self, text: &str, size: f32, start: Point) -> Path {
        let mut pen = Pen { path: Path::default(), origin: start };
        let Some(face) = &self.face else { return pen.path };
        let (map, glyphs) = (face.charmap(), face.outline_glyphs());
        let (size, place) = (Size::new(size), LocationRef::default());
        let metrics = face.glyph_metrics(size, place);
        for glyph in text.chars().filter_map(|c| map.map(c)) {
            if let Some(outline) = glyphs.get(glyph) {
                let before = pen.path.0.len();
                if outline.draw(DrawSettings::unhinted(size, place), &mut pen).is_err() {
                    pen.path.0.truncate(before);
                }
            }
            pen.origin[0] += metrics.advance_width(glyph).unwrap_or(0.0);
        }
        pen.path
    }
}

/// Turns font space (y up) into page space (y down).
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
