/** The page Solvers: five methods on one target, step by step, and FABRIK on trees and with limits. */

import type { Core, DrawList, Pose, Report, TraceStep } from "sinew/core";

import { choice, flag, number, point2, point3, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { drawDrop, drawFloor } from "../figure/floor.ts";
import { apart, coordinates, degrees, fixed } from "../figure/format.ts";
import { planeView, spaceView, type Point3 } from "../figure/view.ts";
import { start } from "../page.ts";
import {
  arrow,
  bone,
  bones,
  clamp,
  COLORS,
  CROSS,
  dashed,
  flat,
  PALE,
  points,
  triple,
  type Xy,
  type Xyz,
} from "../shapes.ts";
import { chainRust, chainTypescript, treeRust, treeTypescript, TWIST } from "../solvers/code.ts";
import { ChainMethod, chainSkeleton, FollowMethod, offsets, SWEEPS, ThreeMethod, type Method } from "../solvers/methods.ts";

const FAR = 10;
const TOLERANCE = 1e-5;
const xy = ([x, y]: Point3): Xy => [x, y];

/** A figure 8 in front of the chains. */
const eight = (seconds: number): Xy => [1.05 * Math.sin(1.1 * seconds + 1), 0.1 + 0.6 * Math.sin(2.2 * seconds + 2)];

// Five methods

const FIVE = { bones: 8, length: 0.26, bend: 0.16 };

function race(core: Core, list: DrawList): void {
  const fields = {
    target: point2([0.85, -0.35], FAR),
    base: point2([-0.35, -0.9], FAR),
    sweeps: number(2, { min: 1, max: SWEEPS, whole: true }),
    start: choice<"rest" | "last">("rest", ["rest", "last"]),
  };
  type State = StateOf<typeof fields>;
  const joints = offsets(FIVE.bones, FIVE.length, FIVE.bend);
  const methods: Record<string, Method> = {
    follow: new FollowMethod(core, joints),
    ccd: new ChainMethod(core, joints, "ccd", "CCD", "blue"),
    fabrik: new ChainMethod(core, joints, "fabrik", "FABRIK", "orange"),
    dls: new ChainMethod(core, joints, "dls", "Least squares", "green"),
    three: new ThreeMethod(joints),
  };
  const tip = (method: Method) => method.points.at(-1)!;
  const program = ({ target, base, sweeps }: State) => ({
    joints: joints.map((at, n): Xyz => (n === 0 ? flat(base) : at)),
    solver: "ccd" as const,
    target: flat(target),
    iterations: sweeps,
    tolerance: TOLERANCE,
  });
  const figure = new Figure({
    id: "race",
    fields,
    list,
    solve({ target, base, sweeps, start }) {
      for (const method of Object.values(methods)) method.solve({ target, base, sweeps, continuing: start === "last" });
    },
    read({ target }) {
      const left = Object.values(methods).map((method) => `${method.name} ${fixed(apart(tip(method), flat(target)), 3)}`);
      return `Left to the target: ${left.join(", ")}`;
    },
    code: { typescript: (state: State) => chainTypescript(program(state)), rust: (state: State) => chainRust(program(state)) },
    probe: () => ({
      tip: tip(methods.ccd!),
      methods: Object.fromEntries(Object.entries(methods).map(([id, method]) => [id, { points: method.points, residuals: method.residuals() }])),
    }),
  });
  for (const [id, method] of Object.entries(methods)) {
    const pane = figure.pane(id, {
      view: planeView({ width: 2.9, height: 2.9, center: [0.1, -0.05] }),
      draw(list, theme, pixel) {
        const { target, base } = figure.state;
        const color = COLORS[theme][method.color];
        const at = method.points;
        // The tip against its target, and the root against its base.
        if (apart(at[0]!, flat(base)) > 0.02) dashed(list, at[0]!, flat(base), "path", PALE[theme]);
        if (apart(at.at(-1)!, flat(target)) > 0.02) dashed(list, at.at(-1)!, flat(target), "residual");
        bones(list, at, color, Math.max(0.05, 3.5 * pixel));
        list.goal(flat(target), CROSS * pixel);
      },
    });
    pane.handle({ name: `Base, ${method.name}`, look: "base", at: () => figure.state.base, move: (to) => figure.set({ base: xy(to) }) });
    pane.handle({ name: `Target, ${method.name}`, look: "target", at: () => figure.state.target, move: (to) => figure.set({ target: xy(to) }) });
  }
  plot(figure, methods);
  figure.controls.slider({
    label: "Sweeps",
    ...{ min: 1, max: SWEEPS, step: 1 },
    format: String,
    get: () => figure.state.sweeps,
    set: (sweeps) => figure.set({ sweeps }),
  });
  figure.controls.choice<"rest" | "last">({
    label: "Each frame starts from",
    options: [
      ["rest", "rest"],
      ["last", "the last frame"],
    ],
    get: () => figure.state.start,
    set(start) {
      for (const method of Object.values(methods)) method.reset();
      figure.set({ start });
    },
  });
  figure.motion("Play a figure 8", (seconds) => ({ target: eight(seconds) }));
}

/** The residual after each sweep, on a scale of powers of ten. */
function plot(figure: Figure<never> | { pane: Figure["pane"]; state: { sweeps: number } }, methods: Record<string, Method>): void {
  const [low, high] = [-3, 0.6];
  const onto = (sweep: number, residual: number): Xyz => {
    const power = clamp(Math.log10(Math.max(residual, 1e-12)), low, high);
    return [-0.4 + (1.75 * sweep) / SWEEPS, -0.85 + (1.7 * (power - low)) / (high - low), 0];
  };
  figure.pane("plot", {
    view: planeView({ width: 2.9, height: 2.9 }),
    draw(list, theme) {
      const color = PALE[theme];
      for (let power = low; power <= 0; power++) {
        const [from, to] = [onto(0, 10 ** power), onto(SWEEPS, 10 ** power)];
        list.push("segments", "reference", [...from, ...to], { color });
        list.label("joint", from, ["1 mm", "1 cm", "10 cm", "1 m"][power - low]!, [-1, 0, 0]);
      }
      const { sweeps } = figure.state as { sweeps: number };
      list.push("segments", "reference", [...onto(sweeps, 10 ** low), ...onto(sweeps, 10 ** high)]);
      list.label("joint", onto(sweeps, 10 ** low), sweeps === 1 ? "1 sweep" : `${sweeps} sweeps`, [0, -1, 0]);
      for (const method of Object.values(methods)) {
        const style = { color: COLORS[theme][method.color] };
        const numbers = method.residuals().flatMap((residual, sweep) => onto(sweep, residual));
        list.push("polyline", "path", numbers, style);
        list.push("discs", "path", numbers, { ...style, radius: 0.028 });
      }
    },
  });
}

// Step by step

type Solver = "ccd" | "fabrik" | "dls";

/** The points of a solve before its first step, and the points that each step leaves. */
interface Steps {
  before: Xyz[];
  steps: readonly TraceStep[];
  /** Points of joints and ends as a step shows them: those that FABRIK has moved, others where they were. */
  after: Xyz[][];
}

function stepped(before: Xyz[], steps: readonly TraceStep[]): Steps {
  let at = before;
  const after = steps.map((step) => {
    if (step.kind === "point") {
      at = [...at];
      at[step.point] = triple(step.position);
    } else if (step.kind === "joint" || (step.kind === "step" && step.taken)) {
      at = points(step.positions);
    }
    return at;
  });
  return { before, steps, after };
}

const ONE = { bones: 4, length: 0.55, bend: 0.35 };
/** Iterations that are shown step by step. */
const SHOWN = 4;

function oneByOne(core: Core, list: DrawList): void {
  const fields = {
    target: point2([1.15, 0.35], FAR),
    solver: choice<Solver>("ccd", ["ccd", "fabrik", "dls"]),
    done: number(2, { min: 0, max: 99, whole: true }),
  };
  type State = StateOf<typeof fields>;
  const joints = offsets(ONE.bones, ONE.length, ONE.bend).map((at, n): Xyz => (n === 0 ? [-0.5, -0.85, 0] : at));
  const skeleton = chainSkeleton(core, joints);
  const pose = skeleton.rest();
  const tip = String(ONE.bones);
  const chains = Object.fromEntries(
    (["ccd", "fabrik", "dls"] as const).map((solver) => [solver, new core.Chain(skeleton, "0", tip, { solver, tolerance: TOLERANCE })]),
  ) as Record<Solver, InstanceType<Core["Chain"]>>;
  let solve: Steps = { before: [], steps: [], after: [] };
  const program = ({ target, solver }: State) => {
    return { joints, solver, target: flat(target), iterations: SHOWN, tolerance: TOLERANCE };
  };
  const total = () => solve.steps.length;
  const shown = (): Record<string, unknown> => ({ steps: solve.steps, points: solve.after[figure.state.done - 1] ?? solve.before });
  const figure = new Figure({
    id: "steps",
    fields,
    list,
    solve(state) {
      const { target, solver } = state;
      pose.reset();
      const before = points(pose.modelPositions());
      const { steps } = chains[solver].trace(pose, { position: flat(target) }, { iterations: SHOWN });
      // The end of the chain is its last joint, and comes once more.
      solve = stepped([...before, before.at(-1)!], steps);
      state.done = Math.min(state.done, steps.length);
    },
    read({ done, target }): string {
      const step = solve.steps[done - 1];
      const end = (solve.after[done - 1] ?? solve.before).at(-2) ?? [0, 0, 0];
      const told = step === undefined ? "Before the first step" : `Step ${done} of ${total()}, sweep ${step.iteration + 1}: ${tell(step)}`;
      return `${told}; tip ${fixed(apart(end, flat(target)))} away`;
    },
    code: { typescript: (state: State) => chainTypescript(program(state)), rust: (state: State) => chainRust(program(state)) },
    probe: () => ({ tip: points(pose.modelPositions()).at(-1), ...shown() }),
  });
  const pane = figure.pane("main", {
    view: planeView({ width: 3.9, height: 2.6, center: [0, 0.15] }),
    draw(list, theme, pixel) {
      const { done, target, solver } = figure.state;
      const color = COLORS[theme][{ ccd: "blue", fabrik: "orange", dls: "green" }[solver] as "blue"];
      const now = solve.after[done - 1] ?? solve.before;
      const last = solve.after[done - 2] ?? solve.before;
      const step = solve.steps[done - 1];
      const inner = (at: Xyz[]) => at.slice(0, -1);
      if (step) list.push("polyline", "path", inner(last).flat(), { color: PALE[theme] });
      if (step?.kind === "joint") {
        // The joint turns its line to the tip onto its line to the target.
        const at = now[step.joint]!;
        const [from, to] = [last.at(-2)!, flat(target)];
        const line = (end: Xyz): Xyz => [end[0] - at[0], end[1] - at[1], 0];
        dashed(list, at, from, "reference");
        dashed(list, at, to, "residual");
        list.angle(at, [line(from), line(to)], 0.4, "");
      }
      bones(list, inner(now), color, Math.max(0.055, 6 * pixel));
      if (step?.kind === "point") {
        const to = now[step.point]!;
        arrow(list, last[step.point]!, to, COLORS[theme].blue);
        list.push("discs", "joint", to, { radius: 0.07, color: COLORS[theme].blue });
      }
      if (step?.kind === "joint") list.push("discs", "joint", now[step.joint]!, { radius: 0.075 });
      list.goal(flat(target), CROSS * pixel);
    },
  });
  pane.handle({ name: "Target", look: "target", at: () => figure.state.target, move: (to) => figure.set({ target: xy(to) }) });
  figure.controls.choice<Solver>({
    label: "Method",
    options: [
      ["ccd", "CCD"],
      ["fabrik", "FABRIK"],
      ["dls", "least squares"],
    ],
    get: () => figure.state.solver,
    set: (solver) => figure.set({ solver, done: 1 }),
  });
  stepControls(figure, total);
}

/** Buttons and a slider for the count of steps that have been done. */
function stepControls(figure: { state: { done: number }; set(change: { done: number }): void; controls: Figure["controls"] }, total: () => number): void {
  figure.controls.button({ label: "Back", enabled: () => figure.state.done > 0, press: () => figure.set({ done: figure.state.done - 1 }) });
  figure.controls.button({ label: "Step", enabled: () => figure.state.done < total(), press: () => figure.set({ done: figure.state.done + 1 }) });
  figure.controls.slider({
    label: "Steps done",
    ...{ min: 0, max: 99, step: 1 },
    limit: total,
    format: String,
    get: () => figure.state.done,
    set: (done) => figure.set({ done: Math.min(done, total()) }),
  });
}

function tell(step: TraceStep): string {
  switch (step.kind) {
    case "joint":
      return `joint ${step.joint} turns its line to the tip onto its line to the target`;
    case "point":
      return step.pass === "backward" ? "a point is drawn towards the target" : "a point goes back towards the root";
    case "sub-base":
      return "a chain asks for a position of the sub-base";
    case "step":
      return step.taken ? "all joints turn at once" : "a step that would not help is taken back, the next is shorter";
  }
}

// A sub-base

const BRANCH = [
  { name: "root", parent: -1, position: [0, -1.05, 0] },
  { name: "stem", parent: 0, position: [0.05, 0.42, 0] },
  { name: "fork", parent: 1, position: [-0.05, 0.42, 0] },
  // Each branch turns about the fork by itself.
  ...(["left", "right"] as const).flatMap((side, n) => {
    const sign = n === 0 ? -1 : 1;
    const first = 3 + 4 * n;
    return [
      { name: `${side} start`, parent: 2, position: [0, 0, 0] as const },
      { name: `${side} middle`, parent: first, position: [0.28 * sign, 0.32, 0] as const },
      { name: `${side} end`, parent: first + 1, position: [0.1 * sign, 0.42, 0] as const },
      { name: `${side} tip`, parent: first + 2, position: [-0.06 * sign, 0.4, 0] as const },
    ];
  }),
] as const satisfies readonly { name: string; parent: number; position: Xyz }[];
const PARENTS = BRANCH.map(({ parent }) => parent);
const TIPS = ["left tip", "right tip"] as const;

function branches(core: Core, list: DrawList): void {
  const fields = {
    left: point2([-1.2, 0.55], FAR),
    right: point2([0.35, 1.15], FAR),
    live: flag(false),
    done: number(11, { min: 0, max: 99, whole: true }),
  };
  type State = StateOf<typeof fields>;
  const skeleton = core.Skeleton.from(BRANCH.map(({ name, parent, position }) => ({ name, position, ...(parent < 0 ? {} : { parent }) })));
  const pose = skeleton.rest();
  const tree = new core.FabrikTree(skeleton, "root", TIPS, { tolerance: TOLERANCE });
  let solve: Steps = { before: [], steps: [], after: [] };
  let report: Report | undefined;
  let end: Xyz[] = [];
  const total = () => solve.steps.length;
  const iterations = ({ live }: State) => (live ? 32 : 2);
  const program = (state: State) => ({
    joints: BRANCH,
    effectors: TIPS,
    goals: [flat(state.left), flat(state.right)] as const,
    iterations: iterations(state),
    tolerance: TOLERANCE,
  });
  const figure = new Figure({
    id: "branches",
    fields,
    list,
    solve(state) {
      pose.reset();
      const before = points(pose.modelPositions());
      const trace = tree.trace(pose, [{ position: flat(state.left) }, { position: flat(state.right) }], { iterations: iterations(state), maxSteps: 99 });
      // After the joints, the points of the effectors.
      solve = stepped([...before, before[6]!, before[10]!], trace.steps);
      ({ report } = trace);
      end = points(pose.modelPositions());
      state.done = Math.min(state.done, solve.steps.length);
    },
    read({ live, left, right, done }): string {
      const away = `${fixed(apart(end[6]!, flat(left)))} and ${fixed(apart(end[10]!, flat(right)))}`;
      if (live) return `After ${report!.iterations} sweeps the tips are ${away} away`;
      const step = solve.steps[done - 1];
      return step ? `Step ${done} of ${total()}, sweep ${step.iteration + 1}: ${tell(step)}` : "Before the first step";
    },
    code: { typescript: (state: State) => treeTypescript(program(state)), rust: (state: State) => treeRust(program(state)) },
    probe: () => ({ tip: end[6], tips: [end[6], end[10]], points: end, steps: solve.steps }),
  });
  const pane = figure.pane("main", {
    view: planeView({ width: 4, height: 2.9, center: [0, 0.15] }),
    draw(list, theme, pixel) {
      const { live, done, left, right } = figure.state;
      const now = live ? end : (solve.after[done - 1] ?? solve.before);
      const last = solve.after[done - 2] ?? solve.before;
      const step = live ? undefined : solve.steps[done - 1];
      const colors = COLORS[theme];
      if (!live && done > 0) drawTree(list, solve.before, () => PALE[theme], 0);
      drawTree(list, now, (n) => (n < 3 ? colors.gray : n < 7 ? colors.blue : colors.orange), Math.max(0.05, 5 * pixel));
      // What the chains have asked for their sub-base, until it has moved to the centroid.
      const asks = solve.steps.slice(0, live ? 0 : done).filter((one) => one.kind === "sub-base" && one.iteration === step?.iteration);
      const moved = step?.kind === "point" && step.pass === "backward" && step.point === 2;
      if (step?.kind === "sub-base" || moved) {
        for (const ask of asks) {
          if (ask.kind !== "sub-base") continue;
          const [from, to] = [now[ask.from]!, triple(ask.position)];
          const color = ask.from < 7 ? colors.blue : colors.orange;
          if (apart(from, to) > 1e-3) dashed(list, from, to, "path", color);
          list.push("discs", "joint", to, { radius: 0.06, color });
        }
      }
      if (step?.kind === "point") {
        const to = now[step.point]!;
        arrow(list, last[step.point]!, to, colors.green);
        list.push("discs", "joint", to, { radius: 0.065, color: colors.green });
      }
      for (const goal of [left, right]) list.goal(flat(goal), CROSS * pixel);
    },
  });
  for (const side of ["left", "right"] as const) {
    pane.handle({
      name: `Target of the ${side} branch`,
      look: "target",
      at: () => figure.state[side],
      move: (to) => figure.set({ [side]: xy(to) }),
    });
  }
  figure.controls.toggle({ label: "Live", get: () => figure.state.live, set: (live) => figure.set({ live }) });
  stepControls(figure, total);
}

function drawTree(list: DrawList, at: readonly Xyz[], color: (joint: number) => number, width: number): void {
  PARENTS.forEach((parent, n) => {
    if (parent < 0) return;
    if (width > 0) bone(list, at[parent]!, at[n]!, color(n), width);
    else list.push("segments", "path", [...at[parent]!, ...at[n]!], { color: color(n) });
  });
  if (width > 0) PARENTS.forEach((_, n) => list.push("discs", "joint", at[n]!, { radius: 0.8 * width, color: color(n) }));
}

// Ellipses

const STALK: readonly Xyz[] = [
  [0, 0, 0],
  [0, 0.5, 0],
  [0, 0.5, 0],
  [0, 0.45, 0],
  [0, 0.4, 0],
];
const TIP = String(STALK.length - 1);
const HALF = { min: 0.05, max: 1.4 };

function ellipse(core: Core, list: DrawList): void {
  const fields = {
    target: point3([0.3, 1.3, 0.9], FAR),
    x: number(0.75, HALF),
    z: number(0.3, HALF),
    limits: flag(true),
    sweeps: number(16, { min: 1, max: 32, whole: true }),
  };
  type State = StateOf<typeof fields>;
  /** A chain with these half-angles, or without limits. */
  const make = (x: number, z: number, limited: boolean) => {
    const half = (angle: number) => ({ min: -angle, max: angle });
    const ball = { twistAxis: [0, 1, 0], swingAxis: [1, 0, 0], swing: [half(x), half(z)] as [object, object], twist: half(TWIST) };
    const skeleton = core.Skeleton.from(
      STALK.map((position, n) => ({
        ...{ name: String(n), position },
        ...(n > 0 ? { parent: n - 1 } : {}),
        ...(limited && n < STALK.length - 1 ? { limits: { ball } } : {}),
      })),
    );
    const chain = new core.Chain(skeleton, "0", TIP, { solver: "fabrik", tolerance: TOLERANCE });
    return { skeleton, pose: skeleton.rest(), chain, key: `${x} ${z} ${limited}` };
  };
  let made: ReturnType<typeof make> | undefined;
  let report: Report;
  let pose: Pose;
  const figure = new Figure({
    id: "ellipse",
    fields,
    list,
    solve({ target, x, z, limits, sweeps }) {
      if (made?.key !== `${x} ${z} ${limits}`) {
        for (const old of made ? [made.chain, made.pose, made.skeleton] : []) old.free();
        made = make(x, z, limits);
      }
      ({ pose } = made);
      pose.reset();
      report = made.chain.solve(pose, { position: target }, { iterations: sweeps });
    },
    read: ({ target }) => `Target at ${coordinates(target)}; tip ${fixed(report.positionResidual)} away after ${report.iterations} sweeps`,
    ...(() => {
      const program = ({ target, x, z, limits, sweeps }: State) => ({
        ...{ joints: STALK, solver: "fabrik" as const, target, iterations: sweeps, tolerance: TOLERANCE },
        ellipse: limits ? ([x, z] as const) : undefined,
      });
      return { code: { typescript: (state: State) => chainTypescript(program(state)), rust: (state: State) => chainRust(program(state)) } };
    })(),
    probe: () => ({ tip: points(pose.modelPositions()).at(-1), rotations: [...pose.rotations], reached: report.reached }),
  });
  const pane = figure.pane("main", {
    view: spaceView({ target: [0.05, 0.75, 0.2], radius: 1.2, yaw: 50, pitch: 22 }),
    draw(list, theme, pixel) {
      const { target, limits } = figure.state;
      drawFloor(list, theme, 1);
      if (limits) list.limits(pose, 0.25, { joints: STALK.slice(0, -1).map((_, n) => n) });
      bones(list, points(pose.modelPositions()), COLORS[theme].orange, Math.max(0.035, 5 * pixel));
      drawDrop(list, target);
      list.solvedGoal({ position: target }, pose.model(TIP).position, report, CROSS * pixel);
    },
  });
  pane.handle({
    name: "Target",
    look: "target",
    at: () => figure.state.target,
    move: ([x, y, z]) => figure.set({ target: [x, Math.max(y, 0), z] }),
  });
  figure.controls.toggle({ label: "Limits", get: () => figure.state.limits, set: (limits) => figure.set({ limits }) });
  for (const [axis, label] of [["x", "Half-angle about x"], ["z", "Half-angle about z"]] as const) {
    figure.controls.slider({
      label,
      ...{ ...HALF, step: 0.01, format: degrees },
      get: () => figure.state[axis],
      set: (value) => figure.set({ [axis]: value }),
      enabled: () => figure.state.limits,
    });
  }
  figure.controls.slider({
    label: "Sweeps",
    ...{ min: 1, max: 32, step: 1, format: String },
    get: () => figure.state.sweeps,
    set: (sweeps) => figure.set({ sweeps }),
  });
}

await start((core, list) => {
  race(core, list);
  oneByOne(core, list);
  branches(core, list);
  ellipse(core, list);
});
