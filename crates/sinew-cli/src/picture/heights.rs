//! Plots of each foot's height above the ground over time: the lower part of a walk's picture.

use super::{
    axis::{self, Unit},
    canvas::{Anchor, Canvas, TextStyle},
    path::{Path, Point, Rect},
    scene::Scene,
    style,
    walk::{FootSeries, Picture},
};

/// Maximum number of feet on a page.
const MAX_FEET: usize = 8;
/// Height in pixels above the plots, for their heading.
const HEAD: f32 = 34.0;
/// Height in pixels above each plot, for its foot's name.
const NAME: f32 = 40.0;
/// Height in pixels below the last plot, for the time axis.
const FOOT: f32 = 82.0;
/// Width in pixels left of the plots, for numbers.
const NUMBERS: f32 = 58.0;

fn plot_height(feet: usize) -> f32 {
    if feet <= 2 { 170.0 } else { 120.0 }
}

/// Height in pixels of all plots.
pub fn height(picture: &Picture<'_>) -> f32 {
    let n = picture.feet.len().min(MAX_FEET);
    if n == 0 || picture.frames() == 0 {
        return 0.0;
    }
    HEAD + n as f32 * (NAME + plot_height(n)) + FOOT
}

/// Ranges of the two axes.
struct Axes {
    /// In seconds.
    time: (f32, f32),
    /// In metres.
    height: (f32, f32),
    unit: Unit,
}

impl Axes {
    fn on_page(&self, room: &Rect, time: f32, height: f32) -> Point {
        let share = |v: f32, (lo, hi): (f32, f32)| (v - lo) / (hi - lo);
        [room.x + room.w * share(time, self.time), room.bottom() - room.h * share(height, self.height)]
    }
}

/// Draws the plots with their upper edge at `top`.
pub fn draw(picture: &Picture<'_>, scene: &Scene, canvas: &mut Canvas, top: f32) {
    let feet = picture.feet.get(..MAX_FEET).unwrap_or(picture.feet);
    if feet.is_empty() || picture.frames() == 0 {
        return;
    }
    let axes = axes(picture, scene, feet);
    let heading =
        format!("Height of each foot (the lower of heel and ball) above the ground, {}", axes.unit.name);
    canvas.text([style::MARGIN, top + 22.0], Anchor::Left, &heading, style::HEADING);
    let contact = feet.iter().any(|f| !f.contacts.is_empty()).then_some("shaded: in contact");
    let moments = scene.frames().nth(1).is_some().then_some("dashed: the moments shown above");
    let key: Vec<_> = contact.into_iter().chain(moments).collect();
    let right = style::WIDTH as f32 - style::MARGIN;
    canvas.text([right, top + 22.0], Anchor::Right, &key.join("; "), style::TICK);
    let h = plot_height(feet.len());
    let x = style::MARGIN + NUMBERS;
    for (k, foot) in feet.iter().enumerate() {
        let y = top + HEAD + NAME + k as f32 * (h + NAME);
        let room = Rect { x, y, w: style::WIDTH as f32 - style::MARGIN - x, h };
        plot(picture, scene, canvas, &axes, foot, &room);
        if k + 1 == feet.len() {
            time_axis(canvas, &axes, &room);
        }
    }
}

fn axes(picture: &Picture<'_>, scene: &Scene, feet: &[FootSeries]) -> Axes {
    let time = |i: usize| picture.times.get(i).copied().unwrap_or(0.0);
    let (mut from, mut to) = (time(*scene.shown.start()), time(*scene.shown.end()));
    // A single frame is in the middle of a second.
    if to - from < 1e-4 {
        (from, to) = (from - 0.5, from + 0.5);
    }
    let join = |a: (f32, f32), b: (f32, f32)| (a.0.min(b.0), a.1.max(b.1));
    let after = feet.iter().map(|f| shown(scene, &f.height_after)).fold((0.0, 0.0), join);
    let before = feet.iter().map(|f| shown(scene, &f.height_before)).fold((0.0, 0.0), join);
    let span = (after.1 - after.0).max(1e-6);
    // A flat walk on stairs is metres off. The range is that of the planted feet; a label tells the range that leaves it.
    let lo = before.0.max(after.0 - 0.35 * span).min(after.0);
    let hi = before.1.min(after.1 + 0.35 * span).max(after.1);
    let rim = 0.09 * (hi - lo);
    Axes { time: (from, to), height: (lo - rim, hi + rim), unit: Unit::of(hi - lo) }
}

