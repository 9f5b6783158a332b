/** Programs of the page Solvers. */

import { list, literal, reals } from "../figure/copy.ts";
import { rounded } from "../figure/fields.ts";
import type { Xyz } from "../shapes.ts";

/** A chain, and what it is asked for. */
export interface ChainProgram {
  /** Displacements of the joints, each from the one before. */
  joints: readonly Xyz[];
  solver: "ccd" | "fabrik" | "dls";
  target: Xyz;
  iterations: number;
  tolerance: number;
  /** Half-angles of the ellipse to which the bones' directions are limited, about x and about z. */
  ellipse?: readonly [number, number] | undefined;
}

/** Largest twist of a joint with an ellipse, in radians. */
export const TWIST = 0.2;


export function chainTypescript({ joints, solver, target, iterations, tolerance, ellipse }: ChainProgram): string {
  const range = (angle: number) => `{ min: ${rounded(-angle)}, max: ${rounded(angle)} }`;
  const limits =
    ellipse &&
    `
const swing = [${ellipse.map(range).join(", ")}];
const ball = { twistAxis: [0, 1, 0], swingAxis: [1, 0, 0], swing, twist: ${range(TWIST)} };`;
  return `import { load } from "sinew/core";

const { Skeleton, Chain } = await load();
const offsets = [
${joints.map((at) => `  [${list(at)}],`).join("\n")}
];${limits ?? ""}
const skeleton = Skeleton.from(
  offsets.map((position, n) => ({ name: \`\${n}\`, position, parent: n > 0 ? n - 1 : null${ellipse ? ", ...(n < offsets.length - 1 ? { limits: { ball } } : {})" : ""} })),
);
const pose = skeleton.rest();
const chain = new Chain(skeleton, "0", "${joints.length - 1}", { solver: "${solver}", iterations: ${iterations}, tolerance: ${tolerance} });
chain.solve(pose, { position: [${list(target)}] });

const [x, y, z] = pose.model("${joints.length - 1}").position;
console.log(x, y, z);
`;
}

const SOLVERS = { ccd: "Ccd", fabrik: "Fabrik", dls: "DampedLeastSquares" } as const;

export function chainRust({ joints, solver, target, iterations, tolerance, ellipse }: ChainProgram): string {
  const name = SOLVERS[solver];
  const imports = [`Goal, JointTransform, Pose, Skeleton, Workspace`, `glam::Vec3`, ...(ellipse ? ["joint::Joint"] : [])].join(", ");
  const range = (angle: number) => `(${literal(-angle)}, ${literal(angle)})`;
  const limits = ellipse
    ? `
    let swing = [${ellipse.map(range).join(", ")}];
    for joint in &joints[..joints.len() - 1] {
        skeleton.set_joint(*joint, Joint::ball(Vec3::Y, Vec3::X, swing, ${range(TWIST)}))?;
    }`
    : "";
  return `use std::{error::Error, sync::Arc};

use sinew::{
    ${imports},
    solve::{ChainSolver, ${name}, IterativeOptions, Tolerance},
};

fn main() -> Result<(), Box<dyn Error>> {
    let offsets = [
${joints.map((at) => `        Vec3::new(${reals(at)}),`).join("\n")}
    ];
    let mut builder = Skeleton::builder();
    let mut last = None;
    for (n, offset) in offsets.into_iter().enumerate() {
        last = Some(builder.add(n.to_string(), last, JointTransform::from_translation(offset)));
    }
    let (${ellipse ? "mut " : ""}skeleton, joints) = builder.build()?;${limits}
    let skeleton = Arc::new(skeleton);

    let (root, tip) = (joints[0], joints[joints.len() - 1]);
    let chain = ${name}::new(&skeleton, root, tip)?;
    let mut pose = Pose::rest(&skeleton);
    let mut options = IterativeOptions::new().with_position_tolerance(Tolerance::Metres(${tolerance}));
    options.max_iterations = Some(${iterations});
    chain.solve(&mut Workspace::new(), &mut pose, &Goal::position(Vec3::new(${reals(target)})), &options)?;

    let end = pose.position(tip);
    println!("{} {} {}", end.x, end.y, end.z);
    Ok(())
}
`;
}

/** A tree whose joints have parents, two goals, and the joint whose position is printed. */
export interface TreeProgram {
  joints: readonly { name: string; parent: number; position: Xyz }[];
  effectors: readonly [string, string];
  goals: readonly [Xyz, Xyz];
  iterations: number;
  tolerance: number;
}

export function treeTypescript({ joints, effectors, goals, iterations, tolerance }: TreeProgram): string {
  const rows = joints.map(({ name, parent, position }) => {
    const above = parent < 0 ? "" : `parent: ${parent}, `;
    return `  { name: "${name}", ${above}position: [${list(position)}] },`;
  });
  return `import { load } from "sinew/core";

const { Skeleton, FabrikTree } = await load();
const skeleton = Skeleton.from([
${rows.join("\n")}
]);
const pose = skeleton.rest();
const tree = new FabrikTree(skeleton, "${joints[0]!.name}", ["${effectors.join('", "')}"], { iterations: ${iterations}, tolerance: ${tolerance} });
tree.solve(pose, [{ position: [${list(goals[0])}] }, { position: [${list(goals[1])}] }]);

const [x, y, z] = pose.model("${effectors[0]}").position;
console.log(x, y, z);
`;
}

export function treeRust({ joints, effectors, goals, iterations, tolerance }: TreeProgram): string {
  const rows = joints.map(({ name, parent, position }) => {
    const above = parent < 0 ? "None" : `Some(${parent})`;
    return `        ("${name}", ${above}, Vec3::new(${reals(position)})),`;
  });
  return `use std::{error::Error, sync::Arc};

use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace, glam::Vec3,
    solve::{Effector, FabrikTree, IterativeOptions, Tolerance},
};

fn main() -> Result<(), Box<dyn Error>> {
    let rows = [
${rows.join("\n")}
    ];
    let mut builder = Skeleton::builder();
    for (name, parent, offset) in rows {
        builder.add(name, parent, JointTransform::from_translation(offset));
    }
    let (skeleton, joints) = builder.build()?;
    let skeleton = Arc::new(skeleton);

    let [left, right] = [joints[${joints.findIndex(({ name }) => name === effectors[0])}], joints[${joints.findIndex(({ name }) => name === effectors[1])}]];
    let tree = FabrikTree::new(&skeleton, joints[0], &[Effector::new(left), Effector::new(right)])?;
    let mut pose = Pose::rest(&skeleton);
    let goals = [Vec3::new(${reals(goals[0])}), Vec3::new(${reals(goals[1])})].map(Goal::position);
    let mut options = IterativeOptions::new().with_position_tolerance(Tolerance::Metres(${tolerance}));
    options.max_iterations = Some(${iterations});
    tree.solve(&mut Workspace::new(), &mut pose, &goals, &options)?;

    let end = pose.position(left);
    println!("{} {} {}", end.x, end.y, end.z);
    Ok(())
}
`;
}
