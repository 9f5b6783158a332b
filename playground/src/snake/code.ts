/** Programs of chains that lie along curves. */

import { list, literal, reals } from "../figure/copy.ts";
import { rounded } from "../figure/fields.ts";
import { points } from "../shapes.ts";
import type { Laid } from "./laid.ts";


export function typescript({ bones, length, curve, closed, options: { offset, reversed, stretch, roll } }: Laid): string {
  const options = [
    offset ? `offset: ${rounded(offset)}` : "",
    reversed ? "reversed: true" : "",
    stretch ? `stretch: { shortest: ${stretch.shortest}, longest: ${stretch.longest} }` : "",
    roll ? `roll: { axis: [${list([...(roll.axis as number[])])}]${roll.twist ? `, twist: [${list(roll.twist)}]` : ""} }` : "",
  ].filter(Boolean);
  return `import { load } from "sinew/core";

const { Curve, Skeleton, Spline } = await load();
const curve = new Curve(
  [
${points(curve).map((at) => `    [${list(at)}],`).join("\n")}
  ].flat(),
  { closed: ${closed} },
);
const bones = ${bones};
const skeleton = Skeleton.from(
  Array.from({ length: bones + 1 }, (_, n) => ({ name: \`\${n}\`, parent: n > 0 ? n - 1 : null, position: [n > 0 ? ${rounded(length)} / bones : 0, 0, 0] })),
);

const pose = skeleton.rest();
const report = new Spline(skeleton, 0, bones).solve(pose, curve${options.length > 0 ? `, { ${options.join(", ")} }` : ""});
if (report.beyond > 0) console.error(\`\${report.beyond} m beyond the end of the curve\`);

const [x, y, z] = pose.model(bones).position;
console.log(x, y, z);
`;
}

export function rust({ bones, length, curve, closed, options: { offset, reversed, stretch, roll } }: Laid): string {
  const options = [
    offset ? `.with_offset(${literal(offset)})` : "",
    reversed ? ".with_reversed(true)" : "",
    stretch ? `.with_fit(Fit::Stretched { shortest: ${literal(stretch.shortest)}, longest: ${literal(stretch.longest)} })` : "",
    roll ? `.with_roll(Roll::Frames { axis: Vec3::new(${reals([...(roll.axis as number[])])}), twist: [${reals(roll.twist ?? [0, 0])}] })` : "",
  ].join("");
  const uses = ["Curve", "CurveKind", "CurveUp", ...(stretch ? ["Fit"] : []), ...(roll ? ["Roll"] : [])];
  return `use std::{error::Error, sync::Arc};

use sinew::{
    JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    solve::{Spline, SplineOptions, spline::{${uses.join(", ")}}},
};

fn main() -> Result<(), Box<dyn Error>> {
    let points = [
${points(curve).map((at) => `        Vec3::new(${reals(at)}),`).join("\n")}
    ];
    let curve = Curve::new(CurveKind::CatmullRom, &points, ${closed}, CurveUp::Direction(Vec3::Y))?;

    let bones = ${bones};
    let bone = JointTransform::from_translation(Vec3::X * (${literal(length)} / bones as f32));
    let mut builder = Skeleton::builder();
    let mut last = builder.add("0", None, JointTransform::IDENTITY);
    for n in 1..=bones {
        last = builder.add(n.to_string(), Some(last), bone);
    }
    let (skeleton, joints) = builder.build()?;
    let skeleton = Arc::new(skeleton);

    let options = SplineOptions::new()${options};
    let mut pose = Pose::rest(&skeleton);
    let chain = Spline::new(&skeleton, joints[0], joints[bones])?;
    let report = chain.solve(&mut Workspace::new(), &mut pose, &curve, &options)?;
    if report.beyond > 0.0 {
        eprintln!("{} m beyond the end of the curve", report.beyond);
    }

    let tip = pose.position(joints[bones]);
    println!("{} {} {}", tip.x, tip.y, tip.z);
    Ok(())
}
`;
}