fn plot(
    picture: &Picture<'_>,
    scene: &Scene,
    canvas: &mut Canvas,
    axes: &Axes,
    foot: &FootSeries,
    room: &Rect,
) {
    let color = style::body(foot.side);
    let at = |t: f32, h: f32| axes.on_page(room, t, h);
    canvas.set_clip(Some(*room));
    for &(a, b) in &foot.contacts {
        let (a, b) = (at(a, 0.0)[0], at(b, 0.0)[0]);
        canvas.fill(Rect { x: a, y: room.y, w: b - a, h: room.h }.path(), style::tint(color, 0.13));
    }
    canvas.set_clip(None);
    let (lo, hi) = axes.height;
    let per = axes.unit.per_metre;
    for (value, text) in axis::ticks(lo * per, hi * per, 4) {
        let y = at(0.0, value / per)[1];
        let (line, width) = if value == 0.0 { (style::MUTED, 1.5) } else { (style::GRID, 1.2) };
        canvas.line([room.x, y], [room.right(), y], line, width);
        canvas.text([room.x - 12.0, y + 7.0], Anchor::Right, &text, style::TICK);
    }
    for i in scene.frames() {
        if let Some(&time) = picture.times.get(i) {
            let x = at(time, 0.0)[0];
            canvas.dashed(Path::line([[x, room.y], [x, room.bottom()]]), style::HAIRLINE, 1.0, Some(3.0));
        }
    }
    canvas.set_clip(Some(*room));
    let curves = [(&foot.height_before, style::BEFORE, 2.0), (&foot.height_after, color, 3.0)];
    for (values, color, width) in curves {
        canvas.stroke(curve(picture.times, values, at), color, width);
        if let ([value], Some(&time)) = (&values[..], picture.times.first()) {
            canvas.circle(at(time, *value), width * 1.8, color);
        }
    }
    canvas.set_clip(None);
    let line = room.y - 11.0;
    let name = style::fit(canvas, &foot.name, style::HEADING.size, room.w * 0.5);
    canvas.text([room.x, line], Anchor::Left, &name, TextStyle { color, ..style::HEADING });
    let (min, max) = shown(scene, &foot.height_before);
    if min < lo || max > hi {
        let in_unit = |metres: f32| format!("{:.0}", metres * per).replace('-', "\u{2212}");
        let text = format!("grey: before, from {} to {} {}", in_unit(min), in_unit(max), axes.unit.name);
        canvas.text([room.right(), line], Anchor::Right, &text, style::TICK);
    }
}

/// Minimum and maximum of the heights in the frames that are shown.
fn shown(scene: &Scene, values: &[f32]) -> (f32, f32) {
    let values = values.get(..=*scene.shown.end()).unwrap_or(values).iter().copied();
    values
        .filter(|v| v.is_finite())
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)))
}

/// A line through the finite values, with gaps at others.
fn curve(times: &[f32], values: &[f32], at: impl Fn(f32, f32) -> Point) -> Path {
    let mut path = Path::default();
    let mut run: Vec<Point> = Vec::new();
    for (&t, &v) in times.iter().zip(values) {
        let [x, y] = at(t, v);
        if x.is_finite() && y.is_finite() {
            // A rasteriser has a limited range, and far outside the plot the exact position does not matter.
            run.push([x.clamp(-1e5, 1e5), y.clamp(-1e5, 1e5)]);
        } else {
            path.add_line(run.drain(..));
        }
    }
    path.add_line(run.drain(..));
    path
}

fn time_axis(canvas: &mut Canvas, axes: &Axes, room: &Rect) {
    let y = room.bottom();
    canvas.line([room.x, y], [room.right(), y], style::HAIRLINE, style::HAIR);
    for (value, text) in axis::ticks(axes.time.0, axes.time.1, 12) {
        let x = axes.on_page(room, value, 0.0)[0];
        canvas.line([x, y], [x, y + 8.0], style::HAIRLINE, style::HAIR);
        canvas.text([x, y + 30.0], Anchor::Middle, &text, style::TICK);
    }
    let x = room.x + room.w / 2.0;
    canvas.text([x, y + 60.0], Anchor::Middle, "time, s", style::TICK);
}
