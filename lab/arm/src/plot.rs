//! Plot of success against time, one panel per chain.

use crate::picture::{
    canvas::{Anchor, Canvas, Color, TextStyle},
    path::{Path, Rect},
};

/// Sorted microseconds of solved tasks; infinite ones at the end were not solved.
pub struct Curves {
    pub name: &'static str,
    pub ours: Vec<f64>,
    pub peer: Option<Vec<f64>>,
}

const INK: Color = Color::rgb([0x22, 0x27, 0x2e]);
const MUTED: Color = Color::rgb([0x57, 0x60, 0x6a]);
const GRID: Color = Color::rgb([0xe6, 0xe9, 0xed]);
const OURS: Color = Color::rgb([0x1f, 0x6f, 0xb2]);
const PEER: Color = Color::rgb([0xd0, 0x6a, 0x1c]);
const TEXT: TextStyle = TextStyle { size: 20.0, color: MUTED, weight: 0.02 };
const NAME: TextStyle = TextStyle { size: 23.0, color: INK, weight: 0.04 };
const TITLE: TextStyle = TextStyle { size: 36.0, color: INK, weight: 0.045 };
/// Microseconds at the left and right edge, on a logarithmic axis.
const SPAN: (f64, f64) = (1.0, 1e5);
const COLUMNS: usize = 3;
const PANEL: (f32, f32) = (500.0, 330.0);

pub fn draw(curves: &[Curves], count: usize) -> Canvas {
    let rows = curves.len().div_ceil(COLUMNS).max(1);
    let height = 170.0 + rows as f32 * PANEL.1 + 10.0;
    let mut c = Canvas::new(1600, height as u32, Color::rgb([255; 3]));
    c.text([50.0, 64.0], Anchor::Left, "Share of poses solved, against time", TITLE);
    let what = format!(
        "{count} random poses of each chain to 1e-5 m and 1e-5 rad, starts anywhere within limits, one thread"
    );
    c.text([50.0, 102.0], Anchor::Left, &what, TEXT);
    let mut x = 50.0;
    for (name, color) in [("sinew", OURS), ("k, restarted", PEER)] {
        c.line([x, 132.0], [x + 36.0, 132.0], color, 4.0);
        c.text([x + 46.0, 139.0], Anchor::Left, name, TEXT);
        x += 90.0 + c.text_width(name, TEXT.size);
    }
    for (i, curve) in curves.iter().enumerate() {
        let (column, row) = ((i % COLUMNS) as f32, (i / COLUMNS) as f32);
        let room = Rect {
            x: 100.0 + column * (PANEL.0 + 8.0),
            y: 200.0 + row * PANEL.1,
            w: PANEL.0 - 80.0,
            h: PANEL.1 - 110.0,
        };
        panel(&mut c, &room, curve, i.is_multiple_of(COLUMNS));
    }
    c
}

fn panel(c: &mut Canvas, room: &Rect, curve: &Curves, named: bool) {
    let across = |micros: f64| {
        let share = (micros / SPAN.0).log10() / (SPAN.1 / SPAN.0).log10();
        room.x + room.w * share.clamp(0.0, 1.0) as f32
    };
    let up = |share: f64| room.bottom() - room.h * share as f32;
    c.text([room.x, room.y - 14.0], Anchor::Left, curve.name, NAME);
    for (micros, text) in
        [(1.0, "1 \u{b5}s"), (10.0, "10"), (100.0, "100"), (1e3, "1 ms"), (1e4, "10"), (1e5, "100")]
    {
        let x = across(micros);
        c.line([x, room.y], [x, room.bottom()], GRID, 1.5);
        c.text([x, room.bottom() + 26.0], Anchor::Middle, text, TEXT);
    }
    for (share, text) in [(0.0, "0"), (0.5, "50 %"), (1.0, "100 %")] {
        let y = up(share);
        c.line([room.x, y], [room.right(), y], GRID, 1.5);
        if named {
            c.text([room.x - 10.0, y + 7.0], Anchor::Right, text, TEXT);
        }
    }
    let lines = [curve.peer.as_ref().map(|p| (p, PEER)), Some((&curve.ours, OURS))];
    for (micros, color) in lines.into_iter().flatten() {
        let solved = micros.iter().take_while(|m| m.is_finite()).count();
        let share = |k: usize| k as f64 / micros.len() as f64;
        let mut points = vec![[room.x, up(0.0)]];
        for (k, m) in micros[..solved].iter().enumerate() {
            points.push([across(*m), up(share(k))]);
            points.push([across(*m), up(share(k + 1))]);
        }
        points.push([room.right(), up(share(solved))]);
        c.stroke(Path::line(points), color, 3.0);
    }
}
