//! Draws an example's shapes as an SVG file: `cargo run -p sinew --example fabrik -- picture.svg`.

use std::fmt::Write;

use sinew::{
    Pose,
    body::Side,
    draw::{DrawList, ShapeKind, ShapeRole},
    glam::{Vec2, Vec3},
};

/// A picture of layered shapes, each layer with its opacity from 0 to 1.
#[derive(Default)]
pub struct Picture {
    layers: Vec<(DrawList, f32)>,
    /// Texts, centred below their points.
    labels: Vec<(Vec3, String)>,
    /// Unit vector from the scene to the viewer, in model space.
    from: Vec3,
}

/// Size of the page and width of its margins, in pixels.
const PAGE: Vec2 = Vec2::new(560.0, 400.0);
const EDGE: f32 = 26.0;

#[allow(dead_code)] // Each example uses only some of the methods.
impl Picture {
    /// Creates an empty picture, seen from this direction (of any length) with Y up.
    pub fn seen_from(from: Vec3) -> Self {
        Self { from: from.normalize(), ..Self::default() }
    }

    /// Adds a layer with an opacity from 0 (invisible) to 1.
    pub fn layer(&mut self, opacity: f32) -> &mut DrawList {
        self.layers.push((DrawList::new(), opacity));
        &mut self.layers.last_mut().expect("a layer was just pushed").0
    }

    /// Adds the bones of a pose.
    pub fn pose(&mut self, pose: &Pose, side: Option<Side>, opacity: f32) {
        self.layer(opacity).bones(pose, pose.skeleton().joints().map(|j| (j, side)), 0.16);
    }

    /// Adds the limits of all joints of a pose, with this radius in metres.
    pub fn limits(&mut self, pose: &Pose, radius: f32) {
        self.layer(0.7).limits(pose, pose.skeleton().joints().map(|j| (j, None)), radius);
    }

    /// Adds the crosshair of a goal, with this size in metres.
    pub fn goal(&mut self, at: Vec3, size: f32) {
        self.layer(1.0).goal(at, size, None);
    }

    /// Adds a text below a point.
    pub fn label(&mut self, at: Vec3, text: impl Into<String>) {
        self.labels.push((at, text.into()));
    }

    /// Writes the SVG to the path in the first argument; does nothing without one.
    pub fn save(&self) -> std::io::Result<()> {
        let Some(path) = std::env::args_os().nth(1) else { return Ok(()) };
        std::fs::write(path, self.svg())
    }

    fn svg(&self) -> String {
        let right = Vec3::Y.cross(self.from).normalize_or(Vec3::X);
        let up = self.from.cross(right);
        let flat = |p: &Vec3| Vec2::new(p.dot(right), -p.dot(up));
        let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
        for (list, _) in &self.layers {
            for p in list.shapes().iter().flat_map(|s| list.points(s)) {
                (low, high) = (low.min(flat(p)), high.max(flat(p)));
            }
        }
        let room = PAGE - 2.0 * EDGE;
        let scale = (room / (high - low).max(Vec2::splat(1e-6))).min_element();
        let page = |p: &Vec3| (flat(p) - 0.5 * (low + high)) * scale + 0.5 * PAGE;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" stroke-linejoin=\"round\" stroke-linecap=\"round\">\n<path d=\"M0 0H{0}V{1}H0Z\" fill=\"#fff\"/>\n",
            PAGE.x, PAGE.y
        );
        for (list, opacity) in &self.layers {
            let _ = writeln!(out, "<g opacity=\"{opacity}\">");
            // Painter's order: far triangles first. Those that face away are hidden behind others of the same bone.
            let mut fills = Vec::new();
            for shape in list.shapes() {
                let [r, g, b] = shape.color();
                let ink = format!("#{r:02x}{g:02x}{b:02x}");
                let points = list.points(shape);
                let line = |points: &[Vec3]| {
                    let mut d = String::new();
                    for (i, p) in points.iter().map(&page).enumerate() {
                        let _ = write!(d, "{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, p.x, p.y);
                    }
                    d
                };
                let width = match shape.role {
                    ShapeRole::Goal | ShapeRole::Pole | ShapeRole::Handle | ShapeRole::Swivel => 2.5,
                    ShapeRole::Bone => 3.0,
                    _ => 1.2,
                };
                let mut stroke = |points: &[Vec3]| {
                    let _ = writeln!(
                        out,
                        "<path d=\"{}\" stroke=\"{ink}\" stroke-width=\"{width}\" fill=\"none\"/>",
                        line(points)
                    );
                };
                match shape.kind {
                    ShapeKind::Segments => points.chunks_exact(2).for_each(&mut stroke),
                    ShapeKind::Polyline => stroke(points),
                    ShapeKind::Triangles => {
                        for t in points.chunks_exact(3) {
                            let normal = (t[1] - t[0]).cross(t[2] - t[0]).normalize_or_zero();
                            let light = 0.55 + 0.45 * normal.dot(self.from).max(0.0);
                            let shade = [r, g, b].map(|c| (255.0 - (255.0 - f32::from(c)) * light) as u8);
                            let depth = (t[0] + t[1] + t[2]).dot(self.from);
                            if normal.dot(self.from) > 0.0 {
                                fills.push((depth, line(t), shade));
                            }
                        }
                    }
                    ShapeKind::Discs { radius } => {
                        for p in points {
                            let at = page(p);
                            let r = (radius * scale).clamp(1.5, 7.0);
                            let _ = writeln!(
                                out,
                                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{r:.1}\" fill=\"{ink}\"/>",
                                at.x, at.y
                            );
                        }
                    }
                    _ => {}
                }
            }
            fills.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (_, d, [r, g, b]) in fills {
                let ink = format!("#{r:02x}{g:02x}{b:02x}");
                let _ =
                    writeln!(out, "<path d=\"{d}Z\" fill=\"{ink}\" stroke=\"{ink}\" stroke-width=\"0.6\"/>");
            }
            out.push_str("</g>\n");
        }
        for (at, text) in &self.labels {
            let Vec2 { x, y } = page(at);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" font-family=\"sans-serif\" font-size=\"12\" text-anchor=\"middle\" fill=\"#4a5058\">{text}</text>",
                y + 12.0
            );
        }
        out.push_str("</svg>\n");
        out
    }
}
