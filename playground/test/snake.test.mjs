// The page Snake: each figure by mouse, touch and keys, against a curve of our own.

import assert from "node:assert/strict";
import { after, test } from "node:test";

import { awake, browse, dragMouse, dragTouch, drawn, handle, look, pressKeys, serve, settled } from "./browser.mjs";
import { distance, dot, lengths, minus, near } from "./points.mjs";

const server = await serve();
const browser = await browse({ hasTouch: true });
const url = `${server.root}snake.html`;
after(async () => {
  await browser.close();
  server.close();
});

const sum = (all) => all.reduce((total, one) => total + one, 0);
const most = (a, b) => Math.max(...a.map((point, n) => distance(point, b[n])));
const triples = (all) => Array.from({ length: all.length / 3 }, (_, n) => all.slice(3 * n, 3 * n + 3));

/**
 * Points of the centripetal Catmull-Rom curve, by the pyramid of Barry and Goldman (1988). The first and the last piece of an open curve
 * are the parabola through the three points there.
 */
function catmullRom(curve, closed, steps = 400) {
  const points = triples(curve);
  const count = points.length;
  const mix = (a, b, t, from, to) => a.map((value, axis) => (value * (to - t) + b[axis] * (t - from)) / (to - from));
  const pieces = Array.from({ length: closed ? count : count - 1 }, (_, i) => {
    const of = (k) => (closed ? points[(k + count) % count] : points[k]);
    const four = [i - 1, i, i + 1, i + 2].map(of);
    const first = four.findIndex((point) => point !== undefined);
    const all = four.filter((point) => point !== undefined);
    const knots = [0];
    for (let k = 1; k < all.length; k++) knots.push(knots[k - 1] + Math.sqrt(distance(all[k], all[k - 1])));
    const [from, to] = [knots[1 - first], knots[2 - first]];
    return Array.from({ length: steps }, (_, n) => {
      const t = from + ((to - from) * n) / steps;
      // Neville's scheme; of four points the middle piece stays between parabolas.
      let row = all.slice(1).map((b, k) => mix(all[k], b, t, knots[k], knots[k + 1]));
      row = row.slice(1).map((b, k) => mix(row[k], b, t, knots[k], knots[k + 2]));
      return row.length === 2 ? mix(row[0], row[1], t, from, to) : row[0];
    });
  });
  return [...pieces.flat(), closed ? points[0] : points.at(-1)];
}

/** The distance of a point from a line through points. */
function off(at, line) {
  return Math.min(
    ...line.slice(1).map((to, n) => {
      const along = minus(to, line[n]);
      const share = Math.min(Math.max(dot(minus(at, line[n]), along) / dot(along, along), 0), 1);
      return distance(at, line[n].map((value, axis) => value + share * along[axis]));
    }),
  );
}

/** All joints lie on the curve, or on the straight line beyond an end that is open. */
function onCurve({ points }, { curve }, closed, what) {
  const line = catmullRom(curve, closed, 1000);
  const beyond = (from, to) => minus(to, from).map((value, axis) => to[axis] + (4 * value) / distance(to, from));
  const whole = closed ? line : [beyond(line[1], line[0]), ...line, beyond(line.at(-2), line.at(-1))];
  points.forEach((point, n) => assert.ok(off(point, whole) < 2e-3, `${what}: joint ${n} is ${off(point, whole)} m off the curve`));
}
const SNAKE = 2.6;
const RIBBON = 4.2;
const equal = (points, length, what) => lengths(points).forEach((bone, n) => near(bone, length / (points.length - 1), 1e-4, `${what}: bone ${n}`));

const press = async (page, id, text) => {
  await page.click(`#${id} :is(button, label):has-text("${text}")`);
  await drawn(page);
};
const open = async (address = url) => {
  const opened = await browser.open(address);
  await awake(opened.page);
  return opened;
};

