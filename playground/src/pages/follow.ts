/** The page Follow: chains in the plane that are pulled by one end. */

import type { Core, DrawList } from "sinew/core";

import { choice, number, numbers, point2, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { apart, coordinates, degrees, fixed } from "../figure/format.ts";
import type { HandleOptions } from "../figure/handle.ts";
import { planeView, type Point3 } from "../figure/view.ts";
import { start } from "../page.ts";
import { Chain, chainFields, clamped, fits, LENGTH, MAX_SEGMENTS, through, type Lead, type Limits, type Shape, type Xy } from "../plane/chain.ts";
import { chainCode } from "../plane/code.ts";
import { Path } from "../plane/path.ts";
import { Pen } from "../plane/pen.ts";

const FAR = 10;
/** What panes show: a narrow band, all of the column, half of it. */
const BAND = { width: 5, height: 2.4 };
const WIDE = { width: 5.6, height: 3.2 };
const HALF = { width: 4.3, height: 3.2 };

const xy = ([x, y]: Point3): Xy => [x, y];

function repeat(count: number, length: number, angles: readonly number[]): Pick<Shape, "lengths" | "angles"> {
  return { lengths: Array<number>(count).fill(length), angles };
}

/** The target on a figure 8, from where it is on the right. */
function eight(seconds: number): Xy {
  const t = seconds * 1.1;
  return [1.9 * Math.cos(t), 0.9 * Math.sin(2 * t)];
}

function segment(core: Core, list: DrawList): void {
  const fields = { ...chainFields({ root: [-1.6, -0.6], ...repeat(1, 1.6, [0.35]) }, 1), target: point2([0.9, 0.35], FAR) };
  type State = StateOf<typeof fields>;
  const chain = new Chain(core);
  const path = new Path();
  const figure = new Figure({
    id: "segment",
    fields,
    list,
    valid: fits,
    solve(state) {
      chain.follow(state, state.target, "tip");
      path.add(chain.points[0]!);
    },
    read: ({ target }) => `Target at ${coordinates(target)}; tip ${fixed(apart(chain.points.at(-1)!, target))} away`,
    code: chainCode((state: State) => ({ ...state, lead: "tip" })),
    probe: () => chain.probe(),
  });
  const pane = figure.pane("main", {
    view: planeView(BAND),
    draw(list, theme, pixel) {
      const pen = new Pen(list, theme, pixel);
      pen.trace(path.points);
      pen.segments(chain.points);
      pen.target(figure.state.target);
    },
  });
  pane.handle({
    name: "Target",
    look: "target",
    at: () => figure.state.target,
    move: (to) => figure.set({ ...chain.shape, target: xy(to) }),
  });
}

function rope(core: Core, list: DrawList): void {
  const bend = [0.9, -0.5, -0.5, 0.1, 0.45, 0.4];
  const fields = { ...chainFields({ root: [-2.5, -0.8], ...repeat(6, 0.65, bend) }), target: point2([1.2, 0.45], FAR) };
  type State = StateOf<typeof fields>;
  const chain = new Chain(core);
  const path = new Path();
  const figure = new Figure({
    id: "chain",
    fields,
    list,
    valid: fits,
    solve(state) {
      chain.follow(state, state.target, "tip");
      path.add(chain.points[0]!);
    },
    read: ({ target }) => `Target at ${coordinates(target)}; tip ${fixed(apart(chain.points.at(-1)!, target))} away`,
    code: chainCode((state: State) => ({ ...state, lead: "tip" })),
    probe: () => chain.probe(),
  });
  const pane = figure.pane("main", {
    view: planeView(WIDE),
    draw(list, theme, pixel) {
      const pen = new Pen(list, theme, pixel);
      pen.trace(path.points);
      pen.segments(chain.points);
      pen.target(figure.state.target);
    },
  });
  const joints = () => chain.points.slice(0, -1);
  // Joints that the chain does not have now are hidden.
  for (let n = 0; n < MAX_SEGMENTS; n++) {
    pane.handle({
      name: n === 0 ? "Root" : `Joint ${n}`,
      look: "joint",
      at: () => joints()[n],
      move(to) {
        const points = chain.points;
        points[n] = xy(to);
        const shape = through(points);
        // A segment of no length has no direction.
        if (shape.lengths.every((length) => length >= LENGTH.min && length <= LENGTH.max)) figure.set(shape);
      },
    });
  }
  pane.handle({
    name: "Target",
    look: "target",
    at: () => figure.state.target,
    move: (to) => figure.set({ ...chain.shape, target: xy(to) }),
  });
  figure.controls.counter({
    label: "Segments",
    min: 1,
    max: MAX_SEGMENTS,
    less: "Remove a segment",
    more: "Add a segment",
    get: () => figure.state.lengths.length,
    set(count) {
      // At the root: the tip stays at the target.
      const points = chain.points;
      while (points.length > count + 1) points.shift();
      while (points.length < count + 1) {
        const [a, b] = points as [Xy, Xy];
        points.unshift([2 * a[0] - b[0], 2 * a[1] - b[1]]);
      }
      figure.set(through(points));
    },
  });
  figure.controls.slider({
    label: "Length of each",
    ...LENGTH,
    step: 0.01,
    get: () => figure.state.lengths.reduce((sum, length) => sum + length, 0) / figure.state.lengths.length,
    set(length) {
      // The target pulls the longer or shorter chain back to itself.
      const { root, angles } = chain.shape;
      figure.set({ root, angles, lengths: angles.map(() => length) });
    },
  });
  figure.motion("Play a figure 8", (seconds) => ({ ...chain.shape, target: eight(seconds) }));
  figure.controls.button({ label: "Start again", press: () => (path.clear(), figure.reset()) });
}

function ends(core: Core, list: DrawList): void {
  const shape: Shape = { root: [-1.5, 0.6], ...repeat(6, 0.5, [-0.9, 0.6, 0.5, 0.2, -0.4, -0.4]) };
  const other: Shape = { root: [0.75, 0.55], ...repeat(6, 0.5, [-2.9, 0.35, 0.3, -0.2, -0.5, -0.4]) };
  const { root, angles, lengths } = chainFields(shape);
  const second = chainFields(other);
  const fields = { target: point2([0.9, 0.7], FAR), root, angles, lengths, root2: second.root, angles2: second.angles };
  type State = StateOf<typeof fields>;
  const [tip, led] = [new Chain(core), new Chain(core)];
  const of = ({ root2, angles2, lengths }: State): Shape => ({ root: root2, angles: angles2, lengths });
  const figure = new Figure({
    id: "ends",
    fields,
    list,
    valid: (state) => fits(state) && fits(of(state)),
    solve(state) {
      tip.follow(state, state.target, "tip");
      led.follow(of(state), state.target, "root");
    },
    read: ({ target }) =>
      `Target at ${coordinates(target)}; led from the tip, the root is ${fixed(apart(tip.points[0]!, target))} behind; ` +
      `led from the root, the tip is ${fixed(apart(led.points.at(-1)!, target))} behind`,
    code: chainCode((state: State) => ({ ...of(state), target: state.target, lead: "root" })),
    probe: () => ({ tip: led.points.at(-1), byTip: tip.probe(), byRoot: led.probe() }),
  });
  const move = (to: Point3) => {
    const { root, angles } = tip.shape;
    const second = led.shape;
    figure.set({ root, angles, root2: second.root, angles2: second.angles, target: xy(to) });
  };
  for (const [name, chain] of [["tip", tip], ["root", led]] as const) {
    const pane = figure.pane(name, {
      view: planeView(HALF),
      draw(list, theme, pixel) {
        const pen = new Pen(list, theme, pixel);
        pen.segments(chain.points);
        pen.target(figure.state.target);
      },
    });
    pane.handle({ name: `Target, led from the ${name}`, look: "target", at: () => figure.state.target, move });
  }
}

/** Widest angle of a limit: half a turn, less a little. */
const HALF_TURN = 3.12;
/** Radius of wedges. */
const WEDGE = 0.42;

function limited(core: Core, list: DrawList): void {
  const count = 4;
  const shape: Shape = { root: [-1.2, -0.5], ...repeat(count, 0.72, [1.25, -1.5, 1.35, -1.3]) };
  const range = { min: -HALF_TURN, max: HALF_TURN };
  const joints = { min: count - 1, max: count - 1 };
  const base = chainFields(shape, count);
  const fields = {
    target: point2([1.05, 0.35], FAR),
    lead: choice<Lead>("tip", ["tip", "root"]),
    min: numbers([-0.75, -0.45, -0.75], range, joints),
    max: numbers([0.45, 0.75, 0.75], range, joints),
    ...base,
    root2: base.root,
    angles2: base.angles,
  };
  type State = StateOf<typeof fields>;
  const [free, held] = [new Chain(core), new Chain(core)];
  // The chain as seen from its other end: what the wedges against the child are drawn on.
  const mirror = new Chain(core);
  const of = ({ root2, angles2, lengths }: State): Shape => ({ root: root2, lengths, angles: angles2 });
  const figure = new Figure({
    id: "limits",
    fields,
    list,
    valid: (state) => state.lengths.length === count && fits(state) && fits(of(state)) && state.min.every((low, n) => low <= state.max[n]!),
    solve(state) {
      free.follow(state, state.target, state.lead);
      state.angles2 = clamped(state.angles2, state);
      held.follow(of(state), state.target, state.lead, state);
      mirror.place(...reversed(held, state));
    },
    read({ target }) {
      const bent = (chain: Chain) => degrees(Math.max(...[...chain.raw.angles].slice(1).map(Math.abs)));
      return `Target at ${coordinates(target)}; sharpest bend: ${bent(free)} without limits, ${bent(held)} with them`;
    },
    code: chainCode((state: State) => ({ ...of(state), target: state.target, lead: state.lead, limits: state })),
    probe: () => ({ tip: held.points.at(-1), off: free.probe(), on: held.probe() }),
  });
  /** The chains as they are now, as the start of the next change. */
  const settled = () => {
    const [{ root, angles }, second] = [free.shape, held.shape];
    return { root, angles, root2: second.root, angles2: second.angles };
  };
  const limits = {
    get state() {
      return figure.state;
    },
    set: (change: Partial<Limits>) => figure.set({ ...settled(), ...change }),
  };
  const move = (to: Point3) => figure.set({ ...settled(), target: xy(to) });
  for (const [name, chain] of [["off", free], ["on", held]] as const) {
    const pane = figure.pane(name, {
      view: planeView(HALF),
      draw(list, theme, pixel) {
        if (name === "on") list.chain2dLimits(figure.state.lead === "tip" ? mirror.raw : held.raw, WEDGE);
        const pen = new Pen(list, theme, pixel);
        pen.segments(chain.points);
        pen.target(figure.state.target);
      },
    });
    if (name === "on") {
      for (let joint = 1; joint < count; joint++) {
        for (const edge of ["min", "max"] as const) pane.handle(knob(limits, held, joint, edge));
      }
    }
    pane.handle({ name: `Target, limits ${name}`, look: "target", at: () => figure.state.target, move });
  }
  figure.controls.choice<Lead>({
    label: "Held against",
    options: [
      ["tip", "the child"],
      ["root", "the parent"],
    ],
    get: () => figure.state.lead,
    set(lead) {
      // Each chain turns about its middle, so that the end that leads now is where the other one was: at the target.
      const [one, two] = [exchanged(free), exchanged(held)];
      figure.set({ lead, root: one.root, angles: one.angles, root2: two.root, angles2: two.angles });
    },
  });
  figure.controls.slider({
    label: "All joints",
    min: 0,
    max: HALF_TURN,
    step: 0.01,
    format: (value) => `±${degrees(value)}`,
    get: () => Math.max(...figure.state.max, ...figure.state.min.map((low) => -low)),
    set: (value) => figure.set({ ...settled(), min: [-value, -value, -value], max: [value, value, value] }),
  });
  figure.controls.button({ label: "Start again", press: () => figure.reset() });
}

/** A chain turned by half a turn, with its root where its tip was. */
function exchanged(chain: Chain): Shape {
  const points = chain.points;
  const [root, tip] = [points[0]!, points.at(-1)!];
  return through(points.map(([x, y]) => [root[0] + tip[0] - x, root[1] + tip[1] - y]));
}

/** A chain and its limits from the tip to the root. */
function reversed(chain: Chain, { min, max }: Limits): [Shape, Limits] {
  const shape = through(chain.points.reverse());
  const turned = (values: readonly number[]) => values.map((value) => -value || 0).reverse();
  return [shape, { min: turned(max), max: turned(min) }];
}

/** A knob on an edge of a wedge. */
function knob(
  figure: { state: Limits & { lead: Lead }; set(change: Partial<Limits>): void },
  chain: Chain,
  joint: number,
  edge: "min" | "max",
): HandleOptions {
  /** Direction from which the angle is measured, and its sign. */
  const zero = (): [number, number] => {
    const points = chain.points;
    // Against the parent: its direction. Against the child: the direction back from it, and the other way round.
    const [a, b, sign] = figure.state.lead === "root" ? ([joint - 1, joint, 1] as const) : ([joint + 1, joint, -1] as const);
    return [Math.atan2(points[b]![1] - points[a]![1], points[b]![0] - points[a]![0]), sign];
  };
  const set = (angle: number) => {
    const { min, max } = figure.state;
    const n = joint - 1;
    const [low, high] = edge === "min" ? [-HALF_TURN, max[n]!] : [min[n]!, HALF_TURN];
    const values = [...figure.state[edge]];
    values[n] = Math.min(Math.max(angle, low), high);
    figure.set({ [edge]: values });
  };
  return {
    name: `${edge === "min" ? "Lower" : "Upper"} limit of joint ${joint}`,
    look: "edge",
    at() {
      const [direction, sign] = zero();
      const angle = direction + sign * figure.state[edge][joint - 1]!;
      const [x, y] = chain.points[joint]!;
      return [x + WEDGE * Math.cos(angle), y + WEDGE * Math.sin(angle)];
    },
    move([x, y]: Point3) {
      const at = chain.points[joint]!;
      const [direction, sign] = zero();
      const turn = sign * (Math.atan2(y - at[1], x - at[0]) - direction);
      const angle = Math.atan2(Math.sin(turn), Math.cos(turn));
      const now = figure.state[edge][joint - 1]!;
      // Half a turn is a wall: a pointer beyond it does not come back on the other side.
      set(Math.abs(angle - now) > Math.PI ? Math.sign(now) * HALF_TURN : angle);
    },
    step: Math.PI / 36,
    keys: ([x, y]: Point3) => set(figure.state[edge][joint - 1]! + x + y),
  };
}

type Mode = "live" | "pass" | "segment";

function steps(core: Core, list: DrawList): void {
  const shape: Shape = { root: [-2.4, -0.6], ...repeat(5, 0.75, [0.7, -0.5, -0.6, 0.3, 0.5]) };
  const fields = {
    target: point2([1.7, 0.8], FAR),
    mode: choice<Mode>("segment", ["live", "pass", "segment"]),
    lead: choice<Lead>("tip", ["tip", "root"]),
    done: number(0, { min: 0, max: MAX_SEGMENTS, whole: true }),
    ...chainFields(shape),
  };
  type State = StateOf<typeof fields>;
  const [before, after] = [new Chain(core), new Chain(core)];
  const figure: Figure<typeof fields> = new Figure({
    id: "steps",
    fields,
    list,
    valid: (state) => fits(state) && state.done <= state.lengths.length,
    solve(state) {
      before.place(state);
      after.follow(state, state.target, state.lead);
    },
    read({ target, done, lengths: { length } }) {
      return `Target at ${coordinates(target)}; ${done === length ? "all segments have moved" : `${done} of ${length} segments have moved`}`;
    },
    code: chainCode((state: State) => state),
    probe: () => ({ tip: after.points.at(-1), before: before.probe(), after: after.probe() }),
  });
  const total = () => figure.state.lengths.length;
  const pane = figure.pane("main", {
    view: planeView(WIDE),
    draw(list, theme, pixel) {
      const { done, lead, target, mode } = figure.state;
      const [old, now, n] = [before.points, after.points, total()];
      const pen = new Pen(list, theme, pixel);
      // Joint at which the part that has moved and the part that waits come apart.
      const gap = lead === "tip" ? n - done : done;
      const [waits, moved] = [[0, gap], [gap, n]] as [number, number][];
      if (mode !== "live") pen.trace(lead === "tip" ? old.slice(gap) : old.slice(0, gap + 1));
      pen.segments(old, lead === "tip" ? waits : moved);
      pen.segments(now, lead === "tip" ? moved : waits);
      pen.dashes(old[gap]!, done === 0 ? target : now[gap]!, done === 0);
      pen.target(target);
    },
  });
  pane.handle({
    name: "Target",
    look: "target",
    at: () => figure.state.target,
    move(to) {
      const { mode, done } = figure.state;
      // A chain that has arrived starts from where it is; one on its way starts again.
      const from = done === total() ? after.shape : {};
      figure.set({ ...from, target: xy(to), done: mode === "live" ? total() : 0 });
    },
  });
  figure.controls.button({
    label: "Step",
    primary: true,
    enabled: () => figure.state.done < total(),
    press: () => figure.set({ done: figure.state.mode === "segment" ? figure.state.done + 1 : total() }),
  });
  figure.controls.choice<Mode>({
    label: "A step is",
    options: [
      ["segment", "one segment"],
      ["pass", "one pass"],
      ["live", "live"],
    ],
    get: () => figure.state.mode,
    set: (mode) => figure.set(mode === "live" ? { mode, done: total() } : { mode }),
  });
  figure.controls.choice<Lead>({
    label: "Led from",
    options: [
      ["tip", "the tip"],
      ["root", "the root"],
    ],
    get: () => figure.state.lead,
    set(lead) {
      const from = figure.state.done === total() ? after.shape : {};
      figure.set({ ...from, lead, done: figure.state.mode === "live" ? total() : 0 });
    },
  });
  figure.controls.button({ label: "Start again", press: () => figure.reset() });
}

await start((core, list) => {
  segment(core, list);
  rope(core, list);
  ends(core, list);
  limited(core, list);
  steps(core, list);
});
