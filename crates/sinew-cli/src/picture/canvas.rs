//! Page of filled and stroked paths and text, before it becomes pixels or SVG.

use super::{
    font::Font,
    path::{Path, Point, Rect},
};

/// Colour: red, green, blue and opacity, 0 to 255, in sRGB, not premultiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Color(pub [u8; 4]);

impl Color {
    /// An opaque colour.
    pub const fn rgb([r, g, b]: [u8; 3]) -> Self {
        Self([r, g, b, 255])
    }

    /// The same colour with another opacity, 0 to 1.
    pub fn with_opacity(self, opacity: f32) -> Self {
        let [r, g, b, _] = self.0;
        Self([r, g, b, (opacity.clamp(0.0, 1.0) * 255.0).round() as u8])
    }
}

/// Horizontal position of a text relative to its given point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The point is the text's left end.
    Left,
    /// The point is the text's middle.
    Middle,
    /// The point is the text's right end.
    Right,
}

/// Size, colour and weight of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextStyle {
    /// Height of an em in pixels.
    pub size: f32,
    /// Colour.
    pub color: Color,
    /// Width of the stroke that thickens the letters, as a share of the size.
    pub weight: f32,
}

/// Mark on the page; later marks cover earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A filled area.
    Fill {
        /// Outline.
        path: Path,
        /// Colour.
        color: Color,
    },
    /// A line with round ends and joins.
    Stroke {
        /// Centre line.
        path: Path,
        /// Colour.
        color: Color,
        /// Width in pixels.
        width: f32,
        /// Length in pixels of the dashes and of the gaps between them; `None` for a solid line.
        dash: Option<f32>,
    },
    /// Text, as the outlines of its letters.
    Text {
        /// Characters, for screen readers.
        text: String,
        /// Outlines of the letters.
        path: Path,
        /// Colour.
        color: Color,
        /// Width in pixels of the stroke that thickens the letters.
        thicken: f32,
        /// Bounding rectangle of the line.
        room: Rect,
    },
}

/// A page, with its size in pixels and its marks.
pub struct Canvas {
    width: u32,
    height: u32,
    background: Color,
    font: Font,
    clip: Option<Rect>,
    marks: Vec<(Option<Rect>, Mark)>,
}

impl Canvas {
    /// An empty page.
    pub fn new(width: u32, height: u32, background: Color) -> Self {
        Self { width, height, background, font: Font::new(), clip: None, marks: Vec::new() }
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Colour of the empty page.
    pub fn background(&self) -> Color {
        self.background
    }

    /// Marks on the page, each with its clip rectangle.
    pub fn marks(&self) -> &[(Option<Rect>, Mark)] {
        &self.marks
    }

    /// Sets the clip rectangle of the marks that follow; `None` for the whole page.
    pub fn set_clip(&mut self, clip: Option<Rect>) {
        self.clip = clip;
    }

    /// Fills an area. Like all marks, it is left out if a coordinate is not finite or far off the page.
    pub fn fill(&mut self, path: Path, color: Color) {
        if path.is_drawable() {
            self.marks.push((self.clip, Mark::Fill { path, color }));
        }
    }

    /// Draws a solid line, with its width in pixels.
    pub fn stroke(&mut self, path: Path, color: Color, width: f32) {
        self.dashed(path, color, width, None);
    }

    /// Draws a line with dashes of a length in pixels; `None` is a solid line. A width of 0 or less draws nothing.
    pub fn dashed(&mut self, path: Path, color: Color, width: f32, dash: Option<f32>) {
        if path.is_drawable() && width > 0.0 {
            self.marks.push((self.clip, Mark::Stroke { path, color, width, dash }));
        }
    }

    /// Draws a straight line.
    pub fn line(&mut self, from: Point, to: Point, color: Color, width: f32) {
        self.stroke(Path::line([from, to]), color, width);
    }

    /// Draws a filled circle.
    pub fn circle(&mut self, centre: Point, radius: f32, color: Color) {
        let mut path = Path::default();
        path.add_circle(centre, radius);
        self.fill(path, color);
    }

    /// Width of a text in pixels.
    pub fn text_width(&self, text: &str, size: f32) -> f32 {
        self.font.width(text, size)
    }

    /// Bounding rectangle of a text with its baseline at a point; see [`Canvas::text`].
    pub fn text_room(&self, [x, y]: Point, anchor: Anchor, text: &str, size: f32) -> Rect {
        let w = self.font.width(text, size);
        let x = match anchor {
            Anchor::Left => x,
            Anchor::Middle => x - w / 2.0,
            Anchor::Right => x - w,
        };
        // Ascent and descent of the face as shares of an em.
        Rect { x, y: y - 0.78 * size, w, h: size }
    }

    /// Writes one line of text with its baseline at a point.
    pub fn text(&mut self, at: Point, anchor: Anchor, text: &str, style: TextStyle) {
        let room = self.text_room(at, anchor, text, style.size);
        let path = self.font.outline(text, style.size, [room.x, at[1]]);
        if path.is_drawable() {
            let thicken = style.weight * style.size;
            let mark = Mark::Text { text: text.into(), path, color: style.color, thicken, room };
            self.marks.push((self.clip, mark));
        }
    }
}
