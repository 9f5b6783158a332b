//! Film strips of a planted clip as SVG: figures at even times, each in a cell that goes along with its hips, seen from the
//! figure's right side and below that from the front.

use std::fmt::Write;

use crate::{
    anatomy::{Body, Leg},
    ground::Ground,
    maths::{V3, v3},
    motion::Motion,
    natural::{ankle_end, own_dorsiflexion},
};

/// Width and height of a cell in pixels.
const SIZE: (f64, f64) = (170.0, 250.0);
/// Radius of a head in pixels.
const HEAD: f64 = 11.0;
/// Cells in a row.
const CELLS: usize = 12;
/// Figures of a strip, as long as that leaves them 0.1 to 0.2 s apart.
const FIGURES: usize = 36;
/// Left and right.
const COLOURS: [&str; 2] = ["#0b62c4", "#d2600a"];
const GROUND: &str = "#cfc8bb";

/// A cell that is being drawn: the direction to the picture's right, and the world's place in its middle.
struct Cell {
    right: V3,
    middle: V3,
    /// The picture's place of that.
    at: (f64, f64),
    frame: Frame,
}

/// What a cell shows, in metres.
#[derive(Clone, Copy)]
struct Frame {
    /// From the hips up to the top of the head.
    above: f64,
    /// From the hips down to below the lowest sole.
    below: f64,
    /// Pixels a metre.
    pixels: f64,
}

impl Frame {
    /// For the whole figure at every time.
    fn of(m: &Motion) -> Self {
        let bodies = &m.planted[m.first..];
        let most = |of: &dyn Fn(&Body) -> f64| bodies.iter().map(of).fold(0.0, f64::max);
        let lowest =
            |b: &Body| b.legs.iter().map(|l| l.heel.y.min(l.ball.y).min(l.tip.y)).fold(f64::MAX, f64::min);
        let below = 1.15 * most(&|b| b.hips.y - lowest(b));
        let above = most(&|b| b.neck.y - b.hips.y);
        // Room for the head and a margin.
        let pixels = (SIZE.1 - 3.5 * HEAD) / (above + below);
        Self { above: above + 3.0 * HEAD / pixels, below, pixels }
    }

    /// Half the width of a cell.
    fn half(&self) -> f64 {
        0.5 * SIZE.0 / self.pixels
    }
}

impl Cell {
    /// A point of the picture.
    fn point(&self, p: V3) -> (f64, f64) {
        let out = p - self.middle;
        let metres = |v: f64| v * self.frame.pixels;
        (self.at.0 + metres(out.dot(self.right)), self.at.1 - metres(out.y))
    }

    fn points(&self, points: &[V3]) -> String {
        points
            .iter()
            .map(|p| {
                let (x, y) = self.point(*p);
                format!("{x:.1},{y:.1} ")
            })
            .collect()
    }

    fn line(&self, points: &[V3], colour: &str, width: f64) -> String {
        let points = self.points(points);
        format!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>\n"
        )
    }

    fn shape(&self, points: &[V3], colour: &str) -> String {
        format!("<polygon points=\"{}\" fill=\"{colour}\"/>\n", self.points(points))
    }
}

/// The strip of a clip.
pub fn svg(m: &Motion, ground: &Ground, title: &str) -> String {
    let apart = (m.times.len() - m.first).div_ceil(FIGURES).clamp(12, 24);
    let samples: Vec<usize> = (m.first..m.times.len()).step_by(apart).collect();
    let frame = Frame::of(m);
    let (wide, tall) = SIZE;
    let band = 2.0 * tall + 34.0;
    let rows = samples.len().div_ceil(CELLS);
    let (width, height) = (CELLS as f64 * wide + 20.0, rows as f64 * band + 40.0);
    let mut s = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\" \
         font-size=\"13\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"10\" y=\"24\" font-size=\"17\">{title}</text>\n\
         <text x=\"330\" y=\"24\">seen from its right side, and below from the front; \
         <tspan fill=\"{}\">left leg</tspan>, <tspan fill=\"{}\">right leg</tspan>; \
         dots: planted heel and ball; red ring: ankle bent further than its range</text>\n",
        COLOURS[0], COLOURS[1]
    );
    let end = (ankle_end(own_dorsiflexion(m)) + 1.0).to_radians();
    for (k, &i) in samples.iter().enumerate() {
        let left = 10.0 + (k % CELLS) as f64 * wide;
        let top = 40.0 + (k / CELLS) as f64 * band;
        let _ = writeln!(
            s,
            "<text x=\"{:.0}\" y=\"{:.0}\" fill=\"#555\">{:.2} s</text>",
            left + 4.0,
            top + 14.0,
            m.times[i]
        );
        let body = &m.planted[i];
        let forward = m.clip[i].forward();
        let up = v3(0.0, 1.0, 0.0);
        // From its right side it looks to the picture's right; from the front its left is there.
        for (view, right) in [forward, up.cross(forward)].into_iter().enumerate() {
            let y = top + 18.0 + view as f64 * tall;
            let at = (left + 0.5 * wide, y + frame.above * frame.pixels);
            let cell = Cell { right, middle: body.hips, at, frame };
            let clip = format!("c{k}-{view}");
            let _ = writeln!(
                s,
                "<clipPath id=\"{clip}\"><rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"/></clipPath>\
                 <g clip-path=\"url(#{clip})\">",
                wide - 4.0,
                tall - 4.0
            );
            s += "<rect width=\"100%\" height=\"100%\" fill=\"#f6f6f4\"/>\n";
            s += &if view == 0 {
                ground_aside(&cell, ground, body)
            } else {
                ground_ahead(&cell, m, ground, body, forward)
            };
            s += &figure(&cell, m, i, view, end);
            s += "</g>\n";
        }
    }
    s + "</svg>\n"
}

