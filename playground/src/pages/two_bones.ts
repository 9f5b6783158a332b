/** The page Two bones: the triangle of an arm and its target, in the plane and in space. */

import type { Chain2d, Core, DrawList, Pose, Report, Skeleton, TwoBone } from "sinew/core";

import { literal, type Code } from "../figure/copy.ts";
import { choice, flag, number, point2, point3, rounded, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { drawDrop, drawFloor } from "../figure/floor.ts";
import type { Theme } from "../figure/theme.ts";
import { apart, coordinates, degrees, fixed } from "../figure/format.ts";
import { planeView, spaceView, type Point3 } from "../figure/view.ts";
import { start } from "../page.ts";
import { bone, circle, clamp, COLORS, CROSS, dashed, flat, middle, PALE, polar, type Xy, type Xyz } from "../shapes.ts";

type Side = "left" | "right";

const FAR = 10;
const LENGTH = { min: 0.2, max: 1.6 };
/** Half the width of bones in the plane: so much, but no less than so many pixels. */
const halfWidth = (pixel: number) => Math.max(0.06, 6 * pixel);

const sides = {
  label: "Bends",
  options: [
    ["left", "left"],
    ["right", "right"],
  ] as const,
};

/** The formulas under a figure, with their present numbers. */
function sums(figure: HTMLElement, rows: readonly (readonly [formula: string, value: string])[]): void {
  const element = figure.querySelector("[data-sums]");
  if (element === null) return;
  while (element.children.length < rows.length) element.append(document.createElement("p"));
  rows.forEach(([formula, value], n) => {
    const row = element.children[n]!;
    row.replaceChildren(formula, " ", Object.assign(document.createElement("strong"), { textContent: value }));
  });
}

// The triangle

function triangle(core: Core, list: DrawList): void {
  const fields = {
    root: point2([-0.95, -0.5], FAR),
    target: point2([0.75, 0.0], FAR),
    upper: number(1.15, LENGTH),
    lower: number(0.95, LENGTH),
    side: choice<Side>("left", ["left", "right"]),
  };
  type State = StateOf<typeof fields>;
  let limb: ReturnType<typeof Chain2d.twoBone>;
  let other: typeof limb;
  /** The target's direction, and the inner angles at the root and at the joint. */
  let angles = { target: 0, root: 0, joint: 0 };
  const figure = new Figure({
    id: "triangle",
    fields,
    list,
    solve({ root, target, upper, lower, side }) {
      limb = core.Chain2d.twoBone(root, upper, lower, target, side);
      other = core.Chain2d.twoBone(root, upper, lower, target, side === "left" ? "right" : "left");
      // Not from the engine: what the formulas of the page say.
      const r = clamp(apart(root, target), Math.abs(upper - lower), upper + lower);
      const inner = (a: number, b: number, opposite: number) => Math.acos(clamp((a * a + b * b - opposite * opposite) / (2 * a * b), -1, 1));
      angles = {
        target: Math.atan2(target[1] - root[1], target[0] - root[0]),
        root: r > 0 ? inner(upper, r, lower) : 0,
        joint: inner(upper, lower, r),
      };
      const sign = side === "left" ? 1 : -1;
      sums(figure.element, [
        ["direction of the target", `φ = ${degrees(angles.target)}`],
        ["cos α = (a² + r² − b²) / 2ar", `α = ${degrees(angles.root)}`],
        ["cos β = (a² + b² − r²) / 2ab", `β = ${degrees(angles.joint)}`],
        ["distance of the target", `r = ${fixed(apart(root, target))}`],
        ["angle of the upper bone", `φ ${sign > 0 ? "+" : "−"} α = ${degrees(angles.target + sign * angles.root)}`],
        ["angle of the forearm", `${sign > 0 ? "β − 180°" : "180° − β"} = ${degrees(-sign * (Math.PI - angles.joint))}`],
      ]);
    },
    read({ root, target, upper, lower }) {
      const out = limb.outOfReach > 0 ? `; ${fixed(limb.outOfReach)} out of reach` : "";
      return `a ${fixed(upper)}, b ${fixed(lower)}, r ${fixed(apart(root, target))}${out}`;
    },
    code: {
      typescript: ({ root, target, upper, lower, side }: State) => `import { load } from "sinew/core";

const { Chain2d } = await load();
const limb = Chain2d.twoBone([${root.map(rounded).join(", ")}], ${rounded(upper)}, ${rounded(lower)}, [${target.map(rounded).join(", ")}], "${side}");

const [x, y] = limb.end;
console.log(x, y);
`,
      rust: ({ root, target, upper, lower, side }: State) => `use sinew::{
    glam::Vec2,
    planar::{BendSide2d, Chain2dError, two_bone},
};

fn main() -> Result<(), Chain2dError> {
    let (root, target) = (Vec2::new(${root.map(literal).join(", ")}), Vec2::new(${target.map(literal).join(", ")}));
    let limb = two_bone(root, ${literal(upper)}, ${literal(lower)}, target, BendSide2d::${side === "left" ? "Left" : "Right"})?;

    println!("{} {}", limb.end.x, limb.end.y);
    Ok(())
}
`,
    },
    probe: () => ({ ...limb, tip: limb.end, angles }),
  });
  const pane = figure.pane("main", {
    view: planeView({ width: 2.9, height: 1.9 }),
    draw(list, theme, pixel) {
      const { root, target, side } = figure.state;
      const width = halfWidth(pixel);
      const [from, elbow, end] = [flat(root), flat(limb.middle), flat(limb.end)];
      list.push("polyline", "path", [...from, ...flat(other.middle), ...end], { color: PALE[theme] });
      dashed(list, from, flat(target), "reference");
      const sign = side === "left" ? 1 : -1;
      const direction = (angle: number): Xyz => [Math.cos(angle), Math.sin(angle), 0];
      if (apart(root, target) > 0.25) {
        const right: Xyz = [1, 0, 0];
        const far: Xyz = polar(root, 0, 0.62);
        list.push("segments", "reference", [...from, ...far]);
        list.angle(from, [right, direction(angles.target)], 0.5, "φ", { color: PALE[theme] });
        list.angle(from, [direction(angles.target), direction(limb.upper)], 0.33, "α");
        const back = [from, end].map((at) => at.map((value, n) => value - elbow[n]!)) as [number[], number[]];
        list.angle(elbow, back, 0.24, "β");
      }
      bone(list, from, elbow, COLORS[theme].blue, width);
      bone(list, elbow, end, COLORS[theme].orange, width);
      // Sides have their letters outside the triangle.
      const out = (angle: number, outward: number): Xyz => direction(angle + (outward * Math.PI) / 2);
      list.label("joint", middle(from, elbow), "a", out(limb.upper, sign));
      list.label("joint", middle(elbow, end), "b", out(limb.upper + limb.lower, sign));
      list.label("joint", middle(from, flat(target)), "r", out(angles.target, -sign));
      for (const at of [elbow, end]) list.push("discs", "joint", at, { radius: 0.85 * width });
      if (limb.outOfReach > 0) dashed(list, end, flat(target), "residual");
      list.goal(flat(target), CROSS * pixel);
    },
  });
  pane.handle({ name: "Root", look: "base", at: () => figure.state.root, move: ([x, y]) => figure.set({ root: [x, y] }) });
  pane.handle({ name: "Target", look: "target", at: () => figure.state.target, move: ([x, y]) => figure.set({ target: [x, y] }) });
  figure.controls.choice<Side>({ ...sides, get: () => figure.state.side, set: (side) => figure.set({ side }) });
  for (const [name, label] of [["upper", "Length a"], ["lower", "Length b"]] as const) {
    figure.controls.slider({ label, ...LENGTH, step: 0.01, get: () => figure.state[name], set: (value) => figure.set({ [name]: value }) });
  }
}

// Arms in space

/** Positions of an arm's joints in the rest pose, in metres, each from the one before. */
type Joints = Readonly<Record<"shoulder" | "elbow" | "hand", Xyz>>;

interface Arm {
  skeleton: Skeleton;
  pose: Pose;
  limb: TwoBone;
  at(joint: "shoulder" | "elbow" | "hand"): Xyz;
}

function arm(core: Core, positions: Joints): Arm {
  const joints = Object.entries(positions).map(([name, position], n) => ({ name, position, ...(n > 0 ? { parent: n - 1 } : {}) }));
  const skeleton = core.Skeleton.from(joints);
  const pose = skeleton.rest();
  return {
    skeleton,
    pose,
    limb: new core.TwoBone(skeleton, "shoulder", "elbow", "hand"),
    at: (joint) => Array.from(pose.model(joint).position) as unknown as Xyz,
  };
}

interface ArmSolve {
  target: Xyz;
  pole: Xyz;
  /** Whether the pole is a direction. */
  direction: boolean;
  swivel: number;
  soft: number;
}

/** Programs that solve an arm, and print the hand's position. */
function armCode<S>({ shoulder, elbow, hand }: Joints, solve: (state: S) => ArmSolve): Code<S> {
  return {
    typescript(state) {
      const { target, pole, direction, swivel, soft } = solve(state);
      const options = [
        `position: [${target.map(rounded).join(", ")}]`,
        `${direction ? "poleDirection" : "pole"}: [${pole.map(rounded).join(", ")}]`,
        ...(swivel === 0 ? [] : [`swivel: ${rounded(swivel)}`]),
      ];
      return `import { load } from "sinew/core";

const { Skeleton, TwoBone } = await load();
const skeleton = Skeleton.from([
  { name: "shoulder", position: [${shoulder.join(", ")}] },
  { name: "elbow", parent: "shoulder", position: [${elbow.join(", ")}] },
  { name: "hand", parent: "elbow", position: [${hand.join(", ")}] },
]);
const pose = skeleton.rest();
const arm = new TwoBone(skeleton, "shoulder", "elbow", "hand");
arm.solve(pose, { ${options.join(", ")} }${soft === 0 ? "" : `, { soft: ${rounded(soft)} }`});

const [x, y, z] = pose.model("hand").position;
console.log(x, y, z);
`;
    },
    rust(state) {
      const { target, pole, direction, swivel, soft } = solve(state);
      const vector = (at: readonly number[]) => `Vec3::new(${at.map(literal).join(", ")})`;
      const given = [
        `Goal::position(${vector(target)})`,
        `with_pole(Pole::${direction ? "Direction" : "Point"}(${vector(pole)}))`,
        ...(swivel === 0 ? [] : [`with_swivel(${literal(swivel)})`]),
      ];
      return `use std::{error::Error, sync::Arc};

use sinew::{
    Goal, JointTransform, Pole, Pose, Skeleton,
    glam::Vec3,
    solve::{LimbOptions, TwoBone},
};

fn main() -> Result<(), Box<dyn Error>> {
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let mut builder = Skeleton::builder();
    let shoulder = builder.add("shoulder", None, at(${shoulder.map(literal).join(", ")}));
    let elbow = builder.add("elbow", Some(shoulder), at(${elbow.map(literal).join(", ")}));
    builder.add("hand", Some(elbow), at(${hand.map(literal).join(", ")}));
    let (skeleton, joints) = builder.build()?;
    let skeleton = Arc::new(skeleton);

    let arm = TwoBone::new(&skeleton, joints[0], joints[1], joints[2])?;
    let mut pose = Pose::rest(&skeleton);
    let goal = ${given.join(".")};
    arm.solve(&mut pose, &goal, &LimbOptions::new()${soft === 0 ? "" : `.with_soft(${literal(soft)})`})?;

    let hand = pose.position(joints[2]);
    println!("{} {} {}", hand.x, hand.y, hand.z);
    Ok(())
}
`;
    },
  };
}

// Out of reach

/** The limb of the figure about reach: positions of its joints at rest. Its root is at 0. */
const LIMB: Joints = { shoulder: [0, 0, 0], elbow: [1, 0, 0], hand: [0.8, 0, 0] };
const SUM = LIMB.elbow[0] + LIMB.hand[0];
const PLOT = { from: 0.6, to: 1.25, steps: 130 };

function reach(core: Core, list: DrawList): void {
  const fields = { target: point2([1.62, 0.62], FAR), soft: number(0, { min: 0, max: 0.3 }) };
  type State = StateOf<typeof fields>;
  const body = arm(core, LIMB);
  /** Direction to the left of the target's. */
  const pole = ([x, y]: Xy): Xyz => (x === 0 && y === 0 ? [0, 1, 0] : [-y, x, 0]);
  const solve = (target: Xy, soft: number): Report => {
    body.pose.reset();
    return body.limb.solve(body.pose, { position: flat(target), poleDirection: pole(target) }, { soft });
  };
  /** Bend of the limb for targets ever further away, with a soft zone. */
  const bends = (soft: number): Xy[] =>
    Array.from({ length: PLOT.steps + 1 }, (_, n) => {
      const share = PLOT.from + ((PLOT.to - PLOT.from) * n) / PLOT.steps;
      solve([share * SUM, 0], soft);
      return [share, bend()] as const;
    });
  const bend = () => 2 * Math.acos(clamp(Math.abs(body.pose.rotations[4 * body.skeleton.index("elbow") + 3]!), 0, 1));
  let report: Report;
  let [curve, drawn]: [Xy[], number] = [[], -1];
  const figure = new Figure({
    id: "reach",
    fields,
    list,
    solve({ target, soft }) {
      if (soft !== drawn) [curve, drawn] = [bends(soft), soft];
      report = solve(target, soft);
    },
    read({ target }) {
      const left = report.positionResidual > report.positionTolerance ? `; hand ${fixed(report.positionResidual)} behind the target` : "";
      return `Target at ${Math.round((100 * Math.hypot(...target)) / SUM)} % of the reach; bent by ${degrees(bend())}${left}`;
    },
    code: armCode(LIMB, ({ target, soft }: State) => ({ target: flat(target), pole: pole(target), direction: true, swivel: 0, soft })),
    probe: () => ({ tip: body.at("hand"), elbow: body.at("elbow"), bend: bend(), outOfReach: report.outOfReach, curve }),
  });
  const pane = figure.pane("main", {
    view: planeView({ width: 4.6, height: 4.1 }),
    draw(list, theme, pixel) {
      const { target } = figure.state;
      const width = halfWidth(pixel);
      for (const radius of [SUM, LIMB.elbow[0] - LIMB.hand[0]]) {
        list.push("polyline", "limit", circle((angle) => polar([0, 0], angle, radius)), { color: PALE[theme] });
      }
      const [shoulder, elbow, hand] = [body.at("shoulder"), body.at("elbow"), body.at("hand")];
      bone(list, shoulder, elbow, COLORS[theme].blue, width);
      bone(list, elbow, hand, COLORS[theme].orange, width);
      for (const at of [shoulder, elbow, hand]) list.push("discs", "joint", at, { radius: 0.85 * width });
      list.solvedGoal({ position: flat(target) }, hand, report, CROSS * pixel);
    },
  });
  pane.handle({ name: "Target", look: "target", at: () => figure.state.target, move: ([x, y]) => figure.set({ target: [x, y] }) });
  const width = 4.6;
  const height = 4.1;
  const plot = planeView({ width, height });
  /** A point of the plot: share of the reach, bend in radians. */
  const onto = (share: number, bend: number): Xyz => [
    -1.65 + (3.5 * (share - PLOT.from)) / (PLOT.to - PLOT.from),
    -1.35 + (2.5 * bend) / curve[0]![1],
    0,
  ];
  figure.pane("plot", {
    view: plot,
    draw(list, theme) {
      const color = PALE[theme];
      const base = -0.08 * curve[0]![1];
      list.push("segments", "reference", [...onto(PLOT.from, 0), ...onto(PLOT.to, 0), ...onto(PLOT.from, 0), ...onto(PLOT.from, curve[0]![1])], { color });
      list.push("segments", "reference", [...onto(1, 0), ...onto(1, curve[0]![1])], { color });
      list.push("polyline", "angle", curve.flatMap(([share, bend]) => onto(share, bend)));
      list.label("joint", onto(1, base), "full reach", [0, -1, 0]);
      list.label("joint", onto(PLOT.from, base), `${Math.round(100 * PLOT.from)} %`, [0, -1, 0]);
      list.label("joint", onto(PLOT.from, curve[0]![1]), degrees(curve[0]![1]), [0, 1, 0]);
      const now = clamp(Math.hypot(...figure.state.target) / SUM, PLOT.from, PLOT.to);
      const nearest = curve.reduce((best, point) => (Math.abs(point[0] - now) < Math.abs(best[0] - now) ? point : best));
      list.push("discs", "goal", onto(...nearest), { radius: 0.07 });
    },
  });
  figure.controls.slider({
    label: "Soft zone",
    ...{ min: 0, max: 0.3, step: 0.01 },
    format: (value) => `${Math.round(100 * value)} %`,
    get: () => figure.state.soft,
    set: (soft) => figure.set({ soft }),
  });
  figure.motion("Move in and out", (seconds) => {
    const size = SUM * (0.93 + 0.24 * Math.sin(1.6 * seconds));
    return { target: [size * Math.cos(0.35), size * Math.sin(0.35)] as const };
  });
}

// In space

/** An arm on a column. */
const COLUMN: Joints = { shoulder: [0, 0.9, 0], elbow: [0.72, 0, 0], hand: [0.62, 0, 0] };

/** The floor, the column and the bones of the arm, and the line from the target to the floor. */
function drawArm(list: DrawList, arm: Arm, target: Xyz, theme: Theme): void {
  drawFloor(list, theme, 1.5);
  const [shoulder, elbow, hand] = [arm.at("shoulder"), arm.at("elbow"), arm.at("hand")];
  bone(list, [0, 0, 0], shoulder, COLORS[theme].gray, 0.05);
  bone(list, shoulder, elbow, COLORS[theme].blue, 0.055);
  bone(list, elbow, hand, COLORS[theme].orange, 0.05);
  for (const at of [shoulder, elbow, hand]) list.push("discs", "joint", at, { radius: 0.045 });
  drawDrop(list, target);
}

/** A target stays above the floor. */
const above = ([x, y, z]: Point3): Xyz => [x, Math.max(y, 0), z];

type Stage = "rest" | "turned" | "solved";

function space(core: Core, list: DrawList): void {
  const fields = {
    target: point3([0.62, 1.15, 0.7], FAR),
    stage: choice<Stage>("solved", ["rest", "turned", "solved"]),
    side: choice<"up" | "down">("up", ["up", "down"]),
  };
  type State = StateOf<typeof fields>;
  const body = arm(core, COLUMN);
  let [yaw, report]: [number, Report | undefined] = [0, undefined];
  const pole = ({ side }: State): Xyz => [0, side === "up" ? 1 : -1, 0];
  const pitch = (): number => Math.atan2(figure.state.target[1] - COLUMN.shoulder[1], Math.hypot(figure.state.target[0], figure.state.target[2]));
  const figure = new Figure({
    id: "space",
    fields,
    list,
    solve(state) {
      const { target, stage } = state;
      body.pose.reset();
      report = undefined;
      // About y, from x, so that a turn to the left is positive.
      yaw = Math.atan2(-target[2], target[0]);
      if (stage === "turned") body.pose.rotations.set([0, Math.sin(yaw / 2), 0, Math.cos(yaw / 2)]);
      if (stage === "solved") report = body.limb.solve(body.pose, { position: target, poleDirection: pole(state) });
    },
    read({ target, stage }) {
      if (stage === "rest") return `Target at ${coordinates(target)}; the arm is at rest`;
      if (stage === "turned") return `Target at ${coordinates(target)}; turned by ${degrees(yaw)} about the vertical`;
      return `Target at ${coordinates(target)}; turned by ${degrees(yaw)}, up by ${degrees(pitch())}; hand ${fixed(apart(body.at("hand"), target))} away`;
    },
    code: armCode(COLUMN, (state: State) => ({ target: state.target, pole: pole(state), direction: true, swivel: 0, soft: 0 })),
    probe: () => ({ tip: body.at("hand"), elbow: body.at("elbow"), shoulder: body.at("shoulder"), yaw }),
  });
  const pane = figure.pane("main", {
    view: spaceView({ target: [0.1, 0.66, 0.1], radius: 1.42, yaw: -12, pitch: 22 }),
    draw(list, theme, pixel) {
      const { target, stage } = figure.state;
      const toward = (radius: number, height: number): Xyz => [radius * Math.cos(yaw), height, -radius * Math.sin(yaw)];
      if (stage !== "rest") {
        // The upright plane through column and target, and the turn on the floor.
        const [a, b, c, d] = [toward(0, 0), toward(1.5, 0), toward(1.5, 1.65), toward(0, 1.65)];
        list.push("area", "angle", [...a, ...b, ...c, ...a, ...c, ...d]);
        list.push("polyline", "angle", [...a, ...b, ...c, ...d, ...a]);
        list.push("segments", "reference", [0, 0, 0, 0.75, 0, 0]);
        if (Math.abs(yaw) > 0.02) list.angle([0, 0, 0], [[1, 0, 0], toward(1, 0)], 0.6, degrees(yaw));
      }
      if (stage === "solved") {
        // From the level up, or down, to the target.
        const shoulder = body.at("shoulder");
        const level = toward(1, 0);
        const line: Xyz = [target[0] - shoulder[0], target[1] - shoulder[1], target[2] - shoulder[2]];
        list.push("segments", "reference", [...shoulder, ...toward(0.4, shoulder[1])]);
        if (Math.abs(pitch()) > 0.05) list.angle(shoulder, [level, line], 0.32, degrees(pitch()));
      }
      drawArm(list, body, target, theme);
      if (report) list.solvedGoal({ position: target }, body.at("hand"), report, CROSS * pixel);
      else list.goal(target, CROSS * pixel);
    },
  });
  pane.handle({ name: "Target", look: "target", at: () => figure.state.target, move: (to) => figure.set({ target: above(to) }) });
  figure.controls.choice<Stage>({
    label: "Show",
    options: [
      ["rest", "rest"],
      ["turned", "turned"],
      ["solved", "bent"],
    ],
    get: () => figure.state.stage,
    set: (stage) => figure.set({ stage }),
  });
  figure.controls.choice<"up" | "down">({
    label: "Elbow",
    options: [
      ["up", "up"],
      ["down", "down"],
    ],
    get: () => figure.state.side,
    set: (side) => figure.set({ side }),
  });
}

// The pole

function poles(core: Core, list: DrawList): void {
  const fields = {
    target: point3([0.9, 0.85, 0.35], FAR),
    pole: point3([-0.1, 1.75, 0.55], FAR),
    held: flag(true),
    swivel: number(0, { min: -3.1416, max: 3.1416 }),
  };
  type State = StateOf<typeof fields>;
  const body = arm(core, COLUMN);
  let report: Report;
  /** The circle on which the elbow may be: its centre, its radius, and two directions across its axis. */
  let ring: { center: Xyz; radius: number; across: [Xyz, Xyz] } | undefined;
  const figure = new Figure({
    id: "pole",
    fields,
    list,
    solve({ target, pole, held, swivel }) {
      body.pose.reset();
      report = body.limb.solve(body.pose, { position: target, ...(held ? { pole } : { poleDirection: [0, -1, 0] }), swivel });
      const [from, elbow, to] = [body.at("shoulder"), body.at("elbow"), body.at("hand")];
      const [line, out] = [to, elbow].map((at) => at.map((value, n) => value - from[n]!)) as [number[], number[]];
      const size = Math.hypot(...line);
      if (size === 0) return void (ring = undefined);
      const axis = line.map((value) => value / size);
      const along = axis.reduce((sum, value, n) => sum + value * out[n]!, 0);
      const away = out.map((value, n) => value - along * axis[n]!);
      const radius = Math.hypot(...away);
      if (radius < 1e-4) return void (ring = undefined);
      const u = away.map((value) => value / radius) as unknown as Xyz;
      const v: Xyz = [axis[1]! * u[2] - axis[2]! * u[1], axis[2]! * u[0] - axis[0]! * u[2], axis[0]! * u[1] - axis[1]! * u[0]];
      ring = { center: from.map((value, n) => value + along * axis[n]!) as unknown as Xyz, radius, across: [u, v] };
    },
    read: ({ target, held, swivel }) =>
      `Target at ${coordinates(target)}; hand ${fixed(apart(body.at("hand"), target))} away; ` +
      `${held ? "elbow towards the pole" : "elbow down"}${swivel === 0 ? "" : `, turned on by ${degrees(swivel)}`}`,
    code: armCode(COLUMN, ({ target, pole, held, swivel }: State) => ({
      ...{ target, swivel, soft: 0 },
      ...(held ? { pole, direction: false } : { pole: [0, -1, 0] as const, direction: true }),
    })),
    probe: () => ({ tip: body.at("hand"), elbow: body.at("elbow"), shoulder: body.at("shoulder") }),
  });
  const pane = figure.pane("main", {
    view: spaceView({ target: [0.15, 0.72, 0.1], radius: 1.4, yaw: 20, pitch: 20 }),
    draw(list, theme, pixel) {
      const { target, pole, held } = figure.state;
      if (ring) {
        const { center, radius, across } = ring;
        const on = (angle: number) =>
          center.map((value, n) => value + radius * (across[0][n]! * Math.cos(angle) + across[1][n]! * Math.sin(angle))) as unknown as Xyz;
        list.push("polyline", "path", circle(on));
        dashed(list, body.at("shoulder"), body.at("hand"), "reference");
        if (held) list.pole(center, pole, 0.05);
      }
      drawArm(list, body, target, theme);
      list.solvedGoal({ position: target }, body.at("hand"), report, CROSS * pixel);
    },
  });
  pane.handle({
    name: "Pole",
    look: "joint",
    at: () => (figure.state.held ? figure.state.pole : undefined),
    move: (to) => figure.set({ pole: above(to) }),
  });
  pane.handle({ name: "Target", look: "target", at: () => figure.state.target, move: (to) => figure.set({ target: above(to) }) });
  figure.controls.toggle({ label: "Pole", get: () => figure.state.held, set: (held) => figure.set({ held }) });
  figure.controls.slider({
    label: "Swivel",
    ...{ min: -Math.PI, max: Math.PI, step: 0.01 },
    format: degrees,
    get: () => figure.state.swivel,
    set: (swivel) => figure.set({ swivel }),
  });
}

await start((core, list) => {
  triangle(core, list);
  reach(core, list);
  space(core, list);
  poles(core, list);
});
