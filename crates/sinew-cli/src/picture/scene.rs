//! Successive moments of the figure on the ground, seen from the side: the upper part of a walk's picture.

use std::ops::RangeInclusive;

use glam::Vec3;
use sinew::draw::{DrawList, ShapeKind, ShapeRole};

use super::{
    axis,
    canvas::{Anchor, Canvas},
    figure::{Extent, Look},
    path::{Path, Point, Rect},
    pose, profile, style,
    view::View,
    walk::Picture,
};

/// Maximum height of the figure, in pixels.
const MAX_FIGURE: f32 = 430.0;
/// Minimum height of the figure, in pixels: the feet of smaller figures could not be seen. A longer walk is shown in part.
const MIN_FIGURE: f32 = 170.0;
/// Maximum height of the scene without its axis, in pixels.
const MAX_HEIGHT: f32 = 820.0;
/// Height in pixels below the scene, for the axis.
const AXIS: f32 = 62.0;

/// Layout of the scene.
#[derive(Debug)]
pub struct Scene {
    stages: Vec<Stage>,
    /// Frames that are shown; later frames have no room.
    pub shown: RangeInclusive<usize>,
    /// Note to print below the plots.
    pub note: Option<String>,
    /// Height of the figure, in metres.
    figure: f32,
    /// Size of the scene without its axis, in pixels.
    size: Point,
    /// Position along the view at which the walk begins, in metres: the zero of the axis. `None` for a figure that stays in
    /// place.
    start: Option<f32>,
}

/// Figures that share one view of the ground. A walk has one stage; a figure that stays in place has one for each moment.
#[derive(Debug)]
struct Stage {
    view: View,
    frames: Vec<usize>,
    /// Left and right end, in pixels from the scene's left edge.
    span: (f32, f32),
}

impl Scene {
    /// Chooses the view, the scale, and the frames to show in `width` pixels.
    pub fn plan(picture: &Picture<'_>, width: f32) -> Self {
        let frames = picture.frames();
        let empty = Self {
            stages: Vec::new(),
            shown: 0..=0,
            note: Some("There is no frame to show.".into()),
            figure: 1.0,
            size: [width, 0.0],
            start: None,
        };
        let (Some(first), true) = (picture.after.first(), frames > 0) else { return empty };
        let mut view = View::side(picture.travel);
        let travels = Vec3::new(picture.travel.x, 0.0, picture.travel.z).length_squared() > 0.0;
        if !travels && let Some(facing) = picture.figure.facing(first) {
            view = View::side(facing);
        }
        let extents: Vec<[Extent; 2]> = (0..frames)
            .map(|i| [&picture.after[i], &picture.before[i]].map(|p| picture.figure.extent(p, &view)))
            .collect();
        // The figure's height is that of its tallest frame, as it may bend down in others.
        let tall = extents.iter().map(|e| e[0].size()[1]).fold(0.0, f32::max);
        let wide = extents.iter().map(|e| e[0].size()[0]).fold(0.0, f32::max);
        let figure = tall.max(wide * 0.5);
        if !(figure > 0.0 && figure.is_finite()) {
            return Self { note: Some("The figure has no size.".into()), ..empty };
        }
        let along: Vec<f32> = (0..frames)
            .map(|i| picture.figure.middle(&picture.after[i]).map_or(0.0, |p| view.plane(p)[0]))
            .collect();
        let mean_wide = extents.iter().map(|e| e[0].size()[0]).sum::<f32>() / frames as f32;
        let gap = (mean_wide * 1.08).clamp(figure * 0.3, figure * 1.2);
        let (nearest, furthest) = range(&along);
        if furthest - nearest < gap {
            Self::staying(picture, width, view, figure, &extents)
        } else {
            Self::walking(picture, width, view, figure, gap, &extents, &along)
        }
    }

    fn walking(
        picture: &Picture<'_>,
        width: f32,
        mut view: View,
        figure: f32,
        gap: f32,
        extents: &[[Extent; 2]],
        along: &[f32],
    ) -> Self {
        // The longest run of frames from the first that does not make the figure too small.
        let mut all = Extent::NONE;
        let mut last = 0;
        for (i, [after, before]) in extents.iter().enumerate() {
            let mut with = all;
            with.join(after);
            with.join(before);
            if i > 0 && scale_for(&with, figure, width) * figure < MIN_FIGURE {
                break;
            }
            (all, last) = (with, i);
        }
        let scale = scale_for(&all, figure, width);
        let (start, end) = range(&along[..=last]);
        let count = (((end - start) / gap).floor() as usize).clamp(1, 60);
        let mut frames: Vec<usize> = (0..=count)
            .filter_map(|k| {
                let wanted = start + (end - start) * k as f32 / count as f32;
                (0..=last).min_by(|&a, &b| (along[a] - wanted).abs().total_cmp(&(along[b] - wanted).abs()))
            })
            .collect();
        frames.sort_unstable();
        frames.dedup();
        let (lo, hi) = vertical(&all, figure);
        let height = (hi - lo) * scale;
        view.scale = scale;
        view.origin = [(all.lo[0] + all.hi[0]) / 2.0, lo];
        view.page = [width / 2.0, height];
        let note = (last + 1 < along.len()).then(|| {
            let (a, b) =
                (picture.times[last] - picture.times[0], picture.times[along.len() - 1] - picture.times[0]);
            format!("The first {a:.1} s of {b:.1} s are shown.")
        });
        Self {
            stages: vec![Stage { view, frames, span: (0.0, width) }],
            shown: 0..=last,
            note,
            figure,
            size: [width, height],
            start: Some(along[0]),
        }
    }