/// The ground cut open along the way under each foot.
fn ground_aside(cell: &Cell, ground: &Ground, body: &Body) -> String {
    const POINTS: i32 = 200;
    let Frame { below: deep, .. } = cell.frame;
    let half = cell.frame.half();
    let mut text = String::new();
    for leg in &body.legs {
        let across = (leg.ball - body.hips).flat();
        let across = across - cell.right * across.dot(cell.right);
        let mut outline = Vec::new();
        for i in -POINTS..=POINTS {
            let p = body.hips + across + cell.right * (half * f64::from(i) / f64::from(POINTS));
            // Under the foot's own height: what is above it is no ground of its.
            if let Some(y) = ground.height(p, 0.0) {
                outline.push(V3 { y, ..p });
            }
        }
        if let [first, .., last] = outline[..] {
            let below = |p: V3| V3 { y: body.hips.y - deep, ..p };
            outline.extend([below(last), below(first)]);
            text += &format!("<g opacity=\"0.6\">{}</g>\n", cell.shape(&outline, GROUND));
        }
    }
    text
}

/// The ground under each foot, to the middle between the feet.
fn ground_ahead(cell: &Cell, m: &Motion, ground: &Ground, body: &Body, forward: V3) -> String {
    let mut text = String::new();
    let mut legs: Vec<&Leg> = body.legs.iter().collect();
    legs.sort_by(|a, b| a.ball.dot(forward).total_cmp(&b.ball.dot(forward)));
    // Each foot's ground ends in the middle between the feet.
    let half =
        (0.5 * (body.legs[0].ball - body.legs[1].ball).dot(cell.right).abs()).max(0.02 * cell.frame.below);
    for leg in legs {
        let Some(y) = ground.height(leg.ball, m.reach) else { continue };
        let at = |side: f64, y: f64| V3 { y, ..leg.ball + cell.right * (side * half) };
        let low = body.hips.y - cell.frame.below;
        text += &cell.shape(&[at(-1.0, y), at(1.0, y), at(1.0, low), at(-1.0, low)], GROUND);
        text += &cell.line(&[at(-1.0, y), at(1.0, y)], "#8d8577", 1.0);
    }
    text
}

/// A figure; the legs that lie further from who looks are drawn first.
fn figure(cell: &Cell, m: &Motion, i: usize, view: usize, end: f64) -> String {
    let body = &m.planted[i];
    let mut text = String::new();
    let trunk = body.neck - body.hips;
    let head = body.neck + trunk.unit().unwrap_or_default() * (1.3 * HEAD / cell.frame.pixels);
    let spine = |text: &mut String| {
        *text += &cell.line(&[body.legs[0].hip, body.legs[1].hip], "#444", 5.0);
        *text += &cell.line(&[body.hips, body.neck], "#444", 7.0);
        let (x, y) = cell.point(head);
        *text += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{HEAD}\" fill=\"#444\"/>\n");
    };
    for foot in [0, 1] {
        let leg = &body.legs[foot];
        if foot == 1 && view == 0 {
            spine(&mut text);
        }
        let colour = COLOURS[foot];
        text += &cell.line(&[leg.hip, leg.knee, leg.ankle], colour, 5.0);
        text += &cell.shape(&[leg.ankle, leg.heel, leg.ball], colour);
        text += &cell.line(&[leg.heel, leg.ball, leg.tip], colour, 3.0);
        for (point, place) in [leg.heel, leg.ball].into_iter().enumerate() {
            if m.claimed[foot][point][i] {
                let (x, y) = cell.point(place);
                text += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"black\"/>\n");
            }
        }
        if leg.dorsiflexion > end {
            let (x, y) = cell.point(leg.ankle);
            text += &format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\" fill=\"none\" stroke=\"red\" stroke-width=\"2\"/>\n"
            );
        }
    }
    if view == 1 {
        spine(&mut text);
    }
    text
}
