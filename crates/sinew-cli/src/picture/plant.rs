//! Layout of the picture of a walk, before and after planting.

use sinew::{body::Side, draw::ShapeRole};

use super::{
    canvas::{Anchor, Canvas},
    heights,
    scene::Scene,
    style::{self, Swatch},
    walk::Picture,
};

impl Picture<'_> {
    /// Draws the picture. Without frames, a note says so.
    pub fn draw(&self) -> Canvas {
        let right = style::WIDTH as f32 - style::MARGIN;
        // The page's height depends on the text's, which is measured first.
        let mut measure = Canvas::new(style::WIDTH, 1, style::PAPER);
        let scene = Scene::plan(self, right - style::MARGIN);
        let entries = self.legend();
        let legend_top = if self.subtitle.is_empty() { 104.0 } else { 140.0 };
        let scene_top = (style::legend(&mut measure, legend_top, right, &entries, false) + 28.0).round();
        let plots_top = scene_top + scene.height() + 24.0;
        let notes_top = plots_top + heights::height(self);
        let notes: Vec<String> = self
            .notes
            .iter()
            .map(String::as_str)
            .chain(scene.note.as_deref())
            .flat_map(|note| style::wrap(&measure, note, style::BODY.size, right - style::MARGIN))
            .collect();
        const LINE: f32 = 31.0;
        let height = notes_top + notes.len() as f32 * LINE + 36.0;

        let mut canvas = Canvas::new(style::WIDTH, height.ceil() as u32, style::PAPER);
        let title = style::fit(&canvas, &self.title, style::TITLE.size, right - style::MARGIN);
        canvas.text([style::MARGIN, 76.0], Anchor::Left, &title, style::TITLE);
        let subtitle = style::fit(&canvas, &self.subtitle, style::BODY.size, right - style::MARGIN);
        canvas.text([style::MARGIN, 114.0], Anchor::Left, &subtitle, style::BODY);
        style::legend(&mut canvas, legend_top, right, &entries, true);
        scene.draw(self, &mut canvas, [style::MARGIN, scene_top]);
        heights::draw(self, &scene, &mut canvas, plots_top);
        for (i, note) in notes.iter().enumerate() {
            let y = notes_top + LINE * (i as f32 + 0.8);
            canvas.text([style::MARGIN, y], Anchor::Left, note, style::BODY);
        }
        canvas
    }

    fn legend(&self) -> Vec<(Swatch, &'static str)> {
        let mut entries = vec![(Swatch::Line(style::BEFORE, 2.5), "before")];
        let has = |side| self.figure.has(side);
        if has(Some(Side::Left)) || has(Some(Side::Right)) {
            entries.push((Swatch::Area(style::body(Some(Side::Left))), "after, left"));
            entries.push((Swatch::Area(style::body(Some(Side::Right))), "after, right"));
        } else {
            entries.push((Swatch::Area(style::body(None)), "after"));
        }
        if !self.ground.triangles.is_empty() {
            entries.push((Swatch::Area(style::EARTH), "ground, cut along the walk"));
        }
        if !self.casts.is_empty() {
            entries.push((Swatch::Cast(style::role(ShapeRole::Ray)), "search for a foothold"));
        }
        if self.feet.iter().any(|f| f.ankle.is_some()) {
            entries.push((Swatch::Dashes(style::MUTED, 2.0), "path of an ankle"));
        }
        entries
    }
}
