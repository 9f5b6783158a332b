/** The page Limits: a hinge, an ellipse with a twist, and a telescope whose parts slide. */

import type { Chain, Core, DrawList, Pose, Report, Skeleton } from "sinew/core";

import { list, literal, reals } from "../figure/copy.ts";
import { choice, number, numbers, point2, point3, rounded, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { drawDrop, drawFloor } from "../figure/floor.ts";
import { apart, coordinates, degrees, fixed } from "../figure/format.ts";
import type { Theme } from "../figure/theme.ts";
import { planeView, spaceView } from "../figure/view.ts";
import { start } from "../page.ts";
import { bone, clamp, COLORS, CROSS, dashed, flat, PALE, polar, triple, type Xyz } from "../shapes.ts";

const FAR = 10;
/** Limits stay this far from half a turn, where the two ends of a range would meet. */
const HALF_TURN = 3.1;

const about = (angle: number): number => Math.atan2(Math.sin(angle), Math.cos(angle));

// A hinge

/** A finger on a fixed bone: its joints, and the lengths of its bones, along x at rest. */
const FINGER = { root: [-1.3, -0.25, 0], bones: [0.7, 0.6, 0.5, 0.4] } as const;
/** Distance of the knobs of limits from their joint, and the radius of wedges. */
const WEDGE = 0.27;

function hinge(core: Core, drawList: DrawList): void {
  const range = { min: -HALF_TURN, max: HALF_TURN };
  const fields = {
    target: point2([0.35, 0.75], FAR),
    min: numbers([-0.2, -0.05, -0.05], range, { min: 3, max: 3 }),
    max: numbers([1.5, 1.7, 1.2], range, { min: 3, max: 3 }),
  };
  type State = StateOf<typeof fields>;
  let made: { skeleton: Skeleton; pose: Pose; chain: Chain; key: string } | undefined;
  let report: Report;
  const make = ({ min, max }: State) => {
    const key = `${min} ${max}`;
    if (made?.key === key) return made;
    for (const old of made ? [made.chain, made.pose, made.skeleton] : []) old.free();
    const skeleton = core.Skeleton.from([
      { name: "palm", position: FINGER.root, limits: { fixed: true } },
      ...[0, 1, 2].map((n) => ({
        ...{ name: `joint ${n + 1}`, parent: n, position: [FINGER.bones[n]!, 0, 0] },
        limits: { hinge: { axis: [0, 0, 1], min: min[n]!, max: max[n]! } },
      })),
      { name: "tip", parent: 3, position: [FINGER.bones[3], 0, 0] },
    ]);
    return (made = { skeleton, pose: skeleton.rest(), chain: new core.Chain(skeleton, "palm", "tip"), key });
  };
  const at = (joint: number): Xyz => triple(made!.pose.model(joint).position);
  const angle = (joint: number): number => 2 * Math.atan2(made!.pose.rotations[4 * joint + 2]!, made!.pose.rotations[4 * joint + 3]!);
  const figure = new Figure({
    id: "hinge",
    fields,
    list: drawList,
    valid: ({ min, max }) => min.every((low, n) => low <= max[n]!),
    solve(state) {
      const { pose, chain } = make(state);
      pose.reset();
      report = chain.solve(pose, { position: flat(state.target) });
    },
    read({ target }) {
      const angles = [1, 2, 3].map((n) => degrees(about(angle(n)))).join(", ");
      const left = report.reached ? "the tip is there" : `the tip is ${fixed(report.positionResidual)} away`;
      return `Target at ${coordinates(target)}; ${left}; joints at ${angles}`;
    },
    code: {
      typescript: ({ target, min, max }: State) => `import { load } from "sinew/core";

const { Skeleton, Chain } = await load();
const hinge = (min, max) => ({ hinge: { axis: [0, 0, 1], min, max } });
const skeleton = Skeleton.from([
  { name: "palm", position: [${list(FINGER.root)}], limits: { fixed: true } },
${[0, 1, 2].map((n) => `  { name: "joint ${n + 1}", parent: ${n}, position: [${FINGER.bones[n]}, 0, 0], limits: hinge(${rounded(min[n]!)}, ${rounded(max[n]!)}) },`).join("\n")}
  { name: "tip", parent: 3, position: [${FINGER.bones[3]}, 0, 0] },
]);
const pose = skeleton.rest();
const report = new Chain(skeleton, "palm", "tip").solve(pose, { position: [${list(flat(target))}] });
if (!report.reached) console.error(\`\${report.positionResidual} away\`);

const [x, y, z] = pose.model("tip").position;
console.log(x, y, z);
`,
      rust: ({ target, min, max }: State) => `use std::{error::Error, sync::Arc};

use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::{DVec3, Vec3},
    joint::{Dof, Joint},
    solve::{Auto, ChainSolver, IterativeOptions},
};

fn main() -> Result<(), Box<dyn Error>> {
    let at = |x, y| JointTransform::from_translation(Vec3::new(x, y, 0.0));
    let mut builder = Skeleton::builder();
    let mut last = builder.add("palm", None, at(${reals(FINGER.root.slice(0, 2))}));
    for (n, length) in [${reals(FINGER.bones.slice(0, 3))}].into_iter().enumerate() {
        last = builder.add(format!("joint {}", n + 1), Some(last), at(length, 0.0));
    }
    builder.add("tip", Some(last), at(${literal(FINGER.bones[3])}, 0.0));
    let (mut skeleton, joints) = builder.build()?;
    skeleton.set_joint(joints[0], Joint::FIXED)?;
    let limits = [${[0, 1, 2].map((n) => `(${literal(min[n]!)}, ${literal(max[n]!)})`).join(", ")}];
    for (joint, (min, max)) in joints[1..].iter().zip(limits) {
        skeleton.set_joint(*joint, Joint::hinge(DVec3::Z, Dof::range(min, max)))?;
    }
    let skeleton = Arc::new(skeleton);

    let chain = Auto::new(&skeleton, joints[0], joints[4])?;
    let mut pose = Pose::rest(&skeleton);
    let goal = Goal::position(Vec3::new(${reals(flat(target))}));
    let report = chain.solve(&mut Workspace::new(), &mut pose, &goal, &IterativeOptions::new())?;
    if !report.reached() {
        eprintln!("{} away", report.position_residual);
    }

    let tip = pose.position(joints[4]);
    println!("{} {} {}", tip.x, tip.y, tip.z);
    Ok(())
}
`,
    },
    probe: () => ({ tip: at(4), points: [0, 1, 2, 3, 4].map(at), angles: [1, 2, 3].map((n) => about(angle(n))), reached: report.reached }),
  });
  /** Direction from which a joint's angle is measured: that of the bone before it. */
  const zero = (joint: number): number => {
    const [a, b] = [at(joint - 1), at(joint)];
    return Math.atan2(b[1] - a[1], b[0] - a[0]);
  };
  const pane = figure.pane("main", {
    view: planeView({ width: 3.6, height: 2.1, center: [0, 0.25] }),
    draw(list, theme, pixel) {
      const width = Math.max(0.05, 6 * pixel);
      list.limits(made!.pose, WEDGE, { joints: [1, 2, 3] });
      bone(list, at(0), at(1), COLORS[theme].gray, width);
      for (const n of [1, 2, 3]) {
        bone(list, at(n), at(n + 1), COLORS[theme].blue, width);
        list.push("discs", "joint", at(n), { radius: 0.8 * width });
      }
      if (!report.reached) dashed(list, at(4), flat(figure.state.target), "residual");
      list.goal(flat(figure.state.target), CROSS * pixel);
    },
  });
  for (const n of [0, 1, 2]) {
    for (const edge of ["min", "max"] as const) {
      const set = (value: number) => {
        const { min, max } = figure.state;
        const values = [...figure.state[edge]];
        values[n] = clamp(value, edge === "min" ? -HALF_TURN : min[n]!, edge === "min" ? max[n]! : HALF_TURN);
        figure.set({ [edge]: values });
      };
      pane.handle({
        name: `${edge === "min" ? "Lower" : "Upper"} limit of joint ${n + 1}`,
        look: "edge",
        at: () => polar([at(n + 1)[0], at(n + 1)[1]], zero(n + 1) + figure.state[edge][n]!, 1.3 * WEDGE),
        move([x, y]) {
          const joint = at(n + 1);
          const turn = about(Math.atan2(y - joint[1], x - joint[0]) - zero(n + 1));
          const now = figure.state[edge][n]!;
          // Half a turn is a wall: a pointer beyond it does not come back on the other side.
          set(Math.abs(turn - now) > Math.PI ? Math.sign(now) * HALF_TURN : turn);
        },
        step: Math.PI / 36,
        keys: ([x, y]) => set(figure.state[edge][n]! + x + y),
      });
    }
  }
  pane.handle({ name: "Target", look: "target", at: () => figure.state.target, move: ([x, y]) => figure.set({ target: [x, y] }) });
  figure.controls.button({ label: "Start again", press: () => figure.reset() });
}

// An ellipse and a twist

const BONE = 0.9;
const FOOT: Xyz = [0, 0.25, 0];
const RIM = 0.55;
const SWING = { min: -2.6, max: 2.6 };
/** Smallest half-axis: an ellipse has some width to every side. */
const HALF_AXIS = 0.02;

function ball(core: Core, drawList: DrawList): void {
  const fields = {
    target: point3([0.3, 0.95, 0.5], FAR),
    x: numbers([-0.45, 0.95], SWING, { min: 2, max: 2 }),
    z: numbers([-0.35, 0.6], SWING, { min: 2, max: 2 }),
    range: number(0.7, { min: 0, max: 3 }),
    twist: number(0.3, { min: -3, max: 3 }),
  };
  type State = StateOf<typeof fields>;
  let made: { skeleton: Skeleton; pose: Pose; aim: InstanceType<Core["Aim"]>; key: string } | undefined;
  let report: Report;
  const make = ({ x, z, range }: State) => {
    const key = `${x} ${z} ${range}`;
    if (made?.key === key) return made;
    for (const old of made ? [made.aim, made.pose, made.skeleton] : []) old.free();
    const dof = ([min, max]: readonly number[]) => ({ min: min!, max: max! });
    const ball = {
      ...{ twistAxis: [0, 1, 0], swingAxis: [1, 0, 0], twist: { min: -range, max: range } },
      // The second swing axis is y x x = -z, about which a bone along y swings towards x.
      swing: [dof(x), dof(z)] as [{ min: number; max: number }, { min: number; max: number }],
    };
    const skeleton = core.Skeleton.from([{ name: "ball", position: FOOT, limits: { ball } }, { name: "tip", parent: 0, position: [0, BONE, 0] }]);
    return (made = { skeleton, pose: skeleton.rest(), aim: new core.Aim(skeleton, "ball", [0, 1, 0]), key });
  };
  /** The direction of the flag that is asked for: a twist about the bone, as far as that is upright. */
  const up = ({ twist }: State): Xyz => [Math.sin(twist), 0, Math.cos(twist)];
  const tip = () => triple(made!.pose.model("tip").position);
  const figure = new Figure({
    id: "ball",
    fields,
    list: drawList,
    valid: ({ x, z }) => [x, z].every(([low, high]) => low! <= -HALF_AXIS && high! >= HALF_AXIS),
    solve(state) {
      const { pose, aim } = make(state);
      pose.reset();
      report = aim.solve(pose, state.target, { up: { axis: [0, 0, 1], direction: up(state) } });
    },
    read({ target }) {
      const off = report.rotationResidual > 1e-3 ? `${degrees(report.rotationResidual)} off, at the edge of what is allowed` : "the bone points at it";
      return `Target at ${coordinates(target)}; ${off}`;
    },
    code: {
      typescript: (state: State) => `import { load } from "sinew/core";

const { Skeleton, Aim } = await load();
const range = (min, max) => ({ min, max });
const swing = [range(${list(state.x)}), range(${list(state.z)})]; // about x and about y x x
const ball = { twistAxis: [0, 1, 0], swingAxis: [1, 0, 0], swing, twist: range(${list([-state.range, state.range])}) };
const skeleton = Skeleton.from([
  { name: "ball", position: [${list(FOOT)}], limits: { ball } },
  { name: "tip", parent: 0, position: [0, ${BONE}, 0] },
]);
const pose = skeleton.rest();
const up = { axis: [0, 0, 1], direction: [${list(up(state))}] };
new Aim(skeleton, "ball", [0, 1, 0]).solve(pose, [${list(state.target)}], { up });

const [x, y, z] = pose.model("tip").position;
console.log(x, y, z);
`,
      rust: (state: State) => `use std::{error::Error, sync::Arc};

use sinew::{
    JointTransform, Pose, Skeleton,
    glam::{DVec3, Vec3},
    joint::Joint,
    solve::{Aim, AimUp, Options},
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut builder = Skeleton::builder();
    let ball = builder.add("ball", None, JointTransform::from_translation(Vec3::new(${reals(FOOT)})));
    builder.add("tip", Some(ball), JointTransform::from_translation(Vec3::new(0.0, ${literal(BONE)}, 0.0)));
    let (mut skeleton, joints) = builder.build()?;
    let swing = [(${reals(state.x)}), (${reals(state.z)})]; // about x and about y x x
    skeleton.set_joint(joints[0], Joint::ball(DVec3::Y, DVec3::X, swing, (${reals([-state.range, state.range])})))?;
    let skeleton = Arc::new(skeleton);

    let mut aim = Aim::new(joints[0], Vec3::Y);
    aim.up = Some(AimUp { axis: Vec3::Z, direction: Vec3::new(${reals(up(state))}) });
    let mut pose = Pose::rest(&skeleton);
    aim.solve(&mut pose, Vec3::new(${reals(state.target)}), &Options::new())?;

    let tip = pose.position(joints[1]);
    println!("{} {} {}", tip.x, tip.y, tip.z);
    Ok(())
}
`,
    },
    probe: () => ({ tip: tip(), rotation: [...made!.pose.rotations.subarray(0, 4)], off: report.rotationResidual }),
  });
  const pane = figure.pane("main", {
    view: spaceView({ target: [0.05, 0.55, 0.1], radius: 0.85, yaw: 40, pitch: 24 }),
    draw(list, theme, pixel) {
      const { target } = figure.state;
      const { pose } = made!;
      drawFloor(list, theme, 0.8);
      list.limits(pose, RIM, { joints: [0] });
      const [from, to] = [FOOT, tip()];
      bone(list, from, to, COLORS[theme].blue, Math.max(0.035, 5 * pixel));
      // A flag on the bone, which shows its twist.
      const [x, y, z, w] = pose.rotations;
      const side: Xyz = [2 * (x! * z! + w! * y!), 2 * (y! * z! - w! * x!), 1 - 2 * (x! * x! + y! * y!)];
      const along = (share: number, out: number): Xyz => triple(from.map((value, n) => value + (to[n]! - value) * share + side[n]! * out));
      const [a, b, c] = [along(0.98, 0), along(0.72, 0), along(0.85, 0.2)];
      list.push("triangles", "preferred", [...a, ...b, ...c, ...a, ...c, ...b], { color: COLORS[theme].orange });
      drawDrop(list, target);
      // The line along which the bone looks.
      const reach = apart(from, target);
      const end = triple(from.map((value, n) => value + ((to[n]! - value) * reach) / BONE));
      if (apart(end, target) > 0.02) dashed(list, end, target, "residual");
      list.goal(target, CROSS * pixel);
    },
  });
  // The ends of the half-axes, on the rim.
  const ends = [
    ["x", 0, "towards −z"],
    ["x", 1, "towards z"],
    ["z", 0, "towards −x"],
    ["z", 1, "towards x"],
  ] as const;
  for (const [axis, end, label] of ends) {
    const set = (value: number) => {
      const range = [...figure.state[axis]];
      range[end] = end === 0 ? clamp(value, SWING.min, -HALF_AXIS) : clamp(value, HALF_AXIS, SWING.max);
      figure.set({ [axis]: range });
    };
    pane.handle({
      name: `Limit ${label}`,
      look: "edge",
      at() {
        const angle = figure.state[axis][end]!;
        const [out, height] = [RIM * Math.sin(angle), FOOT[1] + RIM * Math.cos(angle)];
        return axis === "x" ? [0, height, out] : [out, height, 0];
      },
      move([x, y, z]) {
        const angle = Math.atan2(axis === "x" ? z : x, y - FOOT[1]);
        // Beyond straight down, the pointer is at the other side's limit.
        if (Math.abs(angle - figure.state[axis][end]!) < Math.PI) set(angle);
      },
      step: Math.PI / 36,
      keys: ([x, y, z]) => set(figure.state[axis][end]! + x + y + z),
    });
  }
  pane.handle({
    name: "Target",
    look: "target",
    at: () => figure.state.target,
    move: ([x, y, z]) => figure.set({ target: [x, Math.max(y, 0), z] }),
  });
  figure.controls.slider({
    label: "Twist wanted",
    ...{ min: -3, max: 3, step: 0.01, format: degrees },
    get: () => figure.state.twist,
    set: (twist) => figure.set({ twist }),
  });
  figure.controls.slider({
    label: "Twist allowed",
    ...{ min: 0, max: 3, step: 0.01, format: (value: number) => `±${degrees(value)}` },
    get: () => figure.state.range,
    set: (range) => figure.set({ range }),
  });
  figure.controls.button({ label: "Start again", press: () => figure.reset() });
}

// A telescope

const TUBE = 0.55;
const TRAVEL = 0.45;
const NAMES = ["lower", "middle", "upper"] as const;
type Order = "top" | "bottom";
const PLOT = 120;

function telescope(core: Core, drawList: DrawList): void {
  const fields = {
    height: number(1.2, { min: 0.2, max: 2 }),
    ease: number(0, { min: 0, max: 1 }),
    order: choice<Order>("top", ["top", "bottom"]),
  };
  type State = StateOf<typeof fields>;
  const base = -0.8;
  const precedences = { top: [0, 1, 2], bottom: [2, 1, 0] } as const;
  let made: { skeleton: Skeleton; pose: Pose; chain: Chain; key: string; curves: number[][] } | undefined;
  /** How far each tube is pushed in, from the lower to the upper one. */
  const pushed = (pose: Pose) => [1, 2, 3].map((n) => TUBE - pose.positions[3 * n + 1]!);
  const solve = ({ chain, pose }: { chain: Chain; pose: Pose }, height: number) => {
    pose.reset();
    return chain.solve(pose, { position: [0, base + height, 0] }, { iterations: 100 });
  };
  const make = ({ ease, order }: State) => {
    const key = `${ease} ${order}`;
    if (made?.key === key) return made;
    for (const old of made ? [made.chain, made.pose, made.skeleton] : []) old.free();
    const skeleton = core.Skeleton.from([
      { name: "base", position: [0, base, 0], limits: { fixed: true } },
      ...NAMES.map((name, n) => ({
        ...{ name, parent: n, position: [0, TUBE, 0] },
        limits: { fixed: true as const, slide: { y: { min: -TRAVEL, max: 0, ease, precedence: precedences[order][n]! } } },
      })),
    ]);
    const parts = { skeleton, pose: skeleton.rest(), chain: new core.Chain(skeleton, "base", "upper") };
    const curves = Array.from({ length: PLOT + 1 }, (_, n) => (solve(parts, 3 * TUBE - (3 * TRAVEL * n) / PLOT), pushed(parts.pose)));
    return (made = { ...parts, key, curves });
  };
  let report: Report;
  const figure = new Figure({
    id: "telescope",
    fields,
    list: drawList,
    solve(state) {
      report = solve(make(state), state.height);
    },
    read({ height }): string {
      const parts = pushed(made!.pose).map((value, n) => `${NAMES[n]} ${fixed(value)}`);
      const left = report.reached ? "" : `; the top is ${fixed(report.positionResidual)} away`;
      return `Top at ${fixed(height)}; pushed in: ${parts.reverse().join(", ")}${left}`;
    },
    code: {
      typescript: ({ height, ease, order }: State) => `import { load } from "sinew/core";

const { Skeleton, Chain } = await load();
const slide = (precedence) => ({ fixed: true, slide: { y: { min: ${-TRAVEL}, max: 0, ease: ${rounded(ease)}, precedence } } });
const skeleton = Skeleton.from([
  { name: "base", position: [0, ${base}, 0], limits: { fixed: true } },
${NAMES.map((name, n) => `  { name: "${name}", parent: ${n}, position: [0, ${TUBE}, 0], limits: slide(${precedences[order][n]}) },`).join("\n")}
]);
const pose = skeleton.rest();
new Chain(skeleton, "base", "upper").solve(pose, { position: [0, ${rounded(base + height)}, 0] }, { iterations: 100 });

const [x, y, z] = pose.model("upper").position;
console.log(x, y, z);
`,
      rust: ({ height, ease, order }: State) => `use std::{error::Error, sync::Arc};

use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::{DVec3, Vec3},
    joint::{Dof, Joint},
    solve::{Auto, ChainSolver, IterativeOptions},
};

fn main() -> Result<(), Box<dyn Error>> {
    let at = |y| JointTransform::from_translation(Vec3::new(0.0, y, 0.0));
    let mut builder = Skeleton::builder();
    let mut last = builder.add("base", None, at(${literal(base)}));
    for name in ["lower", "middle", "upper"] {
        last = builder.add(name, Some(last), at(${literal(TUBE)}));
    }
    let (mut skeleton, joints) = builder.build()?;
    skeleton.set_joint(joints[0], Joint::FIXED)?;
    for (joint, precedence) in joints[1..].iter().zip([${precedences[order].join(", ")}]) {
        let dof = Dof::range(${literal(-TRAVEL)}, 0.0).with_ease(${literal(ease)}).with_precedence(precedence);
        skeleton.set_joint(*joint, Joint::slider(DVec3::Y, dof))?;
    }
    let skeleton = Arc::new(skeleton);

    let chain = Auto::new(&skeleton, joints[0], joints[3])?;
    let mut pose = Pose::rest(&skeleton);
    let mut options = IterativeOptions::new();
    options.max_iterations = Some(100);
    let goal = Goal::position(Vec3::new(0.0, ${literal(base + height)}, 0.0));
    chain.solve(&mut Workspace::new(), &mut pose, &goal, &options)?;

    let top = pose.position(joints[3]);
    println!("{} {} {}", top.x, top.y, top.z);
    Ok(())
}
`,
    },
    probe: () => ({ tip: triple(made!.pose.model("upper").position), pushed: pushed(made!.pose), curves: made!.curves }),
  });
  const colors = (theme: Theme) => [COLORS[theme].blue, COLORS[theme].green, COLORS[theme].orange];
  const pane = figure.pane("main", {
    view: planeView({ width: 2.3, height: 2.2 }),
    draw(list, theme, pixel) {
      const box = (bottom: number, top: number, half: number, color: number) => {
        const [a, b, c, d]: Xyz[] = [[-half, bottom, 0], [half, bottom, 0], [half, top, 0], [-half, top, 0]];
        list.push("triangles", "bone", [...a!, ...b!, ...c!, ...a!, ...c!, ...d!], { color });
        list.push("polyline", "ground", [...a!, ...b!, ...c!, ...d!, ...a!], { color: { light: 0xffffff, dark: 0x14171b }[theme] });
      };
      list.push("segments", "ground", [-0.6, base, 0, 0.6, base, 0]);
      const tops = [1, 2, 3].map((n) => made!.pose.model(n).position[1]!);
      // Inner tubes first: outer ones hide what is pushed in.
      [2, 1, 0].forEach((n) => box(Math.max(base, tops[n]! - TUBE), tops[n]!, 0.11 + 0.06 * (2 - n), colors(theme)[n]!));
      const to: Xyz = [0, base + figure.state.height, 0];
      const top: Xyz = [0, tops[2]!, 0];
      if (apart(top, to) > 0.02) dashed(list, top, to, "residual");
      list.goal(to, CROSS * pixel);
    },
  });
  pane.handle({
    name: "Top",
    look: "target",
    at: () => [0, base + figure.state.height],
    move: ([, y]) => figure.set({ height: clamp(y - base, 0.2, 2) }),
    step: 0.05,
  });
  const onto = (step: number, value: number): Xyz => [-0.78 + (1.72 * step) / PLOT, -0.72 + (1.5 * value) / TRAVEL, 0];
  figure.pane("plot", {
    view: planeView({ width: 2.3, height: 2.2 }),
    draw(list, theme) {
      const color = PALE[theme];
      list.push("segments", "reference", [...onto(0, 0), ...onto(PLOT, 0), ...onto(0, 0), ...onto(0, TRAVEL)], { color });
      list.label("joint", onto(PLOT / 2, 0), "push on the top", [0, -1, 0]);
      list.label("joint", onto(0, TRAVEL), "in", [-1, 0, 0]);
      list.label("joint", onto(0, 0), "out", [-1, 0, 0]);
      const step = clamp(((3 * TUBE - figure.state.height) * PLOT) / (3 * TRAVEL), 0, PLOT);
      pushed(made!.pose).forEach((value, n) => {
        const style = { color: colors(theme)[n]! };
        list.push("polyline", "path", made!.curves.flatMap((values, step) => onto(step, values[n]!)), style);
        list.push("discs", "path", onto(step, value), { ...style, radius: 0.035 });
      });
    },
  });
  figure.controls.slider({
    label: "Ease",
    ...{ min: 0, max: 1, step: 0.01 },
    format: (value) => `${Math.round(100 * value)} %`,
    get: () => figure.state.ease,
    set: (ease) => figure.set({ ease }),
  });
  figure.controls.choice<Order>({
    label: "First",
    options: [
      ["top", "the upper tube"],
      ["bottom", "the lower tube"],
    ],
    get: () => figure.state.order,
    set: (order) => figure.set({ order }),
  });
  figure.motion("Push and pull", (seconds) => ({ height: 3 * TUBE - 1.5 * TRAVEL * (1 - Math.cos(0.9 * seconds)) }));
}

await start((core, drawList) => {
  hinge(core, drawList);
  ball(core, drawList);
  telescope(core, drawList);
});
