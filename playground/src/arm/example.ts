/** The robot that the page shows until the reader drops one: an arm of six joints on a rail. */

interface Part {
  name: string;
  type: "prismatic" | "revolute" | "fixed";
  at: string;
  axis: string;
  limits: [number, number];
}

const PARTS: readonly Part[] = [
  { name: "carriage", type: "prismatic", at: "0 0 0.12", axis: "1 0 0", limits: [-0.6, 0.6] },
  { name: "turret", type: "revolute", at: "0 0 0.14", axis: "0 0 1", limits: [-3, 3] },
  { name: "shoulder", type: "revolute", at: "0 0 0.12", axis: "0 1 0", limits: [-1.6, 1.9] },
  { name: "elbow", type: "revolute", at: "0 0 0.46", axis: "0 1 0", limits: [-2.5, 2.5] },
  { name: "forearm", type: "revolute", at: "0 0 0.14", axis: "0 0 1", limits: [-3, 3] },
  { name: "wrist", type: "revolute", at: "0 0 0.26", axis: "0 1 0", limits: [-2.1, 2.1] },
  { name: "flange", type: "revolute", at: "0 0 0.1", axis: "0 0 1", limits: [-3, 3] },
  { name: "tool", type: "fixed", at: "0 0 0.14", axis: "0 0 1", limits: [0, 0] },
];

/** Its text. */
export const EXAMPLE = `<robot name="rail_arm">
  <link name="base"/>
${PARTS.map(({ name, type, at, axis, limits: [lower, upper] }, n) => {
  const above = n === 0 ? "base" : PARTS[n - 1]!.name;
  const limit = type === "fixed" ? "" : `<axis xyz="${axis}"/> <limit lower="${lower}" upper="${upper}" effort="1" velocity="2"/> `;
  return `  <link name="${name}"/>
  <joint name="${name}_joint" type="${type}">
    <parent link="${above}"/> <child link="${name}"/> <origin xyz="${at}"/> ${limit}
  </joint>`;
})
  .join("\n")
  .replaceAll("> \n", ">\n")}
</robot>`;
/** Values of its joints at first: bent, so that every way is open. */
export const BENT: readonly number[] = [-0.2, 0.5, 0.5, 1.2, 0, 0.9, 0];
