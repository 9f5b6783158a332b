//! Picture of one pose: from the side and from the front (for a chain along a curve, from above), on the floor, with the
//! names of the main joints.

use glam::Vec3;
use sinew::{
    JointId, Pose,
    body::Side,
    draw::{AREA_OPACITY, DrawList, Shape, ShapeKind, ShapeRole, ShapeState},
};

use super::{
    axis::{self, Unit},
    canvas::{Anchor, Canvas, TextStyle},
    figure::{Extent, Figure, Look},
    path::{Path, Point, Rect},
    style::{self, Swatch},
    view::View,
};

/// Width of the picture in pixels.
const WIDTH: u32 = 1600;
/// Maximum height of the figure, in pixels.
const MAX_HEIGHT: f32 = 860.0;
/// Width in pixels left of the views, for heights.
const RULER: f32 = 96.0;
/// Width in pixels on each side of the front view, for names.
const NAMES: f32 = 190.0;
/// Half the width of a goal's crosshair, in pixels.
const CROSS: f32 = 16.0;
/// Height of a line of names, in pixels.
const LINE: f32 = 27.0;

/// Contents of the picture.
#[derive(Clone, Debug)]
pub struct PosePicture<'a> {
    /// Large line at the top.
    pub title: String,
    /// Line below the title.
    pub subtitle: String,
    /// The figure.
    pub figure: &'a Figure,
    /// The pose, in metres, Y up.
    pub pose: &'a Pose,
    /// Joints whose names are written beside the front view.
    pub named: Vec<JointId>,
    /// Limits of joints, with the lines that they are measured from.
    pub limits: DrawList,
    /// The pose before the solve and its goals; `None` without a solve.
    pub solved: Option<Solved<'a>>,
}

/// Start and goals of a solve, in model space in metres.
#[derive(Clone, Copy, Debug)]
pub struct Solved<'a> {
    /// The pose before the solve.
    pub before: &'a Pose,
    /// For each goal, the start of its handle and the goal's position.
    pub goals: &'a [(Vec3, Vec3)],
    /// Points along the curve that the chain is laid along; empty without one.
    pub curve: &'a [Vec3],
    /// Point that the chain's middle bends towards.
    pub pole: Option<Vec3>,
}

/// Name of a joint, with the joint's position on the page.
struct Label {
    text: String,
    joint: Point,
    side: Option<Side>,
    y: f32,
}

