/** The first page: one arm, fixed at its shoulder. */

import type { Core, DrawList } from "sinew/core";

import { numbers, point2, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { apart, coordinates, fixed } from "../figure/format.ts";
import { planeView } from "../figure/view.ts";
import { start } from "../page.ts";
import { Chain, type Limits, type Shape, type Xy } from "../plane/chain.ts";
import { chainCode } from "../plane/code.ts";
import { Pen } from "../plane/pen.ts";

const ROOT: Xy = [-1.2, -0.8];
const LENGTHS = [1.3, 1.1, 0.5];
const LIMITS: Limits = { min: [-2.6, -1.3], max: [0, 1.3] };
/** Half the length of the line that the shoulder stands on. */
const FLOOR = 0.45;

function arm(core: Core, list: DrawList): void {
  const fields = {
    target: point2([0.55, 0.45], 10),
    angles: numbers([1.4, -1.3, -0.4], { min: -3.2, max: 3.2 }, { min: 3, max: 3 }),
  };
  type State = StateOf<typeof fields>;
  const chain = new Chain(core);
  const shape = ({ angles }: State): Shape => ({ root: ROOT, lengths: LENGTHS, angles });
  const hand = () => chain.points.at(-1)!;
  const figure = new Figure({
    id: "arm",
    fields,
    list,
    solve(state) {
      chain.place(shape(state), LIMITS).raw.solve(state.target);
    },
    read({ target }) {
      const missed = apart(hand(), target);
      return `Target at ${coordinates(target)}; ${missed < 0.005 ? "the hand is there" : `the hand is ${fixed(missed)} away`}`;
    },
    code: chainCode((state: State) => ({ ...shape(state), target: state.target, limits: LIMITS })),
    probe: () => ({ tip: hand(), arm: chain.probe() }),
  });
  const pane = figure.pane("main", {
    view: planeView({ width: 5, height: 2.7, center: [0, 0.2] }),
    draw(list, theme, pixel) {
      const pen = new Pen(list, theme, pixel);
      const [x, y] = ROOT;
      list.push("polyline", "ground", [x - FLOOR, y, 0, x + FLOOR, y, 0]);
      pen.segments(chain.points);
      pen.dashes(hand(), figure.state.target, true);
      pen.target(figure.state.target);
    },
  });
  pane.handle({
    name: "Target",
    look: "target",
    at: () => figure.state.target,
    move: ([x, y]) => figure.set({ angles: chain.shape.angles, target: [x, y] }),
  });
}

await start(arm);
