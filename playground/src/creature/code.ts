/** Programs that let the creature walk. */

import { list, literal, reals } from "../figure/copy.ts";
import { rounded } from "../figure/fields.ts";
import { groundCode } from "../terrain.ts";
import { FRAMES, RATE, TRAIL, type Settings } from "./crawl.ts";
import { TERRAINS, type Place } from "./places.ts";

/** What the programs need to know. */
export interface Order extends Settings {
  place: Place;
  speed: number;
  target: readonly [number, number];
}

/** In TypeScript: prints where the creature is after some seconds. */
export function typescript({ legs, place, ride, lift, speed, target }: Order): string {
  return `import { load } from "sinew/files";

const { Ground, Model, Walker } = await load();
const model = Model.crawler(${legs});
const walker = new Walker(model.creature(), { ride: ${rounded(ride)}, lift: ${rounded(lift)}, trail: ${TRAIL} });
const state = walker.state();
const pose = model.skeleton.rest();
const ground = ${groundCode(TERRAINS[place]).typescript};
const [target, speed] = [[${list(target)}], ${rounded(speed)}];
let { placement } = walker.step(state, pose, ground, 0);
for (let frame = 0; frame < ${FRAMES}; frame++) {
  // The target in the creature's frame.
  const [i, j, k, w] = placement.rotation;
  const [fx, fz] = [2 * (i * k + w * j), 1 - 2 * (i * i + j * j)];
  const [dx, dz] = [target[0] - placement.position[0], target[1] - placement.position[2]];
  const front = Math.hypot(fx, fz);
  const [ahead, left] = [(dx * fx + dz * fz) / front, (dx * fz - dz * fx) / front];
  const distance = Math.hypot(ahead, left);
  const share = distance < 0.02 ? 0 : Math.min(speed, 2 * distance * speed) / distance;
  const turn = distance < 0.02 ? 0 : Math.min(Math.max(2 * Math.atan2(left, ahead), -0.9), 0.9) * Math.min(1, distance / 0.3);
  const command = { velocity: [share * left, 0, share * ahead], turn };
  placement = walker.step(state, pose, ground, 1 / ${RATE}, command).placement;
}
const [x, y, z] = placement.position;
console.log(x, y, z);
`;
}

/** In Rust: prints the same. */
export function rust({ legs, place, ride, lift, speed, target }: Order): string {
  const { rust: ground, imports } = groundCode(TERRAINS[place]);
  const vectors = place === "rough" ? "{Vec2, Vec3}" : "Vec3";
  return `use std::error::Error;

use sinew::{
    Placement, Pose, Workspace,
    body::Legs,
    glam::${vectors},
    ground::{
        ${imports},
        walk::{Creature, WalkOptions, Walker},
    },
};
use sinew_files::sample;

fn main() -> Result<(), Box<dyn Error>> {
    let model = sample::creature(${legs})?;
    let bind = model.bind_pose();
    let skin = model.skin_points(&bind);
    let creature = Creature::new(&bind, &Legs::find(&bind, &skin)?, &skin)?;
    let options = WalkOptions::new().with_ride(${literal(ride)}).with_lift(${literal(lift)}).with_trail(${literal(TRAIL)});
    let walker = Walker::new(&creature, options)?;
    let mut state = walker.state(&Placement::IDENTITY)?;
    let (mut workspace, mut pose) = (Workspace::new(), Pose::rest(&model.skeleton));
    let ground = ${ground};
    let (target, speed) = ([${reals(target)}], ${literal(speed)}_f64);
    let mut step = |velocity, turn, dt| {
        walker.step(&mut state, &mut workspace, &mut pose, &ground, velocity, turn, dt).map(|report| report.placement)
    };
    let mut placement = step(Vec3::ZERO, 0.0, 0.0)?;
    for _ in 0..${FRAMES} {
        // The target in the creature's frame.
        let front = placement.direction_to_world(Vec3::Z).with_y(0.0).normalize().as_dvec3();
        let at = placement.to_world(Vec3::ZERO).as_dvec3();
        let [dx, dz]: [f64; 2] = [target[0] - at.x, target[1] - at.z];
        let (ahead, left) = (dx * front.x + dz * front.z, dx * front.z - dz * front.x);
        let distance = ahead.hypot(left);
        let (mut share, mut turn) = (0.0, 0.0);
        if distance >= 0.02 {
            share = speed.min(2.0 * distance * speed) / distance;
            turn = (2.0 * left.atan2(ahead)).clamp(-0.9, 0.9) * (distance / 0.3).min(1.0);
        }
        let velocity = Vec3::new((share * left) as f32, 0.0, (share * ahead) as f32);
        placement = step(velocity, turn as f32, 1.0 / ${RATE}.0)?;
    }
    let at = placement.to_world(Vec3::ZERO);
    println!("{} {} {}", at.x, at.y, at.z);
    Ok(())
}
`;
}
