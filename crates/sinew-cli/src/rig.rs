//! `sinew rig`: proposes a rig file for a two-legged figure.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use glam::Vec3;
use sinew::{
    Pose,
    body::{BodyRoles, Role, Side},
    rig::HumanoidSpec,
};
use sinew_files::{Model, write_whole};

use crate::{
    args::RigArgs,
    failure::Failure,
    lookup::{self, shown},
    model,
    outputs::{check_folder, is_dash, keep_inputs},
};

/// Runs the subcommand.
pub fn run(args: &RigArgs) -> Result<(), Failure> {
    if model::is_urdf(&args.model) {
        return Err(Failure::Usage(format!(
            "{}: a .urdf is an arm, and a rig file is for figures; see `sinew solve`",
            args.model.display()
        )));
    }
    let out = args.out.as_deref().filter(|out| !is_dash(out));
    if let Some(out) = out {
        keep_inputs(out, [args.model.as_path()])?;
        check_folder(out)?;
    }
    let model = model::read(&args.model, &args.units)?;
    let bind = model.bind_pose();
    let body = model::body(&model, &bind, &args.body)?;
    let body = body.map_err(|e| Failure::Work(format!("{e}; {}", model::feet_by_hand(&model, &bind))))?;
    let height = body.height(&bind, &model.skin_points(&bind));
    if !(height > 0.0 && height.is_finite()) {
        return Err(Failure::Work(format!(
            "{}: the figure is {height} m high at bind, so that its limbs have no lengths",
            args.model.display()
        )));
    }
    let text = proposal(&model, &bind, &body, height);
    match out {
        Some(out) => write_whole(out, |w| w.write_all(text.as_bytes()))?,
        None => io::stdout().write_all(text.as_bytes())?,
    }
    Ok(())
}

/// The joint of a goal or a pole.
fn role(goal: &str) -> Role {
    let side = if goal.starts_with("left") { Side::Left } else { Side::Right };
    match goal.rsplit(' ').next().unwrap_or_default() {
        "body" => Role::Hips,
        "look" => Role::Head,
        "hand" => Role::Hand(side),
        "foot" => Role::Foot(side),
        "elbow" => Role::Forearm(side),
        _ => Role::Shin(side),
    }
}

/// The text of a rig file: a humanoid, and all of its goals as comments, where they are at bind.
fn proposal(model: &Model, bind: &Pose, body: &BodyRoles, height: f32) -> String {
    let mut spec = HumanoidSpec::new().rig(body);
    let front = body.front(bind);
    // 0.1 mm for a person.
    let places = (4.0 - (height / 1.8).log10().floor()).clamp(0.0, 40.0) as usize;
    let number = |x: f32| {
        let text = format!("{x:.places$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        String::from(if text == "-0" { "0" } else { text })
    };
    let digits = |v: Vec3| format!("[{}, {}, {}]", number(v.x), number(v.y), number(v.z));
    let mut text = format!(
        "# A rig of {}: `sinew bake MODEL --rig FILE` plays a clip through it. The format is described in\n\
         # docs/rigs.md. Nothing changes until a goal is set.\n\
         rig = 1\n\
         # Height of the figure in metres. Lengths in the space of a role are those of a figure of 1.8 m.\n\
         height = {height:?}\n\n\
         [humanoid]\n\
         # \"two-bone\": each limb by itself. \"full-body\": the trunk helps a limb that does not reach.\n\
         limbs = \"two-bone\"\n\
         # Planted feet: height of soles above the ground in metres, turn of the toes outwards in radians, and whether soles turn\n\
         # with the slope or stay level. Each is a value or [left, right].\n\
         # feet = {{ height = 0.0, toe_out = 0.0, slope = true }}\n\
         # Joints that clips move by a curve of contact, from 0 to 1, in place of contacts that are detected.\n\
         # contacts = {{ left = \"NODE\", right = \"NODE\" }}\n\n\
         # Goals are those below; remove `# ` to set one. `space` is \"model\" (the default), \"world\", a role such as \"head\" or\n\
         # \"left hand\" (x is the figure's left, y up, z its front, as at bind), or {{ joint = \"name\" }}. Positions are those at\n\
         # bind. Goals take `influence` (0 to 1), those of the body, hands and feet a `rotation = [x, y, z, w]`; elbows and\n\
         # knees take `space` and `position` alone.\n",
        shown(&model.name).replace('`', "'"),
    );
    for name in HumanoidSpec::GOALS {
        let Some((_, _, is_pole)) = HumanoidSpec::goal(&mut spec, name) else { continue };
        // The head may be unknown, and the neck look.
        let joint = body.joint(role(name)).or(body.neck).unwrap_or(body.hips);
        let at = bind.position(joint);
        let (about, at) = match name {
            "body" => ("the hips".into(), at),
            "look" => ("what spine, neck and head turn to".into(), at + front * height),
            _ if is_pole => {
                let end = name.replace("elbow", "hand").replace("knee", "foot");
                let ahead = if name.ends_with("knee") { front } else { -front };
                (format!("what the joint bends towards, the pole of the {end}"), at + ahead * (0.3 * height))
            }
            _ => (format!("joint `{}`", shown(&lookup::label(&model.skeleton, joint))), at),
        };
        let key = if name.contains(' ') { format!("\"{name}\"") } else { name.into() };
        let _ = write!(text, "\n# [goal.{key}]    # {about}\n# position = {}\n", digits(at));
        if name.ends_with("foot") {
            text += "# roll = 0.0    # radians: over the ball above 0, over the heel below; `bank` and `pivot` as well\n";
        }
    }
    text
}
