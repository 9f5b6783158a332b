//! Page that shows the map of a workspace.

use glam::DVec3;
use sinew::mechanism::{LinkId, Mechanism};

use super::map::{Map, VIEWS, chain};
use crate::{
    lookup::shown,
    picture::{
        axis::ticks,
        canvas::{Anchor, Canvas, Color},
        path::{Path, Point, Rect},
        style,
    },
};

/// Number of shades; more cannot be told apart.
const SHADES: usize = 24;
/// Width of the page, in pixels.
const WIDTH: f32 = 1600.0;
/// Gap between the views, in pixels.
const GAP: f32 = 90.0;
/// Colours from the lowest to the highest manipulability. Their lightness falls evenly, so that they can be read without
/// colour too.
const SCALE: [[u8; 3]; 6] = [
    [0xf3, 0xe9, 0xc6],
    [0xbf, 0xdc, 0xb0],
    [0x74, 0xc0, 0xae],
    [0x3c, 0x98, 0xa9],
    [0x2b, 0x66, 0x92],
    [0x26, 0x33, 0x63],
];

fn shade(share: f32) -> Color {
    let at = share.clamp(0.0, 1.0) * (SCALE.len() - 1) as f32;
    let i = (at as usize).min(SCALE.len() - 2);
    let t = at - i as f32;
    Color::rgb(std::array::from_fn(|k| {
        (f32::from(SCALE[i][k]) * (1.0 - t) + f32::from(SCALE[i + 1][k]) * t).round() as u8
    }))
}

/// Draws the page.
pub fn draw(mechanism: &Mechanism, root: LinkId, tip: LinkId, map: &Map) -> Canvas {
    // Both views have one scale, at which they fill the page side by side.
    let wide: f64 = VIEWS.iter().map(|(u, ..)| map.high[*u] - map.low[*u]).sum();
    let tall = VIEWS.iter().map(|(_, v, _)| map.high[*v] - map.low[*v]).fold(0.0, f64::max);
    let room = f64::from(WIDTH - 2.0 * style::MARGIN - GAP - 50.0);
    let scale = (room / wide).min(900.0 / tall) as f32;
    let top = 236.0;
    let height = top + tall as f32 * scale + 190.0;
    let mut c = Canvas::new(WIDTH as u32, height as u32, style::PAPER);
    let name = |l| shown(mechanism.link_name(l));
    let title = format!("{}: workspace of {}", shown(mechanism.name()), name(tip));
    let title = style::fit(&c, &title, style::TITLE.size, WIDTH - 2.0 * style::MARGIN);
    c.text([style::MARGIN, 74.0], Anchor::Left, &title, style::TITLE);
    let dofs = mechanism.dofs_between(root, tip).len();
    let what = format!(
        "{dofs} joint{}, {} poses within limits; reach {:.3} m from the first joint; axes of {}",
        if dofs == 1 { "" } else { "s" },
        thousands(map.samples),
        map.reach,
        name(root),
    );
    let what = style::fit(&c, &what, style::BODY.size, WIDTH - 2.0 * style::MARGIN);
    c.text([style::MARGIN, 114.0], Anchor::Left, &what, style::BODY);

    let mut x = style::MARGIN + 50.0;
    for (view, (u, v, _)) in VIEWS.iter().enumerate() {
        let w = (map.high[*u] - map.low[*u]) as f32 * scale;
        let h = (map.high[*v] - map.low[*v]) as f32 * scale;
        let frame = Rect { x, y: top, w, h };
        panel(&mut c, mechanism, (root, tip), map, view, &frame, scale);
        x = frame.right() + GAP;
    }
    legend(&mut c, height - 84.0, map.directions);
    c
}

fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

