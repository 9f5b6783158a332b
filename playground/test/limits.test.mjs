// The page Limits: each figure by mouse, touch and keys, beside searches in f64.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { browse, dragMouse, dragTouch, handle, look, pressKeys, serve, settled, slide } from "./browser.mjs";
import { distance, near } from "./points.mjs";

const server = await serve();
const browser = await browse({ hasTouch: true });
const url = `${server.root}limits.html`;
after(async () => {
  await browser.close();
  server.close();
});

/** Drags a handle by mouse and by touch, and steps it by keys; checks each time. */
async function tryAll(page, id, name, moves, keys, check) {
  const target = await handle(page, id, name);
  for (const drag of [dragMouse, dragTouch]) {
    for (const [dx, dy] of moves) {
      const before = await look(page, id);
      await drag(page, target, dx, dy);
      const now = await look(page, id);
      assert.notDeepEqual(now.state, before.state, `${name} by ${drag.name}`);
      check(now, `${name} by ${drag.name}`);
    }
  }
  for (const key of keys) {
    const before = await look(page, id);
    await pressKeys(page, target, key, 2);
    const now = await look(page, id);
    assert.notDeepEqual(now.state, before.state, `${name} by ${key}`);
    check(now, `${name} by ${key}`);
  }
}

const BONES = [0.7, 0.6, 0.5, 0.4];

/** The finger's tip at three angles. */
function tip(angles) {
  let [x, y, angle] = [-1.3 + BONES[0], -0.25, 0];
  angles.forEach((turn, n) => {
    angle += turn;
    x += BONES[n + 1] * Math.cos(angle);
    y += BONES[n + 1] * Math.sin(angle);
  });
  return [x, y];
}

/** Smallest distance of the tip from a target within limits: the best of a grid, made finer around its best. */
function nearest(target, min, max) {
  let [low, high, best] = [min, max, { d: Infinity }];
  for (let round = 0; round < 12; round++) {
    const steps = round === 0 ? 40 : 8;
    const at = (n, k) => low[n] + ((high[n] - low[n]) * k) / steps;
    for (let i = 0; i <= steps; i++) {
      for (let j = 0; j <= steps; j++) {
        for (let k = 0; k <= steps; k++) {
          const angles = [at(0, i), at(1, j), at(2, k)];
          const d = distance(tip(angles), target);
          if (d < best.d) best = { d, angles };
        }
      }
    }
    const width = low.map((value, n) => ((high[n] - value) * 1.5) / steps);
    low = best.angles.map((value, n) => Math.max(value - width[n], min[n]));
    high = best.angles.map((value, n) => Math.min(value + width[n], max[n]));
  }
  return best.d;
}

test("hinge: angles stay in their ranges, and the tip is as near as they allow", async () => {
  const { page, errors } = await browser.open(url);
  const check = ({ state, probe }, what) => {
    probe.angles.forEach((angle, n) => {
      assert.ok(angle >= state.min[n] - 1e-4 && angle <= state.max[n] + 1e-4, `${what}: joint ${n + 1} at ${angle}`);
    });
    near(distance(probe.tip, tip(probe.angles)), 0, 1e-3, `${what}: tip`);
    const left = distance(probe.tip, state.target);
    const best = nearest(state.target, state.min, state.max);
    // Out of reach, the solver gives up a hundredth of the chain's length to stay near the pose that it starts from.
    const length = BONES.reduce((sum, bone) => sum + bone);
    assert.ok(left <= best + (best > 1e-3 ? 0.01 * length : 0) + 1e-3, `${what}: ${left} away, where ${best} can be had`);
    assert.equal(probe.reached, best < 1e-4, `${what}: ${left} away, where ${best} can be had`);
  };
  await tryAll(page, "hinge", "Target", [[60, -20], [-150, 60], [20, 120], [140, -90]], ["ArrowLeft", "ArrowUp"], check);
  for (const name of ["Upper limit of joint 1", "Lower limit of joint 3"]) await tryAll(page, "hinge", name, [[25, 15], [-35, 10]], ["ArrowLeft", "ArrowDown"], check);
  await page.click('#hinge button:has-text("Start again")');
  const { state } = await look(page, "hinge");
  assert.deepEqual(state.target, [0.35, 0.75]);
  assert.deepEqual(errors, []);
  await page.close();
});

