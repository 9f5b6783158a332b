/** Programs that plant the walk. */

import { literal } from "../figure/copy.ts";
import { rounded } from "../figure/fields.ts";
import { groundCode } from "../terrain.ts";
import { TERRAINS, type Kind } from "./grounds.ts";
import { AHEAD, RATE, type Settings } from "./walk.ts";

/** In TypeScript: prints where the left toes are at a frame. `file` names the reader's own ground. */
export function typescript(kind: Kind, file: string | undefined, settings: Settings, frame: number, planted: boolean): string {
  const { castAbove, castBelow, offset, toeOut, pelvisRate, footRate, influence } = settings;
  const ground = file === undefined ? groundCode(TERRAINS[kind]).typescript : `readGround(await (await fetch(${JSON.stringify(file)})).arrayBuffer(), ${JSON.stringify(file)})`;
  const names = ["Model", ...(planted ? ["FootPlanter", file === undefined ? "Ground" : "readGround"] : [])].sort().join(", ");
  const head = `import { load } from "sinew/files";

const { ${names} } = await load();
const model = Model.mannequin();
const figure = model.figure();
const [walk] = model.clips;
const pose = model.skeleton.rest();
`;
  const tail = `
const [x, y, z] = pose.model(figure.body.joint("left toes")).position;
console.log(x, y, z);
`;
  if (!planted) return `${head}walk.sample(${frame} / ${RATE}, pose);\n${tail}`;
  return `${head}for (const side of ["left", "right"]) figure.setLeg(side, { soleHeight: ${rounded(offset)}, toeOut: ${rounded(toeOut)} });
const options = { castAbove: ${rounded(castAbove)}, castBelow: ${rounded(castBelow)}, pelvisRate: ${rounded(pelvisRate)}, footRate: ${rounded(footRate)} };
const planter = new FootPlanter(figure, options).learnFloor(walk).setLookAhead(${AHEAD});
const feet = planter.state();
feet.setInfluence(${rounded(influence)});
const ground = ${ground};
for (let frame = 0; frame <= ${frame}; frame++) {
  planter.stepWith(feet, ground, pose, 1 / ${RATE}, (later, sampled) => walk.sample(frame / ${RATE} + later, sampled));
}
${tail}`;
}

/** In Rust: prints the same. */
export function rust(kind: Kind, file: string | undefined, settings: Settings, frame: number, planted: boolean): string {
  const { castAbove, castBelow, offset, toeOut, pelvisRate, footRate, influence } = settings;
  const made = groundCode(TERRAINS[kind]);
  const [ground, imports] = file === undefined ? [made.rust, made.imports] : [`MeshGround::new(ground::read(${JSON.stringify(file)}.as_ref(), &ReadOptions::default())?)?`, "MeshGround"];
  const tail = `
    let toes = body.leg(Side::Left).toes.ok_or("the mannequin has toes")?;
    let at = pose.position(toes);
    println!("{} {} {}", at.x, at.y, at.z);
    Ok(())
}
`;
  if (!planted) {
    return `use std::error::Error;

use sinew::{Pose, body::{BodyRoles, Side}};
use sinew_files::sample;

fn main() -> Result<(), Box<dyn Error>> {
    let model = sample::mannequin()?;
    let body = BodyRoles::find(&model.bind_pose(), &model.declared_roles)?;
    let mut pose = Pose::rest(&model.skeleton);
    model.clips[0].sample(${frame}.0 / ${RATE}.0, &mut pose);
    pose.update();
${tail}`;
  }
  return `use std::error::Error;

use sinew::{
    Placement, Pose,
    body::{BodyRoles, Side},${file === undefined && kind === "rough" ? "\n    glam::Vec2," : ""}
    ground::{
        ${imports},
        plant::{Figure, FootPlanter, PlantOptions},
    },
};
use sinew_files::${file === undefined ? "sample" : "{ReadOptions, ground, sample}"};

fn main() -> Result<(), Box<dyn Error>> {
    let model = sample::mannequin()?;
    let (rest, bind) = (Pose::rest(&model.skeleton), model.bind_pose());
    let body = BodyRoles::find(&bind, &model.declared_roles)?;
    let mut figure = Figure::of_body(&bind, &body, &model.skin_points(&bind))?;
    // Toes turn outwards: the left foot about +Y, the right one about -Y.
    for (leg, outwards) in figure.legs_mut().iter_mut().zip([${literal(toeOut)}_f32, -${literal(toeOut)}]) {
        (leg.sole_height, leg.yaw) = (${literal(offset)}, outwards);
    }
    let options = PlantOptions::new()
        .with_cast_above(${literal(castAbove)})
        .with_cast_below(${literal(castBelow)})
        .with_pelvis_rate(${literal(pelvisRate)})
        .with_foot_rate(${literal(footRate)});
    let walk = &model.clips[0];
    let mut planter = FootPlanter::new(&figure, options)?;
    planter.learn_floor(walk, &rest)?;
    planter.set_look_ahead(${AHEAD})?;
    let mut feet = planter.state();
    feet.set_influence(${literal(influence)})?;
    let ground = ${ground};
    let mut pose = rest.clone();
    for frame in 0..=${frame} {
        let time = frame as f32 / ${RATE}.0;
        planter.step_with(&mut feet, &ground, &mut pose, 1.0 / ${RATE}.0, |later, pose| {
            walk.sample(time + later, pose);
            Placement::IDENTITY
        })?;
    }
${tail}`.replace("-0.0]", "0.0]");
}