    fn staying(picture: &Picture<'_>, width: f32, view: View, figure: f32, extents: &[[Extent; 2]]) -> Self {
        let mut all = Extent::NONE;
        extents.iter().flatten().for_each(|e| all.join(e));
        let wide = all.size()[0].max(figure * 0.45) * 1.25;
        let scale = scale_for(&all, figure, width).min(width / wide);
        let room = ((width / (wide * scale)).floor() as usize).clamp(1, 8);
        let last = picture.frames() - 1;
        let count = room.min(last + 1);
        let (lo, hi) = vertical(&all, figure);
        let height = (hi - lo) * scale;
        let cell = width / count as f32;
        let stages = (0..count)
            .map(|k| {
                let frame = if count > 1 { (k * last + (count - 1) / 2) / (count - 1) } else { 0 };
                // Whole pixels, as a clip edge within a pixel leaves a seam in the ground.
                let (left, right) = ((cell * k as f32).round(), (cell * (k + 1) as f32).round());
                let view = View {
                    scale,
                    origin: [(all.lo[0] + all.hi[0]) / 2.0, lo],
                    page: [(left + right) / 2.0, height],
                    ..view
                };
                Stage { view, frames: vec![frame], span: (left, right) }
            })
            .collect();
        Self { stages, shown: 0..=last, note: None, figure, size: [width, height], start: None }
    }

    /// Height in pixels, with the axis.
    pub fn height(&self) -> f32 {
        if self.stages.is_empty() { 0.0 } else { self.size[1] + AXIS }
    }

    /// The frames that are drawn.
    pub fn frames(&self) -> impl Iterator<Item = usize> {
        self.stages.iter().flat_map(|s| s.frames.iter().copied())
    }

    /// Draws the scene with its upper left corner at a point.
    pub fn draw(&self, picture: &Picture<'_>, canvas: &mut Canvas, at: Point) {
        let bottom = at[1] + self.size[1];
        for stage in &self.stages {
            let mut view = stage.view;
            view.page = [view.page[0] + at[0], view.page[1] + at[1]];
            let room =
                Rect { x: at[0] + stage.span.0, y: at[1], w: stage.span.1 - stage.span.0, h: self.size[1] };
            canvas.set_clip(Some(room));
            let surface = self.ground(picture, canvas, &view, stage, &room);
            for &i in &stage.frames {
                if !self.is_hidden(picture, stage, i) {
                    picture.figure.draw(canvas, &picture.before[i], &view, Look::Ghost, self.figure);
                }
            }
            self.casts(picture, canvas, &view, &room);
            for &i in &stage.frames {
                picture.figure.draw(canvas, &picture.after[i], &view, Look::Full, self.figure);
            }
            // Drawn over the figures, to show what stands on the surface and what sinks into it.
            canvas.stroke(surface, style::role(ShapeRole::Ground), 2.2);
            if self.start.is_some() {
                self.ankles(picture, canvas, &view);
            }
            canvas.set_clip(None);
            if self.start.is_none()
                && let Some(&time) = stage.frames.first().and_then(|&i| picture.times.get(i))
            {
                let text = format!("{time:.2} s");
                canvas.text([room.x + room.w / 2.0, bottom + 28.0], Anchor::Middle, &text, style::TICK);
            }
        }
        if let Some(stage) = self.stages.first() {
            let (left, right) = (at[0], at[0] + self.size[0]);
            canvas.line([left, bottom], [right, bottom], style::HAIRLINE, style::HAIR);
            match self.start {
                Some(start) => distance_axis(canvas, stage, start, at[0], bottom, self.size[0]),
                None => pose::scale_bar(canvas, stage.view.scale, self.figure, right, bottom + 48.0),
            }
        }
    }

    /// Whether the figure before planting at a frame is left out. A walk whose strides are fitted to stairs falls behind the
    /// clip: behind another moment's planted figure, a figure before planting looks like a part of it.
    fn is_hidden(&self, picture: &Picture<'_>, stage: &Stage, frame: usize) -> bool {
        let span = |pose| {
            let extent = picture.figure.extent(pose, &stage.view);
            (extent.lo[0], extent.hi[0])
        };
        let (lo, hi) = span(&picture.before[frame]);
        let overlap = |i: usize| {
            let (a, b) = span(&picture.after[i]);
            hi.min(b) - lo.max(a)
        };
        let most = 0.25 * (hi - lo);
        let near = overlap(frame) > 3.0 * most;
        !near && stage.frames.iter().any(|&i| i != frame && overlap(i) > most)
    }