/** Swing, as a rotation vector across y, and twist about y, of a rotation that is first the twist. */
function swingAndTwist([x, y, z, w]) {
  const size = Math.hypot(y, w);
  const [ty, tw] = [y / size, w / size];
  const [sx, sz] = [x * tw + z * ty, z * tw - x * ty];
  const half = Math.hypot(sx, sz);
  const angle = 2 * Math.atan2(half, size);
  const twist = 2 * Math.atan2(ty, tw);
  return { swing: half > 0 ? [(sx / half) * angle, (sz / half) * angle] : [0, 0], twist: Math.atan2(Math.sin(twist), Math.cos(twist)) };
}

/** Place of a swing in its quarter of an ellipse: 1 at the edge. The second axis is -z. */
function place([sx, sz], { x, z }) {
  const [a, b] = [sx < 0 ? -x[0] : x[1], -sz < 0 ? -z[0] : z[1]];
  const share = (value, half) => (value === 0 ? 0 : value / half);
  return Math.hypot(share(sx, a), share(sz, b));
}

test("ball: the bone stays in its ellipses, as near to the target as they allow, and the twist in its range", async () => {
  const { page, errors } = await browser.open(url);
  let outermost = 0;
  const check = ({ state, probe }, what) => {
    const { swing, twist } = swingAndTwist(probe.rotation);
    assert.ok(place(swing, state) <= 1 + 1e-3, `${what}: ${place(swing, state)} of the ellipse`);
    assert.ok(Math.abs(twist) <= state.range + 1e-3, `${what}: twisted by ${twist}`);
    outermost = Math.max(outermost, place(swing, state));
    // All directions inside, by their swings, beside the target's.
    const to = [state.target[0], state.target[1] - 0.25, state.target[2]];
    const length = Math.hypot(...to);
    let best = Infinity;
    for (let i = 0; i < 360; i++) {
      for (let k = 0; k <= 40; k++) {
        const direction = (i * Math.PI) / 180;
        const unit = [Math.cos(direction), Math.sin(direction)];
        const angle = k / 40 / place(unit, state);
        // A rotation about (ux, 0, uz) takes y to (-uz sin, cos, ux sin).
        const bone = [-unit[1] * Math.sin(angle), Math.cos(angle), unit[0] * Math.sin(angle)];
        const cosine = bone.reduce((sum, value, axis) => sum + (value * to[axis]) / length, 0);
        best = Math.min(best, Math.acos(Math.min(Math.max(cosine, -1), 1)));
      }
    }
    assert.ok(probe.off <= best + 0.01, `${what}: ${probe.off} off, where ${best} can be had`);
  };
  await tryAll(page, "ball", "Target", [[60, 40], [-150, 60], [80, -70]], ["ArrowRight", "PageDown", "ArrowDown"], check);
  for (const name of ["Limit towards x", "Limit towards −z"]) await tryAll(page, "ball", name, [[20, 15], [-25, -10]], ["ArrowLeft", "PageUp"], check);
  // A knob that is dragged through the middle leaves some width.
  const knob = await handle(page, "ball", "Limit towards x");
  for (let n = 0; n < 12; n++) await pressKeys(page, knob, "ArrowLeft", 3);
  const narrow = await look(page, "ball");
  assert.equal(narrow.state.z[1], 0.02);
  check(narrow, "a narrow quarter");
  assert.ok(await page.isHidden("#ball .error"));
  await slide(page, "ball", "Twist wanted", 2.5);
  check(await look(page, "ball"), "twist wanted");
  await slide(page, "ball", "Twist allowed", 0.1);
  check(await look(page, "ball"), "twist allowed");
  assert.ok(outermost > 0.99, `the bone never came to the edge: ${outermost}`);
  assert.deepEqual(errors, []);
  await page.close();
});