impl PosePicture<'_> {
    /// Draws the picture.
    pub fn draw(&self) -> Canvas {
        let right = WIDTH as f32 - style::MARGIN;
        let facing = self.figure.facing(self.pose).unwrap_or(Vec3::Z);
        // A curve usually shows best from above.
        let above = self.solved.as_ref().is_some_and(|s| !s.curve.is_empty());
        let (mut side, mut front) =
            (View::side(facing), if above { View::above(facing) } else { View::front(facing) });
        let mut extents = [side, front].map(|v| self.figure.extent(self.pose, &v));
        for (extent, view) in extents.iter_mut().zip([&side, &front]) {
            let shapes = self.limits.shapes().iter();
            shapes.flat_map(|s| self.limits.points(s)).for_each(|&p| extent.add(view.plane(p)));
        }
        if let Some(solved) = &self.solved {
            for (extent, view) in extents.iter_mut().zip([&side, &front]) {
                if !above {
                    extent.join(&self.figure.extent(solved.before, view));
                }
                let marks = solved.goals.iter().map(|g| &g.1).chain(&solved.pole).chain(solved.curve);
                marks.for_each(|&p| extent.add(view.plane(p)));
            }
        }
        if !extents.iter().all(Extent::is_some) {
            extents.iter_mut().for_each(|e| e.add([0.0; 2]));
        }
        let (lo, hi) = (extents[0].lo[1], extents[0].hi[1]);
        let widths = extents.map(|e| e.size()[0]);
        // A figure that lies flat is measured by its width.
        let size = (hi - lo).max(widths[0].max(widths[1]) * 0.25).max(1e-6);
        // The floor is at height 0, unless the figure is far above it or reaches far below.
        let floor = if lo.abs() < 0.25 * size { lo.min(0.0) } else { lo };
        let names = if self.named.is_empty() { 0.0 } else { NAMES };
        const BETWEEN: f32 = 90.0;
        let room = right - style::MARGIN - RULER - 2.0 * names - BETWEEN - 40.0;
        let across = (widths[0] + widths[1]).max(size * 0.2);
        let tall = (hi - floor).max(size * 0.1).max(if above { extents[1].size()[1] } else { 0.0 });
        let scale = (MAX_HEIGHT / tall).min(room / across);

        let top = 176.0;
        let bottom = top + tall * scale + 24.0;
        let height = bottom + 92.0;
        let mut canvas = Canvas::new(WIDTH, height.ceil() as u32, style::PAPER);
        self.head(&mut canvas, right);

        // Spare width is shared equally by both views.
        let spare = (room - across * scale).max(0.0) / 2.0;
        let left = style::MARGIN + RULER;
        let side_room = widths[0] * scale + spare;
        let front_room = right - left - side_room - BETWEEN;
        let middles = [left + side_room / 2.0, left + side_room + BETWEEN + front_room / 2.0];
        for ((view, extent), middle) in [&mut side, &mut front].into_iter().zip(&extents).zip(middles) {
            view.scale = scale;
            view.origin = [(extent.lo[0] + extent.hi[0]) / 2.0, floor];
            view.page = [middle, bottom];
        }
        if above {
            front.origin[1] = extents[1].lo[1];
        }
        ruler(&mut canvas, &side, floor, hi, [left, if above { left + side_room } else { right }]);
        let second = if above { "from above" } else { "from the front" };
        for (view, name) in [(&side, "from its right"), (&front, second)] {
            canvas.text([view.page[0], bottom + 34.0], Anchor::Middle, name, style::HEADING);
        }
        scale_bar(&mut canvas, scale, size, right, bottom + 64.0);
        for view in [&side, &front] {
            self.figure.draw(&mut canvas, self.pose, view, Look::Full, size);
            self.figure.dots(&mut canvas, self.pose, view);
            self.arcs(&mut canvas, view);
            self.marks(&mut canvas, view);
        }
        let half = widths[1] * scale / 2.0;
        self.names(&mut canvas, &front, half, names, (top - 10.0, bottom - 16.0));
        canvas
    }

    /// Draws limits as wedges, caps and bars, the lines that they are measured from, and present values.
    fn arcs(&self, canvas: &mut Canvas, view: &View) {
        for shape in self.limits.shapes() {
            let points: Vec<Point> = self.limits.points(shape).iter().map(|&p| view.project(p)).collect();
            let color = style::shape(shape);
            let mut line = |points: &[Point]| {
                let path = Path::line(points.iter().copied());
                match shape.role {
                    ShapeRole::Reference => canvas.dashed(path, color, 1.8, Some(4.0)),
                    ShapeRole::Needle | ShapeRole::Preferred => canvas.stroke(path, color, 3.0),
                    _ => canvas.stroke(path, color, 2.4),
                }
            };
            match shape.kind {
                ShapeKind::Segments => points.chunks_exact(2).for_each(line),
                ShapeKind::Area => {
                    let mut area = Path::default();
                    points.chunks_exact(3).for_each(|triangle| area.add_polygon(triangle));
                    canvas.fill(area, color.with_opacity(AREA_OPACITY));
                }
                ShapeKind::Discs { radius } => {
                    let radius = (radius * view.scale).clamp(2.0, 6.0);
                    points.iter().for_each(|&p| canvas.circle(p, radius, color));
                }
                _ => line(&points),
            }
        }
    }

    /// Draws the pose before the solve, over the pose after so that no skin hides it, goals as crosshairs, and the pole as a
    /// ring.
    fn marks(&self, canvas: &mut Canvas, view: &View) {
        let Some(solved) = &self.solved else { return };
        // A chain along a curve starts far off, so that its pose before is not drawn.
        if solved.curve.is_empty() {
            self.figure.draw(canvas, solved.before, view, Look::Faint, 0.0);
        }
        let color = style::role(ShapeRole::Goal);
        canvas.stroke(Path::line(solved.curve.iter().map(|&p| view.project(p))), color, 2.0);
        for &(from, goal) in solved.goals {
            let [x, y] = view.project(goal);
            canvas.dashed(Path::line([view.project(from), [x, y]]), color, 1.6, Some(7.0));
            for [dx, dy] in [[CROSS, 0.0], [0.0, CROSS]] {
                canvas.line([x - dx, y - dy], [x + dx, y + dy], color, 2.6);
            }
        }
        if let Some(pole) = solved.pole {
            let at = view.project(pole);
            canvas.circle(at, 8.0, style::role(ShapeRole::Pole));
            canvas.circle(at, 5.0, style::PAPER);
        }
    }

    fn head(&self, canvas: &mut Canvas, right: f32) {
        let width = right - style::MARGIN;
        let title = style::fit(canvas, &self.title, style::TITLE.size, width);
        canvas.text([style::MARGIN, 76.0], Anchor::Left, &title, style::TITLE);
        let sides = [Some(Side::Left), Some(Side::Right)].map(|s| self.figure.has(s));
        let mut entries = Vec::new();
        if sides.contains(&true) {
            entries.push((Swatch::Area(style::body(Some(Side::Left))), "left"));
            entries.push((Swatch::Area(style::body(Some(Side::Right))), "right"));
            entries.push((Swatch::Area(style::body(None)), "middle"));
        }
        if self.limits.shapes().iter().any(|s| s.role == ShapeRole::Limit) {
            entries.push((Swatch::Line(style::role(ShapeRole::Limit), 2.4), "limits"));
            entries.push((Swatch::Dashes(style::role(ShapeRole::Reference), 1.8), "measured from"));
            entries.push((Swatch::Line(style::role(ShapeRole::Needle), 3.0), "value"));
            let at = |shape: &&Shape| shape.role == ShapeRole::Limit && shape.state == ShapeState::AtLimit;
            if let Some(shape) = self.limits.shapes().iter().find(at) {
                entries.push((Swatch::Line(style::shape(shape), 2.4), "at a limit"));
            }
        }
        if let Some(solved) = &self.solved {
            if solved.curve.is_empty() {
                entries.push((Swatch::Line(style::BEFORE, 1.8), "before"));
            }
            if !solved.goals.is_empty() {
                let name = if solved.goals.len() > 1 { "goals" } else { "goal" };
                entries.push((Swatch::Line(style::role(ShapeRole::Goal), 2.6), name));
                entries.push((Swatch::Dashes(style::role(ShapeRole::Goal), 1.6), "handle"));
            }
            if !solved.curve.is_empty() {
                entries.push((Swatch::Line(style::role(ShapeRole::Goal), 2.0), "curve"));
            }
            if solved.pole.is_some() {
                entries.push((Swatch::Cast(style::role(ShapeRole::Pole)), "pole"));
            }
        }
        let subtitle = style::fit(canvas, &self.subtitle, style::BODY.size, width);
        canvas.text([style::MARGIN, 112.0], Anchor::Left, &subtitle, style::BODY);
        style::legend(canvas, 122.0, right, &entries, true);
    }

    /// Writes names in two columns beside the figure, each as near to the height of its joint as the others permit.
    fn names(&self, canvas: &mut Canvas, view: &View, half: f32, room: f32, (top, bottom): (f32, f32)) {
        let skeleton = self.pose.skeleton();
        let above = self.solved.as_ref().is_some_and(|s| !s.curve.is_empty());
        let mut columns: [Vec<Label>; 2] = [Vec::new(), Vec::new()];
        for &joint in &self.named {
            let at = view.project(self.pose.position(joint));
            let name = skeleton.name(joint);
            if name.is_empty() || !(at[0].is_finite() && at[1].is_finite()) {
                continue;
            }
            let text = style::fit(canvas, name, style::TICK.size, room);
            let label = Label { text, joint: at, side: self.figure.side(joint), y: at[1].clamp(top, bottom) };
            // Names of the body's middle go to the shorter column; seen from above, to the side of their joint.
            let k = match label.side {
                Some(Side::Right) => 0,
                Some(Side::Left) => 1,
                None if above => usize::from(at[0] > view.page[0]),
                None => usize::from(columns[1].len() < columns[0].len()),
            };
            columns[k].push(label);
        }
        for (k, mut labels) in columns.into_iter().enumerate() {
            labels.truncate(((bottom - top) / LINE).floor().max(0.0) as usize);
            spread(&mut labels, top, bottom);
            let sign = if k == 0 { -1.0 } else { 1.0 };
            let anchor = if k == 0 { Anchor::Right } else { Anchor::Left };
            for label in &labels {
                let x = view.page[0] + sign * (half + 44.0);
                let y = label.y;
                let color = style::body(label.side);
                let knee = [x - sign * 14.0, y];
                canvas.stroke(
                    Path::line([label.joint, knee, [x - sign * 4.0, y]]),
                    style::MUTED.with_opacity(0.45),
                    1.0,
                );
                canvas.text([x, y + 6.0], anchor, &label.text, TextStyle { color, ..style::TICK });
            }
        }
    }
}

