/** The page Arm: a robot arm of six joints that follows a ball. */

import type { Chain, Core, DrawList, Pose, Report, Rotation } from "sinew/core";

import { anglesOf, BALL, bend, GRIP, JOINTS, Robot, skeletonOf } from "../arm/robot.ts";
import { ownRobot } from "../arm/own.ts";
import { list, literal, reals } from "../figure/copy.ts";
import { choice, flag, number, numbers, point3, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { drawDrop, drawFloor } from "../figure/floor.ts";
import { apart, coordinates, degrees, fixed } from "../figure/format.ts";
import { Solids } from "../figure/solids.ts";
import { spaceView } from "../figure/view.ts";
import { start } from "../page.ts";
import { clamp, CROSS, dashed, triple, type Xyz } from "../shapes.ts";

const FAR = 5;
type Tool = "free" | "down";


/** The gripper that points down, turned by an angle about the vertical. */
function downwards(turn: number): Rotation {
  // The turn about y, after a quarter turn about z from x to -y.
  const [s, c, h] = [Math.sin(turn / 2), Math.cos(turn / 2), Math.SQRT1_2];
  return [-s * h, s * h, -c * h, c * h];
}

/** A ball that bounces along a closed way around the column, at a time in seconds. */
function bounce(seconds: number): Xyz {
  const [period, height] = [1.15, 0.62];
  const share = (seconds / period + 0.5) % 1;
  const angle = 0.55 * seconds;
  // Further away than the arm reaches on one side.
  const radius = 0.72 + 0.3 * Math.sin(0.31 * seconds);
  return [radius * Math.cos(angle), BALL + 4 * height * share * (1 - share), -radius * Math.sin(angle)];
}

function arm(core: Core, drawList: DrawList): void {
  const fields = {
    ball: point3([0.62, 0.3, 0.28], FAR),
    tool: choice<Tool>("down", ["free", "down"]),
    turn: number(0.5, { min: -3.1416, max: 3.1416 }),
    angles: numbers([-0.4, 0.9, -1.6, 0, -0.8, 0], { min: -3.1416, max: 3.1416 }, { min: 6, max: 6 }),
    limits: flag(false),
  };
  type State = StateOf<typeof fields>;
  const skeleton = skeletonOf(core);
  const chain: Chain = new core.Chain(skeleton, "column", "grip");
  const pose: Pose = skeleton.rest();
  let report: Report;
  const grip = (): Xyz => triple(pose.model("grip").position);
  const now = () => anglesOf(pose);
  const rotation = ({ tool, turn }: State) => (tool === "down" ? downwards(turn) : undefined);
  const figure = new Figure({
    id: "robot",
    fields,
    list: drawList,
    valid: ({ angles }) => JOINTS.every(({ min, max }, n) => angles[n]! >= min - 1e-3 && angles[n]! <= max + 1e-3),
    solve(state) {
      bend(pose.reset(), state.angles);
      const turned = rotation(state);
      report = chain.solve(pose, { position: state.ball, ...(turned ? { rotation: turned } : {}) });
    },
    read({ ball }) {
      const off = [
        report.positionResidual > 0.002 ? `${fixed(report.positionResidual)} m away` : "",
        report.rotationResidual > 0.01 ? `${degrees(report.rotationResidual)} off` : "",
      ].filter(Boolean);
      const held = JOINTS.filter(({ min, max }, n) => now()[n]! < min + 2e-3 || now()[n]! > max - 2e-3).map(({ name }) => name);
      const ends = held.length > 0 ? `; at the end of its range: ${held.join(", ")}` : "";
      return `Ball at ${coordinates(ball)}; the gripper ${off.length > 0 ? `is ${off.join(", ")}` : "has it"}${ends}`;
    },
    code: {
      typescript: (state: State) => `import { load } from "sinew/core";

const { Skeleton, Chain } = await load();
const joints = [
${JOINTS.map(({ name, at, axis, min, max }) => `  { name: "${name}", position: [${list(at)}], axis: [${list(axis)}], min: ${min}, max: ${max} },`).join("\n")}
];
const fixed = { fixed: true };
const skeleton = Skeleton.from([
  { name: "column", limits: fixed },
  ...joints.map(({ name, position, axis, min, max }, n) => ({ name, parent: n, position, limits: { hinge: { axis, min, max } } })),
  { name: "grip", parent: joints.length, position: [${list(GRIP)}], limits: fixed },
]);

// The arm as it was before the ball moved.
const pose = skeleton.rest();
[${list(state.angles)}].forEach((angle, n) => {
  const s = Math.sin(angle / 2);
  pose.rotations.set([...joints[n].axis.map((x) => x * s), Math.cos(angle / 2)], 4 * (n + 1));
});
const goal = { position: [${list(state.ball)}]${rotation(state) ? `, rotation: [${list([...(rotation(state) as number[])])}]` : ""} };
const report = new Chain(skeleton, "column", "grip").solve(pose, goal);
if (!report.reached) console.error(\`\${report.positionResidual} m and \${report.rotationResidual} rad away\`);

const [x, y, z] = pose.model("grip").position;
console.log(x, y, z);
`,
      rust: (state: State) => `use std::{error::Error, sync::Arc};

use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::{DVec3, Quat, Vec3},
    joint::{Dof, Joint},
    solve::{Auto, ChainSolver, IterativeOptions},
};

fn main() -> Result<(), Box<dyn Error>> {
    // Name, place on the joint before, axis, range, and the angle before the ball moved.
    let joints = [
${JOINTS.map(({ name, at, axis, min, max }, n) => `        ("${name}", [${reals(at)}], DVec3::${"XYZ"[axis.indexOf(1)]}, ${literal(min)}, ${literal(max)}, ${literal(state.angles[n]!)}),`).join("\n")}
    ];
    let mut builder = Skeleton::builder();
    let mut last = builder.add("column", None, JointTransform::IDENTITY);
    for (name, at, ..) in joints {
        last = builder.add(name, Some(last), JointTransform::from_translation(Vec3::from(at)));
    }
    builder.add("grip", Some(last), JointTransform::from_translation(Vec3::new(${reals(GRIP)})));
    let (mut skeleton, ids) = builder.build()?;
    let [column, moving @ .., grip] = ids.as_slice() else { unreachable!() };
    for end in [column, grip] {
        skeleton.set_joint(*end, Joint::FIXED)?;
    }
    for (id, (_, _, axis, min, max, _)) in moving.iter().zip(joints) {
        skeleton.set_joint(*id, Joint::hinge(axis, Dof::range(min, max)))?;
    }
    let skeleton = Arc::new(skeleton);

    let mut pose = Pose::rest(&skeleton);
    for (id, (_, _, axis, _, _, angle)) in moving.iter().zip(joints) {
        pose.set_rotation(*id, sinew::math::axis_angle(axis.as_vec3(), angle));
    }
    pose.update();
    let goal = Goal::position(Vec3::new(${reals(state.ball)}))${rotation(state) ? `.with_rotation(Quat::from_xyzw(${reals(rotation(state) as number[])}))` : ""};
    let chain = Auto::new(&skeleton, *column, *grip)?;
    let report = chain.solve(&mut Workspace::new(), &mut pose, &goal, &IterativeOptions::new())?;
    if !report.reached() {
        eprintln!("{} m and {} rad away", report.position_residual, report.rotation_residual);
    }

    let tip = pose.position(*grip);
    println!("{} {} {}", tip.x, tip.y, tip.z);
    Ok(())
}
`.replace(rotation(state) ? "" : "glam::{DVec3, Quat, Vec3}", rotation(state) ? "" : "glam::{DVec3, Vec3}"),
    },
    probe: () => ({
      tip: grip(),
      angles: now(),
      rotation: [...pose.model("grip").rotation],
      reached: report.reached,
      residuals: [report.positionResidual, report.rotationResidual],
    }),
  });
  const solids = new Solids(1);
  const robot = new Robot(solids);
  const pane = figure.pane("main", {
    view: spaceView({ target: [0.2, 0.46, 0], radius: 0.88, yaw: 28, pitch: 18 }),
    solids: solids.scene,
    draw(list, theme, pixel) {
      const { ball } = figure.state;
      const away = apart(grip(), ball);
      solids.show(theme);
      robot.show(pose, clamp(away / 0.15, 0, 1), ball);
      drawFloor(list, theme, 1.2);
      drawDrop(list, ball);
      if (figure.state.limits) list.limits(pose, 0.2, { joints: JOINTS.map((_, n) => n + 1) });
      if (away > 0.01) dashed(list, grip(), ball, "residual");
      list.goal(ball, CROSS * pixel);
    },
  });
  pane.handle({
    name: "Ball",
    look: "target",
    at: () => figure.state.ball,
    move: ([x, y, z]) => figure.set({ angles: now(), ball: [x, Math.max(y, BALL), z] }),
    step: 0.05,
  });
  figure.controls.choice<Tool>({
    label: "Gripper",
    options: [
      ["free", "any way"],
      ["down", "downwards"],
    ],
    get: () => figure.state.tool,
    set: (tool) => figure.set({ angles: now(), tool }),
  });
  figure.controls.slider({
    label: "Turn about its axis",
    ...{ min: -3.1416, max: 3.1416, step: 0.01, format: degrees },
    get: () => figure.state.turn,
    set: (turn) => figure.set({ angles: now(), turn }),
    enabled: () => figure.state.tool === "down",
  });
  figure.controls.toggle({ label: "Limits", get: () => figure.state.limits, set: (limits) => figure.set({ limits }) });
  figure.motion("Bounce the ball", (seconds) => ({ angles: now(), ball: bounce(seconds) }));
  figure.controls.button({ label: "Start again", press: () => figure.reset() });

  // Forward kinematics: angles by hand.
  figure.controls.columns();
  for (const [n, { name, min, max }] of JOINTS.entries()) {
    figure.controls.slider({
      label: name.charAt(0).toUpperCase() + name.slice(1),
      ...{ min, max, step: 0.01, format: degrees },
      get: () => now()[n]!,
      set(angle) {
        const angles = now();
        angles[n] = angle;
        bend(pose.reset(), angles);
        figure.set({ angles, ball: grip(), tool: "free" });
      },
    });
  }
}

await start((core, list) => {
  arm(core, list);
  ownRobot(list);
});
