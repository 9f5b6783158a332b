//! Draws an example's shapes as an SVG file: `cargo run -p sinew --example fabrik -- picture.svg`.

use std::{collections::BTreeMap, fmt::Write};

use sinew::{
    Pose,
    body::Side,
    draw::{AREA_OPACITY, DrawList, ShapeKind, ShapeRole, Theme},
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

    /// Adds the limits and present values of all joints of a pose, with this radius in metres.
    pub fn limits(&mut self, pose: &Pose, radius: f32) {
        self.layer(1.0).limits(pose, pose.skeleton().joints().map(|j| (j, None)), radius);
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
        let text = |at: Vec2, anchor: &str, ink: [u8; 3], text: &str| {
            format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" font-family=\"sans-serif\" font-size=\"12\" text-anchor=\"{anchor}\" fill=\"{}\">{text}</text>\n",
                at.x,
                at.y,
                hex(ink)
            )
        };
        for (list, opacity) in &self.layers {
            let _ = writeln!(out, "<g opacity=\"{opacity}\">");
            // Painter's order: far triangles first. Those that face away are hidden behind others of the same bone.
            let mut fills = Vec::new();
            for shape in list.shapes() {
                let [r, g, b] = Theme::Light.color_of(shape);
                let ink = hex([r, g, b]);
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
                    ShapeRole::AxisX | ShapeRole::AxisY | ShapeRole::AxisZ | ShapeRole::Preferred => 2.5,
                    ShapeRole::Bone => 3.0,
                    ShapeRole::Needle | ShapeRole::Path | ShapeRole::Residual => 2.0,
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
                    ShapeKind::Area => {
                        let mut d = String::new();
                        for around in outline(points.chunks_exact(3).map(|t| [0, 1, 2].map(|k| page(&t[k]))))
                        {
                            for (i, [x, y]) in around.into_iter().enumerate() {
                                let _ = write!(d, "{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' });
                            }
                            d.push('Z');
                        }
                        let _ =
                            writeln!(out, "<path d=\"{d}\" fill=\"{ink}\" fill-opacity=\"{AREA_OPACITY}\"/>");
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
            for (_, d, ink) in fills {
                let ink = hex(ink);
                let _ =
                    writeln!(out, "<path d=\"{d}Z\" fill=\"{ink}\" stroke=\"{ink}\" stroke-width=\"0.6\"/>");
            }
            for label in list.labels() {
                let towards = flat(&label.away).normalize_or_zero();
                let anchor = match towards.x {
                    x if x > 0.4 => "start",
                    x if x < -0.4 => "end",
                    _ => "middle",
                };
                let at = page(&label.at) + towards * 12.0 + Vec2::Y * (4.0 + 5.0 * towards.y);
                let ink = Theme::Light.color(label.role, label.side, Default::default());
                out.push_str(&text(at, anchor, ink, list.text(label)));
            }
            out.push_str("</g>\n");
        }
        for (at, name) in &self.labels {
            out.push_str(&text(page(at) + Vec2::Y * 12.0, "middle", [0x4a, 0x50, 0x58], name));
        }
        out.push_str("</svg>\n");
        out
    }
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// The loops around triangles on the page, to a tenth of a pixel. Filled by the nonzero rule, they are the triangles' union.
fn outline(triangles: impl Iterator<Item = [Vec2; 3]>) -> Vec<Vec<[f32; 2]>> {
    // How often each edge is passed in its direction. Those of two triangles cancel out, as all turn the same way.
    let mut edges: BTreeMap<[[i32; 2]; 2], i32> = BTreeMap::new();
    for t in triangles {
        let [a, mut b, mut c] = t.map(|p| [p.x, p.y].map(|x| (10.0 * x).round() as i32));
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area < 0 {
            (b, c) = (c, b);
        }
        for [from, to] in [[a, b], [b, c], [c, a]].into_iter().filter(|[from, to]| area != 0 && from != to) {
            match edges.get_mut(&[to, from]) {
                Some(n) if *n > 0 => *n -= 1,
                _ => *edges.entry([from, to]).or_default() += 1,
            }
        }
    }
    let mut next: BTreeMap<[i32; 2], Vec<[i32; 2]>> = BTreeMap::new();
    for ([from, to], n) in edges {
        next.entry(from).or_default().extend((0..n).map(|_| to));
    }
    let mut loops = Vec::new();
    // As many edges end at each point as begin there, so that every walk comes back to its start.
    while let Some((&start, _)) = next.iter().find(|(_, to)| !to.is_empty()) {
        let (mut around, mut at) = (Vec::new(), start);
        while let Some(to) = next.get_mut(&at).and_then(Vec::pop) {
            around.push(at.map(|x| x as f32 / 10.0));
            at = to;
        }
        loops.push(around);
    }
    loops
}