test("ball: the flag turns as it is told, within its range", async () => {
  const { page } = await browser.open(url);
  // An upright bone: the twist is the turn of the flag.
  await page.evaluate(() => (location.hash = "#ball=target:0,1.5,0;range:1"));
  await page.waitForFunction(() => window.playground.figures.ball.state.target[1] === 1.5);
  for (const wanted of [-3, -0.8, 0, 0.6, 2]) {
    await slide(page, "ball", "Twist wanted", wanted);
    const { probe } = await look(page, "ball");
    near(swingAndTwist(probe.rotation).twist, Math.min(Math.max(wanted, -1), 1), 5e-3, `twist for ${wanted}`);
  }
  await page.close();
});

test("telescope: one tube after the other, in either order, softly with ease, and all of them arrive", async () => {
  const { page, errors } = await browser.open(url);
  const total = ({ pushed }) => pushed.reduce((sum, value) => sum + value, 0);
  const check = ({ state, probe }, what) => {
    for (const value of probe.pushed) assert.ok(value >= -1e-5 && value <= 0.45 + 1e-5, `${what}: ${value} in`);
    near(total(probe), Math.min(Math.max(1.65 - state.height, 0), 1.35), 2e-3, `${what}: in all`);
  };
  await tryAll(page, "telescope", "Top", [[0, 60], [0, -120], [0, 150]], ["ArrowUp", "ArrowDown"], check);
  for (const [label, order] of [["the upper tube", [2, 1, 0]], ["the lower tube", [0, 1, 2]]]) {
    await page.click(`#telescope label:has-text("${label}")`);
    for (const ease of [0, 0.3]) {
      await slide(page, "telescope", "Ease", ease);
      const now = await look(page, "telescope");
      check(now, label);
      const { curves } = now.probe;
      // The next tube starts where the one before it is in; with ease, in the zone before its end.
      const zone = 0.45 * 0.5 * ease;
      let soft = 0;
      for (const values of curves) {
        for (const [first, next] of [[order[0], order[1]], [order[1], order[2]]]) {
          if (values[next] > 2e-3) assert.ok(values[first] > 0.45 - zone - 2e-3, `${label}, ease ${ease}: ${values}`);
          if (values[next] > 2e-3 && values[first] < 0.448) soft++;
        }
      }
      assert.ok(ease === 0 ? soft === 0 : soft > 2, `${label}, ease ${ease}: ${soft} of both at once`);
      for (const value of curves.at(-1)) near(value, 0.45, 2e-3, `${label}, ease ${ease}: at the end`);
    }
  }
  await page.click('#telescope button:has-text("Push and pull")');
  const { time } = await look(page, "telescope");
  await page.waitForFunction((solves) => window.playground.figures.telescope.time.solves > solves + 5, time.solves);
  await page.click('#telescope button:has-text("Pause")');
  check(await look(page, "telescope"), "in motion");
  assert.deepEqual(errors, []);
  await page.close();
});

test("the address restores all figures", async () => {
  const { page } = await browser.open(url);
  await dragMouse(page, await handle(page, "hinge", "Target"), -60, 30);
  await dragMouse(page, await handle(page, "hinge", "Upper limit of joint 2"), 20, 20);
  await dragMouse(page, await handle(page, "ball", "Target"), 50, -20);
  await slide(page, "ball", "Twist wanted", -0.5);
  await dragMouse(page, await handle(page, "telescope", "Top"), 0, 70);
  await slide(page, "telescope", "Ease", 0.4);
  await settled(page);
  const restored = await browser.open(page.url());
  for (const id of ["hinge", "ball", "telescope"]) {
    const [a, b] = [await look(page, id), await look(restored.page, id)];
    near(distance(a.probe.tip, b.probe.tip), 0, 2e-3, id);
    for (const field of ["ease", "order", "twist"]) assert.equal(a.state[field], b.state[field], `${id}: ${field}`);
  }
  await page.close();
  await restored.page.close();
});
