//! Picture of a walk: poses from the side along the way, and footprints from above.

use glam::Vec3;
use sinew::{
    body::Side,
    ground::{Filter, Ground, MeshGround, walk::Creature},
};
use sinew_files::Model;

use super::Walked;
use crate::picture::{
    canvas::{Anchor, Canvas, Color},
    figure::{Extent, Figure, Look},
    path::Path,
    style::{self, Swatch},
    view::View,
};

/// Colours of legs from front to rear, of the left and of the right side: blues and oranges, lighter to the rear.
fn color(side: Option<Side>, order: usize, count: usize) -> Color {
    let share = 1.0 - 0.62 * order as f32 / (count.max(2) - 1) as f32;
    style::tint(style::body(side), share.clamp(0.3, 1.0))
}

/// Number of body lengths that the side view shows at most.
const LENGTHS: f32 = 7.0;
/// Distance of the poses, in body lengths.
const APART: f32 = 1.08;

/// Draws the picture.
pub fn picture(model: &Model, creature: &Creature, walked: &Walked, ground: &MeshGround) -> Canvas {
    let bind = model.bind_pose();
    // Ends of legs may move no vertex.
    let ends: Vec<_> = creature.legs().iter().flat_map(|leg| model.skeleton.below(leg.foot)).collect();
    let side =
        |j| creature.legs().iter().find(|leg| model.skeleton.is_below(j, leg.root)).and_then(|leg| leg.side);
    let figure = Figure::new(&bind, &model.skin, &ends, side);
    let places: Vec<Vec3> = walked.reports.iter().map(|r| r.placement.to_world(creature.pivot())).collect();
    let mut along = vec![0.0f32];
    for w in places.windows(2) {
        along.push(along[along.len() - 1] + (w[1] - w[0]).with_y(0.0).length());
    }
    let total = along.last().copied().unwrap_or_default();
    let front = |n: usize| walked.reports[n].placement.direction_to_world(creature.front());
    // The body's extent from the side, about the pivot.
    let side = View::side(creature.front());
    let mut extent = figure.extent(&bind, &side);
    let pivot = side.plane(creature.pivot());
    extent.add(side.plane(creature.pivot()));
    let [long, high] = extent.size();
    let shown = total.min(LENGTHS * long).max(1e-3);
    let width = style::WIDTH as f32 - 2.0 * style::MARGIN;
    let scale = (width / (shown + long)).min(520.0 / (2.5 * high).max(1e-6));
    let (back, ahead) = (pivot[0] - extent.lo[0], extent.hi[0] - pivot[0]);

    let under = |at: Vec3| {
        let from = at + Vec3::Y * (4.0 * creature.length());
        let hit = ground.cast_ray(from, Vec3::NEG_Y, 40.0 * creature.length(), &Filter::ALL);
        hit.map(|hit| from.y - hit.distance)
    };
    // The first part of the walk that is shown, with the ground under the trunk's way.
    let last = along.iter().position(|s| *s > shown).unwrap_or(along.len() - 1);
    let mut profile: Vec<[f32; 2]> = Vec::new();
    let before = places[0] - front(0) * back;
    profile.extend((0..20).filter_map(|n| {
        let s = n as f32 / 20.0;
        Some([-back * (1.0 - s), under(before.lerp(places[0], s))?])
    }));
    profile.extend((0..=last).step_by(2).filter_map(|n| Some([along[n], under(places[n])?])));
    profile.extend((1..=20).filter_map(|n| {
        let s = ahead * n as f32 / 20.0;
        Some([along[last] + s, under(places[last] + front(last) * s)?])
    }));
    let (mut low, mut top) = (f32::INFINITY, f32::NEG_INFINITY);
    for p in &profile {
        (low, top) = (low.min(p[1]), top.max(p[1]));
    }
    let scale = scale.min(560.0 / (top - low + 1.15 * high).max(1e-6));
    let head = 150.0;
    let base = head + 20.0 + (top - low + 1.1 * high) * scale;
    let x = |s: f32| style::MARGIN + (s + back) * scale;
    let y = |h: f32| base - (h - low) * scale;

    // Footprints.
    let mut prints: Vec<(usize, Vec3)> = Vec::new();
    for n in 0..creature.legs().len() {
        let mut stood = false;
        for feet in &walked.feet {
            let foot = &feet[n];
            if foot.stands && !stood {
                prints.push((n, foot.point));
            }
            stood = foot.stands;
        }
    }
    let way = places.last().copied().unwrap_or_default() - places[0];
    let travel = if way.with_y(0.0).length() > creature.length() { way } else { front(0) };
    let mut above = View::above(travel);
    // The way goes to the right of the page.
    (above.right, above.up) = (above.up, -above.right);
    let mut plan = Extent::NONE;
    prints.iter().for_each(|(_, p)| plan.add(above.plane(*p)));
    places.iter().for_each(|p| plan.add(above.plane(*p)));
    let [wide, deep] = plan.size();
    let plan_scale = (width / wide.max(1e-6)).min(620.0 / deep.max(1e-6)).min(1.6 * scale);
    let plan_top = base + 110.0;
    let height = plan_top + deep * plan_scale + 70.0;

    let mut canvas = Canvas::new(style::WIDTH, height.ceil() as u32, style::PAPER);
    let right = style::WIDTH as f32 - style::MARGIN;
    let title = format!("{}: a walk on {} legs", model.name, creature.legs().len());
    canvas.text([style::MARGIN, 76.0], Anchor::Left, &style::fit(&canvas, &title, 36.0, width), style::TITLE);
    let entries = [
        (Swatch::Area(style::body(Some(Side::Left))), "left"),
        (Swatch::Area(style::body(Some(Side::Right))), "right"),
        (Swatch::Area(style::EARTH), "ground under the trunk"),
        (Swatch::Dashes(style::MUTED, 2.0), "path of the trunk"),
    ];
    style::legend(&mut canvas, 92.0, right, &entries, true);
    if profile.len() > 1 {
        let line: Vec<[f32; 2]> = profile.iter().map(|p| [x(p[0]), y(p[1])]).collect();
        let mut area = line.clone();
        area.extend([[line[line.len() - 1][0], base + 26.0], [line[0][0], base + 26.0]]);
        let mut earth = Path::default();
        earth.add_polygon(&area);
        canvas.fill(earth, style::EARTH);
        canvas.stroke(Path::line(line), style::HAIRLINE, 2.0);
    }
    let trunk: Vec<[f32; 2]> = (0..=last).step_by(2).map(|n| [x(along[n]), y(places[n].y)]).collect();
    canvas.dashed(Path::line(trunk), style::MUTED, 2.0, Some(6.0));
    let mut next = 0.0;
    for n in 0..=last {
        if along[n] + 1e-6 < next {
            continue;
        }
        next = along[n] + APART * long;
        let mut view = View::side(front(n));
        view.origin = [view.plane(places[n])[0], low];
        (view.page, view.scale) = ([x(along[n]), base], scale);
        figure.draw(&mut canvas, &walked.poses[n], &view, Look::Full, high);
    }
    canvas.text([style::MARGIN, plan_top - 38.0], Anchor::Left, "Footprints from above", style::HEADING);
    (above.origin, above.page, above.scale) =
        ([plan.lo[0], plan.hi[1]], [style::MARGIN, plan_top], plan_scale);
    let path: Vec<_> = places.iter().step_by(4).map(|p| above.project(*p)).collect();
    canvas.dashed(Path::line(path), style::MUTED, 2.0, Some(6.0));
    let radius = (0.03 * creature.length() * plan_scale).clamp(2.5, 9.0);
    for (leg, point) in prints {
        let found = &creature.legs()[leg];
        let of_side = || creature.legs().iter().filter(|l| l.side == found.side);
        let order = creature.legs()[..leg].iter().filter(|l| l.side == found.side).count();
        canvas.circle(above.project(point), radius, color(found.side, order, of_side().count()));
    }
    canvas
}
