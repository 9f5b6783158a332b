//! Arrays of vertices for graphics cards.

use alloc::vec::Vec;

use glam::Vec3;

use super::{AREA_OPACITY, DrawList, ShapeKind, Theme};

/// Vertices of one kind of primitive, as flat arrays that a front end uploads as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vertices {
    positions: Vec<f32>,
    colors: Vec<f32>,
}

impl Vertices {
    /// Positions: x, y, z of each vertex in metres, in the space of the list.
    pub fn positions(&self) -> &[f32] {
        &self.positions
    }

    /// Colours: red, green, blue and opacity of each vertex, 0 to 1, in linear light (as shaders and vertex colours of glTF,
    /// three.js and Bevy have them). Colour is not multiplied by opacity.
    pub fn colors(&self) -> &[f32] {
        &self.colors
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.positions.len() / 3
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    fn clear(&mut self) {
        self.positions.clear();
        self.colors.clear();
    }

    fn push(&mut self, at: Vec3, color: [f32; 4]) {
        self.positions.extend_from_slice(&at.to_array());
        self.colors.extend_from_slice(&color);
    }
}

/// A [`DrawList`] as arrays of vertices: four draw calls show all of it. [`Batches::fill`] reuses the memory and allocates only
/// to grow, so that views of the arrays in a browser stay valid from frame to frame.
///
/// ```
/// use sinew::{draw::{Batches, DrawList, Theme}, glam::Vec3};
/// let (mut list, mut batches) = (DrawList::new(), Batches::new());
/// list.goal(Vec3::ONE, 0.1, None);
/// batches.fill(&list, Theme::Dark);
/// assert_eq!(batches.lines().len(), 6); // three lines
/// assert_eq!(batches.lines().positions()[..3], [0.9, 1.0, 1.0]);
/// assert_eq!(batches.lines().colors().len(), 6 * 4);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batches {
    lines: Vertices,
    solids: Vertices,
    areas: Vertices,
    discs: Vertices,
    radii: Vec<f32>,
}

/// Linear intensity of each sRGB value (IEC 61966-2-1).
const LINEAR: [f32; 256] = {
    let (mut table, mut n) = ([0.0; 256], 0);
    while n < 256 {
        let c = n as f64 / 255.0;
        table[n] = if c <= 0.040_45 { c / 12.92 } else { to_power_of_2_4((c + 0.055) / 1.055) } as f32;
        n += 1;
    }
    table
};

const fn to_power_of_2_4(x: f64) -> f64 {
    // Newton's iteration for the fifth root of x^2. It converges from above; the smallest argument takes 14 steps.
    let (square, mut root, mut n) = (x * x, 1.0, 0);
    while n < 40 {
        root -= (root - square / (root * root * root * root)) / 5.0;
        n += 1;
    }
    square * root
}

impl Batches {
    /// Empty batches.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces the vertices by those of a list.
    pub fn fill(&mut self, list: &DrawList, theme: Theme) {
        let all = [&mut self.lines, &mut self.solids, &mut self.areas, &mut self.discs];
        all.into_iter().for_each(Vertices::clear);
        self.radii.clear();
        for shape in list.shapes() {
            let points = list.points(shape);
            let [r, g, b] = theme.color_of(shape).map(|c| LINEAR[usize::from(c)]);
            let mut color = [r, g, b, 1.0];
            let into = match shape.kind {
                ShapeKind::Segments | ShapeKind::Polyline => &mut self.lines,
                ShapeKind::Triangles => &mut self.solids,
                ShapeKind::Area => &mut self.areas,
                ShapeKind::Discs { radius } => {
                    self.radii.extend(points.iter().map(|_| radius));
                    &mut self.discs
                }
            };
            match shape.kind {
                ShapeKind::Polyline => {
                    points.windows(2).flatten().for_each(|&p| into.push(p, color));
                    continue;
                }
                ShapeKind::Area => color[3] = AREA_OPACITY,
                _ => {}
            }
            points.iter().for_each(|&p| into.push(p, color));
        }
    }

    /// Lines: two vertices each.
    pub fn lines(&self) -> &Vertices {
        &self.lines
    }

    /// Opaque triangles: three vertices each, counter-clockwise as seen from their front. Derivatives of the position give
    /// their flat normals.
    pub fn solids(&self) -> &Vertices {
        &self.solids
    }

    /// Translucent triangles: three vertices each, seen from both sides. Drawn after what is opaque, without writing depth.
    pub fn areas(&self) -> &Vertices {
        &self.areas
    }

    /// Centres of discs that face the viewer; see [`Batches::radii`].
    pub fn discs(&self) -> &Vertices {
        &self.discs
    }

    /// Radius of each disc, in metres. A disc of radius 0 is a dot of the front end's choice.
    pub fn radii(&self) -> &[f32] {
        &self.radii
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{Shape, ShapeRole};

    #[test]
    fn linear_light_is_that_of_the_standard() {
        for (n, &found) in LINEAR.iter().enumerate() {
            let c = n as f64 / 255.0;
            let expected = if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
            assert!((f64::from(found) - expected).abs() < 1e-7, "{n}");
        }
    }

    #[test]
    fn each_kind_goes_to_its_batch_point_by_point() {
        let mut list = DrawList::new();
        let points = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|x| Vec3::new(x, -x, 0.5));
        let kinds = [
            ShapeKind::Segments,
            ShapeKind::Polyline,
            ShapeKind::Triangles,
            ShapeKind::Area,
            ShapeKind::Discs { radius: 0.25 },
        ];
        for kind in kinds {
            list.push(Shape::new(ShapeRole::Ray, kind), points);
        }
        let mut batches = Batches::new();
        for theme in Theme::ALL {
            batches.fill(&list, theme);
            let flat: Vec<f32> = points.iter().flat_map(Vec3::to_array).collect();
            for same in [&batches.solids, &batches.areas, &batches.discs] {
                assert_eq!(same.positions(), flat);
            }
            assert_eq!(batches.lines.positions()[..18], flat);
            let line: Vec<f32> = [0, 1, 1, 2, 2, 3, 3, 4, 4, 5].map(|n| points[n].to_array()).concat();
            assert_eq!(batches.lines.positions()[18..], line);
            assert_eq!(batches.radii, [0.25; 6]);
            let color = theme.color(ShapeRole::Ray, None, Default::default());
            for (vertices, opacity) in
                [(&batches.lines, 1.0), (&batches.solids, 1.0), (&batches.areas, AREA_OPACITY)]
            {
                assert_eq!(vertices.colors().len(), 4 * vertices.len());
                for vertex in vertices.colors().chunks(4) {
                    assert_eq!(vertex[..3], color.map(|c| LINEAR[c as usize]));
                    assert_eq!(vertex[3], opacity);
                }
            }
        }
    }
}
