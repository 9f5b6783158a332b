/** The page Creature: a crawler that walks to where the reader puts the target. */

import { Mesh } from "three";

import type { DrawList } from "sinew/core";
import type { Files, Ground } from "sinew/files";

import type { Puppet } from "../body/puppet.ts";
import { rust, typescript } from "../creature/code.ts";
import { Crawl, FRAMES, RATE, type Settings } from "../creature/crawl.ts";
import { PLACES, TERRAINS, type Place } from "../creature/places.ts";
import { choice, flag, number, point2, type StateOf } from "../figure/fields.ts";
import { Figure } from "../figure/figure.ts";
import { drawFloor } from "../figure/floor.ts";
import { fixed } from "../figure/format.ts";
import { Solids } from "../figure/solids.ts";
import { spaceView, type Point3 } from "../figure/view.ts";
import { start } from "../page.ts";
import { clamp, COLORS, type Xyz } from "../shapes.ts";
import { geometryOf, groundOf } from "../terrain.ts";

/** Largest distance of the target from the middle along each axis: within the grounds. */
const FAR = 1.9;
/** Height of the middle of what the camera looks at, and the share of the way to it that the camera makes in a frame. */
const EYE = 0.15;
const FOLLOWS = 0.03;

function creature(drawList: DrawList): void {
  const fields = {
    legs: choice<Settings["legs"]>("8", ["4", "6", "8"]),
    place: choice<Place>("rough", [...PLACES]),
    target: point2([0.5, 1.3], FAR),
    speed: number(0.45, { min: 0.1, max: 1 }),
    ride: number(1, { min: 0.6, max: 1.4 }),
    lift: number(0.12, { min: 0.03, max: 0.5 }),
    prints: flag(true),
  };
  type State = StateOf<typeof fields>;
  let files: Files | undefined;
  let puppets: typeof Puppet;
  let crawl: Crawl | undefined;
  let puppet: { shown: Puppet; legs: string } | undefined;
  /** What is shown: legs and place, and how it walks. */
  let [key, walks] = ["", ""];
  let ground: { made: Ground; place: Place; mesh: Mesh | undefined } | undefined;
  let eye: [number, number, number] = [0, EYE, 0];
  const solids = new Solids(2.4);
  const stone = solids.material({ light: 0xd9dbde, dark: 0x4d545e }, 0.9);

  function stand(place: Place): Ground {
    if (ground?.place === place) return ground.made;
    if (ground) {
      ground.mesh?.removeFromParent();
      ground.mesh?.geometry.dispose();
      ground.made.free();
    }
    const made = groundOf(files!, TERRAINS[place]);
    const geometry = geometryOf(made);
    const mesh = geometry && new Mesh(geometry, stone);
    if (mesh) {
      [mesh.receiveShadow, mesh.castShadow] = [true, true];
      solids.scene.add(mesh);
    }
    ground = { made, place, mesh };
    return made;
  }

  /** Loads the scene of a creature with other legs. */
  function dress({ model }: Crawl, legs: string): void {
    puppet?.shown.free();
    puppet = undefined;
    puppets.of(model, model.toGlb()).then(
      (shown) => {
        if (figure.state.legs !== legs || puppet?.legs === legs) return shown.free();
        puppet = { shown, legs };
        solids.scene.add(shown.scene);
        figure.refresh();
      },
      (error: unknown) => figure.fail(error),
    );
  }

  function begin({ legs, ride, lift, place }: State): void {
    const on = stand(place);
    const worn = puppet?.legs === legs;
    crawl?.free();
    crawl = undefined;
    crawl = new Crawl(files!, { legs, ride, lift }, on);
    if (!worn) dress(crawl, legs);
    eye = [0, EYE, 0];
    view.aim?.(eye);
  }

  const figure: Figure<typeof fields> = new Figure({
    id: "crawler",
    fields,
    list: drawList,
    solve(state) {
      if (files === undefined) return;
      const { legs, place, ride, lift } = state;
      const [now, how] = [[legs, place].join(), [ride, lift].join()];
      if (now !== key || crawl === undefined) begin(state);
      else if (how !== walks) crawl.set(state);
      [key, walks] = [now, how];
    },
    read({ target }) {
      if (crawl === undefined) return "";
      const { gait, standing, waits, placement } = crawl.report;
      const all = crawl.feet.length;
      const away = Math.hypot(target[0] - placement.position[0], target[1] - placement.position[2]);
      const why = waits?.why === undefined ? "" : `; it waits, as for a foot ${waits.why}`;
      if (standing === all) return `All ${all} feet stand, ${fixed(away)} m from the target${why}`;
      return `Gait: ${gait}; ${standing} of ${all} feet stand, ${fixed(away)} m from the target${why}`;
    },
    code: { typescript, rust },
    probe: () => ({
      tip: files && ground && walked(figure.state),
      at: crawl && [...crawl.report.placement.position],
      feet: crawl?.feet,
      report: crawl && { ...crawl.report },
      prints: crawl?.prints.length,
      ground: ground?.place,
      shown: puppet?.legs,
    }),
  });
  /** Where the programs end. */
  function walked({ legs, ride, lift, speed, target }: State): Xyz {
    const other = new Crawl(files!, { legs, ride, lift }, ground!.made);
    for (let frame = 0; frame < FRAMES; frame++) other.step(1 / RATE, target, speed);
    const at = other.report.placement.position;
    other.free();
    return at;
  }
  const height = (x: number, z: number) => ground?.made.cast([x, 2, z], [0, -1, 0], 4)?.point[1];

  const view = spaceView({ target: [0, EYE, 0], radius: 1.25, yaw: 28, pitch: 26 });
  const pane = figure.pane("main", {
    view,
    solids: solids.scene,
    draw(list, theme) {
      solids.show(theme);
      drawFloor(list, theme, ground?.mesh ? 0.001 : 3);
      if (crawl === undefined) return;
      const { position, rotation } = crawl.report.placement;
      if (puppet) {
        puppet.shown.scene.position.fromArray(position);
        puppet.shown.scene.quaternion.fromArray(rotation);
        puppet.shown.show(crawl.pose);
      }
      const color = (left: boolean) => COLORS[theme][left ? "blue" : "orange"];
      if (figure.state.prints) {
        for (const left of [true, false]) {
          const points = crawl.prints.filter((print) => print.left === left).flatMap(({ at: [x, y, z] }) => [x, y + 0.012, z]);
          if (points.length > 0) list.push("discs", "path", points, { radius: 0.012, color: color(left) });
        }
      }
    },
  });

  function lead(x: number, z: number): void {
    figure.set({ target: [clamp(x, -FAR, FAR), clamp(z, -FAR, FAR)] });
    figure.play();
  }
  /** Leads it to the ground behind a point, along the line of sight. */
  function sight(to: Point3): void {
    const { x, y, z } = view.camera.position;
    const [dx, dy, dz] = [to[0] - x, to[1] - y, to[2] - z];
    const [tx, tz] = figure.state.target;
    const share = dy < 0 ? ((height(tx, tz) ?? 0) - y) / dy : Infinity;
    // Above the horizon there is no ground.
    if (share > 0 && share < 6) lead(x + share * dx, z + share * dz);
  }
  pane.handle({
    name: "Where to",
    look: "target",
    at() {
      const [x, z] = figure.state.target;
      return files && [x, (height(x, z) ?? 0) + 0.01, z];
    },
    move: (to: Point3) => sight(to),
    step: 0.1,
    // As seen: up is away from the reader. It stays within the pane.
    keys([right, up, near]) {
      const { x, z } = view.camera.position;
      const [fx, fz] = [eye[0] - x, eye[2] - z];
      const long = Math.hypot(fx, fz) || 1;
      const [ahead, side] = [(up - near) / long, right / long];
      const [tx, tz] = figure.state.target;
      const [toX, toZ] = [tx + ahead * fx - side * fz, tz + ahead * fz + side * fx];
      const to = [toX, height(toX, toZ) ?? 0, toZ];
      const [left, top] = view.project(to);
      const within = view.unproject(left, top, to);
      const [shownLeft, shownTop] = view.project(within);
      if (Math.hypot(shownLeft - left, shownTop - top) < 0.5) lead(toX, toZ);
      else sight(within);
    },
  });

  figure.controls.choice<Settings["legs"]>({
    label: "Legs",
    options: [
      ["4", "four"],
      ["6", "six"],
      ["8", "eight"],
    ],
    get: () => figure.state.legs,
    set: (legs) => figure.set({ legs }),
  });
  figure.controls.choice<Place>({
    label: "Ground",
    options: PLACES.map((place) => [place, place] as const),
    get: () => figure.state.place,
    set: (place) => figure.set({ place }),
  });
  figure.controls.toggle({ label: "Footprints", get: () => figure.state.prints, set: (prints) => figure.set({ prints }) });
  let last = 0;
  figure.motion("Walk", (seconds) => {
    const passed = seconds > last ? seconds - last : 0;
    last = seconds;
    if (crawl === undefined) return {};
    const { target, speed } = figure.state;
    crawl.step(passed, target, speed);
    const [x, y, z] = crawl.report.placement.position;
    const to = [x, y + EYE, z];
    eye = eye.map((from, axis) => from + FOLLOWS * (to[axis]! - from)) as typeof eye;
    view.aim?.(eye);
    if (crawl.rests(target)) queueMicrotask(() => figure.pause());
    return {};
  });
  figure.controls.button({
    label: "Start again",
    press() {
      key = "";
      figure.reset();
    },
  });
  figure.controls.columns();
  const share = (value: number) => `${Math.round(100 * value)} %`;
  const sliders = [
    ["speed", "Speed", 0.1, 1, (value: number) => `${fixed(value)} m/s`],
    ["ride", "Height", 0.6, 1.4, share],
    ["lift", "Step height", 0.03, 0.5, (value: number) => `${share(value)} of a leg`],
  ] as const;
  for (const [name, label, min, max, format] of sliders) {
    figure.controls.slider({
      label,
      ...{ min, max, step: (max - min) / 100, format },
      get: () => figure.state[name],
      set: (value) => figure.set({ [name]: value }),
    });
  }

  figure.later(async () => {
    const [{ load }, { Puppet }] = await Promise.all([import("sinew/files"), import("../body/puppet.ts")]);
    [files, puppets] = [await load(), Puppet];
  });
}

await start((_, drawList) => creature(drawList));
