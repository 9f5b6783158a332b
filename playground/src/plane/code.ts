/** Copied code of chains in the plane. */

import { literal, type Code } from "../figure/copy.ts";
import { rounded } from "../figure/fields.ts";
import type { Lead, Limits, Shape, Xy } from "./chain.ts";

/** What a program does: it places a chain, and lets it follow a target, or reach for one with its root fixed where there is no lead. */
interface Solve extends Shape {
  target: Xy;
  lead?: Lead;
  limits?: Limits | undefined;
}

/** Programs that print a chain's tip. */
export function chainCode<S>(solve: (state: S) => Solve): Code<S> {
  const range = (limits: Limits | undefined, n: number) =>
    n > 0 && limits ? ([limits.min[n - 1]!, limits.max[n - 1]!] as const) : undefined;
  return {
    typescript(state) {
      const { root, lengths, angles, target, lead, limits } = solve(state);
      const bones = lengths.map((length, n) => {
        const between = range(limits, n);
        const bounds = between ? `, limits: [${between.map(rounded).join(", ")}]` : "";
        return `  { length: ${rounded(length)}, angle: ${rounded(angles[n]!)}${bounds} },`;
      });
      const at = `[${target.map(rounded).join(", ")}]`;
      return `import { load } from "sinew/core";

const { Chain2d } = await load();
const chain = new Chain2d([${root.map(rounded).join(", ")}], [
${bones.join("\n")}
]);
${lead ? `chain.follow(${at}, "${lead}")` : `chain.solve(${at})`};

const [x, y] = chain.positions.slice(-2);
console.log(x, y);
`;
    },
    rust(state) {
      const { root, lengths, angles, target, lead, limits } = solve(state);
      const bones = lengths.map((length, n) => {
        const between = range(limits, n);
        const bounds = between ? `.with_limits(${between.map(literal).join(", ")})` : "";
        return `        Bone2d::new(${literal(length)}).with_angle(${literal(angles[n]!)})${bounds},`;
      });
      const at = `Vec2::new(${target.map(literal).join(", ")})`;
      return `use sinew::{
    glam::Vec2,
    planar::{Bone2d, Chain2d, Chain2dError, ${lead ? "Lead" : "Options2d"}},
};

fn main() -> Result<(), Chain2dError> {
    let bones = [
${bones.join("\n")}
    ];
    let mut chain = Chain2d::new(Vec2::new(${root.map(literal).join(", ")}), &bones)?;
    ${lead ? `chain.follow(${at}, Lead::${lead === "tip" ? "Tip" : "Root"})` : `chain.solve(${at}, &Options2d::default())`}?;

    let tip = chain.end();
    println!("{} {}", tip.x, tip.y);
    Ok(())
}
`;
    },
  };
}
