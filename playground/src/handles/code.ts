/** Programs of rigs in the plane. */

import { list, literal, reals } from "../figure/copy.ts";
import { rounded } from "../figure/fields.ts";
import { NAME, type GoalKey, type Led } from "./chains.ts";
import type { Xy } from "../shapes.ts";

/** A handle, where its chain was before, and the goal: keys and a time, or a point. */
export interface RigProgram {
  led: Led;
  past: readonly number[];
  goal: { keys: readonly GoalKey[]; time: number } | Xy;
}

const keyed = (goal: RigProgram["goal"]): goal is { keys: readonly GoalKey[]; time: number } => !Array.isArray(goal);

export function typescript({ led: { joints, solver, from }, past, goal }: RigProgram): string {
  const tip = joints.length - 1;
  const goals = keyed(goal)
    ? `
const keys = new RigKeys(rig);
keys.edit(
  [
${goal.keys.map((key) => `    [${list(key)}],`).join("\n")}
  ].map(([time, x, y]) => ({ goal: "${NAME}", channel: "position", time, value: [x, y, 0] })),
);
const goals = keys.sample(${rounded(goal.time)});`
    : `const goals = { ${NAME}: { position: [${list(goal)}, 0] } };`;
  return `import { load } from "sinew/files";

const { Rig, ${keyed(goal) ? "RigKeys, " : ""}Skeleton } = await load();
const offsets = [
${joints.map((at) => `  [${list(at)}],`).join("\n")}
];
const skeleton = Skeleton.from(offsets.map((position, n) => ({ name: \`\${n}\`, position, parent: n > 0 ? n - 1 : null })));
const rig = new Rig(skeleton.rest(), [{ name: "${NAME}", solver: "${solver}", from: "${from}", chain: [0, ${tip}] }]);
${goals}

// Where the frame before has left the chain.
const pose = skeleton.rest();
[${list(past)}].forEach((angle, n) => pose.rotations.set([0, 0, Math.sin(angle / 2), Math.cos(angle / 2)], 4 * n));
rig.apply(rig.state(), pose, 0, goals);

const [x, y, z] = pose.model(${tip}).position;
console.log(x, y, z);
`;
}

const SOLVERS: Record<string, string> = { auto: "Auto", ccd: "Ccd" };
const STARTS = { pose: "Pose", preferred: "Preferred", last: "Last" } as const;

export function rust({ led: { joints, solver, from }, past, goal }: RigProgram): string {
  const uses = keyed(goal)
    ? `rig::{
        HandleSolver, HandleSpec, Rig, RigFrame, RigGoal, RigSpec, Space, StartFrom,
        keys::{Key, KeyChannel, KeyEdit, KeyOwner, RigKeys},
    },`
    : "rig::{HandleSolver, HandleSpec, Rig, RigFrame, RigGoal, RigSpec, StartFrom},";
  const goals = keyed(goal)
    ? `    let mut keys = RigKeys::new(&rig);
    let (owner, channel) = (KeyOwner::Goal(0), KeyChannel::position(Space::Model));
    for [time, x, y] in [
${goal.keys.map((key) => `        [${reals(key)}],`).join("\n")}
    ] {
        keys.edit(&KeyEdit::new().set(owner, channel, Key::new(time, Vec3::new(x, y, 0.0))))?;
    }
    let mut goals = [RigGoal::new()];
    keys.sample(${literal(goal.time)}, &mut goals)?;`
    : `    let goals = [RigGoal::from(Goal::position(Vec3::new(${reals(goal)}, 0.0)))];`;
  return `use std::{error::Error, sync::Arc};

use sinew::{
    ${keyed(goal) ? "" : "Goal, "}JointTransform, Pose, Skeleton, Workspace,
    glam::{Quat, Vec3},
    ${uses}
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut builder = Skeleton::builder();
    let mut above = None;
    for (n, at) in [
${joints.map((at) => `        [${reals(at)}],`).join("\n")}
    ]
    .into_iter()
    .enumerate()
    {
        above = Some(builder.add(n.to_string(), above, JointTransform::from_translation(Vec3::from(at))));
    }
    let (skeleton, joints) = builder.build()?;
    let mut pose = Pose::rest(&Arc::new(skeleton));
    let tip = *joints.last().ok_or("a chain has joints")?;

    let mut handle = HandleSpec::new("${NAME}", joints[0], tip);
    (handle.solver, handle.from) = (HandleSolver::${SOLVERS[solver]}, StartFrom::${STARTS[from]});
    let rig = Rig::new(&pose, None, &RigSpec::new(vec![handle]))?;
${goals}

    // Where the frame before has left the chain.
    for (joint, angle) in joints.iter().zip([${reals(past)}]) {
        pose.set_rotation(*joint, Quat::from_rotation_z(angle));
    }
    let frame = RigFrame::new(0.0).with_goals(&goals);
    rig.apply(&mut rig.state(), &mut Workspace::new(), &mut pose, &frame)?;

    let at = pose.position(tip);
    println!("{} {} {}", at.x, at.y, at.z);
    Ok(())
}
`;
}
