/** The page Feet: a walk that is planted on the ground, frame by frame. */

import { Mesh } from "three";

import type { DrawList } from "sinew/core";
import type { Files, Ground, Pose } from "sinew/files";

import type { Puppet } from "../body/puppet.ts";
import { rust, typescript } from "../feet/code.ts";
import { KINDS, TERRAINS, type Kind } from "../feet/grounds.ts";
import type { Answer, Order } from "../feet/bake.worker.ts";
import { RATE, SIDES, type Planted, type Settings, type Walk } from "../feet/walk.ts";
import { takeFiles } from "../figure/drop.ts";
import { choice, flag, number, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { drawFloor } from "../figure/floor.ts";
import { degrees, fixed } from "../figure/format.ts";
import { Solids } from "../figure/solids.ts";
import { planeView, spaceView } from "../figure/view.ts";
import { start } from "../page.ts";
import { clamp, COLORS, PALE, type Xyz } from "../shapes.ts";
import { geometryOf, groundOf } from "../terrain.ts";

/** Length of the walk in seconds: that of the mannequin's clip. */
const SECONDS = 5.4;
/** Of what the mannequin's left and right are painted. */
const PAINT = ["blue", "orange"] as const;
/** Heights of the curves' parts, in seconds of the axis: bars of standing feet, and where the curves lie. */
const BARS = [1.4, 1.1];
const CURVES = [0.12, 0.9] as const;
/** Least range of heights that fills that, in metres. */
const RANGE = 0.5;

function feet(drawList: DrawList): void {
  const fields = {
    ground: choice<Kind>("stairs", [...KINDS]),
    time: number(2.5, { min: 0, max: SECONDS }),
    planted: flag(true),
    rays: flag(true),
    castAbove: number(0.6, { min: 0, max: 1 }),
    castBelow: number(0.8, { min: 0.05, max: 1 }),
    offset: number(0, { min: 0, max: 0.15 }),
    toeOut: number(0, { min: -0.5, max: 0.8 }),
    pelvisRate: number(1.5, { min: 0.2, max: 4 }),
    footRate: number(4, { min: 0.5, max: 10 }),
    influence: number(1, { min: 0, max: 1 }),
  };
  type State = StateOf<typeof fields>;
  let files: Files;
  let walk: Walk | undefined;
  let puppet: Puppet;
  let pose: Pose;
  /** The ground that is shown, and the reader's own. */
  let ground: { made: Ground; key: string; mesh: Mesh | undefined } | undefined;
  let own: { made: Ground; name: string } | undefined;
  let planted: { walk: Planted; key: string } | undefined;
  let saving = "";
  const solids = new Solids(2.4);
  const stone = solids.material({ light: 0xd9dbde, dark: 0x4d545e }, 0.9);
  const frameOf = ({ time }: State) => clamp(Math.round(time * RATE), 0, walk!.frames - 1);

  function stand(kind: Kind): Ground {
    const key = own ? `own ${own.name}` : kind;
    if (ground?.key === key) return ground.made;
    const made = own?.made ?? groundOf(files, TERRAINS[kind]);
    if (ground?.mesh) {
      ground.mesh.removeFromParent();
      ground.mesh.geometry.dispose();
    }
    if (ground && ground.made !== own?.made) ground.made.free();
    const geometry = geometryOf(made);
    const mesh = geometry && new Mesh(geometry, stone);
    if (mesh) {
      [mesh.receiveShadow, mesh.castShadow] = [true, true];
      solids.scene.add(mesh);
    }
    ground = { made, key, mesh };
    planted = undefined;
    return made;
  }

  const figure: Figure<typeof fields> = new Figure({
    id: "walk",
    fields,
    list: drawList,
    solve(state) {
      if (walk === undefined) return;
      const on = stand(state.ground);
      const { castAbove, castBelow, offset, toeOut, pelvisRate, footRate, influence } = state;
      const settings: Settings = { castAbove, castBelow, offset, toeOut, pelvisRate, footRate, influence };
      const key = JSON.stringify(settings);
      if (planted?.key !== key) planted = { walk: walk.plant(on, settings), key };
      walk.show(pose, frameOf(state), state.planted ? planted.walk : undefined);
    },
    read(state) {
      if (walk === undefined || planted === undefined) return "";
      const frame = frameOf(state);
      const { stands, raise } = planted.walk;
      const standing = SIDES.filter((_, n) => stands[n]![frame] === 1);
      const who = ["no foot stands", `the ${standing[0]} foot stands`, "both feet stand"][standing.length]!;
      const how = state.planted ? `${who}; the pelvis is moved by ${fixed(100 * raise[frame]!, 0)} cm` : "the walk as it is, on its own floor";
      return `${fixed(state.time)} s: ${how}${saving}`;
    },
    code: {
      typescript: (state: State) => (walk ? typescript(state.ground, own?.name, state, frameOf(state), state.planted) : ""),
      rust: (state: State) => (walk ? rust(state.ground, own?.name, state, frameOf(state), state.planted) : ""),
    },
    probe: () => ({
      tip: walk?.at(pose, "left toes"),
      balls: walk && SIDES.map((side) => walk!.at(pose, `${side} toes`)),
      ankles: walk && SIDES.map((side) => walk!.at(pose, `${side} foot`)),
      stands: planted?.walk.stands.map((list) => [...list]),
      raise: planted && [...planted.walk.raise],
      ground: ground?.key,
      rays: planted && walk ? raysAt(frameOf(figure.state)).length / 7 : 0,
      below: walk && SIDES.map((side) => below(walk!.at(pose, `${side} toes`))),
    }),
  });
  /** Height of the ground under the ball of a foot: the highest under its length, as it may end over an edge. */
  const below = ([x, y, z]: Xyz) =>
    Math.max(...[-0.05, 0, 0.05].map((by) => ground?.made.cast([x, y + 1, z + by], [0, -1, 0], 5)?.point[1] ?? -Infinity));
  /** The rays of a frame; casts are made at 30 ticks a second, so that the frame before may have them. */
  const raysAt = (frame: number): Float32Array => {
    const [now, before] = [planted!.walk.rays[frame]!, planted!.walk.rays[frame - 1]];
    return now.length > 0 || before === undefined ? now : before;
  };

  const view = spaceView({ target: [0, 0.85, 0], radius: 1.45, yaw: 62, pitch: 12 });
  const pane = figure.pane("main", {
    view,
    solids: solids.scene,
    draw(list, theme) {
      solids.show(theme);
      drawFloor(list, theme, ground?.mesh ? 0.001 : 6);
      if (walk === undefined) return;
      puppet.show(pose);
      if (!figure.state.rays || !figure.state.planted || planted === undefined) return;
      const rays = raysAt(frameOf(figure.state));
      for (let n = 0; n < rays.length; n += 7) {
        const hit = rays[n + 6] === 1;
            list.ray(rays.subarray(n, n + 3), rays.subarray(n + 3, n + 6), hit, 0.012);
      }
    },
  });
  const curves = figure.pane("curves", {
    view: planeView({ width: SECONDS + 0.5, height: 1.72, center: [SECONDS / 2, 0.78] }),
    draw(list, theme) {
      if (planted === undefined || walk === undefined) return;
      const { stands, heights, raise } = planted.walk;
      const at = (frame: number) => frame / RATE;
      const all = [raise, ...heights];
      const lowest = Math.min(0, ...all.map((values) => values.reduce((a, b) => Math.min(a, b))));
      const highest = Math.max(lowest + RANGE, ...all.map((values) => values.reduce((a, b) => Math.max(a, b))));
      const up = (height: number) => CURVES[0] + ((CURVES[1] - CURVES[0]) * (height - lowest)) / (highest - lowest);
      const line = (values: Float32Array, color: number) => {
        const points: number[] = [];
        for (let n = 1; n < values.length; n++) points.push(at(n - 1), up(values[n - 1]!), 0, at(n), up(values[n]!), 0);
        list.push("segments", "path", points, { color });
      };
      list.push("segments", "ground", [0, up(0), 0, SECONDS, up(0), 0], { color: PALE[theme] });
      line(raise, COLORS[theme].gray);
      SIDES.forEach((_, n) => {
        const color = COLORS[theme][PAINT[n]!];
        line(heights[n]!, color);
        const bar = BARS[n]!;
        // Each time that the foot stands.
        for (let frame = 0, from = -1; frame <= stands[n]!.length; frame++) {
          const on = stands[n]![frame] === 1;
          if (on && from < 0) from = frame;
          if (!on && from >= 0) {
            const [a, b, h] = [at(from), at(frame), 0.045];
            list.push("triangles", "path", [a, bar - h, 0, b, bar - h, 0, b, bar + h, 0, a, bar - h, 0, b, bar + h, 0, a, bar + h, 0], { color });
            from = -1;
          }
        }
      });
      list.push("segments", "goal", [figure.state.time, 0, 0, figure.state.time, 1.5, 0]);
    },
  });
  curves.handle({
    name: "Time",
    look: "target",
    at: () => (walk ? [figure.state.time, 0.02, 0] : undefined),
    move: ([x]) => goTo(x),
    step: 0.1,
    keys: ([x, y]) => goTo(figure.state.time + x + y),
  });

  /** Shows a time, with the camera at the walker's side. */
  function goTo(time: number): void {
    figure.set({ time: clamp(time, 0, SECONDS) });
    follow();
  }
  function follow(): void {
    if (walk === undefined) return;
    const [x, y, z] = walk.at(pose, "hips");
    view.aim?.([x, y - 0.1, z]);
    pane.redraw();
  }

  figure.controls.choice<Kind>({
    label: "Ground",
    options: [
      ["flat", "flat"],
      ["stairs", "up"],
      ["down", "down"],
      ["slope", "slope"],
      ["rough", "rough"],
    ],
    get: () => figure.state.ground,
    set: (kind) => {
      drop();
      figure.set({ ground: kind });
      follow();
    },
  });
  figure.controls.toggle({
    label: "Planted",
    get: () => figure.state.planted,
    set: (on) => {
      figure.set({ planted: on });
      follow();
    },
  });
  figure.controls.toggle({ label: "Rays", get: () => figure.state.rays, set: (rays) => figure.set({ rays }) });
  let from = 0;
  figure.motion("Walk", (seconds) => {
    if (seconds < 0.1) from = figure.state.time < SECONDS - 0.2 ? figure.state.time : 0;
    const time = (from + seconds) % SECONDS;
    queueMicrotask(follow);
    return { time };
  });
  takeFiles(figure, "Open a ground", [".glb", ".gltf", ".obj"], async (file) => {
    const made = files.readGround(await file.arrayBuffer(), file.name);
    drop();
    own = { made, name: file.name };
    figure.set({});
    follow();
  });
  figure.controls.button({ label: "Save as GLB", press: save, enabled: () => walk !== undefined && saving !== SAVING });
  figure.controls.button({
    label: "Start again",
    press: () => {
      drop();
      figure.reset();
      follow();
    },
  });
  const share = (value: number) => `${Math.round(100 * value)} %`;
  const leg = (value: number) => (walk ? `${fixed(100 * value * walk.figure.legLength, 0)} cm` : share(value));
  figure.controls.columns();
  const sliders: [keyof Settings, string, number, number, (value: number) => string][] = [
    ["castAbove", "Casts from above", 0, 1, leg],
    ["castBelow", "Casts to below", 0.05, 1, leg],
    ["offset", "Soles above", 0, 0.15, (value) => `${fixed(100 * value, 0)} cm`],
    ["toeOut", "Toes outwards", -0.5, 0.8, degrees],
    ["pelvisRate", "Pelvis follows", 0.2, 4, (value) => `${fixed(value, 1)} Hz`],
    ["footRate", "Feet settle", 0.5, 10, (value) => `${fixed(value, 1)} Hz`],
    ["influence", "Influence", 0, 1, share],
  ];
  for (const [name, label, min, max, format] of sliders) {
    figure.controls.slider({
      label,
      ...{ min, max, step: (max - min) / 200, format },
      get: () => figure.state[name],
      set: (value) => {
        figure.set({ [name]: value });
        follow();
      },
    });
  }
  /** Leaves the reader's own ground. */
  function drop(): void {
    if (own === undefined) return;
    const { made } = own;
    own = undefined;
    if (ground?.made === made) {
      ground.mesh?.removeFromParent();
      ground.mesh?.geometry.dispose();
      ground = planted = undefined;
    }
    made.free();
  }

  /** Plants the whole clip in a worker, and hands out the file. */
  function save(): void {
    if (walk === undefined || ground === undefined) return;
    const { castAbove, castBelow, offset, toeOut, pelvisRate, footRate, influence } = figure.state;
    const order: Order = {
      ground: own ? { positions: own.made.positions, indices: own.made.indices } : figure.state.ground,
      settings: { castAbove, castBelow, offset, toeOut, pelvisRate, footRate, influence },
    };
    saving = SAVING;
    figure.refresh();
    const worker = new Worker(new URL("../feet/bake.worker.ts", import.meta.url), { type: "module" });
    const end = (answer: Answer) => {
      worker.terminate();
      saving = "failed" in answer ? "" : `; saved, ${share(answer.plantedShare)} of the contacts are planted`;
      figure.refresh();
      if ("failed" in answer) return figure.fail(new Error(answer.failed));
      const link = document.createElement("a");
      link.download = "planted.glb";
      link.href = URL.createObjectURL(new Blob([answer.glb], { type: "model/gltf-binary" }));
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    };
    worker.onmessage = ({ data }: MessageEvent<Answer>) => end(data);
    worker.onerror = (event) => end({ failed: event.message || "the worker that plants cannot be started" });
    worker.postMessage(order);
  }

  figure.later(async () => {
    const [{ load }, { Walk }, { Puppet }] = await Promise.all([import("sinew/files"), import("../feet/walk.ts"), import("../body/puppet.ts")]);
    files = await load();
    const made = new Walk(files);
    puppet = await Puppet.of(made.model, made.model.toGlb());
    solids.scene.add(puppet.scene);
    pose = made.model.skeleton.rest();
    walk = made;
    figure.busy = false;
    figure.refresh();
    follow();
  });
}

const SAVING = "; planting the whole clip…";

await start((_, drawList) => feet(drawList));