    /// Fills the ground and returns its surface.
    fn ground(
        &self,
        picture: &Picture<'_>,
        canvas: &mut Canvas,
        view: &View,
        stage: &Stage,
        room: &Rect,
    ) -> Path {
        let middle = stage
            .frames
            .iter()
            .filter_map(|&i| picture.figure.middle(&picture.after[i]))
            .fold((Vec3::ZERO, 0.0f32), |(s, n), p| (s + p, n + 1.0));
        let lines = profile::cut(picture.ground, view, middle.0 / middle.1.max(1.0));
        let (mut inside, mut surface) = (Path::default(), Path::default());
        for line in lines {
            let [a, b] = line.map(|p| view.on_page(p));
            if a[0].max(b[0]) < room.x - 4.0 || a[0].min(b[0]) > room.right() + 4.0 {
                continue;
            }
            let floor = room.bottom() + 4.0;
            // A surface below the scene must not turn its polygon inside out.
            let ([a, b], kept) = ([a, b], [a, b].map(|p| [p[0], p[1].min(floor)]));
            inside.add_polygon(&[kept[0], kept[1], [kept[1][0], floor], [kept[0][0], floor]]);
            surface.add_line([a, b]);
        }
        canvas.fill(inside, style::EARTH);
        surface
    }

    fn casts(&self, picture: &Picture<'_>, canvas: &mut Canvas, view: &View, room: &Rect) {
        // Minimum distance of casts on the page, in pixels: too many would hide each other.
        const APART: f32 = 14.0;
        let mut list = DrawList::new();
        let mut casts: Vec<_> = picture
            .casts
            .iter()
            .map(|c| (view.project(c.from)[0], c))
            .filter(|(x, _)| *x >= room.x && *x <= room.right())
            .collect();
        casts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut last = f32::NEG_INFINITY;
        for (x, cast) in casts {
            if x - last >= APART {
                last = x;
                list.ray(cast.from, cast.to, cast.hit, 3.2 / view.scale);
            }
        }
        for shape in list.shapes() {
            let points = list.points(shape).iter().map(|&p| view.project(p));
            let color = style::role(shape.role);
            match shape.kind {
                ShapeKind::Discs { radius } => {
                    points.for_each(|p| canvas.circle(p, radius * view.scale, color));
                }
                _ => canvas.stroke(Path::line(points), color.with_opacity(0.55), 1.3),
            }
        }
    }

    fn ankles(&self, picture: &Picture<'_>, canvas: &mut Canvas, view: &View) {
        for foot in picture.feet {
            let Some(ankle) = foot.ankle else { continue };
            let path = |poses: &[sinew::Pose]| {
                let poses = poses.get(self.shown.clone()).unwrap_or_default();
                Path::line(poses.iter().map(|p| view.project(p.position(ankle))))
            };
            canvas.dashed(path(picture.before), style::BEFORE.with_opacity(0.7), 1.5, Some(5.0));
            let color = style::body(foot.side).with_opacity(0.85);
            canvas.dashed(path(picture.after), color, 2.0, Some(6.0));
        }
    }
}

fn range(values: &[f32]) -> (f32, f32) {
    values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(lo, hi), &v| (lo.min(v), hi.max(v)))
}

/// Pixels per metre at which an extent fits.
fn scale_for(all: &Extent, figure: f32, width: f32) -> f32 {
    let (lo, hi) = vertical(all, figure);
    let across = all.size()[0] + 0.3 * figure;
    (width / across).min(MAX_HEIGHT / (hi - lo)).min(MAX_FIGURE / figure)
}

/// Heights in metres of a scene's lower and upper edge, with room below the feet and above the head.
fn vertical(all: &Extent, figure: f32) -> (f32, f32) {
    (all.lo[1] - 0.14 * figure, all.hi[1] + 0.06 * figure)
}

fn distance_axis(canvas: &mut Canvas, stage: &Stage, start: f32, left: f32, bottom: f32, width: f32) {
    let view = &stage.view;
    let at = |metres: f32| left + view.page[0] + (start + metres - view.origin[0]) * view.scale;
    let from = (0.0 - at(0.0) + left) / view.scale;
    let length = width / view.scale;
    let unit = axis::Unit::of(length * 0.5);
    let ticks = axis::ticks(from * unit.per_metre, (from + length) * unit.per_metre, 12);
    let mut free = f32::NEG_INFINITY;
    for (value, text) in ticks {
        let x = at(value / unit.per_metre);
        let text = if value == 0.0 { format!("{text} {}", unit.name) } else { text };
        let half = canvas.text_width(&text, style::TICK.size) / 2.0;
        canvas.line([x, bottom], [x, bottom + 8.0], style::HAIRLINE, style::HAIR);
        if x - half > free && x - half >= left && x + half <= left + width {
            canvas.text([x, bottom + 30.0], Anchor::Middle, &text, style::TICK);
            free = x + half + 12.0;
        }
    }
}
