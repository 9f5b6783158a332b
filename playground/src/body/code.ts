/** Programs of solves of the figure. */

import { list, literal, reals } from "../figure/copy.ts";
import { rounded } from "../figure/fields.ts";
import { JOINTS, type Numbers } from "./joints.ts";

const finite = (value: unknown): unknown => (typeof value === "number" ? rounded(value) : value);

/** The start of a program: the skeleton, and a pose. */
export function typescript(classes: string, pose: Numbers): string {
  const rows = JOINTS.map(({ name, parent, at, limits }) => {
    const text = limits ? `, limits: ${JSON.stringify(limits, (_, value) => finite(value)).replaceAll('"', "")}` : "";
    return `  { name: "${name}", parent: ${parent === null ? "null" : `"${parent}"`}, position: [${list(at)}]${text} },`;
  });
  return `import { load } from "sinew/core";

const { Skeleton, ${classes} } = await load();
const skeleton = Skeleton.from([
${rows.join("\n")}
]);
const pose = skeleton.rest();
// The hips' place, and a rotation vector for each joint.
pose.positions.set([${list(pose.slice(0, 3))}]);
[
${JOINTS.map((_, n) => `  [${list(pose.slice(3 + 3 * n, 6 + 3 * n))}],`).join("\n")}
].forEach(([x, y, z], n) => {
  const angle = Math.hypot(x, y, z);
  const by = angle > 0 ? Math.sin(angle / 2) / angle : 0.5;
  pose.rotations.set([x * by, y * by, z * by, Math.cos(angle / 2)], 4 * n);
});
`;
}

function joint({ limits }: (typeof JOINTS)[number]): string {
  const vector = (at: ArrayLike<number>) => `DVec3::new(${reals(Array.from(at))})`;
  const dof = ({ min = 0, max = 0 }: { min?: number; max?: number }) => `Dof::range(${literal(min)}, ${literal(max)})`;
  const { hinge, ball, fixed } = limits ?? {};
  if (fixed) return "Joint::FIXED";
  if (hinge) return `Joint::hinge(${vector(hinge.axis as number[])}, ${dof(hinge)})`;
  if (ball) {
    const [a, b] = ball.swing!;
    return `ball(${vector(ball.twistAxis as number[])}, ${vector(ball.swingAxis as number[])}, [${dof(a)}, ${dof(b)}], ${dof(ball.twist!)})`;
  }
  return "Joint::FREE";
}

/** The start of a program in Rust, up to the pose; `uses` are further names of the crate, in its order. */
export function rust(uses: string, solve: string, pose: Numbers): string {
  const rows = JOINTS.map((one, n) => {
    const parent = one.parent === null ? "None" : `Some(${JOINTS.findIndex(({ name }) => name === one.parent)})`;
    return `        ("${one.name}", ${parent}, [${reals(one.at)}], ${joint(one)}, [${reals(pose.slice(3 + 3 * n, 6 + 3 * n))}]),`;
  });
  return `use std::{error::Error, sync::Arc};

use sinew::{
    ${uses}
};

fn ball(twist_axis: DVec3, swing_axis: DVec3, swing: [Dof; 2], twist: Dof) -> Joint {
    Turning::Ball { twist_axis, swing_axis, swing, twist, centre: [0.0; 2] }.into()
}

fn main() -> Result<(), Box<dyn Error>> {
    // Name, parent, place on it, ranges, and a rotation vector.
    let joints = [
${rows.join("\n")}
    ];
    let mut builder = Skeleton::builder();
    let mut ids = Vec::new();
    for (name, parent, at, ..) in joints {
        let parent = parent.map(|n: usize| ids[n]);
        ids.push(builder.add(name, parent, JointTransform::from_translation(Vec3::from(at))));
    }
    let (mut skeleton, ids) = builder.build()?;
    for (id, (_, _, _, joint, _)) in ids.iter().zip(joints) {
        skeleton.set_joint(*id, joint)?;
    }
    let skeleton = Arc::new(skeleton);
    let find = |name: &str| skeleton.find(name).ok_or("no such joint");

    let mut pose = Pose::rest(&skeleton);
    pose.set_translation(ids[0], Vec3::new(${reals(pose.slice(0, 3))}));
    for (id, (.., [x, y, z])) in ids.iter().zip(joints) {
        pose.set_rotation(*id, Quat::from_scaled_axis(Vec3::new(x, y, z)));
    }
    pose.update();
${solve}
}
`;
}
