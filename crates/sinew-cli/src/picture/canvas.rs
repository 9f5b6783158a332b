//! What is on a page, before it becomes pixels or SVG: filled and stroked paths and text.

use super::{
    font::Font,
    path::{Path, Point, Rect},
};

/// Red, green, blue and opacity, 0 to 255, in sRGB, not premultiplied.
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

/// Where a text's given point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At its left end.
    Left,
    /// In its middle.
    Middle,
    /// At its right end.
    Right,
}

/// How a text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextStyle {
    /// Height of an em in pixels.
    pub size: f32,
    /// Its colour.
    pub color: Color,
    /// How much the strokes are thickened, as a share of the size.
    pub weight: f32,
}

/// One thing on the page; later ones cover earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A filled area.
    Fill {
        /// Its outline.
        path: Path,
        /// Its colour.
        color: Color,
    },
    /// A line with round ends and joins.
    Stroke {
        /// Its course.
        path: Path,
        /// Its colour.
        color: Color,
        /// Its width in pixels.
        width: f32,
        /// Length of dashes and of the gaps between them; none for a whole line.
        dash: Option<f32>,
    },
    /// Text, as the outlines of its letters.
    Text {
        /// What it says.
        text: String,
        /// The outlines.
        path: Path,
        /// Its colour.
        color: Color,
        /// Width in pixels of the stroke that thickens the letters.
        thicken: f32,
        /// The room that it takes.
        room: Rect,
    },
}

/// A page of a size in pixels, and what is on it.
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

    /// What is on the page, each mark with the rectangle that it is cut off at.
    pub fn marks(&self) -> &[(Option<Rect>, Mark)] {
        &self.marks
    }

    /// Cuts what follows off at a rectangle; none for the whole page.
    pub fn set_clip(&mut self, clip: Option<Rect>) {
        self.clip = clip;
    }

    /// Fills an area. Here as below, what has a coordinate that is not finite is left out.
    pub fn fill(&mut self, path: Path, color: Color) {
        if path.is_drawable() {
            self.marks.push((self.clip, Mark::Fill { path, color }));
        }
    }

    /// Draws a line.
    pub fn stroke(&mut self, path: Path, color: Color, width: f32) {
        self.dashed(path, color, width, None);
    }

    /// Draws a line with dashes.
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

    /// How wide a text will be.
    pub fn text_width(&self, text: &str, size: f32) -> f32 {
        self.font.width(text, size)
    }

    /// The room that a text will take; see [`Canvas::text`].
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
