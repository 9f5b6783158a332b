//! Paths and rectangles on a page.

/// Point on the page, in pixels from its left and upper edge.
pub type Point = [f32; 2];

/// Segment of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    /// Starts a new contour.
    Move(Point),
    /// A straight line.
    Line(Point),
    /// A quadratic Bézier curve: control point, end.
    Quad(Point, Point),
    /// A cubic Bézier curve: two control points, end.
    Cubic(Point, Point, Point),
    /// Closes the contour.
    Close,
}

impl Segment {
    fn points(&self) -> impl Iterator<Item = Point> {
        let all = match *self {
            Segment::Move(a) | Segment::Line(a) => [Some(a), None, None],
            Segment::Quad(a, b) => [Some(a), Some(b), None],
            Segment::Cubic(a, b, c) => [Some(a), Some(b), Some(c)],
            Segment::Close => [None; 3],
        };
        all.into_iter().flatten()
    }
}

/// Path of one or more contours. The fill rule is nonzero: overlapping contours of one orientation make one area.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Path(pub Vec<Segment>);

impl Path {
    /// A line through points; empty for fewer than two.
    pub fn line(points: impl IntoIterator<Item = Point>) -> Self {
        let mut path = Self::default();
        path.add_line(points);
        path
    }

    /// Adds a line through points; nothing for fewer than two.
    pub fn add_line(&mut self, points: impl IntoIterator<Item = Point>) {
        let start = self.0.len();
        for p in points {
            let first = self.0.len() == start;
            self.0.push(if first { Segment::Move(p) } else { Segment::Line(p) });
        }
        if self.0.len() < start + 2 {
            self.0.truncate(start);
        }
    }

    /// Adds a closed polygon, always in the same orientation, so that polygons of one path join into one area. A polygon
    /// without area is left out.
    pub fn add_polygon(&mut self, points: &[Point]) {
        let twice_area: f32 =
            points.iter().zip(points.iter().cycle().skip(1)).map(|(a, b)| a[0] * b[1] - b[0] * a[1]).sum();
        if points.len() < 3 || twice_area == 0.0 {
            return;
        }
        if twice_area > 0.0 {
            self.add_line(points.iter().copied());
        } else {
            self.add_line(points.iter().rev().copied());
        }
        self.0.push(Segment::Close);
    }

    /// Adds a circle.
    pub fn add_circle(&mut self, [x, y]: Point, r: f32) {
        // 4/3 (sqrt(2) - 1): the handle length of a cubic that approximates a quarter circle.
        let k = 0.552_284_8 * r;
        self.0.extend([
            Segment::Move([x + r, y]),
            Segment::Cubic([x + r, y + k], [x + k, y + r], [x, y + r]),
            Segment::Cubic([x - k, y + r], [x - r, y + k], [x - r, y]),
            Segment::Cubic([x - r, y - k], [x - k, y - r], [x, y - r]),
            Segment::Cubic([x + k, y - r], [x + r, y - k], [x + r, y]),
            Segment::Close,
        ]);
    }

    /// Whether the path has points, and all of them can be drawn.
    pub fn is_drawable(&self) -> bool {
        // Coordinates far off the page would overflow a rasteriser's fixed point.
        !self.0.is_empty()
            && self.0.iter().flat_map(Segment::points).flatten().all(|c| c.is_finite() && c.abs() < 1e6)
    }
}

/// Rectangle on the page, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f32,
    /// Upper edge.
    pub y: f32,
    /// Width.
    pub w: f32,
    /// Height.
    pub h: f32,
}

impl Rect {
    /// Right edge.
    pub fn right(&self) -> f32 {
        self.x + self.w
    }

    /// Lower edge.
    pub fn bottom(&self) -> f32 {
        self.y + self.h
    }

    /// The rectangle as a closed contour.
    pub fn path(&self) -> Path {
        let mut path = Path::default();
        path.add_polygon(&[
            [self.x, self.y],
            [self.right(), self.y],
            [self.right(), self.bottom()],
            [self.x, self.bottom()],
        ]);
        path
    }
}
