/** The page Handles: four handles under the same keys, and FK beside IK. */

import type { DrawList } from "sinew/core";
import type { Files } from "sinew/files";

import { flag, number, numbers, point2, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { apart, coordinates, fixed } from "../figure/format.ts";
import type { Theme } from "../figure/theme.ts";
import { planeView } from "../figure/view.ts";
import { farthest, GoalKeys, LedChain, SIX, TWO, type GoalKey, type Led } from "../handles/chains.ts";
import { rust, typescript, type RigProgram } from "../handles/code.ts";
import { Pen } from "../plane/pen.ts";
import { start } from "../page.ts";
import { clamp, COLORS, PALE, polar, type Xy } from "../shapes.ts";

const FAR = 10;
const xy = ([x, y]: readonly number[]): Xy => [x!, y!];
/** A goal within this distance counts as reached, for the sentences. */
const REACHED = 0.005;

const files = async (): Promise<Files> => (await import("sinew/files")).load();

// The same keys

/** Length of the motion in seconds, and the count of its keys at most. */
const SECONDS = 4;
const MOST = 8;
/** Least time between two keys, in seconds. */
const BETWEEN = 0.05;
/** Pixels by which the ring stands above the line of time. */
const LIFT = 36;
const FIRST: readonly GoalKey[] = [
  [0, 0.75, 0.75],
  [1.2, -0.75, 0.85],
  [2.4, -0.85, -0.35],
  [4, 0.8, -0.45],
];
/** Where the middle of the spline's curve is at first. */
const MIDDLE: Xy = [0.15, 0.62];
const HANDLES: Record<string, Led & { title: string }> = {
  limb: { title: "limb", joints: TWO, solver: "two-bone", from: "preferred" },
  independent: { title: "history-independent", joints: SIX, solver: "ccd", from: "preferred" },
  dependent: { title: "history-dependent", joints: SIX, solver: "ccd", from: "last" },
  spline: { title: "spline", joints: SIX, solver: "spline", from: "pose" },
};

function keyed(list: DrawList): void {
  const fields = {
    keys: numbers(FIRST.flat(), { min: -FAR, max: FAR }, { min: 3, max: 3 * MOST }),
    time: number(0.6, { min: 0, max: SECONDS }),
    auto: flag(true),
    /** Angles of the history-dependent chain before the solve. */
    past: numbers(SIX.slice(1).map(() => 0), { min: -7, max: 7 }, { min: 6, max: 6 }),
    /** The goal where it was moved without a key. */
    loose: numbers([], { min: -FAR, max: FAR }, { min: 0, max: 2 }),
    middle: point2(MIDDLE, FAR),
  };
  type State = StateOf<typeof fields>;
  let chains: Record<string, LedChain> | undefined;
  let keys: GoalKeys;
  const listed = ({ keys }: State): GoalKey[] => Array.from({ length: keys.length / 3 }, (_, n) => [keys[3 * n]!, keys[3 * n + 1]!, keys[3 * n + 2]!]);
  const goalOf = (state: State): Xy => (state.loose.length === 2 ? xy(state.loose) : keys.at(state.time));
  const program = (state: State): RigProgram => {
    const [time, loose] = [state.time, state.loose.length === 2];
    return { led: HANDLES.dependent!, past: state.past, goal: loose ? xy(state.loose) : { keys: listed(state), time } };
  };
  /** Keys before the last changes, and which key the last one was of. */
  const undone: { keys: readonly number[]; what: string }[] = [];

  const figure: Figure<typeof fields> = new Figure({
    id: "keys",
    fields,
    list,
    valid(state) {
      const all = listed(state);
      return state.keys.length % 3 === 0 && state.loose.length !== 1 && all.every(([time], n) => time >= 0 && time <= SECONDS && (n === 0 || time > all[n - 1]![0]));
    },
    solve(state) {
      if (chains === undefined) return;
      keys.set(listed(state));
      const goal = goalOf(state);
      chains.limb!.solve(goal);
      chains.independent!.solve(goal);
      chains.dependent!.solve(goal, state.past);
      chains.spline!.solve(goal, undefined, state.middle);
    },
    read(state) {
      if (chains === undefined) return "";
      const goal = goalOf(state);
      const off = apart(chains.independent!.tip, goal);
      const how = off < REACHED ? "reached" : `${fixed(off)} out of reach`;
      const between = farthest(chains.independent!.points, chains.dependent!.points);
      const same = between < 0.01 ? "both chains of six bones lie alike" : `the joints of both chains of six bones are up to ${fixed(between)} apart`;
      return `${fixed(state.time)} s: goal at ${coordinates(goal)}, ${how}; ${same}${state.loose.length === 2 ? "; not keyed" : ""}`;
    },
    code: { typescript: (state: State) => typescript(program(state)), rust: (state: State) => rust(program(state)) },
    probe: () => ({
      tip: chains?.dependent!.tip,
      chains: chains && Object.fromEntries(Object.entries(chains).map(([name, { points }]) => [name, points])),
      goal: chains && goalOf(figure.state),
      angles: chains?.dependent!.angles,
    }),
  });

  /** Shows a time. The history-dependent chain goes on from where it is. */
  const goTo = (time: number) => figure.set({ time: clamp(time, 0, SECONDS), past: chains!.dependent!.angles, loose: [] });
  /** Takes over edited keys; changes of the same key are undone together. */
  function edit(changed: readonly GoalKey[], what: string, more: Partial<State> = {}): void {
    if (undone.at(-1)?.what !== what) undone.push({ keys: figure.state.keys, what });
    figure.set({ keys: changed.flat(), past: chains!.dependent!.angles, ...more });
  }
  const keyAt = ({ time }: State, within = 0.02) => listed(figure.state).find(([at]) => Math.abs(at - time) <= within);
  function move(to: Xy): void {
    if (chains === undefined) return;
    const { state } = figure;
    // A key that is nearly at this time is the one that is meant.
    const time = keyAt(state)?.[0] ?? state.time;
    if (!state.auto || (keyAt(state) === undefined && listed(state).length >= MOST)) {
      return figure.set({ loose: to, past: chains.dependent!.angles });
    }
    edit(keys.record(time, to), `goal ${fixed(time)}`, { time, loose: [] });
  }

  const main = (name: string) => {
    const pane = figure.pane(name, {
      view: planeView({ width: 2.7, height: 2.7, center: [0, 0.3] }),
      draw(list, theme, pixel) {
        if (chains === undefined) return;
        const { state } = figure;
        const [pen, { points }, goal] = [new Pen(list, theme, pixel), chains[name]!, goalOf(state)];
        const [from, to] = [listed(state)[0]![0], listed(state).at(-1)![0]];
        pen.trace(Array.from({ length: 81 }, (_, n) => keys.at(from + ((to - from) * n) / 80)));
        list.push("discs", "path", listed(state).flatMap(([, x, y]) => [x, y, 0]), { radius: 3.5 * pixel, color: COLORS[theme].gray });
        const { curve } = chains[name]!;
        if (curve !== undefined) list.push("segments", "reference", Array.from({ length: 120 }, (_, n) => [...curve.at((curve.length * n) / 119).position]).flat());
        // As programs show a handle: a line from the first joint to the last.
        list.push("segments", "ground", [...points[0]!, ...points.at(-1)!], { color: COLORS[theme].gray });
        pen.segments(points.map(xy));
        // A chain that is longer than its curve sticks out at the end.
        if (curve === undefined) pen.dashes(xy(points.at(-1)!), goal, true);
        pen.target(goal);
      },
    });
    pane.handle({ name: `Goal, ${HANDLES[name]!.title}`, look: "target", at: () => chains && goalOf(figure.state), move: (to) => move(xy(to)) });
    if (name === "spline") {
      pane.handle({ name: "Middle of the curve", look: "base", at: () => chains && figure.state.middle, move: (to) => figure.set({ middle: xy(to), past: chains!.dependent!.angles }) });
    }
  };
  Object.keys(HANDLES).forEach(main);

  const time = figure.pane("time", {
    view: planeView({ width: SECONDS + 0.5, height: 0.4, center: [SECONDS / 2, 0] }),
    draw(list, theme, pixel) {
      if (chains === undefined) return;
      list.push("segments", "ground", [0, 0, 0, SECONDS, 0, 0], { color: COLORS[theme].gray });
      for (let tick = 0; tick <= 2 * SECONDS; tick++) {
        const high = (tick % 2 === 0 ? 9 : 5) * pixel;
        list.push("segments", "ground", [tick / 2, -high, 0, tick / 2, high, 0], { color: PALE[theme] });
        if (tick % 2 === 0) list.label("ground", [tick / 2, 0, 0], `${tick / 2} s`, [0, -1, 0]);
      }
      list.push("segments", "goal", [figure.state.time, 0, 0, figure.state.time, (LIFT - 13) * pixel, 0]);
    },
  });
  time.handle({
    name: "Time",
    look: "target",
    at: () => chains && [figure.state.time, LIFT * time.view.pixel, 0],
    move: ([x]) => goTo(x),
    step: 0.1,
    keys: ([x, y]) => goTo(figure.state.time + x + y),
  });
  for (let n = 0; n < MOST; n++) {
    const shift = (to: number) => {
      const all = listed(figure.state);
      const [before, after] = [all[n - 1]?.[0], all[n + 1]?.[0]];
      const at = clamp(to, before === undefined ? 0 : before + BETWEEN, after === undefined ? SECONDS : after - BETWEEN);
      if (at !== all[n]![0]) edit(keys.move(all[n]![0], at), `time ${n}`);
    };
    time.handle({
      name: `Key ${n + 1}`,
      look: "key",
      at: () => (chains && listed(figure.state)[n] ? [listed(figure.state)[n]![0], 0, 0] : undefined),
      move: ([x]) => shift(x),
      step: 0.05,
      keys: ([x, y]) => shift(listed(figure.state)[n]![0] + x + y),
    });
  }

  figure.controls.toggle({ label: "Auto key", get: () => figure.state.auto, set: (auto) => figure.set({ auto }) });
  let from = 0;
  figure.motion("Play", (seconds) => {
    if (seconds < 0.1) from = figure.state.time < SECONDS - 0.2 ? figure.state.time : 0;
    return { time: (from + seconds) % SECONDS, past: chains?.dependent!.angles ?? figure.state.past, loose: [] };
  });
  figure.controls.button({
    label: "Delete key",
    enabled: () => chains !== undefined && keyAt(figure.state) !== undefined && listed(figure.state).length > 1,
    press: () => edit(keys.remove(keyAt(figure.state)![0]), `removed ${figure.state.time}`),
  });
  figure.controls.button({
    label: "Undo",
    enabled: () => undone.length > 0,
    press: () => figure.set({ keys: undone.pop()!.keys, past: chains!.dependent!.angles, loose: [] }),
  });
  figure.controls.button({
    label: "Start again",
    press: () => {
      undone.length = 0;
      figure.reset();
    },
  });

  figure.later(async () => {
    const loaded = await files();
    const made = Object.fromEntries(Object.entries(HANDLES).map(([name, led]) => [name, new LedChain(loaded, led)]));
    keys = new GoalKeys(loaded, made.dependent!.rig);
    chains = made;
  });
}

// FK beside IK

const ARM: Led = { joints: [[0, 0, 0], [0.4, 0.45, 0], [0.5, -0.25, 0], [0.28, 0.02, 0]], solver: "auto", from: "last" };
const MARK: Xy = [0.62, 0.9];
const NEAR = 0.02;

function beside(list: DrawList): void {
  const fields = {
    /** Angles of the joints on the left. */
    turned: numbers([0, 0, 0], { min: -7, max: 7 }, { min: 3, max: 3 }),
    /** The goal on the right, and the angles before the solve. */
    goal: point2([1.18, 0.22], FAR),
    past: numbers([0, 0, 0], { min: -7, max: 7 }, { min: 3, max: 3 }),
    mark: point2(MARK, FAR),
  };
  type State = StateOf<typeof fields>;
  let arms: { fk: LedChain; ik: LedChain } | undefined;
  const program = ({ past, goal }: State): RigProgram => ({ led: ARM, past, goal });
  const away = (tip: readonly number[], mark: Xy) => (apart(tip, [...mark, 0]) < NEAR ? "on the mark" : `${fixed(apart(tip, [...mark, 0]))} from it`);
  const figure: Figure<typeof fields> = new Figure({
    id: "beside",
    fields,
    list,
    solve({ turned, goal, past }) {
      arms?.fk.solve(undefined, turned);
      arms?.ik.solve(goal, past);
    },
    read({ mark, goal }) {
      if (arms === undefined) return "";
      const missed = apart(arms.ik.tip, [...goal, 0]);
      const short = missed < REACHED ? "" : `, ${fixed(missed)} short of its goal`;
      return `Mark at ${coordinates(mark)}. FK: ${away(arms.fk.tip, mark)}. IK: ${away(arms.ik.tip, mark)}${short}`;
    },
    code: { typescript: (state: State) => typescript(program(state)), rust: (state: State) => rust(program(state)) },
    probe: () => ({ tip: arms?.ik.tip, fk: arms?.fk.points, ik: arms?.ik.points }),
  });
  const view = () => planeView({ width: 3.2, height: 2.9, center: [0.15, 0.2] });
  const draw = (name: "fk" | "ik") => (list: DrawList, theme: Theme, pixel: number) => {
    if (arms === undefined) return;
    const [pen, { mark, goal }] = [new Pen(list, theme, pixel), figure.state];
    const color = COLORS[theme].orange;
    const ring = Array.from({ length: 49 }, (_, n) => polar(mark, (n * Math.PI) / 24, 0.07)).flat();
    list.push("polyline", "path", ring, { color });
    list.push("discs", "path", [...mark, 0], { radius: 3 * pixel, color });
    const at = arms[name].points.map(xy);
    pen.segments(at);
    if (name === "ik") {
      pen.dashes(at.at(-1)!, goal, true);
      pen.target(goal);
    }
  };
  const fk = figure.pane("fk", { view: view(), draw: draw("fk") });
  const ik = figure.pane("ik", { view: view(), draw: draw("ik") });
  const names = ["Upper arm", "Forearm", "Hand"];
  names.forEach((name, n) => {
    /** Turns the bone that begins at joint n so that it points there. */
    const turn = (angle: number) => figure.set({ turned: figure.state.turned.map((value, joint) => (joint === n ? wrapped(angle) : value)) });
    const pointing = (to: readonly number[]) => {
      const [joint, end] = [arms!.fk.points[n]!, arms!.fk.points[n + 1]!];
      const angle = (at: readonly number[]) => Math.atan2(at[1]! - joint[1], at[0]! - joint[0]);
      return figure.state.turned[n]! + wrapped(angle(to) - angle(end));
    };
    fk.handle({
      name: `${name}, turned by its end`,
      look: n === 2 ? "edge" : "joint",
      at: () => arms?.fk.points[n + 1],
      move: (to) => turn(pointing(to)),
      step: 0.05,
      keys: ([x, y]) => turn(figure.state.turned[n]! - x + y),
    });
  });
  ik.handle({
    name: "Goal",
    look: "target",
    at: () => arms && figure.state.goal,
    move: (to) => figure.set({ goal: xy(to), past: arms!.ik.angles }),
  });
  const start = () => arms !== undefined;
  figure.controls.button({
    label: "Match IK to FK",
    enabled: start,
    press: () => figure.set({ goal: xy(arms!.fk.tip), past: [...figure.state.turned] }),
  });
  figure.controls.button({ label: "Match FK to IK", enabled: start, press: () => figure.set({ turned: arms!.ik.angles }) });
  figure.controls.button({
    label: "Another mark",
    press: () => {
      const at = MARKS.findIndex((mark) => apart(mark, figure.state.mark) < 1e-6);
      figure.set({ mark: MARKS[(at + 1) % MARKS.length]! });
    },
  });
  figure.controls.button({ label: "Start again", press: () => figure.reset() });
  figure.later(async () => {
    const loaded = await files();
    arms = { fk: new LedChain(loaded, ARM), ik: new LedChain(loaded, ARM) };
  });
}

/** The last is out of reach. */
const MARKS: readonly Xy[] = [MARK, [-0.55, 0.7], [0.35, -0.6], [1.1, 1.2]];
const wrapped = (angle: number) => Math.atan2(Math.sin(angle), Math.cos(angle));

await start((_, list) => {
  keyed(list);
  beside(list);
});
