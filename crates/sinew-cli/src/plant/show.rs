//! Picture of a planted walk, before and after.

use glam::Vec3;
use sinew::{
    Pose,
    body::{BodyRoles, Side},
    ground::plant::{FootSample, Planting, walk_heading},
};
use sinew_files::Model;

use super::{
    level::Level,
    work::{Done, Task, search},
};
use crate::picture::{
    canvas::Canvas,
    figure::Figure,
    walk::{Cast, FootSeries, Picture},
};

/// Draws the picture.
pub fn picture(
    task: &Task<'_>,
    done: &Done,
    level: &Level,
    model: &Model,
    body: &BodyRoles,
    bind: &Pose,
) -> Canvas {
    let Planting { planted, plan, report, before: given, .. } = &done.planting;
    let figure = task.figure;
    let claims = report.planted(figure.legs().len());
    let search = search(task, &done.ground);
    let base = |key: usize| plan.base[key * plan.per_key];
    let bases: Vec<f32> = (0..plan.keys()).map(base).collect();
    let mut pose = task.rest.clone();
    let mut frames = Vec::new();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for key in 0..plan.keys() {
        pose.copy_from(task.rest);
        plan.before(figure, task.clip, key, &mut pose);
        // Raised onto the ground where the walk begins, as in the measurements.
        for root in model.skeleton.joints().filter(|&j| model.skeleton.parent(j).is_none()) {
            let at = pose.position(root) + Vec3::Y * given.raise;
            pose.set_position(root, at);
        }
        pose.update();
        before.push(pose.clone());
        pose.copy_from(task.rest);
        // Every key was solved when the clip was baked, so that this does not fail.
        if plan.after(figure, task.clip, key, &mut pose, &mut frames).is_ok() {
            after.push(pose.clone());
        }
    }
    let height = |s: &FootSample, base: f32| {
        let over = |p: Vec3| search.height(p, base).map_or(f32::NAN, |(y, _)| p.y - y);
        over(s.heel_at()).min(over(s.ball_at()))
    };
    let mut casts = Vec::new();
    let mut feet = Vec::new();
    for (i, leg) in figure.legs().iter().enumerate() {
        let heights = |samples: &[FootSample], base: &[f32]| {
            samples.iter().zip(base).map(|(s, base)| height(s, *base)).collect()
        };
        let contacts = &claims[i];
        feet.push(FootSeries {
            name: format!("{} foot", Side::BOTH[i]),
            side: Some(if i == Side::Left.index() { Side::Left } else { Side::Right }),
            ankle: Some(leg.foot),
            height_before: heights(&given.feet[i], &given.base),
            height_after: heights(&planted.feet[i], &bases),
            contacts: contacts.heel.iter().chain(&contacts.ball).map(|c| (c.from, c.to)).collect(),
        });
        for stance in &plan.stances[i] {
            let key = (stance.stance.time.from / (plan.analysis.step * plan.per_key as f32)) as usize;
            let Some(sample) = planted.feet[i].get(key) else { continue };
            let above = search.settings.cast_above * search.leg;
            match &stance.foothold {
                Ok(f) => casts.extend([f.heel, f.ball].map(|to| Cast {
                    from: to.with_y(base(key) + above),
                    to,
                    hit: true,
                })),
                Err(_) => casts.push(Cast {
                    from: sample.ankle.with_y(base(key) + above),
                    to: sample.ankle.with_y(base(key) - search.settings.cast_below * search.leg),
                    hit: false,
                }),
            }
        }
    }
    let analysis = &plan.analysis;
    let net = match (analysis.pelvis.first(), analysis.pelvis.last()) {
        (Some(a), Some(b)) => *b - *a,
        _ => Vec3::ZERO,
    };
    let stays = net.with_y(0.0).length() < figure.leg_length();
    let mut notes = vec![format!(
        "In contact, the deepest point is {:.1} mm below the ground (before: {:.0} mm), the largest gap is {:.1} mm \
         ({:.0} mm), and the mean slide is {:.1} mm/s ({:.0} mm/s); {:.0} % of the contact time is planted.",
        report.after.deepest * 1e3,
        report.before.deepest * 1e3,
        report.after.max_gap * 1e3,
        report.before.max_gap * 1e3,
        report.after.mean_slide * 1e3,
        report.before.mean_slide * 1e3,
        report.planted_share() * 100.0
    )];
    notes.extend(analysis.notes.iter().map(|note| sentence(note)));
    let figure = Figure::of_model(model, bind, Some(body));
    Picture {
        title: if task.clip.name().is_empty() {
            model.name.clone()
        } else {
            format!("{}: {}", model.name, task.clip.name())
        },
        subtitle: format!("planted on {}", level),
        notes,
        figure: &figure,
        before: &before,
        after: &after,
        times: &planted.times,
        ground: done.ground.mesh(),
        travel: if stays { Vec3::ZERO } else { walk_heading(analysis) },
        feet: &feet,
        casts: &casts,
    }
    .draw()
}

/// A note of the report as a sentence of its own.
fn sentence(note: &str) -> String {
    let mut letters = note.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    let mut sentence: String = first.chain(letters).collect();
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}