fn panel(
    c: &mut Canvas,
    mechanism: &Mechanism,
    (root, tip): (LinkId, LinkId),
    map: &Map,
    view: usize,
    frame: &Rect,
    scale: f32,
) {
    let (u, v, _) = VIEWS[view];
    let letter = |axis: usize| ["x", "y", "z"][axis];
    let seen = ["From the side", "From above"][view];
    c.text([frame.x, frame.y - 24.0], Anchor::Left, seen, style::HEADING);
    let page = |p: DVec3| -> Point {
        [frame.x + (p[u] - map.low[u]) as f32 * scale, frame.bottom() - (p[v] - map.low[v]) as f32 * scale]
    };
    // Axes in metres, below and at the left.
    for (value, text) in ticks(map.low[u] as f32, map.high[u] as f32, (frame.w / 90.0) as usize) {
        let x = frame.x + (value - map.low[u] as f32) * scale;
        c.line([x, frame.y], [x, frame.bottom()], style::GRID, style::HAIR);
        c.text([x, frame.bottom() + 30.0], Anchor::Middle, &text, style::TICK);
    }
    for (value, text) in ticks(map.low[v] as f32, map.high[v] as f32, (frame.h / 70.0) as usize) {
        let y = frame.bottom() - (value - map.low[v] as f32) * scale;
        c.line([frame.x, y], [frame.right(), y], style::GRID, style::HAIR);
        c.text([frame.x - 10.0, y + 7.0], Anchor::Right, &text, style::TICK);
    }
    let below = [frame.right(), frame.bottom() + 60.0];
    c.text(below, Anchor::Right, &format!("{} (m)", letter(u)), style::TICK);
    c.text([frame.x - 10.0, frame.y - 24.0], Anchor::Right, letter(v), style::TICK);

    // Cells of one shade form one path, of runs along the rows.
    let grid = &map.views[view];
    let side = (map.cell as f32) * scale;
    let mut areas = vec![Path::default(); SHADES];
    for row in 0..grid.rows {
        let cells = &grid.best[row * grid.columns..][..grid.columns];
        let level = |k: usize| {
            let b = cells[k];
            (!b.is_nan()).then(|| ((b * SHADES as f32) as usize).min(SHADES - 1))
        };
        let mut k = 0;
        while k < cells.len() {
            let Some(shade) = level(k) else {
                k += 1;
                continue;
            };
            let end = (k..cells.len()).find(|&j| level(j) != Some(shade)).unwrap_or(cells.len());
            let y = frame.bottom() - (row + 1) as f32 * side;
            // Slightly larger, so that no seam shows between neighbours.
            let run = Rect {
                x: frame.x + k as f32 * side,
                y: y - 0.3,
                w: (end - k) as f32 * side + 0.3,
                h: side + 0.6,
            };
            areas[shade].0.extend(run.path().0);
            k = end;
        }
    }
    c.set_clip(Some(*frame));
    for (level, area) in areas.into_iter().enumerate() {
        c.fill(area, shade((level as f32 + 0.5) / SHADES as f32));
    }
    arm(c, mechanism, root, tip, &page);
    c.set_clip(None);
}

/// Draws the chain at rest over the map.
fn arm(c: &mut Canvas, mechanism: &Mechanism, root: LinkId, tip: LinkId, page: &dyn Fn(DVec3) -> Point) {
    let mut points: Vec<Point> = chain(mechanism, root, tip).into_iter().map(page).collect();
    points.dedup();
    c.stroke(Path::line(points.iter().copied()), style::PAPER, 9.0);
    c.stroke(Path::line(points.iter().copied()), style::INK, 5.0);
    for (i, p) in points.iter().enumerate() {
        c.circle(*p, if i == 0 { 9.0 } else { 7.0 }, style::PAPER);
        c.circle(
            *p,
            if i == 0 { 6.5 } else { 4.5 },
            if i == 0 { Color::rgb([0xd0, 0x4a, 0x1c]) } else { style::INK },
        );
    }
}

fn legend(c: &mut Canvas, y: f32, directions: usize) {
    let bar = Rect { x: style::MARGIN, y, w: 360.0, h: 22.0 };
    let step = bar.w / SHADES as f32;
    for k in 0..SHADES {
        let part = Rect { x: bar.x + k as f32 * step, w: step + 0.5, ..bar };
        c.fill(part.path(), shade((k as f32 + 0.5) / SHADES as f32));
    }
    c.text([bar.x, bar.bottom() + 28.0], Anchor::Left, "singular", style::TICK);
    c.text([bar.right(), bar.bottom() + 28.0], Anchor::Right, "best", style::TICK);
    let space = ["along a line", "in a plane", "in space"][directions.clamp(1, 3) - 1];
    let text = format!(
        "Manipulability of the tip {space}: how freely the joints move it, as a share of the arm's best;"
    );
    c.text([bar.right() + 34.0, bar.y + 10.0], Anchor::Left, &text, style::BODY);
    let more = "the best of all poses at each point. The arm is drawn at rest, its tip as an orange dot.";
    c.text([bar.right() + 34.0, bar.y + 40.0], Anchor::Left, more, style::BODY);
}