/// Moves labels apart, up and down equally, and keeps them between `top` and `bottom`.
fn spread(labels: &mut [Label], top: f32, bottom: f32) {
    labels.sort_by(|a, b| a.y.total_cmp(&b.y));
    // Labels that touch form a block around the mean of their joints' heights. Blocks that touch join.
    let mut blocks: Vec<(f32, usize)> = Vec::new();
    let clamped = |middle: f32, n: usize| {
        let half = (n as f32 - 1.0) * LINE / 2.0;
        middle.min(bottom - half).max(top + half)
    };
    for label in labels.iter() {
        blocks.push((label.y, 1));
        while let [.., (a, n), (b, m)] = blocks[..] {
            let apart = (n + m) as f32 * LINE / 2.0;
            if clamped(b, m) - clamped(a, n) >= apart {
                break;
            }
            blocks.pop();
            blocks.pop();
            blocks.push(((a * n as f32 + b * m as f32) / (n + m) as f32, n + m));
        }
    }
    let mut at = labels.iter_mut();
    for (middle, n) in blocks {
        let first = clamped(middle, n) - (n as f32 - 1.0) * LINE / 2.0;
        for (i, label) in at.by_ref().take(n).enumerate() {
            label.y = first + i as f32 * LINE;
        }
    }
}