test("crawl: the head follows the ring along the curve by mouse, touch and keys, and the snake lies on the curve behind it", async () => {
  const { page, errors } = await open();
  const head = await handle(page, "crawl", "Head, along the curve");
  const line = catmullRom((await look(page, "crawl")).state.curve, true);
  near((await look(page, "crawl")).probe.length, sum(lengths(line)), 1e-3, "the curve's length");
  const moves = { mouse: () => dragMouse(page, head, -60, 20), touch: () => dragTouch(page, head, -70, -35), keys: () => pressKeys(page, head, "ArrowRight", 7) };
  for (const [what, move] of Object.entries(moves)) {
    const before = await look(page, "crawl");
    await move();
    const { state, probe } = await look(page, "crawl");
    assert.ok(distance(probe.points[0], before.probe.points[0]) > 0.1, `${what}: the head has moved`);
    onCurve(probe, state, true, what);
    equal(probe.points, SNAKE, what);
    // The head is where its distance along the curve says, and the tail behind it.
    let [left, at] = [state.head, 0];
    while (left > distance(line[at], line[at + 1])) left -= distance(line[at], line[++at]);
    assert.ok(distance(line[at], probe.points[0]) < 0.02, `${what}: the head is ${distance(line[at], probe.points[0])} m from its place`);
    // A fifth of a metre or so back.
    const behind = line[(at + line.length - 100) % line.length];
    assert.ok(distance(behind, probe.points[2]) < distance(behind, probe.points[0]), `${what}: the tail is behind`);
    if (what === "keys") near(state.head, before.state.head + 0.7, 1e-6, "seven arrows");
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test("crawl: each point of the curve by mouse, touch and keys takes the snake along", async () => {
  const { page } = await open();
  for (const name of ["Point 1 of the curve", "Point 2 of the curve", "Point 6 of the curve"]) {
    const point = await handle(page, "crawl", name);
    for (const [what, move] of Object.entries({
      mouse: () => dragMouse(page, point, 22, -12),
      touch: () => dragTouch(page, point, -18, -14),
      keys: () => pressKeys(page, point, "PageUp", 2),
    })) {
      const before = await look(page, "crawl");
      await move();
      const { state, probe } = await look(page, "crawl");
      const n = Number(name.match(/\d/)) - 1;
      const [from, to] = [triples(before.state.curve), triples(state.curve)];
      to.forEach((at, k) => assert.equal(distance(at, from[k]) > 0.02, k === n, `${name} by ${what}: point ${k + 1}`));
      if (what === "keys") near(to[n][2], from[n][2] + 0.1, 1e-6, "two Page keys");
      onCurve(probe, state, true, `${name} by ${what}`);
      equal(probe.points, SNAKE, name);
    }
  }
  // No point goes below the floor.
  await dragMouse(page, await handle(page, "crawl", "Point 6 of the curve"), 0, 300);
  assert.ok(triples((await look(page, "crawl")).state.curve)[5][1] >= 0.07);
  await page.close();
});

test("crawl: fewer bones cut bends off, and the line under the figure says by how much", async () => {
  const { page } = await open();
  const cut = async () => Number((await page.textContent("#crawl .readout")).match(/up to ([\d.]+) %/)?.[1] ?? 0);
  let before = await cut();
  for (const count of [14, 7]) {
    while ((await look(page, "crawl")).state.bones > count) await page.click('#crawl button[aria-label="One bone less"]');
    const { probe, state } = await look(page, "crawl");
    assert.equal(probe.points.length, count + 1);
    equal(probe.points, SNAKE, `${count} bones`);
    onCurve(probe, state, true, `${count} bones`);
    assert.ok((await cut()) > before, `${await cut()} % with ${count} bones, ${before} % with more`);
    before = await cut();
  }
  await page.click('#crawl button[aria-label="One bone more"]');
  assert.equal((await look(page, "crawl")).probe.points.length, 9);
  await page.close();
});

test("crawl: an open curve goes on straight, and the line says how much of the tail lies before it", async () => {
  const { page } = await open();
  await press(page, "crawl", "Closed curve");
  const head = await handle(page, "crawl", "Head, along the curve");
  await pressKeys(page, head, "ArrowLeft", 60);
  const { state, probe } = await look(page, "crawl");
  near(state.head, 0, 1e-6, "the head");
  assert.ok(distance(probe.points[0], state.curve.slice(0, 3)) < 1e-4);
  onCurve(probe, state, false, "open");
  equal(probe.points, SNAKE, "open");
  near(distance(probe.points[0], probe.points.at(-1)), SNAKE, 1e-3, "straight");
  assert.match(await page.textContent("#crawl .readout"), /2\.60 m of the tail before its start/);
  await press(page, "crawl", "Skin");
  assert.deepEqual((await look(page, "crawl")).probe.points, probe.points);
  await page.close();
});

test("crawl: the motion plays by its button, goes round, and pauses", async () => {
  const { page, errors } = await open();
  await (await page.$("#crawl .controls")).scrollIntoViewIfNeeded();
  const first = await look(page, "crawl");
  await press(page, "crawl", "Crawl");
  await page.waitForFunction((solves) => window.playground.figures.crawl.time.solves > solves + 8, first.time.solves);
  await press(page, "crawl", "Pause");
  const paused = await look(page, "crawl");
  assert.ok(paused.state.head > first.state.head + 0.02, `${paused.state.head} m`);
  onCurve(paused.probe, paused.state, true, "paused");
  await settled(page, 200);
  assert.deepEqual((await look(page, "crawl")).state, paused.state);
  // Over the end of the curve, back to its start.
  await page.evaluate((length) => window.playground.figures.crawl.set({ head: length - 1e-3 }), paused.probe.length);
  await press(page, "crawl", "Crawl");
  await page.waitForFunction(() => window.playground.figures.crawl.state.head < 1);
  await press(page, "crawl", "Pause");
  await press(page, "crawl", "Start again");
  assert.deepEqual((await look(page, "crawl")).state, first.state);
  assert.deepEqual(errors, []);
  await page.close();
});

test("ribbon: its end and a point by mouse, touch and keys take it along", async () => {
  const { page, errors } = await open();
  for (const name of ["End of the curve", "Point 4 of the curve", "Start of the curve"]) {
    const point = await handle(page, "ribbon", name);
    for (const [what, move] of Object.entries({
      mouse: () => dragMouse(page, point, 30, -25),
      touch: () => dragTouch(page, point, -25, 10),
      keys: () => pressKeys(page, point, "ArrowUp", 2),
    })) {
      const before = await look(page, "ribbon");
      await move();
      const { state, probe } = await look(page, "ribbon");
      assert.ok(most(triples(before.state.curve), triples(state.curve)) > 0.02, `${name} by ${what}`);
      onCurve(probe, state, false, `${name} by ${what}`);
      equal(probe.points, RIBBON, name);
      assert.ok(distance(probe.points[0], state.curve.slice(0, 3)) < 1e-4, "it starts where the curve does");
    }
  }
  assert.deepEqual(errors, []);
  await page.close();
});

/** A quaternion's axes y and x. */
const axisY = ([x, y, z, w]) => [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)];
const axisX = ([x, y, z, w]) => [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)];

test("ribbon: with the roll, plates turn no more about their bones than the curve asks, and the twist adds to the last", async () => {
  const { page } = await open();
  const { probe, state } = await look(page, "ribbon");
  // The first plate's upper side is up, as far as its bone allows.
  const [up, along] = [axisY(probe.rotations[0]), axisX(probe.rotations[0])];
  const across = minus([0, 1, 0], along.map((value) => value * along[1]));
  assert.ok(dot(up, across) / Math.hypot(...across) > 0.99, `${up} to ${across}`);
  // From plate to plate the upper side is carried without a turn about the bone.
  for (let n = 1; n < probe.rotations.length; n++) {
    const [a, b] = [probe.rotations[n - 1], probe.rotations[n]];
    const [from, to] = [axisX(a), axisX(b)];
    // The shortest arc from one bone to the next, by Rodrigues.
    const axis = [from[1] * to[2] - from[2] * to[1], from[2] * to[0] - from[0] * to[2], from[0] * to[1] - from[1] * to[0]];
    const v = axisY(a);
    const cross = [axis[1] * v[2] - axis[2] * v[1], axis[2] * v[0] - axis[0] * v[2], axis[0] * v[1] - axis[1] * v[0]];
    const c = dot(from, to);
    const carried = v.map((value, k) => value * c + cross[k] + (axis[k] * dot(axis, v)) / (1 + c));
    assert.ok(dot(carried, axisY(b)) > 0.995, `plate ${n} turns by ${Math.acos(dot(carried, axisY(b)))}`);
  }
  await page.evaluate(() => window.playground.figures.ribbon.set({ twist: 2 }));
  const twisted = await look(page, "ribbon");
  // Rotations are single precision.
  assert.ok(most(twisted.probe.points, probe.points) < 1e-5, "the joints stay");
  const turn = Math.acos(dot(axisY(probe.rotations.at(-1)), axisY(twisted.probe.rotations.at(-1))));
  near(turn, 2, 0.02, "the last plate");
  assert.ok(dot(axisY(probe.rotations[0]), axisY(twisted.probe.rotations[0])) > 0.9999, "the first plate stays");
  // The slider rests while there is no roll.
  await press(page, "ribbon", "Roll with the curve");
  assert.ok(await page.isDisabled('#ribbon input[type="range"]'));
  const without = await look(page, "ribbon");
  assert.ok(most(without.probe.points, probe.points) < 1e-5, "the joints stay without roll");
  assert.ok(!state.stretch);
  await page.close();
});

test("ribbon: with stretch it ends where the curve does, and the line tells by how much", async () => {
  const { page } = await open();
  await press(page, "ribbon", "Stretch");
  const { state, probe } = await look(page, "ribbon");
  assert.ok(distance(probe.points.at(-1), state.curve.slice(-3)) < 1e-3);
  onCurve(probe, state, false, "stretched");
  const percent = Number((await page.textContent("#ribbon .readout")).match(/stretched to (\d+) %/)[1]);
  near(percent, (100 * sum(lengths(probe.points))) / RIBBON, 0.6, "the percentage");
  // Twice its length is the most.
  await page.evaluate(() => window.playground.figures.ribbon.set({ curve: window.playground.figures.ribbon.state.curve.map((value) => 3 * value) }));
  const far = await look(page, "ribbon");
  near(sum(lengths(far.probe.points)) / RIBBON, 2, 0.05, "the most");
  assert.match(await page.textContent("#ribbon .readout"), /ends before the curve does/);
  await page.close();
});

test("the address restores both figures", async () => {
  const { page } = await open();
  await dragMouse(page, await handle(page, "crawl", "Head, along the curve"), -40, 15);
  await dragMouse(page, await handle(page, "crawl", "Point 3 of the curve"), 30, 10);
  await page.click('#crawl button[aria-label="One bone less"]');
  await dragMouse(page, await handle(page, "ribbon", "End of the curve"), -20, -30);
  await press(page, "ribbon", "Stretch");
  await settled(page);
  const restored = await open(page.url());
  for (const id of ["crawl", "ribbon"]) {
    const [a, b] = [await look(page, id), await look(restored.page, id)];
    assert.ok(most(a.probe.points, b.probe.points) < 2e-3, `${id}: ${most(a.probe.points, b.probe.points)}`);
  }
  // Points that meet make no curve: a sentence, and the page lives.
  await restored.page.evaluate(() => {
    location.hash = `#crawl=curve:${Array.from({ length: 24 }, () => "0.5").join(",")}`;
  });
  await drawn(restored.page);
  assert.match(await restored.page.textContent("#crawl .error"), /coincide|same/i);
  await press(restored.page, "crawl", "Start again");
  assert.ok(await restored.page.isHidden("#crawl .error"));
  await page.close();
  await restored.page.close();
});
