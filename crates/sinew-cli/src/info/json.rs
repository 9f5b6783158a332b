//! Facts about a model as JSON. Joints are a flat list in the skeleton's order, with parents by index, so that a deep
//! hierarchy needs no deep JSON.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Facts, tracks};

pub(super) fn write(facts: &Facts, out: &mut impl Write) -> io::Result<()> {
    let Facts { model, bind, .. } = facts;
    let skeleton = &model.skeleton;
    let joints: Vec<Value> = skeleton
        .joints()
        .map(|j| {
            json!({
                "index": j.index(),
                "name": skeleton.name(j),
                "parent": skeleton.parent(j).map(|p| p.index()),
                "length": facts.length(j),
                "position": bind.position(j).to_array(),
            })
        })
        .collect();
    let clips: Vec<Value> = model
        .clips
        .iter()
        .map(|c| {
            json!({
                "name": c.name(),
                "start": c.start(),
                "seconds": c.duration(),
                "keys_per_second": c.key_rate(),
                "tracks": tracks(c),
                "joints": c.tracks().len(),
            })
        })
        .collect();
    let problems: Vec<Value> =
        model.problems.iter().map(|p| json!({"clip": p.clip, "at": p.at, "what": p.what})).collect();
    let body = match &facts.body {
        Ok(body) => {
            let roles: Vec<Value> = body
                .assigned
                .iter()
                .map(|a| json!({"role": a.role.to_string(), "joint": a.joint.index(), "why": a.why.to_string()}))
                .collect();
            let doubts: Vec<String> = body.doubts.iter().map(ToString::to_string).collect();
            json!({"roles": roles, "open": doubts})
        }
        Err(error) => json!({"error": error.to_string()}),
    };
    let all = json!({
        "name": model.name,
        "height": facts.height,
        "joints": joints,
        "clips": clips,
        "problems": problems,
        "body": body,
        "legs": facts.legs.as_ref().map(|legs| {
            let leg = |l: &sinew::body::CreatureLeg| {
                let name = |j| model.skeleton.path(j);
                json!({
                    "root": name(l.root), "foot": name(l.foot), "tip": name(l.tip),
                    "side": l.side.map(|s| s.to_string()), "length_m": l.length, "why": l.why.to_string(),
                })
            };
            json!({"legs": legs.legs.iter().map(leg).collect::<Vec<_>>(), "open": legs.doubts})
        }),
        "notes": facts.hints,
    });
    serde_json::to_writer_pretty(&mut *out, &all).map_err(io::Error::from)?;
    writeln!(out)
}
