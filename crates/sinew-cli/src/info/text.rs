//! Facts about a model as text.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use sinew::{JointId, body::Role, motion::Clip};
use sinew_files::Source;

use crate::{lookup::shown, model};

use super::{Facts, tracks};

/// Depth of the deepest indent, so that a chain of a thousand joints is not a thousand columns wide.
const MAX_INDENT: usize = 24;
/// Maximum width of the column of names with their indents. Longer names shift the columns of their own line only.
const MAX_WIDTH: usize = 56;

pub(super) fn write(facts: &Facts, out: &mut impl Write) -> io::Result<()> {
    let Facts { model, .. } = facts;
    let kind = match &model.source {
        Source::Gltf(_) => "glTF",
        Source::Bvh(_) => "BVH",
    };
    let clips = model.clips.len() + model.problems.len();
    write!(out, "{} ({kind}): {}", shown(&model.name), count(model.skeleton.len(), "joint"))?;
    write!(out, ", {}, {:.3} m high", count(clips, "clip"), facts.height)?;
    writeln!(out)?;
    for hint in &facts.hints {
        writeln!(out, "note: {hint}")?;
    }
    joints(facts, out)?;
    clips_table(facts, out)?;
    body(facts, out)
}

fn count(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

fn name_of(facts: &Facts, joint: JointId) -> String {
    match facts.model.skeleton.name(joint) {
        "" => "(unnamed)".into(),
        name => shown(name),
    }
}

fn joints(facts: &Facts, out: &mut impl Write) -> io::Result<()> {
    let skeleton = &facts.model.skeleton;
    let mut depth = vec![0usize; skeleton.len()];
    let mut roles: HashMap<usize, Vec<Role>> = HashMap::new();
    if let Ok(body) = &facts.body {
        for a in &body.assigned {
            roles.entry(a.joint.index()).or_default().push(a.role);
        }
    }
    let mut width = 0;
    let mut lines = Vec::with_capacity(skeleton.len());
    for joint in skeleton.joints() {
        let d = skeleton.parent(joint).map_or(0, |p| depth[p.index()] + 1);
        depth[joint.index()] = d;
        let mut name = "  ".repeat(d.min(MAX_INDENT)) + &name_of(facts, joint);
        if d > MAX_INDENT {
            name += &format!(" (depth {d})");
        }
        let columns = name.chars().count();
        width = width.max(columns.min(MAX_WIDTH));
        lines.push((joint, name, columns));
    }
    writeln!(out, "\nJoints, with the distance from their parent in metres:")?;
    for (joint, name, columns) in lines {
        let pad = " ".repeat(width.saturating_sub(columns));
        let length = facts.length(joint).map_or_else(|| "-".into(), |l| format!("{l:.3}"));
        let index = format!("#{}", joint.index());
        write!(out, "{index:>6}  {name}{pad}  {length:>8}")?;
        if let Some(roles) = roles.get(&joint.index()) {
            let list: Vec<_> = roles.iter().map(Role::to_string).collect();
            write!(out, "  {}", list.join(", "))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn clips_table(facts: &Facts, out: &mut impl Write) -> io::Result<()> {
    let model = &facts.model;
    if model.clips.is_empty() && model.problems.is_empty() {
        return writeln!(out, "\nNo clips.");
    }
    writeln!(out, "\nClips:")?;
    let name = |c: &Clip| if c.name().is_empty() { "(unnamed)".into() } else { shown(c.name()) };
    let width = model.clips.iter().map(|c| name(c).chars().count().min(MAX_WIDTH)).max().unwrap_or(0);
    for (i, clip) in model.clips.iter().enumerate() {
        let name = name(clip);
        let pad = " ".repeat(width.saturating_sub(name.chars().count()));
        let index = format!("#{i}");
        let (seconds, rate) = (clip.duration(), clip.key_rate());
        let rate = if rate > 0.0 { format!("{rate:.5} keys/s") } else { "no motion".into() };
        let rate = rate.replace(".00000", "");
        writeln!(
            out,
            "{index:>6}  {name}{pad}  {seconds:>8.3} s  {rate}, {} on {}",
            count(tracks(clip), "track"),
            count(clip.tracks().len(), "joint")
        )?;
    }
    for problem in &model.problems {
        writeln!(out, "  not readable: {}", shown(&problem.to_string()))?;
    }
    Ok(())
}

/// Legs of a creature, for `sinew walk`.
fn legs(facts: &Facts, out: &mut impl Write) -> io::Result<()> {
    let Some(legs) = &facts.legs else { return Ok(()) };
    writeln!(
        out,
        "\nLegs, from front to rear ({:.3} m long in the mean; `sinew walk` moves them):",
        legs.length()
    )?;
    for leg in &legs.legs {
        let side = leg.side.map_or("middle".into(), |s| s.to_string());
        let [root, tip] = [leg.root, leg.tip].map(|j| format!("{} ({j})", name_of(facts, j)));
        writeln!(out, "  {side:6}  {root} .. {tip}  {:.3} m  {}", leg.length, leg.why)?;
    }
    for doubt in &legs.doubts {
        writeln!(out, "  open: {}", shown(doubt))?;
    }
    Ok(())
}

fn body(facts: &Facts, out: &mut impl Write) -> io::Result<()> {
    let body = match &facts.body {
        Ok(body) => body,
        Err(error) => {
            writeln!(out, "\nNo two-legged body: {}", shown(&error.to_string()))?;
            writeln!(out, "({})", model::feet_by_hand(&facts.model, &facts.bind))?;
            return legs(facts, out);
        }
    };
    writeln!(out, "\nBody:")?;
    let rows: Vec<[String; 2]> = body
        .assigned
        .iter()
        .map(|a| [a.role.to_string(), format!("{} ({})", name_of(facts, a.joint), a.joint)])
        .collect();
    let width = |k: usize| rows.iter().map(|r| r[k].chars().count().min(MAX_WIDTH)).max().unwrap_or(0);
    let (roles, joints) = (width(0), width(1));
    for ([role, joint], a) in rows.iter().zip(&body.assigned) {
        let pad = " ".repeat(joints.saturating_sub(joint.chars().count()));
        writeln!(out, "  {role:roles$}  {joint}{pad}  {}", shown(&a.why.to_string()))?;
    }
    for doubt in &body.doubts {
        writeln!(out, "  open: {}", shown(&doubt.to_string()))?;
    }
    Ok(())
}