/// Draws the floor, and heights above it as lines behind both views.
fn ruler(canvas: &mut Canvas, view: &View, floor: f32, hi: f32, [left, right]: [f32; 2]) {
    let unit = Unit::of((hi - floor) * 1.3);
    // Numbers are at least a line and a half apart.
    let max_ticks = ((hi - floor) * view.scale / (1.5 * LINE)).clamp(1.0, 9.0) as usize;
    for (value, text) in axis::ticks(floor * unit.per_metre, hi * unit.per_metre, max_ticks) {
        let y = view.on_page([0.0, value / unit.per_metre])[1];
        canvas.line([left, y], [right, y], style::GRID, 1.2);
        canvas.text([left - 14.0, y + 7.0], Anchor::Right, &format!("{text} {}", unit.name), style::TICK);
    }
    let earth = Rect { x: left, y: view.page[1], w: right - left, h: 8.0 };
    canvas.fill(earth.path(), style::EARTH);
    let ground = style::role(sinew::draw::ShapeRole::Ground);
    canvas.line([left, view.page[1]], [right, view.page[1]], ground, 2.2);
}

/// Draws a scale bar of a round length, about a third of the figure's size in metres, with its right end at a point.
pub fn scale_bar(canvas: &mut Canvas, scale: f32, figure: f32, right: f32, y: f32) {
    let unit = Unit::of(figure * 0.8);
    let lengths = axis::ticks(0.0, figure * 0.45 * unit.per_metre, 3);
    let Some((length, text)) = lengths.into_iter().rev().find(|(v, _)| *v > 0.0) else { return };
    let left = right - length / unit.per_metre * scale;
    canvas.line([left, y], [right, y], style::MUTED, 2.0);
    for x in [left, right] {
        canvas.line([x, y - 6.0], [x, y + 6.0], style::MUTED, 2.0);
    }
    canvas.text([left - 12.0, y + 7.0], Anchor::Right, &format!("{text} {}", unit.name), style::TICK);
}
