/** The page Snake: chains that lie along curves. */

import type { Core, DrawList } from "sinew/core";

import { flag, number, numbers, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { drawDrop, drawFloor } from "../figure/floor.ts";
import { degrees, fixed } from "../figure/format.ts";
import type { Pane } from "../figure/pane.ts";
import { Solids } from "../figure/solids.ts";
import { spaceView } from "../figure/view.ts";
import { start } from "../page.ts";
import { clamp, COLORS, triple, type Xyz } from "../shapes.ts";
import { rust, typescript } from "../snake/code.ts";
import { LaidChain, type Laid } from "../snake/laid.ts";
import { Ribbon, Snake, THICK } from "../snake/skin.ts";

const FAR = 5;
const at = (all: readonly number[], n: number): Xyz => [all[3 * n]!, all[3 * n + 1]!, all[3 * n + 2]!];

/** Handles for the first points of a curve, no lower than a height, named as given. */
function points(pane: Pane, names: readonly string[], low: number, get: () => readonly number[], set: (curve: readonly number[]) => void): void {
  names.forEach((name, n) => {
    pane.handle({
      name,
      look: "base",
      at: () => at(get(), n),
      move([x, y, z]) {
        const curve = [...get()];
        curve.splice(3 * n, 3, ...[x, Math.max(y, low), z].map((value) => clamp(value, -FAR, FAR)));
        set(curve);
      },
      step: 0.05,
    });
  });
}

/** The curve, and lines from its points to the floor. */
function drawCurve(list: DrawList, chain: LaidChain, curve: readonly number[], color: number): void {
  list.push("polyline", "path", chain.drawn(), { color });
  // Points on the floor need no line to it.
  for (let n = 0; 3 * n < curve.length; n++) if (curve[3 * n + 1]! > 0.12) drawDrop(list, at(curve, n));
}

// A snake

/** Length of the snake, and of what it crawls in a second, in metres. */
const SNAKE = 2.6;
const SPEED = 0.55;
const WAY = [
  [-1.15, 0.08, 0.2],
  [-0.6, 0.08, 0.75],
  [-0.05, 0.08, 0.35],
  [0.6, 0.08, 0.8],
  [1.15, 0.08, 0.15],
  [0.55, 0.45, -0.35],
  [-0.1, 0.08, -0.85],
  [-0.7, 0.08, -0.45],
];

function crawl(core: Core, drawList: DrawList): void {
  const fields = {
    curve: numbers(WAY.flat(), { min: -FAR, max: FAR }, { min: 3 * WAY.length, max: 3 * WAY.length }),
    bones: number(28, { min: 3, max: 60, whole: true }),
    head: number(3.3, { min: 0, max: 100 }),
    closed: flag(true),
    skin: flag(true),
  };
  type State = StateOf<typeof fields>;
  const chain = new LaidChain(core);
  const laid = ({ curve, bones, head, closed }: State): Laid => ({
    ...{ bones, length: SNAKE, curve, closed },
    options: { offset: head, reversed: true, roll: { axis: [0, 1, 0] } },
  });
  const figure: Figure<typeof fields> = new Figure({
    id: "crawl",
    fields,
    list: drawList,
    solve: (state) => chain.solve(laid(state)),
    read({ head, closed }) {
      const { beyond, missed, longestWay, positionResidual } = chain.report!;
      const { length } = chain.curve;
      const cut = longestWay - 1;
      const most = cut < 0.001 ? "" : `; between two joints the curve is up to ${(100 * cut).toFixed(1)} % longer than the bone`;
      const off = missed > 0 ? `; ${missed} bones find no place on the curve, up to ${fixed(positionResidual)} m away` : "";
      const out = closed || beyond === 0 ? "" : `; ${fixed(beyond)} m of the tail before its start`;
      const where = !closed && head > length ? `${fixed(head - length)} m beyond the end` : `at ${fixed(closed ? head % length : head)} of ${fixed(length)} m`;
      return `Head ${where}${out}${most}${off}`;
    },
    code: { typescript: (state: State) => typescript(laid(state)), rust: (state: State) => rust(laid(state)) },
    probe: () => ({ tip: chain.points.at(-1)!, points: chain.points, length: chain.curve.length, report: { ...chain.report } }),
  });
  const solids = new Solids(1.3);
  const snake = new Snake(solids);
  const pane = figure.pane("main", {
    view: spaceView({ target: [0, 0.1, 0], radius: 1.06, yaw: 18, pitch: 34 }),
    solids: solids.scene,
    draw(list, theme) {
      const { state } = figure;
      solids.show(theme);
      snake.show(laid(state), chain.pose, state.skin);
      drawFloor(list, theme, 1.6);
      drawCurve(list, chain, state.curve, COLORS[theme].gray);
      if (!state.skin) {
        const all = chain.points;
        all.slice(1).forEach((to, n) => list.bone(all[n]!, to, { thickness: 0.3 }));
        list.push("discs", "joint", all.flat());
      }
    },
  });
  const shift = (by: number) => {
    const { head, closed } = figure.state;
    const { length } = chain.curve;
    figure.set({ head: closed ? (((head + by) % length) + length) % length : clamp(head + by, 0, length) });
  };
  pane.handle({
    name: "Head, along the curve",
    look: "target",
    at: () => chain.points[0],
    move: (to) => figure.set({ head: chain.nearest(triple(to)) }),
    step: 0.1,
    keys: ([x, y]) => shift(x + y),
  });
  const names = WAY.map((_, n) => `Point ${n + 1} of the curve`);
  points(pane, names, THICK, () => figure.state.curve, (curve) => figure.set({ curve }));
  figure.controls.counter({
    label: "Bones",
    ...{ min: 3, max: 60, less: "One bone less", more: "One bone more" },
    get: () => figure.state.bones,
    set: (bones) => figure.set({ bones }),
  });
  figure.controls.toggle({ label: "Closed curve", get: () => figure.state.closed, set: (closed) => figure.set({ closed }) });
  figure.controls.toggle({ label: "Skin", get: () => figure.state.skin, set: (skin) => figure.set({ skin }) });
  let last = 0;
  figure.motion("Crawl", (seconds) => {
    const { head, closed } = figure.state;
    const { length } = chain.curve;
    const passed = seconds > last ? seconds - last : 0;
    last = seconds;
    // At the end of an open curve it begins again.
    const next = head + SPEED * passed;
    return { head: next > length ? (closed ? next - length : 0) : next };
  });
  figure.controls.button({ label: "Start again", press: () => figure.reset() });
}

// A ribbon

/** Length of the ribbon and its plates, and the bounds of its stretch. */
const RIBBON = 4.2;
const PLATES = 42;
const STRETCH = { shortest: 0.5, longest: 2 };
const LOOP = [
  [-1, 0.25, 0.35],
  [-0.35, 0.2, 0.1],
  [0.35, 0.6, 0],
  [-0.05, 1.05, -0.15],
  [-0.35, 0.6, -0.25],
  [0.3, 0.2, -0.35],
  [0.95, 0.35, -0.2],
];
const NAMES = ["Start of the curve", ...LOOP.slice(1, -1).map((_, n) => `Point ${n + 2} of the curve`)];

function ribbon(core: Core, drawList: DrawList): void {
  const fields = {
    curve: numbers(LOOP.flat(), { min: -FAR, max: FAR }, { min: 3 * LOOP.length, max: 3 * LOOP.length }),
    roll: flag(true),
    twist: number(0, { min: -6.2832, max: 6.2832 }),
    stretch: flag(false),
  };
  type State = StateOf<typeof fields>;
  const chain = new LaidChain(core);
  const laid = ({ curve, roll, twist, stretch }: State): Laid => ({
    ...{ bones: PLATES, length: RIBBON, curve, closed: false },
    options: { ...(roll ? { roll: { axis: [0, 1, 0], twist: [0, twist] } } : {}), ...(stretch ? { stretch: STRETCH } : {}) },
  });
  const figure: Figure<typeof fields> = new Figure({
    id: "ribbon",
    fields,
    list: drawList,
    solve: (state) => chain.solve(laid(state)),
    read({ stretch }) {
      const all = chain.points;
      const bones = all.slice(1).map((to, n) => Math.hypot(...to.map((value, axis) => value - all[n]![axis]!)));
      const sum = bones.reduce((total, bone) => total + bone, 0);
      const { beyond } = chain.report!;
      const way = chain.curve.length;
      const end = Math.hypot(...all.at(-1)!.map((value, axis) => value - at(figure.state.curve, LOOP.length - 1)[axis]!));
      const how = beyond > 0.005 ? `sticks out by ${fixed(beyond)} m` : end > 0.005 ? "ends before the curve does" : "ends where the curve does";
      const long = stretch ? `stretched to ${Math.round((100 * sum) / RIBBON)} %` : `${fixed(RIBBON)} m long`;
      return `Curve of ${fixed(way)} m; the ribbon, ${long}, ${how}`;
    },
    code: { typescript: (state: State) => typescript(laid(state)), rust: (state: State) => rust(laid(state)) },
    probe: () => ({
      tip: chain.points.at(-1)!,
      points: chain.points,
      length: chain.curve.length,
      rotations: Array.from({ length: PLATES }, (_, n) => [...chain.pose.model(n).rotation]),
      report: { ...chain.report },
    }),
  });
  const solids = new Solids(1.3);
  const plates = new Ribbon(solids);
  const pane = figure.pane("main", {
    view: spaceView({ target: [0, 0.5, 0], radius: 0.92, yaw: 24, pitch: 16 }),
    solids: solids.scene,
    draw(list, theme) {
      solids.show(theme);
      plates.show(laid(figure.state), chain.pose);
      drawFloor(list, theme, 1.4);
      drawCurve(list, chain, figure.state.curve, COLORS[theme].gray);
    },
  });
  points(pane, NAMES, 0.02, () => figure.state.curve, (curve) => figure.set({ curve }));
  const last = LOOP.length - 1;
  pane.handle({
    name: "End of the curve",
    look: "target",
    at: () => at(figure.state.curve, last),
    move: ([x, y, z]) => figure.set({ curve: [...figure.state.curve.slice(0, 3 * last), x, Math.max(y, 0.02), z] }),
    step: 0.05,
  });
  figure.controls.toggle({ label: "Roll with the curve", get: () => figure.state.roll, set: (roll) => figure.set({ roll }) });
  figure.controls.slider({
    label: "Twist",
    ...{ min: -6.28, max: 6.28, step: 0.01, format: degrees },
    get: () => figure.state.twist,
    set: (twist) => figure.set({ twist }),
    enabled: () => figure.state.roll,
  });
  figure.controls.toggle({ label: "Stretch", get: () => figure.state.stretch, set: (stretch) => figure.set({ stretch }) });
  figure.controls.button({ label: "Start again", press: () => figure.reset() });
}

await start((core, list) => {
  crawl(core, list);
  ribbon(core, list);
});
