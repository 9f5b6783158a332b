//! Facts about an arm, as text and as JSON: links, joints, limits.

use std::io::{self, BufWriter, Write};

use serde_json::{Value, json};
use sinew::mechanism::{LinkFrames, Mechanism, NamedDof};
use sinew_files::urdf;

use crate::{args::InfoArgs, failure::Failure, lookup::shown};

/// Depth of the deepest indent, as in `text.rs`.
const MAX_INDENT: usize = 24;

/// Runs the subcommand on a URDF.
pub fn run(args: &InfoArgs) -> Result<(), Failure> {
    // Fails if units are given.
    let options = args.units.options(&args.model)?;
    if args.body.feet.is_some() || args.body.hips.is_some() {
        return Err(Failure::Usage("--feet and --hips are for characters, not for a .urdf".into()));
    }
    let arm = urdf::read_with(&args.model, &options)?;
    let mut out = BufWriter::new(io::stdout().lock());
    match args.json {
        true => json(&arm, &mut out)?,
        false => text(&arm, &mut out)?,
    }
    Ok(out.flush()?)
}

fn count(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

fn range(dof: &NamedDof) -> String {
    let unit = if dof.slides() { "m" } else { "rad" };
    let end = |v: f64| if v.is_finite() { format!("{v}") } else { "unlimited".into() };
    match (dof.dof.range.min.is_finite(), dof.dof.range.max.is_finite()) {
        (false, false) => "no limits".into(),
        _ => format!("{} to {} {unit}", end(dof.dof.range.min), end(dof.dof.range.max)),
    }
}

fn kind(dof: &NamedDof) -> &'static str {
    match (dof.slides(), dof.is_continuous()) {
        (true, _) => "slides",
        (false, true) => "turns freely",
        (false, false) => "turns",
    }
}

fn text(arm: &Mechanism, out: &mut impl Write) -> io::Result<()> {
    let links = arm.links().len();
    let dofs = arm.dofs().len();
    writeln!(
        out,
        "{} (URDF): {}, {} of freedom",
        shown(arm.name()),
        count(links, "link"),
        count(dofs, "degree"),
    )?;
    if dofs > 0 {
        writeln!(out, "\nJoints, with their rest value, limits and maximum speed:")?;
    }
    let width = arm.dofs().iter().map(|d| d.name.chars().count()).max().unwrap_or(0).min(40);
    let kinds = arm.dofs().iter().map(|d| kind(d).len()).max().unwrap_or(0);
    let ranges = arm.dofs().iter().map(|d| range(d).len()).max().unwrap_or(0);
    for (i, dof) in arm.dofs().iter().enumerate() {
        let index = format!("#{i}");
        let speed = match (dof.dof.speed.is_finite(), dof.slides()) {
            (false, _) => String::new(),
            (true, true) => format!("{} m/s", dof.dof.speed),
            (true, false) => format!("{} rad/s", dof.dof.speed),
        };
        let line = format!(
            "{index:>6}  {:<width$}  {:<kinds$}  {:>8.4}  {:<ranges$}  {speed}",
            shown(&dof.name),
            kind(dof),
            dof.dof.rest(),
            range(dof),
        );
        writeln!(out, "{}", line.trim_end())?;
        if !dof.contradicted_by.is_empty() {
            let names: Vec<_> = dof.contradicted_by.iter().map(|n| shown(n)).collect();
            writeln!(
                out,
                "        note: not kept, as they contradict the limits above: the limits of the joints that mimic it, {}",
                names.join(", ")
            )?;
        }
    }
    writeln!(out, "\nLinks, with their rest position in the root link's space in metres:")?;
    let mut placement = LinkFrames::new(arm);
    let placed = arm.forward_kinematics(&arm.rest(), &mut placement).is_ok();
    let mut depth = vec![0usize; links];
    let mut names = Vec::new();
    for link in arm.links() {
        let d = arm.link_parent(link).map_or(0, |p| depth[p.index()] + 1);
        depth[link.index()] = d;
        names.push("  ".repeat(d.min(MAX_INDENT)) + &shown(arm.link_name(link)));
    }
    let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0).min(64);
    for (link, name) in arm.links().zip(names) {
        write!(out, "  {name:<width$}")?;
        if placed {
            let p = arm.link_transform(&placement, link).translation;
            // Values that print as zero get no minus sign.
            let [x, y, z] = p.to_array().map(|c| if c.abs() < 5e-5 { 0.0 } else { c });
            write!(out, "  {x:>9.4} {y:>9.4} {z:>9.4}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn json(arm: &Mechanism, out: &mut impl Write) -> io::Result<()> {
    let limit = |v: f64| if v.is_finite() { json!(v) } else { Value::Null };
    let joints: Vec<Value> = arm
        .dofs()
        .iter()
        .map(|d| {
            json!({
                "name": d.name,
                "slides": d.slides(),
                "continuous": d.is_continuous(),
                "lower": limit(d.dof.range.min),
                "upper": limit(d.dof.range.max),
                "velocity": limit(d.dof.speed),
                "rest": d.dof.rest(),
                "contradicted_by": d.contradicted_by,
            })
        })
        .collect();
    let mut placement = LinkFrames::new(arm);
    let placed = arm.forward_kinematics(&arm.rest(), &mut placement).is_ok();
    let links: Vec<Value> = arm
        .links()
        .map(|l| {
            let position = if placed {
                json!(arm.link_transform(&placement, l).translation.to_array())
            } else {
                Value::Null
            };
            json!({
                "index": l.index(),
                "name": arm.link_name(l),
                "parent": arm.link_parent(l).map(|p| p.index()),
                "position": position,
            })
        })
        .collect();
    let all = json!({"name": arm.name(), "joints": joints, "links": links});
    serde_json::to_writer_pretty(&mut *out, &all).map_err(io::Error::from)?;
    writeln!(out)
}
